//! Schemes that write without looking where the old page is: how much their collections may owe,
//! and what a write leaves that did not happen.

use crate::common::{open, pages, submit, tiny};
use ftlab_engine::meter::{Cause, Event, Level};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::DeviceError;

/// Blocks of 64 pages whose entries lie in 128 GMT pages, and the least area: converting a block
/// writes nearly a block of GMT pages. A collection in the middle of that converts one more, not
/// two.
#[test]
fn a_collection_converts_one_block_at_most() {
    for cold in ["auto", "50"] {
        let pairs = [
            ("device.pages_per_block", "64"),
            ("lazyftl.uba_cba_blocks", "2"),
            ("lazyftl.cba_percent", cold),
        ];
        let config = tiny("lazyftl", 256, &pairs);
        let mut device = open("lazyftl", &config);
        let mut rng = Rng::new(5, Purpose::Workload);
        for _ in 0..60_000 {
            let page = rng.below(config.device.logical_pages() as u32);
            submit(device.as_mut(), &config, Op::Write, u64::from(page));
        }
        device.audit().unwrap_or_else(|error| panic!("{cold}: {error}"));
    }
}

/// The write that a worn-out device refuses leaves the page as it was, whoever wrote without a
/// look.
#[test]
fn a_write_that_fails_hides_nothing() {
    let blind = ("dftl.write_miss_fetch", "false");
    for (scheme, own) in [("lazyftl", ("lazyftl.uba_cba_blocks", "2")), ("dftl", blind)] {
        for seed in 0..40 {
            let pairs = [
                own,
                ("wear.blocks_die", "true"),
                ("device.endurance_cycles", "6"),
                ("dftl.cmt_entries", "8"),
            ];
            let config = tiny(scheme, 40, &pairs);
            let mut device = open(scheme, &config);
            device.verify_reads();
            let mut rng = Rng::new(seed, Purpose::Workload);
            let logical = config.device.logical_pages() as u32;
            let end = loop {
                let page = u64::from(rng.below(logical));
                if let Err(error) = device.submit(&pages(&config, Op::Write, page, 1)) {
                    break error;
                }
            };
            assert!(matches!(end, DeviceError::Fault(_)), "{scheme}: {end}");
            device.audit().unwrap_or_else(|error| panic!("{scheme}, seed {seed}: {error}"));
        }
    }
}

/// Every converted GMT page is one program and, no GMT page being in memory, one read: also where
/// the collection that makes room for it converts it first.
#[test]
fn converted_map_pages_are_those_written_and_none_is_read_in_vain() {
    for seed in 0..6 {
        let pairs = [("lazyftl.uba_cba_blocks", "2"), ("lazyftl.gmt_cache_pages", "1")];
        let config = tiny("lazyftl", 300, &pairs);
        let mut device = open("lazyftl", &config);
        let mut rng = Rng::new(seed, Purpose::Workload);
        for _ in 0..8000 {
            let page = rng.below(config.device.logical_pages() as u32);
            submit(device.as_mut(), &config, Op::Write, u64::from(page));
        }
        device.audit().expect("sound");
        let meter = device.board().meter();
        let converted = meter.events(Event::ConvertedMapPages);
        let programs = meter.programs(Cause::Translate) + meter.programs(Cause::GcMapUpdate);
        let reads = meter.reads(Cause::Translate) + meter.reads(Cause::GcMapUpdate);
        assert_eq!((converted, converted), (programs, reads), "seed {seed}");
        assert!(meter.programs(Cause::GcMapUpdate) > 100, "seed {seed}");
    }
}

/// Partial writes read, and the plane that is least busy is another afterwards: the area of each
/// plane is made to fit where the page goes all the same.
#[test]
fn partial_writes_under_dynamic_order_keep_the_area_of_every_plane() {
    let pairs = [
        ("device.channels", "2"),
        ("device.dies", "2"),
        ("timing.profile", "parallel"),
        ("alloc.order", "dynamic"),
        ("io.partial_write", "rmw"),
        ("device.page_bytes", "1024"),
        ("lazyftl.uba_cba_blocks", "12"),
        ("lazyftl.gmt_cache_pages", "1"),
    ];
    let config = tiny("lazyftl", 400, &pairs);
    for seed in 0..4 {
        let mut device = open("lazyftl", &config);
        device.verify_reads();
        let mut rng = Rng::new(seed, Purpose::Workload);
        let mut most = 0;
        for step in 0..12_000_u64 {
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            let whole = pages(&config, Op::Write, page, 1);
            let half = Request { sectors: 1, arrival: step * 300, ..whole };
            device.submit(&half).expect("the device works");
            let area = device.board().meter().level_now(Level::UpdateAreaBlocks);
            most = most.max(area.unwrap_or(0));
        }
        device.audit().expect("sound");
        // Three blocks in each of four planes, and at most three that collection, levelling and
        // failed programs open before a conversion is over: the UMT has no place for more.
        assert!((12..=24).contains(&most), "seed {seed}: {most} blocks");
    }
}

/// What memory is counted with has a place for every entry that the UMT may hold.
#[test]
fn the_umt_is_counted_with_all_its_places() {
    let (row, _) = schemes::find("lazyftl").expect("in the table");
    let bytes = |pairs: &[(&str, &str)]| {
        let config = tiny("lazyftl", 1000, pairs);
        let used = (row.ram_use)(&config);
        let of = |name| used.iter().find(|one| one.structure == name).expect("named").bytes;
        ["umt", "umt_reserve", "gmt_cache"].map(of)
    };
    // 20 blocks of four pages; three more, a block's worth of trimmed pages and the one written.
    let [umt, reserve, _] = bytes(&[("lazyftl.uba_cba_blocks", "20")]);
    assert_eq!((umt, reserve), (20 * 4 * 8, (3 * 4 + 4 + 1) * 8));
    for budget in [2048, 3000, 4096, 10_000] {
        let ram = format!("{budget}B");
        let taken: u64 = bytes(&[("device.ram_bytes", &ram)]).iter().sum();
        assert!(taken <= budget, "{taken} of {budget}");
    }
}

/// The least area of 64 planes with 64 pages a block, 64 KiB, and its reserve, 97 KiB, do not fit
/// into 128 KiB; into 256 KiB they do, and nothing of what is auto goes beyond.
#[test]
fn the_reserve_of_many_planes_is_paid_or_refused() {
    let (row, _) = schemes::find("lazyftl").expect("in the table");
    let with = |ram: &str| {
        crate::common::config(&[
            ("device.channels", "8"),
            ("device.dies", "2"),
            ("device.planes", "4"),
            ("device.pages_per_block", "64"),
            ("device.logical_bytes", "2GiB"),
            ("device.blocks_per_plane", "512"),
            ("device.ram_bytes", ram),
        ])
    };
    assert_eq!(with("1MiB").device.plane_count(), 64);
    let refused = (row.check)(&with("128KiB")).expect_err("the floors exceed it").to_string();
    assert!(refused.contains("device.ram_bytes"), "{refused}");
    for (ram, budget) in [("256KiB", 256 << 10), ("512KiB", 512 << 10), ("1MiB", 1 << 20)] {
        let config = with(ram);
        (row.check)(&config).unwrap_or_else(|error| panic!("{ram}: {error}"));
        let own = ["umt", "umt_reserve", "gmt_cache"];
        let used = (row.ram_use)(&config);
        let of_budget = used.iter().filter(|one| own.contains(&one.structure));
        let taken: u64 = of_budget.map(|one| one.bytes).sum();
        assert!(taken <= budget, "{taken} of {ram}");
    }
}
