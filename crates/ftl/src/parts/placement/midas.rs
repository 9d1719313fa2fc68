//! # Idea
//! A chain of groups, a page going one further whenever it is collected, and a model that says how
//! many groups there should be and how large each.
//!
//! # Source
//! MiDAS: Oh et al., FAST 2024; details as in its authors' simulator and prototype
//! (`docs/papers/midas2024.md`).
//!
//! # Rule
//! Group 0 is hot, the first group takes what else the host writes, and valid pages of a group go
//! to the next. Every group but the last is a queue with a size: who exceeds its size, in the order
//! of groups, gives the oldest block as victim; if none does, `gc.victim` chooses in the last
//! group.
//!
//! A page is hot that was overwritten young often enough (`hot.rs`). At the end of every epoch the
//! histogram of update intervals (`intervals.rs`) lets a model (`model.rs`) judge configurations;
//! the best one that a search finds (`search.rs`) comes into force if it writes less than was
//! written since the last logical capacity. Blocks beyond a new size go to the last group without a
//! copy. Where a group's valid share is not the model's, it is given up: it and all behind it
//! become one group, in which pages go along the chain of `mida`. So does a group that gives too
//! many victims in a row, and so everything begins.
//!
//! # Deviations
//! A victim without an invalid page goes to the next group as it is: the code copies it, which
//! gains nothing. It counts for valid shares, not as written, its pages keep their counts, and it
//! is no victim in a row. A new size is for blocks of every plane. The code begins anew with an
//! epoch of twice the length where the model says nothing: not here. Blocks that were hot before
//! there was a queue for them stay in the last group. Blocks of the map are room for data to the
//! model.
//!
//! # Memory
//! 2 bits a logical page; 8 bytes a page that is sampled; 4 bytes a unit of an epoch, and as much a
//! page of one and a bit a logical page; 8 bytes a block, when it was opened and its place in a
//! queue. Which block a page is in is what the map says: no memory is charged for it.

mod check;
mod configuration;
mod groups;
mod hot;
mod intervals;
mod model;
mod record;
mod search;
pub mod settings;

pub use groups::{Groups, Role};

use super::settings::PlacementSettings;
use super::{
    Classes, Goes, HostWrite, ModelSays, MovedPage, PlacementContext, PlacementPolicy, Regrouped,
    Victim,
};
use crate::parts::victim::Census;
use ftlab_flash::meter::ClassGroup;
use ftlab_flash::request::CLASSES_MAX;
use ftlab_flash::units::{BlockId, Lpn, zeroed};
use hot::{Filter, Was};
use intervals::Intervals;
use record::{Collected, Ended, Expected, Row, Written};
use search::Found;
use settings::{MidasSettings, ppm};

/// A block.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
struct Block {
    /// Clock when it was opened plus one; 0: nobody knows.
    opened: u64,
    /// Class plus one; 0: nobody knows.
    class: u32,
    /// 1: it takes no more pages.
    closed: u32,
    /// Pages whose newest version it holds.
    valid: u64,
}

/// Groups and all that is known of pages.
#[derive(Clone, Debug)]
pub struct Midas {
    settings: Box<MidasSettings>,
    groups: Groups,
    /// What of them has changed since that was asked.
    regrouped: Option<Regrouped>,
    filter: Box<Filter>,
    intervals: Box<Intervals>,
    expected: Box<Expected>,
    written: Written,
    row: Row,
    /// By group, of the epoch or since groups changed in it.
    present: Box<[Collected; CLASSES_MAX]>,
    /// The epoch before.
    ended: Box<Option<Ended>>,
    /// Write amplification of the best groups that the model found last, in parts per million.
    best: Option<u64>,
    /// By block.
    blocks: Vec<Block>,
    /// Block of each page plus one; 0: none, or nobody knows.
    block_of: Vec<u32>,
    /// The victim that is emptied.
    emptied: Option<BlockId>,
    /// Closed blocks of class 0.
    hot_blocks: u32,
    clock: u64,
    logical_pages: u64,
    /// Segments that data has, pages of one, blocks of one.
    segments: u32,
    segment_pages: u32,
    segment_blocks: u32,
}

fn segment_pages(context: &PlacementContext<'_>) -> u32 {
    context.unit_pages * context.segment_units
}

