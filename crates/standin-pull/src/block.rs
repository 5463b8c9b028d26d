//! The layout block: what a pulled shader is told about a draw's vertex layout. `docs/vertex-pulling.md` has the bytes.

use crate::decode::{Conversion, Floor, Nan, Quotient, Widening};
use crate::format::{Class, Format, Packing};

/// Bytes of one attribute's entry.
pub const ATTRIBUTE_BYTES: usize = 64;
/// Bytes of one stream's entry.
pub const STREAM_BYTES: usize = 32;
/// The divisor word of a stream that is read by vertex.
pub(crate) const RATE_VERTEX: u32 = u32::MAX;

pub(crate) const KIND_WORDS: u32 = 1;
pub(crate) const KIND_INTEGER: u32 = 2;
pub(crate) const KIND_SCALED: u32 = 3;
pub(crate) const KIND_SMALL_FLOAT: u32 = 4;
pub(crate) const KIND_SHARED_EXPONENT: u32 = 5;
pub(crate) const FLAG_SIGNED: u32 = 1 << 24;
pub(crate) const FLAG_CLAMPED: u32 = 1 << 25;
pub(crate) const FLAG_INTEGER_ONE: u32 = 1 << 26;
pub(crate) const FLAG_QUIET_NAN: u32 = 1 << 27;
pub(crate) const FLAG_SWAPPED: u32 = 1 << 28;
pub(crate) const FLAG_NATIVE_HALF: u32 = 1 << 29;

/// Word of an attribute's entry at which the derived ones start: address, last element offset, path.
const DERIVED: usize = 12;
pub(crate) const PATH_NONE: u32 = 0;
/// The decoder that takes any format at any alignment.
pub(crate) const PATH_GENERAL: u32 = 1;
/// One to four whole words: `PATH_WORDS + count`. This and those below are for whole words at whole words' addresses.
pub(crate) const PATH_WORDS: u32 = 1;
pub(crate) const PATH_BYTES_UNSIGNED: u32 = 6;
pub(crate) const PATH_BYTES_SIGNED: u32 = 7;
pub(crate) const PATH_HALVES_UNSIGNED: u32 = 8;
pub(crate) const PATH_HALVES_SIGNED: u32 = 9;
pub(crate) const PATH_HALF_FLOATS: u32 = 10;
pub(crate) const PATH_TENS_UNSIGNED: u32 = 11;
pub(crate) const PATH_TENS_SIGNED: u32 = 12;

/// How many entries a pulled shader's block has. Attributes come first, one per location, then the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct BlockShape {
    /// Attribute entries: locations 0 to `attributes` - 1.
    pub attributes: u32,
    /// Stream entries.
    pub streams: u32,
}

impl BlockShape {
    /// Bytes of the block.
    #[must_use]
    pub const fn size(self) -> usize {
        self.attributes as usize * ATTRIBUTE_BYTES + self.streams as usize * STREAM_BYTES
    }
}

/// How a stream advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rate {
    /// By `VertexIndex`, which includes `firstVertex` or `vertexOffset`.
    Vertex,
    /// By instance: element `base + (InstanceIndex - base) / divisor`, or `base` where the divisor is 0.
    Instance {
        /// Instances that share an element.
        divisor: u32,
    },
}

/// One vertex stream of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream {
    /// Device address of the first byte, or its offset in the stream's storage buffer. Any alignment.
    pub base: u64,
    /// Bytes that may be read from there; 0 for a null buffer, which reads as zeros.
    pub size: u32,
    /// Bytes from one element to the next; may be 0.
    pub stride: u32,
    /// How it advances.
    pub rate: Rate,
}

/// Why an entry was not taken into a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The shader reads no such location.
    #[error("location {location} is outside the block's {attributes} attributes")]
    Location {
        /// The location asked for.
        location: u32,
        /// Attribute entries of the block.
        attributes: u32,
    },
    /// There is no such stream entry.
    #[error("stream {stream} is outside the block's {streams} streams")]
    Stream {
        /// The stream asked for.
        stream: u32,
        /// Stream entries of the block.
        streams: u32,
    },
    /// A divisor of all ones is the mark of a stream read by vertex.
    #[error("stream {stream} has the divisor 4294967295, which the block cannot hold")]
    Divisor {
        /// The stream.
        stream: u32,
    },
}

/// A layout block being filled. Entries that are not set read as (0, 0, 0, 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutBlock {
    shape: BlockShape,
    words: Vec<u32>,
    formats: Vec<Option<&'static Format>>,
}

