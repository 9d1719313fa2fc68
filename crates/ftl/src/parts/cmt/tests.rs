use super::*;
use crate::own::{CacheCandidates, Maker, OwnCache};
use crate::settings::SharedSettings;
use ftlab_flash::board::Board;
use ftlab_flash::board::when::When;
use ftlab_flash::meter::{BlockRole, Cause};
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::units::BlockId;
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

/// Under every policy an entry that takes the place of the one that leaves next is where it would be
/// if that had been removed before: the same leave next, of two caches that are used alike.
#[test]
fn to_replace_the_victim_is_to_remove_it_and_to_insert_another() {
    for (kind, name) in CachePolicyKind::ALL {
        let own = Maker::cache("third", || Third);
        let context = CacheContext { slots: 12, capacity: 9, protected: 0.6, own: Some(&own) };
        let mut caches = [(); 2].map(|()| Cmt::with_policy(*kind, 60, &context));
        let mut rng = Rng::new(8, Purpose::Workload);
        let mut board = Board::new(&SharedSettings::default(), 1, 0);
        let _ = board.nand_mut().clock_mut().admit(7);
        let later = board.present();
        for step in 0..5_000 {
            let (lpn, other) = (Lpn(rng.below(60)), rng.below(4) == 0);
            let changes = rng.below(2) == 0;
            let victim = caches[0].victim_if_full();
            assert_eq!(victim, caches[1].victim_if_full(), "{name}, step {step}");
            let known = caches[0].find(lpn);
            for (cache, replaces) in caches.iter_mut().zip([true, false]) {
                let (new, ready) = (Some(Ppn(step)), [Moment::START, later][step as usize % 2]);
                let slot = match (known, victim) {
                    (Some(slot), _) => slot,
                    (None, Some(victim)) if replaces => {
                        let known = (cache.lpn(victim), cache.ppn(victim), cache.is_dirty(victim));
                        // As if it were not known yet.
                        let known_now = step % 3 > 0;
                        let noted = if known_now { ready } else { Moment::START };
                        let (slot, left) = cache.replace_victim((lpn, new), changes, noted);
                        if !known_now {
                            cache.set_ready(slot, ready);
                        }
                        assert_eq!((left.lpn, left.ppn, left.dirty), known, "{name}, step {step}");
                        slot
                    }
                    (None, Some(victim)) => {
                        cache.remove(victim);
                        let slot = cache.insert(lpn, new, ready);
                        if changes {
                            Cmt::change(cache, slot, new);
                        }
                        slot
                    }
                    (None, None) => cache.insert(lpn, new, ready),
                };
                cache.touch(slot);
                cache.set_unresolved(slot, other);
                if other {
                    Cmt::change(cache, slot, None);
                }
            }
            let [one, two] = caches.each_ref().map(|cache| {
                let slots = (0..60).map(|lpn| cache.find(Lpn(lpn)));
                let entries = slots.map(|slot| {
                    let told = |slot| (slot, cache.lpn(slot), cache.ppn(slot), cache.ready(slot));
                    let marks = |slot| (cache.is_dirty(slot), cache.is_unresolved(slot));
                    slot.map(|slot| (told(slot), marks(slot)))
                });
                (entries.collect::<Vec<_>>(), MapCache::unresolved(cache), cache.len())
            });
            assert_eq!(one, two, "{name}, step {step}");
        }
    }
}

/// Who waits to be written is nobody's victim: it keeps its place.
#[test]
fn an_entry_that_waits_to_be_written_is_not_replaced() {
    let context = CacheContext { slots: 3, capacity: 2, protected: 0.0, own: None };
    let mut cmt = Cmt::with_policy(CachePolicyKind::Lru, 9, &context);
    let [waits, next] = [3, 4].map(|lpn| cmt.insert(Lpn(lpn), None, Moment::START));
    cmt.leave(waits);
    cmt.insert(Lpn(5), None, Moment::START);
    let (slot, left) = cmt.replace_victim((Lpn(6), Some(Ppn(1))), true, Moment::START);
    assert_eq!((slot, left), (next, Left { lpn: Lpn(4), ppn: None, dirty: false }));
    assert_eq!([3, 4, 6].map(|lpn| cmt.find(Lpn(lpn))), [Some(waits), None, Some(next)]);
    assert!(cmt.is_leaving(waits) && Cmt::is_dirty(&cmt, next) && cmt.is_full());
}

