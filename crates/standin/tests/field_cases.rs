//! What people who do this job reported, group E: fallback, ubershader, background building.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use standin::sim::{Drawn, Script, SimRecipe, SimTarget};
use standin::{BuildError, Counter, FirstDraw, Mode, Reason, Route, Settings, Status, Waiting};
use world::{MS, World, archived, exact, failing};

/// dolphin-emu/dolphin#5702: hybrid mode still stuttered, as the fallback itself was not built.
#[test]
fn e3_a_compatible_stand_in_that_is_not_built_is_a_counted_wait_and_is_built_for_the_next_miss() {
    let mut world = World::new();
    let first = SimRecipe::in_family(1, 9);
    let drawn = world.draw(&first);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Waited, Some(Drawn::Picture(1)))
    );
    let counters = world.counters();
    assert_eq!(counters.reason(Reason::StandInNotBuilt), 1);
    assert_eq!(counters.waits(Waiting::BuiltHere), 1);
    assert_eq!(
        world.sim.calls().build_stand_in,
        1,
        "begun in the background, while the draw built its own"
    );
    world.sim.settle();
    let second = SimRecipe::in_family(2, 9);
    assert_eq!(world.draw(&second).route, Route::StandIn);
    assert_eq!(world.counters().waited(), 0);
    world.end();
}

/// RPCS3/rpcs3#16512: the fallback shader did not compile, and nothing started.
#[test]
fn e4_a_stand_in_that_fails_to_build_is_done_without_and_reported_once() {
    let mut world = World::new();
    world.sim.script(
        SimTarget::Family(9),
        Script {
            error: BuildError::Permanent("compiler error".into()),
            ..failing(u32::MAX)
        },
    );
    for number in 1..=10 {
        let recipe = SimRecipe::in_family(number, 9);
        assert_eq!(world.draw(&recipe).drawn, Some(Drawn::Picture(number)));
        world.sim.settle();
    }
    assert_eq!(world.sim.calls().build_stand_in, 1);
    assert_eq!(
        world.notices(),
        ["no stand-in for recipe 1: compiler error; its draws do without"]
    );
    assert!(world.runtime.totals().reason(Reason::StandInFailed) >= 8);
    world.end();
}

/// As E4, for a family that is only slow to come right.
#[test]
fn e4_a_stand_in_that_fails_for_a_while_is_retried() {
    let mut world = World::new();
    world.sim.script(SimTarget::Family(9), failing(2));
    for number in 1..=10 {
        world.draw(&SimRecipe::in_family(number, 9));
        world.sim.advance(50 * MS);
    }
    assert_eq!(world.sim.calls().build_stand_in, 3);
    assert_eq!(
        world.draw(&SimRecipe::in_family(99, 9)).route,
        Route::StandIn
    );
    assert_eq!(world.notices(), Vec::<String>::new());
    world.end();
}

/// PCSX2/pcsx2#14737: switching it off must restore the exact baseline.
#[test]
fn e5_off_is_the_plain_synchronous_path_with_no_trace_of_the_machinery() {
    let mut world = World::with(Settings {
        mode: Mode::Off,
        trace_capacity: 1000,
        ..Settings::default()
    });
    world.sim.script_default(archived());
    let mut recipe = SimRecipe::in_family(1, 9);
    recipe.linkable = true;
    let before = world.sim.time();
    let drawn = world.draw(&recipe);
    assert_eq!(drawn.drawn, Some(Drawn::Picture(1)));
    assert_eq!(world.sim.time() - before, 14 * MS);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    world
        .runtime
        .predict([(recipe.key(), std::sync::Arc::new(SimRecipe::alone(5)))]);
    world.sim.settle();
    let calls = world.sim.calls();
    assert_eq!(
        calls,
        standin::sim::Calls {
            build_shaders: 1,
            build_exact: 1,
            ..Default::default()
        }
    );
    assert_eq!(world.runtime.lane_counts(), standin::LaneCounts::default());
    assert_eq!(world.runtime.trace().events, []);
    world.end();
}

/// hrydgard/ppsspp#12108: deleting a pipeline that was still compiling.
#[test]
fn e6_releasing_a_pipeline_that_is_being_built_returns_at_once_and_frees_it_later() {
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(6 * MS);
    let id = world.register(&recipe);
    let before = world.sim.time();
    world.runtime.release(id);
    assert_eq!(world.sim.time(), before, "nothing was waited for");
    assert_eq!(world.runtime.find(recipe.key()), None);
    world.sim.settle();
    assert_eq!(
        (world.sim.calls().build_exact, world.sim.calls().destroy),
        (1, 1)
    );
    assert_eq!(world.sim.live(), 0);
    world.end();
}

/// doitsujin/dxvk#2798: COMPILE_REQUIRED came with a null handle that was then used.
#[test]
fn e7_compile_required_is_a_miss_wherever_it_is_answered() {
    // A link.
    let mut world = World::new();
    world.adopt_family(9);
    let mut linked = SimRecipe::in_family(1, 9);
    linked.linkable = true;
    world.sim.script(
        exact(&linked),
        Script {
            link_fails: Some(BuildError::CompileRequired),
            ..Script::default()
        },
    );
    let drawn = world.draw(&linked);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::StandIn, Some(Drawn::Picture(1)))
    );
    // An exact pipeline and a stand-in from the archive.
    let refusing = Script {
        load_fails: Some(BuildError::CompileRequired),
        ..archived()
    };
    let archived_only = SimRecipe::in_family(2, 10);
    world.sim.script(exact(&archived_only), refusing.clone());
    world.sim.script(SimTarget::Family(10), refusing);
    let drawn = world.draw(&archived_only);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Waited, Some(Drawn::Picture(2)))
    );
    let id = world.register(&archived_only);
    world.frame(&[]);
    let status = world.runtime.status(id).unwrap();
    assert_eq!(
        (status.status, status.attempts),
        (Status::Ready, 1),
        "no attempt spent on it"
    );
    world.end();
}

