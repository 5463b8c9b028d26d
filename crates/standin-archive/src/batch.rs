//! Adding to an archive: everything of a batch becomes visible and durable at its commit, or
//! nothing does.

use crate::ledger::{Entry, Tally};
use crate::payload::{Blob, ModuleKey, blob_identity, checksum, proof_identity};
use crate::store::{Archive, ArchiveError, Generation, Identity};
use rusqlite::{Connection, OptionalExtension, params};
use standin::key::ExactKey;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Seed of the second hash over a recipe's body, so that it shares nothing with the key's.
const SECOND_SEED: u64 = 0x5374_616e_6469_6e32;

/// The second hash of what a key was made of: compared before anything found by the key is used.
#[must_use]
pub fn second_hash(bytes: &[u8]) -> u128 {
    xxh3_128_with_seed(bytes, SECOND_SEED)
}

/// Changes that are committed together.
#[derive(Debug, Default)]
pub struct Batch {
    changes: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Module(ModuleKey, Vec<u8>),
    Recipe(ExactKey, Vec<u8>, u64),
    Blob(Generation, Vec<Placed>, Blob),
    Used(Generation, Vec<Identity>),
    Proof(Generation, String, Vec<u8>),
    Ledger(Generation, String, Identity, Entry),
    ListDone(Generation, String, u128, Tally),
    Complete(Generation),
}

/// An executable that a blob holds, and what it cost to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The executable.
    pub identity: Identity,
    /// What building it took.
    pub cost: Duration,
}

impl Batch {
    /// A batch without changes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is nothing to commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// How many changes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Keeps a module. One that is there already stays as it is.
    pub fn put_module(&mut self, key: ModuleKey, bytes: Vec<u8>) {
        self.changes.push(Change::Module(key, bytes));
    }

    /// Keeps a recipe's body, and counts `uses` more uses of it. Another body under the same
    /// key is another recipe: both are kept.
    pub fn put_recipe(&mut self, key: ExactKey, body: Vec<u8>, uses: u64) {
        self.changes.push(Change::Recipe(key, body, uses));
    }

    /// Keeps a blob with the executables that it holds: one for binaries, any number for a
    /// segment. It takes the place of what was kept for them.
    pub fn put_blob(&mut self, generation: Generation, holds: Vec<Placed>, blob: Blob) {
        self.changes.push(Change::Blob(generation, holds, blob));
    }

    /// Notes that executables were used now.
    pub fn put_used(&mut self, generation: Generation, identities: Vec<Identity>) {
        self.changes.push(Change::Used(generation, identities));
    }

    /// Records a proof's verdict.
    pub fn put_proof(&mut self, generation: Generation, name: &str, verdict: Vec<u8>) {
        self.changes
            .push(Change::Proof(generation, name.to_owned(), verdict));
    }

    /// Records where a prebuild stands with one executable.
    pub fn put_ledger(
        &mut self,
        generation: Generation,
        mode: &str,
        identity: Identity,
        entry: Entry,
    ) {
        self.changes
            .push(Change::Ledger(generation, mode.to_owned(), identity, entry));
    }

    /// Records that a whole list was gone through, and with what result.
    pub fn put_list_done(
        &mut self,
        generation: Generation,
        mode: &str,
        digest: u128,
        tally: Tally,
    ) {
        self.changes
            .push(Change::ListDone(generation, mode.to_owned(), digest, tally));
    }

    /// Notes that a generation holds everything that it should: those of other drivers of the
    /// same device are no longer needed.
    pub fn put_complete(&mut self, generation: Generation) {
        self.changes.push(Change::Complete(generation));
    }

    /// Commits. Afterwards the batch is empty; where the commit fails it is as it was.
    ///
    /// # Errors
    /// The archive cannot be written to, or the disk is full.
    pub fn commit(&mut self, archive: &Archive) -> Result<(), ArchiveError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        archive.write(|store| {
            let now: i64 =
                store.query_row("UPDATE clock SET now = now + 1 RETURNING now", [], |row| {
                    row.get(0)
                })?;
            for change in &self.changes {
                apply(store, now, change)?;
            }
            Ok(())
        })?;
        self.changes.clear();
        Ok(())
    }
}

