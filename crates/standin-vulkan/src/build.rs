//! Complete pipelines from recipes, on any thread.

use crate::binary::{self, Binaries};
use crate::checks;
use crate::decline::Declined;
use crate::device::Device;
use crate::extensions;
use crate::features::Feature;
use crate::layouts::need;
use crate::objects::{ObjectError, Objects};
use ash::vk;
use standin_recipe::create_info::{ComputeCreateInfo, GraphicsCreateInfo, GraphicsHandles};
use standin_recipe::output::Target;
use standin_recipe::{ComputeRecipe, GraphicsRecipe, Recipe};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Why there is no pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The device cannot make it, and was not asked to.
    #[error(transparent)]
    Declined(#[from] Declined),
    /// The driver would have had to compile and was told not to, or it gave a null handle.
    #[error("the pipeline is in no cache")]
    Missed,
    /// The driver failed.
    #[error("{call} failed: {result}")]
    Call {
        /// The Vulkan command.
        call: &'static str,
        /// What it returned.
        result: vk::Result,
    },
}

impl From<ObjectError> for BuildError {
    fn from(error: ObjectError) -> Self {
        match error {
            ObjectError::Declined(declined) => Self::Declined(declined),
            ObjectError::Call { call, result } => Self::Call { call, result },
        }
    }
}

/// What the driver said about a creation. Drivers are known to count ticks for nanoseconds and to
/// report hits in caches of their own as hits in the application's, so this is shown and never
/// acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// The duration as the driver has it.
    pub duration: Duration,
    /// It was found in the cache that was passed.
    pub cache_hit: bool,
}

/// A pipeline, which may be used as long as this is kept.
#[derive(Debug)]
pub struct Pipeline {
    raw: vk::Pipeline,
    bind_point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    /// A linked pipeline keeps its libraries: some drivers take them to be alive.
    _libraries: Vec<Arc<Pipeline>>,
    objects: Arc<Objects>,
}

impl Pipeline {
    /// The raw pipeline. It is destroyed with this.
    #[must_use]
    pub fn raw(&self) -> vk::Pipeline {
        self.raw
    }

    /// Where it is bound.
    #[must_use]
    pub fn bind_point(&self) -> vk::PipelineBindPoint {
        self.bind_point
    }

    /// Its layout; null for a library without one.
    #[must_use]
    pub fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: the handle is this one's own; whoever records commands with it keeps this.
        unsafe { self.objects.device().raw().destroy_pipeline(self.raw, None) };
    }
}

/// A pipeline and what making it took.
#[derive(Debug)]
pub struct Built {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Time inside of the driver's creation call, by our own clock.
    pub time: Duration,
    /// What the driver says.
    pub feedback: Option<Feedback>,
}

/// How one creation goes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Creation<'a> {
    /// The cache to use, or null.
    pub(crate) cache: vk::PipelineCache,
    /// Flags of `VkPipelineCreateFlags2` for this creation.
    pub(crate) flags: u64,
    /// Binaries to make it from. Shaders are then not looked at.
    pub(crate) binaries: Option<&'a Binaries<'a>>,
}

type Library = Arc<OnceLock<Result<Arc<Pipeline>, BuildError>>>;

/// Makes pipelines.
#[derive(Debug)]
pub struct Builder {
    libraries: Mutex<HashMap<Arc<GraphicsRecipe>, Library>>,
    objects: Arc<Objects>,
}

impl Builder {
    /// A builder on the objects' device.
    #[must_use]
    pub fn new(objects: &Arc<Objects>) -> Self {
        Self {
            libraries: Mutex::default(),
            objects: Arc::clone(objects),
        }
    }

    /// What pipelines are made of.
    #[must_use]
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    fn device(&self) -> &Arc<Device> {
        self.objects.device()
    }

    /// Whether the device can make the recipe. Layouts, passes and libraries are not looked at.
    ///
    /// # Errors
    /// The first reason that is found.
    pub fn check(&self, recipe: &Recipe) -> Result<(), Declined> {
        match recipe {
            Recipe::Graphics(recipe) => checks::graphics(self.device(), recipe),
            Recipe::Compute(recipe) => checks::compute(self.device(), recipe),
        }
    }

    /// Makes a pipeline, compiling what is needed.
    ///
    /// # Errors
    /// [`BuildError`].
    pub fn build(&self, recipe: &Recipe) -> Result<Built, BuildError> {
        self.create(recipe, &Creation::default())
    }

