//! Real threads, and a backend that does its worst: every function of it may take long, fail or
//! panic. Nothing may hang, get lost, be drawn wrong or be freed twice.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test"
)]

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use standin::key::{ExactKey, FamilyKey};
use standin::trace::PhaseLog;
use standin::{
    Backend, BuildError, Candidate, Candidates, Choice, Epochs, FirstDraw, Mechanism, Resources,
    Runtime, Settings, Status, Want, WorkerCounts, Workers,
};

#[derive(Default)]
struct World {
    random: AtomicU64,
    next: AtomicU64,
    live: Mutex<HashSet<u64>>,
    faults: Mutex<Vec<String>>,
    /// Whether anything goes wrong at all.
    wild: AtomicBool,
    lost: AtomicBool,
    /// Every call of these panics.
    priming_panics: AtomicBool,
    destroying_panics: AtomicBool,
    /// Two registrations meet here.
    meeting: Mutex<Option<Arc<Barrier>>>,
}

#[derive(Debug, PartialEq)]
enum Made {
    Exact(u64),
    Family(FamilyKey),
}

struct Pipeline {
    id: u64,
    made: Made,
}

fn panic_quietly() -> ! {
    resume_unwind(Box::new("the backend panics"))
}

impl World {
    /// A number below `limit`; never 0 in a tame world.
    fn dice(&self, limit: u64) -> u64 {
        if !self.wild.load(Ordering::Relaxed) {
            return 1;
        }
        let step = self.random.fetch_add(1, Ordering::Relaxed);
        mix(step) % limit
    }

    fn work(&self) -> Result<(), BuildError> {
        thread::sleep(Duration::from_micros(self.dice(200)));
        if self.lost.load(Ordering::Relaxed) {
            return Err(BuildError::DeviceLost);
        }
        match self.dice(24) {
            0 => Err(BuildError::Transient("now and then".into())),
            2 => Err(BuildError::CompileRequired),
            4 => panic_quietly(),
            6 if self.dice(4) == 0 => Err(BuildError::Permanent("for good".into())),
            _ => Ok(()),
        }
    }

    fn make(&self, made: Made) -> Result<Pipeline, BuildError> {
        self.work()?;
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.live.lock().unwrap().insert(id);
        Ok(Pipeline { id, made })
    }

    fn draw(&self, number: u64, pipeline: &Pipeline) {
        let fits = match &pipeline.made {
            Made::Exact(made) => *made == number,
            Made::Family(family) => families(number).contains(family),
        };
        if !fits || !self.live.lock().unwrap().contains(&pipeline.id) {
            let fault = format!("{number} drawn with {:?}", pipeline.made);
            self.faults.lock().unwrap().push(fault);
        }
    }
}

fn mix(number: u64) -> u64 {
    let x = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 17
}

fn key(number: u64) -> ExactKey {
    ExactKey::from_u128(u128::from(mix(number)) << 64 | u128::from(number))
}

/// A third of the recipes have no family, a third one, a third two.
fn families(number: u64) -> Vec<FamilyKey> {
    (0..number % 3)
        .map(|kind| FamilyKey::from_u128(u128::from(number / 9 * 2 + kind + 1)))
        .collect()
}

struct Wild(Arc<World>);

impl Backend for Wild {
    type Recipe = u64;
    type Shaders = u64;
    type Executable = Pipeline;

    fn name(&self, recipe: &u64) -> String {
        if self.0.dice(4) == 0 {
            panic_quietly();
        }
        recipe.to_string()
    }

    fn candidates(&self, recipe: &u64) -> Candidates {
        let meeting = self.0.meeting.lock().unwrap().clone();
        if let Some(meeting) = meeting {
            meeting.wait();
        }
        if self.0.dice(50) == 0 {
            panic_quietly();
        }
        Candidates {
            admitted: families(*recipe)
                .into_iter()
                .enumerate()
                .map(|(cost, family)| Candidate {
                    family,
                    cost: cost as u32,
                    mechanism: Mechanism::ALL[cost],
                })
                .collect(),
            ..Candidates::default()
        }
    }

    fn can_link(&self, recipe: &u64) -> bool {
        recipe % 7 == 6
    }

    fn fast_link(&self, recipe: &u64, _: &mut PhaseLog) -> Result<Pipeline, BuildError> {
        self.0.make(Made::Exact(*recipe))
    }

    fn archived(&self, recipe: &u64, _: Want) -> bool {
        recipe % 5 == 4
    }

