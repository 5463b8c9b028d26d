//! Which way a draw goes, asserted by what the backend is called for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use std::sync::Arc;
use std::time::Duration;

use standin::sim::{Calls, Drawn, Script, SimRecipe, SimTarget};
use standin::{
    Counter, Epochs, FirstDraw, Mechanism, Reason, Rejection, Resources, Route, Settings, Status,
    Waiting,
};
use world::{MS, World, archived, draw, exact};

/// Counters of what a hit must not do.
fn machinery(counters: &standin::Counters) -> [u64; 4] {
    [
        counters.get(Counter::StandInProbes),
        counters.get(Counter::Submissions),
        counters.get(Counter::ArchiveLookups),
        counters.get(Counter::AdmissionChecks),
    ]
}

/// A world in which `recipe`'s exact pipeline is adopted.
fn with_exact(recipe: &SimRecipe) -> World {
    let mut world = World::new();
    assert_eq!(world.draw(recipe).route, Route::Waited);
    world.frame(&[]);
    world
}

#[test]
fn a_complete_specialised_hit_does_no_stand_in_work() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = with_exact(&recipe);
    world.adopt_family(9);
    world.frame(&[]);
    let before = world.sim.calls();
    let drawn = world.draw(&recipe);
    assert_eq!(drawn.route, Route::Exact);
    assert_eq!(drawn.drawn, Some(Drawn::Picture(1)));
    // 0 stand-in probes, packet validations, queue submissions: no call of the backend at all.
    assert_eq!(world.sim.calls().since(&before), Calls::default());
    let counters = world.counters();
    assert_eq!(machinery(&counters), [0; 4]);
    assert_eq!(counters.reason(Reason::ExactReady), 1);
    world.end();
}

#[test]
fn unchanged_state_asks_for_nothing_not_even_the_id() {
    let recipe = SimRecipe::alone(1);
    let mut world = with_exact(&recipe);
    let id = world.register(&recipe);
    let before = world.sim.calls();
    {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        let mut asked = 0;
        for _ in 0..1000 {
            let choice = stream.select(Epochs::default(), || {
                asked += 1;
                id
            });
            assert_eq!(choice.selected().unwrap().id, id);
        }
        assert_eq!(asked, 1);
    }
    assert_eq!(world.sim.calls().since(&before), Calls::default());
    let counters = world.counters();
    assert_eq!(counters.route(Route::Exact), 1);
    assert_eq!(counters.route(Route::Unchanged), 999);
    assert_eq!(counters.get(Counter::Draws), 1000);
    world.end();
}

#[test]
fn each_epoch_alone_makes_the_draw_select_again() {
    let recipe = SimRecipe::alone(1);
    let mut world = with_exact(&recipe);
    let id = world.register(&recipe);
    let changed: [fn(&mut Epochs); 4] = [
        |e| e.shader += 1,
        |e| e.fixed_state += 1,
        |e| e.vertex_layout += 1,
        |e| e.attachments += 1,
    ];
    let frame = world.runtime.begin_frame();
    let mut stream = frame.stream(0);
    let mut epochs = Epochs::default();
    stream.select(epochs, || id);
    for change in changed {
        change(&mut epochs);
        let mut asked = false;
        stream.select(epochs, || {
            asked = true;
            id
        });
        assert!(asked, "{epochs:?}");
    }
}

#[test]
fn a_stable_stand_in_does_no_new_work_while_its_promotion_is_pending() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    // The first draw submits, once.
    let first = world.draw(&recipe);
    assert_eq!(first.route, Route::StandIn);
    let counters = world.counters();
    assert_eq!(counters.get(Counter::Submissions), 1);
    assert_eq!(counters.reason(Reason::PromotionSubmitted), 1);
    // Later frames, from which no time passes, so that it stays pending.
    let before = world.sim.calls();
    for _ in 0..5 {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        for _ in 0..100 {
            let drawn = draw(&world.sim, &mut stream, 7, &recipe);
            assert_eq!(
                (drawn.route, drawn.drawn),
                (Route::StandIn, Some(Drawn::Picture(1)))
            );
        }
        drop(stream);
        let counters = frame.counters();
        assert_eq!(counters.get(Counter::Submissions), 0);
        assert_eq!(
            counters.get(Counter::StandInProbes),
            1,
            "one selection a frame"
        );
        assert_eq!(counters.reason(Reason::PromotionPending), 1);
        assert_eq!(counters.route(Route::Unchanged), 99);
    }
    let calls = world.sim.calls().since(&before);
    assert_eq!(calls.candidates, 0, "no program validations");
    assert_eq!(
        (calls.build_shaders, calls.build_exact, calls.build_stand_in),
        (0, 0, 0)
    );
    world.end();
}

