//! Device features as one set, read from and written to Vulkan's chain of feature structures.
//!
//! The two tables below are the only place that knows which structure a feature lives in and which
//! extension or core version brings that structure.

use crate::extensions::Extensions;
use ash::vk;
use std::ffi::{CStr, c_void};

/// Writes the struct that owns every feature structure, with the links between them made only
/// while a call needs them.
macro_rules! structures {
    ($( $field:ident: $ty:ident [$($extension:path),*] $(core $minor:literal)?; )*) => {
        /// The feature structures that a device knows.
        #[derive(Default)]
        pub(crate) struct Structures {
            base: vk::PhysicalDeviceFeatures,
            $( $field: Option<Box<vk::$ty<'static>>>, )*
        }

        impl Structures {
            /// Empty structures: those that a device with this version and these extensions knows.
            pub(crate) fn known(api_version: u32, extensions: &Extensions) -> Self {
                let mut known = Self::default();
                $(
                    let by_core = false $( || minor(api_version) >= $minor )?;
                    let names: &[&CStr] = &[$($extension),*];
                    if by_core || names.iter().any(|name| extensions.has(name)) {
                        known.$field = Some(Box::default());
                    }
                )*
                known
            }

            /// Links the structures behind `head` and hands the chain's start to `call`. The
            /// links are removed afterwards.
            pub(crate) fn linked<T>(
                &mut self,
                tail: *mut c_void,
                call: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>) -> T,
            ) -> T {
                let mut next = tail;
                $(
                    if let Some(structure) = &mut self.$field {
                        structure.p_next = next;
                        next = std::ptr::from_mut(&mut **structure).cast();
                    }
                )*
                let mut head = vk::PhysicalDeviceFeatures2::default().features(self.base);
                head.p_next = next;
                let result = call(&mut head);
                self.base = head.features;
                $(
                    if let Some(structure) = &mut self.$field {
                        structure.p_next = std::ptr::null_mut();
                    }
                )*
                result
            }
        }
    };
}

