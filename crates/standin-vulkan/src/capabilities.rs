//! What a physical device is and what it can do, asked once and owned.

use crate::extensions::{self, Extensions};
use crate::features::{Feature, Features, Structures};
use crate::instance::Instance;
use ash::vk;
use std::ffi::CStr;

/// The kind of a device. In the order in which an unnamed device is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A GPU in a virtual machine.
    VirtualGpu,
    /// Something else that is no CPU.
    Other,
    /// The host's processor.
    Cpu,
}

impl DeviceKind {
    fn from_raw(raw: vk::PhysicalDeviceType) -> Self {
        match raw {
            vk::PhysicalDeviceType::DISCRETE_GPU => Self::DiscreteGpu,
            vk::PhysicalDeviceType::INTEGRATED_GPU => Self::IntegratedGpu,
            vk::PhysicalDeviceType::VIRTUAL_GPU => Self::VirtualGpu,
            vk::PhysicalDeviceType::CPU => Self::Cpu,
            _ => Self::Other,
        }
    }

    /// The kind with this name, as [`Display`](std::fmt::Display) writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::DiscreteGpu,
            Self::IntegratedGpu,
            Self::VirtualGpu,
            Self::Other,
            Self::Cpu,
        ]
        .into_iter()
        .find(|kind| kind.to_string() == text)
    }
}

impl std::fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::DiscreteGpu => "discrete-gpu",
            Self::IntegratedGpu => "integrated-gpu",
            Self::VirtualGpu => "virtual-gpu",
            Self::Other => "other",
            Self::Cpu => "cpu",
        })
    }
}

/// Which device and driver this is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Identity {
    /// The device's name.
    pub name: String,
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// The vendor's id.
    pub vendor_id: u32,
    /// The device's id.
    pub device_id: u32,
    /// The device's API version, capped to the instance's.
    pub api_version: u32,
    /// The driver's version, in the vendor's own encoding.
    pub driver_version: u32,
    /// `VkDriverId`.
    pub driver_id: i32,
    /// The driver's name.
    pub driver_name: String,
    /// The driver's version text.
    pub driver_info: String,
    /// `VkPhysicalDeviceIDProperties::driverUUID`.
    pub driver_uuid: [u8; 16],
    /// `VkPhysicalDeviceIDProperties::deviceUUID`.
    pub device_uuid: [u8; 16],
    /// `VkPhysicalDeviceProperties::pipelineCacheUUID`.
    pub pipeline_cache_uuid: [u8; 16],
}

/// `VkDriverId` of NVIDIA's own driver.
pub const DRIVER_ID_NVIDIA: i32 = vk::DriverId::NVIDIA_PROPRIETARY.as_raw();

/// What the device says of `VK_EXT_graphics_pipeline_library`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct LibraryProperties {
    /// Linking without optimisation costs about as much as a command.
    pub fast_linking: bool,
    /// Interpolation decorations may differ between the stages of two libraries.
    pub independent_interpolation: bool,
}

/// The subgroup sizes that a device takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubgroupProperties {
    /// The default size, in invocations.
    pub size: u32,
    /// The smallest size that may be required.
    pub min_size: u32,
    /// The largest size that may be required.
    pub max_size: u32,
    /// The most subgroups in a workgroup.
    pub max_compute_subgroups: u32,
    /// The stages in which a size may be required.
    pub required_size_stages: vk::ShaderStageFlags,
    /// The stages that have subgroup operations.
    pub stages: vk::ShaderStageFlags,
    /// The operations they have.
    pub operations: vk::SubgroupFeatureFlags,
}

/// Float controls that a shader may ask for, in at least one width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FloatControls {
    /// Denormals are kept.
    pub denorm_preserve: bool,
    /// Denormals are flushed.
    pub denorm_flush_to_zero: bool,
    /// The sign of zero, infinities and NaNs are kept.
    pub signed_zero_inf_nan_preserve: bool,
    /// Rounding to the nearest even.
    pub rounding_mode_rte: bool,
    /// Rounding to zero.
    pub rounding_mode_rtz: bool,
}

