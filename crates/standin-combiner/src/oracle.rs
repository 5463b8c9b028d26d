//! The oracle: what a program does, computed on the CPU one register at a time. The order
//! of reading and writing is here, once; the numbers are a [`Profile`]'s.

mod float;
mod nine_bit;
mod reading;

pub use float::Float;
pub use nine_bit::NineBit;
pub use reading::Reading;

use crate::packet::Constants;
use crate::program::{
    BlueToAlpha, Channel, ConstantScope, FinalCombiner, Input, Mapping, MuxSelector, OutputOp,
    Portion, Product, Program, Register, SumRange, SumTerm, Third,
};
use crate::shell::{Fog, Shell, TextureMode};
use crate::state::TEXTURE_STAGES;

/// What a fragment brings with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FragmentInputs {
    /// The interpolated colours V0 and V1.
    pub colours: [[f32; 4]; 2],
    /// The interpolated fog factor.
    pub fog: f32,
    /// Per texture stage: the texel where the mode samples, the coordinates (s, t, r, q)
    /// where it passes them through or compares them; else unused.
    pub textures: [[f32; 4]; TEXTURE_STAGES],
}

/// What becomes of the fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is written.
    Kept,
    /// A clip-plane texture stage discards it.
    ClippedByTexture,
    /// The alpha test discards it.
    FailedAlphaTest,
}

/// The result of one fragment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The colour, in [0, 1]. A discarded fragment has one too; it is not written.
    pub colour: [f32; 4],
    /// What becomes of the fragment.
    pub fate: Fate,
}

/// The numbers that an evaluation works with. All operations are on one component.
pub trait Profile {
    /// A component.
    type Number: Copy + Default;
    /// A constant of the program: 0, 1 or n/255.
    fn constant(&self, x: f32) -> Self::Number;
    /// An interpolated colour or fog factor.
    fn unit_input(&self, x: f32) -> Self::Number;
    /// A texel or coordinate.
    fn texture_input(&self, x: f32) -> Self::Number;
    /// An input mapping.
    fn map(&self, mapping: Mapping, e: Self::Number) -> Self::Number;
    /// A product.
    fn product(&self, a: Self::Number, b: Self::Number) -> Self::Number;
    /// (r + g) + b of three products.
    fn dot(&self, a: [Self::Number; 3], b: [Self::Number; 3]) -> Self::Number;
    /// AB + CD.
    fn sum(&self, ab: Self::Number, cd: Self::Number) -> Self::Number;
    /// Whether the mux takes CD.
    fn takes_cd(&self, selector: MuxSelector, r0_alpha: Self::Number) -> bool;
    /// An output operation and the clamp to [-1, 1].
    fn output(&self, op: OutputOp, x: Self::Number) -> Self::Number;
    /// V1 + R0 of the final combiner.
    fn final_sum(&self, v1: Self::Number, r0: Self::Number, range: SumRange) -> Self::Number;
    /// D + (C (1 - A) + B A), clamped to [0, 1].
    fn blend(&self, abcd: [Self::Number; 4]) -> Self::Number;
    /// Clamps to [0, 1].
    fn clamp_unit(&self, x: Self::Number) -> Self::Number;
    /// A number in [0, 1] as 0 to 255: what the alpha test compares.
    fn byte(&self, x: Self::Number) -> u32;
    /// The number as a float.
    fn to_float(&self, x: Self::Number) -> f32;
}

/// The sixteen registers, each red, green, blue, alpha.
pub type Registers<N> = [[N; 4]; 16];

/// Evaluates one fragment.
#[must_use]
pub fn evaluate<P: Profile>(
    profile: &P,
    program: &Program,
    shell: &Shell,
    constants: &Constants,
    inputs: &FragmentInputs,
) -> Outcome {
    Evaluation::new(profile, program, constants, Reading::Right).run(shell, inputs, |_, _| {})
}

/// Evaluates one fragment and shows the registers after every step: 0 is the state before
/// the first stage, i + 1 the state after stage i, and the last, one more, has V1R0_SUM
/// and EF_PROD as the final combiner computes them.
pub fn trace<P: Profile>(
    profile: &P,
    program: &Program,
    shell: &Shell,
    constants: &Constants,
    inputs: &FragmentInputs,
    observe: impl FnMut(usize, &Registers<P::Number>),
) -> Outcome {
    Evaluation::new(profile, program, constants, Reading::Right).run(shell, inputs, observe)
}

