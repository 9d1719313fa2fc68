//! The load over time: requests and bytes by windows of equal length, a bounded number of them
//! whatever the length of the trace.

use ftlab_flash::request::Op;
use serde::Serialize;

use crate::record::Record;

/// Windows at most; a request beyond them doubles their length.
const WINDOWS_MAX: usize = 512;
/// Requests of a window, on average, that a rate needs to say more than that a request came.
const REQUESTS_MIN: u64 = 8;
const NANOSECONDS: f64 = 1e9;

/// Requests and bytes by windows that follow each other from the first request on; columns of equal
/// length. The last window is cut off by the end of the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LoadOverTime {
    /// Length of a window, in nanoseconds: a power of two, such that there are at most 512 windows
    /// and at least 8 requests a window on average.
    pub window_ns: u64,
    /// Reads that came in each window.
    pub reads: Vec<u64>,
    /// Writes.
    pub writes: Vec<u64>,
    /// Trims.
    pub trims: Vec<u64>,
    /// Flushes.
    pub flushes: Vec<u64>,
    /// Bytes that the reads of each window ask for.
    pub bytes_read: Vec<u64>,
    /// Bytes that its writes bring.
    pub bytes_written: Vec<u64>,
    /// Requests of every kind per second, over the whole time span; none without a span.
    pub iops_mean: Option<f64>,
    /// The same in the whole window with most requests; none without a whole window.
    pub iops_max: Option<f64>,
    /// Bytes read and written per second, over the whole time span; none without a span.
    pub bytes_per_s_mean: Option<f64>,
    /// The same in the whole window with most bytes; none without a whole window.
    pub bytes_per_s_max: Option<f64>,
}

/// One window: requests by operation, and bytes read and written.
#[derive(Clone, Copy, Default)]
struct Window {
    by_op: [u64; 4],
    bytes: [u64; 4],
}

impl Window {
    fn with(mut self, other: &Self) -> Self {
        for (own, more) in self.by_op.iter_mut().zip(other.by_op) {
            *own += more;
        }
        for (own, more) in self.bytes.iter_mut().zip(other.bytes) {
            *own = own.saturating_add(more);
        }
        self
    }

    fn requests(&self) -> u64 {
        self.by_op.iter().sum()
    }

    fn bytes_moved(&self) -> u64 {
        self.bytes[Op::Read as usize].saturating_add(self.bytes[Op::Write as usize])
    }
}

/// What is counted while requests go by.
pub(super) struct Load {
    window_log2: u32,
    windows: Vec<Window>,
    last_time_ns: u64,
}

impl Load {
    /// Before the first request.
    pub fn new() -> Self {
        Self { window_log2: 0, windows: vec![Window::default(); WINDOWS_MAX], last_time_ns: 0 }
    }

    /// A request of any kind; never before the one before.
    #[inline]
    pub fn note(&mut self, record: &Record) {
        while record.time_ns >> self.window_log2 >= WINDOWS_MAX as u64 {
            self.windows = halved(&self.windows);
            self.windows.resize(WINDOWS_MAX, Window::default());
            self.window_log2 += 1;
        }
        let window = &mut self.windows[(record.time_ns >> self.window_log2) as usize];
        window.by_op[record.op as usize] += 1;
        let bytes = &mut window.bytes[record.op as usize];
        *bytes = bytes.saturating_add(record.size_bytes);
        self.last_time_ns = record.time_ns;
    }

