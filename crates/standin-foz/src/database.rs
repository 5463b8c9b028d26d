//! Several databases as one source of recipes.

use crate::cache::Cache;
use crate::declined::{Damaged, Declined, Reason, Warning};
use crate::entry::{EntryKey, FozKey, Tag};
use crate::hash;
use crate::info::{ApplicationInfo, Other};
use crate::json::render_pass::PassVersion;
use crate::json::{self, Document, Members};
use crate::recipes::{Resolve, Step, graphics, layouts, render_pass};
use crate::stream::{Damage, End, Head, HeaderError, Name, Stream};
use standin_recipe::{
    GraphicsRecipe, Module, PipelineLayoutRecipe, Recipe, RenderPassRecipe, SamplerRecipe,
    SetLayoutRecipe,
};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a file that are read at once.
const READ_AHEAD: usize = 32 << 10;
/// Bytes of SPIR-V that are kept for the pipelines that follow.
const MODULE_CACHE: usize = 64 << 20;
/// Objects of each other kind that are kept.
const OBJECT_CACHE: usize = 4096;
/// Libraries that are kept.
const LIBRARY_CACHE: usize = 1024;

/// A database cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub struct OpenError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub error: HeaderError,
}

/// What databases hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Entries of each tag, each key once.
    pub entries: BTreeMap<Tag, u64>,
    /// Entries whose tag and key came before; the first counts.
    pub duplicates: u64,
    /// What costs no entry of its own.
    pub warnings: Vec<Warning>,
    /// Entries that were found damaged so far: names when opening, payloads when reading.
    pub damaged: Vec<Damaged>,
    /// Bytes of payload decoded so far.
    pub decoded_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct Location {
    file: u32,
    offset: u64,
}

struct Source<R> {
    path: PathBuf,
    stream: Stream<R>,
}

/// Several databases as one: of entries of one tag and key the first wins.
///
/// Opening reads the heads of the entries and no payload. Memory holds about 50 bytes an entry,
/// the largest payload, and caches of fixed bounds.
pub struct Database<R = BufReader<File>> {
    sources: Vec<Source<R>>,
    index: HashMap<EntryKey, Location>,
    /// What an entry describes besides what it is named after; filled at the first miss.
    extras: HashMap<EntryKey, EntryKey>,
    scanned: HashSet<Tag>,
    pipelines: Vec<EntryKey>,
    infos: Vec<EntryKey>,
    summary: Summary,
    known_damage: HashSet<EntryKey>,
    samplers: Cache<SamplerRecipe>,
    set_layouts: Cache<SetLayoutRecipe>,
    pipeline_layouts: Cache<PipelineLayoutRecipe>,
    modules: Cache<Module>,
    render_passes: Cache<RenderPassRecipe>,
    libraries: Cache<GraphicsRecipe>,
    payload: Vec<u8>,
    library_depth: u32,
}

impl<R> std::fmt::Debug for Database<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database")
            .field("files", &self.sources.len())
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

impl Database {
    /// Opens these files.
    ///
    /// # Errors
    /// One of them is not a database.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, OpenError> {
        let mut files = Vec::new();
        for path in paths {
            let path = path.as_ref().to_owned();
            match File::open(&path) {
                Ok(file) => files.push((path, BufReader::with_capacity(READ_AHEAD, file))),
                Err(error) => {
                    return Err(OpenError {
                        path,
                        error: error.into(),
                    });
                }
            }
        }
        Self::from_readers(files)
    }
}

