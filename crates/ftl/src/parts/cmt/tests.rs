use super::*;
use crate::own::{CacheCandidates, Maker, OwnCache};
use ftlab_flash::rng::{Purpose, Rng};
use std::collections::BTreeMap;

/// Of four entries the third one leaves; pages above 90 are not worth keeping.
struct Third;

impl OwnCache for Third {
    fn window(&self) -> u32 {
        4
    }
    fn admit(&self, page: u32) -> bool {
        page <= 90
    }
    fn evict(&self, entries: &CacheCandidates) -> usize {
        2.min(entries.pages.len() - 1)
    }
}

/// An own policy is asked once per entry that comes and once per entry that leaves, however often
/// the cache is asked; what it does not admit is the first that it may send away.
#[test]
fn an_own_policy_sees_what_is_oldest_and_its_answer_stands() {
    let own = Maker::cache("third", || Third);
    let context = CacheContext { slots: 5, capacity: 5, protected: 0.0, own: Some(&own) };
    let mut cmt = Cmt::with_policy(CachePolicyKind::Own, 100, &context);
    for lpn in [1, 2, 3, 95, 4] {
        cmt.insert(Lpn(lpn), None, Moment::START);
    }
    assert_eq!(own.asked(), 5);
    // In order of age: 95, 1, 2, 3, 4.
    let victim = cmt.victim();
    assert_eq!((cmt.lpn(victim), cmt.victim(), own.asked()), (Lpn(2), victim, 6));
    // A use of page 1 puts it behind 4; now 95, 2, 3 are the oldest.
    cmt.touch(cmt.find(Lpn(1)).expect("it is cached"));
    let victim = cmt.victim();
    assert_eq!((cmt.lpn(victim), own.asked()), (Lpn(3), 7));
}

/// Every policy against a plain map of what is cached: nothing is lost, the victim is always
/// cached, capacity holds.
#[test]
fn every_policy_keeps_exactly_what_was_inserted_and_not_removed() {
    for (kind, name) in CachePolicyKind::ALL {
        let own = Maker::cache("third", || Third);
        let context = CacheContext { slots: 17, capacity: 17, protected: 0.8, own: Some(&own) };
        let mut cmt = Cmt::with_policy(*kind, 200, &context);
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        let mut rng = Rng::new(5, Purpose::Workload);
        for step in 0..20_000 {
            let lpn = rng.below(200);
            match cmt.find(Lpn(lpn)) {
                Some(slot) if rng.below(10) == 0 => {
                    cmt.remove(slot);
                    model.remove(&lpn);
                }
                Some(slot) => {
                    assert_eq!(cmt.ppn(slot), Some(Ppn(model[&lpn])), "{name}");
                    cmt.touch(slot);
                }
                None => {
                    if cmt.is_full() {
                        let victim = cmt.victim();
                        assert!(model.remove(&cmt.lpn(victim).0).is_some(), "{name}");
                        cmt.remove(victim);
                    }
                    cmt.insert(Lpn(lpn), Some(Ppn(step)), Moment::START);
                    model.insert(lpn, step);
                }
            }
            assert_eq!(cmt.len() as usize, model.len(), "{name}");
        }
        let mut cached: Vec<u32> = cmt.slots().map(|slot| cmt.lpn(slot).0).collect();
        cached.sort_unstable();
        assert_eq!(cached, model.keys().copied().collect::<Vec<_>>(), "{name}");
    }
}

fn order_of_departure(kind: CachePolicyKind, capacity: u32, uses: &[u32]) -> Vec<u32> {
    let mut cmt = Cmt::new(kind, 100, capacity, 0.8);
    for &lpn in uses {
        match cmt.find(Lpn(lpn)) {
            Some(slot) => cmt.touch(slot),
            None => {
                cmt.insert(Lpn(lpn), None, Moment::START);
            }
        }
    }
    let mut order = Vec::new();
    while !cmt.is_empty() {
        let victim = cmt.victim();
        order.push(cmt.lpn(victim).0);
        cmt.remove(victim);
    }
    order
}

