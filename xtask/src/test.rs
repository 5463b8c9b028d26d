//! Every test, on every test device.

use crate::check::cargo;
use crate::drivers;
use crate::environment::TestDevice;

/// The crates with tests that ask for a device.
const ON_DEVICES: [&str; 3] = ["standin-vulkan", "standin-combiner", "standin-cli"];

pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    let drivers = drivers::ensure()?;
    let path = format!(
        "{}:{}",
        std::env::var("PATH").unwrap_or_default(),
        drivers.programs().display()
    );
    let variables = [("PATH", path.as_str())];
    for device in [
        TestDevice::Lavapipe,
        TestDevice::RadvNoop {
            family: "navi31".into(),
        },
    ] {
        println!("# tests on {}", device.name());
        let runner = device.cargo_runner(&drivers);
        let mut words = vec!["test", "--config", &runner];
        if device == TestDevice::Lavapipe {
            words.push("--workspace");
        } else {
            words.extend(ON_DEVICES.iter().flat_map(|name| ["-p", *name]));
        }
        cargo(&words, &variables)?;
    }
    Ok(())
}
