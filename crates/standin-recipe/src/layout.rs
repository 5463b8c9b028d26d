//! Samplers, descriptor set layouts and pipeline layouts.

use crate::codec::{Float, records};
use ash::vk;
use std::sync::Arc;

records! {
    /// A sampler (Vulkan specification, VkSamplerCreateInfo).
    pub struct Sampler {
        /// Creation flags, without descriptor-buffer capture and replay.
        pub flags: vk::SamplerCreateFlags,
        /// Magnification filter.
        pub mag_filter: vk::Filter,
        /// Minification filter.
        pub min_filter: vk::Filter,
        /// Filter between mip levels.
        pub mipmap_mode: vk::SamplerMipmapMode,
        /// Addressing in U, V and W.
        pub address_modes: [vk::SamplerAddressMode; 3],
        /// Added to the level of detail.
        pub mip_lod_bias: Float,
        /// Whether anisotropic filtering is on.
        pub anisotropy_enable: bool,
        /// Its clamp.
        pub max_anisotropy: Float,
        /// Whether results are compared with a reference.
        pub compare_enable: bool,
        /// The comparison.
        pub compare_op: vk::CompareOp,
        /// Least level of detail.
        pub min_lod: Float,
        /// Greatest level of detail.
        pub max_lod: Float,
        /// The border colour.
        pub border_color: vk::BorderColor,
        /// Whether coordinates are in texels.
        pub unnormalized_coordinates: bool,
        /// VkSamplerReductionModeCreateInfo.
        pub reduction_mode: Option<vk::SamplerReductionMode>,
        /// VkSamplerCustomBorderColorCreateInfoEXT.
        pub custom_border_color: Option<CustomBorderColor>,
        /// VkSamplerBorderColorComponentMappingCreateInfoEXT.
        pub border_color_mapping: Option<BorderColorMapping>,
        /// The conversion of VkSamplerYcbcrConversionInfo, by value.
        pub ycbcr_conversion: Option<YcbcrConversion>,
    }

    /// A border colour that is not one of the fixed ones.
    pub struct CustomBorderColor {
        /// The colour's bits, as floats or integers.
        pub color: [u32; 4],
        /// The format it is read with.
        pub format: vk::Format,
    }

    /// How a border colour's components are arranged.
    pub struct BorderColorMapping {
        /// Swizzles of R, G, B and A.
        pub components: [vk::ComponentSwizzle; 4],
        /// Whether the colour is in sRGB.
        pub srgb: bool,
    }

    /// A YCbCr conversion (VkSamplerYcbcrConversionCreateInfo).
    pub struct YcbcrConversion {
        /// Format of the image.
        pub format: vk::Format,
        /// The colour model.
        pub model: vk::SamplerYcbcrModelConversion,
        /// The encoded range.
        pub range: vk::SamplerYcbcrRange,
        /// Swizzles of R, G, B and A.
        pub components: [vk::ComponentSwizzle; 4],
        /// Where chroma samples lie in X and in Y.
        pub chroma_offsets: [vk::ChromaLocation; 2],
        /// The filter for chroma.
        pub chroma_filter: vk::Filter,
        /// Whether chroma is reconstructed explicitly.
        pub force_explicit_reconstruction: bool,
    }

    /// A descriptor set layout.
    pub struct SetLayout {
        /// Creation flags.
        pub flags: vk::DescriptorSetLayoutCreateFlags,
        /// The bindings, in the order they were given.
        pub bindings: Vec<Binding>,
        /// Whether VkDescriptorSetLayoutBindingFlagsCreateInfo was given with flags for each
        /// binding; without it every binding's flags are empty.
        pub has_binding_flags: bool,
    }

    /// One binding of a set.
    pub struct Binding {
        /// Its number.
        pub binding: u32,
        /// What is bound there.
        pub descriptor_type: vk::DescriptorType,
        /// How many; for inline uniform blocks, how many bytes.
        pub count: u32,
        /// The stages that see it.
        pub stages: vk::ShaderStageFlags,
        /// The immutable samplers: none, or one for each descriptor.
        pub immutable_samplers: Vec<Arc<Sampler>>,
        /// Its binding flags.
        pub flags: vk::DescriptorBindingFlags,
        /// The types that a mutable descriptor can take (VkMutableDescriptorTypeListEXT).
        pub mutable_types: Vec<vk::DescriptorType>,
    }

    /// A range of push constants.
    pub struct PushConstants {
        /// The stages that see it.
        pub stages: vk::ShaderStageFlags,
        /// First byte.
        pub offset: u32,
        /// Length in bytes.
        pub size: u32,
    }

    /// A pipeline layout.
    pub struct PipelineLayout {
        /// Creation flags.
        pub flags: vk::PipelineLayoutCreateFlags,
        /// The sets; none where another part of a pipeline library brings the set.
        pub sets: Vec<Option<Arc<SetLayout>>>,
        /// The push-constant ranges.
        pub push_constants: Vec<PushConstants>,
    }
}
