//! `standin merge`: one archive of several.

use crate::exit::{Failure, Outcome};
use crate::maintain::{Bytes, failure, notes, open};
use crate::output::{self, FormatArgs, Report};
use serde::Serialize;
use standin_archive::{Access, Archive};
use std::path::PathBuf;

/// Make one archive of several.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// The archives' folders.
    #[arg(required = true, value_name = "DIR")]
    archives: Vec<PathBuf>,
    /// Folder of the new archive.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// Field names are stable.
#[derive(Debug, Serialize)]
struct Joined {
    recipes: u64,
    modules: u64,
    blobs: u64,
    /// Damaged payloads that were left behind.
    damaged: u64,
    notes: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let sources = args
        .archives
        .iter()
        .map(|folder| open(folder, Access::ReadOnly))
        .collect::<Result<Vec<_>, _>>()?;
    let mut bytes = Bytes::new();
    let merged = Archive::merge(&sources, &args.output, &mut |done, total| {
        bytes.show(done, total);
    })
    .map_err(failure)?;
    let joined = Joined {
        recipes: merged.recipes,
        modules: merged.modules,
        blobs: merged.blobs,
        damaged: merged.damaged,
        notes: sources.iter().flat_map(notes).collect(),
    };
    output::print(&joined, args.format.format())?;
    Ok(if joined.damaged > 0 || !joined.notes.is_empty() {
        Outcome::EntriesLost
    } else {
        Outcome::AllWell
    })
}

impl Report for Joined {
    fn text(&self) -> String {
        let mut text = format!(
            "{} recipes, {} modules, {} blobs; {} damaged ones left behind\n",
            self.recipes, self.modules, self.blobs, self.damaged
        );
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text
    }
}
