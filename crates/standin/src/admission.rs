//! Which families may stand in for a recipe, and why the others may not.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::key::FamilyKey;

/// How a stand-in moves fields of a recipe to run-time data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mechanism {
    /// Dynamic state of the graphics API.
    Dynamic = 0,
    /// The vertex shader reads its inputs through a per-draw layout block.
    Pulled = 1,
    /// An evaluator interprets the fragment program.
    Generic = 2,
    /// Pulled and dynamic.
    PulledDynamic = 3,
    /// Generic and dynamic.
    GenericDynamic = 4,
    /// Pulled and generic.
    PulledGeneric = 5,
    /// All three.
    Widest = 6,
}

impl Mechanism {
    /// Every mechanism, in the order of its number.
    pub const ALL: [Self; 7] = [
        Self::Dynamic,
        Self::Pulled,
        Self::Generic,
        Self::PulledDynamic,
        Self::GenericDynamic,
        Self::PulledGeneric,
        Self::Widest,
    ];

    /// Its name in logs and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Pulled => "pulled",
            Self::Generic => "generic",
            Self::PulledDynamic => "pulled+dynamic",
            Self::GenericDynamic => "generic+dynamic",
            Self::PulledGeneric => "pulled+generic",
            Self::Widest => "pulled+generic+dynamic",
        }
    }
}

/// A family that is proven to draw a recipe's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The recipe without the fields that the family absorbs.
    pub family: FamilyKey,
    /// What it costs the GPU, in any unit that orders the candidates: lower is tried first.
    pub cost: u32,
    /// By which means.
    pub mechanism: Mechanism,
}

/// A family that is not: admission fails closed and says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rejection {
    /// The family that was asked.
    pub mechanism: Mechanism,
    /// The reason, from the backend's closed list.
    pub reason: &'static str,
}

/// The answer to one recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Families that may stand in, in any order.
    pub admitted: SmallVec<[Candidate; 4]>,
    /// Families that may not.
    pub rejected: SmallVec<[Rejection; 2]>,
}

/// How many recipes each family turned away for which reason: says what to support next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RejectionCounts(BTreeMap<Rejection, u64>);

impl RejectionCounts {
    pub(crate) fn add(&mut self, rejected: &[Rejection]) {
        for rejection in rejected {
            *self.0.entry(*rejection).or_default() += 1;
        }
    }

    /// How often this family gave this reason.
    #[must_use]
    pub fn get(&self, mechanism: Mechanism, reason: &'static str) -> u64 {
        self.0
            .get(&Rejection { mechanism, reason })
            .copied()
            .unwrap_or(0)
    }

    /// All counts, by family and reason.
    pub fn iter(&self) -> impl Iterator<Item = (Rejection, u64)> + '_ {
        self.0.iter().map(|(rejection, count)| (*rejection, *count))
    }
}
