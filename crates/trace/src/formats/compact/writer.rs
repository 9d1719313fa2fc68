//! Writes the compact binary, block by block.

use std::io::{self, Write};

use super::layout::{
    BLOCK_HEADER_BYTES, BLOCK_RECORDS, CONTENT_BYTES, HEADER_BYTES, INDEX_MAGIC, MAGIC,
    RECORD_BYTES, UNITS_GIVEN, VERSION, WITH_CONTENTS, block_checksum, encode, long,
};
use crate::record::Record;
use ftlab_flash::request::Content;

/// Writes records in order of time.
pub(crate) struct Writer<W> {
    out: W,
    block: Vec<u8>,
    /// Whether the records of the block are followed by what they write.
    with_contents: bool,
    /// Records in a full block.
    block_records: u32,
    in_block: u32,
    first_ns: u64,
    /// Bytes written so far.
    place: u64,
    index: Vec<(u64, u64)>,
    records: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the header; the times of the records count from `origin_ns`. `units_given`: units
    /// came from files or names, and mean nothing beside those of another file.
    pub(crate) fn new(out: W, origin_ns: u64, units_given: bool) -> io::Result<Self> {
        Self::with_blocks(out, origin_ns, units_given, BLOCK_RECORDS)
    }

    /// As [`Self::new`], with blocks of that many records (not 0).
    pub(crate) fn with_blocks(
        mut out: W,
        origin_ns: u64,
        units_given: bool,
        block_records: u32,
    ) -> io::Result<Self> {
        let flags = if units_given { UNITS_GIVEN } else { 0 };
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&block_records.to_le_bytes());
        header.extend_from_slice(&origin_ns.to_le_bytes());
        header.extend_from_slice(&flags.to_le_bytes());
        header.extend_from_slice(&crc32fast::hash(&header).to_le_bytes());
        out.write_all(&header)?;
        let block = Vec::with_capacity(block_records as usize * RECORD_BYTES);
        let place = HEADER_BYTES as u64;
        Ok(Self {
            out,
            block,
            with_contents: false,
            block_records,
            in_block: 0,
            first_ns: 0,
            place,
            index: Vec::new(),
            records: 0,
        })
    }

    /// One record more.
    pub(crate) fn write(&mut self, record: &Record) -> io::Result<()> {
        self.write_bytes(&encode(record), record.content)
    }

    /// One record more, as its bytes are, and what it writes.
    pub(crate) fn write_bytes(
        &mut self,
        record: &[u8; RECORD_BYTES],
        content: Option<Content>,
    ) -> io::Result<()> {
        if self.in_block == 0 {
            self.first_ns = long(record);
        }
        if content.is_some() && !self.with_contents {
            self.begin_contents();
        }
        self.block.extend_from_slice(record);
        if self.with_contents {
            self.block.extend_from_slice(&content.map_or(0, Content::number).to_le_bytes());
        }
        self.records += 1;
        self.in_block += 1;
        if self.in_block == self.block_records { self.end_block() } else { Ok(()) }
    }

    /// The records that are in the block write what nobody told.
    fn begin_contents(&mut self) {
        self.with_contents = true;
        let plain = std::mem::take(&mut self.block);
        self.block.reserve(self.block_records as usize * (RECORD_BYTES + CONTENT_BYTES));
        for record in plain.chunks_exact(RECORD_BYTES) {
            self.block.extend_from_slice(record);
            self.block.extend_from_slice(&[0; CONTENT_BYTES]);
        }
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut header = [0; BLOCK_HEADER_BYTES];
        let contents = if std::mem::take(&mut self.with_contents) { WITH_CONTENTS } else { 0 };
        let records = std::mem::take(&mut self.in_block) | contents;
        header[..4].copy_from_slice(&records.to_le_bytes());
        header[8..].copy_from_slice(&self.first_ns.to_le_bytes());
        let checksum = block_checksum(VERSION, &header, &self.block);
        header[4..8].copy_from_slice(&checksum.to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(&self.block)?;
        self.index.push((self.place, self.first_ns));
        self.place += (BLOCK_HEADER_BYTES + self.block.len()) as u64;
        self.block.clear();
        Ok(())
    }

    /// Writes the last block and the index.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        let mut index = Vec::with_capacity(self.index.len() * 16 + 8);
        for (place, first_ns) in &self.index {
            index.extend_from_slice(&place.to_le_bytes());
            index.extend_from_slice(&first_ns.to_le_bytes());
        }
        index.extend_from_slice(&self.records.to_le_bytes());
        self.out.write_all(&0u32.to_le_bytes())?;
        self.out.write_all(&crc32fast::hash(&index).to_le_bytes())?;
        self.out.write_all(&(index.len() as u64).to_le_bytes())?;
        self.out.write_all(&index)?;
        self.out.write_all(&self.place.to_le_bytes())?;
        self.out.write_all(INDEX_MAGIC)?;
        Ok(self.out)
    }
}
