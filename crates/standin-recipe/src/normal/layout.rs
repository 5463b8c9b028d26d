//! Normal forms of samplers and layouts. What is normal already is shared, not copied.

use crate::layout::{PipelineLayoutRecipe, SamplerRecipe, SetBinding, SetLayoutRecipe};
use ash::vk;
use std::sync::Arc;

/// The sampler without the values that switched-off parts would use.
#[must_use]
pub fn normal_sampler(sampler: &Arc<SamplerRecipe>) -> Arc<SamplerRecipe> {
    let mut normal = SamplerRecipe::clone(sampler);
    if !normal.anisotropy_enable {
        normal.max_anisotropy = Default::default();
    }
    if !normal.compare_enable {
        normal.compare_op = vk::CompareOp::NEVER;
    }
    let border = vk::SamplerAddressMode::CLAMP_TO_BORDER;
    let modes = [
        normal.address_mode_u,
        normal.address_mode_v,
        normal.address_mode_w,
    ];
    if !modes.contains(&border) {
        normal.border_color = vk::BorderColor::default();
        normal.custom_border_color = None;
        normal.border_color_mapping = None;
    }
    let custom = [
        vk::BorderColor::FLOAT_CUSTOM_EXT,
        vk::BorderColor::INT_CUSTOM_EXT,
    ];
    if !custom.contains(&normal.border_color) {
        normal.custom_border_color = None;
    }
    share(sampler, normal)
}

/// The set layout with its bindings in order of their numbers.
#[must_use]
pub fn normal_set_layout(layout: &Arc<SetLayoutRecipe>) -> Arc<SetLayoutRecipe> {
    let ordered = layout
        .bindings
        .windows(2)
        .all(|pair| pair[0].binding < pair[1].binding);
    let samplers = layout
        .bindings
        .iter()
        .any(|binding| !binding.immutable_samplers.is_empty());
    let mutable = layout.bindings.iter().any(|binding| {
        !binding.mutable_types.is_empty()
            && binding.descriptor_type != vk::DescriptorType::MUTABLE_EXT
    });
    if ordered && !samplers && !mutable {
        return Arc::clone(layout);
    }
    let mut bindings: Vec<SetBinding> = layout.bindings.clone();
    for binding in &mut bindings {
        if binding.descriptor_type != vk::DescriptorType::MUTABLE_EXT {
            binding.mutable_types.clear();
        }
        if !takes_immutable_samplers(binding.descriptor_type) {
            binding.immutable_samplers.clear();
        }
        for sampler in &mut binding.immutable_samplers {
            *sampler = normal_sampler(sampler);
        }
    }
    bindings.sort_by_key(|binding| binding.binding);
    share(
        layout,
        SetLayoutRecipe {
            flags: layout.flags,
            bindings,
        },
    )
}

/// Whether bindings of this type may have immutable samplers; `pImmutableSamplers` of others is
/// not read (`VkDescriptorSetLayoutBinding`).
#[must_use]
pub fn takes_immutable_samplers(ty: vk::DescriptorType) -> bool {
    ty == vk::DescriptorType::SAMPLER || ty == vk::DescriptorType::COMBINED_IMAGE_SAMPLER
}

/// The pipeline layout of normal set layouts, with its push constant ranges in order.
#[must_use]
pub fn normal_pipeline_layout(layout: &Arc<PipelineLayoutRecipe>) -> Arc<PipelineLayoutRecipe> {
    let mut normal = PipelineLayoutRecipe::clone(layout);
    for set in normal.set_layouts.iter_mut().flatten() {
        *set = normal_set_layout(set);
    }
    normal
        .push_constant_ranges
        .sort_by_key(|range| (range.offset, range.size, range.stage_flags));
    share(layout, normal)
}

fn share<T: PartialEq>(original: &Arc<T>, normal: T) -> Arc<T> {
    if **original == normal {
        Arc::clone(original)
    } else {
        Arc::new(normal)
    }
}
