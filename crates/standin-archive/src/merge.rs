//! Merging archives: copying row by row, with every check looked at.

use crate::ledger::MADE;
use crate::maintain::Progress;
use crate::payload::{blob_identity, checksum, proof_identity};
use crate::schema;
use crate::stamp::Stamp;
use crate::store::{Archive, ArchiveError, Mode, at, lock};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What a merge took over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Merged {
    /// Modules that were new.
    pub modules: u64,
    /// Recipes that were new.
    pub recipes: u64,
    /// Blobs that were new.
    pub blobs: u64,
    /// Ledger entries that were new or said more.
    pub ledger: u64,
    /// Damaged payloads that were left behind.
    pub damaged: u64,
}

impl Archive {
    /// Takes over from another archive what this one lacks: modules, recipes (their uses are
    /// added up), blobs of every stamp, proofs and ledger entries. What is damaged there is
    /// left behind.
    ///
    /// # Errors
    /// This archive cannot be written to.
    pub fn merge_from(&self, other: &Self, progress: Progress<'_>) -> Result<Merged, ArchiveError> {
        self.write(|store| copy_all(other, store, progress))
    }

    /// Makes a new archive of what others hold. It is written beside its place without a
    /// journal and moved there when it is whole and on the disk, so each byte is written once
    /// and a merge that is interrupted leaves nothing under the name.
    ///
    /// # Errors
    /// There is an archive in `into` already, or it cannot be written.
    pub fn merge(
        sources: &[Self],
        into: &Path,
        progress: Progress<'_>,
    ) -> Result<Merged, ArchiveError> {
        let file = into.join(schema::FILE);
        let exists = || ArchiveError::Exists {
            path: into.to_path_buf(),
        };
        let io = |source| ArchiveError::Folder {
            path: into.to_path_buf(),
            source,
        };
        fs::create_dir_all(into).map_err(io)?;
        // Nobody makes another archive there while this one is built.
        let _alone = crate::opening::alone(into).ok_or_else(exists)?;
        if file.exists() {
            return Err(exists());
        }
        let building = into.join(format!("{}.merging", schema::FILE));
        if building.exists() {
            fs::remove_file(&building).map_err(io)?;
        }
        let built = build(&building, sources, progress).map_err(at(into));
        let moved = built.and_then(|merged| {
            let sync = fs::File::open(&building).and_then(|file| file.sync_all());
            sync.and_then(|()| fs::rename(&building, &file))
                .map_err(io)?;
            Ok(merged)
        });
        if moved.is_err() {
            // What is left is removed by the next merge into this folder.
            let _left = fs::remove_file(&building);
        }
        moved
    }
}

fn build(file: &Path, sources: &[Archive], progress: Progress<'_>) -> rusqlite::Result<Merged> {
    let store = crate::salvage::blank(file)?;
    store.execute_batch("BEGIN")?;
    let mut all = Merged::default();
    for source in sources {
        let merged = copy_all(source, &store, progress)?;
        all.modules += merged.modules;
        all.recipes += merged.recipes;
        all.blobs += merged.blobs;
        all.ledger += merged.ledger;
        all.damaged += merged.damaged;
    }
    store.execute_batch("COMMIT")?;
    store.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    Ok(all)
}

fn copy_all(
    other: &Archive,
    store: &Connection,
    progress: Progress<'_>,
) -> rusqlite::Result<Merged> {
    let mut merged = Merged::default();
    if other.mode == Mode::Closed {
        return Ok(merged);
    }
    let source = lock(&other.connection);
    let total: i64 = source.query_row(
        "SELECT coalesce(sum(size), 0) FROM payload INDEXED BY size_by_payload",
        [],
        |row| row.get(0),
    )?;
    let total = u64::try_from(total).unwrap_or(0);
    let mut done = 0;
    let mut copy = Copy {
        source: &source,
        target: store,
        merged: &mut merged,
        step: &mut |bytes| {
            done += bytes;
            progress(done, total);
        },
    };
    copy.modules()?;
    copy.recipes()?;
    for pair in copy.generations()? {
        let damaged_before = copy.merged.damaged;
        copy.executables(pair)?;
        copy.proofs(pair)?;
        copy.ledger(pair)?;
        if copy.merged.damaged == damaged_before {
            copy.lists(pair)?;
        }
    }
    progress(total, total);
    Ok(merged)
}

/// One stamp's generations on both sides.
#[derive(Debug, Clone, Copy)]
struct Pair {
    from: i64,
    into: i64,
    scope: u128,
}

