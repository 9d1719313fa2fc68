//! Which logical pages a workload touches: one bit per page, all zero until touched, so that a
//! large device costs memory only where it is used.

use std::ops::Range;

use ftlab_engine::request::{Op, Request};
use ftlab_engine::units::SECTOR_BYTES;

/// A set of logical pages.
#[derive(PartialEq, Eq)]
pub struct PageBits {
    words: Vec<u64>,
}

impl PageBits {
    /// No page of `pages`.
    pub fn new(pages: u64) -> Self {
        PageBits { words: vec![0; pages.div_ceil(64) as usize] }
    }

    /// Adds a page; true when it is new.
    #[inline]
    pub fn insert(&mut self, page: u64) -> bool {
        let word = &mut self.words[(page / 64) as usize];
        let bit = 1 << (page % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// How many pages there are. Counted now: rustc 1.95 with optimisation loses a sum that
    /// [`PageBits::insert`] keeps where two sets are filled in one loop.
    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// One above the highest page; 0 when there is none.
    pub fn end(&self) -> u64 {
        let last = self.words.iter().rposition(|&word| word != 0);
        last.map_or(0, |index| {
            index as u64 * 64 + u64::from(64 - self.words[index].leading_zeros())
        })
    }

    /// The pages, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| index as u64 * 64 + bit)
        })
    }
}

/// Pages that are gathered before they enter their set.
const GATHERED: usize = 16384;

/// A set of logical pages while it grows. Pages enter it many at a time: each alone would wait for
/// its part of the set, which is far away in memory; many find what others of them have fetched.
pub struct GrowingPages {
    set: PageBits,
    gathered: Vec<u32>,
}

impl GrowingPages {
    /// No page of `pages`.
    pub fn new(pages: u64) -> Self {
        GrowingPages { set: PageBits::new(pages), gathered: Vec::with_capacity(GATHERED) }
    }

    /// Adds a page.
    #[inline]
    pub fn insert(&mut self, page: u64) {
        let Ok(number) = u32::try_from(page) else {
            panic!("page {page}: pages of a device are told by 32 bits");
        };
        self.gathered.push(number);
        if self.gathered.len() == GATHERED {
            self.enter();
        }
    }

    /// Adds the pages that requests read or write.
    pub fn insert_all(&mut self, requests: &[Request], page_bytes: u64) {
        let sectors = page_bytes / SECTOR_BYTES;
        // Nearly always a power of two, which is found out once, and then no division.
        match sectors.is_power_of_two() {
            true => {
                let shift = sectors.trailing_zeros();
                self.insert_those_of(requests, |sector| sector >> shift);
            }
            false => self.insert_those_of(requests, |sector| sector / sectors),
        }
    }

    #[inline]
    fn insert_those_of(&mut self, requests: &[Request], page_of: impl Fn(u64) -> u64) {
        for request in requests.iter().filter(|one| matches!(one.op, Op::Read | Op::Write)) {
            for page in pages_by(request, &page_of) {
                self.insert(page);
            }
        }
    }

    #[inline(never)]
    fn enter(&mut self) {
        for page in self.gathered.drain(..) {
            self.set.insert(u64::from(page));
        }
    }

    /// The set, which grows no more.
    pub fn finish(mut self) -> PageBits {
        self.enter();
        self.set
    }
}

/// First page and first page after a request that reads or writes.
#[inline]
pub fn pages(request: &Request, page_bytes: u64) -> Range<u64> {
    let sectors = page_bytes / SECTOR_BYTES;
    // Nearly always a power of two, and then no division.
    match sectors.is_power_of_two() {
        true => {
            let shift = sectors.trailing_zeros();
            pages_by(request, |sector| sector >> shift)
        }
        false => pages_by(request, |sector| sector / sectors),
    }
}

