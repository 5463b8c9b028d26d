//! What the GPU reads: the program block of the generic evaluator and the constants block
//! of both paths. `docs/combiner.md` has the byte layouts.

use crate::state::{MAX_STAGES, RawState};

mod program;

pub(crate) use program::*;
pub use program::{PROGRAM_BYTES, ProgramPacket};

/// Size of the constants block in bytes.
pub const CONSTANTS_BYTES: usize = 16 * CONSTANT_VECTORS;

pub(crate) const CONSTANT_VECTORS: usize = 20;
pub(crate) const FINAL_C0: usize = 16;
pub(crate) const FINAL_C1: usize = 17;
pub(crate) const FOG_COLOUR: usize = 18;
/// Holds the alpha reference in its first component.
pub(crate) const SCALARS: usize = 19;

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
