//! The oracle, the specialised and the generic module give the same bits, without a GPU: the
//! two modules run in an interpreter of the emitted SPIR-V.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.

mod support;

use standin_combiner::admit::admit;
use standin_combiner::evaluator::EvaluatorForm;
use standin_combiner::state::RawState;
use support::compare::{assert_equal, generic_module};
use support::interpreter::Quirks;
use support::random::{self, Rng};

fn inputs(rng: &mut Rng, count: usize) -> Vec<standin_combiner::oracle::FragmentInputs> {
    (0..count).map(|_| random::inputs(rng)).collect()
}

#[test]
fn random_programs_agree_in_every_form_of_the_evaluator() {
    let shell = random::passthrough_shell();
    let admitted = admit(&RawState {
        final_abcd: 0xC,
        ..shell
    })
    .unwrap();
    for (i, form) in EvaluatorForm::all().enumerate() {
        let generic = generic_module(&admitted.shell, form);
        let mut rng = Rng(i as u64);
        for _ in 0..2_000 {
            let state = random::program(&mut rng, &shell);
            let inputs = inputs(&mut rng, 2);
            let quirks = if rng.one_in(2) {
                Quirks::ALL
            } else {
                Quirks::NONE
            };
            assert_equal(&state, &inputs, &generic, quirks);
        }
    }
}

#[test]
fn random_programs_agree_in_random_shells() {
    let mut rng = Rng(77);
    for _ in 0..400 {
        let shell = random::shell(&mut rng, true);
        let first = random::program(&mut rng, &shell);
        let generic = generic_module(&admit(&first).unwrap().shell, EvaluatorForm::default());
        for _ in 0..10 {
            let mut state = random::program(&mut rng, &shell);
            let inputs = inputs(&mut rng, 2);
            random::reference_near_alpha(&mut rng, &mut state, &inputs[0]);
            assert_equal(&state, &inputs, &generic, Quirks::NONE);
        }
    }
}