/// What the device says of `VK_KHR_pipeline_binary`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct BinaryProperties {
    /// The driver has a cache of its own.
    pub internal_cache: bool,
    /// That cache can be switched off.
    pub internal_cache_control: bool,
    /// The driver would rather be asked for its own copy than be given ours.
    pub prefers_internal_cache: bool,
    /// The data are compressed already.
    pub compressed_data: bool,
}

/// What a physical device is and can do.
#[derive(Debug, Clone)]
pub struct Capabilities {
    /// Which device and driver this is.
    pub identity: Identity,
    /// Every extension it lists.
    pub extensions: Extensions,
    /// Every known feature that it has and whose extension or version is there.
    pub features: Features,
    /// `VkPhysicalDeviceLimits`.
    pub limits: vk::PhysicalDeviceLimits,
    /// Subgroup sizes and operations.
    pub subgroup: SubgroupProperties,
    /// Graphics pipeline libraries, if the feature is there.
    pub library: Option<LibraryProperties>,
    /// Pipeline binaries, if the extension and the feature are there.
    pub pipeline_binary: Option<BinaryProperties>,
    /// The largest divisor of a vertex binding; 0 without the feature.
    pub max_vertex_attrib_divisor: u32,
    /// The most views of a multiview render pass.
    pub max_multiview_view_count: u32,
    /// The most transform feedback streams; 0 without the feature.
    pub max_transform_feedback_streams: u32,
    /// The most push descriptors in a set; 0 without the extension.
    pub max_push_descriptors: u32,
    /// The sample counts that custom sample locations may be used with.
    pub sample_location_counts: vk::SampleCountFlags,
    /// Float controls.
    pub float_controls: FloatControls,
    /// How depth can be resolved.
    pub depth_resolve_modes: vk::ResolveModeFlags,
    /// How stencil can be resolved.
    pub stencil_resolve_modes: vk::ResolveModeFlags,
    /// Whether depth may lie outside of 0 and 1.
    pub unrestricted_depth: bool,
}

/// The feature and the properties structure of `VK_KHR_pipeline_binary`.
#[repr(C)]
pub(crate) struct PipelineBinaryFeatures {
    s_type: vk::StructureType,
    pub(crate) p_next: *mut std::ffi::c_void,
    pub(crate) pipeline_binaries: vk::Bool32,
}

impl PipelineBinaryFeatures {
    pub(crate) fn new(pipeline_binaries: bool) -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_483_000),
            p_next: std::ptr::null_mut(),
            pipeline_binaries: vk::Bool32::from(pipeline_binaries),
        }
    }
}

#[repr(C)]
struct PipelineBinaryProperties {
    s_type: vk::StructureType,
    p_next: *mut std::ffi::c_void,
    internal_cache: vk::Bool32,
    internal_cache_control: vk::Bool32,
    prefers_internal_cache: vk::Bool32,
    precompiled_internal_cache: vk::Bool32,
    compressed_data: vk::Bool32,
}

impl PipelineBinaryProperties {
    fn new() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_483_004),
            p_next: std::ptr::null_mut(),
            internal_cache: 0,
            internal_cache_control: 0,
            prefers_internal_cache: 0,
            precompiled_internal_cache: 0,
            compressed_data: 0,
        }
    }
}

