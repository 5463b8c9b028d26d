//! Whole pipelines and their stages.
//!
//! A state is written only where the pipeline has its part and Vulkan reads it, as the recorder
//! does; the keys count on it.

use super::{Keep, RecordError, Step, number, states};
use crate::json::chain::{
    self, AttachmentLocations, AttachmentSampleCounts, DiscardRectangles, Extent, Flags2,
    InputAttachmentIndices, Libraries, LibraryParts, Link, Rendering, RepresentativeTest,
    ShadingRate, ShadingRateEnum, SubgroupSize,
};
use crate::json::pipeline::{
    ComputeBody, DynamicBody, GraphicsBody, MapEntryBody, SpecializationBody, StageBody,
};
use crate::json::{Blob, Handle};
use ash::vk::{self, DynamicState as Dynamic, GraphicsPipelineLibraryFlagsEXT as Part};
use standin_recipe::output::Target;
use standin_recipe::pipeline::{Parts, PipelineFlags};
use standin_recipe::stage::{Robustness, Specialization, Stage};
use standin_recipe::{ComputeRecipe, GraphicsRecipe};

/// No base pipeline.
const NO_BASE: i32 = -1;

pub(super) fn compute(recipe: &ComputeRecipe, keep: &mut dyn Keep) -> Step<ComputeBody> {
    let (flags, flags2) = split_flags(recipe.flags);
    let mut chain: Vec<_> = flags2.into_iter().collect();
    chain.extend(recipe.robustness.as_ref().map(robustness));
    Ok(ComputeBody {
        flags,
        layout: keep.pipeline_layout(&recipe.layout)?,
        base_pipeline_handle: Handle(0),
        base_pipeline_index: NO_BASE,
        stage: stage(&recipe.stage, keep)?,
        p_next: chain,
    })
}

/// Flags that do not fit in 32 bits are in a chained struct.
fn split_flags(flags: PipelineFlags) -> (u64, Option<Link>) {
    let bits = flags.bits();
    if u32::try_from(bits).is_ok() {
        (bits, None)
    } else {
        (0, Some(Link::Flags2(Flags2 { flags: bits })))
    }
}

fn robustness(robustness: &Robustness) -> Link {
    Link::Robustness(chain::Robustness {
        storage_buffers: number(robustness.storage_buffers.as_raw()),
        uniform_buffers: number(robustness.uniform_buffers.as_raw()),
        vertex_inputs: number(robustness.vertex_inputs.as_raw()),
        images: number(robustness.images.as_raw()),
    })
}

fn specialization(specialization: &Specialization) -> SpecializationBody {
    SpecializationBody {
        data_size: specialization.data.len() as u64,
        data: Blob(specialization.data.clone()),
        map_entries: specialization
            .entries
            .iter()
            .map(|entry| MapEntryBody {
                offset: entry.offset,
                size: entry.size,
                constant_id: entry.constant_id,
            })
            .collect(),
    }
}

fn stage(stage: &Stage, keep: &mut dyn Keep) -> Step<StageBody> {
    let mut chain = Vec::new();
    if let Some(size) = stage.required_subgroup_size {
        chain.push(Link::SubgroupSize(SubgroupSize {
            required_subgroup_size: size,
        }));
    }
    chain.extend(stage.robustness.as_ref().map(robustness));
    Ok(StageBody {
        flags: stage.flags.as_raw(),
        name: stage.entry.as_str().to_owned(),
        module: keep.module(&stage.module)?,
        stage: stage.stage.as_raw(),
        specialization_info: stage.specialization.as_ref().map(specialization),
        p_next: chain,
    })
}

/// Which states of a pipeline are read, and so written.
struct Reads {
    vertex_input: bool,
    input_assembly: bool,
    tessellation: bool,
    viewport: bool,
    rasterization: bool,
    multisample: bool,
    depth_stencil: bool,
    color_blend: bool,
}

