//! Places for pipelines and for families.

use smallvec::SmallVec;

use crate::admission::Mechanism;
use crate::backend::{Backend, Want};
use crate::key::{ExactKey, FamilyKey};
use crate::promotion::Promotion;
use crate::sync::{Arc, AtomicBool, AtomicU8, AtomicU32, AtomicU64, Mutex, OnceLock, Ordering};

/// Names a registered pipeline. Small and cheap to keep beside a guest's state; it goes stale
/// when the pipeline is released or evicted, and then names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipelineId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

impl PipelineId {
    /// Names nothing, now and later.
    pub const NONE: Self = Self {
        index: u32::MAX,
        generation: 0,
    };
}

/// Whether this frame's draws have asked for a submission already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Asked {
    No = 0,
    Yes = 1,
    Refused = 2,
}

/// Lets one of the draws that see the same gap submit it, once a frame.
pub(crate) struct AskOnce(AtomicU8);

impl AskOnce {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(Asked::No as u8))
    }

    /// The state, without a write to memory that other threads read.
    pub(crate) fn state(&self) -> Asked {
        match self.0.load(Ordering::Acquire) {
            0 => Asked::No,
            1 => Asked::Yes,
            _ => Asked::Refused,
        }
    }

    /// `true` for exactly one caller until [`Self::reset`].
    pub(crate) fn claim(&self) -> bool {
        self.0
            .compare_exchange(
                Asked::No as u8,
                Asked::Yes as u8,
                Ordering::AcqRel,
                Ordering::Acquire,
            )
            .is_ok()
    }

    /// The one who claimed it was turned away.
    pub(crate) fn refused(&self) {
        self.0.store(Asked::Refused as u8, Ordering::Release);
    }

    /// The owner has taken the outcome into the promotion record.
    pub(crate) fn reset(&self) {
        self.0.store(Asked::No as u8, Ordering::Release);
    }
}

/// Frames between two marks of use. A mark is a write to memory that all recording threads
/// read, so a pipeline in use gets one in many frames, not one in each.
pub(crate) const RECENCY_GRAIN: u64 = 16;

/// A registered pipeline. What a draw reads on the hot path comes first.
#[repr(C)]
pub(crate) struct Slot<B: Backend> {
    /// Complete, and primed where the driver needs it.
    pub(crate) exact: OnceLock<B::Executable>,
    /// The mark of its last use, to within [`RECENCY_GRAIN`]; 0 if it was never drawn.
    pub(crate) touched: AtomicU64,
    pub(crate) generation: u32,
    pub(crate) asked: AskOnce,
    /// A link was tried and did not work, or, with the runtime off, a build.
    pub(crate) gave_up: AtomicBool,
    pub(crate) linked: OnceLock<B::Executable>,
    pub(crate) key: ExactKey,
    pub(crate) recipe: Arc<B::Recipe>,
    /// By cost.
    pub(crate) candidates: SmallVec<[SlotCandidate; 4]>,
    pub(crate) promotion: Promotion,
    /// From an attempt whose second half failed.
    pub(crate) shaders: Option<Arc<B::Shaders>>,
    /// Held while a draw links or, with the runtime off, builds.
    pub(crate) making: Mutex<()>,
    /// The frame in which its route was last traced.
    pub(crate) traced: AtomicU64,
    /// The mark of the frame in which it was registered, or its pipeline adopted.
    pub(crate) born: u64,
    pub(crate) pins: AtomicU32,
}

/// A family that stands in for a slot's recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotCandidate {
    pub(crate) family: u32,
    pub(crate) key: FamilyKey,
    pub(crate) cost: u32,
    pub(crate) mechanism: Mechanism,
}

impl SlotCandidate {
    pub(crate) fn want(&self) -> Want {
        Want::StandIn(self.key)
    }
}

impl<B: Backend> Slot<B> {
    /// The mark of its last use, adoption or registration.
    pub(crate) fn last_used(&self) -> u64 {
        self.touched.load(Ordering::Relaxed).max(self.born)
    }

    /// Whether a draw could run at once: something is in memory for it.
    pub(crate) fn has_own(&self) -> bool {
        self.exact.get().is_some() || self.linked.get().is_some()
    }
}

/// A family that at least one registered recipe belongs to.
pub(crate) struct Family<B: Backend> {
    pub(crate) executable: OnceLock<B::Executable>,
    pub(crate) touched: AtomicU64,
    pub(crate) asked: AskOnce,
    /// Registered recipes that name it.
    pub(crate) users: AtomicU32,
    pub(crate) key: FamilyKey,
    pub(crate) generation: u32,
    pub(crate) promotion: Promotion,
}
