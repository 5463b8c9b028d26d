//! One build, rung by rung, and what every builder shares.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::backend::{Backend, BuildError, Want};
use crate::clock::{Clock, Stepper};
use crate::key::ExactKey;
use crate::lanes::{Lane, Lanes, Taken};
use crate::notice::{Notice, NoticeSink};
use crate::promotion::Ticket;
use crate::sync::{Arc, AtomicBool, Ordering};
use crate::trace::{BuildResult, Event, Phase, PhaseLog, Subject, Trace};

/// Where a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rung {
    Load,
    Shaders,
    Pipeline,
}

/// The parts of a build's time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BuildTimes {
    pub(crate) queue: Duration,
    pub(crate) load: Duration,
    pub(crate) shaders: Duration,
    pub(crate) pipeline: Duration,
    pub(crate) prime: Duration,
}

impl BuildTimes {
    /// All but the wait in the queue.
    pub(crate) fn build(&self) -> Duration {
        self.load + self.shaders + self.pipeline + self.prime
    }
}

/// A build's input, deep-owned, and what it has come to so far.
pub(crate) struct Job<B: Backend> {
    key: ExactKey,
    want: Want,
    recipe: Arc<B::Recipe>,
    rung: Rung,
    shaders: Option<Arc<B::Shaders>>,
    log: PhaseLog,
    times: BuildTimes,
    queued_since: Duration,
    start: Option<Duration>,
}

/// A build's end.
pub(crate) enum Outcome<E> {
    Built(E),
    Failed(BuildError),
    /// The draw that waited for it has put it into its place.
    Published,
}

pub(crate) struct Completion<B: Backend> {
    pub(crate) key: ExactKey,
    pub(crate) want: Want,
    pub(crate) recipe: Arc<B::Recipe>,
    pub(crate) outcome: Outcome<B::Executable>,
    /// Came from the archive rather than from a compiler.
    pub(crate) loaded: bool,
    /// On a worker rather than on a draw's thread.
    pub(crate) in_background: bool,
    /// Kept when the second half failed, so that the next attempt begins there.
    pub(crate) shaders: Option<Arc<B::Shaders>>,
    pub(crate) times: BuildTimes,
}

impl<B: Backend> Completion<B> {
    pub(crate) fn subject(&self) -> Subject {
        subject(self.key, self.want)
    }
}

fn subject(key: ExactKey, want: Want) -> Subject {
    match want {
        Want::Exact => Subject::Exact(key),
        Want::StandIn(family) => Subject::Family(family),
    }
}

/// Who builds: a worker of a lane, or a draw's thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Builder {
    pub(crate) lane: Option<Lane>,
    pub(crate) thread: u32,
}

/// What a stretch of work on a build came to.
pub(crate) enum Step<B: Backend> {
    /// The first half is done; something more urgent may go first.
    Paused(Job<B>),
    Done(Completion<B>),
}

/// What workers and draws share.
pub(crate) struct Core<B: Backend> {
    pub(crate) backend: B,
    pub(crate) lanes: Lanes<Job<B>, Completion<B>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// There when the workers are stepped by whoever waits.
    pub(crate) stepper: Option<Arc<dyn Stepper>>,
    pub(crate) trace: Trace,
    pub(crate) notices: Option<NoticeSink>,
    pub(crate) lost: AtomicBool,
}

impl<B: Backend> Core<B> {
    pub(crate) fn notify(&self, notice: impl FnOnce() -> Notice) {
        if let Some(sink) = &self.notices {
            // Workers tell too, and must survive a sink that panics.
            let _ = guarded(|| {
                sink(&notice());
                Ok(())
            });
        }
    }

    /// Frees an executable. A panic in it ends neither a worker nor a frame.
    pub(crate) fn destroy(&self, executable: B::Executable) {
        let _ = guarded(|| {
            self.backend.destroy(executable);
            Ok(())
        });
    }

