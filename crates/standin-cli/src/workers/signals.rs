//! SIGTERM and SIGINT ask a prebuild to stop; it keeps what is finished.

use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that asked to stop, if one did.
#[derive(Debug, Clone, Default)]
pub(crate) struct StopSignal(Arc<AtomicUsize>);

impl StopSignal {
    /// Listens from now on.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            signal_hook::flag::register_usize(signal, Arc::clone(&stop.0), number)?;
        }
        Ok(stop)
    }

    /// The signal's number, once one came.
    pub(crate) fn received(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            number => i32::try_from(number).ok(),
        }
    }
}