impl LayoutBlock {
    /// A block of this shape with no attribute and no stream.
    #[must_use]
    pub fn new(shape: BlockShape) -> Self {
        Self {
            shape,
            words: vec![0; shape.size() / 4],
            formats: vec![None; shape.attributes as usize],
        }
    }

    /// Says where location `location` is read, in which format, and with which device's conversion.
    ///
    /// # Errors
    /// The location or the stream is outside the block.
    pub fn set_attribute(
        &mut self,
        location: u32,
        stream: u32,
        offset: u32,
        format: &'static Format,
        conversion: Conversion,
    ) -> Result<(), BlockError> {
        let BlockShape {
            attributes,
            streams,
        } = self.shape;
        if location >= attributes {
            return Err(BlockError::Location {
                location,
                attributes,
            });
        }
        if stream >= streams {
            return Err(BlockError::Stream { stream, streams });
        }
        let at = location as usize * ATTRIBUTE_BYTES / 4;
        let words = attribute_words(stream, offset, format, conversion);
        self.words[at..at + DERIVED].copy_from_slice(&words);
        self.formats[location as usize] = Some(format);
        self.derive(location as usize);
        Ok(())
    }

    /// Marks a location that has no attribute: it reads as (0, 0, 0, 1), the one being an integer for integer inputs.
    ///
    /// # Errors
    /// The location is outside the block.
    pub fn set_absent(&mut self, location: u32, integer: bool) -> Result<(), BlockError> {
        let attributes = self.shape.attributes;
        if location >= attributes {
            return Err(BlockError::Location {
                location,
                attributes,
            });
        }
        let at = location as usize * ATTRIBUTE_BYTES / 4;
        self.words[at..at + ATTRIBUTE_BYTES / 4].fill(0);
        self.formats[location as usize] = None;
        self.words[at] = if integer { FLAG_INTEGER_ONE } else { 0 };
        Ok(())
    }

    /// Says where stream `stream` is.
    ///
    /// # Errors
    /// The stream is outside the block, or its divisor is `u32::MAX`.
    pub fn set_stream(&mut self, stream: u32, value: Stream) -> Result<(), BlockError> {
        let BlockShape {
            attributes,
            streams,
        } = self.shape;
        if stream >= streams {
            return Err(BlockError::Stream { stream, streams });
        }
        let divisor = match value.rate {
            Rate::Vertex => RATE_VERTEX,
            Rate::Instance {
                divisor: RATE_VERTEX,
            } => return Err(BlockError::Divisor { stream }),
            Rate::Instance { divisor } => divisor,
        };
        let at = (attributes as usize * ATTRIBUTE_BYTES + stream as usize * STREAM_BYTES) / 4;
        let words = [
            value.base as u32,
            (value.base >> 32) as u32,
            value.size,
            value.stride,
            divisor,
            0,
            0,
            0,
        ];
        self.words[at..at + STREAM_BYTES / 4].copy_from_slice(&words);
        for location in 0..attributes as usize {
            self.derive(location);
        }
        Ok(())
    }

    /// Fills what a shader would otherwise derive for every vertex: the attribute's own address, the last offset at
    /// which an element is still in range, and the path through the decoder.
    fn derive(&mut self, location: usize) {
        let at = location * ATTRIBUTE_BYTES / 4;
        let Some(format) = self.formats[location] else {
            return;
        };
        let (first, offset) = (self.words[at], self.words[at + 1]);
        let stream = self.shape.attributes as usize * ATTRIBUTE_BYTES / 4
            + (first & 0xff) as usize * STREAM_BYTES / 4;
        let [base_low, base_high, size, stride] =
            [0, 1, 2, 3].map(|word| self.words.get(stream + word).copied().unwrap_or(0));
        let address =
            (u64::from(base_low) | u64::from(base_high) << 32).wrapping_add(u64::from(offset));
        let end = u64::from(offset) + u64::from(format.size());
        let last = u64::from(size).checked_sub(end);
        let path = match last {
            None => PATH_NONE,
            Some(_) if (base_low | offset | stride) & 3 == 0 => whole_word_path(format, first),
            Some(_) => PATH_GENERAL,
        };
        let derived = [
            address as u32,
            (address >> 32) as u32,
            last.unwrap_or(0) as u32,
            path,
        ];
        self.words[at + DERIVED..at + ATTRIBUTE_BYTES / 4].copy_from_slice(&derived);
    }

    /// The block's shape.
    #[must_use]
    pub const fn shape(&self) -> BlockShape {
        self.shape
    }

    /// The block's words; in memory they are little-endian.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The block's bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }
}

