//! Own policies: one that decides as a policy of a table does leaves the same device, to the last
//! operation; any other may be unwise, but breaks no law.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::outcome::{BLOCKS, DEVICES, Outcome, Pairs, WORKLOADS, outcome};
use crate::common::{open, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::own::{
    CacheCandidates, Collected, Maker, OwnCache, OwnPlacement, OwnPolicies, OwnVictim,
    VictimCandidates,
};
use ftlab_engine::request::Request;

/// Fewest valid pages, the lowest number among equals: `cost_benefit`.
struct Fewest;

impl OwnVictim for Fewest {
    fn choose(&self, candidates: &VictimCandidates) -> usize {
        let places = 0..candidates.blocks.len();
        places.min_by_key(|&place| candidates.valid[place]).expect("a candidate")
    }
}

/// Age times what is gained, over twice what is copied, the lowest number among equals:
/// `cost_benefit_age`.
struct CostBenefit;

impl OwnVictim for CostBenefit {
    fn choose(&self, candidates: &VictimCandidates) -> usize {
        let score = |place: usize| {
            let valid = f64::from(candidates.valid[place]);
            let freed = f64::from(candidates.pages_per_block) - valid;
            candidates.age[place] as f64 * freed / (2.0 * valid)
        };
        let places = 0..candidates.blocks.len();
        // The last of equals wins, so from the end.
        let best = places.rev().max_by(|&a, &b| {
            let infinite = |place: usize| candidates.valid[place] == 0;
            infinite(a).cmp(&infinite(b)).then(match infinite(a) && infinite(b) {
                true => std::cmp::Ordering::Equal,
                false => score(a).total_cmp(&score(b)),
            })
        });
        best.expect("a candidate")
    }
}

/// Always the same answer.
struct Always(bool);

impl OwnPlacement for Always {
    fn apart(&self, _: Collected) -> bool {
        self.0
    }
}

/// The entry used longest ago, and everything is kept: `lru`.
struct Oldest;

impl OwnCache for Oldest {
    fn window(&self) -> u32 {
        1
    }
    fn admit(&self, _: u32) -> bool {
        true
    }
    fn evict(&self, entries: &CacheCandidates) -> usize {
        assert_eq!(entries.pages.len(), 1);
        0
    }
}

/// Anything that is allowed, in no order.
#[derive(Default)]
struct Whim {
    turn: AtomicU32,
}

impl Whim {
    fn next(&self, below: usize) -> usize {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed).wrapping_mul(2_654_435_761);
        (turn >> 7) as usize % below
    }
}

impl OwnVictim for Whim {
    fn choose(&self, candidates: &VictimCandidates) -> usize {
        let VictimCandidates { blocks, valid, erases, age, pages_per_block, .. } = candidates;
        assert!(
            [valid.len(), erases.len(), age.len()].iter().all(|&length| length == blocks.len())
        );
        assert!(blocks.is_sorted() && valid.iter().all(|valid| valid < pages_per_block));
        self.next(blocks.len())
    }
}

impl OwnPlacement for Whim {
    fn apart(&self, block: Collected) -> bool {
        assert!(block.valid <= block.pages_per_block);
        self.next(2) == 0
    }
}

impl OwnCache for Whim {
    fn window(&self) -> u32 {
        3
    }
    fn admit(&self, _: u32) -> bool {
        self.next(3) > 0
    }
    fn evict(&self, entries: &CacheCandidates) -> usize {
        assert!(entries.pages.len() <= 3 && entries.changed.len() == entries.uses.len());
        self.next(entries.pages.len())
    }
}

fn whims() -> OwnPolicies {
    OwnPolicies {
        victim: Some(Maker::victim("whim", Whim::default)),
        placement: Some(Maker::placement("whim", Whim::default)),
        cache: Some(Maker::cache("whim", Whim::default)),
    }
}

fn run(scheme: &str, config: &Config, requests: &[Request]) -> Outcome {
    let mut device = open(scheme, config);
    device.board_mut().nand_mut().record_mut().start();
    let submit = |request| device.submit(request).expect("the device works").device();
    let times = requests.iter().map(submit).collect();
    device.audit().expect("the device is sound");
    outcome(device.as_mut(), config, times)
}

/// Holds a scheme under its own policies against the same one under those of tables.
fn same(scheme: &str, table: Pairs<'_>, own: (Pairs<'_>, &OwnPolicies)) {
    for device in DEVICES {
        for (name, requests) in WORKLOADS {
            let like = tiny(scheme, BLOCKS, &[*device, table].concat());
            let requests = requests(&like);
            let mut config = tiny(scheme, BLOCKS, &[*device, own.0].concat());
            config.device = like.device.clone();
            config.own = own.1.counted_apart();
            let one = run(scheme, &like, &requests);
            let other = run(scheme, &config, &requests);
            assert!(one == other, "{scheme}: {own:?} on {device:?}, {name}");
            assert!(config.own.told().all(|(_, _, asked)| asked > 100), "{own:?}, {name}");
        }
    }
}

