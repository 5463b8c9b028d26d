//! Pictures of the well-known programs by the three paths. They must be the same picture.

use crate::support::compare::{Bits, oracle};
use crate::support::gpu::{Cover, Gpu, RAW, Row};
use crate::support::scene::{self, EDGE};
use crate::{Arguments, Failure};
use standin_combiner::admit::{Admitted, admit};
use standin_combiner::asm::assemble;
use standin_combiner::evaluator::{EvaluatorForm, evaluator};
use standin_combiner::known::KNOWN_PROGRAMS;
use standin_combiner::packet::Constants;
use standin_combiner::specialise::specialise;
use std::path::Path;
use std::process::ExitCode;

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
                inputs: scene::row(known.name, y),
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
