//! How a background process gives way to everything else on the machine.

use rustix::process::{Signal, nice, set_parent_process_death_signal};

/// Lowers this process to the least CPU priority. On Linux its I/O priority follows: without
/// a class of its own it is (nice + 20) / 5 of the best-effort class, so the lowest there
/// (ioprio_set(2)).
pub(crate) fn give_way() {
    // Where it is refused the work is done all the same.
    let _ = nice(19);
}

/// Ends this process with the one that started it, also where that one is killed.
pub(crate) fn end_with_parent() {
    // Where it is refused, the closed socket ends the process at its next message.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}
