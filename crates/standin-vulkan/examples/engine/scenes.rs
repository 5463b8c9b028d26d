//! The two scenes, and the frames that go through them.

use crate::compiler::{Folder, Maker, number};
use crate::{rays, recipes};
use standin::engine::commands::Commands;
use standin::engine::config::{Config, Kind, Layer as Settings, Schema, Value};
use standin::engine::feature::{Availability, Feature, Features, Pipeline, Startup, Status};
use standin::engine::gate::{Capabilities, Condition, Gate};
use standin::engine::pipelines::{Handle, Pipelines, Pool, PoolSize, Urgency};
use standin::engine::readiness::{Cell, Cover, Layer, Readiness, Residency, Stage, cover};
use standin::engine::stripping::Package;
use standin::engine::warmup::{self, Tick, WarmUp};
use standin_vulkan::accel::Contexts;
use standin_vulkan::{Device, DeviceChoice, DeviceSettings, Feature as DeviceFeature, Instance};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const FRAME: Duration = Duration::from_millis(4);
/// Frames after which a launch that is not done has gone wrong: two minutes.
const LAST_FRAME: u32 = 30_000;

/// The shaders that the package ships.
const SHIPPED: [&str; 9] = [
    "plain.vert",
    "shade.frag",
    "trace.comp",
    "lighting.40",
    "particles.60",
    "fog.120",
    "resolve.600",
    "denoise.300",
    "bounce.200",
];

fn kernel(name: &str, shader: &str) -> Pipeline {
    Pipeline::new(name, [shader])
}

fn pass(name: &str) -> Pipeline {
    Pipeline::new(name, ["plain.vert", "shade.frag"])
}

/// Lighting at startup; particles when a scene reaches them; fog behind a setting; reflections,
/// heavy and ray traced, behind a setting and a capability.
fn features() -> Vec<Feature> {
    let switch = |name: &str| Gate::new(Condition::on(name));
    vec![
        Feature::new(
            "fog",
            switch("fog"),
            [kernel("fog march", "fog.120"), pass("fog blend")],
        ),
        Feature::new(
            "reflections",
            switch("ray_tracing").needs("ray_tracing"),
            [
                kernel("reflections trace", "trace.comp"),
                kernel("reflections resolve", "resolve.600"),
                kernel("reflections denoise", "denoise.300"),
                kernel("reflections bounce", "bounce.200"),
                pass("reflections blend"),
            ],
        ),
        Feature::new(
            "particles",
            Gate::always(),
            [
                kernel("particles emit", "particles.60"),
                kernel("particles move", "particles.60"),
                pass("particles draw"),
            ],
        )
        .when_reached(),
        Feature::new(
            "lighting",
            Gate::always(),
            [
                kernel("lighting cull", "lighting.40").required(),
                pass("lighting apply").required(),
                pass("tone map sdr").required().for_display("sdr"),
                pass("tone map hdr").for_display("hdr"),
            ],
        ),
    ]
}

fn schema() -> Result<Schema, Box<dyn Error>> {
    let mut schema = Schema::new();
    schema.declare("ray_tracing", Kind::Switch, Value::Switch(true))?;
    schema.declare("fog", Kind::Switch, Value::Switch(false))?;
    let bounds = Kind::Integer { min: 1, max: 8 };
    schema.declare("view_distance", bounds, Value::Integer(2))?;
    Ok(schema)
}

/// A launch of the game.
struct Game {
    pipelines: Pipelines<Maker>,
    began: Instant,
    device: Arc<Device>,
    /// What became ready, in order.
    order: Vec<(Duration, String)>,
}

impl Game {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn says(&self, line: impl std::fmt::Display) {
        println!("  {:>8.1} ms  {line}", self.now().as_secs_f64() * 1e3);
    }

    fn became_ready(&mut self, what: &str) {
        if self.order.iter().all(|(_, name)| name != what) {
            self.order.push((self.now(), what.to_owned()));
        }
    }

    /// A layer of a scene with its materials, which begin to build now.
    fn layer(&self, name: &str, materials: usize) -> Layer {
        let mut layer = Layer::new();
        let set = (0..materials)
            .map(|index| {
                let name = format!("{name} material {index}");
                let recipe = recipes::pass(number(&name)).into();
                (name, recipe)
            })
            .collect();
        let handles = self.pipelines.create_set(set, Urgency::Awaited);
        for (index, handle) in handles.into_iter().enumerate() {
            let readiness = self.pipelines.readiness(handle);
            layer.add(format!("{name} material {index}"), readiness);
        }
        layer
    }
}

/// A streaming cell that becomes resident in some frame.
struct Arrival {
    frame: u32,
    name: &'static str,
    materials: usize,
}

