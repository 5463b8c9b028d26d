//! Recipes written as entries, under the keys that Valve's recorder gives them.
//!
//! A recipe holds no struct that says only what its absence says too, so that the entry of a
//! recipe that was read from a capture may have another key than it had there. Both are right:
//! each is the key of what its own entry says.

mod graphics;
mod layouts;
mod render_pass;
mod states;

use crate::entry::{EntryKey, FozKey, Tag};
use crate::hash::{self, UnknownStruct};
use crate::info::Application;
use crate::json::render_pass::PassVersion;
use crate::json::resource::{LinkBody, ModuleBody};
use crate::json::{Document, Handle, Members};
use crate::stream::VERSION;
use crate::varint;
use crate::writer::{WriteError, Writer};
use standin_recipe::codec::Float;
use standin_recipe::{
    GraphicsRecipe, Module, ModuleKey, PipelineLayoutRecipe, Recipe, RenderPassRecipe,
    SamplerRecipe, SetLayoutRecipe,
};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// A recipe or an application cannot be written as an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The entry cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// JSON cannot say it: a float is infinite or not a number.
    #[error("the format cannot hold it: {0}")]
    Json(#[from] serde_json::Error),
    /// The format has no member for it.
    #[error("the format has no place for {0}")]
    NoPlace(&'static str),
    /// A library is made of libraries, which readers of the format do not take.
    #[error("a library that consumes libraries cannot be written")]
    LibraryOfLibraries,
    /// A chained struct of an application's features is not known here.
    #[error(transparent)]
    UnknownStruct(#[from] UnknownStruct),
}

pub(crate) type Step<T> = Result<T, RecordError>;

/// Writes pipelines with everything that they refer to, each object once and before what refers
/// to it.
#[derive(Debug)]
pub struct Recorder<W> {
    writer: Writer<W>,
    application: Option<FozKey>,
    samplers: HashMap<Arc<SamplerRecipe>, Handle>,
    set_layouts: HashMap<Arc<SetLayoutRecipe>, Handle>,
    pipeline_layouts: HashMap<Arc<PipelineLayoutRecipe>, Handle>,
    render_passes: HashMap<Arc<RenderPassRecipe>, Handle>,
    modules: HashMap<ModuleKey, Handle>,
}

impl<W: Write> Recorder<W> {
    /// Records into this database.
    #[must_use]
    pub fn new(writer: Writer<W>) -> Self {
        Self {
            writer,
            application: None,
            samplers: HashMap::new(),
            set_layouts: HashMap::new(),
            pipeline_layouts: HashMap::new(),
            render_passes: HashMap::new(),
            modules: HashMap::new(),
        }
    }

    /// Writes an application, to which everything is linked that is written from here on.
    ///
    /// # Errors
    /// Its features are not all known, or the entry cannot be written.
    pub fn application(&mut self, application: &Application) -> Result<FozKey, RecordError> {
        let (info, features) = application.bodies()?;
        let key = FozKey(hash::application(&info, &features)?);
        let document = Document {
            application_info: Some(info),
            physical_device_features: Some(features),
            ..document()
        };
        let payload = serde_json::to_vec(&document)?;
        self.writer
            .write(EntryKey::new(Tag::ApplicationInfo, key.0), &payload)?;
        self.application = Some(key);
        // What was written so far is linked to this application too when it comes again.
        self.samplers.clear();
        self.set_layouts.clear();
        self.pipeline_layouts.clear();
        self.render_passes.clear();
        self.modules.clear();
        Ok(key)
    }

    /// Writes a pipeline and returns its entry.
    ///
    /// # Errors
    /// The format cannot hold the recipe, or the entry cannot be written. What the pipeline refers
    /// to may be written by then.
    pub fn pipeline(&mut self, recipe: &Recipe) -> Result<EntryKey, RecordError> {
        let (tag, key) = match recipe {
            Recipe::Graphics(recipe) => (Tag::GraphicsPipeline, self.graphics(recipe)?),
            Recipe::Compute(recipe) => {
                let body = graphics::compute(recipe, self)?;
                let key = Handle(hash::compute(&body)?);
                let document = Document {
                    compute_pipelines: Some(Members(vec![(key, body)])),
                    ..document()
                };
                self.entry(Tag::ComputePipeline, key, &document, &[])?;
                (Tag::ComputePipeline, key)
            }
        };
        Ok(EntryKey::new(tag, key.0))
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self) -> io::Result<W> {
        self.writer.finish()
    }

    fn graphics(&mut self, recipe: &GraphicsRecipe) -> Step<Handle> {
        let body = graphics::graphics(recipe, self)?;
        let key = Handle(hash::graphics(&body)?);
        let document = Document {
            graphics_pipelines: Some(Members(vec![(key, body)])),
            ..document()
        };
        self.entry(Tag::GraphicsPipeline, key, &document, &[])?;
        Ok(key)
    }

    /// Writes the link of an entry, then the entry.
    fn entry(&mut self, tag: Tag, key: Handle, document: &Document, binary: &[u8]) -> Step<()> {
        // First, so that what JSON cannot say leaves no link to nothing.
        let mut payload = serde_json::to_vec(document)?;
        if !binary.is_empty() {
            payload.push(0);
            payload.extend_from_slice(binary);
        }
        if let Some(application) = self.application {
            let link = Document {
                link: Some(LinkBody {
                    application: Handle(application.0),
                    tag: u32::from(tag.number()),
                    hash: key,
                }),
                ..self::document()
            };
            let link_key = hash::link(application.0, tag, key.0);
            let text = serde_json::to_vec(&link)?;
            self.writer
                .write(EntryKey::new(Tag::ApplicationBlobLink, link_key), &text)?;
        }
        self.writer.write(EntryKey::new(tag, key.0), &payload)?;
        Ok(())
    }
}

/// What a description refers to, written.
pub(crate) trait Keep {
    fn sampler(&mut self, recipe: &Arc<SamplerRecipe>) -> Step<Handle>;
    fn set_layout(&mut self, recipe: &Arc<SetLayoutRecipe>) -> Step<Handle>;
    fn pipeline_layout(&mut self, recipe: &Arc<PipelineLayoutRecipe>) -> Step<Handle>;
    fn module(&mut self, module: &Module) -> Step<Handle>;
    fn render_pass(&mut self, recipe: &Arc<RenderPassRecipe>) -> Step<Handle>;
    fn library(&mut self, recipe: &GraphicsRecipe) -> Step<Handle>;
}

impl<W: Write> Keep for Recorder<W> {
    fn sampler(&mut self, recipe: &Arc<SamplerRecipe>) -> Step<Handle> {
        if let Some(&key) = self.samplers.get(recipe) {
            return Ok(key);
        }
        let body = layouts::sampler(recipe);
        let key = Handle(hash::sampler(&body)?);
        let document = Document {
            samplers: Some(Members(vec![(key, body)])),
            ..document()
        };
        self.entry(Tag::Sampler, key, &document, &[])?;
        self.samplers.insert(Arc::clone(recipe), key);
        Ok(key)
    }

    fn set_layout(&mut self, recipe: &Arc<SetLayoutRecipe>) -> Step<Handle> {
        if let Some(&key) = self.set_layouts.get(recipe) {
            return Ok(key);
        }
        let body = layouts::set_layout(recipe, self)?;
        let key = Handle(hash::set_layout(&body)?);
        let document = Document {
            set_layouts: Some(Members(vec![(key, body)])),
            ..document()
        };
        self.entry(Tag::SetLayout, key, &document, &[])?;
        self.set_layouts.insert(Arc::clone(recipe), key);
        Ok(key)
    }

    fn pipeline_layout(&mut self, recipe: &Arc<PipelineLayoutRecipe>) -> Step<Handle> {
        if let Some(&key) = self.pipeline_layouts.get(recipe) {
            return Ok(key);
        }
        let body = layouts::pipeline_layout(recipe, self)?;
        let key = Handle(hash::pipeline_layout(&body)?);
        let document = Document {
            pipeline_layouts: Some(Members(vec![(key, body)])),
            ..document()
        };
        self.entry(Tag::PipelineLayout, key, &document, &[])?;
        self.pipeline_layouts.insert(Arc::clone(recipe), key);
        Ok(key)
    }

    fn module(&mut self, module: &Module) -> Step<Handle> {
        if let Some(&key) = self.modules.get(&module.key()) {
            return Ok(key);
        }
        let flags = module.flags().as_raw();
        let key = Handle(hash::module(flags, module.code()));
        let mut binary = Vec::new();
        varint::encode(module.code(), &mut binary);
        let body = ModuleBody {
            code_size: module.code().len() as u64 * 4,
            flags,
            varint_offset: Some(0),
            varint_size: Some(binary.len() as u64),
            code: None,
        };
        let document = Document {
            shader_modules: Some(Members(vec![(key, body)])),
            ..document()
        };
        self.entry(Tag::ShaderModule, key, &document, &binary)?;
        self.modules.insert(module.key(), key);
        Ok(key)
    }

    fn render_pass(&mut self, recipe: &Arc<RenderPassRecipe>) -> Step<Handle> {
        if let Some(&key) = self.render_passes.get(recipe) {
            return Ok(key);
        }
        let (version, body) = render_pass::render_pass(recipe);
        let key = Handle(hash::render_pass(&body, version)?);
        let passes = Some(Members(vec![(key, body)]));
        let document = match version {
            PassVersion::One => Document {
                render_passes: passes,
                ..document()
            },
            PassVersion::Two => Document {
                render_passes2: passes,
                ..document()
            },
        };
        self.entry(Tag::RenderPass, key, &document, &[])?;
        self.render_passes.insert(Arc::clone(recipe), key);
        Ok(key)
    }

    fn library(&mut self, recipe: &GraphicsRecipe) -> Step<Handle> {
        if recipe.libraries.is_empty() {
            self.graphics(recipe)
        } else {
            Err(RecordError::LibraryOfLibraries)
        }
    }
}

fn document() -> Document {
    Document {
        version: u32::from(VERSION),
        ..Document::default()
    }
}

/// An enumerant as a number.
fn number(value: i32) -> u32 {
    value.cast_unsigned()
}

fn real(value: Float) -> crate::json::Real {
    crate::json::Real(value.get())
}
