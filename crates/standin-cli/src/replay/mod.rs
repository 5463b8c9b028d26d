//! `standin replay`: what a program's start costs, without the archive and with it.
//!
//! Each side is a process of its own: a driver keeps things in memory, and a start has none.

pub(crate) mod start;
pub(crate) mod times;

use crate::device::DeviceOption;
use crate::exit::{Failure, Outcome};
use crate::output::{self, FormatArgs, Report, duration, figures};
use crate::replay::start::Start;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Create the captures' pipelines as a starting program does, without the archive and with it,
/// and show the two side by side.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// Fossilize databases, in the order in which they were recorded.
    #[arg(required = true, value_name = "DB")]
    databases: Vec<PathBuf>,
    /// The archive's folder.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    #[command(flatten)]
    device: DeviceOption,
    /// Entries that the device declines count as lost.
    #[arg(long)]
    strict: bool,
    /// Compiles that happen in spite of the archive count as lost.
    #[arg(long)]
    expect_no_compile: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sides = compare(&args.databases, &args.archive, &args.device)?;
    output::print(&sides, args.format.format())?;
    let declined = args.strict && !sides.without.declined.is_empty();
    let compiled = args.expect_no_compile && sides.with.times.compiles > 0;
    Ok(if declined || compiled || sides.is_lossy() {
        Outcome::EntriesLost
    } else {
        Outcome::AllWell
    })
}

/// Both starts of one list.
#[derive(Debug, Serialize)]
pub(crate) struct Sides {
    /// Without the archive.
    pub(crate) without: Start,
    /// With it.
    pub(crate) with: Start,
    /// Creation total with the archive over that without it.
    pub(crate) share: f64,
}

/// Runs the two starts, one after the other.
pub(crate) fn compare(
    databases: &[PathBuf],
    archive: &Path,
    device: &DeviceOption,
) -> Result<Sides, Failure> {
    let without = child(databases, None, device)?;
    let with = child(databases, Some(archive), device)?;
    let share = with.times.total_ns as f64 / (without.times.total_ns as f64).max(1.0);
    Ok(Sides {
        without,
        with,
        share,
    })
}

fn child(
    databases: &[PathBuf],
    archive: Option<&Path>,
    device: &DeviceOption,
) -> Result<Start, Failure> {
    let program = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.arg("start").args(databases);
    if let Some(archive) = archive {
        command.arg("--archive").arg(archive);
    }
    device.prepare(&mut command)?;
    let output = command.stderr(Stdio::inherit()).output()?;
    if output.status.code() == Some(2) {
        // It has said why on standard error.
        return Err(Failure::Device("the start could not be replayed".into()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| {
        Failure::Device(format!(
            "the start ended early ({}): {error}",
            output.status
        ))
    })
}

impl Report for Sides {
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }
}

impl Sides {
    /// Whether entries could not be read or the driver failed on some.
    pub(crate) fn is_lossy(&self) -> bool {
        self.without.failed + self.with.failed > 0 || !self.without.damaged.is_empty()
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (a, b) = (&self.without, &self.with);
        writeln!(out, "{}", a.device)?;
        let mut table = figures(&["creations", "without archive", "with archive"]);
        let rows = [
            (
                "count",
                a.times.count.to_string(),
                b.times.count.to_string(),
            ),
            (
                "total",
                duration(a.times.total_ns),
                duration(b.times.total_ns),
            ),
            (
                "median",
                duration(a.times.median_ns),
                duration(b.times.median_ns),
            ),
            ("p99", duration(a.times.p99_ns), duration(b.times.p99_ns)),
            (
                "worst",
                duration(a.times.worst_ns),
                duration(b.times.worst_ns),
            ),
            (
                "compiles",
                a.times.compiles.to_string(),
                b.times.compiles.to_string(),
            ),
        ];
        for (name, without, with) in rows {
            table.add_row([name.to_owned(), without, with]);
        }
        writeln!(out, "{table}")?;
        writeln!(
            out,
            "with the archive, creation takes {:.2} % of the time without it",
            self.share * 100.0
        )?;
        for (reason, count) in &a.declined {
            writeln!(out, "declined {count}: {reason}")?;
        }
        for note in a.notes.iter().chain(&b.notes) {
            writeln!(out, "{note}")?;
        }
        for damage in &a.damaged {
            writeln!(
                out,
                "damaged {} {}: {}",
                damage.file, damage.entry, damage.reason
            )?;
        }
        Ok(())
    }
}
