//! Asynchronous pipelines on a simulated compiler with a virtual clock, and on real threads.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed step fails the test"
)]

use proptest::prelude::*;
use standin::BuildError;
use standin::engine::commands::Commands;
use standin::engine::config::{Config, Kind as SettingKind, Layer as Settings, Schema, Value};
use standin::engine::feature::{
    Availability, Builder, Feature, Features, Pipeline, Startup, Status,
};
use standin::engine::gate::{Capabilities, Condition, Gate};
use standin::engine::pipelines::{
    Bound, Built, Compiler, Handle, Kind, Notice, Pipelines, Pool, PoolSize, Sink, Source, Urgency,
    Worker,
};
use standin::engine::readiness::{Layer, Outcome, Readiness, Stage};
use standin::engine::sim::{Script, Simulated, World};
use standin::engine::warmup::{self, Tick, WarmUp};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn takes(span: Duration) -> Script {
    Script {
        takes: span,
        ..Script::default()
    }
}

fn fails(span: Duration) -> Script {
    Script {
        fails: Some("the compiler said no".into()),
        ..takes(span)
    }
}

const TWO: PoolSize = PoolSize {
    reserved: 1,
    shared: 1,
};

fn create(pipelines: &Pipelines<Simulated>, name: &str) -> Handle {
    pipelines.create(name, name.into(), Urgency::Awaited)
}

fn log() -> (Sink, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let into = lines.clone();
    let sink: Sink = Arc::new(move |notice: &Notice| into.lock().unwrap().push(notice.to_string()));
    (sink, lines)
}

#[test]
fn creation_returns_at_once_whatever_the_queue() {
    let world = World::new(TWO);
    let pipelines = world.pipelines(None);
    let handles: Vec<Handle> = (0..10_000)
        .map(|index| create(&pipelines, &index.to_string()))
        .collect();
    assert_eq!(world.time(), Duration::ZERO);
    assert!(
        handles
            .iter()
            .all(|handle| pipelines.status(*handle) == Status::Pending)
    );
    // Creating one again gives the one that is there.
    assert_eq!(create(&pipelines, "77"), handles[77]);
    assert_eq!(pipelines.totals().building, 10_000);
    world.settle();
    assert_eq!(pipelines.totals().built, 10_000);
    assert_eq!(pipelines.status(handles[9_999]), Status::Ready);
    // Two workers, 10 ms each.
    assert_eq!(world.time(), ms(50_000));
}

#[test]
fn binding_waits_for_a_running_build_and_runs_one_that_has_not_begun() {
    let world = World::new(TWO);
    let pipelines = world.pipelines(None);
    for (name, span) in [("a", 100), ("b", 100), ("c", 30), ("d", 10)] {
        world.script(name, takes(ms(span)));
    }
    let [a, _b, c, d] = ["a", "b", "c", "d"].map(|name| create(&pipelines, name));
    world.advance(ms(20));
    // Both workers are busy until 100 ms: c runs here, before b and a are through.
    assert!(matches!(pipelines.bind(c), Bound::Pipeline(_)));
    assert_eq!(world.time(), ms(50));
    // a runs on a worker: the rest of it is waited for.
    assert!(matches!(pipelines.bind(a), Bound::Pipeline(_)));
    assert_eq!(world.time(), ms(100));
    let totals = pipelines.totals();
    assert_eq!((totals.waits, totals.waited), (2, ms(80)));
    // A ready one is bound without a wait.
    assert!(matches!(pipelines.bind(c), Bound::Pipeline(_)));
    assert_eq!(pipelines.totals().waits, 2);
    world.settle();
    assert_eq!(pipelines.status(d), Status::Ready);
    let by: Vec<_> = world
        .begun()
        .into_iter()
        .map(|begun| (begun.name, begun.by.is_none()))
        .collect();
    assert!(by.contains(&("c".into(), true)) && by.contains(&("d".into(), false)));
    assert_eq!(
        pipelines.totals().to_string(),
        "pipelines: 4 built (0 from cache, 0 failed, 0 still building); 2 binds waited 80.0 ms"
    );
}

