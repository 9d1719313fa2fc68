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
