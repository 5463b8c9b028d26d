//! SPIR-V of the kind that makes compilers slow: a fragment program interpreter, unrolled.
//!
//! Each stage selects one of several arithmetic sequences by a value from the vertex shader,
//! as an emulator's uber shader does. What it computes means nothing.

use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, GlslStd450Op, MemoryModel, Op, SelectionControl, StorageClass,
};

/// Stages of the interpreter.
const STAGES: u32 = 24;

/// Sequences that a stage chooses from.
const CHOICES: u32 = 8;

/// Arithmetic instructions of a sequence.
const LENGTH: u32 = 10;

/// Ids that every module here has.
struct Types {
    void: u32,
    function: u32,
    float: u32,
    vec4: u32,
    int: u32,
}

struct Module {
    words: Vec<u32>,
    next: u32,
}

impl Module {
    fn new() -> Self {
        // Magic number, version 1.0, no registered generator, bound (set at the end), schema.
        let words = vec![0x0723_0203, 0x0001_0000, 0, 0, 0];
        Self { words, next: 1 }
    }

    fn id(&mut self) -> u32 {
        let id = self.next;
        self.next += 1;
        id
    }

    fn put(&mut self, op: Op, operands: &[u32]) {
        let count = u32::try_from(operands.len() + 1).unwrap_or(u32::MAX);
        self.words.push(count << 16 | op as u32);
        self.words.extend_from_slice(operands);
    }

    /// An instruction with a result of this type.
    fn value(&mut self, op: Op, kind: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        let mut all = vec![kind, id];
        all.extend_from_slice(operands);
        self.put(op, &all);
        id
    }

    fn finish(mut self) -> Vec<u32> {
        if let Some(bound) = self.words.get_mut(3) {
            *bound = self.next;
        }
        self.words
    }

    /// Everything before the types. `interface` are the ids of the stage's variables.
    fn preamble(&mut self, model: ExecutionModel, main: u32, interface: &[u32]) -> u32 {
        self.put(Op::Capability, &[Capability::Shader as u32]);
        let library = self.id();
        let mut import = vec![library];
        import.extend(string("GLSL.std.450"));
        self.put(Op::ExtInstImport, &import);
        let models = [AddressingModel::Logical as u32, MemoryModel::GLSL450 as u32];
        self.put(Op::MemoryModel, &models);
        let mut entry = vec![model as u32, main];
        entry.extend(string("main"));
        entry.extend_from_slice(interface);
        self.put(Op::EntryPoint, &entry);
        if model == ExecutionModel::Fragment {
            let mode = ExecutionMode::OriginUpperLeft as u32;
            self.put(Op::ExecutionMode, &[main, mode]);
        }
        library
    }

    fn types(&mut self) -> Types {
        let void = self.id();
        self.put(Op::TypeVoid, &[void]);
        let function = self.id();
        self.put(Op::TypeFunction, &[function, void]);
        let float = self.id();
        self.put(Op::TypeFloat, &[float, 32]);
        let vec4 = self.id();
        self.put(Op::TypeVector, &[vec4, float, 4]);
        let int = self.id();
        self.put(Op::TypeInt, &[int, 32, 1]);
        Types {
            void,
            function,
            float,
            vec4,
            int,
        }
    }

    fn variable(&mut self, id: u32, kind: u32, class: StorageClass) {
        let pointer = self.id();
        self.put(Op::TypePointer, &[pointer, class as u32, kind]);
        self.put(Op::Variable, &[pointer, id, class as u32]);
    }

    fn begin(&mut self, types: &Types, main: u32) {
        let control = FunctionControl::NONE.bits();
        self.put(Op::Function, &[types.void, main, control, types.function]);
        let label = self.id();
        self.put(Op::Label, &[label]);
    }

    fn end(&mut self) {
        self.put(Op::Return, &[]);
        self.put(Op::FunctionEnd, &[]);
    }

    fn located(&mut self, variable: u32, location: u32) {
        let decoration = Decoration::Location as u32;
        self.put(Op::Decorate, &[variable, decoration, location]);
    }
}

/// A literal string: little-endian bytes with at least one zero.
fn string(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() / 4 + 1) * 4, 0);
    let word = |chunk: &[u8]| {
        chunk
            .iter()
            .rev()
            .fold(0, |word, byte| word << 8 | u32::from(*byte))
    };
    bytes.chunks(4).map(word).collect()
}