impl Reads {
    fn of(recipe: &GraphicsRecipe) -> Self {
        let part = |part| recipe.parts.contains(part);
        let has = |bits| {
            recipe
                .stages
                .iter()
                .any(|stage| stage.stage.intersects(bits))
        };
        let is_dynamic = |state| recipe.dynamic_states.contains(&state);
        let pre_raster = part(Part::PRE_RASTERIZATION_SHADERS);
        let fragment = part(Part::FRAGMENT_SHADER);
        let output = part(Part::FRAGMENT_OUTPUT_INTERFACE);
        let discards = pre_raster
            && !is_dynamic(Dynamic::RASTERIZER_DISCARD_ENABLE)
            && recipe
                .rasterization
                .as_ref()
                .is_some_and(|state| state.rasterizer_discard_enable);
        let mesh = has(vk::ShaderStageFlags::MESH_EXT | vk::ShaderStageFlags::TASK_EXT);
        // Where the formats are another library's, the states may be read.
        let attachments = recipe.target.attachments(output);
        let vertex_input = part(Part::VERTEX_INPUT_INTERFACE);
        Self {
            vertex_input: vertex_input && !mesh && !is_dynamic(Dynamic::VERTEX_INPUT_EXT),
            input_assembly: vertex_input && !mesh,
            tessellation: pre_raster
                && has(vk::ShaderStageFlags::TESSELLATION_CONTROL
                    | vk::ShaderStageFlags::TESSELLATION_EVALUATION),
            viewport: pre_raster && !discards,
            rasterization: pre_raster,
            multisample: (fragment || output) && !discards,
            depth_stencil: fragment
                && !discards
                && attachments.is_none_or(|has| has.depth || has.stencil),
            color_blend: output && !discards && attachments.is_none_or(|has| has.color),
        }
    }
}

pub(super) fn graphics(recipe: &GraphicsRecipe, keep: &mut dyn Keep) -> Step<GraphicsBody> {
    let (flags, flags2) = split_flags(recipe.flags);
    let reads = Reads::of(recipe);
    let dynamic = &recipe.dynamic_states[..];
    let viewport = recipe.viewport.as_ref().filter(|_| reads.viewport);
    let multisample = recipe.multisample.as_ref().filter(|_| reads.multisample);
    let blend = recipe.color_blend.as_ref().filter(|_| reads.color_blend);
    let mut chain = Vec::new();
    let (render_pass, subpass) = match &recipe.target {
        Target::RenderPass { pass, subpass } => (keep.render_pass(pass)?, *subpass),
        Target::Rendering(formats) => {
            let seen = Part::PRE_RASTERIZATION_SHADERS
                | Part::FRAGMENT_SHADER
                | Part::FRAGMENT_OUTPUT_INTERFACE;
            if recipe.parts.flags().intersects(seen) {
                chain.push(Link::Rendering(Rendering {
                    depth_attachment_format: number(formats.depth.as_raw()),
                    stencil_attachment_format: number(formats.stencil.as_raw()),
                    view_mask: formats.view_mask,
                    color_attachment_formats: formats
                        .color
                        .iter()
                        .map(|format| number(format.as_raw()))
                        .collect(),
                }));
            }
            (Handle(0), 0)
        }
    };
    chain.extend(flags2);
    library_links(recipe, keep, &mut chain)?;
    pipeline_links(recipe, &mut chain);
    Ok(GraphicsBody {
        flags,
        base_pipeline_handle: Handle(0),
        base_pipeline_index: NO_BASE,
        layout: match &recipe.layout {
            Some(layout) => keep.pipeline_layout(layout)?,
            None => Handle(0),
        },
        render_pass,
        subpass,
        tessellation_state: recipe
            .tessellation
            .as_ref()
            .filter(|_| reads.tessellation)
            .map(states::tessellation),
        dynamic_state: (!dynamic.is_empty()).then(|| DynamicBody {
            flags: 0,
            dynamic_state: dynamic.iter().map(|s| number(s.as_raw())).collect(),
            p_next: Vec::new(),
        }),
        multisample_state: multisample.map(states::multisample),
        vertex_input_state: recipe
            .vertex_input
            .as_ref()
            .filter(|_| reads.vertex_input)
            .map(states::vertex_input),
        rasterization_state: recipe
            .rasterization
            .as_ref()
            .filter(|_| reads.rasterization)
            .map(states::rasterization),
        input_assembly_state: recipe
            .input_assembly
            .as_ref()
            .filter(|_| reads.input_assembly)
            .map(states::input_assembly),
        color_blend_state: blend.map(states::color_blend).transpose()?,
        viewport_state: viewport.map(|s| states::viewport(s, dynamic)),
        depth_stencil_state: recipe
            .depth_stencil
            .as_ref()
            .filter(|_| reads.depth_stencil)
            .map(states::depth_stencil),
        stages: recipe
            .stages
            .iter()
            .map(|s| stage(s, keep))
            .collect::<Step<_>>()?,
        p_next: chain,
    })
}

