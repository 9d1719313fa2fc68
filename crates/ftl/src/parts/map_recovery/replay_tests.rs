//! Whole recoveries of a small flash, written page by page, with whatever survives: which version
//! of every entry is found, what is valid behind it, and how many out-of-band areas are read for
//! it.

use super::tests::{payload, write};
use super::*;
use crate::parts::checkpoint::Checkpoints;
use crate::parts::cmt::{CachePolicyKind, Cmt};
use crate::settings::SharedSettings;
use ftlab_flash::settings::Groups as _;

/// Sixteen blocks of eight pages; the map of 300 pages is three translation pages of 128 entries.
struct Flash {
    board: Board,
}

const BLOCKS: u32 = 16;

impl Flash {
    fn new() -> Flash {
        let mut config = SharedSettings::default();
        let pairs = [("device.page_bytes", "512"), ("device.pages_per_block", "8")];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.set_capacity(300 * 512, 0);
        config.device.blocks_per_plane = BLOCKS;
        Flash { board: Board::new(&config, 1, 32) }
    }

    fn write(&mut self, ppn: u32, lpn: u32) {
        write(&mut self.board, ppn, lpn);
    }

    fn program(&mut self, ppn: u32, what: (PageKind, u32), words: &[u32]) {
        payload(&mut self.board, ppn, what, words);
    }

    /// The record of these trims, as of now.
    fn record(&mut self, ppn: u32, lpns: &[u32]) {
        let mut trims = TrimRecords::new(self.board.geometry());
        lpns.iter().for_each(|&lpn| trims.trim(Lpn(lpn)));
        let mut words = [0; 128];
        trims.fill(0, self.board.nand().sequence(), &mut words);
        self.program(ppn, (PageKind::TrimRecord, 0), &words);
    }

    /// A translation page, with the entries of these logical pages: physical pages.
    fn map(&mut self, ppn: u32, part: u32, entries: &[(u32, u32)]) {
        let mut words = vec![0; 128];
        for &(lpn, entry) in entries {
            words[(lpn - 128 * part) as usize] = entry + 1;
        }
        self.program(ppn, (PageKind::Map, part), &words);
    }

    /// A checkpoint of one page, of these words, true as of now.
    fn checkpoint(&mut self, ppn: u32, open: &[u32], body: &[u32]) {
        let mut checkpoints = Checkpoints::new(self.board.nand(), 16, 8);
        let open = open.iter().map(|&block| BlockId(block));
        let nand = self.board.nand_mut();
        assert_eq!(checkpoints.begin(nand, open, body.iter().map(|&word| [word])), 1);
        let (what, page) =
            ((PageKind::Checkpoint, checkpoints.logical(0)), checkpoints.next_page());
        let (ppn, cause) = (Ppn(ppn), Cause::Checkpoint);
        assert!(self.board.program_payload(ppn, what, page, cause, When::START).is_ok());
    }

    /// The power goes and comes back, and the map is found again.
    fn recover(&mut self, survivor: Survivor) -> FoundMap {
        self.board.nand_mut().cut_power();
        self.board.power_on();
        survivor.find_map(&mut self.board, When::START).expect("nothing fails")
    }

    fn valid(&self) -> Vec<u32> {
        let pages = 0..self.board.geometry().pages();
        pages.filter(|&ppn| self.board.nand().state().is_valid(Ppn(ppn))).collect()
    }
}

/// Changed entries: logical and physical page.
fn changed(found: &FoundMap) -> Vec<(u32, Option<u32>)> {
    found.changed.iter().map(|&(lpn, ppn)| (lpn.0, ppn.map(|ppn| ppn.0))).collect()
}

fn directory(found: &FoundMap) -> Vec<Option<u32>> {
    (0..3).map(|part| found.translation.location(part).map(|ppn| ppn.0)).collect()
}

/// Page 5 was written again behind its translation page; of pages 20 and 21 no map says anything:
/// the newer one of 20 lies in the block that is scanned first, that of 21 in the other one. A pad
/// bears the number of page 0, which nobody wrote.
#[test]
fn without_a_checkpoint_the_youngest_page_of_each_number_counts() {
    let mut flash = Flash::new();
    flash.write(0, 5);
    flash.write(1, 6);
    flash.map(8, 0, &[(5, 0), (6, 1)]);
    flash.write(2, 5);
    flash.program(3, (PageKind::Pad, 0), &[]);
    flash.write(24, 20);
    flash.write(16, 21);
    flash.write(25, 21);
    flash.write(17, 20);
    let found = flash.recover(Survivor::Nothing);
    assert_eq!(directory(&found), [Some(8), None, None]);
    assert_eq!(changed(&found), [(5, Some(2)), (20, Some(17)), (21, Some(25))]);
    assert_eq!(flash.valid(), [1, 2, 8, 17, 25]);
    assert_eq!((found.checkpoint.sequence, &found.checkpoint.pages[..]), (0, &[][..]));
}