structures! {
    // Promoted structures are used one by one and not through VkPhysicalDeviceVulkan13Features,
    // so that a 1.2 device with the extensions is the same case as a 1.3 device.
    v11: PhysicalDeviceVulkan11Features [] core 2;
    v12: PhysicalDeviceVulkan12Features [] core 2;
    dynamic_rendering: PhysicalDeviceDynamicRenderingFeatures [ash::khr::dynamic_rendering::NAME] core 3;
    synchronization2: PhysicalDeviceSynchronization2Features [ash::khr::synchronization2::NAME] core 3;
    subgroup_size: PhysicalDeviceSubgroupSizeControlFeatures [ash::ext::subgroup_size_control::NAME] core 3;
    cache_control: PhysicalDevicePipelineCreationCacheControlFeatures [ash::ext::pipeline_creation_cache_control::NAME] core 3;
    demote: PhysicalDeviceShaderDemoteToHelperInvocationFeatures [ash::ext::shader_demote_to_helper_invocation::NAME] core 3;
    terminate: PhysicalDeviceShaderTerminateInvocationFeatures [ash::khr::shader_terminate_invocation::NAME] core 3;
    dot_product: PhysicalDeviceShaderIntegerDotProductFeatures [ash::khr::shader_integer_dot_product::NAME] core 3;
    zero_initialize: PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures [ash::khr::zero_initialize_workgroup_memory::NAME] core 3;
    inline_uniform_block: PhysicalDeviceInlineUniformBlockFeatures [ash::ext::inline_uniform_block::NAME] core 3;
    maintenance4: PhysicalDeviceMaintenance4Features [ash::khr::maintenance4::NAME] core 3;
    image_robustness: PhysicalDeviceImageRobustnessFeatures [ash::ext::image_robustness::NAME] core 3;
    astc_hdr: PhysicalDeviceTextureCompressionASTCHDRFeatures [ash::ext::texture_compression_astc_hdr::NAME] core 3;
    eds1: PhysicalDeviceExtendedDynamicStateFeaturesEXT [ash::ext::extended_dynamic_state::NAME];
    eds2: PhysicalDeviceExtendedDynamicState2FeaturesEXT [ash::ext::extended_dynamic_state2::NAME];
    eds3: PhysicalDeviceExtendedDynamicState3FeaturesEXT [ash::ext::extended_dynamic_state3::NAME];
    vertex_input: PhysicalDeviceVertexInputDynamicStateFeaturesEXT [ash::ext::vertex_input_dynamic_state::NAME];
    library: PhysicalDeviceGraphicsPipelineLibraryFeaturesEXT [ash::ext::graphics_pipeline_library::NAME];
    // The EXT and the KHR extension share this structure's sType: one capability.
    divisor: PhysicalDeviceVertexAttributeDivisorFeaturesKHR
        [ash::khr::vertex_attribute_divisor::NAME, ash::ext::vertex_attribute_divisor::NAME];
    line: PhysicalDeviceLineRasterizationFeaturesKHR
        [ash::khr::line_rasterization::NAME, ash::ext::line_rasterization::NAME];
    index_uint8: PhysicalDeviceIndexTypeUint8FeaturesKHR
        [ash::khr::index_type_uint8::NAME, ash::ext::index_type_uint8::NAME];
    robustness2: PhysicalDeviceRobustness2FeaturesEXT [ash::ext::robustness2::NAME];
    pipeline_robustness: PhysicalDevicePipelineRobustnessFeaturesEXT [ash::ext::pipeline_robustness::NAME];
    maintenance5: PhysicalDeviceMaintenance5FeaturesKHR [ash::khr::maintenance5::NAME];
    maintenance6: PhysicalDeviceMaintenance6FeaturesKHR [ash::khr::maintenance6::NAME];
    shader_object: PhysicalDeviceShaderObjectFeaturesEXT [ash::ext::shader_object::NAME];
    module_identifier: PhysicalDeviceShaderModuleIdentifierFeaturesEXT [ash::ext::shader_module_identifier::NAME];
    provoking_vertex: PhysicalDeviceProvokingVertexFeaturesEXT [ash::ext::provoking_vertex::NAME];
    depth_clip_enable: PhysicalDeviceDepthClipEnableFeaturesEXT [ash::ext::depth_clip_enable::NAME];
    depth_clip_control: PhysicalDeviceDepthClipControlFeaturesEXT [ash::ext::depth_clip_control::NAME];
    depth_clamp_zero_one: PhysicalDeviceDepthClampZeroOneFeaturesEXT [ash::ext::depth_clamp_zero_one::NAME];
    depth_bias_control: PhysicalDeviceDepthBiasControlFeaturesEXT [ash::ext::depth_bias_control::NAME];
    transform_feedback: PhysicalDeviceTransformFeedbackFeaturesEXT [ash::ext::transform_feedback::NAME];
    color_write: PhysicalDeviceColorWriteEnableFeaturesEXT [ash::ext::color_write_enable::NAME];
    border_color: PhysicalDeviceCustomBorderColorFeaturesEXT [ash::ext::custom_border_color::NAME];
    border_swizzle: PhysicalDeviceBorderColorSwizzleFeaturesEXT [ash::ext::border_color_swizzle::NAME];
    list_restart: PhysicalDevicePrimitiveTopologyListRestartFeaturesEXT [ash::ext::primitive_topology_list_restart::NAME];
    blend_advanced: PhysicalDeviceBlendOperationAdvancedFeaturesEXT [ash::ext::blend_operation_advanced::NAME];
    interlock: PhysicalDeviceFragmentShaderInterlockFeaturesEXT [ash::ext::fragment_shader_interlock::NAME];
    atomic_float: PhysicalDeviceShaderAtomicFloatFeaturesEXT [ash::ext::shader_atomic_float::NAME];
    atomic_float2: PhysicalDeviceShaderAtomicFloat2FeaturesEXT [ash::ext::shader_atomic_float2::NAME];
    image_int64: PhysicalDeviceShaderImageAtomicInt64FeaturesEXT [ash::ext::shader_image_atomic_int64::NAME];
    clock: PhysicalDeviceShaderClockFeaturesKHR [ash::khr::shader_clock::NAME];
    barycentric: PhysicalDeviceFragmentShaderBarycentricFeaturesKHR [ash::khr::fragment_shader_barycentric::NAME];
    mesh: PhysicalDeviceMeshShaderFeaturesEXT [ash::ext::mesh_shader::NAME];
    shading_rate: PhysicalDeviceFragmentShadingRateFeaturesKHR [ash::khr::fragment_shading_rate::NAME];
    acceleration: PhysicalDeviceAccelerationStructureFeaturesKHR [ash::khr::acceleration_structure::NAME];
    ray_tracing: PhysicalDeviceRayTracingPipelineFeaturesKHR [ash::khr::ray_tracing_pipeline::NAME];
    ray_query: PhysicalDeviceRayQueryFeaturesKHR [ash::khr::ray_query::NAME];
    ray_maintenance1: PhysicalDeviceRayTracingMaintenance1FeaturesKHR [ash::khr::ray_tracing_maintenance1::NAME];
    ray_position_fetch: PhysicalDeviceRayTracingPositionFetchFeaturesKHR [ash::khr::ray_tracing_position_fetch::NAME];
    formats_4444: PhysicalDevice4444FormatsFeaturesEXT [ash::ext::_4444_formats::NAME];
    non_seamless: PhysicalDeviceNonSeamlessCubeMapFeaturesEXT [ash::ext::non_seamless_cube_map::NAME];
    descriptor_buffer: PhysicalDeviceDescriptorBufferFeaturesEXT [ash::ext::descriptor_buffer::NAME];
    mutable_descriptor: PhysicalDeviceMutableDescriptorTypeFeaturesEXT
        [ash::ext::mutable_descriptor_type::NAME, ash::valve::mutable_descriptor_type::NAME];
    feedback_layout: PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT [ash::ext::attachment_feedback_loop_layout::NAME];
    feedback_dynamic: PhysicalDeviceAttachmentFeedbackLoopDynamicStateFeaturesEXT [ash::ext::attachment_feedback_loop_dynamic_state::NAME];
    raster_order: PhysicalDeviceRasterizationOrderAttachmentAccessFeaturesEXT
        [ash::ext::rasterization_order_attachment_access::NAME, ash::arm::rasterization_order_attachment_access::NAME];
    legacy_dithering: PhysicalDeviceLegacyDitheringFeaturesEXT [ash::ext::legacy_dithering::NAME];
    primitives_generated: PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT [ash::ext::primitives_generated_query::NAME];
    unused_attachments: PhysicalDeviceDynamicRenderingUnusedAttachmentsFeaturesEXT [ash::ext::dynamic_rendering_unused_attachments::NAME];
    local_read: PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR [ash::khr::dynamic_rendering_local_read::NAME];
    image_2d_of_3d: PhysicalDeviceImage2DViewOf3DFeaturesEXT [ash::ext::image_2d_view_of_3d::NAME];
    single_sampled: PhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT [ash::ext::multisampled_render_to_single_sampled::NAME];
    workgroup_layout: PhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR [ash::khr::workgroup_memory_explicit_layout::NAME];
    uniform_flow: PhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR [ash::khr::shader_subgroup_uniform_control_flow::NAME];
    reconvergence: PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR [ash::khr::shader_maximal_reconvergence::NAME];
    subgroup_rotate: PhysicalDeviceShaderSubgroupRotateFeaturesKHR [ash::khr::shader_subgroup_rotate::NAME];
    expect_assume: PhysicalDeviceShaderExpectAssumeFeaturesKHR [ash::khr::shader_expect_assume::NAME];
    float_controls2: PhysicalDeviceShaderFloatControls2FeaturesKHR [ash::khr::shader_float_controls2::NAME];
    quad_control: PhysicalDeviceShaderQuadControlFeaturesKHR [ash::khr::shader_quad_control::NAME];
    cooperative_matrix: PhysicalDeviceCooperativeMatrixFeaturesKHR [ash::khr::cooperative_matrix::NAME];
    derivatives: PhysicalDeviceComputeShaderDerivativesFeaturesNV [ash::nv::compute_shader_derivatives::NAME];
    integer_functions2: PhysicalDeviceShaderIntegerFunctions2FeaturesINTEL [ash::intel::shader_integer_functions2::NAME];
    executable_properties: PhysicalDevicePipelineExecutablePropertiesFeaturesKHR [ash::khr::pipeline_executable_properties::NAME];
    group_handles: PhysicalDevicePipelineLibraryGroupHandlesFeaturesEXT [ash::ext::pipeline_library_group_handles::NAME];
}

