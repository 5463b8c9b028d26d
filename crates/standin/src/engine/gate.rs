//! When a feature is wanted: by the configuration *and* by what the device can do.

use super::config::{Config, Value};
use std::collections::BTreeSet;
use std::fmt;

/// What a device can do, by the engine's own names ("ray_tracing", "mesh_shaders", ...).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities(BTreeSet<String>);

impl Capabilities {
    /// Whether the device has this capability.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

impl<S: Into<String>> FromIterator<S> for Capabilities {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }
}

/// A condition on the configuration in force. A setting that the schema lacks meets no
/// condition, and neither does one of another kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Always met.
    Always,
    /// The setting has this value.
    Is(String, Value),
    /// The setting is a whole number and at least this.
    AtLeast(String, i64),
    /// Not met.
    Not(Box<Condition>),
    /// Each is met; met where there are none.
    All(Vec<Condition>),
    /// One of them is met; not met where there are none.
    Any(Vec<Condition>),
}

impl Condition {
    /// A switch is on.
    #[must_use]
    pub fn on(setting: impl Into<String>) -> Self {
        Self::Is(setting.into(), Value::Switch(true))
    }

    /// A choice stands at this word.
    #[must_use]
    pub fn chosen(setting: impl Into<String>, word: impl Into<String>) -> Self {
        Self::Is(setting.into(), Value::Choice(word.into()))
    }

    /// Whether the configuration meets it.
    #[must_use]
    pub fn met_by(&self, config: &Config) -> bool {
        match self {
            Self::Always => true,
            Self::Is(setting, value) => config.get(setting) == Some(value),
            Self::AtLeast(setting, least) => {
                matches!(config.get(setting), Some(Value::Integer(number)) if number >= least)
            }
            Self::Not(condition) => !condition.met_by(config),
            Self::All(conditions) => conditions.iter().all(|c| c.met_by(config)),
            Self::Any(conditions) => conditions.iter().any(|c| c.met_by(config)),
        }
    }
}

/// What opens a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    condition: Condition,
    needs: BTreeSet<String>,
}

/// Whether a gate is open, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Openness {
    /// Wanted, and the device can do it.
    Open,
    /// The device could do it; the configuration does not ask for it.
    ClosedByConfig,
    /// The device lacks these capabilities, whatever the configuration says.
    ClosedByDevice(Vec<String>),
}

impl fmt::Display for Openness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::ClosedByConfig => f.write_str("off in the configuration"),
            Self::ClosedByDevice(missing) => {
                write!(f, "not on this device (no {})", missing.join(", "))
            }
        }
    }
}

impl Gate {
    /// A gate that opens where the condition is met.
    #[must_use]
    pub fn new(condition: Condition) -> Self {
        Self {
            condition,
            needs: BTreeSet::new(),
        }
    }

    /// A gate that is always open.
    #[must_use]
    pub fn always() -> Self {
        Self::new(Condition::Always)
    }

    /// Opens only on a device with this capability.
    #[must_use]
    pub fn needs(mut self, capability: impl Into<String>) -> Self {
        self.needs.insert(capability.into());
        self
    }

    /// Where the gate stands under this configuration on this device. What the device
    /// lacks is said first: no setting can change it.
    #[must_use]
    pub fn openness(&self, config: &Config, device: &Capabilities) -> Openness {
        let missing: Vec<String> = self
            .needs
            .iter()
            .filter(|name| !device.has(name))
            .cloned()
            .collect();
        if !missing.is_empty() {
            Openness::ClosedByDevice(missing)
        } else if self.condition.met_by(config) {
            Openness::Open
        } else {
            Openness::ClosedByConfig
        }
    }
}