const OWN_VICTIM: (&str, &str) = ("gc.victim", "own");

#[test]
fn an_own_victim_policy_that_decides_as_one_of_the_table_is_that_one() {
    let fewest =
        OwnPolicies { victim: Some(Maker::victim("fewest", || Fewest)), ..OwnPolicies::default() };
    let aged = OwnPolicies {
        victim: Some(Maker::victim("cost_benefit", || CostBenefit)),
        ..OwnPolicies::default()
    };
    for scheme in ["ideal_page", "dftl"] {
        same(scheme, &[("gc.victim", "cost_benefit")], (&[OWN_VICTIM], &fewest));
    }
    same("ideal_page", &[("gc.victim", "cost_benefit_age")], (&[OWN_VICTIM], &aged));
}

#[test]
fn an_own_placement_that_always_says_the_same_is_one_or_two_frontiers() {
    for (apart, separate) in [(true, "true"), (false, "false")] {
        let always = OwnPolicies {
            placement: Some(Maker::placement("always", move || Always(apart))),
            ..OwnPolicies::default()
        };
        for scheme in ["ideal_page", "dftl"] {
            let own = ("gc.placement", "own");
            same(scheme, &[("gc.separate_frontiers", separate)], (&[own], &always));
        }
    }
}

#[test]
fn an_own_cache_policy_that_evicts_the_oldest_is_lru() {
    let oldest =
        OwnPolicies { cache: Some(Maker::cache("oldest", || Oldest)), ..OwnPolicies::default() };
    let few = ("dftl.cmt_entries", "16");
    let own = [few, ("dftl.cmt_policy", "own")];
    same("dftl", &[few, ("dftl.cmt_policy", "lru")], (&own, &oldest));
}

/// Audited after every request, and after a power cut, behind which everything is made anew.
#[test]
fn no_own_policy_breaks_a_law() {
    const ALL: Pairs<'_> = &[
        OWN_VICTIM,
        ("gc.placement", "own"),
        ("dftl.cmt_policy", "own"),
        ("dftl.cmt_entries", "8"),
        ("dftl.writeback", "after_completion"),
    ];
    let idle: Pairs<'_> = &[("gc.mode", "both"), ("gc.idle_pages", "1")];
    for extra in DEVICES.iter().chain([&idle]) {
        for (name, requests) in WORKLOADS {
            let mut config = tiny("dftl", BLOCKS, &[*extra, ALL].concat());
            config.own = whims();
            let requests = requests(&config);
            let mut device = open("dftl", &config);
            let (before, behind) = requests.split_at(requests.len() / 2);
            for request in before {
                let _ = device.submit(request).expect("the device works");
                device.audit().unwrap_or_else(|broken| panic!("{extra:?}, {name}: {broken}"));
            }
            device.power_cycle().expect("it starts again");
            for request in behind {
                let _ = device.submit(request).expect("the device works");
            }
            device.audit().unwrap_or_else(|broken| panic!("{extra:?}, {name}: {broken}"));
            assert!(config.own.told().all(|(_, _, asked)| asked > 0), "{:?}", config.own);
        }
    }
}

#[test]
fn a_setting_that_says_own_needs_a_policy_and_a_policy_its_setting() {
    use ftlab_engine::schemes::find;
    let (row, _) = find("dftl").expect("a scheme");
    let refused = |config: &Config| {
        let checked = config.check().and_then(|()| (row.check)(config));
        checked.expect_err("refused").to_string()
    };
    for (key, place) in
        [("gc.victim", "victim"), ("gc.placement", "placement"), ("dftl.cmt_policy", "cache")]
    {
        let mut config = tiny("dftl", BLOCKS, &[]);
        config.set(key, "own").expect("a legal value");
        let message = refused(&config);
        assert!(message.contains(key) && message.contains(&format!("{{\"{place}\"")), "{message}");
    }
    for (given, key) in [
        (OwnPolicies { placement: None, cache: None, ..whims() }, "gc.victim"),
        (OwnPolicies { placement: None, victim: None, ..whims() }, "dftl.cmt_policy"),
        (OwnPolicies { victim: None, cache: None, ..whims() }, "gc.placement"),
    ] {
        let mut config = tiny("dftl", BLOCKS, &[]);
        config.own = given;
        assert!(refused(&config).contains(key), "{key}");
    }
}
