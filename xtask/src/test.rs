//! Every test, on every test device.

use crate::check::cargo;
use crate::drivers::{self, project};
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
    models()?;
    instruction_bounds(&variables)
}

/// The hand-offs between threads, over all interleavings up to the models' bounds. Code for
/// the models is another build of the same crate, so it has a folder of its own.
fn models() -> Result<(), Box<dyn std::error::Error>> {
    println!("# models of the hand-offs between threads");
    let folder = project().join("target/models").display().to_string();
    cargo(
        &[
            "test",
            "-p",
            "standin",
            "--release",
            "--lib",
            "models",
            "--target-dir",
            &folder,
        ],
        &[("RUSTFLAGS", "--cfg loom")],
    )
}

/// Instructions on the hot path, where valgrind can count them.
fn instruction_bounds(variables: &[(&str, &str)]) -> Result<(), Box<dyn std::error::Error>> {
    println!("# instructions of a selection");
    cargo(
        &["bench", "-p", "standin", "--bench", "instructions"],
        variables,
    )
}
