//! The host's side of a device: the driver's queue, the scheduler that picks from it, streams with
//! their arbitration, and the link that commands and data cross.
//!
//! A request that has arrived waits in the driver's queue until the device has a slot for it. When
//! a slot is free at time t, the arbiter picks a stream and its scheduler picks one of the stream's
//! requests that have arrived by t. Requests that must keep their order (`queue`) do so under every
//! scheduler. One file per scheduler, one row in the table below.
//!
//! What this is not: the device's own queue, which is [`crate::ssd`]'s business.

mod arbitration;
mod driver;
mod elevator;
mod fcfs;
mod longest;
mod out_of_order;
mod queue;
mod read_first;
mod scheduler;
pub mod settings;

pub use driver::Driver;
pub(crate) use longest::LongestQueue;
pub use queue::Waiting;
pub use scheduler::{Bounds, Scheduler, View};
pub use settings::{Arbitration, Duplex, Hints};

macro_rules! scheduler_table {
    ($( $(#[doc = $doc:literal])* $variant:ident = $name:literal => $type:ty, )*) => {
        ftlab_flash::choices! {
            /// The schedulers of the driver's queue.
            pub enum SchedulerKind { $( $(#[doc = $doc])* $variant = $name, )* }
        }

        impl SchedulerKind {
            /// What it does, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $( SchedulerKind::$variant => concat!($($doc),*).trim_ascii(), )* }
            }
        }

        /// One scheduler at work on one stream.
        #[derive(Clone, Debug)]
        pub enum Schedulers { $( $(#[doc = $doc])* $variant($type), )* }

        impl Schedulers {
            /// The scheduler of that name.
            pub fn new(kind: SchedulerKind, bounds: &Bounds) -> Self {
                match kind {
                    $( SchedulerKind::$variant =>
                        Schedulers::$variant(<$type as Scheduler>::new(bounds)), )*
                }
            }

            /// The number of one of the candidates.
            pub fn choose(&mut self, view: &View<'_>) -> usize {
                match self { $( Schedulers::$variant(scheduler) => scheduler.choose(view), )* }
            }
        }
    };
}

scheduler_table! {
    /// In order of arrival.
    Fcfs = "fcfs" => fcfs::Fcfs,
    /// Reads before anything else, but only so many (`host.reads_before_write`).
    ReadFirst = "read_first" => read_first::ReadFirst,
    /// The next higher sector; behind the highest, the lowest again (C-LOOK).
    Elevator = "elevator" => elevator::Elevator,
    /// The oldest whose die is idle, else the oldest.
    OutOfOrder = "out_of_order" => out_of_order::OutOfOrder,
}

#[cfg(test)]
mod tests;
