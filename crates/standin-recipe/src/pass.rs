//! Render passes of both versions.

use crate::codec::records;
use ash::vk;

records! {
    /// A render pass. The second version's fields keep their defaults in a pass of the first.
    pub struct RenderPass {
        /// Which call makes it.
        pub version: PassVersion,
        /// Creation flags.
        pub flags: vk::RenderPassCreateFlags,
        /// The attachments.
        pub attachments: Vec<Attachment>,
        /// The subpasses.
        pub subpasses: Vec<Subpass>,
        /// The dependencies.
        pub dependencies: Vec<Dependency>,
        /// Correlated view masks (version 2).
        pub correlated_view_masks: Vec<u32>,
        /// VkRenderPassMultiviewCreateInfo (version 1).
        pub multiview: Option<Multiview>,
        /// VkRenderPassInputAttachmentAspectCreateInfo (version 1).
        pub input_aspects: Option<Vec<InputAspect>>,
        /// VkRenderPassFragmentDensityMapCreateInfoEXT: attachment and layout.
        pub fragment_density_map: Option<Reference>,
    }

    /// VkRenderPassMultiviewCreateInfo.
    pub struct Multiview {
        /// One mask for each subpass.
        pub view_masks: Vec<u32>,
        /// One offset for each dependency.
        pub view_offsets: Vec<i32>,
        /// Correlation masks.
        pub correlation_masks: Vec<u32>,
    }

    /// VkInputAttachmentAspectReference.
    pub struct InputAspect {
        /// The subpass.
        pub subpass: u32,
        /// Index among its input attachments.
        pub index: u32,
        /// The aspects that may be read.
        pub aspects: vk::ImageAspectFlags,
    }

    /// An attachment.
    pub struct Attachment {
        /// Flags.
        pub flags: vk::AttachmentDescriptionFlags,
        /// Format.
        pub format: vk::Format,
        /// Samples.
        pub samples: vk::SampleCountFlags,
        /// What happens to it at first.
        pub load_op: vk::AttachmentLoadOp,
        /// What happens to it at last.
        pub store_op: vk::AttachmentStoreOp,
        /// The same for stencil.
        pub stencil_load_op: vk::AttachmentLoadOp,
        /// The same for stencil.
        pub stencil_store_op: vk::AttachmentStoreOp,
        /// Layout before.
        pub initial_layout: vk::ImageLayout,
        /// Layout after.
        pub final_layout: vk::ImageLayout,
        /// Stencil's own initial and final layout (version 2).
        pub stencil_layouts: Option<[vk::ImageLayout; 2]>,
    }

    /// A reference to an attachment.
    pub struct Reference {
        /// Its index, or VK_ATTACHMENT_UNUSED.
        pub attachment: u32,
        /// Its layout meanwhile.
        pub layout: vk::ImageLayout,
        /// The aspects that may be read (version 2).
        pub aspects: vk::ImageAspectFlags,
        /// Stencil's own layout (version 2).
        pub stencil_layout: Option<vk::ImageLayout>,
    }

    /// A subpass.
    pub struct Subpass {
        /// Flags.
        pub flags: vk::SubpassDescriptionFlags,
        /// Graphics, or a vendor's own.
        pub bind_point: vk::PipelineBindPoint,
        /// The views that are drawn (version 2).
        pub view_mask: u32,
        /// Input attachments.
        pub input: Vec<Reference>,
        /// Colour attachments.
        pub color: Vec<Reference>,
        /// Resolve attachments: none, or one for each colour attachment.
        pub resolve: Vec<Reference>,
        /// The depth-stencil attachment.
        pub depth_stencil: Option<Reference>,
        /// Attachments that are kept.
        pub preserve: Vec<u32>,
        /// VkSubpassDescriptionDepthStencilResolve (version 2).
        pub depth_stencil_resolve: Option<DepthStencilResolve>,
        /// VkFragmentShadingRateAttachmentInfoKHR (version 2).
        pub shading_rate: Option<ShadingRateAttachment>,
    }

    /// How depth and stencil are resolved.
    pub struct DepthStencilResolve {
        /// Depth.
        pub depth_mode: vk::ResolveModeFlags,
        /// Stencil.
        pub stencil_mode: vk::ResolveModeFlags,
        /// Into what.
        pub attachment: Option<Reference>,
    }

    /// The attachment that holds shading rates.
    pub struct ShadingRateAttachment {
        /// The attachment.
        pub attachment: Option<Reference>,
        /// Width and height of the texels that one rate is for.
        pub texel_size: [u32; 2],
    }

    /// A dependency. Stages and accesses of the first version fill the low halves.
    pub struct Dependency {
        /// The earlier subpass.
        pub src_subpass: u32,
        /// The later subpass.
        pub dst_subpass: u32,
        /// Stages waited for.
        pub src_stages: vk::PipelineStageFlags2,
        /// Stages that wait.
        pub dst_stages: vk::PipelineStageFlags2,
        /// Accesses made available.
        pub src_access: vk::AccessFlags2,
        /// Accesses made visible.
        pub dst_access: vk::AccessFlags2,
        /// Flags.
        pub flags: vk::DependencyFlags,
        /// View offset (version 2).
        pub view_offset: i32,
        /// Whether stages and accesses came in a VkMemoryBarrier2 (version 2).
        pub memory_barrier: bool,
    }
}

/// Which call makes a render pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PassVersion {
    /// vkCreateRenderPass.
    V1,
    /// vkCreateRenderPass2.
    V2,
}

impl crate::codec::Codec for PassVersion {
    fn encode(&self, out: &mut crate::codec::Writer<'_>) {
        match self {
            Self::V1 => 1_u8,
            Self::V2 => 2,
        }
        .encode(out);
    }
    fn decode(input: &mut crate::codec::Reader<'_>) -> Result<Self, crate::codec::DecodeError> {
        let at = input.at();
        match u8::decode(input)? {
            1 => Ok(Self::V1),
            2 => Ok(Self::V2),
            tag => Err(crate::codec::DecodeError::BadTag { at, tag }),
        }
    }
}

impl RenderPass {
    /// The view mask of a subpass, in either version.
    #[must_use]
    pub fn view_mask(&self, subpass: u32) -> u32 {
        let index = subpass as usize;
        match (self.version, &self.multiview) {
            (PassVersion::V1, Some(multiview)) => multiview.view_masks.get(index).copied(),
            (PassVersion::V1, None) => None,
            (PassVersion::V2, _) => self.subpasses.get(index).map(|s| s.view_mask),
        }
        .unwrap_or(0)
    }

    /// Formats of a subpass's colour attachments, UNDEFINED for an unused one.
    pub fn color_formats(&self, subpass: u32) -> impl Iterator<Item = vk::Format> {
        let subpass = self.subpasses.get(subpass as usize);
        subpass
            .into_iter()
            .flat_map(|subpass| &subpass.color)
            .map(|reference| self.format(reference))
    }

    /// Format of a subpass's depth-stencil attachment, where it has one in use.
    #[must_use]
    pub fn depth_stencil_format(&self, subpass: u32) -> Option<vk::Format> {
        let subpass = self.subpasses.get(subpass as usize)?;
        let format = self.format(subpass.depth_stencil.as_ref()?);
        (format != vk::Format::UNDEFINED).then_some(format)
    }

    fn format(&self, reference: &Reference) -> vk::Format {
        self.attachments
            .get(reference.attachment as usize)
            .map_or(vk::Format::UNDEFINED, |attachment| attachment.format)
    }
}
