//! The databases that a verb is given, as one list of pipelines.

use crate::exit::Failure;
use crate::workers::wire::DeviceMode;
use serde::{Deserialize, Serialize};
use standin_foz::info::{Application, Other};
use standin_foz::{Damaged, Database, EntryKey, FozKey, Reason, Tag};
use standin_recipe::Recipe;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

/// One pipeline, in recorded order.
pub(crate) struct Captured {
    /// The devices that programs created it on.
    pub(crate) modes: BTreeSet<DeviceMode>,
    /// The recipe, or why there is none.
    pub(crate) recipe: Result<Recipe, Loss>,
}

/// Why a pipeline has no recipe.
#[derive(Debug, Clone)]
pub(crate) enum Loss {
    /// It asks for something that recipes do not have.
    Declined(String),
    /// It, or something that it needs, cannot be read.
    Damaged(Damage),
}

/// Something in a database that cannot be read. Field names are stable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Damage {
    /// The database, where one alone is at fault.
    pub(crate) file: String,
    /// The entry: its kind and key, or where it begins.
    pub(crate) entry: String,
    /// What is wrong.
    pub(crate) reason: String,
}

/// The databases, found to be such.
pub(crate) struct Captures {
    paths: Vec<PathBuf>,
}

impl Captures {
    /// Reads the entries' heads: a file that is no database is found out before any work.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        Database::open(paths).map_err(|error| Failure::file(error.path, error.error))?;
        Ok(Self {
            paths: paths.to_vec(),
        })
    }

    /// Hash of the databases' bytes: lists of equal digests are equal.
    pub(crate) fn digest(&self) -> Result<u128, Failure> {
        let mut all = Xxh3::new();
        for path in &self.paths {
            let digest = digest(path).map_err(|error| Failure::file(path, error))?;
            all.update(&digest.to_le_bytes());
        }
        Ok(all.digest128())
    }

    /// Goes through the pipelines in recorded order. Returns everything in the databases that
    /// cannot be read, except the pipelines that were handed out as losses.
    pub(crate) fn read(
        &self,
        take: &mut dyn FnMut(Captured) -> Result<(), Failure>,
    ) -> Result<Vec<Damage>, Failure> {
        let modes = Modes::of(&self.paths)?;
        let mut database =
            Database::open(&self.paths).map_err(|error| Failure::file(error.path, error.error))?;
        for pipeline in database.pipelines() {
            let (key, recipe) = match pipeline {
                Ok((key, recipe)) => (key, Ok(recipe)),
                Err(declined) => match loss(declined.key, &declined.reason) {
                    Some(loss) => (declined.key, Err(loss)),
                    // The database names it.
                    None => continue,
                },
            };
            take(Captured {
                modes: modes.of_pipeline(key),
                recipe,
            })?;
        }
        Ok(damage(&database))
    }
}

/// Why a pipeline is lost; none where its own entry is damaged.
pub(crate) fn loss(key: EntryKey, reason: &Reason) -> Option<Loss> {
    match reason {
        Reason::Damaged(_) => None,
        Reason::UnknownStruct(_) | Reason::RayTracing | Reason::LibraryOfLibraries => {
            Some(Loss::Declined(reason.to_string()))
        }
        Reason::Dependency { reason: inner, .. } => match loss(key, inner) {
            // What is declined there is counted here by the same words.
            Some(Loss::Declined(inner)) => Some(Loss::Declined(inner)),
            _ => Some(Loss::Damaged(lost(key, reason))),
        },
        _ => Some(Loss::Damaged(lost(key, reason))),
    }
}

fn lost(key: EntryKey, reason: &Reason) -> Damage {
    Damage {
        file: String::new(),
        entry: key.to_string(),
        reason: reason.to_string(),
    }
}

/// What a database found damaged so far, with what lies behind a cut.
pub(crate) fn damage(database: &Database) -> Vec<Damage> {
    let summary = database.summary();
    let mut damage: Vec<Damage> = summary.damaged.iter().map(of_entry).collect();
    for warning in &summary.warnings {
        if let standin_foz::Warning::Truncated { path, at, lost } = warning {
            damage.push(Damage {
                file: path.display().to_string(),
                entry: format!("at {at:#x}"),
                reason: format!("the file is truncated: its last {lost} bytes are no whole entry"),
            });
        }
    }
    damage
}

fn of_entry(damaged: &Damaged) -> Damage {
    Damage {
        file: damaged.path.display().to_string(),
        entry: damaged.entry.map_or_else(
            || format!("at {:#x}", damaged.offset),
            |entry| entry.to_string(),
        ),
        reason: damaged.damage.to_string(),
    }
}

fn digest(path: &Path) -> std::io::Result<u128> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut block = vec![0; 1 << 18];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hash.digest128()),
            count => hash.update(&block[..count]),
        }
    }
}

/// Which devices the captures' programs made their pipelines on.
struct Modes {
    /// By the recorder's links.
    linked: HashMap<EntryKey, BTreeSet<DeviceMode>>,
    /// Without links: what the applications of the same file had.
    by_file: HashMap<EntryKey, BTreeSet<DeviceMode>>,
}

impl Modes {
    fn of(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut modes = Self {
            linked: HashMap::new(),
            by_file: HashMap::new(),
        };
        for path in paths {
            let mut database =
                Database::open([path]).map_err(|error| Failure::file(error.path, error.error))?;
            let applications: HashMap<FozKey, DeviceMode> = database
                .application_infos()
                .into_iter()
                .map(|info| (info.key, mode(info.application.as_ref())))
                .collect();
            let all: BTreeSet<DeviceMode> = applications.values().copied().collect();
            for entry in database.entries_of(&[Tag::GraphicsPipeline, Tag::ComputePipeline]) {
                modes.by_file.entry(entry).or_insert_with(|| all.clone());
            }
            database.others(|_, other| {
                let Other::Link(link) = other else {
                    return;
                };
                let entry = Tag::from_number(link.tag.into())
                    .map(|tag| EntryKey::new(tag, link.resource.0));
                if let (Some(entry), Some(mode)) = (entry, applications.get(&link.application)) {
                    modes.linked.entry(entry).or_default().insert(*mode);
                }
            });
        }
        Ok(modes)
    }

    fn of_pipeline(&self, key: EntryKey) -> BTreeSet<DeviceMode> {
        let known = self.linked.get(&key).or_else(|| self.by_file.get(&key));
        match known {
            Some(modes) if !modes.is_empty() => modes.clone(),
            _ => BTreeSet::from([DeviceMode::Plain]),
        }
    }
}

fn mode(application: Option<&Application>) -> DeviceMode {
    match application {
        Some(of) if of.robust_buffer_access2 || of.robust_image_access2 => DeviceMode::Robust2,
        Some(of) if of.robust_buffer_access || of.robust_image_access => DeviceMode::Robust,
        _ => DeviceMode::Plain,
    }
}
