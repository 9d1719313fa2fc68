//! The parameters of a twin as they stand in a workload file: tables of whole numbers, each with
//! its columns named, the last the number of times that the row was counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::error::{Result, TraceError};

/// A table: its name, its columns, and what it says.
pub(super) struct TableForm {
    pub name: &'static str,
    pub columns: &'static [&'static str],
    about: &'static str,
}

/// Every table of a twin.
pub(super) const TABLES: [TableForm; 10] = [
    TableForm {
        name: "classes",
        columns: &["part", "class_before", "wrote_before", "class", "writes", "requests"],
        about: "which class follows which, by part of the trace (parts of equal length). Classes: 0 \
                follows one of the latest requests where one began before, 1 follows one where none \
                did, 2 begins where the request before led to the last time, 3 begins where a \
                request began, 4 begins elsewhere in a known extent of 128 KiB, 5 opens an extent",
    },
    TableForm {
        name: "follow",
        columns: &[
            "class",
            "writes",
            "same_operations",
            "onto",
            "octave_before",
            "depth_from",
            "depth_to",
            "rank",
            "requests",
        ],
        about: "which of the latest requests is followed: 0 the one before, 1 the one before that, ...; \
                same_operations: 2 where that did the same, and 1 where the request before at this \
                place did; onto: how much of it was touched before (0 nothing, 1 up to half, 2 more, 3 all); \
                depth: LRU stack distance of class 0 in places where requests began",
    },
    TableForm {
        name: "again",
        columns: &[
            "writes",
            "wrote_before",
            "octave_before",
            "extents_from",
            "extents_to",
            "depth_from",
            "depth_to",
            "requests",
        ],
        about: "LRU stack distances of class 3, together: in extents, and in places where requests \
                began; what was done there before, and the octave of its size in sectors",
    },
    TableForm {
        name: "beside",
        columns: &[
            "writes",
            "octave",
            "within",
            "onto",
            "state",
            "extents_from",
            "extents_to",
            "requests",
        ],
        about: "class 4, by octave of its size: stack distance of the extent, its state (0 never written, 1 read last, 2 written \
                last), and where in it: 0 on a touched sector, 1 right behind one, 2 elsewhere",
    },
    TableForm {
        name: "fresh",
        columns: &["near", "below", "onto", "extents_from", "extents_to", "requests"],
        about: "class 5: distance to the nearest of the 8 extents used last (near 0), or of all (near \
                1), above it or below",
    },
    TableForm {
        name: "offsets",
        columns: &["class", "within", "sector", "requests"],
        about: "the sector of the extent at which requests of classes 4 and 5 begin",
    },
    TableForm {
        name: "sizes_kept",
        columns: &["class", "writes", "same_operation", "octave_before", "kept", "requests"],
        about: "is the size that of the request before: at this place, of those followed, or in time?",
    },
    TableForm {
        name: "sizes",
        columns: &["class", "writes", "octave_before", "bytes", "onto", "requests"],
        about: "sizes where it is not, by the octave of that size in sectors",
    },
    TableForm {
        name: "gaps",
        columns: &["pace", "from_ns", "to_ns", "gaps"],
        about: "time to the next request, by pace",
    },
    TableForm {
        name: "paces",
        columns: &["pace_before", "pace", "gaps"],
        about: "which pace follows which: bursts",
    },
];

/// Most rows of a table.
const ROWS_MAX: usize = 1 << 16;

/// The rows of every table, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tables(BTreeMap<&'static str, Vec<Vec<u64>>>);

impl Tables {
    /// The rows of a table; none where it is absent.
    pub fn rows(&self, name: &str) -> &[Vec<u64>] {
        self.0.get(name).map_or(&[], |rows| rows)
    }

    /// Sets the rows of a table that there is.
    pub fn set(&mut self, name: &str, rows: Vec<Vec<u64>>) {
        let form = form(name).expect("a table that there is");
        debug_assert!(rows.iter().all(|row| row.len() == form.columns.len()));
        self.0.insert(form.name, rows);
    }

    /// Takes a table of a file.
    ///
    /// # Errors
    /// Other columns than those of the table, rows of another length or that were counted 0 times,
    /// too many rows, a table that there is not.
    pub fn take(&mut self, name: &str, columns: &str, rows: Vec<Vec<u64>>) -> Result<()> {
        let Some(form) = form(name) else {
            let names = TABLES.map(|form| form.name);
            return Err(crate::error::unknown_name("table of a twin", name, &names));
        };
        let expected = form.columns.join(", ");
        if columns != expected {
            return Err(TraceError::new(format!("{name}: the columns are others"))
                .with_value(columns.as_bytes())
                .with_legal(expected));
        }
        let counted = |row: &Vec<u64>| {
            row.len() == form.columns.len()
                && row.last().is_some_and(|count| (1..=1 << 48).contains(count))
        };
        if let Some(wrong) = rows.iter().find(|row| !counted(row)) {
            return Err(TraceError::new(format!("{name}: a row is illegal"))
                .with_value(format!("{wrong:?}").as_bytes())
                .with_legal(format!(
                    "{} numbers from 0 on, the last from 1 to 2^48",
                    form.columns.len()
                )));
        }
        if rows.len() > ROWS_MAX {
            return Err(TraceError::new(format!("{name}: too many rows"))
                .with_value(rows.len().to_string().as_bytes())
                .with_legal(format!("up to {ROWS_MAX}")));
        }
        self.0.insert(form.name, rows);
        Ok(())
    }

    /// The tables as they stand in a file, below `[twin]`.
    pub fn written(&self) -> String {
        let mut text = String::new();
        for form in &TABLES {
            let columns = form.columns.join(", ");
            writeln!(text, "\n# {}.\n[twin.{}]", form.about, form.name).expect("text takes it");
            writeln!(text, "columns = \"{columns}\"\nrows = [").expect("text takes it");
            for row in self.rows(form.name) {
                let numbers: Vec<String> = row.iter().map(u64::to_string).collect();
                writeln!(text, "  [{}],", numbers.join(", ")).expect("text takes it");
            }
            text.push_str("]\n");
        }
        text
    }
}

fn form(name: &str) -> Option<&'static TableForm> {
    TABLES.iter().find(|form| form.name == name)
}
