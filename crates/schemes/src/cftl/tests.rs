use super::*;
use crate::for_tests::page;
use ftlab_flash::settings::Groups as _;

/// Of 200 logical blocks of four pages each.
fn candidates(pairs: &[(&str, &str)]) -> Candidates {
    let mut config = Config::default();
    for (key, value) in [("device.blocks_per_plane", "250"), ("device.pages_per_block", "4")] {
        config.set(key, value).expect("legal");
    }
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    Candidates::new(&Geometry::new(&config.device), &config.own)
}

const NEVER_HOT: (&str, &str) = ("cftl.hot_thr", "16");

fn read(candidates: &mut Candidates, lbn: u32, times: u32) {
    (0..times).for_each(|_| candidates.read(Lbn(lbn), false));
}

/// Four reads for each write, and for none as for one.
#[test]
fn a_logical_block_waits_once_it_is_read_often_enough_for_its_writes() {
    let mut candidates = candidates(&[NEVER_HOT]);
    read(&mut candidates, 1, 3);
    assert_eq!(candidates.first(), None, "three reads");
    read(&mut candidates, 1, 1);
    assert_eq!(candidates.first(), Some(Lbn(1)));
    candidates.drop_first();
    assert_eq!(candidates.first(), None, "it waits no more");
    read(&mut candidates, 1, 3);
    assert_eq!(candidates.first(), None, "and is counted anew");
    // Pages 8 and 11 are of logical block 2.
    [8, 11].into_iter().for_each(|lpn| candidates.written(Lpn(lpn)));
    read(&mut candidates, 2, 7);
    assert_eq!(candidates.first(), None, "seven reads and two writes");
    read(&mut candidates, 2, 1);
    assert_eq!(candidates.first(), Some(Lbn(2)));
    read(&mut candidates, 2, 5);
    candidates.drop_first();
    assert_eq!(candidates.first(), None, "it waited once");
}

#[test]
fn what_is_block_mapped_does_not_wait() {
    let mut candidates = candidates(&[NEVER_HOT]);
    (0..9).for_each(|_| candidates.read(Lbn(1), true));
    assert_eq!(candidates.first(), None);
}

/// Of seventy that are worth it 64 wait, the first that were.
#[test]
fn so_many_logical_blocks_wait_at_most() {
    let mut candidates = candidates(&[NEVER_HOT]);
    (0..70).for_each(|lbn| read(&mut candidates, lbn, 4));
    let waited = std::iter::from_fn(|| {
        let first = candidates.first();
        candidates.drop_first();
        first
    });
    assert_eq!(Vec::from_iter(waited), Vec::from_iter((0..64).map(Lbn)));
}

/// Since it began to wait it can have been written too often, or one of its pages have become hot.
#[test]
fn what_waited_is_looked_at_again() {
    let mut cold = candidates(&[NEVER_HOT]);
    read(&mut cold, 1, 8);
    cold.written(Lpn(4));
    cold.written(Lpn(4));
    assert!(cold.is_worth_it(Lbn(1)), "eight reads, two writes");
    cold.written(Lpn(4));
    assert!(!cold.is_worth_it(Lbn(1)), "eight reads, three writes");

    // The newest filter weighs 2: one write makes a page hot.
    let mut hot = candidates(&[("cftl.hot_thr", "2")]);
    read(&mut hot, 1, 8);
    assert!(hot.is_worth_it(Lbn(1)) && !hot.is_hot(Lbn(1)));
    hot.written(Lpn(7));
    assert!(hot.is_hot(Lbn(1)) && !hot.is_worth_it(Lbn(1)), "its last page");
    assert!(!hot.is_hot(Lbn(2)));
}

/// After ten writes, whose ever, all is counted anew.
#[test]
fn reads_are_counted_in_a_window_of_writes() {
    let mut candidates = candidates(&[NEVER_HOT, ("cftl.window_writes", "10")]);
    for writes in [9, 10] {
        read(&mut candidates, 1, 2);
        (0..writes).for_each(|_| candidates.written(Lpn(400)));
        read(&mut candidates, 1, 2);
        let expected = (writes == 9).then_some(Lbn(1));
        assert_eq!(candidates.first(), expected, "{writes} writes in between");
        candidates.drop_first();
        // The tenth write of the first window.
        candidates.written(Lpn(400));
    }
}

#[test]
fn conversions_are_behind_collection_in_gaps_both_or_neither() {
    use ConvertWhen::{Both, Gc, Idle, Off};
    let told = |when: ConvertWhen| (when.behind_collection(), when.in_gaps());
    let expected = [(true, true), (true, false), (false, true), (false, false)];
    assert_eq!([Both, Gc, Idle, Off].map(told), expected);
}

fn write(cftl: &mut Cftl, board: &mut Board, lpn: u32) {
    let _ = cftl.write(board, &page(lpn), When::START).expect("nothing fails");
}

/// Four pages lie in a block, each at its place. Only when the map on flash says so too can the
/// block table answer for them: what it holds leaves memory without being written.
#[test]
fn a_logical_block_is_not_block_mapped_while_memory_alone_knows_where_it_is() {
    let mut config = Config::default();
    let pairs = [
        ("device.pages_per_block", "4"),
        ("device.page_bytes", "512"),
        ("device.blocks_per_plane", "150"),
    ];
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    config.device.set_capacity(100 * 4 * 512, 150);
    let mut board = Board::new(&config, 1, Cftl::payload_pages(&config));
    let mut cftl = Cftl::format(&mut board, &config, 1).expect("it is large enough");
    (0..4).for_each(|lpn| write(&mut cftl, &mut board, lpn));
    let block = cftl.block_of(&board, Lbn(0));
    assert!(block.is_some(), "the first block that was written");
    assert_eq!(cftl.known_block(&board, Lbn(0)), None);
    let _ = cftl.clean_map(&mut board, When::START).expect("nothing fails");
    assert_eq!(cftl.known_block(&board, Lbn(0)), block);
    // A page of it is written elsewhere, and that is known to both.
    write(&mut cftl, &mut board, 2);
    let _ = cftl.clean_map(&mut board, When::START).expect("nothing fails");
    assert_eq!(cftl.known_block(&board, Lbn(0)), None);
}

/// DFTL's pages, and a pad.
#[test]
fn a_pad_is_alive_beside_the_pages_of_the_map() {
    let config = Config::default();
    assert_eq!(Cftl::payload_pages(&config), Needs::plain(&config).payload_pages(&config) + 1);
}
