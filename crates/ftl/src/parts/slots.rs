//! Numbered places of a table of fixed size, what is kept in them, and orders among them that
//! allocate nothing: lists, groups of lists, sorted lists, and a heap that knows where each place
//! is.

pub mod group_lists;
pub mod slab;
pub mod slot_list;
pub mod sorted_lists;

pub use ftlab_flash::indexed_heap;
pub use ftlab_flash::indexed_heap::Slot;
