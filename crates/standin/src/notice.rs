//! What the runtime tells a person.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::BuildError;
use crate::route::{Reason, Route, Waiting};
use crate::stats::{Counter, Counters, FrameReport};

/// Takes notices. Called from whatever thread has one; must not call back into the runtime.
pub type NoticeSink = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Something worth a line in a log. `Display` is that line.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Every 300 frames: what happened in them.
    PipelinesUpToFrame {
        /// The last of the frames.
        frame: u64,
        /// Their sum.
        counters: Box<Counters>,
    },
    /// A draw waited longer than the threshold.
    DrawWaited {
        /// The pipeline's name.
        name: String,
        /// In which frame.
        frame: u64,
        /// For what.
        waiting: Waiting,
        /// Why nothing stood in.
        reason: Reason,
        /// How long the draw was blocked.
        caller_wait: Duration,
        /// How long the build had been queued.
        queue_wait: Duration,
        /// How long the build took.
        build: Duration,
    },
    /// A frame took longer than the threshold.
    LongFrame(Box<FrameReport>),
    /// A stand-in cannot be built: said once, and the draws do without.
    StandInFailed {
        /// The name of the recipe it was built for.
        name: String,
        /// Why.
        error: BuildError,
    },
    /// An exact pipeline cannot be built: said once, and it is not tried again.
    ExactFailed {
        /// The pipeline's name.
        name: String,
        /// Why.
        error: BuildError,
    },
    /// The device is lost: said once; nothing more is built.
    DeviceLost,
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PipelinesUpToFrame { frame, counters: c } => {
                write!(
                    f,
                    "pipelines up to frame {frame}: pipeline {:.1} ms, library {:.1} ms, prediction {:.1} ms, \
                     {} archive lookups, {} links, {} base builds, {} stand-in draws, {} background builds, \
                     {} loads on a draw's path {:.1} ms, {} draws waited {:.1} ms",
                    ms(c.time(Counter::ForegroundBuildTime) + c.time(Counter::AdoptionTime)),
                    ms(c.time(Counter::LinkTime) + c.time(Counter::LoadTime)),
                    ms(c.time(Counter::PredictionTime)),
                    c.get(Counter::ArchiveLookups),
                    c.get(Counter::Links),
                    c.get(Counter::BaseBuilds),
                    c.route(Route::StandIn),
                    c.get(Counter::BackgroundBuilds),
                    c.get(Counter::ForegroundLoads),
                    ms(c.time(Counter::LoadTime)),
                    c.waited(),
                    ms(c.time(Counter::WaitTime)),
                )?;
                write_uncovered(f, c)
            }
            Self::DrawWaited {
                name,
                frame,
                waiting,
                reason,
                caller_wait,
                queue_wait,
                build,
            } => write!(
                f,
                "frame {frame}: a draw with {name} waited {:.1} ms ({}; {}; queued {:.1} ms, built in {:.1} ms)",
                ms(*caller_wait),
                waiting.name(),
                reason.name(),
                ms(*queue_wait),
                ms(*build),
            ),
            Self::LongFrame(report) => {
                let c = &report.counters;
                write!(
                    f,
                    "long frame {}: {:.1} ms; {} draws, {} on stand-ins, {} linked, {} loaded {:.1} ms, \
                     {} waited {:.1} ms, adoption {:.1} ms",
                    report.frame,
                    ms(report.duration),
                    c.get(Counter::Draws),
                    c.route(Route::StandIn),
                    c.route(Route::Linked),
                    c.get(Counter::ForegroundLoads),
                    ms(c.time(Counter::LoadTime)),
                    c.waited(),
                    ms(c.time(Counter::WaitTime)),
                    ms(c.time(Counter::AdoptionTime)),
                )
            }
            Self::StandInFailed { name, error } => {
                write!(f, "no stand-in for {name}: {error}; its draws do without")
            }
            Self::ExactFailed { name, error } => {
                write!(f, "{name} cannot be built: {error}; it is not tried again")
            }
            Self::DeviceLost => write!(f, "the device is lost; nothing more is built"),
        }
    }
}

/// Why draws waited or were skipped, those that occurred.
fn write_uncovered(f: &mut fmt::Formatter<'_>, counters: &Counters) -> fmt::Result {
    let mut separator = " (";
    for reason in [
        Reason::NoFamilyAdmits,
        Reason::StandInNotBuilt,
        Reason::StandInFailed,
        Reason::ResourcesUnavailable,
        Reason::WaitLimit,
        Reason::ExactFailed,
        Reason::RuntimeOff,
    ] {
        let count = counters.reason(reason);
        if count > 0 {
            write!(f, "{separator}{count} {}", reason.name())?;
            separator = ", ";
        }
    }
    if separator == ", " {
        write!(f, ")")?;
    }
    Ok(())
}
