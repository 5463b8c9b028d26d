//! `VK_KHR_pipeline_binary`, which ash 0.38 does not have: structures and function pointers written
//! by hand, and what Standin does with them.
//!
//! `vkGetPipelineKeyKHR` is not loaded: some NVIDIA drivers do not restore a register in it, other
//! drivers have returned keys of size 0 (slang-rhi#792), and it is not needed, since binaries are
//! kept under the recipe's own key.

use crate::device::Device;
use ash::vk;
use standin_archive::Binary;
use std::ffi::c_void;

const fn s_type(number: i32) -> vk::StructureType {
    vk::StructureType::from_raw(number)
}

/// `VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR`.
pub(crate) const CAPTURE_DATA: u64 = 0x8000_0000;

/// `VK_PIPELINE_BINARY_MISSING_KHR`: a success code that gives no binary.
pub(crate) const MISSING: vk::Result = vk::Result::from_raw(1_000_483_000);

/// `VK_MAX_PIPELINE_BINARY_KEY_SIZE_KHR`.
pub(crate) const MAX_KEY_SIZE: usize = 32;

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
            s_type: s_type(1_000_483_008),
            p_next: std::ptr::null(),
            disable_internal_cache: vk::TRUE,
        }
    }
}

/// `VkPipelineBinaryKHR`.
type Handle = u64;

/// `VkPipelineBinaryKeyKHR`.
#[repr(C)]
struct RawKey {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    key_size: u32,
    key: [u8; MAX_KEY_SIZE],
}

/// `VkPipelineBinaryDataKHR`.
#[repr(C)]
struct RawData {
    data_size: usize,
    p_data: *mut c_void,
}

/// `VkPipelineBinaryKeysAndDataKHR`.
#[repr(C)]
struct RawKeysAndData {
    binary_count: u32,
    p_keys: *const RawKey,
    p_data: *const RawData,
}

/// `VkPipelineBinaryCreateInfoKHR`.
#[repr(C)]
struct RawCreateInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    p_keys_and_data: *const RawKeysAndData,
    pipeline: vk::Pipeline,
    p_pipeline_create_info: *const c_void,
}

/// `VkPipelineBinaryHandlesInfoKHR`.
#[repr(C)]
struct RawHandlesInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    count: u32,
    p_binaries: *mut Handle,
}

/// `VkPipelineBinaryDataInfoKHR`.
#[repr(C)]
struct RawDataInfo {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    binary: Handle,
}

/// `VkReleaseCapturedPipelineDataInfoKHR`.
#[repr(C)]
struct RawReleaseInfo {
    s_type: vk::StructureType,
    p_next: *mut c_void,
    pipeline: vk::Pipeline,
}

/// `VkPipelineBinaryInfoKHR`: chained to a pipeline's create-info.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct PipelineBinaryInfo {
    s_type: vk::StructureType,
    p_next: *const c_void,
    count: u32,
    p_binaries: *const Handle,
}

// SAFETY: the structure begins with sType and pNext, and the specification lets it extend both
// create-infos.
unsafe impl vk::ExtendsGraphicsPipelineCreateInfo for PipelineBinaryInfo {}
// SAFETY: as above.
unsafe impl vk::ExtendsComputePipelineCreateInfo for PipelineBinaryInfo {}

type CreateFn = unsafe extern "system" fn(
    vk::Device,
    *const RawCreateInfo,
    *const c_void,
    *mut RawHandlesInfo,
) -> vk::Result;
type DestroyFn = unsafe extern "system" fn(vk::Device, Handle, *const c_void);
type DataFn = unsafe extern "system" fn(
    vk::Device,
    *const RawDataInfo,
    *mut RawKey,
    *mut usize,
    *mut c_void,
) -> vk::Result;
type ReleaseFn =
    unsafe extern "system" fn(vk::Device, *const RawReleaseInfo, *const c_void) -> vk::Result;

/// The extension's functions on one device.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    create: CreateFn,
    destroy: DestroyFn,
    data: DataFn,
    release: ReleaseFn,
}

