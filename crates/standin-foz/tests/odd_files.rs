//! Odd files: each costs only what is damaged and what depends on it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at what fails"
)]

mod made;

use made::{
    HEADER, LAYOUT, MODULE, compute, compute_of, compute_text, file, head, layout, module, open,
    pipeline, stored,
};
use standin_foz::stream::{Damage, HeaderError};
use standin_foz::writer::{Encoding, Written};
use standin_foz::{Database, EntryKey, Reason, Tag, Warning, Writer};
use standin_recipe::Recipe;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

fn outcome(bytes: Vec<u8>) -> (Vec<u64>, Vec<(u64, Reason)>) {
    let mut db = open(bytes);
    let (mut made, mut declined) = (Vec::new(), Vec::new());
    for item in db.pipelines() {
        match item {
            Ok((key, _)) => made.push(key.key.0),
            Err(error) => declined.push((error.key.key.0, error.reason)),
        }
    }
    (made, declined)
}

fn header_error(bytes: &[u8]) -> HeaderError {
    Database::from_readers([(PathBuf::from("made.foz"), Cursor::new(bytes.to_vec()))])
        .unwrap_err()
        .error
}

#[test]
fn headers_of_other_versions_and_kinds_do_not_open() {
    assert!(matches!(header_error(b""), HeaderError::Short(0)));
    assert!(matches!(
        header_error(&HEADER[..15]),
        HeaderError::Short(15)
    ));
    let with = |at: usize, byte| {
        let mut header = HEADER;
        header[at] = byte;
        header
    };
    assert!(matches!(
        header_error(&with(15, 4)),
        HeaderError::Version(4)
    ));
    assert!(matches!(
        header_error(&with(15, 7)),
        HeaderError::Version(7)
    ));
    assert!(matches!(header_error(&with(13, 1)), HeaderError::Reserved));
    assert!(matches!(header_error(&with(0, 0x80)), HeaderError::Magic));
}

#[test]
fn a_header_alone_is_an_empty_database() {
    for version in [5, 6] {
        let mut header = HEADER;
        header[15] = version;
        let mut db = open(header.to_vec());
        assert_eq!(db.pipelines().count(), 0);
        assert!(db.summary().warnings.is_empty());
    }
}

#[test]
fn every_truncation_keeps_what_is_before_it() {
    let first = file(&[layout(), module(), compute(1, "")]);
    let whole = file(&[layout(), module(), compute(1, ""), compute(2, "")]);
    for cut in first.len()..whole.len() {
        let mut db = open(whole[..cut].to_vec());
        assert_eq!(
            db.pipelines().filter(Result::is_ok).count(),
            1,
            "cut at {cut}"
        );
        let expected = if cut == first.len() {
            vec![]
        } else {
            vec![Warning::Truncated {
                path: PathBuf::from("made.foz"),
                at: first.len() as u64,
                lost: (cut - first.len()) as u64,
            }]
        };
        assert_eq!(db.summary().warnings, expected, "cut at {cut}");
    }
}

#[test]
fn order_does_not_matter() {
    let entries = [compute(2, ""), compute(1, ""), module(), layout()];
    assert_eq!(outcome(file(&entries)), (vec![2, 1], vec![]));
}

#[test]
fn the_first_of_duplicates_wins_also_across_files() {
    let other = stored(Tag::ComputePipeline, 1, "not JSON");
    assert_eq!(
        outcome(file(&[layout(), module(), compute(1, ""), other.clone()])),
        (vec![1], vec![])
    );
    let inputs = [
        file(&[compute(1, "")]),
        file(&[other, layout(), module(), compute(2, "")]),
    ]
    .map(|bytes| (PathBuf::from("made.foz"), Cursor::new(bytes)));
    let mut db = Database::from_readers(inputs).unwrap();
    assert_eq!(db.summary().duplicates, 1);
    assert_eq!(db.pipelines().filter(Result::is_ok).count(), 2);
}

#[test]
fn higher_tags_and_odd_names_are_skipped() {
    let mut higher = head(11, 9, 3, 1, 0, 3);
    higher.extend_from_slice(b"xyz");
    // The first 8 characters do not matter, nor does the case of the others.
    let mut upper = compute(0xabc, "");
    upper[..8].copy_from_slice(b"????????");
    upper[24..40].make_ascii_uppercase();
    let mut bad = compute(3, "");
    bad[20] = b'g';
    let bytes = file(&[higher, layout(), module(), bad, upper]);
    let mut db = open(bytes);
    let keys: Vec<_> = db.pipelines().map(|item| item.unwrap().0).collect();
    assert_eq!(keys, [pipeline(0xabc)]);
    assert!(matches!(
        db.summary().warnings[..],
        [Warning::HigherTag { tag: 11, .. }]
    ));
    assert_eq!(db.summary().damaged.len(), 1);
    assert_eq!(db.summary().damaged[0].damage, Damage::Name);
}

