//! Whether a device takes a shader: its SPIR-V version, capabilities and extensions, and whether
//! the words are instructions at all.
//!
//! The tables follow the specification's appendix "Vulkan Environment for SPIR-V". What is not in
//! them is declined by name.

use crate::capabilities::Capabilities;
use crate::decline::Declined;
use crate::extensions::Extensions;
use crate::features::{Feature as F, Features};
use ash::vk;
use spirv::Capability as C;
use std::ffi::CStr;

/// What of a device a shader is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) features: &'a Features,
    pub(crate) extensions: &'a Extensions,
}

const MAGIC: u32 = 0x0723_0203;
const OP_EXTENSION: u32 = 10;
const OP_ENTRY_POINT: u32 = 15;
const OP_CAPABILITY: u32 = 17;
const OP_FUNCTION: u32 = 54;

/// Checks a module and that it has an entry point of this name for this stage.
pub(crate) fn check(
    words: &[u32],
    stage: vk::ShaderStageFlags,
    entry: &str,
    target: &Target<'_>,
) -> Result<(), Declined> {
    let not_spirv = || Declined::invalid("a shader's words are not SPIR-V");
    let [MAGIC, version, _generator, _bound, _schema, body @ ..] = words else {
        return Err(not_spirv());
    };
    let [0, major, minor, 0] = version.to_be_bytes() else {
        return Err(not_spirv());
    };
    if (major, minor) > newest_version(target) {
        return Err(Declined::SpirvVersion { major, minor });
    }
    let model = execution_model(stage).ok_or_else(|| Declined::unknown("shader stage", stage))?;
    let mut has_entry = false;
    let mut rest = body;
    let mut in_preamble = true;
    while let Some(&first) = rest.first() {
        let length = (first >> 16) as usize;
        if length == 0 || length > rest.len() {
            return Err(not_spirv());
        }
        let (instruction, next) = rest.split_at(length);
        rest = next;
        if !in_preamble {
            continue;
        }
        match first & 0xffff {
            OP_CAPABILITY => {
                let number = *instruction.get(1).ok_or_else(not_spirv)?;
                capability(number, target)?;
            }
            OP_EXTENSION => extension(&text(&instruction[1..]), target)?,
            OP_ENTRY_POINT => {
                if let [_, found, _, name @ ..] = instruction {
                    has_entry |= *found == model && text(name) == entry;
                }
            }
            // All that is looked at comes before the first function.
            OP_FUNCTION => in_preamble = false,
            _ => {}
        }
    }
    if has_entry {
        Ok(())
    } else {
        Err(Declined::invalid(format!(
            "the shader has no entry point {entry:?} for {stage:?}"
        )))
    }
}

/// A literal string: four bytes a word, the first in the lowest bits, up to a zero.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|&byte| byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn newest_version(target: &Target<'_>) -> (u8, u8) {
    match vk::api_version_minor(target.capabilities.identity.api_version) {
        0 => (1, 0),
        1 => {
            if target
                .capabilities
                .extensions
                .has(ash::khr::spirv_1_4::NAME)
            {
                (1, 4)
            } else {
                (1, 3)
            }
        }
        2 => (1, 5),
        _ => (1, 6),
    }
}

fn execution_model(stage: vk::ShaderStageFlags) -> Option<u32> {
    use spirv::ExecutionModel as M;
    Some(match stage {
        vk::ShaderStageFlags::VERTEX => M::Vertex,
        vk::ShaderStageFlags::TESSELLATION_CONTROL => M::TessellationControl,
        vk::ShaderStageFlags::TESSELLATION_EVALUATION => M::TessellationEvaluation,
        vk::ShaderStageFlags::GEOMETRY => M::Geometry,
        vk::ShaderStageFlags::FRAGMENT => M::Fragment,
        vk::ShaderStageFlags::COMPUTE => M::GLCompute,
        vk::ShaderStageFlags::TASK_EXT => M::TaskEXT,
        vk::ShaderStageFlags::MESH_EXT => M::MeshEXT,
        _ => return None,
    } as u32)
}

