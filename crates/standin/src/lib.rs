//! Standin's runtime: every draw has an executable, and the hot path costs nothing.
//!
//! A [`Runtime`] is generic over a [`Backend`] and knows no graphics API. Its owner registers
//! recipes and begins frames; recording threads select through [`Stream`]s. `docs/runtime.md`
//! has the states and the rules of ownership.
#![forbid(unsafe_code)]

mod admission;
mod adoption;
mod backend;
mod clock;
mod covering;
pub mod engine;
pub mod evaluator;
mod frame;
mod job;
pub mod key;
mod lanes;
#[cfg(all(test, loom))]
mod models;
mod notice;
mod prediction;
mod promotion;
mod route;
mod runtime;
mod settings;
pub mod sim;
mod slots;
mod stats;
mod stream;
mod sync;
mod table;
pub mod trace;
mod uncovered;
mod workers;

pub use admission::{Candidate, Candidates, Mechanism, Rejection, RejectionCounts};
pub use adoption::AdoptionBudget;
pub use backend::{Backend, BuildError, Resources, Want};
pub use clock::{Clock, Stepper, SystemClock};
pub use frame::Frame;
pub use lanes::{Lane, LaneCounts, LaneLoad};
pub use notice::{Notice, NoticeSink};
pub use promotion::{Backoff, Delay, Moment, Promotion, Status, Ticket, Verdict};
pub use route::{FirstDemand, FirstDraw, Reason, Route, Waiting};
pub use runtime::{BuildsHang, PipelineStatus, Releases, Runtime};
pub use settings::{Mode, Settings};
pub use slots::PipelineId;
pub use stats::{Counter, Counters, FrameReport};
pub use stream::{Choice, Epochs, Selected, Stream};
pub use workers::{Worked, WorkerCounts, Workers, Workshop};
