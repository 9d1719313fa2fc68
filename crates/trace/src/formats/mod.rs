//! THE table of trace formats: one row per format, one file per row.
//!
//! A new format is one new file with its `FORMAT` and one line in [`FORMATS`].

pub mod csv;
pub mod disksim;
pub(crate) mod fields;
pub(crate) mod five_columns;
pub mod mqsim;
pub mod msr;
pub mod spc;
pub mod ssdsim;

use crate::error::{Result, unknown_name};
use crate::options::{SizeUnit, TimeUnit};
use crate::record::Record;
use fields::LineFault;

/// Every format there is. Detection tries them in this order.
pub static FORMATS: [Format; 6] =
    [spc::FORMAT, msr::FORMAT, disksim::FORMAT, ssdsim::FORMAT, mqsim::FORMAT, csv::FORMAT];

/// How sure a format's units are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The file itself names them: a flag that says otherwise is an error.
    Stated,
    /// The format's document names them; a flag overrides.
    Documented,
    /// Other formats have the same columns in other units: the data must decide, or a flag.
    Shared,
}

/// One row of the table.
#[derive(Debug)]
pub struct Format {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// The columns of a line.
    pub columns: &'static str,
    /// Who writes this format.
    pub origin: &'static str,
    /// Unit of the time column.
    pub time_unit: TimeUnit,
    /// Unit of the size column.
    pub size_unit: SizeUnit,
    /// How sure the two units are.
    pub certainty: Certainty,
    /// The first line of a file, where the format has one (matched without regard to case).
    pub header: Option<&'static str>,
    /// Does a line have the outer form of this format (separators and number of columns)?
    pub(crate) shape: fn(&[u8]) -> bool,
    /// One line to one record; times are not yet rebased.
    pub(crate) parse: fn(&[u8], Scales) -> std::result::Result<Record, Box<LineFault>>,
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

impl Format {
    /// Is this line the header of the format?
    pub(crate) fn is_header(&self, line: &[u8]) -> bool {
        self.header.is_some_and(|header| {
            let columns = |text: &[u8]| text.trim_ascii().to_ascii_lowercase();
            line.len() < 256
                && line
                    .split(|&byte| byte == b',')
                    .map(columns)
                    .eq(header.as_bytes().split(|&byte| byte == b',').map(columns))
        })
    }
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
