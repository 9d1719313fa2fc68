//! Requests that the device holds: when each of them is done.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ftlab_flash::units::Nanos;

/// Up to so many slots are kept in order: most requests are done behind all others, and few of
/// those before are moved for the rest.
const FEW: usize = 256;

/// The slots of a device's queue.
#[derive(Clone)]
pub(crate) enum Outstanding {
    /// One slot, and when it is free; 0 while nothing is in it.
    One(Nanos),
    /// Several. Apart, so that whoever has one pays for no more than that.
    Several(Box<Slots>),
}

/// Several slots.
#[derive(Clone)]
pub(crate) struct Slots {
    depth: usize,
    taken: Taken,
}

/// What is in them.
#[derive(Clone)]
enum Taken {
    /// First done first.
    Few(Row),
    Many(BinaryHeap<Reverse<Nanos>>),
}

/// Moments in order, in a row with free places behind it: whoever wants the first of them or adds
/// the last of them looks at one place. A row that has come to the end of its places moves back.
#[derive(Clone)]
struct Row {
    places: Box<[Nanos]>,
    first: usize,
    end: usize,
}

impl Outstanding {
    /// Nothing is under way.
    pub fn new(depth: usize) -> Self {
        let taken = match depth {
            1 => return Outstanding::One(0),
            2..=FEW => Taken::Few(Row::new(depth)),
            _ => Taken::Many(BinaryHeap::with_capacity(depth + 1)),
        };
        Outstanding::Several(Box::new(Slots { depth, taken }))
    }

    /// Whether there is one slot only.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self, Outstanding::One(_))
    }

    /// When a request that arrives gets a slot.
    #[inline(always)]
    pub fn admit(&mut self, arrival: Nanos) -> Nanos {
        match self {
            Outstanding::One(free) => arrival.max(std::mem::take(free)),
            Outstanding::Several(slots) => slots.admit(arrival),
        }
    }

    /// An admitted request is done at this moment.
    #[inline(always)]
    pub fn push(&mut self, done: Nanos) {
        match self {
            Outstanding::One(free) => *free = done,
            Outstanding::Several(slots) => slots.push(done),
        }
    }

    /// When a slot is free, if none was left after the last admission.
    #[inline(always)]
    pub fn next_slot(&self) -> Option<Nanos> {
        match self {
            Outstanding::One(0) => None,
            Outstanding::One(free) => Some(*free),
            Outstanding::Several(slots) if slots.len() < slots.depth => None,
            Outstanding::Several(slots) => slots.first(),
        }
    }

    /// All slots are free.
    pub fn clear(&mut self) {
        match self {
            Outstanding::One(free) => *free = 0,
            Outstanding::Several(slots) => slots.clear(),
        }
    }
}

impl Row {
    /// Empty; holds up to `depth` moments.
    fn new(depth: usize) -> Self {
        Row { places: vec![0; 2 * depth].into(), first: 0, end: 0 }
    }

    #[inline(always)]
    fn first(&self) -> Option<Nanos> {
        (self.first < self.end).then(|| self.places[self.first])
    }

    #[inline(always)]
    fn push(&mut self, at: Nanos) {
        if self.end == self.places.len() {
            self.move_back();
        }
        if self.first < self.end && self.places[self.end - 1] > at {
            self.insert(at);
        } else {
            self.places[self.end] = at;
        }
        self.end += 1;
    }

    #[inline(never)]
    fn insert(&mut self, at: Nanos) {
        let earlier = self.places[self.first..self.end].partition_point(|&one| one <= at);
        let place = self.first + earlier;
        self.places.copy_within(place..self.end, place + 1);
        self.places[place] = at;
    }

    #[cold]
    fn move_back(&mut self) {
        self.places.copy_within(self.first..self.end, 0);
        (self.first, self.end) = (0, self.end - self.first);
    }
}

impl Slots {
    #[inline(always)]
    fn admit(&mut self, arrival: Nanos) -> Nanos {
        while let Some(done) = self.first() {
            let waits = done > arrival;
            if waits && self.len() < self.depth {
                break;
            }
            match &mut self.taken {
                Taken::Few(row) => row.first += 1,
                Taken::Many(heap) => drop(heap.pop()),
            }
            if waits {
                return done;
            }
        }
        arrival
    }

    #[inline(always)]
    fn push(&mut self, at: Nanos) {
        match &mut self.taken {
            Taken::Few(row) => row.push(at),
            Taken::Many(heap) => heap.push(Reverse(at)),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match &self.taken {
            Taken::Few(row) => row.end - row.first,
            Taken::Many(heap) => heap.len(),
        }
    }

    #[inline]
    fn first(&self) -> Option<Nanos> {
        match &self.taken {
            Taken::Few(row) => row.first(),
            Taken::Many(heap) => heap.peek().map(|&Reverse(done)| done),
        }
    }

    fn clear(&mut self) {
        match &mut self.taken {
            Taken::Few(row) => (row.first, row.end) = (0, 0),
            Taken::Many(heap) => heap.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::rng::{Purpose, Rng};

    /// One slot and a few in order are what a heap of as many is.
    #[test]
    fn slots_in_order_are_a_heap() {
        let mut rng = Rng::new(5, Purpose::Workload);
        for depth in [1, 2, 7, 32] {
            let taken = Taken::Many(BinaryHeap::new());
            let mut heap = Outstanding::Several(Box::new(Slots { depth, taken }));
            let mut own = Outstanding::new(depth);
            let mut arrival = 0;
            for _ in 0..5_000 {
                arrival += Nanos::from(rng.below(9));
                let admitted = heap.admit(arrival);
                assert_eq!(own.admit(arrival), admitted);
                let done = admitted + 1 + Nanos::from(rng.below(8 * depth as u32));
                heap.push(done);
                own.push(done);
                assert_eq!(own.next_slot(), heap.next_slot());
            }
            heap.clear();
            own.clear();
            assert_eq!((own.next_slot(), heap.next_slot()), (None, None));
        }
    }

    /// What was done when a request came is over, also if that was at the same moment.
    #[test]
    fn a_slot_is_free_from_the_moment_on_at_which_its_request_is_done() {
        let mut slots = Outstanding::new(2);
        assert_eq!(slots.admit(0), 0);
        slots.push(10);
        assert_eq!(slots.admit(10), 10);
        slots.push(20);
        assert_eq!(slots.next_slot(), None);
        assert_eq!(slots.admit(15), 15);
        slots.push(30);
        assert_eq!(slots.next_slot(), Some(20));
    }
}
