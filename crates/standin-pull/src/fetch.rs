//! The decoder in SPIR-V: from the layout block and a location to the register words of an input.
//!
//! Here are addresses and loads. `fields` has the conversion that takes any format at any alignment and is driven by
//! data alone; `paths` has the short ways of the common formats. `decode` is the reference of both.

use spirv::{Op, StorageClass};

use crate::block::{ATTRIBUTE_BYTES, BlockShape, RATE_VERTEX, STREAM_BYTES};
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
    /// Private variables: the stream whose element was computed last, and that element's offset.
    pub(crate) last_stream: u32,
    pub(crate) last_element: u32,
    /// The import of GLSL.std.450.
    pub(crate) glsl: u32,
}

/// Types and constants that all of the decoder uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kit {
    pub(crate) uint: u32,
    pub(crate) float: u32,
    pub(crate) bool: u32,
    pub(crate) uint4: u32,
    pub(crate) float4: u32,
    pub(crate) int4: u32,
    pub(crate) bool4: u32,
    pub(crate) uint2: u32,
    pub(crate) zero: u32,
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
    let general = writer.general(element);
    writer.emitter.name(general, "standin_general");
    let convert = writer.fetch(general);
    writer.emitter.name(convert, "standin_fetch");
    Fetch { convert, element }
}

/// Writes the decoder's functions.
pub(crate) struct Writer<'a> {
    pub(crate) emitter: &'a mut Emitter,
    pub(crate) code: &'a mut Code,
    pub(crate) kit: Kit,
    pub(crate) shape: BlockShape,
    pub(crate) place: BlockPlace,
    pub(crate) data: DataPath,
    pub(crate) resources: Resources,
    pub(crate) indices: Indices,
}

impl Writer<'_> {
    pub(crate) fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        self.code.op(self.emitter, op, ty, operands)
    }

    pub(crate) fn uint(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.kit.uint, &[a, b])
    }

    pub(crate) fn uint4(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.kit.uint4, &[a, b])
    }

    pub(crate) fn test(&mut self, op: Op, a: u32, b: u32) -> u32 {
        self.op(op, self.kit.bool, &[a, b])
    }

    pub(crate) fn constant(&mut self, value: u32) -> u32 {
        self.emitter.constant(value)
    }

    pub(crate) fn splat(&mut self, value: u32) -> u32 {
        self.op(Op::CompositeConstruct, self.kit.uint4, &[value; 4])
    }

    pub(crate) fn part(&mut self, vector: u32, index: u32) -> u32 {
        self.op(Op::CompositeExtract, self.kit.uint, &[vector, index])
    }

    /// `(word >> shift) & mask` with constants.
    pub(crate) fn bits(&mut self, word: u32, shift: u32, mask: u32) -> u32 {
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
    pub(crate) fn attribute(&mut self, location: u32, part: u32) -> u32 {
        let size = self.constant(ATTRIBUTE_BYTES as u32 / 16);
        let part = self.constant(part);
        let at = self.uint(Op::IMul, location, size);
        let at = self.uint(Op::IAdd, at, part);
        self.block(at)
    }

    pub(crate) fn stream(&mut self, stream: u32, part: u32) -> u32 {
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
    pub(crate) fn element_index(&mut self, divisor: u32) -> u32 {
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

    /// The offset in a stream of the element that this invocation reads: low and high word.
    pub(crate) fn element_offset(&mut self, place: u32, divisor: u32) -> (u32, u32) {
        let index = self.element_index(divisor);
        let stride = self.part(place, 3);
        let pair = self.emitter.pair();
        let product = self.op(Op::UMulExtended, pair, &[index, stride]);
        let low = self.op(Op::CompositeExtract, self.kit.uint, &[product, 0]);
        (
            low,
            self.op(Op::CompositeExtract, self.kit.uint, &[product, 1]),
        )
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
        let (low, high) = self.element_offset(place, divisor);
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

    /// An address, two words, as a pointer to data.
    pub(crate) fn data_pointer(&mut self, address: u32) -> u32 {
        let pointer = self.emitter.pointer(
            StorageClass::PhysicalStorageBuffer,
            self.resources.data_struct,
        );
        self.op(Op::Bitcast, pointer, &[address])
    }

    /// Word `index` after `source`, an address or a word's number in a storage buffer.
    pub(crate) fn word(&mut self, source: u32, stream: u32, index: u32) -> u32 {
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
}
