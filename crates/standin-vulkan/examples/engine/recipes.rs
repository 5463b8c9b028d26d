//! The engine's shaders and the recipes made of them.

use spirv::Op;
use standin_recipe::layout::{
    PipelineLayoutRecipe, PushConstantRange, SetBinding, SetLayoutRecipe,
};
use standin_recipe::output::{BlendAttachment, ColorBlendState, RenderingFormats, Target};
use standin_recipe::pipeline::Parts;
use standin_recipe::raster::{
    Counted, MultisampleState, RasterizationState, Rect, Viewport, ViewportState,
};
use standin_recipe::stage::{EntryName, Stage};
use standin_recipe::vertex::{
    InputAssemblyState, VertexAttribute, VertexBinding, VertexInputState,
};
use standin_recipe::{ComputeRecipe, GraphicsRecipe, Module, ModuleRef};
use standin_vulkan::ash::vk;
use std::sync::Arc;

/// The words of a SPIR-V file.
fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn stage(stage: vk::ShaderStageFlags, words: Vec<u32>) -> Stage {
    Stage {
        stage,
        flags: vk::PipelineShaderStageCreateFlags::empty(),
        module: ModuleRef(Arc::new(Module::new(
            vk::ShaderModuleCreateFlags::empty(),
            words,
        ))),
        entry: EntryName::default(),
        specialization: None,
        required_subgroup_size: None,
        robustness: None,
    }
}

/// A pass or a material. Those of another `variant` have another state and other code.
pub(crate) fn pass(variant: u64) -> GraphicsRecipe {
    let attribute = |location, offset| VertexAttribute {
        location,
        binding: 0,
        format: vk::Format::R32G32B32A32_SFLOAT,
        offset,
    };
    let culls = [
        vk::CullModeFlags::NONE,
        vk::CullModeFlags::BACK,
        vk::CullModeFlags::FRONT,
    ];
    // The stride is a state that every driver compiles in where it is not dynamic.
    let stride = 32 + 4 * u32::try_from(variant % 64).unwrap_or(0);
    GraphicsRecipe {
        parts: Parts::ALL,
        stages: vec![
            stage(
                vk::ShaderStageFlags::VERTEX,
                words(include_bytes!("../../tests/shaders/plain.vert.spv")),
            ),
            stage(
                vk::ShaderStageFlags::FRAGMENT,
                words(include_bytes!("../../tests/shaders/shade.frag.spv")),
            ),
        ],
        vertex_input: Some(VertexInputState {
            bindings: vec![VertexBinding {
                binding: 0,
                stride,
                input_rate: vk::VertexInputRate::VERTEX,
                divisor: 1,
            }],
            attributes: vec![attribute(0, 0), attribute(1, 16)],
        }),
        input_assembly: Some(InputAssemblyState {
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            primitive_restart_enable: false,
        }),
        viewport: Some(ViewportState {
            viewports: Counted::Values(vec![Viewport {
                width: 64.0.into(),
                height: 64.0.into(),
                max_depth: 1.0.into(),
                ..Viewport::default()
            }]),
            scissors: Counted::Values(vec![Rect {
                width: 64,
                height: 64,
                ..Rect::default()
            }]),
            ..ViewportState::default()
        }),
        rasterization: Some(RasterizationState {
            line_width: 1.0.into(),
            cull_mode: culls[usize::try_from(variant % 3).unwrap_or(0)],
            ..RasterizationState::default()
        }),
        multisample: Some(MultisampleState {
            samples: vk::SampleCountFlags::TYPE_1,
            ..MultisampleState::default()
        }),
        color_blend: Some(ColorBlendState {
            attachments: Counted::Values(vec![BlendAttachment {
                write_mask: vk::ColorComponentFlags::RGBA,
                ..BlendAttachment::default()
            }]),
            ..ColorBlendState::default()
        }),
        layout: Some(Arc::new(PipelineLayoutRecipe::default())),
        target: Target::Rendering(RenderingFormats {
            color: vec![vk::Format::R32G32B32A32_SFLOAT],
            ..RenderingFormats::default()
        }),
        ..GraphicsRecipe::default()
    }
}

