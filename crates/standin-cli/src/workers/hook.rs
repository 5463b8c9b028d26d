//! A test hook that makes chosen pipelines misbehave as drivers do.
//!
//! `STANDIN_TEST_FAULT=KEY=KIND[,KEY=KIND...]`, read by worker processes alone. `KEY` is the
//! beginning of an exact key in hexadecimal; `KIND` is `abort`, `hang` or `memory`. The fault
//! happens where the driver would be called. It is there for the tests of this command and
//! for whoever wants to see what a broken driver does to a prebuild.

use standin::key::ExactKey;
use std::time::Duration;

/// Name of the environment variable.
const VARIABLE: &str = "STANDIN_TEST_FAULT";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Abort,
    Hang,
    Memory,
}

/// The faults asked for; none outside tests.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<(String, Kind)>);

impl Faults {
    /// Reads the environment.
    pub(crate) fn from_environment() -> Self {
        std::env::var(VARIABLE)
            .map(|text| Self::parse(&text))
            .unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let fault = |word: &str| {
            let (key, kind) = word.split_once('=')?;
            let kind = match kind {
                "abort" => Kind::Abort,
                "hang" => Kind::Hang,
                "memory" => Kind::Memory,
                _ => return None,
            };
            Some((key.to_owned(), kind))
        };
        Self(text.split(',').filter_map(fault).collect())
    }

    fn of(&self, key: ExactKey) -> Option<Kind> {
        let name = key.to_string();
        self.0
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix.as_str()))
            .map(|(_, kind)| *kind)
    }

    /// Stands where the driver is called: returns, unless a fault was asked for.
    pub(crate) fn strike(&self, key: ExactKey) {
        match self.of(key) {
            None => {}
            Some(Kind::Abort) => std::process::abort(),
            Some(Kind::Hang) => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Some(Kind::Memory) => eat_memory(),
        }
    }
}

/// Takes memory, and touches it, until the process is stopped.
fn eat_memory() -> ! {
    let mut held: Vec<Vec<u8>> = Vec::new();
    loop {
        held.push(vec![1; 16 << 20]);
        // At the pace of a driver, so that the machine is not filled between two looks.
        std::thread::sleep(Duration::from_millis(1));
        std::hint::black_box(&held);
    }
}

#[cfg(test)]
mod tests {
    use super::{Faults, Kind};
    use standin::key::ExactKey;

    #[test]
    fn a_key_is_chosen_by_its_first_digits() {
        let faults = Faults::parse("00ab=hang,ff=abort,12=dance,=,x");
        let key = |top: u128| ExactKey::from_u128(top << 112);
        assert_eq!(faults.of(key(0x00ab)), Some(Kind::Hang));
        assert_eq!(faults.of(key(0xff00)), Some(Kind::Abort));
        assert_eq!(faults.of(key(0x1200)), None);
        assert_eq!(faults.of(key(0x0000)), None);
    }
}