impl<R: Read + Seek> Database<R> {
    /// Reads the entries' heads of these inputs, each with a name for messages.
    ///
    /// # Errors
    /// One of them is not a database.
    pub fn from_readers(inputs: impl IntoIterator<Item = (PathBuf, R)>) -> Result<Self, OpenError> {
        let mut db = Self {
            sources: Vec::new(),
            index: HashMap::new(),
            extras: HashMap::new(),
            scanned: HashSet::new(),
            pipelines: Vec::new(),
            infos: Vec::new(),
            summary: Summary::default(),
            known_damage: HashSet::new(),
            samplers: Cache::new(OBJECT_CACHE),
            set_layouts: Cache::new(OBJECT_CACHE),
            pipeline_layouts: Cache::new(OBJECT_CACHE),
            modules: Cache::new(MODULE_CACHE),
            render_passes: Cache::new(OBJECT_CACHE),
            libraries: Cache::new(LIBRARY_CACHE),
            payload: Vec::new(),
            library_depth: 0,
        };
        for (path, input) in inputs {
            if let Err(error) = db.add(&path, input) {
                return Err(OpenError { path, error });
            }
        }
        Ok(db)
    }

    fn add(&mut self, path: &Path, input: R) -> Result<(), HeaderError> {
        let mut stream = Stream::open(input)?;
        let file = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        while let Some(head) = stream.next_head()? {
            self.index_head(path, file, &head);
        }
        if let Some(End::Truncated { at, lost }) = stream.end() {
            self.summary.warnings.push(Warning::Truncated {
                path: path.to_owned(),
                at,
                lost,
            });
        }
        self.sources.push(Source {
            path: path.to_owned(),
            stream,
        });
        Ok(())
    }

    fn index_head(&mut self, path: &Path, file: u32, head: &Head) {
        let offset = head.offset;
        let path = path.to_owned();
        match head.name {
            Name::Bad => self.summary.damaged.push(Damaged {
                path,
                offset,
                entry: None,
                damage: Damage::Name,
            }),
            Name::HigherTag(tag, key) => self.summary.warnings.push(Warning::HigherTag {
                path,
                offset,
                tag,
                key,
            }),
            Name::Entry(entry) => {
                if self.index.contains_key(&entry) {
                    self.summary.duplicates += 1;
                    return;
                }
                self.index.insert(entry, Location { file, offset });
                *self.summary.entries.entry(entry.tag).or_default() += 1;
                match entry.tag {
                    Tag::GraphicsPipeline | Tag::ComputePipeline | Tag::RayTracingPipeline => {
                        self.pipelines.push(entry);
                    }
                    Tag::ApplicationInfo => self.infos.push(entry),
                    _ => {}
                }
            }
        }
    }

