//! Shader stages.

use crate::codec::{Codec, DecodeError, Reader, Writer, records};
use crate::module::ModuleRef;
use ash::vk;
use std::fmt;

/// The name of an entry point: text without a NUL, as a C string of Vulkan is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryName(Box<str>);

/// The text has a NUL in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an entry point's name has a NUL at byte {at}")]
pub struct NameError {
    /// Where the first NUL is.
    pub at: usize,
}

impl EntryName {
    /// The entry point of this name.
    ///
    /// # Errors
    /// The text has a NUL in it.
    pub fn new(name: impl Into<Box<str>>) -> Result<Self, NameError> {
        let name = name.into();
        match name.bytes().position(|byte| byte == 0) {
            Some(at) => Err(NameError { at }),
            None => Ok(Self(name)),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `main`.
impl Default for EntryName {
    fn default() -> Self {
        Self("main".into())
    }
}

impl fmt::Debug for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Codec for EntryName {
    fn encode(&self, out: &mut Writer<'_>) {
        crate::codec::put_count(out, self.0.len());
        out.bytes.extend_from_slice(self.0.as_bytes());
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        Self::new(String::decode(input)?).map_err(|_| DecodeError::BadName { at })
    }
}

records! {
    /// `VkSpecializationMapEntry`.
    #[derive(Default)]
    pub struct SpecializationEntry {
        /// The constant's id. A shader need not declare it.
        pub constant_id: u32,
        /// First byte of its value in the data.
        pub offset: u32,
        /// Number of bytes.
        pub size: u64,
    }

    /// `VkSpecializationInfo`.
    #[derive(Default)]
    pub struct Specialization {
        /// Which constant is where.
        pub entries: Vec<SpecializationEntry>,
        /// The values.
        pub data: Vec<u8>,
    }

    /// `VkPipelineRobustnessCreateInfoEXT`, for a stage or for a pipeline.
    #[derive(Default)]
    pub struct Robustness {
        /// Behaviour of storage buffers.
        pub storage_buffers: vk::PipelineRobustnessBufferBehaviorEXT,
        /// Behaviour of uniform buffers.
        pub uniform_buffers: vk::PipelineRobustnessBufferBehaviorEXT,
        /// Behaviour of vertex inputs.
        pub vertex_inputs: vk::PipelineRobustnessBufferBehaviorEXT,
        /// Behaviour of images.
        pub images: vk::PipelineRobustnessImageBehaviorEXT,
    }

    /// `VkPipelineShaderStageCreateInfo`.
    #[derive(Default)]
    pub struct Stage {
        /// Which stage: one bit.
        pub stage: vk::ShaderStageFlags,
        /// Creation flags.
        pub flags: vk::PipelineShaderStageCreateFlags,
        /// The code.
        pub module: ModuleRef,
        /// The entry point.
        pub entry: EntryName,
        /// Values of specialisation constants.
        pub specialization: Option<Specialization>,
        /// `VkPipelineShaderStageRequiredSubgroupSizeCreateInfo`: invocations.
        pub required_subgroup_size: Option<u32>,
        /// Chained robustness.
        pub robustness: Option<Robustness>,
    }
}

/// A specialisation constant's value is not within the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("constant {constant_id} is at {offset}, {size} bytes long, in {data} bytes of data")]
pub struct SpecializationError {
    /// The constant.
    pub constant_id: u32,
    /// Where its value is said to be.
    pub offset: u32,
    /// How long it is said to be, in bytes.
    pub size: u64,
    /// How long the data is, in bytes.
    pub data: usize,
}

impl Specialization {
    /// Checks that every value is within the data, where the driver will read it.
    ///
    /// # Errors
    /// One is not.
    pub fn check(&self) -> Result<(), SpecializationError> {
        let outside = |entry: &&SpecializationEntry| {
            u64::from(entry.offset)
                .checked_add(entry.size)
                .and_then(|end| usize::try_from(end).ok())
                .is_none_or(|end| end > self.data.len())
        };
        match self.entries.iter().find(outside) {
            Some(entry) => Err(SpecializationError {
                constant_id: entry.constant_id,
                offset: entry.offset,
                size: entry.size,
                data: self.data.len(),
            }),
            None => Ok(()),
        }
    }
}
