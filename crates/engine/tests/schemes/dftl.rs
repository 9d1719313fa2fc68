//! DFTL's worked examples (Figs 8, 9, 10) as sequences of flash operations, and Table 5's
//! identities on every kind of run.

use crate::common::{config, mixed, open, place, record, submit, tiny};
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::board::nand::state::OobRead;
use ftlab_engine::meter::{BlockRole, Cause, Event};
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Ppn};

fn logical(device: &dyn Device, ppn: Ppn) -> u32 {
    match device.board().nand().state().oob(ppn) {
        OobRead::Written(oob) => oob.logical,
        other => panic!("page {ppn} holds {other:?}"),
    }
}

/// Fig. 8: a request for DLPN 1280 misses; the victim DLPN 1 is changed, so its translation page is
/// read, changed and written elsewhere, the GTD follows; then the request's own page is read.
#[test]
fn figure_8_a_miss_that_evicts_a_changed_entry() {
    let config = config(&[
        ("dftl.cmt_entries", "2"),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
    ]);
    let mut device = open("dftl", &config);
    let device = device.as_mut();
    // Both entries get to flash: MVPN 0 holds DLPN 1, MVPN 2 holds DLPN 1280.
    submit(device, &config, Op::Write, 1);
    submit(device, &config, Op::Write, 1280);
    submit(device, &config, Op::Write, 2);
    submit(device, &config, Op::Write, 1);
    // DLPN 1 was rewritten (130 -> 260 in the figure) and is the least recently used of two.
    submit(device, &config, Op::Read, 2);
    let data = place(device, 1280);
    let operations = record(device, |device| submit(device, &config, Op::Read, 1280));
    let [
        Operation::Read(old_mvpn_0, Cause::Translate),
        Operation::Program(new_mvpn_0, Cause::Translate),
        Operation::Read(mvpn_2, Cause::Translate),
        Operation::Read(read, Cause::Host),
    ] = operations[..]
    else {
        panic!("not the sequence of Fig. 8: {operations:?}");
    };
    assert_eq!((logical(device, old_mvpn_0), logical(device, new_mvpn_0)), (0, 0));
    assert_eq!(logical(device, mvpn_2), 2);
    assert_eq!(read, data);
    assert!(!device.board().nand().state().is_valid(old_mvpn_0));
    let entry = device.board().nand().payload(new_mvpn_0)[1];
    assert_eq!(entry, place(device, 1).0 + 1, "the written entry is the new place of DLPN 1");
    let meter = device.board().meter();
    assert_eq!(meter.events(Event::EvictDirty), 3);
}

/// One reclaimed block as the record shows it.
#[derive(Debug)]
struct Victim {
    moved: Vec<(Ppn, Ppn)>,
    updates: Vec<(Ppn, Ppn)>,
    map_block: bool,
}

/// Cuts a record into victims: everything that collection did up to each erase.
fn victims(operations: &[Operation]) -> Vec<Victim> {
    let mut all = Vec::new();
    let (mut moved, mut updates) = (Vec::new(), Vec::new());
    let mut read = None;
    for operation in operations {
        match *operation {
            Operation::Read(ppn, Cause::Gc | Cause::GcMapBlock | Cause::GcMapUpdate) => {
                assert!(read.replace(ppn).is_none(), "every read is followed by its program");
            }
            Operation::Program(ppn, Cause::Gc | Cause::GcMapBlock) => {
                assert!(updates.is_empty(), "pages move before the map is updated");
                moved.push((read.take().expect("read first"), ppn));
            }
            Operation::Program(ppn, Cause::GcMapUpdate) => {
                // A translation page that was never written is read without a place.
                updates.push((read.take().unwrap_or(ppn), ppn));
            }
            Operation::Erase(block, cause) => {
                let map_block = cause == Cause::GcMapBlock;
                let pages = block.0 * 4..block.0 * 4 + 4;
                assert!(moved.iter().all(|(old, _)| pages.contains(&old.0)), "of the victim");
                assert!(!map_block || updates.is_empty(), "map victims need no update");
                all.push(Victim {
                    moved: std::mem::take(&mut moved),
                    updates: std::mem::take(&mut updates),
                    map_block,
                });
            }
            _ => assert!(moved.is_empty() && updates.is_empty(), "collection is not interleaved"),
        }
    }
    all
}

