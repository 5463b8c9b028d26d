//! Adoption, budgets, capacity, release and shutdown.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use std::sync::Arc;
use std::time::Duration;

use standin::sim::{Drawn, Script, Sim, SimRecipe};
use standin::{AdoptionBudget, Counter, Epochs, FirstDraw, Route, Settings, Status, WorkerCounts};
use world::{MS, World, draw, exact};

fn many(range: std::ops::Range<u64>) -> Vec<SimRecipe> {
    range.map(SimRecipe::alone).collect()
}

#[test]
fn adoption_is_bounded_per_frame_by_count_and_loses_nothing() {
    let mut world = World::with(Settings {
        adoption: AdoptionBudget {
            count: 16,
            time: Duration::from_secs(1),
        },
        queue_capacity: 1000,
        ..Settings::default()
    });
    let recipes = many(0..1000);
    world.frame_with(FirstDraw::Skip, &recipes.iter().collect::<Vec<_>>());
    world.sim.settle();
    let mut frames = 0;
    let mut adopted = 0;
    while adopted < 1000 {
        let now = world.runtime.begin_frame().counters().get(Counter::Adopted);
        assert!(now <= 16, "{now} in one frame");
        adopted += now;
        frames += 1;
        assert!(now > 0, "no progress");
    }
    assert_eq!(frames, 63);
    let before = world.sim.calls();
    for drawn in world.frame(&recipes.iter().collect::<Vec<_>>()) {
        assert_eq!(drawn.route, Route::Exact);
    }
    assert_eq!(world.sim.calls(), before);
    world.end();
}

#[test]
fn every_place_that_adopts_shares_the_frames_budget() {
    let mut world = World::with(Settings {
        adoption: AdoptionBudget {
            count: 10,
            time: Duration::from_secs(1),
        },
        ..Settings::default()
    });
    let recipes = many(0..50);
    world.frame_with(FirstDraw::Skip, &recipes.iter().collect::<Vec<_>>());
    world.sim.settle();
    world.runtime.begin_frame();
    assert_eq!(
        (0..20).map(|_| world.runtime.adopt()).sum::<u32>(),
        0,
        "begin_frame took all 10"
    );
    world.runtime.begin_frame();
    assert_eq!(world.runtime.totals().get(Counter::Adopted), 10);
    world.end();
}

#[test]
fn adoption_is_bounded_by_cpu_time_and_still_makes_progress() {
    let mut world = World::with(Settings {
        adoption: AdoptionBudget {
            count: 1000,
            time: Duration::ZERO,
        },
        ..Settings::default()
    });
    let recipes = many(0..5);
    world.frame_with(FirstDraw::Skip, &recipes.iter().collect::<Vec<_>>());
    world.sim.settle();
    for adopted in 1..=5 {
        let frame = world.runtime.begin_frame();
        assert_eq!(frame.counters().get(Counter::Adopted), 1, "frame {adopted}");
    }
    world.end();
}

#[test]
fn many_jobs_with_one_place_left_lose_no_result() {
    // xemu's defect: all of them saw the one free place, and later results were discarded.
    let mut world = World::with(Settings {
        capacity: 8,
        ..Settings::default()
    });
    let recipes = many(0..32);
    world.frame_with(FirstDraw::Skip, &recipes.iter().collect::<Vec<_>>());
    world.sim.settle();
    // What is in flight is never evicted: every result has the place that was reserved with it.
    let drawn = world.frame(&recipes.iter().collect::<Vec<_>>());
    assert!(drawn.iter().all(|d| d.route == Route::Exact));
    assert_eq!(world.sim.calls().destroy, 0);
    assert_eq!(world.sim.calls().build_exact, 32);
    world.end();
}

