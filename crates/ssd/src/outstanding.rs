//! Requests that the device holds: when each of them is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ftlab_flash::units::Nanos;

/// The slots of a device's queue.
#[derive(Clone)]
pub(crate) enum Outstanding {
    /// One slot, and when it is free; 0 while nothing is in it.
    One(Nanos),
    /// Several, and what is in them.
    Many(usize, BinaryHeap<Reverse<Nanos>>),
}

impl Outstanding {
    /// Nothing is under way.
    pub fn new(depth: usize) -> Self {
        match depth {
            1 => Outstanding::One(0),
            _ => Outstanding::Many(depth, BinaryHeap::with_capacity(depth + 1)),
        }
    }

    /// When a request that arrives gets a slot.
    #[inline]
    pub fn admit(&mut self, arrival: Nanos) -> Nanos {
        match self {
            Outstanding::One(free) => arrival.max(std::mem::take(free)),
            Outstanding::Many(depth, heap) => {
                while let Some(&Reverse(done)) = heap.peek() {
                    if done <= arrival {
                        heap.pop();
                    } else if heap.len() >= *depth {
                        heap.pop();
                        return done;
                    } else {
                        break;
                    }
                }
                arrival
            }
        }
    }

    /// An admitted request is done at this moment.
    #[inline]
    pub fn push(&mut self, done: Nanos) {
        match self {
            Outstanding::One(free) => *free = done,
            Outstanding::Many(_, heap) => heap.push(Reverse(done)),
        }
    }

    /// When a slot is free, if none was left after the last admission.
    #[inline]
    pub fn next_slot(&self) -> Option<Nanos> {
        match self {
            Outstanding::One(0) => None,
            Outstanding::One(free) => Some(*free),
            Outstanding::Many(depth, heap) if heap.len() < *depth => None,
            Outstanding::Many(_, heap) => heap.peek().map(|&Reverse(done)| done),
        }
    }

    /// All slots are free.
    pub fn clear(&mut self) {
        match self {
            Outstanding::One(free) => *free = 0,
            Outstanding::Many(_, heap) => heap.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one slot is a heap of one.
    #[test]
    fn one_slot_is_the_shortest_queue() {
        let mut heap = Outstanding::Many(1, BinaryHeap::new());
        let mut one = Outstanding::new(1);
        for (arrival, service) in [(0, 5), (2, 4), (9, 0), (9, 3), (20, 1), (20, 1)] {
            let admitted = heap.admit(arrival);
            assert_eq!(one.admit(arrival), admitted);
            heap.push(admitted + service);
            one.push(admitted + service);
            assert_eq!(one.next_slot(), heap.next_slot());
        }
        heap.clear();
        one.clear();
        assert_eq!((one.next_slot(), heap.next_slot()), (None, None));
    }
}
