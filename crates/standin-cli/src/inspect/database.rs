//! What a Fossilize database holds.

use crate::captures::{self, Damage};
use crate::exit::Failure;
use serde::Serialize;
use standin_foz::{Database, Reason, Tag};
use std::collections::BTreeMap;
use std::path::Path;

/// One database. Field names are stable.
#[derive(Debug, Serialize)]
pub(crate) struct DatabaseReport {
    pub(crate) path: String,
    /// Entries by kind, each key once.
    entries: BTreeMap<&'static str, u64>,
    duplicates: u64,
    /// Pipelines that recipes were made of.
    recipes: u64,
    /// Pipelines that no recipe can be made of, by reason.
    pub(crate) declined: BTreeMap<String, u64>,
    /// Entries that cannot be read, and pipelines that need one.
    pub(crate) damaged: Vec<Damage>,
    /// What costs no entry.
    pub(crate) notes: Vec<String>,
    /// Bytes of payload after decompression.
    decoded_bytes: u64,
}

impl DatabaseReport {
    /// Reads every entry.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut database =
            Database::open([path]).map_err(|error| Failure::file(error.path, error.error))?;
        let mut report = Self {
            path: path.display().to_string(),
            entries: BTreeMap::new(),
            duplicates: 0,
            recipes: 0,
            declined: BTreeMap::new(),
            damaged: Vec::new(),
            notes: Vec::new(),
            decoded_bytes: 0,
        };
        for pipeline in database.pipelines() {
            match pipeline {
                Ok(_) => report.recipes += 1,
                Err(declined) => match captures::loss(declined.key, &declined.reason) {
                    Some(captures::Loss::Declined(reason)) => {
                        *report.declined.entry(reason).or_default() += 1;
                    }
                    Some(captures::Loss::Damaged(damage)) => report.damaged.push(damage),
                    // Named with the other damaged entries.
                    None => debug_assert!(matches!(declined.reason, Reason::Damaged(_))),
                },
            }
        }
        report.decoded_bytes = database.summary().decoded_bytes;
        database.verify();
        report.damaged.extend(captures::damage(&database));
        let summary = database.summary();
        report.duplicates = summary.duplicates;
        report.notes = summary.warnings.iter().map(ToString::to_string).collect();
        report.entries = summary
            .entries
            .iter()
            .map(|(tag, count)| (tag.name(), *count))
            .collect();
        Ok(report)
    }

    /// The figures of the table's row, in the order of [`COLUMNS`].
    pub(crate) fn row(&self) -> Vec<String> {
        let count = |tag: Tag| self.entries.get(tag.name()).copied().unwrap_or(0);
        let declined: u64 = self.declined.values().sum();
        let counts = [
            count(Tag::GraphicsPipeline),
            count(Tag::ComputePipeline),
            count(Tag::RayTracingPipeline),
            count(Tag::ShaderModule),
            count(Tag::RenderPass),
            count(Tag::PipelineLayout),
            count(Tag::SetLayout),
            count(Tag::Sampler),
            count(Tag::ApplicationInfo),
            self.recipes,
            declined,
            self.damaged.len() as u64,
        ];
        let name = Path::new(&self.path)
            .file_name()
            .map_or(self.path.clone(), |name| {
                name.to_string_lossy().into_owned()
            });
        let figures = counts.iter().map(u64::to_string);
        std::iter::once(name).chain(figures).collect()
    }
}

/// Headings of the table of databases.
pub(crate) const COLUMNS: [&str; 13] = [
    "database",
    "graphics",
    "compute",
    "ray tracing",
    "modules",
    "passes",
    "layouts",
    "set layouts",
    "samplers",
    "apps",
    "recipes",
    "declined",
    "damaged",
];
