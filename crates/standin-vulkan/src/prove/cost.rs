//! What fetching vertices costs on this device: fixed function, dynamic vertex input, pulled, and the floor, a pulled
//! shader that was compiled for the layout. All in one run, in turns.

use super::{BLOCK_SET_0, ProveError, words};
use crate::features::Feature;
use crate::scratch::{
    Bind, BindSet, Buffer, Depth, DepthTarget, Draw, DrawCall, GraphicsDesc, Image, ImageDesc,
    ImageShape, Load, Pass, Pipeline, Place, Resource, Scratch, Stage, Step, VertexBuffer,
    VertexInput,
};
use ash::vk;
use standin_pull::{
    Conversion, DataPath, Declined, Format, LayoutBlock, Options, Rate, Rewritten, Stream,
    Widening, rewrite,
};

/// A way of fetching vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FetchWay {
    /// A pipeline with its vertex input state.
    Fixed,
    /// `VK_EXT_vertex_input_dynamic_state`.
    Dynamic,
    /// Through a layout block.
    Pulled,
    /// Through addresses, with the layout compiled in.
    Floor,
}

/// What so many attributes cost.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FetchCost {
    /// Attributes of a vertex.
    pub attributes: u32,
    /// Vertices of a draw.
    pub vertices: u32,
    /// Draws in each way.
    pub rounds: u32,
    /// Median nanoseconds of a draw, by way; ways that the device lacks are missing.
    pub nanoseconds: Vec<(FetchWay, f64)>,
}

impl FetchCost {
    /// Nanoseconds of a draw.
    #[must_use]
    pub fn of(&self, way: FetchWay) -> Option<f64> {
        self.nanoseconds
            .iter()
            .find(|(other, _)| *other == way)
            .map(|(_, nanoseconds)| *nanoseconds)
    }
}

/// The attributes of the measured vertices, again and again: 60 bytes for eight.
const FORMATS: [vk::Format; 8] = [
    vk::Format::R32G32B32_SFLOAT,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R16G16_SFLOAT,
    vk::Format::R16G16B16A16_SNORM,
    vk::Format::A2B10G10R10_SNORM_PACK32,
    vk::Format::R32G32_SFLOAT,
    vk::Format::R8G8B8A8_SNORM,
    vk::Format::R32G32B32A32_SFLOAT,
];

/// How many attributes can be measured.
pub const ATTRIBUTE_COUNTS: [u32; 5] = [1, 2, 4, 8, 16];

fn shaders(attributes: u32) -> Option<(&'static [u8], &'static [u8])> {
    macro_rules! pair {
        ($count:literal) => {
            Some((
                include_bytes!(concat!("cost_shaders/inputs_", $count, ".vert.spv")).as_slice(),
                include_bytes!(concat!("cost_shaders/floor_", $count, ".vert.spv")).as_slice(),
            ))
        };
    }
    match attributes {
        1 => pair!(1),
        2 => pair!(2),
        4 => pair!(4),
        8 => pair!(8),
        16 => pair!(16),
        _ => None,
    }
}

/// Measures draws of `vertices` vertices with `attributes` attributes, outside of the clip volume.
///
/// # Errors
/// [`ProveError`] where the device cannot be measured or a draw fails.
pub fn measure_fetch(
    scratch: &Scratch,
    attributes: u32,
    vertices: u32,
    rounds: u32,
) -> Result<FetchCost, ProveError> {
    let features = scratch.device().features();
    for feature in [Feature::BufferDeviceAddress, Feature::ShaderDrawParameters] {
        if !features.has(feature) {
            return Err(ProveError::Missing(feature));
        }
    }
    let Some((inputs, floor)) = shaders(attributes) else {
        return Err(ProveError::Attributes(attributes));
    };
    let mesh = Mesh::new(scratch, attributes, vertices)?;
    let target = scratch.image(&ImageDesc {
        shape: ImageShape::D2(16, 16),
        format: vk::Format::D32_SFLOAT,
    })?;
    let exact = standin_pull::hold_positions(&words(inputs), None)?;
    let floor = standin_pull::hold_positions(&words(floor), None)?;
    let mut ways = vec![
        (
            FetchWay::Fixed,
            Subject::fetched(scratch, &mesh, &exact, false)?,
        ),
        (
            FetchWay::Pulled,
            Subject::pulled(scratch, &mesh, &words(inputs))?,
        ),
        (FetchWay::Floor, Subject::floor(scratch, &mesh, &floor)?),
    ];
    if features.has(Feature::VertexInputDynamicState) {
        ways.insert(
            1,
            (
                FetchWay::Dynamic,
                Subject::fetched(scratch, &mesh, &exact, true)?,
            ),
        );
    }
    let mut times: Vec<(FetchWay, Vec<f64>)> =
        ways.iter().map(|(way, _)| (*way, Vec::new())).collect();
    // The first round warms up: drivers compile at the first draw.
    for round in 0..=rounds {
        for ((_, subject), (_, times)) in ways.iter().zip(&mut times) {
            let nanoseconds = subject.draw(scratch, &mesh, &target)?;
            if round > 0 {
                times.push(nanoseconds);
            }
        }
    }
    let nanoseconds = times.into_iter().map(|(way, mut times)| {
        times.sort_by(f64::total_cmp);
        (way, times.get(times.len() / 2).copied().unwrap_or(f64::NAN))
    });
    Ok(FetchCost {
        attributes,
        vertices,
        rounds,
        nanoseconds: nanoseconds.collect(),
    })
}

