//! Recipes in which every field says something.

use crate::codec::Float;
use crate::layout::{
    BorderColorMapping, CustomBorderColor, PipelineLayoutRecipe, PushConstantRange, SamplerRecipe,
    SetBinding, SetLayoutRecipe, YcbcrConversion,
};
use crate::module::{Module, ModuleRef};
use crate::output::{
    AdvancedBlend, AttachmentSampleCounts, BlendAttachment, ColorBlendState, DepthStencilState,
    InputAttachmentIndices, RenderingFormats, StencilFace, Target,
};
use crate::pipeline::{ComputeRecipe, GraphicsRecipe, PipelineFlags};
use crate::raster::{
    ConservativeRasterization, CoverageModulation, CoverageToColor, DepthBiasRepresentation,
    DepthClampControl, DiscardRectangles, FragmentShadingRate, FragmentShadingRateEnum,
    LineRasterization, MultisampleState, RasterizationState, Rect, SampleLocations, Viewport,
    ViewportState, WScaling,
};
use crate::render_pass::{
    AttachmentDescription, AttachmentReference, DepthStencilResolve, RenderPassRecipe,
    ShadingRateAttachment, SingleSampledRendering, Subpass, SubpassDependency,
};
use crate::stage::{EntryName, Robustness, Specialization, SpecializationEntry, Stage};
use crate::vertex::{
    InputAssemblyState, TessellationState, VertexAttribute, VertexBinding, VertexInputState,
};
use ash::vk;
use std::sync::Arc;

fn f(value: f32) -> Float {
    Float::new(value)
}

fn robustness() -> Robustness {
    Robustness {
        storage_buffers: vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS,
        uniform_buffers: vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS_2,
        vertex_inputs: vk::PipelineRobustnessBufferBehaviorEXT::DISABLED,
        images: vk::PipelineRobustnessImageBehaviorEXT::ROBUST_IMAGE_ACCESS_2,
    }
}

/// A stage with three specialisation constants of different sizes.
fn stage(stage: vk::ShaderStageFlags, seed: u32) -> Stage {
    let code = vec![0x0723_0203, 0x0001_0000, seed, 8, 0];
    Stage {
        stage,
        flags: vk::PipelineShaderStageCreateFlags::ALLOW_VARYING_SUBGROUP_SIZE,
        module: ModuleRef(Arc::new(Module::new(
            vk::ShaderModuleCreateFlags::empty(),
            code,
        ))),
        entry: EntryName::default(),
        specialization: Some(Specialization {
            entries: [(0, 0, 4), (1, 4, 4), (7, 8, 8)]
                .into_iter()
                .map(|(constant_id, offset, size)| SpecializationEntry {
                    constant_id,
                    offset,
                    size,
                })
                .collect(),
            data: (1..=20).collect(),
        }),
        required_subgroup_size: Some(32),
        robustness: Some(robustness()),
    }
}

fn sampler() -> SamplerRecipe {
    SamplerRecipe {
        flags: vk::SamplerCreateFlags::SUBSAMPLED_EXT,
        mag_filter: vk::Filter::LINEAR,
        min_filter: vk::Filter::LINEAR,
        mipmap_mode: vk::SamplerMipmapMode::LINEAR,
        address_mode_u: vk::SamplerAddressMode::MIRRORED_REPEAT,
        address_mode_v: vk::SamplerAddressMode::CLAMP_TO_BORDER,
        address_mode_w: vk::SamplerAddressMode::CLAMP_TO_BORDER,
        mip_lod_bias: f(0.25),
        anisotropy_enable: true,
        max_anisotropy: f(8.0),
        compare_enable: true,
        compare_op: vk::CompareOp::GREATER,
        min_lod: f(1.0),
        max_lod: f(9.0),
        border_color: vk::BorderColor::FLOAT_CUSTOM_EXT,
        unnormalized_coordinates: false,
        custom_border_color: Some(CustomBorderColor {
            color: [1, 2, 3, 4],
            format: vk::Format::R8G8B8A8_UNORM,
        }),
        border_color_mapping: Some(BorderColorMapping {
            components: [
                vk::ComponentSwizzle::B,
                vk::ComponentSwizzle::G,
                vk::ComponentSwizzle::R,
                vk::ComponentSwizzle::ONE,
            ],
            srgb: true,
        }),
        reduction_mode: vk::SamplerReductionMode::MAX,
        ycbcr_conversion: Some(Arc::new(YcbcrConversion {
            format: vk::Format::G8_B8R8_2PLANE_420_UNORM,
            model: vk::SamplerYcbcrModelConversion::YCBCR_709,
            range: vk::SamplerYcbcrRange::ITU_NARROW,
            components: [vk::ComponentSwizzle::R; 4],
            x_chroma_offset: vk::ChromaLocation::MIDPOINT,
            y_chroma_offset: vk::ChromaLocation::MIDPOINT,
            chroma_filter: vk::Filter::LINEAR,
            force_explicit_reconstruction: true,
        })),
    }
}

