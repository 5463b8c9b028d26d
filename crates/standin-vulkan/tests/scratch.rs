//! The harness on a real driver: what is written is read back, and what is drawn is there.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_vulkan::DeviceSettings;
use standin_vulkan::ash::vk;
use standin_vulkan::scratch::{
    Attachment, Bind, ColourTarget, ComputeDesc, Depth, DepthTarget, Dispatch, Draw, DrawCall,
    Filter, GraphicsDesc, Image, ImageDesc, ImageShape, Index, IndexType, Layout, Load, Pass,
    Pipeline, Place, Resource, Scratch, ScratchError, Stage, Step, VertexBuffer, VertexInput,
};
use support::{TestDevice, words};

const RGBA32F: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// Two floats of position, four of colour; a per-instance shift.
const BINDINGS: [vk::VertexInputBindingDescription; 2] = [
    vk::VertexInputBindingDescription {
        binding: 0,
        stride: 24,
        input_rate: vk::VertexInputRate::VERTEX,
    },
    vk::VertexInputBindingDescription {
        binding: 1,
        stride: 4,
        input_rate: vk::VertexInputRate::INSTANCE,
    },
];

const ATTRIBUTES: [vk::VertexInputAttributeDescription; 3] = [
    vk::VertexInputAttributeDescription {
        location: 0,
        binding: 0,
        format: vk::Format::R32G32_SFLOAT,
        offset: 0,
    },
    vk::VertexInputAttributeDescription {
        location: 1,
        binding: 0,
        format: RGBA32F,
        offset: 8,
    },
    vk::VertexInputAttributeDescription {
        location: 2,
        binding: 1,
        format: vk::Format::R32_SFLOAT,
        offset: 0,
    },
];

/// A triangle in one colour. Of 4 by 4 pixels it covers the left column and the middle two of the
/// one beside it.
fn left_half(colour: [f32; 4]) -> Vec<f32> {
    [[-1.0, -2.0], [-1.0, 2.0], [0.0, 0.0]]
        .into_iter()
        .flat_map(|[x, y]: [f32; 2]| [x, y, colour[0], colour[1], colour[2], colour[3]])
        .collect()
}

struct Picture<'a> {
    scratch: &'a Scratch,
    image: Image,
    depth: Image,
    layout: Layout,
}

impl<'a> Picture<'a> {
    fn new(scratch: &'a Scratch) -> Self {
        let shape = ImageShape::D2(4, 4);
        Self {
            image: scratch
                .image(&ImageDesc {
                    shape,
                    format: RGBA32F,
                })
                .unwrap(),
            depth: scratch
                .image(&ImageDesc {
                    shape,
                    format: vk::Format::D32_SFLOAT,
                })
                .unwrap(),
            layout: scratch.layout(&[], 4).unwrap(),
            scratch,
        }
    }

    fn pipeline(&self, input: VertexInput<'_>, compare: vk::CompareOp, scale: f32) -> Pipeline {
        let vertex = self
            .scratch
            .shader(&words(include_bytes!("shaders/quad.vert.spv")))
            .unwrap();
        let fragment = self
            .scratch
            .shader(&words(include_bytes!("shaders/shade.frag.spv")))
            .unwrap();
        self.scratch
            .graphics(&GraphicsDesc {
                input,
                colours: &[Attachment::write(RGBA32F)],
                depth: Some(Depth {
                    format: vk::Format::D32_SFLOAT,
                    compare,
                    write: true,
                }),
                ..GraphicsDesc::new(
                    Stage::main(&vertex),
                    Some(Stage {
                        constants: &[(3, scale.to_bits())],
                        ..Stage::main(&fragment)
                    }),
                    &self.layout,
                )
            })
            .unwrap()
    }

