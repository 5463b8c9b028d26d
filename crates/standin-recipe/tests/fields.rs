//! Each field changed in turn: the exact key changes if and only if the field has an effect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A failed test panics.

use ash::vk::{self, DynamicState as State};
use standin_recipe::output::Target;
use standin_recipe::pipeline::PipelineFlags;
use standin_recipe::raster::Counted;
use standin_recipe::vary::{Vary, compute_sample, graphics_sample, rendering_sample};
use standin_recipe::{Float, GraphicsRecipe, Module, ModuleRef, Recipe};
use std::collections::HashMap;
use std::sync::Arc;

/// Varies every field of the recipe. Returns the paths of the variations that have the sample's
/// own key; all others must have keys of their own.
fn same_as_sample(recipe: &Recipe) -> Vec<String> {
    let key = recipe.exact_key();
    let mut same = Vec::new();
    let mut keys = HashMap::new();
    recipe.vary("", &mut |path, varied| {
        assert_ne!(varied, *recipe, "{path} is no variation");
        let varied_key = varied.exact_key();
        if varied_key == key {
            same.push(path.to_owned());
        } else if let Some((other, other_varied)) =
            keys.insert(varied_key, (path.to_owned(), varied.clone()))
        {
            assert_eq!(
                varied.normalised(),
                Recipe::normalised(&other_varied),
                "{path} and {other} have one key"
            );
        }
    });
    assert!(keys.len() > 100);
    same
}

/// The second immutable sampler neither compares nor has a border; only a binding of the type
/// MUTABLE has mutable types, and only samplers are immutable samplers.
const LAYOUT: [&str; 7] = [
    ".layout.set_layouts[0].bindings[0].immutable_samplers[1].max_anisotropy",
    ".layout.set_layouts[0].bindings[0].immutable_samplers[1].compare_op",
    ".layout.set_layouts[0].bindings[0].immutable_samplers[1].border_color",
    ".layout.set_layouts[0].bindings[0].immutable_samplers[1].custom_border_color",
    ".layout.set_layouts[0].bindings[0].immutable_samplers[1].border_color_mapping",
    ".layout.set_layouts[0].bindings[0].mutable_types.push",
    ".layout.set_layouts[0].bindings[1].immutable_samplers.push",
];

#[test]
fn every_field_of_a_graphics_pipeline_counts() {
    let mut expected = vec![
        // The binding is per vertex.
        ".vertex_input.bindings[1].divisor",
        // Four samples have one mask word.
        ".multisample.sample_mask.push",
        // The logical operation is off.
        ".color_blend.logic_op",
        // A reference to nothing, and a struct that refers to nothing, are nothing.
        ".target.pass.subpasses[0].resolve_attachments.push",
        ".target.pass.subpasses[0].depth_stencil_attachment",
        ".target.pass.subpasses[0].depth_stencil_resolve",
        ".target.pass.subpasses[0].shading_rate_attachment",
        ".target.pass.subpasses[0].single_sampled_rendering",
        // Only input attachments have aspects.
        ".target.pass.subpasses[1].color_attachments[0].aspect_mask",
        ".target.pass.subpasses[1].color_attachments[1].aspect_mask",
        ".target.pass.subpasses[1].resolve_attachments[0].aspect_mask",
        ".target.pass.subpasses[1].resolve_attachments[1].aspect_mask",
        ".target.pass.subpasses[1].depth_stencil_attachment.aspect_mask",
        ".target.pass.subpasses[1].depth_stencil_resolve.attachment.aspect_mask",
        ".target.pass.subpasses[1].shading_rate_attachment.attachment.aspect_mask",
        ".target.pass.fragment_density_map.aspect_mask",
        ".target.pass.fragment_density_map.stencil_layout",
        // No locations mean each attachment's own.
        ".attachment_locations",
        ".input_attachment_indices",
    ];
    expected.extend(LAYOUT);
    expected.sort_unstable();
    let mut same = same_as_sample(&graphics_sample().into());
    same.sort_unstable();
    assert_eq!(same, expected);
}

#[test]
fn every_field_of_a_pipeline_for_dynamic_rendering_counts() {
    let mut same = same_as_sample(&rendering_sample().into());
    // With a logical operation nothing blends.
    same.retain(|path| {
        let blending = path.starts_with(".color_blend.attachments")
            || path.starts_with(".color_blend.blend_constants")
            || path.starts_with(".color_blend.advanced");
        assert!(!path.contains("write_mask"));
        !blending
    });
    let mut expected = vec![
        ".vertex_input.bindings[1].divisor",
        ".multisample.sample_mask.push",
    ];
    expected.extend(LAYOUT);
    assert_eq!(same, expected);
}

