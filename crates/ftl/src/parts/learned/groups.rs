//! All groups of a device that memory holds: their segments in one pool of nodes, so that nothing
//! is allocated and what is not used is not resident.

use super::group::{Found, Group, Placed, Sizes, compacted_at, has};
use super::members::Members;
use super::segment::Segment;
use ftlab_flash::units::zeroed;
use zerocopy::FromZeros;

/// A segment in the chain of its group.
#[derive(Clone, Copy, Debug, Default, FromZeros)]
struct Node {
    segment: Segment,
    level: u16,
    /// Node of the next one plus one; 0 for none.
    next: u32,
}

/// The groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Pages of a group.
    pages: u32,
    /// First node of each group plus one; 0 for none.
    heads: Vec<u32>,
    nodes: Vec<Node>,
    /// Nodes that were used and are free again, chained.
    free: u32,
    /// Nodes that were ever used.
    used: u32,
    owners: Vec<u8>,
    listed: Vec<Members>,
    trimmed: Vec<Members>,
}

impl Groups {
    /// So many groups of `pages`, empty. While one is stored it may have as many nodes more.
    pub fn new(groups: u32, pages: u32) -> Self {
        let count = groups as usize;
        Groups {
            pages,
            heads: zeroed(count),
            nodes: zeroed((count + 1) * compacted_at(pages) as usize),
            free: 0,
            used: 0,
            owners: zeroed(count * pages as usize),
            listed: zeroed(count),
            trimmed: zeroed(count),
        }
    }

    fn chain(&self, group: u32) -> impl Iterator<Item = &Node> {
        let node = |link: u32| link.checked_sub(1).map(|index| &self.nodes[index as usize]);
        std::iter::successors(node(self.heads[group as usize]), move |last| node(last.next))
    }

    fn owners(&self, group: u32) -> std::ops::Range<usize> {
        let first = group as usize * self.pages as usize;
        first..first + self.pages as usize
    }

    /// Whether a page is known to be trimmed.
    pub fn is_trimmed(&self, group: u32, offset: u8) -> bool {
        self.trimmed[group as usize].has(offset)
    }

    /// The newest segment of a group that has a page.
    #[inline]
    pub fn find(&self, group: u32, offset: u8) -> Option<Found> {
        if self.trimmed[group as usize].has(offset) {
            return None;
        }
        let listed = self.listed[group as usize].has(offset);
        let owner = listed.then(|| self.owners[self.owners(group).start + usize::from(offset)]);
        let node = self.chain(group).find(|node| has(node.segment, offset, owner))?;
        Some(Found { segment: node.segment, levels: u32::from(node.level) + 1 })
    }

    /// A group as it is.
    pub fn load(&self, group: u32, into: &mut Group) {
        into.clear();
        let listed = self.listed[group as usize];
        let owners = &self.owners[self.owners(group)];
        for node in self.chain(group) {
            let mut members = Members::NONE;
            if !node.segment.is_accurate() {
                let owned = |page: &u8| owners[usize::from(*page)] == node.segment.start;
                listed.iter().filter(owned).for_each(|page| members.insert(page));
            }
            into.append(Placed { level: node.level, segment: node.segment }, members);
        }
        into.set_trimmed(self.trimmed[group as usize]);
    }

    /// A group as it is from now on.
    pub fn store(&mut self, group: u32, from: &Group) {
        let (listed, owner) = from.listed();
        if !listed.is_empty() {
            let owners = self.owners(group);
            self.owners[owners].copy_from_slice(&owner[..self.pages as usize]);
        }
        self.listed[group as usize] = *listed;
        self.trimmed[group as usize] = from.trimmed();
        let mut last = None;
        for placed in from.placed() {
            let node = self.node_behind(group, last);
            let known = &mut self.nodes[node as usize];
            (known.segment, known.level) = (placed.segment, placed.level);
            last = Some(node);
        }
        self.free_behind(group, last);
    }

    /// Nothing is known of a group any more.
    pub fn forget(&mut self, group: u32) {
        self.listed[group as usize] = Members::NONE;
        self.trimmed[group as usize] = Members::NONE;
        self.free_behind(group, None);
    }

    fn link_mut(&mut self, group: u32, last: Option<u32>) -> &mut u32 {
        match last {
            None => &mut self.heads[group as usize],
            Some(node) => &mut self.nodes[node as usize].next,
        }
    }

    /// The node that follows, which may be a new one.
    fn node_behind(&mut self, group: u32, last: Option<u32>) -> u32 {
        let next = *self.link_mut(group, last);
        if next > 0 {
            return next - 1;
        }
        let node = match self.free.checked_sub(1) {
            Some(node) => {
                self.free = self.nodes[node as usize].next;
                node
            }
            None => {
                assert!((self.used as usize) < self.nodes.len(), "a group has too many segments");
                self.used += 1;
                self.used - 1
            }
        };
        self.nodes[node as usize].next = 0;
        *self.link_mut(group, last) = node + 1;
        node
    }

    /// All nodes that follow are free.
    fn free_behind(&mut self, group: u32, last: Option<u32>) {
        let mut next = std::mem::take(self.link_mut(group, last));
        while let Some(node) = next.checked_sub(1) {
            next = std::mem::replace(&mut self.nodes[node as usize].next, self.free);
            self.free = node + 1;
        }
    }

    /// Whether nothing is known of a group.
    pub fn is_empty(&self, group: u32) -> bool {
        self.heads[group as usize] == 0 && self.trimmed[group as usize].is_empty()
    }
}

impl std::ops::AddAssign for Sizes {
    fn add_assign(&mut self, other: Sizes) {
        self.accurate += other.accurate;
        self.approximate += other.approximate;
        self.lone += other.lone;
        self.listed += other.listed;
    }
}

impl std::ops::SubAssign for Sizes {
    fn sub_assign(&mut self, other: Sizes) {
        self.accurate -= other.accurate;
        self.approximate -= other.approximate;
        self.lone -= other.lone;
        self.listed -= other.listed;
    }
}
