//! The database's tables. `docs/archive-format.md` holds this very text; a test compares them.

/// Version of the format, kept as the database's `user_version`.
pub const VERSION: i64 = 1;

/// Marks the file as an archive, kept as the database's `application_id`: "Stnd".
pub const APPLICATION_ID: i64 = 0x5374_6e64;

/// Name of the database in an archive's folder.
pub const FILE: &str = "archive.sqlite";

/// Name of the file by which openings that may write know of each other.
pub const LOCK: &str = "archive.lock";

/// Name of the file that says that the database was found damaged while it was in use.
pub const MARK: &str = "archive.damaged";

/// Name of a database that is being made to take a damaged one's place.
pub(crate) const REBUILDING: &str = "archive.sqlite.rebuilding";

/// Name that a damaged database is moved to. The one before it goes.
pub const ASIDE: &str = "damaged.sqlite";

/// Bytes of a page.
pub(crate) const PAGE: usize = 8192;

/// The tables, and last the indices: SQLite keeps this order in whatever it makes of them, so that
/// each has its root at the same page in every archive (see `salvage`). Keys lie apart from payloads: looking up a key that is not there touches no
/// page of a payload.
pub const TABLES: &str = "\
CREATE TABLE module (
  key BLOB PRIMARY KEY,
  payload INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE recipe (
  key BLOB NOT NULL,
  body_hash BLOB NOT NULL,
  payload INTEGER NOT NULL,
  uses INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (key, body_hash)
) WITHOUT ROWID;
CREATE TABLE generation (
  id INTEGER PRIMARY KEY,
  stamp BLOB NOT NULL UNIQUE,
  complete INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE executable (
  generation INTEGER NOT NULL,
  key BLOB NOT NULL,
  second BLOB NOT NULL,
  payload INTEGER NOT NULL,
  cost_us INTEGER NOT NULL,
  last_use INTEGER NOT NULL,
  PRIMARY KEY (generation, key, second)
) WITHOUT ROWID;
CREATE TABLE ledger (
  generation INTEGER NOT NULL,
  mode TEXT NOT NULL,
  key BLOB NOT NULL,
  second BLOB NOT NULL,
  state INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (generation, key, second, mode)
) WITHOUT ROWID;
CREATE TABLE list (
  generation INTEGER NOT NULL,
  mode TEXT NOT NULL,
  digest BLOB NOT NULL,
  tally BLOB NOT NULL,
  PRIMARY KEY (generation, mode, digest)
) WITHOUT ROWID;
CREATE TABLE proof (
  generation INTEGER NOT NULL,
  name TEXT NOT NULL,
  payload INTEGER NOT NULL,
  PRIMARY KEY (generation, name)
) WITHOUT ROWID;
CREATE TABLE clock (
  now INTEGER NOT NULL
);
CREATE TABLE payload (
  id INTEGER PRIMARY KEY,
  checksum INTEGER NOT NULL,
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL
);
CREATE INDEX executable_by_payload ON executable (payload);
CREATE INDEX size_by_payload ON payload (id, size);
INSERT INTO clock VALUES (1);
";

/// The definitions as SQLite keeps them, each with its root page: the schema takes the first page,
/// and each table, each index and the one implied by `UNIQUE` the next.
pub(crate) fn definitions() -> impl Iterator<Item = &'static str> {
    TABLES
        .split(";\n")
        .filter(|statement| statement.starts_with("CREATE"))
}

/// What makes an empty database an archive.
pub(crate) fn creation() -> String {
    format!("{TABLES}PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_on_the_format_holds_these_very_tables() {
        let page = include_str!("../../../docs/archive-format.md");
        assert!(page.contains(super::TABLES));
        assert!(page.contains(&format!("version {}\n", super::VERSION)));
        assert!(page.contains(&format!("{:#x}", super::APPLICATION_ID)));
        assert!(page.contains(&format!("page size {},", super::PAGE)));
        for file in [super::FILE, super::LOCK, super::MARK, super::ASIDE] {
            assert!(page.contains(&format!("`{file}`")), "{file}");
        }
    }
}
