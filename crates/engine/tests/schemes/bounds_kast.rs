//! What KAST promises: how long a page can wait, and how many logical blocks a merge can touch.

use crate::common::{CONTROLLER, ERASE, PROGRAM, READ, fill, open, pages, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Nanos};

type Pairs<'a> = &'a [(&'a str, &'a str)];

/// P.
const PAGES: u64 = 8;

/// Serial latencies without a common measure, and no transfers: a copy is a read and a program.
const COSTS: Pairs<'static> = &[
    ("device.pages_per_block", "8"),
    ("timing.read", "101ns"),
    ("timing.program", "503ns"),
    ("timing.erase", "100003ns"),
    ("timing.page_transfer", "0ns"),
    ("timing.controller_page", "7ns"),
];

/// A filled device of 40 logical blocks and 8 update blocks.
fn filled(associativity: &str, more: Pairs<'_>) -> (Config, Box<dyn Device>) {
    let own = [("kast.K", associativity), ("kast.log_blocks", "8")];
    let config = tiny("kast", 40, &[&own, COSTS, more].concat());
    let mut device = open("kast", &config);
    fill(device.as_mut(), &config);
    device.start_measuring();
    (config, device)
}

/// The longest that a page waited before its own program, over random single-page writes: uniform,
/// streams and rewrites, and a few trims.
fn longest_wait(config: &Config, device: &mut dyn Device, seed: u64) -> Nanos {
    let logical = config.device.logical_pages() as u32;
    let mut rng = Rng::new(seed, Purpose::Workload);
    let (mut longest, mut page, mut left) = (0, 0, 0);
    for _ in 0..6000 {
        if left == 0 {
            page = rng.below(logical);
            if rng.below(4) == 0 {
                page -= page % PAGES as u32;
            }
            left = 1 + rng.below(12);
        }
        let op = if rng.below(40) == 0 { Op::Trim } else { Op::Write };
        let request = pages(config, op, u64::from(page), 1);
        let time = device.submit(&request).expect("nothing fails here").device();
        if op == Op::Write {
            // The host page itself costs its program and the controller's work on it.
            longest = longest.max(time - PROGRAM - CONTROLLER);
        }
        left -= 1;
        // Sometimes a page is left out, so that gaps are padded too.
        page = (page + 1 + u32::from(rng.below(8) == 0)) % logical;
    }
    longest
}

#[test]
fn no_page_waits_longer_than_k_rebuilds_and_k_plus_1_erases() {
    let settings: [Pairs<'_>; 6] = [
        &[],
        &[("kast.sub_max_pct", "0"), ("kast.victim", "lru")],
        &[("kast.merge_rub_start_sub_pct", "0"), ("kast.sub_max_pct", "60")],
        &[("kast.pad_sub_pct", "60"), ("kast.merge_sub_pct", "60"), ("kast.sub_max_pct", "100")],
        &[("kast.convert_sub_pct", "100"), ("kast.sub_min_idle", "0")],
        &[("kast.convert_sub_pct", "0"), ("nand.enforce_order", "strict")],
    ];
    for more in settings {
        for (k, text) in [(1, "1"), (2, "2"), (4, "4"), (8, "8")] {
            let bound = k * PAGES * (READ + PROGRAM) + (k + 1) * ERASE;
            let (config, mut device) = filled(text, more);
            let longest = longest_wait(&config, device.as_mut(), k);
            assert!(longest <= bound, "K = {k}, {more:?}: {longest} ns, the bound is {bound} ns");
            let merges = device.board().meter().merges();
            assert!(merges.full > 50, "K = {k}, {more:?}: {merges:?}");
            let most = merges.associativity.iter().rposition(|&count| count > 0);
            assert!(most <= Some(k as usize), "K = {k}, {more:?}: {:?}", merges.associativity);
        }
    }
}