/// The measured vertices.
struct Mesh {
    buffer: Buffer,
    attributes: Vec<vk::VertexInputAttributeDescription>,
    stride: u32,
    vertices: u32,
}

impl Mesh {
    fn new(scratch: &Scratch, attributes: u32, vertices: u32) -> Result<Self, ProveError> {
        let mut stride = 0;
        let attributes: Vec<_> = (0..attributes)
            .zip(FORMATS.into_iter().cycle())
            .map(|(location, format)| {
                let offset = stride;
                stride += size(format);
                vk::VertexInputAttributeDescription {
                    location,
                    binding: 0,
                    format,
                    offset,
                }
            })
            .collect();
        // Numbers below one in every format that is read as float.
        let bytes: Vec<u8> = (0..stride as usize * vertices as usize)
            .map(|at| ((at * 167) >> 3) as u8 & 0x3f)
            .collect();
        let buffer = device_buffer(scratch, &bytes)?;
        Ok(Self {
            buffer,
            attributes,
            stride,
            vertices,
        })
    }
}

fn size(format: vk::Format) -> u32 {
    known(format).map_or(4, |format| u32::from(format.size()))
}

fn known(format: vk::Format) -> Option<&'static Format> {
    u32::try_from(format.as_raw())
        .ok()
        .and_then(Format::from_vk)
}

/// A pipeline with what its draws bind.
struct Subject {
    pipeline: Pipeline,
    set: Option<BindSet>,
    way: FetchWay,
}

const DEPTH: Option<Depth> = Some(Depth {
    format: vk::Format::D32_SFLOAT,
    compare: vk::CompareOp::LESS,
    write: true,
});

