//! What is submitted: passes of draws, and dispatches, one after another.

use super::pipeline::PUSH_STAGES;
use super::{
    BindSet, Buffer, Image, ImageShape, Pipeline, Scratch, ScratchError, failed, full_barrier,
    in_range,
};
use crate::features::Feature;
use ash::vk;

/// What happens to an attachment before the first draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load<T> {
    /// It keeps what it holds.
    Keep,
    /// It is filled with this value.
    Clear(T),
}

/// A colour attachment of a pass.
#[derive(Debug, Clone, Copy)]
pub struct ColourTarget<'a> {
    /// The image: of two dimensions.
    pub image: &'a Image,
    /// What happens to it first. The four values are those of a float format.
    pub load: Load<[f32; 4]>,
}

/// The depth attachment of a pass.
#[derive(Debug, Clone, Copy)]
pub struct DepthTarget<'a> {
    /// The image: of two dimensions, with a depth format.
    pub image: &'a Image,
    /// What happens to it first.
    pub load: Load<f32>,
}

/// A vertex buffer, from an offset in bytes on, at a binding.
#[derive(Debug, Clone, Copy)]
pub struct VertexBuffer<'a> {
    /// The binding's number.
    pub binding: u32,
    /// The buffer.
    pub buffer: &'a Buffer,
    /// The first byte.
    pub offset: u64,
}

/// The type of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexType {
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
}

/// An index buffer from an offset in bytes on.
#[derive(Debug, Clone, Copy)]
pub struct Index<'a> {
    /// The buffer.
    pub buffer: &'a Buffer,
    /// The first byte, a multiple of the index's size.
    pub offset: u64,
    /// The type of an index.
    pub ty: IndexType,
}

/// The call of a draw.
#[derive(Debug, Clone, Copy)]
pub enum DrawCall<'a> {
    /// `vkCmdDraw`.
    Direct {
        /// How many vertices.
        vertices: u32,
        /// How many instances.
        instances: u32,
        /// The first vertex.
        first_vertex: u32,
        /// The first instance.
        first_instance: u32,
    },
    /// `vkCmdDrawIndexed`.
    Indexed {
        /// The index buffer.
        index: Index<'a>,
        /// How many indices.
        indices: u32,
        /// How many instances.
        instances: u32,
        /// The first index.
        first_index: u32,
        /// What is added to each index.
        vertex_offset: i32,
        /// The first instance.
        first_instance: u32,
    },
    /// `vkCmdDrawIndirect`: records of four words (`VkDrawIndirectCommand`).
    Indirect {
        /// The buffer.
        buffer: &'a Buffer,
        /// The first record's offset in bytes.
        offset: u64,
        /// How many records, 16 bytes apart.
        count: u32,
    },
    /// `vkCmdDrawIndexedIndirect`: records of five words (`VkDrawIndexedIndirectCommand`).
    IndexedIndirect {
        /// The index buffer.
        index: Index<'a>,
        /// The buffer.
        buffer: &'a Buffer,
        /// The first record's offset in bytes.
        offset: u64,
        /// How many records, 20 bytes apart.
        count: u32,
    },
}

impl DrawCall<'_> {
    /// One instance of so many vertices.
    #[must_use]
    pub fn vertices(vertices: u32) -> Self {
        Self::Direct {
            vertices,
            instances: 1,
            first_vertex: 0,
            first_instance: 0,
        }
    }
}

/// A draw, with all that it uses.
#[derive(Debug, Clone, Copy)]
pub struct Draw<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// A set for each of the layout's set layouts, with one dynamic offset in bytes for each of its
    /// dynamic buffers in the order of bindings.
    pub sets: &'a [(&'a BindSet, &'a [u32])],
    /// The push constants: all bytes of the layout's range.
    pub push: &'a [u8],
    /// The vertex buffers.
    pub vertex_buffers: &'a [VertexBuffer<'a>],
    /// Bindings and attributes, for pipelines with dynamic vertex input.
    pub input: Option<(
        &'a [vk::VertexInputBindingDescription2EXT<'a>],
        &'a [vk::VertexInputAttributeDescription2EXT<'a>],
    )>,
    /// The call.
    pub call: DrawCall<'a>,
}

