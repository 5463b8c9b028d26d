//! The function that fills the former inputs: called at the entry point's start, one store for each value.

use std::collections::HashMap;

use spirv::{Op, StorageClass};

use crate::emit::{Code, Emitter};
use crate::fetch::{Fetch, Kit};
use crate::interface::{InputVariable, Length, MAX_LOCATIONS, Scalar, Shape};

/// A built-in that became private with the inputs: its copy, the real one and their type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedBuiltIn {
    pub(crate) private: u32,
    pub(crate) input: u32,
    pub(crate) ty: u32,
}

/// Writes the function and returns its id.
pub(crate) fn emit(
    emitter: &mut Emitter,
    code: &mut Code,
    fetch: Fetch,
    last_stream: u32,
    inputs: &[InputVariable],
    copies: &[CopiedBuiltIn],
) -> u32 {
    let kit = Kit::new(emitter);
    let used = || inputs.iter().filter(|input| input.used);
    let narrow = used()
        .any(|input| input.has_width(16))
        .then(|| narrow(emitter, code, kit));
    let void = emitter.void();
    let (function, _) = code.function(emitter, void, &[]);
    let mut writer = Writer {
        emitter,
        code,
        kit,
        fetch,
        narrow,
        fetched: HashMap::new(),
        in_loop: 0,
    };
    let no_stream = writer.emitter.constant(u32::MAX);
    writer.code.emit(Op::Store, &[last_stream, no_stream]);
    for copy in copies {
        let value = writer.op(Op::Load, copy.ty, &[copy.input]);
        writer.code.emit(Op::Store, &[copy.private, value]);
    }
    for input in used() {
        writer.fill(
            &Target {
                variable: input.id,
                path: Vec::new(),
            },
            &input.shape,
            At::Known(input.location),
        );
    }
    code.emit(Op::Return, &[]);
    code.emit(Op::FunctionEnd, &[]);
    emitter.name(function, "standin_pull");
    function
}

/// A location, as far as it is known here.
#[derive(Clone, Copy)]
enum At {
    Known(u32),
    /// An id in the function.
    Computed(u32),
}

struct Target {
    variable: u32,
    path: Vec<u32>,
}

impl Target {
    fn then(&self, index: u32) -> Self {
        let mut path = self.path.clone();
        path.push(index);
        Self {
            variable: self.variable,
            path,
        }
    }
}

struct Writer<'a> {
    emitter: &'a mut Emitter,
    code: &'a mut Code,
    kit: Kit,
    fetch: Fetch,
    narrow: Option<u32>,
    /// Converted words by location: several inputs may lie in one.
    fetched: HashMap<u32, u32>,
    /// Depth of loops; what is fetched inside one cannot be used after it.
    in_loop: u32,
}

