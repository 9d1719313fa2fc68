//! Which log pages are expected to be rewritten, what became of that, and how large the table of
//! recent requests should be.

use crate::adapt::settings::AdaptSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::RequestShape;
use ftlab_flash::units::Lpn;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::history_table::HistoryTable;
use ftlab_ftl::parts::merge_engine::MergeEngine;
use ftlab_ftl::parts::prediction_record::{PredictionRecord, Proof};
use ftlab_ftl::parts::self_sizing::{HitRate, SelfSizing, Verdicts};

/// The historical access table at work.
#[derive(Clone, Debug)]
pub struct Predictor {
    table: HistoryTable,
    record: PredictionRecord,
    /// Write requests so far.
    requests: u64,
    verdicts: Verdicts,
    sizing: Option<SelfSizing>,
    hit_rate_def: HitRate,
}

impl Predictor {
    /// Nothing known yet.
    pub fn new(geometry: &Geometry, settings: &AdaptSettings) -> Self {
        let pages = geometry.logical_blocks() as usize * geometry.pages_per_block as usize;
        let (entries, most) = settings.history_entries();
        let shape = (pages, geometry.pages_per_block);
        Predictor {
            table: HistoryTable::new(shape, settings.hat_lookup, entries, most),
            record: PredictionRecord::new(pages, u64::from(settings.interval)),
            requests: 0,
            verdicts: Verdicts::default(),
            sizing: settings.history_sizing().map(SelfSizing::new),
            hit_rate_def: settings.hit_rate_def,
        }
    }

    /// Nothing known again; a table that sizes itself begins at its first size.
    pub fn forget(&mut self, settings: &AdaptSettings) {
        self.table.forget();
        self.table.set_limit(settings.history_entries().0);
        self.record.forget();
        self.requests = 0;
        self.verdicts = Verdicts::default();
        self.sizing = settings.history_sizing().map(SelfSizing::new);
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

#[cfg(test)]
mod tests;
