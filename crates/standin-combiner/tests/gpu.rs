//! Oracle, specialised and generic on a device, raw bits of RGBA32F.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.

mod support;

use standin_combiner::admit::{Admitted, admit};
use standin_combiner::asm::assemble;
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::known::KNOWN_PROGRAMS;
use standin_combiner::packet::Constants;
use standin_combiner::specialise::{specialise, specialise_batch};
use standin_combiner::state::RawState;
use standin_vulkan::{
    Device, DeviceChoice, DeviceSettings, Instance, InstanceSettings, Validation,
};
use std::sync::Arc;
use support::compare::{Bits, oracle};
use support::gpu::{Cover, Gpu, RAW, Row};
use support::random::{self, Rng};
use support::scene;

/// The device of `STANDIN_TEST_DEVICE` under the validation layer; `None` where there is
/// none to draw on.
fn device() -> Option<Arc<Device>> {
    let Ok(name) = std::env::var("STANDIN_TEST_DEVICE") else {
        eprintln!("skipped: STANDIN_TEST_DEVICE is not set, see CONTRIBUTING.md");
        return None;
    };
    if name.starts_with("radv-noop") || name == "mock" {
        eprintln!("skipped: {name} draws no pictures");
        return None;
    }
    let instance = Instance::new(&InstanceSettings {
        validation: Validation::Required,
        ..InstanceSettings::default()
    })
    .unwrap();
    let physical = instance.select(&DeviceChoice::BestOrCpu).unwrap();
    Some(Device::new(&physical, &DeviceSettings::default()).unwrap())
}

fn assert_valid(device: &Device) {
    let messages = device.instance().messages().unwrap().take();
    assert!(messages.is_empty(), "{messages:#?}");
}

/// A random row: the state, and what is drawn of it.
fn row(rng: &mut Rng, shell: &RawState, width: usize) -> (RawState, Row) {
    let mut state = random::program(rng, shell);
    let inputs: Vec<_> = (0..width).map(|_| random::inputs(rng)).collect();
    random::reference_near_alpha(rng, &mut state, &inputs[0]);
    let admitted = admit(&state).unwrap();
    let row = Row {
        program: admitted.program.canonical(),
        constants: Constants::from_state(&state),
        selector: 0,
        inputs,
    };
    (state, row)
}

/// Fails where a result is not the oracle's. Returns how many fragments were kept.
fn assert_rows(gpu: &Gpu, states: &[RawState], rows: &[Row], results: &[Vec<Bits>]) -> usize {
    let mut kept = 0;
    for ((state, row), results) in states.iter().zip(rows).zip(results) {
        let admitted = admit(state).unwrap();
        for (inputs, result) in row.inputs.iter().zip(results) {
            let right = oracle(&admitted, &row.constants, inputs);
            kept += usize::from(right.is_some());
            if right != *result {
                let module = evaluator(&admitted.shell, EvaluatorForm::default());
                let generic = gpu.pipeline(&module, RAW, Cover::Points).unwrap();
                panic!("{}", gpu.explain(&generic, state, inputs).unwrap());
            }
        }
    }
    kept
}

/// Programs of one shell, all through one pipeline. Returns how many fragments were kept.
fn generic(
    device: &Arc<Device>,
    shell: &RawState,
    form: EvaluatorForm,
    seed: u64,
    programs: usize,
) -> usize {
    const ROWS: usize = 1024;
    const WIDTH: usize = 4;
    let mut rng = Rng(seed);
    let admitted = admit(&random::program(&mut rng, shell)).unwrap();
    let gpu = Gpu::new(device, &admitted.shell).unwrap();
    let pipeline = gpu
        .pipeline(&evaluator(&admitted.shell, form), RAW, Cover::Points)
        .unwrap();
    let (mut left, mut kept) = (programs, 0);
    while left > 0 {
        let rows = left.min(if samples(&admitted) { 64 } else { ROWS });
        left -= rows;
        let (states, rows): (Vec<_>, Vec<_>) =
            (0..rows).map(|_| row(&mut rng, shell, WIDTH)).unzip();
        let batch = gpu.batch(&rows).unwrap();
        let results = gpu.draw(&batch, |_| &pipeline).unwrap();
        kept += assert_rows(&gpu, &states, &rows, &results);
    }
    kept
}

