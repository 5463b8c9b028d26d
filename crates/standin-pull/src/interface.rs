//! What a vertex entry point reads: its located inputs, with every location, component and type.

use std::collections::{HashMap, HashSet};

use spirv::{BuiltIn, Decoration, ExecutionModel, Op, StorageClass};

use crate::Declined;
use crate::module::{Instruction, Module, literal_string};

/// A type declaration, as far as inputs and resources need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int { width: u32, signed: bool },
    Float { width: u32 },
    Vector { component: u32, count: u32 },
    Matrix { column: u32, count: u32 },
    Array { element: u32, length: u32 },
    Struct { members: Vec<u32> },
    Pointer { class: u32, pointee: u32 },
}

/// A decoration of an id or of a structure's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decorated {
    pub(crate) member: Option<u32>,
    pub(crate) decoration: u32,
    pub(crate) operand: u32,
}

/// A global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) id: u32,
    pub(crate) pointer: u32,
    pub(crate) pointee: u32,
    pub(crate) class: u32,
}

/// The entry point that is rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) function: u32,
    pub(crate) name: String,
    pub(crate) interface: Vec<u32>,
    /// Its index in the module's instructions.
    pub(crate) at: usize,
}

/// The declarations of a module that matter here.
#[derive(Debug)]
pub(crate) struct Declarations {
    pub(crate) types: HashMap<u32, Type>,
    pub(crate) constants: HashMap<u32, u32>,
    /// Specialisation constants with their types.
    pub(crate) specialised: HashMap<u32, u32>,
    pub(crate) decorations: HashMap<u32, Vec<Decorated>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) capabilities: HashSet<u32>,
}

impl Declarations {
    pub(crate) fn new(module: &Module<'_>) -> Self {
        let mut found = Self {
            types: HashMap::new(),
            constants: HashMap::new(),
            specialised: HashMap::new(),
            decorations: HashMap::new(),
            variables: Vec::new(),
            capabilities: HashSet::new(),
        };
        for instruction in &module.instructions[..module.first_function()] {
            found.take(instruction);
        }
        found
    }

    fn take(&mut self, instruction: &Instruction<'_>) {
        let operand = |index| instruction.operand(index);
        let Some(op) = Op::from_u32(u32::from(instruction.opcode)) else {
            return;
        };
        match op {
            Op::Capability => {
                self.capabilities.insert(operand(0));
            }
            Op::Decorate => self.decorate(operand(0), None, operand(1), operand(2)),
            Op::MemberDecorate => {
                self.decorate(operand(0), Some(operand(1)), operand(2), operand(3))
            }
            Op::GroupDecorate => {
                let group = self
                    .decorations
                    .get(&operand(0))
                    .cloned()
                    .unwrap_or_default();
                for &target in instruction.operands.iter().skip(1) {
                    self.decorations.entry(target).or_default().extend(&group);
                }
            }
            Op::GroupMemberDecorate => {
                let group = self
                    .decorations
                    .get(&operand(0))
                    .cloned()
                    .unwrap_or_default();
                for target in
                    instruction.operands[1.min(instruction.operands.len())..].chunks_exact(2)
                {
                    let members = group.iter().map(|decorated| Decorated {
                        member: Some(target[1]),
                        ..*decorated
                    });
                    self.decorations
                        .entry(target[0])
                        .or_default()
                        .extend(members);
                }
            }
            Op::TypeInt => self.declare(
                operand(0),
                Type::Int {
                    width: operand(1),
                    signed: operand(2) != 0,
                },
            ),
            // A third operand is another encoding than IEEE's.
            Op::TypeFloat if instruction.operands.len() == 2 => {
                self.declare(operand(0), Type::Float { width: operand(1) });
            }
            Op::TypeVector => self.declare(
                operand(0),
                Type::Vector {
                    component: operand(1),
                    count: operand(2),
                },
            ),
            Op::TypeMatrix => self.declare(
                operand(0),
                Type::Matrix {
                    column: operand(1),
                    count: operand(2),
                },
            ),
            Op::TypeArray => self.declare(
                operand(0),
                Type::Array {
                    element: operand(1),
                    length: operand(2),
                },
            ),
            Op::TypeStruct => {
                let members = instruction.operands.iter().skip(1).copied().collect();
                self.declare(operand(0), Type::Struct { members });
            }
            Op::TypePointer => self.declare(
                operand(0),
                Type::Pointer {
                    class: operand(1),
                    pointee: operand(2),
                },
            ),
            Op::Constant => {
                self.constants.insert(operand(1), operand(2));
            }
            Op::SpecConstant | Op::SpecConstantOp => {
                self.specialised.insert(operand(1), operand(0));
            }
            Op::Variable => {
                let pointer = operand(0);
                if let Some(&Type::Pointer { pointee, .. }) = self.types.get(&pointer) {
                    self.variables.push(Variable {
                        id: operand(1),
                        pointer,
                        pointee,
                        class: operand(2),
                    });
                }
            }
            _ => {}
        }
    }

