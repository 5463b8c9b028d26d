//! What is admitted and what is declined with which reason; what reaches a key; round trips.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.

mod support;

use standin::evaluator::Evaluator;
use standin_combiner::admit::{AdmissionCounts, Decline, PortionName, admit};
use standin_combiner::asm::{assemble, disassemble};
use standin_combiner::family::Combiners;
use standin_combiner::known::KNOWN_PROGRAMS;
use standin_combiner::program::{Program, Register};
use standin_combiner::state::{Epochs, RawState, TrackedState, Word};
use support::random::{self, Rng};

/// One stage that multiplies V0 and V1 into R0.
fn plain() -> RawState {
    RawState {
        combine_control: 1,
        rgb_inputs: [0x0405_0000, 0, 0, 0, 0, 0, 0, 0],
        rgb_outputs: [0xC0, 0, 0, 0, 0, 0, 0, 0],
        final_abcd: 0x0000_000C,
        ..RawState::default()
    }
}

fn declined(change: impl FnOnce(&mut RawState)) -> Decline {
    let mut state = plain();
    change(&mut state);
    admit(&state).unwrap_err()
}

#[test]
fn rejected_programs_stay_rejected() {
    use PortionName::{Alpha, Rgb};
    assert!(admit(&plain()).is_ok());
    assert_eq!(
        declined(|s| s.combine_control = 9),
        Decline::StageCount { count: 9 }
    );
    for bit in (0..32).filter(|bit| ![8, 12, 16].contains(bit) && *bit > 7) {
        let bits = 1 << bit;
        assert_eq!(
            declined(|s| s.combine_control |= bits),
            Decline::ControlBits { bits }
        );
    }
    for register in [
        Register::Reserved6,
        Register::Reserved7,
        Register::V1R0Sum,
        Register::EfProduct,
    ] {
        for (i, input) in ['A', 'B', 'C', 'D'].into_iter().enumerate() {
            let byte = (register as u32) << (24 - 8 * i);
            let reason = |portion| Decline::InputRegister {
                stage: 0,
                portion,
                input,
                register,
            };
            assert_eq!(declined(|s| s.rgb_inputs[0] = byte), reason(Rgb));
            assert_eq!(declined(|s| s.alpha_inputs[0] = byte), reason(Alpha));
        }
    }
    for register in [1, 2, 3, 6, 7, 14, 15] {
        for shift in [0, 4, 8] {
            let word = register << shift;
            let register = Register::from_bits(register);
            let reason = |portion| Decline::OutputRegister {
                stage: 0,
                portion,
                register,
            };
            assert_eq!(declined(|s| s.rgb_outputs[0] = word), reason(Rgb));
            assert_eq!(declined(|s| s.alpha_outputs[0] = word), reason(Alpha));
        }
    }
    for op in [5, 7] {
        let reason = |portion| Decline::OutputOp {
            stage: 0,
            portion,
            op,
        };
        let word = u32::from(op) << 15;
        assert_eq!(declined(|s| s.rgb_outputs[0] = word), reason(Rgb));
        assert_eq!(declined(|s| s.alpha_outputs[0] = word), reason(Alpha));
    }
    for bit in 20..32 {
        let bits = 1 << bit;
        assert_eq!(
            declined(|s| s.rgb_outputs[0] |= bits),
            Decline::OutputBits {
                stage: 0,
                portion: Rgb,
                bits
            }
        );
    }
    for bit in (20..32).chain([12, 13, 18, 19]) {
        let bits = 1 << bit;
        assert_eq!(
            declined(|s| s.alpha_outputs[0] |= bits),
            Decline::OutputBits {
                stage: 0,
                portion: Alpha,
                bits
            }
        );
    }
    assert_eq!(declined(|s| s.final_abcd = 0), Decline::FinalDisabled);
    for (i, input) in ('A'..='G').enumerate() {
        let put = |s: &mut RawState, byte: u32| match i {
            0..4 => s.final_abcd = byte << (24 - 8 * i),
            _ => s.final_efg = byte << (24 - 8 * (i - 4)),
        };
        for mapping in 2..8 {
            let byte = u32::from(mapping) << 5 | 4;
            assert_eq!(
                declined(|s| put(s, byte)),
                Decline::FinalMapping { input, mapping }
            );
        }
        for number in [6, 7, 14, 15] {
            let register = Register::from_bits(number);
            let mut state = plain();
            put(&mut state, number);
            let outcome = admit(&state).map(|_| ());
            let allowed = number >= 14 && input <= 'D';
            let expected = if allowed {
                Ok(())
            } else {
                Err(Decline::FinalRegister { input, register })
            };
            assert_eq!(outcome, expected, "{input} {register:?}");
        }
    }
    for bits in [1, 2, 4, 8, 16] {
        assert_eq!(
            declined(|s| s.final_efg |= bits),
            Decline::FinalFlags { bits: bits as u8 }
        );
    }
    for stage in 0..4_u8 {
        for mode in 6..32_u8 {
            let word = u32::from(mode) << (5 * stage);
            assert_eq!(
                declined(|s| s.shader_program = word),
                Decline::TextureMode { stage, mode }
            );
        }
        let sampled = |s: &mut RawState| s.shader_program = 1 << (5 * stage);
        for operation in 1..4_u8 {
            let reason = declined(|s| {
                sampled(s);
                s.texture_control[usize::from(stage)] = u32::from(operation);
            });
            assert_eq!(reason, Decline::ColourKey { stage, operation });
        }
        let reason = declined(|s| {
            sampled(s);
            s.texture_control[usize::from(stage)] = 4;
        });
        assert_eq!(reason, Decline::AlphaKill { stage });
        let reason = declined(|s| {
            s.shader_program = 5 << (5 * stage);
            s.rgb_inputs[0] = 0x0420_0000 | (8 + u32::from(stage)) << 16;
        });
        assert_eq!(reason, Decline::ClipPlaneRead { stage });
    }
    // R0.a starts as T0.a, so a read of R0.a may be one of T0.
    let reason = declined(|s| {
        s.shader_program = 5;
        s.final_abcd = 0x0000_001C;
    });
    assert_eq!(reason, Decline::ClipPlaneRead { stage: 0 });
    assert_eq!(
        declined(|s| s.shader_program = 1 << 20),
        Decline::ShaderProgramBits { bits: 1 << 20 }
    );
    for function in 8..16_u8 {
        let word = 1 << 12 | u32::from(function) << 8;
        assert_eq!(
            declined(|s| s.control_0 = word),
            Decline::AlphaFunction { function }
        );
    }
}

