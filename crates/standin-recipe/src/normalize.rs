//! The recipe that a key is made of: the same pipeline with every field that cannot matter set
//! to one fixed value.
//!
//! A field is reset only where Vulkan says that it is ignored (the dynamic state that replaces
//! it, a test that is off, an attachment that is not there), and a chained struct that says the
//! default is dropped. In doubt a field stays: two keys for one pipeline cost a compile, one key
//! for two pipelines would cost a wrong picture.

use crate::codec::Float;
use crate::layout::{PipelineLayout, SetLayout};
use crate::pipeline::{
    ComputeRecipe, DynamicStates, GraphicsRecipe, Recipe, Specialization, SpecializationEntry,
    Stage,
};
use crate::state::{
    Blend, ColorBlend, Conservative, DepthStencil, InputAssembly, Line, Multisample, Rasterization,
    ShadingRate, Stencil, Tessellation, VertexInput, Viewports,
};
use ash::vk;
use ash::vk::DynamicState as D;
use std::sync::Arc;

/// VK_DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT, newer than the bindings.
const DEPTH_CLAMP_RANGE: D = D::from_raw(1_000_582_000);

impl Recipe {
    /// The same pipeline with every field that cannot matter at a fixed value.
    #[must_use]
    pub fn normalized(&self) -> Self {
        match self {
            Self::Graphics(recipe) => Self::Graphics(Arc::new(recipe.normalized())),
            Self::Compute(recipe) => Self::Compute(Arc::new(recipe.normalized())),
        }
    }
}

impl ComputeRecipe {
    /// The same pipeline with every field that cannot matter at a fixed value.
    #[must_use]
    pub fn normalized(&self) -> Self {
        Self {
            stage: stage(&self.stage),
            layout: layout(&self.layout),
            ..self.clone()
        }
    }
}

impl GraphicsRecipe {
    /// The same pipeline with every field that cannot matter at a fixed value.
    #[must_use]
    pub fn normalized(&self) -> Self {
        let dynamic = &self.dynamic;
        let mut recipe = self.clone();
        recipe.stages = self.stages.iter().map(stage).collect();
        recipe.stages.sort_by_key(|stage| stage.stage);
        recipe.layout = self.layout.as_ref().map(layout);
        let stages = self.stage_bits();
        let mesh = stages.intersects(vk::ShaderStageFlags::MESH_EXT);
        if mesh || dynamic.has(D::VERTEX_INPUT_EXT) {
            recipe.vertex_input = None;
        }
        if mesh {
            recipe.input_assembly = None;
        }
        // A library says which parts it holds; only a whole pipeline is known to lack a stage
        // or an attachment.
        let whole = self.parts.is_none() && self.libraries.is_empty();
        if whole && !stages.intersects(vk::ShaderStageFlags::TESSELLATION_CONTROL) {
            recipe.tessellation = None;
        }
        let discards = recipe.rasterization.as_ref().is_some_and(|r| r.discard)
            && !dynamic.has(D::RASTERIZER_DISCARD_ENABLE);
        if discards {
            recipe.viewports = None;
            recipe.multisample = None;
            recipe.depth_stencil = None;
            recipe.color_blend = None;
        }
        if whole && self.target.depth_stencil_format().is_none() {
            recipe.depth_stencil = None;
        }
        let used = |format: &vk::Format| *format != vk::Format::UNDEFINED;
        if whole && !self.target.color_formats().iter().any(used) {
            recipe.color_blend = None;
        }
        if let Some(state) = &mut recipe.vertex_input {
            vertex_input(state, dynamic);
        }
        if let Some(state) = &mut recipe.input_assembly {
            input_assembly(state, dynamic);
        }
        if let Some(state) = &mut recipe.tessellation {
            tessellation(state, dynamic);
        }
        if let Some(state) = &mut recipe.viewports {
            viewports(state, dynamic);
        }
        if let Some(state) = &mut recipe.rasterization {
            rasterization(state, dynamic);
        }
        if let Some(state) = &mut recipe.multisample {
            multisample(state, dynamic);
        }
        if let Some(state) = &mut recipe.depth_stencil {
            depth_stencil(state, dynamic);
        }
        if let Some(state) = &mut recipe.color_blend {
            color_blend(state, dynamic);
        }
        if let Some(rectangles) = &mut recipe.discard_rectangles {
            if dynamic.has(D::DISCARD_RECTANGLE_EXT) {
                rectangles.rectangles.clear();
            }
            if dynamic.has(D::DISCARD_RECTANGLE_MODE_EXT) {
                rectangles.mode = vk::DiscardRectangleModeEXT::default();
            }
        }
        let no_rate = ShadingRate {
            fragment_size: [1, 1],
            combiners: [vk::FragmentShadingRateCombinerOpKHR::KEEP; 2],
        };
        if dynamic.has(D::FRAGMENT_SHADING_RATE_KHR) || recipe.shading_rate == Some(no_rate) {
            recipe.shading_rate = None;
        }
        recipe
    }
}

