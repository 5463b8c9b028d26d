//! A small off-screen harness: buffers, images, draws and dispatches that run to their end, and
//! results read back. It is what proofs and tests are written in.
//!
//! Everything here is safe to call, and every handle may be dropped at any time: a submission
//! waits for the device, and what a set or a pipeline refers to is kept alive by it. Offsets and
//! sizes are checked against the objects they go into. One thing is taken on trust: the SPIR-V
//! given to [`Scratch::shader`] must be valid and stay inside of what it is bound to, since a device
//! does not check what a shader does with an address.

mod pipeline;
mod resource;
mod work;

pub use pipeline::{
    Attachment, Bind, BindSet, ComputeDesc, Depth, GraphicsDesc, Layout, Pipeline, Resource,
    SetLayout, Shader, Stage, VertexInput,
};
pub use resource::{Buffer, Filter, Image, ImageDesc, ImageShape, Place, Sampler, texel_bytes};
pub use work::{
    ColourTarget, DepthTarget, Dispatch, Draw, DrawCall, Index, IndexType, Load, Pass, Report,
    Step, VertexBuffer,
};

use crate::device::Device;
use crate::features::Feature;
use ash::vk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why a piece of scratch work was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// The device lacks a feature that the harness or the request needs.
    #[error("the device has no {0}")]
    Missing(Feature),
    /// The device lacks something that is no feature.
    #[error("the device has no {0}")]
    Unsupported(String),
    /// A range lies outside of the object it is in.
    #[error("{what}: bytes {offset}..{end} are outside of its {size}")]
    OutOfRange {
        /// The object.
        what: &'static str,
        /// The first byte.
        offset: u64,
        /// The first byte after the range.
        end: u64,
        /// The object's size in bytes.
        size: u64,
    },
    /// The request contradicts itself or the objects in it.
    #[error("{0}")]
    Invalid(String),
    /// A call failed.
    #[error("{call} failed: {result}")]
    Call {
        /// The Vulkan command.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

pub(crate) fn failed(call: &'static str) -> impl FnOnce(vk::Result) -> ScratchError {
    move |result| ScratchError::Call { call, result }
}

fn in_range(what: &'static str, offset: u64, len: u64, size: u64) -> Result<(), ScratchError> {
    match offset.checked_add(len) {
        Some(end) if end <= size => Ok(()),
        end => Err(ScratchError::OutOfRange {
            what,
            offset,
            end: end.unwrap_or(u64::MAX),
            size,
        }),
    }
}

/// The harness. One command buffer at a time; several threads may share it and wait for each other.
#[derive(Debug)]
pub struct Scratch {
    recorder: Mutex<Recorder>,
    device: Arc<Device>,
}

#[derive(Debug)]
struct Recorder {
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
    fence: vk::Fence,
}

impl Scratch {
    /// A harness on the device's queue.
    ///
    /// # Errors
    /// [`ScratchError::Call`] if the driver refuses a command pool, buffer or fence.
    pub fn new(device: &Arc<Device>) -> Result<Self, ScratchError> {
        let raw = device.raw();
        // SAFETY: the queue family is the device's own. What was made before a failure is
        // destroyed; nothing else has seen it.
        let recorder = unsafe {
            let pool = raw
                .create_command_pool(
                    &vk::CommandPoolCreateInfo::default()
                        .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
                        .queue_family_index(device.queue_family()),
                    None,
                )
                .map_err(failed("vkCreateCommandPool"))?;
            let buffer = raw
                .allocate_command_buffers(
                    &vk::CommandBufferAllocateInfo::default()
                        .command_pool(pool)
                        .command_buffer_count(1),
                )
                .map(|buffers| buffers[0]);
            let fence = raw.create_fence(&vk::FenceCreateInfo::default(), None);
            match (buffer, fence) {
                (Ok(buffer), Ok(fence)) => Recorder {
                    pool,
                    buffer,
                    fence,
                },
                (buffer, fence) => {
                    if let Ok(fence) = fence {
                        raw.destroy_fence(fence, None);
                    }
                    raw.destroy_command_pool(pool, None);
                    let result = buffer.err().or(fence.err()).unwrap_or_default();
                    return Err(failed("vkAllocateCommandBuffers or vkCreateFence")(result));
                }
            }
        };
        Ok(Self {
            recorder: Mutex::new(recorder),
            device: Arc::clone(device),
        })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Records commands, submits them and waits for their end.
    fn submit(
        &self,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer) -> Result<(), ScratchError>,
    ) -> Result<(), ScratchError> {
        let raw = self.device.raw();
        let recorder = self.lock();
        let buffers = [recorder.buffer];
        // SAFETY: the lock makes this thread the only user of pool, buffer and fence, and no
        // submission is pending: each one is waited for below.
        unsafe {
            raw.begin_command_buffer(
                recorder.buffer,
                &vk::CommandBufferBeginInfo::default()
                    .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT),
            )
            .map_err(failed("vkBeginCommandBuffer"))?;
            let recorded = record(raw, recorder.buffer);
            raw.end_command_buffer(recorder.buffer)
                .map_err(failed("vkEndCommandBuffer"))?;
            recorded?;
            let submit = [vk::SubmitInfo::default().command_buffers(&buffers)];
            let queue = self.device.queue();
            raw.queue_submit(*queue, &submit, recorder.fence)
                .map_err(failed("vkQueueSubmit"))?;
            drop(queue);
            let fences = [recorder.fence];
            raw.wait_for_fences(&fences, true, u64::MAX)
                .map_err(failed("vkWaitForFences"))?;
            raw.reset_fences(&fences).map_err(failed("vkResetFences"))
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recorder> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let recorder = self.lock();
        // SAFETY: no submission is pending: `submit` waits for each, and after a failed wait the
        // device is lost, which ends all pending work.
        unsafe {
            self.device.raw().destroy_fence(recorder.fence, None);
            self.device.raw().destroy_command_pool(recorder.pool, None);
        }
    }
}

/// Everything before is visible to everything after.
///
/// # Safety
/// The command buffer is in the recording state, outside of a render pass.
unsafe fn full_barrier(device: &ash::Device, commands: vk::CommandBuffer) {
    let barrier = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    let all = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
    // SAFETY: the caller's promise.
    unsafe {
        device.cmd_pipeline_barrier(
            commands,
            all,
            all,
            vk::DependencyFlags::empty(),
            &barrier,
            &[],
            &[],
        );
    }
}