    /// What a person calls the recipe. Also asked on workers, which must survive it.
    pub(crate) fn name(&self, recipe: &B::Recipe) -> String {
        guarded(|| Ok(self.backend.name(recipe))).unwrap_or_else(|error| error.to_string())
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Nothing more is built. Draws that have their pipeline keep it; nobody hangs.
    fn lose(&self) {
        if !self.lost.swap(true, Ordering::AcqRel) {
            drop(self.lanes.stop());
            self.notify(|| Notice::DeviceLost);
        }
    }

    pub(crate) fn job(
        &self,
        key: ExactKey,
        want: Want,
        recipe: Arc<B::Recipe>,
        shaders: Option<Arc<B::Shaders>>,
    ) -> Job<B> {
        Job {
            key,
            want,
            recipe,
            // With shaders from an earlier attempt, the archive has been asked before.
            rung: if shaders.is_some() {
                Rung::Pipeline
            } else {
                Rung::Load
            },
            shaders,
            log: PhaseLog::new(self.clock.clone()),
            times: BuildTimes::default(),
            queued_since: self.clock.now(),
            start: None,
        }
    }

    /// A builder has the job now: its wait in the queue is over.
    pub(crate) fn begin(&self, job: &mut Job<B>) {
        let now = self.clock.now();
        let waited = now.saturating_sub(job.queued_since);
        job.times.queue += waited;
        job.start.get_or_insert(now);
    }

    /// The rung that may read files but never compiles. `None` when the archive does not
    /// give it, whatever it claimed.
    pub(crate) fn try_load(&self, job: &mut Job<B>) -> Option<B::Executable> {
        if job.rung != Rung::Load {
            return None;
        }
        job.rung = match job.want {
            Want::Exact => Rung::Shaders,
            Want::StandIn(_) => Rung::Pipeline,
        };
        let (backend, recipe, want) = (&self.backend, &*job.recipe, job.want);
        if !guarded(|| Ok(backend.archived(recipe, want))).unwrap_or(false) {
            return None;
        }
        let start = self.clock.now();
        let log = &mut job.log;
        let loaded = log_phase(log, Phase::ArchiveLoad, |log| {
            guarded(|| backend.load(recipe, want, log))
        });
        job.times.load += self.clock.now().saturating_sub(start);
        match loaded {
            Ok(executable) => executable,
            Err(BuildError::DeviceLost) => {
                self.lose();
                None
            }
            // A damaged or stale entry costs a compile and nothing else.
            Err(_) => None,
        }
    }

    /// Works on the job up to its end or the next point at which it can be set aside.
    pub(crate) fn advance(&self, mut job: Job<B>, by: Builder, ticket: Ticket) -> Step<B> {
        if job.rung == Rung::Load
            && let Some(executable) = self.try_load(&mut job)
        {
            let primed = self.prime(&mut job, executable, by);
            return self.done(job, primed, by, true, ticket);
        }
        if self.is_lost() {
            return self.done(job, Err(BuildError::DeviceLost), by, false, ticket);
        }
        let backend = &self.backend;
        let recipe = job.recipe.clone();
        if job.rung == Rung::Shaders {
            let start = self.clock.now();
            let log = &mut job.log;
            let built = guarded(|| backend.build_shaders(&recipe, log));
            job.times.shaders += self.clock.now().saturating_sub(start);
            return match built {
                Ok(shaders) => {
                    job.shaders = Some(Arc::new(shaders));
                    job.rung = Rung::Pipeline;
                    job.queued_since = self.clock.now();
                    Step::Paused(job)
                }
                Err(error) => self.done(job, Err(error), by, false, ticket),
            };
        }
        let start = self.clock.now();
        let log = &mut job.log;
        let built = match (job.want, &job.shaders) {
            (Want::StandIn(family), _) => guarded(|| backend.build_stand_in(&recipe, family, log)),
            (Want::Exact, Some(shaders)) => guarded(|| backend.build_exact(&recipe, shaders, log)),
            // The rung before leaves shaders or ends the job.
            (Want::Exact, None) => Err(BuildError::Permanent("no shaders".into())),
        };
        job.times.pipeline += self.clock.now().saturating_sub(start);
        let primed = built.and_then(|executable| self.prime(&mut job, executable, by));
        self.done(job, primed, by, false, ticket)
    }

    /// A draw that builds for itself is its pipeline's first draw: only workers prime.
    fn prime(
        &self,
        job: &mut Job<B>,
        executable: B::Executable,
        by: Builder,
    ) -> Result<B::Executable, BuildError> {
        if by.lane.is_none() {
            return Ok(executable);
        }
        let backend = &self.backend;
        let primed = match guarded(|| Ok(backend.needs_priming())) {
            Ok(false) => Ok(()),
            Ok(true) => {
                let start = self.clock.now();
                let (recipe, log) = (&*job.recipe, &mut job.log);
                let primed = log_phase(log, Phase::FirstDraw, |log| {
                    guarded(|| backend.prime(recipe, &executable, log))
                });
                job.times.prime += self.clock.now().saturating_sub(start);
                primed
            }
            Err(error) => Err(error),
        };
        match primed {
            Ok(()) => Ok(executable),
            Err(error) => {
                self.destroy(executable);
                Err(error)
            }
        }
    }

    fn done(
        &self,
        job: Job<B>,
        built: Result<B::Executable, BuildError>,
        by: Builder,
        loaded: bool,
        ticket: Ticket,
    ) -> Step<B> {
        let outcome = match built {
            Ok(executable) => Outcome::Built(executable),
            Err(error) => {
                if error == BuildError::DeviceLost {
                    self.lose();
                }
                Outcome::Failed(error)
            }
        };
        Step::Done(self.complete(job, outcome, by, loaded, ticket))
    }

    /// Makes the record of a build's end, and its events.
    pub(crate) fn complete(
        &self,
        job: Job<B>,
        outcome: Outcome<B::Executable>,
        by: Builder,
        loaded: bool,
        ticket: Ticket,
    ) -> Completion<B> {
        let subject = subject(job.key, job.want);
        if self.trace.is_on() {
            let result = match &outcome {
                Outcome::Failed(error) if error.is_permanent() => BuildResult::FailedPermanent,
                Outcome::Failed(_) => BuildResult::Failed,
                _ if loaded => BuildResult::Loaded,
                _ => BuildResult::Built,
            };
            self.trace.name(subject, || self.name(&job.recipe));
            let spans = job.log.spans().iter().map(|span| Event::PhaseSpan {
                subject,
                phase: span.phase,
                lane: by.lane,
                thread: by.thread,
                start: span.start,
                duration: span.duration,
            });
            let ended = Event::Built {
                subject,
                result,
                lane: by.lane,
                thread: by.thread,
                ticket: ticket.0,
                start: job.start.unwrap_or(job.queued_since),
                duration: job.times.build(),
                queue_wait: job.times.queue,
            };
            self.trace.extend(spans.chain([ended]));
        }
        Completion {
            key: job.key,
            want: job.want,
            recipe: job.recipe,
            outcome,
            loaded,
            in_background: by.lane.is_some(),
            shaders: job.shaders,
            times: job.times,
        }
    }

    /// A worker's part: a stretch of work, to be settled by [`Self::settle`].
    pub(crate) fn work(&self, taken: Taken<Job<B>>, thread: u32) -> (Ticket, Step<B>) {
        let Taken {
            ticket,
            lane,
            mut job,
        } = taken;
        self.begin(&mut job);
        if job.rung == Rung::Pipeline {
            self.lanes.pipeline_started(ticket);
        }
        let by = Builder {
            lane: Some(lane),
            thread,
        };
        (ticket, self.advance(job, by, ticket))
    }

    /// Tells the scheduler what the stretch of work came to. What nobody wants any more is
    /// freed here, on the worker.
    pub(crate) fn settle(&self, ticket: Ticket, step: Step<B>) {
        match step {
            Step::Paused(job) => drop(self.lanes.pause(ticket, job)),
            Step::Done(completion) => {
                if let Some(orphan) = self.lanes.finish(ticket, completion) {
                    self.discard(orphan);
                }
            }
        }
    }

    /// Frees a result that no draw has seen.
    pub(crate) fn discard(&self, completion: Completion<B>) {
        if let Outcome::Built(executable) = completion.outcome {
            self.destroy(executable);
        }
    }

    /// Blocks until the build has stopped running. `false` when `limit` is reached, or when
    /// nothing is left that could end it.
    pub(crate) fn wait_ended(&self, ticket: Ticket, limit: Duration) -> bool {
        let Some(stepper) = &self.stepper else {
            return self.lanes.wait_ended(ticket, limit);
        };
        let deadline = self.clock.now().saturating_add(limit);
        while !self.lanes.has_ended(ticket) {
            if self.clock.now() >= deadline || !stepper.step(deadline) {
                return self.lanes.has_ended(ticket);
            }
        }
        true
    }
}

/// Runs foreign code; a panic in it is an error of this build and of nothing else.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, BuildError>) -> Result<T, BuildError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        Err(BuildError::Panicked(message.into()))
    })
}

/// Books the time of `work` on `phase`, less what it booked on phases of its own.
fn log_phase<T>(log: &mut PhaseLog, phase: Phase, work: impl FnOnce(&mut PhaseLog) -> T) -> T {
    let (start, before) = (log.now(), log.spans().len());
    let value = work(log);
    if log.spans().len() == before {
        log.add(crate::trace::Span {
            phase,
            start,
            duration: log.now().saturating_sub(start),
        });
    }
    value
}
