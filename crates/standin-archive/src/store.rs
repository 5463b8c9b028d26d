//! The archive: finding things in it, and changing it.

use crate::incident::Incident;
use crate::opening::{Opened, Presence, is_damage};
use crate::payload::{Blob, ModuleKey, blob_identity, checksum, proof_identity};
use crate::schema;
use crate::stamp::Stamp;
use rusqlite::{Connection, OptionalExtension, params};
use standin::key::{ExactKey, ExecutableKey};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What an archive is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; the folder is made where there is none.
    ReadWrite,
    /// Reading. A folder that is not there is an empty archive.
    ReadOnly,
}

/// Why an archive cannot be opened or written. What it *holds* is never a reason.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The folder cannot be made or used.
    #[error("archive {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The store refused.
    #[error("archive {}: {source}", path.display())]
    Store {
        /// The folder.
        path: PathBuf,
        /// What the store said.
        source: rusqlite::Error,
    },
    /// There is an archive already where a new one was to be made.
    #[error("there is an archive in {} already", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The archive was opened for reading, is read-only on disk, or is of a later version.
    #[error("archive {} cannot be written to", path.display())]
    NotWritable {
        /// The folder.
        path: PathBuf,
    },
}

/// Identity of one executable in an archive: its key, and a second hash of the same recipe that
/// is compared before use. Two recipes whose keys collide both live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The executable's key.
    pub key: ExecutableKey,
    /// Another 128-bit hash of what the key was made of.
    pub second: u128,
}

impl Identity {
    /// The 32 bytes of key and second hash.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.key.to_le_bytes());
        bytes[16..].copy_from_slice(&self.second.to_le_bytes());
        bytes
    }
}

/// The blobs of one stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation {
    /// Number of its row.
    pub(crate) id: i64,
    /// The stamp's hash, which the checks of its blobs cover.
    pub(crate) scope: u128,
}

/// What this opening may do with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Writable,
    Readable,
    /// Nothing is there, or nothing that may be touched: every find is a miss.
    Closed,
}

/// An open archive. It can be shared between threads; calls take turns.
#[derive(Debug)]
pub struct Archive {
    pub(crate) folder: PathBuf,
    pub(crate) mode: Mode,
    pub(crate) connection: Mutex<Connection>,
    /// Tells whoever wants to replace the database's file that it is open. Dropped after the
    /// connection.
    _presence: Option<Presence>,
    incidents: Mutex<Vec<Incident>>,
}

impl Archive {
    /// Opens the archive in a folder. What had to be got over is among the
    /// [incidents](Self::take_incidents).
    ///
    /// # Errors
    /// The folder cannot be made or used at all. The contents are never a reason: a damaged
    /// archive is moved aside and rebuilt, one of a later version is left alone.
    pub fn open(folder: &Path, access: Access) -> Result<Self, ArchiveError> {
        let mut incidents = Vec::new();
        if access == Access::ReadWrite {
            let made = std::fs::create_dir_all(folder);
            if let (Err(source), false) = (made, folder.is_dir()) {
                return Err(ArchiveError::Folder {
                    path: folder.to_path_buf(),
                    source,
                });
            }
        }
        let opened = crate::opening::open(folder, access, &mut incidents)?;
        Ok(Self::of(folder, opened, incidents))
    }

    /// Opens the archive where nobody else has it open, and keeps everybody else out until it
    /// is dropped. None where somebody has it open.
    pub(crate) fn open_alone(folder: &Path) -> Result<Option<Self>, ArchiveError> {
        let mut incidents = Vec::new();
        let opened = crate::opening::open_alone(folder, &mut incidents)?;
        Ok(opened.map(|opened| Self::of(folder, opened, incidents)))
    }

    fn of(folder: &Path, opened: Opened, incidents: Vec<Incident>) -> Self {
        let (presence, connection, mode) = opened;
        Self {
            folder: folder.to_path_buf(),
            mode,
            connection: Mutex::new(connection),
            _presence: presence,
            incidents: Mutex::new(incidents),
        }
    }

