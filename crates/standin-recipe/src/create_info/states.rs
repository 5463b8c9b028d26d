//! The state structs of a graphics pipeline.

use super::{Arena, Chain, chain, count};
use crate::codec::Float;
use crate::output::{ColorBlendState, DepthStencilState, StencilFace};
use crate::raster::{Counted, MultisampleState, RasterizationState, Rect, ViewportState};
use crate::vertex::{InputAssemblyState, TessellationState, VertexInputState};
use ash::vk;
use std::ffi::c_void;
use std::ptr;

/// `VkPipelineViewportDepthClampControlCreateInfoEXT`, which the bindings do not have.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DepthClampControlCreateInfo {
    /// [`Self::S_TYPE`].
    pub s_type: vk::StructureType,
    /// The next struct.
    pub p_next: *const c_void,
    /// `VkDepthClampModeEXT`.
    pub depth_clamp_mode: i32,
    /// Least and greatest depth (`VkDepthClampRangeEXT`), or null.
    pub p_depth_clamp_range: *const [f32; 2],
}

impl DepthClampControlCreateInfo {
    /// `VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLAMP_CONTROL_CREATE_INFO_EXT`.
    pub const S_TYPE: vk::StructureType = vk::StructureType::from_raw(1_000_582_001);
    /// `VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT`.
    pub const USER_DEFINED_RANGE: i32 = 1;
}

pub(super) fn rect(rect: &Rect) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D {
            x: rect.x,
            y: rect.y,
        },
        extent: vk::Extent2D {
            width: rect.width,
            height: rect.height,
        },
    }
}

/// Keeps a counted list; null where its values do not matter.
pub(super) fn keep_counted<T, U: 'static>(
    arena: &mut Arena,
    list: &Counted<T>,
    convert: impl FnMut(&T) -> U,
) -> *const U {
    let values = list.values().unwrap_or_default();
    arena.keep_all(values.iter().map(convert).collect())
}

fn bool32(value: bool) -> vk::Bool32 {
    vk::Bool32::from(value)
}

pub(super) fn vertex_input(
    arena: &mut Arena,
    state: &VertexInputState,
) -> vk::PipelineVertexInputStateCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    let divisors: Vec<vk::VertexInputBindingDivisorDescriptionKHR> = state
        .bindings
        .iter()
        .filter(|binding| binding.divisor != 1)
        .map(|binding| vk::VertexInputBindingDivisorDescriptionKHR {
            binding: binding.binding,
            divisor: binding.divisor,
        })
        .collect();
    if !divisors.is_empty() {
        chain!(
            arena,
            next,
            vk::PipelineVertexInputDivisorStateCreateInfoKHR {
                vertex_binding_divisor_count: count(&divisors),
                p_vertex_binding_divisors: arena.keep_all(divisors),
                ..Default::default()
            }
        );
    }
    let bindings: Vec<vk::VertexInputBindingDescription> = state
        .bindings
        .iter()
        .map(|binding| vk::VertexInputBindingDescription {
            binding: binding.binding,
            stride: binding.stride,
            input_rate: binding.input_rate,
        })
        .collect();
    let attributes: Vec<vk::VertexInputAttributeDescription> = state
        .attributes
        .iter()
        .map(|attribute| vk::VertexInputAttributeDescription {
            location: attribute.location,
            binding: attribute.binding,
            format: attribute.format,
            offset: attribute.offset,
        })
        .collect();
    vk::PipelineVertexInputStateCreateInfo {
        p_next: next,
        vertex_binding_description_count: count(&bindings),
        p_vertex_binding_descriptions: arena.keep_all(bindings),
        vertex_attribute_description_count: count(&attributes),
        p_vertex_attribute_descriptions: arena.keep_all(attributes),
        ..Default::default()
    }
}

pub(super) fn input_assembly(
    state: &InputAssemblyState,
) -> vk::PipelineInputAssemblyStateCreateInfo<'static> {
    vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(state.topology)
        .primitive_restart_enable(state.primitive_restart_enable)
}

