//! Buffers, images and samplers of the harness.

use super::{Scratch, ScratchError, failed, full_barrier, in_range};
use crate::device::Device;
use crate::features::Feature;
use ash::vk;
use std::sync::Arc;

/// Where a buffer's memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// In memory that the host sees: simple, and slow for a GPU to read from many times.
    #[default]
    Host,
    /// In the device's own memory: what is timed should be here.
    Device,
}

/// A buffer that can be bound as anything and has a device address where there is one.
#[derive(Debug, Clone)]
pub struct Buffer(pub(super) Arc<BufferInner>);

#[derive(Debug)]
pub(super) struct BufferInner {
    pub(super) raw: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
    address: Option<u64>,
    /// The start of the mapping, or null. Only `read` and `write` use it.
    mapped: *mut u8,
    device: Arc<Device>,
}

// SAFETY: the mapping is plain memory. Copies through it are atomic to nobody: two threads that
// write and read one buffer at one time are excluded by the recorder's lock in `read` and `write`.
unsafe impl Send for BufferInner {}
// SAFETY: as above.
unsafe impl Sync for BufferInner {}

impl Buffer {
    /// The size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// The device address, where `bufferDeviceAddress` is enabled.
    #[must_use]
    pub fn address(&self) -> Option<u64> {
        self.0.address
    }
}

impl Drop for BufferInner {
    fn drop(&mut self) {
        // SAFETY: no submission is pending that uses it (each is waited for), and sets that
        // refer to it hold an Arc. Freeing memory unmaps it.
        unsafe {
            self.device.raw().destroy_buffer(self.raw, None);
            self.device.raw().free_memory(self.memory, None);
        }
    }
}

/// The shape of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageShape {
    /// Width and height.
    D2(u32, u32),
    /// Width, height and depth.
    D3(u32, u32, u32),
    /// Six faces of this edge.
    Cube(u32),
}

impl ImageShape {
    fn extent(self) -> vk::Extent3D {
        let (width, height, depth) = match self {
            Self::D2(width, height) => (width, height, 1),
            Self::D3(width, height, depth) => (width, height, depth),
            Self::Cube(edge) => (edge, edge, 1),
        };
        vk::Extent3D {
            width,
            height,
            depth,
        }
    }

    fn layers(self) -> u32 {
        if matches!(self, Self::Cube(_)) { 6 } else { 1 }
    }
}

/// What an image is to be: one mip level, one sample, usable as everything that its format allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageDesc {
    /// The shape.
    pub shape: ImageShape,
    /// The format: any colour format of [`texel_bytes`], or a depth format of one aspect.
    pub format: vk::Format,
}

/// An image, always in the general layout.
#[derive(Debug, Clone)]
pub struct Image(pub(super) Arc<ImageInner>);

#[derive(Debug)]
pub(super) struct ImageInner {
    raw: vk::Image,
    memory: vk::DeviceMemory,
    pub(super) view: vk::ImageView,
    pub(super) desc: ImageDesc,
    pub(super) attachable: bool,
    device: Arc<Device>,
}

impl Image {
    /// What the image is.
    #[must_use]
    pub fn desc(&self) -> &ImageDesc {
        &self.0.desc
    }

    /// The size in bytes of its texels, faces and slices one after another, tightly packed.
    #[must_use]
    pub fn byte_size(&self) -> u64 {
        let extent = self.0.desc.shape.extent();
        u64::from(extent.width)
            * u64::from(extent.height)
            * u64::from(extent.depth)
            * u64::from(self.0.desc.shape.layers())
            * u64::from(texel_bytes(self.0.desc.format).unwrap_or(0))
    }

    fn aspect(&self) -> vk::ImageAspectFlags {
        aspect(self.0.desc.format)
    }
}

impl Drop for ImageInner {
    fn drop(&mut self) {
        // SAFETY: as for buffers.
        unsafe {
            self.device.raw().destroy_image_view(self.view, None);
            self.device.raw().destroy_image(self.raw, None);
            self.device.raw().free_memory(self.memory, None);
        }
    }
}

/// How a sampler filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// The nearest texel.
    #[default]
    Nearest,
    /// Linear between texels.
    Linear,
}

/// A sampler.
#[derive(Debug, Clone)]
pub struct Sampler(pub(super) Arc<SamplerInner>);

#[derive(Debug)]
pub(super) struct SamplerInner {
    pub(super) raw: vk::Sampler,
    device: Arc<Device>,
}

