//! Why a create-info is not captured.

use ash::vk;
use standin_recipe::stage::SpecializationError;

/// Why a create-info is not captured. Nothing of it is kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// A struct is chained that this program does not know.
    #[error("{place} has a struct chained that is not known: sType {} ({s_type:?})", s_type.as_raw())]
    UnknownStruct {
        /// The struct's type.
        s_type: vk::StructureType,
        /// The struct whose chain it is in.
        place: &'static str,
    },
    /// A struct is chained twice, or the chain is a loop.
    #[error("{place} has a struct chained twice: sType {} ({s_type:?})", s_type.as_raw())]
    RepeatedStruct {
        /// The struct's type.
        s_type: vk::StructureType,
        /// The struct whose chain it is in.
        place: &'static str,
    },
    /// A handle stands for nothing that is known.
    #[error("{place} refers to a {kind} that is not known: {handle:#x}")]
    UnknownObject {
        /// The member.
        place: &'static str,
        /// The kind of object.
        kind: &'static str,
        /// The handle.
        handle: u64,
    },
    /// A pointer or handle is null that must not be.
    #[error("{place} is null")]
    Null {
        /// The member.
        place: &'static str,
    },
    /// Flags are set that no Vulkan known here has.
    #[error("the flags of {place} are {flags:#x}; none are known")]
    ReservedFlags {
        /// The struct.
        place: &'static str,
        /// The flags.
        flags: u32,
    },
    /// An entry point's name is not UTF-8.
    #[error("the name of an entry point is not UTF-8")]
    Name,
    /// A stage has an identifier and no code: the pipeline could not be built again.
    #[error("the stage {stage:?} has a module identifier (sType {}) and no code", vk::StructureType::PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT.as_raw())]
    IdentifierOnly {
        /// The stage.
        stage: vk::ShaderStageFlags,
    },
    /// SPIR-V is not a whole number of words.
    #[error("SPIR-V of {size} bytes is not a whole number of words")]
    CodeSize {
        /// Its size in bytes.
        size: usize,
    },
    /// A specialisation constant's value is not within the data.
    #[error(transparent)]
    Specialization(#[from] SpecializationError),
    /// A list has another length than the list that it belongs to.
    #[error("{place} has {found} elements where {expected} belong")]
    Length {
        /// The list.
        place: &'static str,
        /// Its length.
        found: u32,
        /// The length that it must have.
        expected: u32,
    },
    /// A divisor is given for a binding that there is not.
    #[error("a divisor is given for vertex binding {binding}, which there is not")]
    DivisorWithoutBinding {
        /// The binding.
        binding: u32,
    },
    /// An index is outside of the list that it refers to.
    #[error("{place} is {index}, outside of its list")]
    Index {
        /// The member.
        place: &'static str,
        /// The index.
        index: u32,
    },
}
