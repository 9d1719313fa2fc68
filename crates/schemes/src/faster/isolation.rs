//! The isolation area of FASTer: log pages that outlived their chances, the oldest first, and when
//! their data blocks are merged: one at a time long before the area is full, at a pace that follows
//! its growth, and by force when it is.

use crate::faster::settings::Config;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::Ppn;
use ftlab_ftl::parts::block_survey::Survivor;
use ftlab_ftl::parts::fast_rules::FastLog;
use ftlab_ftl::parts::random_log::{LogVictim, RandomLog};
use ftlab_ftl::parts::second_chance::SecondChances;

use super::settings::FasterSettings;

/// How many log writes lie between two progressive merges.
#[derive(Clone, Debug)]
struct Pace {
    interval: u32,
    /// Log writes since the last merge, and since the last tuning.
    since_merge: u32,
    since_tuning: u32,
    /// Log writes from one tuning to the next; 0: the interval is fixed.
    period: u32,
    /// Blocks in use at the last tuning.
    blocks: u32,
    /// Whether a merge was forced since.
    forced: bool,
}

impl Pace {
    fn new(config: &Config) -> Self {
        let pages = config.device.units_per_block();
        let logs = FasterSettings::logs(config) as u32;
        let given = config.own.progressive_interval.0;
        Pace {
            interval: given.unwrap_or((pages / 4).max(1)),
            since_merge: 0,
            since_tuning: 0,
            period: given.map_or((logs.saturating_mul(pages) / 8).max(1), |_| 0),
            blocks: 0,
            forced: false,
        }
    }

    fn log_written(&mut self, blocks: u32) {
        self.since_merge += 1;
        self.since_tuning += 1;
        if self.period == 0 || self.since_tuning < self.period {
            return;
        }
        // Merges came too late: twice as often. Fewer would have done: half as often.
        if self.forced || blocks > self.blocks {
            self.interval = (self.interval / 2).max(1);
        } else if blocks < self.blocks {
            self.interval = (self.interval * 2).min(self.period);
        }
        (self.since_tuning, self.blocks, self.forced) = (0, blocks, false);
    }
}

/// The isolation area.
#[derive(Clone, Debug)]
pub(super) struct Isolation {
    blocks: RandomLog,
    reserve: u32,
    /// Data blocks rebuilt for pages of the oldest block; none: nothing of it was merged yet.
    rebuilt: Option<u32>,
    pace: Pace,
}

impl Isolation {
    /// An empty area, if the settings have one.
    pub(super) fn new(board: &Board, config: &Config) -> Option<Self> {
        let blocks = FasterSettings::isolation_blocks(config) as u32;
        (blocks > 0).then(|| Isolation {
            blocks: RandomLog::new(board.nand(), blocks, LogVictim::Fifo),
            reserve: config.own.isolation_reserve,
            rebuilt: None,
            pace: Pace::new(config),
        })
    }

    /// Blocks in use.
    pub(super) fn len(&self) -> u32 {
        self.blocks.len()
    }

    /// Takes a block found after a power cut, if there is room for it.
    pub(super) fn adopt(&mut self, board: &Board, found: &Survivor) -> bool {
        let room = self.blocks.free_blocks() > self.reserve;
        if room {
            self.blocks.resume(board.nand(), found.block);
        }
        room
    }

    /// A page was written to the random log.
    pub(super) fn log_written(&mut self) {
        self.pace.log_written(self.blocks.len());
    }

    /// Progressive merge: one data block, if it is time.
    pub(super) fn progress(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        chances: &mut SecondChances,
        after: When,
    ) -> Result<When, Fault> {
        if self.pace.since_merge < self.pace.interval {
            return Ok(after);
        }
        self.pace.since_merge = 0;
        self.merge_oldest(log, board, chances, Event::ProgressiveMerges, after)
    }

    /// Forced merges: until the area takes a victim's pages. Every one rids the oldest block of a
    /// page, and that block takes no more, as the reserve is smaller than the area.
    pub(super) fn make_room(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        chances: &mut SecondChances,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while self.blocks.free_blocks() < self.reserve {
            self.pace.forced = true;
            when = self.merge_oldest(log, board, chances, Event::ForcedMerges, when)?;
        }
        Ok(when)
    }

    /// Takes over a page of a victim.
    pub(super) fn take(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        chances: &mut SecondChances,
        page: Ppn,
        after: When,
    ) -> Result<When, Fault> {
        board.event(Event::IsolationMoves, 1);
        chances.carry(&mut self.blocks, board, &mut log.base.engine, (page, 0), after)
    }

