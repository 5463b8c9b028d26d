//! Pipelines and their states.

use super::chain::Link;
use super::{Blob, Handle, Real, bodies};

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct MapEntryBody {
    pub(crate) offset: u32,
    pub(crate) size: u64,
    #[serde(rename = "constantID")]
    pub(crate) constant_id: u32,
}

bodies! {
    struct SpecializationBody {
        data_size: u64,
        data: Blob,
        ;
        map_entries: Vec<MapEntryBody>,
    }

    struct StageBody {
        flags: u32,
        name: String,
        module: Handle,
        stage: u32,
        ;
        specialization_info: Option<SpecializationBody>,
        p_next: Vec<Link>,
    }

    struct DynamicBody {
        flags: u32,
        dynamic_state: Vec<u32>,
        ;
        p_next: Vec<Link>,
    }

    struct TessellationBody {
        flags: u32,
        patch_control_points: u32,
        ;
        p_next: Vec<Link>,
    }

    struct MultisampleBody {
        flags: u32,
        rasterization_samples: u32,
        sample_shading_enable: u32,
        min_sample_shading: Real,
        alpha_to_one_enable: u32,
        alpha_to_coverage_enable: u32,
        ;
        sample_mask: Vec<u32>,
        p_next: Vec<Link>,
    }

    struct AttributeBody {
        location: u32,
        binding: u32,
        offset: u32,
        format: u32,
    }

    struct BindingBody {
        binding: u32,
        stride: u32,
        input_rate: u32,
    }

    struct VertexInputBody {
        flags: u32,
        attributes: Vec<AttributeBody>,
        bindings: Vec<BindingBody>,
        ;
        p_next: Vec<Link>,
    }

    struct RasterizationBody {
        flags: u32,
        depth_bias_constant_factor: Real,
        depth_bias_slope_factor: Real,
        depth_bias_clamp: Real,
        depth_bias_enable: u32,
        depth_clamp_enable: u32,
        polygon_mode: u32,
        rasterizer_discard_enable: u32,
        front_face: u32,
        line_width: Real,
        cull_mode: u32,
        ;
        p_next: Vec<Link>,
    }

    struct InputAssemblyBody {
        flags: u32,
        topology: u32,
        primitive_restart_enable: u32,
        ;
        p_next: Vec<Link>,
    }

    #[derive(Default)]
    struct BlendAttachmentBody {
        dst_alpha_blend_factor: u32,
        src_alpha_blend_factor: u32,
        dst_color_blend_factor: u32,
        src_color_blend_factor: u32,
        color_write_mask: u32,
        alpha_blend_op: u32,
        color_blend_op: u32,
        blend_enable: u32,
    }

    struct ColorBlendBody {
        flags: u32,
        logic_op: u32,
        logic_op_enable: u32,
        blend_constants: [Real; 4],
        attachments: Vec<BlendAttachmentBody>,
        ;
        p_next: Vec<Link>,
    }

    struct ViewportBody {
        x: Real,
        y: Real,
        width: Real,
        height: Real,
        min_depth: Real,
        max_depth: Real,
    }

    struct RectBody {
        x: i32,
        y: i32,
        width: u32,
        height: u32,
    }

    struct ViewportStateBody {
        flags: u32,
        viewport_count: u32,
        scissor_count: u32,
        ;
        viewports: Option<Vec<ViewportBody>>,
        scissors: Option<Vec<RectBody>>,
        p_next: Vec<Link>,
    }

    struct StencilBody {
        compare_op: u32,
        write_mask: u32,
        reference: u32,
        compare_mask: u32,
        pass_op: u32,
        fail_op: u32,
        depth_fail_op: u32,
    }

    struct DepthStencilBody {
        flags: u32,
        stencil_test_enable: u32,
        max_depth_bounds: Real,
        min_depth_bounds: Real,
        depth_bounds_test_enable: u32,
        depth_write_enable: u32,
        depth_test_enable: u32,
        depth_compare_op: u32,
        front: StencilBody,
        back: StencilBody,
        ;
        p_next: Vec<Link>,
    }

    struct GraphicsBody {
        flags: u64,
        base_pipeline_handle: Handle,
        base_pipeline_index: i32,
        layout: Handle,
        render_pass: Handle,
        subpass: u32,
        ;
        tessellation_state: Option<TessellationBody>,
        dynamic_state: Option<DynamicBody>,
        multisample_state: Option<MultisampleBody>,
        vertex_input_state: Option<VertexInputBody>,
        rasterization_state: Option<RasterizationBody>,
        input_assembly_state: Option<InputAssemblyBody>,
        color_blend_state: Option<ColorBlendBody>,
        viewport_state: Option<ViewportStateBody>,
        depth_stencil_state: Option<DepthStencilBody>,
        stages: Vec<StageBody>,
        p_next: Vec<Link>,
    }

    struct ComputeBody {
        flags: u64,
        layout: Handle,
        base_pipeline_handle: Handle,
        base_pipeline_index: i32,
        stage: StageBody,
        ;
        p_next: Vec<Link>,
    }

    struct LibraryInterfaceBody {
        max_pipeline_ray_payload_size: u32,
        max_pipeline_ray_hit_attribute_size: u32,
        ;
        p_next: Vec<Link>,
    }

    struct LibraryInfoBody {
        libraries: Vec<Handle>,
        ;
        p_next: Vec<Link>,
    }

    struct GroupBody {
        any_hit_shader: u32,
        intersection_shader: u32,
        general_shader: u32,
        closest_hit_shader: u32,
        r#type: u32,
        ;
        p_next: Vec<Link>,
    }

    struct RayTracingBody {
        flags: u64,
        layout: Handle,
        base_pipeline_handle: Handle,
        base_pipeline_index: i32,
        max_pipeline_ray_recursion_depth: u32,
        ;
        stages: Vec<StageBody>,
        groups: Vec<GroupBody>,
        dynamic_state: Option<DynamicBody>,
        library_interface: Option<LibraryInterfaceBody>,
        library_info: Option<LibraryInfoBody>,
        p_next: Vec<Link>,
    }
}
