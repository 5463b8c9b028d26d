//! P
pub(crate) mod report;
