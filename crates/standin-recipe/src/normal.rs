//! Normal forms: a recipe with every field cleared that has no effect.
//!
//! A field has no effect if Vulkan says that it is ignored (a dynamic state overrides it, a test
//! is off, an attachment or a stage is missing) or if only the order of a list differs that is a
//! set. Identities are made of normal forms. A normal form is not meant for a driver, which gets
//! the recipe as it stands. The rules are those of the Vulkan specification, chapters "Graphics
//! Pipelines" and "Dynamic State" (`VkDynamicState`); `docs/recipe-format.md` lists them.

mod layout;
mod output;
mod raster;
mod render_pass;

use crate::output::{InputAttachmentIndices, Target};
use crate::pipeline::{ComputeRecipe, GraphicsRecipe, Recipe};
use crate::raster::FragmentShadingRate;
use crate::stage::{Robustness, Stage};
use crate::vertex::{InputAssemblyState, TessellationState, VertexInputState};
use ash::vk;
use std::sync::Arc;

pub use layout::{
    normal_pipeline_layout, normal_sampler, normal_set_layout, takes_immutable_samplers,
};
pub use render_pass::{Attachments, format_aspects, is_used, normal_render_pass};

/// The dynamic states of one pipeline.
#[derive(Clone, Copy)]
pub(crate) struct Dynamic<'a>(&'a [vk::DynamicState]);

impl<'a> Dynamic<'a> {
    pub(crate) fn new(states: &'a [vk::DynamicState]) -> Self {
        Self(states)
    }

    pub(crate) fn has(self, state: vk::DynamicState) -> bool {
        self.0.contains(&state)
    }
}

/// `VK_DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT`, of `VK_EXT_depth_clamp_control`.
pub(crate) const DEPTH_CLAMP_RANGE: vk::DynamicState = vk::DynamicState::from_raw(1_000_582_000);

impl Recipe {
    /// The recipe's normal form.
    #[must_use]
    pub fn normalised(&self) -> Self {
        match self {
            Self::Graphics(recipe) => Self::Graphics(recipe.normalised()),
            Self::Compute(recipe) => Self::Compute(recipe.normalised()),
        }
    }
}

impl ComputeRecipe {
    /// The recipe's normal form.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let robustness = normal_robustness(self.robustness.as_ref());
        Self {
            flags: self.flags,
            stage: normal_stage(&self.stage, robustness.is_some()),
            layout: normal_pipeline_layout(&self.layout),
            robustness,
        }
    }
}

/// What a graphics pipeline's own parts and stages say about what is read.
pub(crate) struct Reads {
    pub(crate) vertex_input: bool,
    pub(crate) pre_raster: bool,
    pub(crate) fragment: bool,
    pub(crate) output: bool,
    pub(crate) mesh: bool,
    pub(crate) tessellation: bool,
    /// Primitives are thrown away before rasterisation, whatever the draw sets.
    pub(crate) discard: bool,
    /// Colour attachments, where they are known.
    pub(crate) color: Option<bool>,
    /// Depth and stencil attachments, where they are known.
    pub(crate) depth: Option<bool>,
    pub(crate) stencil: Option<bool>,
}

impl GraphicsRecipe {
    pub(crate) fn reads(&self, dynamic: Dynamic<'_>) -> Reads {
        use vk::GraphicsPipelineLibraryFlagsEXT as Part;
        let has = |stages| {
            self.stages
                .iter()
                .any(|stage| stage.stage.intersects(stages))
        };
        let pre_raster = self.parts.contains(Part::PRE_RASTERIZATION_SHADERS);
        let fragment = self.parts.contains(Part::FRAGMENT_SHADER);
        let output = self.parts.contains(Part::FRAGMENT_OUTPUT_INTERFACE);
        let attachments = self.target.attachments(output);
        Reads {
            vertex_input: self.parts.contains(Part::VERTEX_INPUT_INTERFACE),
            pre_raster,
            fragment,
            output,
            mesh: has(vk::ShaderStageFlags::MESH_EXT | vk::ShaderStageFlags::TASK_EXT),
            tessellation: has(vk::ShaderStageFlags::TESSELLATION_CONTROL
                | vk::ShaderStageFlags::TESSELLATION_EVALUATION),
            discard: pre_raster
                && !dynamic.has(vk::DynamicState::RASTERIZER_DISCARD_ENABLE)
                && self
                    .rasterization
                    .as_ref()
                    .is_some_and(|state| state.rasterizer_discard_enable),
            color: attachments.map(|attachments| attachments.color),
            depth: attachments.map(|attachments| attachments.depth),
            stencil: attachments.map(|attachments| attachments.stencil),
        }
    }

