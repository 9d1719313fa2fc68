//! HAT's worked examples (Figs 6 and 7) as flash operations and moments, exact to the nanosecond:
//! what the phase-change memory does beside the flash, when a request waits for it after all, and
//! what each setting changes.

use crate::common::{config, fill, flush, mixed, open, pages, place, record, submit, tiny};
use ftlab_engine::board::energy::memory_energy;
use ftlab_engine::board::nand::record::Operation;
use ftlab_engine::config::{Config, SettingError};
use ftlab_engine::meter::{Cause, Event};
use ftlab_engine::request::{Completion, Op};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Location, Memory};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::{Lpn, Nanos, Ppn};

/// HAT 2010, Table 4.
pub(crate) const TABLE_4: [(&str, &str); 5] = [
    ("timing.profile", "parallel"),
    ("timing.read", "20us"),
    ("timing.program", "200us"),
    ("timing.erase", "1.5ms"),
    ("timing.page_transfer", "52800ns"),
];
/// A page read and a page write of Table 4, and the phase-change memory's read and write.
const FLASH_READ: Nanos = 72_800;
pub(crate) const FLASH_WRITE: Nanos = 252_800;
const PCM_READ: Nanos = 115;
pub(crate) const PCM_WRITE: Nanos = 90_000;

/// One page at `time`, and what became of it.
fn at(device: &mut dyn Device, config: &Config, time: Nanos, op: Op, page: u64) -> Completion {
    let mut request = pages(config, op, page, 1);
    request.arrival = time;
    device.submit(&request).expect("the device works")
}

/// Long after everything: no port and no cell is busy.
const LATER: Nanos = 1_000_000_000_000;

