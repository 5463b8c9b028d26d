//! Create-infos made from recipes are captured as the same recipes, and what is not known is
//! refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A failed test panics.

use ash::vk::{self, Handle};
use standin_capture::{CaptureError, Objects};
use standin_recipe::create_info::{
    ComputeCreateInfo, GraphicsCreateInfo, GraphicsHandles, PipelineLayoutCreateInfo,
    RenderPassCreateInfo, SamplerCreateInfo, SetLayoutCreateInfo, ycbcr_create_info,
};
use standin_recipe::layout::YcbcrConversion;
use standin_recipe::output::Target;
use standin_recipe::vary::{Vary, compute_sample, graphics_sample, rendering_sample};
use standin_recipe::{
    ComputeRecipe, GraphicsRecipe, Module, PipelineLayoutRecipe, Recipe, RenderPassRecipe,
    SamplerRecipe, SetLayoutRecipe,
};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Objects by handle: a handle is one more than an index.
#[derive(Default)]
struct Table {
    conversions: RefCell<Vec<Arc<YcbcrConversion>>>,
    samplers: RefCell<Vec<Arc<SamplerRecipe>>>,
    set_layouts: RefCell<Vec<Arc<SetLayoutRecipe>>>,
    layouts: RefCell<Vec<Arc<PipelineLayoutRecipe>>>,
    passes: RefCell<Vec<Arc<RenderPassRecipe>>>,
    libraries: RefCell<Vec<Arc<GraphicsRecipe>>>,
}

fn add<T, H: Handle>(list: &RefCell<Vec<Arc<T>>>, value: T) -> H {
    let mut list = list.borrow_mut();
    list.push(Arc::new(value));
    H::from_raw(list.len() as u64)
}

fn get<T, H: Handle>(list: &RefCell<Vec<Arc<T>>>, handle: H) -> Option<Arc<T>> {
    let index = usize::try_from(handle.as_raw()).ok()?.checked_sub(1)?;
    list.borrow().get(index).cloned()
}

impl Objects for Table {
    fn shader_module(&self, _: vk::ShaderModule) -> Option<Arc<Module>> {
        None
    }
    fn ycbcr_conversion(&self, handle: vk::SamplerYcbcrConversion) -> Option<Arc<YcbcrConversion>> {
        get(&self.conversions, handle)
    }
    fn sampler(&self, handle: vk::Sampler) -> Option<Arc<SamplerRecipe>> {
        get(&self.samplers, handle)
    }
    fn set_layout(&self, handle: vk::DescriptorSetLayout) -> Option<Arc<SetLayoutRecipe>> {
        get(&self.set_layouts, handle)
    }
    fn pipeline_layout(&self, handle: vk::PipelineLayout) -> Option<Arc<PipelineLayoutRecipe>> {
        get(&self.layouts, handle)
    }
    fn render_pass(&self, handle: vk::RenderPass) -> Option<Arc<RenderPassRecipe>> {
        get(&self.passes, handle)
    }
    fn library(&self, handle: vk::Pipeline) -> Option<Arc<GraphicsRecipe>> {
        get(&self.libraries, handle)
    }
}

/// "Creates" objects as a driver would, each from its create-info, which is captured.
impl Table {
    fn create_sampler(&self, recipe: &SamplerRecipe) -> vk::Sampler {
        let conversion = recipe
            .ycbcr_conversion
            .as_ref()
            .map(|conversion| {
                // SAFETY: the create-info points to nothing.
                let captured =
                    unsafe { standin_capture::ycbcr_conversion(&ycbcr_create_info(conversion)) };
                add(&self.conversions, captured.unwrap())
            })
            .unwrap_or_default();
        let made = SamplerCreateInfo::new(recipe, conversion);
        // SAFETY: what lends the create-info owns all that it points to.
        let captured = unsafe { standin_capture::sampler(&made.info(), self) };
        add(&self.samplers, captured.unwrap())
    }

    fn create_set_layout(&self, recipe: &SetLayoutRecipe) -> vk::DescriptorSetLayout {
        let made = SetLayoutCreateInfo::new(recipe, |sampler| self.create_sampler(sampler));
        // SAFETY: what lends the create-info owns all that it points to.
        let captured = unsafe { standin_capture::set_layout(&made.info(), self) };
        add(&self.set_layouts, captured.unwrap())
    }

