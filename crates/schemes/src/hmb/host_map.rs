//! The host's copy of the map: chunks of entries in its memory, the ones used longest ago leave.
//!
//! What an entry says was true when it was sent. The host does not know what happened since;
//! whoever uses an entry must verify it.

use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::slot_list::SlotLists;

/// The host's memory, as far as it holds map chunks.
#[derive(Clone, Debug)]
pub(super) struct HostMap {
    /// Physical page of each logical page as last sent, plus one; 0 where the host knows none.
    entries: Vec<u32>,
    /// Chunks that hold something, in order of use.
    held: SlotLists<1>,
    chunk_entries: u32,
    /// Chunks that the memory has room for.
    chunks: u32,
}

impl HostMap {
    /// Memory for `chunks` chunks of a map of `pages` entries; empty.
    pub fn new(pages: u32, chunk_entries: u32, chunks: u32) -> Self {
        HostMap {
            entries: zeroed(pages as usize),
            held: SlotLists::new(pages.div_ceil(chunk_entries)),
            chunk_entries,
            chunks,
        }
    }

    fn chunk_of(&self, lpn: Lpn) -> Slot {
        Slot(lpn.0 / self.chunk_entries)
    }

    fn pages_of(&self, chunk: Slot) -> std::ops::Range<u32> {
        let first = chunk.0 * self.chunk_entries;
        first..(first + self.chunk_entries).min(self.entries.len() as u32)
    }

    /// What the host says about a page; its chunk is the one used last.
    #[inline]
    pub fn hint(&mut self, lpn: Lpn) -> Option<Ppn> {
        let chunk = self.chunk_of(lpn);
        if self.held.list_of(chunk).is_some() {
            self.held.renew(chunk);
        }
        self.known(lpn)
    }

    /// The same for whoever only looks.
    pub fn known(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    /// The device sends one entry: for a chunk that the host holds, or has room for. One entry is
    /// not worth a chunk.
    #[inline]
    pub fn learn(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        let chunk = self.chunk_of(lpn);
        if self.held.list_of(chunk).is_none() {
            if ppn.is_none() || self.held.len(0) == self.chunks {
                return;
            }
            self.held.push(0, chunk);
        }
        self.entries[lpn.index()] = pack(ppn.map(|ppn| ppn.0));
    }

    /// The device sends the chunk of a page, entry by entry. Unless it is empty, it takes the place
    /// of the one used longest ago where there is no room.
    pub fn load(&mut self, lpn: Lpn, entry: impl Fn(Lpn) -> Option<Ppn>) {
        let chunk = self.chunk_of(lpn);
        let pages = self.pages_of(chunk);
        if self.held.list_of(chunk).is_none() {
            if self.chunks == 0 || pages.clone().all(|page| entry(Lpn(page)).is_none()) {
                return;
            }
            if self.held.len(0) == self.chunks {
                let oldest = self.held.oldest(0).expect("the memory is full");
                self.held.remove(oldest);
                let gone = self.pages_of(oldest);
                self.entries[gone.start as usize..gone.end as usize].fill(0);
            }
            self.held.push(0, chunk);
        }
        for page in pages {
            self.entries[page as usize] = pack(entry(Lpn(page)).map(|ppn| ppn.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three chunks of four pages, room for two.
    #[test]
    fn the_chunk_used_longest_ago_leaves_and_is_forgotten_whole() {
        let mut host = HostMap::new(10, 4, 2);
        host.learn(Lpn(0), Some(Ppn(7)));
        host.learn(Lpn(3), Some(Ppn(8)));
        host.learn(Lpn(4), Some(Ppn(9)));
        assert_eq!(host.hint(Lpn(3)), Some(Ppn(8)), "used again: the other is older now");
        host.load(Lpn(9), |lpn| (lpn == Lpn(9)).then_some(Ppn(1)));
        assert_eq!(host.known(Lpn(4)), None, "gone");
        assert_eq!([0, 3, 9].map(|lpn| host.known(Lpn(lpn))), [7, 8, 1].map(|p| Some(Ppn(p))));
        host.learn(Lpn(9), None);
        assert_eq!(host.known(Lpn(9)), None, "trimmed");
        host.learn(Lpn(5), None);
        assert_eq!(host.known(Lpn(0)), Some(Ppn(7)), "nothing makes no room for itself");
        host.load(Lpn(5), |_| None);
        assert_eq!(host.known(Lpn(0)), Some(Ppn(7)), "nor does a chunk of nothing");
    }

    /// One entry of a chunk that is not held: it took the place of a whole chunk.
    #[test]
    fn an_entry_alone_takes_free_room_and_no_chunks_place() {
        let mut host = HostMap::new(12, 4, 2);
        host.load(Lpn(1), |lpn| Some(Ppn(lpn.0 + 20)));
        host.learn(Lpn(4), Some(Ppn(9)));
        assert_eq!(host.known(Lpn(4)), Some(Ppn(9)), "there was room");
        host.learn(Lpn(8), Some(Ppn(3)));
        assert_eq!(host.known(Lpn(8)), None);
        let held = [0, 1, 2, 3, 4].map(|lpn| host.known(Lpn(lpn)).map(|ppn| ppn.0));
        assert_eq!(held, [20, 21, 22, 23, 9].map(Some));
    }

    #[test]
    fn no_memory_holds_nothing() {
        let mut host = HostMap::new(10, 4, 0);
        host.learn(Lpn(0), Some(Ppn(7)));
        host.load(Lpn(0), |_| Some(Ppn(7)));
        assert_eq!(host.hint(Lpn(0)), None);
    }
}
