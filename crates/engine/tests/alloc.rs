//! Nothing is allocated after `format`, whatever the scheme does.
#![allow(unsafe_code, reason = "counting allocations needs a global allocator")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

use common::variants::VARIANTS;
use common::{chosen, mixed, open, tiny};
use ftlab_engine::host::{Driver, SchedulerKind};
use ftlab_engine::request::{Completion, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
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
    let variants = VARIANTS.iter().map(|variant| (variant.scheme, variant.pairs));
    for (scheme, pairs) in defaults.chain(variants).filter(|(scheme, _)| chosen(scheme)) {
        let config = tiny(scheme, 24, pairs);
        let mut device = open(scheme, &config);
        let requests = mixed(&config, 4000, 1);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        assert!(before > 0, "the allocator is counted");
        for (number, request) in requests.iter().enumerate() {
            let result = device.submit(request);
            let now = ALLOCATIONS.load(Ordering::Relaxed);
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
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for (number, request) in requests.iter().enumerate() {
        let arrival = driver.next_arrival(device.as_mut(), &mut served).expect("the device works");
        let request = Request { arrival, unit: number as u32, ..*request };
        driver.submit(device.as_mut(), &request, &mut served).expect("the device works");
        let now = ALLOCATIONS.load(Ordering::Relaxed);
        assert!(now == before, "{scheduler} allocated at request {number}: {request:?}");
    }
    assert!(count > 3000, "{scheduler}: {count} requests served");
}