/// GPUOpen-Drivers/xgl#106: feedback durations are in ticks, for the wrong cache, or invalid.
#[test]
fn e9_times_are_the_runtimes_own() {
    let mut world = World::new();
    world.adopt_family(9);
    let recipe = SimRecipe::in_family(1, 9);
    world.sim.script(
        exact(&recipe),
        Script {
            shaders: 3 * MS,
            pipeline: 7 * MS,
            ..Script::default()
        },
    );
    // What the family's arrival took is booked before.
    world.sim.settle();
    world.frame(&[]);
    world.frame(&[]);
    let before = world.runtime.totals().clone();
    world.draw(&recipe);
    world.sim.settle();
    world.frame(&[]);
    world.frame(&[]);
    let after = world.runtime.totals();
    let spent = |counter| after.time(counter) - before.time(counter);
    assert_eq!(spent(Counter::ShaderTime), 3 * MS);
    assert_eq!(spent(Counter::PipelineTime), 7 * MS);
    world.end();
}

/// A damaged archive entry costs a compile and never a wrong pipeline.
#[test]
fn a_damaged_archive_entry_costs_a_compile() {
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    world.sim.script(
        exact(&recipe),
        Script {
            load_fails: Some(BuildError::Permanent("checksum".into())),
            ..archived()
        },
    );
    let drawn = world.draw(&recipe);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Waited, Some(Drawn::Picture(1)))
    );
    assert_eq!(world.notices(), Vec::<String>::new());
    world.end();
}

/// A driver that compiles at the first draw: ready means primed.
#[test]
fn readiness_includes_priming_where_the_driver_compiles_at_first_use() {
    let mut world = World::new();
    world.sim.set_needs_priming(true);
    world.adopt_family(9);
    let recipe = SimRecipe::in_family(1, 9);
    world.draw(&recipe);
    // 4 ms and 10 ms of building are over, 80 ms of priming are not.
    world.sim.advance(20 * MS);
    assert_eq!(world.draw(&recipe).route, Route::StandIn);
    world.sim.advance(80 * MS);
    let before = world.sim.time();
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    assert_eq!(
        world.sim.time(),
        before,
        "the first real draw compiles nothing"
    );
    world.end();
}

/// A build that panics is a failed build.
#[test]
fn a_worker_whose_build_panics_lives_on() {
    let mut world = World::new();
    world.adopt_family(9);
    let (bad, good) = (SimRecipe::in_family(1, 9), SimRecipe::in_family(2, 9));
    world.sim.script(
        exact(&bad),
        Script {
            panics: true,
            ..failing(u32::MAX)
        },
    );
    for _ in 0..5 {
        let drawn = world.frame(&[&bad, &good]);
        assert!(
            drawn
                .iter()
                .all(|d| matches!(d.drawn, Some(Drawn::Picture(_))))
        );
        world.sim.advance(200 * MS);
    }
    assert_eq!(world.draw(&good).route, Route::Exact);
    assert_eq!(
        world.notices(),
        ["recipe 1 cannot be built: the build panicked: scripted panic; it is not tried again"]
    );
    world.end();
}

/// Device lost: a clear error, and no hang.
#[test]
fn a_lost_device_ends_building_and_hangs_nobody() {
    let mut world = World::new();
    let known = SimRecipe::alone(1);
    world.draw(&known);
    world.frame(&[]);
    world.sim.lose_device();
    let fresh: Vec<_> = (2..6).map(SimRecipe::alone).collect();
    for drawn in world.frame(&fresh.iter().collect::<Vec<_>>()) {
        assert_eq!(drawn.reason, Some(Reason::DeviceLost));
    }
    assert!(world.runtime.is_device_lost());
    assert_eq!(
        world.draw(&known).route,
        Route::Exact,
        "what is there stays selectable"
    );
    assert_eq!(world.draw(&fresh[0]).reason, Some(Reason::DeviceLost));
    assert_eq!(
        world.notices(),
        ["the device is lost; nothing more is built"]
    );
    world.end();
}

/// Every cross-thread input is deeply owned.
#[test]
fn a_worker_sees_the_recipe_as_it_was_submitted() {
    let mut world = World::new();
    let mut source = SimRecipe::in_family(1, 9);
    let key = source.key();
    let id = world
        .runtime
        .register(key, std::sync::Arc::new(source.clone()));
    {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.on_uncovered(FirstDraw::Skip);
        let _ = stream.select(standin::Epochs::default(), || id);
    }
    source.number = 999;
    source.families.clear();
    drop(source);
    world.sim.settle();
    let original = SimRecipe::in_family(1, 9);
    let drawn = world.draw(&original);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Exact, Some(Drawn::Picture(1)))
    );
    assert!(
        world
            .sim
            .begun()
            .iter()
            .all(|b| b.target != SimTarget::Exact(999))
    );
    world.end();
}

/// Device lost while builds are queued: whoever waits for their status hears of it.
#[test]
fn builds_that_a_lost_device_dropped_have_failed() {
    let mut world = World::new();
    let recipes: Vec<_> = (1..6).map(SimRecipe::alone).collect();
    world.frame_with(FirstDraw::Skip, &recipes.iter().collect::<Vec<_>>());
    world.sim.lose_device();
    world.sim.settle();
    world.frame(&[]);
    for recipe in &recipes {
        let id = world.register(recipe);
        assert_eq!(
            world.runtime.status(id).unwrap().status,
            Status::FailedPermanent
        );
        assert!(!world.runtime.request(id));
    }
    world.end();
}
