//! When what a scene will draw can draw without a stall.
//!
//! Whoever builds something publishes a [`Readiness`] and resolves it through the one
//! [`Publisher`]. It resolves exactly once, and it always does: a failure, a refusal and a
//! publisher that is dropped without a word all resolve as failed, so a scene that waits for it
//! opens with the effect off instead of hanging.

use std::sync::{Arc, OnceLock};

/// How something turned out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything it needs is built.
    Ready,
    /// It will not be: the effect stays off. The text says why.
    Failed(Arc<str>),
}

/// The readiness of one thing. Clones are the same thing.
#[derive(Debug, Clone)]
pub struct Readiness(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    outcome: OnceLock<Outcome>,
    /// What it is made of; empty where a publisher resolves it.
    parts: Vec<Readiness>,
}

/// The one place from which a [`Readiness`] is resolved.
#[derive(Debug)]
pub struct Publisher(Readiness);

/// The reason given where a publisher went without resolving.
pub const RELEASED: &str = "released before it was built";

impl Readiness {
    /// A readiness that is not resolved yet, and its publisher.
    #[must_use]
    pub fn new() -> (Publisher, Self) {
        let readiness = Self(Arc::new(Inner {
            outcome: OnceLock::new(),
            parts: Vec::new(),
        }));
        (Publisher(readiness.clone()), readiness)
    }

    /// The readiness of a program: ready when all of its kernels are, failed with the first of
    /// them that is. A program without kernels is ready.
    #[must_use]
    pub fn all(kernels: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = kernels.into_iter().collect();
        let outcome = OnceLock::new();
        if parts.is_empty() {
            // The cell is new.
            let _set = outcome.set(Outcome::Ready);
        }
        Self(Arc::new(Inner { outcome, parts }))
    }

    /// How it turned out, or none while it is pending.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        let known = self.0.outcome.get();
        if known.is_some() || self.0.parts.is_empty() {
            return known;
        }
        let mut all_ready = true;
        for part in &self.0.parts {
            match part.outcome() {
                Some(Outcome::Ready) => {}
                Some(failed) => return Some(self.0.outcome.get_or_init(|| failed.clone())),
                None => all_ready = false,
            }
        }
        all_ready.then(|| self.0.outcome.get_or_init(|| Outcome::Ready))
    }
}

impl Publisher {
    /// Resolves as ready.
    pub fn ready(self) {
        self.resolve(Outcome::Ready);
    }

    /// Resolves as failed, with the reason.
    pub fn failed(self, reason: &str) {
        self.resolve(Outcome::Failed(reason.into()));
    }

    fn resolve(&self, outcome: Outcome) {
        // The publisher is neither cloned nor used twice: the cell is empty but in `drop`
        // after a resolution, where the first outcome stands.
        let _first_stands = self.0.0.outcome.set(outcome);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.resolve(Outcome::Failed(RELEASED.into()));
    }
}

/// How far a scene layer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// These things are not resolved yet.
    Pending(usize),
    /// Everything resolved: the layer may be drawn. Names and reasons of what failed and
    /// stays off.
    Drawable(Vec<(String, Arc<str>)>),
}

/// A layer of a scene: what it will draw, by name.
#[derive(Debug, Default)]
pub struct Layer {
    parts: Vec<(String, Readiness)>,
}

impl Layer {
    /// A layer that draws nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds something that the layer will draw: a material, a program.
    pub fn add(&mut self, name: impl Into<String>, readiness: Readiness) {
        self.parts.push((name.into(), readiness));
    }

    /// How many of its parts are pending. It is work: a viewport with nothing else to do
    /// keeps going while this is not 0.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.parts
            .iter()
            .filter(|(_, part)| part.outcome().is_none())
            .count()
    }

    /// How far the layer is. Costs a look at each part.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self.pending() {
            0 => Stage::Drawable(
                self.parts
                    .iter()
                    .filter_map(|(name, part)| match part.outcome() {
                        Some(Outcome::Failed(reason)) => Some((name.clone(), reason.clone())),
                        _ => None,
                    })
                    .collect(),
            ),
            pending => Stage::Pending(pending),
        }
    }
}