pub(super) fn tessellation(
    arena: &mut Arena,
    state: &TessellationState,
) -> vk::PipelineTessellationStateCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    if state.domain_origin != vk::TessellationDomainOrigin::UPPER_LEFT {
        chain!(
            arena,
            next,
            vk::PipelineTessellationDomainOriginStateCreateInfo::default()
                .domain_origin(state.domain_origin)
        );
    }
    vk::PipelineTessellationStateCreateInfo {
        p_next: next,
        patch_control_points: state.patch_control_points,
        ..Default::default()
    }
}

pub(super) fn viewport(
    arena: &mut Arena,
    state: &ViewportState,
) -> vk::PipelineViewportStateCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    if state.negative_one_to_one {
        chain!(
            arena,
            next,
            vk::PipelineViewportDepthClipControlCreateInfoEXT::default().negative_one_to_one(true)
        );
    }
    if let Some(scaling) = &state.w_scaling {
        let coefficients = keep_counted(arena, &scaling.coefficients, |[x, y]| {
            vk::ViewportWScalingNV {
                xcoeff: x.get(),
                ycoeff: y.get(),
            }
        });
        chain!(
            arena,
            next,
            vk::PipelineViewportWScalingStateCreateInfoNV {
                viewport_w_scaling_enable: bool32(scaling.enable),
                viewport_count: scaling.coefficients.count(),
                p_viewport_w_scalings: coefficients,
                ..Default::default()
            }
        );
    }
    if !state.swizzles.is_empty() {
        let swizzles: Vec<vk::ViewportSwizzleNV> = state
            .swizzles
            .iter()
            .map(|[x, y, z, w]| vk::ViewportSwizzleNV {
                x: *x,
                y: *y,
                z: *z,
                w: *w,
            })
            .collect();
        chain!(
            arena,
            next,
            vk::PipelineViewportSwizzleStateCreateInfoNV {
                viewport_count: count(&swizzles),
                p_viewport_swizzles: arena.keep_all(swizzles),
                ..Default::default()
            }
        );
    }
    if state.exclusive_scissors.count() != 0 {
        let scissors = keep_counted(arena, &state.exclusive_scissors, rect);
        chain!(
            arena,
            next,
            vk::PipelineViewportExclusiveScissorStateCreateInfoNV {
                exclusive_scissor_count: state.exclusive_scissors.count(),
                p_exclusive_scissors: scissors,
                ..Default::default()
            }
        );
    }
    if let Some(control) = &state.depth_clamp_control {
        let range = arena.keep_option(control.range.map(|range| range.map(Float::get)));
        chain!(
            arena,
            next,
            DepthClampControlCreateInfo {
                s_type: DepthClampControlCreateInfo::S_TYPE,
                p_next: ptr::null(),
                depth_clamp_mode: control.mode,
                p_depth_clamp_range: range,
            }
        );
    }
    let viewports = keep_counted(arena, &state.viewports, |viewport| vk::Viewport {
        x: viewport.x.get(),
        y: viewport.y.get(),
        width: viewport.width.get(),
        height: viewport.height.get(),
        min_depth: viewport.min_depth.get(),
        max_depth: viewport.max_depth.get(),
    });
    let scissors = keep_counted(arena, &state.scissors, rect);
    vk::PipelineViewportStateCreateInfo {
        p_next: next,
        viewport_count: state.viewports.count(),
        p_viewports: viewports,
        scissor_count: state.scissors.count(),
        p_scissors: scissors,
        ..Default::default()
    }
}

