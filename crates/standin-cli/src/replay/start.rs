//! One start: a process of its own that creates a capture's pipelines in recorded order.

use crate::captures::{Captures, Damage, Loss};
use crate::device::DeviceOption;
use crate::exit::{Failure, Outcome};
use crate::prebuild::list::identity;
use crate::replay::times::Times;
use crate::workers::wire::DeviceMode;
use crate::workers::worker::{device, nanoseconds};
use serde::{Deserialize, Serialize};
use standin_archive::{Access, Archive, Blob, Generation, Identity};
use standin_recipe::Recipe;
use standin_vulkan::blobs::{BlobSource, How, Segment, Stored};
use standin_vulkan::build::{BuildError, Pipeline};
use standin_vulkan::objects::Objects;
use standin_vulkan::stamp::stamp;
use standin_vulkan::{Instance, InstanceSettings};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

/// Create the captures' pipelines once, in this process.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fossilize databases.
    #[arg(required = true)]
    databases: Vec<PathBuf>,
    /// The archive to use.
    #[arg(long)]
    archive: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceOption,
}

/// What one start did.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    /// The device's name.
    pub(crate) device: String,
    /// The creations.
    pub(crate) times: Times,
    /// Pipelines that the device cannot make, by reason.
    pub(crate) declined: BTreeMap<String, u64>,
    /// Pipelines that the driver failed on.
    pub(crate) failed: u64,
    /// Entries of the databases that cannot be read.
    pub(crate) damaged: Vec<Damage>,
    /// What the archive got over, and why blobs were not used.
    pub(crate) notes: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let captures = Captures::open(&args.databases)?;
    let instance = Instance::new(&InstanceSettings::default())
        .map_err(|error| Failure::Device(error.to_string()))?;
    let physical = args.device.select(&instance)?;
    let archive = match &args.archive {
        Some(folder) => Some(
            Archive::open(folder, Access::ReadWrite)
                .or_else(|_| Archive::open(folder, Access::ReadOnly))
                .map_err(|error| Failure::file(folder, error))?,
        ),
        None => None,
    };
    let mut shop = Shop {
        archive: archive.as_ref(),
        counters: Vec::new(),
        segments: HashMap::new(),
        kept: Vec::new(),
        single: Vec::new(),
        compiles: 0,
        start: Start {
            device: physical.capabilities().identity.name.clone(),
            times: Times::of(Vec::new(), 0),
            declined: BTreeMap::new(),
            failed: 0,
            damaged: Vec::new(),
            notes: Vec::new(),
        },
    };
    for mode in DeviceMode::ALL {
        let device = device(&physical, mode)?;
        let generation = archive
            .as_ref()
            .and_then(|archive| archive.find_generation(&stamp(&device)));
        shop.counters.push(Counter {
            source: BlobSource::new(&Objects::new(&device)),
            generation,
        });
    }
    let mut seen = HashSet::new();
    let damaged = captures.read(&mut |captured| {
        match captured.recipe {
            Ok(recipe) => {
                let (_, identity) = identity(&recipe);
                for mode in captured.modes {
                    if seen.insert((identity, mode)) {
                        shop.create(&recipe, identity, mode);
                    }
                }
            }
            Err(Loss::Declined(reason)) => *shop.start.declined.entry(reason).or_default() += 1,
            Err(Loss::Damaged(damage)) => shop.start.damaged.push(damage),
        }
        Ok(())
    })?;
    shop.start.damaged.extend(damaged);
    let start = shop.close();
    serde_json::to_writer(std::io::stdout().lock(), &start).map_err(std::io::Error::from)?;
    Ok(Outcome::AllWell)
}

/// Where pipelines of one mode are had.
struct Counter {
    source: BlobSource,
    generation: Option<Generation>,
}

struct Shop<'a> {
    archive: Option<&'a Archive>,
    /// In the order of [`DeviceMode::ALL`].
    counters: Vec<Counter>,
    /// Opened segments by the payload they are in; none where one is of no use.
    segments: HashMap<i64, Option<Segment>>,
    /// A program keeps its pipelines.
    kept: Vec<Pipeline>,
    single: Vec<u64>,
    compiles: u64,
    start: Start,
}

impl Shop<'_> {
    /// Creates one pipeline, as a program does: looks in the archive, reads, creates. All of
    /// that is the creation's time.
    fn create(&mut self, recipe: &Recipe, identity: Identity, mode: DeviceMode) {
        let started = Instant::now();
        let counter = &self.counters[mode.index()];
        let blob = match (self.archive, counter.generation) {
            (Some(archive), Some(generation)) => archive
                .payload_of(generation, identity)
                .map(|payload| (archive, generation, payload)),
            _ => None,
        };
        let mut binaries = Vec::new();
        let mut segment = None;
        if let Some((archive, generation, payload)) = blob {
            if let Some(opened) = self.segments.get(&payload) {
                segment = opened.as_ref();
            } else {
                match archive.find_blob(generation, identity) {
                    Some(Blob::Binaries(found)) => binaries = found,
                    Some(Blob::Segment(data)) => {
                        let opened = match counter.source.open_segment(&data) {
                            Ok(opened) => Some(opened),
                            Err(refused) => {
                                self.start
                                    .notes
                                    .push(format!("segment not used: {refused}"));
                                None
                            }
                        };
                        segment = self.segments.entry(payload).or_insert(opened).as_ref();
                    }
                    None => {}
                }
            }
        }
        let stored = match segment {
            Some(segment) => Some(Stored::Segment(segment)),
            None if binaries.is_empty() => None,
            None => Some(Stored::Binaries(&binaries)),
        };
        let made = counter.source.make(recipe, stored, None);
        let time = nanoseconds(started.elapsed());
        match made {
            Ok(made) => {
                self.single.push(time);
                if made.how == How::Compiled {
                    self.compiles += 1;
                }
                if let Some(refused) = made.refused {
                    let key = identity.key;
                    self.start
                        .notes
                        .push(format!("{key}: blob not used: {refused}"));
                }
                self.kept.push(made.pipeline);
            }
            Err(BuildError::Declined(reason)) => {
                *self.start.declined.entry(reason.to_string()).or_default() += 1;
            }
            Err(error) => {
                self.start.failed += 1;
                self.start.notes.push(format!("{}: {error}", identity.key));
            }
        }
    }

    fn close(mut self) -> Start {
        self.start.times = Times::of(self.single, self.compiles);
        if let Some(archive) = self.archive {
            let incidents = archive.take_incidents();
            self.start
                .notes
                .extend(incidents.iter().map(ToString::to_string));
        }
        self.start
    }
}
