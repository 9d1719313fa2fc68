//! Workloads from one line in fio's words, such as
//! `randwrite:bs=4k,span=80%,count=2x,random_distribution=zipf:0.99,seed=1`.
//!
//! Seeded with PCG-64 (O'Neill 2014, XSL-RR 128/64) and computed with integers or a portable
//! mathematics library, so that the same line gives the same requests on every platform.
//! Unlike fio's default, random offsets are drawn independently (fio's `norandommap=1`).

mod arrivals;
mod blend;
mod canonical;
mod change;
mod distribution;
mod generator;
mod kind;
mod make;
mod permutation;
mod random;
mod reshuffle;
mod scatter;
mod settings;
mod spec;
mod stack;
mod twin;
mod values;
mod writers;

pub use arrivals::Arrivals;
pub use blend::{Blend, BlendGenerator, BlendText};
pub use change::with_changes;
pub use distribution::Distribution;
pub use generator::Generator;
pub use kind::Synthetic;
pub(crate) use make::Make;
pub use spec::{Mode, SyntheticSpec};
pub use stack::{StackDistances, StackUnit};
pub(crate) use twin::{History, from_table};
pub use twin::{Model, Twin, TwinFit, TwinGenerator};
pub use values::ValueShares;
pub use writers::Sequence;