    fn load(
        &self,
        recipe: &u64,
        want: Want,
        _: &mut PhaseLog,
    ) -> Result<Option<Pipeline>, BuildError> {
        if self.0.dice(3) == 0 {
            return Ok(None);
        }
        let made = match want {
            Want::Exact => Made::Exact(*recipe),
            Want::StandIn(family) => Made::Family(family),
        };
        self.0.make(made).map(Some)
    }

    fn build_shaders(&self, recipe: &u64, _: &mut PhaseLog) -> Result<u64, BuildError> {
        self.0.work().map(|()| *recipe)
    }

    fn build_exact(
        &self,
        _: &u64,
        shaders: &u64,
        _: &mut PhaseLog,
    ) -> Result<Pipeline, BuildError> {
        self.0.make(Made::Exact(*shaders))
    }

    fn build_stand_in(
        &self,
        _: &u64,
        family: FamilyKey,
        _: &mut PhaseLog,
    ) -> Result<Pipeline, BuildError> {
        self.0.make(Made::Family(family))
    }

    fn needs_priming(&self) -> bool {
        if self.0.priming_panics.load(Ordering::Relaxed) || self.0.dice(20) == 0 {
            panic_quietly();
        }
        self.0.dice(2) == 0
    }

    fn prime(&self, _: &u64, _: &Pipeline, _: &mut PhaseLog) -> Result<(), BuildError> {
        self.0.work()
    }

    fn resources(&self, _: u32, _: &Pipeline) -> Resources {
        match self.0.dice(8) {
            0 => Resources::Unavailable,
            2 => Resources::NeedsRollover,
            _ => Resources::Ready,
        }
    }

    fn destroy(&self, executable: Pipeline) {
        if !self.0.live.lock().unwrap().remove(&executable.id) {
            let fault = format!("{:?} freed twice", executable.made);
            self.0.faults.lock().unwrap().push(fault);
        }
        if self.0.destroying_panics.load(Ordering::Relaxed) || self.0.dice(10) == 0 {
            panic_quietly();
        }
    }
}

const FEW: WorkerCounts = WorkerCounts {
    required: 1,
    demand: 1,
    speculative: 1,
};
const NONE: WorkerCounts = WorkerCounts {
    required: 0,
    demand: 0,
    speculative: 0,
};

fn start(settings: Settings, counts: WorkerCounts) -> (Arc<World>, Runtime<Wild>) {
    let world = Arc::new(World::default());
    let runtime = Runtime::new(Wild(world.clone()), settings, Workers::Threads(counts));
    (world, runtime)
}

fn epochs(shader: u32) -> Epochs {
    Epochs {
        shader,
        ..Epochs::default()
    }
}

/// Draws until every one of these recipes has its exact pipeline: a build that got lost would
/// never come.
fn until_exact(world: &World, runtime: &mut Runtime<Wild>, numbers: std::ops::Range<u64>) {
    for _ in 0..100_000 {
        let missing = {
            let frame = runtime.begin_frame();
            let mut stream = frame.stream(0);
            stream.on_uncovered(FirstDraw::Skip);
            let mut missing = 0;
            for number in numbers.clone() {
                let choice =
                    stream.select_key(epochs(number as u32), || key(number), || Arc::new(number));
                if let Choice::Draw(selected) = choice {
                    world.draw(number, selected.executable);
                }
                let id = frame.find(key(number)).unwrap();
                missing += usize::from(!frame.status(id).unwrap().exact);
            }
            missing
        };
        if missing == 0 {
            return;
        }
        thread::sleep(Duration::from_micros(100));
    }
    panic!("a build was lost: {:?}", runtime.lane_load());
}

fn end(world: &World) {
    assert_eq!(*world.faults.lock().unwrap(), Vec::<String>::new());
    assert!(world.live.lock().unwrap().is_empty(), "executables left");
}

