//! Every vertex shader of the corpora that is pulled, executed both ways with random vertices: all outputs are equal,
//! bit for bit.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_pull::capture::capture_outputs;
use standin_pull::module::Module;
use standin_pull::{
    BlockPlace, Conversion, Options, Pulled, Rewritten, Scalar, hold_positions, rewrite,
    words_from_bytes,
};
use standin_recipe::vertex::{VertexAttribute, VertexBinding, VertexInputState};
use standin_vulkan::ash::vk;
use standin_vulkan::prove::{Extent, FetchProof, FormatVerdict, Verdict};
use standin_vulkan::pulled::{BoundBuffer, layout_block};
use standin_vulkan::scratch::{
    Bind, BindSet, Buffer, Draw, DrawCall, Filter, GraphicsDesc, Image, ImageDesc, ImageShape,
    Pass, Resource, Sampler, Scratch, ScratchError, SetLayout, Stage, Step, VertexBuffer,
    VertexInput,
};
use standin_vulkan::{DeviceSettings, Robustness};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use support::{TestDevice, words};

const VERTICES: u32 = 24;
const INSTANCES: u32 = 2;
/// The captured words and the layout block are in sets that no shader here uses.
const CAPTURE_SET: u32 = 5;
const BLOCK_SET: u32 = 6;

/// A descriptor that a shader declares.
#[derive(Clone, Copy)]
struct Declared {
    set: u32,
    bind: Bind,
}

/// The descriptors and push constants of a module, or what it has that this test does not supply.
fn declared(spirv: &[u32]) -> Result<(Vec<Declared>, u32), &'static str> {
    let module = Module::parse(spirv).unwrap();
    let mut types: HashMap<u32, (u16, Vec<u32>)> = HashMap::new();
    let (mut sets, mut bindings, mut buffer_blocks) = (HashMap::new(), HashMap::new(), Vec::new());
    let mut found = Vec::new();
    let mut push = 0;
    for instruction in &module.instructions {
        let operand = |index| instruction.operand(index);
        match instruction.opcode {
            // OpCapability: Shader, Matrix, Float64, Int64, ImageQuery, ClipDistance, CullDistance, DrawParameters,
            // and image kinds that only need declaring.
            17 if ![0, 1, 10, 11, 32, 33, 35, 46, 47, 50, 4427, 5347].contains(&operand(0)) => {
                return Err("capability");
            }
            71 if operand(1) == 34 => drop(sets.insert(operand(0), operand(2))),
            71 if operand(1) == 33 => drop(bindings.insert(operand(0), operand(2))),
            71 if operand(1) == 3 => buffer_blocks.push(operand(0)),
            19..=32 => drop(types.insert(
                operand(0),
                (instruction.opcode, instruction.operands[1..].to_vec()),
            )),
            43 => drop(types.insert(operand(1), (43, vec![operand(2)]))),
            59 => {
                let (id, class) = (operand(1), operand(2));
                let Some((_, pointer)) = types.get(&operand(0)) else {
                    continue;
                };
                if class == 9 {
                    push = 128;
                }
                if ![0, 2, 12].contains(&class) {
                    continue;
                }
                let (mut ty, mut count) = (pointer[1], 1);
                while let Some((28, array)) = types.get(&ty).map(|(op, rest)| (*op, rest)) {
                    ty = array[0];
                    count *= types
                        .get(&array[1])
                        .filter(|(op, _)| *op == 43)
                        .ok_or("array size")?
                        .1[0];
                }
                let kind = match (
                    class,
                    types.get(&ty).map(|(op, rest)| (*op, rest.as_slice())),
                ) {
                    (2, _) if buffer_blocks.contains(&ty) => vk::DescriptorType::STORAGE_BUFFER,
                    (2, _) => vk::DescriptorType::UNIFORM_BUFFER,
                    (12, Some((30, _))) => vk::DescriptorType::STORAGE_BUFFER,
                    (0, Some((26, _))) => vk::DescriptorType::SAMPLER,
                    (0, Some((27, sampled))) if is_plain_image(&types, sampled[0]) => {
                        vk::DescriptorType::COMBINED_IMAGE_SAMPLER
                    }
                    (0, Some((25, _))) if is_plain_image(&types, ty) => {
                        vk::DescriptorType::SAMPLED_IMAGE
                    }
                    _ => return Err("resource kind"),
                };
                let set = *sets.get(&id).ok_or("resource without a set")?;
                let binding = *bindings.get(&id).ok_or("resource without a binding")?;
                found.push(Declared {
                    set,
                    bind: Bind {
                        count,
                        ..Bind::new(binding, kind)
                    },
                });
            }
            _ => {}
        }
    }
    found.sort_by_key(|declared: &Declared| (declared.set, declared.bind.binding));
    if found
        .windows(2)
        .any(|pair| (pair[0].set, pair[0].bind.binding) == (pair[1].set, pair[1].bind.binding))
    {
        return Err("two resources at one binding");
    }
    Ok((found, push))
}

