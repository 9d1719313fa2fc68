//! TPFTL's cache beside models: whatever changes or moves a page clears its bit, and what a
//! collection moves in order is trained.

use super::models::{Learned, Models};
use crate::tpftl::nodes::{Nodal, Nodes};
use ftlab_flash::board::Board;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{Lpn, Ppn};
use ftlab_ftl::parts::map_cache::MapCache;

/// The cache, and the models.
#[derive(Clone, Debug)]
pub struct LearnedCache {
    /// TPFTL's.
    pub nodes: Nodes,
    /// Models of every translation page.
    pub models: Models,
    /// Entries of a translation page.
    pub entries: u32,
    /// Logical pages of the device.
    pub logical_pages: u32,
    /// Whether a translation page of which memory knows all is written without a read.
    pub rewrites: bool,
}

impl Nodal for LearnedCache {
    #[inline]
    fn entries(&self) -> &Nodes {
        &self.nodes
    }

    #[inline]
    fn entries_mut(&mut self) -> &mut Nodes {
        &mut self.nodes
    }
}

/// Counts what was learned.
pub fn count(board: &mut Board, event: Event, learned: Learned) {
    if learned.models > 0 {
        board.event(event, u64::from(learned.models));
        board.event(Event::ExactPages, u64::from(learned.exact));
    }
}

impl MapCache for LearnedCache {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Option<Ppn>> {
        self.nodes.entry(lpn)
    }

    #[inline]
    fn is_dirty(&self, lpn: Lpn) -> bool {
        self.nodes.is_dirty(lpn)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.models.clear(lpn);
        let before = self.nodes.entry(lpn).expect("the entry is cached");
        let mapped = &mut self.models.mapped[(lpn.0 / self.entries) as usize];
        *mapped += u32::from(ppn.is_some());
        *mapped -= u32::from(before.is_some());
        self.nodes.change(lpn, ppn);
    }

    #[inline]
    fn clean(&mut self, lpn: Lpn) {
        self.nodes.clean(lpn);
    }

    fn changed(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> + '_ {
        self.nodes.changed()
    }

    fn fill(&mut self, changed: &[(Lpn, Option<Ppn>)]) {
        self.nodes.fill(changed);
    }

    fn self_check(&self) -> Result<(), String> {
        self.nodes.self_check()
    }

    #[inline]
    fn page_moved(&mut self, lpn: Lpn, new: Ppn) {
        self.models.page_moved(lpn, new);
    }

    fn pages_moved(&mut self, board: &mut Board, in_order: bool) {
        if in_order {
            let learned = self.models.train();
            count(board, Event::ModelTrainings, learned);
        }
        self.models.drop_moved();
    }

    fn knows_rest(&self, part: u32, moved: u32) -> bool {
        let first = part * self.entries;
        let mut lpns = first..(first + self.entries).min(self.logical_pages);
        self.rewrites && {
            let cached =
                lpns.by_ref().filter(|&lpn| self.nodes.entry(Lpn(lpn)).flatten().is_some());
            moved + cached.count() as u32 == self.models.mapped[part as usize]
        }
    }
}