#[test]
fn a_failed_pipeline_binds_as_nothing_and_is_told_of_once() {
    let world = World::new(TWO);
    let (sink, lines) = log();
    let pipelines = world.pipelines(Some(sink));
    world.script("bad", fails(ms(5)));
    for (name, source, kind) in [
        ("good", Source::Cache, Kind::Compute),
        ("pass", Source::Compiled, Kind::Graphics),
    ] {
        let script = Script {
            source,
            kind,
            ..Script::default()
        };
        world.script(name, script);
    }
    let mut handles: Vec<Handle> = ["good", "bad", "pass"]
        .map(|name| create(&pipelines, name))
        .to_vec();
    let (good, bad, pass) = (handles[0], handles[1], handles[2]);
    world.settle();
    let mut recorded = Vec::new();
    let mut commands = Commands::new();
    commands.dispatch(|_| panic!("nothing is bound"));
    commands.bind_compute(&pipelines, good);
    commands.bind_graphics(&pipelines, pass);
    commands.dispatch(|kernel| recorded.push(kernel.name().to_owned()));
    for _ in 0..3 {
        assert!(commands.bind_compute(&pipelines, bad).is_none());
        commands.dispatch(|_| panic!("it failed"));
    }
    // The other bind point keeps what it has.
    commands.draw(|pass| recorded.push(pass.name().to_owned()));
    // A kernel is not bound for draws.
    assert!(commands.bind_graphics(&pipelines, good).is_none());
    assert_eq!(recorded, ["good", "pass"]);
    assert_eq!(commands.skipped(), 4);
    assert_eq!(
        *lines.lock().unwrap(),
        ["pipeline \"bad\" cannot be built: the compiler said no; \
          draws and dispatches with it are skipped"]
    );
    assert_eq!(
        pipelines.totals().to_string(),
        "pipelines: 2 built (1 from cache, 1 failed, 0 still building); 0 binds waited 0.0 ms"
    );
    let dropped = pipelines.drop_failed(&mut handles);
    assert_eq!(handles, [good, pass]);
    assert_eq!(&*dropped[0].name, "bad");
    assert_eq!(&*dropped[0].reason, "the compiler said no");
}

#[test]
fn releasing_never_blocks_and_frees_what_a_running_build_makes() {
    let world = World::new(TWO);
    let pipelines = world.pipelines(None);
    world.script("slow", takes(ms(1_000_000)));
    let running = create(&pipelines, "running");
    let slow = create(&pipelines, "slow");
    let queued = create(&pipelines, "queued");
    let readiness = pipelines.readiness(running);
    world.advance(ms(3));
    for handle in [running, slow, queued] {
        pipelines.release(handle);
        pipelines.release(handle);
        assert!(matches!(pipelines.status(handle), Status::Failed(_)));
        assert!(matches!(pipelines.bind(handle), Bound::Nothing));
    }
    assert_eq!(world.time(), ms(3));
    assert!(matches!(readiness.outcome(), Some(Outcome::Failed(_))));
    // The name is free, and the new pipeline is another one.
    let again = create(&pipelines, "running");
    assert_ne!(again, running);
    world.settle();
    // The builds that ran ended and were freed; the one in the queue never began.
    assert_eq!(world.live(), 1);
    assert_eq!(pipelines.status(again), Status::Ready);
    assert!(world.begun().iter().all(|begun| begun.name != "queued"));
    let Bound::Pipeline(held) = pipelines.bind(again) else {
        panic!("it is ready");
    };
    // What is bound lives as long as it is held.
    pipelines.release(again);
    assert_eq!(world.live(), 1);
    drop(held);
    assert_eq!(world.live(), 0);
}

/// 69 kernels as an engine has them: one takes about a fifth of the serial total of 15 s, a few
/// about a second, most 50 to 300 ms. The same spread as the example's.
fn kernels(seed: u64) -> Vec<Duration> {
    let mut random = seed | 1;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut spans = vec![ms(3300)];
    spans.extend((0..4).map(|_| ms(600 + next(500))));
    spans.extend((0..64).map(|_| ms(50 + next(200))));
    // In no order.
    for index in (1..spans.len()).rev() {
        spans.swap(index, next(index as u64 + 1) as usize);
    }
    spans
}

