//! A device of 80 logical blocks of 32 pages, of which the first 70 are written.

use super::*;
use crate::adapt::settings::Config;
use crate::for_tests;
use ftlab_flash::settings::Groups as _;
use ftlab_ftl::scheme::Scheme as _;

const PAGES: u32 = 32;

struct Bench {
    board: Board,
    scheme: Adapt,
}

impl Bench {
    /// Three random log blocks and one sequential one; requests of a block and more are large.
    fn new() -> Bench {
        let mut config = Config::default();
        for (key, value) in [
            ("device.pages_per_block", "32"),
            ("adapt.log_blocks", "4"),
            ("adapt.seq_max", "2"),
            ("adapt.seq_init", "1"),
            ("adapt.theta_adaptive", "false"),
            ("adapt.theta0", "32"),
            ("adapt.history_bytes", "384"),
            // Of write requests: 70, 1, 1, 32, 1, 64, 2, and the one that ends it.
            ("adapt.interval", "172"),
        ] {
            config.set(key, value).expect("legal");
        }
        let block = u64::from(PAGES) * config.device.unit_bytes();
        config.device.set_capacity(80 * block, 100);
        let mut board = Board::new(&config, 1, 64);
        let scheme = Adapt::format(&mut board, &config, 1).expect("nothing fails");
        let mut bench = Bench { board, scheme };
        (0..70).for_each(|lbn| bench.write(lbn * PAGES, PAGES));
        bench
    }

    /// A request of so many pages.
    fn write(&mut self, first: u32, pages: u32) {
        for io in for_tests::pages(first, pages) {
            let written = self.scheme.write(&mut self.board, &io, When::START);
            let _ = written.expect("nothing fails");
        }
    }

    fn trim(&mut self, first: u32, pages: u32) {
        for io in for_tests::pages(first, pages) {
            let trimmed = self.scheme.trim(&mut self.board, &io, When::START);
            let _ = trimmed.expect("nothing fails");
        }
    }

    /// A page each of 32 logical blocks: the last one of one and the first one of the next.
    fn write_each(&mut self, lbns: std::ops::Range<u32>) {
        lbns.step_by(2).for_each(|lbn| self.write(lbn * PAGES + 31, 2));
    }

    fn valid_in_log(&self) -> Vec<u32> {
        let random = &self.scheme.random;
        random.blocks().map(|block| self.board.nand().valid_pages(block)).collect()
    }

    fn events(&self, event: Event) -> u64 {
        self.board.meter().events(event)
    }
}

/// A page of logical block 63 stays in the log. Then the sequential area gets one of the three
/// blocks that the random area has, and the request that does that needs another of them: both are
/// merged, with 32 logical blocks each, the last of which is that one.
#[test]
fn a_page_that_stayed_in_vain_is_noticed_in_the_last_of_many_logical_blocks_of_a_step() {
    let mut it = Bench::new();
    it.write(63 * PAGES + 5, 1);
    it.write(64 * PAGES, 31);
    it.trim(64 * PAGES, 31);
    it.write_each(0..32);
    it.write_each(32..64);
    assert_eq!(it.valid_in_log(), [1, 32, 32]);
    it.write(65 * PAGES, 31);
    assert_eq!(it.events(Event::SecondChanceCopies), 1);
    assert_eq!(it.valid_in_log(), [32, 32, 32], "it stands before the 31");
    // The table forgets what is in the log: it has 64 entries.
    (0..64).for_each(|page| it.write(70 * PAGES + page, 1));
    // One of two streams is switched.
    [66, 67].into_iter().for_each(|lbn| it.write(lbn * PAGES, PAGES));
    assert_eq!(it.board.meter().merges().switch, 1);
    // The next request ends the interval.
    assert_eq!(it.scheme.interval.requests, 171);
    let [wrong, rebuilt] =
        [it.events(Event::HistoryWrong), it.board.meter().merges().full_data_blocks];
    it.write(64 * PAGES, 1);
    assert_eq!(it.events(Event::AreaTransfers), 1);
    assert_eq!(it.board.meter().merges().full_data_blocks - rebuilt, 64);
    assert_eq!(it.events(Event::HistoryWrong) - wrong, 1);
    assert_eq!(it.scheme.self_check(&it.board), Ok(()));
}
