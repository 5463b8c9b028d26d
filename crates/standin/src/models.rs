//! Models of each hand-off between threads, run by loom over all interleavings up to its bound:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p standin --release --lib models
//! ```
//!
//! They run the code that a program runs: the scheduler, the claims and the tables. Jobs and
//! results are numbers here; a result that is lost or seen twice fails the model.

use std::time::Duration;

use loom::model::Builder;
use loom::thread;

use crate::lanes::{Cancelled, Claim, Collected, Lane, Lanes, Limits, Request, Submission, Target};
use crate::promotion::Ticket;
use crate::slots::AskOnce;
use crate::sync::{Arc, AtomicU32, OnceLock, Ordering};
use crate::table::Table;

type TestLanes = Lanes<u32, Option<u32>>;

fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.max_branches = 50_000;
    builder.check(body);
}

fn lanes(jobs: usize) -> Arc<TestLanes> {
    Arc::new(Lanes::new(Limits {
        jobs,
        speculative: jobs,
        speculative_running: 2,
    }))
}

const TARGET: Target = Target::Pipeline(0);

fn request(lane: Lane) -> Request {
    Request {
        lane,
        target: TARGET,
        generation: 1,
    }
}

/// What a waiting draw does, as in `uncovered`: builds, or waits and publishes.
fn require(lanes: &TestLanes, place: &OnceLock<u32>, builds: &AtomicU32) -> u32 {
    let build = |ticket: Ticket| {
        builds.fetch_add(1, Ordering::Relaxed);
        assert!(place.set(7).is_ok(), "built twice");
        assert_eq!(lanes.finish(ticket, None), None);
    };
    match lanes.require(request(Lane::Required), || 7) {
        Claim::Build { taken, .. } => build(taken.ticket),
        Claim::Running(ticket) | Claim::Finished(ticket) => {
            assert!(lanes.wait_ended(ticket, Duration::from_secs(3600)));
            let collected = lanes.collect(ticket, |result| {
                if let Some(value) = result.take() {
                    assert!(place.set(value).is_ok(), "published twice");
                }
            });
            match collected {
                Collected::Build(taken) => build(taken.ticket),
                Collected::Result(()) => {}
                other => panic!("{other:?}"),
            }
        }
        Claim::Stopped => panic!("nobody stops it"),
    }
    *place.get().expect("a draw that waited has its pipeline")
}

/// A worker that starts a queued build against a draw that takes it: one of them builds it,
/// once, and the draw has it either way.
#[test]
fn a_draw_takes_a_build_while_a_worker_starts_it() {
    model(|| {
        let lanes = lanes(4);
        let place = Arc::new(OnceLock::new());
        let builds = Arc::new(AtomicU32::new(0));
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 7).0,
            Submission::Accepted
        );
        let worker = {
            let (lanes, builds) = (lanes.clone(), builds.clone());
            thread::spawn(move || {
                if let Some(taken) = lanes.take(Lane::Demand) {
                    builds.fetch_add(1, Ordering::Relaxed);
                    assert_eq!(lanes.finish(taken.ticket, Some(taken.job)), None);
                }
            })
        };
        assert_eq!(require(&lanes, &place, &builds), 7);
        worker.join().unwrap();
        assert_eq!(builds.load(Ordering::Relaxed), 1);
    });
}

/// As above, with a worker that sets the build aside between its halves.
#[test]
fn a_draw_takes_over_a_build_that_is_paused_between_rungs() {
    model(|| {
        let lanes = lanes(4);
        let place = Arc::new(OnceLock::new());
        let builds = Arc::new(AtomicU32::new(0));
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 7).0,
            Submission::Accepted
        );
        let worker = {
            let (lanes, builds) = (lanes.clone(), builds.clone());
            thread::spawn(move || {
                let Some(taken) = lanes.take(Lane::Demand) else {
                    return;
                };
                assert_eq!(lanes.pause(taken.ticket, taken.job), None);
                if let Some(again) = lanes.take(Lane::Demand) {
                    builds.fetch_add(1, Ordering::Relaxed);
                    assert_eq!(lanes.finish(again.ticket, Some(again.job)), None);
                }
            })
        };
        assert_eq!(require(&lanes, &place, &builds), 7);
        worker.join().unwrap();
        assert_eq!(builds.load(Ordering::Relaxed), 1);
    });
}

