//! A frame: the tables, lent read-only to recording threads.

use std::time::Duration;

use crate::backend::Backend;
use crate::key::ExactKey;
use crate::runtime::{PipelineStatus, Runtime};
use crate::slots::PipelineId;
use crate::stats::Counters;
use crate::stream::Stream;
use crate::sync::{Arc, lock};

/// One frame's recording. While it lives, nothing that a draw may select goes away: it borrows
/// the runtime from its owner.
///
/// It can be shared between threads; each of them records through a [`Stream`] of its own.
pub struct Frame<'r, B: Backend> {
    runtime: &'r Runtime<B>,
}

impl<B: Backend> std::fmt::Debug for Frame<'_, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame")
            .field("number", &self.number())
            .finish_non_exhaustive()
    }
}

impl<'r, B: Backend> Frame<'r, B> {
    pub(crate) fn new(runtime: &'r Runtime<B>) -> Self {
        Self { runtime }
    }

    /// The frame's number; the first is 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.runtime.frame
    }

    /// A recording thread's way to select. `number` names it in traces and to
    /// [`Backend::resources`]; a thread keeps its number from frame to frame.
    #[must_use]
    pub fn stream(&self, number: u32) -> Stream<'r, B> {
        Stream::new(self.runtime, number)
    }

    /// As [`Runtime::register`]: what is first drawn in this frame gets its place in it.
    pub fn register(&self, key: ExactKey, recipe: Arc<B::Recipe>) -> PipelineId {
        self.runtime.register(key, recipe)
    }

    /// As [`Runtime::find`].
    #[must_use]
    pub fn find(&self, key: ExactKey) -> Option<PipelineId> {
        self.runtime.find(key)
    }

    /// As [`Runtime::status`].
    #[must_use]
    pub fn status(&self, id: PipelineId) -> Option<PipelineStatus> {
        self.runtime.status(id)
    }

    /// As [`Runtime::recipe`].
    #[must_use]
    pub fn recipe(&self, id: PipelineId) -> Option<&'r Arc<B::Recipe>> {
        self.runtime.recipe(id)
    }

    /// Guesses, likeliest first, what will be drawn soon; see [`Runtime::predict`].
    pub fn predict(&self, recipes: impl IntoIterator<Item = (ExactKey, Arc<B::Recipe>)>) -> u32 {
        self.runtime.predict(recipes)
    }

    /// The counters so far, of streams that have ended.
    #[must_use]
    pub fn counters(&self) -> Counters {
        lock(&self.runtime.counters).clone()
    }

    /// The time since the frame began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.runtime
            .core
            .clock
            .now()
            .saturating_sub(self.runtime.frame_start)
    }
}