    /// What the databases hold, and what was found wrong so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Recipes of all pipelines, in recorded order. Ray-tracing pipelines are declined.
    pub fn pipelines(&mut self) -> Pipelines<'_, R> {
        Pipelines {
            db: self,
            next: 0,
            ready: VecDeque::new(),
            extras: HashSet::new(),
        }
    }

    /// The applications that were recorded. Damaged ones are in the summary.
    pub fn application_infos(&mut self) -> Vec<ApplicationInfo> {
        let mut infos = Vec::new();
        for entry in self.infos.clone() {
            if let Ok(document) = self.document(entry, |document, _| Ok(document)) {
                infos.push(ApplicationInfo::of(entry.key, &document));
            }
        }
        infos
    }

    /// Reads what is neither a pipeline's recipe nor part of one: application blob links,
    /// ray-tracing pipelines and bucket infos, in no particular order.
    pub fn others(&mut self, mut each: impl FnMut(EntryKey, Other)) {
        let tags = [
            Tag::ApplicationBlobLink,
            Tag::RayTracingPipeline,
            Tag::BucketInfo,
        ];
        for entry in self.entries_of(&tags) {
            if let Ok(others) = self.document(entry, |document, _| Ok(Other::of(entry, document))) {
                for (key, other) in others {
                    each(key, other);
                }
            }
        }
    }

    /// Reads every entry, so that the summary names all that are damaged.
    pub fn verify(&mut self) {
        for entry in self.entries_of(&Tag::ALL) {
            // What is wrong is noted on the way.
            let _noted = self.document(entry, |document, binary| {
                for (_, module) in document.shader_modules.iter().flat_map(|m| &m.0) {
                    module.words(binary)?;
                }
                Ok(())
            });
        }
    }

    /// Recomputes the key of every entry from what it describes, by the current rules. Entries of
    /// older recorders differ; see `docs/foz.md`.
    pub fn recompute_keys(&mut self, mut each: impl FnMut(EntryKey, Result<FozKey, Reason>)) {
        for entry in self.entries_of(&Tag::ALL) {
            match self.document(entry, |document, binary| {
                recompute(entry, &document, binary)
            }) {
                Ok(keys) => {
                    for (key, result) in keys {
                        each(key, result);
                    }
                }
                Err(reason) => each(entry, Err(reason)),
            }
        }
    }

    /// The checked, decompressed payload of an entry, or none if there is no such entry.
    ///
    /// # Errors
    /// The entry is damaged.
    pub fn payload(&mut self, entry: EntryKey) -> Result<Option<Vec<u8>>, Damage> {
        let Some(&location) = self.index.get(&entry) else {
            return Ok(None);
        };
        let mut payload = Vec::new();
        match self.read(location, &mut payload) {
            Ok(()) => Ok(Some(payload)),
            Err(damage) => {
                self.note(entry, location, &damage);
                Err(damage)
            }
        }
    }

    /// The entries of these tags, in the files' order.
    #[must_use]
    pub fn entries_of(&self, tags: &[Tag]) -> Vec<EntryKey> {
        let mut entries: Vec<_> = self
            .index
            .iter()
            .filter(|(entry, _)| tags.contains(&entry.tag))
            .map(|(&entry, &location)| (location.file, location.offset, entry))
            .collect();
        entries.sort_unstable();
        entries.into_iter().map(|(_, _, entry)| entry).collect()
    }

    fn read(&mut self, location: Location, payload: &mut Vec<u8>) -> Result<(), Damage> {
        let Some(source) = self.sources.get_mut(location.file as usize) else {
            return Err(Damage::Io("there is no such file".to_owned()));
        };
        let head = source
            .stream
            .head_at(location.offset)
            .map_err(|error| Damage::Io(error.to_string()))?;
        source.stream.payload(&head, payload)
    }

    /// Reads and parses an entry; damage is noted once.
    fn document<T>(
        &mut self,
        entry: EntryKey,
        then: impl FnOnce(Document, &[u8]) -> Result<T, Damage>,
    ) -> Step<T> {
        let Some(&location) = self.index.get(&entry) else {
            return Err(Reason::Missing(entry));
        };
        let mut payload = std::mem::take(&mut self.payload);
        let result = self.read(location, &mut payload).and_then(|()| {
            self.summary.decoded_bytes += payload.len() as u64;
            let (document, binary) = json::parse(&payload)?;
            if !has_member(&document, entry.tag) {
                return Err(Damage::Json(format!("it has no `{}`", entry.tag.member())));
            }
            then(document, binary)
        });
        // One large payload does not stay.
        if payload.capacity() > 1 << 20 {
            payload = Vec::new();
        }
        self.payload = payload;
        result.map_err(|damage| {
            self.note(entry, location, &damage);
            Reason::Damaged(damage)
        })
    }

    fn note(&mut self, entry: EntryKey, location: Location, damage: &Damage) {
        if self.known_damage.insert(entry) {
            let source = self.sources.get(location.file as usize);
            self.summary.damaged.push(Damaged {
                path: source.map(|source| source.path.clone()).unwrap_or_default(),
                offset: location.offset,
                entry: Some(entry),
                damage: damage.clone(),
            });
        }
    }

    /// The entry that describes this key, which may be named after another one.
    fn holder(&mut self, wanted: EntryKey) -> Step<EntryKey> {
        if self.index.contains_key(&wanted) {
            return Ok(wanted);
        }
        if self.scanned.insert(wanted.tag) {
            for entry in self.entries_of(&[wanted.tag]) {
                let Ok(keys) = self.document(entry, |document, _| Ok(keys_of(&document))) else {
                    continue;
                };
                for key in keys {
                    let key = EntryKey::new(wanted.tag, key);
                    if !self.index.contains_key(&key) {
                        self.extras.entry(key).or_insert(entry);
                    }
                }
            }
        }
        self.extras
            .get(&wanted)
            .copied()
            .ok_or(Reason::Missing(wanted))
    }

    /// The object of this key: from the cache, or with all that its entry describes put there.
    fn resolve<T>(
        &mut self,
        tag: Tag,
        key: u64,
        cache: fn(&mut Self) -> &mut Cache<T>,
        weigh: fn(&T) -> usize,
        convert: impl FnOnce(&mut Self, EntryKey) -> Step<Vec<(u64, Step<T>)>>,
    ) -> Step<Arc<T>> {
        let wanted = EntryKey::new(tag, key);
        let cached = cache(self).get(key);
        let result = match cached {
            Some(result) => result,
            None => {
                let loaded = self.holder(wanted).and_then(|entry| convert(self, entry));
                let mut found = Err(Reason::Missing(wanted));
                match loaded {
                    Ok(objects) => {
                        for (object_key, object) in objects {
                            let object = object.map(Arc::new);
                            let weight = object.as_ref().map_or(1, |object| weigh(object));
                            if object_key == key {
                                found.clone_from(&object);
                            }
                            cache(self).insert(object_key, object, weight);
                        }
                    }
                    Err(reason) => found = Err(reason),
                }
                if found.is_err() {
                    cache(self).insert(key, found.clone(), 1);
                }
                found
            }
        };
        result.map_err(|reason| match reason {
            missing @ Reason::Missing(entry) if entry == wanted => missing,
            reason => Reason::Dependency {
                needs: wanted,
                reason: Arc::new(reason),
            },
        })
    }
}

