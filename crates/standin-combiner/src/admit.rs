//! Admission: raw words in, a program with its shell out, or the reason why not. Nothing
//! is broadened by ignoring a field: a bit that an admitted state may set has a meaning
//! in all three implementations, or is named in `docs/combiner.md` as another unit's.

use crate::program::{MUX_MSB, Program, Register, StageWords, UNIQUE_C0, UNIQUE_C1};
use crate::shell::{AlphaTest, Fog, MODE_NAMES, Shell, TextureMode};
use crate::state::{MAX_STAGES, RawState, TEXTURE_STAGES};
use std::fmt;

/// A program that the three implementations represent exactly, and its shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Admitted {
    /// The program as the guest wrote it, without the words of disabled stages.
    pub program: Program,
    /// The shell around it.
    pub shell: Shell,
}

/// One of a stage's two halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PortionName {
    Rgb,
    Alpha,
}

impl fmt::Display for PortionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rgb => "rgb",
            Self::Alpha => "alpha",
        })
    }
}

/// Why a state is not admitted. The list is closed: a new reason is a new variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Decline {
    /// More stages than the hardware has.
    #[error("COMBINECTL asks for {count} stages, the hardware has 8")]
    StageCount {
        /// The stage count in the word.
        count: u8,
    },
    /// COMBINECTL bits without a known meaning.
    #[error("COMBINECTL has unknown bits {bits:#010x}")]
    ControlBits {
        /// The bits.
        bits: u32,
    },
    /// A general stage reads a register that it cannot read: 6, 7, V1R0_SUM, EF_PROD.
    #[error("stage {stage} {portion} input {input} reads {}", register.name())]
    InputRegister {
        /// The stage.
        stage: u8,
        /// The portion.
        portion: PortionName,
        /// `A` to `D`.
        input: char,
        /// What it reads.
        register: Register,
    },
    /// A general stage writes a register that cannot be written.
    #[error("stage {stage} {portion} writes {}", register.name())]
    OutputRegister {
        /// The stage.
        stage: u8,
        /// The portion.
        portion: PortionName,
        /// What it writes.
        register: Register,
    },
    /// Output operation 5 or 7: implementations disagree about them.
    #[error("stage {stage} {portion} has output operation {op}, which has no agreed meaning")]
    OutputOp {
        /// The stage.
        stage: u8,
        /// The portion.
        portion: PortionName,
        /// The operation's number.
        op: u8,
    },
    /// Output word bits without a known meaning; dot and blue-to-alpha in an alpha word
    /// are among them.
    #[error("stage {stage} {portion} output word has unknown bits {bits:#010x}")]
    OutputBits {
        /// The stage.
        stage: u8,
        /// The portion.
        portion: PortionName,
        /// The bits.
        bits: u32,
    },
    /// Both final words are zero: implementations disagree about what is drawn.
    #[error("the final combiner is off")]
    FinalDisabled,
    /// A final input with a mapping other than 0 and 1.
    #[error("final input {input} has mapping {mapping}")]
    FinalMapping {
        /// `A` to `G`.
        input: char,
        /// The mapping's number.
        mapping: u8,
    },
    /// A final input that reads 6 or 7, or E, F, G that read V1R0_SUM or EF_PROD.
    #[error("final input {input} reads {}", register.name())]
    FinalRegister {
        /// `A` to `G`.
        input: char,
        /// What it reads.
        register: Register,
    },
    /// COMBINESPECFOG1 bits without a known meaning.
    #[error("COMBINESPECFOG1 has unknown bits {bits:#04x}")]
    FinalFlags {
        /// The bits.
        bits: u8,
    },
    /// A texture mode that the shell does not have.
    #[error("texture stage {stage} has mode {}", mode_name(*mode))]
    TextureMode {
        /// The texture stage.
        stage: u8,
        /// The mode's number.
        mode: u8,
    },
    /// SHADERPROG bits above the four modes.
    #[error("SHADERPROG has unknown bits {bits:#010x}")]
    ShaderProgramBits {
        /// The bits.
        bits: u32,
    },
    /// The value of a clip-plane stage's register is not known, and the program reads it.
    #[error("the program reads T{stage}, whose value in mode CLIPPLANE is not known")]
    ClipPlaneRead {
        /// The texture stage.
        stage: u8,
    },
    /// An alpha function above 7.
    #[error("the alpha test has function {function}")]
    AlphaFunction {
        /// The function's number.
        function: u8,
    },
    /// The texture stage discards by colour key: a side effect that the shell lacks.
    #[error("texture stage {stage} has colour key {operation}")]
    ColourKey {
        /// The texture stage.
        stage: u8,
        /// The key's operation, 1 to 3.
        operation: u8,
    },
    /// The texture stage discards texels of alpha 0: a side effect that the shell lacks.
    #[error("texture stage {stage} has alpha kill")]
    AlphaKill {
        /// The texture stage.
        stage: u8,
    },
}

