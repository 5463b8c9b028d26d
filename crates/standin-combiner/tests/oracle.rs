//! What the registers are, by hand: each value here was computed from the rules that its
//! comment names, not from the code. `hw` in a name says that the rule was read off a
//! console (nxdk_pgraph_tests), `gl` that it is from NV_register_combiners.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.
#![allow(clippy::float_cmp)] // The values are exact.

use standin_combiner::admit::admit;
use standin_combiner::asm::assemble;
use standin_combiner::oracle::{Fate, Float, FragmentInputs, NineBit, Outcome, evaluate, trace};
use standin_combiner::packet::Constants;
use standin_combiner::state::RawState;

fn run(text: &str, inputs: &FragmentInputs) -> Outcome {
    run_state(&assemble(text).unwrap(), inputs)
}

fn run_state(state: &RawState, inputs: &FragmentInputs) -> Outcome {
    let admitted = admit(state).unwrap();
    let constants = Constants::from_state(state);
    evaluate(
        &Float,
        &admitted.program,
        &admitted.shell,
        &constants,
        inputs,
    )
}

fn nine_bit(text: &str, inputs: &FragmentInputs) -> [f32; 4] {
    let state = assemble(text).unwrap();
    let admitted = admit(&state).unwrap();
    let constants = Constants::from_state(&state);
    let outcome = evaluate(
        &NineBit,
        &admitted.program,
        &admitted.shell,
        &constants,
        inputs,
    );
    outcome.colour.map(|x| (x * 255.0).round())
}

fn colours(v0: [f32; 4], v1: [f32; 4]) -> FragmentInputs {
    FragmentInputs {
        colours: [v0, v1],
        ..FragmentInputs::default()
    }
}

const V0: [f32; 4] = [0.25, 0.5, 0.75, 0.125];
const V1: [f32; 4] = [0.5, 0.25, 1.0, 0.625];

/// The text of a one-stage program that ends in R0.
fn stage(lines: &str) -> String {
    format!("stage 0\n{lines}\nfinal\n d = r0\n g = r0.a\n")
}

#[test]
fn n3_hw_results_of_a_stage_are_read_before_any_is_written() {
    // R0 takes V1 while R1 takes the old R0 (V0); one stage later R1 is shown.
    let text = "stage 0\n rgb ab r0 = v0 * 1\n alpha ab r0 = v0.a * 1\n\
                stage 1\n rgb ab r0 = v1 * 1\n rgb cd r1 = r0 * 1\n\
                 alpha ab r0 = v1.a * 1\n alpha cd r1 = r0.a * 1\n\
                final\n d = r1\n g = r1.a\n";
    assert_eq!(run(text, &colours(V0, V1)).colour, V0);
}

#[test]
fn hw_the_alpha_portion_reads_blue_as_it_was_before_the_stage() {
    let text = "stage 0\n rgb ab r0 = v0 * 1\n\
                stage 1\n rgb ab r0 = v1 * 1\n alpha ab r0 = r0.b * 1\n\
                final\n d = r0\n g = r0.a\n";
    let [r, g, b, _] = V1;
    assert_eq!(run(text, &colours(V0, V1)).colour, [r, g, b, V0[2]]);
}

#[test]
fn n5_channel_bit_selects_alpha_in_rgb_and_blue_or_alpha_in_alpha() {
    let text = stage(" rgb ab r0 = v0.a * 1\n alpha ab r0 = v1.b * 1\n");
    assert_eq!(
        run(&text, &colours(V0, V1)).colour,
        [V0[3], V0[3], V0[3], V1[2]]
    );
    let text = stage(" rgb ab r0 = v0 * 1\n alpha ab r0 = v1.a * 1\n");
    let [r, g, b, _] = V0;
    assert_eq!(run(&text, &colours(V0, V1)).colour, [r, g, b, V1[3]]);
}

#[test]
fn n6_hw_registers_before_the_first_stage() {
    // A texture stage without a mode is (0, 0, 0, 1); R0.a is 1 without T0; R1 is 0.
    let text = stage(" rgb ab r0 = t2 * 1\n rgb cd r1 = t3.a * 1\n alpha ab r0 = t1.a * 1\n");
    assert_eq!(run(&text, &colours(V0, V1)).colour, [0.0, 0.0, 0.0, 1.0]);
    let text = "final\n d = r0\n g = r0.a\n";
    assert_eq!(run(text, &colours(V0, V1)).colour, [0.0, 0.0, 0.0, 1.0]);
    let text = "final\n d = r1.a\n g = r1.a\n";
    assert_eq!(run(text, &colours(V0, V1)).colour, [0.0; 4]);
}

