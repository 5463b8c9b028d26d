//! A SPIR-V 1.0 module under construction: one entry point, one function. Every float
//! addition, subtraction and multiplication is decorated NoContraction, because all
//! implementations must round the same way.

use spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GlslStd450Op, MemoryModel, Op, SelectionControl, StorageClass,
};

/// The value types that exist in every module, by their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Type {
    Void = 1,
    Bool,
    Float,
    Uint,
    Vec2,
    Vec3,
    Vec4,
    Bool3,
    Bool4,
    Uint4,
}

/// Ids below this are the fixed types, the GLSL instruction set, the function and its type.
const GLSL: u32 = 11;
const FUNCTION_TYPE: u32 = 12;
const MAIN: u32 = 13;
const FIRST_FREE: u32 = 14;

#[derive(Debug)]
pub(crate) struct Builder {
    next: u32,
    interface: Vec<u32>,
    annotations: Vec<u32>,
    globals: Vec<u32>,
    /// Function-local variables: SPIR-V wants them first in the first block.
    locals: Vec<u32>,
    body: Vec<u32>,
    /// Types and constants by their words, so that none is declared twice.
    declared: Vec<(u32, Vec<u32>, u32)>,
    floats: Vec<(Type, u32, u32)>,
    block: u32,
}

fn push(section: &mut Vec<u32>, op: Op, operands: &[u32]) {
    section.push((operands.len() as u32 + 1) << 16 | op as u32);
    section.extend_from_slice(operands);
}

impl Builder {
    pub(crate) fn new() -> Self {
        let mut globals = Vec::with_capacity(256);
        let mut declare = |op, operands: &[u32]| push(&mut globals, op, operands);
        declare(Op::TypeVoid, &[Type::Void as u32]);
        declare(Op::TypeFunction, &[FUNCTION_TYPE, Type::Void as u32]);
        declare(Op::TypeBool, &[Type::Bool as u32]);
        declare(Op::TypeFloat, &[Type::Float as u32, 32]);
        declare(Op::TypeInt, &[Type::Uint as u32, 32, 0]);
        let float = Type::Float as u32;
        for (vector, element, size) in [
            (Type::Vec2, float, 2),
            (Type::Vec3, float, 3),
            (Type::Vec4, float, 4),
            (Type::Bool3, Type::Bool as u32, 3),
            (Type::Bool4, Type::Bool as u32, 4),
            (Type::Uint4, Type::Uint as u32, 4),
        ] {
            declare(Op::TypeVector, &[vector as u32, element, size]);
        }
        let mut builder = Self {
            next: FIRST_FREE,
            interface: Vec::with_capacity(16),
            annotations: Vec::with_capacity(1024),
            globals,
            locals: Vec::new(),
            body: Vec::with_capacity(4096),
            declared: Vec::with_capacity(32),
            floats: Vec::with_capacity(32),
            block: 0,
        };
        let entry = builder.id();
        builder.label(entry);
        builder
    }

    pub(crate) fn id(&mut self) -> u32 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// A type or constant that is declared once: `operands` without the result id, which
    /// stands after the first operand for constants and first for types.
    fn declare(&mut self, op: Op, operands: &[u32], id_at: usize) -> u32 {
        let known = self
            .declared
            .iter()
            .find(|(o, words, _)| *o == op as u32 && words == operands);
        if let Some((_, _, id)) = known {
            return *id;
        }
        let id = self.id();
        let mut words = operands.to_vec();
        words.insert(id_at, id);
        push(&mut self.globals, op, &words);
        self.declared.push((op as u32, operands.to_vec(), id));
        id
    }

    pub(crate) fn type_of(&mut self, op: Op, operands: &[u32]) -> u32 {
        self.declare(op, operands, 0)
    }

