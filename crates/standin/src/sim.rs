//! A simulated backend with a virtual clock: every race, failure and budget of the runtime can
//! be had without a GPU, and the same one again.
//!
//! Stepped, everything happens on one thread in an order that depends on nothing but the script:
//! time passes when a draw builds, loads or waits, and when a test says so. With threads, the
//! same scripts run on real workers; durations are then left out, failures are not.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::admission::{Candidate, Candidates, Mechanism, Rejection};
use crate::backend::{Backend, BuildError, Resources, Want};
use crate::clock::{Clock, Stepper};
use crate::key::{ExactKey, FamilyKey};
use crate::lanes::Lane;
use crate::runtime::Runtime;
use crate::settings::Settings;
use crate::trace::{Phase, PhaseLog};
use crate::workers::{Worked, WorkerCounts, Workers, Workshop};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A recipe of the simulation: what it draws is its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimRecipe {
    /// Its picture.
    pub number: u64,
    /// Families that stand in: number, cost, mechanism.
    pub families: Vec<(u64, u32, Mechanism)>,
    /// Families that do not.
    pub rejected: Vec<Rejection>,
    /// Whether its parts are in memory.
    pub linkable: bool,
}

impl SimRecipe {
    /// A recipe that nothing stands in for.
    #[must_use]
    pub fn alone(number: u64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }

    /// A recipe with one family.
    #[must_use]
    pub fn in_family(number: u64, family: u64) -> Self {
        Self {
            number,
            families: vec![(family, 1, Mechanism::Pulled)],
            ..Self::default()
        }
    }

    /// Its key: the same number spread over 128 bits.
    #[must_use]
    pub fn key(&self) -> ExactKey {
        ExactKey::from_u128(spread(self.number, 0))
    }

    /// The key of a family.
    #[must_use]
    pub fn family_key(family: u64) -> FamilyKey {
        FamilyKey::from_u128(spread(family, 1))
    }
}

/// An injective map from numbers to keys that look like hashes.
fn spread(number: u64, kind: u64) -> u128 {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let low = mix(number);
    (u128::from(mix(low ^ kind.wrapping_mul(0x9e37_79b9_7f4a_7c15))) << 64) | u128::from(low)
}

/// What an executable of the simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SimTarget {
    /// The pipeline of the recipe with this number.
    Exact(u64),
    /// The stand-in of the family with this number.
    Family(u64),
}

/// A pipeline of the simulation.
#[derive(Debug, PartialEq, Eq)]
pub struct SimExecutable {
    id: u64,
    /// What it is.
    pub target: SimTarget,
}

/// How a build goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The first half of an exact build.
    pub shaders: Duration,
    /// The second half, or a stand-in's whole build.
    pub pipeline: Duration,
    /// What a throw-away draw, or the first real one, takes on a driver that needs it.
    pub first_draw: Duration,
    /// What a load takes.
    pub load: Duration,
    /// What a fast link takes.
    pub link: Duration,
    /// Whether the archive says that it has it.
    pub archived: bool,
    /// What the archive gives then, if not the pipeline.
    pub load_fails: Option<BuildError>,
    /// What a fast link gives, if not a pipeline.
    pub link_fails: Option<BuildError>,
    /// How many builds fail first; `u32::MAX` for all of them.
    pub failures: u32,
    /// In the first half rather than in the second.
    pub fails_in_shaders: bool,
    /// With what.
    pub error: BuildError,
    /// The second half panics instead of failing.
    pub panics: bool,
    /// The second half never ends.
    pub hangs: bool,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            shaders: Duration::from_millis(4),
            pipeline: Duration::from_millis(10),
            first_draw: Duration::from_millis(80),
            load: Duration::from_micros(400),
            link: Duration::from_micros(30),
            archived: false,
            load_fails: None,
            link_fails: None,
            failures: 0,
            fails_in_shaders: false,
            error: BuildError::Transient("scripted".into()),
            panics: false,
            hangs: false,
        }
    }
}

