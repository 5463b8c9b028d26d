//! Runs the SPIR-V subset that this crate emits, one fragment at a time. It shares nothing
//! with the emitters. The quirks are what Vulkan lets a device do with such code.

use standin_combiner::oracle::FragmentInputs;
use std::collections::HashMap;

/// What a device may do that another does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Denormal operands and results become 0 of their sign.
    pub flush_denormals: bool,
    /// 0 - x is turned into -x.
    pub negate_zero_minus: bool,
    /// FMax and FMin of zeroes of different sign give the other one.
    pub other_zero: bool,
}

impl Quirks {
    pub const NONE: Self = Self {
        flush_denormals: false,
        negate_zero_minus: false,
        other_zero: false,
    };
    pub const ALL: Self = Self {
        flush_denormals: true,
        negate_zero_minus: true,
        other_zero: true,
    };
}

#[derive(Clone, Copy, Debug)]
enum Type {
    Scalar,
    Vector(u32, u32),
    Array(u32, u32),
    Struct(u32),
    Pointer(u32),
    Image,
    Void,
}

#[derive(Clone, Debug)]
struct Instruction {
    op: u16,
    words: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Image(u32),
    Input(u32),
    Uniform(u32),
    Output,
    Function,
}

/// A parsed module.
#[derive(Clone, Debug)]
pub struct Module {
    bound: usize,
    types: HashMap<u32, Type>,
    constants: Vec<(u32, [u32; 4])>,
    variables: Vec<(u32, Class, usize, u32)>,
    blocks: HashMap<u32, Vec<Instruction>>,
    entry: u32,
}

/// What is bound while a module runs.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    pub program: &'a [u8],
    pub constants: &'a [u8],
    pub inputs: &'a FragmentInputs,
}

mod op {
    pub const EXT_INST: u16 = 12;
    pub const TYPE_VOID: u16 = 19;
    pub const TYPE_BOOL: u16 = 20;
    pub const TYPE_INT: u16 = 21;
    pub const TYPE_FLOAT: u16 = 22;
    pub const TYPE_VECTOR: u16 = 23;
    pub const TYPE_IMAGE: u16 = 25;
    pub const TYPE_SAMPLED_IMAGE: u16 = 27;
    pub const TYPE_ARRAY: u16 = 28;
    pub const TYPE_STRUCT: u16 = 30;
    pub const TYPE_POINTER: u16 = 32;
    pub const CONSTANT_TRUE: u16 = 41;
    pub const CONSTANT_FALSE: u16 = 42;
    pub const CONSTANT: u16 = 43;
    pub const CONSTANT_COMPOSITE: u16 = 44;
    pub const VARIABLE: u16 = 59;
    pub const LOAD: u16 = 61;
    pub const STORE: u16 = 62;
    pub const ACCESS_CHAIN: u16 = 65;
    pub const DECORATE: u16 = 71;
    pub const VECTOR_SHUFFLE: u16 = 79;
    pub const COMPOSITE_CONSTRUCT: u16 = 80;
    pub const COMPOSITE_EXTRACT: u16 = 81;
    pub const COMPOSITE_INSERT: u16 = 82;
    pub const SAMPLE: u16 = 87;
    pub const SAMPLE_PROJ: u16 = 91;
    pub const CONVERT_F_TO_U: u16 = 109;
    pub const BITCAST: u16 = 124;
    pub const I_ADD: u16 = 128;
    pub const F_ADD: u16 = 129;
    pub const F_SUB: u16 = 131;
    pub const F_MUL: u16 = 133;
    pub const LOGICAL_OR: u16 = 166;
    pub const LOGICAL_NOT: u16 = 168;
    pub const SELECT: u16 = 169;
    pub const I_EQUAL: u16 = 170;
    pub const I_NOT_EQUAL: u16 = 171;
    pub const U_LESS_THAN: u16 = 176;
    pub const F_ORD_EQUAL: u16 = 180;
    pub const F_ORD_NOT_EQUAL: u16 = 182;
    pub const F_ORD_LESS: u16 = 184;
    pub const F_ORD_GREATER: u16 = 186;
    pub const F_ORD_LESS_EQUAL: u16 = 188;
    pub const F_ORD_GREATER_EQUAL: u16 = 190;
    pub const SHIFT_RIGHT: u16 = 194;
    pub const SHIFT_LEFT: u16 = 196;
    pub const BITWISE_OR: u16 = 197;
    pub const BITWISE_AND: u16 = 199;
    pub const PHI: u16 = 245;
    pub const LOOP_MERGE: u16 = 246;
    pub const SELECTION_MERGE: u16 = 247;
    pub const LABEL: u16 = 248;
    pub const BRANCH: u16 = 249;
    pub const BRANCH_CONDITIONAL: u16 = 250;
    pub const SWITCH: u16 = 251;
    pub const KILL: u16 = 252;
    pub const RETURN: u16 = 253;
}

