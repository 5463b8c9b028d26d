//! Features: what each needs built, and whether it can be used.
//!
//! A feature is usable as a unit: when every pipeline it needs under the active display set is
//! ready. Before the first frame only what the open gates need is built, and a required
//! pipeline among it that cannot be built fails the start. A configuration change creates what
//! it opens at once; until that is there, the feature is off.

use super::config::Config;
use super::gate::{Capabilities, Gate, Openness};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Status of a pipeline that was created asynchronously.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Queued or building.
    Pending,
    /// Complete.
    Ready,
    /// It cannot be built; the text says why.
    Failed(Arc<str>),
}

/// Whoever builds pipelines: what features and warm-up ask of it. Both build through the same
/// calls as a draw on demand does, so what is warmed is exactly what runs.
pub trait Builder {
    /// Names a pipeline that was created.
    type Handle: Copy;

    /// Queues the build and returns at once. Creating a pipeline again gives the one that is
    /// there.
    fn create(&mut self, pipeline: &Pipeline) -> Self::Handle;

    /// Queues the builds of a set and returns at once, with the handles in the order of the
    /// set. A builder may begin them in an order of its own.
    fn create_all(&mut self, pipelines: &[&Pipeline]) -> Vec<Self::Handle> {
        pipelines
            .iter()
            .map(|pipeline| self.create(pipeline))
            .collect()
    }

    /// The pipeline's status now.
    fn status(&self, handle: Self::Handle) -> Status;

    /// How many builds are queued or running, whoever asked for them.
    fn in_flight(&self) -> usize;

    /// Gives a pipeline up. Never blocks; a build that runs ends by itself.
    fn release(&mut self, handle: Self::Handle);

    /// Writes to disk what was built and not yet kept.
    fn persist(&mut self);
}

/// Whether a start can do without a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// If it cannot be built, the start fails with its name.
    Required,
    /// If it cannot be built, its feature is off.
    Optional,
}

/// A pipeline that the engine declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    name: String,
    shaders: Vec<String>,
    need: Need,
    display_set: Option<String>,
}

impl Pipeline {
    /// A pipeline of these shaders that its feature needs and the start can do without.
    pub fn new<S: Into<String>>(
        name: impl Into<String>,
        shaders: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            name: name.into(),
            shaders: shaders.into_iter().map(Into::into).collect(),
            need: Need::Optional,
            display_set: None,
        }
    }

    /// The start cannot do without it where its gate is open.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.need = Need::Required;
        self
    }

    /// Needed under one display set only ("sdr", "hdr"): left out while another is active.
    #[must_use]
    pub fn for_display(mut self, set: impl Into<String>) -> Self {
        self.display_set = Some(set.into());
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The shaders it is made of, by name.
    #[must_use]
    pub fn shaders(&self) -> &[String] {
        &self.shaders
    }

    /// Whether the start can do without it.
    #[must_use]
    pub fn need(&self) -> Need {
        self.need
    }

    fn wanted_on(&self, display: &str) -> bool {
        self.display_set.as_deref().is_none_or(|set| set == display)
    }
}

/// When the pipelines of an open feature are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before the first frame.
    Startup,
    /// When a scene reaches it, or in the first step of warm-up, whichever comes first.
    Reached,
}

/// A feature: its gate, and its passes and kernels.
#[derive(Debug, Clone)]
pub struct Feature {
    name: String,
    gate: Gate,
    when: When,
    pipelines: Vec<Pipeline>,
}

impl Feature {
    /// A feature that is built before the first frame where its gate is open.
    pub fn new(
        name: impl Into<String>,
        gate: Gate,
        pipelines: impl IntoIterator<Item = Pipeline>,
    ) -> Self {
        Self {
            name: name.into(),
            gate,
            when: When::Startup,
            pipelines: pipelines.into_iter().collect(),
        }
    }

    /// Built when a scene reaches it, not before the first frame.
    #[must_use]
    pub fn when_reached(mut self) -> Self {
        self.when = When::Reached;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its gate.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// What it needs, under every display set.
    #[must_use]
    pub fn pipelines(&self) -> &[Pipeline] {
        &self.pipelines
    }
}

/// Whether a feature can be used in this frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// Open, and everything it needs is ready.
    On,
    /// Its gate is closed.
    Closed(Openness),
    /// Open; some of its pipelines are not there yet. It is off until they are.
    Building {
        /// Pipelines that are pending or not created.
        pending: usize,
    },
    /// Open, but a pipeline cannot be built. It stays off.
    Failed {
        /// The first pipeline that failed.
        pipeline: String,
        /// Why.
        reason: Arc<str>,
    },
}

