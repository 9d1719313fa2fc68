//! JSON: an object per run, an array for a comparison; one key per line, arrays on one line.

use super::Document;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// Writes the runs with all that they hold.
///
/// # Panics
/// When a run was asked for (not a comparison) and there is not exactly one.
pub fn write(document: &Document<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, Lines::default());
    let done = if document.comparison {
        document.runs.serialize(&mut serializer)
    } else {
        let [run] = document.runs else {
            panic!("one run makes one object, but there are {}", document.runs.len())
        };
        run.serialize(&mut serializer)
    };
    done.expect("a result has string keys only, and memory takes every byte");
    bytes.push(b'\n');
    bytes
}

/// Pretty JSON, except that an array of numbers stays on one line: a curve of 200 points
/// would otherwise take 800 lines, and hide everything else from a reader.
#[derive(Default)]
struct Lines {
    pretty: PrettyFormatter<'static>,
    /// Whether each open bracket, outermost first, is kept on one line.
    open: Vec<bool>,
}

impl Lines {
    /// True inside any array but the outermost one of a comparison, which holds the runs.
    fn on_one_line(&self) -> bool {
        self.open.last().copied().unwrap_or(false)
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let flat = !self.open.is_empty();
        self.open.push(flat);
        if flat { writer.write_all(b"[") } else { self.pretty.begin_array(writer) }
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let flat = self.open.pop().unwrap_or(false);
        if flat { writer.write_all(b"]") } else { self.pretty.end_array(writer) }
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !self.on_one_line() {
            return self.pretty.begin_array_value(writer, first);
        }
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.on_one_line() { Ok(()) } else { self.pretty.end_array_value(writer) }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let flat = self.on_one_line();
        self.open.push(flat);
        if flat { writer.write_all(b"{") } else { self.pretty.begin_object(writer) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let flat = self.open.pop().unwrap_or(false);
        if flat { writer.write_all(b"}") } else { self.pretty.end_object(writer) }
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !self.on_one_line() {
            return self.pretty.begin_object_key(writer, first);
        }
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.on_one_line() { Ok(()) } else { self.pretty.end_object_value(writer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{RunResult, Window, read_json};

    fn example() -> RunResult {
        let mut run = RunResult { scheme: "dftl".to_owned(), ..RunResult::default() };
        run.cdf.all = vec![(100, 0.5), (200, 1.0)];
        run.series = vec![Window::default(); 2];
        run.warnings = vec!["One.".to_owned()];
        run
    }

    #[test]
    fn what_is_written_is_read_back_and_curves_take_one_line() {
        let runs = [example(), example()];
        let bytes = write(&Document { title: "", runs: &runs, comparison: true });
        assert_eq!(read_json(&bytes).unwrap(), runs);
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("      \"all\": [[100, 0.5], [200, 1.0]],\n"), "{text}");
        assert!(text.starts_with("[\n  {\n    \"schema\": \"ftlab/1\",\n"), "{text}");
    }

    #[test]
    fn a_run_is_an_object_and_a_comparison_of_one_an_array() {
        let runs = [example()];
        let run = write(&Document { title: "", runs: &runs, comparison: false });
        let comparison = write(&Document { title: "", runs: &runs, comparison: true });
        assert_eq!((run[0], comparison[0]), (b'{', b'['));
        assert_eq!(read_json(&run).unwrap(), read_json(&comparison).unwrap());
    }
}
