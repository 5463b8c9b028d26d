//! The states of graphics pipelines.

use super::{RecordError, Step, number, real};
use crate::json::chain::{
    AdvancedBlend, ClampRange, Coefficients, ColorWrite, Conservative, CoverageModulation,
    CoverageReduction, CoverageToColor, DepthBiasRepresentation, DepthClampControl, DepthClip,
    DepthClipControl, Divisor, Divisors, DomainOrigin, ExclusiveScissors, Extent, Line, Link,
    Location, LocationsInfo, ProvokingVertex, RasterizationOrder, RasterizationStream,
    SampleLocations, Swizzle, Swizzles, WScaling,
};
use crate::json::pipeline::{
    AttributeBody, BindingBody, BlendAttachmentBody, ColorBlendBody, DepthStencilBody,
    InputAssemblyBody, MultisampleBody, RasterizationBody, RectBody, StencilBody, TessellationBody,
    VertexInputBody, ViewportBody, ViewportStateBody,
};
use crate::recipes::graphics::MAX_ATTACHMENTS;
use ash::vk;
use standin_recipe::output::{BlendAttachment, ColorBlendState, DepthStencilState, StencilFace};
use standin_recipe::raster::{
    Counted, MultisampleState, RasterizationState, Rect, Viewport, ViewportState,
};
use standin_recipe::vertex::{InputAssemblyState, TessellationState, VertexInputState};

pub(super) fn vertex_input(state: &VertexInputState) -> VertexInputBody {
    let divisors: Vec<_> = state
        .bindings
        .iter()
        .filter(|binding| binding.divisor != 1)
        .map(|binding| Divisor {
            binding: binding.binding,
            divisor: binding.divisor,
        })
        .collect();
    let mut chain = Vec::new();
    if !divisors.is_empty() {
        chain.push(Link::Divisors(Divisors {
            vertex_binding_divisor_count: divisors.len() as u32,
            vertex_binding_divisors: divisors,
        }));
    }
    VertexInputBody {
        flags: 0,
        attributes: state
            .attributes
            .iter()
            .map(|a| AttributeBody {
                location: a.location,
                binding: a.binding,
                offset: a.offset,
                format: number(a.format.as_raw()),
            })
            .collect(),
        bindings: state
            .bindings
            .iter()
            .map(|b| BindingBody {
                binding: b.binding,
                stride: b.stride,
                input_rate: number(b.input_rate.as_raw()),
            })
            .collect(),
        p_next: chain,
    }
}

pub(super) fn input_assembly(state: &InputAssemblyState) -> InputAssemblyBody {
    InputAssemblyBody {
        flags: 0,
        topology: number(state.topology.as_raw()),
        primitive_restart_enable: u32::from(state.primitive_restart_enable),
        p_next: Vec::new(),
    }
}

pub(super) fn tessellation(state: &TessellationState) -> TessellationBody {
    let upper_left = state.domain_origin == vk::TessellationDomainOrigin::UPPER_LEFT;
    let chain = (!upper_left).then(|| {
        Link::DomainOrigin(DomainOrigin {
            domain_origin: number(state.domain_origin.as_raw()),
        })
    });
    TessellationBody {
        flags: 0,
        patch_control_points: state.patch_control_points,
        p_next: chain.into_iter().collect(),
    }
}

pub(super) fn rect(rect: &Rect) -> RectBody {
    RectBody {
        x: rect.x,
        y: rect.y,
        width: rect.width,
        height: rect.height,
    }
}

fn view(v: &Viewport) -> ViewportBody {
    ViewportBody {
        x: real(v.x),
        y: real(v.y),
        width: real(v.width),
        height: real(v.height),
        min_depth: real(v.min_depth),
        max_depth: real(v.max_depth),
    }
}

/// The values of a list, unless a dynamic state overrides them.
pub(super) fn values<T, U>(
    list: &Counted<T>,
    is_dynamic: bool,
    convert: impl FnMut(&T) -> U,
) -> Option<Vec<U>> {
    list.values()
        .filter(|_| !is_dynamic)
        .map(|values| values.iter().map(convert).collect())
}

