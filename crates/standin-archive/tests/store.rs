//! The store through its public door: what goes in comes out, and nothing else does.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin::key::{ExactKey, ExecutableKey};
use standin_archive::ledger::{Due, Entry, State, Tally};
use standin_archive::{
    Access, Archive, Batch, Binary, Blob, Generation, Identity, Incident, ModuleKey, Placed, Stamp,
    schema, second_hash,
};
use std::path::Path;
use std::time::Duration;

fn stamp(driver_version: u32) -> Stamp {
    Stamp {
        vendor_id: 0x1002,
        device_id: 0x744c,
        cache_uuid: [7; 16],
        driver_uuid: [9; 16],
        driver_id: 3,
        driver_version,
        driver_info: "Mesa 25.0.7".into(),
        api_version: (1 << 22) | (4 << 12),
        features: 0xfeed,
        pointer_bits: 64,
        translation: 1,
    }
}

fn identity(key: u128) -> Identity {
    Identity {
        key: ExecutableKey::from_u128(key),
        second: second_hash(&key.to_le_bytes()),
    }
}

fn placed(key: u128) -> Placed {
    Placed {
        identity: identity(key),
        cost: Duration::from_millis(5),
    }
}

fn blob(seed: u8) -> Blob {
    Blob::Binaries(vec![
        Binary {
            key: vec![seed; 32],
            data: vec![seed; 3000],
        },
        Binary {
            key: vec![!seed; 32],
            data: vec![],
        },
    ])
}

fn open(folder: &Path) -> Archive {
    Archive::open(folder, Access::ReadWrite).unwrap()
}

fn filled(folder: &Path, count: u8) -> Generation {
    let archive = open(folder);
    let generation = archive.generation(&stamp(1)).unwrap();
    let mut batch = Batch::new();
    for seed in 0..count {
        batch.put_module(ModuleKey(u128::from(seed)), vec![seed; 500]);
        batch.put_recipe(
            ExactKey::from_u128(u128::from(seed)),
            vec![seed; 700],
            u64::from(seed),
        );
        batch.put_blob(generation, vec![placed(u128::from(seed))], blob(seed));
    }
    batch.commit(&archive).unwrap();
    generation
}

/// Field case A4: a slip made every load miss, silently, at each start.
#[test]
fn a4_after_reopening_every_entry_is_a_hit() {
    let folder = tempfile::tempdir().unwrap();
    let generation = filled(folder.path(), 50);
    let archive = open(folder.path());
    assert_eq!(archive.find_generation(&stamp(1)), Some(generation));
    for seed in 0..50 {
        let key = u128::from(seed);
        assert_eq!(
            archive.find_blob(generation, identity(key)),
            Some(blob(seed))
        );
        assert_eq!(archive.find_module(ModuleKey(key)), Some(vec![seed; 500]));
        let bodies = archive.find_recipes(ExactKey::from_u128(key));
        assert_eq!(bodies, [vec![seed; 700]]);
    }
    assert_eq!(archive.find_blob(generation, identity(50)), None);
    assert_eq!(archive.take_incidents(), []);
}

/// Field case A3: a cache filled under one driver is opened under another.
#[test]
fn a3_blobs_of_another_stamp_are_never_found_and_recipes_are() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 3);
    let archive = open(folder.path());
    let changed = [
        Stamp {
            driver_uuid: [1; 16],
            ..stamp(1)
        },
        Stamp {
            driver_id: 4,
            ..stamp(1)
        },
        Stamp {
            driver_info: "Mesa 25.0.8".into(),
            ..stamp(1)
        },
        Stamp {
            cache_uuid: [8; 16],
            ..stamp(1)
        },
        Stamp {
            device_id: 0x744d,
            ..stamp(1)
        },
        Stamp {
            vendor_id: 0x10de,
            ..stamp(1)
        },
        Stamp {
            api_version: (1 << 22) | (3 << 12),
            ..stamp(1)
        },
        Stamp {
            features: 0xfeee,
            ..stamp(1)
        },
        Stamp {
            pointer_bits: 32,
            ..stamp(1)
        },
        Stamp {
            translation: 2,
            ..stamp(1)
        },
        stamp(2),
    ];
    for stamp in changed {
        assert_eq!(archive.find_generation(&stamp), None, "{stamp:?}");
        let generation = archive.generation(&stamp).unwrap();
        assert_eq!(archive.find_blob(generation, identity(1)), None);
        assert_eq!(Stamp::from_bytes(&stamp.to_bytes()), Some(stamp));
    }
    assert_eq!(archive.find_recipes(ExactKey::from_u128(1)).len(), 1);
}

