//! Create-infos of render passes, always of version 2.

use super::{Arena, Chain, chain, count};
use crate::render_pass::{
    AttachmentDescription, AttachmentReference, RenderPassRecipe, Subpass, SubpassDependency,
};
use ash::vk;
use std::ptr;

/// A render pass's create-info.
#[derive(Debug)]
pub struct RenderPassCreateInfo {
    _arena: Arena,
    info: vk::RenderPassCreateInfo2<'static>,
}

impl RenderPassCreateInfo {
    /// The create-info of this render pass.
    #[must_use]
    pub fn new(recipe: &RenderPassRecipe) -> Self {
        let mut arena = Arena::default();
        let mut next: Chain = ptr::null();
        if let Some(map) = &recipe.fragment_density_map {
            chain!(
                arena,
                next,
                vk::RenderPassFragmentDensityMapCreateInfoEXT::default()
                    .fragment_density_map_attachment(vk::AttachmentReference {
                        attachment: map.attachment,
                        layout: map.layout,
                    })
            );
        }
        if recipe.disallow_merging {
            chain!(
                arena,
                next,
                vk::RenderPassCreationControlEXT::default().disallow_merging(true)
            );
        }
        let attachments: Vec<_> = recipe
            .attachments
            .iter()
            .map(|attachment| description(&mut arena, attachment))
            .collect();
        let subpasses: Vec<_> = recipe
            .subpasses
            .iter()
            .map(|subpass| subpass_description(&mut arena, subpass))
            .collect();
        let dependencies: Vec<_> = recipe
            .dependencies
            .iter()
            .map(|dependency| subpass_dependency(&mut arena, dependency))
            .collect();
        let masks = recipe.correlated_view_masks.clone();
        let info = vk::RenderPassCreateInfo2 {
            p_next: next,
            flags: recipe.flags,
            attachment_count: count(&attachments),
            p_attachments: arena.keep_all(attachments),
            subpass_count: count(&subpasses),
            p_subpasses: arena.keep_all(subpasses),
            dependency_count: count(&dependencies),
            p_dependencies: arena.keep_all(dependencies),
            correlated_view_mask_count: count(&masks),
            p_correlated_view_masks: arena.keep_all(masks),
            ..Default::default()
        };
        Self {
            _arena: arena,
            info,
        }
    }

    /// The create-info.
    pub fn info(&self) -> vk::RenderPassCreateInfo2<'_> {
        self.info
    }
}

fn description(
    arena: &mut Arena,
    attachment: &AttachmentDescription,
) -> vk::AttachmentDescription2<'static> {
    let mut next: Chain = ptr::null();
    if let Some([initial, last]) = attachment.stencil_layouts {
        chain!(
            arena,
            next,
            vk::AttachmentDescriptionStencilLayout::default()
                .stencil_initial_layout(initial)
                .stencil_final_layout(last)
        );
    }
    vk::AttachmentDescription2 {
        p_next: next,
        flags: attachment.flags,
        format: attachment.format,
        samples: attachment.samples,
        load_op: attachment.load_op,
        store_op: attachment.store_op,
        stencil_load_op: attachment.stencil_load_op,
        stencil_store_op: attachment.stencil_store_op,
        initial_layout: attachment.initial_layout,
        final_layout: attachment.final_layout,
        ..Default::default()
    }
}

fn reference(
    arena: &mut Arena,
    reference: &AttachmentReference,
) -> vk::AttachmentReference2<'static> {
    let mut next: Chain = ptr::null();
    if let Some(layout) = reference.stencil_layout {
        chain!(
            arena,
            next,
            vk::AttachmentReferenceStencilLayout::default().stencil_layout(layout)
        );
    }
    vk::AttachmentReference2 {
        p_next: next,
        attachment: reference.attachment,
        layout: reference.layout,
        aspect_mask: reference.aspect_mask,
        ..Default::default()
    }
}

fn references(
    arena: &mut Arena,
    list: &[AttachmentReference],
) -> Vec<vk::AttachmentReference2<'static>> {
    list.iter().map(|one| reference(arena, one)).collect()
}

fn optional_reference(
    arena: &mut Arena,
    one: Option<&AttachmentReference>,
) -> *const vk::AttachmentReference2<'static> {
    one.map_or(ptr::null(), |one| {
        let one = reference(arena, one);
        arena.keep(one)
    })
}

