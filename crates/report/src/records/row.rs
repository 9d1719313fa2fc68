//! What a row says: the table of columns, and the recorder that makes rows.

use std::sync::LazyLock;

use ftlab_engine::meter::{Cause, Counts};
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

use crate::derive::total_picojoules;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers from zero.
    Integer,
    /// Numbers with a fraction.
    Real,
    /// Text.
    Word,
}

/// One value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// A count, nanoseconds or an address.
    Integer(u64),
    /// Microjoules.
    Real(f64),
    /// A name.
    Word(&'static str),
}

/// One column: heading, kind, meaning, and where its value comes from.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its heading, with its unit at the end.
    pub name: String,
    /// What it says, in a line.
    pub about: String,
    /// What it holds.
    pub kind: Kind,
    value: Source,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Integer(fn(&Row) -> u64),
    Real(fn(&Row) -> f64),
    Word(fn(&Row) -> &'static str),
    Reads(usize),
    Programs(usize),
}

/// The columns, in order.
pub static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(columns);

fn columns() -> Vec<Column> {
    let column = |name: &str, kind, about: &str, value| Column {
        name: name.to_owned(),
        about: about.to_owned(),
        kind,
        value,
    };
    let integer = |name, about, value| column(name, Kind::Integer, about, Source::Integer(value));
    let mut all = vec![
        integer("index", "Place among the measured requests, from 0.", |row| row.index),
        integer("arrival_ns", "Arrival, from the start of the measured part.", |row| {
            row.request.arrival
        }),
        column(
            "op",
            Kind::Word,
            "`read`, `write`, `trim` or `flush`.",
            Source::Word(|row| op_name(row.request.op)),
        ),
        integer("first_sector", "First sector, of 512 bytes.", |row| row.request.first_sector),
        integer("sectors", "Sectors.", |row| u64::from(row.request.sectors)),
    ];
    all.extend(stages());
    all.push(column(
        "energy_uj",
        Kind::Real,
        "Energy of what the device did since the row before, in microjoules.",
        Source::Real(|row| row.energy_picojoules as f64 / 1e6),
    ));
    for (operation, done, source) in [
        ("reads", "read", Source::Reads as fn(usize) -> Source),
        ("programs", "programmed", Source::Programs),
    ] {
        all.extend(Cause::ALL.iter().enumerate().map(|(index, cause)| {
            let about = format!("Pages {done} by the cause `{}`.", cause.name());
            let name = format!("{operation}_{}", cause.name());
            column(&name, Kind::Integer, &about, source(index))
        }));
    }
    all.extend([
        integer("erases", "Blocks erased.", |row| row.counts.total_erases()),
        integer("map_misses", "Translations that the map cache did not hold.", |row| {
            row.counts.map_misses
        }),
        integer("full_merges", "Full merges.", |row| row.counts.full_merges),
        integer("merged_data_blocks", "Data blocks that they rebuilt.", |row| {
            row.counts.full_data_blocks
        }),
        integer(
            "merge_associativity_max",
            "Data blocks that the largest of them rebuilt.",
            |row| row.associativity_max,
        ),
        integer("stream", "The trace's unit: ASU, volume or disk.", |row| {
            u64::from(row.request.unit)
        }),
        integer("unreadable_pages", "Pages of it that no retry brought back.", |row| {
            row.completion.unreadable.map_or(0, |lost| u64::from(lost.pages))
        }),
        column(
            "error",
            Kind::Word,
            "Empty, or `unreadable`.",
            Source::Word(|row| if row.completion.unreadable.is_some() { "unreadable" } else { "" }),
        ),
    ]);
    all
}

