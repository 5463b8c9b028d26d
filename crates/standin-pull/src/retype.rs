//! Which pointers of a module follow the located inputs from storage class `Input` to `Private`.
//!
//! Pointers to inputs spread by access chains, copies and function parameters. Everything that is connected in that
//! way must change together; a built-in that reaches a function's parameter which a located input also reaches
//! becomes a private copy of itself.

use std::collections::{HashMap, HashSet};

use spirv::{Op, StorageClass};

use crate::Declined;
use crate::interface::{Declarations, Type};
use crate::module::Module;

/// The pointers that change, by id.
#[derive(Debug, Default)]
pub(crate) struct Retyped {
    /// Variables, parameters and the results of access chains and copies.
    pub(crate) pointers: HashSet<u32>,
    /// The pointer types in use among them.
    pub(crate) types: HashSet<u32>,
    /// Functions with such parameters: for each, which ones.
    pub(crate) functions: HashMap<u32, Vec<bool>>,
}

/// Sets of connected pointers.
#[derive(Default)]
struct Sets {
    parents: HashMap<u32, u32>,
}

impl Sets {
    fn root(&mut self, id: u32) -> u32 {
        let mut root = id;
        while let Some(&parent) = self.parents.get(&root).filter(|&&parent| parent != root) {
            root = parent;
        }
        self.parents.insert(id, root);
        root
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents.insert(a, b);
    }
}

/// Follows `located`, the located input variables, through the whole module.
pub(crate) fn retyped(
    module: &Module<'_>,
    declarations: &Declarations,
    located: &[u32],
) -> Result<Retyped, Declined> {
    let input_types: HashSet<u32> = declarations
        .types
        .iter()
        .filter(|(_, ty)| matches!(ty, Type::Pointer { class, .. } if *class == StorageClass::Input as u32))
        .map(|(&id, _)| id)
        .collect();
    let body = &module.instructions[module.first_function()..];
    // Every pointer of storage class Input, with its type.
    let mut pointers: HashMap<u32, u32> = declarations
        .variables
        .iter()
        .filter(|variable| variable.class == StorageClass::Input as u32)
        .map(|variable| (variable.id, variable.pointer))
        .collect();
    let mut parameters: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut function = 0;
    for instruction in body {
        let (ty, result) = (instruction.operand(0), instruction.operand(1));
        match Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::Function) => function = result,
            Some(Op::FunctionParameter) => {
                parameters.entry(function).or_default().push(result);
                if input_types.contains(&ty) {
                    pointers.insert(result, ty);
                }
            }
            Some(Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject)
                if input_types.contains(&ty) =>
            {
                pointers.insert(result, ty);
            }
            _ if input_types.contains(&ty) && instruction.operands.len() > 1 => {
                return Err(Declined::PointerUse {
                    opcode: instruction.opcode,
                });
            }
            _ => {}
        }
    }

    let mut sets = Sets::default();
    for instruction in body {
        match Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject) => {
                let (result, base) = (instruction.operand(1), instruction.operand(2));
                if pointers.contains_key(&result) && pointers.contains_key(&base) {
                    sets.join(result, base);
                }
            }
            Some(Op::FunctionCall) => {
                let called = parameters
                    .get(&instruction.operand(2))
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                for (&argument, &parameter) in instruction.operands.iter().skip(3).zip(called) {
                    if pointers.contains_key(&argument) && pointers.contains_key(&parameter) {
                        sets.join(argument, parameter);
                    }
                }
            }
            _ => {}
        }
    }
    let roots: HashSet<u32> = located.iter().map(|&id| sets.root(id)).collect();
    let mut found = Retyped::default();
    for (&id, &ty) in &pointers {
        if roots.contains(&sets.root(id)) {
            found.pointers.insert(id);
            found.types.insert(ty);
        }
    }
    for (function, parameters) in parameters {
        let changed: Vec<bool> = parameters
            .iter()
            .map(|id| found.pointers.contains(id))
            .collect();
        if changed.contains(&true) {
            found.functions.insert(function, changed);
        }
    }
    check_uses(module, &found.pointers)?;
    Ok(found)
}

/// Declines what reads an input in a way that only an input allows, or makes pointers in a way not followed here.
fn check_uses(module: &Module<'_>, pointers: &HashSet<u32>) -> Result<(), Declined> {
    /// GLSL.std.450's InterpolateAtCentroid, InterpolateAtSample and InterpolateAtOffset.
    const INTERPOLATE: std::ops::RangeInclusive<u32> = 76..=78;
    for instruction in &module.instructions[module.first_function()..] {
        let declined = Declined::PointerUse {
            opcode: instruction.opcode,
        };
        let uses = |range: std::ops::Range<usize>| {
            let operands = instruction.operands.get(range.start..).unwrap_or_default();
            operands
                .iter()
                .take(range.len())
                .any(|id| pointers.contains(id))
        };
        let bad = match Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::ExtInst) => INTERPOLATE.contains(&instruction.operand(3)) && uses(4..5),
            Some(Op::Select | Op::Phi | Op::PtrAccessChain | Op::InBoundsPtrAccessChain) => {
                uses(2..usize::MAX)
            }
            Some(Op::PtrEqual | Op::PtrNotEqual | Op::PtrDiff) => uses(2..4),
            Some(Op::Store | Op::ReturnValue) => uses(0..1),
            _ => false,
        };
        if bad {
            return Err(declined);
        }
    }
    Ok(())
}
