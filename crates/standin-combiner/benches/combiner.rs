//! What admission and generation cost on one core, for a typical and for the largest state.
#![allow(clippy::unwrap_used)] // A measurement of the project's own inputs.

use divan::{Bencher, black_box};
use standin::evaluator::Evaluator;
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::asm::assemble;
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::family::Combiners;
use standin_combiner::known::KNOWN_PROGRAMS;
use standin_combiner::packet::{Constants, ProgramPacket};
use standin_combiner::specialise::specialise;
use standin_combiner::state::RawState;

fn main() {
    divan::main();
}

/// The well-known programs, and eight stages in which every result is taken.
const STATES: [&str; 5] = [
    "modulate",
    "lerp-by-alpha",
    "dot3-bump-specular",
    "two-texture-mux",
    "eight-full-stages",
];

fn state(name: &str) -> RawState {
    let known = KNOWN_PROGRAMS.into_iter().find(|known| known.name == name);
    known.map_or_else(full, |known| assemble(known.text).unwrap())
}

fn full() -> RawState {
    let mut state = RawState {
        combine_control: 0x1_1108,
        final_abcd: 0x0C0D_0E0F,
        final_efg: 0x0405_1CE0,
        shader_program: 0x8421 & 0xF_FFFF,
        ..RawState::default()
    };
    for i in 0..8 {
        state.rgb_inputs[i] = 0x4C8D_6829;
        state.rgb_outputs[i] = 0x0001_0000 | 0xD << 8 | 0xC << 4 | 0x8 | 1 << 14;
        state.alpha_inputs[i] = 0x5C9D_7839;
        state.alpha_outputs[i] = 0x0001_8000 | 0xD << 8 | 0xC << 4 | 0x9;
    }
    state
}

#[divan::bench(args = STATES)]
fn decode_admit_and_key(bencher: Bencher, name: &str) {
    let state = state(name);
    bencher.bench(|| Combiners::default().admit(black_box(&state)).unwrap());
}

#[divan::bench(args = STATES)]
fn specialised_module(bencher: Bencher, name: &str) {
    let Admitted { program, shell } = admit(&state(name)).unwrap();
    let canonical = Admitted {
        program: program.canonical(),
        shell,
    };
    bencher.bench(|| specialise(black_box(&canonical)));
}

#[divan::bench(args = STATES)]
fn packet(bencher: Bencher, name: &str) {
    let program = admit(&state(name)).unwrap().program.canonical();
    bencher.bench(|| ProgramPacket::new(black_box(&program)).to_bytes());
}

#[divan::bench]
fn constants(bencher: Bencher) {
    let state = full();
    bencher.bench(|| Constants::from_state(black_box(&state)).to_bytes());
}

#[divan::bench]
fn evaluator_module(bencher: Bencher) {
    let shell = admit(&full()).unwrap().shell;
    bencher.bench(|| evaluator(black_box(&shell), EvaluatorForm::default()));
}
