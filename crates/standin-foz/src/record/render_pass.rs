//! Render passes: as version 1 where it can say all, as version 2 otherwise.

use super::number;
use crate::json::chain::{
    AttachmentStencilLayout, CreationControl, DensityMap, DepthStencilResolve, Extent, Link,
    MemoryBarrier, ReferenceStencilLayout, ShadingRateAttachment, SingleSampled,
};
use crate::json::render_pass::{
    AttachmentBody, DependencyBody, PassVersion, ReferenceBody, RenderPassBody, SubpassBody,
};
use crate::recipes::render_pass::whole_aspects;
use standin_recipe::RenderPassRecipe;
use standin_recipe::render_pass::{
    AttachmentDescription, AttachmentReference, Subpass, SubpassDependency,
};

pub(super) fn render_pass(recipe: &RenderPassRecipe) -> (PassVersion, RenderPassBody) {
    let version = if is_version_1(recipe) {
        PassVersion::One
    } else {
        PassVersion::Two
    };
    let mut chain = Vec::new();
    if let Some(map) = &recipe.fragment_density_map {
        let map = reference(map, PassVersion::One);
        chain.push(Link::DensityMap(DensityMap {
            fragment_density_map_attachment: Box::new(map),
        }));
    }
    chain.extend(recipe.disallow_merging.then(disallow_merging));
    let body = RenderPassBody {
        flags: recipe.flags.as_raw(),
        dependencies: recipe
            .dependencies
            .iter()
            .map(|d| dependency(d, version))
            .collect(),
        attachments: recipe.attachments.iter().map(attachment).collect(),
        subpasses: recipe
            .subpasses
            .iter()
            .map(|s| subpass(s, version))
            .collect(),
        correlated_view_masks: recipe.correlated_view_masks.clone(),
        p_next: chain,
    };
    (version, body)
}

fn disallow_merging() -> Link {
    Link::CreationControl(CreationControl {
        disallow_merging: 1,
    })
}

/// Whether version 1 without chained structs says the same.
fn is_version_1(recipe: &RenderPassRecipe) -> bool {
    let plain = |reference: &AttachmentReference| reference.stencil_layout.is_none();
    let narrow = |d: &SubpassDependency| {
        d.view_offset == 0
            && [d.src_stage_mask.as_raw(), d.dst_stage_mask.as_raw()]
                .into_iter()
                .chain([d.src_access_mask.as_raw(), d.dst_access_mask.as_raw()])
                .all(|mask| u32::try_from(mask).is_ok())
    };
    recipe.correlated_view_masks.is_empty()
        && recipe
            .attachments
            .iter()
            .all(|a| a.stencil_layouts.is_none())
        && recipe.dependencies.iter().all(narrow)
        && recipe.subpasses.iter().all(|s| {
            s.view_mask == 0
                && s.depth_stencil_resolve.is_none()
                && s.shading_rate_attachment.is_none()
                && s.single_sampled_rendering.is_none()
                && !s.disallow_merging
                && s.depth_stencil_attachment.iter().all(plain)
                && s.color_attachments.iter().all(plain)
                && s.resolve_attachments.iter().all(plain)
                && s.input_attachments.iter().all(|reference| {
                    let whole = whole_aspects(reference.attachment, &recipe.attachments);
                    plain(reference) && reference.aspect_mask == whole
                })
        })
}

fn attachment(a: &AttachmentDescription) -> AttachmentBody {
    let chain = a.stencil_layouts.map(|[initial, last]| {
        Link::AttachmentStencilLayout(AttachmentStencilLayout {
            stencil_initial_layout: number(initial.as_raw()),
            stencil_final_layout: number(last.as_raw()),
        })
    });
    AttachmentBody {
        flags: a.flags.as_raw(),
        format: number(a.format.as_raw()),
        final_layout: number(a.final_layout.as_raw()),
        initial_layout: number(a.initial_layout.as_raw()),
        load_op: number(a.load_op.as_raw()),
        store_op: number(a.store_op.as_raw()),
        samples: a.samples.as_raw(),
        stencil_load_op: number(a.stencil_load_op.as_raw()),
        stencil_store_op: number(a.stencil_store_op.as_raw()),
        p_next: chain.into_iter().collect(),
    }
}

