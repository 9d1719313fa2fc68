//! Settings of collection: thresholds, idle time, frontiers, pieces, dies.

use std::collections::BTreeMap;

use crate::common::{
    CONTROLLER, ERASE, LATENCIES, PROGRAM, READ, TRANSFER, fill, open, pages, record, submit, tiny,
};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::restore::StoredPage;
use ftlab_engine::board::nand::state::{Oob, PageKind};
use ftlab_engine::config::Config;
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{BlockId, Ppn, Tag};

/// Thresholds seen during overwriting in order (victims are all garbage), then at random (they are
/// mostly valid).
fn thresholds(mode: &str) -> [Vec<u32>; 2] {
    let pairs = [
        ("gc.threshold", "3"),
        ("gc.threshold_mode", mode),
        ("gc.threshold_max", "7"),
        ("device.over_provisioning", "0.2"),
    ];
    let config = tiny("ideal_page", 64, &pairs);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    fill(device, &config);
    let logical = config.device.logical_pages();
    let mut seen = |pages: &mut dyn Iterator<Item = u64>| {
        let mut seen = vec![device.room().threshold];
        for page in pages {
            submit(device, &config, Op::Write, page);
            let now = device.room().threshold;
            if seen.last() != Some(&now) {
                seen.push(now);
            }
        }
        seen
    };
    let in_order = seen(&mut (0..logical));
    let mut rng = Rng::new(3, Purpose::Workload);
    let at_random = seen(&mut (0..2000).map(|_| u64::from(rng.below(logical as u32))));
    [in_order, at_random]
}

#[test]
fn the_adaptive_threshold_moves_between_its_bounds_and_the_fixed_one_stays() {
    assert_eq!(thresholds("fixed"), [[3], [3]]);
    let [in_order, at_random] = thresholds("adaptive");
    assert_eq!(in_order.first(), Some(&3));
    assert_eq!(in_order.last(), Some(&7), "up while victims are cheap: {in_order:?}");
    assert_eq!(at_random.first(), Some(&7));
    assert!(at_random.contains(&3), "down while they are dear: {at_random:?}");
    assert!(in_order.iter().chain(&at_random).all(|seen| (3..=7).contains(seen)));
}

/// Fewest free blocks under load without a gap; free blocks and idle victims after a gap; erases
/// during a burst of twelve pages behind it.
fn gap_and_burst(mode: &str, idle_factor: &str) -> (u32, u32, u64, u64) {
    let pairs = [
        ("gc.mode", mode),
        ("gc.threshold", "6"),
        ("gc.idle_factor", idle_factor),
        ("device.over_provisioning", "0.6"),
    ];
    let config = tiny("ideal_page", 64, &pairs);
    let mut device = open("ideal_page", &config);
    let device = device.as_mut();
    fill(device, &config);
    let mut rng = Rng::new(9, Purpose::Workload);
    let logical = config.device.logical_pages() as u32;
    let mut fewest = u32::MAX;
    for _ in 0..1000 {
        submit(device, &config, Op::Write, u64::from(rng.below(logical)));
        fewest = fewest.min(device.room().free_blocks);
    }
    assert_eq!(device.board().meter().events(Event::IdleVictims), 0, "there was no gap");
    // A read ends the gap, which is long enough for everything.
    let arrival = device.idle_from() + 10_000_000_000;
    let end_of_gap = Request { arrival, ..pages(&config, Op::Read, 0, 1) };
    device.submit(&end_of_gap).expect("the device works");
    let free = device.room().free_blocks;
    let victims = device.board().meter().events(Event::IdleVictims);
    let before = device.board().meter().total_erases();
    for page in 0..12 {
        let request = Request { arrival, ..pages(&config, Op::Write, page, 1) };
        device.submit(&request).expect("the device works");
    }
    assert_eq!(device.board().meter().events(Event::IdleVictims), victims, "nor is there now");
    device.audit().expect("the audit passes");
    (fewest, free, victims, device.board().meter().total_erases() - before)
}

#[test]
fn idle_collection_uses_gaps_and_spares_a_burst() {
    let (fewest, _, victims, erases) = gap_and_burst("foreground", "2");
    assert_eq!((fewest, victims), (5, 0), "one block below the threshold is being written");
    assert!(erases > 0, "the burst waits for collection");
    for (factor, wanted) in [("2", 12), ("3", 18)] {
        let (fewest, free, victims, erases) = gap_and_burst("both", factor);
        assert_eq!((fewest, free, erases), (5, wanted, 0), "{factor} times the threshold");
        assert!(victims >= u64::from(wanted - 6), "{victims} victims");
        let (fewest, free, victims, erases) = gap_and_burst("idle", factor);
        assert_eq!((fewest, free, erases), (2, wanted, 0), "the foreground waits for the last");
        assert!(victims >= u64::from(wanted - 3), "{victims} victims");
    }
}

