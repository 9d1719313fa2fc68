//! What requests changed, one group each, behind one another: a group counts as a whole or not at
//! all.
//!
//! A group is 16 bytes and its body, entries as [`Entry`] tells them. The 16 are magic, length,
//! CRC-32 of the body, and CRC-32 of these twelve bytes, of the number of the log and of the place
//! of the group in it (8 bytes each): bytes that a failing machine leaves behind from another place
//! are no group. It is written at once, so that a process that is killed leaves a group cut short
//! at the end, if anything.

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

    /// The group as it is written at byte `at` of a log.
    pub fn finished(&mut self, generation: u64, at: u64) -> &[u8] {
        let (head, body) = self.bytes.split_at_mut(HEADER_BYTES);
        let (length, checksum) = (body.len() as u32, crc32fast::hash(body));
        let mut rest = &mut *head;
        for word in [MAGIC, length, checksum] {
            rest.write_all(&word.to_le_bytes()).expect("as long as the header");
        }
        let checksum = place_checksum(&head[..12], generation, at);
        head[12..].copy_from_slice(&checksum.to_le_bytes());
        &self.bytes
    }
}

fn place_checksum(head: &[u8], generation: u64, at: u64) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(&generation.to_le_bytes());
    hasher.update(&at.to_le_bytes());
    hasher.finalize()
}

/// What a log is, besides its bytes.
#[derive(Clone, Copy)]
pub struct Told {
    pub generation: u64,
    /// Its length when it was flushed last: up to there nothing may be wrong.
    pub flushed: u64,
}

/// Tells every entry, up to the first group behind the last flush that is not whole, or of whose
/// data `is_there` (slot, checksum) says that it is not; how many bytes are left out from there on.
///
/// # Errors
/// What was flushed and is not as it was written: where that begins, and what is wrong.
pub fn read(
    bytes: &[u8],
    Told { generation, flushed }: Told,
    is_there: impl Fn(u32, u32) -> bool,
    mut told: impl FnMut(Entry<'_>) -> Result<(), String>,
) -> Result<u64, String> {
    let length = bytes.len() as u64;
    if length < flushed {
        return Err(format!("is damaged: it has {length} bytes, and {flushed} were flushed"));
    }
    let mut at = 0;
    while at < length {
        let damaged = |why: &str| format!("is damaged at byte {at}: {why}");
        let was_flushed = at < flushed;
        let body = match group(&bytes[at as usize..], generation, at) {
            Err(why) if was_flushed => return Err(damaged(why)),
            Err(_) => break,
            Ok(body) => body,
        };
        let end = at + (HEADER_BYTES + body.len()) as u64;
        if was_flushed && end > flushed {
            return Err(damaged("the last flush ends within a group"));
        }
        if !was_flushed && !data_is_there(body, &is_there).map_err(|why| damaged(&why))? {
            break;
        }
        entries(body, &mut told).map_err(|why| damaged(&why))?;
        at = end;
    }
    Ok(length - at)
}

/// The body of the group at the beginning of `bytes`.
fn group(bytes: &[u8], generation: u64, at: u64) -> Result<&[u8], &'static str> {
    let (head, behind) = bytes.split_at_checked(HEADER_BYTES).ok_or("a group ends too early")?;
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    if word(0) != MAGIC || word(12) != place_checksum(&head[..12], generation, at) {
        return Err("no group begins there");
    }
    let body = behind.get(..word(4) as usize).ok_or("a group ends too early")?;
    if crc32fast::hash(body) != word(8) {
        return Err("a group is not what its checksum says");
    }
    Ok(body)
}

/// Whether every slot that a group tells of holds what it held then.
fn data_is_there(body: &[u8], is_there: &impl Fn(u32, u32) -> bool) -> Result<bool, String> {
    let mut all = true;
    entries(body, &mut |entry| {
        if let Entry::Version(_, slot, checksum) = entry {
            all = all && is_there(slot, checksum);
        }
        Ok(())
    })?;
    Ok(all)
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

    const GENERATION: u64 = 3;

    fn two_groups() -> Vec<u8> {
        let mut group = Group::default();
        let mut all = Vec::new();
        for number in [1, 2] {
            group.clear();
            assert!(group.is_empty());
            group.erased(number);
            group.block(number, StoredBlock { erases: 7, ..StoredBlock::default() });
            group.page(9, StoredPage::Torn);
            group.version(4, number, 6);
            group.pcm(1, 2);
            let at = all.len() as u64;
            all.extend_from_slice(group.finished(GENERATION, at));
        }
        all
    }

    /// Entries that are told, and bytes that are left out.
    fn told(
        bytes: &[u8],
        flushed: usize,
        is_there: impl Fn(u32, u32) -> bool,
    ) -> Result<(usize, u64), String> {
        let mut entries = 0;
        let flushed = flushed as u64;
        let left_out = read(bytes, Told { generation: GENERATION, flushed }, is_there, |_| {
            entries += 1;
            Ok(())
        })?;
        Ok((entries, left_out))
    }

    #[test]
    fn groups_count_as_a_whole_or_not_at_all() {
        let all = two_groups();
        let half = all.len() / 2;
        assert_eq!(told(&all, all.len(), |_, _| false), Ok((10, 0)));
        for length in 0..all.len() {
            let whole = length / half;
            let left_out = (length - whole * half) as u64;
            assert_eq!(told(&all[..length], 0, |_, _| true), Ok((5 * whole, left_out)));
            let flushed = told(&all[..length], half, |_, _| true);
            assert_eq!(flushed.is_ok(), whole > 0, "{length} bytes, {half} were flushed");
        }
    }

    #[test]
    fn every_bit_that_is_wrong_is_found() {
        let all = two_groups();
        let half = all.len() / 2;
        for bit in 0..all.len() * 8 {
            let mut damaged = all.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = told(&damaged, all.len(), |_, _| true).unwrap_err();
            assert!(error.contains("is damaged at byte"), "bit {bit}");
            let one_flushed = told(&damaged, half, |_, _| true);
            match bit / 8 < half {
                true => assert!(one_flushed.is_err(), "bit {bit} was flushed"),
                false => assert_eq!(one_flushed, Ok((5, half as u64)), "bit {bit}"),
            }
        }
    }

    #[test]
    fn a_group_behind_the_last_flush_counts_with_its_data_only() {
        let all = two_groups();
        let half = all.len() / 2;
        assert_eq!(told(&all, half, |slot, _| slot != 2), Ok((5, half as u64)));
        assert_eq!(told(&all, 0, |slot, _| slot != 1), Ok((0, all.len() as u64)));
        assert_eq!(told(&all, all.len(), |_, _| false), Ok((10, 0)), "flushed: told in any case");
    }

    #[test]
    fn what_follows_behind_a_flush_may_be_anything() {
        let mut all = two_groups();
        let length = all.len();
        all.extend_from_slice(&[0; 300]);
        assert_eq!(told(&all, length, |_, _| true), Ok((10, 300)));
        // A group of another place or of another log is none.
        all.truncate(length);
        all.extend_from_slice(&two_groups()[..length / 2]);
        assert_eq!(told(&all, length, |_, _| true), Ok((10, length as u64 / 2)));
        let other = Told { generation: GENERATION + 1, flushed: 0 };
        assert_eq!(read(&two_groups(), other, |_, _| true, |_| Ok(())), Ok(length as u64));
    }
}
