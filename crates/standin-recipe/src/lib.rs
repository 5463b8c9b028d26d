//! Owned, typed Vulkan pipeline recipes and their identities.
//!
//! A [`Recipe`] is everything that a `VkGraphicsPipelineCreateInfo` or a
//! `VkComputePipelineCreateInfo` reaches: shader code, names, constants, layouts, the render pass
//! and every state with the structs chained to it. Nothing in it points outside itself, so it can
//! be kept, sent to another thread and written to a file.
//!
//! Where Vulkan gives the absence of a chained struct the meaning of certain values, the recipe
//! holds the values and not the struct, so that both ways of saying the same are one recipe.
//!
//! `docs/recipe-format.md` describes the canonical byte form and the rules of the keys.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod codec;
pub mod create_info;
pub mod family;
pub mod key;
pub mod layout;
pub mod module;
pub mod normal;
pub mod output;
pub mod pipeline;
pub mod raster;
pub mod render_pass;
pub mod stage;
mod summary;
#[cfg(feature = "vary")]
pub mod vary;
pub mod vertex;

pub use codec::{DecodeError, Float};
pub use family::{Family, Fields, MechanismTag};
pub use layout::{PipelineLayoutRecipe, SamplerRecipe, SetLayoutRecipe};
pub use module::{Module, ModuleKey, ModuleRef};
pub use pipeline::{ComputeRecipe, GraphicsRecipe, Recipe};
pub use render_pass::RenderPassRecipe;
