//! The `standin` command. One file a verb; `main` only dispatches.
#![forbid(unsafe_code)]

mod bench;
mod device;
mod exit;
mod output;
mod progress;
mod workers;

fn main() {}
