//! Who runs the builds of [`Pipelines`](super::Pipelines): workers over the lane scheduler, and
//! threads that bind.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{Built, Compiler, Kind, Notice, Once, Sink, Source, Totals, Urgency};
use crate::backend::BuildError;
use crate::clock::{Clock, Stepper};
use crate::engine::readiness::{Publisher, Readiness};
use crate::job::guarded;
use crate::lanes::{Cancelled, Claim, Lane, Lanes, Limits, Request, Submission, Target};
use crate::promotion::Ticket;
use crate::workers::{STACK, lower_priority};

/// Workers of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSize {
    /// Build only what is awaited, at least one.
    pub reserved: usize,
    /// Build what is awaited, and otherwise what is built ahead; at least one.
    pub shared: usize,
}

impl PoolSize {
    /// One worker per core that this process may use.
    #[must_use]
    pub fn for_this_machine() -> Self {
        Self::for_cores(thread::available_parallelism().map_or(1, NonZero::get))
    }

    /// For this many cores: one worker each, one of them reserved, and never fewer than one of
    /// either class.
    #[must_use]
    pub fn for_cores(cores: usize) -> Self {
        Self {
            reserved: 1,
            shared: cores.saturating_sub(1).max(1),
        }
    }
}

/// Who runs the builds.
#[derive(Clone)]
pub enum Pool {
    /// Threads of the pool's own.
    Threads(PoolSize),
    /// Nobody by himself: whoever waits steps them, through a [`Shop`].
    Stepped(Arc<dyn Stepper>),
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Threads(size) => f.debug_tuple("Threads").field(size).finish(),
            Self::Stepped(_) => f.write_str("Stepped"),
        }
    }
}

/// One pipeline, shared by its handle and its build.
pub(super) struct Cell<E> {
    serial: u32,
    name: Arc<str>,
    kind: Kind,
    outcome: Once<E>,
    readiness: Readiness,
    publisher: Mutex<Option<Publisher>>,
}

