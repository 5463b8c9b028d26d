//! `standin prebuild`: builds what an archive lacks.

pub(crate) mod desk;
pub(crate) mod list;
pub(crate) mod report;

use crate::captures::Captures;
use crate::device::DeviceOption;
use crate::exit::{Failure, Outcome};
use crate::output::{self, FormatArgs};
use crate::prebuild::desk::Office;
use crate::prebuild::report::Summary;
use crate::workers::journal::Journal;
use crate::workers::machine::{self, Bytes};
use crate::workers::pool::{Limits, Pool};
use crate::workers::shard::Shard;
use crate::workers::signals::StopSignal;
use crate::workers::wire::DeviceMode;
use standin_archive::ledger::Tally;
use standin_archive::{Access, Archive, Batch, Generation, Stamp};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Build every pipeline of the captures that the archive lacks for a device.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// Fossilize databases.
    #[arg(required = true, value_name = "DB")]
    databases: Vec<PathBuf>,
    /// The archive's folder; made where there is none.
    #[arg(long, value_name = "DIR")]
    archive: PathBuf,
    #[command(flatten)]
    device: DeviceOption,
    /// Worker processes. Default: half of the cores, all with --foreground.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Memory for all workers, such as 4G; fewer run where it is short. Default: half of what is
    /// free.
    #[arg(long, value_name = "SIZE")]
    memory: Option<Bytes>,
    /// Seconds that one pipeline may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
          value_parser = clap::value_parser!(u32).range(1..))]
    time_limit: u32,
    /// All cores at normal priority. Default: the lowest CPU and I/O priority.
    #[arg(long)]
    foreground: bool,
    /// Build only part I (from 0) of N disjoint parts.
    #[arg(long, value_name = "I/N", default_value_t = Shard::ALL)]
    shard: Shard,
    /// Declined pipelines count as lost.
    #[arg(long)]
    strict: bool,
    /// Let through what drivers write to standard error.
    #[arg(long)]
    driver_output: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let captures = Captures::open(&args.databases)?;
    let archive = open_archive(&args.archive)?;
    let stop = StopSignal::listen()?;
    let (journal, suspects) =
        Journal::open(&args.archive).map_err(|error| Failure::file(&args.archive, error))?;
    let limits = args.limits();
    // Once beforehand, for what it may complain about.
    args.device.prepare(&mut Command::new(""))?;
    let program = std::env::current_exe()?;
    let launch = |place: usize| args.worker(&program, &journal.page(place));
    let mut pool = Pool::new(&launch, limits);
    let ready = pool
        .meet()
        .map_err(|error| Failure::Device(error.to_string()))?;
    let generations = generations(&archive, &ready.stamps)?;
    let mut summary = Summary::of(ready.device, &ready.stamps, args.shard);
    let list = ListName {
        generations: generations.clone(),
        mode: format!("exact, shard {}", args.shard),
        digest: captures.digest()?,
    };
    if let Some(tally) = list.find(&archive) {
        summary.unchanged(tally);
    } else {
        let items = list::read(&captures, args.shard, &archive, &mut summary)?;
        let modes: BTreeSet<DeviceMode> = items.iter().map(|item| item.mode).collect();
        let due = list::due(items, &archive, &generations, &suspects, &mut summary);
        let started = Instant::now();
        let mut office = Office::new(&archive, generations.clone(), due, &mut summary);
        let alone = office.suspects();
        let ran = pool.run(&mut office, alone, &stop);
        // What is finished is kept, also where the run itself failed.
        office.close()?;
        ran?;
        summary.seconds = started.elapsed().as_secs_f64();
        summary.workers = pool.most();
        let capacity = summary.seconds * summary.workers as f64;
        summary.busy = pool.busy().as_secs_f64() / capacity.max(1e-9);
        summary.stopped_by = stop.received();
        if summary.stopped_by.is_none() && summary.damaged.is_empty() {
            list.finish(&archive, &summary)?;
            if args.shard == Shard::ALL {
                supersede(&archive, modes.iter().map(|mode| generations[mode.index()]))?;
            }
        }
    }
    summary.notes = archive
        .take_incidents()
        .iter()
        .map(ToString::to_string)
        .collect();
    output::print(&summary, args.format.format())?;
    Ok(summary.outcome(args.strict))
}

