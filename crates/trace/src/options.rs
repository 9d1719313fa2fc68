//! What a caller may state about a trace: format, units, which volumes, how much of it.

use std::str::FromStr;

use crate::error::{Result, TraceError, unknown_name};
use crate::filter::Filter;
use crate::record::unit_of_device;

/// Unit of the time column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// Nanoseconds (SSDsim, MQSim).
    Nanoseconds,
    /// Windows file time, 100 ns (MSR Cambridge).
    Filetime,
    /// Microseconds (our CSV).
    Microseconds,
    /// Milliseconds (DiskSim).
    Milliseconds,
    /// Seconds (SPC).
    Seconds,
}

impl TimeUnit {
    /// Every unit with its name on the command line, shortest first.
    pub const ALL: [(&'static str, Self); 5] = [
        ("ns", Self::Nanoseconds),
        ("filetime", Self::Filetime),
        ("us", Self::Microseconds),
        ("ms", Self::Milliseconds),
        ("s", Self::Seconds),
    ];

    /// Nanoseconds in one unit.
    pub fn nanoseconds(self) -> u64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Filetime => 100,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, unit)| *unit == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for TimeUnit {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self> {
        from_table("time unit", text, &Self::ALL)
    }
}

/// Unit of the size column of a format whose sizes count blocks or bytes. Addresses are not
/// affected: in every known format they count what the format says they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeUnit {
    /// Bytes.
    Bytes,
    /// Sectors of 512 bytes.
    Sectors,
    /// KiB.
    Kibibytes,
    /// Pages of 2 KiB.
    Pages2k,
    /// Pages of 4 KiB.
    Pages4k,
    /// Pages of 8 KiB.
    Pages8k,
    /// Pages of 16 KiB.
    Pages16k,
}

impl SizeUnit {
    /// Every unit with its name on the command line.
    pub const ALL: [(&'static str, Self); 7] = [
        ("bytes", Self::Bytes),
        ("sectors", Self::Sectors),
        ("kib", Self::Kibibytes),
        ("pages2k", Self::Pages2k),
        ("pages4k", Self::Pages4k),
        ("pages8k", Self::Pages8k),
        ("pages16k", Self::Pages16k),
    ];

    /// Bytes in one unit.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Bytes => 1,
            Self::Sectors => 512,
            Self::Kibibytes => 1 << 10,
            Self::Pages2k => 2 << 10,
            Self::Pages4k => 4 << 10,
            Self::Pages8k => 8 << 10,
            Self::Pages16k => 16 << 10,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, unit)| *unit == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for SizeUnit {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self> {
        from_table("size unit", text, &Self::ALL)
    }
}

fn from_table<T: Copy>(what: &str, text: &str, table: &[(&'static str, T)]) -> Result<T> {
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    table
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text))
        .map(|(_, unit)| *unit)
        .ok_or_else(|| unknown_name(what, text, &names))
}

/// Which units (ASU, volume, disk) of a trace are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum UnitSelection {
    /// All; several are laid side by side in order of their numbers.
    #[default]
    All,
    /// These, sorted and without repetition.
    Only(Vec<u32>),
}

impl UnitSelection {
    /// Is this unit read?
    #[inline]
    pub fn contains(&self, unit: u32) -> bool {
        match self {
            Self::All => true,
            Self::Only(units) => units.binary_search(&unit).is_ok(),
        }
    }

    /// The chosen numbers, ascending with commas between them, as in `0,2`; none for all.
    pub fn list(&self) -> Option<String> {
        match self {
            Self::All => None,
            Self::Only(units) => {
                let numbers: Vec<String> = units.iter().map(ToString::to_string).collect();
                Some(numbers.join(","))
            }
        }
    }
}

impl FromStr for UnitSelection {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self> {
        if text.eq_ignore_ascii_case("all") {
            return Ok(Self::All);
        }
        let mut units = Vec::new();
        for part in text.split(',') {
            let unit = unit_of(part.trim()).ok_or_else(|| {
                TraceError::new("not a list of units").with_value(text.as_bytes()).with_legal(
                    "all, or numbers 0 to 4294967295 with commas between them; block-layer \
                         devices also as MAJOR:MINOR",
                )
            })?;
            units.push(unit);
        }
        units.sort_unstable();
        units.dedup();
        Ok(Self::Only(units))
    }
}

