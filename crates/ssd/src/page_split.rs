//! Which pages a request of sectors touches, and which sectors of each.

use crate::device::DeviceError;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::settings::PartialWrite;
use ftlab_flash::request::{Content, Op, Request, RequestShape};
use ftlab_flash::units::{Lpn, WideDivisor};

/// How sectors fall into pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageSplit {
    sectors_per_page: u64,
    by_page: WideDivisor,
    all: u64,
    whole_pages: bool,
    capacity: u64,
}

impl PageSplit {
    /// How they fall on a device.
    pub fn new(geometry: &Geometry, partial_write: PartialWrite) -> Self {
        let sectors_per_page = u64::from(geometry.sectors_per_page());
        PageSplit {
            sectors_per_page,
            by_page: WideDivisor::new(sectors_per_page),
            all: geometry.all_sectors(),
            whole_pages: partial_write == PartialWrite::WholePage,
            capacity: u64::from(geometry.logical_pages) * sectors_per_page,
        }
    }

    /// Sectors that the device exports.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Whether a request covers all of a page.
    pub fn covers(&self, request: &Request, lpn: u32) -> bool {
        let page_start = u64::from(lpn) * self.sectors_per_page;
        let end = request.first_sector + u64::from(request.sectors);
        request.first_sector <= page_start && end >= page_start + self.sectors_per_page
    }

    /// The shape of a trim as a scheme sees it at one of the pages that the request covers: those
    /// pages alone, since no other is forgotten.
    pub fn covered(&self, request: &Request, lpn: u32, shape: RequestShape) -> RequestShape {
        let begins_inside = !self.covers(request, shape.first_lpn.0);
        let first_lpn = Lpn(shape.first_lpn.0 + u32::from(begins_inside));
        let end = request.first_sector + u64::from(request.sectors);
        let pages = self.by_page.quotient(end) as u32 - first_lpn.0;
        let sectors = pages * self.sectors_per_page as u32;
        RequestShape { first_lpn, pages, index: lpn - first_lpn.0, sectors, ..shape }
    }

    /// What a write puts on a page, where the request says it and covers all of the page: nobody
    /// knows what the rest of another page is.
    #[inline]
    pub fn content(&self, request: &Request, lpn: u32) -> Option<Content> {
        let content = request.content.filter(|_| self.covers(request, lpn))?;
        let page_start = u64::from(lpn) * self.sectors_per_page;
        Some(content.from_sector(page_start - request.first_sector))
    }

    /// The page that holds a sector.
    #[inline]
    pub fn page_of(&self, sector: u64) -> u64 {
        self.by_page.quotient(sector)
    }

    /// First page and number of pages of a request.
    #[inline]
    pub fn pages(&self, request: &Request) -> (u32, u32) {
        let first = self.page_of(request.first_sector);
        let last = self.page_of(request.first_sector + u64::from(request.sectors) - 1);
        (first as u32, (last - first + 1) as u32)
    }

    /// Sectors of one page that a request touches, bit 0 = first sector; all of them where pages
    /// are written as a whole.
    #[inline]
    pub fn sectors(&self, request: &Request, lpn: u32) -> u64 {
        if self.whole_pages {
            return self.all;
        }
        let page_start = u64::from(lpn) * self.sectors_per_page;
        let from = request.first_sector.max(page_start) - page_start;
        let end = (request.first_sector + u64::from(request.sectors) - page_start)
            .min(self.sectors_per_page);
        (self.all >> (self.sectors_per_page - (end - from))) << from
    }

