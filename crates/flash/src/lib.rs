//! The floors that everything in ftlab's engine stands on: units and settings, the meter, and the
//! board with the flash behind its gate, the other memories, clock and energy.
//!
//! Nothing here knows what a translation layer is. Imports point downwards only: ground (units,
//! random streams, requests, settings, memories, a heap) <- meter <- board.

pub mod board;
pub mod indexed_heap;
pub mod memory;
pub mod meter;
pub mod names;
pub mod request;
pub mod rng;
pub mod settings;
pub mod units;
