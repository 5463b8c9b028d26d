//! What the GPU reads: the program block of the generic evaluator and the constants block
//! of both paths. `docs/combiner.md` has the byte layouts.

use crate::program::{ConstantScope, MuxSelector, Program, Register, StageWords};
use crate::state::{MAX_STAGES, RawState};

/// Size of the program block in bytes.
pub const PROGRAM_BYTES: usize = 16 * PROGRAM_VECTORS;

/// Header, stages, the table of input mappings, the table of output operations.
pub(crate) const PROGRAM_VECTORS: usize = MAPPING_TABLE + 16;
/// Where the table of input mappings starts: eight vectors of low, high, scale, offset.
pub(crate) const MAPPING_TABLE: usize = 1 + MAX_STAGES;
/// Where the table of output operations starts: eight vectors of bias, scale, 0, 0.
pub(crate) const OPERATION_TABLE: usize = MAPPING_TABLE + 8;

/// offset + scale * min(max(e, low), high) for each input mapping.
pub(crate) const MAPPINGS: [[f32; 4]; 8] = {
    const LOW: f32 = f32::MIN;
    const HIGH: f32 = f32::MAX;
    [
        [0.0, HIGH, 1.0, 0.0],
        [0.0, 1.0, -1.0, 1.0],
        [0.0, HIGH, 2.0, -1.0],
        [0.0, HIGH, -2.0, 1.0],
        [0.0, HIGH, 1.0, -0.5],
        [0.0, HIGH, -1.0, 0.5],
        [LOW, HIGH, 1.0, 0.0],
        [LOW, HIGH, -1.0, 0.0],
    ]
};

/// (x + bias) * scale for each output operation; 5 and 7 do not occur.
pub(crate) const OPERATIONS: [[f32; 4]; 8] = [
    [0.0, 1.0, 0.0, 0.0],
    [-0.5, 1.0, 0.0, 0.0],
    [0.0, 2.0, 0.0, 0.0],
    [-0.5, 2.0, 0.0, 0.0],
    [0.0, 4.0, 0.0, 0.0],
    [0.0; 4],
    [0.0, 0.5, 0.0, 0.0],
    [0.0; 4],
];

/// Size of the constants block in bytes.
pub const CONSTANTS_BYTES: usize = 16 * CONSTANT_VECTORS;

pub(crate) const CONSTANT_VECTORS: usize = 20;
pub(crate) const FINAL_C0: usize = 16;
pub(crate) const FINAL_C1: usize = 17;
pub(crate) const FOG_COLOUR: usize = 18;
/// Holds the alpha reference in its first component.
pub(crate) const SCALARS: usize = 19;

/// Header flag: the mux looks at the most significant bit.
pub(crate) const HEADER_MUX_MSB: u32 = 1;
/// Header flag: the final combiner reads V1R0_SUM.
pub(crate) const HEADER_SUM: u32 = 1 << 1;
/// Header flag: the final combiner reads EF_PROD.
pub(crate) const HEADER_PRODUCT: u32 = 1 << 2;
/// Output word flag of a packet: AB is needed.
pub(crate) const NEEDS_AB: u32 = 1 << 20;
/// Output word flag of a packet: CD is needed.
pub(crate) const NEEDS_CD: u32 = 1 << 21;
/// RGB output word of a packet, 3 bits from here: the index of the stage's C0.
pub(crate) const C0_SHIFT: u32 = 24;
/// RGB output word of a packet, 3 bits from here: the index of the stage's C1.
pub(crate) const C1_SHIFT: u32 = 27;

/// The static half of the control packet: the program. It is made once for each program
/// and holds nothing that the evaluator would have to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPacket(pub(crate) [u32; PROGRAM_BYTES / 4]);

