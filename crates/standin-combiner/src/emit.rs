//! Direct emission of SPIR-V: a builder for the few instructions that both paths use, and
//! the shell's code.

mod builder;
mod shell_code;

pub(crate) use builder::{Builder, Type, bool_of};
pub(crate) use shell_code::{Finished, Inputs, Interface, Wanted, begin, finish, uniform_block};
