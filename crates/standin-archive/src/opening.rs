//! Opening an archive's database: who else has it open, what is wrong with it, and whether it can
//! be written to.

use crate::incident::Incident;
use crate::schema;
use crate::store::{Access, ArchiveError, Mode, at, io_at};
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long an opening waits for another process that is replacing the database (compacting or
/// rebuilding it). After that it is an archive without content: a start never hangs on one.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long who wants to replace the database waits for others to be gone. Not nothing: a process
/// that is just being started holds what its parent holds until it becomes another program.
const ALONE_PATIENCE: Duration = Duration::from_millis(500);

/// The lock by which openings know of each other: held shared by each, and alone by who replaces
/// the database's file. A reader holds it too, because SQLite's journal belongs to a name: an
/// opening that outlives the file under it would read the journal of the next.
#[derive(Debug)]
pub(crate) struct Presence(File);

#[derive(Debug, Clone, Copy)]
enum Hold {
    Shared,
    Alone,
}

impl Presence {
    /// None where there is no such file and none can be made or is to be made: then nobody can
    /// replace the database there either.
    fn new(folder: &Path, access: Access) -> Option<Self> {
        let file = folder.join(schema::LOCK);
        let made = match access {
            Access::ReadWrite => File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&file)
                .ok(),
            Access::ReadOnly => None,
        };
        made.or_else(|| File::open(&file).ok()).map(Self)
    }

    /// Whether the lock was got in time.
    fn take(&self, hold: Hold, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            let taken = match hold {
                Hold::Shared => self.0.try_lock_shared(),
                Hold::Alone => self.0.try_lock(),
            };
            match taken {
                Ok(()) => return true,
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                // Where files cannot be locked, nobody can replace one.
                Err(TryLockError::Error(_)) => return matches!(hold, Hold::Shared),
                Err(TryLockError::WouldBlock) => return false,
            }
        }
    }

    fn release(&self) {
        // A lock that cannot be given back goes with its file, at the latest.
        let _released = self.0.unlock();
    }
}

/// What an archive is opened with.
pub(crate) type Opened = (Option<Presence>, Connection, Mode);

/// Opens the database in a folder, and rebuilds it where it is damaged and nobody else has it
/// open.
pub(crate) fn open(
    folder: &Path,
    access: Access,
    incidents: &mut Vec<Incident>,
) -> Result<Opened, ArchiveError> {
    let presence = Presence::new(folder, access);
    let mut opened = share(folder, access, presence.as_ref(), incidents);
    if access == Access::ReadWrite
        && opened.as_ref().is_err_and(is_damage)
        && let Some(presence) = &presence
    {
        // Where others have it open it stays as it is: the next opening tries again.
        presence.release();
        if presence.take(Hold::Alone, ALONE_PATIENCE) {
            mend(folder, incidents);
            presence.release();
            // Only now, when nobody can replace it any more, is the rebuilt file opened.
            opened = share(folder, access, Some(presence), incidents);
        }
    }
    match opened {
        Ok((connection, mode)) => Ok((presence, connection, mode)),
        // What is there cannot be read, now or by this process. It is as good as nothing.
        Err(error) => {
            incidents.push(Incident::Unreadable {
                reason: error.to_string(),
            });
            let nothing = Connection::open_in_memory().map_err(at(folder))?;
            Ok((None, nothing, Mode::Closed))
        }
    }
}

/// Opens the database where nobody else has it open, and keeps others out until the presence is
/// dropped. None where somebody has it open.
pub(crate) fn open_alone(
    folder: &Path,
    incidents: &mut Vec<Incident>,
) -> Result<Option<Opened>, ArchiveError> {
    let Some(presence) = alone(folder) else {
        return Ok(None);
    };
    // Never by way of a shared hold: between the two somebody else could replace the file.
    mend(folder, incidents);
    let file = folder.join(schema::FILE);
    let (connection, mode) = connect(&file, Access::ReadWrite, incidents).map_err(at(folder))?;
    Ok(Some((Some(presence), connection, mode)))
}

