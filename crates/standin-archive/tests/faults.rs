//! What happens to a machine: processes that die, files that are cut and flipped, disks that
//! fill up, several processes at once. Nothing here depends on how long anything takes; every
//! loop is bounded by count.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin::key::ExecutableKey;
use standin_archive::{
    Access, Archive, Batch, Blob, Identity, Incident, ModuleKey, Placed, Stamp, schema,
};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ROLE: &str = "STANDIN_ARCHIVE_TEST_ROLE";
const FOLDER: &str = "STANDIN_ARCHIVE_TEST_FOLDER";

fn stamp() -> Stamp {
    Stamp {
        vendor_id: 1,
        device_id: 2,
        cache_uuid: [3; 16],
        driver_uuid: [4; 16],
        driver_id: 5,
        driver_version: 6,
        driver_info: "7".into(),
        api_version: 8,
        features: 9,
        pointer_bits: 64,
        translation: 10,
    }
}

fn identity(key: u64) -> Identity {
    Identity {
        key: ExecutableKey::from_u128(u128::from(key)),
        second: !u128::from(key),
    }
}

/// The blob of a key: what is served under it must be this and nothing else.
fn blob(key: u64) -> Blob {
    let length = 200 + usize::try_from(key * 7919 % 5000).unwrap();
    let bytes = (0..length).map(|index| (key as usize * 31 + index * 7) as u8);
    Blob::Segment(bytes.collect())
}

fn put(batch: &mut Batch, generation: standin_archive::Generation, key: u64) {
    let holds = vec![Placed {
        identity: identity(key),
        cost: Duration::from_millis(1),
    }];
    batch.put_blob(generation, holds, blob(key));
    batch.put_module(ModuleKey(u128::from(key)), vec![key as u8; 300]);
}

/// Not a test by itself: the process that the tests below start and kill.
#[test]
fn child_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let folder = std::env::var(FOLDER).unwrap();
    let archive = Archive::open(Path::new(&folder), Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    let (first, step) = match role.as_str() {
        "even" => (0, 2),
        "odd" => (1, 2),
        _ => (archive.summary().modules, 1),
    };
    let mut key = first;
    for _ in 0..2000 {
        let mut batch = Batch::new();
        let from = key;
        for _ in 0..5 {
            put(&mut batch, generation, key);
            key += step;
        }
        batch.commit(&archive).unwrap();
        // Acknowledged: from here on it must be there, whatever happens.
        println!("\ncommitted {from} {key}");
        std::io::stdout().flush().unwrap();
    }
}