/// The path of a format whose every element starts at a whole word.
fn whole_word_path(format: &Format, first: u32) -> u32 {
    let signed = format.class().is_signed();
    match format.packing() {
        Packing::Words => PATH_WORDS + u32::from(format.count()),
        Packing::Bytes if signed => PATH_BYTES_SIGNED,
        Packing::Bytes => PATH_BYTES_UNSIGNED,
        Packing::P1010102 if signed => PATH_TENS_SIGNED,
        Packing::P1010102 => PATH_TENS_UNSIGNED,
        Packing::Halves if format.class() == Class::Sfloat => {
            if first & FLAG_NATIVE_HALF != 0 {
                PATH_HALF_FLOATS
            } else {
                PATH_GENERAL
            }
        }
        Packing::Halves if signed => PATH_HALVES_SIGNED,
        Packing::Halves => PATH_HALVES_UNSIGNED,
        _ => PATH_GENERAL,
    }
}

fn attribute_words(
    stream: u32,
    offset: u32,
    format: &Format,
    conversion: Conversion,
) -> [u32; DERIVED] {
    let class = format.class();
    let kind = match (format.packing(), class) {
        (Packing::Words | Packing::DoubleWords, _) => KIND_WORDS,
        (Packing::SharedExponent, _) => KIND_SHARED_EXPONENT,
        (_, Class::Uint | Class::Sint) => KIND_INTEGER,
        (_, Class::Sfloat | Class::Ufloat) => KIND_SMALL_FLOAT,
        _ => KIND_SCALED,
    };
    let mut flags = 0;
    if class.is_signed() {
        flags |= FLAG_SIGNED;
    }
    if class == Class::Snorm && conversion.floor == Floor::Clamped {
        flags |= FLAG_CLAMPED;
    }
    if class.is_integer() {
        flags |= FLAG_INTEGER_ONE;
    }
    if conversion.nan == Nan::Quieted {
        flags |= FLAG_QUIET_NAN;
    }
    if conversion.widening == Widening::Native {
        flags |= FLAG_NATIVE_HALF;
    }
    // Red above blue: the paths that know their fields swap them.
    if format
        .field(0)
        .zip(format.field(2))
        .is_some_and(|(red, blue)| red.offset > blue.offset)
    {
        flags |= FLAG_SWAPPED;
    }
    let mut words = [0; DERIVED];
    words[0] = stream
        | u32::from(format.size()) << 8
        | kind << 16
        | u32::from(format.count()) << 20
        | flags;
    words[1] = offset;
    for component in 0..4 {
        let (field_offset, width) = format
            .field(component)
            .map_or((0, 1), |field| (field.offset, field.width));
        words[2] |= u32::from(field_offset) << (8 * component);
        words[3] |= u32::from(width) << (8 * component);
        let (exact, rounded) = factors(class, u32::from(width), conversion.quotient);
        words[4 + component] = exact.to_bits();
        words[8 + component] = rounded.to_bits();
    }
    words
}

/// The factors (p, q) with which an integer x becomes x * p + x * q.
///
/// With p a power of two the first product is exact. 1 / (2^n - 1) = 2^-n (1 + 1 / (2^n - 1)), so p = 2^-n and
/// q = 2^-n / (2^n - 1) give the rounded quotient for every x and n used here (a test tries them all), however the
/// device contracts the sum. With p = 0 and q the rounded reciprocal it is a multiplication.
fn factors(class: Class, width: u32, quotient: Quotient) -> (f32, f32) {
    let bits = match class {
        Class::Unorm => width,
        // A missing component has a width of 1, which would leave nothing.
        Class::Snorm => width.max(2) - 1,
        _ => return (1.0, 0.0),
    };
    let largest = ((1_u32 << bits) - 1) as f32;
    match quotient {
        Quotient::Rounded => {
            let scale = 1.0 / (largest + 1.0);
            (scale, scale * (1.0 / largest))
        }
        Quotient::Reciprocal => (0.0, 1.0 / largest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_both_factors_give_the_rounded_quotient_for_every_value() {
        for bits in [1_u32, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16] {
            let largest = (1_u32 << bits) - 1;
            let (p, q) = factors(Class::Unorm, bits, Quotient::Rounded);
            for value in 0..=largest {
                let x = value as f32;
                let right = x / largest as f32;
                assert_eq!(x * p + x * q, right, "{value} of {bits} bits");
                assert_eq!(
                    x.mul_add(p, x * q),
                    right,
                    "{value} of {bits} bits, contracted"
                );
                assert_eq!(
                    x.mul_add(q, x * p),
                    right,
                    "{value} of {bits} bits, contracted the other way"
                );
                assert_eq!(-x * p + -x * q, -right, "-{value} of {bits} bits");
            }
        }
    }
}
