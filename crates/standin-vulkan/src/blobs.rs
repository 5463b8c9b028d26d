//! Pipelines from what was kept of earlier compiles, and what to keep of new ones.
//!
//! With `VK_KHR_pipeline_binary` each pipeline's binaries are kept by themselves. Without it there are
//! only `VkPipelineCache`s, of which one per pipeline would be costly on drivers that have one
//! large store per process: there, many pipelines share a [`Segment`], which is opened when the
//! first of them is wanted.
//!
//! Whatever was kept is of use or it is not. In no case does it cost more than a compile.

use crate::binary::{self, Binaries};
use crate::build::{
    BuildError, Builder, Built, Creation, Feedback, Pipeline, binary_functions,
    fail_if_compile_required,
};
use crate::capabilities::Identity;
use crate::device::Device;
use crate::objects::{ObjectError, Objects, failed};
use ash::vk;
use standin_archive::Binary;
use standin_recipe::Recipe;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a device's driver lets be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlobKind {
    /// The binaries of each pipeline.
    PipelineBinaries,
    /// Segments of `VkPipelineCache` data.
    CacheSegments,
}

/// Why something kept was not used. The pipeline was compiled instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// It is of the other kind than this device takes.
    #[error("the blob is of a kind that this device does not take")]
    Kind,
    /// A pipeline has at least one binary, each with a key of 1 to 32 bytes and with data.
    #[error("the blob is not a pipeline's binaries")]
    NotBinaries,
    /// The cache header is not that of this device and driver.
    #[error("the cache data's header has another {0}")]
    Header(&'static str),
    /// The driver took none of it.
    #[error("the driver did not accept the blob")]
    ByDriver,
    /// The driver would have had to compile in spite of it.
    #[error("the pipeline is not in the blob")]
    NotInIt,
}

/// How a pipeline came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The driver compiled it (or had it in a cache of its own).
    Compiled,
    /// From what was kept.
    FromArchive,
}

/// What was kept of a pipeline.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// Its binaries.
    Binaries(&'a [Binary]),
    /// The segment that it is in.
    Segment(&'a Segment),
}

/// What there is to keep of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// Nothing, or nothing new.
    Nothing,
    /// Its binaries.
    Binaries(Vec<Binary>),
    /// It is in the segment that was given to compile into.
    InSegment,
}

/// A pipeline that was made, and how.
#[derive(Debug)]
pub struct Made {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// How it came to be.
    pub how: How,
    /// All time that making it took, reading what was kept included, by our own clock.
    pub time: Duration,
    /// What the driver says of the creation.
    pub feedback: Option<Feedback>,
    /// Why what was kept was not used, if there was anything.
    pub refused: Option<Refused>,
    /// What there is to keep.
    pub keep: Keep,
}

/// Makes pipelines, from what was kept where that is possible. To be used from any thread.
pub struct BlobSource {
    builder: Builder,
    functions: Option<binary::Functions>,
    fail_flag: Option<u64>,
}

impl std::fmt::Debug for BlobSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobSource")
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

impl BlobSource {
    /// A source for the objects' device.
    #[must_use]
    pub fn new(objects: &Arc<Objects>) -> Self {
        let device = objects.device();
        Self {
            functions: binary_functions(device),
            fail_flag: fail_if_compile_required(device),
            builder: Builder::new(objects),
        }
    }

    fn device(&self) -> &Arc<Device> {
        self.builder.objects().device()
    }

    /// The builder underneath.
    #[must_use]
    pub fn builder(&self) -> &Builder {
        &self.builder
    }

    /// What this device's driver lets be kept.
    #[must_use]
    pub fn kind(&self) -> BlobKind {
        if self.functions.is_some() {
            BlobKind::PipelineBinaries
        } else {
            BlobKind::CacheSegments
        }
    }

