//! The `standin` command. One file or folder a verb; `main` only dispatches.
#![forbid(unsafe_code)]

mod bench;
mod captures;
mod combiner;
mod device;
mod doctor;
mod exit;
mod inspect;
mod maintain;
mod output;
mod prebuild;
mod progress;
mod pull;
mod replay;
mod workers;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Builds Vulkan pipelines before they are needed and keeps what was built.
#[derive(Debug, Parser)]
#[command(version, after_help = exit::HELP)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Doctor(doctor::Args),
    Prebuild(prebuild::Args),
    Replay(replay::Args),
    Inspect(inspect::Args),
    Verify(maintain::verify::Args),
    Merge(maintain::merge::Args),
    Prune(maintain::prune::Args),
    Compact(maintain::compact::Args),
    Pull(pull::Args),
    Combiner(combiner::Args),
    Bench(bench::Args),
    #[command(hide = true)]
    Worker(workers::worker::Args),
    #[command(hide = true)]
    Start(replay::start::Args),
}

fn main() -> ExitCode {
    let result = match Cli::parse().verb {
        Verb::Doctor(args) => doctor::run(&args),
        Verb::Prebuild(args) => prebuild::run(&args),
        Verb::Replay(args) => replay::run(&args),
        Verb::Inspect(args) => inspect::run(&args),
        Verb::Verify(args) => maintain::verify::run(&args),
        Verb::Merge(args) => maintain::merge::run(&args),
        Verb::Prune(args) => maintain::prune::run(&args),
        Verb::Compact(args) => maintain::compact::run(&args),
        Verb::Pull(args) => pull::run(&args),
        Verb::Combiner(args) => combiner::run(&args),
        Verb::Bench(args) => bench::run(&args),
        Verb::Worker(args) => workers::worker::run(&args),
        Verb::Start(args) => replay::start::run(&args),
    };
    match result {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            eprintln!("standin: {failure}");
            ExitCode::from(2)
        }
    }
}
