//! The states of graphics pipelines.

use super::{Step, float, foreign, no_chain, no_flags, raw};
use crate::declined::Reason;
use crate::json::chain::Link;
use crate::json::pipeline::{
    ColorBlendBody, DepthStencilBody, InputAssemblyBody, MultisampleBody, RasterizationBody,
    RectBody, StencilBody, TessellationBody, VertexInputBody, ViewportStateBody,
};
use ash::vk;
use standin_recipe::output::{
    AdvancedBlend, BlendAttachment, ColorBlendState, DepthStencilState, StencilFace,
};
use standin_recipe::raster::{
    ConservativeRasterization, Counted, CoverageModulation, CoverageToColor,
    DepthBiasRepresentation, DepthClampControl, LineRasterization, MultisampleState,
    RasterizationState, Rect, SampleLocations, Viewport, ViewportState, WScaling,
};
use standin_recipe::vertex::{
    InputAssemblyState, TessellationState, VertexAttribute, VertexBinding, VertexInputState,
};

pub(crate) fn vertex_input(body: &VertexInputBody) -> Step<VertexInputState> {
    no_flags(body.flags)?;
    let mut state = VertexInputState {
        bindings: body
            .bindings
            .iter()
            .map(|b| VertexBinding {
                binding: b.binding,
                stride: b.stride,
                input_rate: vk::VertexInputRate::from_raw(raw(b.input_rate)),
                divisor: 1,
            })
            .collect(),
        attributes: body
            .attributes
            .iter()
            .map(|a| VertexAttribute {
                location: a.location,
                binding: a.binding,
                format: vk::Format::from_raw(raw(a.format)),
                offset: a.offset,
            })
            .collect(),
    };
    for link in &body.p_next {
        match link {
            Link::Divisors(b) => {
                if b.vertex_binding_divisor_count as usize != b.vertex_binding_divisors.len() {
                    return Err(Reason::Inconsistent(
                        "the divisors are not as many as their count",
                    ));
                }
                for divisor in &b.vertex_binding_divisors {
                    let binding = state
                        .bindings
                        .iter_mut()
                        .find(|binding| binding.binding == divisor.binding)
                        .ok_or(Reason::Inconsistent("a divisor is of no binding"))?;
                    binding.divisor = divisor.divisor;
                }
            }
            other => foreign(other)?,
        }
    }
    Ok(state)
}

pub(crate) fn input_assembly(body: &InputAssemblyBody) -> Step<InputAssemblyState> {
    no_flags(body.flags)?;
    no_chain(&body.p_next)?;
    Ok(InputAssemblyState {
        topology: vk::PrimitiveTopology::from_raw(raw(body.topology)),
        primitive_restart_enable: body.primitive_restart_enable != 0,
    })
}

pub(crate) fn tessellation(body: &TessellationBody) -> Step<TessellationState> {
    no_flags(body.flags)?;
    let mut domain_origin = vk::TessellationDomainOrigin::UPPER_LEFT;
    for link in &body.p_next {
        match link {
            Link::DomainOrigin(b) => {
                domain_origin = vk::TessellationDomainOrigin::from_raw(raw(b.domain_origin));
            }
            other => foreign(other)?,
        }
    }
    Ok(TessellationState {
        patch_control_points: body.patch_control_points,
        domain_origin,
    })
}

/// Values as many as their count, or the count alone.
pub(crate) fn counted<B, T>(
    count: u32,
    bodies: Option<&Vec<B>>,
    convert: impl Fn(&B) -> T,
) -> Step<Counted<T>> {
    match bodies {
        Some(bodies) if bodies.len() == count as usize => {
            Ok(Counted::Values(bodies.iter().map(convert).collect()))
        }
        Some(_) => Err(Reason::Inconsistent("a list is not as long as its count")),
        None => Ok(Counted::Count(count)),
    }
}

pub(crate) fn rect(body: &RectBody) -> Rect {
    Rect {
        x: body.x,
        y: body.y,
        width: body.width,
        height: body.height,
    }
}

