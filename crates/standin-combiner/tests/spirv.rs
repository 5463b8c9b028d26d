//! Every emitted module is valid for Vulkan 1.0, by the Khronos validator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test fails by panic.

mod support;

use standin_combiner::admit::{Admitted, admit};
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::specialise::{specialise, specialise_batch};
use standin_combiner::state::RawState;
use std::io::Write;
use std::process::{Command, Stdio};
use support::random::{self, Rng};

/// Whether `spirv-val` is at hand. Where the tests run on devices it must be.
fn validator_exists() -> bool {
    let found = Command::new("spirv-val")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let required = std::env::var_os("STANDIN_TEST_DEVICE").is_some();
    assert!(found || !required, "spirv-val is not on the PATH");
    if !found {
        eprintln!("skipped: spirv-val is not on the PATH (cargo xtask test provides it)");
    }
    found
}

fn validate(words: &[u32]) {
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.0", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Shells that have every texture mode, every alpha test, fog on and off.
fn shells() -> Vec<RawState> {
    let mut shells: Vec<RawState> = (0..8)
        .map(|function| RawState {
            final_abcd: 0x0000_0004,
            shader_program: [0, 1, 2, 3, 4, 5, 1 | 2 << 5 | 3 << 10 | 5 << 15, 4 << 15][function],
            shader_clip_mode: 0x5A5A,
            control_0: 1 << 12 | (function as u32) << 8,
            control_3: (function as u32 & 1) << 8,
            ..RawState::default()
        })
        .collect();
    shells.push(RawState {
        final_abcd: 0x0000_0004,
        ..RawState::default()
    });
    shells
}

#[test]
fn evaluators_are_valid_in_every_form_and_shell() {
    if !validator_exists() {
        return;
    }
    for state in shells() {
        let shell = admit(&state).unwrap().shell;
        for form in EvaluatorForm::all() {
            validate(&evaluator(&shell, form));
        }
    }
}

#[test]
fn specialised_modules_are_valid() {
    if !validator_exists() {
        return;
    }
    let mut rng = Rng(5);
    let mut batch = Vec::new();
    let shell = random::passthrough_shell();
    for _ in 0..150 {
        let state = random::program(&mut rng, &shell);
        let admitted = admit(&state).unwrap();
        validate(&specialise(&admitted));
        batch.push(admitted.program);
    }
    let plain = admit(&random::program(&mut rng, &shell)).unwrap().shell;
    validate(&specialise_batch(&batch, &plain));
    for shell in shells() {
        let Admitted { program, .. } = admit(&shell).unwrap();
        let shell = admit(&shell).unwrap().shell;
        validate(&specialise(&Admitted { program, shell }));
    }
}
