//! Looking after an archive: verify, prune, compact.

use crate::batch::drop_payload;
use crate::payload::{blob_identity, checksum, proof_identity};
use crate::schema;
use crate::stamp::Stamp;
use crate::store::{Archive, ArchiveError, Generation, Mode, at, lock};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Progress of a long piece of work: bytes done, and bytes in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// What a verification is to do with what it finds damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Say so.
    No,
    /// Drop it, with what refers to it.
    Drop,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// Payloads read.
    pub payloads: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is damaged: what it is, and its key in hexadecimal digits.
    pub damaged: Vec<(&'static str, String)>,
    /// Payloads that nothing refers to.
    pub unreferred: u64,
    /// What the store's own check of its pages says, where it is not content.
    pub pages: Vec<String>,
}

impl Verification {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty() && self.pages.is_empty()
    }
}

/// What pruning dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Blobs.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whole generations whose place a complete one has taken.
    pub generations: u64,
}

/// Why a compaction left the archive as it was.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// The store refused.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The new file does not hold what the old one does. The old one stays.
    #[error("the compacted copy of {} differs from it; the archive stays as it is", path.display())]
    Differs {
        /// The archive's database.
        path: PathBuf,
    },
    /// Somebody else has the archive open, and would go on in the old file.
    #[error("archive {} is in use", folder.display())]
    InUse {
        /// The archive's folder.
        folder: PathBuf,
    },
    /// The new file could not take the old one's place.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Archive {
    /// Reads every payload and compares its check.
    ///
    /// # Errors
    /// Repairs were asked for and the archive cannot be written to.
    pub fn verify(
        &self,
        repair: Repair,
        progress: Progress<'_>,
    ) -> Result<Verification, ArchiveError> {
        let mut found = Verification::default();
        let mut bad = Vec::new();
        let read = self.read(|store| {
            found.pages = page_faults(store)?;
            let total: i64 =
                store.query_row("SELECT coalesce(sum(size), 0) FROM payload INDEXED BY size_by_payload", [], |r| {
                    r.get(0)
                })?;
            let total = u64::try_from(total).unwrap_or(0);
            prepare_references(store)?;
            let mut rows = store.prepare("SELECT id, checksum, bytes FROM payload ORDER BY id")?;
            let mut rows = rows.query([])?;
            let mut reference = store
                .prepare(
                    "SELECT kind, generation, key, second FROM temp.referred WHERE payload = ?1 LIMIT 1",
                )?;
            let scopes = scopes(store)?;
            while let Some(row) = rows.next()? {
                let id: i64 = row.get(0)?;
                let expected: i64 = row.get(1)?;
                let bytes = row.get_ref(2)?.as_bytes().unwrap_or_default();
                let referred: Option<(i64, i64, Vec<u8>, Vec<u8>)> = reference
                    .query_row([id], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                    })
                    .optional()?;
                found.payloads += 1;
                found.bytes += bytes.len() as u64;
                match referred {
                    None => {
                        found.unreferred += 1;
                        bad.push(id);
                    }
                    Some((kind, generation, key, second)) => {
                        let what = KINDS[usize::try_from(kind).unwrap_or(0) % KINDS.len()];
                        let scope = scopes.get(&generation).copied();
                        let covers = match (what, scope) {
                            ("blob", Some(scope)) => blob_identity(scope, &key, &second, bytes),
                            ("proof", Some(scope)) => proof_identity(scope, &key),
                            // Nobody can ask for what no stamp leads to.
                            ("blob" | "proof", None) => {
                                found.unreferred += 1;
                                bad.push(id);
                                continue;
                            }
                            _ => [key.as_slice(), &second].concat(),
                        };
                        if checksum(&covers, bytes) != expected {
                            found.damaged.push((what, hex(&key)));
                            bad.push(id);
                        }
                    }
                }
                if found.payloads.is_multiple_of(256) {
                    progress(found.bytes, total);
                }
            }
            progress(found.bytes, total);
            store.execute_batch("DROP TABLE temp.referred")?;
            Ok(Some(()))
        });
        if read.is_none() && self.mode != Mode::Closed {
            found
                .pages
                .push("the database cannot be read to its end".into());
        }
        if repair == Repair::Drop && !bad.is_empty() {
            self.write(|store| {
                for id in &bad {
                    drop_payload(store, *id)?;
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Drops what is worth least until the blobs take at most `max_bytes`: first whole
    /// generations of the same device whose place a complete one has taken, then executables,
    /// least recently used first and, of one use, the cheapest to build again first. Recipes
    /// stay: what was dropped can be built again.
    ///
    /// # Errors
    /// The archive cannot be written to.
    pub fn prune(&self, max_bytes: u64) -> Result<Pruned, ArchiveError> {
        self.write(|store| {
            let mut pruned = Pruned {
                generations: drop_superseded(store)?,
                ..Pruned::default()
            };
            let total: i64 = store.query_row(
                "SELECT coalesce(sum(size), 0) FROM payload INDEXED BY size_by_payload
                 WHERE id IN (SELECT payload FROM executable)",
                [],
                |row| row.get(0),
            )?;
            let mut left = u64::try_from(total).unwrap_or(0);
            // A segment is worth what the most valuable of its executables is worth.
            let mut victims = store.prepare(
                "SELECT payload, size FROM executable
                 JOIN payload INDEXED BY size_by_payload ON payload.id = executable.payload
                 GROUP BY payload ORDER BY max(last_use), max(cost_us), payload",
            )?;
            let mut victims = victims.query([])?;
            let mut dropped = Vec::new();
            while let Some(row) = victims.next()? {
                if left <= max_bytes {
                    break;
                }
                let (id, size): (i64, i64) = (row.get(0)?, row.get(1)?);
                let size = u64::try_from(size).unwrap_or(0);
                left = left.saturating_sub(size);
                pruned.blobs += 1;
                pruned.bytes += size;
                dropped.push(id);
            }
            for id in dropped {
                drop_payload(store, id)?;
            }
            Ok(pruned)
        })
    }

    /// Drops the generations of the same device whose place a complete one has taken.
    ///
    /// # Errors
    /// The archive cannot be written to.
    pub fn drop_superseded(&self) -> Result<u64, ArchiveError> {
        self.write(drop_superseded)
    }

    /// Writes the archive anew without holes. The new file is verified against the old one
    /// before it takes its place; until then nothing of the old one is touched.
    ///
    /// # Errors
    /// The archive cannot be written to, or the copy differs. The archive is then as it was.
    pub fn compact(folder: &Path) -> Result<(), CompactError> {
        let Some(archive) = Self::open_alone(folder)? else {
            return Err(CompactError::InUse {
                folder: folder.to_path_buf(),
            });
        };
        if archive.mode != Mode::Writable {
            return Err(ArchiveError::NotWritable {
                path: folder.to_path_buf(),
            }
            .into());
        }
        let file = folder.join(schema::FILE);
        let copy = folder.join(format!("{}.compacting", schema::FILE));
        remove(&copy)?;
        {
            let connection = lock(&archive.connection);
            connection
                .execute("VACUUM INTO ?1", [copy.to_string_lossy()])
                .map_err(at(folder))?;
            let fresh = Connection::open(&copy).map_err(at(folder))?;
            let same = content_hash(&fresh).map_err(at(folder))?
                == content_hash(&connection).map_err(at(folder))?;
            let sound = page_faults(&fresh).map_err(at(folder))?.is_empty();
            if !(same && sound) {
                drop(fresh);
                remove(&copy)?;
                return Err(CompactError::Differs { path: file });
            }
            fresh
                .pragma_update(None, "journal_mode", "WAL")
                .map_err(at(folder))?;
            drop(fresh);
            // The old file's journal is emptied first: it must not be taken for the new one's.
            connection
                .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
                .map_err(at(folder))?;
        }
        sync(&copy)?;
        std::fs::rename(&copy, &file).map_err(|source| CompactError::Io {
            path: copy.clone(),
            source,
        })?;
        Ok(())
    }

    /// The generations, in the order they were made.
    pub fn generations(&self) -> Vec<Generation> {
        self.read(|store| {
            let mut generations: Vec<Generation> = scopes(store)?
                .into_iter()
                .map(|(id, scope)| Generation { id, scope })
                .collect();
            generations.sort_unstable_by_key(|generation| generation.id);
            Ok(Some(generations))
        })
        .unwrap_or_default()
    }
}

const KINDS: [&str; 4] = ["module", "recipe", "blob", "proof"];

/// A table of what refers to each payload, by payload: one pass over the keys instead of a
/// search for each payload.
fn prepare_references(store: &Connection) -> rusqlite::Result<()> {
    store.execute_batch(
        "DROP TABLE IF EXISTS temp.referred;
         CREATE TEMP TABLE referred
           (payload INTEGER, kind INTEGER, generation INTEGER, key BLOB, second BLOB);
         INSERT INTO temp.referred SELECT payload, 0, 0, key, x'' FROM module;
         INSERT INTO temp.referred SELECT payload, 1, 0, key, body_hash FROM recipe;
         INSERT INTO temp.referred SELECT payload, 2, generation, key, second FROM executable;
         INSERT INTO temp.referred SELECT payload, 3, generation, CAST(name AS BLOB), x'' FROM proof;
         CREATE INDEX temp.referred_by_payload ON referred (payload);",
    )
}

/// The hash of every generation's stamp, by the number of its row.
pub(crate) fn scopes(store: &Connection) -> rusqlite::Result<HashMap<i64, u128>> {
    let mut query = store.prepare("SELECT id, stamp FROM generation")?;
    let rows = query.query_map([], |row| {
        let stamp: Vec<u8> = row.get(1)?;
        Ok((row.get(0)?, Stamp::from_bytes(&stamp).map(|s| s.scope())))
    })?;
    rows.filter_map(|row| match row {
        Ok((id, scope)) => scope.map(|scope| Ok((id, scope))),
        Err(error) => Some(Err(error)),
    })
    .collect()
}

fn page_faults(store: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = store.prepare("PRAGMA quick_check(20)")?;
    let rows = query.query_map([], |row| row.get::<_, String>(0))?;
    let mut faults: Vec<String> = rows.collect::<Result<_, _>>()?;
    faults.retain(|line| line != "ok");
    Ok(faults)
}

/// A hash of every row of every table, payloads included.
fn content_hash(store: &Connection) -> rusqlite::Result<u128> {
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for (table, order) in [
        ("module", "key"),
        ("recipe", "key, body_hash"),
        ("generation", "id"),
        ("executable", "generation, key, second"),
        ("ledger", "generation, mode, key, second"),
        ("list", "generation, mode, digest"),
        ("proof", "generation, name"),
        ("clock", "now"),
        ("payload", "id"),
    ] {
        let mut query = store.prepare(&format!("SELECT * FROM {table} ORDER BY {order}"))?;
        let columns = query.column_count();
        let mut rows = query.query([])?;
        hash.update(table.as_bytes());
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                use rusqlite::types::ValueRef;
                let value = row.get_ref(column)?;
                match value {
                    ValueRef::Null => hash.update(&[0]),
                    ValueRef::Integer(number) => {
                        hash.update(&[1]);
                        hash.update(&number.to_le_bytes());
                    }
                    ValueRef::Real(number) => {
                        hash.update(&[2]);
                        hash.update(&number.to_le_bytes());
                    }
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                        hash.update(&[3]);
                        hash.update(&(bytes.len() as u64).to_le_bytes());
                        hash.update(bytes);
                    }
                }
            }
        }
    }
    Ok(hash.digest128())
}