/// The ray-query kernel of `shaders/trace.comp`.
pub(crate) fn trace() -> ComputeRecipe {
    ComputeRecipe {
        flags: Default::default(),
        stage: stage(
            vk::ShaderStageFlags::COMPUTE,
            words(include_bytes!("shaders/trace.comp.spv")),
        ),
        layout: Arc::new(PipelineLayoutRecipe {
            push_constant_ranges: vec![PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: 20,
            }],
            ..PipelineLayoutRecipe::default()
        }),
        robustness: None,
    }
}

/// A generated kernel of this many blocks over one storage buffer.
pub(crate) fn kernel(blocks: u64, seed: u64) -> ComputeRecipe {
    ComputeRecipe {
        flags: Default::default(),
        stage: stage(vk::ShaderStageFlags::COMPUTE, generate(blocks, seed)),
        layout: Arc::new(PipelineLayoutRecipe {
            set_layouts: vec![Some(Arc::new(SetLayoutRecipe {
                bindings: vec![SetBinding {
                    binding: 0,
                    descriptor_type: vk::DescriptorType::STORAGE_BUFFER,
                    descriptor_count: 1,
                    stage_flags: vk::ShaderStageFlags::COMPUTE,
                    ..SetBinding::default()
                }],
                ..SetLayoutRecipe::default()
            }))],
            ..PipelineLayoutRecipe::default()
        }),
        robustness: None,
    }
}

/// SPIR-V that is being written.
struct Code {
    words: Vec<u32>,
    ids: u32,
}

impl Code {
    fn id(&mut self) -> u32 {
        self.ids += 1;
        self.ids
    }

    fn op(&mut self, op: Op, operands: &[u32]) {
        // No instruction here has more than a dozen operands.
        let length = u32::try_from(operands.len() + 1).unwrap_or(u32::MAX);
        self.words.push(length << 16 | op as u32);
        self.words.extend(operands);
    }

    /// An instruction with a result of type `kind`.
    fn result(&mut self, op: Op, kind: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        let mut all = vec![kind, id];
        all.extend(operands);
        self.op(op, &all);
        id
    }

    /// A declaration whose result has no type.
    fn declare(&mut self, op: Op, operands: &[u32]) -> u32 {
        let id = self.id();
        let mut all = vec![id];
        all.extend(operands);
        self.op(op, &all);
        id
    }
}

