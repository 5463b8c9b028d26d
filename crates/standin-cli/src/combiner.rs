//! `standin combiner`: register combiner programs from STATE files (`docs/combiner.md`).

use crate::exit::{Failure, Outcome};
use crate::output::{self, FormatArgs, Report};
use serde::Serialize;
use standin_combiner::report::{Evaluation, ProfileName, evaluate_file, show_file};
use standin_combiner::state_text::StateFile;
use std::path::{Path, PathBuf};

/// Show or evaluate register combiner programs.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The program as text. A state that is not admitted is status 1, with its reason.
    Show {
        /// The STATE file.
        state: PathBuf,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Every register after every stage, and the fragment's colour.
    Eval {
        /// The STATE file.
        state: PathBuf,
        /// The numbers to work with: float or nv2a-9bit.
        #[arg(long, default_value = "float")]
        profile: ProfileName,
        #[command(flatten)]
        format: FormatArgs,
    },
}

/// Field names are stable.
#[derive(Debug, Serialize)]
struct Shown {
    program: String,
}

impl Report for Shown {
    fn text(&self) -> String {
        self.program.clone()
    }
}

impl Report for Evaluation {
    fn text(&self) -> String {
        self.to_string()
    }
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.what {
        What::Show { state, format } => {
            let shown = show_file(&read(state)?).map(|program| Shown { program });
            finish(state, shown, *format)
        }
        What::Eval {
            state,
            profile,
            format,
        } => finish(state, evaluate_file(&read(state)?, *profile), *format),
    }
}

fn finish<R: Report, E: std::fmt::Display>(
    state: &Path,
    result: Result<R, E>,
    format: FormatArgs,
) -> Result<Outcome, Failure> {
    match result {
        Ok(report) => {
            output::print(&report, format.format())?;
            Ok(Outcome::AllWell)
        }
        Err(declined) => {
            eprintln!("standin: {}: not admitted: {declined}", state.display());
            Ok(Outcome::EntriesLost)
        }
    }
}

fn read(path: &Path) -> Result<StateFile, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path, error))?;
    StateFile::parse(&text).map_err(|error| Failure::file(path, error))
}
