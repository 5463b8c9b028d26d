//! A simulated compiler on a virtual clock: order, waits and failures of asynchronous pipelines
//! can be had without a GPU, and the same ones again.
//!
//! Everything happens on one thread. Time passes when a thread binds and waits, and when a test
//! says so.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::feature::Pipeline;
use super::pipelines::{
    Built, Compiler, Kind, Pipelines, Pool, PoolSize, Shop, Sink, Source, Stretch, Worker,
};
use crate::backend::BuildError;
use crate::clock::{Clock, Stepper};

/// How a build goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// How long it takes.
    pub takes: Duration,
    /// What the compiler guesses, in any unit.
    pub cost: u64,
    /// Where its result comes from.
    pub source: Source,
    /// Why it fails, if it does.
    pub fails: Option<String>,
    /// Where the pipeline is bound.
    pub kind: Kind,
}

impl Default for Script {
    /// A compute kernel that compiles in 10 ms.
    fn default() -> Self {
        Self {
            takes: Duration::from_millis(10),
            cost: 1,
            source: Source::Compiled,
            fails: None,
            kind: Kind::Compute,
        }
    }
}

/// A build as it was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// The pipeline's name.
    pub name: String,
    /// When.
    pub at: Duration,
    /// By whom; none: on a thread that binds.
    pub by: Option<Worker>,
}

/// A pipeline of the simulation.
#[derive(Debug)]
pub struct Executable {
    name: String,
    live: Arc<AtomicUsize>,
}

impl Executable {
    /// The name of the recipe that it was made of.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The longest that anything takes; a build that hangs takes for ever.
pub const NEVER: Duration = Duration::MAX;

struct Desk {
    worker: Worker,
    busy: Option<(Duration, Stretch<Simulated>)>,
}

#[derive(Default)]
struct State {
    now: Duration,
    /// The time in a build that a virtual worker is doing, and the worker's class.
    inside: Option<(Duration, Worker)>,
    desks: Vec<Desk>,
    shop: Option<Arc<Shop<Simulated>>>,
    scripts: BTreeMap<String, Script>,
    begun: Vec<Begun>,
    persisted: usize,
}

/// The simulation's world: clock, workers and scripts.
#[derive(Clone)]
pub struct World {
    state: Arc<Mutex<State>>,
    live: Arc<AtomicUsize>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("now", &self.state().now)
            .finish_non_exhaustive()
    }
}

impl World {
    /// A world with these virtual workers.
    #[must_use]
    pub fn new(size: PoolSize) -> Self {
        let reserved = std::iter::repeat_n(Worker::Reserved, size.reserved);
        let shared = std::iter::repeat_n(Worker::Shared, size.shared);
        let desks = reserved
            .chain(shared)
            .map(|worker| Desk { worker, busy: None })
            .collect();
        Self {
            state: Arc::new(Mutex::new(State {
                desks,
                ..State::default()
            })),
            live: Arc::default(),
        }
    }

    /// Pipelines that this world's workers build.
    #[must_use]
    pub fn pipelines(&self, sink: Option<Sink>) -> Pipelines<Simulated> {
        let pool = Pool::Stepped(Arc::new(self.clone()));
        let pipelines = Pipelines::new(Simulated(self.clone()), pool, sink);
        self.state().shop = Some(Arc::new(pipelines.shop()));
        pipelines
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the builds of this pipeline go; [`Script::default`] unless said.
    pub fn script(&self, name: impl Into<String>, script: Script) {
        self.state().scripts.insert(name.into(), script);
    }

    /// The builds in the order in which they began.
    #[must_use]
    pub fn begun(&self) -> Vec<Begun> {
        self.state().begun.clone()
    }

    /// Executables that exist.
    #[must_use]
    pub fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    /// How often what was built was written.
    #[must_use]
    pub fn persisted(&self) -> usize {
        self.state().persisted
    }

    /// The virtual time.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.state().now
    }

    /// Lets this much time pass; the workers work meanwhile.
    pub fn advance(&self, span: Duration) {
        let target = self.state().now.saturating_add(span);
        while self.start_idle() || self.settle_next(target) {}
        let mut state = self.state();
        state.now = state.now.max(target);
    }

