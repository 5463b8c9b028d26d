//! Which device a verb works on, as the user names it.

use crate::exit::Failure;
use standin_vulkan::{DeviceChoice, Instance, PhysicalDevice};
use std::process::Command;
use std::sync::Arc;

/// `--device`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DeviceArg {
    /// One of the devices that the loader lists.
    Listed(DeviceChoice),
    /// RADV for this GPU family, on the kernel shim that needs no GPU.
    RadvFamily(String),
}

impl std::str::FromStr for DeviceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("radv", family)) if !family.is_empty() => {
                Ok(Self::RadvFamily(family.to_ascii_lowercase()))
            }
            _ if text.is_empty() => {
                Err("a device is named by its index, a part of its name, or radv:FAMILY".into())
            }
            _ => match text.parse() {
                Ok(choice) => Ok(Self::Listed(choice)),
                Err(never) => match never {},
            },
        }
    }
}

/// Name of the kernel shim's library, without its ending.
const SHIM: &str = "libamdgpu_noop_drm_shim";

/// The `--device` option as a verb takes it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct DeviceOption {
    /// Device: an index of `standin doctor`'s list, a part of a name, or radv:FAMILY. Default:
    /// the best GPU. A CPU device is used only where it is named.
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,
}

impl DeviceOption {
    /// Sets what a child process needs to see this device.
    pub(crate) fn prepare(&self, child: &mut Command) -> Result<(), Failure> {
        let Some(text) = &self.device else {
            return Ok(());
        };
        let device = text.parse().map_err(Failure::Usage)?;
        child.args(["--device", text]);
        if let DeviceArg::RadvFamily(family) = device {
            let preloaded = std::env::var("LD_PRELOAD").unwrap_or_default();
            if !preloaded.contains(SHIM) {
                return Err(Failure::Usage(format!(
                    "--device radv:{family} needs RADV on the no-op kernel shim: start with \
                     LD_PRELOAD={SHIM}.so and VK_DRIVER_FILES naming RADV's manifest"
                )));
            }
            child.env("AMDGPU_GPU_ID", family);
        }
        Ok(())
    }

    /// The device, in a process that was prepared for it.
    pub(crate) fn select(&self, instance: &Arc<Instance>) -> Result<PhysicalDevice, Failure> {
        let choice = match self.device.as_deref().map(str::parse).transpose() {
            Ok(None) => DeviceChoice::default(),
            Ok(Some(DeviceArg::Listed(choice))) => choice,
            // RADV names the family: "AMD Radeon Graphics (RADV VANGOGH)".
            Ok(Some(DeviceArg::RadvFamily(family))) => DeviceChoice::Name(format!("RADV {family}")),
            Err(error) => return Err(Failure::Usage(error)),
        };
        instance
            .select(&choice)
            .map_err(|error| Failure::Device(error.to_string()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed parse fails the test
mod tests {
    use super::DeviceArg;
    use standin_vulkan::DeviceChoice;

    #[test]
    fn a_device_is_an_index_a_name_or_a_family() {
        let listed = DeviceArg::Listed;
        let cases = [
            ("0", listed(DeviceChoice::Index(0))),
            ("llvmpipe", listed(DeviceChoice::Name("llvmpipe".into()))),
            ("radv:VanGogh", DeviceArg::RadvFamily("vangogh".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<DeviceArg>().unwrap(), expected);
        }
        assert!("".parse::<DeviceArg>().is_err());
    }
}
