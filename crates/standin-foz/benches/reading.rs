//! How fast databases become recipes, by bytes of decoded payload and by pipelines.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench ends at what fails"
)]

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use standin_foz::Database;
use std::path::Path;

fn main() {
    divan::main();
}

#[divan::bench(args = ["zink-piglit-static.foz", "ncnn-benchmark.foz"])]
fn recipes(bencher: Bencher<'_, '_>, name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/foz")
        .join(name);
    let mut db = Database::open([&path]).expect("the project's own test data");
    let pipelines = db.pipelines().count();
    let bytes = db.summary().decoded_bytes;
    bencher
        .counter(ItemsCount::new(pipelines))
        .counter(BytesCount::new(bytes))
        .bench_local(|| {
            Database::open([&path])
                .expect("the project's own test data")
                .pipelines()
                .filter(Result::is_ok)
                .count()
        });
}
