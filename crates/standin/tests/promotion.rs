//! The promotion's states, through the runtime and by itself.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

mod world;

use std::time::Duration;

use standin::sim::{Drawn, Script, SimRecipe};
use standin::{
    Backoff, BuildError, Counter, Delay, FirstDraw, Moment, Promotion, Reason, Route, Settings,
    Status, Ticket, Verdict,
};
use world::{MS, World, exact, failing};

fn statuses(world: &mut World, recipe: &SimRecipe) -> (Status, u32) {
    let id = world.register(recipe);
    let status = world.runtime.status(id).unwrap();
    (status.status, status.attempts)
}

#[test]
fn a_promotion_passes_through_its_states_in_order() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    let mut seen = vec![statuses(&mut world, &recipe).0];
    for _ in 0..20 {
        world.draw(&recipe);
        let (status, _) = statuses(&mut world, &recipe);
        if seen.last() != Some(&status) {
            seen.push(status);
        }
        world.sim.advance(MS);
    }
    assert_eq!(
        seen,
        [
            Status::Absent,
            Status::ShaderPending,
            Status::PipelinePending,
            Status::Ready
        ]
    );
    world.end();
}

#[test]
fn shaders_that_wait_for_a_worker_are_a_state_of_their_own() {
    // One worker: while it builds the first pipeline, the second one's shaders stay done.
    let (one, two) = (SimRecipe::in_family(1, 9), SimRecipe::in_family(2, 9));
    let mut world = World::new();
    world.adopt_family(9);
    world.frame(&[&one, &two]);
    // 4 ms shaders of 1, then 10 ms pipeline of 1 (a paused build keeps its place), ...
    world.sim.advance(5 * MS);
    world.frame(&[]);
    assert_eq!(statuses(&mut world, &one).0, Status::PipelinePending);
    assert_eq!(statuses(&mut world, &two).0, Status::ShaderPending);
    // A draw that must have 2 takes it and leaves 1 alone.
    world.sim.advance(20 * MS);
    world.frame(&[]);
    assert_eq!(statuses(&mut world, &one).0, Status::Ready);
    world.end();
}

#[test]
fn a_failure_is_retried_after_a_time_not_after_draws() {
    // xemu's defect: the back-off advanced with each draw.
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    world.sim.script(exact(&recipe), failing(1));
    world.draw(&recipe);
    world.sim.settle();
    let begun = world.sim.calls().build_exact;
    for _ in 0..10 {
        let frame = world.runtime.begin_frame();
        let mut stream = frame.stream(0);
        for epoch in 0..100 {
            let drawn = world::draw(&world.sim, &mut stream, epoch, &recipe);
            assert_eq!(
                (drawn.route, drawn.drawn),
                (Route::StandIn, Some(Drawn::Picture(1)))
            );
        }
    }
    assert_eq!(statuses(&mut world, &recipe), (Status::FailedBackoff, 1));
    assert_eq!(world.sim.calls().build_exact, begun);
    assert!(world.counters().reason(Reason::FailedBackoff) > 0);
    world.sim.advance(16 * MS);
    world.draw(&recipe);
    world.sim.settle();
    assert_eq!(world.draw(&recipe).route, Route::Exact);
    assert_eq!(world.sim.calls().build_exact, begun + 1);
    world.end();
}

#[test]
fn a_build_that_always_fails_is_given_up_and_said_once() {
    // xemu's defect: the failure was forgotten and the build retried for ever.
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    world.sim.script(exact(&recipe), failing(u32::MAX));
    let before = world.sim.calls().build_exact;
    for _ in 0..200 {
        assert_eq!(world.draw(&recipe).route, Route::StandIn);
        world.sim.advance(50 * MS);
    }
    assert_eq!(statuses(&mut world, &recipe), (Status::FailedPermanent, 3));
    assert_eq!(world.sim.calls().build_exact - before, 3);
    assert_eq!(
        world.notices(),
        ["recipe 1 cannot be built: for now: scripted; it is not tried again"]
    );
    // The pipeline half failed: the shaders were built once and kept.
    let shaders = world
        .sim
        .begun()
        .iter()
        .filter(|b| b.target == exact(&recipe))
        .count();
    assert_eq!(shaders, 1);
    world.end();
}

#[test]
fn a_permanent_error_ends_it_at_once() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    world.sim.script(
        exact(&recipe),
        Script {
            error: BuildError::Permanent("bad SPIR-V".into()),
            fails_in_shaders: true,
            ..failing(u32::MAX)
        },
    );
    for _ in 0..5 {
        assert_eq!(world.draw(&recipe).drawn, Some(Drawn::Picture(1)));
        world.sim.settle();
    }
    assert_eq!(statuses(&mut world, &recipe), (Status::FailedPermanent, 1));
    world.end();
}

#[test]
fn failure_delays_double() {
    let mut promotion = Promotion::new(1);
    let backoff = Backoff {
        queue: Delay::Frames(2),
        failure: Delay::Frames(4),
        max_attempts: 9,
    };
    let mut moment = Moment {
        frame: 100,
        time: Duration::ZERO,
    };
    for expected in [4, 8, 16, 32] {
        promotion.submitted(ticket(&mut moment), false);
        promotion.failed(false, moment, &backoff);
        let waited = (0..).find(|f| promotion.due(moment.frame + f, || panic!("counts frames")));
        assert_eq!(waited, Some(expected));
        moment.frame += 1000;
    }
}