pub(super) fn viewport(state: &ViewportState, dynamic: &[vk::DynamicState]) -> ViewportStateBody {
    let is_dynamic = |states: [vk::DynamicState; 2]| states.iter().any(|s| dynamic.contains(s));
    let viewports = [
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::VIEWPORT_WITH_COUNT,
    ];
    let scissors = [
        vk::DynamicState::SCISSOR,
        vk::DynamicState::SCISSOR_WITH_COUNT,
    ];
    let mut chain = Vec::new();
    if state.negative_one_to_one {
        chain.push(Link::DepthClipControl(DepthClipControl {
            negative_one_to_one: 1,
        }));
    }
    if let Some(scaling) = &state.w_scaling {
        let is_dynamic = dynamic.contains(&vk::DynamicState::VIEWPORT_W_SCALING_NV);
        chain.push(Link::WScaling(WScaling {
            viewport_w_scaling_enable: u32::from(scaling.enable),
            viewport_count: scaling.coefficients.count(),
            viewport_w_scalings: values(&scaling.coefficients, is_dynamic, |&[x, y]| {
                Coefficients {
                    xcoeff: real(x),
                    ycoeff: real(y),
                }
            }),
        }));
    }
    if !state.swizzles.is_empty() {
        let swizzles = state.swizzles.iter().map(|swizzle| {
            let [x, y, z, w] = swizzle.map(|value| number(value.as_raw()));
            Swizzle { x, y, z, w }
        });
        chain.push(Link::Swizzles(Swizzles {
            flags: 0,
            viewport_swizzles: swizzles.collect(),
        }));
    }
    if state.exclusive_scissors.count() != 0 {
        let is_dynamic = dynamic.contains(&vk::DynamicState::EXCLUSIVE_SCISSOR_NV);
        chain.push(Link::ExclusiveScissors(ExclusiveScissors {
            exclusive_scissor_count: state.exclusive_scissors.count(),
            exclusive_scissors: values(&state.exclusive_scissors, is_dynamic, rect),
        }));
    }
    if let Some(control) = &state.depth_clamp_control {
        chain.push(Link::DepthClampControl(DepthClampControl {
            depth_clamp_mode: number(control.mode),
            depth_clamp_range: control.range.map(|[min, max]| ClampRange {
                min_depth_clamp: real(min),
                max_depth_clamp: real(max),
            }),
        }));
    }
    ViewportStateBody {
        flags: 0,
        viewport_count: state.viewports.count(),
        scissor_count: state.scissors.count(),
        viewports: values(&state.viewports, is_dynamic(viewports), view),
        scissors: values(&state.scissors, is_dynamic(scissors), rect),
        p_next: chain,
    }
}

/// The structs are chained in the order of Mesa's zink, for which there are captures.
fn rasterization_chain(state: &RasterizationState) -> Vec<Link> {
    let mut chain = Vec::new();
    if let Some(line) = &state.line {
        chain.push(Link::Line(Line {
            line_rasterization_mode: number(line.mode.as_raw()),
            stippled_line_enable: u32::from(line.stippled),
            line_stipple_factor: line.stipple_factor,
            line_stipple_pattern: line.stipple_pattern,
        }));
    }
    if state.provoking_vertex != vk::ProvokingVertexModeEXT::FIRST_VERTEX {
        chain.push(Link::ProvokingVertex(ProvokingVertex {
            provoking_vertex_mode: number(state.provoking_vertex.as_raw()),
        }));
    }
    if let Some(enable) = state.depth_clip_enable {
        chain.push(Link::DepthClip(DepthClip {
            flags: 0,
            depth_clip_enable: u32::from(enable),
        }));
    }
    if let Some(conservative) = &state.conservative {
        chain.push(Link::Conservative(Conservative {
            flags: 0,
            conservative_rasterization_mode: number(conservative.mode.as_raw()),
            extra_primitive_overestimation_size: real(conservative.extra_overestimation),
        }));
    }
    if state.stream != 0 {
        chain.push(Link::RasterizationStream(RasterizationStream {
            flags: 0,
            rasterization_stream: state.stream,
        }));
    }
    if let Some(bias) = &state.depth_bias_representation {
        chain.push(Link::DepthBiasRepresentation(DepthBiasRepresentation {
            depth_bias_representation: number(bias.representation.as_raw()),
            depth_bias_exact: u32::from(bias.exact),
        }));
    }
    if state.order != vk::RasterizationOrderAMD::STRICT {
        chain.push(Link::RasterizationOrder(RasterizationOrder {
            rasterization_order: number(state.order.as_raw()),
        }));
    }
    chain
}

pub(super) fn rasterization(state: &RasterizationState) -> RasterizationBody {
    RasterizationBody {
        flags: 0,
        depth_bias_constant_factor: real(state.depth_bias_constant_factor),
        depth_bias_slope_factor: real(state.depth_bias_slope_factor),
        depth_bias_clamp: real(state.depth_bias_clamp),
        depth_bias_enable: u32::from(state.depth_bias_enable),
        depth_clamp_enable: u32::from(state.depth_clamp_enable),
        polygon_mode: number(state.polygon_mode.as_raw()),
        rasterizer_discard_enable: u32::from(state.rasterizer_discard_enable),
        front_face: number(state.front_face.as_raw()),
        line_width: real(state.line_width),
        cull_mode: state.cull_mode.as_raw(),
        p_next: rasterization_chain(state),
    }
}

