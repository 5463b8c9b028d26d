//! Bench.
pub(crate) mod heavy;