/// A vertex shader that hands its only attribute on, as position and at location 0.
pub(crate) fn vertex() -> Vec<u32> {
    let mut module = Module::new();
    let [main, input, output, position] = std::array::from_fn(|_| module.id());
    module.preamble(ExecutionModel::Vertex, main, &[input, output, position]);
    module.located(input, 0);
    module.located(output, 0);
    let builtin = [Decoration::BuiltIn as u32, BuiltIn::Position as u32];
    module.put(Op::Decorate, &[position, builtin[0], builtin[1]]);
    let types = module.types();
    module.variable(input, types.vec4, StorageClass::Input);
    module.variable(output, types.vec4, StorageClass::Output);
    module.variable(position, types.vec4, StorageClass::Output);
    module.begin(&types, main);
    let value = module.value(Op::Load, types.vec4, &[input]);
    module.put(Op::Store, &[output, value]);
    module.put(Op::Store, &[position, value]);
    module.end();
    module.finish()
}

/// The interpreter. Two seeds give two programs of the same shape.
pub(crate) fn fragment(seed: u32) -> Vec<u32> {
    let mut module = Module::new();
    let [main, input, output] = std::array::from_fn(|_| module.id());
    let library = module.preamble(ExecutionModel::Fragment, main, &[input, output]);
    module.located(input, 0);
    module.located(output, 0);
    let types = module.types();
    module.variable(input, types.vec4, StorageClass::Input);
    module.variable(output, types.vec4, StorageClass::Output);
    let constants: Vec<u32> = (0..CHOICES * LENGTH)
        .map(|index| {
            let value = 0.125 + (index * 7 + seed * 13) as f32 / 64.0;
            let scalar = module.id();
            module.put(Op::Constant, &[types.float, scalar, value.to_bits()]);
            let parts = [scalar; 4];
            module.value(Op::ConstantComposite, types.vec4, &parts)
        })
        .collect();
    module.begin(&types, main);
    let start = module.value(Op::Load, types.vec4, &[input]);
    let mut value = start;
    for stage in 0..STAGES {
        value = interpreter_stage(
            &mut module,
            &types,
            library,
            &constants,
            (start, value),
            stage,
        );
    }
    module.put(Op::Store, &[output, value]);
    module.end();
    module.finish()
}

fn interpreter_stage(
    module: &mut Module,
    types: &Types,
    library: u32,
    constants: &[u32],
    (start, value): (u32, u32),
    stage: u32,
) -> u32 {
    let selector = module.value(Op::CompositeExtract, types.float, &[start, stage % 4]);
    let selector = module.value(Op::ConvertFToS, types.int, &[selector]);
    let merge = module.id();
    let labels: Vec<u32> = (0..CHOICES).map(|_| module.id()).collect();
    let control = SelectionControl::NONE.bits();
    module.put(Op::SelectionMerge, &[merge, control]);
    let mut switch = vec![selector, labels[0]];
    for (literal, label) in (0..).zip(&labels).skip(1) {
        switch.extend([literal, *label]);
    }
    module.put(Op::Switch, &switch);
    let mut results = Vec::new();
    for (choice, label) in (0..).zip(&labels) {
        module.put(Op::Label, &[*label]);
        let mut chain = value;
        for step in 0..LENGTH {
            let constant = constants[(choice * LENGTH + step) as usize];
            let call = |module: &mut Module, op: GlslStd450Op, operands: &[u32]| {
                let mut all = vec![library, op as u32];
                all.extend_from_slice(operands);
                module.value(Op::ExtInst, types.vec4, &all)
            };
            chain = match (choice + step + stage) % 5 {
                0 => call(module, GlslStd450Op::Sin, &[chain]),
                1 => call(module, GlslStd450Op::Fma, &[chain, constant, start]),
                2 => call(module, GlslStd450Op::FMix, &[chain, start, constant]),
                3 => call(module, GlslStd450Op::Exp2, &[chain]),
                _ => module.value(Op::FMul, types.vec4, &[chain, constant]),
            };
        }
        module.put(Op::Branch, &[merge]);
        results.extend([chain, *label]);
    }
    module.put(Op::Label, &[merge]);
    module.value(Op::Phi, types.vec4, &results)
}
