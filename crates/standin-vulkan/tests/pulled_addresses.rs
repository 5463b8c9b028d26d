//! Addresses: strides, offsets, divisors, base instances, draw calls and bounds, pulled against the fixed function.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_pull::decode::decode;
use standin_pull::{BlockPlace, Conversion, DataPath, Format, Options, Pulled, Rewritten, rewrite};
use standin_recipe::vertex::{VertexAttribute, VertexBinding, VertexInputState};
use standin_vulkan::ash::vk;
use standin_vulkan::prove::{Extent, FetchProof, FormatVerdict, Verdict};
use standin_vulkan::pulled::{BoundBuffer, NotPulled, layout_block};
use standin_vulkan::scratch::{
    Bind, Buffer, Draw, DrawCall, GraphicsDesc, Index, IndexType, Pass, Pipeline, Resource,
    Scratch, SetLayout, Stage, Step, VertexBuffer, VertexInput,
};
use standin_vulkan::{DeviceSettings, Robustness};
use support::{TestDevice, words};

const PROBE: &[u8] = include_bytes!("../src/prove/shaders/probe_float.vert.spv");
const DOUBLE_PROBE: &[u8] = include_bytes!("../src/prove/shaders/probe_double2.vert.spv");
const RGBA32F: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

/// A proof that admits these formats with the specification's conversion.
fn proof(formats: &[vk::Format]) -> FetchProof {
    let formats = formats.iter().map(|format| FormatVerdict {
        format: format.as_raw(),
        name: format!("{format:?}"),
        verdict: Verdict::Proven {
            conversion: Conversion::default(),
            elements: 0,
        },
    });
    FetchProof {
        extent: Extent::Short,
        formats: formats.collect(),
        ..FetchProof::default()
    }
}

/// One attribute at location 0 from binding 0.
fn layout(format: vk::Format, offset: u32, stride: u32) -> VertexInputState {
    VertexInputState {
        bindings: vec![VertexBinding {
            stride,
            ..VertexBinding::default()
        }],
        attributes: vec![VertexAttribute {
            location: 0,
            binding: 0,
            format,
            offset,
        }],
    }
}

fn by_instance(mut state: VertexInputState, divisor: u32) -> VertexInputState {
    state.bindings[0].input_rate = vk::VertexInputRate::INSTANCE;
    state.bindings[0].divisor = divisor;
    state
}

/// Bytes that are different everywhere, and small finite floats where they are read as such.
fn pattern(len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (at.wrapping_mul(167) >> 1) as u8 & 0x3f)
        .collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Fixed,
    Addresses,
    Buffers,
}

const PULLED: [Way; 2] = [Way::Addresses, Way::Buffers];

/// What a draw does beside its layout.
#[derive(Clone, Copy)]
struct Range {
    first_vertex: u32,
    vertices: u32,
    first_instance: u32,
    instances: u32,
}

impl Range {
    const fn vertices(vertices: u32) -> Self {
        Self {
            first_vertex: 0,
            vertices,
            first_instance: 0,
            instances: 1,
        }
    }
}

struct Bench {
    test: TestDevice,
    scratch: Scratch,
    probe_set: SetLayout,
    addresses: PulledProbe,
    buffers: PulledProbe,
}

/// The probe, pulled in one way.
struct PulledProbe {
    pulled: Pulled,
    block_set: SetLayout,
    pipeline: Pipeline,
}

