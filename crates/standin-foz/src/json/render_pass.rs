//! Render passes of both versions.

use super::bodies;
use super::chain::Link;

bodies! {
    struct ReferenceBody {
        attachment: u32,
        layout: u32,
        ;
        aspect_mask: Option<u32>,
        p_next: Vec<Link>,
    }

    struct AttachmentBody {
        flags: u32,
        format: u32,
        final_layout: u32,
        initial_layout: u32,
        load_op: u32,
        store_op: u32,
        samples: u32,
        stencil_load_op: u32,
        stencil_store_op: u32,
        ;
        p_next: Vec<Link>,
    }

    struct DependencyBody {
        dependency_flags: u32,
        dst_access_mask: u32,
        src_access_mask: u32,
        dst_stage_mask: u32,
        src_stage_mask: u32,
        dst_subpass: u32,
        src_subpass: u32,
        ;
        view_offset: Option<i32>,
        p_next: Vec<Link>,
    }

    struct SubpassBody {
        flags: u32,
        pipeline_bind_point: u32,
        ;
        view_mask: Option<u32>,
        preserve_attachments: Vec<u32>,
        input_attachments: Vec<ReferenceBody>,
        color_attachments: Vec<ReferenceBody>,
        resolve_attachments: Vec<ReferenceBody>,
        depth_stencil_attachment: Option<ReferenceBody>,
        p_next: Vec<Link>,
    }

    struct RenderPassBody {
        flags: u32,
        ;
        dependencies: Vec<DependencyBody>,
        attachments: Vec<AttachmentBody>,
        subpasses: Vec<SubpassBody>,
        correlated_view_masks: Vec<u32>,
        p_next: Vec<Link>,
    }
}

/// Which of the two create-infos a render pass was made with. Their keys differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PassVersion {
    /// `VkRenderPassCreateInfo`.
    One,
    /// `VkRenderPassCreateInfo2`.
    Two,
}
