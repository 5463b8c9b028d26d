//! Pipelines that are created asynchronously.
//!
//! A create call queues the build and returns a [`Handle`] at once, however long the queue is.
//! The handle's [`Status`] is pending, ready or failed. Whoever binds a pending pipeline waits
//! for it: a build that no worker has begun runs on the binding thread instead of waiting in
//! line, and every wait is counted and timed. A failed pipeline binds as nothing. Releasing one
//! that builds never blocks: the build owns what it needs and frees its result.
//!
//! Builds run on a pool over the runtime's lane scheduler. What a scene, the start or a settings
//! change waits for goes ahead of what is built on the chance that it is wanted, and some
//! workers are reserved for the former, so that a build that cannot be interrupted never stands
//! in its way.

mod pool;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use self::pool::{Cell, Core, Job};
pub use self::pool::{Pool, PoolSize, Shop, Stretch, Worker};
use super::feature::{Builder, Pipeline, Status};
use super::readiness::{RELEASED, Readiness};
use crate::backend::BuildError;
use crate::clock::{Clock, SystemClock};
use crate::lanes::Lane;

/// Turns owned descriptions into executables. The functions run on several threads at once.
pub trait Compiler: Send + Sync + 'static {
    /// An owned description of one pipeline: nothing that the caller frees or overwrites after
    /// creation is seen by the build.
    type Recipe: Send + 'static;
    /// A complete pipeline, freed by dropping it.
    type Executable: Send + Sync + 'static;

    /// The recipe of a pipeline that the engine declares.
    ///
    /// # Errors
    /// The declaration cannot be followed, for instance because a shader is not there. The
    /// pipeline is then created as failed.
    fn declared(&self, pipeline: &Pipeline) -> Result<Self::Recipe, BuildError>;

    /// Where it is bound.
    fn kind(&self, recipe: &Self::Recipe) -> Kind;

    /// A guess at how long its build takes, in any unit; the words of its shaders will do. Of
    /// a set that is created together the longest begins first.
    fn cost(&self, recipe: &Self::Recipe) -> u64;

    /// Builds it.
    ///
    /// # Errors
    /// It cannot be built. It is not tried again.
    fn build(&self, recipe: &Self::Recipe) -> Result<Built<Self::Executable>, BuildError>;

    /// Writes to disk what was built and not yet kept.
    ///
    /// # Errors
    /// It could not be written; nothing but the next start's speed is lost.
    fn persist(&self) -> Result<(), BuildError>;
}

/// Where a pipeline is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Draws use it.
    Graphics,
    /// Dispatches use it.
    Compute,
}

/// What a build came to.
#[derive(Debug)]
pub struct Built<E> {
    /// The pipeline.
    pub executable: E,
    /// Where it came from.
    pub source: Source,
}

/// Where an executable came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The driver compiled it.
    Compiled,
    /// It was there from an earlier run.
    Cache,
}

/// How much a build is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// A scene, the start or a settings change waits for it.
    Awaited,
    /// Nobody asked yet: warm-up.
    Ahead,
}

impl Urgency {
    fn lane(self) -> Lane {
        match self {
            Self::Awaited => Lane::Required,
            Self::Ahead => Lane::Demand,
        }
    }
}

/// A pipeline that was created. One that was released names nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    index: u32,
    generation: u32,
}

/// What a bind came to.
#[derive(Debug)]
pub enum Bound<E> {
    /// This pipeline. Hold it until the GPU is done with what was recorded with it.
    Pipeline(Arc<E>),
    /// Nothing: it failed or was released. Draws and dispatches that follow are skipped.
    Nothing,
}

/// Something worth a line in a log. `Display` is that line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A pipeline cannot be built: said once, whoever binds it later.
    Failed {
        /// The pipeline's name.
        name: Arc<str>,
        /// Why.
        reason: Arc<str>,
    },
    /// What was built could not be written to disk.
    NotKept {
        /// Why.
        reason: Arc<str>,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { name, reason } => write!(
                f,
                "pipeline {name:?} cannot be built: {reason}; draws and dispatches with it are skipped"
            ),
            Self::NotKept { reason } => write!(f, "built pipelines were not written: {reason}"),
        }
    }
}

