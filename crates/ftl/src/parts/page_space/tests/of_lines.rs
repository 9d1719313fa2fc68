//! Lines that move in pieces, that end early, and of which a block fails.

use super::*;

const DATA: Place = (FIRST, Stream::Data);

/// Lines of eight pages.
fn rig(pairs: &[(&str, &str)]) -> Rig {
    let own = [("alloc.unit", "line"), ("gc.separate_frontiers", "false")];
    Rig::new(&[&own[..], pairs].concat(), 10, 2)
}

/// Moves up to so many pages of a line, and erases it behind the last one; to the frontier of data.
fn piece(rig: &mut Rig, line: BlockId, pages: u32) {
    if !rig.space.is_paused(line) {
        rig.space.is_candidate_no_more(rig.board.nand(), line);
    }
    let begun = Paused::new(line, Some(Stream::Data), Cause::Gc);
    let Rig { board, space, owner, .. } = rig;
    let _ = space.go_on(board, owner, (begun, pages), When::START).expect("nothing fails");
}

/// The second line has its pages where the first one had those that are moved already.
#[test]
fn a_line_is_emptied_from_its_front_whatever_piece_of_another_one_has_moved() {
    let mut rig = rig(&[("gc.idle_pages", "1")]);
    let begun = rig.block(DATA, 3);
    let pages: Vec<Ppn> = (0..8).map(|page| rig.write(DATA, page)).collect();
    rig.space.close_full(rig.board.nand(), FIRST);
    pages[6..].iter().for_each(|&page| rig.invalidate(page));
    piece(&mut rig, begun, 1);
    let other = rig.space.unit_of(rig.board.geometry().block_of(pages[0]));
    let _ = rig.collect(other).expect("nothing fails");
    assert_eq!((rig.owner.moved.len(), rig.holds(begun)), (1 + 6, true));
    piece(&mut rig, begun, 2);
    assert_eq!((rig.owner.moved.len(), rig.holds(begun)), (7 + 2, false));
}

/// Its last piece had as many pages as were left, which says nothing of what it holds next.
#[test]
fn a_line_that_moved_in_pieces_begins_at_its_front_when_it_is_used_again() {
    let mut rig = rig(&[("gc.idle_pages", "2")]);
    let line = rig.block(DATA, 2);
    piece(&mut rig, line, 2);
    assert!(!rig.holds(line));
    let again = (0..10).map(|_| rig.block(DATA, 8)).find(|&other| other == line);
    assert_eq!(again, Some(line), "lines are free in the order of their erases");
    rig.space.planes[0].free.put_worn(BlockId(9), 0);
    let _ = rig.collect(line).expect("nothing fails");
    assert_eq!(rig.owner.moved.len(), 2 + 8);
}

#[test]
fn a_block_of_a_line_that_cannot_be_erased_is_a_failure_unless_its_die_has_failed() {
    let mut rig = rig(&[]);
    let line = rig.block(DATA, 0);
    rig.board.nand_mut().faults_mut().fail_erase_after(0);
    let _ = rig.collect(line).expect("its line is shorter");
    assert_eq!(rig.board.meter().events(Event::EraseFailures), 1);
}

/// Stripes of three pages and their parity: a line that is closed behind one page has that covered,
/// one that is closed behind a full stripe has nothing to cover.
#[test]
fn a_line_that_ends_early_has_parity_of_what_its_stripe_holds() {
    for (pages, stripes) in [(1, 1), (3, 1), (4, 2)] {
        let pairs = [("device.planes", "1"), ("device.channels", "4"), ("rain.stripe", "4")];
        let mut rig = rig(&pairs);
        let written: Vec<Ppn> = (0..pages).map(|page| rig.write(DATA, page)).collect();
        let line = rig.space.unit_of(rig.board.geometry().block_of(written[0]));
        rig.space.close_early(&mut rig.board, line, When::START).expect("nothing fails");
        assert_eq!(rig.board.meter().programs(Cause::Parity), stripes, "{pages} pages");
    }
}
