//! Recipes of whole pipelines.

use crate::codec::{Codec, DecodeError, Reader, Writer, records};
use crate::layout::PipelineLayoutRecipe;
use crate::output::{
    AttachmentSampleCounts, ColorBlendState, DepthStencilState, InputAttachmentIndices, Target,
};
use crate::raster::{
    DiscardRectangles, FragmentShadingRate, FragmentShadingRateEnum, MultisampleState,
    RasterizationState, ViewportState,
};
use crate::stage::{Robustness, Stage};
use crate::vertex::{InputAssemblyState, TessellationState, VertexInputState};
use ash::vk;
use std::fmt;
use std::sync::Arc;

/// `VkPipelineCreateFlags2`, without the flags that say how a pipeline is made and not what it
/// is: derivatives, statistics, internal representations, failure where a compile is required,
/// early return, and the capture of data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PipelineFlags(u64);

impl PipelineFlags {
    /// The flags that never enter a recipe: `ALLOW_DERIVATIVES`, `DERIVATIVE`,
    /// `CAPTURE_STATISTICS`, `CAPTURE_INTERNAL_REPRESENTATIONS`,
    /// `FAIL_ON_PIPELINE_COMPILE_REQUIRED`, `EARLY_RETURN_ON_FAILURE`, `CAPTURE_DATA`.
    pub const CREATION_ONLY: u64 = 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200 | 0x8000_0000;

    /// These flags, less those that never enter a recipe.
    #[must_use]
    pub const fn new(flags: u64) -> Self {
        Self(flags & !Self::CREATION_ONLY)
    }

    /// The flags' bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all of these bits are set.
    #[must_use]
    pub fn contains(self, flags: vk::PipelineCreateFlags) -> bool {
        let bits = u64::from(flags.as_raw());
        self.0 & bits == bits
    }
}

impl From<vk::PipelineCreateFlags> for PipelineFlags {
    fn from(flags: vk::PipelineCreateFlags) -> Self {
        Self::new(u64::from(flags.as_raw()))
    }
}

impl fmt::Debug for PipelineFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Codec for PipelineFlags {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        let bits = u64::decode(input)?;
        let flags = Self::new(bits);
        if flags.0 == bits {
            Ok(flags)
        } else {
            Err(DecodeError::CreationOnlyFlags { at, flags: bits })
        }
    }
}

/// Which of a pipeline's four parts a recipe has of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parts(vk::GraphicsPipelineLibraryFlagsEXT);

impl Parts {
    /// All four: a complete pipeline.
    pub const ALL: Self = Self(vk::GraphicsPipelineLibraryFlagsEXT::from_raw(0xf));

    /// These parts.
    #[must_use]
    pub const fn new(flags: vk::GraphicsPipelineLibraryFlagsEXT) -> Self {
        Self(flags)
    }

    /// The parts that a create-info has to which no `VkGraphicsPipelineLibraryCreateInfoEXT` is
    /// chained: none if it makes a library or links libraries, all otherwise.
    #[must_use]
    pub fn implied(flags: PipelineFlags, links_libraries: bool) -> Self {
        if links_libraries || flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR) {
            Self(vk::GraphicsPipelineLibraryFlagsEXT::empty())
        } else {
            Self::ALL
        }
    }

    /// The parts as Vulkan's flags.
    #[must_use]
    pub const fn flags(self) -> vk::GraphicsPipelineLibraryFlagsEXT {
        self.0
    }

    /// Whether this part is among them.
    #[must_use]
    pub fn contains(self, part: vk::GraphicsPipelineLibraryFlagsEXT) -> bool {
        self.0.contains(part)
    }
}

/// All four parts.
impl Default for Parts {
    fn default() -> Self {
        Self::ALL
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Codec for Parts {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Codec::decode(input).map(Self)
    }
}

records! {
    /// `VkGraphicsPipelineCreateInfo`.
    ///
    /// A state is absent where the create-info has none or where Vulkan says that it is not read.
    #[derive(Default)]
    pub struct GraphicsRecipe {
        /// Flags.
        pub flags: PipelineFlags,
        /// The parts described here; the others come from `libraries`.
        pub parts: Parts,
        /// Libraries that are linked in.
        pub libraries: Vec<Arc<GraphicsRecipe>>,
        /// Shader stages.
        pub stages: Vec<Stage>,
        /// Vertex input.
        pub vertex_input: Option<VertexInputState>,
        /// Input assembly.
        pub input_assembly: Option<InputAssemblyState>,
        /// Tessellation.
        pub tessellation: Option<TessellationState>,
        /// Viewports and scissors.
        pub viewport: Option<ViewportState>,
        /// Rasterisation.
        pub rasterization: Option<RasterizationState>,
        /// Multisampling.
        pub multisample: Option<MultisampleState>,
        /// Depth and stencil.
        pub depth_stencil: Option<DepthStencilState>,
        /// Colour blending.
        pub color_blend: Option<ColorBlendState>,
        /// Dynamic states.
        pub dynamic_states: Vec<vk::DynamicState>,
        /// Pipeline layout; only a library may have none.
        pub layout: Option<Arc<PipelineLayoutRecipe>>,
        /// What is rendered to.
        pub target: Target,
        /// Chained robustness.
        pub robustness: Option<Robustness>,
        /// Chained discard rectangles.
        pub discard_rectangles: Option<DiscardRectangles>,
        /// Chained fragment shading rate.
        pub fragment_shading_rate: Option<FragmentShadingRate>,
        /// Chained fragment shading rate by enumerant.
        pub fragment_shading_rate_enum: Option<FragmentShadingRateEnum>,
        /// `VkRenderingAttachmentLocationInfo`: the location of each colour attachment.
        pub attachment_locations: Option<Vec<u32>>,
        /// Chained input attachment indices.
        pub input_attachment_indices: Option<InputAttachmentIndices>,
        /// Chained sample counts of the attachments.
        pub attachment_sample_counts: Option<AttachmentSampleCounts>,
        /// `VkPipelineRepresentativeFragmentTestStateCreateInfoNV`.
        pub representative_fragment_test: bool,
    }

    /// `VkComputePipelineCreateInfo`.
    #[derive(Default)]
    pub struct ComputeRecipe {
        /// Flags.
        pub flags: PipelineFlags,
        /// The stage.
        pub stage: Stage,
        /// Pipeline layout.
        pub layout: Arc<PipelineLayoutRecipe>,
        /// Chained robustness.
        pub robustness: Option<Robustness>,
    }
}

/// An owned, typed description of one complete pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// A graphics pipeline.
    Graphics(GraphicsRecipe),
    /// A compute pipeline.
    Compute(ComputeRecipe),
}

impl From<GraphicsRecipe> for Recipe {
    fn from(recipe: GraphicsRecipe) -> Self {
        Self::Graphics(recipe)
    }
}

impl From<ComputeRecipe> for Recipe {
    fn from(recipe: ComputeRecipe) -> Self {
        Self::Compute(recipe)
    }
}
