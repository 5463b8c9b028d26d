//! New declarations and code for a module: ids, types and constants that reuse the module's own, and instruction lists.

use std::collections::HashMap;

use spirv::{Decoration, Op, StorageClass};

use crate::Declined;
use crate::module::{Instruction, Module, string_words, write_instruction};

/// Where new ids, declarations and decorations are collected.
#[derive(Debug)]
pub(crate) struct Emitter {
    next_id: u32,
    /// Types and constants by opcode and operands without the result.
    known: HashMap<(u16, Vec<u32>), u32>,
    pub(crate) declarations: Vec<u32>,
    pub(crate) decorations: Vec<u32>,
    pub(crate) names: Vec<u32>,
}

impl Emitter {
    /// Starts above the module's bound, knowing its types and constants.
    pub(crate) fn new(module: &Module<'_>) -> Self {
        let mut known = HashMap::new();
        for instruction in &module.instructions[..module.first_function()] {
            if let Some((key, id)) = shareable(instruction) {
                known.entry(key).or_insert(id);
            }
        }
        Self {
            next_id: module.header[3],
            known,
            declarations: Vec::new(),
            decorations: Vec::new(),
            names: Vec::new(),
        }
    }

    pub(crate) fn id(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    pub(crate) fn bound(&self) -> u32 {
        self.next_id
    }

    /// A type whose result is its first operand.
    fn type_of(&mut self, op: Op, operands: &[u32]) -> u32 {
        let key = (op as u16, operands.to_vec());
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        let mut words = vec![id];
        words.extend_from_slice(operands);
        write_instruction(&mut self.declarations, op as u16, &words);
        self.known.insert(key, id);
        id
    }

    pub(crate) fn void(&mut self) -> u32 {
        self.type_of(Op::TypeVoid, &[])
    }

    pub(crate) fn bool(&mut self) -> u32 {
        self.type_of(Op::TypeBool, &[])
    }

    pub(crate) fn uint(&mut self) -> u32 {
        self.type_of(Op::TypeInt, &[32, 0])
    }

    pub(crate) fn int(&mut self, width: u32, signed: bool) -> u32 {
        self.type_of(Op::TypeInt, &[width, u32::from(signed)])
    }

    pub(crate) fn float(&mut self) -> u32 {
        self.type_of(Op::TypeFloat, &[32])
    }

    pub(crate) fn vector(&mut self, component: u32, count: u32) -> u32 {
        self.type_of(Op::TypeVector, &[component, count])
    }

    pub(crate) fn pointer(&mut self, class: StorageClass, pointee: u32) -> u32 {
        self.type_of(Op::TypePointer, &[class as u32, pointee])
    }

    pub(crate) fn function_type(&mut self, operands: &[u32]) -> u32 {
        self.type_of(Op::TypeFunction, operands)
    }

    /// The component type of a known vector type.
    pub(crate) fn component_type(&self, vector: u32) -> Option<u32> {
        let mut vectors = self
            .known
            .iter()
            .filter(|((op, _), _)| *op == Op::TypeVector as u16);
        vectors
            .find(|&(_, &id)| id == vector)
            .and_then(|((_, operands), _)| operands.first().copied())
    }

    /// The structure that extended arithmetic returns.
    pub(crate) fn pair(&mut self) -> u32 {
        let uint = self.uint();
        let key = (Op::TypeStruct as u16, vec![uint, uint]);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        write_instruction(
            &mut self.declarations,
            Op::TypeStruct as u16,
            &[id, uint, uint],
        );
        self.known.insert(key, id);
        id
    }

    /// A structure or array that is not shared, because it is decorated.
    pub(crate) fn own_type(&mut self, op: Op, operands: &[u32]) -> u32 {
        let id = self.id();
        let mut words = vec![id];
        words.extend_from_slice(operands);
        write_instruction(&mut self.declarations, op as u16, &words);
        id
    }

    fn constant_of(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let mut words = vec![ty];
        words.extend_from_slice(operands);
        let key = (op as u16, words);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        let mut words = vec![ty, id];
        words.extend_from_slice(operands);
        write_instruction(&mut self.declarations, op as u16, &words);
        self.known.insert(key, id);
        id
    }

    pub(crate) fn constant(&mut self, value: u32) -> u32 {
        let uint = self.uint();
        self.constant_of(Op::Constant, uint, &[value])
    }

    pub(crate) fn float_constant(&mut self, value: f32) -> u32 {
        let float = self.float();
        self.constant_of(Op::Constant, float, &[value.to_bits()])
    }

    pub(crate) fn constant_vector(&mut self, ty: u32, parts: &[u32]) -> u32 {
        self.constant_of(Op::ConstantComposite, ty, parts)
    }

    /// A vector of four unsigned integers.
    pub(crate) fn constant4(&mut self, values: [u32; 4]) -> u32 {
        let uint = self.uint();
        let ty = self.vector(uint, 4);
        let parts = values.map(|value| self.constant(value));
        self.constant_vector(ty, &parts)
    }

    /// The zero of a type.
    pub(crate) fn null(&mut self, ty: u32) -> u32 {
        let id = self.id();
        write_instruction(&mut self.declarations, Op::ConstantNull as u16, &[ty, id]);
        id
    }

    pub(crate) fn variable(&mut self, pointer: u32, class: StorageClass) -> u32 {
        let id = self.id();
        write_instruction(
            &mut self.declarations,
            Op::Variable as u16,
            &[pointer, id, class as u32],
        );
        id
    }

    pub(crate) fn decorate(&mut self, target: u32, decoration: Decoration, operands: &[u32]) {
        let mut words = vec![target, decoration as u32];
        words.extend_from_slice(operands);
        write_instruction(&mut self.decorations, Op::Decorate as u16, &words);
    }

    pub(crate) fn decorate_member(
        &mut self,
        target: u32,
        member: u32,
        decoration: Decoration,
        operands: &[u32],
    ) {
        let mut words = vec![target, member, decoration as u32];
        words.extend_from_slice(operands);
        write_instruction(&mut self.decorations, Op::MemberDecorate as u16, &words);
    }

    pub(crate) fn name(&mut self, target: u32, name: &str) {
        let mut words = vec![target];
        words.extend(string_words(name));
        write_instruction(&mut self.names, Op::Name as u16, &words);
    }

    /// Whether the ids stayed within SPIR-V's limit.
    ///
    /// # Errors
    /// [`Declined::Malformed`] where they did not.
    pub(crate) fn check_bound(&self) -> Result<(), Declined> {
        if self.next_id > 0x3f_ffff {
            return Err(Declined::malformed(
                "the id bound leaves no room for new ids",
                3,
            ));
        }
        Ok(())
    }
}

/// The key under which a declaration may be used again. Structures and arrays are not: decorations tell them apart.
fn shareable(instruction: &Instruction<'_>) -> Option<((u16, Vec<u32>), u32)> {
    let op = Op::from_u32(u32::from(instruction.opcode))?;
    match op {
        Op::TypeVoid
        | Op::TypeBool
        | Op::TypeInt
        | Op::TypeFloat
        | Op::TypeVector
        | Op::TypePointer
        | Op::TypeFunction => {
            let (&id, operands) = instruction.operands.split_first()?;
            Some(((instruction.opcode, operands.to_vec()), id))
        }
        Op::Constant | Op::ConstantComposite => {
            let (&[ty, id], operands) = instruction.operands.split_first_chunk::<2>()?;
            let mut key = vec![ty];
            key.extend_from_slice(operands);
            Some(((instruction.opcode, key), id))
        }
        _ => None,
    }
}

/// Function bodies being written.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) words: Vec<u32>,
    block: u32,
}