/// Blocks erased that held pages of the host, of collection, and of both.
fn frontiers(scheme: &str, separate: &str) -> [u32; 3] {
    let config = tiny(scheme, 48, &[("gc.separate_frontiers", separate)]);
    let mut device = open(scheme, &config);
    let device = device.as_mut();
    let mut rng = Rng::new(5, Purpose::Workload);
    let logical = config.device.logical_pages() as u32;
    let operations = record(device, |device| {
        fill(device, &config);
        for _ in 0..3000 {
            submit(device, &config, Op::Write, u64::from(rng.below(logical)));
        }
    });
    let mut held: BTreeMap<u32, (bool, bool)> = BTreeMap::new();
    let mut erased = [0; 3];
    for operation in operations {
        match operation {
            Operation::Program(page, Cause::Host) => held.entry(page.0 / 4).or_default().0 = true,
            Operation::Program(page, Cause::Gc) => held.entry(page.0 / 4).or_default().1 = true,
            Operation::Erase(block, _) => match held.remove(&block.0) {
                Some((true, false)) => erased[0] += 1,
                Some((false, true)) => erased[1] += 1,
                Some((true, true)) => erased[2] += 1,
                _ => {}
            },
            _ => {}
        }
    }
    erased
}

#[test]
fn separate_frontiers_keep_moved_pages_out_of_the_hosts_blocks() {
    for scheme in ["ideal_page", "dftl"] {
        let [host, moved, both] = frontiers(scheme, "true");
        assert!(host > 100 && moved > 100, "{scheme}: {host} and {moved} blocks");
        assert_eq!(both, 0, "{scheme}");
        let [_, _, both] = frontiers(scheme, "false");
        assert!(both > 100, "{scheme}: one frontier mixes, {both} blocks");
    }
}

/// A page map with every page written once, its reads verified, and what to draw pages from.
fn filled(pairs: &[(&str, &str)]) -> (Box<dyn Device>, Config, Rng) {
    let config = tiny("ideal_page", 64, pairs);
    let mut device = open("ideal_page", &config);
    device.verify_reads();
    fill(device.as_mut(), &config);
    (device, config, Rng::new(4, Purpose::Workload))
}

/// A request that comes in the middle of idle collection waits for the step under way: a whole
/// victim, or a page copy.
#[test]
fn collection_in_pieces_lets_requests_in_between_page_copies() {
    let run = |idle_pages: &str, unit: &str| {
        let mut pairs = LATENCIES.to_vec();
        pairs.extend([
            ("gc.mode", "both"),
            ("gc.idle_factor", "8"),
            ("gc.idle_pages", idle_pages),
            ("gc.unit", unit),
            ("device.planes", "2"),
            ("device.pages_per_block", "32"),
            ("device.over_provisioning", "1.5x"),
        ]);
        let (mut device, config, mut rng) = filled(&pairs);
        let device = device.as_mut();
        let (mut longest, mut with_erase, mut victims) = (0, 0, 0);
        for _ in 0..4000 {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            // Gaps of less than a page copy.
            let arrival = device.idle_from() + READ + PROGRAM;
            let idle = |device: &dyn Device| device.board().meter().events(Event::IdleVictims);
            let before = (idle(device), device.board().meter().total_erases());
            let read = Request { arrival, ..pages(&config, Op::Read, page, 1) };
            let done = device.submit(&read).expect("works");
            // Erases cannot be interrupted.
            if device.board().meter().total_erases() == before.1 {
                longest = longest.max(done.system());
            }
            with_erase = with_erase.max(done.system());
            submit(device, &config, Op::Write, page);
            victims = idle(device);
        }
        device.audit().expect("the audit passes");
        (longest, with_erase, victims)
    };
    let copy = READ + PROGRAM + 2 * TRANSFER;
    let read = CONTROLLER + READ + TRANSFER;
    for unit in ["plane", "die"] {
        let (piece, erase, pieces) = run("1", unit);
        assert!(pieces > 50, "{unit}: {pieces} victims in gaps");
        assert!(piece <= copy + read, "{unit}: {piece} ns for a read, a page copy is {copy} ns");
        assert!(erase <= ERASE + copy + read, "{unit}: {erase} ns, an erase is {ERASE} ns");
    }
    let (four, ..) = run("4", "plane");
    assert!(four > 2 * copy && four <= 4 * copy + read, "{four} ns");
}

