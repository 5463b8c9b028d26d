//! Every vertex shader of the test data, in every way of reaching block and data: rewritten, not needed, or declined
//! by name, with the counts asserted, and accepted by `spirv-val`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // Tests fail by panicking.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use standin_pull::{
    BlockPlace, DataPath, Options, Rewritten, hold_positions, rewrite, words_from_bytes,
};

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u32>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/spv")
        .join(name);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "spv"))
        .collect();
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let words = words_from_bytes(&std::fs::read(&path).unwrap()).unwrap();
            (path, words)
        })
        .collect()
}

const CORPORA: [&str; 4] = ["sascha-willems", "spirv-cross", "glslang-test", "naga"];

fn ways() -> Vec<Options> {
    // Set 7 is used by no shader here, so that a place that is taken is not among the reasons.
    let uniform = BlockPlace::Uniform { set: 7, binding: 0 };
    let storage = BlockPlace::Storage { set: 7, binding: 0 };
    let buffers = DataPath::StorageBuffers { set: 7, binding: 1 };
    [
        (uniform, DataPath::DeviceAddress),
        (storage, buffers),
        (uniform, buffers),
        (
            BlockPlace::PushConstant { offset: 16 },
            DataPath::DeviceAddress,
        ),
    ]
    .into_iter()
    .map(|(block, data)| Options {
        block,
        data,
        ..Options::default()
    })
    .collect()
}

#[test]
fn every_vertex_shader_is_rewritten_or_declined_by_name() {
    let mut table = BTreeMap::new();
    for name in CORPORA {
        for (path, words) in corpus(name) {
            let outcome = match rewrite(&words, &ways()[0]) {
                Ok(Rewritten::Pulled(_)) => "rewritten",
                Ok(Rewritten::NotNeeded) => "not-needed",
                Err(declined) => {
                    println!("{}: {declined}", path.display());
                    declined.reason()
                }
            };
            *table.entry((name, outcome)).or_insert(0) += 1;
        }
    }
    for ((name, outcome), count) in &table {
        println!("{name:16} {outcome:24} {count}");
    }
    let expected = [
        (("glslang-test", "not-needed"), 87),
        (("glslang-test", "rewritten"), 47),
        (("glslang-test", "transform-feedback"), 3),
        (("naga", "not-needed"), 3),
        (("naga", "rewritten"), 2),
        (("sascha-willems", "not-needed"), 23),
        (("sascha-willems", "rewritten"), 118),
        (("spirv-cross", "layer-or-viewport"), 2),
        (("spirv-cross", "not-needed"), 82),
        (("spirv-cross", "rewritten"), 110),
    ];
    assert_eq!(table, BTreeMap::from(expected));
}

/// Whether `spirv-val` accepts the module. Decoder and input are held to the same version of Vulkan.
fn validate(words: &[u32], folder: &Path) -> Result<(), String> {
    let file = folder.join("module.spv");
    std::fs::write(
        &file,
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>(),
    )
    .unwrap();
    let output = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.3", "--scalar-block-layout"])
        .arg(&file)
        .output()
        .expect("spirv-val is on the path when STANDIN_TEST_DEVICE is set");
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

#[test]
fn spirv_val_accepts_whatever_it_accepted_before() {
    if std::env::var_os("STANDIN_TEST_DEVICE").is_none() {
        println!("skipped: spirv-val comes with the drivers, see `cargo xtask test`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut refused_before = 0;
    let mut validated = 0;
    let mut failures = Vec::new();
    for name in CORPORA {
        for (path, words) in corpus(name) {
            if validate(&words, folder.path()).is_err() {
                refused_before += 1;
                continue;
            }
            let held = hold_positions(&words, None).unwrap();
            if let Err(error) = validate(&held, folder.path()) {
                failures.push(format!("{} held: {error}", path.display()));
            }
            for options in ways() {
                if let Ok(Rewritten::Pulled(pulled)) = rewrite(&words, &options) {
                    validated += 1;
                    if let Err(error) = validate(&pulled.spirv, folder.path()) {
                        failures.push(format!("{} {:?}: {error}", path.display(), options.block));
                    }
                }
            }
        }
    }
    // The hand-made ones count whatever this version says of the input: it refuses pointers to inputs as arguments.
    for (path, words) in corpus("handmade") {
        for options in ways() {
            let options = Options {
                entry: Some("main".to_owned()),
                ..options
            };
            let Ok(Rewritten::Pulled(pulled)) = rewrite(&words, &options) else {
                panic!("{} is rewritten", path.display());
            };
            validated += 1;
            if let Err(error) = validate(&pulled.spirv, folder.path()) {
                failures.push(format!("{} {:?}: {error}", path.display(), options.block));
            }
        }
    }
    println!("{validated} modules validated, {refused_before} inputs refused as they are");
    for failure in &failures {
        println!("{failure}");
    }
    assert!(failures.is_empty(), "{} modules", failures.len());
}
