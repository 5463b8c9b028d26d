//! Whole pipelines.

use crate::chain::{Element, known, no_flags, slice, walk};
use crate::stage::{robustness, stage};
use crate::states::{self, Dynamic};
use crate::{CaptureError, Objects};
use ash::vk;
use standin_recipe::output::{
    AttachmentSampleCounts, InputAttachmentIndices, RenderingFormats, Target,
};
use standin_recipe::pipeline::{Parts, PipelineFlags};
use standin_recipe::raster::{DiscardRectangles, FragmentShadingRate, FragmentShadingRateEnum};
use standin_recipe::{ComputeRecipe, GraphicsRecipe, PipelineLayoutRecipe};
use std::sync::Arc;

/// Captures a compute pipeline. What a derivative is derived from is left out, and so are the
/// flags that only say how the pipeline is made.
///
/// # Errors
/// A struct is chained that is not known, or an object is not known.
///
/// # Safety
/// The create-info is valid: so is everything that it points to and that Vulkan does not say is
/// ignored.
pub unsafe fn compute(
    info: &vk::ComputePipelineCreateInfo<'_>,
    objects: &dyn Objects,
) -> Result<ComputeRecipe, CaptureError> {
    let mut flags = PipelineFlags::from(info.flags);
    let mut own_robustness = None;
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, "VkComputePipelineCreateInfo", |element| {
            if let Some(wide) = element.get::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>() {
                flags = PipelineFlags::new(wide.flags.as_raw());
            } else if let Some(own) = element.get::<vk::PipelineRobustnessCreateInfoEXT<'_>>() {
                own_robustness = Some(robustness(own));
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(ComputeRecipe {
        flags,
        // SAFETY: the create-info is valid.
        stage: unsafe { stage(&info.stage, objects) }?,
        layout: known(
            info.layout,
            |handle| objects.pipeline_layout(handle),
            "pipeline layout",
            "VkComputePipelineCreateInfo::layout",
        )?,
        robustness: own_robustness,
    })
}

/// Captures a graphics pipeline, complete, a library, or linked from libraries. What a derivative
/// is derived from is left out, and so are the flags that only say how the pipeline is made.
///
/// # Errors
/// A struct is chained that is not known, or an object is not known.
///
/// # Safety
/// The create-info is valid: so is everything that it points to and that Vulkan does not say is
/// ignored.
pub unsafe fn graphics(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    objects: &dyn Objects,
) -> Result<GraphicsRecipe, CaptureError> {
    // SAFETY: the create-info is valid; each state is read after it was checked that Vulkan reads
    // it for a pipeline of these parts, stages, dynamic states and attachments.
    unsafe {
        let dynamic_states = dynamic_states(info)?;
        let mut recipe = GraphicsRecipe {
            flags: PipelineFlags::from(info.flags),
            dynamic_states,
            ..GraphicsRecipe::default()
        };
        let rendering = chained(info, objects, &mut recipe)?;
        let part = Has::of(recipe.parts);
        if part.pre_raster || part.fragment {
            let stages = slice(
                info.p_stages,
                info.stage_count,
                "VkGraphicsPipelineCreateInfo::pStages",
            )?;
            for one in stages {
                recipe.stages.push(stage(one, objects)?);
            }
        }
        recipe.layout = layout(info, objects, &recipe, part)?;
        recipe.target = target(info, objects, rendering, part)?;
        read_states(info, &mut recipe, part)?;
        Ok(recipe)
    }
}

/// The parts that a create-info has.
#[derive(Clone, Copy)]
struct Has {
    vertex_input: bool,
    pre_raster: bool,
    fragment: bool,
    output: bool,
}

impl Has {
    fn of(parts: Parts) -> Self {
        use vk::GraphicsPipelineLibraryFlagsEXT as Part;
        Self {
            vertex_input: parts.contains(Part::VERTEX_INPUT_INTERFACE),
            pre_raster: parts.contains(Part::PRE_RASTERIZATION_SHADERS),
            fragment: parts.contains(Part::FRAGMENT_SHADER),
            output: parts.contains(Part::FRAGMENT_OUTPUT_INTERFACE),
        }
    }
}

/// # Safety
/// The create-info is valid.
unsafe fn dynamic_states(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
) -> Result<Vec<vk::DynamicState>, CaptureError> {
    const PLACE: &str = "VkPipelineDynamicStateCreateInfo";
    // SAFETY: the create-info is valid, and its dynamic states are always read.
    unsafe {
        let Some(state) = info.p_dynamic_state.as_ref() else {
            return Ok(Vec::new());
        };
        no_flags(state.flags.as_raw(), PLACE)?;
        crate::chain::expect_nothing(state.p_next, PLACE)?;
        let list = slice(
            state.p_dynamic_states,
            state.dynamic_state_count,
            "VkPipelineDynamicStateCreateInfo::pDynamicStates",
        )?;
        Ok(list.to_vec())
    }
}

/// Captures what is chained to the create-info itself; gives the formats of dynamic rendering,
/// which are read only when it is known which of them count.
///
/// # Safety
/// The create-info is valid.
unsafe fn chained<'a>(
    info: &vk::GraphicsPipelineCreateInfo<'a>,
    objects: &dyn Objects,
    recipe: &mut GraphicsRecipe,
) -> Result<Option<&'a vk::PipelineRenderingCreateInfo<'a>>, CaptureError> {
    let mut rendering = None;
    let mut parts = None;
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, "VkGraphicsPipelineCreateInfo", |element| {
            if let Some(wide) = element.get::<vk::PipelineCreateFlags2CreateInfoKHR<'_>>() {
                recipe.flags = PipelineFlags::new(wide.flags.as_raw());
            } else if let Some(chained) =
                element.get::<vk::GraphicsPipelineLibraryCreateInfoEXT<'_>>()
            {
                parts = Some(Parts::new(chained.flags));
            } else if let Some(chained) = element.get::<vk::PipelineLibraryCreateInfoKHR<'_>>() {
                const PLACE: &str = "VkPipelineLibraryCreateInfoKHR::pLibraries";
                for handle in slice(chained.p_libraries, chained.library_count, PLACE)? {
                    recipe.libraries.push(known(
                        *handle,
                        |handle| objects.library(handle),
                        "pipeline library",
                        PLACE,
                    )?);
                }
            } else if let Some(own) = element.get::<vk::PipelineRobustnessCreateInfoEXT<'_>>() {
                recipe.robustness = Some(robustness(own));
            } else if let Some(chained) = element.get::<vk::PipelineRenderingCreateInfo<'_>>() {
                rendering = Some(chained);
            } else {
                return Ok(local_read(element, recipe)? || rates(element, recipe)?);
            }
            Ok(true)
        })
    }?;
    recipe.parts = parts.unwrap_or(Parts::implied(recipe.flags, !recipe.libraries.is_empty()));
    Ok(rendering)
}

