//! The flash of a drive while its store is read: a checkpoint, and what requests changed since.

use std::collections::BTreeMap;

use ftlab_engine::board::nand::restore::{StoredBlock, StoredPage};
use ftlab_lab::flash_image::{read_block, read_page, write_block, write_page};

use super::log::Entry;

/// A block, and its pages as bytes, by offset.
#[derive(Default)]
struct Block {
    stored: StoredBlock,
    pages: BTreeMap<u32, Vec<u8>>,
}

/// Everything that a store holds, but the bytes of pages.
pub struct Image {
    pages_per_block: u32,
    blocks: BTreeMap<u32, Block>,
    /// Slot and checksum of versions, carried or not.
    pub versions: BTreeMap<u32, (u32, u32)>,
    /// Words of phase-change memory.
    pub pcm: Vec<u32>,
    /// The last version that preparing wrote.
    pub prepared: u32,
    /// Bytes at the end of the log that do not count.
    pub left_out: u64,
}

/// Takes a number off the front of bytes.
pub fn number(body: &mut &[u8]) -> Result<u32, String> {
    let (word, rest) = body.split_first_chunk().ok_or("it ends too early")?;
    *body = rest;
    Ok(u32::from_le_bytes(*word))
}

impl Image {
    /// Of a checkpoint: blocks, words of phase-change memory, the last version of
    /// preparing, versions.
    pub fn read(mut body: &[u8], pages_per_block: u32, words_max: u32) -> Result<Self, String> {
        let mut image = Image {
            pages_per_block,
            blocks: BTreeMap::new(),
            versions: BTreeMap::new(),
            pcm: Vec::new(),
            prepared: 0,
            left_out: 0,
        };
        while let Some(block) = number(&mut body)?.checked_sub(1) {
            let mut own = Block { stored: read_block(&mut body)?, ..Block::default() };
            for offset in 0..number(&mut body)? {
                let begins = body;
                let mut words = Vec::new();
                let page = read_page(&mut body, &mut words, words_max)?;
                if page != StoredPage::Free {
                    own.pages.insert(offset, begins[..begins.len() - body.len()].to_vec());
                }
            }
            image.blocks.insert(block, own);
        }
        for _ in 0..number(&mut body)? {
            image.pcm.push(number(&mut body)?);
        }
        image.prepared = number(&mut body)?;
        for _ in 0..number(&mut body)? {
            let version = number(&mut body)?;
            image.versions.insert(version, (number(&mut body)?, number(&mut body)?));
        }
        if body.is_empty() { Ok(image) } else { Err("something follows its end".to_owned()) }
    }

    /// A change of the log.
    pub fn change(&mut self, entry: Entry<'_>) -> Result<(), String> {
        match entry {
            Entry::Erased(block) => self.blocks.entry(block).or_default().pages.clear(),
            Entry::Block(block, stored) => self.blocks.entry(block).or_default().stored = stored,
            Entry::Page(ppn, page) => {
                let (block, offset) = (ppn / self.pages_per_block, ppn % self.pages_per_block);
                self.blocks.entry(block).or_default().pages.insert(offset, page.to_vec());
            }
            Entry::Version(version, slot, checksum) => {
                self.versions.insert(version, (slot, checksum));
            }
            Entry::Pcm(index, word) => {
                let held = self.pcm.get_mut(index as usize);
                *held
                    .ok_or_else(|| format!("there is no word {index} of phase-change memory"))? =
                    word;
            }
        }
        Ok(())
    }

    /// The blocks as [`ftlab_lab::flash_image::read`] takes them.
    pub fn flash(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let put = |bytes: &mut Vec<u8>, number: u32| bytes.extend_from_slice(&number.to_le_bytes());
        for (block, own) in &self.blocks {
            put(&mut bytes, block + 1);
            write_block(&mut bytes, own.stored).expect("memory takes all");
            let count = own.pages.last_key_value().map_or(0, |(last, _)| last + 1);
            put(&mut bytes, count);
            for offset in 0..count {
                match own.pages.get(&offset) {
                    Some(page) => bytes.extend_from_slice(page),
                    None => write_page(&mut bytes, StoredPage::Free).expect("memory takes all"),
                }
            }
        }
        put(&mut bytes, 0);
        bytes
    }
}
