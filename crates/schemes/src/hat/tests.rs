//! Which writes are like others: those that wait for the flash alone.

use super::*;
use ftlab_flash::meter::{Cause, Event};
use ftlab_flash::request::RequestShape;
use ftlab_flash::settings::Groups as _;
use ftlab_flash::units::{Nanos, PlaneId};
use ftlab_ftl::parts::page_mapped::PageTable as _;

/// Long after everything: no port is busy.
const LATER: Nanos = 1_000_000_000;
const PCM_WRITE: Nanos = 90_000;

struct Bench {
    board: Board,
    hat: Hat,
}

impl Bench {
    /// A QMT of two entries, in which pages 0 and 1 have changed ones.
    fn new(pairs: &[(&str, &str)]) -> Self {
        let mut config = Config::default();
        let few = [("device.pages_per_block", "8"), ("hat.qmt_entries", "2")];
        for (key, value) in few.iter().chain(pairs) {
            config.set(key, value).expect("legal");
        }
        let block = u64::from(config.device.pages_per_block) * config.device.page_bytes.0;
        config.device.set_capacity(20 * block, 0);
        let least = Hat::minimum_blocks(&config);
        config.device.set_capacity(20 * block, least + 4);
        let mut board = Board::new(&config, 1, Hat::payload_pages(&config));
        let hat = Hat::format(&mut board, &config, 1).expect("it is large enough");
        let mut bench = Bench { board, hat };
        (0..2).for_each(|lpn| bench.write(lpn));
        bench.admit(LATER);
        bench
    }

    /// It is so late now.
    fn admit(&mut self, time: Nanos) {
        let _ = self.board.nand_mut().clock_mut().admit(time);
    }

    fn io(lpn: u32) -> PageIo {
        let first_lpn = Lpn(lpn);
        let request = RequestShape { first_lpn, pages: 1, index: 0, sectors: 4, hint: None };
        PageIo { lpn: first_lpn, sectors: 15, cause: Cause::Host, data: Tag(7), request }
    }

    fn write(&mut self, lpn: u32) {
        let now = self.board.present().token();
        let _ = self.hat.write(&mut self.board, &Bench::io(lpn), now).expect("nothing fails");
    }

    /// Whether a page is written alike, which is foretold.
    fn is_alike(&mut self, lpn: u32) -> bool {
        let foretold = self.hat.would_write_alike(&self.board, Lpn(lpn));
        let before = self.board.nand().sequence();
        let new = self.hat.write_alike(&mut self.board, &Bench::io(lpn));
        assert_eq!(self.board.nand().sequence() - before, u64::from(foretold));
        let is_there = new.is_some_and(|new| self.hat.base.map.table.entry(Lpn(lpn)) == Some(new));
        assert_eq!((new.is_some(), is_there), (foretold, foretold));
        self.hat.self_check(&self.board).expect("tables and flash agree");
        foretold
    }

    fn events(&self) -> [u64; 4] {
        use Event::{EvictDirty, MapHits, PcmReads, PcmWrites};
        [MapHits, EvictDirty, PcmReads, PcmWrites].map(|event| self.board.meter().events(event))
    }
}

/// A hit, then misses, each of which reads the SMT and writes the tail back; the next one comes when
/// the port is done with that.
#[test]
fn writes_are_alike_while_the_port_rests() {
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.events(), [0, 0, 2, 0], "both were read");
    assert!(bench.is_alike(1));
    assert_eq!(bench.events(), [1, 0, 2, 0]);
    assert!(bench.is_alike(5));
    assert_eq!(bench.events(), [1, 1, 3, 1], "the tail was page 0's");
    assert!(bench.hat.base.map.table.qmt.find(Lpn(0)).is_none());
    assert!(!bench.is_alike(6) && bench.is_alike(5), "the port is busy, a hit needs none");
    let over = LATER + 115 + PCM_WRITE;
    bench.admit(over - 1);
    assert!(!bench.is_alike(6));
    bench.admit(over);
    assert!(bench.is_alike(6));
    assert_eq!(bench.events(), [2, 2, 4, 2]);
}

#[test]
fn only_what_nobody_waits_for_is_alike() {
    let alike = |pairs: &[_]| [1, 5].map(|lpn| Bench::new(pairs).is_alike(lpn));
    assert_eq!(alike(&[("hat.write_miss_smt_read", "false")]), [true; 2]);
    assert_eq!(alike(&[("hat.alg1_literal", "true")]), [false; 2]);
    assert_eq!(alike(&[("search.model", "scan")]), [true, false]);
    for free in ["timing.pcm_read", "timing.pcm_write"] {
        assert_eq!(alike(&[(free, "0")]), [true, false], "{free}");
    }
}

/// An entry that was read for a request that comes later is waited for.
#[test]
fn an_entry_that_is_not_there_yet_is_waited_for() {
    let mut bench = Bench::new(&[]);
    bench.admit(LATER + 1);
    let later = bench.board.present();
    for (now, is_alike) in [(LATER, false), (LATER + 1, true)] {
        let mut bench = Bench::new(&[]);
        bench.admit(now);
        let qmt = &mut bench.hat.base.map.table.qmt;
        let slot = qmt.find(Lpn(0)).expect("it is cached");
        qmt.set_ready(slot, later);
        assert_eq!(bench.is_alike(0), is_alike);
    }
}

/// Two requests at once for one page: the second waits for what the first one reads.
#[test]
fn an_entry_is_there_when_the_slow_table_was_read() {
    let mut bench = Bench::new(&[("timing.profile", "parallel")]);
    let now = bench.board.present().token();
    let Bench { board, hat } = &mut bench;
    let [first, again] = [(); 2].map(|()| hat.translate(board, Lpn(5), now));
    let earliest = |when| board.nand().clock().earliest(when);
    assert_eq!([now, first, again].map(earliest), [LATER, LATER + 115, LATER + 115]);
}

/// A block of eight pages is full, and what is free is not enough to begin another without
/// collecting.
#[test]
fn a_write_that_collects_is_not_alike() {
    let mut bench = Bench::new(&[]);
    let plane = PlaneId(0);
    let mut lpn = 0;
    while bench.hat.base.has_room(plane) {
        bench.write(lpn % 160);
        lpn += 1;
    }
    let over = bench.board.nand().clock().now() + LATER;
    bench.admit(over);
    assert!(!bench.is_alike(3));
    bench.write(3);
    bench.admit(over + LATER);
    assert!(bench.is_alike(4));
}