impl Code {
    /// An instruction without a result.
    pub(crate) fn emit(&mut self, op: Op, operands: &[u32]) {
        write_instruction(&mut self.words, op as u16, operands);
    }

    /// An instruction with a result.
    pub(crate) fn op(&mut self, emitter: &mut Emitter, op: Op, ty: u32, operands: &[u32]) -> u32 {
        let id = emitter.id();
        let mut words = vec![ty, id];
        words.extend_from_slice(operands);
        self.emit(op, &words);
        id
    }

    /// Starts a function; returns its id and its parameters.
    pub(crate) fn function(
        &mut self,
        emitter: &mut Emitter,
        result: u32,
        parameters: &[u32],
    ) -> (u32, Vec<u32>) {
        let mut signature = vec![result];
        signature.extend_from_slice(parameters);
        let ty = emitter.function_type(&signature);
        let function = emitter.id();
        self.emit(Op::Function, &[result, function, 0, ty]);
        let parameters = parameters
            .iter()
            .map(|&ty| self.op(emitter, Op::FunctionParameter, ty, &[]))
            .collect();
        let label = emitter.id();
        self.label(label);
        (function, parameters)
    }

    pub(crate) fn label(&mut self, label: u32) {
        self.emit(Op::Label, &[label]);
        self.block = label;
    }

    /// The label of the block being written.
    pub(crate) fn block(&self) -> u32 {
        self.block
    }

    /// `condition ? then() : otherwise`, where only the chosen side is evaluated.
    pub(crate) fn choose(
        &mut self,
        emitter: &mut Emitter,
        condition: u32,
        ty: u32,
        otherwise: u32,
        then: impl FnOnce(&mut Self, &mut Emitter) -> u32,
    ) -> u32 {
        let (before, inside, merge) = (self.block, emitter.id(), emitter.id());
        self.emit(Op::SelectionMerge, &[merge, 0]);
        self.emit(Op::BranchConditional, &[condition, inside, merge]);
        self.label(inside);
        let value = then(self, emitter);
        let end = self.block;
        self.emit(Op::Branch, &[merge]);
        self.label(merge);
        self.op(emitter, Op::Phi, ty, &[value, end, otherwise, before])
    }
}