#[test]
fn the_exact_pipeline_replaces_the_stand_in_at_a_frame_start() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    assert_eq!(world.draw(&recipe).route, Route::StandIn);
    {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        assert_eq!(
            draw(&world.sim, &mut stream, 1, &recipe).route,
            Route::StandIn
        );
        // It finishes in mid-frame: this frame goes on as it began.
        world.sim.settle();
        assert_eq!(
            draw(&world.sim, &mut stream, 2, &recipe).route,
            Route::StandIn
        );
    }
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    world.end();
}

#[test]
fn shaders_only_and_a_complete_stand_in_draw_with_the_stand_in() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    let id = world.register(&recipe);
    world.draw(&recipe);
    // The shaders take 4 ms, the pipeline 10 more: after 5 ms only the shaders are there.
    world.sim.advance(5 * MS);
    assert_eq!(world.draw(&recipe).route, Route::StandIn);
    assert_eq!(
        world.runtime.status(id).unwrap().status,
        Status::PipelinePending
    );
    assert!(!world.runtime.status(id).unwrap().exact);
    world.sim.advance(10 * MS);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    world.end();
}

#[test]
fn a_full_queue_keeps_the_stand_in_without_a_synchronous_compile() {
    let mut world = World::with(Settings {
        queue_capacity: 1,
        ..Settings::default()
    });
    world.adopt_family(9);
    let recipes: Vec<_> = (1..=3).map(|n| SimRecipe::in_family(n, 9)).collect();
    let before = world.sim.time();
    let drawn = world.frame(&recipes.iter().collect::<Vec<_>>());
    assert!(drawn.iter().all(|d| d.route == Route::StandIn));
    assert_eq!(world.sim.time(), before, "no draw took any time");
    let ids: Vec<_> = recipes.iter().map(|r| world.register(r)).collect();
    let counters = world.counters();
    assert_eq!(counters.get(Counter::QueueFull), 2);
    assert_eq!(counters.reason(Reason::QueueFull), 2);
    for id in &ids[1..] {
        let status = world.runtime.status(*id).unwrap();
        assert_eq!((status.status, status.attempts), (Status::QueueBackoff, 0));
    }
    // They are retried, and all get there.
    for _ in 0..12 {
        world.sim.advance(20 * MS);
        world.frame(&recipes.iter().collect::<Vec<_>>());
    }
    for (id, recipe) in ids.iter().zip(&recipes) {
        assert!(world.runtime.status(*id).unwrap().exact, "{recipe:?}");
    }
    world.end();
}

#[test]
fn a_rollover_stays_on_the_route() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    world.sim.set_resources(0, Resources::NeedsRollover);
    let before = world.sim.calls();
    let drawn = world.draw(&recipe);
    assert_eq!((drawn.route, drawn.rollover), (Route::StandIn, true));
    assert_eq!(
        world.sim.calls().since(&before).build_exact,
        0,
        "no synchronous specialisation"
    );
    let counters = world.counters();
    assert_eq!(counters.get(Counter::Rollovers), 1);
    assert_eq!(
        counters.first_demands(standin::FirstDemand::ResourceWait),
        1
    );
    world.sim.set_resources(0, Resources::Ready);
    assert!(!world.draw(&recipe).rollover);
    world.end();
}

#[test]
fn unavailable_resources_leave_the_stand_in_and_say_so() {
    let mut recipe = SimRecipe::in_family(1, 9);
    recipe.families.push((10, 5, Mechanism::Widest));
    let mut world = World::new();
    world.adopt_family(9);
    world.sim.set_resources(0, Resources::Unavailable);
    let drawn = world.frame_with(FirstDraw::Skip, &[&recipe])[0];
    assert_eq!(drawn.reason, Some(Reason::ResourcesUnavailable));
    world.end();
}