#[test]
fn the_bound_is_reached_exactly_when_k_full_blocks_share_the_victim() {
    for (k, text) in [(1, "1"), (2, "2"), (4, "4"), (8, "8")] {
        let bound = k * PAGES * (READ + PROGRAM) + (k + 1) * ERASE;
        let (config, mut device) =
            filled(text, &[("kast.log_blocks", "1"), ("kast.sub_max_pct", "0")]);
        let mut write = |lbn: u64| {
            let request = pages(&config, Op::Write, lbn * PAGES + 3, 1);
            device.submit(&request).expect("nothing fails here").device()
        };
        (0..k).for_each(|lbn| assert_eq!(write(lbn), PROGRAM + CONTROLLER));
        assert_eq!(write(20), bound + PROGRAM + CONTROLLER, "K = {k}");
    }
}

#[test]
fn k_beyond_p_changes_nothing() {
    let waits = ["8", "40"].map(|k| {
        let (config, mut device) = filled(k, &[]);
        let longest = longest_wait(&config, device.as_mut(), 3);
        (longest, device.board().meter().counts())
    });
    assert_eq!(waits[0], waits[1], "a block of P pages has at most P owners");
}

#[test]
fn without_a_limit_of_owners_only_full_rubs_are_merged() {
    // K = Nl: a stranger finds room wherever there is any, as in FAST's random log; but what
    // belongs to one logical block stays in one RUB, so that its RUB can be full while others are
    // not.
    let (config, mut device) = filled("40", &[("kast.sub_max_pct", "0")]);
    longest_wait(&config, device.as_mut(), 5);
    let meter = device.board().meter();
    let merges = meter.merges();
    let victims = merges.switch + merges.partial + merges.full;
    assert!(victims > 100, "{merges:?}");
    assert_eq!(meter.events(Event::LogPagesAtMerge), PAGES * victims, "{merges:?}");
    // With few owners they are merged with room left: the price of the bound.
    let (config, mut device) = filled("2", &[("kast.sub_max_pct", "0")]);
    longest_wait(&config, device.as_mut(), 5);
    let merges = device.board().meter().merges();
    let victims = merges.switch + merges.partial + merges.full;
    assert!(device.board().meter().events(Event::LogPagesAtMerge) < PAGES * victims);
}

#[test]
fn writes_go_on_when_every_log_page_is_valid() {
    for (k, text) in [(1, "1"), (2, "2"), (4, "4"), (8, "8")] {
        let (config, mut device) = filled(text, &[("kast.sub_max_pct", "0")]);
        let write = |device: &mut dyn Device, page: u64| {
            device.submit(&pages(&config, Op::Write, page, 1)).expect("nothing fails here");
        };
        // Eight RUBs of k owners each, and eight different pages in each.
        for page in 0..PAGES / k {
            (0..8 * k).for_each(|lbn| write(device.as_mut(), lbn % 40 * PAGES + page + lbn / 40));
        }
        let board = device.board();
        let blocks = 0..board.geometry().blocks();
        let valid = |block: &u32| u64::from(board.nand().valid_pages(BlockId(*block))) == PAGES;
        assert_eq!(board.meter().total_erases(), 0, "K = {k}: there was room for all");
        assert!(
            blocks.filter(valid).count() >= 8,
            "K = {k}: the update blocks are full of valid pages"
        );
        for round in 0..200 {
            write(device.as_mut(), round * 13 % (40 * PAGES));
            device.audit().expect("sound");
        }
    }
}

#[test]
fn the_reserve_is_what_can_go_bad_before_the_device_ends() {
    let [few, many] = ["0", "6"].map(|reserve| {
        let own = [
            ("kast.reserve", reserve),
            ("device.over_provisioning", "0.01"),
            ("nand.erase_failure_rate", "0.01"),
        ];
        let config = tiny("kast", 12, &own);
        let mut device = open("kast", &config);
        let mut rng = Rng::new(1, Purpose::Workload);
        let writes = (0..100_000).take_while(|_| {
            let request = pages(&config, Op::Write, u64::from(rng.below(48)), 1);
            device.submit(&request).is_ok()
        });
        (writes.count(), config.device.physical_blocks())
    });
    assert_eq!(many.1 - few.1, 6);
    assert!(few.0 > 0 && many.0 > few.0 + 200, "{few:?} and {many:?} writes and blocks");
}
