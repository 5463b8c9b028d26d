//! The verbs that keep archives in order: thin over `standin-archive`.

pub(crate) mod compact;
pub(crate) mod merge;
pub(crate) mod prune;
pub(crate) mod verify;

use crate::exit::Failure;
use crate::progress::Progress;
use standin_archive::{Access, Archive, ArchiveError};
use std::path::Path;

/// Opens an archive that must be there.
fn open(folder: &Path, access: Access) -> Result<Archive, Failure> {
    if !folder.join(standin_archive::schema::FILE).exists() {
        return Err(Failure::file(folder, "the folder holds no archive"));
    }
    Archive::open(folder, access).map_err(failure)
}

/// An archive's error names the folder itself.
#[allow(clippy::needless_pass_by_value)] // it is used as a function of `map_err`
fn failure(error: ArchiveError) -> Failure {
    Failure::Usage(error.to_string())
}

/// What the archive got over, as text.
fn notes(archive: &Archive) -> Vec<String> {
    archive
        .take_incidents()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Shows how far a piece of work is that tells its bytes.
struct Bytes(Option<Progress>);

impl Bytes {
    fn new() -> Self {
        Self(None)
    }

    fn show(&mut self, done: u64, total: u64) {
        const MEBIBYTE: u64 = 1 << 20;
        let progress = self
            .0
            .get_or_insert_with(|| Progress::start(total / MEBIBYTE, "MiB"));
        progress.reach(done / MEBIBYTE);
        if done >= total {
            progress.finish();
        }
    }
}
