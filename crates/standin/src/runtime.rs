//! The runtime: who owns what, and the way in and out.

use std::collections::VecDeque;
use std::hash::{BuildHasherDefault, Hasher};
use std::thread::JoinHandle;
use std::time::Duration;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::admission::{Candidates, RejectionCounts};
use crate::backend::{Backend, BuildError};
use crate::clock::{Clock, SystemClock};
use crate::job::{Completion, Core, Job, Outcome, guarded};
use crate::key::{ExactKey, FamilyKey};
use crate::lanes::{Cancelled, LaneCounts, LaneLoad, Lanes, Limits, Target};
use crate::promotion::{Promotion, Status};
use crate::settings::{Mode, Settings};
use crate::slots::{AskOnce, Both, Family, Hot, PipelineId, RECENCY_GRAIN, Slot, SlotCandidate};
use crate::stats::{Counter, Counters, FrameReport};
use crate::sync::{Arc, AtomicBool, AtomicU32, AtomicU64, Mutex, OnceLock, Ordering, lock};
use crate::table::Table;
use crate::trace::{Trace, TraceFile};
use crate::workers::{self, SPECULATIVE_RUNNING, Workers, Workshop};

/// The keys are hashes: their low bits are as good as any.
#[derive(Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}

pub(crate) type KeyMap<K, V> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;

/// What is registered while a frame's draws read the tables; merged at the next frame's start.
#[derive(Default)]
struct Newcomers {
    pipelines: KeyMap<ExactKey, PipelineId>,
    families: KeyMap<FamilyKey, u32>,
    rejections: RejectionCounts,
}

/// Hands out an executable for every draw.
///
/// One owner has it and changes it between frames; [`Runtime::begin_frame`] lends it to that
/// frame's recording threads, read-only, for as long as the [`Frame`](crate::Frame) lives.
///
/// ```
/// # use std::sync::Arc;
/// # use standin::sim::{Sim, SimRecipe};
/// # use standin::{Choice, Epochs, Settings, WorkerCounts};
/// # let sim = Sim::new(WorkerCounts::for_cores(2));
/// # let recipe = SimRecipe::alone(7);
/// let mut runtime = sim.runtime(Settings::default());
/// let id = runtime.register(recipe.key(), Arc::new(recipe.clone()));
/// let frame = runtime.begin_frame();
/// let mut stream = frame.stream(0);
/// match stream.select(Epochs::default(), || id) {
///     Choice::Draw(selected) => drop(sim.draw(&recipe, selected.executable)),
///     Choice::Skip(reason) => println!("not drawn: {}", reason.name()),
/// }
/// ```
///
/// While it lives, nothing changes the tables; the compiler sees to it:
///
/// ```compile_fail,E0502
/// # fn show<B: standin::Backend>(runtime: &mut standin::Runtime<B>) {
/// let frame = runtime.begin_frame();
/// runtime.release(standin::PipelineId::NONE); // the frame still reads the tables
/// let stream = frame.stream(0);
/// # }
/// ```
///
/// ```compile_fail,E0499
/// # fn show<B: standin::Backend>(runtime: &mut standin::Runtime<B>) {
/// let frame = runtime.begin_frame();
/// let next = runtime.begin_frame(); // adopts: not while a frame is recorded
/// let stream = frame.stream(0);
/// # }
/// ```
pub struct Runtime<B: Backend> {
    pub(crate) core: Arc<Core<B>>,
    pub(crate) settings: Settings,
    pub(crate) slots: Table<Hot<B>, Slot<B>>,
    pub(crate) families: Table<(), Family<B>>,
    index: KeyMap<ExactKey, PipelineId>,
    family_index: KeyMap<FamilyKey, u32>,
    newcomers: Mutex<Newcomers>,
    /// Lets a look-up pass the newcomers' lock by when there are none.
    newcomer_count: AtomicU32,
    next_generation: AtomicU32,
    pub(crate) frame: u64,
    pub(crate) frame_start: Duration,
    pub(crate) spent: crate::adoption::Spent,
    pub(crate) seen_news: u64,
    /// The mark before which no search for what can be evicted is worth it.
    pub(crate) next_eviction: u64,
    /// Executables that frames in flight may still use, with the last such frame.
    pub(crate) retired: VecDeque<(u64, B::Executable)>,
    /// The counters of the frame that is recorded.
    pub(crate) counters: Mutex<Counters>,
    pub(crate) last_frame: FrameReport,
    pub(crate) period: Counters,
    pub(crate) total: Counters,
    releases: Arc<Mutex<Vec<PipelineId>>>,
    threads: Vec<JoinHandle<()>>,
}

