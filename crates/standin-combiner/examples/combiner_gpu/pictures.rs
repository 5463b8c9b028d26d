//! Pictures of the well-known programs by the three paths. They must be the same picture.

use crate::support::compare::{Bits, oracle};
use crate::support::gpu::{Cover, Gpu, RAW, Row};
use crate::{Arguments, Failure};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::asm::assemble;
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::known::KNOWN_PROGRAMS;
use standin_combiner::oracle::FragmentInputs;
use standin_combiner::packet::Constants;
use standin_combiner::specialise::specialise;
use std::path::Path;
use std::process::ExitCode;

/// One pixel for each texel of the harness's textures.
const EDGE: usize = 64;
/// A picture's pixel is drawn as a square of this many.
const SCALE: usize = 4;

pub(crate) fn run(arguments: &Arguments, folder: &str) -> Result<ExitCode, Failure> {
    let device = arguments.device()?;
    std::fs::create_dir_all(folder)?;
    let mut code = ExitCode::SUCCESS;
    for known in KNOWN_PROGRAMS {
        let state = assemble(known.text)?;
        let Admitted { program, shell } = admit(&state)?;
        let canonical = Admitted {
            program: program.canonical(),
            shell,
        };
        let constants = Constants::from_state(&state);
        let rows: Vec<Row> = (0..EDGE)
            .map(|y| Row {
                program: canonical.program,
                constants,
                selector: 0,
                inputs: (0..EDGE).map(|x| scene(known.name, x, y)).collect(),
            })
            .collect();
        let by_oracle: Vec<Vec<Bits>> = rows
            .iter()
            .map(|row| {
                let draw = |inputs| oracle(&canonical, &constants, inputs);
                row.inputs.iter().map(draw).collect()
            })
            .collect();
        let gpu = Gpu::new(&device, &shell)?;
        let batch = gpu.batch(&rows)?;
        let by_gpu = |module: &[u32]| -> Result<Vec<Vec<Bits>>, Failure> {
            let pipeline = gpu.pipeline(module, RAW, Cover::Points)?;
            Ok(gpu.draw(&batch, |_| &pipeline)?)
        };
        let by_exact = by_gpu(&specialise(&canonical))?;
        let by_generic = by_gpu(&evaluator(&shell, EvaluatorForm::default()))?;
        for (path, picture) in [
            ("oracle", &by_oracle),
            ("specialised", &by_exact),
            ("generic", &by_generic),
        ] {
            let file = Path::new(folder).join(format!("{}-{path}.png", known.name));
            write_png(&file, picture)?;
        }
        let equal = by_oracle == by_exact && by_oracle == by_generic;
        let verdict = if equal { "equal" } else { "DIFFERENT" };
        println!("{}: {verdict}", known.name);
        if !equal {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// What the fragments of a program's picture bring with them.
fn scene(name: &str, x: usize, y: usize) -> FragmentInputs {
    let [u, v] = [x, y].map(|i| (i as f32 + 0.5) / EDGE as f32);
    let checker = if (x / 8 + y / 8).is_multiple_of(2) {
        0.9
    } else {
        0.35
    };
    let bricks = [0.8 * checker, 0.4 * checker, 0.3, 1.0];
    let waves = 0.5 + 0.5 * (20.0 * u).sin() * (14.0 * v).cos();
    let mut inputs = FragmentInputs {
        colours: [[1.0, 1.0 - 0.6 * v, 1.0 - 0.6 * u, u], [0.2, 0.3, 0.5, 1.0]],
        fog: 1.0 - 0.8 * v,
        ..FragmentInputs::default()
    };
    inputs.textures[0] = bricks;
    inputs.textures[1] = [0.2, waves, 0.9 - 0.5 * waves, 0.3 + 0.7 * waves];
    if name == "dot3-bump-specular" {
        // A field of bumps as a normal map, a light and a half vector that turn with u.
        let [a, b] = [(24.0 * u).sin(), (24.0 * v).sin()];
        let pack = |[x, y, z]: [f32; 3]| {
            let length = (x * x + y * y + z * z).sqrt();
            [x, y, z].map(|e| 0.5 + 0.5 * e / length)
        };
        let vector = |xyz, alpha| {
            let [x, y, z] = pack(xyz);
            [x, y, z, alpha]
        };
        inputs.textures[0] = vector([0.6 * a, 0.6 * b, 1.0], 1.0);
        inputs.textures[1] = [0.7, 0.55, 0.35, 0.9];
        inputs.colours = [
            vector([1.2 * u - 0.6, 0.5 - v, 0.8], 1.0),
            vector([0.6 * u - 0.3, 0.25 - 0.5 * v, 1.0], 1.0),
        ];
    }
    if name == "two-texture-mux" {
        let distance = ((u - 0.5).powi(2) + (v - 0.5).powi(2)).sqrt();
        inputs.textures[0][3] = 1.0 - 1.6 * distance;
        inputs.textures[1][3] = if distance > 0.45 { 0.0 } else { 1.0 };
    }
    inputs
}

/// Discarded fragments show a grey checkerboard.
fn write_png(path: &Path, picture: &[Vec<Bits>]) -> Result<(), Failure> {
    let size = (EDGE * SCALE) as u32;
    let mut encoder = png::Encoder::new(std::fs::File::create(path)?, size, size);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut bytes = Vec::with_capacity(EDGE * EDGE * SCALE * SCALE * 3);
    for y in 0..EDGE * SCALE {
        for x in 0..EDGE * SCALE {
            let background = if (x / 8 + y / 8).is_multiple_of(2) {
                96
            } else {
                128
            };
            let rgb = match picture[y / SCALE][x / SCALE] {
                None => [background; 3],
                Some([r, g, b, _]) => {
                    [r, g, b].map(|bits| (f32::from_bits(bits) * 255.0).round() as u8)
                }
            };
            bytes.extend_from_slice(&rgb);
        }
    }
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(())
}
