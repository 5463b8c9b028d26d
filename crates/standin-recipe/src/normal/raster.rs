//! Normal forms of viewports, rasterisation and multisampling.

use super::{DEPTH_CLAMP_RANGE, Dynamic};
use crate::codec::Float;
use crate::create_info::DepthClampControlCreateInfo;
use crate::raster::{
    ConservativeRasterization, Counted, CoverageModulation, CoverageToColor,
    DepthBiasRepresentation, DepthClampControl, DiscardRectangles, LineRasterization,
    MultisampleState, RasterizationState, SampleLocations, ViewportState,
};
use ash::vk::{self, DynamicState as State};

fn count_only<T>(list: &mut Counted<T>) {
    *list = Counted::Count(list.count());
}

/// With both counts dynamic the whole state may be missing, which then means no viewport.
pub(super) fn normal_viewport(
    state: Option<&ViewportState>,
    dynamic: Dynamic<'_>,
) -> Option<ViewportState> {
    let with_count = [State::VIEWPORT_WITH_COUNT, State::SCISSOR_WITH_COUNT];
    let mut state = match state {
        Some(state) => state.clone(),
        None if with_count.iter().all(|state| dynamic.has(*state)) => ViewportState::default(),
        None => return None,
    };
    if dynamic.has(State::VIEWPORT) {
        count_only(&mut state.viewports);
    }
    if dynamic.has(State::VIEWPORT_WITH_COUNT) {
        state.viewports = Counted::Count(0);
    }
    if dynamic.has(State::SCISSOR) {
        count_only(&mut state.scissors);
    }
    if dynamic.has(State::SCISSOR_WITH_COUNT) {
        state.scissors = Counted::Count(0);
    }
    if dynamic.has(State::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT) {
        state.negative_one_to_one = false;
    }
    state.w_scaling = state.w_scaling.take().and_then(|mut scaling| {
        let switched = dynamic.has(State::VIEWPORT_W_SCALING_ENABLE_NV);
        if !scaling.enable && !switched {
            return None;
        }
        scaling.enable &= !switched;
        if dynamic.has(State::VIEWPORT_W_SCALING_NV) {
            count_only(&mut scaling.coefficients);
        }
        Some(scaling)
    });
    if dynamic.has(State::VIEWPORT_SWIZZLE_NV) {
        state.swizzles.clear();
    }
    if dynamic.has(State::EXCLUSIVE_SCISSOR_NV) {
        count_only(&mut state.exclusive_scissors);
    }
    state.depth_clamp_control = state.depth_clamp_control.take().and_then(|mut control| {
        if dynamic.has(DEPTH_CLAMP_RANGE) {
            return None;
        }
        if control.mode != DepthClampControlCreateInfo::USER_DEFINED_RANGE {
            control.range = None;
        }
        Some(control).filter(|control| *control != DepthClampControl::default())
    });
    Some(state)
}

pub(super) fn normal_rasterization(
    state: &RasterizationState,
    dynamic: Dynamic<'_>,
) -> RasterizationState {
    let mut state = state.clone();
    if dynamic.has(State::DEPTH_CLIP_ENABLE_EXT) {
        state.depth_clip_enable = None;
    }
    let clamp_is_dynamic = dynamic.has(State::DEPTH_CLAMP_ENABLE_EXT);
    // Without the struct depth is clipped exactly if it is not clamped.
    if !clamp_is_dynamic && state.depth_clip_enable == Some(!state.depth_clamp_enable) {
        state.depth_clip_enable = None;
    }
    state.depth_clamp_enable &= !clamp_is_dynamic;
    state.rasterizer_discard_enable &= !dynamic.has(State::RASTERIZER_DISCARD_ENABLE);
    if dynamic.has(State::POLYGON_MODE_EXT) {
        state.polygon_mode = vk::PolygonMode::FILL;
    }
    if dynamic.has(State::CULL_MODE) {
        state.cull_mode = vk::CullModeFlags::NONE;
    }
    if dynamic.has(State::FRONT_FACE) {
        state.front_face = vk::FrontFace::COUNTER_CLOCKWISE;
    }
    let bias_is_dynamic = dynamic.has(State::DEPTH_BIAS_ENABLE);
    let bias_possible = state.depth_bias_enable || bias_is_dynamic;
    state.depth_bias_enable &= !bias_is_dynamic;
    if !bias_possible || dynamic.has(State::DEPTH_BIAS) {
        state.depth_bias_constant_factor = Float::default();
        state.depth_bias_clamp = Float::default();
        state.depth_bias_slope_factor = Float::default();
        state.depth_bias_representation = None;
    }
    state.depth_bias_representation = state
        .depth_bias_representation
        .take()
        .filter(|representation| *representation != DepthBiasRepresentation::default());
    if dynamic.has(State::LINE_WIDTH) {
        state.line_width = Float::new(1.0);
    }
    state.conservative = normal_conservative(state.conservative.take(), dynamic);
    state.line = normal_line(state.line.take(), dynamic);
    if dynamic.has(State::RASTERIZATION_STREAM_EXT) {
        state.stream = 0;
    }
    if dynamic.has(State::PROVOKING_VERTEX_MODE_EXT) {
        state.provoking_vertex = vk::ProvokingVertexModeEXT::FIRST_VERTEX;
    }
    state
}

