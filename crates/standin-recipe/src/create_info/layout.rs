//! Create-infos of modules, samplers and layouts.

use super::{Arena, Chain, chain, count};
use crate::layout::{PipelineLayoutRecipe, SamplerRecipe, SetLayoutRecipe, YcbcrConversion};
use crate::module::Module;
use ash::vk;
use std::ptr;

/// The create-info of a shader module.
pub fn module_create_info(module: &Module) -> vk::ShaderModuleCreateInfo<'_> {
    vk::ShaderModuleCreateInfo::default()
        .flags(module.flags())
        .code(module.code())
}

/// The create-info of a YCbCr conversion.
pub fn ycbcr_create_info(
    conversion: &YcbcrConversion,
) -> vk::SamplerYcbcrConversionCreateInfo<'static> {
    vk::SamplerYcbcrConversionCreateInfo::default()
        .format(conversion.format)
        .ycbcr_model(conversion.model)
        .ycbcr_range(conversion.range)
        .components(component_mapping(conversion.components))
        .x_chroma_offset(conversion.x_chroma_offset)
        .y_chroma_offset(conversion.y_chroma_offset)
        .chroma_filter(conversion.chroma_filter)
        .force_explicit_reconstruction(conversion.force_explicit_reconstruction)
}

fn component_mapping([r, g, b, a]: [vk::ComponentSwizzle; 4]) -> vk::ComponentMapping {
    vk::ComponentMapping { r, g, b, a }
}

/// A sampler's create-info.
#[derive(Debug)]
pub struct SamplerCreateInfo {
    _arena: Arena,
    info: vk::SamplerCreateInfo<'static>,
}

impl SamplerCreateInfo {
    /// The create-info of this sampler; `conversion` is the object of its YCbCr conversion, null
    /// where it has none.
    #[must_use]
    pub fn new(recipe: &SamplerRecipe, conversion: vk::SamplerYcbcrConversion) -> Self {
        let mut arena = Arena::default();
        let mut next: Chain = ptr::null();
        if let Some(custom) = &recipe.custom_border_color {
            chain!(
                arena,
                next,
                vk::SamplerCustomBorderColorCreateInfoEXT::default()
                    .custom_border_color(vk::ClearColorValue {
                        uint32: custom.color
                    })
                    .format(custom.format)
            );
        }
        if let Some(mapping) = &recipe.border_color_mapping {
            chain!(
                arena,
                next,
                vk::SamplerBorderColorComponentMappingCreateInfoEXT::default()
                    .components(component_mapping(mapping.components))
                    .srgb(mapping.srgb)
            );
        }
        if recipe.reduction_mode != vk::SamplerReductionMode::WEIGHTED_AVERAGE {
            chain!(
                arena,
                next,
                vk::SamplerReductionModeCreateInfo::default().reduction_mode(recipe.reduction_mode)
            );
        }
        if recipe.ycbcr_conversion.is_some() {
            chain!(
                arena,
                next,
                vk::SamplerYcbcrConversionInfo::default().conversion(conversion)
            );
        }
        let mut info = vk::SamplerCreateInfo::default()
            .flags(recipe.flags)
            .mag_filter(recipe.mag_filter)
            .min_filter(recipe.min_filter)
            .mipmap_mode(recipe.mipmap_mode)
            .address_mode_u(recipe.address_mode_u)
            .address_mode_v(recipe.address_mode_v)
            .address_mode_w(recipe.address_mode_w)
            .mip_lod_bias(recipe.mip_lod_bias.get())
            .anisotropy_enable(recipe.anisotropy_enable)
            .max_anisotropy(recipe.max_anisotropy.get())
            .compare_enable(recipe.compare_enable)
            .compare_op(recipe.compare_op)
            .min_lod(recipe.min_lod.get())
            .max_lod(recipe.max_lod.get())
            .border_color(recipe.border_color)
            .unnormalized_coordinates(recipe.unnormalized_coordinates);
        info.p_next = next;
        Self {
            _arena: arena,
            info,
        }
    }

    /// The create-info.
    pub fn info(&self) -> vk::SamplerCreateInfo<'_> {
        self.info
    }
}

/// A descriptor set layout's create-info.
#[derive(Debug)]
pub struct SetLayoutCreateInfo {
    _arena: Arena,
    info: vk::DescriptorSetLayoutCreateInfo<'static>,
}

