//! Numbered places of a table of fixed size, what is kept in them, and orders among them that
//! allocate nothing: lists, groups of lists, a sorted list, and a heap that knows where each place is.

pub mod group_lists;
pub mod indexed_heap;
pub mod slab;
pub mod slot_list;
pub mod sorted_slots;

/// A place in a table, such as that of an entry in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub u32);

impl Slot {
    /// The number as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
