//! Time, as a thing that can be replaced: a program runs on the machine's clock, a test on a
//! virtual one.

use std::time::{Duration, Instant};

/// A monotonic clock. Times are spans since the clock began.
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Duration;
}

/// The machine's monotonic clock.
///
/// Durations are never taken from a driver's feedback: drivers report them in ticks, for the
/// wrong cache, or not at all.
#[derive(Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// A clock that begins now.
    #[must_use]
    pub fn new() -> Self {
        Self(Instant::now())
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Workers that do not run by themselves but are stepped by whoever waits for them: the
/// simulation, or a program on a platform without threads.
pub trait Stepper: Clock {
    /// Advances to the next thing that happens, but not past `limit`. `false` when nothing
    /// is left that could happen, so that waiting longer is waiting for ever.
    fn step(&self, limit: Duration) -> bool;
}

/// Whole nanoseconds of `span`, the largest number if there are more.
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
