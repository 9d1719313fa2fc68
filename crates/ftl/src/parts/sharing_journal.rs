//! What no page of flash says by itself, where logical pages share one: which virtual number a
//! logical page has, which page a number has, and that a logical page was trimmed, as pages of a
//! journal.
//!
//! Logical pages come first, virtual numbers behind them: a *place* each. A page of the journal
//! holds the latest changes (place, value, and when), and goes on copying the value of every place,
//! in their order, from where the page before it ended. Once all have been copied, what the journal
//! said before that round began is not needed any more: so it ends itself, with neither a
//! checkpoint that the host waits for nor a search for what still counts. Of what is said of a
//! place the latest holds, and a program of the logical page that came later beats it. Changes
//! reach flash all together or not at all.
//!
//! What this is not: the map in memory, or a judge of what a value means.

use super::page_space::{Moved, PageSpace, Stream};
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::Payload;
use ftlab_flash::board::nand::fault::Fault;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::board::nand::state::{Oob, PageKind};
use ftlab_flash::board::when::When;
use ftlab_flash::meter::Cause;
use ftlab_flash::units::{Lpn, PlaneId, Ppn, pack, unpack, zeroed};

/// Words before the changes: number of the page, first page that counts, first page of the round,
/// first place that is copied, how many are, how many changes there are, sequence number (low word
/// first).
const HEADER: u32 = 8;
/// Words of a change: place, value, programs since.
const CHANGE: u32 = 3;
/// Bytes of memory that a change takes until it is on flash.
const CHANGE_BYTES: u64 = 12;
/// Most changes that are made together, when two pages begin to share one.
pub const TOGETHER: u32 = 3;

/// Sizes of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Logical pages.
    pub logical_pages: u32,
    /// Virtual numbers.
    pub numbers: u32,
    words: u32,
    changes: u32,
}

impl Shape {
    /// For so many virtual numbers, and up to `changes` changes a page: 0, or more than that, for
    /// half a page of them.
    pub fn new(geometry: &Geometry, numbers: u32, changes: u32) -> Self {
        let words = geometry.entries_per_page();
        let half = (words - HEADER) / 2 / CHANGE;
        let changes = if changes == 0 { half } else { changes.min(half) };
        Shape { logical_pages: geometry.logical_pages, numbers, words, changes }
    }

    /// Changes that fit into the smaller half of a page; fewer than [`TOGETHER`] are too few.
    pub fn changes(&self) -> u32 {
        self.changes
    }

    fn places(&self) -> u32 {
        self.logical_pages + self.numbers
    }

    /// Most pages that count at once: those of the round before, and of this one.
    pub fn pages(&self) -> u32 {
        let copied = self.words - HEADER - CHANGE * self.changes;
        2 * self.places().div_ceil(copied) + 1
    }

    /// Bytes of memory: where the pages are, and changes that are not on flash.
    pub fn ram_bytes(&self) -> u64 {
        4 * u64::from(self.pages()) + CHANGE_BYTES * u64::from(self.changes)
    }
}

/// Where a logical page is, as far as a journal says that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Where it was programmed last, if it ever was.
    AsWritten,
    /// Nowhere: it was trimmed.
    Nowhere,
    /// Where this number is.
    Number(u32),
}

/// Word for a page that is nowhere; a number is below that, and 0 says nothing.
const NOWHERE: u32 = u32::MAX;

impl Said {
    fn word(self) -> u32 {
        match self {
            Said::AsWritten => 0,
            Said::Nowhere => NOWHERE,
            Said::Number(number) => pack(Some(number)),
        }
    }

    fn of(word: u32) -> Self {
        match word {
            NOWHERE => Said::Nowhere,
            word => unpack(word).map_or(Said::AsWritten, Said::Number),
        }
    }
}

/// What is so now.
pub trait Truth {
    /// Of a logical page.
    fn said(&self, lpn: Lpn) -> Said;
    /// The page of a number.
    fn page(&self, number: u32) -> Option<Ppn>;
}

