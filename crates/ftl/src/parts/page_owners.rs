//! Which logical pages have which physical page, where several may have the same one.
//!
//! The map says where every logical page is; turned round, every physical page has a list of those
//! that are there. Both change together.
//!
//! What this is not: who decides that two pages hold the same (a table of values does).

use ftlab_flash::units::{Lpn, Ppn, pack, unpack, zeroed};
use zerocopy::FromZeros;

/// Bytes of a map entry.
pub const ENTRY_BYTES: u64 = 4;
/// Bytes of the first owner of a physical page.
pub const FIRST_BYTES: u64 = 4;
/// Bytes of a logical page's place in a list of owners.
pub const LINK_BYTES: u64 = 8;

/// Neighbours in a list of owners, plus one; 0 for none.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct Links {
    previous: u32,
    next: u32,
}

/// The map, and the owners of every physical page.
#[derive(Clone, Debug)]
pub struct PageOwners {
    /// Physical page of each logical one, plus one.
    entries: Vec<u32>,
    /// First owner of each physical page, plus one.
    first: Vec<u32>,
    /// Of each logical page.
    links: Vec<Links>,
    /// Owners that are not the first of their page.
    further: u64,
}

impl PageOwners {
    /// Nothing is anywhere.
    pub fn new(logical_pages: u32, physical_pages: u32) -> Self {
        Self::of(zeroed(logical_pages as usize), physical_pages)
    }

    /// The same of a map that is there (physical pages plus one, 0 for nowhere).
    pub fn of(entries: Vec<u32>, physical_pages: u32) -> Self {
        let mut owners = PageOwners {
            first: zeroed(physical_pages as usize),
            links: zeroed(entries.len()),
            entries,
            further: 0,
        };
        for lpn in (0..owners.entries.len() as u32).map(Lpn) {
            if let Some(ppn) = owners.page(lpn) {
                owners.join(lpn, ppn);
            }
        }
        owners
    }

