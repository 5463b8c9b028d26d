//! Vertex input and input assembly.

use crate::decline::{Declined, FormatUse, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::layouts::need;
use crate::passes::need_format;
use ash::vk;
use standin_recipe::vertex::VertexInputState;

pub(super) fn vertex_input(device: &Device, input: &VertexInputState) -> Result<(), Declined> {
    let limits = &device.capabilities().limits;
    limit(
        "maxVertexInputBindings",
        input.bindings.len(),
        limits.max_vertex_input_bindings,
    )?;
    limit(
        "maxVertexInputAttributes",
        input.attributes.len(),
        limits.max_vertex_input_attributes,
    )?;
    for (place, binding) in input.bindings.iter().enumerate() {
        limit(
            "maxVertexInputBindings",
            u64::from(binding.binding) + 1,
            limits.max_vertex_input_bindings,
        )?;
        limit(
            "maxVertexInputBindingStride",
            binding.stride,
            limits.max_vertex_input_binding_stride,
        )?;
        if input.bindings[..place]
            .iter()
            .any(|b| b.binding == binding.binding)
        {
            return Err(Declined::invalid("a vertex binding is given twice"));
        }
        if binding.divisor == 1 {
            continue;
        }
        if binding.input_rate != vk::VertexInputRate::INSTANCE {
            return Err(Declined::invalid("a divisor on a per-vertex binding"));
        }
        need(device, &[F::VertexAttributeInstanceRateDivisor])?;
        if binding.divisor == 0 {
            need(device, &[F::VertexAttributeInstanceRateZeroDivisor])?;
        }
        limit(
            "maxVertexAttribDivisor",
            binding.divisor,
            device.capabilities().max_vertex_attrib_divisor,
        )?;
    }
    for (place, attribute) in input.attributes.iter().enumerate() {
        limit(
            "maxVertexInputAttributes",
            u64::from(attribute.location) + 1,
            limits.max_vertex_input_attributes,
        )?;
        limit(
            "maxVertexInputAttributeOffset",
            attribute.offset,
            limits.max_vertex_input_attribute_offset,
        )?;
        if input.attributes[..place]
            .iter()
            .any(|a| a.location == attribute.location)
        {
            return Err(Declined::invalid("a vertex attribute is given twice"));
        }
        if !input
            .bindings
            .iter()
            .any(|b| b.binding == attribute.binding)
        {
            return Err(Declined::invalid(
                "a vertex attribute of a binding that is not there",
            ));
        }
        need_format(device, attribute.format, FormatUse::Vertex)?;
    }
    Ok(())
}

pub(super) fn topology(device: &Device, topology: vk::PrimitiveTopology) -> Result<(), Declined> {
    use vk::PrimitiveTopology as T;
    match topology {
        T::PATCH_LIST => need(device, &[F::TessellationShader]),
        T::LINE_LIST_WITH_ADJACENCY
        | T::LINE_STRIP_WITH_ADJACENCY
        | T::TRIANGLE_LIST_WITH_ADJACENCY
        | T::TRIANGLE_STRIP_WITH_ADJACENCY => need(device, &[F::GeometryShader]),
        known if (0..=10).contains(&known.as_raw()) => Ok(()),
        other => Err(Declined::unknown("topology", other)),
    }
}

/// Primitive restart in lists is a feature of its own.
pub(super) fn restart(device: &Device, topology: vk::PrimitiveTopology) -> Result<(), Declined> {
    use vk::PrimitiveTopology as T;
    match topology {
        T::PATCH_LIST => need(device, &[F::PrimitiveTopologyPatchListRestart]),
        T::POINT_LIST
        | T::LINE_LIST
        | T::TRIANGLE_LIST
        | T::LINE_LIST_WITH_ADJACENCY
        | T::TRIANGLE_LIST_WITH_ADJACENCY => need(device, &[F::PrimitiveTopologyListRestart]),
        _ => Ok(()),
    }
}
