//! Chained structs: each an object with its sType.

use super::pipeline::RectBody;
use super::render_pass::ReferenceBody;
use super::{Handle, Real, bodies};
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Structs that change nothing of what is built: recorders skip them.
const IGNORED: [u32; 8] = [
    1_000_192_000, // creation feedback
    1_000_160_001, // shader module validation cache
    1_000_128_000, // debug name
    1_000_247_000, // validation features
    1_000_458_002, // render pass feedback
    1_000_458_003, // subpass feedback
    1_000_483_002, // pipeline binaries
    1_000_316_010, // opaque capture data
];

macro_rules! links {
    ($(#[$meta:meta])* $enum:ident { $($number:literal => $variant:ident($body:ty),)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) enum $enum {
            $($variant($body),)*
            /// Changes nothing of what is built.
            Ignored(u32),
            /// Not known.
            Unknown(u32),
        }

        impl $enum {
            pub(crate) fn s_type(&self) -> u32 {
                match self {
                    $(Self::$variant(_) => $number,)*
                    Self::Ignored(number) | Self::Unknown(number) => *number,
                }
            }

            fn rest<'de, A: MapAccess<'de>>(number: u32, map: A) -> Result<Self, A::Error> {
                let rest = MapAccessDeserializer::new(map);
                match number {
                    $($number => Deserialize::deserialize(rest).map(Self::$variant),)*
                    number => {
                        IgnoredAny::deserialize(rest)?;
                        Ok(if IGNORED.contains(&number) {
                            Self::Ignored(number)
                        } else {
                            Self::Unknown(number)
                        })
                    }
                }
            }
        }

        impl<'de> Deserialize<'de> for $enum {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct LinkVisitor;

                impl<'de> Visitor<'de> for LinkVisitor {
                    type Value = $enum;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a chained struct with its sType")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$enum, A::Error> {
                        let Some(first) = map.next_key::<String>()? else {
                            return Err(A::Error::missing_field("sType"));
                        };
                        if first == "sType" {
                            // Recorders write it first: the rest is read in place.
                            let number = map.next_value()?;
                            return $enum::rest(number, map);
                        }
                        let mut members = serde_json::Map::new();
                        members.insert(first, map.next_value()?);
                        while let Some((name, value)) = map.next_entry()? {
                            members.insert(name, value);
                        }
                        let number = members
                            .remove("sType")
                            .as_ref()
                            .and_then(serde_json::Value::as_u64)
                            .and_then(|number| u32::try_from(number).ok())
                            .ok_or_else(|| A::Error::missing_field("sType"))?;
                        let rest = MapDeserializer::new(members.into_iter());
                        $enum::rest(number, rest)
                            .map_err(|error: serde_json::Error| A::Error::custom(error))
                    }
                }

                deserializer.deserialize_map(LinkVisitor)
            }
        }

        impl Serialize for $enum {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(Serialize)]
                struct Tagged<'a, T> {
                    #[serde(rename = "sType")]
                    s_type: u32,
                    #[serde(flatten)]
                    body: &'a T,
                }
                match self {
                    $(Self::$variant(body) => Tagged { s_type: $number, body }
                        .serialize(serializer),)*
                    Self::Ignored(number) | Self::Unknown(number) => Err(
                        serde::ser::Error::custom(format_args!("sType {number} is not known")),
                    ),
                }
            }
        }
    };
}

