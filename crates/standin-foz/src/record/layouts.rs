//! Samplers, set layouts, pipeline layouts.

use super::{Keep, Step, number, real};
use crate::json::Handle;
use crate::json::chain::{
    BindingFlags, BorderColorMapping, CustomBorderColor, Link, MutableTypes, ReductionMode, Ycbcr,
};
use crate::json::resource::{
    PipelineLayoutBody, PushConstantBody, SamplerBody, SetBindingBody, SetLayoutBody,
};
use ash::vk;
use standin_recipe::{PipelineLayoutRecipe, SamplerRecipe, SetLayoutRecipe};

pub(super) fn sampler(recipe: &SamplerRecipe) -> SamplerBody {
    let mut chain = Vec::new();
    if let Some(custom) = &recipe.custom_border_color {
        chain.push(Link::CustomBorderColor(CustomBorderColor {
            custom_border_color: custom.color,
            format: number(custom.format.as_raw()),
        }));
    }
    if let Some(mapping) = &recipe.border_color_mapping {
        chain.push(Link::BorderColorMapping(BorderColorMapping {
            components: mapping.components.map(|swizzle| number(swizzle.as_raw())),
            srgb: u32::from(mapping.srgb),
        }));
    }
    if recipe.reduction_mode != vk::SamplerReductionMode::WEIGHTED_AVERAGE {
        chain.push(Link::ReductionMode(ReductionMode {
            reduction_mode: number(recipe.reduction_mode.as_raw()),
        }));
    }
    if let Some(conversion) = &recipe.ycbcr_conversion {
        chain.push(Link::Ycbcr(Ycbcr {
            format: number(conversion.format.as_raw()),
            ycbcr_model: number(conversion.model.as_raw()),
            ycbcr_range: number(conversion.range.as_raw()),
            components: conversion
                .components
                .map(|swizzle| number(swizzle.as_raw())),
            x_chroma_offset: number(conversion.x_chroma_offset.as_raw()),
            y_chroma_offset: number(conversion.y_chroma_offset.as_raw()),
            chroma_filter: number(conversion.chroma_filter.as_raw()),
            force_explicit_reconstruction: u32::from(conversion.force_explicit_reconstruction),
        }));
    }
    SamplerBody {
        flags: recipe.flags.as_raw(),
        min_filter: number(recipe.min_filter.as_raw()),
        mag_filter: number(recipe.mag_filter.as_raw()),
        max_anisotropy: real(recipe.max_anisotropy),
        compare_op: number(recipe.compare_op.as_raw()),
        anisotropy_enable: u32::from(recipe.anisotropy_enable),
        mipmap_mode: number(recipe.mipmap_mode.as_raw()),
        address_mode_u: number(recipe.address_mode_u.as_raw()),
        address_mode_v: number(recipe.address_mode_v.as_raw()),
        address_mode_w: number(recipe.address_mode_w.as_raw()),
        border_color: number(recipe.border_color.as_raw()),
        unnormalized_coordinates: u32::from(recipe.unnormalized_coordinates),
        compare_enable: u32::from(recipe.compare_enable),
        mip_lod_bias: real(recipe.mip_lod_bias),
        min_lod: real(recipe.min_lod),
        max_lod: real(recipe.max_lod),
        p_next: chain,
    }
}

pub(super) fn set_layout(recipe: &SetLayoutRecipe, keep: &mut dyn Keep) -> Step<SetLayoutBody> {
    let mut bindings = Vec::with_capacity(recipe.bindings.len());
    for binding in &recipe.bindings {
        bindings.push(SetBindingBody {
            descriptor_type: number(binding.descriptor_type.as_raw()),
            descriptor_count: binding.descriptor_count,
            stage_flags: binding.stage_flags.as_raw(),
            binding: binding.binding,
            immutable_samplers: binding
                .immutable_samplers
                .iter()
                .map(|sampler| keep.sampler(sampler))
                .collect::<Step<_>>()?,
        });
    }
    let mut chain = Vec::new();
    if recipe.bindings.iter().any(|b| !b.flags.is_empty()) {
        let flags = recipe.bindings.iter().map(|b| b.flags.as_raw());
        chain.push(Link::BindingFlags(BindingFlags {
            binding_flags: flags.collect(),
        }));
    }
    if recipe.bindings.iter().any(|b| !b.mutable_types.is_empty()) {
        let types = |types: &Vec<vk::DescriptorType>| {
            types.iter().map(|kind| number(kind.as_raw())).collect()
        };
        let lists = recipe.bindings.iter().map(|b| types(&b.mutable_types));
        chain.push(Link::MutableTypes(MutableTypes {
            mutable_descriptor_type_lists: lists.collect(),
        }));
    }
    Ok(SetLayoutBody {
        flags: recipe.flags.as_raw(),
        bindings,
        p_next: chain,
    })
}

pub(super) fn pipeline_layout(
    recipe: &PipelineLayoutRecipe,
    keep: &mut dyn Keep,
) -> Step<PipelineLayoutBody> {
    let mut set_layouts = Vec::with_capacity(recipe.set_layouts.len());
    for set in &recipe.set_layouts {
        set_layouts.push(match set {
            Some(set) => keep.set_layout(set)?,
            None => Handle(0),
        });
    }
    Ok(PipelineLayoutBody {
        flags: recipe.flags.as_raw(),
        push_constant_ranges: recipe
            .push_constant_ranges
            .iter()
            .map(|range| PushConstantBody {
                stage_flags: range.stage_flags.as_raw(),
                size: range.size,
                offset: range.offset,
            })
            .collect(),
        set_layouts,
        p_next: Vec::new(),
    })
}