/// Writes the feature enum and both directions between it and the structures.
macro_rules! features {
    (
        core { $( $core:ident: $core_member:ident, )* }
        $( $structure:ident { $( $variant:ident: $member:ident, )* } )*
    ) => {
        /// A device feature, under its Vulkan name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each is the Vulkan feature of the same name")]
        #[non_exhaustive]
        pub enum Feature { $( $core, )* $( $( $variant, )* )* }

        impl Feature {
            /// Every feature that is known here.
            pub const ALL: &'static [Self] = &[
                $( Self::$core, )* $( $( Self::$variant, )* )*
            ];

            const fn member(self) -> &'static str {
                match self {
                    $( Self::$core => stringify!($core_member), )*
                    $( $( Self::$variant => stringify!($member), )* )*
                }
            }
        }

        impl Structures {
            /// The features that are set in the structures.
            pub(crate) fn read(&self) -> Features {
                let mut features = Features::default();
                $( features.set(Feature::$core, self.base.$core_member == vk::TRUE); )*
                $( if let Some(structure) = &self.$structure {
                    $( features.set(Feature::$variant, structure.$member == vk::TRUE); )*
                } )*
                features
            }

            /// Sets exactly these features. Features whose structure the device does not know
            /// are left out, and so is every member that is not in the table.
            pub(crate) fn write(&mut self, features: &Features) {
                let value = |feature| vk::Bool32::from(features.has(feature));
                self.base = vk::PhysicalDeviceFeatures::default();
                $( self.base.$core_member = value(Feature::$core); )*
                $( if let Some(structure) = &mut self.$structure {
                    **structure = Default::default();
                    $( structure.$member = value(Feature::$variant); )*
                } )*
            }
        }
    };
}

