//! From primitives to samples: viewports, rasterisation, multisampling, shading rates.

use crate::codec::{Codec, DecodeError, Float, Reader, Writer, records};
use ash::vk;

/// A list whose values may be dynamic state or without effect, while its length still counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Counted<T> {
    /// The values.
    Values(Vec<T>),
    /// The values do not matter; this is how many there are.
    Count(u32),
}

impl<T> Counted<T> {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Values(values) => u32::try_from(values.len()).unwrap_or(u32::MAX),
            Self::Count(count) => *count,
        }
    }

    /// The values, if they matter.
    #[must_use]
    pub fn values(&self) -> Option<&[T]> {
        match self {
            Self::Values(values) => Some(values),
            Self::Count(_) => None,
        }
    }
}

/// No values.
impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self::Values(Vec::new())
    }
}

impl<T> From<Vec<T>> for Counted<T> {
    fn from(values: Vec<T>) -> Self {
        Self::Values(values)
    }
}

impl<T: Codec> Codec for Counted<T> {
    fn encode(&self, out: &mut Writer<'_>) {
        match self {
            Self::Values(values) => {
                0u8.encode(out);
                values.encode(out);
            }
            Self::Count(count) => {
                1u8.encode(out);
                count.encode(out);
            }
        }
    }
    fn decode(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = input.at();
        match u8::decode(input)? {
            0 => Vec::decode(input).map(Self::Values),
            1 => u32::decode(input).map(Self::Count),
            tag => Err(DecodeError::BadTag { at, tag }),
        }
    }
}

