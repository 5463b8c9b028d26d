//! The fuzz targets, each for a bounded number of runs.

use crate::check::cargo;
use crate::drivers::project;
use std::path::PathBuf;
use std::process::Command;

/// The runner that is fetched where the machine has none.
const CARGO_FUZZ: &str = "0.13.2";

/// Bounds of one target's run: inputs tried, and seconds, whichever ends first.
const RUNS: &str = "-runs=2000000";
const SECONDS: &str = "-max_total_time=60";

/// Every target under `fuzz/fuzz_targets`, for at most a minute each.
pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    let runner = runner()?;
    let mut targets = Vec::new();
    for entry in std::fs::read_dir(project().join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
            targets.push(name.to_owned());
        }
    }
    targets.sort();
    for target in targets {
        println!("# fuzzing {target}");
        // What a run finds goes to a folder of its own; the kept corpus changes by hand.
        let found = project().join("target/fuzz").join(&target);
        std::fs::create_dir_all(&found)?;
        let mut run = Command::new(&runner);
        run.current_dir(project())
            // The sanitizer's flags are behind the compiler's nightly gate.
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", &target])
            .arg(found);
        let kept = project().join("fuzz/corpus").join(&target);
        if kept.is_dir() {
            run.arg(kept);
        }
        run.args(["--", RUNS, SECONDS, "-rss_limit_mb=4096"]);
        let status = run.status()?;
        if !status.success() {
            return Err(format!("fuzz target {target} failed: see fuzz/artifacts/{target}").into());
        }
    }
    Ok(())
}

/// The installed runner, or one that is built beside the project.
fn runner() -> Result<PathBuf, Box<dyn std::error::Error>> {
    let installed = PathBuf::from("cargo-fuzz");
    if Command::new(&installed)
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return Ok(installed);
    }
    let root = project().join("target/tools");
    let beside = root.join("bin/cargo-fuzz");
    if !beside.exists() {
        println!("building cargo-fuzz {CARGO_FUZZ} in {}", root.display());
        let root = root.display().to_string();
        cargo(
            &[
                "install",
                "cargo-fuzz",
                "--locked",
                "--version",
                CARGO_FUZZ,
                "--root",
                &root,
            ],
            &[],
        )?;
    }
    Ok(beside)
}
