//! The events, and their 72-byte records. `docs/trace-format.md` has the layout.

use std::time::Duration;

use crate::clock::nanos;
use crate::key::{ExactKey, FamilyKey};
use crate::lanes::Lane;
use crate::promotion::Status;
use crate::route::{FirstDemand, Reason, Route, Waiting};
use crate::stats::Counter;
use crate::trace::{BuildResult, Phase, lane_number};

/// Version of the records.
pub const FORMAT_VERSION: u32 = 1;
/// Bytes in a record.
pub const RECORD_SIZE: usize = 72;
/// An encoded event.
pub type Record = [u8; RECORD_SIZE];

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// An exact pipeline.
    Exact(ExactKey),
    /// A family's stand-in.
    Family(FamilyKey),
}

/// Something that happened. Times are on the runtime's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "the fields say what they are; docs/trace-format.md has the units"
)]
pub enum Event {
    /// A frame began; adoption for it is done.
    FrameBegan { frame: u64, at: Duration },
    /// The frame before ended when the next one began.
    FrameEnded {
        frame: u64,
        at: Duration,
        duration: Duration,
    },
    /// One of a frame's counters, if it is not 0.
    FrameCounter {
        frame: u64,
        counter: Counter,
        value: u64,
    },
    /// A draw took another route than an adopted exact pipeline: once a frame and pipeline.
    Routed {
        frame: u64,
        draw: u32,
        stream: u32,
        key: ExactKey,
        route: Route,
        reason: Reason,
        at: Duration,
        duration: Duration,
    },
    /// A draw blocked.
    Waited {
        frame: u64,
        draw: u32,
        stream: u32,
        key: ExactKey,
        waiting: Waiting,
        reason: Reason,
        at: Duration,
        caller_wait: Duration,
        queue_wait: Duration,
        build: Duration,
    },
    /// The first draw of an exact key and generation.
    FirstDemand {
        frame: u64,
        key: ExactKey,
        class: FirstDemand,
        at: Duration,
    },
    /// A build ended. `lane` is none for a draw that built for itself; `thread` is the worker's
    /// number or the stream's.
    Built {
        subject: Subject,
        result: BuildResult,
        lane: Option<Lane>,
        thread: u32,
        ticket: u64,
        start: Duration,
        duration: Duration,
        queue_wait: Duration,
    },
    /// One phase of a build.
    PhaseSpan {
        subject: Subject,
        phase: Phase,
        lane: Option<Lane>,
        thread: u32,
        start: Duration,
        duration: Duration,
    },
    /// A finished build became selectable.
    Adopted {
        frame: u64,
        subject: Subject,
        at: Duration,
        duration: Duration,
    },
    /// A promotion's state at a frame's start, when it changed.
    Promotion {
        frame: u64,
        subject: Subject,
        status: Status,
        attempts: u32,
        at: Duration,
    },
    /// A pipeline was given up to keep within the capacity.
    Evicted {
        frame: u64,
        subject: Subject,
        at: Duration,
    },
}

#[derive(Default)]
struct Fields {
    kind: u8,
    a: u8,
    b: u8,
    c: u8,
    thread: u32,
    time: u64,
    duration: u64,
    frame: u64,
    draw: u32,
    small: u32,
    x: u64,
    y: u64,
    key: u128,
}

impl Fields {
    fn subject(mut self, subject: Subject) -> Self {
        (self.c, self.key) = match subject {
            Subject::Exact(key) => (0, key.to_u128()),
            Subject::Family(key) => (1, key.to_u128()),
        };
        self
    }

