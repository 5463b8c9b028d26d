//! The generic evaluator: one fragment shader for each shell, which interprets the program
//! in its control packet. Everything it branches on is the same for a whole draw, and both
//! portions of a stage run together: the alpha portion is the fourth component.

mod final_combiner;
mod operands;
mod registers;

use crate::emit::{Builder, Inputs, Interface, Type, Wanted, begin, finish, uniform_block};
use crate::packet::{
    FIRST_STAGE, HEADER_MUX_MSB, NO_SLOT, PROGRAM_VECTORS, R0_SLOT, RESULTS, ResultFields,
    STAGE_AB_DOT, STAGE_ALPHA_BIAS, STAGE_ALPHA_MUX, STAGE_CD_DOT, STAGE_MORE, STAGE_MUX,
    STAGE_OPERATES, STAGE_PRODUCT_ONLY, STAGE_RGB_BIAS, STAGE_RGB_MUX, STAGE_THIRD,
};
use crate::shell::Shell;
use registers::{Part, RegisterFile};
use spirv::{LoopControl, Op, SelectionControl, StorageClass};

/// How the evaluator keeps its registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RegisterStorage {
    /// One variable for each register, chosen by a switch.
    #[default]
    Switch,
    /// One variable for each register, chosen by a tree of selections.
    Selects,
    /// One array of eight vectors.
    Array,
}

/// Whether the commonest stage has a path of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shortcuts {
    /// A stage that only multiplies two unmapped registers skips everything else.
    #[default]
    Product,
    /// All stages go the same way.
    None,
}

/// The evaluator's variants. All give the same bits; they differ in speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EvaluatorForm {
    /// How registers are kept.
    pub registers: RegisterStorage,
    /// Whether the commonest stage has a path of its own.
    pub shortcuts: Shortcuts,
}

impl EvaluatorForm {
    /// Every form.
    pub fn all() -> impl Iterator<Item = Self> {
        const STORAGES: [RegisterStorage; 3] = [
            RegisterStorage::Switch,
            RegisterStorage::Selects,
            RegisterStorage::Array,
        ];
        STORAGES.into_iter().flat_map(|registers| {
            [Shortcuts::None, Shortcuts::Product]
                .into_iter()
                .map(move |shortcuts| Self {
                    registers,
                    shortcuts,
                })
        })
    }
}

/// The storage, and `+` with shortcuts.
impl std::fmt::Display for EvaluatorForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let registers = match self.registers {
            RegisterStorage::Switch => "switch",
            RegisterStorage::Selects => "selects",
            RegisterStorage::Array => "array",
        };
        let shortcuts = match self.shortcuts {
            Shortcuts::None => "",
            Shortcuts::Product => "+",
        };
        f.pad(&format!("{registers}{shortcuts}"))
    }
}

/// The evaluator's fragment shader for a shell, as SPIR-V 1.0 words.
#[must_use]
pub fn evaluator(shell: &Shell, form: EvaluatorForm) -> Vec<u32> {
    let mut b = Builder::new();
    let block = uniform_block(&mut b, Type::Uint4, PROGRAM_VECTORS, Interface::PROGRAM);
    let registers = RegisterFile::declare(&mut b, form.registers);
    let [sum, product] = [0, 1].map(|_| b.local(Type::Vec4 as u32));
    let mut code = Evaluator {
        b,
        form,
        registers,
        block,
        inputs: Inputs::default(),
        sum,
        product,
    };
    let zero = code.b.uint(0);
    let [count, flags, wanted, _] = code.program_vector(zero);
    code.inputs = begin(&mut code.b, shell, Wanted::Mask(wanted));
    code.registers.fill(&mut code.b, shell, &code.inputs);
    code.stages(count, flags);
    let colour = code.finish(flags);
    let mut b = code.b;
    finish(&mut b, shell, &code.inputs, colour);
    b.finish()
}

struct Evaluator {
    b: Builder,
    form: EvaluatorForm,
    registers: RegisterFile,
    block: u32,
    inputs: Inputs,
    /// V1R0_SUM and EF_PROD, set before the final combiner reads them.
    sum: u32,
    product: u32,
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

