//! What a placement policy is: what it is built from, what it is told, and what it answers.

use super::midas::Groups;
use super::midas::settings::MidasSettings;
use super::settings::PlacementSettings;
use crate::future::Known;
use crate::own::{Maker, OwnPlacement};
use crate::parts::victim::{Census, Heat};
use ftlab_flash::meter::ClassGroup;
use ftlab_flash::request::RequestShape;
use ftlab_flash::units::{BlockId, Lpn};

/// What a policy is built from.
pub struct PlacementContext<'a> {
    /// Its settings.
    pub settings: &'a PlacementSettings,
    /// Those of `midas`.
    pub midas: &'a MidasSettings,
    /// Classes in force.
    pub classes: u8,
    /// Logical pages of the device.
    pub logical_pages: u32,
    /// Blocks of the device.
    pub blocks: u32,
    /// Pages that the open blocks of a class hold, one in every plane: a segment.
    pub segment_pages: u32,
    /// Pages of data of a block, or of a line where there are lines.
    pub unit_pages: u32,
    /// Blocks of a segment, or 1 where there are lines.
    pub segment_units: u32,
    /// Segments of the device.
    pub segments: u32,
    /// Free ones below which collection starts.
    pub kept_free: u32,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Of streams of random numbers.
    pub seed: u64,
    /// What `fk` knows.
    pub future: Option<&'a Known>,
    /// Whom `own` asks.
    pub own: Option<&'a Maker<dyn OwnPlacement>>,
}

/// How many classes a policy has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// By its nature.
    Fixed(u8),
    /// As `placement.classes` says; so many where that is auto.
    Set(u8),
}

/// What a policy must know of the time of a page's last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Nothing.
    Never,
    /// When it is moved: the page itself can say it.
    WhenMoved,
    /// When it is overwritten: a table says it.
    WhenWritten,
}

/// A page that the host writes. Times are host pages written: nothing else moves the clock.
#[derive(Clone, Copy, Debug)]
pub struct HostWrite {
    /// The page.
    pub lpn: Lpn,
    /// Pages that the host wrote before it.
    pub now: u64,
    /// Whether an older version is there.
    pub is_update: bool,
    /// Time since its last write, where that is known.
    pub age: Option<u64>,
    /// Logical pages that are written and not trimmed, before this one.
    pub living: u64,
    /// Its request.
    pub request: RequestShape,
}

/// A page that collection moves.
#[derive(Clone, Copy, Debug)]
pub struct MovedPage {
    /// The page.
    pub lpn: Lpn,
    /// Class of the block that it leaves.
    pub from: u8,
    /// Pages that the host has written.
    pub now: u64,
    /// Time since its last write, where that is known.
    pub age: Option<u64>,
}

/// A block of data that is emptied.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    /// Its number on the device.
    pub block: u32,
    /// Its class.
    pub class: u8,
    /// Host pages written when it was opened; none: before a power cut.
    pub created: Option<u64>,
    /// Pages that the host has written.
    pub now: u64,
    /// Pages of every block.
    pub pages_per_block: u32,
    /// Valid pages.
    pub valid: u32,
    /// Times that it was erased.
    pub erases: u32,
    /// Pages that the device programmed since the block's last one.
    pub age: u32,
    /// Whether it is emptied because it was read often or is old, and not by collection.
    pub is_refreshed: bool,
}

/// What a model of write amplification says, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelSays {
    /// What it expected of the groups of the epoch that ended, and what was: none where they were
    /// not in force all through it.
    pub held: Option<(u64, u64)>,
    /// What it expects of the best groups that it found then, whether they came into force or not.
    pub best: Option<u64>,
}

/// Where the pages of a victim go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goes {
    /// All to one class.
    Whole(u8),
    /// Each is asked for by itself.
    PageByPage,
}

/// What changed of groups, the more of it the later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regrouped {
    /// What is said of them.
    Told,
    /// Some are one now.
    Merged,
    /// They have sizes: what is beyond them goes to the last group.
    Sized,
}

