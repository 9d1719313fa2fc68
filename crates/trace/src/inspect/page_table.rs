//! What is remembered about every page that was touched: 8 bytes a page where neighbours are
//! touched too, 208 and a table entry for a page alone.
//!
//! Pages lie in chunks, chunks in regions, and only regions are looked for in a hash table: with a
//! row for every chunk it was so large that each look-up waited for memory.

use rustc_hash::FxHashMap;

const CHUNK_PAGES: u64 = 16;
/// Chunks of a region: their numbers are one cache line.
const REGION_CHUNKS: u64 = 16;

/// One page.
#[derive(Clone, Copy, Default)]
pub(super) struct PageState {
    /// Slot of its latest access plus one; 0 = never touched.
    pub latest: u32,
    /// Times that it was written; what exceeds 32 bits is not counted.
    pub writes: u32,
}

/// The numbers of the chunks of a region, plus one; 0 = no page of it was touched.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Region([u32; REGION_CHUNKS as usize]);

/// The pages of any number of units.
pub(super) struct PageTable {
    /// The number of a region by its unit and place, and both by the number.
    numbers: FxHashMap<(u32, u64), u32>,
    names: Vec<(u32, u64)>,
    regions: Vec<Region>,
    chunks: Vec<[PageState; CHUNK_PAGES as usize]>,
    /// The chunk of the access before this one: most accesses stay near.
    known: Option<((u32, u64), Chunk)>,
}

/// A chunk that holds a page which was touched.
#[derive(Clone, Copy)]
pub(super) struct Chunk(u32);

impl PageTable {
    /// Nothing was touched.
    pub fn new() -> Self {
        Self {
            numbers: FxHashMap::default(),
            names: Vec::new(),
            regions: Vec::new(),
            chunks: Vec::new(),
            known: None,
        }
    }

    /// The state of a page; a new one was never touched.
    #[inline]
    pub fn state(&mut self, unit: u32, page: u64) -> &mut PageState {
        let key = (unit, page / CHUNK_PAGES);
        let chunk = match self.known {
            Some((known, chunk)) if known == key => chunk,
            _ => self.chunk(key),
        };
        &mut self.chunks[chunk.0 as usize][(page % CHUNK_PAGES) as usize]
    }

    /// The region of a page, if one of its pages was touched.
    #[inline]
    pub fn region(&self, unit: u32, page: u64) -> Option<u32> {
        self.numbers.get(&(unit, page / CHUNK_PAGES / REGION_CHUNKS)).copied()
    }

    /// The chunk of a page of that region, if one of its pages was touched.
    #[inline]
    pub fn chunk_of(&self, region: u32, page: u64) -> Option<Chunk> {
        let Region(numbers) = &self.regions[region as usize];
        numbers[(page / CHUNK_PAGES % REGION_CHUNKS) as usize].checked_sub(1).map(Chunk)
    }

    /// Slot of the latest access of a page of that chunk plus one; 0 = never touched.
    #[inline]
    pub fn latest(&self, chunk: Chunk, page: u64) -> u32 {
        self.chunks[chunk.0 as usize][(page % CHUNK_PAGES) as usize].latest
    }

    /// The next page asked for is in a chunk that was found.
    #[inline]
    pub fn expect(&mut self, unit: u32, page: u64, chunk: Chunk) {
        self.known = Some(((unit, page / CHUNK_PAGES), chunk));
    }

    fn chunk(&mut self, key: (u32, u64)) -> Chunk {
        let of_region = (key.0, key.1 / REGION_CHUNKS);
        let region = match self.numbers.get(&of_region) {
            Some(&number) => number as usize,
            None => {
                self.numbers.insert(of_region, self.regions.len() as u32);
                self.names.push(of_region);
                self.regions.push(Region::default());
                self.regions.len() - 1
            }
        };
        let Region(numbers) = &mut self.regions[region];
        let number = &mut numbers[(key.1 % REGION_CHUNKS) as usize];
        if *number == 0 {
            self.chunks.push([PageState::default(); CHUNK_PAGES as usize]);
            *number = self.chunks.len() as u32;
        }
        let chunk = Chunk(*number - 1);
        self.known = Some((key, chunk));
        chunk
    }

    /// Every chunk, with its unit and the number of its first page; at least one page of it was
    /// touched.
    pub fn chunks(&self) -> impl Iterator<Item = (u32, u64, &[PageState])> {
        let all = &self.chunks;
        self.names.iter().zip(&self.regions).flat_map(move |(name, numbers)| {
            let (unit, first) = (name.0, name.1 * REGION_CHUNKS);
            let places = (0..REGION_CHUNKS).zip(numbers.0).filter(|(_, number)| *number > 0);
            places.map(move |(place, number)| {
                (unit, (first + place) * CHUNK_PAGES, &all[number as usize - 1][..])
            })
        })
    }

    /// Every page that was touched, in no order that matters.
    pub fn touched(&self) -> impl Iterator<Item = &PageState> {
        self.chunks.iter().flatten().filter(|state| state.latest != 0)
    }

    /// The same, to be changed.
    pub fn touched_mut(&mut self) -> impl Iterator<Item = &mut PageState> {
        self.chunks.iter_mut().flatten().filter(|state| state.latest != 0)
    }

    /// Bytes held, at least.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.chunks[..])
            + size_of_val(&self.regions[..])
            + size_of_val(&self.names[..])
            + 24 * self.numbers.capacity()
    }
}
