//! Who builds what, when, and who waits for whom.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use std::sync::Arc;
use std::time::Duration;

use standin::sim::{Drawn, Script, SimRecipe, SimTarget};
use standin::{Counter, FirstDraw, Lane, Reason, Route, Settings, Status, Waiting, WorkerCounts};
use world::{MS, World, archived, draw, exact};

fn keyed(recipe: &SimRecipe) -> (standin::key::ExactKey, Arc<SimRecipe>) {
    (recipe.key(), Arc::new(recipe.clone()))
}

fn hanging() -> Script {
    Script {
        hangs: true,
        ..Script::default()
    }
}

/// When the build of `recipe` began, and on what.
fn begun(world: &World, recipe: &SimRecipe) -> Vec<(Duration, Option<Lane>)> {
    world
        .sim
        .begun()
        .iter()
        .filter(|begun| begun.target == exact(recipe))
        .map(|begun| (begun.at, begun.class))
        .collect()
}

#[test]
fn required_work_never_waits_behind_speculation() {
    let mut world = World::new();
    let guesses: Vec<_> = (10..14).map(SimRecipe::alone).collect();
    for guess in &guesses {
        world.sim.script(exact(guess), hanging());
    }
    for pair in guesses.chunks(2) {
        world.runtime.predict(pair.iter().map(keyed));
    }
    world.sim.advance(50 * MS);
    // Both speculative workers hang. A draw that waits takes its own build's time, no more.
    let recipe = SimRecipe::alone(1);
    let before = world.sim.time();
    assert_eq!(world.draw(&recipe).drawn, Some(Drawn::Picture(1)));
    assert_eq!(world.sim.time() - before, 14 * MS);
    assert_eq!(world.counters().time(Counter::QueueTime), Duration::ZERO);
}

#[test]
fn demand_never_waits_behind_speculation_nor_speculation_behind_demand() {
    let mut world = World::new();
    world.adopt_family(9);
    let start = world.sim.time();
    let guess = SimRecipe::alone(10);
    world.runtime.predict([keyed(&guess)]);
    let demanded = SimRecipe::in_family(1, 9);
    world.draw(&demanded);
    world.sim.settle();
    assert_eq!(begun(&world, &guess), [(start, Some(Lane::Speculative))]);
    assert_eq!(begun(&world, &demanded), [(start, Some(Lane::Demand))]);
    world.end();
}

#[test]
fn at_most_two_guesses_run_and_at_most_two_per_prediction_are_submitted() {
    let workers = WorkerCounts {
        required: 1,
        demand: 1,
        speculative: 8,
    };
    let mut world = World::with_workers(Settings::default(), workers);
    let guesses: Vec<_> = (10..20).map(SimRecipe::alone).collect();
    assert_eq!(world.runtime.predict(guesses.iter().map(keyed)), 2);
    assert_eq!(world.runtime.predict(guesses.iter().map(keyed)), 2);
    assert_eq!(world.runtime.predict(guesses.iter().map(keyed)), 2);
    world.sim.advance(MS);
    let load = world.runtime.lane_load();
    assert_eq!(load.running[Lane::Speculative as usize], 2);
    assert_eq!(load.queued[Lane::Speculative as usize], 4);
    world.sim.settle();
    world.frame(&[]);
    assert_eq!(world.draw(&guesses[5]).route, Route::Exact);
    world.end();
}

#[test]
fn prediction_spends_its_budget_only_on_draws_that_would_have_no_stand_in() {
    let mut world = World::new();
    world.adopt_family(9);
    let covered = [SimRecipe::in_family(1, 9), SimRecipe::in_family(2, 9)];
    let uncovered = [SimRecipe::alone(3), SimRecipe::alone(4)];
    let submitted = world
        .runtime
        .predict(covered.iter().chain(&uncovered).map(keyed));
    assert_eq!(submitted, 2);
    world.sim.settle();
    world.frame(&[]);
    for recipe in &covered {
        assert_eq!(begun(&world, recipe), []);
    }
    for recipe in &uncovered {
        assert_eq!(world.draw(recipe).route, Route::Exact);
    }
    world.end();
}

