//! What Standin keeps on disk: recipes, driver blobs, proofs and the prebuild ledger.
#![forbid(unsafe_code)]
