//! Create-infos of pipelines.

use super::{Arena, Chain, chain, count, states};
use crate::output::Target;
use crate::pipeline::{ComputeRecipe, GraphicsRecipe, Parts, PipelineFlags};
use crate::stage::{Robustness, Stage};
use ash::vk;
use std::ffi::{CString, c_char};
use std::marker::PhantomData;
use std::ptr;

/// The objects that a graphics pipeline's create-info refers to. What the recipe does not have is
/// left null.
#[derive(Debug, Clone, Default)]
pub struct GraphicsHandles {
    /// The module of each stage, in the recipe's order. A stage without one gets its code chained
    /// instead, as devices with `VK_EXT_graphics_pipeline_library` or `VK_KHR_maintenance5` take
    /// it.
    pub modules: Vec<vk::ShaderModule>,
    /// Pipeline layout.
    pub layout: vk::PipelineLayout,
    /// Render pass.
    pub render_pass: vk::RenderPass,
    /// The libraries, in the recipe's order.
    pub libraries: Vec<vk::Pipeline>,
}

/// A graphics pipeline's create-info.
#[derive(Debug)]
pub struct GraphicsCreateInfo<'a> {
    _arena: Arena,
    info: vk::GraphicsPipelineCreateInfo<'static>,
    /// Code and constants are the recipe's own.
    recipe: PhantomData<&'a GraphicsRecipe>,
}

impl<'a> GraphicsCreateInfo<'a> {
    /// The create-info of this pipeline. `creation_only` are flags of `VkPipelineCreateFlags2`
    /// for this one creation, such as those that recipes do not keep.
    #[must_use]
    pub fn new(recipe: &'a GraphicsRecipe, handles: &GraphicsHandles, creation_only: u64) -> Self {
        let mut arena = Arena::default();
        let mut next: Chain = ptr::null();
        let flags = flags(&mut arena, &mut next, recipe.flags, creation_only);
        chain_target(&mut arena, &mut next, recipe);
        chain_libraries(&mut arena, &mut next, recipe, &handles.libraries);
        robustness(&mut arena, &mut next, recipe.robustness.as_ref());
        chain_rates(&mut arena, &mut next, recipe);

        let stages: Vec<_> = recipe
            .stages
            .iter()
            .enumerate()
            .map(|(index, one)| {
                let module = handles.modules.get(index).copied().unwrap_or_default();
                stage(&mut arena, one, module)
            })
            .collect();
        let vertex_input = recipe
            .vertex_input
            .as_ref()
            .map(|state| states::vertex_input(&mut arena, state));
        let tessellation = recipe
            .tessellation
            .as_ref()
            .map(|state| states::tessellation(&mut arena, state));
        let viewport = recipe
            .viewport
            .as_ref()
            .map(|state| states::viewport(&mut arena, state));
        let rasterization = recipe
            .rasterization
            .as_ref()
            .map(|state| states::rasterization(&mut arena, state));
        let multisample = recipe
            .multisample
            .as_ref()
            .map(|state| states::multisample(&mut arena, state));
        let color_blend = recipe
            .color_blend
            .as_ref()
            .map(|state| states::color_blend(&mut arena, state));
        let dynamic = (!recipe.dynamic_states.is_empty()).then(|| {
            let list = recipe.dynamic_states.clone();
            vk::PipelineDynamicStateCreateInfo {
                dynamic_state_count: count(&list),
                p_dynamic_states: arena.keep_all(list),
                ..Default::default()
            }
        });
        let info = vk::GraphicsPipelineCreateInfo {
            p_next: next,
            flags,
            stage_count: count(&stages),
            p_stages: arena.keep_all(stages),
            p_vertex_input_state: arena.keep_option(vertex_input),
            p_input_assembly_state: arena
                .keep_option(recipe.input_assembly.as_ref().map(states::input_assembly)),
            p_tessellation_state: arena.keep_option(tessellation),
            p_viewport_state: arena.keep_option(viewport),
            p_rasterization_state: arena.keep_option(rasterization),
            p_multisample_state: arena.keep_option(multisample),
            p_depth_stencil_state: arena
                .keep_option(recipe.depth_stencil.as_ref().map(states::depth_stencil)),
            p_color_blend_state: arena.keep_option(color_blend),
            p_dynamic_state: arena.keep_option(dynamic),
            layout: handles.layout,
            render_pass: handles.render_pass,
            subpass: match &recipe.target {
                Target::RenderPass { subpass, .. } => *subpass,
                Target::Rendering(_) => 0,
            },
            base_pipeline_index: -1,
            ..Default::default()
        };
        Self {
            _arena: arena,
            info,
            recipe: PhantomData,
        }
    }

