//! A simulated drive with real data behind it: what clients of a network block device write goes
//! through a scheme, and what they read back is what the scheme finds.
//!
//! [`Drive`] implements [`ftlab_nbd::Export`] over a device of the laboratory. Data is kept by what
//! pages of flash carry (`payloads.rs`), never by logical address, so that a wrong map gives wrong
//! bytes. What is not simulated: the queues of NVMe, and the page cache of the clients' system.

mod arena;
mod drive;
#[cfg(test)]
mod failing;
mod files;
pub mod http;
mod live;
mod medium;
mod pace;
mod payloads;
mod store;
#[cfg(test)]
mod trail;
mod watched;

pub use drive::Drive;
pub use live::{EVERY, Live};
pub use pace::Pace;
pub use store::Folder;
