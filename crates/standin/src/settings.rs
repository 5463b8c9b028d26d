//! How a runtime behaves.

use std::time::Duration;

use crate::admission::Mechanism;
use crate::adoption::AdoptionBudget;
use crate::notice::NoticeSink;
use crate::promotion::Backoff;

/// Whether the machinery is there at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Pipelines are built where they are first drawn, on the drawing thread, and nothing
    /// else happens: no workers, no families, no archive, no trace.
    Off,
    /// What this crate is for. Never changes what is drawn.
    #[default]
    On,
}

/// How a runtime behaves. `..Settings::default()` for what does not matter.
#[derive(Clone)]
pub struct Settings {
    /// Off or on.
    pub mode: Mode,
    /// Registered pipelines that are kept. More are registered when a frame draws more, and
    /// given up, least recently used first, when it is over.
    pub capacity: usize,
    /// Stand-ins that are kept.
    pub family_capacity: usize,
    /// Builds in the background that may be queued, running or finished and not adopted.
    pub queue_capacity: usize,
    /// Guesses among them.
    pub speculative_capacity: usize,
    /// Guesses that one prediction may submit.
    pub per_prediction: usize,
    /// What adoption may take in one frame, over all places that adopt.
    pub adoption: AdoptionBudget,
    /// How failures and refusals are spaced.
    pub backoff: Backoff,
    /// Frames that the GPU may be behind.
    pub frames_in_flight: u32,
    /// The longest that a draw waits for a build that runs elsewhere.
    pub wait_limit: Duration,
    /// Waits longer than this are told of.
    pub wait_notice: Duration,
    /// Frames longer than this are told of.
    pub long_frame: Duration,
    /// Frames from one line of totals to the next.
    pub totals_every: u64,
    /// Where notices go.
    pub notices: Option<NoticeSink>,
    /// Events that the trace keeps; 0 for none.
    pub trace_capacity: usize,
    /// For debugging and measuring: draws that this family stands in for are drawn with its
    /// stand-in as soon as that is adopted, and stay with it. It is built for them if need be, and so
    /// are their exact pipelines.
    pub force_family: Option<Mechanism>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::On,
            capacity: 32_768,
            family_capacity: 16_384,
            queue_capacity: 4096,
            speculative_capacity: 64,
            per_prediction: 2,
            adoption: AdoptionBudget::default(),
            backoff: Backoff::default(),
            frames_in_flight: 3,
            wait_limit: Duration::from_secs(30),
            wait_notice: Duration::from_millis(20),
            long_frame: Duration::from_millis(50),
            totals_every: 300,
            notices: None,
            trace_capacity: 0,
            force_family: None,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("mode", &self.mode)
            .field("capacity", &self.capacity)
            .field("adoption", &self.adoption)
            .field("backoff", &self.backoff)
            .finish_non_exhaustive()
    }
}
