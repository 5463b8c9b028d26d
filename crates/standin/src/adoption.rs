//! A frame's start: what was finished becomes selectable, within the frame's budget, and what
//! is too much is given up.

use std::time::Duration;

use crate::backend::{Backend, BuildError, Want};
use crate::frame::Frame;
use crate::job::{Completion, Outcome};
use crate::lanes::{Finished, Note, Noted, Target};
use crate::notice::Notice;
use crate::promotion::{Moment, Promotion, Status, Verdict};
use crate::runtime::Runtime;
use crate::settings::Mode;
use crate::slots::{AskOnce, Both, RECENCY_GRAIN};
use crate::stats::{Counter, Counters, FrameReport};
use crate::sync::{Ordering, lock};
use crate::trace::{Event, Subject};

/// What adoption may take in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptionBudget {
    /// Builds.
    pub count: u32,
    /// CPU time. One build is adopted in any case, so that there is progress.
    pub time: Duration,
}

impl Default for AdoptionBudget {
    fn default() -> Self {
        Self {
            count: 256,
            time: Duration::from_micros(500),
        }
    }
}

/// What has been taken of a frame's budget, by whoever adopted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    count: u32,
    time: Duration,
}

impl<B: Backend> Runtime<B> {
    /// Ends the frame before and begins the next: adopts finished builds, frees what no frame
    /// in flight uses, and lends the tables to this frame's recording threads.
    pub fn begin_frame(&mut self) -> Frame<'_, B> {
        let now = self.core.clock.now();
        self.end_frame(now);
        self.frame += 1;
        self.frame_start = now;
        self.spent = Spent::default();
        self.merge_newcomers();
        self.drain_releases();
        if self.settings.mode == Mode::On {
            self.adopt();
        }
        self.free_retired();
        self.keep_within_capacity();
        if self.core.trace.is_on() {
            self.core.trace.extend([Event::FrameBegan {
                frame: self.frame,
                at: self.core.clock.now(),
            }]);
        }
        Frame::new(self)
    }

    /// Adopts what has finished since, as far as this frame's budget goes. For loading screens
    /// and other places that wait between frames; all of them share one budget a frame.
    /// Returns how many builds were adopted.
    pub fn adopt(&mut self) -> u32 {
        let news = self.core.lanes.news();
        if news == self.seen_news {
            return 0;
        }
        let start = self.core.clock.now();
        let moment = Moment {
            frame: self.frame,
            time: start,
        };
        for noted in self.core.lanes.drain_notes() {
            self.take_note(noted, moment);
        }
        let budget = self.settings.adoption;
        let mut adopted = 0;
        let mut before = start;
        let drained = loop {
            let exhausted = self.spent.count >= budget.count || self.spent.time >= budget.time;
            if exhausted && self.spent.count > 0 {
                break false;
            }
            let Some(finished) = self.core.lanes.next_finished() else {
                break true;
            };
            self.settle_finished(finished, moment);
            let after = self.core.clock.now();
            self.spent.time += after.saturating_sub(before);
            self.spent.count += 1;
            adopted += 1;
            before = after;
        };
        // With builds left over, the next frame looks again although nothing new is told.
        if drained {
            self.seen_news = news;
        }
        lock(&self.counters).add_time(Counter::AdoptionTime, before.saturating_sub(start));
        adopted
    }

    fn record(&mut self, target: Target, generation: u32) -> Option<(&mut Promotion, &AskOnce)> {
        match target {
            Target::Pipeline(index) => self
                .slots
                .get_mut(index)
                .map(|(_, slot)| slot)
                .filter(|slot| slot.generation == generation)
                .map(|slot| (&mut slot.promotion, &slot.asked)),
            Target::Family(index) => self
                .families
                .get_mut(index)
                .map(|((), family)| family)
                .filter(|family| family.generation == generation)
                .map(|family| (&mut family.promotion, &family.asked)),
        }
    }

    fn subject(&self, target: Target) -> Option<Subject> {
        match target {
            Target::Pipeline(index) => Some(Subject::Exact(self.slots.get(index)?.1.key)),
            Target::Family(index) => Some(Subject::Family(self.family(index)?.key)),
        }
    }

    fn take_note(&mut self, noted: Noted, moment: Moment) {
        let backoff = self.settings.backoff;
        let shaders_ready = match noted.target {
            Target::Pipeline(index) => self
                .slots
                .get(index)
                .is_some_and(|(_, slot)| slot.shaders.is_some()),
            Target::Family(_) => false,
        };
        let Some((promotion, asked)) = self.record(noted.target, noted.generation) else {
            return;
        };
        let before = promotion.status();
        match noted.note {
            Note::Submitted(ticket) => {
                promotion.submitted(ticket, shaders_ready);
                asked.reset();
            }
            Note::Refused => {
                promotion.refused(moment, &backoff);
                asked.reset();
            }
            Note::ShadersReady(ticket) => promotion.shaders_ready(ticket),
            Note::PipelineStarted(ticket) => promotion.pipeline_started(ticket),
            Note::Withdrawn(ticket) => promotion.withdrawn(ticket),
        }
        self.trace_promotion(noted.target, noted.generation, before, moment);
    }

    fn trace_promotion(&mut self, target: Target, generation: u32, before: Status, moment: Moment) {
        if !self.core.trace.is_on() {
            return;
        }
        let Some((promotion, _)) = self.record(target, generation) else {
            return;
        };
        let (status, attempts) = (promotion.status(), promotion.attempts());
        if status == before {
            return;
        }
        if let Some(subject) = self.subject(target) {
            self.core.trace.extend([Event::Promotion {
                frame: moment.frame,
                subject,
                status,
                attempts,
                at: moment.time,
            }]);
        }
    }

    fn settle_finished(&mut self, finished: Finished<Completion<B>>, moment: Moment) {
        let Finished {
            ticket,
            target,
            generation,
            result: mut completion,
            ..
        } = finished;
        count_build(&mut lock(&self.counters), &completion);
        let verdict = self
            .record(target, generation)
            .map_or(Verdict::WrongGeneration, |(promotion, _)| {
                promotion.judge(generation, ticket)
            });
        if verdict != Verdict::Accepted {
            lock(&self.counters).add(Counter::Rejected, 1);
            self.core.discard(completion);
            return;
        }
        let outcome = std::mem::replace(&mut completion.outcome, Outcome::Published);
        let before = self
            .record(target, generation)
            .map_or(Status::Absent, |(promotion, _)| promotion.status());
        let spare = match outcome {
            Outcome::Built(executable) => self.place(target, executable),
            Outcome::Published => None,
            Outcome::Failed(error) => {
                self.take_failure(target, generation, &completion, error, moment);
                self.trace_promotion(target, generation, before, moment);
                return;
            }
        };
        if let Some(spare) = spare {
            // A draw built the same on its own thread meanwhile.
            self.core.destroy(spare);
        }
        if let Some((promotion, _)) = self.record(target, generation) {
            promotion.ready();
        }
        self.superseded(target);
        lock(&self.counters).add(Counter::Adopted, 1);
        if self.core.trace.is_on() {
            self.core.trace.extend([Event::Adopted {
                frame: self.frame,
                subject: completion.subject(),
                at: moment.time,
                duration: self.core.clock.now().saturating_sub(moment.time),
            }]);
        }
        self.trace_promotion(target, generation, before, moment);
    }

    /// Makes an executable selectable; gives it back when there is one already.
    fn place(&mut self, target: Target, executable: B::Executable) -> Option<B::Executable> {
        let place = match target {
            Target::Pipeline(index) => self.slots.hot(index).map(|hot| &hot.exact),
            Target::Family(index) => self.family(index).map(|family| &family.executable),
        };
        match place {
            Some(place) => place.set(executable).err(),
            None => Some(executable),
        }
    }

    /// With the exact pipeline there, what bridged the time to it can go.
    fn superseded(&mut self, target: Target) {
        let Target::Pipeline(index) = target else {
            return;
        };
        let stamp = self.stamp();
        if let Some((_, slot)) = self.slots.get_mut(index) {
            slot.shaders = None;
            // What took so long to build gets its chance to be drawn.
            slot.born = stamp;
            if let Some(linked) = slot.linked.take() {
                self.retired.push_back((self.frame, linked));
            }
        }
    }

    fn take_failure(
        &mut self,
        target: Target,
        generation: u32,
        completion: &Completion<B>,
        error: BuildError,
        moment: Moment,
    ) {
        lock(&self.counters).add(Counter::FailedBuilds, 1);
        let backoff = self.settings.backoff;
        // An Inline draw may have succeeded where this build failed.
        let there = match target {
            Target::Pipeline(index) => self
                .slots
                .hot(index)
                .is_some_and(|hot| hot.exact.get().is_some()),
            Target::Family(_) => false,
        };
        let Some((promotion, _)) = self.record(target, generation) else {
            return;
        };
        if there {
            promotion.ready();
            return;
        }
        promotion.failed(error.is_permanent(), moment, &backoff);
        let given_up = promotion.status() == Status::FailedPermanent;
        if let Target::Pipeline(index) = target
            && let Some((_, slot)) = self.slots.get_mut(index)
        {
            slot.shaders = if given_up {
                None
            } else {
                completion.shaders.clone()
            };
        }
        if given_up && error != BuildError::DeviceLost {
            let name = self.core.name(&completion.recipe);
            self.core.notify(|| match completion.want {
                Want::Exact => Notice::ExactFailed { name, error },
                Want::StandIn(_) => Notice::StandInFailed { name, error },
            });
        }
    }

    fn end_frame(&mut self, now: Duration) {
        let counters = std::mem::take(&mut *lock(&self.counters));
        self.period.merge(&counters);
        self.total.merge(&counters);
        let duration = now.saturating_sub(self.frame_start);
        self.last_frame = FrameReport {
            frame: self.frame,
            duration,
            counters,
        };
        let first = self.frame == 0;
        if self.core.trace.is_on() && !first {
            let counters = &self.last_frame.counters;
            let frame = self.frame;
            let values = Counter::ALL.iter().filter_map(|counter| {
                let value = counters.get(*counter);
                (value > 0).then_some(Event::FrameCounter {
                    frame,
                    counter: *counter,
                    value,
                })
            });
            let ended = Event::FrameEnded {
                frame,
                at: now,
                duration,
            };
            self.core.trace.extend(values.chain([ended]));
        }
        if !first && duration > self.settings.long_frame {
            self.core
                .notify(|| Notice::LongFrame(Box::new(self.last_frame.clone())));
        }
        if !first && self.frame.is_multiple_of(self.settings.totals_every.max(1)) {
            let frame = self.frame;
            let counters = Box::new(std::mem::take(&mut self.period));
            self.core
                .notify(|| Notice::PipelinesUpToFrame { frame, counters });
        }
    }

    /// Frees what was given up before the oldest frame in flight.
    fn free_retired(&mut self) {
        let in_flight = u64::from(self.settings.frames_in_flight);
        while let Some((frame, _)) = self.retired.front()
            && frame + in_flight < self.frame
        {
            if let Some((_, executable)) = self.retired.pop_front() {
                self.core.destroy(executable);
            }
        }
    }

    fn keep_within_capacity(&mut self) {
        if self.len() > self.settings.capacity && self.stamp() >= self.next_eviction {
            self.evict_slots();
        }
        if self.family_count() > self.settings.family_capacity {
            self.evict_families();
        }
    }

    /// The last frame whose pipelines no frame in flight uses, to within the grain of marks.
    fn idle_since(&self) -> u64 {
        let in_flight = u64::from(self.settings.frames_in_flight);
        self.stamp().saturating_sub(RECENCY_GRAIN + in_flight)
    }

    /// Gives least recently used pipelines up, with some headroom, so that the next frame does
    /// not begin with the same search. Never one that is pinned, in use or being built.
    fn evict_slots(&mut self) {
        let idle = self.idle_since();
        let headroom = self.settings.capacity / 16;
        let surplus = self.len() - (self.settings.capacity - headroom);
        let mut oldest: Vec<(u64, u32)> = self
            .slots
            .iter()
            .filter(|(_, _, slot)| slot.pins.load(Ordering::Relaxed) == 0)
            .map(|(index, hot, slot)| (Both { hot, slot }.last_used(), index))
            .filter(|(last_used, _)| *last_used < idle)
            .collect();
        oldest.sort_unstable();
        let mut left = surplus;
        for (_, index) in oldest {
            if left == 0 {
                break;
            }
            if self.core.lanes.is_busy(Target::Pipeline(index)) {
                continue;
            }
            self.note_eviction(Target::Pipeline(index));
            self.remove_slot(index);
            left -= 1;
        }
        if left > 0 {
            // More are in use than fit: the marks say nothing new before they are renewed.
            self.next_eviction = self.stamp() + RECENCY_GRAIN;
        }
    }

    fn evict_families(&mut self) {
        let idle = self.idle_since();
        let headroom = self.settings.family_capacity / 16;
        let mut left = self.family_count() - (self.settings.family_capacity - headroom);
        let mut oldest: Vec<(u64, u32)> = self
            .families
            .iter()
            .filter(|(_, (), family)| family.users.load(Ordering::Relaxed) == 0)
            .map(|(index, (), family)| (family.touched.load(Ordering::Relaxed), index))
            .filter(|(touched, _)| *touched < idle)
            .collect();
        oldest.sort_unstable();
        for (_, index) in oldest {
            if left == 0 {
                break;
            }
            if self.core.lanes.is_busy(Target::Family(index)) {
                continue;
            }
            self.note_eviction(Target::Family(index));
            self.remove_family(index);
            left -= 1;
        }
    }

    fn note_eviction(&self, target: Target) {
        lock(&self.counters).add(Counter::Evicted, 1);
        if self.core.trace.is_on()
            && let Some(subject) = self.subject(target)
        {
            self.core.trace.extend([Event::Evicted {
                frame: self.frame,
                subject,
                at: self.frame_start,
            }]);
        }
    }
}

fn count_build<B: Backend>(counters: &mut Counters, completion: &Completion<B>) {
    let times = completion.times;
    counters.add_time(Counter::QueueTime, times.queue);
    counters.add_time(Counter::ShaderTime, times.shaders);
    counters.add_time(Counter::PipelineTime, times.pipeline);
    counters.add_time(Counter::PrimeTime, times.prime);
    if matches!(completion.outcome, Outcome::Failed(_)) {
        return;
    }
    // What draws build and load is counted where they do it.
    if let Want::StandIn(_) = completion.want
        && !completion.loaded
    {
        counters.add(Counter::BaseBuilds, 1);
    }
    if completion.in_background {
        if completion.loaded {
            counters.add(Counter::BackgroundLoads, 1);
            counters.add_time(Counter::BackgroundLoadTime, times.load);
        } else if completion.want == Want::Exact {
            counters.add(Counter::BackgroundBuilds, 1);
        }
    }
}
