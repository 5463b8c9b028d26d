//! What goes out: depth-stencil, colour blending, attachments.

use crate::codec::{Codec, DecodeError, Float, Reader, Writer, records};
use crate::raster::Counted;
use crate::render_pass::RenderPassRecipe;
use ash::vk;
use std::sync::Arc;

records! {
    /// `VkStencilOpState`.
    #[derive(Default)]
    pub struct StencilFace {
        /// When the stencil test fails.
        pub fail_op: vk::StencilOp,
        /// When both tests pass.
        pub pass_op: vk::StencilOp,
        /// When the depth test fails.
        pub depth_fail_op: vk::StencilOp,
        /// How reference and value are compared.
        pub compare_op: vk::CompareOp,
        /// Bits compared.
        pub compare_mask: u32,
        /// Bits written.
        pub write_mask: u32,
        /// The reference.
        pub reference: u32,
    }

    /// `VkPipelineDepthStencilStateCreateInfo`.
    #[derive(Default)]
    pub struct DepthStencilState {
        /// Creation flags.
        pub flags: vk::PipelineDepthStencilStateCreateFlags,
        /// Whether depth is tested.
        pub depth_test_enable: bool,
        /// Whether depth is written.
        pub depth_write_enable: bool,
        /// How depths are compared.
        pub depth_compare_op: vk::CompareOp,
        /// Whether depth bounds are tested.
        pub depth_bounds_test_enable: bool,
        /// Whether stencil is tested.
        pub stencil_test_enable: bool,
        /// Front faces.
        pub front: StencilFace,
        /// Back faces.
        pub back: StencilFace,
        /// Lower depth bound.
        pub min_depth_bounds: Float,
        /// Upper depth bound.
        pub max_depth_bounds: Float,
    }

    /// `VkPipelineColorBlendAttachmentState`.
    #[derive(Default)]
    pub struct BlendAttachment {
        /// Whether it blends.
        pub blend_enable: bool,
        /// Factor of the source's colour.
        pub src_color: vk::BlendFactor,
        /// Factor of the destination's colour.
        pub dst_color: vk::BlendFactor,
        /// Colour operation.
        pub color_op: vk::BlendOp,
        /// Factor of the source's alpha.
        pub src_alpha: vk::BlendFactor,
        /// Factor of the destination's alpha.
        pub dst_alpha: vk::BlendFactor,
        /// Alpha operation.
        pub alpha_op: vk::BlendOp,
        /// Components written.
        pub write_mask: vk::ColorComponentFlags,
    }

    /// `VkPipelineColorBlendAdvancedStateCreateInfoEXT`.
    pub struct AdvancedBlend {
        /// Whether the source is premultiplied.
        pub src_premultiplied: bool,
        /// Whether the destination is.
        pub dst_premultiplied: bool,
        /// How they overlap.
        pub overlap: vk::BlendOverlapEXT,
    }

    /// `VkPipelineColorBlendStateCreateInfo`.
    #[derive(Default)]
    pub struct ColorBlendState {
        /// Creation flags.
        pub flags: vk::PipelineColorBlendStateCreateFlags,
        /// Whether the logical operation is on.
        pub logic_op_enable: bool,
        /// The logical operation.
        pub logic_op: vk::LogicOp,
        /// Attachments.
        pub attachments: Counted<BlendAttachment>,
        /// Constants r, g, b, a.
        pub blend_constants: [Float; 4],
        /// `VkPipelineColorWriteCreateInfoEXT`; all on where none is chained.
        pub color_write_enables: Option<Counted<bool>>,
        /// Chained advanced blending.
        pub advanced: Option<AdvancedBlend>,
    }

    /// `VkPipelineRenderingCreateInfo`: the attachments of dynamic rendering. All `UNDEFINED`
    /// where neither it nor a render pass is given.
    #[derive(Default)]
    pub struct RenderingFormats {
        /// Views rendered, 0 without multiview.
        pub view_mask: u32,
        /// Formats of the colour attachments.
        pub color: Vec<vk::Format>,
        /// Format of the depth attachment.
        pub depth: vk::Format,
        /// Format of the stencil attachment.
        pub stencil: vk::Format,
    }

    /// `VkRenderingInputAttachmentIndexInfo`.
    #[derive(Default)]
    pub struct InputAttachmentIndices {
        /// Index of each colour attachment, `VK_ATTACHMENT_UNUSED` for none.
        pub color: Vec<u32>,
        /// Index of the depth attachment; none if the shader reads it without an index.
        pub depth: Option<u32>,
        /// Index of the stencil attachment; none if the shader reads it without an index.
        pub stencil: Option<u32>,
    }

    /// `VkAttachmentSampleCountInfoAMD`.
    #[derive(Default)]
    pub struct AttachmentSampleCounts {
        /// Samples of each colour attachment.
        pub color: Vec<vk::SampleCountFlags>,
        /// Samples of the depth-stencil attachment.
        pub depth_stencil: vk::SampleCountFlags,
    }
}

/// Premultiplied and uncorrelated, which is what the absence of the struct means.
impl Default for AdvancedBlend {
    fn default() -> Self {
        Self {
            src_premultiplied: true,
            dst_premultiplied: true,
            overlap: vk::BlendOverlapEXT::UNCORRELATED,
        }
    }
}

/// What is rendered to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A subpass of a render pass.
    RenderPass {
        /// The pass.
        pass: Arc<RenderPassRecipe>,
        /// Index of the subpass.
        subpass: u32,
    },
    /// Dynamic rendering.
    Rendering(RenderingFormats),
}

/// Dynamic rendering without attachments.
impl Default for Target {
    fn default() -> Self {
        Self::Rendering(RenderingFormats::default())
    }
}

impl Codec for Target {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::RenderPass { pass, subpass } => {
                0u8.encode(out);
                pass.encode(out);
                subpass.encode(out);
            }
            Self::Rendering(formats) => {
                1u8.encode(out);
                formats.encode(out);
            }
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        match u8::decode(input)? {
            0 => Ok(Self::RenderPass {
                pass: Codec::decode(input)?,
                subpass: Codec::decode(input)?,
            }),
            1 => Codec::decode(input).map(Self::Rendering),
            tag => Err(DecodeError::BadTag { at, tag }),
        }
    }
}