fn layout() -> PipelineLayoutRecipe {
    let sampled = SetBinding {
        binding: 0,
        descriptor_type: vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        descriptor_count: 2,
        stage_flags: vk::ShaderStageFlags::FRAGMENT,
        immutable_samplers: vec![Arc::new(sampler()), Arc::new(SamplerRecipe::default())],
        flags: vk::DescriptorBindingFlags::PARTIALLY_BOUND,
        mutable_types: Vec::new(),
    };
    let mutable = SetBinding {
        binding: 4,
        descriptor_type: vk::DescriptorType::MUTABLE_EXT,
        descriptor_count: 3,
        stage_flags: vk::ShaderStageFlags::VERTEX,
        immutable_samplers: Vec::new(),
        flags: vk::DescriptorBindingFlags::UPDATE_AFTER_BIND,
        mutable_types: vec![
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::DescriptorType::STORAGE_IMAGE,
        ],
    };
    PipelineLayoutRecipe {
        flags: vk::PipelineLayoutCreateFlags::INDEPENDENT_SETS_EXT,
        set_layouts: vec![
            Some(Arc::new(SetLayoutRecipe {
                flags: vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL,
                bindings: vec![sampled, mutable],
            })),
            None,
        ],
        push_constant_ranges: vec![PushConstantRange {
            stage_flags: vk::ShaderStageFlags::VERTEX,
            offset: 16,
            size: 64,
        }],
    }
}

fn attachment(format: vk::Format) -> AttachmentDescription {
    AttachmentDescription {
        flags: vk::AttachmentDescriptionFlags::MAY_ALIAS,
        format,
        samples: vk::SampleCountFlags::TYPE_4,
        load_op: vk::AttachmentLoadOp::CLEAR,
        store_op: vk::AttachmentStoreOp::STORE,
        stencil_load_op: vk::AttachmentLoadOp::DONT_CARE,
        stencil_store_op: vk::AttachmentStoreOp::DONT_CARE,
        initial_layout: vk::ImageLayout::UNDEFINED,
        final_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        stencil_layouts: Some([
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL,
        ]),
    }
}

fn reference(attachment: u32) -> AttachmentReference {
    AttachmentReference {
        attachment,
        layout: vk::ImageLayout::GENERAL,
        aspect_mask: vk::ImageAspectFlags::empty(),
        stencil_layout: Some(vk::ImageLayout::STENCIL_ATTACHMENT_OPTIMAL),
    }
}

