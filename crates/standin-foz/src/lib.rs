//! Fossilize databases, read and written.
#![forbid(unsafe_code)]
