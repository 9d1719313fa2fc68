//! The only place that writes to the terminal.

use std::io::{self, Write as _};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use ftlab_lab::{Error, Result};
use serde_json::Value;

/// Writes to standard output. A reader that went away (`| head`) is no error.
pub fn bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::Run(format!("standard output cannot be written ({error})")))
        }
        _ => Ok(()),
    }
}

/// Writes text and the end of its last line.
pub fn text(text: &str) -> Result<()> {
    bytes(format!("{}\n", text.trim_end_matches('\n')).as_bytes())
}

/// Writes JSON, indented.
pub fn json(value: &Value) -> Result<()> {
    text(&format!("{value:#}"))
}

/// Writes rows under a heading, aligned; long lines are left to the terminal.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> Result<()> {
    aligned(heading, rows, CellAlignment::Left)
}

/// The same of numbers: all columns but the first end where their headings end.
pub fn numbers(heading: &[&str], rows: &[Vec<String>]) -> Result<()> {
    aligned(heading, rows, CellAlignment::Right)
}

/// Columns that a table may take where the terminal is wider, or is none.
const WIDTH: u16 = 100;

/// Writes rows under a heading, a line between them, no line longer than the terminal or 100
/// characters: long cells are broken.
pub fn wrapped(heading: &[&str], rows: &[Vec<String>]) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(heading.iter().copied());
    table.set_content_arrangement(ContentArrangement::Dynamic);
    let width = table.width().unwrap_or(WIDTH).min(WIDTH);
    table.set_width(width);
    for row in rows {
        table.add_row(row.iter());
    }
    // Names and headings stay whole; a blank on either side of a cell.
    for (column, name) in table.column_iter_mut().zip(heading) {
        let width = Width::Fixed(name.len() as u16 + 2);
        column.set_constraint(match column.index {
            0 => ColumnConstraint::ContentWidth,
            _ => ColumnConstraint::LowerBoundary(width),
        });
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    text(&lines.join("\n"))
}

/// A text below a heading: four blanks before each of its lines, none longer than 100 characters.
pub fn indented(text: &str) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(WIDTH - 3).add_row([text]);
    // A cell begins with a blank.
    table.lines().map(|line| format!("   {}", line.trim_end())).collect::<Vec<_>>().join("\n")
}

fn aligned(heading: &[&str], rows: &[Vec<String>], alignment: CellAlignment) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading.iter().copied());
    for row in rows {
        table.add_row(row.iter());
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(alignment);
    }
    // The style pads every cell by a blank; the first column needs none.
    let unpadded = |line: String| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned();
    let lines: Vec<String> = table.lines().map(unpadded).collect();
    text(&lines.join("\n"))
}

/// Says something on standard error that is no failure.
pub fn note(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}

/// Says on standard error why the command failed; several reasons have a line each.
pub fn error(message: &str) {
    let message = message.replace('\n', "\nftlab: ");
    // There is nowhere left to complain when standard error is closed.
    let _ = writeln!(io::stderr(), "ftlab: {message}");
}
