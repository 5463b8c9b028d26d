//! Viewports, rasterisation and multisampling.

use crate::decline::{Declined, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{need, need_extension};
use crate::passes::need_samples;
use ash::vk;
use ash::vk::DynamicState as D;
use standin_recipe::raster::{MultisampleState, RasterizationState, ViewportState};

pub(super) fn viewport(
    device: &Device,
    state: &ViewportState,
    dynamic: &impl Fn(D) -> bool,
) -> Result<(), Declined> {
    let most = device.capabilities().limits.max_viewports;
    let counts = [
        (state.viewports.count(), D::VIEWPORT_WITH_COUNT, D::VIEWPORT),
        (state.scissors.count(), D::SCISSOR_WITH_COUNT, D::SCISSOR),
    ];
    for (count, counted, plain) in counts {
        if dynamic(counted) {
            if count != 0 {
                return Err(Declined::invalid("a viewport count that is also dynamic"));
            }
            continue;
        }
        if count == 0 {
            return Err(Declined::invalid("no viewport or no scissor"));
        }
        if count > 1 {
            need(device, &[F::MultiViewport])?;
        }
        limit("maxViewports", count, most)?;
        let has_values = if plain == D::VIEWPORT {
            state.viewports.values().is_some()
        } else {
            state.scissors.values().is_some()
        };
        if !has_values && !dynamic(plain) {
            return Err(Declined::invalid("viewports or scissors without values"));
        }
    }
    if state.negative_one_to_one {
        need(device, &[F::DepthClipControl])?;
    }
    if state.w_scaling.is_some() || !state.swizzles.is_empty() {
        return Err(Declined::Extension("VK_NV_viewport_swizzle".into()));
    }
    if state.exclusive_scissors.count() != 0 {
        return Err(Declined::Extension("VK_NV_scissor_exclusive".into()));
    }
    if state.depth_clamp_control.is_some() {
        return Err(Declined::Extension("VK_EXT_depth_clamp_control".into()));
    }
    Ok(())
}

pub(super) fn rasterization(
    device: &Device,
    state: &RasterizationState,
    dynamic: &impl Fn(D) -> bool,
) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    if state.depth_clamp_enable && !dynamic(D::DEPTH_CLAMP_ENABLE_EXT) {
        need(device, &[F::DepthClamp])?;
    }
    if !dynamic(D::POLYGON_MODE_EXT) {
        match state.polygon_mode {
            vk::PolygonMode::FILL => {}
            vk::PolygonMode::LINE | vk::PolygonMode::POINT => {
                need(device, &[F::FillModeNonSolid])?;
            }
            other => return Err(Declined::unknown("polygon mode", other)),
        }
    }
    if state.depth_bias_enable && state.depth_bias_clamp.get() != 0.0 && !dynamic(D::DEPTH_BIAS) {
        need(device, &[F::DepthBiasClamp])?;
    }
    if !dynamic(D::LINE_WIDTH) && state.line_width.get() != 1.0 && state.line_width.get() != 0.0 {
        need(device, &[F::WideLines])?;
        let [least, most] = limits.line_width_range;
        if !(least..=most).contains(&state.line_width.get()) {
            return Err(Declined::unknown("line width", state.line_width));
        }
    }
    if state.depth_clip_enable.is_some() {
        need(device, &[F::DepthClipEnable])?;
    }
    if state.conservative.is_some() {
        need_extension(device, ash::ext::conservative_rasterization::NAME)?;
    }
    if let Some(line) = &state.line {
        use vk::LineRasterizationModeKHR as M;
        let (plain, stippled) = match line.mode {
            // Stippled default lines are stippled rectangular ones where lines are strict.
            M::DEFAULT => (None, F::StippledRectangularLines),
            M::RECTANGULAR => (Some(F::RectangularLines), F::StippledRectangularLines),
            M::BRESENHAM => (Some(F::BresenhamLines), F::StippledBresenhamLines),
            M::RECTANGULAR_SMOOTH => (Some(F::SmoothLines), F::StippledSmoothLines),
            other => return Err(Declined::unknown("line mode", other)),
        };
        if let Some(feature) = plain
            && !dynamic(D::LINE_RASTERIZATION_MODE_EXT)
        {
            need(device, &[feature])?;
        }
        if line.stippled && !dynamic(D::LINE_STIPPLE_ENABLE_EXT) {
            need(device, &[stippled])?;
            if !dynamic(D::LINE_STIPPLE_KHR) && !(1..=256).contains(&line.stipple_factor) {
                return Err(Declined::invalid("a stipple factor outside of 1 to 256"));
            }
        }
        need_line(device)?;
    }
    if state.stream != 0 {
        need(device, &[F::GeometryStreams])?;
        limit(
            "maxTransformFeedbackStreams",
            u64::from(state.stream) + 1,
            device.capabilities().max_transform_feedback_streams,
        )?;
    }
    if state.provoking_vertex != vk::ProvokingVertexModeEXT::FIRST_VERTEX {
        need(device, &[F::ProvokingVertexLast])?;
    }
    if let Some(bias) = &state.depth_bias_representation {
        need(device, &[F::DepthBiasControl])?;
        if bias.exact {
            need(device, &[F::DepthBiasExact])?;
        }
    }
    if state.order != vk::RasterizationOrderAMD::STRICT {
        return Err(Declined::Extension("VK_AMD_rasterization_order".into()));
    }
    Ok(())
}

pub(super) fn need_line(device: &Device) -> Result<(), Declined> {
    need_extension(device, ash::khr::line_rasterization::NAME)
        .or_else(|_| need_extension(device, ash::ext::line_rasterization::NAME))
}

pub(super) fn multisample(
    device: &Device,
    state: &MultisampleState,
    dynamic: &impl Fn(D) -> bool,
) -> Result<(), Declined> {
    if !dynamic(D::RASTERIZATION_SAMPLES_EXT) {
        need_samples(device, state.samples)?;
    }
    if state.sample_shading_enable {
        need(device, &[F::SampleRateShading])?;
        if !(0.0..=1.0).contains(&state.min_sample_shading.get()) {
            return Err(Declined::invalid("a sample shading outside of 0 to 1"));
        }
    }
    if state.alpha_to_one_enable && !dynamic(D::ALPHA_TO_ONE_ENABLE_EXT) {
        need(device, &[F::AlphaToOne])?;
    }
    let words = state.samples.as_raw().div_ceil(32) as usize;
    if !state.sample_mask.is_empty() && state.sample_mask.len() < words {
        return Err(Declined::invalid("a sample mask that is too short"));
    }
    if let Some(locations) = &state.sample_locations {
        need_extension(device, ash::ext::sample_locations::NAME)?;
        let allowed = device.capabilities().sample_location_counts;
        if !allowed.contains(locations.per_pixel) {
            return Err(Declined::Samples(locations.per_pixel));
        }
    }
    if state.coverage_modulation.is_some() {
        return Err(Declined::Extension(
            "VK_NV_framebuffer_mixed_samples".into(),
        ));
    }
    if state.coverage_reduction.is_some() {
        return Err(Declined::Extension("VK_NV_coverage_reduction_mode".into()));
    }
    if state.coverage_to_color.is_some() {
        return Err(Declined::Extension(
            "VK_NV_fragment_coverage_to_color".into(),
        ));
    }
    Ok(())
}

pub(super) fn all_multisample_dynamic(dynamic: &impl Fn(D) -> bool) -> bool {
    dynamic(D::RASTERIZATION_SAMPLES_EXT)
        && dynamic(D::SAMPLE_MASK_EXT)
        && dynamic(D::ALPHA_TO_COVERAGE_ENABLE_EXT)
}