/// The same, where it is known which page a sector is of.
#[inline(always)]
fn pages_by(request: &Request, page_of: impl Fn(u64) -> u64) -> Range<u64> {
    let (first, sectors) = (request.first_sector, u64::from(request.sectors));
    page_of(first)..page_of(first + sectors - 1) + 1
}

/// What preparing a device must know of the workload.
#[derive(PartialEq, Eq)]
pub struct Footprint {
    /// Pages read or written at all.
    pub touched: PageBits,
    /// Pages whose first access is a read.
    pub read_first: PageBits,
    page_bytes: u64,
}

impl Footprint {
    /// Of no request yet, on a device of `logical_pages`.
    pub fn new(logical_pages: u64, page_bytes: u64) -> Self {
        Footprint {
            touched: PageBits::new(logical_pages),
            read_first: PageBits::new(logical_pages),
            page_bytes,
        }
    }

    /// Takes note of a request.
    pub fn note(&mut self, request: &Request) {
        if !matches!(request.op, Op::Read | Op::Write) {
            return;
        }
        for page in pages(request, self.page_bytes) {
            if self.touched.insert(page) && request.op == Op::Read {
                self.read_first.insert(page);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many more than are gathered at a time, some of them twice.
    #[test]
    fn pages_that_enter_many_at_a_time_are_those_that_enter_singly() {
        let (mut growing, mut set) = (GrowingPages::new(9_000), PageBits::new(9_000));
        for number in 0..3 * GATHERED as u64 + 5 {
            let page = number * 7 % 8_999;
            growing.insert(page);
            set.insert(page);
        }
        let grown = growing.finish();
        assert!(grown == set);
        assert_eq!((grown.len(), grown.end()), (8_999, 8_999));
    }

    fn request(op: Op, first_sector: u64, sectors: u32) -> Request {
        Request { arrival: 0, op, first_sector, sectors, unit: 0, stream: None, content: None }
    }

    /// Pages of four sectors and of three; trims and flushes touch none.
    #[test]
    fn requests_touch_every_page_of_which_they_read_or_write_a_sector() {
        let requests = [
            request(Op::Write, 3, 2),
            request(Op::Read, 9, 4),
            request(Op::Trim, 40, 8),
            request(Op::Read, 31, 1),
            request(Op::Write, 24, 3),
            request(Op::Read, 13, 11),
            request(Op::Flush, 0, 0),
        ];
        let of_four = vec![0, 1, 2, 3, 4, 5, 6, 7];
        let of_three = vec![1, 3, 4, 5, 6, 7, 8, 10];
        for (page_bytes, touched) in [(2048, of_four), (1536, of_three)] {
            let mut growing = GrowingPages::new(20);
            growing.insert_all(&requests, page_bytes);
            assert_eq!(growing.finish().iter().collect::<Vec<_>>(), touched);
            let moving = requests.iter().filter(|one| matches!(one.op, Op::Read | Op::Write));
            let mut singly: Vec<u64> = moving.flat_map(|one| pages(one, page_bytes)).collect();
            singly.sort_unstable();
            singly.dedup();
            assert_eq!(singly, touched);
        }
    }

    #[test]
    fn pages_read_before_they_are_written_are_told_from_the_others() {
        let mut footprint = Footprint::new(200, 2048);
        let mut note = |op, first_sector, sectors| {
            footprint.note(&request(op, first_sector, sectors));
        };
        note(Op::Write, 3, 2); // pages 0 and 1, both in part
        note(Op::Read, 4, 8); // pages 1 and 2
        note(Op::Write, 8, 1); // page 2, read before
        note(Op::Trim, 400, 8); // trims touch nothing
        note(Op::Read, 796, 4); // page 199
        assert_eq!(footprint.touched.iter().collect::<Vec<_>>(), [0, 1, 2, 199]);
        assert_eq!(footprint.read_first.iter().collect::<Vec<_>>(), [2, 199]);
        assert_eq!(footprint.touched.len(), 4);
    }
}