    pub(crate) fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        self.type_of(Op::TypePointer, &[class as u32, to])
    }

    pub(crate) fn uint(&mut self, value: u32) -> u32 {
        self.declare(Op::Constant, &[Type::Uint as u32, value], 1)
    }

    pub(crate) fn boolean(&mut self, value: bool) -> u32 {
        let op = if value {
            Op::ConstantTrue
        } else {
            Op::ConstantFalse
        };
        self.declare(op, &[Type::Bool as u32], 1)
    }

    /// A float constant, or a vector of it.
    pub(crate) fn splat(&mut self, of: Type, value: f32) -> u32 {
        let bits = value.to_bits();
        let known = self.floats.iter().find(|(t, b, _)| *t == of && *b == bits);
        if let Some((_, _, id)) = known {
            return *id;
        }
        let id = match of {
            Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                let scalar = self.splat(Type::Float, value);
                let id = self.id();
                let size = of as usize - Type::Vec2 as usize + 2;
                push(
                    &mut self.globals,
                    Op::ConstantComposite,
                    &[&[of as u32, id], [scalar; 4].get(..size).unwrap_or(&[])].concat(),
                );
                id
            }
            _ => {
                let id = self.id();
                push(&mut self.globals, Op::Constant, &[of as u32, id, bits]);
                id
            }
        };
        self.floats.push((of, bits, id));
        id
    }

    /// A structure with one member at offset 0, as the type of a uniform block.
    pub(crate) fn block_of(&mut self, member: u32) -> u32 {
        let id = self.type_of(Op::TypeStruct, &[member]);
        self.decorate(id, Decoration::Block, &[]);
        push(
            &mut self.annotations,
            Op::MemberDecorate,
            &[id, 0, Decoration::Offset as u32, 0],
        );
        id
    }

    pub(crate) fn decorate(&mut self, id: u32, decoration: Decoration, operands: &[u32]) {
        push(
            &mut self.annotations,
            Op::Decorate,
            &[&[id, decoration as u32], operands].concat(),
        );
    }

    /// A module-level variable of the pointed-to type `of`.
    pub(crate) fn global(&mut self, class: StorageClass, of: u32) -> u32 {
        let pointer = self.pointer(class, of);
        let id = self.id();
        push(
            &mut self.globals,
            Op::Variable,
            &[pointer, id, class as u32],
        );
        if matches!(class, StorageClass::Input | StorageClass::Output) {
            self.interface.push(id);
        }
        id
    }

    /// A function variable.
    pub(crate) fn local(&mut self, of: u32) -> u32 {
        let class = StorageClass::Function;
        let pointer = self.pointer(class, of);
        let id = self.id();
        push(&mut self.locals, Op::Variable, &[pointer, id, class as u32]);
        id
    }

    /// An instruction with a result.
    pub(crate) fn value(&mut self, op: Op, of: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        self.body
            .push((operands.len() as u32 + 3) << 16 | op as u32);
        self.body.push(of);
        self.body.push(id);
        self.body.extend_from_slice(operands);
        if matches!(op, Op::FAdd | Op::FSub | Op::FMul) {
            self.annotations.extend_from_slice(&[
                3 << 16 | Op::Decorate as u32,
                id,
                Decoration::NoContraction as u32,
            ]);
        }
        id
    }

    pub(crate) fn typed(&mut self, op: Op, of: Type, operands: &[u32]) -> u32 {
        self.value(op, of as u32, operands)
    }

    /// A GLSL.std.450 instruction.
    pub(crate) fn glsl(&mut self, op: GlslStd450Op, of: Type, operands: &[u32]) -> u32 {
        let id = self.id();
        self.body
            .push((operands.len() as u32 + 5) << 16 | Op::ExtInst as u32);
        self.body
            .extend_from_slice(&[of as u32, id, GLSL, op as u32]);
        self.body.extend_from_slice(operands);
        id
    }

    /// An instruction without a result.
    pub(crate) fn act(&mut self, op: Op, operands: &[u32]) {
        push(&mut self.body, op, operands);
    }

    pub(crate) fn load(&mut self, of: Type, pointer: u32) -> u32 {
        self.typed(Op::Load, of, &[pointer])
    }

    pub(crate) fn label(&mut self, id: u32) {
        push(&mut self.body, Op::Label, &[id]);
        self.block = id;
    }

    /// The block that is being written: the predecessor for a phi.
    pub(crate) fn block(&self) -> u32 {
        self.block
    }

    pub(crate) fn branch(&mut self, to: u32) {
        self.act(Op::Branch, &[to]);
    }

    /// Ends the block with a two-way selection; the caller writes the blocks.
    pub(crate) fn select_blocks(&mut self, condition: u32, yes: u32, no: u32, merge: u32) {
        self.act(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        self.act(Op::BranchConditional, &[condition, yes, no]);
    }

    /// x, or +0 where x is tiny, -0 or not a number: [`crate::arithmetic::flush`].
    pub(crate) fn flush(&mut self, of: Type, x: u32) -> u32 {
        let tiny = self.splat(of, crate::arithmetic::TINY);
        let zero = self.splat(of, 0.0);
        let magnitude = self.glsl(GlslStd450Op::FAbs, of, &[x]);
        let counts = self.typed(Op::FOrdGreaterThanEqual, bool_of(of), &[magnitude, tiny]);
        self.typed(Op::Select, of, &[counts, x, zero])
    }

    pub(crate) fn max(&mut self, of: Type, x: u32, limit: f32) -> u32 {
        let limit = self.splat(of, limit);
        self.glsl(GlslStd450Op::FMax, of, &[x, limit])
    }

    pub(crate) fn min(&mut self, of: Type, x: u32, limit: f32) -> u32 {
        let limit = self.splat(of, limit);
        self.glsl(GlslStd450Op::FMin, of, &[x, limit])
    }

    pub(crate) fn clamp(&mut self, of: Type, x: u32, low: f32, high: f32) -> u32 {
        let low = self.splat(of, low);
        let high = self.splat(of, high);
        self.glsl(GlslStd450Op::FClamp, of, &[x, low, high])
    }

    /// Bit 0 of `x` in [0, 1] as a truncated byte, as a condition:
    /// [`crate::arithmetic::low_bit`].
    pub(crate) fn low_bit(&mut self, x: u32) -> u32 {
        let scale = self.splat(Type::Float, 255.0);
        let (one, zero) = (self.uint(1), self.uint(0));
        let scaled = self.typed(Op::FMul, Type::Float, &[x, scale]);
        let byte = self.typed(Op::ConvertFToU, Type::Uint, &[scaled]);
        let bit = self.typed(Op::BitwiseAnd, Type::Uint, &[byte, one]);
        self.typed(Op::INotEqual, Type::Bool, &[bit, zero])
    }

    /// Ends the function and puts the sections together.
    pub(crate) fn finish(mut self) -> Vec<u32> {
        self.act(Op::Return, &[]);
        self.act(Op::FunctionEnd, &[]);
        let mut words = Vec::with_capacity(
            64 + self.interface.len()
                + self.annotations.len()
                + self.globals.len()
                + self.body.len(),
        );
        words.extend_from_slice(&[spirv::MAGIC_NUMBER, 0x0001_0000, 0, self.next, 0]);
        let out = &mut words;
        push(out, Op::Capability, &[Capability::Shader as u32]);
        let name = |text: &[u8; 16]| {
            [0, 4, 8, 12]
                .map(|i| u32::from_le_bytes([text[i], text[i + 1], text[i + 2], text[i + 3]]))
        };
        let glsl = name(b"GLSL.std.450\0\0\0\0");
        push(out, Op::ExtInstImport, &[&[GLSL][..], &glsl].concat());
        push(
            out,
            Op::MemoryModel,
            &[AddressingModel::Logical as u32, MemoryModel::GLSL450 as u32],
        );
        let main = name(b"main\0\0\0\0\0\0\0\0\0\0\0\0");
        let entry = [
            &[ExecutionModel::Fragment as u32, MAIN][..],
            &main[..2],
            &self.interface,
        ];
        push(out, Op::EntryPoint, &entry.concat());
        push(
            out,
            Op::ExecutionMode,
            &[MAIN, ExecutionMode::OriginUpperLeft as u32],
        );
        out.extend_from_slice(&self.annotations);
        out.extend_from_slice(&self.globals);
        let function = [
            Type::Void as u32,
            MAIN,
            FunctionControl::NONE.bits(),
            FUNCTION_TYPE,
        ];
        push(out, Op::Function, &function);
        // The entry block's label is the body's first instruction: two words.
        let (label, rest) = self.body.split_at(2);
        out.extend_from_slice(label);
        out.extend_from_slice(&self.locals);
        out.extend_from_slice(rest);
        words
    }
}

pub(crate) fn bool_of(of: Type) -> Type {
    match of {
        Type::Vec3 => Type::Bool3,
        Type::Vec4 => Type::Bool4,
        _ => Type::Bool,
    }
}
