//! What a second start costs, of what the first one did.

use crate::bench::heavy_set;
use crate::device::DeviceOption;
use crate::exit::{Failure, Outcome};
use crate::output::{self, FormatArgs};
use crate::replay;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Prebuild into an archive of its own, then start without it and with it. Without databases: a
/// set of heavy pipelines, made by code.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// Fossilize databases.
    #[arg(value_name = "DB")]
    databases: Vec<PathBuf>,
    /// How many heavy pipelines there are.
    #[arg(long, value_name = "N", default_value_t = 12)]
    heavy: u32,
    #[command(flatten)]
    device: DeviceOption,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let folder = tempfile::tempdir()?;
    let mut databases = args.databases.clone();
    if databases.is_empty() {
        let path = folder.path().join("heavy.foz");
        let file = File::create(&path).map_err(|error| Failure::file(&path, error))?;
        heavy_set::write(BufWriter::new(file), args.heavy)
            .map_err(|error| Failure::file(&path, error))?;
        databases.push(path);
    }
    let archive = folder.path().join("archive");
    let mut prebuild = Command::new(std::env::current_exe()?);
    prebuild.arg("prebuild").args(&databases);
    prebuild.arg("--archive").arg(&archive).arg("--foreground");
    args.device.prepare(&mut prebuild)?;
    let status = prebuild.stdout(Stdio::null()).status()?;
    if !status.success() {
        return Err(Failure::Device(format!("the prebuild failed ({status})")));
    }
    let sides = replay::compare(&databases, &archive, &args.device)?;
    output::print(&sides, args.format.format())?;
    Ok(if sides.is_lossy() || sides.with.times.compiles > 0 {
        Outcome::EntriesLost
    } else {
        Outcome::AllWell
    })
}
