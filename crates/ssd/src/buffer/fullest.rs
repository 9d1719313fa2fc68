//! Which group has most buffered pages; among equals, which was written longest ago.

use super::groups::{Groups, Membership};
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::parts::slots::indexed_heap::IndexedHeap;

/// Groups by buffered pages.
#[derive(Clone)]
pub(crate) struct Fullest {
    /// Keys: fewer than any count, so that the fullest is least; then the last write.
    heap: IndexedHeap,
    writes: u64,
}

/// Orders counts downwards.
fn key(count: u32) -> u64 {
    u64::from(u32::MAX - count)
}

impl Fullest {
    /// No groups, at most `most` at once.
    pub fn new(most: u32) -> Self {
        Fullest { heap: IndexedHeap::new(most), writes: 0 }
    }

    /// A written page entered.
    pub fn entered(&mut self, page: Membership) {
        self.writes += 1;
        match page.count {
            1 => self.heap.push(page.group, (key(1), self.writes)),
            count => self.heap.change(page.group, (key(count), self.writes)),
        }
    }

    /// A page of a group was written again.
    pub fn used(&mut self, group: Slot) {
        self.writes += 1;
        let (count, _) = self.heap.key(group);
        self.heap.change(group, (count, self.writes));
    }

    /// A page left.
    pub fn left(&mut self, page: Membership) {
        match page.count {
            0 => self.heap.remove(page.group),
            count => {
                let (_, written) = self.heap.key(page.group);
                self.heap.change(page.group, (key(count), written));
            }
        }
    }

    /// The group with most pages.
    pub fn block(&self) -> Option<Slot> {
        self.heap.min()
    }

    /// Whether it knows the groups as they are.
    pub fn self_check(&self, groups: &Groups) -> Result<(), String> {
        let fullest = self.block().map_or(0, |group| groups.count(group));
        let known = self.block().map_or(key(0), |group| self.heap.key(group).0);
        match self.heap.count() == groups.len() && known == key(fullest) {
            true => Ok(()),
            false => Err(format!(
                "{} groups ordered by pages, {} there; the fullest has {fullest} pages",
                self.heap.count(),
                groups.len()
            )),
        }
    }
}
