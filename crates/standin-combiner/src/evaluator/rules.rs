//! Input mappings and output operations in the evaluator, in both forms.

use super::{Evaluator, RuleForm, Shortcuts};
use crate::emit::Type;
use crate::packet::{MAPPING_TABLE, OPERATION_TABLE};
use crate::program::{Mapping, OutputOp};
use spirv::{GlslStd450Op, Op, SelectionControl};

/// A mapping's numbers: offset + scale * min(max(e, low), high).
#[derive(Clone, Copy)]
pub(super) enum InputRule {
    Formula {
        low: u32,
        high: u32,
        scale: u32,
        offset: u32,
        mapping: u32,
    },
    Switch {
        mapping: u32,
    },
}

/// An operation's numbers: (x + bias) * scale, 0 below `tiny`, clamped.
#[derive(Clone, Copy)]
pub(super) enum OutputRule {
    Formula { bias: u32, scale: u32, op: u32 },
    Switch { op: u32 },
}

impl Evaluator {
    pub(super) fn input_rule(&mut self, word: u32, shift: u32) -> InputRule {
        let mapping = self.bits(word, shift + 5, 7);
        if self.form.rules == RuleForm::Switch {
            return InputRule::Switch { mapping };
        }
        if self.form.rules == RuleForm::Table {
            let [low, high, scale, offset] = self.table_row(MAPPING_TABLE, mapping);
            return InputRule::Formula {
                low,
                high,
                scale,
                offset,
                mapping,
            };
        }
        let [
            zero,
            one,
            two,
            minus_one,
            minus_two,
            half,
            minus_half,
            lowest,
            highest,
        ] = [0.0, 1.0, 2.0, -1.0, -2.0, 0.5, -0.5, f32::MIN, f32::MAX]
            .map(|x| self.b.splat(Type::Float, x));
        let is = |code: &mut Self, number: Mapping| {
            let number = code.b.uint(number as u32);
            code.b.typed(Op::IEqual, Type::Bool, &[mapping, number])
        };
        let select = |code: &mut Self, condition, yes, no| {
            code.b.typed(Op::Select, Type::Float, &[condition, yes, no])
        };
        let six = self.b.uint(Mapping::SignedIdentity as u32);
        let unsigned = self.b.typed(Op::ULessThan, Type::Bool, &[mapping, six]);
        let low = select(self, unsigned, zero, lowest);
        let inverts = is(self, Mapping::UnsignedInvert);
        let high = select(self, inverts, one, highest);
        let normal = is(self, Mapping::ExpandNormal);
        let negate = is(self, Mapping::ExpandNegate);
        let bias = is(self, Mapping::HalfBiasNormal);
        let unbias = is(self, Mapping::HalfBiasNegate);
        // Odd mappings are negative.
        let one_bit = self.b.uint(1);
        let odd = self
            .b
            .typed(Op::BitwiseAnd, Type::Uint, &[mapping, one_bit]);
        let negative = self.b.typed(Op::IEqual, Type::Bool, &[odd, one_bit]);
        let scale = select(self, negative, minus_one, one);
        let scale = select(self, normal, two, scale);
        let scale = select(self, negate, minus_two, scale);
        let offset = select(self, inverts, one, zero);
        let offset = select(self, normal, minus_one, offset);
        let offset = select(self, negate, one, offset);
        let offset = select(self, bias, minus_half, offset);
        let offset = select(self, unbias, half, offset);
        InputRule::Formula {
            low,
            high,
            scale,
            offset,
            mapping,
        }
    }

    /// A row of one of the packet's tables, as floats.
    fn table_row(&mut self, table: usize, row: u32) -> [u32; 4] {
        let first = self.b.uint(table as u32);
        let index = self.b.typed(Op::IAdd, Type::Uint, &[first, row]);
        self.program_vector(index)
            .map(|word| self.b.typed(Op::Bitcast, Type::Float, &[word]))
    }

    fn is_zero(&mut self, number: u32) -> u32 {
        let zero = self.b.uint(0);
        self.b.typed(Op::IEqual, Type::Bool, &[number, zero])
    }

    /// Scales are powers of two, so the product is exact and the sum rounds as the
    /// formula with its own numbers does.
    pub(super) fn apply_input(&mut self, of: Type, rule: InputRule, e: u32) -> u32 {
        let (InputRule::Formula { mapping, .. } | InputRule::Switch { mapping }) = rule;
        if self.form.shortcuts == Shortcuts::None {
            return self.apply_any_input(of, rule, e);
        }
        let plain = self.is_zero(mapping);
        self.choose(
            plain,
            of,
            |code| code.b.max(of, e, 0.0),
            |code| code.apply_any_input(of, rule, e),
        )
    }

    fn apply_any_input(&mut self, of: Type, rule: InputRule, e: u32) -> u32 {
        match rule {
            InputRule::Formula {
                low,
                high,
                scale,
                offset,
                ..
            } => {
                let limited = self.limit(GlslStd450Op::FMax, of, e, low);
                let limited = self.limit(GlslStd450Op::FMin, of, limited, high);
                let scale = self.vector_of(of, scale);
                let offset = self.vector_of(of, offset);
                let scaled = self.b.typed(Op::FMul, of, &[limited, scale]);
                self.b.typed(Op::FAdd, of, &[offset, scaled])
            }
            InputRule::Switch { mapping } => {
                let positive = self.b.max(of, e, 0.0);
                self.switch(
                    of,
                    mapping,
                    Mapping::ALL.map(|m| m as u32),
                    |code, number| code.mapped(of, Mapping::ALL[number as usize & 7], e, positive),
                )
            }
        }
    }

