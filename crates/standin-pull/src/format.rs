//! The table of vertex formats: the one description that drives the reference decoder, the layout block and the tests.
//!
//! A format is identified by its `VkFormat` number. Every component is a bit field of the element's little-endian
//! bytes, so a format is a packing (where the fields are), an order (which field is R, G, B, A) and a numeric class.
//! Source of the packings: Vulkan specification, "Formats", and of the numeric rules: "Vertex Input Extraction".

/// What a component's bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Unsigned normalised: c / (2^bits - 1).
    Unorm,
    /// Signed normalised: max(c / (2^(bits-1) - 1), -1).
    Snorm,
    /// Unsigned integer converted to float.
    Uscaled,
    /// Signed integer converted to float.
    Sscaled,
    /// Unsigned integer, zero-extended to 32 bits.
    Uint,
    /// Signed integer, sign-extended to 32 bits.
    Sint,
    /// Signed floating point of 16, 32 or 64 bits.
    Sfloat,
    /// Unsigned small floats, and floats with a shared exponent.
    Ufloat,
}

impl Class {
    /// Whether the field is sign-extended.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::Snorm | Self::Sscaled | Self::Sint)
    }

    /// Whether the register word holds an integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Uint | Self::Sint)
    }

    /// The word that a missing fourth component gets: 1 or 1.0.
    #[must_use]
    pub const fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 0x3f80_0000 }
    }
}

/// Where the fields of an element are, lowest bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// 8-bit fields.
    Bytes,
    /// 16-bit fields.
    Halves,
    /// 32-bit components, taken as they are.
    Words,
    /// 64-bit components, taken as they are.
    DoubleWords,
    /// Two fields of 4 bits.
    P44,
    /// Four fields of 4 bits.
    P4444,
    /// 5, 6 and 5 bits.
    P565,
    /// 5, 5, 5 and 1 bits.
    P5551,
    /// 1, 5, 5 and 5 bits.
    P1555,
    /// 10, 10, 10 and 2 bits.
    P1010102,
    /// 11, 11 and 10 bits of unsigned float.
    P111110,
    /// Three mantissas of 9 bits and an exponent of 5.
    SharedExponent,
}

impl Packing {
    /// Widths of the fields in bits, lowest first; empty for whole words.
    const fn widths(self) -> &'static [u8] {
        match self {
            Self::Bytes => &[8, 8, 8, 8],
            Self::Halves => &[16, 16, 16, 16],
            Self::Words | Self::DoubleWords => &[],
            Self::P44 => &[4, 4],
            Self::P4444 => &[4, 4, 4, 4],
            Self::P565 => &[5, 6, 5],
            Self::P5551 => &[5, 5, 5, 1],
            Self::P1555 => &[1, 5, 5, 5],
            Self::P1010102 => &[10, 10, 10, 2],
            Self::P111110 => &[11, 11, 10],
            Self::SharedExponent => &[9, 9, 9, 5],
        }
    }

    /// Bytes of one element with `count` components.
    const fn size(self, count: u8) -> u8 {
        match self {
            Self::Bytes => count,
            Self::Halves => 2 * count,
            Self::Words => 4 * count,
            Self::DoubleWords => 8 * count,
            Self::P44 => 1,
            Self::P4444 | Self::P565 | Self::P5551 | Self::P1555 => 2,
            Self::P1010102 | Self::P111110 | Self::SharedExponent => 4,
        }
    }
}

/// One component's place in the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// First bit, counted from the element's lowest.
    pub offset: u8,
    /// Bits; 1 to 16.
    pub width: u8,
}

/// A vertex format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Format {
    vk: u32,
    name: &'static str,
    class: Class,
    packing: Packing,
    order: &'static [u8],
}

const fn row(
    vk: u32,
    name: &'static str,
    class: Class,
    packing: Packing,
    order: &'static [u8],
) -> Format {
    Format {
        vk,
        name,
        class,
        packing,
        order,
    }
}