    fn declare(&mut self, id: u32, ty: Type) {
        self.types.insert(id, ty);
    }

    fn decorate(&mut self, target: u32, member: Option<u32>, decoration: u32, operand: u32) {
        self.decorations.entry(target).or_default().push(Decorated {
            member,
            decoration,
            operand,
        });
    }

    /// The first operand of a decoration of an id (`member` none) or of a member.
    pub(crate) fn decoration(
        &self,
        id: u32,
        member: Option<u32>,
        decoration: Decoration,
    ) -> Option<u32> {
        let all = self.decorations.get(&id)?;
        all.iter()
            .find(|d| d.member == member && d.decoration == decoration as u32)
            .map(|d| d.operand)
    }

    /// Whether any member of the structure behind `ty` carries the decoration.
    pub(crate) fn member_decoration(
        &self,
        ty: u32,
        decoration: Decoration,
        value: Option<u32>,
    ) -> Option<u32> {
        let all = self.decorations.get(&self.inner_type(ty))?;
        let matches = |d: &&Decorated| {
            d.decoration == decoration as u32 && value.is_none_or(|value| value == d.operand)
        };
        all.iter().filter(matches).find_map(|d| d.member)
    }

    /// The element type under all arrays.
    pub(crate) fn inner_type(&self, mut ty: u32) -> u32 {
        // An array cannot contain itself, but a damaged module may say so.
        for _ in 0..MAX_DEPTH {
            match self.types.get(&ty) {
                Some(&Type::Array { element, .. }) => ty = element,
                _ => break,
            }
        }
        ty
    }

    pub(crate) fn variable(&self, id: u32) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.id == id)
    }
}

/// Types nested deeper are declined.
const MAX_DEPTH: u32 = 16;
/// Types with more parts are declined: a damaged module can name one type many times at each level.
const MAX_NODES: u32 = 512;
/// Locations that a layout block can have; devices offer 16 to 32.
pub(crate) const MAX_LOCATIONS: u32 = 32;
/// Elements of arrays that are filled one by one.
const MAX_LEAVES: u32 = 4 * MAX_LOCATIONS;

/// The component type of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    /// A float of 16, 32 or 64 bits.
    Float,
    /// A signed integer.
    Sint,
    /// An unsigned integer.
    Uint,
}

/// How many elements an array has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Known(u32),
    /// Decided by a specialisation constant of this 32-bit integer type.
    Specialised {
        constant: u32,
        ty: u32,
    },
}

/// An input's type with the places of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Vector {
        ty: u32,
        scalar: Scalar,
        width: u32,
        count: u32,
        component: u32,
    },
    Matrix {
        column: Box<Shape>,
        columns: u32,
    },
    Array {
        element: Box<Shape>,
        length: Length,
    },
    /// Members with their locations where they have their own.
    Struct {
        members: Vec<(Shape, Option<u32>)>,
    },
}

