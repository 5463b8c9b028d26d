//! Normal forms of depth-stencil and colour blending.

use super::render_pass::is_used;
use super::{Dynamic, Reads};
use crate::codec::Float;
use crate::output::{
    AdvancedBlend, BlendAttachment, ColorBlendState, DepthStencilState, StencilFace, Target,
};
use crate::raster::Counted;
use ash::vk::{self, BlendFactor, DynamicState as State};

pub(super) fn normal_depth_stencil(
    state: &DepthStencilState,
    dynamic: Dynamic<'_>,
    reads: &Reads,
) -> DepthStencilState {
    let mut state = state.clone();
    let test_is_dynamic = dynamic.has(State::DEPTH_TEST_ENABLE);
    // Depth is written only where it is tested.
    let test_possible = (state.depth_test_enable || test_is_dynamic) && reads.depth != Some(false);
    state.depth_test_enable &= !test_is_dynamic && test_possible;
    state.depth_write_enable &= !dynamic.has(State::DEPTH_WRITE_ENABLE) && test_possible;
    if dynamic.has(State::DEPTH_COMPARE_OP) || !test_possible {
        state.depth_compare_op = vk::CompareOp::NEVER;
    }
    let bounds_is_dynamic = dynamic.has(State::DEPTH_BOUNDS_TEST_ENABLE);
    let bounds_possible =
        (state.depth_bounds_test_enable || bounds_is_dynamic) && reads.depth != Some(false);
    state.depth_bounds_test_enable &= !bounds_is_dynamic && bounds_possible;
    if dynamic.has(State::DEPTH_BOUNDS) || !bounds_possible {
        state.min_depth_bounds = Float::default();
        state.max_depth_bounds = Float::default();
    }
    let stencil_is_dynamic = dynamic.has(State::STENCIL_TEST_ENABLE);
    let stencil_possible =
        (state.stencil_test_enable || stencil_is_dynamic) && reads.stencil != Some(false);
    state.stencil_test_enable &= !stencil_is_dynamic && stencil_possible;
    for face in [&mut state.front, &mut state.back] {
        if stencil_possible {
            normal_face(face, dynamic);
        } else {
            *face = StencilFace::default();
        }
    }
    state
}

fn normal_face(face: &mut StencilFace, dynamic: Dynamic<'_>) {
    if dynamic.has(State::STENCIL_OP) {
        face.fail_op = vk::StencilOp::KEEP;
        face.pass_op = vk::StencilOp::KEEP;
        face.depth_fail_op = vk::StencilOp::KEEP;
        face.compare_op = vk::CompareOp::NEVER;
    }
    if dynamic.has(State::STENCIL_COMPARE_MASK) {
        face.compare_mask = 0;
    }
    if dynamic.has(State::STENCIL_WRITE_MASK) {
        face.write_mask = 0;
    }
    if dynamic.has(State::STENCIL_REFERENCE) {
        face.reference = 0;
    }
}

