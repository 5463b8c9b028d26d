//! Fragments on a device: one point for each set of inputs, one draw for each program, and
//! between draws nothing but dynamic offsets.

use super::compare::{Bits, mismatch, oracle, shrink};
use standin::evaluator::{Evaluator, TextureShape};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::family::Combiners;
use standin_combiner::oracle::FragmentInputs;
use standin_combiner::packet::{CONSTANTS_BYTES, Constants, PROGRAM_BYTES, ProgramPacket};
use standin_combiner::program::Program;
use standin_combiner::shell::{Shell, TextureMode};
use standin_combiner::specialise::specialise;
use standin_combiner::state::RawState;
use standin_vulkan::Device;
use standin_vulkan::ash::vk;
use standin_vulkan::scratch::{
    Attachment, Bind, BindSet, Buffer, ColourTarget, Draw, DrawCall, Filter, GraphicsDesc, Image,
    ImageDesc, ImageShape, Layout, Load, Pass, Pipeline, Place, Resource, Scratch, ScratchError,
    SetLayout, Shader, Stage, Step, VertexBuffer, VertexInput,
};
use std::sync::Arc;

/// Every device's alignment of dynamic offsets divides it.
const PROGRAM_STRIDE: usize = 512;
const CONSTANTS_STRIDE: usize = 512;
/// v0, v1, fog, t0 to t3, place.
const VERTEX_FLOATS: usize = 4 + 4 + 1 + 16 + 2;
/// Edge of the textures that sampled fragments read: a texel for each fragment.
const TEXTURE_EDGE: u32 = 64;
/// What no fragment can write.
const UNTOUCHED: [f32; 4] = [-7.0; 4];

/// One program with its data and the fragments to run it on.
#[derive(Clone, Debug)]
pub struct Row {
    pub program: Program,
    pub constants: Constants,
    /// Which program of a batch module runs.
    pub selector: u32,
    pub inputs: Vec<FragmentInputs>,
}

/// A device with the layouts of one shell.
pub struct Gpu {
    pub scratch: Scratch,
    pub shell: Shell,
    vertex: Shader,
    set_layout: SetLayout,
    layout: Layout,
}

/// How a pipeline's draws cover the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// A pixel for each vertex.
    Points,
    /// Triangles.
    Triangles,
}

impl Gpu {
    pub fn new(device: &Arc<Device>, shell: &Shell) -> Result<Self, ScratchError> {
        let scratch = Scratch::new(device)?;
        let words: Vec<u32> = include_bytes!("../shaders/points.vert.spv")
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        let vertex = scratch.shader(&words)?;
        let interface = Combiners::default().interface(shell);
        let dynamic = vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
        let mut binds = vec![
            Bind::new(interface.program.binding, dynamic),
            Bind::new(interface.constants.binding, dynamic),
        ];
        for texture in &interface.textures {
            let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
            binds.push(Bind::new(texture.binding, kind));
        }
        let set_layout = scratch.set_layout(&binds)?;
        let layout = scratch.layout(&[&set_layout], 0)?;
        Ok(Self {
            scratch,
            shell: *shell,
            vertex,
            set_layout,
            layout,
        })
    }

