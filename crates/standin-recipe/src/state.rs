//! The fixed state of a graphics pipeline, one struct for each of Vulkan's, with the structs
//! that may be chained to it as fields.

use crate::codec::{Float, records};
use ash::vk;

records! {
    /// VkPipelineVertexInputStateCreateInfo.
    pub struct VertexInput {
        /// The buffers.
        pub bindings: Vec<VertexBinding>,
        /// What is read from them.
        pub attributes: Vec<VertexAttribute>,
        /// VkPipelineVertexInputDivisorStateCreateInfo, under either extension's name.
        pub divisors: Vec<VertexDivisor>,
    }

    /// A vertex buffer binding.
    pub struct VertexBinding {
        /// Its number.
        pub binding: u32,
        /// Bytes from one element to the next.
        pub stride: u32,
        /// Per vertex or per instance.
        pub rate: vk::VertexInputRate,
    }

    /// A vertex attribute.
    pub struct VertexAttribute {
        /// The shader's location.
        pub location: u32,
        /// The binding it is read from.
        pub binding: u32,
        /// Its format.
        pub format: vk::Format,
        /// Bytes from the element's start.
        pub offset: u32,
    }

    /// How many instances share an element of a binding.
    pub struct VertexDivisor {
        /// The binding.
        pub binding: u32,
        /// The count; 0 means all.
        pub divisor: u32,
    }

    /// VkPipelineInputAssemblyStateCreateInfo.
    pub struct InputAssembly {
        /// Primitive topology.
        pub topology: vk::PrimitiveTopology,
        /// Whether a special index restarts the primitive.
        pub restart: bool,
    }

    /// VkPipelineTessellationStateCreateInfo.
    pub struct Tessellation {
        /// Control points of a patch.
        pub control_points: u32,
        /// VkPipelineTessellationDomainOriginStateCreateInfo.
        pub domain_origin: Option<vk::TessellationDomainOrigin>,
    }

    /// VkPipelineViewportStateCreateInfo.
    pub struct Viewports {
        /// How many viewports; 0 where the count is dynamic.
        pub viewport_count: u32,
        /// How many scissors; 0 where the count is dynamic.
        pub scissor_count: u32,
        /// The viewports, empty where they are dynamic.
        pub viewports: Vec<Viewport>,
        /// The scissors, empty where they are dynamic.
        pub scissors: Vec<Rect>,
        /// VkPipelineViewportDepthClipControlCreateInfoEXT: negativeOneToOne.
        pub negative_one_to_one: Option<bool>,
        /// VkPipelineViewportDepthClampControlCreateInfoEXT.
        pub depth_clamp: Option<DepthClamp>,
        /// VkPipelineViewportSwizzleStateCreateInfoNV: X, Y, Z and W of each.
        pub swizzles: Option<Vec<[vk::ViewportCoordinateSwizzleNV; 4]>>,
        /// VkPipelineViewportWScalingStateCreateInfoNV.
        pub w_scaling: Option<WScaling>,
    }

    /// A viewport.
    pub struct Viewport {
        /// Left.
        pub x: Float,
        /// Top.
        pub y: Float,
        /// Width.
        pub width: Float,
        /// Height; negative flips.
        pub height: Float,
        /// Depth at 0.
        pub min_depth: Float,
        /// Depth at 1.
        pub max_depth: Float,
    }

    /// A rectangle of pixels.
    pub struct Rect {
        /// Left.
        pub x: i32,
        /// Top.
        pub y: i32,
        /// Width.
        pub width: u32,
        /// Height.
        pub height: u32,
    }

    /// The range that depth is clamped to.
    pub struct DepthClamp {
        /// VkDepthClampModeEXT: 0 the viewport's range, 1 the range given.
        pub mode: i32,
        /// Least and greatest depth, where given.
        pub range: Option<[Float; 2]>,
    }

    /// Viewport W scaling.
    pub struct WScaling {
        /// Whether it is on.
        pub enable: bool,
        /// Coefficients of X and Y for each viewport.
        pub scalings: Vec<[Float; 2]>,
    }

    /// VkPipelineRasterizationStateCreateInfo.
    pub struct Rasterization {
        /// Whether depth is clamped.
        pub depth_clamp: bool,
        /// Whether primitives end before rasterization.
        pub discard: bool,
        /// Fill, line or point.
        pub polygon_mode: vk::PolygonMode,
        /// Faces that are not drawn.
        pub cull_mode: vk::CullModeFlags,
        /// Winding of front faces.
        pub front_face: vk::FrontFace,
        /// Whether depth is biased.
        pub depth_bias: bool,
        /// Constant factor.
        pub depth_bias_constant: Float,
        /// Clamp.
        pub depth_bias_clamp: Float,
        /// Slope factor.
        pub depth_bias_slope: Float,
        /// Line width.
        pub line_width: Float,
        /// VkPipelineRasterizationConservativeStateCreateInfoEXT.
        pub conservative: Option<Conservative>,
        /// VkPipelineRasterizationLineStateCreateInfo.
        pub line: Option<Line>,
        /// VkPipelineRasterizationDepthClipStateCreateInfoEXT: depthClipEnable.
        pub depth_clip: Option<bool>,
        /// VkPipelineRasterizationStateStreamCreateInfoEXT: the stream.
        pub stream: Option<u32>,
        /// VkPipelineRasterizationProvokingVertexStateCreateInfoEXT.
        pub provoking_vertex: Option<vk::ProvokingVertexModeEXT>,
        /// VkDepthBiasRepresentationInfoEXT.
        pub depth_bias_representation: Option<DepthBiasRepresentation>,
        /// VkPipelineRasterizationStateRasterizationOrderAMD.
        pub order: Option<vk::RasterizationOrderAMD>,
    }

    /// Conservative rasterization.
    pub struct Conservative {
        /// Overestimate, underestimate or neither.
        pub mode: vk::ConservativeRasterizationModeEXT,
        /// Pixels added.
        pub extra_overestimation: Float,
    }

    /// How lines are drawn.
    pub struct Line {
        /// The algorithm.
        pub mode: vk::LineRasterizationModeEXT,
        /// Whether they are stippled.
        pub stippled: bool,
        /// Pixels to a stipple bit.
        pub stipple_factor: u32,
        /// 16 stipple bits.
        pub stipple_pattern: u16,
    }

    /// How depth bias is represented.
    pub struct DepthBiasRepresentation {
        /// The representation.
        pub representation: vk::DepthBiasRepresentationEXT,
        /// Whether it is exact.
        pub exact: bool,
    }

    /// VkPipelineMultisampleStateCreateInfo.
    pub struct Multisample {
        /// Samples of a pixel.
        pub samples: vk::SampleCountFlags,
        /// Whether shading is per sample.
        pub sample_shading: bool,
        /// The least share of samples shaded.
        pub min_sample_shading: Float,
        /// Samples that are written, 32 to a word; none means all.
        pub mask: Option<Vec<u32>>,
        /// Whether alpha makes coverage.
        pub alpha_to_coverage: bool,
        /// Whether alpha becomes 1.
        pub alpha_to_one: bool,
        /// VkPipelineSampleLocationsStateCreateInfoEXT.
        pub locations: Option<SampleLocations>,
    }

    /// Where samples lie.
    pub struct SampleLocations {
        /// Whether the locations are used.
        pub enable: bool,
        /// Samples of a pixel.
        pub per_pixel: vk::SampleCountFlags,
        /// Width and height of the pattern in pixels.
        pub grid: [u32; 2],
        /// X and Y of each sample.
        pub locations: Vec<[Float; 2]>,
    }

    /// VkPipelineDepthStencilStateCreateInfo.
    pub struct DepthStencil {
        /// VkPipelineDepthStencilStateCreateFlags.
        pub flags: u32,
        /// Whether depth is tested.
        pub depth_test: bool,
        /// Whether depth is written.
        pub depth_write: bool,
        /// The comparison.
        pub compare_op: vk::CompareOp,
        /// Whether depth bounds are tested.
        pub bounds_test: bool,
        /// Whether stencil is tested.
        pub stencil_test: bool,
        /// Stencil of front faces.
        pub front: Stencil,
        /// Stencil of back faces.
        pub back: Stencil,
        /// Least depth.
        pub min_bounds: Float,
        /// Greatest depth.
        pub max_bounds: Float,
    }

    /// VkStencilOpState.
    pub struct Stencil {
        /// Where the stencil test fails.
        pub fail_op: vk::StencilOp,
        /// Where both pass.
        pub pass_op: vk::StencilOp,
        /// Where depth fails.
        pub depth_fail_op: vk::StencilOp,
        /// The comparison.
        pub compare_op: vk::CompareOp,
        /// Bits compared.
        pub compare_mask: u32,
        /// Bits written.
        pub write_mask: u32,
        /// The reference.
        pub reference: u32,
    }

    /// VkPipelineColorBlendStateCreateInfo.
    pub struct ColorBlend {
        /// VkPipelineColorBlendStateCreateFlags.
        pub flags: u32,
        /// Whether a logic operation replaces blending.
        pub logic_op_enable: bool,
        /// The operation.
        pub logic_op: vk::LogicOp,
        /// One for each colour attachment.
        pub attachments: Vec<Blend>,
        /// Blend constants.
        pub constants: [Float; 4],
        /// VkPipelineColorBlendAdvancedStateCreateInfoEXT.
        pub advanced: Option<AdvancedBlend>,
        /// VkPipelineColorWriteCreateInfoEXT.
        pub write_enables: Option<Vec<bool>>,
    }

    /// Blending of one attachment.
    pub struct Blend {
        /// Whether it blends.
        pub enable: bool,
        /// Source factor of colour.
        pub src_color: vk::BlendFactor,
        /// Destination factor of colour.
        pub dst_color: vk::BlendFactor,
        /// Colour's operation.
        pub color_op: vk::BlendOp,
        /// Source factor of alpha.
        pub src_alpha: vk::BlendFactor,
        /// Destination factor of alpha.
        pub dst_alpha: vk::BlendFactor,
        /// Alpha's operation.
        pub alpha_op: vk::BlendOp,
        /// Components that are written.
        pub write_mask: vk::ColorComponentFlags,
    }

    /// What advanced blend operations need.
    pub struct AdvancedBlend {
        /// Whether the source is multiplied by its alpha.
        pub src_premultiplied: bool,
        /// Whether the destination is.
        pub dst_premultiplied: bool,
        /// How the two overlap.
        pub overlap: vk::BlendOverlapEXT,
    }

    /// VkPipelineDiscardRectangleStateCreateInfoEXT.
    pub struct DiscardRectangles {
        /// Inside or outside.
        pub mode: vk::DiscardRectangleModeEXT,
        /// How many.
        pub count: u32,
        /// The rectangles, empty where they are dynamic.
        pub rectangles: Vec<Rect>,
    }

    /// VkPipelineFragmentShadingRateStateCreateInfoKHR.
    pub struct ShadingRate {
        /// Width and height of a fragment in pixels.
        pub fragment_size: [u32; 2],
        /// How it is combined with the primitive's and the attachment's.
        pub combiners: [vk::FragmentShadingRateCombinerOpKHR; 2],
    }

    /// VkPipelineRobustnessCreateInfo.
    pub struct Robustness {
        /// Storage buffers.
        pub storage_buffers: vk::PipelineRobustnessBufferBehaviorEXT,
        /// Uniform buffers.
        pub uniform_buffers: vk::PipelineRobustnessBufferBehaviorEXT,
        /// Vertex inputs.
        pub vertex_inputs: vk::PipelineRobustnessBufferBehaviorEXT,
        /// Images.
        pub images: vk::PipelineRobustnessImageBehaviorEXT,
    }

    /// VkPipelineRenderingCreateInfo: what dynamic rendering draws into.
    pub struct Rendering {
        /// The views that are drawn.
        pub view_mask: u32,
        /// Formats of the colour attachments.
        pub color_formats: Vec<vk::Format>,
        /// Format of the depth attachment.
        pub depth_format: vk::Format,
        /// Format of the stencil attachment.
        pub stencil_format: vk::Format,
        /// VkRenderingAttachmentLocationInfo: locations of the colour attachments.
        pub color_locations: Option<Vec<u32>>,
        /// VkRenderingInputAttachmentIndexInfo.
        pub input_indices: Option<InputIndices>,
    }

    /// Which attachments are read as input attachments.
    pub struct InputIndices {
        /// For each colour attachment.
        pub color: Vec<u32>,
        /// For depth.
        pub depth: Option<u32>,
        /// For stencil.
        pub stencil: Option<u32>,
    }
}
