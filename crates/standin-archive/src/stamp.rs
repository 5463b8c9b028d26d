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
    /// Whether both are of one device in one kind of program: what may differ is the driver, and
    /// what this project makes of recipes.
    #[must_use]
    pub fn same_device(&self, other: &Self) -> bool {
        self.vendor_id == other.vendor_id
            && self.device_id == other.device_id
            && self.driver_id == other.driver_id
            && self.features == other.features
            && self.pointer_bits == other.pointer_bits
    }

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

    /// The hash that binds blobs to this stamp.
    #[must_use]
    pub(crate) fn scope(&self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(&self.to_bytes())
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

#[cfg(test)]
mod tests {
    use super::Stamp;

    /// `docs/archive-format.md`, "Stamp".
    #[test]
    fn the_fields_lie_where_the_page_says() {
        let stamp = Stamp {
            vendor_id: 0x0403_0201,
            device_id: 0x0807_0605,
            cache_uuid: [0xaa; 16],
            driver_uuid: [0xbb; 16],
            driver_id: -2,
            driver_version: 0x0c0b_0a09,
            driver_info: "Mesa".into(),
            api_version: 0x100f_0e0d,
            features: 0xff,
            pointer_bits: 64,
            translation: 0x1413_1211,
        };
        let bytes = stamp.to_bytes();
        assert_eq!(bytes[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[8..24], [0xaa; 16]);
        assert_eq!(bytes[24..40], [0xbb; 16]);
        assert_eq!(bytes[40..44], [0xfe, 0xff, 0xff, 0xff]);
        assert_eq!(bytes[44..52], [9, 10, 11, 12, 13, 14, 15, 16]);
        assert_eq!(bytes[52..54], [0xff, 0]);
        assert_eq!(bytes[68], 64);
        assert_eq!(bytes[69..73], [0x11, 0x12, 0x13, 0x14]);
        assert_eq!(bytes[73..], *b"Mesa");
        assert_eq!(Stamp::from_bytes(&bytes), Some(stamp));
        assert_eq!(Stamp::from_bytes(&bytes[..72]), None);
    }
}
