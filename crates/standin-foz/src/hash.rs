//! Keys as Valve's recorder makes them, so that files merge with its own without duplicates.
//!
//! The state is FNV-1a's over 32-bit words, with the multiplication before the exclusive or.
//! `docs/foz.md` has the order of the members. Keys of files that are read are never compared
//! with these: older recorders had other rules.

mod chain;
mod graphics;
mod render_pass;

pub(crate) use graphics::graphics;
pub(crate) use render_pass::render_pass;

use crate::entry::Tag;
use crate::json::chain::Link;
use crate::json::pipeline::{ComputeBody, RayTracingBody, SpecializationBody, StageBody};
use crate::json::resource::{
    ApplicationBody, FeaturesBody, PipelineLayoutBody, SamplerBody, SetLayoutBody,
};
use crate::json::{Handle, Real};
use ash::vk;

/// No key can be made: a chained struct is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key of what has a chained struct of sType {0} is not known")]
pub struct UnknownStruct(pub u32);

pub(crate) struct Hasher(u64);

impl Hasher {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn word(&mut self, word: u32) -> &mut Self {
        self.0 = self.0.wrapping_mul(0x100_0000_01b3) ^ u64::from(word);
        self
    }

    pub(crate) fn words(&mut self, words: &[u32]) -> &mut Self {
        for &word in words {
            self.word(word);
        }
        self
    }

    pub(crate) fn signed(&mut self, word: i32) -> &mut Self {
        self.word(word.cast_unsigned())
    }

    pub(crate) fn double(&mut self, value: u64) -> &mut Self {
        self.word(value as u32).word((value >> 32) as u32)
    }

    pub(crate) fn handle(&mut self, handle: Handle) -> &mut Self {
        self.double(handle.0)
    }

    pub(crate) fn real(&mut self, value: Real) -> &mut Self {
        self.word(value.0.to_bits())
    }

    pub(crate) fn count<T>(&mut self, list: &[T]) -> &mut Self {
        self.word(list.len() as u32)
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.word(0xff);
        for byte in text.bytes() {
            self.word(u32::from(byte));
        }
        self
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) type Hashed = Result<u64, UnknownStruct>;

pub(crate) fn module(flags: u32, words: &[u32]) -> u64 {
    Hasher::new().words(words).word(flags).finish()
}

pub(crate) fn sampler(body: &SamplerBody) -> Hashed {
    let mut h = Hasher::new();
    let replay = vk::SamplerCreateFlags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT.as_raw();
    h.word(body.flags & !replay)
        .real(body.max_anisotropy)
        .real(body.mip_lod_bias)
        .real(body.min_lod)
        .real(body.max_lod)
        .word(body.min_filter)
        .word(body.mag_filter)
        .word(body.mipmap_mode)
        .word(body.compare_enable)
        .word(body.compare_op)
        .word(body.anisotropy_enable)
        .word(body.address_mode_u)
        .word(body.address_mode_v)
        .word(body.address_mode_w)
        .word(body.border_color)
        .word(body.unnormalized_coordinates);
    h.chain(&body.p_next)?;
    Ok(h.finish())
}

pub(crate) fn set_layout(body: &SetLayoutBody) -> Hashed {
    let mut h = Hasher::new();
    h.count(&body.bindings).word(body.flags);
    for binding in &body.bindings {
        h.word(binding.binding)
            .word(binding.descriptor_count)
            .word(binding.descriptor_type)
            .word(binding.stage_flags);
        // SAMPLER and COMBINED_IMAGE_SAMPLER.
        if matches!(binding.descriptor_type, 0 | 1) {
            for &sampler in &binding.immutable_samplers {
                h.handle(sampler);
            }
        }
    }
    h.chain(&body.p_next)?;
    Ok(h.finish())
}

pub(crate) fn pipeline_layout(body: &PipelineLayoutBody) -> Hashed {
    let mut h = Hasher::new();
    h.count(&body.set_layouts);
    for &set in &body.set_layouts {
        if set == Handle(0) {
            h.word(0);
        } else {
            h.handle(set);
        }
    }
    h.count(&body.push_constant_ranges);
    for range in &body.push_constant_ranges {
        h.word(range.stage_flags)
            .word(range.size)
            .word(range.offset);
    }
    h.word(body.flags);
    if let Some(link) = body.p_next.first() {
        return Err(UnknownStruct(link.s_type()));
    }
    Ok(h.finish())
}

impl Hasher {
    fn specialization(&mut self, info: Option<&SpecializationBody>) -> &mut Self {
        let Some(info) = info else {
            return self.word(0);
        };
        for &byte in &info.data.0 {
            self.word(u32::from(byte));
        }
        self.double(info.data_size).count(&info.map_entries);
        for entry in &info.map_entries {
            self.word(entry.offset)
                .double(entry.size)
                .word(entry.constant_id);
        }
        self
    }