/// A sampling shell's rows are limited by the test's textures.
fn samples(admitted: &Admitted) -> bool {
    admitted
        .shell
        .textures
        .iter()
        .any(|mode| mode.image().is_some())
}

#[test]
fn generic_equals_the_oracle_on_100_000_random_programs() {
    let Some(device) = device() else { return };
    let shell = random::passthrough_shell();
    let kept = generic(&device, &shell, EvaluatorForm::default(), 1, 100_000);
    // This shell discards nothing.
    assert_eq!(kept, 400_000);
    assert_valid(&device);
}

#[test]
fn generic_equals_the_oracle_in_every_form() {
    let Some(device) = device() else { return };
    let shell = random::passthrough_shell();
    for form in EvaluatorForm::all() {
        assert_eq!(generic(&device, &shell, form, 2, 250), 1_000, "{form}");
    }
    assert_valid(&device);
}

#[test]
fn both_equal_the_oracle_in_random_shells() {
    let Some(device) = device() else { return };
    let mut rng = Rng(3);
    let (mut drawn, mut kept) = (0, 0);
    for seed in 0..24 {
        let shell = random::shell(&mut rng, true);
        drawn += 64 * 4;
        kept += generic(&device, &shell, EvaluatorForm::default(), seed, 64);
        let admitted = admit(&random::program(&mut rng, &shell)).unwrap();
        let gpu = Gpu::new(&device, &admitted.shell).unwrap();
        let (state, row) = row(&mut rng, &shell, 4);
        let canonical = Admitted {
            program: row.program,
            shell: admitted.shell,
        };
        let pipeline = gpu
            .pipeline(&specialise(&canonical), RAW, Cover::Points)
            .unwrap();
        let batch = gpu.batch(std::slice::from_ref(&row)).unwrap();
        let results = gpu.draw(&batch, |_| &pipeline).unwrap();
        drawn += 4;
        kept += assert_rows(&gpu, &[state], &[row], &results);
    }
    assert!(
        kept > drawn / 4 && kept < drawn,
        "{kept} of {drawn} were kept"
    );
    assert_valid(&device);
}

#[test]
fn specialised_equals_the_oracle_on_2_000_random_programs() {
    const BATCH: usize = 50;
    let Some(device) = device() else { return };
    let shell = random::passthrough_shell();
    let mut rng = Rng(4);
    let admitted = admit(&random::program(&mut rng, &shell)).unwrap();
    let gpu = Gpu::new(&device, &admitted.shell).unwrap();
    for _ in 0..2_000 / BATCH {
        let (states, mut rows): (Vec<_>, Vec<_>) =
            (0..BATCH).map(|_| row(&mut rng, &shell, 8)).unzip();
        let programs: Vec<_> = rows.iter().map(|row| row.program).collect();
        for (i, row) in rows.iter_mut().enumerate() {
            row.selector = i as u32;
        }
        let module = specialise_batch(&programs, &admitted.shell);
        let pipeline = gpu.pipeline(&module, RAW, Cover::Points).unwrap();
        let batch = gpu.batch(&rows).unwrap();
        let results = gpu.draw(&batch, |_| &pipeline).unwrap();
        let kept = assert_rows(&gpu, &states, &rows, &results);
        assert_eq!(kept, BATCH * 8);
    }
    assert_valid(&device);
}

/// One pipeline layout and one descriptor set serve the stand-in and the exact pipelines of
/// a family; only offsets move between draws. The harness checks that it is so.
#[test]
fn exact_and_generic_pipelines_share_one_descriptor_set() {
    let Some(device) = device() else { return };
    let shell = random::passthrough_shell();
    let mut rng = Rng(5);
    let (states, rows): (Vec<_>, Vec<_>) = (0..8).map(|_| row(&mut rng, &shell, 4)).unzip();
    let admitted = admit(&states[0]).unwrap();
    let gpu = Gpu::new(&device, &admitted.shell).unwrap();
    let general = evaluator(&admitted.shell, EvaluatorForm::default());
    let general = gpu.pipeline(&general, RAW, Cover::Points).unwrap();
    let exact: Vec<_> = rows
        .iter()
        .map(|row| {
            let canonical = Admitted {
                program: row.program,
                shell: admitted.shell,
            };
            gpu.pipeline(&specialise(&canonical), RAW, Cover::Points)
                .unwrap()
        })
        .collect();
    let batch = gpu.batch(&rows).unwrap();
    let mixed = gpu
        .draw(&batch, |y| if y % 2 == 0 { &general } else { &exact[y] })
        .unwrap();
    let kept = assert_rows(&gpu, &states, &rows, &mixed);
    assert_eq!(kept, 8 * 4);
    assert_valid(&device);
}

