//! What the console shows, as far as it is known: integers on a scale where 255 is 1.

use super::Profile;
use crate::arithmetic::{texture_input, unit_input};
use crate::program::{Mapping, MuxSelector, OutputOp, SumRange};

/// Nine-bit signed fixed point, -255 to 255. Bias is 128/255 and not one half, halves of
/// positive numbers round up. Measured on hardware: bias, complement and halving of
/// positive numbers. Not measured, and chosen here: products round to nearest, dot
/// products add rounded products, mappings 2 to 5 are the integer forms of their formulas.
#[derive(Clone, Copy, Debug, Default)]
pub struct NineBit;

const ONE: i32 = 255;
const BIAS: i32 = 128;

fn quantise(x: f32) -> i32 {
    (x.clamp(-1.0, 1.0) * 255.0).round() as i32
}

/// a b / 255, rounded to nearest, halves away from zero.
fn multiply(a: i32, b: i32) -> i32 {
    let product = a * b;
    (product.abs() * 2 + ONE) / (2 * ONE) * product.signum()
}

impl Profile for NineBit {
    type Number = i32;

    fn constant(&self, x: f32) -> i32 {
        quantise(x)
    }

    fn unit_input(&self, x: f32) -> i32 {
        quantise(unit_input(x))
    }

    fn texture_input(&self, x: f32) -> i32 {
        quantise(texture_input(x))
    }

    fn map(&self, mapping: Mapping, e: i32) -> i32 {
        let positive = e.max(0);
        match mapping {
            Mapping::UnsignedIdentity => positive,
            Mapping::UnsignedInvert => ONE - positive.min(ONE),
            Mapping::ExpandNormal => 2 * positive - ONE,
            Mapping::ExpandNegate => ONE - 2 * positive,
            Mapping::HalfBiasNormal => positive - BIAS,
            Mapping::HalfBiasNegate => BIAS - positive,
            Mapping::SignedIdentity => e,
            Mapping::SignedNegate => -e,
        }
    }

    fn product(&self, a: i32, b: i32) -> i32 {
        multiply(a, b)
    }

    fn dot(&self, a: [i32; 3], b: [i32; 3]) -> i32 {
        a.into_iter().zip(b).map(|(x, y)| multiply(x, y)).sum()
    }

    fn sum(&self, ab: i32, cd: i32) -> i32 {
        ab + cd
    }

    fn takes_cd(&self, selector: MuxSelector, r0_alpha: i32) -> bool {
        match selector {
            MuxSelector::Msb => r0_alpha >= BIAS,
            MuxSelector::Lsb => r0_alpha.max(0) & 1 == 1,
        }
    }

    fn output(&self, op: OutputOp, x: i32) -> i32 {
        let scaled = match op {
            OutputOp::Identity => x,
            OutputOp::Bias => x - BIAS,
            OutputOp::Scale2 => 2 * x,
            OutputOp::BiasScale2 => 2 * (x - BIAS),
            OutputOp::Scale4 => 4 * x,
            OutputOp::Half => (x + 1) >> 1,
        };
        scaled.clamp(-ONE, ONE)
    }

    fn final_sum(&self, v1: i32, r0: i32, range: SumRange) -> i32 {
        match range {
            SumRange::Open => v1 + r0,
            SumRange::Clamped => (v1 + r0).min(ONE),
        }
    }

    fn blend(&self, [a, b, c, d]: [i32; 4]) -> i32 {
        (d + (multiply(c, ONE - a) + multiply(b, a))).clamp(0, ONE)
    }

    fn clamp_unit(&self, x: i32) -> i32 {
        x.clamp(0, ONE)
    }

    fn byte(&self, x: i32) -> u32 {
        x.unsigned_abs()
    }

    fn to_float(&self, x: i32) -> f32 {
        x as f32 / 255.0
    }
}
