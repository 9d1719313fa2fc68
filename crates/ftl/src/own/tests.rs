//! Makers of own policies: who is the same, and whose answers are counted where.

use super::*;

/// It keeps away blocks above a number.
struct Above(u32);

impl OwnPlacement for Above {
    fn apart(&self, block: Collected) -> bool {
        block.block > self.0
    }
}

impl OwnVictim for Above {
    fn choose(&self, candidates: &VictimCandidates) -> usize {
        candidates.blocks.iter().position(|&block| block > self.0).unwrap_or(0)
    }
}

struct Newest;

impl OwnCache for Newest {
    fn window(&self) -> u32 {
        4
    }
    fn admit(&self, _: u32) -> bool {
        true
    }
    fn evict(&self, entries: &CacheCandidates) -> usize {
        entries.pages.len() - 1
    }
}

fn block(number: u32) -> Collected {
    Collected { block: number, pages_per_block: 4, valid: 1, erases: 0, age: 0 }
}

#[test]
fn all_that_a_maker_made_are_asked_on_its_account() {
    let maker = Maker::placement("above", || Above(7));
    assert_eq!((maker.name(), maker.asked()), ("above", 0));
    let (one, other) = (maker.made(), maker.clone().made());
    assert!(
        one.ask().apart(block(8))
            && !other.ask().apart(block(7))
            && one.clone().ask().apart(block(9))
    );
    assert!(one.policy().apart(block(8)), "which is no question");
    assert_eq!(maker.asked(), 3);
    let apart = maker.counted_apart();
    assert!(apart.made().ask().apart(block(8)));
    assert_eq!((apart.name(), apart.asked(), maker.asked()), ("above", 1, 3));
}

#[test]
fn a_maker_is_equal_to_itself_and_its_copies_alone() {
    let maker = || Maker::placement("above", || Above(7));
    let one = maker();
    assert!(one == one.clone() && one == one.counted_apart());
    assert!(one != maker(), "it does the same");
}

#[test]
fn makers_are_shown_by_name_and_what_they_made_as_somebody_asked() {
    let maker = Maker::victim("above", || Above(7));
    assert_eq!(format!("{maker:?}"), "Maker(\"above\")");
    assert_eq!(format!("{:?}", maker.made()), "Asked");
}

#[test]
fn policies_of_a_device_are_told_by_place_name_and_answers() {
    assert_eq!(OwnPolicies::default().told().count(), 0);
    let policies = OwnPolicies {
        victim: Some(Maker::victim("high", || Above(7))),
        placement: Some(Maker::placement("above", || Above(7))),
        cache: Some(Maker::cache("newest", || Newest)),
    };
    let made = policies.victim.as_ref().expect("there").made();
    let candidates = VictimCandidates { blocks: vec![5, 9], ..VictimCandidates::default() };
    assert_eq!(made.ask().choose(&candidates), 1);
    let apart = policies.counted_apart();
    let told = |policies: &OwnPolicies| {
        policies
            .told()
            .map(|(place, name, asked)| format!("{place} {name} {asked}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&policies), ["victim high 1", "placement above 0", "cache newest 0"]);
    assert_eq!(told(&apart), ["victim high 0", "placement above 0", "cache newest 0"]);
}
