//! The proof of vertex pulling: pulled fetch against fixed-function fetch on the device at hand, bit for bit.
//!
//! For every format that the device fetches from vertex buffers, a probe shader writes the words of one input to a
//! buffer, once with the device's own fetch and once pulled. A format is proven with the conversion that reproduces the
//! device's words; what no conversion reproduces is declined with the first value that differs.

mod cost;
mod samples;

pub use cost::{ATTRIBUTE_COUNTS, FetchCost, FetchWay, measure_fetch};

use crate::device::Device;
use crate::features::Feature;
use crate::scratch::{
    Bind, BindSet, Buffer, Draw, DrawCall, GraphicsDesc, Layout, Pass, Pipeline, Resource, Scratch,
    ScratchError, SetLayout, Stage, Step, VertexBuffer, VertexInput,
};
use ash::vk;
use samples::{Samples, samples};
use standin_pull::decode::{decode, decode_64};
use standin_pull::format::Packing;
use standin_pull::{
    BlockPlace, Class, Conversion, DataPath, Declined, Format, LayoutBlock, Options, Pulled, Rate,
    Rewritten, Stream, Widening, rewrite,
};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How much a proof run tries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// All values of components of 16 bits and fewer.
    #[default]
    Full,
    /// Of 16-bit components every seventeenth value and the edges; for devices that draw slowly.
    Short,
}

/// What a proof run found for one format.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FormatVerdict {
    /// The `VkFormat` number.
    pub format: i32,
    /// Vulkan's name, without its prefix, where it is known.
    pub name: String,
    /// The result.
    pub verdict: Verdict,
}

/// Whether a format may be pulled.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Pulled with this conversion it is what the device fetches, in every value tried.
    Proven {
        /// The conversion.
        conversion: Conversion,
        /// Elements compared.
        elements: u32,
    },
    /// The device fetches it and the table of formats does not know it.
    Unknown,
    /// Some value differs under every conversion.
    Differs {
        /// The element's bytes.
        bytes: Vec<u8>,
        /// What the device fetches.
        fixed: Vec<u32>,
        /// What is pulled.
        pulled: Vec<u32>,
    },
    /// The device lacks a feature that the probe of this format needs.
    NoProbe {
        /// The feature's name.
        feature: String,
    },
}

/// The result of a proof run, to be kept under the device's stamp.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FetchProof {
    /// What was tried.
    pub extent: Extent,
    /// One verdict for each format that the device fetches from vertex buffers.
    pub formats: Vec<FormatVerdict>,
    /// What fetching eight attributes costs here, where the device can be measured: it decides whether dynamic vertex
    /// input or pulling is tried first.
    pub cost: Option<FetchCost>,
    /// How long it took.
    pub duration: Duration,
}

impl FetchProof {
    /// The conversion with which a format is proven, if it is.
    #[must_use]
    pub fn conversion(&self, format: vk::Format) -> Option<Conversion> {
        self.formats
            .iter()
            .find(|verdict| verdict.format == format.as_raw())
            .and_then(|found| match found.verdict {
                Verdict::Proven { conversion, .. } => Some(conversion),
                _ => None,
            })
    }

    /// The ways that need no pipeline for each layout, cheapest first. Without a measurement dynamic vertex input comes
    /// first.
    #[must_use]
    pub fn order(&self) -> [FetchWay; 2] {
        let cost = |way| self.cost.as_ref().and_then(|cost| cost.of(way));
        match (cost(FetchWay::Dynamic), cost(FetchWay::Pulled)) {
            (Some(dynamic), Some(pulled)) if pulled < dynamic => {
                [FetchWay::Pulled, FetchWay::Dynamic]
            }
            _ => [FetchWay::Dynamic, FetchWay::Pulled],
        }
    }

