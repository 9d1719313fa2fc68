//! S-FTL's cache: compressed translation pages, and beside them a small buffer of changed entries
//! whose page is not cached. No entry is in both.

use super::sizes::Sizes;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::when::When;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::parts::compressed_pages::CompressedPages;
use ftlab_ftl::parts::entry_buffer::EntryBuffer;
use ftlab_ftl::parts::map_cache::MapCache;

/// Pages and buffer.
#[derive(Clone, Debug)]
pub struct Cache {
    /// Translation pages.
    pub pages: CompressedPages,
    /// Changed entries of other translation pages.
    pub buffer: EntryBuffer,
}

impl Cache {
    /// Empty.
    pub(super) fn new(geometry: &Geometry, sizes: &Sizes) -> Self {
        Cache {
            pages: CompressedPages::new(geometry, sizes.page, sizes.frames),
            buffer: EntryBuffer::new(geometry, sizes.buffered),
        }
    }

    /// When the translation page of a page was cached; of one that is not, at any time.
    pub fn ready(&self, lpn: Lpn) -> When {
        let pages = self.pages.pages();
        pages.find(self.pages.part_of(lpn)).map_or(When::START, |slot| pages.ready(slot))
    }
}

impl MapCache for Cache {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.pages.entry(lpn).or_else(|| self.buffer.entry(lpn))
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.pages.is_dirty(lpn) || self.buffer.is_dirty(lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        if self.pages.entry(lpn).is_some() {
            self.pages.change(lpn, ppn);
        } else {
            self.buffer.change(lpn, ppn);
        }
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.pages.clean(lpn);
        self.buffer.clean(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.pages.changed().chain(self.buffer.changed())
    }

    #[inline]
    fn unresolved(&self) -> u32 {
        self.buffer.unresolved()
    }

    #[inline]
    fn is_unresolved(&self, lpn: Lpn) -> bool {
        self.buffer.is_unresolved(lpn)
    }

    fn resolve(&mut self, lpn: Lpn) {
        self.buffer.resolve(lpn);
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        self.buffer.fill(changed);
    }

    fn self_check(&self) -> Result<(), String> {
        self.pages.self_check()?;
        self.buffer.self_check()?;
        match self.buffer.lpns().find(|&lpn| self.pages.entry(lpn).is_some()) {
            Some(lpn) => Err(format!("page {lpn} is in the buffer, its translation page cached")),
            None => Ok(()),
        }
    }
}
