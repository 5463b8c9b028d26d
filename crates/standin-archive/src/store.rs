//! The archive: opening it, and finding things in it.

use crate::incident::Incident;
use crate::payload::{Blob, ModuleKey, checksum};
use crate::schema;
use crate::stamp::Stamp;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use standin::key::{ExactKey, ExecutableKey};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

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
pub struct Generation(pub(crate) i64);

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
    /// Held shared as long as this opening may write: who replaces the database's file takes it
    /// alone.
    presence: Option<File>,
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
        let file = folder.join(schema::FILE);
        if access == Access::ReadWrite {
            let made = std::fs::create_dir_all(folder);
            if let (Err(source), false) = (made, folder.is_dir()) {
                return Err(ArchiveError::Folder {
                    path: folder.to_path_buf(),
                    source,
                });
            }
        }
        let mut presence = match access {
            Access::ReadWrite => presence(folder),
            Access::ReadOnly => None,
        };
        if let Some(file) = &presence {
            file.lock_shared().map_err(io_at(folder))?;
        }
        let mark = folder.join(schema::MARK);
        let mut opened = if mark.exists() {
            Err(damage("it was found damaged while it was in use"))
        } else {
            connect(&file, access, &mut incidents)
        };
        if opened.as_ref().is_err_and(is_damage)
            && let Some(held) = presence.take()
        {
            // Alone, or another process has it open and will have to live with it; the next
            // opening tries again.
            held.unlock().map_err(io_at(folder))?;
            if held.try_lock().is_ok() {
                // Another process may have mended it meanwhile.
                if !mark.exists() {
                    opened = connect(&file, access, &mut incidents);
                }
                if let Err(error) = &opened
                    && is_damage(error)
                {
                    crate::salvage::rebuild(folder, error, &mut incidents)?;
                    if mark.exists() {
                        std::fs::remove_file(&mark).map_err(io_at(&mark))?;
                    }
                    opened = connect(&file, access, &mut incidents);
                }
                held.unlock().map_err(io_at(folder))?;
            }
            held.lock_shared().map_err(io_at(folder))?;
            presence = Some(held);
        }
        let (connection, mode) = match opened {
            Ok(opened) => opened,
            Err(error) if is_damage(&error) => {
                incidents.push(Incident::Unreadable {
                    reason: error.to_string(),
                });
                (
                    Connection::open_in_memory().map_err(at(folder))?,
                    Mode::Closed,
                )
            }
            Err(error) => return Err(at(folder)(error)),
        };
        Ok(Self {
            folder: folder.to_path_buf(),
            mode,
            connection: Mutex::new(connection),
            presence,
            incidents: Mutex::new(incidents),
        })
    }

    /// Removes an archive: the documented reset. Nothing else in the folder is touched.
    ///
    /// # Errors
    /// A file of the archive cannot be removed.
    pub fn reset(folder: &Path) -> Result<(), ArchiveError> {
        let names = ["", "-wal", "-shm"].map(|suffix| format!("{}{suffix}", schema::FILE));
        for name in names
            .iter()
            .map(String::as_str)
            .chain([schema::LOCK, schema::MARK])
        {
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

    /// Waits for nobody: true where no other opening may write any more, until this one is
    /// dropped.
    pub(crate) fn try_alone(&self) -> bool {
        self.presence
            .as_ref()
            .is_some_and(|file| file.unlock().is_ok() && file.try_lock().is_ok())
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
                .query_row([stamp.to_bytes()], |row| row.get(0).map(Generation))
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
                |row| row.get(0).map(Generation),
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
        self.payload("module", &identity, payload)
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
                self.payload("recipe", &identity, payload)
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

    /// Whether a blob is kept for an executable. Reads no payload and changes nothing.
    pub fn has_blob(&self, generation: Generation, identity: Identity) -> bool {
        self.payload_of(generation, identity).is_some()
    }

    /// The blob of an executable. A damaged one is dropped and is a miss.
    pub fn find_blob(&self, generation: Generation, identity: Identity) -> Option<Blob> {
        let payload = self.payload_of(generation, identity)?;
        // A segment serves many executables, so its payload carries no one's identity.
        let bytes = self.payload("blob", b"blob", payload)?;
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
                        generation.0,
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
                .query_row(params![generation.0, name], |row| row.get(0))
                .optional()
        })?;
        self.payload("proof", name.as_bytes(), payload)
    }

    /// Reads a payload and compares its check. A damaged one is dropped with what refers to it.
    fn payload(&self, what: &'static str, identity: &[u8], id: i64) -> Option<Vec<u8>> {
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
        if checksum(identity, &bytes) == expected {
            return Some(bytes);
        }
        self.report(Incident::Damaged {
            what,
            key: identity.iter().map(|byte| format!("{byte:02x}")).collect(),
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

/// The file by which openings that may write know of each other. Where it cannot be made,
/// nothing can be written either.
fn presence(folder: &Path) -> Option<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(schema::LOCK))
        .ok()
}

fn io_at(folder: &Path) -> impl FnOnce(std::io::Error) -> ArchiveError {
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

/// Whether the file itself is at fault.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase)
    )
}

/// How long a writer waits for its turn.
const TURN: Duration = Duration::from_secs(60);

pub(crate) fn connect(
    file: &Path,
    access: Access,
    incidents: &mut Vec<Incident>,
) -> rusqlite::Result<(Connection, Mode)> {
    let absent = !file.exists();
    if access == Access::ReadOnly && absent {
        return Ok((Connection::open_in_memory()?, Mode::Closed));
    }
    not_another_file(file)?;
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let writable = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let readable = flags | OpenFlags::SQLITE_OPEN_READ_ONLY;
    let mut mode = match access {
        Access::ReadWrite => Mode::Writable,
        Access::ReadOnly => Mode::Readable,
    };
    let mut connection = match mode {
        Mode::Writable => Connection::open_with_flags(file, writable),
        _ => Connection::open_with_flags(file, readable),
    }?;
    connection.busy_timeout(TURN)?;
    if mode == Mode::Writable
        && let Err(error) = prepare(&connection)
    {
        use rusqlite::ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
        let refused = matches!(
            error.sqlite_error_code(),
            Some(CannotOpen | PermissionDenied | ReadOnly)
        );
        if !refused {
            return Err(error);
        }
        incidents.push(Incident::ReadOnly {
            reason: error.to_string(),
        });
        if absent {
            return Ok((Connection::open_in_memory()?, Mode::Closed));
        }
        connection = open_unwritable(file, readable)?;
        mode = Mode::Readable;
    }
    let version: i64 = match connection.query_row("PRAGMA user_version", [], |row| row.get(0)) {
        Err(error) if mode == Mode::Readable && !is_damage(&error) => {
            connection = open_unwritable(file, readable)?;
            connection.query_row("PRAGMA user_version", [], |row| row.get(0))?
        }
        other => other?,
    };
    if version > schema::VERSION {
        incidents.push(Incident::FromTheFuture { version });
        return Ok((connection, Mode::Closed));
    }
    if version < schema::VERSION {
        // Only reached for reading: whoever writes has made the tables above.
        return Ok((connection, Mode::Closed));
    }
    Ok((connection, mode))
}

/// SQLite would take a file that is too short to be a database for an empty one, and write over
/// it. Whatever it was, it is moved aside like any other damaged file.
fn not_another_file(file: &Path) -> rusqlite::Result<()> {
    use std::io::Read;
    const MAGIC: &[u8; 16] = b"SQLite format 3\0";
    let mut start = Vec::with_capacity(MAGIC.len());
    let read =
        File::open(file).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    if read.is_err() || start.is_empty() || start == MAGIC {
        return Ok(());
    }
    Err(damage("the file is not a database"))
}

fn damage(reason: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB),
        Some(reason.to_owned()),
    )
}

/// Opens a database in a place where not even its shared-memory file can be made. Nobody can
/// write there, so it cannot change while it is read.
fn open_unwritable(file: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let path = file.to_string_lossy();
    let escaped = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    Connection::open_with_flags(
        format!("file:{escaped}?immutable=1"),
        flags | OpenFlags::SQLITE_OPEN_URI,
    )
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if version == schema::VERSION {
        // A commit that was acknowledged survives a power cut.
        return connection.execute_batch("PRAGMA synchronous = FULL");
    }
    if version > schema::VERSION {
        return Ok(());
    }
    connection.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
    )?;
    // Another process may be making the tables too: whoever comes second finds them.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let made = if version == 0 {
        connection.execute_batch(&schema::creation())
    } else {
        Ok(())
    };
    match made {
        Ok(()) => connection.execute_batch("COMMIT"),
        Err(error) => {
            connection.execute_batch("ROLLBACK")?;
            Err(error)
        }
    }
}
