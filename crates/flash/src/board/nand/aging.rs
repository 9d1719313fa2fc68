//! Age of data and reads of blocks (`refresh`): what they are, which blocks are due to have their
//! data moved, and how many retries reads of such cells need.
//!
//! A block's reads are counted from its erase, whoever reads and whatever of a page; its age is
//! that of its first program. Both outlive a power cut: capacitors save them, and a device that is
//! off ages by `refresh.off_days`. A patrol comes by every block in turn and looks at its age,
//! while the device is on. A device that counts never takes the gate's short way, others pay
//! nothing.
//!
//! Of memory a drive has 4 bytes a block for either, and 4 for a list of what is due. The four
//! heaps here, of 24 bytes a block, are not a drive's: one knows beforehand when the patrol will
//! find something, which a drive sees when its patrol gets there; the others find who is due twice
//! over without a look at the list, which a drive looks through in the time between two pages.
//!
//! What this is not: who moves data, and when. Rules and open points: `docs/papers/refresh.md`.

mod ages;
mod patrol;
mod queue;
#[cfg(test)]
mod tests;

use super::Nand;
use crate::board::settings::BoardSettings;
use crate::board::when::When;
use crate::units::{BlockId, Nanos, Ppn, zeroed};
use ages::Ages;
use patrol::Patrol;
use queue::Queue;

/// A share or a factor in parts per million: the state of the engine has no fractions.
const WHOLE: u64 = 1_000_000;
/// No factor of a probability is larger than this.
const FACTOR_MAX: u64 = 1_000_000 * WHOLE;
const DAY: f64 = 86_400e9;

fn days(days: f64) -> Nanos {
    (days * DAY).round() as Nanos
}

/// Why the data of a block is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueFor {
    /// Reads in it.
    Reads,
    /// Its age.
    Age,
}

/// What reading and time did to the blocks of a device. Its time is that of the clock, and what the
/// device was off.
#[derive(Clone, Debug)]
pub(super) struct Aging {
    /// Reads at which a new block is due; 0: never.
    reads_limit: u64,
    /// What a block at the end of its life has lost of that.
    slope: u64,
    endurance: (u64, u64),
    moves: bool,
    /// Draws below this need retries, in a new block.
    retry_limit: u64,
    /// Reads of each block since its erase.
    reads: Vec<u32>,
    ages: Ages,
    /// How long the device is off.
    off: Nanos,
    due: Queue,
}

impl Aging {
    /// None where nothing ages.
    pub(super) fn new(config: &BoardSettings, blocks: u32) -> Option<Box<Self>> {
        let settings = &config.refresh;
        if !settings.is_on() {
            return None;
        }
        let patrol = Patrol::new(settings.patrol.0, blocks);
        Some(Box::new(Aging {
            reads_limit: u64::from(settings.reads),
            slope: (settings.wear_slope * WHOLE as f64).round() as u64,
            endurance: (config.device.endurance_cycles, config.device.slc_endurance_cycles),
            moves: settings.moves,
            retry_limit: (settings.p0 * u64::MAX as f64) as u64,
            reads: zeroed(if settings.reads > 0 { blocks as usize } else { 0 }),
            ages: Ages::new(days(settings.days), patrol, blocks),
            off: days(settings.off_days),
            due: Queue::new(if settings.moves { blocks } else { 0 }),
        }))
    }

    /// Reads at which a block is due of whose life so much is used.
    fn limit(&self, worn: u64) -> u64 {
        (self.reads_limit - self.reads_limit * (self.slope * worn / WHOLE) / WHOLE).max(1)
    }

    fn reads_of(&self, block: BlockId) -> u64 {
        self.reads.get(block.index()).copied().unwrap_or(0).into()
    }

