//! A backend that costs nothing, and runtimes in the states that the benches need.
#![allow(dead_code, reason = "each bench uses its part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a bench"
)]

use std::sync::Arc;
use std::time::Duration;

use standin::key::{ExactKey, FamilyKey};
use standin::trace::PhaseLog;
use standin::{
    AdoptionBudget, Backend, BuildError, Candidate, Candidates, Clock, Epochs, FirstDraw, Lane,
    Mechanism, PipelineId, Resources, Runtime, Settings, Stepper, SystemClock, Want, Workers,
};

/// As many recipes as the table of speeds asks for.
pub(crate) const RECIPES: usize = 16_384;

/// A pipeline as a graphics API has it: a handful of handles.
#[derive(Debug)]
pub(crate) struct Handles {
    pub(crate) pipeline: u64,
    pub(crate) layout: u64,
    pub(crate) flags: u64,
}

#[derive(Debug)]
pub(crate) struct Bare;

impl Backend for Bare {
    type Recipe = u64;
    type Shaders = ();
    type Executable = Handles;

    fn name(&self, recipe: &u64) -> String {
        recipe.to_string()
    }
    fn candidates(&self, recipe: &u64) -> Candidates {
        // Recipes past the first ones belong to one family.
        let admitted = (*recipe >= RECIPES as u64).then_some(Candidate {
            family: FamilyKey::from_u128(1),
            cost: 1,
            mechanism: Mechanism::Pulled,
        });
        Candidates {
            admitted: admitted.into_iter().collect(),
            ..Candidates::default()
        }
    }
    fn can_link(&self, _: &u64) -> bool {
        false
    }
    fn fast_link(&self, _: &u64, _: &mut PhaseLog) -> Result<Handles, BuildError> {
        Err(BuildError::CompileRequired)
    }
    fn archived(&self, _: &u64, _: Want) -> bool {
        false
    }
    fn load(&self, _: &u64, _: Want, _: &mut PhaseLog) -> Result<Option<Handles>, BuildError> {
        Ok(None)
    }
    fn build_shaders(&self, _: &u64, _: &mut PhaseLog) -> Result<(), BuildError> {
        Ok(())
    }
    fn build_exact(&self, recipe: &u64, (): &(), _: &mut PhaseLog) -> Result<Handles, BuildError> {
        Ok(Handles {
            pipeline: *recipe,
            layout: 1,
            flags: 0,
        })
    }
    fn build_stand_in(
        &self,
        _: &u64,
        _: FamilyKey,
        _: &mut PhaseLog,
    ) -> Result<Handles, BuildError> {
        Ok(Handles {
            pipeline: u64::MAX,
            layout: 1,
            flags: 1,
        })
    }
    fn needs_priming(&self) -> bool {
        false
    }
    fn prime(&self, _: &u64, _: &Handles, _: &mut PhaseLog) -> Result<(), BuildError> {
        Ok(())
    }
    fn resources(&self, _: u32, _: &Handles) -> Resources {
        Resources::Ready
    }
    fn destroy(&self, _: Handles) {}
}

/// A key whose bits are spread like a hash's.
pub(crate) fn key(number: u64) -> ExactKey {
    let mut low = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    low = (low ^ (low >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    low = (low ^ (low >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ExactKey::from_u128(u128::from(low ^ (low >> 31)) << 64 | u128::from(low ^ (low >> 29)))
}

/// The machine's clock, and no workers: what is queued stays queued until [`work`] is called, so
/// that no other thread is in the measurement.
#[derive(Default)]
struct Still(SystemClock);

impl Clock for Still {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

impl Stepper for Still {
    fn step(&self, _: Duration) -> bool {
        false
    }
}

pub(crate) fn runtime(settings: Settings) -> Runtime<Bare> {
    Runtime::new(Bare, settings, Workers::Stepped(Arc::new(Still::default())))
}

/// Does this many stretches of work that are queued for demand workers.
pub(crate) fn work(runtime: &Runtime<Bare>, stretches: usize) {
    let workshop = runtime.workshop();
    for _ in 0..stretches {
        let worked = workshop.work(Lane::Demand, 0).expect("there is work");
        workshop.settle(worked);
    }
}

pub(crate) fn unbounded() -> Settings {
    Settings {
        adoption: AdoptionBudget {
            count: u32::MAX,
            time: Duration::MAX,
        },
        ..Settings::default()
    }
}

/// A runtime in which the exact pipelines of all recipes are adopted, and their ids.
pub(crate) fn all_exact(settings: Settings) -> (Runtime<Bare>, Vec<PipelineId>) {
    let mut runtime = runtime(settings);
    let ids: Vec<_> = (0..RECIPES as u64)
        .map(|n| runtime.register(key(n), Arc::new(n)))
        .collect();
    {
        let frame = runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.on_uncovered(FirstDraw::Inline);
        for (epoch, id) in (1..).zip(&ids) {
            assert!(stream.select(epochs(epoch), || *id).selected().is_some());
        }
    }
    runtime.begin_frame();
    (runtime, ids)
}

/// A runtime with one family adopted and recipes of it whose own pipelines are not done.
pub(crate) fn all_pending(settings: Settings, count: usize) -> (Runtime<Bare>, Vec<PipelineId>) {
    let mut runtime = runtime(settings);
    let first = RECIPES as u64;
    let ids: Vec<_> = (first..first + count as u64)
        .map(|n| runtime.register(key(n), Arc::new(n)))
        .collect();
    {
        let frame = runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.on_uncovered(FirstDraw::Skip);
        let _ = stream.select(epochs(1), || ids[0]);
    }
    // The stand-in was asked for first; the pipeline itself stays queued.
    work(&runtime, 1);
    {
        let frame = runtime.begin_frame();
        let mut stream = frame.stream(0);
        for (epoch, id) in (1..).zip(&ids) {
            let choice = stream.select(epochs(epoch), || *id);
            assert_eq!(choice.route(), standin::Route::StandIn);
        }
    }
    runtime.begin_frame();
    (runtime, ids)
}

pub(crate) fn epochs(shader: u64) -> Epochs {
    Epochs {
        shader,
        ..Epochs::default()
    }
}

/// A fixed order of the recipes that no cache or prefetcher foresees.
pub(crate) fn shuffled(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for last in (1..count).rev() {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        order.swap(last, (seed % (last as u64 + 1)) as usize);
    }
    order
}