fn apply(store: &Connection, now: i64, change: &Change) -> rusqlite::Result<()> {
    match change {
        Change::Module(key, bytes) => {
            let key = key.0.to_le_bytes();
            let there: Option<i64> = store
                .prepare_cached("SELECT payload FROM module WHERE key = ?1")?
                .query_row([key], |row| row.get(0))
                .optional()?;
            if there.is_none() {
                let payload = put_payload(store, &key, bytes)?;
                store
                    .prepare_cached("INSERT INTO module (key, payload) VALUES (?1, ?2)")?
                    .execute(params![key, payload])?;
            }
        }
        Change::Recipe(key, body, uses) => {
            let key = key.to_le_bytes();
            let second = second_hash(body).to_le_bytes();
            let changed = store
                .prepare_cached(
                    "UPDATE recipe SET uses = uses + ?3 WHERE key = ?1 AND body_hash = ?2",
                )?
                .execute(params![key, second, bits(*uses)])?;
            if changed == 0 {
                let identity = [key.as_slice(), &second].concat();
                let payload = put_payload(store, &identity, body)?;
                store
                    .prepare_cached(
                        "INSERT INTO recipe (key, body_hash, payload, uses) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![key, second, payload, bits(*uses)])?;
            }
        }
        Change::Blob(generation, holds, blob) => {
            let bytes = blob.to_bytes();
            let mut shared = None;
            for placed in holds {
                let key = placed.identity.key.to_le_bytes();
                let second = placed.identity.second.to_le_bytes();
                let covers = blob_identity(generation.scope, &key, &second, &bytes);
                // Executables with one and the same identity to their blob share it.
                let payload = match &shared {
                    Some((identity, payload)) if *identity == covers => *payload,
                    _ => put_payload(store, &covers, &bytes)?,
                };
                shared = Some((covers, payload));
                put_executable(store, now, *generation, placed, payload)?;
            }
        }
        Change::Used(generation, identities) => {
            let mut update = store.prepare_cached(
                "UPDATE executable SET last_use = ?1 WHERE generation = ?2 AND key = ?3 AND second = ?4",
            )?;
            for identity in identities {
                update.execute(params![
                    now,
                    generation.id,
                    identity.key.to_le_bytes(),
                    identity.second.to_le_bytes()
                ])?;
            }
        }
        Change::Proof(generation, name, verdict) => {
            let old: Option<i64> = store
                .prepare_cached("SELECT payload FROM proof WHERE generation = ?1 AND name = ?2")?
                .query_row(params![generation.id, name], |row| row.get(0))
                .optional()?;
            let covers = proof_identity(generation.scope, name.as_bytes());
            let payload = put_payload(store, &covers, verdict)?;
            store
                .prepare_cached("INSERT OR REPLACE INTO proof VALUES (?1, ?2, ?3)")?
                .execute(params![generation.id, name, payload])?;
            if let Some(old) = old {
                store.execute("DELETE FROM payload WHERE id = ?1", [old])?;
            }
        }
        Change::Ledger(generation, mode, identity, entry) => {
            crate::ledger::put(store, *generation, mode, *identity, entry)?;
        }
        Change::ListDone(generation, mode, digest, tally) => {
            store
                .prepare_cached("INSERT OR REPLACE INTO list VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![
                    generation.id,
                    mode,
                    digest.to_le_bytes(),
                    tally.to_bytes()
                ])?;
        }
        Change::Complete(generation) => {
            store.execute(
                "UPDATE generation SET complete = 1 WHERE id = ?1",
                [generation.id],
            )?;
        }
    }
    Ok(())
}

fn put_executable(
    store: &Connection,
    now: i64,
    generation: Generation,
    placed: &Placed,
    payload: i64,
) -> rusqlite::Result<()> {
    let key = placed.identity.key.to_le_bytes();
    let second = placed.identity.second.to_le_bytes();
    let old: Option<i64> = store
        .prepare_cached(
            "SELECT payload FROM executable WHERE generation = ?1 AND key = ?2 AND second = ?3",
        )?
        .query_row(params![generation.id, key, second], |row| row.get(0))
        .optional()?;
    let cost = i64::try_from(placed.cost.as_micros()).unwrap_or(i64::MAX);
    store
        .prepare_cached("INSERT OR REPLACE INTO executable VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![generation.id, key, second, payload, cost, now])?;
    // A payload goes with the last executable that it holds.
    if let Some(old) = old {
        store
            .prepare_cached(
                "DELETE FROM payload WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM executable WHERE payload = ?1)",
            )?
            .execute([old])?;
    }
    Ok(())
}

fn put_payload(store: &Connection, identity: &[u8], bytes: &[u8]) -> rusqlite::Result<i64> {
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    store
        .prepare_cached("INSERT INTO payload (checksum, size, bytes) VALUES (?1, ?2, ?3)")?
        .execute(params![checksum(identity, bytes), size, bytes])?;
    Ok(store.last_insert_rowid())
}

/// Drops a payload and whatever refers to it. What the ledger says of the executables that go
/// with it goes too, and with that the lists that they may belong to: the ledger never says of
/// something that it is made when it is not there.
pub(crate) fn drop_payload(store: &Connection, payload: i64) -> rusqlite::Result<()> {
    store
        .prepare_cached(
            "DELETE FROM list WHERE generation IN
             (SELECT generation FROM executable WHERE payload = ?1)",
        )?
        .execute([payload])?;
    let mut held = store
        .prepare_cached("SELECT generation, key, second FROM executable WHERE payload = ?1")?;
    let mut held = held.query([payload])?;
    while let Some(row) = held.next()? {
        let (generation, key, second): (i64, Vec<u8>, Vec<u8>) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        store
            .prepare_cached(
                "DELETE FROM ledger
                 WHERE generation = ?1 AND key = ?2 AND second = ?3 AND state = ?4",
            )?
            .execute(params![generation, key, second, crate::ledger::MADE])?;
    }
    for table in ["module", "recipe", "executable", "proof"] {
        store.execute(
            &format!("DELETE FROM {table} WHERE payload = ?1"),
            [payload],
        )?;
    }
    store.execute("DELETE FROM payload WHERE id = ?1", [payload])?;
    Ok(())
}

fn bits(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