fn subpass_description(arena: &mut Arena, subpass: &Subpass) -> vk::SubpassDescription2<'static> {
    let mut next: Chain = ptr::null();
    if let Some(resolve) = &subpass.depth_stencil_resolve {
        let attachment = optional_reference(arena, resolve.attachment.as_ref());
        chain!(
            arena,
            next,
            vk::SubpassDescriptionDepthStencilResolve {
                depth_resolve_mode: resolve.depth_mode,
                stencil_resolve_mode: resolve.stencil_mode,
                p_depth_stencil_resolve_attachment: attachment,
                ..Default::default()
            }
        );
    }
    if let Some(rate) = &subpass.shading_rate_attachment {
        let attachment = optional_reference(arena, rate.attachment.as_ref());
        let [width, height] = rate.texel_size;
        chain!(
            arena,
            next,
            vk::FragmentShadingRateAttachmentInfoKHR {
                p_fragment_shading_rate_attachment: attachment,
                shading_rate_attachment_texel_size: vk::Extent2D { width, height },
                ..Default::default()
            }
        );
    }
    if let Some(rendering) = &subpass.single_sampled_rendering {
        chain!(
            arena,
            next,
            vk::MultisampledRenderToSingleSampledInfoEXT::default()
                .multisampled_render_to_single_sampled_enable(rendering.enable)
                .rasterization_samples(rendering.samples)
        );
    }
    if subpass.disallow_merging {
        chain!(
            arena,
            next,
            vk::RenderPassCreationControlEXT::default().disallow_merging(true)
        );
    }
    let inputs = references(arena, &subpass.input_attachments);
    let colors = references(arena, &subpass.color_attachments);
    let mut resolves = references(arena, &subpass.resolve_attachments);
    if !resolves.is_empty() {
        // The driver reads as many as there are colour attachments.
        let nothing = reference(arena, &AttachmentReference::default());
        resolves.resize(colors.len(), nothing);
    }
    let depth_stencil = optional_reference(arena, subpass.depth_stencil_attachment.as_ref());
    let preserved = subpass.preserve_attachments.clone();
    vk::SubpassDescription2 {
        p_next: next,
        flags: subpass.flags,
        pipeline_bind_point: subpass.bind_point,
        view_mask: subpass.view_mask,
        input_attachment_count: count(&inputs),
        p_input_attachments: arena.keep_all(inputs),
        color_attachment_count: count(&colors),
        p_color_attachments: arena.keep_all(colors),
        p_resolve_attachments: arena.keep_all(resolves),
        p_depth_stencil_attachment: depth_stencil,
        preserve_attachment_count: count(&preserved),
        p_preserve_attachments: arena.keep_all(preserved),
        ..Default::default()
    }
}

/// Masks of 32 bits go into the dependency itself, wider ones into a `VkMemoryBarrier2`.
fn subpass_dependency(
    arena: &mut Arena,
    dependency: &SubpassDependency,
) -> vk::SubpassDependency2<'static> {
    let masks = [
        dependency.src_stage_mask.as_raw(),
        dependency.dst_stage_mask.as_raw(),
        dependency.src_access_mask.as_raw(),
        dependency.dst_access_mask.as_raw(),
    ];
    let mut next: Chain = ptr::null();
    let [src_stages, dst_stages, src_accesses, dst_accesses] =
        masks.map(|mask| u32::try_from(mask).ok());
    if masks.iter().any(|mask| u32::try_from(*mask).is_err()) {
        chain!(
            arena,
            next,
            vk::MemoryBarrier2::default()
                .src_stage_mask(dependency.src_stage_mask)
                .dst_stage_mask(dependency.dst_stage_mask)
                .src_access_mask(dependency.src_access_mask)
                .dst_access_mask(dependency.dst_access_mask)
        );
    }
    vk::SubpassDependency2 {
        p_next: next,
        src_subpass: dependency.src_subpass,
        dst_subpass: dependency.dst_subpass,
        src_stage_mask: vk::PipelineStageFlags::from_raw(src_stages.unwrap_or(0)),
        dst_stage_mask: vk::PipelineStageFlags::from_raw(dst_stages.unwrap_or(0)),
        src_access_mask: vk::AccessFlags::from_raw(src_accesses.unwrap_or(0)),
        dst_access_mask: vk::AccessFlags::from_raw(dst_accesses.unwrap_or(0)),
        dependency_flags: dependency.dependency_flags,
        view_offset: dependency.view_offset,
        ..Default::default()
    }
}
