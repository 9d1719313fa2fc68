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
        if self.moves && clock >= self.ages.next_find() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::board::nand::cell_mode::CellMode;
    use crate::board::nand::state::PageKind;
    use crate::meter::Cause;
    use crate::request::{PageIo, RequestShape};
    use crate::settings::Groups as _;
    use crate::units::{Lpn, Tag};

    fn aging(pairs: &[(&str, &str)]) -> Box<Aging> {
        let mut config = BoardSettings::default();
        for (key, value) in pairs {
            config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
        }
        Aging::new(&config, 4).expect("something counts")
    }

    #[test]
    fn wear_lowers_the_limit_in_proportion() {
        let aging = aging(&[("refresh.reads", "1000"), ("refresh.wear_slope", "0.6")]);
        let limits = [0, WHOLE / 2, WHOLE].map(|worn| aging.limit(worn));
        assert_eq!(limits, [1000, 700, 400]);
    }

    /// p0 (1 + cycles / endurance) (1 + age / days) (1 + reads / limit).
    #[test]
    fn reads_age_and_wear_multiply_the_share_of_reads_with_retries() {
        let set = [("refresh.reads", "10"), ("refresh.days", "1"), ("refresh.p0", "0.001")];
        let mut aging = aging(&set);
        let block = BlockId(1);
        let share = |aging: &Aging, worn: u64, now: Nanos| {
            let bound = aging.retry_bound((block, worn), now);
            (bound as f64 / u64::MAX as f64 * 1e4).round() / 1e4
        };
        assert_eq!(share(&aging, 0, 0), 0.001);
        aging.programmed(block, 5);
        (0..20).for_each(|_| aging.sensed((block, 0), true));
        assert_eq!(share(&aging, 0, 5), 0.003);
        assert_eq!(share(&aging, WHOLE, 5 + days(3.0)), 0.001 * 2.0 * 4.0 * 3.0);
        assert_eq!((aging.due.len(), aging.due.first_twice()), (1, Some(block)));
        aging.erased(block);
        assert_eq!(share(&aging, 0, days(9.0)), 0.001);
        assert_eq!(aging.due.len(), 0);
    }

    /// Two reads make a block due; a recovery looks for those that are not due.
    #[test]
    fn a_recovery_looks_for_no_block_that_waits() {
        let mut aging = aging(&[("refresh.reads", "2"), ("refresh.days", "1")]);
        let block = BlockId(1);
        aging.programmed(block, 0);
        assert!(aging.ages.next_find() < Nanos::MAX);
        (0..2).for_each(|_| aging.sensed((block, 0), true));
        assert_eq!((aging.due.len(), aging.ages.next_find()), (1, Nanos::MAX));
        aging.recovered(5, 4);
        assert_eq!(aging.ages.next_find(), Nanos::MAX);
    }

    /// Blocks 1 and 2 hold a page each, block 3 one that is not valid.
    fn board(pairs: &[(&str, &str)]) -> Board {
        let mut config = BoardSettings::default();
        for (key, value) in pairs {
            config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
        }
        let mut board = Board::new(&config, 1, 0);
        let request =
            RequestShape { first_lpn: Lpn(0), pages: 1, index: 0, sectors: 4, hint: None };
        for block in 1..4 {
            let (cause, data) = (Cause::Host, Tag(1));
            let io = PageIo { lpn: Lpn(block), sectors: u64::MAX, cause, data, request };
            let ppn = board.geometry().page(BlockId(block), 0);
            let done = board.program_update(ppn, None, &io, PageKind::Data, When::START);
            assert!(done.is_ok());
        }
        let ppn = board.geometry().page(BlockId(3), 0);
        board.nand_mut().invalidate(ppn);
        board
    }

    fn read(board: &mut Board, block: u32, times: u32) {
        let ppn = board.geometry().page(BlockId(block), 0);
        for _ in 0..times {
            assert!(board.read(ppn, Cause::Host, When::START).is_ok());
        }
    }

    #[test]
    fn blocks_are_due_for_their_reads_one_behind_the_other() {
        let mut board = board(&[("refresh.reads", "4")]);
        let [one, two, three] = [1, 2, 3].map(BlockId);
        assert!(board.nand().refreshes() && board.nand().finds_old_data_at().is_none());
        (1..4).for_each(|block| read(&mut board, block, 4));
        let nand = board.nand_mut();
        assert_eq!(nand.blocks_to_refresh(When::START), 2, "one of the three holds nothing");
        assert!(!nand.must_refresh(When::START));
        assert_eq!(
            [one, two, three].map(|block| nand.is_due_for(block)),
            [Some(DueFor::Reads), Some(DueFor::Reads), None]
        );
        assert_eq!(nand.next_to_refresh(false), Some(one));
        nand.put_refresh_off(one);
        assert_eq!(nand.next_to_refresh(false), Some(two));
        read(&mut board, 2, 4);
        let nand = board.nand_mut();
        assert!(nand.must_refresh(When::START));
        assert_eq!([one, two].map(|block| nand.must_refresh_this(block)), [false, true]);
        nand.needs_no_refresh(two);
        assert_eq!((nand.next_to_refresh(false), nand.is_due_for(two)), (Some(one), None));
    }

    /// While the device is off data ages: what holds something is found, the rest is not.
    #[test]
    fn what_is_old_is_found_where_it_holds_something() {
        let pairs = [("refresh.days", "1"), ("refresh.off_days", "3"), ("refresh.patrol", "1us")];
        let mut board = board(&pairs);
        let found = board.nand().finds_old_data_at().expect("there is data");
        assert!((days(1.0)..days(1.1)).contains(&found));
        let late = board.nand_mut().clock_mut().admit(days(1.5));
        let ppn = board.geometry().page(BlockId(1), 0);
        assert!(board.read(ppn, Cause::Host, late).is_ok());
        let nand = board.nand_mut();
        nand.was_off();
        assert_eq!(nand.finds_old_data_at(), None);
        assert_eq!(nand.blocks_to_refresh(late), 2);
        let why = [1, 2, 3].map(|block| nand.is_due_for(BlockId(block)));
        assert_eq!(why, [Some(DueFor::Age), Some(DueFor::Age), None]);
    }

    /// One of four dense cycles and five of ten with a bit a cell: a quarter and a half.
    #[test]
    fn cycles_of_both_modes_use_up_a_life() {
        let mut board = board(&[
            ("refresh.reads", "4"),
            ("device.bits_per_cell", "2"),
            ("device.endurance_cycles", "4"),
            ("device.slc_endurance_cycles", "10"),
        ]);
        let (nand, block) = (board.nand_mut(), BlockId(5));
        nand.state.block_mut(block).erases = 6;
        nand.modes.restore(block, CellMode::Dense, 5);
        let aging = nand.aging.as_ref().expect("reads count");
        assert_eq!(nand.worn(aging, block), 750_000);
    }

    #[test]
    fn a_device_that_only_suffers_moves_nothing() {
        let pairs = [("refresh.reads", "4"), ("refresh.moves", "false"), ("refresh.p0", "0.1")];
        let mut board = board(&pairs);
        read(&mut board, 1, 9);
        let nand = board.nand();
        assert_eq!((nand.refreshes(), nand.is_due_for(BlockId(1))), (false, None));
    }
}
