//! STATE files, the packet's byte layout, the evaluation's report.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.
#![allow(clippy::float_cmp)] // The values are exact.

mod support;

use standin::evaluator::{BlockBinding, Evaluator, TextureBinding, TextureShape};
use standin_combiner::admit::admit;
use standin_combiner::asm::assemble;
use standin_combiner::family::Combiners;
use standin_combiner::known::KNOWN_PROGRAMS;
use standin_combiner::packet::{CONSTANTS_BYTES, Constants, PROGRAM_BYTES, ProgramPacket};
use standin_combiner::report::{ProfileName, evaluate_file, show_file};
use standin_combiner::state::RawState;
use standin_combiner::state_text::{StateFile, StateFileError};
use support::random::{self, Rng};

#[test]
fn a_state_file_gives_itself_back() {
    let mut rng = Rng(1);
    for _ in 0..500 {
        let file = StateFile {
            words: random::program(&mut rng, &random::passthrough_shell()),
            inputs: random::inputs(&mut rng),
        };
        let back = StateFile::parse(&file.to_text()).unwrap();
        assert_eq!(back.words, file.words);
        assert_eq!(back.to_text(), file.to_text());
    }
}

#[test]
fn a_state_file_is_read_as_documented() {
    let text = "# modulate\ncombinectl 1\ncombinecolori0 0x04080000 # V0 * T0\n\
                combinecoloro0 0xc0\ncombinespecfog0 0xc\ncombinespecfog1 0x1c00\nshaderprog 1\n\
                v0 0.5 0.25 1 1\nt0 1 0x3f000000 -2.5 1e-3\n";
    let file = StateFile::parse(text).unwrap();
    assert_eq!(file.words.rgb_inputs[0], 0x0408_0000);
    assert_eq!(file.inputs.textures[0], [1.0, 0.5, -2.5, 1e-3]);
    let evaluation = evaluate_file(&file, ProfileName::Float).unwrap();
    assert_eq!(evaluation.colour, [0.5, 0.125, 0.0, 1e-3]);
}

#[test]
fn bad_lines_of_a_state_file_are_named() {
    let error = |text: &str| StateFile::parse(text).unwrap_err();
    assert_eq!(
        error("\nno_such_word 1\n"),
        StateFileError::Name {
            line: 2,
            name: "no_such_word".into()
        }
    );
    assert_eq!(
        error("combinectl x\n"),
        StateFileError::Number {
            line: 1,
            name: "combinectl".into(),
            text: "x".into()
        }
    );
    assert_eq!(
        error("combinectl 0x100000000\n"),
        StateFileError::Number {
            line: 1,
            name: "combinectl".into(),
            text: "0x100000000".into()
        }
    );
    assert_eq!(
        error("v0 1 2 3\n"),
        StateFileError::Count {
            line: 1,
            name: "v0".into(),
            expected: 4,
            found: 3
        }
    );
    assert_eq!(
        error("fog 1\nfog 2\n"),
        StateFileError::Twice {
            line: 2,
            name: "fog".into()
        }
    );
    assert_eq!(
        error("combinecolori8 1\n"),
        StateFileError::Name {
            line: 1,
            name: "combinecolori8".into()
        }
    );
}

/// The layout in docs/combiner.md, byte by byte.
#[test]
fn the_control_packet_has_its_documented_layout() {
    let mut state = RawState {
        combine_control: 2 | 1 << 8 | 1 << 16,
        final_abcd: 0x0E0F_0C0D,
        final_efg: 0x0405_1CE0,
        ..RawState::default()
    };
    state.rgb_inputs[..2].copy_from_slice(&[0x0408_0509, 0x2A01_0203]);
    state.alpha_inputs[..2].copy_from_slice(&[0x1418_1519, 0x1C02_0000]);
    state.rgb_outputs[..2].copy_from_slice(&[0x0000_00C0, 0x0000_4C00]);
    state.alpha_outputs[..2].copy_from_slice(&[0x0000_000D, 0]);
    let packet = ProgramPacket::new(&admit(&state).unwrap().program).to_bytes();
    assert_eq!(packet.len(), PROGRAM_BYTES);
    assert_eq!(PROGRAM_BYTES, 432);
    let word = |at: usize| u32::from_le_bytes(packet[at..at + 4].try_into().unwrap());
    let words = |at: usize| [0, 4, 8, 12].map(|i| word(at + i));
    // Header: stage count; all seven flags; read before written are all but R0's RGB, which
    // is counted for its alpha, ZERO, 6, 7 and T3.
    assert_eq!(words(0), [2, 0x7F, 0xF73E, 0]);
    // The final combiner: A is the sum, B the product, C is R0, D is R1 with G's R0.a.
    assert_eq!(words(16), [0x140A, 0x160B, 0xC06, 1 << 26 | 6 << 9 | 7]);
    // E is V0, F is V1.
    assert_eq!(words(32), [0, 1 << 9 | 1, 0, 0]);
    // Stage 0: A and B are RGB's V0 and T0, C and D alpha's V1 and T1.
    assert_eq!(words(48), [0, 2 << 9 | 2, 1 << 9 | 1, 3 << 9 | 3]);
    // AB's RGB to R0, CD's alpha to R1; operations x.
    let one = 1.0_f32.to_bits();
    assert_eq!(
        words(64),
        [0x8887_8886, 1 << 4 | 1 << 10 | 1 << 12, one, one]
    );
    // Stage 1: 1 - T2, C0 of stage 0, C1 of stage 1 (vector 9), FOG.
    assert_eq!(
        words(80),
        [
            1 << 27 | 1 << 21 | 1 << 18 | 4 << 9 | 4,
            8 << 9 | 8,
            0x98 << 9 | 0x98,
            9 << 9 | 9
        ]
    );
    // The mux to R0's RGB.
    assert_eq!(
        words(96),
        [0x8688_8888, 1 << 2 | 1 << 4 | 1 << 5 | 1 << 14, one, one]
    );
    assert!(packet[112..304].iter().all(|byte| *byte == 0));
    // The table: low, high, scale, offset of a mapping.
    let row = |at: usize| words(at).map(f32::from_bits);
    assert_eq!(row(304 + 16), [0.0, 1.0, -1.0, 1.0]);
    assert_eq!(row(304 + 7 * 16), [f32::MIN, f32::MAX, -1.0, 0.0]);
}

