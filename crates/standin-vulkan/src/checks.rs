//! Whether a device can make a pipeline: every state, flag, format and limit of a recipe against what
//! is enabled, before any call.

use crate::decline::{Declined, FormatUse, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::{need, need_extension};
use crate::passes::{has_depth, has_stencil, need_format, need_samples};
use crate::spirv;
use ash::vk;
use ash::vk::DynamicState as D;
use standin_recipe::output::{ColorBlendState, Target};
use standin_recipe::pipeline::PipelineFlags;
use standin_recipe::raster::{MultisampleState, RasterizationState, ViewportState};
use standin_recipe::stage::{Robustness, Stage};
use standin_recipe::vertex::VertexInputState;
use standin_recipe::{ComputeRecipe, GraphicsRecipe};

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
                Some(state) if dynamic(D::PATCH_CONTROL_POINTS_EXT) => {
                    let _ = state;
                }
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
                None if dynamic(D::PATCH_CONTROL_POINTS_EXT) => {}
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

fn vertex_input(device: &Device, input: &VertexInputState) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    limit(
        "maxVertexInputBindings",
        input.bindings.len(),
        limits.max_vertex_input_bindings,
    )?;
    limit(
        "maxVertexInputAttributes",
        input.attributes.len(),
        limits.max_vertex_input_attributes,
    )?;
    for (place, binding) in input.bindings.iter().enumerate() {
        limit(
            "maxVertexInputBindings",
            u64::from(binding.binding) + 1,
            limits.max_vertex_input_bindings,
        )?;
        limit(
            "maxVertexInputBindingStride",
            binding.stride,
            limits.max_vertex_input_binding_stride,
        )?;
        if input.bindings[..place]
            .iter()
            .any(|b| b.binding == binding.binding)
        {
            return Err(Declined::invalid("a vertex binding is given twice"));
        }
        if binding.divisor == 1 {
            continue;
        }
        if binding.input_rate != vk::VertexInputRate::INSTANCE {
            return Err(Declined::invalid("a divisor on a per-vertex binding"));
        }
        need(device, &[F::VertexAttributeInstanceRateDivisor])?;
        if binding.divisor == 0 {
            need(device, &[F::VertexAttributeInstanceRateZeroDivisor])?;
        }
        limit(
            "maxVertexAttribDivisor",
            binding.divisor,
            device.capabilities().max_vertex_attrib_divisor,
        )?;
    }
    for (place, attribute) in input.attributes.iter().enumerate() {
        limit(
            "maxVertexInputAttributes",
            u64::from(attribute.location) + 1,
            limits.max_vertex_input_attributes,
        )?;
        limit(
            "maxVertexInputAttributeOffset",
            attribute.offset,
            limits.max_vertex_input_attribute_offset,
        )?;
        if input.attributes[..place]
            .iter()
            .any(|a| a.location == attribute.location)
        {
            return Err(Declined::invalid("a vertex attribute is given twice"));
        }
        if !input
            .bindings
            .iter()
            .any(|b| b.binding == attribute.binding)
        {
            return Err(Declined::invalid(
                "a vertex attribute of a binding that is not there",
            ));
        }
        need_format(device, attribute.format, FormatUse::Vertex)?;
    }
    Ok(())
}

fn topology(device: &Device, topology: vk::PrimitiveTopology) -> Result<(), Declined> {
    use vk::PrimitiveTopology as T;
    match topology {
        T::PATCH_LIST => need(device, &[F::TessellationShader]),
        T::LINE_LIST_WITH_ADJACENCY
        | T::LINE_STRIP_WITH_ADJACENCY
        | T::TRIANGLE_LIST_WITH_ADJACENCY
        | T::TRIANGLE_STRIP_WITH_ADJACENCY => need(device, &[F::GeometryShader]),
        known if (0..=10).contains(&known.as_raw()) => Ok(()),
        other => Err(Declined::unknown("topology", other)),
    }
}

/// Primitive restart in lists is a feature of its own.
fn restart(device: &Device, topology: vk::PrimitiveTopology) -> Result<(), Declined> {
    use vk::PrimitiveTopology as T;
    match topology {
        T::PATCH_LIST => need(device, &[F::PrimitiveTopologyPatchListRestart]),
        T::POINT_LIST
        | T::LINE_LIST
        | T::TRIANGLE_LIST
        | T::LINE_LIST_WITH_ADJACENCY
        | T::TRIANGLE_LIST_WITH_ADJACENCY => need(device, &[F::PrimitiveTopologyListRestart]),
        _ => Ok(()),
    }
}

