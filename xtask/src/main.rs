//! `cargo xtask`: development tasks. `cargo xtask help` lists them.
#![forbid(unsafe_code)]

mod check;
mod demo;
mod drivers;
mod environment;
mod fuzz;
mod packages;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask TASK

  demo               prebuild the project's captures, start again, compile nothing (see README.md)
  drivers            fetch the drivers that tests and the demo run on (see docs/drivers.md)
  env DEVICE         print the environment that selects a device, for a shell to eval:
                     lavapipe | radv-noop[:FAMILY]
  check              formatting, clippy, documentation; warnings are errors
  test               every test, on every test device; fetches what it needs
  fuzz               every fuzz target for at most a minute; builds cargo-fuzz where there is none
  help               this text

Exit status: 0 all well, 1 a task failed, 2 bad usage.
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["drivers"] => drivers::ensure().map(|_| ()).map_err(Into::into),
        ["demo"] => demo::run(),
        ["env", device] => environment::print(device),
        ["check"] => check::run(),
        ["test"] => test::run(),
        ["fuzz"] => fuzz::run(),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
