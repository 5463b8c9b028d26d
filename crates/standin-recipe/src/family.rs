//! Families of stand-ins: sets of fields that a stand-in takes as run-time data.
//!
//! A field that a device can set dynamically is absorbed by making it dynamic, so that one set of
//! rules, that of normal forms, says what such a recipe still depends on. The other mechanisms
//! replace a stage: what they replace is cleared, and a tag of the mechanism takes its place in
//! the key.

use crate::pipeline::{GraphicsRecipe, Recipe};
use ash::vk::{self, DynamicState};

macro_rules! fields {
    ($($(#[$($doc:tt)*])* $name:ident = $bit:literal => $state:expr;)*) => {
        bitflags::bitflags! {
            /// Fields that can be dynamic state, one bit for each dynamic state.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
            pub struct Fields: u64 {
                $($(#[$($doc)*])* const $name = 1 << $bit;)*
            }
        }

        const STATES: &[(Fields, DynamicState)] = &[$((Fields::$name, $state),)*];
    };
}

// The bits are in family keys, and those are kept: a new field takes a new bit.
fields! {
    /// Viewports, their number fixed.
    VIEWPORT = 0 => DynamicState::VIEWPORT;
    /// Scissors, their number fixed.
    SCISSOR = 1 => DynamicState::SCISSOR;
    /// Line width.
    LINE_WIDTH = 2 => DynamicState::LINE_WIDTH;
    /// Depth bias values.
    DEPTH_BIAS = 3 => DynamicState::DEPTH_BIAS;
    /// Blend constants.
    BLEND_CONSTANTS = 4 => DynamicState::BLEND_CONSTANTS;
    /// Depth bounds.
    DEPTH_BOUNDS = 5 => DynamicState::DEPTH_BOUNDS;
    /// Stencil compare masks.
    STENCIL_COMPARE_MASK = 6 => DynamicState::STENCIL_COMPARE_MASK;
    /// Stencil write masks.
    STENCIL_WRITE_MASK = 7 => DynamicState::STENCIL_WRITE_MASK;
    /// Stencil references.
    STENCIL_REFERENCE = 8 => DynamicState::STENCIL_REFERENCE;
    /// Cull mode.
    CULL_MODE = 9 => DynamicState::CULL_MODE;
    /// Front face.
    FRONT_FACE = 10 => DynamicState::FRONT_FACE;
    /// Topology, within its class.
    PRIMITIVE_TOPOLOGY = 11 => DynamicState::PRIMITIVE_TOPOLOGY;
    /// Viewports and their number.
    VIEWPORT_WITH_COUNT = 12 => DynamicState::VIEWPORT_WITH_COUNT;
    /// Scissors and their number.
    SCISSOR_WITH_COUNT = 13 => DynamicState::SCISSOR_WITH_COUNT;
    /// Strides of vertex bindings.
    VERTEX_INPUT_BINDING_STRIDE = 14 => DynamicState::VERTEX_INPUT_BINDING_STRIDE;
    /// Depth test.
    DEPTH_TEST_ENABLE = 15 => DynamicState::DEPTH_TEST_ENABLE;
    /// Depth write.
    DEPTH_WRITE_ENABLE = 16 => DynamicState::DEPTH_WRITE_ENABLE;
    /// Depth comparison.
    DEPTH_COMPARE_OP = 17 => DynamicState::DEPTH_COMPARE_OP;
    /// Depth bounds test.
    DEPTH_BOUNDS_TEST_ENABLE = 18 => DynamicState::DEPTH_BOUNDS_TEST_ENABLE;
    /// Stencil test.
    STENCIL_TEST_ENABLE = 19 => DynamicState::STENCIL_TEST_ENABLE;
    /// Stencil operations.
    STENCIL_OP = 20 => DynamicState::STENCIL_OP;
    /// Rasterizer discard.
    RASTERIZER_DISCARD_ENABLE = 21 => DynamicState::RASTERIZER_DISCARD_ENABLE;
    /// Depth bias.
    DEPTH_BIAS_ENABLE = 22 => DynamicState::DEPTH_BIAS_ENABLE;
    /// Primitive restart.
    PRIMITIVE_RESTART_ENABLE = 23 => DynamicState::PRIMITIVE_RESTART_ENABLE;
    /// Logical operation.
    LOGIC_OP = 24 => DynamicState::LOGIC_OP_EXT;
    /// Vertices per patch.
    PATCH_CONTROL_POINTS = 25 => DynamicState::PATCH_CONTROL_POINTS_EXT;
    /// The vertex layout: bindings, attributes, divisors.
    VERTEX_INPUT = 26 => DynamicState::VERTEX_INPUT_EXT;
    /// Which attachments are written.
    COLOR_WRITE_ENABLE = 27 => DynamicState::COLOR_WRITE_ENABLE_EXT;
    /// Tessellation domain origin.
    TESSELLATION_DOMAIN_ORIGIN = 28 => DynamicState::TESSELLATION_DOMAIN_ORIGIN_EXT;
    /// Depth clamp.
    DEPTH_CLAMP_ENABLE = 29 => DynamicState::DEPTH_CLAMP_ENABLE_EXT;
    /// Polygon mode.
    POLYGON_MODE = 30 => DynamicState::POLYGON_MODE_EXT;
    /// Samples per pixel.
    RASTERIZATION_SAMPLES = 31 => DynamicState::RASTERIZATION_SAMPLES_EXT;
    /// Sample mask.
    SAMPLE_MASK = 32 => DynamicState::SAMPLE_MASK_EXT;
    /// Alpha to coverage.
    ALPHA_TO_COVERAGE_ENABLE = 33 => DynamicState::ALPHA_TO_COVERAGE_ENABLE_EXT;
    /// Alpha to one.
    ALPHA_TO_ONE_ENABLE = 34 => DynamicState::ALPHA_TO_ONE_ENABLE_EXT;
    /// Whether there is a logical operation.
    LOGIC_OP_ENABLE = 35 => DynamicState::LOGIC_OP_ENABLE_EXT;
    /// Which attachments blend.
    COLOR_BLEND_ENABLE = 36 => DynamicState::COLOR_BLEND_ENABLE_EXT;
    /// Blend factors and operations.
    COLOR_BLEND_EQUATION = 37 => DynamicState::COLOR_BLEND_EQUATION_EXT;
    /// Which components are written.
    COLOR_WRITE_MASK = 38 => DynamicState::COLOR_WRITE_MASK_EXT;
    /// Rasterisation stream.
    RASTERIZATION_STREAM = 39 => DynamicState::RASTERIZATION_STREAM_EXT;
    /// Conservative rasterisation's mode.
    CONSERVATIVE_RASTERIZATION_MODE = 40 => DynamicState::CONSERVATIVE_RASTERIZATION_MODE_EXT;
    /// Conservative rasterisation's extra size.
    EXTRA_PRIMITIVE_OVERESTIMATION_SIZE = 41
        => DynamicState::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT;
    /// Depth clip.
    DEPTH_CLIP_ENABLE = 42 => DynamicState::DEPTH_CLIP_ENABLE_EXT;
    /// Whether sample locations are given.
    SAMPLE_LOCATIONS_ENABLE = 43 => DynamicState::SAMPLE_LOCATIONS_ENABLE_EXT;
    /// Sample locations.
    SAMPLE_LOCATIONS = 44 => DynamicState::SAMPLE_LOCATIONS_EXT;
    /// Advanced blending.
    COLOR_BLEND_ADVANCED = 45 => DynamicState::COLOR_BLEND_ADVANCED_EXT;
    /// Provoking vertex.
    PROVOKING_VERTEX_MODE = 46 => DynamicState::PROVOKING_VERTEX_MODE_EXT;
    /// Line rasterisation mode.
    LINE_RASTERIZATION_MODE = 47 => DynamicState::LINE_RASTERIZATION_MODE_EXT;
    /// Whether lines are stippled.
    LINE_STIPPLE_ENABLE = 48 => DynamicState::LINE_STIPPLE_ENABLE_EXT;
    /// Line stipple.
    LINE_STIPPLE = 49 => DynamicState::LINE_STIPPLE_KHR;
    /// Clip space of depth.
    DEPTH_CLIP_NEGATIVE_ONE_TO_ONE = 50 => DynamicState::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT;
    /// Fragment shading rate.
    FRAGMENT_SHADING_RATE = 51 => DynamicState::FRAGMENT_SHADING_RATE_KHR;
}

impl Fields {
    /// What is dynamic in every Vulkan.
    pub const CORE: Self = Self::VIEWPORT
        .union(Self::SCISSOR)
        .union(Self::LINE_WIDTH)
        .union(Self::DEPTH_BIAS)
        .union(Self::BLEND_CONSTANTS)
        .union(Self::DEPTH_BOUNDS)
        .union(Self::STENCIL_COMPARE_MASK)
        .union(Self::STENCIL_WRITE_MASK)
        .union(Self::STENCIL_REFERENCE);

    /// `VK_EXT_extended_dynamic_state`, core in Vulkan 1.3.
    pub const EXTENDED_1: Self = Self::CULL_MODE
        .union(Self::FRONT_FACE)
        .union(Self::PRIMITIVE_TOPOLOGY)
        .union(Self::VIEWPORT_WITH_COUNT)
        .union(Self::SCISSOR_WITH_COUNT)
        .union(Self::VERTEX_INPUT_BINDING_STRIDE)
        .union(Self::DEPTH_TEST_ENABLE)
        .union(Self::DEPTH_WRITE_ENABLE)
        .union(Self::DEPTH_COMPARE_OP)
        .union(Self::DEPTH_BOUNDS_TEST_ENABLE)
        .union(Self::STENCIL_TEST_ENABLE)
        .union(Self::STENCIL_OP);

    /// `VK_EXT_extended_dynamic_state2`, core in Vulkan 1.3. `LOGIC_OP` and
    /// `PATCH_CONTROL_POINTS` are features apart.
    pub const EXTENDED_2: Self = Self::RASTERIZER_DISCARD_ENABLE
        .union(Self::DEPTH_BIAS_ENABLE)
        .union(Self::PRIMITIVE_RESTART_ENABLE);

    /// `VK_EXT_extended_dynamic_state3`, of which each is a feature of its own.
    pub const EXTENDED_3: Self = Self::TESSELLATION_DOMAIN_ORIGIN
        .union(Self::DEPTH_CLAMP_ENABLE)
        .union(Self::POLYGON_MODE)
        .union(Self::RASTERIZATION_SAMPLES)
        .union(Self::SAMPLE_MASK)
        .union(Self::ALPHA_TO_COVERAGE_ENABLE)
        .union(Self::ALPHA_TO_ONE_ENABLE)
        .union(Self::LOGIC_OP_ENABLE)
        .union(Self::COLOR_BLEND_ENABLE)
        .union(Self::COLOR_BLEND_EQUATION)
        .union(Self::COLOR_WRITE_MASK)
        .union(Self::RASTERIZATION_STREAM)
        .union(Self::CONSERVATIVE_RASTERIZATION_MODE)
        .union(Self::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE)
        .union(Self::DEPTH_CLIP_ENABLE)
        .union(Self::SAMPLE_LOCATIONS_ENABLE)
        .union(Self::COLOR_BLEND_ADVANCED)
        .union(Self::PROVOKING_VERTEX_MODE)
        .union(Self::LINE_RASTERIZATION_MODE)
        .union(Self::LINE_STIPPLE_ENABLE)
        .union(Self::DEPTH_CLIP_NEGATIVE_ONE_TO_ONE);

    /// What only pipelines with vertex shaders have.
    const VERTEX_PIPELINES: Self = Self::VERTEX_INPUT
        .union(Self::VERTEX_INPUT_BINDING_STRIDE)
        .union(Self::PRIMITIVE_TOPOLOGY)
        .union(Self::PRIMITIVE_RESTART_ENABLE)
        .union(Self::PATCH_CONTROL_POINTS);

    /// The field that this dynamic state sets, if it is one that families know.
    #[must_use]
    pub fn of_state(state: DynamicState) -> Option<Self> {
        STATES
            .iter()
            .find(|(_, other)| *other == state)
            .map(|(field, _)| *field)
    }

    /// The dynamic states that set these fields.
    pub fn states(self) -> impl Iterator<Item = DynamicState> {
        STATES
            .iter()
            .filter(move |(field, _)| self.contains(*field))
            .map(|(_, state)| *state)
    }
}

/// Which version of a mechanism replaces a stage. What two versions make is never the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MechanismTag(pub u64);

/// A family: the fields that its stand-ins absorb, and the mechanisms that absorb them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Family {
    dynamic: Fields,
    linked: bool,
    pulled: Option<MechanismTag>,
    generic: Option<MechanismTag>,
}

impl Family {
    /// Linked from libraries; absorbs nothing.
    pub const LINKED: Self = Self {
        dynamic: Fields::empty(),
        linked: true,
        pulled: None,
        generic: None,
    };

    /// These fields are dynamic states.
    #[must_use]
    pub const fn dynamic(fields: Fields) -> Self {
        Self {
            dynamic: fields,
            linked: false,
            pulled: None,
            generic: None,
        }
    }

    /// The vertex shader reads its inputs itself: the vertex layout is absorbed.
    #[must_use]
    pub const fn pulled(mechanism: MechanismTag) -> Self {
        Self {
            pulled: Some(mechanism),
            ..Self::dynamic(Fields::empty())
        }
    }

    /// An evaluator takes the fragment shader's place: the fragment program is absorbed.
    #[must_use]
    pub const fn generic(evaluator: MechanismTag) -> Self {
        Self {
            generic: Some(evaluator),
            ..Self::dynamic(Fields::empty())
        }
    }

    /// The family that absorbs what both absorb, by both's mechanisms; none if they have two
    /// versions of one mechanism.
    #[must_use]
    pub fn union(self, other: Self) -> Option<Self> {
        Some(Self {
            dynamic: self.dynamic | other.dynamic,
            linked: self.linked || other.linked,
            pulled: union_tags(self.pulled, other.pulled)?,
            generic: union_tags(self.generic, other.generic)?,
        })
    }

    /// Fields that are dynamic states.
    #[must_use]
    pub const fn fields(&self) -> Fields {
        self.dynamic
    }

    /// Whether it is linked from libraries.
    #[must_use]
    pub const fn is_linked(&self) -> bool {
        self.linked
    }

    /// The mechanism that absorbs the vertex layout, if one does.
    #[must_use]
    pub const fn pulling(&self) -> Option<MechanismTag> {
        self.pulled
    }

    /// The evaluator that absorbs the fragment program, if one does.
    #[must_use]
    pub const fn evaluator(&self) -> Option<MechanismTag> {
        self.generic
    }

    /// The recipe's normal form without what the family absorbs. A compute recipe is only
    /// normalised: nothing of it is absorbed.
    #[must_use]
    pub fn absorb(&self, recipe: &Recipe) -> Recipe {
        match recipe {
            Recipe::Compute(recipe) => Recipe::Compute(recipe.normalised()),
            Recipe::Graphics(recipe) => {
                let mut recipe = recipe.with_dynamic(self.dynamic);
                if self.pulled.is_some() {
                    recipe.vertex_input = None;
                    recipe.dynamic_states.retain(|state| {
                        *state != DynamicState::VERTEX_INPUT_EXT
                            && *state != DynamicState::VERTEX_INPUT_BINDING_STRIDE
                    });
                }
                if self.generic.is_some() {
                    recipe
                        .stages
                        .retain(|stage| stage.stage != vk::ShaderStageFlags::FRAGMENT);
                }
                Recipe::Graphics(recipe.normalised())
            }
        }
    }

    /// The family's own bytes in a family key: fields, then a byte of mechanisms (1 linked,
    /// 2 pulled, 4 generic), then the two tags.
    pub(crate) fn to_bytes(self) -> [u8; 25] {
        let mut bytes = [0; 25];
        bytes[..8].copy_from_slice(&self.dynamic.bits().to_le_bytes());
        bytes[8] = u8::from(self.linked)
            | u8::from(self.pulled.is_some()) << 1
            | u8::from(self.generic.is_some()) << 2;
        let tag = |tag: Option<MechanismTag>| tag.map_or(0, |tag| tag.0).to_le_bytes();
        bytes[9..17].copy_from_slice(&tag(self.pulled));
        bytes[17..].copy_from_slice(&tag(self.generic));
        bytes
    }
}

fn union_tags(a: Option<MechanismTag>, b: Option<MechanismTag>) -> Option<Option<MechanismTag>> {
    match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => Some(a.or(b)),
    }
}

impl GraphicsRecipe {
    /// The recipe with these fields left to dynamic state, as far as it has them: a pipeline of
    /// mesh shaders has no vertex input, and one that throws away all primitives has none of the
    /// states that a draw would need if it did not.
    ///
    /// A state that says more takes the place of one that says less, because Vulkan does not
    /// allow both: `VIEWPORT_WITH_COUNT` that of `VIEWPORT`, `VERTEX_INPUT_EXT` that of
    /// `VERTEX_INPUT_BINDING_STRIDE`.
    #[must_use]
    pub fn with_dynamic(&self, fields: Fields) -> Self {
        let mut recipe = self.clone();
        let mut fields = fields;
        let reads = self.reads(crate::normal::Dynamic::new(&self.dynamic_states));
        if reads.mesh {
            fields -= Fields::VERTEX_PIPELINES;
        }
        if reads.discard {
            fields -= Fields::RASTERIZER_DISCARD_ENABLE;
        }
        if !reads.tessellation {
            fields -= Fields::PATCH_CONTROL_POINTS | Fields::TESSELLATION_DOMAIN_ORIGIN;
        }
        let states = &mut recipe.dynamic_states;
        states.extend(fields.states());
        for (more, less) in [
            (DynamicState::VIEWPORT_WITH_COUNT, DynamicState::VIEWPORT),
            (DynamicState::SCISSOR_WITH_COUNT, DynamicState::SCISSOR),
            (
                DynamicState::VERTEX_INPUT_EXT,
                DynamicState::VERTEX_INPUT_BINDING_STRIDE,
            ),
        ] {
            if states.contains(&more) {
                states.retain(|state| *state != less);
            }
        }
        states.sort_unstable();
        states.dedup();
        recipe
    }
}
