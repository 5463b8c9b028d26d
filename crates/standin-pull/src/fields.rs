//! The conversion that takes every format: bit fields whose places, widths and factors the layout block holds.

use spirv::{Decoration, Op};

use crate::block::{
    FLAG_CLAMPED, FLAG_QUIET_NAN, FLAG_SIGNED, KIND_INTEGER, KIND_SCALED, KIND_SHARED_EXPONENT,
    KIND_SMALL_FLOAT, KIND_WORDS,
};
use crate::fetch::Writer;

impl Writer<'_> {
    /// `uvec4 general(uint location)`: any format at any alignment, before missing components are filled.
    pub(crate) fn general(&mut self, element: u32) -> u32 {
        let kit = self.kit;
        let (function, parameters) = self.code.function(self.emitter, kit.uint4, &[kit.uint]);
        let location = parameters[0];
        let words = self.op(Op::FunctionCall, kit.uint4, &[element, location, kit.zero]);
        let header = self.attribute(location, 0);
        let first = self.part(header, 0);
        let kind = self.bits(first, 16, 0xf);
        let as_words = self.constant(KIND_WORDS);
        let fields = self.test(Op::UGreaterThan, kind, as_words);

        let (before, body, merge) = (self.code.block(), self.emitter.id(), self.emitter.id());
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code
            .emit(Op::BranchConditional, &[fields, body, merge]);
        self.code.label(body);
        let converted = self.fields(location, header, words, kind);
        let end = self.code.block();
        self.code.emit(Op::Branch, &[merge]);
        self.code.label(merge);
        let value = self.op(Op::Phi, kit.uint4, &[converted, end, words, before]);

        self.code.emit(Op::ReturnValue, &[value]);
        self.code.emit(Op::FunctionEnd, &[]);
        function
    }

    pub(crate) fn flag(&mut self, first: u32, flag: u32) -> u32 {
        let flag = self.constant(flag);
        let bit = self.uint(Op::BitwiseAnd, first, flag);
        self.test(Op::INotEqual, bit, self.kit.zero)
    }

    /// The four components of bit fields, converted.
    fn fields(&mut self, location: u32, header: u32, words: u32, kind: u32) -> u32 {
        let kit = self.kit;
        let first = self.part(header, 0);
        let bytes = self.emitter.constant4([0, 8, 16, 24]);
        let byte = self.emitter.constant4([0xff; 4]);
        let [offsets, widths] = [2, 3].map(|word| {
            let packed = self.part(header, word);
            let packed = self.splat(packed);
            let shifted = self.uint4(Op::ShiftRightLogical, packed, bytes);
            self.uint4(Op::BitwiseAnd, shifted, byte)
        });
        let (x, y) = (self.part(words, 0), self.part(words, 1));
        let (x, y) = (self.splat(x), self.splat(y));
        let limit = self.emitter.constant4([32; 4]);
        let in_first = self.op(Op::ULessThan, kit.bool4, &[offsets, limit]);
        let source = self.op(Op::Select, kit.uint4, &[in_first, x, y]);
        let low_bits = self.emitter.constant4([31; 4]);
        let shifts = self.uint4(Op::BitwiseAnd, offsets, low_bits);
        let ones = self.emitter.constant4([1; 4]);
        let above = self.uint4(Op::ShiftLeftLogical, ones, widths);
        let mask = self.uint4(Op::ISub, above, ones);
        let raw = self.uint4(Op::ShiftRightLogical, source, shifts);
        let raw = self.uint4(Op::BitwiseAnd, raw, mask);
        // (raw ^ sign) - sign extends the sign, and does nothing where the sign bit is 0.
        let signed = self.flag(first, FLAG_SIGNED);
        let signed = self.op(Op::CompositeConstruct, kit.bool4, &[signed; 4]);
        let zeros = self.emitter.constant4([0; 4]);
        let top = self.uint4(Op::ShiftRightLogical, above, ones);
        let sign = self.op(Op::Select, kit.uint4, &[signed, top, zeros]);
        let flipped = self.uint4(Op::BitwiseXor, raw, sign);
        let integer = self.uint4(Op::ISub, flipped, sign);

        let labels: Vec<u32> = (0..4).map(|_| self.emitter.id()).collect();
        let [scaled, small, merge] = [labels[0], labels[1], labels[2]];
        let before = self.code.block();
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        let cases = [
            KIND_SCALED,
            scaled,
            KIND_SHARED_EXPONENT,
            scaled,
            KIND_SMALL_FLOAT,
            small,
            KIND_INTEGER,
            merge,
        ];
        let mut operands = vec![kind, merge];
        operands.extend(cases);
        self.code.emit(Op::Switch, &operands);

        self.code.label(scaled);
        let from_scaled = self.scaled(location, first, x, integer, kind);
        let scaled_end = self.code.block();
        self.code.emit(Op::Branch, &[merge]);

        self.code.label(small);
        let from_small = self.small_float(first, raw, widths);
        let small_end = self.code.block();
        self.code.emit(Op::Branch, &[merge]);

        self.code.label(merge);
        let sources = [
            from_scaled,
            scaled_end,
            from_small,
            small_end,
            integer,
            before,
        ];
        self.op(Op::Phi, kit.uint4, &sources)
    }

    /// x p + x q, not below the floor.
    fn scaled(&mut self, location: u32, first: u32, word: u32, integer: u32, kind: u32) -> u32 {
        let kit = self.kit;
        let integer = self.op(Op::Bitcast, kit.int4, &[integer]);
        let value = self.op(Op::ConvertSToF, kit.float4, &[integer]);
        let exact = self.attribute(location, 1);
        let rounded = self.attribute(location, 2);
        // A shared exponent is the factor: 2^(E - 24), whose bits are E + 103 in the exponent's place.
        let shared = self.constant(KIND_SHARED_EXPONENT);
        let shared = self.test(Op::IEqual, kind, shared);
        let shared = self.op(Op::CompositeConstruct, kit.bool4, &[shared; 4]);
        let [by, bias, place] = [27, 103, 23].map(|value| self.emitter.constant4([value; 4]));
        let exponent = self.uint4(Op::ShiftRightLogical, word, by);
        let exponent = self.uint4(Op::IAdd, exponent, bias);
        let power = self.uint4(Op::ShiftLeftLogical, exponent, place);
        let exact = self.op(Op::Select, kit.uint4, &[shared, power, exact]);
        let exact = self.op(Op::Bitcast, kit.float4, &[exact]);
        let zeros = self.emitter.constant4([0; 4]);
        let rounded = self.op(Op::Select, kit.uint4, &[shared, zeros, rounded]);
        let rounded = self.op(Op::Bitcast, kit.float4, &[rounded]);
        let exact = self.exactly(Op::FMul, value, exact);
        let rounded = self.exactly(Op::FMul, value, rounded);
        let sum = self.exactly(Op::FAdd, exact, rounded);
        let clamped = self.flag(first, FLAG_CLAMPED);
        let (minus_one, lowest) = (
            self.emitter.float_constant(-1.0),
            self.emitter.float_constant(f32::MIN),
        );
        let floor = self.op(Op::Select, kit.float, &[clamped, minus_one, lowest]);
        let floor = self.op(Op::CompositeConstruct, kit.float4, &[floor; 4]);
        let below = self.op(Op::FOrdLessThan, kit.bool4, &[sum, floor]);
        let result = self.op(Op::Select, kit.float4, &[below, floor, sum]);
        self.op(Op::Bitcast, kit.uint4, &[result])
    }

    pub(crate) fn exactly(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let result = self.op(op, self.kit.float4, &[a, b]);
        self.emitter
            .decorate(result, Decoration::NoContraction, &[]);
        result
    }

    /// Floats of 10, 11 and 16 bits, widened with integers: conversion instructions may flush denormals.
    fn small_float(&mut self, first: u32, raw: u32, widths: u32) -> u32 {
        let kit = self.kit;
        // Unsigned floats are moved to where a 16-bit float has its exponent and mantissa.
        let [fifteen, sixteen, zeros] = [15, 16, 0].map(|value| self.emitter.constant4([value; 4]));
        let whole = self.op(Op::IEqual, kit.bool4, &[widths, sixteen]);
        let short = self.uint4(Op::ISub, fifteen, widths);
        let shift = self.op(Op::Select, kit.uint4, &[whole, zeros, short]);
        let half = self.uint4(Op::ShiftLeftLogical, raw, shift);

        let [ten, thirteen, twenty_three] =
            [10, 13, 23].map(|value| self.emitter.constant4([value; 4]));
        let [low_five, low_ten, top] =
            [31, 0x3ff, 0x8000].map(|value| self.emitter.constant4([value; 4]));
        let [bias, infinity] = [112, 0x7f80_0000].map(|value| self.emitter.constant4([value; 4]));
        let exponent = self.uint4(Op::ShiftRightLogical, half, ten);
        let exponent = self.uint4(Op::BitwiseAnd, exponent, low_five);
        let mantissa = self.uint4(Op::BitwiseAnd, half, low_ten);
        let sign = self.uint4(Op::BitwiseAnd, half, top);
        let sign = self.uint4(Op::ShiftLeftLogical, sign, sixteen);
        let wide = self.uint4(Op::ShiftLeftLogical, mantissa, thirteen);

        let normal = self.uint4(Op::IAdd, exponent, bias);
        let normal = self.uint4(Op::ShiftLeftLogical, normal, twenty_three);
        let normal = self.uint4(Op::BitwiseOr, normal, wide);
        let unit = self.emitter.float_constant(1.0 / 16_777_216.0);
        let unit = self.emitter.constant_vector(kit.float4, &[unit; 4]);
        let denormal = self.op(Op::ConvertUToF, kit.float4, &[mantissa]);
        let denormal = self.op(Op::FMul, kit.float4, &[denormal, unit]);
        let denormal = self.op(Op::Bitcast, kit.uint4, &[denormal]);
        let quiet = self.flag(first, FLAG_QUIET_NAN);
        let quiet_bit = self.constant(0x40_0000);
        let quiet = self.op(Op::Select, kit.uint, &[quiet, quiet_bit, kit.zero]);
        let quiet = self.splat(quiet);
        let none = self.op(Op::IEqual, kit.bool4, &[mantissa, zeros]);
        let quiet = self.op(Op::Select, kit.uint4, &[none, zeros, quiet]);
        let special = self.uint4(Op::BitwiseOr, infinity, wide);
        let special = self.uint4(Op::BitwiseOr, special, quiet);

        let is_special = self.op(Op::IEqual, kit.bool4, &[exponent, low_five]);
        let is_denormal = self.op(Op::IEqual, kit.bool4, &[exponent, zeros]);
        let magnitude = self.op(Op::Select, kit.uint4, &[is_special, special, normal]);
        let magnitude = self.op(Op::Select, kit.uint4, &[is_denormal, denormal, magnitude]);
        self.uint4(Op::BitwiseOr, magnitude, sign)
    }
}
