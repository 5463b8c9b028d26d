//! Render passes from recipes.

use crate::decline::{Declined, FormatUse, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{format_properties, need, need_extension};
use crate::objects::{ObjectError, failed};
use ash::vk;
use standin_recipe::render_pass::{
    AttachmentDescription, AttachmentReference, RenderPassRecipe, Subpass,
};
use std::ffi::c_void;
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

/// Structures that are pointed to by others and must stay where they are until the call.
#[derive(Default)]
struct Chained {
    attachment_stencil: Vec<Box<vk::AttachmentDescriptionStencilLayout<'static>>>,
    reference_stencil: Vec<Box<vk::AttachmentReferenceStencilLayout<'static>>>,
    references: Vec<Box<[vk::AttachmentReference2<'static>]>>,
    resolves: Vec<Box<vk::SubpassDescriptionDepthStencilResolve<'static>>>,
    rates: Vec<Box<vk::FragmentShadingRateAttachmentInfoKHR<'static>>>,
    single: Vec<Box<vk::MultisampledRenderToSingleSampledInfoEXT<'static>>>,
    barriers: Vec<Box<vk::MemoryBarrier2<'static>>>,
}

/// Moves a value to the heap and gives its address.
fn keep<T>(list: &mut Vec<Box<T>>, value: T) -> *const T {
    list.push(Box::new(value));
    list.last()
        .map_or(std::ptr::null(), |kept| &raw const **kept)
}

impl Chained {
    fn reference(&mut self, given: &AttachmentReference) -> vk::AttachmentReference2<'static> {
        let mut reference = vk::AttachmentReference2::default()
            .attachment(given.attachment)
            .layout(given.layout)
            .aspect_mask(given.aspect_mask);
        if let Some(layout) = given.stencil_layout {
            reference.p_next = keep(
                &mut self.reference_stencil,
                vk::AttachmentReferenceStencilLayout::default().stencil_layout(layout),
            )
            .cast();
        }
        reference
    }

    fn references(
        &mut self,
        given: &[AttachmentReference],
    ) -> *const vk::AttachmentReference2<'static> {
        let list = given.iter().map(|one| self.reference(one)).collect();
        self.references.push(list);
        self.references
            .last()
            .map_or(std::ptr::null(), |list| list.as_ptr())
    }

    fn one(&mut self, given: &AttachmentReference) -> *const vk::AttachmentReference2<'static> {
        self.references(std::slice::from_ref(given))
    }
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
    let mut chained = Chained::default();
    let mut attachments = Vec::with_capacity(recipe.attachments.len());
    for attachment in &recipe.attachments {
        attachments.push(describe(device, attachment, &mut chained)?);
    }
    let mut subpasses = Vec::with_capacity(recipe.subpasses.len());
    for subpass in &recipe.subpasses {
        check_subpass(device, recipe, subpass)?;
        subpasses.push(describe_subpass(subpass, &mut chained));
    }
    let count = recipe.subpasses.len();
    let mut dependencies = Vec::with_capacity(recipe.dependencies.len());
    for given in &recipe.dependencies {
        for end in [given.src_subpass, given.dst_subpass] {
            if end != vk::SUBPASS_EXTERNAL && end as usize >= count {
                return Err(
                    Declined::invalid("a dependency of a subpass that is not there").into(),
                );
            }
        }
        let mut info = vk::SubpassDependency2::default()
            .src_subpass(given.src_subpass)
            .dst_subpass(given.dst_subpass)
            .dependency_flags(given.dependency_flags)
            .view_offset(given.view_offset);
        let masks = [
            given.src_stage_mask.as_raw(),
            given.dst_stage_mask.as_raw(),
            given.src_access_mask.as_raw(),
            given.dst_access_mask.as_raw(),
        ];
        // Stages of 0 mean none, which only the newer barrier can say.
        let plain: Option<Vec<u32>> = masks.iter().map(|&m| u32::try_from(m).ok()).collect();
        match plain.as_deref() {
            Some(&[src_stage, dst_stage, src_access, dst_access])
                if src_stage != 0 && dst_stage != 0 =>
            {
                info.src_stage_mask = vk::PipelineStageFlags::from_raw(src_stage);
                info.dst_stage_mask = vk::PipelineStageFlags::from_raw(dst_stage);
                info.src_access_mask = vk::AccessFlags::from_raw(src_access);
                info.dst_access_mask = vk::AccessFlags::from_raw(dst_access);
            }
            _ => {
                need(device, &[F::Synchronization2])?;
                info.p_next = keep(
                    &mut chained.barriers,
                    vk::MemoryBarrier2::default()
                        .src_stage_mask(given.src_stage_mask)
                        .dst_stage_mask(given.dst_stage_mask)
                        .src_access_mask(given.src_access_mask)
                        .dst_access_mask(given.dst_access_mask),
                )
                .cast();
            }
        }
        dependencies.push(info);
    }
    let info = vk::RenderPassCreateInfo2::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies)
        .correlated_view_masks(&recipe.correlated_view_masks);
    // SAFETY: every index was checked, and what is pointed to lives in `chained` and in the lists
    // above until the call returns.
    let made = unsafe { device.raw().create_render_pass2(&info, None) }
        .map_err(failed("vkCreateRenderPass2"));
    drop(chained);
    made
}

