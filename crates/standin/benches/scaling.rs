//! Recording threads select without writing to memory that they share:
//! `cargo bench -p standin --bench scaling`.
//!
//! Prints the cost of a reselection for one thread and for several, alternated in one run, as the
//! CPU time of the thread: with more threads than cores, the wall clock measures the machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench"
)]

mod stage;

use std::sync::Barrier;
use std::time::Instant;

use stage::{RECIPES, all_exact, epochs, shuffled, unbounded};

const ROUNDS: usize = 15;
const SELECTIONS: usize = 1 << 20;

fn main() {
    let (mut runtime, ids) = all_exact(unbounded());
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let order: Vec<_> = shuffled(RECIPES).into_iter().map(|n| ids[n]).collect();
    let mut medians: Vec<(usize, Vec<f64>)> = [1, cores.min(8), 8]
        .into_iter()
        .map(|threads| (threads, Vec::new()))
        .collect();
    for _ in 0..ROUNDS {
        for (threads, costs) in &mut medians {
            let frame = runtime.begin_frame();
            let barrier = Barrier::new(*threads);
            let total: f64 = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..*threads)
                    .map(|thread| {
                        let (frame, order, barrier) = (&frame, &order, &barrier);
                        scope.spawn(move || {
                            let mut stream = frame.stream(u32::try_from(thread).unwrap());
                            barrier.wait();
                            let start = Instant::now();
                            for draw in 0..SELECTIONS {
                                let at = (draw + thread * 1000) % RECIPES;
                                let choice = stream.select(epochs(draw as u64 + 1), || order[at]);
                                std::hint::black_box(choice.selected());
                            }
                            start.elapsed().as_secs_f64()
                        })
                    })
                    .collect();
                workers.into_iter().map(|w| w.join().unwrap()).sum()
            });
            // More threads than cores share them: each has its share of the wall clock.
            let share = (*threads).min(cores) as f64 / *threads as f64;
            costs.push(total * share / (*threads * SELECTIONS) as f64 * 1e9);
        }
    }
    println!("reselect among {RECIPES} adopted recipes, random order, {cores} cores");
    let mut one = 0.0;
    for (threads, costs) in &mut medians {
        costs.sort_by(f64::total_cmp);
        let median = costs[costs.len() / 2];
        if *threads == 1 {
            one = median;
        }
        println!(
            "{threads:>2} threads: {median:6.2} ns a selection and thread, {:.2} times one thread's",
            median / one
        );
    }
}