/// Figs 9 and 10 on every victim of a random run: what moves, what is updated, in which order; and
/// cases exactly like the figures' are among them.
#[test]
fn figures_9_and_10_map_and_data_victims() {
    for lazy in ["false", "true"] {
        let pairs = [
            ("dftl.cmt_entries", "8"),
            ("dftl.lazy_copying", lazy),
            ("dftl.checkpoint_interval", "0"),
            // Greedy would rarely take a map block that still holds valid pages.
            ("gc.victim", "fifo"),
        ];
        let config = tiny("dftl", 1500, &pairs);
        let mut device = open("dftl", &config);
        let device = device.as_mut();
        device.verify_reads();
        let mut rng = Rng::new(4, Purpose::Workload);
        let pages = config.device.logical_pages() as u32;
        (0..u64::from(pages)).for_each(|page| submit(device, &config, Op::Write, page));
        let (mut like_figure_9, mut like_figure_10, mut batched) = (0, 0, 0);
        for _ in 0..30_000 {
            // Most writes go to two translation pages; the others lie still long enough to be
            // moved.
            let near = rng.below(100) < 97;
            let page = u64::from(rng.below(if near { 256 } else { pages }));
            let before = device.board().meter().events(Event::LazyUpdates);
            let operations = record(device, |device| submit(device, &config, Op::Write, page));
            let cached = device.board().meter().events(Event::LazyUpdates) - before;
            let found = victims(&operations);
            let moved_data: usize =
                found.iter().filter(|v| !v.map_block).map(|v| v.moved.len()).sum();
            for victim in &found {
                if victim.map_block {
                    like_figure_9 += usize::from(victim.moved.len() == 2);
                    continue;
                }
                let parts = victim.updates.len();
                assert!(parts <= victim.moved.len(), "one update per translation page at most");
                batched += usize::from(parts > 0 && parts < victim.moved.len());
                // Fig. 10: two valid pages of one translation page.
                like_figure_10 += usize::from(victim.moved.len() == 2 && parts == 1);
            }
            assert!(cached as usize <= moved_data);
            if lazy == "false" {
                assert_eq!(cached, 0, "without lazy copying flash always follows");
            }
        }
        device.audit().expect("map, flash and host agree");
        assert!(like_figure_9 > 0, "{like_figure_9} victims like Fig. 9");
        assert!(like_figure_10 > 10, "{like_figure_10} victims like Fig. 10");
        assert!(batched > 10, "{batched} batched updates");
    }
}

/// Fig. 10 (e): an entry that is cached follows its page even when flash is updated too: the next
/// read is a hit and finds the page.
#[test]
fn figure_10_a_cached_entry_follows_its_page() {
    let pairs = [
        ("dftl.cmt_entries", "8"),
        ("dftl.lazy_copying", "false"),
        ("dftl.cmt_policy", "lru"),
        ("dftl.checkpoint_interval", "0"),
    ];
    let config = tiny("dftl", 24, &pairs);
    let mut device = open("dftl", &config);
    let device = device.as_mut();
    device.verify_reads();
    submit(device, &config, Op::Write, 0);
    let first = place(device, 0);
    let mut rng = Rng::new(4, Purpose::Workload);
    let mut moves = 0;
    let mut last = first;
    for _ in 0..4000 {
        submit(device, &config, Op::Read, 0);
        submit(device, &config, Op::Write, 1 + u64::from(rng.below(95)));
        let now = place(device, 0);
        if now != last {
            moves += 1;
            last = now;
            let operations = record(device, |device| submit(device, &config, Op::Read, 0));
            assert_eq!(operations, [Operation::Read(now, Cause::Host)], "a hit at the new place");
        }
    }
    assert!(moves > 10, "page 0 was moved {moves} times");
}