proptest! {
    /// The set takes max(longest, sum / workers) and at most 5 % more, also where the
    /// compiler's guesses are off by a third.
    #[test]
    fn a_set_builds_in_parallel(seed: u64, shared in 0..20usize) {
        let size = PoolSize { reserved: 1, shared };
        let workers = u32::try_from(shared + 1).unwrap();
        let world = World::new(size);
        let pipelines = world.pipelines(None);
        let spans = kernels(seed);
        let mut set = Vec::new();
        for (index, span) in spans.iter().enumerate() {
            let guess = 70 + (seed.rotate_left(index as u32) % 60);
            world.script(index.to_string(), Script {
                cost: u64::try_from(span.as_millis()).unwrap() * guess,
                ..takes(*span)
            });
            set.push((index.to_string(), index.to_string()));
        }
        let handles = pipelines.create_set(set, Urgency::Awaited);
        world.settle();
        prop_assert!(handles.iter().all(|handle| pipelines.status(*handle) == Status::Ready));
        let sum: Duration = spans.iter().sum();
        let floor = (sum / workers).max(*spans.iter().max().unwrap());
        prop_assert!(world.time() >= floor);
        prop_assert!(
            world.time() <= floor + floor / 20,
            "{:?} for a floor of {floor:?} on {workers}", world.time()
        );
    }

    /// Whatever fails, is bound, or is released, and whenever: every readiness resolves, a
    /// layer of them opens, the counts add up and nothing leaks.
    #[test]
    fn readiness_never_hangs(
        steps in prop::collection::vec((0..6u8, 0..12usize, 0..30u64), 1..80),
        shared in 1..4usize,
    ) {
        let world = World::new(PoolSize { reserved: 1, shared });
        let pipelines = world.pipelines(None);
        let mut layer = Layer::new();
        let mut handles = vec![None; 12];
        let mut held = Vec::new();
        for (step, index, span) in steps {
            let name = index.to_string();
            match (step, handles[index]) {
                (0 | 1, _) => {
                    let script = if step == 0 { takes(ms(span)) } else { fails(ms(span)) };
                    world.script(name.clone(), script);
                    let urgency = if span % 2 == 0 { Urgency::Awaited } else { Urgency::Ahead };
                    let handle = pipelines.create(&name, name.clone(), urgency);
                    handles[index] = Some(handle);
                    layer.add(name, pipelines.readiness(handle));
                }
                (2, Some(handle)) => pipelines.release(handle),
                (3, Some(handle)) => {
                    if let Bound::Pipeline(bound) = pipelines.bind(handle) {
                        prop_assert_eq!(bound.name(), name);
                        held.push(bound);
                    }
                    prop_assert_ne!(pipelines.status(handle), Status::Pending);
                }
                (4, _) => {
                    let program = handles.iter().flatten().map(|handle| pipelines.readiness(*handle));
                    layer.add("program", Readiness::all(program));
                }
                _ => world.advance(ms(span)),
            }
        }
        world.settle();
        prop_assert!(matches!(layer.stage(), Stage::Drawable(_)));
        prop_assert_eq!(pipelines.totals().building, 0);
        drop(held);
        for handle in handles.into_iter().flatten() {
            pipelines.release(handle);
        }
        prop_assert_eq!(world.live(), 0);
    }
}

#[test]
fn a_program_is_ready_with_its_last_kernel_and_fails_with_the_first_that_fails() {
    let world = World::new(TWO);
    let pipelines = world.pipelines(None);
    world.script("slow", takes(ms(50)));
    world.script("bad", fails(ms(20)));
    let program = |names: &[&str]| {
        let kernels: Vec<Handle> = names.iter().map(|name| create(&pipelines, name)).collect();
        Readiness::all(
            kernels
                .into_iter()
                .map(|handle| pipelines.readiness(handle)),
        )
    };
    let dust = program(&["quick", "slow"]);
    let smoke = program(&["bad", "slow"]);
    assert_eq!(program(&[]).outcome(), Some(&Outcome::Ready));
    world.advance(ms(20));
    assert_eq!((dust.outcome(), smoke.outcome()), (None, None));
    world.advance(ms(15));
    assert_eq!(dust.outcome(), None);
    assert_eq!(
        smoke.outcome(),
        Some(&Outcome::Failed("the compiler said no".into()))
    );
    world.settle();
    assert_eq!(dust.outcome(), Some(&Outcome::Ready));
}

fn schema() -> Schema {
    let mut schema = Schema::new();
    for name in ["ray_tracing", "fog"] {
        schema
            .declare(name, SettingKind::Switch, Value::Switch(false))
            .unwrap();
    }
    schema
}

fn config(on: &[&str]) -> Config {
    let launch = on.iter().fold(Settings::new(), |layer, name| {
        layer.with(*name, Value::Switch(true))
    });
    Config::compose(&schema(), &Settings::new(), &Settings::new(), &launch).unwrap()
}

/// Lighting at startup, particles when reached, ray tracing and fog behind settings.
fn features() -> Vec<Feature> {
    let kernels = |name: &str, count: usize| -> Vec<Pipeline> {
        (0..count)
            .map(|index| Pipeline::new(format!("{name} {index}"), [format!("{name}.spv")]))
            .collect()
    };
    let switch = |name: &str| Gate::new(Condition::on(name));
    vec![
        Feature::new("fog", switch("fog"), kernels("fog", 6)),
        Feature::new(
            "reflections",
            switch("ray_tracing"),
            kernels("reflections", 6),
        ),
        Feature::new("particles", Gate::always(), kernels("particles", 6)).when_reached(),
        Feature::new("lighting", Gate::always(), kernels("lighting", 2)),
    ]
}

