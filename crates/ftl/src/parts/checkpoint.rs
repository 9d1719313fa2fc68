//! Checkpoints of what memory holds and flash does not: changed map entries, or a directory.
//!
//! A checkpoint is true as of one sequence number. Recovery then needs, besides the translation
//! pages, only the out-of-band areas of blocks programmed since: those that were open at the time,
//! which the checkpoint names, and those opened later, whose first page is younger. Its pages lie
//! in map blocks and are moved like map pages; the previous checkpoint goes when the next is
//! complete. DFTL 2014, 3.3 asks for such a thing ("even the cached mapping table needs to be saved
//! along with the GTD") without giving it a form; the form is ours. What the words of a checkpoint
//! mean is its owner's business.

use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::state::{Oob, OobRead};
use ftlab_flash::units::{BlockId, Ppn, pack, unpack, zeroed};

/// Words of a page before its share of the body: sequence (2), number of pages, length of the body.
const HEADER_WORDS: usize = 4;

/// The pages of the newest checkpoint, and the one being written.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// Body of the checkpoint being written: open blocks, then the owner's words.
    body: Vec<u32>,
    /// Pages of the even and the odd checkpoint, plus one.
    pages: [Vec<u32>; 2],
    counts: [u32; 2],
    number: u32,
    sequence: u64,
    /// Whether the checkpoint of this number is complete.
    complete: bool,
    words_per_page: usize,
}

impl Checkpoints {
    /// None taken yet; room for `words` words and `open_blocks` open blocks.
    pub fn new(nand: &Nand, words: u32, open_blocks: u32) -> Self {
        let words_per_page = nand.geometry().entries_per_page() as usize;
        let body = 1 + open_blocks as usize + words as usize;
        let pages = body.div_ceil(words_per_page - HEADER_WORDS);
        Checkpoints {
            body: Vec::with_capacity(body),
            pages: [zeroed(pages), zeroed(pages)],
            counts: [0, 0],
            number: 0,
            sequence: 0,
            complete: false,
            words_per_page,
        }
    }

    /// Most pages that two checkpoints take.
    pub fn most_pages(entries_per_page: u32, words: u64, open_blocks: u64) -> u64 {
        let body = 1 + open_blocks + words;
        2 * body.div_ceil(u64::from(entries_per_page) - HEADER_WORDS as u64)
    }

    /// Up to which program the newest checkpoint speaks; 0 when there is none.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Begins a checkpoint that is true as of now; returns how many pages it takes.
    pub fn begin(
        &mut self,
        nand: &Nand,
        open: impl Iterator<Item = BlockId>,
        words: impl Iterator<Item = u32>,
    ) -> u32 {
        self.sequence = nand.sequence();
        self.complete = false;
        self.number += 1;
        self.body.clear();
        self.body.push(0);
        for block in open {
            self.body.push(block.0);
        }
        self.body[0] = self.body.len() as u32 - 1;
        words.for_each(|word| self.body.push(word));
        self.body.len().div_ceil(self.words_per_page - HEADER_WORDS) as u32
    }

    /// Writes page `part` of `parts` into `words` (one page).
    pub fn fill(&self, part: u32, parts: u32, words: &mut [u32]) {
        words.fill(0);
        words[0] = self.sequence as u32;
        words[1] = (self.sequence >> 32) as u32;
        words[2] = parts;
        words[3] = self.body.len() as u32;
        let share = self.words_per_page - HEADER_WORDS;
        let from = part as usize * share;
        let end = (from + share).min(self.body.len());
        words[HEADER_WORDS..HEADER_WORDS + end - from].copy_from_slice(&self.body[from..end]);
    }

    fn side(&self) -> usize {
        (self.number % 2) as usize
    }

    /// The logical number of a page of the checkpoint being written.
    pub fn logical(&self, part: u32) -> u32 {
        part * 2 + self.number % 2
    }

    /// A page of the checkpoint being written is on flash.
    pub fn written(&mut self, part: u32, ppn: Ppn) {
        let side = self.side();
        self.pages[side][part as usize] = pack(Some(ppn.0));
        self.counts[side] = part + 1;
    }

    /// The checkpoint is complete: hands out a page of the previous one to invalidate, until none
    /// is left.
    pub fn next_superseded(&mut self) -> Option<Ppn> {
        self.complete = true;
        let old = 1 - self.side();
        let count = self.counts[old].checked_sub(1)?;
        self.counts[old] = count;
        unpack(self.pages[old][count as usize]).map(Ppn)
    }