fn open_archive(folder: &Path) -> Result<Archive, Failure> {
    let archive =
        Archive::open(folder, Access::ReadWrite).map_err(|error| Failure::file(folder, error))?;
    if archive.is_writable() {
        return Ok(archive);
    }
    let incidents: Vec<String> = archive
        .take_incidents()
        .iter()
        .map(ToString::to_string)
        .collect();
    Err(Failure::file(folder, incidents.join("; ")))
}

fn generations(archive: &Archive, stamps: &[Vec<u8>]) -> Result<Vec<Generation>, Failure> {
    let generation = |stamp: &Vec<u8>| {
        let stamp = Stamp::from_bytes(stamp)
            .ok_or_else(|| Failure::Device("the worker's stamp cannot be read".into()))?;
        archive
            .generation(&stamp)
            .map_err(|error| Failure::file(archive.folder(), error))
    };
    stamps.iter().map(generation).collect()
}

/// The whole list is there: what an earlier driver of the same device left is not needed now.
fn supersede(
    archive: &Archive,
    generations: impl Iterator<Item = Generation>,
) -> Result<(), Failure> {
    let mut batch = Batch::new();
    generations.for_each(|generation| batch.put_complete(generation));
    batch
        .commit(archive)
        .and_then(|()| archive.drop_superseded())
        .map_err(|error| Failure::file(archive.folder(), error))?;
    Ok(())
}

impl Args {
    fn limits(&self) -> Limits {
        let cores = machine::cores();
        let wanted = match (self.threads, self.foreground) {
            (Some(threads), _) => threads.into(),
            (None, true) => cores,
            (None, false) => (cores / 2).max(1),
        };
        let memory = self
            .memory
            .map_or_else(machine::default_memory, |size| size.0);
        let share = machine::share(wanted, memory);
        Limits {
            workers: share.workers,
            memory: share.memory,
            memory_alone: share.total,
            time: Duration::from_secs(self.time_limit.into()),
        }
    }

    fn worker(&self, program: &Path, page: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg("worker").arg("--page").arg(page);
        if self.foreground {
            command.arg("--foreground");
        }
        if !self.driver_output {
            command.stderr(Stdio::null());
        }
        // Checked when the run began.
        let _ = self.device.prepare(&mut command);
        command
    }
}

/// A list's place in the ledger. The digest is of the databases' bytes, so that the name is that
/// of the contents. It is noted under the generation of every device mode, because what is
/// dropped from one takes back the notes of that one.
struct ListName {
    generations: Vec<Generation>,
    mode: String,
    digest: u128,
}

impl ListName {
    /// The result of an earlier run to which nothing can be added.
    fn find(&self, archive: &Archive) -> Option<Tally> {
        let mut tally = None;
        for generation in &self.generations {
            let noted = archive.find_list_done(*generation, &self.mode, self.digest)?;
            tally = Some(noted);
        }
        // What failed is named, and that takes the whole list.
        tally.filter(|tally| tally.failed == 0)
    }

    fn finish(&self, archive: &Archive, summary: &Summary) -> Result<(), Failure> {
        let tally = Tally {
            made: summary.made + summary.present,
            declined: summary.declined_count(),
            failed: (summary.failed.len() + summary.skipped.len()) as u64,
        };
        let mut batch = Batch::new();
        for generation in &self.generations {
            batch.put_list_done(*generation, &self.mode, self.digest, tally);
        }
        batch
            .commit(archive)
            .map_err(|error| Failure::file(archive.folder(), error))
    }
}
