//! A workload from columns of numbers: checked row by row, and kept as a file of our compact
//! binary, because workloads are read from files, as often as a plan needs.

use std::path::Path;

use ftlab_engine::request::Op;
use ftlab_lab::{Error, Result};
use ftlab_trace::{Record, keep_records};

/// Most bytes of a request.
const SIZE_BYTES_MAX: i64 = 1 << 40;

/// Columns of equal length, each the bytes of an array of the machine's own byte order: times in
/// nanoseconds, operations (0 read, 1 write, 2 trim, 3 flush), offsets and sizes in bytes.
pub struct RequestColumns<'a> {
    /// Signed, 64 bits.
    pub time: &'a [u8],
    /// Unsigned, 8 bits.
    pub op: &'a [u8],
    /// Signed, 64 bits.
    pub offset: &'a [u8],
    /// Signed, 64 bits.
    pub size: &'a [u8],
}

impl RequestColumns<'_> {
    /// Writes them to a new file; the number of requests.
    ///
    /// # Errors
    /// [`Error::Usage`]: the first row that is not legal, with its column, its value and what is;
    /// a file that cannot be written.
    pub fn keep(&self, out: &Path) -> Result<u64> {
        let rows = self.op.len();
        if rows == 0 {
            return Err(Error::usage("a workload of no row; legal: 1 or more"));
        }
        let longs = [("time", self.time), ("offset", self.offset), ("size", self.size)];
        for (name, column) in longs {
            if column.len() != 8 * rows {
                let has = column.len() / 8;
                return Err(Error::usage(format!(
                    "column {name} has {has} rows, column op {rows}; legal: columns of one length"
                )));
            }
        }
        let mut latest = 0;
        let mut records = Vec::with_capacity(rows);
        for row in 0..rows {
            records.push(self.record(row, latest)?);
            latest = records[row].time_ns;
        }
        Ok(keep_records(records, out)?)
    }

    fn record(&self, row: usize, latest: u64) -> Result<Record> {
        let wrong = |column: &str, value: i64, legal: &str| {
            Error::usage(format!(
                "row {row}, column {column}: {value} is not legal; legal: {legal}"
            ))
        };
        let time = long(self.time, row);
        let time_ns =
            u64::try_from(time).map_err(|_| wrong("time", time, "nanoseconds from 0, in order"))?;
        if time_ns < latest {
            let legal = format!("no time before that of the row above, {latest} ns (sort by time)");
            return Err(wrong("time", time, &legal));
        }
        let op = match self.op[row] {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            3 => Op::Flush,
            other => {
                let legal = "0 read, 1 write, 2 trim, 3 flush";
                return Err(wrong("op", i64::from(other), legal));
            }
        };
        let (offset, size) = (long(self.offset, row), long(self.size, row));
        let offset_bytes =
            u64::try_from(offset).map_err(|_| wrong("offset", offset, "bytes from 0"))?;
        let least = i64::from(op != Op::Flush);
        if !(least..=SIZE_BYTES_MAX).contains(&size) {
            let legal = format!("{least} to {SIZE_BYTES_MAX} bytes of a {op:?}").to_lowercase();
            return Err(wrong("size", size, &legal));
        }
        // A flush of no byte would be taken for an artefact of a capture.
        let size_bytes = size.max(1).unsigned_abs();
        Ok(Record { time_ns, op, offset_bytes, size_bytes, unit: 0, stream: None, content: None })
    }
}

fn long(column: &[u8], row: usize) -> i64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&column[8 * row..8 * row + 8]);
    i64::from_ne_bytes(bytes)
}
