//! Random schedules of frames, draws, completions, failures, releases and predictions against a
//! reference model: what a draw may get is known from what the model has seen, whatever the
//! schedule.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use standin::sim::{Drawn, Script, SimRecipe, SimTarget};
use standin::{
    AdoptionBudget, BuildError, Counter, FirstDraw, Mechanism, Mode, PipelineId, Reason, Resources,
    Route, Settings, Status, WorkerCounts,
};
use world::{MS, World, draw};

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

const RECIPES: u64 = 12;
const FAMILIES: u64 = 3;

#[derive(Clone, Debug)]
enum Op {
    Frame(Vec<(u64, Policy)>),
    Pass(u64),
    Release(u64),
    Predict(Vec<u64>),
    Resources(u8),
    AdoptMore,
}

#[derive(Clone, Copy, Debug)]
enum Policy {
    Wait,
    Skip,
    Inline,
}

impl From<Policy> for FirstDraw {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::Wait => Self::Wait,
            Policy::Skip => Self::Skip,
            Policy::Inline => Self::Inline,
        }
    }
}

#[derive(Clone, Debug)]
struct Plan {
    families: u64,
    linkable: bool,
    archived: bool,
    load_fails: bool,
    failures: u32,
    permanent: bool,
    fails_in_shaders: bool,
    shaders: u64,
    pipeline: u64,
}