/// Two draws that must have the same pipeline: one builds, both have it.
#[test]
fn two_draws_wait_for_one_build() {
    model(|| {
        let lanes = lanes(4);
        let place = Arc::new(OnceLock::new());
        let builds = Arc::new(AtomicU32::new(0));
        let other = {
            let (lanes, place, builds) = (lanes.clone(), place.clone(), builds.clone());
            thread::spawn(move || require(&lanes, &place, &builds))
        };
        assert_eq!(require(&lanes, &place, &builds), 7);
        assert_eq!(other.join().unwrap(), 7);
        assert_eq!(builds.load(Ordering::Relaxed), 1);
    });
}

/// Two draws that wait for a worker's build: exactly one publishes the result.
#[test]
fn two_waiting_draws_publish_a_workers_result_once() {
    model(|| {
        let lanes = lanes(4);
        let place = Arc::new(OnceLock::new());
        let builds = Arc::new(AtomicU32::new(0));
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 7).0,
            Submission::Accepted
        );
        let taken = lanes.take(Lane::Demand).expect("it was submitted");
        let other = {
            let (lanes, place, builds) = (lanes.clone(), place.clone(), builds.clone());
            thread::spawn(move || require(&lanes, &place, &builds))
        };
        let worker = {
            let lanes = lanes.clone();
            thread::spawn(move || assert_eq!(lanes.finish(taken.ticket, Some(7)), None))
        };
        assert_eq!(require(&lanes, &place, &builds), 7);
        assert_eq!(other.join().unwrap(), 7);
        worker.join().unwrap();
        assert_eq!(builds.load(Ordering::Relaxed), 0);
    });
}

/// A release against the end of the build: the result is freed by exactly one of them.
#[test]
fn a_result_is_freed_once_when_its_pipeline_is_released_while_it_ends() {
    model(|| {
        let lanes = lanes(4);
        let freed = Arc::new(AtomicU32::new(0));
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 7).0,
            Submission::Accepted
        );
        let worker = {
            let (lanes, freed) = (lanes.clone(), freed.clone());
            thread::spawn(move || {
                if let Some(taken) = lanes.take(Lane::Demand)
                    && let Some(orphan) = lanes.finish(taken.ticket, Some(taken.job))
                {
                    assert_eq!(orphan, Some(7));
                    freed.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let built = match lanes.cancel(TARGET) {
            Cancelled::Unstarted(_) => false,
            Cancelled::WhileRunning => true,
            Cancelled::Finished(result) => {
                assert_eq!(result, Some(7));
                freed.fetch_add(1, Ordering::Relaxed);
                true
            }
            Cancelled::Nothing => panic!("it was submitted"),
        };
        worker.join().unwrap();
        assert_eq!(freed.load(Ordering::Relaxed), u32::from(built));
        assert!(
            lanes.next_finished().is_none(),
            "nothing is adopted after its release"
        );
        assert!(!lanes.is_busy(TARGET));
    });
}

/// Released and asked for again while the old build ends: the old result never becomes the
/// new one's.
#[test]
fn a_new_generation_never_gets_the_old_ones_result() {
    model(|| {
        let lanes = lanes(4);
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 1).0,
            Submission::Accepted
        );
        let old = lanes.take(Lane::Demand).expect("it was submitted");
        let worker = {
            let lanes = lanes.clone();
            thread::spawn(move || lanes.finish(old.ticket, Some(old.job)))
        };
        let cancelled = lanes.cancel(TARGET);
        let again = Request {
            generation: 2,
            ..request(Lane::Demand)
        };
        assert_eq!(lanes.submit(again, || 2).0, Submission::Accepted);
        let new = lanes.take(Lane::Demand).expect("it was submitted");
        assert_eq!(lanes.finish(new.ticket, Some(new.job)), None);
        let orphan = worker.join().unwrap();
        match cancelled {
            Cancelled::WhileRunning => assert_eq!(orphan, Some(Some(1))),
            Cancelled::Finished(result) => assert_eq!((result, orphan), (Some(1), None)),
            other => panic!("{other:?}"),
        }
        let finished = lanes.next_finished().expect("the new one");
        assert_eq!((finished.generation, finished.result), (2, Some(2)));
        assert!(lanes.next_finished().is_none());
    });
}

/// One place left and two submissions: one is accepted, and its result is not lost.
#[test]
fn a_reserved_place_is_given_to_one_of_two() {
    model(|| {
        let lanes = lanes(1);
        let submit = |lanes: &TestLanes, index: u32| {
            let request = Request {
                target: Target::Pipeline(index),
                ..request(Lane::Demand)
            };
            lanes.submit(request, || index).0
        };
        let other = {
            let lanes = lanes.clone();
            thread::spawn(move || submit(&lanes, 1))
        };
        let mine = submit(&lanes, 2);
        let theirs = other.join().unwrap();
        let accepted = [&mine, &theirs]
            .into_iter()
            .filter(|s| **s == Submission::Accepted)
            .count();
        assert_eq!(accepted, 1, "{mine:?} {theirs:?}");
        let taken = lanes.take(Lane::Demand).expect("one was accepted");
        assert_eq!(lanes.finish(taken.ticket, Some(taken.job)), None);
        // Finished and not adopted, it still holds its place.
        assert_eq!(submit(&lanes, 3), Submission::Full);
        assert!(lanes.next_finished().is_some());
        assert_eq!(submit(&lanes, 3), Submission::Accepted);
    });
}

