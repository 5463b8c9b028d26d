//! The program block: the program's words taken apart for the evaluator, once. What no
//! result needs is gone, results that another overwrites are not written, and operands of
//! the two portions that read the same register are one.

use super::{FINAL_C0, FINAL_C1};
use crate::program::{
    BlueToAlpha, Channel, ConstantScope, Input, Mapping, MuxSelector, OutputOp, Portion, Product,
    Program, Register, SumRange, SumTerm, Third,
};
use crate::state::MAX_STAGES;

/// Size of the program block in bytes.
pub const PROGRAM_BYTES: usize = 16 * PROGRAM_VECTORS;

/// Header, final combiner, stages, table of input mappings.
pub(crate) const PROGRAM_VECTORS: usize = MAPPING_TABLE + 8;
/// Where the stages start: two vectors each.
pub(crate) const FIRST_STAGE: usize = 3;
/// Where the table of input mappings starts: eight vectors of low, high, scale, offset.
pub(crate) const MAPPING_TABLE: usize = FIRST_STAGE + 2 * MAX_STAGES;

/// offset + scale * min(max(e, low), high) for each input mapping.
const MAPPINGS: [[f32; 4]; 8] = {
    const LOW: f32 = f32::MIN;
    const HIGH: f32 = f32::MAX;
    [
        [0.0, HIGH, 1.0, 0.0],
        [0.0, 1.0, -1.0, 1.0],
        [0.0, HIGH, 2.0, -1.0],
        [0.0, HIGH, -2.0, 1.0],
        [0.0, HIGH, 1.0, -0.5],
        [0.0, HIGH, -1.0, 0.5],
        [LOW, HIGH, 1.0, 0.0],
        [LOW, HIGH, -1.0, 0.0],
    ]
};

/// Header flag: the mux looks at the most significant bit.
pub(crate) const HEADER_MUX_MSB: u32 = 1;
/// Header flag: the final combiner reads V1R0_SUM.
pub(crate) const HEADER_SUM: u32 = 1 << 1;
/// Header flag: the final combiner reads EF_PROD.
pub(crate) const HEADER_PRODUCT: u32 = 1 << 2;
/// Header flag: the final RGB is more than D.
pub(crate) const HEADER_BLEND: u32 = 1 << 3;
/// Header flag: R0 enters V1R0_SUM as 1 - R0.
pub(crate) const HEADER_COMPLEMENT_R0: u32 = 1 << 4;
/// Header flag: V1 enters V1R0_SUM as 1 - V1.
pub(crate) const HEADER_COMPLEMENT_V1: u32 = 1 << 5;
/// Header flag: V1R0_SUM is at most 1.
pub(crate) const HEADER_CLAMP_SUM: u32 = 1 << 6;

/// The registers that a stage can write, in the order of their slots.
pub(crate) const WRITABLE: [Register; SOURCE_REGISTERS] = [
    Register::V0,
    Register::V1,
    Register::T0,
    Register::T1,
    Register::T2,
    Register::T3,
    Register::R0,
    Register::R1,
];
pub(crate) const V1_SLOT: usize = 1;
pub(crate) const R0_SLOT: usize = 6;

/// Sources below this are slots.
pub(crate) const SOURCE_REGISTERS: usize = 8;
/// A vector of the constants block: its index is in the five bits above the source.
pub(crate) const SOURCE_CONSTANT: u32 = 8;
/// Fog colour and factor.
pub(crate) const SOURCE_FOG: u32 = 9;
/// V1R0_SUM.
pub(crate) const SOURCE_SUM: u32 = 10;
/// EF_PROD.
pub(crate) const SOURCE_PRODUCT: u32 = 11;
/// Zeroes.
const SOURCE_ZERO: u32 = 12;

/// Where an operand word has its alpha source; its RGB source is at 0.
pub(crate) const OPERAND_ALPHA: u32 = 9;
pub(crate) const OPERAND_RGB_MAPPING: u32 = 18;
pub(crate) const OPERAND_ALPHA_MAPPING: u32 = 21;
/// RGB is the source's alpha three times.
pub(crate) const OPERAND_SPLAT: u32 = 1 << 24;
/// Alpha is its source's blue.
pub(crate) const OPERAND_BLUE: u32 = 1 << 25;
/// Alpha has a source of its own.
pub(crate) const OPERAND_ALPHA_APART: u32 = 1 << 26;
/// One of the mappings is not max(0, e).
pub(crate) const OPERAND_MAPS: u32 = 1 << 27;
pub(crate) const OPERAND_NOT_PLAIN: u32 =
    OPERAND_SPLAT | OPERAND_BLUE | OPERAND_ALPHA_APART | OPERAND_MAPS;