#[test]
fn every_field_of_a_compute_pipeline_counts() {
    assert_eq!(same_as_sample(&compute_sample().into()), LAYOUT);
}

#[test]
fn equal_pipelines_in_different_memory_have_one_key() {
    assert_eq!(
        Recipe::from(graphics_sample()).exact_key(),
        Recipe::from(graphics_sample()).exact_key()
    );
    let mut shuffled = graphics_sample();
    shuffled.stages.reverse();
    shuffled.vertex_input.as_mut().unwrap().bindings.reverse();
    shuffled
        .dynamic_states
        .extend(shuffled.dynamic_states.clone());
    let mut layout = (**shuffled.layout.as_ref().unwrap()).clone();
    let mut set = (**layout.set_layouts[0].as_ref().unwrap()).clone();
    set.bindings.reverse();
    layout.set_layouts[0] = Some(Arc::new(set));
    shuffled.layout = Some(Arc::new(layout));
    assert_ne!(shuffled, graphics_sample());
    assert_eq!(
        Recipe::from(shuffled).exact_key(),
        Recipe::from(graphics_sample()).exact_key()
    );
}

type Change = fn(&mut GraphicsRecipe);

/// Fields that a dynamic state overrides, by `VkDynamicState`.
const OVERRIDDEN: &[(State, &[Change])] = &[
    (State::VIEWPORT, &[|r| viewports(r).x = Float::new(9.0)]),
    (State::SCISSOR, &[|r| scissor(r).x = 9]),
    (
        State::VIEWPORT_WITH_COUNT,
        &[
            |r| viewports(r).x = Float::new(9.0),
            |r| r.viewport.as_mut().unwrap().viewports = Counted::Count(0),
        ],
    ),
    (
        State::SCISSOR_WITH_COUNT,
        &[|r| r.viewport.as_mut().unwrap().scissors = Counted::Count(0)],
    ),
    (
        State::LINE_WIDTH,
        &[|r| raster(r).line_width = Float::new(9.0)],
    ),
    (
        State::DEPTH_BIAS,
        &[
            |r| raster(r).depth_bias_clamp = Float::new(9.0),
            |r| raster(r).depth_bias_constant_factor = Float::new(9.0),
            |r| raster(r).depth_bias_slope_factor = Float::new(9.0),
            |r| raster(r).depth_bias_representation = None,
        ],
    ),
    (
        State::BLEND_CONSTANTS,
        &[|r| blend(r).blend_constants[2] = Float::new(9.0)],
    ),
    (
        State::DEPTH_BOUNDS,
        &[
            |r| depth(r).min_depth_bounds = Float::new(0.5),
            |r| depth(r).max_depth_bounds = Float::new(0.5),
        ],
    ),
    (
        State::STENCIL_COMPARE_MASK,
        &[
            |r| depth(r).front.compare_mask = 99,
            |r| depth(r).back.compare_mask = 99,
        ],
    ),
    (
        State::STENCIL_WRITE_MASK,
        &[
            |r| depth(r).front.write_mask = 99,
            |r| depth(r).back.write_mask = 99,
        ],
    ),
    (
        State::STENCIL_REFERENCE,
        &[
            |r| depth(r).front.reference = 99,
            |r| depth(r).back.reference = 99,
        ],
    ),
    (
        State::CULL_MODE,
        &[|r| raster(r).cull_mode = vk::CullModeFlags::FRONT],
    ),
    (
        State::FRONT_FACE,
        &[|r| raster(r).front_face = vk::FrontFace::COUNTER_CLOCKWISE],
    ),
    (
        State::VERTEX_INPUT_BINDING_STRIDE,
        &[|r| {
            r.vertex_input.as_mut().unwrap().bindings[0].stride = 99;
        }],
    ),
    (
        State::VERTEX_INPUT_EXT,
        &[
            |r| r.vertex_input.as_mut().unwrap().bindings[0].stride = 99,
            |r| r.vertex_input.as_mut().unwrap().attributes.clear(),
            |r| r.vertex_input = None,
        ],
    ),
    (
        State::DEPTH_TEST_ENABLE,
        &[|r| depth(r).depth_test_enable = false],
    ),
    (
        State::DEPTH_WRITE_ENABLE,
        &[|r| depth(r).depth_write_enable = false],
    ),
    (
        State::DEPTH_COMPARE_OP,
        &[|r| depth(r).depth_compare_op = vk::CompareOp::GREATER],
    ),
    (
        State::DEPTH_BOUNDS_TEST_ENABLE,
        &[|r| depth(r).depth_bounds_test_enable = false],
    ),
    (
        State::STENCIL_TEST_ENABLE,
        &[|r| depth(r).stencil_test_enable = false],
    ),
    (
        State::STENCIL_OP,
        &[
            |r| depth(r).front.fail_op = vk::StencilOp::DECREMENT_AND_WRAP,
            |r| depth(r).front.pass_op = vk::StencilOp::DECREMENT_AND_WRAP,
            |r| depth(r).back.depth_fail_op = vk::StencilOp::DECREMENT_AND_WRAP,
            |r| depth(r).back.compare_op = vk::CompareOp::GREATER,
        ],
    ),
    (
        State::DEPTH_BIAS_ENABLE,
        &[|r| raster(r).depth_bias_enable = false],
    ),
    (
        State::PRIMITIVE_RESTART_ENABLE,
        &[|r| {
            r.input_assembly.as_mut().unwrap().primitive_restart_enable = false;
        }],
    ),
    (
        State::PATCH_CONTROL_POINTS_EXT,
        &[|r| {
            r.tessellation.as_mut().unwrap().patch_control_points = 9;
        }],
    ),
    (
        State::TESSELLATION_DOMAIN_ORIGIN_EXT,
        &[|r| {
            r.tessellation.as_mut().unwrap().domain_origin =
                vk::TessellationDomainOrigin::UPPER_LEFT;
        }],
    ),
    (
        State::COLOR_WRITE_ENABLE_EXT,
        &[|r| blend(r).color_write_enables = None],
    ),
    (
        State::DEPTH_CLAMP_ENABLE_EXT,
        &[|r| raster(r).depth_clamp_enable = true],
    ),
    (
        State::POLYGON_MODE_EXT,
        &[|r| raster(r).polygon_mode = vk::PolygonMode::POINT],
    ),
    (
        State::SAMPLE_MASK_EXT,
        &[|r| r.multisample.as_mut().unwrap().sample_mask.clear()],
    ),
    (
        State::ALPHA_TO_COVERAGE_ENABLE_EXT,
        &[|r| {
            r.multisample.as_mut().unwrap().alpha_to_coverage_enable = false;
        }],
    ),
    (
        State::ALPHA_TO_ONE_ENABLE_EXT,
        &[|r| {
            r.multisample.as_mut().unwrap().alpha_to_one_enable = false;
        }],
    ),
    (
        State::COLOR_BLEND_ENABLE_EXT,
        &[|r| attachment(r).blend_enable = false],
    ),
    (
        State::COLOR_BLEND_EQUATION_EXT,
        &[
            |r| attachment(r).src_color = vk::BlendFactor::ONE,
            |r| attachment(r).dst_color = vk::BlendFactor::ONE,
            |r| attachment(r).color_op = vk::BlendOp::MAX,
            |r| attachment(r).src_alpha = vk::BlendFactor::ZERO,
            |r| attachment(r).dst_alpha = vk::BlendFactor::ZERO,
            |r| attachment(r).alpha_op = vk::BlendOp::MIN,
        ],
    ),
    (
        State::COLOR_WRITE_MASK_EXT,
        &[|r| {
            attachment(r).write_mask = vk::ColorComponentFlags::R;
        }],
    ),
    (
        State::COLOR_BLEND_ADVANCED_EXT,
        &[|r| blend(r).advanced = None],
    ),
    (State::RASTERIZATION_STREAM_EXT, &[|r| raster(r).stream = 0]),
    (
        State::CONSERVATIVE_RASTERIZATION_MODE_EXT,
        &[|r| {
            raster(r).conservative.as_mut().unwrap().mode =
                vk::ConservativeRasterizationModeEXT::OVERESTIMATE;
        }],
    ),
    (
        State::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT,
        &[|r| {
            raster(r)
                .conservative
                .as_mut()
                .unwrap()
                .extra_overestimation = Float::new(9.0);
        }],
    ),
    (
        State::DEPTH_CLIP_ENABLE_EXT,
        &[|r| raster(r).depth_clip_enable = None],
    ),
    (
        State::SAMPLE_LOCATIONS_ENABLE_EXT,
        &[|r| {
            r.multisample
                .as_mut()
                .unwrap()
                .sample_locations
                .as_mut()
                .unwrap()
                .enable = false;
        }],
    ),
    (
        State::SAMPLE_LOCATIONS_EXT,
        &[|r| {
            let state = r.multisample.as_mut().unwrap();
            state.sample_locations.as_mut().unwrap().grid_size = [2, 2];
        }],
    ),
    (
        State::PROVOKING_VERTEX_MODE_EXT,
        &[|r| {
            raster(r).provoking_vertex = vk::ProvokingVertexModeEXT::FIRST_VERTEX;
        }],
    ),
    (
        State::LINE_RASTERIZATION_MODE_EXT,
        &[|r| {
            raster(r).line.as_mut().unwrap().mode = vk::LineRasterizationModeKHR::RECTANGULAR;
        }],
    ),
    (
        State::LINE_STIPPLE_ENABLE_EXT,
        &[|r| raster(r).line.as_mut().unwrap().stippled = false],
    ),
    (
        State::LINE_STIPPLE_KHR,
        &[
            |r| raster(r).line.as_mut().unwrap().stipple_pattern = 9,
            |r| raster(r).line.as_mut().unwrap().stipple_factor = 9,
        ],
    ),
    (
        State::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT,
        &[|r| {
            r.viewport.as_mut().unwrap().negative_one_to_one = false;
        }],
    ),
    (
        State::FRAGMENT_SHADING_RATE_KHR,
        &[
            |r| r.fragment_shading_rate = None,
            |r| r.fragment_shading_rate_enum = None,
        ],
    ),
];

