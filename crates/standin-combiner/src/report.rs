//! What `standin combiner eval` shows: every register after every stage, in either profile.

use crate::admit::{Decline, admit};
use crate::asm::disassemble;
use crate::oracle::{Fate, Float, NineBit, Profile, Registers, trace};
use crate::packet::Constants;
use crate::program::{Mapping, MuxSelector, Program, Register};
use crate::state_text::StateFile;
use serde::Serialize;
use std::fmt;

/// Which numbers an evaluation works with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum ProfileName {
    /// What both GPU paths equal bit for bit.
    #[default]
    #[serde(rename = "float")]
    Float,
    /// What the console shows, as far as it is known.
    #[serde(rename = "nv2a-9bit")]
    NineBit,
}

impl ProfileName {
    /// The profile's name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::NineBit => "nv2a-9bit",
        }
    }
}

impl std::str::FromStr for ProfileName {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        [Self::Float, Self::NineBit]
            .into_iter()
            .find(|profile| profile.as_str() == name)
            .ok_or_else(|| UnknownProfile { name: name.into() })
    }
}

/// A profile name that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is no profile; there are float and nv2a-9bit")]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
}

/// A register's value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RegisterValue {
    /// The register's name.
    pub register: &'static str,
    /// Red, green, blue, alpha.
    pub value: [f32; 4],
    /// Their bits.
    pub bits: [u32; 4],
}

/// The registers at one point of the evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// `start`, `stage 0` to `stage 7`, `final`.
    pub after: String,
    /// All registers that exist.
    pub registers: Vec<RegisterValue>,
}

/// One fragment's evaluation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The numbers it worked with.
    pub profile: ProfileName,
    /// The registers, step by step.
    pub steps: Vec<Step>,
    /// The final colour, in [0, 1].
    pub colour: [f32; 4],
    /// Its bits.
    pub colour_bits: [u32; 4],
    /// What becomes of the fragment.
    pub fate: Fate,
    /// What this program does that was not measured on hardware.
    pub not_measured: Vec<&'static str>,
}

/// Evaluates a STATE file.
///
/// # Errors
///
/// Why its state is not admitted.
pub fn evaluate_file(file: &StateFile, profile: ProfileName) -> Result<Evaluation, Decline> {
    match profile {
        ProfileName::Float => run(file, &Float, profile),
        ProfileName::NineBit => run(file, &NineBit, profile),
    }
}

fn run<P: Profile>(
    file: &StateFile,
    numbers: &P,
    profile: ProfileName,
) -> Result<Evaluation, Decline> {
    let admitted = admit(&file.words)?;
    let program = admitted.program;
    let last = program.stage_count() + 1;
    let mut steps = Vec::with_capacity(last + 1);
    let constants = Constants::from_state(&file.words);
    let observe = |step: usize, registers: &Registers<P::Number>| {
        let after = match step {
            0 => "start".into(),
            step if step == last => "final".into(),
            step => format!("stage {}", step - 1),
        };
        let registers = Register::ALL
            .into_iter()
            .filter(|r| !matches!(r, Register::Reserved6 | Register::Reserved7))
            .map(|register| {
                let value = registers[register.index()].map(|x| numbers.to_float(x));
                RegisterValue {
                    register: register.name(),
                    value,
                    bits: value.map(f32::to_bits),
                }
            })
            .collect();
        steps.push(Step { after, registers });
    };
    let outcome = trace(
        numbers,
        &program,
        &admitted.shell,
        &constants,
        &file.inputs,
        observe,
    );
    Ok(Evaluation {
        profile,
        steps,
        colour: outcome.colour,
        colour_bits: outcome.colour.map(f32::to_bits),
        fate: outcome.fate,
        not_measured: not_measured(&program),
    })
}

/// What a program uses that was not measured on hardware.
#[must_use]
pub fn not_measured(program: &Program) -> Vec<&'static str> {
    let mut found = Vec::new();
    let portions = || program.stages().flatten();
    let inputs = || portions().flat_map(|portion| portion.inputs);
    let mut note = |uses: bool, what| {
        if uses {
            found.push(what);
        }
    };
    note(
        inputs().any(|input| {
            matches!(
                input.mapping,
                Mapping::ExpandNormal
                    | Mapping::ExpandNegate
                    | Mapping::HalfBiasNormal
                    | Mapping::HalfBiasNegate
            ) && input.register != Register::Zero
        }),
        "rounding of the expand and half-bias mappings",
    );
    note(
        portions().any(|portion| {
            portion.ab == crate::program::Product::Dot || portion.cd == crate::program::Product::Dot
        }),
        "accumulation width of dot products",
    );
    note(
        portions().any(|portion| portion.third == crate::program::Third::Mux)
            && program.mux_selector() == MuxSelector::Lsb,
        "the LSB mux for alphas that are no multiple of 1/255",
    );
    note(
        portions().any(|portion| {
            let to = [portion.ab_to, portion.cd_to, portion.third_to];
            let taken = |i: usize| to[i] != Register::Zero;
            (taken(0) && to[0] == to[1])
                || (taken(0) && to[0] == to[2])
                || (taken(1) && to[1] == to[2])
        }),
        "which of several results for one register wins",
    );
    note(
        inputs().any(|input| {
            input.register == Register::Fog && input.channel == crate::program::Channel::Alpha
        }),
        "the fog factor in a general stage",
    );
    note(
        program.stage_count() == 0,
        "a program without general stages",
    );
    found
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "profile {}", self.profile.as_str())?;
        let line = |f: &mut fmt::Formatter<'_>, name: &str, value: [f32; 4], bits: [u32; 4]| {
            write!(f, " {name:<7}")?;
            for x in value {
                write!(f, " {x:>12.8}")?;
            }
            let [r, g, b, a] = bits;
            writeln!(f, "   {r:08x} {g:08x} {b:08x} {a:08x}")
        };
        let mut before: Option<&Step> = None;
        for step in &self.steps {
            writeln!(f, "after {}", step.after)?;
            for (i, register) in step.registers.iter().enumerate() {
                // A star marks what the step changed.
                let changed = before.is_some_and(|b| b.registers[i].bits != register.bits);
                let mark = if changed { "*" } else { " " };
                let name = format!("{mark}{}", register.register);
                line(f, &name, register.value, register.bits)?;
            }
            before = Some(step);
        }
        line(f, " colour", self.colour, self.colour_bits)?;
        let fate = match self.fate {
            Fate::Kept => "kept",
            Fate::ClippedByTexture => "discarded by a clip plane",
            Fate::FailedAlphaTest => "discarded by the alpha test",
        };
        writeln!(f, "fragment {fate}")?;
        for what in &self.not_measured {
            writeln!(f, "not measured on hardware: {what}")?;
        }
        Ok(())
    }
}

/// What `standin combiner show` shows: the program as text, or why it is not admitted.
///
/// # Errors
///
/// Why the file's state is not admitted.
pub fn show_file(file: &StateFile) -> Result<String, Decline> {
    disassemble(&file.words)
}