fn mode_name(mode: u8) -> String {
    MODE_NAMES.get(usize::from(mode)).map_or_else(
        || format!("{mode:#x}, which does not exist"),
        |name| (*name).to_string(),
    )
}

impl Decline {
    /// Names of the reasons, by [`Decline::index`].
    pub const NAMES: [&str; 16] = [
        "stage count",
        "control bits",
        "input register",
        "output register",
        "output operation",
        "output bits",
        "final combiner off",
        "final mapping",
        "final register",
        "final flags",
        "texture mode",
        "shader program bits",
        "clip-plane register read",
        "colour key",
        "alpha kill",
        "alpha function",
    ];

    /// The reason's number, for counting.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::StageCount { .. } => 0,
            Self::ControlBits { .. } => 1,
            Self::InputRegister { .. } => 2,
            Self::OutputRegister { .. } => 3,
            Self::OutputOp { .. } => 4,
            Self::OutputBits { .. } => 5,
            Self::FinalDisabled => 6,
            Self::FinalMapping { .. } => 7,
            Self::FinalRegister { .. } => 8,
            Self::FinalFlags { .. } => 9,
            Self::TextureMode { .. } => 10,
            Self::ShaderProgramBits { .. } => 11,
            Self::ClipPlaneRead { .. } => 12,
            Self::ColourKey { .. } => 13,
            Self::AlphaKill { .. } => 14,
            Self::AlphaFunction { .. } => 15,
        }
    }
}

/// How often states were admitted, and declined for which reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdmissionCounts {
    /// States admitted.
    pub admitted: u64,
    /// States declined, by [`Decline::index`].
    pub declined: [u64; Decline::NAMES.len()],
}

impl AdmissionCounts {
    /// Counts one admission.
    pub fn count(&mut self, outcome: &Result<Admitted, Decline>) {
        match outcome {
            Ok(_) => self.admitted += 1,
            Err(reason) => self.declined[reason.index()] += 1,
        }
    }

    /// The reasons that occurred, with their counts.
    pub fn reasons(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Decline::NAMES
            .into_iter()
            .zip(self.declined)
            .filter(|(_, count)| *count != 0)
    }
}

/// Decodes and admits `state`.
///
/// # Errors
///
/// The first reason found, in the order control, stages, final combiner, shell.
pub fn admit(state: &RawState) -> Result<Admitted, Decline> {
    let program = admit_program(state)?;
    let shell = admit_shell(state)?;
    let unknown = shell.unknown_registers();
    if unknown != 0 {
        clip_plane_reads(&program, unknown)?;
    }
    Ok(Admitted { program, shell })
}