    /// A page of a block was sensed; of its life so much is used. One that holds nothing is not
    /// due.
    fn sensed(&mut self, (block, worn): (BlockId, u64), holds: bool) {
        let Some(reads) = self.reads.get_mut(block.index()) else { return };
        *reads = reads.saturating_add(1);
        let (reads, limit) = (u64::from(*reads), self.limit(worn));
        if reads < limit || !holds || !self.moves {
            return;
        }
        if !self.due.has(block) {
            self.due.push(block, self.ages.old_at(block, 2));
            self.ages.look_no_more(block);
        }
        if reads >= 2 * limit {
            self.due.hurry(block);
        }
    }

    /// A page of a block is programmed, at this moment of the clock.
    fn programmed(&mut self, block: BlockId, clock: Nanos) {
        let waits = !self.moves || self.due.has(block);
        self.ages.programmed(block, clock, waits);
    }

    /// The device was off at this moment of the clock, and is on again.
    fn was_off(&mut self, clock: Nanos, holds: impl Fn(BlockId) -> bool) {
        // Until then the patrol went on.
        self.look(clock, holds);
        self.ages.was_off(self.off, clock);
    }

    /// A recovery is over: what held nothing when the patrol came by may hold pages again, whose
    /// trims the cut has undone.
    fn recovered(&mut self, clock: Nanos, blocks: u32) {
        for block in (0..blocks).map(BlockId) {
            if self.moves && !self.due.has(block) {
                self.ages.look_for(block, clock);
            }
        }
    }

    fn erased(&mut self, block: BlockId) {
        if let Some(reads) = self.reads.get_mut(block.index()) {
            *reads = 0;
        }
        self.ages.erased(block);
        if self.moves {
            self.due.remove(block);
        }
    }

    /// The patrol has come as far as this moment of the clock.
    #[inline]
    fn look(&mut self, clock: Nanos, holds: impl Fn(BlockId) -> bool) {
        // Where nothing is moved nothing is looked for.
        if clock >= self.ages.next_find() {
            self.ages.look(clock, &mut self.due, holds);
        }
        self.due.ripen(self.ages.time(clock));
    }

    /// A bound below which 64-bit draws need retries.
    fn retry_bound(&self, (block, worn): (BlockId, u64), now: Nanos) -> u64 {
        let grown = |bound: u64, part: u64, whole: u64| {
            let (one, most) = (u128::from(WHOLE), u128::from(FACTOR_MAX));
            let more = (u128::from(part) * one).checked_div(u128::from(whole)).unwrap_or(0);
            let all = u128::from(bound) * (one + more.min(most)) / one;
            all.min(u128::from(u64::MAX)) as u64
        };
        let bound = grown(self.retry_limit, worn, WHOLE);
        let bound = grown(bound, self.ages.of(block, now), self.ages.limit());
        grown(bound, self.reads_of(block), self.reads_limit)
    }
}

impl Nand {
    /// Parts per million of a block's life that its erases have used, at most all of it.
    fn worn(&self, aging: &Aging, block: BlockId) -> u64 {
        let slc = u64::from(self.modes.slc_erases(block).0);
        let dense = u64::from(self.state.block(block).erases) - slc;
        let (in_dense, in_slc) = aging.endurance;
        (dense * WHOLE / in_dense + slc * WHOLE / in_slc).min(WHOLE)
    }

    /// A page's cells were sensed.
    #[inline]
    pub(super) fn cells_sensed(&mut self, ppn: Ppn) {
        if self.aging.is_some() {
            self.count_sensed(ppn);
        }
    }

    #[cold]
    fn count_sensed(&mut self, ppn: Ppn) {
        let block = self.geometry.block_of(ppn);
        let holds = self.valid_pages(block) > 0;
        let Some(mut aging) = self.aging.take() else { return };
        aging.sensed((block, self.worn(&aging, block)), holds);
        self.aging = Some(aging);
    }

    /// A page is programmed, from this moment on.
    #[inline]
    pub(super) fn cells_programmed(&mut self, ppn: Ppn, after: When) {
        let block = self.geometry.block_of(ppn);
        if let Some(aging) = &mut self.aging {
            aging.programmed(block, self.clock.completion(after));
        }
    }

