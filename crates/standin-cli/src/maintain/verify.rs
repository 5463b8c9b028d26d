//! `standin verify`: reads all of an archive and says what is damaged.

use crate::exit::{Failure, Outcome};
use crate::maintain::{Bytes, failure, notes, open};
use crate::output::{self, FormatArgs, Report, size};
use serde::Serialize;
use standin_archive::Access;
use standin_archive::maintain::Repair;
use std::fmt::Write;
use std::path::PathBuf;

/// Read all of an archive and tell what is damaged.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// The archive's folder.
    #[arg(value_name = "DIR")]
    archive: PathBuf,
    /// Drop what is damaged; it is built again when it is wanted.
    #[arg(long)]
    repair: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// Field names are stable.
#[derive(Debug, Serialize)]
struct Verified {
    payloads: u64,
    bytes: u64,
    damaged: Vec<Damaged>,
    unreferred: u64,
    /// What the store's check of its pages says.
    pages: Vec<String>,
    repaired: bool,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Damaged {
    kind: &'static str,
    key: String,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let (access, repair) = if args.repair {
        (Access::ReadWrite, Repair::Drop)
    } else {
        (Access::ReadOnly, Repair::No)
    };
    let archive = open(&args.archive, access)?;
    let mut bytes = Bytes::new();
    let found = archive
        .verify(repair, &mut |done, total| bytes.show(done, total))
        .map_err(failure)?;
    let verified = Verified {
        payloads: found.payloads,
        bytes: found.bytes,
        damaged: found
            .damaged
            .into_iter()
            .map(|(kind, key)| Damaged { kind, key })
            .collect(),
        unreferred: found.unreferred,
        pages: found.pages,
        repaired: args.repair,
        notes: notes(&archive),
    };
    output::print(&verified, args.format.format())?;
    let sound =
        verified.damaged.is_empty() && verified.pages.is_empty() && verified.notes.is_empty();
    Ok(if sound {
        Outcome::AllWell
    } else {
        Outcome::EntriesLost
    })
}

impl Report for Verified {
    fn text(&self) -> String {
        let mut text = format!(
            "{} payloads, {} read, {} damaged\n",
            self.payloads,
            size(self.bytes),
            self.damaged.len()
        );
        let dropped = if self.repaired { ", dropped" } else { "" };
        for one in &self.damaged {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "damaged {} {}{dropped}", one.kind, one.key);
        }
        for line in self.pages.iter().chain(&self.notes) {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}
