//! The configuration in force, composed of layers before anything is built.
//!
//! Three layers are laid over the schema's defaults, each sparse and each winning over the one
//! before: the project's file, the player's saved settings, and what the program sets while it
//! launches. A value knows the layer that it came from.

use serde::de::{self, DeserializeSeed, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// What a setting may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// On or off: JSON `true` or `false`.
    Switch,
    /// One of the words named: a JSON string.
    Choice(Vec<String>),
    /// A whole number within the bounds, both included.
    Integer {
        /// The least value allowed.
        min: i64,
        /// The greatest value allowed.
        max: i64,
    },
}

/// The value of one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Of a [`Kind::Switch`].
    Switch(bool),
    /// Of a [`Kind::Choice`].
    Choice(String),
    /// Of a [`Kind::Integer`].
    Integer(i64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(on) => write!(f, "{on}"),
            Self::Choice(word) => write!(f, "{word:?}"),
            Self::Integer(number) => write!(f, "{number}"),
        }
    }
}

/// Where a value came from, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The schema's own default.
    Default,
    /// The project's configuration file.
    Project,
    /// What the player saved.
    Saved,
    /// What the program set while it launched.
    Launch,
    /// A change made while the program runs.
    Running,
}

#[derive(Debug, Clone)]
struct Setting {
    kind: Kind,
    default: Value,
}

/// The settings that exist, what each may hold, and its default.
#[derive(Debug, Clone, Default)]
pub struct Schema {
    settings: BTreeMap<String, Setting>,
}

/// Why a setting cannot be declared or given a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The schema has no setting of this name.
    #[error("there is no setting {name:?}; there are: {known}")]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist, comma-separated.
        known: String,
    },
    /// The value is not one that the setting may hold.
    #[error("setting {name:?} cannot be {value}: it takes {expected}")]
    BadValue {
        /// The setting.
        name: String,
        /// The value given, as JSON.
        value: String,
        /// What it takes, in words.
        expected: String,
    },
    /// The name is declared already.
    #[error("setting {name:?} is declared twice")]
    Duplicate {
        /// The setting.
        name: String,
    },
}

/// Why a configuration file was refused. Nothing of a refused file is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ParseError {
    /// The file's name as it was given.
    pub file: String,
    /// Line of the fault, from 1.
    pub line: usize,
    /// Column of the fault, from 1; 0 where a line ended too early.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Schema {
    /// A schema without settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a setting.
    ///
    /// # Errors
    /// The name is taken, or the default is not a value of this kind.
    pub fn declare(
        &mut self,
        name: impl Into<String>,
        kind: Kind,
        default: Value,
    ) -> Result<(), SettingError> {
        let name = name.into();
        if !kind.admits(&default) {
            return Err(bad_value(&name, &default.to_string(), &kind));
        }
        if self.settings.contains_key(&name) {
            return Err(SettingError::Duplicate { name });
        }
        self.settings.insert(name, Setting { kind, default });
        Ok(())
    }

    /// Names and kinds, in order of name.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &Kind, &Value)> {
        self.settings
            .iter()
            .map(|(name, setting)| (name.as_str(), &setting.kind, &setting.default))
    }

    /// The schema as a JSON Schema (draft 2020-12) text, for editors that complete and check.
    #[must_use]
    pub fn to_json_schema(&self) -> String {
        let properties: serde_json::Map<String, serde_json::Value> = self
            .settings
            .iter()
            .map(|(name, setting)| (name.clone(), setting.json_schema()))
            .collect();
        serde_json::json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
        .to_string()
    }

    /// Reads one layer: a JSON object of settings, in which each setting stands at most once.
    ///
    /// # Errors
    /// The text is not such an object, names an unknown setting, names one twice, or gives a
    /// value that the setting may not hold.
    pub fn parse(&self, file: &str, text: &str) -> Result<Layer, ParseError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let layer = LayerSeed(self)
            .deserialize(&mut reader)
            .and_then(|layer| reader.end().map(|()| layer));
        layer.map_err(|error| ParseError {
            file: file.to_owned(),
            line: error.line(),
            column: error.column(),
            message: without_position(&error.to_string()),
        })
    }

    fn check(&self, name: &str, value: &Value) -> Result<(), SettingError> {
        let setting = self.find(name)?;
        if setting.kind.admits(value) {
            Ok(())
        } else {
            Err(bad_value(name, &value.to_string(), &setting.kind))
        }
    }

    fn find(&self, name: &str) -> Result<&Setting, SettingError> {
        self.settings
            .get(name)
            .ok_or_else(|| SettingError::Unknown {
                name: name.to_owned(),
                known: self
                    .settings
                    .keys()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

impl Setting {
    fn json_schema(&self) -> serde_json::Value {
        let default = match &self.default {
            Value::Switch(on) => serde_json::json!(on),
            Value::Choice(word) => serde_json::json!(word),
            Value::Integer(number) => serde_json::json!(number),
        };
        match &self.kind {
            Kind::Switch => serde_json::json!({"type": "boolean", "default": default}),
            Kind::Choice(words) => serde_json::json!({"enum": words, "default": default}),
            Kind::Integer { min, max } => serde_json::json!(
                {"type": "integer", "minimum": min, "maximum": max, "default": default}
            ),
        }
    }
}

impl Kind {
    fn admits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Switch, Value::Switch(_)) => true,
            (Self::Choice(words), Value::Choice(word)) => words.contains(word),
            (Self::Integer { min, max }, Value::Integer(number)) => (min..=max).contains(&number),
            _ => false,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {words:?}"),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
        }
    }
}