#[test]
fn memory_is_bounded_and_the_least_recently_used_go_first() {
    let mut world = World::with(Settings {
        capacity: 100,
        ..Settings::default()
    });
    let (old, new) = (many(0..80), many(100..180));
    let pinned = world.register(&old[0]);
    world.runtime.pin(pinned);
    world.frame(&old.iter().collect::<Vec<_>>());
    for _ in 0..40 {
        world.frame(&new.iter().collect::<Vec<_>>());
    }
    assert!(world.runtime.len() <= 100, "{}", world.runtime.len());
    assert!(world.sim.live() <= 100);
    for recipe in &new {
        assert!(
            world.runtime.find(recipe.key()).is_some(),
            "in use: {recipe:?}"
        );
    }
    assert!(world.runtime.find(old[0].key()).is_some(), "pinned");
    assert!(world.counters().get(Counter::Evicted) == 0 || world.runtime.len() <= 100);
    assert!(world.runtime.totals().get(Counter::Evicted) >= 60);
    // An evicted one is built again when it is drawn again.
    let drawn = world.draw(&old[1]);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Waited, Some(Drawn::Picture(1)))
    );
    world.end();
}

#[test]
fn what_is_given_up_is_freed_only_after_the_frames_in_flight() {
    let mut world = World::with(Settings {
        frames_in_flight: 3,
        ..Settings::default()
    });
    let recipe = SimRecipe::alone(1);
    world.draw(&recipe);
    world.frame(&[]);
    let id = world.register(&recipe);
    world.draw(&recipe);
    // The frame that drew it was the last one to begin.
    world.runtime.release(id);
    for frame in 0..3 {
        world.frame(&[]);
        assert_eq!(world.sim.calls().destroy, 0, "{frame} frames later");
    }
    world.frame(&[]);
    assert_eq!(world.sim.calls().destroy, 1);
    world.end();
}

#[test]
fn a_build_that_is_under_way_is_not_evicted() {
    let mut world = World::with(Settings {
        capacity: 1,
        ..Settings::default()
    });
    let slow = SimRecipe::alone(1);
    let slow_script = Script {
        shaders: Duration::from_secs(9),
        ..Script::default()
    };
    world.sim.script(exact(&slow), slow_script);
    world.frame_with(FirstDraw::Skip, &[&slow]);
    world.sim.advance(MS);
    for number in 2..60 {
        world.draw(&SimRecipe::alone(number));
    }
    assert!(world.runtime.find(slow.key()).is_some());
    world.sim.settle();
    assert_eq!(world.draw(&slow).route, Route::Exact);
    world.end();
}

#[test]
fn families_are_bounded_once_no_recipe_names_them() {
    let mut world = World::with(Settings {
        capacity: 4,
        family_capacity: 4,
        ..Settings::default()
    });
    for family in 0..40 {
        world.adopt_family(family);
    }
    for _ in 0..40 {
        world.frame(&[]);
    }
    let kept = (0..40)
        .filter(|f| {
            world
                .runtime
                .family_status(SimRecipe::family_key(*f))
                .is_some()
        })
        .count();
    assert!(kept <= 4, "{kept}");
    world.end();
}

#[test]
fn releasing_what_is_queued_cancels_it() {
    let mut world = World::new();
    let (first, second) = (SimRecipe::alone(1), SimRecipe::alone(2));
    world.frame_with(FirstDraw::Skip, &[&first, &second]);
    let id = world.register(&second);
    world.runtime.release(id);
    world.sim.settle();
    assert_eq!(world.sim.calls().build_exact, 1);
    assert_eq!(world.runtime.lane_counts().cancelled, 1);
    world.end();
}

#[test]
fn releases_from_another_thread_take_effect_at_the_next_frame() {
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    world.draw(&recipe);
    world.frame(&[]);
    let id = world.register(&recipe);
    let releases = world.runtime.releases();
    {
        let frame = world.runtime.begin_frame();
        std::thread::spawn(move || releases.release(id))
            .join()
            .unwrap();
        let mut stream = frame.stream(0);
        assert_eq!(
            draw(&world.sim, &mut stream, 1, &recipe).route,
            Route::Exact
        );
    }
    world.frame(&[]);
    assert_eq!(world.runtime.status(id), None);
    world.end();
}

#[test]
fn shutdown_waits_for_active_builds_and_frees_late_results() {
    let mut world = World::new();
    let recipes = many(0..6);
    world.frame_with(FirstDraw::Skip, &recipes.iter().collect::<Vec<_>>());
    world.sim.advance(5 * MS);
    // One build is under way, the others are queued and dropped.
    let sim = world.sim.clone();
    world.end();
    assert!(sim.calls().build_exact <= 1);
    assert_eq!(sim.live(), 0);
}

