//! A map of pages in learned segments: lines through the places of neighbouring pages, in levels of
//! a group, the newest above.
//!
//! Source: Sun, Li, Zhou, Huang: LeaFTL, ASPLOS 2023; `docs/papers/leaftl2023.md`. What a group is
//! kept in ([`Groups`]), what it is on flash ([`packed`]), how segments are fitted ([`learn`]) and
//! how they lie above each other ([`Group`]) are told apart; when which group is in memory, and
//! what flash is read for, is the scheme's business.

mod fit;
mod group;
mod groups;
mod members;
pub mod packed;
mod segment;

pub use fit::{Point, Tolerance, learn};
pub use group::{Found, GROUP_PAGES, Group, Sizes, compacted_at};
pub use groups::Groups;
pub use members::Members;
pub use segment::{Scale, Segment};