/// Table 5's identities hold on every run (`docs/papers/dftl2014.md#identities`).
#[test]
fn table_5_identities() {
    let variants: [&[(&str, &str)]; 5] = [
        &[],
        &[("dftl.cmt_policy", "lru")],
        &[("dftl.cmt_policy", "slru"), ("gc.victim", "fifo")],
        &[("dftl.checkpoint_interval", "0"), ("gc.mode", "both")],
        &[("dftl.init_map", "written")],
    ];
    for pairs in variants {
        let mut settings = config(&[("dftl.cmt_entries", "256")]);
        for (key, value) in pairs {
            settings.set(key, value).expect("legal settings");
        }
        settings.device.set_capacity(32 << 20, 0);
        settings.device.blocks_per_plane += 16;
        let mut device = open("dftl", &settings);
        let device = device.as_mut();
        let pages = settings.device.logical_pages() as u32;
        (0..u64::from(pages)).for_each(|page| submit(device, &settings, Op::Write, page));
        device.start_measuring();
        let mut rng = Rng::new(8, Purpose::Workload);
        for _ in 0..60_000 {
            let op = if rng.below(10) < 8 { Op::Write } else { Op::Read };
            submit(device, &settings, op, u64::from(rng.below(pages)));
        }
        device.audit().expect("the audit passes");
        let meter = device.board().meter();
        let merges = meter.merges();
        assert_eq!(merges.switch + merges.partial, meter.total_erases(), "SM + P = erases");
        assert_eq!(merges.full, 0, "page-mapped schemes have no full merge");
        assert_eq!(meter.reads(Cause::Gc), meter.programs(Cause::Gc), "(1) = (5)");
        assert_eq!(meter.reads(Cause::GcMapBlock), meter.programs(Cause::GcMapBlock), "(2) = (6)");
        assert_eq!(
            meter.reads(Cause::GcMapUpdate),
            meter.programs(Cause::GcMapUpdate),
            "(4) = (8)"
        );
        let misses = meter.events(Event::MapLookups) - meter.events(Event::MapHits);
        let (reads, writes) = (meter.reads(Cause::Translate), meter.programs(Cause::Translate));
        assert_eq!(misses, reads - writes, "misses = (3) - (7)");
        assert_eq!(writes, meter.events(Event::EvictDirty), "(7) = changed entries evicted");
        let map_writes =
            [Cause::GcMapBlock, Cause::Translate, Cause::GcMapUpdate, Cause::Checkpoint]
                .map(|cause| meter.programs(cause))
                .iter()
                .sum::<u64>() as f64;
        let ratio = meter.erases(BlockRole::Map) as f64 / (map_writes / 64.0);
        assert!((0.97..1.03).contains(&ratio), "map erases are {ratio} of map writes / 64");
        assert!(meter.erases(BlockRole::Data) > 0 && meter.programs(Cause::Gc) > 0);
    }
}

/// Settings that make DFTL a page map: every entry cached from the start of measuring, no
/// checkpoints, the same threshold, the same blocks; on the other side nothing but the threshold.
#[test]
fn dftl_with_every_entry_cached_is_the_ideal_page_map() {
    let mut settings = config(&[
        ("gc.threshold", "4"),
        ("dftl.cmt_entries", "16384"),
        ("dftl.checkpoint_interval", "0"),
    ]);
    settings.device.set_capacity(32 << 20, 0);
    settings.device.blocks_per_plane += 30;
    let run = |scheme: &str| {
        let mut device = open(scheme, &settings);
        let device = device.as_mut();
        let pages = settings.device.logical_pages() as u32;
        assert_eq!(pages, 16384);
        (0..u64::from(pages)).for_each(|page| submit(device, &settings, Op::Write, page));
        device.start_measuring();
        let mut rng = Rng::new(2, Purpose::Workload);
        for _ in 0..80_000 {
            submit(device, &settings, Op::Write, u64::from(rng.below(pages)));
        }
        let meter = device.board().meter();
        let merges = meter.merges();
        assert!(meter.total_erases() > 1000);
        (
            meter.total_erases(),
            meter.programs(Cause::Gc),
            meter.total_programs(),
            (merges.switch, merges.partial),
        )
    };
    assert_eq!(run("dftl"), run("ideal_page"));
}