impl Bench {
    fn new(robustness: Robustness) -> Option<Self> {
        let settings = DeviceSettings {
            robustness,
            ..DeviceSettings::default()
        };
        let test = TestDevice::from_environment(&settings)?;
        if !test.draws() {
            return None;
        }
        let scratch = Scratch::new(&test.device).unwrap();
        let probe_set = scratch
            .set_layout(&[
                Bind::new(0, vk::DescriptorType::STORAGE_BUFFER),
                Bind::new(1, vk::DescriptorType::UNIFORM_BUFFER),
            ])
            .unwrap();
        let [addresses, buffers] = PULLED.map(|way| {
            let pulled = Self::pulled(way);
            let mut binds = vec![Bind::new(0, vk::DescriptorType::UNIFORM_BUFFER)];
            if way == Way::Buffers {
                binds.push(Bind {
                    count: 2,
                    ..Bind::new(1, vk::DescriptorType::STORAGE_BUFFER)
                });
            }
            let block_set = scratch.set_layout(&binds).unwrap();
            let layout = scratch.layout(&[&probe_set, &block_set], 0).unwrap();
            let shader = scratch.shader(&pulled.spirv).unwrap();
            let pipeline = scratch
                .graphics(&GraphicsDesc {
                    topology: vk::PrimitiveTopology::POINT_LIST,
                    discard: true,
                    ..GraphicsDesc::new(Stage::main(&shader), None, &layout)
                })
                .unwrap();
            PulledProbe {
                pulled,
                block_set,
                pipeline,
            }
        });
        Some(Self {
            test,
            scratch,
            probe_set,
            addresses,
            buffers,
        })
    }

    fn pulled(way: Way) -> Pulled {
        let options = Options {
            block: BlockPlace::Uniform { set: 1, binding: 0 },
            data: match way {
                Way::Buffers => DataPath::StorageBuffers { set: 1, binding: 1 },
                _ => DataPath::DeviceAddress,
            },
            streams: 2,
            ..Options::default()
        };
        match rewrite(&words(PROBE), &options).unwrap() {
            Rewritten::Pulled(pulled) => pulled,
            Rewritten::NotNeeded => panic!("the probe has an input"),
        }
    }

    /// The words that location 0 gets, four for each vertex of each instance.
    fn run(
        &self,
        way: Way,
        state: &VertexInputState,
        buffer: &Buffer,
        bind: (u64, u64),
        range: Range,
    ) -> Vec<u32> {
        let call = DrawCall::Direct {
            vertices: range.vertices,
            instances: range.instances,
            first_vertex: range.first_vertex,
            first_instance: range.first_instance,
        };
        self.run_call(way, state, buffer, bind, range, call)
    }

