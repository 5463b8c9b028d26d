//! The final combiner.

use super::Evaluator;
use crate::emit::{Finished, Type};
use crate::packet::{
    HEADER_BLEND, HEADER_CLAMP_SUM, HEADER_COMPLEMENT_R0, HEADER_COMPLEMENT_V1, HEADER_PRODUCT,
    HEADER_SUM, R0_SLOT, V1_SLOT,
};
use spirv::Op;

impl Evaluator {
    pub(super) fn finish(&mut self, flags: u32) -> Finished {
        let of = Type::Vec4;
        let [one, two] = [1, 2].map(|i| self.b.uint(i));
        let [a, b, c, d] = self.program_vector(one);
        let product = self.any(flags, HEADER_PRODUCT);
        self.act_where(product, |code| {
            let [e, f, ..] = code.program_vector(two);
            let (e, f) = (code.operand(e), code.operand(f));
            let product = code.b.typed(Op::FMul, of, &[e, f]);
            let product = code.b.flush(of, product);
            let product = code.without_alpha(product);
            code.b.act(Op::Store, &[code.product, product]);
        });
        let sum = self.any(flags, HEADER_SUM);
        self.act_where(sum, |code| {
            let v1 = code.sum_term(flags, V1_SLOT, HEADER_COMPLEMENT_V1);
            let r0 = code.sum_term(flags, R0_SLOT, HEADER_COMPLEMENT_R0);
            let sum = code.b.typed(Op::FAdd, of, &[v1, r0]);
            let clamps = code.any(flags, HEADER_CLAMP_SUM);
            let sum = code.value_where(clamps, of, sum, |code| code.b.min(of, sum, 1.0));
            let sum = code.without_alpha(sum);
            code.b.act(Op::Store, &[code.sum, sum]);
        });
        // The word of D has G in its alpha.
        let d = self.operand(d);
        let blends = self.any(flags, HEADER_BLEND);
        let all = self.value_where(blends, of, d, |code| {
            let a = code.operand(a);
            let b = code.operand(b);
            let c = code.operand(c);
            let one = code.b.splat(of, 1.0);
            let rest = code.b.typed(Op::FSub, of, &[one, a]);
            let c = code.b.typed(Op::FMul, of, &[c, rest]);
            let b = code.b.typed(Op::FMul, of, &[b, a]);
            let both = code.b.typed(Op::FAdd, of, &[c, b]);
            let all = code.b.typed(Op::FAdd, of, &[d, both]);
            let alpha = code.b.typed(Op::CompositeExtract, Type::Float, &[d, 3]);
            code.b.typed(Op::CompositeInsert, of, &[alpha, all, 3])
        });
        let all = self.b.flush(of, all);
        let all = self.b.clamp(of, all, 0.0, 1.0);
        Finished {
            rgb: self
                .b
                .typed(Op::VectorShuffle, Type::Vec3, &[all, all, 0, 1, 2]),
            alpha: self.b.typed(Op::CompositeExtract, Type::Float, &[all, 3]),
        }
    }

    fn without_alpha(&mut self, vector: u32) -> u32 {
        let zero = self.b.splat(Type::Float, 0.0);
        self.b
            .typed(Op::CompositeInsert, Type::Vec4, &[zero, vector, 3])
    }

    /// max(0, e) or 1 - min(max(0, e), 1) of a register.
    fn sum_term(&mut self, flags: u32, slot: usize, complement: u32) -> u32 {
        let of = Type::Vec4;
        let e = self.registers.load(&mut self.b, slot);
        let positive = self.b.max(of, e, 0.0);
        let inverts = self.any(flags, complement);
        self.value_where(inverts, of, positive, |code| {
            let limited = code.b.min(of, positive, 1.0);
            let one = code.b.splat(of, 1.0);
            code.b.typed(Op::FSub, of, &[one, limited])
        })
    }
}
