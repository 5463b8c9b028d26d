//! Shaders, layouts, descriptor sets and pipelines of the harness.

use super::{Buffer, Image, Sampler, Scratch, ScratchError, failed, in_range};
use crate::device::Device;
use crate::features::Feature;
use ash::vk;
use std::ffi::CString;
use std::sync::Arc;

/// A shader module.
#[derive(Debug, Clone)]
pub struct Shader(Arc<ShaderInner>);

#[derive(Debug)]
struct ShaderInner {
    raw: vk::ShaderModule,
    device: Arc<Device>,
}

impl Drop for ShaderInner {
    fn drop(&mut self) {
        // SAFETY: modules are only used while a pipeline is made, and that borrows them.
        unsafe { self.device.raw().destroy_shader_module(self.raw, None) };
    }
}

/// A binding of a set layout: its number, what it is, and the stages that see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bind {
    /// The binding's number.
    pub binding: u32,
    /// What is bound.
    pub kind: vk::DescriptorType,
    /// How many; 1 or more.
    pub count: u32,
}

impl Bind {
    /// A binding of one descriptor, seen by all stages.
    #[must_use]
    pub fn new(binding: u32, kind: vk::DescriptorType) -> Self {
        Self {
            binding,
            kind,
            count: 1,
        }
    }
}

/// A descriptor set layout.
#[derive(Debug, Clone)]
pub struct SetLayout(Arc<SetLayoutInner>);

#[derive(Debug)]
struct SetLayoutInner {
    raw: vk::DescriptorSetLayout,
    binds: Vec<Bind>,
    device: Arc<Device>,
}

impl Drop for SetLayoutInner {
    fn drop(&mut self) {
        // SAFETY: sets and pipeline layouts made from it hold an Arc.
        unsafe {
            self.device
                .raw()
                .destroy_descriptor_set_layout(self.raw, None);
        }
    }
}

impl SetLayout {
    /// Whether a set of one is compatible with the other: they have the same bindings.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.0.binds == other.0.binds
    }
}

/// A pipeline layout.
#[derive(Debug, Clone)]
pub struct Layout(pub(super) Arc<LayoutInner>);

#[derive(Debug)]
pub(super) struct LayoutInner {
    pub(super) raw: vk::PipelineLayout,
    pub(super) sets: Vec<SetLayout>,
    /// Bytes of push constants, visible to all stages.
    pub(super) push: u32,
    device: Arc<Device>,
}

impl Drop for LayoutInner {
    fn drop(&mut self) {
        // SAFETY: pipelines made from it hold an Arc.
        unsafe { self.device.raw().destroy_pipeline_layout(self.raw, None) };
    }
}

/// What one descriptor refers to.
#[derive(Debug, Clone)]
pub enum Resource<'a> {
    /// A range of a buffer, in bytes. For dynamic kinds the offset of a draw is added.
    Buffer(&'a Buffer, u64, u64),
    /// An image, sampled through a sampler.
    Texture(&'a Image, &'a Sampler),
    /// An image without a sampler.
    Image(&'a Image),
    /// A sampler alone.
    Sampler(&'a Sampler),
}

/// A descriptor set, written once.
#[derive(Debug, Clone)]
pub struct BindSet(pub(super) Arc<BindSetInner>);

#[derive(Debug)]
pub(super) struct BindSetInner {
    pub(super) raw: vk::DescriptorSet,
    pool: vk::DescriptorPool,
    pub(super) layout: SetLayout,
    /// Dynamic buffers in the order of their bindings: what an offset may be added to.
    pub(super) dynamic: Vec<DynamicRange>,
    _keep: Vec<Keep>,
    device: Arc<Device>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct DynamicRange {
    binding: u32,
    element: u32,
    pub(super) offset: u64,
    pub(super) len: u64,
    pub(super) size: u64,
    pub(super) alignment: u64,
}

#[derive(Debug)]
#[allow(
    dead_code,
    reason = "held so that a set never refers to a destroyed object"
)]
enum Keep {
    Buffer(Buffer),
    Image(Image),
    Sampler(Sampler),
}

impl Drop for BindSetInner {
    fn drop(&mut self) {
        // SAFETY: no submission is pending, see `Scratch::submit`.
        unsafe { self.device.raw().destroy_descriptor_pool(self.pool, None) };
    }
}

/// A shader stage.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// The module.
    pub shader: &'a Shader,
    /// The entry point's name.
    pub entry: &'a str,
    /// Specialisation constants: id, and the 32-bit value.
    pub constants: &'a [(u32, u32)],
}

