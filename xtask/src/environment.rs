//! The environments that select a test device.

use crate::drivers::{self, Drivers};
use std::path::Path;

/// A device that tests run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TestDevice {
    /// Mesa's software driver: it draws pictures, and compiles at the first draw.
    Lavapipe,
    /// Mesa's AMD driver on a kernel driver that executes nothing: real compiles and
    /// caches for the GPU family named, no pictures.
    RadvNoop { family: String },
    /// The Khronos mock driver: every call succeeds at once and does nothing.
    Mock,
}

impl TestDevice {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.split_once(':') {
            None if text == "lavapipe" => Some(Self::Lavapipe),
            None if text == "mock" => Some(Self::Mock),
            None if text == "radv-noop" => Some(Self::RadvNoop {
                family: "navi31".into(),
            }),
            Some(("radv-noop", family)) if !family.is_empty() => Some(Self::RadvNoop {
                family: family.into(),
            }),
            _ => None,
        }
    }

    /// The name that tests are told.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Lavapipe => "lavapipe",
            Self::RadvNoop { .. } => "radv-noop",
            Self::Mock => "mock",
        }
    }

    /// Variables and values, for the programs that are to run on this device.
    pub(crate) fn variables(&self, drivers: &Drivers) -> Vec<(&'static str, String)> {
        let libraries = format!(
            "{}:{}",
            drivers.loader().display(),
            drivers.libraries().display()
        );
        let text = |path: &Path| path.display().to_string();
        let mut variables = vec![
            ("STANDIN_TEST_DEVICE", self.name().to_owned()),
            ("LD_LIBRARY_PATH", libraries),
            ("VK_LAYER_PATH", text(&drivers.layers())),
            // Mesa's own disk cache would hide every cold start.
            ("MESA_SHADER_CACHE_DISABLE", "true".to_owned()),
        ];
        match self {
            Self::Lavapipe => {
                variables.push(("VK_DRIVER_FILES", text(&drivers.manifest("lvp"))));
            }
            Self::RadvNoop { family } => {
                variables.push(("VK_DRIVER_FILES", text(&drivers.manifest("radeon"))));
                variables.push(("LD_PRELOAD", text(&drivers.amdgpu_shim())));
                variables.push(("AMDGPU_GPU_ID", family.clone()));
            }
            Self::Mock => {
                variables.push(("VK_DRIVER_FILES", text(&drivers.manifest("mock"))));
            }
        }
        variables
    }

    /// What cargo must be told so that the programs it runs, and not cargo itself, see
    /// the device's variables.
    pub(crate) fn cargo_runner(&self, drivers: &Drivers) -> String {
        let mut words = vec!["\"env\"".to_owned()];
        for (name, value) in self.variables(drivers) {
            words.push(format!("{:?}", format!("{name}={value}")));
        }
        format!(
            "target.'cfg(target_os = \"linux\")'.runner=[{}]",
            words.join(",")
        )
    }
}

/// `cargo xtask env DEVICE`.
pub(crate) fn print(device: &str) -> Result<(), Box<dyn std::error::Error>> {
    let device = TestDevice::parse(device)
        .ok_or_else(|| format!("{device} is no test device: lavapipe, mock, radv-noop[:FAMILY]"))?;
    let drivers = drivers::ensure()?;
    for (name, value) in device.variables(&drivers) {
        println!("export {name}='{value}'");
    }
    println!("export PATH='{}':\"$PATH\"", drivers.programs().display());
    Ok(())
}
