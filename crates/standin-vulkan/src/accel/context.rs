//! Submission contexts: a command buffer, its scratch, and what it keeps alive.

use super::buffer::{Buffer, Input, Place, Structure};
use super::{AccelError, Geometry, Instance, ScratchUse, failed};
use crate::device::Device;
use crate::features::Feature;
use ash::khr::acceleration_structure::Device as Functions;
use ash::vk;
use standin::engine::scratch::{Arena, Before, BufferId, TARGET};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One submission: recorded, running, or idle and ready to be recorded again.
struct Context {
    arena: Arena,
    buffers: BTreeMap<BufferId, Buffer>,
    /// What the recorded commands refer to.
    kept: Vec<Arc<dyn Any + Send + Sync>>,
    used: ScratchUse,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    device: Arc<Device>,
}

impl Context {
    fn new(device: &Arc<Device>, alignment: u64, target: u64) -> Result<Self, AccelError> {
        let raw = device.raw();
        let mut context = Self {
            arena: Arena::new(alignment, target),
            buffers: BTreeMap::new(),
            kept: Vec::new(),
            used: ScratchUse::default(),
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            device: Arc::clone(device),
        };
        // SAFETY: the queue family is the device's own; dropping the context frees what was
        // made before a failure.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                .queue_family_index(device.queue_family());
            context.pool = raw
                .create_command_pool(&info, None)
                .map_err(failed("vkCreateCommandPool"))?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(context.pool)
                .command_buffer_count(1);
            context.commands = raw
                .allocate_command_buffers(&info)
                .map_err(failed("vkAllocateCommandBuffers"))?[0];
            context.fence = raw
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(failed("vkCreateFence"))?;
        }
        Ok(context)
    }

    fn begin(&mut self) -> Result<(), AccelError> {
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        self.used = ScratchUse::default();
        // SAFETY: the command buffer is new or its submission has completed; beginning resets
        // it, which its pool allows.
        unsafe { self.device.raw().begin_command_buffer(self.commands, &info) }
            .map_err(failed("vkBeginCommandBuffer"))
    }

    /// Whether the submission has completed.
    fn has_completed(&self) -> Result<bool, AccelError> {
        // SAFETY: the fence was submitted and not reset since.
        unsafe { self.device.raw().get_fence_status(self.fence) }
            .map_err(failed("vkGetFenceStatus"))
    }

    /// Frees what only the completed submission needed. The arena's current buffer stays.
    fn complete(&mut self) -> Result<(), AccelError> {
        for id in self.arena.complete() {
            self.buffers.remove(&id);
        }
        self.kept.clear();
        // SAFETY: the submission that signals the fence has completed.
        unsafe { self.device.raw().reset_fences(&[self.fence]) }.map_err(failed("vkResetFences"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: its own objects, none of which the device is using: contexts that run are
        // waited for before they are dropped. The pool frees its command buffer; null is valid.
        unsafe {
            self.device.raw().destroy_fence(self.fence, None);
            self.device.raw().destroy_command_pool(self.pool, None);
        }
    }
}

/// The submission contexts of one device.
pub struct Contexts {
    idle: Vec<Context>,
    running: Vec<Context>,
    alignment: u64,
    target: u64,
    functions: Functions,
    device: Arc<Device>,
}

impl std::fmt::Debug for Contexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Contexts")
            .field("idle", &self.idle.len())
            .field("running", &self.running.len())
            .finish_non_exhaustive()
    }
}

impl Contexts {
    /// No context yet. Their arenas grow to [`TARGET`] before they wrap.
    ///
    /// # Errors
    /// The device has no acceleration structures.
    pub fn new(device: &Arc<Device>) -> Result<Self, AccelError> {
        Self::with_target(device, TARGET)
    }