impl<'a> Stage<'a> {
    /// The entry point `main`, not specialised.
    #[must_use]
    pub fn main(shader: &'a Shader) -> Self {
        Self {
            shader,
            entry: "main",
            constants: &[],
        }
    }
}

/// The vertex input state of a graphics pipeline.
#[derive(Debug, Clone, Copy)]
pub enum VertexInput<'a> {
    /// Part of the pipeline.
    Fixed {
        /// The bindings.
        bindings: &'a [vk::VertexInputBindingDescription],
        /// The attributes.
        attributes: &'a [vk::VertexInputAttributeDescription],
        /// Divisors of per-instance bindings, where they are not 1: binding, divisor.
        divisors: &'a [(u32, u32)],
    },
    /// Given by each draw, through `VK_EXT_vertex_input_dynamic_state`.
    Dynamic,
}

impl VertexInput<'_> {
    /// No vertex buffers at all.
    pub const NONE: VertexInput<'static> = VertexInput::Fixed {
        bindings: &[],
        attributes: &[],
        divisors: &[],
    };
}

/// A colour attachment of a pipeline.
#[derive(Debug, Clone, Copy)]
pub struct Attachment {
    /// The format.
    pub format: vk::Format,
    /// How the colour is blended.
    pub blend: vk::PipelineColorBlendAttachmentState,
}

impl Attachment {
    /// An attachment that is overwritten in all channels.
    #[must_use]
    pub fn write(format: vk::Format) -> Self {
        Self {
            format,
            blend: vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA),
        }
    }
}

/// The depth test of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// The attachment's format.
    pub format: vk::Format,
    /// The comparison.
    pub compare: vk::CompareOp,
    /// Whether passing depths are written.
    pub write: bool,
}

/// A graphics pipeline for dynamic rendering. The viewport covers the attachments.
#[derive(Debug, Clone, Copy)]
pub struct GraphicsDesc<'a> {
    /// The vertex stage.
    pub vertex: Stage<'a>,
    /// The fragment stage; `None` for depth only.
    pub fragment: Option<Stage<'a>>,
    /// The pipeline layout.
    pub layout: &'a Layout,
    /// The vertex input.
    pub input: VertexInput<'a>,
    /// The topology.
    pub topology: vk::PrimitiveTopology,
    /// The colour attachments.
    pub colours: &'a [Attachment],
    /// The depth attachment.
    pub depth: Option<Depth>,
    /// Whether nothing is rasterised.
    pub discard: bool,
}

impl<'a> GraphicsDesc<'a> {
    /// A triangle list without vertex buffers and attachments.
    #[must_use]
    pub fn new(vertex: Stage<'a>, fragment: Option<Stage<'a>>, layout: &'a Layout) -> Self {
        Self {
            vertex,
            fragment,
            layout,
            input: VertexInput::NONE,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            colours: &[],
            depth: None,
            discard: false,
        }
    }
}

/// A compute pipeline.
#[derive(Debug, Clone, Copy)]
pub struct ComputeDesc<'a> {
    /// The stage.
    pub stage: Stage<'a>,
    /// The pipeline layout.
    pub layout: &'a Layout,
}

/// A graphics or compute pipeline.
#[derive(Debug, Clone)]
pub struct Pipeline(pub(super) Arc<PipelineInner>);

#[derive(Debug)]
pub(super) struct PipelineInner {
    pub(super) raw: vk::Pipeline,
    pub(super) layout: Layout,
    pub(super) graphics: Option<GraphicsFacts>,
    device: Arc<Device>,
}

/// What a draw must agree with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GraphicsFacts {
    pub(super) colours: Vec<vk::Format>,
    pub(super) depth: vk::Format,
    /// The bindings that need a buffer; `None` if each draw says.
    pub(super) bindings: Option<Vec<u32>>,
}

