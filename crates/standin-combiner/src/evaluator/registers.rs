//! The evaluator's eight writable registers, in three forms of storage. Everything else
//! that a program can read is a constant of the block or known from the shell.

use super::{Evaluator, RegisterStorage};
use crate::emit::{Builder, Inputs, Type, bool_of};
use crate::packet::{SOURCE_REGISTERS, WRITABLE};
use crate::program::Register;
use crate::shell::{Shell, TextureMode};
use spirv::{Op, StorageClass};

#[derive(Clone, Debug)]
pub(super) enum RegisterFile {
    /// An array of vectors.
    Array(u32),
    /// One variable for each register.
    Variables([u32; SOURCE_REGISTERS]),
}

/// Which part of a register is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Rgb,
    Alpha,
}

impl RegisterFile {
    pub(super) fn declare(b: &mut Builder, storage: RegisterStorage) -> Self {
        match storage {
            RegisterStorage::Array => {
                let length = b.uint(SOURCE_REGISTERS as u32);
                let array = b.type_of(Op::TypeArray, &[Type::Vec4 as u32, length]);
                Self::Array(b.local(array))
            }
            RegisterStorage::Switch | RegisterStorage::Selects => {
                Self::Variables(WRITABLE.map(|_| b.local(Type::Vec4 as u32)))
            }
        }
    }

    /// The registers before the first stage.
    pub(super) fn fill(&self, b: &mut Builder, shell: &Shell, inputs: &Inputs) {
        let (zero, one) = (b.splat(Type::Float, 0.0), b.splat(Type::Float, 1.0));
        let zeroes = b.splat(Type::Vec4, 0.0);
        let alpha_one = b.typed(Op::CompositeInsert, Type::Vec4, &[one, zeroes, 3]);
        let mut values = [zeroes; SOURCE_REGISTERS];
        let mut t0_alpha = zero;
        for (slot, register) in WRITABLE.into_iter().enumerate() {
            values[slot] = match register {
                Register::V0 | Register::V1 => {
                    inputs.colours[register.index() - Register::V0.index()]
                }
                Register::R0 => b.typed(Op::CompositeInsert, Type::Vec4, &[t0_alpha, zeroes, 3]),
                Register::R1 => zeroes,
                _ => {
                    let i = register.index() - Register::T0.index();
                    match shell.textures[i] {
                        TextureMode::None | TextureMode::ClipPlane { .. } => alpha_one,
                        _ => inputs.textures[i],
                    }
                }
            };
            if register == Register::T0 {
                t0_alpha = b.typed(Op::CompositeExtract, Type::Float, &[values[slot], 3]);
            }
        }
        for (slot, value) in values.into_iter().enumerate() {
            let pointer = self.pointer(b, slot);
            b.act(Op::Store, &[pointer, value]);
        }
    }

    fn pointer(&self, b: &mut Builder, slot: usize) -> u32 {
        match self {
            Self::Array(array) => {
                let index = b.uint(slot as u32);
                element(b, *array, index)
            }
            Self::Variables(variables) => variables[slot],
        }
    }

    /// A known slot's vector.
    pub(super) fn load(&self, b: &mut Builder, slot: usize) -> u32 {
        let pointer = self.pointer(b, slot);
        b.load(Type::Vec4, pointer)
    }
}

fn element(b: &mut Builder, array: u32, index: u32) -> u32 {
    let pointer = b.pointer(StorageClass::Function, Type::Vec4 as u32);
    b.value(Op::AccessChain, pointer, &[array, index])
}

/// `value` in a part of `old`.
fn merged(b: &mut Builder, part: Part, old: u32, value: u32) -> u32 {
    let (from, to) = match part {
        Part::Whole => return value,
        Part::Rgb => (old, value),
        Part::Alpha => (value, old),
    };
    let alpha = b.typed(Op::CompositeExtract, Type::Float, &[from, 3]);
    b.typed(Op::CompositeInsert, Type::Vec4, &[alpha, to, 3])
}

impl Evaluator {
    /// The register in a slot that is known to be below eight.
    pub(super) fn read_slot(&mut self, slot: u32) -> u32 {
        match self.registers.clone() {
            RegisterFile::Array(array) => {
                let pointer = element(&mut self.b, array, slot);
                self.b.load(Type::Vec4, pointer)
            }
            RegisterFile::Variables(variables) => {
                let mut values: Vec<u32> = variables
                    .into_iter()
                    .map(|variable| self.b.load(Type::Vec4, variable))
                    .collect();
                for bit in 0..3 {
                    let set = self.any(slot, 1 << bit);
                    values = values
                        .chunks_exact(2)
                        .map(|pair| self.select(set, pair[1], pair[0]))
                        .collect();
                }
                values[0]
            }
        }
    }

    fn select(&mut self, condition: u32, yes: u32, no: u32) -> u32 {
        let all = self
            .b
            .typed(Op::CompositeConstruct, bool_of(Type::Vec4), &[condition; 4]);
        self.b.typed(Op::Select, Type::Vec4, &[all, yes, no])
    }

    /// Writes a part of the register in `slot`; 8 and above write nothing.
    pub(super) fn write(&mut self, slot: u32, part: Part, value: u32) {
        match (self.form.registers, self.registers.clone()) {
            (_, RegisterFile::Array(array)) => {
                let eight = self.b.uint(SOURCE_REGISTERS as u32);
                let inside = self.b.typed(Op::ULessThan, Type::Bool, &[slot, eight]);
                self.act_where(inside, |code| {
                    let pointer = element(&mut code.b, array, slot);
                    let value = match part {
                        Part::Whole => value,
                        _ => {
                            let old = code.b.load(Type::Vec4, pointer);
                            merged(&mut code.b, part, old, value)
                        }
                    };
                    code.b.act(Op::Store, &[pointer, value]);
                });
            }
            (RegisterStorage::Selects, RegisterFile::Variables(variables)) => {
                for (i, variable) in variables.into_iter().enumerate() {
                    let number = self.b.uint(i as u32);
                    let hit = self.b.typed(Op::IEqual, Type::Bool, &[slot, number]);
                    let old = self.b.load(Type::Vec4, variable);
                    let new = merged(&mut self.b, part, old, value);
                    let kept = self.select(hit, new, old);
                    self.b.act(Op::Store, &[variable, kept]);
                }
            }
            (_, RegisterFile::Variables(variables)) => {
                self.act_case(slot, SOURCE_REGISTERS, |code, i| {
                    let variable = variables[i];
                    let new = match part {
                        Part::Whole => value,
                        _ => {
                            let old = code.b.load(Type::Vec4, variable);
                            merged(&mut code.b, part, old, value)
                        }
                    };
                    code.b.act(Op::Store, &[variable, new]);
                });
            }
        }
    }
}
