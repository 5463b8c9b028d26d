//! Buffers of acceleration structures, and the structures themselves.

use super::{AccelError, failed};
use crate::device::Device;
use ash::vk;
use std::sync::Arc;

/// Where a buffer lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the device's memory.
    Device,
    /// Where the host can write and read it.
    Host,
}

/// A buffer with a device address. It is freed when this is dropped.
pub(super) struct Buffer {
    raw: vk::Buffer,
    memory: vk::DeviceMemory,
    address: vk::DeviceAddress,
    mapped: *mut u8,
    size: u64,
    device: Arc<Device>,
}

// SAFETY: the mapping is used through `&mut self`, or through `&self` for reads of bytes that the
// device has finished with, which is the callers' contract.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Buffer")
            .field("size", &self.size)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Buffer {
    /// A buffer of `size` bytes, at least one.
    pub(super) fn new(
        device: &Arc<Device>,
        size: u64,
        usage: vk::BufferUsageFlags,
        place: Place,
    ) -> Result<Self, AccelError> {
        use vk::MemoryPropertyFlags as M;
        let raw_device = device.raw();
        let size = size.max(1);
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS);
        // SAFETY: valid create-infos of a device with buffer addresses, which acceleration
        // structures require; what was made before a failure is destroyed.
        unsafe {
            let raw = raw_device
                .create_buffer(&info, None)
                .map_err(failed("vkCreateBuffer"))?;
            let mut buffer = Self {
                raw,
                memory: vk::DeviceMemory::null(),
                address: 0,
                mapped: std::ptr::null_mut(),
                size,
                device: Arc::clone(device),
            };
            let needs = raw_device.get_buffer_memory_requirements(raw);
            let wishes = match place {
                Place::Device => [M::DEVICE_LOCAL, M::empty()],
                Place::Host => [
                    M::HOST_VISIBLE | M::HOST_COHERENT | M::HOST_CACHED,
                    M::HOST_VISIBLE | M::HOST_COHERENT,
                ],
            };
            let index = wishes
                .into_iter()
                .find_map(|wish| device.memory_type(needs.memory_type_bits, wish))
                .ok_or(AccelError::NoMemory("a buffer"))?;
            let mut flags = vk::MemoryAllocateFlagsInfo::default()
                .flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(index)
                .push_next(&mut flags);
            buffer.memory = raw_device
                .allocate_memory(&info, None)
                .map_err(failed("vkAllocateMemory"))?;
            raw_device
                .bind_buffer_memory(raw, buffer.memory, 0)
                .map_err(failed("vkBindBufferMemory"))?;
            if place == Place::Host {
                buffer.mapped = raw_device
                    .map_memory(
                        buffer.memory,
                        0,
                        vk::WHOLE_SIZE,
                        vk::MemoryMapFlags::empty(),
                    )
                    .map_err(failed("vkMapMemory"))?
                    .cast();
            }
            buffer.address = raw_device
                .get_buffer_device_address(&vk::BufferDeviceAddressInfo::default().buffer(raw));
            Ok(buffer)
        }
    }

    pub(super) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    pub(super) fn address(&self) -> vk::DeviceAddress {
        self.address
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Writes what fits, from the buffer's first byte.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let len = bytes
            .len()
            .min(usize::try_from(self.size).unwrap_or(usize::MAX));
        if !self.mapped.is_null() {
            // SAFETY: the mapping is at least `size` bytes long, and nobody else sees it yet.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.mapped, len) };
        }
    }

    /// What is in it; empty where it is not mapped.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let len = usize::try_from(self.size).unwrap_or(0);
        if self.mapped.is_null() {
            return Vec::new();
        }
        let mut bytes = vec![0; len];
        // SAFETY: the mapping is at least `size` bytes long.
        unsafe { std::ptr::copy_nonoverlapping(self.mapped, bytes.as_mut_ptr(), len) };
        bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: both are this one's own, and null is valid to destroy. Submissions that use
        // the buffer hold it until they have completed.
        unsafe {
            self.device.raw().destroy_buffer(self.raw, None);
            self.device.raw().free_memory(self.memory, None);
        }
    }
}

/// Data that builds and shaders read or write by address: vertices, instances, results. Host
/// visible.
#[derive(Debug)]
pub struct Input(pub(super) Buffer);

impl Input {
    /// A buffer with these bytes.
    ///
    /// # Errors
    /// The driver refuses memory.
    pub fn new(device: &Arc<Device>, bytes: &[u8]) -> Result<Arc<Self>, AccelError> {
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR
            | vk::BufferUsageFlags::STORAGE_BUFFER;
        let mut buffer = Buffer::new(device, bytes.len() as u64, usage, Place::Host)?;
        buffer.write(bytes);
        Ok(Arc::new(Self(buffer)))
    }

    /// Its device address.
    #[must_use]
    pub fn address(&self) -> vk::DeviceAddress {
        self.0.address()
    }

    /// Its bytes now. Meaningful when no submission that writes it is running.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.bytes()
    }
}

/// An acceleration structure. It may be used as long as this is kept; what was recorded with it
/// keeps it.
pub struct Structure {
    raw: vk::AccelerationStructureKHR,
    address: vk::DeviceAddress,
    functions: ash::khr::acceleration_structure::Device,
    storage: Buffer,
}

impl std::fmt::Debug for Structure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Structure")
            .field("address", &self.address)
            .field("size", &self.storage.size())
            .finish_non_exhaustive()
    }
}

impl Structure {
    pub(super) fn new(
        device: &Arc<Device>,
        functions: &ash::khr::acceleration_structure::Device,
        kind: vk::AccelerationStructureTypeKHR,
        size: u64,
    ) -> Result<Self, AccelError> {
        let usage = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR;
        let storage = Buffer::new(device, size, usage, Place::Device)?;
        let info = vk::AccelerationStructureCreateInfoKHR::default()
            .buffer(storage.raw())
            .size(size)
            .ty(kind);
        // SAFETY: the buffer is alive, has the usage and is of this size.
        let raw = unsafe { functions.create_acceleration_structure(&info, None) }
            .map_err(failed("vkCreateAccelerationStructureKHR"))?;
        let info =
            vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(raw);
        // SAFETY: the structure was just made.
        let address = unsafe { functions.get_acceleration_structure_device_address(&info) };
        Ok(Self {
            raw,
            address,
            functions: functions.clone(),
            storage,
        })
    }

    /// The raw structure. It is destroyed with this.
    #[must_use]
    pub fn raw(&self) -> vk::AccelerationStructureKHR {
        self.raw
    }

    /// Its device address, by which instances and shaders refer to it.
    #[must_use]
    pub fn address(&self) -> vk::DeviceAddress {
        self.address
    }
}

impl Drop for Structure {
    fn drop(&mut self) {
        // SAFETY: its own; the storage is freed after it, and the storage keeps the device.
        unsafe {
            self.functions
                .destroy_acceleration_structure(self.raw, None);
        }
    }
}