fn viewport(
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

fn rasterization(
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

fn need_line(device: &Device) -> Result<(), Declined> {
    need_extension(device, ash::khr::line_rasterization::NAME)
        .or_else(|_| need_extension(device, ash::ext::line_rasterization::NAME))
}

fn multisample(
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

/// The formats that a pipeline writes.
struct Formats {
    colors: Vec<vk::Format>,
    depth_stencil: bool,
}

fn target(device: &Device, recipe: &GraphicsRecipe) -> Result<Formats, Declined> {
    let limits = &device.capabilities().limits;
    match &recipe.target {
        Target::RenderPass { pass, subpass } => {
            let subpass = pass
                .subpasses
                .get(*subpass as usize)
                .ok_or_else(|| Declined::invalid("a subpass that is not there"))?;
            // The pass itself is checked when it is made.
            let format = |attachment: u32| {
                pass.attachments
                    .get(attachment as usize)
                    .map_or(vk::Format::UNDEFINED, |a| a.format)
            };
            Ok(Formats {
                colors: subpass
                    .color_attachments
                    .iter()
                    .map(|reference| format(reference.attachment))
                    .collect(),
                depth_stencil: subpass
                    .depth_stencil_attachment
                    .as_ref()
                    .is_some_and(|r| r.attachment != vk::ATTACHMENT_UNUSED),
            })
        }
        Target::Rendering(formats) => {
            need(device, &[F::DynamicRendering])?;
            if formats.view_mask != 0 {
                need(device, &[F::Multiview])?;
                limit(
                    "maxMultiviewViewCount",
                    32 - formats.view_mask.leading_zeros(),
                    device.capabilities().max_multiview_view_count,
                )?;
            }
            limit(
                "maxColorAttachments",
                formats.color.len(),
                limits.max_color_attachments,
            )?;
            for &format in &formats.color {
                if format != vk::Format::UNDEFINED {
                    need_format(device, format, FormatUse::Color)?;
                }
            }
            if formats.depth != vk::Format::UNDEFINED {
                need_format(device, formats.depth, FormatUse::DepthStencil)?;
                if !has_depth(formats.depth) {
                    return Err(Declined::invalid("a depth attachment without depth"));
                }
            }
            if formats.stencil != vk::Format::UNDEFINED {
                need_format(device, formats.stencil, FormatUse::DepthStencil)?;
                if !has_stencil(formats.stencil) {
                    return Err(Declined::invalid("a stencil attachment without stencil"));
                }
            }
            Ok(Formats {
                colors: formats.color.clone(),
                depth_stencil: formats.depth != vk::Format::UNDEFINED
                    || formats.stencil != vk::Format::UNDEFINED,
            })
        }
    }
}

fn color_blend(
    device: &Device,
    state: &ColorBlendState,
    formats: &Formats,
    dynamic: &impl Fn(D) -> bool,
) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    if !state.flags.is_empty() {
        need(device, &[F::RasterizationOrderColorAttachmentAccess])?;
    }
    if state.logic_op_enable && !dynamic(D::LOGIC_OP_ENABLE_EXT) {
        need(device, &[F::LogicOp])?;
    }
    limit(
        "maxColorAttachments",
        state.attachments.count(),
        limits.max_color_attachments,
    )?;
    let all_dynamic = dynamic(D::COLOR_BLEND_ENABLE_EXT)
        && dynamic(D::COLOR_BLEND_EQUATION_EXT)
        && dynamic(D::COLOR_WRITE_MASK_EXT);
    if !all_dynamic && state.attachments.count() as usize != formats.colors.len() {
        return Err(Declined::invalid(
            "not as many blend states as colour attachments",
        ));
    }
    if let Some(attachments) = state.attachments.values() {
        if attachments.windows(2).any(|pair| pair[0] != pair[1]) && !all_dynamic {
            need(device, &[F::IndependentBlend])?;
        }
        for (index, attachment) in attachments.iter().enumerate() {
            if !attachment.blend_enable || dynamic(D::COLOR_BLEND_ENABLE_EXT) {
                continue;
            }
            if let Some(&format) = formats.colors.get(index)
                && format != vk::Format::UNDEFINED
            {
                need_format(device, format, FormatUse::Blend)?;
            }
            if dynamic(D::COLOR_BLEND_EQUATION_EXT) {
                continue;
            }
            for factor in [
                attachment.src_color,
                attachment.dst_color,
                attachment.src_alpha,
                attachment.dst_alpha,
            ] {
                match factor.as_raw() {
                    0..=14 => {}
                    15..=18 => need(device, &[F::DualSrcBlend])?,
                    _ => return Err(Declined::unknown("blend factor", factor)),
                }
            }
            for op in [attachment.color_op, attachment.alpha_op] {
                if !(0..=4).contains(&op.as_raw()) {
                    need_extension(device, ash::ext::blend_operation_advanced::NAME)?;
                }
            }
        }
    } else if !all_dynamic && state.attachments.count() != 0 {
        return Err(Declined::invalid("blend states without values"));
    }
    if let Some(enables) = &state.color_write_enables {
        need(device, &[F::ColorWriteEnable])?;
        if enables.values().is_none() && !dynamic(D::COLOR_WRITE_ENABLE_EXT) {
            return Err(Declined::invalid("colour write enables without values"));
        }
    }
    if state.advanced.is_some() {
        need_extension(device, ash::ext::blend_operation_advanced::NAME)?;
    }
    Ok(())
}

fn all_multisample_dynamic(dynamic: &impl Fn(D) -> bool) -> bool {
    dynamic(D::RASTERIZATION_SAMPLES_EXT)
        && dynamic(D::SAMPLE_MASK_EXT)
        && dynamic(D::ALPHA_TO_COVERAGE_ENABLE_EXT)
}

fn all_depth_dynamic(dynamic: &impl Fn(D) -> bool) -> bool {
    dynamic(D::DEPTH_TEST_ENABLE)
        && dynamic(D::DEPTH_WRITE_ENABLE)
        && dynamic(D::DEPTH_COMPARE_OP)
        && dynamic(D::DEPTH_BOUNDS_TEST_ENABLE)
        && dynamic(D::STENCIL_TEST_ENABLE)
        && dynamic(D::STENCIL_OP)
        && dynamic(D::DEPTH_BOUNDS)
}

fn all_blend_dynamic(dynamic: &impl Fn(D) -> bool) -> bool {
    dynamic(D::LOGIC_OP_ENABLE_EXT)
        && dynamic(D::LOGIC_OP_EXT)
        && dynamic(D::COLOR_BLEND_ENABLE_EXT)
        && dynamic(D::COLOR_BLEND_EQUATION_EXT)
        && dynamic(D::COLOR_WRITE_MASK_EXT)
        && dynamic(D::BLEND_CONSTANTS)
}

/// A state may be dynamic.
fn dynamic_state(device: &Device, state: D) -> Result<(), Declined> {
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
