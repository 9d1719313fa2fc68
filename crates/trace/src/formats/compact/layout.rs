//! Lengths and marks of a compact file, the bytes of a record, and the checksum of a block.

use ftlab_flash::request::{Content, Op};

use crate::formats::fields::REQUEST_BYTES_MAX;
use crate::record::Record;

/// How a file begins.
pub(super) const MAGIC: &[u8; 8] = b"FTLTRACE";
/// How a file ends.
pub(super) const INDEX_MAGIC: &[u8; 8] = b"FTLINDEX";
/// The version that is written.
pub(super) const VERSION: u32 = 2;
/// Flag of a block's number of records: eight bytes follow each of them, the number of what it
/// writes, or 0.
pub(super) const WITH_CONTENTS: u32 = 1 << 31;
/// Bytes of such a number.
pub(super) const CONTENT_BYTES: usize = 8;
/// Bytes of the header of this version.
pub(super) const HEADER_BYTES: usize = 32;
/// Flag of the header: units were given by file or by name.
pub(super) const UNITS_GIVEN: u32 = 1;
/// Bytes of the header of version 1, with which every later one begins.
pub(super) const FIRST_BYTES: usize = 16;
/// Bytes before the records of a block, and of the end mark.
pub(super) const BLOCK_HEADER_BYTES: usize = 16;
/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 28;
/// Records in a full block as they are written: 448 KiB, which stays in a core's cache.
pub(super) const BLOCK_RECORDS: u32 = 16 << 10;

/// First bit of a record's placement hint, in the number that begins with its size.
const HINT_PLACE: u32 = 52;

/// Four bytes as a number.
pub(super) fn word(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}

/// Eight bytes as a number.
pub(super) fn long(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// The checksum of a block with that header, whose own bytes of it are left out.
pub(super) fn block_checksum(version: u32, header: &[u8; BLOCK_HEADER_BYTES], block: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    if version > 1 {
        checksum.update(&header[..4]);
        checksum.update(&header[8..]);
    }
    checksum.update(block);
    checksum.finalize()
}

/// A record as its 28 bytes.
pub(super) fn encode(record: &Record) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&record.time_ns.to_le_bytes());
    bytes[8..16].copy_from_slice(&record.offset_bytes.to_le_bytes());
    let hint = record.stream.map_or(0, |stream| u64::from(stream) + 1);
    let size_and_op = record.size_bytes | (record.op as u64) << 48 | hint << HINT_PLACE;
    bytes[16..24].copy_from_slice(&size_and_op.to_le_bytes());
    bytes[24..].copy_from_slice(&record.unit.to_le_bytes());
    bytes
}

/// What a record of 28 bytes says, and of the number that may follow them; none where it is
/// illegal.
#[inline]
pub(super) fn decode(bytes: &[u8]) -> Option<Record> {
    let size_and_op = long(&bytes[16..]);
    let op = match size_and_op >> 48 & 0xF {
        0 => Op::Read,
        1 => Op::Write,
        2 => Op::Trim,
        3 => Op::Flush,
        _ => return None,
    };
    let stream = match size_and_op >> HINT_PLACE {
        0 => None,
        hint => Some(u8::try_from(hint - 1).ok()?),
    };
    let record = Record {
        time_ns: long(bytes),
        op,
        offset_bytes: long(&bytes[8..]),
        size_bytes: size_and_op & ((1 << 48) - 1),
        unit: word(&bytes[24..]),
        stream,
        content: bytes.get(RECORD_BYTES..).filter(|more| !more.is_empty()).and_then(content),
    };
    let fits = record.offset_bytes.checked_add(record.size_bytes).is_some();
    let sized = record.size_bytes > 0 || op == Op::Flush;
    (fits && sized && record.size_bytes <= REQUEST_BYTES_MAX).then_some(record)
}

fn content(bytes: &[u8]) -> Option<Content> {
    Some(long(bytes)).filter(|&number| number > 0).map(Content::new)
}
