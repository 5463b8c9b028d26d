//! STATE files: one fragment's state words and inputs as text. `docs/combiner.md` has the
//! format.

use crate::oracle::FragmentInputs;
use crate::state::{RawState, Word};

/// What a STATE file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StateFile {
    /// The state words. A word that the file does not name is 0.
    pub words: RawState,
    /// The fragment's inputs. One that the file does not name is 0.
    pub inputs: FragmentInputs,
}

/// A line of a STATE file that is not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateFileError {
    /// The first word is neither a state word's name nor an input's.
    #[error("line {line}: {name} is neither a state word nor an input")]
    Name {
        /// The line's number, from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A name that stands twice.
    #[error("line {line}: {name} is given a second time")]
    Twice {
        /// The line's number.
        line: usize,
        /// The name.
        name: String,
    },
    /// A number that is none.
    #[error("line {line}: {text} is no number of the kind that {name} takes")]
    Number {
        /// The line's number.
        line: usize,
        /// Whose number it is.
        name: String,
        /// The text.
        text: String,
    },
    /// Too few or too many numbers.
    #[error("line {line}: {name} takes {expected} numbers and has {found}")]
    Count {
        /// The line's number.
        line: usize,
        /// The name.
        name: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

impl StateFile {
    /// Parses a STATE file.
    ///
    /// # Errors
    ///
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Self, StateFileError> {
        let mut file = Self::default();
        let mut seen = std::collections::HashSet::new();
        for (i, line) in text.lines().enumerate() {
            let line_number = i + 1;
            let mut words = line.split('#').next().unwrap_or("").split_whitespace();
            let Some(name) = words.next() else { continue };
            let numbers: Vec<&str> = words.collect();
            if !seen.insert(name) {
                return Err(StateFileError::Twice {
                    line: line_number,
                    name: name.into(),
                });
            }
            file.line(line_number, name, &numbers)?;
        }
        Ok(file)
    }

    fn line(&mut self, line: usize, name: &str, numbers: &[&str]) -> Result<(), StateFileError> {
        let bad = |text: &str| StateFileError::Number {
            line,
            name: name.into(),
            text: text.into(),
        };
        let count = |expected| StateFileError::Count {
            line,
            name: name.into(),
            expected,
            found: numbers.len(),
        };
        if let Some(word) = Word::from_name(name) {
            let [text] = numbers else {
                return Err(count(1));
            };
            let value = integer(text).ok_or_else(|| bad(text))?;
            self.words.set(word, value);
            return Ok(());
        }
        let vector = match name {
            "v0" => &mut self.inputs.colours[0],
            "v1" => &mut self.inputs.colours[1],
            "t0" => &mut self.inputs.textures[0],
            "t1" => &mut self.inputs.textures[1],
            "t2" => &mut self.inputs.textures[2],
            "t3" => &mut self.inputs.textures[3],
            "fog" => {
                let [text] = numbers else {
                    return Err(count(1));
                };
                self.inputs.fog = float(text).ok_or_else(|| bad(text))?;
                return Ok(());
            }
            _ => {
                return Err(StateFileError::Name {
                    line,
                    name: name.into(),
                });
            }
        };
        if numbers.len() != 4 {
            return Err(count(4));
        }
        for (to, text) in vector.iter_mut().zip(numbers) {
            *to = float(text).ok_or_else(|| bad(text))?;
        }
        Ok(())
    }

    /// The file as text. Words and inputs that are 0 are left out; floats are given by
    /// their bits where their decimal form would not give the same bits back.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for word in Word::all() {
            let value = self.words.get(word);
            if value != 0 {
                text += &format!("{} {value:#010x}\n", word.name());
            }
        }
        let vectors = [
            ("v0", self.inputs.colours[0]),
            ("v1", self.inputs.colours[1]),
            ("t0", self.inputs.textures[0]),
            ("t1", self.inputs.textures[1]),
            ("t2", self.inputs.textures[2]),
            ("t3", self.inputs.textures[3]),
        ];
        for (name, vector) in vectors {
            if vector.map(f32::to_bits) != [0; 4] {
                text += &format!("{name} {}\n", vector.map(float_text).join(" "));
            }
        }
        if self.inputs.fog.to_bits() != 0 {
            text += &format!("fog {}\n", float_text(self.inputs.fog));
        }
        text
    }
}

fn integer(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A decimal number, or the bits of one after `0x`.
fn float(text: &str) -> Option<f32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok().map(f32::from_bits),
        None => text.parse().ok(),
    }
}

fn float_text(x: f32) -> String {
    if x.is_finite() {
        format!("{x:?}")
    } else {
        format!("{:#010x}", x.to_bits())
    }
}
