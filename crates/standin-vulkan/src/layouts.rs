//! Samplers, descriptor set layouts and pipeline layouts from recipes.

use crate::decline::{Declined, FormatUse, limit};
use crate::device::Device;
use crate::features::Feature as F;
use crate::objects::{ObjectError, Objects, failed};
use ash::vk;
use standin_recipe::create_info::{
    PipelineLayoutCreateInfo, SamplerCreateInfo, SetLayoutCreateInfo, ycbcr_create_info,
};
use standin_recipe::layout::{
    PipelineLayoutRecipe, SamplerRecipe, SetBinding, SetLayoutRecipe, YcbcrConversion,
};

/// The device has all of these features.
pub(crate) fn need(device: &Device, features: &[F]) -> Result<(), Declined> {
    match features.iter().find(|&&f| !device.features().has(f)) {
        None => Ok(()),
        Some(&missing) => Err(Declined::Feature(missing)),
    }
}

pub(crate) fn need_extension(device: &Device, name: &std::ffi::CStr) -> Result<(), Declined> {
    if device.extensions().has(name) {
        Ok(())
    } else {
        Err(Declined::Extension(name.to_string_lossy().into_owned()))
    }
}

/// What a format can do with optimal tiling, and in buffers.
pub(crate) fn format_properties(device: &Device, format: vk::Format) -> vk::FormatProperties {
    // A number that no enabled extension defines must not reach the driver.
    if !is_known(device, format) {
        return vk::FormatProperties::default();
    }
    // SAFETY: a query of a live device.
    unsafe {
        device
            .instance()
            .raw()
            .get_physical_device_format_properties(device.physical(), format)
    }
}

fn is_known(device: &Device, format: vk::Format) -> bool {
    match format.as_raw() {
        // Vulkan 1.0, and the multi-planar and 16-bit formats of 1.1.
        1..=184 | 1_000_156_000..=1_000_156_033 => true,
        // VK_EXT_texture_compression_astc_hdr
        1_000_066_000..=1_000_066_013 => device.features().has(F::TextureCompressionAstcHdr),
        // VK_EXT_4444_formats
        1_000_340_000..=1_000_340_001 => {
            device.features().has(F::FormatA4R4G4B4) || device.features().has(F::FormatA4B4G4R4)
        }
        // VK_KHR_maintenance5: A1B5G5R5 and A8
        1_000_470_000..=1_000_470_001 => device.features().has(F::Maintenance5),
        _ => false,
    }
}

/// No flags but the known ones are set.
fn flags<T: Copy + PartialEq + std::fmt::Debug>(
    what: &'static str,
    unknown: T,
    none: T,
) -> Result<(), Declined> {
    if unknown == none {
        Ok(())
    } else {
        Err(Declined::unknown(what, unknown))
    }
}

pub(crate) fn conversion(
    device: &Device,
    recipe: &YcbcrConversion,
) -> Result<vk::SamplerYcbcrConversion, ObjectError> {
    need(device, &[F::SamplerYcbcrConversion])?;
    let features = format_properties(device, recipe.format).optimal_tiling_features;
    let place = |location| {
        if location == vk::ChromaLocation::MIDPOINT {
            vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES
        } else {
            vk::FormatFeatureFlags::COSITED_CHROMA_SAMPLES
        }
    };
    let any = vk::FormatFeatureFlags::MIDPOINT_CHROMA_SAMPLES
        | vk::FormatFeatureFlags::COSITED_CHROMA_SAMPLES;
    let needed = place(recipe.x_chroma_offset) | place(recipe.y_chroma_offset);
    if !features.intersects(any) || !features.contains(needed) {
        return Err(Declined::Format {
            format: recipe.format,
            usage: FormatUse::Ycbcr,
        }
        .into());
    }
    if recipe.chroma_filter == vk::Filter::LINEAR
        && !features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER)
    {
        return Err(Declined::unknown("chroma filter", recipe.chroma_filter).into());
    }
    if recipe.force_explicit_reconstruction
        && !features.contains(
            vk::FormatFeatureFlags::SAMPLED_IMAGE_YCBCR_CONVERSION_CHROMA_RECONSTRUCTION_EXPLICIT_FORCEABLE,
        )
    {
        return Err(Declined::unknown("chroma reconstruction", "explicit").into());
    }
    // SAFETY: a create-info of values that the device supports.
    unsafe {
        device
            .raw()
            .create_sampler_ycbcr_conversion(&ycbcr_create_info(recipe), None)
    }
    .map_err(failed("vkCreateSamplerYcbcrConversion"))
}

