//! `VK_KHR_pipeline_binary`, which ash 0.38 does not have: its structures, written by hand.

use ash::vk;
use std::ffi::c_void;

/// `VkDevicePipelineBinaryInternalCacheControlKHR`.
#[repr(C)]
pub(crate) struct InternalCacheControl {
    s_type: vk::StructureType,
    p_next: *const c_void,
    disable_internal_cache: vk::Bool32,
}

impl InternalCacheControl {
    pub(crate) fn disabled() -> Self {
        Self {
            s_type: vk::StructureType::from_raw(1_000_483_008),
            p_next: std::ptr::null(),
            disable_internal_cache: vk::TRUE,
        }
    }
}