impl<B: Backend> std::fmt::Debug for Runtime<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime")
            .field("frame", &self.frame)
            .field("pipelines", &self.len())
            .field("families", &self.family_count())
            .finish_non_exhaustive()
    }
}

/// A registered pipeline seen from outside a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipelineStatus {
    /// Where its exact pipeline is on its way.
    pub status: Status,
    /// Builds begun so far.
    pub attempts: u32,
    /// Whether its exact pipeline is adopted.
    pub exact: bool,
    /// Whether something else would serve its draws at once.
    pub covered: bool,
}

/// Gives registered pipelines up, from any thread, without waiting for anything.
#[derive(Clone, Debug)]
pub struct Releases(Arc<Mutex<Vec<PipelineId>>>);

impl Releases {
    /// As [`Runtime::release`], at the next frame's start.
    pub fn release(&self, id: PipelineId) {
        lock(&self.0).push(id);
    }
}

/// A shutdown that could not wait for every build: this many run for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{running} builds do not end")]
pub struct BuildsHang {
    /// Builds that still run.
    pub running: usize,
}

impl<B: Backend> Runtime<B> {
    /// A runtime with worker threads, or with workers that are stepped.
    #[must_use]
    pub fn new(backend: B, settings: Settings, workers: Workers) -> Self {
        let off = settings.mode == Mode::Off;
        let (clock, stepper, counts): (Arc<dyn Clock>, _, _) = match workers {
            Workers::Threads(counts) => (Arc::new(SystemClock::new()), None, Some(counts)),
            Workers::Stepped(stepper) => {
                (Arc::new(SteppedClock(stepper.clone())), Some(stepper), None)
            }
        };
        let core = Arc::new(Core {
            backend,
            lanes: Lanes::new(Limits {
                jobs: settings.queue_capacity,
                speculative: settings.speculative_capacity,
                speculative_running: SPECULATIVE_RUNNING,
            }),
            clock,
            stepper,
            trace: Trace::new(if off { 0 } else { settings.trace_capacity }),
            notices: settings.notices.clone(),
            lost: AtomicBool::new(false),
        });
        let threads = match counts {
            Some(counts) if !off => workers::start(&core, counts),
            _ => Vec::new(),
        };
        Self {
            frame_start: core.clock.now(),
            core,
            settings,
            slots: Table::new(),
            families: Table::new(),
            index: KeyMap::default(),
            family_index: KeyMap::default(),
            newcomers: Mutex::new(Newcomers::default()),
            newcomer_count: AtomicU32::new(0),
            next_generation: AtomicU32::new(1),
            frame: 0,
            spent: crate::adoption::Spent::default(),
            seen_news: 0,
            next_eviction: 0,
            retired: VecDeque::new(),
            counters: Mutex::new(Counters::default()),
            last_frame: FrameReport::default(),
            period: Counters::default(),
            total: Counters::default(),
            releases: Arc::default(),
            threads,
        }
    }

