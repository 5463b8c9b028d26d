//! The combiner program: typed views of the words, and the canonical form that keys and
//! packets are made of. Nothing here is data: constants are in [`crate::packet`].

use crate::state::{MAX_STAGES, RawState};

/// COMBINECTL bit 8: the mux looks at the most significant bit of R0.a.
pub(crate) const MUX_MSB: u32 = 1 << 8;
/// COMBINECTL bit 12: every stage has a C0 of its own.
pub(crate) const UNIQUE_C0: u32 = 1 << 12;
/// COMBINECTL bit 16: every stage has a C1 of its own.
pub(crate) const UNIQUE_C1: u32 = 1 << 16;

pub(crate) const CD_DOT: u32 = 1 << 12;
pub(crate) const AB_DOT: u32 = 1 << 13;
pub(crate) const MUX: u32 = 1 << 14;
pub(crate) const CD_BLUE_TO_ALPHA: u32 = 1 << 18;
pub(crate) const AB_BLUE_TO_ALPHA: u32 = 1 << 19;

/// COMBINESPECFOG1 bit 5: R0 enters the sum as 1 - R0.
pub(crate) const COMPLEMENT_R0: u32 = 1 << 5;
/// COMBINESPECFOG1 bit 6: V1 enters the sum as 1 - V1.
pub(crate) const COMPLEMENT_V1: u32 = 1 << 6;
/// COMBINESPECFOG1 bit 7: the sum is clamped to at most 1.
pub(crate) const CLAMP_SUM: u32 = 1 << 7;

/// A combiner register by its number in the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Register {
    Zero = 0,
    C0 = 1,
    C1 = 2,
    Fog = 3,
    V0 = 4,
    V1 = 5,
    Reserved6 = 6,
    Reserved7 = 7,
    T0 = 8,
    T1 = 9,
    T2 = 10,
    T3 = 11,
    R0 = 12,
    R1 = 13,
    /// V1 + R0, computed by the final combiner.
    V1R0Sum = 14,
    /// E * F, computed by the final combiner.
    EfProduct = 15,
}

impl Register {
    /// All sixteen, in the order of their numbers.
    pub const ALL: [Self; 16] = [
        Self::Zero,
        Self::C0,
        Self::C1,
        Self::Fog,
        Self::V0,
        Self::V1,
        Self::Reserved6,
        Self::Reserved7,
        Self::T0,
        Self::T1,
        Self::T2,
        Self::T3,
        Self::R0,
        Self::R1,
        Self::V1R0Sum,
        Self::EfProduct,
    ];

    /// The register in the low four bits of `bits`.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self::ALL[(bits & 0xF) as usize]
    }

    /// The register's number.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// The name used by the assembler, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        [
            "zero",
            "c0",
            "c1",
            "fog",
            "v0",
            "v1",
            "reserved6",
            "reserved7",
            "t0",
            "t1",
            "t2",
            "t3",
            "r0",
            "r1",
            "v1r0",
            "ef",
        ][self.index()]
    }
}

/// Which components an input takes: bit 4 of its byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Bit clear: RGB in an RGB portion, blue in an alpha portion and in G.
    Colour,
    /// Bit set: alpha, replicated in an RGB portion.
    Alpha,
}

/// What is done to each component that an input reads: bits 7:5 of its byte. The formulas
/// are the GL specification's table 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mapping {
    /// max(0, e)
    UnsignedIdentity = 0,
    /// 1 - min(max(0, e), 1)
    UnsignedInvert = 1,
    /// 2 max(0, e) - 1
    ExpandNormal = 2,
    /// 1 - 2 max(0, e)
    ExpandNegate = 3,
    /// max(0, e) - 1/2
    HalfBiasNormal = 4,
    /// 1/2 - max(0, e)
    HalfBiasNegate = 5,
    /// e
    SignedIdentity = 6,
    /// -e
    SignedNegate = 7,
}

impl Mapping {
    /// All eight, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::UnsignedIdentity,
        Self::UnsignedInvert,
        Self::ExpandNormal,
        Self::ExpandNegate,
        Self::HalfBiasNormal,
        Self::HalfBiasNegate,
        Self::SignedIdentity,
        Self::SignedNegate,
    ];
}

/// One input byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// The register that is read.
    pub register: Register,
    /// Which of its components.
    pub channel: Channel,
    /// What is done to them.
    pub mapping: Mapping,
}

impl Input {
    /// Decodes the low eight bits of `bits`. Every byte has a meaning.
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self {
            register: Register::from_bits(bits),
            channel: if bits & 0x10 == 0 {
                Channel::Colour
            } else {
                Channel::Alpha
            },
            mapping: Mapping::ALL[(bits >> 5 & 7) as usize],
        }
    }

    /// The input's byte.
    #[must_use]
    pub fn to_bits(self) -> u32 {
        self.register as u32 | (self.channel as u32) << 4 | (self.mapping as u32) << 5
    }
}