/// Where the start is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Startup {
    /// Pipelines of the startup set that are pending.
    Building(usize),
    /// The first frame may be drawn.
    Ready,
}

/// A pipeline that the start cannot do without cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("required pipeline {pipeline:?} of feature {feature:?} cannot be built: {reason}")]
pub struct StartError {
    /// The feature that needs it.
    pub feature: String,
    /// The pipeline.
    pub pipeline: String,
    /// Why.
    pub reason: Arc<str>,
}

/// A pipeline that was given up because it cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The features that need it, in the order they were declared.
    pub features: Vec<String>,
    /// The pipeline.
    pub pipeline: String,
    /// Why it cannot be built.
    pub reason: Arc<str>,
}

/// The features of an engine under the configuration in force, with what was created for them.
#[derive(Debug)]
pub struct Features<H> {
    features: Vec<Feature>,
    device: Capabilities,
    config: Config,
    display: String,
    created: BTreeMap<String, H>,
    /// Given up because they cannot be built, with the reason.
    dropped: BTreeMap<String, Arc<str>>,
}

impl<H: Copy> Features<H> {
    /// Creates what the open gates need before the first frame, and nothing else.
    pub fn start<B: Builder<Handle = H>>(
        features: Vec<Feature>,
        device: Capabilities,
        config: Config,
        display: impl Into<String>,
        builder: &mut B,
    ) -> Self {
        let mut set = Self {
            features,
            device,
            config,
            display: display.into(),
            created: BTreeMap::new(),
            dropped: BTreeMap::new(),
        };
        let open = (0..set.features.len())
            .filter(|index| set.features[*index].when == When::Startup && set.is_open(*index))
            .collect();
        set.create(open, builder);
        set
    }

    /// Where the start is: whether the first frame may be drawn.
    ///
    /// # Errors
    /// A required pipeline of an open feature cannot be built.
    pub fn startup<B: Builder<Handle = H>>(&self, builder: &B) -> Result<Startup, StartError> {
        let mut pending = 0;
        for index in 0..self.features.len() {
            if self.features[index].when != When::Startup || !self.is_open(index) {
                continue;
            }
            for (pipeline, status) in self.statuses(index, builder) {
                match status {
                    Some(Status::Failed(reason)) if pipeline.need == Need::Required => {
                        return Err(StartError {
                            feature: self.features[index].name.clone(),
                            pipeline: pipeline.name.clone(),
                            reason,
                        });
                    }
                    Some(Status::Ready | Status::Failed(_)) => {}
                    Some(Status::Pending) | None => pending += 1,
                }
            }
        }
        Ok(match pending {
            0 => Startup::Ready,
            pending => Startup::Building(pending),
        })
    }

    /// Puts another configuration in force and creates at once what it opens.
    pub fn change<B: Builder<Handle = H>>(&mut self, config: Config, builder: &mut B) {
        let open_before: Vec<bool> = (0..self.features.len()).map(|i| self.is_open(i)).collect();
        self.config = config;
        let opened = open_before
            .into_iter()
            .enumerate()
            .filter(|(index, open_before)| !open_before && self.is_open(*index))
            .map(|(index, _)| index)
            .collect();
        self.create(opened, builder);
    }

    /// Makes another display set the active one. What open features that were created need
    /// under it is created at once, so it builds in parallel; [`display_pending`] says when it
    /// is there.
    ///
    /// [`display_pending`]: Self::display_pending
    pub fn switch_display<B: Builder<Handle = H>>(
        &mut self,
        display: impl Into<String>,
        builder: &mut B,
    ) {
        let built: Vec<usize> = (0..self.features.len())
            .filter(|index| self.is_open(*index) && self.is_created(*index))
            .collect();
        self.display = display.into();
        self.create(built, builder);
    }

    /// How many pipelines of the active display set alone are pending: the swap chain may
    /// flip when it is 0.
    #[must_use]
    pub fn display_pending<B: Builder<Handle = H>>(&self, builder: &B) -> usize {
        (0..self.features.len())
            .filter(|index| self.is_open(*index))
            .flat_map(|index| self.statuses(index, builder))
            .filter(|(pipeline, status)| {
                pipeline.display_set.is_some() && matches!(status, Some(Status::Pending))
            })
            .count()
    }

    /// Creates what a feature needs now: a scene has reached it, or warm-up has come to it.
    /// False where there is no such feature.
    pub fn reach<B: Builder<Handle = H>>(&mut self, feature: &str, builder: &mut B) -> bool {
        let index = self.features.iter().position(|f| f.name == feature);
        self.create(index.into_iter().collect(), builder);
        index.is_some()
    }