impl<R: Read + Seek> Resolve for Database<R> {
    fn sampler(&mut self, key: u64) -> Step<Arc<SamplerRecipe>> {
        self.resolve(
            Tag::Sampler,
            key,
            |db| &mut db.samplers,
            |_| 1,
            |db, entry| {
                let document = db.document(entry, |document, _| Ok(document))?;
                Ok(each(document.samplers, |body| layouts::sampler(&body)))
            },
        )
    }

    fn set_layout(&mut self, key: u64) -> Step<Arc<SetLayoutRecipe>> {
        self.resolve(
            Tag::SetLayout,
            key,
            |db| &mut db.set_layouts,
            |_| 1,
            |db, entry| {
                let document = db.document(entry, |document, _| Ok(document))?;
                Ok(each(document.set_layouts, |body| {
                    layouts::set_layout(&body, db)
                }))
            },
        )
    }

    fn pipeline_layout(&mut self, key: u64) -> Step<Arc<PipelineLayoutRecipe>> {
        self.resolve(
            Tag::PipelineLayout,
            key,
            |db| &mut db.pipeline_layouts,
            |_| 1,
            |db, entry| {
                let document = db.document(entry, |document, _| Ok(document))?;
                Ok(each(document.pipeline_layouts, |body| {
                    layouts::pipeline_layout(&body, db)
                }))
            },
        )
    }

    fn module(&mut self, key: u64) -> Step<Arc<Module>> {
        self.resolve(
            Tag::ShaderModule,
            key,
            |db| &mut db.modules,
            |module| module.code().len() * 4,
            |db, entry| {
                db.document(entry, |document, binary| {
                    let mut modules = Vec::new();
                    for (key, body) in document.shader_modules.iter().flat_map(|m| &m.0) {
                        let flags = ash::vk::ShaderModuleCreateFlags::from_raw(body.flags);
                        let words = body.words(binary)?;
                        modules.push((key.0, Ok(Module::new(flags, words))));
                    }
                    Ok(modules)
                })
            },
        )
    }