#[test]
fn the_oldest_finished_guess_is_reclaimed_when_the_table_is_full() {
    let mut world = World::with(Settings {
        speculative_capacity: 2,
        ..Settings::default()
    });
    let guesses: Vec<_> = (10..13).map(SimRecipe::alone).collect();
    assert_eq!(world.runtime.predict(guesses[..2].iter().map(keyed)), 2);
    // Both still run: there is no room.
    assert_eq!(world.runtime.predict(guesses[2..].iter().map(keyed)), 0);
    world.sim.settle();
    // Both are finished and not adopted: the older one makes room, and is freed.
    assert_eq!(world.runtime.predict(guesses[2..].iter().map(keyed)), 1);
    assert_eq!(world.sim.calls().destroy, 1);
    assert_eq!(world.runtime.lane_counts().reclaimed, 1);
    world.sim.settle();
    world.frame(&[]);
    let ready: Vec<_> = guesses
        .iter()
        .map(|g| {
            let id = world.register(g);
            world.runtime.status(id).unwrap().status
        })
        .collect();
    assert_eq!(ready, [Status::Absent, Status::Ready, Status::Ready]);
    world.end();
}

#[test]
fn a_duplicate_with_higher_urgency_is_promoted_in_place() {
    let mut world = World::new();
    world.adopt_family(9);
    // Two hanging guesses occupy the speculative workers; a third one is queued.
    let hang: Vec<_> = (10..12).map(SimRecipe::alone).collect();
    for recipe in &hang {
        world.sim.script(exact(recipe), hanging());
    }
    world.runtime.predict(hang.iter().map(keyed));
    let recipe = SimRecipe::in_family(1, 20);
    world.runtime.predict([keyed(&recipe)]);
    world.frame(&[]);
    world.sim.advance(MS);
    assert_eq!(begun(&world, &recipe), []);
    // Its family arrives, a draw runs on the stand-in: the same build moves to demand.
    world.adopt_family(20);
    let now = world.sim.time();
    let accepted = world.runtime.lane_counts().accepted;
    assert_eq!(world.draw(&recipe).route, Route::StandIn);
    assert_eq!(
        world.runtime.lane_counts().accepted,
        accepted,
        "no second build"
    );
    assert_eq!(world.runtime.lane_counts().promoted, 1);
    world.sim.advance(20 * MS);
    assert_eq!(begun(&world, &recipe), [(now, Some(Lane::Demand))]);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
}

#[test]
fn a_waiting_draw_takes_an_unstarted_build_and_builds_it_itself() {
    // The demand worker is busy for long; ten more are queued behind it.
    let mut world = World::new();
    world.adopt_family(9);
    let slow = SimRecipe::in_family(1, 9);
    world.sim.script(
        exact(&slow),
        Script {
            shaders: 900 * MS,
            ..Script::default()
        },
    );
    let burst: Vec<_> = (2..12).map(|n| SimRecipe::in_family(n, 9)).collect();
    world.draw(&slow);
    world.sim.advance(MS);
    world.frame(&burst.iter().collect::<Vec<_>>());
    // A draw that must not use a stand-in (its stream cannot feed it) wants the last of them.
    world.sim.set_resources(0, standin::Resources::Unavailable);
    let before = world.sim.time();
    let drawn = world.draw(&burst[9]);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Waited, Some(Drawn::Picture(11)))
    );
    assert_eq!(world.sim.time() - before, 14 * MS);
    let counters = world.counters();
    assert_eq!(counters.waits(Waiting::Taken), 1);
    assert_eq!(
        begun(&world, &burst[9]),
        [(before, None)],
        "on the draw's thread"
    );
    world.end();
}

#[test]
fn a_waiting_draw_waits_for_a_running_build_and_takes_over_its_second_half() {
    let recipe = SimRecipe::alone(1);
    let mut world = World::new();
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(MS);
    let before = world.sim.time();
    assert_eq!(world.draw(&recipe).drawn, Some(Drawn::Picture(1)));
    // 3 ms are left of the shaders, then 10 for the pipeline, on whichever thread.
    assert_eq!(world.sim.time() - before, 13 * MS);
    let counters = world.counters();
    assert_eq!(counters.waits(Waiting::ForRunning), 1);
    assert_eq!(world.sim.calls().build_shaders, 1);
    assert_eq!(world.sim.calls().build_exact, 1);
    world.end();
}