impl Module {
    pub fn parse(words: &[u32]) -> Self {
        let mut module = Self {
            bound: words[3] as usize,
            types: HashMap::new(),
            constants: Vec::new(),
            variables: Vec::new(),
            blocks: HashMap::new(),
            entry: 0,
        };
        let mut locations = HashMap::new();
        let mut bindings = HashMap::new();
        let mut values: HashMap<u32, [u32; 4]> = HashMap::new();
        let mut block: Option<u32> = None;
        let mut at = 5;
        while at < words.len() {
            let (op, size) = (words[at] as u16, (words[at] >> 16) as usize);
            let w = &words[at + 1..at + size];
            at += size;
            let mut constant = |id: u32, value: [u32; 4]| {
                values.insert(id, value);
                module.constants.push((id, value));
            };
            match op {
                op::TYPE_VOID => {
                    module.types.insert(w[0], Type::Void);
                }
                op::TYPE_BOOL | op::TYPE_INT | op::TYPE_FLOAT => {
                    module.types.insert(w[0], Type::Scalar);
                }
                op::TYPE_VECTOR => {
                    module.types.insert(w[0], Type::Vector(w[1], w[2]));
                }
                op::TYPE_IMAGE | op::TYPE_SAMPLED_IMAGE => {
                    module.types.insert(w[0], Type::Image);
                }
                op::TYPE_ARRAY => {
                    let length = values[&w[2]][0];
                    module.types.insert(w[0], Type::Array(w[1], length));
                }
                op::TYPE_STRUCT => {
                    module.types.insert(w[0], Type::Struct(w[1]));
                }
                op::TYPE_POINTER => {
                    module.types.insert(w[0], Type::Pointer(w[2]));
                }
                op::CONSTANT_TRUE => constant(w[1], [1; 4]),
                op::CONSTANT_FALSE => constant(w[1], [0; 4]),
                op::CONSTANT => constant(w[1], [w[2]; 4]),
                op::CONSTANT_COMPOSITE => {
                    let mut value = [0; 4];
                    for (i, part) in w[2..].iter().enumerate() {
                        value[i] = values[part][0];
                    }
                    module.constants.push((w[1], value));
                }
                op::DECORATE if w[1] == 30 => {
                    locations.insert(w[0], w[2]);
                }
                op::DECORATE if w[1] == 33 => {
                    bindings.insert(w[0], w[2]);
                }
                op::VARIABLE => {
                    let Type::Pointer(to) = module.types[&w[0]] else {
                        panic!("variable of a type that is no pointer");
                    };
                    let class = match w[2] {
                        0 => Class::Image(bindings[&w[1]]),
                        1 => Class::Input(locations[&w[1]]),
                        2 => Class::Uniform(bindings[&w[1]]),
                        3 => Class::Output,
                        7 => Class::Function,
                        other => panic!("storage class {other}"),
                    };
                    let size = module.size(to);
                    module.variables.push((w[1], class, size, to));
                }
                op::LABEL => {
                    if block.is_none() {
                        module.entry = w[0];
                    }
                    block = Some(w[0]);
                    module.blocks.insert(w[0], Vec::new());
                }
                _ => {
                    if let Some(label) = block {
                        module.blocks.entry(label).or_default().push(Instruction {
                            op,
                            words: w.to_vec(),
                        });
                    }
                }
            }
        }
        module
    }

