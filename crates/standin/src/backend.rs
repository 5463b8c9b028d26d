//! What the runtime asks of a graphics API. Everything else in this crate is the same for all
//! of them.

use std::sync::Arc;

use crate::admission::Candidates;
use crate::key::FamilyKey;
use crate::trace::PhaseLog;

/// Builds, loads and destroys pipelines.
///
/// The functions that build run on worker threads or on the thread of a draw that waits, several
/// at once. What they get is owned by the job, so nothing that the caller frees or overwrites
/// after it handed the recipe over is seen here.
pub trait Backend: Send + Sync + Sized + 'static {
    /// An owned description of one complete pipeline. Two recipes are equal only if the
    /// pipelines made of them are interchangeable.
    type Recipe: PartialEq + Send + Sync + 'static;
    /// What comes between source and pipeline: modules, interfaces, layouts.
    type Shaders: Send + Sync + 'static;
    /// A complete pipeline, and what a draw must supply with it. Nothing less is ever
    /// handed to the runtime as one.
    type Executable: Send + Sync + 'static;

    /// How a person calls this pipeline, for logs and traces.
    fn name(&self, recipe: &Self::Recipe) -> String;

    /// The stand-in families that are proven to draw this recipe's picture, and for those that
    /// are not, why. Asked once for each recipe.
    fn candidates(&self, recipe: &Self::Recipe) -> Candidates;

    /// Whether every part for a fast link of this recipe is in memory. No side effects.
    fn can_link(&self, recipe: &Self::Recipe) -> bool;

    /// Links the exact state from parts without optimisation: microseconds, no I/O.
    /// [`BuildError::CompileRequired`] says that the parts were not enough after all.
    fn fast_link(
        &self,
        recipe: &Self::Recipe,
        log: &mut PhaseLog,
    ) -> Result<Self::Executable, BuildError>;

    /// Whether the archive has it. No side effects, no I/O beyond an index in memory.
    fn archived(&self, recipe: &Self::Recipe, want: Want) -> bool;

    /// Loads it from the archive without compiling; `None` when it is not there, stale or
    /// damaged.
    fn load(
        &self,
        recipe: &Self::Recipe,
        want: Want,
        log: &mut PhaseLog,
    ) -> Result<Option<Self::Executable>, BuildError>;

    /// The first half of an exact pipeline's build: everything up to the layout.
    fn build_shaders(
        &self,
        recipe: &Self::Recipe,
        log: &mut PhaseLog,
    ) -> Result<Self::Shaders, BuildError>;

    /// The second half: the complete, optimised pipeline.
    fn build_exact(
        &self,
        recipe: &Self::Recipe,
        shaders: &Self::Shaders,
        log: &mut PhaseLog,
    ) -> Result<Self::Executable, BuildError>;

    /// Builds the stand-in of this family. It serves every recipe of the family.
    fn build_stand_in(
        &self,
        recipe: &Self::Recipe,
        family: FamilyKey,
        log: &mut PhaseLog,
    ) -> Result<Self::Executable, BuildError>;

    /// Whether this driver compiles at a pipeline's first draw rather than at its creation.
    fn needs_priming(&self) -> bool;

    /// Draws once with it where nobody sees it, so that the first real draw does not compile.
    fn prime(
        &self,
        recipe: &Self::Recipe,
        executable: &Self::Executable,
        log: &mut PhaseLog,
    ) -> Result<(), BuildError>;

    /// Whether `stream` has what a draw with this stand-in needs besides the pipeline:
    /// descriptors, room for its control data.
    fn resources(&self, stream: u32, executable: &Self::Executable) -> Resources;

    /// Frees it. No frame that used it is still in flight.
    fn destroy(&self, executable: Self::Executable);
}

/// Which pipeline of a recipe is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// The optimised pipeline of exactly this recipe.
    Exact,
    /// The stand-in of this family.
    StandIn(FamilyKey),
}

/// Why there is no pipeline. Cheap to clone: several draws may wait for one build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The driver would have to compile and was told not to. A miss, whatever handle came
    /// with it.
    #[error("the driver would have to compile")]
    CompileRequired,
    /// May work later: memory, a busy file.
    #[error("for now: {0}")]
    Transient(Arc<str>),
    /// Will not work later either.
    #[error("{0}")]
    Permanent(Arc<str>),
    /// The device is gone, and everything made on it.
    #[error("the device is lost")]
    DeviceLost,
    /// The build panicked; its worker lives on.
    #[error("the build panicked: {0}")]
    Panicked(Arc<str>),
    /// The runtime shut down before the build began.
    #[error("the runtime is shutting down")]
    ShuttingDown,
}

impl BuildError {
    /// Whether trying again is pointless.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Permanent(_) | Self::DeviceLost)
    }
}

/// What a recording thread has for a draw besides the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resources {
    /// Enough.
    Ready,
    /// A pool or ring is exhausted and will serve again after a submission or reset. The draw
    /// stays on its route; the caller rolls over first.
    NeedsRollover,
    /// This stand-in cannot be used here at all.
    Unavailable,
}
