//! Why a device is not asked to make something.
//!
//! A driver given what it does not support may do anything, so each recipe is checked against the
//! device before any call. A reason names what is missing, and equal reasons have equal texts, so
//! that they can be counted.

use crate::features::Feature;
use ash::vk;

/// What a format was wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FormatUse {
    /// A vertex attribute.
    Vertex,
    /// A colour attachment.
    Color,
    /// A colour attachment that is blended into.
    Blend,
    /// A depth or stencil attachment.
    DepthStencil,
    /// An input attachment.
    Input,
    /// A sampler's YCbCr conversion.
    Ycbcr,
}

impl std::fmt::Display for FormatUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Vertex => "vertex attribute",
            Self::Color => "colour attachment",
            Self::Blend => "blended colour attachment",
            Self::DepthStencil => "depth-stencil attachment",
            Self::Input => "input attachment",
            Self::Ycbcr => "YCbCr conversion",
        })
    }
}

/// Why the device cannot make a pipeline, found before the driver was asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Declined {
    /// A feature is missing.
    #[error("the device has no {0}")]
    Feature(Feature),
    /// An extension is missing, or is one that is not enabled here.
    #[error("the device has no {0}")]
    Extension(String),
    /// A state, flag or descriptor type that is not known to be supported.
    #[error("{what} {value} is not supported")]
    Unknown {
        /// What it is.
        what: &'static str,
        /// Its name or number.
        value: String,
    },
    /// The format cannot be used so.
    #[error("{format:?} cannot be a {usage}")]
    Format {
        /// The format.
        format: vk::Format,
        /// What it was wanted for.
        usage: FormatUse,
    },
    /// The sample count cannot be used.
    #[error("{0:?} samples are not supported")]
    Samples(vk::SampleCountFlags),
    /// A subgroup size is asked for that the device does not offer in this stage.
    #[error("subgroup size {asked} is asked for; the device takes {min} to {max} in {stages:?}")]
    SubgroupSize {
        /// The size asked for, in invocations.
        asked: u32,
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
        /// The stages in which one may be asked for.
        stages: vk::ShaderStageFlags,
    },
    /// A shader uses a capability that the device does not have.
    #[error("a shader uses {0}, which the device does not have")]
    Capability(String),
    /// A shader uses a SPIR-V extension that the device does not have.
    #[error("a shader uses {0}, which the device does not have")]
    SpirvExtension(String),
    /// A shader is of a newer SPIR-V version than the device takes.
    #[error("a shader is SPIR-V {major}.{minor}, and the device takes less")]
    SpirvVersion {
        /// The shader's major version.
        major: u8,
        /// The shader's minor version.
        minor: u8,
    },
    /// More of something than the device has.
    #[error("{what}: {asked} asked for, the device has {most}")]
    Limit {
        /// The limit's name in `VkPhysicalDeviceLimits` or a properties structure.
        what: &'static str,
        /// How much is asked for.
        asked: u64,
        /// How much there is.
        most: u64,
    },
    /// The recipe contradicts itself: no device can make it, and some drivers crash on it.
    #[error("the recipe is not valid: {0}")]
    Invalid(String),
}

impl Declined {
    pub(crate) fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid(why.into())
    }

    pub(crate) fn unknown(what: &'static str, value: impl std::fmt::Debug) -> Self {
        Self::Unknown {
            what,
            value: format!("{value:?}"),
        }
    }
}

/// Not more than the limit.
pub(crate) fn limit(
    what: &'static str,
    asked: impl TryInto<u64>,
    most: impl Into<u64>,
) -> Result<(), Declined> {
    let asked = asked.try_into().unwrap_or(u64::MAX);
    let most = most.into();
    if asked <= most {
        Ok(())
    } else {
        Err(Declined::Limit { what, asked, most })
    }
}
