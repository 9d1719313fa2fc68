//! The two tables, the port of the slow one among what they ask for.

use super::settings::{Config, HatSettings, SmtUpdate};
use ftlab_flash::board::nand::run::Mover;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::board::{Board, Search};
use ftlab_flash::meter::Event;
use ftlab_flash::units::{Lpn, Ppn, pack, unpack};
use ftlab_ftl::parts::cmt::{Cmt, Left};
use ftlab_ftl::parts::map_cache::MapCache;
use ftlab_ftl::parts::page_mapped::PageTable;
use ftlab_ftl::parts::page_space::Moved;
use ftlab_ftl::parts::slots::Slot;

/// Quick and slow mapping table.
#[derive(Clone)]
pub(super) struct Tables {
    pub qmt: Cmt,
    /// Physical page of each logical page, plus one.
    pub smt: Vec<u32>,
    update: SmtUpdate,
    pub per_write: u32,
    /// Entries of the SMT that collection changed and that its port has yet to take (foreground): a
    /// block's at most.
    moved: Vec<Lpn>,
    /// When the queue took the last entry that had to wait for it (parallel).
    taken: When,
}

impl PageTable for Tables {
    #[inline]
    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.qmt.entry(lpn).unwrap_or_else(|| self.slow(lpn))
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        MapCache::change(&mut self.qmt, lpn, ppn);
    }

    /// Where copies take longer than entries take to be written nobody waits for the queue.
    fn moves_at_once(&self, board: &Board) -> bool {
        board.copies_outlast_pcm()
    }

    fn moved(&mut self, board: &mut Board, page: Moved) {
        let (lpn, new) = (Lpn(page.logical), page.new);
        if let Some(slot) = self.qmt.find(lpn) {
            self.qmt.change(slot, Some(new));
            board.event(Event::LazyUpdates, 1);
            return;
        }
        self.smt[lpn.index()] = pack(Some(new.0));
        match self.update {
            SmtUpdate::Parallel => {
                let done = page.done.token();
                if let Some(taken) = board.pcm_write_or_wait(self.unit(lpn), done)
                    && taken != done
                {
                    self.taken = taken;
                }
            }
            SmtUpdate::Foreground => self.moved.push(lpn),
        }
    }

    fn run_moved(&mut self, board: &mut Board, first: Ppn, moved: &[Mover]) {
        let (mut updates, mut posted, mut last) = (0, 0, (Lpn(0), Moment::START));
        for (new, &Mover { logical, done, .. }) in (first.0..).map(Ppn).zip(moved) {
            let lpn = Lpn(logical);
            if let Some(slot) = self.qmt.find(lpn) {
                self.qmt.change(slot, Some(new));
                updates += 1;
                continue;
            }
            self.smt[lpn.index()] = pack(Some(new.0));
            match self.update {
                SmtUpdate::Parallel => (posted, last) = (posted + 1, (lpn, done)),
                SmtUpdate::Foreground => self.moved.push(lpn),
            }
        }
        board.event(Event::LazyUpdates, updates);
        board.pcm_writes_of_copies(posted, (self.unit(last.0), last.1));
    }

    /// A full queue holds collection up: nobody else has a place for its entries.
    #[inline]
    fn may_move(&self, after: When) -> When {
        after.waits_for_map(self.taken)
    }

    fn settle(&mut self, board: &mut Board, after: When) -> When {
        let after = self.may_move(after);
        // What other collections wait for, they find out: they may begin earlier than this one
        // ends.
        self.taken = When::START;
        let units = self.moved.iter().map(|&lpn| self.unit(lpn));
        let done = units.fold(after, |when, unit| board.pcm_write_in(unit, when));
        self.moved.clear();
        done
    }
}

impl Tables {
    pub fn new(config: &Config, qmt: Cmt, smt: Vec<u32>) -> Self {
        let HatSettings { gc_smt_update, pcm_entries_per_write, .. } = config.own;
        let pages = if gc_smt_update == SmtUpdate::Foreground {
            config.device.units_per_block()
        } else {
            0
        };
        Tables {
            qmt,
            smt,
            update: gc_smt_update,
            per_write: pcm_entries_per_write,
            moved: Vec::with_capacity(pages as usize),
            taken: When::START,
        }
    }