/// Keeps everybody else out of a folder until it is dropped. None where somebody is in.
pub(crate) fn alone(folder: &Path) -> Option<Presence> {
    Presence::new(folder, Access::ReadWrite)
        .filter(|presence| presence.take(Hold::Alone, ALONE_PATIENCE))
}

/// Opens the database together with others.
fn share(
    folder: &Path,
    access: Access,
    presence: Option<&Presence>,
    incidents: &mut Vec<Incident>,
) -> rusqlite::Result<(Connection, Mode)> {
    if presence.is_some_and(|presence| !presence.take(Hold::Shared, PATIENCE)) {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
            Some("another process is replacing it".to_owned()),
        ));
    }
    if access == Access::ReadWrite {
        marked(folder)?;
    }
    connect(&folder.join(schema::FILE), access, incidents)
}

/// An error where a process left word that it found the database damaged.
fn marked(folder: &Path) -> rusqlite::Result<()> {
    if folder.join(schema::MARK).exists() {
        return Err(damage("it was found damaged while it was in use"));
    }
    Ok(())
}

/// Rebuilds the database if it is damaged still: another process may have done it before. Where
/// it cannot be rebuilt, a full disk for one, whoever opens it next finds it as it was.
fn mend(folder: &Path, incidents: &mut Vec<Incident>) {
    let file = folder.join(schema::FILE);
    let found = marked(folder).and_then(|()| connect(&file, Access::ReadWrite, incidents));
    let Err(error) = found.map(drop) else { return };
    if !is_damage(&error) {
        return;
    }
    let mark = folder.join(schema::MARK);
    let mended = crate::salvage::rebuild(folder, &error, incidents).and_then(|()| {
        if mark.exists() {
            std::fs::remove_file(&mark).map_err(io_at(&mark))?;
        }
        Ok(())
    });
    if let Err(error) = mended {
        incidents.push(Incident::Unreadable {
            reason: error.to_string(),
        });
    }
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
    if !crate::salvage::has_tables(&connection)? {
        return Err(damage("its tables are not an archive's"));
    }
    Ok((connection, mode))
}

/// SQLite would take a file that is too short to be a database for an empty one, and write over
/// it. Whatever it was, it is moved aside like any other damaged file.
///
/// The file is not opened for this: closing any descriptor of it would take away the locks that
/// this process's other openings of it hold (POSIX record locks belong to the process).
fn not_another_file(file: &Path) -> rusqlite::Result<()> {
    // A database's smallest page.
    const LEAST: u64 = 512;
    match std::fs::metadata(file) {
        Ok(known) if (1..LEAST).contains(&known.len()) => Err(damage("the file is not a database")),
        _ => Ok(()),
    }
}

fn damage(reason: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB),
        Some(reason.to_owned()),
    )
}

/// Opens a database in a place where not even its shared-memory file can be made. Nobody can
/// write there, so it cannot change while it is read and needs no locks.
fn open_unwritable(file: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let path = file.to_string_lossy();
    let escaped = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let mut journal = file.as_os_str().to_owned();
    journal.push("-wal");
    let pending = std::fs::metadata(journal).is_ok_and(|known| known.len() > 0);
    // A journal that a dead process left is part of what is committed, but SQLite passes over
    // it in a file that is said never to change. It reads one with an index in memory of its
    // own where it takes the file for itself alone.
    let (how, prepare) = if pending {
        ("vfs=unix-none", "PRAGMA locking_mode = EXCLUSIVE")
    } else {
        ("immutable=1", "")
    };
    let connection = Connection::open_with_flags(
        format!("file:{escaped}?{how}"),
        flags | OpenFlags::SQLITE_OPEN_URI,
    )?;
    connection.execute_batch(prepare)?;
    Ok(connection)
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
    connection.execute_batch(&format!(
        "PRAGMA page_size = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
        schema::PAGE
    ))?;
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