/// What a capability or extension needs.
enum Needs {
    Nothing,
    /// One of these features.
    Feature(&'static [F]),
    /// One of these extensions.
    Extension(&'static [&'static CStr]),
    /// This minor version of Vulkan, or one of these extensions.
    Version(u32, &'static [&'static CStr]),
    /// These subgroup operations.
    Subgroup(vk::SubgroupFeatureFlags),
    /// A float control for any width.
    Bool(fn(&Capabilities) -> bool),
}

fn met(needs: &Needs, target: &Target<'_>) -> bool {
    let minor = vk::api_version_minor(target.capabilities.identity.api_version);
    let one_of = |names: &[&CStr]| names.iter().any(|name| target.extensions.has(name));
    match needs {
        Needs::Nothing => true,
        Needs::Feature(features) => features.iter().any(|&f| target.features.has(f)),
        Needs::Extension(names) => one_of(names),
        Needs::Version(least, names) => minor >= *least || one_of(names),
        Needs::Subgroup(operations) => target
            .capabilities
            .subgroup
            .operations
            .contains(*operations),
        Needs::Bool(test) => test(target.capabilities),
    }
}

fn capability(number: u32, target: &Target<'_>) -> Result<(), Declined> {
    let known = C::from_u32(number);
    let declined = || {
        Declined::Capability(known.map_or_else(
            || format!("capability {number}"),
            |capability| format!("{capability:?}"),
        ))
    };
    let needs = known.and_then(capability_needs).ok_or_else(declined)?;
    if met(&needs, target) {
        Ok(())
    } else {
        Err(declined())
    }
}