/// A compute shader that reads a number, sends it through `blocks` branches of some arithmetic
/// each, and writes it back. The constants come from `seed`, so that no cache of the driver's
/// knows it.
fn generate(blocks: u64, seed: u64) -> Vec<u32> {
    use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, StorageClass};
    let mut random = seed | 1;
    let mut next = move || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) as u32
    };
    let mut c = Code {
        words: Vec::new(),
        ids: 0,
    };
    let text = |text: &[u8]| -> Vec<u32> {
        let mut bytes = text.to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        words(&bytes)
    };
    let main = c.id();
    let gid = c.id();
    let elements = c.id();
    let block = c.id();
    let buffer = c.id();
    c.op(Op::Capability, &[Capability::Shader as u32]);
    let glsl = c.declare(Op::ExtInstImport, &text(b"GLSL.std.450"));
    c.op(Op::MemoryModel, &[0, 1]);
    let mut entry = vec![ExecutionModel::GLCompute as u32, main];
    entry.extend(text(b"main"));
    entry.push(gid);
    c.op(Op::EntryPoint, &entry);
    c.op(
        Op::ExecutionMode,
        &[main, ExecutionMode::LocalSize as u32, 64, 1, 1],
    );
    let invocation = BuiltIn::GlobalInvocationId as u32;
    c.op(Op::Decorate, &[gid, Decoration::BuiltIn as u32, invocation]);
    c.op(Op::Decorate, &[elements, Decoration::ArrayStride as u32, 4]);
    c.op(Op::Decorate, &[block, Decoration::Block as u32]);
    c.op(
        Op::MemberDecorate,
        &[block, 0, Decoration::Offset as u32, 0],
    );
    c.op(Op::Decorate, &[buffer, Decoration::DescriptorSet as u32, 0]);
    c.op(Op::Decorate, &[buffer, Decoration::Binding as u32, 0]);
    let void = c.declare(Op::TypeVoid, &[]);
    let function = c.declare(Op::TypeFunction, &[void]);
    let float = c.declare(Op::TypeFloat, &[32]);
    let uint = c.declare(Op::TypeInt, &[32, 0]);
    let boolean = c.declare(Op::TypeBool, &[]);
    let uvec3 = c.declare(Op::TypeVector, &[uint, 3]);
    let input = StorageClass::Input as u32;
    let storage = StorageClass::StorageBuffer as u32;
    let input_pointer = c.declare(Op::TypePointer, &[input, uvec3]);
    c.op(Op::Variable, &[input_pointer, gid, input]);
    c.op(Op::TypeRuntimeArray, &[elements, float]);
    c.op(Op::TypeStruct, &[block, elements]);
    let block_pointer = c.declare(Op::TypePointer, &[storage, block]);
    c.op(Op::Variable, &[block_pointer, buffer, storage]);
    let float_pointer = c.declare(Op::TypePointer, &[storage, float]);
    let zero = c.result(Op::Constant, uint, &[0]);
    let constants: Vec<u32> = (0..64)
        .map(|_| {
            // Between 1 and 2: no result is special.
            let bits = 0x3f80_0000 | next() & 0x007f_ffff;
            c.result(Op::Constant, float, &[bits])
        })
        .collect();
    let mut constant = move || constants[next() as usize % constants.len()];

    c.op(Op::Function, &[void, main, 0, function]);
    let mut label = c.declare(Op::Label, &[]);
    let place = c.result(Op::Load, uvec3, &[gid]);
    let index = c.result(Op::CompositeExtract, uint, &[place, 0]);
    let element = c.result(Op::AccessChain, float_pointer, &[buffer, zero, index]);
    let mut x = c.result(Op::Load, float, &[element]);
    let mut y = c.result(Op::FMul, float, &[x, constant()]);
    // Numbers of GLSL.std.450: FAbs, Sin, Sqrt.
    let (abs, sin, sqrt) = (4, 13, 31);
    for _ in 0..blocks {
        let less = c.result(Op::FOrdLessThan, boolean, &[x, constant()]);
        let (inside, after) = (c.id(), c.id());
        c.op(Op::SelectionMerge, &[after, 0]);
        c.op(Op::BranchConditional, &[less, inside, after]);
        c.op(Op::Label, &[inside]);
        let scaled = c.result(Op::FMul, float, &[x, constant()]);
        let wave = c.result(Op::ExtInst, float, &[glsl, sin, scaled]);
        let sum = c.result(Op::FAdd, float, &[wave, y]);
        let positive = c.result(Op::ExtInst, float, &[glsl, abs, sum]);
        let root = c.result(Op::ExtInst, float, &[glsl, sqrt, positive]);
        let product = c.result(Op::FMul, float, &[root, constant()]);
        let new_x = c.result(Op::FSub, float, &[product, wave]);
        let mixed = c.result(Op::FMul, float, &[wave, sum]);
        let new_y = c.result(Op::FAdd, float, &[mixed, constant()]);
        c.op(Op::Branch, &[after]);
        c.op(Op::Label, &[after]);
        x = c.result(Op::Phi, float, &[new_x, inside, x, label]);
        y = c.result(Op::Phi, float, &[new_y, inside, y, label]);
        label = after;
    }
    let end = c.result(Op::FAdd, float, &[x, y]);
    c.op(Op::Store, &[element, end]);
    c.op(Op::Return, &[]);
    c.op(Op::FunctionEnd, &[]);
    // Magic number, version 1.3, no generator, bound, schema.
    let mut module = vec![spirv::MAGIC_NUMBER, 0x0001_0300, 0, c.ids + 1, 0];
    module.extend(c.words);
    module
}
