//! The prebuild ledger: what was tried under a stamp, a device mode and a list, and how it went.

use crate::store::{Archive, Generation, Identity};
use rusqlite::{Connection, OptionalExtension, params};

/// Where a prebuild stands with one executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// How it went.
    pub state: State,
    /// How many times it was handed to the driver.
    pub attempts: u32,
}

/// How a prebuild went for one executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is about to be handed to the driver. Found at a start, it means that the process
    /// died inside the driver, and that this was the pipeline at fault or one of few.
    InFlight,
    /// It was built and its blob is kept.
    Made,
    /// The device cannot make it; the text says why.
    Declined(String),
    /// The driver refused, crashed, hung or ate memory; the text says what happened.
    Failed(String),
}

/// How many attempts a failing entry gets: one among others, and one alone.
pub const ATTEMPTS: u32 = 2;

/// What a run should do with an entry that is in the ledger. One that is not is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Build it with nothing else in the worker: it was in the driver when a worker died.
    BuildAlone,
    /// Nothing: it is made, declined, or failed too often under this stamp.
    Skip,
}

impl Entry {
    /// What a run should do with this entry.
    #[must_use]
    pub fn due(&self) -> Due {
        match self.state {
            State::InFlight | State::Failed(_) if self.attempts < ATTEMPTS => Due::BuildAlone,
            _ => Due::Skip,
        }
    }
}

/// Counts of a list that was gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Pipelines that are made.
    pub made: u64,
    /// Pipelines that the device cannot make.
    pub declined: u64,
    /// Pipelines that failed.
    pub failed: u64,
}

impl Tally {
    /// Three little-endian 64-bit counts: made, declined, failed.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (bytes, count) in bytes
            .chunks_exact_mut(8)
            .zip([self.made, self.declined, self.failed])
        {
            bytes.copy_from_slice(&count.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut counts = bytes.chunks_exact(8).map(|bytes| {
            let bytes = bytes.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        });
        let mut next = || counts.next().flatten();
        Some(Self {
            made: next()?,
            declined: next()?,
            failed: next()?,
        })
    }
}

impl Archive {
    /// Where a prebuild stands with an executable.
    pub fn find_ledger(
        &self,
        generation: Generation,
        mode: &str,
        identity: Identity,
    ) -> Option<Entry> {
        self.read(|store| {
            store
                .prepare_cached(
                    "SELECT state, attempts, reason FROM ledger
                     WHERE generation = ?1 AND mode = ?2 AND key = ?3 AND second = ?4",
                )?
                .query_row(
                    params![
                        generation.id,
                        mode,
                        identity.key.to_le_bytes(),
                        identity.second.to_le_bytes()
                    ],
                    |row| Ok(entry(row.get(0)?, row.get(1)?, row.get(2)?)),
                )
                .optional()
                .map(Option::flatten)
        })
    }

    /// The result of a list that was gone through before, and whose entries need nothing more.
    pub fn find_list_done(
        &self,
        generation: Generation,
        mode: &str,
        digest: u128,
    ) -> Option<Tally> {
        self.read(|store| {
            store
                .prepare_cached(
                    "SELECT tally FROM list WHERE generation = ?1 AND mode = ?2 AND digest = ?3",
                )?
                .query_row(params![generation.id, mode, digest.to_le_bytes()], |row| {
                    row.get::<_, Vec<u8>>(0)
                })
                .optional()
                .map(|bytes| bytes.and_then(|bytes| Tally::from_bytes(&bytes)))
        })
    }
}

/// How the state of an executable that was made is kept.
pub(crate) const MADE: i64 = 1;

fn entry(state: i64, attempts: u32, reason: String) -> Option<Entry> {
    let state = match state {
        0 => State::InFlight,
        MADE => State::Made,
        2 => State::Declined(reason),
        3 => State::Failed(reason),
        _ => return None,
    };
    Some(Entry { state, attempts })
}

pub(crate) fn put(
    store: &Connection,
    generation: Generation,
    mode: &str,
    identity: Identity,
    entry: &Entry,
) -> rusqlite::Result<()> {
    let (state, reason) = match &entry.state {
        State::InFlight => (0, ""),
        State::Made => (MADE, ""),
        State::Declined(reason) => (2, reason.as_str()),
        State::Failed(reason) => (3, reason.as_str()),
    };
    store
        .prepare_cached("INSERT OR REPLACE INTO ledger VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
        .execute(params![
            generation.id,
            mode,
            identity.key.to_le_bytes(),
            identity.second.to_le_bytes(),
            state,
            entry.attempts,
            reason
        ])?;
    Ok(())
}
