//! What a buffer says of itself, whatever is below it.

use super::*;
use crate::settings::SsdSettings;
use ftlab_flash::settings::Groups as _;

/// Four empty frames for pages of four sectors.
fn front(pairs: &[(&str, &str)]) -> Front {
    let mut config = SsdSettings::default();
    let four = [
        ("device.blocks_per_plane", "64"),
        ("device.page_bytes", "2048"),
        ("buffer.name", "lru"),
        ("buffer.bytes", "8192"),
    ];
    for (key, value) in four.iter().chain(pairs) {
        config.set(key, value).expect("legal");
    }
    let board = Board::new(&config.shared, 1, 8);
    Front::new(&board, &config.buffer, &config.buffers, false).expect("a buffer")
}

#[test]
fn flash_is_needed_for_the_sectors_that_are_not_here() {
    let mut front = front(&[]);
    assert!(!front.needs_flash(Lpn(3)), "nothing of it is here: whoever asks, asks the scheme");
    let (slot, _) = front.pages.enter(Lpn(3));
    front.pages.write(slot, Tag(1), 0b0110, When::START);
    assert!(front.needs_flash(Lpn(3)), "for the first sector and the last");
    front.pages.write(slot, Tag(2), 0b1001, When::START);
    assert!(!front.needs_flash(Lpn(3)), "all four are here");
    assert!(!front.needs_flash(Lpn(4)));
}

#[test]
fn gaps_are_used_where_pages_are_to_leave_in_them() {
    let works = |idle_flush| front(&[("buffer.idle_flush", idle_flush)]).works_in_gaps();
    assert_eq!([works("true"), works("false")], [true, false]);
}

/// Three pages of four sectors are twelve, whatever of them is here, and whoever fills the rest.
#[test]
fn pages_that_leave_together_are_a_request_of_whole_pages() {
    let front = front(&[]);
    let (first_lpn, pages) = (Lpn(4), 3);
    let whole = RequestShape { first_lpn, pages, index: 1, sectors: 12, hint: None };
    assert_eq!(front.shape(first_lpn, pages, 1), whole);
    let io = front.filler((first_lpn, pages), 1, Tag(9), 0b0110);
    assert_eq!((io.request, io.lpn, io.data), (whole, Lpn(5), Tag(9)));
    assert_eq!((io.sectors, io.cause), (0b0110, Cause::Pad), "it holds what flash held");
}
