//! Builds of acceleration structures, and the rays that find them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_recipe::layout::{PipelineLayoutRecipe, PushConstantRange};
use standin_recipe::{ComputeRecipe, Recipe};
use standin_vulkan::accel::{
    AccelError, Contexts, Geometry, Input, Instance, Recording, Structure,
};
use standin_vulkan::ash::{self, vk};
use standin_vulkan::build::{Builder, Pipeline};
use standin_vulkan::objects::Objects;
use standin_vulkan::{Device, DeviceSettings, Feature};
use std::sync::Arc;
use support::{TestDevice, recipes};

/// A device that really builds and traces: lavapipe does.
fn tracing_device() -> Option<TestDevice> {
    let test = TestDevice::from_environment(&DeviceSettings::default())?;
    let has = test.device.features().has(Feature::RayQuery);
    assert!(has || test.name != "lavapipe", "lavapipe has ray queries");
    (has && test.draws()).then_some(test)
}

/// One triangle at z = 0 over (1/4, 1/4), and more of them far behind it.
fn triangles(device: &Arc<Device>, count: u32) -> Geometry {
    let bytes: Vec<u8> = (0..count)
        .flat_map(|index| {
            let z = if index == 0 { 0.0 } else { 20.0 + index as f32 };
            [[0.0, 0.0, z], [1.0, 0.0, z], [0.0, 1.0, z]]
        })
        .flatten()
        .flat_map(f32::to_le_bytes)
        .collect();
    Geometry::Triangles {
        vertices: Input::new(device, &bytes).unwrap(),
        count,
    }
}

fn at(structure: &Arc<Structure>, x: u32) -> Instance {
    Instance {
        structure: Arc::clone(structure),
        transform: [
            1.0, 0.0, 0.0, x as f32, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0,
        ],
        custom_index: x,
    }
}

fn tracer(device: &Arc<Device>) -> Arc<Pipeline> {
    let recipe = ComputeRecipe {
        flags: Default::default(),
        stage: recipes::stage(
            vk::ShaderStageFlags::COMPUTE,
            include_bytes!("../examples/engine/shaders/trace.comp.spv"),
        ),
        layout: Arc::new(PipelineLayoutRecipe {
            push_constant_ranges: vec![PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: 20,
            }],
            ..PipelineLayoutRecipe::default()
        }),
        robustness: None,
    };
    let builder = Builder::new(&Objects::new(device));
    Arc::new(builder.build(&Recipe::Compute(recipe)).unwrap().pipeline)
}

/// Records `count` rays over the scene; the answers will be in the buffer.
fn trace(
    device: &Arc<Device>,
    recording: &mut Recording,
    pipeline: &Arc<Pipeline>,
    scene: &Structure,
    count: u32,
) -> Arc<Input> {
    let hits = Input::new(device, &vec![0xff; count as usize * 4]).unwrap();
    let mut push = Vec::new();
    push.extend(scene.address().to_le_bytes());
    push.extend(hits.address().to_le_bytes());
    push.extend(count.to_le_bytes());
    recording.barrier_to_kernels();
    let (raw, commands) = (device.raw(), recording.commands());
    let done = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ)];
    // SAFETY: the pipeline, the scene and the answers are kept by the recording; the push
    // constants are the pipeline's.
    unsafe {
        raw.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline.raw());
        raw.cmd_push_constants(
            commands,
            pipeline.layout(),
            vk::ShaderStageFlags::COMPUTE,
            0,
            &push,
        );
        raw.cmd_dispatch(commands, count.div_ceil(64), 1, 1);
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
    recording.keep(Arc::clone(&hits) as _);
    hits
}

/// What each ray must find: the instance at its place, where there is one.
fn expected(count: u32, there: impl Fn(u32) -> bool) -> Vec<u32> {
    (0..count)
        .map(|x| if there(x) { x + 1 } else { 0 })
        .collect()
}

