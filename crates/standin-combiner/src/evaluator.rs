//! The generic evaluator: one fragment shader for each shell, which interprets the program
//! in its control packet. Everything it branches on is the same for a whole draw.

mod registers;
mod rules;

use crate::emit::{Builder, Finished, Interface, Type, begin, finish, uniform_block};
use crate::packet::{
    C0_SHIFT, C1_SHIFT, FINAL_C0, FINAL_C1, HEADER_MUX_MSB, HEADER_PRODUCT, HEADER_SUM, NEEDS_AB,
    NEEDS_CD, PROGRAM_VECTORS,
};
use crate::program::{
    AB_BLUE_TO_ALPHA, AB_DOT, CD_BLUE_TO_ALPHA, CD_DOT, CLAMP_SUM, COMPLEMENT_R0, COMPLEMENT_V1,
    MUX, Register,
};
use crate::shell::Shell;
use registers::RegisterFile;
use spirv::{GlslStd450Op, LoopControl, Op, StorageClass};

/// How the evaluator keeps its registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RegisterStorage {
    /// One array of 64 floats: a channel is part of the index.
    #[default]
    FloatArray,
    /// One array of 16 vectors.
    VectorArray,
    /// One variable for each register, chosen by a switch.
    Variables,
}

/// How the evaluator applies an input mapping or an output operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RuleForm {
    /// One formula whose numbers come from the encoding.
    #[default]
    Data,
    /// A switch over the encoding.
    Switch,
    /// The formula, with its numbers from the packet's tables.
    Table,
}

/// Whether the commonest mapping and operation have a path of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shortcuts {
    /// All encodings go the same way.
    #[default]
    None,
    /// max(0, e) and x do nothing but that.
    Identity,
}

/// The evaluator's variants. All give the same bits; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EvaluatorForm {
    /// How registers are kept.
    pub registers: RegisterStorage,
    /// How mappings and operations are applied.
    pub rules: RuleForm,
    /// Whether the commonest ones have a path of their own.
    pub shortcuts: Shortcuts,
}

impl EvaluatorForm {
    /// Every form.
    pub fn all() -> impl Iterator<Item = Self> {
        const STORAGES: [RegisterStorage; 3] = [
            RegisterStorage::FloatArray,
            RegisterStorage::VectorArray,
            RegisterStorage::Variables,
        ];
        const RULES: [RuleForm; 3] = [RuleForm::Data, RuleForm::Switch, RuleForm::Table];
        STORAGES.into_iter().flat_map(|registers| {
            RULES.into_iter().flat_map(move |rules| {
                [Shortcuts::None, Shortcuts::Identity]
                    .into_iter()
                    .map(move |shortcuts| Self {
                        registers,
                        rules,
                        shortcuts,
                    })
            })
        })
    }
}

/// registers/rules, and `+` with shortcuts.
impl std::fmt::Display for EvaluatorForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let registers = match self.registers {
            RegisterStorage::FloatArray => "floats",
            RegisterStorage::VectorArray => "vectors",
            RegisterStorage::Variables => "variables",
        };
        let rules = match self.rules {
            RuleForm::Data => "data",
            RuleForm::Switch => "switch",
            RuleForm::Table => "table",
        };
        let shortcuts = match self.shortcuts {
            Shortcuts::None => "",
            Shortcuts::Identity => "+",
        };
        f.pad(&format!("{registers}/{rules}{shortcuts}"))
    }
}

/// The evaluator's fragment shader for a shell, as SPIR-V 1.0 words.
#[must_use]
pub fn evaluator(shell: &Shell, form: EvaluatorForm) -> Vec<u32> {
    let mut b = Builder::new();
    let inputs = begin(&mut b, shell, 0xFFFF);
    let block = uniform_block(&mut b, Type::Uint4, PROGRAM_VECTORS, Interface::PROGRAM);
    let registers = RegisterFile::declare(&mut b, form.registers);
    registers.fill(&mut b, shell, &inputs);
    let mut code = Evaluator {
        b,
        form,
        registers,
        block,
    };
    let zero = code.b.uint(0);
    let [count, abcd, efg, flags] = code.program_vector(zero);
    code.stages(count, flags, &inputs);
    let colour = code.finish(abcd, efg, flags, &inputs);
    let mut b = code.b;
    finish(&mut b, shell, &inputs, colour);
    b.finish()
}