#[derive(Clone, Copy, Debug)]
struct Change {
    place: u32,
    value: u32,
    /// The last program before it.
    after: u64,
}

/// Changes that are not on flash, and the pages of those that are.
#[derive(Clone, Debug)]
pub struct SharingJournal {
    shape: Shape,
    changes: Vec<Change>,
    /// Pages by number, modulo how many there can be.
    pages: Vec<u32>,
    /// First page that counts, first of this round, next to be written.
    first: u32,
    round: u32,
    next: u32,
    /// Next place to be copied.
    cursor: u32,
    words: Vec<u32>,
}

impl SharingJournal {
    /// Nothing is shared.
    pub fn new(shape: Shape) -> Self {
        SharingJournal {
            changes: Vec::with_capacity(shape.changes as usize),
            pages: zeroed(shape.pages() as usize),
            first: 0,
            round: 0,
            next: 0,
            cursor: 0,
            words: zeroed(shape.words as usize),
            shape,
        }
    }

    /// Whether there are changes that are not on flash.
    #[inline]
    pub fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whether so many more can be made before some must be written.
    #[inline]
    pub fn takes(&self, changes: u32) -> bool {
        self.changes.len() as u32 + changes <= self.shape.changes
    }

    fn change(&mut self, place: u32, value: u32, after: u64) {
        assert!(self.takes(1), "changes are written before there are too many");
        self.changes.push(Change { place, value, after });
    }

    /// A logical page is somewhere else from now on, unless it is programmed; `after` is the last
    /// program before that.
    pub fn says(&mut self, lpn: Lpn, said: Said, after: u64) {
        self.change(lpn.0, said.word(), after);
    }

    /// A number has a page that was programmed under another name.
    pub fn names(&mut self, number: u32, ppn: Ppn, after: u64) {
        self.change(self.shape.logical_pages + number, pack(Some(ppn.0)), after);
    }

    /// Number of the page that is written next.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Writes the changes, and copies of what is so now.
    pub fn write(
        &mut self,
        (space, board): (&mut PageSpace, &mut Board),
        plane: PlaneId,
        truth: &impl Truth,
        after: When,
    ) -> Result<When, Fault> {
        let copied = self.fill(board.nand().sequence(), truth);
        let (number, words) = (self.next, &self.words);
        let is_trim = |change: &Change| change.value == NOWHERE;
        let cause = if self.changes.iter().all(is_trim) { Cause::Trim } else { Cause::Dedup };
        let (ppn, done) =
            space.program(board, (plane, Stream::Map), after, |board, ppn, ready| {
                let what = (PageKind::Checkpoint, number);
                board.program_payload(ppn, what, Payload::Words(words), cause, ready)
            })?;
        self.changes.clear();
        let page = self.at(number);
        self.pages[page] = pack(Some(ppn.0));
        self.next += 1;
        self.cursor += copied;
        let first = self.words[1];
        (self.round, self.cursor) = self.after_page(self.round, self.cursor);
        for old in self.first..first {
            let page = self.at(old);
            let ppn = unpack(std::mem::take(&mut self.pages[page])).expect("it is alive");
            space.invalidate(board, Ppn(ppn));
        }
        self.first = first;
        Ok(done)
    }

    fn at(&self, number: u32) -> usize {
        number as usize % self.pages.len()
    }

    /// Round and next place behind a page that ends at this place.
    fn after_page(&self, round: u32, end: u32) -> (u32, u32) {
        if end == self.shape.places() { (self.next, 0) } else { (round, end) }
    }

