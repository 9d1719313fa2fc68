//! One line of a trace once its units are known, and where it came from.

use ftlab_flash::request::{Content, Op};

/// One line of a trace. `unit` is what the trace calls ASU, volume, disk or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Arrival in nanoseconds; the first request of a workload is at 0.
    pub time_ns: u64,
    /// What is asked for.
    pub op: Op,
    /// First byte, counted from the start of the unit.
    pub offset_bytes: u64,
    /// Length in bytes; `offset_bytes + size_bytes` never overflows. 0 only for a flush.
    pub size_bytes: u64,
    /// ASU, volume or disk.
    pub unit: u32,
    /// Stream of data, where the line says one: a placement hint, no part of the address.
    pub stream: Option<u8>,
    /// What a write puts there, where the line says it.
    pub content: Option<Content>,
}

impl Record {
    /// The first byte after the request.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes
    }
}

/// The unit of a device of the block layer, numbered as the kernel does: 12 bits of major, 20 of
/// minor.
pub(crate) fn unit_of_device(major: u64, minor: u64) -> Option<u32> {
    (major < 1 << 12 && minor < 1 << 20).then_some((major << 20 | minor) as u32)
}

/// Where a record was read: the part (index into the workload's list of files) and its line.
/// For a synthetic workload the line is the number of the request. Counted from 1; 0 = not started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which of the workload's files.
    pub part: u32,
    /// Line in the decompressed text of that file.
    pub line: u64,
}