/// Takes notices, on whatever thread has one. Must not call back into the pipelines.
pub type Sink = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Totals since the pipelines were opened. `Display` is the line that a game logs when its
/// cover lifts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Pipelines built, those from the cache among them.
    pub built: u64,
    /// Those that no compiler ran for.
    pub from_cache: u64,
    /// Those that cannot be built.
    pub failed: u64,
    /// Queued or building.
    pub building: u64,
    /// Binds that waited for a build, or ran it.
    pub waits: u64,
    /// How long they took together.
    pub waited: Duration,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pipelines: {} built ({} from cache, {} failed, {} still building); \
             {} binds waited {:.1} ms",
            self.built,
            self.from_cache,
            self.failed,
            self.building,
            self.waits,
            self.waited.as_secs_f64() * 1e3,
        )
    }
}

/// A pipeline that was given up because it cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Its name.
    pub name: Arc<str>,
    /// Why it cannot be built.
    pub reason: Arc<str>,
}

/// An outcome that is set once.
type Once<E> = OnceLock<Result<Arc<E>, Arc<str>>>;

struct Slot<E> {
    generation: u32,
    cell: Option<Arc<Cell<E>>>,
}

struct Table<E> {
    /// Names the next build in the scheduler.
    serial: u32,
    slots: Vec<Slot<E>>,
    free: Vec<u32>,
    names: BTreeMap<Arc<str>, Handle>,
}

/// The pipelines of one device.
pub struct Pipelines<C: Compiler> {
    core: Arc<Core<C>>,
    table: RwLock<Table<C::Executable>>,
    threads: Vec<JoinHandle<()>>,
}

impl<C: Compiler> fmt::Debug for Pipelines<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipelines")
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}

impl<C: Compiler> Pipelines<C> {
    /// Opens them, with nothing created.
    pub fn new(compiler: C, pool: Pool, sink: Option<Sink>) -> Self {
        let (clock, stepper, size): (Arc<dyn Clock>, _, _) = match pool {
            Pool::Threads(size) => (Arc::new(SystemClock::new()), None, Some(size)),
            Pool::Stepped(stepper) => (stepper.clone(), Some(stepper), None),
        };
        let core = Arc::new(Core::new(compiler, clock, stepper, sink));
        let threads = size.map_or_else(Vec::new, |size| pool::start(&core, size));
        Self {
            core,
            table: RwLock::new(Table {
                serial: 0,
                slots: Vec::new(),
                free: Vec::new(),
                names: BTreeMap::new(),
            }),
            threads,
        }
    }

    /// The builds, for whoever steps them.
    #[must_use]
    pub fn shop(&self) -> Shop<C> {
        Shop::new(&self.core)
    }

    /// Who compiles.
    #[must_use]
    pub fn compiler(&self) -> &C {
        &self.core.compiler
    }

    /// Queues a build and returns at once. The name is the pipeline's identity: creating it
    /// again gives the one that is there, and raises its urgency if it is pending.
    pub fn create(&self, name: &str, recipe: C::Recipe, urgency: Urgency) -> Handle {
        self.create_with(name, urgency, || Ok(recipe))
    }

    /// Queues the builds of a set, the longest first, and returns at once. The handles are in
    /// the order of the set.
    pub fn create_set(&self, set: Vec<(String, C::Recipe)>, urgency: Urgency) -> Vec<Handle> {
        let costs: Vec<u64> = set
            .iter()
            .map(|(_, recipe)| self.core.compiler.cost(recipe))
            .collect();
        let mut recipes: Vec<_> = set.into_iter().map(Some).collect();
        let mut handles = BTreeMap::new();
        for index in longest_first(&costs) {
            if let Some((name, recipe)) = recipes[index].take() {
                handles.insert(index, self.create(&name, recipe, urgency));
            }
        }
        handles.into_values().collect()
    }

