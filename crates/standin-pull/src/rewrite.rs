//! The rewrite: a vertex shader's located inputs become private variables that a prologue fills.

use std::collections::{HashMap, HashSet};

use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, Op, StorageClass};

use crate::Declined;
use crate::block::BlockShape;
use crate::emit::{Code, Emitter};
use crate::fetch::{self, Indices, Resources};
use crate::interface::{
    self, Declarations, Entry, Input, InputVariable, MAX_LOCATIONS, Type, entry_point,
    located_inputs,
};
use crate::module::{Instruction, Module, literal_string, string_words, write_instruction};
use crate::position::hold_position;
use crate::prologue::{self, CopiedBuiltIn};
use crate::retype::{Retyped, retyped};

/// Where a pulled shader finds its layout block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum BlockPlace {
    /// In a uniform buffer.
    Uniform {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
    },
    /// In a storage buffer.
    Storage {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
    },
    /// Its device address, a multiple of 16, lies in the push constants.
    PushConstant {
        /// Offset of the eight bytes, a multiple of 8.
        offset: u32,
    },
}

/// How a pulled shader reaches vertex data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DataPath {
    /// Streams are buffer device addresses.
    DeviceAddress,
    /// Stream n is element n of an array of storage buffers.
    StorageBuffers {
        /// Descriptor set.
        set: u32,
        /// Binding of the array.
        binding: u32,
    },
}

/// The stages that a pipeline has between the vertex shader and rasterisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaterStages {
    /// None.
    #[default]
    None,
    /// Tessellation, whatever else there is.
    Tessellation,
    /// A geometry shader.
    Geometry,
}

/// What a rewrite is asked for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Options {
    /// The entry point's name; needed where several are vertex shaders.
    pub entry: Option<String>,
    /// Where the layout block is.
    pub block: BlockPlace,
    /// How vertex data is reached.
    pub data: DataPath,
    /// Stream entries of the block, 1 to 32.
    pub streams: u32,
    /// What follows the vertex shader.
    pub later_stages: LaterStages,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            entry: None,
            block: BlockPlace::Uniform { set: 3, binding: 0 },
            data: DataPath::DeviceAddress,
            streams: 16,
            later_stages: LaterStages::None,
        }
    }
}

/// A pulled vertex shader and what a draw with it must supply.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Pulled {
    /// The module. It holds the one entry point that was asked for.
    #[serde(skip)]
    pub spirv: Vec<u32>,
    /// The entry point's name.
    pub entry: String,
    /// The layout block's shape.
    pub shape: BlockShape,
    /// Where it is.
    pub block: BlockPlace,
    /// How data is reached.
    pub data: DataPath,
    /// What was an input.
    pub inputs: Vec<Input>,
    /// Capabilities that the module did not declare before; the device must have them.
    pub added_capabilities: Vec<String>,
}

/// What a rewrite gives.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Rewritten {
    /// The shader reads no located input: it serves every layout as it is.
    NotNeeded,
    /// The pulled shader.
    Pulled(Pulled),
}

/// Rewrites the vertex shader in `spirv` so that it has no located inputs.
///
/// # Errors
/// [`Declined`] says why the shader is left alone.
pub fn rewrite(spirv: &[u32], options: &Options) -> Result<Rewritten, Declined> {
    let module = Module::parse(spirv)?;
    let declarations = Declarations::new(&module);
    let entry = entry_point(&module, options.entry.as_deref())?;
    match options.later_stages {
        LaterStages::None => {}
        LaterStages::Tessellation => return Err(Declined::LaterStage("tessellation")),
        LaterStages::Geometry => return Err(Declined::LaterStage("geometry")),
    }
    let inputs = located_inputs(&module, &declarations, &entry)?;
    if inputs.is_empty() {
        return Ok(Rewritten::NotNeeded);
    }
    check_entry(&module, &declarations, &entry)?;
    check_places(&declarations, options)?;
    let located: Vec<u32> = inputs.iter().map(|input| input.id).collect();
    let retyped = retyped(&module, &declarations, &located)?;
    Rewrite::new(&module, &declarations, &entry, options, retyped)?
        .run(&inputs)
        .map(Rewritten::Pulled)
}

