//! What is remembered about every page that was touched: 8 bytes a page where neighbours are
//! touched too, 128 and a table entry for a page alone.

use std::hint::black_box;

use rustc_hash::FxHashMap;

const CHUNK_PAGES: u64 = 16;

/// One page.
#[derive(Clone, Copy, Default)]
pub(super) struct PageState {
    /// Slot of its latest access plus one; 0 = never touched.
    pub latest: u32,
    /// Times that it was written; what exceeds 32 bits is not counted.
    pub writes: u32,
}

/// The pages of any number of units.
pub(super) struct PageTable {
    chunks: FxHashMap<(u32, u64), u32>,
    states: Vec<[PageState; CHUNK_PAGES as usize]>,
    /// The chunk of the access before this one: most accesses stay near.
    known: Option<((u32, u64), u32)>,
}

impl PageTable {
    /// Nothing was touched.
    pub fn new() -> Self {
        Self { chunks: FxHashMap::default(), states: Vec::new(), known: None }
    }

    /// The state of a page; a new one was never touched.
    #[inline]
    pub fn state(&mut self, unit: u32, page: u64) -> &mut PageState {
        let key = (unit, page / CHUNK_PAGES);
        let chunk = match self.known {
            Some((known, chunk)) if known == key => chunk,
            _ => self.chunk(key),
        };
        &mut self.states[chunk as usize][(page % CHUNK_PAGES) as usize]
    }

    /// Brings the state of a page near, if it has one, so that [`Self::state`] need not wait for
    /// memory; nothing changes. Several pages asked for in a row are waited for together.
    #[inline]
    pub fn bring_near(&self, unit: u32, page: u64) {
        if let Some(&chunk) = self.chunks.get(&(unit, page / CHUNK_PAGES)) {
            black_box(self.states[chunk as usize][(page % CHUNK_PAGES) as usize].latest);
        }
    }

    fn chunk(&mut self, key: (u32, u64)) -> u32 {
        let new = self.states.len() as u32;
        let chunk = *self.chunks.entry(key).or_insert(new);
        if chunk == new {
            self.states.push([PageState::default(); CHUNK_PAGES as usize]);
        }
        self.known = Some((key, chunk));
        chunk
    }

    /// Every page that was touched, in no order that matters.
    pub fn touched(&self) -> impl Iterator<Item = &PageState> {
        self.states.iter().flatten().filter(|state| state.latest != 0)
    }

    /// The same, to be changed.
    pub fn touched_mut(&mut self) -> impl Iterator<Item = &mut PageState> {
        self.states.iter_mut().flatten().filter(|state| state.latest != 0)
    }

    /// Bytes held, at least.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        size_of_val(&self.states[..]) + 24 * self.chunks.capacity()
    }
}