    fn run_call(
        &self,
        way: Way,
        state: &VertexInputState,
        buffer: &Buffer,
        (offset, size): (u64, u64),
        range: Range,
        call: DrawCall<'_>,
    ) -> Vec<u32> {
        let scratch = &self.scratch;
        let output = scratch
            .buffer(u64::from(range.vertices * range.instances) * 16)
            .unwrap();
        let numbers = [range.first_vertex, range.vertices, range.first_instance, 0];
        let numbers: Vec<u8> = numbers.iter().flat_map(|word| word.to_le_bytes()).collect();
        let numbers = scratch.buffer_with(&numbers).unwrap();
        let resources = [
            (0, Resource::Buffer(&output, 0, output.size())),
            (1, Resource::Buffer(&numbers, 0, numbers.size())),
        ];
        let set = scratch.bind_set(&self.probe_set, &resources).unwrap();
        let draw = |draw: Draw<'_>| {
            let pass = Pass {
                size: (1, 1),
                colours: &[],
                depth: None,
                draws: &[draw],
            };
            scratch.run(&[Step::Pass(pass)]).unwrap();
        };
        if way == Way::Fixed {
            let pipeline = self.fixed(state);
            let vertex_buffers = [VertexBuffer {
                binding: 0,
                buffer,
                offset,
            }];
            draw(Draw {
                sets: &[(&set, &[])],
                vertex_buffers: &vertex_buffers,
                ..Draw::new(&pipeline, call)
            });
        } else {
            let probe = if way == Way::Addresses {
                &self.addresses
            } else {
                &self.buffers
            };
            let start = if way == Way::Addresses {
                buffer.address().unwrap()
            } else {
                0
            };
            let formats: Vec<vk::Format> = state
                .attributes
                .iter()
                .map(|attribute| attribute.format)
                .collect();
            let buffers = [BoundBuffer {
                binding: 0,
                base: start + offset,
                size,
            }];
            let block = layout_block(&probe.pulled, state, &buffers, &proof(&formats)).unwrap();
            let block = scratch.buffer_with(&block.to_bytes()).unwrap();
            let mut resources = vec![(0, Resource::Buffer(&block, 0, block.size()))];
            if way == Way::Buffers {
                let whole = Resource::Buffer(buffer, 0, buffer.size());
                resources.extend([(1, whole.clone()), (1, whole)]);
            }
            let block_set = scratch.bind_set(&probe.block_set, &resources).unwrap();
            draw(Draw {
                sets: &[(&set, &[]), (&block_set, &[])],
                ..Draw::new(&probe.pipeline, call)
            });
        }
        words(&scratch.read_all(&output).unwrap())
    }

    fn fixed(&self, state: &VertexInputState) -> Pipeline {
        let bindings: Vec<_> = state
            .bindings
            .iter()
            .map(|binding| vk::VertexInputBindingDescription {
                binding: binding.binding,
                stride: binding.stride,
                input_rate: binding.input_rate,
            })
            .collect();
        let attributes: Vec<_> = state
            .attributes
            .iter()
            .map(|attribute| vk::VertexInputAttributeDescription {
                location: attribute.location,
                binding: attribute.binding,
                format: attribute.format,
                offset: attribute.offset,
            })
            .collect();
        let divisors: Vec<(u32, u32)> = state
            .bindings
            .iter()
            .filter(|binding| binding.divisor != 1)
            .map(|binding| (binding.binding, binding.divisor))
            .collect();
        let shader = self.scratch.shader(&words(PROBE)).unwrap();
        let layout = self.scratch.layout(&[&self.probe_set], 0).unwrap();
        self.scratch
            .graphics(&GraphicsDesc {
                input: VertexInput::Fixed {
                    bindings: &bindings,
                    attributes: &attributes,
                    divisors: &divisors,
                },
                topology: vk::PrimitiveTopology::POINT_LIST,
                discard: true,
                ..GraphicsDesc::new(Stage::main(&shader), None, &layout)
            })
            .unwrap()
    }

    /// Pulled in both ways, this layout gives what the fixed function gives.
    fn assert_same(&self, state: &VertexInputState, bytes: &[u8], offset: u64, range: Range) {
        let buffer = self.scratch.buffer_with(bytes).unwrap();
        let bind = (offset, bytes.len() as u64 - offset);
        let fixed = self.run(Way::Fixed, state, &buffer, bind, range);
        for way in PULLED {
            assert_eq!(
                self.run(way, state, &buffer, bind, range),
                fixed,
                "{way:?} {state:?} bound at {offset}"
            );
        }
        self.test.assert_valid();
    }

    /// Pulled in both ways, this layout gives what the reference decoder gives: the fixed function may not be asked.
    fn assert_decoded(&self, state: &VertexInputState, bytes: &[u8], offset: u64, vertices: u32) {
        let attribute = &state.attributes[0];
        let format = Format::from_vk(attribute.format.as_raw() as u32).unwrap();
        let expected: Vec<u32> = (0..vertices)
            .flat_map(|vertex| {
                let at = offset + u64::from(vertex * state.bindings[0].stride + attribute.offset);
                let end = (at as usize + usize::from(format.size())).min(bytes.len());
                decode(format, &bytes[at as usize..end], Conversion::default())
            })
            .collect();
        let buffer = self.scratch.buffer_with(bytes).unwrap();
        let bind = (offset, bytes.len() as u64 - offset);
        for way in PULLED {
            let pulled = self.run(way, state, &buffer, bind, Range::vertices(vertices));
            assert_eq!(pulled, expected, "{way:?} {state:?} bound at {offset}");
        }
        self.test.assert_valid();
    }
}

#[test]
fn v2_a_stride_of_zero_reads_the_same_element_for_every_vertex() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    for offset in [0, 16] {
        bench.assert_same(
            &layout(RGBA32F, offset, 0),
            &pattern(64),
            0,
            Range::vertices(5),
        );
    }
    bench.assert_decoded(&layout(vk::Format::R16G16_SNORM, 3, 0), &pattern(64), 1, 3);
}

