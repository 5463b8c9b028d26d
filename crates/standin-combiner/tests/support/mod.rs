//! What the tests share: random states and inputs, and an interpreter of the emitted
//! SPIR-V.
#![allow(dead_code)] // Each test binary uses a part of it.
#![allow(unreachable_pub)] // It is a module of several binaries.

pub mod compare;
pub mod gpu;
pub mod interpreter;
pub mod random;
pub mod scene;
