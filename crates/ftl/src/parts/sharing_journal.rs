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
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::board::nand::state::OobRead;
    use ftlab_flash::request::{PageIo, RequestShape};
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::units::{BlockId, Tag};

    /// Whole blocks of 64.
    const LOGICAL: u32 = 640;
    const NUMBERS: u32 = 200;

    /// What is so of logical pages and of numbers, and the last program before it came to be so.
    #[derive(Clone)]
    struct Model {
        said: Vec<(Said, u64)>,
        pages: Vec<(Option<Ppn>, u64)>,
    }

    impl Truth for Model {
        fn said(&self, lpn: Lpn) -> Said {
            self.said[lpn.index()].0
        }

        fn page(&self, number: u32) -> Option<Ppn> {
            self.pages[number as usize].0
        }
    }

    /// Pages of 128 words; twenty changes fit into one.
    fn bench() -> (Board, PageSpace, SharingJournal) {
        let mut config = SharedSettings::default();
        let pairs = [("device.page_bytes", "512"), ("device.pages_per_block", "64")];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.set_capacity(u64::from(LOGICAL) * 512, 0);
        config.device.blocks_per_plane = 64;
        let board = Board::new(&config, 1, 256);
        let space = PageSpace::new(&board, &config, 1, 1);
        let shape = Shape::new(board.geometry(), NUMBERS, 0);
        assert_eq!((shape.words, shape.changes()), (128, 20));
        (board, space, SharingJournal::new(shape))
    }

    /// What is read after a cut, the journal that goes on, and how many pages of it are valid.
    fn after_a_cut(board: &Board, shape: Shape) -> (SharingJournal, Told, u32) {
        let mut board = board.clone();
        board.power_on();
        let pages = (0..board.geometry().pages()).map(Ppn);
        let found: Vec<(Ppn, Oob)> = pages
            .filter_map(|ppn| match board.nand().state().oob(ppn) {
                OobRead::Written(oob) if oob.kind == PageKind::Checkpoint => Some((ppn, oob)),
                _ => None,
            })
            .collect();
        let (journal, told, _) =
            SharingJournal::recover(&mut board, shape, &found, When::START).expect("it is read");
        let valid = (0..64).map(|block| board.nand().valid_pages(BlockId(block))).sum();
        (journal, told, valid)
    }

    /// Of every place the journal says what was so when its last page was written, since a program
    /// that is not older than that change, nor younger than that page.
    fn agree(told: &Told, recorded: &Model, written: u64, turn: u32) {
        for (lpn, &(said, since)) in (0..).map(Lpn).zip(&recorded.said) {
            let (found, after) = told.said(lpn);
            assert_eq!(found, said, "turn {turn}: {lpn}");
            assert!((since..=written).contains(&after), "turn {turn}: {lpn} since {after}");
        }
        for (number, &(page, since)) in (0..).zip(&recorded.pages) {
            let (found, after) = told.page(number);
            assert_eq!(found, page, "turn {turn}: number {number}");
            assert!(
                (since..=written).contains(&after),
                "turn {turn}: number {number} since {after}"
            );
        }
    }

    /// A page of data, so that time passes.
    fn write_data(space: &mut PageSpace, board: &mut Board, lpn: u32) {
        let request =
            RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 1, hint: None };
        let io = PageIo { lpn: Lpn(lpn), sectors: 1, cause: Cause::Host, data: Tag(1), request };
        let to = (PlaneId(0), Stream::Data);
        let (ppn, _) =
            space.write(board, to, (&io, PageKind::Data, None), When::START).expect("room");
        space.invalidate(board, ppn);
    }

    /// A page of the journal is moved, as collection does.
    fn move_page(to: (&mut PageSpace, &mut Board), journal: &mut SharingJournal, number: u32) {
        let (space, board) = to;
        let old = Ppn(unpack(journal.pages[journal.at(number)]).expect("it counts"));
        let (kind, place) = (PageKind::Checkpoint, (PlaneId(0), Stream::Map));
        let (new, done) = space
            .program(board, place, When::START, |board, new, ready| {
                board.copy(old, new, kind, Cause::Gc, ready)
            })
            .expect("room");
        space.note_invalid(board.nand(), old);
        journal.moved(Moved { logical: number, kind, old, new, done: done.into(), newer: false });
    }

    /// After every page that is written a cut finds what was so then, of every place, over many
    /// rounds, and changes since then are lost together; as many pages count as the shape says at
    /// most, and those that do not are invalid, wherever they were moved.
    #[test]
    fn a_cut_finds_what_was_so_when_the_last_page_was_written() {
        let (mut board, mut space, mut journal) = bench();
        let mut rng = Rng::new(3, Purpose::Workload);
        let nothing = Model {
            said: vec![(Said::AsWritten, 0); LOGICAL as usize],
            pages: vec![(None, 0); NUMBERS as usize],
        };
        let (mut now, mut recorded, mut written, mut most) = (nothing.clone(), nothing, 0, 0);
        for turn in 0..1200 {
            for _ in 0..rng.below(journal.shape.changes() + 1) {
                if rng.below(16) == 0 {
                    write_data(&mut space, &mut board, rng.below(LOGICAL));
                }
                let (lpn, number) = (rng.below(LOGICAL), rng.below(NUMBERS));
                let sequence = board.nand().sequence();
                match rng.below(4) {
                    0 => {
                        let page = Ppn(rng.below(4000));
                        now.pages[number as usize] = (Some(page), sequence);
                        journal.names(number, page, sequence);
                    }
                    which => {
                        let said = [Said::AsWritten, Said::Nowhere, Said::Number(number)];
                        let said = said[which as usize - 1];
                        now.said[lpn as usize] = (said, sequence);
                        journal.says(Lpn(lpn), said, sequence);
                    }
                }
            }
            let (_, told, _) = after_a_cut(&board, journal.shape);
            agree(&told, &recorded, written, turn);
            let to = (&mut space, &mut board);
            let _ = journal.write(to, PlaneId(0), &now, When::START).expect("there is room");
            (recorded, written) = (now.clone(), board.nand().sequence());
            if turn % 5 == 0 {
                let number = journal.first + rng.below(journal.next - journal.first);
                move_page((&mut space, &mut board), &mut journal, number);
            }
            let (again, told, valid) = after_a_cut(&board, journal.shape);
            agree(&told, &recorded, written, turn);
            assert_eq!(valid, journal.next - journal.first, "turn {turn}: valid pages");
            let ends = |of: &SharingJournal| (of.first, of.round, of.next, of.cursor);
            assert_eq!(ends(&again), ends(&journal), "turn {turn}: it goes on where it was");
            most = most.max(valid);
            // Whoever goes on after the cut is the same as who went on without.
            if turn % 97 == 0 {
                journal = again;
            }
        }
        assert!(most <= journal.shape.pages(), "{most} pages");
        assert!(journal.round > 400, "many rounds: {}", journal.round);
    }

    /// 840 places, of which a page with 20 changes copies 128 - 8 - 60 = 60: a round is 14 pages, of
    /// which two and a page may count. 4 bytes for each, and 12 for each of 20 changes.
    #[test]
    fn two_rounds_and_a_page_may_count() {
        let (_, _, journal) = bench();
        assert_eq!(journal.shape.pages(), 2 * 14 + 1);
        assert_eq!(journal.shape.ram_bytes(), 4 * 29 + 12 * 20);
    }

    /// Twenty changes fit. Trims alone are written as trims, whatever else as deduplication.
    #[test]
    fn changes_wait_until_they_are_written_together() {
        let (mut board, mut space, mut journal) = bench();
        let truth = Model {
            said: vec![(Said::AsWritten, 0); LOGICAL as usize],
            pages: vec![(None, 0); NUMBERS as usize],
        };
        assert_eq!((journal.has_changes(), journal.next()), (false, 0));
        assert!(journal.takes(20) && !journal.takes(21));
        for (turn, last) in (1..).zip([Said::Nowhere, Said::Number(3)]) {
            (0..17).for_each(|lpn| journal.says(Lpn(lpn), Said::Nowhere, 0));
            journal.says(Lpn(17), last, 0);
            assert!(journal.has_changes() && journal.takes(2) && !journal.takes(3));
            let to = (&mut space, &mut board);
            let _ = journal.write(to, PlaneId(0), &truth, When::START).expect("there is room");
            assert_eq!((journal.has_changes(), journal.next()), (false, turn));
            let programs = [Cause::Trim, Cause::Dedup].map(|cause| board.meter().programs(cause));
            assert_eq!(programs, [1, u64::from(turn) - 1]);
        }
    }

    /// Sequence numbers have more than 32 bits: page 300 was trimmed two programs before the page
    /// of the journal, which copies what is so of page 0.
    #[test]
    fn a_page_tells_since_when_beyond_32_bits() {
        let (_, _, mut journal) = bench();
        let truth = Model {
            said: vec![(Said::AsWritten, 0); LOGICAL as usize],
            pages: vec![(None, 0); NUMBERS as usize],
        };
        let sequence = 5 << 32 | 7;
        journal.says(Lpn(300), Said::Nowhere, sequence - 2);
        assert_eq!(journal.fill(sequence, &truth), 128 - 8 - 3);
        let values = vec![(0, 0); (LOGICAL + NUMBERS) as usize];
        let mut told = Told { logical_pages: LOGICAL, values };
        journal.read(&mut told, &journal.words);
        assert_eq!(told.said(Lpn(300)), (Said::Nowhere, sequence - 2));
        assert_eq!(told.said(Lpn(0)), (Said::AsWritten, sequence));
    }
}