/// A number, or a device of the block layer as `major:minor`.
fn unit_of(text: &str) -> Option<u32> {
    match text.split_once(':') {
        None => text.parse().ok(),
        Some((major, minor)) => unit_of_device(major.parse().ok()?, minor.parse().ok()?),
    }
}

/// What several files of a trace are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Each begins when the one before it has ended.
    InOrder,
    /// They overlap, and their clocks are one: disks of a machine in files of their own.
    ByTime,
}

impl Parts {
    /// Both with their names on the command line.
    pub const ALL: [(&'static str, Self); 2] =
        [("in_order", Self::InOrder), ("by_time", Self::ByTime)];

    /// What to do about files that overlap although they are read one after the other.
    pub(crate) const OVERLAP: &'static str = "parts that follow each other; --parts by_time where \
                                              files overlap; phases:A,B where each begins at a \
                                              time 0 of its own";
}

impl FromStr for Parts {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self> {
        from_table("way to read parts", text, &Self::ALL)
    }
}

/// What the caller states about a trace; whatever is `None` is found out from the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of a row of [`crate::formats::FORMATS`].
    pub format: Option<String>,
    /// Unit of the time column.
    pub time_unit: Option<TimeUnit>,
    /// Unit of the size column.
    pub size_unit: Option<SizeUnit>,
    /// What several files are to each other; `None`: as usual for their format, which is in order
    /// but for vscsi, srt and blktrace.
    pub parts: Option<Parts>,
    /// Which units (ASU, volume, disk) are read.
    pub units: UnitSelection,
    /// Which of their requests count.
    pub filter: Filter,
    /// Stop after this many requests.
    pub head: Option<u64>,
    /// Backward steps of time up to this many nanoseconds are sorted; larger ones are errors.
    pub reorder_window_ns: u64,
    /// Up to so many malformed lines, of all files together, are skipped and counted; 0: the first
    /// one is an error. Text formats only.
    pub skip_bad: u64,
    /// Larger reads and writes are errors: what the memory of the machine can hold, for who knows
    /// it. The compact form is not asked: what was written to it has passed.
    pub request_bytes_max: u64,
    /// Yield flushes whose size is 0 instead of dropping and counting them.
    pub keep_zero_size_flushes: bool,
    /// Yield what is not in order of time as it comes, for a look at what there is: times count for
    /// nothing then, steps back are no errors, and a filter by time may leave too much out.
    pub any_order: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            format: None,
            time_unit: None,
            size_unit: None,
            parts: None,
            units: UnitSelection::All,
            filter: Filter::default(),
            head: None,
            reorder_window_ns: 1_000_000_000,
            skip_bad: 0,
            request_bytes_max: u64::MAX,
            keep_zero_size_flushes: false,
            any_order: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_units_name_the_nearest_and_all_legal_ones() {
        let error = "sector".parse::<SizeUnit>().unwrap_err().to_string();
        assert!(error.contains("did you mean 'sectors'"), "{error}");
        assert!(error.contains("pages4k"), "{error}");
        assert_eq!("ms".parse::<TimeUnit>().unwrap(), TimeUnit::Milliseconds);
        assert!("m s".parse::<TimeUnit>().is_err());
    }

    #[test]
    fn ways_to_read_parts_are_named() {
        assert_eq!("by_time".parse::<Parts>().unwrap(), Parts::ByTime);
        let error = "in-order".parse::<Parts>().unwrap_err().to_string();
        assert!(error.contains("did you mean 'in_order'"), "{error}");
    }

    #[test]
    fn unit_lists_are_sorted_and_checked() {
        let only: UnitSelection = "3,1,3".parse().unwrap();
        assert_eq!(only, UnitSelection::Only(vec![1, 3]));
        assert!(only.contains(3) && !only.contains(2));
        assert_eq!(only.list().as_deref(), Some("1,3"));
        assert_eq!(UnitSelection::All.list(), None);
        assert_eq!("all".parse::<UnitSelection>().unwrap(), UnitSelection::All);
        assert_eq!(
            "8:16".parse::<UnitSelection>().unwrap(),
            UnitSelection::Only(vec![8 << 20 | 16])
        );
        assert!("8:1048576".parse::<UnitSelection>().is_err());
        assert!("1,x".parse::<UnitSelection>().is_err());
        assert!("-1".parse::<UnitSelection>().is_err());
    }
}
