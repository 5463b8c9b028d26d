//! Owned, typed Vulkan pipeline recipes and their identities.
#![forbid(unsafe_code)]
