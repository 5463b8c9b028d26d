//! Bench.
pub(crate) mod heavy;
pub(crate) mod heavy_set;
