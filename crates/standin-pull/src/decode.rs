//! The reference decoder: an element's bytes to the register words that a shader input gets.
//!
//! It is written for exactness, not speed; the SPIR-V decoder of `fetch` is held to it.

use crate::format::{Class, Field, Format, Packing};

/// How a normalised integer becomes a float.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Quotient {
    /// The quotient rounded to nearest: what the specification asks for.
    #[default]
    Rounded,
    /// The integer times the rounded reciprocal: a unit in the last place off for some values.
    Reciprocal,
}

/// What a signed normalised component's most negative integer becomes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// -1.0, as the specification says.
    #[default]
    Clamped,
    /// A little less than -1.0.
    Unclamped,
}

/// What becomes of a signalling 16-bit NaN.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Nan {
    /// Its bits are kept.
    #[default]
    Kept,
    /// The quiet bit is set, as conversion instructions do.
    Quieted,
}

/// How 16-bit floats are widened where they lie at whole words.
///
/// Both give the same words where a proof has said so; the decoder here knows no difference.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Widening {
    /// With integers, which is exact everywhere.
    #[default]
    Integer,
    /// With the device's own conversion, which may flush denormals.
    Native,
}

/// The details in which devices' own fetch units differ. The default is the specification's rule.
///
/// A proof run finds the conversion with which a device's fetch is reproduced bit for bit; the layout block carries
/// it, so that one pulled module serves all devices.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub struct Conversion {
    /// Normalised integers.
    pub quotient: Quotient,
    /// The most negative signed normalised integer.
    pub floor: Floor,
    /// Signalling NaNs of small floats.
    pub nan: Nan,
    /// 16-bit floats.
    pub widening: Widening,
}

impl Conversion {
    /// Every conversion, the specification's first.
    #[must_use]
    pub fn all() -> [Self; 8] {
        let mut all = [Self::default(); 8];
        for (index, conversion) in all.iter_mut().enumerate() {
            if index & 1 != 0 {
                conversion.quotient = Quotient::Reciprocal;
            }
            if index & 2 != 0 {
                conversion.floor = Floor::Unclamped;
            }
            if index & 4 != 0 {
                conversion.nan = Nan::Quieted;
            }
        }
        all
    }
}

/// The four register words of an element, with missing components filled as (0, 0, 0, 1).
///
/// `bytes` starts at the element; bytes that it lacks read as zero, which is also the rule for an element outside its
/// buffer. For a 64-bit format these are the first four of its words, see [`decode_64`].
#[must_use]
pub fn decode(format: &Format, bytes: &[u8], conversion: Conversion) -> [u32; 4] {
    let mut words = [0, 0, 0, format.class().one()];
    for (component, word) in words
        .iter_mut()
        .enumerate()
        .take(usize::from(format.count()))
    {
        *word = match format.field(component) {
            Some(field) => convert(format, field, bytes, conversion),
            None => word_at(bytes, component),
        };
    }
    words
}

/// The eight words of a 64-bit element: low and high word of each component; what is missing is zero.
#[must_use]
pub fn decode_64(format: &Format, bytes: &[u8]) -> [u32; 8] {
    let mut words = [0; 8];
    for (index, word) in words
        .iter_mut()
        .enumerate()
        .take(2 * usize::from(format.count()))
    {
        *word = word_at(bytes, index);
    }
    words
}

fn word_at(bytes: &[u8], index: usize) -> u32 {
    (0..4).fold(0, |word, byte| {
        word | u32::from(bytes.get(4 * index + byte).copied().unwrap_or(0)) << (8 * byte)
    })
}

fn convert(format: &Format, field: Field, bytes: &[u8], conversion: Conversion) -> u32 {
    let low = u64::from(word_at(bytes, 0)) | u64::from(word_at(bytes, 1)) << 32;
    let raw = (low >> field.offset) as u32 & ((1 << field.width) - 1);
    let extended = ((raw << (32 - field.width)) as i32) >> (32 - field.width);
    match format.class() {
        Class::Uint => raw,
        Class::Sint => extended as u32,
        Class::Uscaled => (raw as f32).to_bits(),
        Class::Sscaled => (extended as f32).to_bits(),
        Class::Unorm => normalise(raw as f32, u32::from(field.width), conversion).to_bits(),
        Class::Snorm => {
            let value = normalise(extended as f32, u32::from(field.width) - 1, conversion);
            match conversion.floor {
                Floor::Clamped => value.max(-1.0).to_bits(),
                Floor::Unclamped => value.to_bits(),
            }
        }
        Class::Sfloat => widen(raw, conversion.nan),
        Class::Ufloat if format.packing() == Packing::SharedExponent => {
            let exponent = (low >> 27) as i32 & 31;
            (raw as f32 * 2f32.powi(exponent - 24)).to_bits()
        }
        // An unsigned float is a 16-bit float without sign whose mantissa lacks low bits.
        Class::Ufloat => widen(raw << (15 - field.width), conversion.nan),
    }
}

fn normalise(value: f32, bits: u32, conversion: Conversion) -> f32 {
    let largest = ((1_u32 << bits) - 1) as f32;
    match conversion.quotient {
        Quotient::Rounded => value / largest,
        Quotient::Reciprocal => value * (1.0 / largest),
    }
}

/// A 16-bit float as a 32-bit one, exactly.
fn widen(half: u32, nan: Nan) -> u32 {
    let sign = (half & 0x8000) << 16;
    let mantissa = half & 0x3ff;
    let magnitude = match (half >> 10) & 31 {
        0 => (mantissa as f32 * 2f32.powi(-24)).to_bits(),
        31 if mantissa == 0 => 0x7f80_0000,
        31 => {
            let quiet = if nan == Nan::Quieted { 0x40_0000 } else { 0 };
            0x7f80_0000 | mantissa << 13 | quiet
        }
        exponent => (exponent + 112) << 23 | mantissa << 13,
    };
    sign | magnitude
}