#[test]
fn v5_only_the_sum_of_base_offset_and_stride_matters() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let formats = [
        vk::Format::R8_UNORM,
        vk::Format::R8G8B8A8_SINT,
        vk::Format::R16_SFLOAT,
        vk::Format::R16G16B16A16_SSCALED,
        vk::Format::R32_SFLOAT,
        vk::Format::R32G32B32_SFLOAT,
        RGBA32F,
    ];
    for format in formats {
        for bound in 0..4 {
            for offset in 0..4 {
                for stride in [1, 7, 16] {
                    bench.assert_decoded(&layout(format, offset, stride), &pattern(128), bound, 4);
                }
            }
        }
    }
}

#[test]
fn v6_two_bytes_at_an_odd_offset() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let state = layout(vk::Format::R8G8_USCALED, 1, 3);
    bench.assert_same(&state, &pattern(64), 0, Range::vertices(9));
    bench.assert_decoded(&layout(vk::Format::R8G8_UNORM, 1, 3), &pattern(64), 0, 9);
}

#[test]
fn f7_three_small_components_without_padding() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    bench.assert_same(
        &layout(vk::Format::R8G8B8_USCALED, 0, 3),
        &pattern(64),
        0,
        Range::vertices(9),
    );
    bench.assert_same(
        &layout(vk::Format::R16G16B16_SSCALED, 0, 6),
        &pattern(64),
        0,
        Range::vertices(9),
    );
    bench.assert_decoded(
        &layout(vk::Format::R16G16B16_UNORM, 0, 6),
        &pattern(64),
        0,
        9,
    );
}

#[test]
fn f8_an_integer_in_a_float_attribute_keeps_its_bits() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let bytes: Vec<u8> = [7_u32, 0x7f80_0001, 0x8000_0001]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    bench.assert_decoded(&layout(vk::Format::R32_SFLOAT, 0, 4), &bytes, 0, 3);
}

#[test]
fn v8_divisors_count_from_the_base_instance() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let bytes = pattern(16 * 32);
    for divisor in [0, 1, 2, 3, 7] {
        let state = by_instance(layout(RGBA32F, 0, 16), divisor);
        for first_instance in [0, 5] {
            let range = Range {
                first_vertex: 0,
                vertices: 2,
                first_instance,
                instances: 16,
            };
            // Devices without supportsNonZeroFirstInstance fetch by other divisors from instance 0 on only.
            if divisor == 1 || first_instance == 0 {
                bench.assert_same(&state, &bytes, 0, range);
            }
            let elements = (0..range.instances).map(|instance| match divisor {
                0 => first_instance,
                _ => first_instance + instance / divisor,
            });
            let expected: Vec<u32> = elements
                .flat_map(|element| {
                    let words = words(&bytes[element as usize * 16..][..16]);
                    [words.clone(), words].concat()
                })
                .collect();
            let buffer = bench.scratch.buffer_with(&bytes).unwrap();
            for way in PULLED {
                let pulled = bench.run(way, &state, &buffer, (0, bytes.len() as u64), range);
                assert_eq!(
                    pulled, expected,
                    "{way:?} divisor {divisor} from {first_instance}"
                );
            }
        }
    }
}

