use super::*;
use crate::for_tests::page;
use ftlab_flash::settings::Groups as _;

/// 40 logical blocks of four pages, four to a superblock. Logical blocks 0 and 1 are written.
fn device() -> (Board, Superblock) {
    let mut config = Config::default();
    let pairs = [
        ("device.pages_per_block", "4"),
        ("device.page_bytes", "512"),
        ("device.over_provisioning", "0.3"),
        ("superblock.S", "4"),
        ("superblock.pool_pct", "20"),
    ];
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    config.device.set_capacity(40 * 4 * 512, 0);
    let mut board = Board::new(&config, 1, Superblock::payload_pages(&config));
    let mut scheme = Superblock::format(&mut board, &config, 1).expect("it is large enough");
    write(&mut scheme, &mut board, 0..8);
    (board, scheme)
}

fn write(scheme: &mut Superblock, board: &mut Board, lpns: std::ops::Range<u32>) {
    for lpn in lpns {
        let _ = scheme.write(board, &page(lpn), When::START).expect("nothing fails");
    }
}

/// Free blocks are used up but for so many.
fn leave(scheme: &mut Superblock, board: &Board, free: u32) {
    while scheme.supply.free_blocks() > free {
        let taken = scheme.supply.take(board, PlaneId(0), Need::Merge, When::START);
        let _ = taken.expect("there is one");
    }
}

/// What a collection may need are two blocks. Where no superblock has an update block, there is
/// nothing to collect: a superblock that lacks a data block gets one of these.
#[test]
fn the_last_blocks_are_for_data_while_nothing_can_be_collected() {
    let (mut board, mut scheme) = device();
    leave(&mut scheme, &board, GATHERED);
    let _ = scheme.make_room(&mut board, Sbn(1), When::START).expect("it has room");
    assert_eq!((scheme.table.len(Sbn(1)), scheme.supply.free_blocks()), (1, GATHERED - 1));
}

/// Superblock 0 has four data blocks and, for logical block 0, an update block instead of one in
/// which nothing is valid: that is given back first.
#[test]
fn the_last_blocks_are_not_given_away_while_something_can_be_collected() {
    let (mut board, mut scheme) = device();
    write(&mut scheme, &mut board, 8..16);
    write(&mut scheme, &mut board, 0..4);
    assert_eq!(scheme.table.in_pool(), 1);
    leave(&mut scheme, &board, GATHERED);
    let _ = scheme.make_room(&mut board, Sbn(1), When::START).expect("it has room");
    assert_eq!((scheme.table.len(Sbn(1)), scheme.supply.free_blocks()), (0, GATHERED + 1));
}

/// Half of each block was trimmed: the rest, all cold, goes to one block, if there is one.
#[test]
fn pages_are_gathered_apart_only_where_there_are_blocks_for_them() {
    for free in [1, 0] {
        let (mut board, mut scheme) = device();
        for lpn in [0, 1, 4, 5] {
            let _ = scheme.trim(&mut board, &page(lpn), When::START).expect("nothing fails");
        }
        leave(&mut scheme, &board, free);
        assert_eq!(scheme.choose_apart(&board, Sbn(0)), free == 1);
    }
}
