//! Render passes of both versions.

use crate::CaptureError;
use crate::chain::{slice, walk};
use ash::vk;
use standin_recipe::RenderPassRecipe;
use standin_recipe::normal::format_aspects;
use standin_recipe::render_pass::{
    AttachmentDescription, AttachmentReference, DepthStencilResolve, ShadingRateAttachment,
    SingleSampledRendering, Subpass, SubpassDependency,
};

fn index(place: &'static str, index: u32) -> Result<usize, CaptureError> {
    usize::try_from(index).map_err(|_| CaptureError::Index { place, index })
}

fn density_map(info: &vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>) -> AttachmentReference {
    AttachmentReference {
        attachment: info.fragment_density_map_attachment.attachment,
        layout: info.fragment_density_map_attachment.layout,
        ..AttachmentReference::default()
    }
}

/// Captures a render pass of version 1, in the form that version 2 has: input attachments name
/// their aspects.
///
/// # Errors
/// A struct is chained that is not known, or lists do not match.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn render_pass(
    info: &vk::RenderPassCreateInfo<'_>,
) -> Result<RenderPassRecipe, CaptureError> {
    const PLACE: &str = "VkRenderPassCreateInfo";
    // SAFETY: the create-info is valid.
    let (attachments, subpasses, dependencies) = unsafe {
        (
            slice(
                info.p_attachments,
                info.attachment_count,
                "VkRenderPassCreateInfo::pAttachments",
            )?,
            slice(
                info.p_subpasses,
                info.subpass_count,
                "VkRenderPassCreateInfo::pSubpasses",
            )?,
            slice(
                info.p_dependencies,
                info.dependency_count,
                "VkRenderPassCreateInfo::pDependencies",
            )?,
        )
    };
    let mut recipe = RenderPassRecipe {
        flags: info.flags,
        attachments: attachments.iter().map(description).collect(),
        dependencies: dependencies.iter().map(dependency).collect(),
        ..RenderPassRecipe::default()
    };
    for one in subpasses {
        // SAFETY: the create-info is valid.
        let subpass = unsafe { subpass(one, &recipe.attachments) }?;
        recipe.subpasses.push(subpass);
    }
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(chained) = element.get::<vk::RenderPassMultiviewCreateInfo<'_>>() {
                multiview(chained, &mut recipe)?;
            } else if let Some(chained) =
                element.get::<vk::RenderPassInputAttachmentAspectCreateInfo<'_>>()
            {
                aspects(chained, &mut recipe)?;
            } else if let Some(map) =
                element.get::<vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>>()
            {
                recipe.fragment_density_map = Some(density_map(map));
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(recipe)
}

fn description(info: &vk::AttachmentDescription) -> AttachmentDescription {
    AttachmentDescription {
        flags: info.flags,
        format: info.format,
        samples: info.samples,
        load_op: info.load_op,
        store_op: info.store_op,
        stencil_load_op: info.stencil_load_op,
        stencil_store_op: info.stencil_store_op,
        initial_layout: info.initial_layout,
        final_layout: info.final_layout,
        stencil_layouts: None,
    }
}

fn dependency(info: &vk::SubpassDependency) -> SubpassDependency {
    SubpassDependency {
        src_subpass: info.src_subpass,
        dst_subpass: info.dst_subpass,
        src_stage_mask: wide_stages(info.src_stage_mask),
        dst_stage_mask: wide_stages(info.dst_stage_mask),
        src_access_mask: wide_accesses(info.src_access_mask),
        dst_access_mask: wide_accesses(info.dst_access_mask),
        dependency_flags: info.dependency_flags,
        view_offset: 0,
    }
}

fn wide_stages(mask: vk::PipelineStageFlags) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(u64::from(mask.as_raw()))
}

fn wide_accesses(mask: vk::AccessFlags) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(u64::from(mask.as_raw()))
}

fn reference(info: &vk::AttachmentReference) -> AttachmentReference {
    AttachmentReference {
        attachment: info.attachment,
        layout: info.layout,
        ..AttachmentReference::default()
    }
}

/// Without a word about aspects an input attachment has all that its format has.
fn input_reference(
    info: &vk::AttachmentReference,
    attachments: &[AttachmentDescription],
) -> AttachmentReference {
    let format = usize::try_from(info.attachment)
        .ok()
        .and_then(|index| attachments.get(index));
    AttachmentReference {
        aspect_mask: format
            .map(|attachment| format_aspects(attachment.format))
            .unwrap_or_default(),
        ..reference(info)
    }
}