pub(crate) const STAGE_AB_DOT: u32 = 1;
pub(crate) const STAGE_CD_DOT: u32 = 1 << 1;
pub(crate) const STAGE_RGB_MUX: u32 = 1 << 2;
pub(crate) const STAGE_ALPHA_MUX: u32 = 1 << 3;
pub(crate) const STAGE_MUX: u32 = STAGE_RGB_MUX | STAGE_ALPHA_MUX;
/// CD or the third result is needed.
pub(crate) const STAGE_MORE: u32 = 1 << 4;
/// The third result is needed.
pub(crate) const STAGE_THIRD: u32 = 1 << 5;
/// One of the operations is not x.
pub(crate) const STAGE_OPERATES: u32 = 1 << 6;
pub(crate) const STAGE_RGB_BIAS: u32 = 1 << 7;
pub(crate) const STAGE_ALPHA_BIAS: u32 = 1 << 8;
/// AB of plain operands, written as a whole, is all there is.
pub(crate) const STAGE_PRODUCT_ONLY: u32 = 1 << 9;

/// Where a result's destinations are in a stage's word of them, and its flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultFields {
    pub(crate) rgb: u32,
    pub(crate) alpha: u32,
    pub(crate) blue: Option<u32>,
    /// Stage flag: something is written.
    pub(crate) writes: u32,
    /// Stage flag: RGB and alpha go to one register, blue to none.
    pub(crate) whole: u32,
}

/// AB, CD and the third result.
pub(crate) const RESULTS: [ResultFields; 3] = [
    ResultFields {
        rgb: 0,
        alpha: 4,
        blue: Some(8),
        writes: 1 << 10,
        whole: 1 << 11,
    },
    ResultFields {
        rgb: 12,
        alpha: 16,
        blue: Some(20),
        writes: 1 << 12,
        whole: 1 << 13,
    },
    ResultFields {
        rgb: 24,
        alpha: 28,
        blue: None,
        writes: 1 << 14,
        whole: 1 << 15,
    },
];

/// A destination that is none.
pub(crate) const NO_SLOT: u32 = 8;

/// The static half of the control packet: the program. It is made once for each program
/// and holds nothing that the evaluator would have to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPacket(pub(crate) [u32; PROGRAM_BYTES / 4]);

impl ProgramPacket {
    /// The packet of a program. It does not matter whether the program is canonical.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut words = [0; PROGRAM_BYTES / 4];
        let mut read = Reads::default();
        for (i, ([rgb, alpha], packed)) in program
            .stages()
            .zip(words[4 * FIRST_STAGE..].chunks_exact_mut(8))
            .enumerate()
        {
            let scope = [0, 1].map(|constant| match program.constant_scope(constant) {
                ConstantScope::Shared => 0,
                ConstantScope::PerStage => i as u32,
            });
            let constants = [scope[0], 8 + scope[1]];
            packed.copy_from_slice(&stage(&rgb, &alpha, constants, &mut read));
        }
        let flags = final_combiner(program, &mut words[4..12], &mut read);
        words[0] = program.stage_count() as u32;
        words[1] = flags;
        words[2] = read.wanted();
        for (to, value) in words[4 * MAPPING_TABLE..]
            .iter_mut()
            .zip(MAPPINGS.as_flattened())
        {
            *to = value.to_bits();
        }
        Self(words)
    }

    /// The packet's bytes, words little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; PROGRAM_BYTES] {
        let mut bytes = [0; PROGRAM_BYTES];
        for (to, word) in bytes.chunks_exact_mut(4).zip(self.0) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// What is read before it is written, RGB and alpha, as bits by register number.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    read: [u32; 2],
    written: [u32; 2],
}

const RGB: usize = 0;
const ALPHA: usize = 1;

impl Reads {
    fn read(&mut self, register: Register, part: usize) {
        self.read[part] |= 1 << register as u32 & !self.written[part];
    }

    fn write(&mut self, slot: u32, part: usize) {
        if let Some(register) = WRITABLE.get(slot as usize) {
            self.written[part] |= 1 << *register as u32;
        }
    }

    /// The registers to fill. R0's alpha comes from T0.
    fn wanted(self) -> u32 {
        let [rgb, alpha] = self.read;
        let r0 = alpha >> Register::R0 as u32 & 1;
        rgb | alpha | r0 << Register::T0 as u32
    }
}

fn bit(condition: bool, bit: u32) -> u32 {
    if condition { bit } else { 0 }
}

fn slot(register: Register) -> u32 {
    let slot = WRITABLE
        .into_iter()
        .position(|writable| writable == register);
    slot.map_or(NO_SLOT, |slot| slot as u32)
}