    /// How many formats are proven.
    #[must_use]
    pub fn proven(&self) -> usize {
        self.formats
            .iter()
            .filter(|format| matches!(format.verdict, Verdict::Proven { .. }))
            .count()
    }
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The device lacks a feature without which nothing can be compared.
    #[error("the device has no {0}")]
    Missing(Feature),
    /// Work on the device failed.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// A probe was not rewritten.
    #[error("the probe was not rewritten: {0}")]
    Probe(#[from] Declined),
    /// There is no measurement with so many attributes.
    #[error("nothing is measured with {0} attributes")]
    Attributes(u32),
    /// The queue has no timestamps.
    #[error("the queue has no timestamps, so nothing can be measured")]
    NoTimestamps,
    /// The layout block did not take an entry.
    #[error(transparent)]
    Block(#[from] standin_pull::BlockError),
}

/// All formats up to here, and those of extensions in [`EXTENSION_FORMATS`], are asked for.
const LAST_CORE_FORMAT: i32 = 184;
/// Formats of extensions and later versions that are one texel in size.
const EXTENSION_FORMATS: [i32; 4] = [1_000_340_000, 1_000_340_001, 1_000_470_000, 1_000_470_001];

/// The formats that the device fetches from vertex buffers.
#[must_use]
pub fn vertex_formats(device: &Device) -> Vec<vk::Format> {
    let has = |feature| device.features().has(feature);
    (1..=LAST_CORE_FORMAT)
        .chain(EXTENSION_FORMATS)
        .map(vk::Format::from_raw)
        .filter(|format| match format.as_raw() {
            1_000_340_000 | 1_000_340_001 => {
                has(Feature::FormatA4R4G4B4) || has(Feature::FormatA4B4G4R4)
            }
            1_000_470_000 | 1_000_470_001 => has(Feature::Maintenance5),
            _ => true,
        })
        .filter(|&format| {
            // SAFETY: the physical device belongs to this instance, and the format is a core format or one of an
            // extension that the device has.
            let properties = unsafe {
                device
                    .instance()
                    .raw()
                    .get_physical_device_format_properties(device.physical(), format)
            };
            properties
                .buffer_features
                .contains(vk::FormatFeatureFlags::VERTEX_BUFFER)
        })
        .collect()
}

/// Compares pulled fetch with the device's own for every format that it fetches.
///
/// # Errors
/// [`ProveError`] where nothing can be compared. A format that differs is a verdict, not an error.
pub fn prove_fetch(scratch: &Scratch, extent: Extent) -> Result<FetchProof, ProveError> {
    let started = Instant::now();
    let mut bench = Bench::new(scratch, extent)?;
    let mut formats = Vec::new();
    for vk_format in vertex_formats(scratch.device()) {
        let known = u32::try_from(vk_format.as_raw())
            .ok()
            .and_then(Format::from_vk);
        let verdict = match known {
            Some(format) => bench.compare(vk_format, format)?,
            None => Verdict::Unknown,
        };
        let name = known.map_or_else(
            || format!("{vk_format:?}"),
            |format| format.name().to_owned(),
        );
        formats.push(FormatVerdict {
            format: vk_format.as_raw(),
            name,
            verdict,
        });
    }
    let vertices = match extent {
        Extent::Full => 500_000,
        Extent::Short => 20_000,
    };
    let cost = match measure_fetch(scratch, 8, vertices, 3) {
        Ok(cost) => Some(cost),
        Err(ProveError::Missing(_) | ProveError::NoTimestamps) => None,
        Err(error) => return Err(error),
    };
    Ok(FetchProof {
        extent,
        formats,
        cost,
        duration: started.elapsed(),
    })
}

/// The input type of a probe shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Probe {
    Float,
    Sint,
    Uint,
    Double(u8),
    Ilong(u8),
    Ulong(u8),
}

impl Probe {
    fn of(format: &Format) -> Self {
        match (format.is_64_bit(), format.class()) {
            (false, Class::Uint) => Self::Uint,
            (false, Class::Sint) => Self::Sint,
            (false, _) => Self::Float,
            (true, Class::Uint) => Self::Ulong(format.count()),
            (true, Class::Sint) => Self::Ilong(format.count()),
            (true, _) => Self::Double(format.count()),
        }
    }

