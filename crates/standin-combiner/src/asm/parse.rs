//! The assembler.

use super::operand::{self, Place};
use super::print::{op_name, test_name};
use crate::program::{
    AB_BLUE_TO_ALPHA, AB_DOT, CD_BLUE_TO_ALPHA, CD_DOT, CLAMP_SUM, COMPLEMENT_R0, COMPLEMENT_V1,
    MUX, MUX_MSB, OutputOp, UNIQUE_C0, UNIQUE_C1,
};
use crate::shell::AlphaTest;
use crate::state::{MAX_STAGES, RawState};

/// A line that the assembler does not understand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct AssemblyError {
    /// The line's number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: String,
}

/// Where the assembler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Head,
    Stage(usize),
    Final,
}

/// Assembles a program into state words. The result need not be admitted: what the words
/// can say, the text can say.
///
/// # Errors
///
/// The first line that is not understood.
pub fn assemble(text: &str) -> Result<RawState, AssemblyError> {
    let mut state = RawState::default();
    let mut section = Section::Head;
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        section =
            one(&mut state, section, &words).map_err(|what| AssemblyError { line: i + 1, what })?;
    }
    Ok(state)
}

fn one(state: &mut RawState, section: Section, words: &[&str]) -> Result<Section, String> {
    match (section, words) {
        (Section::Head | Section::Stage(_), ["stage", number]) => {
            let expected = match section {
                Section::Stage(i) => i + 1,
                _ => 0,
            };
            if *number != expected.to_string() || expected >= MAX_STAGES {
                return Err(format!(
                    "stage {number} where stage {expected} of at most 8 is due"
                ));
            }
            state.combine_control = state.combine_control & !0xFF | (expected as u32 + 1);
            Ok(Section::Stage(expected))
        }
        (Section::Head | Section::Stage(_), ["final"]) => Ok(Section::Final),
        (Section::Head, words) => head(state, words).map(|()| section),
        (Section::Stage(i), words) => stage(state, i, words).map(|()| section),
        (Section::Final, words) => last(state, words).map(|()| section),
    }
}

fn number(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("{text} is no 32-bit number"))
}

fn head(state: &mut RawState, words: &[&str]) -> Result<(), String> {
    match words {
        ["mux", "msb"] => state.combine_control |= MUX_MSB,
        ["mux", "lsb"] => state.combine_control &= !MUX_MSB,
        ["c0", "per_stage"] => state.combine_control |= UNIQUE_C0,
        ["c1", "per_stage"] => state.combine_control |= UNIQUE_C1,
        ["fog", "on"] => state.control_3 |= 1 << 8,
        ["fog_color", word] => state.fog_colour = number(word)?,
        ["alpha_test", function, reference] => {
            let reference = number(reference)?;
            if reference > 0xFF {
                return Err(format!("alpha reference {reference} is above 255"));
            }
            let bits = if *function == "off" {
                0
            } else {
                let test = AlphaTest::ALL
                    .into_iter()
                    .find(|test| test_name(*test) == *function)
                    .ok_or_else(|| format!("{function} is no alpha function"))?;
                1 << 12 | (test as u32) << 8
            };
            state.control_0 = bits | reference;
        }
        ["texture", stage, mode, rest @ ..] => {
            let stage = number(stage)?;
            if stage > 3 {
                return Err(format!("there is no texture stage {stage}"));
            }
            let mode = match (*mode, rest) {
                ("none", []) => 0,
                ("2d", []) => 1,
                ("3d", []) => 2,
                ("cube", []) => 3,
                ("passthrough", []) => 4,
                ("clip", [compares]) => {
                    let compares = number(compares)?;
                    if compares > 0xF {
                        return Err("a clip stage has four compare bits".into());
                    }
                    state.shader_clip_mode &= !(0xF << (4 * stage));
                    state.shader_clip_mode |= compares << (4 * stage);
                    5
                }
                _ => return Err(format!("{mode} is no texture mode of the shell")),
            };
            state.shader_program &= !(0x1F << (5 * stage));
            state.shader_program |= mode << (5 * stage);
        }
        _ => return Err(format!("not understood: {}", words.join(" "))),
    }
    Ok(())
}