/// Shutdown against a worker's loop: it ends, and every accepted build is dropped unstarted,
/// or run and freed.
#[test]
fn shutdown_waits_for_what_runs_and_loses_nothing() {
    model(|| {
        let lanes = lanes(4);
        let worker = {
            let lanes = lanes.clone();
            thread::spawn(move || {
                let mut built = 0;
                while let Some(taken) = lanes.take_blocking(Lane::Demand) {
                    built += 1;
                    assert_eq!(lanes.finish(taken.ticket, Some(taken.job)), None);
                }
                built
            })
        };
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 7).0,
            Submission::Accepted
        );
        let unstarted = lanes.stop().len();
        lanes.wait_idle();
        let built = worker.join().unwrap();
        assert_eq!(unstarted + built, 1);
        assert_eq!(lanes.next_finished().is_some(), built == 1);
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 8).0,
            Submission::Stopped
        );
    });
}

/// A frame that sees no news has nothing to adopt: a result that is finished before the count
/// is read is never missed.
#[test]
fn news_is_told_after_the_result_is_there() {
    model(|| {
        let lanes = lanes(4);
        assert_eq!(
            lanes.submit(request(Lane::Demand), || 7).0,
            Submission::Accepted
        );
        let before = lanes.news();
        let taken = lanes.take(Lane::Demand).expect("it was submitted");
        let worker = {
            let lanes = lanes.clone();
            thread::spawn(move || assert_eq!(lanes.finish(taken.ticket, Some(7)), None))
        };
        let seen = lanes.news();
        if seen != before {
            assert!(lanes.next_finished().is_some());
        }
        worker.join().unwrap();
        assert_ne!(lanes.news(), before);
    });
}

/// A guess that is reclaimed for room while a draw asks for it: the draw has its pipeline.
#[test]
fn a_reclaimed_guess_is_not_lost_to_a_draw() {
    model(|| {
        let lanes = lanes(1);
        let place = Arc::new(OnceLock::new());
        let builds = Arc::new(AtomicU32::new(0));
        let (submission, _) = lanes.submit(request(Lane::Speculative), || 7);
        assert_eq!(submission, Submission::Accepted);
        let taken = lanes.take(Lane::Speculative).expect("it was submitted");
        assert_eq!(lanes.finish(taken.ticket, Some(7)), None);
        let predictor = {
            let lanes = lanes.clone();
            thread::spawn(move || {
                let other = Request {
                    target: Target::Pipeline(1),
                    ..request(Lane::Speculative)
                };
                lanes.submit(other, || 8).1
            })
        };
        assert_eq!(require(&lanes, &place, &builds), 7);
        let reclaimed = predictor.join().unwrap();
        let rebuilt = builds.load(Ordering::Relaxed);
        assert_eq!(rebuilt, u32::from(reclaimed.is_some()), "{reclaimed:?}");
    });
}

/// Draws of several streams that see the same gap: one submits.
#[test]
fn one_of_several_draws_asks() {
    model(|| {
        let asked = Arc::new(AskOnce::new());
        let others: Vec<_> = (0..2)
            .map(|_| {
                let asked = asked.clone();
                thread::spawn(move || u32::from(asked.claim()))
            })
            .collect();
        let mine = u32::from(asked.claim());
        let sum: u32 = others.into_iter().map(|t| t.join().unwrap()).sum();
        assert_eq!(mine + sum, 1);
    });
}

/// Two threads register at once: two places, both readable by both.
#[test]
fn places_are_given_once() {
    model(|| {
        let table = Arc::new(Table::new());
        let other = {
            let table = table.clone();
            thread::spawn(move || table.insert(|index| (index, 1_u32)).expect("there is room"))
        };
        let mine = table.insert(|index| (index, 2_u32)).expect("there is room");
        let theirs = other.join().unwrap();
        assert_ne!(mine, theirs);
        assert_eq!(table.get(mine), Some(&(mine, 2)));
        assert_eq!(table.get(theirs), Some(&(theirs, 1)));
    });
}