    fn create_with(
        &self,
        name: &str,
        urgency: Urgency,
        recipe: impl FnOnce() -> Result<C::Recipe, BuildError>,
    ) -> Handle {
        if let Some(handle) = self.again(&self.read(), name, urgency) {
            return handle;
        }
        // It may read a file: not under the lock.
        let recipe = recipe();
        let kind = match &recipe {
            Ok(recipe) => self.core.compiler.kind(recipe),
            Err(_) => Kind::Graphics,
        };
        let mut table = self.write();
        if let Some(handle) = self.again(&table, name, urgency) {
            return handle;
        }
        let name: Arc<str> = name.into();
        let cell = Arc::new(Cell::new(table.serial(), name.clone(), kind));
        let handle = table.insert(name, cell.clone());
        self.core.expect();
        match recipe {
            // Queued under the lock: whoever finds the handle finds its build.
            Ok(recipe) => self.core.queue(urgency, Job::new(cell, recipe)),
            Err(error) => {
                drop(table);
                self.core.publish(&cell, Err(error));
            }
        }
        handle
    }

    /// The pipeline of this name, if there is one; pending, it is wanted this much now.
    fn again(&self, table: &Table<C::Executable>, name: &str, urgency: Urgency) -> Option<Handle> {
        let handle = table.names.get(name).copied()?;
        if let Some(cell) = table.cell(handle)
            && cell.outcome().is_none()
        {
            self.core.raise(cell, urgency);
        }
        Some(handle)
    }

    /// The pipeline's status now. One that was released is failed.
    #[must_use]
    pub fn status(&self, handle: Handle) -> Status {
        match self.read().cell(handle).map(|cell| cell.outcome().cloned()) {
            Some(None) => Status::Pending,
            Some(Some(Ok(_))) => Status::Ready,
            Some(Some(Err(reason))) => Status::Failed(reason),
            None => Status::Failed(RELEASED.into()),
        }
    }

    /// When it is built, for a scene to wait for. One that was released is failed.
    #[must_use]
    pub fn readiness(&self, handle: Handle) -> Readiness {
        match self.read().cell(handle) {
            Some(cell) => cell.readiness().clone(),
            None => Readiness::new().1,
        }
    }

    /// The pipeline for recording. Waits while it is pending: a build that no worker has begun
    /// runs here.
    pub fn bind(&self, handle: Handle) -> Bound<C::Executable> {
        self.bind_with_kind(handle).1
    }

    pub(super) fn bind_with_kind(&self, handle: Handle) -> (Option<Kind>, Bound<C::Executable>) {
        let Some(cell) = self.read().cell(handle).cloned() else {
            return (None, Bound::Nothing);
        };
        if cell.outcome().is_none() {
            self.core.wait(&cell);
        }
        let bound = match cell.outcome() {
            Some(Ok(executable)) => Bound::Pipeline(executable.clone()),
            Some(Err(_)) | None => Bound::Nothing,
        };
        (Some(cell.kind()), bound)
    }

    /// Gives a pipeline up. Never blocks: a build that runs goes on, and what it makes is
    /// freed when it ends. What was bound before lives as long as it is held.
    pub fn release(&self, handle: Handle) {
        let Some(cell) = self.write().remove(handle) else {
            return;
        };
        cell.give_up();
        self.core.cancel(&cell);
    }

    /// Takes the pipelines that cannot be built out of the caller's list and gives them up.
    pub fn drop_failed(&self, handles: &mut Vec<Handle>) -> Vec<Dropped> {
        let mut dropped = Vec::new();
        handles.retain(|handle| {
            let failure = self.read().cell(*handle).and_then(|cell| {
                let reason = cell.outcome()?.as_ref().err()?;
                Some(Dropped {
                    name: cell.name().clone(),
                    reason: reason.clone(),
                })
            });
            let keep = failure.is_none();
            if !keep {
                self.release(*handle);
            }
            dropped.extend(failure);
            keep
        });
        dropped
    }