#[test]
fn r0_alpha_starts_as_the_first_textures_alpha() {
    let mut inputs = colours(V0, V1);
    inputs.textures[0] = [0.1, 0.2, 0.3, 0.375];
    let text = "texture 0 2d\nfinal\n d = r0\n g = r0.a\n";
    assert_eq!(run(text, &inputs).colour, [0.0, 0.0, 0.0, 0.375]);
}

#[test]
fn gl_table_4_input_mappings() {
    // e = 3/4 and, through a bias of the stage before, e = -1/4.
    let rows: [(&str, f32, f32); 8] = [
        ("r0", 0.75, 0.0),
        ("1-r0", 0.25, 1.0),
        ("expand(r0)", 0.5, -1.0),
        ("-expand(r0)", -0.5, 1.0),
        ("half(r0)", 0.25, -0.5),
        ("-half(r0)", -0.25, 0.5),
        ("signed(r0)", 0.75, -0.25),
        ("-signed(r0)", -0.75, 0.25),
    ];
    for (operand, of_positive, of_negative) in rows {
        for (first, expected) in [
            (" rgb ab r0 = v0 * 1\n", of_positive),
            (" rgb ab r0 = v1 * 1\n rgb op x-1/2\n", of_negative),
        ] {
            // The second stage halves and adds 1/2, so that the sign can be seen.
            let text = format!(
                "stage 0\n{first}stage 1\n rgb ab - = {operand} * -half(zero)\n \
                 rgb cd - = 1 * -half(zero)\n rgb sum r0 = ab + cd\nfinal\n d = r0\n"
            );
            let inputs = colours([0.75; 4], [0.25; 4]);
            let outcome = run(&text, &inputs);
            assert_eq!(outcome.colour[0], expected / 2.0 + 0.5, "{operand} {first}");
        }
    }
}

#[test]
fn output_operations() {
    let rows: [(&str, f32, f32); 6] = [
        ("x", 0.75, 0.125),
        ("x-1/2", 0.25, -0.375),
        ("2x", 1.0, 0.25),
        ("2(x-1/2)", 0.5, -0.75),
        ("4x", 1.0, 0.5),
        ("x/2", 0.375, 0.0625),
    ];
    for (op, of_large, of_small) in rows {
        for (v0, expected) in [(0.75, of_large), (0.125, of_small)] {
            let text = format!(
                "stage 0\n rgb ab r0 = v0 * 1\n rgb op {op}\n\
                 stage 1\n rgb ab - = signed(r0) * -half(zero)\n \
                 rgb cd - = 1 * -half(zero)\n rgb sum r0 = ab + cd\nfinal\n d = r0\n"
            );
            let outcome = run(&text, &colours([v0; 4], V1));
            assert_eq!(outcome.colour[0], expected / 2.0 + 0.5, "{op} of {v0}");
        }
    }
}

#[test]
fn sum_adds_raw_products_and_clamps_last() {
    // 3/4 + 3/4 - 1/2 = 1, not (3/4 - 1/2) + (3/4 - 1/2) - 1/2 = 0.
    let text =
        stage(" rgb ab - = v0 * 1\n rgb cd - = v0 * 1\n rgb sum r0 = ab + cd\n rgb op x-1/2\n");
    assert_eq!(run(&text, &colours([0.75; 4], V1)).colour[0], 1.0);
}

#[test]
fn gl_dot_products_may_feed_the_sum() {
    // V0.V0 = 1/16 + 1/4 + 9/16 = 7/8; plus V1's red 1/2 times 1/4.
    let text = stage(" rgb ab - = dot(v0, v0)\n rgb cd - = v1 * v0\n rgb sum r0 = ab + cd\n");
    let outcome = run(&text, &colours(V0, V1));
    assert_eq!(outcome.colour[..3], [1.0, 1.0, 1.0]);
    assert_eq!(
        run(&stage(" rgb ab r0 = dot(v0, v0)\n"), &colours(V0, V1)).colour[1],
        0.875
    );
    let text =
        stage(" rgb ab - = dot(v0, v0)\n rgb cd - = v1 * v0\n rgb sum r0 = ab + cd\n rgb op x/2\n");
    assert_eq!(run(&text, &colours(V0, V1)).colour[0], 0.5);
    // 0.875 + 0.125, 0.875 + 0.125, 0.875 + 0.75 clamp only after the half: 0.8125.
    assert_eq!(run(&text, &colours(V0, V1)).colour[2], 0.8125);
}