/// Evaluates one fragment under a reading of the rules, right or wrong: the mutants that
/// the tests must tell apart.
#[must_use]
pub fn evaluate_as<P: Profile>(
    reading: Reading,
    profile: &P,
    program: &Program,
    shell: &Shell,
    constants: &Constants,
    inputs: &FragmentInputs,
) -> Outcome {
    Evaluation::new(profile, program, constants, reading).run(shell, inputs, |_, _| {})
}

struct Evaluation<'a, P: Profile> {
    profile: &'a P,
    program: &'a Program,
    constants: &'a Constants,
    reading: Reading,
    registers: Registers<P::Number>,
}

/// A portion's mapped inputs, or the RGB results before and after the output operation.
struct RgbResults<N> {
    ab: [N; 3],
    cd: [N; 3],
    raw_ab_blue: N,
    raw_cd_blue: N,
    third: [N; 3],
}

impl<'a, P: Profile> Evaluation<'a, P> {
    fn new(
        profile: &'a P,
        program: &'a Program,
        constants: &'a Constants,
        reading: Reading,
    ) -> Self {
        Self {
            profile,
            program,
            constants,
            reading,
            registers: Default::default(),
        }
    }

    fn run(
        mut self,
        shell: &Shell,
        inputs: &FragmentInputs,
        mut observe: impl FnMut(usize, &Registers<P::Number>),
    ) -> Outcome {
        self.fill(shell, inputs);
        observe(0, &self.registers);
        let program = self.program;
        let limit = self.reading.stage_limit();
        for (i, [rgb, alpha]) in program.stages().enumerate().take(limit) {
            self.load_stage_constants(i);
            self.stage(&rgb, &alpha);
            observe(i + 1, &self.registers);
        }
        let colour = self.finish(&program.final_combiner());
        observe(program.stage_count() + 1, &self.registers);
        let alpha = if self.reading == Reading::AlphaTestTruncates {
            (self.profile.to_float(colour[3]) * 255.0) as u32
        } else {
            self.profile.byte(colour[3])
        };
        let reference = u32::from(self.constants.alpha_reference);
        let fate = if clipped(shell, inputs) {
            Fate::ClippedByTexture
        } else if shell.alpha_test.keeps(alpha, reference) {
            Fate::Kept
        } else {
            Fate::FailedAlphaTest
        };
        Outcome {
            colour: colour.map(|x| self.profile.to_float(x)),
            fate,
        }
    }

    /// The registers before the first stage.
    fn fill(&mut self, shell: &Shell, inputs: &FragmentInputs) {
        let profile = self.profile;
        for (register, colour) in [Register::V0, Register::V1].into_iter().zip(inputs.colours) {
            self.registers[register.index()] = colour.map(|x| profile.unit_input(x));
        }
        let [red, green, blue] = self.constants.fog_colour.map(|x| profile.constant(x));
        let factor = match shell.fog {
            Fog::Disabled => profile.constant(1.0),
            Fog::Interpolated => profile.unit_input(inputs.fog),
        };
        self.registers[Register::Fog.index()] = [red, green, blue, factor];
        let none_alpha = if self.reading == Reading::NoneTextureAlphaIsZero {
            0.0
        } else {
            1.0
        };
        for (i, mode) in shell.textures.into_iter().enumerate() {
            self.registers[Register::T0.index() + i] = match mode {
                // No admitted program reads a clip-plane stage's register.
                TextureMode::None | TextureMode::ClipPlane { .. } => {
                    [0.0, 0.0, 0.0, none_alpha].map(|x| profile.constant(x))
                }
                TextureMode::Projective2d
                | TextureMode::Projective3d
                | TextureMode::Cube
                | TextureMode::PassThrough => inputs.textures[i].map(|x| profile.texture_input(x)),
            };
        }
        let r0_alpha = match shell.textures[0] {
            TextureMode::None => profile.constant(1.0),
            _ => self.registers[Register::T0.index()][3],
        };
        let zero = profile.constant(0.0);
        self.registers[Register::R0.index()] = [zero, zero, zero, r0_alpha];
    }

    fn load_stage_constants(&mut self, stage: usize) {
        let banks = [&self.constants.c0, &self.constants.c1];
        for (constant, bank) in banks.into_iter().enumerate() {
            let scope = self.program.constant_scope(constant);
            let shared =
                scope == ConstantScope::Shared && self.reading != Reading::ConstantsAlwaysPerStage;
            let index = if shared { 0 } else { stage };
            self.registers[Register::C0.index() + constant] =
                bank[index].map(|x| self.profile.constant(x));
        }
    }

