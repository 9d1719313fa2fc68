//! A device and its duplicate are the same device twice: the same requests leave the same behind,
//! and what is done to one does not reach the other.

use crate::common::buffers::BUFFERS;
use crate::common::outcome::Pairs;
use crate::common::{chosen, mixed, open, tiny};
use crate::short_way::{Left, left};
use ftlab_engine::config::Config;
use ftlab_engine::request::Request;
use ftlab_engine::schemes::{Location, TABLE};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Lpn;

/// Devices that remember something beside flash and map: what they draw, and what is under way.
const DEVICES: &[Pairs<'_>] = &[
    &[],
    &[("gc.victim", "random")],
    &[
        ("timing.profile", "parallel"),
        ("device.channels", "2"),
        ("timing.page_transfer", "10us"),
        ("gc.mode", "both"),
    ],
];

/// What a run left, and where every page is.
#[derive(Debug, PartialEq)]
struct State {
    left: Left,
    places: Vec<Location>,
    changed_entries: u64,
    pcm: Vec<u32>,
    verified_reads: u64,
}

fn state(device: &dyn Device) -> State {
    let pages = device.board().geometry().logical_pages;
    State {
        left: left(device),
        places: (0..pages).map(|page| device.locate(Lpn(page))).collect(),
        changed_entries: device.changed_entries(),
        pcm: device.pcm().to_vec(),
        verified_reads: device.verified_reads(),
    }
}

fn drive(device: &mut dyn Device, requests: &[Request]) {
    let mut arrival = device.idle_from();
    for request in requests {
        arrival = device.next_slot().max(arrival) + 20_000;
        device.submit(&Request { arrival, ..*request }).expect("the device works");
    }
}

/// Half of the requests, a duplicate, the other half on each of the two.
fn compare(scheme: &str, config: &Config) {
    let requests = mixed(config, 1600, 5);
    let (before, behind) = requests.split_at(800);
    let mut device = open(scheme, config);
    device.verify_reads();
    drive(device.as_mut(), before);
    let begun = state(device.as_ref());
    let mut second = device.duplicate();
    assert!(state(second.as_ref()) == begun, "{scheme}: the duplicate begins elsewhere");
    drive(second.as_mut(), behind);
    assert!(state(device.as_ref()) == begun, "{scheme}: the duplicate changed the device");
    drive(device.as_mut(), behind);
    let ended = state(device.as_ref());
    assert!(ended != begun, "{scheme}: it did something");
    assert!(state(second.as_ref()) == ended, "{scheme}: the duplicate went another way");
    second.power_cycle().expect("it recovers");
    assert!(state(device.as_ref()) == ended, "{scheme}: a power cut reached both");
}

#[test]
fn a_duplicate_goes_the_same_way_and_leaves_the_device_alone() {
    let mut compared = 0;
    for row in TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let name = row.paper.name;
        for pairs in DEVICES {
            let config = tiny(name, 24, pairs);
            match (row.open)(&config, 1) {
                Ok(_) => compare(name, &config),
                // Not every scheme takes every device; each takes the first.
                Err(error) => assert!(!pairs.is_empty(), "{name}: {error}"),
            }
            compared += 1;
        }
    }
    assert!(compared > 0);
}

#[test]
fn what_a_buffer_holds_is_duplicated_as_well() {
    for buffer in BUFFERS {
        let config = tiny("dftl", 24, buffer);
        compare("dftl", &config);
    }
}
