//! The persistent state that takes one pipeline from absent to ready.
//!
//! It lives beside the pipeline's key and outlasts frames, refusals and failures. Only the owner
//! of the runtime changes it, at a frame's start; during a frame draws read it.

use std::time::Duration;

/// Names one submission. No two submissions of a runtime have the same ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

impl Ticket {
    /// The ticket with this number, for a scheduler of one's own.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// Where a pipeline is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Status {
    /// Nobody asked for it, or what was built has been given up.
    Absent = 0,
    /// Submitted; the shaders are not done.
    ShaderPending = 1,
    /// The shaders are done and the pipeline waits for a worker.
    ShaderReady = 2,
    /// The pipeline itself is being built.
    PipelinePending = 3,
    /// Complete, primed where needed, adopted.
    Ready = 4,
    /// The queue was full. Costs no attempt.
    QueueBackoff = 5,
    /// A build failed and will be tried again.
    FailedBackoff = 6,
    /// Will not be tried again.
    FailedPermanent = 7,
}

impl Status {
    /// Whether a submission is under way.
    #[must_use]
    pub fn is_pending(self) -> bool {
        matches!(
            self,
            Self::ShaderPending | Self::ShaderReady | Self::PipelinePending
        )
    }
}

/// How long to stay away. Never counted in draws: a frame has thousands of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// This many frames.
    Frames(u32),
    /// This long.
    Time(Duration),
}

/// When to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Retry {
    AtFrame(u64),
    AtTime(Duration),
}

/// How failures and refusals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the queue was full.
    pub queue: Delay,
    /// After the first failure; doubled after each further one.
    pub failure: Delay,
    /// Builds that may fail before the pipeline is given up.
    pub max_attempts: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            queue: Delay::Frames(2),
            failure: Delay::Time(Duration::from_millis(16)),
            max_attempts: 3,
        }
    }
}

/// A point in a run, in both units in which delays count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The frame's number.
    pub frame: u64,
    /// The time on the runtime's clock.
    pub time: Duration,
}

/// What to do with a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the one that was asked for.
    Accepted,
    /// It was built for what this place held before.
    WrongGeneration,
    /// It answers a submission that is no longer the current one.
    WrongTicket,
    /// Nothing is under way.
    NotPending,
}

/// The state machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promotion {
    status: Status,
    generation: u32,
    ticket: Option<Ticket>,
    attempts: u32,
    retry: Option<Retry>,
}

impl Promotion {
    /// The state of a pipeline that nobody has asked for yet.
    #[must_use]
    pub fn new(generation: u32) -> Self {
        Self {
            status: Status::Absent,
            generation,
            ticket: None,
            attempts: 0,
            retry: None,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// Builds begun so far. A refusal by a full queue is none.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether a submission is due. `time` is read only when a delay is counted in time.
    pub fn due(&self, frame: u64, time: impl FnOnce() -> Duration) -> bool {
        match self.status {
            Status::Absent => true,
            Status::QueueBackoff | Status::FailedBackoff => match self.retry {
                None => true,
                Some(Retry::AtFrame(at)) => frame >= at,
                Some(Retry::AtTime(at)) => time() >= at,
            },
            _ => false,
        }
    }

    /// The queue took it. Counts an attempt, unless it is the submission already known.
    pub fn submitted(&mut self, ticket: Ticket, shaders_ready: bool) {
        if self.ticket == Some(ticket)
            || matches!(self.status, Status::Ready | Status::FailedPermanent)
        {
            return;
        }
        self.ticket = Some(ticket);
        self.attempts += 1;
        self.retry = None;
        self.status = if shaders_ready {
            Status::ShaderReady
        } else {
            Status::ShaderPending
        };
    }

    /// The queue was full. Costs no attempt.
    pub fn refused(&mut self, now: Moment, backoff: &Backoff) {
        if self.status.is_pending()
            || matches!(self.status, Status::Ready | Status::FailedPermanent)
        {
            return;
        }
        self.status = Status::QueueBackoff;
        self.retry = Some(after(now, backoff.queue, 0));
    }

    /// The shaders of this submission are done.
    pub fn shaders_ready(&mut self, ticket: Ticket) {
        if self.ticket == Some(ticket) && self.status == Status::ShaderPending {
            self.status = Status::ShaderReady;
        }
    }

    /// The pipeline of this submission is being built.
    pub fn pipeline_started(&mut self, ticket: Ticket) {
        if self.ticket == Some(ticket) && self.status.is_pending() {
            self.status = Status::PipelinePending;
        }
    }

    /// Whether a completion with these marks is the one that is awaited.
    #[must_use]
    pub fn judge(&self, generation: u32, ticket: Ticket) -> Verdict {
        if generation != self.generation {
            Verdict::WrongGeneration
        } else if !self.status.is_pending() {
            Verdict::NotPending
        } else if self.ticket != Some(ticket) {
            Verdict::WrongTicket
        } else {
            Verdict::Accepted
        }
    }

    /// The complete pipeline is in its place.
    pub fn ready(&mut self) {
        self.status = Status::Ready;
        self.retry = None;
    }

    /// The build failed. Permanent errors and the last attempt end it for good.
    pub fn failed(&mut self, permanent: bool, now: Moment, backoff: &Backoff) {
        self.ticket = None;
        if permanent || self.attempts >= backoff.max_attempts {
            self.status = Status::FailedPermanent;
            self.retry = None;
        } else {
            self.status = Status::FailedBackoff;
            self.retry = Some(after(now, backoff.failure, self.attempts.saturating_sub(1)));
        }
    }

    /// The submission came to nothing through no fault of the pipeline's: it was cancelled or
    /// reclaimed before anybody used it. Costs no attempt.
    pub fn withdrawn(&mut self, ticket: Ticket) {
        if self.ticket == Some(ticket) && self.status.is_pending() {
            self.status = Status::Absent;
            self.ticket = None;
            self.attempts = self.attempts.saturating_sub(1);
            self.retry = None;
        }
    }

    /// What was built has been given up; it may be asked for again.
    pub fn evicted(&mut self) {
        *self = Self::new(self.generation);
    }
}

fn after(now: Moment, delay: Delay, doublings: u32) -> Retry {
    let factor = 1_u32 << doublings.min(10);
    match delay {
        Delay::Frames(frames) => Retry::AtFrame(
            now.frame
                .saturating_add(u64::from(frames).saturating_mul(u64::from(factor))),
        ),
        Delay::Time(span) => Retry::AtTime(now.time.saturating_add(span.saturating_mul(factor))),
    }
}