    /// The builds, for whoever steps the workers.
    #[must_use]
    pub fn workshop(&self) -> Workshop<B> {
        Workshop::new(&self.core)
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> &B {
        &self.core.backend
    }

    /// The pipeline's place, made if need be. Does not build anything.
    ///
    /// Two recipes with one key would be a collision of 128-bit hashes; the second one gets a
    /// place of its own, and both are drawn right.
    pub fn register(&self, key: ExactKey, recipe: Arc<B::Recipe>) -> PipelineId {
        if let Some(id) = self.find(key)
            && let Some(slot) = self.slot(id)
        {
            return if same_recipe::<B>(&slot.recipe, &recipe) {
                id
            } else {
                self.insert(key, recipe, false)
            };
        }
        self.insert(key, recipe, true)
    }

    /// The place of the pipeline with this key, if it is registered. No side effects.
    #[must_use]
    #[inline]
    pub fn find(&self, key: ExactKey) -> Option<PipelineId> {
        if let Some(id) = self.index.get(&key) {
            return Some(*id);
        }
        if self.newcomer_count.load(Ordering::Acquire) == 0 {
            return None;
        }
        lock(&self.newcomers).pipelines.get(&key).copied()
    }

    fn insert(&self, key: ExactKey, recipe: Arc<B::Recipe>, mut listed: bool) -> PipelineId {
        let backend = &self.core.backend;
        let candidates = match self.settings.mode {
            Mode::Off => Candidates::default(),
            // Admission fails closed, also when it panics.
            Mode::On => guarded(|| Ok(backend.candidates(&recipe))).unwrap_or_default(),
        };
        let mut newcomers = lock(&self.newcomers);
        // Another stream may have been faster; it may even have had another recipe.
        if listed
            && let Some(id) = newcomers.pipelines.get(&key)
            && let Some(slot) = self.slot(*id)
        {
            if same_recipe::<B>(&slot.recipe, &recipe) {
                return *id;
            }
            listed = false;
        }
        newcomers.rejections.add(&candidates.rejected);
        let mut admitted: SmallVec<[SlotCandidate; 4]> = SmallVec::new();
        for candidate in &candidates.admitted {
            let family = match self.family_index.get(&candidate.family) {
                Some(family) => Some(*family),
                None => self.family_place(&mut newcomers, candidate.family),
            };
            let Some(family) = family else { continue };
            if let Some((_, entry)) = self.families.get(family) {
                entry.users.fetch_add(1, Ordering::Relaxed);
            }
            admitted.push(SlotCandidate {
                family,
                key: candidate.family,
                cost: candidate.cost,
                mechanism: candidate.mechanism,
            });
        }
        admitted.sort_by_key(|candidate| candidate.cost);
        let generation = self.next_generation.fetch_add(1, Ordering::Relaxed);
        let slot = Slot {
            generation,
            asked: AskOnce::new(),
            gave_up: AtomicBool::new(false),
            linked: OnceLock::new(),
            key,
            recipe,
            candidates: admitted,
            promotion: Promotion::new(generation),
            shaders: None,
            making: Mutex::new(()),
            traced: AtomicU64::new(0),
            born: self.stamp(),
            pins: AtomicU32::new(0),
        };
        let place = self.slots.insert(|_, hot| {
            hot.generation.store(generation, Ordering::Relaxed);
            slot
        });
        let Some(index) = place else {
            return PipelineId::NONE;
        };
        let id = PipelineId { index, generation };
        if listed {
            newcomers.pipelines.insert(key, id);
            self.newcomer_count.fetch_add(1, Ordering::Release);
        }
        drop(newcomers);
        let mut counters = lock(&self.counters);
        counters.add(Counter::Registered, 1);
        counters.add(
            Counter::AdmissionChecks,
            u64::from(self.settings.mode == Mode::On),
        );
        id
    }

    fn family_place(&self, newcomers: &mut Newcomers, key: FamilyKey) -> Option<u32> {
        if let Some(family) = newcomers.families.get(&key) {
            return Some(*family);
        }
        let generation = self.next_generation.fetch_add(1, Ordering::Relaxed);
        let index = self.families.insert(|_, ()| Family {
            executable: OnceLock::new(),
            touched: AtomicU64::new(self.stamp()),
            asked: AskOnce::new(),
            users: AtomicU32::new(0),
            key,
            generation,
            promotion: Promotion::new(generation),
        })?;
        newcomers.families.insert(key, index);
        Some(index)
    }

    pub(crate) fn merge_newcomers(&mut self) {
        if self.newcomer_count.swap(0, Ordering::AcqRel) == 0 {
            return;
        }
        let mut newcomers = lock(&self.newcomers);
        self.index.extend(newcomers.pipelines.drain());
        self.family_index.extend(newcomers.families.drain());
    }

    /// The mark of use of this frame: such that 0, for never, is always old.
    #[inline]
    pub(crate) fn stamp(&self) -> u64 {
        self.frame + RECENCY_GRAIN
    }

    /// What a draw of an adopted pipeline reads.
    #[inline]
    pub(crate) fn hot(&self, id: PipelineId) -> Option<&Hot<B>> {
        let hot = self.slots.hot(id.index)?;
        (hot.generation.load(Ordering::Relaxed) == id.generation).then_some(hot)
    }

    pub(crate) fn slot(&self, id: PipelineId) -> Option<Both<'_, B>> {
        let (hot, slot) = self.slots.get(id.index)?;
        (slot.generation == id.generation).then_some(Both { hot, slot })
    }

    pub(crate) fn family(&self, index: u32) -> Option<&Family<B>> {
        Some(self.families.get(index)?.1)
    }

