//! What a draw does when nothing in memory serves it: load, wait, or be skipped.

use std::time::Duration;

use crate::backend::{Backend, BuildError, Resources, Want};
use crate::job::{Builder, Job, Outcome, Step, guarded};
use crate::lanes::{Claim, Collected, Lane, Request, Submission, Taken, Target};
use crate::notice::Notice;
use crate::promotion::{Status, Ticket};
use crate::route::{FirstDraw, Reason, Route, Waiting};
use crate::runtime::{publish, slot_job};
use crate::slots::{Asked, Both, Family, PipelineId, SlotCandidate};
use crate::stats::Counter;
use crate::stream::{Routed, Stream};
use crate::sync::{OnceLock, Ordering, lock};
use crate::trace::Event;

/// How far a draw goes to get a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// Loads, never compiles.
    Load,
    /// Builds, or waits for a build that runs.
    Build,
    /// Builds, whatever runs elsewhere.
    BuildHere,
}

/// Times of a pipeline that a draw came by.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    queue: Duration,
    build: Duration,
}

struct Got<'f, E> {
    executable: &'f E,
    waiting: Waiting,
    loaded: bool,
    times: Times,
}

enum Missed {
    /// Not to be had with this effort.
    NotThere,
    Failed(BuildError),
    Limit,
    Stopped,
}

/// A place and what is to be built for it.
struct Aim<'f, B: Backend> {
    target: Target,
    generation: u32,
    want: Want,
    place: &'f OnceLock<B::Executable>,
}

impl<B: Backend> Clone for Aim<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<B: Backend> Copy for Aim<'_, B> {}