/// Two-dimensional, sampled, not an array, not multisampled, of floats.
fn is_plain_image(types: &HashMap<u32, (u16, Vec<u32>)>, image: u32) -> bool {
    types.get(&image).is_some_and(|(op, rest)| {
        let float = types.get(&rest[0]).is_some_and(|(op, _)| *op == 22);
        *op == 25 && float && rest[1..6] == [1, 0, 0, 0, 1]
    })
}

struct Bench {
    scratch: Scratch,
    /// Small floats, for uniform and storage buffers.
    numbers: Buffer,
    image: Image,
    sampler: Sampler,
    vertices: Buffer,
    vertex_bytes: u64,
}

const LOCATION_BYTES: u32 = 32;

impl Bench {
    fn new(test: &TestDevice) -> Self {
        let scratch = Scratch::new(&test.device).unwrap();
        let mut state = 0x2545_f491_u32;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            (state >> 8) as f32 / 2_097_152.0 - 4.0
        };
        let floats = |count: usize, random: &mut dyn FnMut() -> f32| -> Vec<u8> {
            (0..count).flat_map(|_| random().to_le_bytes()).collect()
        };
        let numbers = scratch.buffer_with(&floats(1 << 14, &mut random)).unwrap();
        let vertices = floats((VERTICES * 32 * LOCATION_BYTES / 4) as usize, &mut random);
        let desc = ImageDesc {
            shape: ImageShape::D2(4, 4),
            format: vk::Format::R8G8B8A8_UNORM,
        };
        let image = scratch.image(&desc).unwrap();
        let texels: Vec<u8> = (0..64).map(|at| at * 3).collect();
        scratch.upload(&image, &texels).unwrap();
        let sampler = scratch.sampler(Filter::Nearest).unwrap();
        let vertex_bytes = vertices.len() as u64;
        let vertices = scratch.buffer_with(&vertices).unwrap();
        Self {
            scratch,
            numbers,
            image,
            sampler,
            vertices,
            vertex_bytes,
        }
    }

    /// The words that all vertices write.
    fn run(
        &self,
        spirv: &[u32],
        entry: &str,
        input: Option<&VertexInputState>,
        block: Option<&[u8]>,
    ) -> Result<Vec<u32>, String> {
        let scratch = &self.scratch;
        let (declared, push) = declared_in(spirv)?;
        let captured = capture_outputs(spirv, Some(entry), (CAPTURE_SET, 0), VERTICES)
            .map_err(|e| e.to_string())?;
        let output = scratch
            .buffer(u64::from(captured.words * VERTICES * INSTANCES * 4).max(4))
            .unwrap();
        let mut layouts: Vec<SetLayout> = Vec::new();
        let mut sets: Vec<BindSet> = Vec::new();
        let block = block.map(|block| scratch.buffer_with(block).unwrap());
        for set in 0..=BLOCK_SET {
            let mut binds = Vec::new();
            let mut resources = Vec::new();
            if set == CAPTURE_SET {
                binds.push(Bind::new(0, vk::DescriptorType::STORAGE_BUFFER));
                resources.push((0, Resource::Buffer(&output, 0, output.size())));
            }
            if set == BLOCK_SET {
                let block = block.as_ref().unwrap_or(&self.numbers);
                binds.push(Bind::new(0, vk::DescriptorType::UNIFORM_BUFFER));
                resources.push((0, Resource::Buffer(block, 0, block.size())));
            }
            for declared in declared.iter().filter(|declared| declared.set == set) {
                binds.push(declared.bind);
                let resource = match declared.bind.kind {
                    vk::DescriptorType::SAMPLER => Resource::Sampler(&self.sampler),
                    vk::DescriptorType::SAMPLED_IMAGE => Resource::Image(&self.image),
                    vk::DescriptorType::COMBINED_IMAGE_SAMPLER => {
                        Resource::Texture(&self.image, &self.sampler)
                    }
                    _ => Resource::Buffer(&self.numbers, 0, self.numbers.size()),
                };
                resources.extend(
                    (0..declared.bind.count).map(|_| (declared.bind.binding, resource.clone())),
                );
            }
            if binds.is_empty() {
                // The harness has no sets without bindings.
                binds.push(Bind::new(31, vk::DescriptorType::SAMPLER));
                resources.push((31, Resource::Sampler(&self.sampler)));
            }
            let layout = scratch.set_layout(&binds).unwrap();
            sets.push(
                scratch
                    .bind_set(&layout, &resources)
                    .map_err(|e| e.to_string())?,
            );
            layouts.push(layout);
        }
        let layouts: Vec<&SetLayout> = layouts.iter().collect();
        let layout = scratch.layout(&layouts, push).unwrap();
        let state = input.cloned().unwrap_or_default();
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
        let shader = scratch.shader(&captured.spirv).unwrap();
        let stage = Stage {
            entry,
            ..Stage::main(&shader)
        };
        let pipeline = scratch
            .graphics(&GraphicsDesc {
                input: VertexInput::Fixed {
                    bindings: &bindings,
                    attributes: &attributes,
                    divisors: &[],
                },
                topology: vk::PrimitiveTopology::POINT_LIST,
                discard: true,
                ..GraphicsDesc::new(stage, None, &layout)
            })
            .map_err(|error: ScratchError| error.to_string())?;
        let sets: Vec<(&BindSet, &[u32])> = sets.iter().map(|set| (set, [].as_slice())).collect();
        let vertex_buffers = [VertexBuffer {
            binding: 0,
            buffer: &self.vertices,
            offset: 0,
        }];
        // Ones as floats; zeros where a push constant may be an index into an array of descriptors.
        let one = if declared.iter().any(|declared| declared.bind.count > 1) {
            0.0_f32
        } else {
            1.0
        };
        let push: Vec<u8> = one
            .to_le_bytes()
            .into_iter()
            .cycle()
            .take(push as usize)
            .collect();
        let call = DrawCall::Direct {
            vertices: VERTICES,
            instances: INSTANCES,
            first_vertex: 0,
            first_instance: 0,
        };
        let draw = Draw {
            sets: &sets,
            push: &push,
            vertex_buffers: if input.is_some() {
                &vertex_buffers
            } else {
                &[]
            },
            ..Draw::new(&pipeline, call)
        };
        let pass = Pass {
            size: (1, 1),
            colours: &[],
            depth: None,
            draws: &[draw],
        };
        scratch
            .run(&[Step::Pass(pass)])
            .map_err(|e| e.to_string())?;
        Ok(words(&scratch.read_all(&output).unwrap()))
    }
}

