//! The engine's compiler: recipes to Vulkan pipelines, from what an earlier launch has kept where
//! that serves.

use crate::recipes;
use standin::BuildError;
use standin::engine::feature::Pipeline as Declared;
use standin::engine::pipelines::{Built, Compiler, Kind, Source};
use standin_archive::Binary;
use standin_recipe::Recipe;
use standin_vulkan::Device;
use standin_vulkan::blobs::{BlobKind, BlobSource, How, Keep, Segment, Stored};
use standin_vulkan::build::Pipeline;
use standin_vulkan::objects::Objects;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a launch keeps for the next one.
#[derive(Default)]
pub(crate) struct Kept {
    binaries: Mutex<BTreeMap<String, Vec<Binary>>>,
    segment: Mutex<Option<Vec<u8>>>,
}

/// A pipeline of the engine.
pub(crate) struct Order {
    pub(crate) name: String,
    pub(crate) recipe: Recipe,
}

/// Builds the engine's pipelines on one device.
pub(crate) struct Maker {
    source: BlobSource,
    segment: Option<Segment>,
    kept: Arc<Kept>,
    /// Makes this launch's shaders others than those that the driver's own cache may know.
    salt: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Maker {
    pub(crate) fn new(device: &Arc<Device>, kept: &Arc<Kept>, salt: u64) -> Self {
        let source = BlobSource::new(&Objects::new(device));
        let segment = (source.kind() == BlobKind::CacheSegments)
            .then(|| {
                locked(&kept.segment)
                    .as_ref()
                    .and_then(|data| source.open_segment(data).ok())
                    .or_else(|| source.new_segment().ok())
            })
            .flatten();
        Self {
            source,
            segment,
            kept: Arc::clone(kept),
            salt,
        }
    }

    /// What the driver lets be kept, in words.
    pub(crate) fn keeps(&self) -> &'static str {
        match self.source.kind() {
            BlobKind::PipelineBinaries => "pipeline binaries",
            BlobKind::CacheSegments => "pipeline cache data",
        }
    }
}

/// A number for a name: FNV-1a.
pub(crate) fn number(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Compiler for Maker {
    type Recipe = Order;
    type Executable = Pipeline;

    fn declared(&self, pipeline: &Declared) -> Result<Order, BuildError> {
        let name = pipeline.name();
        let shader = pipeline.shaders().first().map_or("", String::as_str);
        let recipe = match shader {
            "plain.vert" => recipes::pass(number(name)).into(),
            "trace.comp" => recipes::trace().into(),
            _ => {
                // Generated kernels say how long they are: "fog.300".
                let blocks = shader
                    .rsplit_once('.')
                    .and_then(|(_, blocks)| blocks.parse().ok())
                    .ok_or_else(|| {
                        BuildError::Permanent(format!("there is no shader {shader:?}").into())
                    })?;
                recipes::kernel(blocks, number(name) ^ self.salt).into()
            }
        };
        Ok(Order {
            name: name.to_owned(),
            recipe,
        })
    }

    fn kind(&self, order: &Order) -> Kind {
        match order.recipe {
            Recipe::Graphics(_) => Kind::Graphics,
            Recipe::Compute(_) => Kind::Compute,
        }
    }

    fn cost(&self, order: &Order) -> u64 {
        let stages = match &order.recipe {
            Recipe::Graphics(recipe) => recipe.stages.as_slice(),
            Recipe::Compute(recipe) => std::slice::from_ref(&recipe.stage),
        };
        stages
            .iter()
            .map(|stage| stage.module.0.code().len() as u64)
            .sum()
    }

    fn build(&self, order: &Order) -> Result<Built<Pipeline>, BuildError> {
        let binaries = locked(&self.kept.binaries).get(&order.name).cloned();
        let stored = match (&binaries, &self.segment) {
            (Some(binaries), _) => Some(Stored::Binaries(binaries)),
            (None, Some(segment)) => Some(Stored::Segment(segment)),
            (None, None) => None,
        };
        let made = self
            .source
            .make(&order.recipe, stored, self.segment.as_ref())
            .map_err(|error| BuildError::Permanent(error.to_string().into()))?;
        if let Keep::Binaries(binaries) = made.keep {
            locked(&self.kept.binaries).insert(order.name.clone(), binaries);
        }
        Ok(Built {
            executable: made.pipeline,
            source: match made.how {
                How::Compiled => Source::Compiled,
                How::FromArchive => Source::Cache,
            },
        })
    }

    fn persist(&self) -> Result<(), BuildError> {
        if let Some(segment) = &self.segment {
            let data = segment
                .data()
                .map_err(|error| BuildError::Transient(error.to_string().into()))?;
            *locked(&self.kept.segment) = data;
        }
        Ok(())
    }
}
