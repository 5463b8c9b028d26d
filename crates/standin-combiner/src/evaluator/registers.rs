//! The evaluator's registers, in three forms of storage.

use super::RegisterStorage;
use crate::emit::{Builder, Inputs, Type};
use crate::packet::FOG_COLOUR;
use crate::program::Register;
use crate::shell::{Shell, TextureMode};
use spirv::{Op, SelectionControl, StorageClass};

#[derive(Clone, Debug)]
pub(super) enum RegisterFile {
    /// An array of 64 floats: register * 4 + component.
    Floats { array: u32 },
    /// An array of 16 vectors.
    Vectors { array: u32 },
    /// Per register a vec3 and a float.
    Variables { rgb: [u32; 16], alpha: [u32; 16] },
}

/// Registers that a program can write; the switch of a write has no other case.
const WRITABLE: [Register; 10] = [
    Register::V0,
    Register::V1,
    Register::T0,
    Register::T1,
    Register::T2,
    Register::T3,
    Register::R0,
    Register::R1,
    Register::V1R0Sum,
    Register::EfProduct,
];

impl RegisterFile {
    pub(super) fn declare(b: &mut Builder, storage: RegisterStorage) -> Self {
        match storage {
            RegisterStorage::FloatArray => {
                let length = b.uint(64);
                let array = b.type_of(Op::TypeArray, &[Type::Float as u32, length]);
                Self::Floats {
                    array: b.local(array),
                }
            }
            RegisterStorage::VectorArray => {
                let length = b.uint(16);
                let array = b.type_of(Op::TypeArray, &[Type::Vec4 as u32, length]);
                Self::Vectors {
                    array: b.local(array),
                }
            }
            RegisterStorage::Variables => Self::Variables {
                rgb: [0; 16].map(|_| b.local(Type::Vec3 as u32)),
                alpha: [0; 16].map(|_| b.local(Type::Float as u32)),
            },
        }
    }

    /// The registers before the first stage. C0 and C1 are set by every stage.
    pub(super) fn fill(&self, b: &mut Builder, shell: &Shell, inputs: &Inputs) {
        let (zero, one) = (b.splat(Type::Float, 0.0), b.splat(Type::Float, 1.0));
        let zeroes = b.splat(Type::Vec4, 0.0);
        let zero_alpha_one = b.typed(Op::CompositeConstruct, Type::Vec4, &[zero, zero, zero, one]);
        for register in [
            Register::Zero,
            Register::Reserved6,
            Register::Reserved7,
            Register::R1,
            Register::V1R0Sum,
            Register::EfProduct,
        ] {
            self.set(b, register, zeroes);
        }
        self.set(b, Register::V0, inputs.colours[0]);
        self.set(b, Register::V1, inputs.colours[1]);
        let index = b.uint(FOG_COLOUR as u32);
        let colour = inputs.constant(b, index);
        let fog = b.typed(Op::CompositeInsert, Type::Vec4, &[inputs.fog, colour, 3]);
        self.set(b, Register::Fog, fog);
        let mut t0_alpha = one;
        for (i, mode) in shell.textures.into_iter().enumerate() {
            let value = match mode {
                TextureMode::None | TextureMode::ClipPlane { .. } => zero_alpha_one,
                _ => inputs.textures[i],
            };
            self.set(b, Register::ALL[Register::T0.index() + i], value);
            if i == 0 && value != zero_alpha_one {
                t0_alpha = b.typed(Op::CompositeExtract, Type::Float, &[value, 3]);
            }
        }
        let r0 = b.typed(
            Op::CompositeConstruct,
            Type::Vec4,
            &[zero, zero, zero, t0_alpha],
        );
        self.set(b, Register::R0, r0);
    }

    /// Sets a whole register that is known now.
    pub(super) fn set(&self, b: &mut Builder, register: Register, vector: u32) {
        match self {
            Self::Floats { array } => {
                for c in 0..4 {
                    let index = b.uint(register as u32 * 4 + c);
                    let value = b.typed(Op::CompositeExtract, Type::Float, &[vector, c]);
                    let pointer = element(b, Type::Float, *array, &[index]);
                    b.act(Op::Store, &[pointer, value]);
                }
            }
            Self::Vectors { array } => {
                let index = b.uint(register as u32);
                let pointer = element(b, Type::Vec4, *array, &[index]);
                b.act(Op::Store, &[pointer, vector]);
            }
            Self::Variables { rgb, alpha } => {
                let colour = first_three(b, vector);
                let last = b.typed(Op::CompositeExtract, Type::Float, &[vector, 3]);
                b.act(Op::Store, &[rgb[register.index()], colour]);
                b.act(Op::Store, &[alpha[register.index()], last]);
            }
        }
    }