/// Block 0, which the checkpoint does not name as open, holds what translation page 0 says, but for
/// two pages that were trimmed: 11, of which the checkpoint tells, and 14, whose block was erased
/// and whose entry nobody changed. Block 1 is open when the checkpoint is taken, and holds what it
/// tells of pages 20 and 21; the last page before it is alone in block 4, which takes no more.
/// Behind it page 21 is written again, and 12 in block 3.
#[test]
fn behind_a_checkpoint_only_blocks_that_were_open_or_are_younger_are_read() {
    let mut flash = Flash::new();
    (0..4).for_each(|offset| flash.write(offset, 10 + offset));
    flash.write(8, 20);
    flash.write(9, 21);
    flash.map(16, 0, &[(10, 0), (11, 1), (12, 2), (13, 3), (14, 41)]);
    flash.write(32, 15);
    let entries = [(11, 0), (15, 33), (20, 9), (21, 10)];
    let words: Vec<u32> = entries.iter().flat_map(|&(lpn, word)| [lpn, word]).collect();
    flash.checkpoint(17, &[1, 2], &words);
    flash.write(10, 21);
    flash.write(24, 12);
    let found = flash.recover(Survivor::Nothing);
    assert_eq!((found.checkpoint.sequence, &found.checkpoint.pages[..]), (8, &[Ppn(17)][..]));
    let expected =
        [(11, None), (12, Some(24)), (14, None), (15, Some(32)), (20, Some(8)), (21, Some(10))];
    assert_eq!(changed(&found), expected);
    assert_eq!(flash.valid(), [0, 3, 8, 10, 16, 17, 24, 32]);
    // The first page of each block, then those of blocks 2, 1 and 3, each up to an erased one.
    assert_eq!(flash.board.meter().oob_reads(), u64::from(BLOCKS + 3 + 4 + 2));
}

/// Page 21 was trimmed behind the last program before the checkpoint, which is its own: the
/// checkpoint knows better.
#[test]
fn what_was_programmed_up_to_a_checkpoint_does_not_supersede_it() {
    let mut flash = Flash::new();
    flash.map(16, 0, &[]);
    flash.write(8, 21);
    flash.checkpoint(17, &[1], &[21, 0]);
    flash.write(9, 22);
    let found = flash.recover(Survivor::Nothing);
    assert_eq!(changed(&found), [(22, Some(9))], "flash says the same of page 21");
    assert_eq!(flash.valid(), [9, 16, 17]);
}

/// Pages 5 and 6 were trimmed, and 6 was written behind the record of that. Flash says of both
/// where they were, and where page 7 is.
#[test]
fn a_record_of_trims_hides_what_was_programmed_before_it() {
    let mut flash = Flash::new();
    (0..3).for_each(|offset| flash.write(offset, 5 + offset));
    flash.map(16, 0, &[(5, 0), (6, 1), (7, 2)]);
    flash.record(17, &[5, 6]);
    flash.write(3, 6);
    let found = flash.recover(Survivor::Nothing);
    assert_eq!(changed(&found), [(5, None), (6, Some(3))]);
    assert_eq!(flash.valid(), [2, 3, 16, 17]);
    assert_eq!(found.trims.location(0), Some(Ppn(17)));
}

/// Pages 10 and 11 were written, and translation page 0 of the directory says so of 10; of 130 it
/// says that it is at 41, where nothing is. The entry of 11 had changed in memory, as had that of
/// 130: it was trimmed.
#[test]
fn a_directory_that_survived_is_followed_and_no_other_page_is_looked_for() {
    let entries = vec![(Lpn(11), Some(Ppn(1))), (Lpn(130), None)];
    let kept = [(10, Some(0)), (11, Some(1)), (130, None)];
    for with_entries in [false, true] {
        let mut flash = Flash::new();
        flash.write(0, 10);
        flash.write(1, 11);
        flash.map(8, 0, &[(10, 0)]);
        flash.map(9, 1, &[(130, 41)]);
        let gtd = vec![9, 10, 0];
        let survivor = match with_entries {
            false => Survivor::Gtd { gtd, lost: 2 },
            true => {
                let translation = Translation::from_gtd(flash.board.geometry(), gtd);
                Survivor::GtdAndCmt { translation, cached: entries.clone() }
            }
        };
        let found = flash.recover(survivor);
        assert_eq!(directory(&found), [Some(8), Some(9), None]);
        match with_entries {
            false => assert_eq!(changed(&found), [(130, None)], "11 is lost"),
            true => assert_eq!(changed(&found), kept[1..]),
        }
        let valid: &[u32] = if with_entries { &[0, 1, 8, 9] } else { &[0, 8, 9] };
        assert_eq!(flash.valid(), valid);
        // The first page of each block, then two translation pages.
        let meter = flash.board.meter();
        assert_eq!(meter.oob_reads(), u64::from(BLOCKS));
        assert_eq!(meter.reads(Cause::Recover), u64::from(BLOCKS + 2));
    }
}