    fn create_layout(&self, recipe: &PipelineLayoutRecipe) -> vk::PipelineLayout {
        let made = PipelineLayoutCreateInfo::new(recipe, |set| self.create_set_layout(set));
        // SAFETY: what lends the create-info owns all that it points to.
        let captured = unsafe { standin_capture::pipeline_layout(&made.info(), self) };
        add(&self.layouts, captured.unwrap())
    }

    fn create_render_pass(&self, recipe: &RenderPassRecipe) -> vk::RenderPass {
        let made = RenderPassCreateInfo::new(recipe);
        // SAFETY: what lends the create-info owns all that it points to.
        let captured = unsafe { standin_capture::render_pass_2(&made.info()) };
        add(&self.passes, captured.unwrap())
    }

    fn handles(&self, recipe: &GraphicsRecipe) -> GraphicsHandles {
        GraphicsHandles {
            modules: Vec::new(),
            layout: recipe
                .layout
                .as_ref()
                .map(|layout| self.create_layout(layout))
                .unwrap_or_default(),
            render_pass: match &recipe.target {
                Target::RenderPass { pass, .. } => self.create_render_pass(pass),
                Target::Rendering(_) => vk::RenderPass::null(),
            },
            libraries: recipe
                .libraries
                .iter()
                .map(|library| add(&self.libraries, GraphicsRecipe::clone(library)))
                .collect(),
        }
    }

    fn graphics(&self, recipe: &GraphicsRecipe) -> Result<GraphicsRecipe, CaptureError> {
        let handles = self.handles(recipe);
        let made = GraphicsCreateInfo::new(recipe, &handles, 0);
        let made = Box::new(made); // Moving it moves nothing that it points to.
        // SAFETY: what lends the create-info owns all that it points to.
        unsafe { standin_capture::graphics(&made.info(), self) }
    }

    fn compute(&self, recipe: &ComputeRecipe) -> Result<ComputeRecipe, CaptureError> {
        let layout = self.create_layout(&recipe.layout);
        let made = ComputeCreateInfo::new(recipe, vk::ShaderModule::null(), layout, 0);
        // SAFETY: what lends the create-info owns all that it points to.
        unsafe { standin_capture::compute(&made.info(), self) }
    }
}

#[test]
fn samples_come_back_as_they_were() {
    let table = Table::default();
    assert_eq!(table.graphics(&graphics_sample()), Ok(graphics_sample()));
    assert_eq!(table.graphics(&rendering_sample()), Ok(rendering_sample()));
    assert_eq!(table.compute(&compute_sample()), Ok(compute_sample()));
}

/// Variations that no create-info can say, or that the create-info says in a valid way only: lists
/// whose lengths must agree.
fn is_no_create_info(path: &str) -> bool {
    const LISTS: [&str; 7] = [
        "immutable_samplers.pop",
        "immutable_samplers.push",
        "descriptor_count",
        "color_attachments.pop",
        "color_attachments.push",
        "resolve_attachments.pop",
        "resolve_attachments.push",
    ];
    LISTS.iter().any(|list| path.ends_with(list)) || path.ends_with("specialization.data.pop")
}

#[test]
fn every_field_is_captured() {
    let mut checked = 0;
    let mut lost = Vec::new();
    for sample in [graphics_sample(), rendering_sample()] {
        sample.vary("", &mut |path, recipe| {
            if path == ".layout" || is_no_create_info(path) {
                return;
            }
            checked += 1;
            match Table::default().graphics(&recipe) {
                Ok(captured) => {
                    if Recipe::from(captured).exact_key() != Recipe::from(recipe).exact_key() {
                        lost.push(path.to_owned());
                    }
                }
                Err(error) => lost.push(format!("{path}: {error}")),
            }
        });
    }
    compute_sample().vary("", &mut |path, recipe| {
        if !is_no_create_info(path) {
            checked += 1;
            let captured = Table::default().compute(&recipe).unwrap();
            assert_eq!(
                Recipe::from(captured).exact_key(),
                Recipe::from(recipe).exact_key(),
                "{path}"
            );
        }
    });
    assert_eq!(lost, Vec::<String>::new());
    assert!(checked > 500, "{checked}");
}

#[test]
fn a_layout_is_missed_where_there_are_shaders() {
    let mut recipe = graphics_sample();
    recipe.layout = None;
    assert_eq!(
        Table::default().graphics(&recipe),
        Err(CaptureError::Null {
            place: "VkGraphicsPipelineCreateInfo::layout"
        })
    );
}