    /// A known register's RGB.
    pub(super) fn rgb(&self, b: &mut Builder, register: Register) -> u32 {
        let index = b.uint(register as u32);
        match self {
            Self::Floats { .. } | Self::Vectors { .. } => {
                let colour = b.uint(0);
                self.read_rgb(b, index, colour)
            }
            Self::Variables { rgb, .. } => b.load(Type::Vec3, rgb[register.index()]),
        }
    }

    /// A known register's alpha.
    pub(super) fn alpha(&self, b: &mut Builder, register: Register) -> u32 {
        match self {
            Self::Floats { array } => {
                let index = b.uint(register as u32 * 4 + 3);
                load(b, Type::Float, *array, &[index])
            }
            Self::Vectors { array } => {
                let (index, three) = (b.uint(register as u32), b.uint(3));
                load(b, Type::Float, *array, &[index, three])
            }
            Self::Variables { alpha, .. } => b.load(Type::Float, alpha[register.index()]),
        }
    }

    /// RGB, or alpha three times where `channel` is 1.
    pub(super) fn read_rgb(&self, b: &mut Builder, register: u32, channel: u32) -> u32 {
        match self {
            Self::Floats { array } => {
                let first = first_component(b, register);
                let takes_alpha = is_one(b, channel);
                let three = b.uint(3);
                let components = [0, 1, 2].map(|c| {
                    let own = b.uint(c);
                    let component = b.typed(Op::Select, Type::Uint, &[takes_alpha, three, own]);
                    let index = b.typed(Op::IAdd, Type::Uint, &[first, component]);
                    load(b, Type::Float, *array, &[index])
                });
                b.typed(Op::CompositeConstruct, Type::Vec3, &components)
            }
            Self::Vectors { array } => {
                let vector = load(b, Type::Vec4, *array, &[register]);
                let colour = first_three(b, vector);
                let alpha = b.typed(Op::VectorShuffle, Type::Vec3, &[vector, vector, 3, 3, 3]);
                let one = is_one(b, channel);
                let condition = b.typed(Op::CompositeConstruct, Type::Bool3, &[one, one, one]);
                b.typed(Op::Select, Type::Vec3, &[condition, alpha, colour])
            }
            Self::Variables { rgb, alpha } => {
                let case = selector(b, register, channel);
                read_case(b, Type::Vec3, case, |b, i, takes_alpha| {
                    if takes_alpha {
                        let x = b.load(Type::Float, alpha[i]);
                        b.typed(Op::CompositeConstruct, Type::Vec3, &[x, x, x])
                    } else {
                        b.load(Type::Vec3, rgb[i])
                    }
                })
            }
        }
    }

    /// Blue, or alpha where `channel` is 1.
    pub(super) fn read_scalar(&self, b: &mut Builder, register: u32, channel: u32) -> u32 {
        match self {
            Self::Floats { array } => {
                let first = first_component(b, register);
                let two = b.uint(2);
                let component = b.typed(Op::IAdd, Type::Uint, &[channel, two]);
                let index = b.typed(Op::IAdd, Type::Uint, &[first, component]);
                load(b, Type::Float, *array, &[index])
            }
            Self::Vectors { array } => {
                let vector = load(b, Type::Vec4, *array, &[register]);
                let blue = b.typed(Op::CompositeExtract, Type::Float, &[vector, 2]);
                let alpha = b.typed(Op::CompositeExtract, Type::Float, &[vector, 3]);
                let one = is_one(b, channel);
                b.typed(Op::Select, Type::Float, &[one, alpha, blue])
            }
            Self::Variables { rgb, alpha } => {
                let case = selector(b, register, channel);
                read_case(b, Type::Float, case, |b, i, takes_alpha| {
                    if takes_alpha {
                        b.load(Type::Float, alpha[i])
                    } else {
                        let vector = b.load(Type::Vec3, rgb[i]);
                        b.typed(Op::CompositeExtract, Type::Float, &[vector, 2])
                    }
                })
            }
        }
    }