fn stage(state: &mut RawState, i: usize, words: &[&str]) -> Result<(), String> {
    let (portion, rest) = match words {
        ["c0", word] => {
            state.factor0[i] = number(word)?;
            return Ok(());
        }
        ["c1", word] => {
            state.factor1[i] = number(word)?;
            return Ok(());
        }
        ["rgb", rest @ ..] => (Place::Rgb, rest),
        ["alpha", rest @ ..] => (Place::Scalar, rest),
        _ => return Err(format!("not understood: {}", words.join(" "))),
    };
    let (input, output) = match portion {
        Place::Rgb => (&mut state.rgb_inputs[i], &mut state.rgb_outputs[i]),
        Place::Scalar => (&mut state.alpha_inputs[i], &mut state.alpha_outputs[i]),
    };
    match rest {
        ["ab", to, "=", product @ ..] => {
            let pair = product_of(product, portion)?;
            *input = *input & 0xFFFF | pair.inputs << 16;
            *output |= target(to)? << 4
                | if pair.dots { AB_DOT } else { 0 }
                | if pair.blue { AB_BLUE_TO_ALPHA } else { 0 };
        }
        ["cd", to, "=", product @ ..] => {
            let pair = product_of(product, portion)?;
            *input = *input & 0xFFFF_0000 | pair.inputs;
            *output |= target(to)?
                | if pair.dots { CD_DOT } else { 0 }
                | if pair.blue { CD_BLUE_TO_ALPHA } else { 0 };
        }
        ["sum", to, "=", "ab", "+", "cd"] => *output |= target(to)? << 8,
        ["mux", to, "=", "r0.a", "?", "cd", ":", "ab"] => *output |= target(to)? << 8 | MUX,
        ["op", name] => {
            let op = OutputOp::ALL
                .into_iter()
                .find(|op| op_name(*op) == *name)
                .ok_or_else(|| format!("{name} is no output operation"))?;
            *output |= (op as u32) << 15;
        }
        _ => return Err(format!("not understood: {}", words.join(" "))),
    }
    Ok(())
}

struct ProductOf {
    /// Two input bytes.
    inputs: u32,
    dots: bool,
    blue: bool,
}

fn product_of(words: &[&str], place: Place) -> Result<ProductOf, String> {
    let (words, blue) = match words {
        [rest @ .., "blue_to_alpha"] => (rest, true),
        _ => (words, false),
    };
    let text = words.concat();
    let dot = text
        .strip_prefix("dot(")
        .and_then(|rest| rest.strip_suffix(')'));
    let (pair, dots) = match dot {
        Some(inner) => (inner.split_once(','), true),
        None => (text.split_once('*'), false),
    };
    let (x, y) = pair.ok_or_else(|| format!("{text} is no product"))?;
    let byte = |text: &str| {
        operand::parse(text, place)
            .map(crate::program::Input::to_bits)
            .ok_or_else(|| format!("{text} is no operand here"))
    };
    Ok(ProductOf {
        inputs: byte(x)? << 8 | byte(y)?,
        dots,
        blue,
    })
}

fn target(name: &str) -> Result<u32, String> {
    if name == "-" {
        return Ok(0);
    }
    operand::register(name)
        .map(|register| register as u32)
        .ok_or_else(|| format!("{name} is no register"))
}

fn last(state: &mut RawState, words: &[&str]) -> Result<(), String> {
    match words {
        ["c0", word] => state.final_factors[0] = number(word)?,
        ["c1", word] => state.final_factors[1] = number(word)?,
        ["complement_v1"] => state.final_efg |= COMPLEMENT_V1,
        ["complement_r0"] => state.final_efg |= COMPLEMENT_R0,
        ["clamp_sum"] => state.final_efg |= CLAMP_SUM,
        [name, "=", operand] => {
            let (word, shift, place) = match *name {
                "a" => (&mut state.final_abcd, 24, Place::Rgb),
                "b" => (&mut state.final_abcd, 16, Place::Rgb),
                "c" => (&mut state.final_abcd, 8, Place::Rgb),
                "d" => (&mut state.final_abcd, 0, Place::Rgb),
                "e" => (&mut state.final_efg, 24, Place::Rgb),
                "f" => (&mut state.final_efg, 16, Place::Rgb),
                "g" => (&mut state.final_efg, 8, Place::Scalar),
                _ => return Err(format!("{name} is no input of the final combiner")),
            };
            let input = operand::parse(operand, place)
                .ok_or_else(|| format!("{operand} is no operand here"))?;
            *word = *word & !(0xFF << shift) | input.to_bits() << shift;
        }
        _ => return Err(format!("not understood: {}", words.join(" "))),
    }
    Ok(())
}
