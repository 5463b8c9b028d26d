//! SPIR-V vertex pulling: interface, rewrite, layout block and the formats' reference codec.
#![forbid(unsafe_code)]
