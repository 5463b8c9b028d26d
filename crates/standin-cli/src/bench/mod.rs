//! `standin bench`: figures, measured in one run.

mod heavy;
mod heavy_set;
mod second_start;

use crate::exit::{Failure, Outcome};

/// Measure.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    SecondStart(second_start::Args),
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.what {
        What::SecondStart(args) => second_start::run(args),
    }
}
