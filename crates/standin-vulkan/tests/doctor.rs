//! What is reported of the test devices.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_vulkan::doctor::{Verdict, report};
use standin_vulkan::{DeviceKind, DeviceSettings, Feature};
use support::TestDevice;

#[test]
fn the_test_devices_are_reported_as_what_they_are() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let devices = report(test.device.instance()).unwrap();
    let name = &test.device.capabilities().identity.name;
    let found = devices.iter().find(|device| device.name == *name).unwrap();
    let verdict = |route: &str| {
        let route = found.routes.iter().find(|r| r.name == route).unwrap();
        route.verdict.clone()
    };
    assert_eq!(found.routes.len(), 5);
    match test.name.as_str() {
        "lavapipe" => {
            assert_eq!(found.kind, DeviceKind::Cpu);
            assert!(matches!(verdict("linked"), Verdict::Takes(_)));
            assert!(matches!(verdict("dynamic"), Verdict::Takes(_)));
            assert!(matches!(verdict("pulled"), Verdict::AfterProof(_)));
            // Its cache is a header and nothing behind it.
            assert!(matches!(verdict("archive"), Verdict::Cannot(_)));
        }
        "radv-noop" => {
            assert!(found.driver.starts_with("radv"), "{}", found.driver);
            assert_eq!(
                verdict("archive"),
                Verdict::Takes("through VK_KHR_pipeline_binary".into())
            );
            assert!(matches!(verdict("linked"), Verdict::Takes(_)));
        }
        _ => {}
    }
    test.assert_valid();
}

#[test]
fn mesa_25_has_what_the_routes_are_made_of() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    if !matches!(test.name.as_str(), "lavapipe" | "radv-noop") {
        return;
    }
    for feature in [
        Feature::GraphicsPipelineLibrary,
        Feature::VertexInputDynamicState,
        Feature::ExtendedDynamicState,
        Feature::ExtendedDynamicState3ColorBlendEquation,
        Feature::PipelineCreationCacheControl,
        Feature::BufferDeviceAddress,
        Feature::ShaderDrawParameters,
        Feature::VertexAttributeInstanceRateDivisor,
        Feature::DynamicRendering,
        Feature::Maintenance5,
    ] {
        assert!(test.device.features().has(feature), "{feature}");
    }
    // Robustness changes code: it is there, and off unless asked for.
    assert!(
        test.device
            .capabilities()
            .features
            .has(Feature::RobustBufferAccess)
    );
    assert!(!test.device.features().has(Feature::RobustBufferAccess));
}