fn describe(
    device: &Device,
    given: &AttachmentDescription,
    chained: &mut Chained,
) -> Result<vk::AttachmentDescription2<'static>, Declined> {
    let usage = if has_depth(given.format) || has_stencil(given.format) {
        FormatUse::DepthStencil
    } else {
        FormatUse::Input
    };
    need_format(device, given.format, usage)?;
    need_samples(device, given.samples)?;
    let mut info = vk::AttachmentDescription2::default()
        .flags(given.flags)
        .format(given.format)
        .samples(given.samples)
        .load_op(load(device, given.load_op)?)
        .store_op(store(device, given.store_op)?)
        .stencil_load_op(load(device, given.stencil_load_op)?)
        .stencil_store_op(store(device, given.stencil_store_op)?)
        .initial_layout(given.initial_layout)
        .final_layout(given.final_layout);
    if let Some([initial, last]) = given.stencil_layouts {
        need(device, &[F::SeparateDepthStencilLayouts])?;
        let layouts = vk::AttachmentDescriptionStencilLayout::default()
            .stencil_initial_layout(initial)
            .stencil_final_layout(last);
        info.p_next = keep(&mut chained.attachment_stencil, layouts)
            .cast::<c_void>()
            .cast_mut();
    }
    Ok(info)
}

fn load(device: &Device, op: vk::AttachmentLoadOp) -> Result<vk::AttachmentLoadOp, Declined> {
    match op.as_raw() {
        0..=2 => {}
        1_000_400_000 => need_extension(device, ash::khr::load_store_op_none::NAME)
            .or_else(|_| need_extension(device, ash::ext::load_store_op_none::NAME))?,
        _ => return Err(Declined::unknown("load operation", op)),
    }
    Ok(op)
}

fn store(device: &Device, op: vk::AttachmentStoreOp) -> Result<vk::AttachmentStoreOp, Declined> {
    match op.as_raw() {
        0..=1 => {}
        1_000_301_000 => need(device, &[F::DynamicRendering])
            .or_else(|_| need_extension(device, ash::khr::load_store_op_none::NAME))
            .or_else(|_| need_extension(device, ash::ext::load_store_op_none::NAME))?,
        _ => return Err(Declined::unknown("store operation", op)),
    }
    Ok(op)
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

fn describe_subpass(given: &Subpass, chained: &mut Chained) -> vk::SubpassDescription2<'static> {
    let count = |list: &[_]| u32::try_from(list.len()).unwrap_or(u32::MAX);
    let mut info = vk::SubpassDescription2::default()
        .flags(given.flags)
        .pipeline_bind_point(given.bind_point)
        .view_mask(given.view_mask);
    info.input_attachment_count = count(&given.input_attachments);
    info.p_input_attachments = chained.references(&given.input_attachments);
    info.color_attachment_count = count(&given.color_attachments);
    info.p_color_attachments = chained.references(&given.color_attachments);
    if !given.resolve_attachments.is_empty() {
        info.p_resolve_attachments = chained.references(&given.resolve_attachments);
    }
    if let Some(reference) = &given.depth_stencil_attachment {
        info.p_depth_stencil_attachment = chained.one(reference);
    }
    info.preserve_attachment_count =
        u32::try_from(given.preserve_attachments.len()).unwrap_or(u32::MAX);
    info.p_preserve_attachments = given.preserve_attachments.as_ptr();
    let mut next: *const c_void = std::ptr::null();
    if let Some(resolve) = &given.depth_stencil_resolve {
        let mut link = vk::SubpassDescriptionDepthStencilResolve::default()
            .depth_resolve_mode(resolve.depth_mode)
            .stencil_resolve_mode(resolve.stencil_mode);
        if let Some(reference) = &resolve.attachment {
            link.p_depth_stencil_resolve_attachment = chained.one(reference);
        }
        link.p_next = next;
        next = keep(&mut chained.resolves, link).cast();
    }
    if let Some(rate) = &given.shading_rate_attachment {
        let mut link = vk::FragmentShadingRateAttachmentInfoKHR::default()
            .shading_rate_attachment_texel_size(vk::Extent2D {
                width: rate.texel_size[0],
                height: rate.texel_size[1],
            });
        if let Some(reference) = &rate.attachment {
            link.p_fragment_shading_rate_attachment = chained.one(reference);
        }
        link.p_next = next;
        next = keep(&mut chained.rates, link).cast();
    }
    if let Some(single) = &given.single_sampled_rendering
        && single.enable
    {
        let mut link = vk::MultisampledRenderToSingleSampledInfoEXT::default()
            .multisampled_render_to_single_sampled_enable(true)
            .rasterization_samples(single.samples);
        link.p_next = next;
        next = keep(&mut chained.single, link).cast();
    }
    info.p_next = next;
    info
}
