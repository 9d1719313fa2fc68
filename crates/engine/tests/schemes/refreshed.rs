//! Data that is read far too often and is never given a gap moves behind a request, under every
//! scheme that refreshes at all.

use crate::common::{chosen, fill, open, place, submit, tiny};
use ftlab_engine::config::Config;
use ftlab_engine::meter::Event;
use ftlab_engine::request::Op;
use ftlab_engine::ssd::Device;

const TEN: (&str, &str) = ("refresh.reads", "10");
/// Those that hold no data in memory.
const PAGE_MAPS: [&str; 9] =
    ["ideal_page", "ca_ssd", "caftl", "hat", "dftl", "cdftl", "tpftl", "sftl", "hmb"];

fn device(scheme: &str, more: &[(&str, &str)]) -> (Config, Box<dyn Device>) {
    let config = tiny(scheme, 8, more);
    let device = open(scheme, &config);
    (config, device)
}

fn count(device: &dyn Device, event: Event) -> u64 {
    device.board().meter().events(event)
}

fn moved(device: &dyn Device) -> (u64, u64) {
    (count(device, Event::RefreshedForReads), count(device, Event::RefreshedForAge))
}

/// Without a gap data is moved behind the read that is twice too many.
#[test]
fn without_gaps_a_block_is_moved_at_twice_the_limit() {
    for scheme in PAGE_MAPS.into_iter().filter(|scheme| chosen(scheme)) {
        let (config, mut device) = device(scheme, &[TEN]);
        fill(device.as_mut(), &config);
        device.start_measuring();
        let mut places = vec![place(device.as_ref(), 5)];
        for _ in 0..105 {
            submit(device.as_mut(), &config, Op::Read, 5);
            places.push(place(device.as_ref(), 5));
        }
        let moves = places.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]);
        let moves: Vec<usize> = moves.map(|(read, _)| read + 1).collect();
        assert_eq!(moves, [20, 40, 60, 80, 100], "{scheme}");
        assert_eq!(moved(device.as_ref()), (5, 0), "{scheme}");
        assert_eq!(count(device.as_ref(), Event::RefreshedAtOnce), 5, "{scheme}");
    }
}

/// Schemes that hold data in memory move what cannot wait too.
#[test]
fn no_page_map_waits_for_a_gap() {
    for (scheme, own) in [("leaftl", "leaftl.buffer_bytes"), ("aps", ""), ("jtl", "")] {
        if !chosen(scheme) {
            continue;
        }
        let own: Vec<(&str, &str)> =
            Some((own, "1B")).filter(|_| !own.is_empty()).into_iter().collect();
        let (config, mut device) = device(scheme, &[&[TEN], &own[..]].concat());
        fill(device.as_mut(), &config);
        (0..40).for_each(|_| {
            (0..32).for_each(|page| submit(device.as_mut(), &config, Op::Read, page));
        });
        assert!(count(device.as_ref(), Event::RefreshedAtOnce) > 0, "{scheme}");
        let (for_reads, _) = moved(device.as_ref());
        assert_eq!(count(device.as_ref(), Event::RefreshedAtOnce), for_reads, "{scheme}");
        device.audit().unwrap_or_else(|error| panic!("{scheme}: {error}"));
    }
}