struct Evaluator {
    b: Builder,
    form: EvaluatorForm,
    registers: RegisterFile,
    block: u32,
}

/// A portion's three results, not yet operated on, or its two products.
#[derive(Clone, Copy)]
struct Raw {
    ab: u32,
    cd: u32,
    third: u32,
}

impl Evaluator {
    fn program_vector(&mut self, index: u32) -> [u32; 4] {
        let b = &mut self.b;
        let pointer = b.pointer(StorageClass::Uniform, Type::Uint4 as u32);
        let zero = b.uint(0);
        let chain = b.value(Op::AccessChain, pointer, &[self.block, zero, index]);
        let vector = b.load(Type::Uint4, chain);
        [0, 1, 2, 3].map(|i| b.typed(Op::CompositeExtract, Type::Uint, &[vector, i]))
    }

    fn bits(&mut self, word: u32, shift: u32, mask: u32) -> u32 {
        let (shift, mask) = (self.b.uint(shift), self.b.uint(mask));
        let shifted = self
            .b
            .typed(Op::ShiftRightLogical, Type::Uint, &[word, shift]);
        self.b.typed(Op::BitwiseAnd, Type::Uint, &[shifted, mask])
    }

    fn any(&mut self, word: u32, mask: u32) -> u32 {
        let (mask, zero) = (self.b.uint(mask), self.b.uint(0));
        let bits = self.b.typed(Op::BitwiseAnd, Type::Uint, &[word, mask]);
        self.b.typed(Op::INotEqual, Type::Bool, &[bits, zero])
    }

    /// Code that runs where `condition` holds; elsewhere the value is `otherwise`.
    fn value_where(
        &mut self,
        condition: u32,
        of: Type,
        otherwise: u32,
        code: impl FnOnce(&mut Self) -> u32,
    ) -> u32 {
        let before = self.b.block();
        let (yes, merge) = (self.b.id(), self.b.id());
        self.b.select_blocks(condition, yes, merge, merge);
        self.b.label(yes);
        let value = code(self);
        let after = self.b.block();
        self.b.branch(merge);
        self.b.label(merge);
        self.b
            .typed(Op::Phi, of, &[otherwise, before, value, after])
    }

    fn choose(
        &mut self,
        condition: u32,
        of: Type,
        yes: impl FnOnce(&mut Self) -> u32,
        no: impl FnOnce(&mut Self) -> u32,
    ) -> u32 {
        let (yes_block, no_block, merge) = (self.b.id(), self.b.id(), self.b.id());
        self.b.select_blocks(condition, yes_block, no_block, merge);
        self.b.label(yes_block);
        let x = yes(self);
        let after_yes = self.b.block();
        self.b.branch(merge);
        self.b.label(no_block);
        let y = no(self);
        let after_no = self.b.block();
        self.b.branch(merge);
        self.b.label(merge);
        self.b.typed(Op::Phi, of, &[x, after_yes, y, after_no])
    }

    fn act_where(&mut self, condition: u32, code: impl FnOnce(&mut Self)) {
        let (yes, merge) = (self.b.id(), self.b.id());
        self.b.select_blocks(condition, yes, merge, merge);
        self.b.label(yes);
        code(self);
        self.b.branch(merge);
        self.b.label(merge);
    }

