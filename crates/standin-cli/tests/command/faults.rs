//! Drivers that crash, hang or eat memory, through the test hook.

use crate::standin::{Folder, Run, capture, device, recipe_keys};

#[test]
fn poisoned_entries_are_named_and_all_others_are_built() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let path = capture("mesa-shader-db");
    let databases = crate::standin::databases(&path);
    let prebuild = |archive: &str| {
        let mut command = folder.command(["prebuild", "--json", "--foreground", "--archive"]);
        command.arg(archive).args(&databases);
        command
    };
    let healthy = Run::of(&mut prebuild("healthy")).status(0).json();
    let keys = recipe_keys(&folder.path().join("healthy"));
    let poison = [
        (&keys[0], "abort"),
        (&keys[1], "hang"),
        (&keys[2], "memory"),
    ];
    let words: Vec<String> = poison
        .iter()
        .map(|(key, kind)| format!("{key}={kind}"))
        .collect();

    let mut command = prebuild("archive");
    command.args(["--time-limit", "5", "--memory", "1G"]);
    command.env("STANDIN_TEST_FAULT", words.join(","));
    let summary = Run::of(&mut command).status(1).json();
    let failed = summary["failed"].as_array().unwrap();
    let kind_of = |key: &str| {
        let loss = failed.iter().find(|loss| loss["key"] == key);
        loss.map(|loss| loss["kind"].as_str().unwrap().to_owned())
    };
    assert_eq!(kind_of(&keys[0]).as_deref(), Some("crash"), "{summary}");
    assert_eq!(kind_of(&keys[1]).as_deref(), Some("hang"), "{summary}");
    assert_eq!(kind_of(&keys[2]).as_deref(), Some("memory"), "{summary}");
    assert_eq!(failed.len(), 3, "{summary}");
    let made = |summary: &serde_json::Value| summary["made"].as_u64().unwrap();
    assert_eq!(made(&summary), made(&healthy) - 3);

    // Remembered: a later run does not touch them, also where they would do no harm now.
    let later = Run::of(&mut prebuild("archive")).status(1).json();
    assert_eq!(later["skipped"].as_array().unwrap().len(), 3, "{later}");
    assert_eq!(
        (&later["made"], &later["failed"]),
        (&0.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_worker_without_a_device_ends_the_run_with_status_2() {
    let folder = Folder::new();
    let mut command = folder.command(["prebuild", "--archive", "archive"]);
    command
        .arg(capture("vkcube.foz"))
        .args(["--device", "no such device"]);
    Run::of(&mut command).status(2);
}
