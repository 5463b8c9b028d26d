//! Samplers, descriptor set layouts and pipeline layouts.

use crate::codec::{Float, records};
use ash::vk;
use std::sync::Arc;

records! {
    /// `VkSamplerYcbcrConversionCreateInfo`.
    #[derive(Default)]
    pub struct YcbcrConversion {
        /// Format of the image.
        pub format: vk::Format,
        /// Colour model.
        pub model: vk::SamplerYcbcrModelConversion,
        /// Range of the encoded values.
        pub range: vk::SamplerYcbcrRange,
        /// Swizzles of r, g, b, a.
        pub components: [vk::ComponentSwizzle; 4],
        /// Where chroma samples lie, horizontally.
        pub x_chroma_offset: vk::ChromaLocation,
        /// Where chroma samples lie, vertically.
        pub y_chroma_offset: vk::ChromaLocation,
        /// Filter for chroma.
        pub chroma_filter: vk::Filter,
        /// Whether reconstruction is done explicitly.
        pub force_explicit_reconstruction: bool,
    }

    /// `VkSamplerCustomBorderColorCreateInfoEXT`.
    #[derive(Default)]
    pub struct CustomBorderColor {
        /// The four components' bits, whether they are floats or integers.
        pub color: [u32; 4],
        /// Format of the images sampled, `UNDEFINED` where the device can do without.
        pub format: vk::Format,
    }

    /// `VkSamplerBorderColorComponentMappingCreateInfoEXT`.
    #[derive(Default)]
    pub struct BorderColorMapping {
        /// Swizzles of r, g, b, a.
        pub components: [vk::ComponentSwizzle; 4],
        /// Whether the border colour is encoded as sRGB.
        pub srgb: bool,
    }

    /// `VkSamplerCreateInfo`.
    #[derive(Default)]
    pub struct SamplerRecipe {
        /// Creation flags.
        pub flags: vk::SamplerCreateFlags,
        /// Magnification filter.
        pub mag_filter: vk::Filter,
        /// Minification filter.
        pub min_filter: vk::Filter,
        /// Mip level filter.
        pub mipmap_mode: vk::SamplerMipmapMode,
        /// Addressing outside of 0 to 1 along u.
        pub address_mode_u: vk::SamplerAddressMode,
        /// Addressing along v.
        pub address_mode_v: vk::SamplerAddressMode,
        /// Addressing along w.
        pub address_mode_w: vk::SamplerAddressMode,
        /// Added to the level of detail.
        pub mip_lod_bias: Float,
        /// Whether filtering is anisotropic.
        pub anisotropy_enable: bool,
        /// Largest anisotropy.
        pub max_anisotropy: Float,
        /// Whether the sampler compares.
        pub compare_enable: bool,
        /// How it compares.
        pub compare_op: vk::CompareOp,
        /// Lower bound of the level of detail.
        pub min_lod: Float,
        /// Upper bound of the level of detail.
        pub max_lod: Float,
        /// Border colour.
        pub border_color: vk::BorderColor,
        /// Whether coordinates are texels.
        pub unnormalized_coordinates: bool,
        /// Chained custom border colour.
        pub custom_border_color: Option<CustomBorderColor>,
        /// Chained border colour mapping.
        pub border_color_mapping: Option<BorderColorMapping>,
        /// Chained reduction mode; `WEIGHTED_AVERAGE` where none is chained.
        pub reduction_mode: vk::SamplerReductionMode,
        /// Chained YCbCr conversion.
        pub ycbcr_conversion: Option<Arc<YcbcrConversion>>,
    }

    /// `VkDescriptorSetLayoutBinding`, with what chained structs say of this binding.
    #[derive(Default)]
    pub struct SetBinding {
        /// Binding number.
        pub binding: u32,
        /// Type of the descriptors.
        pub descriptor_type: vk::DescriptorType,
        /// Number of descriptors (bytes for an inline uniform block).
        pub descriptor_count: u32,
        /// Stages that see it.
        pub stage_flags: vk::ShaderStageFlags,
        /// Immutable samplers: none, or `descriptor_count`.
        pub immutable_samplers: Vec<Arc<SamplerRecipe>>,
        /// `VkDescriptorSetLayoutBindingFlagsCreateInfo`; empty where none is chained.
        pub flags: vk::DescriptorBindingFlags,
        /// `VkMutableDescriptorTypeListEXT`; empty where none is chained.
        pub mutable_types: Vec<vk::DescriptorType>,
    }

    /// `VkDescriptorSetLayoutCreateInfo`.
    #[derive(Default)]
    pub struct SetLayoutRecipe {
        /// Creation flags.
        pub flags: vk::DescriptorSetLayoutCreateFlags,
        /// The bindings.
        pub bindings: Vec<SetBinding>,
    }

    /// `VkPushConstantRange`.
    #[derive(Default, PartialOrd, Ord)]
    pub struct PushConstantRange {
        /// Stages that see it.
        pub stage_flags: vk::ShaderStageFlags,
        /// First byte.
        pub offset: u32,
        /// Number of bytes.
        pub size: u32,
    }

    /// `VkPipelineLayoutCreateInfo`.
    #[derive(Default)]
    pub struct PipelineLayoutRecipe {
        /// Creation flags.
        pub flags: vk::PipelineLayoutCreateFlags,
        /// Set layouts by set number; none where the set is left to another library.
        pub set_layouts: Vec<Option<Arc<SetLayoutRecipe>>>,
        /// Push constant ranges.
        pub push_constant_ranges: Vec<PushConstantRange>,
    }
}