    fn needs(self) -> Option<Feature> {
        match self {
            Self::Double(_) => Some(Feature::ShaderFloat64),
            Self::Ilong(_) | Self::Ulong(_) => Some(Feature::ShaderInt64),
            _ => None,
        }
    }

    fn bytes(self) -> &'static [u8] {
        macro_rules! probe {
            ($name:literal) => {
                include_bytes!(concat!("prove/shaders/probe_", $name, ".vert.spv"))
            };
        }
        match self {
            Self::Float => probe!("float"),
            Self::Sint => probe!("sint"),
            Self::Uint => probe!("uint"),
            Self::Double(1) => probe!("double1"),
            Self::Double(2) => probe!("double2"),
            Self::Double(3) => probe!("double3"),
            Self::Double(_) => probe!("double4"),
            Self::Ilong(1) => probe!("ilong1"),
            Self::Ilong(2) => probe!("ilong2"),
            Self::Ilong(3) => probe!("ilong3"),
            Self::Ilong(_) => probe!("ilong4"),
            Self::Ulong(1) => probe!("ulong1"),
            Self::Ulong(2) => probe!("ulong2"),
            Self::Ulong(3) => probe!("ulong3"),
            Self::Ulong(_) => probe!("ulong4"),
        }
    }

    /// Words that a vertex writes.
    fn words(self) -> usize {
        if self.needs().is_some() { 8 } else { 4 }
    }
}

/// Descriptor sets that pulled probes use: the probe's own, the layout block's, the data's.
const BLOCK: BlockPlace = BlockPlace::Uniform { set: 1, binding: 0 };
/// The layout block of a shader that has no other resources.
const BLOCK_SET_0: BlockPlace = BlockPlace::Uniform { set: 0, binding: 0 };
const BUFFERS: DataPath = DataPath::StorageBuffers { set: 1, binding: 1 };

/// Everything that the comparisons share.
struct Bench<'a> {
    scratch: &'a Scratch,
    extent: Extent,
    data: DataPath,
    layout: Layout,
    pulled_layout: Layout,
    probe_set: SetLayout,
    block_set: SetLayout,
    pulled: HashMap<Probe, (Pipeline, Pulled)>,
}

impl<'a> Bench<'a> {
    fn new(scratch: &'a Scratch, extent: Extent) -> Result<Self, ProveError> {
        let features = scratch.device().features();
        for feature in [
            Feature::VertexPipelineStoresAndAtomics,
            Feature::ShaderDrawParameters,
        ] {
            if !features.has(feature) {
                return Err(ProveError::Missing(feature));
            }
        }
        let data = if features.has(Feature::BufferDeviceAddress) {
            DataPath::DeviceAddress
        } else {
            BUFFERS
        };
        let probe_set = scratch.set_layout(&[
            Bind::new(0, vk::DescriptorType::STORAGE_BUFFER),
            Bind::new(1, vk::DescriptorType::UNIFORM_BUFFER),
        ])?;
        let mut binds = vec![Bind::new(0, vk::DescriptorType::UNIFORM_BUFFER)];
        if data == BUFFERS {
            binds.push(Bind::new(1, vk::DescriptorType::STORAGE_BUFFER));
        }
        let block_set = scratch.set_layout(&binds)?;
        Ok(Self {
            scratch,
            extent,
            data,
            layout: scratch.layout(&[&probe_set], 0)?,
            pulled_layout: scratch.layout(&[&probe_set, &block_set], 0)?,
            probe_set,
            block_set,
            pulled: HashMap::new(),
        })
    }

