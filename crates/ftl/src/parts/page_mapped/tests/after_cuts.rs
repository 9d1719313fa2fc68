//! What is found again after a power cut, and what a table that outlived one goes on with.

use super::*;
use ftlab_flash::board::nand::state::Oob;

impl<T: PageTable> Bench<T> {
    fn cut(&mut self) {
        self.board.nand_mut().cut_power();
        self.board.power_on();
    }

    /// Physical pages of the first of these, as the table has them.
    fn places(&self, count: u32) -> Vec<Option<Ppn>> {
        (0..count).map(|lpn| self.base.map.table.entry(Lpn(lpn))).collect()
    }

    fn valid(&self) -> Vec<Ppn> {
        let pages = (0..self.board.geometry().pages()).map(Ppn);
        pages.filter(|&ppn| self.board.nand().state().is_valid(ppn)).collect()
    }

    /// Programs a page that is no logical page, at the front of the last block.
    fn program_own(&mut self, kind: PageKind, number: u32) -> Ppn {
        let ppn = self.board.geometry().page(BlockId(12), 0);
        let (words, cause) = (Payload::Words(&[7]), Cause::Pad);
        let done = self.board.program_payload(ppn, (kind, number), words, cause, When::START);
        assert!(done.is_ok());
        ppn
    }
}

impl Bench<Plain> {
    /// Goes on with what flash tells alone.
    fn recover(&mut self) {
        self.cut();
        let table = |_: &mut Board, entries: Vec<u32>, after| {
            let entries = entries.into_iter().map(|word| unpack(word).map(Ppn)).collect();
            (Plain { entries, asked: 0 }, after)
        };
        let config = &self.config;
        let found = PageMapped::recover(&mut self.board, config, (3, 1), table, When::START);
        self.base = found.expect("nothing fails").0;
    }
}

/// Pages 0 to 7 were written, 1 and 4 again; 2 and 3 were trimmed, which was flushed, and 3 was
/// written behind that. The pad bears the number of page 5, which is older.
#[test]
fn the_last_version_of_each_page_is_found_unless_a_flushed_trim_came_later() {
    let mut bench = Bench::new(Plain::new());
    (0..8).chain([1, 4]).for_each(|lpn| bench.write(lpn));
    for lpn in [2, 3] {
        assert!(bench.base.trim(&mut bench.board, Lpn(lpn)));
    }
    let flushed = bench.base.flush(&mut bench.board, When::START).expect("there is room");
    assert_ne!(flushed, When::START, "a record is written");
    bench.write(3);
    bench.program_own(PageKind::Pad, 5);
    let before = bench.places(24);
    let record = bench.base.map.trims.location(0).expect("it was flushed");
    bench.recover();
    assert_eq!(bench.places(24), before);
    assert_eq!(bench.places(10).iter().filter(|entry| entry.is_some()).count(), 7, "not 2");
    let mut living: Vec<Ppn> = before.into_iter().flatten().chain([record]).collect();
    living.sort_unstable_by_key(|ppn| ppn.0);
    assert_eq!(bench.valid(), living);
    assert_eq!(bench.base.map.trims.location(0), Some(record));
}

/// Nothing was trimmed, so that no segment has a record.
#[test]
fn a_device_without_trims_has_no_record_of_any() {
    let mut bench = Bench::new(Plain::new());
    (0..3).for_each(|lpn| bench.write(lpn));
    let before = bench.places(24);
    bench.recover();
    assert_eq!((bench.places(24), bench.base.map.trims.location(0)), (before, None));
}

/// A finder whose table wrote one page of its own, numbered as a logical page is.
#[derive(Default)]
struct Own(Vec<Ppn>);

impl Finder<Plain> for Own {
    fn takes(&mut self, ppn: Ppn, oob: &Oob) -> bool {
        if oob.kind == PageKind::Checkpoint {
            self.0.push(ppn);
        }
        oob.kind == PageKind::Checkpoint
    }