impl<'a> Draw<'a> {
    /// A draw that binds nothing.
    #[must_use]
    pub fn new(pipeline: &'a Pipeline, call: DrawCall<'a>) -> Self {
        Self {
            pipeline,
            sets: &[],
            push: &[],
            vertex_buffers: &[],
            input: None,
            call,
        }
    }
}

/// Draws into the same attachments.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// Width and height of what is drawn to, in pixels.
    pub size: (u32, u32),
    /// The colour attachments.
    pub colours: &'a [ColourTarget<'a>],
    /// The depth attachment.
    pub depth: Option<DepthTarget<'a>>,
    /// The draws, in order.
    pub draws: &'a [Draw<'a>],
}

/// A dispatch, with all that it uses.
#[derive(Debug, Clone, Copy)]
pub struct Dispatch<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// As [`Draw::sets`].
    pub sets: &'a [(&'a BindSet, &'a [u32])],
    /// As [`Draw::push`].
    pub push: &'a [u8],
    /// Workgroups in each dimension.
    pub groups: [u32; 3],
}

/// A piece of work. Each sees all that those before it wrote.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Draws.
    Pass(Pass<'a>),
    /// A dispatch.
    Dispatch(Dispatch<'a>),
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Nanoseconds on the device for each step; `None` if the queue has no timestamps.
    pub nanoseconds: Vec<Option<f64>>,
}

impl Scratch {
    /// Does the steps one after another and waits for the last.
    ///
    /// # Errors
    /// [`ScratchError`] if a step does not fit what it uses, before anything is submitted, or if
    /// the submission fails.
    pub fn run(&self, steps: &[Step<'_>]) -> Result<Report, ScratchError> {
        for step in steps {
            match step {
                Step::Pass(pass) => self.check_pass(pass)?,
                Step::Dispatch(dispatch) => {
                    if dispatch.pipeline.0.graphics.is_some() {
                        return Err(invalid("a dispatch of a graphics pipeline"));
                    }
                    let most = self
                        .device
                        .capabilities()
                        .limits
                        .max_compute_work_group_count;
                    if dispatch.groups.iter().zip(most).any(|(n, most)| *n > most) {
                        return Err(invalid("too many workgroups"));
                    }
                    check_bound(dispatch.pipeline, dispatch.sets, dispatch.push)?;
                }
            }
        }
        let queries = Queries::new(self, steps.len())?;
        self.submit(|raw, commands| {
            // SAFETY: all that is bound was checked above and lives until the submission has
            // ended, since the steps borrow it and `submit` waits.
            unsafe {
                queries.reset(raw, commands);
                for (index, step) in (0_u32..).zip(steps) {
                    queries.stamp(raw, commands, index * 2);
                    match step {
                        Step::Pass(pass) => self.record_pass(raw, commands, pass),
                        Step::Dispatch(dispatch) => {
                            bind(
                                raw,
                                commands,
                                dispatch.pipeline,
                                dispatch.sets,
                                dispatch.push,
                            );
                            let [x, y, z] = dispatch.groups;
                            raw.cmd_dispatch(commands, x, y, z);
                        }
                    }
                    queries.stamp(raw, commands, index * 2 + 1);
                    full_barrier(raw, commands);
                }
            }
            Ok(())
        })?;
        Ok(Report {
            nanoseconds: queries.read()?,
        })
    }

    fn check_pass(&self, pass: &Pass<'_>) -> Result<(), ScratchError> {
        if !self.device.features().has(Feature::DynamicRendering) {
            return Err(ScratchError::Missing(Feature::DynamicRendering));
        }
        let limits = &self.device.capabilities().limits;
        let (width, height) = pass.size;
        if !(1..=limits.max_framebuffer_width).contains(&width)
            || !(1..=limits.max_framebuffer_height).contains(&height)
        {
            return Err(invalid("a pass of this size"));
        }
        let images = pass
            .colours
            .iter()
            .map(|target| target.image)
            .chain(pass.depth.iter().map(|target| target.image));
        for image in images {
            let ImageShape::D2(w, h) = image.desc().shape else {
                return Err(invalid("an attachment that is not two-dimensional"));
            };
            if !image.0.attachable || w < width || h < height {
                return Err(invalid(
                    "an attachment that is too small, or of a format that cannot be drawn to",
                ));
            }
        }
        let formats: Vec<_> = pass
            .colours
            .iter()
            .map(|target| target.image.desc().format)
            .collect();
        let depth = pass
            .depth
            .map_or(vk::Format::UNDEFINED, |target| target.image.desc().format);
        for draw in pass.draws {
            let Some(facts) = &draw.pipeline.0.graphics else {
                return Err(invalid("a draw with a compute pipeline"));
            };
            if facts.colours != formats || facts.depth != depth {
                return Err(invalid(
                    "a pipeline for other attachments than those of the pass",
                ));
            }
            check_bound(draw.pipeline, draw.sets, draw.push)?;
            let needed: Vec<u32> = match (&facts.bindings, draw.input) {
                (Some(bindings), None) => bindings.clone(),
                (None, Some((bindings, _))) => {
                    bindings.iter().map(|binding| binding.binding).collect()
                }
                _ => {
                    return Err(invalid(
                        "vertex input in the draw of a pipeline that has its own, or in neither",
                    ));
                }
            };
            for binding in needed {
                if !draw.vertex_buffers.iter().any(|b| b.binding == binding) {
                    return Err(invalid("a vertex binding without a buffer"));
                }
            }
            for buffer in draw.vertex_buffers {
                if buffer.binding >= limits.max_vertex_input_bindings
                    || buffer.offset >= buffer.buffer.size()
                {
                    return Err(invalid("a vertex buffer outside of its range"));
                }
            }
            self.check_call(&draw.call)?;
        }
        Ok(())
    }

    fn check_call(&self, call: &DrawCall<'_>) -> Result<(), ScratchError> {
        let indices = |index: &Index<'_>, first: u64, count: u64| {
            let size = index_size(index.ty);
            if !index.offset.is_multiple_of(size) {
                return Err(invalid("an index buffer that is not aligned"));
            }
            in_range(
                "index buffer",
                index.offset.saturating_add(first * size),
                count * size,
                index.buffer.size(),
            )
        };
        let records = |buffer: &Buffer, offset: u64, count: u32, size: u64| {
            if !offset.is_multiple_of(4) {
                return Err(invalid("indirect records that are not aligned"));
            }
            if count > 1 && !self.device.features().has(Feature::MultiDrawIndirect) {
                return Err(ScratchError::Missing(Feature::MultiDrawIndirect));
            }
            in_range("buffer", offset, u64::from(count) * size, buffer.size())
        };
        match call {
            DrawCall::Direct { .. } => Ok(()),
            DrawCall::Indexed {
                index,
                indices: count,
                first_index,
                ..
            } => indices(index, u64::from(*first_index), u64::from(*count)),
            DrawCall::Indirect {
                buffer,
                offset,
                count,
            } => records(buffer, *offset, *count, 16),
            DrawCall::IndexedIndirect {
                index,
                buffer,
                offset,
                count,
            } => {
                indices(index, 0, 1)?;
                records(buffer, *offset, *count, 20)
            }
        }
    }

    /// # Safety
    /// The pass was checked, and what it uses outlives the submission.
    unsafe fn record_pass(&self, raw: &ash::Device, commands: vk::CommandBuffer, pass: &Pass<'_>) {
        let Some(rendering) = &self.device.dynamic_rendering else {
            return;
        };
        let area = vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent: vk::Extent2D {
                width: pass.size.0,
                height: pass.size.1,
            },
        };
        let attachment = |image: &Image| {
            vk::RenderingAttachmentInfo::default()
                .image_view(image.0.view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::LOAD)
                .store_op(vk::AttachmentStoreOp::STORE)
        };
        let colours: Vec<_> = pass
            .colours
            .iter()
            .map(|target| match target.load {
                Load::Keep => attachment(target.image),
                Load::Clear(float32) => attachment(target.image)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .clear_value(vk::ClearValue {
                        color: vk::ClearColorValue { float32 },
                    }),
            })
            .collect();
        let depth = pass.depth.map(|target| match target.load {
            Load::Keep => attachment(target.image),
            Load::Clear(depth) => attachment(target.image)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .clear_value(vk::ClearValue {
                    depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 0 },
                }),
        });
        let mut info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&colours);
        if let Some(depth) = &depth {
            info = info.depth_attachment(depth);
        }
        let viewport = [vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: pass.size.0 as f32,
            height: pass.size.1 as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        }];
        // SAFETY: the caller's promise.
        unsafe {
            rendering.cmd_begin_rendering(commands, &info);
            raw.cmd_set_viewport(commands, 0, &viewport);
            raw.cmd_set_scissor(commands, 0, &[area]);
            for draw in pass.draws {
                bind(raw, commands, draw.pipeline, draw.sets, draw.push);
                if let (Some((bindings, attributes)), Some(input)) =
                    (draw.input, &self.device.vertex_input)
                {
                    input.cmd_set_vertex_input(commands, bindings, attributes);
                }
                for buffer in draw.vertex_buffers {
                    raw.cmd_bind_vertex_buffers(
                        commands,
                        buffer.binding,
                        &[buffer.buffer.0.raw],
                        &[buffer.offset],
                    );
                }
                record_call(raw, commands, &draw.call);
            }
            rendering.cmd_end_rendering(commands);
        }
    }
}

