//! The extensions of an instance or a device, and which of them Standin enables.

use ash::vk;
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

/// A set of extension names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extensions {
    names: BTreeSet<CString>,
}

impl Extensions {
    pub(crate) fn from_properties(properties: &[vk::ExtensionProperties]) -> Self {
        Self {
            names: properties
                .iter()
                .filter_map(|extension| extension.extension_name_as_c_str().ok())
                .map(CStr::to_owned)
                .collect(),
        }
    }

    /// Whether the extension is in the set.
    #[must_use]
    pub fn has(&self, name: &CStr) -> bool {
        self.names.contains(name)
    }

    /// The names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &CStr> {
        self.names.iter().map(CString::as_c_str)
    }

    pub(crate) fn insert(&mut self, name: &CStr) {
        self.names.insert(name.to_owned());
    }

    pub(crate) fn remove(&mut self, name: &CStr) {
        self.names.remove(name);
    }

    /// Those of this set that a device is created with.
    pub(crate) fn to_enable(&self) -> Self {
        let mut enabled = Self::default();
        for name in WANTED {
            if self.has(name) {
                enabled.insert(name);
            }
        }
        enabled
    }

    pub(crate) fn pointers(&self) -> Vec<*const std::ffi::c_char> {
        self.names.iter().map(|name| name.as_ptr()).collect()
    }
}

/// A list of the names.
impl serde::Serialize for Extensions {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(CStr::to_string_lossy))
    }
}

/// `VK_KHR_pipeline_binary`, which ash does not know yet.
pub const PIPELINE_BINARY: &CStr = c"VK_KHR_pipeline_binary";

