//! What the machine can give: cores and memory.

use std::fs;

/// The least memory that one worker is planned with. A driver with its compiler takes about
/// 100 MiB before the first pipeline.
pub(crate) const LEAST_PER_WORKER: u64 = 512 << 20;

/// A size in bytes on the command line: `800M`, `4G`, `1048576`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, shift) = match text.as_bytes().last() {
            Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
            Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
            Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
            _ => (text, 0),
        };
        let number: u64 = digits
            .parse()
            .map_err(|_| format!("{text} is no size: a number, or one with K, M or G"))?;
        number
            .checked_mul(1 << shift)
            .map(Self)
            .ok_or_else(|| format!("{text} is more than this machine can count"))
    }
}

/// How many workers run, and how much memory each may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// At least one.
    pub(crate) workers: usize,
    /// Bytes of resident memory a worker.
    pub(crate) memory: u64,
    /// Bytes of resident memory for all of them.
    pub(crate) total: u64,
}

/// Bends the wanted number of workers to the memory there is.
pub(crate) fn share(wanted: usize, memory: u64) -> Share {
    let fit = usize::try_from(memory / LEAST_PER_WORKER).unwrap_or(usize::MAX);
    let workers = wanted.min(fit).max(1);
    Share {
        workers,
        memory: memory / workers as u64,
        total: memory,
    }
}

/// Memory that prebuild may use where the user named none: half of what is free now.
pub(crate) fn default_memory() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| available(&text))
        .unwrap_or(2 << 30);
    let group = cgroup_room().unwrap_or(u64::MAX);
    machine.min(group) / 2
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// What the control group (a container) leaves, in bytes.
fn cgroup_room() -> Option<u64> {
    let read = |name: &str| -> Option<u64> {
        fs::read_to_string(format!("/sys/fs/cgroup/{name}"))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

/// Resident memory of a process of ours, in bytes.
pub(crate) fn resident(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// Cores that this process may run on.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed parse fails the test
mod tests {
    use super::{Bytes, LEAST_PER_WORKER, available, share};

    #[test]
    fn sizes_take_binary_suffixes() {
        assert_eq!("4G".parse::<Bytes>().unwrap(), Bytes(4 << 30));
        assert_eq!("12".parse::<Bytes>().unwrap(), Bytes(12));
        assert!("4T5".parse::<Bytes>().is_err());
        assert!("".parse::<Bytes>().is_err());
        assert!("99999999999999G".parse::<Bytes>().is_err());
    }

    #[test]
    fn the_worker_count_bends_to_the_memory() {
        assert_eq!(share(16, 4 * LEAST_PER_WORKER).workers, 4);
        assert_eq!(share(2, 4 * LEAST_PER_WORKER).workers, 2);
        // Too little for one is still one: the user asked for the work.
        assert_eq!(share(8, LEAST_PER_WORKER / 2).workers, 1);
    }

    #[test]
    fn available_memory_is_read_in_kibibytes() {
        let text = "MemTotal:       24690000 kB\nMemAvailable:   1000 kB\n";
        assert_eq!(available(text), Some(1_024_000));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }
}
