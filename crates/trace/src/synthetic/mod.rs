//! Workloads from one line in fio's words, such as
//! `randwrite:bs=4k,span=80%,count=2x,random_distribution=zipf:0.99,seed=1`.
//!
//! Seeded with PCG-64 (O'Neill 2014, XSL-RR 128/64) and computed with integers or a portable
//! mathematics library, so that the same line gives the same requests on every platform.
//! Unlike fio's default, random offsets are drawn independently (fio's `norandommap=1`).

mod arrivals;
mod canonical;
mod change;
mod distribution;
mod generator;
mod permutation;
mod random;
mod settings;
mod spec;
mod stack;

pub use arrivals::Arrivals;
pub use change::with_changes;
pub use distribution::Distribution;
pub use generator::Generator;
pub(crate) use spec::hint_at_modes;
pub use spec::{Mode, SyntheticSpec};
pub use stack::StackDistances;
