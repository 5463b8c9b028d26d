//! GPU time of generic against specialised by stage count, fragment-bound: triangles over a
//! large target, textures sampled, all variants in turn within one run.

use crate::support::gpu::{Cover, Gpu};
use crate::{Arguments, Failure};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::oracle::FragmentInputs;
use standin_combiner::packet::{Constants, ProgramPacket};
use standin_combiner::specialise::specialise;
use standin_combiner::state::RawState;
use standin_vulkan::ash::vk;
use standin_vulkan::scratch::{
    ColourTarget, Draw, DrawCall, Filter, Load, Pass, Pipeline, Step, VertexBuffer,
};
use std::process::ExitCode;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
/// Full-target triangles in one measured pass.
const LAYERS: u32 = 8;
/// Measurements of each pipeline; the median counts.
const ROUNDS: usize = 15;
const STAGES: [u32; 7] = [0, 1, 2, 3, 4, 6, 8];

/// What a stage of the measured programs does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// One product in each portion: what most games' stages do.
    Modulate,
    /// A sum of two products in each portion.
    Blend,
    /// All six results are taken, with mappings and an operation.
    Full,
}

impl Work {
    const ALL: [Self; 3] = [Self::Modulate, Self::Blend, Self::Full];

    fn name(self) -> &'static str {
        match self {
            Self::Modulate => "modulate",
            Self::Blend => "blend",
            Self::Full => "full",
        }
    }

    fn state(self, stages: u32) -> RawState {
        let mut state = RawState {
            combine_control: stages | 1 << 8,
            final_abcd: 0x0000_000C,
            final_efg: 0x0000_1C00,
            // Two sampled textures.
            shader_program: 1 | 1 << 5,
            ..RawState::default()
        };
        for i in 0..stages as usize {
            // Stages take turns with the textures and colours, so that none repeats.
            let other = [0x08, 0x09, 0x04, 0x05][i % 4];
            let first = if i == 0 { 0x04 } else { 0x0C };
            state.factor0[i] = 0xE0C0_D0F0;
            match self {
                Self::Modulate => {
                    state.rgb_inputs[i] = first << 24 | other << 16;
                    state.rgb_outputs[i] = 0xC0;
                    state.alpha_inputs[i] = (first | 0x10) << 24 | (other | 0x10) << 16;
                    state.alpha_outputs[i] = 0xC0;
                }
                Self::Blend => {
                    state.rgb_inputs[i] = first << 24 | other << 16 | 0x01 << 8 | 0x19;
                    state.rgb_outputs[i] = 0xC00;
                    state.alpha_inputs[i] =
                        (first | 0x10) << 24 | (other | 0x10) << 16 | 0x11 << 8 | 0x19;
                    state.alpha_outputs[i] = 0xC00;
                }
                Self::Full => {
                    state.rgb_inputs[i] =
                        (first | 0xC0) << 24 | (other | 0x40) << 16 | 0x2D << 8 | 0x1C;
                    state.rgb_outputs[i] = 0xD | 0x5 << 4 | 0xC << 8 | 4 << 15;
                    state.alpha_inputs[i] =
                        (first | 0xD0) << 24 | (other | 0x50) << 16 | 0x3D << 8 | 0x0C;
                    state.alpha_outputs[i] = 0xD | 0x5 << 4 | 0xC << 8 | 2 << 15;
                }
            }
        }
        state
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let device = arguments.device()?;
    let edge = u32::try_from(arguments.number("edge", 512)?)?;
    let shell = admit(&Work::Modulate.state(1))?.shell;
    let gpu = Gpu::new(&device, &shell)?;
    let forms: Vec<EvaluatorForm> = EvaluatorForm::all().collect();
    let generic: Vec<Pipeline> = forms
        .iter()
        .map(|form| gpu.pipeline(&evaluator(&shell, *form), FORMAT, Cover::Triangles))
        .collect::<Result<_, _>>()?;
    println!("{edge} x {edge} pixels, {LAYERS} layers, median of {ROUNDS}");
    let mut table = Vec::new();
    for work in Work::ALL {
        print!("\n{:<10}{:>16}", work.name(), "specialised, ms");
        for form in &forms {
            print!("{form:>10}");
        }
        println!();
        for stages in STAGES {
            let times = measure(&gpu, edge, &work.state(stages), &generic)?;
            print!("{:<10}{:>16.3}", format!("{stages} stages"), times[0] / 1e6);
            for time in &times[1..] {
                print!("{:>9.2}x", time / times[0]);
            }
            println!();
            let generic: serde_json::Map<String, serde_json::Value> = forms
                .iter()
                .zip(&times[1..])
                .map(|(form, time)| (form.to_string(), serde_json::json!(time)))
                .collect();
            table.push(serde_json::json!({
                "stage": work.name(),
                "stages": stages,
                "specialised_ns": times[0],
                "generic_ns": generic,
            }));
        }
    }
    arguments.write_json(&serde_json::json!({
        "device": device.capabilities().identity.name,
        "edge": edge,
        "layers": LAYERS,
        "rounds": ROUNDS,
        "rows": table,
    }))?;
    Ok(ExitCode::SUCCESS)
}