/// What is enabled where it is there: what captures use, and what the routes are made of. Left out
/// are extensions that exclude another (`VK_EXT_buffer_device_address`, `VK_NV_shading_rate_image`),
/// that need another program, or whose features change what a pipeline compiles to.
const WANTED: &[&CStr] = &[
    PIPELINE_BINARY,
    ash::khr::acceleration_structure::NAME,
    ash::khr::cooperative_matrix::NAME,
    ash::khr::create_renderpass2::NAME,
    ash::khr::deferred_host_operations::NAME,
    ash::khr::depth_stencil_resolve::NAME,
    ash::khr::dynamic_rendering::NAME,
    ash::khr::dynamic_rendering_local_read::NAME,
    ash::khr::format_feature_flags2::NAME,
    ash::khr::fragment_shader_barycentric::NAME,
    ash::khr::fragment_shading_rate::NAME,
    ash::khr::index_type_uint8::NAME,
    ash::khr::line_rasterization::NAME,
    ash::khr::load_store_op_none::NAME,
    ash::khr::maintenance4::NAME,
    ash::khr::maintenance5::NAME,
    ash::khr::maintenance6::NAME,
    ash::khr::pipeline_executable_properties::NAME,
    ash::khr::pipeline_library::NAME,
    ash::khr::push_descriptor::NAME,
    ash::khr::ray_query::NAME,
    ash::khr::ray_tracing_maintenance1::NAME,
    ash::khr::ray_tracing_pipeline::NAME,
    ash::khr::ray_tracing_position_fetch::NAME,
    ash::khr::shader_clock::NAME,
    ash::khr::shader_expect_assume::NAME,
    ash::khr::shader_float_controls2::NAME,
    ash::khr::shader_integer_dot_product::NAME,
    ash::khr::shader_maximal_reconvergence::NAME,
    ash::khr::shader_non_semantic_info::NAME,
    ash::khr::shader_quad_control::NAME,
    ash::khr::shader_subgroup_rotate::NAME,
    ash::khr::shader_subgroup_uniform_control_flow::NAME,
    ash::khr::shader_terminate_invocation::NAME,
    // Captures of programs with a window have render passes that end in the present layout.
    ash::khr::swapchain::NAME,
    ash::khr::synchronization2::NAME,
    ash::khr::vertex_attribute_divisor::NAME,
    ash::khr::workgroup_memory_explicit_layout::NAME,
    ash::khr::zero_initialize_workgroup_memory::NAME,
    ash::ext::_4444_formats::NAME,
    ash::ext::attachment_feedback_loop_dynamic_state::NAME,
    ash::ext::attachment_feedback_loop_layout::NAME,
    ash::ext::blend_operation_advanced::NAME,
    ash::ext::border_color_swizzle::NAME,
    ash::ext::color_write_enable::NAME,
    ash::ext::conservative_rasterization::NAME,
    ash::ext::custom_border_color::NAME,
    ash::ext::depth_bias_control::NAME,
    ash::ext::depth_clamp_zero_one::NAME,
    ash::ext::depth_clip_control::NAME,
    ash::ext::depth_clip_enable::NAME,
    ash::ext::depth_range_unrestricted::NAME,
    ash::ext::descriptor_buffer::NAME,
    ash::ext::dynamic_rendering_unused_attachments::NAME,
    ash::ext::extended_dynamic_state2::NAME,
    ash::ext::extended_dynamic_state3::NAME,
    ash::ext::extended_dynamic_state::NAME,
    ash::ext::fragment_shader_interlock::NAME,
    ash::ext::graphics_pipeline_library::NAME,
    ash::ext::image_2d_view_of_3d::NAME,
    ash::ext::image_robustness::NAME,
    ash::ext::index_type_uint8::NAME,
    ash::ext::inline_uniform_block::NAME,
    ash::ext::legacy_dithering::NAME,
    ash::ext::line_rasterization::NAME,
    ash::ext::load_store_op_none::NAME,
    ash::ext::mesh_shader::NAME,
    ash::ext::multisampled_render_to_single_sampled::NAME,
    ash::ext::mutable_descriptor_type::NAME,
    ash::ext::non_seamless_cube_map::NAME,
    ash::ext::pipeline_creation_cache_control::NAME,
    ash::ext::pipeline_creation_feedback::NAME,
    ash::ext::pipeline_library_group_handles::NAME,
    ash::ext::pipeline_robustness::NAME,
    ash::ext::post_depth_coverage::NAME,
    ash::ext::primitive_topology_list_restart::NAME,
    ash::ext::primitives_generated_query::NAME,
    ash::ext::provoking_vertex::NAME,
    ash::ext::rasterization_order_attachment_access::NAME,
    ash::ext::robustness2::NAME,
    ash::ext::sample_locations::NAME,
    ash::ext::shader_atomic_float2::NAME,
    ash::ext::shader_atomic_float::NAME,
    ash::ext::shader_demote_to_helper_invocation::NAME,
    ash::ext::shader_image_atomic_int64::NAME,
    ash::ext::shader_module_identifier::NAME,
    ash::ext::shader_object::NAME,
    ash::ext::shader_stencil_export::NAME,
    ash::ext::shader_subgroup_ballot::NAME,
    ash::ext::shader_subgroup_vote::NAME,
    ash::ext::shader_viewport_index_layer::NAME,
    ash::ext::subgroup_size_control::NAME,
    ash::ext::texture_compression_astc_hdr::NAME,
    ash::ext::transform_feedback::NAME,
    ash::ext::vertex_attribute_divisor::NAME,
    ash::ext::vertex_input_dynamic_state::NAME,
    ash::amd::gcn_shader::NAME,
    ash::amd::shader_ballot::NAME,
    ash::amd::shader_explicit_vertex_parameter::NAME,
    ash::amd::shader_fragment_mask::NAME,
    ash::amd::shader_image_load_store_lod::NAME,
    ash::amd::shader_trinary_minmax::NAME,
    ash::amd::texture_gather_bias_lod::NAME,
    ash::arm::rasterization_order_attachment_access::NAME,
    ash::google::decorate_string::NAME,
    ash::google::hlsl_functionality1::NAME,
    ash::google::user_type::NAME,
    ash::intel::shader_integer_functions2::NAME,
    ash::nv::compute_shader_derivatives::NAME,
    ash::nv::geometry_shader_passthrough::NAME,
    ash::nv::shader_subgroup_partitioned::NAME,
    ash::nv::viewport_array2::NAME,
    ash::valve::mutable_descriptor_type::NAME,
];
