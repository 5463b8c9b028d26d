//! Rebuilding an archive whose database is damaged: a new one is made beside it, every row that can
//! still be read and whose check holds is taken over, and it takes the damaged one's place.

use crate::incident::Incident;
use crate::maintain::scopes;
use crate::payload::{blob_identity, checksum, proof_identity};
use crate::schema;
use crate::store::{ArchiveError, at};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

pub(crate) fn rebuild(
    folder: &Path,
    reason: &rusqlite::Error,
    incidents: &mut Vec<Incident>,
) -> Result<(), ArchiveError> {
    let file = folder.join(schema::FILE);
    let building = folder.join(schema::REBUILDING);
    let aside = folder.join(schema::ASIDE);
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ArchiveError::Folder { path, source }
    };
    for path in [&building, &aside] {
        for suffix in SUFFIXES {
            remove(&with_suffix(path, suffix)).map_err(io(path))?;
        }
    }
    drop(blank(&building).map_err(at(folder))?);
    let salvaged = match open_damaged(&file, &building) {
        Some(damaged) => {
            let fresh = Connection::open(&building).map_err(at(folder))?;
            let quick = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF";
            fresh.execute_batch(quick).map_err(at(folder))?;
            let rows = take_over(&damaged, &fresh).map_err(at(folder))?;
            fresh
                .query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))
                .map_err(at(folder))?;
            rows
        }
        None => 0,
    };
    File::open(&building)
        .and_then(|file| file.sync_all())
        .map_err(io(&building))?;
    // The journal goes first: under the new file's name it would be taken for the new file's.
    remove(&with_suffix(&file, "-shm")).map_err(io(&file))?;
    let journal = with_suffix(&file, "-wal");
    if fs::metadata(&journal).is_ok_and(|known| known.len() > 0) {
        fs::rename(&journal, with_suffix(&aside, "-wal")).map_err(io(&journal))?;
    } else {
        remove(&journal).map_err(io(&journal))?;
    }
    if file.exists() {
        fs::rename(&file, &aside).map_err(io(&file))?;
    }
    fs::rename(&building, &file).map_err(io(&building))?;
    incidents.push(Incident::Rebuilt {
        aside,
        reason: reason.to_string(),
        salvaged,
    });
    Ok(())
}

/// What SQLite appends to a database's name for the files beside it.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes an empty archive under a name of its own. Nothing is kept of it unless all of it is, so
/// it is written without a journal.
pub(crate) fn blank(file: &Path) -> rusqlite::Result<Connection> {
    let store = Connection::open(file)?;
    store.execute_batch(&format!(
        "PRAGMA page_size = {}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;",
        schema::PAGE
    ))?;
    store.execute_batch(&schema::creation())?;
    Ok(store)
}

/// Whether the database has the format's tables, each where it has to be.
pub(crate) fn has_tables(store: &Connection) -> rusqlite::Result<bool> {
    let mut query = store.prepare("SELECT sql, rootpage FROM sqlite_schema ORDER BY rowid")?;
    let mut rows = query.query([])?;
    let mut expected = schema::definitions();
    // The first page is the schema's own.
    let mut root = 1;
    while let Some(row) = rows.next()? {
        root += 1;
        if row.get_ref(1)?.as_i64().ok() != Some(root) {
            return Ok(false);
        }
        let found = row.get_ref(0)?;
        // An index that a table's rules imply has no definition.
        if found != ValueRef::Null && found.as_str().ok() != expected.next() {
            return Ok(false);
        }
    }
    Ok(expected.next().is_none())
}

/// Opens a damaged database, after its first page was written anew if that does not lead to the
/// tables. None where it is no database at all.
fn open_damaged(file: &Path, blank: &Path) -> Option<Connection> {
    let open = || {
        let store = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        matches!(has_tables(&store), Ok(true)).then_some(store)
    };
    open().or_else(|| {
        graft_first_page(file, blank).ok()?;
        open()
    })
}

/// Writes the first page of an empty archive over that of a damaged one.
fn graft_first_page(file: &Path, blank: &Path) -> io::Result<()> {
    // Offsets in a database's header: https://www.sqlite.org/fileformat.html, 1.3.
    const VERSIONS: std::ops::Range<usize> = 18..20;
    const PAGES: std::ops::Range<usize> = 28..32;
    const WAL: u8 = 2;
    let mut page = vec![0; schema::PAGE];
    File::open(blank)?.read_exact(&mut page)?;
    let mut damaged = File::options().read(true).write(true).open(file)?;
    let pages = damaged.metadata()?.len().div_ceil(schema::PAGE as u64);
    page[VERSIONS].fill(WAL);
    page[PAGES].copy_from_slice(&u32::try_from(pages).unwrap_or(u32::MAX).to_be_bytes());
    damaged.write_all(&page)
}

/// The tables whose rows refer to a payload, with their columns and the column of the payload.
const REFERRING: [(&str, usize, usize); 4] = [
    ("module", 2, 1),
    ("recipe", 4, 2),
    ("executable", 6, 3),
    ("proof", 3, 2),
];