pub(super) fn rasterization(
    arena: &mut Arena,
    state: &RasterizationState,
) -> vk::PipelineRasterizationStateCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    if let Some(enable) = state.depth_clip_enable {
        chain!(
            arena,
            next,
            vk::PipelineRasterizationDepthClipStateCreateInfoEXT::default()
                .depth_clip_enable(enable)
        );
    }
    if let Some(conservative) = &state.conservative {
        chain!(
            arena,
            next,
            vk::PipelineRasterizationConservativeStateCreateInfoEXT::default()
                .conservative_rasterization_mode(conservative.mode)
                .extra_primitive_overestimation_size(conservative.extra_overestimation.get())
        );
    }
    if let Some(line) = &state.line {
        chain!(
            arena,
            next,
            vk::PipelineRasterizationLineStateCreateInfoKHR::default()
                .line_rasterization_mode(line.mode)
                .stippled_line_enable(line.stippled)
                .line_stipple_factor(line.stipple_factor)
                .line_stipple_pattern(line.stipple_pattern)
        );
    }
    if state.stream != 0 {
        chain!(
            arena,
            next,
            vk::PipelineRasterizationStateStreamCreateInfoEXT::default()
                .rasterization_stream(state.stream)
        );
    }
    if state.provoking_vertex != vk::ProvokingVertexModeEXT::FIRST_VERTEX {
        chain!(
            arena,
            next,
            vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT::default()
                .provoking_vertex_mode(state.provoking_vertex)
        );
    }
    if let Some(representation) = &state.depth_bias_representation {
        chain!(
            arena,
            next,
            vk::DepthBiasRepresentationInfoEXT::default()
                .depth_bias_representation(representation.representation)
                .depth_bias_exact(representation.exact)
        );
    }
    if state.order != vk::RasterizationOrderAMD::STRICT {
        chain!(
            arena,
            next,
            vk::PipelineRasterizationStateRasterizationOrderAMD::default()
                .rasterization_order(state.order)
        );
    }
    vk::PipelineRasterizationStateCreateInfo {
        p_next: next,
        depth_clamp_enable: bool32(state.depth_clamp_enable),
        rasterizer_discard_enable: bool32(state.rasterizer_discard_enable),
        polygon_mode: state.polygon_mode,
        cull_mode: state.cull_mode,
        front_face: state.front_face,
        depth_bias_enable: bool32(state.depth_bias_enable),
        depth_bias_constant_factor: state.depth_bias_constant_factor.get(),
        depth_bias_clamp: state.depth_bias_clamp.get(),
        depth_bias_slope_factor: state.depth_bias_slope_factor.get(),
        line_width: state.line_width.get(),
        ..Default::default()
    }
}

pub(super) fn multisample(
    arena: &mut Arena,
    state: &MultisampleState,
) -> vk::PipelineMultisampleStateCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    if let Some(locations) = &state.sample_locations {
        let list: Vec<vk::SampleLocationEXT> = locations
            .locations
            .iter()
            .map(|[x, y]| vk::SampleLocationEXT {
                x: x.get(),
                y: y.get(),
            })
            .collect();
        let [width, height] = locations.grid_size;
        let info = vk::SampleLocationsInfoEXT {
            sample_locations_per_pixel: locations.per_pixel,
            sample_location_grid_size: vk::Extent2D { width, height },
            sample_locations_count: count(&list),
            p_sample_locations: arena.keep_all(list),
            ..Default::default()
        };
        chain!(
            arena,
            next,
            vk::PipelineSampleLocationsStateCreateInfoEXT::default()
                .sample_locations_enable(locations.enable)
                .sample_locations_info(info)
        );
    }
    if let Some(modulation) = &state.coverage_modulation {
        let table: Vec<f32> = modulation.table.iter().map(|value| value.get()).collect();
        chain!(
            arena,
            next,
            vk::PipelineCoverageModulationStateCreateInfoNV {
                coverage_modulation_mode: modulation.mode,
                coverage_modulation_table_enable: bool32(modulation.table_enable),
                coverage_modulation_table_count: count(&table),
                p_coverage_modulation_table: arena.keep_all(table),
                ..Default::default()
            }
        );
    }
    if let Some(mode) = state.coverage_reduction {
        chain!(
            arena,
            next,
            vk::PipelineCoverageReductionStateCreateInfoNV::default().coverage_reduction_mode(mode)
        );
    }
    if let Some(to_color) = &state.coverage_to_color {
        chain!(
            arena,
            next,
            vk::PipelineCoverageToColorStateCreateInfoNV::default()
                .coverage_to_color_enable(to_color.enable)
                .coverage_to_color_location(to_color.location)
        );
    }
    let mut mask = state.sample_mask.clone();
    if !mask.is_empty() {
        // The driver reads a word for every 32 samples.
        mask.resize(if state.samples.as_raw() > 32 { 2 } else { 1 }, u32::MAX);
    }
    vk::PipelineMultisampleStateCreateInfo {
        p_next: next,
        rasterization_samples: state.samples,
        sample_shading_enable: bool32(state.sample_shading_enable),
        min_sample_shading: state.min_sample_shading.get(),
        p_sample_mask: arena.keep_all(mask),
        alpha_to_coverage_enable: bool32(state.alpha_to_coverage_enable),
        alpha_to_one_enable: bool32(state.alpha_to_one_enable),
        ..Default::default()
    }
}

