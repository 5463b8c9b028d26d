//! The function that an input is fetched with: a switch over the common formats at whole words' addresses, which need few
//! instructions each, and the general decoder for everything else.
//!
//! The layout block says which path an attribute takes, so the switch is the same way for a whole draw. The element's
//! offset is computed once for all attributes in a row that are read from one stream.

use spirv::Op;

use crate::block::{
    FLAG_CLAMPED, FLAG_INTEGER_ONE, FLAG_SWAPPED, KIND_INTEGER, PATH_BYTES_SIGNED,
    PATH_BYTES_UNSIGNED, PATH_HALF_FLOATS, PATH_HALVES_SIGNED, PATH_HALVES_UNSIGNED, PATH_NONE,
    PATH_TENS_SIGNED, PATH_TENS_UNSIGNED, PATH_WORDS,
};
use crate::fetch::Writer;
use crate::rewrite::DataPath;

/// GLSL.std.450's UnpackHalf2x16.
const UNPACK_HALF: u32 = 62;

/// What a path needs to know of the attribute.
#[derive(Clone, Copy)]
struct Attribute {
    location: u32,
    /// The first word of its entry.
    first: u32,
    stream: u32,
    count: u32,
    /// Where its words are, see [`Writer::word`].
    source: u32,
}

impl Writer<'_> {
    /// `uvec4 fetch(uint location)`: the words of a 16- or 32-bit input.
    pub(crate) fn fetch(&mut self, general: u32) -> u32 {
        let kit = self.kit;
        let (function, parameters) = self.code.function(self.emitter, kit.uint4, &[kit.uint]);
        let location = parameters[0];
        let header = self.attribute(location, 0);
        let derived = self.attribute(location, 3);
        let first = self.part(header, 0);
        let stream = self.bits(first, 0, 0xff);
        let count = self.bits(first, 20, 0xf);
        let element = self.element_in(stream);

        let (last, path) = (self.part(derived, 2), self.part(derived, 3));
        let none = self.constant(PATH_NONE);
        let present = self.test(Op::INotEqual, path, none);
        let before_end = self.test(Op::ULessThanEqual, element, last);
        let inside = self.test(Op::LogicalAnd, present, before_end);
        let zeros = self.emitter.constant4([0; 4]);
        let (before, body, merge) = (self.code.block(), self.emitter.id(), self.emitter.id());
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code
            .emit(Op::BranchConditional, &[inside, body, merge]);
        self.code.label(body);
        let source = self.source(derived, element);
        let attribute = Attribute {
            location,
            first,
            stream,
            count,
            source,
        };
        let value = self.paths(attribute, path, general);
        let end = self.code.block();
        self.code.emit(Op::Branch, &[merge]);
        self.code.label(merge);
        let value = self.op(Op::Phi, kit.uint4, &[value, end, zeros, before]);

        let counts = self.splat(count);
        let components = self.emitter.constant4([0, 1, 2, 3]);
        let stored = self.op(Op::UGreaterThan, kit.bool4, &[counts, components]);
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

    /// The element's offset in `stream`, computed anew where the last attribute was read from another. An offset that
    /// does not fit is all ones, which is past every end.
    fn element_in(&mut self, stream: u32) -> u32 {
        let kit = self.kit;
        let (last_stream, last_element) = (self.resources.last_stream, self.resources.last_element);
        let known = self.op(Op::Load, kit.uint, &[last_stream]);
        let other = self.test(Op::INotEqual, known, stream);
        let (body, merge) = (self.emitter.id(), self.emitter.id());
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code.emit(Op::BranchConditional, &[other, body, merge]);
        self.code.label(body);
        let place = self.stream(stream, 0);
        let rate = self.stream(stream, 1);
        let divisor = self.part(rate, 0);
        let (low, high) = self.element_offset(place, divisor);
        let fits = self.test(Op::IEqual, high, kit.zero);
        let outside = self.constant(u32::MAX);
        let element = self.op(Op::Select, kit.uint, &[fits, low, outside]);
        self.code.emit(Op::Store, &[last_element, element]);
        self.code.emit(Op::Store, &[last_stream, stream]);
        self.code.emit(Op::Branch, &[merge]);
        self.code.label(merge);
        self.op(Op::Load, kit.uint, &[last_element])
    }

    /// Where an attribute's words are: a pointer, or a word's number in the stream's buffer.
    fn source(&mut self, derived: u32, element: u32) -> u32 {
        let kit = self.kit;
        let low = self.part(derived, 0);
        let at = self.uint(Op::IAdd, low, element);
        match self.data {
            DataPath::DeviceAddress => {
                let carried = self.test(Op::ULessThan, at, low);
                let one = self.constant(1);
                let carry = self.op(Op::Select, kit.uint, &[carried, one, kit.zero]);
                let high = self.part(derived, 1);
                let high = self.uint(Op::IAdd, high, carry);
                let address = self.op(Op::CompositeConstruct, kit.uint2, &[at, high]);
                self.data_pointer(address)
            }
            DataPath::StorageBuffers { .. } => {
                let two = self.constant(2);
                self.uint(Op::ShiftRightLogical, at, two)
            }
        }
    }

    fn paths(&mut self, attribute: Attribute, path: u32, general: u32) -> u32 {
        let kit = self.kit;
        let cases = [
            PATH_WORDS + 1,
            PATH_WORDS + 2,
            PATH_WORDS + 3,
            PATH_WORDS + 4,
            PATH_BYTES_UNSIGNED,
            PATH_BYTES_SIGNED,
            PATH_HALVES_UNSIGNED,
            PATH_HALVES_SIGNED,
            PATH_HALF_FLOATS,
            PATH_TENS_UNSIGNED,
            PATH_TENS_SIGNED,
        ];
        let labels = cases.map(|_| self.emitter.id());
        let (default, merge) = (self.emitter.id(), self.emitter.id());
        let mut operands = vec![path, default];
        operands.extend(
            cases
                .iter()
                .zip(labels)
                .flat_map(|(&case, label)| [case, label]),
        );
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code.emit(Op::Switch, &operands);
        let mut sources = Vec::new();
        self.code.label(default);
        let value = self.op(Op::FunctionCall, kit.uint4, &[general, attribute.location]);
        sources.extend([value, self.code.block()]);
        self.code.emit(Op::Branch, &[merge]);
        for (case, label) in cases.into_iter().zip(labels) {
            self.code.label(label);
            let value = match case {
                PATH_BYTES_UNSIGNED => self.packed(attribute, [0, 8, 16, 24], [8; 4], false),
                PATH_BYTES_SIGNED => self.packed(attribute, [0, 8, 16, 24], [8; 4], true),
                PATH_TENS_UNSIGNED => {
                    self.packed(attribute, [0, 10, 20, 30], [10, 10, 10, 2], false)
                }
                PATH_TENS_SIGNED => self.packed(attribute, [0, 10, 20, 30], [10, 10, 10, 2], true),
                PATH_HALVES_UNSIGNED => self.halves(attribute, false),
                PATH_HALVES_SIGNED => self.halves(attribute, true),
                PATH_HALF_FLOATS => self.half_floats(attribute),
                words => self.whole_words(attribute, words - PATH_WORDS),
            };
            sources.extend([value, self.code.block()]);
            self.code.emit(Op::Branch, &[merge]);
        }
        self.code.label(merge);
        self.op(Op::Phi, kit.uint4, &sources)
    }

    fn whole_words(&mut self, attribute: Attribute, count: u32) -> u32 {
        let mut words = [self.kit.zero; 4];
        for (index, word) in (0..count).zip(&mut words) {
            *word = self.word(attribute.source, attribute.stream, index);
        }
        self.op(Op::CompositeConstruct, self.kit.uint4, &words)
    }

    /// Fields of one word, red and blue swapped where the format has them so.
    fn packed(
        &mut self,
        attribute: Attribute,
        offsets: [u32; 4],
        widths: [u32; 4],
        signed: bool,
    ) -> u32 {
        let word = self.word(attribute.source, attribute.stream, 0);
        let mut parts = [0, 1, 2, 3].map(|at| self.field(word, offsets[at], widths[at], signed));
        let swapped = self.flag(attribute.first, FLAG_SWAPPED);
        let (red, blue) = (parts[0], parts[2]);
        parts[0] = self.op(Op::Select, self.kit.uint, &[swapped, blue, red]);
        parts[2] = self.op(Op::Select, self.kit.uint, &[swapped, red, blue]);
        let integers = self.op(Op::CompositeConstruct, self.kit.uint4, &parts);
        self.scale(attribute, integers, signed)
    }

    fn halves(&mut self, attribute: Attribute, signed: bool) -> u32 {
        let [low, high] = self.two_words(attribute);
        let parts = [(low, 0), (low, 16), (high, 0), (high, 16)]
            .map(|(word, offset)| self.field(word, offset, 16, signed));
        let integers = self.op(Op::CompositeConstruct, self.kit.uint4, &parts);
        self.scale(attribute, integers, signed)
    }

    fn half_floats(&mut self, attribute: Attribute) -> u32 {
        let kit = self.kit;
        let float2 = self.emitter.vector(kit.float, 2);
        let glsl = self.resources.glsl;
        let [low, high] = self
            .two_words(attribute)
            .map(|word| self.op(Op::ExtInst, float2, &[glsl, UNPACK_HALF, word]));
        let floats = self.op(Op::CompositeConstruct, kit.float4, &[low, high]);
        self.op(Op::Bitcast, kit.uint4, &[floats])
    }

    /// The first word, and the second where the format has more than two halves.
    fn two_words(&mut self, attribute: Attribute) -> [u32; 2] {
        let kit = self.kit;
        let low = self.word(attribute.source, attribute.stream, 0);
        let two = self.constant(2);
        let more = self.test(Op::UGreaterThan, attribute.count, two);
        let (body, merge) = (self.emitter.id(), self.emitter.id());
        let before = self.code.block();
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code.emit(Op::BranchConditional, &[more, body, merge]);
        self.code.label(body);
        let high = self.word(attribute.source, attribute.stream, 1);
        self.code.emit(Op::Branch, &[merge]);
        self.code.label(merge);
        let high = self.op(Op::Phi, kit.uint, &[high, body, kit.zero, before]);
        [low, high]
    }

    fn field(&mut self, word: u32, offset: u32, width: u32, signed: bool) -> u32 {
        let kit = self.kit;
        let (offset, width) = (self.constant(offset), self.constant(width));
        if !signed {
            return self.op(Op::BitFieldUExtract, kit.uint, &[word, offset, width]);
        }
        let int = self.emitter.int(32, true);
        let word = self.op(Op::Bitcast, int, &[word]);
        let field = self.op(Op::BitFieldSExtract, int, &[word, offset, width]);
        self.op(Op::Bitcast, kit.uint, &[field])
    }

    /// Integers as they are, or x p + x q with the factors of the layout block, not below the floor.
    fn scale(&mut self, attribute: Attribute, integers: u32, signed: bool) -> u32 {
        let kit = self.kit;
        let kind = self.bits(attribute.first, 16, 0xf);
        let integer = self.constant(KIND_INTEGER);
        let floats = self.test(Op::INotEqual, kind, integer);
        let (body, merge) = (self.emitter.id(), self.emitter.id());
        let before = self.code.block();
        self.code.emit(Op::SelectionMerge, &[merge, 0]);
        self.code
            .emit(Op::BranchConditional, &[floats, body, merge]);
        self.code.label(body);
        let value = if signed {
            let value = self.op(Op::Bitcast, kit.int4, &[integers]);
            self.op(Op::ConvertSToF, kit.float4, &[value])
        } else {
            self.op(Op::ConvertUToF, kit.float4, &[integers])
        };
        let [exact, rounded] = [1, 2].map(|part| {
            let factors = self.attribute(attribute.location, part);
            let factors = self.op(Op::Bitcast, kit.float4, &[factors]);
            self.exactly(Op::FMul, value, factors)
        });
        let mut sum = self.exactly(Op::FAdd, exact, rounded);
        if signed {
            let clamped = self.flag(attribute.first, FLAG_CLAMPED);
            let (minus_one, lowest) = (
                self.emitter.float_constant(-1.0),
                self.emitter.float_constant(f32::MIN),
            );
            let floor = self.op(Op::Select, kit.float, &[clamped, minus_one, lowest]);
            let floor = self.op(Op::CompositeConstruct, kit.float4, &[floor; 4]);
            let below = self.op(Op::FOrdLessThan, kit.bool4, &[sum, floor]);
            sum = self.op(Op::Select, kit.float4, &[below, floor, sum]);
        }
        let scaled = self.op(Op::Bitcast, kit.uint4, &[sum]);
        self.code.emit(Op::Branch, &[merge]);
        self.code.label(merge);
        self.op(Op::Phi, kit.uint4, &[scaled, body, integers, before])
    }
}
