//! The main job on the project's own captures: prebuild, start again, compile nothing.

use crate::check::cargo;
use crate::drivers::{self, project};
use crate::environment::TestDevice;
use std::path::PathBuf;
use std::process::Command;

/// Where the captures lie, from the project's root.
const CAPTURES: &str = "testdata/foz";

pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    let drivers = drivers::ensure()?;
    let device = TestDevice::RadvNoop {
        family: "navi31".into(),
    };
    let standin = Standin {
        runner: device.cargo_runner(&drivers),
    };
    let captures = captures()?;
    let archive = Folder::new("demo-archive")?;
    cargo(&["build", "--release", "--package", "standin-cli"], &[])?;

    title("the device: RADV (navi31) on the no-op kernel shim; it compiles, and draws nothing");
    standin.run("doctor", &[], &[])?;
    let archive = archive.0.display().to_string();
    let to_archive = ["--archive", archive.as_str(), "--expect-no-compile"];
    let prebuild = ["--archive", archive.as_str(), "--foreground"];
    title("prebuild of the project's captures, into an empty archive");
    standin.run("prebuild", &captures, &prebuild)?;
    title("the same again: nothing is left to do");
    standin.run("prebuild", &captures, &prebuild)?;
    title("what a program's start costs, without the archive and with it");
    standin.run("replay", &captures, &to_archive)?;
    title("the same for a set of heavy pipelines");
    standin.run("bench second-start", &[], &[])
}

fn title(text: &str) {
    println!("\n# {text}");
}

/// The release build of the command, on the demo's device.
struct Standin {
    runner: String,
}

impl Standin {
    fn run(
        &self,
        verb: &str,
        captures: &[PathBuf],
        options: &[&str],
    ) -> Result<(), Box<dyn std::error::Error>> {
        let shown = if captures.is_empty() {
            ""
        } else {
            " testdata/foz/**/*.foz"
        };
        println!("$ standin {verb}{shown} {}", options.join(" "));
        let status = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--release", "--package", "standin-cli"])
            .args(["--config", &self.runner, "--"])
            .args(verb.split(' '))
            .args(captures)
            .args(options)
            .current_dir(project())
            .status()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("standin {verb} failed ({status})").into())
        }
    }
}

fn captures() -> Result<Vec<PathBuf>, Box<dyn std::error::Error>> {
    let folder = project().join(CAPTURES);
    let mut captures = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        let entries =
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "foz") {
                captures.push(path);
            }
        }
    }
    captures.sort();
    if captures.is_empty() {
        return Err(format!("{} holds no captures", folder.display()).into());
    }
    Ok(captures)
}

/// An empty folder under the target folder, removed when the demo is over.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> std::io::Result<Self> {
        let path = project().join("target").join(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The next demo removes what is left of this one.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
