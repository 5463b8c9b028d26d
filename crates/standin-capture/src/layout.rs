//! Samplers, set layouts and pipeline layouts.

use crate::chain::{expect_nothing, known, slice, walk};
use crate::{CaptureError, Objects};
use ash::vk;
use standin_recipe::layout::{
    BorderColorMapping, CustomBorderColor, PushConstantRange, SetBinding, YcbcrConversion,
};
use standin_recipe::normal::takes_immutable_samplers;
use standin_recipe::{Float, PipelineLayoutRecipe, SamplerRecipe, SetLayoutRecipe};

fn swizzles(mapping: vk::ComponentMapping) -> [vk::ComponentSwizzle; 4] {
    [mapping.r, mapping.g, mapping.b, mapping.a]
}

/// Captures a YCbCr conversion.
///
/// # Errors
/// A struct is chained that is not known: a format of another system is one.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn ycbcr_conversion(
    info: &vk::SamplerYcbcrConversionCreateInfo<'_>,
) -> Result<YcbcrConversion, CaptureError> {
    // SAFETY: the create-info is valid.
    unsafe { expect_nothing(info.p_next, "VkSamplerYcbcrConversionCreateInfo") }?;
    Ok(YcbcrConversion {
        format: info.format,
        model: info.ycbcr_model,
        range: info.ycbcr_range,
        components: swizzles(info.components),
        x_chroma_offset: info.x_chroma_offset,
        y_chroma_offset: info.y_chroma_offset,
        chroma_filter: info.chroma_filter,
        force_explicit_reconstruction: info.force_explicit_reconstruction != vk::FALSE,
    })
}

/// Captures a sampler. The flag that lets a later run get the same descriptor again is left out.
///
/// # Errors
/// A struct is chained that is not known, or the conversion is not known.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn sampler(
    info: &vk::SamplerCreateInfo<'_>,
    objects: &dyn Objects,
) -> Result<SamplerRecipe, CaptureError> {
    const PLACE: &str = "VkSamplerCreateInfo";
    let mut recipe = SamplerRecipe {
        flags: info.flags & !vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT,
        mag_filter: info.mag_filter,
        min_filter: info.min_filter,
        mipmap_mode: info.mipmap_mode,
        address_mode_u: info.address_mode_u,
        address_mode_v: info.address_mode_v,
        address_mode_w: info.address_mode_w,
        mip_lod_bias: Float::new(info.mip_lod_bias),
        anisotropy_enable: info.anisotropy_enable != vk::FALSE,
        max_anisotropy: Float::new(info.max_anisotropy),
        compare_enable: info.compare_enable != vk::FALSE,
        compare_op: info.compare_op,
        min_lod: Float::new(info.min_lod),
        max_lod: Float::new(info.max_lod),
        border_color: info.border_color,
        unnormalized_coordinates: info.unnormalized_coordinates != vk::FALSE,
        ..SamplerRecipe::default()
    };
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(custom) = element.get::<vk::SamplerCustomBorderColorCreateInfoEXT<'_>>() {
                recipe.custom_border_color = Some(CustomBorderColor {
                    // Each member of the union is four words.
                    color: custom.custom_border_color.uint32,
                    format: custom.format,
                });
            } else if let Some(mapping) =
                element.get::<vk::SamplerBorderColorComponentMappingCreateInfoEXT<'_>>()
            {
                recipe.border_color_mapping = Some(BorderColorMapping {
                    components: swizzles(mapping.components),
                    srgb: mapping.srgb != vk::FALSE,
                });
            } else if let Some(mode) = element.get::<vk::SamplerReductionModeCreateInfo<'_>>() {
                recipe.reduction_mode = mode.reduction_mode;
            } else if let Some(conversion) = element.get::<vk::SamplerYcbcrConversionInfo<'_>>() {
                recipe.ycbcr_conversion = Some(known(
                    conversion.conversion,
                    |handle| objects.ycbcr_conversion(handle),
                    "YCbCr conversion",
                    "VkSamplerYcbcrConversionInfo::conversion",
                )?);
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(recipe)
}

