//! The stamp: which device, driver and program something compiled belongs to.

use crate::device::Device;
use standin_archive::Stamp;
use xxhash_rust::xxh3::Xxh3;

/// Version of what this crate makes of a recipe for the driver. Raised whenever the same recipe
/// would be translated differently.
pub const TRANSLATION: u32 = 1;

/// The stamp of what is compiled on this device by this program.
#[must_use]
pub fn stamp(device: &Device) -> Stamp {
    let identity = &device.capabilities().identity;
    // Enabled features and extensions may change code, and so may the layers in between.
    let mut hash = Xxh3::new();
    for feature in device.features().iter() {
        hash.update(feature.name().as_bytes());
        hash.update(&[0]);
    }
    for name in device.extensions().iter() {
        hash.update(name.to_bytes_with_nul());
    }
    if device.instance().messages().is_some() {
        hash.update(b"VK_LAYER_KHRONOS_validation\0");
    }
    Stamp {
        vendor_id: identity.vendor_id,
        device_id: identity.device_id,
        cache_uuid: identity.pipeline_cache_uuid,
        driver_uuid: identity.driver_uuid,
        driver_id: identity.driver_id,
        driver_version: identity.driver_version,
        driver_info: format!("{} {}", identity.driver_name, identity.driver_info),
        api_version: identity.api_version,
        features: hash.digest128(),
        pointer_bits: u8::try_from(usize::BITS).unwrap_or(0),
        translation: TRANSLATION,
    }
}
