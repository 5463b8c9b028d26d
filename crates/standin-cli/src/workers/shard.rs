//! Disjoint parts of one list for many machines.

use standin::key::ExactKey;

/// Part `index` of `count`: on the command line `index/count`, counted from 0 as job arrays do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    index: u128,
    count: u128,
}

impl Shard {
    /// The whole list.
    pub(crate) const ALL: Self = Self { index: 0, count: 1 };

    /// Whether this part builds the pipeline. The key alone decides, so that the parts are
    /// the same on every machine and in every order of the databases.
    pub(crate) fn builds(self, key: ExactKey) -> bool {
        key.to_u128() % self.count == self.index
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is no shard: INDEX/COUNT with INDEX from 0 to COUNT - 1");
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let index: u32 = index.parse().map_err(|_| wrong())?;
        let count: u32 = count.parse().map_err(|_| wrong())?;
        if index >= count {
            return Err(wrong());
        }
        Ok(Self {
            index: index.into(),
            count: count.into(),
        })
    }
}

/// `INDEX/COUNT`.
impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a failed parse fails the test
mod tests {
    use super::Shard;
    use standin::key::ExactKey;

    #[test]
    fn every_key_is_in_exactly_one_part() {
        let parts: Vec<Shard> = (0..3).map(|i| format!("{i}/3").parse().unwrap()).collect();
        for value in [0, 1, 2, 3, u128::MAX, u128::MAX - 1, 1 << 127] {
            let key = ExactKey::from_u128(value);
            assert_eq!(parts.iter().filter(|part| part.builds(key)).count(), 1);
            assert!(Shard::ALL.builds(key));
        }
    }

    #[test]
    fn parts_that_do_not_exist_are_refused() {
        for text in ["3/3", "0/0", "-1/2", "1", "a/b", "1/2/3", ""] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