    fn size(&self, id: u32) -> usize {
        match self.types[&id] {
            Type::Scalar => 1,
            Type::Vector(_, n) => n as usize,
            Type::Array(of, n) => self.size(of) * n as usize,
            Type::Struct(of) => self.size(of),
            Type::Image | Type::Void | Type::Pointer(_) => 0,
        }
    }

    /// How many instructions the module's function has.
    pub fn instructions(&self) -> usize {
        self.blocks.values().map(Vec::len).sum()
    }

    /// The colour's bits, or nothing where the fragment is discarded.
    pub fn run(&self, bound: &Bound<'_>, quirks: Quirks) -> Option<[u32; 4]> {
        let mut run = Run {
            module: self,
            quirks,
            values: vec![[0; 4]; self.bound],
            memory: vec![Vec::new(); self.bound],
            pointee: vec![0; self.bound],
            bound: *bound,
        };
        for (id, value) in &self.constants {
            run.values[*id as usize] = *value;
        }
        let mut output = 0;
        for (id, class, size, of) in &self.variables {
            let slot = *id as usize;
            run.pointee[slot] = *of;
            run.values[slot] = [*id, 0, 0, 0];
            run.memory[slot] = match class {
                Class::Input(location) => run.input(*location, *size),
                Class::Uniform(0) => words(bound.program),
                Class::Uniform(_) => words(bound.constants),
                Class::Image(binding) => vec![binding - 2],
                Class::Output => {
                    output = slot;
                    vec![0; *size]
                }
                // Never zero by luck: reading before writing must show.
                Class::Function => vec![0xFFC0_DEAD; *size],
            };
        }
        if run.execute() {
            let out = &run.memory[output];
            Some([out[0], out[1], out[2], out[3]])
        } else {
            None
        }
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect()
}

struct Run<'a> {
    module: &'a Module,
    quirks: Quirks,
    /// Per id its components; for a pointer the variable and the word offset.
    values: Vec<[u32; 4]>,
    memory: Vec<Vec<u32>>,
    pointee: Vec<u32>,
    bound: Bound<'a>,
}

