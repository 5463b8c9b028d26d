//! Fossilize databases, read and written.
//!
//! [`Database`] reads one or several files as one source and turns their pipelines into recipes.
//! [`Recorder`] writes recipes as entries.
//! [`stream`] is the container below, [`writer`] writes one. `docs/foz.md` has the format.
#![forbid(unsafe_code)]

mod cache;
pub mod database;
pub mod declined;
pub mod entry;
mod hash;
pub mod info;
mod json;
mod recipes;
pub mod record;
pub mod stream;
mod varint;
pub mod writer;

pub use database::{Database, OpenError, Summary};
pub use declined::{Damaged, Declined, Reason, Warning};
pub use entry::{EntryKey, FozKey, Tag};
pub use hash::UnknownStruct;
pub use info::ApplicationInfo;
pub use record::{RecordError, Recorder};
pub use writer::Writer;
