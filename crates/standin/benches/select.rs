//! What a selection costs, and what the usual way costs in the same run:
//! `cargo bench -p standin --bench select`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench"
)]

mod stage;

use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;

use divan::Bencher;
use hashbrown::HashMap;
use stage::{RECIPES, all_exact, all_pending, epochs, key, shuffled, unbounded};
use standin::Settings;
use xxhash_rust::xxh3::xxh3_64;

fn main() {
    divan::main();
}

/// The state that an emulator hashes at a draw.
type GuestState = [u8; 512];

/// A hasher for keys that are hashes, as careful emulators use it.
#[derive(Default)]
struct Passed(u64);

impl Hasher for Passed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

type UsualMap = HashMap<u64, u64, BuildHasherDefault<Passed>>;

fn state(number: u64) -> GuestState {
    let mut state = [0; 512];
    for (at, chunk) in state.chunks_exact_mut(8).enumerate() {
        chunk.copy_from_slice(&(number.wrapping_mul(at as u64 + 1)).to_le_bytes());
    }
    state
}

fn usual() -> (UsualMap, Vec<GuestState>) {
    let states: Vec<_> = (0..RECIPES as u64).map(state).collect();
    let map = (0..).zip(&states).map(|(n, s)| (xxh3_64(s), n)).collect();
    (map, states)
}

/// Settings with a trace of the size that a report wants.
fn traced(on: bool) -> Settings {
    Settings {
        trace_capacity: if on { 1 << 16 } else { 0 },
        ..unbounded()
    }
}

#[divan::bench(args = [false, true])]
fn a1_unchanged_traced(bencher: Bencher, trace: bool) {
    let (mut runtime, ids) = all_exact(traced(trace));
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let now = epochs(1);
    bencher.bench_local(|| stream.select(black_box(now), || ids[0]));
}

#[divan::bench]
fn a2_unchanged_the_usual_way(bencher: Bencher) {
    let (map, states) = usual();
    bencher.bench_local(|| map.get(&xxh3_64(black_box(&states[0]))).copied());
}

#[divan::bench(args = [false, true])]
fn b1_stable_stand_in_traced(bencher: Bencher, trace: bool) {
    let (mut runtime, ids) = all_pending(traced(trace), 64);
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let now = epochs(1);
    bencher.bench_local(|| stream.select(black_box(now), || ids[0]));
}

/// The state changes at each draw, and each is a stand-in whose promotion is pending.
#[divan::bench(args = [false, true])]
fn b2_reselect_stand_in_traced(bencher: Bencher, trace: bool) {
    let (mut runtime, ids) = all_pending(traced(trace), 64);
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let mut draw = 1_usize;
    bencher.bench_local(|| {
        draw += 1;
        stream.select(epochs(draw as u64), || ids[draw % 64])
    });
}

/// The guest keeps the id beside its state: recipes in the order of their registration.
#[divan::bench(args = [false, true])]
fn c1_reselect_by_id_traced(bencher: Bencher, trace: bool) {
    let (mut runtime, ids) = all_exact(traced(trace));
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let mut draw = 0_usize;
    bencher.bench_local(|| {
        draw += 1;
        stream.select(epochs(draw as u64), || ids[draw % RECIPES])
    });
}

#[divan::bench]
fn c2_reselect_by_id_random(bencher: Bencher) {
    let (mut runtime, ids) = all_exact(unbounded());
    let order: Vec<_> = shuffled(RECIPES).into_iter().map(|n| ids[n]).collect();
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let mut draw = 0_usize;
    bencher.bench_local(|| {
        draw += 1;
        stream.select(epochs(draw as u64), || order[draw % RECIPES])
    });
}

#[divan::bench]
fn c3_reselect_by_key_random(bencher: Bencher) {
    let (mut runtime, _) = all_exact(unbounded());
    let order: Vec<_> = shuffled(RECIPES)
        .into_iter()
        .map(|n| key(n as u64))
        .collect();
    let frame = runtime.begin_frame();
    let mut stream = frame.stream(0);
    let mut draw = 0_usize;
    bencher.bench_local(|| {
        draw += 1;
        stream.select_key(
            epochs(draw as u64),
            || order[draw % RECIPES],
            || unreachable!("all are registered"),
        )
    });
}

#[divan::bench]
fn c4_reselect_the_usual_way_random(bencher: Bencher) {
    let (map, states) = usual();
    let order = shuffled(RECIPES);
    let mut draw = 0_usize;
    bencher.bench_local(|| {
        draw += 1;
        map.get(&xxh3_64(&states[order[draw % RECIPES]])).copied()
    });
}