    /// The recipe's normal form.
    #[must_use]
    pub fn normalised(&self) -> Self {
        let mut dynamic_states = self.dynamic_states.clone();
        dynamic_states.sort_unstable();
        dynamic_states.dedup();
        let dynamic = Dynamic::new(&dynamic_states);
        let reads = self.reads(dynamic);
        let robustness = normal_robustness(self.robustness.as_ref());
        let rasterized = !reads.discard;
        let mut stages: Vec<Stage> = self
            .stages
            .iter()
            .map(|stage| normal_stage(stage, robustness.is_some()))
            .collect();
        stages.sort_by_key(|stage| stage.stage);
        let has_shaders = reads.pre_raster || reads.fragment;
        let shading_rate =
            has_shaders && rasterized && !dynamic.has(vk::DynamicState::FRAGMENT_SHADING_RATE_KHR);
        Self {
            flags: self.flags,
            parts: self.parts,
            libraries: self
                .libraries
                .iter()
                .map(|library| Arc::new(library.normalised()))
                .collect(),
            stages,
            vertex_input: self
                .vertex_input
                .as_ref()
                .filter(|_| reads.vertex_input && !reads.mesh)
                .filter(|_| !dynamic.has(vk::DynamicState::VERTEX_INPUT_EXT))
                .map(|state| normal_vertex_input(state, dynamic)),
            input_assembly: self
                .input_assembly
                .as_ref()
                .filter(|_| reads.vertex_input && !reads.mesh)
                .map(|state| normal_input_assembly(state, dynamic)),
            tessellation: self
                .tessellation
                .as_ref()
                .filter(|_| reads.pre_raster && reads.tessellation)
                .and_then(|state| normal_tessellation(state, dynamic)),
            viewport: raster::normal_viewport(self.viewport.as_ref(), dynamic)
                .filter(|_| reads.pre_raster && rasterized),
            rasterization: self
                .rasterization
                .as_ref()
                .filter(|_| reads.pre_raster)
                .map(|state| raster::normal_rasterization(state, dynamic)),
            multisample: self
                .multisample
                .as_ref()
                .filter(|_| (reads.fragment || reads.output) && rasterized)
                .map(|state| raster::normal_multisample(state, dynamic)),
            depth_stencil: self
                .depth_stencil
                .as_ref()
                .filter(|_| reads.fragment && rasterized)
                .filter(|_| reads.depth != Some(false) || reads.stencil != Some(false))
                .map(|state| output::normal_depth_stencil(state, dynamic, &reads)),
            color_blend: self
                .color_blend
                .as_ref()
                .filter(|_| reads.output && rasterized && reads.color != Some(false))
                .map(|state| output::normal_color_blend(state, dynamic, &self.target)),
            layout: self
                .layout
                .as_ref()
                .filter(|_| has_shaders || !self.libraries.is_empty())
                .map(normal_pipeline_layout),
            target: normal_target(&self.target, &reads),
            robustness,
            discard_rectangles: self
                .discard_rectangles
                .as_ref()
                .filter(|_| reads.pre_raster && rasterized)
                .and_then(|state| raster::normal_discard_rectangles(state, dynamic)),
            fragment_shading_rate: self
                .fragment_shading_rate
                .clone()
                .filter(|rate| shading_rate && *rate != FragmentShadingRate::PER_PIXEL),
            fragment_shading_rate_enum: self
                .fragment_shading_rate_enum
                .clone()
                .filter(|_| shading_rate),
            attachment_locations: self
                .attachment_locations
                .clone()
                .filter(|locations| !is_identity(locations)),
            input_attachment_indices: self.input_attachment_indices.clone().filter(|indices| {
                *indices != InputAttachmentIndices::identity(indices.color.len())
            }),
            attachment_sample_counts: self.attachment_sample_counts.clone(),
            representative_fragment_test: self.representative_fragment_test
                && !dynamic.has(vk::DynamicState::REPRESENTATIVE_FRAGMENT_TEST_ENABLE_NV),
            dynamic_states,
        }
    }
}

