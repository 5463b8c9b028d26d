//! Writes recipes to a folder, as seeds for a fuzzer: `cargo run -p standin-recipe --features vary
//! --example corpus -- fuzz/corpus/recipe_bytes`.

use standin_recipe::vary::{compute_sample, graphics_sample, rendering_sample};
use standin_recipe::{GraphicsRecipe, Recipe};
use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(std::io::Error::other("usage: corpus FOLDER"));
    };
    std::fs::create_dir_all(&folder)?;
    let recipes: [(&str, Recipe); 4] = [
        ("graphics", graphics_sample().into()),
        ("rendering", rendering_sample().into()),
        ("compute", compute_sample().into()),
        ("empty", GraphicsRecipe::default().into()),
    ];
    for (name, recipe) in recipes {
        std::fs::write(folder.join(name), recipe.to_bytes())?;
    }
    Ok(())
}
