//! Keys of render passes.

use super::{Hashed, Hasher, UnknownStruct};
use crate::json::render_pass::{PassVersion, ReferenceBody, RenderPassBody, SubpassBody};

pub(crate) fn render_pass(body: &RenderPassBody, version: PassVersion) -> Hashed {
    let mut h = Hasher::new();
    if body.flags != 0 || version == PassVersion::Two {
        h.word(body.flags);
    }
    h.count(&body.attachments)
        .count(&body.dependencies)
        .count(&body.subpasses);
    if version == PassVersion::Two {
        h.count(&body.correlated_view_masks).word(2);
    }
    for a in &body.attachments {
        h.word(a.flags)
            .word(a.initial_layout)
            .word(a.final_layout)
            .word(a.format)
            .word(a.load_op)
            .word(a.store_op)
            .word(a.stencil_load_op)
            .word(a.stencil_store_op)
            .word(a.samples)
            .chain(&a.p_next)?;
    }
    for d in &body.dependencies {
        h.word(d.dependency_flags)
            .word(d.dst_access_mask)
            .word(d.src_access_mask)
            .word(d.src_subpass)
            .word(d.dst_subpass)
            .word(d.src_stage_mask)
            .word(d.dst_stage_mask);
        if version == PassVersion::Two {
            h.signed(d.view_offset.unwrap_or(0));
        }
        h.chain(&d.p_next)?;
    }
    for s in &body.subpasses {
        h.subpass(s, version)?;
    }
    if version == PassVersion::Two {
        h.words(&body.correlated_view_masks);
    }
    h.chain(&body.p_next)?;
    Ok(h.finish())
}

impl Hasher {
    fn subpass(&mut self, s: &SubpassBody, version: PassVersion) -> Result<(), UnknownStruct> {
        self.word(s.flags)
            .count(&s.color_attachments)
            .count(&s.input_attachments)
            .count(&s.preserve_attachments)
            .word(s.pipeline_bind_point)
            .words(&s.preserve_attachments);
        let lists = [
            &s.color_attachments,
            &s.input_attachments,
            &s.resolve_attachments,
        ];
        for reference in lists.into_iter().flatten() {
            self.reference(reference, version)?;
        }
        match &s.depth_stencil_attachment {
            Some(reference) => self.reference(reference, version)?,
            None => {
                self.word(0);
            }
        }
        if version == PassVersion::Two {
            self.word(s.view_mask.unwrap_or(0));
        }
        self.chain(&s.p_next)?;
        Ok(())
    }

    fn reference(
        &mut self,
        reference: &ReferenceBody,
        version: PassVersion,
    ) -> Result<(), UnknownStruct> {
        self.word(reference.attachment).word(reference.layout);
        if version == PassVersion::Two {
            self.word(reference.aspect_mask.unwrap_or(0));
        }
        self.chain(&reference.p_next)?;
        Ok(())
    }
}
