//! Render passes, of both versions in one form: what version 1 says in chained structs is where
//! version 2 has it.

use crate::codec::records;
use ash::vk;

records! {
    /// `VkAttachmentDescription2`.
    #[derive(Default)]
    pub struct AttachmentDescription {
        /// Flags.
        pub flags: vk::AttachmentDescriptionFlags,
        /// Format.
        pub format: vk::Format,
        /// Samples.
        pub samples: vk::SampleCountFlags,
        /// Load operation of colour or depth.
        pub load_op: vk::AttachmentLoadOp,
        /// Store operation of colour or depth.
        pub store_op: vk::AttachmentStoreOp,
        /// Load operation of stencil.
        pub stencil_load_op: vk::AttachmentLoadOp,
        /// Store operation of stencil.
        pub stencil_store_op: vk::AttachmentStoreOp,
        /// Layout before the pass.
        pub initial_layout: vk::ImageLayout,
        /// Layout after the pass.
        pub final_layout: vk::ImageLayout,
        /// `VkAttachmentDescriptionStencilLayout`: stencil's own layouts, initial and final.
        pub stencil_layouts: Option<[vk::ImageLayout; 2]>,
    }

    /// `VkAttachmentReference2`.
    pub struct AttachmentReference {
        /// Index of the attachment, or `VK_ATTACHMENT_UNUSED`.
        pub attachment: u32,
        /// Layout in the subpass.
        pub layout: vk::ImageLayout,
        /// Aspects read; only input attachments have any.
        pub aspect_mask: vk::ImageAspectFlags,
        /// `VkAttachmentReferenceStencilLayout`: stencil's own layout.
        pub stencil_layout: Option<vk::ImageLayout>,
    }

    /// `VkSubpassDescriptionDepthStencilResolve`.
    #[derive(Default)]
    pub struct DepthStencilResolve {
        /// How depth is resolved.
        pub depth_mode: vk::ResolveModeFlags,
        /// How stencil is resolved.
        pub stencil_mode: vk::ResolveModeFlags,
        /// Where to.
        pub attachment: Option<AttachmentReference>,
    }

    /// `VkFragmentShadingRateAttachmentInfoKHR`.
    #[derive(Default)]
    pub struct ShadingRateAttachment {
        /// The attachment with the rates.
        pub attachment: Option<AttachmentReference>,
        /// Width and height that one of its texels covers.
        pub texel_size: [u32; 2],
    }

    /// `VkMultisampledRenderToSingleSampledInfoEXT`.
    #[derive(Default)]
    pub struct SingleSampledRendering {
        /// Whether it is on.
        pub enable: bool,
        /// Samples rendered with.
        pub samples: vk::SampleCountFlags,
    }

    /// `VkSubpassDescription2`.
    #[derive(Default)]
    pub struct Subpass {
        /// Flags.
        pub flags: vk::SubpassDescriptionFlags,
        /// Kind of pipeline.
        pub bind_point: vk::PipelineBindPoint,
        /// Views rendered, 0 without multiview.
        pub view_mask: u32,
        /// Input attachments.
        pub input_attachments: Vec<AttachmentReference>,
        /// Colour attachments.
        pub color_attachments: Vec<AttachmentReference>,
        /// Resolve attachments: none, or as many as colour attachments.
        pub resolve_attachments: Vec<AttachmentReference>,
        /// Depth-stencil attachment.
        pub depth_stencil_attachment: Option<AttachmentReference>,
        /// Attachments whose contents are kept.
        pub preserve_attachments: Vec<u32>,
        /// Chained depth-stencil resolve.
        pub depth_stencil_resolve: Option<DepthStencilResolve>,
        /// Chained shading rate attachment.
        pub shading_rate_attachment: Option<ShadingRateAttachment>,
        /// Chained multisampled rendering to single-sampled attachments.
        pub single_sampled_rendering: Option<SingleSampledRendering>,
        /// `VkRenderPassCreationControlEXT`: the subpass may not be merged.
        pub disallow_merging: bool,
    }

    /// `VkSubpassDependency2`, with the masks of a chained `VkMemoryBarrier2` if there is one.
    #[derive(Default)]
    pub struct SubpassDependency {
        /// Source subpass.
        pub src_subpass: u32,
        /// Destination subpass.
        pub dst_subpass: u32,
        /// Source stages.
        pub src_stage_mask: vk::PipelineStageFlags2,
        /// Destination stages.
        pub dst_stage_mask: vk::PipelineStageFlags2,
        /// Source accesses.
        pub src_access_mask: vk::AccessFlags2,
        /// Destination accesses.
        pub dst_access_mask: vk::AccessFlags2,
        /// Flags.
        pub dependency_flags: vk::DependencyFlags,
        /// Offset between views.
        pub view_offset: i32,
    }

    /// `VkRenderPassCreateInfo` or `VkRenderPassCreateInfo2`.
    #[derive(Default)]
    pub struct RenderPassRecipe {
        /// Creation flags.
        pub flags: vk::RenderPassCreateFlags,
        /// Attachments.
        pub attachments: Vec<AttachmentDescription>,
        /// Subpasses.
        pub subpasses: Vec<Subpass>,
        /// Dependencies.
        pub dependencies: Vec<SubpassDependency>,
        /// Masks of views that are rendered alike.
        pub correlated_view_masks: Vec<u32>,
        /// `VkRenderPassFragmentDensityMapCreateInfoEXT`.
        pub fragment_density_map: Option<AttachmentReference>,
        /// `VkRenderPassCreationControlEXT`: no subpass may be merged.
        pub disallow_merging: bool,
    }
}

/// Refers to no attachment.
impl Default for AttachmentReference {
    fn default() -> Self {
        Self {
            attachment: vk::ATTACHMENT_UNUSED,
            layout: vk::ImageLayout::UNDEFINED,
            aspect_mask: vk::ImageAspectFlags::empty(),
            stencil_layout: None,
        }
    }
}
