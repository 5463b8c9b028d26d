//! Render passes of both versions.

use super::{Step, foreign, no_chain, raw};
use crate::declined::Reason;
use crate::json::chain::Link;
use crate::json::render_pass::{
    AttachmentBody, DependencyBody, PassVersion, ReferenceBody, RenderPassBody, SubpassBody,
};
use ash::vk;
use standin_recipe::RenderPassRecipe;
use standin_recipe::normal::format_aspects;
use standin_recipe::render_pass::{
    AttachmentDescription, AttachmentReference, DepthStencilResolve, ShadingRateAttachment,
    SingleSampledRendering, Subpass, SubpassDependency,
};

/// All aspects that the format of an attachment has: those of an input attachment of which
/// version 1 says nothing.
pub(crate) fn whole_aspects(
    attachment: u32,
    attachments: &[AttachmentDescription],
) -> vk::ImageAspectFlags {
    attachments
        .get(attachment as usize)
        .map(|attachment| format_aspects(attachment.format))
        .unwrap_or_default()
}

pub(crate) fn render_pass(body: &RenderPassBody, version: PassVersion) -> Step<RenderPassRecipe> {
    let mut recipe = RenderPassRecipe {
        flags: vk::RenderPassCreateFlags::from_raw(body.flags),
        attachments: body
            .attachments
            .iter()
            .map(attachment)
            .collect::<Step<_>>()?,
        subpasses: body.subpasses.iter().map(subpass).collect::<Step<_>>()?,
        dependencies: body
            .dependencies
            .iter()
            .map(dependency)
            .collect::<Step<_>>()?,
        correlated_view_masks: body.correlated_view_masks.clone(),
        ..RenderPassRecipe::default()
    };
    if version == PassVersion::One {
        for subpass in &mut recipe.subpasses {
            for reference in &mut subpass.input_attachments {
                reference.aspect_mask = whole_aspects(reference.attachment, &recipe.attachments);
            }
        }
    }
    for link in &body.p_next {
        match link {
            Link::Multiview(b) => {
                let fits = |given: usize, there: usize| given == 0 || given == there;
                if !fits(b.view_masks.len(), recipe.subpasses.len())
                    || !fits(b.view_offsets.len(), recipe.dependencies.len())
                {
                    return Err(Reason::Inconsistent(
                        "the view masks or offsets are not as many as they describe",
                    ));
                }
                for (subpass, &mask) in recipe.subpasses.iter_mut().zip(&b.view_masks) {
                    subpass.view_mask = mask;
                }
                for (dependency, &offset) in recipe.dependencies.iter_mut().zip(&b.view_offsets) {
                    dependency.view_offset = offset;
                }
                recipe
                    .correlated_view_masks
                    .clone_from(&b.correlation_masks);
            }
            Link::InputAspects(b) if version == PassVersion::One => {
                for aspect in &b.aspect_references {
                    recipe
                        .subpasses
                        .get_mut(aspect.subpass as usize)
                        .and_then(|s| {
                            s.input_attachments
                                .get_mut(aspect.input_attachment_index as usize)
                        })
                        .ok_or(Reason::Inconsistent("an aspect is of no input attachment"))?
                        .aspect_mask = vk::ImageAspectFlags::from_raw(aspect.aspect_mask);
                }
            }
            Link::DensityMap(b) => {
                recipe.fragment_density_map = Some(reference(&b.fragment_density_map_attachment)?);
            }
            Link::CreationControl(b) => recipe.disallow_merging = b.disallow_merging != 0,
            other => foreign(other)?,
        }
    }
    Ok(recipe)
}

fn attachment(body: &AttachmentBody) -> Step<AttachmentDescription> {
    let mut stencil_layouts = None;
    for link in &body.p_next {
        match link {
            Link::AttachmentStencilLayout(b) => {
                stencil_layouts = Some([
                    vk::ImageLayout::from_raw(raw(b.stencil_initial_layout)),
                    vk::ImageLayout::from_raw(raw(b.stencil_final_layout)),
                ]);
            }
            other => foreign(other)?,
        }
    }
    Ok(AttachmentDescription {
        flags: vk::AttachmentDescriptionFlags::from_raw(body.flags),
        format: vk::Format::from_raw(raw(body.format)),
        samples: vk::SampleCountFlags::from_raw(body.samples),
        load_op: vk::AttachmentLoadOp::from_raw(raw(body.load_op)),
        store_op: vk::AttachmentStoreOp::from_raw(raw(body.store_op)),
        stencil_load_op: vk::AttachmentLoadOp::from_raw(raw(body.stencil_load_op)),
        stencil_store_op: vk::AttachmentStoreOp::from_raw(raw(body.stencil_store_op)),
        initial_layout: vk::ImageLayout::from_raw(raw(body.initial_layout)),
        final_layout: vk::ImageLayout::from_raw(raw(body.final_layout)),
        stencil_layouts,
    })
}

