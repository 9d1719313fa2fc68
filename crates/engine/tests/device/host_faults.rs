//! The schedulers' conformance while the flash fails: every request is served once, in an order
//! that it may have, and right or with its lost pages named; a device at its end says so.

use crate::common::driving::{Load, arriving, drive, number, ordered};
use crate::common::{faults, open, tiny};
use ftlab_engine::board::nand::fault::Fault;
use ftlab_engine::config::Config;
use ftlab_engine::host::{Driver, SchedulerKind};
use ftlab_engine::meter::Event;
use ftlab_engine::request::{Completion, Request};
use ftlab_engine::ssd::{Device, DeviceError};

const SCHEMES: [&str; 3] = ["ideal_page", "dftl", "fast"];

fn loaded(scheme: &str, scheduler: &str, faults: &[(&str, &str)]) -> Config {
    let host = [
        ("host.scheduler", scheduler),
        ("host.streams", "2"),
        ("host.arbitration", "round_robin"),
        ("host.queue_depth", "3"),
        ("host.driver_queue_depth", "12"),
        ("timing.profile", "parallel"),
        ("device.channels", "2"),
    ];
    tiny(scheme, 24, &[&host, faults].concat())
}

/// Served at most once each, and what must keep its order did. Places by number; none: not served.
fn check_order(requests: &[Request], done: &[Request], at: &str) -> Vec<Option<usize>> {
    let mut place = vec![None; requests.len()];
    for (index, request) in done.iter().enumerate() {
        assert_eq!(place[number(request)].replace(index), None, "{at}: served twice");
    }
    for (later, two) in requests.iter().enumerate().filter(|(later, _)| place[*later].is_some()) {
        for (earlier, one) in requests.iter().enumerate().take(later) {
            let kept = place[earlier].is_some_and(|before| Some(before) < place[later]);
            assert!(kept || !ordered(one, two), "{at}: {two:?} passed {one:?}");
        }
    }
    place
}

#[test]
fn every_scheduler_conserves_requests_under_every_kind_of_fault() {
    // What happened in all: the faults are really there.
    let (mut lost, mut programs, mut erases) = (0, 0, 0);
    for (_, scheduler) in SchedulerKind::ALL {
        for scheme in SCHEMES {
            for fault in faults::ALL {
                for load in [Load::Open, Load::Closed(20)] {
                    let config = loaded(scheme, scheduler, fault);
                    let at = format!("{scheme} {scheduler} {fault:?}");
                    let mut device = open(scheme, &config);
                    device.verify_reads();
                    let requests = arriving(&config, 1000, 300_000, 13);
                    let done = drive(device.as_mut(), &requests, load);
                    let served: Vec<Request> = done.iter().map(|(request, _)| *request).collect();
                    let place = check_order(&requests, &served, &at);
                    assert!(place.iter().all(Option::is_some), "{at}: {} served", done.len());
                    let meter = device.board().meter();
                    assert_eq!(meter.host().completed, 1000, "{at}");
                    let unreadable = done.iter().filter_map(|(_, done)| done.unreadable);
                    let pages: Vec<u64> = unreadable.map(|lost| u64::from(lost.pages)).collect();
                    assert_eq!(meter.host().failed, pages.len() as u64, "{at}");
                    assert_eq!(meter.host().unreadable_pages, pages.iter().sum::<u64>(), "{at}");
                    lost += pages.len();
                    programs += meter.events(Event::ProgramFailures);
                    erases += meter.events(Event::EraseFailures);
                    device.audit().unwrap_or_else(|error| panic!("{at}: {error}"));
                }
            }
        }
    }
    assert!(lost > 100 && programs > 100 && erases > 100, "{lost} {programs} {erases}");
}

/// Every third erase fails: the device ends by name while requests wait behind it. What was served
/// by then was served once and in order, and is all that was counted.
#[test]
fn a_device_worn_out_ends_with_requests_still_queued() {
    for (_, scheduler) in SchedulerKind::ALL {
        for scheme in SCHEMES {
            for in_flight in [None, Some(20)] {
                let config = loaded(scheme, scheduler, &[("nand.erase_failure_rate", "0.3")]);
                let at = format!("{scheme} {scheduler} {in_flight:?}");
                let mut device = open(scheme, &config);
                let requests = arriving(&config, 4000, 20_000, 3);
                let mut driver = Driver::new(&config, in_flight);
                let mut done = Vec::new();
                let mut served = |_: &mut dyn Device, request: &Request, _: &Completion| {
                    done.push(*request);
                    Ok::<(), DeviceError>(())
                };
                let device = device.as_mut();
                let mut sent = 0;
                let mut send = |request: &Request| {
                    let arrival = match in_flight {
                        None => request.arrival,
                        Some(_) => driver.next_arrival(device, &mut served)?,
                    };
                    sent += 1;
                    driver.submit(device, &Request { arrival, ..*request }, &mut served)
                };
                let end = requests.iter().find_map(|request| send(request).err());
                let Some(DeviceError::Fault(Fault::WornOut { retired_blocks, .. })) = end else {
                    panic!("{at}: every third erase failed, but the device ended with {end:?}");
                };
                assert_eq!(retired_blocks, device.board().nand().retired_blocks(), "{at}");
                assert!(done.len() + 1 < sent, "{at}: {} served of {sent}", done.len());
                assert_eq!(device.board().meter().host().completed, done.len() as u64, "{at}");
                check_order(&requests, &done, &at);
            }
        }
    }
}
