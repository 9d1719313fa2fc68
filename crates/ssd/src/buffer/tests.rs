//! Which pages each policy lets leave, on a few frames.

use super::bplru::{Bplru, BplruSettings, Padding};
use super::cflru::Cflru;
use super::fullest::Fullest;
use super::groups::{Groups, Membership};
use super::l_buffer::{LBuffer, LBufferSettings};
use super::map_aware::MapAware;
use super::*;
use crate::settings::SsdSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::nand::state::PageKind;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{Cause, Event, Level};
use ftlab_flash::request::{PageIo, RequestShape};
use ftlab_flash::settings::{Groups as _, Optional, Value as _};
use ftlab_flash::units::{Lpn, Ppn, Tag};
use ftlab_ftl::parts::held_pages::HeldPages;
use ftlab_ftl::parts::slots::Slot;
use ftlab_ftl::settings::SharedSettings;

/// Sixteen frames with a policy; blocks have 8 pages, a translation page has 128 entries.
struct Bench<P> {
    policy: P,
    pages: HeldPages,
    board: Board,
    programmed: u32,
}

/// What left: pages, the range that is padded, and how many were compared.
type Left = (Vec<u32>, Option<(u32, u32)>, u32);

impl<P: Policy> Bench<P> {
    fn new(settings: &P::Settings) -> Self {
        let mut config = SharedSettings::default();
        for (key, value) in [("device.pages_per_block", "8"), ("device.page_bytes", "512")] {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 0);
        let policy = P::new(16, board.geometry(), settings);
        let pages = HeldPages::new(16, board.geometry().logical_pages);
        Bench { policy, pages, board, programmed: 0 }
    }

    fn write(&mut self, lpns: &[u32]) {
        for lpn in lpns.iter().copied().map(Lpn) {
            let slot = match self.pages.find(lpn) {
                Some(slot) => {
                    self.policy.used(slot, lpn, true);
                    slot
                }
                None => self.enter(lpn),
            };
            self.pages.write(slot, Tag(1), 1, When::START);
        }
    }

    fn enter(&mut self, lpn: Lpn) -> Slot {
        let (slot, _) = self.pages.enter(lpn);
        self.policy.entered(slot, lpn);
        slot
    }

    fn leave(&mut self) -> Left {
        let mut leaving = Leaving::default();
        self.policy.choose(&self.pages, Why::Space, &mut self.board, &mut leaving);
        let lpns = leaving.slots.iter().map(|&slot| self.pages.get(slot).lpn.0).collect();
        for slot in leaving.slots {
            self.policy.left(slot, self.pages.get(slot).lpn);
            self.pages.clean(slot);
            self.pages.leave(slot, When::START);
        }
        self.policy.self_check(&self.pages).expect("tables and frames agree");
        (lpns, leaving.padded.map(|(first, all)| (first.0, all)), leaving.compared)
    }

    /// The scheme below moves so many pages.
    fn moved(&mut self, pages: u32) {
        for _ in 0..pages {
            let (lpn, ppn) = (Lpn(0), Ppn(self.programmed));
            let request =
                RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 1, hint: None };
            let io = PageIo { lpn, sectors: 1, cause: Cause::Gc, data: Tag(1), request };
            let written = self.board.program_update(ppn, None, &io, PageKind::Data, When::START);
            let _ = written.expect("nothing fails");
            self.programmed += 1;
        }
    }
}

fn bplru(pad: Padding) -> Bench<Bplru> {
    Bench::new(&BplruSettings { pad, ..BplruSettings::default() })
}

#[test]
fn the_block_or_translation_page_written_longest_ago_leaves() {
    let mut blocks = bplru(Padding::Always);
    blocks.write(&[1, 9, 1]);
    assert_eq!(blocks.leave(), (vec![9], Some((8, 8)), 2), "block 0 was written again");
    let mut parts = Bench::<MapAware>::new(&Default::default());
    parts.write(&[1, 129, 1]);
    assert_eq!(parts.leave(), (vec![129], None, 2));
}

/// Four of eight pages are half of them; nothing is missing of a whole block.
#[test]
fn a_block_is_padded_that_is_half_there_and_not_whole() {
    for (pages, padded) in [(3, None), (4, Some((0, 8))), (8, None)] {
        let mut bench = bplru(Padding::IfHalf);
        let lpns: Vec<u32> = (0..pages).collect();
        bench.write(&lpns);
        assert_eq!(bench.leave(), (lpns, padded, 1));
    }
}

