//! What papers print about their traces, counted from records: the one definition that stand-ins
//! are held against and subsets of real traces are compared by. Memory is constant.

use ftlab_flash::request::Op;

use crate::error::{Result, unknown_name};
use crate::record::Record;

/// A number that a paper prints about a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Reads among reads and writes, percent.
    ReadPercent,
    /// Mean size of a request, bytes.
    MeanBytes,
    /// Requests that start where the one before of the same unit ended, percent.
    SequentialPercent,
    /// Mean distance of two arrivals, milliseconds.
    GapMilliseconds,
    /// Gaps below a millisecond, percent.
    GapsBelowMillisecondPercent,
    /// Requests up to 4 KiB, percent.
    SmallPercent,
    /// Requests above 4 KiB and below 16 KiB, percent.
    MediumPercent,
    /// Requests of 16 KiB and more, percent.
    LargePercent,
    /// Requests that write up to 2 KiB, percent of all requests.
    UpTo2KibPercent,
    /// Requests that write more than 64 KiB, percent of all requests.
    Above64KibPercent,
    /// Accesses to 2 KiB pages that find the page among the 5,000 used last, percent of all
    /// accesses, first ones included. Not counted by [`Statistics`], which keeps no pages.
    Recent5000Percent,
}

impl Statistic {
    /// Every statistic with its key in a workload file.
    pub const ALL: [(&'static str, Self); 11] = [
        ("read_percent", Self::ReadPercent),
        ("mean_bytes", Self::MeanBytes),
        ("sequential_percent", Self::SequentialPercent),
        ("gap_ms", Self::GapMilliseconds),
        ("gaps_below_1ms_percent", Self::GapsBelowMillisecondPercent),
        ("small_percent", Self::SmallPercent),
        ("medium_percent", Self::MediumPercent),
        ("large_percent", Self::LargePercent),
        ("up_to_2k_percent", Self::UpTo2KibPercent),
        ("above_64k_percent", Self::Above64KibPercent),
        ("recent_5000_percent", Self::Recent5000Percent),
    ];

    /// The statistic of that key.
    ///
    /// # Errors
    /// An unknown key, with the nearest.
    pub fn find(key: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(name, _)| *name == key);
        found
            .map(|(_, statistic)| *statistic)
            .ok_or_else(|| unknown_name("statistic", key, &Self::ALL.map(|(name, _)| name)))
    }

    /// Its key in a workload file.
    pub fn key(self) -> &'static str {
        Self::ALL.iter().find(|(_, one)| *one == self).map_or("", |(key, _)| key)
    }
}

/// Counts of a trace. Those of several units or traces add up, but for gaps and sequentiality,
/// which [`Self::note`] sees in the order of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Reads, writes and trims; a flush has no size and counts for nothing.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Their bytes together.
    pub bytes: u64,
    /// Requests that start where the one before of the same unit ended.
    pub sequential: u64,
    /// Writes up to 2 KiB.
    pub writes_up_to_2k: u64,
    /// Requests up to 4 KiB.
    pub small: u64,
    /// Requests of 16 KiB and more.
    pub large: u64,
    /// Writes above 64 KiB.
    pub writes_above_64k: u64,
    /// Gaps below a millisecond.
    pub short_gaps: u64,
    /// Arrival of the first request, in nanoseconds.
    pub first_ns: u64,
    /// Arrival of the last, in nanoseconds.
    pub last_ns: u64,
}

impl Statistics {
    /// Counts one record. `previous_end` is where the request before of the same unit ended.
    #[inline]
    pub fn note(&mut self, record: &Record, previous_end: Option<u64>) {
        if record.op == Op::Flush {
            return;
        }
        if self.requests == 0 {
            self.first_ns = record.time_ns;
        } else {
            let gap = record.time_ns.saturating_sub(self.last_ns);
            self.short_gaps += u64::from(gap < 1_000_000);
        }
        self.last_ns = record.time_ns;
        self.requests += 1;
        self.reads += u64::from(record.op == Op::Read);
        let writes = record.op == Op::Write;
        self.writes += u64::from(writes);
        self.bytes = self.bytes.saturating_add(record.size_bytes);
        self.sequential += u64::from(previous_end == Some(record.offset_bytes));
        self.writes_up_to_2k += u64::from(writes && record.size_bytes <= 2048);
        self.small += u64::from(record.size_bytes <= 4096);
        self.large += u64::from(record.size_bytes >= 16_384);
        self.writes_above_64k += u64::from(writes && record.size_bytes > 65_536);
    }

    /// One number of them; none where nothing was counted that it could be taken of.
    pub fn value(&self, statistic: Statistic) -> Option<f64> {
        let share = |part: u64, whole: u64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
        let gaps = self.requests.saturating_sub(1);
        match statistic {
            Statistic::ReadPercent => share(self.reads, self.reads + self.writes),
            Statistic::MeanBytes => {
                (self.requests > 0).then(|| self.bytes as f64 / self.requests as f64)
            }
            Statistic::SequentialPercent => share(self.sequential, self.requests),
            Statistic::GapMilliseconds => {
                (gaps > 0).then(|| (self.last_ns - self.first_ns) as f64 / gaps as f64 / 1e6)
            }
            Statistic::GapsBelowMillisecondPercent => share(self.short_gaps, gaps),
            Statistic::SmallPercent => share(self.small, self.requests),
            Statistic::MediumPercent => {
                share(self.requests - self.small - self.large, self.requests)
            }
            Statistic::LargePercent => share(self.large, self.requests),
            Statistic::UpTo2KibPercent => share(self.writes_up_to_2k, self.requests),
            Statistic::Above64KibPercent => share(self.writes_above_64k, self.requests),
            Statistic::Recent5000Percent => None,
        }
    }
}
