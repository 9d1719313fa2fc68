use super::*;
use ftlab_flash::settings::Groups as _;

/// Of 160 blocks in all: at first as many logical blocks may be page-mapped as there are blocks to
/// spare, beside data, those of every plane that hold none (four below which it collects, a
/// frontier for data, one for moved data and one for records, and one more) and two clean ones.
#[test]
fn the_page_mapped_area_begins_as_large_as_the_spare_blocks() {
    for (planes, blocks, spare) in [("1", "160", 160 - 100 - 10), ("4", "40", 160 - 100 - 40)] {
        let mut config = Config::default();
        let pairs = [
            ("device.pages_per_block", "4"),
            ("device.planes", planes),
            ("device.page_bytes", "512"),
        ];
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        config.device.set_capacity(100 * 4 * 512, 0);
        config.set("device.blocks_per_plane", blocks).expect("legal");
        let mut board = Board::new(&config, 1, Janus::payload_pages(&config));
        let janus = Janus::format(&mut board, &config, 1).expect("it is large enough");
        assert_eq!(janus.boundary.most(), spare, "{planes} planes");
    }
}

/// The map is in memory, and nothing of it is written behind a collection: what waits for that
/// waits for the copies alone.
#[test]
fn the_map_settles_when_the_copies_are_done() {
    let config = Config::default();
    let mut board = Board::new(&config, 1, 0);
    let (copied, _) = board.read_unwritten(Lpn(0), When::START).expect("nothing fails");
    assert_ne!(copied, When::START);
    assert_eq!(Index(Vec::new()).settle(&mut board, copied), copied);
}

/// The pages of this device are one segment: its record and the one that replaces it, and a pad.
#[test]
fn a_pad_is_alive_beside_the_records_of_trims() {
    let mut config = Config::default();
    config.set("device.page_bytes", "512").expect("legal");
    config.device.set_capacity(1000 * 512, 0);
    assert_eq!(Janus::payload_pages(&config), 2 + 1);
}
