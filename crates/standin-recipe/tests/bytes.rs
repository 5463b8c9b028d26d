//! The canonical byte form: recipes and bytes correspond one to one, and nothing else is read.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A failed test panics.

use proptest::prelude::*;
use standin_recipe::codec::DecodeError;
use standin_recipe::vary::{Vary, compute_sample, graphics_sample, rendering_sample};
use standin_recipe::{ComputeRecipe, GraphicsRecipe, ModuleRef, Recipe};
use std::sync::Arc;

fn samples() -> [Recipe; 3] {
    let mut linked = rendering_sample();
    linked.libraries = vec![Arc::new(graphics_sample()), Arc::default()];
    [
        graphics_sample().into(),
        linked.into(),
        compute_sample().into(),
    ]
}

#[test]
fn every_variation_comes_back() {
    for sample in samples() {
        sample.vary("", &mut |path, recipe| {
            let specialised_outside = path.contains("specialization.data.pop");
            let bytes = recipe.to_bytes();
            match Recipe::from_bytes(&bytes) {
                Ok(read) => assert_eq!(read, recipe, "{path}"),
                Err(error) => assert!(specialised_outside, "{path}: {error}"),
            }
        });
    }
}

#[test]
fn the_body_names_its_modules() {
    let recipe = Recipe::from(graphics_sample());
    let body = recipe.to_body();
    assert_eq!(body.modules.len(), 4);
    let find = |key| {
        body.modules
            .iter()
            .find(|module| module.key() == key)
            .cloned()
    };
    assert_eq!(Recipe::from_body(&body.bytes, find), Ok(recipe));
    let missing = body.modules[0].key();
    assert_eq!(
        Recipe::from_body(&body.bytes, |key| find(key).filter(|_| key != missing)),
        Err(DecodeError::MissingModule(missing))
    );
}

/// The bytes of the smallest compute recipe, written by hand from `docs/recipe-format.md`.
#[test]
fn the_layout_is_the_documented_one() {
    let recipe = ComputeRecipe::default();
    let key = ModuleRef::default().key();
    let mut expected = b"SRB\n\x01\x00\x01".to_vec();
    expected.extend([0; 8]); // Flags.
    expected.extend([0; 8]); // Stage and its flags.
    expected.extend(key.to_le_bytes());
    expected.extend(b"\x04\0\0\0main");
    expected.extend([0; 3]); // No specialisation, subgroup size, robustness.
    expected.extend([0; 12]); // Layout: flags, no sets, no ranges.
    expected.push(0); // No robustness.
    let mut whole = b"SRW\n\x01\x00\x01\0\0\0".to_vec();
    whole.extend([0; 8]); // The module: flags, no words.
    whole.extend(&expected);
    let recipe = Recipe::from(recipe);
    assert_eq!(recipe.to_body().bytes, expected);
    assert_eq!(recipe.to_bytes(), whole);
}

#[test]
fn every_truncation_is_refused() {
    for sample in samples() {
        let bytes = sample.to_bytes();
        for length in 0..bytes.len() {
            assert!(
                Recipe::from_bytes(&bytes[..length]).is_err(),
                "{length} bytes"
            );
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(matches!(
            Recipe::from_bytes(&longer),
            Err(DecodeError::Trailing { .. })
        ));
    }
}

/// Whatever is read from changed bytes has exactly these bytes.
fn assert_canonical(bytes: &[u8]) {
    if let Ok(recipe) = Recipe::from_bytes(bytes) {
        assert_eq!(recipe.to_bytes(), bytes);
    }
}

#[test]
fn every_flipped_bit_is_refused_or_another_recipe() {
    for sample in samples() {
        let bytes = sample.to_bytes();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                assert_ne!(Recipe::from_bytes(&flipped).as_ref(), Ok(&sample));
                assert_canonical(&flipped);
            }
        }
    }
}

#[test]
fn a_count_of_four_billion_allocates_nothing() {
    // 0xffffffff modules, then nothing.
    let bytes = b"SRW\n\x01\x00\xff\xff\xff\xff";
    assert_eq!(
        Recipe::from_bytes(bytes),
        Err(DecodeError::BadCount {
            at: 6,
            count: u32::MAX
        })
    );
}

#[test]
fn another_version_is_named() {
    let mut bytes = Recipe::from(compute_sample()).to_bytes();
    bytes[4] = 9;
    assert_eq!(
        Recipe::from_bytes(&bytes),
        Err(DecodeError::Version { found: 9 })
    );
}

#[test]
fn endless_nesting_is_refused() {
    let mut recipe = GraphicsRecipe::default();
    for _ in 0..20 {
        recipe = GraphicsRecipe {
            libraries: vec![Arc::new(recipe)],
            ..GraphicsRecipe::default()
        };
    }
    assert_eq!(
        Recipe::from_bytes(&Recipe::from(recipe).to_bytes()),
        Err(DecodeError::TooDeep)
    );
}

fn nth_variation(recipe: &Recipe, n: usize) -> Recipe {
    let mut all = Vec::new();
    recipe.vary("", &mut |_, recipe| all.push(recipe));
    let index = n % all.len();
    all.swap_remove(index)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read(sample in 0usize..3, changes in prop::collection::vec(any::<usize>(), 1..4)) {
        let mut recipe = samples()[sample].clone();
        for change in changes {
            recipe = nth_variation(&recipe, change);
        }
        let bytes = recipe.to_bytes();
        match Recipe::from_bytes(&bytes) {
            Ok(read) => {
                prop_assert_eq!(read.exact_key(), recipe.exact_key());
                prop_assert_eq!(read, recipe);
            }
            Err(error) => prop_assert!(matches!(error, DecodeError::Specialization(_)), "{}", error),
        }
    }

    #[test]
    fn normalising_twice_is_normalising_once(change in any::<usize>(), second in any::<usize>()) {
        let recipe = nth_variation(&nth_variation(&graphics_sample().into(), change), second);
        let normal = recipe.normalised();
        prop_assert_eq!(&normal.normalised(), &normal);
        prop_assert_eq!(normal.exact_key(), recipe.exact_key());
    }

    /// Several bytes changed at once, in ways that single flips do not reach.
    #[test]
    fn mutated_bytes_do_no_harm(
        sample in 0usize..3,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = samples()[sample].to_bytes();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        assert_canonical(&bytes);
        bytes.drain(..cut.index(bytes.len()));
        assert_canonical(&bytes);
    }
}

/// The fuzzer's corpus, each file changed a bounded number of times by a fixed sequence.
#[test]
fn the_fuzzers_corpus_mutated_does_no_harm() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fuzz/corpus/recipe_bytes"
    );
    let mut files = 0;
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert_canonical(&bytes);
        files += 1;
        for _ in 0..2000 {
            let mut mutated = bytes.clone();
            for _ in 0..=next(3) {
                let (from, to) = (next(mutated.len()), next(mutated.len()));
                match next(4) {
                    0 => mutated[to] = u8::try_from(next(256)).unwrap(),
                    1 => mutated[to] = mutated[from],
                    2 => mutated.insert(to, 0),
                    _ => drop(mutated.remove(to)),
                }
            }
            assert_canonical(&mutated);
        }
    }
    assert!(files >= 4, "{files} files in the corpus");
}
