//! A scene of triangles that is built and traced on the device.

use standin_vulkan::Device;
use standin_vulkan::accel::{AccelError, Contexts, Geometry, Input, Instance, ScratchUse};
use standin_vulkan::ash::vk;
use standin_vulkan::build::Pipeline;
use std::sync::Arc;

/// What a trace came to.
pub(crate) struct Traced {
    /// Rays that hit.
    pub(crate) hits: usize,
    pub(crate) rays: u32,
    pub(crate) scratch: ScratchUse,
}

/// Builds one triangle for each odd place of `rays` places, each with a structure of its own,
/// and sends a ray to every place.
pub(crate) fn trace(
    device: &Arc<Device>,
    contexts: &mut Contexts,
    pipeline: &Arc<Pipeline>,
    rays: u32,
) -> Result<Traced, AccelError> {
    let mut recording = contexts.begin()?;
    let corners: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let bytes: Vec<u8> = corners.into_iter().flat_map(f32::to_le_bytes).collect();
    let triangle = Geometry::Triangles {
        vertices: Input::new(device, &bytes)?,
        count: 1,
    };
    let mut instances = Vec::new();
    for x in (1..rays).step_by(2) {
        let structure = recording.build(&triangle)?;
        let mut transform = [0.0; 12];
        (transform[0], transform[5], transform[10]) = (1.0, 1.0, 1.0);
        transform[3] = x as f32;
        instances.push(Instance {
            structure,
            transform,
            custom_index: x,
        });
    }
    recording.barrier();
    let scene = recording.build(&Geometry::Instances(instances))?;
    recording.barrier_to_kernels();
    let found = Input::new(device, &vec![0; rays as usize * 4])?;
    let mut push = Vec::new();
    push.extend(scene.address().to_le_bytes());
    push.extend(found.address().to_le_bytes());
    push.extend(rays.to_le_bytes());
    let done = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    let (raw, commands) = (device.raw(), recording.commands());
    // SAFETY: the command buffer records; the scene is kept by the recording, the pipeline and
    // the results from here until the wait below; the push constants are the pipeline's.
    unsafe {
        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline.raw());
        raw.cmd_push_constants(
            commands,
            pipeline.layout(),
            vk::ShaderStageFlags::COMPUTE,
            0,
            &push,
        );
        raw.cmd_dispatch(commands, rays.div_ceil(64), 1, 1);
        raw.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &done,
            &[],
            &[],
        );
    }
    recording.keep(Arc::clone(pipeline) as _);
    recording.keep(Arc::clone(&found) as _);
    let scratch = contexts.submit(recording)?;
    contexts.wait()?;
    let hits = found
        .bytes()
        .chunks_exact(4)
        .filter(|word| *word != [0; 4])
        .count();
    Ok(Traced {
        hits,
        rays,
        scratch,
    })
}
