//! Settings that every buffer has.

use super::BufferKind;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings;
use ftlab_flash::settings::{Bytes, Optional};

/// Fewest pages that a buffer must hold.
pub const PAGES_MIN: u64 = 4;

settings! {
    /// The host write buffer in front of the scheme.
    pub struct BufferSettings in "buffer" {
        /// Which buffer; `--buffer` sets it.
        name: BufferKind = BufferKind::None, legal("", |_| true), source("ftlab");
        /// Bytes of data that it holds; part of the budget of device.ram_bytes. Its lists and
        /// tables come on top and are not counted, as in the papers.
        bytes: Bytes = Bytes(16 << 20), legal("4 pages or more", |v| v.0 > 0),
            source("BPLRU 2008: 1 to 16 MiB; DFTL 2014, 5.3: 16 MiB");
        /// Whether pages that the host read are kept too (lru, cflru); auto: cflru keeps them.
        cache_reads: Optional<bool> = Optional(None), legal("", |_| true),
            source("CFLRU 2006; DFTL 2014, 5.3: write-back");
        /// Whether padding programs the places of pages that were never written too, with zeros, so
        /// that a padded block arrives complete; otherwise they are left out. They are never read.
        pad_unwritten: bool = true, legal("", |_| true),
            source("docs/papers/others.md#bplru: P in-order pages");
        /// Whether dirty pages are written out in gaps between requests.
        idle_flush: bool = false, legal("", |_| true), source("ftlab");
    }
}

impl BufferSettings {
    /// Bytes of RAM that the buffer takes; 0 without one.
    pub fn taken_bytes(&self) -> u64 {
        match self.name {
            BufferKind::None => 0,
            _ => self.bytes.0,
        }
    }

    /// The memory of the buffer, if there is one.
    pub fn ram_use(&self) -> Option<RamUse> {
        let bytes = self.taken_bytes();
        (bytes > 0).then_some(RamUse { structure: "write_buffer", bytes, memory: Memory::Sram })
    }

    /// Pages that the buffer holds: no more than the device exports.
    pub(super) fn frames(&self, geometry: &Geometry) -> u32 {
        let pages = self.taken_bytes() / u64::from(geometry.page_bytes);
        pages.min(u64::from(geometry.logical_pages)) as u32
    }

    /// Whether the buffer keeps pages that were read.
    pub(super) fn keeps_reads(&self) -> bool {
        self.name.reads().is_some_and(|usual| self.cache_reads.0.unwrap_or(usual))
    }
}