#[test]
fn hw_mux_takes_cd_where_the_condition_holds() {
    let program = |selector: &str| {
        format!(
            "mux {selector}\nstage 0\n alpha ab r0 = v0.a * 1\n\
             stage 1\n rgb ab - = 0 * 0\n rgb cd - = 1 * 1\n rgb mux r0 = r0.a ? cd : ab\n\
             final\n d = r0\n"
        )
    };
    let red = |selector: &str, a: f32| run(&program(selector), &colours([a; 4], V1)).colour[0];
    let below = f32::from_bits(0.5_f32.to_bits() - 1);
    assert_eq!(red("msb", 0.5), 1.0);
    assert_eq!(red("msb", below), 0.0);
    // Bit 0 of trunc(255 a) for all n/255: the number's own parity.
    for n in 0..256_u32 {
        assert_eq!(red("lsb", n as f32 / 255.0), (n & 1) as f32, "{n}");
    }
}

#[test]
fn constants_are_the_first_stages_unless_per_stage() {
    let program = |head: &str| {
        format!(
            "{head}stage 0\n c0 0x11223344\n c1 0x55667788\n\
             stage 1\n c0 0x99aabbcc\n c1 0xddeeff00\n rgb ab r0 = c0 * 1\n alpha ab r0 = c1.a * 1\n\
             final\n d = r0\n g = r0.a\n"
        )
    };
    let bytes = |head| {
        run(&program(head), &colours(V0, V1))
            .colour
            .map(|x| (x * 255.0).round())
    };
    assert_eq!(
        bytes(""),
        [0x22, 0x33, 0x44, 0x55].map(|x: u8| f32::from(x))
    );
    assert_eq!(
        bytes("c0 per_stage\n"),
        [0xaa, 0xbb, 0xcc, 0x55].map(|x: u8| f32::from(x))
    );
    assert_eq!(
        bytes("c1 per_stage\n"),
        [0x22, 0x33, 0x44, 0xdd].map(|x: u8| f32::from(x))
    );
}

#[test]
fn blue_goes_to_alpha_after_operation_and_clamp() {
    // 4 * 3/4 clamps to 1.
    let text = stage(" rgb ab r0 = v0 * 1 blue_to_alpha\n rgb op 4x\n");
    assert_eq!(
        run(&text, &colours([0.1, 0.1, 0.75, 0.0], V1)).colour[3],
        1.0
    );
    // The alpha portion's own result comes later and wins.
    let text = stage(" rgb ab r0 = v0 * 1 blue_to_alpha\n alpha ab r0 = v0.a * 1\n");
    assert_eq!(run(&text, &colours(V0, V1)).colour[3], V0[3]);
    // A discarded product writes no alpha.
    let text = stage(" rgb ab - = v0 * 1 blue_to_alpha\n");
    assert_eq!(run(&text, &colours(V0, V1)).colour[3], 1.0);
}

#[test]
fn aliased_results_are_written_in_order_ab_cd_sum() {
    let rgb = " rgb ab r0 = v0 * 1\n rgb cd r0 = v1 * 1\n";
    let outcome = run(&stage(rgb), &colours(V0, V1));
    assert_eq!(outcome.colour[..3], V1[..3]);
    let outcome = run(
        &stage(&format!("{rgb} rgb sum r0 = ab + cd\n rgb op x/2\n")),
        &colours(V0, V1),
    );
    assert_eq!(outcome.colour[..3], [0.375, 0.375, 0.875]);
    // AB's blue reaches alpha before CD's does.
    let text = stage(" rgb ab r0 = v0 * 1 blue_to_alpha\n rgb cd r0 = v1 * 1 blue_to_alpha\n");
    assert_eq!(run(&text, &colours(V0, V1)).colour[3], V1[2]);
}