impl Drop for SamplerInner {
    fn drop(&mut self) {
        // SAFETY: as for buffers.
        unsafe { self.device.raw().destroy_sampler(self.raw, None) };
    }
}

/// Bytes of one texel of a format that the harness copies, or `None` for other formats.
#[must_use]
pub fn texel_bytes(format: vk::Format) -> Option<u32> {
    use vk::Format as F;
    Some(match format {
        F::R8_UNORM | F::R8_SNORM | F::R8_UINT | F::R8_SINT => 1,
        F::R8G8_UNORM
        | F::R8G8_SNORM
        | F::R8G8_UINT
        | F::R8G8_SINT
        | F::R16_UNORM
        | F::R16_SNORM
        | F::R16_UINT
        | F::R16_SINT
        | F::R16_SFLOAT
        | F::D16_UNORM
        | F::R5G6B5_UNORM_PACK16
        | F::A1R5G5B5_UNORM_PACK16 => 2,
        F::R8G8B8A8_UNORM
        | F::R8G8B8A8_SNORM
        | F::R8G8B8A8_UINT
        | F::R8G8B8A8_SINT
        | F::R8G8B8A8_SRGB
        | F::B8G8R8A8_UNORM
        | F::B8G8R8A8_SRGB
        | F::A2B10G10R10_UNORM_PACK32
        | F::A2R10G10B10_UNORM_PACK32
        | F::B10G11R11_UFLOAT_PACK32
        | F::R16G16_UNORM
        | F::R16G16_SNORM
        | F::R16G16_UINT
        | F::R16G16_SINT
        | F::R16G16_SFLOAT
        | F::R32_UINT
        | F::R32_SINT
        | F::R32_SFLOAT
        | F::D32_SFLOAT => 4,
        F::R16G16B16A16_UNORM
        | F::R16G16B16A16_SNORM
        | F::R16G16B16A16_UINT
        | F::R16G16B16A16_SINT
        | F::R16G16B16A16_SFLOAT
        | F::R32G32_UINT
        | F::R32G32_SINT
        | F::R32G32_SFLOAT => 8,
        F::R32G32B32A32_UINT | F::R32G32B32A32_SINT | F::R32G32B32A32_SFLOAT => 16,
        _ => return None,
    })
}

fn aspect(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D16_UNORM | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    }
}

impl Scratch {
    /// A zeroed buffer in host-visible memory.
    ///
    /// # Errors
    /// [`ScratchError`] if the size is 0 or the driver has no memory.
    pub fn buffer(&self, size: u64) -> Result<Buffer, ScratchError> {
        self.buffer_in(Place::Host, size)
    }

    /// A zeroed buffer in the memory that is asked for.
    ///
    /// # Errors
    /// As [`Self::buffer`].
    pub fn buffer_in(&self, place: Place, size: u64) -> Result<Buffer, ScratchError> {
        let buffer = self.new_buffer(place, size)?;
        self.submit(|raw, commands| {
            // SAFETY: the buffer is new, and the size is a multiple of 4, see `new_buffer`.
            unsafe {
                raw.cmd_fill_buffer(commands, buffer.0.raw, 0, vk::WHOLE_SIZE, 0);
                full_barrier(raw, commands);
            }
            Ok(())
        })?;
        if !buffer.0.mapped.is_null() {
            // SAFETY: the mapping is `size` bytes long and the fill has ended. On a driver that
            // executes nothing (a no-op device) this alone makes the zeroes.
            unsafe { std::ptr::write_bytes(buffer.0.mapped, 0, as_usize(size)?) };
        }
        Ok(buffer)
    }