    fn compare(
        &mut self,
        vk_format: vk::Format,
        format: &'static Format,
    ) -> Result<Verdict, ProveError> {
        let probe = Probe::of(format);
        if let Some(feature) = probe
            .needs()
            .filter(|&feature| !self.scratch.device().features().has(feature))
        {
            return Ok(Verdict::NoProbe {
                feature: feature.name(),
            });
        }
        let samples = samples(format, self.extent);
        let fixed = self.fixed(vk_format, probe, &samples)?;
        let expected = |conversion| -> Vec<u32> {
            let elements = samples.bytes.chunks_exact(samples.stride);
            match probe.words() {
                8 => elements
                    .flat_map(|element| decode_64(format, element))
                    .collect(),
                _ => elements
                    .flat_map(|element| decode(format, element, conversion))
                    .collect(),
            }
        };
        let matching = Conversion::all()
            .into_iter()
            .find(|&conversion| same(format, &fixed, &expected(conversion)))
            .unwrap_or_default();
        // The device's own widening is the quicker one; where it differs it is not used.
        let native = Conversion {
            widening: Widening::Native,
            ..matching
        };
        let halves = format.packing() == Packing::Halves && format.class() == Class::Sfloat;
        if halves
            && let proven @ Verdict::Proven { .. } =
                self.pulled_verdict(probe, format, native, &samples, &fixed)?
        {
            return Ok(proven);
        }
        self.pulled_verdict(probe, format, matching, &samples, &fixed)
    }

    /// Pulls the samples as the fixed function had them, and side by side from an odd address on.
    fn pulled_verdict(
        &mut self,
        probe: Probe,
        format: &'static Format,
        conversion: Conversion,
        samples: &Samples,
        fixed: &[u32],
    ) -> Result<Verdict, ProveError> {
        let packed = samples.packed_at_odd_offset();
        let spread = samples.spread_to_whole_words();
        for (samples, offset) in [(samples, 0), (&packed, 1), (&spread, 0)] {
            let pulled = self.pull(probe, format, conversion, samples, offset)?;
            let words = probe.words();
            let elements = fixed.chunks_exact(words).zip(pulled.chunks_exact(words));
            for (index, (fixed, pulled)) in elements.enumerate() {
                if !same(format, fixed, pulled) {
                    return Ok(Verdict::Differs {
                        bytes: samples.element(index).to_vec(),
                        fixed: fixed.to_vec(),
                        pulled: pulled.to_vec(),
                    });
                }
            }
        }
        Ok(Verdict::Proven {
            conversion,
            elements: samples.count,
        })
    }

    /// What the device fetches.
    fn fixed(
        &self,
        vk_format: vk::Format,
        probe: Probe,
        samples: &Samples,
    ) -> Result<Vec<u32>, ProveError> {
        let shader = self.scratch.shader(&words(probe.bytes()))?;
        let bindings = [vk::VertexInputBindingDescription {
            binding: 0,
            stride: samples.stride as u32,
            input_rate: vk::VertexInputRate::VERTEX,
        }];
        let attributes = [vk::VertexInputAttributeDescription {
            location: 0,
            binding: 0,
            format: vk_format,
            offset: 0,
        }];
        let pipeline = self.scratch.graphics(&GraphicsDesc {
            input: VertexInput::Fixed {
                bindings: &bindings,
                attributes: &attributes,
                divisors: &[],
            },
            topology: vk::PrimitiveTopology::POINT_LIST,
            discard: true,
            ..GraphicsDesc::new(Stage::main(&shader), None, &self.layout)
        })?;
        let buffer = self.scratch.buffer_with(&samples.bytes)?;
        let vertex_buffers = [VertexBuffer {
            binding: 0,
            buffer: &buffer,
            offset: 0,
        }];
        let (set, output) = self.output(probe, samples.count)?;
        self.draw(&Draw {
            sets: &[(&set, &[])],
            vertex_buffers: &vertex_buffers,
            ..Draw::new(&pipeline, DrawCall::vertices(samples.count))
        })?;
        Ok(words(&self.scratch.read_all(&output)?))
    }