fn library_links(recipe: &GraphicsRecipe, keep: &mut dyn Keep, chain: &mut Vec<Link>) -> Step<()> {
    let links = !recipe.libraries.is_empty();
    if recipe.parts != Parts::implied(recipe.flags, links) {
        chain.push(Link::LibraryParts(LibraryParts {
            flags: recipe.parts.flags().as_raw(),
        }));
    }
    if links {
        if recipe.flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR) {
            return Err(RecordError::LibraryOfLibraries);
        }
        let libraries = recipe
            .libraries
            .iter()
            .map(|library| keep.library(library))
            .collect::<Step<_>>()?;
        chain.push(Link::Libraries(Libraries { libraries }));
    }
    Ok(())
}

fn pipeline_links(recipe: &GraphicsRecipe, chain: &mut Vec<Link>) {
    chain.extend(recipe.robustness.as_ref().map(robustness));
    if let Some(discard) = &recipe.discard_rectangles {
        let is_dynamic = recipe
            .dynamic_states
            .contains(&Dynamic::DISCARD_RECTANGLE_EXT);
        chain.push(Link::DiscardRectangles(DiscardRectangles {
            flags: 0,
            discard_rectangle_mode: number(discard.mode.as_raw()),
            discard_rectangle_count: discard.rectangles.count(),
            discard_rectangles: states::values(&discard.rectangles, is_dynamic, states::rect),
        }));
    }
    if let Some(rate) = &recipe.fragment_shading_rate {
        let [width, height] = rate.fragment_size;
        chain.push(Link::ShadingRate(ShadingRate {
            fragment_size: Extent { width, height },
            combiner_ops: rate.combiner_ops.map(|op| number(op.as_raw())),
        }));
    }
    if let Some(locations) = &recipe.attachment_locations {
        chain.push(Link::AttachmentLocations(AttachmentLocations {
            color_attachment_count: locations.len() as u32,
            color_attachment_locations: Some(locations.clone()),
        }));
    }
    if let Some(indices) = &recipe.input_attachment_indices {
        chain.push(Link::InputAttachmentIndices(InputAttachmentIndices {
            color_attachment_count: indices.color.len() as u32,
            color_attachment_input_indices: Some(indices.color.clone()),
            depth_input_attachment_index: indices.depth,
            stencil_input_attachment_index: indices.stencil,
        }));
    }
    if let Some(rate) = &recipe.fragment_shading_rate_enum {
        chain.push(Link::ShadingRateEnum(ShadingRateEnum {
            shading_rate_type: number(rate.rate_type.as_raw()),
            shading_rate: number(rate.rate.as_raw()),
            combiner_ops: rate.combiner_ops.map(|op| number(op.as_raw())),
        }));
    }
    if let Some(counts) = &recipe.attachment_sample_counts {
        chain.push(Link::AttachmentSampleCounts(AttachmentSampleCounts {
            color_attachment_samples: counts.color.iter().map(|s| s.as_raw()).collect(),
            depth_stencil_attachment_samples: counts.depth_stencil.as_raw(),
        }));
    }
    if recipe.representative_fragment_test {
        chain.push(Link::RepresentativeTest(RepresentativeTest {
            representative_fragment_test_enable: 1,
        }));
    }
}