/// Prepares the exact variant of a shader: the same decorations that a pulled one gets, so that both compute the same
/// positions.
///
/// # Errors
/// [`Declined`] where the module is malformed or has no such entry point.
pub fn hold_positions(spirv: &[u32], entry: Option<&str>) -> Result<Vec<u32>, Declined> {
    let module = Module::parse(spirv)?;
    let declarations = Declarations::new(&module);
    let entry = entry_point(&module, entry)?;
    let mut emitter = Emitter::new(&module);
    hold_position(&module, &declarations, &entry, &mut emitter);
    let (_, decorations_at) = insertion_points(&module);
    let mut words = module.header.to_vec();
    for (index, instruction) in module.instructions.iter().enumerate() {
        if index == decorations_at {
            words.extend(&emitter.decorations);
        }
        instruction.write_to(&mut words);
    }
    Ok(words)
}

fn check_entry(
    module: &Module<'_>,
    declarations: &Declarations,
    entry: &Entry,
) -> Result<(), Declined> {
    let feedback = module.instructions.iter().any(|instruction| {
        instruction.is(Op::ExecutionMode)
            && instruction.operand(0) == entry.function
            && instruction.operand(1) == ExecutionMode::Xfb as u32
    });
    if feedback {
        return Err(Declined::TransformFeedback);
    }
    for &id in &entry.interface {
        let Some(variable) = declarations
            .variable(id)
            .filter(|v| v.class == StorageClass::Output as u32)
        else {
            continue;
        };
        for (what, name) in [
            (BuiltIn::Layer, "Layer"),
            (BuiltIn::ViewportIndex, "ViewportIndex"),
            (BuiltIn::ViewportMaskNV, "ViewportMaskNV"),
            (BuiltIn::ViewportMaskPerViewNV, "ViewportMaskPerViewNV"),
            (BuiltIn::SecondaryViewportMaskNV, "SecondaryViewportMaskNV"),
        ] {
            let own = declarations.decoration(id, None, Decoration::BuiltIn) == Some(what as u32);
            if own
                || declarations
                    .member_decoration(variable.pointee, Decoration::BuiltIn, Some(what as u32))
                    .is_some()
            {
                return Err(Declined::LayerOrViewport(name));
            }
        }
    }
    let untyped = module.instructions[..module.first_function()]
        .iter()
        .any(|instruction| {
            instruction.is(Op::TypeUntypedPointerKHR)
                && instruction.operand(1) == StorageClass::Input as u32
        });
    if untyped {
        return Err(Declined::UntypedPointers);
    }
    Ok(())
}

fn check_places(declarations: &Declarations, options: &Options) -> Result<(), Declined> {
    let mut places = Vec::new();
    match options.block {
        BlockPlace::Uniform { set, binding } | BlockPlace::Storage { set, binding } => {
            places.push((set, binding))
        }
        BlockPlace::PushConstant { offset } => {
            let taken = |variable: &interface::Variable| {
                variable.class == StorageClass::PushConstant as u32
            };
            if !offset.is_multiple_of(8) || declarations.variables.iter().any(taken) {
                return Err(Declined::PlaceTaken(format!(
                    "push constant offset {offset}"
                )));
            }
        }
    }
    if let DataPath::StorageBuffers { set, binding } = options.data {
        places.push((set, binding));
    }
    if !(1..=32).contains(&options.streams) || places.len() == 2 && places[0] == places[1] {
        return Err(Declined::PlaceTaken(
            "the layout block's place or stream count".to_owned(),
        ));
    }
    for (set, binding) in places {
        let taken = declarations.variables.iter().any(|variable| {
            declarations.decoration(variable.id, None, Decoration::DescriptorSet) == Some(set)
                && declarations.decoration(variable.id, None, Decoration::Binding) == Some(binding)
        });
        if taken {
            return Err(Declined::PlaceTaken(format!(
                "set {set}, binding {binding}"
            )));
        }
    }
    Ok(())
}

/// The index before which the prologue is called: after the variables of the entry's first block.
pub(crate) fn call_place(module: &Module<'_>, entry: u32) -> Result<usize, Declined> {
    let instructions = &module.instructions;
    let no_body = Declined::malformed("the entry point has no body", 0);
    let function = instructions
        .iter()
        .position(|i| i.is(Op::Function) && i.operand(1) == entry)
        .ok_or_else(|| no_body.clone())?;
    let label = instructions[function..]
        .iter()
        .position(|i| i.is(Op::Label))
        .ok_or(no_body)?
        + function;
    let mut place = label + 1;
    for (index, instruction) in instructions.iter().enumerate().skip(label + 1) {
        match Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::Variable | Op::UntypedVariableKHR) => place = index + 1,
            Some(Op::Line | Op::NoLine | Op::ExtInst | Op::Nop) => {}
            _ => break,
        }
    }
    if place >= instructions.len() {
        return Err(Declined::malformed(
            "the entry point's first block does not end",
            0,
        ));
    }
    Ok(place)
}

