//! Pages of two sectors in three frames: what a frame holds after what was put into it.

use super::*;
use ftlab_flash::settings::Groups as _;

fn data() -> (Board, RamData) {
    let mut config = SharedSettings::default();
    config.set("device.page_bytes", "1024").expect("legal");
    config.device.blocks_per_plane = 64;
    let board = Board::new(&config, 1, 8);
    let data = RamData::new(&board, 3);
    (board, data)
}

fn io(lpn: u32, sectors: u64, tag: Tag) -> PageIo {
    let lpn = Lpn(lpn);
    let request = RequestShape { first_lpn: lpn, pages: 1, index: 0, sectors: 4, hint: None };
    PageIo { lpn, sectors, cause: Cause::Host, data: tag, request }
}

/// A frame with a page, as it was read from flash or empty.
fn framed(data: &mut RamData, board: &mut Board, lpn: u32, read: Option<Tag>) -> Slot {
    let (slot, free) = data.enter(Lpn(lpn), When::START);
    read.map(|tag| data.fill(board, slot, tag, free));
    slot
}

fn held(data: &RamData, slot: Slot) -> (Tag, u64, bool) {
    let Held { tag, sectors, dirty, .. } = *data.pages().get(slot);
    (tag, sectors & 0b11, dirty)
}

#[test]
fn a_frame_covers_the_sectors_that_were_put_into_it() {
    let (mut board, mut data) = data();
    let parts = [0b01, 0b10, 0b11].map(|sectors| io(5, sectors, Tag(8)));
    assert_eq!(parts.map(|io| data.is_partial(&io)), [true, true, false]);
    let slot = framed(&mut data, &mut board, 5, None);
    let _ = data.put(&mut board, slot, &io(5, 0b01, Tag(7)), When::START);
    assert_eq!(held(&data, slot), (Tag(7), 0b01, true));
    assert_eq!(parts.map(|io| data.covers(slot, &io)), [true, false, false]);
    assert_eq!(data.get(&mut board, slot, When::START).1, Tag(7));
    // What is written past the frame takes along what it does not supersede.
    let merged = parts.map(|io| data.merged(slot, &io)).map(|io| (io.sectors, io.data));
    assert_eq!(merged, [(0b01, Tag(8)), (0b11, Tag(8)), (0b11, Tag(8))]);
    data.supersede(slot, Tag(9), When::START);
    assert_eq!(held(&data, slot), (Tag(9), 0b11, false), "flash has the same");
}

/// Errors have the size of a page, in a frame as on flash.
#[test]
fn what_is_put_over_a_part_of_a_lost_page_is_lost() {
    let (mut board, mut data) = data();
    let lost = Some(Tag::UNREADABLE);
    let [part, whole] = [0b01, 0b11].map(|sectors| io(5, sectors, Tag(7)));
    let slots = [5, 6, 7].map(|lpn| framed(&mut data, &mut board, lpn, lost));
    let merged = [part, whole].map(|io| data.merged(slots[0], &io).data);
    assert_eq!(merged, [Tag::UNREADABLE, Tag(7)]);
    let _ = data.put(&mut board, slots[0], &part, When::START);
    let _ = data.put(&mut board, slots[1], &whole, When::START);
    assert_eq!([0, 1].map(|at| held(&data, slots[at]).0), [Tag::UNREADABLE, Tag(7)]);
    let worth = [Tag(0), Tag::UNREADABLE, Tag(3)].map(RamData::is_worth_a_frame);
    assert_eq!(worth, [false, false, true]);
}

#[test]
fn a_part_is_put_over_what_was_read_from_flash() {
    let (mut board, mut data) = data();
    let part = io(5, 0b01, Tag(7));
    let slots = [5, 6].map(|lpn| framed(&mut data, &mut board, lpn, None));
    let old = Some((Tag(4), When::START));
    let _ = data.put_over(&mut board, (slots[0], &part), old, When::START);
    let _ = data.put_over(&mut board, (slots[1], &part), None, When::START);
    let after = slots.map(|slot| held(&data, slot));
    assert_eq!(after, [(Tag(7), 0b11, true), (Tag(7), 0b01, true)]);
}

/// What memory keeps over a power cut is as it was: dirty in part, or as on flash.
#[test]
fn pages_are_restored_as_they_were_and_dirty_ones_are_flushed_upwards() {
    let (mut board, mut data) = data();
    let page =
        |lpn, dirty| Held { lpn: Lpn(lpn), tag: Tag(lpn), sectors: 0b01, dirty, ..Held::default() };
    let pages = [(9, true), (6, false), (4, true)];
    let slots = pages.map(|(lpn, dirty)| data.restore(&page(lpn, dirty)));
    let after = slots.map(|slot| held(&data, slot));
    assert_eq!(after, [(Tag(9), 0b01, true), (Tag(6), 0b11, false), (Tag(4), 0b01, true)]);
    let flushed = data.to_flush();
    assert_eq!(flushed, [slots[2], slots[0]]);
    data.flushed(Vec::with_capacity(100));
    data.leave(&mut board, slots[2], When::START);
    let flushed = data.to_flush();
    assert_eq!(flushed, [slots[0]], "once each");
    assert!(flushed.capacity() >= 100, "in the list that was given back");
}

/// What `device.ram_bytes` says, and a share of the device where it says nothing.
#[test]
fn map_entries_and_pages_share_what_there_is() {
    let mut config = SharedSettings::default();
    assert_eq!(budget(&config), default_ram(&config));
    assert!(budget(&config) >= 32 << 10);
    config.set("device.ram_bytes", "1000").expect("legal");
    assert_eq!(budget(&config), 1000);
}
