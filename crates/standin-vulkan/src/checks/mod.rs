//! Whether a device can make a pipeline: every state, flag, format and limit of a recipe against what
//! is enabled, before any call.

mod dynamic;
mod output;
mod raster;
mod vertex;

use crate::decline::{Declined, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{need, need_extension};
use crate::spirv;
use ash::vk;
use ash::vk::DynamicState as D;
use dynamic::dynamic_state;
use output::{all_blend_dynamic, all_depth_dynamic, color_blend, target};
use raster::{all_multisample_dynamic, multisample, rasterization, viewport};
use standin_recipe::pipeline::PipelineFlags;
use standin_recipe::stage::{Robustness, Stage};
use standin_recipe::{ComputeRecipe, GraphicsRecipe};
use vertex::{restart, topology, vertex_input};

/// Checks a compute pipeline, but for its layout.
pub(crate) fn compute(device: &Device, recipe: &ComputeRecipe) -> Result<(), Declined> {
    flags(device, recipe.flags)?;
    robustness(device, recipe.robustness.as_ref())?;
    if recipe.stage.stage != vk::ShaderStageFlags::COMPUTE {
        return Err(Declined::invalid("a compute pipeline of another stage"));
    }
    stage(device, &recipe.stage)
}

/// Checks a graphics pipeline, but for its layout, its render pass and its libraries.
pub(crate) fn graphics(device: &Device, recipe: &GraphicsRecipe) -> Result<(), Declined> {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    let limits = &device.capabilities().limits;
    flags(device, recipe.flags)?;
    robustness(device, recipe.robustness.as_ref())?;
    let is_library = recipe.flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR);
    let complete = recipe.libraries.is_empty() && !is_library;
    if !complete {
        need(device, &[F::GraphicsPipelineLibrary])?;
    }
    if recipe.stages.iter().any(|s| {
        !matches!(
            s.stage,
            vk::ShaderStageFlags::VERTEX
                | vk::ShaderStageFlags::TESSELLATION_CONTROL
                | vk::ShaderStageFlags::TESSELLATION_EVALUATION
                | vk::ShaderStageFlags::GEOMETRY
                | vk::ShaderStageFlags::FRAGMENT
                | vk::ShaderStageFlags::TASK_EXT
                | vk::ShaderStageFlags::MESH_EXT
        )
    }) {
        return Err(Declined::invalid("a stage that no graphics pipeline has"));
    }
    let mut stages = vk::ShaderStageFlags::empty();
    for one in &recipe.stages {
        if stages.contains(one.stage) {
            return Err(Declined::invalid("a stage is given twice"));
        }
        stages |= one.stage;
        stage(device, one)?;
    }
    let mesh = stages.intersects(vk::ShaderStageFlags::MESH_EXT);
    let tessellated = stages.contains(vk::ShaderStageFlags::TESSELLATION_CONTROL);
    if tessellated != stages.contains(vk::ShaderStageFlags::TESSELLATION_EVALUATION) {
        return Err(Declined::invalid(
            "one tessellation stage without the other",
        ));
    }
    for &state in &recipe.dynamic_states {
        dynamic_state(device, state)?;
    }
    let dynamic = |state| recipe.dynamic_states.contains(&state);
    let has = |part| recipe.parts.contains(part);

    if has(Part::VERTEX_INPUT_INTERFACE) && !mesh {
        match &recipe.vertex_input {
            Some(input) => vertex_input(device, input)?,
            None if dynamic(D::VERTEX_INPUT_EXT) => {}
            None => return Err(Declined::invalid("no vertex input state")),
        }
        match &recipe.input_assembly {
            Some(state) => {
                topology(device, state.topology)?;
                if state.primitive_restart_enable
                    && !dynamic(D::PRIMITIVE_RESTART_ENABLE)
                    && !dynamic(D::PRIMITIVE_TOPOLOGY)
                {
                    restart(device, state.topology)?;
                }
                if complete
                    && tessellated != (state.topology == vk::PrimitiveTopology::PATCH_LIST)
                    && !dynamic(D::PRIMITIVE_TOPOLOGY)
                {
                    return Err(Declined::invalid(
                        "patches without tessellation, or the reverse",
                    ));
                }
            }
            None if dynamic(D::PRIMITIVE_TOPOLOGY) && dynamic(D::PRIMITIVE_RESTART_ENABLE) => {
                need_extension(device, ash::ext::extended_dynamic_state3::NAME)?;
            }
            None => return Err(Declined::invalid("no input assembly state")),
        }
    }
    let mut discard = false;
    if has(Part::PRE_RASTERIZATION_SHADERS) {
        if !stages.intersects(vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::MESH_EXT) {
            return Err(Declined::invalid("no vertex or mesh stage"));
        }
        let Some(state) = &recipe.rasterization else {
            return Err(Declined::invalid("no rasterisation state"));
        };
        discard = state.rasterizer_discard_enable && !dynamic(D::RASTERIZER_DISCARD_ENABLE);
        rasterization(device, state, &dynamic)?;
        if tessellated {
            match &recipe.tessellation {
                _ if dynamic(D::PATCH_CONTROL_POINTS_EXT) => {}
                Some(state) => {
                    if state.patch_control_points == 0 {
                        return Err(Declined::invalid("patches of no points"));
                    }
                    limit(
                        "maxTessellationPatchSize",
                        state.patch_control_points,
                        limits.max_tessellation_patch_size,
                    )?;
                }
                None => return Err(Declined::invalid("no tessellation state")),
            }
        }
        match &recipe.viewport {
            Some(state) => viewport(device, state, &dynamic)?,
            None if discard => {}
            None if dynamic(D::VIEWPORT_WITH_COUNT) && dynamic(D::SCISSOR_WITH_COUNT) => {
                need_extension(device, ash::ext::extended_dynamic_state3::NAME)?;
            }
            None => return Err(Declined::invalid("no viewport state")),
        }
    }
    let formats = target(device, recipe)?;
    let fragment = has(Part::FRAGMENT_SHADER) && !discard;
    let output = has(Part::FRAGMENT_OUTPUT_INTERFACE) && !discard;
    if let Some(state) = &recipe.multisample {
        if !discard {
            multisample(device, state, &dynamic)?;
        }
    } else if output && complete && !all_multisample_dynamic(&dynamic) {
        return Err(Declined::invalid("no multisample state"));
    }
    if fragment {
        match &recipe.depth_stencil {
            Some(state) => {
                if state.depth_bounds_test_enable && !dynamic(D::DEPTH_BOUNDS_TEST_ENABLE) {
                    need(device, &[F::DepthBounds])?;
                }
                if !state.flags.is_empty() {
                    need(
                        device,
                        &[
                            F::RasterizationOrderDepthAttachmentAccess,
                            F::RasterizationOrderStencilAttachmentAccess,
                        ],
                    )?;
                }
            }
            None if formats.depth_stencil && complete && !all_depth_dynamic(&dynamic) => {
                return Err(Declined::invalid("no depth-stencil state"));
            }
            None => {}
        }
    }
    if output {
        match &recipe.color_blend {
            Some(state) => color_blend(device, state, &formats, &dynamic)?,
            None if !formats.colors.is_empty() && complete && !all_blend_dynamic(&dynamic) => {
                return Err(Declined::invalid("no colour blend state"));
            }
            None => {}
        }
    }
    chained(device, recipe)
}

