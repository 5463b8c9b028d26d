//! Owned, typed Vulkan pipeline recipes and their identities.
//!
//! A [`Recipe`] describes one complete pipeline, and nothing in it points outside itself: shader
//! modules, layouts, samplers and render passes are part of it. It is made from a program's
//! create-infos by `standin-capture` or from a capture file by `standin-foz`, has a
//! [canonical byte form](bytes), and goes back to create-infos for a driver.
#![forbid(unsafe_code)]

pub mod bytes;
pub mod codec;
pub mod layout;
pub mod module;
pub mod pass;
pub mod pipeline;
pub mod state;

pub use module::{Module, ModuleKey, ModuleRef};
pub use pipeline::{ComputeRecipe, GraphicsRecipe, Recipe};