fn stencil_face(face: &StencilFace) -> vk::StencilOpState {
    vk::StencilOpState {
        fail_op: face.fail_op,
        pass_op: face.pass_op,
        depth_fail_op: face.depth_fail_op,
        compare_op: face.compare_op,
        compare_mask: face.compare_mask,
        write_mask: face.write_mask,
        reference: face.reference,
    }
}

pub(super) fn depth_stencil(
    state: &DepthStencilState,
) -> vk::PipelineDepthStencilStateCreateInfo<'static> {
    vk::PipelineDepthStencilStateCreateInfo::default()
        .flags(state.flags)
        .depth_test_enable(state.depth_test_enable)
        .depth_write_enable(state.depth_write_enable)
        .depth_compare_op(state.depth_compare_op)
        .depth_bounds_test_enable(state.depth_bounds_test_enable)
        .stencil_test_enable(state.stencil_test_enable)
        .front(stencil_face(&state.front))
        .back(stencil_face(&state.back))
        .min_depth_bounds(state.min_depth_bounds.get())
        .max_depth_bounds(state.max_depth_bounds.get())
}

pub(super) fn color_blend(
    arena: &mut Arena,
    state: &ColorBlendState,
) -> vk::PipelineColorBlendStateCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    if let Some(enables) = &state.color_write_enables {
        let list = keep_counted(arena, enables, |enable| bool32(*enable));
        chain!(
            arena,
            next,
            vk::PipelineColorWriteCreateInfoEXT {
                attachment_count: enables.count(),
                p_color_write_enables: list,
                ..Default::default()
            }
        );
    }
    if let Some(advanced) = &state.advanced {
        chain!(
            arena,
            next,
            vk::PipelineColorBlendAdvancedStateCreateInfoEXT::default()
                .src_premultiplied(advanced.src_premultiplied)
                .dst_premultiplied(advanced.dst_premultiplied)
                .blend_overlap(advanced.overlap)
        );
    }
    let attachments = keep_counted(arena, &state.attachments, |attachment| {
        vk::PipelineColorBlendAttachmentState {
            blend_enable: bool32(attachment.blend_enable),
            src_color_blend_factor: attachment.src_color,
            dst_color_blend_factor: attachment.dst_color,
            color_blend_op: attachment.color_op,
            src_alpha_blend_factor: attachment.src_alpha,
            dst_alpha_blend_factor: attachment.dst_alpha,
            alpha_blend_op: attachment.alpha_op,
            color_write_mask: attachment.write_mask,
        }
    });
    vk::PipelineColorBlendStateCreateInfo {
        p_next: next,
        flags: state.flags,
        logic_op_enable: bool32(state.logic_op_enable),
        logic_op: state.logic_op,
        attachment_count: state.attachments.count(),
        p_attachments: attachments,
        blend_constants: state.blend_constants.map(Float::get),
        ..Default::default()
    }
}
