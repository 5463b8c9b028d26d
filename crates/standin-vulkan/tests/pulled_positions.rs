//! A depth prepass with one variant and an EQUAL pass with the other cover the same pixels, both ways round.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_pull::{BlockPlace, Conversion, Options, Rewritten, hold_positions, rewrite};
use standin_recipe::vertex::{VertexAttribute, VertexBinding, VertexInputState};
use standin_vulkan::DeviceSettings;
use standin_vulkan::ash::vk;
use standin_vulkan::prove::{FetchProof, FormatVerdict, Verdict};
use standin_vulkan::pulled::{BoundBuffer, layout_block};
use standin_vulkan::scratch::{
    Attachment, Bind, BindSet, ColourTarget, Depth, DepthTarget, Draw, DrawCall, GraphicsDesc,
    Image, ImageDesc, ImageShape, Layout, Load, Pass, Pipeline, Resource, Scratch, Stage, Step,
    VertexBuffer, VertexInput,
};
use support::{TestDevice, words};

const TRIANGLES: u32 = 2400;
const STRIDE: u32 = 24;
const SIZE: u32 = 256;
const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const FORMATS: [(vk::Format, u32); 3] = [
    (vk::Format::R32G32B32_SFLOAT, 0),
    (vk::Format::R8G8B8A8_UNORM, 12),
    (vk::Format::R32G32_SFLOAT, 16),
];

fn random() -> impl FnMut() -> f32 {
    let mut state = 0x1234_5678_u32;
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / 16_777_216.0
    }
}

/// Small triangles everywhere in front of the camera.
fn triangles() -> Vec<u8> {
    let mut random = random();
    let mut bytes = Vec::new();
    for _ in 0..TRIANGLES {
        let centre = [random() * 2.0 - 1.0, random() * 2.0 - 1.0, random()];
        for _ in 0..3 {
            for at in centre {
                bytes.extend((at + random() * 0.3 - 0.15).to_le_bytes());
            }
            bytes.extend([1, 77, 200, 255]);
            bytes.extend((random() * 0.2 - 0.1).to_le_bytes());
            bytes.extend((random() * 0.2 - 0.1).to_le_bytes());
        }
    }
    bytes
}

/// Two matrices without round numbers: a rotation, and a projection with w from z.
fn camera() -> Vec<u8> {
    let (sin, cos) = 0.3_f32.sin_cos();
    let world = [
        cos, sin, 0.07, 0.0, -sin, cos, 0.03, 0.0, 0.02, -0.05, 0.9, 0.0, 0.01, 0.02, 0.3, 1.0,
    ];
    let projection = [
        1.1, 0.0, 0.0, 0.0, 0.0, 1.3, 0.0, 0.0, 0.0, 0.0, 0.37, 0.31, 0.0, 0.0, 0.11, 1.0,
    ];
    world
        .into_iter()
        .chain(projection)
        .flat_map(f32::to_le_bytes)
        .collect()
}

struct Variant {
    prepass: Pipeline,
    equal: Pipeline,
    sets: Vec<BindSet>,
    fixed: bool,
}

fn pipelines(
    scratch: &Scratch,
    spirv: &[u32],
    layout: &Layout,
    input: VertexInput<'_>,
) -> [Pipeline; 2] {
    let vertex = scratch.shader(spirv).unwrap();
    let fragment = scratch
        .shader(&words(include_bytes!("shaders/white.frag.spv")))
        .unwrap();
    let depth = |compare, write| {
        Some(Depth {
            format: vk::Format::D32_SFLOAT,
            compare,
            write,
        })
    };
    let prepass = scratch.graphics(&GraphicsDesc {
        input,
        depth: depth(vk::CompareOp::LESS, true),
        ..GraphicsDesc::new(Stage::main(&vertex), None, layout)
    });
    let equal = scratch.graphics(&GraphicsDesc {
        input,
        depth: depth(vk::CompareOp::EQUAL, false),
        colours: &[Attachment::write(COLOUR)],
        ..GraphicsDesc::new(Stage::main(&vertex), Some(Stage::main(&fragment)), layout)
    });
    [prepass.unwrap(), equal.unwrap()]
}