/// The median time in nanoseconds of the specialised pipeline and of each generic one.
fn measure(
    gpu: &Gpu,
    edge: u32,
    state: &RawState,
    generic: &[Pipeline],
) -> Result<Vec<f64>, Failure> {
    let Admitted { program, shell } = admit(state)?;
    let canonical = Admitted {
        program: program.canonical(),
        shell,
    };
    let exact = gpu.pipeline(&specialise(&canonical), FORMAT, Cover::Triangles)?;
    let texel = |stage: usize, x: usize, y: usize| {
        let [u, v] = [x, y].map(|i| i as f32 / 64.0);
        Some([
            u,
            v,
            if stage == 0 { 1.0 - u } else { u * v },
            0.5 + 0.5 * v,
        ])
    };
    let textures = gpu.textures(texel)?;
    let packet = ProgramPacket::new(&canonical.program).to_bytes();
    let constants = Constants::from_state(state).to_bytes();
    let set = gpu.set(&packet, &constants, &textures, Filter::Nearest)?;
    let corner = |x: f32, y: f32| {
        let inputs = FragmentInputs {
            colours: [
                [0.5 + 0.2 * x, 0.5, 0.5 + 0.2 * y, 0.9],
                [0.3, 0.6, 0.1, 0.4],
            ],
            fog: 1.0,
            textures: [[x, y, 0.0, 1.0]; 4],
        };
        (inputs, [x, y])
    };
    let vertices = gpu.vertices(&[corner(-1.0, -1.0), corner(3.0, -1.0), corner(-1.0, 3.0)])?;
    let target = gpu.target(edge, edge, FORMAT)?;
    let sets = [(&set, &[0, 0][..])];
    let vertex_buffers = [VertexBuffer {
        binding: 0,
        buffer: &vertices,
        offset: 0,
    }];
    let colours = [ColourTarget {
        image: &target,
        load: Load::Clear([0.0; 4]),
    }];
    let call = DrawCall::Direct {
        vertices: 3,
        instances: LAYERS,
        first_vertex: 0,
        first_instance: 0,
    };
    let all: Vec<[Draw<'_>; 1]> = std::iter::once(&exact)
        .chain(generic)
        .map(|pipeline| {
            [Draw {
                sets: &sets,
                vertex_buffers: &vertex_buffers,
                ..Draw::new(pipeline, call)
            }]
        })
        .collect();
    let steps: Vec<Step<'_>> = all
        .iter()
        .map(|draws| {
            Step::Pass(Pass {
                size: (edge, edge),
                colours: &colours,
                depth: None,
                draws,
            })
        })
        .collect();
    let mut times = vec![Vec::new(); steps.len()];
    for round in 0..=ROUNDS {
        let report = gpu.scratch.run(&steps)?;
        // The first round compiles, where a driver does that at the first draw.
        if round > 0 {
            for (times, time) in times.iter_mut().zip(report.nanoseconds) {
                times.push(time.ok_or("the device has no timestamps")?);
            }
        }
    }
    Ok(times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect())
}