/// Sets a value to its default where a command sets it instead.
fn reset<T: Default>(value: &mut T, dynamic: &DynamicStates, by: D) {
    if dynamic.has(by) {
        *value = T::default();
    }
}

fn drop_default<T: PartialEq>(value: &mut Option<T>, default: &T) {
    if value.as_ref() == Some(default) {
        *value = None;
    }
}

fn stage(stage: &Stage) -> Stage {
    Stage {
        specialization: stage.specialization.as_ref().and_then(specialization),
        ..stage.clone()
    }
}

/// Constants in order of number, their values packed. Where a value lies outside of the data,
/// or a number stands twice, all is left as it is.
fn specialization(given: &Specialization) -> Option<Specialization> {
    let mut entries: Vec<&SpecializationEntry> = given.entries.iter().collect();
    entries.sort_by_key(|entry| entry.id);
    if entries.is_empty() {
        return None;
    }
    let mut packed = Specialization {
        entries: Vec::with_capacity(entries.len()),
        data: Vec::with_capacity(given.data.len()),
    };
    let mut last = None;
    for entry in entries {
        let value = usize::try_from(entry.offset).ok().and_then(|from| {
            let to = from.checked_add(usize::try_from(entry.size).ok()?)?;
            given.data.get(from..to)
        });
        let (Some(value), Ok(offset)) = (value, u32::try_from(packed.data.len())) else {
            return Some(given.clone());
        };
        if last == Some(entry.id) {
            return Some(given.clone());
        }
        last = Some(entry.id);
        packed.data.extend_from_slice(value);
        packed.entries.push(SpecializationEntry {
            offset,
            ..entry.clone()
        });
    }
    Some(packed)
}

fn layout(given: &Arc<PipelineLayout>) -> Arc<PipelineLayout> {
    let mut layout = PipelineLayout::clone(given);
    layout
        .push_constants
        .sort_by_key(|range| (range.stages, range.offset, range.size));
    for set in layout.sets.iter_mut().flatten() {
        let sorted = set.bindings.is_sorted_by_key(|binding| binding.binding);
        let flagged = set.bindings.iter().any(|binding| !binding.flags.is_empty());
        if sorted && flagged == set.has_binding_flags {
            continue;
        }
        let mut changed = SetLayout::clone(set);
        changed.bindings.sort_by_key(|binding| binding.binding);
        changed.has_binding_flags = flagged;
        *set = Arc::new(changed);
    }
    if layout == **given {
        given.clone()
    } else {
        Arc::new(layout)
    }
}

fn vertex_input(state: &mut VertexInput, dynamic: &DynamicStates) {
    for binding in &mut state.bindings {
        reset(&mut binding.stride, dynamic, D::VERTEX_INPUT_BINDING_STRIDE);
    }
    state.bindings.sort_by_key(|binding| binding.binding);
    state.attributes.sort_by_key(|attribute| attribute.location);
    // One element for each instance is what a binding without a divisor has.
    state.divisors.retain(|divisor| divisor.divisor != 1);
    state.divisors.sort_by_key(|divisor| divisor.binding);
}