    fn case_labels(&mut self, selector: u32, count: usize) -> (Vec<u32>, u32, u32) {
        let (merge, other) = (self.b.id(), self.b.id());
        let labels: Vec<u32> = (0..count).map(|_| self.b.id()).collect();
        self.b
            .act(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        let mut targets = vec![selector, other];
        for (case, label) in labels.iter().enumerate() {
            targets.extend_from_slice(&[case as u32, *label]);
        }
        self.b.act(Op::Switch, &targets);
        (labels, other, merge)
    }

    /// A switch over the numbers below `count`.
    fn value_case(
        &mut self,
        of: Type,
        selector: u32,
        count: usize,
        otherwise: u32,
        mut code: impl FnMut(&mut Self, usize) -> u32,
    ) -> u32 {
        let (labels, other, merge) = self.case_labels(selector, count);
        self.b.label(other);
        self.b.branch(merge);
        let mut values = vec![otherwise, other];
        for (case, label) in labels.into_iter().enumerate() {
            self.b.label(label);
            let value = code(self, case);
            values.extend_from_slice(&[value, self.b.block()]);
            self.b.branch(merge);
        }
        self.b.label(merge);
        self.b.typed(Op::Phi, of, &values)
    }

    fn act_case(&mut self, selector: u32, count: usize, mut code: impl FnMut(&mut Self, usize)) {
        let (labels, other, merge) = self.case_labels(selector, count);
        self.b.label(other);
        self.b.branch(merge);
        for (case, label) in labels.into_iter().enumerate() {
            self.b.label(label);
            code(self, case);
            self.b.branch(merge);
        }
        self.b.label(merge);
    }

    /// A loop over the enabled stages.
    fn stages(&mut self, count: u32, flags: u32) {
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
        self.stage(i, flags);
        let b = &mut self.b;
        b.branch(next);
        b.label(next);
        b.act(Op::IAdd, &[uint, i_next, i, one]);
        b.branch(head);
        b.label(end);
    }

    fn stage(&mut self, i: u32, flags: u32) {
        let (one, first) = (self.b.uint(1), self.b.uint(FIRST_STAGE as u32));
        let doubled = self.b.typed(Op::ShiftLeftLogical, Type::Uint, &[i, one]);
        let operands = self.b.typed(Op::IAdd, Type::Uint, &[doubled, first]);
        let results = self.b.typed(Op::IAdd, Type::Uint, &[operands, one]);
        let operands = self.program_vector(operands);
        let results = self.program_vector(results);
        if self.form.shortcuts == Shortcuts::None {
            self.any_stage(operands, results, flags);
            return;
        }
        let simple = self.any(results[1], STAGE_PRODUCT_ONLY);
        let (yes, no, merge) = (self.b.id(), self.b.id(), self.b.id());
        self.b.select_blocks(simple, yes, no, merge);
        self.b.label(yes);
        self.product_stage(operands, results);
        self.b.branch(merge);
        self.b.label(no);
        self.any_stage(operands, results, flags);
        self.b.branch(merge);
        self.b.label(merge);
    }

    /// A stage that writes AB of unmapped registers as a whole.
    fn product_stage(&mut self, operands: [u32; 4], results: [u32; 4]) {
        let of = Type::Vec4;
        let [x, y] = [operands[0], operands[1]].map(|word| {
            let vector = self.source(word, 0);
            self.b.max(of, vector, 0.0)
        });
        let product = self.b.typed(Op::FMul, of, &[x, y]);
        let flushed = self.b.flush(of, product);
        // Neither factor is negative.
        let limited = self.b.min(of, flushed, 1.0);
        let to = self.bits(results[0], RESULTS[0].rgb, 0xF);
        self.write(to, Part::Whole, limited);
    }

    /// CD and the third result are written before AB: the packet has no two results that
    /// meet in a register, and all are computed before the first is written.
    fn any_stage(&mut self, operands: [u32; 4], results: [u32; 4], flags: u32) {
        let ab = self.product(operands[0], operands[1], results[1], STAGE_AB_DOT);
        let more = self.any(results[1], STAGE_MORE);
        self.act_where(more, |code| {
            let cd = code.product(operands[2], operands[3], results[1], STAGE_CD_DOT);
            let third = code.any(results[1], STAGE_THIRD);
            code.act_where(third, |code| {
                let third = code.third(ab, cd, results[1], flags);
                code.commit(third, results, RESULTS[2]);
            });
            code.commit(cd, results, RESULTS[1]);
        });
        self.commit(ab, results, RESULTS[0]);
    }

    fn takes_cd(&mut self, flags: u32) -> u32 {
        let r0 = self.registers.load(&mut self.b, R0_SLOT);
        let alpha = self.b.typed(Op::CompositeExtract, Type::Float, &[r0, 3]);
        let msb = self.any(flags, HEADER_MUX_MSB);
        self.choose(
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
    }

    fn product(&mut self, x: u32, y: u32, stage: u32, dot: u32) -> u32 {
        let of = Type::Vec4;
        let x = self.operand(x);
        let y = self.operand(y);
        let product = self.b.typed(Op::FMul, of, &[x, y]);
        let dots = self.any(stage, dot);
        let product = self.value_where(dots, of, product, |code| code.dot(product));
        self.b.flush(of, product)
    }

    /// (r + g) + b three times, and alpha.
    fn dot(&mut self, product: u32) -> u32 {
        let b = &mut self.b;
        let [red, green, blue, alpha] =
            [0, 1, 2, 3].map(|i| b.typed(Op::CompositeExtract, Type::Float, &[product, i]));
        let two = b.typed(Op::FAdd, Type::Float, &[red, green]);
        let all = b.typed(Op::FAdd, Type::Float, &[two, blue]);
        b.typed(Op::CompositeConstruct, Type::Vec4, &[all, all, all, alpha])
    }

    fn third(&mut self, ab: u32, cd: u32, stage: u32, flags: u32) -> u32 {
        let of = Type::Vec4;
        let sum = self.b.typed(Op::FAdd, of, &[ab, cd]);
        let sum = self.b.flush(of, sum);
        let muxes = self.any(stage, STAGE_MUX);
        self.value_where(muxes, of, sum, |code| {
            let takes_cd = code.takes_cd(flags);
            let condition = code
                .b
                .typed(Op::CompositeConstruct, Type::Bool4, &[takes_cd; 4]);
            let taken = code.b.typed(Op::Select, of, &[condition, cd, ab]);
            let rgb = code.any(stage, STAGE_RGB_MUX);
            let alpha = code.any(stage, STAGE_ALPHA_MUX);
            let parts = [rgb, rgb, rgb, alpha];
            let condition = code.b.typed(Op::CompositeConstruct, Type::Bool4, &parts);
            code.b.typed(Op::Select, of, &[condition, taken, sum])
        })
    }

    /// Operation, clamp, and the writes of one result.
    fn commit(&mut self, raw: u32, results: [u32; 4], fields: ResultFields) {
        let writes = self.any(results[1], fields.writes);
        self.act_where(writes, |code| {
            let value = code.operated(raw, results);
            let whole = code.any(results[1], fields.whole);
            let to = code.bits(results[0], fields.rgb, 0xF);
            let (yes, no, merge) = (code.b.id(), code.b.id(), code.b.id());
            code.b.select_blocks(whole, yes, no, merge);
            code.b.label(yes);
            code.write(to, Part::Whole, value);
            code.b.branch(merge);
            code.b.label(no);
            code.commit_parts(value, to, results[0], fields);
            code.b.branch(merge);
            code.b.label(merge);
        });
    }

    fn commit_parts(&mut self, value: u32, rgb_to: u32, destinations: u32, fields: ResultFields) {
        self.write(rgb_to, Part::Rgb, value);
        let to = self.bits(destinations, fields.alpha, 0xF);
        self.write(to, Part::Alpha, value);
        let Some(blue) = fields.blue else { return };
        let to = self.bits(destinations, blue, 0xF);
        let none = self.b.uint(NO_SLOT);
        let copies = self.b.typed(Op::INotEqual, Type::Bool, &[to, none]);
        self.act_where(copies, |code| {
            let blue = code
                .b
                .typed(Op::VectorShuffle, Type::Vec4, &[value, value, 2, 2, 2, 2]);
            code.write(to, Part::Alpha, blue);
        });
    }

    /// (x + bias) * scale, 0 where tiny, clamped.
    fn operated(&mut self, x: u32, results: [u32; 4]) -> u32 {
        let of = Type::Vec4;
        let [_, stage, rgb_scale, alpha_scale] = results;
        let operates = self.any(stage, STAGE_OPERATES);
        let scaled = self.value_where(operates, of, x, |code| {
            let [zero, minus_half] = [0.0, -0.5].map(|x| code.b.splat(Type::Float, x));
            let [rgb_bias, alpha_bias] = [STAGE_RGB_BIAS, STAGE_ALPHA_BIAS].map(|bit| {
                let biased = code.any(stage, bit);
                code.b
                    .typed(Op::Select, Type::Float, &[biased, minus_half, zero])
            });
            let [rgb, alpha] = [rgb_scale, alpha_scale]
                .map(|word| code.b.typed(Op::Bitcast, Type::Float, &[word]));
            let mut both = |rgb, alpha| {
                code.b
                    .typed(Op::CompositeConstruct, of, &[rgb, rgb, rgb, alpha])
            };
            let (bias, scale) = (both(rgb_bias, alpha_bias), both(rgb, alpha));
            let biased = code.b.typed(Op::FAdd, of, &[x, bias]);
            let scaled = code.b.typed(Op::FMul, of, &[biased, scale]);
            // Only a half can be tiny; the others are flushed already.
            code.b.flush(of, scaled)
        });
        self.b.clamp(of, scaled, -1.0, 1.0)
    }
}