    /// What was found.
    pub fn report(&self) -> LoadOverTime {
        let all = self.windows.iter().fold(Window::default(), Window::with);
        if all.requests() == 0 {
            return LoadOverTime::default();
        }
        let mut window_log2 = self.window_log2;
        let last = (self.last_time_ns >> window_log2) as usize;
        let mut windows = self.windows[..=last].to_vec();
        while windows.len() > 1 && windows.len() as u64 * REQUESTS_MIN > all.requests() {
            windows = halved(&windows);
            window_log2 += 1;
        }
        let whole = &windows[..windows.len() - 1];
        let per_second = |count: u64, time_ns: u64| {
            (time_ns > 0).then(|| count as f64 * NANOSECONDS / time_ns as f64)
        };
        let window_ns = 1u64 << window_log2;
        let most = |of: fn(&Window) -> u64| {
            whole.iter().map(of).max().and_then(|count| per_second(count, window_ns))
        };
        let counts = |op: Op| windows.iter().map(|window| window.by_op[op as usize]).collect();
        let bytes = |op: Op| windows.iter().map(|window| window.bytes[op as usize]).collect();
        LoadOverTime {
            window_ns,
            reads: counts(Op::Read),
            writes: counts(Op::Write),
            trims: counts(Op::Trim),
            flushes: counts(Op::Flush),
            bytes_read: bytes(Op::Read),
            bytes_written: bytes(Op::Write),
            iops_mean: per_second(all.requests(), self.last_time_ns),
            iops_max: most(Window::requests),
            bytes_per_s_mean: per_second(all.bytes_moved(), self.last_time_ns),
            bytes_per_s_max: most(Window::bytes_moved),
        }
    }
}

/// Windows twice as long.
fn halved(windows: &[Window]) -> Vec<Window> {
    let both = |pair: &[Window]| pair[1..].iter().fold(pair[0], |sum, other| sum.with(other));
    windows.chunks(2).map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_ns: u64, op: Op, size_bytes: u64) -> Record {
        Record { time_ns, op, offset_bytes: 0, size_bytes, unit: 0, stream: None, content: None }
    }

    #[test]
    fn two_windows_by_hand() {
        let mut load = Load::new();
        // 13 in the first 512 ns, 3 after them, the last of which ends the second window early.
        (0..10).for_each(|number| load.note(&record(number * 50, Op::Read, 1000)));
        for op in [Op::Flush, Op::Trim, Op::Write] {
            load.note(&record(500, op, if op == Op::Flush { 0 } else { 4096 }));
        }
        for time in [600, 601, 700] {
            load.note(&record(time, Op::Write, 10));
        }
        let found = load.report();
        assert_eq!(found.window_ns, 512);
        assert_eq!((found.reads, found.writes), (vec![10, 0], vec![1, 3]));
        assert_eq!((found.trims, found.flushes), (vec![1, 0], vec![1, 0]));
        assert_eq!((found.bytes_read, found.bytes_written), (vec![10_000, 0], vec![4096, 30]));
        assert_eq!(found.iops_mean, Some(16.0 * 1e9 / 700.0));
        assert_eq!(found.iops_max, Some(13.0 * 1e9 / 512.0));
        assert_eq!(found.bytes_per_s_mean, Some(14_126.0 * 1e9 / 700.0));
        assert_eq!(found.bytes_per_s_max, Some(14_096.0 * 1e9 / 512.0));
    }

    /// Against divisions of the times of all requests.
    #[test]
    fn windows_hold_what_divisions_by_their_length_say() {
        for (requests, gap) in [(9u64, 1u64), (700, 3), (5000, 1_000_003), (100_000, 40)] {
            let mut load = Load::new();
            let times: Vec<u64> = (0..requests).map(|number| number * gap + number % 2).collect();
            times.iter().for_each(|time| load.note(&record(*time, Op::Write, 512)));
            let found = load.report();
            let mut naive = vec![0; found.writes.len()];
            times.iter().for_each(|time| naive[(time / found.window_ns) as usize] += 1);
            assert_eq!(found.writes, naive);
            let windows = naive.len() as u64;
            assert!(windows <= 512 && (windows == 1 || windows * 8 <= requests));
            assert!(requests < 5000 || windows >= 256, "{windows} of {requests}");
        }
    }

    #[test]
    fn nothing_one_and_the_end_of_time() {
        assert_eq!(Load::new().report(), LoadOverTime::default());
        let mut load = Load::new();
        load.note(&record(0, Op::Read, 512));
        let one = load.report();
        assert_eq!((one.reads, one.iops_mean, one.iops_max), (vec![1], None, None));
        (0..100).for_each(|_| load.note(&record(u64::MAX, Op::Write, u64::MAX)));
        let found = load.report();
        assert_eq!(found.writes.iter().sum::<u64>(), 100);
        assert_eq!(*found.bytes_written.last().unwrap(), u64::MAX);
    }
}