/// What the checkpoint interval buys: recovery time and losses, against a full scan (interval 0),
/// and against the paper's directory in non-volatile memory.
#[test]
fn recovery_time_and_losses_by_checkpoint_interval() {
    let mut times = Vec::new();
    for (scheme, interval) in
        [("dftl", "0"), ("dftl", "65536"), ("dftl", "16384"), ("dftl", "4096"), ("dftl:gtd", "0")]
    {
        let mut settings =
            config(&[("dftl.checkpoint_interval", interval), ("dftl.cmt_entries", "1024")]);
        settings.device.set_capacity(256 << 20, 0);
        settings.device.blocks_per_plane += 64;
        let mut device = open(scheme, &settings);
        let device = device.as_mut();
        let pages = settings.device.logical_pages() as u32;
        (0..u64::from(pages)).for_each(|page| submit(device, &settings, Op::Write, page));
        let mut rng = Rng::new(6, Purpose::Workload);
        (0..30_000).for_each(|_| {
            submit(device, &settings, Op::Write, u64::from(rng.below(pages)));
        });
        let truth: Vec<Location> = (0..pages).map(|page| device.locate(Lpn(page))).collect();
        device.start_measuring();
        let nanos = device.power_cycle().expect("recovery works");
        device.audit().expect("the audit passes");
        let lost = (0..pages).filter(|&p| device.locate(Lpn(p)) != truth[p as usize]).count();
        let oob_reads = device.board().meter().oob_reads();
        println!(
            "{scheme:<9} interval {interval:>6}: {:.3} s, {oob_reads} out-of-band reads, {lost} \
             entries lost",
            nanos as f64 / 1e9
        );
        assert_eq!(lost > 0, scheme == "dftl:gtd", "only the paper's consistency loses entries");
        assert_eq!(lost as u64, device.board().meter().events(Event::LostMapEntries));
        times.push(nanos);
    }
    assert!(times[..4].is_sorted_by(|a, b| a > b), "more checkpoints, faster recovery: {times:?}");
    assert!(times[4] < times[0] / 5, "the directory alone is read much faster than everything");
}

/// A random mix keeps its promises when every entry competes for four slots; the counters add up.
#[test]
fn counters_of_the_cache_add_up() {
    let config = tiny("dftl", 24, &[("dftl.cmt_entries", "4"), ("dftl.batch_evict", "true")]);
    let mut device = open("dftl", &config);
    for request in mixed(&config, 2000, 3) {
        device.submit(&request).expect("works");
    }
    let meter = device.board().meter();
    let event = |event| meter.events(event);
    let misses = event(Event::MapLookups) - event(Event::MapHits);
    let evicted = event(Event::EvictClean) + event(Event::EvictDirty);
    assert!((misses - 4..=misses).contains(&evicted), "{misses} misses, {evicted} evictions");
    assert!(event(Event::BatchedEvictions) > 0);
}

/// Memory that survives a power cut as a whole loses no changed entry, whatever
/// `dftl.consistency` says of the directory; a copy of the directory makes no sense then.
#[test]
fn nonvolatile_memory_loses_no_changed_entry() {
    for (nonvolatile, loses) in [("false", true), ("true", false)] {
        let pairs = [("dftl.cmt_entries", "20"), ("device.ram_nonvolatile", nonvolatile)];
        let config = tiny("dftl:gtd", 60, &pairs);
        let mut device = open("dftl:gtd", &config);
        for request in mixed(&config, 1000, 2) {
            device.submit(&request).expect("works");
        }
        device.power_cycle().expect("recovery works");
        device.audit().expect("the device is sound");
        let lost = device.board().meter().events(Event::LostMapEntries);
        assert_eq!(lost > 0, loses, "{lost} entries lost with ram_nonvolatile = {nonvolatile}");
    }
    let pairs = [
        ("dftl.consistency", "gtd"),
        ("dftl.gtd_sync_every", "64"),
        ("device.ram_nonvolatile", "true"),
    ];
    let (row, _) = schemes::find("dftl").expect("a scheme of the table");
    let refusal = (row.check)(&config(&pairs)).expect_err("nothing to copy").to_string();
    assert!(refusal.contains("under battery"), "{refusal}");
}
