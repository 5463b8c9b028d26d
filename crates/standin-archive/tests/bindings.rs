//! Rows that lead to the wrong place: whatever damaged them, nothing of another pipeline or
//! another stamp comes out, and the ledger says of nothing that it is made when it is gone.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin::key::{ExactKey, ExecutableKey};
use standin_archive::ledger::{Entry, State, Tally};
use standin_archive::maintain::Repair;
use standin_archive::{
    Access, Archive, Batch, Binary, Blob, Generation, Identity, Incident, Placed, Stamp, schema,
};
use std::path::Path;
use std::time::Duration;

const MODE: &str = "default";
const LIST: u128 = 77;

fn stamp(driver_version: u32) -> Stamp {
    Stamp {
        vendor_id: 1,
        device_id: 2,
        cache_uuid: [3; 16],
        driver_uuid: [4; 16],
        driver_id: 5,
        driver_version,
        driver_info: "driver".into(),
        api_version: 8,
        features: 9,
        pointer_bits: 64,
        translation: 10,
    }
}

fn identity(key: u128) -> Identity {
    Identity {
        key: ExecutableKey::from_u128(key),
        second: !key,
    }
}

fn binaries(seed: u8) -> Blob {
    let binary = |part: u8| Binary {
        key: vec![seed, part],
        data: vec![seed; 40],
    };
    Blob::Binaries(vec![binary(0), binary(1)])
}

fn segment(seed: u8) -> Blob {
    Blob::Segment(vec![seed; 60])
}

fn open(folder: &Path) -> Archive {
    Archive::open(folder, Access::ReadWrite).unwrap()
}

fn raw(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join(schema::FILE)).unwrap()
}

fn put(archive: &Archive, generation: Generation, key: u128, blob: Blob) {
    let mut batch = Batch::new();
    let holds = vec![Placed {
        identity: identity(key),
        cost: Duration::from_millis(5),
    }];
    batch.put_blob(generation, holds, blob);
    batch.put_recipe(ExactKey::from_u128(key), vec![0xcd; 30], 1);
    let entry = Entry {
        state: State::Made,
        attempts: 1,
    };
    batch.put_ledger(generation, MODE, identity(key), entry);
    batch.commit(archive).unwrap();
}

fn put_list_done(archive: &Archive, generation: Generation) {
    let mut batch = Batch::new();
    let tally = Tally {
        made: 2,
        ..Tally::default()
    };
    batch.put_list_done(generation, MODE, LIST, tally);
    batch.commit(archive).unwrap();
    assert_eq!(archive.find_list_done(generation, MODE, LIST), Some(tally));
}

#[test]
fn a_row_that_leads_to_another_pipelines_binaries_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 1, binaries(1));
    put(&archive, generation, 2, binaries(2));
    let of_two = archive.payload_of(generation, identity(2)).unwrap();
    raw(folder.path())
        .execute(
            "UPDATE executable SET payload = ?1 WHERE key = ?2",
            rusqlite::params![of_two, 1_u128.to_le_bytes()],
        )
        .unwrap();
    assert_eq!(archive.find_blob(generation, identity(1)), None);
    assert!(matches!(
        archive.take_incidents()[..],
        [Incident::Damaged { what: "blob", .. }]
    ));
}

#[test]
fn a_row_that_leads_to_another_stamps_blob_is_a_miss() {
    for blob in [binaries, segment] {
        let folder = tempfile::tempdir().unwrap();
        let archive = open(folder.path());
        let old = archive.generation(&stamp(1)).unwrap();
        put(&archive, old, 1, blob(1));
        let new = archive.generation(&stamp(2)).unwrap();
        put(&archive, new, 1, blob(2));
        let payload = archive.payload_of(old, identity(1)).unwrap();
        let number: i64 = raw(folder.path())
            .query_row("SELECT max(id) FROM generation", [], |row| row.get(0))
            .unwrap();
        raw(folder.path())
            .execute(
                "UPDATE executable SET payload = ?1 WHERE generation = ?2",
                [payload, number],
            )
            .unwrap();
        assert_eq!(archive.find_blob(new, identity(1)), None);
    }
}

