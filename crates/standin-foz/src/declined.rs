//! Why an entry is lost or declined.

use crate::entry::{EntryKey, FozKey};
use crate::hash::UnknownStruct;
use crate::stream::Damage;
use std::path::PathBuf;
use std::sync::Arc;

/// Why no recipe can be made of an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The entry is damaged.
    #[error("{0}")]
    Damaged(#[from] Damage),
    /// It refers to an entry that no database has.
    #[error("{0} is missing")]
    Missing(EntryKey),
    /// It refers to an entry that is declined.
    #[error("it needs {needs}, which is declined: {reason}")]
    Dependency {
        /// The entry it refers to.
        needs: EntryKey,
        /// Why that one is declined.
        reason: Arc<Reason>,
    },
    /// A chained struct is not known here, or not in this place.
    #[error("a chained struct of sType {0} is not known here")]
    UnknownStruct(u32),
    /// It is a ray-tracing pipeline.
    #[error("ray tracing is not supported")]
    RayTracing,
    /// It is a library that is made of libraries.
    #[error("a library that consumes libraries is not supported")]
    LibraryOfLibraries,
    /// Its parts contradict each other.
    #[error("{0}")]
    Inconsistent(&'static str),
}

impl Reason {
    /// A short name to count reasons by.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Damaged(_) => "damaged",
            Self::Missing(_) => "missing dependency",
            Self::Dependency { reason, .. } => reason.label(),
            Self::UnknownStruct(_) => "unknown chained struct",
            Self::RayTracing => "ray tracing",
            Self::LibraryOfLibraries => "library of libraries",
            Self::Inconsistent(_) => "inconsistent",
        }
    }
}

impl From<UnknownStruct> for Reason {
    fn from(error: UnknownStruct) -> Self {
        Self::UnknownStruct(error.0)
    }
}

/// A pipeline that no recipe is made of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}")]
pub struct Declined {
    /// The pipeline.
    pub key: EntryKey,
    /// Why.
    pub reason: Reason,
}

/// An entry that is damaged: it and what depends on it are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// The file.
    pub path: PathBuf,
    /// Where the entry begins, in bytes.
    pub offset: u64,
    /// The entry, if its name can be read.
    pub entry: Option<EntryKey>,
    /// What is wrong.
    pub damage: Damage,
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {:#x}: ", self.path.display(), self.offset)?;
        if let Some(entry) = self.entry {
            write!(f, "{entry}: ")?;
        }
        write!(f, "{}", self.damage)
    }
}

/// Something worth telling that costs no entry of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A file ends within an entry.
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where the broken entry begins, in bytes.
        at: u64,
        /// Bytes from there to the end.
        lost: u64,
    },
    /// An entry has a tag of a later version and was skipped.
    HigherTag {
        /// The file.
        path: PathBuf,
        /// Where the entry begins, in bytes.
        offset: u64,
        /// The tag.
        tag: u64,
        /// The key.
        key: FozKey,
    },
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truncated { path, at, lost } => write!(
                f,
                "{} is truncated at {at:#x}: the last {lost} bytes are no whole entry",
                path.display()
            ),
            Self::HigherTag {
                path,
                offset,
                tag,
                key,
            } => write!(
                f,
                "{} at {offset:#x}: tag {tag} of {key} is not known; skipped",
                path.display()
            ),
        }
    }
}
