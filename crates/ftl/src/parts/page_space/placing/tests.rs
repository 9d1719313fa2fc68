//! The clock of host pages, what is told by it, and who lends a page to whom.

use super::super::tests::{FIRST, Rig, io};
use super::*;
use crate::parts::placement::Regrouped;
use crate::parts::placement::midas::{Groups, Midas};
use ftlab_flash::meter::Level;

impl Placing {
    /// Groups come into force.
    pub(in crate::parts::page_space) fn divide(
        &mut self,
        groups: impl FnOnce(&Groups) -> Groups,
        how: Regrouped,
    ) {
        let groups = groups(self.groups().expect("midas has groups"));
        self.midas().divide(groups, how);
    }

    pub(in crate::parts::page_space) fn midas(&mut self) -> &mut Midas {
        let Placement::Midas(midas) = &mut self.policy else { unreachable!("midas has groups") };
        midas
    }
}

/// Four classes, which hints of the host name.
fn rig(pairs: &[(&str, &str)]) -> Rig {
    let own = [
        ("gc.placement", "hint"),
        ("placement.handles", "4"),
        ("placement.isolation", "persistently"),
        ("gc.separate_frontiers", "false"),
    ];
    Rig::new(&[&own[..], pairs].concat(), 12, 2)
}

fn host(rig: &mut Rig, page: u32) {
    let stream = rig.space.host_stream(&mut rig.board, &io(page));
    let _ = rig.write((FIRST, stream), page);
}

fn placing(rig: &Rig) -> &Placing {
    rig.space.placing.as_ref().expect("hints")
}

#[test]
fn a_page_that_has_no_version_is_not_trimmed() {
    let mut rig = rig(&[]);
    [3, 5, 5].into_iter().for_each(|page| host(&mut rig, page));
    let mut living = vec![placing(&rig).living];
    for page in [7, 3, 3, 5] {
        rig.space.trimmed(Lpn(page));
        living.push(placing(&rig).living);
    }
    assert_eq!(living, [2, 2, 1, 1, 0]);
}

/// The fourth page of the host fills the block, and three follow. Of a block that was full before a
/// power cut nobody knows when.
#[test]
fn the_age_of_a_block_is_what_the_host_wrote_since_it_was_full() {
    let mut rig = rig(&[("gc.victim", "cost_benefit_host")]);
    (0..4).for_each(|page| host(&mut rig, page));
    rig.space.close_full(rig.board.nand(), FIRST);
    (4..7).for_each(|page| host(&mut rig, page));
    assert_eq!(placing(&rig).host_age(BlockId(0)), 3);
    assert_eq!(placing(&rig).host_age(BlockId(9)), 8);
}

/// It was opened for the first of seven pages.
#[test]
fn a_victim_has_lived_for_what_the_host_wrote_since_it_was_opened() {
    let mut rig = rig(&[]);
    (0..4).for_each(|page| host(&mut rig, page));
    rig.space.close_full(rig.board.nand(), FIRST);
    (4..7).for_each(|page| host(&mut rig, page));
    let _ = rig.collect(BlockId(0)).expect("nothing fails");
    let counts = rig.board.meter().classes()[0];
    assert_eq!((counts.timed_victims, counts.lifespans), (1, 6));
}

#[test]
fn down_to_the_last_free_block_the_nearest_class_with_room_lends_a_page() {
    let mut rig = rig(&[]);
    let place = |class| (FIRST, Stream::of_class(class));
    let fill = |rig: &mut Rig, class, pages| {
        (0..pages).for_each(|page| {
            let _ = rig.write(place(class), page);
        })
    };
    fill(&mut rig, 0, 4);
    fill(&mut rig, 3, 2);
    let lender = |rig: &mut Rig, class| rig.space.lender(&mut rig.board, place(class)).class();
    rig.keep_free(FIRST, 2);
    assert_eq!([0, 1, 2].map(|class| lender(&mut rig, class)), [Some(0), Some(1), Some(2)]);
    rig.keep_free(FIRST, 1);
    // The block of class 0 is nearer to class 1, and full.
    assert_eq!([0, 1, 2, 3].map(|class| lender(&mut rig, class)), [Some(3); 4]);
    assert_eq!(rig.board.meter().events(Event::ClassesBorrowed), 3, "class 3 has a page itself");
    fill(&mut rig, 3, 2);
    assert_eq!([1, 3].map(|class| lender(&mut rig, class)), [Some(1), Some(3)], "nobody has one");
}

/// Class 0 has two pages left, class 3 one.
#[test]
fn moved_pages_open_a_block_behind_what_all_open_ones_have_left() {
    let mut rig = rig(&[]);
    for (class, pages) in [(0, 2), (3, 3)] {
        (0..pages).for_each(|page| {
            let _ = rig.write((FIRST, Stream::of_class(class)), page);
        });
    }
    let opens = [0, 3, 4, 7, 8].map(|pages| rig.space.opens_moved(FIRST, pages));
    assert_eq!(opens, [0, 0, 1, 1, 2]);
}

/// Queues tell the policy which class a block is of now, and which went on as it was.
#[test]
fn a_policy_with_groups_hears_what_its_queues_do() {
    let mut rig = Rig::new(&[("gc.placement", "midas"), ("gc.separate_frontiers", "false")], 12, 2);
    let placing = rig.space.placing.as_mut().expect("midas");
    placing.policy.opened(BlockId(3), 0);
    placing.policy.closed(BlockId(3));
    assert_eq!(placing.midas().hot_blocks(), 1);
    placing.reclassed(BlockId(3), 9);
    assert_eq!(placing.midas().hot_blocks(), 0);
    placing.handed_on(BlockId(3), 9, 4);
    assert_eq!(placing.midas().given(0), Some(1_000_000), "of one group");
}

/// Three groups with a queue and a last one.
#[test]
fn the_groups_in_force_are_told_as_a_level() {
    let mut rig = Rig::new(&[("gc.placement", "midas"), ("gc.separate_frontiers", "false")], 12, 2);
    let placing = rig.space.placing.as_mut().expect("midas");
    placing.divide(|groups| groups.sized([2, 2, 3].into_iter()), Regrouped::Sized);
    placing.tell_groups(&mut rig.board);
    assert_eq!(rig.board.meter().level_now(Level::PlacementGroups), Some(4));
}