#[test]
fn texture_modes_are_declined_by_their_names() {
    let text = declined(|s| s.shader_program = 0x11 << 5).to_string();
    assert_eq!(text, "texture stage 1 has mode DOTPRODUCT");
    let text = declined(|s| s.shader_program = 0x1F).to_string();
    assert_eq!(text, "texture stage 0 has mode 0x1f, which does not exist");
}

#[test]
fn words_of_disabled_stages_are_not_looked_at() {
    let mut state = plain();
    for i in 1..8 {
        state.rgb_inputs[i] = 0xFFFF_FFFF;
        state.rgb_outputs[i] = 0xFFFF_FFFF;
        state.alpha_inputs[i] = 0xFFFF_FFFF;
        state.alpha_outputs[i] = 0xFFFF_FFFF;
    }
    let key = |state: &RawState| Combiners::default().admit(state).unwrap().program_key;
    assert_eq!(key(&state), key(&plain()));
}

#[test]
fn n7_constants_fog_colour_and_alpha_reference_are_in_no_key() {
    let mut rng = Rng(1);
    let mut state = RawState {
        control_0: 1 << 12 | 4 << 8,
        control_3: 1 << 8,
        ..plain()
    };
    state.rgb_inputs[0] = 0x0102_0304;
    let first = Combiners::default().admit(&state).unwrap();
    for _ in 0..100 {
        random::data(&mut rng, &mut state);
        assert_eq!(Combiners::default().admit(&state).unwrap(), first);
    }
}

/// For every admitted state the typed program gives the very words back: no bit is ignored.
#[test]
fn decoding_and_encoding_give_the_words_back() {
    let mut rng = Rng(2);
    for _ in 0..20_000 {
        let state = random::program(&mut rng, &RawState::default());
        let program = admit(&state).unwrap().program;
        let mut back = state;
        back.combine_control = !0;
        back.final_abcd = !0;
        back.final_efg = !0;
        for i in 0..program.stage_count() {
            back.rgb_inputs[i] = !0;
            back.rgb_outputs[i] = !0;
            back.alpha_inputs[i] = !0;
            back.alpha_outputs[i] = !0;
        }
        program.encode_into(&mut back);
        assert_eq!(back, state);
        for ([rgb, alpha], words) in program.stages().zip(program.stage_words()) {
            assert_eq!(rgb.to_words(), (words.rgb_in, words.rgb_out));
            assert_eq!(alpha.to_words(), (words.alpha_in, words.alpha_out));
        }
    }
}

