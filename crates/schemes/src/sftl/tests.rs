use super::*;
use crate::for_tests::page;
use ftlab_flash::board::nand::fault::CutOutcome;
use ftlab_flash::board::when::Moment;
use ftlab_flash::settings::Groups as _;

/// So many logical blocks of four pages; a translation page has 128 entries.
fn config(logical_blocks: u64, pairs: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    let shape = [("device.pages_per_block", "4"), ("device.page_bytes", "512")];
    for (key, value) in shape.iter().chain(pairs) {
        config.set(key, value).expect("legal");
    }
    config.device.set_capacity(logical_blocks * 4 * 512, logical_blocks + 50);
    config
}

/// 100 logical blocks.
fn device(pairs: &[(&str, &str)]) -> (Board, Sftl) {
    let config = config(100, pairs);
    let mut board = Board::new(&config, 1, Sftl::payload_pages(&config));
    let sftl = Sftl::format(&mut board, &config, 1).expect("it is large enough");
    (board, sftl)
}

/// A cut may come between a page's growth and what makes room for it. The first request behind it
/// makes room, though it finds its own page in memory.
#[test]
fn what_outgrew_memory_makes_room_before_a_read() {
    let (mut board, mut sftl) = device(&[("sftl.dirty_buf_share", "0")]);
    for lpn in [0, 128, 256] {
        let _ = sftl.read(&mut board, &page(lpn), When::START).expect("nothing fails");
    }
    let pages = |sftl: &Sftl| sftl.base.map.cache.pages.pages().len();
    assert_eq!(pages(&sftl), 3);
    sftl.sizes.page_bytes = sftl.base.map.cache.pages.bytes() / 3;
    sftl.outgrown = true;
    let _ = sftl.read(&mut board, &page(256), When::START).expect("nothing fails");
    assert_eq!((pages(&sftl), sftl.outgrown), (1, false), "all alike, and room for one");
}

/// A full buffer writes entries back, and what that collects may make cached pages grow: if a fault
/// ends it, nobody has made room for them yet.
#[test]
fn a_fault_while_the_buffer_makes_room_leaves_pages_that_may_have_grown() {
    let (mut board, mut sftl) = device(&[("sftl.cache_bytes", "1KiB")]);
    let mut lpns = 0..;
    let mut write = |sftl: &mut Sftl, board: &mut Board| {
        let lpn = lpns.next().expect("there is another");
        sftl.write(board, &page(lpn), When::START)
    };
    while !sftl.base.map.cache.buffer.is_full() {
        let _ = write(&mut sftl, &mut board).expect("nothing fails");
    }
    assert!(!sftl.outgrown);
    board.nand_mut().faults_mut().cut_power_after(0, CutOutcome::Undone);
    assert!(matches!(write(&mut sftl, &mut board), Err(Fault::PowerCut)));
    assert!(sftl.outgrown);
}

/// Of a translation page that is cached, and of another; of entries that nobody has looked up.
#[test]
fn the_cache_knows_when_pages_were_there_and_how_many_entries_are_unresolved() {
    let (mut board, mut sftl) = device(&[]);
    let (loaded, _) = board.read_unwritten(Lpn(0), When::START).expect("nothing fails");
    assert_ne!(loaded, When::START);
    let map = &mut sftl.base.map;
    let _ = map.cache.pages.insert(&board, &map.translation, 1, loaded);
    assert_eq!(Moment::from(map.cache.ready(Lpn(255))), Moment::from(loaded));
    assert_eq!(map.cache.ready(Lpn(256)), When::START, "of the next one");
    for unresolved in 0..3 {
        assert_eq!(map.cache.unresolved(), unresolved);
        map.cache.buffer.insert_unresolved(Lpn(unresolved), loaded);
    }
}

/// The only translation page there is, as it is on flash, fits exactly: after a power cut it is
/// where it was, and nothing need be done for it.
#[test]
fn what_just_fits_has_not_outgrown_memory() {
    let pairs = [
        ("device.ram_nonvolatile", "true"),
        ("sftl.size_formula", "raw"),
        ("sftl.dirty_buf_share", "0"),
    ];
    let config = config(30, &pairs);
    let mut board = Board::new(&config, 1, Sftl::payload_pages(&config));
    let mut sftl = Sftl::format(&mut board, &config, 1).expect("it is large enough");
    let _ = sftl.read(&mut board, &page(0), When::START).expect("nothing fails");
    assert_eq!(sftl.base.map.cache.pages.bytes(), sftl.sizes.page_bytes);
    board.nand_mut().cut_power();
    board.power_on();
    let survivor = sftl.power_off();
    let recovered = Sftl::recover(&mut board, &config, 1, survivor, When::START);
    let (sftl, _) = recovered.expect("it recovers");
    assert_eq!((sftl.base.map.cache.pages.bytes(), sftl.outgrown), (512, false));
}
