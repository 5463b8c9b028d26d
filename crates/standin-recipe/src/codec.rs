//! The canonical byte form's building blocks.
//!
//! Every value has exactly one encoding, and the decoder refuses any other, so that bytes and
//! values correspond one to one. `docs/recipe-format.md` has the layout. No count read from the
//! bytes is trusted: it may not exceed what the bytes that are left could hold.

use ash::vk;
use std::sync::Arc;

/// Why bytes are not the canonical form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside a value.
    #[error("the bytes end at {at}, inside a value")]
    Truncated {
        /// Offset at which more was wanted.
        at: usize,
    },
    /// A tag byte has no meaning here.
    #[error("tag {tag} at byte {at} has no meaning")]
    BadTag {
        /// Offset of the tag.
        at: usize,
        /// The tag.
        tag: u8,
    },
    /// A count is larger than the bytes that are left could hold.
    #[error("count {count} at byte {at} is larger than what follows")]
    BadCount {
        /// Offset of the count.
        at: usize,
        /// The count.
        count: u32,
    },
    /// A name is not UTF-8.
    #[error("the name at byte {at} is not UTF-8")]
    BadName {
        /// Offset of the name.
        at: usize,
    },
    /// A list that must be sorted and free of repetition is not.
    #[error("the list that ends at byte {at} is not in canonical order")]
    Unordered {
        /// Offset of the list's end.
        at: usize,
    },
    /// Flags that a recipe never has.
    #[error("the pipeline flags {flags:#x} at byte {at} have bits that a recipe never has")]
    CreationOnlyFlags {
        /// Offset of the flags.
        at: usize,
        /// The flags.
        flags: u64,
    },
    /// Bytes follow the value.
    #[error("bytes follow the value from {at} on")]
    Trailing {
        /// Offset of the first of them.
        at: usize,
    },
    /// A constant's value is outside of its data.
    #[error(transparent)]
    Specialization(crate::stage::SpecializationError),
    /// The module table is not what the body uses, in ascending order of keys.
    #[error("the module table is not what the body refers to, in order")]
    ModuleTable,
    /// The bytes do not begin as a recipe does.
    #[error("these bytes are not a recipe")]
    NotARecipe,
    /// A recipe of a version that this program does not read.
    #[error(
        "version {found} of the recipe format is not known here (this is {})",
        crate::bytes::VERSION
    )]
    Version {
        /// The version found.
        found: u16,
    },
    /// The body refers to a module that is not at hand.
    #[error("module {0:?} is missing")]
    MissingModule(crate::module::ModuleKey),
    /// Parts are nested too deeply.
    #[error("parts are nested more than {} deep", crate::bytes::MAX_DEPTH)]
    TooDeep,
}

/// Where encoded bytes go, and how modules are written.
pub struct Writer<'a> {
    pub(crate) bytes: Vec<u8>,
    pub(crate) module: &'a mut dyn FnMut(&Arc<crate::module::Module>),
}

/// Where encoded bytes come from, and who has the modules.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    pub(crate) depth: u32,
    pub(crate) module: &'a dyn Fn(crate::module::ModuleKey) -> Option<Arc<crate::module::Module>>,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Writer({} bytes)", self.bytes.len())
    }
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reader({} of {} bytes)", self.at, self.bytes.len())
    }
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        bytes: Vec<u8>,
        module: &'a mut dyn FnMut(&Arc<crate::module::Module>),
    ) -> Self {
        Self { bytes, module }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        bytes: &'a [u8],
        module: &'a dyn Fn(crate::module::ModuleKey) -> Option<Arc<crate::module::Module>>,
    ) -> Self {
        Self {
            bytes,
            at: 0,
            depth: 0,
            module,
        }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let slice = self
            .at
            .checked_add(count)
            .and_then(|end| self.bytes.get(self.at..end))
            .ok_or(DecodeError::Truncated { at: self.at })?;
        self.at += count;
        Ok(slice)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// A count of elements that take at least one byte each.
    pub(crate) fn count(&mut self) -> Result<usize, DecodeError> {
        let at = self.at;
        let count = u32::from_le_bytes(self.array()?);
        let left = self.bytes.len() - self.at;
        match usize::try_from(count) {
            Ok(length) if length <= left => Ok(length),
            _ => Err(DecodeError::BadCount { at, count }),
        }
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The magic bytes and the version in front of a form.
    pub(crate) fn head(&mut self, magic: [u8; 4]) -> Result<(), DecodeError> {
        if self.array::<4>().ok() != Some(magic) {
            return Err(DecodeError::NotARecipe);
        }
        let found = u16::decode(self)?;
        if found == crate::bytes::VERSION {
            Ok(())
        } else {
            Err(DecodeError::Version { found })
        }
    }

    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(DecodeError::Trailing { at: self.at })
        }
    }
}