    fn render_pass(&mut self, key: u64) -> Step<Arc<RenderPassRecipe>> {
        self.resolve(
            Tag::RenderPass,
            key,
            |db| &mut db.render_passes,
            |_| 1,
            |db, entry| {
                let document = db.document(entry, |document, _| Ok(document))?;
                let mut passes = each(document.render_passes, |body| {
                    render_pass::render_pass(&body, PassVersion::One)
                });
                passes.extend(each(document.render_passes2, |body| {
                    render_pass::render_pass(&body, PassVersion::Two)
                }));
                Ok(passes)
            },
        )
    }

    fn library(&mut self, key: u64) -> Step<Arc<GraphicsRecipe>> {
        // A library consumes no libraries, so that loops end here.
        if self.library_depth > 0 {
            return Err(Reason::LibraryOfLibraries);
        }
        self.library_depth += 1;
        let result = self.resolve(
            Tag::GraphicsPipeline,
            key,
            |db| &mut db.libraries,
            |_| 1,
            |db, entry| {
                let document = db.document(entry, |document, _| Ok(document))?;
                Ok(each(document.graphics_pipelines, |body| {
                    graphics::graphics(&body, db)
                }))
            },
        );
        self.library_depth -= 1;
        result
    }
}

fn each<B, T>(
    members: Option<Members<B>>,
    mut convert: impl FnMut(B) -> Step<T>,
) -> Vec<(u64, Step<T>)> {
    members
        .into_iter()
        .flat_map(|members| members.0)
        .map(|(key, body)| (key.0, convert(body)))
        .collect()
}

fn has_member(document: &Document, tag: Tag) -> bool {
    match tag {
        Tag::ApplicationInfo => {
            document.application_info.is_some() && document.physical_device_features.is_some()
        }
        Tag::Sampler => document.samplers.is_some(),
        Tag::SetLayout => document.set_layouts.is_some(),
        Tag::PipelineLayout => document.pipeline_layouts.is_some(),
        Tag::ShaderModule => document.shader_modules.is_some(),
        Tag::RenderPass => document.render_passes.is_some() || document.render_passes2.is_some(),
        Tag::GraphicsPipeline => document.graphics_pipelines.is_some(),
        Tag::ComputePipeline => document.compute_pipelines.is_some(),
        Tag::ApplicationBlobLink => document.link.is_some(),
        Tag::RayTracingPipeline => document.ray_tracing_pipelines.is_some(),
        Tag::BucketInfo => true,
    }
}

/// The keys that a payload describes.
fn keys_of(document: &Document) -> Vec<u64> {
    fn keys<T>(members: Option<&Members<T>>) -> impl Iterator<Item = u64> {
        members
            .into_iter()
            .flat_map(|members| &members.0)
            .map(|(key, _)| key.0)
    }
    keys(document.samplers.as_ref())
        .chain(keys(document.set_layouts.as_ref()))
        .chain(keys(document.pipeline_layouts.as_ref()))
        .chain(keys(document.shader_modules.as_ref()))
        .chain(keys(document.render_passes.as_ref()))
        .chain(keys(document.render_passes2.as_ref()))
        .chain(keys(document.graphics_pipelines.as_ref()))
        .chain(keys(document.compute_pipelines.as_ref()))
        .chain(keys(document.ray_tracing_pipelines.as_ref()))
        .collect()
}

type Recomputed = Vec<(EntryKey, Result<FozKey, Reason>)>;

