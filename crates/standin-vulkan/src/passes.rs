//! Render passes from recipes.

use crate::decline::{Declined, FormatUse, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{format_properties, need, need_extension};
use crate::objects::{ObjectError, failed};
use ash::vk;
use standin_recipe::create_info::RenderPassCreateInfo;
use standin_recipe::render_pass::{
    AttachmentDescription, AttachmentReference, RenderPassRecipe, Subpass, SubpassDependency,
};
use vk::FormatFeatureFlags as Can;

/// The format can be used so.
pub(crate) fn need_format(
    device: &Device,
    format: vk::Format,
    usage: FormatUse,
) -> Result<(), Declined> {
    let properties = format_properties(device, format);
    let optimal = properties.optimal_tiling_features;
    let can = match usage {
        FormatUse::Vertex => properties.buffer_features.contains(Can::VERTEX_BUFFER),
        FormatUse::Color => optimal.contains(Can::COLOR_ATTACHMENT),
        FormatUse::Blend => optimal.contains(Can::COLOR_ATTACHMENT_BLEND),
        FormatUse::DepthStencil => optimal.contains(Can::DEPTH_STENCIL_ATTACHMENT),
        FormatUse::Input => {
            optimal.intersects(Can::COLOR_ATTACHMENT | Can::DEPTH_STENCIL_ATTACHMENT)
        }
        FormatUse::Ycbcr => {
            optimal.intersects(Can::MIDPOINT_CHROMA_SAMPLES | Can::COSITED_CHROMA_SAMPLES)
        }
    };
    if can {
        Ok(())
    } else {
        Err(Declined::Format { format, usage })
    }
}

/// The sample count is one that some attachment can have.
pub(crate) fn need_samples(device: &Device, samples: vk::SampleCountFlags) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    let most = limits.framebuffer_color_sample_counts
        | limits.framebuffer_depth_sample_counts
        | limits.framebuffer_stencil_sample_counts
        | limits.framebuffer_no_attachments_sample_counts;
    if samples.as_raw().is_power_of_two() && most.contains(samples) {
        Ok(())
    } else {
        Err(Declined::Samples(samples))
    }
}

pub(crate) fn has_depth(format: vk::Format) -> bool {
    use vk::Format as X;
    matches!(
        format,
        X::D16_UNORM
            | X::X8_D24_UNORM_PACK32
            | X::D32_SFLOAT
            | X::D16_UNORM_S8_UINT
            | X::D24_UNORM_S8_UINT
            | X::D32_SFLOAT_S8_UINT
    )
}

pub(crate) fn has_stencil(format: vk::Format) -> bool {
    use vk::Format as X;
    matches!(
        format,
        X::S8_UINT | X::D16_UNORM_S8_UINT | X::D24_UNORM_S8_UINT | X::D32_SFLOAT_S8_UINT
    )
}

pub(crate) fn render_pass(
    device: &Device,
    recipe: &RenderPassRecipe,
) -> Result<vk::RenderPass, ObjectError> {
    if recipe.fragment_density_map.is_some() {
        return Err(Declined::Extension("VK_EXT_fragment_density_map".into()).into());
    }
    if recipe.disallow_merging || recipe.subpasses.iter().any(|s| s.disallow_merging) {
        return Err(Declined::Extension("VK_EXT_subpass_merge_feedback".into()).into());
    }
    if !recipe.flags.is_empty() {
        return Err(Declined::unknown("render pass flag", recipe.flags).into());
    }
    if recipe.subpasses.is_empty() {
        return Err(Declined::invalid("a render pass has no subpass").into());
    }
    for attachment in &recipe.attachments {
        check_attachment(device, attachment)?;
    }
    for subpass in &recipe.subpasses {
        check_subpass(device, recipe, subpass)?;
    }
    for dependency in &recipe.dependencies {
        check_dependency(device, recipe, dependency)?;
    }
    let complete = with_input_aspects(recipe);
    let owned = RenderPassCreateInfo::new(complete.as_ref().unwrap_or(recipe));
    // SAFETY: every index, format and operation was checked, and what the create-info points to
    // lives in `owned`.
    unsafe { device.raw().create_render_pass2(&owned.info(), None) }
        .map_err(failed("vkCreateRenderPass2"))
}

