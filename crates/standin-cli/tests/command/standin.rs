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

/// One of the project's captures, or a folder of them.
pub(crate) fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/foz")
        .join(name)
}

/// All databases below a folder, in order of name.
pub(crate) fn databases(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(databases(&path));
        } else if path.extension().is_some_and(|extension| extension == "foz") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Exact keys of an archive's recipes, as the command prints them.
pub(crate) fn recipe_keys(archive: &Path) -> Vec<String> {
    let archive = standin_archive::Archive::open(archive, standin_archive::Access::ReadOnly);
    let keys = archive.unwrap().recipe_keys();
    keys.iter().map(ToString::to_string).collect()
}

/// Every executable of an archive with its blob, in order: stamp, key, second hash, payload.
pub(crate) fn executables(archive: &Path) -> Vec<[Vec<u8>; 4]> {
    let store = rusqlite::Connection::open(archive.join("archive.sqlite")).unwrap();
    let mut query = store
        .prepare(
            "SELECT stamp, executable.key, second, bytes FROM executable \
             JOIN generation ON generation.id = executable.generation \
             JOIN payload ON payload.id = executable.payload ORDER BY 1, 2, 3",
        )
        .unwrap();
    let rows = query.query_map([], |row| {
        Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
    });
    rows.unwrap().map(Result::unwrap).collect()
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
