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