pub(crate) fn sampler(
    objects: &Objects,
    recipe: &SamplerRecipe,
) -> Result<vk::Sampler, ObjectError> {
    let device = &**objects.device();
    let limits = &device.capabilities().limits;
    if recipe.anisotropy_enable {
        need(device, &[F::SamplerAnisotropy])?;
        if !(1.0..=limits.max_sampler_anisotropy).contains(&recipe.max_anisotropy.get()) {
            return Err(Declined::unknown("anisotropy", recipe.max_anisotropy).into());
        }
    }
    let bias = recipe.mip_lod_bias.get();
    if bias.is_nan() || bias.abs() > limits.max_sampler_lod_bias {
        return Err(Declined::unknown("mipLodBias", recipe.mip_lod_bias).into());
    }
    let modes = [
        recipe.address_mode_u,
        recipe.address_mode_v,
        recipe.address_mode_w,
    ];
    for mode in modes {
        match mode.as_raw() {
            0..=3 => {}
            4 => need(device, &[F::SamplerMirrorClampToEdge])?,
            _ => return Err(Declined::unknown("address mode", mode).into()),
        }
    }
    for filter in [recipe.mag_filter, recipe.min_filter] {
        if filter != vk::Filter::NEAREST && filter != vk::Filter::LINEAR {
            return Err(Declined::unknown("filter", filter).into());
        }
    }
    if recipe
        .flags
        .contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT)
    {
        need(device, &[F::NonSeamlessCubeMap])?;
    }
    let unknown = recipe.flags & !vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT;
    flags("sampler flag", unknown, vk::SamplerCreateFlags::empty())?;

    if let Some(custom) = &recipe.custom_border_color {
        need(device, &[F::CustomBorderColors])?;
        if custom.format == vk::Format::UNDEFINED {
            need(device, &[F::CustomBorderColorWithoutFormat])?;
        }
    } else if recipe.border_color.as_raw() > vk::BorderColor::INT_OPAQUE_WHITE.as_raw() {
        return Err(Declined::unknown("border colour", recipe.border_color).into());
    }
    if recipe.border_color_mapping.is_some() {
        need(device, &[F::BorderColorSwizzle])?;
    }
    if recipe.reduction_mode != vk::SamplerReductionMode::WEIGHTED_AVERAGE {
        need(device, &[F::SamplerFilterMinmax])?;
    }
    let conversion = match &recipe.ycbcr_conversion {
        Some(conversion) => objects.conversion(conversion)?,
        None => vk::SamplerYcbcrConversion::null(),
    };
    let owned = SamplerCreateInfo::new(recipe, conversion);
    // SAFETY: a create-info of values that the device supports.
    unsafe { device.raw().create_sampler(&owned.info(), None) }.map_err(failed("vkCreateSampler"))
}

pub(crate) fn set_layout(
    objects: &Objects,
    recipe: &SetLayoutRecipe,
) -> Result<vk::DescriptorSetLayout, ObjectError> {
    use vk::DescriptorSetLayoutCreateFlags as L;
    let device = &**objects.device();
    if recipe.flags.contains(L::UPDATE_AFTER_BIND_POOL) {
        need(device, &[F::DescriptorIndexing])?;
    }
    if recipe.flags.contains(L::PUSH_DESCRIPTOR_KHR) {
        need_extension(device, ash::khr::push_descriptor::NAME)?;
        let count: u64 = recipe
            .bindings
            .iter()
            .map(|binding| u64::from(binding.descriptor_count))
            .sum();
        limit(
            "maxPushDescriptors",
            count,
            device.capabilities().max_push_descriptors,
        )?;
    }
    if recipe
        .flags
        .intersects(L::DESCRIPTOR_BUFFER_EXT | L::EMBEDDED_IMMUTABLE_SAMPLERS_EXT)
    {
        need(device, &[F::DescriptorBuffer])?;
    }
    if recipe.flags.contains(L::HOST_ONLY_POOL_EXT) {
        need(device, &[F::MutableDescriptorType])?;
    }
    let unknown = recipe.flags
        & !(L::UPDATE_AFTER_BIND_POOL
            | L::PUSH_DESCRIPTOR_KHR
            | L::DESCRIPTOR_BUFFER_EXT
            | L::EMBEDDED_IMMUTABLE_SAMPLERS_EXT
            | L::HOST_ONLY_POOL_EXT);
    flags("set layout flag", unknown, L::empty())?;
    let mut numbers: Vec<u32> = recipe.bindings.iter().map(|b| b.binding).collect();
    numbers.sort_unstable();
    if numbers.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Declined::invalid("a set layout has a binding twice").into());
    }

    let mut samplers = Vec::new();
    for binding in &recipe.bindings {
        check_binding(device, binding)?;
        for sampler in &binding.immutable_samplers {
            samplers.push(objects.sampler(sampler)?);
        }
    }
    // They are asked for in the order in which they were made.
    let mut samplers = samplers.into_iter();
    let owned = SetLayoutCreateInfo::new(recipe, |_| samplers.next().unwrap_or_default());
    let info = owned.info();
    let mut support = vk::DescriptorSetLayoutSupport::default();
    // SAFETY: a create-info of values that the device supports; only its size may be too much,
    // which is what is asked first.
    unsafe {
        device
            .raw()
            .get_descriptor_set_layout_support(&info, &mut support);
        if support.supported == vk::FALSE {
            return Err(
                Declined::unknown("a set layout of this size", recipe.bindings.len()).into(),
            );
        }
        device
            .raw()
            .create_descriptor_set_layout(&info, None)
            .map_err(failed("vkCreateDescriptorSetLayout"))
    }
}