/// A merge on its way.
struct Copy<'a> {
    source: &'a Connection,
    target: &'a Connection,
    merged: &'a mut Merged,
    step: &'a mut dyn FnMut(u64),
}

impl Copy<'_> {
    fn modules(&mut self) -> rusqlite::Result<()> {
        let mut query = self.source.prepare("SELECT key, payload FROM module")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let key: Vec<u8> = row.get(0)?;
            let there: bool = self
                .target
                .prepare_cached("SELECT 1 FROM module WHERE key = ?1")?
                .exists([&key])?;
            if there {
                continue;
            }
            if let Some(payload) = self.payload(row.get(1)?, |_| key.clone())? {
                self.target
                    .prepare_cached("INSERT INTO module VALUES (?1, ?2)")?
                    .execute(params![key, payload])?;
                self.merged.modules += 1;
            }
        }
        Ok(())
    }

    fn recipes(&mut self) -> rusqlite::Result<()> {
        let mut query = self
            .source
            .prepare("SELECT key, body_hash, payload, uses FROM recipe")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let key: Vec<u8> = row.get(0)?;
            let body_hash: Vec<u8> = row.get(1)?;
            let uses: i64 = row.get(3)?;
            let changed = self
                .target
                .prepare_cached(
                    "UPDATE recipe SET uses = uses + ?3 WHERE key = ?1 AND body_hash = ?2",
                )?
                .execute(params![key, body_hash, uses])?;
            if changed > 0 {
                continue;
            }
            let identity = [key.as_slice(), &body_hash].concat();
            if let Some(payload) = self.payload(row.get(2)?, |_| identity.clone())? {
                self.target
                    .prepare_cached("INSERT INTO recipe VALUES (?1, ?2, ?3, ?4)")?
                    .execute(params![key, body_hash, payload, uses])?;
                self.merged.recipes += 1;
            }
        }
        Ok(())
    }

    /// The generations of both sides: each of the source's, and the one of the same stamp here.
    fn generations(&mut self) -> rusqlite::Result<Vec<Pair>> {
        let mut query = self
            .source
            .prepare("SELECT id, stamp, complete FROM generation ORDER BY id")?;
        let mut rows = query.query([])?;
        let mut pairs = Vec::new();
        while let Some(row) = rows.next()? {
            let stamp: Vec<u8> = row.get(1)?;
            let complete: bool = row.get(2)?;
            // What no stamp leads to cannot be asked for.
            let Some(scope) = Stamp::from_bytes(&stamp).map(|stamp| stamp.scope()) else {
                continue;
            };
            self.target.execute(
                "INSERT INTO generation (stamp, complete) VALUES (?1, ?2)
                 ON CONFLICT (stamp) DO UPDATE SET complete = max(complete, excluded.complete)",
                params![stamp, complete],
            )?;
            let into = self.target.query_row(
                "SELECT id FROM generation WHERE stamp = ?1",
                [&stamp],
                |row| row.get(0),
            )?;
            pairs.push(Pair {
                from: row.get(0)?,
                into,
                scope,
            });
        }
        Ok(pairs)
    }

    fn executables(&mut self, pair: Pair) -> rusqlite::Result<()> {
        let mut query = self.source.prepare(
            "SELECT key, second, payload, cost_us, last_use FROM executable WHERE generation = ?1",
        )?;
        let mut rows = query.query([pair.from])?;
        let mut moved: HashMap<i64, Option<i64>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let key: Vec<u8> = row.get(0)?;
            let second: Vec<u8> = row.get(1)?;
            if self.has(pair, &key, &second)? {
                continue;
            }
            let old: i64 = row.get(2)?;
            let payload = match moved.get(&old) {
                Some(payload) => *payload,
                None => {
                    let payload =
                        self.payload(old, |blob| blob_identity(pair.scope, &key, &second, blob))?;
                    self.merged.blobs += u64::from(payload.is_some());
                    moved.insert(old, payload);
                    payload
                }
            };
            if let Some(payload) = payload {
                self.target
                    .prepare_cached("INSERT INTO executable VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                    .execute(params![
                        pair.into,
                        key,
                        second,
                        payload,
                        row.get::<_, i64>(3)?,
                        row.get::<_, i64>(4)?
                    ])?;
            }
        }
        Ok(())
    }

    /// Whether the target has this executable.
    fn has(&self, pair: Pair, key: &[u8], second: &[u8]) -> rusqlite::Result<bool> {
        self.target
            .prepare_cached(
                "SELECT 1 FROM executable WHERE generation = ?1 AND key = ?2 AND second = ?3",
            )?
            .exists(params![pair.into, key, second])
    }

    fn proofs(&mut self, pair: Pair) -> rusqlite::Result<()> {
        let mut query = self
            .source
            .prepare("SELECT name, payload FROM proof WHERE generation = ?1")?;
        let mut rows = query.query([pair.from])?;
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let there = self
                .target
                .prepare_cached("SELECT 1 FROM proof WHERE generation = ?1 AND name = ?2")?
                .exists(params![pair.into, name])?;
            if there {
                continue;
            }
            if let Some(payload) =
                self.payload(row.get(1)?, |_| proof_identity(pair.scope, name.as_bytes()))?
            {
                self.target
                    .prepare_cached("INSERT INTO proof VALUES (?1, ?2, ?3)")?
                    .execute(params![pair.into, name, payload])?;
            }
        }
        Ok(())
    }

    /// What lists are done, where nothing of their generation was left behind.
    fn lists(&mut self, pair: Pair) -> rusqlite::Result<()> {
        let mut query = self
            .source
            .prepare("SELECT mode, digest, tally FROM list WHERE generation = ?1")?;
        let mut rows = query.query([pair.from])?;
        while let Some(row) = rows.next()? {
            self.target
                .prepare_cached("INSERT OR IGNORE INTO list VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![
                    pair.into,
                    row.get::<_, String>(0)?,
                    row.get::<_, Vec<u8>>(1)?,
                    row.get::<_, Vec<u8>>(2)?
                ])?;
        }
        Ok(())
    }

    /// Of two entries for one executable the one that says it is made stands, else the one with
    /// more attempts.
    fn ledger(&mut self, pair: Pair) -> rusqlite::Result<()> {
        let mut left_behind = self.source.prepare(
            "SELECT 1 FROM executable WHERE generation = ?1 AND key = ?2 AND second = ?3",
        )?;
        let mut query = self.source.prepare(
            "SELECT mode, key, second, state, attempts, reason FROM ledger WHERE generation = ?1",
        )?;
        let mut rows = query.query([pair.from])?;
        while let Some(row) = rows.next()? {
            let (key, second) = (row.get::<_, Vec<u8>>(1)?, row.get::<_, Vec<u8>>(2)?);
            if row.get::<_, i64>(3)? == MADE
                && left_behind.exists(params![pair.from, key, second])?
                && !self.has(pair, &key, &second)?
            {
                continue;
            }
            let changed = self
                .target
                .prepare_cached(
                    "INSERT INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                     ON CONFLICT (generation, key, second, mode) DO UPDATE
                     SET state = excluded.state, attempts = excluded.attempts,
                         reason = excluded.reason
                     WHERE (excluded.state = 1 AND state != 1)
                        OR (state != 1 AND excluded.attempts > attempts)",
                )?
                .execute(params![
                    pair.into,
                    row.get::<_, String>(0)?,
                    row.get::<_, Vec<u8>>(1)?,
                    row.get::<_, Vec<u8>>(2)?,
                    row.get::<_, i64>(3)?,
                    row.get::<_, i64>(4)?,
                    row.get::<_, String>(5)?
                ])?;
            self.merged.ledger += changed as u64;
        }
        Ok(())
    }

    /// Copies a payload whose check holds. None where it does not.
    fn payload(
        &mut self,
        id: i64,
        identity: impl Fn(&[u8]) -> Vec<u8>,
    ) -> rusqlite::Result<Option<i64>> {
        let mut query = self
            .source
            .prepare_cached("SELECT checksum, bytes FROM payload WHERE id = ?1")?;
        let copied = query
            .query_row([id], |row| {
                let expected: i64 = row.get(0)?;
                let bytes = row.get_ref(1)?.as_bytes().unwrap_or_default();
                (self.step)(bytes.len() as u64);
                if checksum(&identity(bytes), bytes) != expected {
                    return Ok(None);
                }
                let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
                self.target
                    .prepare_cached(
                        "INSERT INTO payload (checksum, size, bytes) VALUES (?1, ?2, ?3)",
                    )?
                    .execute(params![expected, size, bytes])?;
                Ok(Some(self.target.last_insert_rowid()))
            })
            .optional()?
            .flatten();
        self.merged.damaged += u64::from(copied.is_none());
        Ok(copied)
    }
}
