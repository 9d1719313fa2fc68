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