impl Capabilities {
    pub(crate) fn query(
        instance: &Instance,
        device: vk::PhysicalDevice,
    ) -> Result<Self, vk::Result> {
        let raw = instance.raw();
        // SAFETY: queries of a device that this instance listed.
        let (listed, plain) = unsafe {
            (
                raw.enumerate_device_extension_properties(device)?,
                raw.get_physical_device_properties(device),
            )
        };
        let extensions = Extensions::from_properties(&listed);
        let api_version = plain.api_version.min(instance.api_version());
        if api_version < vk::API_VERSION_1_1 {
            return Ok(Self::version_1_0(&plain, extensions, api_version));
        }

        let has_binary = extensions.has(extensions::PIPELINE_BINARY);
        let mut structures = Structures::known(api_version, &extensions);
        let mut binary_features = PipelineBinaryFeatures::new(false);
        let tail = if has_binary {
            std::ptr::from_mut(&mut binary_features).cast()
        } else {
            std::ptr::null_mut()
        };
        structures.linked(tail, |head| {
            // SAFETY: the chain holds only structures that the device knows, see `known`.
            unsafe { raw.get_physical_device_features2(device, head) };
        });
        let mut features = structures.read();
        if api_version >= vk::API_VERSION_1_3 {
            // Core since 1.3, with the extension or without it.
            features.set(Feature::ExtendedDynamicState, true);
            features.set(Feature::ExtendedDynamicState2, true);
        }

        let mut id = vk::PhysicalDeviceIDProperties::default();
        let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
        let mut multiview = vk::PhysicalDeviceMultiviewProperties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut library = vk::PhysicalDeviceGraphicsPipelineLibraryPropertiesEXT::default();
        // The KHR structure has another sType; an EXT-only device must be given the EXT one.
        let mut divisor = vk::PhysicalDeviceVertexAttributeDivisorPropertiesEXT::default();
        let mut divisor_khr = vk::PhysicalDeviceVertexAttributeDivisorPropertiesKHR::default();
        let mut feedback = vk::PhysicalDeviceTransformFeedbackPropertiesEXT::default();
        let mut push = vk::PhysicalDevicePushDescriptorPropertiesKHR::default();
        let mut locations = vk::PhysicalDeviceSampleLocationsPropertiesEXT::default();
        let mut floats = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut resolve = vk::PhysicalDeviceDepthStencilResolveProperties::default();
        let mut binary = PipelineBinaryProperties::new();
        let mut properties = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut id)
            .push_next(&mut subgroup)
            .push_next(&mut multiview);
        let core = |minor: u32| vk::api_version_minor(api_version) >= minor;
        if core(2) || extensions.has(ash::khr::driver_properties::NAME) {
            properties = properties.push_next(&mut driver);
        }
        if core(2) {
            properties = properties.push_next(&mut floats).push_next(&mut resolve);
        }
        if core(3) || extensions.has(ash::ext::subgroup_size_control::NAME) {
            properties = properties.push_next(&mut sizes);
        }
        if extensions.has(ash::ext::graphics_pipeline_library::NAME) {
            properties = properties.push_next(&mut library);
        }
        if extensions.has(ash::khr::vertex_attribute_divisor::NAME) {
            properties = properties.push_next(&mut divisor_khr);
        } else if extensions.has(ash::ext::vertex_attribute_divisor::NAME) {
            properties = properties.push_next(&mut divisor);
        }
        if extensions.has(ash::ext::transform_feedback::NAME) {
            properties = properties.push_next(&mut feedback);
        }
        if extensions.has(ash::khr::push_descriptor::NAME) {
            properties = properties.push_next(&mut push);
        }
        if extensions.has(ash::ext::sample_locations::NAME) {
            properties = properties.push_next(&mut locations);
        }
        if has_binary {
            binary.p_next = properties.p_next;
            properties.p_next = std::ptr::from_mut(&mut binary).cast();
        }
        // SAFETY: the chain holds only structures that the device knows.
        unsafe { raw.get_physical_device_properties2(device, &mut properties) };

