//! THE table of trace formats: one row per format, one file per row.
//!
//! A new format is one new file with its `FORMAT` and one line in [`FORMATS`]. A text format brings
//! a function that reads one line; a binary one brings a function that opens a stream of events.
//! What a row is stands in `format`, what its functions are given and return in `context` and
//! `line`: the formats know these and nothing of the table.

pub mod alibaba;
pub mod blkparse;
pub mod blktrace;
pub mod compact;
pub(crate) mod context;
pub mod csv;
pub mod disksim;
mod fields;
pub mod fiu;
mod five_columns;
pub(crate) mod format;
pub mod iolog;
pub mod libcachesim;
pub(crate) mod line;
pub mod mqsim;
pub mod msr;
pub mod spc;
pub mod srt;
pub mod ssdsim;
pub mod systor;
pub mod tencent;
pub mod vscsi;

use crate::error::{Result, unknown_name};
use format::TextFormat;

pub use format::{Certainty, Format};

/// Every format there is. Detection tries them in this order.
pub static FORMATS: &[Format] = &[
    spc::FORMAT,
    msr::FORMAT,
    disksim::FORMAT,
    ssdsim::FORMAT,
    mqsim::FORMAT,
    blkparse::FORMAT,
    blktrace::FORMAT,
    iolog::VERSION_2,
    iolog::VERSION_3,
    alibaba::FORMAT,
    tencent::FORMAT,
    tencent::IN_BYTES,
    systor::FORMAT,
    fiu::FORMAT,
    compact::FORMAT,
    srt::FORMAT,
    vscsi::FORMAT,
    libcachesim::FORMAT,
    csv::FORMAT,
];

/// Every text format, with how its lines are read.
pub(crate) fn texts() -> impl Iterator<Item = (&'static Format, &'static TextFormat)> {
    FORMATS.iter().filter_map(|format| format.text().map(|text| (format, text)))
}

/// The binary format that the first bytes of a file belong to.
pub(crate) fn binary_of(head: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.binary().is_some_and(|binary| (binary.recognises)(head)))
}

/// The row of that name.
///
/// # Errors
/// An unknown name, with the nearest legal one.
pub fn find(name: &str) -> Result<&'static Format> {
    FORMATS.iter().find(|format| format.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        unknown_name("trace format", name, &names)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_a_misspelt_one_names_the_nearest() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert!(FORMATS[..index].iter().all(|other| other.name != format.name));
            assert_eq!(find(format.name).unwrap().name, format.name);
        }
        let error = find("disksin").unwrap_err().to_string();
        assert!(error.contains("did you mean 'disksim'"), "{error}");
    }
}