impl ProgramPacket {
    /// The packet of a program. It does not matter whether the program is canonical.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut words = [0; PROGRAM_BYTES / 4];
        words[0] = program.stage_count() as u32;
        words[1] = program.final_abcd;
        words[2] = program.final_efg;
        let mut flags = 0;
        if program.mux_selector() == MuxSelector::Msb {
            flags |= HEADER_MUX_MSB;
        }
        let [a, b, c, d, ..] = program.final_combiner().inputs.map(|input| input.register);
        for register in [a, b, c, d] {
            match register {
                Register::V1R0Sum => flags |= HEADER_SUM,
                Register::EfProduct => flags |= HEADER_PRODUCT,
                _ => {}
            }
        }
        words[3] = flags;
        for (i, (stage, packed)) in program
            .stage_words()
            .iter()
            .zip(words[4..4 * MAPPING_TABLE].chunks_exact_mut(4))
            .enumerate()
        {
            let index = |constant| match program.constant_scope(constant) {
                ConstantScope::Shared => 0,
                ConstantScope::PerStage => i as u32,
            };
            let StageWords {
                rgb_in,
                alpha_in,
                rgb_out,
                alpha_out,
            } = *stage;
            packed[0] = rgb_in;
            packed[1] = alpha_in;
            packed[2] = rgb_out | needs(rgb_out) | index(0) << C0_SHIFT | index(1) << C1_SHIFT;
            packed[3] = alpha_out | needs(alpha_out);
        }
        let tables = MAPPINGS
            .as_flattened()
            .iter()
            .chain(OPERATIONS.as_flattened());
        for (to, value) in words[4 * MAPPING_TABLE..].iter_mut().zip(tables) {
            *to = value.to_bits();
        }
        Self(words)
    }

    /// The packet's bytes, words little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; PROGRAM_BYTES] {
        let mut bytes = [0; PROGRAM_BYTES];
        for (to, word) in bytes.chunks_exact_mut(4).zip(self.0) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

fn needs(output: u32) -> u32 {
    let third = output & 0xF00 != 0;
    let mut bits = 0;
    if third || output & 0xF0 != 0 {
        bits |= NEEDS_AB;
    }
    if third || output & 0xF != 0 {
        bits |= NEEDS_CD;
    }
    bits
}

/// The dynamic half of the control packet: data that no key contains. Components are
/// red, green, blue, alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constants {
    /// C0 of every general stage.
    pub c0: [[f32; 4]; MAX_STAGES],
    /// C1 of every general stage.
    pub c1: [[f32; 4]; MAX_STAGES],
    /// C0 and C1 of the final combiner.
    pub final_factors: [[f32; 4]; 2],
    /// Register FOG's colour; its alpha is the fog factor and not data.
    pub fog_colour: [f32; 3],
    /// The alpha test's reference.
    pub alpha_reference: u8,
}

/// n / 255 for the four bytes of an ARGB word, as red, green, blue, alpha.
fn argb(word: u32) -> [f32; 4] {
    [16, 8, 0, 24].map(|shift| (word >> shift & 0xFF) as f32 / 255.0)
}

impl Constants {
    /// The data in a state's words.
    #[must_use]
    pub fn from_state(state: &RawState) -> Self {
        let [red, green, blue, _] = argb(state.fog_colour);
        Self {
            c0: state.factor0.map(argb),
            c1: state.factor1.map(argb),
            final_factors: state.final_factors.map(argb),
            fog_colour: [red, green, blue],
            alpha_reference: (state.control_0 & 0xFF) as u8,
        }
    }

    /// The block's vectors, in the order of the layout.
    #[must_use]
    pub fn vectors(&self) -> [[f32; 4]; CONSTANT_VECTORS] {
        let mut vectors = [[0.0; 4]; CONSTANT_VECTORS];
        vectors[..8].copy_from_slice(&self.c0);
        vectors[8..16].copy_from_slice(&self.c1);
        vectors[FINAL_C0] = self.final_factors[0];
        vectors[FINAL_C1] = self.final_factors[1];
        let [red, green, blue] = self.fog_colour;
        vectors[FOG_COLOUR] = [red, green, blue, 0.0];
        vectors[SCALARS][0] = f32::from(self.alpha_reference);
        vectors
    }

    /// The block's bytes, floats little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; CONSTANTS_BYTES] {
        let mut bytes = [0; CONSTANTS_BYTES];
        for (to, value) in bytes.chunks_exact_mut(4).zip(self.vectors().as_flattened()) {
            to.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }
}