pub(crate) fn viewport(body: &ViewportStateBody) -> Step<ViewportState> {
    no_flags(body.flags)?;
    let viewports = counted(body.viewport_count, body.viewports.as_ref(), |v| Viewport {
        x: float(v.x),
        y: float(v.y),
        width: float(v.width),
        height: float(v.height),
        min_depth: float(v.min_depth),
        max_depth: float(v.max_depth),
    })?;
    let mut state = ViewportState {
        viewports,
        scissors: counted(body.scissor_count, body.scissors.as_ref(), rect)?,
        ..ViewportState::default()
    };
    for link in &body.p_next {
        match link {
            Link::DepthClipControl(b) => state.negative_one_to_one = b.negative_one_to_one != 0,
            Link::WScaling(b) => {
                let scalings = b.viewport_w_scalings.as_ref();
                state.w_scaling = Some(WScaling {
                    enable: b.viewport_w_scaling_enable != 0,
                    coefficients: counted(b.viewport_count, scalings, |c| {
                        [float(c.xcoeff), float(c.ycoeff)]
                    })?,
                });
            }
            Link::Swizzles(b) => {
                no_flags(b.flags)?;
                state.swizzles = b
                    .viewport_swizzles
                    .iter()
                    .map(|s| [s.x, s.y, s.z, s.w])
                    .map(|s| s.map(|v| vk::ViewportCoordinateSwizzleNV::from_raw(raw(v))))
                    .collect();
            }
            Link::ExclusiveScissors(b) => {
                let scissors = b.exclusive_scissors.as_ref();
                state.exclusive_scissors = counted(b.exclusive_scissor_count, scissors, rect)?;
            }
            Link::DepthClampControl(b) => {
                state.depth_clamp_control = Some(DepthClampControl {
                    mode: raw(b.depth_clamp_mode),
                    range: b
                        .depth_clamp_range
                        .as_ref()
                        .map(|r| [float(r.min_depth_clamp), float(r.max_depth_clamp)]),
                });
            }
            other => foreign(other)?,
        }
    }
    Ok(state)
}

pub(crate) fn rasterization(body: &RasterizationBody) -> Step<RasterizationState> {
    no_flags(body.flags)?;
    let mut state = RasterizationState {
        depth_clamp_enable: body.depth_clamp_enable != 0,
        rasterizer_discard_enable: body.rasterizer_discard_enable != 0,
        polygon_mode: vk::PolygonMode::from_raw(raw(body.polygon_mode)),
        cull_mode: vk::CullModeFlags::from_raw(body.cull_mode),
        front_face: vk::FrontFace::from_raw(raw(body.front_face)),
        depth_bias_enable: body.depth_bias_enable != 0,
        depth_bias_constant_factor: float(body.depth_bias_constant_factor),
        depth_bias_clamp: float(body.depth_bias_clamp),
        depth_bias_slope_factor: float(body.depth_bias_slope_factor),
        line_width: float(body.line_width),
        ..RasterizationState::default()
    };
    for link in &body.p_next {
        match link {
            Link::DepthClip(b) => state.depth_clip_enable = Some(b.depth_clip_enable != 0),
            Link::Conservative(b) => {
                state.conservative = Some(ConservativeRasterization {
                    mode: vk::ConservativeRasterizationModeEXT::from_raw(raw(
                        b.conservative_rasterization_mode
                    )),
                    extra_overestimation: float(b.extra_primitive_overestimation_size),
                });
            }
            Link::Line(b) => {
                state.line = Some(LineRasterization {
                    mode: vk::LineRasterizationModeKHR::from_raw(raw(b.line_rasterization_mode)),
                    stippled: b.stippled_line_enable != 0,
                    stipple_factor: b.line_stipple_factor,
                    stipple_pattern: b.line_stipple_pattern,
                });
            }
            Link::RasterizationStream(b) => state.stream = b.rasterization_stream,
            Link::ProvokingVertex(b) => {
                state.provoking_vertex =
                    vk::ProvokingVertexModeEXT::from_raw(raw(b.provoking_vertex_mode));
            }
            Link::DepthBiasRepresentation(b) => {
                state.depth_bias_representation = Some(DepthBiasRepresentation {
                    representation: vk::DepthBiasRepresentationEXT::from_raw(raw(
                        b.depth_bias_representation
                    )),
                    exact: b.depth_bias_exact != 0,
                });
            }
            Link::RasterizationOrder(b) => {
                state.order = vk::RasterizationOrderAMD::from_raw(raw(b.rasterization_order));
            }
            other => foreign(other)?,
        }
    }
    Ok(state)
}