/// A value with a canonical byte form of at least one byte.
pub trait Codec: Sized {
    /// Appends the value's bytes.
    fn encode(&self, out: &mut Writer<'_>);
    /// Reads a value.
    ///
    /// # Errors
    /// The bytes are not the canonical form of a value.
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// Writes a count. Nothing that a driver accepts has 2^32 elements; a list that long is cut,
/// and its own check when it is read back refuses it.
pub(crate) fn put_count(out: &mut Writer<'_>, count: usize) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    out.bytes.extend_from_slice(&count.to_le_bytes());
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Codec for $ty {
            fn encode(&self, out: &mut Writer<'_>) {
                out.bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self::from_le_bytes(input.array()?))
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i32);

impl Codec for bool {
    fn encode(&self, out: &mut Writer<'_>) {
        out.bytes.push(u8::from(*self));
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        match u8::decode(input)? {
            0 => Ok(false),
            1 => Ok(true),
            tag => Err(DecodeError::BadTag { at, tag }),
        }
    }
}

impl<T: Codec> Codec for Option<T> {
    fn encode(&self, out: &mut Writer<'_>) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        bool::decode(input)?.then(|| T::decode(input)).transpose()
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn encode(&self, out: &mut Writer<'_>) {
        put_count(out, self.len());
        for value in self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = input.count()?;
        // Grown as elements are read: an element may be far larger in memory than in bytes.
        let mut values = Self::with_capacity(count.min(64));
        for _ in 0..count {
            values.push(T::decode(input)?);
        }
        Ok(values)
    }
}

impl<T: Codec, const N: usize> Codec for [T; N] {
    fn encode(&self, out: &mut Writer<'_>) {
        for value in self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut values = Vec::with_capacity(N);
        for _ in 0..N {
            values.push(T::decode(input)?);
        }
        let at = input.at();
        Self::try_from(values).map_err(|_| DecodeError::Truncated { at })
    }
}

/// Shared values are written in place. Only they can hold values of their own kind, so the
/// depth of nesting is counted here.
impl<T: Codec> Codec for Arc<T> {
    fn encode(&self, out: &mut Writer<'_>) {
        T::encode(self, out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if input.depth == crate::bytes::MAX_DEPTH {
            return Err(DecodeError::TooDeep);
        }
        input.depth += 1;
        let value = T::decode(input).map(Self::new);
        input.depth -= 1;
        value
    }
}

impl Codec for String {
    fn encode(&self, out: &mut Writer<'_>) {
        put_count(out, self.len());
        out.bytes.extend_from_slice(self.as_bytes());
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let count = input.count()?;
        let at = input.at();
        let bytes = input.take(count)?;
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| DecodeError::BadName { at })
    }
}

macro_rules! vulkan_values {
    ($($name:ident),* $(,)?) => {$(
        impl Codec for vk::$name {
            fn encode(&self, out: &mut Writer<'_>) {
                self.as_raw().encode(out);
            }
            fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Codec::decode(input).map(Self::from_raw)
            }
        }

        #[cfg(feature = "vary")]
        impl crate::vary::Vary for vk::$name {
            fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
                each(path, Self::from_raw(self.as_raw() ^ 1));
            }
        }
    )*};
}

vulkan_values!(
    AccessFlags2,
    AttachmentDescriptionFlags,
    AttachmentLoadOp,
    AttachmentStoreOp,
    BlendFactor,
    BlendOp,
    BlendOverlapEXT,
    BorderColor,
    ChromaLocation,
    ColorComponentFlags,
    CompareOp,
    ComponentSwizzle,
    ConservativeRasterizationModeEXT,
    CoverageModulationModeNV,
    CoverageReductionModeNV,
    CullModeFlags,
    DependencyFlags,
    DepthBiasRepresentationEXT,
    DescriptorBindingFlags,
    DescriptorSetLayoutCreateFlags,
    DescriptorType,
    DiscardRectangleModeEXT,
    DynamicState,
    Filter,
    Format,
    FragmentShadingRateCombinerOpKHR,
    FragmentShadingRateNV,
    FragmentShadingRateTypeNV,
    FrontFace,
    GraphicsPipelineLibraryFlagsEXT,
    ImageAspectFlags,
    ImageLayout,
    LineRasterizationModeKHR,
    LogicOp,
    PipelineBindPoint,
    PipelineColorBlendStateCreateFlags,
    PipelineDepthStencilStateCreateFlags,
    PipelineLayoutCreateFlags,
    PipelineRobustnessBufferBehaviorEXT,
    PipelineRobustnessImageBehaviorEXT,
    PipelineShaderStageCreateFlags,
    PipelineStageFlags2,
    PolygonMode,
    PrimitiveTopology,
    ProvokingVertexModeEXT,
    RasterizationOrderAMD,
    RenderPassCreateFlags,
    ResolveModeFlags,
    SampleCountFlags,
    SamplerAddressMode,
    SamplerCreateFlags,
    SamplerMipmapMode,
    SamplerReductionMode,
    SamplerYcbcrModelConversion,
    SamplerYcbcrRange,
    ShaderModuleCreateFlags,
    ShaderStageFlags,
    StencilOp,
    SubpassDescriptionFlags,
    TessellationDomainOrigin,
    VertexInputRate,
    ViewportCoordinateSwizzleNV,
);

/// A 32-bit float by its bits: equal means the same bits, so that values with it can be keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Float(u32);

impl Float {
    /// The float with this value.
    #[must_use]
    pub const fn new(value: f32) -> Self {
        Self(value.to_bits())
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }

    /// The value's bits.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The float with these bits.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

impl From<f32> for Float {
    fn from(value: f32) -> Self {
        Self::new(value)
    }
}

impl std::fmt::Debug for Float {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.get())
    }
}

impl Codec for Float {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        u32::decode(input).map(Self)
    }
}

/// Declares structs whose canonical form is their fields in order.
macro_rules! records {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* pub $field:ident : $ty:ty, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $ty, )*
        }

        #[cfg(feature = "vary")]
        impl $crate::vary::Vary for $name {
            fn vary(&self, path: &str, each: &mut dyn FnMut(&str, Self)) {
                $( $crate::vary::Vary::vary(
                    &self.$field,
                    &format!("{path}.{}", stringify!($field)),
                    &mut |path, $field| each(path, Self { $field, ..self.clone() }),
                ); )*
            }
        }

        impl $crate::codec::Codec for $name {
            fn encode(&self, out: &mut $crate::codec::Writer<'_>) {
                $( $crate::codec::Codec::encode(&self.$field, out); )*
            }
            fn decode(
                input: &mut $crate::codec::Reader<'_>,
            ) -> Result<Self, $crate::codec::DecodeError> {
                Ok(Self { $( $field: $crate::codec::Codec::decode(input)?, )* })
            }
        }
    )*};
}
pub(crate) use records;