/// How a portion multiplies two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// Component by component.
    Componentwise,
    /// (r + g) + b of the component products, replicated. RGB portions only.
    Dot,
}

/// What a portion's third result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Third {
    /// AB + CD
    Sum,
    /// CD where the mux condition holds, else AB.
    Mux,
}

/// Whether a product's blue goes to its destination's alpha as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlueToAlpha {
    /// Alpha is left alone.
    Off,
    /// The blue of the result, after operation and clamp, is written to alpha.
    On,
}

/// What is done to each of a portion's results before it is clamped to [-1, 1]: bits
/// 17:15 of the output word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OutputOp {
    /// x
    Identity = 0,
    /// x - 1/2
    Bias = 1,
    /// 2 x
    Scale2 = 2,
    /// 2 (x - 1/2)
    BiasScale2 = 3,
    /// 4 x
    Scale4 = 4,
    /// x / 2
    Half = 6,
}

impl OutputOp {
    /// The six operations that have a meaning.
    pub const ALL: [Self; 6] = [
        Self::Identity,
        Self::Bias,
        Self::Scale2,
        Self::BiasScale2,
        Self::Scale4,
        Self::Half,
    ];

    /// The operation with this number; 5 and 7 have no agreed meaning.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|op| *op as u32 == bits & 7)
    }
}

/// A portion of a general stage: four inputs, three results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Portion {
    /// Inputs A, B, C, D.
    pub inputs: [Input; 4],
    /// How A and B are multiplied.
    pub ab: Product,
    /// How C and D are multiplied.
    pub cd: Product,
    /// What the third result is.
    pub third: Third,
    /// What is done to all three results.
    pub op: OutputOp,
    /// Where AB goes; [`Register::Zero`] discards it.
    pub ab_to: Register,
    /// Where CD goes.
    pub cd_to: Register,
    /// Where the third result goes.
    pub third_to: Register,
    /// AB's blue to alpha. RGB portions only.
    pub ab_blue: BlueToAlpha,
    /// CD's blue to alpha. RGB portions only.
    pub cd_blue: BlueToAlpha,
}

impl Portion {
    /// Decodes an input and an output word that were admitted. An operation without
    /// meaning reads as the identity; admission declines it.
    #[must_use]
    pub fn from_words(input: u32, output: u32) -> Self {
        let dot = |bit| {
            if output & bit == 0 {
                Product::Componentwise
            } else {
                Product::Dot
            }
        };
        let blue = |bit| {
            if output & bit == 0 {
                BlueToAlpha::Off
            } else {
                BlueToAlpha::On
            }
        };
        Self {
            inputs: [24, 16, 8, 0].map(|shift| Input::from_bits(input >> shift)),
            ab: dot(AB_DOT),
            cd: dot(CD_DOT),
            third: if output & MUX == 0 {
                Third::Sum
            } else {
                Third::Mux
            },
            op: OutputOp::from_bits(output >> 15).unwrap_or(OutputOp::Identity),
            cd_to: Register::from_bits(output),
            ab_to: Register::from_bits(output >> 4),
            third_to: Register::from_bits(output >> 8),
            ab_blue: blue(AB_BLUE_TO_ALPHA),
            cd_blue: blue(CD_BLUE_TO_ALPHA),
        }
    }

    /// The portion's input and output word.
    #[must_use]
    pub fn to_words(self) -> (u32, u32) {
        let [a, b, c, d] = self.inputs.map(Input::to_bits);
        let set = |on: bool, bit: u32| if on { bit } else { 0 };
        let output = self.cd_to as u32
            | (self.ab_to as u32) << 4
            | (self.third_to as u32) << 8
            | set(self.cd == Product::Dot, CD_DOT)
            | set(self.ab == Product::Dot, AB_DOT)
            | set(self.third == Third::Mux, MUX)
            | (self.op as u32) << 15
            | set(self.cd_blue == BlueToAlpha::On, CD_BLUE_TO_ALPHA)
            | set(self.ab_blue == BlueToAlpha::On, AB_BLUE_TO_ALPHA);
        (a << 24 | b << 16 | c << 8 | d, output)
    }
}

/// Which bit of R0.a the mux looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MuxSelector {
    /// Bit 0 of R0.a as an eight-bit number.
    Lsb,
    /// R0.a >= 1/2.
    Msb,
}

/// Where a general stage finds a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConstantScope {
    /// Every stage reads the constant of stage 0.
    Shared,
    /// Every stage has its own.
    PerStage,
}

/// The final combiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FinalCombiner {
    /// Inputs A to G.
    pub inputs: [Input; 7],
    /// What V1 contributes to the sum: itself or its complement.
    pub v1: SumTerm,
    /// What R0 contributes to the sum.
    pub r0: SumTerm,
    /// The sum's upper end.
    pub sum: SumRange,
}