fn chained(device: &Device, recipe: &GraphicsRecipe) -> Result<(), Declined> {
    if recipe.discard_rectangles.is_some() {
        return Err(Declined::Extension("VK_EXT_discard_rectangles".into()));
    }
    if let Some(rate) = &recipe.fragment_shading_rate
        && (rate.fragment_size != [1, 1]
            || rate.combiner_ops != [vk::FragmentShadingRateCombinerOpKHR::KEEP; 2])
    {
        need(device, &[F::PipelineFragmentShadingRate])?;
    }
    if recipe.fragment_shading_rate_enum.is_some() {
        return Err(Declined::Extension(
            "VK_NV_fragment_shading_rate_enums".into(),
        ));
    }
    if recipe.attachment_locations.is_some() || recipe.input_attachment_indices.is_some() {
        need(device, &[F::DynamicRenderingLocalRead])?;
    }
    if recipe.attachment_sample_counts.is_some() {
        return Err(Declined::Extension(
            "VK_AMD_mixed_attachment_samples".into(),
        ));
    }
    if recipe.representative_fragment_test {
        return Err(Declined::Extension(
            "VK_NV_representative_fragment_test".into(),
        ));
    }
    Ok(())
}

/// What a flag of `VkPipelineCreateFlags2` needs.
fn flags(device: &Device, flags: PipelineFlags) -> Result<(), Declined> {
    const DISABLE_OPTIMIZATION: u64 = 0x1;
    const VIEW_INDEX_FROM_DEVICE_INDEX: u64 = 0x8;
    const DISPATCH_BASE: u64 = 0x10;
    const LINK_TIME_OPTIMIZATION: u64 = 0x400;
    const LIBRARY: u64 = 0x800;
    const SHADING_RATE_ATTACHMENT: u64 = 0x20_0000;
    const RETAIN_LINK_TIME_OPTIMIZATION_INFO: u64 = 0x80_0000;
    const COLOR_FEEDBACK_LOOP: u64 = 0x200_0000;
    const DEPTH_STENCIL_FEEDBACK_LOOP: u64 = 0x400_0000;
    const DESCRIPTOR_BUFFER: u64 = 0x2000_0000;
    const LEGACY_DITHERING: u64 = 0x4_0000_0000;
    for bit in (0..64).map(|shift| 1_u64 << shift) {
        if flags.bits() & bit == 0 {
            continue;
        }
        match bit {
            DISABLE_OPTIMIZATION | VIEW_INDEX_FROM_DEVICE_INDEX | DISPATCH_BASE => {}
            LINK_TIME_OPTIMIZATION | LIBRARY | RETAIN_LINK_TIME_OPTIMIZATION_INFO => {
                need(device, &[F::GraphicsPipelineLibrary])?;
            }
            SHADING_RATE_ATTACHMENT => need(device, &[F::AttachmentFragmentShadingRate])?,
            COLOR_FEEDBACK_LOOP | DEPTH_STENCIL_FEEDBACK_LOOP => {
                need(device, &[F::AttachmentFeedbackLoopLayout])?;
            }
            DESCRIPTOR_BUFFER => need(device, &[F::DescriptorBuffer])?,
            LEGACY_DITHERING => need(device, &[F::LegacyDithering, F::Maintenance5])?,
            other => return Err(Declined::unknown("pipeline flag", format!("{other:#x}"))),
        }
    }
    if u32::try_from(flags.bits()).is_err() {
        need(device, &[F::Maintenance5])?;
    }
    Ok(())
}

