//! What an archive holds, in numbers. Reads keys and sizes, no payload.

use crate::stamp::Stamp;
use crate::store::Archive;
use rusqlite::Connection;

/// What an archive holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Shader modules.
    pub modules: u64,
    /// Bytes of their payloads.
    pub module_bytes: u64,
    /// Recipes.
    pub recipes: u64,
    /// Bytes of their payloads.
    pub recipe_bytes: u64,
    /// The generations, in the order they were made.
    pub generations: Vec<GenerationSummary>,
}

/// What one generation holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GenerationSummary {
    /// The stamp, or none where its bytes cannot be read.
    pub stamp: Option<Stamp>,
    /// Whether it was said to hold everything.
    pub complete: bool,
    /// Executables with a blob.
    pub executables: u64,
    /// Blobs.
    pub blobs: u64,
    /// Bytes of the blobs.
    pub blob_bytes: u64,
    /// What building them took, in microseconds.
    pub cost_us: u64,
    /// Proofs recorded.
    pub proofs: u64,
    /// Ledger entries: in flight, made, declined, failed.
    pub ledger: [u64; 4],
}

impl Archive {
    /// What the archive holds. An archive that cannot be read holds nothing.
    pub fn summary(&self) -> Summary {
        self.read(|store| summary(store).map(Some))
            .unwrap_or_default()
    }
}

fn summary(store: &Connection) -> rusqlite::Result<Summary> {
    let (modules, module_bytes) = sizes(store, "module")?;
    let (recipes, recipe_bytes) = sizes(store, "recipe")?;
    let mut query = store.prepare("SELECT id, stamp, complete FROM generation ORDER BY id")?;
    let rows = query.query_map([], |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, Vec<u8>>(1)?,
            row.get::<_, bool>(2)?,
        ))
    })?;
    let mut generations = Vec::new();
    for row in rows {
        let (id, stamp, complete) = row?;
        generations.push(generation(store, id, &stamp, complete)?);
    }
    Ok(Summary {
        modules,
        module_bytes,
        recipes,
        recipe_bytes,
        generations,
    })
}

fn generation(
    store: &Connection,
    id: i64,
    stamp: &[u8],
    complete: bool,
) -> rusqlite::Result<GenerationSummary> {
    let count = |query: &str| -> rusqlite::Result<u64> {
        store.query_row(query, [id], |row| row.get::<_, i64>(0).map(unsigned))
    };
    let mut ledger = [0; 4];
    let mut query =
        store.prepare("SELECT state, count(*) FROM ledger WHERE generation = ?1 GROUP BY state")?;
    let rows = query.query_map([id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    })?;
    for row in rows {
        let (state, entries) = row?;
        if let Some(slot) = usize::try_from(state).ok().and_then(|s| ledger.get_mut(s)) {
            *slot = unsigned(entries);
        }
    }
    Ok(GenerationSummary {
        stamp: Stamp::from_bytes(stamp),
        complete,
        executables: count("SELECT count(*) FROM executable WHERE generation = ?1")?,
        blobs: count("SELECT count(DISTINCT payload) FROM executable WHERE generation = ?1")?,
        blob_bytes: count(
            "SELECT coalesce(sum(size), 0) FROM payload INDEXED BY size_by_payload WHERE id IN
             (SELECT payload FROM executable WHERE generation = ?1)",
        )?,
        cost_us: count("SELECT coalesce(sum(cost_us), 0) FROM executable WHERE generation = ?1")?,
        proofs: count("SELECT count(*) FROM proof WHERE generation = ?1")?,
        ledger,
    })
}

fn sizes(store: &Connection, table: &str) -> rusqlite::Result<(u64, u64)> {
    store.query_row(
        &format!(
            "SELECT count(*), coalesce(sum(size), 0) FROM {table}
             JOIN payload INDEXED BY size_by_payload ON payload.id = {table}.payload"
        ),
        [],
        |row| Ok((unsigned(row.get(0)?), unsigned(row.get(1)?))),
    )
}

fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or(0)
}