#[test]
fn hw_final_sum_reaches_two_and_its_flags_work() {
    // V1 + R0 with R0 = V0: (0.75, 0.75, 1.75); halved by A = 1/2 from V0.g.
    let program =
        |flags: &str| format!("stage 0\n rgb ab r0 = v0 * 1\nfinal\n a = v0.a\n b = v1r0\n{flags}");
    let inputs = colours([0.25, 0.5, 0.75, 0.5], V1);
    let rgb = |flags| {
        let [r, g, b, _] = run(&program(flags), &inputs).colour;
        [r, g, b]
    };
    assert_eq!(rgb(""), [0.375, 0.375, 0.875]);
    assert_eq!(rgb(" clamp_sum\n"), [0.375, 0.375, 0.5]);
    assert_eq!(rgb(" complement_v1\n"), [0.375, 0.625, 0.375]);
    assert_eq!(rgb(" complement_r0\n"), [0.625, 0.375, 0.625]);
}

#[test]
fn gl_negative_registers_enter_the_final_sum_as_zero() {
    // R0 = V0 - 1/2 = -1/4: the sum is V1 alone.
    let text = "stage 0\n rgb ab r0 = v0 * 1\n rgb op x-1/2\nfinal\n a = 1\n b = v1r0\n";
    assert_eq!(run(text, &colours([0.25; 4], V1)).colour[..3], V1[..3]);
}

#[test]
fn final_combiner_is_d_plus_lerp_and_ef_feeds_it() {
    let text = "final\n a = v0.a\n b = v1\n c = v0\n d = ef\n e = v0\n f = v1\n g = v1.b\n";
    let outcome = run(text, &colours(V0, V1));
    // e f + v0.a v1 + (1 - v0.a) v0
    let expected = [0, 1, 2].map(|i| V0[i] * V1[i] + (0.875 * V0[i] + 0.125 * V1[i]));
    assert_eq!(outcome.colour[..2], expected[..2]);
    // Blue would be 1.53125: the colour ends at 1.
    assert_eq!(outcome.colour[2], 1.0);
    assert_eq!(outcome.colour[3], V1[2]);
    // EF_PROD and V1R0_SUM have alpha 0.
    assert_eq!(
        run("final\n d = ef.a\n e = 1\n f = 1\n", &colours(V0, V1)).colour[0],
        0.0
    );
    assert_eq!(run("final\n d = v1r0.a\n", &colours(V0, V1)).colour[0], 0.0);
}

#[test]
fn fog_is_a_register_with_the_factor_in_alpha() {
    let text = "fog on\nfog_color 0x00336699\nfinal\n d = fog\n g = fog.a\n";
    let mut inputs = colours(V0, V1);
    for (factor, expected) in [(0.25, 0.25), (-3.0, 0.0), (7.0, 1.0), (f32::NAN, 0.0)] {
        inputs.fog = factor;
        let [r, g, b, a] = run(text, &inputs).colour;
        assert_eq!([r, g, b], [51.0 / 255.0, 102.0 / 255.0, 153.0 / 255.0]);
        assert_eq!(a, expected);
    }
    // Disabled, the factor is 1.
    let off = text.replace("fog on\n", "");
    assert_eq!(run(&off, &inputs).colour[3], 1.0);
}

#[test]
fn hw_alpha_test_compares_rounded_bytes() {
    // 0.5 + 1/512 of a step around 99.5/255: rounds to 100 from the half on.
    let program =
        |function: &str| format!("alpha_test {function} 100\nfinal\n d = v0\n g = v0.a\n");
    let kept = |function: &str, a: f32| {
        let outcome = run(&program(function), &colours([0.5, 0.5, 0.5, a], V1));
        outcome.fate == Fate::Kept
    };
    let rows = [
        ("never", [false, false, false]),
        ("less", [true, false, false]),
        ("equal", [false, true, false]),
        ("lequal", [true, true, false]),
        ("greater", [false, false, true]),
        ("notequal", [true, false, true]),
        ("gequal", [false, true, true]),
        ("always", [true, true, true]),
    ];
    for (function, expected) in rows {
        let alphas = [99.4 / 255.0, 99.6 / 255.0, 100.6 / 255.0];
        assert_eq!(alphas.map(|a| kept(function, a)), expected, "{function}");
    }
}

