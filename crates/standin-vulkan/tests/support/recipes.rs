//! Recipes of the test shaders.

use standin_recipe::layout::{PipelineLayoutRecipe, SetBinding, SetLayoutRecipe};
use standin_recipe::output::{
    BlendAttachment, ColorBlendState, DepthStencilState, RenderingFormats, Target,
};
use standin_recipe::pipeline::Parts;
use standin_recipe::raster::{
    Counted, MultisampleState, RasterizationState, Rect, Viewport, ViewportState,
};
use standin_recipe::render_pass::{
    AttachmentDescription, AttachmentReference, RenderPassRecipe, Subpass,
};
use standin_recipe::stage::{EntryName, Specialization, SpecializationEntry, Stage};
use standin_recipe::vertex::{
    InputAssemblyState, TessellationState, VertexAttribute, VertexBinding, VertexInputState,
};
use standin_recipe::{ComputeRecipe, GraphicsRecipe, Module, ModuleRef};
use standin_vulkan::ash::vk;
use std::sync::Arc;

pub(crate) const RGBA32F: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

pub(crate) fn stage(stage: vk::ShaderStageFlags, spirv: &[u8]) -> Stage {
    Stage {
        stage,
        flags: vk::PipelineShaderStageCreateFlags::empty(),
        module: ModuleRef(Arc::new(Module::new(
            vk::ShaderModuleCreateFlags::empty(),
            super::words(spirv),
        ))),
        entry: EntryName::default(),
        specialization: None,
        required_subgroup_size: None,
        robustness: None,
    }
}

fn attribute(location: u32, offset: u32) -> VertexAttribute {
    VertexAttribute {
        location,
        binding: 0,
        format: RGBA32F,
        offset,
    }
}

/// Two vertex attributes, one colour, dynamic rendering to one RGBA32F attachment.
pub(crate) fn graphics() -> GraphicsRecipe {
    GraphicsRecipe {
        parts: Parts::ALL,
        stages: vec![
            stage(
                vk::ShaderStageFlags::VERTEX,
                include_bytes!("../shaders/plain.vert.spv"),
            ),
            stage(
                vk::ShaderStageFlags::FRAGMENT,
                include_bytes!("../shaders/shade.frag.spv"),
            ),
        ],
        vertex_input: Some(VertexInputState {
            bindings: vec![VertexBinding {
                binding: 0,
                stride: 32,
                input_rate: vk::VertexInputRate::VERTEX,
                divisor: 1,
            }],
            attributes: vec![attribute(0, 0), attribute(1, 16)],
        }),
        input_assembly: Some(InputAssemblyState {
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            primitive_restart_enable: false,
        }),
        viewport: Some(ViewportState {
            viewports: Counted::Values(vec![Viewport {
                width: 4.0.into(),
                height: 4.0.into(),
                max_depth: 1.0.into(),
                ..Viewport::default()
            }]),
            scissors: Counted::Values(vec![Rect {
                width: 4,
                height: 4,
                ..Rect::default()
            }]),
            ..ViewportState::default()
        }),
        rasterization: Some(RasterizationState {
            line_width: 1.0.into(),
            ..RasterizationState::default()
        }),
        multisample: Some(MultisampleState {
            samples: vk::SampleCountFlags::TYPE_1,
            ..MultisampleState::default()
        }),
        depth_stencil: Some(DepthStencilState::default()),
        color_blend: Some(ColorBlendState {
            attachments: Counted::Values(vec![BlendAttachment {
                write_mask: vk::ColorComponentFlags::RGBA,
                ..BlendAttachment::default()
            }]),
            ..ColorBlendState::default()
        }),
        layout: Some(Arc::new(PipelineLayoutRecipe::default())),
        target: Target::Rendering(RenderingFormats {
            color: vec![RGBA32F],
            ..RenderingFormats::default()
        }),
        ..GraphicsRecipe::default()
    }
}

/// The same, in a subpass of a render pass.
pub(crate) fn in_render_pass() -> GraphicsRecipe {
    GraphicsRecipe {
        target: Target::RenderPass {
            pass: Arc::new(RenderPassRecipe {
                attachments: vec![AttachmentDescription {
                    format: RGBA32F,
                    samples: vk::SampleCountFlags::TYPE_1,
                    final_layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
                    load_op: vk::AttachmentLoadOp::DONT_CARE,
                    ..AttachmentDescription::default()
                }],
                subpasses: vec![Subpass {
                    color_attachments: vec![AttachmentReference {
                        attachment: 0,
                        layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
                        ..AttachmentReference::default()
                    }],
                    ..Subpass::default()
                }],
                ..RenderPassRecipe::default()
            }),
            subpass: 0,
        },
        ..graphics()
    }
}

/// The same, with tessellation.
pub(crate) fn tessellated() -> GraphicsRecipe {
    let mut recipe = graphics();
    recipe.stages.push(stage(
        vk::ShaderStageFlags::TESSELLATION_CONTROL,
        include_bytes!("../shaders/pass.tesc.spv"),
    ));
    recipe.stages.push(stage(
        vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        include_bytes!("../shaders/pass.tese.spv"),
    ));
    recipe.tessellation = Some(TessellationState {
        patch_control_points: 3,
        ..TessellationState::default()
    });
    recipe.input_assembly = Some(InputAssemblyState {
        topology: vk::PrimitiveTopology::PATCH_LIST,
        primitive_restart_enable: false,
    });
    recipe
}

/// The same, with a geometry shader.
pub(crate) fn with_geometry() -> GraphicsRecipe {
    let mut recipe = graphics();
    recipe.stages.push(stage(
        vk::ShaderStageFlags::GEOMETRY,
        include_bytes!("../shaders/pass.geom.spv"),
    ));
    recipe
}

/// A compute pipeline with one storage buffer, whose workgroup has this many invocations.
pub(crate) fn compute(size: u32) -> ComputeRecipe {
    let mut stage = stage(
        vk::ShaderStageFlags::COMPUTE,
        include_bytes!("../shaders/double.comp.spv"),
    );
    stage.specialization = Some(Specialization {
        entries: vec![SpecializationEntry {
            constant_id: 0,
            offset: 0,
            size: 4,
        }],
        data: size.to_le_bytes().to_vec(),
    });
    ComputeRecipe {
        flags: Default::default(),
        stage,
        layout: Arc::new(PipelineLayoutRecipe {
            set_layouts: vec![Some(Arc::new(SetLayoutRecipe {
                bindings: vec![SetBinding {
                    binding: 0,
                    descriptor_type: vk::DescriptorType::STORAGE_BUFFER,
                    descriptor_count: 1,
                    stage_flags: vk::ShaderStageFlags::COMPUTE,
                    ..SetBinding::default()
                }],
                ..SetLayoutRecipe::default()
            }))],
            push_constant_ranges: vec![standin_recipe::layout::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: 4,
            }],
            ..PipelineLayoutRecipe::default()
        }),
        robustness: None,
    }
}