fn start(pipelines: &Pipelines<Simulated>, on: &[&str]) -> Features<Handle> {
    Features::start(
        features(),
        Capabilities::default(),
        config(on),
        "sdr",
        &mut pipelines.awaited(),
    )
}

/// The times at which a scene's materials began, one asked for every 35 ms while the game runs
/// with and without warm-up.
fn materials_begin(with_warm_up: bool) -> Vec<Duration> {
    let world = World::new(PoolSize {
        reserved: 1,
        shared: 3,
    });
    let pipelines = world.pipelines(None);
    let mut features = start(&pipelines, &[]);
    world.settle();
    let mut warm_up = WarmUp::new(warmup::Settings::default());
    let sides = [config(&["ray_tracing"])];
    for frame in 0..40u64 {
        if frame % 7 == 0 {
            create(&pipelines, &format!("material {frame}"));
        }
        if with_warm_up {
            let mut ahead = pipelines.ahead();
            warm_up.tick(world.time(), 0, &sides, &mut features, &mut ahead);
        }
        world.advance(ms(5));
    }
    if with_warm_up {
        // It was at work all the while.
        let warmed = world
            .begun()
            .iter()
            .filter(|b| b.name.starts_with("refl"))
            .count();
        assert_eq!(warmed, 6);
    }
    world
        .begun()
        .into_iter()
        .filter(|begun| begun.name.starts_with("material"))
        .map(|begun| begun.at)
        .collect()
}

#[test]
fn warm_up_never_delays_a_scenes_material() {
    let alone = materials_begin(false);
    assert_eq!(alone.len(), 6);
    assert_eq!(materials_begin(true), alone);
}

#[test]
fn what_is_awaited_goes_before_everything_that_is_built_ahead() {
    let world = World::new(TWO);
    let pipelines = world.pipelines(None);
    for index in 0..6 {
        let name = format!("ahead {index}");
        pipelines.create(&name, name.clone(), Urgency::Ahead);
    }
    for index in 0..6 {
        create(&pipelines, &format!("material {index}"));
    }
    // One that warm-up has queued is wanted after all, by a settings change.
    create(&pipelines, "ahead 5");
    world.settle();
    let begun = world.begun();
    let order: Vec<&str> = begun.iter().map(|begun| begun.name.as_str()).collect();
    assert!(order[..6].iter().all(|name| name.starts_with("material")));
    assert_eq!(order[6], "ahead 5");
    assert!(
        begun[7..]
            .iter()
            .all(|begun| begun.by == Some(Worker::Shared))
    );
}

#[test]
fn options_opened_early_find_the_likely_features_ready_first() {
    let world = World::new(PoolSize {
        reserved: 1,
        shared: 2,
    });
    let pipelines = world.pipelines(None);
    let mut features = start(&pipelines, &[]);
    world.settle();
    assert_eq!(features.startup(&pipelines.awaited()), Ok(Startup::Ready));
    let mut warm_up = WarmUp::new(warmup::Settings::default());
    let sides = [config(&["ray_tracing"])];
    let mut ready = Vec::new();
    let line = loop {
        for name in ["fog", "reflections", "particles"] {
            let built = features
                .features()
                .iter()
                .find(|feature| feature.name() == name)
                .unwrap()
                .pipelines()
                .iter()
                .all(|pipeline| {
                    features
                        .handle(pipeline.name())
                        .is_some_and(|handle| pipelines.status(handle) == Status::Ready)
                });
            if built && !ready.contains(&name) {
                ready.push(name);
                if name == "reflections" {
                    // The player opens the options now: ray tracing is there, at once.
                    let mut on = start(&pipelines, &[]);
                    on.change(config(&["ray_tracing"]), &mut pipelines.awaited());
                    assert_eq!(
                        on.availability("reflections", &pipelines.awaited()),
                        Some(Availability::On)
                    );
                }
            }
        }
        let mut ahead = pipelines.ahead();
        match warm_up.tick(world.time(), 0, &sides, &mut features, &mut ahead) {
            Tick::Finished(summary) => break summary.to_string(),
            _ => world.advance(ms(5)),
        }
    };
    assert_eq!(ready, ["particles", "reflections", "fog"]);
    assert_eq!(world.persisted(), 1);
    assert!(
        line.starts_with("pipeline warm-up: 18 pipelines in "),
        "{line}"
    );
    // Nothing was bound while it was pending.
    assert_eq!(pipelines.totals().waits, 0);
}

