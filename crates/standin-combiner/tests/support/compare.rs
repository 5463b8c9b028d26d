//! Oracle, specialised and generic side by side, and what a mismatch prints.

use super::interpreter::{Bound, Module, Quirks};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::asm::disassemble;
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::oracle::{Fate, Float, FragmentInputs, Outcome, evaluate};
use standin_combiner::packet::{Constants, ProgramPacket};
use standin_combiner::shell::Shell;
use standin_combiner::specialise::specialise;
use standin_combiner::state::{RawState, Word};
use standin_combiner::state_text::StateFile;

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
            let run =
                |state: &RawState, inputs: &FragmentInputs| three(state, inputs, generic, quirks);
            let (small, inputs) = shrink(state, inputs, |state, inputs| {
                let [right, special, general] = run(state, inputs);
                right != special || right != general
            });
            panic!("{}", mismatch(&small, &inputs, run(&small, &inputs)));
        }
    }
}

/// The results of the oracle, the specialised and the generic module.
fn three(state: &RawState, inputs: &FragmentInputs, generic: &Module, quirks: Quirks) -> [Bits; 3] {
    let admitted = admit(state).expect("only admitted states are compared");
    let constants = Constants::from_state(state);
    let packet = ProgramPacket::new(&admitted.program.canonical()).to_bytes();
    let canonical = Admitted {
        program: admitted.program.canonical(),
        shell: admitted.shell,
    };
    let bound = Bound {
        program: &packet,
        constants: &constants.to_bytes(),
        inputs,
    };
    [
        oracle(&admitted, &constants, inputs),
        Module::parse(&specialise(&canonical)).run(&bound, quirks),
        generic.run(&bound, quirks),
    ]
}

/// What a mismatch prints: the program, the inputs as a STATE file, and the three results.
pub fn mismatch(
    state: &RawState,
    inputs: &FragmentInputs,
    [right, special, general]: [Bits; 3],
) -> String {
    let text = disassemble(state).unwrap_or_else(|reason| reason.to_string());
    let file = StateFile {
        words: *state,
        inputs: *inputs,
    };
    format!(
        "the paths differ\n{text}\n{}\noracle      {right:x?}\nspecialised {special:x?}\ngeneric     {general:x?}",
        file.to_text()
    )
}

/// The state without one of its stages; later ones move up.
fn without_stage(state: &RawState, stage: usize) -> RawState {
    let mut next = *state;
    next.combine_control -= 1;
    for bank in [
        &mut next.rgb_inputs,
        &mut next.rgb_outputs,
        &mut next.alpha_inputs,
        &mut next.alpha_outputs,
        &mut next.factor0,
        &mut next.factor1,
    ] {
        bank.copy_within(stage + 1.., stage);
        bank[7] = 0;
    }
    next
}

/// Makes a mismatch as small as it gets: while `wrong` holds, stages, operands, results,
/// flags, constants and inputs are taken away.
pub fn shrink(
    state: &RawState,
    inputs: &FragmentInputs,
    mut wrong: impl FnMut(&RawState, &FragmentInputs) -> bool,
) -> (RawState, FragmentInputs) {
    let (mut state, mut inputs) = (*state, *inputs);
    loop {
        let mut stage = 0;
        while stage < (state.combine_control & 0xFF) as usize {
            let next = without_stage(&state, stage);
            if admit(&next).is_ok() && wrong(&next, &inputs) {
                state = next;
            } else {
                stage += 1;
            }
        }
        let before = (state, inputs.textures.map(|t| t.map(f32::to_bits)));
        for word in Word::all() {
            let value = state.get(word);
            let smaller = (0..4)
                .map(|i| value & !(0xFF << (8 * i)))
                .chain((0..32).rev().map(|i| value & !(1 << i)))
                .chain([0, value.saturating_sub(1)]);
            for candidate in smaller {
                let mut next = state;
                let smaller = candidate < state.get(word);
                let _ = next.set(word, candidate);
                if smaller && admit(&next).is_ok() && wrong(&next, &inputs) {
                    state = next;
                }
            }
        }
        for slot in 0..25 {
            for value in [0.0, 1.0, 0.5] {
                let mut next = inputs;
                let at = match slot {
                    0..8 => &mut next.colours[slot / 4][slot % 4],
                    8..24 => &mut next.textures[(slot - 8) / 4][slot % 4],
                    _ => &mut next.fog,
                };
                if at.to_bits() == f32::to_bits(value) {
                    break;
                }
                *at = value;
                if wrong(&state, &next) {
                    inputs = next;
                    break;
                }
            }
        }
        if before == (state, inputs.textures.map(|t| t.map(f32::to_bits))) {
            return (state, inputs);
        }
    }
}
