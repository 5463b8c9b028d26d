//! Complete pipelines.

use crate::codec::{Codec, DecodeError, Reader, Writer, records};
use crate::layout::PipelineLayout;
use crate::module::ModuleRef;
use crate::pass::RenderPass;
use crate::state::{
    ColorBlend, DepthStencil, DiscardRectangles, InputAssembly, Multisample, Rasterization,
    Rendering, Robustness, ShadingRate, Tessellation, VertexInput, Viewports,
};
use ash::vk;
use std::sync::Arc;

records! {
    /// A shader stage.
    pub struct Stage {
        /// Which stage: one bit.
        pub stage: vk::ShaderStageFlags,
        /// Creation flags.
        pub flags: vk::PipelineShaderStageCreateFlags,
        /// The module.
        pub module: ModuleRef,
        /// Name of the entry point, without the final 0 byte.
        pub entry: String,
        /// Values of specialisation constants.
        pub specialization: Option<Specialization>,
        /// VkPipelineShaderStageRequiredSubgroupSizeCreateInfo.
        pub required_subgroup_size: Option<u32>,
        /// VkPipelineRobustnessCreateInfo of this stage.
        pub robustness: Option<Robustness>,
    }

    /// VkSpecializationInfo.
    pub struct Specialization {
        /// Where each constant's value lies.
        pub entries: Vec<SpecializationEntry>,
        /// The values.
        pub data: Vec<u8>,
    }

    /// VkSpecializationMapEntry.
    pub struct SpecializationEntry {
        /// The constant's number. It need not be one that the shader has.
        pub id: u32,
        /// First byte of its value.
        pub offset: u32,
        /// Bytes of its value.
        pub size: u32,
    }

    /// A compute pipeline.
    pub struct ComputeRecipe {
        /// Creation flags.
        pub flags: CreateFlags,
        /// Its one stage.
        pub stage: Stage,
        /// Its layout.
        pub layout: Arc<PipelineLayout>,
        /// VkPipelineRobustnessCreateInfo.
        pub robustness: Option<Robustness>,
    }

    /// A graphics pipeline, or a part of one (a library). A state is none where Vulkan
    /// ignores it.
    pub struct GraphicsRecipe {
        /// Creation flags.
        pub flags: CreateFlags,
        /// The parts that a library holds; none for a complete pipeline.
        pub parts: Option<vk::GraphicsPipelineLibraryFlagsEXT>,
        /// Libraries that it is linked from.
        pub libraries: Vec<Arc<GraphicsRecipe>>,
        /// The stages that are not in a library.
        pub stages: Vec<Stage>,
        /// The layout; none where every stage is in a library that has it.
        pub layout: Option<Arc<PipelineLayout>>,
        /// What it draws into.
        pub target: Target,
        /// Vertex buffers and attributes.
        pub vertex_input: Option<VertexInput>,
        /// Primitive assembly.
        pub input_assembly: Option<InputAssembly>,
        /// Tessellation.
        pub tessellation: Option<Tessellation>,
        /// Viewports and scissors.
        pub viewports: Option<Viewports>,
        /// Rasterization.
        pub rasterization: Option<Rasterization>,
        /// Multisampling.
        pub multisample: Option<Multisample>,
        /// Depth and stencil.
        pub depth_stencil: Option<DepthStencil>,
        /// Blending.
        pub color_blend: Option<ColorBlend>,
        /// What commands set instead, in ascending order, each once.
        pub dynamic: DynamicStates,
        /// Discard rectangles.
        pub discard_rectangles: Option<DiscardRectangles>,
        /// Fragment shading rate.
        pub shading_rate: Option<ShadingRate>,
        /// Robustness of every stage without its own.
        pub robustness: Option<Robustness>,
    }
}

/// Flags of a pipeline's creation (VkPipelineCreateFlags2, whose low half is
/// VkPipelineCreateFlags), without those that do not describe the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CreateFlags(u64);

impl CreateFlags {
    /// Flags that ask something of the creation call and leave the pipeline as it is:
    /// statistics, internal representations, fail on compile, early return, capture of
    /// binaries; and those that concern derivatives, which only ever hint at a relation.
    pub const NOT_OF_THE_PIPELINE: u64 = 0x1 << 1 // ALLOW_DERIVATIVES
        | 0x1 << 2 // DERIVATIVE
        | 0x40 // CAPTURE_STATISTICS
        | 0x80 // CAPTURE_INTERNAL_REPRESENTATIONS
        | 0x100 // FAIL_ON_PIPELINE_COMPILE_REQUIRED
        | 0x200 // EARLY_RETURN_ON_FAILURE
        | 0x8000_0000; // CAPTURE_DATA (VK_KHR_pipeline_binary)

    /// The flags, less those that do not describe the pipeline.
    #[must_use]
    pub const fn new(flags: u64) -> Self {
        Self(flags & !Self::NOT_OF_THE_PIPELINE)
    }

    /// The flags' bits.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }
}

impl Codec for CreateFlags {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let flags = Self(u64::decode(input)?);
        if flags == Self::new(flags.0) {
            Ok(flags)
        } else {
            Err(DecodeError::Unordered { at: input.at() })
        }
    }
}