impl Subject {
    fn fetched(
        scratch: &Scratch,
        mesh: &Mesh,
        spirv: &[u32],
        dynamic: bool,
    ) -> Result<Self, ProveError> {
        let shader = scratch.shader(spirv)?;
        let layout = scratch.layout(&[], 0)?;
        let bindings = [vk::VertexInputBindingDescription {
            binding: 0,
            stride: mesh.stride,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        let fixed = VertexInput::Fixed {
            bindings: &bindings,
            attributes: &mesh.attributes,
            divisors: &[],
        };
        let pipeline = scratch.graphics(&GraphicsDesc {
            input: if dynamic { VertexInput::Dynamic } else { fixed },
            topology: vk::PrimitiveTopology::TRIANGLE_STRIP,
            depth: DEPTH,
            ..GraphicsDesc::new(Stage::main(&shader), None, &layout)
        })?;
        let way = if dynamic {
            FetchWay::Dynamic
        } else {
            FetchWay::Fixed
        };
        Ok(Self {
            pipeline,
            set: None,
            way,
        })
    }

    fn pulled(scratch: &Scratch, mesh: &Mesh, spirv: &[u32]) -> Result<Self, ProveError> {
        let options = Options {
            block: BLOCK_SET_0,
            data: DataPath::DeviceAddress,
            streams: 1,
            ..Options::default()
        };
        let Rewritten::Pulled(pulled) = rewrite(spirv, &options)? else {
            return Err(ProveError::Probe(Declined::NoEntry { name: None }));
        };
        // Which conversion is exact here is another question; all cost the same but this one.
        let conversion = Conversion {
            widening: Widening::Native,
            ..Conversion::default()
        };
        let mut block = LayoutBlock::new(pulled.shape);
        for attribute in &mesh.attributes {
            let Some(format) = known(attribute.format) else {
                continue;
            };
            block.set_attribute(attribute.location, 0, attribute.offset, format, conversion)?;
        }
        let base = address(&mesh.buffer)?;
        let size = mesh.stride * mesh.vertices;
        block.set_stream(
            0,
            Stream {
                base,
                size,
                stride: mesh.stride,
                rate: Rate::Vertex,
            },
        )?;
        Self::through_addresses(scratch, &pulled.spirv, &block.to_bytes(), FetchWay::Pulled)
    }

    fn floor(scratch: &Scratch, mesh: &Mesh, spirv: &[u32]) -> Result<Self, ProveError> {
        let mut base = address(&mesh.buffer)?.to_le_bytes().to_vec();
        base.resize(16, 0);
        Self::through_addresses(scratch, spirv, &base, FetchWay::Floor)
    }

    fn through_addresses(
        scratch: &Scratch,
        spirv: &[u32],
        block: &[u8],
        way: FetchWay,
    ) -> Result<Self, ProveError> {
        let shader = scratch.shader(spirv)?;
        let set_layout = scratch.set_layout(&[Bind::new(0, vk::DescriptorType::UNIFORM_BUFFER)])?;
        let layout = scratch.layout(&[&set_layout], 0)?;
        let block = device_buffer(scratch, block)?;
        let set = scratch.bind_set(
            &set_layout,
            &[(0, Resource::Buffer(&block, 0, block.size()))],
        )?;
        let pipeline = scratch.graphics(&GraphicsDesc {
            topology: vk::PrimitiveTopology::TRIANGLE_STRIP,
            depth: DEPTH,
            ..GraphicsDesc::new(Stage::main(&shader), None, &layout)
        })?;
        Ok(Self {
            pipeline,
            set: Some(set),
            way,
        })
    }

    /// Draws the mesh; nanoseconds on the device.
    fn draw(&self, scratch: &Scratch, mesh: &Mesh, target: &Image) -> Result<f64, ProveError> {
        let sets: Vec<(&BindSet, &[u32])> =
            self.set.iter().map(|set| (set, [].as_slice())).collect();
        let buffers = [VertexBuffer {
            binding: 0,
            buffer: &mesh.buffer,
            offset: 0,
        }];
        let bindings = [vk::VertexInputBindingDescription2EXT::default()
            .binding(0)
            .stride(mesh.stride)
            .input_rate(vk::VertexInputRate::VERTEX)
            .divisor(1)];
        let attributes: Vec<_> = mesh
            .attributes
            .iter()
            .map(|attribute| {
                vk::VertexInputAttributeDescription2EXT::default()
                    .location(attribute.location)
                    .binding(0)
                    .format(attribute.format)
                    .offset(attribute.offset)
            })
            .collect();
        let draw = Draw {
            sets: &sets,
            vertex_buffers: if self.set.is_some() { &[] } else { &buffers },
            input: (self.way == FetchWay::Dynamic).then_some((&bindings, &attributes)),
            ..Draw::new(&self.pipeline, DrawCall::vertices(mesh.vertices))
        };
        let pass = Pass {
            size: (16, 16),
            colours: &[],
            depth: Some(DepthTarget {
                image: target,
                load: Load::Clear(1.0),
            }),
            draws: &[draw],
        };
        let report = scratch.run(&[Step::Pass(pass)])?;
        report
            .nanoseconds
            .first()
            .copied()
            .flatten()
            .ok_or(ProveError::NoTimestamps)
    }
}

fn device_buffer(scratch: &Scratch, bytes: &[u8]) -> Result<Buffer, ProveError> {
    let buffer = scratch.buffer_in(Place::Device, bytes.len() as u64)?;
    scratch.write(&buffer, 0, bytes)?;
    Ok(buffer)
}

fn address(buffer: &Buffer) -> Result<u64, ProveError> {
    buffer
        .address()
        .ok_or(ProveError::Missing(Feature::BufferDeviceAddress))
}