    /// A loop over the enabled stages.
    fn stages(&mut self, count: u32, flags: u32, inputs: &crate::emit::Inputs) {
        let b = &mut self.b;
        let before = b.block();
        let (head, test, body, next, end) = (b.id(), b.id(), b.id(), b.id(), b.id());
        let (i, i_next) = (b.id(), b.id());
        let (zero, one) = (b.uint(0), b.uint(1));
        let uint = Type::Uint as u32;
        b.branch(head);
        b.label(head);
        b.act(Op::Phi, &[uint, i, zero, before, i_next, next]);
        b.act(Op::LoopMerge, &[end, next, LoopControl::NONE.bits()]);
        b.branch(test);
        b.label(test);
        let more = b.typed(Op::ULessThan, Type::Bool, &[i, count]);
        b.act(Op::BranchConditional, &[more, body, end]);
        b.label(body);
        self.stage(i, flags, inputs);
        let b = &mut self.b;
        b.branch(next);
        b.label(next);
        b.act(Op::IAdd, &[uint, i_next, i, one]);
        b.branch(head);
        b.label(end);
    }

    fn stage(&mut self, i: u32, flags: u32, inputs: &crate::emit::Inputs) {
        let one = self.b.uint(1);
        let index = self.b.typed(Op::IAdd, Type::Uint, &[i, one]);
        let [rgb_in, alpha_in, rgb_out, alpha_out] = self.program_vector(index);
        let eight = self.b.uint(8);
        let c0 = self.bits(rgb_out, C0_SHIFT, 7);
        let c1 = self.bits(rgb_out, C1_SHIFT, 7);
        let c1 = self.b.typed(Op::IAdd, Type::Uint, &[c1, eight]);
        for (register, index) in [(Register::C0, c0), (Register::C1, c1)] {
            let vector = inputs.constant(&mut self.b, index);
            self.registers.set(&mut self.b, register, vector);
        }
        let takes_cd = self.takes_cd(rgb_out, alpha_out, flags);
        let rgb = self.rgb_results(rgb_in, rgb_out, takes_cd);
        let alpha = self.alpha_results(alpha_in, alpha_out, takes_cd);
        self.commit_rgb(rgb_out, rgb);
        self.commit_alpha(alpha_out, alpha);
    }

    fn takes_cd(&mut self, rgb_out: u32, alpha_out: u32, flags: u32) -> u32 {
        let both = self
            .b
            .typed(Op::BitwiseOr, Type::Uint, &[rgb_out, alpha_out]);
        let muxes = self.any(both, MUX);
        let no = self.b.boolean(false);
        self.value_where(muxes, Type::Bool, no, |code| {
            let alpha = code.registers.alpha(&mut code.b, Register::R0);
            let msb = code.any(flags, HEADER_MUX_MSB);
            code.choose(
                msb,
                Type::Bool,
                |code| {
                    let half = code.b.splat(Type::Float, 0.5);
                    code.b
                        .typed(Op::FOrdGreaterThanEqual, Type::Bool, &[alpha, half])
                },
                |code| {
                    let limited = code.b.clamp(Type::Float, alpha, 0.0, 1.0);
                    code.b.low_bit(limited)
                },
            )
        })
    }

    fn rgb_results(&mut self, input: u32, output: u32, takes_cd: u32) -> Raw {
        let zero = self.b.splat(Type::Vec3, 0.0);
        let mut product = |needs, shift, dot| {
            let needed = self.any(output, needs);
            self.value_where(needed, Type::Vec3, zero, |code| {
                let x = code.read_rgb(input, shift + 8);
                let y = code.read_rgb(input, shift);
                let product = code.b.typed(Op::FMul, Type::Vec3, &[x, y]);
                let dots = code.any(output, dot);
                code.choose(
                    dots,
                    Type::Vec3,
                    |code| code.dot(product),
                    |code| code.b.flush(Type::Vec3, product),
                )
            })
        };
        let ab = product(NEEDS_AB, 16, AB_DOT);
        let cd = product(NEEDS_CD, 0, CD_DOT);
        let third = self.third(Type::Vec3, output, ab, cd, takes_cd);
        Raw { ab, cd, third }
    }