    /// Makes the next page; how many places it copies.
    fn fill(&mut self, sequence: u64, truth: &impl Truth) -> u32 {
        let (count, places) = (self.changes.len() as u32, self.shape.places());
        let copied = (self.shape.words - HEADER - CHANGE * count).min(places - self.cursor);
        let is_last = self.cursor + copied == places;
        let first = if is_last { self.round } else { self.first };
        let header = [self.next, first, self.round, self.cursor, copied, count];
        self.words.fill(0);
        self.words[..header.len()].copy_from_slice(&header);
        self.words[6] = sequence as u32;
        self.words[7] = (sequence >> 32) as u32;
        let (changes, copies) =
            self.words[HEADER as usize..].split_at_mut((CHANGE * count) as usize);
        for (words, change) in changes.chunks_mut(CHANGE as usize).zip(&self.changes) {
            let age =
                u32::try_from(sequence - change.after).expect("fewer programs than pages since");
            words.copy_from_slice(&[change.place, change.value, age]);
        }
        for (word, place) in copies.iter_mut().zip(self.cursor..self.cursor + copied) {
            *word = match place.checked_sub(self.shape.logical_pages) {
                None => truth.said(Lpn(place)).word(),
                Some(number) => pack(truth.page(number).map(|ppn| ppn.0)),
            };
        }
        copied
    }

    /// A page of the journal was moved.
    pub fn moved(&mut self, page: Moved) {
        let at = self.at(page.logical);
        self.pages[at] = pack(Some(page.new.0));
    }
}

/// What a journal says of every place: the value, and the last program before that was so.
#[derive(Clone, Debug)]
pub struct Told {
    logical_pages: u32,
    values: Vec<(u32, u64)>,
}

impl Told {
    /// Where a logical page is, and since when.
    pub fn said(&self, lpn: Lpn) -> (Said, u64) {
        let (value, after) = self.values[lpn.index()];
        (Said::of(value), after)
    }

    /// The page of a number, and since when.
    pub fn page(&self, number: u32) -> (Option<Ppn>, u64) {
        let (value, after) = self.values[(self.logical_pages + number) as usize];
        (unpack(value).map(Ppn), after)
    }

    fn says(&mut self, place: u32, value: u32, after: u64) {
        self.values[place as usize] = (value, after);
    }
}

impl SharingJournal {
    /// Reads the journal among the pages that a scan found, and goes on with it.
    pub fn recover(
        board: &mut Board,
        shape: Shape,
        found: &[(Ppn, Oob)],
        after: When,
    ) -> Result<(Self, Told, When), Fault> {
        let mut journal = SharingJournal::new(shape);
        let values = vec![(0, 0); shape.places() as usize];
        let mut told = Told { logical_pages: shape.logical_pages, values };
        let mut alive: Vec<&(Ppn, Oob)> =
            found.iter().filter(|(ppn, _)| board.nand().has_payload(*ppn)).collect();
        // Two copies of a page that was being moved hold the same.
        alive.sort_unstable_by_key(|(_, oob)| (oob.logical, oob.sequence));
        alive.dedup_by_key(|(_, oob)| oob.logical);
        let Some(&&(newest, _)) = alive.last() else { return Ok((journal, told, after)) };
        let header: Vec<u32> = board.nand().payload(newest)[..HEADER as usize].to_vec();
        journal.next = header[0] + 1;
        journal.first = header[1];
        (journal.round, journal.cursor) = journal.after_page(header[2], header[3] + header[4]);
        let mut when = after;
        for &&(ppn, oob) in alive.iter().filter(|(_, oob)| oob.logical >= header[1]) {
            when = board.read(ppn, Cause::Recover, when)?.0;
            board.nand_mut().revalidate(ppn);
            let at = journal.at(oob.logical);
            journal.pages[at] = pack(Some(ppn.0));
            journal.read(&mut told, board.nand().payload(ppn));
        }
        Ok((journal, told, when))
    }

    /// What a page says; pages are read in their order.
    fn read(&self, told: &mut Told, words: &[u32]) {
        let [_, _, _, from, copied, count, low, high] =
            words[..HEADER as usize].try_into().expect("a header has so many words");
        let sequence = u64::from(low) | u64::from(high) << 32;
        let (changes, copies) = words[HEADER as usize..].split_at((CHANGE * count) as usize);
        for change in changes.chunks(CHANGE as usize) {
            told.says(change[0], change[1], sequence - u64::from(change[2]));
        }
        for (place, &value) in (from..from + copied).zip(copies) {
            told.says(place, value, sequence);
        }
    }
}

#[cfg(test)]
mod tests;