#[test]
fn the_cheapest_adopted_stand_in_serves() {
    let mut world = World::new();
    world.adopt_family(9);
    world.adopt_family(10);
    let recipe = SimRecipe {
        number: 1,
        families: vec![
            (9, 70, Mechanism::Widest),
            (10, 20, Mechanism::Pulled),
            (11, 1, Mechanism::Dynamic),
        ],
        ..SimRecipe::default()
    };
    let id = world.register(&recipe);
    let frame = world.runtime.begin_frame();
    let mut stream = frame.stream(0);
    let selected = stream.select(Epochs::default(), || id).selected().unwrap();
    // 11 would be cheaper and is not built; 10 is cheaper than 9.
    assert_eq!(selected.executable.target, SimTarget::Family(10));
    assert_eq!(selected.mechanism, Some(Mechanism::Pulled));
}

#[test]
fn parts_in_memory_are_linked_before_a_stand_in_is_looked_at() {
    let mut recipe = SimRecipe::in_family(1, 9);
    recipe.linkable = true;
    let mut world = World::new();
    world.adopt_family(9);
    let before = world.sim.calls();
    let drawn = world.draw(&recipe);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Linked, Some(Drawn::Picture(1)))
    );
    let calls = world.sim.calls().since(&before);
    assert_eq!(
        (calls.fast_link, calls.resources, calls.archived),
        (1, 0, 0)
    );
    // The link serves until the exact pipeline is there; one link, one submission.
    assert_eq!(world.draw(&recipe).route, Route::Linked);
    world.sim.settle();
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    let calls = world.sim.calls().since(&before);
    assert_eq!((calls.fast_link, calls.build_exact), (1, 1));
    world.end();
}

#[test]
fn what_only_the_archive_has_is_loaded_on_the_draws_path_and_counted_apart() {
    let recipe = SimRecipe::alone(1);
    let mut world = World::new();
    world.sim.script(exact(&recipe), archived());
    let drawn = world.draw(&recipe);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Loaded, Some(Drawn::Picture(1)))
    );
    let counters = world.counters();
    assert_eq!(counters.get(Counter::ForegroundLoads), 1);
    assert_eq!(counters.time(Counter::LoadTime), Script::default().load);
    assert_eq!(
        (counters.waited(), counters.time(Counter::WaitTime)),
        (0, Duration::ZERO)
    );
    assert_eq!(world.sim.calls().build_exact, 0);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    world.end();
}

#[test]
fn an_archived_stand_in_is_loaded_when_the_exact_pipeline_is_not_archived() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.sim.script(SimTarget::Family(9), archived());
    let drawn = world.draw(&recipe);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Loaded, Some(Drawn::Picture(1)))
    );
    // The next recipe of the family finds it in memory: before the next frame, too.
    let other = SimRecipe::in_family(2, 9);
    assert_eq!(world.draw(&other).route, Route::StandIn);
    world.sim.settle();
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    world.end();
}

#[test]
fn an_adopted_stand_in_comes_before_the_archive_and_the_load_goes_to_the_background() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    world.sim.script(exact(&recipe), archived());
    let time = world.sim.time();
    assert_eq!(world.draw(&recipe).route, Route::StandIn);
    assert_eq!(world.sim.time(), time);
    world.sim.advance(MS);
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    assert_eq!(world.sim.calls().build_shaders, 1, "only the pioneer's");
    world.end();
}

#[test]
fn an_uncovered_draw_waits_by_default_and_names_the_wait() {
    let recipe = SimRecipe::alone(4);
    let mut world = World::with(Settings {
        wait_notice: MS,
        ..Settings::default()
    });
    let drawn = world.draw(&recipe);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::Waited, Some(Drawn::Picture(4)))
    );
    let counters = world.counters();
    assert_eq!(counters.waited(), 1);
    assert_eq!(counters.waits(Waiting::BuiltHere), 1);
    assert_eq!(counters.reason(Reason::NoFamilyAdmits), 1);
    assert_eq!(counters.time(Counter::WaitTime), 14 * MS);
    assert_eq!(
        world.notices(),
        [
            "frame 1: a draw with recipe 4 waited 14.0 ms (built here; no family admits it; \
          queued 0.0 ms, built in 14.0 ms)"
        ]
    );
    world.end();
}

