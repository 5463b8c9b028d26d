//! How a verb ends, and the exit status that tells it.

use std::path::PathBuf;
use std::process::ExitCode;

/// The exit statuses, as every `--help` text ends with them.
pub(crate) const HELP: &str = "\
Exit status:
  0  all well
  1  some entries failed, or were declined under --strict, or are damaged
  2  bad usage, unreadable input, or no device: nothing was done
  128+N  stopped by signal N; what was finished is kept";

/// How a verb that ran to its end went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing was lost.
    AllWell,
    /// At least one entry was lost, and was named.
    EntriesLost,
    /// Stopped by this signal; what was finished is kept.
    Stopped(i32),
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::AllWell => Self::SUCCESS,
            Outcome::EntriesLost => Self::from(1),
            Outcome::Stopped(signal) => {
                Self::from(u8::try_from(128_i32.saturating_add(signal)).unwrap_or(1))
            }
        }
    }
}

/// Why a verb did nothing. Exit status 2.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The arguments contradict each other or the machine.
    #[error("{0}")]
    Usage(String),
    /// A file or folder could not be read or written at all.
    #[error("{}: {source}", path.display())]
    File {
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No device can do what was asked.
    #[error("{0}")]
    Device(String),
    /// The command's own output could not be written.
    #[error("output: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// A failure that has to do with this path.
    pub(crate) fn file(
        path: impl Into<PathBuf>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::File {
            path: path.into(),
            source: source.into(),
        }
    }
}
