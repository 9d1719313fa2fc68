//! Blocks in queues, each in at most one: appended at the end, taken from anywhere in constant
//! time. Queues are numbered from 0, blocks as on the device.

use ftlab_flash::units::{BlockId, zeroed};

/// One queue. Links are block numbers plus one, 0 for "none".
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    head: u32,
    tail: u32,
    length: u32,
}

/// What is known of a block.
#[derive(Clone, Copy, Debug, zerocopy::FromZeros)]
struct Link {
    next: u32,
    previous: u32,
    /// Its queue plus one; 0: in none.
    queue: u32,
}

/// The queues.
#[derive(Clone, Debug)]
pub struct BlockQueues {
    queues: Vec<Ends>,
    links: Vec<Link>,
}

impl BlockQueues {
    /// So many empty queues for so many blocks.
    pub fn new(queues: usize, blocks: u32) -> Self {
        BlockQueues { queues: vec![Ends::default(); queues], links: zeroed(blocks as usize + 1) }
    }

    /// Blocks in a queue.
    pub fn len(&self, queue: usize) -> u32 {
        self.queues[queue].length
    }

    /// The queue that a block waits in.
    pub fn queue_of(&self, block: BlockId) -> Option<usize> {
        self.links[block.index() + 1].queue.checked_sub(1).map(|queue| queue as usize)
    }

    /// Appends a block that is in no queue.
    pub fn push(&mut self, queue: usize, block: BlockId) {
        assert!(self.queue_of(block).is_none(), "block {block} waits in a queue already");
        let node = block.0 + 1;
        let Ends { tail, .. } = self.queues[queue];
        self.links[node as usize] = Link { next: 0, previous: tail, queue: queue as u32 + 1 };
        match tail {
            0 => self.queues[queue].head = node,
            _ => self.links[tail as usize].next = node,
        }
        self.queues[queue].tail = node;
        self.queues[queue].length += 1;
    }

    /// Puts a block that is in no queue before another one.
    pub fn insert_before(&mut self, other: BlockId, block: BlockId) {
        assert!(self.queue_of(block).is_none(), "block {block} waits in a queue already");
        let (node, next) = (block.0 + 1, other.0 + 1);
        let Link { previous, queue, .. } = self.links[next as usize];
        let ends = &mut self.queues[queue.checked_sub(1).expect("the other one waits") as usize];
        ends.length += 1;
        self.links[node as usize] = Link { next, previous, queue };
        self.links[next as usize].previous = node;
        match previous {
            0 => ends.head = node,
            _ => self.links[previous as usize].next = node,
        }
    }

    /// The block behind one that waits in a queue.
    pub fn behind(&self, block: BlockId) -> Option<BlockId> {
        self.links[block.index() + 1].next.checked_sub(1).map(BlockId)
    }

    /// Takes a block out of its queue; whether it was in one.
    pub fn remove(&mut self, block: BlockId) -> bool {
        let node = block.0 + 1;
        let Link { next, previous, queue } = self.links[node as usize];
        let Some(queue) = queue.checked_sub(1) else { return false };
        let ends = &mut self.queues[queue as usize];
        ends.length -= 1;
        if previous == 0 {
            ends.head = next;
        }
        if next == 0 {
            ends.tail = previous;
        }
        if previous != 0 {
            self.links[previous as usize].next = next;
        }
        if next != 0 {
            self.links[next as usize].previous = previous;
        }
        self.links[node as usize] = Link { next: 0, previous: 0, queue: 0 };
        true
    }

    /// The blocks of a queue, the one that came first in front.
    pub fn iter(&self, queue: usize) -> impl Iterator<Item = BlockId> + '_ {
        let mut node = self.queues[queue].head;
        std::iter::from_fn(move || {
            let block = BlockId(node.checked_sub(1)?);
            node = self.links[node as usize].next;
            Some(block)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};
    use std::collections::VecDeque;

    /// Three queues of twenty blocks against three lists.
    #[test]
    fn queues_are_lists() {
        let mut queues = BlockQueues::new(3, 20);
        let mut naive = vec![VecDeque::<BlockId>::new(); 3];
        let mut rng = Rng::new(3, Purpose::Workload);
        for _ in 0..5000 {
            let block = BlockId(rng.below(20));
            let at = naive.iter().position(|list| list.contains(&block));
            assert_eq!(queues.queue_of(block), at);
            if let Some(at) = at {
                assert!(queues.remove(block));
                naive[at].retain(|&other| other != block);
            } else {
                assert!(!queues.remove(block));
                let to = rng.below(3) as usize;
                match naive[to].iter().position(|other| other.0 > block.0) {
                    Some(place) => {
                        queues.insert_before(naive[to][place], block);
                        naive[to].insert(place, block);
                    }
                    None => {
                        queues.push(to, block);
                        naive[to].push_back(block);
                    }
                }
            }
            for (queue, list) in naive.iter().enumerate() {
                assert!(queues.iter(queue).eq(list.iter().copied()), "queue {queue}");
                assert_eq!(queues.len(queue) as usize, list.len());
                for (place, &block) in list.iter().enumerate() {
                    assert_eq!(queues.behind(block), list.get(place + 1).copied());
                }
            }
        }
    }
}
