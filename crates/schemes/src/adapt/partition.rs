//! Algorithm 1: which area a log block goes to, and the threshold between them.

use crate::adapt::Adapt;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::request::PageIo;

impl Adapt {
    /// A write request comes in: it enters HAT; the one that ends an interval adjusts.
    pub(super) fn begin_request(
        &mut self,
        board: &mut Board,
        io: &PageIo,
        after: When,
    ) -> Result<When, Fault> {
        self.predictor.request(board, &io.request);
        // Algorithm 1, lines 2 to 7.
        self.interval.requests += 1;
        match self.interval.requests < self.settings.interval {
            true => Ok(after),
            false => self.adjust(board, after),
        }
    }

    /// Algorithm 1 from line 8, and the threshold (III.B).
    #[cold]
    pub(super) fn adjust(&mut self, board: &mut Board, after: When) -> Result<When, Fault> {
        let interval = std::mem::take(&mut self.interval);
        let delta = interval.delta_permille(self.settings.delta_if_no_alloc, self.last_delta);
        let phi = interval.phi_pages(self.settings.phi_round);
        if let Some(delta) = delta {
            self.last_delta = Some(delta);
            board.level(Level::DeltaPermille, delta);
        }
        if let Some(phi) = phi {
            board.level(Level::PhiPages, phi);
        }
        self.predictor.end_interval(board);
        let done = if delta.is_some_and(|delta| delta > self.limits.delta_high_permille) {
            self.enlarge_sequential_area(board, after)?
        } else if phi.is_some_and(|phi| phi >= self.limits.phi_pages) {
            self.enlarge_random_area(board, after)?
        } else {
            after
        };
        // A very small delta: what was taken for sequential was not, or too little was.
        if self.settings.theta_adaptive
            && delta.is_some_and(|delta| delta < self.limits.delta_low_permille)
        {
            self.threshold.flip();
            board.event(Event::ThresholdFlips, 1);
            board.level(Level::ThetaPages, self.threshold.pages().into());
        }
        Ok(done)
    }

    /// Lines 9 to 12: the head of the random area is merged, a clean block is sequential.
    pub(super) fn enlarge_sequential_area(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        if self.sequential.limit() == self.sizes.most {
            return Ok(after);
        }
        let mut done = after;
        self.random.set_limit(self.random.limit() - 1);
        self.sequential.set_limit(self.sequential.limit() + 1);
        if self.random.is_over_limit() {
            done = self.merge_victim(board, false, after)?;
        }
        board.event(Event::AreaTransfers, 1);
        self.tell_limits(board);
        Ok(done)
    }

    /// Lines 15 to 18: a sequential log block is merged, a clean block is random.
    pub(super) fn enlarge_random_area(
        &mut self,
        board: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        if self.sequential.limit() == self.sizes.least {
            return Ok(after);
        }
        let mut done = after;
        if self.sequential.is_exhausted() {
            // III.B: better one that needs a full or partial merge.
            let (rule, engine) = (self.settings.seq_victim, &mut self.base.engine);
            let (victim, found) = self.sequential.choose(board, engine, (rule, true), after);
            done = self.sequential.merge(victim, board, engine, None, found)?;
        }
        self.sequential.set_limit(self.sequential.limit() - 1);
        self.random.set_limit(self.random.limit() + 1);
        board.event(Event::AreaTransfers, 1);
        self.tell_limits(board);
        Ok(done)
    }

    pub(super) fn tell_limits(&self, board: &mut Board) {
        board.level(Level::SequentialLogLimit, self.sequential.limit().into());
        board.level(Level::RandomLogLimit, self.random.limit().into());
    }
}
