//! Which log pages are expected to be rewritten, what became of that, and how large the table of
//! recent requests should be.

use crate::adapt::settings::{AdaptSettings, HistoryRule, HitRate};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::RequestShape;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::history_table::HistoryTable;
use ftlab_ftl::parts::merge_engine::MergeEngine;
use ftlab_ftl::parts::prediction_record::{PredictionRecord, Proof};

/// Verdicts and questions of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Pages kept and rewritten.
    pub right_keeps: u64,
    /// Pages kept in vain.
    pub wrong_keeps: u64,
    /// Pages merged and left alone.
    pub right_merges: u64,
    /// Pages merged and rewritten soon.
    pub wrong_merges: u64,
    /// Questions to the table.
    pub queries: u64,
    /// Answered with yes.
    pub hits: u64,
}

impl Verdicts {
    /// Hits and what they are counted of.
    pub fn rate(&self, definition: HitRate) -> (u64, u64) {
        match definition {
            HitRate::TableHits => (self.hits, self.queries),
            HitRate::CorrectPredictions => {
                let right = self.right_keeps + self.right_merges;
                (right, right + self.wrong_keeps + self.wrong_merges)
            }
        }
    }
}

/// The historical access table at work.
#[derive(Clone, Debug)]
pub struct Predictor {
    table: HistoryTable,
    record: PredictionRecord,
    /// Write requests so far.
    requests: u64,
    verdicts: Verdicts,
    sizing: Option<Sizing>,
    hit_rate_def: HitRate,
}

/// How a table that sizes itself goes about it.
#[derive(Clone, Debug)]
pub struct Sizing {
    rule: HistoryRule,
    least: u32,
    most: u32,
    step_pct: u32,
    verdicts: u64,
    weight: u64,
    growing: bool,
    /// Hit rate of the last interval that told one, thousandths.
    last_permille: Option<u64>,
}

impl Predictor {
    /// Nothing known yet.
    pub fn new(geometry: &Geometry, settings: &AdaptSettings) -> Self {
        let pages = geometry.logical_blocks() as usize * geometry.pages_per_block as usize;
        let (entries, most) = settings.history_entries();
        let shape = (pages, geometry.pages_per_block);
        let sizing = Sizing {
            rule: settings.history_rule,
            least: HistoryTable::entries(settings.history_min.0),
            most,
            step_pct: settings.history_step_pct,
            verdicts: u64::from(settings.history_verdicts),
            weight: u64::from(settings.history_weight),
            growing: true,
            last_permille: None,
        };
        Predictor {
            table: HistoryTable::new(shape, settings.hat_lookup, entries, most),
            record: PredictionRecord::new(pages, u64::from(settings.interval)),
            requests: 0,
            verdicts: Verdicts::default(),
            sizing: (settings.history_auto && settings.predictive_transfer).then_some(sizing),
            hit_rate_def: settings.hit_rate_def,
        }
    }

    /// Size of the table now, bytes.
    pub fn table_bytes(&self) -> u64 {
        u64::from(self.table.limit()) * HistoryTable::ENTRY_BYTES
    }

    /// A write request comes in.
    #[inline]
    pub fn request(&mut self, board: &mut Board, request: &RequestShape) {
        self.requests += 1;
        self.table.note(request.first_lpn, request.pages);
        let right = self.record.pass(self.requests);
        if right > 0 {
            self.verdicts.right_merges += right;
            board.event(Event::HistoryRight, right);
        }
    }

    /// A valid page is at the end of the log: whether it was written recently.
    pub fn expects(&mut self, board: &mut Board, lpn: Lpn) -> bool {
        if self.record.returned(lpn) {
            self.wrong_keep(board);
        }
        let known = self.table.knows(lpn);
        board.event(Event::HistoryQueries, 1);
        board.event(Event::HistoryHits, u64::from(known));
        self.verdicts.queries += 1;
        self.verdicts.hits += u64::from(known);
        known
    }

    /// A page stays, as a rewrite is expected.
    pub fn kept(&mut self, board: &mut Board, lpn: Lpn) {
        board.event(Event::SecondChanceCopies, 1);
        self.record.kept(lpn);
    }

    /// A page was merged, as no rewrite is expected.
    pub fn merged(&mut self, board: &mut Board, lpn: Lpn) {
        if self.record.merged(lpn, self.requests) {
            self.verdicts.right_merges += 1;
            board.event(Event::HistoryRight, 1);
        }
    }

    /// The host wrote a page.
    #[inline]
    pub fn written(&mut self, board: &mut Board, lpn: Lpn) {
        match self.record.written(lpn) {
            None => {}
            Some(Proof::RightToKeep) => {
                self.verdicts.right_keeps += 1;
                board.event(Event::SecondChancesRewritten, 1);
                board.event(Event::HistoryRight, 1);
            }
            Some(Proof::WrongToMerge) => {
                self.verdicts.wrong_merges += 1;
                board.event(Event::HistoryWrong, 1);
            }
        }
    }

