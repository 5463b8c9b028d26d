//! A thousand finished builds are adopted within each frame's budget, and none is lost:
//! `cargo bench -p standin --bench adoption`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench"
)]

mod stage;

use std::sync::Arc;
use std::time::{Duration, Instant};

use stage::{epochs, key, runtime, work};
use standin::{AdoptionBudget, Counter, FirstDraw, Route, Settings};

const BUILDS: u64 = 1000;

fn main() {
    let budgets = [
        AdoptionBudget::default(),
        AdoptionBudget {
            count: u32::MAX,
            time: Duration::from_micros(100),
        },
        AdoptionBudget {
            count: 32,
            time: Duration::from_millis(1),
        },
    ];
    for budget in budgets {
        adopt(budget);
    }
}

fn adopt(budget: AdoptionBudget) {
    let mut runtime = runtime(Settings {
        adoption: budget,
        ..Settings::default()
    });
    let ids: Vec<_> = (0..BUILDS)
        .map(|n| runtime.register(key(n), Arc::new(n)))
        .collect();
    {
        let frame = runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.on_uncovered(FirstDraw::Skip);
        for (epoch, id) in (1..).zip(&ids) {
            let _ = stream.select(epochs(epoch), || *id);
        }
    }
    // Each build is two stretches of work.
    work(&runtime, 2 * BUILDS as usize);
    let (mut frames, mut adopted, mut longest, mut most) = (0, 0, Duration::ZERO, 0);
    let mut all = Duration::ZERO;
    while adopted < BUILDS {
        let start = Instant::now();
        let frame = runtime.begin_frame();
        let took = start.elapsed();
        let now = frame.counters().get(Counter::Adopted);
        (frames, adopted) = (frames + 1, adopted + now);
        (longest, most, all) = (longest.max(took), most.max(now), all + took);
        assert!(frames <= BUILDS, "no progress");
    }
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let lost = (1..)
        .zip(&ids)
        .filter(|(epoch, id)| stream.select(epochs(*epoch), || **id).route() != Route::Exact)
        .count();
    println!(
        "budget {:>10} builds, {:>6.1?} a frame: {frames:>3} frames, at most {most:>4} builds and {longest:>7.1?} in one, \
         {:.0?} a build, {lost} lost",
        budget.count,
        budget.time,
        all / u32::try_from(BUILDS).unwrap(),
    );
    assert_eq!(lost, 0);
}
