//! Compaction that is interrupted: the old file stays until the new one is verified, so what an
//! archive holds is the same at every point.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use standin::key::{ExactKey, ExecutableKey};
use standin_archive::maintain::Repair;
use standin_archive::{
    Access, Archive, Batch, Binary, Blob, Identity, ModuleKey, Placed, Stamp, schema,
};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "STANDIN_ARCHIVE_COMPACT_FOLDER";
const COUNT: u128 = 60;

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

fn identity(key: u128) -> Identity {
    Identity {
        key: ExecutableKey::from_u128(key),
        second: !key,
    }
}

fn blob(key: u128) -> Blob {
    let length = 4000 + usize::try_from(key * 7919 % 9000).unwrap();
    Blob::Binaries(vec![Binary {
        key: vec![key as u8; 32],
        data: vec![!key as u8; length],
    }])
}

fn fill(folder: &Path) {
    let archive = Archive::open(folder, Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    for key in 0..COUNT {
        let mut batch = Batch::new();
        batch.put_module(ModuleKey(key), vec![key as u8; 900]);
        batch.put_recipe(ExactKey::from_u128(key), vec![!key as u8; 300], 1);
        let holds = vec![Placed {
            identity: identity(key),
            cost: Duration::from_millis(3),
        }];
        batch.put_blob(generation, holds, blob(key));
        batch.commit(&archive).unwrap();
    }
}

fn check(folder: &Path, what: &str) {
    let archive = Archive::open(folder, Access::ReadWrite).unwrap();
    let generation = archive.find_generation(&stamp()).unwrap();
    for key in 0..COUNT {
        let found = archive.find_blob(generation, identity(key));
        assert_eq!(found, Some(blob(key)), "{what}");
        let module = archive.find_module(ModuleKey(key));
        assert_eq!(module, Some(vec![key as u8; 900]), "{what}");
        let recipes = archive.find_recipes(ExactKey::from_u128(key));
        assert_eq!(recipes, [vec![!key as u8; 300]], "{what}");
    }
    let found = archive.verify(Repair::No, &mut |_, _| {}).unwrap();
    assert!(found.is_sound(), "{what}: {found:?}");
    assert_eq!(archive.take_incidents(), [], "{what}");
}

/// Not a test by itself: the process that the test below starts and kills.
#[test]
fn compacting_process() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    loop {
        Archive::compact(Path::new(&folder)).unwrap();
    }
}

#[test]
fn a16_a_hundred_compactions_killed_at_any_point_leave_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    for round in 0..100_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["compacting_process", "--exact"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Where in its work the process is then is left to the machine.
        std::thread::sleep(Duration::from_micros(2000 + round * 613 % 29_000));
        child.kill().unwrap();
        child.wait().unwrap();
        check(folder.path(), &format!("round {round}"));
    }
    Archive::compact(folder.path()).unwrap();
    check(folder.path(), "the last");
    let names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != schema::FILE && name != schema::LOCK)
        .collect();
    assert_eq!(names, [""; 0]);
}