#[test]
fn clip_plane_stages_discard_by_sign() {
    let program = |compares: u32| format!("texture 3 clip {compares:#x}\nfinal\n d = v0\n");
    let fate = |compares, coordinates| {
        let mut inputs = colours(V0, V1);
        inputs.textures[3] = coordinates;
        run(&program(compares), &inputs).fate
    };
    // Bit clear: discard below 0. Bit set: discard from 0 on.
    assert_eq!(fate(0b0000, [0.0, 1.0, 2.0, 3.0]), Fate::Kept);
    assert_eq!(fate(0b0000, [0.0, 1.0, -2.0, 3.0]), Fate::ClippedByTexture);
    assert_eq!(fate(0b0100, [0.0, 1.0, -2.0, 3.0]), Fate::Kept);
    assert_eq!(fate(0b0100, [0.0, 1.0, 0.0, 3.0]), Fate::ClippedByTexture);
    assert_eq!(fate(0b0000, [-0.0; 4]), Fate::Kept);
}

#[test]
fn non_finite_and_tiny_inputs_have_one_meaning() {
    let text = "texture 0 passthrough\nstage 0\n rgb ab r0 = t0 * 1\nfinal\n d = r0\n g = r0.a\n";
    let tiny = standin_combiner::TINY;
    let below = f32::from_bits(tiny.to_bits() - 1);
    for (input, expected) in [
        (f32::NAN, 0.0),
        (f32::INFINITY, 1.0),
        (f32::NEG_INFINITY, 0.0),
        (f32::from_bits(1), 0.0),
        (below, 0.0),
        (tiny, tiny),
        (-0.0, 0.0),
    ] {
        let mut inputs = colours([f32::NAN; 4], [f32::INFINITY; 4]);
        inputs.textures[0] = [input; 4];
        let outcome = run(text, &inputs);
        let expected = [expected; 4].map(f32::to_bits);
        assert_eq!(outcome.colour.map(f32::to_bits), expected, "{input}");
    }
    // Large texels count up to 65536: half of it times 2^-17 is 1/4.
    assert_eq!(standin_combiner::LARGE, 65536.0);
}

#[test]
fn trace_shows_the_registers_around_every_stage() {
    let state =
        assemble("stage 0\n rgb ab r1 = v0 * 1\nstage 1\n rgb ab r0 = r1 * r1\nfinal\n d = r0\n")
            .unwrap();
    let admitted = admit(&state).unwrap();
    let constants = Constants::from_state(&state);
    let mut seen = Vec::new();
    let _ = trace(
        &Float,
        &admitted.program,
        &admitted.shell,
        &constants,
        &colours(V0, V1),
        |step, registers| seen.push((step, registers[13][0], registers[12][0])),
    );
    let red = V0[0];
    assert_eq!(
        seen,
        [
            (0, 0.0, 0.0),
            (1, red, 0.0),
            (2, red, red * red),
            (3, red, red * red)
        ]
    );
}

#[test]
fn hw_nine_bit_profile_has_the_consoles_bias_complement_and_halves() {
    let of = |byte: u8| colours([f32::from(byte) / 255.0; 4], V1);
    let red = |lines: &str, byte| nine_bit(&stage(lines), &of(byte))[0];
    // Bias is 128: 200 - 128 = 72; doubled (200 - 128) * 2 = 144.
    assert_eq!(red(" rgb ab r0 = v0 * 1\n rgb op x-1/2\n", 200), 72.0);
    assert_eq!(red(" rgb ab r0 = v0 * 1\n rgb op 2(x-1/2)\n", 200), 144.0);
    // Complement is 255 - x.
    assert_eq!(red(" rgb ab r0 = 1-v0 * 1\n", 77), 178.0);
    // Halves round up: (77 + 1) >> 1 = 39.
    assert_eq!(red(" rgb ab r0 = v0 * 1\n rgb op x/2\n", 77), 39.0);
    assert_eq!(red(" rgb ab r0 = v0 * 1\n rgb op x/2\n", 76), 38.0);
    // A product lies between floor and ceiling of a b / 255: 77 * 77 / 255 = 23.25.
    assert_eq!(red(" rgb ab r0 = v0 * v0\n", 77), 23.0);
}