#[test]
fn equal_depth_covers_every_pixel_both_ways_round() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    if !test.draws() {
        return;
    }
    let scratch = Scratch::new(&test.device).unwrap();
    let bytes = triangles();
    let vertices = scratch.buffer_with(&bytes).unwrap();
    let camera = scratch.buffer_with(&camera()).unwrap();
    let spirv = words(include_bytes!("shaders/transform.vert.spv"));
    let state = VertexInputState {
        bindings: vec![VertexBinding {
            stride: STRIDE,
            ..VertexBinding::default()
        }],
        attributes: (0..)
            .zip(FORMATS)
            .map(|(location, (format, offset))| VertexAttribute {
                location,
                binding: 0,
                format,
                offset,
            })
            .collect(),
    };

    let uniform = Bind::new(0, vk::DescriptorType::UNIFORM_BUFFER);
    let set_layout = scratch.set_layout(&[uniform]).unwrap();
    let camera_set = scratch
        .bind_set(
            &set_layout,
            &[(0, Resource::Buffer(&camera, 0, camera.size()))],
        )
        .unwrap();
    let bindings = [vk::VertexInputBindingDescription {
        binding: 0,
        stride: STRIDE,
        input_rate: vk::VertexInputRate::VERTEX,
    }];
    let attributes: Vec<_> = state
        .attributes
        .iter()
        .map(|a| vk::VertexInputAttributeDescription {
            location: a.location,
            binding: 0,
            format: a.format,
            offset: a.offset,
        })
        .collect();
    let layout = scratch.layout(&[&set_layout], 0).unwrap();
    let input = VertexInput::Fixed {
        bindings: &bindings,
        attributes: &attributes,
        divisors: &[],
    };
    let [prepass, equal] = pipelines(
        &scratch,
        &hold_positions(&spirv, None).unwrap(),
        &layout,
        input,
    );
    let exact = Variant {
        prepass,
        equal,
        sets: vec![camera_set.clone()],
        fixed: true,
    };

    let options = Options {
        block: BlockPlace::Uniform { set: 1, binding: 0 },
        ..Options::default()
    };
    let Rewritten::Pulled(pulled) = rewrite(&spirv, &options).unwrap() else {
        panic!("the shader has inputs")
    };
    let proof = FetchProof {
        formats: FORMATS
            .iter()
            .map(|(format, _)| FormatVerdict {
                format: format.as_raw(),
                name: format!("{format:?}"),
                verdict: Verdict::Proven {
                    conversion: Conversion::default(),
                    elements: 0,
                },
            })
            .collect(),
        ..FetchProof::default()
    };
    let buffers = [BoundBuffer {
        binding: 0,
        base: vertices.address().unwrap(),
        size: bytes.len() as u64,
    }];
    let block = layout_block(&pulled, &state, &buffers, &proof).unwrap();
    let block = scratch.buffer_with(&block.to_bytes()).unwrap();
    let block_set = scratch
        .bind_set(
            &set_layout,
            &[(0, Resource::Buffer(&block, 0, block.size()))],
        )
        .unwrap();
    let layout = scratch.layout(&[&set_layout, &set_layout], 0).unwrap();
    let [prepass, equal] = pipelines(&scratch, &pulled.spirv, &layout, VertexInput::NONE);
    let pulled = Variant {
        prepass,
        equal,
        sets: vec![camera_set, block_set],
        fixed: false,
    };

    let colour = scratch
        .image(&ImageDesc {
            shape: ImageShape::D2(SIZE, SIZE),
            format: COLOUR,
        })
        .unwrap();
    let depth = scratch
        .image(&ImageDesc {
            shape: ImageShape::D2(SIZE, SIZE),
            format: vk::Format::D32_SFLOAT,
        })
        .unwrap();
    let covered = |first: &Variant, second: &Variant| {
        cover(&scratch, first, second, &vertices, &colour, &depth)
    };
    let whole = covered(&exact, &exact);
    let pixels = whole
        .chunks_exact(4)
        .filter(|pixel| pixel[0] == 255)
        .count();
    assert!(
        pixels > (SIZE * SIZE / 2) as usize,
        "{pixels} pixels are covered"
    );
    assert!(
        covered(&exact, &pulled) == whole,
        "prepass exact, EQUAL pass pulled"
    );
    assert!(
        covered(&pulled, &exact) == whole,
        "prepass pulled, EQUAL pass exact"
    );
    test.assert_valid();
}

/// The picture after a prepass with one variant and an EQUAL pass with the other.
fn cover(
    scratch: &Scratch,
    first: &Variant,
    second: &Variant,
    vertices: &standin_vulkan::scratch::Buffer,
    colour: &Image,
    depth: &Image,
) -> Vec<u8> {
    let buffers = [VertexBuffer {
        binding: 0,
        buffer: vertices,
        offset: 0,
    }];
    let sets = |variant: &'_ Variant| -> Vec<(BindSet, Vec<u32>)> {
        variant
            .sets
            .iter()
            .map(|set| (set.clone(), Vec::new()))
            .collect()
    };
    let (first_sets, second_sets) = (sets(first), sets(second));
    let [first_sets, second_sets] = [&first_sets, &second_sets].map(|sets| {
        sets.iter()
            .map(|(set, offsets)| (set, offsets.as_slice()))
            .collect::<Vec<_>>()
    });
    let call = DrawCall::vertices(3 * TRIANGLES);
    let buffers_of = |variant: &Variant| {
        if variant.fixed {
            buffers.as_slice()
        } else {
            &[]
        }
    };
    let prepass = [Draw {
        sets: &first_sets,
        vertex_buffers: buffers_of(first),
        ..Draw::new(&first.prepass, call)
    }];
    let equal = [Draw {
        sets: &second_sets,
        vertex_buffers: buffers_of(second),
        ..Draw::new(&second.equal, call)
    }];
    scratch
        .run(&[
            Step::Pass(Pass {
                size: (SIZE, SIZE),
                colours: &[],
                depth: Some(DepthTarget {
                    image: depth,
                    load: Load::Clear(1.0),
                }),
                draws: &prepass,
            }),
            Step::Pass(Pass {
                size: (SIZE, SIZE),
                colours: &[ColourTarget {
                    image: colour,
                    load: Load::Clear([0.0; 4]),
                }],
                depth: Some(DepthTarget {
                    image: depth,
                    load: Load::Keep,
                }),
                draws: &equal,
            }),
        ])
        .unwrap();
    scratch.download(colour).unwrap()
}