fn viewports(recipe: &mut GraphicsRecipe) -> &mut standin_recipe::raster::Viewport {
    match &mut recipe.viewport.as_mut().unwrap().viewports {
        Counted::Values(values) => &mut values[0],
        Counted::Count(_) => panic!("the sample has values"),
    }
}

fn scissor(recipe: &mut GraphicsRecipe) -> &mut standin_recipe::raster::Rect {
    match &mut recipe.viewport.as_mut().unwrap().scissors {
        Counted::Values(values) => &mut values[0],
        Counted::Count(_) => panic!("the sample has values"),
    }
}

fn raster(recipe: &mut GraphicsRecipe) -> &mut standin_recipe::raster::RasterizationState {
    recipe.rasterization.as_mut().unwrap()
}

fn depth(recipe: &mut GraphicsRecipe) -> &mut standin_recipe::output::DepthStencilState {
    recipe.depth_stencil.as_mut().unwrap()
}

fn blend(recipe: &mut GraphicsRecipe) -> &mut standin_recipe::output::ColorBlendState {
    recipe.color_blend.as_mut().unwrap()
}

fn attachment(recipe: &mut GraphicsRecipe) -> &mut standin_recipe::output::BlendAttachment {
    match &mut blend(recipe).attachments {
        Counted::Values(values) => &mut values[0],
        Counted::Count(_) => panic!("the sample has values"),
    }
}