impl Functions {
    /// The functions, if the driver has all of them. The extension must be enabled.
    pub(crate) fn load(instance: &ash::Instance, device: &ash::Device) -> Option<Self> {
        let get = |name: &std::ffi::CStr| {
            // SAFETY: a query of a live device with a terminated name.
            unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) }
        };
        // SAFETY: the pointers are those of the named functions, whose signatures these are.
        unsafe {
            Some(Self {
                create: std::mem::transmute::<unsafe extern "system" fn(), CreateFn>(get(
                    c"vkCreatePipelineBinariesKHR",
                )?),
                destroy: std::mem::transmute::<unsafe extern "system" fn(), DestroyFn>(get(
                    c"vkDestroyPipelineBinaryKHR",
                )?),
                data: std::mem::transmute::<unsafe extern "system" fn(), DataFn>(get(
                    c"vkGetPipelineBinaryDataKHR",
                )?),
                release: std::mem::transmute::<unsafe extern "system" fn(), ReleaseFn>(get(
                    c"vkReleaseCapturedPipelineDataKHR",
                )?),
            })
        }
    }
}

/// Binary handles, destroyed with this.
pub(crate) struct Binaries<'a> {
    handles: Vec<Handle>,
    functions: Functions,
    device: &'a Device,
}

impl Drop for Binaries<'_> {
    fn drop(&mut self) {
        for &handle in &self.handles {
            if handle != 0 {
                // SAFETY: the handle is this one's own, and no call with it is running.
                unsafe {
                    (self.functions.destroy)(self.device.raw().handle(), handle, std::ptr::null());
                }
            }
        }
    }
}

impl<'a> Binaries<'a> {
    /// The binaries of these keys and data, in their order. `None` if the driver has no use for
    /// them: that is a miss.
    pub(crate) fn from_stored(
        device: &'a Device,
        functions: Functions,
        stored: &[Binary],
    ) -> Result<Option<Self>, vk::Result> {
        let keys: Vec<RawKey> = stored
            .iter()
            .map(|binary| {
                let mut key = [0; MAX_KEY_SIZE];
                let length = binary.key.len().min(MAX_KEY_SIZE);
                key[..length].copy_from_slice(&binary.key[..length]);
                RawKey {
                    s_type: s_type(1_000_483_003),
                    p_next: std::ptr::null_mut(),
                    key_size: u32::try_from(length).unwrap_or(0),
                    key,
                }
            })
            .collect();
        let data: Vec<RawData> = stored
            .iter()
            .map(|binary| RawData {
                data_size: binary.data.len(),
                p_data: binary.data.as_ptr().cast_mut().cast(),
            })
            .collect();
        let both = RawKeysAndData {
            binary_count: u32::try_from(stored.len()).unwrap_or(u32::MAX),
            p_keys: keys.as_ptr(),
            p_data: data.as_ptr(),
        };
        let info = RawCreateInfo {
            s_type: s_type(1_000_483_001),
            p_next: std::ptr::null(),
            p_keys_and_data: &raw const both,
            pipeline: vk::Pipeline::null(),
            p_pipeline_create_info: std::ptr::null(),
        };
        Self::create(device, functions, &info, stored.len())
    }

    /// The binaries of a pipeline that was made with [`CAPTURE_DATA`].
    pub(crate) fn captured(
        device: &'a Device,
        functions: Functions,
        pipeline: vk::Pipeline,
    ) -> Result<Option<Self>, vk::Result> {
        let info = RawCreateInfo {
            s_type: s_type(1_000_483_001),
            p_next: std::ptr::null(),
            p_keys_and_data: std::ptr::null(),
            pipeline,
            p_pipeline_create_info: std::ptr::null(),
        };
        let mut counted = RawHandlesInfo {
            s_type: s_type(1_000_483_009),
            p_next: std::ptr::null(),
            count: 0,
            p_binaries: std::ptr::null_mut(),
        };
        // SAFETY: with no array the call only writes the count.
        let result = unsafe {
            (functions.create)(
                device.raw().handle(),
                &raw const info,
                std::ptr::null(),
                &raw mut counted,
            )
        };
        if result != vk::Result::SUCCESS {
            return if result == MISSING {
                Ok(None)
            } else {
                Err(result)
            };
        }
        Self::create(device, functions, &info, counted.count as usize)
    }