fn multisample_chain(state: &MultisampleState) -> Vec<Link> {
    let mut chain = Vec::new();
    if let Some(samples) = &state.sample_locations {
        let [width, height] = samples.grid_size;
        let locations = samples.locations.iter().map(|&[x, y]| Location {
            x: real(x),
            y: real(y),
        });
        chain.push(Link::SampleLocations(SampleLocations {
            sample_locations_enable: u32::from(samples.enable),
            sample_locations_info: LocationsInfo {
                sample_locations_per_pixel: samples.per_pixel.as_raw(),
                sample_location_grid_size: Extent { width, height },
                s_type: Some(number(
                    vk::StructureType::SAMPLE_LOCATIONS_INFO_EXT.as_raw(),
                )),
                sample_locations: locations.collect(),
            },
        }));
    }
    if let Some(modulation) = &state.coverage_modulation {
        chain.push(Link::CoverageModulation(CoverageModulation {
            flags: 0,
            coverage_modulation_mode: number(modulation.mode.as_raw()),
            coverage_modulation_table_enable: u32::from(modulation.table_enable),
            coverage_modulation_table: modulation.table.iter().map(|&v| real(v)).collect(),
        }));
    }
    if let Some(mode) = state.coverage_reduction {
        chain.push(Link::CoverageReduction(CoverageReduction {
            flags: 0,
            coverage_reduction_mode: number(mode.as_raw()),
        }));
    }
    if let Some(color) = &state.coverage_to_color {
        chain.push(Link::CoverageToColor(CoverageToColor {
            flags: 0,
            coverage_to_color_enable: u32::from(color.enable),
            coverage_to_color_location: color.location,
        }));
    }
    chain
}

pub(super) fn multisample(state: &MultisampleState) -> MultisampleBody {
    MultisampleBody {
        flags: 0,
        rasterization_samples: state.samples.as_raw(),
        sample_shading_enable: u32::from(state.sample_shading_enable),
        min_sample_shading: real(state.min_sample_shading),
        alpha_to_one_enable: u32::from(state.alpha_to_one_enable),
        alpha_to_coverage_enable: u32::from(state.alpha_to_coverage_enable),
        sample_mask: state.sample_mask.clone(),
        p_next: multisample_chain(state),
    }
}

fn stencil(face: &StencilFace) -> StencilBody {
    StencilBody {
        compare_op: number(face.compare_op.as_raw()),
        write_mask: face.write_mask,
        reference: face.reference,
        compare_mask: face.compare_mask,
        pass_op: number(face.pass_op.as_raw()),
        fail_op: number(face.fail_op.as_raw()),
        depth_fail_op: number(face.depth_fail_op.as_raw()),
    }
}

pub(super) fn depth_stencil(state: &DepthStencilState) -> DepthStencilBody {
    DepthStencilBody {
        flags: state.flags.as_raw(),
        stencil_test_enable: u32::from(state.stencil_test_enable),
        max_depth_bounds: real(state.max_depth_bounds),
        min_depth_bounds: real(state.min_depth_bounds),
        depth_bounds_test_enable: u32::from(state.depth_bounds_test_enable),
        depth_write_enable: u32::from(state.depth_write_enable),
        depth_test_enable: u32::from(state.depth_test_enable),
        depth_compare_op: number(state.depth_compare_op.as_raw()),
        front: stencil(&state.front),
        back: stencil(&state.back),
        p_next: Vec::new(),
    }
}

fn blend(a: &BlendAttachment) -> BlendAttachmentBody {
    BlendAttachmentBody {
        dst_alpha_blend_factor: number(a.dst_alpha.as_raw()),
        src_alpha_blend_factor: number(a.src_alpha.as_raw()),
        dst_color_blend_factor: number(a.dst_color.as_raw()),
        src_color_blend_factor: number(a.src_color.as_raw()),
        color_write_mask: a.write_mask.as_raw(),
        alpha_blend_op: number(a.alpha_op.as_raw()),
        color_blend_op: number(a.color_op.as_raw()),
        blend_enable: u32::from(a.blend_enable),
    }
}

pub(super) fn color_blend(state: &ColorBlendState) -> Step<ColorBlendBody> {
    let attachments = match &state.attachments {
        Counted::Values(values) => values.iter().map(blend).collect(),
        // The format has no count apart; of what is dynamic any value will do.
        Counted::Count(count) if *count <= MAX_ATTACHMENTS => (0..*count)
            .map(|_| BlendAttachmentBody::default())
            .collect(),
        Counted::Count(_) => return Err(RecordError::NoPlace("that many colour attachments")),
    };
    let mut chain = Vec::new();
    if let Some(advanced) = &state.advanced {
        chain.push(Link::AdvancedBlend(AdvancedBlend {
            src_premultiplied: u32::from(advanced.src_premultiplied),
            dst_premultiplied: u32::from(advanced.dst_premultiplied),
            blend_overlap: number(advanced.overlap.as_raw()),
        }));
    }
    if let Some(enables) = &state.color_write_enables {
        chain.push(Link::ColorWrite(ColorWrite {
            attachment_count: enables.count(),
            color_write_enables: values(enables, false, |&enable| u32::from(enable)),
        }));
    }
    Ok(ColorBlendBody {
        flags: state.flags.as_raw(),
        logic_op: number(state.logic_op.as_raw()),
        logic_op_enable: u32::from(state.logic_op_enable),
        blend_constants: state.blend_constants.map(real),
        attachments,
        p_next: chain,
    })
}