/// Tickets come from submissions; these come from as many runtimes' first ones.
fn ticket(moment: &mut Moment) -> Ticket {
    moment.frame += 1;
    Ticket::from_number(moment.frame)
}

#[test]
fn completions_are_accepted_only_with_generation_and_ticket_and_while_pending() {
    let (one, two) = (Ticket::from_number(1), Ticket::from_number(2));
    let mut promotion = Promotion::new(7);
    assert_eq!(promotion.judge(7, one), Verdict::NotPending);
    promotion.submitted(one, false);
    assert_eq!(promotion.judge(6, one), Verdict::WrongGeneration);
    assert_eq!(promotion.judge(7, two), Verdict::WrongTicket);
    assert_eq!(promotion.judge(7, one), Verdict::Accepted);
    promotion.shaders_ready(two);
    assert_eq!(
        promotion.status(),
        Status::ShaderPending,
        "another submission's rung"
    );
    promotion.shaders_ready(one);
    assert_eq!(promotion.status(), Status::ShaderReady);
    assert_eq!(promotion.judge(7, one), Verdict::Accepted);
    promotion.pipeline_started(one);
    promotion.ready();
    assert_eq!(
        promotion.judge(7, one),
        Verdict::NotPending,
        "a second completion"
    );
    promotion.submitted(two, false);
    assert_eq!(promotion.status(), Status::Ready, "ready stays ready");
}

#[test]
fn a_refusal_costs_no_attempt_and_disturbs_nothing_that_is_pending() {
    let backoff = Backoff::default();
    let moment = Moment {
        frame: 10,
        time: Duration::ZERO,
    };
    let mut promotion = Promotion::new(1);
    for _ in 0..100 {
        promotion.refused(moment, &backoff);
    }
    assert_eq!(
        (promotion.status(), promotion.attempts()),
        (Status::QueueBackoff, 0)
    );
    assert!(!promotion.due(11, || Duration::ZERO));
    assert!(promotion.due(12, || Duration::ZERO));
    promotion.submitted(Ticket::from_number(1), false);
    promotion.refused(moment, &backoff);
    assert_eq!(
        (promotion.status(), promotion.attempts()),
        (Status::ShaderPending, 1)
    );
}

#[test]
fn a_stale_generation_is_rejected_and_its_result_freed() {
    let recipe = SimRecipe::in_family(1, 9);
    let mut world = World::new();
    world.adopt_family(9);
    world.draw(&recipe);
    world.sim.advance(5 * MS);
    // Released and registered again while its pipeline is being built.
    let old = world.register(&recipe);
    world.runtime.release(old);
    let new = world.register(&recipe);
    assert_ne!(old, new);
    let live = world.sim.live();
    world.draw(&recipe);
    world.sim.settle();
    world.frame(&[]);
    let status = world.runtime.status(new).unwrap();
    assert_eq!((status.status, status.attempts), (Status::Ready, 1));
    assert_eq!(
        world.sim.live(),
        live,
        "the old build's result is gone, the new one is there"
    );
    world.end();
}

#[test]
fn an_unrelated_completion_disturbs_nothing() {
    // xemu's defect: any adoption bumped a global epoch.
    let (a, b) = (SimRecipe::in_family(1, 9), SimRecipe::in_family(2, 9));
    let mut world = World::new();
    world.draw(&a);
    world.frame(&[]);
    world.frame_with(FirstDraw::Skip, &[&b]);
    let status = statuses(&mut world, &a);
    world.sim.settle();
    let before = world.sim.calls();
    let frame = world.runtime.begin_frame();
    assert!(frame.counters().get(Counter::Adopted) >= 1);
    let mut stream = frame.stream(0);
    let drawn = world::draw(&world.sim, &mut stream, 1, &a);
    assert_eq!(drawn.route, Route::Exact);
    drop(stream);
    assert_eq!(world.sim.calls(), before, "A does no work for B");
    assert_eq!(statuses(&mut world, &a), status);
}

#[test]
fn an_uncovered_draw_whose_build_failed_is_skipped_until_the_retry_is_due() {
    let recipe = SimRecipe::alone(1);
    let mut world = World::with(Settings {
        backoff: Backoff {
            max_attempts: 2,
            ..Backoff::default()
        },
        ..Settings::default()
    });
    world.sim.script(exact(&recipe), failing(u32::MAX));
    let first = world.draw(&recipe);
    assert_eq!(first.reason, Some(Reason::ExactFailed));
    let builds = world.sim.calls().build_exact;
    world.draw(&recipe);
    assert_eq!(world.sim.calls().build_exact, builds, "not due");
    world.sim.advance(20 * MS);
    world.draw(&recipe);
    world.sim.advance(200 * MS);
    for _ in 0..3 {
        assert_eq!(world.draw(&recipe).reason, Some(Reason::ExactFailed));
    }
    assert_eq!(world.sim.calls().build_exact, builds + 1);
    assert_eq!(statuses(&mut world, &recipe), (Status::FailedPermanent, 2));
    world.end();
}
