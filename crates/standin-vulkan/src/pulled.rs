//! Feeding a pulled pipeline: from a vertex layout, the buffers of a draw and this device's proof to the layout block.

use crate::prove::FetchProof;
use ash::vk;
use standin_pull::{BlockError, Format, Input, LayoutBlock, Pulled, Rate, Scalar, Stream};
use standin_recipe::vertex::{VertexAttribute, VertexInputState};

/// A vertex buffer of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundBuffer {
    /// The binding.
    pub binding: u32,
    /// Where the binding starts: its device address, or its offset in its storage buffer.
    ///
    /// Data is read in words of four bytes. The words that hold the first and the last byte must lie in the buffer's
    /// memory: a buffer whose address and size are multiples of four satisfies that.
    pub base: u64,
    /// Bytes from there to the end of what the draw may read; 0 for a null buffer.
    pub size: u64,
}

/// Why a vertex layout is not pulled on this device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotPulled {
    /// The format is no vertex format that is known.
    #[error("location {location}: VkFormat {format} is not known as a vertex format")]
    UnknownFormat {
        /// The location.
        location: u32,
        /// The `VkFormat` number.
        format: i32,
    },
    /// No proof on this device says that the format is fetched as the fixed function does.
    #[error("location {location}: {format} is not proven on this device")]
    UnprovenFormat {
        /// The location.
        location: u32,
        /// The format's name.
        format: &'static str,
    },
    /// 64-bit inputs need 64-bit formats with as many components, and 64-bit formats such inputs.
    #[error("location {location}: {format} does not feed {components} components of {width} bits")]
    Width {
        /// The location.
        location: u32,
        /// The format's name.
        format: &'static str,
        /// Components that the shader reads.
        components: u32,
        /// Their bits.
        width: u32,
    },
    /// A divisor on a binding that is read by vertex, which Vulkan does not allow.
    #[error("binding {binding} is read by vertex and has the divisor {divisor}")]
    DivisorByVertex {
        /// The binding.
        binding: u32,
        /// The divisor.
        divisor: u32,
    },
    /// An attribute names a binding that the layout lacks.
    #[error("location {location}: there is no binding {binding}")]
    NoBinding {
        /// The location.
        location: u32,
        /// The binding.
        binding: u32,
    },
    /// More bindings are read than the block has streams.
    #[error("the layout reads more than {streams} bindings")]
    TooManyStreams {
        /// Streams of the block.
        streams: u32,
    },
    /// A stream's range is not addressed by 32 bits.
    #[error(
        "binding {binding} is bound with {size} bytes; the layout block holds up to 4294967295"
    )]
    StreamTooLarge {
        /// The binding.
        binding: u32,
        /// Its bytes.
        size: u64,
    },
    /// The block refused an entry.
    #[error(transparent)]
    Block(#[from] BlockError),
}

/// Fills the layout block of a draw. A binding is the stream of its place among the bindings that the shader reads,
/// which [`stream_bindings`] lists.
///
/// Locations that the shader reads and the layout lacks read as (0, 0, 0, 1); attributes that the shader does not read
/// are ignored, and so are bindings without attributes. A binding without a buffer reads as zeros.
///
/// # Errors
/// [`NotPulled`] says why this layout is not pulled.
pub fn layout_block(
    pulled: &Pulled,
    state: &VertexInputState,
    buffers: &[BoundBuffer],
    proof: &FetchProof,
) -> Result<LayoutBlock, NotPulled> {
    let mut block = LayoutBlock::new(pulled.shape);
    let bindings = stream_bindings(pulled, state);
    if bindings.len() > pulled.shape.streams as usize {
        return Err(NotPulled::TooManyStreams {
            streams: pulled.shape.streams,
        });
    }
    for input in &pulled.inputs {
        for location in locations(input, pulled.shape.attributes) {
            let attribute = state
                .attributes
                .iter()
                .find(|attribute| attribute.location == location);
            let Some(attribute) = attribute else {
                block.set_absent(location, input.scalar != Scalar::Float)?;
                continue;
            };
            let format = admitted(input, attribute)?;
            let conversion =
                proof
                    .conversion(attribute.format)
                    .ok_or(NotPulled::UnprovenFormat {
                        location,
                        format: format.name(),
                    })?;
            let stream = bindings
                .iter()
                .position(|binding| *binding == attribute.binding)
                .ok_or(NotPulled::NoBinding {
                    location,
                    binding: attribute.binding,
                })?;
            block.set_attribute(
                location,
                stream as u32,
                attribute.offset,
                format,
                conversion,
            )?;
        }
    }
    for (stream, number) in (0..).zip(bindings) {
        let Some(binding) = state
            .bindings
            .iter()
            .find(|binding| binding.binding == number)
        else {
            continue;
        };
        let rate = match (binding.input_rate, binding.divisor) {
            (vk::VertexInputRate::INSTANCE, divisor) => Rate::Instance { divisor },
            (_, 1) => Rate::Vertex,
            (_, divisor) => {
                return Err(NotPulled::DivisorByVertex {
                    binding: number,
                    divisor,
                });
            }
        };
        let buffer = buffers.iter().find(|buffer| buffer.binding == number);
        let (base, size) = buffer.map_or((0, 0), |buffer| (buffer.base, buffer.size));
        let size = u32::try_from(size).map_err(|_| NotPulled::StreamTooLarge {
            binding: number,
            size,
        })?;
        block.set_stream(
            stream,
            Stream {
                base,
                size,
                stride: binding.stride,
                rate,
            },
        )?;
    }
    Ok(block)
}

/// The bindings that the shader reads in this layout, in the order of their streams.
#[must_use]
pub fn stream_bindings(pulled: &Pulled, state: &VertexInputState) -> Vec<u32> {
    let read = |attribute: &&VertexAttribute| {
        let location = attribute.location;
        pulled
            .inputs
            .iter()
            .any(|input| locations(input, pulled.shape.attributes).any(|own| own == location))
    };
    let known = |binding: &u32| state.bindings.iter().any(|other| other.binding == *binding);
    let mut bindings: Vec<u32> = state
        .attributes
        .iter()
        .filter(read)
        .map(|attribute| attribute.binding)
        .filter(known)
        .collect();
    bindings.sort_unstable();
    bindings.dedup();
    bindings
}

/// The locations at which an input is fed: of a value that takes two, the first.
fn locations(input: &Input, limit: u32) -> impl Iterator<Item = u32> + use<> {
    let step = if input.width == 64 && input.components > 2 {
        2
    } else {
        1
    };
    let end = input
        .locations
        .map_or(limit, |count| input.location + count);
    (input.location..end).step_by(step)
}

fn admitted(input: &Input, attribute: &VertexAttribute) -> Result<&'static Format, NotPulled> {
    let location = attribute.location;
    let raw = attribute.format.as_raw();
    let format = u32::try_from(raw).ok().and_then(Format::from_vk);
    let format = format.ok_or(NotPulled::UnknownFormat {
        location,
        format: raw,
    })?;
    // 64-bit components have no defaults, so all that are read must be stored.
    let enough = u32::from(format.count()) * 2 >= input.component + input.components * 2;
    if (input.width == 64) != format.is_64_bit() || format.is_64_bit() && !enough {
        let (components, width) = (input.components, input.width);
        return Err(NotPulled::Width {
            location,
            format: format.name(),
            components,
            width,
        });
    }
    Ok(format)
}
