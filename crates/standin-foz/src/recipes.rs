//! Recipes of what payloads describe.
//!
//! A chained struct that is not known, or that does not belong where it is, is a reason to
//! decline; nothing is dropped.

pub(crate) mod graphics;
pub(crate) mod layouts;
pub(crate) mod render_pass;
pub(crate) mod states;

use crate::declined::Reason;
use crate::json::chain::Link;
use standin_recipe::codec::Float;

pub(crate) type Step<T> = Result<T, Reason>;

/// The entries that one description refers to, resolved.
pub(crate) trait Resolve {
    fn sampler(&mut self, key: u64) -> Step<std::sync::Arc<standin_recipe::SamplerRecipe>>;
    fn set_layout(&mut self, key: u64) -> Step<std::sync::Arc<standin_recipe::SetLayoutRecipe>>;
    fn pipeline_layout(
        &mut self,
        key: u64,
    ) -> Step<std::sync::Arc<standin_recipe::PipelineLayoutRecipe>>;
    fn module(&mut self, key: u64) -> Step<std::sync::Arc<standin_recipe::Module>>;
    fn render_pass(&mut self, key: u64) -> Step<std::sync::Arc<standin_recipe::RenderPassRecipe>>;
    fn library(&mut self, key: u64) -> Step<std::sync::Arc<standin_recipe::GraphicsRecipe>>;
}

/// A number as an enumerant.
pub(crate) fn raw(value: u32) -> i32 {
    value.cast_signed()
}

pub(crate) fn float(value: crate::json::Real) -> Float {
    Float::new(value.0)
}

/// Refuses a struct that is not known in its place.
pub(crate) fn foreign(link: &Link) -> Step<()> {
    match link {
        Link::Ignored(_) => Ok(()),
        other => Err(Reason::UnknownStruct(other.s_type())),
    }
}

pub(crate) fn no_chain(chain: &[Link]) -> Step<()> {
    chain.iter().try_for_each(foreign)
}

/// Refuses flags of a state for which recipes have no room; Vulkan reserves them.
pub(crate) fn no_flags(flags: u32) -> Step<()> {
    if flags == 0 {
        Ok(())
    } else {
        Err(Reason::Inconsistent("a state has reserved flags"))
    }
}