    /// Removes an archive: the documented reset. Nothing else in the folder is touched.
    ///
    /// # Errors
    /// A file of the archive cannot be removed.
    pub fn reset(folder: &Path) -> Result<(), ArchiveError> {
        let databases = [schema::FILE, schema::ASIDE, schema::REBUILDING];
        let names = databases
            .iter()
            .flat_map(|name| ["", "-wal", "-shm"].map(|suffix| format!("{name}{suffix}")));
        for name in names.chain([schema::LOCK, schema::MARK].map(str::to_owned)) {
            let file = folder.join(name);
            match std::fs::remove_file(&file) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ArchiveError::Folder { path: file, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The archive's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether things can be added.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.mode == Mode::Writable
    }

    /// What was got over since the last call.
    pub fn take_incidents(&self) -> Vec<Incident> {
        std::mem::take(&mut *lock(&self.incidents))
    }

    /// The generation of a stamp, if there is one.
    pub fn find_generation(&self, stamp: &Stamp) -> Option<Generation> {
        self.read(|store| {
            store
                .prepare_cached("SELECT id FROM generation WHERE stamp = ?1")?
                .query_row([stamp.to_bytes()], |row| {
                    let scope = stamp.scope();
                    row.get(0).map(|id| Generation { id, scope })
                })
                .optional()
        })
    }

    /// The generation of a stamp, made where there is none.
    ///
    /// # Errors
    /// The archive cannot be written to.
    pub fn generation(&self, stamp: &Stamp) -> Result<Generation, ArchiveError> {
        if let Some(generation) = self.find_generation(stamp) {
            return Ok(generation);
        }
        self.write(|store| {
            store.execute(
                "INSERT OR IGNORE INTO generation (stamp) VALUES (?1)",
                [stamp.to_bytes()],
            )?;
            store.query_row(
                "SELECT id FROM generation WHERE stamp = ?1",
                [stamp.to_bytes()],
                |row| {
                    let scope = stamp.scope();
                    row.get(0).map(|id| Generation { id, scope })
                },
            )
        })
    }

    /// A module's bytes.
    pub fn find_module(&self, key: ModuleKey) -> Option<Vec<u8>> {
        let identity = key.0.to_le_bytes();
        let payload = self.read(|store| {
            store
                .prepare_cached("SELECT payload FROM module WHERE key = ?1")?
                .query_row([identity], |row| row.get(0))
                .optional()
        })?;
        self.payload("module", &identity, payload, |_| identity.to_vec())
    }

    /// The bodies of all recipes with this key: one, or more where keys collide.
    pub fn find_recipes(&self, key: ExactKey) -> Vec<Vec<u8>> {
        let rows: Option<Vec<(Vec<u8>, i64)>> = self.read(|store| {
            let mut query =
                store.prepare_cached("SELECT body_hash, payload FROM recipe WHERE key = ?1")?;
            let rows =
                query.query_map([key.to_le_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<Result<_, _>>().map(Some)
        });
        rows.into_iter()
            .flatten()
            .filter_map(|(body_hash, payload)| {
                let identity = [key.to_le_bytes().as_slice(), &body_hash].concat();
                self.payload("recipe", &key.to_le_bytes(), payload, |_| identity.clone())
            })
            .collect()
    }

    /// The keys of all recipes, the most used first.
    pub fn recipe_keys(&self) -> Vec<ExactKey> {
        self.read(|store| {
            let mut query =
                store.prepare_cached("SELECT DISTINCT key FROM recipe ORDER BY uses DESC, key")?;
            let rows = query.query_map([], |row| row.get::<_, [u8; 16]>(0))?;
            rows.map(|row| row.map(ExactKey::from_le_bytes))
                .collect::<Result<_, _>>()
                .map(Some)
        })
        .unwrap_or_default()
    }

    /// How often each recipe was used, as far as that was counted: the sum where keys collide.
    pub fn recipe_uses(&self) -> Vec<(ExactKey, u64)> {
        self.read(|store| {
            let mut query =
                store.prepare_cached("SELECT key, sum(uses) FROM recipe GROUP BY key")?;
            let rows = query.query_map([], |row| {
                let uses: i64 = row.get(1)?;
                let key = ExactKey::from_le_bytes(row.get(0)?);
                Ok((key, u64::try_from(uses).unwrap_or(0)))
            })?;
            rows.collect::<Result<_, _>>().map(Some)
        })
        .unwrap_or_default()
    }

    /// Whether a blob is kept for an executable. Reads no payload and changes nothing.
    pub fn has_blob(&self, generation: Generation, identity: Identity) -> bool {
        self.payload_of(generation, identity).is_some()
    }

    /// The blob of an executable. A damaged one is dropped and is a miss.
    pub fn find_blob(&self, generation: Generation, identity: Identity) -> Option<Blob> {
        let payload = self.payload_of(generation, identity)?;
        let (key, second) = (identity.key.to_le_bytes(), identity.second.to_le_bytes());
        let bytes = self.payload("blob", &key, payload, |blob| {
            blob_identity(generation.scope, &key, &second, blob)
        })?;
        Blob::from_bytes(&bytes)
    }

    /// Where an executable's blob lies: executables of one segment agree.
    pub fn payload_of(&self, generation: Generation, identity: Identity) -> Option<i64> {
        self.read(|store| {
            store
                .prepare_cached(
                    "SELECT payload FROM executable WHERE generation = ?1 AND key = ?2 AND second = ?3",
                )?
                .query_row(
                    params![
                        generation.id,
                        identity.key.to_le_bytes(),
                        identity.second.to_le_bytes()
                    ],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    /// A proof's recorded verdict.
    pub fn find_proof(&self, generation: Generation, name: &str) -> Option<Vec<u8>> {
        let payload = self.read(|store| {
            store
                .prepare_cached("SELECT payload FROM proof WHERE generation = ?1 AND name = ?2")?
                .query_row(params![generation.id, name], |row| row.get(0))
                .optional()
        })?;
        self.payload("proof", name.as_bytes(), payload, |_| {
            proof_identity(generation.scope, name.as_bytes())
        })
    }

    /// Reads a payload and compares its check, which covers what `identity` says. A damaged one
    /// is dropped with what refers to it.
    fn payload(
        &self,
        what: &'static str,
        key: &[u8],
        id: i64,
        identity: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Option<Vec<u8>> {
        let (expected, bytes): (i64, Vec<u8>) = self.read(|store| {
            store
                .prepare_cached("SELECT checksum, bytes FROM payload WHERE id = ?1")?
                .query_row([id], |row| {
                    // A value of another type is damage like any other.
                    let bytes = row.get_ref(1)?.as_bytes().unwrap_or_default();
                    Ok((row.get(0)?, bytes.to_vec()))
                })
                .optional()
        })?;
        if checksum(&identity(&bytes), &bytes) == expected {
            return Some(bytes);
        }
        self.report(Incident::Damaged {
            what,
            key: key.iter().map(|byte| format!("{byte:02x}")).collect(),
        });
        if self.is_writable() {
            // Where it cannot be dropped now it stays a miss, and is dropped another time.
            let _dropped_later = self.write(|store| crate::batch::drop_payload(store, id));
        }
        None
    }

    pub(crate) fn report(&self, incident: Incident) {
        lock(&self.incidents).push(incident);
    }

    /// Reads. A failure inside the store is a miss that is reported.
    pub(crate) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<Option<T>>,
    ) -> Option<T> {
        if self.mode == Mode::Closed {
            return None;
        }
        match query(&lock(&self.connection)) {
            Ok(found) => found,
            Err(error) => {
                self.mark_damage(&error);
                self.report(Incident::Unreadable {
                    reason: error.to_string(),
                });
                None
            }
        }
    }

    /// Writes, in one transaction that takes the writer's turn at once.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ArchiveError> {
        if self.mode != Mode::Writable {
            return Err(ArchiveError::NotWritable {
                path: self.folder.clone(),
            });
        }
        let mut connection = lock(&self.connection);
        let transaction = connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(at(&self.folder))?;
        let outcome = change(&transaction).and_then(|value| {
            transaction.commit()?;
            Ok(value)
        });
        outcome.map_err(|error| {
            self.mark_damage(&error);
            at(&self.folder)(error)
        })
    }

    /// Damage can show long after the opening: the next one is told to rebuild.
    fn mark_damage(&self, error: &rusqlite::Error) {
        if self.mode == Mode::Writable && is_damage(error) {
            // Where the mark cannot be left, the next opening finds out as this one did.
            let _unmarked = File::create(self.folder.join(schema::MARK));
        }
    }
}

pub(crate) fn io_at(folder: &Path) -> impl FnOnce(std::io::Error) -> ArchiveError {
    let path = folder.to_path_buf();
    move |source| ArchiveError::Folder { path, source }
}

/// A lock that a panic elsewhere has poisoned still guards whole values: every change of the
/// connection is a transaction.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub(crate) fn at(folder: &Path) -> impl FnOnce(rusqlite::Error) -> ArchiveError {
    let path = folder.to_path_buf();
    move |source| ArchiveError::Store { path, source }
}