/// The times of a request.
fn stages() -> impl Iterator<Item = Column> {
    type Time = fn(&Row) -> u64;
    let all: [(&str, &str, Time); 9] = [
        ("driver_queue_ns", "In the driver's queue.", |row| row.completion.stages.driver_queue),
        ("host_link_ns", "On the link to the host.", |row| row.completion.stages.host_link),
        ("controller_ns", "In the controller.", |row| row.completion.stages.controller),
        ("buffer_ns", "In the write buffer.", |row| row.completion.stages.buffer),
        ("map_ns", "In the map.", |row| row.completion.stages.map),
        ("flash_ns", "In the flash cells.", |row| row.completion.stages.flash),
        ("channel_ns", "On the channels; with the six before it the sum is `system_ns`.", |row| {
            row.completion.stages.channel
        }),
        ("device_ns", "From admission by the device to completion.", |row| row.completion.device()),
        ("system_ns", "From arrival to completion.", |row| row.completion.system()),
    ];
    let column = |(name, about, value): (&str, &str, Time)| Column {
        name: name.to_owned(),
        about: about.to_owned(),
        kind: Kind::Integer,
        value: Source::Integer(value),
    };
    all.into_iter().map(column)
}

/// The name of an operation in records.
#[must_use]
pub fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    }
}

/// One request, and what the device did since the request before.
#[derive(Clone, Debug)]
pub struct Row {
    /// Place among the measured requests, from 0.
    pub index: u64,
    /// What was asked, its arrival counted from the start of the measured part.
    pub request: Request,
    /// When it was served.
    pub completion: Completion,
    /// What was counted for it. Work in the idle gap before a request is in its row.
    pub counts: Counts,
    /// Energy of that work, and of refreshing DRAM up to the latest completion so far.
    pub energy_picojoules: u128,
    /// Data blocks rebuilt by the largest of its full merges.
    pub associativity_max: u64,
}

impl Row {
    /// Puts a cell per column into `cells`, in order.
    pub fn fill(&self, cells: &mut Vec<Cell>) {
        cells.clear();
        cells.extend(COLUMNS.iter().map(|column| match column.value {
            Source::Integer(value) => Cell::Integer(value(self)),
            Source::Real(value) => Cell::Real(value(self)),
            Source::Word(value) => Cell::Word(value(self)),
            Source::Reads(cause) => Cell::Integer(self.counts.reads[cause]),
            Source::Programs(cause) => Cell::Integer(self.counts.programs[cause]),
        }));
    }
}

/// Turns completions into rows.
#[derive(Debug)]
pub struct Recorder {
    before: Counts,
    picojoules_before: u128,
    /// The latest completion so far.
    until: Nanos,
    /// Full merges by data blocks, as they were at the row before.
    associativity_before: Vec<u64>,
    rows: u64,
}

impl Recorder {
    /// Begins at the counts that the device has now.
    #[must_use]
    pub fn new(device: &dyn Device) -> Self {
        let meter = device.board().meter();
        Recorder {
            before: meter.counts(),
            picojoules_before: total_picojoules(device, 0),
            until: 0,
            associativity_before: meter.merges().associativity.clone(),
            rows: 0,
        }
    }

    /// The row of a request that the device has just served.
    pub fn row(&mut self, device: &dyn Device, request: &Request, completion: &Completion) -> Row {
        let meter = device.board().meter();
        let now = meter.counts();
        let counts = now.since(&self.before);
        self.until = self.until.max(completion.completed);
        let picojoules = total_picojoules(device, self.until);
        let row = Row {
            index: self.rows,
            request: *request,
            completion: *completion,
            counts,
            // Sums are rounded down by kind, so that an increment can be rounded below zero.
            energy_picojoules: picojoules.saturating_sub(self.picojoules_before),
            associativity_max: match counts.full_merges {
                0 => 0,
                _ => self.largest_merge(&meter.merges().associativity),
            },
        };
        self.before = now;
        self.picojoules_before = picojoules;
        self.rows += 1;
        row
    }

    #[cold]
    fn largest_merge(&mut self, now: &[u64]) -> u64 {
        let before = &mut self.associativity_before;
        let largest = now.iter().zip(before.iter()).rposition(|(now, before)| now > before);
        before.copy_from_slice(now);
        largest.map_or(0, |data_blocks| data_blocks as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::CAUSE_NAMES;

    #[test]
    fn headings_are_unique_and_name_every_cause_that_results_name() {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name.as_str()).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name} stands twice");
            assert!(COLUMNS[index].about.ends_with('.'), "{name} says what it means");
        }
        for operation in ["reads_", "programs_"] {
            let causes: Vec<&str> =
                names.iter().filter_map(|name| name.strip_prefix(operation)).collect();
            assert_eq!(causes, CAUSE_NAMES);
        }
    }
}
