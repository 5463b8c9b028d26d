//! The whole matrix of what a program can say, one thing at a time, by all three paths: the
//! two modules run in the interpreter, on a device without quirks and on one with all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.

mod support;

use standin_combiner::admit::admit;
use standin_combiner::evaluator::{EvaluatorForm, RegisterStorage, Shortcuts};
use standin_combiner::oracle::FragmentInputs;
use standin_combiner::state::RawState;
use support::compare::{assert_equal, generic_module};
use support::interpreter::{Module, Quirks};
use support::random::{self, Rng};

const READABLE: [u32; 12] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13];
const WRITABLE: [u32; 8] = [4, 5, 8, 9, 10, 11, 12, 13];
const OPS: [u32; 6] = [0, 1, 2, 3, 4, 6];

/// Compares states that share the passthrough shell, in two forms of the evaluator.
struct Matrix {
    rng: Rng,
    modules: [Module; 2],
    compared: usize,
}

impl Matrix {
    fn new() -> Self {
        let shell = admit(&base()).unwrap().shell;
        let other = EvaluatorForm {
            registers: RegisterStorage::Array,
            shortcuts: Shortcuts::None,
        };
        Self {
            rng: Rng(9),
            modules: [
                generic_module(&shell, EvaluatorForm::default()),
                generic_module(&shell, other),
            ],
            compared: 0,
        }
    }

    fn compare(&mut self, state: &RawState) {
        let mut state = *state;
        random::data(&mut self.rng, &mut state);
        let inputs: Vec<FragmentInputs> = (0..3).map(|_| random::inputs(&mut self.rng)).collect();
        for (module, quirks) in self.modules.iter().zip([Quirks::NONE, Quirks::ALL]) {
            assert_equal(&state, &inputs, module, quirks);
        }
        self.compared += 1;
    }
}

/// Two stages: the first gives R0 and R1 values of both signs, the second is under test;
/// R0 is drawn, R1 added.
fn base() -> RawState {
    RawState {
        combine_control: 2 | 1 << 8,
        rgb_inputs: [0x4448_4549, 0, 0, 0, 0, 0, 0, 0],
        rgb_outputs: [0x0000_00CD, 0, 0, 0, 0, 0, 0, 0],
        alpha_inputs: [0xD4D8_D5D9, 0, 0, 0, 0, 0, 0, 0],
        alpha_outputs: [0x0000_00CD, 0, 0, 0, 0, 0, 0, 0],
        final_abcd: 0x1C0C_0D0C,
        final_efg: 0x0405_1C00,
        ..random::passthrough_shell()
    }
}

#[test]
fn every_mapping_register_channel_and_portion_in_every_operand() {
    let mut matrix = Matrix::new();
    for operand in 0..4 {
        for register in READABLE {
            for bits in 0..16 {
                let byte = register | bits << 4;
                // The operand, and a partner that is neither 0 nor 1.
                let partners = 0xC8D9_C8C5 & !(0xFF << (8 * operand));
                let word = partners | byte << (8 * operand);
                let mut rgb = base();
                rgb.rgb_inputs[1] = word;
                rgb.rgb_outputs[1] = 0xC00;
                matrix.compare(&rgb);
                let mut alpha = base();
                alpha.alpha_inputs[1] = word;
                alpha.alpha_outputs[1] = 0xC00;
                matrix.compare(&alpha);
            }
        }
    }
    assert_eq!(matrix.compared, 4 * 12 * 16 * 2);
}

#[test]
fn every_operation_destination_product_and_third_result() {
    let mut matrix = Matrix::new();
    for op in OPS {
        for to in WRITABLE {
            for result in 0..3 {
                for flags in 0..16_u32 {
                    let output = op << 15 | to << (4 * result) | 0xC << (4 * ((result + 1) % 3));
                    // Dot AB, dot CD, mux, blue to alpha.
                    let rgb_flags = (flags & 3) << 12
                        | (flags >> 2 & 1) << 14
                        | if flags >> 3 == 1 { 0xC_0000 } else { 0 };
                    let mut state = base();
                    state.rgb_inputs[1] = 0x4CC5_D849;
                    state.rgb_outputs[1] = output | rgb_flags;
                    state.alpha_inputs[1] = 0xDC55_D849;
                    state.alpha_outputs[1] = output | rgb_flags & 1 << 14;
                    // What was written is what is drawn.
                    state.final_abcd = 0x1C0C_0D00 | to;
                    state.final_efg = 0x0405_1000 | to << 8;
                    matrix.compare(&state);
                }
            }
        }
    }
    assert_eq!(matrix.compared, 6 * 8 * 3 * 16);
}

