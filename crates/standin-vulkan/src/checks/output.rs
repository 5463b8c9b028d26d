//! Attachments and blending.

use crate::decline::{Declined, FormatUse, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{need, need_extension};
use crate::passes::{has_depth, has_stencil, need_format};
use ash::vk;
use ash::vk::DynamicState as D;
use standin_recipe::GraphicsRecipe;
use standin_recipe::output::{ColorBlendState, Target};

/// The formats that a pipeline writes.
pub(super) struct Formats {
    pub(super) colors: Vec<vk::Format>,
    pub(super) depth_stencil: bool,
}

pub(super) fn target(device: &Device, recipe: &GraphicsRecipe) -> Result<Formats, Declined> {
    let limits = &device.capabilities().limits;
    match &recipe.target {
        Target::RenderPass { pass, subpass } => {
            let subpass = pass
                .subpasses
                .get(*subpass as usize)
                .ok_or_else(|| Declined::invalid("a subpass that is not there"))?;
            // The pass itself is checked when it is made.
            let format = |attachment: u32| {
                pass.attachments
                    .get(attachment as usize)
                    .map_or(vk::Format::UNDEFINED, |a| a.format)
            };
            Ok(Formats {
                colors: subpass
                    .color_attachments
                    .iter()
                    .map(|reference| format(reference.attachment))
                    .collect(),
                depth_stencil: subpass
                    .depth_stencil_attachment
                    .as_ref()
                    .is_some_and(|r| r.attachment != vk::ATTACHMENT_UNUSED),
            })
        }
        Target::Rendering(formats) => {
            need(device, &[F::DynamicRendering])?;
            if formats.view_mask != 0 {
                need(device, &[F::Multiview])?;
                limit(
                    "maxMultiviewViewCount",
                    32 - formats.view_mask.leading_zeros(),
                    device.capabilities().max_multiview_view_count,
                )?;
            }
            limit(
                "maxColorAttachments",
                formats.color.len(),
                limits.max_color_attachments,
            )?;
            for &format in &formats.color {
                if format != vk::Format::UNDEFINED {
                    need_format(device, format, FormatUse::Color)?;
                }
            }
            if formats.depth != vk::Format::UNDEFINED {
                need_format(device, formats.depth, FormatUse::DepthStencil)?;
                if !has_depth(formats.depth) {
                    return Err(Declined::invalid("a depth attachment without depth"));
                }
            }
            if formats.stencil != vk::Format::UNDEFINED {
                need_format(device, formats.stencil, FormatUse::DepthStencil)?;
                if !has_stencil(formats.stencil) {
                    return Err(Declined::invalid("a stencil attachment without stencil"));
                }
            }
            Ok(Formats {
                colors: formats.color.clone(),
                depth_stencil: formats.depth != vk::Format::UNDEFINED
                    || formats.stencil != vk::Format::UNDEFINED,
            })
        }
    }
}

pub(super) fn color_blend(
    device: &Device,
    state: &ColorBlendState,
    formats: &Formats,
    dynamic: &impl Fn(D) -> bool,
) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    if !state.flags.is_empty() {
        need(device, &[F::RasterizationOrderColorAttachmentAccess])?;
    }
    if state.logic_op_enable && !dynamic(D::LOGIC_OP_ENABLE_EXT) {
        need(device, &[F::LogicOp])?;
    }
    limit(
        "maxColorAttachments",
        state.attachments.count(),
        limits.max_color_attachments,
    )?;
    let all_dynamic = dynamic(D::COLOR_BLEND_ENABLE_EXT)
        && dynamic(D::COLOR_BLEND_EQUATION_EXT)
        && dynamic(D::COLOR_WRITE_MASK_EXT);
    if !all_dynamic && state.attachments.count() as usize != formats.colors.len() {
        return Err(Declined::invalid(
            "not as many blend states as colour attachments",
        ));
    }
    if let Some(attachments) = state.attachments.values() {
        if attachments.windows(2).any(|pair| pair[0] != pair[1]) && !all_dynamic {
            need(device, &[F::IndependentBlend])?;
        }
        for (index, attachment) in attachments.iter().enumerate() {
            if !attachment.blend_enable || dynamic(D::COLOR_BLEND_ENABLE_EXT) {
                continue;
            }
            if let Some(&format) = formats.colors.get(index)
                && format != vk::Format::UNDEFINED
            {
                need_format(device, format, FormatUse::Blend)?;
            }
            if dynamic(D::COLOR_BLEND_EQUATION_EXT) {
                continue;
            }
            for factor in [
                attachment.src_color,
                attachment.dst_color,
                attachment.src_alpha,
                attachment.dst_alpha,
            ] {
                match factor.as_raw() {
                    0..=14 => {}
                    15..=18 => need(device, &[F::DualSrcBlend])?,
                    _ => return Err(Declined::unknown("blend factor", factor)),
                }
            }
            for op in [attachment.color_op, attachment.alpha_op] {
                if !(0..=4).contains(&op.as_raw()) {
                    need_extension(device, ash::ext::blend_operation_advanced::NAME)?;
                }
            }
        }
    } else if !all_dynamic && state.attachments.count() != 0 {
        return Err(Declined::invalid("blend states without values"));
    }
    if let Some(enables) = &state.color_write_enables {
        need(device, &[F::ColorWriteEnable])?;
        if enables.values().is_none() && !dynamic(D::COLOR_WRITE_ENABLE_EXT) {
            return Err(Declined::invalid("colour write enables without values"));
        }
    }
    if state.advanced.is_some() {
        need_extension(device, ash::ext::blend_operation_advanced::NAME)?;
    }
    Ok(())
}

pub(super) fn all_depth_dynamic(dynamic: &impl Fn(D) -> bool) -> bool {
    dynamic(D::DEPTH_TEST_ENABLE)
        && dynamic(D::DEPTH_WRITE_ENABLE)
        && dynamic(D::DEPTH_COMPARE_OP)
        && dynamic(D::DEPTH_BOUNDS_TEST_ENABLE)
        && dynamic(D::STENCIL_TEST_ENABLE)
        && dynamic(D::STENCIL_OP)
        && dynamic(D::DEPTH_BOUNDS)
}

pub(super) fn all_blend_dynamic(dynamic: &impl Fn(D) -> bool) -> bool {
    dynamic(D::LOGIC_OP_ENABLE_EXT)
        && dynamic(D::LOGIC_OP_EXT)
        && dynamic(D::COLOR_BLEND_ENABLE_EXT)
        && dynamic(D::COLOR_BLEND_EQUATION_EXT)
        && dynamic(D::COLOR_WRITE_MASK_EXT)
        && dynamic(D::BLEND_CONSTANTS)
}
