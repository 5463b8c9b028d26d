//! `standin prune`: makes an archive smaller, least valuable first.

use crate::exit::{Failure, Outcome};
use crate::maintain::{failure, open};
use crate::output::{self, FormatArgs, Report, size};
use crate::workers::machine::Bytes;
use serde::Serialize;
use standin_archive::Access;
use std::path::PathBuf;

/// Drop blobs, the least valuable first. Recipes stay.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// The archive's folder.
    #[arg(value_name = "DIR")]
    archive: PathBuf,
    /// What the blobs may take at most, such as 2G. The file shrinks with `standin compact`.
    #[arg(long, value_name = "SIZE")]
    max_size: Bytes,
    #[command(flatten)]
    format: FormatArgs,
}

/// Field names are stable.
#[derive(Debug, Serialize)]
struct Dropped {
    /// Whole generations whose place a complete one has taken.
    generations: u64,
    blobs: u64,
    bytes: u64,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let archive = open(&args.archive, Access::ReadWrite)?;
    let pruned = archive.prune(args.max_size.0).map_err(failure)?;
    let dropped = Dropped {
        generations: pruned.generations,
        blobs: pruned.blobs,
        bytes: pruned.bytes,
    };
    output::print(&dropped, args.format.format())?;
    Ok(Outcome::AllWell)
}

impl Report for Dropped {
    fn text(&self) -> String {
        format!(
            "dropped {} superseded generations, {} blobs ({})\n",
            self.generations,
            self.blobs,
            size(self.bytes)
        )
    }
}
