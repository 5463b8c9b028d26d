//! The decoder in SPIR-V: from the layout block and a location to the register words of an input.
//!
//! It is driven by data alone: an attribute's entry holds each component's bit field and the two factors of its
//! conversion, so one straight piece of code serves all formats. `decode` is its reference.

use spirv::{Decoration, Op, StorageClass};

use crate::block::BlockShape;
use crate::block::{
    ATTRIBUTE_BYTES, FLAG_CLAMPED, FLAG_INTEGER_ONE, FLAG_QUIET_NAN, FLAG_SIGNED, KIND_INTEGER,
    KIND_SCALED, KIND_SHARED_EXPONENT, KIND_SMALL_FLOAT, KIND_WORDS, RATE_VERTEX, STREAM_BYTES,
};
use crate::emit::{Code, Emitter};
use crate::rewrite::{BlockPlace, DataPath};

/// The built-in variables that an address is made of, with their types' ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indices {
    pub(crate) vertex: (u32, u32),
    pub(crate) instance: (u32, u32),
    pub(crate) base_instance: (u32, u32),
}

/// Where code finds the layout block and the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resources {
    /// The block's variable, or the push constant that holds its address.
    pub(crate) block: u32,
    pub(crate) block_struct: u32,
    /// The array of storage buffers; 0 where data is reached by address.
    pub(crate) buffers: u32,
    /// What a data address points to.
    pub(crate) data_struct: u32,
}

/// Types and constants that all of the decoder uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kit {
    pub(crate) uint: u32,
    pub(crate) float: u32,
    pub(crate) bool: u32,
    pub(crate) uint4: u32,
    float4: u32,
    int4: u32,
    bool4: u32,
    uint2: u32,
    zero: u32,
}

impl Kit {
    pub(crate) fn new(emitter: &mut Emitter) -> Self {
        let (uint, float, bool) = (emitter.uint(), emitter.float(), emitter.bool());
        let int = emitter.int(32, true);
        Self {
            uint,
            float,
            bool,
            uint4: emitter.vector(uint, 4),
            float4: emitter.vector(float, 4),
            int4: emitter.vector(int, 4),
            bool4: emitter.vector(bool, 4),
            uint2: emitter.vector(uint, 2),
            zero: emitter.constant(0),
        }
    }
}

/// The functions that the decoder consists of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch {
    /// `uvec4 (uint location)`: the words of a 16- or 32-bit input.
    pub(crate) convert: u32,
    /// `uvec4 (uint location, uint part)`: 16 bytes of the element as they are.
    pub(crate) element: u32,
}

/// Writes the decoder's functions to `code`.
pub(crate) fn emit(
    emitter: &mut Emitter,
    code: &mut Code,
    shape: BlockShape,
    place: BlockPlace,
    data: DataPath,
    resources: Resources,
    indices: Indices,
) -> Fetch {
    let kit = Kit::new(emitter);
    let mut writer = Writer {
        emitter,
        code,
        kit,
        shape,
        place,
        data,
        resources,
        indices,
    };
    let element = writer.element();
    writer.emitter.name(element, "standin_element");
    let convert = writer.convert(element);
    writer.emitter.name(convert, "standin_fetch");
    Fetch { convert, element }
}

struct Writer<'a> {
    emitter: &'a mut Emitter,
    code: &'a mut Code,
    kit: Kit,
    shape: BlockShape,
    place: BlockPlace,
    data: DataPath,
    resources: Resources,
    indices: Indices,
}