/// The recipe with the aspects of its input attachments, if one lacks them: a render pass of version 1
/// need not name any and then means all that the format has, while version 2 must name them.
fn with_input_aspects(recipe: &RenderPassRecipe) -> Option<RenderPassRecipe> {
    let lacks = |reference: &AttachmentReference| {
        reference.attachment != vk::ATTACHMENT_UNUSED && reference.aspect_mask.is_empty()
    };
    let any = recipe
        .subpasses
        .iter()
        .flat_map(|subpass| &subpass.input_attachments)
        .any(lacks);
    any.then(|| {
        let mut complete = recipe.clone();
        for subpass in &mut complete.subpasses {
            for reference in subpass.input_attachments.iter_mut().filter(|r| lacks(r)) {
                if let Some(attachment) = recipe.attachments.get(reference.attachment as usize) {
                    reference.aspect_mask = aspects(attachment.format);
                }
            }
        }
        complete
    })
}

fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    let mut aspects = vk::ImageAspectFlags::empty();
    if has_depth(format) {
        aspects |= vk::ImageAspectFlags::DEPTH;
    }
    if has_stencil(format) {
        aspects |= vk::ImageAspectFlags::STENCIL;
    }
    if aspects.is_empty() {
        aspects = vk::ImageAspectFlags::COLOR;
    }
    aspects
}

fn check_dependency(
    device: &Device,
    pass: &RenderPassRecipe,
    dependency: &SubpassDependency,
) -> Result<(), Declined> {
    for end in [dependency.src_subpass, dependency.dst_subpass] {
        if end != vk::SUBPASS_EXTERNAL && end as usize >= pass.subpasses.len() {
            return Err(Declined::invalid(
                "a dependency of a subpass that is not there",
            ));
        }
    }
    // Wide masks and stages of 0 are what only the newer barrier can say.
    let stages = [
        dependency.src_stage_mask.as_raw(),
        dependency.dst_stage_mask.as_raw(),
    ];
    let accesses = [
        dependency.src_access_mask.as_raw(),
        dependency.dst_access_mask.as_raw(),
    ];
    let is_wide = |mask: &u64| u32::try_from(*mask).is_err();
    if stages.contains(&0) || stages.iter().chain(&accesses).any(is_wide) {
        need(device, &[F::Synchronization2])?;
    }
    Ok(())
}

fn check_attachment(device: &Device, given: &AttachmentDescription) -> Result<(), Declined> {
    let usage = if has_depth(given.format) || has_stencil(given.format) {
        FormatUse::DepthStencil
    } else {
        FormatUse::Input
    };
    need_format(device, given.format, usage)?;
    need_samples(device, given.samples)?;
    load(device, given.load_op)?;
    store(device, given.store_op)?;
    load(device, given.stencil_load_op)?;
    store(device, given.stencil_store_op)?;
    if given.stencil_layouts.is_some() {
        need(device, &[F::SeparateDepthStencilLayouts])?;
    }
    Ok(())
}

fn load(device: &Device, op: vk::AttachmentLoadOp) -> Result<(), Declined> {
    match op.as_raw() {
        0..=2 => {}
        1_000_400_000 => need_extension(device, ash::khr::load_store_op_none::NAME)
            .or_else(|_| need_extension(device, ash::ext::load_store_op_none::NAME))?,
        _ => return Err(Declined::unknown("load operation", op)),
    }
    Ok(())
}

