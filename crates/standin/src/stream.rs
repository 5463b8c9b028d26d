//! A recording thread's selection: the hot path. What covers it until its exact pipeline is there
//! is in `covering`, what it takes when nothing in memory serves in `uncovered`.

use std::time::Duration;

use crate::admission::Mechanism;
use crate::backend::Backend;
use crate::key::ExactKey;
use crate::route::{FirstDemand, FirstDraw, Reason, Route};
use crate::runtime::Runtime;
use crate::settings::Mode;
use crate::slots::{Asked, Both, Hot, PipelineId, RECENCY_GRAIN};
use crate::stats::Counters;
use crate::sync::{Arc, Ordering, lock};
use crate::trace::{Event, Phase, Subject};

/// Generations of the state that a pipeline depends on. Whoever owns the state raises the
/// number that changes; equal numbers mean equal state. They are compared only within a frame,
/// so that one may wrap around.
#[derive(Clone, Copy, Debug, Default, Eq)]
pub struct Epochs {
    /// Programs and their specialisation.
    pub shader: u32,
    /// Blend, raster and depth state.
    pub fixed_state: u32,
    /// Vertex bindings and attributes.
    pub vertex_layout: u32,
    /// Formats and samples of what is drawn to.
    pub attachments: u32,
}

impl Epochs {
    /// Two words, so that the hot path compares two and not four.
    #[inline]
    fn words(self) -> [u64; 2] {
        [
            u64::from(self.shader) | u64::from(self.fixed_state) << 32,
            u64::from(self.vertex_layout) | u64::from(self.attachments) << 32,
        ]
    }
}

impl PartialEq for Epochs {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.words(), other.words());
        ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0
    }
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
    pub(crate) stamp: u64,
    /// The family that the settings force; none when the runtime is off.
    pub(crate) forced: Option<Mechanism>,
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
            forced: match runtime.settings.mode {
                Mode::Off => None,
                Mode::On => runtime.settings.force_family,
            },
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

    /// The state has changed. Not inlined: it would spoil the code of the unchanged case around it.
    #[inline(never)]
    fn reselect(&mut self, id: PipelineId) -> Choice<'f, B::Executable> {
        let Some(hot) = self.runtime.hot(id) else {
            return self.skip(Reason::StaleHandle);
        };
        let executable = match hot.exact.get() {
            Some(executable) if self.forced.is_none() => executable,
            _ => return self.miss(id),
        };
        if self.stamp - hot.touched.load(Ordering::Relaxed) >= RECENCY_GRAIN {
            self.touch(hot, id, FirstDemand::Ready);
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
    fn touch(&mut self, hot: &Hot<B>, id: PipelineId, class: FirstDemand) {
        if hot.touched.swap(self.stamp, Ordering::Relaxed) != 0 {
            return;
        }
        self.counters.first_demand(class);
        if self.runtime.core.trace.is_on()
            && let Some(slot) = self.runtime.slot(id)
        {
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

    /// Everything but an adopted exact pipeline that nothing is forced upon.
    #[cold]
    #[inline(never)]
    fn miss(&mut self, id: PipelineId) -> Choice<'f, B::Executable> {
        let Some(slot) = self.runtime.slot(id) else {
            return self.skip(Reason::StaleHandle);
        };
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
        // Once a frame and pipeline; most draws on a stand-in do not even ask for the time.
        let frame = self.runtime.frame;
        let tracing = self.runtime.core.trace.is_on()
            && slot.traced.load(Ordering::Relaxed) != frame
            && slot.traced.swap(frame, Ordering::Relaxed) != frame;
        let start = if tracing {
            self.runtime.core.clock.now()
        } else {
            Duration::ZERO
        };
        let started = slot.promotion.status().is_pending() || slot.asked.state() == Asked::Yes;
        let in_memory = self
            .forced(slot, id)
            .or_else(|| exact(slot))
            .or_else(|| self.linked(slot, id));
        let routed = match in_memory {
            Some(routed) => Ok(routed),
            None => match self.stand_in(slot, id) {
                Ok(routed) => Ok(routed),
                Err(why) => self.uncovered(slot, id, why),
            },
        };
        let class = match &routed {
            Ok(routed) if routed.rollover => FirstDemand::ResourceWait,
            Ok(routed) if matches!(routed.route, Route::Exact | Route::Linked | Route::StandIn) => {
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
        if tracing {
            let core = &self.runtime.core;
            let subject = Subject::Exact(slot.key);
            core.trace.name(subject, || core.name(&slot.recipe));
            self.events.push(Event::Routed {
                frame,
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
                if !slot.is_drawn() {
                    self.touch(slot.hot, id, class);
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
        slot: Both<'_, B>,
        id: PipelineId,
        routed: &Routed<'f, B>,
        class: FirstDemand,
    ) -> Choice<'f, B::Executable> {
        if self.stamp - slot.hot.touched.load(Ordering::Relaxed) >= RECENCY_GRAIN {
            self.touch(slot.hot, id, class);
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

    /// Books time that the renderer spent for a draw on this pipeline outside of the runtime,
    /// for the trace: a rollover, a wait for a fence or a lock.
    pub fn spent(&mut self, id: PipelineId, phase: Phase, start: Duration, duration: Duration) {
        if self.runtime.core.trace.is_on()
            && let Some(slot) = self.runtime.slot(id)
        {
            self.events.push(Event::PhaseSpan {
                subject: Subject::Exact(slot.key),
                phase,
                lane: None,
                thread: self.number,
                start,
                duration,
            });
        }
    }

    /// The time on the runtime's clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.runtime.core.clock.now()
    }
}

/// The adopted exact pipeline, where a forced family does not serve or another stream was faster.
fn exact<'f, B: Backend>(slot: Both<'f, B>) -> Option<Routed<'f, B>> {
    Some(Routed {
        executable: slot.hot.exact.get()?,
        route: Route::Exact,
        reason: Reason::ExactReady,
        mechanism: None,
        rollover: false,
    })
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
