//! The state structs of a graphics pipeline. Each function's caller has checked that the state is
//! not ignored.

use crate::CaptureError;
use crate::chain::{expect_nothing, no_flags, slice, walk};
use ash::vk::{self, DynamicState as State};
use standin_recipe::Float;
use standin_recipe::create_info::DepthClampControlCreateInfo;
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

/// `VK_DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT`.
const DEPTH_CLAMP_RANGE: State = State::from_raw(1_000_582_000);

/// Which states a pipeline leaves to the draw.
#[derive(Clone, Copy)]
pub(crate) struct Dynamic<'a>(pub(crate) &'a [State]);

impl Dynamic<'_> {
    pub(crate) fn has(self, state: State) -> bool {
        self.0.contains(&state)
    }
}

fn on(value: vk::Bool32) -> bool {
    value != vk::FALSE
}

pub(crate) fn rect(rect: &vk::Rect2D) -> Rect {
    Rect {
        x: rect.offset.x,
        y: rect.offset.y,
        width: rect.extent.width,
        height: rect.extent.height,
    }
}

/// A list, or its length alone where the values are not read.
///
/// # Safety
/// If the values are read, `first` is null or points to `count` of them.
pub(crate) unsafe fn counted<T, U>(
    read: bool,
    first: *const T,
    count: u32,
    place: &'static str,
    convert: impl FnMut(&T) -> U,
) -> Result<Counted<U>, CaptureError> {
    if read {
        // SAFETY: passed on.
        let values = unsafe { slice(first, count, place) }?;
        Ok(Counted::Values(values.iter().map(convert).collect()))
    } else {
        Ok(Counted::Count(count))
    }
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn vertex_input(
    info: &vk::PipelineVertexInputStateCreateInfo<'_>,
) -> Result<VertexInputState, CaptureError> {
    const PLACE: &str = "VkPipelineVertexInputStateCreateInfo";
    no_flags(info.flags.as_raw(), PLACE)?;
    // SAFETY: the struct is valid.
    let (bindings, attributes) = unsafe {
        (
            slice(
                info.p_vertex_binding_descriptions,
                info.vertex_binding_description_count,
                "VkPipelineVertexInputStateCreateInfo::pVertexBindingDescriptions",
            )?,
            slice(
                info.p_vertex_attribute_descriptions,
                info.vertex_attribute_description_count,
                "VkPipelineVertexInputStateCreateInfo::pVertexAttributeDescriptions",
            )?,
        )
    };
    let mut bindings: Vec<VertexBinding> = bindings
        .iter()
        .map(|binding| VertexBinding {
            binding: binding.binding,
            stride: binding.stride,
            input_rate: binding.input_rate,
            divisor: 1,
        })
        .collect();
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            // One struct with two names.
            let Some(chained) =
                element.get::<vk::PipelineVertexInputDivisorStateCreateInfoKHR<'_>>()
            else {
                return Ok(false);
            };
            let divisors = slice(
                chained.p_vertex_binding_divisors,
                chained.vertex_binding_divisor_count,
                "VkPipelineVertexInputDivisorStateCreateInfo::pVertexBindingDivisors",
            )?;
            for one in divisors {
                bindings
                    .iter_mut()
                    .find(|binding| binding.binding == one.binding)
                    .ok_or(CaptureError::DivisorWithoutBinding {
                        binding: one.binding,
                    })?
                    .divisor = one.divisor;
            }
            Ok(true)
        })
    }?;
    Ok(VertexInputState {
        bindings,
        attributes: attributes
            .iter()
            .map(|attribute| VertexAttribute {
                location: attribute.location,
                binding: attribute.binding,
                format: attribute.format,
                offset: attribute.offset,
            })
            .collect(),
    })
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn input_assembly(
    info: &vk::PipelineInputAssemblyStateCreateInfo<'_>,
) -> Result<InputAssemblyState, CaptureError> {
    const PLACE: &str = "VkPipelineInputAssemblyStateCreateInfo";
    no_flags(info.flags.as_raw(), PLACE)?;
    // SAFETY: the struct is valid.
    unsafe { expect_nothing(info.p_next, PLACE) }?;
    Ok(InputAssemblyState {
        topology: info.topology,
        primitive_restart_enable: on(info.primitive_restart_enable),
    })
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn tessellation(
    info: &vk::PipelineTessellationStateCreateInfo<'_>,
) -> Result<TessellationState, CaptureError> {
    const PLACE: &str = "VkPipelineTessellationStateCreateInfo";
    no_flags(info.flags.as_raw(), PLACE)?;
    let mut state = TessellationState {
        patch_control_points: info.patch_control_points,
        ..TessellationState::default()
    };
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            let chained = element.get::<vk::PipelineTessellationDomainOriginStateCreateInfo<'_>>();
            if let Some(chained) = chained {
                state.domain_origin = chained.domain_origin;
            }
            Ok(chained.is_some())
        })
    }?;
    Ok(state)
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn viewport(
    info: &vk::PipelineViewportStateCreateInfo<'_>,
    dynamic: Dynamic<'_>,
) -> Result<ViewportState, CaptureError> {
    const PLACE: &str = "VkPipelineViewportStateCreateInfo";
    no_flags(info.flags.as_raw(), PLACE)?;
    let viewports = !dynamic.has(State::VIEWPORT) && !dynamic.has(State::VIEWPORT_WITH_COUNT);
    let scissors = !dynamic.has(State::SCISSOR) && !dynamic.has(State::SCISSOR_WITH_COUNT);
    // SAFETY: the struct is valid.
    let mut state = unsafe {
        ViewportState {
            viewports: counted(
                viewports,
                info.p_viewports,
                info.viewport_count,
                "VkPipelineViewportStateCreateInfo::pViewports",
                |viewport| Viewport {
                    x: Float::new(viewport.x),
                    y: Float::new(viewport.y),
                    width: Float::new(viewport.width),
                    height: Float::new(viewport.height),
                    min_depth: Float::new(viewport.min_depth),
                    max_depth: Float::new(viewport.max_depth),
                },
            )?,
            scissors: counted(
                scissors,
                info.p_scissors,
                info.scissor_count,
                "VkPipelineViewportStateCreateInfo::pScissors",
                rect,
            )?,
            ..ViewportState::default()
        }
    };
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(clip) =
                element.get::<vk::PipelineViewportDepthClipControlCreateInfoEXT<'_>>()
            {
                state.negative_one_to_one = on(clip.negative_one_to_one);
            } else if let Some(scaling) =
                element.get::<vk::PipelineViewportWScalingStateCreateInfoNV<'_>>()
            {
                state.w_scaling = Some(WScaling {
                    enable: on(scaling.viewport_w_scaling_enable),
                    coefficients: counted(
                        !dynamic.has(State::VIEWPORT_W_SCALING_NV),
                        scaling.p_viewport_w_scalings,
                        scaling.viewport_count,
                        "VkPipelineViewportWScalingStateCreateInfoNV::pViewportWScalings",
                        |one| [Float::new(one.xcoeff), Float::new(one.ycoeff)],
                    )?,
                });
            } else if let Some(swizzle) =
                element.get::<vk::PipelineViewportSwizzleStateCreateInfoNV<'_>>()
            {
                no_flags(
                    swizzle.flags.as_raw(),
                    "VkPipelineViewportSwizzleStateCreateInfoNV",
                )?;
                if !dynamic.has(State::VIEWPORT_SWIZZLE_NV) {
                    state.swizzles = slice(
                        swizzle.p_viewport_swizzles,
                        swizzle.viewport_count,
                        "VkPipelineViewportSwizzleStateCreateInfoNV::pViewportSwizzles",
                    )?
                    .iter()
                    .map(|one| [one.x, one.y, one.z, one.w])
                    .collect();
                }
            } else if let Some(exclusive) =
                element.get::<vk::PipelineViewportExclusiveScissorStateCreateInfoNV<'_>>()
            {
                state.exclusive_scissors = counted(
                    !dynamic.has(State::EXCLUSIVE_SCISSOR_NV),
                    exclusive.p_exclusive_scissors,
                    exclusive.exclusive_scissor_count,
                    "VkPipelineViewportExclusiveScissorStateCreateInfoNV::pExclusiveScissors",
                    rect,
                )?;
            } else if let Some(control) =
                element.get_as::<DepthClampControlCreateInfo>(DepthClampControlCreateInfo::S_TYPE)
            {
                state.depth_clamp_control = depth_clamp_control(control, dynamic);
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(state)
}

/// # Safety
/// The struct is valid.
unsafe fn depth_clamp_control(
    control: &DepthClampControlCreateInfo,
    dynamic: Dynamic<'_>,
) -> Option<DepthClampControl> {
    if dynamic.has(DEPTH_CLAMP_RANGE) {
        return None;
    }
    let user_defined = control.depth_clamp_mode == DepthClampControlCreateInfo::USER_DEFINED_RANGE;
    let range = if user_defined {
        // SAFETY: the struct is valid, and the range is read in this mode.
        unsafe { control.p_depth_clamp_range.as_ref() }
    } else {
        None
    };
    Some(DepthClampControl {
        mode: control.depth_clamp_mode,
        range: range.map(|range| range.map(Float::new)),
    })
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn rasterization(
    info: &vk::PipelineRasterizationStateCreateInfo<'_>,
) -> Result<RasterizationState, CaptureError> {
    const PLACE: &str = "VkPipelineRasterizationStateCreateInfo";
    no_flags(info.flags.as_raw(), PLACE)?;
    let mut state = RasterizationState {
        depth_clamp_enable: on(info.depth_clamp_enable),
        rasterizer_discard_enable: on(info.rasterizer_discard_enable),
        polygon_mode: info.polygon_mode,
        cull_mode: info.cull_mode,
        front_face: info.front_face,
        depth_bias_enable: on(info.depth_bias_enable),
        depth_bias_constant_factor: Float::new(info.depth_bias_constant_factor),
        depth_bias_clamp: Float::new(info.depth_bias_clamp),
        depth_bias_slope_factor: Float::new(info.depth_bias_slope_factor),
        line_width: Float::new(info.line_width),
        ..RasterizationState::default()
    };
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(clip) =
                element.get::<vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'_>>()
            {
                no_flags(
                    clip.flags.as_raw(),
                    "VkPipelineRasterizationDepthClipStateCreateInfoEXT",
                )?;
                state.depth_clip_enable = Some(on(clip.depth_clip_enable));
            } else if let Some(conservative) =
                element.get::<vk::PipelineRasterizationConservativeStateCreateInfoEXT<'_>>()
            {
                no_flags(
                    conservative.flags.as_raw(),
                    "VkPipelineRasterizationConservativeStateCreateInfoEXT",
                )?;
                state.conservative = Some(ConservativeRasterization {
                    mode: conservative.conservative_rasterization_mode,
                    extra_overestimation: Float::new(
                        conservative.extra_primitive_overestimation_size,
                    ),
                });
            } else if let Some(line) =
                element.get::<vk::PipelineRasterizationLineStateCreateInfoKHR<'_>>()
            {
                state.line = Some(LineRasterization {
                    mode: line.line_rasterization_mode,
                    stippled: on(line.stippled_line_enable),
                    stipple_factor: line.line_stipple_factor,
                    stipple_pattern: line.line_stipple_pattern,
                });
            } else if let Some(stream) =
                element.get::<vk::PipelineRasterizationStateStreamCreateInfoEXT<'_>>()
            {
                no_flags(
                    stream.flags.as_raw(),
                    "VkPipelineRasterizationStateStreamCreateInfoEXT",
                )?;
                state.stream = stream.rasterization_stream;
            } else if let Some(provoking) =
                element.get::<vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'_>>()
            {
                state.provoking_vertex = provoking.provoking_vertex_mode;
            } else if let Some(representation) =
                element.get::<vk::DepthBiasRepresentationInfoEXT<'_>>()
            {
                state.depth_bias_representation = Some(DepthBiasRepresentation {
                    representation: representation.depth_bias_representation,
                    exact: on(representation.depth_bias_exact),
                });
            } else if let Some(order) =
                element.get::<vk::PipelineRasterizationStateRasterizationOrderAMD<'_>>()
            {
                state.order = order.rasterization_order;
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(state)
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn multisample(
    info: &vk::PipelineMultisampleStateCreateInfo<'_>,
    dynamic: Dynamic<'_>,
) -> Result<MultisampleState, CaptureError> {
    const PLACE: &str = "VkPipelineMultisampleStateCreateInfo";
    no_flags(info.flags.as_raw(), PLACE)?;
    let mut state = MultisampleState {
        samples: info.rasterization_samples,
        sample_shading_enable: on(info.sample_shading_enable),
        min_sample_shading: Float::new(info.min_sample_shading),
        alpha_to_coverage_enable: on(info.alpha_to_coverage_enable),
        alpha_to_one_enable: on(info.alpha_to_one_enable),
        ..MultisampleState::default()
    };
    if !dynamic.has(State::SAMPLE_MASK_EXT) && !info.p_sample_mask.is_null() {
        let words = info.rasterization_samples.as_raw().div_ceil(32);
        // SAFETY: the struct is valid: its mask has a word for every 32 samples.
        let mask = unsafe {
            slice(
                info.p_sample_mask,
                words,
                "VkPipelineMultisampleStateCreateInfo::pSampleMask",
            )
        }?;
        state.sample_mask = mask.to_vec();
    }
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(locations) =
                element.get::<vk::PipelineSampleLocationsStateCreateInfoEXT<'_>>()
            {
                state.sample_locations = Some(sample_locations(locations, dynamic)?);
            } else if let Some(modulation) =
                element.get::<vk::PipelineCoverageModulationStateCreateInfoNV<'_>>()
            {
                state.coverage_modulation = Some(coverage_modulation(modulation, dynamic)?);
            } else if let Some(reduction) =
                element.get::<vk::PipelineCoverageReductionStateCreateInfoNV<'_>>()
            {
                no_flags(
                    reduction.flags.as_raw(),
                    "VkPipelineCoverageReductionStateCreateInfoNV",
                )?;
                state.coverage_reduction = Some(reduction.coverage_reduction_mode);
            } else if let Some(to_color) =
                element.get::<vk::PipelineCoverageToColorStateCreateInfoNV<'_>>()
            {
                no_flags(
                    to_color.flags.as_raw(),
                    "VkPipelineCoverageToColorStateCreateInfoNV",
                )?;
                state.coverage_to_color = Some(CoverageToColor {
                    enable: on(to_color.coverage_to_color_enable),
                    location: to_color.coverage_to_color_location,
                });
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(state)
}

/// # Safety
/// The struct is valid.
unsafe fn sample_locations(
    info: &vk::PipelineSampleLocationsStateCreateInfoEXT<'_>,
    dynamic: Dynamic<'_>,
) -> Result<SampleLocations, CaptureError> {
    let enable = on(info.sample_locations_enable);
    let read = enable || dynamic.has(State::SAMPLE_LOCATIONS_ENABLE_EXT);
    if !read || dynamic.has(State::SAMPLE_LOCATIONS_EXT) {
        return Ok(SampleLocations {
            enable,
            ..SampleLocations::default()
        });
    }
    let inner = &info.sample_locations_info;
    // SAFETY: the struct is valid, and its locations are read.
    let locations = unsafe {
        expect_nothing(inner.p_next, "VkSampleLocationsInfoEXT")?;
        slice(
            inner.p_sample_locations,
            inner.sample_locations_count,
            "VkSampleLocationsInfoEXT::pSampleLocations",
        )
    }?;
    Ok(SampleLocations {
        enable,
        per_pixel: inner.sample_locations_per_pixel,
        grid_size: [
            inner.sample_location_grid_size.width,
            inner.sample_location_grid_size.height,
        ],
        locations: locations
            .iter()
            .map(|one| [Float::new(one.x), Float::new(one.y)])
            .collect(),
    })
}

/// # Safety
/// The struct is valid.
unsafe fn coverage_modulation(
    info: &vk::PipelineCoverageModulationStateCreateInfoNV<'_>,
    dynamic: Dynamic<'_>,
) -> Result<CoverageModulation, CaptureError> {
    no_flags(
        info.flags.as_raw(),
        "VkPipelineCoverageModulationStateCreateInfoNV",
    )?;
    let enable = on(info.coverage_modulation_table_enable);
    let read = (enable || dynamic.has(State::COVERAGE_MODULATION_TABLE_ENABLE_NV))
        && !dynamic.has(State::COVERAGE_MODULATION_TABLE_NV);
    let count = if read {
        info.coverage_modulation_table_count
    } else {
        0
    };
    // SAFETY: the struct is valid, and its table is read.
    let table = unsafe {
        slice(
            info.p_coverage_modulation_table,
            count,
            "VkPipelineCoverageModulationStateCreateInfoNV::pCoverageModulationTable",
        )
    }?;
    Ok(CoverageModulation {
        mode: info.coverage_modulation_mode,
        table_enable: enable,
        table: table.iter().map(|value| Float::new(*value)).collect(),
    })
}

fn stencil_face(face: &vk::StencilOpState) -> StencilFace {
    StencilFace {
        fail_op: face.fail_op,
        pass_op: face.pass_op,
        depth_fail_op: face.depth_fail_op,
        compare_op: face.compare_op,
        compare_mask: face.compare_mask,
        write_mask: face.write_mask,
        reference: face.reference,
    }
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn depth_stencil(
    info: &vk::PipelineDepthStencilStateCreateInfo<'_>,
) -> Result<DepthStencilState, CaptureError> {
    // SAFETY: the struct is valid.
    unsafe { expect_nothing(info.p_next, "VkPipelineDepthStencilStateCreateInfo") }?;
    Ok(DepthStencilState {
        flags: info.flags,
        depth_test_enable: on(info.depth_test_enable),
        depth_write_enable: on(info.depth_write_enable),
        depth_compare_op: info.depth_compare_op,
        depth_bounds_test_enable: on(info.depth_bounds_test_enable),
        stencil_test_enable: on(info.stencil_test_enable),
        front: stencil_face(&info.front),
        back: stencil_face(&info.back),
        min_depth_bounds: Float::new(info.min_depth_bounds),
        max_depth_bounds: Float::new(info.max_depth_bounds),
    })
}

/// # Safety
/// The struct is valid.
pub(crate) unsafe fn color_blend(
    info: &vk::PipelineColorBlendStateCreateInfo<'_>,
    dynamic: Dynamic<'_>,
) -> Result<ColorBlendState, CaptureError> {
    const PLACE: &str = "VkPipelineColorBlendStateCreateInfo";
    let ignored = dynamic.has(State::COLOR_BLEND_ENABLE_EXT)
        && dynamic.has(State::COLOR_BLEND_EQUATION_EXT)
        && dynamic.has(State::COLOR_WRITE_MASK_EXT);
    // SAFETY: the struct is valid.
    let attachments = unsafe {
        counted(
            !ignored,
            info.p_attachments,
            info.attachment_count,
            "VkPipelineColorBlendStateCreateInfo::pAttachments",
            |one| BlendAttachment {
                blend_enable: on(one.blend_enable),
                src_color: one.src_color_blend_factor,
                dst_color: one.dst_color_blend_factor,
                color_op: one.color_blend_op,
                src_alpha: one.src_alpha_blend_factor,
                dst_alpha: one.dst_alpha_blend_factor,
                alpha_op: one.alpha_blend_op,
                write_mask: one.color_write_mask,
            },
        )
    }?;
    let mut state = ColorBlendState {
        flags: info.flags,
        logic_op_enable: on(info.logic_op_enable),
        logic_op: info.logic_op,
        attachments,
        blend_constants: info.blend_constants.map(Float::new),
        ..ColorBlendState::default()
    };
    // SAFETY: the struct is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(write) = element.get::<vk::PipelineColorWriteCreateInfoEXT<'_>>() {
                state.color_write_enables = Some(counted(
                    !dynamic.has(State::COLOR_WRITE_ENABLE_EXT),
                    write.p_color_write_enables,
                    write.attachment_count,
                    "VkPipelineColorWriteCreateInfoEXT::pColorWriteEnables",
                    |enable| on(*enable),
                )?);
            } else if let Some(advanced) =
                element.get::<vk::PipelineColorBlendAdvancedStateCreateInfoEXT<'_>>()
            {
                state.advanced = Some(AdvancedBlend {
                    src_premultiplied: on(advanced.src_premultiplied),
                    dst_premultiplied: on(advanced.dst_premultiplied),
                    overlap: advanced.blend_overlap,
                });
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(state)
}