impl Run<'_> {
    fn input(&self, location: u32, size: usize) -> Vec<u32> {
        let inputs = self.bound.inputs;
        let vector = match location {
            0 | 1 => inputs.colours[location as usize],
            2 => [inputs.fog; 4],
            _ => inputs.textures[location as usize - 3],
        };
        vector[..size].iter().map(|x| x.to_bits()).collect()
    }

    fn get(&self, id: u32) -> [u32; 4] {
        self.values[id as usize]
    }

    fn denormal(&self, x: f32) -> f32 {
        if self.quirks.flush_denormals && x.is_subnormal() {
            0.0_f32.copysign(x)
        } else {
            x
        }
    }

    fn float(&self, bits: u32) -> f32 {
        self.denormal(f32::from_bits(bits))
    }

    fn floats(&self, a: u32, b: u32, f: impl Fn(f32, f32) -> f32) -> [u32; 4] {
        let (a, b) = (self.get(a), self.get(b));
        [0, 1, 2, 3].map(|i| {
            let result = f(self.float(a[i]), self.float(b[i]));
            self.denormal(result).to_bits()
        })
    }

    fn compare(&self, a: u32, b: u32, f: impl Fn(f32, f32) -> bool) -> [u32; 4] {
        let (a, b) = (self.get(a), self.get(b));
        [0, 1, 2, 3].map(|i| u32::from(f(self.float(a[i]), self.float(b[i]))))
    }

    fn integers(&self, a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> [u32; 4] {
        let (a, b) = (self.get(a), self.get(b));
        [0, 1, 2, 3].map(|i| f(a[i], b[i]))
    }

    fn max(&self, x: f32, y: f32) -> f32 {
        if x == 0.0 && y == 0.0 {
            return if self.quirks.other_zero { x } else { y };
        }
        if x > y { x } else { y }
    }

    fn min(&self, x: f32, y: f32) -> f32 {
        if x == 0.0 && y == 0.0 {
            return if self.quirks.other_zero { x } else { y };
        }
        if x < y { x } else { y }
    }

    /// False where the fragment is discarded.
    fn execute(&mut self) -> bool {
        let module = self.module;
        let (mut block, mut from) = (module.entry, 0);
        loop {
            let code = &module.blocks[&block];
            let phis = code.iter().take_while(|i| i.op == op::PHI);
            let incoming: Vec<_> = phis
                .map(|phi| {
                    let pair = phi.words[2..].chunks_exact(2).find(|p| p[1] == from);
                    let pair = pair.expect("a phi has a value for every predecessor");
                    (phi.words[1], self.get(pair[0]))
                })
                .collect();
            for (id, value) in incoming {
                self.values[id as usize] = value;
            }
            let mut next = None;
            for instruction in code {
                let w = &instruction.words;
                match instruction.op {
                    op::PHI | op::LOOP_MERGE | op::SELECTION_MERGE => {}
                    op::BRANCH => next = Some(w[0]),
                    op::BRANCH_CONDITIONAL => {
                        next = Some(if self.get(w[0])[0] != 0 { w[1] } else { w[2] });
                    }
                    op::SWITCH => {
                        let selector = self.get(w[0])[0];
                        let case = w[2..].chunks_exact(2).find(|c| c[0] == selector);
                        next = Some(case.map_or(w[1], |c| c[1]));
                    }
                    op::KILL => return false,
                    op::RETURN => return true,
                    op::STORE => self.store(w[0], w[1]),
                    _ => self.compute(instruction),
                }
            }
            from = block;
            block = next.expect("a block ends with a branch");
        }
    }

    fn store(&mut self, pointer: u32, value: u32) {
        let [variable, offset, ..] = self.get(pointer);
        let size = self.module.size(self.pointee[pointer as usize]);
        let value = self.get(value);
        let at = offset as usize;
        self.memory[variable as usize][at..at + size].copy_from_slice(&value[..size]);
    }

    fn compute(&mut self, instruction: &Instruction) {
        let w = &instruction.words;
        let result = match instruction.op {
            op::LOAD => {
                let [variable, offset, ..] = self.get(w[2]);
                let memory = &self.memory[variable as usize];
                let size = match self.module.types[&w[0]] {
                    Type::Image => 1,
                    _ => self.module.size(w[0]),
                };
                let mut value = [0; 4];
                let at = offset as usize;
                value[..size].copy_from_slice(&memory[at..at + size]);
                value
            }
            op::ACCESS_CHAIN => {
                let [variable, mut offset, ..] = self.get(w[2]);
                let mut of = self.pointee[w[2] as usize];
                for index in &w[3..] {
                    let index = self.get(*index)[0];
                    let inner = match self.module.types[&of] {
                        Type::Array(inner, length) => {
                            assert!(index < length, "index {index} of {length}");
                            inner
                        }
                        Type::Struct(inner) | Type::Vector(inner, _) => inner,
                        other => panic!("access into {other:?}"),
                    };
                    offset += index * self.module.size(inner) as u32;
                    of = inner;
                }
                self.pointee[w[1] as usize] = of;
                [variable, offset, 0, 0]
            }
            op::VECTOR_SHUFFLE => {
                let size = self.module.size(w[0]);
                let source = self.get(w[2]);
                let mut value = [0; 4];
                for i in 0..size {
                    // Both operands are the same vector in what is emitted here.
                    value[i] = source[w[4 + i] as usize];
                }
                value
            }
            op::COMPOSITE_CONSTRUCT => self.construct(w),
            op::COMPOSITE_EXTRACT => [self.get(w[2])[w[3] as usize]; 4],
            op::COMPOSITE_INSERT => {
                let mut value = self.get(w[3]);
                value[w[4] as usize] = self.get(w[2])[0];
                value
            }
            op::SAMPLE | op::SAMPLE_PROJ => {
                let stage = self.get(w[2])[0] as usize;
                self.bound.inputs.textures[stage].map(f32::to_bits)
            }
            op::CONVERT_F_TO_U => self.get(w[2]).map(|x| f32::from_bits(x) as u32),
            op::BITCAST => self.get(w[2]),
            op::I_ADD => self.integers(w[2], w[3], u32::wrapping_add),
            op::F_ADD => self.floats(w[2], w[3], |a, b| a + b),
            op::F_SUB => self.subtract(w[2], w[3]),
            op::F_MUL => self.floats(w[2], w[3], |a, b| a * b),
            op::LOGICAL_OR | op::BITWISE_OR => self.integers(w[2], w[3], |a, b| a | b),
            op::BITWISE_AND => self.integers(w[2], w[3], |a, b| a & b),
            op::SHIFT_RIGHT => self.integers(w[2], w[3], |a, b| a >> b),
            op::SHIFT_LEFT => self.integers(w[2], w[3], |a, b| a << b),
            op::LOGICAL_NOT => self.get(w[2]).map(|x| u32::from(x == 0)),
            op::SELECT => {
                let (condition, a, b) = (self.get(w[2]), self.get(w[3]), self.get(w[4]));
                [0, 1, 2, 3].map(|i| if condition[i] != 0 { a[i] } else { b[i] })
            }
            op::I_EQUAL => self.integers(w[2], w[3], |a, b| u32::from(a == b)),
            op::I_NOT_EQUAL => self.integers(w[2], w[3], |a, b| u32::from(a != b)),
            op::U_LESS_THAN => self.integers(w[2], w[3], |a, b| u32::from(a < b)),
            op::F_ORD_EQUAL => self.compare(w[2], w[3], |a, b| a == b),
            op::F_ORD_NOT_EQUAL => self.compare(w[2], w[3], |a, b| {
                // Ordered: false for what is not a number.
                !a.is_nan() && !b.is_nan() && a != b
            }),
            op::F_ORD_LESS => self.compare(w[2], w[3], |a, b| a < b),
            op::F_ORD_GREATER => self.compare(w[2], w[3], |a, b| a > b),
            op::F_ORD_LESS_EQUAL => self.compare(w[2], w[3], |a, b| a <= b),
            op::F_ORD_GREATER_EQUAL => self.compare(w[2], w[3], |a, b| a >= b),
            op::EXT_INST => self.glsl(w),
            other => panic!("instruction {other} is not in the emitted subset"),
        };
        self.values[w[1] as usize] = result;
    }

    fn subtract(&self, a: u32, b: u32) -> [u32; 4] {
        self.floats(a, b, |a, b| {
            if self.quirks.negate_zero_minus && a.to_bits() == 0 {
                -b
            } else {
                a - b
            }
        })
    }

    fn construct(&self, w: &[u32]) -> [u32; 4] {
        let size = self.module.size(w[0]);
        if w.len() - 2 == size {
            let mut value = [0; 4];
            for (to, id) in value.iter_mut().zip(&w[2..]) {
                *to = self.get(*id)[0];
            }
            return value;
        }
        // vec4(vec3, float): the only mixed form.
        let ([r, g, b, _], [a, ..]) = (self.get(w[2]), self.get(w[3]));
        [r, g, b, a]
    }

    fn glsl(&self, w: &[u32]) -> [u32; 4] {
        let pairwise = |a: u32, b: u32, f: &dyn Fn(f32, f32) -> f32| self.floats(a, b, f);
        match w[3] {
            4 => self.get(w[4]).map(|x| x & 0x7FFF_FFFF),
            8 => self.floats(w[4], w[4], |x, _| x.floor()),
            37 => pairwise(w[4], w[5], &|x, y| self.min(x, y)),
            40 => pairwise(w[4], w[5], &|x, y| self.max(x, y)),
            43 => {
                let (x, low, high) = (self.get(w[4]), self.get(w[5]), self.get(w[6]));
                [0, 1, 2, 3].map(|i| {
                    let x = self.max(self.float(x[i]), self.float(low[i]));
                    self.min(x, self.float(high[i])).to_bits()
                })
            }
            other => panic!("GLSL.std.450 instruction {other} is not in the emitted subset"),
        }
    }
}