/// Captures a descriptor set layout.
///
/// # Errors
/// A struct is chained that is not known, a sampler is not known, or lists do not match.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn set_layout(
    info: &vk::DescriptorSetLayoutCreateInfo<'_>,
    objects: &dyn Objects,
) -> Result<SetLayoutRecipe, CaptureError> {
    const PLACE: &str = "VkDescriptorSetLayoutCreateInfo";
    // SAFETY: the create-info is valid.
    let raw = unsafe {
        slice(
            info.p_bindings,
            info.binding_count,
            "VkDescriptorSetLayoutCreateInfo::pBindings",
        )
    }?;
    let mut bindings = Vec::with_capacity(raw.len());
    for one in raw {
        // SAFETY: the create-info is valid.
        bindings.push(unsafe { set_binding(one, objects) }?);
    }
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(chained) =
                element.get::<vk::DescriptorSetLayoutBindingFlagsCreateInfo<'_>>()
            {
                // No flags at all are the same as none for each.
                if chained.binding_count != 0 && chained.binding_count != info.binding_count {
                    return Err(CaptureError::Length {
                        place: "VkDescriptorSetLayoutBindingFlagsCreateInfo::pBindingFlags",
                        found: chained.binding_count,
                        expected: info.binding_count,
                    });
                }
                let flags = slice(
                    chained.p_binding_flags,
                    chained.binding_count,
                    "VkDescriptorSetLayoutBindingFlagsCreateInfo::pBindingFlags",
                )?;
                for (binding, flags) in bindings.iter_mut().zip(flags) {
                    binding.flags = *flags;
                }
            } else if let Some(chained) =
                element.get::<vk::MutableDescriptorTypeCreateInfoEXT<'_>>()
            {
                let lists = slice(
                    chained.p_mutable_descriptor_type_lists,
                    chained.mutable_descriptor_type_list_count,
                    "VkMutableDescriptorTypeCreateInfoEXT::pMutableDescriptorTypeLists",
                )?;
                // Lists beyond the bindings belong to nothing.
                for (binding, list) in bindings.iter_mut().zip(lists) {
                    binding.mutable_types = slice(
                        list.p_descriptor_types,
                        list.descriptor_type_count,
                        "VkMutableDescriptorTypeListEXT::pDescriptorTypes",
                    )?
                    .to_vec();
                }
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    Ok(SetLayoutRecipe {
        flags: info.flags,
        bindings,
    })
}

/// # Safety
/// The struct is valid.
unsafe fn set_binding(
    info: &vk::DescriptorSetLayoutBinding<'_>,
    objects: &dyn Objects,
) -> Result<SetBinding, CaptureError> {
    const PLACE: &str = "VkDescriptorSetLayoutBinding::pImmutableSamplers";
    let mut immutable_samplers = Vec::new();
    if takes_immutable_samplers(info.descriptor_type) && !info.p_immutable_samplers.is_null() {
        // SAFETY: the struct is valid, and samplers are read for this type.
        let handles = unsafe { slice(info.p_immutable_samplers, info.descriptor_count, PLACE) }?;
        for handle in handles {
            immutable_samplers.push(known(
                *handle,
                |handle| objects.sampler(handle),
                "sampler",
                PLACE,
            )?);
        }
    }
    Ok(SetBinding {
        binding: info.binding,
        descriptor_type: info.descriptor_type,
        descriptor_count: info.descriptor_count,
        stage_flags: info.stage_flags,
        immutable_samplers,
        ..SetBinding::default()
    })
}

/// Captures a pipeline layout.
///
/// # Errors
/// A struct is chained that is not known, or a set layout is not known.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn pipeline_layout(
    info: &vk::PipelineLayoutCreateInfo<'_>,
    objects: &dyn Objects,
) -> Result<PipelineLayoutRecipe, CaptureError> {
    const SETS: &str = "VkPipelineLayoutCreateInfo::pSetLayouts";
    // SAFETY: the create-info is valid.
    let (sets, ranges) = unsafe {
        expect_nothing(info.p_next, "VkPipelineLayoutCreateInfo")?;
        (
            slice(info.p_set_layouts, info.set_layout_count, SETS)?,
            slice(
                info.p_push_constant_ranges,
                info.push_constant_range_count,
                "VkPipelineLayoutCreateInfo::pPushConstantRanges",
            )?,
        )
    };
    let mut set_layouts = Vec::with_capacity(sets.len());
    for handle in sets {
        set_layouts.push(if *handle == vk::DescriptorSetLayout::null() {
            None
        } else {
            Some(known(
                *handle,
                |handle| objects.set_layout(handle),
                "descriptor set layout",
                SETS,
            )?)
        });
    }
    Ok(PipelineLayoutRecipe {
        flags: info.flags,
        set_layouts,
        push_constant_ranges: ranges
            .iter()
            .map(|range| PushConstantRange {
                stage_flags: range.stage_flags,
                offset: range.offset,
                size: range.size,
            })
            .collect(),
    })
}