/// Translation page 2 is in block 3, 0 in block 1, and 1 alone in block 4 when the directory is
/// copied; block 1 is open. Behind that 0 is written again there, and 2 in block 2. Flash says that
/// page 131 is at 41, where nothing is.
#[test]
fn a_copied_directory_is_brought_up_to_date_by_younger_map_blocks() {
    let mut flash = Flash::new();
    flash.map(24, 2, &[]);
    flash.write(0, 10);
    flash.write(1, 130);
    flash.map(8, 0, &[(10, 0)]);
    flash.map(32, 1, &[(130, 1), (131, 41)]);
    flash.checkpoint(9, &[1], &[9, 33, 25]);
    flash.write(2, 11);
    flash.map(10, 0, &[(10, 0), (11, 2)]);
    flash.write(3, 256);
    flash.map(16, 2, &[(256, 3)]);
    let survivor = Survivor::GtdCopy { pages: vec![Ppn(9)], lost: 0 };
    let found = flash.recover(survivor);
    assert_eq!(directory(&found), [Some(10), Some(32), Some(16)]);
    assert_eq!(changed(&found), [(131, None)]);
    assert_eq!(flash.valid(), [0, 1, 2, 3, 9, 10, 16, 32]);
    // The first page of each block, then those of blocks 1 and 2.
    assert_eq!(flash.board.meter().oob_reads(), u64::from(BLOCKS + 4 + 2));
}

/// Two entries have changed, and the pages of four went astray: five, for one of them is both.
#[test]
fn what_a_power_cut_leaves_and_how_much_is_lost_with_it() {
    let mut flash = Flash::new();
    let board = &mut flash.board;
    let geometry = board.geometry().clone();
    let mut cache = Cmt::new(CachePolicyKind::Lru, 300, 8, 0.5);
    for (lpn, ppn) in [(3, 30), (4, 40)] {
        cache.insert(Lpn(lpn), None, When::START);
        MapCache::change(&mut cache, Lpn(lpn), Some(Ppn(ppn)));
    }
    cache.insert(Lpn(5), None, When::START);
    let parts = (Translation::new(&geometry), TrimRecords::new(&geometry));
    let mut checkpoints = Checkpoints::new(board.nand(), 16, 8);
    assert_eq!(checkpoints.begin(board.nand_mut(), std::iter::empty(), [[0]].into_iter()), 1);
    checkpoints.written(0, Ppn(77));
    assert_eq!(checkpoints.next_superseded(), None, "it is complete");
    let mut map = CachedMap::new(&geometry, cache, parts.0, parts.1, checkpoints);
    map.translation.moved(1, Ppn(5));
    for (lpn, ppn) in [(4, 39), (9, 90), (10, 91), (11, 92)] {
        map.translation.went_astray(board, Lpn(lpn), Ppn(ppn));
    }
    let of = |consistency, copied| Survivor::of(consistency, copied, &map);
    let kinds = [
        (of(Consistency::Replay, true), 0),
        (of(Consistency::Gtd, false), 5),
        (of(Consistency::Gtd, true), 5),
        (of(Consistency::Battery, true), 0),
    ];
    kinds.iter().for_each(|(survivor, lost)| assert_eq!(survivor.lost_entries(), *lost));
    match kinds.map(|(survivor, _)| survivor) {
        [
            Survivor::Nothing,
            Survivor::Gtd { gtd, .. },
            Survivor::GtdCopy { pages, .. },
            Survivor::GtdAndCmt { translation, mut cached },
        ] => {
            cached.sort_unstable_by_key(|&(lpn, _)| lpn.0);
            assert_eq!(cached, [(Lpn(3), Some(Ppn(30))), (Lpn(4), Some(Ppn(40)))]);
            assert_eq!((gtd, pages), (vec![0, 6, 0], vec![Ppn(77)]));
            assert_eq!(translation.gtd(), [0, 6, 0]);
            assert_eq!(translation.entry(board, Lpn(9)), Some(Ppn(90)), "it is astray still");
        }
        others => panic!("{others:?}"),
    }
}