records! {
    /// `VkViewport`.
    #[derive(Default)]
    pub struct Viewport {
        /// Left edge.
        pub x: Float,
        /// Upper edge.
        pub y: Float,
        /// Width.
        pub width: Float,
        /// Height; negative to flip.
        pub height: Float,
        /// Depth of the near plane.
        pub min_depth: Float,
        /// Depth of the far plane.
        pub max_depth: Float,
    }

    /// `VkRect2D`.
    #[derive(Default)]
    pub struct Rect {
        /// Left edge.
        pub x: i32,
        /// Upper edge.
        pub y: i32,
        /// Width.
        pub width: u32,
        /// Height.
        pub height: u32,
    }

    /// `VkPipelineViewportWScalingStateCreateInfoNV`.
    #[derive(Default)]
    pub struct WScaling {
        /// Whether it is on.
        pub enable: bool,
        /// x and y coefficients for each viewport.
        pub coefficients: Counted<[Float; 2]>,
    }

    /// `VkPipelineViewportDepthClampControlCreateInfoEXT`.
    #[derive(Default)]
    pub struct DepthClampControl {
        /// `VkDepthClampModeEXT`.
        pub mode: i32,
        /// Least and greatest depth, if the mode is user defined.
        pub range: Option<[Float; 2]>,
    }

    /// `VkPipelineViewportStateCreateInfo`.
    #[derive(Default)]
    pub struct ViewportState {
        /// Viewports.
        pub viewports: Counted<Viewport>,
        /// Scissors.
        pub scissors: Counted<Rect>,
        /// `VkPipelineViewportDepthClipControlCreateInfoEXT`: depth is clipped to -1 to 1.
        pub negative_one_to_one: bool,
        /// Chained W scaling.
        pub w_scaling: Option<WScaling>,
        /// `VkPipelineViewportSwizzleStateCreateInfoNV`: x, y, z, w for each viewport; empty where
        /// none is chained.
        pub swizzles: Vec<[vk::ViewportCoordinateSwizzleNV; 4]>,
        /// `VkPipelineViewportExclusiveScissorStateCreateInfoNV`; empty where none is chained.
        pub exclusive_scissors: Counted<Rect>,
        /// Chained depth clamp control.
        pub depth_clamp_control: Option<DepthClampControl>,
    }

    /// `VkPipelineRasterizationConservativeStateCreateInfoEXT`.
    #[derive(Default)]
    pub struct ConservativeRasterization {
        /// Mode.
        pub mode: vk::ConservativeRasterizationModeEXT,
        /// Extra size in pixels.
        pub extra_overestimation: Float,
    }

    /// `VkPipelineRasterizationLineStateCreateInfo`.
    #[derive(Default)]
    pub struct LineRasterization {
        /// Mode.
        pub mode: vk::LineRasterizationModeKHR,
        /// Whether lines are stippled.
        pub stippled: bool,
        /// Times each bit of the pattern is repeated.
        pub stipple_factor: u32,
        /// The pattern.
        pub stipple_pattern: u16,
    }

    /// `VkDepthBiasRepresentationInfoEXT`.
    #[derive(Default)]
    pub struct DepthBiasRepresentation {
        /// Representation.
        pub representation: vk::DepthBiasRepresentationEXT,
        /// Whether the bias is exact.
        pub exact: bool,
    }

    /// `VkPipelineRasterizationStateCreateInfo`.
    #[derive(Default)]
    pub struct RasterizationState {
        /// Whether depth is clamped.
        pub depth_clamp_enable: bool,
        /// Whether primitives are thrown away before rasterisation.
        pub rasterizer_discard_enable: bool,
        /// How polygons are drawn.
        pub polygon_mode: vk::PolygonMode,
        /// Which faces are culled.
        pub cull_mode: vk::CullModeFlags,
        /// Which faces are front faces.
        pub front_face: vk::FrontFace,
        /// Whether depth is biased.
        pub depth_bias_enable: bool,
        /// Constant part of the bias.
        pub depth_bias_constant_factor: Float,
        /// Bound of the bias.
        pub depth_bias_clamp: Float,
        /// Part by slope.
        pub depth_bias_slope_factor: Float,
        /// Width of lines in pixels.
        pub line_width: Float,
        /// `VkPipelineRasterizationDepthClipStateCreateInfoEXT`; where none is chained, depth is
        /// clipped if it is not clamped.
        pub depth_clip_enable: Option<bool>,
        /// Chained conservative rasterisation.
        pub conservative: Option<ConservativeRasterization>,
        /// Chained line state.
        pub line: Option<LineRasterization>,
        /// Chained stream; 0 where none is chained.
        pub stream: u32,
        /// Chained provoking vertex mode; `FIRST_VERTEX` where none is chained.
        pub provoking_vertex: vk::ProvokingVertexModeEXT,
        /// Chained depth bias representation.
        pub depth_bias_representation: Option<DepthBiasRepresentation>,
        /// Chained rasterisation order; `STRICT` where none is chained.
        pub order: vk::RasterizationOrderAMD,
    }

    /// `VkPipelineSampleLocationsStateCreateInfoEXT`.
    #[derive(Default)]
    pub struct SampleLocations {
        /// Whether they are on.
        pub enable: bool,
        /// Samples per pixel.
        pub per_pixel: vk::SampleCountFlags,
        /// Width and height of the grid in pixels.
        pub grid_size: [u32; 2],
        /// x and y of each sample.
        pub locations: Vec<[Float; 2]>,
    }

    /// `VkPipelineCoverageModulationStateCreateInfoNV`.
    #[derive(Default)]
    pub struct CoverageModulation {
        /// Mode.
        pub mode: vk::CoverageModulationModeNV,
        /// Whether the table is used.
        pub table_enable: bool,
        /// The table.
        pub table: Vec<Float>,
    }

    /// `VkPipelineCoverageToColorStateCreateInfoNV`.
    #[derive(Default)]
    pub struct CoverageToColor {
        /// Whether it is on.
        pub enable: bool,
        /// Location of the colour output.
        pub location: u32,
    }

    /// `VkPipelineMultisampleStateCreateInfo`.
    #[derive(Default)]
    pub struct MultisampleState {
        /// Samples per pixel.
        pub samples: vk::SampleCountFlags,
        /// Whether samples are shaded apart.
        pub sample_shading_enable: bool,
        /// Least share of samples that are.
        pub min_sample_shading: Float,
        /// Mask words, one per 32 samples; empty means all ones.
        pub sample_mask: Vec<u32>,
        /// Whether alpha becomes coverage.
        pub alpha_to_coverage_enable: bool,
        /// Whether alpha becomes one.
        pub alpha_to_one_enable: bool,
        /// Chained sample locations.
        pub sample_locations: Option<SampleLocations>,
        /// Chained coverage modulation.
        pub coverage_modulation: Option<CoverageModulation>,
        /// Chained coverage reduction mode.
        pub coverage_reduction: Option<vk::CoverageReductionModeNV>,
        /// Chained coverage to colour.
        pub coverage_to_color: Option<CoverageToColor>,
    }

    /// `VkPipelineFragmentShadingRateStateCreateInfoKHR`.
    #[derive(Default)]
    pub struct FragmentShadingRate {
        /// Width and height of a fragment in pixels.
        pub fragment_size: [u32; 2],
        /// How the rates are combined.
        pub combiner_ops: [vk::FragmentShadingRateCombinerOpKHR; 2],
    }

    /// `VkPipelineFragmentShadingRateEnumStateCreateInfoNV`.
    #[derive(Default)]
    pub struct FragmentShadingRateEnum {
        /// Which of size and enumerant counts.
        pub rate_type: vk::FragmentShadingRateTypeNV,
        /// The enumerant.
        pub rate: vk::FragmentShadingRateNV,
        /// How the rates are combined.
        pub combiner_ops: [vk::FragmentShadingRateCombinerOpKHR; 2],
    }

    /// `VkPipelineDiscardRectangleStateCreateInfoEXT`.
    #[derive(Default)]
    pub struct DiscardRectangles {
        /// What is discarded.
        pub mode: vk::DiscardRectangleModeEXT,
        /// The rectangles.
        pub rectangles: Counted<Rect>,
    }
}
