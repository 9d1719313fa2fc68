//! Map caches that are cleaned, or emptied by a power cut, between preparation and measurement:
//! every scheme and every variant goes on as it was, and those that cannot clean theirs say so.

use crate::common::{chosen, mixed, open, submit, tiny, variants};
use ftlab_engine::meter::{Cause, Event, Meter};
use ftlab_engine::request::Op;
use ftlab_engine::schemes::{self, Family};

/// Several translation pages: pages of 512 bytes hold 128 entries.
const BLOCKS: u64 = 170;

/// Changed entries before a cache was cleaned.
fn run(scheme: &str, pairs: &[(&str, &str)]) -> u64 {
    let config = tiny(scheme, BLOCKS, pairs);
    let (row, _) = schemes::find(scheme).expect("in the table");
    let (uncleanable, family) = ((row.uncleanable)(&config), row.paper.family);
    let of_map = matches!(family, Family::CachedMap | Family::RamManaging);
    let mut device = open(scheme, &config);
    let device = device.as_mut();
    device.verify_reads();
    let what = format!("{scheme} {pairs:?}");
    let requests = mixed(&config, 700, 11);
    let drive = |device: &mut dyn ftlab_engine::ssd::Device, from: usize, to: usize| {
        for request in &requests[from..to] {
            device.submit(request).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
    };
    drive(device, 0, 400);
    submit(device, &config, Op::Write, 5);
    let before = device.changed_entries();
    let host = device.board().meter().host().total_requests();
    let written = device.clean_caches().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(device.board().meter().host().total_requests(), host, "{what}: no request");
    device.audit().unwrap_or_else(|error| panic!("{what}, cleaned: {error}"));
    let map = |meter: &Meter| (meter.reads(Cause::Translate), meter.events(Event::PcmReads));
    if uncleanable.is_none() {
        assert_eq!(device.changed_entries(), 0, "{what}: {written} of {before} were written");
        // What was used last is cached still, where collection in between took no room for itself.
        let reads = map(device.board().meter());
        submit(device, &config, Op::Read, 5);
        let stays = map(device.board().meter()) == reads;
        assert!(stays || !pairs.is_empty(), "{what}: the entry stays");
    }
    drive(device, 400, 500);
    // Cold: cleaned, and the power is cut.
    device.clean_caches().unwrap_or_else(|error| panic!("{what}: {error}"));
    device.power_cycle().unwrap_or_else(|error| panic!("{what}: {error}"));
    device.audit().unwrap_or_else(|error| panic!("{what}, cold: {error}"));
    let changed = device.changed_entries();
    assert!(uncleanable.is_some() || changed == 0, "{what}: {changed} entries changed by a cut");
    if of_map && uncleanable.is_none() && !config.device.ram_nonvolatile {
        let hits = device.board().meter().events(Event::MapHits);
        submit(device, &config, Op::Read, 5);
        assert_eq!(
            device.board().meter().events(Event::MapHits),
            hits,
            "{what}: nothing is cached"
        );
    }
    drive(device, 500, 700);
    device.audit().unwrap_or_else(|error| panic!("{what}, at the end: {error}"));
    assert!(device.verified_reads() > 50, "{what}: reads were really compared");
    before
}

#[test]
fn every_row_of_the_table_cleans_its_map_cache_or_says_why_it_cannot() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let name = row.paper.name;
        let before = run(name, &[]);
        let of_map = matches!(row.paper.family, Family::CachedMap | Family::RamManaging);
        assert!(!of_map || before > 0 || name == "dac", "{name}: nothing had changed");
        let config = tiny(name, BLOCKS, &[]);
        let says = ["dac", "lazyftl"].contains(&name);
        assert_eq!((row.uncleanable)(&config).is_some(), says, "{name}");
    }
}

#[test]
fn every_variant_goes_on_behind_clean_and_cold_caches() {
    for variant in variants::all().filter(|variant| chosen(variant.scheme)) {
        run(variant.scheme, variant.pairs);
    }
}
