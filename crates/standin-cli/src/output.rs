//! What a verb prints: tables for people, or one JSON object for programs.

use crate::exit::Failure;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::io::Write;

/// Who reads the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Tables on standard output.
    Text,
    /// One JSON object on standard output. `docs/command.md` names the fields.
    Json,
}

/// The `--json` option of a reporting verb.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct FormatArgs {
    /// Print one JSON object instead of tables.
    #[arg(long)]
    json: bool,
}

impl FormatArgs {
    /// Who reads the result.
    pub(crate) fn format(self) -> Format {
        if self.json {
            Format::Json
        } else {
            Format::Text
        }
    }
}

/// What a verb found out: both forms hold the same facts.
pub(crate) trait Report: Serialize {
    /// The form for people, ending in a newline.
    fn text(&self) -> String;
}

/// Writes a report to standard output.
pub(crate) fn print(report: &impl Report, format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Text => out.write_all(report.text().as_bytes())?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, report).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(())
}

/// A table of words.
pub(crate) fn words(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header.to_vec());
    table
}

/// A table whose first column is names and whose others are figures.
pub(crate) fn figures(header: &[&str]) -> Table {
    let mut table = words(header);
    for index in 1..header.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A duration in the unit that suits it, three digits: `812 ns`, `4.05 us`, `17.3 ms`.
pub(crate) fn duration(nanoseconds: u64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns")];
    let value = nanoseconds as f64;
    let (scale, unit) = UNITS
        .into_iter()
        .find(|(scale, _)| value >= *scale)
        .unwrap_or((1.0, "ns"));
    let scaled = value / scale;
    let places = if scaled >= 100.0 || scale == 1.0 {
        0
    } else if scaled >= 10.0 {
        1
    } else {
        2
    };
    format!("{scaled:.places$} {unit}")
}

/// A size in binary units: `980 B`, `4.2 KiB`, `1.1 GiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    UNITS
        .into_iter()
        .find(|(scale, _)| bytes >= *scale)
        .map_or_else(
            || format!("{bytes} B"),
            |(scale, unit)| format!("{:.1} {unit}", bytes as f64 / scale as f64),
        )
}

#[cfg(test)]
mod tests {
    use super::{duration, size};

    #[test]
    fn durations_take_the_unit_that_suits_them() {
        let cases = [
            (0, "0 ns"),
            (812, "812 ns"),
            (4_050, "4.05 us"),
            (17_300_000, "17.3 ms"),
            (250_000_000, "250 ms"),
            (1_500_000_000, "1.50 s"),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(duration(nanoseconds), expected);
        }
    }

    #[test]
    fn sizes_take_binary_units() {
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1.0 KiB");
        assert_eq!(size(3 << 29), "1.5 GiB");
    }
}