fn store(device: &Device, op: vk::AttachmentStoreOp) -> Result<(), Declined> {
    match op.as_raw() {
        0..=1 => {}
        1_000_301_000 => need(device, &[F::DynamicRendering])
            .or_else(|_| need_extension(device, ash::khr::load_store_op_none::NAME))
            .or_else(|_| need_extension(device, ash::ext::load_store_op_none::NAME))?,
        _ => return Err(Declined::unknown("store operation", op)),
    }
    Ok(())
}

fn check_subpass(
    device: &Device,
    pass: &RenderPassRecipe,
    subpass: &Subpass,
) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    limit(
        "maxColorAttachments",
        subpass.color_attachments.len(),
        limits.max_color_attachments,
    )?;
    if !subpass.flags.is_empty() {
        let order = vk::SubpassDescriptionFlags::RASTERIZATION_ORDER_ATTACHMENT_COLOR_ACCESS_EXT
            | vk::SubpassDescriptionFlags::RASTERIZATION_ORDER_ATTACHMENT_DEPTH_ACCESS_EXT
            | vk::SubpassDescriptionFlags::RASTERIZATION_ORDER_ATTACHMENT_STENCIL_ACCESS_EXT;
        if !(subpass.flags & !order).is_empty() {
            return Err(Declined::unknown("subpass flag", subpass.flags));
        }
        need(device, &[F::RasterizationOrderColorAttachmentAccess])?;
    }
    if subpass.view_mask != 0 {
        need(device, &[F::Multiview])?;
        limit(
            "maxMultiviewViewCount",
            32 - subpass.view_mask.leading_zeros(),
            device.capabilities().max_multiview_view_count,
        )?;
    }
    if !subpass.resolve_attachments.is_empty()
        && subpass.resolve_attachments.len() != subpass.color_attachments.len()
    {
        return Err(Declined::invalid(
            "a subpass has not as many resolve as colour attachments",
        ));
    }
    let of = |reference: &AttachmentReference| -> Result<Option<vk::Format>, Declined> {
        if reference.attachment == vk::ATTACHMENT_UNUSED {
            return Ok(None);
        }
        if reference.stencil_layout.is_some() {
            need(device, &[F::SeparateDepthStencilLayouts])?;
        }
        pass.attachments
            .get(reference.attachment as usize)
            .map(|attachment| Some(attachment.format))
            .ok_or_else(|| Declined::invalid("a subpass uses an attachment that is not there"))
    };
    for reference in subpass
        .color_attachments
        .iter()
        .chain(&subpass.resolve_attachments)
    {
        if let Some(format) = of(reference)? {
            need_format(device, format, FormatUse::Color)?;
        }
    }
    for reference in &subpass.input_attachments {
        of(reference)?;
    }
    if let Some(reference) = &subpass.depth_stencil_attachment
        && let Some(format) = of(reference)?
    {
        need_format(device, format, FormatUse::DepthStencil)?;
    }
    if subpass
        .preserve_attachments
        .iter()
        .any(|&index| index as usize >= pass.attachments.len())
    {
        return Err(Declined::invalid(
            "a subpass keeps an attachment that is not there",
        ));
    }
    if let Some(resolve) = &subpass.depth_stencil_resolve {
        if let Some(reference) = &resolve.attachment {
            of(reference)?;
        }
        let capabilities = device.capabilities();
        for (mode, supported) in [
            (resolve.depth_mode, capabilities.depth_resolve_modes),
            (resolve.stencil_mode, capabilities.stencil_resolve_modes),
        ] {
            if !supported.contains(mode) {
                return Err(Declined::unknown("resolve mode", mode));
            }
        }
    }
    if let Some(rate) = &subpass.shading_rate_attachment {
        need(device, &[F::AttachmentFragmentShadingRate])?;
        if let Some(reference) = &rate.attachment {
            of(reference)?;
        }
    }
    if let Some(single) = &subpass.single_sampled_rendering
        && single.enable
    {
        need(device, &[F::MultisampledRenderToSingleSampled])?;
        need_samples(device, single.samples)?;
    }
    Ok(())
}