#[test]
fn a_skipping_draw_takes_no_time_and_builds_in_the_background() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    let drawn = world.frame_with(FirstDraw::Skip, &[&recipe])[0];
    assert_eq!(drawn.reason, Some(Reason::StandInNotBuilt));
    assert_eq!(world.sim.time(), Duration::ZERO);
    world.sim.settle();
    let drawn = world.frame_with(FirstDraw::Skip, &[&recipe])[0];
    assert_eq!(drawn.route, Route::Exact);
    world.end();
}

#[test]
fn an_inline_draw_builds_beside_a_running_build_and_the_spare_is_freed() {
    let recipe = SimRecipe::alone(1);
    let mut world = World::new();
    world.frame_with(FirstDraw::Skip, &[&recipe]);
    world.sim.advance(2 * MS);
    let before = world.sim.time();
    let drawn = world.frame_with(FirstDraw::Inline, &[&recipe])[0];
    assert_eq!(drawn.drawn, Some(Drawn::Picture(1)));
    assert_eq!(
        world.sim.time() - before,
        14 * MS,
        "its own build, from the start"
    );
    assert_eq!(world.counters().waits(Waiting::Inline), 1);
    world.sim.settle();
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    let id = world.register(&recipe);
    assert_eq!(world.runtime.status(id).unwrap().status, Status::Ready);
    world.end();
}

#[test]
fn rejected_states_stay_rejected_and_are_counted_by_family_and_reason() {
    let mut world = World::new();
    world.adopt_family(9);
    for number in 1..=3 {
        let recipe = SimRecipe {
            number,
            rejected: vec![
                Rejection {
                    mechanism: Mechanism::Pulled,
                    reason: "writes layer",
                },
                Rejection {
                    mechanism: Mechanism::Generic,
                    reason: "unsupported mapping",
                },
            ],
            ..SimRecipe::default()
        };
        assert_eq!(world.draw(&recipe).route, Route::Waited);
    }
    let rejections = world.runtime.rejections();
    assert_eq!(rejections.get(Mechanism::Pulled, "writes layer"), 3);
    assert_eq!(rejections.get(Mechanism::Generic, "unsupported mapping"), 3);
    assert_eq!(rejections.get(Mechanism::Generic, "writes layer"), 0);
    assert_eq!(rejections.iter().count(), 2);
    world.end();
}

#[test]
fn a_probe_for_a_missing_pipeline_has_no_side_effects() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    let other = world.register(&SimRecipe::alone(2));
    let before = world.sim.calls();
    assert_eq!(world.runtime.find(recipe.key()), None);
    let count = world.runtime.len();
    let id = world.register(&recipe);
    let calls = world.sim.calls().since(&before);
    assert_eq!(
        calls,
        Calls {
            candidates: 1,
            ..Calls::default()
        },
        "registering builds nothing"
    );
    let before = world.sim.calls();
    for _ in 0..10 {
        let status = world.runtime.status(id).unwrap();
        assert_eq!(
            (status.status, status.exact, status.covered),
            (Status::Absent, false, false)
        );
        assert_eq!(world.runtime.find(recipe.key()), Some(id));
    }
    assert_eq!(world.sim.calls().since(&before), Calls::default());
    assert_eq!(world.runtime.len(), count + 1);
    assert!(world.runtime.status(other).is_some(), "nothing was evicted");
    assert_eq!(world.sim.live(), 0);
}

#[test]
fn two_recipes_with_one_key_are_both_drawn_right() {
    let mut world = World::new();
    let one = SimRecipe::alone(1);
    let two = SimRecipe::alone(2);
    let first = world.runtime.register(one.key(), Arc::new(one.clone()));
    let second = world.runtime.register(one.key(), Arc::new(two.clone()));
    assert_ne!(first, second);
    assert_eq!(
        world.runtime.register(one.key(), Arc::new(one.clone())),
        first
    );
    let frame = world.runtime.begin_frame();
    let mut stream = frame.stream(0);
    for (epoch, id, recipe) in [(1, first, &one), (2, second, &two), (3, first, &one)] {
        let epochs = Epochs {
            shader: epoch,
            ..Epochs::default()
        };
        let selected = stream.select(epochs, || id).selected().unwrap();
        let drawn = world.sim.draw(recipe, selected.executable);
        assert_eq!(drawn, Drawn::Picture(recipe.number));
    }
}