fn admit_program(state: &RawState) -> Result<Program, Decline> {
    let control = state.combine_control;
    let bits = control & !(0xFF | MUX_MSB | UNIQUE_C0 | UNIQUE_C1);
    if bits != 0 {
        return Err(Decline::ControlBits { bits });
    }
    let count = (control & 0xFF) as usize;
    if count > MAX_STAGES {
        return Err(Decline::StageCount { count: count as u8 });
    }
    let mut stages = [StageWords::default(); MAX_STAGES];
    for (i, words) in stages.iter_mut().enumerate().take(count) {
        *words = StageWords {
            rgb_in: state.rgb_inputs[i],
            alpha_in: state.alpha_inputs[i],
            rgb_out: state.rgb_outputs[i],
            alpha_out: state.alpha_outputs[i],
        };
        let legal = legal_inputs(words.rgb_in)
            & legal_inputs(words.alpha_in)
            & legal_output(words.rgb_out, RGB_BITS)
            & legal_output(words.alpha_out, ALPHA_BITS);
        if !legal {
            return Err(why_not(i as u8, *words));
        }
    }
    let (final_abcd, final_efg) = (state.final_abcd, state.final_efg);
    admit_final(final_abcd, final_efg)?;
    Ok(Program {
        control,
        stages,
        final_abcd,
        final_efg,
    })
}

const RGB_BITS: u32 = 0x000F_FFFF;
const ALPHA_BITS: u32 = 0x0003_CFFF;
/// Registers that a general stage may write, as a set of numbers; 0 discards.
const WRITABLE: u32 = 1 | 1 << 4 | 1 << 5 | 0b11_1111 << 8;

/// Registers 6, 7, 14 and 15 are those with bits 1 and 2 both set.
fn legal_inputs(word: u32) -> bool {
    word >> 1 & word >> 2 & 0x0101_0101 == 0
}

fn legal_output(word: u32, bits: u32) -> bool {
    let op = word >> 15 & 7;
    word & !bits == 0
        && op != 5
        && op != 7
        && (WRITABLE >> (word & 0xF))
            & (WRITABLE >> (word >> 4 & 0xF))
            & (WRITABLE >> (word >> 8 & 0xF))
            & 1
            == 1
}

/// The reason why a stage that is not legal is not.
#[cold]
fn why_not(stage: u8, words: StageWords) -> Decline {
    use PortionName::{Alpha, Rgb};
    for (portion, word) in [(Rgb, words.rgb_in), (Alpha, words.alpha_in)] {
        for (shift, input) in [(24, 'A'), (16, 'B'), (8, 'C'), (0, 'D')] {
            let byte = word >> shift & 0xFF;
            if !legal_inputs(byte) {
                let register = Register::from_bits(byte);
                return Decline::InputRegister {
                    stage,
                    portion,
                    input,
                    register,
                };
            }
        }
    }
    let rgb_is_legal = legal_output(words.rgb_out, RGB_BITS);
    let (portion, word, known) = if rgb_is_legal {
        (Alpha, words.alpha_out, ALPHA_BITS)
    } else {
        (Rgb, words.rgb_out, RGB_BITS)
    };
    for shift in [4, 0, 8] {
        let register = Register::from_bits(word >> shift);
        if WRITABLE >> register.index() & 1 == 0 {
            return Decline::OutputRegister {
                stage,
                portion,
                register,
            };
        }
    }
    let bits = word & !known;
    if bits != 0 {
        return Decline::OutputBits {
            stage,
            portion,
            bits,
        };
    }
    Decline::OutputOp {
        stage,
        portion,
        op: (word >> 15 & 7) as u8,
    }
}

fn admit_final(abcd: u32, efg: u32) -> Result<(), Decline> {
    if abcd == 0 && efg == 0 {
        return Err(Decline::FinalDisabled);
    }
    if efg & 0x1F != 0 {
        return Err(Decline::FinalFlags {
            bits: (efg & 0x1F) as u8,
        });
    }
    let inputs = efg & 0xFFFF_FF00;
    let mappings = (abcd | inputs) & 0xC0C0_C0C0;
    // A to D may read 14 and 15, so only 6 and 7 are illegal there: bits 1 and 2 without 3.
    let abcd_illegal = abcd >> 1 & abcd >> 2 & !(abcd >> 3) & 0x0101_0101;
    if mappings == 0 && abcd_illegal == 0 && legal_inputs(inputs) {
        return Ok(());
    }
    Err(why_not_final(abcd, inputs))
}

