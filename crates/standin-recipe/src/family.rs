//! Families and keys.
//!
//! A family is the set of recipe fields that a stand-in moves to run-time data. Its key is the
//! recipe without them, so all recipes that differ in nothing else share one stand-in.

use crate::codec::{Codec, Writer};
use crate::pipeline::{DynamicStates, GraphicsRecipe, Recipe};
use ash::vk;
use standin::key::{ExactKey, ExecutableKey, FamilyKey};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Where the vertex layout of a family's draws comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum VertexFetch {
    /// The pipeline has it (or commands set it, as far as the family's dynamic states say).
    #[default]
    Fixed,
    /// The vertex shader reads it from a per-draw layout block.
    Pulled,
}

/// Where the fragment program of a family's draws comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum FragmentProgram {
    /// The pipeline has it.
    #[default]
    Own,
    /// An evaluator interprets it from a control packet.
    Generic {
        /// Identity of the evaluator's module for the recipe's shell: programs of one shell
        /// share a stand-in, programs of two do not.
        shell: u128,
    },
}

/// A set of absorbed fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Family {
    /// States that commands set instead: as many as the device allows.
    pub dynamic: DynamicStates,
    /// Whether the vertex layout is absorbed by pulling.
    pub vertex_fetch: VertexFetch,
    /// Whether the fragment program is absorbed by an evaluator.
    pub fragment_program: FragmentProgram,
}

impl Family {
    /// The family that absorbs nothing: the exact state, linked from parts.
    #[must_use]
    pub fn linked() -> Self {
        Self::default()
    }

    /// The family that absorbs what these states set.
    #[must_use]
    pub fn dynamic(states: impl IntoIterator<Item = vk::DynamicState>) -> Self {
        Self {
            dynamic: states.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The family that absorbs the vertex layout.
    #[must_use]
    pub fn pulled() -> Self {
        Self {
            vertex_fetch: VertexFetch::Pulled,
            ..Self::default()
        }
    }

    /// The family that absorbs a fragment program of this shell.
    #[must_use]
    pub fn generic(shell: u128) -> Self {
        Self {
            fragment_program: FragmentProgram::Generic { shell },
            ..Self::default()
        }
    }

    /// The family that absorbs what either absorbs. Of two shells the first is kept.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let states = self
            .dynamic
            .as_slice()
            .iter()
            .chain(other.dynamic.as_slice());
        Self {
            dynamic: states.copied().collect(),
            vertex_fetch: self.vertex_fetch.max(other.vertex_fetch),
            fragment_program: match self.fragment_program {
                FragmentProgram::Own => other.fragment_program,
                generic @ FragmentProgram::Generic { .. } => generic,
            },
        }
    }

    fn encode(&self, out: &mut Writer<'_>) {
        self.dynamic.encode(out);
        out.bytes.push(match self.vertex_fetch {
            VertexFetch::Fixed => 0,
            VertexFetch::Pulled => 1,
        });
        match self.fragment_program {
            FragmentProgram::Own => out.bytes.push(0),
            FragmentProgram::Generic { shell } => {
                out.bytes.push(1);
                out.bytes.extend_from_slice(&shell.to_le_bytes());
            }
        }
    }
}

/// How an executable came to be: part of its identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// The exact, optimised pipeline.
    Exact,
    /// A stand-in of a family. The version is that of the code that makes it: raised whenever
    /// the same family key would give another pipeline.
    StandIn {
        /// The family.
        family: Family,
        /// Version of the mechanism.
        version: u32,
    },
}

impl GraphicsRecipe {
    /// The recipe without the fields that a family absorbs, normalised: what the family's
    /// stand-in is made of, but for the shaders that take over the absorbed fields.
    #[must_use]
    pub fn without(&self, family: &Family) -> Self {
        let mut recipe = self.clone();
        let states = self
            .dynamic
            .as_slice()
            .iter()
            .chain(family.dynamic.as_slice());
        recipe.dynamic = states.copied().collect();
        if family.vertex_fetch == VertexFetch::Pulled {
            recipe.vertex_input = None;
        }
        if let FragmentProgram::Generic { .. } = family.fragment_program {
            recipe
                .stages
                .retain(|stage| stage.stage != vk::ShaderStageFlags::FRAGMENT);
        }
        recipe.normalized()
    }

    /// Key of this recipe in a family.
    #[must_use]
    pub fn family_key(&self, family: &Family) -> FamilyKey {
        let recipe = Recipe::Graphics(Arc::new(self.without(family)));
        let mut nothing = |_: &Arc<crate::module::Module>| ();
        let mut out = Writer {
            bytes: Vec::with_capacity(1024),
            module: &mut nothing,
        };
        family.encode(&mut out);
        recipe.encode(&mut out);
        FamilyKey::from_u128(hash("family", &out.bytes))
    }
}

impl Recipe {
    /// Identity of the pipeline: equal for equal pipelines wherever they came from.
    #[must_use]
    pub fn exact_key(&self) -> ExactKey {
        ExactKey::from_u128(hash("exact", &self.normalized().to_body()))
    }

    /// Identity of one complete pipeline that is made of this recipe. None where the recipe has
    /// no such executable: stand-ins are of graphics pipelines.
    #[must_use]
    pub fn executable_key(&self, mechanism: &Mechanism) -> Option<ExecutableKey> {
        let bits = match mechanism {
            Mechanism::Exact => hash(
                "executable/exact",
                &self.exact_key().to_u128().to_le_bytes(),
            ),
            Mechanism::StandIn { family, version } => {
                let Self::Graphics(recipe) = self else {
                    return None;
                };
                let mut bytes = recipe.family_key(family).to_u128().to_le_bytes().to_vec();
                bytes.extend_from_slice(&version.to_le_bytes());
                hash("executable/stand-in", &bytes)
            }
        };
        Some(ExecutableKey::from_u128(bits))
    }
}

/// XXH3-128 over the kind of key, a 0 byte, and the bytes: keys of two kinds never agree by
/// being made of the same bytes.
fn hash(kind: &str, bytes: &[u8]) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(kind.as_bytes());
    hash.update(&[0]);
    hash.update(bytes);
    hash.digest128()
}