fn input_assembly(state: &mut InputAssembly, dynamic: &DynamicStates) {
    type T = vk::PrimitiveTopology;
    if dynamic.has(D::PRIMITIVE_TOPOLOGY) {
        // A command may choose within the class; the class itself stays the pipeline's.
        state.topology = match state.topology {
            T::LINE_LIST
            | T::LINE_STRIP
            | T::LINE_LIST_WITH_ADJACENCY
            | T::LINE_STRIP_WITH_ADJACENCY => T::LINE_LIST,
            T::TRIANGLE_LIST
            | T::TRIANGLE_STRIP
            | T::TRIANGLE_FAN
            | T::TRIANGLE_LIST_WITH_ADJACENCY
            | T::TRIANGLE_STRIP_WITH_ADJACENCY => T::TRIANGLE_LIST,
            other => other,
        };
    }
    reset(&mut state.restart, dynamic, D::PRIMITIVE_RESTART_ENABLE);
}

fn tessellation(state: &mut Tessellation, dynamic: &DynamicStates) {
    reset(
        &mut state.control_points,
        dynamic,
        D::PATCH_CONTROL_POINTS_EXT,
    );
    reset(
        &mut state.domain_origin,
        dynamic,
        D::TESSELLATION_DOMAIN_ORIGIN_EXT,
    );
    drop_default(
        &mut state.domain_origin,
        &vk::TessellationDomainOrigin::UPPER_LEFT,
    );
}

fn viewports(state: &mut Viewports, dynamic: &DynamicStates) {
    reset(&mut state.viewport_count, dynamic, D::VIEWPORT_WITH_COUNT);
    reset(&mut state.scissor_count, dynamic, D::SCISSOR_WITH_COUNT);
    for by in [D::VIEWPORT, D::VIEWPORT_WITH_COUNT] {
        reset(&mut state.viewports, dynamic, by);
    }
    for by in [D::SCISSOR, D::SCISSOR_WITH_COUNT] {
        reset(&mut state.scissors, dynamic, by);
    }
    let negative = &mut state.negative_one_to_one;
    reset(negative, dynamic, D::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT);
    drop_default(negative, &false);
    reset(&mut state.swizzles, dynamic, D::VIEWPORT_SWIZZLE_NV);
    reset(&mut state.depth_clamp, dynamic, DEPTH_CLAMP_RANGE);
    if state
        .depth_clamp
        .as_ref()
        .is_some_and(|clamp| clamp.mode == 0)
    {
        state.depth_clamp = None;
    }
    if let Some(scaling) = &mut state.w_scaling {
        reset(
            &mut scaling.enable,
            dynamic,
            D::VIEWPORT_W_SCALING_ENABLE_NV,
        );
        reset(&mut scaling.scalings, dynamic, D::VIEWPORT_W_SCALING_NV);
    }
}

fn rasterization(state: &mut Rasterization, dynamic: &DynamicStates) {
    let bias = state.depth_bias || dynamic.has(D::DEPTH_BIAS_ENABLE);
    if !bias || dynamic.has(D::DEPTH_BIAS) {
        state.depth_bias_constant = Float::default();
        state.depth_bias_clamp = Float::default();
        state.depth_bias_slope = Float::default();
        state.depth_bias_representation = None;
    }
    reset(&mut state.depth_bias, dynamic, D::DEPTH_BIAS_ENABLE);
    // Without a word of its own, clipping is the opposite of clamping.
    reset(&mut state.depth_clip, dynamic, D::DEPTH_CLIP_ENABLE_EXT);
    if !dynamic.has(D::DEPTH_CLAMP_ENABLE_EXT) {
        drop_default(&mut state.depth_clip, &!state.depth_clamp);
    }
    reset(&mut state.depth_clamp, dynamic, D::DEPTH_CLAMP_ENABLE_EXT);
    reset(&mut state.discard, dynamic, D::RASTERIZER_DISCARD_ENABLE);
    reset(&mut state.polygon_mode, dynamic, D::POLYGON_MODE_EXT);
    reset(&mut state.cull_mode, dynamic, D::CULL_MODE);
    reset(&mut state.front_face, dynamic, D::FRONT_FACE);
    reset(&mut state.line_width, dynamic, D::LINE_WIDTH);
    reset(&mut state.stream, dynamic, D::RASTERIZATION_STREAM_EXT);
    drop_default(&mut state.stream, &0);
    let provoking = &mut state.provoking_vertex;
    reset(provoking, dynamic, D::PROVOKING_VERTEX_MODE_EXT);
    drop_default(provoking, &vk::ProvokingVertexModeEXT::FIRST_VERTEX);
    drop_default(&mut state.order, &vk::RasterizationOrderAMD::STRICT);
    if let Some(conservative) = &mut state.conservative {
        let mode_by = D::CONSERVATIVE_RASTERIZATION_MODE_EXT;
        let over = vk::ConservativeRasterizationModeEXT::OVERESTIMATE;
        let size_by = D::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT;
        reset(&mut conservative.extra_overestimation, dynamic, size_by);
        if conservative.mode != over && !dynamic.has(mode_by) {
            conservative.extra_overestimation = Float::default();
        }
        reset(&mut conservative.mode, dynamic, mode_by);
        let disabled = Conservative {
            mode: vk::ConservativeRasterizationModeEXT::DISABLED,
            extra_overestimation: Float::default(),
        };
        drop_default(&mut state.conservative, &disabled);
    }
    if let Some(line) = &mut state.line {
        let stipple = line.stippled || dynamic.has(D::LINE_STIPPLE_ENABLE_EXT);
        if !stipple || dynamic.has(D::LINE_STIPPLE_EXT) {
            line.stipple_factor = 0;
            line.stipple_pattern = 0;
        }
        reset(&mut line.stippled, dynamic, D::LINE_STIPPLE_ENABLE_EXT);
        reset(&mut line.mode, dynamic, D::LINE_RASTERIZATION_MODE_EXT);
        let plain = Line {
            mode: vk::LineRasterizationModeEXT::DEFAULT,
            stippled: false,
            stipple_factor: 0,
            stipple_pattern: 0,
        };
        drop_default(&mut state.line, &plain);
    }
}

