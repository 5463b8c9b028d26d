//! What an archive holds.

use crate::exit::Failure;
use crate::output::{figures, size};
use serde::Serialize;
use standin_archive::summary::GenerationSummary;
use standin_archive::{Access, Archive};
use std::fmt::Write;
use std::path::Path;

/// One archive. Field names are stable.
#[derive(Debug, Serialize)]
pub(crate) struct ArchiveReport {
    path: String,
    modules: u64,
    module_bytes: u64,
    recipes: u64,
    recipe_bytes: u64,
    generations: Vec<GenerationReport>,
    /// What had to be got over while reading.
    notes: Vec<String>,
}

/// The blobs of one stamp.
#[derive(Debug, Serialize)]
struct GenerationReport {
    vendor_id: Option<u32>,
    device_id: Option<u32>,
    driver: String,
    /// The stamp's hash of enabled features: generations of one device and driver differ in it.
    features: String,
    complete: bool,
    pipelines: u64,
    blobs: u64,
    blob_bytes: u64,
    /// Driver time that the blobs stand for, in seconds.
    build_seconds: f64,
    declined: u64,
    failed: u64,
    proofs: u64,
}

impl ArchiveReport {
    /// Reads keys and sizes; payloads stay on disk.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let archive =
            Archive::open(path, Access::ReadOnly).map_err(|error| Failure::file(path, error))?;
        let summary = archive.summary();
        Ok(Self {
            path: path.display().to_string(),
            modules: summary.modules,
            module_bytes: summary.module_bytes,
            recipes: summary.recipes,
            recipe_bytes: summary.recipe_bytes,
            generations: summary.generations.iter().map(generation).collect(),
            notes: archive
                .take_incidents()
                .iter()
                .map(ToString::to_string)
                .collect(),
        })
    }

    /// Whether something was damaged.
    pub(crate) fn is_damaged(&self) -> bool {
        !self.notes.is_empty()
    }

    pub(crate) fn write(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "archive {}", self.path)?;
        writeln!(
            out,
            "{} recipes ({}), {} modules ({})",
            self.recipes,
            size(self.recipe_bytes),
            self.modules,
            size(self.module_bytes)
        )?;
        let mut table = figures(&[
            "generation",
            "pipelines",
            "blobs",
            "size",
            "build",
            "declined",
            "failed",
            "proofs",
        ]);
        for one in &self.generations {
            let hex = |id: Option<u32>| id.map_or("?".to_owned(), |id| format!("{id:04x}"));
            table.add_row([
                format!(
                    "{}:{} {} features {}",
                    hex(one.vendor_id),
                    hex(one.device_id),
                    one.driver,
                    one.features.get(..8).unwrap_or_default()
                ),
                one.pipelines.to_string(),
                one.blobs.to_string(),
                size(one.blob_bytes),
                format!("{:.2} s", one.build_seconds),
                one.declined.to_string(),
                one.failed.to_string(),
                one.proofs.to_string(),
            ]);
        }
        writeln!(out, "{table}")?;
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        Ok(())
    }
}

fn generation(one: &GenerationSummary) -> GenerationReport {
    let stamp = one.stamp.as_ref();
    let [_, _, declined, failed] = one.ledger;
    GenerationReport {
        vendor_id: stamp.map(|stamp| stamp.vendor_id),
        device_id: stamp.map(|stamp| stamp.device_id),
        driver: stamp.map_or_else(
            || "unreadable stamp".to_owned(),
            |stamp| stamp.driver_info.clone(),
        ),
        features: stamp.map_or_else(String::new, |stamp| format!("{:032x}", stamp.features)),
        complete: one.complete,
        pipelines: one.executables,
        blobs: one.blobs,
        blob_bytes: one.blob_bytes,
        build_seconds: one.cost_us as f64 / 1e6,
        declined,
        failed,
        proofs: one.proofs,
    }
}