pub(super) fn normal_color_blend(
    state: &ColorBlendState,
    dynamic: Dynamic<'_>,
    target: &Target,
) -> ColorBlendState {
    let mut state = state.clone();
    let logic_is_dynamic = dynamic.has(State::LOGIC_OP_ENABLE_EXT);
    let logic_possible = state.logic_op_enable || logic_is_dynamic;
    // With a logical operation no attachment blends.
    let never_blends = state.logic_op_enable && !logic_is_dynamic;
    state.logic_op_enable &= !logic_is_dynamic;
    if !logic_possible || dynamic.has(State::LOGIC_OP_EXT) {
        state.logic_op = vk::LogicOp::CLEAR;
    }

    let rules = BlendRules {
        never_blends,
        enable: dynamic.has(State::COLOR_BLEND_ENABLE_EXT),
        equation: dynamic.has(State::COLOR_BLEND_EQUATION_EXT),
        mask: dynamic.has(State::COLOR_WRITE_MASK_EXT),
        advanced: dynamic.has(State::COLOR_BLEND_ADVANCED_EXT),
    };
    if rules.enable && rules.equation && rules.mask {
        state.attachments = Counted::Count(state.attachments.count());
    }
    let mut uses = BlendUses::default();
    if let Counted::Values(attachments) = &mut state.attachments {
        for (index, attachment) in attachments.iter_mut().enumerate() {
            if has_color_attachment(target, index) {
                let used = rules.normal_attachment(attachment);
                uses.constants |= used.constants;
                uses.advanced |= used.advanced;
            } else {
                *attachment = BlendAttachment::default();
            }
        }
    } else {
        uses = BlendUses {
            constants: !never_blends,
            advanced: !never_blends,
        };
    }

    if !uses.constants || dynamic.has(State::BLEND_CONSTANTS) {
        state.blend_constants = Default::default();
    }
    if dynamic.has(State::COLOR_WRITE_ENABLE_EXT) {
        state.color_write_enables = None;
    }
    state.color_write_enables = state.color_write_enables.take().filter(|enables| {
        enables
            .values()
            .is_some_and(|enables| enables.contains(&false))
    });
    state.advanced = state.advanced.take().filter(|advanced| {
        uses.advanced && !rules.advanced && *advanced != AdvancedBlend::default()
    });
    state
}

/// Whether there is a colour attachment of this index, as far as the recipe knows.
fn has_color_attachment(target: &Target, index: usize) -> bool {
    match target {
        Target::RenderPass { pass, subpass } => usize::try_from(*subpass)
            .ok()
            .and_then(|subpass| pass.subpasses.get(subpass))
            .is_none_or(|subpass| subpass.color_attachments.get(index).is_some_and(is_used)),
        Target::Rendering(formats) => formats
            .color
            .get(index)
            .is_some_and(|format| *format != vk::Format::UNDEFINED),
    }
}

#[derive(Default)]
struct BlendUses {
    constants: bool,
    advanced: bool,
}

/// Which parts of blending the draw sets.
struct BlendRules {
    never_blends: bool,
    enable: bool,
    equation: bool,
    mask: bool,
    advanced: bool,
}

impl BlendRules {
    fn normal_attachment(&self, attachment: &mut BlendAttachment) -> BlendUses {
        if self.mask {
            attachment.write_mask = vk::ColorComponentFlags::empty();
        }
        let possible = !self.never_blends && (attachment.blend_enable || self.enable);
        attachment.blend_enable &= possible && !self.enable;
        if !possible || self.equation {
            *attachment = BlendAttachment {
                blend_enable: attachment.blend_enable,
                write_mask: attachment.write_mask,
                ..BlendAttachment::default()
            };
            return BlendUses {
                constants: possible,
                advanced: possible,
            };
        }
        // Least and greatest take no factors.
        if takes_no_factors(attachment.color_op) {
            attachment.src_color = BlendFactor::ZERO;
            attachment.dst_color = BlendFactor::ZERO;
        }
        if takes_no_factors(attachment.alpha_op) {
            attachment.src_alpha = BlendFactor::ZERO;
            attachment.dst_alpha = BlendFactor::ZERO;
        }
        let constants = [
            attachment.src_color,
            attachment.dst_color,
            attachment.src_alpha,
            attachment.dst_alpha,
        ]
        .into_iter()
        .any(|factor| {
            (BlendFactor::CONSTANT_COLOR.as_raw()..=BlendFactor::ONE_MINUS_CONSTANT_ALPHA.as_raw())
                .contains(&factor.as_raw())
        });
        // The first advanced operation's number is the first of its extension.
        let advanced = attachment.color_op >= vk::BlendOp::ZERO_EXT;
        BlendUses {
            constants,
            advanced,
        }
    }
}

fn takes_no_factors(op: vk::BlendOp) -> bool {
    op == vk::BlendOp::MIN || op == vk::BlendOp::MAX
}