fn op() -> impl Strategy<Value = Op> {
    let policy = prop_oneof![
        4 => Just(Policy::Wait),
        2 => Just(Policy::Skip),
        1 => Just(Policy::Inline),
    ];
    prop_oneof![
        6 => proptest::collection::vec((0..RECIPES, policy), 0..8).prop_map(Op::Frame),
        4 => (0..40_u64).prop_map(Op::Pass),
        1 => (0..RECIPES).prop_map(Op::Release),
        1 => proptest::collection::vec(0..RECIPES, 0..4).prop_map(Op::Predict),
        1 => (0..3_u8).prop_map(Op::Resources),
        1 => Just(Op::AdoptMore),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let failures = prop_oneof![6 => Just(0), 2 => 1..4_u32, 1 => Just(u32::MAX)];
    (
        (
            0..1_u64 << FAMILIES,
            proptest::bool::weighted(0.2),
            proptest::bool::weighted(0.2),
        ),
        (
            proptest::bool::weighted(0.3),
            failures,
            any::<bool>(),
            any::<bool>(),
        ),
        (0..8_u64, 0..20_u64),
    )
        .prop_map(
            |(
                (families, linkable, archived),
                (load_fails, failures, permanent, fails_in_shaders),
                (shaders, pipeline),
            )| Plan {
                families,
                linkable,
                archived,
                load_fails,
                failures,
                permanent,
                fails_in_shaders,
                shaders,
                pipeline,
            },
        )
}

fn recipe(number: u64, plan: &Plan) -> SimRecipe {
    SimRecipe {
        number,
        families: (0..FAMILIES)
            .filter(|family| plan.families & (1 << family) != 0)
            .map(|family| {
                (
                    family,
                    u32::try_from(10 - family).unwrap(),
                    Mechanism::Pulled,
                )
            })
            .collect(),
        linkable: plan.linkable,
        ..SimRecipe::default()
    }
}

fn script(plan: &Plan) -> Script {
    Script {
        shaders: ms(plan.shaders),
        pipeline: ms(plan.pipeline),
        archived: plan.archived,
        load_fails: plan.load_fails.then_some(BuildError::CompileRequired),
        failures: plan.failures,
        fails_in_shaders: plan.fails_in_shaders,
        error: if plan.permanent {
            BuildError::Permanent("planned".into())
        } else {
            BuildError::Transient("planned".into())
        },
        ..Script::default()
    }
}

/// What the model knows of a registered pipeline.
#[derive(Clone, Copy, Debug)]
struct Known {
    id: PipelineId,
    /// A draw or the status has shown its exact pipeline.
    exact: bool,
}

struct Model {
    world: World,
    recipes: Vec<SimRecipe>,
    plans: Vec<Plan>,
    known: BTreeMap<u64, Known>,
    draws: u64,
    pictures: Vec<Option<u64>>,
}

impl Model {
    fn new(plans: &[Plan], family_plans: &[Plan], mode: Mode, queue: usize, budget: u32) -> Self {
        let settings = Settings {
            mode,
            queue_capacity: queue,
            adoption: AdoptionBudget {
                count: budget,
                time: Duration::from_secs(1),
            },
            ..Settings::default()
        };
        let workers = WorkerCounts {
            required: 1,
            demand: 2,
            speculative: 2,
        };
        let world = World::with_workers(settings, workers);
        for (number, plan) in (0..).zip(plans) {
            world.sim.script(SimTarget::Exact(number), script(plan));
        }
        for (number, plan) in (0..).zip(family_plans) {
            world.sim.script(SimTarget::Family(number), script(plan));
        }
        Self {
            world,
            recipes: (0..).zip(plans).map(|(n, p)| recipe(n, p)).collect(),
            plans: plans.to_vec(),
            known: BTreeMap::new(),
            draws: 0,
            pictures: Vec::new(),
        }
    }

    fn frame(&mut self, draws: &[(u64, Policy)]) {
        let World { sim, runtime, .. } = &mut self.world;
        let frame = runtime.begin_frame();
        let mut stream = frame.stream(0);
        for (epoch, (number, policy)) in (1..).zip(draws) {
            let recipe = &self.recipes[usize::try_from(*number).unwrap()];
            let plan = &self.plans[usize::try_from(*number).unwrap()];
            let before = frame.find(recipe.key()).and_then(|id| frame.status(id));
            stream.on_uncovered(FirstDraw::from(*policy));
            let time = sim.time();
            let drawn = draw(sim, &mut stream, epoch, recipe);
            let took = sim.time().saturating_sub(time);
            self.draws += 1;

            // Whatever is drawn is the recipe's picture.
            match drawn.drawn {
                Some(picture) => assert_eq!(picture, Drawn::Picture(*number), "{drawn:?}"),
                None => assert_eq!(drawn.route, Route::Skipped),
            }
            self.pictures.push(drawn.drawn.map(|_| *number));
            if let Some(before) = before {
                if before.exact {
                    // An exact pipeline that is there is what is drawn, at no cost.
                    assert_eq!((drawn.route, took), (Route::Exact, Duration::ZERO));
                }
                if before.covered && !plan.linkable && drawn.route == Route::StandIn {
                    assert_eq!(took, Duration::ZERO, "a covered draw takes no time");
                }
                if before.status == Status::FailedPermanent {
                    // It is not tried again; a draw may still wait for a stand-in.
                    assert!(drawn.route != Route::Waited || drawn.stand_in);
                }
            }
            // Only a draw that may skip, or whose build fails, draws nothing.
            if let Some(reason) = drawn.reason {
                let may_skip = matches!(policy, Policy::Skip);
                assert!(may_skip || plan.failures > 0, "{reason:?} {plan:?}");
                assert!(may_skip || reason == Reason::ExactFailed, "{reason:?}");
            }
            let id = frame
                .find(recipe.key())
                .expect("a drawn recipe is registered");
            let status = frame.status(id).unwrap();
            assert!(status.attempts <= 3, "{status:?}");
            let known = self
                .known
                .entry(*number)
                .or_insert(Known { id, exact: false });
            assert_eq!(known.id, id, "a place stays while nobody releases it");
            // Once there, always there.
            assert!(status.exact || !known.exact, "{number}: {status:?}");
            known.exact = status.exact;
        }
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Frame(draws) => self.frame(draws),
            Op::Pass(span) => self.world.sim.advance(ms(*span)),
            Op::Release(number) => {
                if let Some(known) = self.known.remove(number) {
                    let time = self.world.sim.time();
                    self.world.runtime.release(known.id);
                    assert_eq!(self.world.sim.time(), time, "a release never blocks");
                    assert_eq!(self.world.runtime.status(known.id), None);
                }
            }
            Op::Predict(numbers) => {
                let recipes: Vec<_> = numbers
                    .iter()
                    .map(|n| &self.recipes[usize::try_from(*n).unwrap()])
                    .map(|r| (r.key(), Arc::new(r.clone())))
                    .collect();
                let time = self.world.sim.time();
                assert!(self.world.runtime.predict(recipes) <= 2);
                assert_eq!(self.world.sim.time(), time, "a prediction never blocks");
                for number in numbers {
                    let key = self.recipes[usize::try_from(*number).unwrap()].key();
                    if let Some(id) = self.world.runtime.find(key) {
                        self.known
                            .entry(*number)
                            .or_insert(Known { id, exact: false });
                    }
                }
            }
            Op::Resources(which) => {
                let state = [
                    Resources::Ready,
                    Resources::NeedsRollover,
                    Resources::Unavailable,
                ];
                self.world.sim.set_resources(0, state[usize::from(*which)]);
            }
            Op::AdoptMore => {
                self.world.runtime.adopt();
            }
        }
        assert_eq!(self.world.sim.faults(), Vec::<String>::new());
        let load = self.world.runtime.lane_load();
        assert!(load.running[standin::Lane::Speculative as usize] <= 2);
    }

    fn finish(mut self) -> Vec<Option<u64>> {
        // Left alone, everything that can get ready gets ready.
        for _ in 0..60 {
            self.world.sim.advance(100 * MS);
            self.world.runtime.begin_frame();
        }
        self.world.sim.set_resources(0, Resources::Ready);
        for (number, known) in self.known.clone() {
            let status = self.world.runtime.status(known.id).unwrap();
            assert!(
                !status.status.is_pending(),
                "{number} still {status:?} after 6 s"
            );
        }
        self.world.runtime.begin_frame();
        let totals = self.world.runtime.totals().clone();
        assert_eq!(totals.get(Counter::Draws), self.draws);
        let by_route: u64 = Route::ALL.iter().map(|r| totals.route(*r)).sum();
        assert_eq!(by_route, self.draws, "each draw has one route");
        self.world.end();
        self.pictures
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_schedule_keeps_the_rules(
        plans in proptest::collection::vec(plan(), usize::try_from(RECIPES).unwrap()),
        families in proptest::collection::vec(plan(), usize::try_from(FAMILIES).unwrap()),
        ops in proptest::collection::vec(op(), 1..40),
        queue in 1..20_usize,
        budget in 1..6_u32,
    ) {
        let mut model = Model::new(&plans, &families, Mode::On, queue, budget);
        for op in &ops {
            model.apply(op);
        }
        model.finish();
    }

    /// On never changes what is drawn: the same pictures in the same order as Off.
    #[test]
    fn on_draws_what_off_draws(
        mut plans in proptest::collection::vec(plan(), usize::try_from(RECIPES).unwrap()),
        families in proptest::collection::vec(plan(), usize::try_from(FAMILIES).unwrap()),
        mut ops in proptest::collection::vec(op(), 1..40),
    ) {
        for plan in &mut plans {
            plan.failures = 0;
        }
        for op in &mut ops {
            if let Op::Frame(draws) = op {
                for (_, policy) in draws {
                    *policy = Policy::Wait;
                }
            }
        }
        let run = |mode| {
            let mut model = Model::new(&plans, &families, mode, 100, 100);
            for op in &ops {
                model.apply(op);
            }
            model.finish()
        };
        prop_assert_eq!(run(Mode::On), run(Mode::Off));
    }
}
