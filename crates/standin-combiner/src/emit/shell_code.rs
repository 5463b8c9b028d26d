//! The shell in SPIR-V: what fills the registers, and what decides about the fragment.

use super::builder::{Builder, Type};
use crate::arithmetic::LARGE;
use crate::packet::{CONSTANT_VECTORS, SCALARS};
use crate::program::Register;
use crate::shell::{AlphaTest, Fog, ImageShape, Shell, TextureMode};
use spirv::{Decoration, Dim, GlslStd450Op, ImageFormat, Op, StorageClass};

/// Input locations of V0, V1, the fog factor and the four texture coordinates.
pub(crate) struct Interface;

impl Interface {
    pub(crate) const COLOURS: [u32; 2] = [0, 1];
    pub(crate) const FOG: u32 = 2;
    pub(crate) const COORDINATES: u32 = 3;
    pub(crate) const SET: u32 = 0;
    pub(crate) const PROGRAM: u32 = 0;
    pub(crate) const CONSTANTS: u32 = 1;
    pub(crate) const TEXTURES: u32 = 2;
}

/// The registers that come from outside, as values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inputs {
    /// V0 and V1 as vec4; 0 where not wanted.
    pub(crate) colours: [u32; 2],
    /// The fog factor.
    pub(crate) fog: u32,
    /// T0 to T3 as vec4; 0 where not wanted or where the mode gives a constant.
    pub(crate) textures: [u32; 4],
    /// The constants block's variable.
    pub(crate) constants: u32,
}

impl Inputs {
    /// The value of one vector of the constants block.
    pub(crate) fn constant(&self, b: &mut Builder, index: u32) -> u32 {
        let pointer = b.pointer(StorageClass::Uniform, Type::Vec4 as u32);
        let zero = b.uint(0);
        let chain = b.value(Op::AccessChain, pointer, &[self.constants, zero, index]);
        b.load(Type::Vec4, chain)
    }
}

fn input(b: &mut Builder, of: Type, location: u32) -> u32 {
    let variable = b.global(StorageClass::Input, of as u32);
    b.decorate(variable, Decoration::Location, &[location]);
    b.load(of, variable)
}

/// A uniform block that holds an array of `count` vectors.
pub(crate) fn uniform_block(b: &mut Builder, vector: Type, count: usize, binding: u32) -> u32 {
    let length = b.uint(count as u32);
    let array = b.type_of(Op::TypeArray, &[vector as u32, length]);
    b.decorate(array, Decoration::ArrayStride, &[16]);
    let block = b.block_of(array);
    let variable = b.global(StorageClass::Uniform, block);
    b.decorate(variable, Decoration::DescriptorSet, &[Interface::SET]);
    b.decorate(variable, Decoration::Binding, &[binding]);
    variable
}

fn sampled(b: &mut Builder, shape: ImageShape, stage: u32, coordinates: u32) -> u32 {
    let dim = match shape {
        ImageShape::Flat => Dim::Dim2D,
        ImageShape::Volume => Dim::Dim3D,
        ImageShape::Cube => Dim::DimCube,
    };
    let float = Type::Float as u32;
    let format = ImageFormat::Unknown as u32;
    let image = b.type_of(Op::TypeImage, &[float, dim as u32, 0, 0, 0, 1, format]);
    let sampled = b.type_of(Op::TypeSampledImage, &[image]);
    let variable = b.global(StorageClass::UniformConstant, sampled);
    b.decorate(variable, Decoration::DescriptorSet, &[Interface::SET]);
    b.decorate(
        variable,
        Decoration::Binding,
        &[Interface::TEXTURES + stage],
    );
    let image = b.value(Op::Load, sampled, &[variable]);
    match shape {
        ImageShape::Flat => {
            // The divisor q is the last component that the projective form takes.
            let stq = b.typed(
                Op::VectorShuffle,
                Type::Vec3,
                &[coordinates, coordinates, 0, 1, 3],
            );
            b.typed(Op::ImageSampleProjImplicitLod, Type::Vec4, &[image, stq])
        }
        ImageShape::Volume => b.typed(
            Op::ImageSampleProjImplicitLod,
            Type::Vec4,
            &[image, coordinates],
        ),
        ImageShape::Cube => {
            let str = b.typed(
                Op::VectorShuffle,
                Type::Vec3,
                &[coordinates, coordinates, 0, 1, 2],
            );
            b.typed(Op::ImageSampleImplicitLod, Type::Vec4, &[image, str])
        }
    }
}

/// Which registers are wanted, as bits by register number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// Known now.
    Known(u16),
    /// In a word of the module that is the same for a whole draw; others are 0.
    Mask(u32),
}

impl Wanted {
    fn has(self, register: Register) -> bool {
        match self {
            Self::Known(bits) => bits >> register as u16 & 1 == 1,
            Self::Mask(_) => true,
        }
    }

    /// The value that `code` computes, where the register is wanted.
    fn value(
        self,
        b: &mut Builder,
        register: Register,
        of: Type,
        code: impl FnOnce(&mut Builder) -> u32,
    ) -> u32 {
        let Self::Mask(word) = self else {
            return code(b);
        };
        let (bit, zero) = (b.uint(1 << register as u32), b.uint(0));
        let bits = b.typed(Op::BitwiseAnd, Type::Uint, &[word, bit]);
        let wanted = b.typed(Op::INotEqual, Type::Bool, &[bits, zero]);
        let otherwise = b.splat(of, 0.0);
        let before = b.block();
        let (yes, merge) = (b.id(), b.id());
        b.select_blocks(wanted, yes, merge, merge);
        b.label(yes);
        let value = code(b);
        let after = b.block();
        b.branch(merge);
        b.label(merge);
        b.typed(Op::Phi, of, &[otherwise, before, value, after])
    }
}

