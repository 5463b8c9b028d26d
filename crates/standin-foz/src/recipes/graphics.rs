//! Whole pipelines and their stages.

use super::states::{self, counted, rect};
use super::{Resolve, Step, foreign, no_chain, no_flags, raw};
use crate::declined::Reason;
use crate::json::chain::{self, Link};
use crate::json::pipeline::{ComputeBody, GraphicsBody, SpecializationBody, StageBody};
use ash::vk;
use standin_recipe::module::ModuleRef;
use standin_recipe::output::{
    AttachmentSampleCounts, InputAttachmentIndices, RenderingFormats, Target,
};
use standin_recipe::pipeline::{Parts, PipelineFlags};
use standin_recipe::raster::{DiscardRectangles, FragmentShadingRate, FragmentShadingRateEnum};
use standin_recipe::stage::{EntryName, Robustness, Specialization, SpecializationEntry, Stage};
use standin_recipe::{ComputeRecipe, GraphicsRecipe};

/// More colour attachments than any device has.
pub(crate) const MAX_ATTACHMENTS: u32 = 64;

fn robustness(body: &chain::Robustness) -> Robustness {
    let buffer = |value| vk::PipelineRobustnessBufferBehaviorEXT::from_raw(raw(value));
    Robustness {
        storage_buffers: buffer(body.storage_buffers),
        uniform_buffers: buffer(body.uniform_buffers),
        vertex_inputs: buffer(body.vertex_inputs),
        images: vk::PipelineRobustnessImageBehaviorEXT::from_raw(raw(body.images)),
    }
}

fn specialization(body: &SpecializationBody) -> Step<Specialization> {
    if usize::try_from(body.data_size) != Ok(body.data.0.len()) {
        return Err(Reason::Inconsistent(
            "the specialisation data is not as long as its size",
        ));
    }
    let specialization = Specialization {
        entries: body
            .map_entries
            .iter()
            .map(|entry| SpecializationEntry {
                constant_id: entry.constant_id,
                offset: entry.offset,
                size: entry.size,
            })
            .collect(),
        data: body.data.0.clone(),
    };
    // A driver would read past the data.
    specialization
        .check()
        .map_err(|_| Reason::Inconsistent("a specialisation constant lies outside of the data"))?;
    Ok(specialization)
}

pub(crate) fn stage(body: &StageBody, db: &mut dyn Resolve) -> Step<Stage> {
    let key = body
        .module
        .key()
        .ok_or(Reason::Inconsistent("a stage has no shader module"))?;
    let mut stage = Stage {
        stage: vk::ShaderStageFlags::from_raw(body.stage),
        flags: vk::PipelineShaderStageCreateFlags::from_raw(body.flags),
        entry: EntryName::new(body.name.as_str())
            .map_err(|_| Reason::Inconsistent("the entry point's name has a NUL in it"))?,
        specialization: body
            .specialization_info
            .as_ref()
            .map(specialization)
            .transpose()?,
        ..Stage::default()
    };
    for link in &body.p_next {
        match link {
            Link::SubgroupSize(b) => stage.required_subgroup_size = Some(b.required_subgroup_size),
            Link::Robustness(b) => stage.robustness = Some(robustness(b)),
            other => foreign(other)?,
        }
    }
    // Last, because it is what costs.
    stage.module = ModuleRef(db.module(key.0)?);
    Ok(stage)
}

/// A base pipeline is not looked at: a derivative is the same pipeline made in another way, and
/// links of base pipelines may form loops or lead nowhere.
pub(crate) fn compute(body: &ComputeBody, db: &mut dyn Resolve) -> Step<ComputeRecipe> {
    let mut flags = body.flags;
    let mut chained = None;
    for link in &body.p_next {
        match link {
            Link::Flags2(b) => flags = b.flags,
            Link::Robustness(b) => chained = Some(robustness(b)),
            other => foreign(other)?,
        }
    }
    let layout = body
        .layout
        .key()
        .ok_or(Reason::Inconsistent("the pipeline has no layout"))?;
    Ok(ComputeRecipe {
        flags: PipelineFlags::new(flags),
        layout: db.pipeline_layout(layout.0)?,
        stage: stage(&body.stage, db)?,
        robustness: chained,
    })
}

/// See [`compute`] for base pipelines.
pub(crate) fn graphics(body: &GraphicsBody, db: &mut dyn Resolve) -> Step<GraphicsRecipe> {
    let mut recipe = GraphicsRecipe {
        flags: PipelineFlags::new(body.flags),
        ..GraphicsRecipe::default()
    };
    let mut formats = RenderingFormats::default();
    let mut libraries = &[][..];
    let mut parts = None;
    for link in &body.p_next {
        match link {
            Link::Rendering(b) => {
                formats = RenderingFormats {
                    view_mask: b.view_mask,
                    color: b
                        .color_attachment_formats
                        .iter()
                        .map(|&format| vk::Format::from_raw(raw(format)))
                        .collect(),
                    depth: vk::Format::from_raw(raw(b.depth_attachment_format)),
                    stencil: vk::Format::from_raw(raw(b.stencil_attachment_format)),
                };
            }
            Link::Libraries(b) => libraries = &b.libraries,
            Link::LibraryParts(b) => {
                parts = Some(Parts::new(vk::GraphicsPipelineLibraryFlagsEXT::from_raw(
                    b.flags,
                )));
            }
            other => pipeline_link(&mut recipe, other)?,
        }
    }
    recipe.parts = parts.unwrap_or_else(|| Parts::implied(recipe.flags, !libraries.is_empty()));
    if !libraries.is_empty() && recipe.flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR) {
        return Err(Reason::LibraryOfLibraries);
    }
    graphics_states(&mut recipe, body)?;
    recipe.target = match body.render_pass.key() {
        Some(key) => {
            let pass = db.render_pass(key.0)?;
            if body.subpass as usize >= pass.subpasses.len() {
                return Err(Reason::Inconsistent("the render pass has no such subpass"));
            }
            Target::RenderPass {
                pass,
                subpass: body.subpass,
            }
        }
        None => Target::Rendering(formats),
    };
    recipe.layout = match body.layout.key() {
        Some(key) => Some(db.pipeline_layout(key.0)?),
        None if recipe.parts == Parts::ALL => {
            return Err(Reason::Inconsistent("the pipeline has no layout"));
        }
        None => None,
    };
    for body in &body.stages {
        recipe.stages.push(stage(body, db)?);
    }
    for library in libraries {
        let key = library
            .key()
            .ok_or(Reason::Inconsistent("a library is null"))?;
        recipe.libraries.push(db.library(key.0)?);
    }
    Ok(recipe)
}

