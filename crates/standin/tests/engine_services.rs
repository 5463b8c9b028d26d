//! Features, warm-up and stripping over a scripted builder with a virtual clock.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a failed step fails the test"
)]

use standin::engine::config::{Config, Kind, Layer, Schema, Value};
use standin::engine::feature::{
    Availability, Builder, Feature, Features, Pipeline, Startup, Status,
};
use standin::engine::gate::{Capabilities, Condition, Gate, Openness};
use standin::engine::stripping::Package;
use standin::engine::warmup::{Likelihood, Settings, Tick, WarmUp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Two workers; every build takes 10 ms of virtual time, in the order asked for.
#[derive(Default)]
struct Scripted {
    now: Duration,
    names: Vec<String>,
    done: BTreeSet<usize>,
    running: BTreeMap<usize, Duration>,
    failing: BTreeSet<String>,
    persisted: usize,
    released: Vec<usize>,
}

const BUILD: Duration = Duration::from_millis(10);
const FRAME: Duration = Duration::from_millis(5);

impl Scripted {
    fn advance(&mut self, by: Duration) {
        self.now += by;
        let ended: Vec<usize> = self
            .running
            .iter()
            .filter(|(_, end)| **end <= self.now)
            .map(|(handle, _)| *handle)
            .collect();
        for handle in ended {
            self.running.remove(&handle);
            self.done.insert(handle);
        }
        self.dispatch();
    }

    fn dispatch(&mut self) {
        for handle in 0..self.names.len() {
            if self.running.len() == 2 {
                break;
            }
            if !self.done.contains(&handle) && !self.running.contains_key(&handle) {
                self.running.insert(handle, self.now + BUILD);
            }
        }
    }

    fn drain(&mut self) {
        while self.in_flight() > 0 {
            self.advance(BUILD);
        }
    }
}

impl Builder for Scripted {
    type Handle = usize;

    fn create(&mut self, pipeline: &Pipeline) -> usize {
        if let Some(handle) = self.names.iter().position(|name| name == pipeline.name()) {
            return handle;
        }
        self.names.push(pipeline.name().to_owned());
        self.dispatch();
        self.names.len() - 1
    }

    fn status(&self, handle: usize) -> Status {
        if !self.done.contains(&handle) {
            Status::Pending
        } else if self.failing.contains(&self.names[handle]) {
            Status::Failed("the compiler said no".into())
        } else {
            Status::Ready
        }
    }

    fn in_flight(&self) -> usize {
        self.names.len() - self.done.len()
    }

    fn release(&mut self, handle: usize) {
        self.released.push(handle);
    }

    fn persist(&mut self) {
        self.persisted += 1;
    }
}

fn schema() -> Schema {
    let mut schema = Schema::new();
    schema
        .declare("ray_tracing", Kind::Switch, Value::Switch(false))
        .unwrap();
    schema
        .declare("volumetrics", Kind::Switch, Value::Switch(false))
        .unwrap();
    schema
}

fn config(values: &[(&str, bool)]) -> Config {
    let launch = values.iter().fold(Layer::new(), |layer, (name, on)| {
        layer.with(*name, Value::Switch(*on))
    });
    Config::compose(&schema(), &Layer::new(), &Layer::new(), &launch).unwrap()
}

fn pair(name: &str) -> Vec<Pipeline> {
    ["kernel", "pass"]
        .map(|kind| Pipeline::new(format!("{name} {kind}"), [format!("{name}.spv")]))
        .to_vec()
}

/// Raster lighting at startup, particles when reached, ray tracing behind a setting and a
/// capability, volumetrics behind a setting, mesh shading behind a capability.
fn features() -> Vec<Feature> {
    let switch = |name: &str| Gate::new(Condition::on(name));
    vec![
        Feature::new("volumetrics", switch("volumetrics"), pair("volumetrics")),
        Feature::new(
            "reflections",
            switch("ray_tracing").needs("ray_tracing"),
            pair("reflections"),
        ),
        Feature::new("meshlets", Gate::always().needs("mesh"), pair("meshlets")),
        Feature::new("particles", Gate::always(), pair("particles")).when_reached(),
        Feature::new(
            "lighting",
            Gate::always(),
            [
                Pipeline::new("lighting pass", ["lighting.spv"]).required(),
                Pipeline::new("tone map sdr", ["tone.spv"])
                    .required()
                    .for_display("sdr"),
                Pipeline::new("tone map hdr", ["tone.spv"]).for_display("hdr"),
            ],
        ),
    ]
}

fn start(values: &[(&str, bool)], builder: &mut Scripted) -> Features<usize> {
    let device = Capabilities::from_iter(["ray_tracing"]);
    Features::start(features(), device, config(values), "sdr", builder)
}

#[test]
fn before_the_first_frame_only_what_the_open_gates_need_is_built() {
    let mut builder = Scripted::default();
    let features = start(&[], &mut builder);
    assert_eq!(builder.names, ["lighting pass", "tone map sdr"]);
    assert_eq!(features.startup(&builder), Ok(Startup::Building(2)));
    builder.drain();
    assert_eq!(features.startup(&builder), Ok(Startup::Ready));

    // The configuration that the player launches with decides, not the project's default.
    let mut builder = Scripted::default();
    start(&[("ray_tracing", true)], &mut builder);
    assert!(builder.names.contains(&"reflections kernel".to_owned()));

    // A device without the capability keeps the gate closed whatever the configuration says.
    let mut builder = Scripted::default();
    let features = Features::start(
        features_only("reflections"),
        Capabilities::default(),
        config(&[("ray_tracing", true)]),
        "sdr",
        &mut builder,
    );
    assert!(builder.names.is_empty());
    let closed = Openness::ClosedByDevice(vec!["ray_tracing".into()]);
    assert_eq!(
        features.availability("reflections", &builder),
        Some(Availability::Closed(closed))
    );
}

fn features_only(name: &str) -> Vec<Feature> {
    features()
        .into_iter()
        .filter(|feature| feature.name() == name)
        .collect()
}

#[test]
fn a_required_pipeline_that_cannot_be_built_fails_the_start_with_its_name() {
    let mut builder = Scripted::default();
    builder.failing.insert("lighting pass".into());
    let features = start(&[], &mut builder);
    builder.drain();
    let error = features.startup(&builder).unwrap_err();
    assert_eq!(
        error.to_string(),
        "required pipeline \"lighting pass\" of feature \"lighting\" cannot be built: \
         the compiler said no"
    );
}

#[test]
fn a_settings_change_creates_at_once_and_the_feature_is_off_until_all_of_it_is_there() {
    let mut builder = Scripted::default();
    let mut features = start(&[], &mut builder);
    builder.drain();
    features.change(config(&[("ray_tracing", true)]), &mut builder);
    assert_eq!(builder.in_flight(), 2);
    let availability = |features: &Features<usize>, builder: &Scripted| {
        features.availability("reflections", builder).unwrap()
    };
    assert_eq!(
        availability(&features, &builder),
        Availability::Building { pending: 2 }
    );
    builder.drain();
    assert_eq!(availability(&features, &builder), Availability::On);
    features.change(config(&[]), &mut builder);
    assert_eq!(
        availability(&features, &builder),
        Availability::Closed(Openness::ClosedByConfig)
    );
}

#[test]
fn a_failed_kernel_closes_exactly_its_feature() {
    let mut builder = Scripted::default();
    builder.failing.insert("reflections kernel".into());
    let on = [("ray_tracing", true), ("volumetrics", true)];
    let features = start(&on, &mut builder);
    builder.drain();
    assert_eq!(features.startup(&builder), Ok(Startup::Ready));
    assert_eq!(
        features.availability("reflections", &builder),
        Some(Availability::Failed {
            pipeline: "reflections kernel".into(),
            reason: "the compiler said no".into()
        })
    );
    for whole in ["volumetrics", "lighting"] {
        assert_eq!(
            features.availability(whole, &builder),
            Some(Availability::On),
            "{whole}"
        );
    }
    assert_eq!(features.availability("absent", &builder), None);
}

#[test]
fn inactive_display_sets_are_left_out_and_built_in_parallel_when_switched_on() {
    let mut builder = Scripted::default();
    let mut features = start(&[], &mut builder);
    builder.drain();
    let mut warmup = WarmUp::new(Settings::default());
    run_warmup(&mut warmup, &mut features, &mut builder, &[]);
    assert!(!builder.names.contains(&"tone map hdr".to_owned()));
    features.switch_display("hdr", &mut builder);
    assert_eq!(features.display_pending(&builder), 1);
    builder.drain();
    assert_eq!(features.display_pending(&builder), 0);
    assert_eq!(
        features.availability("lighting", &builder),
        Some(Availability::On)
    );
}

fn run_warmup(
    warmup: &mut WarmUp,
    features: &mut Features<usize>,
    builder: &mut Scripted,
    other_sides: &[Config],
) -> Vec<(String, Likelihood)> {
    let mut added = Vec::new();
    for _ in 0..1000 {
        match warmup.tick(builder.now, 0, other_sides, features, builder) {
            Tick::Added(name, likelihood) => added.push((name, likelihood)),
            Tick::Done => return added,
            _ => {}
        }
        builder.advance(FRAME);
    }
    added
}

#[test]
fn warm_up_adds_likeliest_first_a_whole_feature_a_step_and_never_the_unsupported() {
    let mut builder = Scripted::default();
    let mut features = start(&[], &mut builder);
    builder.drain();
    let mut warmup = WarmUp::new(Settings::default());
    let other_side = [config(&[("ray_tracing", true)])];
    let added = run_warmup(&mut warmup, &mut features, &mut builder, &other_side);
    assert_eq!(
        added,
        [
            ("particles".to_owned(), Likelihood::Reachable),
            ("reflections".to_owned(), Likelihood::OtherSide),
            ("volumetrics".to_owned(), Likelihood::Supported),
        ]
    );
    assert_eq!(builder.persisted, 1);
    assert!(!builder.names.iter().any(|name| name.contains("meshlets")));
}

#[test]
fn the_line_at_the_end_counts_pipelines_and_time() {
    let mut builder = Scripted::default();
    let mut features = start(&[], &mut builder);
    builder.drain();
    let mut warmup = WarmUp::new(Settings::default());
    for _ in 0..1000 {
        let tick = warmup.tick(builder.now, 0, &[], &mut features, &mut builder);
        if let Tick::Finished(summary) = tick {
            // Three features of two pipelines each; two build at a time, 10 ms each, and
            // each step waits for the frame after the one in which the last build ended.
            assert_eq!(summary.pipelines, 6);
            assert_eq!(
                summary.to_string(),
                "pipeline warm-up: 6 pipelines in 30 ms"
            );
            return;
        }
        builder.advance(FRAME);
    }
    unreachable!("warm-up ends");
}

#[test]
fn warm_up_starts_with_the_scene_or_after_five_seconds_and_not_before() {
    for (pending_until, expected) in [(1_000_u64, 1_000_u64), (60_000, 5_000)] {
        let mut builder = Scripted::default();
        let mut features = start(&[], &mut builder);
        builder.drain();
        builder.now = Duration::ZERO;
        let mut warmup = WarmUp::new(Settings::default());
        let started = loop {
            let ms = u64::try_from(builder.now.as_millis()).unwrap();
            let scene = usize::from(ms < pending_until);
            match warmup.tick(builder.now, scene, &[], &mut features, &mut builder) {
                Tick::Waiting => builder.advance(FRAME),
                _ => break ms,
            }
        };
        assert_eq!(started, expected);
    }
}

#[test]
fn a_step_is_added_only_while_few_builds_are_in_flight() {
    let mut builder = Scripted::default();
    let mut features = start(&[], &mut builder);
    builder.drain();
    // A scene streams in: its material builds are in flight, and warm-up keeps out of the way.
    for material in 0..5 {
        builder.create(&Pipeline::new(format!("material {material}"), ["m.spv"]));
    }
    let mut warmup = WarmUp::new(Settings::default());
    let mut most = 0;
    loop {
        match warmup.tick(builder.now, 0, &[], &mut features, &mut builder) {
            Tick::Added(..) => {
                // At most one build was left when the step of two was added.
                most = most.max(builder.in_flight());
            }
            Tick::Busy => assert!(builder.in_flight() >= 2),
            Tick::Done => break,
            _ => {}
        }
        builder.advance(FRAME);
    }
    assert!(most <= 3, "{most} builds in flight");
}

#[test]
fn options_opened_early_find_the_likely_features_ready_first() {
    let mut builder = Scripted::default();
    let mut features = start(&[], &mut builder);
    builder.drain();
    let mut warmup = WarmUp::new(Settings::default());
    let other_side = [config(&[("ray_tracing", true)])];
    // 25 ms in, the player turns ray tracing on: its step was the second of three.
    let until = builder.now + Duration::from_millis(25);
    while builder.now < until {
        warmup.tick(builder.now, 0, &other_side, &mut features, &mut builder);
        builder.advance(FRAME);
    }
    features.change(config(&[("ray_tracing", true)]), &mut builder);
    assert_eq!(
        features.availability("reflections", &builder),
        Some(Availability::On)
    );
}

#[test]
fn a_warm_up_set_that_names_a_stripped_shader_is_refused() {
    let shipped = [
        "volumetrics.spv",
        "meshlets.spv",
        "particles.spv",
        "lighting.spv",
        "tone.spv",
    ];
    let package = Package::from_iter(shipped);
    let stripped = package.check(&features()).unwrap_err();
    assert_eq!(stripped.len(), 2);
    assert_eq!(
        stripped[0].to_string(),
        "feature \"reflections\" declares pipeline \"reflections kernel\" with shader \
         \"reflections.spv\", which was stripped"
    );
    let whole = Package::from_iter(shipped.into_iter().chain(["reflections.spv"]));
    assert_eq!(whole.check(&features()), Ok(()));
    assert_eq!(
        package
            .shader("dust.particle", "reflections.spv")
            .unwrap_err()
            .to_string(),
        "dust.particle names shader \"reflections.spv\", which the package does not ship"
    );
    assert_eq!(
        whole.shader("dust.particle", "tone.spv").unwrap().name(),
        "tone.spv"
    );
}
