//! A recording thread's selection: the hot path. What it takes when nothing in memory serves is
//! in `uncovered`.

use crate::admission::Mechanism;
use crate::backend::{Backend, Resources, Want};
use crate::job::guarded;
use crate::key::ExactKey;
use crate::lanes::{Lane, Request, Submission, Target};
use crate::promotion::Status;
use crate::route::{FirstDemand, FirstDraw, Reason, Route};
use crate::runtime::{Mode, Runtime, slot_job};
use crate::slots::{Asked, PipelineId, RECENCY_GRAIN, Slot};
use crate::stats::{Counter, Counters};
use crate::sync::{Arc, Ordering, lock};
use crate::trace::Event;

/// Generations of the state that a pipeline depends on. Whoever owns the state raises the
/// number that changes; equal numbers mean equal state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Epochs {
    /// Programs and their specialisation.
    pub shader: u64,
    /// Blend, raster and depth state.
    pub fixed_state: u64,
    /// Vertex bindings and attributes.
    pub vertex_layout: u64,
    /// Formats and samples of what is drawn to.
    pub attachments: u64,
}

/// What a draw gets.
pub enum Choice<'f, E> {
    /// Draw with this.
    Draw(Selected<'f, E>),
    /// Draw nothing, for this reason.
    Skip(Reason),
}

/// An executable, and how it was come by.
pub struct Selected<'f, E> {
    /// The complete pipeline.
    pub executable: &'f E,
    /// Whose it is.
    pub id: PipelineId,
    /// By which route it was selected. For unchanged state, the route of the draw before.
    pub route: Route,
    /// For a stand-in, what the draw must supply; none for the recipe's own pipeline.
    pub mechanism: Option<Mechanism>,
    /// The stream's resources must be rolled over before the draw; the executable stays.
    pub rollover: bool,
}

impl<E> Clone for Selected<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Selected<'_, E> {}
impl<E> Clone for Choice<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Choice<'_, E> {}

impl<E> std::fmt::Debug for Selected<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Selected")
            .field("id", &self.id)
            .field("route", &self.route)
            .field("mechanism", &self.mechanism)
            .field("rollover", &self.rollover)
            .finish_non_exhaustive()
    }
}

impl<E> std::fmt::Debug for Choice<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Draw(selected) => f.debug_tuple("Draw").field(selected).finish(),
            Self::Skip(reason) => f.debug_tuple("Skip").field(reason).finish(),
        }
    }
}

impl<'f, E> Choice<'f, E> {
    /// What to draw with.
    #[must_use]
    pub fn selected(self) -> Option<Selected<'f, E>> {
        match self {
            Self::Draw(selected) => Some(selected),
            Self::Skip(_) => None,
        }
    }

    /// By which route.
    #[must_use]
    pub fn route(&self) -> Route {
        match self {
            Self::Draw(selected) => selected.route,
            Self::Skip(_) => Route::Skipped,
        }
    }
}

/// A recording thread's selection in one frame. Its counters and events reach the frame when
/// it is dropped.
pub struct Stream<'f, B: Backend> {
    pub(crate) runtime: &'f Runtime<B>,
    epochs: Epochs,
    active: Option<Selected<'f, B::Executable>>,
    draws: u64,
    stamp: u64,
    pub(crate) number: u32,
    pub(crate) first_draw: FirstDraw,
    pub(crate) counters: Counters,
    pub(crate) events: Vec<Event>,
    pub(crate) submission: Vec<PipelineId>,
}

impl<B: Backend> std::fmt::Debug for Stream<'_, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("number", &self.number)
            .field("draws", &self.draws)
            .field("active", &self.active)
            .finish_non_exhaustive()
    }
}

/// How a draw's way went, up to the bookkeeping.
pub(crate) struct Routed<'f, B: Backend> {
    pub(crate) executable: &'f B::Executable,
    pub(crate) route: Route,
    pub(crate) reason: Reason,
    pub(crate) mechanism: Option<Mechanism>,
    pub(crate) rollover: bool,
}