fn reference(body: &ReferenceBody) -> Step<AttachmentReference> {
    let mut stencil_layout = None;
    for link in &body.p_next {
        match link {
            Link::ReferenceStencilLayout(b) => {
                stencil_layout = Some(vk::ImageLayout::from_raw(raw(b.stencil_layout)));
            }
            other => foreign(other)?,
        }
    }
    Ok(AttachmentReference {
        attachment: body.attachment,
        layout: vk::ImageLayout::from_raw(raw(body.layout)),
        aspect_mask: vk::ImageAspectFlags::from_raw(body.aspect_mask.unwrap_or(0)),
        stencil_layout,
    })
}

fn references(bodies: &[ReferenceBody]) -> Step<Vec<AttachmentReference>> {
    bodies.iter().map(reference).collect()
}

fn subpass(body: &SubpassBody) -> Step<Subpass> {
    if !body.resolve_attachments.is_empty()
        && body.resolve_attachments.len() != body.color_attachments.len()
    {
        return Err(Reason::Inconsistent(
            "the resolve attachments are not as many as the colour attachments",
        ));
    }
    let depth = body.depth_stencil_attachment.as_ref();
    let mut subpass = Subpass {
        flags: vk::SubpassDescriptionFlags::from_raw(body.flags),
        bind_point: vk::PipelineBindPoint::from_raw(raw(body.pipeline_bind_point)),
        view_mask: body.view_mask.unwrap_or(0),
        input_attachments: references(&body.input_attachments)?,
        color_attachments: references(&body.color_attachments)?,
        resolve_attachments: references(&body.resolve_attachments)?,
        depth_stencil_attachment: depth.map(reference).transpose()?,
        preserve_attachments: body.preserve_attachments.clone(),
        ..Subpass::default()
    };
    for link in &body.p_next {
        match link {
            Link::DepthStencilResolve(b) => {
                let attachment = b.depth_stencil_resolve_attachment.as_deref();
                subpass.depth_stencil_resolve = Some(DepthStencilResolve {
                    depth_mode: vk::ResolveModeFlags::from_raw(b.depth_resolve_mode),
                    stencil_mode: vk::ResolveModeFlags::from_raw(b.stencil_resolve_mode),
                    attachment: attachment.map(reference).transpose()?,
                });
            }
            Link::ShadingRateAttachment(b) => {
                let attachment = b.fragment_shading_rate_attachment.as_deref();
                let size = &b.shading_rate_attachment_texel_size;
                subpass.shading_rate_attachment = Some(ShadingRateAttachment {
                    attachment: attachment.map(reference).transpose()?,
                    texel_size: [size.width, size.height],
                });
            }
            Link::SingleSampled(b) => {
                subpass.single_sampled_rendering = Some(SingleSampledRendering {
                    enable: b.multisampled_render_to_single_sampled_enable != 0,
                    samples: vk::SampleCountFlags::from_raw(b.rasterization_samples),
                });
            }
            Link::CreationControl(b) => subpass.disallow_merging = b.disallow_merging != 0,
            other => foreign(other)?,
        }
    }
    Ok(subpass)
}

fn dependency(body: &DependencyBody) -> Step<SubpassDependency> {
    let mut dependency = SubpassDependency {
        src_subpass: body.src_subpass,
        dst_subpass: body.dst_subpass,
        src_stage_mask: vk::PipelineStageFlags2::from_raw(u64::from(body.src_stage_mask)),
        dst_stage_mask: vk::PipelineStageFlags2::from_raw(u64::from(body.dst_stage_mask)),
        src_access_mask: vk::AccessFlags2::from_raw(u64::from(body.src_access_mask)),
        dst_access_mask: vk::AccessFlags2::from_raw(u64::from(body.dst_access_mask)),
        dependency_flags: vk::DependencyFlags::from_raw(body.dependency_flags),
        view_offset: body.view_offset.unwrap_or(0),
    };
    match &body.p_next[..] {
        // Its masks replace those of the dependency.
        [Link::MemoryBarrier(b)] => {
            dependency.src_stage_mask = vk::PipelineStageFlags2::from_raw(b.src_stage_mask);
            dependency.dst_stage_mask = vk::PipelineStageFlags2::from_raw(b.dst_stage_mask);
            dependency.src_access_mask = vk::AccessFlags2::from_raw(b.src_access_mask);
            dependency.dst_access_mask = vk::AccessFlags2::from_raw(b.dst_access_mask);
        }
        chain => no_chain(chain)?,
    }
    Ok(dependency)
}