    /// Writes the RGB of a register other than ZERO.
    pub(super) fn write_rgb(&self, b: &mut Builder, register: u32, rgb: u32) {
        match self {
            Self::Floats { array } => {
                let first = first_component(b, register);
                for c in 0..3 {
                    let component = b.uint(c);
                    let index = b.typed(Op::IAdd, Type::Uint, &[first, component]);
                    let value = b.typed(Op::CompositeExtract, Type::Float, &[rgb, c]);
                    let pointer = element(b, Type::Float, *array, &[index]);
                    b.act(Op::Store, &[pointer, value]);
                }
            }
            Self::Vectors { array } => {
                for c in 0..3 {
                    let component = b.uint(c);
                    let value = b.typed(Op::CompositeExtract, Type::Float, &[rgb, c]);
                    let pointer = element(b, Type::Float, *array, &[register, component]);
                    b.act(Op::Store, &[pointer, value]);
                }
            }
            Self::Variables { rgb: variables, .. } => write_case(b, register, rgb, variables),
        }
    }

    /// Writes the alpha of a register other than ZERO.
    pub(super) fn write_alpha(&self, b: &mut Builder, register: u32, alpha: u32) {
        let three = b.uint(3);
        match self {
            Self::Floats { array } => {
                let first = first_component(b, register);
                let index = b.typed(Op::IAdd, Type::Uint, &[first, three]);
                let pointer = element(b, Type::Float, *array, &[index]);
                b.act(Op::Store, &[pointer, alpha]);
            }
            Self::Vectors { array } => {
                let pointer = element(b, Type::Float, *array, &[register, three]);
                b.act(Op::Store, &[pointer, alpha]);
            }
            Self::Variables {
                alpha: variables, ..
            } => write_case(b, register, alpha, variables),
        }
    }
}

fn element(b: &mut Builder, of: Type, array: u32, indices: &[u32]) -> u32 {
    let pointer = b.pointer(StorageClass::Function, of as u32);
    b.value(Op::AccessChain, pointer, &[&[array], indices].concat())
}

fn load(b: &mut Builder, of: Type, array: u32, indices: &[u32]) -> u32 {
    let pointer = element(b, of, array, indices);
    b.load(of, pointer)
}

fn first_three(b: &mut Builder, vector: u32) -> u32 {
    b.typed(Op::VectorShuffle, Type::Vec3, &[vector, vector, 0, 1, 2])
}

fn first_component(b: &mut Builder, register: u32) -> u32 {
    let two = b.uint(2);
    b.typed(Op::ShiftLeftLogical, Type::Uint, &[register, two])
}

fn is_one(b: &mut Builder, channel: u32) -> u32 {
    let zero = b.uint(0);
    b.typed(Op::INotEqual, Type::Bool, &[channel, zero])
}

/// Register and channel in one number, for a switch: register * 2 + channel.
fn selector(b: &mut Builder, register: u32, channel: u32) -> u32 {
    let one = b.uint(1);
    let doubled = b.typed(Op::ShiftLeftLogical, Type::Uint, &[register, one]);
    b.typed(Op::BitwiseOr, Type::Uint, &[doubled, channel])
}

fn read_case(
    b: &mut Builder,
    of: Type,
    case: u32,
    mut read: impl FnMut(&mut Builder, usize, bool) -> u32,
) -> u32 {
    let zero = b.splat(of, 0.0);
    let readable: Vec<u32> = (1..16).filter(|i| ![6, 7].contains(i)).collect();
    let (merge, other) = (b.id(), b.id());
    let mut targets = vec![case, other];
    let mut blocks = Vec::new();
    for register in readable {
        for channel in 0..2 {
            let label = b.id();
            targets.extend_from_slice(&[register * 2 + channel, label]);
            blocks.push((register as usize, channel == 1, label));
        }
    }
    b.act(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
    b.act(Op::Switch, &targets);
    b.label(other);
    b.branch(merge);
    let mut values = vec![zero, other];
    for (register, takes_alpha, label) in blocks {
        b.label(label);
        let value = read(b, register, takes_alpha);
        values.extend_from_slice(&[value, label]);
        b.branch(merge);
    }
    b.label(merge);
    b.typed(Op::Phi, of, &values)
}

fn write_case(b: &mut Builder, register: u32, value: u32, variables: &[u32; 16]) {
    let merge = b.id();
    let labels = WRITABLE.map(|_| b.id());
    let mut targets = vec![register, merge];
    for (register, label) in WRITABLE.into_iter().zip(labels) {
        targets.extend_from_slice(&[register as u32, label]);
    }
    b.act(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
    b.act(Op::Switch, &targets);
    for (register, label) in WRITABLE.into_iter().zip(labels) {
        b.label(label);
        b.act(Op::Store, &[variables[register.index()], value]);
        b.branch(merge);
    }
    b.label(merge);
}