/// What a graphics pipeline draws into.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A subpass of a render pass.
    Pass {
        /// The render pass.
        pass: Arc<RenderPass>,
        /// The subpass's index.
        subpass: u32,
    },
    /// Attachments of dynamic rendering.
    Rendering(Rendering),
    /// Nothing that is said here: a library without the parts that draw, or a pipeline
    /// without attachments.
    None,
}

impl Codec for Target {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::None => out.bytes.push(0),
            Self::Pass { pass, subpass } => {
                out.bytes.push(1);
                pass.encode(out);
                subpass.encode(out);
            }
            Self::Rendering(rendering) => {
                out.bytes.push(2);
                rendering.encode(out);
            }
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        match u8::decode(input)? {
            0 => Ok(Self::None),
            1 => Ok(Self::Pass {
                pass: Codec::decode(input)?,
                subpass: u32::decode(input)?,
            }),
            2 => Rendering::decode(input).map(Self::Rendering),
            tag => Err(DecodeError::BadTag { at, tag }),
        }
    }
}

impl Target {
    /// Formats of the colour attachments, UNDEFINED for an unused one.
    #[must_use]
    pub fn color_formats(&self) -> Vec<vk::Format> {
        match self {
            Self::None => Vec::new(),
            Self::Pass { pass, subpass } => pass.color_formats(*subpass).collect(),
            Self::Rendering(rendering) => rendering.color_formats.clone(),
        }
    }

    /// Format of the depth-stencil attachment, where there is one. In dynamic rendering the
    /// two may differ in presence; depth's is given first.
    #[must_use]
    pub fn depth_stencil_format(&self) -> Option<vk::Format> {
        match self {
            Self::None => None,
            Self::Pass { pass, subpass } => pass.depth_stencil_format(*subpass),
            Self::Rendering(rendering) => [rendering.depth_format, rendering.stencil_format]
                .into_iter()
                .find(|format| *format != vk::Format::UNDEFINED),
        }
    }
}

/// A set of dynamic states.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct DynamicStates(Vec<vk::DynamicState>);

impl DynamicStates {
    /// Whether a state is set by commands.
    #[must_use]
    pub fn has(&self, state: vk::DynamicState) -> bool {
        self.0.binary_search(&state).is_ok()
    }

    /// Whether one of the states is set by commands.
    #[must_use]
    pub fn has_any(&self, states: &[vk::DynamicState]) -> bool {
        states.iter().any(|state| self.has(*state))
    }

    /// The states, in ascending order.
    #[must_use]
    pub fn as_slice(&self) -> &[vk::DynamicState] {
        &self.0
    }
}

impl FromIterator<vk::DynamicState> for DynamicStates {
    fn from_iter<I: IntoIterator<Item = vk::DynamicState>>(states: I) -> Self {
        let mut states: Vec<_> = states.into_iter().collect();
        states.sort_unstable();
        states.dedup();
        Self(states)
    }
}

impl Codec for DynamicStates {
    fn encode(&self, out: &mut Writer<'_>) {
        self.0.encode(out);
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let states: Vec<vk::DynamicState> = Codec::decode(input)?;
        if states.windows(2).all(|pair| pair[0] < pair[1]) {
            Ok(Self(states))
        } else {
            Err(DecodeError::Unordered { at: input.at() })
        }
    }
}

impl GraphicsRecipe {
    /// A pipeline of nothing: what a recipe is filled in from.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            flags: CreateFlags::default(),
            parts: None,
            libraries: Vec::new(),
            stages: Vec::new(),
            layout: None,
            target: Target::None,
            vertex_input: None,
            input_assembly: None,
            tessellation: None,
            viewports: None,
            rasterization: None,
            multisample: None,
            depth_stencil: None,
            color_blend: None,
            dynamic: DynamicStates::default(),
            discard_rectangles: None,
            shading_rate: None,
            robustness: None,
        }
    }

    /// Every stage bit, also those of the libraries that it is linked from.
    #[must_use]
    pub fn stage_bits(&self) -> vk::ShaderStageFlags {
        let own = self
            .stages
            .iter()
            .fold(vk::ShaderStageFlags::empty(), |bits, s| bits | s.stage);
        let libraries = self.libraries.iter();
        libraries.fold(own, |bits, library| bits | library.stage_bits())
    }

    /// The stage of this kind, where it is not in a library.
    #[must_use]
    pub fn stage(&self, stage: vk::ShaderStageFlags) -> Option<&Stage> {
        self.stages.iter().find(|s| s.stage == stage)
    }
}

/// A complete pipeline of either kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipe {
    /// Graphics.
    Graphics(Arc<GraphicsRecipe>),
    /// Compute.
    Compute(Arc<ComputeRecipe>),
}

impl Recipe {
    /// The stages that are not in a library.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        match self {
            Self::Graphics(recipe) => &recipe.stages,
            Self::Compute(recipe) => std::slice::from_ref(&recipe.stage),
        }
    }
}

impl Codec for Recipe {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::Graphics(recipe) => {
                out.bytes.push(1);
                recipe.encode(out);
            }
            Self::Compute(recipe) => {
                out.bytes.push(2);
                recipe.encode(out);
            }
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        match u8::decode(input)? {
            1 => Codec::decode(input).map(Self::Graphics),
            2 => Codec::decode(input).map(Self::Compute),
            tag => Err(DecodeError::BadTag { at, tag }),
        }
    }
}