/// Drops the generations that a complete one of the same device has taken the place of.
fn drop_superseded(store: &Connection) -> rusqlite::Result<u64> {
    let rows = {
        let mut query = store.prepare("SELECT id, stamp, complete FROM generation ORDER BY id")?;
        let rows = query.query_map([], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                Stamp::from_bytes(&row.get::<_, Vec<u8>>(1)?),
                row.get::<_, bool>(2)?,
            ))
        })?;
        rows.collect::<Result<Vec<_>, _>>()?
    };
    let mut dropped = 0;
    for (id, stamp, _) in &rows {
        let Some(stamp) = stamp else { continue };
        let superseded = rows.iter().any(|(later, other, complete)| {
            later > id && *complete && other.as_ref().is_some_and(|other| other.same_device(stamp))
        });
        if superseded {
            drop_generation(store, *id)?;
            dropped += 1;
        }
    }
    Ok(dropped)
}

fn drop_generation(store: &Connection, id: i64) -> rusqlite::Result<()> {
    store.execute(
        "DELETE FROM payload WHERE id IN (SELECT payload FROM executable WHERE generation = ?1
         UNION SELECT payload FROM proof WHERE generation = ?1)",
        [id],
    )?;
    for table in ["executable", "proof", "ledger", "list"] {
        store.execute(&format!("DELETE FROM {table} WHERE generation = ?1"), [id])?;
    }
    store.execute("DELETE FROM generation WHERE id = ?1", params![id])?;
    Ok(())
}

fn remove(path: &Path) -> Result<(), CompactError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(CompactError::Io {
            path: path.to_path_buf(),
            source,
        }),
        _ => Ok(()),
    }
}

fn sync(path: &Path) -> Result<(), CompactError> {
    std::fs::File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|source| CompactError::Io {
            path: path.to_path_buf(),
            source,
        })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
