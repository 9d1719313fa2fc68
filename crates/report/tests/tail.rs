//! The slowest requests on a real device: an example worked out by hand, and no memory taken while
//! a run is measured.
#![allow(unsafe_code, reason = "counting allocations needs a global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ftlab_engine::config::Config;
use ftlab_engine::host::Driver;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::Nanos;
use ftlab_report::result::{Ahead, ByCause, Stages, Tail};
use ftlab_report::slowest::story;
use ftlab_report::tail::TailRecorder;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no counter any more; none that is tested ends before it is asked.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Six logical blocks of four pages of 512 bytes, all written, under BAST with two log blocks.
/// A page is read in 10 µs, programmed in 100 µs and transferred in 5 µs, a block erased in 1 ms.
fn device(pairs: &[(&str, &str)]) -> Box<dyn Device> {
    let mut config = Config::default();
    let common = [
        ("device.pages_per_block", "4"),
        ("device.page_bytes", "512"),
        ("bast.log_blocks", "2"),
        ("timing.read", "10us"),
        ("timing.program", "100us"),
        ("timing.erase", "1ms"),
        ("timing.page_transfer", "5us"),
    ];
    for (key, value) in common.iter().chain(pairs) {
        config.set(key, value).unwrap_or_else(|error| panic!("{error}"));
    }
    config.device.set_capacity(6 * 4 * 512, 24);
    let (row, _) = schemes::find("bast").unwrap();
    let mut device = (row.open)(&config, 1).unwrap();
    for page in 0..24 {
        device.submit(&request(0, Op::Write, page)).unwrap();
    }
    device.start_measuring();
    device
}

fn request(arrival: Nanos, op: Op, page: u64) -> Request {
    Request { arrival, op, first_sector: page, sectors: 1, unit: 0, stream: None, content: None }
}

/// What a run of these requests comes to, and how often memory was asked for meanwhile.
fn run(device: &mut dyn Device, requests: &[Request]) -> (Tail, u64) {
    let mut tail = TailRecorder::new(device);
    let mut driver = Driver::new(device.config(), None);
    let before = ALLOCATIONS.get();
    for request in requests {
        tail.arrives(request);
        let mut served = |device: &mut dyn Device, request: &Request, done: &Completion| {
            tail.served(device, request, done);
            Ok::<(), DeviceError>(())
        };
        driver.submit(device, request, &mut served).unwrap();
    }
    let mut served = |device: &mut dyn Device, request: &Request, done: &Completion| {
        tail.served(device, request, done);
        Ok::<(), DeviceError>(())
    };
    driver.finish(device, &mut served).unwrap();
    let taken = ALLOCATIONS.get() - before;
    (tail.finish(device), taken)
}