impl<'f, B: Backend> Stream<'f, B> {
    /// The archive, then the policy. `why` is why no stand-in serves.
    pub(crate) fn uncovered(
        &mut self,
        slot: Both<'f, B>,
        id: PipelineId,
        why: Reason,
    ) -> Result<Routed<'f, B>, Reason> {
        if self.runtime.core.is_lost() {
            return Err(Reason::DeviceLost);
        }
        self.load_the_rest(id);
        let exact = Aim {
            target: Target::Pipeline(id.index),
            generation: id.generation,
            want: Want::Exact,
            place: &slot.hot.exact,
        };
        let status = slot.promotion.status();
        let hopeless = status == Status::FailedPermanent;
        if !hopeless && self.archived(slot, Want::Exact) {
            let start = self.runtime.core.clock.now();
            if let Ok(got) = self.acquire(slot, exact, Effort::Load) {
                return Ok(self.arrived(slot, &got, start, why, Reason::ExactArchived, None));
            }
        }
        if let Some(routed) = self.load_stand_in(slot, id, why) {
            return Ok(routed);
        }
        self.request_stand_in(slot);
        if hopeless {
            return Err(Reason::ExactFailed);
        }
        let effort = match self.first_draw {
            FirstDraw::Skip => {
                self.promote(slot, id);
                return Err(why);
            }
            FirstDraw::Wait => Effort::Build,
            FirstDraw::Inline => Effort::BuildHere,
        };
        let due = slot
            .promotion
            .due(self.runtime.frame, || self.runtime.core.clock.now());
        if status == Status::FailedBackoff && !due {
            return Err(Reason::ExactFailed);
        }
        let start = self.runtime.core.clock.now();
        match self.acquire(slot, exact, effort) {
            Ok(got) => Ok(self.arrived(slot, &got, start, why, why, None)),
            Err(Missed::Limit) => Err(Reason::WaitLimit),
            Err(Missed::Failed(BuildError::DeviceLost) | Missed::Stopped) => {
                Err(Reason::DeviceLost)
            }
            Err(Missed::Failed(_) | Missed::NotThere) => Err(Reason::ExactFailed),
        }
    }

    fn archived(&mut self, slot: Both<'_, B>, want: Want) -> bool {
        self.counters.add(Counter::ArchiveLookups, 1);
        self.runtime.core.backend.archived(&slot.recipe, want)
    }

    /// Books a pipeline that was come by on the draw's path as a load or as a wait.
    fn arrived(
        &mut self,
        slot: Both<'_, B>,
        got: &Got<'f, B::Executable>,
        start: Duration,
        why: Reason,
        loaded: Reason,
        stand_in: Option<&SlotCandidate>,
    ) -> Routed<'f, B> {
        let runtime = self.runtime;
        let now = runtime.core.clock.now();
        let caller_wait = now.saturating_sub(start);
        let (route, reason) = if got.loaded {
            self.counters.add(Counter::ForegroundLoads, 1);
            self.counters.add_time(Counter::LoadTime, caller_wait);
            // The reason why nothing in memory served is kept, beside that it was archived.
            self.counters.reason_only(why);
            (Route::Loaded, loaded)
        } else {
            self.counters.waiting(got.waiting);
            self.counters.add_time(Counter::WaitTime, caller_wait);
            if matches!(
                got.waiting,
                Waiting::BuiltHere | Waiting::Taken | Waiting::Inline
            ) {
                self.counters.add(Counter::ForegroundBuilds, 1);
                self.counters
                    .add_time(Counter::ForegroundBuildTime, got.times.build);
            }
            (Route::Waited, why)
        };
        if runtime.core.trace.is_on() && !got.loaded {
            self.events.push(Event::Waited {
                frame: runtime.frame,
                draw: self.draw_number(),
                stream: self.number,
                key: slot.key,
                waiting: got.waiting,
                reason,
                at: start,
                caller_wait,
                queue_wait: got.times.queue,
                build: got.times.build,
            });
        }
        if !got.loaded && caller_wait > runtime.settings.wait_notice {
            runtime.core.notify(|| Notice::DrawWaited {
                name: runtime.core.name(&slot.recipe),
                frame: runtime.frame,
                waiting: got.waiting,
                reason,
                caller_wait,
                queue_wait: got.times.queue,
                build: got.times.build,
            });
        }
        Routed {
            executable: got.executable,
            route,
            reason,
            mechanism: stand_in.map(|candidate| candidate.mechanism),
            rollover: false,
        }
    }

    /// The cheapest stand-in that the archive has and this stream can feed.
    fn load_stand_in(
        &mut self,
        slot: Both<'f, B>,
        id: PipelineId,
        why: Reason,
    ) -> Option<Routed<'f, B>> {
        let runtime = self.runtime;
        for candidate in &slot.slot.candidates {
            let Some(family) = runtime.family(candidate.family) else {
                continue;
            };
            if family.executable.get().is_some()
                || family.promotion.status() == Status::FailedPermanent
                || !self.archived(slot, candidate.want())
            {
                continue;
            }
            let aim = Aim {
                target: Target::Family(candidate.family),
                generation: family.generation,
                want: candidate.want(),
                place: &family.executable,
            };
            let start = runtime.core.clock.now();
            let Ok(got) = self.acquire(slot, aim, Effort::Load) else {
                continue;
            };
            let rollover = match runtime.core.backend.resources(self.number, got.executable) {
                Resources::Ready => false,
                Resources::NeedsRollover => true,
                Resources::Unavailable => continue,
            };
            self.counters.add(Counter::Rollovers, u64::from(rollover));
            self.promote(slot, id);
            let reason = Reason::StandInArchived;
            let routed = self.arrived(slot, &got, start, why, reason, Some(candidate));
            return Some(Routed { rollover, ..routed });
        }
        None
    }

    /// Nothing covers the draw this time: the cheapest stand-in that can still be built is
    /// built in the background, for the next miss of its family.
    fn request_stand_in(&mut self, slot: Both<'_, B>) {
        let runtime = self.runtime;
        for candidate in &slot.slot.candidates {
            let Some(family) = runtime.family(candidate.family) else {
                continue;
            };
            if family.promotion.status() != Status::FailedPermanent {
                self.request_family(slot, candidate, family);
                return;
            }
        }
    }

    /// Has a family's stand-in built in the background, once, if it is due.
    pub(crate) fn request_family(
        &mut self,
        slot: Both<'_, B>,
        candidate: &SlotCandidate,
        family: &Family<B>,
    ) {
        let core = &self.runtime.core;
        let due = family
            .promotion
            .due(self.runtime.frame, || core.clock.now());
        if !due || family.asked.state() != Asked::No || !family.asked.claim() {
            return;
        }
        self.counters.add(Counter::Submissions, 1);
        let request = Request {
            lane: Lane::Demand,
            target: Target::Family(candidate.family),
            generation: family.generation,
        };
        let (submission, _) = core
            .lanes
            .submit(request, || slot_job(core, &slot, candidate.want()));
        if matches!(submission, Submission::Full | Submission::Stopped) {
            self.counters.add(Counter::QueueFull, 1);
            family.asked.refused();
        }
    }

    /// The first miss of a submission: everything else that it will bind and that the archive
    /// has is loaded by the workers meanwhile.
    fn load_the_rest(&mut self, first: PipelineId) {
        let runtime = self.runtime;
        // Announced once, started once.
        let rest = std::mem::take(&mut self.submission);
        for id in &rest {
            let Some(slot) = runtime.slot(*id) else {
                continue;
            };
            if *id == first || runtime.covers(slot) || runtime.core.backend.can_link(&slot.recipe) {
                continue;
            }
            if slot.promotion.status() != Status::FailedPermanent
                && self.archived(slot, Want::Exact)
            {
                if slot.asked.claim() {
                    let target = Target::Pipeline(id.index);
                    self.prefetch(slot, target, id.generation, Want::Exact);
                }
                continue;
            }
            for candidate in &slot.slot.candidates {
                let Some(family) = runtime.family(candidate.family) else {
                    continue;
                };
                if self.archived(slot, candidate.want()) {
                    if family.asked.claim() {
                        let target = Target::Family(candidate.family);
                        self.prefetch(slot, target, family.generation, candidate.want());
                    }
                    break;
                }
            }
        }
        // The allocation serves the next submission.
        self.submission = rest;
        self.submission.clear();
    }

    fn prefetch(&mut self, slot: Both<'_, B>, target: Target, generation: u32, want: Want) {
        let core = &self.runtime.core;
        self.counters.add(Counter::Prefetches, 1);
        let request = Request {
            lane: Lane::Required,
            target,
            generation,
        };
        // Required work is refused only when the runtime stops.
        let _ = core.lanes.submit(request, || slot_job(core, &slot, want));
    }

    /// Comes by the pipeline of `aim` on this draw's path.
    fn acquire(
        &mut self,
        slot: Both<'f, B>,
        aim: Aim<'f, B>,
        effort: Effort,
    ) -> Result<Got<'f, B::Executable>, Missed> {
        let core = &self.runtime.core;
        let request = Request {
            lane: Lane::Required,
            target: aim.target,
            generation: aim.generation,
        };
        let claim = core
            .lanes
            .require(request, || slot_job(core, &slot, aim.want));
        let (ticket, finished) = match claim {
            Claim::Stopped => return Err(Missed::Stopped),
            Claim::Build { taken, existed } => {
                let waiting = match (effort, existed) {
                    (Effort::BuildHere, _) => Waiting::Inline,
                    (_, true) => Waiting::Taken,
                    (_, false) => Waiting::BuiltHere,
                };
                return self.build_taken(taken, aim, effort, waiting);
            }
            Claim::Running(ticket) => (ticket, false),
            Claim::Finished(ticket) => (ticket, true),
        };
        if !finished {
            let give_way = effort == Effort::BuildHere
                || (effort == Effort::Load && self.first_draw != FirstDraw::Wait);
            if give_way {
                // Somebody else's build is left alone.
                core.lanes.stop_waiting(ticket);
                return match effort {
                    Effort::BuildHere => self.build_beside(slot, aim),
                    _ => Err(Missed::NotThere),
                };
            }
        }
        let mut spare = None;
        let deadline = core
            .clock
            .now()
            .saturating_add(self.runtime.settings.wait_limit);
        let collected = loop {
            let left = deadline.saturating_sub(core.clock.now());
            let ended = core.wait_ended(ticket, left);
            let collected = core.lanes.collect(ticket, |completion| {
                let times = Times {
                    queue: completion.times.queue,
                    build: completion.times.build(),
                };
                let (published, unused) = publish(completion, aim.place);
                spare = unused;
                published.map(|()| (times, completion.loaded))
            });
            // Seen to have ended, and running again: a worker took the second half.
            if !(ended && matches!(collected, Collected::Running)) {
                break collected;
            }
        };
        if let Some(spare) = spare {
            core.destroy(spare);
        }
        let waiting = if finished {
            Waiting::Finished
        } else {
            Waiting::ForRunning
        };
        match collected {
            Collected::Result(Ok((times, loaded))) => {
                let executable = aim.place.get().ok_or(Missed::NotThere)?;
                Ok(Got {
                    executable,
                    waiting,
                    loaded,
                    times,
                })
            }
            Collected::Result(Err(error)) => Err(Missed::Failed(error)),
            Collected::Build(taken) => self.build_taken(taken, aim, effort, waiting),
            Collected::Running => {
                core.lanes.stop_waiting(ticket);
                Err(Missed::Limit)
            }
            Collected::Gone => match aim.place.get() {
                Some(executable) => Ok(Got {
                    executable,
                    waiting,
                    loaded: false,
                    times: Times::default(),
                }),
                None => Err(Missed::Stopped),
            },
        }
    }

    fn builder(&self) -> Builder {
        Builder {
            lane: None,
            thread: self.number,
        }
    }

    /// Runs a build that this draw has taken, as far as `effort` goes.
    fn build_taken(
        &mut self,
        taken: Taken<Job<B>>,
        aim: Aim<'f, B>,
        effort: Effort,
        waiting: Waiting,
    ) -> Result<Got<'f, B::Executable>, Missed> {
        let core = &self.runtime.core;
        let Taken {
            ticket, mut job, ..
        } = taken;
        core.begin(&mut job);
        if effort == Effort::Load {
            return match core.try_load(&mut job) {
                Some(executable) => {
                    let outcome = Outcome::Built(executable);
                    let done = core.complete(job, outcome, self.builder(), true, ticket);
                    self.finish(ticket, done, aim, waiting)
                }
                None => {
                    // A worker goes on with it unless this draw takes it again.
                    drop(core.lanes.hand_back(ticket, job, Lane::Demand));
                    Err(Missed::NotThere)
                }
            };
        }
        let done = loop {
            match core.advance(job, self.builder(), ticket) {
                Step::Paused(rest) => {
                    core.lanes.pipeline_started(ticket);
                    job = rest;
                }
                Step::Done(done) => break done,
            }
        };
        self.finish(ticket, done, aim, waiting)
    }

    /// Publishes what this draw has built, for itself and for every other draw, at once.
    fn finish(
        &mut self,
        ticket: Ticket,
        mut done: crate::job::Completion<B>,
        aim: Aim<'f, B>,
        waiting: Waiting,
    ) -> Result<Got<'f, B::Executable>, Missed> {
        let core = &self.runtime.core;
        let times = Times {
            queue: done.times.queue,
            build: done.times.build(),
        };
        let loaded = done.loaded;
        let (published, spare) = publish(&mut done, aim.place);
        if let Some(spare) = spare {
            core.destroy(spare);
        }
        if let Some(orphan) = core.lanes.finish(ticket, done) {
            core.discard(orphan);
        }
        published.map_err(Missed::Failed)?;
        let executable = aim.place.get().ok_or(Missed::NotThere)?;
        Ok(Got {
            executable,
            waiting,
            loaded,
            times,
        })
    }

    /// Builds what a worker is building too. Whoever comes second is freed.
    fn build_beside(
        &mut self,
        slot: Both<'f, B>,
        aim: Aim<'f, B>,
    ) -> Result<Got<'f, B::Executable>, Missed> {
        let core = &self.runtime.core;
        let mut job = slot_job(core, &slot, aim.want);
        // It has no ticket: the scheduler does not know of it.
        let ticket = Ticket(0);
        core.begin(&mut job);
        let mut done = loop {
            match core.advance(job, self.builder(), ticket) {
                Step::Paused(rest) => job = rest,
                Step::Done(done) => break done,
            }
        };
        let times = Times {
            queue: Duration::ZERO,
            build: done.times.build(),
        };
        let (published, spare) = publish(&mut done, aim.place);
        if let Some(spare) = spare {
            core.destroy(spare);
        }
        published.map_err(Missed::Failed)?;
        let executable = aim.place.get().ok_or(Missed::NotThere)?;
        Ok(Got {
            executable,
            waiting: Waiting::Inline,
            loaded: done.loaded,
            times,
        })
    }

    /// The runtime is off: what a program without it does.
    pub(crate) fn build_plainly(&mut self, slot: Both<'f, B>) -> Option<&'f B::Executable> {
        let core = &self.runtime.core;
        let _making = lock(&slot.making);
        if let Some(executable) = slot.hot.exact.get() {
            return Some(executable);
        }
        if slot.gave_up.load(Ordering::Relaxed) {
            return None;
        }
        let start = core.clock.now();
        let mut log = crate::trace::PhaseLog::new(core.clock.clone());
        let built =
            guarded(|| core.backend.build_shaders(&slot.recipe, &mut log)).and_then(|shaders| {
                guarded(|| core.backend.build_exact(&slot.recipe, &shaders, &mut log))
            });
        let span = core.clock.now().saturating_sub(start);
        self.counters.waiting(Waiting::Inline);
        self.counters.add(Counter::ForegroundBuilds, 1);
        self.counters.add_time(Counter::ForegroundBuildTime, span);
        self.counters.add_time(Counter::WaitTime, span);
        match built {
            Ok(executable) => {
                if let Err(spare) = slot.hot.exact.set(executable) {
                    core.destroy(spare);
                }
                slot.hot.exact.get()
            }
            Err(error) => {
                slot.gave_up.store(error.is_permanent(), Ordering::Relaxed);
                None
            }
        }
    }
}