/// How data is divided into classes.
pub trait PlacementPolicy: Sized {
    /// How many classes it has.
    fn classes(settings: &PlacementSettings) -> Classes;
    /// What it must know of times.
    fn times(_settings: &PlacementSettings) -> Times {
        Times::Never
    }
    /// Bytes of what it remembers, beside the table of times.
    fn ram_bytes(_context: &PlacementContext<'_>) -> u64 {
        0
    }
    /// Whether it asks when a victim was opened.
    fn asks_when_opened(_settings: &PlacementSettings) -> bool {
        false
    }
    /// Which class a block counts as that was found after a power cut, at most the last.
    fn found_class() -> u8 {
        1
    }
    /// Whether it hears which block a page was programmed to: others pay nothing for that.
    fn hears_of_pages() -> bool {
        false
    }
    /// Whether blocks of its groups wait in queues, from which victims are taken before gc.victim
    /// chooses one in the last group: others pay nothing for that.
    fn queues_blocks() -> bool {
        false
    }
    /// One that has seen nothing.
    fn new(context: &PlacementContext<'_>) -> Self;
    /// The class of a page that the host writes.
    fn host(&mut self, write: &HostWrite) -> u8;
    /// Where the pages of a victim go; it is chosen, and none has been moved.
    fn victim(&mut self, _victim: &Victim) -> Goes {
        Goes::PageByPage
    }
    /// The class of a page that moves by itself. Where room is made for a write, that may be the
    /// older version of the very page: then `host` has been asked about the new one already.
    fn moved(&mut self, page: &MovedPage) -> u8;
    /// A page was trimmed: its next write is its first.
    fn trimmed(&mut self, _lpn: Lpn) {}
    /// A victim is empty.
    fn collected(&mut self, _victim: &Victim) {}
    /// A power cut took what it knew: it is as new.
    fn recovers(&mut self) {}
    /// A page was programmed to a block: one that the host wrote, or that was moved. Called where
    /// the policy [hears](PlacementPolicy::hears_of_pages) of it.
    fn placed(&mut self, _lpn: Lpn, _block: BlockId) {}
    /// A block was opened for a class.
    fn opened(&mut self, _block: BlockId, _class: u8) {}
    /// A block takes no more pages.
    fn closed(&mut self, _block: BlockId) {}
    /// A full block counts as of another class from now on, none of its pages having moved.
    fn reclassed(&mut self, _block: BlockId, _class: u8) {}
    /// A block of a class goes to the next group as it is, all of its so many pages being valid:
    /// called before it is [reclassed](PlacementPolicy::reclassed).
    fn handed_on(&mut self, _block: BlockId, _class: u8, _pages: u32) {}
    /// A block holds nothing any more, whoever emptied it.
    fn released(&mut self, _block: BlockId) {}
    /// What was in one block is in another one now, by levelling of wear: that counts as opened
    /// when the first was.
    fn inherits(&mut self, _from: BlockId, _to: BlockId) {}
    /// Its groups, where it [queues blocks](PlacementPolicy::queues_blocks).
    fn groups(&self) -> Option<&Groups> {
        None
    }
    /// What changed of them since this was asked last.
    fn regrouped(&mut self) -> Option<Regrouped> {
        None
    }
    /// What its model says, where it has one.
    fn model_says(&self) -> ModelSays {
        ModelSays::default()
    }
    /// What the group of a class was in the last epoch, where it was one.
    fn class_group(&self, _class: u8) -> Option<ClassGroup> {
        None
    }
    /// How hot the valid pages of a block are, where the policy knows of hotness.
    fn heat(&self, _block: BlockId, _now: u64) -> Option<Heat> {
        None
    }
    /// Whether what it counts of blocks is what flash holds, between two requests; so many logical
    /// pages are written and not trimmed.
    fn check(&self, _known: &Census<'_>, _living: u64) -> Result<(), String> {
        Ok(())
    }
    /// What came before was preparation; so many pages were written in it.
    fn measuring_begins(&mut self, _now: u64) {}
    /// Entries of the queue of written pages that it keeps, where it does.
    fn window(&self, _now: u64) -> Option<u64> {
        None
    }
    /// The time that it goes by now, where it has one.
    fn lifespan(&self) -> Option<u64> {
        None
    }
}
