//! The times of one start's pipeline creations.

use serde::{Deserialize, Serialize};

/// What one start spent on creating pipelines. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Times {
    /// Creations.
    pub(crate) count: u64,
    /// Sum of all creations.
    pub(crate) total_ns: u64,
    /// Half of them took no longer.
    pub(crate) median_ns: u64,
    /// 99 of 100 took no longer.
    pub(crate) p99_ns: u64,
    /// The longest.
    pub(crate) worst_ns: u64,
    /// Creations that went to the compiler.
    pub(crate) compiles: u64,
}

impl Times {
    /// Sums up the single creations.
    pub(crate) fn of(mut single: Vec<u64>, compiles: u64) -> Self {
        single.sort_unstable();
        Self {
            count: single.len() as u64,
            total_ns: single.iter().sum(),
            median_ns: quantile(&single, 50),
            p99_ns: quantile(&single, 99),
            worst_ns: single.last().copied().unwrap_or(0),
            compiles,
        }
    }
}

/// The smallest value that `percent` of the sorted values do not exceed (nearest rank).
fn quantile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        // Of 1 to 200, half do not exceed 100 and 99 of 100 do not exceed 198.
        let times = Times::of((1..=200).rev().collect(), 3);
        assert_eq!(
            (times.median_ns, times.p99_ns, times.worst_ns),
            (100, 198, 200)
        );
        assert_eq!(
            (times.count, times.total_ns, times.compiles),
            (200, 20_100, 3)
        );
    }

    #[test]
    fn no_creation_is_no_time() {
        assert_eq!(Times::of(Vec::new(), 0).worst_ns, 0);
    }
}
