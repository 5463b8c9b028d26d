//! NV2A register combiners: decode, admission, oracle, specialised SPIR-V, generic evaluator.
#![forbid(unsafe_code)]

pub mod admit;
mod arithmetic;
mod canonical;
mod emit;
pub mod evaluator;
pub mod oracle;
pub mod packet;
pub mod program;
pub mod shell;
pub mod specialise;
pub mod state;

pub use arithmetic::{LARGE, TINY};
