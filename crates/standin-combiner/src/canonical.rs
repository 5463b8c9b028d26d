//! The canonical form of a program: bits that mean nothing for it are cleared, so that two
//! states that draw the same way have the same key. It works on whole words, four inputs at
//! a time, because it runs for every state that a guest sets.

use crate::program::{
    AB_BLUE_TO_ALPHA, AB_DOT, CD_BLUE_TO_ALPHA, CD_DOT, COMPLEMENT_R0, COMPLEMENT_V1, MUX, MUX_MSB,
    Program, Register, StageWords, UNIQUE_C0, UNIQUE_C1,
};
use crate::state::MAX_STAGES;

const EACH: u32 = 0x0101_0101;

/// Bit 0 of every byte whose register is ZERO.
fn zero_registers(word: u32) -> u32 {
    let register = word & (0x0F * EACH);
    !((register + (0x0F * EACH)) >> 4) & EACH
}

/// Inputs that read ZERO: the channel means nothing, and mappings 3, 6 and 7 give what 1, 0
/// and 0 give.
fn canonical_zeroes(word: u32) -> u32 {
    let zero = zero_registers(word);
    let signed = zero & word >> 7 & word >> 6;
    let expand_negate = zero & !(word >> 7) & word >> 6 & word >> 5;
    word & !(zero * 0x10) & !(signed * 0xE0) & !(expand_negate * 0x40)
}

/// A product of which one factor is 0 is 0 whatever the other factor is.
fn canonical_products(mut word: u32) -> u32 {
    if word & 0xFF00_0000 == 0 || word & 0x00FF_0000 == 0 {
        word &= 0x0000_FFFF;
    }
    if word & 0x0000_FF00 == 0 || word & 0x0000_00FF == 0 {
        word &= 0xFFFF_0000;
    }
    word
}

fn canonical_portion(mut input: u32, mut output: u32) -> (u32, u32) {
    let (cd_to, ab_to, third_to) = (output & 0xF, output & 0xF0, output & 0xF00);
    if third_to == 0 {
        output &= !MUX;
        if ab_to == 0 {
            input &= 0x0000_FFFF;
            output &= !AB_DOT;
        }
        if cd_to == 0 {
            input &= 0xFFFF_0000;
            output &= !CD_DOT;
        }
        if ab_to | cd_to == 0 {
            return (0, 0);
        }
    }
    if ab_to == 0 {
        output &= !AB_BLUE_TO_ALPHA;
    }
    if cd_to == 0 {
        output &= !CD_BLUE_TO_ALPHA;
    }
    input = canonical_products(canonical_zeroes(input));
    if input & 0xFFFF_0000 == 0 {
        output &= !AB_DOT;
    }
    if input & 0x0000_FFFF == 0 {
        output &= !CD_DOT;
    }
    (input, output)
}

/// Whether one of the word's four inputs reads `register`.
fn reads(word: u32, register: Register) -> bool {
    zero_registers(word ^ (register as u32 * EACH)) != 0
}

impl Program {
    /// The program with every bit cleared that means nothing for it. It draws the same
    /// picture; equal canonical programs are one program.
    ///
    /// Cleared are: inputs of products that nobody takes; the flags and the mapping of
    /// discarded results; the channel of ZERO; factors of a product with 0; the mux
    /// selector without a mux; "constant per stage" where only stage 0 reads the constant;
    /// trailing stages that write nothing; E, F and the sum's flags where the final
    /// combiner reads neither EF_PROD nor V1R0_SUM.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut stages = [StageWords::default(); MAX_STAGES];
        let mut count = 0;
        let mut any_out = 0;
        let (mut late_c0, mut late_c1) = (false, false);
        for (i, words) in self.stage_words().iter().enumerate() {
            let (rgb_in, rgb_out) = canonical_portion(words.rgb_in, words.rgb_out);
            let (alpha_in, alpha_out) = canonical_portion(words.alpha_in, words.alpha_out);
            stages[i] = StageWords {
                rgb_in,
                alpha_in,
                rgb_out,
                alpha_out,
            };
            let out = rgb_out | alpha_out;
            any_out |= out;
            if out != 0 {
                count = i + 1;
            }
            if i > 0 {
                late_c0 |= reads(rgb_in, Register::C0) || reads(alpha_in, Register::C0);
                late_c1 |= reads(rgb_in, Register::C1) || reads(alpha_in, Register::C1);
            }
        }
        let mut control = count as u32;
        let mut keep = |condition: bool, bit: u32| {
            if condition {
                control |= self.control & bit;
            }
        };
        keep(any_out & MUX != 0, MUX_MSB);
        keep(late_c0, UNIQUE_C0);
        keep(late_c1, UNIQUE_C1);
        let (final_abcd, final_efg) = canonical_final(self.final_abcd, self.final_efg);
        Self {
            control,
            stages,
            final_abcd,
            final_efg,
        }
    }
}

fn canonical_final(abcd: u32, efg: u32) -> (u32, u32) {
    let mut abcd = canonical_zeroes(abcd);
    // D + A B + (1 - A) C: with A = 0 there is no B, with A = 1 there is no C.
    match abcd >> 24 {
        0x00 => abcd &= 0xFF00_FFFF,
        0x20 => abcd &= 0xFFFF_00FF,
        _ => {}
    }
    let flags = efg & 0xFF;
    let mut inputs = canonical_zeroes(efg & 0xFFFF_FF00);
    if !reads(abcd, Register::EfProduct) {
        inputs &= 0x0000_FF00;
    }
    if inputs & 0xFF00_0000 == 0 || inputs & 0x00FF_0000 == 0 {
        inputs &= 0x0000_FF00;
    }
    let flags = if reads(abcd, Register::V1R0Sum) {
        flags
    } else {
        flags & !(COMPLEMENT_R0 | COMPLEMENT_V1 | crate::program::CLAMP_SUM)
    };
    (abcd, inputs | flags)
}
