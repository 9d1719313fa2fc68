//! The end of a compact file: its mark, its index, its last 16 bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::layout::{BLOCK_HEADER_BYTES, FIRST_BYTES, INDEX_MAGIC, long, word};
use crate::error::{Result, TraceError};
use crate::events::fill;

/// Bytes of a block in the index: its place and its first time.
const ENTRY_BYTES: usize = 16;
/// Bytes behind the index: the place of the end mark and [`INDEX_MAGIC`].
const TAIL_BYTES: usize = 16;

/// What was read of a file before its end mark.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Bytes, which is where the end mark stands.
    pub(super) place: u64,
    /// Blocks.
    pub(super) blocks: u64,
    /// Records.
    pub(super) records: u64,
}

/// Holds what follows the blocks against them: index, last bytes and end of the file. Memory is
/// constant.
///
/// # Errors
/// A mark that is none or an index that does not fit, a file that ends too early or goes on.
pub(super) fn check_end(bytes: &mut impl Read, mark: &[u8], seen: Seen) -> Result<()> {
    let wrong = |problem: String| {
        TraceError::new(problem).with_legal("a complete file, as ftlab trace convert wrote it")
    };
    let length = seen.blocks * ENTRY_BYTES as u64 + 8;
    let stated = long(&mark[8..]);
    if stated != length {
        let problem = format!("end mark does not fit the {} blocks before it", seen.blocks);
        return Err(TraceError::new(problem)
            .with_value(format!("index of {stated} bytes").as_bytes())
            .with_legal(format!("{length} bytes, or a block of records: a complete file")));
    }
    let cut = || wrong("file ends within its index".into());
    let mut checksum = crc32fast::Hasher::new();
    let mut entry = [0; ENTRY_BYTES];
    for _ in 0..seen.blocks {
        if fill(bytes, &mut entry)? < entry.len() {
            return Err(cut());
        }
        checksum.update(&entry);
    }
    let mut records = [0; 8];
    if fill(bytes, &mut records)? < records.len() {
        return Err(cut());
    }
    checksum.update(&records);
    if checksum.finalize() != word(&mark[4..]) {
        return Err(wrong("index is damaged (its checksum differs)".into()));
    }
    let records = long(&records);
    if records != seen.records {
        let problem = format!("index counts {records} records, but the blocks hold");
        return Err(wrong(format!("{problem} {}", seen.records)));
    }
    let mut tail = [0; TAIL_BYTES];
    if fill(bytes, &mut tail)? < tail.len() {
        return Err(cut());
    }
    if long(&tail) != seen.place || &tail[8..] != INDEX_MAGIC {
        return Err(wrong("last 16 bytes are damaged".into()));
    }
    if fill(bytes, &mut [0])? > 0 {
        return Err(TraceError::new("bytes follow the end of the trace")
            .with_legal("one trace in a file; several files as parts (a folder, or 'DIR/*.ftb')"));
    }
    Ok(())
}

/// Place and first time of every block; none where the end of the file is not that of a trace.
pub(super) fn read_index(file: &mut File) -> io::Result<Option<Vec<(u64, u64)>>> {
    let length = file.metadata()?.len();
    let mut tail = [0; TAIL_BYTES];
    if length < (FIRST_BYTES + BLOCK_HEADER_BYTES + tail.len()) as u64 {
        return Ok(None);
    }
    file.seek(SeekFrom::End(-16))?;
    file.read_exact(&mut tail)?;
    let place = long(&tail);
    if &tail[8..] != INDEX_MAGIC || place > length - 32 {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(place))?;
    let mut mark = [0; BLOCK_HEADER_BYTES];
    file.read_exact(&mut mark)?;
    let bytes = long(&mark[8..]);
    if word(&mark) != 0 || bytes > length - place || bytes % 16 != 8 {
        return Ok(None);
    }
    let mut index = vec![0; bytes as usize];
    file.read_exact(&mut index)?;
    if crc32fast::hash(&index) != word(&mark[4..]) {
        return Ok(None);
    }
    let entries = index.chunks_exact(ENTRY_BYTES).map(|entry| (long(entry), long(&entry[8..])));
    let entries: Vec<(u64, u64)> = entries.collect();
    Ok(entries.iter().all(|(block, _)| *block < place).then_some(entries))
}
