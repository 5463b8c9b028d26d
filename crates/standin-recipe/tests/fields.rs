//! Each field changed in turn: the exact key changes if and only if the field has an effect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A failed test panics.

use ash::vk::{self, DynamicState as State};
use standin_recipe::vary::{Vary, compute_sample, graphics_sample, rendering_sample};
use standin_recipe::{GraphicsRecipe, Recipe};
use std::collections::HashMap;

/// Paths of variations that Vulkan makes no difference of, by the reason.
fn same_as_sample(recipe: &Recipe) -> Vec<String> {
    let key = recipe.exact_key();
    let mut same = Vec::new();
    recipe.vary("", &mut |path, varied| {
        assert_ne!(varied, *recipe, "{path} is no variation");
        if varied.exact_key() == key {
            same.push(path.to_owned());
        }
    });
    same
}

#[test]
fn dump() {
    for recipe in [
        Recipe::from(graphics_sample()),
        rendering_sample().into(),
        compute_sample().into(),
    ] {
        println!("{:#?}", same_as_sample(&recipe));
    }
}
