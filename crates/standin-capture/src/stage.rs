//! Shader modules and stages.

use crate::chain::{expect_nothing, known, slice, walk};
use crate::{CaptureError, Objects};
use ash::vk;
use standin_recipe::stage::{EntryName, Robustness, Specialization, SpecializationEntry, Stage};
use standin_recipe::{Module, ModuleRef};
use std::ffi::{CStr, c_void};
use std::sync::Arc;

/// Captures a shader module.
///
/// # Errors
/// A struct is chained that is not known, or the code is not a whole number of words.
///
/// # Safety
/// The create-info is valid: so is everything that it points to.
pub unsafe fn shader_module(info: &vk::ShaderModuleCreateInfo<'_>) -> Result<Module, CaptureError> {
    const PLACE: &str = "VkShaderModuleCreateInfo";
    // SAFETY: the create-info is valid.
    unsafe {
        expect_nothing(info.p_next, PLACE)?;
        module_of(info)
    }
}

/// The module of a create-info, whatever is chained to it.
///
/// # Safety
/// The create-info is valid.
unsafe fn module_of(info: &vk::ShaderModuleCreateInfo<'_>) -> Result<Module, CaptureError> {
    let size = info.code_size;
    let words = u32::try_from(size / 4).map_err(|_| CaptureError::CodeSize { size })?;
    if !size.is_multiple_of(4) {
        return Err(CaptureError::CodeSize { size });
    }
    // SAFETY: the create-info is valid: it has this many words.
    let code = unsafe { slice(info.p_code, words, "VkShaderModuleCreateInfo::pCode") }?;
    Ok(Module::new(info.flags, code))
}

pub(crate) fn robustness(info: &vk::PipelineRobustnessCreateInfoEXT<'_>) -> Robustness {
    Robustness {
        storage_buffers: info.storage_buffers,
        uniform_buffers: info.uniform_buffers,
        vertex_inputs: info.vertex_inputs,
        images: info.images,
    }
}

/// # Safety
/// The create-info is valid.
pub(crate) unsafe fn stage(
    info: &vk::PipelineShaderStageCreateInfo<'_>,
    objects: &dyn Objects,
) -> Result<Stage, CaptureError> {
    const PLACE: &str = "VkPipelineShaderStageCreateInfo";
    let mut chained = None;
    let mut identifier = false;
    let mut required_subgroup_size = None;
    let mut own_robustness = None;
    // SAFETY: the create-info is valid.
    unsafe {
        walk(info.p_next, PLACE, |element| {
            if let Some(module) = element.get::<vk::ShaderModuleCreateInfo<'_>>() {
                // What follows in its chain is the rest of this one.
                chained = Some(module);
            } else if let Some(size) =
                element.get::<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'_>>()
            {
                required_subgroup_size = Some(size.required_subgroup_size);
            } else if let Some(own) = element.get::<vk::PipelineRobustnessCreateInfoEXT<'_>>() {
                own_robustness = Some(robustness(own));
            } else if element
                .get::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'_>>()
                .is_some()
            {
                identifier = true;
            } else {
                return Ok(false);
            }
            Ok(true)
        })
    }?;
    let module = if info.module != vk::ShaderModule::null() {
        known(
            info.module,
            |handle| objects.shader_module(handle),
            "shader module",
            "VkPipelineShaderStageCreateInfo::module",
        )?
    } else if let Some(chained) = chained {
        // SAFETY: the create-info is valid, and so is what is chained to it.
        Arc::new(unsafe { module_of(chained) }?)
    } else if identifier {
        return Err(CaptureError::IdentifierOnly { stage: info.stage });
    } else {
        return Err(CaptureError::Null {
            place: "VkPipelineShaderStageCreateInfo::module",
        });
    };
    // SAFETY: the create-info is valid.
    let (entry, specialization) = unsafe {
        (
            name(info)?,
            info.p_specialization_info
                .as_ref()
                .map(|info| specialization(info))
                .transpose()?,
        )
    };
    Ok(Stage {
        stage: info.stage,
        flags: info.flags,
        module: ModuleRef(module),
        entry,
        specialization,
        required_subgroup_size,
        robustness: own_robustness,
    })
}

/// # Safety
/// The create-info is valid.
unsafe fn name(info: &vk::PipelineShaderStageCreateInfo<'_>) -> Result<EntryName, CaptureError> {
    if info.p_name.is_null() {
        return Err(CaptureError::Null {
            place: "VkPipelineShaderStageCreateInfo::pName",
        });
    }
    // SAFETY: not null, and so a string that ends with a NUL.
    let name = unsafe { CStr::from_ptr(info.p_name) };
    let name = name.to_str().map_err(|_| CaptureError::Name)?;
    EntryName::new(name).map_err(|_| CaptureError::Name)
}

/// # Safety
/// The struct is valid.
unsafe fn specialization(
    info: &vk::SpecializationInfo<'_>,
) -> Result<Specialization, CaptureError> {
    // SAFETY: the struct is valid.
    let (entries, data) = unsafe {
        (
            slice(
                info.p_map_entries,
                info.map_entry_count,
                "VkSpecializationInfo::pMapEntries",
            )?,
            bytes(info.p_data, info.data_size)?,
        )
    };
    let specialization = Specialization {
        entries: entries
            .iter()
            .map(|entry| SpecializationEntry {
                constant_id: entry.constant_id,
                offset: entry.offset,
                size: u64::try_from(entry.size).unwrap_or(u64::MAX),
            })
            .collect(),
        data: data.to_vec(),
    };
    specialization.check()?;
    Ok(specialization)
}

/// # Safety
/// `first` is null or points to `count` bytes.
unsafe fn bytes<'a>(first: *const c_void, count: usize) -> Result<&'a [u8], CaptureError> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(CaptureError::Null {
            place: "VkSpecializationInfo::pData",
        });
    }
    // SAFETY: not null, and so `count` bytes.
    Ok(unsafe { std::slice::from_raw_parts(first.cast(), count) })
}