#[cold]
fn why_not_final(abcd: u32, efg: u32) -> Decline {
    let places = [
        (abcd, 24),
        (abcd, 16),
        (abcd, 8),
        (abcd, 0),
        (efg, 24),
        (efg, 16),
    ];
    for ((word, shift), input) in places.into_iter().zip('A'..) {
        let byte = word >> shift & 0xFF;
        let register = Register::from_bits(byte);
        let is_sum_or_product = matches!(register, Register::V1R0Sum | Register::EfProduct);
        let legal = legal_inputs(byte) || (input <= 'D' && is_sum_or_product);
        if !legal {
            return Decline::FinalRegister { input, register };
        }
        if byte & 0xC0 != 0 {
            let mapping = (byte >> 5) as u8;
            return Decline::FinalMapping { input, mapping };
        }
    }
    let byte = efg >> 8 & 0xFF;
    if legal_inputs(byte) {
        Decline::FinalMapping {
            input: 'G',
            mapping: (byte >> 5) as u8,
        }
    } else {
        Decline::FinalRegister {
            input: 'G',
            register: Register::from_bits(byte),
        }
    }
}

fn admit_shell(state: &RawState) -> Result<Shell, Decline> {
    let bits = state.shader_program & !0x000F_FFFF;
    if bits != 0 {
        return Err(Decline::ShaderProgramBits { bits });
    }
    let mut textures = [TextureMode::None; TEXTURE_STAGES];
    for (i, texture) in textures.iter_mut().enumerate() {
        let stage = i as u8;
        let mode = state.shader_program >> (5 * i) & 0x1F;
        *texture = match mode {
            0 => TextureMode::None,
            1 => TextureMode::Projective2d,
            2 => TextureMode::Projective3d,
            3 => TextureMode::Cube,
            4 => TextureMode::PassThrough,
            5 => TextureMode::ClipPlane {
                compares: (state.shader_clip_mode >> (4 * i) & 0xF) as u8,
            },
            _ => {
                return Err(Decline::TextureMode {
                    stage,
                    mode: mode as u8,
                });
            }
        };
        // The texel's side effects exist only where a texel is read.
        if texture.image().is_some() {
            let operation = (state.texture_control[i] & 3) as u8;
            if operation != 0 {
                return Err(Decline::ColourKey { stage, operation });
            }
            if state.texture_control[i] & 4 != 0 {
                return Err(Decline::AlphaKill { stage });
            }
        }
    }
    let fog = if state.control_3 & 1 << 8 == 0 {
        Fog::Disabled
    } else {
        Fog::Interpolated
    };
    let alpha_test = if state.control_0 & 1 << 12 == 0 {
        AlphaTest::Always
    } else {
        let function = (state.control_0 >> 8 & 0xF) as u8;
        *AlphaTest::ALL
            .get(usize::from(function))
            .ok_or(Decline::AlphaFunction { function })?
    };
    Ok(Shell {
        textures,
        fog,
        alpha_test,
    })
}

/// R0.a starts as T0.a, so a program that reads R0 may read T0.
fn clip_plane_reads(program: &Program, unknown: u16) -> Result<(), Decline> {
    let mut read = program.canonical().registers_read();
    if read & 1 << Register::R0 as u16 != 0 {
        read |= 1 << Register::T0 as u16;
    }
    let both = read & unknown;
    if both == 0 {
        return Ok(());
    }
    let stage = (both.trailing_zeros() - Register::T0 as u32) as u8;
    Err(Decline::ClipPlaneRead { stage })
}
