//! FAST's log: one sequential log block, shared random ones, and the decision table that says which
//! of them, or the data block, a write goes to (Lee et al. 2007;
//! `docs/papers/others.md#fast`, rows 0 to 8).
//!
//! What this is not: a judge of what becomes of the oldest random log block when the log is full,
//! or of what is taken for the beginning of a sequential stream. Those are the scheme's.

#[cfg(test)]
mod tests;

use crate::parts::block_mapped::{BlockMapped, FirstWrite, Found};
use crate::parts::block_survey::Survivor;
use crate::parts::data_blocks::Lbn;
use crate::parts::log_recovery;
use crate::parts::random_log::RandomLog;
use crate::parts::sequential_log::{SequentialLog, SequentialRule};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::choices;
use ftlab_flash::request::PageIo;

choices! {
    /// Row 7: what a gap in the sequential block's stream does.
    pub enum GapRule {
        /// Partial merge, with the page put at its own place on the way.
        PartialWithRequest = "partial_with_request",
        /// Full merge, with the page inside.
        FullMerge = "full_merge",
        /// The page goes to the random log; the block stays open.
        ToRandom = "to_rw",
    }
}

choices! {
    /// Row 6: what a rewrite of a page of the sequential block does.
    pub enum RewriteRule {
        /// Full merge, with the page inside.
        FullMerge = "full_merge",
        /// The page goes to the random log; the block must be merged in full later.
        ToRandom = "to_rw",
    }
}

/// The rows that a scheme can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FastRules {
    /// Rows 0 and 1.
    pub first_write: FirstWrite,
    /// Row 6.
    pub rewrite: RewriteRule,
    /// Row 7.
    pub gap: GapRule,
}

/// What a scheme takes a write for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// By FAST's rules: whether a write of offset 0 begins a stream.
    AtOffsetZero(bool),
    /// By runs of consecutive pages (FASTer's board): whether it goes on a long one.
    ByRun(bool),
}

/// What the decision table says about one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Rows 0 and 1: straight to its place in the data block.
    InPlace,
    /// Rows 2 to 7.
    Sequential(SequentialRule),
    /// Row 8.
    Random,
}

/// Data blocks and the log that FAST puts before them.
#[derive(Clone, Debug)]
pub struct FastLog {
    /// Maps, free blocks, trims.
    pub base: BlockMapped,
    /// SW.
    pub sequential: SequentialLog,
    /// RW.
    pub random: RandomLog,
    rules: FastRules,
}

impl FastLog {
    /// Without a log block yet.
    pub fn new(base: BlockMapped, random: RandomLog, rules: FastRules) -> Self {
        FastLog { base, sequential: SequentialLog::default(), random, rules }
    }

    /// Writes a page by the decision table. `reclaim` is called for as long as the random log takes
    /// no page, or holds more blocks than it may. Returns the row that the write ended in.
    #[inline]
    pub fn write(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        stream: Stream,
        mut reclaim: impl FnMut(&mut FastLog, &mut Board, When) -> Result<When, Fault>,
        after: When,
    ) -> Result<(Row, When), Fault> {
        let mut when = self.base.merge_strays(board, &mut self.sequential, after)?;
        while self.random.is_over_limit() {
            when = reclaim(self, board, when)?;
        }
        let done = loop {
            let row = self.row(board, io, stream);
            if row == Row::Random && self.random.is_exhausted() {
                // The merge may give the page a free place: the table is asked again.
                when = reclaim(self, board, when)?;
                continue;
            }
            if row == Row::Sequential(SequentialRule::MergeThenOpen) {
                // Row 3, SW full and in order: switch merge. Row 4, SW partly full: partial merge
                // (full, if RW holds newer copies of SW's pages). Then row 2, as SW is empty.
                when = self.sequential.merge(board, &mut self.base.engine, None, when)?;
                continue;
            }
            match self.perform(board, row, io, when) {
                // The RW block is closed; another may need a merge first.
                Err(Fault::ProgramFailed { known, .. }) if row == Row::Random => when = known,
                other => break (row, other?),
            }
        };
        self.base.written(io.lpn);
        Ok(done)
    }

