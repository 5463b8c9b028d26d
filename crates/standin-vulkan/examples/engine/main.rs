//! A small engine: two scenes, four features, streaming cells, and a settings change in mid-run.
//!
//! ```text
//! engine            run the scenes twice: a first launch, and one with the archive of the first
//! engine kernels    build 69 kernels one after another, in parallel, and from the archive
//! engine kernels 4  the same with kernels four times as large
//! ```
//!
//! It draws nothing: it creates real pipelines on the device, binds them and, where the device
//! traces, builds and traces a scene. `docs/engine.md` explains the services.

mod compiler;
mod rays;
mod recipes;
mod scenes;
mod table;

use std::error::Error;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome: Result<(), Box<dyn Error>> = match words.as_slice() {
        [] => scenes::run(),
        ["kernels"] => table::run(1.0),
        ["kernels", scale] => match scale.parse::<f64>() {
            Ok(scale) if scale > 0.0 && scale <= 1000.0 => table::run(scale),
            _ => Err(format!("{scale:?} is no scale: a number above 0, at most 1000").into()),
        },
        _ => Err("usage: engine [kernels [SCALE]]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("engine: {error}");
            ExitCode::FAILURE
        }
    }
}