impl Shape {
    /// Locations taken; `None` where a specialisation constant decides.
    pub(crate) fn locations(&self) -> Option<u32> {
        match self {
            Self::Vector { width, count, .. } => Some(1 + u32::from(*width == 64 && *count > 2)),
            Self::Matrix {
                column, columns, ..
            } => column.locations()?.checked_mul(*columns),
            Self::Array {
                element,
                length: Length::Known(length),
                ..
            } => element.locations()?.checked_mul(*length),
            Self::Array {
                length: Length::Specialised { .. },
                ..
            } => None,
            Self::Struct { members } => members
                .iter()
                .try_fold(0_u32, |sum, (shape, _)| sum.checked_add(shape.locations()?)),
        }
    }

    fn leaf(&self) -> Option<(Scalar, u32, u32, u32)> {
        match self {
            Self::Vector {
                scalar,
                width,
                count,
                component,
                ..
            } => Some((*scalar, *width, *count, *component)),
            Self::Matrix { column: inner, .. } | Self::Array { element: inner, .. } => inner.leaf(),
            Self::Struct { .. } => None,
        }
    }

    fn has_width(&self, wanted: u32) -> bool {
        match self {
            Self::Vector { width, .. } => *width == wanted,
            Self::Matrix { column: inner, .. } | Self::Array { element: inner, .. } => {
                inner.has_width(wanted)
            }
            Self::Struct { members } => members.iter().any(|(shape, _)| shape.has_width(wanted)),
        }
    }
}

/// A located input variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InputVariable {
    pub(crate) id: u32,
    pub(crate) pointee: u32,
    pub(crate) location: u32,
    pub(crate) shape: Shape,
    pub(crate) used: bool,
}

impl InputVariable {
    pub(crate) fn has_width(&self, width: u32) -> bool {
        self.shape.has_width(width)
    }
}

/// One run of locations that a shader reads, as a vertex layout must feed it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Input {
    /// First location.
    pub location: u32,
    /// Locations taken; `None` where a specialisation constant decides.
    pub locations: Option<u32>,
    /// First component.
    pub component: u32,
    /// Component type.
    pub scalar: Scalar,
    /// Bits of a component.
    pub width: u32,
    /// Components of each location's value, or of each two locations' where they are three or four of 64 bits.
    pub components: u32,
    /// Whether the entry point can read it.
    pub used: bool,
}

/// Finds the vertex entry point: the one called `name`, or the only one.
pub(crate) fn entry_point(module: &Module<'_>, name: Option<&str>) -> Result<Entry, Declined> {
    let mut found = None;
    let mut others = Vec::new();
    for (at, instruction) in module.instructions.iter().enumerate() {
        if !instruction.is(Op::EntryPoint) {
            continue;
        }
        let (entry_name, words) = literal_string(instruction.operands.get(2..).unwrap_or_default());
        let vertex = instruction.operand(0) == ExecutionModel::Vertex as u32;
        if !vertex || name.is_some_and(|name| name != entry_name) {
            continue;
        }
        others.push(entry_name.clone());
        let interface = instruction
            .operands
            .get(2 + words..)
            .unwrap_or_default()
            .to_vec();
        found = Some(Entry {
            function: instruction.operand(1),
            name: entry_name,
            interface,
            at,
        });
    }
    if others.len() > 1 {
        return Err(Declined::AmbiguousEntry { names: others });
    }
    found.ok_or_else(|| Declined::NoEntry {
        name: name.map(str::to_owned),
    })
}