fn multisample(state: &mut Multisample, dynamic: &DynamicStates) {
    if !state.sample_shading {
        state.min_sample_shading = Float::default();
    }
    reset(&mut state.mask, dynamic, D::SAMPLE_MASK_EXT);
    if !dynamic.has(D::RASTERIZATION_SAMPLES_EXT) {
        let samples = state.samples.as_raw();
        let all = |(word, bits): (usize, &u32)| {
            // The samples that this word is for.
            let count = samples.saturating_sub(u32::try_from(word * 32).unwrap_or(u32::MAX));
            let valid = 1_u32.checked_shl(count).map_or(u32::MAX, |bit| bit - 1);
            bits & valid == valid
        };
        if state
            .mask
            .as_ref()
            .is_some_and(|m| m.iter().enumerate().all(all))
        {
            state.mask = None;
        }
    }
    reset(&mut state.samples, dynamic, D::RASTERIZATION_SAMPLES_EXT);
    reset(
        &mut state.alpha_to_coverage,
        dynamic,
        D::ALPHA_TO_COVERAGE_ENABLE_EXT,
    );
    reset(&mut state.alpha_to_one, dynamic, D::ALPHA_TO_ONE_ENABLE_EXT);
    if let Some(locations) = &mut state.locations {
        let possible = locations.enable || dynamic.has(D::SAMPLE_LOCATIONS_ENABLE_EXT);
        if !possible || dynamic.has(D::SAMPLE_LOCATIONS_EXT) {
            locations.per_pixel = vk::SampleCountFlags::empty();
            locations.grid = [0, 0];
            locations.locations.clear();
        }
        reset(
            &mut locations.enable,
            dynamic,
            D::SAMPLE_LOCATIONS_ENABLE_EXT,
        );
        if !possible {
            state.locations = None;
        }
    }
}

