//! Settings that every buffer has.

use super::BufferKind;
use crate::config::{Bytes, Config, Optional, SettingError};
use crate::settings;

/// Fewest pages that a buffer must hold.
const PAGES_MIN: u64 = 4;

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

impl Config {
    /// Bytes of RAM that the buffer takes; 0 without one.
    pub fn buffer_bytes(&self) -> u64 {
        match self.buffer.name {
            BufferKind::None => 0,
            _ => self.buffer.bytes.0,
        }
    }

    /// What the memory budget leaves for maps; none where there is no budget.
    pub fn map_budget(&self) -> Option<u64> {
        let budget = self.device.ram_bytes.0?;
        Some(budget.0.saturating_sub(self.buffer_bytes()))
    }

    /// Pages that the buffer holds: no more than there are.
    pub(super) fn buffer_frames(&self) -> u32 {
        let pages = self.buffer_bytes() / self.device.unit_bytes();
        pages.min(self.device.logical_pages()) as u32
    }

    /// Whether the buffer keeps pages that were read.
    pub(super) fn buffer_keeps_reads(&self) -> bool {
        let kind = self.buffer.name;
        kind.reads().is_some_and(|usual| self.buffer.cache_reads.0.unwrap_or(usual))
    }

    /// Legality of the buffer's settings together.
    pub(crate) fn check_buffer(&self) -> Result<(), SettingError> {
        let kind = self.buffer.name;
        if kind == BufferKind::None {
            return Ok(());
        }
        let (bytes, page) = (self.buffer.bytes.0, self.device.unit_bytes());
        if bytes < PAGES_MIN * page {
            return Err(SettingError::Conflict(format!(
                "buffer.bytes = {bytes} must hold at least {PAGES_MIN} pages of {page} bytes"
            )));
        }
        if let Some(budget) = self.device.ram_bytes.0
            && bytes > budget.0
        {
            return Err(SettingError::Conflict(format!(
                "buffer.bytes = {bytes} exceeds device.ram_bytes = {} (--ram), of which the buffer \
                 is a part",
                budget.0
            )));
        }
        if self.buffer.cache_reads.0 == Some(true) && kind.reads().is_none() {
            let able = BufferKind::ALL.iter().filter(|(kind, _)| kind.reads().is_some());
            return Err(SettingError::Conflict(format!(
                "buffer.cache_reads = true has no meaning for {}, which holds written pages only; \
                 legal with {}",
                kind.name(),
                able.map(|(_, name)| *name).collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(())
    }
}