pub(crate) fn multisample(body: &MultisampleBody) -> Step<MultisampleState> {
    no_flags(body.flags)?;
    let words = (body.rasterization_samples as usize).div_ceil(32).max(1);
    if !body.sample_mask.is_empty() && body.sample_mask.len() < words {
        return Err(Reason::Inconsistent(
            "the sample mask is shorter than the samples",
        ));
    }
    let mut state = MultisampleState {
        samples: vk::SampleCountFlags::from_raw(body.rasterization_samples),
        sample_shading_enable: body.sample_shading_enable != 0,
        min_sample_shading: float(body.min_sample_shading),
        sample_mask: body.sample_mask.clone(),
        alpha_to_coverage_enable: body.alpha_to_coverage_enable != 0,
        alpha_to_one_enable: body.alpha_to_one_enable != 0,
        ..MultisampleState::default()
    };
    for link in &body.p_next {
        match link {
            Link::SampleLocations(b) => {
                let info = &b.sample_locations_info;
                let grid = &info.sample_location_grid_size;
                state.sample_locations = Some(SampleLocations {
                    enable: b.sample_locations_enable != 0,
                    per_pixel: vk::SampleCountFlags::from_raw(info.sample_locations_per_pixel),
                    grid_size: [grid.width, grid.height],
                    locations: info
                        .sample_locations
                        .iter()
                        .map(|l| [float(l.x), float(l.y)])
                        .collect(),
                });
            }
            Link::CoverageModulation(b) => {
                no_flags(b.flags)?;
                state.coverage_modulation = Some(CoverageModulation {
                    mode: vk::CoverageModulationModeNV::from_raw(raw(b.coverage_modulation_mode)),
                    table_enable: b.coverage_modulation_table_enable != 0,
                    table: b
                        .coverage_modulation_table
                        .iter()
                        .map(|&v| float(v))
                        .collect(),
                });
            }
            Link::CoverageReduction(b) => {
                no_flags(b.flags)?;
                state.coverage_reduction = Some(vk::CoverageReductionModeNV::from_raw(raw(
                    b.coverage_reduction_mode
                )));
            }
            Link::CoverageToColor(b) => {
                no_flags(b.flags)?;
                state.coverage_to_color = Some(CoverageToColor {
                    enable: b.coverage_to_color_enable != 0,
                    location: b.coverage_to_color_location,
                });
            }
            other => foreign(other)?,
        }
    }
    Ok(state)
}

fn stencil(body: &StencilBody) -> StencilFace {
    StencilFace {
        fail_op: vk::StencilOp::from_raw(raw(body.fail_op)),
        pass_op: vk::StencilOp::from_raw(raw(body.pass_op)),
        depth_fail_op: vk::StencilOp::from_raw(raw(body.depth_fail_op)),
        compare_op: vk::CompareOp::from_raw(raw(body.compare_op)),
        compare_mask: body.compare_mask,
        write_mask: body.write_mask,
        reference: body.reference,
    }
}

pub(crate) fn depth_stencil(body: &DepthStencilBody) -> Step<DepthStencilState> {
    no_chain(&body.p_next)?;
    Ok(DepthStencilState {
        flags: vk::PipelineDepthStencilStateCreateFlags::from_raw(body.flags),
        depth_test_enable: body.depth_test_enable != 0,
        depth_write_enable: body.depth_write_enable != 0,
        depth_compare_op: vk::CompareOp::from_raw(raw(body.depth_compare_op)),
        depth_bounds_test_enable: body.depth_bounds_test_enable != 0,
        stencil_test_enable: body.stencil_test_enable != 0,
        front: stencil(&body.front),
        back: stencil(&body.back),
        min_depth_bounds: float(body.min_depth_bounds),
        max_depth_bounds: float(body.max_depth_bounds),
    })
}

pub(crate) fn color_blend(body: &ColorBlendBody) -> Step<ColorBlendState> {
    let attachments: Vec<_> = body
        .attachments
        .iter()
        .map(|a| BlendAttachment {
            blend_enable: a.blend_enable != 0,
            src_color: vk::BlendFactor::from_raw(raw(a.src_color_blend_factor)),
            dst_color: vk::BlendFactor::from_raw(raw(a.dst_color_blend_factor)),
            color_op: vk::BlendOp::from_raw(raw(a.color_blend_op)),
            src_alpha: vk::BlendFactor::from_raw(raw(a.src_alpha_blend_factor)),
            dst_alpha: vk::BlendFactor::from_raw(raw(a.dst_alpha_blend_factor)),
            alpha_op: vk::BlendOp::from_raw(raw(a.alpha_blend_op)),
            write_mask: vk::ColorComponentFlags::from_raw(a.color_write_mask),
        })
        .collect();
    let mut state = ColorBlendState {
        flags: vk::PipelineColorBlendStateCreateFlags::from_raw(body.flags),
        logic_op_enable: body.logic_op_enable != 0,
        logic_op: vk::LogicOp::from_raw(raw(body.logic_op)),
        attachments: attachments.into(),
        blend_constants: body.blend_constants.map(float),
        ..ColorBlendState::default()
    };
    for link in &body.p_next {
        match link {
            Link::AdvancedBlend(b) => {
                state.advanced = Some(AdvancedBlend {
                    src_premultiplied: b.src_premultiplied != 0,
                    dst_premultiplied: b.dst_premultiplied != 0,
                    overlap: vk::BlendOverlapEXT::from_raw(raw(b.blend_overlap)),
                });
            }
            Link::ColorWrite(b) => {
                let enables = b.color_write_enables.as_ref();
                state.color_write_enables =
                    Some(counted(b.attachment_count, enables, |&enable| enable != 0)?);
            }
            other => foreign(other)?,
        }
    }
    Ok(state)
}