fn render_pass() -> RenderPassRecipe {
    RenderPassRecipe {
        flags: vk::RenderPassCreateFlags::TRANSFORM_QCOM,
        attachments: vec![
            attachment(vk::Format::R8G8B8A8_UNORM),
            attachment(vk::Format::D24_UNORM_S8_UINT),
            attachment(vk::Format::R8G8B8A8_SRGB),
        ],
        subpasses: vec![
            Subpass::default(),
            Subpass {
                flags: vk::SubpassDescriptionFlags::PER_VIEW_ATTRIBUTES_NVX,
                bind_point: vk::PipelineBindPoint::GRAPHICS,
                view_mask: 3,
                input_attachments: vec![AttachmentReference {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    ..reference(2)
                }],
                color_attachments: vec![reference(0), reference(2)],
                resolve_attachments: vec![reference(2), reference(0)],
                depth_stencil_attachment: Some(reference(1)),
                preserve_attachments: vec![5],
                depth_stencil_resolve: Some(DepthStencilResolve {
                    depth_mode: vk::ResolveModeFlags::AVERAGE,
                    stencil_mode: vk::ResolveModeFlags::SAMPLE_ZERO,
                    attachment: Some(reference(1)),
                }),
                shading_rate_attachment: Some(ShadingRateAttachment {
                    attachment: Some(reference(2)),
                    texel_size: [16, 8],
                }),
                single_sampled_rendering: Some(SingleSampledRendering {
                    enable: true,
                    samples: vk::SampleCountFlags::TYPE_4,
                }),
                disallow_merging: true,
            },
        ],
        dependencies: vec![SubpassDependency {
            src_subpass: vk::SUBPASS_EXTERNAL,
            dst_subpass: 1,
            src_stage_mask: vk::PipelineStageFlags2::COPY,
            dst_stage_mask: vk::PipelineStageFlags2::FRAGMENT_SHADER,
            src_access_mask: vk::AccessFlags2::TRANSFER_WRITE,
            dst_access_mask: vk::AccessFlags2::SHADER_SAMPLED_READ,
            dependency_flags: vk::DependencyFlags::BY_REGION,
            view_offset: -1,
        }],
        correlated_view_masks: vec![3],
        fragment_density_map: Some(AttachmentReference {
            stencil_layout: None,
            ..reference(2)
        }),
        disallow_merging: true,
    }
}

fn viewport() -> ViewportState {
    ViewportState {
        viewports: vec![Viewport {
            x: f(1.0),
            y: f(2.0),
            width: f(640.0),
            height: f(-480.0),
            min_depth: f(0.0),
            max_depth: f(1.0),
        }]
        .into(),
        scissors: vec![Rect {
            x: 1,
            y: -2,
            width: 3,
            height: 4,
        }]
        .into(),
        negative_one_to_one: true,
        w_scaling: Some(WScaling {
            enable: true,
            coefficients: vec![[f(0.5), f(0.75)]].into(),
        }),
        swizzles: vec![[
            vk::ViewportCoordinateSwizzleNV::POSITIVE_X,
            vk::ViewportCoordinateSwizzleNV::NEGATIVE_Y,
            vk::ViewportCoordinateSwizzleNV::POSITIVE_Z,
            vk::ViewportCoordinateSwizzleNV::POSITIVE_W,
        ]],
        exclusive_scissors: vec![Rect::default()].into(),
        depth_clamp_control: Some(DepthClampControl {
            mode: 1,
            range: Some([f(0.25), f(0.75)]),
        }),
    }
}

fn rasterization() -> RasterizationState {
    RasterizationState {
        depth_clamp_enable: false,
        rasterizer_discard_enable: false,
        polygon_mode: vk::PolygonMode::LINE,
        cull_mode: vk::CullModeFlags::BACK,
        front_face: vk::FrontFace::CLOCKWISE,
        depth_bias_enable: true,
        depth_bias_constant_factor: f(1.0),
        depth_bias_clamp: f(2.0),
        depth_bias_slope_factor: f(3.0),
        line_width: f(1.5),
        depth_clip_enable: Some(false),
        conservative: Some(ConservativeRasterization {
            mode: vk::ConservativeRasterizationModeEXT::UNDERESTIMATE,
            extra_overestimation: f(0.25),
        }),
        line: Some(LineRasterization {
            mode: vk::LineRasterizationModeKHR::BRESENHAM,
            stippled: true,
            stipple_factor: 2,
            stipple_pattern: 0xf0f0,
        }),
        stream: 1,
        provoking_vertex: vk::ProvokingVertexModeEXT::LAST_VERTEX,
        depth_bias_representation: Some(DepthBiasRepresentation {
            representation: vk::DepthBiasRepresentationEXT::FLOAT,
            exact: true,
        }),
        order: vk::RasterizationOrderAMD::RELAXED,
    }
}

