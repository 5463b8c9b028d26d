//! Expressions over registers and data, folded as they are made. Every fold keeps the
//! result's bits; the reasons lean on what is known about an expression: its range, and
//! whether it is *flushed* (never -0, never tiny), see `docs/combiner.md`, "Arithmetic".

use crate::arithmetic;
use crate::program::{Mapping, Register};

/// An expression's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node(u32);

impl Node {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How many components an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Rgb,
    Scalar,
}

/// What an expression is. Operands come before their users.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A number, in every component.
    Constant(f32),
    /// A register's RGB or alpha as the shell fills it.
    Register(Register),
    /// The RGB or alpha of a vector of the constants block.
    Data(u32),
    /// A scalar in three components.
    Splat(Node),
    /// The third component.
    Blue(Node),
    /// (r + g) + b
    SumOfComponents(Node),
    Add(Node, Node),
    Subtract(Node, Node),
    Multiply(Node, Node),
    /// [`arithmetic::flush`]
    Flush(Node),
    /// Clamped; an end at the float range's end is open.
    Clamp(Node, f32, f32),
    /// x >= 1/2: a condition.
    Msb(Node),
    /// Bit 0 of x in [0, 1] as a truncated byte: a condition.
    Lsb(Node),
    /// The second operand where the condition holds, else the third.
    Select(Node, Node, Node),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Expression {
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
    /// No component is outside these bounds.
    low: f32,
    high: f32,
    /// No component is -0, or smaller in magnitude than [`arithmetic::TINY`] and not 0.
    flushed: Flushed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flushed {
    Yes,
    No,
}

#[derive(Debug)]
pub(crate) struct Expressions {
    all: Vec<Expression>,
    /// Vectors of the constants block that have a node already, by vector and shape.
    data: [[Option<Node>; 2]; crate::packet::CONSTANT_VECTORS],
}

impl Expressions {
    pub(crate) fn new() -> Self {
        Self {
            all: Vec::with_capacity(256),
            data: Default::default(),
        }
    }

    pub(crate) fn get(&self, node: Node) -> Expression {
        self.all[node.index()]
    }

    fn make(
        &mut self,
        kind: Kind,
        shape: Shape,
        (low, high): (f32, f32),
        flushed: Flushed,
    ) -> Node {
        let node = Node(self.all.len() as u32);
        self.all.push(Expression {
            kind,
            shape,
            low,
            high,
            flushed,
        });
        node
    }

    fn known(&self, node: Node) -> Option<f32> {
        match self.get(node).kind {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }

    pub(crate) fn constant(&mut self, shape: Shape, value: f32) -> Node {
        let flushed = if arithmetic::flush(value).to_bits() == value.to_bits() {
            Flushed::Yes
        } else {
            Flushed::No
        };
        self.make(Kind::Constant(value), shape, (value, value), flushed)
    }

    pub(crate) fn register(
        &mut self,
        shape: Shape,
        register: Register,
        low: f32,
        high: f32,
    ) -> Node {
        self.make(Kind::Register(register), shape, (low, high), Flushed::Yes)
    }

    pub(crate) fn data(&mut self, shape: Shape, vector: usize) -> Node {
        let slot = shape as usize;
        if let Some(node) = self.data[vector][slot] {
            return node;
        }
        // Data are n/255 with n in 0..=255.
        let node = self.make(Kind::Data(vector as u32), shape, (0.0, 1.0), Flushed::Yes);
        self.data[vector][slot] = Some(node);
        node
    }

    pub(crate) fn splat(&mut self, scalar: Node) -> Node {
        let of = self.get(scalar);
        let kind = match of.kind {
            Kind::Constant(value) => Kind::Constant(value),
            _ => Kind::Splat(scalar),
        };
        self.make(kind, Shape::Rgb, (of.low, of.high), of.flushed)
    }

    pub(crate) fn blue(&mut self, rgb: Node) -> Node {
        let of = self.get(rgb);
        let kind = match of.kind {
            Kind::Constant(value) => Kind::Constant(value),
            Kind::Splat(scalar) => return scalar,
            _ => Kind::Blue(rgb),
        };
        self.make(kind, Shape::Scalar, (of.low, of.high), of.flushed)
    }

    pub(crate) fn sum_of_components(&mut self, rgb: Node) -> Node {
        let of = self.get(rgb);
        if let Kind::Constant(x) = of.kind {
            return self.constant(Shape::Scalar, (x + x) + x);
        }
        let bound = |x: f32| (x + x) + x;
        let bounds = (bound(of.low), bound(of.high));
        self.make(
            Kind::SumOfComponents(rgb),
            Shape::Scalar,
            bounds,
            Flushed::No,
        )
    }

    /// a + b. Adding 0 keeps the other operand's bits unless it is -0, and then its value:
    /// every sum is flushed before it is used.
    pub(crate) fn add(&mut self, a: Node, b: Node) -> Node {
        match (self.known(a), self.known(b)) {
            (Some(x), Some(y)) => self.constant(self.get(a).shape, x + y),
            (Some(0.0), None) => b,
            (None, Some(0.0)) => a,
            _ => {
                let (x, y) = (self.get(a), self.get(b));
                let bounds = (x.low + y.low, x.high + y.high);
                // Two flushed numbers that are not negative can only grow.
                let grows = x.flushed == Flushed::Yes && y.flushed == Flushed::Yes;
                let flushed = if grows && x.low >= 0.0 && y.low >= 0.0 {
                    Flushed::Yes
                } else {
                    Flushed::No
                };
                self.make(Kind::Add(a, b), x.shape, bounds, flushed)
            }
        }
    }

    /// x + c for a c that is no smaller than 1/2 in magnitude: the sum is 0 or larger than
    /// the rounding of c, so it is flushed if x is.
    pub(crate) fn add_constant(&mut self, x: Node, c: f32) -> Node {
        let of = self.get(x);
        let constant = self.constant(of.shape, c);
        if let Kind::Constant(value) = of.kind {
            return self.constant(of.shape, value + c);
        }
        let bounds = (of.low + c, of.high + c);
        self.make(Kind::Add(x, constant), of.shape, bounds, of.flushed)
    }

    /// c - x, for the same c.
    pub(crate) fn subtract_from(&mut self, c: f32, x: Node) -> Node {
        let of = self.get(x);
        if let Kind::Constant(value) = of.kind {
            return self.constant(of.shape, c - value);
        }
        let constant = self.constant(of.shape, c);
        let bounds = (c - of.high, c - of.low);
        self.make(Kind::Subtract(constant, x), of.shape, bounds, of.flushed)
    }

    /// x times a power of two.
    pub(crate) fn scale(&mut self, x: Node, factor: f32) -> Node {
        let of = self.get(x);
        if let Kind::Constant(value) = of.kind {
            return self.constant(of.shape, value * factor);
        }
        let constant = self.constant(of.shape, factor);
        let bounds = (of.low * factor, of.high * factor);
        let flushed = if factor >= 1.0 {
            of.flushed
        } else {
            Flushed::No
        };
        self.make(Kind::Multiply(x, constant), of.shape, bounds, flushed)
    }

    /// a b. A product with 0 is 0: its sign is lost where the product is flushed, and
    /// every product or sum of products is.
    pub(crate) fn multiply(&mut self, a: Node, b: Node) -> Node {
        match (self.known(a), self.known(b)) {
            (Some(x), Some(y)) => self.constant(self.get(a).shape, x * y),
            (Some(0.0), _) | (_, Some(0.0)) => self.constant(self.get(a).shape, 0.0),
            (Some(1.0), _) => b,
            (_, Some(1.0)) => a,
            _ => {
                let (x, y) = (self.get(a), self.get(b));
                let corners = [
                    x.low * y.low,
                    x.low * y.high,
                    x.high * y.low,
                    x.high * y.high,
                ];
                let low = corners.into_iter().fold(f32::INFINITY, f32::min);
                let high = corners.into_iter().fold(f32::NEG_INFINITY, f32::max);
                self.make(Kind::Multiply(a, b), x.shape, (low, high), Flushed::No)
            }
        }
    }

    pub(crate) fn flush(&mut self, x: Node) -> Node {
        let of = self.get(x);
        match of.kind {
            Kind::Constant(value) => self.constant(of.shape, arithmetic::flush(value)),
            _ if of.flushed == Flushed::Yes => x,
            _ => self.make(Kind::Flush(x), of.shape, (of.low, of.high), Flushed::Yes),
        }
    }

    pub(crate) fn clamp(&mut self, x: Node, low: f32, high: f32) -> Node {
        let of = self.get(x);
        if let Kind::Constant(value) = of.kind {
            return self.constant(of.shape, value.clamp(low, high));
        }
        let bounds = (of.low.clamp(low, high), of.high.clamp(low, high));
        let low = if of.low >= low { f32::MIN } else { low };
        let high = if of.high <= high { f32::MAX } else { high };
        if low == f32::MIN && high == f32::MAX {
            return x;
        }
        self.make(Kind::Clamp(x, low, high), of.shape, bounds, of.flushed)
    }

    pub(crate) fn map(&mut self, mapping: Mapping, e: Node) -> Node {
        let of = self.get(e);
        if let Kind::Constant(value) = of.kind {
            return self.constant(of.shape, arithmetic::map(mapping, value));
        }
        let positive = match mapping {
            Mapping::SignedIdentity => return e,
            Mapping::SignedNegate => {
                // 0 - x is +0 at 0, but a device's compiler may turn it into -x: taken as
                // not flushed, so that a flush follows.
                let zero = self.constant(of.shape, 0.0);
                let bounds = (0.0 - of.high, 0.0 - of.low);
                return self.make(Kind::Subtract(zero, e), of.shape, bounds, Flushed::No);
            }
            _ => self.clamp(e, 0.0, f32::MAX),
        };
        match mapping {
            Mapping::UnsignedInvert => {
                let limited = self.clamp(positive, f32::MIN, 1.0);
                self.subtract_from(1.0, limited)
            }
            Mapping::ExpandNormal => {
                let doubled = self.scale(positive, 2.0);
                self.add_constant(doubled, -1.0)
            }
            Mapping::ExpandNegate => {
                let doubled = self.scale(positive, 2.0);
                self.subtract_from(1.0, doubled)
            }
            Mapping::HalfBiasNormal => self.add_constant(positive, -0.5),
            Mapping::HalfBiasNegate => self.subtract_from(0.5, positive),
            Mapping::UnsignedIdentity | Mapping::SignedIdentity | Mapping::SignedNegate => positive,
        }
    }

    pub(crate) fn msb(&mut self, x: Node) -> Node {
        let of = self.get(x);
        let kind = match of.kind {
            Kind::Constant(value) => Kind::Constant(if value >= 0.5 { 1.0 } else { 0.0 }),
            _ => Kind::Msb(x),
        };
        self.make(kind, Shape::Scalar, (0.0, 1.0), Flushed::Yes)
    }

    pub(crate) fn lsb(&mut self, x: Node) -> Node {
        let limited = self.clamp(x, 0.0, 1.0);
        let kind = match self.get(limited).kind {
            Kind::Constant(value) => Kind::Constant(arithmetic::low_bit(value) as f32),
            _ => Kind::Lsb(limited),
        };
        self.make(kind, Shape::Scalar, (0.0, 1.0), Flushed::Yes)
    }

    pub(crate) fn select(&mut self, condition: Node, yes: Node, no: Node) -> Node {
        match self.known(condition) {
            Some(1.0) => yes,
            Some(_) => no,
            None => {
                let (x, y) = (self.get(yes), self.get(no));
                let bounds = (x.low.min(y.low), x.high.max(y.high));
                let flushed = if x.flushed == y.flushed {
                    x.flushed
                } else {
                    Flushed::No
                };
                self.make(Kind::Select(condition, yes, no), x.shape, bounds, flushed)
            }
        }
    }

    /// Which expressions the colour needs, by index.
    pub(crate) fn needed(&self, colour: super::Colour) -> Vec<bool> {
        let mut needed = vec![false; self.all.len()];
        needed[colour.rgb.index()] = true;
        needed[colour.alpha.index()] = true;
        for i in (0..self.all.len()).rev() {
            if !needed[i] {
                continue;
            }
            let mut need = |node: Node| needed[node.index()] = true;
            match self.all[i].kind {
                Kind::Constant(_) | Kind::Register(_) | Kind::Data(_) => {}
                Kind::Splat(x)
                | Kind::Blue(x)
                | Kind::SumOfComponents(x)
                | Kind::Flush(x)
                | Kind::Clamp(x, ..)
                | Kind::Msb(x)
                | Kind::Lsb(x) => need(x),
                Kind::Add(x, y) | Kind::Subtract(x, y) | Kind::Multiply(x, y) => {
                    need(x);
                    need(y);
                }
                Kind::Select(x, y, z) => {
                    need(x);
                    need(y);
                    need(z);
                }
            }
        }
        needed
    }

    /// The registers that the shell must fill, as bits by number.
    pub(crate) fn registers_used(&self, colour: super::Colour) -> u16 {
        let mut used = 0;
        for (expression, needed) in self.all.iter().zip(self.needed(colour)) {
            if let (Kind::Register(register), true) = (expression.kind, needed) {
                used |= 1 << register as u16;
            }
        }
        used
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Expression> {
        self.all.iter()
    }
}
