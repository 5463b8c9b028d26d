//! Verify, prune, compact and merge through the public door.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin::key::{ExactKey, ExecutableKey};
use standin_archive::ledger::{Entry, State};
use standin_archive::maintain::{CompactError, Repair};
use standin_archive::{
    Access, Archive, Batch, Blob, Generation, Identity, ModuleKey, Placed, Stamp, schema,
};
use std::path::Path;
use std::time::Duration;

fn stamp(driver_version: u32) -> Stamp {
    Stamp {
        vendor_id: 1,
        device_id: 2,
        cache_uuid: [u8::try_from(driver_version).unwrap(); 16],
        driver_uuid: [4; 16],
        driver_id: 3,
        driver_version,
        driver_info: String::new(),
        api_version: 0,
        features: 0,
        pointer_bits: 64,
        translation: 1,
    }
}

fn open(folder: &Path) -> Archive {
    Archive::open(folder, Access::ReadWrite).unwrap()
}

fn identity(key: u128) -> Identity {
    Identity {
        key: ExecutableKey::from_u128(key),
        second: !key,
    }
}

fn blob(seed: u8, size: usize) -> Blob {
    Blob::Segment(vec![seed; size])
}

fn put(archive: &Archive, generation: Generation, seeds: std::ops::Range<u8>) {
    let mut batch = Batch::new();
    for seed in seeds {
        let key = u128::from(seed);
        batch.put_module(ModuleKey(key), vec![seed; 100]);
        batch.put_recipe(ExactKey::from_u128(key), vec![seed; 200], 1);
        let cost = Duration::from_millis(u64::from(seed));
        let holds = vec![Placed {
            identity: identity(key),
            cost,
        }];
        batch.put_blob(generation, holds, blob(seed, 1000));
        let entry = Entry {
            state: State::Made,
            attempts: 1,
        };
        batch.put_ledger(generation, "default", identity(key), entry);
    }
    batch.commit(archive).unwrap();
}

fn nothing(_: u64, _: u64) {}

/// Every lookup that there is, as text: what two archives with equal contents agree on.
fn contents(archive: &Archive, stamps: &[Stamp]) -> Vec<String> {
    let mut found = Vec::new();
    for stamp in stamps {
        let generation = archive.find_generation(stamp).unwrap();
        for seed in 0..=u8::MAX {
            let key = u128::from(seed);
            let blob = archive.find_blob(generation, identity(key));
            let entry = archive.find_ledger(generation, "default", identity(key));
            let recipes = archive.find_recipes(ExactKey::from_u128(key));
            let module = archive.find_module(ModuleKey(key));
            found.push(format!("{blob:?} {entry:?} {recipes:?} {module:?}"));
        }
    }
    found
}

#[test]
fn verify_names_what_is_damaged_and_repair_drops_it() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 0..20);
    let mut said = Vec::new();
    let sound = archive
        .verify(Repair::No, &mut |done, total| said.push((done, total)))
        .unwrap();
    assert!(sound.is_sound());
    assert_eq!((sound.payloads, sound.unreferred), (60, 0));
    // 100 + 200 + 1001 bytes for each (a segment's blob has one byte before its data).
    assert_eq!(sound.bytes, 20 * 1301);
    assert_eq!(said.last(), Some(&(20 * 1301, 20 * 1301)));
    let raw = rusqlite::Connection::open(folder.path().join(schema::FILE)).unwrap();
    raw.execute(
        "UPDATE payload SET checksum = checksum + 1 WHERE id IN
         (SELECT payload FROM executable WHERE key = ?1)",
        [7_u128.to_le_bytes()],
    )
    .unwrap();
    let key: String = 7_u128
        .to_le_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for repair in [Repair::No, Repair::Drop] {
        let found = archive.verify(repair, &mut nothing).unwrap();
        assert_eq!(found.damaged, [("blob", key.clone())]);
    }
    let found = archive.verify(Repair::No, &mut nothing).unwrap();
    assert!(found.is_sound());
    assert_eq!(found.payloads, 59);
    assert!(!archive.has_blob(generation, identity(7)));
}

#[test]
fn pruning_drops_the_least_recently_used_first_and_keeps_recipes() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 0..10);
    let mut batch = Batch::new();
    batch.put_used(generation, vec![identity(0), identity(3)]);
    batch.commit(&archive).unwrap();
    // Five segments of 1,001 bytes fit: the two that were used, and of the others, all of one
    // age, those that cost most to build.
    let pruned = archive.prune(5 * 1001).unwrap();
    assert_eq!((pruned.blobs, pruned.bytes), (5, 5 * 1001));
    let left: Vec<u128> = (0..10)
        .filter(|key| archive.has_blob(generation, identity(*key)))
        .collect();
    assert_eq!(left, [0, 3, 7, 8, 9]);
    assert_eq!(archive.summary().recipes, 10);
    assert_eq!(archive.prune(5 * 1001).unwrap().blobs, 0);
}

#[test]
fn an_old_generation_is_kept_until_the_new_one_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let old = archive.generation(&stamp(1)).unwrap();
    put(&archive, old, 0..5);
    let new = archive.generation(&stamp(2)).unwrap();
    put(&archive, new, 0..3);
    assert_eq!(archive.drop_superseded().unwrap(), 0);
    assert!(archive.has_blob(old, identity(4)));
    let mut batch = Batch::new();
    batch.put_complete(new);
    batch.commit(&archive).unwrap();
    let other_device = Stamp {
        device_id: 99,
        ..stamp(1)
    };
    let other = archive.generation(&other_device).unwrap();
    put(&archive, other, 0..1);
    assert_eq!(archive.drop_superseded().unwrap(), 1);
    assert_eq!(archive.find_generation(&stamp(1)), None);
    assert!(archive.has_blob(new, identity(2)));
    assert!(archive.has_blob(other, identity(0)));
    let sound = archive.verify(Repair::No, &mut nothing).unwrap();
    assert_eq!((sound.is_sound(), sound.unreferred), (true, 0));
}