/// What the shader itself declares; the layout block and the captured words come on top.
fn declared_in(spirv: &[u32]) -> Result<(Vec<Declared>, u32), String> {
    let (mut found, push) = declared(spirv)?;
    found.retain(|declared| declared.set < CAPTURE_SET);
    Ok((found, push))
}

/// A layout that feeds every location of the shader from one buffer, and the proof that admits it.
fn layout(pulled: &Pulled) -> Option<(VertexInputState, FetchProof)> {
    let mut state = VertexInputState {
        bindings: vec![VertexBinding {
            stride: LOCATION_BYTES * pulled.shape.attributes,
            ..VertexBinding::default()
        }],
        attributes: Vec::new(),
    };
    for input in &pulled.inputs {
        let format = match (input.scalar, input.width, input.components) {
            (Scalar::Float, 32, _) => vk::Format::R32G32B32A32_SFLOAT,
            (Scalar::Sint, 32, _) => vk::Format::R32G32B32A32_SINT,
            (Scalar::Uint, 32, _) => vk::Format::R32G32B32A32_UINT,
            (Scalar::Float, 64, 1) => vk::Format::R64_SFLOAT,
            (Scalar::Float, 64, 2) => vk::Format::R64G64_SFLOAT,
            (Scalar::Float, 64, 3) => vk::Format::R64G64B64_SFLOAT,
            (Scalar::Float, 64, _) => vk::Format::R64G64B64A64_SFLOAT,
            _ => return None,
        };
        let step = if input.width == 64 && input.components > 2 {
            2
        } else {
            1
        };
        for location in
            (input.location..input.location + input.locations.unwrap_or(3)).step_by(step)
        {
            if state
                .attributes
                .iter()
                .any(|attribute| attribute.location == location)
            {
                continue;
            }
            state.attributes.push(VertexAttribute {
                location,
                binding: 0,
                format,
                offset: location * LOCATION_BYTES,
            });
        }
    }
    let formats = state.attributes.iter().map(|attribute| FormatVerdict {
        format: attribute.format.as_raw(),
        name: format!("{:?}", attribute.format),
        verdict: Verdict::Proven {
            conversion: Conversion::default(),
            elements: 0,
        },
    });
    let proof = FetchProof {
        extent: Extent::Short,
        formats: formats.collect(),
        ..FetchProof::default()
    };
    Some((state, proof))
}

