//! Schemes that are the same under certain settings: every flash operation, every count, the
//! place of every page and the time of every request agree. Each test writes down the settings on
//! both sides that make it true.

use crate::common::outcome::{BLOCKS, Pairs, mix, random, run, same, streams};
use crate::common::tiny;
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;

#[test]
fn n_k_with_one_block_and_one_log_block_is_bast() {
    for victim in ["lru", "fifo", "random", "round_robin", "cheapest"] {
        for (partial, check) in [("on", "all_pages"), ("off", "valid_pages"), ("on", "none")] {
            let bast = [
                ("bast.log_blocks", "5"),
                ("bast.victim", victim),
                ("bast.partial", partial),
                ("bast.seq_check", check),
            ];
            let nk = [
                ("nk.N", "1"),
                ("nk.K", "1"),
                ("nk.log_blocks", "5"),
                ("nk.victim", victim),
                ("nk.partial", partial),
                ("nk.seq_check", check),
                // Merging begins when no log block is left. That emptied blocks are erased makes no
                // difference: no other block of the group can be emptied.
                ("nk.start_pct", "100"),
                ("nk.stop_pct", "100"),
                ("nk.dynamic", "off"),
            ];
            same(("bast", &bast), ("nk", &nk), &[]);
        }
    }
}

#[test]
fn n_k_with_one_group_is_fast_that_never_opens_its_sequential_block() {
    let fast = [
        // Five random log blocks and the sequential one, which no request is long enough for.
        ("fast.log_blocks", "6"),
        ("fast.detector", "request_size"),
        ("fast.detector_pages", "4096"),
        ("fast.victim", "fifo"),
        ("fast.rw_switch_check", "false"),
        ("fast.first_write", "data_block"),
    ];
    let nk = [
        ("nk.N", "16777216"),
        ("nk.K", "5"),
        ("nk.log_blocks", "5"),
        ("nk.victim", "fifo"),
        // FAST merges random log blocks in full only, and leaves emptied ones where they are.
        ("nk.seq_check", "none"),
        ("nk.erase_emptied", "off"),
        ("nk.start_pct", "100"),
        ("nk.stop_pct", "100"),
        ("nk.dynamic", "off"),
    ];
    // FAST does not say how full its victims are: they always are, but for failed programs.
    same(("fast", &fast), ("nk", &nk), &[Event::LogPagesAtMerge]);
}

#[test]
fn more_log_blocks_for_the_group_than_there_are_change_nothing() {
    // K = all: the group's own limit or the number of log blocks, whichever is asked first.
    let common: [(&str, &str); 5] = [
        ("nk.N", "16777216"),
        ("nk.log_blocks", "5"),
        ("nk.victim", "fifo"),
        ("nk.seq_check", "none"),
        ("nk.erase_emptied", "off"),
    ];
    for k in ["6", "16777216"] {
        let all = [&common[..], &[("nk.K", "5")]].concat();
        let more = [&common[..], &[("nk.K", k)]].concat();
        same(("nk", &all), ("nk", &more), &[]);
    }
}

#[test]
fn a_changing_k_within_bounds_that_leave_no_choice_is_that_k() {
    // K = 1 and K = all, the bounds of the adaptive scheme; nk.K is brought within them.
    for (k, n) in [("1", "4"), ("5", "4"), ("5", "16777216"), ("1", "1")] {
        let common: [(&str, &str); 2] = [("nk.log_blocks", "5"), ("nk.N", n)];
        let fixed = [&common[..], &[("nk.K", k), ("nk.dynamic", "off")]].concat();
        let bounds = [("nk.dynamic", "on"), ("nk.K", "3"), ("nk.k_min", k), ("nk.k_max", k)];
        let changing = [&common[..], &bounds, &[("nk.window", "1")]].concat();
        same(("nk", &fixed), ("nk", &changing), &[]);
    }
}

#[test]
fn a_changing_k_that_is_free_to_move_is_another_scheme() {
    let [one, other] = ["off", "on"].map(|dynamic| {
        let pairs = [("nk.log_blocks", "5"), ("nk.dynamic", dynamic), ("nk.window", "2")];
        run(("nk", &pairs), &tiny("nk", BLOCKS, &pairs), random)
    });
    assert_ne!(one.operations, other.operations);
    assert_eq!(one.events[Event::Conversions as usize], 0);
    assert!(other.events[Event::Conversions as usize] > 0, "K moved");
}

