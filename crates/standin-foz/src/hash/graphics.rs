//! Keys of graphics pipelines: what a dynamic state overrides is 0 or left out.

use super::{Hashed, Hasher, UnknownStruct, is_derived};
use crate::json::Handle;
use crate::json::chain::Link;
use crate::json::pipeline::{
    ColorBlendBody, DepthStencilBody, DynamicBody, GraphicsBody, InputAssemblyBody,
    MultisampleBody, RasterizationBody, TessellationBody, VertexInputBody, ViewportStateBody,
};
use ash::vk::{self, DynamicState as D};

type Step = Result<(), UnknownStruct>;

struct Dynamic<'a>(&'a [u32]);

impl Dynamic<'_> {
    fn has(&self, state: D) -> bool {
        self.0.contains(&state.as_raw().cast_unsigned())
    }

    /// 0 if the state is dynamic.
    fn unless(&self, state: D, value: u32) -> u32 {
        if self.has(state) { 0 } else { value }
    }
}

pub(crate) fn graphics(body: &GraphicsBody) -> Hashed {
    let mut h = Hasher::new();
    h.pipeline_flags(body.flags, &body.p_next);
    if is_derived(body.flags, body.base_pipeline_handle) {
        h.handle(body.base_pipeline_handle)
            .signed(body.base_pipeline_index);
    }
    h.handle(if has_shader_parts(body) {
        body.layout
    } else {
        Handle(0)
    })
    .handle(body.render_pass)
    .word(body.subpass)
    .count(&body.stages);
    let states = body
        .dynamic_state
        .as_ref()
        .map_or(&[][..], |state| &state.dynamic_state);
    let dynamic = Dynamic(states);
    h.dynamic(body.dynamic_state.as_ref())?;
    h.optional(body.depth_stencil_state.as_ref(), |h, s| {
        h.depth_stencil(s, &dynamic)
    })?;
    h.optional(body.input_assembly_state.as_ref(), |h, s| {
        h.input_assembly(s, &dynamic)
    })?;
    h.optional(body.rasterization_state.as_ref(), |h, s| {
        h.rasterization(s, &dynamic)
    })?;
    // Nothing at all stands for an absent multisample state.
    if let Some(state) = &body.multisample_state {
        h.multisample(state, &dynamic)?;
    }
    h.optional(body.viewport_state.as_ref(), |h, s| h.viewport(s, &dynamic))?;
    h.optional(body.vertex_input_state.as_ref(), |h, s| {
        h.vertex_input(s, &dynamic)
    })?;
    h.optional(body.color_blend_state.as_ref(), |h, s| {
        h.color_blend(s, &dynamic)
    })?;
    h.optional(body.tessellation_state.as_ref(), |h, s| {
        h.tessellation(s, &dynamic)
    })?;
    for stage in &body.stages {
        h.stage(stage)?;
    }
    h.chain(&body.p_next)?;
    Ok(h.finish())
}

/// Whether the pipeline has a part with shaders: only then does it have a layout.
fn has_shader_parts(body: &GraphicsBody) -> bool {
    let shaders = vk::GraphicsPipelineLibraryFlagsEXT::PRE_RASTERIZATION_SHADERS
        | vk::GraphicsPipelineLibraryFlagsEXT::FRAGMENT_SHADER;
    body.p_next
        .iter()
        .find_map(|link| match link {
            Link::LibraryParts(parts) => Some(parts.flags & shaders.as_raw() != 0),
            _ => None,
        })
        .unwrap_or(true)
}

impl Hasher {
    fn optional<T>(&mut self, state: Option<&T>, hash: impl FnOnce(&mut Self, &T) -> Step) -> Step {
        match state {
            Some(state) => hash(self, state),
            None => {
                self.word(0);
                Ok(())
            }
        }
    }

    pub(crate) fn dynamic(&mut self, state: Option<&DynamicBody>) -> Step {
        self.optional(state, |h, state| {
            h.count(&state.dynamic_state)
                .word(state.flags)
                .words(&state.dynamic_state)
                .chain(&state.p_next)?;
            Ok(())
        })
    }

    fn depth_stencil(&mut self, s: &DepthStencilBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags)
            .word(d.unless(D::DEPTH_BOUNDS_TEST_ENABLE, s.depth_bounds_test_enable))
            .word(d.unless(D::DEPTH_COMPARE_OP, s.depth_compare_op))
            .word(d.unless(D::DEPTH_TEST_ENABLE, s.depth_test_enable))
            .word(d.unless(D::DEPTH_WRITE_ENABLE, s.depth_write_enable));
        for face in [&s.front, &s.back] {
            self.word(d.unless(D::STENCIL_OP, face.compare_op))
                .word(d.unless(D::STENCIL_OP, face.depth_fail_op))
                .word(d.unless(D::STENCIL_OP, face.fail_op))
                .word(d.unless(D::STENCIL_OP, face.pass_op));
        }
        self.word(d.unless(D::STENCIL_TEST_ENABLE, s.stencil_test_enable));
        let bounds = d.has(D::DEPTH_BOUNDS_TEST_ENABLE) || s.depth_bounds_test_enable != 0;
        if bounds && !d.has(D::DEPTH_BOUNDS) {
            self.real(s.min_depth_bounds).real(s.max_depth_bounds);
        }
        if d.has(D::STENCIL_TEST_ENABLE) || s.stencil_test_enable != 0 {
            if !d.has(D::STENCIL_COMPARE_MASK) {
                self.word(s.front.compare_mask).word(s.back.compare_mask);
            }
            if !d.has(D::STENCIL_REFERENCE) {
                self.word(s.front.reference).word(s.back.reference);
            }
            if !d.has(D::STENCIL_WRITE_MASK) {
                self.word(s.front.write_mask).word(s.back.write_mask);
            }
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn input_assembly(&mut self, s: &InputAssemblyBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags)
            .word(d.unless(D::PRIMITIVE_RESTART_ENABLE, s.primitive_restart_enable))
            .word(s.topology)
            .chain(&s.p_next)?;
        Ok(())
    }

