//! Warm-up: building, while the game runs, what the player may need next.
//!
//! It is ticked once a frame. It starts when the startup scene's pipelines are built, or after
//! a while if content keeps streaming, and adds one feature per step, likeliest first, each
//! with all of its kernels and passes. A step is added only while few builds are in flight, so
//! that a scene's materials never queue behind it.

use super::config::Config;
use super::feature::{Builder, Features};
use super::gate::Openness;
use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

/// When warm-up starts and how much it keeps in flight.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// It starts this long after the first tick even if scene pipelines are still pending.
    pub start_after: Duration,
    /// A step is added only while fewer builds than this are in flight.
    pub few_in_flight: usize,
}

impl Default for Settings {
    /// Five seconds; two builds.
    fn default() -> Self {
        Self {
            start_after: Duration::from_secs(5),
            few_in_flight: 2,
        }
    }
}

/// How likely a feature is to be needed next, the likeliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likelihood {
    /// Open, and reachable without a settings change.
    Reachable,
    /// On the other side of a big switch.
    OtherSide,
    /// The device supports it; the configuration keeps it closed.
    Supported,
}

/// What a tick did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tick {
    /// The startup scene is not built yet.
    Waiting,
    /// This feature was added.
    Added(String, Likelihood),
    /// Enough builds are in flight.
    Busy,
    /// Everything was added; this many builds are still in flight.
    Draining(usize),
    /// Everything is built and was written to disk. Said once.
    Finished(Summary),
    /// It finished earlier.
    Done,
}

/// What warm-up did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Pipelines that it created.
    pub pipelines: usize,
    /// Time from its first step to its end.
    pub took: Duration,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pipeline warm-up: {} pipelines in {} ms",
            self.pipelines,
            self.took.as_millis()
        )
    }
}

#[derive(Debug)]
enum State {
    Waiting { since: Option<Duration> },
    Running(Run),
    Done,
}

#[derive(Debug)]
struct Run {
    steps: VecDeque<(usize, Likelihood)>,
    began: Duration,
    pipelines: usize,
}

/// The warm-up of one session.
#[derive(Debug)]
pub struct WarmUp {
    settings: Settings,
    state: State,
}

impl WarmUp {
    /// A warm-up that has not started.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            state: State::Waiting { since: None },
        }
    }

    /// One frame's turn, on the render thread. `now` is monotonic; `scene_pending` counts the
    /// startup scene's pipelines that are pending; `other_sides` are the configurations on the
    /// other side of each big switch.
    pub fn tick<B: Builder>(
        &mut self,
        now: Duration,
        scene_pending: usize,
        other_sides: &[Config],
        features: &mut Features<B::Handle>,
        builder: &mut B,
    ) -> Tick {
        if let State::Waiting { since } = &mut self.state {
            let since = *since.get_or_insert(now);
            if scene_pending > 0 && now.saturating_sub(since) < self.settings.start_after {
                return Tick::Waiting;
            }
            self.state = State::Running(Run {
                steps: plan(features, other_sides),
                began: now,
                pipelines: 0,
            });
        }
        let State::Running(run) = &mut self.state else {
            return Tick::Done;
        };
        // What a settings change or a scene has created meanwhile needs no step.
        while run
            .steps
            .front()
            .is_some_and(|(index, _)| features.is_created(*index))
        {
            run.steps.pop_front();
        }
        let in_flight = builder.in_flight();
        let Some((index, likelihood)) = run.steps.front().copied() else {
            if in_flight > 0 {
                return Tick::Draining(in_flight);
            }
            let summary = Summary {
                pipelines: run.pipelines,
                took: now.saturating_sub(run.began),
            };
            builder.persist();
            self.state = State::Done;
            return Tick::Finished(summary);
        };
        if in_flight >= self.settings.few_in_flight {
            return Tick::Busy;
        }
        run.steps.pop_front();
        let before = features.created_count();
        features.create(vec![index], builder);
        run.pipelines += features.created_count() - before;
        Tick::Added(features.features()[index].name().to_owned(), likelihood)
    }
}

/// The steps, likeliest first; within one likelihood in the order of declaration.
fn plan<H: Copy>(features: &Features<H>, other_sides: &[Config]) -> VecDeque<(usize, Likelihood)> {
    let mut steps: Vec<(usize, Likelihood)> = features
        .features()
        .iter()
        .enumerate()
        .filter_map(|(index, feature)| {
            let openness = |config| feature.gate().openness(config, features.device());
            let likelihood = match openness(features.config()) {
                Openness::Open => Likelihood::Reachable,
                Openness::ClosedByDevice(_) => return None,
                Openness::ClosedByConfig => {
                    if other_sides
                        .iter()
                        .any(|side| openness(side) == Openness::Open)
                    {
                        Likelihood::OtherSide
                    } else {
                        Likelihood::Supported
                    }
                }
            };
            Some((index, likelihood))
        })
        .collect();
    steps.sort_by_key(|(_, likelihood)| *likelihood);
    steps.into()
}