fn pipeline_link(recipe: &mut GraphicsRecipe, link: &Link) -> Step<()> {
    match link {
        Link::Flags2(b) => recipe.flags = PipelineFlags::new(b.flags),
        Link::Robustness(b) => recipe.robustness = Some(robustness(b)),
        Link::DiscardRectangles(b) => {
            let rectangles = b.discard_rectangles.as_ref();
            recipe.discard_rectangles = Some(DiscardRectangles {
                mode: vk::DiscardRectangleModeEXT::from_raw(raw(b.discard_rectangle_mode)),
                rectangles: counted(b.discard_rectangle_count, rectangles, rect)?,
            });
        }
        Link::ShadingRate(b) => {
            recipe.fragment_shading_rate = Some(FragmentShadingRate {
                fragment_size: [b.fragment_size.width, b.fragment_size.height],
                combiner_ops: b
                    .combiner_ops
                    .map(|op| vk::FragmentShadingRateCombinerOpKHR::from_raw(raw(op))),
            });
        }
        Link::ShadingRateEnum(b) => {
            recipe.fragment_shading_rate_enum = Some(FragmentShadingRateEnum {
                rate_type: vk::FragmentShadingRateTypeNV::from_raw(raw(b.shading_rate_type)),
                rate: vk::FragmentShadingRateNV::from_raw(raw(b.shading_rate)),
                combiner_ops: b
                    .combiner_ops
                    .map(|op| vk::FragmentShadingRateCombinerOpKHR::from_raw(raw(op))),
            });
        }
        Link::AttachmentSampleCounts(b) => {
            recipe.attachment_sample_counts = Some(AttachmentSampleCounts {
                color: b
                    .color_attachment_samples
                    .iter()
                    .map(|&samples| vk::SampleCountFlags::from_raw(samples))
                    .collect(),
                depth_stencil: vk::SampleCountFlags::from_raw(b.depth_stencil_attachment_samples),
            });
        }
        Link::RepresentativeTest(b) => {
            recipe.representative_fragment_test = b.representative_fragment_test_enable != 0;
        }
        Link::AttachmentLocations(b) => {
            recipe
                .attachment_locations
                .clone_from(&b.color_attachment_locations);
        }
        Link::InputAttachmentIndices(b) => {
            if b.color_attachment_count > MAX_ATTACHMENTS {
                return Err(Reason::Inconsistent("there are too many attachments"));
            }
            recipe.input_attachment_indices = Some(InputAttachmentIndices {
                color: b
                    .color_attachment_input_indices
                    .clone()
                    .unwrap_or_else(|| (0..b.color_attachment_count).collect()),
                depth: b.depth_input_attachment_index,
                stencil: b.stencil_input_attachment_index,
            });
        }
        other => foreign(other)?,
    }
    Ok(())
}

fn graphics_states(recipe: &mut GraphicsRecipe, body: &GraphicsBody) -> Step<()> {
    if let Some(state) = &body.dynamic_state {
        no_flags(state.flags)?;
        no_chain(&state.p_next)?;
        recipe.dynamic_states = state
            .dynamic_state
            .iter()
            .map(|&state| vk::DynamicState::from_raw(raw(state)))
            .collect();
    }
    let vertex = body.vertex_input_state.as_ref();
    recipe.vertex_input = vertex.map(states::vertex_input).transpose()?;
    let assembly = body.input_assembly_state.as_ref();
    recipe.input_assembly = assembly.map(states::input_assembly).transpose()?;
    let tessellation = body.tessellation_state.as_ref();
    recipe.tessellation = tessellation.map(states::tessellation).transpose()?;
    let viewport = body.viewport_state.as_ref();
    recipe.viewport = viewport.map(states::viewport).transpose()?;
    let rasterization = body.rasterization_state.as_ref();
    recipe.rasterization = rasterization.map(states::rasterization).transpose()?;
    let multisample = body.multisample_state.as_ref();
    recipe.multisample = multisample.map(states::multisample).transpose()?;
    let depth = body.depth_stencil_state.as_ref();
    recipe.depth_stencil = depth.map(states::depth_stencil).transpose()?;
    let blend = body.color_blend_state.as_ref();
    recipe.color_blend = blend.map(states::color_blend).transpose()?;
    Ok(())
}