impl Format {
    /// The format with this `VkFormat` number, if it is in the table. sRGB formats are not: they are no vertex formats.
    #[must_use]
    pub fn from_vk(vk: u32) -> Option<&'static Self> {
        FORMATS
            .binary_search_by_key(&vk, |format| format.vk)
            .ok()
            .map(|at| &FORMATS[at])
    }

    /// The `VkFormat` number.
    #[must_use]
    pub const fn vk(&self) -> u32 {
        self.vk
    }

    /// Vulkan's name without the `VK_FORMAT_` prefix.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// What the bits mean.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.class
    }

    /// Where the fields are.
    #[must_use]
    pub const fn packing(&self) -> Packing {
        self.packing
    }

    /// Components that the format stores, 1 to 4.
    #[must_use]
    pub const fn count(&self) -> u8 {
        self.order.len() as u8
    }

    /// Bytes of one element.
    #[must_use]
    pub const fn size(&self) -> u8 {
        self.packing.size(self.count())
    }

    /// Whether the components are 64 bits wide and feed 64-bit inputs only.
    #[must_use]
    pub const fn is_64_bit(&self) -> bool {
        matches!(self.packing, Packing::DoubleWords)
    }

    /// The bit field of output component `component` (0 = R); `None` for a missing component and for whole words.
    #[must_use]
    pub fn field(&self, component: usize) -> Option<Field> {
        let index = usize::from(*self.order.get(component)?);
        let widths = self.packing.widths();
        let width = *widths.get(index)?;
        Some(Field {
            offset: widths[..index].iter().sum(),
            width,
        })
    }

    /// Largest width of a component in bits.
    #[must_use]
    pub fn component_bits(&self) -> u8 {
        match self.packing {
            Packing::Words => 32,
            Packing::DoubleWords => 64,
            _ => (0..4)
                .filter_map(|component| self.field(component))
                .map(|field| field.width)
                .max()
                .unwrap_or(0),
        }
    }
}