fn multisample() -> MultisampleState {
    MultisampleState {
        samples: vk::SampleCountFlags::TYPE_4,
        sample_shading_enable: true,
        min_sample_shading: f(0.25),
        sample_mask: vec![5],
        alpha_to_coverage_enable: true,
        alpha_to_one_enable: true,
        sample_locations: Some(SampleLocations {
            enable: true,
            per_pixel: vk::SampleCountFlags::TYPE_4,
            grid_size: [1, 1],
            locations: vec![[f(0.25), f(0.75)]; 4],
        }),
        coverage_modulation: Some(CoverageModulation {
            mode: vk::CoverageModulationModeNV::RGB,
            table_enable: true,
            table: vec![f(0.5), f(1.0)],
        }),
        coverage_reduction: Some(vk::CoverageReductionModeNV::TRUNCATE),
        coverage_to_color: Some(CoverageToColor {
            enable: true,
            location: 1,
        }),
    }
}

fn depth_stencil() -> DepthStencilState {
    let face = StencilFace {
        fail_op: vk::StencilOp::REPLACE,
        pass_op: vk::StencilOp::INVERT,
        depth_fail_op: vk::StencilOp::ZERO,
        compare_op: vk::CompareOp::EQUAL,
        compare_mask: 0xf0,
        write_mask: 0x0f,
        reference: 3,
    };
    DepthStencilState {
        flags: vk::PipelineDepthStencilStateCreateFlags::empty(),
        depth_test_enable: true,
        depth_write_enable: true,
        depth_compare_op: vk::CompareOp::LESS_OR_EQUAL,
        depth_bounds_test_enable: true,
        stencil_test_enable: true,
        front: face.clone(),
        back: face,
        min_depth_bounds: f(0.125),
        max_depth_bounds: f(0.875),
    }
}

fn color_blend() -> ColorBlendState {
    let blended = BlendAttachment {
        blend_enable: true,
        src_color: vk::BlendFactor::CONSTANT_COLOR,
        dst_color: vk::BlendFactor::ONE_MINUS_SRC_ALPHA,
        color_op: vk::BlendOp::SUBTRACT,
        src_alpha: vk::BlendFactor::ONE_MINUS_CONSTANT_ALPHA,
        dst_alpha: vk::BlendFactor::DST_ALPHA,
        alpha_op: vk::BlendOp::REVERSE_SUBTRACT,
        write_mask: vk::ColorComponentFlags::RGBA,
    };
    ColorBlendState {
        flags: vk::PipelineColorBlendStateCreateFlags::empty(),
        logic_op_enable: false,
        logic_op: vk::LogicOp::CLEAR,
        attachments: vec![
            blended.clone(),
            BlendAttachment {
                color_op: vk::BlendOp::XOR_EXT,
                alpha_op: vk::BlendOp::XOR_EXT,
                ..blended
            },
        ]
        .into(),
        blend_constants: [f(0.1), f(0.2), f(0.3), f(0.4)],
        color_write_enables: Some(vec![true, false].into()),
        advanced: Some(AdvancedBlend {
            src_premultiplied: false,
            dst_premultiplied: false,
            overlap: vk::BlendOverlapEXT::CONJOINT,
        }),
    }
}

