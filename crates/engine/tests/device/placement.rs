//! Placement policies on devices: what must come out equal, what write amplification says of them,
//! what they count and what they take of memory.

use crate::common::outcome::same;
use crate::common::{config, open, pages, submit, tiny};
use crate::theory::Naive;
use ftlab_engine::config::{Classes, Config, PlacementKind, PlacementSettings};
use ftlab_engine::future::Future;
use ftlab_engine::meter::{Cause, ClassCounts, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;

const SEP_GC: (&str, &str) = ("gc.placement", "sep_gc");
const SEPBIT: (&str, &str) = ("gc.placement", "sepbit");
const ONE: (&str, &str) = ("placement.classes", "1");

#[test]
fn one_class_is_none_and_two_by_origin_are_separate_frontiers() {
    let one_for_all = |kind: PlacementKind| {
        // The oracle needs a future, and a policy of one's own a program.
        let left_out = [PlacementKind::None, PlacementKind::Fk, PlacementKind::Own].contains(&kind);
        !left_out && matches!(kind.classes(&PlacementSettings::default()), Classes::Set(_))
    };
    let policies: Vec<&str> = PlacementKind::ALL
        .iter()
        .filter(|(kind, _)| one_for_all(*kind))
        .map(|&(_, name)| name)
        .collect();
    assert!(policies.len() >= 9, "{policies:?}");
    for scheme in ["ideal_page", "dftl"] {
        for policy in &policies {
            same((scheme, &[("gc.placement", policy), ONE]), (scheme, &[]), &[]);
        }
        same((scheme, &[SEP_GC]), (scheme, &[("gc.separate_frontiers", "true")]), &[]);
    }
}

/// With a lifespan of 0 nothing that the host writes is short-lived, and whatever is moved is old.
#[test]
fn sepbit_without_a_lifespan_is_sep_gc() {
    let held = ("placement.sepbit_lifespan", "0");
    for scheme in ["ideal_page", "dftl"] {
        same((scheme, &[SEPBIT, held]), (scheme, &[SEP_GC]), &[]);
    }
}

/// A chain of groups of which there are two sends everything that is moved to the second.
#[test]
fn a_chain_of_two_is_sep_gc() {
    let chain = [("gc.placement", "mida"), ("placement.classes", "2")];
    same(("ideal_page", &chain), ("ideal_page", &[SEP_GC]), &[]);
}

/// Withheld blocks, areas, logs, fixed offsets.
#[test]
fn schemes_that_place_pages_themselves_refuse_every_policy() {
    for scheme in ["lazyftl", "janus", "cftl", "bast", "block", "adapt", "waftl", "treeftl", "dac"]
    {
        let (row, _) = schemes::find(scheme).expect("a scheme");
        let refused = (row.check)(&config(&[SEPBIT])).expect_err("refused").to_string();
        assert!(refused.contains("gc.placement = sepbit") && refused.contains(scheme), "{refused}");
    }
}

/// Under `dac` every update of a page is a class higher: each of the first six takes a block.
#[test]
fn a_class_takes_a_block_when_it_is_first_written() {
    let config = tiny("ideal_page", 24, &[("gc.placement", "dac")]);
    let mut device = open("ideal_page", &config);
    let used = |device: &dyn Device| -> u32 {
        let state = device.board().nand().state();
        let blocks = (0..device.board().geometry().blocks()).map(ftlab_engine::units::BlockId);
        blocks.filter(|&block| state.block(block).programmed > 0).count() as u32
    };
    for (write, blocks) in [1, 2, 3, 4, 5, 6, 6, 6, 6, 7].into_iter().enumerate() {
        submit(device.as_mut(), &config, Op::Write, 5);
        // Six classes; the last one's block is full after its fourth page.
        assert_eq!(used(device.as_ref()), blocks, "after {} writes", write + 1);
    }
}

fn classes(device: &dyn Device) -> Vec<ClassCounts> {
    let classes = device.config().data_classes() as usize;
    device.board().meter().classes()[..classes].to_vec()
}

/// What is an update says the same of every write, whether the map has been looked up or not.
#[test]
fn updates_are_updates_also_where_the_map_was_not_looked_up() {
    let first = |scheme: &str, pairs: &[(&str, &str)]| {
        let all = [&[("gc.placement", "dac")], pairs].concat();
        let config = tiny(scheme, 60, &all);
        let mut device = open(scheme, &config);
        let mut rng = Rng::new(5, Purpose::Workload);
        for turn in 0..3000 {
            let page = u64::from(rng.below(120));
            let op = if turn % 10 == 9 { Op::Trim } else { Op::Write };
            submit(device.as_mut(), &config, op, page);
        }
        device.audit().expect("the audit passes");
        classes(device.as_ref())[0].host_pages
    };
    let expected = first("ideal_page", &[]);
    assert!(expected > 120, "{expected} first writes");
    let blind = [("dftl.write_miss_fetch", "false"), ("dftl.cmt_entries", "8")];
    assert_eq!(first("dftl", &blind), expected);
    assert_eq!(first("sftl", &[]), expected);
}

/// Garbage is looked at when the host writes, and what is collected then is levelled.
#[test]
fn the_share_of_garbage_levels_wear_and_leaves_map_pages_alone() {
    let share = [("gc.trigger", "garbage_share"), ("gc.garbage_share", "0.1")];
    let level = [("wear.policy", "static"), ("wear.spread", "2")];
    let events = |scheme: &str, pairs: &[(&str, &str)]| {
        let config = tiny(scheme, 60, &[&share[..], pairs].concat());
        let mut device = open(scheme, &config);
        let mut rng = Rng::new(6, Purpose::Workload);
        let mut write = |device: &mut dyn Device, count: u32| {
            for _ in 0..count {
                submit(device, &config, Op::Write, u64::from(rng.below(60)));
            }
        };
        (0..240).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
        write(device.as_mut(), 4000);
        device.audit().expect("the audit passes");
        device.board().meter().events(Event::LevelledBlocks)
    };
    assert!(events("ideal_page", &level) > 10);
    assert!(events("dftl", &[&level[..], &[("dftl.cmt_entries", "8")]].concat()) > 10);
    let refused = config(&[share[0], ("gc.mode", "idle")]).check().expect_err("refused");
    assert!(refused.to_string().contains("gc.mode = idle"), "{refused}");
    let hints = [("gc.placement", "hint"), ("host.hints", "unit"), ("buffer.name", "lru")];
    let refused = config(&hints).check().expect_err("refused").to_string();
    assert!(refused.contains("buffer.name = lru"), "{refused}");
}

/// Sums over classes are the totals, and what a policy says of classes shows.
#[test]
fn classes_count_what_the_host_wrote_and_what_was_moved() {
    for (policy, scheme) in [("sepbit", "ideal_page"), ("dac", "dftl"), ("mida", "tpftl")] {
        let soon = ("placement.sepbit_victims", "2");
        let config = tiny(scheme, 60, &[("gc.placement", policy), soon]);
        let mut device = open(scheme, &config);
        let mut rng = Rng::new(4, Purpose::Workload);
        let logical = config.device.logical_pages() as u32;
        let mut write = |device: &mut dyn Device, count: u32| {
            for _ in 0..count {
                let page =
                    if rng.below(10) < 8 { rng.below(logical / 5) } else { rng.below(logical) };
                submit(device, &config, Op::Write, u64::from(page));
            }
        };
        write(device.as_mut(), 3000);
        device.start_measuring();
        write(device.as_mut(), 3000);
        let counts = classes(device.as_ref());
        let sum = |of: fn(&ClassCounts) -> u64| counts.iter().map(of).sum::<u64>();
        let meter = device.board().meter();
        assert_eq!(sum(|class| class.host_pages), 3000, "{policy}");
        assert_eq!(sum(|class| class.moved_pages), meter.programs(Cause::Gc), "{policy}");
        assert_eq!(sum(|class| class.copied_pages), meter.programs(Cause::Gc), "{policy}");
        assert!(sum(|class| class.victims) > 100, "{policy}: {counts:?}");
        assert_eq!(sum(|class| class.victims), sum(|class| class.timed_victims), "{policy}");
        let used = counts.iter().filter(|class| class.host_pages + class.moved_pages > 0).count();
        assert!(used >= 4, "{policy}: {counts:?}");
    }
}

#[test]
fn memory_is_told_of_policies_and_of_tables_of_times() {
    let bytes = |pairs: &[(&str, &str)]| {
        let config = tiny("ideal_page", 24, pairs);
        let (row, _) = schemes::find("ideal_page").expect("a scheme");
        let all = (row.ram_use)(&config);
        let of = |name: &str| {
            all.iter().find(|found| found.structure == name).map_or(0, |found| found.bytes)
        };
        (of("placement_policy"), of("placement_times"))
    };
    // 24 blocks of four pages: 96 pages, and some blocks more.
    let blocks = |policy: &str| {
        let config = tiny("ideal_page", 24, &[("gc.placement", policy)]);
        u64::from(open("ideal_page", &config).board().geometry().blocks())
    };
    assert_eq!(bytes(&[("gc.placement", "sfs")]), (8 * 96 + 24 * (blocks("sfs") + 1), 0));
    assert_eq!(bytes(&[("gc.placement", "warcip")]), (4 * 96 + 24 * 6, 384));
    // All in one chunk of 1 MiB.
    assert_eq!(bytes(&[("gc.placement", "auto_mq")]), (24, 0));
    assert_eq!(bytes(&[]), (0, 0));
    assert_eq!(bytes(&[SEP_GC]), (0, 0));
    assert_eq!(bytes(&[("gc.placement", "dac")]), (36, 0));
    assert_eq!(bytes(&[SEPBIT]), (768, 0));
    assert_eq!(bytes(&[SEPBIT, ("placement.times", "dram")]), (768, 384));
    assert_eq!(bytes(&[SEPBIT, ("placement.sepbit_window", "exact")]), (0, 384));
}

/// Blocks of 64 pages.
const BLOCK: u32 = 64;
const LOGICAL: u32 = 1 << 14;

/// The pages of a workload: each is written once, then by Zipf's law, while the hottest fifth of
/// the ranks is shuffled every so many writes (SepBIT's synthetic workload, scaled).
fn zipf(alpha: f64, count: usize, shuffle: usize) -> Vec<u32> {
    let mut rng = Rng::new(11, Purpose::Workload);
    let mut below = 0.0;
    let sums: Vec<f64> = (1..=LOGICAL)
        .map(|rank| {
            below += f64::from(rank).powf(-alpha);
            below
        })
        .collect();
    let mut places: Vec<u32> = (0..LOGICAL).collect();
    let hottest = LOGICAL / 5;
    let mut all: Vec<u32> = (0..LOGICAL).collect();
    for write in 0..count {
        if write % shuffle == 0 {
            (1..hottest).rev().for_each(|last| {
                places.swap(last as usize, rng.below(last + 1) as usize);
            });
        }
        let drawn = f64::from(rng.below(1 << 30)) / f64::from(1u32 << 30) * below;
        all.push(places[sums.partition_point(|&sum| sum <= drawn).min(LOGICAL as usize - 1)]);
    }
    all
}

/// Write amplification of a policy in a log-structured store that collects, greedily, where more
/// than 15 % of what is written is garbage; over all but the first fifth of the writes.
fn amplification(policy: &str, writes: &[u32]) -> f64 {
    let mut config = config(&[
        ("gc.placement", policy),
        ("gc.trigger", "garbage_share"),
        ("device.pages_per_block", "64"),
    ]);
    let bytes = u64::from(LOGICAL) * config.device.page_bytes.0;
    config.device.set_capacity(bytes, 0);
    config.device.blocks_per_plane = LOGICAL / BLOCK * 3 / 2;
    if policy == "fk" {
        let mut pass = Future::pass(LOGICAL);
        writes.iter().for_each(|&page| pass.written(page).expect("few"));
        config.future = Some(pass.done());
    }
    let mut device = open("ideal_page", &config);
    // The future begins where measuring begins: at once.
    device.start_measuring();
    let write = |device: &mut dyn Device, config: &Config, page: u32| {
        device.submit(&pages(config, Op::Write, u64::from(page), 1)).expect("the device works");
    };
    let warm = writes.len() / 5;
    writes[..warm].iter().for_each(|&page| write(device.as_mut(), &config, page));
    let before = device.board().meter().total_programs();
    writes[warm..].iter().for_each(|&page| write(device.as_mut(), &config, page));
    let programs = device.board().meter().total_programs() - before;
    device.audit().expect("the audit passes");
    assert_eq!(device.board().meter().events(Event::ClassesBorrowed), 0, "{policy}: room for all");
    programs as f64 / (writes.len() - warm) as f64
}

/// SepBIT (FAST 2022), its synthetic workloads: without skew placement gains nothing, with it
/// everybody gains, and the more the more is known.
#[test]
fn the_more_a_policy_knows_the_less_it_writes_where_writes_are_skewed() {
    let policies = ["fk", "sepbit", "sep_gc", "none"];
    for alpha in [0.0, 0.6, 0.8, 1.0] {
        let writes = zipf(alpha, 30 * LOGICAL as usize, LOGICAL as usize / 100);
        let all = policies.map(|policy| amplification(policy, &writes));
        println!("zipf {alpha}: {policies:?} {all:.4?}");
        if alpha >= 0.6 {
            assert!(all.is_sorted(), "zipf {alpha}: {policies:?} {all:?}");
        } else {
            assert!((all[1] / all[3] - 1.0).abs() < 0.04, "zipf {alpha}: {all:?}");
        }
    }
}

/// Unit and page of every write of two tenants that take turns: the first writes its half in order,
/// over and over, the second its own at random.
fn tenants() -> impl Iterator<Item = (u32, u32)> {
    let (mut rng, half) = (Rng::new(8, Purpose::Workload), LOGICAL / 2);
    (0..).map(move |turn: u32| match turn % 2 {
        0 => (0, turn / 2 % half),
        _ => (1, half + rng.below(half)),
    })
}

/// Two tenants: one writes its half in order, over and over, the other at random. Each has a handle
/// of its own, so that what the first wrote dies block by block, and less is moved; least where
/// moved pages lie apart, since there the order of what is written is not disturbed. Power is cut
/// in between, and counts by handle are exact.
#[test]
fn tenants_with_handles_of_their_own_do_not_move_each_others_pages() {
    let run = |pairs: &[(&str, &str)]| {
        let mut config = config(&[("device.pages_per_block", "64")]);
        pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
        let bytes = u64::from(LOGICAL) * config.device.page_bytes.0;
        config.device.set_capacity(bytes, 0);
        config.device.blocks_per_plane = LOGICAL / BLOCK * 5 / 4;
        let mut device = open("ideal_page", &config);
        let mut tenants = tenants();
        let mut write = |device: &mut dyn Device, count: u32| {
            for (unit, page) in tenants.by_ref().take(count as usize) {
                let request = pages(&config, Op::Write, u64::from(page), 1);
                let _ = device.submit(&Request { unit, ..request }).expect("the device works");
            }
        };
        write(device.as_mut(), 12 * LOGICAL);
        device.start_measuring();
        write(device.as_mut(), 6 * LOGICAL);
        device.audit().expect("the audit passes");
        let counts = device.board().meter().classes();
        if config.gc.placement == PlacementKind::Hint {
            let of_each = u64::from(3 * LOGICAL);
            assert_eq!((counts[0].host_pages, counts[1].host_pages), (of_each, of_each));
        }
        let counts = counts.to_vec();
        let waf = device.board().meter().total_programs() as f64 / f64::from(6 * LOGICAL);
        // What is written in order goes on in the middle of some block then: its blocks do not end
        // any more where those of its last round do, and are not compared with the model.
        device.power_cycle().expect("it starts again");
        write(device.as_mut(), LOGICAL);
        device.audit().expect("the audit passes");
        (waf, counts)
    };
    let hints = [("gc.placement", "hint"), ("host.hints", "unit"), ("placement.handles", "2")];
    let (mixed, _) = run(&[]);
    let (initially, counts) = run(&hints);
    assert_eq!(counts[0].moved_pages + counts[1].moved_pages, 0, "moved pages lie apart");
    let (persistently, counts) =
        run(&[&hints[..], &[("placement.isolation", "persistently")]].concat());
    assert!(counts[0].moved_pages < counts[1].moved_pages, "the random one's, above all");
    println!(
        "one log {mixed:.3}, initially isolated {initially:.3}, persistently {persistently:.3}"
    );
    // A plain model of the same store, with as many frontiers.
    let model = |frontiers, moved_to| {
        let mut naive = Naive::new(LOGICAL, LOGICAL / BLOCK * 5 / 4, frontiers, moved_to);
        let mut tenants = tenants();
        let mut write = |naive: &mut Naive, count: u32| {
            for (unit, page) in tenants.by_ref().take(count as usize) {
                naive.write((unit as usize).min(frontiers - 1), page);
            }
        };
        write(&mut naive, 12 * LOGICAL);
        let before = naive.programs;
        write(&mut naive, 6 * LOGICAL);
        (naive.programs - before) as f64 / f64::from(6 * LOGICAL)
    };
    for (name, ours, model) in [
        ("one log", mixed, model(1, Some(0))),
        ("initially isolated", initially, model(3, Some(2))),
        ("persistently isolated", persistently, model(2, None)),
    ] {
        println!("{name}: {ours:.4} against {model:.4}");
        assert!((ours / model - 1.0).abs() < 0.005, "{name}: {ours}, the model says {model}");
    }
}

#[test]
fn hints_that_nobody_gives_are_refused() {
    let refused = config(&[("gc.placement", "hint")]).check().expect_err("refused").to_string();
    assert!(refused.contains("host.hints"), "{refused}");
}