#[test]
fn the_constants_block_has_its_documented_layout() {
    let mut state = RawState {
        control_0: 0x1477,
        fog_colour: 0x0A0B_0C0D,
        final_factors: [0x1122_3344, 0x5566_7788],
        ..RawState::default()
    };
    state.factor0[7] = 0x99AA_BBCC;
    state.factor1[0] = 0xDDEE_FF00;
    let block = Constants::from_state(&state).to_bytes();
    assert_eq!(block.len(), CONSTANTS_BYTES);
    assert_eq!(CONSTANTS_BYTES, 320);
    let vector = |index: usize| {
        [0, 4, 8, 12].map(|c| {
            let at = 16 * index + c;
            f32::from_le_bytes(block[at..at + 4].try_into().unwrap())
        })
    };
    let bytes = |rgba: [u8; 4]| rgba.map(|n| f32::from(n) / 255.0);
    assert_eq!(vector(7), bytes([0xAA, 0xBB, 0xCC, 0x99]));
    assert_eq!(vector(8), bytes([0xEE, 0xFF, 0x00, 0xDD]));
    assert_eq!(vector(16), bytes([0x22, 0x33, 0x44, 0x11]));
    assert_eq!(vector(17), bytes([0x66, 0x77, 0x88, 0x55]));
    assert_eq!(vector(18), bytes([0x0B, 0x0C, 0x0D, 0x00]));
    assert_eq!(vector(19), [119.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_interface_lists_what_a_shell_samples() {
    let state = RawState {
        shader_program: 1 | 4 << 5 | 3 << 10 | 2 << 15,
        final_abcd: 4,
        ..RawState::default()
    };
    let combiners = Combiners::default();
    let admitted = combiners.admit(&state).unwrap();
    let interface = combiners.interface(&admitted.shell);
    assert_eq!(interface.set, 0);
    assert_eq!(
        interface.program,
        BlockBinding {
            binding: 0,
            bytes: 432
        }
    );
    assert_eq!(
        interface.constants,
        BlockBinding {
            binding: 1,
            bytes: 320
        }
    );
    let texture = |binding, shape| TextureBinding { binding, shape };
    assert_eq!(
        interface.textures,
        [
            texture(2, TextureShape::Flat),
            texture(4, TextureShape::Cube),
            texture(5, TextureShape::Volume)
        ]
    );
    let mut packet = vec![];
    combiners.write_program(&admitted.program, &mut packet);
    combiners.write_constants(&state, &mut packet);
    assert_eq!(packet.len(), 432 + 320);
}

#[test]
fn an_evaluation_shows_every_register_after_every_stage() {
    for known in KNOWN_PROGRAMS {
        let words = assemble(known.text).unwrap();
        let file = StateFile {
            words,
            inputs: random::inputs(&mut Rng(2)),
        };
        let evaluation = evaluate_file(&file, ProfileName::Float).unwrap();
        let stages = admit(&words).unwrap().program.stage_count();
        assert_eq!(evaluation.steps.len(), stages + 2);
        assert!(
            evaluation
                .steps
                .iter()
                .all(|step| step.registers.len() == 14)
        );
        let json = serde_json::to_value(&evaluation).unwrap();
        assert_eq!(json["profile"], "float");
        assert_eq!(json["steps"][0]["after"], "start");
        assert_eq!(json["colour_bits"][0], evaluation.colour[0].to_bits());
        let text = evaluation.to_string();
        assert_eq!(
            text.matches("\n  r0 ").count() + text.matches("\n *r0 ").count(),
            stages + 2,
            "{text}"
        );
        // What is shown assembles to the same program.
        assert_eq!(assemble(&show_file(&file).unwrap()).unwrap(), words);
    }
}