fn bad_value(name: &str, value: &str, kind: &Kind) -> SettingError {
    SettingError::BadValue {
        name: name.to_owned(),
        value: value.to_owned(),
        expected: kind.in_words(),
    }
}

/// serde_json appends the position to its messages; it is reported on its own here.
fn without_position(message: &str) -> String {
    message
        .rsplit_once(" at line ")
        .map_or_else(|| message.to_owned(), |(text, _)| text.to_owned())
}

/// A sparse set of values for settings of one schema.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layer {
    values: BTreeMap<String, Value>,
}

impl Layer {
    /// A layer that sets nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a value; the schema judges it when the layer is composed.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: Value) -> Self {
        self.values.insert(name.into(), value);
        self
    }
}

struct LayerSeed<'a>(&'a Schema);

impl<'de> DeserializeSeed<'de> for LayerSeed<'_> {
    type Value = Layer;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<Layer, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for LayerSeed<'_> {
    type Value = Layer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Layer, A::Error> {
        let mut layer = Layer::new();
        while let Some(name) = map.next_key_seed(NameSeed {
            schema: self.0,
            seen: &layer,
        })? {
            let kind = &self.0.find(&name).map_err(de::Error::custom)?.kind;
            let value = map.next_value_seed(ValueSeed { name: &name, kind })?;
            layer.values.insert(name, value);
        }
        Ok(layer)
    }
}

/// Judges a name while the reader still stands at it, so that the position is the name's.
struct NameSeed<'a> {
    schema: &'a Schema,
    seen: &'a Layer,
}

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = String;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<String, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a setting")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<String, E> {
        self.schema.find(name).map_err(E::custom)?;
        if self.seen.values.contains_key(name) {
            return Err(E::custom(format_args!("setting {name:?} is given twice")));
        }
        Ok(name.to_owned())
    }
}

struct ValueSeed<'a> {
    name: &'a str,
    kind: &'a Kind,
}