#[test]
fn rays_find_exactly_what_was_built_in_scratch_that_grows_and_wraps() {
    let Some(test) = tracing_device() else {
        return;
    };
    let device = &test.device;
    let pipeline = tracer(device);
    // So small that a batch grows it and then wraps: four times what one build takes here.
    let mut probe = Contexts::new(device).unwrap().begin().unwrap();
    probe.build(&triangles(device, 1)).unwrap();
    let mut contexts = Contexts::with_target(device, 4 * probe.used().capacity).unwrap();
    drop(probe);
    let mut capacity = 0;
    for batch in 0..3_u32 {
        let mut recording = contexts.begin().unwrap();
        let count = 60;
        // A structure of its own for each odd place, of ever other sizes.
        let bottoms: Vec<(u32, Arc<Structure>)> = (0..count)
            .filter(|x| x % 2 == 1)
            .map(|x| {
                let geometry = triangles(device, 1 + x * 7 % 40 + 200 * u32::from(x == 31));
                (x, recording.build(&geometry).unwrap())
            })
            .collect();
        let used = recording.used();
        assert_eq!(used.builds, 30);
        assert!(used.wrapped > 0, "{used:?}");
        if batch == 0 {
            assert!(used.grown > 1, "{used:?}");
            capacity = used.capacity;
        } else {
            // The capacity that the first batch earned serves the next ones.
            assert_eq!((used.grown, used.capacity), (0, capacity));
        }
        recording.barrier();
        let instances = bottoms.iter().map(|(x, bottom)| at(bottom, *x)).collect();
        let scene = recording.build(&Geometry::Instances(instances)).unwrap();
        let hits = trace(device, &mut recording, &pipeline, &scene, count);
        // The submission keeps all of it.
        drop((bottoms, scene));
        contexts.submit(recording).unwrap();
        contexts.wait().unwrap();
        assert_eq!(
            support::words(&hits.bytes()),
            expected(count, |x| x % 2 == 1)
        );
        let (idle, running, buffers) = contexts.counts();
        assert_eq!((idle, running, buffers), (1, 0, 1));
    }
    test.assert_valid();
}

#[test]
fn contexts_in_flight_have_scratch_of_their_own() {
    let Some(test) = tracing_device() else {
        return;
    };
    let device = &test.device;
    let pipeline = tracer(device);
    let mut contexts = Contexts::new(device).unwrap();
    // Begun together, so that none can be reused.
    let recordings: Vec<Recording> = (0..3).map(|_| contexts.begin().unwrap()).collect();
    let mut answers = Vec::new();
    for (number, mut recording) in (1_u32..).zip(recordings) {
        let bottom = recording.build(&triangles(device, 5 * number)).unwrap();
        recording.barrier();
        let instances = (0..number).map(|x| at(&bottom, x * 3)).collect();
        let scene = recording.build(&Geometry::Instances(instances)).unwrap();
        answers.push((number, trace(device, &mut recording, &pipeline, &scene, 9)));
        // Far below the target: no build of a few triangles takes 128 MiB.
        let used = contexts.submit(recording).unwrap();
        assert!(used.capacity < 1 << 20, "{used:?}");
        assert_eq!(used.wrapped, 0);
    }
    contexts.wait().unwrap();
    assert_eq!(contexts.counts(), (3, 0, 3));
    for (number, hits) in answers {
        let there = |x: u32| x.is_multiple_of(3) && x / 3 < number;
        assert_eq!(support::words(&hits.bytes()), expected(9, there));
    }
    test.assert_valid();
}

#[test]
fn geometry_that_exceeds_its_input_is_refused() {
    let Some(test) = tracing_device() else {
        return;
    };
    let mut contexts = Contexts::new(&test.device).unwrap();
    let mut recording = contexts.begin().unwrap();
    for count in [0, 2] {
        let short = Geometry::Triangles {
            vertices: Input::new(&test.device, &[0; 36]).unwrap(),
            count,
        };
        let error = recording.build(&short).unwrap_err();
        assert!(matches!(error, AccelError::Invalid(_)));
    }
    // A recording that is not submitted frees what it has.
    drop(recording);
    assert_eq!(contexts.counts(), (0, 0, 0));
    test.assert_valid();
}

#[test]
fn a_device_without_the_feature_is_told_so() {
    let settings = DeviceSettings {
        without: vec![Feature::AccelerationStructure, Feature::RayQuery],
        without_extensions: vec![
            ash::khr::ray_query::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::acceleration_structure::NAME,
        ],
        ..DeviceSettings::default()
    };
    let Some(test) = TestDevice::from_environment(&settings) else {
        return;
    };
    let error = Contexts::new(&test.device).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the device has no {}", Feature::AccelerationStructure)
    );
}