/// Where a streaming cell is.
#[derive(Debug)]
pub enum Residency {
    /// Asked for; its data are on the way.
    Requested,
    /// In memory, with the layer it will draw.
    Resident(Layer),
}

/// One cell of a streamed world.
#[derive(Debug)]
pub struct Cell {
    /// Distance from the camera in rings, from 0.
    pub ring: u32,
    /// Where it is.
    pub residency: Residency,
}

/// Whether the loading cover must stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cover {
    /// The first ring is not resident, or a loaded layer is not drawable yet.
    Down {
        /// Cells of ring 0 that are not resident.
        cells: usize,
        /// Parts of resident cells that are pending.
        parts: usize,
    },
    /// What is loaded can draw.
    Lifted,
}

/// Judges the cover over a streamed world: it lifts when every cell of the first ring is
/// resident and every loaded layer is drawable, also those of farther rings.
#[must_use]
pub fn cover<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Cover {
    let (mut missing, mut parts) = (0, 0);
    for cell in cells {
        match &cell.residency {
            Residency::Requested => missing += usize::from(cell.ring == 0),
            Residency::Resident(layer) => parts += layer.pending(),
        }
    }
    if missing == 0 && parts == 0 {
        Cover::Lifted
    } else {
        Cover::Down {
            cells: missing,
            parts,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a failed step fails the test")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_dropped_publisher_resolves_as_failed() {
        let (publisher, readiness) = Readiness::new();
        assert_eq!(readiness.outcome(), None);
        drop(publisher);
        assert_eq!(readiness.outcome(), Some(&Outcome::Failed(RELEASED.into())));
    }

    #[test]
    fn the_first_outcome_stands() {
        let (publisher, readiness) = Readiness::new();
        publisher.ready();
        assert_eq!(readiness.outcome(), Some(&Outcome::Ready));
    }

    #[test]
    fn the_cover_waits_for_the_first_ring_and_for_every_loaded_layer() {
        let (publisher, readiness) = Readiness::new();
        let mut far = Layer::new();
        far.add("dust", readiness);
        let mut cells = vec![
            Cell {
                ring: 0,
                residency: Residency::Requested,
            },
            Cell {
                ring: 1,
                residency: Residency::Requested,
            },
            Cell {
                ring: 2,
                residency: Residency::Resident(far),
            },
        ];
        assert_eq!(cover(&cells), Cover::Down { cells: 1, parts: 1 });
        cells[0].residency = Residency::Resident(Layer::new());
        assert_eq!(cover(&cells), Cover::Down { cells: 0, parts: 1 });
        publisher.failed("no such kernel");
        // The second ring is still on its way and holds nothing up.
        assert_eq!(cover(&cells), Cover::Lifted);
        let Residency::Resident(far) = &cells[2].residency else {
            panic!("it is resident");
        };
        assert_eq!(
            far.stage(),
            Stage::Drawable(vec![("dust".into(), "no such kernel".into())])
        );
    }

    proptest! {
        /// Whatever is built, failed or released, in whatever order: the layer becomes
        /// drawable with the last of it and not before, and names exactly what failed.
        #[test]
        fn readiness_never_hangs(fates in prop::collection::vec(0..4u8, 0..40), seed: u64) {
            let mut layer = Layer::new();
            let mut open = Vec::new();
            let mut failed = Vec::new();
            for (index, fate) in fates.iter().enumerate() {
                let (publisher, readiness) = Readiness::new();
                layer.add(index.to_string(), readiness);
                open.push((publisher, *fate));
                if *fate != 0 {
                    failed.push(index.to_string());
                }
            }
            let mut random = seed | 1;
            while !open.is_empty() {
                prop_assert_eq!(layer.stage(), Stage::Pending(open.len()));
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let pick = (random >> 33) as usize % open.len();
                let (publisher, fate) = open.swap_remove(pick);
                match fate {
                    0 => publisher.ready(),
                    1 => publisher.failed("compiler said no"),
                    2 => publisher.failed("refused"),
                    _ => drop(publisher),
                }
            }
            let Stage::Drawable(off) = layer.stage() else {
                panic!("everything resolved");
            };
            let off: Vec<String> = off.into_iter().map(|(name, _)| name).collect();
            prop_assert_eq!(off, failed);
        }
    }
}