/// A graphics pipeline for a render pass, in which every field says something.
#[must_use]
pub fn graphics_sample() -> GraphicsRecipe {
    GraphicsRecipe {
        flags: PipelineFlags::new(1 << 36),
        parts: crate::pipeline::Parts::ALL,
        libraries: Vec::new(),
        stages: vec![
            stage(vk::ShaderStageFlags::VERTEX, 1),
            stage(vk::ShaderStageFlags::TESSELLATION_CONTROL, 2),
            stage(vk::ShaderStageFlags::TESSELLATION_EVALUATION, 3),
            stage(vk::ShaderStageFlags::FRAGMENT, 4),
        ],
        vertex_input: Some(VertexInputState {
            bindings: vec![
                VertexBinding {
                    binding: 1,
                    stride: 32,
                    input_rate: vk::VertexInputRate::INSTANCE,
                    divisor: 3,
                },
                VertexBinding {
                    binding: 2,
                    stride: 12,
                    ..VertexBinding::default()
                },
            ],
            attributes: vec![VertexAttribute {
                location: 2,
                binding: 1,
                format: vk::Format::R16G16_SNORM,
                offset: 8,
            }],
        }),
        input_assembly: Some(InputAssemblyState {
            topology: vk::PrimitiveTopology::PATCH_LIST,
            primitive_restart_enable: true,
        }),
        tessellation: Some(TessellationState {
            patch_control_points: 3,
            domain_origin: vk::TessellationDomainOrigin::LOWER_LEFT,
        }),
        viewport: Some(viewport()),
        rasterization: Some(rasterization()),
        multisample: Some(multisample()),
        depth_stencil: Some(depth_stencil()),
        color_blend: Some(color_blend()),
        dynamic_states: vec![vk::DynamicState::DISCARD_RECTANGLE_ENABLE_EXT],
        layout: Some(Arc::new(layout())),
        target: Target::RenderPass {
            pass: Arc::new(render_pass()),
            subpass: 1,
        },
        robustness: Some(robustness()),
        discard_rectangles: Some(DiscardRectangles {
            mode: vk::DiscardRectangleModeEXT::EXCLUSIVE,
            rectangles: vec![Rect::default()].into(),
        }),
        fragment_shading_rate: Some(FragmentShadingRate {
            fragment_size: [2, 1],
            combiner_ops: [
                vk::FragmentShadingRateCombinerOpKHR::MAX,
                vk::FragmentShadingRateCombinerOpKHR::MUL,
            ],
        }),
        fragment_shading_rate_enum: Some(FragmentShadingRateEnum {
            rate_type: vk::FragmentShadingRateTypeNV::ENUMS,
            rate: vk::FragmentShadingRateNV::TYPE_1_INVOCATION_PER_2X2_PIXELS,
            combiner_ops: [
                vk::FragmentShadingRateCombinerOpKHR::MIN,
                vk::FragmentShadingRateCombinerOpKHR::REPLACE,
            ],
        }),
        attachment_locations: None,
        input_attachment_indices: None,
        attachment_sample_counts: Some(AttachmentSampleCounts {
            color: vec![vk::SampleCountFlags::TYPE_2],
            depth_stencil: vk::SampleCountFlags::TYPE_4,
        }),
        representative_fragment_test: true,
    }
}

/// The same with dynamic rendering, local reads and a logical operation.
#[must_use]
pub fn rendering_sample() -> GraphicsRecipe {
    GraphicsRecipe {
        target: Target::Rendering(RenderingFormats {
            view_mask: 5,
            color: vec![vk::Format::R8G8B8A8_UNORM, vk::Format::R16G16_SFLOAT],
            depth: vk::Format::D32_SFLOAT,
            stencil: vk::Format::S8_UINT,
        }),
        attachment_locations: Some(vec![1, vk::ATTACHMENT_UNUSED]),
        input_attachment_indices: Some(InputAttachmentIndices {
            color: vec![vk::ATTACHMENT_UNUSED, 4],
            depth: Some(5),
            stencil: Some(6),
        }),
        color_blend: Some(ColorBlendState {
            logic_op_enable: true,
            logic_op: vk::LogicOp::XOR,
            ..color_blend()
        }),
        ..graphics_sample()
    }
}

/// A compute pipeline in which every field says something.
#[must_use]
pub fn compute_sample() -> ComputeRecipe {
    ComputeRecipe {
        flags: PipelineFlags::from(vk::PipelineCreateFlags::DISPATCH_BASE),
        stage: stage(vk::ShaderStageFlags::COMPUTE, 9),
        layout: Arc::new(layout()),
        robustness: Some(robustness()),
    }
}