impl PlacementPolicy for Midas {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(10)
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        let (pages, segment) = (context.logical_pages, segment_pages(context));
        let model = Intervals::ram_bytes(context.midas, pages, segment);
        Filter::ram_bytes(pages) + model + 8 * u64::from(context.blocks)
    }

    fn found_class() -> u8 {
        CLASSES_MAX as u8 - 1
    }

    fn hears_of_pages() -> bool {
        true
    }

    fn queues_blocks() -> bool {
        true
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let (pages, segment) = (context.logical_pages, segment_pages(context));
        Midas {
            settings: Box::new(context.midas.clone()),
            groups: Groups::one(context.classes, context.midas.chain),
            regrouped: None,
            filter: Box::new(Filter::new(context.midas, pages)),
            intervals: Box::new(Intervals::new(context.midas, pages, segment)),
            expected: Box::default(),
            written: Written::default(),
            row: Row::default(),
            present: Box::default(),
            ended: Box::default(),
            best: None,
            blocks: zeroed(context.blocks as usize),
            block_of: zeroed(pages as usize),
            emptied: None,
            hot_blocks: 0,
            clock: 0,
            logical_pages: u64::from(pages),
            segments: context.segments.saturating_sub(context.kept_free),
            segment_pages: segment,
            segment_blocks: context.segment_units,
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        self.clock = write.now;
        let was = self.was(write.lpn);
        if write.is_update {
            self.filter.overwritten(write.lpn, was, self.clock, self.hot_blocks);
        }
        self.leaves(write.lpn);
        self.watch(write.lpn, write.living);
        self.hold_against();
        let is_hot = self.filter.is_hot(write.lpn, self.clock);
        if is_hot { 0 } else { self.groups.first() }
    }

    fn victim(&mut self, victim: &Victim) -> Goes {
        // Who refreshes pages says nothing of how they live.
        self.emptied = (!victim.is_refreshed).then_some(BlockId(victim.block));
        Goes::Whole(self.groups.next(victim.class))
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        self.groups.next(page.from)
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.leaves(lpn);
        self.filter.forget(lpn);
        self.intervals.trimmed(lpn, self.clock);
    }

    fn collected(&mut self, victim: &Victim) {
        let (valid, pages) = (victim.valid, victim.pages_per_block);
        self.written.copied(valid);
        let block = BlockId(victim.block);
        self.gave(block, victim.class, (valid, pages));
        self.no_longer(block);
        self.emptied = None;
        self.count_row(self.groups.group_of(victim.class), victim.now);
    }

    fn handed_on(&mut self, block: BlockId, class: u8, pages: u32) {
        self.gave(block, class, (pages, pages));
    }

    fn released(&mut self, block: BlockId) {
        self.no_longer(block);
        self.emptied = self.emptied.filter(|&emptied| emptied != block);
    }

    fn inherits(&mut self, from: BlockId, to: BlockId) {
        self.blocks[to.index()].opened = self.blocks[from.index()].opened;
    }

    fn opened(&mut self, block: BlockId, class: u8) {
        self.no_longer(block);
        let opened = self.clock + 1;
        self.blocks[block.index()] =
            Block { opened, class: u32::from(class) + 1, ..Block::default() };
        if self.emptied == Some(block) {
            self.emptied = None;
        }
    }

    fn reclassed(&mut self, block: BlockId, class: u8) {
        let known = self.blocks[block.index()];
        self.no_longer(block);
        self.blocks[block.index()] = Block { class: u32::from(class) + 1, ..known };
        self.hot_blocks += u32::from(class == 0 && known.closed > 0);
    }

    fn closed(&mut self, block: BlockId) {
        let known = &mut self.blocks[block.index()];
        self.hot_blocks += u32::from(known.class == 1 && known.closed == 0);
        known.closed = 1;
    }

    fn placed(&mut self, lpn: Lpn, block: BlockId) {
        let from = self.block_of[lpn.index()].checked_sub(1).map(BlockId);
        if from.is_some() && from == self.emptied {
            let was = self.was(lpn);
            self.filter.copied(lpn, was, self.clock);
        }
        self.leaves(lpn);
        self.block_of[lpn.index()] = block.0 + 1;
        self.blocks[block.index()].valid += 1;
    }

    fn groups(&self) -> Option<&Groups> {
        Some(&self.groups)
    }

    fn regrouped(&mut self) -> Option<Regrouped> {
        self.regrouped.take()
    }

    fn model_says(&self) -> ModelSays {
        let held = (*self.ended).as_ref().and_then(|ended| ended.waf);
        let permille = |waf: u64| waf / 1000;
        ModelSays {
            held: held.map(|(expected, found)| (permille(expected), permille(found))),
            best: self.best.map(permille),
        }
    }

    fn class_group(&self, class: u8) -> Option<ClassGroup> {
        (*self.ended).as_ref()?.class_group(class, self.segments)
    }

    fn check(&self, known: &Census<'_>, _: u64) -> Result<(), String> {
        self.check_blocks(known)?;
        self.check_pages(known)
    }
}

impl Midas {
    /// Where the newest version of a page is.
    fn was(&self, lpn: Lpn) -> Was {
        let Some(block) = self.block_of[lpn.index()].checked_sub(1).map(BlockId) else {
            return Was::Elsewhere;
        };
        match self.blocks[block.index()].class.checked_sub(1) {
            Some(0) if self.groups.has_hot() => Was::Hot,
            Some(class) if class == u32::from(self.groups.first()) => Was::First(self.age(block)),
            _ => Was::Elsewhere,
        }
    }

    /// A page's newest version is in no block any more.
    fn leaves(&mut self, lpn: Lpn) {
        if let Some(block) = std::mem::take(&mut self.block_of[lpn.index()]).checked_sub(1) {
            let valid = &mut self.blocks[block as usize].valid;
            *valid = valid.checked_sub(1).expect("a page is counted where it is taken to be");
        }
    }