        let identity = Identity {
            name: text(&plain.device_name),
            kind: DeviceKind::from_raw(plain.device_type),
            vendor_id: plain.vendor_id,
            device_id: plain.device_id,
            api_version,
            driver_version: plain.driver_version,
            driver_id: driver.driver_id.as_raw(),
            driver_name: text(&driver.driver_name),
            driver_info: text(&driver.driver_info),
            driver_uuid: id.driver_uuid,
            device_uuid: id.device_uuid,
            pipeline_cache_uuid: plain.pipeline_cache_uuid,
        };
        let yes = |value: vk::Bool32| value == vk::TRUE;
        Ok(Self {
            library: features
                .has(Feature::GraphicsPipelineLibrary)
                .then_some(LibraryProperties {
                    fast_linking: yes(library.graphics_pipeline_library_fast_linking),
                    independent_interpolation: yes(
                        library.graphics_pipeline_library_independent_interpolation_decoration
                    ),
                }),
            pipeline_binary: (has_binary
                && yes(binary_features.pipeline_binaries)
                && features.has(Feature::Maintenance5))
            .then_some(BinaryProperties {
                internal_cache: yes(binary.internal_cache),
                internal_cache_control: yes(binary.internal_cache_control),
                prefers_internal_cache: yes(binary.prefers_internal_cache),
                compressed_data: yes(binary.compressed_data),
            }),
            subgroup: SubgroupProperties {
                size: subgroup.subgroup_size,
                min_size: sizes.min_subgroup_size,
                max_size: sizes.max_subgroup_size,
                max_compute_subgroups: sizes.max_compute_workgroup_subgroups,
                required_size_stages: sizes.required_subgroup_size_stages,
                stages: subgroup.supported_stages,
                operations: subgroup.supported_operations,
            },
            max_vertex_attrib_divisor: divisor
                .max_vertex_attrib_divisor
                .max(divisor_khr.max_vertex_attrib_divisor),
            max_multiview_view_count: multiview.max_multiview_view_count,
            max_transform_feedback_streams: feedback.max_transform_feedback_streams,
            max_push_descriptors: push.max_push_descriptors,
            sample_location_counts: locations.sample_location_sample_counts,
            float_controls: FloatControls {
                denorm_preserve: yes(floats.shader_denorm_preserve_float16
                    | floats.shader_denorm_preserve_float32
                    | floats.shader_denorm_preserve_float64),
                denorm_flush_to_zero: yes(floats.shader_denorm_flush_to_zero_float16
                    | floats.shader_denorm_flush_to_zero_float32
                    | floats.shader_denorm_flush_to_zero_float64),
                signed_zero_inf_nan_preserve: yes(floats
                    .shader_signed_zero_inf_nan_preserve_float16
                    | floats.shader_signed_zero_inf_nan_preserve_float32
                    | floats.shader_signed_zero_inf_nan_preserve_float64),
                rounding_mode_rte: yes(floats.shader_rounding_mode_rte_float16
                    | floats.shader_rounding_mode_rte_float32
                    | floats.shader_rounding_mode_rte_float64),
                rounding_mode_rtz: yes(floats.shader_rounding_mode_rtz_float16
                    | floats.shader_rounding_mode_rtz_float32
                    | floats.shader_rounding_mode_rtz_float64),
            },
            depth_resolve_modes: resolve.supported_depth_resolve_modes,
            stencil_resolve_modes: resolve.supported_stencil_resolve_modes,
            unrestricted_depth: extensions.has(ash::ext::depth_range_unrestricted::NAME),
            limits: plain.limits,
            identity,
            extensions,
            features,
        })
    }

    /// A device from before `vkGetPhysicalDeviceProperties2`: it is listed, and not used.
    fn version_1_0(
        plain: &vk::PhysicalDeviceProperties,
        extensions: Extensions,
        api_version: u32,
    ) -> Self {
        Self {
            identity: Identity {
                name: text(&plain.device_name),
                kind: DeviceKind::from_raw(plain.device_type),
                vendor_id: plain.vendor_id,
                device_id: plain.device_id,
                api_version,
                driver_version: plain.driver_version,
                driver_id: 0,
                driver_name: String::new(),
                driver_info: String::new(),
                driver_uuid: [0; 16],
                device_uuid: [0; 16],
                pipeline_cache_uuid: plain.pipeline_cache_uuid,
            },
            extensions,
            features: Features::default(),
            limits: plain.limits,
            subgroup: SubgroupProperties {
                size: 1,
                min_size: 0,
                max_size: 0,
                max_compute_subgroups: 0,
                required_size_stages: vk::ShaderStageFlags::empty(),
                stages: vk::ShaderStageFlags::empty(),
                operations: vk::SubgroupFeatureFlags::empty(),
            },
            library: None,
            pipeline_binary: None,
            max_vertex_attrib_divisor: 0,
            max_multiview_view_count: 0,
            max_transform_feedback_streams: 0,
            max_push_descriptors: 0,
            sample_location_counts: vk::SampleCountFlags::empty(),
            float_controls: FloatControls::default(),
            depth_resolve_modes: vk::ResolveModeFlags::empty(),
            stencil_resolve_modes: vk::ResolveModeFlags::empty(),
            unrestricted_depth: false,
        }
    }
}

fn text(raw: &[std::ffi::c_char]) -> String {
    // The driver's bytes, up to the first zero; c_char is signed on some targets only.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let bytes: Vec<u8> = raw.iter().map(|&c| c as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map_or_else(
        |_| String::from_utf8_lossy(&bytes).into_owned(),
        |text| text.to_string_lossy().into_owned(),
    )
}