#[test]
fn two_recipes_whose_keys_collide_both_live() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    let key = ExactKey::from_u128(42);
    let colliding = |second| Identity {
        key: ExecutableKey::from_u128(42),
        second,
    };
    let mut batch = Batch::new();
    batch.put_recipe(key, b"one".to_vec(), 1);
    batch.put_recipe(key, b"two".to_vec(), 1);
    batch.put_recipe(key, b"one".to_vec(), 1);
    for (second, seed) in [(1, 1), (2, 2)] {
        let holds = vec![Placed {
            identity: colliding(second),
            cost: Duration::ZERO,
        }];
        batch.put_blob(generation, holds, blob(seed));
    }
    batch.commit(&archive).unwrap();
    let mut bodies = archive.find_recipes(key);
    bodies.sort();
    assert_eq!(bodies, [b"one", b"two"]);
    assert_eq!(archive.find_blob(generation, colliding(1)), Some(blob(1)));
    assert_eq!(archive.find_blob(generation, colliding(2)), Some(blob(2)));
    assert_eq!(archive.find_blob(generation, colliding(3)), None);
}

#[test]
fn a_segment_serves_all_that_it_holds_and_goes_with_the_last_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    let mut batch = Batch::new();
    let segment = Blob::Segment(vec![3; 10_000]);
    batch.put_blob(generation, vec![placed(1), placed(2)], segment.clone());
    batch.commit(&archive).unwrap();
    assert_eq!(
        archive.payload_of(generation, identity(1)),
        archive.payload_of(generation, identity(2))
    );
    batch.put_blob(generation, vec![placed(1)], blob(1));
    batch.commit(&archive).unwrap();
    assert_eq!(archive.find_blob(generation, identity(1)), Some(blob(1)));
    assert_eq!(archive.find_blob(generation, identity(2)), Some(segment));
    assert_eq!(archive.summary().generations[0].blobs, 2);
    batch.put_blob(generation, vec![placed(2)], blob(2));
    batch.commit(&archive).unwrap();
    assert_eq!(archive.summary().generations[0].blobs, 2);
    let payloads: i64 = rusqlite::Connection::open(folder.path().join(schema::FILE))
        .unwrap()
        .query_row("SELECT count(*) FROM payload", [], |row| row.get(0))
        .unwrap();
    assert_eq!(payloads, 2);
}

#[test]
fn what_is_not_committed_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let mut batch = Batch::new();
    batch.put_module(ModuleKey(1), vec![1]);
    assert_eq!(archive.find_module(ModuleKey(1)), None);
    drop(batch);
    assert_eq!(open(folder.path()).find_module(ModuleKey(1)), None);
}

/// Field case A6: the index is right and the blob is garbage.
#[test]
fn a6_a_damaged_payload_is_dropped_reported_once_and_costs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let generation = filled(folder.path(), 4);
    let raw = rusqlite::Connection::open(folder.path().join(schema::FILE)).unwrap();
    let flipped = raw
        .execute(
            "UPDATE payload SET bytes = x'00' || substr(bytes, 2) WHERE id IN
             (SELECT payload FROM executable WHERE key = ?1
              UNION SELECT payload FROM module WHERE key = ?1
              UNION SELECT payload FROM recipe WHERE key = ?1)",
            [2_u128.to_le_bytes()],
        )
        .unwrap();
    assert_eq!(flipped, 3);
    let archive = open(folder.path());
    assert_eq!(archive.find_blob(generation, identity(2)), None);
    assert_eq!(archive.find_module(ModuleKey(2)), None);
    assert!(archive.find_recipes(ExactKey::from_u128(2)).is_empty());
    let whats: Vec<&str> = archive
        .take_incidents()
        .iter()
        .map(|incident| match incident {
            Incident::Damaged { what, .. } => *what,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(whats, ["blob", "module", "recipe"]);
    assert!(!archive.has_blob(generation, identity(2)));
    assert_eq!(archive.find_blob(generation, identity(3)), Some(blob(3)));
    assert_eq!(archive.take_incidents(), []);
}

/// Field cases A7 and A8: a file that is not a database, or ends too early, is replaced, and
/// what is added afterwards is there.
#[test]
fn a7_a8_a_file_that_cannot_be_read_is_moved_aside_and_the_archive_goes_on() {
    for length in [1, 15, 16, 99, 100, 4096] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(schema::FILE), vec![0x55; length]).unwrap();
        let archive = open(folder.path());
        let incidents = archive.take_incidents();
        assert!(
            matches!(&incidents[..], [Incident::Rebuilt { salvaged: 0, .. }]),
            "{length}: {incidents:?}"
        );
        let mut batch = Batch::new();
        batch.put_module(ModuleKey(1), vec![1]);
        batch.commit(&archive).unwrap();
        drop(archive);
        let archive = open(folder.path());
        assert_eq!(archive.find_module(ModuleKey(1)), Some(vec![1]));
        assert_eq!(archive.take_incidents(), []);
    }
}

