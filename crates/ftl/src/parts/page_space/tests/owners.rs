//! What owners of pages are asked and told, and what of them has nothing to say.

use super::*;
use ftlab_flash::board::when::Moment;

const DATA: Place = (FIRST, Stream::Data);

/// Who says nothing of what need not be said.
struct Plain(Option<When>);

impl PageOwner for Plain {
    fn map_writes(&mut self, _: &PageSpace, _: &Board, _: BlockId) -> u32 {
        unreachable!("at most a page of the map for each that moves: there is room")
    }

    fn moved(&mut self, _: &mut Board, _: Moved) {}

    fn before_erase(
        &mut self,
        _: &mut PageSpace,
        _: &mut Board,
        after: When,
    ) -> Result<When, Fault> {
        self.0 = Some(after);
        Ok(after)
    }
}

#[test]
fn an_owner_writes_at_most_a_map_page_for_each_that_moves_and_prefers_no_victim() {
    let mut rig = Rig::new(&[], 8, 2);
    let victim = rig.block(DATA, 3);
    let (space, board) = (&mut rig.space, &mut rig.board);
    let mut owner = Plain(None);
    assert_eq!(owner.most_map_writes(space, victim, 3), 3);
    assert_eq!(owner.weight(space, board, victim), None);
    let program = (&io(0), PageKind::Data, None);
    let (_, done) = space.write(board, DATA, program, When::START).expect("there is room");
    assert_eq!(owner.part_moved(space, board, done), Ok(done));
    assert_eq!(owner.0, Some(done), "what is written of a part is what is written before an erase");
}

#[test]
fn an_owner_hears_in_which_plane_a_victim_was_emptied() {
    let mut rig = Rig::new(&[], 8, 2);
    let victim = rig.block((SECOND, Stream::Data), 1);
    assert_eq!(rig.space.victims_plane(&rig.board), None);
    let _ = rig.collect(victim).expect("nothing fails");
    assert_eq!(rig.owner.emptied, Some(SECOND));
    assert_eq!(rig.space.victims_plane(&rig.board), None);
}

/// What was written before an erase is to be covered by parity, though no page was copied: noted
/// until that has happened.
#[test]
fn what_an_owner_writes_before_an_erase_is_noted() {
    for (before, writes, noted) in
        [(false, false, false), (false, true, true), (true, false, true), (true, true, true)]
    {
        let mut rig = Rig::new(&[], 8, 2);
        let victim = rig.block(DATA, 1);
        rig.owner.writes = writes;
        rig.space.wrote_for_erase = before;
        let Rig { board, space, owner, .. } = &mut rig;
        let what = (victim, Some(Stream::MovedData), 4);
        let moved = space.move_some(board, owner, what, Cause::Gc, When::START);
        assert_eq!(moved.expect("nothing fails").0, 1);
        assert_eq!(rig.space.wrote_for_erase, noted, "{before} {writes}");
    }
}

/// The page at place 3 is copied to an odd place, past one at 2; what memory has of it is written
/// at 2, since it is no copy.
#[test]
fn only_what_is_copied_back_passes_a_page_over() {
    let pairs = [
        ("gc.skip_for_parity", "true"),
        ("timing.copyback", "true"),
        ("timing.copyback_same_parity", "true"),
    ];
    let newer = Newer { tag: Tag(2), sectors: 1, ready: Moment::START };
    for (newer, place) in [(None, 3), (Some(newer), 2)] {
        let mut rig = Rig::new(&pairs, 8, 2);
        let victim = rig.block(DATA, 1);
        let _ =
            (rig.write((FIRST, Stream::MovedData), 0), rig.write((FIRST, Stream::MovedData), 1));
        rig.owner.newer = newer;
        let _ = rig.collect(victim).expect("nothing fails");
        assert_eq!(rig.board.geometry().offset_of(rig.owner.moved[0].new), place);
        assert_eq!(rig.board.meter().events(Event::SkippedPages), u64::from(place - 2));
    }
}
