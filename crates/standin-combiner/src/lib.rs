//! NV2A register combiners: decode, admission, oracle, specialised SPIR-V, generic evaluator.
#![forbid(unsafe_code)]
