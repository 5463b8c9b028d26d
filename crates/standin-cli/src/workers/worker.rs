//! A worker process: builds what it is told over the socket that is its standard input.

use crate::device::DeviceOption;
use crate::exit::{Failure, Outcome};
use crate::prebuild::desk::KEEPS_NOTHING;
use crate::workers::hook::Faults;
use crate::workers::journal::Page;
use crate::workers::priority;
use crate::workers::wire::{self, Answer, DeviceMode, Made, Order, Ready, Reply, Request};
use standin::key::ExactKey;
use standin_archive::Blob;
use standin_recipe::Recipe;
use standin_vulkan::blobs::{BlobKind, BlobSource, Keep, Segment};
use standin_vulkan::build::BuildError;
use standin_vulkan::device::InternalCache;
use standin_vulkan::objects::Objects;
use standin_vulkan::stamp::stamp;
use standin_vulkan::{Device, DeviceSettings, Instance, InstanceSettings, PhysicalDevice};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Build pipelines for another process of this command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    device: DeviceOption,
    /// File that names the pipeline being built.
    #[arg(long)]
    page: PathBuf,
    /// Normal priority.
    #[arg(long)]
    foreground: bool,
}

/// Pipelines that share a segment. Few enough that a start which wants one reads little besides,
/// and that a crash loses little work.
const SEGMENT: usize = 64;

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    priority::end_with_parent();
    if !args.foreground {
        priority::give_way();
    }
    let socket = std::io::stdin().as_fd().try_clone_to_owned()?;
    let mut stream = UnixStream::from(socket);
    let mut bench = match Bench::open(args) {
        Ok(bench) => bench,
        Err(failure) => {
            wire::send(&mut stream, &Reply::Unusable(failure.to_string()))?;
            return Ok(Outcome::AllWell);
        }
    };
    wire::send(&mut stream, &Reply::Ready(bench.ready()))?;
    let orders = listen(stream.try_clone()?)?;
    // The other side hangs up when there is nothing more to do.
    while let Ok(order) = orders.recv() {
        for reply in bench.follow(order)? {
            wire::send(&mut stream, &reply)?;
        }
    }
    Ok(Outcome::AllWell)
}

/// Takes orders off the socket as they come, so that who sends them never waits.
fn listen(mut stream: UnixStream) -> Result<Receiver<Order>, Failure> {
    let (sender, orders) = mpsc::channel();
    std::thread::Builder::new()
        .name("orders".into())
        .spawn(move || {
            while let Ok(Some(order)) = wire::receive(&mut stream) {
                if sender.send(order).is_err() {
                    return;
                }
            }
        })?;
    Ok(orders)
}

/// What takes place on one thread with the devices of all modes.
struct Bench {
    /// One for each mode, in the order of [`DeviceMode::ALL`].
    sources: Vec<BlobSource>,
    stamps: Vec<Vec<u8>>,
    name: String,
    open: Option<Open>,
    page: Page,
    faults: Faults,
}

/// The segment that pipelines go into where the driver has no pipeline binaries.
struct Open {
    mode: DeviceMode,
    segment: Segment,
    pipelines: usize,
}

impl Bench {
    fn open(args: &Args) -> Result<Self, Failure> {
        let page = Page::open(&args.page).map_err(|error| Failure::file(&args.page, error))?;
        let instance = Instance::new(&InstanceSettings::default())
            .map_err(|error| Failure::Device(error.to_string()))?;
        let physical = args.device.select(&instance)?;
        let mut sources = Vec::new();
        let mut stamps = Vec::new();
        for mode in DeviceMode::ALL {
            let device = device(&physical, mode)?;
            stamps.push(stamp(&device).to_bytes());
            sources.push(BlobSource::new(&Objects::new(&device)));
        }
        Ok(Self {
            sources,
            stamps,
            name: physical.capabilities().identity.name.clone(),
            open: None,
            page,
            faults: Faults::from_environment(),
        })
    }

    fn ready(&self) -> Ready {
        Ready {
            device: self.name.clone(),
            stamps: self.stamps.clone(),
        }
    }

    /// What there is to say after an order, in this order.
    fn follow(&mut self, order: Order) -> Result<Vec<Reply>, Failure> {
        let mut replies = Vec::new();
        match order {
            Order::Seal => replies.extend(self.seal()),
            Order::Build(request) => {
                if self
                    .open
                    .as_ref()
                    .is_some_and(|open| open.mode != request.mode)
                {
                    replies.extend(self.seal());
                }
                let started = Instant::now();
                self.page.begin(ExactKey::from_u128(request.key))?;
                let result = self.build(&request);
                self.page.end()?;
                replies.push(Reply::Answer(Answer {
                    ticket: request.ticket,
                    busy: nanoseconds(started.elapsed()),
                    result,
                }));
                if self
                    .open
                    .as_ref()
                    .is_some_and(|open| open.pipelines >= SEGMENT)
                {
                    replies.extend(self.seal());
                }
            }
        }
        Ok(replies)
    }

    fn build(&mut self, request: &Request) -> Made {
        let recipe = match Recipe::from_bytes(&request.recipe) {
            Ok(recipe) => recipe,
            Err(error) => return Made::Failed(error.to_string()),
        };
        let source = &self.sources[request.mode.index()];
        if source.kind() == BlobKind::CacheSegments && self.open.is_none() {
            self.open = match source.new_segment() {
                Ok(segment) => Some(Open {
                    mode: request.mode,
                    segment,
                    pipelines: 0,
                }),
                Err(error) => return Made::Failed(error.to_string()),
            };
        }
        self.faults.strike(ExactKey::from_u128(request.key));
        let into = self.open.as_ref().map(|open| &open.segment);
        let made = match source.make(&recipe, None, into) {
            Ok(made) => made,
            Err(BuildError::Declined(reason)) => return Made::Declined(reason.to_string()),
            Err(error) => return Made::Failed(error.to_string()),
        };
        let cost = nanoseconds(made.time);
        match made.keep {
            Keep::Nothing => Made::Declined(KEEPS_NOTHING.to_owned()),
            Keep::Binaries(binaries) => Made::Built {
                blob: Blob::Binaries(binaries).to_bytes(),
                cost,
            },
            Keep::InSegment => {
                if let Some(open) = &mut self.open {
                    open.pipelines += 1;
                }
                Made::InSegment { cost }
            }
        }
    }

    /// Ends the open segment. What the driver does not hand out is as if it kept nothing.
    fn seal(&mut self) -> Option<Reply> {
        let open = self.open.take()?;
        let data = open.segment.data().ok().flatten();
        Some(Reply::Sealed(
            data.map(|data| Blob::Segment(data).to_bytes()),
        ))
    }
}

/// A device of this mode whose compiles are its own: no cache inside the driver has a part in
/// what is kept or timed.
pub(crate) fn device(physical: &PhysicalDevice, mode: DeviceMode) -> Result<Arc<Device>, Failure> {
    let settings = DeviceSettings {
        robustness: mode.robustness(),
        internal_cache: InternalCache::Off,
        ..Default::default()
    };
    Device::new(physical, &settings).map_err(|error| Failure::Device(error.to_string()))
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