/// A source and, where it is a constant, the index above it.
fn source(register: Register, constants: [u32; 2]) -> u32 {
    match register {
        Register::C0 => SOURCE_CONSTANT | constants[0] << 4,
        Register::C1 => SOURCE_CONSTANT | constants[1] << 4,
        Register::Fog => SOURCE_FOG,
        Register::V1R0Sum => SOURCE_SUM,
        Register::EfProduct => SOURCE_PRODUCT,
        _ => match slot(register) {
            NO_SLOT => SOURCE_ZERO,
            slot => slot,
        },
    }
}

/// An operand word. A portion that needs none takes what the other reads.
fn operand(rgb: Option<Input>, alpha: Option<Input>, constants: [u32; 2], read: &mut Reads) -> u32 {
    let part = |channel| match channel {
        Channel::Colour => RGB,
        Channel::Alpha => ALPHA,
    };
    for input in [rgb, alpha].into_iter().flatten() {
        read.read(input.register, part(input.channel));
    }
    let zero = Input {
        register: Register::Zero,
        channel: Channel::Colour,
        mapping: Mapping::UnsignedIdentity,
    };
    let either = rgb.or(alpha).unwrap_or(zero);
    // What nobody takes is read the plain way.
    let rgb = rgb.unwrap_or(Input {
        channel: Channel::Colour,
        ..either
    });
    let alpha = alpha.unwrap_or(Input {
        channel: Channel::Alpha,
        ..either
    });
    let [rgb_source, alpha_source] = [rgb, alpha].map(|input| source(input.register, constants));
    let is_zero = |source| source == SOURCE_ZERO;
    let maps =
        rgb.mapping != Mapping::UnsignedIdentity || alpha.mapping != Mapping::UnsignedIdentity;
    rgb_source
        | alpha_source << OPERAND_ALPHA
        | (rgb.mapping as u32) << OPERAND_RGB_MAPPING
        | (alpha.mapping as u32) << OPERAND_ALPHA_MAPPING
        | bit(
            rgb.channel == Channel::Alpha && !is_zero(rgb_source),
            OPERAND_SPLAT,
        )
        | bit(
            alpha.channel == Channel::Colour && !is_zero(alpha_source),
            OPERAND_BLUE,
        )
        | bit(rgb_source != alpha_source, OPERAND_ALPHA_APART)
        | bit(maps, OPERAND_MAPS)
}

/// Where a portion's results go in the end.
#[derive(Clone, Copy, Debug)]
struct Destinations {
    rgb: [u32; 3],
    alpha: [u32; 3],
    blue: [u32; 2],
}

/// Destinations without those that a later write hides. The order is that of
/// `docs/combiner.md`: of two writes to one part of a register the later one stays.
fn destinations(rgb: &Portion, alpha: &Portion) -> Destinations {
    let blue = |flag, to| match flag {
        BlueToAlpha::On => slot(to),
        BlueToAlpha::Off => NO_SLOT,
    };
    let mut rgb_to = [rgb.ab_to, rgb.cd_to, rgb.third_to].map(slot);
    let mut alpha_to = [
        blue(rgb.ab_blue, rgb.ab_to),
        blue(rgb.cd_blue, rgb.cd_to),
        slot(alpha.ab_to),
        slot(alpha.cd_to),
        slot(alpha.third_to),
    ];
    keep_last(&mut rgb_to);
    keep_last(&mut alpha_to);
    let [ab_blue, cd_blue, ab, cd, third] = alpha_to;
    Destinations {
        rgb: rgb_to,
        alpha: [ab, cd, third],
        blue: [ab_blue, cd_blue],
    }
}

fn keep_last(slots: &mut [u32]) {
    for i in 0..slots.len() {
        if slots[i + 1..].contains(&slots[i]) {
            slots[i] = NO_SLOT;
        }
    }
}

