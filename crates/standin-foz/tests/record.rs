//! Recipes written as entries and read again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at what fails"
)]

mod made;

use ash::vk;
use made::{old_captures, testdata};
use standin_foz::writer::Encoding;
use standin_foz::{Database, EntryKey, RecordError, Recorder, Tag, Writer};
use standin_recipe::output::{RenderingFormats, Target};
use standin_recipe::pipeline::Parts;
use standin_recipe::raster::{Counted, RasterizationState, Viewport, ViewportState};
use standin_recipe::vertex::{InputAssemblyState, VertexInputState};
use standin_recipe::{ComputeRecipe, GraphicsRecipe, Recipe};
use std::collections::HashSet;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

type Memory = Database<Cursor<Vec<u8>>>;

fn recorder() -> Recorder<Vec<u8>> {
    Recorder::new(Writer::create(Vec::new(), Encoding::Layer).unwrap())
}

fn read(recorder: Recorder<Vec<u8>>) -> Memory {
    let bytes = recorder.finish().unwrap();
    Database::from_readers([(PathBuf::from("recorded.foz"), Cursor::new(bytes))]).unwrap()
}

/// Recipes by way of a recorded database; their number, and how many have the key and how many
/// the very recipe of the capture.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    pipelines: usize,
    same_key: usize,
    same_recipe: usize,
}

fn round_trip(paths: &[PathBuf]) -> Outcome {
    let mut source = Database::open(paths).unwrap();
    let infos = source.application_infos();
    let before: Vec<_> = source.pipelines().map(Result::unwrap).collect();
    let mut recorder = recorder();
    for info in infos {
        recorder.application(&info.application.unwrap()).unwrap();
    }
    let written: Vec<_> = before
        .iter()
        .map(|(_, recipe)| recorder.pipeline(recipe).unwrap())
        .collect();
    let mut db = read(recorder);

    // Every key is the rule's for what its entry says.
    let mut entries = 0_u64;
    db.recompute_keys(|entry, key| {
        assert_eq!(key.as_ref(), Ok(&entry.key), "{entry}");
        entries += 1;
    });
    assert_eq!(entries, db.summary().entries.values().sum::<u64>());
    assert_eq!(db.summary().duplicates, 0, "each object is written once");
    assert!(db.summary().damaged.is_empty());

    let after: std::collections::HashMap<EntryKey, Recipe> =
        db.pipelines().map(Result::unwrap).collect();
    let distinct: HashSet<_> = written.iter().collect();
    assert_eq!(after.len(), distinct.len());
    let (mut same_key, mut same_recipe) = (0, 0);
    for ((key, recipe), written) in before.iter().zip(&written) {
        let again = &after[written];
        assert_eq!(recipe.exact_key(), again.exact_key(), "{key}");
        same_key += usize::from(key == written);
        same_recipe += usize::from(recipe == again);
    }
    Outcome {
        pipelines: before.len(),
        same_key,
        same_recipe,
    }
}

#[test]
fn zink_piglit_round_trips() {
    let outcome = round_trip(&[testdata().join("zink-piglit-static.foz")]);
    // Those that differ chain a struct whose absence says the same.
    assert_eq!(
        outcome,
        Outcome {
            pipelines: 581,
            same_key: 42,
            same_recipe: 581
        }
    );
}

#[test]
fn ncnn_round_trips() {
    let outcome = round_trip(&[testdata().join("ncnn-benchmark.foz")]);
    assert_eq!(
        outcome,
        Outcome {
            pipelines: 993,
            same_key: 993,
            same_recipe: 993
        }
    );
}

#[test]
fn vkcube_round_trips() {
    let outcome = round_trip(&[testdata().join("vkcube.foz")]);
    assert_eq!(
        outcome,
        Outcome {
            pipelines: 1,
            same_key: 1,
            same_recipe: 1
        }
    );
}

#[test]
fn captures_of_2020_round_trip() {
    let outcome = round_trip(&old_captures());
    // Keys of an older rule, so few are the same.
    assert_eq!(
        outcome,
        Outcome {
            pipelines: 107,
            same_key: 22,
            same_recipe: 99
        }
    );
}

#[test]
fn what_is_referred_to_comes_before_its_user() {
    let mut source = Database::open([testdata().join("vkcube.foz")]).unwrap();
    let info = source.application_infos().remove(0);
    let (_, recipe) = source.pipelines().next().unwrap().unwrap();
    let mut recorder = recorder();
    recorder.application(&info.application.unwrap()).unwrap();
    recorder.pipeline(&recipe).unwrap();
    recorder.pipeline(&recipe).unwrap();
    let db = read(recorder);
    let tags: Vec<_> = db
        .entries_of(&Tag::ALL)
        .iter()
        .map(|entry| entry.tag)
        .collect();
    assert_eq!(tags[0], Tag::ApplicationInfo);
    // Each object behind its link.
    let objects: Vec<_> = tags[1..]
        .chunks(2)
        .map(|pair| {
            assert_eq!(pair[0], Tag::ApplicationBlobLink);
            pair[1]
        })
        .collect();
    assert_eq!(
        objects,
        [
            Tag::RenderPass,
            Tag::SetLayout,
            Tag::PipelineLayout,
            Tag::ShaderModule,
            Tag::ShaderModule,
            Tag::GraphicsPipeline
        ]
    );
}