    fn draw(&self, draws: &[Draw<'_>]) -> Vec<f32> {
        let report = self
            .scratch
            .run(&[Step::Pass(Pass {
                size: (4, 4),
                colours: &[ColourTarget {
                    image: &self.image,
                    load: Load::Clear([0.5; 4]),
                }],
                depth: Some(DepthTarget {
                    image: &self.depth,
                    load: Load::Clear(0.75),
                }),
                draws,
            })])
            .unwrap();
        assert_eq!(report.nanoseconds.len(), 1);
        floats(&self.scratch.download(&self.image).unwrap())
    }
}

fn pixel(picture: &[f32], x: usize, y: usize) -> &[f32] {
    &picture[(y * 4 + x) * 4..][..4]
}

const FIXED: VertexInput<'static> = VertexInput::Fixed {
    bindings: &BINDINGS,
    attributes: &ATTRIBUTES,
    divisors: &[],
};

#[test]
fn draws_of_every_kind_reach_the_attachment() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let scratch = Scratch::new(&test.device).unwrap();
    let picture = Picture::new(&scratch);
    let fixed = picture.pipeline(FIXED, vk::CompareOp::LESS, 2.0);
    let equal = picture.pipeline(FIXED, vk::CompareOp::EQUAL, 1.0);
    let dynamic = picture.pipeline(VertexInput::Dynamic, vk::CompareOp::LESS, 2.0);

    // The vertices begin 12 bytes into their buffer: any offset may be bound.
    let mut vertices = bytes(&[9.0; 3]);
    vertices.extend(bytes(&left_half([0.25, 0.5, 1.0, 1.0])));
    vertices.extend(bytes(&left_half([3.0, 3.0, 3.0, 0.0])));
    let vertices = scratch.buffer_with(&vertices).unwrap();
    // Instance 1 is shifted to the right half.
    let shifts = scratch.buffer_with(&bytes(&[0.0, 1.0])).unwrap();
    let indices: Vec<u8> = [7_u16, 0, 1, 2, 3, 4, 5]
        .iter()
        .flat_map(|i| i.to_le_bytes())
        .collect();
    let indices = scratch.buffer_with(&indices).unwrap();
    let record = |words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        scratch.buffer_with(&bytes).unwrap()
    };
    let indirect = record(&[0, 3, 1, 0, 0]);
    let indexed_indirect = record(&[3, 1, 1, 0, 0]);
    let index = Index {
        buffer: &indices,
        offset: 0,
        ty: IndexType::U16,
    };
    let buffers = [
        VertexBuffer {
            binding: 0,
            buffer: &vertices,
            offset: 12,
        },
        VertexBuffer {
            binding: 1,
            buffer: &shifts,
            offset: 0,
        },
    ];
    let half = 0.5_f32.to_le_bytes();
    let draw = |pipeline, call| Draw {
        push: &half,
        vertex_buffers: &buffers,
        ..Draw::new(pipeline, call)
    };
    let calls = [
        DrawCall::vertices(3),
        DrawCall::Indexed {
            index,
            indices: 3,
            instances: 1,
            first_index: 1,
            vertex_offset: 0,
            first_instance: 0,
        },
        DrawCall::Indirect {
            buffer: &indirect,
            offset: 4,
            count: 1,
        },
        DrawCall::IndexedIndirect {
            index,
            buffer: &indexed_indirect,
            offset: 0,
            count: 1,
        },
    ];
    for call in &calls {
        let drawn = picture.draw(&[draw(&fixed, *call)]);
        if test.draws() {
            assert_eq!(pixel(&drawn, 0, 1), [0.5, 1.0, 2.0, 2.0], "{call:?}");
            assert_eq!(pixel(&drawn, 3, 1), [0.5; 4], "{call:?}");
        }
    }

    let bindings = BINDINGS.map(|b| {
        vk::VertexInputBindingDescription2EXT::default()
            .binding(b.binding)
            .stride(b.stride)
            .input_rate(b.input_rate)
            .divisor(1)
    });
    let attributes = ATTRIBUTES.map(|a| {
        vk::VertexInputAttributeDescription2EXT::default()
            .location(a.location)
            .binding(a.binding)
            .format(a.format)
            .offset(a.offset)
    });
    let right = Draw {
        input: Some((&bindings, &attributes)),
        ..draw(
            &dynamic,
            DrawCall::Direct {
                vertices: 3,
                instances: 1,
                first_vertex: 0,
                first_instance: 1,
            },
        )
    };
    // The second draw passes where the first left exactly its depth, the third is discarded.
    let gone = DrawCall::Direct {
        vertices: 3,
        instances: 1,
        first_vertex: 3,
        first_instance: 0,
    };
    let drawn = picture.draw(&[
        right,
        draw(&fixed, DrawCall::vertices(3)),
        draw(&equal, DrawCall::vertices(3)),
        draw(&equal, gone),
    ]);
    if test.draws() {
        assert_eq!(pixel(&drawn, 0, 1), [0.25, 0.5, 1.0, 1.0]);
        assert_eq!(pixel(&drawn, 2, 1), [0.5, 1.0, 2.0, 2.0]);
        assert_eq!(pixel(&drawn, 3, 0), [0.5; 4]);
        let depth = floats(&scratch.download(&picture.depth).unwrap());
        assert_eq!([depth[4], depth[3]], [0.5, 0.75]);
    }
    test.assert_valid();
}