fn stage(rgb: &Portion, alpha: &Portion, constants: [u32; 2], read: &mut Reads) -> [u32; 8] {
    let to = destinations(rgb, alpha);
    let is = |slot: u32| slot != NO_SLOT;
    let third = [is(to.rgb[2]), is(to.alpha[2])];
    let product = |i: usize| {
        [
            third[RGB] || is(to.rgb[i]) || is(to.blue[i]),
            third[ALPHA] || is(to.alpha[i]),
        ]
    };
    let (ab, cd) = (product(0), product(1));
    let mut operands = [0; 4];
    for (i, operand_word) in operands.iter_mut().enumerate() {
        let needed = if i < 2 { ab } else { cd };
        *operand_word = operand(
            needed[RGB].then_some(rgb.inputs[i]),
            needed[ALPHA].then_some(alpha.inputs[i]),
            constants,
            read,
        );
    }
    let muxes = [
        third[RGB] && rgb.third == Third::Mux,
        third[ALPHA] && alpha.third == Third::Mux,
    ];
    if muxes[RGB] || muxes[ALPHA] {
        read.read(Register::R0, ALPHA);
    }
    let mut destinations = 0;
    let mut flags = 0;
    for (i, fields) in RESULTS.into_iter().enumerate() {
        let blue = to.blue.get(i).copied().unwrap_or(NO_SLOT);
        destinations |= to.rgb[i] << fields.rgb | to.alpha[i] << fields.alpha;
        if let Some(shift) = fields.blue {
            destinations |= blue << shift;
        }
        let whole = is(to.rgb[i]) && to.rgb[i] == to.alpha[i] && !is(blue);
        let writes = is(to.rgb[i]) || is(to.alpha[i]) || is(blue);
        flags |= bit(writes, fields.writes) | bit(whole, fields.whole);
        read.write(to.rgb[i], RGB);
        read.write(to.alpha[i], ALPHA);
        read.write(blue, ALPHA);
    }
    let operates = rgb.op != OutputOp::Identity || alpha.op != OutputOp::Identity;
    let more = cd[RGB] || cd[ALPHA];
    flags |= bit(ab[RGB] && rgb.ab == Product::Dot, STAGE_AB_DOT)
        | bit(cd[RGB] && rgb.cd == Product::Dot, STAGE_CD_DOT)
        | bit(muxes[RGB], STAGE_RGB_MUX)
        | bit(muxes[ALPHA], STAGE_ALPHA_MUX)
        | bit(more, STAGE_MORE)
        | bit(third[RGB] || third[ALPHA], STAGE_THIRD)
        | bit(operates, STAGE_OPERATES)
        | bit(biases(rgb.op), STAGE_RGB_BIAS)
        | bit(biases(alpha.op), STAGE_ALPHA_BIAS);
    let plain = (operands[0] | operands[1]) & OPERAND_NOT_PLAIN == 0;
    let special = STAGE_AB_DOT | STAGE_MORE | STAGE_OPERATES;
    if plain && flags & special == 0 && flags & RESULTS[0].whole != 0 {
        flags |= STAGE_PRODUCT_ONLY;
    }
    let [a, b, c, d] = operands;
    let [rgb_scale, alpha_scale] = [rgb.op, alpha.op].map(|op| scale(op).to_bits());
    [a, b, c, d, destinations, flags, rgb_scale, alpha_scale]
}

fn biases(op: OutputOp) -> bool {
    matches!(op, OutputOp::Bias | OutputOp::BiasScale2)
}

fn scale(op: OutputOp) -> f32 {
    match op {
        OutputOp::Identity | OutputOp::Bias => 1.0,
        OutputOp::Scale2 | OutputOp::BiasScale2 => 2.0,
        OutputOp::Scale4 => 4.0,
        OutputOp::Half => 0.5,
    }
}

/// Writes the operands A to F and returns the header's flags.
fn final_combiner(program: &Program, words: &mut [u32], read: &mut Reads) -> u32 {
    let last = program.final_combiner();
    let [a, b, c, d, e, f, g] = last.inputs;
    let known = |input: Input| match (input.register, input.mapping) {
        (Register::Zero, Mapping::UnsignedIdentity) => Some(0),
        (Register::Zero, Mapping::UnsignedInvert) => Some(1),
        _ => None,
    };
    // B A and C (1 - A): with both 0, D is all there is.
    let none = (known(a) == Some(0) || known(b) == Some(0))
        && (known(a) == Some(1) || known(c) == Some(0));
    let constants = [FINAL_C0 as u32, FINAL_C1 as u32];
    let mut registers = vec![d.register];
    let mut put = |i: usize, rgb: Input, alpha| {
        words[i] = operand(Some(rgb), alpha, constants, read);
    };
    put(3, d, Some(g));
    if !none {
        put(0, a, None);
        put(1, b, None);
        put(2, c, None);
        registers.extend([a, b, c].map(|input| input.register));
    }
    let product = registers.contains(&Register::EfProduct);
    if product {
        put(4, e, None);
        put(5, f, None);
    }
    let sum = registers.contains(&Register::V1R0Sum);
    if sum {
        read.read(Register::V1, RGB);
        read.read(Register::R0, RGB);
    }
    bit(program.mux_selector() == MuxSelector::Msb, HEADER_MUX_MSB)
        | bit(sum, HEADER_SUM)
        | bit(product, HEADER_PRODUCT)
        | bit(!none, HEADER_BLEND)
        | bit(last.r0 == SumTerm::Complement, HEADER_COMPLEMENT_R0)
        | bit(last.v1 == SumTerm::Complement, HEADER_COMPLEMENT_V1)
        | bit(last.sum == SumRange::Clamped, HEADER_CLAMP_SUM)
}
