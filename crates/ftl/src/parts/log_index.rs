//! The log-page index: where the newest copy of a logical page is, if that is in a log block.
//!
//! One packed entry per logical page, zero for "not in a log block": a look-up is one array access
//! and an untouched part of a large device takes no memory. The controller of a paper keeps one
//! entry per log page instead; what a scheme reports as RAM is that table.

use crate::parts::data_blocks::Lbn;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};

/// Newest log copies.
#[derive(Clone, Debug)]
pub struct LogIndex {
    entries: Vec<u32>,
    /// Entries in use by logical block, if somebody wants to know; else empty.
    live: Vec<u32>,
    pages_per_block: u32,
}

impl LogIndex {
    /// No log page yet. The last logical block is covered to its end, used or not.
    pub fn new(geometry: &Geometry) -> Self {
        let pages = geometry.logical_blocks() as usize * geometry.pages_per_block as usize;
        let pages_per_block = geometry.pages_per_block;
        LogIndex { entries: zeroed(pages), live: Vec::new(), pages_per_block }
    }

    /// From now on [`LogIndex::live`] is known.
    pub fn count_live(&mut self) {
        let blocks = self.entries.chunks(self.pages_per_block as usize);
        self.live = blocks.map(used).collect();
    }

    /// Log pages that hold newest copies of a logical block's pages; needs
    /// [`LogIndex::count_live`].
    #[inline]
    pub fn live(&self, lbn: Lbn) -> u32 {
        self.live[lbn.index()]
    }

    /// That the counts are what the entries say, if they are kept.
    pub fn self_check(&self) -> Result<(), String> {
        let blocks = self.entries.chunks(self.pages_per_block as usize);
        for (lbn, (block, &counted)) in blocks.zip(&self.live).enumerate() {
            let used = used(block);
            if used != counted {
                return Err(format!(
                    "logical block {lbn} has {used} live log pages, {counted} are counted"
                ));
            }
        }
        Ok(())
    }

    /// RAM of those counts: 4 bytes per logical block.
    pub fn live_ram_bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.logical_blocks()) * 4
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
        let old = std::mem::replace(&mut self.entries[lpn.index()], pack(Some(ppn.0)));
        if old == 0 && !self.live.is_empty() {
            self.live[(lpn.0 / self.pages_per_block) as usize] += 1;
        }
    }

    /// The newest copy is no longer in a log block; returns where it was.
    #[inline]
    pub fn take(&mut self, lpn: Lpn) -> Option<Ppn> {
        let old = std::mem::take(&mut self.entries[lpn.index()]);
        if old != 0 && !self.live.is_empty() {
            self.live[(lpn.0 / self.pages_per_block) as usize] -= 1;
        }
        unpack(old).map(Ppn)
    }
}

fn used(block: &[u32]) -> u32 {
    block.iter().filter(|&&entry| entry != 0).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;

    #[test]
    fn live_pages_are_counted_by_logical_block_and_a_wrong_count_is_found() {
        let geometry = Geometry::new(&SharedSettings::default().device);
        let pages = geometry.pages_per_block;
        let mut logs = LogIndex::new(&geometry);
        logs.set(Lpn(1), Ppn(7));
        logs.count_live();
        logs.set(Lpn(1), Ppn(8));
        logs.set(Lpn(pages - 1), Ppn(9));
        logs.set(Lpn(pages), Ppn(10));
        assert_eq!([0, 1, 2].map(|lbn| logs.live(Lbn(lbn))), [2, 1, 0], "a newer copy is no more");
        assert_eq!(logs.take(Lpn(1)), Some(Ppn(8)));
        assert_eq!(logs.take(Lpn(1)), None);
        assert_eq!(
            [0, 1, 2].map(|lbn| logs.live(Lbn(lbn))),
            [1, 1, 0],
            "nothing to take is no less"
        );
        assert_eq!(logs.self_check(), Ok(()));
        logs.live[2] = 1;
        assert!(logs.self_check().is_err_and(|error| error.contains("logical block 2 has 0")));
    }

    /// Eleven logical blocks, the last of them begun; pages of three log blocks of four: 12 entries
    /// of 4 bytes, and their valid bits in two bytes.
    #[test]
    fn memory_is_four_bytes_and_a_bit_for_a_log_page_and_four_bytes_for_a_count() {
        let mut config = SharedSettings::default();
        config.set("device.pages_per_block", "4").expect("legal");
        config.set("device.logical_bytes", "84KiB").expect("legal");
        let geometry = Geometry::new(&config.device);
        assert_eq!(geometry.logical_pages, 42);
        assert_eq!(LogIndex::ram_bytes(&geometry, 3), 50);
        assert_eq!(LogIndex::live_ram_bytes(&geometry), 44);
    }
}