    fn to_record(&self) -> Record {
        let mut record = [0; RECORD_SIZE];
        record[..4].copy_from_slice(&[self.kind, self.a, self.b, self.c]);
        record[4..8].copy_from_slice(&self.thread.to_le_bytes());
        record[8..16].copy_from_slice(&self.time.to_le_bytes());
        record[16..24].copy_from_slice(&self.duration.to_le_bytes());
        record[24..32].copy_from_slice(&self.frame.to_le_bytes());
        record[32..36].copy_from_slice(&self.draw.to_le_bytes());
        record[36..40].copy_from_slice(&self.small.to_le_bytes());
        record[40..48].copy_from_slice(&self.x.to_le_bytes());
        record[48..56].copy_from_slice(&self.y.to_le_bytes());
        record[56..72].copy_from_slice(&self.key.to_le_bytes());
        record
    }

    fn from_record(record: &Record) -> Self {
        fn bytes<const N: usize>(record: &Record, at: usize) -> [u8; N] {
            let mut out = [0; N];
            out.copy_from_slice(&record[at..at + N]);
            out
        }
        Self {
            kind: record[0],
            a: record[1],
            b: record[2],
            c: record[3],
            thread: u32::from_le_bytes(bytes(record, 4)),
            time: u64::from_le_bytes(bytes(record, 8)),
            duration: u64::from_le_bytes(bytes(record, 16)),
            frame: u64::from_le_bytes(bytes(record, 24)),
            draw: u32::from_le_bytes(bytes(record, 32)),
            small: u32::from_le_bytes(bytes(record, 36)),
            x: u64::from_le_bytes(bytes(record, 40)),
            y: u64::from_le_bytes(bytes(record, 48)),
            key: u128::from_le_bytes(bytes(record, 56)),
        }
    }
}

fn subject(fields: &Fields) -> Option<Subject> {
    match fields.c {
        0 => Some(Subject::Exact(ExactKey::from_u128(fields.key))),
        1 => Some(Subject::Family(FamilyKey::from_u128(fields.key))),
        _ => None,
    }
}

fn lane(number: u8) -> Option<Option<Lane>> {
    if number == u8::MAX {
        Some(None)
    } else {
        Lane::from_number(number).map(Some)
    }
}

fn status(number: u8) -> Option<Status> {
    [
        Status::Absent,
        Status::ShaderPending,
        Status::ShaderReady,
        Status::PipelinePending,
        Status::Ready,
        Status::QueueBackoff,
        Status::FailedBackoff,
        Status::FailedPermanent,
    ]
    .get(usize::from(number))
    .copied()
}

impl Event {
    /// The record of this event.
    #[must_use]
    pub fn encode(&self) -> Record {
        let fields = match *self {
            Self::FrameBegan { frame, at } => Fields {
                kind: 1,
                frame,
                time: nanos(at),
                ..Fields::default()
            },
            Self::FrameEnded {
                frame,
                at,
                duration,
            } => Fields {
                kind: 2,
                frame,
                time: nanos(at),
                duration: nanos(duration),
                ..Fields::default()
            },
            Self::FrameCounter {
                frame,
                counter,
                value,
            } => Fields {
                kind: 3,
                a: counter as u8,
                frame,
                x: value,
                ..Fields::default()
            },
            Self::Routed {
                frame,
                draw,
                stream,
                key,
                route,
                reason,
                at,
                duration,
            } => Fields {
                kind: 4,
                a: route as u8,
                b: reason as u8,
                thread: stream,
                time: nanos(at),
                duration: nanos(duration),
                frame,
                draw,
                key: key.to_u128(),
                ..Fields::default()
            },
            Self::Waited {
                frame,
                draw,
                stream,
                key,
                waiting,
                reason,
                at,
                caller_wait,
                queue_wait,
                build,
            } => Fields {
                kind: 5,
                a: waiting as u8,
                b: reason as u8,
                thread: stream,
                time: nanos(at),
                duration: nanos(caller_wait),
                frame,
                draw,
                x: nanos(queue_wait),
                y: nanos(build),
                key: key.to_u128(),
                ..Fields::default()
            },
            Self::FirstDemand {
                frame,
                key,
                class,
                at,
            } => Fields {
                kind: 6,
                a: class as u8,
                time: nanos(at),
                frame,
                key: key.to_u128(),
                ..Fields::default()
            },
            Self::Built {
                subject,
                result,
                lane,
                thread,
                ticket,
                start,
                duration,
                queue_wait,
            } => Fields {
                kind: 7,
                a: result as u8,
                b: lane_number(lane),
                thread,
                time: nanos(start),
                duration: nanos(duration),
                x: nanos(queue_wait),
                y: ticket,
                ..Fields::default()
            }
            .subject(subject),
            Self::PhaseSpan {
                subject,
                phase,
                lane,
                thread,
                start,
                duration,
            } => Fields {
                kind: 8,
                a: phase as u8,
                b: lane_number(lane),
                thread,
                time: nanos(start),
                duration: nanos(duration),
                ..Fields::default()
            }
            .subject(subject),
            Self::Adopted {
                frame,
                subject,
                at,
                duration,
            } => Fields {
                kind: 9,
                time: nanos(at),
                duration: nanos(duration),
                frame,
                ..Fields::default()
            }
            .subject(subject),
            Self::Promotion {
                frame,
                subject,
                status,
                attempts,
                at,
            } => Fields {
                kind: 10,
                a: status as u8,
                time: nanos(at),
                frame,
                small: attempts,
                ..Fields::default()
            }
            .subject(subject),
            Self::Evicted { frame, subject, at } => Fields {
                kind: 11,
                time: nanos(at),
                frame,
                ..Fields::default()
            }
            .subject(subject),
        };
        fields.to_record()
    }