#[test]
fn canonical_form_is_admitted_and_its_own_canonical_form() {
    let mut rng = Rng(3);
    for _ in 0..20_000 {
        let state = random::program(&mut rng, &RawState::default());
        let program = admit(&state).unwrap().program.canonical();
        let mut again = RawState::default();
        program.encode_into(&mut again);
        // A canonical program may have lost all its final words; that draws 0.
        if again.final_abcd != 0 || again.final_efg != 0 {
            assert_eq!(admit(&again).unwrap().program, program);
        }
        assert_eq!(program.canonical(), program);
    }
}

#[test]
fn bits_without_meaning_reach_no_key() {
    let canonical =
        |text: &str| -> Program { admit(&assemble(text).unwrap()).unwrap().program.canonical() };
    let pairs = [
        // Operands of a product that nobody takes, its dot and its blue to alpha.
        (
            "stage 0\n rgb ab r0 = v0 * v1\nfinal\n d = r0\n",
            "mux msb\nstage 0\n rgb ab r0 = v0 * v1\n rgb cd - = dot(t0, c0) blue_to_alpha\nfinal\n d = r0\n",
        ),
        // The channel of ZERO, and its mappings that give the same number.
        (
            "stage 0\n rgb ab r0 = v0 * 1\nfinal\n d = r0\n",
            "stage 0\n rgb ab r0 = v0 * -expand(zero.a)\nfinal\n d = r0\n",
        ),
        // A factor of a product with 0.
        (
            "stage 0\n rgb ab r0 = 0 * 0\n rgb cd r1 = v0 * 1\nfinal\n d = r1\n",
            "stage 0\n rgb ab r0 = v1 * signed(zero)\n rgb cd r1 = v0 * 1\nfinal\n d = r1\n",
        ),
        // Constants per stage where only stage 0 reads them.
        (
            "stage 0\n rgb ab r0 = c0 * c1\nfinal\n d = r0\n",
            "c0 per_stage\nc1 per_stage\nstage 0\n rgb ab r0 = c0 * c1\nfinal\n d = r0\n",
        ),
        // Trailing stages that write nothing; an operation of nothing.
        (
            "stage 0\n rgb ab r0 = v0 * v1\nfinal\n d = r0\n",
            "stage 0\n rgb ab r0 = v0 * v1\nstage 1\n rgb ab - = v0 * t0\n alpha op 4x\nfinal\n d = r0\n",
        ),
        // E, F and the sum's flags that nobody reads; B where A is 0, C where A is 1.
        (
            "final\n a = 0\n c = v0\n d = v1\n",
            "final\n a = 0\n b = t1\n c = v0\n d = v1\n e = t0\n f = t1\n complement_v1\n clamp_sum\n",
        ),
        (
            "final\n a = 1\n b = v0\n d = v1\n",
            "final\n a = 1\n b = v0\n c = t3\n d = v1\n",
        ),
    ];
    for (lean, noisy) in pairs {
        assert_eq!(canonical(lean), canonical(noisy), "{noisy}");
        assert_eq!(canonical(lean).key(), canonical(noisy).key());
    }
    // And what does mean something stays apart.
    let all: Vec<_> = KNOWN_PROGRAMS
        .iter()
        .map(|known| canonical(known.text))
        .chain(pairs.map(|(lean, _)| canonical(lean)))
        .collect();
    for (i, program) in all.iter().enumerate() {
        assert!(
            all[..i]
                .iter()
                .filter(|other| other.key() == program.key())
                .all(|other| other == program)
        );
    }
}

/// Flipping any one bit of an admitted state changes its identity, its data or its
/// admission, or the bit has no meaning: then all three paths must agree that it has none.
#[test]
fn a_bit_that_reaches_no_key_changes_no_picture() {
    use standin_combiner::oracle::{Float, evaluate};
    use standin_combiner::packet::Constants;
    let mut rng = Rng(4);
    let mut silent = 0;
    for _ in 0..60 {
        let state = random::program(&mut rng, &random::passthrough_shell());
        let inputs = random::inputs(&mut rng);
        let first = Combiners::default().admit(&state).unwrap();
        let draw = |state: &RawState| {
            let admitted = admit(state).unwrap();
            let constants = Constants::from_state(state);
            evaluate(
                &Float,
                &admitted.program,
                &admitted.shell,
                &constants,
                &inputs,
            )
        };
        let right = draw(&state);
        for word in Word::all() {
            for bit in 0..32 {
                let mut other = state;
                let _ = other.set(word, state.get(word) ^ 1 << bit);
                let Ok(second) = Combiners::default().admit(&other) else {
                    continue;
                };
                let same_data = Constants::from_state(&other) == Constants::from_state(&state);
                if second == first && same_data {
                    silent += 1;
                    let result = draw(&other);
                    assert_eq!(
                        result.colour.map(f32::to_bits),
                        right.colour.map(f32::to_bits),
                        "{word:?} bit {bit}"
                    );
                    assert_eq!(result.fate, right.fate);
                }
            }
        }
    }
    assert!(silent > 10_000, "{silent}");
}

