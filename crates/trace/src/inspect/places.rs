//! Addresses over time: where in its unit a request begins, and when, as a grid of counts of one
//! size, whatever the length of the trace.

use ftlab_flash::request::Op;
use serde::Serialize;

use crate::record::Record;

/// Windows of time and bands of addresses at most; a request beyond them doubles their width.
const WINDOWS_MAX: usize = 256;
const BANDS_MAX: usize = 128;
/// Width of a band at first, as a power of two: 4 KiB.
const BAND_BYTES_LOG2: u32 = 12;

/// Reads and writes by the time of their arrival and the address, within their unit, at which they
/// begin: the cells of a grid that are not empty, by window and then by band, as columns of equal
/// length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AddressesOverTime {
    /// Length of a window, in nanoseconds: a power of two. The first begins with the trace.
    pub window_ns: u64,
    /// Width of a band, in bytes: a power of two. The first begins at address 0.
    pub band_bytes: u64,
    /// Window of each cell, counted from 0; below 256.
    pub windows: Vec<u64>,
    /// Band of each cell, counted from 0; below 128.
    pub bands: Vec<u64>,
    /// Reads that begin in each cell.
    pub reads: Vec<u64>,
    /// Writes that begin in each cell.
    pub writes: Vec<u64>,
}

/// The grid while requests go by.
pub(super) struct Places {
    window_log2: u32,
    band_log2: u32,
    /// Reads and writes, window by window.
    cells: Vec<[u64; 2]>,
}

impl Places {
    /// Before the first request.
    pub fn new() -> Self {
        Self {
            window_log2: 0,
            band_log2: BAND_BYTES_LOG2,
            cells: vec![[0; 2]; WINDOWS_MAX * BANDS_MAX],
        }
    }

    /// A request; those that neither read nor write are passed over.
    #[inline]
    pub fn note(&mut self, record: &Record) {
        if !matches!(record.op, Op::Read | Op::Write) {
            return;
        }
        while record.time_ns >> self.window_log2 >= WINDOWS_MAX as u64 {
            self.fold(|window, band| (window / 2, band));
            self.window_log2 += 1;
        }
        while record.offset_bytes >> self.band_log2 >= BANDS_MAX as u64 {
            self.fold(|window, band| (window, band / 2));
            self.band_log2 += 1;
        }
        let window = (record.time_ns >> self.window_log2) as usize;
        let band = (record.offset_bytes >> self.band_log2) as usize;
        self.cells[window * BANDS_MAX + band][usize::from(record.op == Op::Write)] += 1;
    }

    /// Moves every count to a cell that is not behind its own.
    fn fold(&mut self, to: impl Fn(usize, usize) -> (usize, usize)) {
        for from in 0..self.cells.len() {
            let [reads, writes] = std::mem::take(&mut self.cells[from]);
            let (window, band) = to(from / BANDS_MAX, from % BANDS_MAX);
            let cell = &mut self.cells[window * BANDS_MAX + band];
            cell[0] += reads;
            cell[1] += writes;
        }
    }

    /// What was found.
    pub fn report(&self) -> AddressesOverTime {
        let mut found = AddressesOverTime {
            window_ns: 1 << self.window_log2,
            band_bytes: 1 << self.band_log2,
            ..AddressesOverTime::default()
        };
        for (place, [reads, writes]) in self.cells.iter().enumerate() {
            if reads + writes > 0 {
                found.windows.push((place / BANDS_MAX) as u64);
                found.bands.push((place % BANDS_MAX) as u64);
                found.reads.push(*reads);
                found.writes.push(*writes);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn record(time_ns: u64, op: Op, offset_bytes: u64) -> Record {
        Record { time_ns, op, offset_bytes, size_bytes: 512, unit: 0, stream: None, content: None }
    }

    #[test]
    fn a_few_requests_by_hand() {
        let mut places = Places::new();
        for (time, op, offset) in [
            (0, Op::Write, 0),
            (0, Op::Read, 4095),
            (1, Op::Read, 4096),
            (2, Op::Trim, 1 << 40),
            (255, Op::Write, (128 << 12) - 1),
        ] {
            places.note(&record(time, op, offset));
        }
        let found = places.report();
        assert_eq!((found.window_ns, found.band_bytes), (1, 4096));
        assert_eq!((found.windows, found.bands), (vec![0, 1, 255], vec![0, 1, 127]));
        assert_eq!((found.reads, found.writes), (vec![1, 1, 0], vec![1, 0, 1]));
    }

    /// Against a map of all requests by the final scales, which grow step by step and by leaps.
    #[test]
    fn a_grid_that_grew_counts_as_one_that_was_as_wide_from_the_start() {
        let mut state = 7u64;
        for (time_max, address_max) in [(1u64 << 30, 1u64 << 34), (1 << 9, 1 << 62), (1 << 62, 1)] {
            let mut places = Places::new();
            let mut records = Vec::new();
            for number in 0..3000u64 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let op = if (state >> 40).is_multiple_of(3) { Op::Write } else { Op::Read };
                let offset = (state >> 20) % (address_max / 3000 * number + 1);
                records.push(record(time_max / 3000 * number, op, offset));
            }
            records.push(record(time_max * 2, Op::Read, address_max));
            records.iter().for_each(|record| places.note(record));
            let found = places.report();
            let mut naive: BTreeMap<(u64, u64), [u64; 2]> = BTreeMap::new();
            for record in &records {
                let place =
                    (record.time_ns / found.window_ns, record.offset_bytes / found.band_bytes);
                naive.entry(place).or_default()[usize::from(record.op == Op::Write)] += 1;
            }
            let cells: BTreeMap<(u64, u64), [u64; 2]> = (0..found.windows.len())
                .map(|cell| {
                    let place = (found.windows[cell], found.bands[cell]);
                    (place, [found.reads[cell], found.writes[cell]])
                })
                .collect();
            assert_eq!(cells, naive);
            assert!(*found.windows.last().unwrap() >= WINDOWS_MAX as u64 / 2);
            assert!(found.bands.iter().all(|band| *band < BANDS_MAX as u64));
        }
    }

    #[test]
    fn the_last_moment_and_the_last_address_have_a_cell() {
        let mut places = Places::new();
        places.note(&record(0, Op::Read, 0));
        places.note(&record(u64::MAX, Op::Read, u64::MAX - 512));
        let found = places.report();
        assert_eq!((found.windows, found.bands), (vec![0, 255], vec![0, 127]));
        assert_eq!(Places::new().report().reads, []);
    }
}