    /// The same with another target, in bytes.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_target(device: &Arc<Device>, target: u64) -> Result<Self, AccelError> {
        for feature in [Feature::AccelerationStructure, Feature::BufferDeviceAddress] {
            if !device.features().has(feature) {
                return Err(AccelError::Missing(feature));
            }
        }
        let instance = device.instance().raw();
        let mut properties = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        let mut chain = vk::PhysicalDeviceProperties2::default().push_next(&mut properties);
        // SAFETY: a query of a live physical device that has the extension.
        unsafe { instance.get_physical_device_properties2(device.physical(), &mut chain) };
        let alignment = properties.min_acceleration_structure_scratch_offset_alignment;
        Ok(Self {
            idle: Vec::new(),
            running: Vec::new(),
            alignment: u64::from(alignment),
            target,
            functions: Functions::new(instance, device.raw()),
            device: Arc::clone(device),
        })
    }

    /// Begins a submission, in the completed context with the most scratch if there is one.
    ///
    /// # Errors
    /// A call failed.
    pub fn begin(&mut self) -> Result<Recording, AccelError> {
        self.collect()?;
        let richest = (0..self.idle.len()).max_by_key(|index| self.idle[*index].arena.capacity());
        let mut context = match richest {
            Some(index) => self.idle.swap_remove(index),
            None => Context::new(&self.device, self.alignment, self.target)?,
        };
        context.begin()?;
        Ok(Recording {
            context,
            alignment: self.alignment,
            functions: self.functions.clone(),
        })
    }

    /// Submits what was recorded. Its context is kept until it has completed.
    ///
    /// # Errors
    /// A call failed; nothing was submitted.
    pub fn submit(&mut self, recording: Recording) -> Result<ScratchUse, AccelError> {
        let Recording { context, .. } = recording;
        let raw = self.device.raw();
        let commands = [context.commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        let queue = self.device.queue();
        // SAFETY: the command buffer was begun and is this recording's own; the fence is not
        // in use; the queue is locked. All that the commands refer to lives in the context.
        unsafe {
            raw.end_command_buffer(context.commands)
                .map_err(failed("vkEndCommandBuffer"))?;
            raw.queue_submit(*queue, &submits, context.fence)
                .map_err(failed("vkQueueSubmit"))?;
        }
        drop(queue);
        let used = context.used;
        self.running.push(context);
        Ok(used)
    }

    /// Takes back the contexts whose submissions have completed. Never waits.
    ///
    /// # Errors
    /// A call failed; the device is then lost.
    pub fn collect(&mut self) -> Result<(), AccelError> {
        let mut index = 0;
        while index < self.running.len() {
            if self.running[index].has_completed()? {
                let mut context = self.running.swap_remove(index);
                context.complete()?;
                self.idle.push(context);
            } else {
                index += 1;
            }
        }
        Ok(())
    }

    /// Waits for every submission.
    ///
    /// # Errors
    /// A call failed; the device is then lost.
    pub fn wait(&mut self) -> Result<(), AccelError> {
        self.wait_for_fences()?;
        self.collect()
    }

    /// Contexts that are idle and that run, and the scratch buffers that they own.
    #[must_use]
    pub fn counts(&self) -> (usize, usize, usize) {
        let buffers = |contexts: &[Context]| -> usize {
            contexts.iter().map(|context| context.buffers.len()).sum()
        };
        (
            self.idle.len(),
            self.running.len(),
            buffers(&self.idle) + buffers(&self.running),
        )
    }

    fn wait_for_fences(&self) -> Result<(), AccelError> {
        let fences: Vec<vk::Fence> = self.running.iter().map(|context| context.fence).collect();
        if fences.is_empty() {
            return Ok(());
        }
        // SAFETY: fences of submissions.
        unsafe { self.device.raw().wait_for_fences(&fences, true, u64::MAX) }
            .map_err(failed("vkWaitForFences"))
    }
}

impl Drop for Contexts {
    fn drop(&mut self) {
        // Where it fails the device is lost, and a lost device uses nothing.
        let _lost = self.wait_for_fences();
    }
}

/// A submission that is being recorded.
pub struct Recording {
    context: Context,
    alignment: u64,
    functions: Functions,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording")
            .field("used", &self.context.used)
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// The command buffer, to record into. What is recorded must not end it, and whatever it
    /// refers to is to be [kept](Self::keep).
    #[must_use]
    pub fn commands(&self) -> vk::CommandBuffer {
        self.context.commands
    }

    /// Keeps something alive until the submission has completed.
    pub fn keep(&mut self, what: Arc<dyn Any + Send + Sync>) {
        self.context.kept.push(what);
    }

    /// How much scratch was used so far.
    #[must_use]
    pub fn used(&self) -> ScratchUse {
        self.context.used
    }

