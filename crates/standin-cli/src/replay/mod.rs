//! R
pub(crate) mod times;