impl FragmentShadingRate {
    /// One fragment a pixel, nothing combined: what the absence of the struct means.
    pub const PER_PIXEL: Self = Self {
        fragment_size: [1, 1],
        combiner_ops: [vk::FragmentShadingRateCombinerOpKHR::KEEP; 2],
    };
}

impl InputAttachmentIndices {
    /// Each colour attachment at its own index, depth and stencil without one: what the absence
    /// of the struct means.
    #[must_use]
    pub fn identity(colors: usize) -> Self {
        Self {
            color: (0..).take(colors).collect(),
            depth: None,
            stencil: None,
        }
    }
}

fn is_identity(locations: &[u32]) -> bool {
    locations.iter().copied().eq((0..).take(locations.len()))
}

/// Robustness that says "as the device does" everywhere is none.
fn normal_robustness(robustness: Option<&Robustness>) -> Option<Robustness> {
    robustness
        .filter(|robustness| **robustness != Robustness::default())
        .cloned()
}

/// A stage's own robustness overrides its pipeline's, so that even the device's default counts
/// where the pipeline has another.
fn normal_stage(stage: &Stage, pipeline_has_robustness: bool) -> Stage {
    Stage {
        specialization: stage
            .specialization
            .clone()
            .filter(|specialization| !specialization.entries.is_empty()),
        robustness: if pipeline_has_robustness {
            stage.robustness.clone()
        } else {
            normal_robustness(stage.robustness.as_ref())
        },
        ..stage.clone()
    }
}

fn normal_vertex_input(state: &VertexInputState, dynamic: Dynamic<'_>) -> VertexInputState {
    let mut state = state.clone();
    for binding in &mut state.bindings {
        if dynamic.has(vk::DynamicState::VERTEX_INPUT_BINDING_STRIDE) {
            binding.stride = 0;
        }
        if binding.input_rate == vk::VertexInputRate::VERTEX {
            binding.divisor = 1;
        }
    }
    state.bindings.sort_by_key(|binding| binding.binding);
    state.attributes.sort_by_key(|attribute| attribute.location);
    state
}

/// With dynamic topology the static one says only what class it is of.
fn normal_input_assembly(state: &InputAssemblyState, dynamic: Dynamic<'_>) -> InputAssemblyState {
    use vk::PrimitiveTopology as Topology;
    InputAssemblyState {
        topology: if dynamic.has(vk::DynamicState::PRIMITIVE_TOPOLOGY) {
            match state.topology {
                Topology::LINE_STRIP
                | Topology::LINE_LIST_WITH_ADJACENCY
                | Topology::LINE_STRIP_WITH_ADJACENCY => Topology::LINE_LIST,
                Topology::TRIANGLE_STRIP
                | Topology::TRIANGLE_FAN
                | Topology::TRIANGLE_LIST_WITH_ADJACENCY
                | Topology::TRIANGLE_STRIP_WITH_ADJACENCY => Topology::TRIANGLE_LIST,
                other => other,
            }
        } else {
            state.topology
        },
        primitive_restart_enable: state.primitive_restart_enable
            && !dynamic.has(vk::DynamicState::PRIMITIVE_RESTART_ENABLE),
    }
}

fn normal_tessellation(
    state: &TessellationState,
    dynamic: Dynamic<'_>,
) -> Option<TessellationState> {
    let points = dynamic.has(vk::DynamicState::PATCH_CONTROL_POINTS_EXT);
    let origin = dynamic.has(vk::DynamicState::TESSELLATION_DOMAIN_ORIGIN_EXT);
    (!points || !origin).then_some(TessellationState {
        patch_control_points: if points {
            0
        } else {
            state.patch_control_points
        },
        domain_origin: if origin {
            vk::TessellationDomainOrigin::UPPER_LEFT
        } else {
            state.domain_origin
        },
    })
}

/// Formats count where the output part is; shaders only see the views; vertex input sees nothing.
fn normal_target(target: &Target, reads: &Reads) -> Target {
    if !reads.pre_raster && !reads.fragment && !reads.output {
        return Target::default();
    }
    match target {
        Target::RenderPass { pass, subpass } => Target::RenderPass {
            pass: normal_render_pass(pass),
            subpass: *subpass,
        },
        Target::Rendering(formats) if reads.output => Target::Rendering(formats.clone()),
        Target::Rendering(formats) => Target::Rendering(crate::output::RenderingFormats {
            view_mask: formats.view_mask,
            ..Default::default()
        }),
    }
}
