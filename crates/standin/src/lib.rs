//! Standin's runtime: routes, promotion, lanes, adoption. No GPU API in it.
#![forbid(unsafe_code)]

pub mod evaluator;
pub mod key;