    /// What is pulled.
    fn pull(
        &mut self,
        probe: Probe,
        format: &'static Format,
        conversion: Conversion,
        samples: &Samples,
        offset: usize,
    ) -> Result<Vec<u32>, ProveError> {
        if !self.pulled.contains_key(&probe) {
            let made = self.pulled_probe(probe)?;
            self.pulled.insert(probe, made);
        }
        let Some((pipeline, pulled)) = self.pulled.get(&probe) else {
            return Ok(Vec::new());
        };
        // Words of four bytes are read: the buffer ends with a whole one.
        let mut bytes = samples.bytes.clone();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let buffer = self.scratch.buffer_with(&bytes)?;
        let start = match self.data {
            DataPath::DeviceAddress => buffer
                .address()
                .ok_or(ProveError::Missing(Feature::BufferDeviceAddress))?,
            DataPath::StorageBuffers { .. } => 0,
        };
        let mut block = LayoutBlock::new(pulled.shape);
        block.set_attribute(0, 0, offset as u32, format, conversion)?;
        let size = samples.bytes.len() as u32;
        block.set_stream(
            0,
            Stream {
                base: start,
                size,
                stride: samples.stride as u32,
                rate: Rate::Vertex,
            },
        )?;
        let block_buffer = self.scratch.buffer_with(&block.to_bytes())?;
        let mut resources = vec![(0, Resource::Buffer(&block_buffer, 0, block_buffer.size()))];
        if self.data == BUFFERS {
            resources.push((1, Resource::Buffer(&buffer, 0, buffer.size())));
        }
        let block_set = self.scratch.bind_set(&self.block_set, &resources)?;
        let (set, output) = self.output(probe, samples.count)?;
        self.draw(&Draw {
            sets: &[(&set, &[]), (&block_set, &[])],
            ..Draw::new(pipeline, DrawCall::vertices(samples.count))
        })?;
        Ok(words(&self.scratch.read_all(&output)?))
    }

    fn pulled_probe(&self, probe: Probe) -> Result<(Pipeline, Pulled), ProveError> {
        let options = Options {
            block: BLOCK,
            data: self.data,
            streams: 1,
            ..Options::default()
        };
        let Rewritten::Pulled(pulled) = rewrite(&words(probe.bytes()), &options)? else {
            return Err(ProveError::Probe(Declined::NoEntry { name: None }));
        };
        let shader = self.scratch.shader(&pulled.spirv)?;
        let pipeline = self.scratch.graphics(&GraphicsDesc {
            topology: vk::PrimitiveTopology::POINT_LIST,
            discard: true,
            ..GraphicsDesc::new(Stage::main(&shader), None, &self.pulled_layout)
        })?;
        Ok((pipeline, pulled))
    }

    /// Where a probe writes, and the set that says so.
    fn output(&self, probe: Probe, vertices: u32) -> Result<(BindSet, Buffer), ProveError> {
        let output = self
            .scratch
            .buffer(u64::from(vertices) * 4 * probe.words() as u64)?;
        let range: Vec<u8> = [0, vertices, 0, 0]
            .iter()
            .flat_map(|word: &u32| word.to_le_bytes())
            .collect();
        let range = self.scratch.buffer_with(&range)?;
        let set = self.scratch.bind_set(
            &self.probe_set,
            &[
                (0, Resource::Buffer(&output, 0, output.size())),
                (1, Resource::Buffer(&range, 0, range.size())),
            ],
        )?;
        Ok((set, output))
    }

    fn draw(&self, draw: &Draw<'_>) -> Result<(), ProveError> {
        let pass = Pass {
            size: (1, 1),
            colours: &[],
            depth: None,
            draws: std::slice::from_ref(draw),
        };
        self.scratch.run(&[Step::Pass(pass)])?;
        Ok(())
    }
}

/// Whether two runs of words are the same. NaNs of unsigned floats have no defined payload.
fn same(format: &Format, a: &[u32], b: &[u32]) -> bool {
    let equal = |(&a, &b): (&u32, &u32)| {
        a == b
            || format.class() == Class::Ufloat
                && f32::from_bits(a).is_nan()
                && f32::from_bits(b).is_nan()
    };
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|word| u32::from_le_bytes(*word))
        .collect()
}
