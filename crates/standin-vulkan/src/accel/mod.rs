//! Builds of acceleration structures, with the scratch memory that they need.
//!
//! A submission [`Context`](Recording) owns its scratch arena and its buffers until its
//! submission has completed. `standin::engine::scratch` decides where the scratch of each build
//! lies, when a buffer grows and when the arena wraps; this module creates the buffers and
//! records the barriers that it asks for. A context that has completed keeps the capacity that
//! it has earned and serves the next recording.

mod buffer;
mod context;

pub use self::buffer::{Input, Structure};
pub use self::context::{Contexts, Recording};

use crate::features::Feature;
use ash::vk;
use standin::engine::scratch::TooLarge;
use std::sync::Arc;

/// Why a structure is not built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccelError {
    /// The device lacks a feature.
    #[error("the device has no {0}")]
    Missing(Feature),
    /// No memory type of the device fits.
    #[error("the device has no memory for {0}")]
    NoMemory(&'static str),
    /// The input is too short for the geometry, or too long to be counted.
    #[error("{0}")]
    Invalid(&'static str),
    /// The scratch that a build needs cannot be addressed.
    #[error(transparent)]
    Scratch(#[from] TooLarge),
    /// A call failed.
    #[error("{call} failed: {result}")]
    Call {
        /// The Vulkan command.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

fn failed(call: &'static str) -> impl FnOnce(vk::Result) -> AccelError {
    move |result| AccelError::Call { call, result }
}

/// What a structure is built of.
#[derive(Debug, Clone)]
pub enum Geometry {
    /// A bottom level of opaque triangles: three vertices each of three `f32`, one behind the
    /// other.
    Triangles {
        /// The vertices.
        vertices: Arc<Input>,
        /// How many triangles.
        count: u32,
    },
    /// A top level of these instances.
    Instances(Vec<Instance>),
}

/// A bottom level placed in the world.
#[derive(Debug, Clone)]
pub struct Instance {
    /// What is placed.
    pub structure: Arc<Structure>,
    /// Its place: three rows of four, as `VkTransformMatrixKHR`.
    pub transform: [f32; 12],
    /// What a shader reads as its custom index: 24 bits.
    pub custom_index: u32,
}

/// How much scratch a recording has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScratchUse {
    /// Builds recorded.
    pub builds: usize,
    /// Buffers created because the arena grew.
    pub grown: usize,
    /// Barriers recorded because the arena wrapped.
    pub wrapped: usize,
    /// Capacity of the arena in bytes.
    pub capacity: u64,
}
