//! The bounded twin of the fuzz target: damaged modules give a result or a named refusal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests fail by panicking.

use std::path::Path;

use proptest::prelude::*;
use standin_pull::{BlockPlace, DataPath, Options, hold_positions, rewrite, words_from_bytes};

fn seeds() -> Vec<Vec<u32>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/spv");
    let mut files = Vec::new();
    for corpus in ["handmade", "naga", "glslang-test"] {
        files.extend(
            std::fs::read_dir(folder.join(corpus))
                .unwrap()
                .map(|entry| entry.unwrap().path()),
        );
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "spv"));
    files.sort();
    files
        .iter()
        .map(|path| words_from_bytes(&std::fs::read(path).unwrap()).unwrap())
        .collect()
}

/// One change to a module's words.
#[derive(Clone, Debug)]
enum Change {
    Set(prop::sample::Index, u32),
    Copy(prop::sample::Index, prop::sample::Index),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let word = prop_oneof![
        0_u32..80,
        any::<u32>(),
        (1_u32..8, 0_u32..400).prop_map(|(len, op)| len << 16 | op)
    ];
    prop_oneof![
        (any::<prop::sample::Index>(), word).prop_map(|(at, word)| Change::Set(at, word)),
        (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(to, from)| Change::Copy(to, from)),
        any::<prop::sample::Index>().prop_map(Change::Cut),
        any::<prop::sample::Index>().prop_map(Change::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_module_gives_a_result_or_a_named_refusal(
        seed in any::<prop::sample::Index>(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let seeds = seeds_once();
        let mut words = seeds[seed.index(seeds.len())].clone();
        for change in changes {
            if words.is_empty() {
                break;
            }
            let len = words.len();
            match change {
                Change::Set(at, word) => words[at.index(len)] = word,
                Change::Copy(to, from) => words[to.index(len)] = words[from.index(len)],
                Change::Cut(at) => words.truncate(at.index(len)),
                Change::Remove(at) => drop(words.remove(at.index(len))),
            }
        }
        let buffers = DataPath::StorageBuffers { set: 2, binding: 1 };
        for (block, data) in [
            (BlockPlace::Uniform { set: 2, binding: 0 }, DataPath::DeviceAddress),
            (BlockPlace::PushConstant { offset: 0 }, buffers),
        ] {
            let options = Options { block, data, ..Options::default() };
            if let Err(declined) = rewrite(&words, &options) {
                prop_assert!(!declined.reason().is_empty());
            }
        }
        let _ = hold_positions(&words, None);
        let _ = standin_pull::capture::capture_outputs(&words, None, (0, 0), 3);
    }
}

fn seeds_once() -> &'static [Vec<u32>] {
    static SEEDS: std::sync::OnceLock<Vec<Vec<u32>>> = std::sync::OnceLock::new();
    SEEDS.get_or_init(seeds)
}
