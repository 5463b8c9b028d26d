//! Names of entries: tags and keys.

use std::fmt;

macro_rules! tags {
    ($($(#[$doc:meta])* $variant:ident = $value:literal, $name:literal, $member:literal;)*) => {
        /// What an entry describes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Tag {
            $($(#[$doc])* $variant = $value,)*
        }

        impl Tag {
            /// Every tag, in order of number.
            pub const ALL: [Self; 11] = [$(Self::$variant),*];

            /// The tag's number in the file.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// The tag of this number.
            #[must_use]
            pub const fn from_number(number: u64) -> Option<Self> {
                match number {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// What the tag is called in messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The member of the payload that holds the description.
            pub(crate) const fn member(self) -> &'static str {
                match self {
                    $(Self::$variant => $member,)*
                }
            }
        }
    };
}

tags! {
    /// Application and the features that it enabled.
    ApplicationInfo = 0, "application info", "applicationInfo";
    /// Sampler.
    Sampler = 1, "sampler", "samplers";
    /// Descriptor set layout.
    SetLayout = 2, "descriptor set layout", "setLayouts";
    /// Pipeline layout.
    PipelineLayout = 3, "pipeline layout", "pipelineLayouts";
    /// Shader module.
    ShaderModule = 4, "shader module", "shaderModules";
    /// Render pass, of either version.
    RenderPass = 5, "render pass", "renderPasses";
    /// Graphics pipeline.
    GraphicsPipeline = 6, "graphics pipeline", "graphicsPipelines";
    /// Compute pipeline.
    ComputePipeline = 7, "compute pipeline", "computePipelines";
    /// Which application made a resource.
    ApplicationBlobLink = 8, "application blob link", "link";
    /// Ray-tracing pipeline.
    RayTracingPipeline = 9, "ray-tracing pipeline", "raytracingPipelines";
    /// What applications a bucket is for.
    BucketInfo = 10, "bucket info", "bucketInfo";
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The 64-bit key that a database gives to what an entry describes. One that was read is opaque:
/// files of older recorders follow other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FozKey(pub u64);

impl fmt::Display for FozKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Identity of an entry: tag and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey {
    /// What the entry describes.
    pub tag: Tag,
    /// The key.
    pub key: FozKey,
}

impl EntryKey {
    /// The entry of this tag and key.
    #[must_use]
    pub const fn new(tag: Tag, key: u64) -> Self {
        Self {
            tag,
            key: FozKey(key),
        }
    }
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.tag, self.key)
    }
}
