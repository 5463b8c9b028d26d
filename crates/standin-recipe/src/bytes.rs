//! The canonical byte form's envelope.

/// Version of the byte form that this program writes and reads.
pub const VERSION: u16 = 1;

/// How deep recipes of libraries may be nested: a pipeline, its libraries, and theirs.
pub const MAX_DEPTH: u32 = 4;