    /// Asks the decision table.
    #[inline]
    fn row(&self, board: &Board, io: &PageIo, stream: Stream) -> Row {
        // Row 0, no data block, and row 1, the data page is erased. Before anything sequential:
        // docs/papers/others.md#fast.
        let in_place = self.rules.first_write == FirstWrite::DataBlock;
        if in_place && self.base.takes_in_place(board, io.lpn) {
            return Row::InPlace;
        }
        let place = Lbn::of(board.geometry(), io.lpn);
        let rule = match stream {
            Stream::AtOffsetZero(may_open) => self.sequential.judge(place, may_open),
            Stream::ByRun(long) => {
                let pages = board.geometry().pages_per_block;
                self.sequential.judge_run(place, long, pages)
            }
        };
        match rule {
            Some(SequentialRule::Rewrite) if self.rules.rewrite == RewriteRule::ToRandom => {
                Row::Random
            }
            Some(SequentialRule::Gap) if self.rules.gap == GapRule::ToRandom => Row::Random,
            Some(rule) => Row::Sequential(rule),
            // Row 8, anything else.
            None => Row::Random,
        }
    }

    fn perform(
        &mut self,
        board: &mut Board,
        row: Row,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        let engine = &mut self.base.engine;
        match row {
            // Rows 0 and 1: a data block if there is none; the page goes to its place, no log.
            Row::InPlace => self.base.write_in_place(board, io, after),
            // Row 2: SW is empty; it is opened for this logical block with this page, behind
            // copies of the pages before it (of which there are none at offset 0).
            Row::Sequential(SequentialRule::Open) => {
                self.sequential.open_filled(board, engine, io, after)
            }
            Row::Sequential(SequentialRule::MergeThenOpen) => {
                unreachable!("rows 3 and 4 end in row 2, which is asked for anew")
            }
            // Row 5: the owner's next page; the older copy becomes invalid.
            Row::Sequential(SequentialRule::Append) => {
                self.sequential.append(board, engine, io, after)
            }
            // Row 6: SW and data block are merged into a new block, the page inside.
            Row::Sequential(SequentialRule::Rewrite) => {
                self.sequential.merge_in_full(board, engine, Some(io), after)
            }
            // Row 7: SW is completed, the page put at its own place on the way.
            Row::Sequential(SequentialRule::Gap) => match self.rules.gap {
                GapRule::FullMerge => self.sequential.merge_in_full(board, engine, Some(io), after),
                _ => self.sequential.merge(board, engine, Some(io), after),
            },
            // Row 8: the next page of the current RW block; the older copy becomes invalid.
            Row::Random => self.random.append(board, engine, io, after),
        }
    }

    /// Goes on with what was found after a power cut, and finishes interrupted merges. Log blocks
    /// beyond what the log may hold go to `other` if that takes them, the oldest first, and are
    /// merged before the next write if it does not.
    pub fn resume(
        &mut self,
        board: &mut Board,
        found: Found,
        other: impl FnMut(&Board, &Survivor) -> bool,
        after: When,
    ) -> Result<When, Fault> {
        let Found { mut logs, leftovers, .. } = found;
        // The youngest one that is the beginning of a logical block goes on as SW.
        let sequential = |log: &Survivor| SequentialLog::found(log).filter(|open| open.first == 0);
        if let Some(place) = logs.iter().rposition(|log| sequential(log).is_some()) {
            self.sequential = SequentialLog::resumed(sequential(&logs.remove(place)));
        }
        let free = self.random.free_blocks() as usize;
        let (oldest, youngest) = logs.split_at(logs.len().saturating_sub(free));
        self.base.hand_over(board, oldest, other);
        youngest.iter().for_each(|log| self.random.resume(board.nand(), log.block));
        log_recovery::evacuate(board, &mut self.base.engine, &mut self.random, &leftovers, after)
    }

    /// Every block is free, a data block, a log block, one of `others` of the scheme, or retired.
    pub fn self_check(&self, board: &Board, others: u32) -> Result<(), String> {
        let sequential = u32::from(self.sequential.open_log().is_some());
        self.base.self_check(board, sequential + self.random.len() + others)
    }
}
