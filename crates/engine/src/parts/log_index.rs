//! The log-page index: where the newest copy of a logical page is, if that is in a log block.
//!
//! One packed entry per logical page, zero for "not in a log block": a look-up is one array access
//! and an untouched part of a large device takes no memory. The controller of a paper keeps one
//! entry per log page instead; what a scheme reports as RAM is that table.

use crate::board::nand::geometry::Geometry;
use crate::units::{Lpn, Ppn, pack, unpack, zeroed};

/// Newest log copies.
#[derive(Clone, Debug)]
pub struct LogIndex {
    entries: Vec<u32>,
}

impl LogIndex {
    /// No log page yet. The last logical block is covered to its end, used or not.
    pub fn new(geometry: &Geometry) -> Self {
        let pages = geometry.logical_blocks() as usize * geometry.pages_per_block as usize;
        LogIndex { entries: zeroed(pages) }
    }

    /// RAM of the papers' table over `log_blocks`: 4 bytes and a valid bit per log page.
    pub fn ram_bytes(geometry: &Geometry, log_blocks: u64) -> u64 {
        let pages = log_blocks * u64::from(geometry.pages_per_block);
        pages * 4 + pages.div_ceil(8)
    }

    /// The newest copy, if it is in a log block.
    #[inline]
    pub fn get(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    /// The newest copy is now in a log block.
    #[inline]
    pub fn set(&mut self, lpn: Lpn, ppn: Ppn) {
        self.entries[lpn.index()] = pack(Some(ppn.0));
    }

    /// The newest copy is no longer in a log block; returns where it was.
    #[inline]
    pub fn take(&mut self, lpn: Lpn) -> Option<Ppn> {
        unpack(std::mem::take(&mut self.entries[lpn.index()])).map(Ppn)
    }
}