    fn table(&mut self, _: &mut Board, found: &Found, after: When) -> Result<(Plain, When), Fault> {
        let entries = (0..24).map(|lpn| found.newest(Lpn(lpn)).map(|(_, ppn)| ppn)).collect();
        Ok((Plain { entries, asked: 0 }, after))
    }
}

#[test]
fn a_page_of_the_tables_own_is_no_logical_page() {
    let mut bench = Bench::new(Plain::new());
    (0..6).for_each(|lpn| bench.write(lpn));
    let own = bench.program_own(PageKind::Checkpoint, 5);
    let before = bench.places(24);
    bench.cut();
    let mut finder = Own::default();
    let (board, config) = (&mut bench.board, &bench.config);
    let found = PageMapped::recover_with(board, config, (3, 1), &mut finder, When::START);
    bench.base = found.expect("nothing fails").0;
    assert_eq!((bench.places(24), finder.0), (before, vec![own]));
}

/// Of each page when it was written: a number that grows, and where.
#[test]
fn what_is_found_says_when_it_was_written() {
    let mut bench = Bench::new(Plain::new());
    [3, 4, 3].into_iter().for_each(|lpn| bench.write(lpn));
    bench.cut();
    struct Told(Vec<Option<(u64, Ppn)>>);
    impl Finder<Plain> for Told {
        fn takes(&mut self, _: Ppn, _: &Oob) -> bool {
            false
        }
        fn table(
            &mut self,
            _: &mut Board,
            found: &Found,
            after: When,
        ) -> Result<(Plain, When), Fault> {
            self.0 = (2..5).map(|lpn| found.newest(Lpn(lpn))).collect();
            Ok((Plain::new(), after))
        }
    }
    let mut told = Told(Vec::new());
    let (board, config) = (&mut bench.board, &bench.config);
    let found = PageMapped::recover_with(board, config, (3, 1), &mut told, When::START);
    assert!(found.is_ok());
    let geometry = bench.board.geometry();
    let first = geometry.page(BlockId(0), 0).0;
    assert_eq!(told.0, [None, Some((3, Ppn(first + 2))), Some((2, Ppn(first + 1)))]);
}

/// A table in which pages 0 and 1 are the same one.
#[derive(Clone)]
struct Shared(Vec<Option<Ppn>>);

impl PageTable for Shared {
    const SHARES: bool = true;

    fn entry(&self, lpn: Lpn) -> Option<Ppn> {
        self.0[lpn.index()]
    }

    fn change(&mut self, lpn: Lpn, ppn: Option<Ppn>) {
        self.0[lpn.index()] = ppn;
    }

    fn moves_at_once(&self, _: &Board) -> bool {
        false
    }

    fn moved(&mut self, _: &mut Board, _: Moved) {
        unreachable!("nothing is collected here");
    }

    fn settle(&mut self, _: &mut Board, after: When) -> When {
        after
    }
}

#[test]
fn a_page_that_two_share_is_valid_once_where_the_table_outlived_the_power() {
    let mut bench = Bench::new(Shared(vec![None; 24]));
    [0, 2].into_iter().for_each(|lpn| bench.write(lpn));
    bench.base.map.table.0[1] = bench.base.map.table.0[0];
    let table = bench.base.map.table.clone();
    let parts = (table, TrimRecords::new(bench.board.geometry()));
    bench.cut();
    let (board, config) = (&mut bench.board, &bench.config);
    let resumed = PageMapped::resume(board, config, (3, 1), parts, When::START);
    bench.base = resumed.expect("nothing fails").0;
    let [shared, _, other] = bench.places(3)[..] else { panic!("three") };
    assert_eq!(bench.valid(), [shared, other].map(|ppn| ppn.expect("it is there")));
}

#[test]
fn pages_of_a_victim_move_at_once_where_the_table_says_so() {
    let at_once = |bench: Bench<_>| bench.base.map.at_once(&bench.board);
    assert!(at_once(Bench::new(Plain::new())));
    let shared = Bench::new(Shared(vec![None; 24]));
    assert!(!shared.base.map.at_once(&shared.board));
}