#[test]
fn a_finished_build_that_is_not_adopted_yet_serves_a_draw_at_once() {
    let recipe = SimRecipe::alone(1);
    let mut world = World::new();
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    {
        let frame = world.runtime.begin_frame();
        world.sim.settle();
        let mut stream = frame.stream(0);
        let before = world.sim.time();
        let drawn = draw(&world.sim, &mut stream, 1, &recipe);
        assert_eq!(drawn.drawn, Some(Drawn::Picture(1)));
        assert_eq!(world.sim.time(), before);
    }
    assert_eq!(world.counters().waits(Waiting::Finished), 1);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    world.end();
}

#[test]
fn queue_wait_build_time_and_caller_wait_are_measured_apart() {
    let mut world = World::new();
    world.adopt_family(9);
    let (first, second) = (SimRecipe::in_family(1, 9), SimRecipe::in_family(2, 9));
    world.frame(&[&first, &second]);
    world.sim.settle();
    world.frame(&[]);
    let counters = world.counters();
    // One demand worker: the second waits for the 14 ms of the first.
    assert_eq!(counters.time(Counter::QueueTime), 14 * MS);
    assert_eq!(counters.time(Counter::ShaderTime), 8 * MS);
    assert_eq!(counters.time(Counter::PipelineTime), 20 * MS);
    assert_eq!(counters.time(Counter::WaitTime), Duration::ZERO);
    world.end();
}

#[test]
fn the_first_miss_of_a_submission_loads_the_rest_in_parallel() {
    // 248 libraries: about 1 s one after another.
    let workers = WorkerCounts {
        required: 4,
        demand: 1,
        speculative: 1,
    };
    let mut world = World::with_workers(Settings::default(), workers);
    world.sim.script_default(Script {
        load: 4 * MS,
        ..archived()
    });
    let recipes: Vec<_> = (1..=248).map(SimRecipe::alone).collect();
    let ids: Vec<_> = recipes.iter().map(|r| world.register(r)).collect();
    let before = world.sim.time();
    {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.submission(ids.iter().copied());
        for (epoch, recipe) in recipes.iter().enumerate() {
            let drawn = draw(&world.sim, &mut stream, epoch as u32 + 1, recipe);
            assert_eq!(drawn.drawn, Some(Drawn::Picture(recipe.number)));
            assert!(
                matches!(drawn.route, Route::Loaded | Route::Exact),
                "{drawn:?}"
            );
        }
    }
    // Four workers and the draw's own thread: 248 * 4 ms / 5, and an end that does not divide.
    let took = world.sim.time() - before;
    assert!(took <= 248 * 4 * MS / 5 + 8 * MS, "{took:?}");
    let counters = world.counters();
    assert_eq!(counters.get(Counter::Prefetches), 247);
    assert_eq!(counters.waited(), 0, "a load is not a wait");
    assert_eq!(world.sim.calls().load, 248);
    world.end();
}

#[test]
fn a_submission_whose_draws_are_all_in_memory_starts_nothing() {
    let recipes: Vec<_> = (1..=8).map(SimRecipe::alone).collect();
    let mut world = World::new();
    world.frame(&recipes.iter().collect::<Vec<_>>());
    world.frame(&[]);
    let ids: Vec<_> = recipes.iter().map(|r| world.register(r)).collect();
    let before = world.sim.calls();
    {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.submission(ids);
        for (epoch, recipe) in recipes.iter().enumerate() {
            assert_eq!(
                draw(&world.sim, &mut stream, epoch as u32 + 1, recipe).route,
                Route::Exact
            );
        }
    }
    assert_eq!(world.sim.calls(), before);
    world.end();
}

#[test]
fn a_draw_does_not_wait_longer_than_the_limit_for_a_build_that_hangs() {
    let recipe = SimRecipe::alone(1);
    let mut world = World::with(Settings {
        wait_limit: 100 * MS,
        ..Settings::default()
    });
    world.sim.script(exact(&recipe), hanging());
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(10 * MS);
    let before = world.sim.time();
    let drawn = world.draw(&recipe);
    assert_eq!(drawn.reason, Some(Reason::WaitLimit));
    assert_eq!(world.sim.time() - before, 100 * MS);
}