/// Field case A16: repacking over months slowly corrupted packs.
#[test]
fn a16_a_hundred_compactions_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 0..40);
    let before = contents(&archive, &[stamp(1)]);
    drop(archive);
    for round in 0..100_u32 {
        // Some rounds find what an interrupted one left behind.
        if round % 3 == 0 {
            let half = folder.path().join(format!("{}.compacting", schema::FILE));
            std::fs::write(half, vec![0x5a; 5000]).unwrap();
        }
        Archive::compact(folder.path()).unwrap();
    }
    let archive = open(folder.path());
    assert_eq!(contents(&archive, &[stamp(1)]), before);
    assert_eq!(archive.take_incidents(), []);
}

#[test]
fn compaction_gives_room_back_and_refuses_while_another_writer_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    put(&archive, generation, 0..200);
    archive.prune(0).unwrap();
    let refused = Archive::compact(folder.path()).unwrap_err();
    assert!(matches!(refused, CompactError::InUse { .. }), "{refused}");
    drop(archive);
    let file = folder.path().join(schema::FILE);
    let before = std::fs::metadata(&file).unwrap().len();
    Archive::compact(folder.path()).unwrap();
    let after = std::fs::metadata(&file).unwrap().len();
    assert!(after < before / 2, "{before} to {after}");
    let archive = open(folder.path());
    assert_eq!(archive.summary().recipes, 200);
    put(&archive, generation, 0..1);
    assert!(archive.has_blob(generation, identity(0)));
}

#[test]
fn a_merge_joins_disjoint_parts_into_the_whole() {
    let stamps = [stamp(1), stamp(2)];
    let whole_folder = tempfile::tempdir().unwrap();
    let whole = open(whole_folder.path());
    let joined_folder = tempfile::tempdir().unwrap();
    let joined = open(joined_folder.path());
    let parts: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    for (index, folder) in parts.iter().enumerate() {
        let part = open(folder.path());
        let from = u8::try_from(index * 10).unwrap();
        for stamp in &stamps {
            put(&part, part.generation(stamp).unwrap(), from..from + 10);
            put(&whole, whole.generation(stamp).unwrap(), from..from + 10);
        }
        let merged = joined.merge_from(&part, &mut nothing).unwrap();
        assert_eq!((merged.modules, merged.recipes), (10, 10));
        assert_eq!((merged.blobs, merged.ledger, merged.damaged), (20, 20, 0));
    }
    assert_eq!(contents(&joined, &stamps), contents(&whole, &stamps));
    // A new archive made of all of them in one go holds the same, and goes on as any other.
    let sources: Vec<Archive> = parts.iter().map(|folder| open(folder.path())).collect();
    let made = tempfile::tempdir().unwrap();
    let merged = Archive::merge(&sources, made.path(), &mut nothing).unwrap();
    assert_eq!((merged.modules, merged.blobs), (30, 60));
    let new = open(made.path());
    assert_eq!(contents(&new, &stamps), contents(&whole, &stamps));
    assert!(new.verify(Repair::No, &mut nothing).unwrap().is_sound());
    put(&new, new.generation(&stamp(1)).unwrap(), 30..31);
    assert!(Archive::merge(&sources, made.path(), &mut nothing).is_err());
    // Once more adds nothing but uses.
    let again = open(parts[0].path());
    let merged = joined.merge_from(&again, &mut nothing).unwrap();
    assert_eq!((merged.modules, merged.recipes, merged.blobs), (0, 0, 0));
    assert!(joined.verify(Repair::No, &mut nothing).unwrap().is_sound());
}

#[test]
fn a_merge_leaves_damage_behind() {
    let source_folder = tempfile::tempdir().unwrap();
    let source = open(source_folder.path());
    put(&source, source.generation(&stamp(1)).unwrap(), 0..5);
    let raw = rusqlite::Connection::open(source_folder.path().join(schema::FILE)).unwrap();
    raw.execute("UPDATE payload SET checksum = 0 WHERE id % 3 = 1", [])
        .unwrap();
    let target_folder = tempfile::tempdir().unwrap();
    let target = open(target_folder.path());
    let merged = target.merge_from(&source, &mut nothing).unwrap();
    assert_eq!(merged.damaged, 5);
    assert!(target.verify(Repair::No, &mut nothing).unwrap().is_sound());
}

#[test]
fn a_ledger_entry_that_says_made_wins_a_merge() {
    let entry = |state, attempts| Entry { state, attempts };
    let made = entry(State::Made, 1);
    let failed = entry(State::Failed("hung".into()), 2);
    for (ours, theirs) in [(&made, &failed), (&failed, &made)] {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let archives = [open(folders[0].path()), open(folders[1].path())];
        for (archive, entry) in archives.iter().zip([ours, theirs]) {
            let generation = archive.generation(&stamp(1)).unwrap();
            let mut batch = Batch::new();
            batch.put_ledger(generation, "default", identity(1), entry.clone());
            batch.commit(archive).unwrap();
        }
        archives[0].merge_from(&archives[1], &mut nothing).unwrap();
        let generation = archives[0].find_generation(&stamp(1)).unwrap();
        assert_eq!(
            archives[0].find_ledger(generation, "default", identity(1)),
            Some(made.clone())
        );
    }
}