/// What a payload's check covers, by the row that refers to it.
fn covers(
    table: &str,
    row: &[Value],
    scopes: &HashMap<i64, u128>,
    bytes: &[u8],
) -> Option<Vec<u8>> {
    let scope = || match row.first() {
        Some(Value::Integer(generation)) => scopes.get(generation).copied(),
        _ => None,
    };
    match table {
        "module" => Some(raw(&row[0])),
        "recipe" => Some([raw(&row[0]), raw(&row[1])].concat()),
        "executable" => Some(blob_identity(scope()?, &raw(&row[1]), &raw(&row[2]), bytes)),
        _ => Some(proof_identity(scope()?, &raw(&row[1]))),
    }
}

fn take_over(damaged: &Connection, fresh: &Connection) -> rusqlite::Result<u64> {
    let mut rows = 0;
    fresh.execute_batch("BEGIN IMMEDIATE; DELETE FROM clock")?;
    for (table, columns) in [("generation", 3), ("ledger", 7), ("clock", 1)] {
        for row in readable(damaged, table, columns) {
            rows += insert(fresh, table, &row)?;
        }
    }
    fresh.execute_batch("INSERT INTO clock SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM clock)")?;
    let scopes = scopes(fresh)?;
    let mut moved: HashMap<i64, i64> = HashMap::new();
    for (table, columns, payload_column) in REFERRING {
        for mut row in readable(damaged, table, columns) {
            let Some(Value::Integer(old)) = row.get(payload_column).cloned() else {
                continue;
            };
            let new = match moved.get(&old) {
                // Executables of one segment share it.
                Some(new) if table == "executable" => *new,
                _ => match copy_payload(damaged, fresh, old, |bytes| {
                    covers(table, &row, &scopes, bytes)
                })? {
                    Some(new) => new,
                    None => continue,
                },
            };
            moved.insert(old, new);
            row[payload_column] = Value::Integer(new);
            rows += insert(fresh, table, &row)?;
        }
    }
    // What was lost is not made any more: the next prebuild makes it again.
    fresh.execute(
        "DELETE FROM ledger WHERE state = ?1 AND NOT EXISTS
         (SELECT 1 FROM executable AS kept WHERE kept.generation = ledger.generation
          AND kept.key = ledger.key AND kept.second = ledger.second)",
        [crate::ledger::MADE],
    )?;
    fresh.execute_batch("COMMIT")?;
    Ok(rows)
}

fn raw(value: &Value) -> Vec<u8> {
    match value {
        Value::Blob(bytes) => bytes.clone(),
        Value::Text(text) => text.clone().into_bytes(),
        _ => Vec::new(),
    }
}

fn copy_payload(
    damaged: &Connection,
    fresh: &Connection,
    id: i64,
    identity: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
) -> rusqlite::Result<Option<i64>> {
    let read = damaged
        .prepare_cached("SELECT checksum, bytes FROM payload WHERE id = ?1")
        .and_then(|mut query| {
            query.query_row([id], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
            })
        });
    let Ok((expected, bytes)) = read else {
        return Ok(None);
    };
    if identity(&bytes).is_none_or(|covers| checksum(&covers, &bytes) != expected) {
        return Ok(None);
    }
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    fresh
        .prepare_cached("INSERT INTO payload (checksum, size, bytes) VALUES (?1, ?2, ?3)")?
        .execute(rusqlite::params![expected, size, bytes])?;
    Ok(Some(fresh.last_insert_rowid()))
}

/// The rows of a table that can be read: from its start up to the damage, and from its end
/// back to it.
fn readable(damaged: &Connection, table: &str, columns: usize) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    let ended = read_rows(
        damaged,
        &format!("SELECT * FROM {table}"),
        columns,
        &mut rows,
    );
    if ended {
        return rows;
    }
    let order: Vec<String> = (1..=columns)
        .map(|column| format!("{column} DESC"))
        .collect();
    let mut backwards = Vec::new();
    let query = format!("SELECT * FROM {table} ORDER BY {}", order.join(", "));
    read_rows(damaged, &query, columns, &mut backwards);
    for row in backwards {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    rows
}

/// Reads rows until the end or a fault; says whether it was the end.
fn read_rows(
    damaged: &Connection,
    query: &str,
    columns: usize,
    into: &mut Vec<Vec<Value>>,
) -> bool {
    let Ok(mut statement) = damaged.prepare(query) else {
        return false;
    };
    if statement.column_count() != columns {
        return false;
    }
    let Ok(mut cursor) = statement.query([]) else {
        return false;
    };
    loop {
        match cursor.next() {
            Ok(None) => return true,
            Err(_) => return false,
            Ok(Some(row)) => {
                let values = (0..columns).map(|column| row.get(column));
                if let Ok(values) = values.collect() {
                    into.push(values);
                }
            }
        }
    }
}

fn insert(fresh: &Connection, table: &str, row: &[Value]) -> rusqlite::Result<u64> {
    let places: Vec<&str> = row.iter().map(|_| "?").collect();
    let query = format!(
        "INSERT OR IGNORE INTO {table} VALUES ({})",
        places.join(", ")
    );
    // A row that the tables' own rules refuse is damaged too.
    match fresh
        .prepare_cached(&query)?
        .execute(params_from_iter(row.iter()))
    {
        Ok(count) => Ok(u64::try_from(count).unwrap_or(0)),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
        {
            Ok(0)
        }
        Err(error) => Err(error),
    }
}