#[test]
fn disassembly_assembles_to_the_same_words() {
    let mut rng = Rng(5);
    for _ in 0..3_000 {
        let shell = random::shell(&mut rng, true);
        let state = random::program(&mut rng, &shell);
        let text = disassemble(&state).unwrap();
        let mut back = assemble(&text).unwrap();
        // Constants of disabled stages are not in the text.
        let count = admit(&state).unwrap().program.stage_count();
        back.factor0[count..].copy_from_slice(&state.factor0[count..]);
        back.factor1[count..].copy_from_slice(&state.factor1[count..]);
        // A disabled alpha test has no function.
        if state.control_0 & 1 << 12 == 0 {
            back.control_0 |= state.control_0 & 0xF00;
        }
        assert_eq!(back, state, "{text}");
    }
}

#[test]
fn the_assembler_names_the_line_it_does_not_understand() {
    for (text, line, what) in [
        ("mux both\n", 1, "not understood: mux both"),
        (
            "stage 0\n rgb ab r0 = v0 * nothing\n",
            2,
            "nothing is no operand here",
        ),
        ("stage 1\n", 1, "stage 1 where stage 0 of at most 8 is due"),
        ("\n\nfinal\n g = v0\n", 4, "v0 is no operand here"),
        (
            "texture 0 brdf\n",
            1,
            "brdf is no texture mode of the shell",
        ),
        ("stage 0\n rgb op 8x\n", 2, "8x is no output operation"),
        (
            "fog_color 0x1ffffffff\n",
            1,
            "0x1ffffffff is no 32-bit number",
        ),
    ] {
        let error = assemble(text).unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (line, what));
    }
}

#[test]
fn admissions_are_counted_by_reason() {
    let mut counts = AdmissionCounts::default();
    counts.count(&admit(&plain()));
    for _ in 0..2 {
        counts.count(&admit(&RawState::default()));
    }
    assert_eq!(counts.admitted, 1);
    assert_eq!(
        counts.reasons().collect::<Vec<_>>(),
        [("final combiner off", 2)]
    );
}

#[test]
fn epochs_move_with_the_part_that_changed_and_only_then() {
    let mut state = TrackedState::new(plain());
    let mut expect = |word, value, program, shell, constants| {
        state.write(word, value);
        assert_eq!(
            state.epochs(),
            Epochs {
                program,
                shell,
                constants
            }
        );
    };
    expect(Word::Factor0(3), 0x1234, 0, 0, 1);
    expect(Word::Factor0(3), 0x1234, 0, 0, 1);
    expect(Word::RgbInput(0), 0x0405_0001, 1, 0, 1);
    expect(Word::ShaderProgram, 1, 1, 1, 1);
    // CONTROL_0: the reference is data, the function is shell, the rest is nobody's.
    expect(Word::Control0, 0x80, 1, 1, 2);
    expect(Word::Control0, 0x1480, 1, 2, 2);
    expect(Word::Control0, 0x00FF_1480, 1, 2, 2);
    expect(Word::FogColour, 7, 1, 2, 3);
}

/// Bad input: any words give a result or a reason, and what is admitted runs.
#[test]
fn any_words_give_a_result_or_a_reason() {
    use standin_combiner::report::{ProfileName, evaluate_file};
    use standin_combiner::state_text::StateFile;
    let mut rng = Rng(6);
    let mut admitted = 0;
    for i in 0..40_000 {
        // From pure noise to an admitted state with a few bits flipped.
        let mut words = if i % 4 == 0 {
            RawState::default()
        } else {
            random::program(&mut rng, &random::passthrough_shell())
        };
        for word in Word::all() {
            if i % 4 == 0 {
                let _ = words.set(word, rng.word());
            } else if rng.one_in(40) {
                let _ = words.set(word, words.get(word) ^ 1 << rng.below(32));
            }
        }
        let mut inputs = random::inputs(&mut rng);
        inputs.textures[0] = [rng.word(), rng.word(), rng.word(), rng.word()].map(f32::from_bits);
        let file = StateFile { words, inputs };
        for profile in [ProfileName::Float, ProfileName::NineBit] {
            if let Ok(evaluation) = evaluate_file(&file, profile) {
                admitted += 1;
                assert!(
                    evaluation.colour.iter().all(|x| (0.0..=1.0).contains(x)),
                    "{evaluation}"
                );
            }
        }
    }
    assert!(admitted > 10_000, "{admitted}");
}