/// # Safety
/// The struct is valid.
unsafe fn subpass(
    info: &vk::SubpassDescription<'_>,
    attachments: &[AttachmentDescription],
) -> Result<Subpass, CaptureError> {
    // SAFETY: the struct is valid; a null resolve or depth attachment means that there is none.
    let (inputs, colors, resolves, depth_stencil, preserved) = unsafe {
        (
            slice(
                info.p_input_attachments,
                info.input_attachment_count,
                "VkSubpassDescription::pInputAttachments",
            )?,
            slice(
                info.p_color_attachments,
                info.color_attachment_count,
                "VkSubpassDescription::pColorAttachments",
            )?,
            if info.p_resolve_attachments.is_null() {
                &[]
            } else {
                slice(
                    info.p_resolve_attachments,
                    info.color_attachment_count,
                    "VkSubpassDescription::pResolveAttachments",
                )?
            },
            info.p_depth_stencil_attachment.as_ref(),
            slice(
                info.p_preserve_attachments,
                info.preserve_attachment_count,
                "VkSubpassDescription::pPreserveAttachments",
            )?,
        )
    };
    Ok(Subpass {
        flags: info.flags,
        bind_point: info.pipeline_bind_point,
        input_attachments: inputs
            .iter()
            .map(|one| input_reference(one, attachments))
            .collect(),
        color_attachments: colors.iter().map(reference).collect(),
        resolve_attachments: resolves.iter().map(reference).collect(),
        depth_stencil_attachment: depth_stencil.map(reference),
        preserve_attachments: preserved.to_vec(),
        ..Subpass::default()
    })
}

fn expect_length(place: &'static str, found: u32, list: usize) -> Result<(), CaptureError> {
    let expected = u32::try_from(list).unwrap_or(u32::MAX);
    if found == 0 || found == expected {
        Ok(())
    } else {
        Err(CaptureError::Length {
            place,
            found,
            expected,
        })
    }
}

/// # Safety
/// The struct is valid.
unsafe fn multiview(
    info: &vk::RenderPassMultiviewCreateInfo<'_>,
    recipe: &mut RenderPassRecipe,
) -> Result<(), CaptureError> {
    const MASKS: &str = "VkRenderPassMultiviewCreateInfo::pViewMasks";
    const OFFSETS: &str = "VkRenderPassMultiviewCreateInfo::pViewOffsets";
    const CORRELATED: &str = "VkRenderPassMultiviewCreateInfo::pCorrelationMasks";
    expect_length(MASKS, info.subpass_count, recipe.subpasses.len())?;
    expect_length(OFFSETS, info.dependency_count, recipe.dependencies.len())?;
    // SAFETY: the struct is valid.
    let (masks, offsets, correlated) = unsafe {
        (
            slice(info.p_view_masks, info.subpass_count, MASKS)?,
            slice(info.p_view_offsets, info.dependency_count, OFFSETS)?,
            slice(
                info.p_correlation_masks,
                info.correlation_mask_count,
                CORRELATED,
            )?,
        )
    };
    for (subpass, mask) in recipe.subpasses.iter_mut().zip(masks) {
        subpass.view_mask = *mask;
    }
    for (dependency, offset) in recipe.dependencies.iter_mut().zip(offsets) {
        dependency.view_offset = *offset;
    }
    recipe.correlated_view_masks = correlated.to_vec();
    Ok(())
}

/// # Safety
/// The struct is valid.
unsafe fn aspects(
    info: &vk::RenderPassInputAttachmentAspectCreateInfo<'_>,
    recipe: &mut RenderPassRecipe,
) -> Result<(), CaptureError> {
    // SAFETY: the struct is valid.
    let references = unsafe {
        slice(
            info.p_aspect_references,
            info.aspect_reference_count,
            "VkRenderPassInputAttachmentAspectCreateInfo::pAspectReferences",
        )
    }?;
    for one in references {
        const SUBPASS: &str = "VkInputAttachmentAspectReference::subpass";
        const INPUT: &str = "VkInputAttachmentAspectReference::inputAttachmentIndex";
        recipe
            .subpasses
            .get_mut(index(SUBPASS, one.subpass)?)
            .ok_or(CaptureError::Index {
                place: SUBPASS,
                index: one.subpass,
            })?
            .input_attachments
            .get_mut(index(INPUT, one.input_attachment_index)?)
            .ok_or(CaptureError::Index {
                place: INPUT,
                index: one.input_attachment_index,
            })?
            .aspect_mask = one.aspect_mask;
    }
    Ok(())
}

