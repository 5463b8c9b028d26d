//! `standin compact`: writes an archive anew without holes.

use crate::exit::{Failure, Outcome};
use crate::maintain::open;
use crate::output::{self, FormatArgs, Report, size};
use serde::Serialize;
use standin_archive::{Access, Archive};
use std::path::{Path, PathBuf};

/// Write an archive anew without holes. The old file stays until the new one is verified.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// The archive's folder.
    #[arg(value_name = "DIR")]
    archive: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// Field names are stable.
#[derive(Debug, Serialize)]
struct Compacted {
    bytes_before: u64,
    bytes_after: u64,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    drop(open(&args.archive, Access::ReadOnly)?);
    let bytes_before = length(&args.archive)?;
    Archive::compact(&args.archive).map_err(|error| Failure::Usage(error.to_string()))?;
    let compacted = Compacted {
        bytes_before,
        bytes_after: length(&args.archive)?,
    };
    output::print(&compacted, args.format.format())?;
    Ok(Outcome::AllWell)
}

fn length(folder: &Path) -> Result<u64, Failure> {
    let file = folder.join(standin_archive::schema::FILE);
    let data = std::fs::metadata(&file).map_err(|error| Failure::file(&file, error))?;
    Ok(data.len())
}

impl Report for Compacted {
    fn text(&self) -> String {
        format!(
            "{} before, {} now\n",
            size(self.bytes_before),
            size(self.bytes_after)
        )
    }
}