    pub(crate) fn create(
        &self,
        recipe: &Recipe,
        creation: &Creation<'_>,
    ) -> Result<Built, BuildError> {
        self.check(recipe)?;
        match recipe {
            Recipe::Graphics(recipe) => self.graphics(recipe, creation),
            Recipe::Compute(recipe) => self.compute(recipe, creation),
        }
    }

    fn graphics(
        &self,
        recipe: &GraphicsRecipe,
        creation: &Creation<'_>,
    ) -> Result<Built, BuildError> {
        let device = self.device();
        let is_library = recipe.flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR);
        let layout = match &recipe.layout {
            Some(layout) => self.objects.layout(layout)?,
            None if is_library => vk::PipelineLayout::null(),
            None => return Err(Declined::invalid("a pipeline has no layout").into()),
        };
        let render_pass = match &recipe.target {
            Target::RenderPass { pass, .. } => self.objects.render_pass(pass)?,
            Target::Rendering(_) => vk::RenderPass::null(),
        };
        check_libraries(recipe, is_library)?;
        let mut libraries = Vec::with_capacity(recipe.libraries.len());
        for library in &recipe.libraries {
            libraries.push(self.library(library)?);
        }
        let modules = match creation.binaries {
            // The code is chained and not read.
            Some(_) => Vec::new(),
            None => recipe
                .stages
                .iter()
                .map(|stage| self.objects.module(&stage.module.0))
                .collect::<Result<_, _>>()?,
        };
        let handles = GraphicsHandles {
            modules,
            layout,
            render_pass,
            libraries: libraries.iter().map(|library| library.raw).collect(),
        };
        let owned = GraphicsCreateInfo::new(recipe, &handles, creation.flags);
        let mut info = owned.info();
        let mut feedback = vk::PipelineCreationFeedback::default();
        let mut feedback_info = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut feedback);
        if has_feedback(device) {
            info = info.push_next(&mut feedback_info);
        }
        let mut binaries = creation.binaries.map(Binaries::info);
        if let Some(binaries) = &mut binaries {
            info = info.push_next(binaries);
        }
        let started = Instant::now();
        // SAFETY: the recipe was checked against the device, the handles are alive, and all that
        // the create-info points to lives until the call returns.
        let made = unsafe {
            device
                .raw()
                .create_graphics_pipelines(creation.cache, &[info], None)
        };
        let time = started.elapsed();
        let raw = outcome(device, "vkCreateGraphicsPipelines", made)?;
        Ok(Built {
            pipeline: Pipeline {
                raw,
                bind_point: vk::PipelineBindPoint::GRAPHICS,
                layout,
                _libraries: libraries,
                objects: Arc::clone(&self.objects),
            },
            time,
            feedback: read(feedback),
        })
    }

    fn compute(
        &self,
        recipe: &ComputeRecipe,
        creation: &Creation<'_>,
    ) -> Result<Built, BuildError> {
        let device = self.device();
        let layout = self.objects.layout(&recipe.layout)?;
        let module = match creation.binaries {
            Some(_) => vk::ShaderModule::null(),
            None => self.objects.module(&recipe.stage.module.0)?,
        };
        let owned = ComputeCreateInfo::new(recipe, module, layout, creation.flags);
        let mut info = owned.info();
        let mut feedback = vk::PipelineCreationFeedback::default();
        let mut feedback_info = vk::PipelineCreationFeedbackCreateInfo::default()
            .pipeline_creation_feedback(&mut feedback);
        if has_feedback(device) {
            info = info.push_next(&mut feedback_info);
        }
        let mut binaries = creation.binaries.map(Binaries::info);
        if let Some(binaries) = &mut binaries {
            info = info.push_next(binaries);
        }
        let started = Instant::now();
        // SAFETY: as for graphics pipelines.
        let made = unsafe {
            device
                .raw()
                .create_compute_pipelines(creation.cache, &[info], None)
        };
        let time = started.elapsed();
        let raw = outcome(device, "vkCreateComputePipelines", made)?;
        Ok(Built {
            pipeline: Pipeline {
                raw,
                bind_point: vk::PipelineBindPoint::COMPUTE,
                layout,
                _libraries: Vec::new(),
                objects: Arc::clone(&self.objects),
            },
            time,
            feedback: read(feedback),
        })
    }

    /// A library, made once. Two threads that want it wait for one creation.
    fn library(&self, recipe: &Arc<GraphicsRecipe>) -> Result<Arc<Pipeline>, BuildError> {
        if !recipe.flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR) {
            return Err(Declined::invalid("a library is no library").into());
        }
        let slot = Arc::clone(
            self.libraries
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(Arc::clone(recipe))
                .or_default(),
        );
        slot.get_or_init(|| {
            checks::graphics(self.device(), recipe)?;
            let built = self.graphics(recipe, &Creation::default())?;
            Ok(Arc::new(built.pipeline))
        })
        .clone()
    }
}

