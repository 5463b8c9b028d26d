//! The specialised generator: SPIR-V of one program, without a compiler in the way. The
//! program runs once over expressions instead of numbers; what is known folds while it
//! runs, and what the final colour does not need is never emitted.

mod expression;
mod lower;

use crate::admit::Admitted;
use crate::emit::{Builder, Finished, Type, Wanted, begin, finish};
use crate::packet::SCALARS;
use crate::program::{
    BlueToAlpha, Channel, ConstantScope, Input, Mapping, MuxSelector, OutputOp, Portion, Product,
    Program, Register, SumRange, SumTerm, Third,
};
use crate::shell::{Shell, TextureMode};
use expression::{Expressions, Node, Shape};
use lower::lower;
use spirv::{Op, SelectionControl};

/// The fragment shader of one admitted program in its shell, as SPIR-V 1.0 words. Its
/// interface is the generic evaluator's without the program block.
#[must_use]
pub fn specialise(admitted: &Admitted) -> Vec<u32> {
    let (expressions, colour) = express(&admitted.program, &admitted.shell);
    let mut b = Builder::new();
    let inputs = begin(
        &mut b,
        &admitted.shell,
        Wanted::Known(expressions.registers_used(colour)),
    );
    let finished = lower(&mut b, &inputs, &expressions, colour);
    finish(&mut b, &admitted.shell, &inputs, finished);
    b.finish()
}

/// One fragment shader that holds several programs of one shell; the second component of
/// the constants block's last vector, a float, says which one runs. It exists to compare
/// many programs with few pipelines: each program's code is what [`specialise`] emits.
#[must_use]
pub fn specialise_batch(programs: &[Program], shell: &Shell) -> Vec<u32> {
    let mut b = Builder::new();
    let all: Vec<_> = programs
        .iter()
        .map(|program| express(program, shell))
        .collect();
    let wanted = all.iter().fold(0, |wanted, (expressions, colour)| {
        wanted | expressions.registers_used(*colour)
    });
    let inputs = begin(&mut b, shell, Wanted::Known(wanted));
    let index = b.uint(SCALARS as u32);
    let scalars = inputs.constant(&mut b, index);
    let selector = b.typed(Op::CompositeExtract, Type::Float, &[scalars, 1]);
    let selector = b.typed(Op::ConvertFToU, Type::Uint, &[selector]);
    let (merge, other) = (b.id(), b.id());
    let labels: Vec<u32> = all.iter().map(|_| b.id()).collect();
    b.act(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
    let mut targets = vec![selector, other];
    for (i, label) in labels.iter().enumerate() {
        targets.extend_from_slice(&[i as u32, *label]);
    }
    b.act(Op::Switch, &targets);
    let (mut rgbs, mut alphas) = (Vec::new(), Vec::new());
    for (label, (expressions, colour)) in labels.iter().zip(&all) {
        b.label(*label);
        let finished = lower(&mut b, &inputs, expressions, *colour);
        rgbs.extend_from_slice(&[finished.rgb, b.block()]);
        alphas.extend_from_slice(&[finished.alpha, b.block()]);
        b.branch(merge);
    }
    b.label(other);
    b.branch(merge);
    rgbs.extend_from_slice(&[b.splat(Type::Vec3, 0.0), other]);
    alphas.extend_from_slice(&[b.splat(Type::Float, 0.0), other]);
    b.label(merge);
    let finished = Finished {
        rgb: b.typed(Op::Phi, Type::Vec3, &rgbs),
        alpha: b.typed(Op::Phi, Type::Float, &alphas),
    };
    finish(&mut b, shell, &inputs, finished);
    b.finish()
}

/// The final colour as expressions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colour {
    rgb: Node,
    alpha: Node,
}

/// Runs the program over expressions. The order of reading and writing is the oracle's.
fn express(program: &Program, shell: &Shell) -> (Expressions, Colour) {
    let mut run = Run {
        e: Expressions::new(),
        program,
        registers: Vec::new(),
    };
    run.fill(shell);
    for (i, [rgb, alpha]) in program.stages().enumerate() {
        for constant in 0..2 {
            let index = match program.constant_scope(constant) {
                ConstantScope::Shared => 0,
                ConstantScope::PerStage => i,
            };
            run.load_constant(constant, 8 * constant + index);
        }
        run.stage(&rgb, &alpha);
    }
    let colour = run.finish();
    (run.e, colour)
}