    /// Makes a pipeline: from `stored` if that serves, else by compiling, into the segment `into`
    /// if one is given.
    ///
    /// # Errors
    /// [`BuildError`]. Something kept that is of no use is none: it is told in [`Made::refused`].
    pub fn make(
        &self,
        recipe: &Recipe,
        stored: Option<Stored<'_>>,
        into: Option<&Segment>,
    ) -> Result<Made, BuildError> {
        let started = Instant::now();
        let mut refused = None;
        if let Some(stored) = stored {
            match self.restore(recipe, stored)? {
                Ok((built, how)) => {
                    return Ok(Made {
                        pipeline: built.pipeline,
                        how,
                        time: started.elapsed(),
                        feedback: built.feedback,
                        refused: None,
                        keep: Keep::Nothing,
                    });
                }
                Err(why) => refused = Some(why),
            }
        }
        let (built, keep) = match self.functions {
            Some(functions) if is_capturable(recipe) => self.capture(recipe, functions)?,
            _ => {
                let built = self.builder.create(
                    recipe,
                    &Creation {
                        cache: into.map_or(vk::PipelineCache::null(), |segment| segment.raw),
                        ..Creation::default()
                    },
                )?;
                let keep = match into {
                    Some(_) => Keep::InSegment,
                    None => Keep::Nothing,
                };
                (built, keep)
            }
        };
        Ok(Made {
            pipeline: built.pipeline,
            how: How::Compiled,
            time: started.elapsed(),
            feedback: built.feedback,
            refused,
            keep,
        })
    }

    /// Makes a pipeline from what was kept, or says why that is of no use.
    fn restore(
        &self,
        recipe: &Recipe,
        stored: Stored<'_>,
    ) -> Result<Result<(Built, How), Refused>, BuildError> {
        let built = match (stored, self.functions) {
            (Stored::Binaries(binaries), Some(functions)) => {
                if binaries.is_empty() || !binaries.iter().all(is_whole) {
                    return Ok(Err(Refused::NotBinaries));
                }
                let device = Arc::clone(self.device());
                let Ok(Some(handles)) = Binaries::from_stored(&device, functions, binaries) else {
                    return Ok(Err(Refused::ByDriver));
                };
                self.builder.create(
                    recipe,
                    &Creation {
                        binaries: Some(&handles),
                        ..Creation::default()
                    },
                )
            }
            (Stored::Segment(segment), None) => {
                let Some(fail) = self.fail_flag else {
                    // Without a way to ask, the cache is used and the driver's word is taken for
                    // how it went: that decides what is shown, not what is drawn.
                    let built = self.builder.create(
                        recipe,
                        &Creation {
                            cache: segment.raw,
                            ..Creation::default()
                        },
                    )?;
                    let hit = built.feedback.is_some_and(|feedback| feedback.cache_hit);
                    let how = if hit { How::FromArchive } else { How::Compiled };
                    return Ok(Ok((built, how)));
                };
                self.builder.create(
                    recipe,
                    &Creation {
                        cache: segment.raw,
                        flags: fail,
                        binaries: None,
                    },
                )
            }
            _ => return Ok(Err(Refused::Kind)),
        };
        match built {
            Ok(built) => Ok(Ok((built, How::FromArchive))),
            Err(BuildError::Missed) => Ok(Err(Refused::NotInIt)),
            Err(BuildError::Declined(declined)) => Err(declined.into()),
            // What the driver fails on with a blob may well succeed without.
            Err(BuildError::Call { .. }) => Ok(Err(Refused::ByDriver)),
        }
    }

    /// Compiles a pipeline and takes its binaries.
    fn capture(
        &self,
        recipe: &Recipe,
        functions: binary::Functions,
    ) -> Result<(Built, Keep), BuildError> {
        let built = self.builder.create(
            recipe,
            &Creation {
                flags: binary::CAPTURE_DATA,
                ..Creation::default()
            },
        )?;
        let device = self.device();
        let raw = built.pipeline.raw();
        // A failure here costs what could have been kept, and nothing else.
        let binaries = Binaries::captured(device, functions, raw)
            .ok()
            .flatten()
            .and_then(|handles| handles.data().ok().flatten());
        binary::release(device, functions, raw);
        let keep = binaries.map_or(Keep::Nothing, Keep::Binaries);
        Ok((built, keep))
    }

    /// A segment with nothing in it, to compile into.
    ///
    /// # Errors
    /// [`ObjectError::Call`] if the driver fails.
    pub fn new_segment(&self) -> Result<Segment, ObjectError> {
        Segment::new(self.device(), &[])
    }