fn depth_stencil(state: &mut DepthStencil, dynamic: &DynamicStates) {
    let test = state.depth_test || dynamic.has(D::DEPTH_TEST_ENABLE);
    if !test {
        // Depth is written only where it is tested (VkPipelineDepthStencilStateCreateInfo).
        state.depth_write = false;
    }
    reset(&mut state.depth_write, dynamic, D::DEPTH_WRITE_ENABLE);
    if !test || dynamic.has(D::DEPTH_COMPARE_OP) {
        state.compare_op = vk::CompareOp::default();
    }
    reset(&mut state.depth_test, dynamic, D::DEPTH_TEST_ENABLE);
    let bounds = state.bounds_test || dynamic.has(D::DEPTH_BOUNDS_TEST_ENABLE);
    if !bounds || dynamic.has(D::DEPTH_BOUNDS) {
        state.min_bounds = Float::default();
        state.max_bounds = Float::default();
    }
    reset(&mut state.bounds_test, dynamic, D::DEPTH_BOUNDS_TEST_ENABLE);
    let stencil = state.stencil_test || dynamic.has(D::STENCIL_TEST_ENABLE);
    for face in [&mut state.front, &mut state.back] {
        if !stencil {
            *face = NO_STENCIL;
        }
        if dynamic.has(D::STENCIL_OP) {
            face.fail_op = NO_STENCIL.fail_op;
            face.pass_op = NO_STENCIL.pass_op;
            face.depth_fail_op = NO_STENCIL.depth_fail_op;
            face.compare_op = NO_STENCIL.compare_op;
        }
        reset(&mut face.compare_mask, dynamic, D::STENCIL_COMPARE_MASK);
        reset(&mut face.write_mask, dynamic, D::STENCIL_WRITE_MASK);
        reset(&mut face.reference, dynamic, D::STENCIL_REFERENCE);
    }
    reset(&mut state.stencil_test, dynamic, D::STENCIL_TEST_ENABLE);
}

const NO_STENCIL: Stencil = Stencil {
    fail_op: vk::StencilOp::KEEP,
    pass_op: vk::StencilOp::KEEP,
    depth_fail_op: vk::StencilOp::KEEP,
    compare_op: vk::CompareOp::NEVER,
    compare_mask: 0,
    write_mask: 0,
    reference: 0,
};

fn color_blend(state: &mut ColorBlend, dynamic: &DynamicStates) {
    let logic = state.logic_op_enable || dynamic.has(D::LOGIC_OP_ENABLE_EXT);
    if !logic || dynamic.has(D::LOGIC_OP_EXT) {
        state.logic_op = vk::LogicOp::default();
    }
    reset(&mut state.logic_op_enable, dynamic, D::LOGIC_OP_ENABLE_EXT);
    let enable_by = D::COLOR_BLEND_ENABLE_EXT;
    let equation_by = D::COLOR_BLEND_EQUATION_EXT;
    let mut constants = dynamic.has(equation_by);
    for blend in &mut state.attachments {
        let possible = blend.enable || dynamic.has(enable_by);
        if !possible || dynamic.has(equation_by) {
            *blend = Blend {
                enable: blend.enable,
                write_mask: blend.write_mask,
                ..NO_BLEND
            };
        }
        constants |= uses_constants(blend);
        reset(&mut blend.enable, dynamic, enable_by);
        reset(&mut blend.write_mask, dynamic, D::COLOR_WRITE_MASK_EXT);
    }
    if !constants || dynamic.has(D::BLEND_CONSTANTS) {
        state.constants = [Float::default(); 4];
    }
    let all = [enable_by, equation_by, D::COLOR_WRITE_MASK_EXT];
    if all.iter().all(|by| dynamic.has(*by)) {
        state.attachments.clear();
    }
    reset(&mut state.advanced, dynamic, D::COLOR_BLEND_ADVANCED_EXT);
    reset(&mut state.write_enables, dynamic, D::COLOR_WRITE_ENABLE_EXT);
    if let Some(enables) = &state.write_enables
        && enables.iter().all(|enable| *enable)
    {
        state.write_enables = None;
    }
}

const NO_BLEND: Blend = Blend {
    enable: false,
    src_color: vk::BlendFactor::ZERO,
    dst_color: vk::BlendFactor::ZERO,
    color_op: vk::BlendOp::ADD,
    src_alpha: vk::BlendFactor::ZERO,
    dst_alpha: vk::BlendFactor::ZERO,
    alpha_op: vk::BlendOp::ADD,
    write_mask: vk::ColorComponentFlags::empty(),
};

fn uses_constants(blend: &Blend) -> bool {
    type F = vk::BlendFactor;
    [
        blend.src_color,
        blend.dst_color,
        blend.src_alpha,
        blend.dst_alpha,
    ]
    .iter()
    .any(|factor| {
        matches!(
            *factor,
            F::CONSTANT_COLOR
                | F::ONE_MINUS_CONSTANT_COLOR
                | F::CONSTANT_ALPHA
                | F::ONE_MINUS_CONSTANT_ALPHA
        )
    })
}
