//! Extents that were touched, which is what dense addressing needs room for. Where an extent is
//! whole pages those of reads and writes follow from the pages, at the end and not request by
//! request.

use ftlab_flash::request::Op;
use ftlab_flash::units::WideDivisor;

use super::lru_stack::LruStack;
use crate::footprint::PageSet;
use crate::record::Record;

/// What is counted while records go by.
pub(super) struct Extents {
    touched: PageSet,
    extent_bytes: WideDivisor,
    /// Does every page lie in one extent?
    of_pages: bool,
    page_bytes: u64,
}

impl Extents {
    /// Before the first request; neither is 0.
    pub fn new(extent_bytes: u64, page_bytes: u64) -> Self {
        Self {
            touched: PageSet::default(),
            extent_bytes: WideDivisor::new(extent_bytes),
            of_pages: extent_bytes.is_multiple_of(page_bytes),
            page_bytes,
        }
    }

    /// A request.
    #[inline]
    pub fn note(&mut self, record: &Record) {
        let follows = self.of_pages && matches!(record.op, Op::Read | Op::Write);
        if !follows && record.op != Op::Flush && record.size_bytes > 0 {
            let last = self.extent_bytes.quotient(record.end_bytes() - 1);
            self.touched.insert(record.unit, self.extent_bytes.quotient(record.offset_bytes), last);
        }
    }

    /// Bytes of the extents that were touched; `pages` are those of all reads and writes.
    pub fn bytes(&mut self, pages: &LruStack) -> u64 {
        for (unit, first, states) in pages.chunks().filter(|_| self.of_pages) {
            let extent_of = |place: usize| {
                let page = first.saturating_add(place as u64);
                self.extent_bytes.quotient(page.saturating_mul(self.page_bytes))
            };
            let (extent, last) = (extent_of(0), extent_of(states.len() - 1));
            if extent == last {
                self.touched.insert(unit, extent, extent);
                continue;
            }
            for (place, _) in states.iter().enumerate().filter(|(_, state)| state.latest != 0) {
                self.touched.insert(unit, extent_of(place), extent_of(place));
            }
        }
        self.touched.len().saturating_mul(self.extent_bytes.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Against a set of every extent of every request: extents of many pages, of a few, of one, of
    /// parts of a page.
    #[test]
    fn extents_are_those_of_the_requests() {
        for (extent_bytes, page_bytes) in
            [(256 << 10, 4096), (16 << 10, 4096), (4096, 4096), (6000, 4096), (512, 4096), (1, 1)]
        {
            let (mut extents, mut naive) =
                (Extents::new(extent_bytes, page_bytes), BTreeSet::new());
            let mut pages = LruStack::new(0);
            for number in 0..2000u64 {
                let op = [Op::Read, Op::Write, Op::Write, Op::Trim, Op::Flush][number as usize % 5];
                let offset_bytes = match number {
                    0 => u64::MAX - 8192,
                    _ => number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 38,
                };
                let (size_bytes, unit) = (number % 7 * 100 + 1, (number % 3) as u32);
                let record = Record {
                    time_ns: 0,
                    op,
                    offset_bytes,
                    size_bytes,
                    unit,
                    stream: None,
                    content: None,
                };
                extents.note(&record);
                let last_byte = record.end_bytes() - 1;
                if matches!(op, Op::Read | Op::Write) {
                    let touched = offset_bytes / page_bytes..=last_byte / page_bytes;
                    touched.for_each(|page| pages.access(unit, page, false));
                }
                if op != Op::Flush {
                    let touched = offset_bytes / extent_bytes..=last_byte / extent_bytes;
                    naive.extend(touched.map(|extent| (unit, extent)));
                }
            }
            let expected = naive.len() as u64 * extent_bytes;
            assert_eq!(extents.bytes(&pages), expected, "{extent_bytes} of {page_bytes}");
        }
    }
}
