//! Standin's Vulkan backend: capabilities, pipelines, driver blobs, proofs.
//!
//! ```no_run
//! use standin_vulkan::{Device, DeviceChoice, Instance};
//!
//! let instance = Instance::new(&Default::default())?;
//! let physical = instance.select(&DeviceChoice::BestOrCpu)?;
//! let device = Device::new(&physical, &Default::default())?;
//! println!("{}", device.capabilities().identity.name);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod accel;
mod binary;
pub mod blobs;
pub mod build;
pub mod capabilities;
mod checks;
pub mod decline;
pub mod device;
pub mod doctor;
pub mod extensions;
pub mod features;
pub mod instance;
mod layouts;
pub mod objects;
mod passes;
pub mod prove;
pub mod pulled;
pub mod scratch;
mod spirv;
pub mod stamp;
pub mod validation;

pub use ash;
pub use capabilities::{Capabilities, DeviceKind};
pub use device::{Device, DeviceError, DeviceSettings, Robustness};
pub use features::{Feature, Features};
pub use instance::{
    DeviceChoice, Instance, InstanceError, InstanceSettings, PhysicalDevice, SelectError,
    Validation,
};
