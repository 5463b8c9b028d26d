//! Family keys: equal for recipes that differ only in what the family absorbs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A failed test panics.

use ash::vk;
use standin_recipe::key::{exact_executable_key, family_executable_key};
use standin_recipe::raster::Counted;
use standin_recipe::vary::graphics_sample;
use standin_recipe::{Family, Fields, GraphicsRecipe, MechanismTag, Recipe};

fn changed(change: impl FnOnce(&mut GraphicsRecipe)) -> Recipe {
    let mut recipe = graphics_sample();
    change(&mut recipe);
    recipe.into()
}

fn other_blend(recipe: &mut GraphicsRecipe) {
    if let Counted::Values(values) = &mut recipe.color_blend.as_mut().unwrap().attachments {
        values[0].src_color = vk::BlendFactor::ONE;
    }
}

fn other_layout(recipe: &mut GraphicsRecipe) {
    recipe.vertex_input.as_mut().unwrap().attributes[0].format = vk::Format::R8G8_UNORM;
}

fn other_fragment(recipe: &mut GraphicsRecipe) {
    recipe.stages[3].module = recipe.stages[0].module.clone();
}

/// Checks that the family's key is blind to the one change and sees the others.
fn absorbs(family: Family, absorbed: fn(&mut GraphicsRecipe), seen: &[fn(&mut GraphicsRecipe)]) {
    let key = changed(|_| {}).family_key(&family);
    assert_eq!(changed(absorbed).family_key(&family), key);
    for change in seen {
        assert_ne!(changed(change).family_key(&family), key);
    }
}

const PULLED: Family = Family::pulled(MechanismTag(1));
const GENERIC: Family = Family::generic(MechanismTag(7));

#[test]
fn a_family_absorbs_its_fields_and_no_others() {
    absorbs(
        Family::LINKED,
        |_| {},
        &[other_blend, other_layout, other_fragment],
    );
    absorbs(
        Family::dynamic(Fields::COLOR_BLEND_EQUATION),
        other_blend,
        &[other_layout, other_fragment],
    );
    absorbs(
        Family::dynamic(Fields::VERTEX_INPUT),
        other_layout,
        &[other_blend, other_fragment],
    );
    absorbs(PULLED, other_layout, &[other_blend, other_fragment]);
    absorbs(GENERIC, other_fragment, &[other_blend, other_layout]);
    let widest = PULLED
        .union(GENERIC)
        .and_then(|family| family.union(Family::dynamic(Fields::EXTENDED_3)))
        .unwrap();
    for change in [other_blend, other_layout, other_fragment] {
        absorbs(widest, change, &[]);
    }
}

#[test]
fn keys_of_two_families_are_never_equal() {
    let recipe = changed(|_| {});
    let families = [
        Family::LINKED,
        Family::dynamic(Fields::empty()),
        Family::dynamic(Fields::CORE),
        PULLED,
        Family::pulled(MechanismTag(2)),
        GENERIC,
        Family::generic(MechanismTag(1)),
        PULLED.union(GENERIC).unwrap(),
    ];
    let mut keys: Vec<_> = families
        .iter()
        .map(|family| recipe.family_key(family).to_u128())
        .chain([recipe.exact_key().to_u128()])
        .collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), families.len() + 1);
    assert_eq!(PULLED.union(Family::pulled(MechanismTag(2))), None);
}

#[test]
fn a_state_that_is_dynamic_already_is_the_same_as_one_absorbed() {
    let family = Family::dynamic(Fields::VIEWPORT_WITH_COUNT | Fields::VERTEX_INPUT);
    let key = changed(|_| {}).family_key(&family);
    for state in [
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::VIEWPORT_WITH_COUNT,
        vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE,
        vk::DynamicState::VERTEX_INPUT_EXT,
    ] {
        let recipe = changed(|recipe| recipe.dynamic_states.push(state));
        assert_eq!(recipe.family_key(&family), key, "{state:?}");
    }
}

#[test]
fn every_field_is_found_by_its_state() {
    let all: Vec<_> = Fields::all().states().collect();
    assert_eq!(all.len(), Fields::all().bits().count_ones() as usize);
    for state in all {
        let field = Fields::of_state(state).unwrap();
        assert_eq!(field.states().collect::<Vec<_>>(), [state]);
    }
}

#[test]
fn executables_of_one_recipe_have_different_keys() {
    let recipe = changed(|_| {});
    let exact = exact_executable_key(recipe.exact_key());
    let stand_in = family_executable_key(recipe.family_key(&PULLED));
    assert_ne!(exact, stand_in);
}

#[test]
fn a_summary_names_stages_and_formats() {
    let text = changed(|_| {}).to_string();
    for part in [
        "graphics:",
        "VERTEX",
        "FRAGMENT",
        "R8G8B8A8_UNORM",
        "D24_UNORM_S8_UINT",
        "4 samples",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}
