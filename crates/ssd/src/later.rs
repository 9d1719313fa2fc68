//! Requests that the device holds where nobody knows beforehand when they are done.

use ftlab_flash::meter::Piece;
use ftlab_flash::request::{Op, Unreadable};
use ftlab_flash::units::Nanos;

/// A request that was taken and is not done.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub op: Op,
    pub arrival: Nanos,
    pub admitted: Nanos,
    pub unreadable: Option<Unreadable>,
    pub piece: Option<Piece>,
}

/// The slots of the device's queue.
#[derive(Clone)]
pub(crate) struct Later {
    slots: Vec<Option<Waiting>>,
    free: Vec<u32>,
}

impl Later {
    /// All slots are free.
    pub fn new(depth: usize) -> Self {
        Later { slots: vec![None; depth], free: (0..depth as u32).rev().collect() }
    }

    /// Whether no slot is free.
    pub fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Whether all are.
    pub fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// A free slot, which is taken.
    ///
    /// # Panics
    /// When none is.
    pub fn take_slot(&mut self) -> u32 {
        self.free.pop().expect("a slot is free")
    }

    /// A slot was taken in vain.
    pub fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// A request waits in a slot that was taken.
    pub fn waits(&mut self, slot: u32, waiting: Waiting) {
        self.slots[slot as usize] = Some(waiting);
    }

    /// The requests that wait are whole ones from now on.
    pub fn forget_pieces(&mut self) {
        self.slots.iter_mut().flatten().for_each(|waiting| waiting.piece = None);
    }

    /// The request in a slot, which is free again.
    ///
    /// # Panics
    /// When none was in it.
    pub fn is_done(&mut self, slot: u32) -> Waiting {
        self.free.push(slot);
        self.slots[slot as usize].take().expect("a request was in this slot")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(arrival: Nanos, piece: Option<Piece>) -> Waiting {
        Waiting { op: Op::Read, arrival, admitted: arrival, unreadable: None, piece }
    }

    #[test]
    fn slots_are_taken_by_requests_and_free_behind_them() {
        let mut later = Later::new(2);
        assert!(later.is_empty() && !later.is_full());
        let (first, second) = (later.take_slot(), later.take_slot());
        assert_eq!((first, second), (0, 1));
        assert!(later.is_full() && !later.is_empty());
        later.waits(first, waiting(5, None));
        later.waits(second, waiting(6, None));
        assert_eq!(later.is_done(first).arrival, 5);
        assert!(!later.is_full() && !later.is_empty());
        assert_eq!(later.take_slot(), first);
        later.give_back(first);
        assert_eq!(later.is_done(second).arrival, 6);
        assert!(later.is_empty());
    }

    #[test]
    fn requests_that_wait_are_whole_ones_once_pieces_are_forgotten() {
        let mut later = Later::new(2);
        let slot = later.take_slot();
        later.waits(slot, waiting(5, Some(Piece { of: 3, pieces: 2 })));
        later.forget_pieces();
        assert!(later.is_done(slot).piece.is_none());
    }
}