/// Captures a render pass of version 2.
///
/// # Errors
/// A struct is chained that is not known, or lists do not match.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn render_pass_2(
    info: &vk::RenderPassCreateInfo2<'_>,
) -> Result<RenderPassRecipe, CaptureError> {
    const PLACE: &str = "VkRenderPassCreateInfo2";
    // SAFETY: the create-info is valid.
    let (attachments, subpasses, dependencies, correlated) = unsafe {
        (
            slice(
                info.p_attachments,
                info.attachment_count,
                "VkRenderPassCreateInfo2::pAttachments",
            )?,
            slice(
                info.p_subpasses,
                info.subpass_count,
                "VkRenderPassCreateInfo2::pSubpasses",
            )?,
            slice(
                info.p_dependencies,
                info.dependency_count,
                "VkRenderPassCreateInfo2::pDependencies",
            )?,
            slice(
                info.p_correlated_view_masks,
                info.correlated_view_mask_count,
                "VkRenderPassCreateInfo2::pCorrelatedViewMasks",
            )?,
        )
    };
    let mut recipe = RenderPassRecipe {
        flags: info.flags,
        correlated_view_masks: correlated.to_vec(),
        ..RenderPassRecipe::default()
    };
    for one in attachments {
        // SAFETY: the create-info is valid.
        recipe.attachments.push(unsafe { description_2(one) }?);
    }
    for one in subpasses {
        // SAFETY: the create-info is valid.
        recipe.subpasses.push(unsafe { subpass_2(one) }?);
    }
    for one in dependencies {
        // SAFETY: the create-info is valid.
        recipe.dependencies.push(unsafe { dependency_2(one) }?);
    }
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(map) = element.get::<vk::RenderPassFragmentDensityMapCreateInfoEXT<'_>>() {
                recipe.fragment_density_map = Some(density_map(map));
            } else if let Some(control) = element.get::<vk::RenderPassCreationControlEXT<'_>>() {
                recipe.disallow_merging = control.disallow_merging != vk::FALSE;
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(recipe)
}

/// # Safety
/// The struct is valid.
unsafe fn description_2(
    info: &vk::AttachmentDescription2<'_>,
) -> Result<AttachmentDescription, CaptureError> {
    let mut stencil_layouts = None;
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, "VkAttachmentDescription2", |element| {
            let chained = element.get::<vk::AttachmentDescriptionStencilLayout<'_>>();
            stencil_layouts = stencil_layouts.or(chained
                .map(|chained| [chained.stencil_initial_layout, chained.stencil_final_layout]));
            Ok(chained.is_some())
        })
    }?;
    Ok(AttachmentDescription {
        flags: info.flags,
        format: info.format,
        samples: info.samples,
        load_op: info.load_op,
        store_op: info.store_op,
        stencil_load_op: info.stencil_load_op,
        stencil_store_op: info.stencil_store_op,
        initial_layout: info.initial_layout,
        final_layout: info.final_layout,
        stencil_layouts,
    })
}

/// # Safety
/// The struct is valid.
unsafe fn reference_2(
    info: &vk::AttachmentReference2<'_>,
    aspect_mask: vk::ImageAspectFlags,
) -> Result<AttachmentReference, CaptureError> {
    let mut stencil_layout = None;
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, "VkAttachmentReference2", |element| {
            let chained = element.get::<vk::AttachmentReferenceStencilLayout<'_>>();
            stencil_layout = stencil_layout.or(chained.map(|chained| chained.stencil_layout));
            Ok(chained.is_some())
        })
    }?;
    Ok(AttachmentReference {
        attachment: info.attachment,
        layout: info.layout,
        aspect_mask,
        stencil_layout,
    })
}