/// Loads the wanted registers, samples, and then discards by clip planes. Sampling comes
/// first: derivatives need the whole quad.
pub(crate) fn begin(b: &mut Builder, shell: &Shell, wanted: Wanted) -> Inputs {
    let mut inputs = Inputs {
        constants: uniform_block(b, Type::Vec4, CONSTANT_VECTORS, Interface::CONSTANTS),
        ..Inputs::default()
    };
    for (i, register) in [Register::V0, Register::V1].into_iter().enumerate() {
        if wanted.has(register) {
            inputs.colours[i] = wanted.value(b, register, Type::Vec4, |b| {
                let raw = input(b, Type::Vec4, Interface::COLOURS[i]);
                let flushed = b.flush(Type::Vec4, raw);
                b.clamp(Type::Vec4, flushed, 0.0, 1.0)
            });
        }
    }
    if wanted.has(Register::Fog) {
        inputs.fog = match shell.fog {
            Fog::Disabled => b.splat(Type::Float, 1.0),
            Fog::Interpolated => wanted.value(b, Register::Fog, Type::Float, |b| {
                let raw = input(b, Type::Float, Interface::FOG);
                let flushed = b.flush(Type::Float, raw);
                b.clamp(Type::Float, flushed, 0.0, 1.0)
            }),
        };
    }
    let mut clips = Vec::new();
    for (i, mode) in shell.textures.into_iter().enumerate() {
        let is_clip = matches!(mode, TextureMode::ClipPlane { .. });
        let register = Register::ALL[Register::T0.index() + i];
        if !mode.reads_coordinates() || !(wanted.has(register) || is_clip) {
            continue;
        }
        let location = Interface::COORDINATES + i as u32;
        if let TextureMode::ClipPlane { compares } = mode {
            let coordinates = input(b, Type::Vec4, location);
            clips.push((coordinates, compares));
            continue;
        }
        inputs.textures[i] = wanted.value(b, register, Type::Vec4, |b| {
            let coordinates = input(b, Type::Vec4, location);
            let raw = match mode.image() {
                Some(shape) => sampled(b, shape, i as u32, coordinates),
                None => coordinates,
            };
            let flushed = b.flush(Type::Vec4, raw);
            b.clamp(Type::Vec4, flushed, -LARGE, LARGE)
        });
    }
    for (coordinates, compares) in clips {
        clip(b, coordinates, compares);
    }
    inputs
}

fn clip(b: &mut Builder, coordinates: u32, compares: u8) {
    let flushed = b.flush(Type::Vec4, coordinates);
    let zero = b.splat(Type::Float, 0.0);
    let mut discards = None;
    for c in 0..4 {
        let e = b.typed(Op::CompositeExtract, Type::Float, &[flushed, c]);
        let op = if compares >> c & 1 == 1 {
            Op::FOrdGreaterThanEqual
        } else {
            Op::FOrdLessThan
        };
        let one = b.typed(op, Type::Bool, &[e, zero]);
        discards = Some(match discards {
            None => one,
            Some(others) => b.typed(Op::LogicalOr, Type::Bool, &[others, one]),
        });
    }
    if let Some(discards) = discards {
        kill_where(b, discards);
    }
}

fn kill_where(b: &mut Builder, condition: u32) {
    let (kill, go_on) = (b.id(), b.id());
    b.select_blocks(condition, kill, go_on, go_on);
    b.label(kill);
    b.act(Op::Kill, &[]);
    b.label(go_on);
}

/// The final combiner's result: a vec3 and a float, both in [0, 1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) rgb: u32,
    pub(crate) alpha: u32,
}

/// The alpha test, and the output at location 0.
pub(crate) fn finish(b: &mut Builder, shell: &Shell, inputs: &Inputs, colour: Finished) {
    if shell.alpha_test != AlphaTest::Always {
        let keeps = alpha_test(b, shell.alpha_test, inputs, colour.alpha);
        let fails = b.typed(Op::LogicalNot, Type::Bool, &[keeps]);
        kill_where(b, fails);
    }
    let output = b.global(StorageClass::Output, Type::Vec4 as u32);
    b.decorate(output, Decoration::Location, &[0]);
    let rgba = b.typed(
        Op::CompositeConstruct,
        Type::Vec4,
        &[colour.rgb, colour.alpha],
    );
    b.act(Op::Store, &[output, rgba]);
}

fn alpha_test(b: &mut Builder, test: AlphaTest, inputs: &Inputs, alpha: u32) -> u32 {
    let compare = match test {
        AlphaTest::Never => return b.boolean(false),
        AlphaTest::Always => return b.boolean(true),
        AlphaTest::Less => Op::FOrdLessThan,
        AlphaTest::Equal => Op::FOrdEqual,
        AlphaTest::LessOrEqual => Op::FOrdLessThanEqual,
        AlphaTest::Greater => Op::FOrdGreaterThan,
        AlphaTest::NotEqual => Op::FOrdNotEqual,
        AlphaTest::GreaterOrEqual => Op::FOrdGreaterThanEqual,
    };
    let scale = b.splat(Type::Float, 255.0);
    let half = b.splat(Type::Float, 0.5);
    let scaled = b.typed(Op::FMul, Type::Float, &[alpha, scale]);
    let shifted = b.typed(Op::FAdd, Type::Float, &[scaled, half]);
    let byte = b.glsl(GlslStd450Op::Floor, Type::Float, &[shifted]);
    let index = b.uint(SCALARS as u32);
    let scalars = inputs.constant(b, index);
    let reference = b.typed(Op::CompositeExtract, Type::Float, &[scalars, 0]);
    b.typed(compare, Type::Bool, &[byte, reference])
}
