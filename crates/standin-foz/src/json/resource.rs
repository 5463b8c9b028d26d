//! Application info, links, samplers, layouts, shader modules.

use super::chain::Link;
use super::{Blob, Handle, Real, bodies};
use crate::stream::Damage;
use crate::varint;

bodies! {
    #[derive(Default)]
    struct ApplicationBody {
        ;
        application_name: Option<String>,
        engine_name: Option<String>,
        application_version: Option<u32>,
        engine_version: Option<u32>,
        api_version: Option<u32>,
    }

    #[derive(Default)]
    struct FeaturesBody {
        ;
        robust_buffer_access: Option<u32>,
        p_next: Vec<super::chain::FeatureLink>,
    }

    struct LinkBody {
        application: Handle,
        tag: u32,
        hash: Handle,
    }

    struct SamplerBody {
        flags: u32,
        min_filter: u32,
        mag_filter: u32,
        max_anisotropy: Real,
        compare_op: u32,
        anisotropy_enable: u32,
        mipmap_mode: u32,
        address_mode_u: u32,
        address_mode_v: u32,
        address_mode_w: u32,
        border_color: u32,
        unnormalized_coordinates: u32,
        compare_enable: u32,
        mip_lod_bias: Real,
        min_lod: Real,
        max_lod: Real,
        ;
        p_next: Vec<Link>,
    }

    struct SetBindingBody {
        descriptor_type: u32,
        descriptor_count: u32,
        stage_flags: u32,
        binding: u32,
        ;
        immutable_samplers: Vec<Handle>,
    }

    struct SetLayoutBody {
        flags: u32,
        bindings: Vec<SetBindingBody>,
        ;
        p_next: Vec<Link>,
    }

    struct PushConstantBody {
        stage_flags: u32,
        size: u32,
        offset: u32,
    }

    struct PipelineLayoutBody {
        flags: u32,
        push_constant_ranges: Vec<PushConstantBody>,
        set_layouts: Vec<Handle>,
        ;
        p_next: Vec<Link>,
    }

    struct ModuleBody {
        code_size: u64,
        flags: u32,
        ;
        varint_offset: Option<u64>,
        varint_size: Option<u64>,
        code: Option<Blob>,
    }
}

impl ModuleBody {
    /// The SPIR-V words, of the binary data or of base64.
    pub(crate) fn words(&self, binary: &[u8]) -> Result<Vec<u32>, Damage> {
        let code_size = usize::try_from(self.code_size)
            .ok()
            .filter(|size| size % 4 == 0)
            .ok_or(Damage::Code("the size is no multiple of 4"))?;
        match (self.varint_offset, self.varint_size, &self.code) {
            (Some(offset), Some(size), _) => {
                let range = usize::try_from(offset)
                    .ok()
                    .zip(usize::try_from(size).ok())
                    .and_then(|(start, size)| Some(start..start.checked_add(size)?));
                let bytes = range
                    .and_then(|range| binary.get(range))
                    .ok_or(Damage::Code("it is not within the payload"))?;
                varint::decode(bytes, code_size / 4).map_err(Damage::Code)
            }
            (_, _, Some(Blob(bytes))) if bytes.len() == code_size => Ok(bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect()),
            (_, _, Some(_)) => Err(Damage::Code("the size differs")),
            _ => Err(Damage::Code("there is none")),
        }
    }
}