impl SetLayoutCreateInfo {
    /// The create-info of this set layout. `sampler` is asked for the object of each immutable
    /// sampler, in order.
    #[must_use]
    pub fn new(
        recipe: &SetLayoutRecipe,
        mut sampler: impl FnMut(&SamplerRecipe) -> vk::Sampler,
    ) -> Self {
        let mut arena = Arena::default();
        let mut next: Chain = ptr::null();
        let mut bindings = Vec::with_capacity(recipe.bindings.len());
        for binding in &recipe.bindings {
            let mut samplers: Vec<vk::Sampler> = binding
                .immutable_samplers
                .iter()
                .map(|recipe| sampler(recipe))
                .collect();
            if !samplers.is_empty() {
                // The driver reads as many as the binding has descriptors.
                let length = usize::try_from(binding.descriptor_count).unwrap_or(usize::MAX);
                samplers.resize(length, vk::Sampler::null());
            }
            bindings.push(vk::DescriptorSetLayoutBinding {
                binding: binding.binding,
                descriptor_type: binding.descriptor_type,
                descriptor_count: binding.descriptor_count,
                stage_flags: binding.stage_flags,
                p_immutable_samplers: arena.keep_all(samplers),
                ..Default::default()
            });
        }
        let flags: Vec<_> = recipe
            .bindings
            .iter()
            .map(|binding| binding.flags)
            .collect();
        if flags.iter().any(|flags| !flags.is_empty()) {
            chain!(
                arena,
                next,
                vk::DescriptorSetLayoutBindingFlagsCreateInfo {
                    binding_count: count(&flags),
                    p_binding_flags: arena.keep_all(flags),
                    ..Default::default()
                }
            );
        }
        let is_mutable = |types: &Vec<vk::DescriptorType>| !types.is_empty();
        if recipe
            .bindings
            .iter()
            .any(|binding| is_mutable(&binding.mutable_types))
        {
            let lists: Vec<vk::MutableDescriptorTypeListEXT<'static>> = recipe
                .bindings
                .iter()
                .map(|binding| vk::MutableDescriptorTypeListEXT {
                    descriptor_type_count: count(&binding.mutable_types),
                    p_descriptor_types: arena.keep_all(binding.mutable_types.clone()),
                    ..Default::default()
                })
                .collect();
            chain!(
                arena,
                next,
                vk::MutableDescriptorTypeCreateInfoEXT {
                    mutable_descriptor_type_list_count: count(&lists),
                    p_mutable_descriptor_type_lists: arena.keep_all(lists),
                    ..Default::default()
                }
            );
        }
        let info = vk::DescriptorSetLayoutCreateInfo {
            p_next: next,
            flags: recipe.flags,
            binding_count: count(&bindings),
            p_bindings: arena.keep_all(bindings),
            ..Default::default()
        };
        Self {
            _arena: arena,
            info,
        }
    }

    /// The create-info.
    pub fn info(&self) -> vk::DescriptorSetLayoutCreateInfo<'_> {
        self.info
    }
}

/// A pipeline layout's create-info.
#[derive(Debug)]
pub struct PipelineLayoutCreateInfo {
    _arena: Arena,
    info: vk::PipelineLayoutCreateInfo<'static>,
}

impl PipelineLayoutCreateInfo {
    /// The create-info of this layout. `set_layout` is asked for the object of each set layout,
    /// in order.
    #[must_use]
    pub fn new(
        recipe: &PipelineLayoutRecipe,
        mut set_layout: impl FnMut(&SetLayoutRecipe) -> vk::DescriptorSetLayout,
    ) -> Self {
        let mut arena = Arena::default();
        let sets: Vec<vk::DescriptorSetLayout> = recipe
            .set_layouts
            .iter()
            .map(|set| set.as_ref().map(|set| set_layout(set)).unwrap_or_default())
            .collect();
        let ranges: Vec<vk::PushConstantRange> = recipe
            .push_constant_ranges
            .iter()
            .map(|range| vk::PushConstantRange {
                stage_flags: range.stage_flags,
                offset: range.offset,
                size: range.size,
            })
            .collect();
        let info = vk::PipelineLayoutCreateInfo {
            flags: recipe.flags,
            set_layout_count: count(&sets),
            p_set_layouts: arena.keep_all(sets),
            push_constant_range_count: count(&ranges),
            p_push_constant_ranges: arena.keep_all(ranges),
            ..Default::default()
        };
        Self {
            _arena: arena,
            info,
        }
    }

    /// The create-info.
    pub fn info(&self) -> vk::PipelineLayoutCreateInfo<'_> {
        self.info
    }
}
