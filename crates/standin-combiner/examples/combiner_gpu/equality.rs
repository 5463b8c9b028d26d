//! Random programs by the oracle and on the device, raw bits.

use crate::support::compare::{Bits, oracle};
use crate::support::gpu::{Cover, Gpu, RAW, Row};
use crate::support::random::{self, Rng};
use crate::{Arguments, Failure};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::packet::Constants;
use standin_combiner::specialise::specialise_batch;
use standin_combiner::state::RawState;
use standin_vulkan::Device;
use standin_vulkan::scratch::Pipeline;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

/// Programs in one draw-everything batch, and fragments of each.
const ROWS: u64 = 4096;
const WIDTH: usize = 4;
/// Programs in one specialised module.
const BATCH: u64 = 50;

struct Mismatch {
    state: RawState,
    fragment: usize,
}

struct Tally {
    programs: u64,
    fragments: u64,
    discarded: u64,
    mismatches: u64,
    seconds: f64,
    /// The first mismatch, shrunk.
    first: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let device = arguments.device()?;
    let seed = arguments.number("seed", 1)?;
    let generic_count = arguments.number("generic", 100_000)?;
    let special_count = arguments.number("specialised", 2_000)?;
    let generic = generic(&device, generic_count, seed)?;
    report("generic", &generic);
    let special = specialised(&device, special_count, seed)?;
    report("specialised", &special);
    let json = |tally: &Tally| {
        serde_json::json!({
            "programs": tally.programs,
            "fragments": tally.fragments,
            "discarded": tally.discarded,
            "mismatches": tally.mismatches,
            "seconds": tally.seconds,
            "first_mismatch": tally.first,
        })
    };
    arguments.write_json(&serde_json::json!({
        "device": device.capabilities().identity.name,
        "seed": seed,
        "generic": json(&generic),
        "specialised": json(&special),
    }))?;
    let clean = generic.mismatches + special.mismatches == 0;
    Ok(if clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn report(path: &str, tally: &Tally) {
    println!(
        "{path}: {} programs, {} fragments ({} discarded), {} mismatches, {:.1} s",
        tally.programs, tally.fragments, tally.discarded, tally.mismatches, tally.seconds
    );
    if let Some(text) = &tally.first {
        println!("{text}");
    }
}

impl Tally {
    fn new() -> Self {
        Self {
            programs: 0,
            fragments: 0,
            discarded: 0,
            mismatches: 0,
            seconds: 0.0,
            first: None,
        }
    }

    /// Counts a batch; explains the first mismatch.
    fn add(
        &mut self,
        gpu: &Gpu,
        states: &[RawState],
        rows: &[Row],
        results: &[Vec<Bits>],
    ) -> Result<(), Failure> {
        let mismatches = compare(states, rows, results);
        self.programs += rows.len() as u64;
        self.fragments += results.iter().map(|row| row.len() as u64).sum::<u64>();
        let gone = results.iter().flatten().filter(|bits| bits.is_none());
        self.discarded += gone.count() as u64;
        self.mismatches += mismatches.len() as u64;
        if let (Some((row, mismatch)), None) = (mismatches.first(), &self.first) {
            let module = evaluator(&gpu.shell, EvaluatorForm::default());
            let generic = gpu.pipeline(&module, RAW, Cover::Points)?;
            let inputs = rows[*row].inputs[mismatch.fragment];
            self.first = Some(gpu.explain(&generic, &mismatch.state, &inputs)?);
        }
        Ok(())
    }
}

/// The oracle's side, on every core.
fn compare(states: &[RawState], rows: &[Row], results: &[Vec<Bits>]) -> Vec<(usize, Mismatch)> {
    let one = |i: usize| {
        let admitted = admit(&states[i]).ok()?;
        let row = &rows[i];
        let fragment = row
            .inputs
            .iter()
            .zip(&results[i])
            .position(|(inputs, result)| oracle(&admitted, &row.constants, inputs) != *result)?;
        let state = states[i];
        Some((i, Mismatch { state, fragment }))
    };
    parallel(rows.len(), one).into_iter().flatten().collect()
}

fn parallel<T: Send>(count: usize, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let share = count.div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let one = &one;
        let workers: Vec<_> = (0..count)
            .step_by(share)
            .map(|from| {
                scope.spawn(move || (from..count.min(from + share)).map(one).collect::<Vec<T>>())
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_default())
            .collect()
    })
}

fn row(seed: u64, shell: &RawState) -> (RawState, Row) {
    let mut rng = Rng(seed);
    let mut state = random::program(&mut rng, shell);
    let inputs: Vec<_> = (0..WIDTH).map(|_| random::inputs(&mut rng)).collect();
    random::reference_near_alpha(&mut rng, &mut state, &inputs[0]);
    let program = admit(&state).map(|admitted| admitted.program.canonical());
    let row = Row {
        // Random states are admitted; see the generator.
        program: program.expect("a random state is admitted"),
        constants: Constants::from_state(&state),
        selector: 0,
        inputs,
    };
    (state, row)
}

/// A shell's layouts and its evaluator.
fn prepare(device: &Arc<Device>, shell: &RawState) -> Result<(Gpu, Pipeline), Failure> {
    let (state, _) = row(0, shell);
    let shell = admit(&state)?.shell;
    let gpu = Gpu::new(device, &shell)?;
    let module = evaluator(&shell, EvaluatorForm::default());
    let pipeline = gpu.pipeline(&module, RAW, Cover::Points)?;
    Ok((gpu, pipeline))
}

/// Most programs run in the shell that passes every register in; one batch in eight runs in
/// a random shell with fog, an alpha test and texture stages without a mode.
fn generic(device: &Arc<Device>, programs: u64, seed: u64) -> Result<Tally, Failure> {
    let start = Instant::now();
    let mut tally = Tally::new();
    let mut rng = Rng(seed);
    let plain = random::passthrough_shell();
    let common = prepare(device, &plain)?;
    let mut batches = 0_u32;
    while tally.programs < programs {
        let rows = ROWS.min(programs - tally.programs) as usize;
        batches += 1;
        let other = (batches.is_multiple_of(8)).then(|| random::shell(&mut rng, false));
        let own = match &other {
            Some(shell) => Some(prepare(device, shell)?),
            None => None,
        };
        let (gpu, pipeline) = own.as_ref().unwrap_or(&common);
        let shell = other.unwrap_or(plain);
        let base = rng.next();
        let (states, rows): (Vec<_>, Vec<_>) =
            parallel(rows, |i| row(base.wrapping_add(i as u64), &shell))
                .into_iter()
                .unzip();
        let batch = gpu.batch(&rows)?;
        let results = gpu.draw(&batch, |_| pipeline)?;
        tally.add(gpu, &states, &rows, &results)?;
        if batches.is_multiple_of(100) {
            let seconds = start.elapsed().as_secs_f64();
            println!("  {} programs, {seconds:.0} s", tally.programs);
        }
    }
    tally.seconds = start.elapsed().as_secs_f64();
    Ok(tally)
}

/// Every program is code of its own; several share a module, see `specialise_batch`. One
/// module in four has an alpha test.
fn specialised(device: &Arc<Device>, programs: u64, seed: u64) -> Result<Tally, Failure> {
    let start = Instant::now();
    let mut tally = Tally::new();
    let mut rng = Rng(seed ^ 0x5EC1);
    let plain = random::passthrough_shell();
    let mut batches = 0_u32;
    while tally.programs < programs {
        let count = BATCH.min(programs - tally.programs) as usize;
        batches += 1;
        let mut raw = plain;
        if batches.is_multiple_of(4) {
            raw.control_0 = 1 << 12 | rng.below(8) << 8;
        }
        let base = rng.next();
        let (states, mut rows): (Vec<_>, Vec<_>) = (0..count)
            .map(|i| row(base.wrapping_add(i as u64), &raw))
            .unzip();
        for (row, selector) in rows.iter_mut().zip(0..) {
            row.selector = selector;
        }
        let Admitted { shell, .. } = admit(&states[0])?;
        let gpu = Gpu::new(device, &shell)?;
        let all: Vec<_> = rows.iter().map(|row| row.program).collect();
        let module = specialise_batch(&all, &shell);
        let pipeline = gpu.pipeline(&module, RAW, Cover::Points)?;
        let batch = gpu.batch(&rows)?;
        let results = gpu.draw(&batch, |_| &pipeline)?;
        tally.add(&gpu, &states, &rows, &results)?;
        if batches.is_multiple_of(50) {
            let seconds = start.elapsed().as_secs_f64();
            println!("  {} programs, {seconds:.0} s", tally.programs);
        }
    }
    tally.seconds = start.elapsed().as_secs_f64();
    Ok(tally)
}
