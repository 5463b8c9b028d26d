//! Instruments a vertex shader to write all its outputs to a storage buffer, so that two variants of it can be compared
//! word for word.

use spirv::{BuiltIn, Decoration, Op, StorageClass};

use crate::Declined;
use crate::emit::{Code, Emitter};
use crate::interface::{Declarations, Length, Shape, built_in, entry_point, output_shape};
use crate::module::{Module, string_words, write_instruction};
use crate::rewrite::{VERSION_1_3, VERSION_1_4, call_place, insertion_points};

/// An instrumented shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The module.
    pub spirv: Vec<u32>,
    /// Words that each vertex writes, at `(instance * vertices + vertex) * words` of the buffer. The draw starts at
    /// vertex 0 and instance 0.
    pub words: u32,
}

/// Makes the entry point start with zeroed outputs and end by writing them to the storage buffer at `set` and
/// `binding`; `vertices` is the number of vertices of an instance.
///
/// # Errors
/// [`Declined`] where the module is malformed or an output has a type that is not captured.
pub fn capture_outputs(
    spirv: &[u32],
    entry: Option<&str>,
    (set, binding): (u32, u32),
    vertices: u32,
) -> Result<Captured, Declined> {
    let module = Module::parse(spirv)?;
    let declarations = Declarations::new(&module);
    let entry = entry_point(&module, entry)?;
    let mut emitter = Emitter::new(&module);
    let mut interface = Vec::new();
    let mut index = |emitter: &mut Emitter, what| {
        if let Some(id) = built_in(&declarations, &entry, StorageClass::Input, what) {
            return (
                id,
                declarations
                    .variable(id)
                    .map_or(0, |variable| variable.pointee),
            );
        }
        let ty = emitter.int(32, true);
        let pointer = emitter.pointer(StorageClass::Input, ty);
        let id = emitter.variable(pointer, StorageClass::Input);
        emitter.decorate(id, Decoration::BuiltIn, &[what as u32]);
        interface.push(id);
        (id, ty)
    };
    let indices =
        [BuiltIn::VertexIndex, BuiltIn::InstanceIndex].map(|what| index(&mut emitter, what));
    let buffer = buffer(&mut emitter, set, binding);
    if module.version >= VERSION_1_4 {
        interface.push(buffer);
    }

    let mut code = Code::default();
    let void = emitter.void();
    let (function, _) = code.function(&mut emitter, void, &[]);
    let mut leaves = Vec::new();
    let mut zeroes = Vec::new();
    for &id in &entry.interface {
        let Some(variable) = declarations
            .variable(id)
            .filter(|v| v.class == StorageClass::Output as u32)
        else {
            continue;
        };
        let shape = output_shape(&declarations, variable.pointee)?;
        collect(&shape, id, &mut Vec::new(), &mut leaves)?;
        zeroes.push((id, emitter.null(variable.pointee)));
    }
    let words = leaves.iter().map(|leaf| leaf.count * leaf.width / 32).sum();
    let mut writer = Writer {
        emitter: &mut emitter,
        code: &mut code,
        buffer,
    };
    writer.write(indices, &leaves, vertices, words);

    let (names_at, decorations_at) = insertion_points(&module);
    let first_function = module.first_function();
    let after_capabilities = module
        .instructions
        .iter()
        .position(|i| !i.is(Op::Capability))
        .unwrap_or(0);
    let start = call_place(&module, entry.function)?;
    emitter.check_bound()?;
    let mut result = module.header.to_vec();
    let mut next = emitter.bound();
    let mut inside = 0;
    for (at, instruction) in module.instructions.iter().enumerate() {
        if at == after_capabilities && module.version < VERSION_1_3 {
            let extension = string_words("SPV_KHR_storage_buffer_storage_class");
            write_instruction(&mut result, Op::Extension as u16, &extension);
        }
        if at == names_at {
            result.extend(&emitter.names);
        }
        if at == decorations_at {
            result.extend(&emitter.decorations);
        }
        if at == first_function {
            result.extend(&emitter.declarations);
        }
        if at == start {
            for &(variable, zero) in &zeroes {
                write_instruction(&mut result, Op::Store as u16, &[variable, zero]);
            }
        }
        if instruction.is(Op::Function) {
            inside = instruction.operand(1);
        }
        if instruction.is(Op::Return) && inside == entry.function {
            write_instruction(
                &mut result,
                Op::FunctionCall as u16,
                &[void, next, function],
            );
            next += 1;
        }
        if at == entry.at {
            let mut operands = instruction.operands.to_vec();
            operands.extend(&interface);
            write_instruction(&mut result, instruction.opcode, &operands);
        } else {
            instruction.write_to(&mut result);
        }
    }
    result.extend(&code.words);
    result[3] = next;
    Ok(Captured {
        spirv: result,
        words,
    })
}

