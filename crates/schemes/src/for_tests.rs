//! Requests of the host as a scheme sees them, for its tests.

use ftlab_flash::meter::Cause;
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::units::{Lpn, Tag};

/// A request of a sector of one page.
pub fn page(lpn: u32) -> PageIo {
    let lpn = Lpn(lpn);
    let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 1, hint: None };
    PageIo { lpn, sectors: 1, cause: Cause::Host, data: Tag(1), request }
}

/// The pages of one request, all of each: four sectors.
pub fn pages(first: u32, pages: u32) -> impl Iterator<Item = PageIo> {
    let (first_lpn, sectors, hint) = (Lpn(first), 4 * pages, None);
    (0..pages).map(move |index| {
        let request = RequestShape { first_lpn, pages, index, sectors, hint };
        PageIo { sectors: u64::MAX, request, ..page(first + index) }
    })
}