fn reference(r: &AttachmentReference, version: PassVersion) -> ReferenceBody {
    let chain = r.stencil_layout.map(|layout| {
        Link::ReferenceStencilLayout(ReferenceStencilLayout {
            stencil_layout: number(layout.as_raw()),
        })
    });
    ReferenceBody {
        attachment: r.attachment,
        layout: number(r.layout.as_raw()),
        aspect_mask: (version == PassVersion::Two).then_some(r.aspect_mask.as_raw()),
        p_next: chain.into_iter().collect(),
    }
}

fn subpass(s: &Subpass, version: PassVersion) -> SubpassBody {
    let references = |list: &[AttachmentReference]| -> Vec<_> {
        list.iter().map(|r| reference(r, version)).collect()
    };
    let boxed = |r: &Option<AttachmentReference>| {
        r.as_ref().map(|r| Box::new(reference(r, PassVersion::Two)))
    };
    let mut chain = Vec::new();
    if let Some(resolve) = &s.depth_stencil_resolve {
        chain.push(Link::DepthStencilResolve(DepthStencilResolve {
            depth_resolve_mode: resolve.depth_mode.as_raw(),
            stencil_resolve_mode: resolve.stencil_mode.as_raw(),
            depth_stencil_resolve_attachment: boxed(&resolve.attachment),
        }));
    }
    if let Some(rate) = &s.shading_rate_attachment {
        let [width, height] = rate.texel_size;
        chain.push(Link::ShadingRateAttachment(ShadingRateAttachment {
            shading_rate_attachment_texel_size: Extent { width, height },
            fragment_shading_rate_attachment: boxed(&rate.attachment),
        }));
    }
    if let Some(single) = &s.single_sampled_rendering {
        chain.push(Link::SingleSampled(SingleSampled {
            multisampled_render_to_single_sampled_enable: u32::from(single.enable),
            rasterization_samples: single.samples.as_raw(),
        }));
    }
    chain.extend(s.disallow_merging.then(disallow_merging));
    SubpassBody {
        flags: s.flags.as_raw(),
        pipeline_bind_point: number(s.bind_point.as_raw()),
        view_mask: (version == PassVersion::Two).then_some(s.view_mask),
        preserve_attachments: s.preserve_attachments.clone(),
        input_attachments: references(&s.input_attachments),
        color_attachments: references(&s.color_attachments),
        resolve_attachments: references(&s.resolve_attachments),
        depth_stencil_attachment: s
            .depth_stencil_attachment
            .as_ref()
            .map(|r| reference(r, version)),
        p_next: chain,
    }
}

/// Masks of 64 bits are in a chained struct, which replaces the masks of 32 bits.
fn dependency(d: &SubpassDependency, version: PassVersion) -> DependencyBody {
    let masks = [
        d.src_stage_mask.as_raw(),
        d.src_access_mask.as_raw(),
        d.dst_stage_mask.as_raw(),
        d.dst_access_mask.as_raw(),
    ];
    let wide = masks.iter().any(|&mask| u32::try_from(mask).is_err());
    let chain = wide.then(|| {
        Link::MemoryBarrier(MemoryBarrier {
            src_stage_mask: masks[0],
            src_access_mask: masks[1],
            dst_stage_mask: masks[2],
            dst_access_mask: masks[3],
        })
    });
    let narrow = masks.map(|mask| if wide { 0 } else { mask as u32 });
    DependencyBody {
        dependency_flags: d.dependency_flags.as_raw(),
        src_stage_mask: narrow[0],
        src_access_mask: narrow[1],
        dst_stage_mask: narrow[2],
        dst_access_mask: narrow[3],
        dst_subpass: d.dst_subpass,
        src_subpass: d.src_subpass,
        view_offset: (version == PassVersion::Two).then_some(d.view_offset),
        p_next: chain.into_iter().collect(),
    }
}
