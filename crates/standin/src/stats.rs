//! What is counted, for each frame and since the start.

use std::time::Duration;

use crate::clock::nanos;
use crate::route::{FirstDemand, Reason, Route, Waiting, counted};

counted! {
    /// A counter of a frame. Those that end in `Time` are nanoseconds.
    Counter {
        /// Draws that asked for a pipeline.
        Draws = "draws",
        /// Pipelines registered.
        Registered = "registered",
        /// Families asked whether they stand in (one per recipe, when it is registered).
        AdmissionChecks = "admission checks",
        /// Stand-ins looked at by draws.
        StandInProbes = "stand-in probes",
        /// Submissions to the scheduler.
        Submissions = "submissions",
        /// Submissions refused by a full queue.
        QueueFull = "queue full",
        /// Draws that must roll their resources over.
        Rollovers = "rollovers",
        /// Questions to the archive's index.
        ArchiveLookups = "archive lookups",
        /// Loads on a draw's path.
        ForegroundLoads = "foreground loads",
        /// Loads ahead of a draw, started by a submission's first miss.
        Prefetches = "prefetches",
        /// Fast links.
        Links = "links",
        /// Exact pipelines built on a draw's thread.
        ForegroundBuilds = "foreground builds",
        /// Exact pipelines built by workers.
        BackgroundBuilds = "background builds",
        /// Stand-ins built.
        BaseBuilds = "base builds",
        /// Pipelines loaded by workers.
        BackgroundLoads = "background loads",
        /// Builds that failed.
        FailedBuilds = "failed builds",
        /// Finished builds adopted.
        Adopted = "adopted",
        /// Results that answered no current submission.
        Rejected = "rejected",
        /// Pipelines given up for room.
        Evicted = "evicted",
        /// Pipelines predicted.
        Predicted = "predicted",
        /// Predictions that a stand-in already covers.
        PredictedCovered = "predicted, covered",
        /// Predictions submitted.
        PredictedSubmitted = "predicted, submitted",
        /// Time of fast links on draws' paths.
        LinkTime = "link time",
        /// Time of archive loads on draws' paths.
        LoadTime = "load time",
        /// Time of builds on draws' paths.
        ForegroundBuildTime = "foreground build time",
        /// Time that draws waited, whoever built.
        WaitTime = "wait time",
        /// Time of adoption.
        AdoptionTime = "adoption time",
        /// Time of prediction.
        PredictionTime = "prediction time",
        /// Time of the shader half of all builds.
        ShaderTime = "shader time",
        /// Time of the pipeline half of all builds, and of stand-ins.
        PipelineTime = "pipeline time",
        /// Time of priming.
        PrimeTime = "prime time",
        /// Time of archive loads by workers.
        BackgroundLoadTime = "background load time",
        /// Time that finished builds had been queued.
        QueueTime = "queue time",
    }
}

/// Counters, and the same draws by route, reason, kind of wait and first demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    counters: [u64; Counter::COUNT],
    routes: [u64; Route::COUNT],
    reasons: [u64; Reason::COUNT],
    waits: [u64; Waiting::COUNT],
    first_demands: [u64; FirstDemand::COUNT],
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            counters: [0; Counter::COUNT],
            routes: [0; Route::COUNT],
            reasons: [0; Reason::COUNT],
            waits: [0; Waiting::COUNT],
            first_demands: [0; FirstDemand::COUNT],
        }
    }
}

impl Counters {
    /// The value of a counter.
    #[must_use]
    pub fn get(&self, counter: Counter) -> u64 {
        self.counters[counter as usize]
    }

    /// The value of a counter of nanoseconds.
    #[must_use]
    pub fn time(&self, counter: Counter) -> Duration {
        Duration::from_nanos(self.get(counter))
    }

    /// Draws that took this route.
    #[must_use]
    pub fn route(&self, route: Route) -> u64 {
        self.routes[route as usize]
    }

    /// Draws that went their way for this reason.
    #[must_use]
    pub fn reason(&self, reason: Reason) -> u64 {
        self.reasons[reason as usize]
    }

    /// Draws that waited in this way.
    #[must_use]
    pub fn waits(&self, waiting: Waiting) -> u64 {
        self.waits[waiting as usize]
    }

    /// Draws that waited.
    #[must_use]
    pub fn waited(&self) -> u64 {
        self.route(Route::Waited)
    }

    /// First draws of this class.
    #[must_use]
    pub fn first_demands(&self, class: FirstDemand) -> u64 {
        self.first_demands[class as usize]
    }

    pub(crate) fn add(&mut self, counter: Counter, value: u64) {
        self.counters[counter as usize] += value;
    }

    pub(crate) fn add_time(&mut self, counter: Counter, span: Duration) {
        self.add(counter, nanos(span));
    }

    #[inline]
    pub(crate) fn routed(&mut self, route: Route, reason: Reason) {
        self.routes[route as usize] += 1;
        self.reasons[reason as usize] += 1;
    }

    pub(crate) fn reason_only(&mut self, reason: Reason) {
        self.reasons[reason as usize] += 1;
    }

    pub(crate) fn waiting(&mut self, waiting: Waiting) {
        self.waits[waiting as usize] += 1;
    }

    pub(crate) fn first_demand(&mut self, class: FirstDemand) {
        self.first_demands[class as usize] += 1;
    }

    /// Draws whose state had not changed are not counted one by one: they are what is left.
    pub(crate) fn settle_unchanged(&mut self, draws: u64) {
        let selected: u64 = self.routes.iter().sum();
        let unchanged = draws.saturating_sub(selected);
        self.add(Counter::Draws, draws);
        self.routes[Route::Unchanged as usize] += unchanged;
        self.reasons[Reason::StateUnchanged as usize] += unchanged;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        fn sum<const N: usize>(into: &mut [u64; N], from: &[u64; N]) {
            for (into, from) in into.iter_mut().zip(from) {
                *into += from;
            }
        }
        sum(&mut self.counters, &other.counters);
        sum(&mut self.routes, &other.routes);
        sum(&mut self.reasons, &other.reasons);
        sum(&mut self.waits, &other.waits);
        sum(&mut self.first_demands, &other.first_demands);
    }
}

/// A frame's counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameReport {
    /// The frame's number.
    pub frame: u64,
    /// From its start to the next frame's.
    pub duration: Duration,
    /// What happened in it, with the adoption before it.
    pub counters: Counters,
}