    pub(crate) fn stage(&mut self, stage: &StageBody) -> Result<&mut Self, UnknownStruct> {
        self.word(stage.flags)
            .text(&stage.name)
            .word(stage.stage)
            .handle(stage.module)
            .specialization(stage.specialization_info.as_ref())
            .chain(&stage.p_next)
    }

    /// The flags of a pipeline; nothing of them counts where a chained struct has them.
    pub(crate) fn pipeline_flags(&mut self, flags: u64, chain: &[Link]) -> &mut Self {
        let chained = chain.iter().any(|link| matches!(link, Link::Flags2(_)));
        self.word(if chained {
            0
        } else {
            normal_flags(flags) as u32
        })
    }
}

/// Flags without those that only say how a pipeline is made. Derivatives count here.
pub(crate) fn normal_flags(flags: u64) -> u64 {
    flags & !(0x40 | 0x80 | 0x100 | 0x200 | 0x8000_0000)
}

/// Whether a base pipeline is part of the key.
pub(crate) fn is_derived(flags: u64, base: Handle) -> bool {
    flags & u64::from(vk::PipelineCreateFlags::DERIVATIVE.as_raw()) != 0 && base != Handle(0)
}

pub(crate) fn compute(body: &ComputeBody) -> Hashed {
    let mut h = Hasher::new();
    h.handle(body.layout)
        .pipeline_flags(body.flags, &body.p_next);
    if is_derived(body.flags, body.base_pipeline_handle) {
        h.handle(body.base_pipeline_handle)
            .signed(body.base_pipeline_index);
    } else {
        h.word(0);
    }
    h.handle(body.stage.module)
        .text(&body.stage.name)
        .word(body.stage.flags)
        .word(body.stage.stage)
        .specialization(body.stage.specialization_info.as_ref())
        .chain(&body.stage.p_next)?
        .chain(&body.p_next)?;
    Ok(h.finish())
}

/// As the recorder's source has it; no capture with ray tracing was at hand to compare with.
pub(crate) fn ray_tracing(body: &RayTracingBody) -> Hashed {
    let mut h = Hasher::new();
    h.pipeline_flags(body.flags, &body.p_next)
        .word(body.max_pipeline_ray_recursion_depth)
        .handle(body.layout);
    if is_derived(body.flags, body.base_pipeline_handle) {
        h.handle(body.base_pipeline_handle)
            .signed(body.base_pipeline_index);
    } else {
        h.word(0);
    }
    h.count(&body.stages);
    for stage in &body.stages {
        h.stage(stage)?;
    }
    match &body.library_interface {
        Some(interface) => {
            h.word(interface.max_pipeline_ray_hit_attribute_size)
                .word(interface.max_pipeline_ray_payload_size)
                .chain(&interface.p_next)?;
        }
        None => {
            h.word(0);
        }
    }
    h.dynamic(body.dynamic_state.as_ref())?;
    h.count(&body.groups);
    for group in &body.groups {
        h.word(group.r#type)
            .word(group.any_hit_shader)
            .word(group.closest_hit_shader)
            .word(group.general_shader)
            .word(group.intersection_shader)
            .chain(&group.p_next)?;
    }
    match &body.library_info {
        Some(info) => {
            h.count(&info.libraries);
            for &library in &info.libraries {
                h.handle(library);
            }
            h.chain(&info.p_next)?;
        }
        None => {
            h.word(0);
        }
    }
    h.chain(&body.p_next)?;
    Ok(h.finish())
}

pub(crate) fn application(info: &ApplicationBody, features: &FeaturesBody) -> Hashed {
    // Without both the whole counts as absent.
    let (Some(api), Some(robust)) = (info.api_version, features.robust_buffer_access) else {
        return Ok(Hasher::new().double(0).double(0).finish());
    };
    let mut a = Hasher::new();
    a.word(info.application_version.unwrap_or(0))
        .word(api)
        .word(info.engine_version.unwrap_or(0));
    for name in [&info.application_name, &info.engine_name] {
        match name {
            Some(name) => a.text(name),
            None => a.word(0),
        };
    }
    let mut f = Hasher::new();
    f.word(robust);
    for link in &features.p_next {
        f.feature(link)?;
    }
    Ok(Hasher::new().double(a.finish()).double(f.finish()).finish())
}

pub(crate) fn link(application: u64, tag: Tag, resource: u64) -> u64 {
    Hasher::new()
        .double(application)
        .word(u32::from(tag.number()))
        .double(resource)
        .finish()
}
