//! The combiners on a device: equality of the three paths in large numbers, the GPU's time
//! by stage count, and pictures of well-known programs.
//!
//! ```text
//! combiner_gpu equality [--generic N] [--specialised M] [--seed S] [--json FILE]
//! combiner_gpu cost [--edge PIXELS] [--json FILE]
//! combiner_gpu pictures FOLDER
//! ```
//!
//! `--device NAME` chooses a device; else the best one, a CPU device if there is no other.

// A development tool that shares the tests' support: a broken invariant ends it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod cost;
mod equality;
mod pictures;

use standin_vulkan::{Device, DeviceChoice, DeviceSettings, Instance, InstanceSettings};
use std::process::ExitCode;
use std::sync::Arc;

type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "\
combiner_gpu equality [--generic N] [--specialised M] [--seed S] [--json FILE]
combiner_gpu cost [--edge PIXELS] [--json FILE]
combiner_gpu pictures FOLDER
options: --device NAME
";

/// The command line: words, and the values of options.
struct Arguments {
    words: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    fn parse() -> Result<Self, Failure> {
        let mut arguments = Self {
            words: Vec::new(),
            options: Vec::new(),
        };
        let mut all = std::env::args().skip(1);
        while let Some(word) = all.next() {
            if let Some(name) = word.strip_prefix("--") {
                let value = all.next().ok_or_else(|| format!("{word} has no value"))?;
                arguments.options.push((name.to_string(), value));
            } else {
                arguments.words.push(word);
            }
        }
        Ok(arguments)
    }

    fn text(&self, name: &str) -> Option<&str> {
        let option = self.options.iter().find(|(n, _)| n == name);
        option.map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, Failure> {
        Ok(self.text(name).map_or(Ok(default), str::parse)?)
    }

    fn device(&self) -> Result<Arc<Device>, Failure> {
        let choice = self.text("device").map_or(DeviceChoice::BestOrCpu, |name| {
            DeviceChoice::Name(name.to_string())
        });
        let instance = Instance::new(&InstanceSettings::default())?;
        let physical = instance.select(&choice)?;
        let device = Device::new(&physical, &DeviceSettings::default())?;
        println!("device: {}", device.capabilities().identity.name);
        Ok(device)
    }

    /// Writes a result where `--json` says.
    fn write_json(&self, value: &serde_json::Value) -> Result<(), Failure> {
        if let Some(path) = self.text("json") {
            std::fs::write(path, serde_json::to_string_pretty(value)? + "\n")?;
        }
        Ok(())
    }
}

fn run() -> Result<ExitCode, Failure> {
    let arguments = Arguments::parse()?;
    let words: Vec<&str> = arguments.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["equality"] => equality::run(&arguments),
        ["cost"] => cost::run(&arguments),
        ["pictures", folder] => pictures::run(&arguments, folder),
        _ => {
            eprint!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("combiner_gpu: {error}");
            ExitCode::FAILURE
        }
    }
}