#[test]
fn v10_indices_include_what_the_draw_starts_with() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let range = Range {
        first_vertex: 3,
        vertices: 4,
        first_instance: 5,
        instances: 2,
    };
    let bytes = pattern(16 * 16);
    bench.assert_same(&layout(RGBA32F, 0, 16), &bytes, 0, range);
    bench.assert_same(&by_instance(layout(RGBA32F, 0, 16), 1), &bytes, 0, range);

    // The same draw, indexed with a vertex offset, and both from buffers.
    let scratch = &bench.scratch;
    let buffer = scratch.buffer_with(&bytes).unwrap();
    let indices: Vec<u8> = [9_u16, 2, 0, 3, 1]
        .iter()
        .flat_map(|index| index.to_le_bytes())
        .collect();
    let indices = scratch.buffer_with(&indices).unwrap();
    let index = Index {
        buffer: &indices,
        offset: 0,
        ty: IndexType::U16,
    };
    let records: Vec<u8> = [4_u32, 2, 3, 5]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let records = scratch.buffer_with(&records).unwrap();
    let indexed: Vec<u8> = [4_u32, 2, 1, 3, 5]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    let indexed = scratch.buffer_with(&indexed).unwrap();
    let calls = [
        DrawCall::Indexed {
            index,
            indices: 4,
            instances: 2,
            first_index: 1,
            vertex_offset: 3,
            first_instance: 5,
        },
        DrawCall::Indirect {
            buffer: &records,
            offset: 0,
            count: 1,
        },
        DrawCall::IndexedIndirect {
            index,
            buffer: &indexed,
            offset: 0,
            count: 1,
        },
    ];
    for state in [
        layout(RGBA32F, 0, 16),
        by_instance(layout(RGBA32F, 0, 16), 1),
    ] {
        let bind = (0, bytes.len() as u64);
        let direct = bench.run(Way::Fixed, &state, &buffer, bind, range);
        for call in calls {
            for way in [Way::Fixed, Way::Addresses, Way::Buffers] {
                let words = bench.run_call(way, &state, &buffer, bind, range, call);
                assert_eq!(words, direct, "{way:?} {call:?}");
            }
        }
    }
    bench.test.assert_valid();
}

#[test]
fn v15_out_of_range_is_zero_and_then_the_missing_components() {
    let Some(bench) = Bench::new(Robustness::Access2) else {
        return;
    };
    for (format, stride, len) in [
        (RGBA32F, 16, 56),
        (vk::Format::R32G32B32_SFLOAT, 12, 28),
        (vk::Format::R32G32_SFLOAT, 8, 20),
        (vk::Format::R16G16_SSCALED, 4, 14),
        (vk::Format::R8G8B8A8_SSCALED, 4, 14),
        (vk::Format::R8_USCALED, 1, 3),
    ] {
        let state = layout(format, 0, stride);
        // The buffer ends inside a vertex; padding up to a whole word belongs to its memory, not to the stream.
        let mut bytes = pattern(len);
        let fixed_buffer = bench.scratch.buffer_with(&bytes).unwrap();
        let range = Range::vertices(8);
        let format_of = Format::from_vk(format.as_raw() as u32).unwrap();
        let mut expected = Vec::new();
        for element in 0..8 {
            let bytes = bytes
                .get(element * stride as usize..(element + 1) * stride as usize)
                .unwrap_or_default();
            expected.extend(decode(format_of, bytes, Conversion::default()));
        }
        // Mesa 25.0.7's own fetch keeps the components of a short element that are still inside.
        if format_of.component_bits() == 32 {
            let fixed = bench.run(Way::Fixed, &state, &fixed_buffer, (0, len as u64), range);
            assert_eq!(fixed, expected, "{format:?}");
        }
        bytes.resize(len.next_multiple_of(4), 0xee);
        let buffer = bench.scratch.buffer_with(&bytes).unwrap();
        for way in PULLED {
            let pulled = bench.run(way, &state, &buffer, (0, len as u64), range);
            assert_eq!(pulled, expected, "{way:?} {format:?}");
        }
    }
    bench.test.assert_valid();
}

#[test]
fn null_buffers_and_far_indices_read_as_zeros() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let buffer = bench.scratch.buffer_with(&pattern(64)).unwrap();
    let state = layout(vk::Format::R32G32B32_SFLOAT, 0, 2048);
    for way in PULLED {
        let null = bench.run(way, &state, &buffer, (0, 0), Range::vertices(2));
        assert_eq!(
            null,
            [0, 0, 0, 0x3f80_0000, 0, 0, 0, 0x3f80_0000],
            "{way:?}"
        );
        // 2^21 * 2048 = 2^32: the product must not come round to the first element.
        let range = Range {
            first_vertex: 1 << 21,
            ..Range::vertices(1)
        };
        let far = bench.run(way, &state, &buffer, (0, 64), range);
        assert_eq!(far, [0, 0, 0, 0x3f80_0000], "{way:?}");
    }
    bench.test.assert_valid();
}

