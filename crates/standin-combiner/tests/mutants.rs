//! Each misreading of the rules that a public implementation has, built into the oracle, is
//! told apart from the right reading by a written case, and by random programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.

mod support;

use standin_combiner::admit::admit;
use standin_combiner::asm::assemble;
use standin_combiner::oracle::{Float, FragmentInputs, Reading, evaluate_as};
use standin_combiner::packet::Constants;
use standin_combiner::state::RawState;
use support::compare::{Bits, bits, shrink};
use support::random::{self, Rng};

fn result(reading: Reading, state: &RawState, inputs: &FragmentInputs) -> Bits {
    let admitted = admit(state).unwrap();
    let constants = Constants::from_state(state);
    bits(&evaluate_as(
        reading,
        &Float,
        &admitted.program,
        &admitted.shell,
        &constants,
        inputs,
    ))
}

fn inputs() -> FragmentInputs {
    FragmentInputs {
        colours: [[0.25, 0.5, 0.75, 0.625], [0.5, 0.25, 1.0, 0.375]],
        ..FragmentInputs::default()
    }
}

/// The smallest program that shows a misreading.
fn case(reading: Reading) -> &'static str {
    match reading {
        Reading::Right => "final\n d = v0\n",
        Reading::RgbWrittenBeforeAlphaReads => {
            "stage 0\n rgb ab r0 = v0 * 1\n alpha ab r0 = r0.b * 1\nfinal\n g = r0.a\n d = v0\n"
        }
        Reading::ResultsOneByOne => {
            "stage 0\n rgb ab r0 = v0 * 1\n rgb cd r1 = r0 * 1\nfinal\n d = r1\n"
        }
        Reading::MuxReversed => {
            "mux msb\nstage 0\n rgb ab - = v0 * 1\n rgb cd - = v1 * 1\n \
             rgb mux r0 = r0.a ? cd : ab\nfinal\n d = r0\n"
        }
        // 0.625 * 255 = 159.375: odd; its half, 0.375 * 255 = 95.6: odd, but below 1/2.
        Reading::LsbMuxIsMsb => {
            "stage 0\n alpha ab r0 = v1.a * 1\nstage 1\n rgb ab - = v0 * 1\n \
             rgb cd - = v1 * 1\n rgb mux r0 = r0.a ? cd : ab\nfinal\n d = r0\n"
        }
        Reading::SumOfOutputs => {
            "stage 0\n rgb ab - = v0 * 1\n rgb cd - = v1 * 1\n rgb sum r0 = ab + cd\n \
             rgb op x-1/2\nfinal\n d = r0\n"
        }
        Reading::DotSuppressesSum => {
            "stage 0\n rgb ab - = dot(v0, v1)\n rgb cd - = v1 * 0\n rgb sum r0 = ab + cd\nfinal\n d = r0\n"
        }
        Reading::ConstantsAlwaysPerStage => {
            "stage 0\n c0 0xff102030\nstage 1\n c0 0xff405060\n rgb ab r0 = c0 * 1\nfinal\n d = r0\n"
        }
        Reading::BlueToAlphaIsRaw => {
            "stage 0\n rgb ab r0 = v0 * 1 blue_to_alpha\n rgb op x-1/2\nfinal\n g = r0.a\n d = v0\n"
        }
        Reading::NoBlueToAlpha => {
            "stage 0\n rgb ab r0 = v0 * 1 blue_to_alpha\nfinal\n g = r0.a\n d = v0\n"
        }
        Reading::ComplementIgnored => "final\n d = v1r0\n complement_v1\n",
        Reading::NoneTextureAlphaIsZero => "final\n d = v0\n g = t3.a\n",
        Reading::SevenStages => {
            "stage 0\nstage 1\nstage 2\nstage 3\nstage 4\nstage 5\nstage 6\nstage 7\n \
             rgb ab r0 = v0 * 1\nfinal\n d = r0\n"
        }
        Reading::SumTermsUnclamped => {
            "stage 0\n rgb ab r0 = v0 * 1\n rgb op x-1/2\nfinal\n a = 1\n b = v1r0\n"
        }
        // 0.625 * 255 = 159.4 rounds and truncates to 159; 0.375 * 255 = 95.6 does not.
        Reading::AlphaTestTruncates => "alpha_test equal 96\nfinal\n d = v0\n g = v1.a\n",
        Reading::AlphaPortionReadsGreen => {
            "stage 0\n alpha ab r0 = v0.b * 1\nfinal\n d = v0\n g = r0.a\n"
        }
    }
}

#[test]
fn every_misreading_is_caught_by_its_case() {
    for reading in Reading::WRONG {
        let state = assemble(case(reading)).unwrap();
        let right = result(Reading::Right, &state, &inputs());
        let wrong = result(reading, &state, &inputs());
        assert_ne!(right, wrong, "{reading:?} goes unnoticed");
    }
}

/// The random programs of the equality tests are strong enough to show each misreading, so
/// an implementation with one of them would fail there.
#[test]
fn every_misreading_is_caught_by_random_programs() {
    let mut caught = [0_u32; Reading::WRONG.len()];
    let mut rng = Rng(1);
    for i in 0..8_000 {
        let shell = if i % 2 == 0 {
            random::passthrough_shell()
        } else {
            random::shell(&mut rng, false)
        };
        let mut state = random::program(&mut rng, &shell);
        let inputs = random::inputs(&mut rng);
        random::reference_near_alpha(&mut rng, &mut state, &inputs);
        let right = result(Reading::Right, &state, &inputs);
        for (count, reading) in caught.iter_mut().zip(Reading::WRONG) {
            *count += u32::from(result(reading, &state, &inputs) != right);
        }
    }
    for (count, reading) in caught.into_iter().zip(Reading::WRONG) {
        println!("{reading:?}: {count} of 8000");
        assert!(count >= 3, "{reading:?} is caught {count} times in 8000");
    }
}

/// A mismatch is reported small: the shrunken program still shows it, and on average in no
/// more stages than the written cases need. (One misreading needs all eight.)
#[test]
fn mismatches_shrink() {
    let mut rng = Rng(2);
    let mut total = 0;
    for reading in Reading::WRONG {
        let wrong = |state: &RawState, inputs: &FragmentInputs| {
            result(reading, state, inputs) != result(Reading::Right, state, inputs)
        };
        let (state, inputs) = loop {
            let shell = random::shell(&mut rng, false);
            let mut state = random::program(&mut rng, &shell);
            let inputs = random::inputs(&mut rng);
            random::reference_near_alpha(&mut rng, &mut state, &inputs);
            if wrong(&state, &inputs) {
                break (state, inputs);
            }
        };
        let (small, inputs) = shrink(&state, &inputs, wrong);
        assert!(wrong(&small, &inputs));
        total += admit(&small).unwrap().program.stage_count();
    }
    assert!(total <= 8 + 2 * (Reading::WRONG.len() - 1), "{total}");
}