    fn rgb(&self, input: Input) -> [P::Number; 3] {
        let [red, green, blue, alpha] = self.registers[input.register.index()];
        let components = match input.channel {
            Channel::Colour => [red, green, blue],
            Channel::Alpha => [alpha; 3],
        };
        components.map(|e| self.profile.map(input.mapping, e))
    }

    /// The scalar that an alpha portion and G read.
    fn scalar(&self, input: Input) -> P::Number {
        let register = self.registers[input.register.index()];
        let takes_alpha = input.channel == Channel::Alpha;
        let blue_is_green = self.reading == Reading::AlphaPortionReadsGreen;
        let e = match (takes_alpha, blue_is_green) {
            (true, _) => register[3],
            (false, true) => register[1],
            (false, false) => register[2],
        };
        self.profile.map(input.mapping, e)
    }

    fn takes_cd(&self, selector_alpha: P::Number) -> bool {
        let selector = match self.program.mux_selector() {
            MuxSelector::Lsb if self.reading == Reading::LsbMuxIsMsb => MuxSelector::Msb,
            selector => selector,
        };
        let takes_cd = self.profile.takes_cd(selector, selector_alpha);
        takes_cd != (self.reading == Reading::MuxReversed)
    }

    fn stage(&mut self, rgb: &Portion, alpha: &Portion) {
        if self.reading == Reading::ResultsOneByOne {
            self.stage_one_by_one(rgb, alpha);
            return;
        }
        let takes_cd = self.takes_cd(self.registers[Register::R0.index()][3]);
        let rgb_results = self.rgb_results(rgb, takes_cd);
        if self.reading == Reading::RgbWrittenBeforeAlphaReads {
            self.commit_rgb(rgb, &rgb_results);
            let alpha_results = self.alpha_results(alpha, takes_cd);
            self.commit_alpha(alpha, alpha_results);
        } else {
            let alpha_results = self.alpha_results(alpha, takes_cd);
            self.commit_rgb(rgb, &rgb_results);
            self.commit_alpha(alpha, alpha_results);
        }
    }

    /// A misreading: each result is written before the next one's inputs are read.
    fn stage_one_by_one(&mut self, rgb: &Portion, alpha: &Portion) {
        let nowhere = |portion: &Portion| Portion {
            ab_to: Register::Zero,
            cd_to: Register::Zero,
            third_to: Register::Zero,
            ..*portion
        };
        for turn in 0..3 {
            let only = |portion: &Portion| match turn {
                0 => Portion {
                    ab_to: portion.ab_to,
                    ..nowhere(portion)
                },
                1 => Portion {
                    cd_to: portion.cd_to,
                    ..nowhere(portion)
                },
                _ => Portion {
                    third_to: portion.third_to,
                    ..nowhere(portion)
                },
            };
            let takes_cd = self.takes_cd(self.registers[Register::R0.index()][3]);
            let rgb_results = self.rgb_results(rgb, takes_cd);
            let alpha_results = self.alpha_results(alpha, takes_cd);
            self.commit_rgb(&only(rgb), &rgb_results);
            self.commit_alpha(&only(alpha), alpha_results);
        }
    }

    fn rgb_results(&self, portion: &Portion, takes_cd: bool) -> RgbResults<P::Number> {
        let [a, b, c, d] = portion.inputs.map(|input| self.rgb(input));
        let multiply = |kind, x: [P::Number; 3], y: [P::Number; 3]| match kind {
            Product::Componentwise => [0, 1, 2].map(|i| self.profile.product(x[i], y[i])),
            Product::Dot => [self.profile.dot(x, y); 3],
        };
        let ab = multiply(portion.ab, a, b);
        let cd = multiply(portion.cd, c, d);
        let dotted = portion.ab == Product::Dot || portion.cd == Product::Dot;
        let third = [0, 1, 2].map(|i| {
            if dotted && self.reading == Reading::DotSuppressesSum {
                self.profile.constant(0.0)
            } else {
                self.third(portion, ab[i], cd[i], takes_cd)
            }
        });
        let output = |x: [P::Number; 3]| x.map(|x| self.profile.output(portion.op, x));
        RgbResults {
            ab: output(ab),
            cd: output(cd),
            raw_ab_blue: ab[2],
            raw_cd_blue: cd[2],
            third: output(third),
        }
    }

    /// The third result before its output operation.
    fn third(&self, portion: &Portion, ab: P::Number, cd: P::Number, takes_cd: bool) -> P::Number {
        match portion.third {
            Third::Sum if self.reading == Reading::SumOfOutputs => self.profile.sum(
                self.profile.output(portion.op, ab),
                self.profile.output(portion.op, cd),
            ),
            Third::Sum => self.profile.sum(ab, cd),
            Third::Mux if takes_cd => cd,
            Third::Mux => ab,
        }
    }

