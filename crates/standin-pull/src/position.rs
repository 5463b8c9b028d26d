//! Same positions: the decorations with which two pipelines of one vertex shader compute the same `Position`.
//!
//! Vulkan's invariance rules cover only identical shaders, so both variants get `Invariant` on the position and
//! `NoContraction` on all floating-point arithmetic: contraction is what compilers decide differently when other
//! code surrounds the same expression.

use std::collections::HashSet;

use spirv::{BuiltIn, Decoration, Op, StorageClass};

use crate::emit::Emitter;
use crate::interface::{Declarations, Entry};
use crate::module::Module;

/// Adds the decorations to what `emitter` will insert.
pub(crate) fn hold_position(
    module: &Module<'_>,
    declarations: &Declarations,
    entry: &Entry,
    emitter: &mut Emitter,
) {
    let mut decorated = HashSet::new();
    for &id in &entry.interface {
        let Some(variable) = declarations
            .variable(id)
            .filter(|v| v.class == StorageClass::Output as u32)
        else {
            continue;
        };
        if declarations.decoration(id, None, Decoration::BuiltIn) == Some(BuiltIn::Position as u32)
        {
            if declarations
                .decoration(id, None, Decoration::Invariant)
                .is_none()
            {
                emitter.decorate(id, Decoration::Invariant, &[]);
            }
            continue;
        }
        let ty = declarations.inner_type(variable.pointee);
        let position = BuiltIn::Position as u32;
        if let Some(member) =
            declarations.member_decoration(ty, Decoration::BuiltIn, Some(position))
            && declarations
                .decoration(ty, Some(member), Decoration::Invariant)
                .is_none()
            && decorated.insert(ty)
        {
            emitter.decorate_member(ty, member, Decoration::Invariant, &[]);
        }
    }
    for instruction in &module.instructions[module.first_function()..] {
        let Some(op) = Op::from_u32(u32::from(instruction.opcode)) else {
            continue;
        };
        let result = instruction.operand(1);
        if is_float_arithmetic(op)
            && result != 0
            && declarations
                .decoration(result, None, Decoration::NoContraction)
                .is_none()
            && decorated.insert(result)
        {
            emitter.decorate(result, Decoration::NoContraction, &[]);
        }
    }
}

const fn is_float_arithmetic(op: Op) -> bool {
    matches!(
        op,
        Op::FNegate
            | Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::Dot
    )
}
