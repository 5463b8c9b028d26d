//! The proof run on the test device.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_vulkan::DeviceSettings;
use standin_vulkan::prove::{Extent, Verdict, prove_fetch};
use standin_vulkan::scratch::Scratch;
use support::TestDevice;

#[test]
fn every_format_of_the_device_is_proven_or_declined_by_name() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    if !test.draws() {
        return;
    }
    let scratch = Scratch::new(&test.device).unwrap();
    let proof = prove_fetch(&scratch, Extent::Short).unwrap();
    println!(
        "{} of {} formats in {:?}",
        proof.proven(),
        proof.formats.len(),
        proof.duration
    );
    for format in &proof.formats {
        println!("{} {:?}", format.name, format.verdict);
    }
    test.assert_valid();
    if test.name != "lavapipe" {
        return;
    }
    // Mesa 25.0.7: 16-bit formats with a one-bit alpha and 64-bit integers come out of its own fetch wrong.
    let declined: Vec<&str> = proof
        .formats
        .iter()
        .filter(|format| !matches!(format.verdict, Verdict::Proven { .. }))
        .map(|format| format.name.as_str())
        .collect();
    assert_eq!(
        declined,
        [
            "B4G4R4A4_UNORM_PACK16",
            "R5G5B5A1_UNORM_PACK16",
            "B5G5R5A1_UNORM_PACK16",
            "R64_SINT",
            "R64G64_SINT",
            "R64G64B64_UINT",
            "R64G64B64_SINT",
            "R64G64B64A64_UINT",
            "R64G64B64A64_SINT",
            "A1B5G5R5_UNORM_PACK16",
            "A8_UNORM_KHR",
        ]
    );
    assert_eq!((proof.proven(), proof.formats.len()), (101, 112));
}