struct Run<'a> {
    e: Expressions,
    program: &'a Program,
    /// Per register the RGB and the alpha expression.
    registers: Vec<[Node; 2]>,
}

struct Results {
    ab: Node,
    cd: Node,
    third: Node,
}

impl Run<'_> {
    fn fill(&mut self, shell: &Shell) {
        let e = &mut self.e;
        let zero = [e.constant(Shape::Rgb, 0.0), e.constant(Shape::Scalar, 0.0)];
        let none = [zero[0], e.constant(Shape::Scalar, 1.0)];
        self.registers = vec![zero; 16];
        for register in [Register::V0, Register::V1] {
            self.registers[register.index()] =
                [Shape::Rgb, Shape::Scalar].map(|shape| self.e.register(shape, register, 0.0, 1.0));
        }
        let factor = match shell.fog {
            crate::shell::Fog::Disabled => none[1],
            crate::shell::Fog::Interpolated => {
                self.e.register(Shape::Scalar, Register::Fog, 0.0, 1.0)
            }
        };
        let fog_colour = self.e.data(Shape::Rgb, crate::packet::FOG_COLOUR);
        self.registers[Register::Fog.index()] = [fog_colour, factor];
        for (i, mode) in shell.textures.into_iter().enumerate() {
            let index = Register::T0.index() + i;
            self.registers[index] = match mode {
                TextureMode::None | TextureMode::ClipPlane { .. } => none,
                _ => {
                    let limit = crate::arithmetic::LARGE;
                    let register = Register::ALL[index];
                    [Shape::Rgb, Shape::Scalar]
                        .map(|shape| self.e.register(shape, register, -limit, limit))
                }
            };
        }
        let r0_alpha = self.registers[Register::T0.index()][1];
        self.registers[Register::R0.index()] = [zero[0], r0_alpha];
    }

    fn load_constant(&mut self, constant: usize, vector: usize) {
        self.registers[Register::C0.index() + constant] =
            [Shape::Rgb, Shape::Scalar].map(|shape| self.e.data(shape, vector));
    }

    fn rgb(&mut self, input: Input) -> Node {
        let [rgb, alpha] = self.registers[input.register.index()];
        let e = match input.channel {
            Channel::Colour => rgb,
            Channel::Alpha => self.e.splat(alpha),
        };
        self.e.map(input.mapping, e)
    }

    fn scalar(&mut self, input: Input) -> Node {
        let [rgb, alpha] = self.registers[input.register.index()];
        let e = match input.channel {
            Channel::Colour => self.e.blue(rgb),
            Channel::Alpha => alpha,
        };
        self.e.map(input.mapping, e)
    }

    fn stage(&mut self, rgb: &Portion, alpha: &Portion) {
        let muxes = rgb.third == Third::Mux || alpha.third == Third::Mux;
        let condition = muxes.then(|| {
            let selector = self.registers[Register::R0.index()][1];
            match self.program.mux_selector() {
                MuxSelector::Msb => self.e.msb(selector),
                MuxSelector::Lsb => self.e.lsb(selector),
            }
        });
        let rgb_results = self.results(rgb, Shape::Rgb, condition);
        let alpha_results = self.results(alpha, Shape::Scalar, condition);
        self.write(rgb.ab_to, 0, rgb_results.ab);
        self.blue_to_alpha(rgb.ab_blue, rgb.ab_to, rgb_results.ab);
        self.write(rgb.cd_to, 0, rgb_results.cd);
        self.blue_to_alpha(rgb.cd_blue, rgb.cd_to, rgb_results.cd);
        self.write(rgb.third_to, 0, rgb_results.third);
        self.write(alpha.ab_to, 1, alpha_results.ab);
        self.write(alpha.cd_to, 1, alpha_results.cd);
        self.write(alpha.third_to, 1, alpha_results.third);
    }

    /// Results that nobody takes stay out of the way: their node is never emitted.
    fn results(&mut self, portion: &Portion, shape: Shape, condition: Option<Node>) -> Results {
        let nothing = self.e.constant(shape, 0.0);
        let mut results = Results {
            ab: nothing,
            cd: nothing,
            third: nothing,
        };
        let third = portion.third_to != Register::Zero;
        let (mut ab, mut cd) = (nothing, nothing);
        let [a, b, c, d] = portion.inputs;
        if third || portion.ab_to != Register::Zero {
            ab = self.product(shape, portion.ab, a, b);
            results.ab = self.output(portion.op, ab);
        }
        if third || portion.cd_to != Register::Zero {
            cd = self.product(shape, portion.cd, c, d);
            results.cd = self.output(portion.op, cd);
        }
        if third {
            let raw = match (portion.third, condition) {
                (Third::Mux, Some(condition)) => self.e.select(condition, cd, ab),
                _ => {
                    let sum = self.e.add(ab, cd);
                    self.e.flush(sum)
                }
            };
            results.third = self.output(portion.op, raw);
        }
        results
    }

    fn product(&mut self, shape: Shape, kind: Product, a: Input, b: Input) -> Node {
        let (a, b) = match shape {
            Shape::Rgb => (self.rgb(a), self.rgb(b)),
            Shape::Scalar => (self.scalar(a), self.scalar(b)),
        };
        let product = self.e.multiply(a, b);
        match (shape, kind) {
            (Shape::Rgb, Product::Dot) => {
                let sum = self.e.sum_of_components(product);
                let sum = self.e.flush(sum);
                self.e.splat(sum)
            }
            _ => self.e.flush(product),
        }
    }

    fn output(&mut self, op: OutputOp, x: Node) -> Node {
        let e = &mut self.e;
        let scaled = match op {
            OutputOp::Identity => x,
            OutputOp::Bias => e.add_constant(x, -0.5),
            OutputOp::Scale2 => e.scale(x, 2.0),
            OutputOp::BiasScale2 => {
                let biased = e.add_constant(x, -0.5);
                e.scale(biased, 2.0)
            }
            OutputOp::Scale4 => e.scale(x, 4.0),
            OutputOp::Half => {
                let half = e.scale(x, 0.5);
                e.flush(half)
            }
        };
        e.clamp(scaled, -1.0, 1.0)
    }

    fn write(&mut self, register: Register, part: usize, value: Node) {
        if register != Register::Zero {
            self.registers[register.index()][part] = value;
        }
    }

    fn blue_to_alpha(&mut self, blue: BlueToAlpha, register: Register, rgb: Node) {
        if blue == BlueToAlpha::On {
            let blue = self.e.blue(rgb);
            self.write(register, 1, blue);
        }
    }

    fn finish(&mut self) -> Colour {
        self.load_constant(0, crate::packet::FINAL_C0);
        self.load_constant(1, crate::packet::FINAL_C1);
        let last = self.program.final_combiner();
        let [a, b, c, d, e, f, g] = last.inputs;
        let zero = self.e.constant(Shape::Scalar, 0.0);
        let (e, f) = (self.rgb(e), self.rgb(f));
        let product = self.e.multiply(e, f);
        let product = self.e.flush(product);
        self.registers[Register::EfProduct.index()] = [product, zero];
        let mut term = |register: Register, term| {
            let [rgb, _] = self.registers[register.index()];
            let mapping = match term {
                SumTerm::Plain => Mapping::UnsignedIdentity,
                SumTerm::Complement => Mapping::UnsignedInvert,
            };
            self.e.map(mapping, rgb)
        };
        let v1 = term(Register::V1, last.v1);
        let r0 = term(Register::R0, last.r0);
        let mut sum = self.e.add(v1, r0);
        if last.sum == SumRange::Clamped {
            sum = self.e.clamp(sum, f32::MIN, 1.0);
        }
        self.registers[Register::V1R0Sum.index()] = [sum, zero];
        let [a, b, c, d] = [a, b, c, d].map(|input| self.rgb(input));
        let rest = self.e.subtract_from(1.0, a);
        let c = self.e.multiply(c, rest);
        let b = self.e.multiply(b, a);
        let both = self.e.add(c, b);
        let all = self.e.add(d, both);
        let all = self.e.flush(all);
        let rgb = self.e.clamp(all, 0.0, 1.0);
        let alpha = self.scalar(g);
        let alpha = self.e.clamp(alpha, 0.0, 1.0);
        Colour { rgb, alpha }
    }
}
