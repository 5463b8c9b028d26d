//! `standin prebuild` and `standin replay` on a device.

use crate::standin::{Folder, capture, device};
use serde_json::Value;

/// Prebuilds one capture in the foreground.
fn prebuild(folder: &Folder, capture: &std::path::Path, more: &[&str]) -> Value {
    let mut command = folder.command(["prebuild", "--archive", "archive", "--json"]);
    command.arg(capture).args(more);
    if device() == Some("lavapipe") {
        command.args(["--device", "llvmpipe"]);
    }
    crate::standin::Run::of(&mut command).status(0).json()
}

#[test]
fn p2_a_cpu_device_is_used_only_where_it_is_named() {
    if device() != Some("lavapipe") {
        return;
    }
    let folder = Folder::new();
    let path = capture("vkcube.foz");
    let mut command = folder.command(["prebuild", "--archive", "archive"]);
    command.arg(&path);
    let run = crate::standin::Run::of(&mut command).status(2);
    assert!(run.stderr().contains("name one"), "{}", run.stderr());
    prebuild(&folder, &path, &[]);
}

#[test]
fn p3_a_second_run_does_nothing() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let path = capture("vkcube.foz");
    let first = prebuild(&folder, &path, &[]);
    assert_eq!(
        (&first["made"], &first["pipelines"]),
        (&1.into(), &1.into())
    );
    let second = prebuild(&folder, &path, &[]);
    assert_eq!(
        (&second["made"], &second["present"]),
        (&0.into(), &1.into())
    );
    assert_eq!(second["workers"], 0, "no pipeline was looked at");
}

#[test]
fn a4_a_second_start_has_everything_from_the_archive() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let path = capture("zink-piglit-static.foz");
    let made = prebuild(&folder, &path, &[])["made"].as_u64().unwrap();
    assert!(made > 400, "most of the capture's 581 pipelines: {made}");
    let mut command = folder.command(["replay", "--archive", "archive", "--json"]);
    command.arg(&path).arg("--expect-no-compile");
    let json = crate::standin::Run::of(&mut command).status(0).json();
    assert_eq!(json["without"]["times"]["compiles"], made);
    assert_eq!(json["with"]["times"]["count"], made);
    assert_eq!(json["with"]["times"]["compiles"], 0);
}

#[test]
fn p7_pipelines_with_divisors_are_made() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let summary = prebuild(&folder, &capture("zink-piglit-static.foz"), &[]);
    for reason in summary["declined"].as_object().unwrap().keys() {
        assert!(!reason.contains("ivisor"), "{reason}");
    }
}

#[test]
fn declined_pipelines_have_a_reason_and_count_under_strict_alone() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let path = capture("ncnn-benchmark.foz");
    // The capture asks for subgroups of 8; RADV has 32 and 64.
    let summary = prebuild(&folder, &path, &[]);
    let declined = summary["declined"].as_object().unwrap();
    assert_eq!(declined.len(), 1, "{summary}");
    let (reason, count) = declined.iter().next().unwrap();
    assert!(reason.contains("subgroup size 8"), "{reason}");
    assert_eq!(*count, summary["pipelines"]);
    let mut command = folder.command(["prebuild", "--archive", "archive", "--strict"]);
    crate::standin::Run::of(command.arg(&path)).status(1);
}

#[test]
fn shards_are_disjoint_and_merge_into_the_whole() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let path = capture("zink-piglit-static.foz");
    let whole = prebuild(&folder, &path, &[]);
    let mut made = 0;
    for part in 0..3 {
        let mut command = folder.command(["prebuild", "--json", "--shard"]);
        command
            .arg(format!("{part}/3"))
            .arg("--archive")
            .arg(format!("part{part}"));
        let summary = crate::standin::Run::of(command.arg(&path)).status(0).json();
        made += summary["made"].as_u64().unwrap();
    }
    assert_eq!(made, whole["made"].as_u64().unwrap());
    folder
        .run(["merge", "part0", "part1", "part2", "-o", "joined"])
        .status(0);
    let mut command = folder.command(["replay", "--archive", "joined", "--expect-no-compile"]);
    crate::standin::Run::of(command.arg(&path)).status(0);
}

#[test]
fn blobs_of_two_gpu_families_never_cross() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let path = capture("vkcube.foz");
    for family in ["radv:navi31", "radv:vangogh"] {
        let summary = prebuild(&folder, &path, &["--device", family]);
        assert_eq!(summary["made"], 1, "{family}");
        assert!(summary["device"].as_str().unwrap().contains("RADV"));
    }
    let json = folder
        .run(["inspect", "archive", "--json"])
        .status(0)
        .json();
    let filled = json["archives"][0]["generations"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|generation| generation["pipelines"] == 1)
        .count();
    assert_eq!(filled, 2);
    for family in ["radv:navi31", "radv:vangogh", "radv:raven"] {
        let mut command = folder.command(["replay", "--archive", "archive", "--json"]);
        command.arg(&path).args(["--device", family]);
        let json = crate::standin::Run::of(&mut command).status(0).json();
        // Nobody prebuilt for the last one.
        let expected = u64::from(family == "radv:raven");
        assert_eq!(json["with"]["times"]["compiles"], expected, "{family}");
    }
}
