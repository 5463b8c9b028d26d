//! What comes in: vertex input, input assembly, tessellation.

use crate::codec::records;
use ash::vk;

records! {
    /// `VkVertexInputBindingDescription`, with its divisor.
    pub struct VertexBinding {
        /// Binding number.
        pub binding: u32,
        /// Bytes from one element to the next.
        pub stride: u32,
        /// Per vertex or per instance.
        pub input_rate: vk::VertexInputRate,
        /// `VkVertexInputBindingDivisorDescription`: instances per element. 1 where none is
        /// chained.
        pub divisor: u32,
    }

    /// `VkVertexInputAttributeDescription`.
    #[derive(Default)]
    pub struct VertexAttribute {
        /// Shader location.
        pub location: u32,
        /// Binding that it is read from.
        pub binding: u32,
        /// Format.
        pub format: vk::Format,
        /// Offset in an element, in bytes.
        pub offset: u32,
    }

    /// `VkPipelineVertexInputStateCreateInfo`.
    #[derive(Default)]
    pub struct VertexInputState {
        /// Bindings.
        pub bindings: Vec<VertexBinding>,
        /// Attributes.
        pub attributes: Vec<VertexAttribute>,
    }

    /// `VkPipelineInputAssemblyStateCreateInfo`.
    #[derive(Default)]
    pub struct InputAssemblyState {
        /// Topology.
        pub topology: vk::PrimitiveTopology,
        /// Whether a special index starts anew.
        pub primitive_restart_enable: bool,
    }

    /// `VkPipelineTessellationStateCreateInfo`.
    #[derive(Default)]
    pub struct TessellationState {
        /// Vertices per patch.
        pub patch_control_points: u32,
        /// Chained domain origin; `UPPER_LEFT` where none is chained.
        pub domain_origin: vk::TessellationDomainOrigin,
    }
}

/// Per vertex, divisor 1.
impl Default for VertexBinding {
    fn default() -> Self {
        Self {
            binding: 0,
            stride: 0,
            input_rate: vk::VertexInputRate::VERTEX,
            divisor: 1,
        }
    }
}
