//! Which device a verb works on, as the user names it.

use crate::exit::Failure;
use std::process::Command;

/// `--device`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum DeviceChoice {
    /// The best GPU; never a CPU device.
    #[default]
    Gpu,
    /// The device at this place of `standin doctor`'s list.
    Index(usize),
    /// The first device whose name contains this text, in any case.
    Name(String),
    /// RADV for this GPU family, on the kernel shim that needs no GPU.
    RadvFamily(String),
}

impl std::str::FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a device is named by its index, by a part of its name, or radv:FAMILY".into());
        }
        if let Ok(index) = text.parse() {
            return Ok(Self::Index(index));
        }
        Ok(match text.split_once(':') {
            Some(("radv", family)) if !family.is_empty() => {
                Self::RadvFamily(family.to_ascii_lowercase())
            }
            _ => Self::Name(text.to_owned()),
        })
    }
}

/// The form that [`std::str::FromStr`] reads; the default has none.
impl std::fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gpu => Ok(()),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => f.write_str(name),
            Self::RadvFamily(family) => write!(f, "radv:{family}"),
        }
    }
}

/// Name of the kernel shim's library, without its ending.
const SHIM: &str = "libamdgpu_noop_drm_shim";

impl DeviceChoice {
    /// Sets what a child process needs to see this device.
    pub(crate) fn prepare(&self, child: &mut Command) -> Result<(), Failure> {
        if *self != Self::Gpu {
            child.args(["--device", &self.to_string()]);
        }
        if let Self::RadvFamily(family) = self {
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
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed parse fails the test
mod tests {
    use super::DeviceChoice;

    #[test]
    fn a_device_is_an_index_a_name_or_a_family() {
        let cases = [
            ("0", DeviceChoice::Index(0)),
            ("llvmpipe", DeviceChoice::Name("llvmpipe".into())),
            ("radv:VanGogh", DeviceChoice::RadvFamily("vangogh".into())),
            ("radv:", DeviceChoice::Name("radv:".into())),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<DeviceChoice>().unwrap(), expected);
        }
        assert!("".parse::<DeviceChoice>().is_err());
    }
}
