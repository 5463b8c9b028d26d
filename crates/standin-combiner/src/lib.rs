//! NV2A register combiners: decode, admission, oracle, specialised SPIR-V, generic evaluator.
#![forbid(unsafe_code)]

pub mod admit;
mod arithmetic;
pub mod asm;
mod canonical;
mod emit;
pub mod evaluator;
pub mod family;
pub mod known;
pub mod oracle;
pub mod packet;
pub mod program;
pub mod report;
pub mod shell;
pub mod specialise;
pub mod state;
pub mod state_text;

pub use arithmetic::{LARGE, TINY};