impl Writer<'_> {
    fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        self.code.op(self.emitter, op, ty, operands)
    }

    fn location(&mut self, at: At) -> u32 {
        match at {
            At::Known(location) => self.emitter.constant(location),
            At::Computed(id) => id,
        }
    }

    fn after(&mut self, at: At, count: u32) -> At {
        match at {
            At::Known(location) => At::Known(location + count),
            At::Computed(id) => {
                let count = self.emitter.constant(count);
                At::Computed(self.op(Op::IAdd, self.kit.uint, &[id, count]))
            }
        }
    }

    /// Stores the value of `shape` at `at`.
    fn fill(&mut self, target: &Target, shape: &Shape, at: At) {
        match shape {
            Shape::Vector {
                ty,
                scalar,
                width,
                count,
                component,
            } => {
                let value = self.value(*ty, *scalar, *width, *count, *component, at);
                self.store(target, *ty, value);
            }
            Shape::Matrix { column, columns } => self.sequence(target, column, *columns, at),
            Shape::Array {
                element,
                length: Length::Known(length),
            } => self.sequence(target, element, *length, at),
            Shape::Array {
                element,
                length: Length::Specialised { constant, ty },
            } => {
                self.repeat(target, element, (*constant, *ty), at);
            }
            Shape::Struct { members } => {
                let mut next = at;
                for (index, (member, own)) in (0..).zip(members) {
                    let start = own.map_or(next, At::Known);
                    let index = self.emitter.constant(index);
                    self.fill(&target.then(index), member, start);
                    // A member that follows one of unknown size was declined.
                    next = self.after(start, member.locations().unwrap_or(0));
                }
            }
        }
    }

    fn sequence(&mut self, target: &Target, shape: &Shape, count: u32, at: At) {
        let mut next = at;
        for index in 0..count {
            let index = self.emitter.constant(index);
            self.fill(&target.then(index), shape, next);
            next = self.after(next, shape.locations().unwrap_or(0));
        }
    }

    /// A loop over an array whose length a specialisation constant decides. Locations past the block's last read it.
    fn repeat(&mut self, target: &Target, shape: &Shape, (length, length_ty): (u32, u32), at: At) {
        let kit = self.kit;
        let first = self.location(at);
        let step = self.emitter.constant(shape.locations().unwrap_or(1));
        let (zero, one) = (self.emitter.constant(0), self.emitter.constant(1));
        let last = self.emitter.constant(MAX_LOCATIONS - 1);
        let length = if length_ty == kit.uint {
            length
        } else {
            self.op(Op::Bitcast, kit.uint, &[length])
        };
        let ids: Vec<u32> = (0..6).map(|_| self.emitter.id()).collect();
        let [head, body, next, merge, index, following] =
            [ids[0], ids[1], ids[2], ids[3], ids[4], ids[5]];
        let before = self.code.block();
        self.code.emit(Op::Branch, &[head]);
        self.code.label(head);
        self.code
            .emit(Op::Phi, &[kit.uint, index, zero, before, following, next]);
        let more = self.op(Op::ULessThan, kit.bool, &[index, length]);
        self.code.emit(Op::LoopMerge, &[merge, next, 0]);
        self.code.emit(Op::BranchConditional, &[more, body, merge]);
        self.code.label(body);
        let offset = self.op(Op::IMul, kit.uint, &[index, step]);
        let location = self.op(Op::IAdd, kit.uint, &[first, offset]);
        let outside = self.op(Op::UGreaterThan, kit.bool, &[location, last]);
        let location = self.op(Op::Select, kit.uint, &[outside, last, location]);
        self.in_loop += 1;
        self.fill(&target.then(index), shape, At::Computed(location));
        self.in_loop -= 1;
        self.code.emit(Op::Branch, &[next]);
        self.code.label(next);
        self.code.emit(Op::IAdd, &[kit.uint, following, index, one]);
        self.code.emit(Op::Branch, &[head]);
        self.code.label(merge);
    }

    fn store(&mut self, target: &Target, ty: u32, value: u32) {
        let mut pointer = target.variable;
        if !target.path.is_empty() {
            let pointer_ty = self.emitter.pointer(StorageClass::Private, ty);
            let mut operands = vec![target.variable];
            operands.extend(&target.path);
            pointer = self.op(Op::AccessChain, pointer_ty, &operands);
        }
        self.code.emit(Op::Store, &[pointer, value]);
    }

    fn value(
        &mut self,
        ty: u32,
        scalar: Scalar,
        width: u32,
        count: u32,
        component: u32,
        at: At,
    ) -> u32 {
        match width {
            64 => self.wide_value(ty, count, component, at),
            16 => {
                let words = self.words(at);
                self.short_value(ty, scalar, count, component, words)
            }
            _ => {
                let words = self.words(at);
                let parts: Vec<u32> = (component..component + count)
                    .map(|index| {
                        self.op(Op::CompositeExtract, self.kit.uint, &[words, index.min(3)])
                    })
                    .collect();
                self.as_type(ty, self.kit.uint, &parts)
            }
        }
    }

    /// Parts of one type, as a scalar or vector of another of the same size.
    fn as_type(&mut self, ty: u32, part_ty: u32, parts: &[u32]) -> u32 {
        let (value, value_ty) = match parts {
            [part] => (*part, part_ty),
            _ => {
                let vector = self.emitter.vector(part_ty, parts.len() as u32);
                (self.op(Op::CompositeConstruct, vector, parts), vector)
            }
        };
        if value_ty == ty {
            value
        } else {
            self.op(Op::Bitcast, ty, &[value])
        }
    }

    fn words(&mut self, at: At) -> u32 {
        if let (At::Known(location), true) = (at, self.in_loop == 0)
            && let Some(&words) = self.fetched.get(&location)
        {
            return words;
        }
        let location = self.location(at);
        let words = self.op(
            Op::FunctionCall,
            self.kit.uint4,
            &[self.fetch.convert, location],
        );
        if let (At::Known(location), true) = (at, self.in_loop == 0) {
            self.fetched.insert(location, words);
        }
        words
    }

    /// 64-bit components: two words each, four components in 32 bytes.
    fn wide_value(&mut self, ty: u32, count: u32, component: u32, at: At) -> u32 {
        let kit = self.kit;
        let location = self.location(at);
        let end = component + 2 * count;
        let mut words = Vec::new();
        for part in 0..end.div_ceil(4) {
            let part = self.emitter.constant(part);
            let element = self.op(
                Op::FunctionCall,
                kit.uint4,
                &[self.fetch.element, location, part],
            );
            for index in 0..4 {
                words.push(self.op(Op::CompositeExtract, kit.uint, &[element, index]));
            }
        }
        // A bit cast of the whole would also do, but vectors have at most four components.
        let pairs: Vec<u32> = words[component as usize..end as usize].to_vec();
        let pair_ty = self.emitter.vector(kit.uint, 2);
        let scalar_ty = self.emitter.component_type(ty).unwrap_or(ty);
        let parts: Vec<u32> = pairs
            .chunks_exact(2)
            .map(|pair| {
                let pair = self.op(Op::CompositeConstruct, pair_ty, pair);
                self.op(Op::Bitcast, scalar_ty, &[pair])
            })
            .collect();
        match parts[..] {
            [part] => part,
            _ => self.op(Op::CompositeConstruct, ty, &parts),
        }
    }

    /// 16-bit components: integers keep their low bits, floats are rounded to nearest.
    fn short_value(
        &mut self,
        ty: u32,
        scalar: Scalar,
        count: u32,
        component: u32,
        words: u32,
    ) -> u32 {
        let kit = self.kit;
        let words = match (scalar, self.narrow) {
            (Scalar::Float, Some(narrow)) => self.op(Op::FunctionCall, kit.uint4, &[narrow, words]),
            _ => words,
        };
        let short = self.emitter.int(16, false);
        let parts: Vec<u32> = (component..component + count)
            .map(|index| {
                let word = self.op(Op::CompositeExtract, kit.uint, &[words, index.min(3)]);
                self.op(Op::UConvert, short, &[word])
            })
            .collect();
        self.as_type(ty, short, &parts)
    }
}