fn recompute(entry: EntryKey, d: &Document, binary: &[u8]) -> Result<Recomputed, Damage> {
    fn add<B>(
        out: &mut Recomputed,
        tag: Tag,
        members: Option<&Members<B>>,
        hash: impl Fn(&B) -> hash::Hashed,
    ) {
        for (key, body) in members.into_iter().flat_map(|members| &members.0) {
            let result = hash(body).map(FozKey).map_err(Reason::from);
            out.push((EntryKey::new(tag, key.0), result));
        }
    }
    let mut out = Vec::new();
    let tag = entry.tag;
    add(&mut out, tag, d.samplers.as_ref(), hash::sampler);
    add(&mut out, tag, d.set_layouts.as_ref(), hash::set_layout);
    add(
        &mut out,
        tag,
        d.pipeline_layouts.as_ref(),
        hash::pipeline_layout,
    );
    add(&mut out, tag, d.render_passes.as_ref(), |body| {
        hash::render_pass(body, PassVersion::One)
    });
    add(&mut out, tag, d.render_passes2.as_ref(), |body| {
        hash::render_pass(body, PassVersion::Two)
    });
    add(&mut out, tag, d.graphics_pipelines.as_ref(), hash::graphics);
    add(&mut out, tag, d.compute_pipelines.as_ref(), hash::compute);
    add(
        &mut out,
        tag,
        d.ray_tracing_pipelines.as_ref(),
        hash::ray_tracing,
    );
    for (key, body) in d.shader_modules.iter().flat_map(|m| &m.0) {
        let words = body.words(binary)?;
        let result = Ok(FozKey(hash::module(body.flags, &words)));
        out.push((EntryKey::new(tag, key.0), result));
    }
    if let (Some(info), Some(features)) = (&d.application_info, &d.physical_device_features) {
        let result = hash::application(info, features).map(FozKey);
        out.push((entry, result.map_err(Reason::from)));
    }
    if let Some(link) = &d.link {
        let result = Tag::from_number(u64::from(link.tag))
            .map(|tag| FozKey(hash::link(link.application.0, tag, link.hash.0)))
            .ok_or(Reason::Inconsistent("the link is to an unknown tag"));
        out.push((entry, result));
    }
    Ok(out)
}

/// Recipes of pipelines in recorded order; see [`Database::pipelines`].
#[derive(Debug)]
pub struct Pipelines<'a, R> {
    db: &'a mut Database<R>,
    next: usize,
    ready: VecDeque<Result<(EntryKey, Recipe), Declined>>,
    extras: HashSet<EntryKey>,
}

impl<R: Read + Seek> Iterator for Pipelines<'_, R> {
    type Item = Result<(EntryKey, Recipe), Declined>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() {
            let entry = *self.db.pipelines.get(self.next)?;
            self.next += 1;
            self.load(entry);
        }
        self.ready.pop_front()
    }
}

impl<R: Read + Seek> Pipelines<'_, R> {
    fn load(&mut self, entry: EntryKey) {
        let document = match self.db.document(entry, |document, _| Ok(document)) {
            Ok(document) => document,
            Err(reason) => {
                self.ready.push_back(Err(Declined { key: entry, reason }));
                return;
            }
        };
        let tag = entry.tag;
        let recipes: Vec<(u64, Step<Recipe>)> = match tag {
            Tag::GraphicsPipeline => each(document.graphics_pipelines, |body| {
                graphics::graphics(&body, self.db).map(Recipe::Graphics)
            }),
            Tag::ComputePipeline => each(document.compute_pipelines, |body| {
                graphics::compute(&body, self.db).map(Recipe::Compute)
            }),
            _ => each(document.ray_tracing_pipelines, |body| {
                Err(
                    if body
                        .library_info
                        .is_some_and(|info| !info.libraries.is_empty())
                    {
                        Reason::LibraryOfLibraries
                    } else {
                        Reason::RayTracing
                    },
                )
            }),
        };
        let mut named = false;
        for (key, recipe) in recipes {
            let key = EntryKey::new(tag, key);
            named |= key == entry;
            // What has an entry of its own is taken from there, and the first of the others wins.
            let elsewhere = key != entry && self.db.index.contains_key(&key);
            if elsewhere || key != entry && !self.extras.insert(key) {
                continue;
            }
            self.ready.push_back(match recipe {
                Ok(recipe) => Ok((key, recipe)),
                Err(reason) => Err(Declined { key, reason }),
            });
        }
        if !named {
            let damage = Damage::Json(format!("it does not describe {}", entry.key));
            if let Some(&location) = self.db.index.get(&entry) {
                self.db.note(entry, location, &damage);
            }
            self.ready.push_back(Err(Declined {
                key: entry,
                reason: damage.into(),
            }));
        }
    }
}