fn capability_needs(capability: C) -> Option<Needs> {
    use Needs::{Bool, Extension, Feature, Nothing, Subgroup, Version};
    use vk::SubgroupFeatureFlags as S;
    Some(match capability {
        C::Matrix
        | C::Shader
        | C::InputAttachment
        | C::Sampled1D
        | C::Image1D
        | C::SampledBuffer
        | C::ImageBuffer
        | C::ImageQuery
        | C::DerivativeControl
        | C::DeviceGroup => Nothing,
        C::Geometry => Feature(&[F::GeometryShader]),
        C::Tessellation => Feature(&[F::TessellationShader]),
        C::Float64 => Feature(&[F::ShaderFloat64]),
        C::Int64 => Feature(&[F::ShaderInt64]),
        C::Int64Atomics => Feature(&[
            F::ShaderBufferInt64Atomics,
            F::ShaderSharedInt64Atomics,
            F::ShaderImageInt64Atomics,
        ]),
        C::AtomicFloat16AddEXT => Feature(&[
            F::ShaderBufferFloat16AtomicAdd,
            F::ShaderSharedFloat16AtomicAdd,
        ]),
        C::AtomicFloat32AddEXT => Feature(&[
            F::ShaderBufferFloat32AtomicAdd,
            F::ShaderSharedFloat32AtomicAdd,
            F::ShaderImageFloat32AtomicAdd,
        ]),
        C::AtomicFloat64AddEXT => Feature(&[
            F::ShaderBufferFloat64AtomicAdd,
            F::ShaderSharedFloat64AtomicAdd,
        ]),
        C::AtomicFloat16MinMaxEXT => Feature(&[
            F::ShaderBufferFloat16AtomicMinMax,
            F::ShaderSharedFloat16AtomicMinMax,
        ]),
        C::AtomicFloat32MinMaxEXT => Feature(&[
            F::ShaderBufferFloat32AtomicMinMax,
            F::ShaderSharedFloat32AtomicMinMax,
            F::ShaderImageFloat32AtomicMinMax,
        ]),
        C::AtomicFloat64MinMaxEXT => Feature(&[
            F::ShaderBufferFloat64AtomicMinMax,
            F::ShaderSharedFloat64AtomicMinMax,
        ]),
        C::Int64ImageEXT => Feature(&[F::ShaderImageInt64Atomics]),
        C::Int16 => Feature(&[F::ShaderInt16]),
        C::Int8 => Feature(&[F::ShaderInt8]),
        C::Float16 => Feature(&[F::ShaderFloat16]),
        C::TessellationPointSize | C::GeometryPointSize => {
            Feature(&[F::ShaderTessellationAndGeometryPointSize])
        }
        C::ImageGatherExtended => Feature(&[F::ShaderImageGatherExtended]),
        C::StorageImageMultisample | C::ImageMSArray => {
            Feature(&[F::ShaderStorageImageMultisample])
        }
        C::UniformBufferArrayDynamicIndexing => {
            Feature(&[F::ShaderUniformBufferArrayDynamicIndexing])
        }
        C::SampledImageArrayDynamicIndexing => {
            Feature(&[F::ShaderSampledImageArrayDynamicIndexing])
        }
        C::StorageBufferArrayDynamicIndexing => {
            Feature(&[F::ShaderStorageBufferArrayDynamicIndexing])
        }
        C::StorageImageArrayDynamicIndexing => {
            Feature(&[F::ShaderStorageImageArrayDynamicIndexing])
        }
        C::ClipDistance => Feature(&[F::ShaderClipDistance]),
        C::CullDistance => Feature(&[F::ShaderCullDistance]),
        C::ImageCubeArray | C::SampledCubeArray => Feature(&[F::ImageCubeArray]),
        C::SampleRateShading | C::InterpolationFunction => Feature(&[F::SampleRateShading]),
        C::SparseResidency => Feature(&[F::ShaderResourceResidency]),
        C::MinLod => Feature(&[F::ShaderResourceMinLod]),
        C::StorageImageExtendedFormats => Feature(&[F::ShaderStorageImageExtendedFormats]),
        C::StorageImageReadWithoutFormat => Feature(&[F::ShaderStorageImageReadWithoutFormat]),
        C::StorageImageWriteWithoutFormat => Feature(&[F::ShaderStorageImageWriteWithoutFormat]),
        C::MultiViewport => Feature(&[F::MultiViewport]),
        C::TransformFeedback => Feature(&[F::TransformFeedback]),
        C::GeometryStreams => Feature(&[F::GeometryStreams]),
        C::ShaderLayer => Feature(&[F::ShaderOutputLayer]),
        C::ShaderViewportIndex => Feature(&[F::ShaderOutputViewportIndex]),
        C::ShaderViewportIndexLayerEXT => Extension(&[ash::ext::shader_viewport_index_layer::NAME]),
        C::GroupNonUniform => Subgroup(S::BASIC),
        C::GroupNonUniformVote => Subgroup(S::VOTE),
        C::GroupNonUniformArithmetic => Subgroup(S::ARITHMETIC),
        C::GroupNonUniformBallot => Subgroup(S::BALLOT),
        C::GroupNonUniformShuffle => Subgroup(S::SHUFFLE),
        C::GroupNonUniformShuffleRelative => Subgroup(S::SHUFFLE_RELATIVE),
        C::GroupNonUniformClustered => Subgroup(S::CLUSTERED),
        C::GroupNonUniformQuad => Subgroup(S::QUAD),
        C::GroupNonUniformRotateKHR => Feature(&[F::ShaderSubgroupRotate]),
        C::GroupNonUniformPartitionedEXT => {
            Extension(&[ash::nv::shader_subgroup_partitioned::NAME])
        }
        C::SubgroupBallotKHR => Extension(&[ash::ext::shader_subgroup_ballot::NAME]),
        C::SubgroupVoteKHR => Extension(&[ash::ext::shader_subgroup_vote::NAME]),
        C::QuadControlKHR => Feature(&[F::ShaderQuadControl]),
        C::DrawParameters => Feature(&[F::ShaderDrawParameters]),
        C::WorkgroupMemoryExplicitLayoutKHR => Feature(&[F::WorkgroupMemoryExplicitLayout]),
        C::WorkgroupMemoryExplicitLayout8BitAccessKHR => {
            Feature(&[F::WorkgroupMemoryExplicitLayout8BitAccess])
        }
        C::WorkgroupMemoryExplicitLayout16BitAccessKHR => {
            Feature(&[F::WorkgroupMemoryExplicitLayout16BitAccess])
        }
        C::StorageBuffer16BitAccess => Feature(&[F::StorageBuffer16BitAccess]),
        C::UniformAndStorageBuffer16BitAccess => Feature(&[F::UniformAndStorageBuffer16BitAccess]),
        C::StoragePushConstant16 => Feature(&[F::StoragePushConstant16]),
        C::StorageInputOutput16 => Feature(&[F::StorageInputOutput16]),
        C::StorageBuffer8BitAccess => Feature(&[F::StorageBuffer8BitAccess]),
        C::UniformAndStorageBuffer8BitAccess => Feature(&[F::UniformAndStorageBuffer8BitAccess]),
        C::StoragePushConstant8 => Feature(&[F::StoragePushConstant8]),
        C::MultiView => Feature(&[F::Multiview]),
        C::VariablePointersStorageBuffer => Feature(&[F::VariablePointersStorageBuffer]),
        C::VariablePointers => Feature(&[F::VariablePointers]),
        C::SampleMaskPostDepthCoverage => Extension(&[ash::ext::post_depth_coverage::NAME]),
        C::DenormPreserve => Bool(|c| c.float_controls.denorm_preserve),
        C::DenormFlushToZero => Bool(|c| c.float_controls.denorm_flush_to_zero),
        C::SignedZeroInfNanPreserve => Bool(|c| c.float_controls.signed_zero_inf_nan_preserve),
        C::RoundingModeRTE => Bool(|c| c.float_controls.rounding_mode_rte),
        C::RoundingModeRTZ => Bool(|c| c.float_controls.rounding_mode_rtz),
        C::FloatControls2 => Feature(&[F::ShaderFloatControls2]),
        C::RayQueryKHR => Feature(&[F::RayQuery]),
        C::RayTraversalPrimitiveCullingKHR => Feature(&[F::RayTraversalPrimitiveCulling]),
        C::RayTracingKHR => Feature(&[F::RayTracingPipeline]),
        C::RayTracingPositionFetchKHR | C::RayQueryPositionFetchKHR => {
            Feature(&[F::RayTracingPositionFetch])
        }
        C::RayCullMaskKHR => Feature(&[F::RayTracingMaintenance1]),
        C::ImageGatherBiasLodAMD => Extension(&[ash::amd::texture_gather_bias_lod::NAME]),
        C::FragmentMaskAMD => Extension(&[ash::amd::shader_fragment_mask::NAME]),
        C::ImageReadWriteLodAMD => Extension(&[ash::amd::shader_image_load_store_lod::NAME]),
        C::StencilExportEXT => Extension(&[ash::ext::shader_stencil_export::NAME]),
        C::ShaderClockKHR => Feature(&[F::ShaderSubgroupClock, F::ShaderDeviceClock]),
        C::FragmentFullyCoveredEXT => Extension(&[ash::ext::conservative_rasterization::NAME]),
        C::GeometryShaderPassthroughNV => Extension(&[ash::nv::geometry_shader_passthrough::NAME]),
        C::ShaderViewportMaskNV => Extension(&[ash::nv::viewport_array2::NAME]),
        C::MeshShadingEXT => Feature(&[F::MeshShader]),
        C::FragmentBarycentricKHR => Feature(&[F::FragmentShaderBarycentric]),
        C::FragmentShadingRateKHR => Feature(&[
            F::PipelineFragmentShadingRate,
            F::PrimitiveFragmentShadingRate,
            F::AttachmentFragmentShadingRate,
        ]),
        C::ComputeDerivativeGroupQuadsKHR => Feature(&[F::ComputeDerivativeGroupQuads]),
        C::ComputeDerivativeGroupLinearKHR => Feature(&[F::ComputeDerivativeGroupLinear]),
        C::ShaderNonUniform => Version(2, &[]),
        C::RuntimeDescriptorArray => Feature(&[F::RuntimeDescriptorArray]),
        C::InputAttachmentArrayDynamicIndexing => {
            Feature(&[F::ShaderInputAttachmentArrayDynamicIndexing])
        }
        C::UniformTexelBufferArrayDynamicIndexing => {
            Feature(&[F::ShaderUniformTexelBufferArrayDynamicIndexing])
        }
        C::StorageTexelBufferArrayDynamicIndexing => {
            Feature(&[F::ShaderStorageTexelBufferArrayDynamicIndexing])
        }
        C::UniformBufferArrayNonUniformIndexing => {
            Feature(&[F::ShaderUniformBufferArrayNonUniformIndexing])
        }
        C::SampledImageArrayNonUniformIndexing => {
            Feature(&[F::ShaderSampledImageArrayNonUniformIndexing])
        }
        C::StorageBufferArrayNonUniformIndexing => {
            Feature(&[F::ShaderStorageBufferArrayNonUniformIndexing])
        }
        C::StorageImageArrayNonUniformIndexing => {
            Feature(&[F::ShaderStorageImageArrayNonUniformIndexing])
        }
        C::InputAttachmentArrayNonUniformIndexing => {
            Feature(&[F::ShaderInputAttachmentArrayNonUniformIndexing])
        }
        C::UniformTexelBufferArrayNonUniformIndexing => {
            Feature(&[F::ShaderUniformTexelBufferArrayNonUniformIndexing])
        }
        C::StorageTexelBufferArrayNonUniformIndexing => {
            Feature(&[F::ShaderStorageTexelBufferArrayNonUniformIndexing])
        }
        C::VulkanMemoryModel => Feature(&[F::VulkanMemoryModel]),
        C::VulkanMemoryModelDeviceScope => Feature(&[F::VulkanMemoryModelDeviceScope]),
        C::PhysicalStorageBufferAddresses => Feature(&[F::BufferDeviceAddress]),
        C::FragmentShaderSampleInterlockEXT => Feature(&[F::FragmentShaderSampleInterlock]),
        C::FragmentShaderPixelInterlockEXT => Feature(&[F::FragmentShaderPixelInterlock]),
        C::FragmentShaderShadingRateInterlockEXT => {
            Feature(&[F::FragmentShaderShadingRateInterlock])
        }
        C::DemoteToHelperInvocation => Feature(&[F::ShaderDemoteToHelperInvocation]),
        C::DotProduct
        | C::DotProductInputAll
        | C::DotProductInput4x8Bit
        | C::DotProductInput4x8BitPacked => Feature(&[F::ShaderIntegerDotProduct]),
        C::CooperativeMatrixKHR => Feature(&[F::CooperativeMatrix]),
        C::ExpectAssumeKHR => Feature(&[F::ShaderExpectAssume]),
        C::IntegerFunctions2INTEL => Feature(&[F::ShaderIntegerFunctions2]),
        _ => return None,
    })
}

