use super::*;
use crate::parts::log_bench_tests::Bench;
use ftlab_flash::units::Lpn;

fn write(it: &mut Bench, area: &mut SequentialArea, lpns: std::ops::Range<u32>) -> Slot {
    for lpn in lpns.clone() {
        let io = it.host.write(lpn);
        let (board, engine) = (&mut it.board, &mut it.engine);
        let done = match area.of(Lbn(lpn / 4)) {
            None => area.open(board, engine, &io, When::START),
            Some(place) => area.append(place, board, engine, &io, When::START),
        };
        assert!(done.is_ok());
    }
    area.of(Lbn(lpns.start / 4)).expect("opened above")
}

/// In the order of their last writes: one to switch, one to merge in full (page 4 is newer
/// elsewhere), one to complete.
#[test]
fn the_cheapest_is_merged_or_the_oldest_and_a_switch_last_where_the_area_is_to_shrink() {
    let mut it = Bench::new(&[]);
    let mut area = SequentialArea::new(it.board.geometry(), 3, 4);
    assert_eq!((area.places(), SequentialArea::ram_bytes(5)), (20, 60));
    let [switch, full, partial] = [0..4, 4..6, 8..9].map(|lpns| write(&mut it, &mut area, lpns));
    let _ = it.log_block(&[4]);
    use SequentialVictim::{Cheapest, Lru};
    for (rule, shrinking, chosen) in [
        (Lru, false, switch),
        (Lru, true, full),
        (Cheapest, false, switch),
        (Cheapest, true, partial),
    ] {
        let (found, _) = area.choose(&mut it.board, &it.engine, (rule, shrinking), When::START);
        assert_eq!(found, chosen, "{rule:?}, shrinking: {shrinking}");
    }
}

#[test]
fn a_gap_of_a_stream_is_filled_and_its_block_is_the_one_written_last() {
    let mut it = Bench::new(&[]);
    let mut area = SequentialArea::new(it.board.geometry(), 3, 4);
    it.in_place(0..4);
    let [gap, other] = [0..1, 4..5].map(|lpns| write(&mut it, &mut area, lpns));
    let io = it.host.write(3);
    let done = area.append_padded(gap, &mut it.board, &mut it.engine, &io, When::START);
    assert!(done.is_ok());
    assert_eq!(area.open_logs().map(|(place, _)| place).collect::<Vec<_>>(), [other, gap]);
    let block = area.log(gap).open_log().expect("open").block;
    assert_eq!((it.valid_pages(block), it.engine.logs.get(Lpn(2)).is_some()), (4, true));
    it.check(2);
}