#[test]
fn case_a14_a_size_that_lies_costs_only_its_entry() {
    for (format, size) in [
        (2, 0xffff_fff0),
        (1, 0xffff_fff0),
        (2, 3 << 20),
        (2, 1),
        (3, 4),
    ] {
        let text = compute_text(1, "");
        let payload = miniz(&text);
        let mut bad = head(7, 1, payload.len() as u32, format, 0, size);
        bad.extend_from_slice(&payload);
        let (made, declined) = outcome(file(&[layout(), module(), bad, compute(2, "")]));
        assert_eq!(made, [2], "format {format}, size {size:#x}");
        assert_eq!(declined.len(), 1);
        assert!(matches!(declined[0], (1, Reason::Damaged(_))));
    }
}

#[test]
fn case_a14_a_flipped_byte_costs_only_its_entry() {
    let payload = miniz(&compute_text(1, ""));
    let mut bad = head(7, 1, payload.len() as u32, 2, 0x1234_5678, 200);
    bad.extend_from_slice(&payload);
    let (made, declined) = outcome(file(&[layout(), module(), bad, compute(2, "")]));
    assert_eq!(made, [2]);
    assert!(matches!(
        declined[..],
        [(
            1,
            Reason::Damaged(Damage::Checksum {
                expected: 0x1234_5678,
                ..
            })
        )]
    ));
}

#[test]
fn case_a15_bad_json_is_named_and_counted() {
    let text = compute_text(1, "");
    let bad = stored(Tag::ComputePipeline, 1, &text[..text.len() - 1]);
    let mut db = open(file(&[layout(), module(), bad, compute(2, "")]));
    assert_eq!(db.pipelines().filter(Result::is_err).count(), 1);
    assert_eq!(db.pipelines().filter(Result::is_ok).count(), 1);
    let damaged = &db.summary().damaged;
    assert_eq!(damaged.len(), 1, "noted once, however often it is read");
    assert_eq!(damaged[0].entry, Some(pipeline(1)));
    let offset = file(&[layout(), module()]).len() as u64;
    assert_eq!(damaged[0].offset, offset);
}

