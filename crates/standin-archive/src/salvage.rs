//! Rebuilding an archive whose database is damaged: the file is moved aside, a new one is made,
//! and every row that can still be read and whose check holds is taken over.

use crate::incident::Incident;
use crate::payload::checksum;
use crate::schema;
use crate::store::{ArchiveError, at};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(crate) fn rebuild(
    folder: &Path,
    reason: &rusqlite::Error,
    incidents: &mut Vec<Incident>,
) -> Result<(), ArchiveError> {
    let file = folder.join(schema::FILE);
    let aside = free_name(folder);
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |source| ArchiveError::Folder { path, source }
    };
    std::fs::rename(&file, &aside).map_err(io(&file))?;
    for suffix in ["-wal", "-shm"] {
        let from = folder.join(format!("{}{suffix}", schema::FILE));
        if from.exists() {
            let mut to = aside.clone().into_os_string();
            to.push(suffix);
            std::fs::rename(&from, PathBuf::from(to)).map_err(io(&from))?;
        }
    }
    let (fresh, _mode) = crate::store::connect(&file, crate::store::Access::ReadWrite, incidents)
        .map_err(at(folder))?;
    let salvaged = match Connection::open_with_flags(&aside, OpenFlags::SQLITE_OPEN_READ_ONLY) {
        Ok(damaged) => take_over(&damaged, &fresh).map_err(at(folder))?,
        Err(_) => 0,
    };
    incidents.push(Incident::Rebuilt {
        aside,
        reason: reason.to_string(),
        salvaged,
    });
    Ok(())
}

fn free_name(folder: &Path) -> PathBuf {
    let mut index = 1_u32;
    loop {
        let name = folder.join(format!("damaged-{index}.sqlite"));
        if !name.exists() {
            return name;
        }
        index += 1;
    }
}

/// The tables whose rows refer to a payload, with the columns of the identity that its check
/// covers ("" for blobs, whose payloads are shared) and the column of the payload.
const REFERRING: [(&str, usize, &[usize], usize); 4] = [
    ("module", 2, &[0], 1),
    ("recipe", 4, &[0, 1], 2),
    ("executable", 6, &[], 3),
    ("proof", 3, &[1], 2),
];

fn take_over(damaged: &Connection, fresh: &Connection) -> rusqlite::Result<u64> {
    let mut rows = 0;
    fresh.execute_batch("BEGIN IMMEDIATE; DELETE FROM clock")?;
    for (table, columns) in [("generation", 3), ("ledger", 7), ("clock", 1)] {
        for row in readable(damaged, table, columns) {
            rows += insert(fresh, table, &row)?;
        }
    }
    fresh.execute_batch("INSERT INTO clock SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM clock)")?;
    let mut moved: HashMap<i64, i64> = HashMap::new();
    for (table, columns, identity, payload_column) in REFERRING {
        for mut row in readable(damaged, table, columns) {
            let Some(Value::Integer(old)) = row.get(payload_column).cloned() else {
                continue;
            };
            let covers = if identity.is_empty() {
                b"blob".to_vec()
            } else {
                identity.iter().flat_map(|i| raw(&row[*i])).collect()
            };
            let new = match moved.get(&old) {
                Some(new) if identity.is_empty() => *new,
                _ => match copy_payload(damaged, fresh, old, &covers)? {
                    Some(new) => new,
                    None => continue,
                },
            };
            moved.insert(old, new);
            row[payload_column] = Value::Integer(new);
            rows += insert(fresh, table, &row)?;
        }
    }
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
    identity: &[u8],
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
    if checksum(identity, &bytes) != expected {
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
