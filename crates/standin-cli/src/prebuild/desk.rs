//! The archive's side of a prebuild: hands out what is due, and keeps what comes back.

use crate::exit::Failure;
use crate::prebuild::list::{Item, load};
use crate::prebuild::report::{Loss, LossKind, Summary};
use crate::progress::Progress;
use crate::workers::pool::{Desk, Ended, Fault, PoolError};
use crate::workers::wire::{DeviceMode, Made, Request};
use standin_archive::batch::Placed;
use standin_archive::ledger::{ATTEMPTS, Entry, State};
use standin_archive::{Archive, Batch, Blob, Generation};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A batch is committed when it holds this many pipelines, or is this old.
const BATCH: usize = 1000;
const BATCH_AGE: Duration = Duration::from_secs(5);

/// What the ledger calls the exact pipelines of a device mode.
pub(crate) const fn mode_name(mode: DeviceMode) -> &'static str {
    match mode {
        DeviceMode::Plain => "exact plain",
        DeviceMode::Robust => "exact robust",
        DeviceMode::Robust2 => "exact robust2",
    }
}

/// Why a pipeline that was made is not there: Mesa's CPU driver is one that does so.
pub(crate) const KEEPS_NOTHING: &str = "the driver keeps nothing of what it compiles";

/// Why a prebuild cannot go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeskError {
    /// The workers cannot.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The archive cannot be written.
    #[error(transparent)]
    Archive(#[from] standin_archive::ArchiveError),
}

impl From<DeskError> for Failure {
    fn from(error: DeskError) -> Self {
        match error {
            DeskError::Pool(error) => Self::Device(error.to_string()),
            DeskError::Archive(error) => Self::Usage(error.to_string()),
        }
    }
}

/// The desk of one run.
pub(crate) struct Office<'a> {
    archive: &'a Archive,
    /// The generation of each device mode.
    generations: Vec<Generation>,
    /// What is due, the next one first. A request's ticket is its item's place here at first.
    items: Vec<Item>,
    due: VecDeque<usize>,
    batch: Batch,
    pipelines: usize,
    since: Instant,
    progress: Progress,
    summary: &'a mut Summary,
}

impl<'a> Office<'a> {
    pub(crate) fn new(
        archive: &'a Archive,
        generations: Vec<Generation>,
        items: Vec<Item>,
        summary: &'a mut Summary,
    ) -> Self {
        let progress = Progress::start(items.len() as u64, "pipelines");
        Self {
            archive,
            generations,
            due: (0..items.len())
                .filter(|index| !items[*index].alone)
                .collect(),
            items,
            batch: Batch::new(),
            pipelines: 0,
            since: Instant::now(),
            progress,
            summary,
        }
    }

    /// The items that must be built with nothing else in the worker.
    pub(crate) fn suspects(&self) -> Vec<Request> {
        (0..self.items.len())
            .filter(|index| self.items[*index].alone)
            .filter_map(|index| self.request(index))
            .collect()
    }

    /// Commits what is left, and says what was not reached.
    pub(crate) fn close(mut self) -> Result<(), DeskError> {
        self.commit()?;
        self.progress.finish();
        let ended = self.progress.done();
        self.summary.left = (self.items.len() as u64).saturating_sub(ended);
        Ok(())
    }

    fn request(&self, index: usize) -> Option<Request> {
        let item = &self.items[index];
        Some(Request {
            ticket: index as u64,
            key: item.exact.to_u128(),
            mode: item.mode,
            recipe: load(self.archive, item)?,
        })
    }

    /// Keeps a blob with the pipelines that it holds; they are of one mode.
    fn keep(&mut self, items: Vec<(Item, u64)>, blob: &[u8]) {
        let Some(blob) = Blob::from_bytes(blob) else {
            for (item, _) in items {
                let reason = "the worker's blob cannot be read".to_owned();
                self.lose(item, LossKind::Error, reason, ATTEMPTS);
            }
            return;
        };
        let Some((first, _)) = items.first() else {
            return;
        };
        let generation = self.generations[first.mode.index()];
        let placed = items
            .iter()
            .map(|(item, cost)| Placed {
                identity: item.identity,
                cost: Duration::from_nanos(*cost),
            })
            .collect();
        self.batch.put_blob(generation, placed, blob);
        for (item, _) in items {
            self.note(item, State::Made, 0);
            self.summary.made += 1;
            self.pipelines += 1;
        }
    }

