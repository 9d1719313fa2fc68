//! Which frontier takes a page, so that pages that die together lie together. One file per policy,
//! one row in the table below.
//!
//! A policy answers with a class of data and never chooses a block; every class has a frontier of
//! its own in every plane. It is asked for each page that the host writes and for each victim, or
//! for each of its pages; it may listen to which block a page was programmed to (`placed`) and
//! which block takes no more (`closed`). What it knows of time is how many pages the host has
//! written. What this is not: the choice of victims, which is made over the blocks of all classes
//! (`gc.victim`).

mod auto_mq;
mod auto_sfr;
mod dac;
mod eti;
mod fadac;
mod fk;
mod hint;
mod mida;
pub mod midas;
mod multilog;
mod own;
mod policy;
mod sep_gc;
mod sepbit;
pub mod settings;
mod sfs;
mod warcip;

pub use policy::{
    Classes, Goes, HostWrite, ModelSays, MovedPage, PlacementContext, PlacementPolicy, Regrouped,
    Times, Victim,
};

use crate::parts::victim::{Census, Heat};
use ftlab_flash::meter::ClassGroup;
pub use ftlab_flash::request::CLASSES_MAX;
use ftlab_flash::units::{BlockId, Lpn};
use midas::Groups;
use settings::PlacementSettings;