impl Cmt {
    fn victim_if_full(&self) -> Option<Slot> {
        self.is_full().then(|| self.victim())
    }
}

/// Who is about to leave is who leaves where nothing comes between; of a cache with room nobody is.
#[test]
fn the_next_to_leave_are_told_in_their_order() {
    for kind in [CachePolicyKind::Lru, CachePolicyKind::PsuRealGhost] {
        let mut cmt = Cmt::new(kind, 60, 20, 0.6);
        let told = |cmt: &Cmt| {
            let mut told = Vec::new();
            cmt.each_next(5, |lpn| told.push(lpn));
            told
        };
        for lpn in 0..20 {
            assert_eq!(told(&cmt), []);
            let slot = cmt.insert(Lpn(lpn), None, Moment::START);
            (0..lpn % 3).for_each(|_| cmt.touch(slot));
        }
        let next = told(&cmt);
        assert_eq!(next.len(), 5);
        for lpn in next {
            let victim = cmt.victim();
            assert_eq!(cmt.lpn(victim), lpn, "{kind:?}");
            cmt.remove(victim);
        }
    }
    // Nobody is in the segment that is left first, and a policy that keeps no order tells nothing.
    for (kind, protected) in [(CachePolicyKind::PsuRealGhost, 1.0), (CachePolicyKind::Lfu, 0.6)] {
        let mut cmt = Cmt::new(kind, 60, 20, protected);
        for lpn in 0..20 {
            cmt.insert(Lpn(lpn), None, Moment::START);
        }
        cmt.each_next(5, |lpn| panic!("{kind:?} tells of page {lpn}"));
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

/// Two entries and three places for those that have left, in the order in which they did: one is
/// taken back out of turn, another in exchange for a third.
#[test]
fn what_has_left_is_known_until_it_is_written_or_taken_back() {
    let context = CacheContext { slots: 5, capacity: 2, protected: 0.0, own: None };
    let mut cmt = Cmt::with_policy(CachePolicyKind::Lru, 100, &context);
    let mut slots = Vec::new();
    for lpn in 1..=3 {
        let slot = cmt.insert(Lpn(lpn), Some(Ppn(10 * lpn)), Moment::START);
        assert!(!cmt.is_leaving(slot) && !cmt.is_crowded());
        cmt.leave(slot);
        assert!(cmt.is_leaving(slot) && cmt.is_empty());
        assert_eq!(cmt.entry(Lpn(lpn)), Some(Some(Ppn(10 * lpn))), "still the newest word");
        slots.push(slot);
    }
    let [one, two, three] = slots[..] else { panic!("three have left") };
    assert!(cmt.is_crowded());
    let four = cmt.insert(Lpn(4), None, Moment::START);
    cmt.take_back(two, None);
    assert_eq!((cmt.is_leaving(two), cmt.is_crowded(), cmt.is_full()), (false, false, true));
    assert_eq!((cmt.first_leaving(), cmt.victim()), (Some(one), four));
    cmt.take_back(one, Some(four));
    assert_eq!((cmt.first_leaving(), cmt.victim(), cmt.len()), (Some(three), two, 2));
    assert_eq!(
        [one, two, three, four].map(|slot| cmt.is_leaving(slot)),
        [false, false, true, true]
    );
    cmt.remove(three);
    assert_eq!((cmt.find(Lpn(3)), cmt.first_leaving()), (None, Some(four)));
    cmt.remove(four);
    assert_eq!((cmt.first_leaving(), cmt.len()), (None, 2));
}

/// What the map on flash does not say yet, page by page; and of whom nobody knows what they
/// supersede.
#[test]
fn a_cache_says_which_entries_flash_does_not_know() {
    let mut cmt = Cmt::unordered(100, 4);
    cmt.fill(&[(Lpn(5), Some(Ppn(50))), (Lpn(7), None)]);
    let clean = cmt.insert(Lpn(6), Some(Ppn(60)), Moment::START);
    let dirty = |cmt: &Cmt| [5, 6, 7, 8].map(|lpn| MapCache::is_dirty(cmt, Lpn(lpn)));
    assert_eq!(dirty(&cmt), [true, false, true, false]);
    let first = [0, 6, 8].map(|from| cmt.first_dirty(from..100));
    assert_eq!(first, [Some(Lpn(5)), Some(Lpn(7)), None]);
    let unknown = |cmt: &Cmt| [5, 6, 7].map(|lpn| MapCache::is_unresolved(cmt, Lpn(lpn)));
    assert_eq!((cmt.unresolved(), unknown(&cmt)), (0, [false; 3]));
    let seven = cmt.find(Lpn(7)).expect("it was filled in");
    (0..2).for_each(|_| cmt.set_unresolved(seven, true));
    assert_eq!((cmt.unresolved(), unknown(&cmt)), (1, [false, false, true]));
    let mut told = Vec::new();
    cmt.each_dirty(0..100, |lpn, ppn, unresolved| told.push((lpn.0, ppn, unresolved)));
    assert_eq!(told, [(5, Some(Ppn(50)), false), (7, None, true)]);
    cmt.resolve(Lpn(7));
    assert_eq!((cmt.unresolved(), unknown(&cmt)), (0, [false; 3]));
    cmt.clean_places(Lpn(2), [3].into_iter());
    assert_eq!(dirty(&cmt), [false, false, true, false]);
    // A write that did not happen: its entry goes, unless it was changed or was there before.
    let made = cmt.insert(Lpn(9), None, Moment::START);
    [made, seven].into_iter().for_each(|slot| cmt.set_unresolved(slot, true));
    [6, 7, 9].into_iter().for_each(|lpn| cmt.drop_unresolved(Lpn(lpn)));
    let left = [6, 7, 9].map(|lpn| cmt.find(Lpn(lpn)));
    assert_eq!((left, cmt.unresolved()), ([Some(clean), Some(seven), None], 1));
}

/// Of as many uses the older last one leaves first, whichever entry came first.
#[test]
fn among_entries_used_as_often_the_older_use_leaves_first() {
    use CachePolicyKind::{Lfu, Slru};
    assert_eq!(order_of_departure(Lfu, 5, &[1, 2, 3, 3, 2, 1]), [3, 2, 1]);
    assert_eq!(order_of_departure(Lfu, 5, &[1, 2, 3, 1, 2, 3]), [1, 2, 3]);
    // In two segments a hit protects: 3 came later and leaves earlier than 1.
    assert_eq!(order_of_departure(Slru, 5, &[1, 2, 1, 3]), [2, 3, 1]);
}

/// 5 is raised to 8, and 6 enters with 9; with one hit more both are as old, and 5 came first.
#[test]
fn an_age_that_a_hit_reached_is_the_highest_from_then_on() {
    assert_eq!(departures(5, &[1, 2, 3, 4, 5, 5, 5, 5, 6, 5]), [1, 2, 3, 4, 5, 6]);
}

/// A copy of a device goes on as the device does: who leaves has been asked of a policy already.
#[test]
fn a_copy_of_a_cache_knows_who_leaves() {
    let own = Maker::cache("third", || Third);
    let context = CacheContext { slots: 5, capacity: 5, protected: 0.0, own: Some(&own) };
    let mut cmt = Cmt::with_policy(CachePolicyKind::Own, 100, &context);
    (1..=4).for_each(|lpn| {
        cmt.insert(Lpn(lpn), None, Moment::START);
    });
    let (victim, asked) = (cmt.victim(), own.asked());
    assert_eq!((cmt.clone().victim(), own.asked()), (victim, asked));
    cmt.touch(victim);
    assert_ne!((cmt.victim(), own.asked()), (victim, asked), "something has changed");
}

/// Nothing is allocated for an entry that comes, or waits to be written, later.
#[test]
fn a_cache_has_room_for_all_its_entries_from_the_beginning() {
    let context = CacheContext { slots: 7, capacity: 4, protected: 0.0, own: None };
    let cmt = Cmt::with_policy(CachePolicyKind::Lru, 100, &context);
    assert!(cmt.entries.room() >= 7 && cmt.leaving.capacity() >= 3);
    assert!(Cmt::unordered(100, 4).entries.room() >= 4);
}

#[test]
fn an_entry_tells_when_it_was_loaded() {
    let mut config = SharedSettings::default();
    config.device.blocks_per_plane = 64;
    let mut board = Board::new(&config, 1, 8);
    let erased = board.erase(BlockId(0), BlockRole::Map, Cause::Wear, When::START);
    let loaded = Moment::from(erased.expect("nothing fails here"));
    assert_ne!(loaded, Moment::START);
    let mut cmt = Cmt::unordered(100, 4);
    let slots = [(5, loaded), (6, Moment::START)];
    let slots = slots.map(|(lpn, when)| cmt.insert(Lpn(lpn), None, when));
    assert_eq!(slots.map(|slot| cmt.ready(slot)), [loaded, Moment::START]);
}
