//! Formatting, lints and documentation; warnings are errors.

use crate::drivers::project;
use std::process::Command;

/// The crates that stand at the Vulkan border and may hold unsafe code.
const BORDER: [&str; 2] = ["standin-vulkan", "standin-capture"];

pub(crate) fn run() -> Result<(), Box<dyn std::error::Error>> {
    cargo(&["fmt", "--all", "--check"], &[])?;
    cargo(
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
        &[],
    )?;
    cargo(
        &[
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ],
        &[("RUSTDOCFLAGS", "-D warnings")],
    )?;
    unsafe_stays_at_the_border()
}

fn unsafe_stays_at_the_border() -> Result<(), Box<dyn std::error::Error>> {
    for entry in std::fs::read_dir(project().join("crates"))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if BORDER.contains(&name.as_str()) {
            continue;
        }
        for root in ["src/lib.rs", "src/main.rs"] {
            let root = path.join(root);
            let Ok(text) = std::fs::read_to_string(&root) else {
                continue;
            };
            if !text.contains("#![forbid(unsafe_code)]") {
                return Err(format!("{} does not forbid unsafe code", root.display()).into());
            }
        }
    }
    Ok(())
}

/// Runs cargo in the project's root and fails where it fails.
pub(crate) fn cargo(
    words: &[&str],
    variables: &[(&str, &str)],
) -> Result<(), Box<dyn std::error::Error>> {
    println!("$ cargo {}", words.join(" "));
    let status = Command::new(env!("CARGO"))
        .args(words)
        .envs(variables.iter().copied())
        .current_dir(project())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo {} failed ({status})", words.first().unwrap_or(&"")).into())
    }
}