    /// Where a logical page is.
    #[inline]
    pub fn page(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.entries[lpn.index()]).map(Ppn)
    }

    /// The map as it is stored.
    pub fn entries(&self) -> &[u32] {
        &self.entries
    }

    /// The same, to be put in place before [`PageOwners::of`] makes anything of it.
    pub fn entries_mut(&mut self) -> &mut [u32] {
        &mut self.entries
    }

    /// The map alone.
    pub fn into_entries(self) -> Vec<u32> {
        self.entries
    }

    /// One of those that have a physical page.
    #[inline]
    pub fn first(&self, ppn: Ppn) -> Option<Lpn> {
        unpack(self.first[ppn.index()]).map(Lpn)
    }

    /// Whether more than one has it.
    pub fn is_shared(&self, ppn: Ppn) -> bool {
        self.first(ppn).is_some_and(|lpn| self.links[lpn.index()].next != 0)
    }

    /// All of them.
    pub fn all(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> + '_ {
        std::iter::successors(self.first(ppn), |lpn| unpack(self.links[lpn.index()].next).map(Lpn))
    }

    /// The physical page that nobody has any more once a logical one has left it.
    #[inline]
    pub fn left_alone(&self, lpn: Lpn) -> Option<Ppn> {
        let Links { previous, next } = self.links[lpn.index()];
        self.page(lpn).filter(|_| previous == 0 && next == 0)
    }

    /// Owners that are not the first of their page: how many physical pages sharing saves.
    pub fn further(&self) -> u64 {
        self.further
    }

    /// A logical page is somewhere else from now on, or nowhere.
    pub fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        if let Some(old) = self.page(lpn) {
            self.part(lpn, old);
        }
        self.entries[lpn.index()] = pack(ppn.map(|ppn| ppn.0));
        if let Some(ppn) = ppn {
            self.join(lpn, ppn);
        }
    }

    /// A physical page was copied: all who had the old one have the new one. How many those are.
    pub fn moved(&mut self, old: Ppn, new: Ppn) -> u32 {
        assert!(self.first(new).is_none(), "page {new} was just written, and has an owner");
        self.first[new.index()] = std::mem::take(&mut self.first[old.index()]);
        let (mut owner, mut count) = (self.first(new), 0);
        while let Some(lpn) = owner {
            self.entries[lpn.index()] = pack(Some(new.0));
            owner = unpack(self.links[lpn.index()].next).map(Lpn);
            count += 1;
        }
        count
    }

    fn join(&mut self, lpn: Lpn, ppn: Ppn) {
        let head = std::mem::replace(&mut self.first[ppn.index()], pack(Some(lpn.0)));
        self.links[lpn.index()] = Links { previous: 0, next: head };
        if let Some(other) = unpack(head) {
            self.links[other as usize].previous = pack(Some(lpn.0));
            self.further += 1;
        }
    }

    fn part(&mut self, lpn: Lpn, ppn: Ppn) {
        let Links { previous, next } = std::mem::take(&mut self.links[lpn.index()]);
        match unpack(previous) {
            Some(before) => self.links[before as usize].next = next,
            None => self.first[ppn.index()] = next,
        }
        if let Some(behind) = unpack(next) {
            self.links[behind as usize].previous = previous;
        }
        self.further -= u64::from(previous != 0 || next != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    /// Against a plain table: pages that come, share, move and go.
    #[test]
    fn owners_are_what_a_plain_table_says() {
        let (logical, physical) = (12, 20);
        let mut rng = Rng::new(3, Purpose::Workload);
        let mut owners = PageOwners::new(logical, physical);
        let mut plain = vec![None; logical as usize];
        for step in 0..20_000 {
            let (lpn, ppn) = (Lpn(rng.below(logical)), Ppn(rng.below(physical)));
            let free = plain.iter().all(|&page| page != Some(ppn));
            match (rng.below(8), free) {
                (0, _) => {
                    owners.change(lpn, None);
                    plain[lpn.index()] = None;
                }
                (1..4, true) => {
                    let old = plain[rng.below(logical) as usize];
                    let Some(old) = old else { continue };
                    let moved = owners.moved(old, ppn);
                    let found = plain.iter_mut().filter(|page| **page == Some(old));
                    let count = found.map(|page| *page = Some(ppn)).count();
                    assert_eq!(moved as usize, count, "step {step}");
                }
                _ => {
                    owners.change(lpn, Some(ppn));
                    plain[lpn.index()] = Some(ppn);
                }
            }
            let mut further = 0;
            for ppn in (0..physical).map(Ppn) {
                let mut told: Vec<Lpn> = owners.all(ppn).collect();
                told.sort_unstable();
                let is = |lpn: &Lpn| plain[lpn.index()] == Some(ppn);
                let truth: Vec<Lpn> = (0..logical).map(Lpn).filter(is).collect();
                assert_eq!(told, truth, "step {step}, page {ppn}");
                further += truth.len().saturating_sub(1) as u64;
            }
            assert_eq!(owners.further(), further, "step {step}");
            for lpn in (0..logical).map(Lpn) {
                let page = plain[lpn.index()];
                let others = plain.iter().filter(|&&other| other == page).count();
                assert_eq!(owners.page(lpn), page);
                assert_eq!(owners.left_alone(lpn), page.filter(|_| others == 1), "step {step}");
            }
            let again = PageOwners::of(owners.entries().to_vec(), physical);
            assert_eq!(again.further(), further);
        }
    }

    /// Logical pages 0 and 2 have page 4, and 1 has page 7, alone. The map is stored as it is, plus
    /// one, and one that is put in place is what owners are made of.
    #[test]
    fn a_map_is_taken_out_and_put_in_as_it_is_stored() {
        let mut owners = PageOwners::new(4, 9);
        [(0, 4), (1, 7), (2, 4)]
            .iter()
            .for_each(|&(lpn, ppn)| owners.change(Lpn(lpn), Some(Ppn(ppn))));
        assert_eq!([4, 5, 7].map(|page| owners.is_shared(Ppn(page))), [true, false, false]);
        let entries = owners.into_entries();
        assert_eq!(entries, [5, 8, 5, 0]);
        let mut again = PageOwners::new(4, 9);
        again.entries_mut().copy_from_slice(&entries);
        let again = PageOwners::of(again.into_entries(), 9);
        assert_eq!((again.page(Lpn(1)), again.page(Lpn(3))), (Some(Ppn(7)), None));
        assert_eq!(again.further(), 1);
    }
}
