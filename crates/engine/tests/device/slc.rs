//! An SLC cache on devices: the law of cell modes, what a drive's owner sees (a cliff, what is
//! written twice, a cache that shrinks), and where it means nothing.

use crate::common::outcome::same;
use crate::common::{config, mixed, open, pages, place, submit, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::Op;
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// Three bits a cell, 48 pages a block: 16 of them in SLC mode. Programs alone take time.
const PART: [(&str, &str); 9] = [
    ("device.bits_per_cell", "3"),
    ("device.pages_per_block", "48"),
    ("timing.read", "0us"),
    ("timing.program", "900us"),
    ("timing.erase", "0us"),
    ("timing.slc_read", "0us"),
    ("timing.slc_program", "200us"),
    ("timing.slc_erase", "0us"),
    ("device.over_provisioning", "0.6"),
];
const EIGHT: (&str, &str) = ("slc.static_blocks", "8");
const FOLD: (&str, &str) = ("slc.full", "fold_first");
const BRIM: (&str, &str) = ("slc.fold_high", "1");
const DYNAMIC: (&str, &str) = ("slc.dynamic_share", "1");
const SLC: Nanos = 200_000;
const DENSE: Nanos = 900_000;

fn device(scheme: &str, more: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let config = tiny(scheme, 40, &[&PART[..], more].concat());
    let device = open(scheme, &config);
    (config, device)
}

/// How long each of these pages took.
fn write(
    device: &mut dyn Device,
    config: &Config,
    all: impl IntoIterator<Item = u64>,
) -> Vec<Nanos> {
    let one = |page| device.submit(&pages(config, Op::Write, page, 1)).expect("it works").device();
    let times = all.into_iter().map(one).collect();
    device.audit().expect("the audit passes");
    times
}

fn count(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn mean(times: &[Nanos]) -> f64 {
    times.iter().sum::<Nanos>() as f64 / times.len() as f64
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.01, "{what}: {found} instead of {expected}");
}

#[test]
fn an_empty_drive_is_fast_until_its_cache_is_full_and_then_dense() {
    let (config, mut device) = device("ideal_page", &[EIGHT]);
    let times = write(device.as_mut(), &config, 0..800);
    assert!(times[..128].iter().all(|&time| time == SLC), "eight blocks of 16 pages");
    assert!(times[128..].iter().all(|&time| time == DENSE), "the cliff");
    assert_eq!(count(device.as_ref(), Event::SlcPages), 128);
    assert_eq!(count(device.as_ref(), Event::SlcFullPages), 672);
    assert_eq!(device.board().meter().total_programs(), 800, "nothing is written twice");
    assert_eq!(device.board().meter().level_now(Level::SlcSizePages), Some(128));
}

#[test]
fn where_writes_wait_for_folds_every_page_is_written_twice_behind_the_cliff() {
    let (config, mut device) = device("ideal_page", &[EIGHT, FOLD, BRIM]);
    let times = write(device.as_mut(), &config, 0..1600);
    assert!(times[..128].iter().all(|&time| time == SLC));
    near(mean(&times[128..]), (SLC + DENSE) as f64, "1 / (1/slow + 1/fast)");
    let meter = device.board().meter();
    let folded = meter.programs(Cause::Fold);
    assert_eq!(folded, 1600 - 128, "all but what the cache still holds");
    assert_eq!(meter.total_programs(), 1600 + folded, "1 + folded / host");
    assert_eq!(count(device.as_ref(), Event::SlcFolds), folded / 16);
    assert_eq!(meter.erases_by_cause(Cause::Fold), folded / 16);
    assert_eq!(count(device.as_ref(), Event::SlcErases), folded / 16);
}

/// A write waits for a fold once the cache is as full as `slc.fold_high` says.
#[test]
fn folds_begin_at_their_mark() {
    let (config, mut device) = device("ideal_page", &[EIGHT, FOLD, ("slc.fold_high", "0.5")]);
    let times = write(device.as_mut(), &config, 0..160);
    assert!(times[..64].iter().all(|&time| time == SLC) && times[64] == SLC + 16 * DENSE);
}

#[test]
fn what_is_overwritten_in_time_is_never_folded() {
    for more in [&[EIGHT, FOLD, BRIM][..], &[EIGHT], &[DYNAMIC, FOLD, BRIM]] {
        let (config, mut device) = device("ideal_page", more);
        let times = write(device.as_mut(), &config, (0..640).map(|turn| turn % 64));
        assert!(times.iter().all(|&time| time == SLC), "{more:?}");
        let meter = device.board().meter();
        assert_eq!(meter.programs(Cause::Fold), 0, "{more:?}");
        assert_eq!(meter.total_programs(), 640);
        let (dead, blocks) = (Event::SlcDeadPages, Event::SlcDeadBlocks);
        assert_eq!(count(device.as_ref(), dead), 16 * count(device.as_ref(), blocks), "{more:?}");
        assert!(more.contains(&DYNAMIC) || count(device.as_ref(), blocks) >= 32, "{more:?}");
    }
}

/// On an empty drive the dynamic cache has all free blocks but the reserve; on a full one, none.
#[test]
fn a_dynamic_cache_shrinks_to_nothing_as_the_drive_fills() {
    let (config, mut device) =
        device("ideal_page", &[DYNAMIC, ("device.over_provisioning", "0.1")]);
    let size = |device: &dyn Device| device.board().meter().level_now(Level::SlcSizePages);
    let logical = config.device.logical_pages();
    let mut sizes = Vec::new();
    for page in 0..logical {
        let _ = write(device.as_mut(), &config, [page]);
        sizes.push(size(device.as_ref()).expect("it was told"));
    }
    let blocks = u64::from(config.device.blocks_per_plane);
    assert_eq!(sizes[0], (blocks - 4 - 1) * 16, "a threshold of four");
    let mut rng = ftlab_engine::rng::Rng::new(3, ftlab_engine::rng::Purpose::Workload);
    let random = (0..2 * logical).map(|_| u64::from(rng.below(logical as u32)));
    let _ = write(device.as_mut(), &config, random.collect::<Vec<_>>());
    let last = size(device.as_ref()).expect("it was told");
    assert!(last <= 16, "{last} pages of a full drive");
    assert!(device.board().meter().programs(Cause::Fold) > 0, "what it took it gave back");
}

/// Two drives, one of which has a cache of no block: the same operations at the same times.
#[test]
fn without_blocks_there_is_no_cache() {
    let part = [("device.bits_per_cell", "3"), ("device.pages_per_block", "6")];
    let set = [("slc.full", "fold_first"), ("slc.victim", "greedy"), ("slc.static_blocks", "0")];
    for scheme in ["ideal_page", "hat", "dftl", "tpftl"] {
        let without = ("device.bits_per_cell", "1");
        same((scheme, &[&part[..], &set].concat()), (scheme, &[without, part[1]]), &[]);
    }
}

#[test]
fn small_requests_are_cached_and_large_ones_go_past() {
    let small = [EIGHT, ("slc.path", "small"), ("slc.small_pages", "4")];
    let (config, mut device) = device("ideal_page", &small);
    for (page, size) in [(0, 4), (4, 5), (9, 1)] {
        device.submit(&pages(&config, Op::Write, page, size)).expect("it works");
    }
    let counts = [Event::SlcPages, Event::SlcBypassedPages, Event::SlcFullPages];
    assert_eq!(counts.map(|event| count(device.as_ref(), event)), [5, 5, 0]);
}

/// In gaps the cache is folded down to `slc.fold_low`, and blocks without a valid page are erased.
#[test]
fn idle_gaps_empty_the_cache() {
    for pieces in ["0", "1"] {
        let gaps =
            [EIGHT, ("gc.mode", "both"), ("slc.fold_low", "0.25"), ("gc.idle_pages", pieces)];
        let (config, mut device) = device("ideal_page", &gaps);
        let _ = write(device.as_mut(), &config, 0..128);
        let mut late = pages(&config, Op::Write, 200, 1);
        late.arrival = 10_000_000_000;
        device.submit(&late).expect("it works");
        device.audit().expect("sound");
        assert_eq!(device.board().meter().programs(Cause::Fold), 96, "six of eight blocks");
        let used = device.board().meter().level_now(Level::SlcUsedPages);
        assert_eq!(used, Some(48), "two closed blocks and the open one");
    }
}

/// A block that was folded in part hides no dead one, which costs an erase alone.
#[test]
fn dead_blocks_are_used_again_before_a_begun_fold_goes_on() {
    let gaps = [EIGHT, ("gc.mode", "both"), ("slc.fold_low", "0.25"), ("gc.idle_pages", "1")];
    let (config, mut device) = device("ideal_page", &gaps);
    let busy: Nanos = write(device.as_mut(), &config, 0..128).iter().sum();
    let mut late = pages(&config, Op::Write, 16, 1);
    late.arrival = busy + 3 * DENSE;
    device.submit(&late).expect("it works");
    let folded = device.board().meter().programs(Cause::Fold);
    assert!((1..16).contains(&folded), "{folded} pages of the first block");
    let _ = write(device.as_mut(), &config, 17..32);
    let times = write(device.as_mut(), &config, 48..64);
    assert!(times.iter().all(|&time| time == SLC), "the second block is dead: {times:?}");
    assert_eq!(device.board().meter().programs(Cause::Fold), folded);
    assert_eq!(count(device.as_ref(), Event::SlcDeadBlocks), 1);
}

/// What the cache has of the free blocks it can give back: no gap copies pages so that it may grow.
#[test]
fn gaps_collect_nothing_for_the_sake_of_the_cache() {
    let more = [DYNAMIC, ("gc.mode", "both"), ("slc.fold_low", "1")];
    let part = [&PART[..], &more, &[("device.over_provisioning", "0.3")]].concat();
    let config = tiny("ideal_page", 340, &part);
    let mut device = open("ideal_page", &config);
    let span = config.device.logical_pages() as u32 * 6 / 10;
    let mut rng = ftlab_engine::rng::Rng::new(3, ftlab_engine::rng::Purpose::Workload);
    for turn in 0..16_000 {
        let mut one = pages(&config, Op::Write, u64::from(rng.below(span)), 1);
        one.arrival = turn / 64 * 10_000_000_000;
        device.submit(&one).expect("it works");
    }
    device.audit().expect("sound");
    let meter = device.board().meter();
    assert_eq!(meter.programs(Cause::Gc), 0);
    assert!(count(device.as_ref(), Event::SlcPages) > 5000);
    assert!(meter.programs(Cause::Fold) > 0, "it gave some back");
}

/// The flash of a drive that had a cache in one that has none: blocks in SLC mode are as good as
/// full.
#[test]
fn a_drive_without_a_cache_takes_over_the_flash_of_one_that_had_one() {
    let share = ("slc.dynamic_share", "0.5");
    let (mut config, mut cached) = device("ideal_page", &[("slc.static_blocks", "4"), share]);
    let _ = write(cached.as_mut(), &config, 0..200 + 9);
    config.set("slc.static_blocks", "0").expect("legal");
    config.set("slc.dynamic_share", "0").expect("legal");
    let mut without = open("ideal_page", &config);
    let (from, to) = (cached.board().nand(), without.board_mut().nand_mut());
    for block in (0..from.geometry().blocks()).map(ftlab_engine::units::BlockId) {
        to.restore_block(block, from.stored_block(block)).expect("the same geometry");
    }
    for page in (0..from.geometry().pages()).map(ftlab_engine::units::Ppn) {
        to.restore_page(page, from.stored_page(page)).expect("the same geometry");
    }
    // No audit: what was restored, this device's meter has not counted.
    without.power_cycle().expect("it starts");
    for page in 0..200 + 9 {
        assert_eq!(place(without.as_ref(), page), place(cached.as_ref(), page));
    }
    let logical = config.device.logical_pages();
    for page in (0..logical).chain(0..logical) {
        without.submit(&pages(&config, Op::Write, page, 1)).expect("it works");
    }
    assert_eq!(count(without.as_ref(), Event::SlcPages), 0);
}

/// Static blocks wear by themselves: neither before a power cycle nor after it does levelling go by
/// their erases.
#[test]
fn levelling_goes_by_blocks_that_it_can_move() {
    let more = [EIGHT, FOLD, ("wear.policy", "static"), ("wear.spread", "4")];
    let (config, mut device) = device("ideal_page", &more);
    let _ = write(device.as_mut(), &config, 128..400);
    let _ = write(device.as_mut(), &config, (0..64).cycle().take(16 * 8 * 40));
    assert_eq!(count(device.as_ref(), Event::LevelledBlocks), 0);
    device.power_cycle().expect("it starts");
    let logical = config.device.logical_pages();
    let _ = write(device.as_mut(), &config, (0..logical).chain(0..logical));
    assert_eq!(count(device.as_ref(), Event::LevelledBlocks), 0);
}

/// Everything that a scheme with its map on flash does, with a cache that is folded all the time.
#[test]
fn every_scheme_that_can_have_a_cache_has_the_same_one() {
    for scheme in ["ideal_page", "hat", "dftl", "cdftl", "tpftl", "sftl", "hmb", "aps", "jtl"] {
        for more in [&[EIGHT, FOLD][..], &[DYNAMIC], &[EIGHT, DYNAMIC, ("slc.victim", "greedy")]] {
            let (config, mut device) = device(scheme, more);
            for request in mixed(&config, 3000, 5) {
                device.submit(&request).expect("it works");
            }
            device.audit().unwrap_or_else(|error| panic!("{scheme} {more:?}: {error}"));
            assert!(count(device.as_ref(), Event::SlcPages) > 500, "{scheme} {more:?}");
            let folded = device.board().meter().programs(Cause::Fold);
            assert!(folded > 100, "{scheme} {more:?}: {folded}");
            device.power_cycle().unwrap_or_else(|error| panic!("{scheme} {more:?}: {error}"));
            device.audit().unwrap_or_else(|error| panic!("{scheme} {more:?}: {error}"));
        }
    }
}

/// A block that dies of age dies by the sum of what its erases took of its life.
#[test]
fn each_mode_wears_by_its_own_endurance() {
    let aged = |slc: &str| {
        let more = [
            EIGHT,
            ("wear.blocks_die", "true"),
            ("device.endurance_cycles", "1000000"),
            ("device.slc_endurance_cycles", slc),
        ];
        let (config, mut device) = device("ideal_page", &more);
        let _ = write(device.as_mut(), &config, (0..64).cycle().take(16 * 8 * 12));
        device.board().nand().retired_blocks()
    };
    assert_eq!(aged("100"), 0);
    assert_eq!(aged("10"), 8, "every static block, and no other");
}

#[test]
#[should_panic(expected = "in SLC mode the block has 16 pages")]
fn a_block_in_slc_mode_has_a_page_for_each_word_line() {
    let (config, mut device) = device("ideal_page", &[]);
    let block = ftlab_engine::units::BlockId(50);
    device.board_mut().nand_mut().choose_slc(block);
    let page = device.board().geometry().page(block, 16);
    let io = ftlab_engine::request::PageIo {
        lpn: ftlab_engine::units::Lpn(0),
        sectors: u64::MAX,
        cause: Cause::Host,
        data: ftlab_engine::units::Tag(1),
        request: ftlab_engine::request::RequestShape {
            first_lpn: ftlab_engine::units::Lpn(0),
            pages: 1,
            index: 0,
            sectors: 1,
            hint: None,
        },
    };
    let kind = ftlab_engine::board::nand::state::PageKind::Data;
    let start = ftlab_engine::board::when::When::START;
    let _ = device.board_mut().program_update(page, None, &io, kind, start);
    drop(config);
}

#[test]
#[should_panic(expected = "1 pages are programmed in dense mode until its erase")]
fn a_mode_is_chosen_before_the_first_program() {
    let (config, mut device) = device("ideal_page", &[]);
    submit(device.as_mut(), &config, Op::Write, 0);
    device.board_mut().nand_mut().choose_slc(ftlab_engine::units::BlockId(0));
}

#[test]
fn a_cache_is_refused_where_it_means_nothing() {
    let three = ("device.bits_per_cell", "3");
    let refused = |pairs: Pairs<'_>| config(pairs).check().expect_err("refused").to_string();
    let text = refused(&[EIGHT]);
    assert!(text.contains("slc.static_blocks = 8") && text.contains("bits_per_cell"), "{text}");
    let text = refused(&[three, DYNAMIC, ("gc.placement", "sepbit")]);
    assert!(text.contains("slc.dynamic_share = 1") && text.contains("sepbit"), "{text}");
    let text = refused(&[three, EIGHT, ("gc.trigger", "garbage_share")]);
    assert!(text.contains("garbage_share"), "{text}");
    for scheme in ["lazyftl", "janus", "cftl", "fast", "bast", "treeftl", "dac", "block"] {
        let (row, _) = schemes::find(scheme).expect("a scheme");
        let text = (row.check)(&config(&[three, EIGHT])).expect_err("refused").to_string();
        assert!(
            text.contains("slc.static_blocks = 8") && text.contains("needs a scheme"),
            "{text}"
        );
    }
}