fn storm(settings: Settings, counts: WorkerCounts, lose_at: Option<u64>) {
    let (world, mut runtime) = start(settings, counts);
    world.wild.store(true, Ordering::Relaxed);
    for round in 0..60_u64 {
        if lose_at == Some(round) {
            world.lost.store(true, Ordering::Relaxed);
        }
        let releases = runtime.releases();
        runtime.predict((0..200).map(|guess| (key(guess % 70), Arc::new(guess % 70))));
        let frame = runtime.begin_frame();
        if round % 7 == 3 {
            continue; // A frame without streams.
        }
        thread::scope(|scope| {
            for number in 0..4_u64 {
                let (frame, world, releases) = (&frame, &world, releases.clone());
                scope.spawn(move || {
                    let mut stream = frame.stream(number as u32);
                    for draw in 0..60_u64 {
                        let chance = mix(round << 32 | number << 16 | draw);
                        let recipe = chance % (20 + round);
                        stream.on_uncovered(match chance >> 8 & 3 {
                            0 => FirstDraw::Wait,
                            1 => FirstDraw::Inline,
                            _ => FirstDraw::Skip,
                        });
                        if draw % 20 == 0 {
                            let ids = (0..70).filter_map(|n| frame.find(key(n)));
                            stream.submission(ids.collect::<Vec<_>>());
                        }
                        let choice = stream.select_key(
                            epochs(recipe as u32),
                            || key(recipe),
                            || Arc::new(recipe),
                        );
                        if let Choice::Draw(selected) = choice {
                            world.draw(recipe, selected.executable);
                            if chance >> 10 & 15 == 0 {
                                releases.release(selected.id);
                            }
                        }
                        if draw == 30 {
                            frame.predict((0..9).map(|n| (key(round * n), Arc::new(round * n))));
                        }
                    }
                });
            }
        });
        if round % 5 == 0 {
            runtime.adopt();
            for number in 0..40 {
                if let Some(id) = runtime.find(key(number)) {
                    if number % 2 == 0 {
                        runtime.request(id);
                    } else {
                        runtime.release(id);
                    }
                }
            }
        }
    }
    world.wild.store(false, Ordering::Relaxed);
    if lose_at.is_none() {
        until_exact(&world, &mut runtime, 1000..1040);
    }
    drop(runtime);
    end(&world);
}

#[test]
fn a_storm_is_weathered() {
    storm(Settings::default(), FEW, None);
}

#[test]
fn a_storm_is_weathered_with_hardly_any_room() {
    let settings = Settings {
        capacity: 1,
        family_capacity: 1,
        queue_capacity: 1,
        speculative_capacity: 1,
        frames_in_flight: 0,
        trace_capacity: 64,
        ..Settings::default()
    };
    storm(settings, FEW, None);
}

#[test]
fn a_storm_is_weathered_without_workers_and_with_a_notice_sink_that_panics() {
    let settings = Settings {
        notices: Some(Arc::new(|_| panic_quietly())),
        wait_notice: Duration::ZERO,
        long_frame: Duration::ZERO,
        trace_capacity: 1 << 12,
        ..Settings::default()
    };
    storm(settings, NONE, None);
}

#[test]
fn a_storm_in_which_the_device_is_lost_hangs_nobody() {
    storm(Settings::default(), FEW, Some(20));
}

/// Nobody but a demand worker builds what runs on a stand-in.
#[test]
fn counts_of_no_workers_still_promote() {
    let (world, mut runtime) = start(Settings::default(), NONE);
    until_exact(&world, &mut runtime, 0..20);
    runtime.shut_down().unwrap();
    end(&world);
}

/// A worker that dies takes its build with it: draws wait for it, and shutdown for ever.
#[test]
fn a_panic_in_any_function_of_the_backend_ends_no_worker() {
    let settings = Settings {
        notices: Some(Arc::new(|_| panic_quietly())),
        ..Settings::default()
    };
    let (world, mut runtime) = start(settings, FEW);
    world.priming_panics.store(true, Ordering::Relaxed);
    world.destroying_panics.store(true, Ordering::Relaxed);
    // Families 1 and 2: everything that a worker builds fails to be primed, and is freed.
    let id = runtime.register(key(2), Arc::new(2));
    while runtime.status(id).unwrap().status != Status::FailedPermanent {
        runtime.request(id);
        runtime.begin_frame();
        thread::sleep(Duration::from_micros(100));
    }
    world.priming_panics.store(false, Ordering::Relaxed);
    until_exact(&world, &mut runtime, 10..14);
    runtime.shut_down().unwrap();
    end(&world);
}

/// Two streams see two recipes under one key at the same time.
#[test]
fn two_recipes_that_race_for_one_key_both_get_their_own() {
    let (world, mut runtime) = start(Settings::default(), FEW);
    *world.meeting.lock().unwrap() = Some(Arc::new(Barrier::new(2)));
    let frame = runtime.begin_frame();
    thread::scope(|scope| {
        for number in [3_u64, 6] {
            let (frame, world) = (&frame, &world);
            scope.spawn(move || {
                // Both have looked before either has registered.
                let id = frame.register(key(0), Arc::new(number));
                let selected = frame.stream(number as u32).select(epochs(1), || id);
                world.draw(number, selected.selected().unwrap().executable);
            });
        }
    });
    drop(runtime);
    end(&world);
}