/// Where names and decorations are inserted: after the last instruction that may precede them.
pub(crate) fn insertion_points(module: &Module<'_>) -> (usize, usize) {
    let (mut names, mut decorations) = (0, 0);
    for (index, instruction) in module.instructions[..module.first_function()]
        .iter()
        .enumerate()
    {
        match Op::from_u32(u32::from(instruction.opcode)) {
            Some(
                Op::Capability
                | Op::Extension
                | Op::ExtInstImport
                | Op::MemoryModel
                | Op::EntryPoint
                | Op::ExecutionMode
                | Op::ExecutionModeId
                | Op::String
                | Op::Source
                | Op::SourceExtension
                | Op::SourceContinued
                | Op::Name
                | Op::MemberName,
            ) => names = index + 1,
            Some(
                Op::ModuleProcessed
                | Op::Decorate
                | Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorate
                | Op::MemberDecorateString
                | Op::DecorationGroup
                | Op::GroupDecorate
                | Op::GroupMemberDecorate,
            ) => decorations = index + 1,
            _ => {}
        }
    }
    (names, decorations.max(names))
}

const GLSL: &str = "GLSL.std.450";
pub(crate) const VERSION_1_3: u32 = 0x0001_0300;
pub(crate) const VERSION_1_4: u32 = 0x0001_0400;
const VERSION_1_5: u32 = 0x0001_0500;

struct Rewrite<'a> {
    module: &'a Module<'a>,
    declarations: &'a Declarations,
    entry: &'a Entry,
    options: &'a Options,
    retyped: Retyped,
    emitter: Emitter,
    /// Private pointer types by input pointer type.
    twins: HashMap<u32, u32>,
    /// Input variables that become private.
    variables: HashSet<u32>,
    /// Structures that lose their interface decorations.
    structs: HashSet<u32>,
    capabilities: Vec<Capability>,
    extensions: Vec<&'static str>,
    /// The module's import of GLSL.std.450, or the id of the one that is added.
    glsl: Result<u32, u32>,
}

impl<'a> Rewrite<'a> {
    fn new(
        module: &'a Module<'a>,
        declarations: &'a Declarations,
        entry: &'a Entry,
        options: &'a Options,
        retyped: Retyped,
    ) -> Result<Self, Declined> {
        let mut emitter = Emitter::new(module);
        let twins = retyped.types.iter().map(|&ty| (ty, emitter.id())).collect();
        let imported = module.instructions.iter().find(|instruction| {
            instruction.is(Op::ExtInstImport)
                && literal_string(instruction.operands.get(1..).unwrap_or_default()).0 == GLSL
        });
        let glsl = imported.map_or_else(
            || Err(emitter.id()),
            |instruction| Ok(instruction.operand(0)),
        );
        let inputs = || {
            declarations
                .variables
                .iter()
                .filter(|v| v.class == StorageClass::Input as u32)
        };
        let variables: HashSet<u32> = inputs()
            .map(|variable| variable.id)
            .filter(|id| retyped.pointers.contains(id))
            .collect();
        let is_struct = |ty: &u32| matches!(declarations.types.get(ty), Some(Type::Struct { .. }));
        let structs: HashSet<u32> = inputs()
            .filter(|variable| variables.contains(&variable.id))
            .map(|variable| declarations.inner_type(variable.pointee))
            .filter(is_struct)
            .collect();
        for variable in declarations
            .variables
            .iter()
            .filter(|variable| !variables.contains(&variable.id))
        {
            let ty = declarations.inner_type(variable.pointee);
            if structs.contains(&ty) {
                return Err(Declined::SharedBlock { ty });
            }
        }
        Ok(Self {
            module,
            declarations,
            entry,
            options,
            retyped,
            emitter,
            twins,
            variables,
            structs,
            capabilities: Vec::new(),
            extensions: Vec::new(),
            glsl,
        })
    }

