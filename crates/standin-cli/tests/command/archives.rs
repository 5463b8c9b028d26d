//! Archives that are damaged, foreign, old or out of reach.

use crate::standin::{Folder, Run, capture, device};
use std::path::Path;

fn prebuild(folder: &Folder, status: i32) -> serde_json::Value {
    let mut command = folder.command(["prebuild", "--archive", "archive", "--json"]);
    command.arg(capture("vkcube.foz"));
    Run::of(&mut command).status(status).json()
}

fn store(folder: &Folder) -> std::path::PathBuf {
    folder.path().join("archive/archive.sqlite")
}

fn replay(folder: &Folder) -> serde_json::Value {
    let mut command = folder.command(["replay", "--archive", "archive", "--json"]);
    command.arg(capture("vkcube.foz"));
    Run::of(&mut command).status(0).json()
}

/// Flips a bit of every blob's payload, and leaves their checks.
fn flip_blobs(archive: &Path) {
    let store = rusqlite::Connection::open(archive).unwrap();
    let changed = store
        .execute(
            "UPDATE payload SET bytes = CAST(substr(bytes, 1, size / 2) || x'ff' \
             || substr(bytes, size / 2 + 2) AS BLOB) \
             WHERE id IN (SELECT payload FROM executable)",
            [],
        )
        .unwrap();
    assert!(changed > 0);
}

#[test]
fn a6_a_damaged_blob_costs_a_compile_and_is_built_again() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    prebuild(&folder, 0);
    flip_blobs(&store(&folder));
    let json = folder.run(["verify", "archive", "--json"]).status(1).json();
    assert_eq!(json["damaged"][0]["kind"], "blob", "{json}");
    let json = replay(&folder);
    assert_eq!(json["with"]["times"]["compiles"], 1, "{json}");
    assert_eq!(json["with"]["failed"], 0);
    assert_eq!(prebuild(&folder, 0)["made"], 1);
    assert_eq!(replay(&folder)["with"]["times"]["compiles"], 0);
    folder.run(["verify", "archive"]).status(0);
}

#[test]
fn verify_repair_drops_what_is_damaged() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    prebuild(&folder, 0);
    flip_blobs(&store(&folder));
    folder.run(["verify", "archive", "--repair"]).status(1);
    folder.run(["verify", "archive"]).status(0);
    assert_eq!(prebuild(&folder, 0)["made"], 1);
}

#[test]
fn a_store_that_is_garbage_is_moved_aside_and_built_anew() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("archive")).unwrap();
    std::fs::write(store(&folder), vec![0x5a; 100_000]).unwrap();
    let summary = prebuild(&folder, 0);
    assert_eq!(summary["made"], 1);
    assert!(
        !summary["notes"].as_array().unwrap().is_empty(),
        "{summary}"
    );
    assert_eq!(prebuild(&folder, 0)["present"], 1);
}

#[test]
fn a3_an_archive_of_another_driver_costs_a_rebuild_and_no_failure() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    prebuild(&folder, 0);
    // The driver's UUID lies at bytes 24 to 40 of a stamp (docs/archive-format.md).
    let connection = rusqlite::Connection::open(store(&folder)).unwrap();
    connection
        .execute(
            "UPDATE generation SET stamp = CAST(substr(stamp, 1, 24) || zeroblob(16) \
             || substr(stamp, 41) AS BLOB)",
            [],
        )
        .unwrap();
    drop(connection);
    assert_eq!(replay(&folder)["with"]["times"]["compiles"], 1);
    assert_eq!(prebuild(&folder, 0)["made"], 1);
    assert_eq!(replay(&folder)["with"]["times"]["compiles"], 0);
}

#[test]
fn a_folder_that_is_no_archive_is_status_2() {
    let folder = Folder::new();
    folder.file("file", b"");
    for line in [
        &["verify", "missing"][..],
        &["verify", "."],
        &["compact", "missing"],
        &["prune", "missing", "--max-size", "1G"],
        &["merge", "missing", "-o", "out"],
    ] {
        folder.run(line).status(2);
    }
    let mut command = folder.command(["prebuild", "--archive", "file"]);
    Run::of(command.arg(capture("vkcube.foz"))).status(2);
}

#[test]
fn a16_an_archive_holds_the_same_after_many_compactions() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    prebuild(&folder, 0);
    let before = crate::standin::executables(&folder.path().join("archive"));
    for _ in 0..20 {
        folder.run(["compact", "archive"]).status(0);
    }
    assert_eq!(
        before,
        crate::standin::executables(&folder.path().join("archive"))
    );
    folder.run(["verify", "archive"]).status(0);
}
