//! Places that cannot be written to.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin_archive::{Access, Archive, Batch, Incident, ModuleKey, schema};
use std::path::Path;
use std::process::{Command, Stdio};

const ROLE: &str = "STANDIN_ARCHIVE_OPENING_ROLE";
const FOLDER: &str = "STANDIN_ARCHIVE_OPENING_FOLDER";

fn put(archive: &Archive, key: u128) {
    let mut batch = Batch::new();
    batch.put_module(ModuleKey(key), vec![key as u8; 3000]);
    batch.commit(archive).unwrap();
}

/// Not a test by itself: another process, that the tests below start.
#[test]
fn other_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let folder = std::env::var(FOLDER).unwrap();
    let archive = Archive::open(Path::new(&folder), Access::ReadWrite).unwrap();
    match role.as_str() {
        // Ends as a process ends that was told to: without closing anything.
        "leave a journal" => {
            for key in 0..20 {
                put(&archive, key);
            }
            std::process::exit(0);
        }
        role => panic!("no role {role}"),
    }
}

fn in_another_process(folder: &Path, role: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["other_process", "--exact"])
        .env(ROLE, role)
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{role}");
}

/// A journal that a dead process left holds what it committed. Where nothing can be written, the
/// database can neither be joined with it nor read without it.
#[test]
fn a_folder_that_cannot_be_written_to_is_read_with_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    in_another_process(folder.path(), "leave a journal");
    let journal = folder.path().join(format!("{}-wal", schema::FILE));
    assert!(std::fs::metadata(&journal).unwrap().len() > 0);
    std::fs::remove_file(folder.path().join(format!("{}-shm", schema::FILE))).unwrap();
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
    if !(run("mount", &["--bind", from, to]) && run("mount", &["-o", "remount,bind,ro", to])) {
        println!("no folder can be mounted read-only here: it is not tested");
        return;
    }
    let found: Vec<(usize, Vec<Incident>)> = [Access::ReadWrite, Access::ReadOnly]
        .map(|access| {
            let archive = Archive::open(bound.path(), access).unwrap();
            let found = (0..20).filter(|key| archive.find_module(ModuleKey(*key)).is_some());
            (found.count(), archive.take_incidents())
        })
        .into();
    run("umount", &[to]);
    for (count, incidents) in found {
        assert_eq!(count, 20, "{incidents:?}");
        assert!(
            incidents
                .iter()
                .all(|incident| matches!(incident, Incident::ReadOnly { .. })),
            "{incidents:?}"
        );
    }
}