#[test]
fn case_b7_three_constants_stay_three() {
    // 1, 2 and 3 as words.
    let extra = r#","specializationInfo":{"dataSize":12,"data":"AQAAAAIAAAADAAAA","mapEntries":[{"offset":0,"size":4,"constantID":0},{"offset":4,"size":4,"constantID":1},{"offset":8,"size":4,"constantID":2}]}"#;
    let mut db = open(file(&[layout(), module(), compute(1, extra)]));
    let Some(Ok((_, Recipe::Compute(recipe)))) = db.pipelines().next() else {
        panic!("a recipe was expected");
    };
    let constants = recipe.stage.specialization.unwrap();
    assert_eq!(constants.data, [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
    let entries: Vec<_> = constants
        .entries
        .iter()
        .map(|entry| (entry.constant_id, entry.offset, entry.size))
        .collect();
    assert_eq!(entries, [(0, 0, 4), (1, 4, 4), (2, 8, 4)]);
}

#[test]
fn a_constant_outside_of_its_data_is_declined() {
    let extra = r#","specializationInfo":{"dataSize":4,"data":"AQAAAA==","mapEntries":[{"offset":4,"size":4,"constantID":0}]}"#;
    let (made, declined) = outcome(file(&[layout(), module(), compute(1, extra)]));
    assert_eq!(made, [0; 0]);
    assert!(matches!(declined[..], [(1, Reason::Inconsistent(_))]));
}

#[test]
fn case_b9_loops_and_missing_bases_give_recipes_without_the_derivative() {
    let derived = |key, base| {
        stored(
            Tag::ComputePipeline,
            key,
            &compute_of(key, MODULE, base, ""),
        )
    };
    let bytes = file(&[
        layout(),
        module(),
        derived(1, 2),
        derived(2, 1),
        derived(3, 0x99),
    ]);
    let mut db = open(bytes);
    let flags: Vec<_> = db
        .pipelines()
        .map(|item| match item.unwrap().1 {
            Recipe::Compute(recipe) => recipe.flags.bits(),
            Recipe::Graphics(_) => panic!("a compute pipeline was expected"),
        })
        .collect();
    assert_eq!(flags, [0, 0, 0]);
}

#[test]
fn case_e8_creation_only_flags_are_stripped() {
    // 0x10 is DISPATCH_BASE and stays.
    let text =
        compute_text(1, "").replace(r#""flags":0,"layout""#, r#""flags":2147484624,"layout""#);
    assert_eq!(
        2_147_484_624_u32,
        0x8000_0000 | 0x200 | 0x100 | 0x80 | 0x40 | 0x10
    );
    let mut db = open(file(&[
        layout(),
        module(),
        stored(Tag::ComputePipeline, 1, &text),
    ]));
    let Some(Ok((_, Recipe::Compute(recipe)))) = db.pipelines().next() else {
        panic!("a recipe was expected");
    };
    assert_eq!(recipe.flags.bits(), 0x10);
}

#[test]
fn case_p5_an_unknown_struct_costs_its_entry_and_what_refers_to_it() {
    let chain = r#","pNext":[{"sType":1999999999,"x":[1,{"y":2}]}]"#;
    let bytes = file(&[layout(), module(), compute(1, chain), compute(2, "")]);
    assert_eq!(
        outcome(bytes),
        (vec![2], vec![(1, Reason::UnknownStruct(1_999_999_999))])
    );
    let sets = r#"{"version":6,"setLayouts":{"0000000000000030":{"flags":0,"bindings":[],"pNext":[{"sType":1999999999}]}}}"#;
    let text = r#"{"version":6,"pipelineLayouts":{"0000000000000010":{"flags":0,"pushConstantRanges":[],"setLayouts":["0000000000000030"]}}}"#;
    let bytes = file(&[
        stored(Tag::SetLayout, 0x30, sets),
        stored(Tag::PipelineLayout, LAYOUT, text),
        module(),
        compute(1, ""),
    ]);
    let set = Reason::Dependency {
        needs: EntryKey::new(Tag::SetLayout, 0x30),
        reason: Arc::new(Reason::UnknownStruct(1_999_999_999)),
    };
    let expected = Reason::Dependency {
        needs: EntryKey::new(Tag::PipelineLayout, LAYOUT),
        reason: Arc::new(set),
    };
    assert_eq!(outcome(bytes), (vec![], vec![(1, expected)]));
}

#[test]
fn case_p6_a_library_of_libraries_is_declined_and_ray_tracing_by_name() {
    let text = |key: u64, extra: &str| {
        format!(
            r#"{{"version":6,"raytracingPipelines":{{"{key:016x}":{{"flags":2048,"layout":"0000000000000010","basePipelineHandle":"0000000000000000","basePipelineIndex":-1,"maxPipelineRayRecursionDepth":1,"stages":[],"groups":[]{extra}}}}}}}"#
        )
    };
    let consuming = text(2, r#","libraryInfo":{"libraries":["0000000000000001"]}"#);
    let bytes = file(&[
        stored(Tag::RayTracingPipeline, 1, &text(1, "")),
        stored(Tag::RayTracingPipeline, 2, &consuming),
    ]);
    let expected = vec![(1, Reason::RayTracing), (2, Reason::LibraryOfLibraries)];
    assert_eq!(outcome(bytes), (vec![], expected));
}

#[test]
fn a_missing_module_is_named() {
    let missing = stored(Tag::ComputePipeline, 1, &compute_of(1, 0x77, 0, ""));
    let expected = Reason::Missing(EntryKey::new(Tag::ShaderModule, 0x77));
    assert_eq!(
        outcome(file(&[layout(), module(), missing])),
        (vec![], vec![(1, expected)])
    );
}

#[test]
fn several_properties_of_one_payload_are_all_read() {
    let one = r#""0000000000000010":{"flags":0,"pushConstantRanges":[],"setLayouts":[]}"#;
    let two = one.replace("10\"", "11\"");
    let text = format!(r#"{{"version":6,"pipelineLayouts":{{{two},{one}}}}}"#);
    // The layout that is asked for has no entry of its own name.
    let layouts = stored(Tag::PipelineLayout, 0x11, &text);
    assert_eq!(outcome(file(&[layouts, module(), compute(1, "")])).0, [1]);
}

#[test]
fn appending_writes_over_a_truncated_tail() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tail.foz");
    let whole = file(&[layout(), module(), compute(1, "")]);
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let mut writer = Writer::append_file(&path, Encoding::Plain).unwrap();
    let again = writer.write(EntryKey::new(Tag::PipelineLayout, LAYOUT), b"{}");
    assert_eq!(again.unwrap(), Written::AlreadyThere);
    let text = compute_text(1, "");
    assert_eq!(
        writer.write(pipeline(1), text.as_bytes()).unwrap(),
        Written::New
    );
    writer.finish().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), whole);
}

#[test]
fn appending_to_nothing_writes_the_header() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new.foz");
    Writer::append_file(&path, Encoding::Layer)
        .unwrap()
        .finish()
        .unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), HEADER);
}

fn miniz(text: &str) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 1)
}