    /// The create-info.
    pub fn info(&self) -> vk::GraphicsPipelineCreateInfo<'_> {
        self.info
    }
}

/// A compute pipeline's create-info.
#[derive(Debug)]
pub struct ComputeCreateInfo<'a> {
    _arena: Arena,
    info: vk::ComputePipelineCreateInfo<'static>,
    recipe: PhantomData<&'a ComputeRecipe>,
}

impl<'a> ComputeCreateInfo<'a> {
    /// The create-info of this pipeline. A null module has the code chained instead;
    /// `creation_only` are flags of `VkPipelineCreateFlags2` for this one creation.
    #[must_use]
    pub fn new(
        recipe: &'a ComputeRecipe,
        module: vk::ShaderModule,
        layout: vk::PipelineLayout,
        creation_only: u64,
    ) -> Self {
        let mut arena = Arena::default();
        let mut next: Chain = ptr::null();
        let flags = flags(&mut arena, &mut next, recipe.flags, creation_only);
        robustness(&mut arena, &mut next, recipe.robustness.as_ref());
        let info = vk::ComputePipelineCreateInfo {
            p_next: next,
            flags,
            stage: stage(&mut arena, &recipe.stage, module),
            layout,
            base_pipeline_index: -1,
            ..Default::default()
        };
        Self {
            _arena: arena,
            info,
            recipe: PhantomData,
        }
    }

    /// The create-info.
    pub fn info(&self) -> vk::ComputePipelineCreateInfo<'_> {
        self.info
    }
}

/// Flags of 32 bits go into the create-info itself, wider ones into a chained struct, which then
/// takes their place.
fn flags(
    arena: &mut Arena,
    next: &mut Chain,
    flags: PipelineFlags,
    creation_only: u64,
) -> vk::PipelineCreateFlags {
    let bits = flags.bits() | creation_only;
    // CAPTURE_DATA is bit 31, which only the wide flags have.
    match u32::try_from(bits) {
        Ok(bits) if bits < 1 << 31 => vk::PipelineCreateFlags::from_raw(bits),
        _ => {
            chain!(
                arena,
                *next,
                vk::PipelineCreateFlags2CreateInfoKHR::default()
                    .flags(vk::PipelineCreateFlags2KHR::from_raw(bits))
            );
            vk::PipelineCreateFlags::empty()
        }
    }
}

fn robustness(arena: &mut Arena, next: &mut Chain, robustness: Option<&Robustness>) {
    if let Some(robustness) = robustness {
        chain!(
            arena,
            *next,
            vk::PipelineRobustnessCreateInfoEXT::default()
                .storage_buffers(robustness.storage_buffers)
                .uniform_buffers(robustness.uniform_buffers)
                .vertex_inputs(robustness.vertex_inputs)
                .images(robustness.images)
        );
    }
}

fn chain_target(arena: &mut Arena, next: &mut Chain, recipe: &GraphicsRecipe) {
    if let Target::Rendering(formats) = &recipe.target
        && *formats != Default::default()
    {
        chain!(
            arena,
            *next,
            vk::PipelineRenderingCreateInfo {
                view_mask: formats.view_mask,
                color_attachment_count: count(&formats.color),
                p_color_attachment_formats: arena.keep_all(formats.color.clone()),
                depth_attachment_format: formats.depth,
                stencil_attachment_format: formats.stencil,
                ..Default::default()
            }
        );
    }
    if let Some(locations) = &recipe.attachment_locations {
        chain!(
            arena,
            *next,
            vk::RenderingAttachmentLocationInfoKHR {
                color_attachment_count: count(locations),
                p_color_attachment_locations: arena.keep_all(locations.clone()),
                ..Default::default()
            }
        );
    }
    if let Some(indices) = &recipe.input_attachment_indices {
        chain!(
            arena,
            *next,
            vk::RenderingInputAttachmentIndexInfoKHR {
                color_attachment_count: count(&indices.color),
                p_color_attachment_input_indices: arena.keep_all(indices.color.clone()),
                p_depth_input_attachment_index: arena.keep_option(indices.depth),
                p_stencil_input_attachment_index: arena.keep_option(indices.stencil),
                ..Default::default()
            }
        );
    }
    if let Some(counts) = &recipe.attachment_sample_counts {
        chain!(
            arena,
            *next,
            vk::AttachmentSampleCountInfoAMD {
                color_attachment_count: count(&counts.color),
                p_color_attachment_samples: arena.keep_all(counts.color.clone()),
                depth_stencil_attachment_samples: counts.depth_stencil,
                ..Default::default()
            }
        );
    }
}