/// The functions that `entry` can reach, and every word in them: a superset of the ids that they use.
pub(crate) fn words_in_reach(module: &Module<'_>, entry: u32) -> HashSet<u32> {
    let mut bodies: HashMap<u32, &[Instruction<'_>]> = HashMap::new();
    let functions = &module.instructions[module.first_function()..];
    for body in functions.split_inclusive(|instruction| instruction.is(Op::FunctionEnd)) {
        if let Some(start) = body
            .iter()
            .position(|instruction| instruction.is(Op::Function))
        {
            bodies.insert(body[start].operand(1), &body[start..]);
        }
    }
    let mut words = HashSet::new();
    let (mut open, mut seen) = (vec![entry], HashSet::from([entry]));
    while let Some(function) = open.pop() {
        for instruction in bodies.get(&function).copied().unwrap_or_default() {
            words.extend(instruction.operands);
            if instruction.is(Op::FunctionCall) && seen.insert(instruction.operand(2)) {
                open.push(instruction.operand(2));
            }
        }
    }
    words
}

/// The located inputs of `entry`, each with its shape.
pub(crate) fn located_inputs(
    module: &Module<'_>,
    declarations: &Declarations,
    entry: &Entry,
) -> Result<Vec<InputVariable>, Declined> {
    let used = words_in_reach(module, entry.function);
    let mut inputs: Vec<InputVariable> = Vec::new();
    for &id in &entry.interface {
        let Some(variable) = declarations.variable(id) else {
            continue;
        };
        if variable.class != StorageClass::Input as u32 || inputs.iter().any(|input| input.id == id)
        {
            continue;
        }
        let built_in = declarations
            .decoration(id, None, Decoration::BuiltIn)
            .is_some()
            || declarations
                .member_decoration(variable.pointee, Decoration::BuiltIn, None)
                .is_some();
        if built_in {
            continue;
        }
        let location = declarations.decoration(id, None, Decoration::Location);
        let component = declarations
            .decoration(id, None, Decoration::Component)
            .unwrap_or(0);
        let shape = shape(declarations, variable.pointee, component, MAX_DEPTH, &mut {
            MAX_NODES
        })?;
        let located = match &shape {
            Shape::Struct { members } => {
                location.is_some() || members.iter().all(|(.., own)| own.is_some())
            }
            _ => location.is_some(),
        };
        if !located {
            return Err(Declined::InputWithoutLocation { variable: id });
        }
        let input = InputVariable {
            id,
            pointee: variable.pointee,
            location: location.unwrap_or(0),
            shape,
            used: used.contains(&id),
        };
        let mut leaves = 0;
        visit(&input.shape, input.location, input.used, &mut |_| {
            leaves += 1
        })?;
        if leaves > MAX_LEAVES {
            return Err(Declined::TooManyLocations {
                limit: MAX_LOCATIONS,
            });
        }
        inputs.push(input);
    }
    Ok(inputs)
}

/// The shape of a type, whose scalars and vectors start at `component`.
fn shape(
    declarations: &Declarations,
    ty: u32,
    component: u32,
    depth: u32,
    nodes: &mut u32,
) -> Result<Shape, Declined> {
    let unsupported = || Declined::InputType { ty };
    *nodes = nodes.saturating_sub(1);
    if depth == 0 || *nodes == 0 || component > 3 {
        return Err(unsupported());
    }
    match declarations.types.get(&ty).ok_or_else(unsupported)? {
        &Type::Int {
            width: width @ (16 | 32 | 64),
            signed,
        } => Ok(Shape::Vector {
            ty,
            scalar: if signed { Scalar::Sint } else { Scalar::Uint },
            width,
            count: 1,
            component,
        }),
        &Type::Float {
            width: width @ (16 | 32 | 64),
        } => Ok(Shape::Vector {
            ty,
            scalar: Scalar::Float,
            width,
            count: 1,
            component,
        }),
        &Type::Vector {
            component: inner,
            count: count @ 2..=4,
        } => match shape(declarations, inner, component, 1, nodes)? {
            Shape::Vector {
                scalar,
                width,
                count: 1,
                ..
            } => {
                let slots = if width == 64 { 2 * count } else { count };
                if component > 0 && component + slots > 4 {
                    return Err(unsupported());
                }
                Ok(Shape::Vector {
                    ty,
                    scalar,
                    width,
                    count,
                    component,
                })
            }
            _ => Err(unsupported()),
        },
        &Type::Matrix {
            column: column_ty,
            count: columns @ 2..=4,
        } => {
            let column = Box::new(shape(declarations, column_ty, component, depth - 1, nodes)?);
            Ok(Shape::Matrix { column, columns })
        }
        &Type::Array {
            element: element_ty,
            length,
        } => {
            let element = Box::new(shape(
                declarations,
                element_ty,
                component,
                depth - 1,
                nodes,
            )?);
            let length = match declarations.constants.get(&length) {
                Some(&known @ 1..=MAX_LOCATIONS) => Length::Known(known),
                Some(_) => {
                    return Err(Declined::TooManyLocations {
                        limit: MAX_LOCATIONS,
                    });
                }
                None => {
                    let ty = declarations
                        .specialised
                        .get(&length)
                        .copied()
                        .ok_or_else(unsupported)?;
                    if !matches!(
                        declarations.types.get(&ty),
                        Some(Type::Int { width: 32, .. })
                    ) {
                        return Err(unsupported());
                    }
                    Length::Specialised {
                        constant: length,
                        ty,
                    }
                }
            };
            Ok(Shape::Array { element, length })
        }
        Type::Struct { members } if (1..=MAX_LOCATIONS as usize).contains(&members.len()) => {
            let members = (0..).zip(members).map(|(index, &member)| {
                // Only the members of a block, which is the outermost type, have locations of their own.
                let location = declarations.decoration(ty, Some(index), Decoration::Location);
                let location = location.filter(|_| depth == MAX_DEPTH);
                let component = declarations
                    .decoration(ty, Some(index), Decoration::Component)
                    .unwrap_or(0);
                Ok((
                    shape(declarations, member, component, depth - 1, nodes)?,
                    location,
                ))
            });
            Ok(Shape::Struct {
                members: members.collect::<Result<_, Declined>>()?,
            })
        }
        _ => Err(unsupported()),
    }
}

/// The shape of an output's type.
pub(crate) fn output_shape(declarations: &Declarations, ty: u32) -> Result<Shape, Declined> {
    shape(declarations, ty, 0, MAX_DEPTH, &mut { MAX_NODES })
}

/// Calls `each` with every run of locations in `shape`, and returns the location after it where that is known.
pub(crate) fn visit(
    shape: &Shape,
    location: u32,
    used: bool,
    each: &mut impl FnMut(Input),
) -> Result<Option<u32>, Declined> {
    let too_many = Declined::TooManyLocations {
        limit: MAX_LOCATIONS,
    };
    if let Some((scalar, width, components, component)) = shape.leaf() {
        let locations = shape.locations();
        if location >= MAX_LOCATIONS
            || locations.is_some_and(|count| count > MAX_LOCATIONS - location)
        {
            return Err(too_many);
        }
        each(Input {
            location,
            locations,
            component,
            scalar,
            width,
            components,
            used,
        });
        return Ok(locations.map(|count| location + count));
    }
    match shape {
        Shape::Struct { members } => {
            let mut next = Some(location);
            for (member, own) in members {
                let Some(start) = own.or(next) else {
                    return Err(Declined::LocationAfterSpecialised);
                };
                next = visit(member, start, used, each)?;
            }
            Ok(next)
        }
        Shape::Array {
            element,
            length: Length::Known(length),
            ..
        } => {
            let mut next = Some(location);
            for _ in 0..*length {
                let Some(start) = next else {
                    return Err(Declined::LocationAfterSpecialised);
                };
                next = visit(element, start, used, each)?;
            }
            Ok(next)
        }
        // An array of structures whose length is not known: its first element stands for all.
        Shape::Array { element, .. } => visit(element, location, used, each).map(|_| None),
        _ => Ok(None),
    }
}

/// The variable of `entry`'s interface that is this built-in.
pub(crate) fn built_in(
    declarations: &Declarations,
    entry: &Entry,
    class: StorageClass,
    what: BuiltIn,
) -> Option<u32> {
    entry.interface.iter().copied().find(|&id| {
        declarations
            .variable(id)
            .is_some_and(|variable| variable.class == class as u32)
            && declarations.decoration(id, None, Decoration::BuiltIn) == Some(what as u32)
    })
}