impl Writer<'_> {
    fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        self.code.op(self.emitter, op, ty, operands)
    }

    fn uint(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.kit.uint, &[a, b])
    }

    fn uint4(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.kit.uint4, &[a, b])
    }

    fn test(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.kit.bool, &[a, b])
    }

    fn constant(&mut self, value: u32) -> u32 {
        self.emitter.constant(value)
    }

    fn splat(&mut self, value: u32) -> u32 {
        self.op(Op::CompositeConstruct, self.kit.uint4, &[value; 4])
    }

    fn part(&mut self, vector: u32, index: u32) -> u32 {
        self.op(Op::CompositeExtract, self.kit.uint, &[vector, index])
    }

    /// `(word >> shift) & mask` with constants.
    fn bits(&mut self, word: u32, shift: u32, mask: u32) -> u32 {
        let (shift, mask) = (self.constant(shift), self.constant(mask));
        let shifted = self.uint(Op::ShiftRightLogical, word, shift);
        self.uint(Op::BitwiseAnd, shifted, mask)
    }

    /// The 16 bytes at `index` of the layout block.
    fn block(&mut self, index: u32) -> u32 {
        let (base, class, aligned) = match self.place {
            BlockPlace::Uniform { .. } => (self.resources.block, StorageClass::Uniform, false),
            BlockPlace::Storage { .. } => {
                (self.resources.block, StorageClass::StorageBuffer, false)
            }
            BlockPlace::PushConstant { .. } => {
                let pointer = self
                    .emitter
                    .pointer(StorageClass::PushConstant, self.kit.uint2);
                let at = self.op(
                    Op::AccessChain,
                    pointer,
                    &[self.resources.block, self.kit.zero],
                );
                let address = self.op(Op::Load, self.kit.uint2, &[at]);
                let pointer = self.emitter.pointer(
                    StorageClass::PhysicalStorageBuffer,
                    self.resources.block_struct,
                );
                (
                    self.op(Op::Bitcast, pointer, &[address]),
                    StorageClass::PhysicalStorageBuffer,
                    true,
                )
            }
        };
        let pointer = self.emitter.pointer(class, self.kit.uint4);
        let at = self.op(Op::AccessChain, pointer, &[base, self.kit.zero, index]);
        if aligned {
            self.op(Op::Load, self.kit.uint4, &[at, 2, 16])
        } else {
            self.op(Op::Load, self.kit.uint4, &[at])
        }
    }

    /// Part `part` of the entry of `location`.
    fn attribute(&mut self, location: u32, part: u32) -> u32 {
        let size = self.constant(ATTRIBUTE_BYTES as u32 / 16);
        let part = self.constant(part);
        let at = self.uint(Op::IMul, location, size);
        let at = self.uint(Op::IAdd, at, part);
        self.block(at)
    }

    fn stream(&mut self, stream: u32, part: u32) -> u32 {
        let size = self.constant(STREAM_BYTES as u32 / 16);
        let first = self.constant(self.shape.attributes * (ATTRIBUTE_BYTES as u32 / 16) + part);
        let at = self.uint(Op::IMul, stream, size);
        let at = self.uint(Op::IAdd, at, first);
        self.block(at)
    }

    /// A built-in as an unsigned integer.
    fn index(&mut self, (variable, ty): (u32, u32)) -> u32 {
        let value = self.op(Op::Load, ty, &[variable]);
        if ty == self.kit.uint {
            value
        } else {
            self.op(Op::Bitcast, self.kit.uint, &[value])
        }
    }

    /// The element that this invocation reads from a stream with this divisor word.
    fn element_index(&mut self, divisor: u32) -> u32 {
        let kit = self.kit;
        let by_vertex = self.constant(RATE_VERTEX);
        let by_instance = self.test(Op::INotEqual, divisor, by_vertex);
        let vertex = self.index(self.indices.vertex);
        let (instance, base) = (self.indices.instance, self.indices.base_instance);
        let mut writer = Writer {
            emitter: self.emitter,
            code: self.code,
            ..*self
        };
        let merge = writer.emitter.id();
        let (inside, before) = (writer.emitter.id(), writer.code.block());
        writer.code.emit(Op::SelectionMerge, &[merge, 0]);
        writer
            .code
            .emit(Op::BranchConditional, &[by_instance, inside, merge]);
        writer.code.label(inside);
        let instance = writer.index(instance);
        let base = writer.index(base);
        let since = writer.uint(Op::ISub, instance, base);
        let zero = kit.zero;
        let one = writer.constant(1);
        let all = writer.test(Op::IEqual, divisor, zero);
        let safe = writer.op(Op::Select, kit.uint, &[all, one, divisor]);
        let shared = writer.uint(Op::UDiv, since, safe);
        let shared = writer.op(Op::Select, kit.uint, &[all, zero, shared]);
        let by_instance = writer.uint(Op::IAdd, base, shared);
        let end = writer.code.block();
        writer.code.emit(Op::Branch, &[merge]);
        writer.code.label(merge);
        writer.op(Op::Phi, kit.uint, &[by_instance, end, vertex, before])
    }

    /// `uvec4 element(uint location, uint part)`: bytes 16 `part` to 16 `part` + 15 of the element, zeros where it is
    /// out of range or absent.
    fn element(&mut self) -> u32 {
        let kit = self.kit;
        let (function, parameters) =
            self.code
                .function(self.emitter, kit.uint4, &[kit.uint, kit.uint]);
        let [location, part] = [parameters[0], parameters[1]];
        let header = self.attribute(location, 0);
        let (first, offset) = (self.part(header, 0), self.part(header, 1));
        let stream = self.bits(first, 0, 0xff);
        let size = self.bits(first, 8, 0xff);
        let kind = self.bits(first, 16, 0xf);
        let place = self.stream(stream, 0);
        let rate = self.stream(stream, 1);
        let divisor = self.part(rate, 0);
        let index = self.element_index(divisor);
        let stride = self.part(place, 3);
        let pair = self.emitter.pair();
        let product = self.op(Op::UMulExtended, pair, &[index, stride]);
        let low = self.op(Op::CompositeExtract, kit.uint, &[product, 0]);
        let high = self.op(Op::CompositeExtract, kit.uint, &[product, 1]);
        let at = self.uint(Op::IAdd, low, offset);

        // In range: no carry anywhere, and the whole element before the stream's end.
        let limit = self.part(place, 2);
        let no_high = self.test(Op::IEqual, high, kit.zero);
        let no_carry = self.test(Op::UGreaterThanEqual, at, low);
        let starts = self.test(Op::ULessThanEqual, at, limit);
        let left = self.uint(Op::ISub, limit, at);
        let ends = self.test(Op::UGreaterThanEqual, left, size);
        let present = self.test(Op::INotEqual, kind, kit.zero);
        let sixteen = self.constant(16);
        let skipped = self.uint(Op::IMul, part, sixteen);
        let wanted = self.test(Op::ULessThan, skipped, size);
        let mut inside = present;
        for condition in [no_high, no_carry, starts, ends, wanted] {
            inside = self.test(Op::LogicalAnd, inside, condition);
        }

        let zeros = self.emitter.constant4([0; 4]);
        let (before, body, merge) = (self.code.block(), self.emitter.id(), self.emitter.id());
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code
            .emit(Op::BranchConditional, &[inside, body, merge]);
        self.code.label(body);
        let at = self.uint(Op::IAdd, at, skipped);
        let rest = self.uint(Op::ISub, size, skipped);
        let words = self.load(place, stream, at, rest);
        let end = self.code.block();
        self.code.emit(Op::Branch, &[merge]);
        self.code.label(merge);
        let result = self.op(Op::Phi, kit.uint4, &[words, end, zeros, before]);
        self.code.emit(Op::ReturnValue, &[result]);
        self.code.emit(Op::FunctionEnd, &[]);
        function
    }

    /// Four words from byte `at` of a stream, of which the first `rest` bytes are wanted. Only words that hold a
    /// wanted byte are read.
    fn load(&mut self, place: u32, stream: u32, at: u32, rest: u32) -> u32 {
        let kit = self.kit;
        let base = self.part(place, 0);
        let low = self.uint(Op::IAdd, base, at);
        let three = self.constant(3);
        let astray = self.uint(Op::BitwiseAnd, low, three);
        let bytes = self.uint(Op::IAdd, astray, rest);
        let source = match self.data {
            DataPath::DeviceAddress => {
                let carried = self.test(Op::ULessThan, low, base);
                let one = self.constant(1);
                let carry = self.op(Op::Select, kit.uint, &[carried, one, kit.zero]);
                let high = self.part(place, 1);
                let high = self.uint(Op::IAdd, high, carry);
                let aligned = self.uint(Op::ISub, low, astray);
                let address = self.op(Op::CompositeConstruct, kit.uint2, &[aligned, high]);
                let pointer = self.emitter.pointer(
                    StorageClass::PhysicalStorageBuffer,
                    self.resources.data_struct,
                );
                self.op(Op::Bitcast, pointer, &[address])
            }
            DataPath::StorageBuffers { .. } => {
                let two = self.constant(2);
                self.uint(Op::ShiftRightLogical, low, two)
            }
        };
        let mut words = vec![self.word(source, stream, 0)];
        for index in 1..5 {
            let before = self.constant(4 * index);
            let more = self.test(Op::UGreaterThan, bytes, before);
            let (resources, data) = (self.resources, self.data);
            let (shape, place, indices) = (self.shape, self.place, self.indices);
            words.push(self.code.choose(
                self.emitter,
                more,
                kit.uint,
                kit.zero,
                |code, emitter| {
                    Writer {
                        emitter,
                        code,
                        kit,
                        shape,
                        place,
                        data,
                        resources,
                        indices,
                    }
                    .word(source, stream, index)
                },
            ));
        }
        // Shift the words into place; the left shift is split because a shift by 32 is not defined.
        let low_words = self.op(Op::CompositeConstruct, kit.uint4, &words[..4]);
        let high_words = self.op(Op::CompositeConstruct, kit.uint4, &words[1..]);
        let shift = self.uint(Op::ShiftLeftLogical, astray, three);
        let thirty_one = self.constant(31);
        let back = self.uint(Op::ISub, thirty_one, shift);
        let (shift, back) = (self.splat(shift), self.splat(back));
        let ones = self.emitter.constant4([1; 4]);
        let lower = self.uint4(Op::ShiftRightLogical, low_words, shift);
        let upper = self.uint4(Op::ShiftLeftLogical, high_words, ones);
        let upper = self.uint4(Op::ShiftLeftLogical, upper, back);
        self.uint4(Op::BitwiseOr, lower, upper)
    }

    /// Word `index` after `source`, an address or a word's number in a storage buffer.
    fn word(&mut self, source: u32, stream: u32, index: u32) -> u32 {
        let index = self.constant(index);
        match self.data {
            DataPath::DeviceAddress => {
                let pointer = self
                    .emitter
                    .pointer(StorageClass::PhysicalStorageBuffer, self.kit.uint);
                let at = self.op(Op::AccessChain, pointer, &[source, self.kit.zero, index]);
                self.op(Op::Load, self.kit.uint, &[at, 2, 4])
            }
            DataPath::StorageBuffers { .. } => {
                let word = self.uint(Op::IAdd, source, index);
                let pointer = self
                    .emitter
                    .pointer(StorageClass::StorageBuffer, self.kit.uint);
                let at = self.op(
                    Op::AccessChain,
                    pointer,
                    &[self.resources.buffers, stream, self.kit.zero, word],
                );
                self.op(Op::Load, self.kit.uint, &[at])
            }
        }
    }

    /// `uvec4 convert(uint location)`.
    fn convert(&mut self, element: u32) -> u32 {
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

        let count = self.bits(first, 20, 0xf);
        let count = self.splat(count);
        let components = self.emitter.constant4([0, 1, 2, 3]);
        let stored = self.op(Op::UGreaterThan, kit.bool4, &[count, components]);
        let integer = self.flag(first, FLAG_INTEGER_ONE);
        let (one, float_one) = (self.constant(1), self.constant(1.0_f32.to_bits()));
        let one = self.op(Op::Select, kit.uint, &[integer, one, float_one]);
        let missing = self.op(
            Op::CompositeConstruct,
            kit.uint4,
            &[kit.zero, kit.zero, kit.zero, one],
        );
        let result = self.op(Op::Select, kit.uint4, &[stored, value, missing]);
        self.code.emit(Op::ReturnValue, &[result]);
        self.code.emit(Op::FunctionEnd, &[]);
        function
    }

    fn flag(&mut self, first: u32, flag: u32) -> u32 {
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

    fn exactly(&mut self, op: Op, a: u32, b: u32) -> u32 {
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