/// `uvec4 narrow(uvec4 words)`: 32-bit floats to 16-bit ones, to nearest even, with integers so that denormals and
/// NaNs come out right on every device. What was widened from 16 bits comes back as it was.
fn narrow(emitter: &mut Emitter, code: &mut Code, kit: Kit) -> u32 {
    let bool4 = emitter.vector(kit.bool, 4);
    let (function, parameters) = code.function(emitter, kit.uint4, &[kit.uint4]);
    let words = parameters[0];
    let constants = |emitter: &mut Emitter, value| emitter.constant4([value; 4]);
    let [zero, one, thirteen, sixteen, twenty_three] =
        [0, 1, 13, 16, 23].map(|value| constants(emitter, value));
    let [magnitude_mask, sign_mask, mantissa_mask, hidden] =
        [0x7fff_ffff, 0x8000, 0x7f_ffff, 0x80_0000].map(|value| constants(emitter, value));
    let [infinity, smallest_normal, bias, half_less, overflow] =
        [0x7f80_0000, 0x3880_0000, 112 << 23, 0xfff, 0x7c00].map(|value| constants(emitter, value));
    let mut op = |op, a, b| code.op(emitter, op, kit.uint4, &[a, b]);
    let magnitude = op(Op::BitwiseAnd, words, magnitude_mask);
    let sign = op(Op::ShiftRightLogical, words, sixteen);
    let sign = op(Op::BitwiseAnd, sign, sign_mask);
    // Normal: take the bias off and round at bit 13; a carry into the exponent is right.
    let unbiased = op(Op::ISub, magnitude, bias);
    let odd = op(Op::ShiftRightLogical, unbiased, thirteen);
    let odd = op(Op::BitwiseAnd, odd, one);
    let normal = op(Op::IAdd, unbiased, half_less);
    let normal = op(Op::IAdd, normal, odd);
    let normal = op(Op::ShiftRightLogical, normal, thirteen);
    // Denormal: the mantissa with its hidden bit, shifted right by 126 - exponent (14 to 25) and rounded.
    let exponent = op(Op::ShiftRightLogical, magnitude, twenty_three);
    let mantissa = op(Op::BitwiseAnd, magnitude, mantissa_mask);
    let mantissa = op(Op::BitwiseOr, mantissa, hidden);
    let [from, most] = [126, 25].map(|value| emitter.constant4([value; 4]));
    let shift = code.op(emitter, Op::ISub, kit.uint4, &[from, exponent]);
    let far = code.op(emitter, Op::UGreaterThan, bool4, &[shift, most]);
    let shift = code.op(emitter, Op::Select, kit.uint4, &[far, most, shift]);
    let mut op = |op, a, b| code.op(emitter, op, kit.uint4, &[a, b]);
    let odd = op(Op::ShiftRightLogical, mantissa, shift);
    let odd = op(Op::BitwiseAnd, odd, one);
    let half = op(Op::ISub, shift, one);
    let half = op(Op::ShiftLeftLogical, one, half);
    let half = op(Op::ISub, half, one);
    let denormal = op(Op::IAdd, mantissa, half);
    let denormal = op(Op::IAdd, denormal, odd);
    let denormal = op(Op::ShiftRightLogical, denormal, shift);
    // Infinity and NaN; a payload that would vanish leaves a quiet NaN.
    let payload = op(Op::ShiftRightLogical, mantissa, thirteen);
    let special_mask = emitter.constant4([0x3ff; 4]);
    let quiet = emitter.constant4([0x200; 4]);
    let payload = code.op(emitter, Op::BitwiseAnd, kit.uint4, &[payload, special_mask]);
    let is_nan = code.op(emitter, Op::UGreaterThan, bool4, &[magnitude, infinity]);
    let empty = code.op(emitter, Op::IEqual, bool4, &[payload, zero]);
    let lost = code.op(emitter, Op::LogicalAnd, bool4, &[is_nan, empty]);
    let payload = code.op(emitter, Op::Select, kit.uint4, &[lost, quiet, payload]);
    let special = code.op(emitter, Op::BitwiseOr, kit.uint4, &[overflow, payload]);
    let too_large = code.op(emitter, Op::UGreaterThan, bool4, &[normal, overflow]);
    let normal = code.op(
        emitter,
        Op::Select,
        kit.uint4,
        &[too_large, overflow, normal],
    );
    let is_denormal = code.op(emitter, Op::ULessThan, bool4, &[magnitude, smallest_normal]);
    let finite = code.op(
        emitter,
        Op::Select,
        kit.uint4,
        &[is_denormal, denormal, normal],
    );
    let is_special = code.op(
        emitter,
        Op::UGreaterThanEqual,
        bool4,
        &[magnitude, infinity],
    );
    let result = code.op(
        emitter,
        Op::Select,
        kit.uint4,
        &[is_special, special, finite],
    );
    let result = code.op(emitter, Op::BitwiseOr, kit.uint4, &[result, sign]);
    code.emit(Op::ReturnValue, &[result]);
    code.emit(Op::FunctionEnd, &[]);
    function
}