/// Runs a first launch and a second one with the archive of the first.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let folder = Folder::new();
    let salt = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    for title in [
        "first launch",
        "second launch, with the archive of the first",
    ] {
        println!("{title}");
        launch(folder.path(), salt)?;
    }
    Ok(())
}

fn launch(folder: &Path, salt: u64) -> Result<(), Box<dyn Error>> {
    let instance = Instance::new(&Default::default())?;
    let physical = instance.select(&DeviceChoice::BestOrCpu)?;
    let device = Device::new(&physical, &DeviceSettings::default())?;
    let traces = [
        DeviceFeature::RayQuery,
        DeviceFeature::AccelerationStructure,
        DeviceFeature::BufferDeviceAddress,
    ]
    .iter()
    .all(|feature| device.features().has(*feature));
    let can = Capabilities::from_iter(traces.then_some("ray_tracing"));

    // The project's file turns ray tracing on, the player had turned it off, and the game adds
    // what its command line asks for: composed before anything is built.
    let schema = schema()?;
    let project = schema.parse("configs/render.json", r#"{ "ray_tracing": true }"#)?;
    let saved = schema.parse("saved/render.json", r#"{ "ray_tracing": false }"#)?;
    let launched = Settings::new().with("view_distance", Value::Integer(3));
    let config = Config::compose(&schema, &project, &saved, &launched)?;
    let with =
        |name: &str| config.changed(&schema, &Settings::new().with(name, Value::Switch(true)));

    if let Err(stripped) = Package::from_iter(SHIPPED).check(&features()) {
        return Err(stripped[0].to_string().into());
    }
    let pipelines = Pipelines::new(
        Maker::new(&device, folder, salt)?,
        Pool::Threads(PoolSize::for_this_machine()),
        Some(Arc::new(|notice| println!("{notice}"))),
    );
    let mut game = Game {
        pipelines,
        began: Instant::now(),
        device: Arc::clone(&device),
        order: Vec::new(),
    };
    game.says(format_args!(
        "{}; ray tracing {}",
        device.capabilities().identity.name,
        if traces { "possible" } else { "not possible" }
    ));
    let mut features = Features::start(
        features(),
        can,
        config.clone(),
        "sdr",
        &mut game.pipelines.awaited(),
    );
    frames(&mut game, &mut features, &with("ray_tracing")?)?;
    println!("  in the order in which things became ready:");
    for (at, what) in &game.order {
        println!("  {:>8.1} ms  {what}", at.as_secs_f64() * 1e3);
    }
    Ok(())
}

/// The frames of a launch: the courtyard, whose cells stream in; a settings change right after
/// the cover has lifted; and the cave, with particles.
fn frames(
    game: &mut Game,
    features: &mut Features<Handle>,
    traced: &Config,
) -> Result<(), Box<dyn Error>> {
    let arrivals = [
        ("courtyard gate", 0, 3, 6),
        ("courtyard well", 0, 6, 6),
        ("courtyard hill", 1, 10, 4),
    ]
    .map(|(name, ring, frame, materials)| {
        let cell = Cell {
            ring,
            residency: Residency::Requested,
        };
        let arrival = Arrival {
            frame,
            name,
            materials,
        };
        (arrival, cell)
    });
    let (arrivals, mut cells): (Vec<Arrival>, Vec<Cell>) = arrivals.into_iter().unzip();
    let mut warm_up = WarmUp::new(warmup::Settings::default());
    let other_sides = [traced.clone()];
    let mut lifted_in = None;
    let mut warmed = false;
    let mut cave: Option<Layer> = None;
    let mut cave_is_ready = false;
    for frame in 0..LAST_FRAME {
        for (arrival, cell) in arrivals.iter().zip(&mut cells) {
            if arrival.frame == frame {
                cell.residency = Residency::Resident(game.layer(arrival.name, arrival.materials));
            }
        }
        for (arrival, cell) in arrivals.iter().zip(&cells) {
            if let Residency::Resident(layer) = &cell.residency
                && matches!(layer.stage(), Stage::Drawable(_))
            {
                game.became_ready(&format!("cell {:?}", arrival.name));
            }
        }
        for failure in features.drop_failed(&mut game.pipelines.awaited()) {
            game.says(format_args!(
                "{} off: {} cannot be built",
                failure.features.join(", "),
                failure.pipeline
            ));
        }
        watch(game, features);

        let started = features.startup(&game.pipelines.awaited())? == Startup::Ready;
        let covered = cover(&cells);
        if lifted_in.is_none() && started && covered == Cover::Lifted {
            lifted_in = Some(frame);
            game.says("the cover lifts");
            game.says(game.pipelines.totals());
        }
        let scene_pending = match covered {
            Cover::Down { cells, parts } => cells + parts,
            Cover::Lifted => usize::from(!started),
        };
        let now = game.now();
        let tick = warm_up.tick(
            now,
            scene_pending,
            &other_sides,
            features,
            &mut game.pipelines.ahead(),
        );
        match tick {
            Tick::Added(feature, likelihood) => {
                game.says(format_args!("warm-up adds {feature} ({likelihood:?})"));
            }
            Tick::Finished(summary) => {
                game.says(summary);
                warmed = true;
            }
            _ => {}
        }
        if let Some(lifted) = lifted_in {
            // The player opens the options early. The game goes on: the scene's own materials
            // stay in front of what the change opens.
            if frame == lifted + 2 {
                features.change(traced.clone(), &mut game.pipelines.ahead());
                let availability = features.availability("reflections", &game.pipelines.awaited());
                game.says(format_args!(
                    "the player turns ray tracing on: reflections {}",
                    words(availability.as_ref())
                ));
            }
            draw(game, features);
            if frame == lifted + 5 {
                game.says("to the cave");
                features.reach("particles", &mut game.pipelines.awaited());
                let mut layer = game.layer("cave", 10);
                let program = ["particles emit", "particles move"]
                    .into_iter()
                    .filter_map(|kernel| features.handle(kernel))
                    .map(|handle| game.pipelines.readiness(handle));
                layer.add("particle program", Readiness::all(program));
                cave = Some(layer);
            }
            if let Some(layer) = &cave
                && !cave_is_ready
                && matches!(layer.stage(), Stage::Drawable(_))
            {
                cave_is_ready = true;
                game.became_ready("scene \"cave\"");
                game.says("the cave is drawn");
            }
            if cave_is_ready && warmed {
                break;
            }
        }
        std::thread::sleep(FRAME);
    }
    watch(game, features);
    reflections(game, features)?;
    game.says(game.pipelines.totals());
    Ok(())
}

fn words(availability: Option<&Availability>) -> String {
    match availability {
        Some(Availability::On) => "on at once".to_owned(),
        Some(Availability::Building { pending }) => {
            format!("off until {pending} pipelines are built")
        }
        Some(Availability::Closed(openness)) => format!("stays off, {openness}"),
        Some(Availability::Failed { pipeline, reason }) => {
            format!("stays off, {pipeline} cannot be built: {reason}")
        }
        None => "unknown".to_owned(),
    }
}

/// Notes the features whose pipelines have all become ready, whether they are open or warmed.
fn watch(game: &mut Game, features: &Features<Handle>) {
    let ready: Vec<String> = features
        .features()
        .iter()
        .filter(|feature| {
            feature
                .pipelines()
                .iter()
                .filter(|pipeline| pipeline.name() != "tone map hdr")
                .all(|pipeline| {
                    features
                        .handle(pipeline.name())
                        .is_some_and(|handle| game.pipelines.status(handle) == Status::Ready)
                })
        })
        .map(|feature| format!("feature {:?}", feature.name()))
        .collect();
    for name in ready {
        game.became_ready(&name);
    }
}

/// Binds what the frame's open features have, as recording would: nothing here waits.
fn draw(game: &Game, features: &Features<Handle>) {
    let mut commands = Commands::new();
    for feature in features.features() {
        let availability = features.availability(feature.name(), &game.pipelines.awaited());
        if availability != Some(Availability::On) {
            continue;
        }
        for pipeline in feature.pipelines() {
            if let Some(handle) = features.handle(pipeline.name()) {
                if pipeline.shaders().len() == 1 {
                    commands.bind_compute(&game.pipelines, handle);
                    commands.dispatch(|_| {});
                } else {
                    commands.bind_graphics(&game.pipelines, handle);
                    commands.draw(|_| {});
                }
            }
        }
    }
}

/// Where reflections are on, a scene is built and traced.
fn reflections(game: &Game, features: &Features<Handle>) -> Result<(), Box<dyn Error>> {
    let availability = features.availability("reflections", &game.pipelines.awaited());
    if availability != Some(Availability::On) {
        game.says(format_args!(
            "reflections: {}",
            words(availability.as_ref())
        ));
        return Ok(());
    }
    let Some(handle) = features.handle("reflections trace") else {
        return Ok(());
    };
    let mut commands = Commands::new();
    if let Some(pipeline) = commands.bind_compute(&game.pipelines, handle) {
        let mut contexts = Contexts::new(&game.device)?;
        let traced = rays::trace(&game.device, &mut contexts, pipeline, 64)?;
        game.says(format_args!(
            "reflections: {} of {} rays hit; {} builds in {} bytes of scratch",
            traced.hits, traced.rays, traced.scratch.builds, traced.scratch.capacity
        ));
    }
    Ok(())
}