impl Drop for PipelineInner {
    fn drop(&mut self) {
        // SAFETY: no submission is pending, see `Scratch::submit`.
        unsafe { self.device.raw().destroy_pipeline(self.raw, None) };
    }
}

const ALL_STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::VERTEX.as_raw()
        | vk::ShaderStageFlags::FRAGMENT.as_raw()
        | vk::ShaderStageFlags::COMPUTE.as_raw(),
);

/// The stages that push constants of the harness are visible to.
pub(super) const PUSH_STAGES: vk::ShaderStageFlags = ALL_STAGES;

fn is_dynamic(kind: vk::DescriptorType) -> bool {
    matches!(
        kind,
        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
    )
}

impl Scratch {
    /// A shader module from SPIR-V words, which must be valid: see the module's documentation.
    ///
    /// # Errors
    /// [`ScratchError::Invalid`] if the words have no SPIR-V header, or a failed call.
    pub fn shader(&self, words: &[u32]) -> Result<Shader, ScratchError> {
        if words.len() < 5 || words[0] != 0x0723_0203 {
            return Err(ScratchError::Invalid("this is not SPIR-V".into()));
        }
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the words live until the call returns; that they are valid SPIR-V is the
        // caller's promise.
        let raw = unsafe { self.device.raw().create_shader_module(&info, None) }
            .map_err(failed("vkCreateShaderModule"))?;
        Ok(Shader(Arc::new(ShaderInner {
            raw,
            device: Arc::clone(&self.device),
        })))
    }