#[test]
fn kast_of_one_owner_without_sequential_blocks_is_bast() {
    for (logs, check) in [("1", "all_pages"), ("5", "all_pages"), ("5", "valid_pages")] {
        // The other settings of kast are about sequential update blocks.
        let kast = [
            ("kast.K", "1"),
            ("kast.log_blocks", logs),
            ("kast.sub_max_pct", "0"),
            ("kast.victim", "lru"),
            ("kast.seq_check", check),
        ];
        let bast = [
            ("bast.log_blocks", logs),
            ("bast.victim", "lru"),
            ("bast.partial", "on"),
            ("bast.seq_check", check),
        ];
        same(("kast", &kast), ("bast", &bast), &[]);
    }
}

/// With more update blocks than one they differ: KAST keeps the pages of a logical block in one of
/// them, FAST fills one after the other.
#[test]
fn kast_of_one_block_for_all_is_fast_that_never_opens_its_sequential_block() {
    let kast = [
        ("kast.K", "16777216"),
        ("kast.log_blocks", "1"),
        ("kast.sub_max_pct", "0"),
        ("kast.seq_check", "valid_pages"),
    ];
    let fast = [
        // One random log block, and the sequential one, which no request is long enough for.
        ("fast.log_blocks", "2"),
        ("fast.detector", "request_size"),
        ("fast.detector_pages", "4096"),
        ("fast.rw_switch_check", "true"),
    ];
    // FAST does not say how full its victims are, and KAST need not search for the block of a page.
    let left_out = [Event::LogPagesAtMerge, Event::VictimSearchSteps];
    same(("kast", &kast), ("fast", &fast), &left_out);
}

#[test]
fn the_comparison_sees_one_log_block_more() {
    let like = tiny("bast", BLOCKS, &[("bast.log_blocks", "6")]);
    let [one, other] =
        ["5", "6"].map(|blocks| run(("bast", &[("bast.log_blocks", blocks)]), &like, random));
    assert_ne!(one.operations, other.operations);
    assert_ne!(one.places, other.places);
}

/// ADAPT with everything that makes it ADAPT switched off, but for what a page does that its
/// block's stream does not continue with.
const ADAPT_AS_FAST: [(&str, &str); 9] = [
    // One sequential block: nothing to move, whatever delta and phi.
    ("adapt.seq_max", "1"),
    ("adapt.seq_begin", "offset_zero"),
    ("adapt.seq_complete", "wait"),
    ("adapt.theta_adaptive", "false"),
    ("adapt.theta0", "2"),
    ("adapt.seq_cmp", "ge"),
    // A page more than a block has.
    ("adapt.tau", "5"),
    // An empty table, which is asked in vain.
    ("adapt.history_bytes", "0"),
    ("adapt.early_reuse", "false"),
];

const FAST_BY_SIZE: [(&str, &str); 2] =
    [("fast.detector", "request_size"), ("fast.detector_pages", "2")];

#[test]
fn adapt_without_its_inventions_is_fast_with_a_size_detector() {
    // FAST's rows 7 and 6. `fast.sw_gap = full_merge` and mixtures have no counterpart.
    for (gap, rewrite, miss, small) in [
        ("partial_with_request", "full_merge", "with_request", "as_large"),
        ("to_rw", "to_rw", "to_random", "append"),
    ] {
        for logs in ["2", "5"] {
            let rows = [("fast.sw_gap", gap), ("fast.sw_rewrite", rewrite)];
            let fast = [&FAST_BY_SIZE[..], &rows, &[("fast.log_blocks", logs)]].concat();
            let rules = [("adapt.seq_miss", miss), ("adapt.seq_small", small)];
            let adapt = [&ADAPT_AS_FAST[..], &rules, &[("adapt.log_blocks", logs)]].concat();
            let left_out = [
                // FAST does not count requests, and has no table to ask.
                Event::SequentialRequests,
                Event::RandomRequests,
                Event::HistoryQueries,
                Event::HistoryRight,
                Event::HistoryWrong,
            ];
            same(("adapt", &adapt), ("fast", &fast), &left_out);
        }
    }
}