    fn run(mut self, inputs: &[InputVariable]) -> Result<Pulled, Declined> {
        hold_position(
            self.module,
            self.declarations,
            self.entry,
            &mut self.emitter,
        );
        let mut reported = Vec::new();
        for input in inputs {
            interface::visit(&input.shape, input.location, input.used, &mut |each| {
                reported.push(each)
            })?;
        }
        reported.sort_by_key(|input: &Input| (input.location, input.component));
        let end = |input: &Input| {
            input
                .locations
                .map_or(MAX_LOCATIONS, |count| input.location + count)
        };
        let shape = BlockShape {
            attributes: reported.iter().map(end).max().unwrap_or(0),
            streams: self.options.streams,
        };
        self.require(inputs);
        let (copies, indices, mut new_interface) = self.built_ins();
        let resources = self.resources(shape, &mut new_interface);
        let mut code = Code::default();
        let fetch = fetch::emit(
            &mut self.emitter,
            &mut code,
            shape,
            self.options.block,
            self.options.data,
            resources,
            indices,
        );
        let prologue = prologue::emit(
            &mut self.emitter,
            &mut code,
            fetch,
            resources.last_stream,
            inputs,
            &copies,
        );
        let spirv = self.assemble(&code, prologue, &new_interface)?;
        Ok(Pulled {
            spirv,
            entry: self.entry.name.clone(),
            shape,
            block: self.options.block,
            data: self.options.data,
            inputs: reported,
            added_capabilities: self
                .capabilities
                .iter()
                .map(|capability| format!("{capability:?}"))
                .collect(),
        })
    }

    fn uses_addresses(&self) -> bool {
        self.options.data == DataPath::DeviceAddress
            || matches!(self.options.block, BlockPlace::PushConstant { .. })
    }

    fn uses_storage_buffers(&self) -> bool {
        matches!(self.options.data, DataPath::StorageBuffers { .. })
            || matches!(self.options.block, BlockPlace::Storage { .. })
    }