/// Every known vertex format, by `VkFormat` number.
pub static FORMATS: &[Format] = &[
    row(1, "R4G4_UNORM_PACK8", Class::Unorm, Packing::P44, &[1, 0]),
    row(
        2,
        "R4G4B4A4_UNORM_PACK16",
        Class::Unorm,
        Packing::P4444,
        &[3, 2, 1, 0],
    ),
    row(
        3,
        "B4G4R4A4_UNORM_PACK16",
        Class::Unorm,
        Packing::P4444,
        &[1, 2, 3, 0],
    ),
    row(
        4,
        "R5G6B5_UNORM_PACK16",
        Class::Unorm,
        Packing::P565,
        &[2, 1, 0],
    ),
    row(
        5,
        "B5G6R5_UNORM_PACK16",
        Class::Unorm,
        Packing::P565,
        &[0, 1, 2],
    ),
    row(
        6,
        "R5G5B5A1_UNORM_PACK16",
        Class::Unorm,
        Packing::P1555,
        &[3, 2, 1, 0],
    ),
    row(
        7,
        "B5G5R5A1_UNORM_PACK16",
        Class::Unorm,
        Packing::P1555,
        &[1, 2, 3, 0],
    ),
    row(
        8,
        "A1R5G5B5_UNORM_PACK16",
        Class::Unorm,
        Packing::P5551,
        &[2, 1, 0, 3],
    ),
    row(9, "R8_UNORM", Class::Unorm, Packing::Bytes, &[0]),
    row(10, "R8_SNORM", Class::Snorm, Packing::Bytes, &[0]),
    row(11, "R8_USCALED", Class::Uscaled, Packing::Bytes, &[0]),
    row(12, "R8_SSCALED", Class::Sscaled, Packing::Bytes, &[0]),
    row(13, "R8_UINT", Class::Uint, Packing::Bytes, &[0]),
    row(14, "R8_SINT", Class::Sint, Packing::Bytes, &[0]),
    row(16, "R8G8_UNORM", Class::Unorm, Packing::Bytes, &[0, 1]),
    row(17, "R8G8_SNORM", Class::Snorm, Packing::Bytes, &[0, 1]),
    row(18, "R8G8_USCALED", Class::Uscaled, Packing::Bytes, &[0, 1]),
    row(19, "R8G8_SSCALED", Class::Sscaled, Packing::Bytes, &[0, 1]),
    row(20, "R8G8_UINT", Class::Uint, Packing::Bytes, &[0, 1]),
    row(21, "R8G8_SINT", Class::Sint, Packing::Bytes, &[0, 1]),
    row(23, "R8G8B8_UNORM", Class::Unorm, Packing::Bytes, &[0, 1, 2]),
    row(24, "R8G8B8_SNORM", Class::Snorm, Packing::Bytes, &[0, 1, 2]),
    row(
        25,
        "R8G8B8_USCALED",
        Class::Uscaled,
        Packing::Bytes,
        &[0, 1, 2],
    ),
    row(
        26,
        "R8G8B8_SSCALED",
        Class::Sscaled,
        Packing::Bytes,
        &[0, 1, 2],
    ),
    row(27, "R8G8B8_UINT", Class::Uint, Packing::Bytes, &[0, 1, 2]),
    row(28, "R8G8B8_SINT", Class::Sint, Packing::Bytes, &[0, 1, 2]),
    row(30, "B8G8R8_UNORM", Class::Unorm, Packing::Bytes, &[2, 1, 0]),
    row(31, "B8G8R8_SNORM", Class::Snorm, Packing::Bytes, &[2, 1, 0]),
    row(
        32,
        "B8G8R8_USCALED",
        Class::Uscaled,
        Packing::Bytes,
        &[2, 1, 0],
    ),
    row(
        33,
        "B8G8R8_SSCALED",
        Class::Sscaled,
        Packing::Bytes,
        &[2, 1, 0],
    ),
    row(34, "B8G8R8_UINT", Class::Uint, Packing::Bytes, &[2, 1, 0]),
    row(35, "B8G8R8_SINT", Class::Sint, Packing::Bytes, &[2, 1, 0]),
    row(
        37,
        "R8G8B8A8_UNORM",
        Class::Unorm,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        38,
        "R8G8B8A8_SNORM",
        Class::Snorm,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        39,
        "R8G8B8A8_USCALED",
        Class::Uscaled,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        40,
        "R8G8B8A8_SSCALED",
        Class::Sscaled,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        41,
        "R8G8B8A8_UINT",
        Class::Uint,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        42,
        "R8G8B8A8_SINT",
        Class::Sint,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        44,
        "B8G8R8A8_UNORM",
        Class::Unorm,
        Packing::Bytes,
        &[2, 1, 0, 3],
    ),
    row(
        45,
        "B8G8R8A8_SNORM",
        Class::Snorm,
        Packing::Bytes,
        &[2, 1, 0, 3],
    ),
    row(
        46,
        "B8G8R8A8_USCALED",
        Class::Uscaled,
        Packing::Bytes,
        &[2, 1, 0, 3],
    ),
    row(
        47,
        "B8G8R8A8_SSCALED",
        Class::Sscaled,
        Packing::Bytes,
        &[2, 1, 0, 3],
    ),
    row(
        48,
        "B8G8R8A8_UINT",
        Class::Uint,
        Packing::Bytes,
        &[2, 1, 0, 3],
    ),
    row(
        49,
        "B8G8R8A8_SINT",
        Class::Sint,
        Packing::Bytes,
        &[2, 1, 0, 3],
    ),
    row(
        51,
        "A8B8G8R8_UNORM_PACK32",
        Class::Unorm,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        52,
        "A8B8G8R8_SNORM_PACK32",
        Class::Snorm,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        53,
        "A8B8G8R8_USCALED_PACK32",
        Class::Uscaled,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        54,
        "A8B8G8R8_SSCALED_PACK32",
        Class::Sscaled,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        55,
        "A8B8G8R8_UINT_PACK32",
        Class::Uint,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        56,
        "A8B8G8R8_SINT_PACK32",
        Class::Sint,
        Packing::Bytes,
        &[0, 1, 2, 3],
    ),
    row(
        58,
        "A2R10G10B10_UNORM_PACK32",
        Class::Unorm,
        Packing::P1010102,
        &[2, 1, 0, 3],
    ),
    row(
        59,
        "A2R10G10B10_SNORM_PACK32",
        Class::Snorm,
        Packing::P1010102,
        &[2, 1, 0, 3],
    ),
    row(
        60,
        "A2R10G10B10_USCALED_PACK32",
        Class::Uscaled,
        Packing::P1010102,
        &[2, 1, 0, 3],
    ),
    row(
        61,
        "A2R10G10B10_SSCALED_PACK32",
        Class::Sscaled,
        Packing::P1010102,
        &[2, 1, 0, 3],
    ),
    row(
        62,
        "A2R10G10B10_UINT_PACK32",
        Class::Uint,
        Packing::P1010102,
        &[2, 1, 0, 3],
    ),
    row(
        63,
        "A2R10G10B10_SINT_PACK32",
        Class::Sint,
        Packing::P1010102,
        &[2, 1, 0, 3],
    ),
    row(
        64,
        "A2B10G10R10_UNORM_PACK32",
        Class::Unorm,
        Packing::P1010102,
        &[0, 1, 2, 3],
    ),
    row(
        65,
        "A2B10G10R10_SNORM_PACK32",
        Class::Snorm,
        Packing::P1010102,
        &[0, 1, 2, 3],
    ),
    row(
        66,
        "A2B10G10R10_USCALED_PACK32",
        Class::Uscaled,
        Packing::P1010102,
        &[0, 1, 2, 3],
    ),
    row(
        67,
        "A2B10G10R10_SSCALED_PACK32",
        Class::Sscaled,
        Packing::P1010102,
        &[0, 1, 2, 3],
    ),
    row(
        68,
        "A2B10G10R10_UINT_PACK32",
        Class::Uint,
        Packing::P1010102,
        &[0, 1, 2, 3],
    ),
    row(
        69,
        "A2B10G10R10_SINT_PACK32",
        Class::Sint,
        Packing::P1010102,
        &[0, 1, 2, 3],
    ),
    row(70, "R16_UNORM", Class::Unorm, Packing::Halves, &[0]),
    row(71, "R16_SNORM", Class::Snorm, Packing::Halves, &[0]),
    row(72, "R16_USCALED", Class::Uscaled, Packing::Halves, &[0]),
    row(73, "R16_SSCALED", Class::Sscaled, Packing::Halves, &[0]),
    row(74, "R16_UINT", Class::Uint, Packing::Halves, &[0]),
    row(75, "R16_SINT", Class::Sint, Packing::Halves, &[0]),
    row(76, "R16_SFLOAT", Class::Sfloat, Packing::Halves, &[0]),
    row(77, "R16G16_UNORM", Class::Unorm, Packing::Halves, &[0, 1]),
    row(78, "R16G16_SNORM", Class::Snorm, Packing::Halves, &[0, 1]),
    row(
        79,
        "R16G16_USCALED",
        Class::Uscaled,
        Packing::Halves,
        &[0, 1],
    ),
    row(
        80,
        "R16G16_SSCALED",
        Class::Sscaled,
        Packing::Halves,
        &[0, 1],
    ),
    row(81, "R16G16_UINT", Class::Uint, Packing::Halves, &[0, 1]),
    row(82, "R16G16_SINT", Class::Sint, Packing::Halves, &[0, 1]),
    row(83, "R16G16_SFLOAT", Class::Sfloat, Packing::Halves, &[0, 1]),
    row(
        84,
        "R16G16B16_UNORM",
        Class::Unorm,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        85,
        "R16G16B16_SNORM",
        Class::Snorm,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        86,
        "R16G16B16_USCALED",
        Class::Uscaled,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        87,
        "R16G16B16_SSCALED",
        Class::Sscaled,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        88,
        "R16G16B16_UINT",
        Class::Uint,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        89,
        "R16G16B16_SINT",
        Class::Sint,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        90,
        "R16G16B16_SFLOAT",
        Class::Sfloat,
        Packing::Halves,
        &[0, 1, 2],
    ),
    row(
        91,
        "R16G16B16A16_UNORM",
        Class::Unorm,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(
        92,
        "R16G16B16A16_SNORM",
        Class::Snorm,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(
        93,
        "R16G16B16A16_USCALED",
        Class::Uscaled,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(
        94,
        "R16G16B16A16_SSCALED",
        Class::Sscaled,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(
        95,
        "R16G16B16A16_UINT",
        Class::Uint,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(
        96,
        "R16G16B16A16_SINT",
        Class::Sint,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(
        97,
        "R16G16B16A16_SFLOAT",
        Class::Sfloat,
        Packing::Halves,
        &[0, 1, 2, 3],
    ),
    row(98, "R32_UINT", Class::Uint, Packing::Words, &[0]),
    row(99, "R32_SINT", Class::Sint, Packing::Words, &[0]),
    row(100, "R32_SFLOAT", Class::Sfloat, Packing::Words, &[0]),
    row(101, "R32G32_UINT", Class::Uint, Packing::Words, &[0, 1]),
    row(102, "R32G32_SINT", Class::Sint, Packing::Words, &[0, 1]),
    row(103, "R32G32_SFLOAT", Class::Sfloat, Packing::Words, &[0, 1]),
    row(
        104,
        "R32G32B32_UINT",
        Class::Uint,
        Packing::Words,
        &[0, 1, 2],
    ),
    row(
        105,
        "R32G32B32_SINT",
        Class::Sint,
        Packing::Words,
        &[0, 1, 2],
    ),
    row(
        106,
        "R32G32B32_SFLOAT",
        Class::Sfloat,
        Packing::Words,
        &[0, 1, 2],
    ),
    row(
        107,
        "R32G32B32A32_UINT",
        Class::Uint,
        Packing::Words,
        &[0, 1, 2, 3],
    ),
    row(
        108,
        "R32G32B32A32_SINT",
        Class::Sint,
        Packing::Words,
        &[0, 1, 2, 3],
    ),
    row(
        109,
        "R32G32B32A32_SFLOAT",
        Class::Sfloat,
        Packing::Words,
        &[0, 1, 2, 3],
    ),
    row(110, "R64_UINT", Class::Uint, Packing::DoubleWords, &[0]),
    row(111, "R64_SINT", Class::Sint, Packing::DoubleWords, &[0]),
    row(112, "R64_SFLOAT", Class::Sfloat, Packing::DoubleWords, &[0]),
    row(
        113,
        "R64G64_UINT",
        Class::Uint,
        Packing::DoubleWords,
        &[0, 1],
    ),
    row(
        114,
        "R64G64_SINT",
        Class::Sint,
        Packing::DoubleWords,
        &[0, 1],
    ),
    row(
        115,
        "R64G64_SFLOAT",
        Class::Sfloat,
        Packing::DoubleWords,
        &[0, 1],
    ),
    row(
        116,
        "R64G64B64_UINT",
        Class::Uint,
        Packing::DoubleWords,
        &[0, 1, 2],
    ),
    row(
        117,
        "R64G64B64_SINT",
        Class::Sint,
        Packing::DoubleWords,
        &[0, 1, 2],
    ),
    row(
        118,
        "R64G64B64_SFLOAT",
        Class::Sfloat,
        Packing::DoubleWords,
        &[0, 1, 2],
    ),
    row(
        119,
        "R64G64B64A64_UINT",
        Class::Uint,
        Packing::DoubleWords,
        &[0, 1, 2, 3],
    ),
    row(
        120,
        "R64G64B64A64_SINT",
        Class::Sint,
        Packing::DoubleWords,
        &[0, 1, 2, 3],
    ),
    row(
        121,
        "R64G64B64A64_SFLOAT",
        Class::Sfloat,
        Packing::DoubleWords,
        &[0, 1, 2, 3],
    ),
    row(
        122,
        "B10G11R11_UFLOAT_PACK32",
        Class::Ufloat,
        Packing::P111110,
        &[0, 1, 2],
    ),
    row(
        123,
        "E5B9G9R9_UFLOAT_PACK32",
        Class::Ufloat,
        Packing::SharedExponent,
        &[0, 1, 2],
    ),
    row(
        1_000_340_000,
        "A4R4G4B4_UNORM_PACK16",
        Class::Unorm,
        Packing::P4444,
        &[2, 1, 0, 3],
    ),
    row(
        1_000_340_001,
        "A4B4G4R4_UNORM_PACK16",
        Class::Unorm,
        Packing::P4444,
        &[0, 1, 2, 3],
    ),
    row(
        1_000_470_000,
        "A1B5G5R5_UNORM_PACK16",
        Class::Unorm,
        Packing::P5551,
        &[0, 1, 2, 3],
    ),
];
