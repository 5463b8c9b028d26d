//! Which states may be dynamic.

use super::raster::need_line;
use crate::decline::Declined;
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{need, need_extension};
use ash::vk::DynamicState as D;

/// A state may be dynamic.
pub(super) fn dynamic_state(device: &Device, state: D) -> Result<(), Declined> {
    let feature = match state {
        core if (0..=8).contains(&core.as_raw()) => return Ok(()),
        D::CULL_MODE
        | D::FRONT_FACE
        | D::PRIMITIVE_TOPOLOGY
        | D::VIEWPORT_WITH_COUNT
        | D::SCISSOR_WITH_COUNT
        | D::VERTEX_INPUT_BINDING_STRIDE
        | D::DEPTH_TEST_ENABLE
        | D::DEPTH_WRITE_ENABLE
        | D::DEPTH_COMPARE_OP
        | D::DEPTH_BOUNDS_TEST_ENABLE
        | D::STENCIL_TEST_ENABLE
        | D::STENCIL_OP => F::ExtendedDynamicState,
        D::RASTERIZER_DISCARD_ENABLE | D::DEPTH_BIAS_ENABLE | D::PRIMITIVE_RESTART_ENABLE => {
            F::ExtendedDynamicState2
        }
        D::PATCH_CONTROL_POINTS_EXT => F::ExtendedDynamicState2PatchControlPoints,
        D::LOGIC_OP_EXT => F::ExtendedDynamicState2LogicOp,
        D::VERTEX_INPUT_EXT => F::VertexInputDynamicState,
        D::COLOR_WRITE_ENABLE_EXT => F::ColorWriteEnable,
        D::LINE_STIPPLE_KHR => return need_line(device),
        D::SAMPLE_LOCATIONS_EXT => {
            return need_extension(device, ash::ext::sample_locations::NAME);
        }
        D::FRAGMENT_SHADING_RATE_KHR => {
            return need_extension(device, ash::khr::fragment_shading_rate::NAME);
        }
        D::RAY_TRACING_PIPELINE_STACK_SIZE_KHR => F::RayTracingPipeline,
        D::ATTACHMENT_FEEDBACK_LOOP_ENABLE_EXT => F::AttachmentFeedbackLoopDynamicState,
        D::TESSELLATION_DOMAIN_ORIGIN_EXT => F::ExtendedDynamicState3TessellationDomainOrigin,
        D::DEPTH_CLAMP_ENABLE_EXT => F::ExtendedDynamicState3DepthClampEnable,
        D::POLYGON_MODE_EXT => F::ExtendedDynamicState3PolygonMode,
        D::RASTERIZATION_SAMPLES_EXT => F::ExtendedDynamicState3RasterizationSamples,
        D::SAMPLE_MASK_EXT => F::ExtendedDynamicState3SampleMask,
        D::ALPHA_TO_COVERAGE_ENABLE_EXT => F::ExtendedDynamicState3AlphaToCoverageEnable,
        D::ALPHA_TO_ONE_ENABLE_EXT => F::ExtendedDynamicState3AlphaToOneEnable,
        D::LOGIC_OP_ENABLE_EXT => F::ExtendedDynamicState3LogicOpEnable,
        D::COLOR_BLEND_ENABLE_EXT => F::ExtendedDynamicState3ColorBlendEnable,
        D::COLOR_BLEND_EQUATION_EXT => F::ExtendedDynamicState3ColorBlendEquation,
        D::COLOR_WRITE_MASK_EXT => F::ExtendedDynamicState3ColorWriteMask,
        D::RASTERIZATION_STREAM_EXT => F::ExtendedDynamicState3RasterizationStream,
        D::CONSERVATIVE_RASTERIZATION_MODE_EXT => {
            F::ExtendedDynamicState3ConservativeRasterizationMode
        }
        D::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT => {
            F::ExtendedDynamicState3ExtraPrimitiveOverestimationSize
        }
        D::DEPTH_CLIP_ENABLE_EXT => F::ExtendedDynamicState3DepthClipEnable,
        D::SAMPLE_LOCATIONS_ENABLE_EXT => F::ExtendedDynamicState3SampleLocationsEnable,
        D::COLOR_BLEND_ADVANCED_EXT => F::ExtendedDynamicState3ColorBlendAdvanced,
        D::PROVOKING_VERTEX_MODE_EXT => F::ExtendedDynamicState3ProvokingVertexMode,
        D::LINE_RASTERIZATION_MODE_EXT => F::ExtendedDynamicState3LineRasterizationMode,
        D::LINE_STIPPLE_ENABLE_EXT => F::ExtendedDynamicState3LineStippleEnable,
        D::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT => F::ExtendedDynamicState3DepthClipNegativeOneToOne,
        other => return Err(Declined::unknown("dynamic state", other)),
    };
    need(device, &[feature])
}
