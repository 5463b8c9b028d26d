//! Which pipeline each worker is at, written before the driver is called.
//!
//! One small file a worker, in a folder of the run's own under the archive's `inflight/`.
//! The write reaches the page cache, not the disk: it outlives every process, and that is
//! what a crash of the driver, of the worker or of the whole prebuild needs. A run that ended
//! well leaves no folder. What a dead run left names the pipelines to be careful with.

use standin::key::ExactKey;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the folder in an archive's directory.
const FOLDER: &str = "inflight";

/// The file that a living run holds locked.
const LOCK: &str = "lock";

/// One run's folder. Dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: PathBuf,
    // Held, not read: while it is locked the folder belongs to a living run.
    _lock: File,
}

impl Journal {
    /// Opens this run's folder, and takes over what dead runs left: the pipelines that were
    /// being built when they ended.
    pub(crate) fn open(archive: &Path) -> io::Result<(Self, Vec<ExactKey>)> {
        let root = archive.join(FOLDER);
        fs::create_dir_all(&root)?;
        // One run at a time opens or takes over: a folder that is just being made is not
        // mistaken for a dead run's.
        let gate = File::create(root.join(LOCK))?;
        gate.lock()?;
        let suspects = take_over(&root)?;
        let folder = root.join(std::process::id().to_string());
        fs::create_dir_all(&folder)?;
        let lock = File::create(folder.join(LOCK))?;
        lock.lock()?;
        let journal = Self {
            folder,
            _lock: lock,
        };
        Ok((journal, suspects))
    }

    /// The file of one worker.
    pub(crate) fn page(&self, worker: usize) -> PathBuf {
        self.folder.join(worker.to_string())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // What stays behind costs the next run a careful build of healthy pipelines, no more.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Reads and removes the folders of runs that are no more.
fn take_over(root: &Path) -> io::Result<Vec<ExactKey>> {
    let mut suspects = Vec::new();
    for entry in fs::read_dir(root)? {
        let folder = entry?.path();
        let Ok(lock) = File::open(folder.join(LOCK)) else {
            continue;
        };
        if lock.try_lock().is_err() {
            continue;
        }
        for page in fs::read_dir(&folder)?.flatten() {
            let text = fs::read_to_string(page.path()).unwrap_or_default();
            if let Some(key) = parse(&text) {
                suspects.push(key);
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    suspects.sort_unstable();
    suspects.dedup();
    Ok(suspects)
}

/// A worker's side of its file.
#[derive(Debug)]
pub(crate) struct Page(File);

impl Page {
    /// Opens the worker's file, empty.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        File::create(path).map(Self)
    }

    /// The driver is about to be called for this pipeline.
    pub(crate) fn begin(&mut self, key: ExactKey) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(key.to_string().as_bytes())
    }

    /// The driver came back.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.0.set_len(0)
    }
}

fn parse(text: &str) -> Option<ExactKey> {
    if text.len() != 32 {
        return None;
    }
    u128::from_str_radix(text, 16).ok().map(ExactKey::from_u128)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed file operation fails the test
mod tests {
    use super::{FOLDER, Journal, LOCK, Page};
    use standin::key::ExactKey;
    use std::fs;

    #[test]
    fn what_a_dead_run_was_building_is_handed_to_the_next() {
        let archive = tempfile::tempdir().unwrap();
        let dead = archive.path().join(FOLDER).join("1");
        fs::create_dir_all(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let guilty = ExactKey::from_u128(0xabcd);
        let mut page = Page::open(&dead.join("0")).unwrap();
        page.begin(guilty).unwrap();
        let mut page = Page::open(&dead.join("1")).unwrap();
        page.begin(ExactKey::from_u128(1)).unwrap();
        page.end().unwrap();

        let (journal, suspects) = Journal::open(archive.path()).unwrap();
        assert_eq!(suspects, [guilty]);
        assert!(!dead.exists());
        drop(journal);
        let (_journal, suspects) = Journal::open(archive.path()).unwrap();
        assert_eq!(suspects, []);
    }

    #[test]
    fn a_living_runs_folder_is_left_alone() {
        let archive = tempfile::tempdir().unwrap();
        let other = archive.path().join(FOLDER).join("other");
        fs::create_dir_all(&other).unwrap();
        let lock = fs::File::create(other.join(LOCK)).unwrap();
        lock.lock().unwrap();
        Page::open(&other.join("0"))
            .unwrap()
            .begin(ExactKey::from_u128(5))
            .unwrap();

        let (_journal, suspects) = Journal::open(archive.path()).unwrap();
        assert_eq!(suspects, []);
        assert!(other.exists());
    }
}