macro_rules! placement_table {
    ($( $(#[$doc:meta])* $variant:ident = $name:literal => $type:ty, )*) => {
        ftlab_flash::choices! {
            /// The placement policies.
            pub enum PlacementKind {
                /// One class: host writes and moved pages share a frontier, unless
                /// gc.separate_frontiers.
                None = "none",
                $( $(#[$doc])* $variant = $name, )*
            }
        }

        impl PlacementKind {
            /// How many classes it has, unless `placement.classes` says so.
            pub fn classes(self, settings: &PlacementSettings) -> Classes {
                match self {
                    PlacementKind::None => Classes::Fixed(1),
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::classes(settings), )*
                }
            }

            /// What it must know of times.
            pub fn times(self, settings: &PlacementSettings) -> Times {
                match self {
                    PlacementKind::None => Times::Never,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::times(settings), )*
                }
            }

            /// Whether it asks when a victim was opened.
            pub fn asks_when_opened(self, settings: &PlacementSettings) -> bool {
                match self {
                    PlacementKind::None => false,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::asks_when_opened(settings), )*
                }
            }

            /// Which class a block counts as that was found after a power cut, at most the last.
            pub fn found_class(self) -> u8 {
                match self {
                    PlacementKind::None => 0,
                    $( PlacementKind::$variant => <$type as PlacementPolicy>::found_class(), )*
                }
            }

            /// Whether it hears which block a page was programmed to.
            pub fn hears_of_pages(self) -> bool {
                match self {
                    PlacementKind::None => false,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::hears_of_pages(), )*
                }
            }

            /// Whether blocks of its groups wait in queues.
            pub fn queues_blocks(self) -> bool {
                match self {
                    PlacementKind::None => false,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::queues_blocks(), )*
                }
            }

            /// Bytes of what it remembers, beside the table of times.
            pub fn ram_bytes(self, context: &PlacementContext<'_>) -> u64 {
                match self {
                    PlacementKind::None => 0,
                    $( PlacementKind::$variant =>
                        <$type as PlacementPolicy>::ram_bytes(context), )*
                }
            }
        }

        /// One policy at work on a device.
        #[derive(Clone, Debug)]
        pub enum Placement { $( $(#[$doc])* $variant($type), )* }

        impl Placement {
            /// The policy of that name; `none` is nobody.
            pub fn new(kind: PlacementKind, context: &PlacementContext<'_>) -> Option<Self> {
                match kind {
                    PlacementKind::None => None,
                    $( PlacementKind::$variant => Some(
                        Placement::$variant(<$type as PlacementPolicy>::new(context))), )*
                }
            }

            /// The class of a page that the host writes.
            pub fn host(&mut self, write: &HostWrite) -> u8 {
                match self { $( Placement::$variant(policy) => policy.host(write), )* }
            }

            /// Where the pages of a victim go.
            pub fn victim(&mut self, victim: &Victim) -> Goes {
                match self { $( Placement::$variant(policy) => policy.victim(victim), )* }
            }

            /// The class of a page that moves by itself.
            pub fn moved(&mut self, page: &MovedPage) -> u8 {
                match self { $( Placement::$variant(policy) => policy.moved(page), )* }
            }

            /// A page was trimmed.
            pub fn trimmed(&mut self, lpn: Lpn) {
                match self { $( Placement::$variant(policy) => policy.trimmed(lpn), )* }
            }

            /// A victim is empty.
            pub fn collected(&mut self, victim: &Victim) {
                match self { $( Placement::$variant(policy) => policy.collected(victim), )* }
            }

            /// A power cut took what it knew.
            pub fn recovers(&mut self) {
                match self { $( Placement::$variant(policy) => policy.recovers(), )* }
            }

            /// A page was programmed to a block.
            pub fn placed(&mut self, lpn: Lpn, block: BlockId) {
                match self { $( Placement::$variant(policy) => policy.placed(lpn, block), )* }
            }

            /// A block was opened for a class.
            pub fn opened(&mut self, block: BlockId, class: u8) {
                match self { $( Placement::$variant(policy) => policy.opened(block, class), )* }
            }

            /// A full block counts as of another class from now on.
            pub fn reclassed(&mut self, block: BlockId, class: u8) {
                match self { $( Placement::$variant(policy) => policy.reclassed(block, class), )* }
            }

            /// Its groups, where it queues blocks.
            pub fn groups(&self) -> Option<&Groups> {
                match self { $( Placement::$variant(policy) => policy.groups(), )* }
            }

            /// What changed of them since this was asked last.
            pub fn regrouped(&mut self) -> Option<Regrouped> {
                match self { $( Placement::$variant(policy) => policy.regrouped(), )* }
            }

            /// A block goes to the next group as it is.
            pub fn handed_on(&mut self, block: BlockId, class: u8, pages: u32) {
                match self {
                    $( Placement::$variant(policy) => policy.handed_on(block, class, pages), )*
                }
            }

            /// A block holds nothing any more.
            pub fn released(&mut self, block: BlockId) {
                match self { $( Placement::$variant(policy) => policy.released(block), )* }
            }

            /// Levelling moved what was in a block to another one.
            pub fn inherits(&mut self, from: BlockId, to: BlockId) {
                match self { $( Placement::$variant(policy) => policy.inherits(from, to), )* }
            }

            /// What its model says.
            pub fn model_says(&self) -> ModelSays {
                match self { $( Placement::$variant(policy) => policy.model_says(), )* }
            }

            /// What the group of a class was in the last epoch, where it was one.
            pub fn class_group(&self, class: u8) -> Option<ClassGroup> {
                match self { $( Placement::$variant(policy) => policy.class_group(class), )* }
            }

            /// A block takes no more pages.
            pub fn closed(&mut self, block: BlockId) {
                match self { $( Placement::$variant(policy) => policy.closed(block), )* }
            }

            /// How hot the valid pages of a block are, where the policy knows of hotness.
            pub fn heat(&self, block: BlockId, now: u64) -> Option<Heat> {
                match self { $( Placement::$variant(policy) => policy.heat(block, now), )* }
            }

            /// Whether what it counts of blocks is what flash holds.
            pub fn check(&self, known: &Census<'_>, living: u64) -> Result<(), String> {
                match self { $( Placement::$variant(policy) => policy.check(known, living), )* }
            }

            /// What came before was preparation.
            pub fn measuring_begins(&mut self, now: u64) {
                match self { $( Placement::$variant(policy) => policy.measuring_begins(now), )* }
            }

            /// Entries of its queue of written pages, where it keeps one.
            pub fn window(&self, now: u64) -> Option<u64> {
                match self { $( Placement::$variant(policy) => policy.window(now), )* }
            }

            /// The time that the policy goes by now, where it has one.
            pub fn lifespan(&self) -> Option<u64> {
                match self { $( Placement::$variant(policy) => policy.lifespan(), )* }
            }
        }
    };
}

placement_table! {
    /// What the host writes, and what is moved.
    SepGc = "sep_gc" => sep_gc::SepGc,
    /// By the hint of the host: reclaim unit handles.
    Hint = "hint" => hint::Hint,
    /// By region: one hotter with every update, one colder with every move.
    Dac = "dac" => dac::Dac,
    /// By the time that a page lived before it was overwritten, or has lived when it is moved.
    Sepbit = "sepbit" => sepbit::Sepbit,
    /// By the time that a page has left to live, as a first pass over the workload knows it: an
    /// oracle.
    Fk = "fk" => fk::Fk,
    /// By hotness: writes over age, in the groups that blocks fall into.
    Sfs = "sfs" => sfs::Sfs,
    /// By levels: rewritten sooner than expected one hotter, moved one colder.
    Multilog = "multilog" => multilog::Multilog,
    /// By a count of writes that moves bring down.
    Fadac = "fadac" => fadac::Fadac,
    /// By clusters of the intervals between rewrites.
    Warcip = "warcip" => warcip::Warcip,
    /// By frequency and recency of chunks of addresses, in queues.
    AutoMq = "auto_mq" => auto_mq::AutoMq,
    /// By sequentiality, frequency and recency of chunks of addresses.
    AutoSfr = "auto_sfr" => auto_sfr::AutoSfr,
    /// By counts of extents that are written alike.
    Eti = "eti" => eti::Eti,
    /// A chain of groups: a page goes one further with every move.
    Mida = "mida" => mida::Mida,
    /// A chain of groups whose number and sizes a model finds; it also chooses victims.
    Midas = "midas" => midas::Midas,
    /// As a program says that uses ftlab as a library.
    Own = "own" => own::Own,
}

#[cfg(test)]
mod tests;
