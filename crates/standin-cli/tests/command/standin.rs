//! Running the command.

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A run's folder, and the command lines that run in it.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_standin"));
        command.args(words).current_dir(self.0.path());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Run {
        Run::of(&mut self.command(words))
    }
}

/// A run that is over.
pub(crate) struct Run {
    output: Output,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self {
            output: command.output().unwrap(),
        }
    }

    /// Asserts the exit status, and shows what the command said where it differs.
    #[track_caller]
    pub(crate) fn status(self, expected: i32) -> Self {
        let status = self.output.status;
        assert_eq!(
            status.code(),
            Some(expected),
            "{status}\nstdout: {}\nstderr: {}",
            self.stdout(),
            self.stderr()
        );
        self
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout(), self.stderr()))
    }
}

/// The project's captures.
pub(crate) fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foz")
}

/// The device that `cargo xtask test` selected; without it a device test says so and returns.
pub(crate) fn device() -> Option<&'static str> {
    match std::env::var("STANDIN_TEST_DEVICE").as_deref() {
        Ok("lavapipe") => Some("lavapipe"),
        Ok("radv-noop") => Some("radv-noop"),
        _ => {
            eprintln!("needs a device: run it with `cargo xtask test`");
            None
        }
    }
}
