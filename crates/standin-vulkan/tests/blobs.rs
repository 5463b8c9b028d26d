//! What is kept of compiled pipelines, and what is made of it in a later run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_archive::Binary;
use standin_recipe::Recipe;
use standin_vulkan::blobs::{BlobKind, BlobSource, How, Keep, Refused, Stored};
use standin_vulkan::extensions::PIPELINE_BINARY;
use standin_vulkan::objects::Objects;
use standin_vulkan::stamp::stamp;
use standin_vulkan::{DeviceSettings, Feature};
use support::{TestDevice, recipes};

fn source(test: &TestDevice) -> BlobSource {
    BlobSource::new(&Objects::new(&test.device))
}

fn all() -> [Recipe; 4] {
    [
        recipes::graphics().into(),
        recipes::in_render_pass().into(),
        recipes::tessellated().into(),
        recipes::compute(64).into(),
    ]
}

/// A device that keeps pipeline binaries, or none: the no-op RADV does, lavapipe does not.
fn binary_device() -> Option<TestDevice> {
    let test = TestDevice::from_environment(&DeviceSettings::default())?;
    let has = source(&test).kind() == BlobKind::PipelineBinaries;
    assert!(
        has || test.name != "radv-noop",
        "RADV has pipeline binaries"
    );
    has.then_some(test)
}

/// A device that is made to use pipeline caches, and whose caches hold something.
fn segment_device() -> Option<TestDevice> {
    let settings = DeviceSettings {
        without_extensions: vec![PIPELINE_BINARY],
        ..DeviceSettings::default()
    };
    let test = TestDevice::from_environment(&settings)?;
    (test.name == "radv-noop").then_some(test)
}

#[test]
fn binaries_make_the_pipeline_again_in_another_device_without_a_compile() {
    let Some(first) = binary_device() else {
        return;
    };
    let kept: Vec<Vec<Binary>> = {
        let source = source(&first);
        all()
            .iter()
            .map(|recipe| {
                let made = source.make(recipe, None, None).unwrap();
                assert_eq!(made.how, How::Compiled);
                match made.keep {
                    Keep::Binaries(binaries) => binaries,
                    other => panic!("{other:?}"),
                }
            })
            .collect()
    };
    first.assert_valid();

    let second = binary_device().unwrap();
    let source = source(&second);
    for (recipe, binaries) in all().iter().zip(&kept) {
        let made = source
            .make(recipe, Some(Stored::Binaries(binaries)), None)
            .unwrap();
        assert_eq!(made.how, How::FromArchive);
        assert_eq!(made.keep, Keep::Nothing);
        assert_eq!(made.refused, None);
    }
    // Nothing of a shader was looked at: not one module was made.
    assert_eq!(source.builder().objects().counts().modules, 0);
    second.assert_valid();
}

#[test]
fn binaries_that_are_none_are_refused_before_the_driver_sees_them() {
    let Some(test) = binary_device() else {
        return;
    };
    let source = source(&test);
    let recipe = Recipe::from(recipes::graphics());
    let binary = |key: usize, data: usize| Binary {
        key: vec![1; key],
        data: vec![2; data],
    };
    // B4: a driver that gives keys of size 0 has given nothing.
    for broken in [
        vec![],
        vec![binary(0, 4)],
        vec![binary(33, 4)],
        vec![binary(32, 4), binary(32, 0)],
    ] {
        let made = source
            .make(&recipe, Some(Stored::Binaries(&broken)), None)
            .unwrap();
        assert_eq!(made.how, How::Compiled);
        assert_eq!(made.refused, Some(Refused::NotBinaries));
        assert!(matches!(made.keep, Keep::Binaries(_)));
    }
    assert_eq!(source.open_segment(&[0; 64]).unwrap_err(), Refused::Kind);
    test.assert_valid();
}