    fn alpha_results(&self, portion: &Portion, takes_cd: bool) -> [P::Number; 3] {
        let [a, b, c, d] = portion.inputs.map(|input| self.scalar(input));
        let ab = self.profile.product(a, b);
        let cd = self.profile.product(c, d);
        let third = self.third(portion, ab, cd, takes_cd);
        [ab, cd, third].map(|x| self.profile.output(portion.op, x))
    }

    /// RGB AB, its blue to alpha, CD, its blue to alpha, then the third result.
    fn commit_rgb(&mut self, portion: &Portion, results: &RgbResults<P::Number>) {
        let products = [
            (
                portion.ab_to,
                results.ab,
                portion.ab_blue,
                results.raw_ab_blue,
            ),
            (
                portion.cd_to,
                results.cd,
                portion.cd_blue,
                results.raw_cd_blue,
            ),
        ];
        for (to, rgb, blue, raw_blue) in products {
            self.write_rgb(to, rgb);
            if blue == BlueToAlpha::On {
                match self.reading {
                    Reading::NoBlueToAlpha => {}
                    Reading::BlueToAlphaIsRaw => self.write_alpha(to, raw_blue),
                    _ => self.write_alpha(to, rgb[2]),
                }
            }
        }
        self.write_rgb(portion.third_to, results.third);
    }

    fn commit_alpha(&mut self, portion: &Portion, [ab, cd, third]: [P::Number; 3]) {
        self.write_alpha(portion.ab_to, ab);
        self.write_alpha(portion.cd_to, cd);
        self.write_alpha(portion.third_to, third);
    }

    fn write_rgb(&mut self, register: Register, rgb: [P::Number; 3]) {
        if register != Register::Zero {
            self.registers[register.index()][..3].copy_from_slice(&rgb);
        }
    }

    fn write_alpha(&mut self, register: Register, alpha: P::Number) {
        if register != Register::Zero {
            self.registers[register.index()][3] = alpha;
        }
    }

    fn finish(&mut self, last: &FinalCombiner) -> [P::Number; 4] {
        let zero = self.profile.constant(0.0);
        for (i, factor) in self.constants.final_factors.into_iter().enumerate() {
            self.registers[Register::C0.index() + i] = factor.map(|x| self.profile.constant(x));
        }
        let [a, b, c, d, e, f, g] = last.inputs;
        let (e, f) = (self.rgb(e), self.rgb(f));
        let [red, green, blue] = [0, 1, 2].map(|i| self.profile.product(e[i], f[i]));
        self.registers[Register::EfProduct.index()] = [red, green, blue, zero];
        let [red, green, blue] = [0, 1, 2].map(|i| {
            let term = |register: Register, term| {
                let e = self.registers[register.index()][i];
                self.sum_term(term, e)
            };
            let v1 = term(Register::V1, last.v1);
            let r0 = term(Register::R0, last.r0);
            self.profile.final_sum(v1, r0, last.sum)
        });
        self.registers[Register::V1R0Sum.index()] = [red, green, blue, zero];
        let [a, b, c, d] = [a, b, c, d].map(|input| self.rgb(input));
        let [red, green, blue] = [0, 1, 2].map(|i| self.profile.blend([a[i], b[i], c[i], d[i]]));
        let alpha = self.profile.clamp_unit(self.scalar(g));
        [red, green, blue, alpha]
    }

    fn sum_term(&self, term: SumTerm, e: P::Number) -> P::Number {
        match (term, self.reading) {
            (SumTerm::Plain, Reading::SumTermsUnclamped) => e,
            (SumTerm::Complement, Reading::ComplementIgnored) | (SumTerm::Plain, _) => {
                self.profile.map(Mapping::UnsignedIdentity, e)
            }
            (SumTerm::Complement, _) => self.profile.map(Mapping::UnsignedInvert, e),
        }
    }
}

fn clipped(shell: &Shell, inputs: &FragmentInputs) -> bool {
    shell
        .textures
        .into_iter()
        .zip(inputs.textures)
        .any(|(mode, coordinates)| {
            let TextureMode::ClipPlane { compares } = mode else {
                return false;
            };
            (0..4).any(|c| {
                let e = crate::arithmetic::flush(coordinates[c]);
                if compares >> c & 1 == 1 {
                    e >= 0.0
                } else {
                    e < 0.0
                }
            })
        })
}