    /// Notes the capabilities and extensions that the new code needs and the module lacks.
    fn require(&mut self, inputs: &[InputVariable]) {
        let mut capabilities = vec![Capability::DrawParameters];
        let mut extensions = vec![("SPV_KHR_shader_draw_parameters", VERSION_1_3)];
        if self.uses_addresses() {
            capabilities.push(Capability::PhysicalStorageBufferAddresses);
            extensions.push(("SPV_KHR_physical_storage_buffer", VERSION_1_5));
        }
        if self.uses_storage_buffers() || self.uses_addresses() {
            extensions.push(("SPV_KHR_storage_buffer_storage_class", VERSION_1_3));
        }
        if let DataPath::StorageBuffers { .. } = self.options.data {
            capabilities.push(Capability::StorageBufferArrayDynamicIndexing);
        }
        if inputs.iter().any(|input| input.has_width(16)) {
            // As inputs they needed 16-bit storage only.
            capabilities.extend([Capability::Float16, Capability::Int16]);
        }
        let has = |capability: &Capability| {
            self.declarations
                .capabilities
                .contains(&(*capability as u32))
        };
        self.capabilities = capabilities
            .into_iter()
            .filter(|capability| !has(capability))
            .collect();
        let present: HashSet<String> = self
            .module
            .instructions
            .iter()
            .filter(|instruction| instruction.is(Op::Extension))
            .map(|instruction| literal_string(instruction.operands).0)
            .collect();
        let version = self.module.version;
        let missing =
            |&(name, core): &(&'static str, u32)| version < core && !present.contains(name);
        self.extensions = extensions
            .into_iter()
            .filter(missing)
            .map(|(name, _)| name)
            .collect();
    }

    /// Copies of built-ins that turned private, the variables that addresses need, and what joins the interface.
    fn built_ins(&mut self) -> (Vec<CopiedBuiltIn>, Indices, Vec<u32>) {
        let mut copies: Vec<CopiedBuiltIn> = Vec::new();
        let mut joining = Vec::new();
        for &id in &self.entry.interface {
            let built_in = self.declarations.decoration(id, None, Decoration::BuiltIn);
            let (Some(built_in), Some(variable)) = (built_in, self.declarations.variable(id))
            else {
                continue;
            };
            if !self.variables.contains(&id) || copies.iter().any(|copy| copy.private == id) {
                continue;
            }
            let input = self.emitter.variable(variable.pointer, StorageClass::Input);
            write_instruction(
                &mut self.emitter.decorations,
                Op::Decorate as u16,
                &[input, Decoration::BuiltIn as u32, built_in],
            );
            joining.push(input);
            copies.push(CopiedBuiltIn {
                private: id,
                input,
                ty: variable.pointee,
            });
        }
        let mut index = |what: BuiltIn| {
            let existing =
                interface::built_in(self.declarations, self.entry, StorageClass::Input, what);
            if let Some(id) = existing {
                let ty = self
                    .declarations
                    .variable(id)
                    .map_or(0, |variable| variable.pointee);
                let copied = copies
                    .iter()
                    .find(|copy| copy.private == id)
                    .map(|copy| copy.input);
                return (copied.unwrap_or(id), ty);
            }
            let ty = self.emitter.int(32, true);
            let pointer = self.emitter.pointer(StorageClass::Input, ty);
            let id = self.emitter.variable(pointer, StorageClass::Input);
            self.emitter
                .decorate(id, Decoration::BuiltIn, &[what as u32]);
            joining.push(id);
            (id, ty)
        };
        let indices = Indices {
            vertex: index(BuiltIn::VertexIndex),
            instance: index(BuiltIn::InstanceIndex),
            base_instance: index(BuiltIn::BaseInstance),
        };
        (copies, indices, joining)
    }

    /// Declares the layout block and the data's types and variables.
    fn resources(&mut self, shape: BlockShape, new_interface: &mut Vec<u32>) -> Resources {
        let emitter = &mut self.emitter;
        let uint = emitter.uint();
        let uint4 = emitter.vector(uint, 4);
        let count = emitter.constant(shape.size() as u32 / 16);
        let words = emitter.own_type(Op::TypeArray, &[uint4, count]);
        emitter.decorate(words, Decoration::ArrayStride, &[16]);
        let block_struct = emitter.own_type(Op::TypeStruct, &[words]);
        emitter.decorate(block_struct, Decoration::Block, &[]);
        emitter.decorate_member(block_struct, 0, Decoration::Offset, &[0]);
        emitter.name(block_struct, "StandinLayout");
        let bound = |emitter: &mut Emitter, ty, class, set, binding| {
            let pointer = emitter.pointer(class, ty);
            let variable = emitter.variable(pointer, class);
            emitter.decorate(variable, Decoration::DescriptorSet, &[set]);
            emitter.decorate(variable, Decoration::Binding, &[binding]);
            variable
        };
        let block = match self.options.block {
            BlockPlace::Uniform { set, binding } => {
                bound(emitter, block_struct, StorageClass::Uniform, set, binding)
            }
            BlockPlace::Storage { set, binding } => {
                emitter.decorate_member(block_struct, 0, Decoration::NonWritable, &[]);
                bound(
                    emitter,
                    block_struct,
                    StorageClass::StorageBuffer,
                    set,
                    binding,
                )
            }
            BlockPlace::PushConstant { offset } => {
                let uint2 = emitter.vector(uint, 2);
                let holder = emitter.own_type(Op::TypeStruct, &[uint2]);
                emitter.decorate(holder, Decoration::Block, &[]);
                emitter.decorate_member(holder, 0, Decoration::Offset, &[offset]);
                let pointer = emitter.pointer(StorageClass::PushConstant, holder);
                emitter.variable(pointer, StorageClass::PushConstant)
            }
        };
        let private = emitter.pointer(StorageClass::Private, uint);
        let mut resources = Resources {
            block,
            block_struct,
            buffers: 0,
            data_struct: 0,
            last_stream: emitter.variable(private, StorageClass::Private),
            last_element: emitter.variable(private, StorageClass::Private),
            glsl: self.glsl.unwrap_or_else(|id| id),
        };
        let array = match self.options.data {
            // An element of 16 bytes touches at most five words.
            DataPath::DeviceAddress => {
                let five = emitter.constant(5);
                emitter.own_type(Op::TypeArray, &[uint, five])
            }
            DataPath::StorageBuffers { .. } => emitter.own_type(Op::TypeRuntimeArray, &[uint]),
        };
        emitter.decorate(array, Decoration::ArrayStride, &[4]);
        resources.data_struct = emitter.own_type(Op::TypeStruct, &[array]);
        emitter.decorate(resources.data_struct, Decoration::Block, &[]);
        emitter.decorate_member(resources.data_struct, 0, Decoration::Offset, &[0]);
        emitter.decorate_member(resources.data_struct, 0, Decoration::NonWritable, &[]);
        emitter.name(resources.data_struct, "StandinData");
        if let DataPath::StorageBuffers { set, binding } = self.options.data {
            let streams = emitter.constant(shape.streams);
            let buffers = emitter.own_type(Op::TypeArray, &[resources.data_struct, streams]);
            resources.buffers = bound(emitter, buffers, StorageClass::StorageBuffer, set, binding);
        }
        if self.module.version >= VERSION_1_4 {
            new_interface.extend([
                resources.block,
                resources.last_stream,
                resources.last_element,
            ]);
            new_interface.extend(Some(resources.buffers).filter(|&buffers| buffers != 0));
        }
        resources
    }

    /// Puts the new module together.
    fn assemble(
        &mut self,
        code: &Code,
        prologue: u32,
        new_interface: &[u32],
    ) -> Result<Vec<u32>, Declined> {
        let module = self.module;
        let function_types = self.function_types();
        let (names_at, decorations_at) = insertion_points(module);
        let first_function = module.first_function();
        let after_capabilities = module
            .instructions
            .iter()
            .position(|i| !i.is(Op::Capability))
            .unwrap_or(module.instructions.len());
        let after_extensions = module
            .instructions
            .iter()
            .position(|i| !i.is(Op::Capability) && !i.is(Op::Extension))
            .unwrap_or(module.instructions.len());
        let call_at = call_place(module, self.entry.function)?;
        let void = self.emitter.void();
        self.emitter.check_bound()?;
        let mut words = module.header.to_vec();
        words[3] = self.emitter.bound();
        for (index, instruction) in module.instructions.iter().enumerate() {
            if index == after_capabilities {
                for &capability in &self.capabilities {
                    write_instruction(&mut words, Op::Capability as u16, &[capability as u32]);
                }
                for extension in &self.extensions {
                    write_instruction(&mut words, Op::Extension as u16, &string_words(extension));
                }
            }
            if index == after_extensions
                && let Err(id) = self.glsl
            {
                let mut import = vec![id];
                import.extend(string_words(GLSL));
                write_instruction(&mut words, Op::ExtInstImport as u16, &import);
            }
            if index == names_at {
                words.extend(&self.emitter.names);
            }
            if index == decorations_at {
                words.extend(&self.emitter.decorations);
            }
            if index == first_function {
                words.extend(&self.emitter.declarations);
            }
            if index == call_at {
                let call = self.emitter.bound();
                words[3] = call + 1;
                write_instruction(&mut words, Op::FunctionCall as u16, &[void, call, prologue]);
            }
            self.copy(
                index,
                instruction,
                &function_types,
                new_interface,
                &mut words,
            )?;
        }
        words.extend(&code.words);
        Ok(words)
    }

    /// The types of functions whose parameters change, by function.
    fn function_types(&mut self) -> HashMap<u32, u32> {
        let signatures: HashMap<u32, &[u32]> = self.module.instructions
            [..self.module.first_function()]
            .iter()
            .filter(|instruction| instruction.is(Op::TypeFunction))
            .filter_map(|instruction| {
                instruction
                    .operands
                    .split_first()
                    .map(|(&id, signature)| (id, signature))
            })
            .collect();
        let mut types = HashMap::new();
        for instruction in self
            .module
            .instructions
            .iter()
            .filter(|instruction| instruction.is(Op::Function))
        {
            let function = instruction.operand(1);
            let Some(changed) = self.retyped.functions.get(&function) else {
                continue;
            };
            let mut signature = signatures
                .get(&instruction.operand(3))
                .copied()
                .unwrap_or_default()
                .to_vec();
            for (ty, changed) in signature.iter_mut().skip(1).zip(changed) {
                if *changed && let Some(&twin) = self.twins.get(ty) {
                    *ty = twin;
                }
            }
            types.insert(function, self.emitter.function_type(&signature));
        }
        types
    }

    /// Copies one instruction of the module, changed where it must be.
    fn copy(
        &self,
        index: usize,
        instruction: &Instruction<'_>,
        function_types: &HashMap<u32, u32>,
        new_interface: &[u32],
        words: &mut Vec<u32>,
    ) -> Result<(), Declined> {
        let mut operands = instruction.operands.to_vec();
        let target = instruction.operand(0);
        match Op::from_u32(u32::from(instruction.opcode)) {
            Some(Op::MemoryModel) if self.uses_addresses() => {
                const LOGICAL: u32 = spirv::AddressingModel::Logical as u32;
                const PHYSICAL: u32 = spirv::AddressingModel::PhysicalStorageBuffer64 as u32;
                match target {
                    LOGICAL | PHYSICAL if !operands.is_empty() => operands[0] = PHYSICAL,
                    other => return Err(Declined::AddressingModel(other)),
                }
            }
            Some(Op::EntryPoint) => {
                if index != self.entry.at {
                    return Ok(());
                }
                let kept = operands.len() - self.entry.interface.len();
                let private =
                    |id: &u32| self.variables.contains(id) && self.module.version < VERSION_1_4;
                operands.truncate(kept);
                operands.extend(self.entry.interface.iter().filter(|id| !private(id)));
                operands.extend(new_interface);
                if operands.len() > 0xfffe {
                    return Err(Declined::malformed(
                        "the entry point's interface is too long",
                        0,
                    ));
                }
            }
            Some(Op::ExecutionMode | Op::ExecutionModeId) if target != self.entry.function => {
                return Ok(());
            }
            Some(Op::Decorate) => {
                let variable = self.variables.contains(&target)
                    && is_interface_decoration(instruction.operand(1));
                let block = self.structs.contains(&target)
                    && instruction.operand(1) == Decoration::Block as u32;
                if variable || block {
                    return Ok(());
                }
            }
            Some(Op::MemberDecorate)
                if self.structs.contains(&target)
                    && is_interface_decoration(instruction.operand(2)) =>
            {
                return Ok(());
            }
            Some(Op::GroupDecorate) => {
                let gone = |id: &u32| self.variables.contains(id) || self.structs.contains(id);
                operands = target_list(&operands, |ids| !gone(&ids[0]), 1);
            }
            Some(Op::GroupMemberDecorate) => {
                operands = target_list(&operands, |ids| !self.structs.contains(&ids[0]), 2);
            }
            Some(Op::TypePointer) => {
                instruction.write_to(words);
                if let Some(&twin) = self.twins.get(&target) {
                    let private = [twin, StorageClass::Private as u32, instruction.operand(2)];
                    write_instruction(words, Op::TypePointer as u16, &private);
                }
                return Ok(());
            }
            Some(Op::Function) => {
                if let (Some(&ty), Some(slot)) = (
                    function_types.get(&instruction.operand(1)),
                    operands.get_mut(3),
                ) {
                    *slot = ty;
                }
            }
            Some(
                Op::Variable
                | Op::FunctionParameter
                | Op::AccessChain
                | Op::InBoundsAccessChain
                | Op::CopyObject,
            ) if self.retyped.pointers.contains(&instruction.operand(1)) => {
                if let Some(&twin) = self.twins.get(&target) {
                    operands[0] = twin;
                }
                if instruction.is(Op::Variable) && operands.len() > 2 {
                    operands[2] = StorageClass::Private as u32;
                }
            }
            _ => {}
        }
        write_instruction(words, instruction.opcode, &operands);
        Ok(())
    }
}

/// A decoration group's operands without the targets that `keep` refuses.
fn target_list(operands: &[u32], keep: impl Fn(&[u32]) -> bool, size: usize) -> Vec<u32> {
    let Some((&group, targets)) = operands.split_first() else {
        return Vec::new();
    };
    let kept = targets
        .chunks_exact(size)
        .filter(|ids| keep(ids))
        .flatten()
        .copied();
    std::iter::once(group).chain(kept).collect()
}

/// Decorations that only interface variables may have, and the one that would let a driver narrow what was fetched.
fn is_interface_decoration(decoration: u32) -> bool {
    matches!(
        Decoration::from_u32(decoration),
        Some(
            Decoration::Location
                | Decoration::Component
                | Decoration::Index
                | Decoration::Flat
                | Decoration::NoPerspective
                | Decoration::Centroid
                | Decoration::Sample
                | Decoration::Patch
                | Decoration::Invariant
                | Decoration::BuiltIn
                | Decoration::PerVertexKHR
                | Decoration::ExplicitInterpAMD
                | Decoration::RelaxedPrecision
        )
    )
}
