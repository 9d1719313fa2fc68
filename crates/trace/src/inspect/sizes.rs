//! Sizes of requests: the most common ones, three classes, and bins that widen by a power of two.

use std::collections::HashMap;

use ftlab_flash::request::Op;
use serde::Serialize;

use super::ratio::ratio;
use crate::record::Record;

/// Most distinct request sizes that are counted one by one.
const SIZES_MAX: usize = 1 << 16;
/// Common sizes that are reported.
const SIZES_SHOWN: usize = 10;
/// Powers of two up to the largest size.
const BINS: usize = 65;
/// Classes of sizes: name and largest size, in bytes (ADAPT 2012, Table I).
const CLASSES: [(&str, Option<u64>); 3] =
    [("small", Some(4 << 10)), ("medium", Some((16 << 10) - 1)), ("large", None)];

/// Sizes of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizes {
    /// Smallest read, write or trim, in bytes.
    pub min_bytes: u64,
    /// Mean, in bytes.
    pub mean_bytes: f64,
    /// Largest, in bytes.
    pub max_bytes: u64,
    /// The most common sizes: bytes and requests, most requests first.
    pub common: Vec<CommonSize>,
}

/// One size and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CommonSize {
    /// Size in bytes.
    pub bytes: u64,
    /// Requests of that size.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Writes among them.
    pub writes: u64,
    /// Their share of all reads, writes and trims.
    pub share: f64,
}

/// One class of sizes (ADAPT 2012, Table I, which does not say whether it counts all requests or
/// writes alone).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeClass {
    /// small (up to 4 KiB), medium (below 16 KiB) or large.
    pub class: String,
    /// Smallest size of the class, in bytes.
    pub bytes_min: u64,
    /// Largest size of the class, in bytes; none for large.
    pub bytes_max: Option<u64>,
    /// Reads of such a size.
    pub reads: u64,
    /// Writes of such a size.
    pub writes: u64,
    /// Their share of all reads and writes; 0 without either.
    pub share: f64,
    /// The writes' share of all writes; 0 without one.
    pub share_of_writes: f64,
}

/// Reads and writes whose sizes lie between two powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeBin {
    /// Smallest size of the bin, in bytes: one more than a power of two, or 1.
    pub bytes_from: u64,
    /// Largest size of the bin, in bytes: a power of two.
    pub bytes_to: u64,
    /// Reads of such a size.
    pub reads: u64,
    /// Writes of such a size.
    pub writes: u64,
}

/// What is counted while requests with an address go by.
pub(super) struct SizesSeen {
    min: u64,
    max: u64,
    /// Reads, writes and trims by size.
    by_size: HashMap<u64, [u64; 3], rustc_hash::FxBuildHasher>,
    /// The size of the latest requests, and those of them that are not in `by_size` yet.
    latest: (u64, [u64; 3]),
    /// Reads and writes of each class.
    classes: [[u64; 2]; CLASSES.len()],
    /// Reads and writes up to each power of two.
    bins: [[u64; 2]; BINS],
}

impl SizesSeen {
    /// Before the first request.
    pub fn new() -> Self {
        Self {
            min: u64::MAX,
            max: 0,
            by_size: HashMap::default(),
            latest: (0, [0; 3]),
            classes: [[0; 2]; CLASSES.len()],
            bins: [[0; 2]; BINS],
        }
    }

    /// A request that is no flush.
    #[inline]
    pub fn note(&mut self, record: &Record) {
        let size = record.size_bytes;
        self.min = self.min.min(size);
        self.max = self.max.max(size);
        if self.latest.0 != size {
            self.settle();
            self.latest.0 = size;
        }
        self.latest.1[record.op as usize] += 1;
        if matches!(record.op, Op::Read | Op::Write) {
            let within = |(_, largest): &(_, Option<u64>)| largest.is_none_or(|most| size <= most);
            let class = CLASSES.iter().position(within).unwrap_or(CLASSES.len() - 1);
            self.classes[class][usize::from(record.op == Op::Write)] += 1;
            self.bins[bin_of(size)][usize::from(record.op == Op::Write)] += 1;
        }
    }