/// How often the runtime called what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the names are those of the backend's functions"
)]
pub struct Calls {
    pub name: u64,
    pub candidates: u64,
    pub can_link: u64,
    pub fast_link: u64,
    pub archived: u64,
    pub load: u64,
    pub build_shaders: u64,
    pub build_exact: u64,
    pub build_stand_in: u64,
    pub prime: u64,
    pub resources: u64,
    pub destroy: u64,
}

impl Calls {
    /// What was called since an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            name: self.name - earlier.name,
            candidates: self.candidates - earlier.candidates,
            can_link: self.can_link - earlier.can_link,
            fast_link: self.fast_link - earlier.fast_link,
            archived: self.archived - earlier.archived,
            load: self.load - earlier.load,
            build_shaders: self.build_shaders - earlier.build_shaders,
            build_exact: self.build_exact - earlier.build_exact,
            build_stand_in: self.build_stand_in - earlier.build_stand_in,
            prime: self.prime - earlier.prime,
            resources: self.resources - earlier.resources,
            destroy: self.destroy - earlier.destroy,
        }
    }
}

/// A build as it was begun: what, when, on which class of worker (none: on a draw's thread).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// What was built.
    pub target: SimTarget,
    /// When.
    pub at: Duration,
    /// By whom.
    pub class: Option<Lane>,
}

/// What a draw with an executable draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// The picture of the recipe with this number.
    Picture(u64),
    /// Nonsense: the executable is not of this recipe, or was destroyed.
    Wrong,
}

/// The longest that anything takes; a build that hangs takes for ever.
const NEVER: Duration = Duration::MAX;

struct Worker {
    class: Lane,
    busy: Option<(Duration, Worked<SimBackend>)>,
}

#[derive(Default)]
struct State {
    now: Duration,
    /// The time in a build that a virtual worker is doing, and the worker's class.
    inside: Option<(Duration, Lane)>,
    workers: Vec<Worker>,
    workshop: Option<Arc<Workshop<SimBackend>>>,
    threaded: bool,
    scripts: BTreeMap<SimTarget, Script>,
    default_script: Script,
    needs_priming: bool,
    lost: bool,
    resources: BTreeMap<u32, Resources>,
    next_executable: u64,
    /// Executables that exist, and whether a draw with them is still their first.
    live: BTreeMap<u64, bool>,
    destroyed: BTreeSet<u64>,
    faults: Vec<String>,
    calls: Calls,
    begun: Vec<Begun>,
}

/// The simulation's world: clock, workers, scripts and counts.
#[derive(Clone)]
pub struct Sim(Arc<Mutex<State>>);

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sim")
            .field("now", &self.state().now)
            .finish_non_exhaustive()
    }
}

impl Sim {
    /// A world with virtual workers.
    #[must_use]
    pub fn new(workers: WorkerCounts) -> Self {
        let classes = [
            (Lane::Required, workers.required),
            (Lane::Demand, workers.demand),
            (Lane::Speculative, workers.speculative),
        ];
        let workers = classes
            .into_iter()
            .flat_map(|(class, count)| (0..count).map(move |_| Worker { class, busy: None }))
            .collect();
        Self(Arc::new(Mutex::new(State {
            workers,
            ..State::default()
        })))
    }

    /// A runtime in this world, stepped.
    #[must_use]
    pub fn runtime(&self, settings: Settings) -> Runtime<SimBackend> {
        let workers = Workers::Stepped(Arc::new(self.clone()));
        let runtime = Runtime::new(self.backend(), settings, workers);
        self.state().workshop = Some(Arc::new(runtime.workshop()));
        runtime
    }

    /// A runtime with worker threads on this world's scripts.
    #[must_use]
    pub fn threaded_runtime(
        &self,
        settings: Settings,
        workers: WorkerCounts,
    ) -> Runtime<SimBackend> {
        self.state().threaded = true;
        Runtime::new(self.backend(), settings, Workers::Threads(workers))
    }