#[test]
fn every_pulled_shader_of_the_corpora_gives_the_same_outputs() {
    let settings = DeviceSettings {
        robustness: Robustness::Access,
        ..DeviceSettings::default()
    };
    let Some(test) = TestDevice::from_environment(&settings) else {
        return;
    };
    if !test.draws() {
        return;
    }
    let bench = Bench::new(&test);
    let mut table: BTreeMap<String, u32> = BTreeMap::new();
    let mut differing = Vec::new();
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../standin-pull/testdata/spv");
    for corpus in [
        "sascha-willems",
        "spirv-cross",
        "glslang-test",
        "naga",
        "handmade",
    ] {
        let mut files: Vec<_> = std::fs::read_dir(corpora.join(corpus))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "spv"));
        files.sort();
        for path in files {
            let spirv = words_from_bytes(&std::fs::read(&path).unwrap()).unwrap();
            let outcome = bench.compare(&spirv);
            if std::env::var_os("STANDIN_TEST_VERBOSE").is_some() {
                println!("{}: {outcome:?}", path.display());
            }
            let name = match &outcome {
                Ok(true) => "equal".to_owned(),
                Ok(false) => "different".to_owned(),
                Err(reason) => format!("not run: {reason}"),
            };
            if outcome == Ok(false) {
                differing.push(path);
            }
            *table.entry(name).or_default() += 1;
        }
    }
    println!("{table:#?}");
    assert!(differing.is_empty(), "{differing:#?}");
    assert_eq!(table, BTreeMap::new());
}

impl Bench {
    /// Whether both variants of a shader write the same words, or why they are not run.
    fn compare(&self, spirv: &[u32]) -> Result<bool, String> {
        let options = Options {
            entry: Some("main".to_owned()),
            block: BlockPlace::Uniform {
                set: BLOCK_SET,
                binding: 0,
            },
            ..Options::default()
        };
        let pulled = match rewrite(spirv, &options) {
            Ok(Rewritten::Pulled(pulled)) => pulled,
            Ok(Rewritten::NotNeeded) => return Err("not needed".to_owned()),
            Err(declined) => return Err(declined.reason().to_owned()),
        };
        if declared(spirv)?
            .0
            .iter()
            .any(|declared| declared.set >= CAPTURE_SET)
        {
            return Err("resource in a high set".to_owned());
        }
        let addresses = Module::parse(spirv)
            .unwrap()
            .instructions
            .iter()
            .any(|i| i.opcode == 17 && i.operand(0) == 5347);
        if addresses {
            return Err("addresses of its own".to_owned());
        }
        let (state, proof) = layout(&pulled).ok_or("input type")?;
        let buffers = [BoundBuffer {
            binding: 0,
            base: self.vertices.address().ok_or("address")?,
            size: self.vertex_bytes,
        }];
        let block = layout_block(&pulled, &state, &buffers, &proof).map_err(|e| e.to_string())?;
        let exact = hold_positions(spirv, Some("main")).map_err(|e| e.to_string())?;
        let fixed = self.run(&exact, "main", Some(&state), None)?;
        // What was declared is what the shader had: the pulled one adds the block, whose set is bound anyhow.
        let pulled_words = self.run(&pulled.spirv, "main", None, Some(&block.to_bytes()))?;
        Ok(fixed == pulled_words)
    }
}