/// # Safety
/// As [`Scratch::record_pass`].
unsafe fn record_call(raw: &ash::Device, commands: vk::CommandBuffer, call: &DrawCall<'_>) {
    let bind_index = |index: &Index<'_>| {
        let ty = match index.ty {
            IndexType::U16 => vk::IndexType::UINT16,
            IndexType::U32 => vk::IndexType::UINT32,
        };
        // SAFETY: the caller's promise.
        unsafe { raw.cmd_bind_index_buffer(commands, index.buffer.0.raw, index.offset, ty) };
    };
    // SAFETY: the caller's promise.
    unsafe {
        match call {
            DrawCall::Direct {
                vertices,
                instances,
                first_vertex,
                first_instance,
            } => raw.cmd_draw(
                commands,
                *vertices,
                *instances,
                *first_vertex,
                *first_instance,
            ),
            DrawCall::Indexed {
                index,
                indices,
                instances,
                first_index,
                vertex_offset,
                first_instance,
            } => {
                bind_index(index);
                raw.cmd_draw_indexed(
                    commands,
                    *indices,
                    *instances,
                    *first_index,
                    *vertex_offset,
                    *first_instance,
                );
            }
            DrawCall::Indirect {
                buffer,
                offset,
                count,
            } => raw.cmd_draw_indirect(commands, buffer.0.raw, *offset, *count, 16),
            DrawCall::IndexedIndirect {
                index,
                buffer,
                offset,
                count,
            } => {
                bind_index(index);
                raw.cmd_draw_indexed_indirect(commands, buffer.0.raw, *offset, *count, 20);
            }
        }
    }
}