    /// A segment with the data that were kept of an earlier one. The header is compared with this
    /// device's before the driver sees the data.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn open_segment(&self, data: &[u8]) -> Result<Segment, Refused> {
        if self.functions.is_some() {
            return Err(Refused::Kind);
        }
        check_header(data, &self.device().capabilities().identity)?;
        let segment = Segment::new(self.device(), data).map_err(|_| Refused::ByDriver)?;
        // Some drivers say success and take nothing: what is left is a header.
        match segment.size() {
            Ok(size) if size > HEADER => Ok(segment),
            _ => Err(Refused::ByDriver),
        }
    }
}

/// Binaries of a linked pipeline would have to be kept with those of its libraries.
fn is_capturable(recipe: &Recipe) -> bool {
    match recipe {
        Recipe::Graphics(recipe) => {
            recipe.libraries.is_empty()
                && !recipe.flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR)
        }
        Recipe::Compute(_) => true,
    }
}

fn is_whole(binary: &Binary) -> bool {
    (1..=binary::MAX_KEY_SIZE).contains(&binary.key.len()) && !binary.data.is_empty()
}

/// Bytes of a cache's header, version one.
const HEADER: usize = 32;

fn check_header(data: &[u8], identity: &Identity) -> Result<(), Refused> {
    let Some((header, _)) = data.split_first_chunk::<HEADER>() else {
        return Err(Refused::Header("size"));
    };
    let word = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    if word(0) != 32 {
        return Err(Refused::Header("size"));
    }
    if word(4) != 1 {
        return Err(Refused::Header("version"));
    }
    if word(8) != identity.vendor_id {
        return Err(Refused::Header("vendor"));
    }
    if word(12) != identity.device_id {
        return Err(Refused::Header("device"));
    }
    if header[16..] != identity.pipeline_cache_uuid {
        return Err(Refused::Header("UUID"));
    }
    if data.len() == HEADER {
        return Err(Refused::NotInIt);
    }
    Ok(())
}

/// A `VkPipelineCache` that many pipelines share. The driver synchronises its use.
#[derive(Debug)]
pub struct Segment {
    raw: vk::PipelineCache,
    device: Arc<Device>,
}

impl Segment {
    fn new(device: &Arc<Device>, data: &[u8]) -> Result<Self, ObjectError> {
        let mut info = vk::PipelineCacheCreateInfo::default();
        // No data is a null pointer: some drivers crash on a size of 0 with another.
        if !data.is_empty() {
            info = info.initial_data(data);
        }
        // SAFETY: the data live until the call returns, and begin with this device's header.
        let raw = unsafe { device.raw().create_pipeline_cache(&info, None) }
            .map_err(failed("vkCreatePipelineCache"))?;
        Ok(Self {
            raw,
            device: Arc::clone(device),
        })
    }

    fn size(&self) -> Result<usize, vk::Result> {
        let mut size = 0;
        self.read(&mut size, std::ptr::null_mut())?;
        Ok(size)
    }

    /// `vkGetPipelineCacheData`. That the buffer was too short is no failure: what is written is
    /// a usable part.
    fn read(&self, size: &mut usize, data: *mut u8) -> Result<(), vk::Result> {
        let raw = self.device.raw();
        // SAFETY: `data` is null or has room for `size` bytes.
        let result = unsafe {
            (raw.fp_v1_0().get_pipeline_cache_data)(raw.handle(), self.raw, size, data.cast())
        };
        match result {
            vk::Result::SUCCESS | vk::Result::INCOMPLETE => Ok(()),
            error => Err(error),
        }
    }

    /// The data to keep; `None` if the driver has put nothing behind the header.
    ///
    /// # Errors
    /// [`ObjectError::Call`] if the driver fails.
    pub fn data(&self) -> Result<Option<Vec<u8>>, ObjectError> {
        let call = || failed("vkGetPipelineCacheData");
        let first = self.size().map_err(call())?;
        let mut data = vec![0_u8; first];
        let mut size = first;
        self.read(&mut size, data.as_mut_ptr()).map_err(call())?;
        // Some drivers leave the size at the buffer's or raise it: never more than asked for.
        data.truncate(size.min(first));
        Ok((data.len() > HEADER).then_some(data))
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: calls that use the cache borrow this.
        unsafe { self.device.raw().destroy_pipeline_cache(self.raw, None) };
    }
}
