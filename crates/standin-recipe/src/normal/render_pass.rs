//! Normal form of a render pass: references to nothing all look alike.

use crate::output::Target;
use crate::render_pass::{AttachmentReference, RenderPassRecipe};
use ash::vk;
use std::sync::Arc;

/// The render pass without what is said about attachments that a subpass does not use.
#[must_use]
pub fn normal_render_pass(pass: &Arc<RenderPassRecipe>) -> Arc<RenderPassRecipe> {
    let mut normal = RenderPassRecipe::clone(pass);
    for subpass in &mut normal.subpasses {
        let depth_stencil_resolve = subpass
            .depth_stencil_resolve
            .iter_mut()
            .filter_map(|resolve| resolve.attachment.as_mut());
        let shading_rate = subpass
            .shading_rate_attachment
            .iter_mut()
            .filter_map(|rate| rate.attachment.as_mut());
        // Only input attachments have aspects (VkAttachmentReference2).
        for reference in subpass
            .color_attachments
            .iter_mut()
            .chain(&mut subpass.resolve_attachments)
            .chain(&mut subpass.depth_stencil_attachment)
            .chain(depth_stencil_resolve)
            .chain(shading_rate)
        {
            reference.aspect_mask = vk::ImageAspectFlags::empty();
        }
        for reference in subpass
            .input_attachments
            .iter_mut()
            .chain(&mut subpass.color_attachments)
            .chain(&mut subpass.resolve_attachments)
            .chain(&mut subpass.depth_stencil_attachment)
        {
            if !is_used(reference) {
                *reference = AttachmentReference::default();
            }
        }
        if !subpass.resolve_attachments.iter().any(is_used) {
            subpass.resolve_attachments.clear();
        }
        subpass.depth_stencil_attachment = subpass.depth_stencil_attachment.take().filter(is_used);
        subpass.preserve_attachments.sort_unstable();
        subpass.preserve_attachments.dedup();
        subpass.depth_stencil_resolve = subpass
            .depth_stencil_resolve
            .take()
            .filter(|resolve| resolve.attachment.as_ref().is_some_and(is_used));
        subpass.shading_rate_attachment = subpass
            .shading_rate_attachment
            .take()
            .filter(|rate| rate.attachment.as_ref().is_some_and(is_used));
        subpass.single_sampled_rendering = subpass
            .single_sampled_rendering
            .take()
            .filter(|rendering| rendering.enable);
    }
    normal.fragment_density_map = normal
        .fragment_density_map
        .take()
        .filter(is_used)
        .map(|map| AttachmentReference {
            attachment: map.attachment,
            layout: map.layout,
            ..AttachmentReference::default()
        });
    if normal == **pass {
        Arc::clone(pass)
    } else {
        Arc::new(normal)
    }
}

/// Whether the reference is to an attachment.
#[must_use]
pub fn is_used(reference: &AttachmentReference) -> bool {
    reference.attachment != vk::ATTACHMENT_UNUSED
}

/// Which kinds of attachments a pipeline renders to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attachments {
    /// Colour attachments.
    pub color: bool,
    /// A depth attachment.
    pub depth: bool,
    /// A stencil attachment.
    pub stencil: bool,
}

impl Target {
    /// Which attachments there are; none where the recipe does not know, that is, where the
    /// formats of dynamic rendering belong to another library.
    #[must_use]
    pub fn attachments(&self, has_output_part: bool) -> Option<Attachments> {
        match self {
            Self::RenderPass { pass, subpass } => {
                let index = usize::try_from(*subpass).ok()?;
                let subpass = pass.subpasses.get(index)?;
                let aspects = subpass
                    .depth_stencil_attachment
                    .as_ref()
                    .and_then(|reference| usize::try_from(reference.attachment).ok())
                    .and_then(|index| pass.attachments.get(index))
                    .map(|attachment| format_aspects(attachment.format))
                    .unwrap_or_default();
                Some(Attachments {
                    color: subpass.color_attachments.iter().any(is_used),
                    depth: aspects.contains(vk::ImageAspectFlags::DEPTH),
                    stencil: aspects.contains(vk::ImageAspectFlags::STENCIL),
                })
            }
            Self::Rendering(formats) => has_output_part.then(|| Attachments {
                color: !formats.color.is_empty(),
                depth: formats.depth != vk::Format::UNDEFINED,
                stencil: formats.stencil != vk::Format::UNDEFINED,
            }),
        }
    }
}

/// The aspects of an image of this format: depth, stencil, both, or colour.
#[must_use]
pub fn format_aspects(format: vk::Format) -> vk::ImageAspectFlags {
    use vk::{Format, ImageAspectFlags as Aspects};
    match format {
        Format::D16_UNORM | Format::X8_D24_UNORM_PACK32 | Format::D32_SFLOAT => Aspects::DEPTH,
        Format::S8_UINT => Aspects::STENCIL,
        Format::D16_UNORM_S8_UINT | Format::D24_UNORM_S8_UINT | Format::D32_SFLOAT_S8_UINT => {
            Aspects::DEPTH | Aspects::STENCIL
        }
        _ => Aspects::COLOR,
    }
}
