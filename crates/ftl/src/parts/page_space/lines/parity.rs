//! Parity pages: which block of a stripe takes one, when it is programmed, and what a flush does
//! with a stripe that is not full. Parity pages are never valid: nobody moves them.

use super::super::{PageSpace, Stream};
use super::{ALL, Lines, Open};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Nand;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::settings::RainFlush;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Event;
use ftlab_flash::units::{BlockId, Ppn};

impl Lines {
    /// The column of a stripe that takes its parity: the last one that works, or in turns.
    pub(super) fn parity_column(
        &self,
        nand: &Nand,
        line: BlockId,
        (row, first): (u32, u32),
    ) -> Option<u32> {
        if !self.has_parity {
            return None;
        }
        let working = || self.stripe(first).filter(|&column| self.works(nand, line, column));
        let count = working().count() as u32;
        let turn = if self.rotate { row.checked_rem(count)? } else { 0 };
        working().nth((count.checked_sub(1 + turn)?) as usize)
    }

    /// Where an open line stands in the stripe that begins with a column, told from what is written
    /// of it and from which blocks work now; whether the stripe is full.
    pub(super) fn stand_in(
        &self,
        nand: &Nand,
        line: BlockId,
        (row, first): (u32, u32),
        open: &mut Open,
    ) -> bool {
        let page = |column| self.page(nand, line, (row, column, 0));
        let is_written = |column: &u32| !nand.state().is_free(page(*column));
        let Some(last) = self.stripe(first).rfind(is_written) else {
            (open.row, open.column, open.unit) = (row, first, 0);
            self.enter_stripe(nand, line, open);
            return false;
        };
        let free = || {
            self.stripe(first)
                .filter(|column| !is_written(column) && self.works(nand, line, *column))
        };
        open.loose = nand.uncovered(page(first));
        (open.row, open.first) = (row, first);
        let is_begun = open.unit > 0 && self.works(nand, line, open.column);
        // A block that was passed over was to take the parity.
        let usual = self.parity_column(nand, line, (row, first));
        let passed = free().find(|&column| column < last);
        let usual = usual.filter(|&column| free().any(|other| other == column));
        open.parity = match self.has_parity {
            true => passed.or(usual).or_else(|| free().next_back()),
            false => None,
        };
        if !is_begun {
            let next = free().find(|&column| column > last && open.parity != Some(column));
            (open.column, open.unit) = (next.unwrap_or(first + self.width), 0);
        }
        open.column >= first + self.width
    }

    /// The same of the stripe that it stands in, after blocks have failed.
    pub(super) fn stand_again(&self, nand: &Nand, line: BlockId, open: &mut Open) -> bool {
        if open.row >= self.rows {
            return false;
        }
        self.stand_in(nand, line, (open.row, open.first), open)
    }

    /// A page of the present stripe of an open line; none where it is full.
    pub(super) fn open_stripe(&self, nand: &Nand, line: BlockId, open: &Open) -> Option<Ppn> {
        let is_open = open.row < self.rows;
        is_open.then(|| self.page(nand, line, (open.row, open.first, 0)))
    }
}

/// A stripe was completed without parity: its pages that no other parity covers, once.
fn tell_bare(board: &mut Board, page: Ppn, loose: u32) {
    let pages = if board.nand_mut().is_bare_from_now_on(page) { loose } else { 0 };
    board.event(Event::UnprotectedPages, u64::from(pages));
}

impl PageSpace {
    /// Programs the parity of the present stripe of an open line, if it has some, once data that it
    /// covers is there; whether that failed.
    pub(super) fn write_parity(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<bool, Fault> {
        let Some(lines) = &mut self.lines else { return Ok(false) };
        let open = &mut lines.open[stream.index()];
        let loose = std::mem::take(&mut open.loose);
        let (row, first) = (open.row, open.first);
        let Some(column) = open.parity.take().filter(|_| lines.has_parity) else {
            // No block that works is left for it.
            if lines.has_parity {
                let page = lines.page(board.nand(), line, (row, first, 0));
                tell_bare(board, page, loose);
            }
            return Ok(false);
        };
        for unit in 0..lines.units {
            let page = lines.page(board.nand(), line, (row, column, unit));
            match board.program_parity(page, after) {
                Ok(_) => {}
                Err(Fault::ProgramFailed { .. }) => {
                    board.event(Event::ProgramFailures, 1);
                    tell_bare(board, page, loose);
                    return Ok(true);
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(false)
    }

    /// Memory has the parity of the stripe that an open line stands in.
    pub(super) fn hold_parity(&self, board: &mut Board, (line, stream): (BlockId, Stream)) {
        let Some(lines) = self.lines.as_ref().filter(|lines| lines.has_parity) else { return };
        let page = lines.open_stripe(board.nand(), line, &lines.open[stream.index()]);
        board.nand_mut().hold_parity(stream.index(), page);
    }

    /// Sees to it, at a flush, that what was written has parity on flash, where nothing else saves
    /// it.
    pub fn flush_parity(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        match &self.lines {
            Some(lines) if lines.has_parity && lines.flush != RainFlush::Capacitor => {
                self.flush_stripes(board, after)
            }
            _ => Ok(after),
        }
    }

    #[cold]
    fn flush_stripes(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let mut done = after;
        for stream in Stream::all() {
            let frontier = self.planes[ALL.index()].frontiers[stream.index()];
            let Some(line) = frontier.block else { continue };
            let lines = self.lines.as_ref().expect("a space of lines");
            if lines.open[stream.index()].loose == 0 {
                continue;
            }
            let ends = match lines.flush {
                RainFlush::Partial => self.program_partial(board, (line, stream), after)?,
                _ => self.pad_stripe(board, (line, stream), after)?,
            };
            done = done.join(ends);
        }
        Ok(done)
    }

    /// The parity of what a stripe holds so far goes to its next page; to the one behind that where
    /// its program fails, or to the page that takes the whole.
    fn program_partial(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        while let Some(lines) = &mut self.lines
            && lines.open[stream.index()].loose > 0
        {
            let open = lines.open[stream.index()];
            let page = lines.page(board.nand(), line, (open.row, open.column, open.unit));
            self.planes[ALL.index()].frontiers[stream.index()].next += 1;
            match board.program_parity(page, done) {
                Ok(programmed) => {
                    lines.open[stream.index()].loose = 0;
                    self.leave_slot(board, (line, stream), after)?;
                    return Ok(programmed);
                }
                Err(Fault::ProgramFailed { known, .. }) => {
                    board.event(Event::ProgramFailures, 1);
                    done = known;
                    self.slot_failed(board, page, known)?;
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(done)
    }

    /// Fills a stripe up with pages that hold nothing, and programs its parity.
    fn pad_stripe(
        &mut self,
        board: &mut Board,
        (line, stream): (BlockId, Stream),
        after: When,
    ) -> Result<When, Fault> {
        let mut done = after;
        let row = self.lines.as_ref().map(|lines| {
            let open = &lines.open[stream.index()];
            (open.row, open.first)
        });
        loop {
            let lines = self.lines.as_ref().expect("a space of lines");
            let open = lines.open[stream.index()];
            // The page that fills a stripe moves the frontier on to the next one.
            if Some((open.row, open.first)) != row {
                return Ok(done);
            }
            let (padded, is_done) = self.pad_slot(board, (line, stream), after)?;
            board.event(Event::PaddedStripePages, u64::from(is_done));
            done = done.join(padded);
        }
    }
}