    /// The host forgot a page.
    pub fn forgotten(&mut self, lpn: Lpn) {
        self.record.forgotten(lpn);
    }

    /// A logical block was rebuilt: pages of it that were kept in the log, and are there no more,
    /// were kept in vain.
    pub fn rebuilt(&mut self, board: &mut Board, engine: &MergeEngine, lbn: Lbn) {
        for offset in 0..board.geometry().pages_per_block {
            let lpn = lbn.page(board.geometry(), offset);
            if self.record.is_kept(lpn) && engine.logs.get(lpn).is_none() {
                self.record.returned(lpn);
                self.wrong_keep(board);
            }
        }
    }

    fn wrong_keep(&mut self, board: &mut Board) {
        self.verdicts.wrong_keeps += 1;
        board.event(Event::HistoryWrong, 1);
    }

    /// An interval is over: tells its hit rate, and sizes the table.
    pub fn end_interval(&mut self, board: &mut Board) {
        let verdicts = std::mem::take(&mut self.verdicts);
        let (hits, of) = verdicts.rate(self.hit_rate_def);
        let permille = (hits * 1000).checked_div(of);
        if let Some(permille) = permille {
            board.level(Level::HistoryHitPermille, permille);
        }
        let Some(sizing) = &mut self.sizing else { return };
        let size = self.table.limit();
        let next = sizing.next(size, &verdicts, (permille, of));
        if next != size {
            self.table.set_limit(next);
            board.level(Level::HistoryBytes, self.table_bytes());
        }
    }
}

impl Sizing {
    /// Entries for the next interval.
    fn next(&mut self, size: u32, verdicts: &Verdicts, rate: (Option<u64>, u64)) -> u32 {
        let Verdicts { wrong_keeps, wrong_merges, .. } = *verdicts;
        match self.rule {
            HistoryRule::Balance => {
                if verdicts.rate(HitRate::CorrectPredictions).1 < self.verdicts {
                    return size;
                }
                let premature = wrong_merges * self.weight;
                match premature.cmp(&wrong_keeps) {
                    std::cmp::Ordering::Equal => return size,
                    order => self.growing = order.is_gt(),
                }
            }
            HistoryRule::HillClimb => {
                let (Some(permille), true) = (rate.0, rate.1 >= self.verdicts) else {
                    return size;
                };
                if self.last_permille.is_some_and(|last| permille < last) {
                    self.growing = !self.growing;
                }
                self.last_permille = Some(permille);
            }
        }
        let step = (u64::from(size) * u64::from(self.step_pct) / 100).max(1) as u32;
        let next = if self.growing { size + step } else { size.saturating_sub(step) };
        next.clamp(self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizing(rule: HistoryRule) -> Sizing {
        let (verdicts, weight) = (10, 5);
        Sizing {
            rule,
            least: 16,
            most: 300,
            step_pct: 50,
            verdicts,
            weight,
            growing: true,
            last_permille: None,
        }
    }

    fn wrong(keeps: u64, merges: u64) -> Verdicts {
        Verdicts {
            wrong_keeps: keeps,
            wrong_merges: merges,
            right_merges: 10,
            ..Default::default()
        }
    }

    #[test]
    fn the_balance_grows_by_wrong_merges_and_shrinks_by_wrong_copies_within_bounds() {
        let mut sizing = sizing(HistoryRule::Balance);
        let mut next = |size, verdicts| sizing.next(size, &verdicts, (None, 0));
        assert_eq!(next(100, wrong(4, 1)), 150, "one merge outweighs four copies");
        assert_eq!(next(100, wrong(6, 1)), 50);
        assert_eq!(next(100, wrong(5, 1)), 100, "balanced");
        assert_eq!(next(290, wrong(0, 1)), 300);
        assert_eq!(next(20, wrong(1, 0)), 16);
        assert_eq!(next(1, wrong(0, 1)), 16);
        let few = Verdicts { wrong_merges: 9, ..Default::default() };
        assert_eq!(next(100, few), 100, "nine verdicts decide nothing");
    }

    #[test]
    fn the_climber_turns_round_when_the_rate_falls() {
        let mut sizing = sizing(HistoryRule::HillClimb);
        let mut next = |size, permille, of| sizing.next(size, &wrong(0, 0), (Some(permille), of));
        assert_eq!(next(100, 500, 10), 150);
        assert_eq!(next(150, 500, 10), 225, "no worse");
        assert_eq!(next(225, 499, 10), 113, "worse: back");
        assert_eq!(next(113, 600, 9), 113, "too few to tell");
        assert_eq!(next(113, 600, 10), 57);
        assert_eq!(next(57, 10, 10), 85);
    }
}