    fn dot(&mut self, product: u32) -> u32 {
        let b = &mut self.b;
        let [red, green, blue] =
            [0, 1, 2].map(|i| b.typed(Op::CompositeExtract, Type::Float, &[product, i]));
        let two = b.typed(Op::FAdd, Type::Float, &[red, green]);
        let all = b.typed(Op::FAdd, Type::Float, &[two, blue]);
        let flushed = b.flush(Type::Float, all);
        b.typed(
            Op::CompositeConstruct,
            Type::Vec3,
            &[flushed, flushed, flushed],
        )
    }

    fn alpha_results(&mut self, input: u32, output: u32, takes_cd: u32) -> Raw {
        let zero = self.b.splat(Type::Float, 0.0);
        let mut product = |needs, shift| {
            let needed = self.any(output, needs);
            self.value_where(needed, Type::Float, zero, |code| {
                let x = code.read_scalar(input, shift + 8);
                let y = code.read_scalar(input, shift);
                let product = code.b.typed(Op::FMul, Type::Float, &[x, y]);
                code.b.flush(Type::Float, product)
            })
        };
        let ab = product(NEEDS_AB, 16);
        let cd = product(NEEDS_CD, 0);
        let third = self.third(Type::Float, output, ab, cd, takes_cd);
        Raw { ab, cd, third }
    }

    fn third(&mut self, of: Type, output: u32, ab: u32, cd: u32, takes_cd: u32) -> u32 {
        let zero = self.b.splat(of, 0.0);
        let needed = self.any(output, 0xF00);
        self.value_where(needed, of, zero, |code| {
            let muxes = code.any(output, MUX);
            code.choose(
                muxes,
                of,
                |code| {
                    let condition = match of {
                        Type::Vec3 => code.b.typed(
                            Op::CompositeConstruct,
                            Type::Bool3,
                            &[takes_cd, takes_cd, takes_cd],
                        ),
                        _ => takes_cd,
                    };
                    code.b.typed(Op::Select, of, &[condition, cd, ab])
                },
                |code| {
                    let sum = code.b.typed(Op::FAdd, of, &[ab, cd]);
                    code.b.flush(of, sum)
                },
            )
        })
    }

    /// AB, its blue to alpha, CD, its blue to alpha, then the third result.
    fn commit_rgb(&mut self, output: u32, raw: Raw) {
        let rule = self.output_rule(output);
        for (value, shift, blue) in [
            (raw.ab, 4, AB_BLUE_TO_ALPHA),
            (raw.cd, 0, CD_BLUE_TO_ALPHA),
            (raw.third, 8, 0),
        ] {
            let goes = self.any(output, 0xF << shift);
            self.act_where(goes, |code| {
                let to = code.bits(output, shift, 0xF);
                let value = code.apply_output(Type::Vec3, rule, value);
                code.registers.write_rgb(&mut code.b, to, value);
                if blue != 0 {
                    let copies = code.any(output, blue);
                    code.act_where(copies, |code| {
                        let blue = code.b.typed(Op::CompositeExtract, Type::Float, &[value, 2]);
                        code.registers.write_alpha(&mut code.b, to, blue);
                    });
                }
            });
        }
    }

    fn commit_alpha(&mut self, output: u32, raw: Raw) {
        let rule = self.output_rule(output);
        for (value, shift) in [(raw.ab, 4), (raw.cd, 0), (raw.third, 8)] {
            let goes = self.any(output, 0xF << shift);
            self.act_where(goes, |code| {
                let to = code.bits(output, shift, 0xF);
                let value = code.apply_output(Type::Float, rule, value);
                code.registers.write_alpha(&mut code.b, to, value);
            });
        }
    }

    fn read_rgb(&mut self, word: u32, shift: u32) -> u32 {
        let register = self.bits(word, shift, 0xF);
        let channel = self.bits(word, shift + 4, 1);
        let e = self.registers.read_rgb(&mut self.b, register, channel);
        let rule = self.input_rule(word, shift);
        self.apply_input(Type::Vec3, rule, e)
    }