fn discarding() -> GraphicsRecipe {
    GraphicsRecipe {
        layout: Some(Arc::default()),
        vertex_input: Some(VertexInputState::default()),
        input_assembly: Some(InputAssemblyState::default()),
        viewport: Some(ViewportState {
            viewports: vec![Viewport::default()].into(),
            scissors: Counted::Count(1),
            ..ViewportState::default()
        }),
        rasterization: Some(RasterizationState {
            rasterizer_discard_enable: true,
            ..RasterizationState::default()
        }),
        target: Target::Rendering(RenderingFormats {
            color: vec![vk::Format::R8G8B8A8_UNORM],
            ..RenderingFormats::default()
        }),
        ..GraphicsRecipe::default()
    }
}

fn again(recipe: GraphicsRecipe) -> GraphicsRecipe {
    let mut recorder = recorder();
    recorder.pipeline(&recipe.into()).unwrap();
    let mut db = read(recorder);
    let Some(Ok((_, Recipe::Graphics(recipe)))) = db.pipelines().last() else {
        panic!("a graphics recipe was expected");
    };
    recipe
}

#[test]
fn states_that_are_not_read_are_not_written() {
    let discarded = again(discarding());
    assert_eq!(discarded.viewport, None);
    assert!(discarded.rasterization.is_some() && discarded.vertex_input.is_some());

    let mut dynamic = discarding();
    dynamic.dynamic_states = vec![
        vk::DynamicState::RASTERIZER_DISCARD_ENABLE,
        vk::DynamicState::VERTEX_INPUT_EXT,
        vk::DynamicState::VIEWPORT,
    ];
    let dynamic = again(dynamic);
    assert_eq!(dynamic.vertex_input, None);
    // The values are dynamic; the count is not.
    assert_eq!(dynamic.viewport.unwrap().viewports, Counted::Count(1));

    let mut library = discarding();
    library.flags = vk::PipelineCreateFlags::LIBRARY_KHR.into();
    library.parts = Parts::new(vk::GraphicsPipelineLibraryFlagsEXT::VERTEX_INPUT_INTERFACE);
    let library = again(library);
    assert!(library.vertex_input.is_some() && library.input_assembly.is_some());
    assert_eq!(library.rasterization, None);
}

#[test]
fn libraries_are_written_before_what_links_them() {
    let library = GraphicsRecipe {
        flags: vk::PipelineCreateFlags::LIBRARY_KHR.into(),
        parts: Parts::new(vk::GraphicsPipelineLibraryFlagsEXT::VERTEX_INPUT_INTERFACE),
        vertex_input: Some(VertexInputState::default()),
        input_assembly: Some(InputAssemblyState::default()),
        ..GraphicsRecipe::default()
    };
    let linking = GraphicsRecipe {
        parts: Parts::new(vk::GraphicsPipelineLibraryFlagsEXT::empty()),
        libraries: vec![Arc::new(library.clone())],
        layout: Some(Arc::default()),
        ..GraphicsRecipe::default()
    };
    assert_eq!(again(linking.clone()), linking);

    let mut recorder = recorder();
    let consuming = GraphicsRecipe {
        libraries: vec![Arc::new(linking)],
        ..library
    };
    assert!(matches!(
        recorder.pipeline(&consuming.into()),
        Err(RecordError::LibraryOfLibraries)
    ));
}

#[test]
fn flags_beyond_32_bits_are_kept() {
    let wide = standin_recipe::pipeline::PipelineFlags::new(1 << 40 | 0x10);
    let recipe = ComputeRecipe {
        flags: wide,
        ..ComputeRecipe::default()
    };
    let mut recorder = recorder();
    recorder.pipeline(&recipe.clone().into()).unwrap();
    let mut db = read(recorder);
    assert_eq!(
        db.pipelines().next().unwrap().unwrap().1,
        Recipe::Compute(recipe)
    );
}

#[test]
fn a_float_that_json_cannot_say_is_refused() {
    let mut recipe = discarding();
    recipe.rasterization = Some(RasterizationState {
        line_width: standin_recipe::Float::new(f32::NAN),
        ..RasterizationState::default()
    });
    assert!(matches!(
        recorder().pipeline(&recipe.into()),
        Err(RecordError::Json(_))
    ));
}
