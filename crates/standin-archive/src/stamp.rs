//! What a driver's blobs belong to.

/// Identity of device, driver and translation version. Two stamps that differ in anything are
/// two generations: what was built under one is never handed to a driver under the other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// VkPhysicalDeviceProperties::vendorID.
    pub vendor_id: u32,
    /// VkPhysicalDeviceProperties::deviceID.
    pub device_id: u32,
    /// VkPhysicalDeviceIDProperties::deviceUUID where it tells devices of one driver apart;
    /// here the pipelineCacheUUID, which drivers change with what they can read back.
    pub cache_uuid: [u8; 16],
    /// VkPhysicalDeviceIDProperties::driverUUID.
    pub driver_uuid: [u8; 16],
    /// VkPhysicalDeviceDriverProperties::driverID.
    pub driver_id: i32,
    /// VkPhysicalDeviceProperties::driverVersion.
    pub driver_version: u32,
    /// VkPhysicalDeviceDriverProperties::driverName and driverInfo: version text that some
    /// drivers change where the number stays.
    pub driver_info: String,
    /// The API version that the device was made with.
    pub api_version: u32,
    /// Hash of the enabled features, extensions and layers, which may change code.
    pub features: u128,
    /// Bits of a pointer: 32 and 64 bit builds of one driver have caches of their own.
    pub pointer_bits: u8,
    /// Version of the code that translates recipes into what the driver is given.
    pub translation: u32,
}

impl Stamp {
    /// The stamp's canonical bytes (`docs/archive-format.md`, Stamp).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(96 + self.driver_info.len());
        bytes.extend_from_slice(&self.vendor_id.to_le_bytes());
        bytes.extend_from_slice(&self.device_id.to_le_bytes());
        bytes.extend_from_slice(&self.cache_uuid);
        bytes.extend_from_slice(&self.driver_uuid);
        bytes.extend_from_slice(&self.driver_id.to_le_bytes());
        bytes.extend_from_slice(&self.driver_version.to_le_bytes());
        bytes.extend_from_slice(&self.api_version.to_le_bytes());
        bytes.extend_from_slice(&self.features.to_le_bytes());
        bytes.push(self.pointer_bits);
        bytes.extend_from_slice(&self.translation.to_le_bytes());
        bytes.extend_from_slice(self.driver_info.as_bytes());
        bytes
    }

    /// Reads the canonical bytes, or none where they are not a stamp's.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut at = 0;
        let mut take = |count: usize| {
            let slice = bytes.get(at..at + count)?;
            at += count;
            Some(slice)
        };
        let word = |slice: &[u8]| slice.try_into().ok().map(u32::from_le_bytes);
        Some(Self {
            vendor_id: word(take(4)?)?,
            device_id: word(take(4)?)?,
            cache_uuid: take(16)?.try_into().ok()?,
            driver_uuid: take(16)?.try_into().ok()?,
            driver_id: take(4)?.try_into().ok().map(i32::from_le_bytes)?,
            driver_version: word(take(4)?)?,
            api_version: word(take(4)?)?,
            features: take(16)?.try_into().ok().map(u128::from_le_bytes)?,
            pointer_bits: *take(1)?.first()?,
            translation: word(take(4)?)?,
            driver_info: String::from_utf8(bytes.get(at..)?.to_vec()).ok()?,
        })
    }
}
