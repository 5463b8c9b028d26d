//! Keys, bytes and create-infos of one rich recipe.

use divan::{Bencher, black_box};
use standin_recipe::create_info::{GraphicsCreateInfo, GraphicsHandles};
use standin_recipe::vary::graphics_sample;
use standin_recipe::{Family, Fields, Recipe};

fn main() {
    divan::main();
}

#[divan::bench]
fn exact_key(bencher: Bencher<'_, '_>) {
    let recipe = Recipe::from(graphics_sample());
    bencher.bench(|| black_box(&recipe).exact_key());
}

#[divan::bench]
fn family_key(bencher: Bencher<'_, '_>) {
    let recipe = Recipe::from(graphics_sample());
    let family = Family::dynamic(Fields::EXTENDED_1 | Fields::EXTENDED_2 | Fields::VERTEX_INPUT);
    bencher.bench(|| black_box(&recipe).family_key(&family));
}

#[divan::bench]
fn encode(bencher: Bencher<'_, '_>) {
    let recipe = Recipe::from(graphics_sample());
    bencher.bench(|| black_box(&recipe).to_bytes());
}

#[divan::bench]
fn decode(bencher: Bencher<'_, '_>) {
    let bytes = Recipe::from(graphics_sample()).to_bytes();
    bencher.bench(|| Recipe::from_bytes(black_box(&bytes)));
}

#[divan::bench]
fn create_info(bencher: Bencher<'_, '_>) {
    let recipe = graphics_sample();
    let handles = GraphicsHandles::default();
    bencher.bench_local(|| GraphicsCreateInfo::new(black_box(&recipe), &handles, 0));
}