impl<E> Cell<E> {
    pub(super) fn new(serial: u32, name: Arc<str>, kind: Kind) -> Self {
        let (publisher, readiness) = Readiness::new();
        Self {
            serial,
            name,
            kind,
            outcome: Once::new(),
            readiness,
            publisher: Mutex::new(Some(publisher)),
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn outcome(&self) -> Option<&Result<Arc<E>, Arc<str>>> {
        self.outcome.get()
    }

    pub(super) fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// Nobody will draw with it: what waits for it waits no longer.
    pub(super) fn give_up(&self) {
        drop(self.take_publisher());
    }

    fn take_publisher(&self) -> Option<Publisher> {
        self.publisher
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

/// A build's input, owned.
pub(super) struct Job<C: Compiler> {
    cell: Arc<Cell<C::Executable>>,
    recipe: C::Recipe,
}

impl<C: Compiler> Job<C> {
    pub(super) fn new(cell: Arc<Cell<C::Executable>>, recipe: C::Recipe) -> Self {
        Self { cell, recipe }
    }
}

type Outcome<C> = Result<Built<<C as Compiler>::Executable>, BuildError>;

/// Counts that only grow.
#[derive(Default)]
struct Counts {
    created: u64,
    /// Released before they began.
    cancelled: u64,
    built: u64,
    from_cache: u64,
    failed: u64,
    waits: u64,
    waited: Duration,
}

/// What the pipelines, their workers and binding threads share.
///
/// A result goes into its cell before the scheduler hears of it, so an entry of the scheduler
/// carries nothing. The job is optional for the one race there is: a thread that binds finds
/// the build's entry gone, and the scheduler opens an empty one for it.
pub(super) struct Core<C: Compiler> {
    pub(super) compiler: C,
    lanes: Lanes<Option<Job<C>>, ()>,
    clock: Arc<dyn Clock>,
    stepper: Option<Arc<dyn Stepper>>,
    sink: Option<Sink>,
    counts: Mutex<Counts>,
}

impl<C: Compiler> Core<C> {
    pub(super) fn new(
        compiler: C,
        clock: Arc<dyn Clock>,
        stepper: Option<Arc<dyn Stepper>>,
        sink: Option<Sink>,
    ) -> Self {
        // Creation never blocks and is never refused.
        let limits = Limits {
            jobs: usize::MAX,
            speculative: 0,
            speculative_running: 0,
        };
        Self {
            compiler,
            lanes: Lanes::new(limits),
            clock,
            stepper,
            sink,
            counts: Mutex::default(),
        }
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn totals(&self) -> Totals {
        let counts = self.counts();
        Totals {
            built: counts.built,
            from_cache: counts.from_cache,
            failed: counts.failed,
            building: counts.created - counts.cancelled - counts.built - counts.failed,
            waits: counts.waits,
            waited: counts.waited,
        }
    }

    fn notify(&self, notice: impl FnOnce() -> Notice) {
        if let Some(sink) = &self.sink {
            sink(&notice());
        }
    }

    pub(super) fn persist(&self) {
        if let Err(error) = guarded(|| self.compiler.persist()) {
            self.notify(|| Notice::NotKept {
                reason: error.to_string().into(),
            });
        }
    }

    /// Counts a pipeline as in flight, before anybody can see it.
    pub(super) fn expect(&self) {
        self.counts().created += 1;
    }

    pub(super) fn queue(&self, urgency: Urgency, job: Job<C>) {
        let request = request(&job.cell, urgency.lane());
        let (submission, _) = self.lanes.submit(request, || Some(job));
        if matches!(submission, Submission::Stopped | Submission::Full) {
            // Only while the pipelines are dropped, when nobody can bind any more.
            self.counts().cancelled += 1;
        }
        drop(self.lanes.drain_notes());
    }

    /// A pending build is wanted more than before. One that has ended meanwhile gets an empty
    /// entry, which is taken out again.
    pub(super) fn raise(&self, cell: &Cell<C::Executable>, urgency: Urgency) {
        if self.lanes.is_busy(Target::Pipeline(cell.serial)) {
            let _joined = self.lanes.submit(request(cell, urgency.lane()), || None);
            drop(self.lanes.drain_notes());
        }
    }

    /// Blocks until the pipeline's build has ended, and runs it if nobody does.
    pub(super) fn wait(&self, cell: &Cell<C::Executable>) {
        let start = self.clock.now();
        match self.lanes.require(request(cell, Lane::Required), || None) {
            Claim::Build { taken, .. } => {
                let found = taken.job.is_some();
                self.run(taken.job);
                self.ended(taken.ticket);
                if !found {
                    return;
                }
            }
            Claim::Running(ticket) | Claim::Finished(ticket) => self.await_end(ticket, cell),
            Claim::Stopped => return,
        }
        let mut counts = self.counts();
        counts.waits += 1;
        counts.waited += self.clock.now().saturating_sub(start);
    }

    fn run(&self, job: Option<Job<C>>) {
        if let Some(job) = job {
            let built = self.build(&job);
            self.publish(&job.cell, built);
        }
    }

    fn await_end(&self, ticket: Ticket, cell: &Cell<C::Executable>) {
        while cell.outcome().is_none() {
            match &self.stepper {
                // Nothing is left that could end it.
                Some(stepper) if !stepper.step(Duration::MAX) => return,
                Some(_) => {}
                None => {
                    let ended = self.lanes.wait_ended(ticket, Duration::from_secs(3600));
                    if ended && cell.outcome().is_none() {
                        return;
                    }
                }
            }
        }
    }

    fn build(&self, job: &Job<C>) -> Outcome<C> {
        guarded(|| self.compiler.build(&job.recipe))
    }

    /// Makes a build's end known: first to the counts, so that whoever sees the outcome finds
    /// it counted.
    pub(super) fn publish(&self, cell: &Cell<C::Executable>, built: Outcome<C>) {
        let publisher = cell.take_publisher();
        {
            let mut counts = self.counts();
            match &built {
                Ok(built) => {
                    counts.built += 1;
                    counts.from_cache += u64::from(built.source == Source::Cache);
                }
                Err(_) => counts.failed += 1,
            }
        }
        match built {
            Ok(built) => {
                // A cell has one build, and a build one end.
                let _first = cell.outcome.set(Ok(Arc::new(built.executable)));
                if let Some(publisher) = publisher {
                    publisher.ready();
                }
            }
            Err(error) => {
                let reason: Arc<str> = error.to_string().into();
                self.notify(|| Notice::Failed {
                    name: cell.name.clone(),
                    reason: reason.clone(),
                });
                let _first = cell.outcome.set(Err(reason.clone()));
                if let Some(publisher) = publisher {
                    publisher.failed(&reason);
                }
            }
        }
    }

    fn ended(&self, ticket: Ticket) {
        self.lanes.finish(ticket, ());
        while self.lanes.next_finished().is_some() {}
        drop(self.lanes.drain_notes());
    }

    pub(super) fn cancel(&self, cell: &Cell<C::Executable>) {
        let target = Target::Pipeline(cell.serial);
        if let Cancelled::Unstarted(Some(job)) = self.lanes.cancel(target) {
            self.counts().cancelled += 1;
            drop(job);
        }
        drop(self.lanes.drain_notes());
    }

    pub(super) fn stop(&self) {
        let unstarted = self.lanes.stop();
        self.counts().cancelled += unstarted.iter().flatten().count() as u64;
        for job in unstarted.into_iter().flatten() {
            job.cell.give_up();
        }
    }
}

fn request<E>(cell: &Cell<E>, lane: Lane) -> Request {
    Request {
        lane,
        target: Target::Pipeline(cell.serial),
        generation: 0,
    }
}

/// Starts the threads. One that the system refuses to start is done without: a thread that
/// binds builds for itself.
pub(super) fn start<C: Compiler>(core: &Arc<Core<C>>, size: PoolSize) -> Vec<JoinHandle<()>> {
    let reserved = std::iter::repeat_n(Lane::Required, size.reserved.max(1));
    let shared = std::iter::repeat_n(Lane::Demand, size.shared.max(1));
    reserved
        .chain(shared)
        .filter_map(|class| {
            let core = core.clone();
            let builder = thread::Builder::new()
                .name(format!("pipelines {}", class.name()))
                .stack_size(STACK);
            let started = builder.spawn(move || {
                lower_priority(class);
                while let Some(taken) = core.lanes.take_blocking(class) {
                    core.run(taken.job);
                    core.ended(taken.ticket);
                }
            });
            started.ok()
        })
        .collect()
}

/// The builds of pipelines whose workers are stepped.
pub struct Shop<C: Compiler>(Weak<Core<C>>);

impl<C: Compiler> std::fmt::Debug for Shop<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shop").finish_non_exhaustive()
    }
}

/// A build that has been done and not been told of yet.
pub struct Stretch<C: Compiler> {
    ticket: Ticket,
    done: Option<(Job<C>, Outcome<C>)>,
}

impl<C: Compiler> std::fmt::Debug for Stretch<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stretch")
            .field("ticket", &self.ticket)
            .finish_non_exhaustive()
    }
}

/// A worker's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    /// Builds only what is awaited.
    Reserved,
    /// Builds what is awaited, and otherwise what is built ahead.
    Shared,
}

impl<C: Compiler> Shop<C> {
    pub(super) fn new(core: &Arc<Core<C>>) -> Self {
        Self(Arc::downgrade(core))
    }

    /// Takes the next build for a worker of this class and does it. Its result is not seen by
    /// anybody before [`Self::settle`].
    #[must_use]
    pub fn work(&self, worker: Worker) -> Option<Stretch<C>> {
        let core = self.0.upgrade()?;
        let class = match worker {
            Worker::Reserved => Lane::Required,
            Worker::Shared => Lane::Demand,
        };
        let taken = core.lanes.take(class)?;
        let done = taken.job.map(|job| {
            let built = core.build(&job);
            (job, built)
        });
        Some(Stretch {
            ticket: taken.ticket,
            done,
        })
    }

    /// Makes the result of a build known.
    pub fn settle(&self, stretch: Stretch<C>) {
        if let Some(core) = self.0.upgrade() {
            if let Some((job, built)) = stretch.done {
                core.publish(&job.cell, built);
            }
            core.ended(stretch.ticket);
        }
    }
}
