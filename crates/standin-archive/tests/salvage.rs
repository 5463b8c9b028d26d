//! What is left of a damaged database, and who may replace one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin::key::ExactKey;
use standin_archive::maintain::CompactError;
use standin_archive::{Access, Archive, Batch, Incident, ModuleKey, schema};
use std::path::Path;

const COUNT: u128 = 200;

fn open(folder: &Path) -> Archive {
    Archive::open(folder, Access::ReadWrite).unwrap()
}

fn fill(archive: &Archive) {
    for key in 0..COUNT {
        let mut batch = Batch::new();
        batch.put_module(ModuleKey(key), vec![key as u8; 3000]);
        batch.put_recipe(ExactKey::from_u128(key), vec![!key as u8; 500], 1);
        batch.commit(archive).unwrap();
    }
}

fn count(archive: &Archive) -> usize {
    (0..COUNT)
        .filter(|key| {
            let recipes = archive.find_recipes(ExactKey::from_u128(*key));
            archive.find_module(ModuleKey(*key)) == Some(vec![*key as u8; 3000])
                && recipes == [vec![!*key as u8; 500]]
        })
        .count()
}

fn rebuilt(archive: &Archive) -> bool {
    let incidents = archive.take_incidents();
    matches!(incidents[..], [Incident::Rebuilt { .. }])
}

fn overwrite(folder: &Path, place: usize, with: &[u8]) {
    let file = folder.join(schema::FILE);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[place..place + with.len()].copy_from_slice(with);
    std::fs::write(&file, bytes).unwrap();
}

/// The first page leads to everything. It is the one page that can be written anew.
#[test]
fn a_lost_first_page_loses_nothing() {
    for compacted in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let archive = open(folder.path());
        fill(&archive);
        drop(archive);
        if compacted {
            Archive::compact(folder.path()).unwrap();
        }
        overwrite(folder.path(), 0, &[0xa5; 8192]);
        let archive = open(folder.path());
        assert!(rebuilt(&archive));
        assert_eq!(count(&archive), usize::try_from(COUNT).unwrap());
        drop(archive);
        let archive = open(folder.path());
        assert_eq!(archive.take_incidents(), []);
        assert_eq!(count(&archive), usize::try_from(COUNT).unwrap());
    }
}

#[test]
fn a_flipped_bit_anywhere_in_the_first_page_loses_nothing() {
    let whole = tempfile::tempdir().unwrap();
    fill(&open(whole.path()));
    let bytes = std::fs::read(whole.path().join(schema::FILE)).unwrap();
    for place in (0..8192).step_by(41) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = bytes.clone();
        bytes[place] ^= 1 << (place % 8);
        std::fs::write(folder.path().join(schema::FILE), bytes).unwrap();
        let archive = open(folder.path());
        let left = count(&archive);
        assert_eq!(
            left,
            usize::try_from(COUNT).unwrap(),
            "byte {place}: {:?}",
            archive.take_incidents()
        );
    }
}

/// A lost page of payloads or keys loses what was on it and nothing else.
#[test]
fn a_lost_page_loses_what_was_on_it() {
    let whole = tempfile::tempdir().unwrap();
    fill(&open(whole.path()));
    let bytes = std::fs::read(whole.path().join(schema::FILE)).unwrap();
    let pages = bytes.len() / 8192;
    for page in (20..pages).step_by(pages / 12) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(schema::FILE), &bytes).unwrap();
        overwrite(folder.path(), page * 8192, &[0xa5; 8192]);
        let archive = open(folder.path());
        let first = count(&archive);
        drop(archive);
        let archive = open(folder.path());
        let second = count(&archive);
        assert!(first <= second, "page {page}: {first} then {second}");
        // Two modules and recipes a page, and a page of keys covers at most 8192 / 20 of them:
        // salvage reads from both ends up to the damage, so what is lost is one page's worth.
        assert!(second >= 100, "page {page}: {second} left");
    }
}

/// An opening that outlived the file under it would read the journal of the next file.
#[test]
fn nothing_is_compacted_under_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    fill(&open(folder.path()));
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let reader = Archive::open(folder.path(), access).unwrap();
        assert!(matches!(
            Archive::compact(folder.path()),
            Err(CompactError::InUse { .. })
        ));
        assert_eq!(count(&reader), usize::try_from(COUNT).unwrap());
    }
    Archive::compact(folder.path()).unwrap();
    assert_eq!(count(&open(folder.path())), usize::try_from(COUNT).unwrap());
}

/// Only the last damaged file is kept: a bad disk does not fill up with them.
#[test]
fn one_damaged_file_is_kept_and_reset_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    fill(&open(folder.path()));
    for _ in 0..3 {
        overwrite(folder.path(), 0, &[0; 8192]);
        assert!(rebuilt(&open(folder.path())));
    }
    let names = || {
        let mut names: Vec<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(), [schema::LOCK, schema::FILE, schema::ASIDE]);
    Archive::reset(folder.path()).unwrap();
    assert_eq!(names(), [""; 0]);
}
