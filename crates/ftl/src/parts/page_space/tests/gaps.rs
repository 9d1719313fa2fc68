//! What a gap does with the victim that gaps have begun with, and what levelling finds room for.

use super::*;

const DATA: Place = (FIRST, Stream::Data);
const MOVED: Place = (FIRST, Stream::MovedData);
const REFRESH: (&str, &str) = ("refresh.reads", "1000");

fn gap(rig: &mut Rig) -> Result<Option<When>, Fault> {
    let Rig { board, space, owner, .. } = rig;
    space.collect_idle(board, owner, When::START)
}

/// Two pages fit what is open, but not one of them and then another behind what the host may write.
#[test]
fn what_fits_as_a_whole_alone_moves_where_data_is_refreshed() {
    for refreshes in [false, true] {
        let pairs = [("gc.idle_pages", "1"), REFRESH];
        let mut rig = Rig::new(&pairs[..1 + usize::from(refreshes)], 8, 2);
        let victim = rig.block(DATA, 2);
        let _ = (rig.write(MOVED, 0), rig.write(MOVED, 1));
        rig.begin(victim, Cause::Gc);
        rig.keep_free(FIRST, 0);
        let step = gap(&mut rig).expect("nothing fails");
        assert_eq!((step.is_some(), rig.holds(victim)), (refreshes, !refreshes));
    }
}

/// The rest of a victim that fits in no way waits; a step is what was collected for it, and only
/// that.
#[test]
fn where_a_begun_victim_has_no_room_a_gap_collects_another_if_blocks_are_short() {
    for (free, collects) in [(2, false), (1, true)] {
        let mut rig = Rig::new(&[("gc.idle_pages", "1"), REFRESH], 8, 2);
        let (begun, other) = (rig.block(DATA, 2), rig.block(DATA, 0));
        rig.owner.most = Some(100);
        rig.owner.map_writes.insert(begun, 100);
        rig.begin(begun, Cause::Refresh);
        rig.keep_free(FIRST, free);
        let step = gap(&mut rig).expect("nothing fails");
        assert_eq!(step.is_some(), collects, "{free} free");
        assert_eq!((rig.holds(begun), rig.holds(other)), (true, !collects), "{free} free");
    }
}

/// The program of the only page fails, and no block is left for it: nobody has asked for a refresh,
/// but a victim of collection is needed.
#[test]
fn a_worn_out_device_goes_on_without_a_refresh_and_not_without_a_victim() {
    for (cause, goes_on) in [(Cause::Refresh, true), (Cause::Gc, false)] {
        let mut rig = Rig::new(&[("gc.idle_pages", "1")], 8, 2);
        let (first, begun) = (rig.block(DATA, 0), rig.block(DATA, 1));
        rig.board.nand_mut().faults_mut().fail_erase_after(0);
        let _ = rig.collect(first).expect("a block is out of use");
        let _ = rig.write(MOVED, 0);
        rig.begin(begun, cause);
        rig.keep_free(FIRST, 0);
        rig.board.nand_mut().faults_mut().fail_program_after(0);
        let step = gap(&mut rig);
        assert_eq!(step == Ok(None), goes_on, "{step:?}");
        assert_eq!(matches!(step, Err(Fault::WornOut { .. })), !goes_on, "{step:?}");
    }
}

/// Whether a block of old data moves to a worn one, of so many free; its owner writes so many pages
/// of the map, which has no block open.
fn levels(free: u32, map_writes: u32) -> bool {
    let mut rig = Rig::new(&[("wear.policy", "static"), ("wear.spread", "4")], 8, 2);
    let old = rig.block(DATA, 4);
    rig.owner.map_writes.insert(old, map_writes);
    rig.keep_free(FIRST, 0);
    (1..=free).for_each(|block| rig.space.planes[0].free.put_worn(BlockId(block), 9));
    let levelling = rig.space.levelling.as_mut().expect("static");
    (0..8).for_each(|_| levelling.erased(FIRST, 9));
    let Rig { board, space, owner, .. } = &mut rig;
    let _ = space.level(board, owner, FIRST, When::START).expect("nothing fails");
    !rig.holds(old)
}

#[test]
fn levelling_leaves_a_free_block_beside_the_worn_one_and_those_of_the_map() {
    assert_eq!([(1, 0), (2, 0)].map(|(free, writes)| levels(free, writes)), [false, true]);
    assert_eq!([(2, 1), (3, 1)].map(|(free, writes)| levels(free, writes)), [false, true]);
}