fn buffer(emitter: &mut Emitter, set: u32, binding: u32) -> u32 {
    let uint = emitter.uint();
    let array = emitter.own_type(Op::TypeRuntimeArray, &[uint]);
    emitter.decorate(array, Decoration::ArrayStride, &[4]);
    let holder = emitter.own_type(Op::TypeStruct, &[array]);
    emitter.decorate(holder, Decoration::Block, &[]);
    emitter.decorate_member(holder, 0, Decoration::Offset, &[0]);
    let pointer = emitter.pointer(StorageClass::StorageBuffer, holder);
    let variable = emitter.variable(pointer, StorageClass::StorageBuffer);
    emitter.decorate(variable, Decoration::DescriptorSet, &[set]);
    emitter.decorate(variable, Decoration::Binding, &[binding]);
    variable
}

/// Values of an output that are captured; nested arrays could multiply without end.
const MAX_LEAVES: usize = 1024;

/// A scalar or vector in an output.
struct Leaf {
    variable: u32,
    path: Vec<u32>,
    ty: u32,
    width: u32,
    count: u32,
}

fn collect(
    shape: &Shape,
    variable: u32,
    path: &mut Vec<u32>,
    leaves: &mut Vec<Leaf>,
) -> Result<(), Declined> {
    match shape {
        &Shape::Vector {
            ty,
            width: width @ (32 | 64),
            count,
            ..
        } => {
            if leaves.len() >= MAX_LEAVES {
                return Err(Declined::TooManyLocations {
                    limit: MAX_LEAVES as u32,
                });
            }
            leaves.push(Leaf {
                variable,
                path: path.clone(),
                ty,
                width,
                count,
            });
            Ok(())
        }
        &Shape::Vector { ty, .. } => Err(Declined::InputType { ty }),
        Shape::Matrix {
            column: inner,
            columns: count,
        }
        | Shape::Array {
            element: inner,
            length: Length::Known(count),
        } => (0..*count).try_for_each(|index| {
            path.push(index);
            let result = collect(inner, variable, path, leaves);
            path.pop();
            result
        }),
        Shape::Array { .. } => Err(Declined::LocationAfterSpecialised),
        Shape::Struct { members } => (0..).zip(members).try_for_each(|(index, (member, _))| {
            path.push(index);
            let result = collect(member, variable, path, leaves);
            path.pop();
            result
        }),
    }
}

struct Writer<'a> {
    emitter: &'a mut Emitter,
    code: &'a mut Code,
    buffer: u32,
}

impl Writer<'_> {
    fn op(&mut self, op: Op, ty: u32, operands: &[u32]) -> u32 {
        self.code.op(self.emitter, op, ty, operands)
    }

    fn write(&mut self, indices: [(u32, u32); 2], leaves: &[Leaf], vertices: u32, words: u32) {
        let uint = self.emitter.uint();
        let [vertex, instance] = indices.map(|(variable, ty)| {
            let value = self.op(Op::Load, ty, &[variable]);
            if ty == uint {
                value
            } else {
                self.op(Op::Bitcast, uint, &[value])
            }
        });
        let (vertices, size) = (
            self.emitter.constant(vertices),
            self.emitter.constant(words),
        );
        let place = self.op(Op::IMul, uint, &[instance, vertices]);
        let place = self.op(Op::IAdd, uint, &[place, vertex]);
        let place = self.op(Op::IMul, uint, &[place, size]);
        let mut at = 0;
        for leaf in leaves {
            let mut pointer = leaf.variable;
            if !leaf.path.is_empty() {
                let pointer_ty = self.emitter.pointer(StorageClass::Output, leaf.ty);
                let mut operands = vec![leaf.variable];
                operands.extend(leaf.path.iter().map(|&index| self.emitter.constant(index)));
                pointer = self.op(Op::AccessChain, pointer_ty, &operands);
            }
            let value = self.op(Op::Load, leaf.ty, &[pointer]);
            let scalar_ty = self.emitter.component_type(leaf.ty).unwrap_or(leaf.ty);
            for component in 0..leaf.count {
                let scalar = match leaf.count {
                    1 => value,
                    _ => self.op(Op::CompositeExtract, scalar_ty, &[value, component]),
                };
                for word in self.words(scalar, scalar_ty, leaf.width) {
                    self.store(place, at, word);
                    at += 1;
                }
            }
        }
        self.code.emit(Op::Return, &[]);
        self.code.emit(Op::FunctionEnd, &[]);
    }

    fn words(&mut self, scalar: u32, ty: u32, width: u32) -> Vec<u32> {
        let uint = self.emitter.uint();
        if width == 32 {
            return vec![if ty == uint {
                scalar
            } else {
                self.op(Op::Bitcast, uint, &[scalar])
            }];
        }
        let uint2 = self.emitter.vector(uint, 2);
        let pair = self.op(Op::Bitcast, uint2, &[scalar]);
        (0..2)
            .map(|index| self.op(Op::CompositeExtract, uint, &[pair, index]))
            .collect()
    }

    fn store(&mut self, place: u32, offset: u32, word: u32) {
        let uint = self.emitter.uint();
        let (zero, offset) = (self.emitter.constant(0), self.emitter.constant(offset));
        let at = self.op(Op::IAdd, uint, &[place, offset]);
        let pointer_ty = self.emitter.pointer(StorageClass::StorageBuffer, uint);
        let pointer = self.op(Op::AccessChain, pointer_ty, &[self.buffer, zero, at]);
        self.code.emit(Op::Store, &[pointer, word]);
    }
}