/// Two planes of a die that run short together, one request at a time: with victims collected
/// together, multi-plane commands serve both; collected one by one, they never meet.
#[test]
fn collecting_a_die_at_a_time_lets_multi_plane_commands_serve_both_planes() {
    let run = |unit: &str, together: &str| {
        let pairs = [
            ("gc.unit", unit),
            ("device.planes", "2"),
            ("alloc.order", "plane_die_channel"),
            ("timing.profile", "parallel"),
            ("timing.page_transfer", "1us"),
            ("timing.multi_plane_read", together),
            ("timing.multi_plane_program", together),
            ("timing.multi_plane_erase", together),
            ("timing.multi_plane_same_offset", "false"),
            ("device.pages_per_block", "16"),
        ];
        let (mut device, config, mut rng) = filled(&pairs);
        let device = device.as_mut();
        device.start_measuring();
        for _ in 0..4000 {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            let write = pages(&config, Op::Write, page, 1);
            let write = Request { arrival: device.idle_from(), ..write };
            device.submit(&write).expect("works");
        }
        device.audit().expect("the audit passes");
        let meter = device.board().meter();
        assert!(meter.total_erases() > 400);
        // Time beyond the host's own writes, per page that collection moved.
        let own = 4000 * (config.timing.program.0 + config.timing.page_transfer.0);
        (device.idle_from() - own) / meter.programs(Cause::Gc)
    };
    let (alone, by_die) = (run("plane", "true"), run("die", "true"));
    assert!(by_die * 100 < alone * 90, "{by_die} ns a page, alone {alone} ns");
    let (apart, single) = (run("plane", "false"), run("die", "false"));
    assert!(single * 100 > apart * 95, "without commands for it {single} ns, apart {apart} ns");
}

/// Blocks keep the low half of a sequence number. One that was filled before this half began anew
/// is older than one that was filled afterwards, after a power cut too.
#[test]
fn recovery_knows_which_block_is_older_when_the_count_began_anew() {
    let anew = 1u64 << 32;
    let config = tiny("ideal_page", 8, &[("gc.victim", "fifo")]);
    let mut device = open("ideal_page", &config);
    let nand = device.board_mut().nand_mut();
    let sectors = nand.geometry().all_sectors();
    // The last block supersedes a page of each of the others.
    let blocks = [([0, 1, 2, 3], anew - 4), ([4, 5, 6, 7], anew + 1), ([0, 4, 8, 9], anew + 5)];
    for (block, (logical, first)) in blocks.into_iter().enumerate() {
        for (offset, logical) in logical.into_iter().enumerate() {
            let oob = Oob { logical, kind: PageKind::Data, sequence: first + offset as u64 };
            let page = StoredPage::Data { oob, tag: Tag(1), sectors, unreadable: false };
            nand.restore_page(Ppn((4 * block + offset) as u32), page).expect("an erased page");
        }
    }
    device.power_cycle().expect("the scheme recovers");
    let logical = config.device.logical_pages();
    let done = record(device.as_mut(), |device| {
        let overwritten = (0..5).flat_map(|_| 10..logical);
        overwritten.for_each(|page| submit(device, &config, Op::Write, page));
    });
    let erased = done.iter().find_map(|operation| match operation {
        Operation::Erase(block, _) => Some(*block),
        _ => None,
    });
    assert_eq!(erased, Some(BlockId(0)), "the block that was filled first is collected first");
}

/// Idle time collects a page at a time between requests, on a device as full as can be: each page
/// may take a map page along, and the host takes blocks meanwhile. Nobody finds the device full.
#[test]
fn pieces_do_not_use_up_what_collection_needs() {
    for scheme in ["ideal_page", "dftl", "cdftl", "tpftl", "sftl", "hmb", "leaftl"] {
        for (seed, blocks) in (1..=20).zip([16, 24, 40].into_iter().cycle()) {
            let pairs = [
                ("gc.mode", "both"),
                ("gc.idle_pages", "1"),
                ("gc.idle_factor", "8"),
                ("dftl.cmt_entries", "4"),
                ("hmb.cache_entries", "4"),
                ("tpftl.cache_bytes", "40B"),
                ("device.over_provisioning", "0.05"),
            ];
            let config = tiny(scheme, blocks, &pairs);
            let mut device = open(scheme, &config);
            let device = device.as_mut();
            fill(device, &config);
            let mut rng = Rng::new(seed, Purpose::Workload);
            for number in 0..1500 {
                let page = u64::from(rng.below(config.device.logical_pages() as u32));
                let arrival = device.idle_from() + u64::from(number % 3 == 0);
                let request = Request { arrival, ..pages(&config, Op::Write, page, 1) };
                if let Err(error) = device.submit(&request) {
                    panic!("{scheme}, {blocks} blocks, seed {seed}, write {number}: {error}");
                }
            }
            device.audit().expect("sound");
        }
    }
}
