//! What the command says to a line that it cannot use, and what every verb's help holds.

use crate::standin::Folder;

#[test]
fn bad_usage_is_status_2() {
    let folder = Folder::new();
    for line in [
        &["no-such-verb"][..],
        &[],
        &["prebuild"],
        &["prebuild", "a.foz"],
        &["prebuild", "a.foz", "--archive", "x", "--shard", "3/3"],
        &["prebuild", "a.foz", "--archive", "x", "--memory", "much"],
        &["replay", "a.foz", "--no-such-option"],
    ] {
        folder.run(line).status(2);
    }
}

#[test]
fn help_ends_with_the_exit_statuses() {
    let folder = Folder::new();
    for verb in ["doctor", "prebuild", "replay", "inspect"] {
        let run = folder.run([verb, "--help"]).status(0);
        assert!(run.stdout().contains("Exit status:"), "{verb}");
    }
}