/// A pointer that may not be followed.
fn garbage<T>() -> *const T {
    ptr::without_provenance(8)
}

#[test]
fn ignored_states_are_not_read() {
    let table = Table::default();
    let mut recipe = graphics_sample();
    recipe
        .rasterization
        .as_mut()
        .unwrap()
        .rasterizer_discard_enable = true;
    recipe.stages.retain(|stage| {
        stage.stage == vk::ShaderStageFlags::VERTEX || stage.stage == vk::ShaderStageFlags::FRAGMENT
    });
    recipe
        .dynamic_states
        .push(vk::DynamicState::VERTEX_INPUT_EXT);
    let handles = table.handles(&recipe);
    let made = GraphicsCreateInfo::new(&recipe, &handles, 0);
    let mut info = made.info();
    info.p_vertex_input_state = garbage();
    info.p_tessellation_state = garbage();
    info.p_viewport_state = garbage();
    info.p_multisample_state = garbage();
    info.p_depth_stencil_state = garbage();
    info.p_color_blend_state = garbage();
    // SAFETY: the garbage is in places that Vulkan ignores here.
    let captured = unsafe { standin_capture::graphics(&info, &table) }.unwrap();
    assert_eq!(
        Recipe::from(captured).exact_key(),
        Recipe::from(recipe).exact_key()
    );
}

#[test]
fn ignored_states_without_attachments_are_not_read() {
    let table = Table::default();
    let mut recipe = rendering_sample();
    recipe.target = Target::default();
    recipe.dynamic_states.extend([
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR_WITH_COUNT,
        vk::DynamicState::SAMPLE_MASK_EXT,
    ]);
    let handles = table.handles(&recipe);
    let made = GraphicsCreateInfo::new(&recipe, &handles, 0);
    let mut info = made.info();
    info.p_depth_stencil_state = garbage();
    info.p_color_blend_state = garbage();
    // SAFETY: these two states belong to the create-info's owner, which is alive.
    let (mut viewport, mut multisample) =
        unsafe { (*info.p_viewport_state, *info.p_multisample_state) };
    viewport.p_viewports = garbage();
    viewport.p_scissors = garbage();
    multisample.p_sample_mask = garbage();
    info.p_viewport_state = &raw const viewport;
    info.p_multisample_state = &raw const multisample;
    // SAFETY: the garbage is in places that Vulkan ignores here.
    let captured = unsafe { standin_capture::graphics(&info, &table) }.unwrap();
    assert_eq!(
        Recipe::from(captured).exact_key(),
        Recipe::from(recipe).exact_key()
    );
}

fn unknown() -> vk::BaseInStructure<'static> {
    vk::BaseInStructure {
        s_type: vk::StructureType::from_raw(1_999_999_999),
        ..Default::default()
    }
}

/// Puts a struct in front of a chain.
macro_rules! refused {
    ($info:expr, $capture:expr, $place:literal) => {{
        let mut info = $info;
        let mut element = unknown();
        element.p_next = info.p_next.cast();
        info.p_next = (&raw const element).cast::<c_void>();
        let error = $capture(&info).unwrap_err();
        assert_eq!(
            error,
            CaptureError::UnknownStruct {
                s_type: element.s_type,
                place: $place
            }
        );
        assert!(error.to_string().contains("1999999999"));
    }};
}

#[test]
fn unknown_structs_are_refused_by_name() {
    let table = Table::default();
    let sampler = vk::SamplerCreateInfo::default();
    // SAFETY: the create-infos are valid but for the struct that is not known.
    unsafe {
        refused!(
            sampler,
            |info| standin_capture::sampler(info, &table),
            "VkSamplerCreateInfo"
        );
        refused!(
            vk::DescriptorSetLayoutCreateInfo::default(),
            |info| standin_capture::set_layout(info, &table),
            "VkDescriptorSetLayoutCreateInfo"
        );
        refused!(
            vk::PipelineLayoutCreateInfo::default(),
            |info| standin_capture::pipeline_layout(info, &table),
            "VkPipelineLayoutCreateInfo"
        );
        refused!(
            vk::ShaderModuleCreateInfo::default(),
            |info| standin_capture::shader_module(info),
            "VkShaderModuleCreateInfo"
        );
        refused!(
            vk::RenderPassCreateInfo::default(),
            |info| standin_capture::render_pass(info),
            "VkRenderPassCreateInfo"
        );
        refused!(
            vk::RenderPassCreateInfo2::default(),
            |info| standin_capture::render_pass_2(info),
            "VkRenderPassCreateInfo2"
        );
        let recipe = graphics_sample();
        let handles = table.handles(&recipe);
        let made = GraphicsCreateInfo::new(&recipe, &handles, 0);
        refused!(
            made.info(),
            |info| standin_capture::graphics(info, &table),
            "VkGraphicsPipelineCreateInfo"
        );
        let element = unknown();
        let mut state = *made.info().p_rasterization_state;
        state.p_next = (&raw const element).cast();
        let mut info = made.info();
        info.p_rasterization_state = &raw const state;
        assert_eq!(
            standin_capture::graphics(&info, &table),
            Err(CaptureError::UnknownStruct {
                s_type: element.s_type,
                place: "VkPipelineRasterizationStateCreateInfo"
            })
        );
    }
}

