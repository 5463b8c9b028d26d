//! The scheduler: which build runs next, and who waits for which.
//!
//! One mutex guards it. It is touched on misses, by workers, and at a frame's start when
//! something has changed; never by a draw that has its executable. Nothing foreign runs while
//! it is held.
//!
//! The state machine knows neither threads nor time: real workers and the simulation drive the
//! same code.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::promotion::Ticket;
use crate::route::counted;
use crate::sync::{AtomicU64, Condvar, Mutex, Ordering, lock};

counted! {
    /// How urgent a build is. Also the class of a worker: each serves only what is named
    /// beside it, so that a build that cannot be interrupted never stands in the way of a more
    /// urgent one.
    Lane {
        /// A draw waits, or will in this submission. Workers of this class do nothing else.
        Required = "required",
        /// A draw runs on a stand-in. Workers of this class also help with required work.
        Demand = "demand",
        /// Nobody asked yet. Workers of this class do nothing else.
        Speculative = "speculative",
    }
}

/// What a build is for: a place in one of the runtime's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Target {
    Pipeline(u32),
    Family(u32),
}

/// Bounds of the scheduler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Background builds queued, running or finished and not adopted.
    pub(crate) jobs: usize,
    /// Speculative ones among them.
    pub(crate) speculative: usize,
    /// Speculative builds that run at once.
    pub(crate) speculative_running: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) lane: Lane,
    pub(crate) target: Target,
    pub(crate) generation: u32,
}

/// The answer to a submission.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submission {
    Accepted,
    /// A build for the same target exists; raised to the more urgent lane if `promoted`.
    Joined {
        promoted: bool,
    },
    Full,
    Stopped,
}

/// The answer to a draw that must have its pipeline now.
#[derive(Debug)]
pub(crate) enum Claim<J> {
    /// The caller builds: `existed` says whether the build had been queued.
    Build {
        taken: Taken<J>,
        existed: bool,
    },
    /// Another thread builds; the caller counts as waiting until [`Lanes::collect`] gives it
    /// something, or it calls [`Lanes::stop_waiting`].
    Running(Ticket),
    /// Built and not adopted yet; as above.
    Finished(Ticket),
    Stopped,
}

/// A build handed to whoever runs it.
#[derive(Debug)]
pub(crate) struct Taken<J> {
    pub(crate) ticket: Ticket,
    pub(crate) lane: Lane,
    pub(crate) job: J,
}

/// A build whose result is ready for adoption.
#[derive(Debug)]
pub(crate) struct Finished<R> {
    pub(crate) ticket: Ticket,
    pub(crate) target: Target,
    pub(crate) generation: u32,
    pub(crate) result: R,
}

/// What the promotion records must learn, in the order in which it happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Submitted(Ticket),
    Refused,
    ShadersReady(Ticket),
    PipelineStarted(Ticket),
    Withdrawn(Ticket),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Noted {
    pub(crate) target: Target,
    pub(crate) generation: u32,
    pub(crate) note: Note,
}

enum Stage<J, R> {
    Queued(J),
    Running,
    Finished(R),
}

struct Entry<J, R> {
    target: Target,
    generation: u32,
    lane: Lane,
    waiters: u32,
    /// Released while it ran: the result goes back to its worker.
    orphaned: bool,
    stage: Stage<J, R>,
}

struct State<J, R> {
    entries: BTreeMap<Ticket, Entry<J, R>>,
    by_target: BTreeMap<Target, Ticket>,
    queues: [VecDeque<Ticket>; Lane::COUNT],
    finished: [VecDeque<Ticket>; Lane::COUNT],
    notes: Vec<Noted>,
    running: usize,
    /// Entries of the speculative lane, and those of them that run.
    speculative: usize,
    speculative_running: usize,
    next: u64,
    stopping: bool,
    counts: LaneCounts,
}