#[test]
fn segments_hold_many_pipelines_and_serve_another_device() {
    let Some(first) = segment_device() else {
        return;
    };
    let data = {
        let source = source(&first);
        assert_eq!(source.kind(), BlobKind::CacheSegments);
        let segment = source.new_segment().unwrap();
        for recipe in &all() {
            let made = source.make(recipe, None, Some(&segment)).unwrap();
            assert_eq!((made.how, made.keep), (How::Compiled, Keep::InSegment));
        }
        segment.data().unwrap().unwrap()
    };
    first.assert_valid();

    let second = segment_device().unwrap();
    let source = source(&second);
    let segment = source.open_segment(&data).unwrap();
    for recipe in &all() {
        let made = source
            .make(recipe, Some(Stored::Segment(&segment)), None)
            .unwrap();
        assert_eq!((made.how, made.refused), (How::FromArchive, None));
    }
    // One that is not in it is compiled, and not in the segment that was read.
    let other = Recipe::from(recipes::compute(32));
    let made = source
        .make(&other, Some(Stored::Segment(&segment)), None)
        .unwrap();
    assert_eq!(made.how, How::Compiled);
    assert_eq!(made.refused, Some(Refused::NotInIt));
    let binaries = [Binary {
        key: vec![1],
        data: vec![1],
    }];
    let made = source
        .make(&other, Some(Stored::Binaries(&binaries)), None)
        .unwrap();
    assert_eq!(made.refused, Some(Refused::Kind));
    second.assert_valid();
}

#[test]
fn a10_a_cache_header_that_is_not_this_devices_never_reaches_the_driver() {
    let settings = DeviceSettings {
        without_extensions: vec![PIPELINE_BINARY],
        ..DeviceSettings::default()
    };
    let Some(test) = TestDevice::from_environment(&settings) else {
        return;
    };
    let source = source(&test);
    let identity = &test.device.capabilities().identity;
    let mut good = Vec::new();
    for word in [32, 1, identity.vendor_id, identity.device_id] {
        good.extend_from_slice(&word.to_le_bytes());
    }
    good.extend_from_slice(&identity.pipeline_cache_uuid);
    let refused = |at: usize| {
        let mut bad = good.clone();
        bad[at] ^= 1;
        bad.push(0);
        source.open_segment(&bad).unwrap_err()
    };
    // The five inputs of VK-GL-CTS#81, and the other parts of the header.
    assert_eq!(
        source.open_segment(&[]).unwrap_err(),
        Refused::Header("size")
    );
    assert_eq!(refused(4), Refused::Header("version"));
    assert_eq!(refused(16), Refused::Header("UUID"));
    assert_eq!(refused(8), Refused::Header("vendor"));
    assert_eq!(refused(12), Refused::Header("device"));
    assert_eq!(refused(0), Refused::Header("size"));
    assert_eq!(
        source.open_segment(&good[..31]).unwrap_err(),
        Refused::Header("size")
    );
    assert_eq!(source.open_segment(&good).unwrap_err(), Refused::NotInIt);
    test.assert_valid();
}

#[test]
fn e7_a_demand_to_compile_is_a_miss() {
    let settings = DeviceSettings {
        without_extensions: vec![PIPELINE_BINARY],
        ..DeviceSettings::default()
    };
    let Some(test) = TestDevice::from_environment(&settings) else {
        return;
    };
    assert!(
        test.device
            .features()
            .has(Feature::PipelineCreationCacheControl)
    );
    let source = source(&test);
    let empty = source.new_segment().unwrap();
    for recipe in &all() {
        // The driver answers with COMPILE_REQUIRED and a null handle.
        let made = source
            .make(recipe, Some(Stored::Segment(&empty)), None)
            .unwrap();
        assert_eq!(made.how, How::Compiled);
        assert_eq!(made.refused, Some(Refused::NotInIt));
    }
    test.assert_valid();
}

#[test]
fn a3_the_stamp_tells_devices_with_other_features_apart() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let again = TestDevice::from_environment(&DeviceSettings::default()).unwrap();
    assert_eq!(stamp(&test.device), stamp(&again.device));
    let robust = TestDevice::from_environment(&DeviceSettings {
        robustness: standin_vulkan::Robustness::Access,
        ..DeviceSettings::default()
    })
    .unwrap();
    assert_ne!(stamp(&test.device), stamp(&robust.device));
    assert_eq!(
        stamp(&test.device).driver_uuid,
        test.device.capabilities().identity.driver_uuid
    );
}