impl<'f, B: Backend> Stream<'f, B> {
    pub(crate) fn new(runtime: &'f Runtime<B>, number: u32) -> Self {
        Self {
            runtime,
            epochs: Epochs::default(),
            active: None,
            draws: 0,
            stamp: runtime.stamp(),
            number,
            first_draw: FirstDraw::default(),
            counters: Counters::default(),
            events: Vec::new(),
            submission: Vec::new(),
        }
    }

    /// What to do with the following draws when nothing covers them.
    pub fn on_uncovered(&mut self, first_draw: FirstDraw) {
        self.first_draw = first_draw;
    }

    /// Announces what the draws up to the next call will bind. The first of them that is not
    /// in memory starts the loads of all the others, in parallel.
    pub fn submission(&mut self, ids: impl IntoIterator<Item = PipelineId>) {
        self.submission.clear();
        self.submission.extend(ids);
    }

    /// The executable for a draw. `id` is asked only when an epoch has changed.
    #[inline]
    pub fn select(
        &mut self,
        epochs: Epochs,
        id: impl FnOnce() -> PipelineId,
    ) -> Choice<'f, B::Executable> {
        self.draws += 1;
        if let Some(active) = self.active
            && self.epochs == epochs
        {
            return Choice::Draw(active);
        }
        self.epochs = epochs;
        self.reselect(id())
    }

    /// The executable for a draw of a recipe that is known by its key. `recipe` is asked only
    /// at its first draw.
    #[inline]
    pub fn select_key(
        &mut self,
        epochs: Epochs,
        key: impl FnOnce() -> ExactKey,
        recipe: impl FnOnce() -> Arc<B::Recipe>,
    ) -> Choice<'f, B::Executable> {
        let runtime = self.runtime;
        self.select(epochs, || {
            let key = key();
            match runtime.find(key) {
                Some(id) => id,
                None => runtime.register(key, recipe()),
            }
        })
    }

    /// As [`Self::select`] for a caller that knows that the state has changed.
    #[inline]
    fn reselect(&mut self, id: PipelineId) -> Choice<'f, B::Executable> {
        let Some(slot) = self.runtime.slot(id) else {
            return self.skip(Reason::StaleHandle);
        };
        let Some(executable) = slot.exact.get() else {
            return self.miss(slot, id);
        };
        if self.stamp - slot.touched.load(Ordering::Relaxed) >= RECENCY_GRAIN {
            self.touch(slot, FirstDemand::Ready);
        }
        self.counters.routed(Route::Exact, Reason::ExactReady);
        let selected = Selected {
            executable,
            id,
            route: Route::Exact,
            mechanism: None,
            rollover: false,
        };
        self.active = Some(selected);
        Choice::Draw(selected)
    }

    /// Marks a use. Its first one ever is classed by how prepared the runtime was.
    #[cold]
    #[inline(never)]
    fn touch(&mut self, slot: &Slot<B>, class: FirstDemand) {
        if slot.touched.swap(self.stamp, Ordering::Relaxed) != 0 {
            return;
        }
        self.counters.first_demand(class);
        if self.runtime.core.trace.is_on() {
            self.events.push(Event::FirstDemand {
                frame: self.runtime.frame,
                key: slot.key,
                class,
                at: self.runtime.core.clock.now(),
            });
        }
    }

    pub(crate) fn skip(&mut self, reason: Reason) -> Choice<'f, B::Executable> {
        self.active = None;
        self.counters.routed(Route::Skipped, reason);
        Choice::Skip(reason)
    }

    /// Everything but an adopted exact pipeline.
    #[cold]
    #[inline(never)]
    fn miss(&mut self, slot: &'f Slot<B>, id: PipelineId) -> Choice<'f, B::Executable> {
        if self.runtime.settings.mode == Mode::Off {
            return match self.build_plainly(slot) {
                Some(executable) => self.activate(
                    slot,
                    id,
                    &Routed {
                        executable,
                        route: Route::Waited,
                        reason: Reason::RuntimeOff,
                        mechanism: None,
                        rollover: false,
                    },
                    FirstDemand::Missed,
                ),
                None => self.skip(Reason::ExactFailed),
            };
        }
        let tracing = self.runtime.core.trace.is_on();
        let start = if tracing {
            self.runtime.core.clock.now()
        } else {
            std::time::Duration::ZERO
        };
        let started = slot.promotion.status().is_pending() || slot.asked.state() == Asked::Yes;
        let routed = match self.linked(slot, id) {
            Some(routed) => Ok(routed),
            None => match self.stand_in(slot, id) {
                Ok(routed) => Ok(routed),
                Err(why) => self.uncovered(slot, id, why),
            },
        };
        let class = match &routed {
            Ok(routed) if routed.rollover => FirstDemand::ResourceWait,
            Ok(routed) if matches!(routed.route, Route::Linked | Route::StandIn) => {
                FirstDemand::Ready
            }
            _ if started => FirstDemand::TooLate,
            _ if slot.candidates.is_empty() => FirstDemand::Unsupported,
            _ => FirstDemand::Missed,
        };
        let (route, reason) = match &routed {
            Ok(routed) => (routed.route, routed.reason),
            Err(reason) => (Route::Skipped, *reason),
        };
        if tracing && slot.traced.swap(self.runtime.frame, Ordering::Relaxed) != self.runtime.frame
        {
            let core = &self.runtime.core;
            let subject = crate::trace::Subject::Exact(slot.key);
            core.trace.name(subject, || core.backend.name(&slot.recipe));
            self.events.push(Event::Routed {
                frame: self.runtime.frame,
                draw: self.draw_number(),
                stream: self.number,
                key: slot.key,
                route,
                reason,
                at: start,
                duration: core.clock.now().saturating_sub(start),
            });
        }
        match routed {
            Ok(routed) => self.activate(slot, id, &routed, class),
            Err(reason) => {
                if slot.touched.load(Ordering::Relaxed) == 0 {
                    self.touch(slot, class);
                }
                self.skip(reason)
            }
        }
    }

    /// The number of the draw that is being selected, from 0.
    pub(crate) fn draw_number(&self) -> u32 {
        u32::try_from(self.draws - 1).unwrap_or(u32::MAX)
    }

    fn activate(
        &mut self,
        slot: &Slot<B>,
        id: PipelineId,
        routed: &Routed<'f, B>,
        class: FirstDemand,
    ) -> Choice<'f, B::Executable> {
        if self.stamp - slot.touched.load(Ordering::Relaxed) >= RECENCY_GRAIN {
            self.touch(slot, class);
        }
        self.counters.routed(routed.route, routed.reason);
        let selected = Selected {
            executable: routed.executable,
            id,
            route: routed.route,
            mechanism: routed.mechanism,
            rollover: routed.rollover,
        };
        // A rollover is done before the next draw; the same state then has what it needs.
        self.active = Some(Selected {
            rollover: false,
            ..selected
        });
        Choice::Draw(selected)
    }

    /// Exact state, linked now or before.
    fn linked(&mut self, slot: &'f Slot<B>, id: PipelineId) -> Option<Routed<'f, B>> {
        let (executable, reason) = match slot.linked.get() {
            Some(executable) => (executable, Reason::LinkedBefore),
            None => (self.link(slot)?, Reason::PartsInMemory),
        };
        self.promote(slot, id);
        Some(Routed {
            executable,
            route: Route::Linked,
            reason,
            mechanism: None,
            rollover: false,
        })
    }

    fn link(&mut self, slot: &'f Slot<B>) -> Option<&'f B::Executable> {
        let backend = &self.runtime.core.backend;
        if slot.gave_up.load(Ordering::Relaxed) || !backend.can_link(&slot.recipe) {
            return None;
        }
        let _making = lock(&slot.making);
        // Another stream may have linked it while this one waited.
        if let Some(executable) = slot.linked.get() {
            return Some(executable);
        }
        let mut log = crate::trace::PhaseLog::new(self.runtime.core.clock.clone());
        let start = log.now();
        let linked = guarded(|| backend.fast_link(&slot.recipe, &mut log));
        self.counters.add(Counter::Links, 1);
        self.counters
            .add_time(Counter::LinkTime, log.now().saturating_sub(start));
        match linked {
            Ok(executable) => {
                if let Err(spare) = slot.linked.set(executable) {
                    backend.destroy(spare);
                }
                slot.linked.get()
            }
            // Whatever handle came with a refusal, there is none: the next route serves.
            Err(_) => {
                slot.gave_up.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// The cheapest adopted stand-in that this stream can feed; otherwise why there is none.
    fn stand_in(&mut self, slot: &'f Slot<B>, id: PipelineId) -> Result<Routed<'f, B>, Reason> {
        let runtime = self.runtime;
        let (mut failed, mut unfed) = (0, 0);
        for candidate in &slot.candidates {
            self.counters.add(Counter::StandInProbes, 1);
            let Some(family) = runtime.families.get(candidate.family) else {
                continue;
            };
            let Some(executable) = family.executable.get() else {
                failed += usize::from(family.promotion.status() == Status::FailedPermanent);
                continue;
            };
            let rollover = match runtime.core.backend.resources(self.number, executable) {
                Resources::Ready => false,
                Resources::NeedsRollover => true,
                Resources::Unavailable => {
                    unfed += 1;
                    continue;
                }
            };
            self.counters.add(Counter::Rollovers, u64::from(rollover));
            if self.stamp - family.touched.load(Ordering::Relaxed) >= RECENCY_GRAIN {
                family.touched.store(self.stamp, Ordering::Relaxed);
            }
            let reason = self.promote(slot, id);
            return Ok(Routed {
                executable,
                route: Route::StandIn,
                reason,
                mechanism: Some(candidate.mechanism),
                rollover,
            });
        }
        Err(if slot.candidates.is_empty() {
            Reason::NoFamilyAdmits
        } else if unfed > 0 {
            Reason::ResourcesUnavailable
        } else if failed == slot.candidates.len() {
            Reason::StandInFailed
        } else {
            Reason::StandInNotBuilt
        })
    }

    /// Schedules the exact pipeline on the demand lane, once, if it is due. A covered draw
    /// never compiles and never waits, whatever the queue says.
    pub(crate) fn promote(&mut self, slot: &Slot<B>, id: PipelineId) -> Reason {
        let runtime = self.runtime;
        let pending = match slot.promotion.status() {
            Status::FailedPermanent => return Reason::FailedPermanent,
            Status::QueueBackoff => Reason::QueueFull,
            Status::FailedBackoff => Reason::FailedBackoff,
            _ => Reason::PromotionPending,
        };
        match slot.asked.state() {
            Asked::Yes => return Reason::PromotionPending,
            Asked::Refused => return Reason::QueueFull,
            Asked::No => {}
        }
        let due = slot
            .promotion
            .due(runtime.frame, || runtime.core.clock.now());
        // A guess of the same pipeline is raised to the demand lane, in place.
        let raise =
            slot.promotion.status().is_pending() && slot.touched.load(Ordering::Relaxed) == 0;
        if !(due || raise) || !slot.asked.claim() {
            return pending;
        }
        let request = Request {
            lane: Lane::Demand,
            target: Target::Pipeline(id.index),
            generation: id.generation,
        };
        self.counters.add(Counter::Submissions, 1);
        let (submission, _) = runtime
            .core
            .lanes
            .submit(request, || slot_job(&runtime.core, slot, Want::Exact));
        match submission {
            Submission::Accepted => Reason::PromotionSubmitted,
            Submission::Joined { .. } => Reason::PromotionPending,
            Submission::Full | Submission::Stopped => {
                self.counters.add(Counter::QueueFull, 1);
                slot.asked.refused();
                Reason::QueueFull
            }
        }
    }
}

impl<B: Backend> Drop for Stream<'_, B> {
    fn drop(&mut self) {
        self.counters.settle_unchanged(self.draws);
        lock(&self.runtime.counters).merge(&self.counters);
        if !self.events.is_empty() {
            self.runtime.core.trace.extend(self.events.drain(..));
        }
    }
}