    /// A pipeline of a fragment module.
    pub fn pipeline(
        &self,
        fragment: &[u32],
        format: vk::Format,
        cover: Cover,
    ) -> Result<Pipeline, ScratchError> {
        let shader = self.scratch.shader(fragment)?;
        let bindings = [vk::VertexInputBindingDescription {
            binding: 0,
            stride: (VERTEX_FLOATS * 4) as u32,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        let mut at = 0;
        let attributes = [4, 4, 1, 4, 4, 4, 4, 2].map(|size| {
            let format = match size {
                1 => vk::Format::R32_SFLOAT,
                2 => vk::Format::R32G32_SFLOAT,
                _ => vk::Format::R32G32B32A32_SFLOAT,
            };
            let offset = at;
            at += size * 4;
            (format, offset)
        });
        let attributes: Vec<_> = (0..)
            .zip(attributes)
            .map(
                |(location, (format, offset))| vk::VertexInputAttributeDescription {
                    location,
                    binding: 0,
                    format,
                    offset,
                },
            )
            .collect();
        let colours = [Attachment::write(format)];
        let stages = (Stage::main(&self.vertex), Some(Stage::main(&shader)));
        self.scratch.graphics(&GraphicsDesc {
            input: VertexInput::Fixed {
                bindings: &bindings,
                attributes: &attributes,
                divisors: &[],
            },
            topology: match cover {
                Cover::Points => vk::PrimitiveTopology::POINT_LIST,
                Cover::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
            },
            colours: &colours,
            ..GraphicsDesc::new(stages.0, stages.1, &self.layout)
        })
    }

    /// An image to draw fragments' raw bits to.
    pub fn target(
        &self,
        width: u32,
        height: u32,
        format: vk::Format,
    ) -> Result<Image, ScratchError> {
        self.scratch.image(&ImageDesc {
            shape: ImageShape::D2(width, height),
            format,
        })
    }

    /// Uploads rows of fragments, to be drawn with any pipelines.
    pub fn batch(&self, rows: &[Row]) -> Result<Batch, ScratchError> {
        let width = rows
            .iter()
            .map(|row| row.inputs.len())
            .max()
            .unwrap_or(1)
            .max(1);
        let target = self.target(width as u32, rows.len() as u32, RAW)?;
        let mut programs = vec![0; rows.len() * PROGRAM_STRIDE];
        let mut constants = vec![0; rows.len() * CONSTANTS_STRIDE];
        let mut vertices = Vec::with_capacity(rows.len() * width * VERTEX_FLOATS);
        for (y, row) in rows.iter().enumerate() {
            let packet = ProgramPacket::new(&row.program).to_bytes();
            programs[y * PROGRAM_STRIDE..][..PROGRAM_BYTES].copy_from_slice(&packet);
            let block = &mut constants[y * CONSTANTS_STRIDE..][..CONSTANTS_BYTES];
            block.copy_from_slice(&row.constants.to_bytes());
            let selector = (row.selector as f32).to_le_bytes();
            block[CONSTANTS_BYTES - 12..CONSTANTS_BYTES - 8].copy_from_slice(&selector);
            for x in 0..width {
                let inputs = row.inputs.get(x).copied().unwrap_or_default();
                let place = [
                    (x as f32 + 0.5) / width as f32 * 2.0 - 1.0,
                    (y as f32 + 0.5) / rows.len() as f32 * 2.0 - 1.0,
                ];
                vertex(&mut vertices, &self.shell, &inputs, (x, y), place);
            }
        }
        let textures = self.textures(|stage, x, y| {
            let row = rows.get(y)?;
            Some(row.inputs.get(x)?.textures[stage])
        })?;
        Ok(Batch {
            set: self.set(&programs, &constants, &textures, Filter::Nearest)?,
            vertices: self.device_buffer(&floats(&vertices))?,
            target,
            width: width as u32,
            counts: rows.iter().map(|row| row.inputs.len() as u32).collect(),
        })
    }

    fn device_buffer(&self, bytes: &[u8]) -> Result<Buffer, ScratchError> {
        let buffer = self.scratch.buffer_in(Place::Device, bytes.len() as u64)?;
        self.scratch.write(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// The images that the shell samples, each of the shape that its mode wants.
    pub fn textures(
        &self,
        texel: impl Fn(usize, usize, usize) -> Option<[f32; 4]>,
    ) -> Result<Vec<(u32, Image)>, ScratchError> {
        let mut images = Vec::new();
        for texture in Combiners::default().interface(&self.shell).textures {
            let stage = texture.binding as usize - 2;
            let edge = TEXTURE_EDGE;
            let shape = match texture.shape {
                TextureShape::Flat => ImageShape::D2(edge, edge),
                TextureShape::Volume => ImageShape::D3(edge, edge, 1),
                TextureShape::Cube => ImageShape::Cube(edge),
            };
            let format = RAW;
            let image = self.scratch.image(&ImageDesc { shape, format })?;
            let mut texels = Vec::new();
            for y in 0..edge as usize {
                for x in 0..edge as usize {
                    texels.extend_from_slice(&texel(stage, x, y).unwrap_or_default());
                }
            }
            let mut bytes = floats(&texels);
            // The other faces of a cube hold what no fragment reads.
            bytes.resize(image.byte_size() as usize, 0x3F);
            self.scratch.upload(&image, &bytes)?;
            images.push((texture.binding, image));
        }
        Ok(images)
    }

    /// The one descriptor set.
    pub fn set(
        &self,
        programs: &[u8],
        constants: &[u8],
        textures: &[(u32, Image)],
        filter: Filter,
    ) -> Result<BindSet, ScratchError> {
        let programs = self.device_buffer(programs)?;
        let constants = self.device_buffer(constants)?;
        let sampler = self.scratch.sampler(filter)?;
        let mut resources = vec![
            (0, Resource::Buffer(&programs, 0, PROGRAM_BYTES as u64)),
            (1, Resource::Buffer(&constants, 0, CONSTANTS_BYTES as u64)),
        ];
        for (binding, image) in textures {
            resources.push((*binding, Resource::Texture(image, &sampler)));
        }
        self.scratch.bind_set(&self.set_layout, &resources)
    }

    /// A buffer with vertices for [`Cover::Triangles`].
    pub fn vertices(&self, corners: &[(FragmentInputs, [f32; 2])]) -> Result<Buffer, ScratchError> {
        let mut values = Vec::new();
        for (inputs, place) in corners {
            vertex(&mut values, &Shell::PLAIN, inputs, (0, 0), *place);
        }
        self.device_buffer(&floats(&values))
    }

    /// One fragment of one state by a pipeline.
    fn single(
        &self,
        state: &RawState,
        inputs: &FragmentInputs,
        pipeline: &Pipeline,
    ) -> Result<Bits, ScratchError> {
        let Ok(admitted) = admit(state) else {
            return Ok(None);
        };
        let batch = self.batch(&[Row {
            program: admitted.program.canonical(),
            constants: Constants::from_state(state),
            selector: 0,
            inputs: vec![*inputs],
        }])?;
        Ok(self.draw(&batch, |_| pipeline)?[0][0])
    }

    /// The three results for one fragment.
    fn three(
        &self,
        state: &RawState,
        inputs: &FragmentInputs,
        generic: &Pipeline,
    ) -> Result<[Bits; 3], ScratchError> {
        let admitted = admit(state).map_err(|reason| ScratchError::Invalid(reason.to_string()))?;
        let right = oracle(&admitted, &Constants::from_state(state), inputs);
        let canonical = Admitted {
            program: admitted.program.canonical(),
            shell: self.shell,
        };
        let exact = self.pipeline(&specialise(&canonical), RAW, Cover::Points)?;
        Ok([
            right,
            self.single(state, inputs, &exact)?,
            self.single(state, inputs, generic)?,
        ])
    }

    /// Shrinks a mismatch on the device and describes it.
    pub fn explain(
        &self,
        generic: &Pipeline,
        state: &RawState,
        inputs: &FragmentInputs,
    ) -> Result<String, ScratchError> {
        let [right, _, general] = self.three(state, inputs, generic)?;
        // A specialised pipeline for each attempt is slow; only if it is the one that differs.
        let generic_differs = right != general;
        let (state, inputs) = shrink(state, inputs, |state, inputs| {
            let same_shell = admit(state).is_ok_and(|admitted| admitted.shell == self.shell);
            same_shell
                && self
                    .differs(state, inputs, generic, generic_differs)
                    .unwrap_or(false)
        });
        Ok(mismatch(
            &state,
            &inputs,
            self.three(&state, &inputs, generic)?,
        ))
    }

    fn differs(
        &self,
        state: &RawState,
        inputs: &FragmentInputs,
        generic: &Pipeline,
        only_generic: bool,
    ) -> Result<bool, ScratchError> {
        if only_generic {
            let Ok(admitted) = admit(state) else {
                return Ok(false);
            };
            let right = oracle(&admitted, &Constants::from_state(state), inputs);
            return Ok(right != self.single(state, inputs, generic)?);
        }
        let [right, special, _] = self.three(state, inputs, generic)?;
        Ok(right != special)
    }

    /// Draws each row with the pipeline that is chosen for it and reads the results back.
    pub fn draw<'a>(
        &self,
        batch: &Batch,
        pipeline: impl Fn(usize) -> &'a Pipeline,
    ) -> Result<Vec<Vec<Bits>>, ScratchError> {
        let rows = batch.counts.len();
        let offsets: Vec<[u32; 2]> = (0..rows)
            .map(|y| [(y * PROGRAM_STRIDE) as u32, (y * CONSTANTS_STRIDE) as u32])
            .collect();
        let sets: Vec<[(&BindSet, &[u32]); 1]> = offsets
            .iter()
            .map(|offsets| [(&batch.set, &offsets[..])])
            .collect();
        let vertex_buffers = [VertexBuffer {
            binding: 0,
            buffer: &batch.vertices,
            offset: 0,
        }];
        let draws: Vec<Draw<'_>> = (0..rows)
            .map(|y| Draw {
                sets: &sets[y],
                vertex_buffers: &vertex_buffers,
                ..Draw::new(
                    pipeline(y),
                    DrawCall::Direct {
                        vertices: batch.counts[y],
                        instances: 1,
                        first_vertex: y as u32 * batch.width,
                        first_instance: 0,
                    },
                )
            })
            .collect();
        let colours = [ColourTarget {
            image: &batch.target,
            load: Load::Clear(UNTOUCHED),
        }];
        let _ = self.scratch.run(&[Step::Pass(Pass {
            size: (batch.width, rows as u32),
            colours: &colours,
            depth: None,
            draws: &draws,
        })])?;
        let bytes = self.scratch.download(&batch.target)?;
        let mut pixels = bytes.chunks_exact(16).map(|pixel| {
            let mut bits = [0; 4];
            for (bits, c) in bits.iter_mut().zip(pixel.chunks_exact(4)) {
                *bits = u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
            }
            (bits != UNTOUCHED.map(f32::to_bits)).then_some(bits)
        });
        Ok(batch
            .counts
            .iter()
            .map(|count| {
                let row: Vec<Bits> = pixels.by_ref().take(batch.width as usize).collect();
                row[..*count as usize].to_vec()
            })
            .collect())
    }
}

/// The format that keeps every bit.
pub const RAW: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

/// Rows on the device.
pub struct Batch {
    set: BindSet,
    vertices: Buffer,
    target: Image,
    width: u32,
    counts: Vec<u32>,
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A vertex. Where a stage samples, its coordinates point at the texel of this fragment.
fn vertex(
    to: &mut Vec<f32>,
    shell: &Shell,
    inputs: &FragmentInputs,
    (x, y): (usize, usize),
    place: [f32; 2],
) {
    to.extend_from_slice(inputs.colours.as_flattened());
    to.push(inputs.fog);
    for (mode, raw) in shell.textures.into_iter().zip(inputs.textures) {
        let [u, v] = [x, y].map(|i| (i as f32 + 0.5) / TEXTURE_EDGE as f32);
        to.extend_from_slice(&match mode {
            // Twice the coordinates over a q of 2: the projection must happen.
            TextureMode::Projective2d => [2.0 * u, 2.0 * v, 0.0, 2.0],
            TextureMode::Projective3d => [2.0 * u, 2.0 * v, 1.0, 2.0],
            // The +X face: s is -z, t is -y.
            TextureMode::Cube => [1.0, 1.0 - 2.0 * v, 1.0 - 2.0 * u, 1.0],
            _ => raw,
        });
    }
    to.extend_from_slice(&place);
}
