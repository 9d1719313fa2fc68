//! Schemes with their map on flash that are the same under certain settings; each test writes down
//! the settings on both sides that make it true. And what every least-recently-used map cache must
//! do: a larger one never misses more (Mattson et al. 1970, the stack property).

mod common;

use common::outcome::{Pairs, mix, random, run, same, same_on, streams};
use common::{open, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::Request;

/// Logical blocks of devices with six translation pages.
const SEVERAL: u64 = 170;

/// DFTL with a plain LRU cache and without checkpoints, which its heirs do not have.
fn dftl(entries: &'static str) -> [(&'static str, &'static str); 3] {
    [("dftl.cmt_policy", "lru"), ("dftl.checkpoint_interval", "0"), ("dftl.cmt_entries", entries)]
}

#[test]
fn cdftl_without_a_second_level_is_dftl_with_an_lru_cache() {
    for entries in ["2", "8", "60"] {
        let cdftl = [
            ("cdftl.cmt_entries", entries),
            ("cdftl.ctp_pages", "0"),
            ("cdftl.cmt_evict_order", "lru"),
        ];
        same(("dftl", &dftl(entries)), ("cdftl", &cdftl), &[]);
    }
    let cdftl = [("cdftl.cmt_entries", "8")];
    same_on(SEVERAL, ("dftl", &dftl("8")), ("cdftl:one_level", &cdftl), &[]);
}

#[test]
fn each_of_cdftls_inventions_makes_it_another_scheme_than_dftl() {
    let with = |different: Pairs<'_>| {
        let one_level = [("cdftl.ctp_pages", "0"), ("cdftl.cmt_evict_order", "lru")];
        let pairs = [&one_level[..], &[("cdftl.cmt_entries", "8")], different].concat();
        run(("cdftl", &pairs), &tiny("cdftl", SEVERAL, &[]), mix).operations
    };
    let dftl = with(&[]);
    for different in [
        &[("cdftl.ctp_pages", "1")][..],
        &[("cdftl.ctp_pages", "1"), ("cdftl.load_policy", "selective")],
        &[("cdftl.cmt_evict_order", "ctp_resident_clean_dirty")],
        &[("cdftl.cmt_evict_order", "ctp_resident_dirty_clean")],
    ] {
        assert!(with(different) != dftl, "{different:?}");
    }
}

/// Misses of the map cache over some requests.
fn misses(scheme: &str, pairs: Pairs<'_>, requests: fn(&Config) -> Vec<Request>) -> u64 {
    let config = tiny(scheme, SEVERAL, pairs);
    let mut device = open(scheme, &config);
    for request in requests(&config) {
        device.submit(&request).expect("the device works");
    }
    let meter = device.board().meter();
    meter.events(Event::MapLookups) - meter.events(Event::MapHits)
}

#[test]
fn a_larger_cache_in_order_of_use_never_misses_more() {
    let sizes = ["2", "3", "5", "8", "13", "21", "55", "144", "377", "680"];
    for requests in [random, streams, mix] {
        let by_size = sizes.map(|entries| {
            let all = [
                misses("dftl", &dftl(entries), requests),
                misses("cdftl:one_level", &[("cdftl.cmt_entries", entries)], requests),
            ];
            assert!(all.iter().all(|&one| one == all[0]), "the same stack: {all:?}");
            all[0]
        });
        assert!(by_size.is_sorted_by(|less, more| less >= more), "{by_size:?}");
        assert!(by_size[0] > by_size[9], "{by_size:?}");
        assert!(by_size[9] <= 680, "every entry is loaded once at most: {by_size:?}");
    }
}
