//! The `float` profile's arithmetic, one component at a time. The oracle computes with it,
//! the specialiser folds constants with it, and both GPU paths emit exactly these
//! operations in this order. `docs/combiner.md`, "Arithmetic", says why it is as it is.

use crate::program::{Mapping, OutputOp};

/// Magnitudes below this are zero. It is so far above the smallest normal number that
/// no denormal, kept or flushed by a device, can be seen in a result.
pub const TINY: f32 = f32::from_bits((127 - 64) << 23);

/// Texture registers are limited to this magnitude, so nothing overflows.
pub const LARGE: f32 = 65536.0;

/// x, or +0 where x is smaller in magnitude than [`TINY`], -0 or not a number.
pub(crate) fn flush(x: f32) -> f32 {
    if x.abs() >= TINY { x } else { 0.0 }
}

/// What a texel or a coordinate is in its register.
pub(crate) fn texture_input(x: f32) -> f32 {
    flush(x).clamp(-LARGE, LARGE)
}

/// What an interpolated colour or the fog factor is in its register.
pub(crate) fn unit_input(x: f32) -> f32 {
    flush(x).clamp(0.0, 1.0)
}

/// An input mapping of the general stages; the final combiner uses the first two.
pub(crate) fn map(mapping: Mapping, e: f32) -> f32 {
    let positive = e.max(0.0);
    match mapping {
        Mapping::UnsignedIdentity => positive,
        Mapping::UnsignedInvert => 1.0 - positive.min(1.0),
        Mapping::ExpandNormal => positive * 2.0 - 1.0,
        Mapping::ExpandNegate => 1.0 - positive * 2.0,
        Mapping::HalfBiasNormal => positive - 0.5,
        Mapping::HalfBiasNegate => 0.5 - positive,
        Mapping::SignedIdentity => e,
        // Not a negation: 0 must stay +0.
        Mapping::SignedNegate => 0.0 - e,
    }
}

/// An output operation and the clamp after it.
pub(crate) fn output(op: OutputOp, x: f32) -> f32 {
    let scaled = match op {
        OutputOp::Identity => x,
        OutputOp::Bias => x - 0.5,
        OutputOp::Scale2 => x * 2.0,
        OutputOp::BiasScale2 => (x - 0.5) * 2.0,
        OutputOp::Scale4 => x * 4.0,
        OutputOp::Half => flush(x * 0.5),
    };
    scaled.clamp(-1.0, 1.0)
}

/// a in [0, 1] as an eight-bit number, rounded to nearest: the alpha test's view of it.
pub(crate) fn rounded_byte(a: f32) -> f32 {
    (a * 255.0 + 0.5).floor()
}

/// Bit 0 of `a` as an eight-bit number, truncated: the LSB mux selector.
pub(crate) fn low_bit(a: f32) -> u32 {
    (a.clamp(0.0, 1.0) * 255.0) as u32 & 1
}