#[test]
fn each_of_adapts_inventions_makes_it_another_scheme_than_fast() {
    let with = |different: Pairs<'_>| {
        let rules = [
            ("adapt.seq_miss", "with_request"),
            ("adapt.seq_small", "as_large"),
            ("adapt.log_blocks", "5"),
        ];
        let pairs = [&ADAPT_AS_FAST[..], &rules, different].concat();
        let workload = |config: &Config| [streams(config), mix(config)].concat();
        run(("adapt", &pairs), &tiny("adapt", BLOCKS, &rules), workload).operations
    };
    let fast = with(&[]);
    for different in [
        &[("adapt.seq_max", "3"), ("adapt.seq_init", "3")][..],
        &[
            ("adapt.theta_adaptive", "true"),
            ("adapt.interval", "50"),
            ("adapt.delta_low", "1"),
            ("adapt.delta_high", "1"),
        ],
        &[("adapt.theta0", "3")],
        &[("adapt.seq_cmp", "gt")],
        &[("adapt.seq_begin", "any")],
        &[("adapt.seq_miss", "begin_anew")],
        &[("adapt.seq_small", "to_random")],
        &[("adapt.seq_small", "append")],
        &[("adapt.seq_complete", "at_once")],
        &[("adapt.tau", "4")],
        &[("adapt.history_bytes", "120")],
        &[("adapt.early_reuse", "true")],
    ] {
        assert!(with(different) != fast, "{different:?}");
    }
}

#[test]
fn faster_without_a_second_chance_is_fast() {
    let settings: [[Pairs<'_>; 2]; 4] = [
        [&[("faster.log_blocks", "2")], &[("fast.log_blocks", "2")]],
        [&[("faster.log_blocks", "5")], &[("fast.log_blocks", "5")]],
        [
            &[("faster.sw_gap", "to_rw"), ("faster.sw_rewrite", "to_rw")],
            &[("fast.sw_gap", "to_rw"), ("fast.sw_rewrite", "to_rw")],
        ],
        [
            &[("faster.first_write", "log"), ("faster.sw_gap", "full_merge")],
            &[("fast.first_write", "log"), ("fast.sw_gap", "full_merge")],
        ],
    ];
    for [faster, fast] in settings {
        // No page is kept, and none is isolated.
        let none = [
            ("faster.max_chances", "0"),
            ("faster.mode", "seed1_simple"),
            ("faster.seq", "fast_rule"),
        ];
        let fifo = [
            ("fast.victim", "fifo"),
            ("fast.detector", "offset_zero"),
            ("fast.rw_switch_check", "false"),
            ("fast.bug_compat", "false"),
        ];
        same(("faster", &[&none, faster].concat()), ("fast", &[&fifo, fast].concat()), &[]);
    }
}

#[test]
fn mast_that_merges_everything_is_fast_that_never_opens_its_sequential_block() {
    let settings: [[Pairs<'_>; 2]; 3] = [
        // FAST counts the sequential block that it does not use.
        [&[("mast.log_blocks", "1")], &[("fast.log_blocks", "2")]],
        [&[("mast.log_blocks", "4")], &[("fast.log_blocks", "5")]],
        [
            &[("mast.log_blocks", "4"), ("mast.victim", "greedy"), ("mast.first_write", "log")],
            &[("fast.log_blocks", "5"), ("fast.victim", "greedy"), ("fast.first_write", "log")],
        ],
    ];
    for [mast, fast] in settings {
        // Every logical block is cold, and one log page is enough; one log block is open at a time.
        let always =
            [("mast.cold_window", "0"), ("mast.merge_min_pages", "0"), ("mast.stripe", "1")];
        let never = [("fast.detector", "request_size"), ("fast.detector_pages", "4096")];
        // Only MAST counts the log pages that a merge takes up.
        let only = [Event::MergedLogPages];
        same(("mast", &[&always, mast].concat()), ("fast", &[&never, fast].concat()), &only);
    }
}

/// janus.target = all_page, janus.gc_low = ideal_page.gc_low, and whatever else the same on both
/// sides. Janus keeps two blocks more; both get its device.
#[test]
fn janus_with_everything_page_mapped_is_the_ideal_page_map() {
    let both: [Pairs<'_>; 3] = [
        &[("gc.separate_frontiers", "true"), ("gc.victim", "cost_benefit_age")],
        &[("wear.policy", "dynamic"), ("gc.mode", "both"), ("gc.idle_pages", "1")],
        &[("alloc.order", "dynamic"), ("gc.victim", "fifo")],
    ];
    for (low, both) in ["4", "6", "4"].into_iter().zip(both) {
        let janus = [&[("janus.target", "all_page"), ("janus.gc_low", low)], both].concat();
        let ideal = [&[("ideal_page.gc_low", low)], both].concat();
        // Its table counts as lying in DRAM.
        same(("janus", &janus), ("ideal_page", &ideal), &[Event::DramAccesses]);
    }
}
