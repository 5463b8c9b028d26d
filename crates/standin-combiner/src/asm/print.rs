//! The disassembly of an admitted state.

use super::operand::{self, Place};
use crate::admit::{Decline, admit};
use crate::program::{
    BlueToAlpha, ConstantScope, MuxSelector, OutputOp, Portion, Product, Register, SumRange,
    SumTerm, Third,
};
use crate::shell::{AlphaTest, Fog, TextureMode};
use crate::state::RawState;
use std::fmt::Write;

/// The state as text; [`super::assemble`] gives the same words back, without those that an
/// admitted state does not look at.
///
/// # Errors
///
/// Why the state is not admitted.
pub fn disassemble(state: &RawState) -> Result<String, Decline> {
    let admitted = admit(state)?;
    let program = admitted.program;
    let mut lines = Lines(String::new());
    for (i, mode) in admitted.shell.textures.into_iter().enumerate() {
        if mode != TextureMode::None {
            lines.add(0, &format!("texture {i} {}", mode_name(mode)));
        }
    }
    if admitted.shell.fog == Fog::Interpolated {
        lines.add(0, "fog on");
    }
    lines.word(0, "fog_color", state.fog_colour);
    let test = admitted.shell.alpha_test;
    let reference = state.control_0 & 0xFF;
    if state.control_0 & 1 << 12 != 0 {
        lines.add(0, &format!("alpha_test {} {reference}", test_name(test)));
    } else if reference != 0 {
        lines.add(0, &format!("alpha_test off {reference}"));
    }
    if program.mux_selector() == MuxSelector::Msb {
        lines.add(0, "mux msb");
    }
    for constant in 0..2 {
        if program.constant_scope(constant) == ConstantScope::PerStage {
            lines.add(0, &format!("c{constant} per_stage"));
        }
    }
    for (i, [rgb, alpha]) in program.stages().enumerate() {
        lines.add(0, &format!("stage {i}"));
        lines.word(1, "c0", state.factor0[i]);
        lines.word(1, "c1", state.factor1[i]);
        lines.portion("rgb", &rgb, Place::Rgb);
        lines.portion("alpha", &alpha, Place::Scalar);
    }
    lines.add(0, "final");
    lines.word(1, "c0", state.final_factors[0]);
    lines.word(1, "c1", state.final_factors[1]);
    let last = program.final_combiner();
    for (input, name) in last.inputs.into_iter().zip('a'..) {
        let place = if name == 'g' {
            Place::Scalar
        } else {
            Place::Rgb
        };
        if input.to_bits() != 0 {
            lines.add(1, &format!("{name} = {}", operand::print(input, place)));
        }
    }
    if last.v1 == SumTerm::Complement {
        lines.add(1, "complement_v1");
    }
    if last.r0 == SumTerm::Complement {
        lines.add(1, "complement_r0");
    }
    if last.sum == SumRange::Clamped {
        lines.add(1, "clamp_sum");
    }
    Ok(lines.0)
}

struct Lines(String);

impl Lines {
    fn add(&mut self, depth: usize, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{:width$}{line}", "", width = depth * 2);
    }

    fn word(&mut self, depth: usize, name: &str, word: u32) {
        if word != 0 {
            self.add(depth, &format!("{name} {word:#010x}"));
        }
    }

    /// Lines that would say nothing are left out.
    fn portion(&mut self, name: &str, portion: &Portion, place: Place) {
        let [a, b, c, d] = portion.inputs;
        let products = [
            ("ab", portion.ab_to, portion.ab, a, b, portion.ab_blue),
            ("cd", portion.cd_to, portion.cd, c, d, portion.cd_blue),
        ];
        for (result, to, kind, x, y, blue) in products {
            let silent = to == Register::Zero
                && kind == Product::Componentwise
                && blue == BlueToAlpha::Off
                && x.to_bits() == 0
                && y.to_bits() == 0;
            if silent {
                continue;
            }
            let (x, y) = (operand::print(x, place), operand::print(y, place));
            let product = match kind {
                Product::Componentwise => format!("{x} * {y}"),
                Product::Dot => format!("dot({x}, {y})"),
            };
            let blue = match blue {
                BlueToAlpha::Off => "",
                BlueToAlpha::On => " blue_to_alpha",
            };
            self.add(
                1,
                &format!("{name} {result} {} = {product}{blue}", target(to)),
            );
        }
        let to = target(portion.third_to);
        match portion.third {
            Third::Sum if portion.third_to == Register::Zero => {}
            Third::Sum => self.add(1, &format!("{name} sum {to} = ab + cd")),
            Third::Mux => self.add(1, &format!("{name} mux {to} = r0.a ? cd : ab")),
        }
        if portion.op != OutputOp::Identity {
            self.add(1, &format!("{name} op {}", op_name(portion.op)));
        }
    }
}

fn target(register: Register) -> &'static str {
    if register == Register::Zero {
        "-"
    } else {
        register.name()
    }
}

pub(super) fn op_name(op: OutputOp) -> &'static str {
    match op {
        OutputOp::Identity => "x",
        OutputOp::Bias => "x-1/2",
        OutputOp::Scale2 => "2x",
        OutputOp::BiasScale2 => "2(x-1/2)",
        OutputOp::Scale4 => "4x",
        OutputOp::Half => "x/2",
    }
}

pub(super) fn test_name(test: AlphaTest) -> &'static str {
    match test {
        AlphaTest::Never => "never",
        AlphaTest::Less => "less",
        AlphaTest::Equal => "equal",
        AlphaTest::LessOrEqual => "lequal",
        AlphaTest::Greater => "greater",
        AlphaTest::NotEqual => "notequal",
        AlphaTest::GreaterOrEqual => "gequal",
        AlphaTest::Always => "always",
    }
}

fn mode_name(mode: TextureMode) -> String {
    match mode {
        TextureMode::None => "none".into(),
        TextureMode::Projective2d => "2d".into(),
        TextureMode::Projective3d => "3d".into(),
        TextureMode::Cube => "cube".into(),
        TextureMode::PassThrough => "passthrough".into(),
        TextureMode::ClipPlane { compares } => format!("clip {compares:#x}"),
    }
}
