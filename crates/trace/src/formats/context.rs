//! What a reader is given besides the bytes of a trace.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::bad_lines::BadLines;
use crate::filter::EventFilter;
use crate::lines::exchange_separators;
use crate::options::{Parts, SizeUnit, TimeUnit};

/// What a line parser knows besides its line: units, what was asked for, and what earlier lines
/// of the same file said.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Units as factors.
    pub(crate) scales: Scales,
    /// Actions and processes asked for.
    pub(crate) events: EventFilter,
    /// Units whose names are text, numbered in order of appearance.
    pub(crate) names: Names,
    /// Requests before this time after the first one are not asked for: a format with an index may
    /// begin reading near it.
    pub(crate) from_ns: u64,
    /// Time that earlier lines waited, for formats without times of their own.
    pub(crate) waited_ns: u64,
    /// The unit of formats that name none: 0, or the number of the file where files of one time
    /// stand beside each other.
    pub(crate) unit_of_file: u32,
    /// The name that the line before had, and its number.
    pub(crate) latest_name: Option<(Vec<u8>, u32)>,
    /// Whether the header named a column of placement hints, for the format that may have one.
    pub(crate) has_streams: bool,
    /// And a column that says what is written.
    pub(crate) has_contents: bool,
    /// What the caller says that several files are to each other.
    pub(crate) parts: Option<Parts>,
    /// Is this one of several files that are read at the same time?
    pub(crate) of_one_time: bool,
    /// Do semicolons stand where the format has commas? Lines come with the two exchanged.
    pub(crate) semicolons: bool,
    /// Which units were found from the data of the first file.
    pub(crate) guessed: Guessed,
    /// Malformed lines that are skipped.
    pub(crate) bad_lines: BadLines,
}

/// Which units the data alone decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Guessed {
    pub(crate) time: bool,
    pub(crate) size: bool,
}

impl Context {
    pub(crate) fn new(scales: Scales, events: EventFilter) -> Self {
        Self {
            scales,
            events,
            names: Names::default(),
            from_ns: 0,
            waited_ns: 0,
            unit_of_file: 0,
            latest_name: None,
            has_streams: false,
            has_contents: false,
            parts: None,
            of_one_time: false,
            semicolons: false,
            guessed: Guessed::default(),
            bad_lines: BadLines::default(),
        }
    }

    /// A piece of a line as it stands in the file.
    pub(crate) fn as_written(&self, mut piece: Vec<u8>) -> Vec<u8> {
        if self.semicolons {
            exchange_separators(&mut piece);
        }
        piece
    }

    /// For one of several files that are read at the same time: names are shared.
    pub(crate) fn for_file(&self, part: u32) -> Self {
        Self { unit_of_file: part, of_one_time: true, ..self.clone() }
    }
}

/// Names numbered in order of appearance, the same for all files that are read at the same time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(Rc<RefCell<Numbered>>);

#[derive(Debug, Default)]
struct Numbered {
    numbers: FxHashMap<Vec<u8>, u32>,
    /// Only one name can stand.
    only_one: bool,
}

impl Names {
    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().numbers.len()
    }

    /// From here on only one name can stand; false where there are more already.
    pub(crate) fn keep_to_one(&self) -> bool {
        self.0.borrow_mut().only_one = true;
        self.len() <= 1
    }

    /// The number of a name; none where there would be more than `most`, or more than one where
    /// only one can stand.
    pub(crate) fn number(&self, name: &[u8], most: usize) -> Option<u32> {
        let mut names = self.0.borrow_mut();
        if let Some(number) = names.numbers.get(name) {
            return Some(*number);
        }
        let number = names.numbers.len();
        if number >= if names.only_one { 1 } else { most } {
            return None;
        }
        names.numbers.insert(name.to_vec(), number as u32);
        Some(number as u32)
    }
}

/// Units as factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales {
    /// Nanoseconds in one unit of time.
    pub(crate) time_ns: u64,
    /// Bytes in one unit of size.
    pub(crate) size_bytes: u64,
}

impl Scales {
    pub(crate) fn new(time_unit: TimeUnit, size_unit: SizeUnit) -> Self {
        Self { time_ns: time_unit.nanoseconds(), size_bytes: size_unit.bytes() }
    }
}