#[test]
fn v17_v18_a_location_without_an_attribute_reads_as_0_0_0_1() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let buffer = bench.scratch.buffer_with(&pattern(64)).unwrap();
    let mut state = layout(RGBA32F, 0, 16);
    state.attributes[0].location = 9;
    for way in PULLED {
        let words = bench.run(way, &state, &buffer, (0, 64), Range::vertices(2));
        assert_eq!(
            words,
            [0, 0, 0, 0x3f80_0000, 0, 0, 0, 0x3f80_0000],
            "{way:?}"
        );
    }
}

#[test]
fn v16_what_the_shader_does_not_read_needs_no_buffer() {
    let Some(bench) = Bench::new(Robustness::Off) else {
        return;
    };
    let bytes = pattern(64);
    let buffer = bench.scratch.buffer_with(&bytes).unwrap();
    let mut state = layout(RGBA32F, 0, 16);
    state.bindings.push(VertexBinding {
        binding: 1,
        stride: 4,
        ..VertexBinding::default()
    });
    state.attributes.push(VertexAttribute {
        location: 4,
        binding: 1,
        format: vk::Format::R32_SFLOAT,
        offset: 0,
    });
    let alone = bench.run(
        Way::Fixed,
        &layout(RGBA32F, 0, 16),
        &buffer,
        (0, 64),
        Range::vertices(4),
    );
    for way in PULLED {
        assert_eq!(
            bench.run(way, &state, &buffer, (0, 64), Range::vertices(4)),
            alone,
            "{way:?}"
        );
    }
}

#[test]
fn v9_a_divisor_on_a_vertex_binding_is_refused_by_name() {
    let mut state = layout(RGBA32F, 0, 16);
    state.bindings[0].divisor = 3;
    let refused = layout_block(
        &Bench::pulled(Way::Addresses),
        &state,
        &[],
        &proof(&[RGBA32F]),
    );
    assert_eq!(
        refused,
        Err(NotPulled::DivisorByVertex {
            binding: 0,
            divisor: 3
        })
    );
}

#[test]
fn v13_64_bit_inputs_have_no_defaults() {
    let options = Options {
        block: BlockPlace::Uniform { set: 1, binding: 0 },
        ..Options::default()
    };
    let Rewritten::Pulled(pulled) = rewrite(&words(DOUBLE_PROBE), &options).unwrap() else {
        panic!("not pulled")
    };
    let [one, two] = [vk::Format::R64_SFLOAT, vk::Format::R64G64_SFLOAT];
    let proof = proof(&[one, two, RGBA32F]);
    assert!(layout_block(&pulled, &layout(two, 0, 16), &[], &proof).is_ok());
    for (format, name) in [(one, "R64_SFLOAT"), (RGBA32F, "R32G32B32A32_SFLOAT")] {
        assert_eq!(
            layout_block(&pulled, &layout(format, 0, 16), &[], &proof),
            Err(NotPulled::Width {
                location: 0,
                format: name,
                components: 2,
                width: 64
            })
        );
    }
}

#[test]
fn f6_srgb_is_no_vertex_format() {
    let srgb = vk::Format::R8G8B8A8_SRGB;
    assert_eq!(
        layout_block(
            &Bench::pulled(Way::Addresses),
            &layout(srgb, 0, 4),
            &[],
            &proof(&[srgb])
        ),
        Err(NotPulled::UnknownFormat {
            location: 0,
            format: srgb.as_raw()
        })
    );
}

#[test]
fn an_unproven_format_is_not_pulled() {
    assert_eq!(
        layout_block(
            &Bench::pulled(Way::Addresses),
            &layout(RGBA32F, 0, 16),
            &[],
            &proof(&[])
        ),
        Err(NotPulled::UnprovenFormat {
            location: 0,
            format: "R32G32B32A32_SFLOAT"
        })
    );
}
