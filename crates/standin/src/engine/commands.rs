//! What is bound while commands are recorded, and what becomes of draws without a pipeline.

use std::sync::Arc;

use super::pipelines::{Bound, Compiler, Handle, Kind, Pipelines};

/// The bind points of one command buffer that is being recorded.
///
/// A pipeline that failed or was released binds as nothing: the draws or dispatches that follow
/// are skipped until something else is bound, and those before it keep what they had.
#[derive(Debug)]
pub struct Commands<C: Compiler> {
    graphics: Option<Arc<C::Executable>>,
    compute: Option<Arc<C::Executable>>,
    skipped: u64,
}

impl<C: Compiler> Default for Commands<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Compiler> Commands<C> {
    /// Nothing is bound.
    #[must_use]
    pub fn new() -> Self {
        Self {
            graphics: None,
            compute: None,
            skipped: 0,
        }
    }

    /// Binds a pipeline for draws. Waits while it is pending. The pipeline is returned for the
    /// caller to record the bind; none where there is nothing to bind, or where it is a kernel.
    pub fn bind_graphics(
        &mut self,
        pipelines: &Pipelines<C>,
        handle: Handle,
    ) -> Option<&Arc<C::Executable>> {
        self.graphics = bind(pipelines, handle, Kind::Graphics);
        self.graphics.as_ref()
    }

    /// Binds a kernel for dispatches, as [`Self::bind_graphics`].
    pub fn bind_compute(
        &mut self,
        pipelines: &Pipelines<C>,
        handle: Handle,
    ) -> Option<&Arc<C::Executable>> {
        self.compute = bind(pipelines, handle, Kind::Compute);
        self.compute.as_ref()
    }

    /// Records a draw with what is bound; skipped and counted where that is nothing.
    pub fn draw(&mut self, record: impl FnOnce(&C::Executable)) {
        self.skipped += skip(self.graphics.as_deref(), record);
    }

    /// Records a dispatch with what is bound; skipped and counted where that is nothing.
    pub fn dispatch(&mut self, record: impl FnOnce(&C::Executable)) {
        self.skipped += skip(self.compute.as_deref(), record);
    }

    /// Draws and dispatches that were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

fn bind<C: Compiler>(
    pipelines: &Pipelines<C>,
    handle: Handle,
    wanted: Kind,
) -> Option<Arc<C::Executable>> {
    match pipelines.bind_with_kind(handle) {
        (Some(kind), Bound::Pipeline(executable)) if kind == wanted => Some(executable),
        _ => None,
    }
}

/// 1 where there is nothing to record with.
fn skip<E>(bound: Option<&E>, record: impl FnOnce(&E)) -> u64 {
    match bound {
        Some(executable) => {
            record(executable);
            0
        }
        None => 1,
    }
}