fn normal_conservative(
    state: Option<ConservativeRasterization>,
    dynamic: Dynamic<'_>,
) -> Option<ConservativeRasterization> {
    let mut state = state?;
    let mode_is_dynamic = dynamic.has(State::CONSERVATIVE_RASTERIZATION_MODE_EXT);
    let disabled = vk::ConservativeRasterizationModeEXT::DISABLED;
    if !mode_is_dynamic && state.mode == disabled {
        return None;
    }
    if mode_is_dynamic {
        state.mode = disabled;
    }
    if dynamic.has(State::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT) {
        state.extra_overestimation = Float::default();
    }
    Some(state).filter(|state| *state != ConservativeRasterization::default())
}

fn normal_line(
    state: Option<LineRasterization>,
    dynamic: Dynamic<'_>,
) -> Option<LineRasterization> {
    let mut state = state?;
    if dynamic.has(State::LINE_RASTERIZATION_MODE_EXT) {
        state.mode = vk::LineRasterizationModeKHR::DEFAULT;
    }
    let stipple_is_dynamic = dynamic.has(State::LINE_STIPPLE_ENABLE_EXT);
    let stipple_possible = state.stippled || stipple_is_dynamic;
    state.stippled &= !stipple_is_dynamic;
    if !stipple_possible || dynamic.has(State::LINE_STIPPLE_KHR) {
        state.stipple_factor = 0;
        state.stipple_pattern = 0;
    }
    Some(state).filter(|state| *state != LineRasterization::default())
}

pub(super) fn normal_multisample(
    state: &MultisampleState,
    dynamic: Dynamic<'_>,
) -> MultisampleState {
    let mut state = state.clone();
    if dynamic.has(State::SAMPLE_MASK_EXT) {
        state.sample_mask.clear();
    }
    if dynamic.has(State::RASTERIZATION_SAMPLES_EXT) {
        // The static count still says how long a static mask is.
        if state.sample_mask.is_empty() {
            state.samples = vk::SampleCountFlags::TYPE_1;
        }
    } else {
        normal_sample_mask(&mut state.sample_mask, state.samples);
    }
    state.alpha_to_coverage_enable &= !dynamic.has(State::ALPHA_TO_COVERAGE_ENABLE_EXT);
    state.alpha_to_one_enable &= !dynamic.has(State::ALPHA_TO_ONE_ENABLE_EXT);
    if !state.sample_shading_enable {
        state.min_sample_shading = Float::default();
    }
    state.sample_locations = normal_sample_locations(state.sample_locations.take(), dynamic);
    state.coverage_modulation =
        normal_coverage_modulation(state.coverage_modulation.take(), dynamic);
    if dynamic.has(State::COVERAGE_REDUCTION_MODE_NV) {
        state.coverage_reduction = None;
    }
    state.coverage_to_color = state.coverage_to_color.take().and_then(|mut to_color| {
        let switched = dynamic.has(State::COVERAGE_TO_COLOR_ENABLE_NV);
        if !to_color.enable && !switched {
            return None;
        }
        to_color.enable &= !switched;
        if dynamic.has(State::COVERAGE_TO_COLOR_LOCATION_NV) {
            to_color.location = 0;
        }
        Some(to_color).filter(|to_color| *to_color != CoverageToColor::default())
    });
    state
}

/// Bits beyond the samples do nothing, and all ones are what no mask means.
fn normal_sample_mask(mask: &mut Vec<u32>, samples: vk::SampleCountFlags) {
    let all = match samples.as_raw() {
        samples @ 1..32 => (1u32 << samples) - 1,
        _ => u32::MAX,
    };
    let words = if samples.as_raw() > 32 { 2 } else { 1 };
    mask.truncate(words);
    for word in mask.iter_mut() {
        *word &= all;
    }
    if mask.iter().all(|word| *word == all) {
        mask.clear();
    }
}

fn normal_sample_locations(
    state: Option<SampleLocations>,
    dynamic: Dynamic<'_>,
) -> Option<SampleLocations> {
    let mut state = state?;
    let switched = dynamic.has(State::SAMPLE_LOCATIONS_ENABLE_EXT);
    if !state.enable && !switched {
        return None;
    }
    state.enable &= !switched;
    if dynamic.has(State::SAMPLE_LOCATIONS_EXT) {
        state = SampleLocations {
            enable: state.enable,
            ..SampleLocations::default()
        };
    }
    Some(state).filter(|state| *state != SampleLocations::default())
}

fn normal_coverage_modulation(
    state: Option<CoverageModulation>,
    dynamic: Dynamic<'_>,
) -> Option<CoverageModulation> {
    let mut state = state?;
    if dynamic.has(State::COVERAGE_MODULATION_MODE_NV) {
        state.mode = vk::CoverageModulationModeNV::NONE;
    }
    let table_is_dynamic = dynamic.has(State::COVERAGE_MODULATION_TABLE_ENABLE_NV);
    let table_possible = state.table_enable || table_is_dynamic;
    state.table_enable &= !table_is_dynamic;
    if !table_possible || dynamic.has(State::COVERAGE_MODULATION_TABLE_NV) {
        state.table.clear();
    }
    Some(state).filter(|state| *state != CoverageModulation::default())
}

pub(super) fn normal_discard_rectangles(
    state: &DiscardRectangles,
    dynamic: Dynamic<'_>,
) -> Option<DiscardRectangles> {
    let mut state = state.clone();
    if dynamic.has(State::DISCARD_RECTANGLE_MODE_EXT) {
        state.mode = vk::DiscardRectangleModeEXT::INCLUSIVE;
    }
    if dynamic.has(State::DISCARD_RECTANGLE_EXT) {
        count_only(&mut state.rectangles);
    }
    // No rectangles: the test is off, unless the draw switches it.
    let switched = dynamic.has(State::DISCARD_RECTANGLE_ENABLE_EXT);
    (state.rectangles.count() != 0 || switched).then_some(state)
}