fn chain_libraries(
    arena: &mut Arena,
    next: &mut Chain,
    recipe: &GraphicsRecipe,
    libraries: &[vk::Pipeline],
) {
    let links = !recipe.libraries.is_empty();
    if recipe.parts != Parts::implied(recipe.flags, links) {
        chain!(
            arena,
            *next,
            vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(recipe.parts.flags())
        );
    }
    if links {
        let libraries = libraries.to_vec();
        chain!(
            arena,
            *next,
            vk::PipelineLibraryCreateInfoKHR {
                library_count: count(&libraries),
                p_libraries: arena.keep_all(libraries),
                ..Default::default()
            }
        );
    }
}

fn chain_rates(arena: &mut Arena, next: &mut Chain, recipe: &GraphicsRecipe) {
    if let Some(discard) = &recipe.discard_rectangles {
        let rectangles = states::keep_counted(arena, &discard.rectangles, states::rect);
        chain!(
            arena,
            *next,
            vk::PipelineDiscardRectangleStateCreateInfoEXT {
                discard_rectangle_mode: discard.mode,
                discard_rectangle_count: discard.rectangles.count(),
                p_discard_rectangles: rectangles,
                ..Default::default()
            }
        );
    }
    if let Some(rate) = &recipe.fragment_shading_rate {
        let [width, height] = rate.fragment_size;
        chain!(
            arena,
            *next,
            vk::PipelineFragmentShadingRateStateCreateInfoKHR::default()
                .fragment_size(vk::Extent2D { width, height })
                .combiner_ops(rate.combiner_ops)
        );
    }
    if let Some(rate) = &recipe.fragment_shading_rate_enum {
        chain!(
            arena,
            *next,
            vk::PipelineFragmentShadingRateEnumStateCreateInfoNV::default()
                .shading_rate_type(rate.rate_type)
                .shading_rate(rate.rate)
                .combiner_ops(rate.combiner_ops)
        );
    }
    if recipe.representative_fragment_test {
        chain!(
            arena,
            *next,
            vk::PipelineRepresentativeFragmentTestStateCreateInfoNV::default()
                .representative_fragment_test_enable(true)
        );
    }
}

fn stage(
    arena: &mut Arena,
    stage: &Stage,
    module: vk::ShaderModule,
) -> vk::PipelineShaderStageCreateInfo<'static> {
    let mut next: Chain = ptr::null();
    if let Some(size) = stage.required_subgroup_size {
        // The bindings have the member as one that the driver writes.
        chain!(
            arena,
            next,
            vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo {
                required_subgroup_size: size,
                ..Default::default()
            }
        );
    }
    robustness(arena, &mut next, stage.robustness.as_ref());
    if module == vk::ShaderModule::null() {
        let code = stage.module.code();
        chain!(
            arena,
            next,
            vk::ShaderModuleCreateInfo {
                flags: stage.module.flags(),
                code_size: size_of_val(code),
                p_code: code.as_ptr(),
                ..Default::default()
            }
        );
    }
    let specialization = stage.specialization.as_ref().map(|specialization| {
        let entries: Vec<vk::SpecializationMapEntry> = specialization
            .entries
            .iter()
            .map(|entry| vk::SpecializationMapEntry {
                constant_id: entry.constant_id,
                offset: entry.offset,
                size: usize::try_from(entry.size).unwrap_or(usize::MAX),
            })
            .collect();
        vk::SpecializationInfo {
            map_entry_count: count(&entries),
            p_map_entries: arena.keep_all(entries),
            data_size: specialization.data.len(),
            p_data: specialization.data.as_ptr().cast(),
            ..Default::default()
        }
    });
    vk::PipelineShaderStageCreateInfo {
        p_next: next,
        flags: stage.flags,
        stage: stage.stage,
        module,
        p_name: keep_name(arena, stage),
        p_specialization_info: arena.keep_option(specialization),
        ..Default::default()
    }
}

fn keep_name(arena: &mut Arena, stage: &Stage) -> *const c_char {
    // An entry point's name has no NUL, so this is never the empty name of the default.
    let name = CString::new(stage.entry.as_str()).unwrap_or_default();
    let mut bytes = name.into_bytes_with_nul();
    bytes.shrink_to_fit();
    arena.keep_all(bytes).cast()
}
