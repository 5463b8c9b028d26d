//! Pipelines from recipes on a real driver, and recipes that a device cannot make.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use standin_recipe::output::Target;
use standin_recipe::pipeline::{Parts, PipelineFlags};
use standin_recipe::render_pass::AttachmentReference;
use standin_recipe::{GraphicsRecipe, Recipe};
use standin_vulkan::ash::vk;
use standin_vulkan::build::{BuildError, Builder};
use standin_vulkan::decline::{Declined, FormatUse};
use standin_vulkan::objects::Objects;
use standin_vulkan::{DeviceSettings, Feature};
use std::sync::Arc;
use support::{TestDevice, recipes};
use vk::GraphicsPipelineLibraryFlagsEXT as Part;

fn builder(test: &TestDevice) -> Builder {
    Builder::new(&Objects::new(&test.device))
}

/// A recipe cut into its four libraries and the link of them.
fn linked(whole: &GraphicsRecipe) -> GraphicsRecipe {
    let library = |part: Part, edit: fn(&mut GraphicsRecipe)| {
        let mut recipe = GraphicsRecipe {
            flags: PipelineFlags::from(vk::PipelineCreateFlags::LIBRARY_KHR),
            parts: Parts::new(part),
            ..whole.clone()
        };
        edit(&mut recipe);
        Arc::new(recipe)
    };
    let libraries = vec![
        library(Part::VERTEX_INPUT_INTERFACE, |r| {
            r.stages.clear();
            r.layout = None;
            r.viewport = None;
            r.rasterization = None;
            r.multisample = None;
            r.depth_stencil = None;
            r.color_blend = None;
        }),
        library(Part::PRE_RASTERIZATION_SHADERS, |r| {
            r.stages.truncate(1);
            r.vertex_input = None;
            r.input_assembly = None;
            r.multisample = None;
            r.depth_stencil = None;
            r.color_blend = None;
        }),
        library(Part::FRAGMENT_SHADER, |r| {
            r.stages.remove(0);
            r.vertex_input = None;
            r.input_assembly = None;
            r.viewport = None;
            r.rasterization = None;
            r.color_blend = None;
        }),
        library(Part::FRAGMENT_OUTPUT_INTERFACE, |r| {
            r.stages.clear();
            r.layout = None;
            r.vertex_input = None;
            r.input_assembly = None;
            r.viewport = None;
            r.rasterization = None;
            r.depth_stencil = None;
        }),
    ];
    GraphicsRecipe {
        parts: Parts::new(Part::empty()),
        libraries,
        layout: whole.layout.clone(),
        ..GraphicsRecipe::default()
    }
}

#[test]
fn every_kind_of_pipeline_is_made() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let builder = builder(&test);
    let kinds: [(&str, Recipe); 6] = [
        ("dynamic rendering", recipes::graphics().into()),
        ("render pass", recipes::in_render_pass().into()),
        ("tessellation", recipes::tessellated().into()),
        ("geometry", recipes::with_geometry().into()),
        ("linked", linked(&recipes::graphics()).into()),
        ("compute", recipes::compute(8).into()),
    ];
    for (name, recipe) in &kinds {
        let built = builder
            .build(recipe)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_ne!(built.pipeline.raw(), vk::Pipeline::null(), "{name}");
    }
    test.assert_valid();
}

#[test]
fn input_attachments_of_version_1_and_present_layouts_are_valid() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let mut recipe = recipes::in_render_pass();
    let Target::RenderPass { pass, .. } = &mut recipe.target else {
        panic!("a render pass");
    };
    let pass = Arc::make_mut(pass);
    // As a window's program and an old capture have them: no aspects are named.
    pass.attachments[0].final_layout = vk::ImageLayout::PRESENT_SRC_KHR;
    pass.subpasses[0].input_attachments = vec![AttachmentReference {
        attachment: 0,
        layout: vk::ImageLayout::GENERAL,
        ..AttachmentReference::default()
    }];
    pass.subpasses[0].color_attachments[0].layout = vk::ImageLayout::GENERAL;
    builder(&test).build(&recipe.into()).unwrap();
    test.assert_valid();
}

#[test]
fn what_pipelines_share_is_made_once_whichever_thread_comes_first() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let objects = Objects::new(&test.device);
    let builder = Builder::new(&objects);
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let builder = &builder;
            scope.spawn(move || {
                for size in 1..5 {
                    // Recipes of their own, equal in all but the workgroup's size.
                    let recipe = recipes::compute(size + 4 * thread);
                    builder.build(&recipe.into()).unwrap();
                    builder.build(&recipes::in_render_pass().into()).unwrap();
                }
            });
        }
    });
    let counts = objects.counts();
    assert_eq!(counts.modules, 3);
    assert_eq!(counts.layouts, 2);
    assert_eq!(counts.set_layouts, 1);
    assert_eq!(counts.passes, 1);
    test.assert_valid();
}

