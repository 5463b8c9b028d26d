//! A runtime on the simulation, and one-line ways to draw with it.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use standin::sim::{Drawn, Script, Sim, SimBackend, SimRecipe, SimTarget};
use standin::{
    Choice, Counters, Epochs, FirstDraw, Notice, PipelineId, Reason, Route, Runtime, Settings,
    Stream, WorkerCounts,
};

pub(crate) const MS: Duration = Duration::from_millis(1);

pub(crate) struct World {
    pub(crate) sim: Sim,
    pub(crate) runtime: Runtime<SimBackend>,
    pub(crate) notices: Arc<Mutex<Vec<String>>>,
}

/// What one draw came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Draw {
    pub(crate) route: Route,
    pub(crate) reason: Option<Reason>,
    pub(crate) drawn: Option<Drawn>,
    pub(crate) rollover: bool,
    pub(crate) stand_in: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        Self::with_workers(
            settings,
            WorkerCounts {
                required: 1,
                demand: 1,
                speculative: 2,
            },
        )
    }

    pub(crate) fn with_workers(mut settings: Settings, workers: WorkerCounts) -> Self {
        if settings.long_frame == Settings::default().long_frame {
            // Virtual frames are as long as a test likes; the tests of the notice set it.
            settings.long_frame = Duration::MAX;
        }
        let sim = Sim::new(workers);
        let notices = Arc::new(Mutex::new(Vec::new()));
        let sink = notices.clone();
        settings.notices = Some(Arc::new(move |notice: &Notice| {
            sink.lock().unwrap().push(notice.to_string());
        }));
        let runtime = sim.runtime(settings);
        Self {
            sim,
            runtime,
            notices,
        }
    }

    pub(crate) fn register(&mut self, recipe: &SimRecipe) -> PipelineId {
        self.runtime
            .register(recipe.key(), Arc::new(recipe.clone()))
    }

    /// One frame with one draw of each recipe.
    pub(crate) fn frame(&mut self, recipes: &[&SimRecipe]) -> Vec<Draw> {
        self.frame_with(FirstDraw::Wait, recipes)
    }

    pub(crate) fn frame_with(
        &mut self,
        first_draw: FirstDraw,
        recipes: &[&SimRecipe],
    ) -> Vec<Draw> {
        let frame = self.runtime.begin_frame();
        let mut stream = frame.stream(0);
        stream.on_uncovered(first_draw);
        recipes
            .iter()
            .enumerate()
            .map(|(number, recipe)| draw(&self.sim, &mut stream, number as u64 + 1, recipe))
            .collect()
    }

    /// One frame with one draw.
    pub(crate) fn draw(&mut self, recipe: &SimRecipe) -> Draw {
        self.frame(&[recipe])[0]
    }

    /// Builds the family's stand-in as the background does, and adopts it.
    pub(crate) fn adopt_family(&mut self, family: u64) {
        let pioneer = SimRecipe::in_family(1_000_000 + family, family);
        self.frame_with(FirstDraw::Skip, &[&pioneer]);
        self.sim.settle();
        self.frame(&[]);
        let key = SimRecipe::family_key(family);
        assert_eq!(
            self.runtime.family_status(key),
            Some(standin::Status::Ready)
        );
    }

    /// The counters of the last frame that was drawn.
    pub(crate) fn counters(&mut self) -> Counters {
        self.runtime.begin_frame();
        self.runtime.last_frame().counters.clone()
    }

    pub(crate) fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap().clone()
    }

    /// Shuts down and checks that everything was freed once.
    pub(crate) fn end(self) {
        self.runtime.shut_down().unwrap();
        assert_eq!(self.sim.faults(), Vec::<String>::new());
        assert_eq!(self.sim.live(), 0, "executables left after shutdown");
    }
}

/// Draws with whatever is selected, as a renderer would.
pub(crate) fn draw(
    sim: &Sim,
    stream: &mut Stream<'_, SimBackend>,
    epoch: u64,
    recipe: &SimRecipe,
) -> Draw {
    let epochs = Epochs {
        shader: epoch,
        ..Epochs::default()
    };
    let choice = stream.select_key(epochs, || recipe.key(), || Arc::new(recipe.clone()));
    match choice {
        Choice::Draw(selected) => Draw {
            route: selected.route,
            reason: None,
            drawn: Some(sim.draw(recipe, selected.executable)),
            rollover: selected.rollover,
            stand_in: selected.mechanism.is_some(),
        },
        Choice::Skip(reason) => Draw {
            route: Route::Skipped,
            reason: Some(reason),
            drawn: None,
            rollover: false,
            stand_in: false,
        },
    }
}

pub(crate) fn archived() -> Script {
    Script {
        archived: true,
        ..Script::default()
    }
}

pub(crate) fn failing(times: u32) -> Script {
    Script {
        failures: times,
        ..Script::default()
    }
}

pub(crate) fn exact(recipe: &SimRecipe) -> SimTarget {
    SimTarget::Exact(recipe.number)
}
