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
        assert!((since..=written).contains(&after), "turn {turn}: number {number} since {after}");
    }
}

/// A page of data, so that time passes.
fn write_data(space: &mut PageSpace, board: &mut Board, lpn: u32) {
    let request = RequestShape { first_lpn: Lpn(lpn), pages: 1, index: 0, sectors: 1, hint: None };
    let io = PageIo { lpn: Lpn(lpn), sectors: 1, cause: Cause::Host, data: Tag(1), request };
    let to = (PlaneId(0), Stream::Data);
    let (ppn, _) = space.write(board, to, (&io, PageKind::Data, None), When::START).expect("room");
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