#[test]
fn what_the_device_lacks_is_declined_by_name_before_the_driver_is_asked() {
    // Features are left off, so that the same holds on every test device.
    let settings = DeviceSettings {
        without: vec![
            Feature::GeometryShader,
            Feature::TessellationShader,
            Feature::SubgroupSizeControl,
            Feature::VertexAttributeInstanceRateDivisor,
            Feature::DepthClamp,
            Feature::GraphicsPipelineLibrary,
        ],
        ..DeviceSettings::default()
    };
    let Some(test) = TestDevice::from_environment(&settings) else {
        return;
    };
    let builder = builder(&test);
    let declined = |recipe: Recipe| match builder.build(&recipe) {
        Err(BuildError::Declined(declined)) => declined,
        other => panic!("{other:?}"),
    };
    let edited = |edit: fn(&mut GraphicsRecipe)| {
        let mut recipe = recipes::graphics();
        edit(&mut recipe);
        declined(recipe.into())
    };
    let lacks = Declined::Feature;

    assert_eq!(
        declined(recipes::with_geometry().into()),
        lacks(Feature::GeometryShader)
    );
    assert_eq!(
        declined(recipes::tessellated().into()),
        lacks(Feature::TessellationShader)
    );
    assert_eq!(
        declined(linked(&recipes::graphics()).into()),
        lacks(Feature::GraphicsPipelineLibrary)
    );
    assert_eq!(
        edited(|r| {
            let binding = &mut r.vertex_input.as_mut().unwrap().bindings[0];
            binding.input_rate = vk::VertexInputRate::INSTANCE;
            binding.divisor = 2;
        }),
        lacks(Feature::VertexAttributeInstanceRateDivisor)
    );
    assert_eq!(
        edited(|r| r.rasterization.as_mut().unwrap().depth_clamp_enable = true),
        lacks(Feature::DepthClamp)
    );
    let mut sized = recipes::compute(8);
    sized.stage.required_subgroup_size = Some(8);
    assert_eq!(declined(sized.into()), lacks(Feature::SubgroupSizeControl));

    // R8G8B8A8_SRGB is a format of no vertex attribute anywhere (F6).
    assert_eq!(
        edited(
            |r| r.vertex_input.as_mut().unwrap().attributes[0].format = vk::Format::R8G8B8A8_SRGB
        ),
        Declined::Format {
            format: vk::Format::R8G8B8A8_SRGB,
            usage: FormatUse::Vertex,
        }
    );
    assert!(matches!(
        edited(|r| r.vertex_input.as_mut().unwrap().bindings[0].stride = u32::MAX),
        Declined::Limit {
            what: "maxVertexInputBindingStride",
            ..
        }
    ));
    // What crashes drivers is found out first.
    assert!(matches!(
        edited(|r| r.rasterization = None),
        Declined::Invalid(_)
    ));
    assert!(matches!(
        edited(|r| r.stages[0].entry = standin_recipe::stage::EntryName::new("other").unwrap()),
        Declined::Invalid(_)
    ));
    assert!(matches!(
        edited(|r| r.dynamic_states = vec![vk::DynamicState::from_raw(1_999_999_999)]),
        Declined::Unknown { .. }
    ));
    // Not one of them was sent to the driver.
    test.assert_valid();
}

#[test]
fn a_subgroup_size_outside_of_the_devices_range_is_declined() {
    let Some(test) = TestDevice::from_environment(&DeviceSettings::default()) else {
        return;
    };
    let subgroup = test.device.capabilities().subgroup;
    let mut recipe = recipes::compute(8);
    recipe.stage.required_subgroup_size = Some(subgroup.max_size * 2);
    assert_eq!(
        builder(&test).build(&recipe.clone().into()).unwrap_err(),
        BuildError::Declined(Declined::SubgroupSize {
            asked: subgroup.max_size * 2,
            min: subgroup.min_size,
            max: subgroup.max_size,
            stages: subgroup.required_size_stages,
        })
    );
    recipe.stage.required_subgroup_size = Some(subgroup.max_size);
    builder(&test).build(&recipe.into()).unwrap();
    test.assert_valid();
}

#[test]
fn p7_divisors_need_either_extension_and_not_one_of_them() {
    let khr = vk_ext::KHR_DIVISOR;
    let ext = vk_ext::EXT_DIVISOR;
    for without in [khr, ext] {
        let settings = DeviceSettings {
            without_extensions: vec![without],
            ..DeviceSettings::default()
        };
        let Some(test) = TestDevice::from_environment(&settings) else {
            return;
        };
        let mut recipe = recipes::graphics();
        let binding = &mut recipe.vertex_input.as_mut().unwrap().bindings[0];
        binding.input_rate = vk::VertexInputRate::INSTANCE;
        binding.divisor = 3;
        builder(&test).build(&recipe.into()).unwrap();
        test.assert_valid();
    }
}

mod vk_ext {
    use standin_vulkan::ash;
    use std::ffi::CStr;

    pub(crate) const KHR_DIVISOR: &CStr = ash::khr::vertex_attribute_divisor::NAME;
    pub(crate) const EXT_DIVISOR: &CStr = ash::ext::vertex_attribute_divisor::NAME;
}
