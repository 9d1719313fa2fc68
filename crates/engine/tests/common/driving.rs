//! Driving requests through a host and a device.

use super::mixed;
use ftlab_engine::config::Config;
use ftlab_engine::host::Driver;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::ssd::{Device, DeviceError};

/// When requests reach the driver.
#[derive(Clone, Copy)]
pub enum Load {
    /// As they say.
    Open,
    /// So many in flight.
    Closed(u32),
}

/// Drives requests through a device; what was served, in order of service.
pub fn drive(
    device: &mut dyn Device,
    requests: &[Request],
    load: Load,
) -> Vec<(Request, Completion)> {
    drive_and_ask(device, requests, load).0
}

/// The same, and the longest queue that the driver saw.
pub fn drive_and_ask(
    device: &mut dyn Device,
    requests: &[Request],
    load: Load,
) -> (Vec<(Request, Completion)>, u64) {
    let in_flight = match load {
        Load::Open => None,
        Load::Closed(depth) => Some(depth),
    };
    let mut driver = Driver::new(device.config(), in_flight);
    let mut done = Vec::new();
    let mut served = |_: &mut dyn Device, request: &Request, completion: &Completion| {
        assert_eq!(request.arrival, completion.arrival);
        done.push((*request, *completion));
        Ok::<(), DeviceError>(())
    };
    for request in requests {
        let arrival = match load {
            Load::Open => request.arrival,
            Load::Closed(_) => driver.next_arrival(device, &mut served).expect("it works"),
        };
        driver.submit(device, &Request { arrival, ..*request }, &mut served).expect("it works");
    }
    driver.finish(device, &mut served).expect("it works");
    (done, driver.longest_queue())
}

/// Random requests that arrive `gap` ns apart on average, of eight units. The unit's upper part is
/// the request's number, so that tests tell requests apart.
pub fn arriving(config: &Config, count: usize, gap: u32, seed: u64) -> Vec<Request> {
    let mut rng = Rng::new(seed, Purpose::Workload);
    let mut arrival = 0;
    let numbered = mixed(config, count, seed).into_iter().enumerate();
    let timed = numbered.map(|(number, request)| {
        arrival += u64::from(rng.below(2 * gap));
        Request { arrival, unit: number as u32 * 8 + rng.below(8), ..request }
    });
    timed.collect()
}

/// The number of a request among those that [`arriving`] made.
pub fn number(request: &Request) -> usize {
    request.unit as usize / 8
}

/// Requests that must not pass each other: sectors in common and not both reads, or a flush.
pub fn ordered(one: &Request, two: &Request) -> bool {
    let touches = |request: &Request, sector: u64| {
        (request.first_sector..request.first_sector + u64::from(request.sectors)).contains(&sector)
    };
    let shared = (one.first_sector..one.first_sector + u64::from(one.sectors))
        .any(|sector| touches(two, sector));
    let flush = one.op == Op::Flush || two.op == Op::Flush;
    flush || (shared && !(one.op == Op::Read && two.op == Op::Read))
}