#[test]
fn every_aliasing_of_results_in_both_portions() {
    let mut matrix = Matrix::new();
    // Each of the six results to nowhere, to R0 or to R1: every pair and triple that may
    // meet in one register, with and without blue to alpha.
    for code in 0..729_u32 {
        let digit = |i: u32| [0, 12, 13][(code / 3_u32.pow(i) % 3) as usize];
        let word = |first| digit(first) | digit(first + 1) << 4 | digit(first + 2) << 8;
        for blue in [0, 1 << 18, 1 << 19, 3 << 18] {
            let mut state = base();
            state.rgb_inputs[1] = 0xC4CD_C8D5;
            state.alpha_inputs[1] = 0xD4CD_D8CC;
            state.rgb_outputs[1] = word(0) | blue;
            state.alpha_outputs[1] = word(3);
            matrix.compare(&state);
        }
    }
    assert_eq!(matrix.compared, 729 * 4);
}

#[test]
fn every_final_input_flag_and_special_register() {
    let mut matrix = Matrix::new();
    for (word, shift) in [(0, 24), (0, 16), (0, 8), (0, 0), (1, 24), (1, 16), (1, 8)] {
        for register in 0..16 {
            let special = register >= 14;
            if [6, 7].contains(&register) || (special && word == 1) {
                continue;
            }
            for bits in 0..4 {
                for flags in 0..8 {
                    let byte = register | bits << 4;
                    let mut state = base();
                    state.combine_control = 1;
                    // A, B and C read the sum, D reads EF, whatever is put elsewhere.
                    let mut words = [0x0C0E_0D0F, 0x0C0D_1C00 | flags << 5];
                    words[word] = words[word] & !(0xFF << shift) | byte << shift;
                    [state.final_abcd, state.final_efg] = words;
                    matrix.compare(&state);
                }
            }
        }
    }
    assert_eq!(matrix.compared, (4 * 14 + 3 * 12) * 4 * 8);
}

#[test]
fn every_stage_count_with_both_constants_modes_and_mux_selectors() {
    let mut matrix = Matrix::new();
    for count in 0..=8 {
        for flags in 0..8_u32 {
            for kind in [0x0000_0C00, 0x0000_4C00] {
                let mut state = base();
                state.combine_control =
                    count | (flags & 1) << 8 | (flags >> 1 & 1) << 12 | (flags >> 2) << 16;
                for i in 0..8 {
                    state.rgb_inputs[i] = 0x01CC_02DC;
                    state.rgb_outputs[i] = kind;
                    state.alpha_inputs[i] = 0x31D4_12DC;
                    state.alpha_outputs[i] = kind;
                }
                matrix.compare(&state);
            }
        }
    }
    assert_eq!(matrix.compared, 9 * 8 * 2);
}

#[test]
fn mux_boundaries() {
    let shell = admit(&base()).unwrap().shell;
    let module = generic_module(&shell, EvaluatorForm::default());
    let half = 0.5_f32.to_bits();
    let mut alphas: Vec<f32> = (half - 2..=half + 2).map(f32::from_bits).collect();
    for n in 0..=255_u32 {
        let exact = (n as f32 / 255.0).to_bits();
        alphas.extend([exact.saturating_sub(1), exact, exact + 1].map(f32::from_bits));
    }
    alphas.extend([-0.0, -1.0, 2.0, f32::from_bits(1)]);
    for selector in [0, 1 << 8] {
        let mut state = base();
        state.combine_control = 2 | selector;
        state.alpha_inputs[0] = 0xD820_0000;
        state.alpha_outputs[0] = 0xC0;
        state.rgb_inputs[1] = 0x0420_0520;
        state.rgb_outputs[1] = 0x4C00;
        for alpha in &alphas {
            let mut inputs = FragmentInputs {
                colours: [[0.25; 4], [0.75; 4]],
                ..FragmentInputs::default()
            };
            inputs.textures[0][3] = *alpha;
            assert_equal(&state, &[inputs], &module, Quirks::ALL);
        }
    }
}

#[test]
fn alpha_test_boundaries_by_all_eight_functions() {
    for function in 0..8 {
        let shell = RawState {
            control_0: 1 << 12 | function << 8,
            final_abcd: 0x0000_0004,
            final_efg: 0x0000_1400,
            ..RawState::default()
        };
        let module = generic_module(&admit(&shell).unwrap().shell, EvaluatorForm::default());
        for n in 0..255_u32 {
            let edge = ((n as f32 + 0.5) / 255.0).to_bits();
            for alpha in [edge - 1, edge, edge + 1, (n as f32 / 255.0).to_bits()] {
                let inputs = FragmentInputs {
                    colours: [[0.5, 0.5, 0.5, f32::from_bits(alpha)], [0.0; 4]],
                    ..FragmentInputs::default()
                };
                for reference in [n, n + 1] {
                    let mut state = shell;
                    state.control_0 |= reference;
                    assert_equal(&state, &[inputs], &module, Quirks::ALL);
                }
            }
        }
    }
}