    /// A descriptor set layout.
    ///
    /// # Errors
    /// [`ScratchError::Invalid`] if a binding is given twice, or a failed call.
    pub fn set_layout(&self, binds: &[Bind]) -> Result<SetLayout, ScratchError> {
        let mut binds = binds.to_vec();
        binds.sort_by_key(|bind| bind.binding);
        if binds
            .windows(2)
            .any(|pair| pair[0].binding == pair[1].binding)
        {
            return Err(ScratchError::Invalid("a binding is given twice".into()));
        }
        let bindings: Vec<_> = binds
            .iter()
            .map(|bind| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(bind.binding)
                    .descriptor_type(bind.kind)
                    .descriptor_count(bind.count)
                    .stage_flags(ALL_STAGES)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: a valid create-info.
        let raw = unsafe { self.device.raw().create_descriptor_set_layout(&info, None) }
            .map_err(failed("vkCreateDescriptorSetLayout"))?;
        Ok(SetLayout(Arc::new(SetLayoutInner {
            raw,
            binds,
            device: Arc::clone(&self.device),
        })))
    }

    /// A pipeline layout of these sets, with push constants of `push` bytes for all stages.
    ///
    /// # Errors
    /// [`ScratchError::Invalid`] if the push constants are too large or not whole words.
    pub fn layout(&self, sets: &[&SetLayout], push: u32) -> Result<Layout, ScratchError> {
        let most = self.device.capabilities().limits.max_push_constants_size;
        if push > most || !push.is_multiple_of(4) {
            return Err(ScratchError::Invalid(format!(
                "{push} bytes of push constants; a multiple of 4 up to {most} is possible"
            )));
        }
        let raws: Vec<_> = sets.iter().map(|set| set.0.raw).collect();
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(PUSH_STAGES)
            .size(push)];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&raws);
        if push > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: a valid create-info; the set layouts are alive.
        let raw = unsafe { self.device.raw().create_pipeline_layout(&info, None) }
            .map_err(failed("vkCreatePipelineLayout"))?;
        Ok(Layout(Arc::new(LayoutInner {
            raw,
            sets: sets.iter().copied().cloned().collect(),
            push,
            device: Arc::clone(&self.device),
        })))
    }

    /// A descriptor set of this layout. Each resource goes to the next free element of the
    /// binding that it names; every element must be given.
    ///
    /// # Errors
    /// [`ScratchError::Invalid`] if a resource is missing, too many or of the wrong kind;
    /// [`ScratchError::OutOfRange`] if a range is outside of its buffer.
    pub fn bind_set(
        &self,
        layout: &SetLayout,
        resources: &[(u32, Resource<'_>)],
    ) -> Result<BindSet, ScratchError> {
        let binds = &layout.0.binds;
        if binds.is_empty() {
            return Err(ScratchError::Invalid("a set of no bindings".into()));
        }
        let total: u32 = binds.iter().map(|bind| bind.count).sum();
        if resources.len() != total as usize {
            return Err(ScratchError::Invalid(format!(
                "{} resources for {total} descriptors",
                resources.len()
            )));
        }
        let mut planned = Vec::new();
        let mut keep = Vec::new();
        let mut dynamic = Vec::new();
        let limits = &self.device.capabilities().limits;
        for (place, (binding, resource)) in resources.iter().enumerate() {
            let bind = binds
                .iter()
                .find(|bind| bind.binding == *binding)
                .ok_or_else(|| ScratchError::Invalid(format!("there is no binding {binding}")))?;
            let element = resources[..place]
                .iter()
                .filter(|(other, _)| other == binding)
                .count() as u32;
            if element >= bind.count {
                return Err(ScratchError::Invalid(format!(
                    "too many resources for binding {binding}"
                )));
            }
            let info = describe(bind, resource, limits)?;
            match resource {
                Resource::Buffer(buffer, offset, len) => {
                    if is_dynamic(bind.kind) {
                        dynamic.push(DynamicRange {
                            binding: *binding,
                            element,
                            offset: *offset,
                            len: *len,
                            size: buffer.size(),
                            alignment: offset_alignment(bind.kind, limits),
                        });
                    }
                    keep.push(Keep::Buffer((*buffer).clone()));
                }
                Resource::Texture(image, sampler) => {
                    keep.push(Keep::Image((*image).clone()));
                    keep.push(Keep::Sampler((*sampler).clone()));
                }
                Resource::Image(image) => keep.push(Keep::Image((*image).clone())),
                Resource::Sampler(sampler) => keep.push(Keep::Sampler((*sampler).clone())),
            }
            planned.push((*binding, element, bind.kind, info));
        }
        dynamic.sort_by_key(|range| (range.binding, range.element));

        let sizes: Vec<_> = binds
            .iter()
            .map(|bind| {
                vk::DescriptorPoolSize::default()
                    .ty(bind.kind)
                    .descriptor_count(bind.count)
            })
            .collect();
        let pool_info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        let raw = self.device.raw();
        // SAFETY: valid create-infos; `inner` owns the pool as soon as it exists.
        let inner = unsafe {
            let pool = raw
                .create_descriptor_pool(&pool_info, None)
                .map_err(failed("vkCreateDescriptorPool"))?;
            let mut inner = BindSetInner {
                raw: vk::DescriptorSet::null(),
                pool,
                layout: layout.clone(),
                dynamic,
                _keep: keep,
                device: Arc::clone(&self.device),
            };
            let layouts = [layout.0.raw];
            inner.raw = raw
                .allocate_descriptor_sets(
                    &vk::DescriptorSetAllocateInfo::default()
                        .descriptor_pool(pool)
                        .set_layouts(&layouts),
                )
                .map_err(failed("vkAllocateDescriptorSets"))?[0];
            inner
        };
        let writes: Vec<_> = planned
            .iter()
            .map(|(binding, element, kind, info)| {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(inner.raw)
                    .dst_binding(*binding)
                    .dst_array_element(*element)
                    .descriptor_type(*kind);
                match info {
                    Info::Buffer(info) => write.buffer_info(std::slice::from_ref(info)),
                    Info::Image(info) => write.image_info(std::slice::from_ref(info)),
                }
            })
            .collect();
        // SAFETY: the set is new, and kinds, ranges and usages were checked by `describe`.
        unsafe { raw.update_descriptor_sets(&writes, &[]) };
        Ok(BindSet(Arc::new(inner)))
    }

    /// A compute pipeline.
    ///
    /// # Errors
    /// A failed call.
    pub fn compute(&self, desc: &ComputeDesc<'_>) -> Result<Pipeline, ScratchError> {
        let owned = OwnedStage::new(&desc.stage)?;
        let special = owned.special();
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(owned.info(vk::ShaderStageFlags::COMPUTE, &special))
            .layout(desc.layout.0.raw);
        // SAFETY: the create-info and all it points to live until the call returns.
        let made = unsafe {
            self.device
                .raw()
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
        };
        self.pipeline("vkCreateComputePipelines", made, desc.layout, None)
    }

    /// A graphics pipeline.
    ///
    /// # Errors
    /// [`ScratchError::Missing`] if the device lacks what the description uses, or a failed call.
    pub fn graphics(&self, desc: &GraphicsDesc<'_>) -> Result<Pipeline, ScratchError> {
        let has = |feature| {
            if self.device.features().has(feature) {
                Ok(())
            } else {
                Err(ScratchError::Missing(feature))
            }
        };
        has(Feature::DynamicRendering)?;
        let mut stages_owned = vec![(vk::ShaderStageFlags::VERTEX, OwnedStage::new(&desc.vertex)?)];
        if let Some(fragment) = &desc.fragment {
            stages_owned.push((vk::ShaderStageFlags::FRAGMENT, OwnedStage::new(fragment)?));
        }
        let specials: Vec<_> = stages_owned.iter().map(|(_, s)| s.special()).collect();
        let stages: Vec<_> = stages_owned
            .iter()
            .zip(&specials)
            .map(|((stage, owned), special)| owned.info(*stage, special))
            .collect();

        let mut dynamic = vec![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let mut divisors = Vec::new();
        let mut input = vk::PipelineVertexInputStateCreateInfo::default();
        let bindings = match desc.input {
            VertexInput::Dynamic => {
                has(Feature::VertexInputDynamicState)?;
                dynamic.push(vk::DynamicState::VERTEX_INPUT_EXT);
                None
            }
            VertexInput::Fixed {
                bindings,
                attributes,
                divisors: given,
            } => {
                for &(binding, divisor) in given {
                    has(Feature::VertexAttributeInstanceRateDivisor)?;
                    if divisor == 0 {
                        has(Feature::VertexAttributeInstanceRateZeroDivisor)?;
                    }
                    divisors.push(vk::VertexInputBindingDivisorDescriptionKHR { binding, divisor });
                }
                input = input
                    .vertex_binding_descriptions(bindings)
                    .vertex_attribute_descriptions(attributes);
                Some(bindings.iter().map(|binding| binding.binding).collect())
            }
        };
        let mut divisor_info = vk::PipelineVertexInputDivisorStateCreateInfoKHR::default()
            .vertex_binding_divisors(&divisors);
        if !divisors.is_empty() {
            input = input.push_next(&mut divisor_info);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(desc.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default()
            .viewport_count(1)
            .scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .rasterizer_discard_enable(desc.discard)
            .line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth =
            desc.depth
                .map_or_else(vk::PipelineDepthStencilStateCreateInfo::default, |depth| {
                    vk::PipelineDepthStencilStateCreateInfo::default()
                        .depth_test_enable(true)
                        .depth_write_enable(depth.write)
                        .depth_compare_op(depth.compare)
                });
        let blends: Vec<_> = desc.colours.iter().map(|colour| colour.blend).collect();
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
        let facts = GraphicsFacts {
            colours: desc.colours.iter().map(|colour| colour.format).collect(),
            depth: desc
                .depth
                .map_or(vk::Format::UNDEFINED, |depth| depth.format),
            bindings,
        };
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&facts.colours)
            .depth_attachment_format(facts.depth);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(desc.layout.0.raw)
            .push_next(&mut rendering);
        // SAFETY: the create-info and all it points to live until the call returns.
        let made = unsafe {
            self.device
                .raw()
                .create_graphics_pipelines(vk::PipelineCache::null(), &[info], None)
        };
        self.pipeline("vkCreateGraphicsPipelines", made, desc.layout, Some(facts))
    }

    fn pipeline(
        &self,
        call: &'static str,
        made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
        layout: &Layout,
        graphics: Option<GraphicsFacts>,
    ) -> Result<Pipeline, ScratchError> {
        let raw = made.map_err(|(_, result)| failed(call)(result))?[0];
        if raw == vk::Pipeline::null() {
            return Err(failed(call)(vk::Result::ERROR_UNKNOWN));
        }
        Ok(Pipeline(Arc::new(PipelineInner {
            raw,
            layout: layout.clone(),
            graphics,
            device: Arc::clone(&self.device),
        })))
    }
}

enum Info {
    Buffer(vk::DescriptorBufferInfo),
    Image(vk::DescriptorImageInfo),
}

fn offset_alignment(kind: vk::DescriptorType, limits: &vk::PhysicalDeviceLimits) -> u64 {
    match kind {
        vk::DescriptorType::UNIFORM_BUFFER | vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC => {
            limits.min_uniform_buffer_offset_alignment
        }
        _ => limits.min_storage_buffer_offset_alignment,
    }
    .max(1)
}

fn describe(
    bind: &Bind,
    resource: &Resource<'_>,
    limits: &vk::PhysicalDeviceLimits,
) -> Result<Info, ScratchError> {
    use vk::DescriptorType as D;
    let image = |image: Option<&Image>, sampler: Option<&Sampler>| {
        Info::Image(vk::DescriptorImageInfo {
            sampler: sampler.map_or(vk::Sampler::null(), |sampler| sampler.0.raw),
            image_view: image.map_or(vk::ImageView::null(), |image| image.0.view),
            image_layout: vk::ImageLayout::GENERAL,
        })
    };
    match (bind.kind, resource) {
        (
            D::UNIFORM_BUFFER
            | D::UNIFORM_BUFFER_DYNAMIC
            | D::STORAGE_BUFFER
            | D::STORAGE_BUFFER_DYNAMIC,
            Resource::Buffer(buffer, offset, len),
        ) => {
            in_range("buffer", *offset, *len, buffer.size())?;
            let alignment = offset_alignment(bind.kind, limits);
            let most = match bind.kind {
                D::UNIFORM_BUFFER | D::UNIFORM_BUFFER_DYNAMIC => limits.max_uniform_buffer_range,
                _ => limits.max_storage_buffer_range,
            };
            if *len == 0 || *len > u64::from(most) || !offset.is_multiple_of(alignment) {
                return Err(ScratchError::Invalid(format!(
                    "binding {}: {len} bytes at {offset}; 1 to {most} at a multiple of {alignment} are possible",
                    bind.binding
                )));
            }
            Ok(Info::Buffer(vk::DescriptorBufferInfo {
                buffer: buffer.0.raw,
                offset: *offset,
                range: *len,
            }))
        }
        (D::COMBINED_IMAGE_SAMPLER, Resource::Texture(texture, sampler)) => {
            Ok(image(Some(texture), Some(sampler)))
        }
        (D::SAMPLED_IMAGE | D::STORAGE_IMAGE, Resource::Image(plain)) => {
            Ok(image(Some(plain), None))
        }
        (D::SAMPLER, Resource::Sampler(sampler)) => Ok(image(None, Some(sampler))),
        (kind, _) => Err(ScratchError::Invalid(format!(
            "binding {} is of kind {kind:?}, and the resource is not",
            bind.binding
        ))),
    }
}

/// A stage with the memory that its create-info points to.
struct OwnedStage {
    module: vk::ShaderModule,
    entry: CString,
    entries: Vec<vk::SpecializationMapEntry>,
    data: Vec<u8>,
}

impl OwnedStage {
    fn new(stage: &Stage<'_>) -> Result<Self, ScratchError> {
        Ok(Self {
            module: stage.shader.0.raw,
            entry: CString::new(stage.entry)
                .map_err(|_| ScratchError::Invalid("an entry point's name has a zero".into()))?,
            entries: (0_u32..)
                .zip(stage.constants)
                .map(|(index, (id, _))| vk::SpecializationMapEntry {
                    constant_id: *id,
                    offset: index * 4,
                    size: 4,
                })
                .collect(),
            // Specialisation data are in the host's order, which the device shares.
            data: stage
                .constants
                .iter()
                .flat_map(|(_, value)| value.to_le_bytes())
                .collect(),
        })
    }

    fn special(&self) -> vk::SpecializationInfo<'_> {
        vk::SpecializationInfo::default()
            .map_entries(&self.entries)
            .data(&self.data)
    }

    fn info<'a>(
        &'a self,
        stage: vk::ShaderStageFlags,
        special: &'a vk::SpecializationInfo<'a>,
    ) -> vk::PipelineShaderStageCreateInfo<'a> {
        let info = vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .module(self.module)
            .name(&self.entry);
        if self.entries.is_empty() {
            info
        } else {
            info.specialization_info(special)
        }
    }
}
