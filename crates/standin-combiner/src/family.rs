//! The combiners as an evaluator of the generic family.

use crate::admit::{Admitted, Decline, admit};
use crate::emit::Interface;
use crate::evaluator::{EvaluatorForm, evaluator};
use crate::packet::{CONSTANTS_BYTES, Constants, PROGRAM_BYTES, ProgramPacket};
use crate::program::Program;
use crate::shell::{ImageShape, Shell};
use crate::specialise::specialise;
use crate::state::RawState;
use standin::evaluator::{
    Admission, BlockBinding, Evaluator, FragmentInterface, ProgramKey, ShellKey, TextureBinding,
    TextureShape,
};
use xxhash_rust::xxh3::xxh3_128;

/// Counts changes of the emitted modules, the packets and the keys.
const VERSION: u128 = 2;

/// Register combiners as an evaluator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Combiners {
    /// Which of the evaluator's variants is emitted.
    pub form: EvaluatorForm,
}

impl Program {
    /// The program's identity: a hash of its canonical words. Call it on a canonical
    /// program; two that draw the same way have the same key only then.
    #[must_use]
    pub fn key(&self) -> ProgramKey {
        let mut bytes = [0; 12 + 16 * crate::state::MAX_STAGES];
        let stages = self.stage_words();
        let words = [self.control, self.final_abcd, self.final_efg]
            .into_iter()
            .chain(
                stages
                    .iter()
                    .flat_map(|s| [s.rgb_in, s.alpha_in, s.rgb_out, s.alpha_out]),
            );
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        ProgramKey(xxh3_128(&bytes[..12 + 16 * stages.len()]))
    }
}

impl Shell {
    /// The shell's identity.
    #[must_use]
    pub fn key(self) -> ShellKey {
        ShellKey(xxh3_128(&self.to_bits().to_le_bytes()))
    }
}

impl Evaluator for Combiners {
    type State = RawState;
    type Program = Program;
    type Shell = Shell;
    type Declined = Decline;

    fn version(&self) -> u128 {
        let form = self.form;
        VERSION << 12 | (form.registers as u128) << 8 | form.shortcuts as u128
    }

    fn admit(&self, state: &RawState) -> Result<Admission<Program, Shell>, Decline> {
        let Admitted { program, shell } = admit(state)?;
        let program = program.canonical();
        Ok(Admission {
            program,
            program_key: program.key(),
            shell,
            shell_key: shell.key(),
        })
    }

    fn interface(&self, shell: &Shell) -> FragmentInterface {
        let textures = shell
            .textures
            .into_iter()
            .zip(Interface::TEXTURES..)
            .filter_map(|(mode, binding)| {
                let shape = match mode.image()? {
                    ImageShape::Flat => TextureShape::Flat,
                    ImageShape::Volume => TextureShape::Volume,
                    ImageShape::Cube => TextureShape::Cube,
                };
                Some(TextureBinding { binding, shape })
            });
        FragmentInterface {
            set: Interface::SET,
            program: BlockBinding {
                binding: Interface::PROGRAM,
                bytes: PROGRAM_BYTES,
            },
            constants: BlockBinding {
                binding: Interface::CONSTANTS,
                bytes: CONSTANTS_BYTES,
            },
            textures: textures.collect(),
        }
    }

    fn generic_module(&self, shell: &Shell) -> Vec<u32> {
        evaluator(shell, self.form)
    }

    fn exact_module(&self, program: &Program, shell: &Shell) -> Vec<u32> {
        specialise(&Admitted {
            program: *program,
            shell: *shell,
        })
    }

    fn write_program(&self, program: &Program, packet: &mut Vec<u8>) {
        packet.extend_from_slice(&ProgramPacket::new(program).to_bytes());
    }

    fn write_constants(&self, state: &RawState, block: &mut Vec<u8>) {
        block.extend_from_slice(&Constants::from_state(state).to_bytes());
    }
}