    /// A host-visible buffer that holds these bytes.
    ///
    /// # Errors
    /// As [`Self::buffer`].
    pub fn buffer_with(&self, bytes: &[u8]) -> Result<Buffer, ScratchError> {
        let buffer = self.buffer(bytes.len().max(1) as u64)?;
        self.write(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    fn new_buffer(&self, place: Place, size: u64) -> Result<Buffer, ScratchError> {
        if size == 0 {
            return Err(ScratchError::Invalid("a buffer of no bytes".into()));
        }
        let device = &self.device;
        let raw = device.raw();
        let has_address = device.features().has(Feature::BufferDeviceAddress);
        let mut usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::UNIFORM_BUFFER
            | vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER;
        if has_address {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        // Rounded up so that it can be filled; the visible size stays as asked.
        let allocated = size.next_multiple_of(4);
        let info = vk::BufferCreateInfo::default().size(allocated).usage(usage);
        // SAFETY: valid create-infos; on a failure what was made so far is destroyed.
        unsafe {
            let buffer = raw
                .create_buffer(&info, None)
                .map_err(failed("vkCreateBuffer"))?;
            let needs = raw.get_buffer_memory_requirements(buffer);
            let memory = match self.allocate(place, &needs, has_address) {
                Ok(memory) => memory,
                Err(error) => {
                    raw.destroy_buffer(buffer, None);
                    return Err(error);
                }
            };
            // From here on dropping `inner` frees both.
            let mut inner = BufferInner {
                raw: buffer,
                memory,
                size,
                address: None,
                mapped: std::ptr::null_mut(),
                device: Arc::clone(device),
            };
            raw.bind_buffer_memory(buffer, memory, 0)
                .map_err(failed("vkBindBufferMemory"))?;
            if place == Place::Host {
                inner.mapped = raw
                    .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                    .map_err(failed("vkMapMemory"))?
                    .cast();
            }
            if has_address {
                inner.address = Some(raw.get_buffer_device_address(
                    &vk::BufferDeviceAddressInfo::default().buffer(buffer),
                ));
            }
            Ok(Buffer(Arc::new(inner)))
        }
    }

    /// # Safety
    /// `needs` comes from an object of this device.
    unsafe fn allocate(
        &self,
        place: Place,
        needs: &vk::MemoryRequirements,
        address: bool,
    ) -> Result<vk::DeviceMemory, ScratchError> {
        use vk::MemoryPropertyFlags as M;
        let host = M::HOST_VISIBLE | M::HOST_COHERENT;
        let wishes: [M; 2] = match place {
            Place::Host => [host | M::HOST_CACHED, host],
            Place::Device => [M::DEVICE_LOCAL, M::empty()],
        };
        let index = wishes
            .into_iter()
            .find_map(|wish| self.device.memory_type(needs.memory_type_bits, wish))
            .ok_or_else(|| ScratchError::Unsupported(format!("{place:?} memory for this")))?;
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index);
        if address {
            info = info.push_next(&mut flags);
        }
        // SAFETY: a valid create-info with a memory type of this device.
        unsafe { self.device.raw().allocate_memory(&info, None) }
            .map_err(failed("vkAllocateMemory"))
    }

    /// Writes bytes into a buffer.
    ///
    /// # Errors
    /// [`ScratchError::OutOfRange`], or a failed copy.
    pub fn write(&self, buffer: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), ScratchError> {
        in_range("buffer", offset, bytes.len() as u64, buffer.size())?;
        if bytes.is_empty() {
            return Ok(());
        }
        if buffer.0.mapped.is_null() {
            let staging = self.new_buffer(Place::Host, bytes.len() as u64)?;
            self.write(&staging, 0, bytes)?;
            return self.copy(&staging, 0, buffer, offset, bytes.len() as u64);
        }
        let _alone = self.lock();
        // SAFETY: the range was checked above, the mapping lives as long as the buffer, and the
        // lock keeps submissions and other copies of this harness away.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                buffer.0.mapped.add(as_usize(offset)?),
                bytes.len(),
            );
        }
        Ok(())
    }

    /// Reads bytes out of a buffer.
    ///
    /// # Errors
    /// [`ScratchError::OutOfRange`], or a failed copy.
    pub fn read(&self, buffer: &Buffer, offset: u64, len: u64) -> Result<Vec<u8>, ScratchError> {
        in_range("buffer", offset, len, buffer.size())?;
        if len == 0 {
            return Ok(Vec::new());
        }
        if buffer.0.mapped.is_null() {
            let staging = self.new_buffer(Place::Host, len)?;
            self.copy(buffer, offset, &staging, 0, len)?;
            return self.read(&staging, 0, len);
        }
        let _alone = self.lock();
        let mut bytes = vec![0; as_usize(len)?];
        // SAFETY: as in `write`.
        unsafe {
            std::ptr::copy_nonoverlapping(
                buffer.0.mapped.add(as_usize(offset)?),
                bytes.as_mut_ptr(),
                bytes.len(),
            );
        }
        Ok(bytes)
    }

    /// Reads a whole buffer.
    ///
    /// # Errors
    /// A failed copy.
    pub fn read_all(&self, buffer: &Buffer) -> Result<Vec<u8>, ScratchError> {
        self.read(buffer, 0, buffer.size())
    }