    fn rasterization(&mut self, s: &RasterizationBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags)
            .word(d.unless(D::CULL_MODE, s.cull_mode))
            .word(d.unless(D::DEPTH_CLAMP_ENABLE_EXT, s.depth_clamp_enable))
            .word(d.unless(D::FRONT_FACE, s.front_face))
            .word(d.unless(D::RASTERIZER_DISCARD_ENABLE, s.rasterizer_discard_enable))
            .word(d.unless(D::POLYGON_MODE_EXT, s.polygon_mode))
            .word(d.unless(D::DEPTH_BIAS_ENABLE, s.depth_bias_enable));
        let bias = d.has(D::DEPTH_BIAS_ENABLE) || s.depth_bias_enable != 0;
        if bias && !d.has(D::DEPTH_BIAS) {
            self.real(s.depth_bias_clamp)
                .real(s.depth_bias_slope_factor)
                .real(s.depth_bias_constant_factor);
        }
        if !d.has(D::LINE_WIDTH) {
            self.real(s.line_width);
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn multisample(&mut self, s: &MultisampleBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags)
            .word(d.unless(D::ALPHA_TO_COVERAGE_ENABLE_EXT, s.alpha_to_coverage_enable))
            .word(d.unless(D::ALPHA_TO_ONE_ENABLE_EXT, s.alpha_to_one_enable))
            .real(s.min_sample_shading)
            .word(d.unless(D::RASTERIZATION_SAMPLES_EXT, s.rasterization_samples))
            .word(s.sample_shading_enable);
        if s.sample_mask.is_empty() || d.has(D::SAMPLE_MASK_EXT) {
            self.word(0);
        } else {
            let words = (s.rasterization_samples as usize).div_ceil(32);
            self.words(s.sample_mask.get(..words).unwrap_or(&s.sample_mask));
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn viewport(&mut self, s: &ViewportStateBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags)
            .word(d.unless(D::SCISSOR_WITH_COUNT, s.scissor_count))
            .word(d.unless(D::VIEWPORT_WITH_COUNT, s.viewport_count));
        if !d.has(D::SCISSOR) && !d.has(D::SCISSOR_WITH_COUNT) {
            for r in s.scissors.iter().flatten() {
                self.signed(r.x).signed(r.y).word(r.width).word(r.height);
            }
        }
        if !d.has(D::VIEWPORT) && !d.has(D::VIEWPORT_WITH_COUNT) {
            for v in s.viewports.iter().flatten() {
                for value in [v.x, v.y, v.width, v.height, v.min_depth, v.max_depth] {
                    self.real(value);
                }
            }
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn vertex_input(&mut self, s: &VertexInputBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags).count(&s.attributes).count(&s.bindings);
        for a in &s.attributes {
            self.word(a.offset)
                .word(a.binding)
                .word(a.format)
                .word(a.location);
        }
        for b in &s.bindings {
            self.word(b.binding)
                .word(b.input_rate)
                .word(d.unless(D::VERTEX_INPUT_BINDING_STRIDE, b.stride));
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn color_blend(&mut self, s: &ColorBlendBody, d: &Dynamic<'_>) -> Step {
        let acts = d.has(D::LOGIC_OP_ENABLE_EXT) || s.logic_op_enable != 0;
        let op = if acts {
            d.unless(D::LOGIC_OP_EXT, s.logic_op)
        } else {
            0
        };
        self.word(s.flags)
            .count(&s.attachments)
            .word(d.unless(D::LOGIC_OP_ENABLE_EXT, s.logic_op_enable))
            .word(op);
        let dynamic_enable = d.has(D::COLOR_BLEND_ENABLE_EXT);
        let dynamic_equation = d.has(D::COLOR_BLEND_EQUATION_EXT);
        let mut constants = dynamic_equation;
        if dynamic_enable && dynamic_equation && d.has(D::COLOR_WRITE_MASK_EXT) {
            self.word(0);
        } else {
            for a in &s.attachments {
                self.word(d.unless(D::COLOR_BLEND_ENABLE_EXT, a.blend_enable))
                    .word(d.unless(D::COLOR_WRITE_MASK_EXT, a.color_write_mask));
                if dynamic_equation || !(dynamic_enable || a.blend_enable != 0) {
                    self.word(0);
                    continue;
                }
                let factors = [
                    a.dst_alpha_blend_factor,
                    a.src_alpha_blend_factor,
                    a.dst_color_blend_factor,
                    a.src_color_blend_factor,
                ];
                self.word(a.alpha_blend_op)
                    .word(a.color_blend_op)
                    .words(&factors);
                // CONSTANT_COLOR and CONSTANT_ALPHA; the recorder leaves out ONE_MINUS_*.
                constants |= factors.iter().any(|factor| matches!(factor, 10 | 12));
            }
        }
        if constants && !d.has(D::BLEND_CONSTANTS) {
            for value in s.blend_constants {
                self.real(value);
            }
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn tessellation(&mut self, s: &TessellationBody, d: &Dynamic<'_>) -> Step {
        self.word(s.flags)
            .word(d.unless(D::PATCH_CONTROL_POINTS_EXT, s.patch_control_points))
            .chain(&s.p_next)?;
        Ok(())
    }
}