    /// A backend in this world.
    #[must_use]
    pub fn backend(&self) -> SimBackend {
        SimBackend(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How builds of `target` go.
    pub fn script(&self, target: SimTarget, script: Script) {
        self.state().scripts.insert(target, script);
    }

    /// How builds without a script of their own go.
    pub fn script_default(&self, script: Script) {
        self.state().default_script = script;
    }

    /// Whether the driver compiles at the first draw.
    pub fn set_needs_priming(&self, needs: bool) {
        self.state().needs_priming = needs;
    }

    /// What a stream has for its stand-ins; [`Resources::Ready`] unless said.
    pub fn set_resources(&self, stream: u32, resources: Resources) {
        self.state().resources.insert(stream, resources);
    }

    /// From now on everything that is built is lost.
    pub fn lose_device(&self) {
        self.state().lost = true;
    }

    /// How often the runtime called what.
    #[must_use]
    pub fn calls(&self) -> Calls {
        self.state().calls
    }

    /// The builds in the order in which they began.
    #[must_use]
    pub fn begun(&self) -> Vec<Begun> {
        self.state().begun.clone()
    }

    /// Executables that exist.
    #[must_use]
    pub fn live(&self) -> usize {
        self.state().live.len()
    }

    /// What went wrong in a way that a driver would not survive: something freed twice or
    /// used after it was freed.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.state().faults.clone()
    }

    /// The virtual time.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.state().now
    }

    /// Lets this much time pass; the workers work meanwhile.
    pub fn advance(&self, span: Duration) {
        let target = self.state().now.saturating_add(span);
        self.advance_to(target);
    }

    /// Lets time pass until no worker has anything to do, or only what never ends.
    pub fn settle(&self) {
        while self.step(NEVER) {}
    }

    /// Draws with what was selected, as a renderer would.
    pub fn draw(&self, recipe: &SimRecipe, executable: &SimExecutable) -> Drawn {
        let cost = {
            let mut state = self.state();
            match state.live.get_mut(&executable.id) {
                None => {
                    let fault = format!("drawn after it was freed: {executable:?}");
                    state.faults.push(fault);
                    return Drawn::Wrong;
                }
                Some(first) => {
                    let first = std::mem::take(first);
                    let cost = state.script_of(executable.target).first_draw;
                    (first && state.needs_priming).then_some(cost)
                }
            }
        };
        if let Some(cost) = cost {
            self.spend(cost);
        }
        let fits = match executable.target {
            SimTarget::Exact(number) => number == recipe.number,
            SimTarget::Family(family) => recipe.families.iter().any(|(f, _, _)| *f == family),
        };
        if fits {
            // A stand-in's picture is that of the recipe whose data it is given.
            Drawn::Picture(recipe.number)
        } else {
            Drawn::Wrong
        }
    }

    /// Time passes for whoever calls: for a virtual worker its own, else everybody's.
    fn spend(&self, span: Duration) {
        let target = {
            let mut state = self.state();
            if state.threaded {
                drop(state);
                std::thread::yield_now();
                return;
            }
            if let Some((time, _)) = &mut state.inside {
                *time = time.saturating_add(span);
                return;
            }
            state.now.saturating_add(span)
        };
        self.advance_to(target);
    }

    fn advance_to(&self, target: Duration) {
        while self.start_idle() || self.settle_next(target) {}
        let mut state = self.state();
        state.now = state.now.max(target);
    }

    /// Gives every idle worker its next build. `true` if one began.
    fn start_idle(&self) -> bool {
        let (workshop, count) = {
            let state = self.state();
            (state.workshop.clone(), state.workers.len())
        };
        let Some(workshop) = workshop else {
            return false;
        };
        let mut began = false;
        for number in 0..count {
            let class = {
                let mut state = self.state();
                let now = state.now;
                let worker = &state.workers[number];
                if worker.busy.is_some() {
                    continue;
                }
                let class = worker.class;
                state.inside = Some((now, class));
                class
            };
            let worked = workshop.work(class, u32::try_from(number).unwrap_or(u32::MAX));
            let mut state = self.state();
            let end = state.inside.take().map(|(time, _)| time);
            if let (Some(worked), Some(end)) = (worked, end) {
                state.workers[number].busy = Some((end, worked));
                began = true;
            }
        }
        began
    }

