//! Driving requests through a host and a device.

use ftlab_engine::host::Driver;
use ftlab_engine::request::{Completion, Request};
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
    done
}