#[test]
fn a_dynamic_state_makes_its_fields_irrelevant() {
    let key = |recipe: &GraphicsRecipe| Recipe::from(recipe.clone()).exact_key();
    for (state, changes) in OVERRIDDEN {
        for (index, change) in changes.iter().enumerate() {
            let fixed = graphics_sample();
            let mut dynamic = fixed.clone();
            dynamic.dynamic_states.push(*state);
            let (mut fixed_changed, mut dynamic_changed) = (fixed.clone(), dynamic.clone());
            change(&mut fixed_changed);
            change(&mut dynamic_changed);
            assert_ne!(
                key(&fixed),
                key(&fixed_changed),
                "{state:?}, change {index}, static"
            );
            assert_eq!(
                key(&dynamic),
                key(&dynamic_changed),
                "{state:?}, change {index}, dynamic"
            );
            assert_ne!(key(&fixed), key(&dynamic), "{state:?} itself");
        }
    }
}

#[test]
fn a_dynamic_topology_leaves_its_class() {
    let with = |topology, dynamic: bool| {
        let mut recipe = graphics_sample();
        recipe.input_assembly.as_mut().unwrap().topology = topology;
        if dynamic {
            recipe.dynamic_states.push(State::PRIMITIVE_TOPOLOGY);
        }
        Recipe::from(recipe).exact_key()
    };
    let (list, strip) = (
        vk::PrimitiveTopology::TRIANGLE_LIST,
        vk::PrimitiveTopology::TRIANGLE_STRIP,
    );
    assert_ne!(with(list, false), with(strip, false));
    assert_eq!(with(list, true), with(strip, true));
    assert_ne!(
        with(list, true),
        with(vk::PrimitiveTopology::LINE_LIST, true)
    );
}

