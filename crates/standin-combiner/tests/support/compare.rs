//! Oracle, specialised and generic side by side, and what a mismatch prints.

use super::interpreter::{Bound, Module, Quirks};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::oracle::{Fate, Float, FragmentInputs, Outcome, evaluate};
use standin_combiner::packet::{Constants, ProgramPacket};
use standin_combiner::shell::Shell;
use standin_combiner::specialise::specialise;
use standin_combiner::state::RawState;

/// The colour's bits, or nothing for a discarded fragment: what all paths must agree on.
pub type Bits = Option<[u32; 4]>;

pub fn bits(outcome: &Outcome) -> Bits {
    (outcome.fate == Fate::Kept).then(|| outcome.colour.map(f32::to_bits))
}

pub fn oracle(admitted: &Admitted, constants: &Constants, inputs: &FragmentInputs) -> Bits {
    let Admitted { program, shell } = admitted;
    bits(&evaluate(&Float, program, shell, constants, inputs))
}

/// A shell's evaluator, parsed, in one form.
pub fn generic_module(shell: &Shell, form: EvaluatorForm) -> Module {
    Module::parse(&evaluator(shell, form))
}

/// Compares the three paths for one state. The GPU paths run the canonical program, the
/// oracle runs it as it was written.
pub fn assert_equal(state: &RawState, inputs: &[FragmentInputs], generic: &Module, quirks: Quirks) {
    let admitted = admit(state).unwrap_or_else(|reason| panic!("{reason}\n{state:#010x?}"));
    let canonical = Admitted {
        program: admitted.program.canonical(),
        shell: admitted.shell,
    };
    let constants = Constants::from_state(state);
    let specialised = Module::parse(&specialise(&canonical));
    let packet = ProgramPacket::new(&canonical.program).to_bytes();
    let block = constants.to_bytes();
    for inputs in inputs {
        let bound = Bound {
            program: &packet,
            constants: &block,
            inputs,
        };
        let right = oracle(&admitted, &constants, inputs);
        let special = specialised.run(&bound, quirks);
        let general = generic.run(&bound, quirks);
        if right != special || right != general {
            panic!("{}", mismatch(state, inputs, right, special, general));
        }
    }
}

pub fn mismatch(
    state: &RawState,
    inputs: &FragmentInputs,
    oracle: Bits,
    special: Bits,
    general: Bits,
) -> String {
    format!(
        "the paths differ\n{state:#010x?}\n{inputs:?}\noracle      {oracle:x?}\nspecialised {special:x?}\ngeneric     {general:x?}"
    )
}
