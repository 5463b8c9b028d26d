//! 69 kernels: one after another, in parallel, and from the archive.

use crate::compiler::{Folder, Maker, number};
use crate::recipes;
use standin::BuildError;
use standin::engine::feature::Status;
use standin::engine::pipelines::{Compiler, Pipelines, Pool, PoolSize, Urgency};
use standin_recipe::Recipe;
use standin_vulkan::device::InternalCache;
use standin_vulkan::{Device, DeviceChoice, DeviceSettings, Instance};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Blocks of the longest kernel at scale 1.
const LONGEST: f64 = 2800.0;

/// Sizes of the kernels, in blocks of [`recipes::kernel`], so that their build times spread as
/// an engine's: one of about a fifth of the sum, a few of a twentieth, and many small ones. A
/// build takes the size to the power `growth`.
fn sizes(scale: f64, growth: f64) -> Vec<u64> {
    let small = (0..64_u32).map(|index| f64::from(50 + index * 37 % 160));
    let mut weights: Vec<f64> = small.collect();
    weights.extend([700.0, 760.0, 820.0, 900.0]);
    // In the middle, where a folder's order might have it.
    weights.insert(30, LONGEST);
    weights
        .into_iter()
        .map(|weight| {
            let size = scale * LONGEST * (weight / LONGEST).powf(1.0 / growth);
            (size as u64).max(1)
        })
        .collect()
}

/// How build times grow with sizes on this compiler: two kernels say it.
fn growth(maker: &Maker, scale: f64, salt: u64) -> Result<f64, BuildError> {
    let mut spans = Vec::new();
    for part in [1.0, 0.125] {
        let blocks = ((scale * LONGEST * part) as u64).max(1);
        let recipe = recipes::kernel(blocks, number("probe") ^ salt).into();
        let started = Instant::now();
        maker.build(&recipe)?;
        spans.push(started.elapsed().as_secs_f64().max(1e-9));
    }
    Ok(((spans[0] / spans[1]).ln() / 8_f64.ln()).clamp(0.5, 3.0))
}

fn kernels(sizes: &[u64], salt: u64) -> Vec<(String, Recipe)> {
    (0..)
        .zip(sizes)
        .map(|(index, blocks)| {
            let name = format!("kernel {index}");
            let recipe = recipes::kernel(*blocks, number(&name) ^ salt).into();
            (name, recipe)
        })
        .collect()
}

fn device() -> Result<Arc<Device>, Box<dyn Error>> {
    let instance = Instance::new(&Default::default())?;
    let physical = instance.select(&DeviceChoice::BestOrCpu)?;
    let settings = DeviceSettings {
        internal_cache: InternalCache::Off,
        ..DeviceSettings::default()
    };
    Ok(Device::new(&physical, &settings)?)
}

/// Builds the set through the pool; the time, and how many came from the archive.
fn through_the_pool(
    sizes: &[u64],
    salt: u64,
    folder: &Path,
    size: PoolSize,
) -> Result<(Duration, u64), Box<dyn Error>> {
    let device = device()?;
    let pipelines = Pipelines::new(
        Maker::new(&device, folder, salt)?,
        Pool::Threads(size),
        Some(Arc::new(|notice| eprintln!("{notice}"))),
    );
    let set = kernels(sizes, salt);
    let started = Instant::now();
    let handles = pipelines.create_set(set, Urgency::Awaited);
    while handles
        .iter()
        .any(|handle| pipelines.status(*handle) == Status::Pending)
    {
        std::thread::sleep(Duration::from_micros(100));
    }
    let took = started.elapsed();
    let totals = pipelines.totals();
    if totals.failed > 0 {
        return Err(format!("{} kernels cannot be built", totals.failed).into());
    }
    pipelines.compiler().persist()?;
    Ok((took, totals.from_cache))
}

fn text(span: Duration) -> String {
    if span < Duration::from_millis(100) {
        format!("{:.1} ms", span.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", span.as_secs_f64())
    }
}

pub(crate) fn run(scale: f64) -> Result<(), Box<dyn Error>> {
    let size = PoolSize::for_this_machine();
    let workers = size.reserved + size.shared;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let salt = now.as_nanos() as u64;

    // One after another, each timed.
    let device = device()?;
    let name = device.capabilities().identity.name.clone();
    let folder = Folder::new();
    let alone = Maker::new(&device, folder.path(), salt)?;
    let sizes = sizes(scale, growth(&alone, scale, salt)?);
    let mut spans = Vec::new();
    let mut words = 0;
    for (_, recipe) in kernels(&sizes, salt) {
        words += alone.cost(&recipe);
        let started = Instant::now();
        alone.build(&recipe)?;
        spans.push(started.elapsed());
    }
    let keeps = alone.keeps();
    drop((alone, device));
    let serial: Duration = spans.iter().sum();
    let longest = spans.iter().max().copied().unwrap_or_default();

    // Other constants, so that no cache of the driver's helps.
    let salt = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (parallel, from_cache) = through_the_pool(&sizes, salt, folder.path(), size)?;
    if from_cache > 0 {
        return Err("kernels came from the archive before they were in it".into());
    }
    // Another device, as another launch has.
    let (warm, from_cache) = through_the_pool(&sizes, salt, folder.path(), size)?;

    let count = spans.len();
    println!("{name}: {count} kernels, {words} words of SPIR-V, {workers} workers");
    println!("{:<24}{:>12}{:>20}", "", "here", "reference system");
    let row = |label: &str, here: Duration, reference: &str| {
        println!("{label:<24}{:>12}{reference:>20}", text(here));
    };
    row("one after another", serial, "15 s");
    row("in parallel", parallel, "4.5 s");
    row("from the archive", warm, "under 10 ms");
    row("longest kernel", longest, "3.3 s");
    let floor = longest.max(serial / u32::try_from(workers)?);
    println!(
        "longest kernel: {:.0} % of the sum; in parallel: {:+.1} % of max(longest, sum / workers) = {}; \
         {from_cache} of {count} from {keeps}",
        100.0 * longest.as_secs_f64() / serial.as_secs_f64(),
        100.0 * (parallel.as_secs_f64() / floor.as_secs_f64() - 1.0),
        text(floor),
    );
    Ok(())
}
