//! LearnedFTL without a model is TPFTL on lines: on lines that groups share in every operation, the
//! place of every page and every time; on lines of their own in every count until something is
//! collected.

use crate::common::outcome::{BLOCKS, Pairs, mix, random, run, sequential};
use crate::common::{mixed, open, pages, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};

const UNLEARNED: Pairs<'_> = &[
    ("learnedftl.train_min", "4294967295"),
    ("learnedftl.sequential_init", "false"),
    ("learnedftl.group_lines", "false"),
];

#[test]
fn learnedftl_without_models_on_shared_lines_is_tpftl_on_lines() {
    let devices: [Pairs<'_>; 5] = [
        &[("tpftl.cache_bytes", "70B")],
        &[("device.planes", "2"), ("device.channels", "2"), ("timing.profile", "parallel")],
        &[("tpftl.cache_bytes", "34B"), ("gc.victim", "fifo"), ("io.partial_write", "rmw")],
        &[("tpftl.cache_bytes", "70B"), ("device.planes", "4"), ("gc.separate_frontiers", "true")],
        &[
            ("tpftl.cache_bytes", "70B"),
            ("nand.program_failure_rate", "0.003"),
            ("device.over_provisioning", "4x"),
        ],
    ];
    let reads = |config: &Config| mixed(config, 2000, 11);
    for own in devices {
        let lined = [own, &[("alloc.unit", "line")]].concat();
        let learned = [own, UNLEARNED].concat();
        let like = tiny("tpftl", BLOCKS, &lined);
        let all: [fn(&Config) -> Vec<Request>; 4] = [random, sequential, mix, reads];
        for requests in all {
            let tpftl = run(("tpftl", &lined), &like, requests);
            let learned = run(("learnedftl", &learned), &like, requests);
            assert!(tpftl.operations == learned.operations, "{own:?}: operations");
            assert!(tpftl.erases.iter().sum::<u64>() > 0, "{own:?}: something was collected");
            assert_eq!(tpftl, learned, "{own:?}");
        }
    }
}

/// Twelve translation pages in as many groups, on a device with room for all that is written.
#[test]
fn learnedftl_without_models_counts_what_tpftl_counts_until_it_collects() {
    let own = [
        ("device.planes", "4"),
        ("device.pages_per_block", "8"),
        ("device.over_provisioning", "6x"),
        ("tpftl.cache_bytes", "70B"),
    ];
    let counts = |scheme: &str, pairs: Pairs<'_>| {
        let mut config = tiny(scheme, 192, &[&own[..], pairs].concat());
        config.device = tiny("learnedftl:unlearned", 192, &own).device.clone();
        let mut device = open(scheme, &config);
        let logical = config.device.logical_pages();
        for turn in 0..2 * logical {
            let op = if turn % 3 == 2 { Op::Read } else { Op::Write };
            device.submit(&pages(&config, op, turn * 7 % logical, 1)).expect("works");
        }
        device.audit().expect("sound");
        let meter = device.board().meter();
        assert_eq!(meter.total_erases(), 0, "{scheme}: nothing is collected");
        let of = |of: &dyn Fn(Cause) -> u64| Cause::ALL.iter().map(|&cause| of(cause)).collect();
        let reads: Vec<u64> = of(&|cause| meter.reads(cause));
        let programs: Vec<u64> = of(&|cause| meter.programs(cause));
        let hits = [Event::MapLookups, Event::MapHits, Event::EvictDirty, Event::EvictClean];
        (reads, programs, hits.map(|event| meter.events(event)))
    };
    let tpftl = counts("tpftl", &[("alloc.unit", "line")]);
    assert!(tpftl.0[Cause::Translate as usize] > 1000, "entries were missed");
    assert_eq!(tpftl, counts("learnedftl:unlearned", &[("learnedftl.gc_lines", "65536")]));
}