features! {
    core {
        RobustBufferAccess: robust_buffer_access,
        FullDrawIndexUint32: full_draw_index_uint32,
        ImageCubeArray: image_cube_array,
        IndependentBlend: independent_blend,
        GeometryShader: geometry_shader,
        TessellationShader: tessellation_shader,
        SampleRateShading: sample_rate_shading,
        DualSrcBlend: dual_src_blend,
        LogicOp: logic_op,
        MultiDrawIndirect: multi_draw_indirect,
        DrawIndirectFirstInstance: draw_indirect_first_instance,
        DepthClamp: depth_clamp,
        DepthBiasClamp: depth_bias_clamp,
        FillModeNonSolid: fill_mode_non_solid,
        DepthBounds: depth_bounds,
        WideLines: wide_lines,
        LargePoints: large_points,
        AlphaToOne: alpha_to_one,
        MultiViewport: multi_viewport,
        SamplerAnisotropy: sampler_anisotropy,
        TextureCompressionEtc2: texture_compression_etc2,
        TextureCompressionAstcLdr: texture_compression_astc_ldr,
        TextureCompressionBc: texture_compression_bc,
        OcclusionQueryPrecise: occlusion_query_precise,
        PipelineStatisticsQuery: pipeline_statistics_query,
        VertexPipelineStoresAndAtomics: vertex_pipeline_stores_and_atomics,
        FragmentStoresAndAtomics: fragment_stores_and_atomics,
        ShaderTessellationAndGeometryPointSize: shader_tessellation_and_geometry_point_size,
        ShaderImageGatherExtended: shader_image_gather_extended,
        ShaderStorageImageExtendedFormats: shader_storage_image_extended_formats,
        ShaderStorageImageMultisample: shader_storage_image_multisample,
        ShaderStorageImageReadWithoutFormat: shader_storage_image_read_without_format,
        ShaderStorageImageWriteWithoutFormat: shader_storage_image_write_without_format,
        ShaderUniformBufferArrayDynamicIndexing: shader_uniform_buffer_array_dynamic_indexing,
        ShaderSampledImageArrayDynamicIndexing: shader_sampled_image_array_dynamic_indexing,
        ShaderStorageBufferArrayDynamicIndexing: shader_storage_buffer_array_dynamic_indexing,
        ShaderStorageImageArrayDynamicIndexing: shader_storage_image_array_dynamic_indexing,
        ShaderClipDistance: shader_clip_distance,
        ShaderCullDistance: shader_cull_distance,
        ShaderFloat64: shader_float64,
        ShaderInt64: shader_int64,
        ShaderInt16: shader_int16,
        ShaderResourceResidency: shader_resource_residency,
        ShaderResourceMinLod: shader_resource_min_lod,
        SparseBinding: sparse_binding,
        VariableMultisampleRate: variable_multisample_rate,
        InheritedQueries: inherited_queries,
    }
    v11 {
        StorageBuffer16BitAccess: storage_buffer16_bit_access,
        UniformAndStorageBuffer16BitAccess: uniform_and_storage_buffer16_bit_access,
        StoragePushConstant16: storage_push_constant16,
        StorageInputOutput16: storage_input_output16,
        Multiview: multiview,
        MultiviewGeometryShader: multiview_geometry_shader,
        MultiviewTessellationShader: multiview_tessellation_shader,
        VariablePointersStorageBuffer: variable_pointers_storage_buffer,
        VariablePointers: variable_pointers,
        SamplerYcbcrConversion: sampler_ycbcr_conversion,
        ShaderDrawParameters: shader_draw_parameters,
    }
    v12 {
        SamplerMirrorClampToEdge: sampler_mirror_clamp_to_edge,
        DrawIndirectCount: draw_indirect_count,
        StorageBuffer8BitAccess: storage_buffer8_bit_access,
        UniformAndStorageBuffer8BitAccess: uniform_and_storage_buffer8_bit_access,
        StoragePushConstant8: storage_push_constant8,
        ShaderBufferInt64Atomics: shader_buffer_int64_atomics,
        ShaderSharedInt64Atomics: shader_shared_int64_atomics,
        ShaderFloat16: shader_float16,
        ShaderInt8: shader_int8,
        DescriptorIndexing: descriptor_indexing,
        ShaderInputAttachmentArrayDynamicIndexing: shader_input_attachment_array_dynamic_indexing,
        ShaderUniformTexelBufferArrayDynamicIndexing: shader_uniform_texel_buffer_array_dynamic_indexing,
        ShaderStorageTexelBufferArrayDynamicIndexing: shader_storage_texel_buffer_array_dynamic_indexing,
        ShaderUniformBufferArrayNonUniformIndexing: shader_uniform_buffer_array_non_uniform_indexing,
        ShaderSampledImageArrayNonUniformIndexing: shader_sampled_image_array_non_uniform_indexing,
        ShaderStorageBufferArrayNonUniformIndexing: shader_storage_buffer_array_non_uniform_indexing,
        ShaderStorageImageArrayNonUniformIndexing: shader_storage_image_array_non_uniform_indexing,
        ShaderInputAttachmentArrayNonUniformIndexing: shader_input_attachment_array_non_uniform_indexing,
        ShaderUniformTexelBufferArrayNonUniformIndexing: shader_uniform_texel_buffer_array_non_uniform_indexing,
        ShaderStorageTexelBufferArrayNonUniformIndexing: shader_storage_texel_buffer_array_non_uniform_indexing,
        DescriptorBindingUniformBufferUpdateAfterBind: descriptor_binding_uniform_buffer_update_after_bind,
        DescriptorBindingSampledImageUpdateAfterBind: descriptor_binding_sampled_image_update_after_bind,
        DescriptorBindingStorageImageUpdateAfterBind: descriptor_binding_storage_image_update_after_bind,
        DescriptorBindingStorageBufferUpdateAfterBind: descriptor_binding_storage_buffer_update_after_bind,
        DescriptorBindingUniformTexelBufferUpdateAfterBind: descriptor_binding_uniform_texel_buffer_update_after_bind,
        DescriptorBindingStorageTexelBufferUpdateAfterBind: descriptor_binding_storage_texel_buffer_update_after_bind,
        DescriptorBindingUpdateUnusedWhilePending: descriptor_binding_update_unused_while_pending,
        DescriptorBindingPartiallyBound: descriptor_binding_partially_bound,
        DescriptorBindingVariableDescriptorCount: descriptor_binding_variable_descriptor_count,
        RuntimeDescriptorArray: runtime_descriptor_array,
        SamplerFilterMinmax: sampler_filter_minmax,
        ScalarBlockLayout: scalar_block_layout,
        ImagelessFramebuffer: imageless_framebuffer,
        UniformBufferStandardLayout: uniform_buffer_standard_layout,
        ShaderSubgroupExtendedTypes: shader_subgroup_extended_types,
        SeparateDepthStencilLayouts: separate_depth_stencil_layouts,
        HostQueryReset: host_query_reset,
        TimelineSemaphore: timeline_semaphore,
        BufferDeviceAddress: buffer_device_address,
        VulkanMemoryModel: vulkan_memory_model,
        VulkanMemoryModelDeviceScope: vulkan_memory_model_device_scope,
        VulkanMemoryModelAvailabilityVisibilityChains: vulkan_memory_model_availability_visibility_chains,
        ShaderOutputViewportIndex: shader_output_viewport_index,
        ShaderOutputLayer: shader_output_layer,
        SubgroupBroadcastDynamicId: subgroup_broadcast_dynamic_id,
    }
    dynamic_rendering { DynamicRendering: dynamic_rendering, }
    synchronization2 { Synchronization2: synchronization2, }
    subgroup_size {
        SubgroupSizeControl: subgroup_size_control,
        ComputeFullSubgroups: compute_full_subgroups,
    }
    cache_control { PipelineCreationCacheControl: pipeline_creation_cache_control, }
    demote { ShaderDemoteToHelperInvocation: shader_demote_to_helper_invocation, }
    terminate { ShaderTerminateInvocation: shader_terminate_invocation, }
    dot_product { ShaderIntegerDotProduct: shader_integer_dot_product, }
    zero_initialize { ShaderZeroInitializeWorkgroupMemory: shader_zero_initialize_workgroup_memory, }
    inline_uniform_block {
        InlineUniformBlock: inline_uniform_block,
        DescriptorBindingInlineUniformBlockUpdateAfterBind: descriptor_binding_inline_uniform_block_update_after_bind,
    }
    maintenance4 { Maintenance4: maintenance4, }
    image_robustness { RobustImageAccess: robust_image_access, }
    astc_hdr { TextureCompressionAstcHdr: texture_compression_astc_hdr, }
    eds1 { ExtendedDynamicState: extended_dynamic_state, }
    eds2 {
        ExtendedDynamicState2: extended_dynamic_state2,
        ExtendedDynamicState2LogicOp: extended_dynamic_state2_logic_op,
        ExtendedDynamicState2PatchControlPoints: extended_dynamic_state2_patch_control_points,
    }
    eds3 {
        ExtendedDynamicState3TessellationDomainOrigin: extended_dynamic_state3_tessellation_domain_origin,
        ExtendedDynamicState3DepthClampEnable: extended_dynamic_state3_depth_clamp_enable,
        ExtendedDynamicState3PolygonMode: extended_dynamic_state3_polygon_mode,
        ExtendedDynamicState3RasterizationSamples: extended_dynamic_state3_rasterization_samples,
        ExtendedDynamicState3SampleMask: extended_dynamic_state3_sample_mask,
        ExtendedDynamicState3AlphaToCoverageEnable: extended_dynamic_state3_alpha_to_coverage_enable,
        ExtendedDynamicState3AlphaToOneEnable: extended_dynamic_state3_alpha_to_one_enable,
        ExtendedDynamicState3LogicOpEnable: extended_dynamic_state3_logic_op_enable,
        ExtendedDynamicState3ColorBlendEnable: extended_dynamic_state3_color_blend_enable,
        ExtendedDynamicState3ColorBlendEquation: extended_dynamic_state3_color_blend_equation,
        ExtendedDynamicState3ColorWriteMask: extended_dynamic_state3_color_write_mask,
        ExtendedDynamicState3RasterizationStream: extended_dynamic_state3_rasterization_stream,
        ExtendedDynamicState3ConservativeRasterizationMode: extended_dynamic_state3_conservative_rasterization_mode,
        ExtendedDynamicState3ExtraPrimitiveOverestimationSize: extended_dynamic_state3_extra_primitive_overestimation_size,
        ExtendedDynamicState3DepthClipEnable: extended_dynamic_state3_depth_clip_enable,
        ExtendedDynamicState3SampleLocationsEnable: extended_dynamic_state3_sample_locations_enable,
        ExtendedDynamicState3ColorBlendAdvanced: extended_dynamic_state3_color_blend_advanced,
        ExtendedDynamicState3ProvokingVertexMode: extended_dynamic_state3_provoking_vertex_mode,
        ExtendedDynamicState3LineRasterizationMode: extended_dynamic_state3_line_rasterization_mode,
        ExtendedDynamicState3LineStippleEnable: extended_dynamic_state3_line_stipple_enable,
        ExtendedDynamicState3DepthClipNegativeOneToOne: extended_dynamic_state3_depth_clip_negative_one_to_one,
    }
    vertex_input { VertexInputDynamicState: vertex_input_dynamic_state, }
    library { GraphicsPipelineLibrary: graphics_pipeline_library, }
    divisor {
        VertexAttributeInstanceRateDivisor: vertex_attribute_instance_rate_divisor,
        VertexAttributeInstanceRateZeroDivisor: vertex_attribute_instance_rate_zero_divisor,
    }
    line {
        RectangularLines: rectangular_lines,
        BresenhamLines: bresenham_lines,
        SmoothLines: smooth_lines,
        StippledRectangularLines: stippled_rectangular_lines,
        StippledBresenhamLines: stippled_bresenham_lines,
        StippledSmoothLines: stippled_smooth_lines,
    }
    index_uint8 { IndexTypeUint8: index_type_uint8, }
    robustness2 {
        RobustBufferAccess2: robust_buffer_access2,
        RobustImageAccess2: robust_image_access2,
        NullDescriptor: null_descriptor,
    }
    pipeline_robustness { PipelineRobustness: pipeline_robustness, }
    maintenance5 { Maintenance5: maintenance5, }
    maintenance6 { Maintenance6: maintenance6, }
    shader_object { ShaderObject: shader_object, }
    module_identifier { ShaderModuleIdentifier: shader_module_identifier, }
    provoking_vertex {
        ProvokingVertexLast: provoking_vertex_last,
        TransformFeedbackPreservesProvokingVertex: transform_feedback_preserves_provoking_vertex,
    }
    depth_clip_enable { DepthClipEnable: depth_clip_enable, }
    depth_clip_control { DepthClipControl: depth_clip_control, }
    depth_clamp_zero_one { DepthClampZeroOne: depth_clamp_zero_one, }
    depth_bias_control {
        DepthBiasControl: depth_bias_control,
        LeastRepresentableValueForceUnormRepresentation: least_representable_value_force_unorm_representation,
        FloatRepresentation: float_representation,
        DepthBiasExact: depth_bias_exact,
    }
    transform_feedback {
        TransformFeedback: transform_feedback,
        GeometryStreams: geometry_streams,
    }
    color_write { ColorWriteEnable: color_write_enable, }
    border_color {
        CustomBorderColors: custom_border_colors,
        CustomBorderColorWithoutFormat: custom_border_color_without_format,
    }
    border_swizzle {
        BorderColorSwizzle: border_color_swizzle,
        BorderColorSwizzleFromImage: border_color_swizzle_from_image,
    }
    list_restart {
        PrimitiveTopologyListRestart: primitive_topology_list_restart,
        PrimitiveTopologyPatchListRestart: primitive_topology_patch_list_restart,
    }
    blend_advanced { AdvancedBlendCoherentOperations: advanced_blend_coherent_operations, }
    interlock {
        FragmentShaderSampleInterlock: fragment_shader_sample_interlock,
        FragmentShaderPixelInterlock: fragment_shader_pixel_interlock,
        FragmentShaderShadingRateInterlock: fragment_shader_shading_rate_interlock,
    }
    atomic_float {
        ShaderBufferFloat32Atomics: shader_buffer_float32_atomics,
        ShaderBufferFloat32AtomicAdd: shader_buffer_float32_atomic_add,
        ShaderBufferFloat64Atomics: shader_buffer_float64_atomics,
        ShaderBufferFloat64AtomicAdd: shader_buffer_float64_atomic_add,
        ShaderSharedFloat32Atomics: shader_shared_float32_atomics,
        ShaderSharedFloat32AtomicAdd: shader_shared_float32_atomic_add,
        ShaderSharedFloat64Atomics: shader_shared_float64_atomics,
        ShaderSharedFloat64AtomicAdd: shader_shared_float64_atomic_add,
        ShaderImageFloat32Atomics: shader_image_float32_atomics,
        ShaderImageFloat32AtomicAdd: shader_image_float32_atomic_add,
    }
    atomic_float2 {
        ShaderBufferFloat16Atomics: shader_buffer_float16_atomics,
        ShaderBufferFloat16AtomicAdd: shader_buffer_float16_atomic_add,
        ShaderBufferFloat16AtomicMinMax: shader_buffer_float16_atomic_min_max,
        ShaderBufferFloat32AtomicMinMax: shader_buffer_float32_atomic_min_max,
        ShaderBufferFloat64AtomicMinMax: shader_buffer_float64_atomic_min_max,
        ShaderSharedFloat16Atomics: shader_shared_float16_atomics,
        ShaderSharedFloat16AtomicAdd: shader_shared_float16_atomic_add,
        ShaderSharedFloat16AtomicMinMax: shader_shared_float16_atomic_min_max,
        ShaderSharedFloat32AtomicMinMax: shader_shared_float32_atomic_min_max,
        ShaderSharedFloat64AtomicMinMax: shader_shared_float64_atomic_min_max,
        ShaderImageFloat32AtomicMinMax: shader_image_float32_atomic_min_max,
    }
    image_int64 { ShaderImageInt64Atomics: shader_image_int64_atomics, }
    clock {
        ShaderSubgroupClock: shader_subgroup_clock,
        ShaderDeviceClock: shader_device_clock,
    }
    barycentric { FragmentShaderBarycentric: fragment_shader_barycentric, }
    mesh {
        TaskShader: task_shader,
        MeshShader: mesh_shader,
        MultiviewMeshShader: multiview_mesh_shader,
        PrimitiveFragmentShadingRateMeshShader: primitive_fragment_shading_rate_mesh_shader,
        MeshShaderQueries: mesh_shader_queries,
    }
    shading_rate {
        PipelineFragmentShadingRate: pipeline_fragment_shading_rate,
        PrimitiveFragmentShadingRate: primitive_fragment_shading_rate,
        AttachmentFragmentShadingRate: attachment_fragment_shading_rate,
    }
    acceleration {
        AccelerationStructure: acceleration_structure,
        DescriptorBindingAccelerationStructureUpdateAfterBind: descriptor_binding_acceleration_structure_update_after_bind,
    }
    ray_tracing {
        RayTracingPipeline: ray_tracing_pipeline,
        RayTracingPipelineTraceRaysIndirect: ray_tracing_pipeline_trace_rays_indirect,
        RayTraversalPrimitiveCulling: ray_traversal_primitive_culling,
    }
    ray_query { RayQuery: ray_query, }
    ray_maintenance1 { RayTracingMaintenance1: ray_tracing_maintenance1, }
    ray_position_fetch { RayTracingPositionFetch: ray_tracing_position_fetch, }
    formats_4444 {
        FormatA4R4G4B4: format_a4r4g4b4,
        FormatA4B4G4R4: format_a4b4g4r4,
    }
    non_seamless { NonSeamlessCubeMap: non_seamless_cube_map, }
    descriptor_buffer {
        DescriptorBuffer: descriptor_buffer,
        DescriptorBufferPushDescriptors: descriptor_buffer_push_descriptors,
    }
    mutable_descriptor { MutableDescriptorType: mutable_descriptor_type, }
    feedback_layout { AttachmentFeedbackLoopLayout: attachment_feedback_loop_layout, }
    feedback_dynamic { AttachmentFeedbackLoopDynamicState: attachment_feedback_loop_dynamic_state, }
    raster_order {
        RasterizationOrderColorAttachmentAccess: rasterization_order_color_attachment_access,
        RasterizationOrderDepthAttachmentAccess: rasterization_order_depth_attachment_access,
        RasterizationOrderStencilAttachmentAccess: rasterization_order_stencil_attachment_access,
    }
    legacy_dithering { LegacyDithering: legacy_dithering, }
    primitives_generated {
        PrimitivesGeneratedQuery: primitives_generated_query,
        PrimitivesGeneratedQueryWithRasterizerDiscard: primitives_generated_query_with_rasterizer_discard,
        PrimitivesGeneratedQueryWithNonZeroStreams: primitives_generated_query_with_non_zero_streams,
    }
    unused_attachments { DynamicRenderingUnusedAttachments: dynamic_rendering_unused_attachments, }
    local_read { DynamicRenderingLocalRead: dynamic_rendering_local_read, }
    image_2d_of_3d {
        Image2dViewOf3d: image2_d_view_of3_d,
        Sampler2dViewOf3d: sampler2_d_view_of3_d,
    }
    single_sampled { MultisampledRenderToSingleSampled: multisampled_render_to_single_sampled, }
    workgroup_layout {
        WorkgroupMemoryExplicitLayout: workgroup_memory_explicit_layout,
        WorkgroupMemoryExplicitLayoutScalarBlockLayout: workgroup_memory_explicit_layout_scalar_block_layout,
        WorkgroupMemoryExplicitLayout8BitAccess: workgroup_memory_explicit_layout8_bit_access,
        WorkgroupMemoryExplicitLayout16BitAccess: workgroup_memory_explicit_layout16_bit_access,
    }
    uniform_flow { ShaderSubgroupUniformControlFlow: shader_subgroup_uniform_control_flow, }
    reconvergence { ShaderMaximalReconvergence: shader_maximal_reconvergence, }
    subgroup_rotate {
        ShaderSubgroupRotate: shader_subgroup_rotate,
        ShaderSubgroupRotateClustered: shader_subgroup_rotate_clustered,
    }
    expect_assume { ShaderExpectAssume: shader_expect_assume, }
    float_controls2 { ShaderFloatControls2: shader_float_controls2, }
    quad_control { ShaderQuadControl: shader_quad_control, }
    cooperative_matrix { CooperativeMatrix: cooperative_matrix, }
    derivatives {
        ComputeDerivativeGroupQuads: compute_derivative_group_quads,
        ComputeDerivativeGroupLinear: compute_derivative_group_linear,
    }
    integer_functions2 { ShaderIntegerFunctions2: shader_integer_functions2, }
    executable_properties { PipelineExecutableInfo: pipeline_executable_info, }
    group_handles { PipelineLibraryGroupHandles: pipeline_library_group_handles, }
}

