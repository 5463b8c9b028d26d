//! The device that the tests were told to use.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod recipes;

use standin_vulkan::{
    Device, DeviceChoice, DeviceSettings, Instance, InstanceSettings, Validation,
};
use std::sync::Arc;

/// A device under the validation layer.
pub(crate) struct TestDevice {
    pub(crate) device: Arc<Device>,
    pub(crate) name: String,
}

impl TestDevice {
    /// The device of `STANDIN_TEST_DEVICE`, or `None` if that is not set.
    pub(crate) fn from_environment(settings: &DeviceSettings) -> Option<Self> {
        let Ok(name) = std::env::var("STANDIN_TEST_DEVICE") else {
            eprintln!("skipped: STANDIN_TEST_DEVICE is not set, see CONTRIBUTING.md");
            return None;
        };
        let instance = Instance::new(&InstanceSettings {
            validation: Validation::Required,
            ..InstanceSettings::default()
        })
        .unwrap();
        let physical = instance.select(&DeviceChoice::BestOrCpu).unwrap();
        Some(Self {
            device: Device::new(&physical, settings).unwrap(),
            name,
        })
    }

    #[allow(dead_code, reason = "not every test file draws")]
    /// Whether the device draws pictures; the no-op and the mock device do not.
    pub(crate) fn draws(&self) -> bool {
        !matches!(self.name.as_str(), "radv-noop" | "mock")
    }

    /// Fails if the validation layer said anything.
    pub(crate) fn assert_valid(&self) {
        let messages = self.device.instance().messages().unwrap().take();
        assert!(messages.is_empty(), "{messages:#?}");
    }
}

/// The words of a SPIR-V file.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}