    /// Whether the device has all sectors of a request.
    #[inline]
    pub fn check_range(&self, request: &Request) -> Result<(), DeviceError> {
        let end = request.first_sector.saturating_add(u64::from(request.sectors));
        if request.op != Op::Flush && end > self.capacity() {
            return Err(DeviceError::OutOfRange {
                first_sector: request.first_sector,
                sectors: request.sectors,
                capacity: self.capacity(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{config, request};

    /// Pages of four sectors, 64 of them.
    fn split(partial_write: PartialWrite) -> PageSplit {
        PageSplit::new(&Geometry::new(&config(&[]).device), partial_write)
    }

    fn shape(first: u32, pages: u32, index: u32, sectors: u32) -> RequestShape {
        RequestShape { first_lpn: Lpn(first), pages, index, sectors, hint: None }
    }

    #[test]
    fn a_request_touches_the_pages_of_its_first_and_last_sector() {
        let split = split(PartialWrite::Rmw);
        let pages = |first, sectors| split.pages(&request(Op::Read, first, sectors));
        assert_eq!([pages(0, 1), pages(7, 1), pages(8, 4)], [(0, 1), (1, 1), (2, 1)]);
        assert_eq!([pages(7, 2), pages(6, 8), pages(8, 8)], [(1, 2), (1, 3), (2, 2)]);
        assert_eq!(split.page_of(11), 2);
    }

    #[test]
    fn sectors_of_a_page_are_those_that_the_request_touches_or_all() {
        let (parts, whole) = (split(PartialWrite::Rmw), split(PartialWrite::WholePage));
        let request = request(Op::Write, 6, 7);
        let of = |split: PageSplit| [1, 2, 3].map(|lpn| split.sectors(&request, lpn));
        assert_eq!(of(parts), [0b1100, 0b1111, 0b0001]);
        assert_eq!(of(whole), [0b1111; 3]);
        let inside = crate::for_tests::request(Op::Write, 5, 2);
        assert_eq!(parts.sectors(&inside, 1), 0b0110);
    }

    #[test]
    fn a_page_is_covered_by_a_request_of_all_its_sectors() {
        let split = split(PartialWrite::Rmw);
        let covers = |first, sectors| split.covers(&request(Op::Trim, first, sectors), 2);
        assert!(covers(8, 4) && covers(7, 6) && covers(0, 12));
        assert!(!covers(8, 3) && !covers(9, 4) && !covers(0, 11));
    }

    /// Sectors 6 to 17 are pages 2 and 3, and parts of two others.
    #[test]
    fn a_trim_is_of_the_pages_that_it_covers() {
        let split = split(PartialWrite::Rmw);
        let trim = request(Op::Trim, 6, 12);
        let covered = |lpn| split.covered(&trim, lpn, shape(1, 4, lpn - 1, 12));
        assert_eq!([covered(2), covered(3)], [shape(2, 2, 0, 8), shape(2, 2, 1, 8)]);
        let whole = request(Op::Trim, 8, 8);
        assert_eq!(split.covered(&whole, 3, shape(2, 2, 1, 8)), shape(2, 2, 1, 8));
    }

    #[test]
    fn a_page_that_is_covered_has_its_part_of_the_content() {
        let split = split(PartialWrite::Rmw);
        let content = Some(Content::new(7));
        let write = Request { content, ..request(Op::Write, 6, 7) };
        let of = |lpn| split.content(&write, lpn);
        assert_eq!([of(1), of(3)], [None; 2]);
        assert_eq!(of(2), Some(Content::new(7).from_sector(2)));
        assert_eq!(split.content(&request(Op::Write, 8, 4), 2), None, "it says nothing");
    }

    #[test]
    fn a_request_ends_where_the_device_does() {
        let split = split(PartialWrite::Rmw);
        assert_eq!(split.capacity(), 256);
        let check = |op, first, sectors| split.check_range(&request(op, first, sectors));
        assert_eq!([check(Op::Read, 0, 256), check(Op::Write, 255, 1)], [Ok(()), Ok(())]);
        let (first_sector, sectors, capacity) = (255, 2, 256);
        let beyond = DeviceError::OutOfRange { first_sector, sectors, capacity };
        assert_eq!(check(Op::Trim, 255, 2), Err(beyond));
        assert!(check(Op::Read, u64::MAX, 1).is_err());
        assert_eq!(check(Op::Flush, 300, 0), Ok(()), "a flush has no sectors");
    }
}