/// Field case A9: a documented way to start over.
#[test]
fn a9_reset_removes_the_archive_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 2);
    std::fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    Archive::reset(folder.path()).unwrap();
    Archive::reset(folder.path()).unwrap();
    assert!(folder.path().join("notes.txt").exists());
    assert_eq!(open(folder.path()).summary().recipes, 0);
}

#[test]
fn a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 2);
    let raw = rusqlite::Connection::open(folder.path().join(schema::FILE)).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    drop(raw);
    let before = std::fs::read(folder.path().join(schema::FILE)).unwrap();
    let archive = open(folder.path());
    assert_eq!(
        archive.take_incidents(),
        [Incident::FromTheFuture { version: 99 }]
    );
    assert!(!archive.is_writable());
    assert_eq!(archive.find_module(ModuleKey(1)), None);
    assert!(archive.generation(&stamp(1)).is_err());
    drop(archive);
    let after = std::fs::read(folder.path().join(schema::FILE)).unwrap();
    assert_eq!(before, after);
}

#[test]
fn reading_adds_nothing_and_an_absent_archive_is_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("none");
    let archive = Archive::open(&absent, Access::ReadOnly).unwrap();
    assert_eq!(archive.summary().recipes, 0);
    assert!(!absent.exists());
    let generation = filled(folder.path(), 2);
    let archive = Archive::open(folder.path(), Access::ReadOnly).unwrap();
    assert_eq!(archive.find_blob(generation, identity(1)), Some(blob(1)));
    let mut batch = Batch::new();
    batch.put_module(ModuleKey(9), vec![]);
    assert!(batch.commit(&archive).is_err());
    assert_eq!(batch.len(), 1);
}

#[test]
fn the_ledger_says_what_is_due() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    let mut batch = Batch::new();
    let states = [
        (State::Made, 1, Due::Skip),
        (State::Declined("no geometry shaders".into()), 0, Due::Skip),
        (State::InFlight, 1, Due::BuildAlone),
        (State::Failed("hung".into()), 1, Due::BuildAlone),
        (State::Failed("hung twice".into()), 2, Due::Skip),
        (State::InFlight, 2, Due::Skip),
    ];
    for (key, (state, attempts, _)) in states.iter().enumerate() {
        let entry = Entry {
            state: state.clone(),
            attempts: *attempts,
        };
        batch.put_ledger(generation, "default", identity(key as u128), entry);
    }
    batch.put_list_done(
        generation,
        "default",
        77,
        Tally {
            made: 5,
            declined: 6,
            failed: 7,
        },
    );
    batch.commit(&archive).unwrap();
    let find = |mode: &str, key| archive.find_ledger(generation, mode, identity(key));
    for (key, (state, attempts, due)) in states.into_iter().enumerate() {
        let entry = find("default", key as u128).unwrap();
        assert_eq!((&entry.state, entry.attempts), (&state, attempts));
        assert_eq!(entry.due(), due);
    }
    assert_eq!(find("default", 100), None);
    assert_eq!(find("robust", 0), None);
    let other = archive.generation(&stamp(2)).unwrap();
    assert_eq!(archive.find_ledger(other, "default", identity(0)), None);
    let tally = archive.find_list_done(generation, "default", 77).unwrap();
    assert_eq!((tally.made, tally.declined, tally.failed), (5, 6, 7));
    assert_eq!(archive.find_list_done(generation, "default", 78), None);
    assert_eq!(archive.summary().generations[0].ledger, [2, 1, 1, 2]);
}

#[test]
fn proofs_are_kept_under_their_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let archive = open(folder.path());
    let generation = archive.generation(&stamp(1)).unwrap();
    let mut batch = Batch::new();
    batch.put_proof(generation, "pull/R8_UNORM", b"no".to_vec());
    batch.put_proof(generation, "pull/R8_UNORM", b"equal".to_vec());
    batch.commit(&archive).unwrap();
    assert_eq!(
        archive.find_proof(generation, "pull/R8_UNORM"),
        Some(b"equal".to_vec())
    );
    assert_eq!(archive.find_proof(generation, "pull/R8_SNORM"), None);
    let other = archive.generation(&stamp(2)).unwrap();
    assert_eq!(archive.find_proof(other, "pull/R8_UNORM"), None);
}
