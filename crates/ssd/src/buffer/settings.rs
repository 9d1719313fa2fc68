//! Settings that every buffer has.

use super::BufferKind;
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
        pad_unwritten: bool = true, legal("", |_| true), source("spec 4.5: P in-order pages");
        /// Whether dirty pages are written out in gaps between requests.
        idle_flush: bool = false, legal("", |_| true), source("ftlab");
    }
}
