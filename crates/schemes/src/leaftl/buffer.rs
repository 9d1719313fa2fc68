//! The write buffer: which pages it holds, and which of them leave.

use crate::leaftl::settings::{Config, Drain, Leaving};
use ftlab_flash::board::Board;
use ftlab_flash::board::ram::RamWork;
use ftlab_flash::board::when::{Moment, When};
use ftlab_flash::meter::Level;
use ftlab_flash::request::PageIo;
use ftlab_flash::units::Tag;
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;

/// Pages that the host wrote and flash does not hold yet.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) pages: HeldPages,
    pub(super) all_sectors: u64,
    /// Frames on their way to flash, upwards by logical number, and how many of them have gone.
    pub(super) leaving: Vec<Slot>,
    gone: usize,
    pub(super) drain: Drain,
    /// Groups with pages here under `fullest`: how many, and which.
    groups: Vec<(u32, u32)>,
    rule: Leaving,
    /// Most pages that leave at once, unless all must.
    most: usize,
}

impl Buffer {
    pub(super) fn new(board: &Board, config: &Config, frames: u32) -> Self {
        let most = match config.own.flush {
            Leaving::All => f64::from(frames),
            Leaving::Fullest => f64::from(frames) * config.own.flush_share,
        };
        Buffer {
            pages: HeldPages::new(frames, board.geometry().logical_pages),
            all_sectors: board.geometry().all_sectors(),
            leaving: Vec::with_capacity(frames as usize),
            gone: 0,
            drain: config.own.drain,
            groups: Vec::with_capacity(frames as usize),
            rule: config.own.flush,
            most: (most as usize).max(1),
        }
    }

    /// The host writes a page that a frame holds or was given.
    pub(super) fn put(&mut self, board: &mut Board, slot: Slot, io: &PageIo, ready: When) -> When {
        let held = *self.pages.get(slot);
        let done = board.ram_pages(RamWork::Data, 1, ready.waits_for_buffer(held.ready));
        let partial = io.sectors != self.all_sectors;
        let lost = held.tag == Tag::UNREADABLE && partial;
        let tag = if lost { Tag::UNREADABLE } else { io.data };
        self.pages.write(slot, tag, io.sectors, done);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
        done
    }

    /// Reads a page from its frame.
    pub(super) fn get(&self, board: &mut Board, slot: Slot, after: When) -> (When, Tag) {
        let held = self.pages.get(slot);
        let done = board.ram_pages(RamWork::Data, 1, after.waits_for_buffer(held.ready));
        (done, held.tag)
    }

    /// A page leaves; its frame is free from `ready`.
    pub(super) fn leave(&mut self, board: &mut Board, slot: Slot, ready: impl Into<Moment>) {
        self.pages.leave(slot, ready);
        board.level(Level::BufferedPages, u64::from(self.pages.dirty()));
    }

    /// Whether pages that were chosen are still here.
    pub(super) fn is_draining(&self) -> bool {
        self.gone < self.leaving.len()
    }

    /// The next page on its way to flash; where none is, those that leave are chosen first.
    pub(super) fn next_leaving(&mut self, group_pages: u32) -> Slot {
        if !self.is_draining() {
            self.leaving = self.choose(false, group_pages);
        }
        self.leaving[self.gone]
    }

    /// It is on flash from `done` on, and leaves.
    pub(super) fn next_is_written(&mut self, board: &mut Board, done: When) {
        let slot = self.leaving[self.gone];
        self.gone += 1;
        self.pages.clean(slot);
        self.leave(board, slot, done);
    }

    /// Whether what is still to leave of what was chosen is all that is here.
    pub(super) fn is_leaving_as_a_whole(&self) -> bool {
        self.leaving.len() - self.gone == self.pages.len() as usize
    }

    /// A page is forgotten, and need not be written; whether it was on its way to flash.
    pub(super) fn forget(&mut self, board: &mut Board, slot: Slot) -> bool {
        let lpn = self.pages.get(slot).lpn;
        let behind = &self.leaving[self.gone..];
        let place = behind.binary_search_by_key(&lpn, |&slot| self.pages.get(slot).lpn);
        if let Ok(place) = place {
            self.leaving.remove(self.gone + place);
        }
        let free = self.pages.get(slot).ready;
        self.leave(board, slot, free);
        place.is_ok()
    }

    /// The pages that leave, upwards by logical number, whatever was chosen before.
    pub(super) fn choose(&mut self, all: bool, group_pages: u32) -> Vec<Slot> {
        self.gone = 0;
        let mut slots = std::mem::take(&mut self.leaving);
        slots.clear();
        slots.extend(self.pages.all());
        let lpn = |slot: &Slot| self.pages.get(*slot).lpn;
        slots.sort_unstable_by_key(lpn);
        if all || self.rule == Leaving::All {
            return slots;
        }
        // The groups with most pages here, whole, up to the first that does not fit.
        let group = |slot: &Slot| lpn(slot).0 / group_pages;
        self.groups.clear();
        self.groups.extend(
            slots
                .chunk_by(|a, b| group(a) == group(b))
                .map(|pages| (pages.len() as u32, group(&pages[0]))),
        );
        self.groups.sort_unstable_by_key(|&(count, group)| (std::cmp::Reverse(count), group));
        let mut left = self.most;
        let fit = self.groups.iter().take_while(|&&(count, _)| {
            let fits = count as usize <= left;
            left -= if fits { count as usize } else { 0 };
            fits
        });
        // The fullest alone may have more: as many of its pages as may leave.
        let leaving = fit.count().max(1);
        self.groups.truncate(leaving);
        self.groups.sort_unstable_by_key(|&(_, group)| group);
        slots.retain(|slot| self.groups.binary_search_by_key(&group(slot), |&(_, of)| of).is_ok());
        slots.truncate(self.most);
        slots
    }
}