    /// The pages of the newest complete checkpoint; what a place that flash keeps for it would say.
    pub fn newest_pages(&self) -> Vec<Ppn> {
        let side = if self.complete { self.side() } else { 1 - self.side() };
        let pages = &self.pages[side][..self.counts[side] as usize];
        pages.iter().filter_map(|&page| unpack(page).map(Ppn)).collect()
    }

    /// A page of either checkpoint was moved.
    pub fn moved(&mut self, logical: u32, ppn: Ppn) {
        self.pages[(logical % 2) as usize][(logical / 2) as usize] = pack(Some(ppn.0));
    }

    /// After a power cut: takes over the newest complete checkpoint among the pages found.
    pub fn restore(&mut self, found: &Restored) {
        self.number = found.side;
        self.sequence = found.sequence;
        self.complete = true;
        let side = self.side();
        for (part, ppn) in found.pages.iter().enumerate() {
            self.pages[side][part] = pack(Some(ppn.0));
        }
        self.counts[side] = found.pages.len() as u32;
    }
}

/// A checkpoint as read back after a power cut.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// Up to which program it speaks; 0 for "there is none".
    pub sequence: u64,
    side: u32,
    /// Its pages.
    pub pages: Vec<Ppn>,
    /// Blocks that were open.
    pub open: Vec<BlockId>,
    /// The owner's words.
    pub words: Vec<u32>,
}

impl Restored {
    /// The newest complete checkpoint among all checkpoint pages that a scan found. Their payloads
    /// are looked at; the caller charges the reads of the pages of the result.
    pub fn newest(nand: &Nand, found: &[(Ppn, Oob)]) -> Restored {
        let mut best = Restored::default();
        for &(candidate, oob) in found {
            if !nand.has_payload(candidate) {
                continue;
            }
            let words = nand.payload(candidate);
            let sequence = u64::from(words[0]) | u64::from(words[1]) << 32;
            if sequence <= best.sequence {
                continue;
            }
            if let Some(pages) = Self::complete(nand, found, sequence, words[2]) {
                best = Restored { sequence, side: oob.logical % 2, pages, ..Restored::default() };
            }
        }
        best.read_body(nand);
        best
    }

    /// The checkpoint that these pages hold, in order; none if there are none. The caller charges
    /// the reads.
    pub fn at(nand: &Nand, pages: Vec<Ppn>) -> Restored {
        let Some(&first) = pages.first() else { return Restored::default() };
        let words = nand.payload(first);
        let OobRead::Written(oob) = nand.state().oob(first) else {
            unreachable!("page {first} has a payload");
        };
        let sequence = u64::from(words[0]) | u64::from(words[1]) << 32;
        let mut restored =
            Restored { sequence, side: oob.logical % 2, pages, ..Restored::default() };
        restored.read_body(nand);
        restored
    }

    fn complete(nand: &Nand, found: &[(Ppn, Oob)], sequence: u64, parts: u32) -> Option<Vec<Ppn>> {
        let mut pages = vec![(0, None); parts as usize];
        for &(ppn, oob) in found {
            if !nand.has_payload(ppn) {
                continue;
            }
            let words = nand.payload(ppn);
            let same = u64::from(words[0]) | u64::from(words[1]) << 32;
            let slot = &mut pages[(oob.logical / 2).min(parts - 1) as usize];
            // A page may be there twice when a move was interrupted; either copy serves.
            if same == sequence && oob.sequence > slot.0 {
                *slot = (oob.sequence, Some(ppn));
            }
        }
        pages.into_iter().map(|(_, ppn)| ppn).collect()
    }

    fn read_body(&mut self, nand: &Nand) {
        let mut body = Vec::new();
        let mut length = 0;
        for &page in &self.pages {
            let words = nand.payload(page);
            length = words[3] as usize;
            body.extend_from_slice(&words[HEADER_WORDS..]);
        }
        body.truncate(length);
        let Some((&open, rest)) = body.split_first() else {
            return;
        };
        let (open, words) = rest.split_at(open as usize);
        self.open = open.iter().map(|&block| BlockId(block)).collect();
        self.words = words.to_vec();
    }
}