impl Feature {
    /// The feature's name in Vulkan, such as `robustBufferAccess2`.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        let mut upper = false;
        for c in self.member().chars() {
            match c {
                '_' => upper = true,
                c if upper => {
                    name.push(c.to_ascii_uppercase());
                    upper = false;
                }
                c => name.push(c),
            }
        }
        name
    }
}

impl std::fmt::Display for Feature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

const WORDS: usize = 5;
const _: () = assert!(Feature::ALL.len() <= WORDS * 64);

/// A set of device features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Features {
    words: [u64; WORDS],
}

impl Features {
    /// Whether the feature is in the set.
    #[must_use]
    pub fn has(&self, feature: Feature) -> bool {
        let bit = feature as usize;
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// The features in the set, in the order of [`Feature::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = Feature> + '_ {
        Feature::ALL
            .iter()
            .copied()
            .filter(|&feature| self.has(feature))
    }

    pub(crate) fn set(&mut self, feature: Feature, on: bool) {
        let bit = feature as usize;
        let mask = 1 << (bit % 64);
        if on {
            self.words[bit / 64] |= mask;
        } else {
            self.words[bit / 64] &= !mask;
        }
    }
}

/// A list of the features' Vulkan names.
impl serde::Serialize for Features {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Feature::name))
    }
}

fn minor(api_version: u32) -> u32 {
    vk::api_version_minor(api_version)
}
