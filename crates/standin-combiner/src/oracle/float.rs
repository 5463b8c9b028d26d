//! The profile that both GPU paths equal bit for bit.

use super::Profile;
use crate::arithmetic::{flush, low_bit, map, output, rounded_byte, texture_input, unit_input};
use crate::program::{Mapping, MuxSelector, OutputOp, SumRange};

/// IEEE single precision in a fixed order, with the rules of `docs/combiner.md`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Float;

impl Profile for Float {
    type Number = f32;

    fn constant(&self, x: f32) -> f32 {
        x
    }

    fn unit_input(&self, x: f32) -> f32 {
        unit_input(x)
    }

    fn texture_input(&self, x: f32) -> f32 {
        texture_input(x)
    }

    fn map(&self, mapping: Mapping, e: f32) -> f32 {
        map(mapping, e)
    }

    fn product(&self, a: f32, b: f32) -> f32 {
        flush(a * b)
    }

    fn dot(&self, a: [f32; 3], b: [f32; 3]) -> f32 {
        flush((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2])
    }

    fn sum(&self, ab: f32, cd: f32) -> f32 {
        flush(ab + cd)
    }

    fn takes_cd(&self, selector: MuxSelector, r0_alpha: f32) -> bool {
        match selector {
            MuxSelector::Msb => r0_alpha >= 0.5,
            MuxSelector::Lsb => low_bit(r0_alpha) == 1,
        }
    }

    fn output(&self, op: OutputOp, x: f32) -> f32 {
        output(op, x)
    }

    fn final_sum(&self, v1: f32, r0: f32, range: SumRange) -> f32 {
        let sum = v1 + r0;
        match range {
            SumRange::Open => sum,
            SumRange::Clamped => sum.min(1.0),
        }
    }

    fn blend(&self, [a, b, c, d]: [f32; 4]) -> f32 {
        flush(d + (c * (1.0 - a) + b * a)).clamp(0.0, 1.0)
    }

    fn clamp_unit(&self, x: f32) -> f32 {
        x.clamp(0.0, 1.0)
    }

    fn byte(&self, x: f32) -> u32 {
        rounded_byte(x) as u32
    }

    fn to_float(&self, x: f32) -> f32 {
        x
    }
}