fn start(folder: &Path, role: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child_process", "--exact", "--nocapture"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The end of the last range that a child acknowledged.
fn acknowledged(line: &str) -> Option<(u64, u64)> {
    let mut words = line.strip_prefix("committed ")?.split(' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn check_all(archive: &Archive, keys: impl IntoIterator<Item = u64>) {
    let generation = archive.find_generation(&stamp()).unwrap();
    for key in keys {
        let found = archive.find_blob(generation, identity(key));
        assert_eq!(found, Some(blob(key)), "key {key}");
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let mut committed = 0;
    for round in 0..12 {
        let mut child = start(folder.path(), "next");
        let output = BufReader::new(child.stdout.take().unwrap());
        // Killed after so many acknowledged commits, while the next are being written.
        let mut seen = 0;
        for line in output.lines() {
            let Some((_, end)) = acknowledged(&line.unwrap()) else {
                continue;
            };
            committed = end;
            seen += 1;
            if seen > round * 3 {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
        assert_eq!(archive.take_incidents(), [], "round {round}");
        check_all(&archive, 0..committed);
        // A batch is there whole or not at all.
        let generation = archive.find_generation(&stamp()).unwrap();
        let modules = archive.summary().modules;
        assert_eq!(modules % 5, 0);
        check_all(&archive, committed..modules);
        assert!(!archive.has_blob(generation, identity(modules)));
        committed = modules;
    }
    assert!(committed > 0);
}

#[test]
fn two_writers_and_a_reader_in_processes_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> = ["even", "odd"]
        .map(|role| start(folder.path(), role))
        .into();
    let outputs: Vec<_> = children
        .iter_mut()
        .map(|child| BufReader::new(child.stdout.take().unwrap()))
        .collect();
    let reader = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    let mut ends = Vec::new();
    for output in outputs {
        let lines = output.lines().map_while(Result::ok);
        let ranges = lines.filter_map(|line| acknowledged(&line)).take(60);
        let mut end = 0;
        for (from, to) in ranges {
            // What one process has acknowledged, another one finds.
            check_all(&reader, (from..to).step_by(2));
            end = to;
        }
        ends.push(end);
    }
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(ends, [600, 601]);
    check_all(&reader, 0..600);
    assert_eq!(reader.take_incidents(), []);
}

/// An archive's files, with some commits in the database and some in its journal.
fn files(keys: u64) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    let mut batch = Batch::new();
    for key in 0..keys {
        put(&mut batch, generation, key);
        if key % 10 == 9 {
            batch.commit(&archive).unwrap();
        }
        if key == keys / 2 {
            let raw = rusqlite::Connection::open(folder.path().join(schema::FILE)).unwrap();
            raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap();
        }
    }
    let names = [schema::FILE.to_owned(), format!("{}-wal", schema::FILE)];
    names
        .into_iter()
        .map(|name| {
            let bytes = std::fs::read(folder.path().join(&name)).unwrap();
            assert!(!bytes.is_empty(), "{name}");
            (name, bytes)
        })
        .collect()
}

/// Opens what is left of an archive: it opens, serves nothing wrong, takes new things, and has
/// them at the next start. Returns how many of the old ones it still serves.
fn use_what_is_left(files: &[(String, Vec<u8>)], what: &str) -> usize {
    const NEW: u64 = 1 << 40;
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    let mut served = 0;
    if let Some(generation) = archive.find_generation(&stamp()) {
        for key in 0..100 {
            if let Some(found) = archive.find_blob(generation, identity(key)) {
                assert_eq!(found, blob(key), "{what}: a wrong blob under key {key}");
                served += 1;
            }
        }
    }
    let add = |archive: &Archive| {
        let generation = archive.generation(&stamp())?;
        let mut batch = Batch::new();
        put(&mut batch, generation, NEW);
        batch.commit(archive)
    };
    // Damage that shows at a write, and not before, is mended by the next opening.
    if add(&archive).is_err() {
        drop(archive);
        let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
        if let Err(error) = add(&archive) {
            panic!("{what}: {error}; {:?}", archive.take_incidents());
        }
    } else {
        drop(archive);
    }
    let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    check_all(&archive, [NEW]);
    served
}

#[test]
fn files_cut_at_every_kind_of_offset() {
    let whole = files(100);
    assert_eq!(use_what_is_left(&whole, "whole"), 100);
    for (index, (name, bytes)) in whole.iter().enumerate() {
        let page = 8192;
        let mut cuts = vec![
            0,
            1,
            15,
            16,
            17,
            32,
            56,
            99,
            100,
            512,
            page - 1,
            page,
            page + 1,
        ];
        cuts.extend((1..12).map(|part| bytes.len() * part / 12));
        cuts.extend([bytes.len() - page, bytes.len() - 1]);
        for cut in cuts {
            let mut files = whole.clone();
            files[index].1.truncate(cut);
            use_what_is_left(&files, &format!("{name} cut at {cut}"));
        }
    }
}

#[test]
fn files_with_flipped_bits_at_every_kind_of_offset() {
    let whole = files(100);
    for (index, (name, bytes)) in whole.iter().enumerate() {
        // Every byte of the header and of the first page's start, then bytes spread over all.
        let mut places: Vec<usize> = (0..120).collect();
        places.extend((0..150).map(|part| bytes.len() * part / 150 + part % 97));
        for place in places {
            let mut files = whole.clone();
            let Some(byte) = files[index].1.get_mut(place) else {
                continue;
            };
            *byte ^= 1 << (place % 8);
            use_what_is_left(&files, &format!("{name} flipped at {place}"));
        }
    }
}

#[test]
fn a_full_disk_is_an_error_that_loses_only_the_batch() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    let mut batch = Batch::new();
    for key in 0..10 {
        put(&mut batch, generation, key);
    }
    batch.commit(&archive).unwrap();
    drop(archive);
    // A file system of 256 KiB, where one can be mounted; the store's own limit otherwise.
    let small = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k", "none"])
        .arg(small.path())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !mounted {
        println!("no file system can be mounted here: the full disk is not tested");
        return;
    }
    let archive = Archive::open(small.path(), Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    let mut committed = 0;
    let mut refused = 0;
    for round in 0..40 {
        let mut batch = Batch::new();
        for key in round * 5..round * 5 + 5 {
            put(&mut batch, generation, key);
        }
        if batch.commit(&archive).is_ok() {
            assert_eq!(refused, 0, "a later batch cannot be smaller");
            committed = round * 5 + 5;
        } else {
            assert_eq!(batch.len(), 10);
            refused += 1;
        }
    }
    assert!(committed > 0 && refused > 0);
    check_all(&archive, 0..committed);
    drop(archive);
    let archive = Archive::open(small.path(), Access::ReadWrite).unwrap();
    check_all(&archive, 0..committed);
    drop(archive);
    Command::new("umount").arg(small.path()).status().unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_to_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    let mut batch = Batch::new();
    put(&mut batch, generation, 1);
    batch.commit(&archive).unwrap();
    drop(archive);
    let bound = tempfile::tempdir().unwrap();
    let run = |program: &str, words: &[&str]| {
        Command::new(program)
            .args(words)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let (from, to) = (
        folder.path().to_str().unwrap(),
        bound.path().to_str().unwrap(),
    );
    let mounted =
        run("mount", &["--bind", from, to]) && run("mount", &["-o", "remount,bind,ro", to]);
    if !mounted {
        println!("no folder can be mounted read-only here: it is not tested");
        return;
    }
    for access in [Access::ReadWrite, Access::ReadOnly] {
        let archive = Archive::open(bound.path(), access).unwrap();
        check_all(&archive, [1]);
        assert!(!archive.is_writable());
        let read_only = archive
            .take_incidents()
            .iter()
            .filter(|incident| matches!(incident, Incident::ReadOnly { .. }))
            .count();
        assert_eq!(read_only, usize::from(access == Access::ReadWrite));
        let mut batch = Batch::new();
        put(&mut batch, generation, 2);
        assert!(batch.commit(&archive).is_err());
    }
    run("umount", &[to]);
}

/// A clock that jumps: nothing an archive does depends on the time of day.
#[test]
fn use_is_ordered_by_commits_and_not_by_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open(folder.path(), Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    for key in 0..6 {
        let mut batch = Batch::new();
        put(&mut batch, generation, key);
        batch.commit(&archive).unwrap();
    }
    let raw = rusqlite::Connection::open(folder.path().join(schema::FILE)).unwrap();
    let mut uses = raw
        .prepare("SELECT last_use FROM executable ORDER BY key")
        .unwrap();
    let uses: Vec<i64> = uses
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    // One tick of the archive's own clock for each commit, from 2 on.
    assert_eq!(uses, [2, 3, 4, 5, 6, 7]);
}
