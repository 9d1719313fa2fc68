//! Nothing is allocated after `format`, whatever the scheme does.
#![allow(unsafe_code, reason = "counting allocations needs a global allocator")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::buffers::{BUFFERS, Buffer};
use common::variants;
use common::{chosen, mixed, mixed_contents, open, tiny};
use ftlab_engine::host::{Driver, SchedulerKind};
use ftlab_engine::request::{Completion, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};

struct Counting;

thread_local! {
    /// Of this thread: the test harness allocates in its own, at any moment.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.get()
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

// One test only: other tests of the same binary would allocate in their own threads.
#[test]
fn nothing_is_allocated_after_format() {
    let defaults = schemes::TABLE.iter().map(|row| (row.paper.name, &[][..]));
    let variants = variants::all().map(|variant| (variant.scheme, variant.pairs));
    let behind = |buffer: &'static Buffer| ["ideal_page", "bast"].map(|scheme| (scheme, *buffer));
    let buffers = BUFFERS.iter().flat_map(behind);
    let all = defaults.chain(variants).chain(buffers);
    for (scheme, pairs) in all.filter(|(scheme, _)| chosen(scheme)) {
        let config = tiny(scheme, 24, pairs);
        let mut device = open(scheme, &config);
        let row = schemes::find(scheme).expect("a scheme of the table").0;
        let mut requests = match row.reads_content {
            true => mixed_contents(&config, 4000, 1),
            false => mixed(&config, 4000, 1),
        };
        if row.reads_content {
            // Which versions stand for which contents is no memory of the device: all are met
            // first.
            for request in requests.drain(..1500) {
                device.submit(&request).unwrap_or_else(|error| panic!("{scheme}: {error}"));
            }
        }
        let before = allocations();
        assert!(before > 0, "the allocator is counted");
        for (number, request) in requests.iter().enumerate() {
            let result = device.submit(request);
            let now = allocations();
            assert!(now == before, "{scheme} {pairs:?} allocated at request {number}: {request:?}");
            assert!(result.is_ok(), "{scheme} {pairs:?}: {result:?}");
        }
        assert!(device.board().meter().total_erases() > 0, "{scheme}: nothing was reclaimed");
    }
    for (_, scheduler) in SchedulerKind::ALL {
        the_driver_allocates_nothing(scheduler);
    }
}

fn the_driver_allocates_nothing(scheduler: &str) {
    let pairs = [
        ("host.scheduler", scheduler),
        ("host.streams", "2"),
        ("host.arbitration", "weighted"),
        ("host.driver_queue_depth", "8"),
        ("timing.profile", "parallel"),
        ("host.queue_depth", "2"),
    ];
    let config = tiny("dftl", 24, &pairs);
    let mut device = open("dftl", &config);
    let requests = mixed(&config, 4000, 1);
    let mut driver = Driver::new(&config, Some(12));
    let mut count = 0;
    let mut served = |_: &mut dyn Device, _: &Request, _: &Completion| {
        count += 1;
        Ok::<(), DeviceError>(())
    };
    let before = allocations();
    for (number, request) in requests.iter().enumerate() {
        let arrival = driver.next_arrival(device.as_mut(), &mut served).expect("the device works");
        let request = Request { arrival, unit: number as u32, ..*request };
        driver.submit(device.as_mut(), &request, &mut served).expect("the device works");
        let now = allocations();
        assert!(now == before, "{scheduler} allocated at request {number}: {request:?}");
    }
    assert!(count > 3000, "{scheduler}: {count} requests served");
}