    /// A block holds nothing any more.
    pub(super) fn cells_erased(&mut self, block: BlockId) {
        if let Some(aging) = &mut self.aging {
            aging.erased(block);
        }
    }

    /// A bound below which draws say that a read of a page needs retries.
    #[inline]
    pub(super) fn retry_bound(&self, ppn: Ppn, after: When) -> u64 {
        match &self.aging {
            Some(aging) if aging.retry_limit > 0 => {
                let block = self.geometry.block_of(ppn);
                let now = aging.ages.time(self.clock.completion(after));
                aging.retry_bound((block, self.worn(aging, block)), now)
            }
            _ => 0,
        }
    }

    /// The device was off for as long as `refresh.off_days` says.
    pub fn was_off(&mut self) {
        let clock = self.clock.idle_from();
        let Some(aging) = &mut self.aging else { return };
        let state = &self.state;
        aging.was_off(clock, |block| state.block(block).valid > 0);
    }

    /// A recovery is over.
    pub(super) fn cells_recovered(&mut self) {
        let (clock, blocks) = (self.clock.idle_from(), self.geometry.blocks());
        if let Some(aging) = &mut self.aging {
            aging.recovered(clock, blocks);
        }
    }

    /// Whether data is moved because it is old or was read often.
    #[inline]
    pub fn refreshes(&self) -> bool {
        self.aging.as_ref().is_some_and(|aging| aging.moves)
    }

    /// When the patrol next finds something, at the earliest.
    pub fn finds_old_data_at(&self) -> Option<Nanos> {
        let aging = self.aging.as_ref().filter(|aging| aging.moves)?;
        let next = aging.ages.next_find();
        (next < Nanos::MAX).then_some(next)
    }

    /// Blocks that are due at this moment.
    pub fn blocks_to_refresh(&mut self, after: When) -> usize {
        let clock = self.clock.completion(after);
        let Some(aging) = &mut self.aging else { return 0 };
        let state = &self.state;
        aging.look(clock, |block| state.block(block).valid > 0);
        aging.due.len()
    }

    /// Those of them that are due twice over.
    pub fn blocks_to_refresh_at_once(&mut self, after: When) -> usize {
        let waiting = self.blocks_to_refresh(after);
        if waiting == 0 { 0 } else { self.aging.as_ref().map_or(0, |aging| aging.due.twice()) }
    }

    /// The block that is due for the longest time, of those that are so twice over (`at_once`) or
    /// of all.
    pub fn next_to_refresh(&self, at_once: bool) -> Option<BlockId> {
        let due = &self.aging.as_ref()?.due;
        if at_once { due.first_twice() } else { due.first() }
    }

    /// Whether a block is due twice over at this moment.
    pub fn must_refresh(&mut self, after: When) -> bool {
        self.blocks_to_refresh_at_once(after) > 0
    }

    /// Whether this one is, as far as the patrol has come.
    pub fn must_refresh_this(&self, block: BlockId) -> bool {
        self.aging.as_ref().is_some_and(|aging| aging.due.is_twice(block))
    }

    /// Why a block is due; none where it is not.
    pub fn is_due_for(&self, block: BlockId) -> Option<DueFor> {
        let aging = self.aging.as_ref().filter(|aging| aging.moves && aging.due.has(block))?;
        let limit = aging.limit(self.worn(aging, block));
        let by_reads = aging.reads_limit > 0 && aging.reads_of(block) >= limit;
        Some(if by_reads { DueFor::Reads } else { DueFor::Age })
    }

    /// A block waits for its move behind all others.
    pub fn put_refresh_off(&mut self, block: BlockId) {
        if let Some(aging) = &mut self.aging {
            aging.due.put_off(block);
        }
    }

    /// A block is not to be moved: what it holds is nobody's.
    pub fn needs_no_refresh(&mut self, block: BlockId) {
        if let Some(aging) = &mut self.aging {
            aging.due.remove(block);
        }
    }
}