/// How shaders reach the attachments.
///
/// # Safety
/// The element's struct is valid.
unsafe fn local_read(
    element: Element<'_>,
    recipe: &mut GraphicsRecipe,
) -> Result<bool, CaptureError> {
    // Without a list each attachment has its own index (`VkRenderingAttachmentLocationInfo`).
    let identity = |count: u32| (0..count).collect::<Vec<u32>>();
    // SAFETY: the struct is valid.
    unsafe {
        if let Some(info) = element.get::<vk::RenderingAttachmentLocationInfoKHR<'_>>() {
            let (first, count) = (
                info.p_color_attachment_locations,
                info.color_attachment_count,
            );
            recipe.attachment_locations = Some(if first.is_null() {
                identity(count)
            } else {
                slice(first, count, "pColorAttachmentLocations")?.to_vec()
            });
        } else if let Some(info) = element.get::<vk::RenderingInputAttachmentIndexInfoKHR<'_>>() {
            let (first, count) = (
                info.p_color_attachment_input_indices,
                info.color_attachment_count,
            );
            recipe.input_attachment_indices = Some(InputAttachmentIndices {
                color: if first.is_null() {
                    identity(count)
                } else {
                    slice(first, count, "pColorAttachmentInputIndices")?.to_vec()
                },
                depth: info.p_depth_input_attachment_index.as_ref().copied(),
                stencil: info.p_stencil_input_attachment_index.as_ref().copied(),
            });
        } else if let Some(info) = element.get::<vk::AttachmentSampleCountInfoAMD<'_>>() {
            recipe.attachment_sample_counts = Some(AttachmentSampleCounts {
                color: slice(
                    info.p_color_attachment_samples,
                    info.color_attachment_count,
                    "VkAttachmentSampleCountInfoAMD::pColorAttachmentSamples",
                )?
                .to_vec(),
                depth_stencil: info.depth_stencil_attachment_samples,
            });
        } else {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which fragments are shaded, and how often.
///
/// # Safety
/// The element's struct is valid.
unsafe fn rates(element: Element<'_>, recipe: &mut GraphicsRecipe) -> Result<bool, CaptureError> {
    if let Some(info) = element.get::<vk::PipelineDiscardRectangleStateCreateInfoEXT<'_>>() {
        no_flags(
            info.flags.as_raw(),
            "VkPipelineDiscardRectangleStateCreateInfoEXT",
        )?;
        let dynamic = Dynamic(&recipe.dynamic_states);
        // SAFETY: the struct is valid.
        let rectangles = unsafe {
            states::counted(
                !dynamic.has(vk::DynamicState::DISCARD_RECTANGLE_EXT),
                info.p_discard_rectangles,
                info.discard_rectangle_count,
                "VkPipelineDiscardRectangleStateCreateInfoEXT::pDiscardRectangles",
                states::rect,
            )
        }?;
        recipe.discard_rectangles = Some(DiscardRectangles {
            mode: info.discard_rectangle_mode,
            rectangles,
        });
    } else if let Some(info) =
        element.get::<vk::PipelineFragmentShadingRateStateCreateInfoKHR<'_>>()
    {
        recipe.fragment_shading_rate = Some(FragmentShadingRate {
            fragment_size: [info.fragment_size.width, info.fragment_size.height],
            combiner_ops: info.combiner_ops,
        });
    } else if let Some(info) =
        element.get::<vk::PipelineFragmentShadingRateEnumStateCreateInfoNV<'_>>()
    {
        recipe.fragment_shading_rate_enum = Some(FragmentShadingRateEnum {
            rate_type: info.shading_rate_type,
            rate: info.shading_rate,
            combiner_ops: info.combiner_ops,
        });
    } else if let Some(info) =
        element.get::<vk::PipelineRepresentativeFragmentTestStateCreateInfoNV<'_>>()
    {
        recipe.representative_fragment_test = info.representative_fragment_test_enable != vk::FALSE;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn layout(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    objects: &dyn Objects,
    recipe: &GraphicsRecipe,
    part: Has,
) -> Result<Option<Arc<PipelineLayoutRecipe>>, CaptureError> {
    const PLACE: &str = "VkGraphicsPipelineCreateInfo::layout";
    let shaders = part.pre_raster || part.fragment;
    if !shaders && recipe.libraries.is_empty() {
        return Ok(None);
    }
    if info.layout == vk::PipelineLayout::null() {
        return if shaders {
            Err(CaptureError::Null { place: PLACE })
        } else {
            Ok(None)
        };
    }
    known(
        info.layout,
        |handle| objects.pipeline_layout(handle),
        "pipeline layout",
        PLACE,
    )
    .map(Some)
}

/// # Safety
/// The create-info is valid.
unsafe fn target(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    objects: &dyn Objects,
    rendering: Option<&vk::PipelineRenderingCreateInfo<'_>>,
    part: Has,
) -> Result<Target, CaptureError> {
    if !part.pre_raster && !part.fragment && !part.output {
        return Ok(Target::default());
    }
    if info.render_pass != vk::RenderPass::null() {
        return Ok(Target::RenderPass {
            pass: known(
                info.render_pass,
                |handle| objects.render_pass(handle),
                "render pass",
                "VkGraphicsPipelineCreateInfo::renderPass",
            )?,
            subpass: info.subpass,
        });
    }
    let Some(rendering) = rendering else {
        return Ok(Target::default());
    };
    let mut formats = RenderingFormats {
        view_mask: rendering.view_mask,
        ..RenderingFormats::default()
    };
    if part.output {
        // SAFETY: the create-info is valid, and this part reads the formats.
        let color = unsafe {
            slice(
                rendering.p_color_attachment_formats,
                rendering.color_attachment_count,
                "VkPipelineRenderingCreateInfo::pColorAttachmentFormats",
            )
        }?;
        formats.color = color.to_vec();
        formats.depth = rendering.depth_attachment_format;
        formats.stencil = rendering.stencil_attachment_format;
    }
    Ok(Target::Rendering(formats))
}

/// Reads the states that are not ignored (`VkGraphicsPipelineCreateInfo`, and the chapter "Dynamic
/// State" for those that are dynamic as a whole). One that is read may still be null where all of
/// it is dynamic.
///
/// # Safety
/// The create-info is valid.
unsafe fn read_states(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    recipe: &mut GraphicsRecipe,
    part: Has,
) -> Result<(), CaptureError> {
    let dynamic_states = std::mem::take(&mut recipe.dynamic_states);
    let dynamic = Dynamic(&dynamic_states);
    let has = |stages| {
        recipe
            .stages
            .iter()
            .any(|stage| stage.stage.intersects(stages))
    };
    let mesh = has(vk::ShaderStageFlags::MESH_EXT | vk::ShaderStageFlags::TASK_EXT);
    let tessellation =
        has(vk::ShaderStageFlags::TESSELLATION_CONTROL
            | vk::ShaderStageFlags::TESSELLATION_EVALUATION);
    // SAFETY: the create-info is valid, and each pointer is followed only if it is not ignored.
    unsafe {
        if part.vertex_input && !mesh {
            if !dynamic.has(vk::DynamicState::VERTEX_INPUT_EXT) {
                recipe.vertex_input = info
                    .p_vertex_input_state
                    .as_ref()
                    .map(|state| states::vertex_input(state))
                    .transpose()?;
            }
            recipe.input_assembly = info
                .p_input_assembly_state
                .as_ref()
                .map(|state| states::input_assembly(state))
                .transpose()?;
        }
        if part.pre_raster {
            recipe.rasterization = info
                .p_rasterization_state
                .as_ref()
                .map(|state| states::rasterization(state))
                .transpose()?;
            if tessellation {
                recipe.tessellation = info
                    .p_tessellation_state
                    .as_ref()
                    .map(|state| states::tessellation(state))
                    .transpose()?;
            }
        }
        let discard = !dynamic.has(vk::DynamicState::RASTERIZER_DISCARD_ENABLE)
            && recipe
                .rasterization
                .as_ref()
                .is_some_and(|state| state.rasterizer_discard_enable);
        if !discard {
            let attachments = recipe.target.attachments(part.output);
            if part.pre_raster {
                recipe.viewport = info
                    .p_viewport_state
                    .as_ref()
                    .map(|state| states::viewport(state, dynamic))
                    .transpose()?;
            }
            if part.fragment || part.output {
                recipe.multisample = info
                    .p_multisample_state
                    .as_ref()
                    .map(|state| states::multisample(state, dynamic))
                    .transpose()?;
            }
            if part.fragment && attachments.is_none_or(|has| has.depth || has.stencil) {
                recipe.depth_stencil = info
                    .p_depth_stencil_state
                    .as_ref()
                    .map(|state| states::depth_stencil(state))
                    .transpose()?;
            }
            if part.output && attachments.is_none_or(|has| has.color) {
                recipe.color_blend = info
                    .p_color_blend_state
                    .as_ref()
                    .map(|state| states::color_blend(state, dynamic))
                    .transpose()?;
            }
        }
    }
    recipe.dynamic_states = dynamic_states;
    Ok(())
}
