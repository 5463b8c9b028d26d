//! What went wrong with an archive and was put up with.

use std::fmt;
use std::path::PathBuf;

/// Something that an archive got over. It is reported once, and costs a compile or less.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incident {
    /// The database could not be read as one. It was moved aside, and what could be read of it
    /// was taken over.
    Rebuilt {
        /// Where the damaged file is now.
        aside: PathBuf,
        /// What the store said.
        reason: String,
        /// Rows taken over.
        salvaged: u64,
    },
    /// A payload does not match its check. It was dropped.
    Damaged {
        /// "module", "recipe", "blob" or "proof".
        what: &'static str,
        /// The key it was kept under, in hexadecimal digits.
        key: String,
    },
    /// A read failed inside the store. It counts as a miss; the next opening rebuilds.
    Unreadable {
        /// What the store said.
        reason: String,
    },
    /// The archive is of a later version of the format. It is left alone; nothing is read from
    /// it and nothing is written to it.
    FromTheFuture {
        /// Its version.
        version: i64,
    },
    /// The folder cannot be written to. The archive is read and not added to.
    ReadOnly {
        /// What the system said.
        reason: String,
    },
}

impl fmt::Display for Incident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rebuilt {
                aside,
                reason,
                salvaged,
            } => write!(
                f,
                "archive was damaged ({reason}): rebuilt with {salvaged} rows of it, the damaged file is {}",
                aside.display()
            ),
            Self::Damaged { what, key } => write!(f, "{what} {key} is damaged: dropped"),
            Self::Unreadable { reason } => write!(f, "archive could not be read: {reason}"),
            Self::FromTheFuture { version } => write!(
                f,
                "archive is of format version {version}, this program knows {}: left alone",
                crate::schema::VERSION
            ),
            Self::ReadOnly { reason } => write!(f, "archive is read-only: {reason}"),
        }
    }
}