#[test]
fn a_guess_made_in_the_same_frame_as_its_first_draw_moves_to_demand() {
    let mut world = World::new();
    world.adopt_family(9);
    // Keep both speculative workers busy.
    let hang: Vec<_> = (10..12).map(SimRecipe::alone).collect();
    for recipe in &hang {
        world.sim.script(exact(recipe), hanging());
    }
    world.runtime.predict(hang.iter().map(keyed));
    world.sim.advance(MS);
    // Predicted while nothing covers it, drawn when its family is there, all in one frame.
    let recipe = SimRecipe::in_family(1, 21);
    world.sim.script(SimTarget::Family(21), archived());
    {
        let frame = world.runtime.begin_frame();
        assert_eq!(frame.predict([keyed(&recipe)]), 1);
        let mut stream = frame.stream(0);
        stream.on_uncovered(FirstDraw::Skip);
        assert_eq!(
            draw(&world.sim, &mut stream, 1, &recipe).drawn,
            Some(Drawn::Picture(1))
        );
    }
    assert_eq!(world.runtime.lane_counts().promoted, 1);
    world.sim.advance(20 * MS);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
}

/// Two guesses that hang keep both speculative workers.
fn with_speculation_stuck(world: &mut World) {
    let stuck: Vec<_> = (10..12).map(SimRecipe::alone).collect();
    for guess in &stuck {
        world.sim.script(exact(guess), hanging());
    }
    assert_eq!(world.runtime.predict(stuck.iter().map(keyed)), 2);
    world.sim.advance(MS);
}

#[test]
fn a_guess_that_is_requested_moves_to_demand() {
    let mut world = World::new();
    with_speculation_stuck(&mut world);
    let recipe = SimRecipe::alone(1);
    assert_eq!(world.runtime.predict([keyed(&recipe)]), 1);
    world.frame(&[]);
    let id = world.register(&recipe);
    assert!(
        !world.runtime.request(id),
        "there is a submission, it is raised"
    );
    assert_eq!(world.runtime.lane_counts().promoted, 1);
    world.sim.advance(20 * MS);
    world.frame(&[]);
    assert_eq!(world.runtime.status(id).unwrap().status, Status::Ready);
}

#[test]
fn what_was_drawn_uncovered_is_never_left_to_speculation() {
    let mut world = World::new();
    with_speculation_stuck(&mut world);
    let recipe = SimRecipe::alone(1);
    world.sim.script(exact(&recipe), world::failing(1));
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(20 * MS);
    world.frame(&[]);
    let id = world.register(&recipe);
    let status = |world: &World| world.runtime.status(id).unwrap().status;
    assert_eq!(status(&world), Status::FailedBackoff);
    // The next try is due, and a guess comes before the draw.
    world.sim.advance(20 * MS);
    world.runtime.predict([keyed(&recipe)]);
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(20 * MS);
    world.frame(&[]);
    assert_eq!(status(&world), Status::Ready);
}

#[test]
fn requests_in_one_frame_meet_a_full_queue_once() {
    let mut world = World::with(Settings {
        queue_capacity: 0,
        ..Settings::default()
    });
    let id = world.register(&SimRecipe::alone(1));
    assert!((0..100).all(|_| !world.runtime.request(id)));
    assert_eq!(world.runtime.lane_counts().refused, 1);
    world.frame(&[]);
    assert_eq!(
        world.runtime.status(id).unwrap().status,
        Status::QueueBackoff
    );
}

#[test]
fn an_inline_draw_does_not_wait_for_a_load_that_runs_elsewhere() {
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    let slow = Script {
        load: 50 * MS,
        ..archived()
    };
    world.sim.script(exact(&recipe), slow);
    world.runtime.predict([keyed(&recipe)]);
    world.sim.advance(2 * MS);
    let before = world.sim.time();
    let drawn = world.frame_with(FirstDraw::Inline, &[&recipe])[0];
    assert_eq!(drawn.drawn, Some(Drawn::Picture(1)));
    // Its own load from the start; the other one had 48 ms to go.
    assert_eq!(world.sim.time() - before, 50 * MS);
    world.sim.settle();
    world.frame(&[]);
    world.end();
}
