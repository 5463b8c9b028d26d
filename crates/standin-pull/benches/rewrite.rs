//! Rewriting the corpora: modules a second and core.

use std::path::Path;

use standin_pull::{BlockPlace, Options, rewrite, words_from_bytes};

fn main() {
    divan::main();
}

fn corpora() -> Vec<Vec<u32>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/spv");
    let mut modules = Vec::new();
    for corpus in ["sascha-willems", "spirv-cross", "glslang-test", "naga"] {
        for entry in std::fs::read_dir(folder.join(corpus))
            .into_iter()
            .flatten()
            .flatten()
        {
            if let Some(words) = std::fs::read(entry.path())
                .ok()
                .and_then(|bytes| words_from_bytes(&bytes).ok())
            {
                modules.push(words);
            }
        }
    }
    modules
}

/// All vertex shaders of the corpora once; the counter is modules.
#[divan::bench]
fn all_corpora(bencher: divan::Bencher<'_, '_>) {
    let modules = corpora();
    let options = Options {
        block: BlockPlace::Uniform { set: 7, binding: 0 },
        ..Options::default()
    };
    bencher
        .counter(divan::counter::ItemsCount::new(modules.len()))
        .bench(|| {
            modules
                .iter()
                .filter(|words| rewrite(words, &options).is_ok())
                .count()
        });
}

/// Those that are rewritten.
#[divan::bench]
fn rewritten_only(bencher: divan::Bencher<'_, '_>) {
    let options = Options {
        block: BlockPlace::Uniform { set: 7, binding: 0 },
        ..Options::default()
    };
    let mut modules = corpora();
    modules.retain(|words| {
        matches!(
            rewrite(words, &options),
            Ok(standin_pull::Rewritten::Pulled(_))
        )
    });
    bencher
        .counter(divan::counter::ItemsCount::new(modules.len()))
        .bench(|| {
            modules
                .iter()
                .filter(|words| rewrite(words, &options).is_ok())
                .count()
        });
}