/// # Safety
/// Sets and push constants were checked against the pipeline's layout.
unsafe fn bind(
    raw: &ash::Device,
    commands: vk::CommandBuffer,
    pipeline: &Pipeline,
    sets: &[(&BindSet, &[u32])],
    push: &[u8],
) {
    let point = if pipeline.0.graphics.is_some() {
        vk::PipelineBindPoint::GRAPHICS
    } else {
        vk::PipelineBindPoint::COMPUTE
    };
    let layout = pipeline.0.layout.0.raw;
    // SAFETY: the caller's promise.
    unsafe {
        raw.cmd_bind_pipeline(commands, point, pipeline.0.raw);
        for (index, (set, offsets)) in (0_u32..).zip(sets) {
            raw.cmd_bind_descriptor_sets(commands, point, layout, index, &[set.0.raw], offsets);
        }
        if !push.is_empty() {
            raw.cmd_push_constants(commands, layout, PUSH_STAGES, 0, push);
        }
    }
}

fn check_bound(
    pipeline: &Pipeline,
    sets: &[(&BindSet, &[u32])],
    push: &[u8],
) -> Result<(), ScratchError> {
    let layout = &pipeline.0.layout.0;
    if push.len() != layout.push as usize {
        return Err(ScratchError::Invalid(format!(
            "{} bytes of push constants for a layout of {}",
            push.len(),
            layout.push
        )));
    }
    if sets.len() != layout.sets.len() {
        return Err(ScratchError::Invalid(format!(
            "{} sets for a layout of {}",
            sets.len(),
            layout.sets.len()
        )));
    }
    for ((set, offsets), wanted) in sets.iter().zip(&layout.sets) {
        if !set.0.layout.same(wanted) {
            return Err(invalid("a set of another layout"));
        }
        if offsets.len() != set.0.dynamic.len() {
            return Err(invalid("not one dynamic offset for each dynamic buffer"));
        }
        for (offset, range) in offsets.iter().zip(&set.0.dynamic) {
            let offset = u64::from(*offset);
            if !offset.is_multiple_of(range.alignment) {
                return Err(invalid("a dynamic offset that is not aligned"));
            }
            in_range(
                "buffer",
                range.offset.saturating_add(offset),
                range.len,
                range.size,
            )?;
        }
    }
    Ok(())
}

