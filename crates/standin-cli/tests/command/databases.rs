//! Databases that are odd: what is lost, what is named, and how the command ends.

use crate::standin::{Folder, capture};

/// Length of a database's header and of an entry's head in bytes (docs/foz.md).
const HEADER: usize = 16;
const HEAD: usize = 56;

/// Offset and stored size of each entry.
fn entries(database: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = HEADER;
    while at + HEAD <= database.len() {
        let size = u32::from_le_bytes(database[at + 40..at + 44].try_into().unwrap()) as usize;
        found.push((at, size));
        at += HEAD + size;
    }
    found
}

/// The first entry of a tag: its number is in the name's hexadecimal digits 8 to 24.
fn entry_of(database: &[u8], tag: u64) -> (usize, usize) {
    entries(database)
        .into_iter()
        .find(|(at, _)| {
            let digits = std::str::from_utf8(&database[at + 8..at + 24]).unwrap();
            u64::from_str_radix(digits, 16).unwrap() == tag
        })
        .unwrap()
}

const MODULE: u64 = 4;
const GRAPHICS: u64 = 6;

#[test]
fn a_whole_database_is_counted() {
    let folder = Folder::new();
    let run = folder.run(["inspect".into(), capture("vkcube.foz"), "--json".into()]);
    let json = run.status(0).json();
    let found = &json["databases"][0];
    // What the origin's note says of vkcube: one graphics pipeline, two modules.
    assert_eq!(found["entries"]["graphics pipeline"], 1);
    assert_eq!(found["entries"]["shader module"], 2);
    assert_eq!(found["recipes"], 1);
    assert_eq!(found["damaged"].as_array().unwrap().len(), 0);
}

#[test]
fn what_is_no_database_is_status_2_and_named() {
    let folder = Folder::new();
    let mut version = std::fs::read(capture("vkcube.foz")).unwrap();
    version[15] = 4;
    let mut reserved = std::fs::read(capture("vkcube.foz")).unwrap();
    reserved[13] = 1;
    for (name, bytes) in [
        ("empty.foz", &[][..]),
        ("short.foz", b"\x81FOSSILIZE"),
        ("garbage.foz", &[0x5a; 4096]),
        ("version.foz", &version),
        ("reserved.foz", &reserved),
    ] {
        folder.file(name, bytes);
        for verb in [
            &["inspect", name][..],
            &["prebuild", name, "--archive", "archive"],
            &["replay", name, "--archive", "archive"],
        ] {
            let run = folder.run(verb).status(2);
            assert!(run.stderr().contains(name), "{}", run.stderr());
        }
        assert!(
            !folder.path().join("archive").exists(),
            "{name}: nothing was done"
        );
    }
    for verb in [
        &["inspect", "missing.foz"][..],
        &["inspect", "."],
        &["prebuild", "missing.foz", "--archive", "archive"],
        &["prebuild", ".", "--archive", "archive"],
    ] {
        folder.run(verb).status(2);
    }
}

#[test]
fn one_unreadable_file_does_not_hide_the_others() {
    let folder = Folder::new();
    folder.file("garbage.foz", b"garbage");
    let words = [
        "inspect".into(),
        "garbage.foz".into(),
        capture("vkcube.foz"),
        "--json".into(),
    ];
    let run = folder.run(words).status(2);
    assert_eq!(run.json()["databases"][0]["recipes"], 1);
}

#[test]
fn a_truncated_database_counts_up_to_the_cut() {
    let folder = Folder::new();
    let whole = std::fs::read(capture("vkcube.foz")).unwrap();
    let (last, _) = *entries(&whole).last().unwrap();
    // Within the last entry's head, and within its payload.
    for cut in [last + 10, whole.len() - 1] {
        folder.file("cut.foz", &whole[..cut]);
        let json = folder
            .run(["inspect", "cut.foz", "--json"])
            .status(1)
            .json();
        let damaged = json["databases"][0]["damaged"].as_array().unwrap();
        assert!(
            damaged[0]["reason"].as_str().unwrap().contains("truncated"),
            "{json}"
        );
        let counted: u64 = json["databases"][0]["entries"]
            .as_object()
            .unwrap()
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(counted, entries(&whole).len() as u64 - 1);
    }
}

#[test]
fn a14_a_false_size_loses_that_entry_and_allocates_nothing() {
    let folder = Folder::new();
    let mut database = std::fs::read(capture("vkcube.foz")).unwrap();
    let (at, _) = entry_of(&database, MODULE);
    database[at + 52..at + 56].copy_from_slice(&0xffff_fff0_u32.to_le_bytes());
    folder.file("size.foz", &database);
    let json = folder
        .run(["inspect", "size.foz", "--json"])
        .status(1)
        .json();
    names_a_module_and_its_pipeline(&json["databases"][0]);
}

#[test]
fn a14_a_flipped_byte_loses_that_entry_and_what_needs_it() {
    let folder = Folder::new();
    let mut database = std::fs::read(capture("vkcube.foz")).unwrap();
    let (at, size) = entry_of(&database, MODULE);
    database[at + HEAD + size / 2] ^= 0x10;
    folder.file("flip.foz", &database);
    let json = folder
        .run(["inspect", "flip.foz", "--json"])
        .status(1)
        .json();
    names_a_module_and_its_pipeline(&json["databases"][0]);
}

fn names_a_module_and_its_pipeline(found: &serde_json::Value) {
    let damaged = found["damaged"].as_array().unwrap();
    let named = |kind: &str| {
        damaged
            .iter()
            .any(|one| one["entry"].as_str().unwrap().starts_with(kind))
    };
    assert!(named("shader module"), "{found}");
    assert!(named("graphics pipeline"), "{found}");
    assert_eq!(damaged.len(), 2, "{found}");
    assert_eq!(found["recipes"], 0);
}

#[test]
fn a15_malformed_pipelines_are_told_by_the_exit_status() {
    let folder = Folder::new();
    let mut database = std::fs::read(capture("vkcube.foz")).unwrap();
    let (at, size) = entry_of(&database, GRAPHICS);
    // A stored payload that is no JSON, of the same length and without a checksum.
    database[at + 44..at + 48].copy_from_slice(&1_u32.to_le_bytes());
    database[at + 48..at + 52].copy_from_slice(&0_u32.to_le_bytes());
    let length = u32::try_from(size).unwrap().to_le_bytes();
    database[at + 52..at + 56].copy_from_slice(&length);
    database[at + HEAD..at + HEAD + size].fill(b'{');
    folder.file("json.foz", &database);
    let json = folder
        .run(["inspect", "json.foz", "--json"])
        .status(1)
        .json();
    let found = &json["databases"][0];
    assert_eq!(found["recipes"], 0);
    assert_eq!(found["damaged"].as_array().unwrap().len(), 1, "{found}");
}
