//! The ways in that no draw takes: asking ahead, and guessing.

use crate::backend::{Backend, Want};
use crate::key::ExactKey;
use crate::lanes::{Lane, Request, Submission, Target};
use crate::route::Reason;
use crate::runtime::{Runtime, slot_job};
use crate::settings::Mode;
use crate::slots::PipelineId;
use crate::stats::Counter;
use crate::sync::{Arc, lock};

impl<B: Backend> Runtime<B> {
    /// Asks for a pipeline that will be needed for certain, on the demand lane: an engine's
    /// asynchronous creation. A guess of the same pipeline is raised to that lane. Returns at once;
    /// the status says how it goes. `false` when nothing new had to be submitted, or the queue is
    /// full: ask again after the next adoption then.
    pub fn request(&self, id: PipelineId) -> bool {
        let Some(slot) = self.slot(id) else {
            return false;
        };
        if self.settings.mode == Mode::Off || slot.hot.exact.get().is_some() {
            return false;
        }
        let mut counters = lock(&self.counters);
        self.promote(slot, id, true, &mut counters) == Reason::PromotionSubmitted
    }

    /// Guesses, likeliest first, what will be drawn soon. Submits at most
    /// [`per_prediction`](crate::Settings::per_prediction) builds, and only of pipelines whose
    /// draws nothing would cover: those are the ones that would wait. Draws with a stand-in
    /// have queued their own pipeline on the demand lane before any prediction runs.
    ///
    /// Returns how many were submitted.
    pub fn predict(&self, recipes: impl IntoIterator<Item = (ExactKey, Arc<B::Recipe>)>) -> u32 {
        if self.settings.mode == Mode::Off || self.core.is_lost() {
            return 0;
        }
        let start = self.core.clock.now();
        let (mut seen, mut covered, mut submitted) = (0, 0, 0);
        for (key, recipe) in recipes {
            if submitted >= self.settings.per_prediction {
                break;
            }
            seen += 1;
            let id = self.register(key, recipe);
            let Some(slot) = self.slot(id) else { continue };
            // What was drawn uncovered is its draws' to ask for, on a more urgent lane.
            if slot.is_drawn() {
                continue;
            }
            if self.covers(slot) || self.core.backend.can_link(&slot.recipe) {
                covered += 1;
                continue;
            }
            let due = slot.promotion.due(self.frame, || self.core.clock.now());
            if !due || !slot.asked.claim() {
                continue;
            }
            let request = Request {
                lane: Lane::Speculative,
                target: Target::Pipeline(id.index),
                generation: id.generation,
            };
            let (submission, reclaimed) = self
                .core
                .lanes
                .submit(request, || slot_job(&self.core, &slot, Want::Exact));
            if let Some(reclaimed) = reclaimed {
                self.core.discard(reclaimed);
            }
            // A draw of this frame may ask for the same, and more urgently.
            slot.asked.reset();
            match submission {
                Submission::Accepted => submitted += 1,
                Submission::Joined { .. } => {}
                // No guess is worth waiting for room.
                Submission::Full | Submission::Stopped => break,
            }
        }
        let mut counters = lock(&self.counters);
        counters.add(Counter::Predicted, seen);
        counters.add(Counter::PredictedCovered, covered);
        counters.add(Counter::PredictedSubmitted, submitted as u64);
        counters.add_time(
            Counter::PredictionTime,
            self.core.clock.now().saturating_sub(start),
        );
        u32::try_from(submitted).unwrap_or(u32::MAX)
    }
}
