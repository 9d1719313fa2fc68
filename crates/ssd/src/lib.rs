//! The device around a translation scheme: the host's queue and link, write buffers in front of any
//! scheme, the requests' way through them, and the audit of the whole.
//!
//! [`ssd::Ssd`] is generic over the scheme and knows none; [`device::Device`] is the object-safe
//! boundary to the outside.

mod any_scheme;
pub mod audit;
pub mod buffer;
mod contents;
pub mod device;
pub mod fit;
#[cfg(test)]
mod for_tests;
pub mod host;
mod later;
mod ledger;
mod outstanding;
mod page_split;
pub mod settings;
pub mod ssd;