    fn copy(
        &self,
        from: &Buffer,
        from_offset: u64,
        to: &Buffer,
        to_offset: u64,
        len: u64,
    ) -> Result<(), ScratchError> {
        in_range("buffer", from_offset, len, from.size())?;
        in_range("buffer", to_offset, len, to.size())?;
        self.submit(|raw, commands| {
            let region = [vk::BufferCopy {
                src_offset: from_offset,
                dst_offset: to_offset,
                size: len,
            }];
            // SAFETY: both ranges were checked above.
            unsafe {
                raw.cmd_copy_buffer(commands, from.0.raw, to.0.raw, &region);
                full_barrier(raw, commands);
            }
            Ok(())
        })
    }

    /// An image of zeroes.
    ///
    /// # Errors
    /// [`ScratchError::Unsupported`] if the device cannot sample, copy or attach the format at all.
    pub fn image(&self, desc: &ImageDesc) -> Result<Image, ScratchError> {
        let device = &self.device;
        let raw = device.raw();
        let unsupported = || ScratchError::Unsupported(format!("images of {desc:?}"));
        if texel_bytes(desc.format).is_none() {
            return Err(unsupported());
        }
        // SAFETY: a query of a live device.
        let format = unsafe {
            device
                .instance()
                .raw()
                .get_physical_device_format_properties(device.physical(), desc.format)
        }
        .optimal_tiling_features;
        let attachment = if aspect(desc.format) == vk::ImageAspectFlags::DEPTH {
            (
                vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT,
                vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            )
        } else {
            (
                vk::FormatFeatureFlags::COLOR_ATTACHMENT,
                vk::ImageUsageFlags::COLOR_ATTACHMENT,
            )
        };
        let attachable = format.contains(attachment.0) && matches!(desc.shape, ImageShape::D2(..));
        let mut usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        if attachable {
            usage |= attachment.1;
        }
        if format.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE) {
            usage |= vk::ImageUsageFlags::SAMPLED;
        }
        if format.contains(vk::FormatFeatureFlags::STORAGE_IMAGE) {
            usage |= vk::ImageUsageFlags::STORAGE;
        }
        let (image_type, view_type, flags) = match desc.shape {
            ImageShape::D2(..) => (
                vk::ImageType::TYPE_2D,
                vk::ImageViewType::TYPE_2D,
                vk::ImageCreateFlags::empty(),
            ),
            ImageShape::D3(..) => (
                vk::ImageType::TYPE_3D,
                vk::ImageViewType::TYPE_3D,
                vk::ImageCreateFlags::empty(),
            ),
            ImageShape::Cube(_) => (
                vk::ImageType::TYPE_2D,
                vk::ImageViewType::CUBE,
                vk::ImageCreateFlags::CUBE_COMPATIBLE,
            ),
        };
        let extent = desc.shape.extent();
        // SAFETY: a query of a live device.
        let limits = unsafe {
            device
                .instance()
                .raw()
                .get_physical_device_image_format_properties(
                    device.physical(),
                    desc.format,
                    image_type,
                    vk::ImageTiling::OPTIMAL,
                    usage,
                    flags,
                )
        }
        .map_err(|_| unsupported())?;
        let fits = |wanted: u32, max: u32| (1..=max).contains(&wanted);
        if !fits(extent.width, limits.max_extent.width)
            || !fits(extent.height, limits.max_extent.height)
            || !fits(extent.depth, limits.max_extent.depth)
        {
            return Err(unsupported());
        }
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(image_type)
            .format(desc.format)
            .extent(extent)
            .mip_levels(1)
            .array_layers(desc.shape.layers())
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .initial_layout(vk::ImageLayout::UNDEFINED);
        // SAFETY: the create-info was checked against the device's limits; on a failure what was
        // made so far is destroyed, by hand or by dropping `inner` (null handles are valid there).
        let image = unsafe {
            let image = raw
                .create_image(&info, None)
                .map_err(failed("vkCreateImage"))?;
            let needs = raw.get_image_memory_requirements(image);
            let memory = match self.allocate(Place::Device, &needs, false) {
                Ok(memory) => memory,
                Err(error) => {
                    raw.destroy_image(image, None);
                    return Err(error);
                }
            };
            let mut inner = ImageInner {
                raw: image,
                memory,
                view: vk::ImageView::null(),
                desc: *desc,
                attachable,
                device: Arc::clone(device),
            };
            raw.bind_image_memory(image, memory, 0)
                .map_err(failed("vkBindImageMemory"))?;
            let view = vk::ImageViewCreateInfo::default()
                .image(image)
                .view_type(view_type)
                .format(desc.format)
                .subresource_range(whole(aspect(desc.format)));
            inner.view = raw
                .create_image_view(&view, None)
                .map_err(failed("vkCreateImageView"))?;
            Image(Arc::new(inner))
        };
        self.submit(|raw, commands| {
            let barrier = [vk::ImageMemoryBarrier::default()
                .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::GENERAL)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(image.0.raw)
                .subresource_range(whole(image.aspect()))];
            // SAFETY: the image is new and used by nobody else.
            unsafe {
                raw.cmd_pipeline_barrier(
                    commands,
                    vk::PipelineStageFlags::TOP_OF_PIPE,
                    vk::PipelineStageFlags::ALL_COMMANDS,
                    vk::DependencyFlags::empty(),
                    &[],
                    &[],
                    &barrier,
                );
                if image.aspect() == vk::ImageAspectFlags::DEPTH {
                    raw.cmd_clear_depth_stencil_image(
                        commands,
                        image.0.raw,
                        vk::ImageLayout::GENERAL,
                        &vk::ClearDepthStencilValue::default(),
                        &[whole(image.aspect())],
                    );
                } else {
                    raw.cmd_clear_color_image(
                        commands,
                        image.0.raw,
                        vk::ImageLayout::GENERAL,
                        &vk::ClearColorValue::default(),
                        &[whole(image.aspect())],
                    );
                }
                full_barrier(raw, commands);
            }
            Ok(())
        })?;
        Ok(image)
    }

    /// Writes all texels of an image: faces and slices one after another, tightly packed.
    ///
    /// # Errors
    /// [`ScratchError::OutOfRange`] if the bytes are not [`Image::byte_size`] many.
    pub fn upload(&self, image: &Image, bytes: &[u8]) -> Result<(), ScratchError> {
        if bytes.len() as u64 != image.byte_size() {
            return Err(ScratchError::OutOfRange {
                what: "image",
                offset: 0,
                end: bytes.len() as u64,
                size: image.byte_size(),
            });
        }
        let staging = self.new_buffer(Place::Host, bytes.len() as u64)?;
        self.write(&staging, 0, bytes)?;
        let region = [image.region()];
        self.submit(|raw, commands| {
            // SAFETY: the staging buffer holds exactly the image's texels.
            unsafe {
                raw.cmd_copy_buffer_to_image(
                    commands,
                    staging.0.raw,
                    image.0.raw,
                    vk::ImageLayout::GENERAL,
                    &region,
                );
                full_barrier(raw, commands);
            }
            Ok(())
        })
    }

    /// Reads all texels of an image, in the order of [`Self::upload`].
    ///
    /// # Errors
    /// A failed copy.
    pub fn download(&self, image: &Image) -> Result<Vec<u8>, ScratchError> {
        let staging = self.new_buffer(Place::Host, image.byte_size())?;
        let region = [image.region()];
        self.submit(|raw, commands| {
            // SAFETY: the staging buffer has room for exactly the image's texels.
            unsafe {
                raw.cmd_copy_image_to_buffer(
                    commands,
                    image.0.raw,
                    vk::ImageLayout::GENERAL,
                    staging.0.raw,
                    &region,
                );
                full_barrier(raw, commands);
            }
            Ok(())
        })?;
        self.read_all(&staging)
    }

    /// A sampler that clamps to the edge.
    ///
    /// # Errors
    /// A failed call.
    pub fn sampler(&self, filter: Filter) -> Result<Sampler, ScratchError> {
        let filter = match filter {
            Filter::Nearest => vk::Filter::NEAREST,
            Filter::Linear => vk::Filter::LINEAR,
        };
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .address_mode_u(edge)
            .address_mode_v(edge)
            .address_mode_w(edge);
        // SAFETY: a valid create-info.
        let raw = unsafe { self.device.raw().create_sampler(&info, None) }
            .map_err(failed("vkCreateSampler"))?;
        Ok(Sampler(Arc::new(SamplerInner {
            raw,
            device: Arc::clone(&self.device),
        })))
    }
}

impl Image {
    fn region(&self) -> vk::BufferImageCopy {
        vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: self.aspect(),
                mip_level: 0,
                base_array_layer: 0,
                layer_count: self.0.desc.shape.layers(),
            })
            .image_extent(self.0.desc.shape.extent())
    }
}

fn whole(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    }
}

fn as_usize(value: u64) -> Result<usize, ScratchError> {
    usize::try_from(value)
        .map_err(|_| ScratchError::Invalid(format!("{value} bytes are too many for this host")))
}