    /// Ends the stretch of work that ends first, if it does by `limit`.
    fn settle_next(&self, limit: Duration) -> bool {
        let (workshop, worked) = {
            let mut state = self.state();
            let first = state
                .workers
                .iter()
                .enumerate()
                .filter_map(|(number, worker)| Some((worker.busy.as_ref()?.0, number)))
                .min();
            let Some((end, number)) = first else {
                return false;
            };
            if end > limit || end == NEVER {
                return false;
            }
            state.now = state.now.max(end);
            let worked = state.workers[number].busy.take();
            (state.workshop.clone(), worked)
        };
        if let (Some(workshop), Some((_, worked))) = (workshop, worked) {
            workshop.settle(worked);
        }
        true
    }

    fn make(&self, target: SimTarget) -> SimExecutable {
        let mut state = self.state();
        state.next_executable += 1;
        let id = state.next_executable;
        state.live.insert(id, true);
        SimExecutable { id, target }
    }

    fn begin(&self, target: SimTarget) -> Script {
        let mut state = self.state();
        let (at, class) = match state.inside {
            Some((time, class)) => (time, Some(class)),
            None => (state.now, None),
        };
        state.begun.push(Begun { target, at, class });
        state.script_of(target)
    }

    /// One of the scripted failures, if there are any left.
    fn failure(&self, target: SimTarget) -> Option<BuildError> {
        let mut state = self.state();
        if state.lost {
            return Some(BuildError::DeviceLost);
        }
        let mut script = state.script_of(target);
        if script.failures == 0 {
            return None;
        }
        if script.failures != u32::MAX {
            script.failures -= 1;
        }
        let error = script.error.clone();
        state.scripts.insert(target, script);
        Some(error)
    }

    fn second_half(
        &self,
        target: SimTarget,
        script: &Script,
        log: &mut PhaseLog,
    ) -> Result<SimExecutable, BuildError> {
        let span = if script.hangs { NEVER } else { script.pipeline };
        log.time(Phase::Pipeline, || self.spend(span));
        if !script.fails_in_shaders
            && let Some(error) = self.failure(target)
        {
            if script.panics {
                // As a panic in a driver binding would unwind, without the message of the hook.
                std::panic::resume_unwind(Box::new("scripted panic"));
            }
            return Err(error);
        }
        if self.state().lost {
            return Err(BuildError::DeviceLost);
        }
        Ok(self.make(target))
    }
}

impl State {
    fn script_of(&self, target: SimTarget) -> Script {
        self.scripts
            .get(&target)
            .unwrap_or(&self.default_script)
            .clone()
    }
}

impl Clock for Sim {
    fn now(&self) -> Duration {
        let state = self.state();
        state.inside.map_or(state.now, |(time, _)| time)
    }
}

impl Stepper for Sim {
    fn step(&self, limit: Duration) -> bool {
        if self.start_idle() || self.settle_next(limit) {
            return true;
        }
        let mut state = self.state();
        let busy = state.workers.iter().any(|worker| worker.busy.is_some());
        if busy && limit < NEVER && state.now < limit {
            state.now = limit;
            return true;
        }
        false
    }
}

/// The backend of a [`Sim`].
#[derive(Clone, Debug)]
pub struct SimBackend(Sim);

impl SimBackend {
    /// The world it belongs to.
    #[must_use]
    pub fn sim(&self) -> &Sim {
        &self.0
    }

    fn target(recipe: &SimRecipe, want: Want) -> SimTarget {
        match want {
            Want::Exact => SimTarget::Exact(recipe.number),
            Want::StandIn(key) => recipe
                .families
                .iter()
                .find(|(family, _, _)| SimRecipe::family_key(*family) == key)
                .map_or(SimTarget::Exact(recipe.number), |(family, _, _)| {
                    SimTarget::Family(*family)
                }),
        }
    }
}

impl Backend for SimBackend {
    type Recipe = SimRecipe;
    type Shaders = u64;
    type Executable = SimExecutable;

    fn name(&self, recipe: &SimRecipe) -> String {
        self.0.state().calls.name += 1;
        format!("recipe {}", recipe.number)
    }

    fn candidates(&self, recipe: &SimRecipe) -> Candidates {
        self.0.state().calls.candidates += 1;
        Candidates {
            admitted: recipe
                .families
                .iter()
                .map(|(family, cost, mechanism)| Candidate {
                    family: SimRecipe::family_key(*family),
                    cost: *cost,
                    mechanism: *mechanism,
                })
                .collect(),
            rejected: recipe.rejected.iter().copied().collect(),
        }
    }

