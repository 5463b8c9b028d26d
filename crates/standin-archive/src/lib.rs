//! What Standin keeps on disk: recipes, driver blobs, proofs and the prebuild ledger.
//!
//! An archive is a folder with one SQLite database in it. Recipes and modules are driver
//! independent; blobs belong to a [`Stamp`], and only ever go back to the very stamp they were
//! made under. Every payload is checksummed and checked before it is handed out: what is damaged
//! is dropped, counted and reported, and costs a compile. Opening never fails because of what an
//! archive holds. `docs/archive-format.md` has the layout.
#![forbid(unsafe_code)]

pub mod batch;
pub mod incident;
pub mod ledger;
pub mod maintain;
pub mod merge;
mod opening;
pub mod payload;
mod salvage;
pub mod schema;
pub mod stamp;
pub mod store;
pub mod summary;

pub use batch::{Batch, Placed, second_hash};
pub use incident::Incident;
pub use payload::{Binary, Blob, ModuleKey};
pub use stamp::Stamp;
pub use store::{Access, Archive, ArchiveError, Generation, Identity};