    fn create(
        device: &'a Device,
        functions: Functions,
        info: &RawCreateInfo,
        count: usize,
    ) -> Result<Option<Self>, vk::Result> {
        if count == 0 {
            return Ok(None);
        }
        let mut made = Self {
            handles: vec![0; count],
            functions,
            device,
        };
        let mut handles = RawHandlesInfo {
            s_type: s_type(1_000_483_009),
            p_next: std::ptr::null(),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            p_binaries: made.handles.as_mut_ptr(),
        };
        // SAFETY: the array has room for `count` handles, and what the create-info points to
        // lives in the caller.
        let result = unsafe {
            (functions.create)(
                device.raw().handle(),
                info,
                std::ptr::null(),
                &raw mut handles,
            )
        };
        match result {
            vk::Result::SUCCESS if made.handles.iter().all(|&handle| handle != 0) => Ok(Some(made)),
            // A null handle in spite of success, or what the specification calls missing.
            vk::Result::SUCCESS | MISSING => Ok(None),
            error => Err(error),
        }
    }

    /// What to chain to a create-info. Its modules are then not looked at.
    pub(crate) fn info(&self) -> PipelineBinaryInfo {
        PipelineBinaryInfo {
            s_type: s_type(1_000_483_002),
            p_next: std::ptr::null(),
            count: u32::try_from(self.handles.len()).unwrap_or(u32::MAX),
            p_binaries: self.handles.as_ptr(),
        }
    }

    /// Keys and data, in the driver's order. A binary with an empty key or without data cannot be
    /// given back, and makes the whole of no use: `None`.
    pub(crate) fn data(&self) -> Result<Option<Vec<Binary>>, vk::Result> {
        let mut binaries = Vec::with_capacity(self.handles.len());
        for &handle in &self.handles {
            let info = RawDataInfo {
                s_type: s_type(1_000_483_006),
                p_next: std::ptr::null_mut(),
                binary: handle,
            };
            let mut key = RawKey {
                s_type: s_type(1_000_483_003),
                p_next: std::ptr::null_mut(),
                key_size: 0,
                key: [0; MAX_KEY_SIZE],
            };
            let mut size = 0_usize;
            let mut get = |data: *mut c_void, size: &mut usize| {
                // SAFETY: `data` is null or has room for `size` bytes.
                unsafe {
                    (self.functions.data)(
                        self.device.raw().handle(),
                        &raw const info,
                        &raw mut key,
                        size,
                        data,
                    )
                }
                .result()
            };
            get(std::ptr::null_mut(), &mut size)?;
            let mut data = vec![0_u8; size];
            let first = size;
            get(data.as_mut_ptr().cast(), &mut size)?;
            data.truncate(size.min(first));
            let length = key.key_size as usize;
            if length == 0 || length > MAX_KEY_SIZE || data.is_empty() {
                return Ok(None);
            }
            binaries.push(Binary {
                key: key.key[..length].to_vec(),
                data,
            });
        }
        Ok(Some(binaries))
    }
}

/// Lets the driver drop what it kept of a pipeline made with [`CAPTURE_DATA`].
pub(crate) fn release(device: &Device, functions: Functions, pipeline: vk::Pipeline) {
    let info = RawReleaseInfo {
        s_type: s_type(1_000_483_005),
        p_next: std::ptr::null_mut(),
        pipeline,
    };
    // SAFETY: the pipeline is alive and was made with the flag; no binary is being made from it.
    // The only failure is lack of memory, which costs memory and nothing else.
    let _ =
        unsafe { (functions.release)(device.raw().handle(), &raw const info, std::ptr::null()) };
}