/// # Safety
/// The structs are valid.
unsafe fn references_2(
    list: &[vk::AttachmentReference2<'_>],
) -> Result<Vec<AttachmentReference>, CaptureError> {
    list.iter()
        // SAFETY: the structs are valid.
        .map(|one| unsafe { reference_2(one, vk::ImageAspectFlags::empty()) })
        .collect()
}

/// # Safety
/// The pointer is null or to a valid struct.
unsafe fn optional_reference_2(
    one: *const vk::AttachmentReference2<'_>,
) -> Result<Option<AttachmentReference>, CaptureError> {
    // SAFETY: the pointer is null or to a valid struct.
    unsafe {
        one.as_ref()
            .map(|one| reference_2(one, vk::ImageAspectFlags::empty()))
            .transpose()
    }
}

/// # Safety
/// The struct is valid.
unsafe fn subpass_2(info: &vk::SubpassDescription2<'_>) -> Result<Subpass, CaptureError> {
    // SAFETY: the struct is valid; a null resolve or depth attachment means that there is none.
    let mut subpass = unsafe {
        let inputs = slice(
            info.p_input_attachments,
            info.input_attachment_count,
            "VkSubpassDescription2::pInputAttachments",
        )?;
        let colors = slice(
            info.p_color_attachments,
            info.color_attachment_count,
            "VkSubpassDescription2::pColorAttachments",
        )?;
        let resolves = if info.p_resolve_attachments.is_null() {
            &[]
        } else {
            slice(
                info.p_resolve_attachments,
                info.color_attachment_count,
                "VkSubpassDescription2::pResolveAttachments",
            )?
        };
        Subpass {
            flags: info.flags,
            bind_point: info.pipeline_bind_point,
            view_mask: info.view_mask,
            input_attachments: inputs
                .iter()
                .map(|one| reference_2(one, one.aspect_mask))
                .collect::<Result<_, _>>()?,
            color_attachments: references_2(colors)?,
            resolve_attachments: references_2(resolves)?,
            depth_stencil_attachment: optional_reference_2(info.p_depth_stencil_attachment)?,
            preserve_attachments: slice(
                info.p_preserve_attachments,
                info.preserve_attachment_count,
                "VkSubpassDescription2::pPreserveAttachments",
            )?
            .to_vec(),
            ..Subpass::default()
        }
    };
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, "VkSubpassDescription2", |element| {
            if let Some(resolve) = element.get::<vk::SubpassDescriptionDepthStencilResolve<'_>>() {
                subpass.depth_stencil_resolve = Some(DepthStencilResolve {
                    depth_mode: resolve.depth_resolve_mode,
                    stencil_mode: resolve.stencil_resolve_mode,
                    attachment: optional_reference_2(resolve.p_depth_stencil_resolve_attachment)?,
                });
            } else if let Some(rate) = element.get::<vk::FragmentShadingRateAttachmentInfoKHR<'_>>()
            {
                let size = rate.shading_rate_attachment_texel_size;
                subpass.shading_rate_attachment = Some(ShadingRateAttachment {
                    attachment: optional_reference_2(rate.p_fragment_shading_rate_attachment)?,
                    texel_size: [size.width, size.height],
                });
            } else if let Some(rendering) =
                element.get::<vk::MultisampledRenderToSingleSampledInfoEXT<'_>>()
            {
                subpass.single_sampled_rendering = Some(SingleSampledRendering {
                    enable: rendering.multisampled_render_to_single_sampled_enable != vk::FALSE,
                    samples: rendering.rasterization_samples,
                });
            } else if let Some(control) = element.get::<vk::RenderPassCreationControlEXT<'_>>() {
                subpass.disallow_merging = control.disallow_merging != vk::FALSE;
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(subpass)
}

/// # Safety
/// The struct is valid.
unsafe fn dependency_2(
    info: &vk::SubpassDependency2<'_>,
) -> Result<SubpassDependency, CaptureError> {
    let mut dependency = SubpassDependency {
        src_subpass: info.src_subpass,
        dst_subpass: info.dst_subpass,
        src_stage_mask: wide_stages(info.src_stage_mask),
        dst_stage_mask: wide_stages(info.dst_stage_mask),
        src_access_mask: wide_accesses(info.src_access_mask),
        dst_access_mask: wide_accesses(info.dst_access_mask),
        dependency_flags: info.dependency_flags,
        view_offset: info.view_offset,
    };
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, "VkSubpassDependency2", |element| {
            let Some(barrier) = element.get::<vk::MemoryBarrier2<'_>>() else {
                return Ok(false);
            };
            dependency.src_stage_mask = barrier.src_stage_mask;
            dependency.dst_stage_mask = barrier.dst_stage_mask;
            dependency.src_access_mask = barrier.src_access_mask;
            dependency.dst_access_mask = barrier.dst_access_mask;
            Ok(true)
        })
    }?;
    Ok(dependency)
}
