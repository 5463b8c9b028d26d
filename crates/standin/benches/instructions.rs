//! Instructions of a selection, counted under valgrind and held to the bounds below:
//! `cargo bench -p standin --bench instructions`. Ends with an error when one is exceeded.
//!
//! The program runs itself under cachegrind twice, with one and with two million selections; the
//! difference is what a selection takes, less what the same loop takes that makes the epochs and
//! passes an answer on without selecting it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench"
)]

mod stage;

use std::hint::black_box;
use std::process::{Command, ExitCode};

use stage::{RECIPES, all_exact, all_pending, epochs, shuffled, unbounded};

/// Name and the most instructions a selection may take.
const BOUNDS: [(&str, f64); 3] = [
    ("unchanged", 20.0),
    ("stand-in, promotion pending", 20.0),
    ("reselect, exact adopted, random", 80.0),
];

/// The number of the case that is the loop alone.
const EMPTY: usize = BOUNDS.len();

const COUNT: u64 = 1_000_000;
const CASE: &str = "STANDIN_INSTRUCTIONS_CASE";

fn main() -> ExitCode {
    if let Ok(case) = std::env::var(CASE) {
        let (case, count) = case.split_once(':').expect("case:count");
        run(
            case.parse().expect("a number"),
            count.parse().expect("a number"),
        );
        return ExitCode::SUCCESS;
    }
    let valgrind = Command::new("valgrind").arg("--version").output();
    if !valgrind.is_ok_and(|output| output.status.success()) {
        println!("not counted: there is no valgrind here");
        return ExitCode::SUCCESS;
    }
    let mut code = ExitCode::SUCCESS;
    let each = |case| (counted(case, 2 * COUNT) - counted(case, COUNT)) as f64 / COUNT as f64;
    let empty = each(EMPTY);
    for (case, (name, bound)) in BOUNDS.iter().enumerate() {
        let each = each(case) - empty;
        println!("{name}: {each:.1} instructions, bound {bound}");
        if each > *bound {
            println!("  exceeded");
            code = ExitCode::FAILURE;
        }
    }
    code
}

/// Instructions of a run of this program.
fn counted(case: usize, count: u64) -> u64 {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(std::env::current_exe().expect("a running program has a path"))
        .env(CASE, format!("{case}:{count}"))
        .output()
        .expect("it ran before");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let line = text
        .lines()
        .find(|line| line.contains("I refs:") || line.contains("I   refs:"));
    let line = line.unwrap_or_else(|| panic!("no count in {text}"));
    let digits: String = line
        .rsplit(':')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(char::is_ascii_digit)
        .collect();
    digits.parse().expect("a count")
}

fn run(case: usize, count: u64) {
    match case {
        0 => {
            let (mut runtime, ids) = all_exact(unbounded());
            let frame = runtime.begin_frame();
            let mut stream = frame.stream(0);
            for _ in 0..count {
                black_box(stream.select(black_box(epochs(1)), || ids[0]));
            }
        }
        1 => {
            let (mut runtime, ids) = all_pending(unbounded(), 4);
            let frame = runtime.begin_frame();
            let mut stream = frame.stream(0);
            for _ in 0..count {
                black_box(stream.select(black_box(epochs(1)), || ids[0]));
            }
        }
        2 => {
            let (mut runtime, ids) = all_exact(unbounded());
            let order: Vec<_> = shuffled(RECIPES).into_iter().map(|n| ids[n]).collect();
            let frame = runtime.begin_frame();
            let mut stream = frame.stream(0);
            let mut at = 0;
            for draw in 0..count {
                at = (at + 1) % RECIPES;
                black_box(stream.select(epochs(draw + 1), || order[at]));
            }
        }
        _ => {
            let (mut runtime, ids) = all_exact(unbounded());
            let frame = runtime.begin_frame();
            let choice = frame.stream(0).select(epochs(1), || ids[0]);
            for _ in 0..count {
                black_box(black_box(epochs(1)));
                black_box(choice);
            }
        }
    }
}
