//! The values that a proof run tries.

use super::Extent;
use standin_pull::Format;
use standin_pull::format::Packing;

/// Elements of one format, one after another.
pub(super) struct Samples {
    pub(super) bytes: Vec<u8>,
    /// Bytes from one element to the next.
    pub(super) stride: usize,
    pub(super) count: u32,
    /// Bytes of an element.
    size: usize,
    /// Where the first one starts.
    start: usize,
}

impl Samples {
    pub(super) fn element(&self, index: usize) -> &[u8] {
        let at = self.start + index * self.stride;
        self.bytes.get(at..at + self.size).unwrap_or_default()
    }

    /// The same elements, each at the start of a whole word.
    pub(super) fn spread_to_whole_words(&self) -> Self {
        let stride = self.size.next_multiple_of(4);
        let mut bytes = vec![0x5a; stride * self.count as usize];
        for (index, place) in bytes.chunks_exact_mut(stride).enumerate() {
            place[..self.size].copy_from_slice(self.element(index));
        }
        Self {
            bytes,
            stride,
            count: self.count,
            size: self.size,
            start: 0,
        }
    }

    /// The same elements without gaps, after one byte of something else.
    pub(super) fn packed_at_odd_offset(&self) -> Self {
        let mut bytes = vec![0xa5];
        for index in 0..self.count as usize {
            bytes.extend_from_slice(self.element(index));
        }
        Self {
            bytes,
            stride: self.size,
            count: self.count,
            size: self.size,
            start: 1,
        }
    }
}

/// Words at which something may go wrong: zeros, ones, denormals, infinities, NaNs of both kinds, the largest integers.
const EDGES: [u32; 20] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    7,
    0x007f_ffff,
    0x0080_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7f80_0001,
    0x7fbf_ffff,
    0x7fc0_0000,
    0xffc0_0001,
    0x7fff_ffff,
    0xffff_ffff,
    0x7ff0_0000,
    0x7ff0_0001,
];

/// Edge values of 16-bit components.
const HALF_EDGES: [u32; 16] = [
    0, 1, 0x3ff, 0x400, 0x3bff, 0x3c00, 0x7bff, 0x7c00, 0x7c01, 0x7dff, 0x7e00, 0x7fff, 0x8000,
    0x8001, 0xfc00, 0xffff,
];

const RANDOM: u32 = 4096;

pub(super) fn samples(format: &Format, extent: Extent) -> Samples {
    let size = usize::from(format.size());
    let (stride, elements): (usize, Vec<[u32; 8]>) = match format.packing() {
        Packing::Words | Packing::DoubleWords => (size, wide()),
        _ => (size, fields(format, extent)),
    };
    let bytes = elements
        .iter()
        .flat_map(|words| {
            let element: Vec<u8> = words
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .take(size)
                .collect();
            element
        })
        .collect();
    Samples {
        bytes,
        stride,
        count: elements.len() as u32,
        size,
        start: 0,
    }
}

/// Every edge in every place, and random words.
fn wide() -> Vec<[u32; 8]> {
    let mut elements = Vec::new();
    for shift in 0..EDGES.len() {
        elements.push(std::array::from_fn(|place| {
            EDGES[(shift + 7 * place) % EDGES.len()]
        }));
    }
    let mut state = 0x9e37_79b9_u32;
    for _ in 0..RANDOM {
        elements.push(std::array::from_fn(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        }));
    }
    elements
}

/// Every value of every component: component n goes through its values in steps of an odd number, from its own start.
fn fields(format: &Format, extent: Extent) -> Vec<[u32; 8]> {
    if format.packing() == Packing::SharedExponent {
        // All mantissas with all exponents.
        return (0..1 << 14)
            .map(|index: u32| {
                let mantissa = index & 0x1ff;
                let others = ((mantissa * 5) & 0x1ff) << 9 | (!mantissa & 0x1ff) << 18;
                [mantissa | others | index >> 9 << 27, 0, 0, 0, 0, 0, 0, 0]
            })
            .collect();
    }
    let bits = u32::from(format.component_bits());
    let values: Vec<u32> = match extent {
        Extent::Short if bits == 16 => (0..1 << 12)
            .map(|index| index * 17)
            .chain(HALF_EDGES)
            .collect(),
        _ => (0..1 << bits).collect(),
    };
    let places = values.len();
    (0..places)
        .map(|index| {
            let mut element = 0_u64;
            for component in 0..usize::from(format.count()) {
                let Some(field) = format.field(component) else {
                    continue;
                };
                let value = values[(index + component * 7919) % places];
                element |= u64::from(value & ((1 << field.width) - 1)) << field.offset;
            }
            [element as u32, (element >> 32) as u32, 0, 0, 0, 0, 0, 0]
        })
        .collect()
}