fn events(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

/// A device of Table 4's times with a QMT of two entries, whose flash page 600 holds logical page
/// 6560; nothing of it is cached. With `dirty` the two entries that are have changed.
fn before_figure_6(dirty: bool) -> (Config, Box<dyn Device>) {
    let config = config(&[&TABLE_4[..], &[("hat.qmt_entries", "2")]].concat());
    let mut device = open("hat", &config);
    device.verify_reads();
    (0..600).for_each(|page| submit(device.as_mut(), &config, Op::Write, page));
    submit(device.as_mut(), &config, Op::Write, 6560);
    assert_eq!(place(device.as_ref(), 6560), Ppn(600));
    let op = if dirty { Op::Write } else { Op::Read };
    (0..2).for_each(|page| submit(device.as_mut(), &config, op, page));
    (config, device)
}

/// The SMT is what the phase-change memory holds, a page of flash, plus one, for every logical
/// page: a device whose flash is saved is there again with these words.
#[test]
fn the_smt_is_what_the_phase_change_memory_holds() {
    let (_, mut device) = before_figure_6(false);
    let device = device.as_mut();
    let held: Vec<(usize, u32)> =
        device.pcm().iter().copied().enumerate().filter(|&(_, word)| word > 0).collect();
    assert_eq!(device.pcm().len() as u32, device.board().geometry().logical_pages);
    assert_eq!(held, (0..600).chain([6560]).zip(1..).collect::<Vec<_>>());
    device.pcm_mut()[6560] = 0;
    assert_eq!(device.locate(Lpn(6560)), Location::Nowhere);
}

/// Fig. 6: the read of page 6560 misses; the SMT gives PPN 600 in 0.115 us; the flash page is read.
/// A changed tail is written back beside that read: not a nanosecond more.
#[test]
fn figure_6_a_read_that_misses_waits_for_the_smt_and_not_for_the_tail() {
    for dirty in [false, true] {
        let (config, mut device) = before_figure_6(dirty);
        let device = device.as_mut();
        let writes = events(device, Event::PcmWrites);
        let reads = events(device, Event::PcmReads);
        let mut done = None;
        let operations = record(device, |device| {
            done = Some(at(device, &config, LATER, Op::Read, 6560));
        });
        assert_eq!(operations, [Operation::Read(Ppn(600), Cause::Host)]);
        let done = done.expect("the read was recorded");
        assert_eq!(done.completed, LATER + PCM_READ + FLASH_READ, "dirty tail: {dirty}");
        assert_eq!(done.stages.map, PCM_READ);
        assert_eq!(events(device, Event::PcmReads) - reads, 1);
        assert_eq!(events(device, Event::PcmWrites) - writes, u64::from(dirty));
        if dirty {
            // (a) and (4) start together; the port is busy after the flash is done.
            assert_eq!(device.board().pcm_idle_from(), LATER + PCM_READ + PCM_WRITE);
        }
        // (b) Page 6560 is the head now: the next read hits.
        let again = at(device, &config, 2 * LATER, Op::Read, 6560);
        assert_eq!(again.device(), FLASH_READ);
        assert_eq!(events(device, Event::PcmReads) - reads, 1);
        device.audit().expect("tables, flash and host agree");
    }
}

/// Fig. 7: the write of page 6560 misses and takes the clean page 600; a changed tail goes to the
/// SMT beside the program, and so does the look-up of the superseded page.
#[test]
fn figure_7_a_write_that_misses_waits_for_nothing_but_the_flash() {
    for (dirty, seen) in [(false, false), (true, false), (true, true)] {
        let config = config(&[&TABLE_4[..], &[("hat.qmt_entries", "2")]].concat());
        let mut device = open("hat", &config);
        let device = device.as_mut();
        // The page that is superseded, or another.
        submit(device, &config, Op::Write, if seen { 6560 } else { 0 });
        (1..600).for_each(|page| submit(device, &config, Op::Write, page));
        if !dirty {
            (1..3).for_each(|page| submit(device, &config, Op::Read, page));
        }
        let (reads, writes) = (events(device, Event::PcmReads), events(device, Event::PcmWrites));
        let mut done = None;
        let operations = record(device, |device| {
            done = Some(at(device, &config, LATER, Op::Write, 6560));
        });
        assert_eq!(operations, [Operation::Program(Ppn(600), Cause::Host)]);
        let done = done.expect("the write was recorded");
        assert_eq!(done.completed, LATER + FLASH_WRITE, "dirty {dirty}, seen {seen}");
        assert_eq!(done.stages.map, 0, "translation is hidden");
        assert_eq!(events(device, Event::PcmReads) - reads, 1, "the energy is not");
        assert_eq!(events(device, Event::PcmWrites) - writes, u64::from(dirty));
        let busy = PCM_READ + if dirty { PCM_WRITE } else { 0 };
        assert_eq!(device.board().pcm_idle_from(), LATER + busy);
        assert_eq!(device.board().nand().state().is_valid(Ppn(0)), !seen, "superseded at once");
        device.audit().expect("tables, flash and host agree");
    }
}

/// Two changed tails within 90 us: a queue of one makes the second write wait until the first
/// write-back is done, a queue of two does not.
#[test]
fn a_second_write_back_within_90_us_waits_for_the_queue() {
    let on_two_channels = |queue, gap| {
        let with = [
            ("device.channels", "2"),
            ("hat.qmt_entries", "2"),
            ("hat.pcm_queue", queue),
            ("alloc.order", "channel_die_plane"),
        ];
        let config = config(&[&TABLE_4[..], &with[..]].concat());
        let mut device = open("hat", &config);
        let device = device.as_mut();
        (0..2).for_each(|page| submit(device, &config, Op::Write, page));
        let first = at(device, &config, LATER, Op::Write, 2);
        assert_eq!(first.device(), FLASH_WRITE, "the first never waits");
        let waited = device.board().nand().clock().service_time().pcm_wait;
        let second = at(device, &config, LATER + gap, Op::Write, 3);
        let waited = device.board().nand().clock().service_time().pcm_wait - waited;
        assert_eq!(second.device(), FLASH_WRITE + waited);
        assert_eq!(second.stages.map, waited, "the wait counts as map");
        waited
    };
    // The look-up of the first write's old page delays its tail's write by 0.115 us; where both
    // come at once the second's look-up goes before it too.
    assert_eq!(on_two_channels("1", 0), PCM_WRITE + 2 * PCM_READ);
    assert_eq!(on_two_channels("1", 30_000), PCM_WRITE + PCM_READ - 30_000);
    // By then the look-up, which a write under way holds up, is what the port does next.
    assert_eq!(on_two_channels("1", 90_116), 0);
    assert_eq!(on_two_channels("2", 0), 0);
}

/// A read that misses while the port writes waits for the entry, since nothing can be read before.
#[test]
fn a_read_that_misses_waits_for_the_write_under_way() {
    let (config, mut device) = before_figure_6(true);
    let device = device.as_mut();
    let waited = |device: &dyn Device| device.board().nand().clock().service_time().pcm_wait;
    let before = waited(device);
    let first = at(device, &config, LATER, Op::Read, 6560);
    // The flash is free again after 72.915 us, the port after 90.115.
    let second = at(device, &config, first.completed, Op::Read, 300);
    let port_free = LATER + PCM_READ + PCM_WRITE;
    assert_eq!(second.completed, port_free + PCM_READ + FLASH_READ);
    assert_eq!(waited(device) - before, port_free - first.completed);
}

/// Random writes and reads on a small device; what the tables did.
fn run(pairs: &[(&str, &str)]) -> Box<dyn Device> {
    let config = tiny("hat", 24, &[&[("hat.qmt_entries", "8")], pairs].concat());
    let mut device = open("hat", &config);
    device.verify_reads();
    fill(device.as_mut(), &config);
    let mut rng = Rng::new(3, Purpose::Workload);
    for _ in 0..3000 {
        let op = if rng.below(3) == 0 { Op::Read } else { Op::Write };
        let page = u64::from(rng.below(config.device.logical_pages() as u32));
        submit(device.as_mut(), &config, op, page);
    }
    device.audit().expect("tables, flash and host agree");
    device
}

/// Every access to the phase-change memory has its reason: a miss reads, a tail with U writes, and
/// so does a page that collection moved and the QMT does not hold.
#[test]
fn accesses_to_the_smt_add_up() {
    for update in ["parallel", "foreground"] {
        let device = run(&[("hat.gc_smt_update", update)]);
        let count = |event| events(device.as_ref(), event);
        let misses = count(Event::MapLookups) - count(Event::MapHits);
        assert_eq!(count(Event::PcmReads), misses, "{update}");
        let moved = device.board().meter().programs(Cause::Gc);
        let in_smt = moved - count(Event::LazyUpdates);
        assert!(in_smt > 100 && count(Event::LazyUpdates) > 10, "{update}: both happen");
        assert_eq!(count(Event::PcmWrites), count(Event::EvictDirty) + in_smt, "{update}");
        // Every miss but those into a QMT that was not full yet.
        assert_eq!(count(Event::EvictClean) + count(Event::EvictDirty), misses - 8, "{update}");
    }
}

/// What the port does is counted whether or not it is hidden; it left no trace but `pcm_wait`.
#[test]
fn posted_writes_are_part_of_the_service_time() {
    for profile in ["serial", "parallel"] {
        let device = run(&[("timing.profile", profile)]);
        let time = device.board().nand().clock().service_time();
        let count = |event| events(device.as_ref(), event);
        assert_eq!(time.pcm_write, PCM_WRITE * count(Event::PcmWrites), "{profile}");
        assert_eq!(time.pcm_read, PCM_READ * count(Event::PcmReads), "{profile}");
        assert!(time.pcm_write > 0);
    }
}

/// The old page of a write: found by a look-up that costs nothing but energy, or for nothing.
#[test]
fn without_the_look_up_of_the_superseded_page_only_reads_and_their_energy_are_saved() {
    let with = run(&[]);
    let without = run(&[("hat.write_miss_smt_read", "false")]);
    assert!(events(without.as_ref(), Event::PcmReads) < events(with.as_ref(), Event::PcmReads) / 2);
    assert!(events(without.as_ref(), Event::PcmReads) > 0, "reads look up");
    for event in [Event::PcmWrites, Event::MapHits, Event::EvictDirty] {
        assert_eq!(events(without.as_ref(), event), events(with.as_ref(), event));
    }
    assert_eq!(without.board().meter().total_erases(), with.board().meter().total_erases());
}

/// In the foreground the erase of a victim waits for the SMT; beside the copies nobody does.
#[test]
fn collection_in_the_foreground_waits_for_the_smt() {
    let [parallel, foreground] = ["parallel", "foreground"].map(|update| {
        let device = run(&[("hat.gc_smt_update", update), ("timing.pcm_write", "500us")]);
        let clock = device.board().nand().clock();
        let writes = events(device.as_ref(), Event::PcmWrites);
        (writes, device.board().meter().total_erases(), clock.idle_from())
    });
    assert_eq!(parallel.0, foreground.0);
    assert_eq!(parallel.1, foreground.1);
    assert!(parallel.2 < foreground.2, "{parallel:?} {foreground:?}");
}

/// Beside the copies no more entries wait than the queue holds: collection waits for the port. It
/// went on whatever the port did, with entries that were in no memory.
#[test]
fn collection_posts_no_more_than_the_queue_holds() {
    const SLOW: Nanos = 20_000_000;
    for (profile, queue) in [("serial", 1), ("serial", 4), ("parallel", 1), ("parallel", 4)] {
        let own = [
            ("hat.qmt_entries", "8"),
            ("timing.profile", profile),
            ("timing.pcm_write", "20ms"),
            ("hat.pcm_queue", if queue == 1 { "1" } else { "4" }),
        ];
        let config = tiny("hat", 24, &own);
        let mut device = open("hat", &config);
        let device = device.as_mut();
        fill(device, &config);
        let mut rng = Rng::new(3, Purpose::Workload);
        let (mut longest, mut moved) = (0, 0);
        for _ in 0..1000 {
            submit(device, &config, Op::Write, u64::from(rng.below(96)));
            let flash = device.idle_from() + device.measured_from();
            let ahead = device.board().pcm_idle_from().saturating_sub(flash);
            let queued = ahead.div_ceil(SLOW);
            assert!(queued <= queue, "{profile}: {queued} entries wait in a queue of {queue}");
            longest = longest.max(queued);
            moved = device.board().meter().programs(Cause::Gc) - events(device, Event::LazyUpdates);
        }
        assert_eq!(longest, queue, "{profile}: the queue fills");
        assert!(moved > 100, "{profile}: entries that collection posted: {moved}");
    }
}

/// What the queue had taken is written when the power goes: afterwards a read that misses waits for
/// its own entry alone. It waited for a write of before the cut.
#[test]
fn a_power_cut_leaves_the_port_idle() {
    let with = [
        ("hat.qmt_entries", "1"),
        ("hat.pcm_queue", "2"),
        ("timing.pcm_write", "1s"),
        ("device.ram_nonvolatile", "true"),
    ];
    let config = config(&[&TABLE_4[..], &with[..]].concat());
    let mut device = open("hat", &config);
    let device = device.as_mut();
    (0..2).for_each(|page| submit(device, &config, Op::Write, page));
    let flash = device.idle_from() + device.measured_from();
    assert!(device.board().pcm_idle_from() > flash + 500_000_000, "the port is busy");
    device.power_cycle().expect("it recovers");
    let idle = device.idle_from();
    let read = at(device, &config, idle, Op::Read, 0);
    assert_eq!(read.stages.map, PCM_READ);
    device.audit().expect("tables, flash and host agree");
}

/// Algorithm 1 as printed: a write into a full QMT deletes the tail even when it hits, and when it
/// hits the tail itself.
#[test]
fn algorithm_1_as_printed_deletes_the_tail_on_a_write_hit() {
    for (literal, hit, left) in [("false", 1, 0), ("true", 1, 1), ("true", 0, 1)] {
        let with = [("hat.qmt_entries", "2"), ("hat.alg1_literal", literal)];
        let config = config(&[&TABLE_4[..], &with[..]].concat());
        let mut device = open("hat", &config);
        let device = device.as_mut();
        (0..2).for_each(|page| submit(device, &config, Op::Write, page));
        let reads = events(device, Event::PcmReads);
        submit(device, &config, Op::Write, hit);
        assert_eq!(events(device, Event::MapHits), 1);
        assert_eq!(events(device, Event::EvictDirty), left, "literal {literal}, hit {hit}");
        assert_eq!(events(device, Event::PcmWrites), left);
        assert_eq!(events(device, Event::PcmReads), reads, "a hit reads nothing");
        // As printed, the other entry is gone or not by what the tail was.
        submit(device, &config, Op::Read, hit);
        assert_eq!(events(device, Event::MapHits), 2, "the entry is the head");
        device.audit().expect("tables, flash and host agree");
    }
}

/// A partial write reads the old page first, so it must know where that is.
#[test]
fn a_partial_write_that_misses_waits_for_the_smt() {
    let with = [("hat.qmt_entries", "1"), ("io.partial_write", "rmw")];
    let config = config(&[&TABLE_4[..], &with[..]].concat());
    let mut device = open("hat", &config);
    let device = device.as_mut();
    (0..2).for_each(|page| submit(device, &config, Op::Write, page));
    submit(device, &config, Op::Read, 1);
    let mut request = pages(&config, Op::Write, 0, 1);
    (request.arrival, request.sectors) = (LATER, 1);
    let operations = record(device, |device| {
        let done = device.submit(&request).expect("the device works");
        assert_eq!(done.device(), PCM_READ + FLASH_READ + FLASH_WRITE);
    });
    let expected =
        [Operation::Read(Ppn(0), Cause::ReadModifyWrite), Operation::Program(Ppn(2), Cause::Host)];
    assert_eq!(operations, expected);
}

/// Sizes: 128 KB at 8 B are 16,384 entries; a budget gives as many as it holds; the whole table of
/// 16 GB is 32 MB, in phase-change memory, and nothing of HAT's is in DRAM.
#[test]
fn the_qmt_takes_the_controller_cache_and_the_smt_the_pcm() {
    let (row, _) = schemes::find("hat").expect("a scheme of the table");
    let bytes = |pairs: &[(&str, &str)]| {
        let uses = (row.ram_use)(&config(pairs));
        let of = |name| *uses.iter().find(|one| one.structure == name).expect("there");
        assert!(uses.iter().all(|one| one.memory != Memory::Dram || !one.is_refreshed()));
        assert_eq!((of("qmt").memory, of("smt").memory), (Memory::Sram, Memory::Pcm));
        (of("qmt").bytes, of("smt").bytes)
    };
    let queue = |pairs: &[(&str, &str)]| {
        let uses = (row.ram_use)(&config(pairs));
        let of = uses.iter().find(|one| one.structure == "pcm_queue").expect("there");
        (of.memory, of.bytes)
    };
    assert_eq!(queue(&[("hat.pcm_queue", "3")]), (Memory::Sram, 24), "entries on their way");
    assert_eq!(queue(&[("hat.qmt_entry_bytes", "12")]), (Memory::Sram, 12));
    let sixteen_gib = ("device.logical_bytes", "16GiB");
    let physical = ("device.blocks_per_plane", "140000");
    assert_eq!(bytes(&[sixteen_gib, physical]), (128 << 10, 32 << 20));
    assert_eq!(bytes(&[("device.ram_bytes", "64KiB")]).0, (64 << 10) - 8);
    assert_eq!(bytes(&[("hat.qmt_entry_bytes", "12"), ("device.ram_bytes", "1200")]).0, 1188);
    let refused = config(&[("device.ram_bytes", "1KiB"), ("hat.qmt_entries", "128")]);
    assert!(matches!((row.check)(&refused), Err(SettingError::Conflict(_))));
    let fits = config(&[("device.ram_bytes", "1KiB"), ("hat.qmt_entries", "127")]);
    assert!((row.check)(&fits).is_ok());
}

/// Energy as the paper counts it: a light load leaves the page FTL's DRAM refreshed all the time,
/// and HAT with a write of 90 us now and then.
#[test]
fn under_a_light_load_hat_takes_less_energy_than_the_page_ftl() {
    let energy = |scheme| {
        let with = [("energy.model", "current"), ("hat.qmt_entries", "8")];
        let config = config(&[&TABLE_4[..], &with[..]].concat());
        let mut device = open(scheme, &config);
        let mut rng = Rng::new(9, Purpose::Workload);
        // 122 requests a second, as in Fin1.
        let mut now = 0;
        for _ in 0..1000 {
            now += 8_190_000;
            let op = if rng.below(4) == 0 { Op::Read } else { Op::Write };
            at(device.as_mut(), &config, now, op, u64::from(rng.below(60_000)));
        }
        let refreshed = if device.board().refreshes_dram() { now } else { 0 };
        memory_energy(&config, device.board().meter(), refreshed)
    };
    let (hat, page) = (energy("hat"), energy("ideal_page"));
    assert_eq!((hat.dram_refresh, hat.dram_access, page.pcm_read, page.pcm_write), (0, 0, 0, 0));
    assert!(hat.pcm_write > 0 && hat.pcm_read > 0);
    // 3.3 V, 3 mA, 8.19 s.
    assert_eq!(page.dram_refresh, 33 * 3 * 8_190_000_000 / 10);
    assert!(hat.total() < page.total() / 5, "{hat:?} {page:?}");
}

/// A trim changes the entry like a write: the tail goes, the SMT follows. Trims outlive a power
/// cut: with the QMT where memory keeps its content, else once they were flushed.
#[test]
fn trims_are_entries_that_say_nowhere() {
    for nonvolatile in ["false", "true"] {
        trims_say_nowhere(nonvolatile);
    }
}

fn trims_say_nowhere(nonvolatile: &str) {
    let pairs = [("hat.qmt_entries", "2"), ("device.ram_nonvolatile", nonvolatile)];
    let config = tiny("hat", 24, &pairs);
    let mut device = open("hat", &config);
    let device = device.as_mut();
    device.verify_reads();
    (0..4).for_each(|page| submit(device, &config, Op::Write, page));
    submit(device, &config, Op::Trim, 0);
    let writes = events(device, Event::PcmWrites);
    submit(device, &config, Op::Read, 2);
    submit(device, &config, Op::Read, 3);
    assert_eq!(events(device, Event::PcmWrites) - writes, 2, "page 3 and the trimmed page 0");
    let operations = record(device, |device| submit(device, &config, Op::Read, 0));
    assert!(!operations.iter().any(|op| matches!(op, Operation::Read(ppn, _) if ppn.0 == 0)));
    device.audit().expect("tables, flash and host agree");
    if nonvolatile == "false" {
        flush(device);
    }
    device.power_cycle().expect("it recovers");
    assert_eq!(device.locate(Lpn(0)), Location::Nowhere);
    assert_ne!(device.locate(Lpn(1)), Location::Nowhere);
    device.audit().expect("tables, flash and host agree");
}

/// After a power cut HAT has read every out-of-band area and corrected the SMT's old entries; with
/// memory that keeps its content it has read nothing, and the QMT is as warm as before.
#[test]
fn recovery_corrects_the_smt_or_finds_everything_in_place() {
    for nonvolatile in ["false", "true"] {
        let pairs = [("hat.qmt_entries", "8"), ("device.ram_nonvolatile", nonvolatile)];
        let config = tiny("hat", 24, &pairs);
        let mut device = open("hat", &config);
        let device = device.as_mut();
        device.verify_reads();
        for request in mixed(&config, 500, 5) {
            device.submit(&request).expect("the device works");
        }
        submit(device, &config, Op::Write, 7);
        let changed: Vec<Ppn> = [7].map(|page| place(device, page)).to_vec();
        let (compared, writes) =
            (events(device, Event::PcmReads), events(device, Event::PcmWrites));
        let scanned = device.board().meter().oob_reads();
        device.power_cycle().expect("it recovers");
        assert_eq!(vec![place(device, 7)], changed);
        let scanned = device.board().meter().oob_reads() - scanned;
        let reads = events(device, Event::PcmReads);
        let compared = reads - compared;
        let corrected = events(device, Event::PcmWrites) - writes;
        submit(device, &config, Op::Read, 7);
        let missed = events(device, Event::PcmReads) - reads;
        match nonvolatile {
            "true" => assert_eq!((scanned, compared, corrected, missed), (0, 0, 0, 0)),
            _ => {
                assert!(scanned > 96 && (1..=8).contains(&corrected), "{scanned} {corrected}");
                assert_eq!(compared, config.device.logical_pages(), "the whole SMT is read");
                assert_eq!(missed, 1, "the QMT begins empty");
            }
        }
        device.audit().expect("tables, flash and host agree");
    }
}