impl ValueSeed<'_> {
    fn admit<E: de::Error>(&self, value: Value) -> Result<Value, E> {
        if self.kind.admits(&value) {
            Ok(value)
        } else {
            Err(E::custom(bad_value(
                self.name,
                &value.to_string(),
                self.kind,
            )))
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl Visitor<'_> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.in_words())
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<Value, E> {
        self.admit(Value::Switch(on))
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Value, E> {
        self.admit(Value::Choice(word.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        self.admit(Value::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        match i64::try_from(number) {
            Ok(number) => self.admit(Value::Integer(number)),
            Err(_) => Err(E::custom(bad_value(
                self.name,
                &number.to_string(),
                self.kind,
            ))),
        }
    }
}

/// The configuration in force: a value for every setting of the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    values: BTreeMap<String, (Value, Source)>,
}

impl Config {
    /// Lays the layers over the defaults: project, then saved, then launch.
    ///
    /// # Errors
    /// A layer that was made in code sets an unknown setting or a value it may not hold.
    pub fn compose(
        schema: &Schema,
        project: &Layer,
        saved: &Layer,
        launch: &Layer,
    ) -> Result<Self, SettingError> {
        let defaults = schema
            .settings
            .iter()
            .map(|(name, setting)| (name.clone(), (setting.default.clone(), Source::Default)));
        let mut config = Self {
            values: defaults.collect(),
        };
        for (layer, source) in [
            (project, Source::Project),
            (saved, Source::Saved),
            (launch, Source::Launch),
        ] {
            config.lay(schema, layer, source)?;
        }
        Ok(config)
    }

    /// This configuration with a change made while the program runs.
    ///
    /// # Errors
    /// The change sets an unknown setting or a value it may not hold.
    pub fn changed(&self, schema: &Schema, change: &Layer) -> Result<Self, SettingError> {
        let mut config = self.clone();
        config.lay(schema, change, Source::Running)?;
        Ok(config)
    }

    fn lay(&mut self, schema: &Schema, layer: &Layer, source: Source) -> Result<(), SettingError> {
        for (name, value) in &layer.values {
            schema.check(name, value)?;
            self.values.insert(name.clone(), (value.clone(), source));
        }
        Ok(())
    }

    /// A setting's value, or none where the schema has no such setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name).map(|(value, _)| value)
    }

    /// The layer that a setting's value came from.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<Source> {
        self.values.get(name).map(|(_, source)| *source)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed step fails the test")]
    use super::*;

    fn schema() -> Schema {
        let mut schema = Schema::new();
        schema
            .declare("ray_tracing", Kind::Switch, Value::Switch(false))
            .unwrap();
        let words = ["low", "high"].map(str::to_owned).to_vec();
        schema
            .declare("shadows", Kind::Choice(words), Value::Choice("low".into()))
            .unwrap();
        schema
            .declare(
                "samples",
                Kind::Integer { min: 1, max: 8 },
                Value::Integer(4),
            )
            .unwrap();
        schema
    }

    #[test]
    fn later_layers_win_and_values_know_their_layer() {
        let schema = schema();
        let project = schema
            .parse("render.json", r#"{"ray_tracing": true, "samples": 2}"#)
            .unwrap();
        let saved = schema.parse("saved.json", r#"{"samples": 8}"#).unwrap();
        let launch = Layer::new().with("ray_tracing", Value::Switch(false));
        let config = Config::compose(&schema, &project, &saved, &launch).unwrap();
        assert_eq!(config.get("samples"), Some(&Value::Integer(8)));
        assert_eq!(config.source("samples"), Some(Source::Saved));
        assert_eq!(config.get("ray_tracing"), Some(&Value::Switch(false)));
        assert_eq!(config.source("ray_tracing"), Some(Source::Launch));
        assert_eq!(config.source("shadows"), Some(Source::Default));
        assert_eq!(config.get("absent"), None);
    }

    #[test]
    fn an_unknown_key_is_refused_where_it_stands() {
        let text = "{\n  \"samples\": 2,\n  \"shadow\": \"low\"\n}";
        let error = schema().parse("render.json", text).unwrap_err();
        assert_eq!((error.line, error.column), (3, 10));
        assert_eq!(
            error.to_string(),
            "render.json:3:10: there is no setting \"shadow\"; there are: ray_tracing, samples, shadows"
        );
    }

    #[test]
    fn bad_values_are_refused_with_what_the_setting_takes() {
        let schema = schema();
        for (text, message) in [
            (r#"{"samples": 9}"#, "a whole number from 1 to 8"),
            (r#"{"samples": 1e3}"#, "a whole number from 1 to 8"),
            (
                r#"{"samples": 18446744073709551615}"#,
                "a whole number from 1 to 8",
            ),
            (r#"{"samples": null}"#, "a whole number from 1 to 8"),
            (r#"{"shadows": "none"}"#, "one of [\"low\", \"high\"]"),
            (r#"{"ray_tracing": "yes"}"#, "true or false"),
            (r#"{"samples": 2, "samples": 3}"#, "given twice"),
            ("[]", "an object of settings"),
            ("{} {}", "trailing"),
            ("", "EOF"),
        ] {
            let error = schema.parse("f.json", text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn the_schema_judges_layers_made_in_code() {
        let none = Layer::new();
        let bad = Layer::new().with("samples", Value::Integer(0));
        let error = Config::compose(&schema(), &none, &none, &bad).unwrap_err();
        assert!(matches!(error, SettingError::BadValue { name, .. } if name == "samples"));
        let mut schema = schema();
        assert!(matches!(
            schema.declare("samples", Kind::Switch, Value::Switch(true)),
            Err(SettingError::Duplicate { .. })
        ));
    }

    #[test]
    fn the_json_schema_names_every_setting() {
        let text: serde_json::Value = serde_json::from_str(&schema().to_json_schema()).unwrap();
        assert_eq!(text["properties"]["samples"]["maximum"], 8);
        assert_eq!(text["properties"]["shadows"]["enum"][1], "high");
        assert_eq!(text["additionalProperties"], false);
    }
}