    /// Counts the latest requests of one size.
    fn settle(&mut self) {
        let (size, latest) = std::mem::take(&mut self.latest);
        let some = latest != [0; 3];
        if some && (self.by_size.len() < SIZES_MAX || self.by_size.contains_key(&size)) {
            let counts = self.by_size.entry(size).or_default();
            counts.iter_mut().zip(latest).for_each(|(count, more)| *count += more);
        }
    }

    /// The most common sizes; requests and bytes are those of all, by operation.
    pub fn report(&mut self, by_op: &[u64; 4], bytes: &[u64; 4]) -> Sizes {
        self.settle();
        let total: u64 = by_op[..3].iter().sum();
        if total == 0 {
            return Sizes::default();
        }
        let bytes: f64 = bytes[..3].iter().map(|&bytes| bytes as f64).sum();
        let mut common: Vec<CommonSize> = Vec::with_capacity(self.by_size.len());
        common.extend(self.by_size.iter().map(|(&bytes, &[reads, writes, trims])| CommonSize {
            bytes,
            requests: reads + writes + trims,
            reads,
            writes,
            share: ratio(reads + writes + trims, total),
        }));
        common.sort_unstable_by_key(|size| (std::cmp::Reverse(size.requests), size.bytes));
        common.truncate(SIZES_SHOWN);
        Sizes { min_bytes: self.min, mean_bytes: bytes / total as f64, max_bytes: self.max, common }
    }

    /// Reads and writes by class.
    pub fn classes(&self) -> Vec<SizeClass> {
        let of_kind = |kind: usize| self.classes.iter().map(|class| class[kind]).sum::<u64>();
        let [reads, writes] = [of_kind(0), of_kind(1)];
        let mut bytes_min = 1;
        let class = |((class, bytes_max), of_class): (&(&str, Option<u64>), &[u64; 2])| {
            let found = SizeClass {
                class: (*class).to_owned(),
                bytes_min,
                bytes_max: *bytes_max,
                reads: of_class[0],
                writes: of_class[1],
                share: ratio(of_class[0] + of_class[1], reads + writes),
                share_of_writes: ratio(of_class[1], writes),
            };
            bytes_min = bytes_max.map_or(u64::MAX, |most| most + 1);
            found
        };
        CLASSES.iter().zip(&self.classes).map(class).collect()
    }

    /// Reads and writes by size, the empty bins left out.
    pub fn bins(&self) -> Vec<SizeBin> {
        let numbered = (0u32..).zip(&self.bins).filter(|(_, bin)| **bin != [0; 2]);
        let bin = |(number, &[reads, writes]): (u32, &[u64; 2])| SizeBin {
            bytes_from: number.checked_sub(1).map_or(1, |below| (1 << below) + 1),
            bytes_to: 1u64.checked_shl(number).unwrap_or(u64::MAX),
            reads,
            writes,
        };
        numbered.map(bin).collect()
    }
}

/// The power of two that is not smaller.
fn bin_of(size: u64) -> usize {
    (u64::BITS - size.saturating_sub(1).leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_end_at_powers_of_two() {
        let mut sizes = SizesSeen::new();
        let mut note = |op, size_bytes| {
            sizes.note(&Record {
                time_ns: 0,
                op,
                offset_bytes: 0,
                size_bytes,
                unit: 0,
                stream: None,
                content: None,
            });
        };
        for size in [1, 2, 3, 4, 4096, 4097, 8192, u64::MAX] {
            note(Op::Read, size);
        }
        note(Op::Write, 5000);
        note(Op::Trim, 5000);
        let row = |bin: &SizeBin| (bin.bytes_from, bin.bytes_to, bin.reads, bin.writes);
        let rows: Vec<(u64, u64, u64, u64)> = sizes.bins().iter().map(row).collect();
        let last = (1 << 63) + 1;
        assert_eq!(
            rows,
            [
                (1, 1, 1, 0),
                (2, 2, 1, 0),
                (3, 4, 2, 0),
                (2049, 4096, 1, 0),
                (4097, 8192, 2, 1),
                (last, u64::MAX, 1, 0),
            ]
        );
        let common = sizes.report(&[8, 1, 1, 0], &[0; 4]).common;
        let most = CommonSize { bytes: 5000, requests: 2, reads: 0, writes: 1, share: 0.2 };
        assert_eq!((common[0], common.len()), (most, 9));
    }
}
