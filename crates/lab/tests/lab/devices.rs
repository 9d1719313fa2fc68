//! Every bundled device against the formulas that its own settings give: unloaded latency, peak
//! bandwidth.

use ftlab_engine::config::{Config, TimingProfile};
use ftlab_engine::host::{Driver, Duplex};
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::schemes;
use ftlab_engine::ssd::{Device, DeviceError};

use ftlab_lab::devices::{DEVICES, find};

fn settings(config: &Config) -> Config {
    let mut config = config.clone();
    // Small and fast to make; what is written fills a small part, so that nothing is collected.
    config.device.set_capacity(2 << 30, 0);
    let minimum = (schemes::find("ideal_page").unwrap().0.minimum_blocks)(&config);
    config.device.set_capacity(2 << 30, minimum);
    config
}

fn open(config: &Config) -> Box<dyn Device> {
    let (row, _) = schemes::find("ideal_page").unwrap();
    (row.open)(config, 1).unwrap()
}

/// A request of whole flash pages.
fn request(config: &Config, op: Op, page: u64, pages: u64) -> Request {
    let sectors = config.device.page_bytes.0 / 512;
    let first_sector = page * sectors;
    Request {
        arrival: 0,
        op,
        first_sector,
        sectors: (pages * sectors) as u32,
        unit: 0,
        stream: None,
        content: None,
    }
}

/// Time of the data of `bytes` on the link, ns, rounded up.
fn on_link(config: &Config, bytes: u64) -> u64 {
    match config.host.link_bandwidth.0 {
        0 => 0,
        bandwidth => (bytes * 1_000_000_000).div_ceil(bandwidth),
    }
}

/// Mean of a page time over the page types, ns.
fn mean(types: &[u64], one: u64) -> f64 {
    match types.len() {
        0 => one as f64,
        count => types.iter().sum::<u64>() as f64 / count as f64,
    }
}

fn types(config: &Config, op: Op) -> (Vec<u64>, u64) {
    let timing = &config.timing;
    match op {
        // What is written on an empty drive goes to its cache.
        Op::Read if config.slc.is_on() => (Vec::new(), timing.slc_read.0),
        _ if config.slc.is_on() => (Vec::new(), timing.slc_program.0),
        Op::Read => (timing.read_pages.0.iter().map(|t| t.0).collect(), timing.read.0),
        _ => (timing.program_pages.0.iter().map(|t| t.0).collect(), timing.program.0),
    }
}

/// One flash page, written and read on an idle device: link, controller, channel and cells one
/// after the other. Units of a flash page cross the controller one by one.
#[test]
fn unloaded_latency_is_the_sum_of_its_parts_on_every_device() {
    for bundled in DEVICES {
        let config = settings(&find(bundled.name).unwrap().config);
        let (name, timing) = (bundled.name, &config.timing);
        let mut device = open(&config);
        let units = u64::from(config.device.units_per_page());
        let link = config.host.command_overhead.0 + on_link(&config, config.device.page_bytes.0);
        let controller = units * timing.controller_page.0;
        for op in [Op::Write, Op::Read] {
            let (types, one) = types(&config, op);
            let cells = types.first().copied().unwrap_or(one);
            let arrival = device.idle_from();
            let done = device.submit(&Request { arrival, ..request(&config, op, 0, 1) }).unwrap();
            let expected = link + controller + timing.page_transfer.0 + cells;
            assert_eq!(done.device(), expected, "{name} {op:?}");
        }
    }
}

/// Flash pages a second that the narrowest of link, controller, channels and cells can move.
fn bound(config: &Config, op: Op, pages_per_request: u64) -> f64 {
    let (timing, device) = (&config.timing, &config.device);
    let (types, one) = types(config, op);
    let cells = mean(&types, one);
    let controller = timing.controller_page.0 * u64::from(device.units_per_page());
    if timing.profile == TimingProfile::Serial {
        return 1e9 / (cells + (timing.page_transfer.0 + controller) as f64);
    }
    let together = match op {
        Op::Read => timing.multi_plane_read,
        _ => timing.multi_plane_program,
    };
    let dies = device.plane_count() / u64::from(device.planes);
    let working =
        if timing.plane_parallel || together { device.plane_count() } else { dies } as f64;
    let per = |nanos: f64| if nanos > 0.0 { 1e9 / nanos } else { f64::INFINITY };
    let command = match (op, config.host.link_duplex) {
        (Op::Read, Duplex::Full) => 0,
        _ => config.host.command_overhead.0,
    };
    let data = on_link(config, pages_per_request * device.page_bytes.0) + command;
    per(cells / working)
        .min(per(timing.page_transfer.0 as f64 / f64::from(device.channels)))
        .min(per(controller as f64))
        .min(per(data as f64 / pages_per_request as f64))
}

/// Large requests in order, as many in flight as the device holds: no more than the narrowest part
/// moves, and not much less.
#[test]
fn peak_bandwidth_is_that_of_the_narrowest_part_on_every_device() {
    for bundled in DEVICES {
        let config = settings(&find(bundled.name).unwrap().config);
        let mut device = open(&config);
        let (pages, count) = (64, 96);
        for op in [Op::Write, Op::Read] {
            device.start_measuring();
            let mut driver = Driver::new(&config, Some(config.queue_depth()));
            let mut last = 0;
            let mut served = |_: &mut dyn Device, _: &Request, done: &Completion| {
                last = last.max(done.completed);
                Ok::<(), DeviceError>(())
            };
            for number in 0..count {
                let arrival = driver.next_arrival(device.as_mut(), &mut served).unwrap();
                let request = request(&config, op, number * pages, pages);
                driver
                    .submit(device.as_mut(), &Request { arrival, ..request }, &mut served)
                    .unwrap();
            }
            driver.finish(device.as_mut(), &mut served).unwrap();
            let reached = (count * pages) as f64 / last as f64 * 1e9 / bound(&config, op, pages);
            println!("{:<14} {op:?}: {:.1} % of the bound", bundled.name, 100.0 * reached);
            assert!(reached < 1.001, "{} {op:?}: {reached} of what is possible", bundled.name);
            assert!(reached > 0.95, "{} {op:?}: {reached} of what is possible", bundled.name);
        }
    }
}
