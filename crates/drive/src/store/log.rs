//! What requests changed, one group each, behind one another: a group counts as a whole or not at
//! all.
//!
//! A group is 16 bytes (magic, length, CRC-32 of the body, CRC-32 of these twelve bytes) and its body,
//! entries as [`Entry`] tells them. It is written at once, so that a process that is killed leaves a
//! group cut short at the end, if anything; everything else that does not fit is damage.

use std::io::Write as _;

use ftlab_engine::board::nand::restore::{StoredBlock, StoredPage};
use ftlab_lab::flash_image;

const MAGIC: u32 = u32::from_le_bytes(*b"FTLG");
const HEADER_BYTES: usize = 16;
const ERASED: u8 = 1;
const BLOCK: u8 = 2;
const PAGE: u8 = 3;
const VERSION: u8 = 4;
const PCM: u8 = 5;

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A block holds nothing any more.
    Erased(u32),
    /// What a block is known by besides its pages.
    Block(u32, StoredBlock),
    /// A page, as [`flash_image`] writes it.
    Page(u32, &'a [u8]),
    /// Version, slot and checksum of bytes.
    Version(u32, u32, u32),
    /// A word of phase-change memory.
    Pcm(u32, u32),
}

/// A group that is put together.
#[derive(Default)]
pub struct Group {
    bytes: Vec<u8>,
}

impl Group {
    /// Begins anew.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(HEADER_BYTES, 0);
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= HEADER_BYTES
    }

    fn put(&mut self, kind: u8, words: &[u32]) {
        self.bytes.push(kind);
        words.iter().for_each(|word| self.bytes.extend_from_slice(&word.to_le_bytes()));
    }

    pub fn erased(&mut self, block: u32) {
        self.put(ERASED, &[block]);
    }

    pub fn block(&mut self, block: u32, stored: StoredBlock) {
        self.put(BLOCK, &[block]);
        flash_image::write_block(&mut self.bytes, stored).expect("memory takes all");
    }

    pub fn page(&mut self, ppn: u32, page: StoredPage<'_>) {
        self.put(PAGE, &[ppn, 0]);
        let begins = self.bytes.len();
        flash_image::write_page(&mut self.bytes, page).expect("memory takes all");
        let length = (self.bytes.len() - begins) as u32;
        self.bytes[begins - 4..begins].copy_from_slice(&length.to_le_bytes());
    }

    pub fn version(&mut self, version: u32, slot: u32, checksum: u32) {
        self.put(VERSION, &[version, slot, checksum]);
    }

    pub fn pcm(&mut self, index: u32, word: u32) {
        self.put(PCM, &[index, word]);
    }

    /// The group as it is written.
    pub fn finished(&mut self) -> &[u8] {
        let (head, body) = self.bytes.split_at_mut(HEADER_BYTES);
        let (length, checksum) = (body.len() as u32, crc32fast::hash(body));
        let mut rest = &mut *head;
        for word in [MAGIC, length, checksum] {
            rest.write_all(&word.to_le_bytes()).expect("as long as the header");
        }
        let checksum = crc32fast::hash(&head[..12]);
        head[12..].copy_from_slice(&checksum.to_le_bytes());
        &self.bytes
    }
}

/// Tells every entry of every whole group; how many bytes at the end are a group cut short.
///
/// # Errors
/// What is neither: where it begins, and what is wrong.
pub fn read(
    bytes: &[u8],
    mut told: impl FnMut(Entry<'_>) -> Result<(), String>,
) -> Result<usize, String> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let damaged = |why: &str| format!("is damaged at byte {at}: {why}");
        let Some((head, behind)) = rest.split_at_checked(HEADER_BYTES) else {
            return Ok(rest.len());
        };
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        if word(0) != MAGIC || word(12) != crc32fast::hash(&head[..12]) {
            return Err(damaged("no group begins there"));
        }
        let Some((body, behind)) = behind.split_at_checked(word(4) as usize) else {
            return Ok(rest.len());
        };
        if crc32fast::hash(body) != word(8) {
            return Err(damaged("a group is not what its checksum says"));
        }
        entries(body, &mut told).map_err(|why| damaged(&why))?;
        rest = behind;
    }
    Ok(0)
}

fn entries(
    mut body: &[u8],
    told: &mut impl FnMut(Entry<'_>) -> Result<(), String>,
) -> Result<(), String> {
    while let Some((kind, behind)) = body.split_first() {
        body = behind;
        let mut word = || -> Result<u32, String> {
            let (word, behind) = body.split_first_chunk().ok_or("an entry ends too early")?;
            body = behind;
            Ok(u32::from_le_bytes(*word))
        };
        let entry = match *kind {
            ERASED => Entry::Erased(word()?),
            BLOCK => {
                let block = word()?;
                Entry::Block(block, flash_image::read_block(&mut body)?)
            }
            PAGE => {
                let (ppn, length) = (word()?, word()? as usize);
                let (page, behind) =
                    body.split_at_checked(length).ok_or("a page ends too early")?;
                body = behind;
                Entry::Page(ppn, page)
            }
            VERSION => Entry::Version(word()?, word()?, word()?),
            PCM => Entry::Pcm(word()?, word()?),
            other => return Err(format!("there is no entry {other}")),
        };
        told(entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_groups() -> Vec<u8> {
        let mut group = Group::default();
        let mut all = Vec::new();
        for number in [1, 2] {
            group.clear();
            assert!(group.is_empty());
            group.erased(number);
            group.block(number, StoredBlock { erases: 7, ..StoredBlock::default() });
            group.page(9, StoredPage::Torn);
            group.version(4, 5, 6);
            group.pcm(1, 2);
            all.extend_from_slice(group.finished());
        }
        all
    }

    fn told(bytes: &[u8]) -> Result<(usize, usize), String> {
        let mut entries = 0;
        let cut = read(bytes, |_| {
            entries += 1;
            Ok(())
        })?;
        Ok((entries, cut))
    }

    #[test]
    fn groups_count_as_a_whole_or_not_at_all() {
        let all = two_groups();
        assert_eq!(told(&all), Ok((10, 0)));
        for length in 0..all.len() {
            let (entries, cut) = told(&all[..length]).unwrap();
            let whole = length / (all.len() / 2);
            assert_eq!((entries, cut), (5 * whole, length - whole * all.len() / 2));
        }
    }

    #[test]
    fn every_bit_that_is_wrong_is_found() {
        let all = two_groups();
        for bit in 0..all.len() * 8 {
            let mut damaged = all.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(told(&damaged).unwrap_err().contains("is damaged at byte"), "bit {bit}");
        }
    }
}
