//! A SPIR-V module as a list of instructions over its words.
//!
//! Instructions are kept as they are, so those that this crate does not know pass through untouched. Nothing in the
//! module is trusted: lengths are checked here, and operands are read through functions that may find them missing.

use crate::Declined;

const MAGIC: u32 = 0x0723_0203;
/// The universal limit on ids (SPIR-V specification, "Universal Limits").
const MAX_BOUND: u32 = 0x3f_ffff;

/// One instruction: its opcode and the words after the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// The opcode's number.
    pub opcode: u16,
    /// The operands, result ids among them.
    pub operands: &'a [u32],
}

impl Instruction<'_> {
    /// Operand `index`, or 0, which is no id, where the instruction is too short.
    #[must_use]
    pub fn operand(&self, index: usize) -> u32 {
        self.operands.get(index).copied().unwrap_or(0)
    }

    /// Whether this is the instruction `op`.
    #[must_use]
    pub fn is(&self, op: spirv::Op) -> bool {
        u32::from(self.opcode) == op as u32
    }

    /// Appends the instruction to `words`.
    pub fn write_to(&self, words: &mut Vec<u32>) {
        write_instruction(words, self.opcode, self.operands);
    }
}

/// Appends an instruction.
pub(crate) fn write_instruction(words: &mut Vec<u32>, opcode: u16, operands: &[u32]) {
    words.push((operands.len() as u32 + 1) << 16 | u32::from(opcode));
    words.extend_from_slice(operands);
}

/// A module whose instructions lie inside it.
#[derive(Debug)]
pub struct Module<'a> {
    /// The version word: 0x00MMmm00.
    pub version: u32,
    /// The five header words.
    pub header: [u32; 5],
    /// The instructions in order.
    pub instructions: Vec<Instruction<'a>>,
}

impl<'a> Module<'a> {
    /// Cuts `words` into instructions.
    ///
    /// # Errors
    /// [`Declined::Malformed`] where the header or an instruction's length is wrong.
    pub fn parse(words: &'a [u32]) -> Result<Self, Declined> {
        let Some((&header, mut rest)) = words.split_first_chunk::<5>() else {
            return Err(Declined::malformed("the header is cut short", words.len()));
        };
        if header[0] != MAGIC {
            return Err(Declined::malformed(
                "this is not SPIR-V in this machine's byte order",
                0,
            ));
        }
        if header[3] > MAX_BOUND {
            return Err(Declined::malformed(
                "the id bound is over SPIR-V's limit",
                3,
            ));
        }
        let mut instructions = Vec::with_capacity(rest.len() / 3);
        while let Some(&first) = rest.first() {
            let length = (first >> 16) as usize;
            if length == 0 || length > rest.len() {
                return Err(Declined::malformed(
                    "an instruction's length is wrong",
                    words.len() - rest.len(),
                ));
            }
            let (instruction, after) = rest.split_at(length);
            instructions.push(Instruction {
                opcode: first as u16,
                operands: &instruction[1..],
            });
            rest = after;
        }
        Ok(Self {
            version: header[1],
            header,
            instructions,
        })
    }

    /// The index of the first `OpFunction`; the number of instructions where there is none.
    #[must_use]
    pub fn first_function(&self) -> usize {
        self.position(spirv::Op::Function)
    }

    fn position(&self, op: spirv::Op) -> usize {
        self.instructions
            .iter()
            .position(|instruction| instruction.is(op))
            .unwrap_or(self.instructions.len())
    }
}

/// A module's words from its bytes, in either byte order.
///
/// # Errors
/// [`Declined::Malformed`] where the size is not a whole number of words or the magic number is not there.
pub fn words_from_bytes(bytes: &[u8]) -> Result<Vec<u32>, Declined> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Declined::malformed(
            "the size is not a whole number of words",
            chunks.len(),
        ));
    }
    let little = chunks
        .first()
        .is_some_and(|first| u32::from_le_bytes(*first) == MAGIC);
    let big = chunks
        .first()
        .is_some_and(|first| u32::from_be_bytes(*first) == MAGIC);
    if !little && !big {
        return Err(Declined::malformed("there is no SPIR-V magic number", 0));
    }
    Ok(chunks
        .iter()
        .map(|chunk| {
            if little {
                u32::from_le_bytes(*chunk)
            } else {
                u32::from_be_bytes(*chunk)
            }
        })
        .collect())
}

/// A literal string at the start of `operands`, and the words it takes. Bytes that are not UTF-8 are replaced.
#[must_use]
pub fn literal_string(operands: &[u32]) -> (String, usize) {
    let mut bytes = Vec::new();
    for (index, word) in operands.iter().enumerate() {
        for byte in word.to_le_bytes() {
            if byte == 0 {
                return (String::from_utf8_lossy(&bytes).into_owned(), index + 1);
            }
            bytes.push(byte);
        }
    }
    (String::from_utf8_lossy(&bytes).into_owned(), operands.len())
}

/// A string as a literal's words.
pub(crate) fn string_words(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
        .chunks(4)
        .map(|chunk| (0..chunk.len()).fold(0, |word, i| word | u32::from(chunk[i]) << (8 * i)))
        .collect()
}
