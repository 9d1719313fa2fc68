use super::over_pages::OverPages;
use super::*;
use crate::treeftl::Latte;
use crate::treeftl::settings::TreeMap;
use ftlab_flash::settings::Groups as _;
use ftlab_ftl::scheme::Scheme;

/// A map of blocks above so many logical blocks; pages of 512 bytes.
fn config(logical_blocks: u64, pairs: &[(&str, &str)]) -> Config<()> {
    let mut config = Config::default();
    config.own.treeftl.map = TreeMap::Block;
    for (key, value) in [("device.page_bytes", "512")].iter().chain(pairs) {
        config.set(key, value).expect("legal");
    }
    let block = u64::from(config.device.pages_per_block) * config.device.page_bytes.0;
    config.device.set_capacity(logical_blocks * block, 0);
    let least = <Tree<Latte>>::minimum_blocks(&config);
    config.device.set_capacity(logical_blocks * block, least);
    config
}

/// Of 300 logical blocks a page of 128 entries names 128: three map pages. Of 1200 pages one record
/// tells which are trimmed. Each may be there twice, while its successor is written.
#[test]
fn records_and_map_pages_are_alive_twice() {
    let config = config(300, &[("device.pages_per_block", "4")]);
    assert_eq!(<Tree<Latte>>::payload_pages(&config), 2 * (3 + 1));
}

/// A page of 4 KiB names 1024 logical blocks: with 64 pages each 2 bytes still number the pages of
/// a group, with one more they do not. A time takes 4 bytes; 100 logical blocks are one group.
#[test]
fn an_offset_takes_two_bytes_up_to_65536_pages_a_group() {
    for (pages, bytes) in [("64", 6), ("65", 8)] {
        let pairs = [("device.page_bytes", "4096"), ("device.pages_per_block", pages)];
        assert_eq!(latte_bytes(&config(100, &pairs)), bytes, "{pages}");
    }
}

/// A tree of so many frames over eight pages of one translation page, which were all written.
fn eight_pages(frames: u64) -> (Board, Tree<Latte>) {
    let mut config = Config::default();
    let ram = (frames * 512).to_string();
    for (key, value) in [("device.page_bytes", "512"), ("device.ram_bytes", &ram)] {
        config.set(key, value).expect("legal");
    }
    config.device.set_capacity(8 * 512, 0);
    let least = <Tree<Latte>>::minimum_blocks(&config);
    config.device.set_capacity(8 * 512, least);
    let mut board = Board::new(&config, 1, <Tree<Latte>>::payload_pages(&config));
    let mut tree = <Tree<Latte>>::format(&mut board, &config, 1).expect("it is large enough");
    (0..8).for_each(|lpn| write(&mut board, &mut tree, lpn));
    (board, tree)
}

/// Version n + 1 of page n.
fn write(board: &mut Board, tree: &mut Tree<Latte>, lpn: u32) {
    let (lpn, data) = (Lpn(lpn), Tag(lpn + 1));
    let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 1, hint: None };
    let io = PageIo { lpn, sectors: u64::MAX, cause: Cause::Host, data, request };
    let _ = tree.write(board, &io, When::START).expect("nothing fails");
}

fn over_pages(tree: &mut Tree<Latte>) -> &mut PageTree<Latte, OverPages> {
    match tree {
        Tree::Pages(tree) => tree,
        Tree::Blocks(_) => panic!("the map is one of pages"),
    }
}

/// As after a recovery, which may find more than there is room for.
#[test]
fn a_page_that_comes_finds_room_however_many_must_leave() {
    for frames in 2..=6 {
        let (mut board, mut tree) = eight_pages(6);
        assert_eq!(over_pages(&mut tree).used(), 6);
        over_pages(&mut tree).frames = frames;
        write(&mut board, &mut tree, 0);
        assert_eq!(over_pages(&mut tree).used(), frames);
        tree.self_check(&board).expect("sound");
    }
}

/// Collection moved page 0 and could not write its translation page: where the page is memory keeps.
#[test]
fn a_page_that_went_astray_is_read_and_superseded_where_it_is() {
    let (mut board, mut tree) = eight_pages(2);
    let _ = tree.clean_map(&mut board, When::START).expect("nothing fails");
    let tree = over_pages(&mut tree);
    let base = &mut tree.base;
    let (map, lpn) = (base.frames().maps.find(0).expect("it is in a frame"), Lpn(0));
    let on_flash = base.current(&board, lpn);
    let search = |base: &OverPages, board: &mut Board| {
        let found = base.search_at(board, (map, 0), lpn, When::START).expect("nothing fails");
        found.1
    };
    assert_eq!(search(base, &mut board), on_flash);
    let other = base.current(&board, Lpn(1)).expect("it has left");
    base.map.translation.went_astray(&mut board, lpn, other);
    assert_eq!(search(base, &mut board), Some(other));
}

/// Of eight pages with a frame for one of them and one for the map page of all: what is in a frame is
/// not looked for on flash, what has left is where it was written.
#[test]
fn whoever_looks_ahead_is_told_of_pages_that_are_not_in_a_frame() {
    let (mut board, mut tree) = eight_pages(2);
    let ahead =
        |tree: &Tree<Latte>, board: &Board| [0, 6, 7].map(|lpn| tree.find_ahead(board, Lpn(lpn)));
    assert_eq!(ahead(&tree, &board), [None; 3], "flash does not say yet where they are");
    let _ = tree.clean_map(&mut board, When::START).expect("nothing fails");
    let [first, second, last] = ahead(&tree, &board);
    assert_eq!(
        [first, second].map(|page| page.map(|ppn| board.nand().state().tag(ppn))),
        [1, 7].map(|tag| Some(Tag(tag)))
    );
    assert_eq!(last, None, "it is in a frame");
}

/// Map pages of blocks are written only when they leave: nothing is waited for but what was before.
#[test]
fn a_clean_map_over_blocks_is_there_at_once() {
    let config = config(100, &[("device.pages_per_block", "4")]);
    let mut board = Board::new(&config, 1, <Tree<Latte>>::payload_pages(&config));
    let mut tree = <Tree<Latte>>::format(&mut board, &config, 1).expect("it is large enough");
    let (before, _) = board.read_unwritten(Lpn(0), When::START).expect("nothing fails");
    assert_ne!(before, When::START);
    assert_eq!(tree.clean_map(&mut board, before).expect("nothing fails"), before);
}