fn robustness(device: &Device, given: Option<&Robustness>) -> Result<(), Declined> {
    let Some(given) = given else {
        return Ok(());
    };
    need(device, &[F::PipelineRobustness])?;
    for buffers in [
        given.storage_buffers,
        given.uniform_buffers,
        given.vertex_inputs,
    ] {
        match buffers.as_raw() {
            0..=2 => {}
            3 => {
                // The behaviour need not be enabled device-wide, only be there.
                if !device.capabilities().features.has(F::RobustBufferAccess2) {
                    return Err(Declined::Feature(F::RobustBufferAccess2));
                }
            }
            _ => return Err(Declined::unknown("buffer robustness", buffers)),
        }
    }
    match given.images.as_raw() {
        0..=2 => Ok(()),
        3 if device.capabilities().features.has(F::RobustImageAccess2) => Ok(()),
        3 => Err(Declined::Feature(F::RobustImageAccess2)),
        _ => Err(Declined::unknown("image robustness", given.images)),
    }
}

fn stage(device: &Device, stage: &Stage) -> Result<(), Declined> {
    use vk::ShaderStageFlags as S;
    match stage.stage {
        S::GEOMETRY => need(device, &[F::GeometryShader])?,
        S::TESSELLATION_CONTROL | S::TESSELLATION_EVALUATION => {
            need(device, &[F::TessellationShader])?;
        }
        S::TASK_EXT => need(device, &[F::TaskShader])?,
        S::MESH_EXT => need(device, &[F::MeshShader])?,
        _ => {}
    }
    robustness(device, stage.robustness.as_ref())?;
    let varying = vk::PipelineShaderStageCreateFlags::ALLOW_VARYING_SUBGROUP_SIZE;
    let full = vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS;
    if stage.flags.contains(varying) {
        need(device, &[F::SubgroupSizeControl])?;
    }
    if stage.flags.contains(full) {
        need(device, &[F::ComputeFullSubgroups])?;
    }
    if !(stage.flags & !(varying | full)).is_empty() {
        return Err(Declined::unknown("stage flag", stage.flags));
    }
    if let Some(asked) = stage.required_subgroup_size {
        need(device, &[F::SubgroupSizeControl])?;
        let subgroup = &device.capabilities().subgroup;
        if !asked.is_power_of_two()
            || !(subgroup.min_size..=subgroup.max_size).contains(&asked)
            || !subgroup.required_size_stages.contains(stage.stage)
        {
            return Err(Declined::SubgroupSize {
                asked,
                min: subgroup.min_size,
                max: subgroup.max_size,
                stages: subgroup.required_size_stages,
            });
        }
    }
    if let Some(special) = &stage.specialization {
        for entry in &special.entries {
            let inside = u64::from(entry.offset)
                .checked_add(entry.size)
                .is_some_and(|end| end <= special.data.len() as u64);
            if !inside {
                return Err(Declined::invalid(
                    "a specialisation constant outside of its data",
                ));
            }
        }
    }
    if !stage.module.flags().is_empty() {
        return Err(Declined::unknown("module flag", stage.module.flags()));
    }
    let target = spirv::Target {
        capabilities: device.capabilities(),
        features: device.features(),
        extensions: device.extensions(),
    };
    spirv::check(
        stage.module.code(),
        stage.stage,
        stage.entry.as_str(),
        &target,
    )
}