#[test]
fn what_a_missing_attachment_would_need_is_irrelevant() {
    let without = |change: Change| {
        let mut recipe = rendering_sample();
        let Target::Rendering(formats) = &mut recipe.target else {
            panic!("the sample is for dynamic rendering");
        };
        formats.color.clear();
        formats.depth = vk::Format::UNDEFINED;
        formats.stencil = vk::Format::UNDEFINED;
        change(&mut recipe);
        Recipe::from(recipe).exact_key()
    };
    let none: Change = |_| {};
    assert_eq!(
        without(none),
        without(|r| depth(r).depth_test_enable = false)
    );
    assert_eq!(without(none), without(|r| r.depth_stencil = None));
    assert_eq!(without(none), without(|r| blend(r).logic_op_enable = false));
    assert_eq!(without(none), without(|r| r.color_blend = None));
    assert_ne!(without(none), without(|r| r.multisample = None));
}

#[test]
fn what_follows_a_static_discard_is_irrelevant() {
    let discarding = |change: Change| {
        let mut recipe = graphics_sample();
        raster(&mut recipe).rasterizer_discard_enable = true;
        change(&mut recipe);
        Recipe::from(recipe).exact_key()
    };
    let none: Change = |_| {};
    for change in [
        (|r| r.viewport = None) as Change,
        |r| r.multisample = None,
        |r| r.depth_stencil = None,
        |r| r.color_blend = None,
    ] {
        assert_eq!(discarding(none), discarding(change));
    }
    // Left to the draw, the same states count.
    let dynamic: Change = |r| r.dynamic_states.push(State::RASTERIZER_DISCARD_ENABLE);
    assert_ne!(
        discarding(dynamic),
        discarding(|r| {
            r.dynamic_states.push(State::RASTERIZER_DISCARD_ENABLE);
            r.multisample = None;
        })
    );
}

#[test]
fn field_case_b7_three_constants_are_told_apart() {
    let mut keys = vec![Recipe::from(compute_sample()).exact_key()];
    for at in [0, 4, 8] {
        let mut recipe = compute_sample();
        recipe.stage.specialization.as_mut().unwrap().data[at] ^= 0x80;
        keys.push(Recipe::from(recipe).exact_key());
    }
    let mut swapped = compute_sample();
    let entries = &mut swapped.stage.specialization.as_mut().unwrap().entries;
    (entries[0].offset, entries[1].offset) = (entries[1].offset, entries[0].offset);
    keys.push(Recipe::from(swapped).exact_key());
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 5);
}

#[test]
fn field_case_b8_a_constant_that_the_shader_lacks_is_legal() {
    // The sample's code declares no constants at all, and a recipe does not mind.
    let recipe = Recipe::from(compute_sample());
    assert_eq!(Recipe::from_bytes(&recipe.to_bytes()), Ok(recipe));
}

#[test]
fn field_cases_b9_and_e8_how_a_pipeline_is_made_is_no_part_of_it() {
    let making = vk::PipelineCreateFlags::ALLOW_DERIVATIVES
        | vk::PipelineCreateFlags::DERIVATIVE
        | vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR
        | vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED
        | vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE;
    assert_eq!(PipelineFlags::from(making), PipelineFlags::default());
    // VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR
    assert_eq!(PipelineFlags::new(0x8000_0000), PipelineFlags::default());
}

#[test]
fn field_case_b2_stages_do_not_run_together() {
    let pair = |a: u32, b: u32| {
        let mut recipe = graphics_sample();
        for (stage, word) in recipe.stages.iter_mut().zip([a, b]) {
            stage.module = ModuleRef(Arc::new(Module::new(
                vk::ShaderModuleCreateFlags::empty(),
                vec![word],
            )));
        }
        Recipe::from(recipe).exact_key()
    };
    assert_ne!(pair(1, 2), pair(2, 1));
    assert_ne!(pair(1, 3), pair(3, 3));
}
