//! Worker threads: how many, how urgent, and their loop.

use std::num::NonZero;
use std::thread::{self, JoinHandle};

use thread_priority::{ThreadPriority, ThreadPriorityValue, set_current_thread_priority};

use crate::backend::Backend;
use crate::clock::Stepper;
use crate::job::{Core, Step, guarded};
use crate::lanes::Lane;
use crate::promotion::Ticket;
use crate::sync::Arc;

/// Workers of each class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerCounts {
    /// Reserved for work that draws wait for, at least one.
    pub required: usize,
    /// For pipelines whose draws run on stand-ins, at least one: nobody else builds them.
    pub demand: usize,
    /// For guesses; more than two are not used.
    pub speculative: usize,
}

impl WorkerCounts {
    /// For this machine: one demand worker per two performance cores.
    #[must_use]
    pub fn for_this_machine() -> Self {
        Self::for_cores(performance_cores())
    }

    /// For a machine with this many performance cores.
    #[must_use]
    pub fn for_cores(cores: usize) -> Self {
        Self {
            required: (cores / 2).clamp(1, 4),
            demand: (cores / 2).max(1),
            speculative: cores.clamp(1, SPECULATIVE_RUNNING),
        }
    }
}

/// Guesses that are built at once, whatever the machine.
pub(crate) const SPECULATIVE_RUNNING: usize = 2;

/// Who runs the builds.
#[derive(Clone)]
pub enum Workers {
    /// Threads of the runtime's own.
    Threads(WorkerCounts),
    /// Nobody by himself: whoever waits steps them. See [`Workshop`].
    Stepped(Arc<dyn Stepper>),
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Threads(counts) => f.debug_tuple("Threads").field(counts).finish(),
            Self::Stepped(_) => f.write_str("Stepped"),
        }
    }
}

/// Cores that a build may use without disturbing the frame: the fast ones where the machine
/// has two kinds, all of them otherwise.
fn performance_cores() -> usize {
    let all = thread::available_parallelism().map_or(1, NonZero::get);
    let listed = std::fs::read_to_string("/sys/devices/cpu_core/cpus")
        .ok()
        .and_then(|list| count_listed(list.trim()));
    listed.map_or(all, |fast| fast.clamp(1, all))
}

/// The length of a list of cores as Linux writes it: `0-7,16`.
fn count_listed(list: &str) -> Option<usize> {
    list.split(',')
        .map(|part| match part.split_once('-') {
            None => part.parse::<usize>().ok().map(|_| 1),
            Some((first, last)) => {
                let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
                Some(last.checked_sub(first)? + 1)
            }
        })
        .sum()
}

/// Stack of a thread that builds. Drivers' compilers recurse over a shader's control flow: RADV's
/// overflows the 2 MiB that a thread has by default with some 20,000 branches in a row, while a
/// program's first thread has 8 MiB. Pages that are not touched cost nothing.
pub(crate) const STACK: usize = 32 << 20;

/// Starts the threads. One that the system refuses to start is done without: draws that wait
/// build for themselves.
pub(crate) fn start<B: Backend>(core: &Arc<Core<B>>, counts: WorkerCounts) -> Vec<JoinHandle<()>> {
    let classes = [
        (Lane::Required, counts.required.max(1)),
        (Lane::Demand, counts.demand.max(1)),
        (
            Lane::Speculative,
            counts.speculative.min(SPECULATIVE_RUNNING),
        ),
    ];
    let mut threads = Vec::new();
    for (class, count) in classes {
        for _ in 0..count {
            let core = core.clone();
            let number = u32::try_from(threads.len()).unwrap_or(u32::MAX);
            let builder = thread::Builder::new()
                .name(format!("standin {}", class.name()))
                .stack_size(STACK);
            let started = builder.spawn(move || {
                lower_priority(class);
                while let Some(taken) = core.lanes.take_blocking(class) {
                    let (ticket, step) = core.work(taken, number);
                    // Settling may drop a recipe, and shaders: foreign code again.
                    let _ = guarded(|| {
                        core.settle(ticket, step);
                        Ok(())
                    });
                }
            });
            threads.extend(started.ok());
        }
    }
    threads
}