/// What a register contributes to V1R0_SUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumTerm {
    /// max(0, e)
    Plain,
    /// 1 - min(max(0, e), 1)
    Complement,
}

/// The upper end of V1R0_SUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumRange {
    /// It may reach 2.
    Open,
    /// It is clamped to 1.
    Clamped,
}

/// The words of one general stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StageWords {
    /// RGB inputs.
    pub rgb_in: u32,
    /// Alpha inputs.
    pub alpha_in: u32,
    /// RGB outputs.
    pub rgb_out: u32,
    /// Alpha outputs.
    pub alpha_out: u32,
}

/// An admitted combiner program. Words of disabled stages are zero; every other bit is as
/// the guest wrote it, or as [`Program::canonical`] left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    pub(crate) control: u32,
    pub(crate) stages: [StageWords; MAX_STAGES],
    pub(crate) final_abcd: u32,
    pub(crate) final_efg: u32,
}

impl Program {
    /// Enabled general stages, 0 to 8.
    #[must_use]
    pub fn stage_count(&self) -> usize {
        ((self.control & 0xFF) as usize).min(MAX_STAGES)
    }

    /// The enabled stages' words.
    #[must_use]
    pub fn stage_words(&self) -> &[StageWords] {
        &self.stages[..self.stage_count()]
    }

    /// The RGB and the alpha portion of an enabled stage.
    #[must_use]
    pub fn stages(&self) -> impl DoubleEndedIterator<Item = [Portion; 2]> {
        self.stage_words().iter().map(|words| {
            [
                Portion::from_words(words.rgb_in, words.rgb_out),
                Portion::from_words(words.alpha_in, words.alpha_out),
            ]
        })
    }

    /// Which bit of R0.a the mux looks at.
    #[must_use]
    pub fn mux_selector(&self) -> MuxSelector {
        if self.control & MUX_MSB == 0 {
            MuxSelector::Lsb
        } else {
            MuxSelector::Msb
        }
    }

    /// Where C0 (0) or C1 (1) is found.
    #[must_use]
    pub fn constant_scope(&self, constant: usize) -> ConstantScope {
        let bit = if constant == 0 { UNIQUE_C0 } else { UNIQUE_C1 };
        if self.control & bit == 0 {
            ConstantScope::Shared
        } else {
            ConstantScope::PerStage
        }
    }

    /// The final combiner.
    #[must_use]
    pub fn final_combiner(&self) -> FinalCombiner {
        let input = |word: u32, shift: u32| Input::from_bits(word >> shift);
        let term = |bit| {
            if self.final_efg & bit == 0 {
                SumTerm::Plain
            } else {
                SumTerm::Complement
            }
        };
        FinalCombiner {
            inputs: [
                input(self.final_abcd, 24),
                input(self.final_abcd, 16),
                input(self.final_abcd, 8),
                input(self.final_abcd, 0),
                input(self.final_efg, 24),
                input(self.final_efg, 16),
                input(self.final_efg, 8),
            ],
            v1: term(COMPLEMENT_V1),
            r0: term(COMPLEMENT_R0),
            sum: if self.final_efg & CLAMP_SUM == 0 {
                SumRange::Open
            } else {
                SumRange::Clamped
            },
        }
    }

    /// Writes the program's words into `state`: the inverse of decoding. Words of disabled
    /// stages and all that is not program are left alone.
    pub fn encode_into(&self, state: &mut RawState) {
        state.combine_control = self.control;
        for (i, words) in self.stage_words().iter().enumerate() {
            state.rgb_inputs[i] = words.rgb_in;
            state.alpha_inputs[i] = words.alpha_in;
            state.rgb_outputs[i] = words.rgb_out;
            state.alpha_outputs[i] = words.alpha_out;
        }
        state.final_abcd = self.final_abcd;
        state.final_efg = self.final_efg;
    }

    /// Registers that some enabled stage or the final combiner reads, by number; the mux's
    /// own reading of R0.a and the final sum's of V1 and R0 are included.
    #[must_use]
    pub fn registers_read(&self) -> u16 {
        let mut read = 0;
        let mut word = |word: u32| {
            for shift in [0, 8, 16, 24] {
                read |= 1_u16 << (word >> shift & 0xF);
            }
        };
        for stage in self.stage_words() {
            word(stage.rgb_in);
            word(stage.alpha_in);
        }
        word(self.final_abcd);
        word(self.final_efg & 0xFFFF_FF00);
        let muxed = self
            .stage_words()
            .iter()
            .any(|stage| (stage.rgb_out | stage.alpha_out) & MUX != 0);
        if muxed {
            read |= 1 << Register::R0 as u16;
        }
        if read & 1 << Register::V1R0Sum as u16 != 0 {
            read |= 1 << Register::V1 as u16 | 1 << Register::R0 as u16;
        }
        read
    }
}