links! {
    /// A struct chained to a resource, a pipeline or one of its states.
    Link {
        1_000_018_000 => RasterizationOrder(RasterizationOrder),
        1_000_028_002 => RasterizationStream(RasterizationStream),
        1_000_044_002 => Rendering(Rendering),
        1_000_044_008 => AttachmentSampleCounts(AttachmentSampleCounts),
        1_000_053_000 => Multiview(Multiview),
        1_000_068_000 => Robustness(Robustness),
        1_000_087_000 => WScaling(WScaling),
        1_000_098_000 => Swizzles(Swizzles),
        1_000_099_001 => DiscardRectangles(DiscardRectangles),
        1_000_101_001 => Conservative(Conservative),
        1_000_102_001 => DepthClip(DepthClip),
        1_000_117_001 => InputAspects(InputAspects),
        1_000_117_003 => DomainOrigin(DomainOrigin),
        1_000_130_001 => ReductionMode(ReductionMode),
        1_000_143_002 => SampleLocations(SampleLocations),
        1_000_148_002 => AdvancedBlend(AdvancedBlend),
        1_000_149_000 => CoverageToColor(CoverageToColor),
        1_000_152_000 => CoverageModulation(CoverageModulation),
        1_000_156_000 => Ycbcr(Ycbcr),
        1_000_161_000 => BindingFlags(BindingFlags),
        1_000_166_001 => RepresentativeTest(RepresentativeTest),
        1_000_190_001 => Divisors(Divisors),
        1_000_199_001 => DepthStencilResolve(DepthStencilResolve),
        1_000_205_000 => ExclusiveScissors(ExclusiveScissors),
        1_000_218_002 => DensityMap(DensityMap),
        1_000_225_001 => SubgroupSize(SubgroupSize),
        1_000_226_000 => ShadingRateAttachment(ShadingRateAttachment),
        1_000_226_001 => ShadingRate(ShadingRate),
        1_000_232_001 => AttachmentLocations(AttachmentLocations),
        1_000_232_002 => InputAttachmentIndices(InputAttachmentIndices),
        1_000_241_001 => ReferenceStencilLayout(ReferenceStencilLayout),
        1_000_241_002 => AttachmentStencilLayout(AttachmentStencilLayout),
        1_000_250_001 => CoverageReduction(CoverageReduction),
        1_000_254_001 => ProvokingVertex(ProvokingVertex),
        1_000_259_001 => Line(Line),
        1_000_283_001 => DepthBiasRepresentation(DepthBiasRepresentation),
        1_000_287_000 => CustomBorderColor(CustomBorderColor),
        1_000_290_000 => Libraries(Libraries),
        1_000_314_000 => MemoryBarrier(MemoryBarrier),
        1_000_320_002 => LibraryParts(LibraryParts),
        1_000_326_002 => ShadingRateEnum(ShadingRateEnum),
        1_000_351_002 => MutableTypes(MutableTypes),
        1_000_355_001 => DepthClipControl(DepthClipControl),
        1_000_376_002 => SingleSampled(SingleSampled),
        1_000_381_001 => ColorWrite(ColorWrite),
        1_000_411_001 => BorderColorMapping(BorderColorMapping),
        1_000_458_001 => CreationControl(CreationControl),
        1_000_470_005 => Flags2(Flags2),
        1_000_582_001 => DepthClampControl(DepthClampControl),
    }
}

links! {
    /// A struct chained to the features of a device.
    FeatureLink {
        1_000_286_000 => Robustness2(Robustness2),
        1_000_335_000 => ImageRobustness(ImageRobustness),
        1_000_382_000 => PrimitivesGenerated(PrimitivesGenerated),
        1_000_393_000 => ImageViewOf3D(ImageViewOf3D),
        1_000_068_001 => PipelineRobustness(PipelineRobustness),
    }
}

