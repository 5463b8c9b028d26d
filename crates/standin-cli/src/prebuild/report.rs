//! What a prebuild tells at its end.

use crate::captures::{self, Damage};
use crate::exit::Outcome;
use crate::output::{Report, figures};
use crate::workers::pool::Fault;
use crate::workers::shard::Shard;
use serde::Serialize;
use standin_archive::ledger::Tally;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Summary of one run. Field names are stable.
#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    /// The device's name.
    pub(crate) device: String,
    /// What the blobs are kept under, one for each set of features that the list asks for.
    pub(crate) stamps: Vec<String>,
    /// The part of the list that this run builds.
    pub(crate) shard: String,
    /// Distinct pipelines of the list in this part.
    pub(crate) pipelines: u64,
    /// Built and kept by this run.
    pub(crate) made: u64,
    /// In the archive before.
    pub(crate) present: u64,
    /// Cannot be made on this device, or cannot be read as a recipe, by reason.
    pub(crate) declined: BTreeMap<String, u64>,
    /// Lost in this run.
    pub(crate) failed: Vec<Loss>,
    /// Lost in an earlier run under the same stamp, and not tried again.
    pub(crate) skipped: Vec<Loss>,
    /// Entries of the databases that cannot be read.
    pub(crate) damaged: Vec<Damage>,
    /// Pipelines that a stop left to build.
    pub(crate) left: u64,
    /// The signal that stopped the run.
    pub(crate) stopped_by: Option<i32>,
    /// Worker processes at most at once.
    pub(crate) workers: usize,
    /// Wall time of the building, in seconds.
    pub(crate) seconds: f64,
    /// Share of the workers' time spent on pipelines, 0 to 1.
    pub(crate) busy: f64,
    /// What the archive got over.
    pub(crate) notes: Vec<String>,
}

/// A pipeline that was not made.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Loss {
    /// The pipeline's exact key.
    pub(crate) key: String,
    /// `error` where the driver refused it; otherwise what it did to its worker.
    pub(crate) kind: LossKind,
    /// The driver's or the worker's words.
    pub(crate) reason: String,
}

/// How a pipeline was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LossKind {
    /// The driver returned an error.
    Error,
    /// The driver ended the process.
    Crash,
    /// The driver did not come back in time.
    Hang,
    /// The driver took more memory than it may.
    Memory,
}

impl LossKind {
    /// Every kind.
    const ALL: [Self; 4] = [Self::Error, Self::Crash, Self::Hang, Self::Memory];

    /// Its name, as JSON has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Memory => "memory",
        }
    }

    /// The kind and the reason of a ledger's text, `KIND: REASON`.
    pub(crate) fn parse(text: &str) -> (Self, &str) {
        Self::ALL
            .into_iter()
            .find_map(|kind| Some((kind, text.strip_prefix(kind.name())?.strip_prefix(": ")?)))
            .unwrap_or((Self::Error, text))
    }
}

impl From<Fault> for LossKind {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Crash => Self::Crash,
            Fault::Hang => Self::Hang,
            Fault::Memory => Self::Memory,
        }
    }
}

impl Summary {
    /// Nothing found yet.
    pub(crate) fn of(device: String, stamps: &[Vec<u8>], shard: Shard) -> Self {
        let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Self {
            device,
            stamps: stamps.iter().map(hex).collect(),
            shard: shard.to_string(),
            pipelines: 0,
            made: 0,
            present: 0,
            declined: BTreeMap::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
            damaged: Vec::new(),
            left: 0,
            stopped_by: None,
            workers: 0,
            seconds: 0.0,
            busy: 0.0,
            notes: Vec::new(),
        }
    }

    /// The list was gone through before, with this result, and is as it was.
    pub(crate) fn unchanged(&mut self, tally: Tally) {
        self.pipelines = tally.made + tally.declined;
        self.present = tally.made;
        if tally.declined > 0 {
            let reason = "for the reasons that an earlier run gave".to_owned();
            self.declined.insert(reason, tally.declined);
        }
    }

    /// How a run with this result ends.
    pub(crate) fn outcome(&self, strict: bool) -> Outcome {
        let lost = self.failed.len() + self.skipped.len() + self.damaged.len();
        match self.stopped_by {
            Some(signal) => Outcome::Stopped(signal),
            None if lost > 0 || (strict && self.declined_count() > 0) => Outcome::EntriesLost,
            None => Outcome::AllWell,
        }
    }

    /// A pipeline of the databases without a recipe.
    pub(crate) fn lose_entry(&mut self, loss: captures::Loss) {
        match loss {
            captures::Loss::Declined(reason) => *self.declined.entry(reason).or_default() += 1,
            captures::Loss::Damaged(damage) => self.damaged.push(damage),
        }
    }

    /// How many were declined, for any reason.
    pub(crate) fn declined_count(&self) -> u64 {
        self.declined.values().sum()
    }
}

impl Report for Summary {
    fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }
}

impl Summary {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let mut counts = figures(&["pipelines", "count"]);
        let declined = self.declined_count();
        let rows = [
            ("in the list", self.pipelines),
            ("made", self.made),
            ("already there", self.present),
            ("declined", declined),
            ("failed", self.failed.len() as u64),
            (
                "skipped: failed in an earlier run",
                self.skipped.len() as u64,
            ),
            ("left", self.left),
        ];
        for (name, count) in rows {
            if count > 0 || name == "in the list" || name == "made" {
                counts.add_row([name.to_owned(), count.to_string()]);
            }
        }
        writeln!(out, "{}", self.device)?;
        writeln!(out, "{counts}")?;
        for (reason, count) in &self.declined {
            writeln!(out, "declined {count}: {reason}")?;
        }
        for (word, losses) in [("failed", &self.failed), ("skipped", &self.skipped)] {
            for loss in losses {
                let kind = loss.kind.name();
                writeln!(out, "{word} {} ({kind}): {}", loss.key, loss.reason)?;
            }
        }
        for damage in &self.damaged {
            writeln!(
                out,
                "damaged {} {}: {}",
                damage.file, damage.entry, damage.reason
            )?;
        }
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        if self.made > 0 {
            writeln!(
                out,
                "{:.2} s, {:.0} pipelines/s, {} workers, {:.0} % busy",
                self.seconds,
                self.made as f64 / self.seconds.max(1e-9),
                self.workers,
                self.busy * 100.0
            )?;
        } else if self.left == 0 && self.failed.is_empty() {
            writeln!(out, "nothing to do")?;
        }
        if let Some(signal) = self.stopped_by {
            writeln!(out, "stopped by signal {signal}; run it again to go on")?;
        }
        Ok(())
    }
}
