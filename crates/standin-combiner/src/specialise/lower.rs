//! Expressions to SPIR-V, in their order, without those that nothing needs.

use super::Colour;
use super::expression::{Expressions, Kind, Node, Shape};
use crate::emit::{Builder, Finished, Inputs, Type, bool_of};
use crate::program::Register;
use spirv::Op;

pub(super) fn lower(
    b: &mut Builder,
    inputs: &Inputs,
    expressions: &Expressions,
    colour: Colour,
) -> Finished {
    let needed = expressions.needed(colour);
    let mut lowering = Lowering {
        b,
        inputs,
        ids: vec![0; needed.len()],
        data: [0; crate::packet::CONSTANT_VECTORS],
    };
    for (i, expression) in expressions.iter().enumerate() {
        if needed[i] {
            lowering.ids[i] = lowering.one(expression.kind, expression.shape);
        }
    }
    Finished {
        rgb: lowering.id(colour.rgb),
        alpha: lowering.id(colour.alpha),
    }
}

struct Lowering<'a> {
    b: &'a mut Builder,
    inputs: &'a Inputs,
    ids: Vec<u32>,
    /// Loaded vectors of the constants block; 0 where not loaded.
    data: [u32; crate::packet::CONSTANT_VECTORS],
}

impl Lowering<'_> {
    fn id(&self, node: Node) -> u32 {
        self.ids[node.index()]
    }

    fn one(&mut self, kind: Kind, shape: Shape) -> u32 {
        let of = match shape {
            Shape::Rgb => Type::Vec3,
            Shape::Scalar => Type::Float,
        };
        match kind {
            Kind::Constant(value) => self.b.splat(of, value),
            Kind::Register(Register::Fog) => self.inputs.fog,
            Kind::Register(register) => {
                let vector = match register {
                    Register::V0 | Register::V1 => {
                        self.inputs.colours[register.index() - Register::V0.index()]
                    }
                    _ => self.inputs.textures[register.index() - Register::T0.index()],
                };
                self.part(vector, shape)
            }
            Kind::Data(vector) => {
                let slot = vector as usize;
                if self.data[slot] == 0 {
                    let index = self.b.uint(vector);
                    self.data[slot] = self.inputs.constant(self.b, index);
                }
                self.part(self.data[slot], shape)
            }
            Kind::Splat(x) => {
                let x = self.id(x);
                self.b.typed(Op::CompositeConstruct, of, &[x, x, x])
            }
            Kind::Blue(x) => self.component(x, 2),
            Kind::SumOfComponents(x) => {
                let [red, green, blue] = [0, 1, 2].map(|i| self.component(x, i));
                let two = self.b.typed(Op::FAdd, of, &[red, green]);
                self.b.typed(Op::FAdd, of, &[two, blue])
            }
            Kind::Add(x, y) => self.binary(Op::FAdd, of, x, y),
            Kind::Subtract(x, y) => self.binary(Op::FSub, of, x, y),
            Kind::Multiply(x, y) => self.binary(Op::FMul, of, x, y),
            Kind::Flush(x) => {
                let x = self.id(x);
                self.b.flush(of, x)
            }
            Kind::Clamp(x, low, high) => {
                let x = self.id(x);
                match (low == f32::MIN, high == f32::MAX) {
                    (true, _) => self.b.min(of, x, high),
                    (_, true) => self.b.max(of, x, low),
                    _ => self.b.clamp(of, x, low, high),
                }
            }
            Kind::Msb(x) => {
                let half = self.b.splat(Type::Float, 0.5);
                let x = self.id(x);
                self.b
                    .typed(Op::FOrdGreaterThanEqual, Type::Bool, &[x, half])
            }
            Kind::Lsb(x) => {
                let x = self.id(x);
                self.b.low_bit(x)
            }
            Kind::Select(condition, yes, no) => {
                let (mut condition, yes, no) = (self.id(condition), self.id(yes), self.id(no));
                if shape == Shape::Rgb {
                    condition = self.b.typed(
                        Op::CompositeConstruct,
                        bool_of(of),
                        &[condition, condition, condition],
                    );
                }
                self.b.typed(Op::Select, of, &[condition, yes, no])
            }
        }
    }

    fn part(&mut self, vector: u32, shape: Shape) -> u32 {
        match shape {
            Shape::Rgb => self
                .b
                .typed(Op::VectorShuffle, Type::Vec3, &[vector, vector, 0, 1, 2]),
            Shape::Scalar => self
                .b
                .typed(Op::CompositeExtract, Type::Float, &[vector, 3]),
        }
    }

    fn component(&mut self, rgb: Node, index: u32) -> u32 {
        let rgb = self.id(rgb);
        self.b
            .typed(Op::CompositeExtract, Type::Float, &[rgb, index])
    }

    fn binary(&mut self, op: Op, of: Type, x: Node, y: Node) -> u32 {
        let (x, y) = (self.id(x), self.id(y));
        self.b.typed(op, of, &[x, y])
    }
}