#[test]
fn a_failed_kernel_closes_exactly_its_feature_and_stays_dropped() {
    let world = World::new(TWO);
    let pipelines = world.pipelines(None);
    world.script("reflections 3", fails(ms(5)));
    let mut features = start(&pipelines, &["ray_tracing", "fog"]);
    world.settle();
    let failed = |features: &Features<Handle>| {
        let availability = features.availability("reflections", &pipelines.awaited());
        let Some(Availability::Failed { pipeline, reason }) = availability else {
            panic!("{availability:?}");
        };
        (pipeline, reason.to_string())
    };
    let expected = (
        "reflections 3".to_owned(),
        "the compiler said no".to_owned(),
    );
    assert_eq!(failed(&features), expected);
    let failures = features.drop_failed(&mut pipelines.awaited());
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].features, ["reflections"]);
    assert_eq!(features.handle("reflections 3"), None);
    assert_eq!(failed(&features), expected);
    // Off and on again: it is not tried again.
    features.change(config(&["fog"]), &mut pipelines.awaited());
    features.change(config(&["fog", "ray_tracing"]), &mut pipelines.awaited());
    assert_eq!(pipelines.awaited().in_flight(), 0);
    assert_eq!(failed(&features), expected);
    for whole in ["fog", "lighting"] {
        let availability = features.availability(whole, &pipelines.awaited());
        assert_eq!(availability, Some(Availability::On), "{whole}");
    }
}

/// A compiler that builds nothing until its gate is opened.
#[derive(Default)]
struct Gated {
    open: Mutex<bool>,
    opened: Condvar,
}

struct Threaded(Arc<Gated>);

impl Compiler for Threaded {
    type Recipe = u32;
    type Executable = u32;

    fn declared(&self, pipeline: &Pipeline) -> Result<u32, BuildError> {
        Err(BuildError::Permanent(
            format!("{} is not declared", pipeline.name()).into(),
        ))
    }

    fn kind(&self, _recipe: &u32) -> Kind {
        Kind::Compute
    }

    fn cost(&self, recipe: &u32) -> u64 {
        u64::from(*recipe)
    }

    fn build(&self, recipe: &u32) -> Result<Built<u32>, BuildError> {
        let mut open = self.0.open.lock().unwrap();
        while !*open {
            open = self.0.opened.wait(open).unwrap();
        }
        drop(open);
        match recipe % 5 {
            3 => Err(BuildError::Permanent("three".into())),
            4 => panic!("four"),
            _ => Ok(Built {
                executable: *recipe,
                source: Source::Compiled,
            }),
        }
    }

    fn persist(&self) -> Result<(), BuildError> {
        Err(BuildError::Transient("the disk is full".into()))
    }
}

#[test]
fn on_threads_a_full_queue_blocks_neither_creation_nor_release() {
    let gate = Arc::new(Gated::default());
    let (sink, lines) = log();
    let pipelines = Pipelines::new(Threaded(gate.clone()), Pool::Threads(TWO), Some(sink));
    let handles: Vec<Handle> = (0..500)
        .map(|index| pipelines.create(&index.to_string(), index, Urgency::Awaited))
        .collect();
    // Every build that has begun is stuck, and yet creation and release have returned.
    for handle in &handles[..50] {
        pipelines.release(*handle);
    }
    assert_eq!(pipelines.totals().built, 0);
    *gate.open.lock().unwrap() = true;
    gate.opened.notify_all();
    std::thread::scope(|scope| {
        for offset in 0..4 {
            let (pipelines, handles) = (&pipelines, &handles);
            scope.spawn(move || {
                for index in (offset..500).step_by(3) {
                    let bound = pipelines.bind(handles[index]);
                    let expected = index >= 50 && index % 5 < 3;
                    assert_eq!(matches!(bound, Bound::Pipeline(_)), expected, "{index}");
                }
            });
        }
    });
    let totals = pipelines.totals();
    assert_eq!(totals.building, 0);
    // Of the 50 released ones only those that had begun were built.
    assert!((270..=272).contains(&totals.built), "{totals}");
    let undeclared = pipelines
        .awaited()
        .create(&Pipeline::new("absent", ["a.spv"]));
    assert_eq!(
        pipelines.status(undeclared),
        Status::Failed("absent is not declared".into())
    );
    pipelines.awaited().persist();
    let lines = lines.lock().unwrap();
    assert!(
        lines
            .iter()
            .any(|line| line.contains("the build panicked: four"))
    );
    assert_eq!(
        lines.last().map(String::as_str),
        Some("built pipelines were not written: for now: the disk is full")
    );
}
