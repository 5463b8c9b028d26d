//! Chained structs in keys.
//!
//! Recomputed and equal in captures: rendering, depth clip, line, provoking vertex, domain origin,
//! divisors, subgroup size, binding flags, depth clip control, custom border colour, and the
//! features robustness 2, primitives generated query and image views of 3D. No capture at hand has
//! one of the others: of those the order of the members is Vulkan's and not verified.

use super::{Hasher, UnknownStruct};
use crate::json::chain::{FeatureLink, Link};
use crate::json::render_pass::ReferenceBody;

impl Hasher {
    pub(crate) fn chain(&mut self, chain: &[Link]) -> Result<&mut Self, UnknownStruct> {
        for link in chain {
            self.link(link)?;
        }
        Ok(self)
    }

    fn link(&mut self, link: &Link) -> Result<(), UnknownStruct> {
        if let Link::Ignored(_) = link {
            return Ok(());
        }
        self.word(link.s_type());
        match link {
            Link::Ignored(_) => {}
            Link::Unknown(s_type) => return Err(UnknownStruct(*s_type)),
            Link::RasterizationOrder(b) => {
                self.word(b.rasterization_order);
            }
            Link::RasterizationStream(b) => {
                self.word(b.flags).word(b.rasterization_stream);
            }
            Link::Rendering(b) => {
                self.count(&b.color_attachment_formats)
                    .word(b.view_mask)
                    .words(&b.color_attachment_formats)
                    .word(b.depth_attachment_format)
                    .word(b.stencil_attachment_format);
            }
            Link::Multiview(b) => {
                self.count(&b.view_masks)
                    .words(&b.view_masks)
                    .count(&b.view_offsets);
                for &offset in &b.view_offsets {
                    self.signed(offset);
                }
                self.count(&b.correlation_masks).words(&b.correlation_masks);
            }
            Link::Robustness(b) => {
                self.word(b.storage_buffers)
                    .word(b.uniform_buffers)
                    .word(b.vertex_inputs)
                    .word(b.images);
            }
            Link::DiscardRectangles(b) => {
                self.word(b.flags)
                    .word(b.discard_rectangle_mode)
                    .word(b.discard_rectangle_count);
                for r in b.discard_rectangles.iter().flatten() {
                    self.signed(r.x).signed(r.y).word(r.width).word(r.height);
                }
            }
            Link::Conservative(b) => {
                self.word(b.flags)
                    .word(b.conservative_rasterization_mode)
                    .real(b.extra_primitive_overestimation_size);
            }
            Link::DepthClip(b) => {
                self.word(b.flags).word(b.depth_clip_enable);
            }
            Link::DomainOrigin(b) => {
                self.word(b.domain_origin);
            }
            Link::ReductionMode(b) => {
                self.word(b.reduction_mode);
            }
            Link::AdvancedBlend(b) => {
                self.word(b.src_premultiplied)
                    .word(b.dst_premultiplied)
                    .word(b.blend_overlap);
            }
            Link::BindingFlags(b) => {
                self.count(&b.binding_flags).words(&b.binding_flags);
            }
            Link::Divisors(b) => {
                self.word(b.vertex_binding_divisor_count);
                for d in &b.vertex_binding_divisors {
                    self.word(d.binding).word(d.divisor);
                }
            }
            Link::DepthStencilResolve(b) => match &b.depth_stencil_resolve_attachment {
                Some(reference) => {
                    self.word(b.depth_resolve_mode)
                        .word(b.stencil_resolve_mode)
                        .resolve_reference(reference)?;
                }
                None => {
                    self.word(0);
                }
            },
            Link::SubgroupSize(b) => {
                self.word(b.required_subgroup_size);
            }
            Link::ShadingRateAttachment(b) => match &b.fragment_shading_rate_attachment {
                Some(reference) => {
                    let size = &b.shading_rate_attachment_texel_size;
                    self.word(reference.attachment)
                        .word(reference.layout)
                        .word(reference.aspect_mask.unwrap_or(0))
                        .word(size.width)
                        .word(size.height);
                }
                None => {
                    self.word(0);
                }
            },
            Link::ShadingRate(b) => {
                self.word(b.fragment_size.width)
                    .word(b.fragment_size.height)
                    .words(&b.combiner_ops);
            }
            Link::AttachmentLocations(b) => {
                self.word(b.color_attachment_count);
                if let Some(locations) = &b.color_attachment_locations {
                    self.words(locations);
                }
            }
            Link::InputAttachmentIndices(b) => {
                self.word(b.color_attachment_count);
                if let Some(indices) = &b.color_attachment_input_indices {
                    self.words(indices);
                }
                self.word(b.depth_input_attachment_index.unwrap_or(0))
                    .word(b.stencil_input_attachment_index.unwrap_or(0));
            }
            Link::ReferenceStencilLayout(b) => {
                self.word(b.stencil_layout);
            }
            Link::AttachmentStencilLayout(b) => {
                self.word(b.stencil_initial_layout)
                    .word(b.stencil_final_layout);
            }
            Link::ProvokingVertex(b) => {
                self.word(b.provoking_vertex_mode);
            }
            Link::Line(b) => {
                // Without stippling the recorder takes both as 0, whatever they hold.
                let stippled = b.stippled_line_enable != 0;
                let word = |value| if stippled { value } else { 0 };
                self.word(b.line_rasterization_mode)
                    .word(b.stippled_line_enable)
                    .word(word(b.line_stipple_factor))
                    .word(word(u32::from(b.line_stipple_pattern)));
            }
            Link::DepthBiasRepresentation(b) => {
                self.word(b.depth_bias_representation)
                    .word(b.depth_bias_exact);
            }
            Link::CustomBorderColor(b) => {
                self.words(&b.custom_border_color).word(b.format);
            }
            Link::Libraries(b) => {
                self.count(&b.libraries);
                for &library in &b.libraries {
                    self.handle(library);
                }
            }
            Link::MemoryBarrier(b) => {
                self.double(b.src_stage_mask)
                    .double(b.src_access_mask)
                    .double(b.dst_stage_mask)
                    .double(b.dst_access_mask);
            }
            Link::LibraryParts(b) => {
                self.word(b.flags);
            }
            Link::MutableTypes(b) => {
                self.count(&b.mutable_descriptor_type_lists);
                for list in &b.mutable_descriptor_type_lists {
                    self.count(list).words(list);
                }
            }
            Link::DepthClipControl(b) => {
                self.word(b.negative_one_to_one);
            }
            Link::SingleSampled(b) => {
                self.word(b.multisampled_render_to_single_sampled_enable)
                    .word(b.rasterization_samples);
            }
            Link::ColorWrite(b) => {
                self.word(b.attachment_count);
                if let Some(enables) = &b.color_write_enables {
                    self.words(enables);
                }
            }
            Link::BorderColorMapping(b) => {
                self.words(&b.components).word(b.srgb);
            }
            Link::AttachmentSampleCounts(b) => {
                self.count(&b.color_attachment_samples)
                    .words(&b.color_attachment_samples)
                    .word(b.depth_stencil_attachment_samples);
            }
            Link::WScaling(b) => {
                self.word(b.viewport_w_scaling_enable)
                    .word(b.viewport_count);
                for c in b.viewport_w_scalings.iter().flatten() {
                    self.real(c.xcoeff).real(c.ycoeff);
                }
            }
            Link::Swizzles(b) => {
                self.word(b.flags).count(&b.viewport_swizzles);
                for s in &b.viewport_swizzles {
                    self.word(s.x).word(s.y).word(s.z).word(s.w);
                }
            }
            Link::InputAspects(b) => {
                self.count(&b.aspect_references);
                for r in &b.aspect_references {
                    self.word(r.subpass)
                        .word(r.input_attachment_index)
                        .word(r.aspect_mask);
                }
            }
            Link::SampleLocations(b) => {
                let info = &b.sample_locations_info;
                self.word(b.sample_locations_enable)
                    .word(info.sample_locations_per_pixel)
                    .word(info.sample_location_grid_size.width)
                    .word(info.sample_location_grid_size.height)
                    .count(&info.sample_locations);
                for location in &info.sample_locations {
                    self.real(location.x).real(location.y);
                }
            }
            Link::CoverageToColor(b) => {
                self.word(b.flags)
                    .word(b.coverage_to_color_enable)
                    .word(b.coverage_to_color_location);
            }
            Link::CoverageModulation(b) => {
                self.word(b.flags)
                    .word(b.coverage_modulation_mode)
                    .word(b.coverage_modulation_table_enable)
                    .count(&b.coverage_modulation_table);
                for &value in &b.coverage_modulation_table {
                    self.real(value);
                }
            }
            Link::CoverageReduction(b) => {
                self.word(b.flags).word(b.coverage_reduction_mode);
            }
            Link::Ycbcr(b) => {
                self.word(b.format)
                    .word(b.ycbcr_model)
                    .word(b.ycbcr_range)
                    .words(&b.components)
                    .word(b.x_chroma_offset)
                    .word(b.y_chroma_offset)
                    .word(b.chroma_filter)
                    .word(b.force_explicit_reconstruction);
            }
            Link::RepresentativeTest(b) => {
                self.word(b.representative_fragment_test_enable);
            }
            Link::ExclusiveScissors(b) => {
                self.word(b.exclusive_scissor_count);
                for r in b.exclusive_scissors.iter().flatten() {
                    self.signed(r.x).signed(r.y).word(r.width).word(r.height);
                }
            }
            Link::DensityMap(b) => {
                let map = &b.fragment_density_map_attachment;
                self.word(map.attachment).word(map.layout);
            }
            Link::ShadingRateEnum(b) => {
                self.word(b.shading_rate_type)
                    .word(b.shading_rate)
                    .words(&b.combiner_ops);
            }
            Link::CreationControl(b) => {
                self.word(b.disallow_merging);
            }
            Link::DepthClampControl(b) => {
                self.word(b.depth_clamp_mode);
                if let Some(range) = &b.depth_clamp_range {
                    self.real(range.min_depth_clamp).real(range.max_depth_clamp);
                }
            }
            Link::Flags2(b) => {
                self.double(super::normal_flags(b.flags));
            }
        }
        Ok(())
    }