    /// Records the build of a structure. Builds are independent of each other; one that reads
    /// what another of this submission makes needs [`Self::barrier`] before it.
    ///
    /// # Errors
    /// The geometry does not fit its input, or there is no memory.
    pub fn build(&mut self, geometry: &Geometry) -> Result<Arc<Structure>, AccelError> {
        let device = Arc::clone(&self.context.device);
        let (kind, data, type_, count) = match geometry {
            Geometry::Triangles { vertices, count } => {
                let bytes = u64::from(*count) * 36;
                if *count == 0 || vertices.0.size() < bytes {
                    return Err(AccelError::Invalid(
                        "fewer vertices than the triangles have",
                    ));
                }
                self.keep(Arc::clone(vertices) as Arc<dyn Any + Send + Sync>);
                let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
                    .vertex_format(vk::Format::R32G32B32_SFLOAT)
                    .vertex_data(vk::DeviceOrHostAddressConstKHR {
                        device_address: vertices.address(),
                    })
                    .vertex_stride(12)
                    .max_vertex(count.saturating_mul(3).saturating_sub(1))
                    .index_type(vk::IndexType::NONE_KHR);
                (
                    vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL,
                    vk::AccelerationStructureGeometryDataKHR { triangles },
                    vk::GeometryTypeKHR::TRIANGLES,
                    *count,
                )
            }
            Geometry::Instances(instances) => {
                let count = u32::try_from(instances.len())
                    .map_err(|_| AccelError::Invalid("more instances than can be counted"))?;
                let bytes: Vec<u8> = instances.iter().flat_map(instance_bytes).collect();
                let input = Input::new(&device, &bytes)?;
                for instance in instances {
                    self.keep(Arc::clone(&instance.structure) as Arc<dyn Any + Send + Sync>);
                }
                self.keep(Arc::clone(&input) as Arc<dyn Any + Send + Sync>);
                let instances = vk::AccelerationStructureGeometryInstancesDataKHR::default()
                    .array_of_pointers(false)
                    .data(vk::DeviceOrHostAddressConstKHR {
                        device_address: input.address(),
                    });
                (
                    vk::AccelerationStructureTypeKHR::TOP_LEVEL,
                    vk::AccelerationStructureGeometryDataKHR { instances },
                    vk::GeometryTypeKHR::INSTANCES,
                    count,
                )
            }
        };
        let geometries = [vk::AccelerationStructureGeometryKHR::default()
            .geometry_type(type_)
            .geometry(data)
            .flags(vk::GeometryFlagsKHR::OPAQUE)];
        let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
            .ty(kind)
            .flags(vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE)
            .mode(vk::BuildAccelerationStructureModeKHR::BUILD)
            .geometries(&geometries);
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        // SAFETY: one geometry, one count.
        unsafe {
            self.functions.get_acceleration_structure_build_sizes(
                vk::AccelerationStructureBuildTypeKHR::DEVICE,
                &info,
                &[count],
                &mut sizes,
            );
        }
        let size = sizes.acceleration_structure_size;
        let structure = Arc::new(Structure::new(&device, &self.functions, kind, size)?);
        let scratch = self.scratch(sizes.build_scratch_size)?;
        self.keep(Arc::clone(&structure) as Arc<dyn Any + Send + Sync>);
        info = info
            .dst_acceleration_structure(structure.raw())
            .scratch_data(vk::DeviceOrHostAddressKHR {
                device_address: scratch,
            });
        let ranges = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(count)];
        // SAFETY: the command buffer records; input, structure and scratch are of the sizes
        // that the driver asked for and live in the context until the submission completes;
        // builds between two barriers have disjoint scratch.
        unsafe {
            self.functions.cmd_build_acceleration_structures(
                self.context.commands,
                &[info],
                &[&ranges],
            );
        }
        self.context.used.builds += 1;
        self.context.used.capacity = self.context.arena.capacity();
        Ok(structure)
    }

    /// Makes what was built before visible to the builds after.
    pub fn barrier(&self) {
        self.memory_barrier(
            vk::PipelineStageFlags::ACCELERATION_STRUCTURE_BUILD_KHR,
            vk::AccessFlags::ACCELERATION_STRUCTURE_READ_KHR
                | vk::AccessFlags::ACCELERATION_STRUCTURE_WRITE_KHR,
        );
    }

    /// Makes what was built before visible to the ray queries of kernels after.
    pub fn barrier_to_kernels(&self) {
        self.memory_barrier(
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::AccessFlags::ACCELERATION_STRUCTURE_READ_KHR,
        );
    }

    fn memory_barrier(&self, stage: vk::PipelineStageFlags, access: vk::AccessFlags) {
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(
                vk::AccessFlags::ACCELERATION_STRUCTURE_READ_KHR
                    | vk::AccessFlags::ACCELERATION_STRUCTURE_WRITE_KHR,
            )
            .dst_access_mask(access);
        // SAFETY: the command buffer records, outside of a render pass.
        unsafe {
            self.context.device.raw().cmd_pipeline_barrier(
                self.context.commands,
                vk::PipelineStageFlags::ACCELERATION_STRUCTURE_BUILD_KHR,
                stage,
                vk::DependencyFlags::empty(),
                &[barrier],
                &[],
                &[],
            );
        }
    }

    /// The address of scratch for one build.
    fn scratch(&mut self, size: u64) -> Result<vk::DeviceAddress, AccelError> {
        let range = self.context.arena.reserve(size)?;
        match range.before {
            Before::Nothing => {}
            Before::Barrier => {
                self.barrier();
                self.context.used.wrapped += 1;
            }
            Before::Create { capacity } => {
                // The buffer's address need not have the alignment: there is room to round up.
                let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
                let size = capacity.saturating_add(self.alignment);
                let buffer = Buffer::new(&self.context.device, size, usage, Place::Device)?;
                self.context.buffers.insert(range.buffer, buffer);
                self.context.used.grown += 1;
            }
        }
        let base = self
            .context
            .buffers
            .get(&range.buffer)
            .ok_or(AccelError::NoMemory("scratch"))?
            .address();
        Ok(base.next_multiple_of(self.alignment.max(1)) + range.offset)
    }
}

/// `VkAccelerationStructureInstanceKHR`: 64 bytes.
fn instance_bytes(instance: &Instance) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    for value in instance.transform {
        bytes.extend(value.to_le_bytes());
    }
    // The custom index has 24 bits, the mask the 8 above: seen by every ray.
    bytes.extend((instance.custom_index & 0xff_ffff | 0xff << 24).to_le_bytes());
    // No shader binding table offset, no flags.
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(instance.structure.address().to_le_bytes());
    bytes
}
