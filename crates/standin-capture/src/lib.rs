//! Deep copies of raw Vulkan create-infos into owned recipes.
//!
//! Following a caller's pointers is unsafe, and everything else about a recipe is not: this crate
//! is where the pointers are followed. A state is read only where Vulkan says that it is not
//! ignored, because its pointer may be anything otherwise. A struct in a chain is copied, or it is
//! one of [`IGNORED`], or the whole create-info is refused by its sType.

mod chain;
mod error;
mod graphics;
mod layout;
mod render_pass;
mod stage;
mod states;

pub use chain::IGNORED;
pub use error::CaptureError;
pub use graphics::{compute, graphics};
pub use layout::{pipeline_layout, sampler, set_layout, ycbcr_conversion};
pub use render_pass::{render_pass, render_pass_2};
pub use stage::shader_module;

use ash::vk;
use standin_recipe::layout::YcbcrConversion;
use standin_recipe::{
    GraphicsRecipe, Module, PipelineLayoutRecipe, RenderPassRecipe, SamplerRecipe, SetLayoutRecipe,
};
use std::sync::Arc;

/// Where the recipes of objects are that create-infos refer to by handle.
pub trait Objects {
    /// The module that this handle stands for.
    fn shader_module(&self, handle: vk::ShaderModule) -> Option<Arc<Module>>;
    /// The YCbCr conversion that this handle stands for.
    fn ycbcr_conversion(&self, handle: vk::SamplerYcbcrConversion) -> Option<Arc<YcbcrConversion>>;
    /// The sampler that this handle stands for.
    fn sampler(&self, handle: vk::Sampler) -> Option<Arc<SamplerRecipe>>;
    /// The set layout that this handle stands for.
    fn set_layout(&self, handle: vk::DescriptorSetLayout) -> Option<Arc<SetLayoutRecipe>>;
    /// The pipeline layout that this handle stands for.
    fn pipeline_layout(&self, handle: vk::PipelineLayout) -> Option<Arc<PipelineLayoutRecipe>>;
    /// The render pass that this handle stands for.
    fn render_pass(&self, handle: vk::RenderPass) -> Option<Arc<RenderPassRecipe>>;
    /// The pipeline library that this handle stands for.
    fn library(&self, handle: vk::Pipeline) -> Option<Arc<GraphicsRecipe>>;
}
