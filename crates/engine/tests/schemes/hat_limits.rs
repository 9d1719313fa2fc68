//! HAT beside the FTLs that it is compared with: collections of several planes at once, and caches
//! of the same size.

use crate::common::{config, fill, open, pages, tiny};
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes;
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

/// Collections of several planes at once: none waits for entries that another will post later, so
/// that with a port that is hardly ever busy they take as long as those of the page FTL.
#[test]
fn collections_of_several_planes_run_side_by_side() {
    let took = |scheme: &str| {
        // HAT 2010, Table 4, but for the port.
        let own = [
            ("timing.profile", "parallel"),
            ("timing.read", "20us"),
            ("timing.program", "200us"),
            ("timing.erase", "1.5ms"),
            ("timing.page_transfer", "52800ns"),
            ("device.channels", "8"),
            ("hat.qmt_entries", "8"),
            ("timing.pcm_read", "1ns"),
            ("timing.pcm_write", "10us"),
            ("device.pages_per_block", "32"),
            ("alloc.order", "channel_die_plane"),
        ];
        let config = tiny(scheme, 200, &own);
        let mut device = open(scheme, &config);
        let device = device.as_mut();
        fill(device, &config);
        let mut rng = Rng::new(3, Purpose::Workload);
        let (from, mut times) = (device.idle_from(), Vec::new());
        for step in 0..16_000 {
            // Eight within a millisecond, then none for long.
            let time = from + step / 8 * 200_000_000 + step % 8 * 100_000;
            let page = u64::from(rng.below(config.device.logical_pages() as u32));
            let mut request = pages(&config, Op::Write, page, 1);
            request.arrival = time;
            times.push(device.submit(&request).expect("the device works").device());
        }
        assert!(device.board().meter().programs(Cause::Gc) > 500, "{scheme} collects");
        device.audit().expect("sound");
        times.iter().sum::<Nanos>()
    };
    let (ideal, hat) = (took("ideal_page"), took("hat"));
    assert!(hat < ideal + ideal / 50, "{hat} ns of hat, {ideal} of ideal_page");
}

/// Two dies, and a port that takes a second for an entry. Collection in the first die moves pages
/// whose entries go to the slow table, and waits for the port; that in the second one, which begins
/// at the same moment, moves pages whose entries are cached, and waits for nobody.
#[test]
fn a_collection_whose_entries_are_cached_does_not_wait_for_another_die() {
    const SECOND: Nanos = 1_000_000_000;
    let own = [
        ("timing.profile", "parallel"),
        ("timing.read", "20us"),
        ("timing.program", "200us"),
        ("timing.erase", "1.5ms"),
        ("timing.pcm_write", "1s"),
        ("device.channels", "2"),
        ("hat.qmt_entries", "60"),
        ("alloc.order", "channel_die_plane"),
    ];
    let config = tiny("hat", 24, &own);
    let mut device = open("hat", &config);
    let device = device.as_mut();
    fill(device, &config);
    let mut rng = Rng::new(3, Purpose::Workload);
    let from = device.idle_from();
    let at = |device: &mut dyn Device, time: Nanos, op, page| {
        let request = Request { arrival: from + time, ..pages(&config, op, page, 1) };
        let took = device.submit(&request).expect("the device works").device();
        let meter = device.board().meter();
        (took, [meter.programs(Cause::Gc), meter.events(Event::LazyUpdates)])
    };
    let (mut side_by_side, mut longest) = (0, 0);
    for step in 0..2000 {
        let time = step * 100 * SECOND;
        let (_, before) = at(device, time, Op::Read, 1);
        let (_, first) = at(device, time, Op::Write, 2 * u64::from(rng.below(48)));
        let (took, second) = at(device, time, Op::Write, 1 + 2 * u64::from(rng.below(48)));
        longest = longest.max(took);
        assert_eq!(second[0] - first[0], second[1] - first[1], "entries of odd pages are cached");
        let waits = (first[0] - before[0]).saturating_sub(first[1] - before[1]);
        side_by_side += u32::from(waits >= 2 && second[0] > first[0]);
        // They stay the newest ones of the quick table.
        for page in (1..96).step_by(2) {
            let _ = at(device, time + 50 * SECOND, Op::Read, page);
        }
    }
    device.audit().expect("sound");
    assert!(side_by_side >= 20, "{side_by_side} collections beside one that waits");
    assert!(longest < SECOND / 20, "{longest} ns");
}

/// Both caches hold as many entries by default, and each pays for what waits to be written from the
/// same budget: as many where as many can wait.
#[test]
fn hat_and_its_dftl_have_as_many_entries() {
    let bytes = |scheme: &str, ram: Option<&str>, waiting: &str| {
        let (row, preset) = schemes::find(scheme).expect("a scheme of the table");
        let mut config = config(preset);
        config.set("device.logical_bytes", "1GiB").expect("legal");
        config.set("device.blocks_per_plane", "16384").expect("legal");
        for key in ["hat.pcm_queue", "dftl.writeback_entries"] {
            config.set(key, waiting).expect("legal");
        }
        if let Some(ram) = ram {
            config.set("device.ram_bytes", ram).expect("legal");
        }
        let used = (row.ram_use)(&config);
        let of = |names: [&str; 2]| {
            let one = used.iter().find(|one| names.contains(&one.structure)).expect("there");
            one.bytes
        };
        [of(["qmt", "cmt"]), of(["pcm_queue", "leaving_entries"])]
    };
    for waiting in ["1", "32"] {
        for scheme in ["hat", "dftl:hat"] {
            assert_eq!(bytes(scheme, None, waiting)[0], 16_384 * 8, "{scheme}");
        }
        for (ram, budget) in [("64KiB", 64 << 10), ("128KiB", 128 << 10)] {
            let [hat, dftl] = ["hat", "dftl:hat"].map(|scheme| bytes(scheme, Some(ram), waiting));
            assert_eq!(hat, dftl, "{ram}");
            assert_eq!(hat[0] + hat[1], budget, "{ram}");
        }
    }
}