/// Where the platform lets a thread lower its own priority, demand yields to the frame and
/// speculation to everything. Where it does not, the lanes still hold.
pub(crate) fn lower_priority(class: Lane) {
    let value = match class {
        Lane::Required => return,
        Lane::Demand => ThreadPriorityValue::try_from(30),
        Lane::Speculative => ThreadPriorityValue::try_from(0),
    };
    if let Ok(value) = value {
        // A refusal changes nothing but the frame's share of the cores.
        let _ = set_current_thread_priority(ThreadPriority::Crossplatform(value));
    }
}

/// The builds of a runtime whose workers are stepped.
pub struct Workshop<B: Backend> {
    core: std::sync::Weak<Core<B>>,
}

impl<B: Backend> std::fmt::Debug for Workshop<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workshop").finish_non_exhaustive()
    }
}

/// A stretch of work that has been done and not been told of yet.
pub struct Worked<B: Backend> {
    ticket: Ticket,
    lane: Lane,
    step: Step<B>,
}

impl<B: Backend> std::fmt::Debug for Worked<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worked")
            .field("ticket", &self.ticket)
            .field("lane", &self.lane)
            .finish_non_exhaustive()
    }
}

impl<B: Backend> Worked<B> {
    /// The lane that it was taken from.
    #[must_use]
    pub fn lane(&self) -> Lane {
        self.lane
    }
}

impl<B: Backend> Workshop<B> {
    pub(crate) fn new(core: &Arc<Core<B>>) -> Self {
        Self {
            core: Arc::downgrade(core),
        }
    }

    /// Takes the next build for a worker of this class and does a stretch of it. Its result
    /// is not seen by anybody before [`Self::settle`].
    #[must_use]
    pub fn work(&self, class: Lane, thread: u32) -> Option<Worked<B>> {
        let core = self.core.upgrade()?;
        let taken = core.lanes.take(class)?;
        let lane = taken.lane;
        let (ticket, step) = core.work(taken, thread);
        Some(Worked { ticket, lane, step })
    }

    /// Makes the result of a stretch of work known.
    pub fn settle(&self, worked: Worked<B>) {
        if let Some(core) = self.core.upgrade() {
            core.settle(worked.ticket, worked.step);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Lane, WorkerCounts, count_listed, lower_priority};

    /// The nice value of the calling thread, where the system tells.
    fn nice() -> Option<i64> {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
        // The second field is a name in parentheses, which may hold anything.
        stat.rsplit_once(')')?
            .1
            .split_whitespace()
            .nth(16)?
            .parse()
            .ok()
    }

    #[test]
    fn background_threads_yield_to_the_frame_and_speculation_to_everything() {
        let nice_of = |class| {
            let thread = std::thread::spawn(move || {
                lower_priority(class);
                nice()
            });
            thread.join().ok().flatten()
        };
        let [required, demand, speculative] = Lane::ALL else {
            unreachable!("there are three lanes")
        };
        let (Some(required), Some(demand), Some(speculative)) =
            (nice_of(*required), nice_of(*demand), nice_of(*speculative))
        else {
            println!("not checked: this system does not tell a thread's priority");
            return;
        };
        assert!(required < demand, "{required} {demand}");
        assert!(demand < speculative, "{demand} {speculative}");
    }

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(count_listed("0-7"), Some(8));
        assert_eq!(count_listed("0-3,8,10-11"), Some(7));
        assert_eq!(count_listed(""), None);
        assert_eq!(count_listed("3-1"), None);
    }

    #[test]
    fn one_demand_worker_per_two_cores_and_at_most_two_speculative() {
        let demand = |cores| WorkerCounts::for_cores(cores).demand;
        assert_eq!([1, 2, 4, 8, 16].map(demand), [1, 1, 2, 4, 8]);
        let speculative = |cores| WorkerCounts::for_cores(cores).speculative;
        assert_eq!([1, 2, 16].map(speculative), [1, 2, 2]);
        assert!((1..64).all(|cores| WorkerCounts::for_cores(cores).required >= 1));
    }
}
