//! DAC beside the schemes below it: with all of the map in memory it is the same, and with less of
//! it only map operations are added. Each test writes down the settings on both sides.

use crate::common::outcome::{Outcome, mix, random, run, same_on, streams};
use crate::common::tiny;
use ftlab_engine::meter::{Cause, Event};

/// Three map pages of 128 entries.
const LARGE: u64 = 300;

const LOGS: (&str, &str) = ("bast.log_blocks", "9");

/// Entries for every logical block: nothing leaves level 1, nothing is written or read.
/// `dac.l1_entries = 300` and no second level; the base as it is by default.
#[test]
fn dac_with_an_entry_for_every_logical_block_is_its_base() {
    let all = [("dac.l1_entries", "300"), ("dac.spatial_pages", "0"), ("dac.freq_pages", "0")];
    let lookups = [Event::MapLookups, Event::MapHits, Event::DirectoryHits];
    same_on(LARGE, ("dac", &all), ("replacement_block", &[]), &lookups);
    let over_bast = [&all[..], &[LOGS]].concat();
    same_on(LARGE, ("dac:bast", &over_bast), ("bast", &[LOGS]), &lookups);
}

/// Reads, programs and erases that are not the map's.
fn beside_the_map(outcome: &Outcome) -> Vec<(u64, u64, u64)> {
    let others = Cause::ALL.iter().filter(|cause| !cause.is_map());
    let of = |cause: &Cause| {
        let at = *cause as usize;
        (outcome.reads[at], outcome.programs[at], outcome.erases_by_cause[at])
    };
    others.map(of).collect()
}

/// Whatever memory holds of the map, data goes the way that the base sends it.
#[test]
fn with_less_in_memory_only_map_operations_are_added() {
    for (dac, base, pairs) in [("dac", "replacement_block", &[][..]), ("dac:bast", "bast", &[LOGS])]
    {
        for requests in [random, mix, streams] {
            let like = tiny(dac, LARGE, pairs);
            let expected = beside_the_map(&run((base, pairs), &like, requests));
            for (entries, spatial, frequent) in
                [("1", "0", "0"), ("20", "1", "0"), ("20", "0", "1"), ("7", "1", "1")]
            {
                let levels = [
                    ("dac.l1_entries", entries),
                    ("dac.spatial_pages", spatial),
                    ("dac.freq_pages", frequent),
                ];
                let with = [pairs, &levels].concat();
                let outcome = run((dac, &with), &like, requests);
                assert_eq!(beside_the_map(&outcome), expected, "{dac} {levels:?}");
                let map = |counts: &[u64]| counts[Cause::Translate as usize];
                assert!(map(&outcome.reads) > 100, "{dac} {levels:?}: the map was read");
                assert!(map(&outcome.programs) > 10, "{dac} {levels:?}: and written");
            }
        }
    }
}

/// Level 1 alone is a list in order of use: more of it never misses more often (stack property).
#[test]
fn more_entries_never_miss_more_often() {
    let levels = [("dac.spatial_pages", "0"), ("dac.freq_pages", "0"), LOGS];
    let like = tiny("dac:bast", LARGE, &levels);
    for requests in [random, mix, streams] {
        let misses = ["1", "2", "5", "17", "60", "150", "300"].map(|entries| {
            let with = [&levels[..], &[("dac.l1_entries", entries)]].concat();
            let outcome = run(("dac:bast", &with), &like, requests);
            let count = |event: Event| outcome.events[event as usize];
            count(Event::MapLookups) - count(Event::MapHits)
        });
        assert!(misses.is_sorted_by(|fewer, more| fewer >= more), "{misses:?}");
        assert!(misses[0] > misses[6], "{misses:?}");
    }
}
