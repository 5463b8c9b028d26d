//! `standin pull`: rewrites a vertex shader so that it reads its inputs by itself.

use crate::exit::{Failure, Outcome};
use crate::output::{self, FormatArgs, Report, words};
use serde::Serialize;
use standin_pull::{Options, Pulled, Rewritten, rewrite, words_from_bytes};
use std::path::PathBuf;

/// Rewrite a vertex shader so that it needs no vertex descriptor (`docs/vertex-pulling.md`).
#[derive(Debug, clap::Args)]
#[command(after_help = crate::exit::HELP)]
pub(crate) struct Args {
    /// The shader, as SPIR-V.
    #[arg(value_name = "IN.spv")]
    input: PathBuf,
    /// The entry point, where several are vertex shaders.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Where the pulled shader goes.
    #[arg(short, long, value_name = "OUT.spv")]
    output: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// A rewrite's result, and what a draw with it must supply. Field names are stable.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Told(Rewritten);

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let bytes = std::fs::read(&args.input).map_err(|error| Failure::file(&args.input, error))?;
    let spirv = words_from_bytes(&bytes).map_err(|error| Failure::file(&args.input, error))?;
    let options = Options {
        entry: args.entry.clone(),
        ..Options::default()
    };
    let rewritten = match rewrite(&spirv, &options) {
        Ok(rewritten) => rewritten,
        Err(declined) => {
            eprintln!("standin: {}: declined: {declined}", args.input.display());
            return Ok(Outcome::EntriesLost);
        }
    };
    // A shader without inputs serves every layout as it is.
    let code = match &rewritten {
        Rewritten::Pulled(pulled) => &pulled.spirv,
        Rewritten::NotNeeded => &spirv,
    };
    let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&args.output, bytes).map_err(|error| Failure::file(&args.output, error))?;
    output::print(&Told(rewritten), args.format.format())?;
    Ok(Outcome::AllWell)
}

impl Report for Told {
    fn text(&self) -> String {
        match &self.0 {
            Rewritten::NotNeeded => "the shader reads no vertex attribute: unchanged\n".to_owned(),
            Rewritten::Pulled(pulled) => inputs(pulled),
        }
    }
}

fn inputs(pulled: &Pulled) -> String {
    let mut table = words(&["location", "component", "type", "read"]);
    for input in &pulled.inputs {
        table.add_row([
            input.location.to_string(),
            input.component.to_string(),
            format!("{} x {:?}{}", input.components, input.scalar, input.width),
            if input.used { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let mut text = format!("entry point {}\n{table}\n", pulled.entry);
    if !pulled.added_capabilities.is_empty() {
        text.push_str("needs ");
        text.push_str(&pulled.added_capabilities.join(", "));
        text.push('\n');
    }
    text
}
