//! The engine's compiler: recipes to Vulkan pipelines, from what an earlier launch has kept where
//! that serves.

use crate::recipes;
use standin::BuildError;
use standin::engine::feature::Pipeline as Declared;
use standin::engine::pipelines::{Built, Compiler, Kind, Source};
use standin_archive::batch::second_hash;
use standin_archive::store::Access;
use standin_archive::{Archive, ArchiveError, Batch, Binary, Blob, Generation, Identity, Placed};
use standin_recipe::Recipe;
use standin_recipe::key::exact_executable_key;
use standin_vulkan::Device;
use standin_vulkan::blobs::{BlobKind, BlobSource, How, Keep, Segment, Stored};
use standin_vulkan::build::Pipeline;
use standin_vulkan::objects::Objects;
use standin_vulkan::stamp::stamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A folder for an archive that is gone when this is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A folder of this process's own.
    pub(crate) fn new() -> Self {
        Self(std::env::temp_dir().join(format!("standin-engine-{}", std::process::id())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it is in the folder for temporary files.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

/// What the archive has of a pipeline.
enum Found {
    Binaries(Vec<Binary>),
    Segment(Arc<Segment>),
}

/// Builds the engine's pipelines on one device.
pub(crate) struct Maker {
    source: BlobSource,
    archive: Archive,
    generation: Generation,
    /// Segments of the archive that were opened, by payload.
    opened: Mutex<BTreeMap<i64, Option<Arc<Segment>>>>,
    /// What is compiled now goes into it, where the driver keeps segments.
    segment: Option<Segment>,
    /// Pipelines of the new segment.
    placed: Mutex<Vec<Placed>>,
    /// Binaries that were made and not written yet.
    batch: Mutex<Batch>,
    /// Makes this launch's shaders others than those that the driver's own cache may know.
    salt: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Maker {
    pub(crate) fn new(
        device: &Arc<Device>,
        folder: &Path,
        salt: u64,
    ) -> Result<Self, ArchiveError> {
        let source = BlobSource::new(&Objects::new(device));
        let archive = Archive::open(folder, Access::ReadWrite)?;
        let segment = (source.kind() == BlobKind::CacheSegments)
            .then(|| source.new_segment().ok())
            .flatten();
        Ok(Self {
            generation: archive.generation(&stamp(device))?,
            opened: Mutex::default(),
            segment,
            placed: Mutex::default(),
            batch: Mutex::default(),
            salt,
            archive,
            source,
        })
    }

    /// What the archive has of a pipeline. A segment is read and opened once.
    fn find(&self, identity: Identity) -> Option<Found> {
        let payload = self.archive.payload_of(self.generation, identity)?;
        if let Some(opened) = locked(&self.opened).get(&payload) {
            return opened.clone().map(Found::Segment);
        }
        match self.archive.find_blob(self.generation, identity)? {
            Blob::Binaries(binaries) => Some(Found::Binaries(binaries)),
            Blob::Segment(data) => locked(&self.opened)
                .entry(payload)
                .or_insert_with(|| self.source.open_segment(&data).ok().map(Arc::new))
                .clone()
                .map(Found::Segment),
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
    type Recipe = Recipe;
    type Executable = Pipeline;

    fn declared(&self, pipeline: &Declared) -> Result<Recipe, BuildError> {
        let name = pipeline.name();
        let shader = pipeline.shaders().first().map_or("", String::as_str);
        match shader {
            "plain.vert" => Ok(recipes::pass(number(name)).into()),
            "trace.comp" => Ok(recipes::trace().into()),
            _ => {
                // Generated kernels say how long they are: "fog.300".
                let blocks = shader
                    .rsplit_once('.')
                    .and_then(|(_, blocks)| blocks.parse().ok())
                    .ok_or_else(|| {
                        BuildError::Permanent(format!("there is no shader {shader:?}").into())
                    })?;
                Ok(recipes::kernel(blocks, number(name) ^ self.salt).into())
            }
        }
    }

    fn kind(&self, recipe: &Recipe) -> Kind {
        match recipe {
            Recipe::Graphics(_) => Kind::Graphics,
            Recipe::Compute(_) => Kind::Compute,
        }
    }

    fn cost(&self, recipe: &Recipe) -> u64 {
        let stages = match recipe {
            Recipe::Graphics(recipe) => recipe.stages.as_slice(),
            Recipe::Compute(recipe) => std::slice::from_ref(&recipe.stage),
        };
        stages
            .iter()
            .map(|stage| stage.module.0.code().len() as u64)
            .sum()
    }

    fn build(&self, recipe: &Recipe) -> Result<Built<Pipeline>, BuildError> {
        let identity = Identity {
            key: exact_executable_key(recipe.exact_key()),
            second: second_hash(&recipe.normalised().to_body().bytes),
        };
        let found = self.find(identity);
        let stored = match &found {
            Some(Found::Binaries(binaries)) => Some(Stored::Binaries(binaries)),
            Some(Found::Segment(segment)) => Some(Stored::Segment(segment)),
            None => None,
        };
        let made = self
            .source
            .make(recipe, stored, self.segment.as_ref())
            .map_err(|error| BuildError::Permanent(error.to_string().into()))?;
        let placed = Placed {
            identity,
            cost: made.time,
        };
        match made.keep {
            Keep::Binaries(binaries) => {
                let blob = Blob::Binaries(binaries);
                locked(&self.batch).put_blob(self.generation, vec![placed], blob);
            }
            Keep::InSegment => locked(&self.placed).push(placed),
            Keep::Nothing => {}
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
        let mut batch = std::mem::take(&mut *locked(&self.batch));
        let placed = std::mem::take(&mut *locked(&self.placed));
        if let Some(segment) = &self.segment
            && !placed.is_empty()
        {
            let data = segment
                .data()
                .map_err(|error| BuildError::Transient(error.to_string().into()))?;
            if let Some(data) = data {
                batch.put_blob(self.generation, placed, Blob::Segment(data));
            }
        }
        batch
            .commit(&self.archive)
            .map_err(|error| BuildError::Transient(error.to_string().into()))
    }
}