    /// A block left its group with so many valid pages of all.
    fn gave(&mut self, block: BlockId, class: u8, (valid, pages): (u32, u32)) {
        let group = usize::from(self.groups.group_of(class));
        self.present[group].add(valid, pages);
        if self.looks() {
            self.expected.found[group].add(valid, pages);
        }
        if class == 0 && self.groups.has_hot() {
            self.filter.collected(self.age(block), valid, pages, self.clock);
        }
    }

    /// Host pages written since a block was opened.
    fn age(&self, block: BlockId) -> u64 {
        let opened = self.blocks[block.index()].opened.checked_sub(1);
        opened.map_or(self.clock, |opened| self.clock - opened)
    }

    /// A block holds nothing any more.
    fn no_longer(&mut self, block: BlockId) {
        let known = std::mem::take(&mut self.blocks[block.index()]);
        self.hot_blocks -= u32::from(known.class == 1 && known.closed > 0);
    }

    /// The host writes a page: the epoch, and write amplification.
    fn watch(&mut self, lpn: Lpn, living: u64) {
        if self.most_groups() > 0 {
            self.watch_epoch(lpn, living);
        }
        self.written.host(self.logical_pages);
    }

    fn watch_epoch(&mut self, lpn: Lpn, living: u64) {
        let waits_until = self.logical_pages * u64::from(self.settings.model_wait);
        let is_over = self.intervals.is_over(self.clock);
        if is_over {
            self.epoch_ends(living);
        }
        if is_over || (!self.intervals.has_begun() && self.clock >= waits_until) {
            self.intervals.begin(self.clock);
        }
        self.intervals.written(lpn, self.clock);
    }

    /// Most groups between the hot one and the last.
    fn most_groups(&self) -> usize {
        let classes = usize::from(self.groups.last() + 1);
        (self.settings.groups as usize).min(classes.saturating_sub(2))
    }

    /// Groups for the next epoch, and what is said of this one.
    fn epoch_ends(&mut self, living: u64) {
        let was = self.written.epoch_ends();
        *self.ended = Some(Ended {
            groups: self.groups,
            expected: self.expected.valid,
            found: std::mem::take(&mut *self.present),
            waf: self.expected.waf.zip(was),
        });
        let found = self.configuration(living);
        self.best = found.map(|found| ppm(found.prediction.waf));
        let is_better = |waf: u64| self.written.last().is_some_and(|last| waf < last);
        let mut told = Regrouped::Told;
        if let Some(found) = found.filter(|_| self.best.is_some_and(is_better)) {
            self.comes_into_force(&found);
            told = Regrouped::Sized;
        }
        self.expected.begins((self.groups.queued() > 0).then_some(self.clock));
        self.says(told);
    }

    /// A configuration comes into force.
    fn comes_into_force(&mut self, found: &Found) {
        let sizes = found.sizes.get();
        self.groups =
            self.groups.sized(std::iter::once(found.hot.size).chain(sizes.iter().copied()));
        self.expected.valid = [None; CLASSES_MAX];
        self.expected.waf = self.best;
        let behind = found.prediction.valid[..sizes.len()].iter().copied();
        let shares = std::iter::once(found.hot.valid).chain(behind);
        for (known, share) in
            self.expected.valid.iter_mut().zip(shares.chain([found.prediction.valid_last]))
        {
            *known = Some(ppm(share));
        }
    }

    /// Part of an epoch, in pages.
    fn part(&self, share: f64) -> u64 {
        let epoch = self.logical_pages * u64::from(self.settings.epoch);
        (u128::from(epoch) * u128::from(ppm(share)) / 1_000_000) as u64
    }

    /// Whether valid shares are looked at now.
    fn looks(&self) -> bool {
        let from = self.part(self.settings.check_from);
        self.expected.has_passed(self.clock, from)
    }

    /// Valid shares are held against the model's, once an epoch: the first group that is off is
    /// given up.
    fn hold_against(&mut self) {
        let until = self.part(self.settings.check_until);
        if !self.expected.has_passed(self.clock, until) {
            return;
        }
        self.expected.since = None;
        let groups = self.groups.queued() + u8::from(!self.groups.is_chain());
        if let Some(group) = self.expected.first_off(groups, ppm(self.settings.tolerance)) {
            self.give_up(group);
        }
    }

    /// A group and all behind it become one, a chain.
    fn give_up(&mut self, group: u8) {
        let groups = self.groups.without(group);
        if groups == self.groups {
            return;
        }
        self.groups = groups;
        let queued = usize::from(groups.queued());
        self.expected.valid[queued..].fill(None);
        self.expected.waf = None;
        *self.present = Default::default();
        self.says(Regrouped::Merged);
    }

    /// A victim was collected: of the same group as the one before, the host waiting?
    fn count_row(&mut self, group: u8, clock: u64) {
        if self.row.count(group, clock) > self.settings.victims_in_a_row {
            self.row = Row::default();
            self.give_up(group);
        }
    }

    /// Something changed that has not been asked for.
    fn says(&mut self, what: Regrouped) {
        self.regrouped = self.regrouped.max(Some(what));
    }
}

#[cfg(test)]
mod tests;