fn check_binding(device: &Device, binding: &SetBinding) -> Result<(), Declined> {
    use vk::DescriptorBindingFlags as B;
    use vk::DescriptorType as D;
    let kind = binding.descriptor_type;
    descriptor_type(device, kind)?;
    for &mutable in &binding.mutable_types {
        descriptor_type(device, mutable)?;
    }
    if kind == D::INLINE_UNIFORM_BLOCK && !binding.descriptor_count.is_multiple_of(4) {
        return Err(Declined::invalid("an inline uniform block of odd size"));
    }
    let samplers = binding.immutable_samplers.len();
    if samplers != 0
        && (samplers != binding.descriptor_count as usize
            || !matches!(kind, D::SAMPLER | D::COMBINED_IMAGE_SAMPLER))
    {
        return Err(Declined::invalid(
            "immutable samplers that do not fit their binding",
        ));
    }
    if binding.flags.contains(B::UPDATE_AFTER_BIND) {
        need(
            device,
            &[match kind {
                D::UNIFORM_BUFFER => F::DescriptorBindingUniformBufferUpdateAfterBind,
                D::SAMPLER | D::COMBINED_IMAGE_SAMPLER | D::SAMPLED_IMAGE => {
                    F::DescriptorBindingSampledImageUpdateAfterBind
                }
                D::STORAGE_IMAGE => F::DescriptorBindingStorageImageUpdateAfterBind,
                D::STORAGE_BUFFER => F::DescriptorBindingStorageBufferUpdateAfterBind,
                D::UNIFORM_TEXEL_BUFFER => F::DescriptorBindingUniformTexelBufferUpdateAfterBind,
                D::STORAGE_TEXEL_BUFFER => F::DescriptorBindingStorageTexelBufferUpdateAfterBind,
                D::INLINE_UNIFORM_BLOCK => F::DescriptorBindingInlineUniformBlockUpdateAfterBind,
                D::ACCELERATION_STRUCTURE_KHR => {
                    F::DescriptorBindingAccelerationStructureUpdateAfterBind
                }
                D::MUTABLE_EXT => F::MutableDescriptorType,
                _ => {
                    return Err(Declined::invalid(format!(
                        "{kind:?} cannot be updated after it is bound"
                    )));
                }
            }],
        )?;
    }
    for (flag, feature) in [
        (
            B::UPDATE_UNUSED_WHILE_PENDING,
            F::DescriptorBindingUpdateUnusedWhilePending,
        ),
        (B::PARTIALLY_BOUND, F::DescriptorBindingPartiallyBound),
        (
            B::VARIABLE_DESCRIPTOR_COUNT,
            F::DescriptorBindingVariableDescriptorCount,
        ),
    ] {
        if binding.flags.contains(flag) {
            need(device, &[feature])?;
        }
    }
    let unknown = binding.flags
        & !(B::UPDATE_AFTER_BIND
            | B::UPDATE_UNUSED_WHILE_PENDING
            | B::PARTIALLY_BOUND
            | B::VARIABLE_DESCRIPTOR_COUNT);
    flags("binding flag", unknown, B::empty())
}

fn descriptor_type(device: &Device, kind: vk::DescriptorType) -> Result<(), Declined> {
    use vk::DescriptorType as D;
    match kind {
        D::INLINE_UNIFORM_BLOCK => need(device, &[F::InlineUniformBlock]),
        D::ACCELERATION_STRUCTURE_KHR => need(device, &[F::AccelerationStructure]),
        D::MUTABLE_EXT => need(device, &[F::MutableDescriptorType]),
        core if (0..=D::INPUT_ATTACHMENT.as_raw()).contains(&core.as_raw()) => Ok(()),
        other => Err(Declined::unknown("descriptor type", other)),
    }
}

