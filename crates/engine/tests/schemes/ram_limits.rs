//! Schemes that share RAM between map and data at their limits: the least that they can hold, and a
//! device that ends.

use crate::common::{mixed, open, pages, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::request::Op;
use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::Location;
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::Lpn;

type Pairs = &'static [(&'static str, &'static str)];

/// A device whose blocks die of age, with little RAM.
const MORTAL: Pairs = &[
    ("wear.blocks_die", "true"),
    ("device.endurance_cycles", "8"),
    ("device.ram_bytes", "2KiB"),
    ("io.partial_write", "rmw"),
    ("device.page_bytes", "1024"),
];

/// Writes at random, short and long, until the device refuses one for good reason.
fn wear_out(device: &mut dyn Device, config: &Config, rng: &mut Rng) {
    let logical = config.device.logical_pages() as u32;
    loop {
        let run = if rng.below(2) == 0 { 1 } else { 8 };
        let page = u64::from(rng.below(logical - 8));
        let mut request = pages(config, Op::Write, page, run);
        // Half of a page now and then.
        request.sectors -= u32::from(rng.below(3) == 0);
        match device.submit(&request) {
            Ok(_) => {}
            Err(DeviceError::Fault(_)) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

/// On a device that is worn out: writes may be refused, reads that must make room too; none returns
/// anything but what was written last.
fn use_on(device: &mut dyn Device, config: &Config, seed: u64) {
    for request in mixed(config, 400, seed) {
        match device.submit(&request) {
            Ok(_) | Err(DeviceError::Fault(_)) => {}
            Err(error) => panic!("seed {seed}, {request:?}: {error}"),
        }
        device.audit().unwrap_or_else(|error| panic!("seed {seed}, {request:?}: {error}"));
    }
}

/// A write that a worn-out device refuses was not done, and a page that it lost is not kept as
/// whole: past the RAM and through it, wherever the cascade ends, and where reads fail too.
#[test]
fn jtl_ends_with_what_it_promised() {
    for stops in ["true", "false"] {
        for errors in ["0", "0.02"] {
            for seed in 0..40 {
                let own: &[(&str, &str)] = &[
                    ("jtl.seq_pages", "3"),
                    ("jtl.map_share", "0.5"),
                    ("jtl.entry_bytes", "64"),
                    ("jtl.hole_stops_cascade", stops),
                    ("nand.read_error_rate", errors),
                    ("device.ram_bytes", "8KiB"),
                ];
                let config = tiny("jtl", 80, &[MORTAL, own].concat());
                let mut device = open("jtl", &config);
                device.verify_reads();
                let mut rng = Rng::new(seed, Purpose::Workload);
                wear_out(device.as_mut(), &config, &mut rng);
                device.audit().unwrap_or_else(|error| panic!("{stops}, seed {seed}: {error}"));
                use_on(device.as_mut(), &config, seed);
            }
        }
    }
}

/// One entry more than there are pages: group 1 is one place. An entry that is displaced past the
/// hole of the accessed one takes that place; it does not leave the levels with its page in RAM.
#[test]
fn group_1_of_jtl_may_be_a_single_place() {
    // Entries of 64 bytes and pages of 512: 1, 3 and 4 pages.
    for (ram, share, entries) in
        [("640", "0.2001", 2), ("1792", "0.1429", 4), ("2368", "0.13514", 5)]
    {
        for stops in ["true", "false"] {
            for reads in ["true", "false"] {
                let pairs = [
                    ("device.ram_bytes", ram),
                    ("jtl.map_share", share),
                    ("jtl.entry_bytes", "64"),
                    ("jtl.hole_stops_cascade", stops),
                    ("jtl.cache_reads", reads),
                    ("jtl.seq_pages", "4"),
                    ("device.ram_nonvolatile", "true"),
                ];
                let config = tiny("jtl", 24, &pairs);
                let mut device = open("jtl", &config);
                device.verify_reads();
                let case = format!("{entries} entries, stops: {stops}, reads: {reads}");
                for request in mixed(&config, 1000, 6) {
                    device.submit(&request).unwrap_or_else(|error| panic!("{case}: {error}"));
                    device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
                }
                device.power_cycle().unwrap_or_else(|error| panic!("{case}: {error}"));
                device.audit().unwrap_or_else(|error| panic!("{case}: {error}"));
            }
        }
    }
}

/// What memory knows of a page stays true where nothing of it can leave any more, whatever a
/// segment may be off by.
#[test]
fn leaftl_ends_with_what_it_promised() {
    for gamma in ["0", "4", "16"] {
        for errors in ["0", "0.02"] {
            for seed in 0..20 {
                let own: &[(&str, &str)] = &[
                    ("leaftl.gamma", gamma),
                    ("device.oob_bytes", "132"),
                    ("leaftl.group_pages", "16"),
                    ("leaftl.map_bytes", "1B"),
                    ("leaftl.buffer_bytes", if seed % 2 == 0 { "4KiB" } else { "1KiB" }),
                    ("nand.read_error_rate", errors),
                    ("device.ram_bytes", "8KiB"),
                ];
                let config = tiny("leaftl", 80, &[MORTAL, own].concat());
                let mut device = open("leaftl", &config);
                device.verify_reads();
                let mut rng = Rng::new(seed, Purpose::Workload);
                wear_out(device.as_mut(), &config, &mut rng);
                device.audit().unwrap_or_else(|error| panic!("{gamma}, seed {seed}: {error}"));
                use_on(device.as_mut(), &config, seed);
            }
        }
    }
}

/// The partitions are adjusted every seven requests, on a device that can write no more as well.
#[test]
fn aps_ends_with_what_it_promised() {
    for lookup in ["first", "on_demand"] {
        for errors in ["0", "0.02"] {
            for seed in 0..40 {
                let own: &[(&str, &str)] = &[
                    ("aps.interval", "7"),
                    ("aps.lookup", lookup),
                    ("aps.entry_bytes", "64"),
                    ("aps.rmw", if seed % 2 == 0 { "true" } else { "false" }),
                    ("nand.read_error_rate", errors),
                    ("device.ram_bytes", "8KiB"),
                ];
                let config = tiny("aps", 80, &[MORTAL, own].concat());
                let mut device = open("aps", &config);
                let device = device.as_mut();
                device.verify_reads();
                let mut rng = Rng::new(seed, Purpose::Workload);
                wear_out(device, &config, &mut rng);
                device.audit().unwrap_or_else(|error| panic!("{lookup}, seed {seed}: {error}"));
                use_on(device, &config, seed);
            }
        }
    }
}

/// Pages in RAM are read from there, whatever else the device refuses: where the read closes an
/// interval and the partitions cannot be adjusted, they stay as they are.
#[test]
fn aps_keeps_its_partitions_where_it_cannot_change_them() {
    let mut read = 0;
    for seed in 0..20 {
        let pairs = [
            ("wear.blocks_die", "true"),
            ("device.endurance_cycles", "8"),
            ("aps.interval", "7"),
            ("aps.lookup", "on_demand"),
            ("aps.entry_bytes", "64"),
            ("aps.min_share", "0.1"),
        ];
        let config = tiny("aps", 80, &pairs);
        let mut device = open("aps", &config);
        let device = device.as_mut();
        device.verify_reads();
        let mut rng = Rng::new(seed, Purpose::Workload);
        let logical = config.device.logical_pages() as u32;
        let mut write = |device: &mut dyn Device| {
            device.submit(&pages(&config, Op::Write, u64::from(rng.below(logical)), 1)).err()
        };
        while write(device).is_none() {}
        for _ in 0..200 {
            // Whether it is done or not, what has left RAM lately is counted.
            let _ = write(device);
            let in_ram = |page: &u32| matches!(device.locate(Lpn(*page)), Location::Ram(_));
            let Some(held) = (0..logical).find(in_ram) else { continue };
            device
                .submit(&pages(&config, Op::Read, u64::from(held), 1))
                .unwrap_or_else(|error| panic!("seed {seed}: page {held} is in RAM: {error}"));
            read += 1;
        }
        device.audit().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(read > 1000, "{read} reads of pages in RAM");
}

/// Every page of a device that is worn out can be read, alone and by sequential requests, whatever
/// would have to leave for its entry: the entry is read past the cache then.
#[test]
fn a_worn_out_device_can_be_read() {
    let mut refused = 0;
    for (scheme, key, values) in [
        ("aps", "aps.lookup", ["first", "on_demand"]),
        ("jtl", "jtl.cache_reads", ["true", "false"]),
    ] {
        for seed in 0..20 {
            let own: &[(&str, &str)] = &[
                (key, values[seed as usize / 2 % 2]),
                ("aps.interval", "7"),
                ("aps.entry_bytes", "64"),
                ("aps.rmw", if seed % 2 == 0 { "true" } else { "false" }),
                ("jtl.entry_bytes", "64"),
                ("jtl.map_share", "0.5"),
                ("jtl.seq_pages", "3"),
                ("device.ram_bytes", "8KiB"),
            ];
            let config = tiny(scheme, 80, &[MORTAL, own].concat());
            let mut device = open(scheme, &config);
            let device = device.as_mut();
            device.verify_reads();
            let mut rng = Rng::new(seed, Purpose::Workload);
            (0..20).for_each(|_| wear_out(device, &config, &mut rng));
            let case = format!("{scheme}, seed {seed}");
            let all = config.device.logical_pages();
            let reads = (0..all).map(|page| pages(&config, Op::Read, page, 1));
            let runs = (0..all).step_by(8).map(|page| pages(&config, Op::Read, page, 8));
            for request in reads.chain(runs) {
                device.submit(&request).unwrap_or_else(|fault| panic!("{case}: {fault}"));
            }
            device.audit().unwrap_or_else(|error| panic!("{case}, read: {error}"));
            let page = u64::from(rng.below(all as u32));
            refused += u32::from(device.submit(&pages(&config, Op::Write, page, 1)).is_err());
        }
    }
    assert!(refused > 20, "{refused} devices could still write nothing");
}
