//! How fast an archive is: `cargo run --release -p standin-archive --example archive_speed [FOLDER]`.
//!
//! Fills a store of 16,000 pipelines and about 1 GB (once; a folder that holds it is used again)
//! and measures, in this one process: opening, misses, hits, the summary, verifying, merging,
//! and what all of it adds to resident memory. Cold figures are not taken: the page cache is
//! the system's.
#![allow(
    clippy::unwrap_used,
    reason = "a measuring program stops at the first fault"
)]

use standin::key::{ExactKey, ExecutableKey};
use standin_archive::maintain::Repair;
use standin_archive::{Access, Archive, Batch, Binary, Blob, Identity, ModuleKey, Placed, Stamp};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PIPELINES: u64 = 16_000;

fn stamp() -> Stamp {
    Stamp {
        vendor_id: 1,
        device_id: 2,
        cache_uuid: [3; 16],
        driver_uuid: [4; 16],
        driver_id: 5,
        driver_version: 6,
        driver_info: "speed".into(),
        api_version: 8,
        features: 9,
        pointer_bits: 64,
        translation: 10,
    }
}

/// Spreads a small number over 128 bits as a hash would.
fn spread(number: u64) -> u128 {
    let high = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number << 17);
    let low = high.rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (u128::from(high) << 64) | u128::from(low)
}

fn identity(number: u64) -> Identity {
    Identity {
        key: ExecutableKey::from_u128(spread(number)),
        second: !spread(number),
    }
}

fn fill(folder: &Path) {
    let archive = Archive::open(folder, Access::ReadWrite).unwrap();
    let generation = archive.generation(&stamp()).unwrap();
    if archive.has_blob(generation, identity(PIPELINES - 1)) {
        return;
    }
    let start = Instant::now();
    let mut batch = Batch::new();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for number in 0..PIPELINES {
        // 8 to 113 KB, as in the reference system's store.
        let length = 8_000 + usize::try_from(spread(number) as u64 % 105_000).unwrap();
        let mut data = Vec::with_capacity(length + 8);
        while data.len() < length {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            data.extend_from_slice(&state.to_le_bytes());
        }
        let holds = vec![Placed {
            identity: identity(number),
            cost: Duration::from_millis(5),
        }];
        let binary = Binary {
            key: vec![7; 32],
            data,
        };
        batch.put_blob(generation, holds, Blob::Binaries(vec![binary]));
        batch.put_recipe(ExactKey::from_u128(spread(number)), vec![1; 900], 1);
        if number % 4 == 0 {
            batch.put_module(ModuleKey(spread(number)), vec![2; 4000]);
        }
        if number % 1000 == 999 {
            batch.commit(&archive).unwrap();
        }
    }
    batch.commit(&archive).unwrap();
    println!("filled in {:.1} s", start.elapsed().as_secs_f64());
}

/// Resident memory of this process in kB: anonymous alone, and all of it.
fn resident() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    (field("RssAnon:").unwrap_or(0), field("VmRSS:").unwrap_or(0))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}

fn main() {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("target/archive-speed"), PathBuf::from);
    fill(&folder);
    let bytes = std::fs::metadata(folder.join("archive.sqlite"))
        .unwrap()
        .len();
    println!("{PIPELINES} pipelines, {} MB on disk", bytes / 1_000_000);

    let (anon_before, rss_before) = resident();
    let opening = |access| {
        median(
            (0..101)
                .map(|_| {
                    timed(|| {
                        let archive = Archive::open(&folder, access).unwrap();
                        assert!(archive.find_generation(&stamp()).is_some());
                        archive
                    })
                    .1
                })
                .collect(),
        )
    };
    println!(
        "open and first lookup, warm, median of 101: {:.3} ms to read, {:.3} ms to write",
        opening(Access::ReadOnly).as_secs_f64() * 1e3,
        opening(Access::ReadWrite).as_secs_f64() * 1e3
    );
    let archive = Archive::open(&folder, Access::ReadWrite).unwrap();
    let generation = archive.find_generation(&stamp()).unwrap();
    let (missed, time) = timed(|| {
        (PIPELINES..2 * PIPELINES)
            .filter(|number| archive.has_blob(generation, identity(*number)))
            .count()
    });
    assert_eq!(missed, 0);
    println!(
        "miss: {:.2} us",
        time.as_secs_f64() * 1e6 / PIPELINES as f64
    );
    let (anon, rss) = resident();
    println!(
        "added memory after opening and {PIPELINES} misses: {} kB anonymous, {} kB resident",
        anon.saturating_sub(anon_before),
        rss.saturating_sub(rss_before)
    );
    let (read, time) = timed(|| {
        (0..500)
            .map(|number| {
                let found = archive.find_blob(generation, identity(number * 31));
                let Some(Blob::Binaries(binaries)) = found else {
                    return 0;
                };
                binaries[0].data.len()
            })
            .sum::<usize>()
    });
    println!(
        "500 hits, checked: {:.1} ms, {:.0} MB/s",
        time.as_secs_f64() * 1e3,
        read as f64 / 1e6 / time.as_secs_f64()
    );
    let (summary, time) = timed(|| archive.summary());
    println!(
        "summary: {:.3} s ({} executables)",
        time.as_secs_f64(),
        summary.generations[0].executables
    );
    let (found, time) = timed(|| archive.verify(Repair::No, &mut |_, _| ()).unwrap());
    assert!(found.is_sound());
    println!(
        "verify: {:.2} s, {:.0} MB/s",
        time.as_secs_f64(),
        found.bytes as f64 / 1e6 / time.as_secs_f64()
    );
    let target = folder.join("merged");
    Archive::reset(&target).unwrap();
    let (_, time) = timed(|| Archive::merge(&[archive], &target, &mut |_, _| ()).unwrap());
    println!(
        "merge into a new archive: {:.2} s, {:.0} MB/s",
        time.as_secs_f64(),
        found.bytes as f64 / 1e6 / time.as_secs_f64()
    );
    Archive::reset(&target).unwrap();
}