/// Totals since the runtime began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneCounts {
    /// Builds accepted, by the lane they were submitted to.
    pub accepted: [u64; Lane::COUNT],
    /// Submissions that found a build for the same pipeline.
    pub joined: u64,
    /// Those of them that raised its urgency.
    pub promoted: u64,
    /// Submissions refused by a full table.
    pub refused: u64,
    /// Queued builds taken by a draw.
    pub taken: u64,
    /// Finished guesses reclaimed before anybody used them.
    pub reclaimed: u64,
    /// Builds cancelled before they began.
    pub cancelled: u64,
}

/// Builds now in the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneLoad {
    /// Queued, by lane.
    pub queued: [usize; Lane::COUNT],
    /// Being built, by lane.
    pub running: [usize; Lane::COUNT],
    /// Finished and not adopted, by lane.
    pub finished: [usize; Lane::COUNT],
}

pub(crate) struct Lanes<J, R> {
    state: Mutex<State<J, R>>,
    /// Work was queued, or the scheduler stops.
    work: Condvar,
    /// A build ended.
    ended: Condvar,
    /// Raised with every note and every finished build: lets a frame begin without the lock
    /// when nothing has happened.
    news: AtomicU64,
    limits: Limits,
}

impl<J, R> Lanes<J, R> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            state: Mutex::new(State {
                entries: BTreeMap::new(),
                by_target: BTreeMap::new(),
                queues: Default::default(),
                finished: Default::default(),
                notes: Vec::new(),
                running: 0,
                speculative: 0,
                speculative_running: 0,
                next: 1,
                stopping: false,
                counts: LaneCounts::default(),
            }),
            work: Condvar::new(),
            ended: Condvar::new(),
            news: AtomicU64::new(0),
            limits,
        }
    }

    /// A number that changes whenever there is something to drain.
    pub(crate) fn news(&self) -> u64 {
        self.news.load(Ordering::Acquire)
    }

    fn tell(&self) {
        self.news.fetch_add(1, Ordering::Release);
    }

    /// Asks for a build in the background. A place for its result is reserved with it: an
    /// entry lives from here until its result is adopted, and entries are bounded.
    ///
    /// The second value is a result reclaimed to make room, for the caller to free.
    pub(crate) fn submit(
        &self,
        request: Request,
        make: impl FnOnce() -> J,
    ) -> (Submission, Option<R>) {
        let mut state = lock(&self.state);
        if state.stopping {
            return (Submission::Stopped, None);
        }
        if let Some(ticket) = state.existing(request.target, request.generation) {
            let promoted = state.raise(ticket, request.lane);
            state.counts.joined += 1;
            state.counts.promoted += u64::from(promoted);
            // Tells the owner to let draws ask again. A guess asks under no claim, and may ask
            // for the same any number of times in a frame: it leaves nothing behind.
            if request.lane != Lane::Speculative {
                state.note(request.target, request.generation, Note::Submitted(ticket));
            }
            drop(state);
            self.tell();
            if promoted {
                self.work.notify_all();
            }
            return (Submission::Joined { promoted }, None);
        }
        let mut reclaimed = None;
        if request.lane == Lane::Speculative && state.speculative >= self.limits.speculative {
            reclaimed = state.reclaim();
            if reclaimed.is_none() {
                state.refuse(&request);
                drop(state);
                self.tell();
                return (Submission::Full, None);
            }
        }
        // Required work is never refused: a draw is waiting, and there are few of them.
        if request.lane != Lane::Required && state.entries.len() >= self.limits.jobs {
            state.refuse(&request);
            drop(state);
            self.tell();
            return (Submission::Full, reclaimed);
        }
        let ticket = state.insert(&request, Stage::Queued(make()));
        state.queues[request.lane as usize].push_back(ticket);
        drop(state);
        self.tell();
        self.work.notify_all();
        (Submission::Accepted, reclaimed)
    }

    /// A draw must have this pipeline: an unstarted build is taken, a missing one begun.
    pub(crate) fn require(&self, request: Request, make: impl FnOnce() -> J) -> Claim<J> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        if state.stopping {
            return Claim::Stopped;
        }
        let claim = if let Some(ticket) = state.existing(request.target, request.generation) {
            state.raise(ticket, Lane::Required);
            match state.take_ahead(ticket) {
                Some(taken) => {
                    state.counts.taken += 1;
                    Claim::Build {
                        taken,
                        existed: true,
                    }
                }
                None => state.join_wait(ticket),
            }
        } else {
            let ticket = state.insert(&request, Stage::Running);
            state.running += 1;
            Claim::Build {
                taken: Taken {
                    ticket,
                    lane: Lane::Required,
                    job: make(),
                },
                existed: false,
            }
        };
        drop(guard);
        self.tell();
        claim
    }

    /// The next build for a worker of this class, if there is one.
    pub(crate) fn take(&self, class: Lane) -> Option<Taken<J>> {
        lock(&self.state).next(class, &self.limits)
    }

    /// The next build for a worker of this class; `None` when the scheduler stops.
    pub(crate) fn take_blocking(&self, class: Lane) -> Option<Taken<J>> {
        let mut state = lock(&self.state);
        loop {
            if state.stopping {
                return None;
            }
            if let Some(taken) = state.next(class, &self.limits) {
                return Some(taken);
            }
            state = self
                .work
                .wait(state)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// A build has reached a rung at which something more urgent may go first: it waits again,
    /// at the head of its lane. Gives the job back when nobody wants it any more.
    pub(crate) fn pause(&self, ticket: Ticket, job: J) -> Option<J> {
        self.put_back(ticket, job, None)
    }

    /// A draw took a build and did not need it done after all: it goes to the head of `lane`.
    pub(crate) fn hand_back(&self, ticket: Ticket, job: J, lane: Lane) -> Option<J> {
        self.put_back(ticket, job, Some(lane))
    }

    fn put_back(&self, ticket: Ticket, job: J, lane: Option<Lane>) -> Option<J> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let stopping = state.stopping;
        let Some(entry) = state.entries.get_mut(&ticket) else {
            return Some(job);
        };
        state.running -= 1;
        if entry.orphaned || stopping {
            state.remove(ticket);
            drop(guard);
            self.ended.notify_all();
            return Some(job);
        }
        entry.stage = Stage::Queued(job);
        state.speculative_running -= usize::from(entry.lane == Lane::Speculative);
        let paused = lane.is_none();
        entry.lane = lane.unwrap_or(entry.lane);
        let (target, generation, lane) = (entry.target, entry.generation, entry.lane);
        state.queues[lane as usize].push_front(ticket);
        if paused {
            state.note(target, generation, Note::ShadersReady(ticket));
        }
        drop(guard);
        self.tell();
        // A draw may wait for this build: it takes the rest of it now.
        self.ended.notify_all();
        self.work.notify_all();
        None
    }

    /// A build moves on to the pipeline itself.
    pub(crate) fn pipeline_started(&self, ticket: Ticket) {
        let mut state = lock(&self.state);
        if let Some(entry) = state.entries.get(&ticket) {
            let (target, generation) = (entry.target, entry.generation);
            state.note(target, generation, Note::PipelineStarted(ticket));
            drop(state);
            self.tell();
        }
    }

    /// A build ended. The result comes back when nobody wants it any more.
    pub(crate) fn finish(&self, ticket: Ticket, result: R) -> Option<R> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let Some(entry) = state.entries.get_mut(&ticket) else {
            return Some(result);
        };
        state.running -= 1;
        let orphan = if entry.orphaned {
            state.remove(ticket);
            Some(result)
        } else {
            entry.stage = Stage::Finished(result);
            let lane = entry.lane;
            state.speculative_running -= usize::from(lane == Lane::Speculative);
            state.finished[lane as usize].push_back(ticket);
            None
        };
        // A speculative worker may have been held back by the running limit.
        let held_back = !state.queues[Lane::Speculative as usize].is_empty();
        drop(guard);
        self.tell();
        self.ended.notify_all();
        if held_back {
            self.work.notify_all();
        }
        orphan
    }

    /// Whether this build has stopped running: finished, paused between rungs, or gone.
    pub(crate) fn has_ended(&self, ticket: Ticket) -> bool {
        lock(&self.state).ended(ticket)
    }

    /// Blocks until [`Self::has_ended`], or for `limit`. `false` on the limit.
    pub(crate) fn wait_ended(&self, ticket: Ticket, limit: Duration) -> bool {
        let start = std::time::Instant::now();
        let mut state = lock(&self.state);
        while !state.ended(ticket) {
            let Some(left) = limit.checked_sub(start.elapsed()).filter(|s| !s.is_zero()) else {
                return false;
            };
            state = self
                .ended
                .wait_timeout(state, left)
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Ends a wait, unless the build runs: it may have been set aside and taken again since it
    /// was seen to have ended. With the result at hand, `publish` may take it out; a build that is
    /// set aside between rungs is taken over.
    pub(crate) fn collect<T>(
        &self,
        ticket: Ticket,
        publish: impl FnOnce(&mut R) -> T,
    ) -> Collected<J, T> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let Some(entry) = state.entries.get_mut(&ticket) else {
            return Collected::Gone;
        };
        if matches!(entry.stage, Stage::Running) {
            return Collected::Running;
        }
        entry.waiters = entry.waiters.saturating_sub(1);
        if let Stage::Finished(result) = &mut entry.stage {
            return Collected::Result(publish(result));
        }
        match state.take_ahead(ticket) {
            Some(taken) => Collected::Build(taken),
            None => Collected::Gone,
        }
    }

    /// Ends a wait without its result.
    pub(crate) fn stop_waiting(&self, ticket: Ticket) {
        if let Some(entry) = lock(&self.state).entries.get_mut(&ticket) {
            entry.waiters = entry.waiters.saturating_sub(1);
        }
    }

    /// Everything the promotion records must learn.
    pub(crate) fn drain_notes(&self) -> Vec<Noted> {
        std::mem::take(&mut lock(&self.state).notes)
    }

    /// The finished build that is to be adopted next: the most urgent lane's oldest.
    pub(crate) fn next_finished(&self) -> Option<Finished<R>> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        loop {
            let ticket = state.finished.iter_mut().find_map(VecDeque::pop_front)?;
            let Some(entry) = state.remove(ticket) else {
                continue;
            };
            if let Stage::Finished(result) = entry.stage {
                return Some(Finished {
                    ticket,
                    target: entry.target,
                    generation: entry.generation,
                    result,
                });
            }
        }
    }

    /// Nobody wants what is built for this target any more. Never blocks: a running build is
    /// left to end and gives its result back to its worker.
    pub(crate) fn cancel(&self, target: Target) -> Cancelled<J, R> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        let Some(ticket) = state.by_target.get(&target).copied() else {
            return Cancelled::Nothing;
        };
        let Some(entry) = state.entries.get_mut(&ticket) else {
            return Cancelled::Nothing;
        };
        if matches!(entry.stage, Stage::Running) {
            entry.orphaned = true;
            state.by_target.remove(&target);
            return Cancelled::WhileRunning;
        }
        let lane = entry.lane as usize;
        state.queues[lane].retain(|queued| *queued != ticket);
        state.finished[lane].retain(|finished| *finished != ticket);
        match state.remove(ticket).map(|entry| entry.stage) {
            Some(Stage::Queued(job)) => {
                state.counts.cancelled += 1;
                Cancelled::Unstarted(job)
            }
            Some(Stage::Finished(result)) => Cancelled::Finished(result),
            _ => Cancelled::Nothing,
        }
    }

    /// Whether something is queued, running or finished for this target.
    pub(crate) fn is_busy(&self, target: Target) -> bool {
        lock(&self.state).by_target.contains_key(&target)
    }

    /// Drops what has not started and lets no more begin. Returns it, for its owner to drop
    /// outside the lock.
    pub(crate) fn stop(&self) -> Vec<J> {
        let mut guard = lock(&self.state);
        let state = &mut *guard;
        state.stopping = true;
        let mut unstarted = Vec::new();
        for queue in &mut state.queues {
            queue.clear();
        }
        let queued: Vec<Ticket> = state
            .entries
            .iter()
            .filter(|(_, entry)| matches!(entry.stage, Stage::Queued(_)))
            .map(|(ticket, _)| *ticket)
            .collect();
        for ticket in queued {
            if let Some(Entry {
                stage: Stage::Queued(job),
                ..
            }) = state.remove(ticket)
            {
                unstarted.push(job);
            }
        }
        drop(guard);
        self.work.notify_all();
        self.ended.notify_all();
        unstarted
    }

    /// Whether no build runs.
    pub(crate) fn is_idle(&self) -> bool {
        lock(&self.state).running == 0
    }

    /// Blocks until no build runs.
    pub(crate) fn wait_idle(&self) {
        let mut state = lock(&self.state);
        while state.running > 0 {
            state = self
                .ended
                .wait(state)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    pub(crate) fn counts(&self) -> LaneCounts {
        lock(&self.state).counts
    }

    pub(crate) fn load(&self) -> LaneLoad {
        let state = lock(&self.state);
        let mut load = LaneLoad::default();
        for entry in state.entries.values() {
            let by_lane = match entry.stage {
                Stage::Queued(_) => &mut load.queued,
                Stage::Running => &mut load.running,
                Stage::Finished(_) => &mut load.finished,
            };
            by_lane[entry.lane as usize] += 1;
        }
        load
    }
}

/// What a wait came to.
#[derive(Debug)]
pub(crate) enum Collected<J, T> {
    Result(T),
    /// The build was between two rungs: the caller runs the rest.
    Build(Taken<J>),
    /// It runs: the wait goes on.
    Running,
    Gone,
}

/// What a cancellation found.
#[derive(Debug)]
pub(crate) enum Cancelled<J, R> {
    Nothing,
    Unstarted(J),
    WhileRunning,
    Finished(R),
}

impl<J, R> State<J, R> {
    fn existing(&self, target: Target, generation: u32) -> Option<Ticket> {
        let ticket = *self.by_target.get(&target)?;
        (self.entries.get(&ticket)?.generation == generation).then_some(ticket)
    }

    fn insert(&mut self, request: &Request, stage: Stage<J, R>) -> Ticket {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.entries.insert(
            ticket,
            Entry {
                target: request.target,
                generation: request.generation,
                lane: request.lane,
                waiters: 0,
                orphaned: false,
                stage,
            },
        );
        self.by_target.insert(request.target, ticket);
        self.speculative += usize::from(request.lane == Lane::Speculative);
        self.counts.accepted[request.lane as usize] += 1;
        self.note(request.target, request.generation, Note::Submitted(ticket));
        ticket
    }

    fn remove(&mut self, ticket: Ticket) -> Option<Entry<J, R>> {
        let entry = self.entries.remove(&ticket)?;
        if entry.lane == Lane::Speculative {
            self.speculative -= 1;
            self.speculative_running -= usize::from(matches!(entry.stage, Stage::Running));
        }
        if self.by_target.get(&entry.target) == Some(&ticket) {
            self.by_target.remove(&entry.target);
        }
        Some(entry)
    }

    fn note(&mut self, target: Target, generation: u32, note: Note) {
        self.notes.push(Noted {
            target,
            generation,
            note,
        });
    }

    fn refuse(&mut self, request: &Request) {
        self.counts.refused += 1;
        // A guess that found no room must not keep a draw from asking.
        if request.lane != Lane::Speculative {
            self.note(request.target, request.generation, Note::Refused);
        }
    }

    fn ended(&self, ticket: Ticket) -> bool {
        self.entries
            .get(&ticket)
            .is_none_or(|entry| !matches!(entry.stage, Stage::Running))
    }

    /// Gives up the oldest finished guess that nobody waits for.
    fn reclaim(&mut self) -> Option<R> {
        let finished = &self.finished[Lane::Speculative as usize];
        let position = finished.iter().position(|ticket| {
            self.entries
                .get(ticket)
                .is_some_and(|entry| entry.waiters == 0)
        })?;
        let ticket = self.finished[Lane::Speculative as usize].remove(position)?;
        let entry = self.remove(ticket)?;
        self.counts.reclaimed += 1;
        self.note(entry.target, entry.generation, Note::Withdrawn(ticket));
        match entry.stage {
            Stage::Finished(result) => Some(result),
            _ => None,
        }
    }

    /// Moves a build to a more urgent lane, in place. `true` if it was less urgent before.
    fn raise(&mut self, ticket: Ticket, lane: Lane) -> bool {
        let Some(entry) = self.entries.get_mut(&ticket) else {
            return false;
        };
        if entry.lane <= lane {
            return false;
        }
        let before = std::mem::replace(&mut entry.lane, lane) as usize;
        if before == Lane::Speculative as usize {
            self.speculative -= 1;
            self.speculative_running -= usize::from(matches!(entry.stage, Stage::Running));
        }
        let lists = match entry.stage {
            Stage::Queued(_) => &mut self.queues,
            Stage::Finished(_) => &mut self.finished,
            Stage::Running => return true,
        };
        lists[before].retain(|other| *other != ticket);
        lists[lane as usize].push_back(ticket);
        true
    }

    /// Takes a queued build out of turn.
    fn take_ahead(&mut self, ticket: Ticket) -> Option<Taken<J>> {
        let taken = self.take_queued(ticket)?;
        self.queues[taken.lane as usize].retain(|queued| *queued != ticket);
        Some(taken)
    }

    /// Marks a build that is in no queue any more as running.
    fn take_queued(&mut self, ticket: Ticket) -> Option<Taken<J>> {
        let entry = self.entries.get_mut(&ticket)?;
        match std::mem::replace(&mut entry.stage, Stage::Running) {
            Stage::Queued(job) => {
                let taken = Taken {
                    ticket,
                    lane: entry.lane,
                    job,
                };
                self.running += 1;
                self.speculative_running += usize::from(taken.lane == Lane::Speculative);
                Some(taken)
            }
            stage => {
                entry.stage = stage;
                None
            }
        }
    }

    fn join_wait(&mut self, ticket: Ticket) -> Claim<J> {
        let Some(entry) = self.entries.get_mut(&ticket) else {
            return Claim::Stopped;
        };
        entry.waiters += 1;
        match entry.stage {
            Stage::Finished(_) => Claim::Finished(ticket),
            _ => Claim::Running(ticket),
        }
    }

    fn next(&mut self, class: Lane, limits: &Limits) -> Option<Taken<J>> {
        if self.stopping {
            return None;
        }
        let lanes: &[Lane] = match class {
            Lane::Required => &[Lane::Required],
            Lane::Demand => &[Lane::Required, Lane::Demand],
            Lane::Speculative => {
                if self.speculative_running >= limits.speculative_running {
                    return None;
                }
                &[Lane::Speculative]
            }
        };
        for lane in lanes {
            while let Some(ticket) = self.queues[*lane as usize].pop_front() {
                if let Some(taken) = self.take_queued(ticket) {
                    return Some(taken);
                }
            }
        }
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Lane, Lanes, Limits, Request, Submission, Target};

    #[test]
    fn the_same_guess_made_a_thousand_times_in_a_frame_leaves_one_note() {
        let lanes = Lanes::<(), ()>::new(Limits {
            jobs: 8,
            speculative: 8,
            speculative_running: 2,
        });
        let request = Request {
            lane: Lane::Speculative,
            target: Target::Pipeline(1),
            generation: 1,
        };
        assert_eq!(lanes.submit(request, || ()).0, Submission::Accepted);
        for _ in 0..1000 {
            let (again, _) = lanes.submit(request, || ());
            assert_eq!(again, Submission::Joined { promoted: false });
        }
        assert_eq!(lanes.drain_notes().len(), 1);
    }
}