#[test]
fn a_stale_handle_is_skipped_with_its_reason() {
    let recipe = SimRecipe::alone(1);
    let mut world = with_exact(&recipe);
    let id = world.register(&recipe);
    world.runtime.release(id);
    {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        let choice = stream.select(Epochs::default(), || id);
        assert!(
            matches!(choice, standin::Choice::Skip(Reason::StaleHandle)),
            "{choice:?}"
        );
    }
    // Its place may be used again; the old handle still names nothing.
    let again = world.register(&SimRecipe::alone(2));
    assert_ne!(id, again);
    assert_eq!(world.runtime.status(id), None);
    world.end();
}

#[test]
fn first_demands_are_classed() {
    use standin::FirstDemand;
    let mut world = World::new();
    world.adopt_family(9);
    let ready = SimRecipe::in_family(1, 9);
    let missed = SimRecipe::in_family(2, 10);
    let unsupported = SimRecipe::alone(3);
    let too_late = SimRecipe::in_family(4, 11);
    world
        .runtime
        .predict([(too_late.key(), Arc::new(too_late.clone()))]);
    world.frame(&[]);
    let all = [&ready, &missed, &unsupported, &too_late];
    world.frame(&all);
    let counters = world.counters();
    let classes: Vec<_> = FirstDemand::ALL
        .iter()
        .map(|class| counters.first_demands(*class))
        .collect();
    assert_eq!(classes, [1, 1, 1, 1, 0]);
    // Only first demands count.
    world.frame(&all);
    let counters = world.counters();
    assert!(
        FirstDemand::ALL
            .iter()
            .all(|c| counters.first_demands(*c) == 0)
    );
    world.end();
}

#[test]
fn a_forced_family_draws_in_place_of_the_exact_pipeline_which_is_built_nevertheless() {
    let mut world = World::with(Settings {
        force_family: Some(Mechanism::Generic),
        ..Settings::default()
    });
    let mut recipe = SimRecipe::alone(1);
    recipe.families = vec![(7, 1, Mechanism::Pulled), (9, 5, Mechanism::Generic)];
    recipe.linkable = true;
    // Nothing of the family yet: the usual way, here a link. Both builds are asked for.
    assert_eq!(world.draw(&recipe).route, Route::Linked);
    world.sim.settle();
    let drawn = world.draw(&recipe);
    assert_eq!(
        (drawn.route, drawn.drawn),
        (Route::StandIn, Some(Drawn::Picture(1)))
    );
    let counters = world.counters();
    assert_eq!(counters.reason(Reason::FamilyForced), 1);
    assert_eq!(counters.get(Counter::Submissions), 0);
    let id = world.register(&recipe);
    assert!(world.runtime.status(id).unwrap().exact);
    assert_eq!(
        world.runtime.family_status(SimRecipe::family_key(7)),
        Some(Status::Absent),
        "the cheaper family is not forced, and nothing needs it"
    );

    // It stays, and unchanged state costs what it always costs.
    let frame = world.runtime.begin_frame();
    let mut stream = frame.stream(0);
    let first = stream.select(Epochs::default(), || id).selected().unwrap();
    assert_eq!(first.mechanism, Some(Mechanism::Generic));
    let before = world.sim.calls();
    for _ in 0..100 {
        let again = stream.select(Epochs::default(), || panic!("asked for unchanged state"));
        assert!(std::ptr::eq(
            again.selected().unwrap().executable,
            first.executable
        ));
    }
    assert_eq!(world.sim.calls().since(&before), Calls::default());
    drop(stream);

    // A recipe that the family does not admit, and one that it cannot be built for.
    let other = SimRecipe::in_family(2, 7);
    world.draw(&other);
    world.sim.settle();
    assert_eq!(world.draw(&other).route, Route::Exact);
    let mut broken = SimRecipe::alone(3);
    broken.families = vec![(11, 1, Mechanism::Generic)];
    world.sim.script(
        SimTarget::Family(11),
        Script {
            error: standin::BuildError::Permanent("no".into()),
            ..world::failing(u32::MAX)
        },
    );
    world.draw(&broken);
    world.sim.settle();
    assert_eq!(world.draw(&broken).route, Route::Exact);
    world.end();
}
