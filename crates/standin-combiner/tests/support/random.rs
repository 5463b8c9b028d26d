//! Random admitted states and edge-heavy inputs, from a seed.

use standin_combiner::admit::{Admitted, admit};
use standin_combiner::oracle::{Float, FragmentInputs, evaluate};
use standin_combiner::packet::Constants;
use standin_combiner::state::RawState;

/// SplitMix64: every seed gives a good sequence.
#[derive(Clone, Debug)]
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(n)) >> 32) as u32
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
}

const READABLE: [u32; 12] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13];
const WRITABLE: [u32; 8] = [4, 5, 8, 9, 10, 11, 12, 13];

fn input_byte(rng: &mut Rng) -> u32 {
    // A quarter are the idioms that real programs are full of.
    match rng.below(8) {
        0 => rng.pick(&[0x00, 0x20, 0x40, 0xA0, 0x80]),
        1 => rng.pick(&[0x0C, 0x1C, 0xCC, 0xDC]),
        _ => rng.pick(&READABLE) | rng.below(16) << 4,
    }
}

fn input_word(rng: &mut Rng) -> u32 {
    (0..4).fold(0, |word, _| word << 8 | input_byte(rng))
}

fn output_word(rng: &mut Rng, rgb: bool) -> u32 {
    let mut to = || {
        if rng.one_in(3) {
            0
        } else if rng.one_in(2) {
            12 + rng.below(2)
        } else {
            rng.pick(&WRITABLE)
        }
    };
    let destinations = to() | to() << 4 | to() << 8;
    let op = rng.pick(&[0, 0, 1, 2, 3, 4, 6]) << 15;
    let mux = if rng.one_in(3) { 1 << 14 } else { 0 };
    let rgb_only = if rgb {
        (rng.word() & rng.word() & 0xC_3000) & !if rng.one_in(2) { 0x3000 } else { 0 }
    } else {
        0
    };
    destinations | op | mux | rgb_only
}

/// A random program's words in an admitted state. Texture modes, fog and alpha test are
/// left as they are in `shell`.
pub fn program(rng: &mut Rng, shell: &RawState) -> RawState {
    let mut state = *shell;
    let stages = rng.below(9);
    state.combine_control = stages | rng.word() & 0x1_1100;
    for i in 0..stages as usize {
        state.rgb_inputs[i] = input_word(rng);
        state.alpha_inputs[i] = input_word(rng);
        state.rgb_outputs[i] = output_word(rng, true);
        state.alpha_outputs[i] = output_word(rng, false);
    }
    let register = |rng: &mut Rng, all: bool| loop {
        let r = rng.below(if all { 16 } else { 14 });
        // R0 and what is computed from it carry the program's work to the picture.
        let r = if rng.one_in(3) { 12 } else { r };
        if ![6, 7].contains(&r) {
            return r;
        }
    };
    let byte = |rng: &mut Rng, all: bool| register(rng, all) | rng.below(4) << 4;
    state.final_abcd = (0..4).fold(0, |word, _| word << 8 | byte(rng, true));
    let efg = (0..3).fold(0, |word, _| word << 8 | byte(rng, false));
    state.final_efg = efg << 8 | rng.word() & 0xE0;
    if state.final_abcd == 0 && state.final_efg == 0 {
        state.final_abcd = 0x0000_000C;
    }
    data(rng, &mut state);
    state
}

/// Random constants, fog colour and alpha reference.
pub fn data(rng: &mut Rng, state: &mut RawState) {
    let colour = |rng: &mut Rng| {
        (0..4).fold(0, |word, _| {
            word << 8
                | if rng.one_in(3) {
                    rng.pick(&[0, 1, 127, 128, 254, 255])
                } else {
                    rng.below(256)
                }
        })
    };
    for i in 0..8 {
        state.factor0[i] = colour(rng);
        state.factor1[i] = colour(rng);
    }
    state.final_factors = [colour(rng), colour(rng)];
    state.fog_colour = colour(rng);
    state.control_0 = state.control_0 & !0xFF | rng.below(256);
}

/// Moves the alpha reference next to the alpha that the fragment has: elsewhere the alpha
/// test's rounding could not show.
pub fn reference_near_alpha(rng: &mut Rng, state: &mut RawState, inputs: &FragmentInputs) {
    let admitted = admit(state).expect("random states are admitted");
    let constants = Constants::from_state(state);
    let Admitted { program, shell } = admitted;
    let alpha = evaluate(&Float, &program, &shell, &constants, inputs).colour[3];
    let near = (alpha * 255.0) as u32 + rng.below(3);
    state.control_0 = state.control_0 & !0xFF | near.saturating_sub(1).min(255);
}

/// All four texture stages pass their coordinates through; the alpha test is off.
pub fn passthrough_shell() -> RawState {
    RawState {
        shader_program: 4 | 4 << 5 | 4 << 10 | 4 << 15,
        control_3: 1 << 8,
        ..RawState::default()
    }
}

/// A random shell of modes whose register the test can feed: NONE, the sampling modes when
/// `sampling` is set, and PASSTHRU, with fog and every alpha test.
pub fn shell(rng: &mut Rng, sampling: bool) -> RawState {
    let mut state = RawState::default();
    for i in 0..4 {
        let mode = if sampling {
            rng.below(5)
        } else {
            rng.pick(&[0, 4])
        };
        state.shader_program |= mode << (5 * i);
    }
    state.control_3 = rng.below(2) << 8;
    state.control_0 = rng.below(2) << 12 | rng.below(8) << 8 | rng.below(256);
    state
}

/// Values at the rules' edges: signed zeroes and ones, one half with its neighbours, eighth
/// bits, denormals, the smallest number that counts, values out of range.
pub fn edge(rng: &mut Rng) -> f32 {
    let neighbours = |x: f32, rng: &mut Rng| {
        f32::from_bits(x.to_bits().wrapping_add(rng.below(3)).wrapping_sub(1))
    };
    match rng.below(12) {
        0 => rng.pick(&[0.0, -0.0, 1.0, -1.0]),
        1 => neighbours(0.5, rng),
        2 => neighbours(1.0, rng),
        3 => neighbours((rng.below(256) as f32 + 0.5) / 255.0, rng),
        4 => f32::from_bits(rng.below(0x0080_0000) | rng.below(2) << 31),
        5 => neighbours(standin_combiner::TINY, rng),
        6 => f32::from_bits(rng.word() & 0x83FF_FFFF | 0x2000_0000),
        7 => (rng.below(2_000_001) as f32 - 1_000_000.0) / 300_000.0,
        8 => (rng.below(511) as f32 - 255.0) / 255.0,
        9 => (rng.word() as f32 / u32::MAX as f32) * 2.0 - 1.0,
        10 => rng.below(256) as f32 / 255.0,
        _ => rng.word() as f32 / u32::MAX as f32,
    }
}

/// Random fragment inputs. All are finite; see the tests of non-finite inputs.
pub fn inputs(rng: &mut Rng) -> FragmentInputs {
    let mut inputs = FragmentInputs::default();
    for vector in inputs.colours.iter_mut().chain(&mut inputs.textures) {
        for x in vector {
            *x = edge(rng);
        }
    }
    inputs.fog = edge(rng);
    inputs
}
