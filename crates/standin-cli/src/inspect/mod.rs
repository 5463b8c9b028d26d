//! `standin inspect`: what databases and archives hold.

mod archive;
mod database;

use crate::exit::{Failure, Outcome};
use crate::inspect::archive::ArchiveReport;
use crate::inspect::database::{COLUMNS, DatabaseReport};
use crate::output::{self, FormatArgs, Report, figures};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tell what Fossilize databases and archives hold.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// Databases and folders of archives.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut found = Found::default();
    let mut unreadable = None;
    for path in &args.paths {
        if let Err(failure) = found.add(path) {
            // The others are still told of; the first failure decides how it ends.
            eprintln!("standin: {failure}");
            unreadable.get_or_insert(failure);
        }
    }
    output::print(&found, args.format.format())?;
    match unreadable {
        Some(failure) => Err(failure),
        None if found.is_damaged() => Ok(Outcome::EntriesLost),
        None => Ok(Outcome::AllWell),
    }
}

#[derive(Debug, Default, Serialize)]
struct Found {
    databases: Vec<DatabaseReport>,
    archives: Vec<ArchiveReport>,
}

impl Found {
    /// An archive is a folder with an archive's database in it, everything else must be a
    /// Fossilize database.
    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        if path.is_dir() {
            if !path.join(standin_archive::schema::FILE).exists() {
                return Err(Failure::file(path, "the folder holds no archive"));
            }
            self.archives.push(ArchiveReport::read(path)?);
        } else {
            self.databases.push(DatabaseReport::read(path)?);
        }
        Ok(())
    }

    fn is_damaged(&self) -> bool {
        self.databases.iter().any(|one| !one.damaged.is_empty())
            || self.archives.iter().any(ArchiveReport::is_damaged)
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        if !self.databases.is_empty() {
            let mut table = figures(&COLUMNS);
            for one in &self.databases {
                table.add_row(one.row());
            }
            writeln!(out, "{table}")?;
        }
        for one in &self.databases {
            for (reason, count) in &one.declined {
                writeln!(out, "{}: declined {count}: {reason}", one.path)?;
            }
            for note in &one.notes {
                writeln!(out, "{note}")?;
            }
            for damage in &one.damaged {
                let file = if damage.file.is_empty() {
                    &one.path
                } else {
                    &damage.file
                };
                writeln!(out, "damaged {file} {}: {}", damage.entry, damage.reason)?;
            }
        }
        for one in &self.archives {
            one.write(out)?;
        }
        Ok(())
    }
}

impl Report for Found {
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }
}