    /// Merges the data block of the oldest isolated page: its newest pages are gathered wherever
    /// they lie.
    fn merge_oldest(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        chances: &mut SecondChances,
        event: Event,
        after: When,
    ) -> Result<When, Fault> {
        let released = self.release_dead(log, board, chances, after)?;
        let oldest = self.blocks.blocks().next();
        let page = oldest.and_then(|block| board.nand().state().next_valid(block, 0));
        // Pages that the host rewrote are skipped.
        let Some(page) = page else { return Ok(released) };
        let engine = &mut log.base.engine;
        let (rebuilt, merged) = engine.merge_page(board, page, &mut log.sequential, released)?;
        *self.rebuilt.get_or_insert(0) += rebuilt;
        board.event(event, 1);
        self.release_dead(log, board, chances, merged)
    }

    /// Erases the oldest blocks for as long as nothing in them is valid, but not the one that takes
    /// pages.
    fn release_dead(
        &mut self,
        log: &mut FastLog,
        board: &mut Board,
        chances: &mut SecondChances,
        after: When,
    ) -> Result<When, Fault> {
        let mut when = after;
        while !self.blocks.is_empty() {
            let oldest = self.blocks.block(0);
            let open = self.blocks.open_block() == Some(oldest);
            if open || board.nand().valid_pages(oldest) > 0 {
                break;
            }
            match self.rebuilt.take() {
                Some(rebuilt) => board.merge_full(rebuilt),
                None => board.event(Event::DeadLogBlocks, 1),
            }
            when = log.base.engine.release_log(board, oldest, when)?;
            chances.forget(board.geometry(), oldest);
            self.blocks.remove(0);
        }
        Ok(when)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::BlockId;

    fn pace(interval: &str) -> Pace {
        let mut config = Config::default();
        let pairs = [
            ("device.pages_per_block", "64"),
            ("faster.log_blocks", "2"),
            ("faster.progressive_interval", interval),
        ];
        for (key, value) in pairs {
            config.set(key, value).expect("legal");
        }
        Pace::new(&config)
    }

    /// The interval after periods of 16 log writes (Nlog * P / 8) that end with so many blocks.
    fn tuned(pace: &mut Pace, blocks: &[u32]) -> Vec<u32> {
        let mut intervals = Vec::new();
        for &blocks in blocks {
            (0..16).for_each(|_| pace.log_written(blocks));
            intervals.push(pace.interval);
        }
        intervals
    }

    #[test]
    fn the_interval_halves_while_the_area_grows_and_doubles_while_it_shrinks() {
        let mut auto = pace("auto");
        assert_eq!(auto.interval, 16, "a quarter of a block's pages");
        let told = tuned(&mut auto, &[1, 2, 2, 9, 9, 12, 13, 12, 3, 2, 1, 0]);
        assert_eq!(told, [8, 4, 4, 2, 2, 1, 1, 2, 4, 8, 16, 16], "never below 1 nor above 16");
    }

    #[test]
    fn a_forced_merge_halves_the_interval_once_even_if_the_area_shrank() {
        let mut auto = pace("auto");
        tuned(&mut auto, &[1]);
        auto.forced = true;
        assert_eq!(tuned(&mut auto, &[0, 0]), [4, 4]);
    }

    /// The area grew at once, and the interval is what it was until the sixteenth log write.
    #[test]
    fn the_interval_is_tuned_at_the_end_of_a_period() {
        let mut auto = pace("auto");
        (0..15).for_each(|_| auto.log_written(1));
        assert_eq!(auto.interval, 16);
        auto.log_written(1);
        assert_eq!(auto.interval, 8);
        (0..15).for_each(|_| auto.log_written(0));
        assert_eq!(auto.interval, 8);
        auto.log_written(1);
        assert_eq!(auto.interval, 8, "it is as large as it was");
    }

    /// Four isolation blocks, two of which must be free before a victim's pages are isolated.
    #[test]
    fn after_a_power_cut_the_reserve_stays_free() {
        let mut config = Config::default();
        let pairs = [
            ("faster.mode", "full"),
            ("faster.isolation_min", "4"),
            ("faster.isolation_pct", "1"),
            ("faster.isolation_reserve", "2"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let board = Board::new(&config, 1, 0);
        let mut area = Isolation::new(&board, &config).expect("there is one");
        let found = |block| Survivor {
            block: BlockId(block),
            home: None,
            owner: None,
            run: None,
            newest_data: 0,
            newest: 0,
            oldest: 0,
        };
        let adopted = [0, 1, 2].map(|block| area.adopt(&board, &found(block)));
        assert_eq!((adopted, area.len()), ([true, true, false], 2));
    }

    #[test]
    fn a_given_interval_stays() {
        assert_eq!(tuned(&mut pace("5"), &[1, 2, 0]), [5, 5, 5]);
    }
}