    /// Keeps a pipeline from being evicted until as many calls of [`Self::release`].
    pub fn pin(&self, id: PipelineId) {
        if let Some(slot) = self.slot(id) {
            slot.pins.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Gives a pipeline up: the last pin goes, or, without one, its place. Returns at once,
    /// even while it is built: the build owns what it needs and frees what it makes.
    pub fn release(&mut self, id: PipelineId) {
        let Some(slot) = self.slot(id) else { return };
        let pins = slot.pins.load(Ordering::Relaxed);
        if pins > 1 {
            slot.pins.store(pins - 1, Ordering::Relaxed);
            return;
        }
        self.remove_slot(id.index);
    }

    /// A way to release from other threads, also during a frame.
    #[must_use]
    pub fn releases(&self) -> Releases {
        Releases(self.releases.clone())
    }

    pub(crate) fn drain_releases(&mut self) {
        let released = std::mem::take(&mut *lock(&self.releases));
        for id in released {
            self.release(id);
        }
    }

    pub(crate) fn remove_slot(&mut self, index: u32) {
        self.merge_newcomers();
        let Some((hot, slot)) = self.slots.remove(index) else {
            return;
        };
        let id = PipelineId {
            index,
            generation: slot.generation,
        };
        if self.index.get(&slot.key) == Some(&id) {
            self.index.remove(&slot.key);
        }
        for candidate in &slot.candidates {
            if let Some(family) = self.family(candidate.family) {
                family.users.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.cancel(Target::Pipeline(index));
        for executable in [hot.exact.into_inner(), slot.linked.into_inner()]
            .into_iter()
            .flatten()
        {
            self.retired.push_back((self.frame, executable));
        }
    }

    /// Removes a family that no recipe names any more.
    pub(crate) fn remove_family(&mut self, index: u32) {
        self.merge_newcomers();
        let Some((_, family)) = self.families.remove(index) else {
            return;
        };
        self.family_index.remove(&family.key);
        self.cancel(Target::Family(index));
        if let Some(executable) = family.executable.into_inner() {
            self.retired.push_back((self.frame, executable));
        }
    }

    fn cancel(&self, target: Target) {
        match self.core.lanes.cancel(target) {
            Cancelled::Finished(completion) => self.core.discard(completion),
            Cancelled::Unstarted(_) | Cancelled::WhileRunning | Cancelled::Nothing => {}
        }
    }

    /// How a registered pipeline stands; `None` when the id is stale.
    #[must_use]
    pub fn status(&self, id: PipelineId) -> Option<PipelineStatus> {
        let slot = self.slot(id)?;
        Some(PipelineStatus {
            status: self.reached(&slot.promotion),
            attempts: slot.promotion.attempts(),
            exact: slot.hot.exact.get().is_some(),
            covered: self.covers(slot),
        })
    }

    /// Whether a draw could run at once. No side effects, no recency.
    pub(crate) fn covers(&self, slot: Both<'_, B>) -> bool {
        slot.has_own()
            || slot.candidates.iter().any(|candidate| {
                self.family(candidate.family)
                    .is_some_and(|family| family.executable.get().is_some())
            })
    }

    /// How a family's stand-in stands; `None` when no registered recipe names the family.
    #[must_use]
    pub fn family_status(&self, key: FamilyKey) -> Option<Status> {
        let index = match self.family_index.get(&key) {
            Some(index) => *index,
            None => *lock(&self.newcomers).families.get(&key)?,
        };
        Some(self.reached(&self.family(index)?.promotion))
    }

    /// What a record comes to: without a device nothing is built any more, so whoever waits for
    /// a build that was dropped hears that it failed.
    fn reached(&self, promotion: &Promotion) -> Status {
        match promotion.status() {
            Status::Ready => Status::Ready,
            _ if self.core.is_lost() => Status::FailedPermanent,
            status => status,
        }
    }

    /// The recipe that was registered; `None` when the id is stale.
    #[must_use]
    pub fn recipe(&self, id: PipelineId) -> Option<&Arc<B::Recipe>> {
        Some(&self.slot(id)?.slot.recipe)
    }

    /// Registered pipelines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing is registered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn family_count(&self) -> usize {
        self.families.len()
    }

    /// The last complete frame's counters.
    #[must_use]
    pub fn last_frame(&self) -> &FrameReport {
        &self.last_frame
    }

    /// Counters since the start, up to the last complete frame.
    #[must_use]
    pub fn totals(&self) -> &Counters {
        &self.total
    }

    /// Why families turned recipes away.
    #[must_use]
    pub fn rejections(&self) -> RejectionCounts {
        lock(&self.newcomers).rejections.clone()
    }

    /// Totals of the scheduler.
    #[must_use]
    pub fn lane_counts(&self) -> LaneCounts {
        self.core.lanes.counts()
    }

    /// Builds now in the scheduler.
    #[must_use]
    pub fn lane_load(&self) -> LaneLoad {
        self.core.lanes.load()
    }

    /// Executables that wait for the frames in flight before they are freed.
    #[must_use]
    pub fn retired(&self) -> usize {
        self.retired.len()
    }

    /// Whether the device is lost. Draws that have their pipeline keep it, the others are
    /// skipped, and nothing more is built.
    #[must_use]
    pub fn is_device_lost(&self) -> bool {
        self.core.is_lost()
    }

    /// What the trace holds.
    #[must_use]
    pub fn trace(&self) -> TraceFile {
        self.core.trace.snapshot()
    }

    /// Drops builds that have not started, waits for those that have, and frees everything.
    /// Dropping the runtime does the same.
    ///
    /// The GPU must be idle. With stepped workers, a build that never ends is an error; with
    /// threads it is waited for, as it uses the backend.
    pub fn shut_down(mut self) -> Result<(), BuildsHang> {
        self.close()
    }

    fn close(&mut self) -> Result<(), BuildsHang> {
        drop(self.core.lanes.stop());
        match &self.core.stepper {
            None => self.core.lanes.wait_idle(),
            Some(stepper) => while !self.core.lanes.is_idle() && stepper.step(Duration::MAX) {},
        }
        for thread in self.threads.drain(..) {
            // A worker never panics: what a backend throws is caught at the build.
            let _ = thread.join();
        }
        while let Some(finished) = self.core.lanes.next_finished() {
            self.core.discard(finished.result);
        }
        let core = self.core.clone();
        for index in 0..self.slots.places() {
            if let Some((hot, slot)) = self.slots.remove(index) {
                for executable in [hot.exact.into_inner(), slot.linked.into_inner()]
                    .into_iter()
                    .flatten()
                {
                    core.destroy(executable);
                }
            }
        }
        for index in 0..self.families.places() {
            if let Some(executable) = self
                .families
                .remove(index)
                .and_then(|(_, family)| family.executable.into_inner())
            {
                core.destroy(executable);
            }
        }
        for (_, executable) in self.retired.drain(..) {
            core.destroy(executable);
        }
        self.index.clear();
        self.family_index.clear();
        let running = self.core.lanes.load().running.iter().sum();
        if running == 0 {
            Ok(())
        } else {
            Err(BuildsHang { running })
        }
    }
}

impl<B: Backend> Drop for Runtime<B> {
    fn drop(&mut self) {
        // Nobody is left to hear of a build that hangs.
        let _ = self.close();
    }
}

struct SteppedClock(Arc<dyn crate::clock::Stepper>);

impl Clock for SteppedClock {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

/// Takes the executable out of a finished build and puts it into its place. What another draw
/// put there first stays; the spare one comes back to be freed.
pub(crate) fn publish<B: Backend>(
    completion: &mut Completion<B>,
    place: &OnceLock<B::Executable>,
) -> (Result<(), BuildError>, Option<B::Executable>) {
    match std::mem::replace(&mut completion.outcome, Outcome::Published) {
        Outcome::Built(executable) => (Ok(()), place.set(executable).err()),
        Outcome::Published => (Ok(()), None),
        Outcome::Failed(error) => {
            completion.outcome = Outcome::Failed(error.clone());
            (Err(error), None)
        }
    }
}

/// Whether both are one recipe. The same allocation always is, also if it does not equal itself,
/// as a recipe with a number that is none (NaN) would not.
fn same_recipe<B: Backend>(a: &Arc<B::Recipe>, b: &Arc<B::Recipe>) -> bool {
    Arc::ptr_eq(a, b) || **a == **b
}

/// The input of a build of this slot's recipe.
pub(crate) fn slot_job<B: Backend>(
    core: &Core<B>,
    slot: &Slot<B>,
    want: crate::backend::Want,
) -> Job<B> {
    let shaders = match want {
        crate::backend::Want::Exact => slot.shaders.clone(),
        crate::backend::Want::StandIn(_) => None,
    };
    core.job(slot.key, want, slot.recipe.clone(), shaders)
}