pub(crate) fn layout(
    objects: &Objects,
    recipe: &PipelineLayoutRecipe,
) -> Result<vk::PipelineLayout, ObjectError> {
    let device = &**objects.device();
    let limits = &device.capabilities().limits;
    limit(
        "maxBoundDescriptorSets",
        recipe.set_layouts.len(),
        limits.max_bound_descriptor_sets,
    )?;
    let independent = vk::PipelineLayoutCreateFlags::INDEPENDENT_SETS_EXT;
    if recipe.flags.contains(independent) {
        need(device, &[F::GraphicsPipelineLibrary])?;
    }
    flags(
        "pipeline layout flag",
        recipe.flags & !independent,
        vk::PipelineLayoutCreateFlags::empty(),
    )?;
    let mut seen = vk::ShaderStageFlags::empty();
    for range in &recipe.push_constant_ranges {
        let end = u64::from(range.offset) + u64::from(range.size);
        limit("maxPushConstantsSize", end, limits.max_push_constants_size)?;
        if range.size == 0
            || !range.size.is_multiple_of(4)
            || !range.offset.is_multiple_of(4)
            || range.stage_flags.is_empty()
            || seen.intersects(range.stage_flags)
        {
            return Err(Declined::invalid("push constant ranges").into());
        }
        seen |= range.stage_flags;
    }
    check_descriptor_limits(recipe, limits)?;
    let mut sets = Vec::with_capacity(recipe.set_layouts.len());
    for set in &recipe.set_layouts {
        match set {
            Some(set) => sets.push(objects.set_layout(set)?),
            None if recipe.flags.contains(independent) => {}
            None => return Err(Declined::invalid("a pipeline layout lacks a set layout").into()),
        }
    }
    let mut sets = sets.into_iter();
    let owned = PipelineLayoutCreateInfo::new(recipe, |_| sets.next().unwrap_or_default());
    // SAFETY: a create-info of live objects, within the device's limits.
    unsafe { device.raw().create_pipeline_layout(&owned.info(), None) }
        .map_err(failed("vkCreatePipelineLayout"))
}

/// The limits on descriptors that one stage sees, over the sets that are not updated after they
/// are bound (those have limits of their own, which no device sets below these).
fn check_descriptor_limits(
    recipe: &PipelineLayoutRecipe,
    limits: &vk::PhysicalDeviceLimits,
) -> Result<(), Declined> {
    use vk::DescriptorType as D;
    let bindings = || {
        recipe
            .set_layouts
            .iter()
            .flatten()
            .filter(|set| {
                !set.flags
                    .contains(vk::DescriptorSetLayoutCreateFlags::UPDATE_AFTER_BIND_POOL)
            })
            .flat_map(|set| &set.bindings)
    };
    let stages = [
        vk::ShaderStageFlags::VERTEX,
        vk::ShaderStageFlags::TESSELLATION_CONTROL,
        vk::ShaderStageFlags::TESSELLATION_EVALUATION,
        vk::ShaderStageFlags::GEOMETRY,
        vk::ShaderStageFlags::FRAGMENT,
        vk::ShaderStageFlags::COMPUTE,
    ];
    for stage in stages {
        let count = |kinds: &[D]| -> u64 {
            bindings()
                .filter(|b| b.stage_flags.contains(stage) && kinds.contains(&b.descriptor_type))
                .map(|b| u64::from(b.descriptor_count))
                .sum()
        };
        limit(
            "maxPerStageDescriptorSamplers",
            count(&[D::SAMPLER, D::COMBINED_IMAGE_SAMPLER]),
            limits.max_per_stage_descriptor_samplers,
        )?;
        limit(
            "maxPerStageDescriptorUniformBuffers",
            count(&[D::UNIFORM_BUFFER, D::UNIFORM_BUFFER_DYNAMIC]),
            limits.max_per_stage_descriptor_uniform_buffers,
        )?;
        limit(
            "maxPerStageDescriptorStorageBuffers",
            count(&[D::STORAGE_BUFFER, D::STORAGE_BUFFER_DYNAMIC]),
            limits.max_per_stage_descriptor_storage_buffers,
        )?;
        limit(
            "maxPerStageDescriptorSampledImages",
            count(&[
                D::COMBINED_IMAGE_SAMPLER,
                D::SAMPLED_IMAGE,
                D::UNIFORM_TEXEL_BUFFER,
            ]),
            limits.max_per_stage_descriptor_sampled_images,
        )?;
        limit(
            "maxPerStageDescriptorStorageImages",
            count(&[D::STORAGE_IMAGE, D::STORAGE_TEXEL_BUFFER]),
            limits.max_per_stage_descriptor_storage_images,
        )?;
        limit(
            "maxPerStageDescriptorInputAttachments",
            count(&[D::INPUT_ATTACHMENT]),
            limits.max_per_stage_descriptor_input_attachments,
        )?;
    }
    Ok(())
}