/// Page 3 came first; then the block was written from its first page to its last, and leaves before
/// one that was written longer ago.
#[test]
fn a_block_that_is_written_anew_from_its_beginning_is_sequential() {
    let mut bench = bplru(Padding::Always);
    bench.write(&[16, 3, 0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(bench.leave().0, [0, 1, 2, 3, 4, 5, 6, 7]);
    let mut random = bplru(Padding::Always);
    random.write(&[16, 3, 1, 2, 3, 4, 5, 6, 7, 0]);
    assert_eq!(random.leave().0, [16]);
}

/// Among the oldest four the third is clean.
#[test]
fn a_clean_page_is_found_behind_those_that_were_compared() {
    let mut bench = Bench::<Cflru>::new(&Default::default());
    bench.write(&[5, 6]);
    let slot = bench.enter(Lpn(7));
    bench.pages.fill(slot, Tag(2), When::START);
    bench.write(&[8, 9]);
    assert_eq!(bench.leave(), (vec![7], None, 3));
    assert_eq!(bench.leave(), (vec![5], None, 4), "none is");
}

/// Of two groups with a page each the one written longest ago is said to be fullest.
#[test]
fn among_equals_the_fullest_was_written_longest_ago() {
    for (first, second) in [(0, 1), (1, 0)] {
        let (first, second) = (Slot(first), Slot(second));
        let mut fullest = Fullest::new(2);
        [first, second].into_iter().for_each(|group| {
            fullest.entered(Membership { group, count: 1 });
        });
        assert_eq!(fullest.block(), Some(first));
        fullest.used(first);
        assert_eq!(fullest.block(), Some(second));
        fullest.entered(Membership { group: first, count: 2 });
        assert_eq!(fullest.block(), Some(first), "two pages");
        fullest.left(Membership { group: first, count: 1 });
        assert_eq!(fullest.block(), Some(second), "one page, but written later");
        let mut fullest = Fullest::new(2);
        for (group, count) in [(first, 1), (second, 1), (second, 2)] {
            fullest.entered(Membership { group, count });
        }
        fullest.left(Membership { group: second, count: 1 });
        assert_eq!(fullest.block(), Some(first), "entered before the last of the other");
    }
}

/// Ten pages in groups of four.
#[test]
fn the_last_group_ends_with_the_device_and_a_group_that_is_used_is_the_last() {
    let mut groups = Groups::new(4, 4, 10);
    let [first, last] = [1, 9].map(|lpn| groups.enter(Lpn(lpn)).group);
    assert_eq!((groups.range(first, 10), groups.range(last, 10)), ((Lpn(0), 4), (Lpn(8), 2)));
    assert_eq!(groups.oldest(), Some(first));
    groups.touch(first);
    assert_eq!(groups.oldest(), Some(last));
}

fn l_buffer(plug: Option<u32>) -> Bench<LBuffer> {
    Bench::new(&LBufferSettings {
        plug_if_missing_le: Optional(plug),
        stress_window: 4,
        stress_high: 500,
    })
}

/// Up to seven missing pages are plugged: of a block with one page; not of one that has all, nor of
/// one alone.
#[test]
fn a_block_is_plugged_of_which_little_is_missing() {
    let mut bench = l_buffer(Some(7));
    bench.write(&[1, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    assert_eq!(bench.leave(), (vec![1], Some((0, 8)), 3));
    assert_eq!(bench.leave(), ((8..16).collect(), None, 2), "nothing is missing");
    assert_eq!(bench.leave(), (vec![16], None, 1), "alone");
    let events = |event| bench.board.meter().events(event);
    assert_eq!((events(Event::PlugDecisions), events(Event::LogDecisions)), (2, 1));
    let mut bench = l_buffer(Some(6));
    bench.write(&[1, 8]);
    assert_eq!(bench.leave(), (vec![1], None, 2), "seven are missing");
}

/// Over four host pages two moved ones are as many as are not yet too many, three are: then the
/// fullest block leaves. Pages that are written again count.
#[test]
fn stress_is_measured_over_so_many_host_pages() {
    let mut bench = l_buffer(Some(0));
    let stress =
        |bench: &Bench<LBuffer>| bench.board.meter().level_now(Level::BufferStressPermille);
    bench.write(&[1, 8, 16]);
    bench.moved(2);
    assert_eq!((bench.leave().0, stress(&bench)), (vec![1], None), "three pages are no window");
    bench.write(&[17]);
    assert_eq!((bench.leave().0, stress(&bench)), (vec![8], Some(500)), "written longest ago");
    bench.write(&[24, 25, 26, 26]);
    bench.moved(3);
    assert_eq!((bench.leave().0, stress(&bench)), (vec![24, 25, 26], Some(750)), "the fullest");
}

#[test]
fn buffers_are_told_by_name_and_none_takes_no_memory() {
    assert_eq!(BufferKind::legal(), "none | lru | bplru | l_buffer | cflru | fab | map_aware");
    let mut config = SsdSettings::default();
    assert!(config.buffer.ram_use().is_none());
    config.set("buffer.name", "lru").expect("legal");
    config.set("buffer.bytes", "4KiB").expect("legal");
    assert_eq!(config.buffer.ram_use().map(|used| used.bytes), Some(4096));
}