    #[inline]
    pub fn unit(&self, lpn: Lpn) -> Option<u32> {
        unit(self.per_write, lpn)
    }

    #[inline]
    pub fn slow(&self, lpn: Lpn) -> Option<Ppn> {
        unpack(self.smt[lpn.index()]).map(Ppn)
    }

    /// The entry is wanted; its slot if the QMT holds it.
    #[inline]
    pub fn search_qmt(&mut self, board: &mut Board, lpn: Lpn) -> Option<Slot> {
        board.event(Event::MapLookups, 1);
        let found = self.qmt.find(lpn);
        board.event(Event::MapHits, u64::from(found.is_some()));
        found
    }

    /// Makes room for one entry: a tail whose U is set goes to the SMT. What follows waits no
    /// longer than the queue of the phase-change memory makes it.
    #[inline(always)]
    pub fn delete_tail_if_full(&mut self, board: &mut Board, after: When) -> When {
        if !self.qmt.is_full() {
            return after;
        }
        let tail = self.qmt.victim();
        let (lpn, ppn, dirty) = (self.qmt.lpn(tail), self.qmt.ppn(tail), self.qmt.is_dirty(tail));
        let ready = self.write_back(board, Left { lpn, ppn, dirty }, after);
        self.qmt.remove(tail);
        ready
    }

    /// The entry of a page that misses becomes the head, in the place of the tail if the QMT is
    /// full.
    #[inline(always)]
    pub fn enter(&mut self, board: &mut Board, lpn: Lpn, after: When) -> (Slot, When) {
        let ppn = self.slow(lpn);
        if !self.qmt.is_full() {
            return (self.qmt.insert(lpn, ppn, after), after);
        }
        // Since when it is there is known when the tail is written back.
        let (slot, tail) = self.qmt.replace_victim((lpn, ppn), false, Moment::START);
        let ready = self.write_back(board, tail, after);
        self.qmt.set_ready(slot, ready);
        (slot, ready)
    }

    /// A tail that leaves goes to the SMT if its U is set.
    #[inline(always)]
    fn write_back(&mut self, board: &mut Board, tail: Left, after: When) -> When {
        let found = board.search(Search::Cached, self.qmt.len(), after);
        match self.take_over(board, tail) {
            true => board.pcm_write_in(self.unit(tail.lpn), found),
            false => found,
        }
    }

    /// The SMT says what a tail says that leaves; whether it said something else.
    #[inline(always)]
    fn take_over(&mut self, board: &mut Board, Left { lpn, ppn, dirty }: Left) -> bool {
        if dirty {
            self.smt[lpn.index()] = pack(ppn.map(|ppn| ppn.0));
        }
        board.event(if dirty { Event::EvictDirty } else { Event::EvictClean }, 1);
        dirty
    }

    /// As [`Tables::enter`] for a page that was written, where the port of the SMT rests: beside the
    /// flash the entry is read, if `reads`, and nobody waits.
    #[inline(always)]
    pub fn enter_beside(&mut self, board: &mut Board, (lpn, new): (Lpn, Ppn), reads: bool) {
        let now = board.present();
        if !reads || !self.qmt.is_full() {
            if reads {
                board.pcm_read_beside(now.token());
            }
            let (slot, _) = self.enter(board, lpn, now.token());
            return self.qmt.change(slot, Some(new));
        }
        let _ = board.search(Search::Cached, self.qmt.len(), now.token());
        let (_, tail) = self.qmt.replace_victim((lpn, Some(new)), true, now);
        match self.take_over(board, tail) {
            true => board.pcm_read_and_write_beside(self.unit(tail.lpn)),
            false => board.pcm_read_beside(now.token()),
        }
    }
}

/// The program unit of an entry, where units hold several.
#[inline]
pub(super) fn unit(per_write: u32, lpn: Lpn) -> Option<u32> {
    (per_write > 1).then(|| lpn.0 / per_write)
}