    /// Totals since the pipelines were opened.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.core.totals()
    }

    /// A builder for features that are awaited: the start, a settings change, a scene.
    pub fn awaited(&self) -> View<'_, C> {
        View {
            pipelines: self,
            urgency: Urgency::Awaited,
        }
    }

    /// A builder for warm-up.
    pub fn ahead(&self) -> View<'_, C> {
        View {
            pipelines: self,
            urgency: Urgency::Ahead,
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Table<C::Executable>> {
        self.table
            .read()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table<C::Executable>> {
        self.table
            .write()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl<C: Compiler> Drop for Pipelines<C> {
    /// What has not begun never will; what runs is waited for.
    fn drop(&mut self) {
        self.core.stop();
        for thread in self.threads.drain(..) {
            // A worker catches the panics of builds; there is nothing else to learn from it.
            let _ended = thread.join();
        }
    }
}

/// The indices of a set, the longest build first; equal ones in their order.
fn longest_first(costs: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(costs[*index]));
    order
}

impl<E> Table<E> {
    fn cell(&self, handle: Handle) -> Option<&Arc<Cell<E>>> {
        let slot = self.slots.get(handle.index as usize)?;
        (slot.generation == handle.generation)
            .then_some(slot.cell.as_ref())
            .flatten()
    }

    /// Unlike a slot it is not used again, so that what is left over from a released pipeline
    /// never meets the build of another.
    fn serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }

    fn insert(&mut self, name: Arc<str>, cell: Arc<Cell<E>>) -> Handle {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 0,
                cell: None,
            });
            // More pipelines than this exceed any address space.
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let slot = &mut self.slots[index as usize];
        slot.cell = Some(cell);
        let handle = Handle {
            index,
            generation: slot.generation,
        };
        self.names.insert(name, handle);
        handle
    }

    fn remove(&mut self, handle: Handle) -> Option<Arc<Cell<E>>> {
        let slot = self.slots.get_mut(handle.index as usize)?;
        if slot.generation != handle.generation {
            return None;
        }
        let cell = slot.cell.take()?;
        self.names.remove(cell.name());
        // A slot whose generations are used up is left alone.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(handle.index);
        }
        Some(cell)
    }
}

/// The pipelines as features and warm-up see them, at one urgency.
#[derive(Debug)]
pub struct View<'a, C: Compiler> {
    pipelines: &'a Pipelines<C>,
    urgency: Urgency,
}

impl<C: Compiler> Builder for View<'_, C> {
    type Handle = Handle;

    fn create(&mut self, pipeline: &Pipeline) -> Handle {
        let compiler = self.pipelines.compiler();
        self.pipelines
            .create_with(pipeline.name(), self.urgency, || {
                compiler.declared(pipeline)
            })
    }

    fn create_all(&mut self, pipelines: &[&Pipeline]) -> Vec<Handle> {
        let compiler = self.pipelines.compiler();
        let mut recipes: Vec<_> = pipelines
            .iter()
            .map(|pipeline| Some(compiler.declared(pipeline)))
            .collect();
        let costs: Vec<u64> = recipes
            .iter()
            .map(|recipe| match recipe {
                Some(Ok(recipe)) => compiler.cost(recipe),
                _ => 0,
            })
            .collect();
        let mut handles = BTreeMap::new();
        for index in longest_first(&costs) {
            if let Some(recipe) = recipes[index].take() {
                let name = pipelines[index].name();
                let handle = self.pipelines.create_with(name, self.urgency, || recipe);
                handles.insert(index, handle);
            }
        }
        handles.into_values().collect()
    }

    fn status(&self, handle: Handle) -> Status {
        self.pipelines.status(handle)
    }

    fn in_flight(&self) -> usize {
        usize::try_from(self.pipelines.totals().building).unwrap_or(usize::MAX)
    }

    fn release(&mut self, handle: Handle) {
        self.pipelines.release(handle);
    }

    fn persist(&mut self) {
        self.pipelines.core.persist();
    }
}