    fn read_scalar(&mut self, word: u32, shift: u32) -> u32 {
        let register = self.bits(word, shift, 0xF);
        let channel = self.bits(word, shift + 4, 1);
        let e = self.registers.read_scalar(&mut self.b, register, channel);
        let rule = self.input_rule(word, shift);
        self.apply_input(Type::Float, rule, e)
    }

    fn finish(
        &mut self,
        abcd: u32,
        efg: u32,
        flags: u32,
        inputs: &crate::emit::Inputs,
    ) -> Finished {
        for (register, index) in [(Register::C0, FINAL_C0), (Register::C1, FINAL_C1)] {
            let index = self.b.uint(index as u32);
            let vector = inputs.constant(&mut self.b, index);
            self.registers.set(&mut self.b, register, vector);
        }
        let product = self.any(flags, HEADER_PRODUCT);
        self.act_where(product, |code| {
            let e = code.read_rgb(efg, 24);
            let f = code.read_rgb(efg, 16);
            let product = code.b.typed(Op::FMul, Type::Vec3, &[e, f]);
            let product = code.b.flush(Type::Vec3, product);
            let to = code.b.uint(Register::EfProduct as u32);
            code.registers.write_rgb(&mut code.b, to, product);
        });
        let sum = self.any(flags, HEADER_SUM);
        self.act_where(sum, |code| {
            let v1 = code.sum_term(efg, Register::V1, COMPLEMENT_V1);
            let r0 = code.sum_term(efg, Register::R0, COMPLEMENT_R0);
            let sum = code.b.typed(Op::FAdd, Type::Vec3, &[v1, r0]);
            let clamps = code.any(efg, CLAMP_SUM);
            let sum = code.value_where(clamps, Type::Vec3, sum, |code| {
                code.b.min(Type::Vec3, sum, 1.0)
            });
            let to = code.b.uint(Register::V1R0Sum as u32);
            code.registers.write_rgb(&mut code.b, to, sum);
        });
        let [a, b, c, d] = [24, 16, 8, 0].map(|shift| self.read_rgb(abcd, shift));
        let code = &mut self.b;
        let one = code.splat(Type::Vec3, 1.0);
        let rest = code.typed(Op::FSub, Type::Vec3, &[one, a]);
        let c = code.typed(Op::FMul, Type::Vec3, &[c, rest]);
        let b = code.typed(Op::FMul, Type::Vec3, &[b, a]);
        let both = code.typed(Op::FAdd, Type::Vec3, &[c, b]);
        let all = code.typed(Op::FAdd, Type::Vec3, &[d, both]);
        let all = code.flush(Type::Vec3, all);
        let rgb = code.clamp(Type::Vec3, all, 0.0, 1.0);
        let alpha = self.read_scalar(efg, 8);
        let alpha = self.b.clamp(Type::Float, alpha, 0.0, 1.0);
        Finished { rgb, alpha }
    }

    /// max(0, e) or 1 - min(max(0, e), 1) of a register's RGB.
    fn sum_term(&mut self, efg: u32, register: Register, complement: u32) -> u32 {
        let e = self.registers.rgb(&mut self.b, register);
        let positive = self.b.max(Type::Vec3, e, 0.0);
        let inverts = self.any(efg, complement);
        self.value_where(inverts, Type::Vec3, positive, |code| {
            let limited = code.b.min(Type::Vec3, positive, 1.0);
            let one = code.b.splat(Type::Vec3, 1.0);
            code.b.typed(Op::FSub, Type::Vec3, &[one, limited])
        })
    }

    fn vector_of(&mut self, of: Type, scalar: u32) -> u32 {
        match of {
            Type::Vec3 => self.b.typed(
                Op::CompositeConstruct,
                Type::Vec3,
                &[scalar, scalar, scalar],
            ),
            _ => scalar,
        }
    }

    fn limit(&mut self, op: GlslStd450Op, of: Type, x: u32, limit: u32) -> u32 {
        let limit = self.vector_of(of, limit);
        self.b.glsl(op, of, &[x, limit])
    }
}