    fn resolve_reference(&mut self, reference: &ReferenceBody) -> Result<(), UnknownStruct> {
        self.word(reference.attachment)
            .word(reference.layout)
            .word(reference.aspect_mask.unwrap_or(0));
        for link in &reference.p_next {
            match link {
                Link::ReferenceStencilLayout(_) => self.link(link)?,
                other => return Err(UnknownStruct(other.s_type())),
            }
        }
        Ok(())
    }

    pub(crate) fn feature(&mut self, link: &FeatureLink) -> Result<(), UnknownStruct> {
        if let FeatureLink::Ignored(_) = link {
            return Ok(());
        }
        self.word(link.s_type());
        match link {
            FeatureLink::Ignored(_) => {}
            FeatureLink::Unknown(s_type) => return Err(UnknownStruct(*s_type)),
            FeatureLink::Robustness2(b) => {
                self.word(b.robust_buffer_access2)
                    .word(b.robust_image_access2)
                    .word(b.null_descriptor);
            }
            FeatureLink::ImageRobustness(b) => {
                self.word(b.robust_image_access);
            }
            FeatureLink::PrimitivesGenerated(b) => {
                self.word(b.primitives_generated_query)
                    .word(b.primitives_generated_query_with_rasterizer_discard)
                    .word(b.primitives_generated_query_with_non_zero_streams);
            }
            FeatureLink::ImageViewOf3D(b) => {
                self.word(b.image).word(b.sampler);
            }
            FeatureLink::PipelineRobustness(b) => {
                self.word(b.pipeline_robustness);
            }
        }
        Ok(())
    }
}