#[test]
fn a_shutdown_with_a_build_that_hangs_says_so() {
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    world.sim.script(
        exact(&recipe),
        Script {
            hangs: true,
            ..Script::default()
        },
    );
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(20 * MS);
    let error = world.runtime.shut_down().unwrap_err();
    assert_eq!(error.to_string(), "1 builds do not end");
}

#[test]
fn real_threads_build_publish_release_and_shut_down() {
    let sim = Sim::new(WorkerCounts {
        required: 1,
        demand: 1,
        speculative: 1,
    });
    let counts = WorkerCounts {
        required: 1,
        demand: 2,
        speculative: 2,
    };
    let mut runtime = sim.threaded_runtime(
        Settings {
            capacity: 64,
            ..Settings::default()
        },
        counts,
    );
    let recipes: Vec<_> = (0..300).map(|n| SimRecipe::in_family(n, n % 7)).collect();
    for round in 0..60_u64 {
        let releases = runtime.releases();
        let frame = runtime.begin_frame();
        std::thread::scope(|scope| {
            for thread in 0..3_u64 {
                let (frame, sim, recipes, releases) = (&frame, &sim, &recipes, &releases);
                scope.spawn(move || {
                    let mut stream = frame.stream(u32::try_from(thread).unwrap());
                    for step in 0..40_u64 {
                        let number = (round * 5 + thread * 17 + step) % 300;
                        let recipe = &recipes[usize::try_from(number).unwrap()];
                        if step % 7 == 0 {
                            stream.on_uncovered(FirstDraw::Wait);
                        } else if step % 7 == 1 {
                            stream.on_uncovered(FirstDraw::Skip);
                        }
                        let epochs = Epochs {
                            shader: u32::try_from(step).unwrap() + 1,
                            ..Epochs::default()
                        };
                        let choice =
                            stream.select_key(epochs, || recipe.key(), || Arc::new(recipe.clone()));
                        if let Some(selected) = choice.selected() {
                            let drawn = sim.draw(recipe, selected.executable);
                            assert_eq!(drawn, Drawn::Picture(number));
                            if step % 13 == 0 {
                                releases.release(selected.id);
                            }
                        }
                    }
                });
            }
            scope.spawn(|| {
                let guesses = recipes.iter().skip(100).take(20);
                frame.predict(guesses.map(|r| (r.key(), Arc::new(r.clone()))));
            });
        });
    }
    runtime.shut_down().unwrap();
    assert_eq!(sim.faults(), Vec::<String>::new());
    assert_eq!(sim.live(), 0);
}

#[test]
fn statuses_are_kept_while_the_owner_waits_between_frames() {
    // A loading screen: no frames, only adoption.
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.runtime.begin_frame();
    world.sim.settle();
    assert_eq!(world.runtime.adopt(), 1);
    let id = world.register(&recipe);
    assert_eq!(world.runtime.status(id).unwrap().status, Status::Ready);
    world.end();
}

#[test]
fn an_engine_asks_ahead_and_draws_without_a_wait() {
    let mut world = World::new();
    let recipe = SimRecipe::alone(1);
    let id = world.register(&recipe);
    assert!(world.runtime.request(id));
    assert!(!world.runtime.request(id), "it is queued");
    world.sim.settle();
    world.frame(&[]);
    assert!(!world.runtime.request(id), "it is ready");
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    assert_eq!(world.sim.calls().build_exact, 1);
    world.end();
}

/// Recipes that differ under one key have places of their own. Those count as well.
#[test]
fn recipes_under_one_key_are_within_the_capacity_too() {
    let mut world = World::with(Settings {
        capacity: 4,
        ..Settings::default()
    });
    let key = SimRecipe::alone(1).key();
    for number in 1..=40 {
        world
            .runtime
            .register(key, Arc::new(SimRecipe::alone(number)));
    }
    assert_eq!(world.runtime.len(), 40);
    for _ in 0..40 {
        world.frame(&[]);
    }
    assert!(world.runtime.len() <= 4, "{}", world.runtime.len());
}
