//! Schemes with their map on flash that are the same under certain settings; each test writes down
//! the settings on both sides that make it true. And what every least-recently-used map cache must
//! do: a larger one never misses more (Mattson et al. 1970, the stack property).

use crate::common::outcome::{Pairs, mix, random, run, same, same_on, streams};
use crate::common::{fill, open, pages, size, submit, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};

/// Logical blocks of devices with six translation pages.
const SEVERAL: u64 = 170;

/// What TPFTL counts and DFTL does not.
const TOLD: [Event; 2] = [Event::EntryReads, Event::DoubleReads];

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

/// TPFTL's techniques off, and one list of entries: DFTL's, of so many bytes.
fn one_level(bytes: &'static str) -> [(&'static str, &'static str); 2] {
    [("tpftl.cache_bytes", bytes), ("tpftl.entry_bytes", "6")]
}

#[test]
fn tpftl_without_its_techniques_on_one_level_is_dftl_with_an_lru_cache() {
    for (entries, bytes) in [("2", "12B"), ("8", "48B"), ("60", "360B")] {
        same(("dftl", &dftl(entries)), ("tpftl:one_level", &one_level(bytes)), &TOLD);
    }
    same_on(SEVERAL, ("dftl", &dftl("8")), ("tpftl:one_level", &one_level("48B")), &TOLD);
    // Batch replacement is what DFTL's text allows.
    let batch = [&dftl("8")[..], &[("dftl.batch_evict", "true")]].concat();
    let tpftl = [
        ("tpftl.levels", "one"),
        ("tpftl.request_prefetch", "false"),
        ("tpftl.selective_prefetch", "false"),
        ("tpftl.clean_first", "false"),
        ("tpftl.batch", "true"),
        ("tpftl.cache_bytes", "48B"),
    ];
    same_on(SEVERAL, ("dftl", &batch), ("tpftl", &tpftl), &TOLD);
}

#[test]
fn tpftl_without_its_techniques_with_one_translation_page_is_dftl_with_an_lru_cache() {
    for (entries, bytes) in [("2", "20B"), ("8", "56B")] {
        // A single node of 8 bytes, in which entries are in order of use. A scan looks at it too.
        let left_out = [&TOLD[..], &[Event::CacheSearchSteps]].concat();
        let tpftl = [("tpftl.cache_bytes", bytes), ("tpftl.node_bytes", "8")];
        same(("dftl", &dftl(entries)), ("tpftl:none", &tpftl), &left_out);
    }
}

#[test]
fn each_of_tpftls_techniques_makes_it_another_scheme() {
    let with = |scheme: &str, different: Pairs<'_>| {
        let pairs = [&[("tpftl.cache_bytes", "120B")][..], different].concat();
        let workload = |config: &Config| [streams(config), mix(config)].concat();
        run((scheme, &pairs), &tiny("tpftl", SEVERAL, &[]), workload).operations
    };
    let none = with("tpftl:none", &[]);
    for scheme in ["tpftl:r", "tpftl:b", "tpftl:c", "tpftl:one_level"] {
        assert!(with(scheme, &[]) != none, "{scheme}");
    }
    assert!(with("tpftl:none", &[("tpftl.node_order", "mean_hotness")]) != none);
    // Six translation pages: seldom are three nodes lost in a row.
    let often = ("tpftl.thr", "1");
    let selective = with("tpftl:s", &[often]);
    assert!(selective != none);
    assert!(with("tpftl:s", &[("tpftl.thr", "100")]) == none, "never on");
    assert!(with("tpftl:s", &[often, ("tpftl.prefetch_place", "hot_end")]) != selective);
}

