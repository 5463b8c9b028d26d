//! Standin's Vulkan backend: capabilities, pipelines, driver blobs, proofs.
