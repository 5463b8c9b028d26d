//! SPIR-V vertex pulling: interface, rewrite, layout block and the formats' reference codec.
//!
//! A vertex shader is rewritten so that it has no stage inputs: it reads them at run time through a layout block that
//! each draw supplies. A pipeline made of it has no vertex descriptor and serves every layout.
//!
//! ```
//! use standin_pull::{Options, Rewritten, rewrite, words_from_bytes};
//!
//! # let bytes = include_bytes!("../testdata/spv/sascha-willems/glsl__triangle__triangle.vert.spv");
//! let words = words_from_bytes(bytes)?;
//! match rewrite(&words, &Options::default())? {
//!     Rewritten::Pulled(pulled) => assert_eq!(pulled.inputs.len(), 2),
//!     Rewritten::NotNeeded => unreachable!("the triangle has a position and a colour"),
//! }
//! # Ok::<(), standin_pull::Declined>(())
//! ```
#![forbid(unsafe_code)]

pub mod block;
pub mod capture;
pub mod decode;
mod emit;
mod fetch;
mod fields;
pub mod format;
mod interface;
pub mod module;
mod paths;
mod position;
mod prologue;
mod refuse;
mod retype;
mod rewrite;

pub use block::{BlockError, BlockShape, LayoutBlock, Rate, Stream};
pub use decode::{Conversion, Floor, Nan, Quotient, Widening};
pub use format::{Class, FORMATS, Format};
pub use interface::{Input, Scalar};
pub use module::words_from_bytes;
pub use refuse::Declined;
pub use rewrite::{
    BlockPlace, DataPath, LaterStages, Options, Pulled, Rewritten, hold_positions, rewrite,
};