    /// Whether a feature can be used in this frame, or none where there is no such feature.
    pub fn availability<B: Builder<Handle = H>>(
        &self,
        feature: &str,
        builder: &B,
    ) -> Option<Availability> {
        let index = self.features.iter().position(|f| f.name == feature)?;
        let openness = self.features[index]
            .gate
            .openness(&self.config, &self.device);
        if openness != Openness::Open {
            return Some(Availability::Closed(openness));
        }
        let mut pending = 0;
        for (pipeline, status) in self.statuses(index, builder) {
            match status {
                Some(Status::Failed(reason)) => {
                    return Some(Availability::Failed {
                        pipeline: pipeline.name.clone(),
                        reason,
                    });
                }
                Some(Status::Ready) => {}
                Some(Status::Pending) | None => pending += 1,
            }
        }
        Some(match pending {
            0 => Availability::On,
            pending => Availability::Building { pending },
        })
    }

    /// The handle of a declared pipeline, once it was created.
    #[must_use]
    pub fn handle(&self, pipeline: &str) -> Option<H> {
        self.created.get(pipeline).copied()
    }

    /// The features, in the order they were declared.
    #[must_use]
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The configuration in force.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What the device can do.
    #[must_use]
    pub fn device(&self) -> &Capabilities {
        &self.device
    }

    /// Whether everything that a feature needs under the active display set was created.
    pub(super) fn is_created(&self, index: usize) -> bool {
        self.wanted(index)
            .map(|pipeline| &pipeline.name)
            .all(|name| self.created.contains_key(name) || self.dropped.contains_key(name))
    }

    /// How many pipelines were created so far.
    pub(super) fn created_count(&self) -> usize {
        self.created.len()
    }

    fn is_open(&self, index: usize) -> bool {
        self.features[index]
            .gate
            .openness(&self.config, &self.device)
            == Openness::Open
    }

    fn wanted(&self, index: usize) -> impl Iterator<Item = &Pipeline> {
        self.features[index]
            .pipelines
            .iter()
            .filter(|pipeline| pipeline.wanted_on(&self.display))
    }

    /// Creates what these features need under the active display set, as one set. What is
    /// there is asked for again, since it may be wanted more than before.
    pub(super) fn create<B: Builder<Handle = H>>(&mut self, indices: Vec<usize>, builder: &mut B) {
        let mut named = BTreeSet::new();
        let pipelines: Vec<&Pipeline> = indices
            .into_iter()
            .flat_map(|index| self.wanted(index))
            .filter(|pipeline| !self.dropped.contains_key(&pipeline.name))
            .filter(|pipeline| named.insert(pipeline.name.as_str()))
            .collect();
        let handles = builder.create_all(&pipelines);
        let fresh: Vec<(String, H)> = pipelines
            .iter()
            .map(|pipeline| pipeline.name.clone())
            .zip(handles)
            .collect();
        self.created.extend(fresh);
    }

    /// Gives up the pipelines that cannot be built: they are named no more, and their features
    /// stay off.
    pub fn drop_failed<B: Builder<Handle = H>>(&mut self, builder: &mut B) -> Vec<Failure> {
        let failed: Vec<(String, H, Arc<str>)> = self
            .created
            .iter()
            .filter_map(|(name, handle)| match builder.status(*handle) {
                Status::Failed(reason) => Some((name.clone(), *handle, reason)),
                Status::Pending | Status::Ready => None,
            })
            .collect();
        let mut failures = Vec::new();
        for (pipeline, handle, reason) in failed {
            self.created.remove(&pipeline);
            builder.release(handle);
            let features = self
                .features
                .iter()
                .filter(|feature| feature.pipelines.iter().any(|p| p.name == pipeline))
                .map(|feature| feature.name.clone())
                .collect();
            self.dropped.insert(pipeline.clone(), reason.clone());
            failures.push(Failure {
                features,
                pipeline,
                reason,
            });
        }
        failures
    }

    fn statuses<'a, B: Builder<Handle = H>>(
        &'a self,
        index: usize,
        builder: &'a B,
    ) -> impl Iterator<Item = (&'a Pipeline, Option<Status>)> {
        self.wanted(index).map(|pipeline| {
            let dropped = self.dropped.get(&pipeline.name);
            let status = match dropped {
                Some(reason) => Some(Status::Failed(reason.clone())),
                None => {
                    let handle = self.created.get(&pipeline.name);
                    handle.map(|handle| builder.status(*handle))
                }
            };
            (pipeline, status)
        })
    }
}
