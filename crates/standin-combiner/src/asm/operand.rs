//! Operands: one input byte as text.

use crate::program::{Channel, Input, Mapping, Register};

/// Where an operand stands, which says what a clear channel bit means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// An RGB portion, or A to F: the register's RGB, written without a suffix.
    Rgb,
    /// An alpha portion, or G: blue, written `.b`.
    Scalar,
}

/// How a mapping is written around a register.
const FORMS: [(Mapping, &str, &str); 8] = [
    (Mapping::UnsignedIdentity, "", ""),
    (Mapping::UnsignedInvert, "1-", ""),
    (Mapping::ExpandNormal, "expand(", ")"),
    (Mapping::ExpandNegate, "-expand(", ")"),
    (Mapping::HalfBiasNormal, "half(", ")"),
    (Mapping::HalfBiasNegate, "-half(", ")"),
    (Mapping::SignedIdentity, "signed(", ")"),
    (Mapping::SignedNegate, "-signed(", ")"),
];

pub(super) fn print(input: Input, place: Place) -> String {
    match input.to_bits() {
        0x00 => return "0".into(),
        0x20 => return "1".into(),
        _ => {}
    }
    let channel = match (input.channel, place) {
        (Channel::Alpha, _) => ".a",
        (Channel::Colour, Place::Rgb) => "",
        (Channel::Colour, Place::Scalar) => ".b",
    };
    let (_, before, after) = FORMS[input.mapping as usize];
    format!("{before}{}{channel}{after}", input.register.name())
}

pub(super) fn parse(text: &str, place: Place) -> Option<Input> {
    match text {
        "0" => return Some(Input::from_bits(0x00)),
        "1" => return Some(Input::from_bits(0x20)),
        _ => {}
    }
    // The plain form matches everything, so it comes last.
    FORMS.iter().rev().find_map(|(mapping, before, after)| {
        let inner = text.strip_prefix(before)?.strip_suffix(after)?;
        let (name, channel) = match (inner.strip_suffix(".a"), inner.strip_suffix(".b"), place) {
            (Some(name), ..) => (name, Channel::Alpha),
            (None, Some(name), Place::Scalar) => (name, Channel::Colour),
            (None, None, Place::Rgb) => (inner, Channel::Colour),
            _ => return None,
        };
        Some(Input {
            register: register(name)?,
            channel,
            mapping: *mapping,
        })
    })
}

pub(super) fn register(name: &str) -> Option<Register> {
    Register::ALL
        .into_iter()
        .find(|register| register.name() == name)
}
