//! Operands: a register or constant as a vector whose RGB is what the RGB portion reads and
//! whose alpha is what the alpha portion reads, mapped.

use super::{Evaluator, RegisterStorage};
use crate::emit::Type;
use crate::packet::{
    FOG_COLOUR, MAPPING_TABLE, OPERAND_ALPHA, OPERAND_ALPHA_APART, OPERAND_ALPHA_MAPPING,
    OPERAND_BLUE, OPERAND_MAPS, OPERAND_NOT_PLAIN, OPERAND_RGB_MAPPING, OPERAND_SPLAT,
    SOURCE_CONSTANT, SOURCE_FOG, SOURCE_PRODUCT, SOURCE_REGISTERS, SOURCE_SUM,
};
use spirv::{GlslStd450Op, Op};

impl Evaluator {
    /// An operand with its channels and mappings.
    pub(super) fn operand(&mut self, word: u32) -> u32 {
        let vector = self.source(word, 0);
        let special = self.any(word, OPERAND_NOT_PLAIN);
        self.choose(
            special,
            Type::Vec4,
            |code| {
                let vector = code.channels(word, vector);
                code.mapped(word, vector)
            },
            |code| code.b.max(Type::Vec4, vector, 0.0),
        )
    }

    /// The vector that the source field at `shift` names: a register, or what is read only.
    pub(super) fn source(&mut self, word: u32, shift: u32) -> u32 {
        let source = self.bits(word, shift, 0xF);
        let (of, zero) = (Type::Vec4, self.b.splat(Type::Vec4, 0.0));
        if self.form.registers == RegisterStorage::Switch {
            return self.value_case(of, source, SOURCE_PRODUCT as usize + 1, zero, |code, i| {
                if i < SOURCE_REGISTERS {
                    code.registers.load(&mut code.b, i)
                } else {
                    code.read_only(i as u32, word, shift)
                }
            });
        }
        let eight = self.b.uint(SOURCE_REGISTERS as u32);
        let written = self.b.typed(Op::ULessThan, Type::Bool, &[source, eight]);
        self.choose(
            written,
            of,
            |code| code.read_slot(source),
            |code| {
                let first = code.bits(source, 0, 7);
                let count = SOURCE_PRODUCT as usize + 1 - SOURCE_REGISTERS;
                code.value_case(of, first, count, zero, |code, i| {
                    code.read_only((i + SOURCE_REGISTERS) as u32, word, shift)
                })
            },
        )
    }

    fn read_only(&mut self, source: u32, word: u32, shift: u32) -> u32 {
        match source {
            SOURCE_CONSTANT => {
                let index = self.bits(word, shift + 4, 0x1F);
                self.inputs.constant(&mut self.b, index)
            }
            SOURCE_FOG => {
                let index = self.b.uint(FOG_COLOUR as u32);
                let colour = self.inputs.constant(&mut self.b, index);
                let fog = self.inputs.fog;
                self.b
                    .typed(Op::CompositeInsert, Type::Vec4, &[fog, colour, 3])
            }
            SOURCE_SUM => self.b.load(Type::Vec4, self.sum),
            _ => self.b.load(Type::Vec4, self.product),
        }
    }

    /// Alpha three times for RGB; another register or blue for alpha.
    fn channels(&mut self, word: u32, vector: u32) -> u32 {
        let of = Type::Vec4;
        let apart = self.any(word, OPERAND_ALPHA_APART);
        let for_alpha =
            self.value_where(apart, of, vector, |code| code.source(word, OPERAND_ALPHA));
        let blue = self.any(word, OPERAND_BLUE);
        let alpha = {
            let extract = |code: &mut Self, i| {
                code.b
                    .typed(Op::CompositeExtract, Type::Float, &[for_alpha, i])
            };
            let (blue_value, alpha) = (extract(self, 2), extract(self, 3));
            self.b
                .typed(Op::Select, Type::Float, &[blue, blue_value, alpha])
        };
        let splats = self.any(word, OPERAND_SPLAT);
        let rgb = self.value_where(splats, of, vector, |code| {
            code.b
                .typed(Op::VectorShuffle, of, &[vector, vector, 3, 3, 3, 3])
        });
        self.b.typed(Op::CompositeInsert, of, &[alpha, rgb, 3])
    }

    /// offset + scale * min(max(e, low), high) with the numbers of both portions. Scales are
    /// powers of two, so the product is exact and the sum rounds as the formula does.
    fn mapped(&mut self, word: u32, e: u32) -> u32 {
        let of = Type::Vec4;
        let maps = self.any(word, OPERAND_MAPS);
        self.choose(
            maps,
            of,
            |code| {
                let rgb = code.mapping(word, OPERAND_RGB_MAPPING);
                let alpha = code.mapping(word, OPERAND_ALPHA_MAPPING);
                let [low, high, scale, offset] = [0, 1, 2, 3].map(|i| {
                    let parts = [rgb[i], rgb[i], rgb[i], alpha[i]];
                    code.b.typed(Op::CompositeConstruct, of, &parts)
                });
                let limited = code.b.glsl(GlslStd450Op::FMax, of, &[e, low]);
                let limited = code.b.glsl(GlslStd450Op::FMin, of, &[limited, high]);
                let scaled = code.b.typed(Op::FMul, of, &[limited, scale]);
                code.b.typed(Op::FAdd, of, &[offset, scaled])
            },
            |code| code.b.max(of, e, 0.0),
        )
    }

    fn mapping(&mut self, word: u32, shift: u32) -> [u32; 4] {
        let mapping = self.bits(word, shift, 7);
        let first = self.b.uint(MAPPING_TABLE as u32);
        let index = self.b.typed(Op::IAdd, Type::Uint, &[first, mapping]);
        self.program_vector(index)
            .map(|word| self.b.typed(Op::Bitcast, Type::Float, &[word]))
    }
}