#[test]
fn policies_differ_exactly_where_their_definitions_do() {
    use CachePolicyKind::{Lfu, Lru, PsuRealGhost, Slru};
    let uses = [1, 2, 3, 4, 5, 1, 1, 2];
    assert_eq!(order_of_departure(Lru, 5, &uses), [3, 4, 5, 1, 2]);
    assert_eq!(order_of_departure(Slru, 5, &uses), [3, 4, 5, 1, 2]);
    assert_eq!(order_of_departure(Lfu, 5, &uses), [3, 4, 5, 2, 1]);
    // REAL holds 4 and GHOST 1. Ages on entry are 1 to 5; entering, 5 pushes 1 into GHOST.
    // Two hits raise 1 to age 3: at 2 it swaps with REAL's minimum 2, which is hit to 3 then.
    let order = order_of_departure(PsuRealGhost, 5, &uses);
    assert_eq!(order.len(), 5);
    assert_eq!(*order.last().expect("five left"), 5, "the youngest entry has the highest age");
}

/// Entries in the order in which they leave, to make room first and at the end all.
fn departures(capacity: u32, uses: &[u32]) -> Vec<u32> {
    let mut cmt = Cmt::new(CachePolicyKind::PsuRealGhost, 100, capacity, 0.8);
    let mut order = Vec::new();
    let mut leave = |cmt: &mut Cmt| {
        let victim = cmt.victim();
        order.push(cmt.lpn(victim).0);
        cmt.remove(victim);
    };
    for &lpn in uses {
        if let Some(slot) = cmt.find(Lpn(lpn)) {
            cmt.touch(slot);
            continue;
        }
        if cmt.is_full() {
            leave(&mut cmt);
        }
        cmt.insert(Lpn(lpn), None, Moment::START);
    }
    while !cmt.is_empty() {
        leave(&mut cmt);
    }
    order
}

/// Capacity 5: REAL holds 4, GHOST 1. Written as entry:age.
#[test]
fn a_ghost_hit_changes_places_only_when_it_reaches_the_lowest_of_real() {
    // REAL 2:2 3:3 4:4 5:5, GHOST 1:1; two hits of 2: REAL 3:3 2:4 4:4 5:5.
    let uses = [1, 2, 3, 4, 5, 2, 2];
    assert_eq!(departures(5, &uses), [1, 3, 2, 4, 5]);
    // 1:2 is below 3:3 and stays in GHOST.
    let below = [&uses[..], &[1]].concat();
    assert_eq!(departures(5, &below), [1, 3, 2, 4, 5]);
    // 1:3 is as high as 3:3: GHOST 3:3, REAL 1:3 2:4 4:4 5:5.
    let reaches = [&uses[..], &[1, 1]].concat();
    assert_eq!(departures(5, &reaches), [3, 1, 2, 4, 5]);
    // 3:4 is higher than 1:3: GHOST 1:3, REAL 2:4 3:4 4:4 5:5, equal ages by arrival.
    let back = [&uses[..], &[1, 1, 3]].concat();
    assert_eq!(departures(5, &back), [1, 2, 3, 4, 5]);
}

/// Three hits raise 5 to 8, so 6 enters with 9; 1 leaves for it, and 2:2 drops to GHOST.
#[test]
fn a_new_entry_is_one_older_than_the_highest_age_ever() {
    assert_eq!(departures(5, &[1, 2, 3, 4, 5, 5, 5, 5, 6]), [1, 2, 3, 4, 5, 6]);
    // The first hit brings 1:2 back to REAL in place of 2:2, six more raise it to 8.
    let from_ghost = [1, 2, 3, 4, 5, 1, 1, 1, 1, 1, 1, 1, 6];
    assert_eq!(departures(5, &from_ghost), [2, 3, 4, 5, 1, 6]);
}