#[test]
fn a_generation_whose_stamp_was_damaged_into_another_serves_nothing() {
    for blob in [binaries, segment] {
        let folder = tempfile::tempdir().unwrap();
        let archive = open(folder.path());
        let generation = archive.generation(&stamp(1)).unwrap();
        put(&archive, generation, 1, blob(1));
        let mut verdict = Batch::new();
        verdict.put_proof(generation, "format 37", vec![1]);
        verdict.commit(&archive).unwrap();
        raw(folder.path())
            .execute("UPDATE generation SET stamp = ?1", [stamp(2).to_bytes()])
            .unwrap();
        let other = archive.find_generation(&stamp(2)).unwrap();
        assert_eq!(archive.find_blob(other, identity(1)), None);
        assert_eq!(archive.find_proof(other, "format 37"), None);
        assert_eq!(archive.take_incidents().len(), 2);
    }
}

#[test]
fn what_is_found_damaged_is_not_made_any_more_and_its_list_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 1, binaries(1));
    put(&archive, generation, 2, binaries(2));
    put_list_done(&archive, generation);
    let payload = archive.payload_of(generation, identity(1)).unwrap();
    raw(folder.path())
        .execute("UPDATE payload SET bytes = x'00' WHERE id = ?1", [payload])
        .unwrap();
    assert_eq!(archive.find_blob(generation, identity(1)), None);
    assert_eq!(archive.find_list_done(generation, MODE, LIST), None);
    assert_eq!(archive.find_ledger(generation, MODE, identity(1)), None);
    // The other one is untouched.
    assert!(archive.find_ledger(generation, MODE, identity(2)).is_some());
    assert_eq!(
        archive.find_blob(generation, identity(2)),
        Some(binaries(2))
    );
}

#[test]
fn a_repair_takes_what_it_drops_out_of_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 1, binaries(1));
    put_list_done(&archive, generation);
    raw(folder.path())
        .execute("UPDATE executable SET second = ?1", [[7_u8; 16]])
        .unwrap();
    let found = archive.verify(Repair::Drop, &mut |_, _| {}).unwrap();
    assert_eq!(found.damaged.len(), 1);
    assert_eq!(archive.find_list_done(generation, MODE, LIST), None);
    assert_eq!(archive.summary().generations[0].executables, 0);
}

#[test]
fn what_pruning_drops_is_due_again() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 1, segment(1));
    put(&archive, generation, 2, segment(2));
    put_list_done(&archive, generation);
    assert_eq!(archive.prune(61).unwrap().blobs, 1);
    let kept = [1, 2].map(|key| archive.has_blob(generation, identity(key)));
    let made = [1, 2].map(|key| {
        archive
            .find_ledger(generation, MODE, identity(key))
            .is_some()
    });
    assert_eq!(kept, made);
    assert_eq!(archive.find_list_done(generation, MODE, LIST), None);
}

#[test]
fn a_merge_takes_nothing_for_made_whose_blob_it_left_behind() {
    let (from, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = open(from.path());
    let generation = source.generation(&stamp(1)).unwrap();
    put(&source, generation, 1, binaries(1));
    put(&source, generation, 2, binaries(2));
    put_list_done(&source, generation);
    let payload = source.payload_of(generation, identity(1)).unwrap();
    raw(from.path())
        .execute("UPDATE payload SET bytes = x'00' WHERE id = ?1", [payload])
        .unwrap();
    let target = open(into.path());
    let merged = target.merge_from(&source, &mut |_, _| {}).unwrap();
    assert_eq!((merged.damaged, merged.blobs), (1, 1));
    let generation = target.find_generation(&stamp(1)).unwrap();
    assert_eq!(target.find_ledger(generation, MODE, identity(1)), None);
    assert!(target.find_ledger(generation, MODE, identity(2)).is_some());
    assert_eq!(target.find_list_done(generation, MODE, LIST), None);
}

#[test]
fn a_whole_merge_takes_over_that_a_list_is_done() {
    let (from, into) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = open(from.path());
    let generation = source.generation(&stamp(1)).unwrap();
    put(&source, generation, 1, binaries(1));
    put_list_done(&source, generation);
    let target = open(into.path());
    target.merge_from(&source, &mut |_, _| {}).unwrap();
    let generation = target.find_generation(&stamp(1)).unwrap();
    let tally = target.find_list_done(generation, MODE, LIST).unwrap();
    assert_eq!(tally.made, 2);
    assert_eq!(target.find_blob(generation, identity(1)), Some(binaries(1)));
}