    /// The event of this record; `None` for a record that no version 1 writer makes.
    #[must_use]
    pub fn decode(record: &Record) -> Option<Self> {
        let fields = Fields::from_record(record);
        let at = Duration::from_nanos(fields.time);
        let duration = Duration::from_nanos(fields.duration);
        let frame = fields.frame;
        let key = ExactKey::from_u128(fields.key);
        Some(match fields.kind {
            1 => Self::FrameBegan { frame, at },
            2 => Self::FrameEnded {
                frame,
                at,
                duration,
            },
            3 => Self::FrameCounter {
                frame,
                counter: Counter::from_number(fields.a)?,
                value: fields.x,
            },
            4 => Self::Routed {
                frame,
                draw: fields.draw,
                stream: fields.thread,
                key,
                route: Route::from_number(fields.a)?,
                reason: Reason::from_number(fields.b)?,
                at,
                duration,
            },
            5 => Self::Waited {
                frame,
                draw: fields.draw,
                stream: fields.thread,
                key,
                waiting: Waiting::from_number(fields.a)?,
                reason: Reason::from_number(fields.b)?,
                at,
                caller_wait: duration,
                queue_wait: Duration::from_nanos(fields.x),
                build: Duration::from_nanos(fields.y),
            },
            6 => Self::FirstDemand {
                frame,
                key,
                class: FirstDemand::from_number(fields.a)?,
                at,
            },
            7 => Self::Built {
                subject: subject(&fields)?,
                result: BuildResult::from_number(fields.a)?,
                lane: lane(fields.b)?,
                thread: fields.thread,
                ticket: fields.y,
                start: at,
                duration,
                queue_wait: Duration::from_nanos(fields.x),
            },
            8 => Self::PhaseSpan {
                subject: subject(&fields)?,
                phase: Phase::from_number(fields.a)?,
                lane: lane(fields.b)?,
                thread: fields.thread,
                start: at,
                duration,
            },
            9 => Self::Adopted {
                frame,
                subject: subject(&fields)?,
                at,
                duration,
            },
            10 => Self::Promotion {
                frame,
                subject: subject(&fields)?,
                status: status(fields.a)?,
                attempts: fields.small,
                at,
            },
            11 => Self::Evicted {
                frame,
                subject: subject(&fields)?,
                at,
            },
            _ => return None,
        })
    }
}