    fn mapped(&mut self, of: Type, mapping: Mapping, e: u32, positive: u32) -> u32 {
        let b = &mut self.b;
        let [zero, one, two, half] = [0.0, 1.0, 2.0, 0.5].map(|x| b.splat(of, x));
        match mapping {
            Mapping::UnsignedIdentity => positive,
            Mapping::UnsignedInvert => {
                let limited = b.min(of, positive, 1.0);
                b.typed(Op::FSub, of, &[one, limited])
            }
            Mapping::ExpandNormal => {
                let doubled = b.typed(Op::FMul, of, &[positive, two]);
                b.typed(Op::FSub, of, &[doubled, one])
            }
            Mapping::ExpandNegate => {
                let doubled = b.typed(Op::FMul, of, &[positive, two]);
                b.typed(Op::FSub, of, &[one, doubled])
            }
            Mapping::HalfBiasNormal => b.typed(Op::FSub, of, &[positive, half]),
            Mapping::HalfBiasNegate => b.typed(Op::FSub, of, &[half, positive]),
            Mapping::SignedIdentity => e,
            Mapping::SignedNegate => b.typed(Op::FSub, of, &[zero, e]),
        }
    }

    pub(super) fn output_rule(&mut self, output: u32) -> OutputRule {
        let op = self.bits(output, 15, 7);
        if self.form.rules == RuleForm::Switch {
            return OutputRule::Switch { op };
        }
        if self.form.rules == RuleForm::Table {
            let [bias, scale, ..] = self.table_row(OPERATION_TABLE, op);
            return OutputRule::Formula { bias, scale, op };
        }
        let [zero, minus_half, one, two, four, half] =
            [0.0, -0.5, 1.0, 2.0, 4.0, 0.5].map(|x| self.b.splat(Type::Float, x));
        let biased = self.any(output, 1 << 15);
        let bias = self
            .b
            .typed(Op::Select, Type::Float, &[biased, minus_half, zero]);
        let number = self.bits(output, 16, 3);
        let mut scale = one;
        for (n, value) in [(1, two), (2, four), (3, half)] {
            let n = self.b.uint(n);
            let is = self.b.typed(Op::IEqual, Type::Bool, &[number, n]);
            scale = self.b.typed(Op::Select, Type::Float, &[is, value, scale]);
        }
        OutputRule::Formula { bias, scale, op }
    }

    pub(super) fn apply_output(&mut self, of: Type, rule: OutputRule, x: u32) -> u32 {
        let (OutputRule::Formula { op, .. } | OutputRule::Switch { op }) = rule;
        let scaled = if self.form.shortcuts == Shortcuts::None {
            self.apply_any_output(of, rule, x)
        } else {
            let zero = self.is_zero(op);
            let operates = self.b.typed(Op::LogicalNot, Type::Bool, &[zero]);
            self.value_where(operates, of, x, |code| code.apply_any_output(of, rule, x))
        };
        self.b.clamp(of, scaled, -1.0, 1.0)
    }

    fn apply_any_output(&mut self, of: Type, rule: OutputRule, x: u32) -> u32 {
        match rule {
            OutputRule::Formula { bias, scale, .. } => {
                let bias = self.vector_of(of, bias);
                let scale = self.vector_of(of, scale);
                let biased = self.b.typed(Op::FAdd, of, &[x, bias]);
                let scaled = self.b.typed(Op::FMul, of, &[biased, scale]);
                // Only a half can be tiny; the others are flushed already.
                self.b.flush(of, scaled)
            }
            OutputRule::Switch { op } => {
                self.switch(of, op, OutputOp::ALL.map(|op| op as u32), |code, number| {
                    code.operated(of, OutputOp::from_bits(number), x)
                })
            }
        }
    }

    fn operated(&mut self, of: Type, op: Option<OutputOp>, x: u32) -> u32 {
        let b = &mut self.b;
        let [half, two, four] = [0.5, 2.0, 4.0].map(|x| b.splat(of, x));
        match op {
            None | Some(OutputOp::Identity) => x,
            Some(OutputOp::Bias) => b.typed(Op::FSub, of, &[x, half]),
            Some(OutputOp::Scale2) => b.typed(Op::FMul, of, &[x, two]),
            Some(OutputOp::BiasScale2) => {
                let biased = b.typed(Op::FSub, of, &[x, half]);
                b.typed(Op::FMul, of, &[biased, two])
            }
            Some(OutputOp::Scale4) => b.typed(Op::FMul, of, &[x, four]),
            Some(OutputOp::Half) => {
                let halved = b.typed(Op::FMul, of, &[x, half]);
                b.flush(of, halved)
            }
        }
    }

    /// A switch over `cases`; another number counts as the first.
    pub(super) fn switch<const N: usize>(
        &mut self,
        of: Type,
        selector: u32,
        cases: [u32; N],
        mut code: impl FnMut(&mut Self, u32) -> u32,
    ) -> u32 {
        let merge = self.b.id();
        let labels = cases.map(|_| self.b.id());
        self.b
            .act(Op::SelectionMerge, &[merge, SelectionControl::NONE.bits()]);
        let mut targets = vec![selector, labels[0]];
        for (case, label) in cases.into_iter().zip(labels).skip(1) {
            targets.extend_from_slice(&[case, label]);
        }
        self.b.act(Op::Switch, &targets);
        let mut values = Vec::with_capacity(2 * N);
        for (case, label) in cases.into_iter().zip(labels) {
            self.b.label(label);
            let value = code(self, case);
            values.extend_from_slice(&[value, self.b.block()]);
            self.b.branch(merge);
        }
        self.b.label(merge);
        self.b.typed(Op::Phi, of, &values)
    }
}