bodies! {
    struct RasterizationOrder { rasterization_order: u32, }
    struct RasterizationStream { flags: u32, rasterization_stream: u32, }
    struct Rendering {
        depth_attachment_format: u32,
        stencil_attachment_format: u32,
        view_mask: u32,
        ;
        color_attachment_formats: Vec<u32>,
    }
    struct Multiview {
        ;
        view_masks: Vec<u32>,
        view_offsets: Vec<i32>,
        correlation_masks: Vec<u32>,
    }
    struct Robustness {
        storage_buffers: u32,
        uniform_buffers: u32,
        vertex_inputs: u32,
        images: u32,
    }
    struct DiscardRectangles {
        flags: u32,
        discard_rectangle_mode: u32,
        discard_rectangle_count: u32,
        ;
        discard_rectangles: Option<Vec<RectBody>>,
    }
    struct Conservative {
        flags: u32,
        conservative_rasterization_mode: u32,
        extra_primitive_overestimation_size: Real,
    }
    struct DepthClip { flags: u32, depth_clip_enable: u32, }
    struct DomainOrigin { domain_origin: u32, }
    struct ReductionMode { reduction_mode: u32, }
    struct AdvancedBlend {
        src_premultiplied: u32,
        dst_premultiplied: u32,
        blend_overlap: u32,
    }
    struct BindingFlags {
        ;
        binding_flags: Vec<u32>,
    }
    struct Divisor { binding: u32, divisor: u32, }
    struct Divisors {
        vertex_binding_divisor_count: u32,
        ;
        vertex_binding_divisors: Vec<Divisor>,
    }
    struct DepthStencilResolve {
        depth_resolve_mode: u32,
        stencil_resolve_mode: u32,
        ;
        depth_stencil_resolve_attachment: Option<Box<ReferenceBody>>,
    }
    struct SubgroupSize { required_subgroup_size: u32, }
    struct Extent { width: u32, height: u32, }
    struct ShadingRateAttachment {
        shading_rate_attachment_texel_size: Extent,
        ;
        fragment_shading_rate_attachment: Option<Box<ReferenceBody>>,
    }
    struct ShadingRate { fragment_size: Extent, combiner_ops: [u32; 2], }
    struct AttachmentLocations {
        color_attachment_count: u32,
        ;
        color_attachment_locations: Option<Vec<u32>>,
    }
    struct InputAttachmentIndices {
        color_attachment_count: u32,
        ;
        color_attachment_input_indices: Option<Vec<u32>>,
        depth_input_attachment_index: Option<u32>,
        stencil_input_attachment_index: Option<u32>,
    }
    struct ReferenceStencilLayout { stencil_layout: u32, }
    struct AttachmentStencilLayout {
        stencil_initial_layout: u32,
        stencil_final_layout: u32,
    }
    struct ProvokingVertex { provoking_vertex_mode: u32, }
    struct Line {
        line_rasterization_mode: u32,
        stippled_line_enable: u32,
        line_stipple_factor: u32,
        line_stipple_pattern: u16,
    }
    struct DepthBiasRepresentation {
        depth_bias_representation: u32,
        depth_bias_exact: u32,
    }
    struct CustomBorderColor { custom_border_color: [u32; 4], format: u32, }
    struct Libraries { libraries: Vec<Handle>, }
    struct MemoryBarrier {
        src_stage_mask: u64,
        src_access_mask: u64,
        dst_stage_mask: u64,
        dst_access_mask: u64,
    }
    struct LibraryParts { flags: u32, }
    struct MutableTypes {
        ;
        mutable_descriptor_type_lists: Vec<Vec<u32>>,
    }
    struct DepthClipControl { negative_one_to_one: u32, }
    struct SingleSampled {
        multisampled_render_to_single_sampled_enable: u32,
        rasterization_samples: u32,
    }
    struct ColorWrite {
        attachment_count: u32,
        ;
        color_write_enables: Option<Vec<u32>>,
    }
    struct BorderColorMapping { components: [u32; 4], srgb: u32, }
    struct Flags2 { flags: u64, }

    struct AttachmentSampleCounts {
        color_attachment_samples: Vec<u32>,
        depth_stencil_attachment_samples: u32,
    }
    struct Coefficients { xcoeff: Real, ycoeff: Real, }
    struct WScaling {
        viewport_w_scaling_enable: u32,
        viewport_count: u32,
        ;
        viewport_w_scalings: Option<Vec<Coefficients>>,
    }
    struct Swizzle { x: u32, y: u32, z: u32, w: u32, }
    struct Swizzles { flags: u32, viewport_swizzles: Vec<Swizzle>, }
    struct InputAspect { subpass: u32, input_attachment_index: u32, aspect_mask: u32, }
    struct InputAspects { aspect_references: Vec<InputAspect>, }
    struct Location { x: Real, y: Real, }
    struct LocationsInfo {
        sample_locations_per_pixel: u32,
        sample_location_grid_size: Extent,
        ;
        s_type: Option<u32>,
        sample_locations: Vec<Location>,
    }
    struct SampleLocations {
        sample_locations_enable: u32,
        sample_locations_info: LocationsInfo,
    }
    struct CoverageToColor {
        flags: u32,
        coverage_to_color_enable: u32,
        coverage_to_color_location: u32,
    }
    struct CoverageModulation {
        flags: u32,
        coverage_modulation_mode: u32,
        coverage_modulation_table_enable: u32,
        ;
        coverage_modulation_table: Vec<Real>,
    }
    struct CoverageReduction { flags: u32, coverage_reduction_mode: u32, }
    struct Ycbcr {
        format: u32,
        ycbcr_model: u32,
        ycbcr_range: u32,
        components: [u32; 4],
        x_chroma_offset: u32,
        y_chroma_offset: u32,
        chroma_filter: u32,
        force_explicit_reconstruction: u32,
    }
    struct RepresentativeTest { representative_fragment_test_enable: u32, }
    struct ExclusiveScissors {
        exclusive_scissor_count: u32,
        ;
        exclusive_scissors: Option<Vec<RectBody>>,
    }
    struct DensityMap { fragment_density_map_attachment: Box<ReferenceBody>, }
    struct ShadingRateEnum {
        shading_rate_type: u32,
        shading_rate: u32,
        combiner_ops: [u32; 2],
    }
    struct CreationControl { disallow_merging: u32, }
    struct ClampRange { min_depth_clamp: Real, max_depth_clamp: Real, }
    struct DepthClampControl {
        depth_clamp_mode: u32,
        ;
        depth_clamp_range: Option<ClampRange>,
    }

    struct Robustness2 {
        robust_buffer_access2: u32,
        robust_image_access2: u32,
        null_descriptor: u32,
    }
    struct ImageRobustness { robust_image_access: u32, }
    struct PrimitivesGenerated {
        primitives_generated_query: u32,
        primitives_generated_query_with_rasterizer_discard: u32,
        primitives_generated_query_with_non_zero_streams: u32,
    }
    struct PipelineRobustness { pipeline_robustness: u32, }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ImageViewOf3D {
    #[serde(rename = "image2DViewOf3D")]
    pub(crate) image: u32,
    #[serde(rename = "sampler2DViewOf3D")]
    pub(crate) sampler: u32,
}