fn extension(name: &str, target: &Target<'_>) -> Result<(), Declined> {
    match extension_needs(name) {
        Some(needs) if met(&needs, target) => Ok(()),
        _ => Err(Declined::SpirvExtension(name.to_owned())),
    }
}

fn extension_needs(name: &str) -> Option<Needs> {
    use Needs::{Extension, Feature, Nothing, Version};
    Some(match name {
        // In Vulkan since 1.1 or 1.2, which every device here has; the capabilities say the rest.
        "SPV_KHR_storage_buffer_storage_class"
        | "SPV_KHR_variable_pointers"
        | "SPV_KHR_shader_draw_parameters"
        | "SPV_KHR_16bit_storage"
        | "SPV_KHR_8bit_storage"
        | "SPV_KHR_device_group"
        | "SPV_KHR_multiview"
        | "SPV_KHR_float_controls"
        | "SPV_KHR_vulkan_memory_model"
        | "SPV_KHR_physical_storage_buffer"
        | "SPV_EXT_physical_storage_buffer"
        | "SPV_EXT_descriptor_indexing"
        | "SPV_EXT_shader_viewport_index_layer"
        | "SPV_NV_viewport_array2" => Nothing,
        "SPV_KHR_shader_ballot" => Extension(&[ash::ext::shader_subgroup_ballot::NAME]),
        "SPV_KHR_subgroup_vote" => Extension(&[ash::ext::shader_subgroup_vote::NAME]),
        "SPV_KHR_post_depth_coverage" => Extension(&[ash::ext::post_depth_coverage::NAME]),
        "SPV_EXT_shader_stencil_export" => Extension(&[ash::ext::shader_stencil_export::NAME]),
        "SPV_EXT_fragment_fully_covered" => {
            Extension(&[ash::ext::conservative_rasterization::NAME])
        }
        "SPV_KHR_non_semantic_info" => Version(3, &[ash::khr::shader_non_semantic_info::NAME]),
        "SPV_KHR_terminate_invocation" => Feature(&[F::ShaderTerminateInvocation]),
        "SPV_EXT_demote_to_helper_invocation" => Feature(&[F::ShaderDemoteToHelperInvocation]),
        "SPV_KHR_integer_dot_product" => Feature(&[F::ShaderIntegerDotProduct]),
        "SPV_KHR_workgroup_memory_explicit_layout" => Feature(&[F::WorkgroupMemoryExplicitLayout]),
        "SPV_KHR_subgroup_uniform_control_flow" => Feature(&[F::ShaderSubgroupUniformControlFlow]),
        "SPV_KHR_maximal_reconvergence" => Feature(&[F::ShaderMaximalReconvergence]),
        "SPV_KHR_subgroup_rotate" => Feature(&[F::ShaderSubgroupRotate]),
        "SPV_KHR_expect_assume" => Feature(&[F::ShaderExpectAssume]),
        "SPV_KHR_float_controls2" => Feature(&[F::ShaderFloatControls2]),
        "SPV_KHR_quad_control" => Feature(&[F::ShaderQuadControl]),
        "SPV_KHR_cooperative_matrix" => Feature(&[F::CooperativeMatrix]),
        "SPV_KHR_shader_clock" => Feature(&[F::ShaderSubgroupClock, F::ShaderDeviceClock]),
        "SPV_KHR_fragment_shader_barycentric" => Feature(&[F::FragmentShaderBarycentric]),
        "SPV_KHR_fragment_shading_rate" => Extension(&[ash::khr::fragment_shading_rate::NAME]),
        "SPV_KHR_ray_tracing" => Feature(&[F::RayTracingPipeline]),
        "SPV_KHR_ray_query" => Feature(&[F::RayQuery]),
        "SPV_KHR_ray_cull_mask" => Feature(&[F::RayTracingMaintenance1]),
        "SPV_KHR_ray_tracing_position_fetch" => Feature(&[F::RayTracingPositionFetch]),
        "SPV_EXT_mesh_shader" => Feature(&[F::MeshShader]),
        "SPV_EXT_shader_atomic_float_add"
        | "SPV_EXT_shader_atomic_float16_add"
        | "SPV_EXT_shader_atomic_float_min_max" => Extension(&[
            ash::ext::shader_atomic_float::NAME,
            ash::ext::shader_atomic_float2::NAME,
        ]),
        "SPV_EXT_shader_image_int64" => Feature(&[F::ShaderImageInt64Atomics]),
        "SPV_EXT_fragment_shader_interlock" => {
            Extension(&[ash::ext::fragment_shader_interlock::NAME])
        }
        "SPV_GOOGLE_hlsl_functionality1" => Extension(&[ash::google::hlsl_functionality1::NAME]),
        "SPV_GOOGLE_decorate_string" => Extension(&[ash::google::decorate_string::NAME]),
        "SPV_GOOGLE_user_type" => Extension(&[ash::google::user_type::NAME]),
        "SPV_AMD_gcn_shader" => Extension(&[ash::amd::gcn_shader::NAME]),
        "SPV_AMD_shader_ballot" => Extension(&[ash::amd::shader_ballot::NAME]),
        "SPV_AMD_shader_trinary_minmax" => Extension(&[ash::amd::shader_trinary_minmax::NAME]),
        "SPV_AMD_shader_explicit_vertex_parameter" => {
            Extension(&[ash::amd::shader_explicit_vertex_parameter::NAME])
        }
        "SPV_AMD_shader_fragment_mask" => Extension(&[ash::amd::shader_fragment_mask::NAME]),
        "SPV_AMD_shader_image_load_store_lod" => {
            Extension(&[ash::amd::shader_image_load_store_lod::NAME])
        }
        "SPV_AMD_texture_gather_bias_lod" => Extension(&[ash::amd::texture_gather_bias_lod::NAME]),
        "SPV_INTEL_shader_integer_functions2" => Feature(&[F::ShaderIntegerFunctions2]),
        "SPV_NV_compute_shader_derivatives" => {
            Extension(&[ash::nv::compute_shader_derivatives::NAME])
        }
        "SPV_NV_shader_subgroup_partitioned" => {
            Extension(&[ash::nv::shader_subgroup_partitioned::NAME])
        }
        "SPV_NV_geometry_shader_passthrough" => {
            Extension(&[ash::nv::geometry_shader_passthrough::NAME])
        }
        _ => return None,
    })
}