/// The parts fit together, and a link with optimisation finds what it needs: RADV crashes where
/// a part was made without it, and reports nothing.
fn check_libraries(recipe: &GraphicsRecipe, is_library: bool) -> Result<(), Declined> {
    use vk::GraphicsPipelineLibraryFlagsEXT as Part;
    let mut parts = recipe.parts.flags();
    for library in &recipe.libraries {
        if recipe
            .flags
            .contains(vk::PipelineCreateFlags::LINK_TIME_OPTIMIZATION_EXT)
            && !library
                .flags
                .contains(vk::PipelineCreateFlags::RETAIN_LINK_TIME_OPTIMIZATION_INFO_EXT)
        {
            return Err(Declined::invalid(
                "a link with optimisation of a library that did not retain what that needs",
            ));
        }
        parts |= all_parts(library);
    }
    let needed = Part::VERTEX_INPUT_INTERFACE | Part::PRE_RASTERIZATION_SHADERS;
    if is_library || parts.contains(needed) {
        Ok(())
    } else {
        Err(Declined::invalid("a pipeline without all of its parts"))
    }
}

fn all_parts(recipe: &GraphicsRecipe) -> vk::GraphicsPipelineLibraryFlagsEXT {
    recipe
        .libraries
        .iter()
        .fold(recipe.parts.flags(), |parts, library| {
            parts | all_parts(library)
        })
}

fn has_feedback(device: &Device) -> bool {
    device.capabilities().identity.api_version >= vk::API_VERSION_1_3
        || device
            .extensions()
            .has(ash::ext::pipeline_creation_feedback::NAME)
}

fn read(feedback: vk::PipelineCreationFeedback) -> Option<Feedback> {
    use vk::PipelineCreationFeedbackFlags as Flags;
    feedback.flags.contains(Flags::VALID).then(|| Feedback {
        duration: Duration::from_nanos(feedback.duration),
        cache_hit: feedback
            .flags
            .contains(Flags::APPLICATION_PIPELINE_CACHE_HIT),
    })
}

/// One handle, or why there is none. A null handle is a miss whatever the result says, and so is
/// a demand to compile: neither is ever used as a pipeline.
fn outcome(
    device: &Device,
    call: &'static str,
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
) -> Result<vk::Pipeline, BuildError> {
    let (handles, result) = match made {
        Ok(handles) => (handles, vk::Result::SUCCESS),
        Err(failed) => failed,
    };
    let handle = handles.first().copied().unwrap_or_default();
    if result == vk::Result::SUCCESS && handle != vk::Pipeline::null() {
        return Ok(handle);
    }
    // SAFETY: destroying null is valid, and nobody else has seen the handle.
    unsafe { device.raw().destroy_pipeline(handle, None) };
    match result {
        vk::Result::SUCCESS | vk::Result::PIPELINE_COMPILE_REQUIRED_EXT => Err(BuildError::Missed),
        result if result == binary::MISSING => Err(BuildError::Missed),
        result => Err(BuildError::Call { call, result }),
    }
}

/// Flag that makes a creation fail instead of compiling, where the device has it.
pub(crate) fn fail_if_compile_required(device: &Device) -> Option<u64> {
    need(device, &[Feature::PipelineCreationCacheControl])
        .is_ok()
        .then(|| u64::from(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED.as_raw()))
}

/// The functions of pipeline binaries, where the device has them.
pub(crate) fn binary_functions(device: &Device) -> Option<binary::Functions> {
    device
        .extensions()
        .has(extensions::PIPELINE_BINARY)
        .then(|| binary::Functions::load(device.instance().raw(), device.raw()))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e9_feedback_that_is_not_valid_is_none() {
        let hit = vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;
        let raw = |flags| vk::PipelineCreationFeedback { flags, duration: 5 };
        assert_eq!(read(raw(hit)), None);
        let valid = vk::PipelineCreationFeedbackFlags::VALID;
        assert_eq!(
            read(raw(valid | hit)),
            Some(Feedback {
                duration: Duration::from_nanos(5),
                cache_hit: true,
            })
        );
    }
}
