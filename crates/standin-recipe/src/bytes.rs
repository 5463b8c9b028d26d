//! The canonical byte form's envelope.

/// Version of the byte form that this program writes and reads.
pub const VERSION: u16 = 1;

/// How deep shared parts may be nested: a pipeline's libraries, a layout's sets, their samplers.
/// Vulkan itself has no use for more than four libraries inside one another.
pub const MAX_DEPTH: u32 = 16;