#[test]
fn a_chain_that_is_a_loop_is_refused() {
    let mut feedback = vk::BaseInStructure {
        s_type: vk::StructureType::PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        ..Default::default()
    };
    let address: *mut vk::BaseInStructure<'_> = &raw mut feedback;
    // SAFETY: the struct is alive, and nothing else refers to it yet.
    unsafe { (*address).p_next = address };
    let info = vk::PipelineLayoutCreateInfo {
        p_next: address.cast_const().cast(),
        ..Default::default()
    };
    // SAFETY: the chain's one struct is alive.
    let captured = unsafe { standin_capture::pipeline_layout(&info, &Table::default()) };
    assert_eq!(
        captured,
        Err(CaptureError::RepeatedStruct {
            s_type: vk::StructureType::PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
            place: "VkPipelineLayoutCreateInfo"
        })
    );
}

#[test]
fn field_cases_b9_and_e8_derivatives_and_creation_flags_are_left_out() {
    let table = Table::default();
    let recipe = compute_sample();
    let layout = table.create_layout(&recipe.layout);
    let flags = vk::PipelineCreateFlags::DERIVATIVE
        | vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    let made = ComputeCreateInfo::new(
        &recipe,
        vk::ShaderModule::null(),
        layout,
        u64::from(flags.as_raw()),
    );
    let mut info = made.info();
    assert!(info.flags.contains(flags));
    info.base_pipeline_handle = vk::Pipeline::from_raw(99);
    // SAFETY: what lends the create-info owns all that it points to.
    let captured = unsafe { standin_capture::compute(&info, &table) };
    assert_eq!(captured, Ok(recipe));
}

#[test]
fn both_versions_of_a_render_pass_are_one_recipe() {
    let attachments = [vk::AttachmentDescription::default()
        .format(vk::Format::D24_UNORM_S8_UINT)
        .samples(vk::SampleCountFlags::TYPE_1)];
    let inputs = [vk::AttachmentReference::default().layout(vk::ImageLayout::GENERAL)];
    let subpasses = [vk::SubpassDescription::default().input_attachments(&inputs)];
    let masks = [3];
    let mut views = vk::RenderPassMultiviewCreateInfo::default()
        .view_masks(&masks)
        .correlation_masks(&masks);
    let first = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .push_next(&mut views);

    let attachments = [vk::AttachmentDescription2::default()
        .format(vk::Format::D24_UNORM_S8_UINT)
        .samples(vk::SampleCountFlags::TYPE_1)];
    let inputs = [vk::AttachmentReference2::default()
        .layout(vk::ImageLayout::GENERAL)
        .aspect_mask(vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL)];
    let subpasses = [vk::SubpassDescription2::default()
        .input_attachments(&inputs)
        .view_mask(3)];
    let second = vk::RenderPassCreateInfo2::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .correlated_view_masks(&masks);
    // SAFETY: everything that the create-infos point to is alive.
    let (first, second) = unsafe {
        (
            standin_capture::render_pass(&first),
            standin_capture::render_pass_2(&second),
        )
    };
    assert_eq!(first, second);
    assert_eq!(first.unwrap().subpasses[0].view_mask, 3);
}

#[test]
fn a_constant_outside_of_its_data_is_refused() {
    let mut recipe = compute_sample();
    recipe.stage.specialization.as_mut().unwrap().entries[2].size = 13;
    let error = Table::default().compute(&recipe).unwrap_err();
    assert_eq!(
        error.to_string(),
        "constant 7 is at 8, 13 bytes long, in 20 bytes of data"
    );
}
