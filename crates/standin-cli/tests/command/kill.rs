//! Prebuilds that are stopped on the way.

use crate::standin::{Folder, Run, capture, databases, device, executables};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Starts a prebuild and waits until it has kept something. The stop that follows comes at a
/// point that differs from run to run; what is right afterwards does not.
fn start(folder: &Folder, archive: &str) -> Child {
    let mut command = folder.command(["prebuild", "--foreground", "--archive", archive]);
    command.args(databases(&capture(".")));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let file = folder.path().join(archive).join("archive.sqlite");
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(400));
    child
}

fn signal(child: &Child, name: &str) {
    let status = std::process::Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status()
        .unwrap();
    // A run that is over already was not stopped; the end must be right all the same.
    let _ = status;
}

#[test]
fn a_prebuild_killed_twice_and_resumed_equals_an_unkilled_one() {
    if device() != Some("radv-noop") {
        return;
    }
    let folder = Folder::new();
    let mut whole = folder.command(["prebuild", "--foreground", "--archive", "whole"]);
    Run::of(whole.args(databases(&capture(".")))).status(0);

    let mut child = start(&folder, "resumed");
    signal(&child, "KILL");
    child.wait().unwrap();
    let mut child = start(&folder, "resumed");
    signal(&child, "TERM");
    let status = child.wait().unwrap();
    // 128 + SIGTERM, or over before the signal came.
    assert!(matches!(status.code(), Some(143 | 0)), "{status}");
    let mut last = folder.command(["prebuild", "--foreground", "--archive", "resumed"]);
    Run::of(last.args(databases(&capture(".")))).status(0);

    let whole = executables(&folder.path().join("whole"));
    assert!(whole.len() > 400, "{}", whole.len());
    assert_eq!(whole, executables(&folder.path().join("resumed")));
    folder.run(["verify", "resumed"]).status(0);
}