    fn decline(&mut self, item: Item, reason: String) {
        self.note(item, State::Declined(reason.clone()), 0);
        *self.summary.declined.entry(reason).or_default() += 1;
    }

    fn note(&mut self, item: Item, state: State, attempts: u32) {
        let generation = self.generations[item.mode.index()];
        let entry = Entry { state, attempts };
        self.batch
            .put_ledger(generation, mode_name(item.mode), item.identity, entry);
    }

    fn lose(&mut self, item: Item, kind: LossKind, reason: String, attempts: u32) {
        let loss = Loss {
            key: item.exact.to_string(),
            kind,
            reason,
        };
        self.progress
            .note(&format!("failed {}: {}", loss.key, loss.reason));
        // The kind leads the text, so that a later run can tell it.
        let text = format!("{}: {}", kind.name(), loss.reason);
        self.note(item, State::Failed(text), attempts);
        self.summary.failed.push(loss);
    }

    fn commit(&mut self) -> Result<(), DeskError> {
        self.batch.commit(self.archive)?;
        self.pipelines = 0;
        self.since = Instant::now();
        Ok(())
    }

    fn commit_if_due(&mut self) -> Result<(), DeskError> {
        if self.pipelines >= BATCH || self.since.elapsed() >= BATCH_AGE {
            self.commit()?;
        }
        Ok(())
    }
}

impl Desk for Office<'_> {
    type Error = DeskError;

    fn next(&mut self) -> Result<Option<Request>, DeskError> {
        while let Some(index) = self.due.pop_front() {
            if let Some(request) = self.request(index) {
                return Ok(Some(request));
            }
            // The archive lost the recipe between the list and now: the next run, which reads
            // the databases again, builds it.
            let item = self.items[index];
            let reason = "its recipe is damaged in the archive".to_owned();
            self.progress.advance();
            self.lose(item, LossKind::Error, reason, 0);
        }
        Ok(None)
    }

    fn suspect(&mut self, request: &Request, kind: Fault, detail: &str) -> Result<(), DeskError> {
        let Some(item) = item(&self.items, request) else {
            return Ok(());
        };
        let text = format!("{}: {detail}", LossKind::from(kind).name());
        self.note(item, State::Failed(text), 1);
        self.commit()
    }

    fn ended(&mut self, request: Request, ended: Ended) -> Result<(), DeskError> {
        let Some(item) = item(&self.items, &request) else {
            return Ok(());
        };
        self.progress.advance();
        match ended {
            Ended::Answered(Made::Built { blob, cost }) => self.keep(vec![(item, cost)], &blob),
            // The pool hands these over with their segment.
            Ended::Answered(Made::InSegment { .. }) => {}
            Ended::Answered(Made::Declined(reason)) => self.decline(item, reason),
            Ended::Answered(Made::Failed(reason)) => {
                self.lose(item, LossKind::Error, reason, ATTEMPTS);
            }
            Ended::Fault { kind, detail } => {
                self.lose(item, kind.into(), detail, ATTEMPTS);
                self.commit()?;
            }
        }
        self.commit_if_due()
    }

    fn sealed(
        &mut self,
        requests: Vec<(Request, u64)>,
        blob: Option<Vec<u8>>,
    ) -> Result<(), DeskError> {
        let items: Vec<(Item, u64)> = requests
            .iter()
            .filter_map(|(request, cost)| Some((item(&self.items, request)?, *cost)))
            .collect();
        for _ in &items {
            self.progress.advance();
        }
        // A worker's segment is of one device, so all are of one mode.
        match blob {
            Some(blob) => self.keep(items, &blob),
            None => {
                for (item, _) in items {
                    self.decline(item, KEEPS_NOTHING.to_owned());
                }
            }
        }
        self.commit_if_due()
    }

    fn tick(&mut self) -> Result<(), DeskError> {
        self.commit_if_due()
    }
}

fn item(items: &[Item], request: &Request) -> Option<Item> {
    items.get(usize::try_from(request.ticket).ok()?).copied()
}