/// Pages 5 and 8 get the two log blocks. Page 12 has none: the log block of pages 4 to 7 is merged
/// in full (four copies of 10 + 5 + 5 + 100 µs, two erases of 1 ms), then the page is programmed
/// (5 + 100 µs): 2,585 µs. A read that arrives 40 µs later waits for the rest, 2,545 µs, and takes
/// 15 µs. A write that arrives 10 µs after that waits until the read is over, 2,550 µs, and takes
/// 105 µs.
#[test]
fn who_waits_behind_a_merge_is_told_so() {
    const US: u64 = 1000;
    let requests = [
        request(0, Op::Write, 5),
        request(1_000 * US, Op::Write, 8),
        request(2_000 * US, Op::Write, 12),
        request(2_040 * US, Op::Read, 0),
        request(2_050 * US, Op::Write, 13),
    ];
    let (tail, _) = run(device(&[]).as_mut(), &requests);
    let told: Vec<(u64, u64)> = tail.worst.iter().map(|one| (one.index, one.system_ns)).collect();
    let expected = [(4, 2_655), (2, 2_585), (3, 2_560), (0, 105), (1, 105)];
    assert_eq!(told, expected.map(|(index, micros)| (index, micros * US)));

    let [last, merging, read, first, _] = tail.worst.as_slice() else { panic!("five requests") };
    let merge = (4 * 120 + 2_000) * US;
    let merge_and_program = ByCause { merge, host: 105 * US, ..ByCause::default() };
    let flash = (4 * 110 + 2_000 + 100) * US;
    let stages = Stages { flash, channel: (4 * 10 + 5) * US, ..Stages::default() };
    assert_eq!((merging.stages_ns, merging.work_ns), (stages, merge_and_program));
    assert_eq!((merging.full_merges, merging.merged_data_blocks), (1, 1));
    assert_eq!((merging.reads.merge, merging.programs.merge, merging.erases.merge), (4, 4, 2));
    assert_eq!((merging.programs.host, merging.ahead), (1, Ahead::default()));

    let stages = Stages { flash: 10 * US, channel: 5 * US, ..Stages::default() };
    assert_eq!(read.stages_ns, Stages { driver_queue: 2_545 * US, ..stages });
    assert_eq!(read.ahead, Ahead { requests: 1, work_ns: merge_and_program });

    let stages = Stages { flash: 100 * US, channel: 5 * US, ..Stages::default() };
    assert_eq!(last.stages_ns, Stages { driver_queue: 2_550 * US, ..stages });
    let both = ByCause { merge, host: (105 + 15) * US, ..ByCause::default() };
    assert_eq!(last.ahead, Ahead { requests: 2, work_ns: both });
    assert_eq!((last.op.as_str(), last.first_sector, last.sectors), ("write", 13, 1));
    assert_eq!(first.ahead, Ahead::default());

    assert_eq!(
        story(last),
        "Waited 2.550 ms (96 %) in the driver's queue behind 2 requests, whose work was 95 % \
         merge, 5 % host."
    );
    assert_eq!(
        story(merging),
        "Spent 2.540 ms (98 %) in the flash cells; its own work was 96 % merge, 4 % host (1 full \
         merge of 1 data block, 4 pages read, 5 pages programmed, 2 blocks erased)."
    );

    // Of five requests a hundredth is one, and so is a thousandth.
    let slowest = &tail.slowest_1_percent;
    assert_eq!((slowest.requests, slowest.from_ns), (1, 2_655 * US));
    assert_eq!(slowest.stages_ns.driver_queue, 2_550_000.0);
    assert_eq!((slowest.ahead.requests, slowest.ahead.work_ns.merge), (2.0, merge as f64));
    assert_eq!(tail.slowest_0_1_percent, *slowest);
}

/// The same on dies that work side by side: the read of another die waits for nobody.
#[test]
fn in_parallel_a_request_is_in_front_as_long_as_its_work_goes_on() {
    let pairs = [("timing.profile", "parallel")];
    let requests = [
        request(0, Op::Write, 5),
        request(1_000_000, Op::Write, 8),
        request(2_000_000, Op::Write, 12),
        request(2_040_000, Op::Read, 0),
    ];
    let (tail, _) = run(device(&pairs).as_mut(), &requests);
    let read = tail.worst.iter().find(|one| one.op == "read").unwrap();
    assert_eq!((read.ahead.requests, read.stages_ns.driver_queue), (1, 0));
    assert_eq!(read.ahead.work_ns.merge, (4 * 120 + 2_000) * 1000);
    for one in &tail.worst {
        assert_eq!(one.stages_ns.values().iter().sum::<u64>(), one.system_ns);
    }
}

#[test]
fn nothing_is_allocated_while_a_run_is_measured() {
    for pairs in [
        &[][..],
        &[("timing.profile", "parallel")],
        &[("host.scheduler", "read_first"), ("host.streams", "2"), ("host.queue_depth", "2")],
    ] {
        let mut device = device(pairs);
        let ops = [Op::Write, Op::Read, Op::Write, Op::Write, Op::Flush];
        let requests: Vec<Request> = (0..6000u64)
            .map(|number| {
                let op = ops[number as usize % ops.len()];
                let sectors = u32::from(op != Op::Flush);
                let unit = number as u32 % 2;
                Request { sectors, unit, ..request(number * 150_000, op, number * 7919 % 24) }
            })
            .collect();
        let (tail, taken) = run(device.as_mut(), &requests);
        assert_eq!(taken, 0, "{pairs:?}: memory was asked for");
        assert_eq!(tail.worst.len(), 10, "{pairs:?}");
        assert!(tail.worst[0].ahead.requests > 1, "{pairs:?}: something must wait");
        assert!(tail.slowest_1_percent.requests >= 48, "{pairs:?}: of 4,800 reads and writes");
    }
}
