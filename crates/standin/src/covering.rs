//! What covers a draw while its exact pipeline is built: a link from parts in memory, or an
//! adopted stand-in. Either way the exact pipeline is asked for, once.

use std::time::Duration;

use crate::backend::{Backend, Resources, Want};
use crate::job::guarded;
use crate::lanes::{Lane, Request, Submission, Target};
use crate::promotion::Status;
use crate::route::{Reason, Route};
use crate::runtime::{Runtime, slot_job};
use crate::slots::{Asked, Both, Family, PipelineId, RECENCY_GRAIN, SlotCandidate};
use crate::stats::{Counter, Counters};
use crate::stream::{Routed, Stream};
use crate::sync::{Ordering, lock};
use crate::trace::{BuildResult, Event, PhaseLog, Subject};

/// Why a candidate does not serve a draw.
enum Unserved<'f, B: Backend> {
    NotBuilt(&'f Family<B>),
    Failed,
    /// This stream cannot feed it.
    Unfed,
}

impl<'f, B: Backend> Stream<'f, B> {
    /// Exact state, linked now or before.
    pub(crate) fn linked(&mut self, slot: Both<'f, B>, id: PipelineId) -> Option<Routed<'f, B>> {
        let (executable, reason) = match slot.slot.linked.get() {
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

    fn link(&mut self, slot: Both<'f, B>) -> Option<&'f B::Executable> {
        let backend = &self.runtime.core.backend;
        if slot.gave_up.load(Ordering::Relaxed) || !backend.can_link(&slot.recipe) {
            return None;
        }
        let _making = lock(&slot.making);
        // Another stream may have linked it while this one waited.
        if let Some(executable) = slot.slot.linked.get() {
            return Some(executable);
        }
        let mut log = PhaseLog::new(self.runtime.core.clock.clone());
        let start = log.now();
        let linked = guarded(|| backend.fast_link(&slot.recipe, &mut log));
        self.counters.add(Counter::Links, 1);
        self.counters
            .add_time(Counter::LinkTime, log.now().saturating_sub(start));
        if self.runtime.core.trace.is_on() {
            self.trace_link(slot, &log, start, linked.is_ok());
        }
        match linked {
            Ok(executable) => {
                if let Err(spare) = slot.linked.set(executable) {
                    self.runtime.core.destroy(spare);
                }
                slot.slot.linked.get()
            }
            // Whatever handle came with a refusal, there is none: the next route serves.
            Err(_) => {
                slot.gave_up.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    fn trace_link(&mut self, slot: Both<'_, B>, log: &PhaseLog, start: Duration, linked: bool) {
        let subject = Subject::Exact(slot.key);
        let thread = self.number;
        self.events
            .extend(log.spans().iter().map(|span| Event::PhaseSpan {
                subject,
                phase: span.phase,
                lane: None,
                thread,
                start: span.start,
                duration: span.duration,
            }));
        self.events.push(Event::Built {
            subject,
            result: if linked {
                BuildResult::Linked
            } else {
                BuildResult::Failed
            },
            lane: None,
            thread,
            ticket: 0,
            start,
            duration: log.now().saturating_sub(start),
            queue_wait: Duration::ZERO,
        });
    }

    /// The cheapest adopted stand-in that this stream can feed; otherwise why there is none.
    pub(crate) fn stand_in(
        &mut self,
        slot: Both<'f, B>,
        id: PipelineId,
    ) -> Result<Routed<'f, B>, Reason> {
        let (mut failed, mut unfed) = (0, 0);
        for candidate in &slot.slot.candidates {
            match self.draw_with(slot, id, candidate) {
                Ok(routed) => return Ok(routed),
                Err(Unserved::NotBuilt(_)) => {}
                Err(Unserved::Failed) => failed += 1,
                Err(Unserved::Unfed) => unfed += 1,
            }
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

    /// The stand-in of the family that the settings force, if that admits the recipe and is
    /// adopted; it is asked for if it is not.
    pub(crate) fn forced(&mut self, slot: Both<'f, B>, id: PipelineId) -> Option<Routed<'f, B>> {
        let forced = self.forced?;
        for candidate in &slot.slot.candidates {
            if candidate.mechanism != forced {
                continue;
            }
            match self.draw_with(slot, id, candidate) {
                Ok(routed) => {
                    let reason = Reason::FamilyForced;
                    return Some(Routed { reason, ..routed });
                }
                Err(Unserved::NotBuilt(family)) => self.request_family(slot, candidate, family),
                Err(Unserved::Failed | Unserved::Unfed) => {}
            }
        }
        None
    }

    fn draw_with(
        &mut self,
        slot: Both<'f, B>,
        id: PipelineId,
        candidate: &SlotCandidate,
    ) -> Result<Routed<'f, B>, Unserved<'f, B>> {
        let runtime = self.runtime;
        self.counters.add(Counter::StandInProbes, 1);
        let family = runtime.family(candidate.family).ok_or(Unserved::Failed)?;
        let Some(executable) = family.executable.get() else {
            return Err(match family.promotion.status() {
                Status::FailedPermanent => Unserved::Failed,
                _ => Unserved::NotBuilt(family),
            });
        };
        let rollover = match runtime.core.backend.resources(self.number, executable) {
            Resources::Ready => false,
            Resources::NeedsRollover => true,
            Resources::Unavailable => return Err(Unserved::Unfed),
        };
        self.counters.add(Counter::Rollovers, u64::from(rollover));
        if self.stamp - family.touched.load(Ordering::Relaxed) >= RECENCY_GRAIN {
            family.touched.store(self.stamp, Ordering::Relaxed);
        }
        Ok(Routed {
            executable,
            route: Route::StandIn,
            reason: self.promote(slot, id),
            mechanism: Some(candidate.mechanism),
            rollover,
        })
    }

    /// Schedules the exact pipeline on the demand lane, once, if it is due. A covered draw
    /// never compiles and never waits, whatever the queue says.
    pub(crate) fn promote(&mut self, slot: Both<'_, B>, id: PipelineId) -> Reason {
        // A guess of the same pipeline is raised to the demand lane, in place.
        let raise = !slot.is_drawn();
        self.runtime.promote(slot, id, raise, &mut self.counters)
    }
}

impl<B: Backend> Runtime<B> {
    /// Asks for the exact pipeline on the demand lane if it is due, or, to `raise` it there, if
    /// it is pending; at most once between two adoptions, whoever asks.
    pub(crate) fn promote(
        &self,
        slot: Both<'_, B>,
        id: PipelineId,
        raise: bool,
        counters: &mut Counters,
    ) -> Reason {
        let status = slot.promotion.status();
        let pending = match status {
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
        let due = slot.promotion.due(self.frame, || self.core.clock.now());
        if !(due || raise && status.is_pending()) || !slot.asked.claim() {
            return pending;
        }
        let request = Request {
            lane: Lane::Demand,
            target: Target::Pipeline(id.index),
            generation: id.generation,
        };
        counters.add(Counter::Submissions, 1);
        let (submission, _) = self
            .core
            .lanes
            .submit(request, || slot_job(&self.core, &slot, Want::Exact));
        match submission {
            Submission::Accepted => Reason::PromotionSubmitted,
            Submission::Joined { .. } => Reason::PromotionPending,
            Submission::Full | Submission::Stopped => {
                counters.add(Counter::QueueFull, 1);
                slot.asked.refused();
                Reason::QueueFull
            }
        }
    }
}
