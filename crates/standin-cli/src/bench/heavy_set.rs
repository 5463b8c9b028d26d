//! A capture of heavy pipelines, made by code.

use crate::bench::heavy;
use ash::vk;
use standin_recipe::codec::Float;
use standin_recipe::layout::PipelineLayout;
use standin_recipe::pipeline::{DynamicStates, Stage, Target};
use standin_recipe::state::{
    Blend, ColorBlend, InputAssembly, Multisample, Rasterization, Rendering, VertexAttribute,
    VertexBinding, VertexInput, Viewports,
};
use standin_recipe::{GraphicsRecipe, Module, ModuleRef, Recipe};
use std::sync::Arc;

/// Recipes of pipelines that are alike but for the seed of their fragment program.
pub(crate) fn recipes(count: u32) -> Vec<Recipe> {
    let vertex = Arc::new(Module::new(
        vk::ShaderModuleCreateFlags::empty(),
        heavy::vertex(),
    ));
    let layout = Arc::new(PipelineLayout {
        flags: vk::PipelineLayoutCreateFlags::empty(),
        sets: Vec::new(),
        push_constants: Vec::new(),
    });
    (0..count)
        .map(|seed| {
            let fragment = Arc::new(Module::new(
                vk::ShaderModuleCreateFlags::empty(),
                heavy::fragment(seed),
            ));
            Recipe::Graphics(Arc::new(recipe(&vertex, &fragment, &layout)))
        })
        .collect()
}

fn recipe(
    vertex: &Arc<Module>,
    fragment: &Arc<Module>,
    layout: &Arc<PipelineLayout>,
) -> GraphicsRecipe {
    let stage = |stage, module: &Arc<Module>| Stage {
        stage,
        flags: vk::PipelineShaderStageCreateFlags::empty(),
        module: ModuleRef(Arc::clone(module)),
        entry: "main".to_owned(),
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
        target: Target::Rendering(Rendering {
            view_mask: 0,
            color_formats: vec![vk::Format::R8G8B8A8_UNORM],
            depth_format: vk::Format::UNDEFINED,
            stencil_format: vk::Format::UNDEFINED,
            color_locations: None,
            input_indices: None,
        }),
        vertex_input: Some(VertexInput {
            bindings: vec![VertexBinding {
                binding: 0,
                stride: 16,
                rate: vk::VertexInputRate::VERTEX,
            }],
            attributes: vec![VertexAttribute {
                location: 0,
                binding: 0,
                format: vk::Format::R32G32B32A32_SFLOAT,
                offset: 0,
            }],
            divisors: Vec::new(),
        }),
        input_assembly: Some(InputAssembly {
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
        }),
        viewports: Some(Viewports {
            viewport_count: 1,
            scissor_count: 1,
            viewports: Vec::new(),
            scissors: Vec::new(),
            negative_one_to_one: None,
            depth_clamp: None,
            swizzles: None,
            w_scaling: None,
        }),
        rasterization: Some(rasterization()),
        multisample: Some(Multisample {
            samples: vk::SampleCountFlags::TYPE_1,
            sample_shading: false,
            min_sample_shading: Float::new(0.0),
            mask: None,
            alpha_to_coverage: false,
            alpha_to_one: false,
            locations: None,
        }),
        color_blend: Some(ColorBlend {
            flags: 0,
            logic_op_enable: false,
            logic_op: vk::LogicOp::CLEAR,
            attachments: vec![opaque()],
            constants: [Float::new(0.0); 4],
            advanced: None,
            write_enables: None,
        }),
        dynamic: DynamicStates::from_iter([
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
        ]),
        ..GraphicsRecipe::empty()
    }
}

fn rasterization() -> Rasterization {
    Rasterization {
        depth_clamp: false,
        discard: false,
        polygon_mode: vk::PolygonMode::FILL,
        cull_mode: vk::CullModeFlags::NONE,
        front_face: vk::FrontFace::COUNTER_CLOCKWISE,
        depth_bias: false,
        depth_bias_constant: Float::new(0.0),
        depth_bias_clamp: Float::new(0.0),
        depth_bias_slope: Float::new(0.0),
        line_width: Float::new(1.0),
        conservative: None,
        line: None,
        depth_clip: None,
        stream: None,
        provoking_vertex: None,
        depth_bias_representation: None,
        order: None,
    }
}

fn opaque() -> Blend {
    Blend {
        enable: false,
        src_color: vk::BlendFactor::ONE,
        dst_color: vk::BlendFactor::ZERO,
        color_op: vk::BlendOp::ADD,
        src_alpha: vk::BlendFactor::ONE,
        dst_alpha: vk::BlendFactor::ZERO,
        alpha_op: vk::BlendOp::ADD,
        write_mask: vk::ColorComponentFlags::RGBA,
    }
}