/// In memory that survives a power cut DFTL keeps directory and entries as with a battery; trims
/// need no records on flash in any of the three.
#[test]
fn the_heirs_are_dftl_in_nonvolatile_memory_too() {
    let dftl =
        [("dftl.cmt_policy", "lru"), ("dftl.cmt_entries", "8"), ("device.ram_nonvolatile", "true")];
    same(("dftl", &dftl), ("cdftl:one_level", &[("cdftl.cmt_entries", "8")]), &[]);
    same(("dftl", &dftl), ("tpftl:one_level", &one_level("48B")), &TOLD);
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

/// Every scheme whose map cache is one list in order of use, entered by every look-up that misses
/// and by nothing else. They share one stack, so that they miss equally often too.
///
/// What is tested elsewhere: Tree-PL, APS and DAC's first level (their own stacks, below and in
/// `equivalence_dac.rs`), the buffer `lru` (`tests/schemes/buffers.rs`).
///
/// What is no stack algorithm: DFTL's other policies (segments and ages of a share of the cache;
/// `lfu` forgets the uses of what left); CDFTL with a second level, whose entries enter both; TPFTL
/// with nodes (an old page's node holds back younger entries of others, and prefetching follows
/// misses) or clean entries first; S-FTL, whose pages change in size and whose buffer of entries
/// takes what leaves; CFTL with runs or conversion, and DAC with more levels (what enters depends
/// on what is held); HMB with host memory (a read whose hint holds enters nothing, or only where a
/// clean entry leaves); LazyFTL (its areas decide what leaves the UMT); JTL (entries sink by
/// chance); TreeFTL (groups); the buffers CFLRU (clean pages first), FAB, BPLRU, L-Buffer and the
/// map-aware one (groups of pages leave). WAFTL, Janus and the block-mapped schemes have no cache
/// that single look-ups enter.
#[test]
fn a_larger_cache_in_order_of_use_never_misses_more() {
    let sizes = ["2", "3", "5", "8", "13", "21", "55", "144", "377", "680"];
    for requests in [random, streams, mix] {
        let by_size = sizes.map(|entries| {
            let bytes = |each| format!("{}B", each * entries.parse::<u64>().expect("a number"));
            // CFTL with entries of one page, a page table alone, and no conversion.
            let pages = bytes(8);
            let cftl = [
                ("cftl.cache_bytes", &*pages),
                ("cftl.cache_split", "1"),
                ("cftl.run_len_bits", "0"),
                ("cftl.convert", "off"),
            ];
            let behind = [&dftl(entries)[..], &[("dftl.writeback", "after_completion")]].concat();
            let hmb = [("hmb.cache_entries", entries), ("hmb.bytes", "0")];
            let literal = [("hat.qmt_entries", entries), ("hat.write_miss_smt_read", "false")];
            let all = [
                misses("dftl", &dftl(entries), requests),
                misses("dftl", &behind, requests),
                misses("dftl:hat", &[("dftl.cmt_entries", entries)], requests),
                misses("hat", &[("hat.qmt_entries", entries)], requests),
                misses("hat", &literal, requests),
                misses("hmb", &hmb, requests),
                misses("cdftl:one_level", &[("cdftl.cmt_entries", entries)], requests),
                misses("tpftl:one_level", &[("tpftl.cache_bytes", &bytes(6))], requests),
                misses("cftl", &cftl, requests),
            ];
            assert!(all.iter().all(|&one| one == all[0]), "the same stack: {all:?}");
            all[0]
        });
        assert!(by_size.is_sorted_by(|less, more| less >= more), "{by_size:?}");
        assert!(by_size[0] > by_size[9], "{by_size:?}");
        assert!(by_size[9] <= 680, "every entry is loaded once at most: {by_size:?}");
    }
}

/// Tree-PL is TreeFTL when at most one page of every translation page is ever used: a group is then
/// as old as its data page, which leaves first, and its translation page follows it in both.
/// Settings, both sides: twelve frames, everything else by default (`touch_parent` and
/// `ctp_needs_no_cdp` true). Steps of searches and accesses to LATTE are what the two differ in.
#[test]
fn tree_pl_is_treeftl_when_every_group_has_one_data_page() {
    const GROUPS: u32 = 24;
    let requests = |config: &Config| {
        let mut rng = Rng::new(5, Purpose::Workload);
        let one = |_| {
            let group = rng.below(GROUPS);
            // The page of a group lies anywhere in it, always at the same place.
            let page = u64::from(group * 128 + group * 37 % 128);
            match rng.below(20) {
                0..12 => pages(config, Op::Write, page, 1),
                12..18 => pages(config, Op::Read, page, 1),
                18 => pages(config, Op::Trim, page, 1),
                _ => Request {
                    arrival: 0,
                    op: Op::Flush,
                    first_sector: 0,
                    sectors: 0,
                    unit: 0,
                    stream: None,
                    content: None,
                },
            }
        };
        (0..8000).map(one).collect::<Vec<Request>>()
    };
    let mut like = tiny("treeftl", 1, &[]);
    size("treeftl", &mut like, u64::from(GROUPS) * 32);
    let of = |scheme| {
        let mut outcome = run((scheme, &[]), &like, requests);
        for event in [Event::CacheSearchSteps, Event::LatteOps] {
            outcome.events[event as usize] = 0;
        }
        outcome
    };
    let (tree, page_lru) = (of("treeftl"), of("treeftl_page_lru"));
    assert!(tree.events[Event::BufferFlushes as usize] > 1000 && tree.erases[0] > 100);
    assert!(tree == page_lru, "the same operations, counts, places and times");
}

/// Exact LRU over map and data together is a stack too, as long as what enters the tree does not
/// depend on what is in it: random writes enter always. Groups (`treeftl`) are none. Settings:
/// those of Tree-PL's defaults, under which no data page outlives its translation page.
#[test]
fn a_larger_tree_in_order_of_use_never_misses_more() {
    let requests = |config: &Config| {
        let mut rng = Rng::new(8, Purpose::Workload);
        let logical = config.device.logical_pages() as u32;
        let one = |_| {
            let page = if rng.below(4) == 0 { rng.below(logical) } else { rng.below(logical / 8) };
            pages(config, Op::Write, u64::from(page), 1)
        };
        (0..6000).map(one).collect::<Vec<Request>>()
    };
    let sizes = [3, 4, 6, 9, 14, 30, 70, 150, 400, 700];
    let by_size = sizes.map(|frames: u64| {
        let bytes = (512 * frames).to_string();
        let config = tiny("treeftl_page_lru", SEVERAL, &[("device.ram_bytes", &bytes)]);
        let mut device = open("treeftl_page_lru", &config);
        for request in requests(&config) {
            device.submit(&request).expect("the device works");
        }
        let meter = device.board().meter();
        let [maps, data] =
            [(Event::MapLookups, Event::MapHits), (Event::BufferLookups, Event::BufferHits)]
                .map(|(lookups, hits)| meter.events(lookups) - meter.events(hits));
        (maps, data)
    });
    assert!(by_size.is_sorted_by(|less, more| less.0 >= more.0 && less.1 >= more.1), "{by_size:?}");
    assert!(by_size[0].0 > 1000 && by_size[9].0 == 6, "{by_size:?}");
    assert!(by_size[9].1 <= 680, "every page enters once: {by_size:?}");
}

/// So are the partitions of APS while their sizes do not move (`aps.interval`) and nothing is
/// written, whose look-up when it leaves the buffer depends on the buffer. JTL's entries sink at
/// random: no stack.
#[test]
fn larger_halves_in_order_of_use_never_miss_more() {
    let sizes = ["3KiB", "4KiB", "5KiB", "8KiB", "32KiB", "128KiB", "512KiB"];
    let by_size = sizes.map(|bytes| {
        let pairs = [
            ("aps.interval", "1000000000"),
            ("aps.entry_bytes", "64"),
            ("device.ram_bytes", bytes),
        ];
        let config = tiny("aps", SEVERAL, &pairs);
        let mut device = open("aps", &config);
        fill(device.as_mut(), &config);
        device.start_measuring();
        let mut rng = Rng::new(8, Purpose::Workload);
        let logical = config.device.logical_pages() as u32;
        for _ in 0..6000 {
            let page = if rng.below(4) == 0 { rng.below(logical) } else { rng.below(logical / 8) };
            submit(device.as_mut(), &config, Op::Read, u64::from(page));
        }
        let meter = device.board().meter();
        assert_eq!(meter.events(Event::Repartitions), 0);
        [(Event::MapLookups, Event::MapHits), (Event::BufferLookups, Event::BufferHits)]
            .map(|(lookups, hits)| meter.events(lookups) - meter.events(hits))
    });
    for kind in [0, 1] {
        let misses = by_size.map(|misses| misses[kind]);
        assert!(misses.is_sorted_by(|less, more| less >= more), "{misses:?}");
        assert!(misses[0] > 2 * misses[6], "{misses:?}");
    }
}
