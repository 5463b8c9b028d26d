//! Typed events of a run in a bounded buffer, and the phases that a build's time falls into.
//!
//! Draws that have their pipeline leave no event: they are counted. Everything else is rare
//! enough that the buffer holds minutes of a run.

mod event;
mod file;

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use smallvec::SmallVec;

use crate::clock::Clock;
use crate::lanes::Lane;
use crate::route::counted;
use crate::sync::{Arc, Mutex, lock};

pub use event::{Event, FORMAT_VERSION, RECORD_SIZE, Record, Subject};
pub use file::{TraceError, TraceFile};

counted! {
    /// What a span of a build's or a draw's time was spent on.
    Phase {
        /// Generating source from the guest's program.
        Source = "source",
        /// Making or rewriting SPIR-V.
        SpirV = "SPIR-V",
        /// Creating shader modules.
        Module = "module",
        /// Reflecting the stages' interface.
        Interface = "interface",
        /// Looking up or creating layouts and pass signatures.
        Layout = "layout",
        /// Creating the pipeline.
        Pipeline = "pipeline",
        /// A throw-away draw on a driver that compiles at the first one.
        FirstDraw = "first draw",
        /// In the scheduler, before a worker or a draw began.
        QueueWait = "queue wait",
        /// Reading it from the archive and handing it to the driver.
        ArchiveLoad = "archive load",
        /// Moving finished builds into the tables at a frame's start.
        Adoption = "adoption",
        /// Resource rollover or a fence.
        Rollover = "rollover or fence wait",
        /// Waiting for a lock.
        Lock = "lock",
        /// Linking parts that are in memory.
        Link = "fast link",
    }
}

counted! {
    /// What a build came to.
    BuildResult {
        /// Compiled.
        Built = "built",
        /// Loaded from the archive.
        Loaded = "loaded",
        /// Linked from parts.
        Linked = "linked",
        /// Failed; may be tried again.
        Failed = "failed",
        /// Failed for good.
        FailedPermanent = "failed for good",
    }
}

/// One span of time with its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it was spent on.
    pub phase: Phase,
    /// When it began.
    pub start: Duration,
    /// How long it took.
    pub duration: Duration,
}

/// Collects the phases of one build.
#[derive(Clone)]
pub struct PhaseLog {
    clock: Arc<dyn Clock>,
    spans: SmallVec<[Span; 8]>,
}

impl std::fmt::Debug for PhaseLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.spans).finish()
    }
}

impl PhaseLog {
    /// A log that reads this clock.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            spans: SmallVec::new(),
        }
    }

    /// Runs `work` and books its time on `phase`.
    pub fn time<T>(&mut self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = self.clock.now();
        let value = work();
        self.add(Span {
            phase,
            start,
            duration: self.clock.now().saturating_sub(start),
        });
        value
    }

    /// Books a span that was measured elsewhere.
    pub fn add(&mut self, span: Span) {
        self.spans.push(span);
    }

    /// The time on the log's clock.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// The spans so far.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The time booked on `phase`.
    #[must_use]
    pub fn total(&self, phase: Phase) -> Duration {
        self.spans
            .iter()
            .filter(|span| span.phase == phase)
            .map(|span| span.duration)
            .sum()
    }
}

/// The bounded buffer of a runtime.
pub(crate) struct Trace {
    ring: Option<Mutex<Ring>>,
}

struct Ring {
    events: VecDeque<Event>,
    capacity: usize,
    dropped: u64,
    names: HashMap<Subject, String>,
}

impl Trace {
    /// A buffer of this many events; none at all for 0.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            ring: (capacity > 0).then(|| {
                Mutex::new(Ring {
                    events: VecDeque::with_capacity(capacity.min(1 << 16)),
                    capacity,
                    dropped: 0,
                    names: HashMap::new(),
                })
            }),
        }
    }

    /// Whether events are kept. Draws look at this only off the hot path.
    pub(crate) fn is_on(&self) -> bool {
        self.ring.is_some()
    }

    pub(crate) fn extend(&self, events: impl IntoIterator<Item = Event>) {
        let Some(ring) = &self.ring else { return };
        let mut ring = lock(ring);
        for event in events {
            if ring.events.len() == ring.capacity {
                ring.events.pop_front();
                ring.dropped += 1;
            }
            ring.events.push_back(event);
        }
    }

    /// Remembers what a person calls the subject. Bounded like the events.
    pub(crate) fn name(&self, subject: Subject, name: impl FnOnce() -> String) {
        let Some(ring) = &self.ring else { return };
        {
            let ring = lock(ring);
            if ring.names.len() >= ring.capacity || ring.names.contains_key(&subject) {
                return;
            }
        }
        // Made outside the lock: the backend writes it.
        let name = name();
        lock(ring).names.insert(subject, name);
    }

    /// A copy of what is in the buffer.
    pub(crate) fn snapshot(&self) -> TraceFile {
        let Some(ring) = &self.ring else {
            return TraceFile::default();
        };
        let ring = lock(ring);
        let mut names: Vec<_> = ring
            .names
            .iter()
            .map(|(subject, name)| (*subject, name.clone()))
            .collect();
        names.sort();
        TraceFile {
            events: ring.events.iter().copied().collect(),
            names,
            dropped: ring.dropped,
        }
    }
}

/// The lane's number in a record; draws that build for themselves have none.
pub(crate) fn lane_number(lane: Option<Lane>) -> u8 {
    lane.map_or(u8::MAX, |lane| lane as u8)
}