#[test]
fn descriptors_of_every_kind_reach_the_shader() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let scratch = Scratch::new(&test.device).unwrap();
    let picture = Picture::new(&scratch);
    let texture = |shape, texels: &[f32]| {
        let image = scratch
            .image(&ImageDesc {
                shape,
                format: vk::Format::R32_SFLOAT,
            })
            .unwrap();
        scratch.upload(&image, &bytes(texels)).unwrap();
        assert_eq!(image.byte_size(), texels.len() as u64 * 4);
        image
    };
    let flat = texture(ImageShape::D2(2, 2), &[0.125, 9.0, 9.0, 9.0]);
    let deep = texture(
        ImageShape::D3(2, 2, 2),
        &[9.0, 9.0, 9.0, 9.0, 0.25, 9.0, 9.0, 9.0],
    );
    // +X -X +Y -Y +Z -Z
    let cube = texture(ImageShape::Cube(1), &[9.0, 9.0, 0.5, 9.0, 9.0, 9.0]);
    let sampler = scratch.sampler(Filter::Nearest).unwrap();
    let alignment = test
        .device
        .capabilities()
        .limits
        .min_uniform_buffer_offset_alignment
        .max(16);
    let mut uniform = vec![0; alignment as usize];
    uniform.extend(bytes(&[2.0, 4.0, 8.0, 16.0]));
    let uniform = scratch.buffer_with(&uniform).unwrap();
    let result = scratch.buffer(4).unwrap();

    let set_layout = scratch
        .set_layout(&[
            Bind::new(0, vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC),
            Bind::new(1, vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
            Bind::new(2, vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
            Bind::new(3, vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
            Bind::new(4, vk::DescriptorType::STORAGE_BUFFER),
        ])
        .unwrap();
    let set = scratch
        .bind_set(
            &set_layout,
            &[
                (0, Resource::Buffer(&uniform, 0, 16)),
                (1, Resource::Texture(&flat, &sampler)),
                (2, Resource::Texture(&deep, &sampler)),
                (3, Resource::Texture(&cube, &sampler)),
                (4, Resource::Buffer(&result, 0, 4)),
            ],
        )
        .unwrap();
    let layout = scratch.layout(&[&set_layout], 4).unwrap();
    let vertex = scratch
        .shader(&words(include_bytes!("shaders/quad.vert.spv")))
        .unwrap();
    let fragment = scratch
        .shader(&words(include_bytes!("shaders/textured.frag.spv")))
        .unwrap();
    let pipeline = scratch
        .graphics(&GraphicsDesc {
            input: FIXED,
            colours: &[Attachment::write(RGBA32F)],
            ..GraphicsDesc::new(Stage::main(&vertex), Some(Stage::main(&fragment)), &layout)
        })
        .unwrap();
    let vertices = scratch.buffer_with(&bytes(&left_half([1.0; 4]))).unwrap();
    let shifts = scratch.buffer_with(&bytes(&[0.0])).unwrap();
    let draw = |offset: &[u32]| {
        scratch.run(&[Step::Pass(Pass {
            size: (4, 4),
            colours: &[ColourTarget {
                image: &picture.image,
                load: Load::Clear([0.0; 4]),
            }],
            depth: None,
            draws: &[Draw {
                sets: &[(&set, offset)],
                push: &0.5_f32.to_le_bytes(),
                vertex_buffers: &[
                    VertexBuffer {
                        binding: 0,
                        buffer: &vertices,
                        offset: 0,
                    },
                    VertexBuffer {
                        binding: 1,
                        buffer: &shifts,
                        offset: 0,
                    },
                ],
                ..Draw::new(&pipeline, DrawCall::vertices(3))
            }],
        })])
    };
    draw(&[alignment as u32]).unwrap();
    if test.draws() {
        let drawn = floats(&scratch.download(&picture.image).unwrap());
        assert_eq!(pixel(&drawn, 0, 1), [0.25, 1.0, 4.0, 16.0]);
        let touched = scratch.read_all(&result).unwrap();
        let covered = drawn.chunks_exact(4).filter(|p| p[3] == 16.0).count();
        assert_eq!(touched, (covered as u32).to_le_bytes());
    }
    // One step further is outside of the buffer.
    assert!(matches!(
        draw(&[alignment as u32 * 2]),
        Err(ScratchError::OutOfRange { .. })
    ));
    test.assert_valid();
}

#[test]
fn a_dispatch_writes_what_is_read_back() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let scratch = Scratch::new(&test.device).unwrap();
    for place in [Place::Host, Place::Device] {
        let buffer = scratch.buffer_in(place, 64).unwrap();
        let input: Vec<u8> = (0_u32..16).flat_map(u32::to_le_bytes).collect();
        scratch.write(&buffer, 0, &input).unwrap();
        let set_layout = scratch
            .set_layout(&[Bind::new(0, vk::DescriptorType::STORAGE_BUFFER)])
            .unwrap();
        let set = scratch
            .bind_set(&set_layout, &[(0, Resource::Buffer(&buffer, 0, 64))])
            .unwrap();
        let layout = scratch.layout(&[&set_layout], 4).unwrap();
        let shader = scratch
            .shader(&words(include_bytes!("shaders/double.comp.spv")))
            .unwrap();
        let pipeline = scratch
            .compute(&ComputeDesc {
                stage: Stage {
                    constants: &[(0, 8)],
                    ..Stage::main(&shader)
                },
                layout: &layout,
            })
            .unwrap();
        let step = Step::Dispatch(Dispatch {
            pipeline: &pipeline,
            sets: &[(&set, &[])],
            push: &3_u32.to_le_bytes(),
            groups: [2, 1, 1],
        });
        // The second step sees what the first wrote.
        let report = scratch.run(&[step, step]).unwrap();
        assert_eq!(report.nanoseconds.len(), 2);
        if test.draws() {
            let expected: Vec<u8> = (0_u32..16).flat_map(|i| (i * 9).to_le_bytes()).collect();
            assert_eq!(scratch.read_all(&buffer).unwrap(), expected);
            assert!(report.nanoseconds[0].is_some());
        }
        assert!(buffer.address().is_some_and(|address| address != 0));
        assert!(matches!(
            scratch.read(&buffer, 60, 8),
            Err(ScratchError::OutOfRange { .. })
        ));
    }
    test.assert_valid();
}