    /// Lets time pass until no worker has anything to do, or only what never ends.
    pub fn settle(&self) {
        while self.step(NEVER) {}
    }

    /// Gives every idle worker its next build. `true` if one began.
    fn start_idle(&self) -> bool {
        let (shop, count) = {
            let state = self.state();
            (state.shop.clone(), state.desks.len())
        };
        let Some(shop) = shop else {
            return false;
        };
        let mut began = false;
        for number in 0..count {
            let worker = {
                let mut state = self.state();
                let desk = &state.desks[number];
                if desk.busy.is_some() {
                    continue;
                }
                let worker = desk.worker;
                state.inside = Some((state.now, worker));
                worker
            };
            let stretch = shop.work(worker);
            let mut state = self.state();
            let end = state.inside.take().map(|(time, _)| time);
            if let (Some(stretch), Some(end)) = (stretch, end) {
                state.desks[number].busy = Some((end, stretch));
                began = true;
            }
        }
        began
    }

    /// Ends the build that ends first, if it does by `limit`.
    fn settle_next(&self, limit: Duration) -> bool {
        let (shop, done) = {
            let mut state = self.state();
            let first = state
                .desks
                .iter()
                .enumerate()
                .filter_map(|(number, desk)| Some((desk.busy.as_ref()?.0, number)))
                .min();
            let Some((end, number)) = first else {
                return false;
            };
            if end > limit || end == NEVER {
                return false;
            }
            state.now = state.now.max(end);
            let done = state.desks[number].busy.take();
            (state.shop.clone(), done)
        };
        if let (Some(shop), Some((_, stretch))) = (shop, done) {
            shop.settle(stretch);
        }
        true
    }
}

impl Clock for World {
    fn now(&self) -> Duration {
        let state = self.state();
        state.inside.map_or(state.now, |(time, _)| time)
    }
}

impl Stepper for World {
    fn step(&self, limit: Duration) -> bool {
        if self.start_idle() || self.settle_next(limit) {
            return true;
        }
        let mut state = self.state();
        let busy = state.desks.iter().any(|desk| desk.busy.is_some());
        if busy && limit < NEVER && state.now < limit {
            state.now = limit;
            return true;
        }
        false
    }
}

/// The compiler of a [`World`]. A recipe is the pipeline's name.
#[derive(Debug, Clone)]
pub struct Simulated(World);

impl Simulated {
    fn script(&self, name: &str) -> Script {
        self.0
            .state()
            .scripts
            .get(name)
            .cloned()
            .unwrap_or_default()
    }
}

impl Compiler for Simulated {
    type Recipe = String;
    type Executable = Executable;

    fn declared(&self, pipeline: &Pipeline) -> Result<String, BuildError> {
        Ok(pipeline.name().to_owned())
    }

    fn kind(&self, recipe: &String) -> Kind {
        self.script(recipe).kind
    }

    fn cost(&self, recipe: &String) -> u64 {
        self.script(recipe).cost
    }

    fn build(&self, recipe: &String) -> Result<Built<Executable>, BuildError> {
        let script = self.script(recipe);
        let inside = {
            let mut state = self.0.state();
            let (at, by) = match state.inside {
                Some((time, worker)) => (time, Some(worker)),
                None => (state.now, None),
            };
            state.begun.push(Begun {
                name: recipe.clone(),
                at,
                by,
            });
            if let Some((time, _)) = &mut state.inside {
                *time = time.saturating_add(script.takes);
            }
            by.is_some()
        };
        if !inside {
            self.0.advance(script.takes);
        }
        if let Some(reason) = script.fails {
            return Err(BuildError::Permanent(reason.into()));
        }
        self.0.live.fetch_add(1, Ordering::Relaxed);
        Ok(Built {
            executable: Executable {
                name: recipe.clone(),
                live: self.0.live.clone(),
            },
            source: script.source,
        })
    }

    fn persist(&self) -> Result<(), BuildError> {
        self.0.state().persisted += 1;
        Ok(())
    }
}