#[test]
fn clip_planes_and_non_finite_texels_agree() {
    let Some(device) = device() else { return };
    let mut rng = Rng(6);
    // Stage 0 samples, stage 3 clips; registers T3 must not be read.
    let shell = RawState {
        shader_program: 1 | 5 << 15,
        shader_clip_mode: 0x6 << 12,
        ..RawState::default()
    };
    let state = RawState {
        combine_control: 1,
        rgb_inputs: [0xC828_4420, 0, 0, 0, 0, 0, 0, 0],
        rgb_outputs: [0xC00, 0, 0, 0, 0, 0, 0, 0],
        final_abcd: 0x0000_000C,
        final_efg: 0x0000_1800,
        ..shell
    };
    let admitted = admit(&state).unwrap();
    let odd = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        1e-40,
        3.0e38,
    ];
    let rows: Vec<Row> = (0..64)
        .map(|_| {
            let mut inputs: Vec<_> = (0..8).map(|_| random::inputs(&mut rng)).collect();
            for inputs in &mut inputs {
                for x in &mut inputs.textures[0] {
                    *x = rng.pick(&odd);
                }
                // Small whole numbers: half of the fragments survive the compares.
                inputs.textures[3] = [0; 4].map(|_| rng.pick(&[-1.0, 0.0, 1.0, -0.0]));
                inputs.textures[3][1] = -1.0;
                inputs.textures[3][2] = rng.pick(&[-1.0, -2.0, 0.0]);
            }
            Row {
                program: admitted.program.canonical(),
                constants: Constants::from_state(&state),
                selector: 0,
                inputs,
            }
        })
        .collect();
    let gpu = Gpu::new(&device, &admitted.shell).unwrap();
    let batch = gpu.batch(&rows).unwrap();
    let states = vec![state; rows.len()];
    for module in [
        evaluator(&admitted.shell, EvaluatorForm::default()),
        specialise(&admitted),
    ] {
        let pipeline = gpu.pipeline(&module, RAW, Cover::Points).unwrap();
        let results = gpu.draw(&batch, |_| &pipeline).unwrap();
        let kept = assert_rows(&gpu, &states, &rows, &results);
        assert!(kept > 50 && kept < 450, "{kept} of 512 were kept");
    }
    assert_valid(&device);
}

#[test]
fn well_known_programs_draw_one_picture_by_all_three_paths() {
    let Some(device) = device() else { return };
    for known in KNOWN_PROGRAMS {
        let state = assemble(known.text).unwrap();
        let admitted = admit(&state).unwrap();
        let rows: Vec<Row> = (0..scene::EDGE)
            .map(|y| Row {
                program: admitted.program.canonical(),
                constants: Constants::from_state(&state),
                selector: 0,
                inputs: scene::row(known.name, y),
            })
            .collect();
        let gpu = Gpu::new(&device, &admitted.shell).unwrap();
        let batch = gpu.batch(&rows).unwrap();
        let states = vec![state; rows.len()];
        for module in [
            evaluator(&admitted.shell, EvaluatorForm::default()),
            specialise(&admitted),
        ] {
            let pipeline = gpu.pipeline(&module, RAW, Cover::Points).unwrap();
            let results = gpu.draw(&batch, |_| &pipeline).unwrap();
            let kept = assert_rows(&gpu, &states, &rows, &results);
            // Only the mux program has an alpha test, and its corners fail it.
            let all = scene::EDGE * scene::EDGE;
            assert_eq!(
                kept == all,
                known.name != "two-texture-mux",
                "{}",
                known.name
            );
        }
    }
    assert_valid(&device);
}