    fn can_link(&self, recipe: &SimRecipe) -> bool {
        self.0.state().calls.can_link += 1;
        recipe.linkable
    }

    fn fast_link(
        &self,
        recipe: &SimRecipe,
        log: &mut PhaseLog,
    ) -> Result<SimExecutable, BuildError> {
        let target = SimTarget::Exact(recipe.number);
        let script = {
            let mut state = self.0.state();
            state.calls.fast_link += 1;
            state.script_of(target)
        };
        log.time(Phase::Link, || self.0.spend(script.link));
        match script.link_fails {
            Some(error) => Err(error),
            None => Ok(self.0.make(target)),
        }
    }

    fn archived(&self, recipe: &SimRecipe, want: Want) -> bool {
        let mut state = self.0.state();
        state.calls.archived += 1;
        state.script_of(Self::target(recipe, want)).archived
    }

    fn load(
        &self,
        recipe: &SimRecipe,
        want: Want,
        log: &mut PhaseLog,
    ) -> Result<Option<SimExecutable>, BuildError> {
        let target = Self::target(recipe, want);
        let script = self.0.begin(target);
        self.0.state().calls.load += 1;
        log.time(Phase::ArchiveLoad, || self.0.spend(script.load));
        match script.load_fails {
            Some(error) => Err(error),
            None => Ok(Some(self.0.make(target))),
        }
    }

    fn build_shaders(&self, recipe: &SimRecipe, log: &mut PhaseLog) -> Result<u64, BuildError> {
        let target = SimTarget::Exact(recipe.number);
        let script = self.0.begin(target);
        self.0.state().calls.build_shaders += 1;
        log.time(Phase::SpirV, || self.0.spend(script.shaders));
        if script.fails_in_shaders
            && let Some(error) = self.0.failure(target)
        {
            return Err(error);
        }
        Ok(recipe.number)
    }

    fn build_exact(
        &self,
        recipe: &SimRecipe,
        shaders: &u64,
        log: &mut PhaseLog,
    ) -> Result<SimExecutable, BuildError> {
        let target = SimTarget::Exact(*shaders);
        let script = {
            let mut state = self.0.state();
            state.calls.build_exact += 1;
            if *shaders != recipe.number {
                let fault = format!("shaders of {shaders} for recipe {}", recipe.number);
                state.faults.push(fault);
            }
            state.script_of(target)
        };
        self.0.second_half(target, &script, log)
    }

    fn build_stand_in(
        &self,
        recipe: &SimRecipe,
        family: FamilyKey,
        log: &mut PhaseLog,
    ) -> Result<SimExecutable, BuildError> {
        let target = Self::target(recipe, Want::StandIn(family));
        let script = self.0.begin(target);
        self.0.state().calls.build_stand_in += 1;
        self.0.second_half(target, &script, log)
    }

    fn needs_priming(&self) -> bool {
        self.0.state().needs_priming
    }

    fn prime(
        &self,
        _recipe: &SimRecipe,
        executable: &SimExecutable,
        log: &mut PhaseLog,
    ) -> Result<(), BuildError> {
        let script = {
            let mut state = self.0.state();
            state.calls.prime += 1;
            state.live.insert(executable.id, false);
            state.script_of(executable.target)
        };
        log.time(Phase::FirstDraw, || self.0.spend(script.first_draw));
        Ok(())
    }

    fn resources(&self, stream: u32, _executable: &SimExecutable) -> Resources {
        let mut state = self.0.state();
        state.calls.resources += 1;
        state
            .resources
            .get(&stream)
            .copied()
            .unwrap_or(Resources::Ready)
    }

    fn destroy(&self, executable: SimExecutable) {
        let mut state = self.0.state();
        state.calls.destroy += 1;
        if state.live.remove(&executable.id).is_none() || !state.destroyed.insert(executable.id) {
            let fault = format!("freed twice: {executable:?}");
            state.faults.push(fault);
        }
    }
}
