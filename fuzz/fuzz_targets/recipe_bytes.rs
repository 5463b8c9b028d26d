//! The recipe's byte form: what is read has exactly the bytes that it was read from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use standin_recipe::Recipe;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(recipe) = Recipe::from_bytes(bytes) {
        assert_eq!(recipe.to_bytes(), bytes);
        let normal = recipe.normalised();
        assert_eq!(normal.exact_key(), recipe.exact_key());
    }
});
