//! Samplers, set layouts, pipeline layouts.

use super::{Resolve, Step, float, foreign, no_chain, raw};
use crate::declined::Reason;
use crate::json::chain::Link;
use crate::json::resource::{PipelineLayoutBody, SamplerBody, SetLayoutBody};
use ash::vk;
use standin_recipe::layout::{
    BorderColorMapping, CustomBorderColor, PushConstantRange, SetBinding, YcbcrConversion,
};
use standin_recipe::{PipelineLayoutRecipe, SamplerRecipe, SetLayoutRecipe};
use std::sync::Arc;

pub(crate) fn sampler(body: &SamplerBody) -> Step<SamplerRecipe> {
    let mut recipe = SamplerRecipe {
        flags: vk::SamplerCreateFlags::from_raw(body.flags),
        mag_filter: vk::Filter::from_raw(raw(body.mag_filter)),
        min_filter: vk::Filter::from_raw(raw(body.min_filter)),
        mipmap_mode: vk::SamplerMipmapMode::from_raw(raw(body.mipmap_mode)),
        address_mode_u: vk::SamplerAddressMode::from_raw(raw(body.address_mode_u)),
        address_mode_v: vk::SamplerAddressMode::from_raw(raw(body.address_mode_v)),
        address_mode_w: vk::SamplerAddressMode::from_raw(raw(body.address_mode_w)),
        mip_lod_bias: float(body.mip_lod_bias),
        anisotropy_enable: body.anisotropy_enable != 0,
        max_anisotropy: float(body.max_anisotropy),
        compare_enable: body.compare_enable != 0,
        compare_op: vk::CompareOp::from_raw(raw(body.compare_op)),
        min_lod: float(body.min_lod),
        max_lod: float(body.max_lod),
        border_color: vk::BorderColor::from_raw(raw(body.border_color)),
        unnormalized_coordinates: body.unnormalized_coordinates != 0,
        ..SamplerRecipe::default()
    };
    for link in &body.p_next {
        match link {
            Link::CustomBorderColor(b) => {
                recipe.custom_border_color = Some(CustomBorderColor {
                    color: b.custom_border_color,
                    format: vk::Format::from_raw(raw(b.format)),
                });
            }
            Link::BorderColorMapping(b) => {
                recipe.border_color_mapping = Some(BorderColorMapping {
                    components: b
                        .components
                        .map(|swizzle| vk::ComponentSwizzle::from_raw(raw(swizzle))),
                    srgb: b.srgb != 0,
                });
            }
            Link::ReductionMode(b) => {
                recipe.reduction_mode = vk::SamplerReductionMode::from_raw(raw(b.reduction_mode));
            }
            Link::Ycbcr(b) => {
                recipe.ycbcr_conversion = Some(Arc::new(YcbcrConversion {
                    format: vk::Format::from_raw(raw(b.format)),
                    model: vk::SamplerYcbcrModelConversion::from_raw(raw(b.ycbcr_model)),
                    range: vk::SamplerYcbcrRange::from_raw(raw(b.ycbcr_range)),
                    components: b
                        .components
                        .map(|swizzle| vk::ComponentSwizzle::from_raw(raw(swizzle))),
                    x_chroma_offset: vk::ChromaLocation::from_raw(raw(b.x_chroma_offset)),
                    y_chroma_offset: vk::ChromaLocation::from_raw(raw(b.y_chroma_offset)),
                    chroma_filter: vk::Filter::from_raw(raw(b.chroma_filter)),
                    force_explicit_reconstruction: b.force_explicit_reconstruction != 0,
                }));
            }
            other => foreign(other)?,
        }
    }
    Ok(recipe)
}

pub(crate) fn set_layout(body: &SetLayoutBody, db: &mut dyn Resolve) -> Step<SetLayoutRecipe> {
    let mut bindings = Vec::with_capacity(body.bindings.len());
    for binding in &body.bindings {
        let samplers = &binding.immutable_samplers;
        if !samplers.is_empty() && samplers.len() != binding.descriptor_count as usize {
            return Err(Reason::Inconsistent(
                "the immutable samplers are not as many as the descriptors",
            ));
        }
        let mut immutable_samplers = Vec::with_capacity(samplers.len());
        for sampler in samplers {
            let key = sampler
                .key()
                .ok_or(Reason::Inconsistent("an immutable sampler is null"))?;
            immutable_samplers.push(db.sampler(key.0)?);
        }
        bindings.push(SetBinding {
            binding: binding.binding,
            descriptor_type: vk::DescriptorType::from_raw(raw(binding.descriptor_type)),
            descriptor_count: binding.descriptor_count,
            stage_flags: vk::ShaderStageFlags::from_raw(binding.stage_flags),
            immutable_samplers,
            ..SetBinding::default()
        });
    }
    for link in &body.p_next {
        match link {
            Link::BindingFlags(b) if b.binding_flags.is_empty() => {}
            Link::BindingFlags(b) if b.binding_flags.len() == bindings.len() => {
                for (binding, &flags) in bindings.iter_mut().zip(&b.binding_flags) {
                    binding.flags = vk::DescriptorBindingFlags::from_raw(flags);
                }
            }
            Link::BindingFlags(_) => {
                return Err(Reason::Inconsistent(
                    "the binding flags are not as many as the bindings",
                ));
            }
            Link::MutableTypes(b) => {
                // Lists beyond the bindings say nothing; bindings without a list have none.
                for (binding, types) in bindings.iter_mut().zip(&b.mutable_descriptor_type_lists) {
                    binding.mutable_types = types
                        .iter()
                        .map(|&kind| vk::DescriptorType::from_raw(raw(kind)))
                        .collect();
                }
            }
            other => foreign(other)?,
        }
    }
    Ok(SetLayoutRecipe {
        flags: vk::DescriptorSetLayoutCreateFlags::from_raw(body.flags),
        bindings,
    })
}

pub(crate) fn pipeline_layout(
    body: &PipelineLayoutBody,
    db: &mut dyn Resolve,
) -> Step<PipelineLayoutRecipe> {
    no_chain(&body.p_next)?;
    let mut set_layouts = Vec::with_capacity(body.set_layouts.len());
    for set in &body.set_layouts {
        set_layouts.push(match set.key() {
            Some(key) => Some(db.set_layout(key.0)?),
            None => None,
        });
    }
    Ok(PipelineLayoutRecipe {
        flags: vk::PipelineLayoutCreateFlags::from_raw(body.flags),
        set_layouts,
        push_constant_ranges: body
            .push_constant_ranges
            .iter()
            .map(|range| PushConstantRange {
                stage_flags: vk::ShaderStageFlags::from_raw(range.stage_flags),
                offset: range.offset,
                size: range.size,
            })
            .collect(),
    })
}
