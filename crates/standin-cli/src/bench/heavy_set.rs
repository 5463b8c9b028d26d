//! A capture of heavy pipelines, made by code.

use crate::bench::heavy;
use ash::vk;
use standin_recipe::layout::PipelineLayoutRecipe;
use standin_recipe::output::{BlendAttachment, ColorBlendState, RenderingFormats, Target};
use standin_recipe::raster::{Counted, MultisampleState, RasterizationState, ViewportState};
use standin_recipe::stage::{EntryName, Stage};
use standin_recipe::vertex::{
    InputAssemblyState, VertexAttribute, VertexBinding, VertexInputState,
};
use standin_recipe::{Float, GraphicsRecipe, Module, ModuleRef, Recipe};
use std::sync::Arc;

/// Recipes of pipelines that are alike but for the seed of their fragment program.
pub(crate) fn recipes(count: u32) -> Vec<Recipe> {
    let module = |code: Vec<u32>| Arc::new(Module::new(vk::ShaderModuleCreateFlags::empty(), code));
    let vertex = module(heavy::vertex());
    let layout = Arc::new(PipelineLayoutRecipe::default());
    (0..count)
        .map(|seed| recipe(&vertex, &module(heavy::fragment(seed)), &layout).into())
        .collect()
}

fn recipe(
    vertex: &Arc<Module>,
    fragment: &Arc<Module>,
    layout: &Arc<PipelineLayoutRecipe>,
) -> GraphicsRecipe {
    let stage = |stage, module: &Arc<Module>| Stage {
        stage,
        flags: vk::PipelineShaderStageCreateFlags::empty(),
        module: ModuleRef(Arc::clone(module)),
        entry: EntryName::default(),
        specialization: None,
        required_subgroup_size: None,
        robustness: None,
    };
    GraphicsRecipe {
        stages: vec![
            stage(vk::ShaderStageFlags::VERTEX, vertex),
            stage(vk::ShaderStageFlags::FRAGMENT, fragment),
        ],
        layout: Some(Arc::clone(layout)),
        target: Target::Rendering(RenderingFormats {
            color: vec![vk::Format::R8G8B8A8_UNORM],
            ..Default::default()
        }),
        vertex_input: Some(VertexInputState {
            bindings: vec![VertexBinding {
                stride: 16,
                ..Default::default()
            }],
            attributes: vec![VertexAttribute {
                format: vk::Format::R32G32B32A32_SFLOAT,
                ..Default::default()
            }],
        }),
        input_assembly: Some(InputAssemblyState {
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            primitive_restart_enable: false,
        }),
        viewport: Some(ViewportState {
            viewports: Counted::Count(1),
            scissors: Counted::Count(1),
            ..Default::default()
        }),
        rasterization: Some(RasterizationState {
            line_width: Float::new(1.0),
            ..Default::default()
        }),
        multisample: Some(MultisampleState {
            samples: vk::SampleCountFlags::TYPE_1,
            ..Default::default()
        }),
        color_blend: Some(ColorBlendState {
            attachments: Counted::Values(vec![BlendAttachment {
                write_mask: vk::ColorComponentFlags::RGBA,
                ..Default::default()
            }]),
            ..Default::default()
        }),
        dynamic_states: vec![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR],
        ..Default::default()
    }
}
