//! Programs as text: an assembler and its inverse. `docs/combiner.md` has the language. For
//! an admitted state the text holds every bit of the program, the shell and the data.

mod operand;
mod parse;
mod print;

pub use parse::{AssemblyError, assemble};
pub use print::disassemble;