fn index_size(ty: IndexType) -> u64 {
    match ty {
        IndexType::U16 => 2,
        IndexType::U32 => 4,
    }
}

fn invalid(what: &str) -> ScratchError {
    ScratchError::Invalid(what.into())
}

/// Two timestamps for each step.
struct Queries<'a> {
    pool: Option<vk::QueryPool>,
    steps: usize,
    scratch: &'a Scratch,
}

impl<'a> Queries<'a> {
    fn new(scratch: &'a Scratch, steps: usize) -> Result<Self, ScratchError> {
        let mut queries = Self {
            pool: None,
            steps,
            scratch,
        };
        if scratch.device.timestamp_bits() == 0 || steps == 0 {
            return Ok(queries);
        }
        let count = u32::try_from(steps * 2).map_err(|_| invalid("too many steps"))?;
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        // SAFETY: a valid create-info.
        let pool = unsafe { scratch.device.raw().create_query_pool(&info, None) }
            .map_err(failed("vkCreateQueryPool"))?;
        queries.pool = Some(pool);
        Ok(queries)
    }

    unsafe fn reset(&self, raw: &ash::Device, commands: vk::CommandBuffer) {
        if let Some(pool) = self.pool {
            // SAFETY: the pool has two queries for each step.
            unsafe { raw.cmd_reset_query_pool(commands, pool, 0, self.steps as u32 * 2) };
        }
    }

    unsafe fn stamp(&self, raw: &ash::Device, commands: vk::CommandBuffer, query: u32) {
        if let Some(pool) = self.pool {
            // SAFETY: as above; each query is written once.
            unsafe {
                raw.cmd_write_timestamp(
                    commands,
                    vk::PipelineStageFlags::BOTTOM_OF_PIPE,
                    pool,
                    query,
                );
            }
        }
    }

    fn read(&self) -> Result<Vec<Option<f64>>, ScratchError> {
        let Some(pool) = self.pool else {
            return Ok(vec![None; self.steps]);
        };
        let device = &self.scratch.device;
        // A driver that executes nothing never writes them: asked for without waiting.
        let mut values = vec![[0_u64; 2]; self.steps * 2];
        // SAFETY: the buffer has room for a value and its availability for each query.
        let result = unsafe {
            device.raw().get_query_pool_results(
                pool,
                0,
                &mut values,
                vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY,
            )
        };
        match result {
            Ok(()) | Err(vk::Result::NOT_READY) => {}
            Err(result) => return Err(failed("vkGetQueryPoolResults")(result)),
        }
        let period = f64::from(device.capabilities().limits.timestamp_period);
        let bits = device.timestamp_bits().min(64);
        let mask = u64::MAX >> (64 - bits);
        Ok(values
            .chunks_exact(2)
            .map(|pair| {
                let [[start, known_start], [end, known_end]] = [pair[0], pair[1]];
                (known_start != 0 && known_end != 0)
                    .then(|| (end.wrapping_sub(start) & mask) as f64 * period)
            })
            .collect())
    }
}

impl Drop for Queries<'_> {
    fn drop(&mut self) {
        if let Some(pool) = self.pool {
            // SAFETY: the submission that used it has ended.
            unsafe { self.scratch.device.raw().destroy_query_pool(pool, None) };
        }
    }
}
