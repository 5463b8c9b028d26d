//! Deep copies of raw Vulkan create-infos into recipes.
