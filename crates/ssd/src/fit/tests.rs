//! What does not go together under a scheme, each refusal with what it is about.

use super::*;
use crate::for_tests::{
    BUFFERS, CONTENT, DIVIDES, GAPS, HOST_MEMORY, IN_HOST, IN_PCM, OFFSETS, Toy, config,
};

/// What is said of these settings under such a scheme; empty where nothing is.
fn said<const TRAITS: u32>(pairs: &[(&str, &str)]) -> String {
    let config = config(pairs);
    let checked = check::<Toy<TRAITS>>(&config, &seen::<Toy<TRAITS>>(&config, ()));
    checked.map_or_else(|error| error.to_string(), |()| String::new())
}

const BUFFER: (&str, &str) = ("buffer.name", "lru");

#[test]
fn what_a_scheme_sees_lacks_the_memory_of_the_buffer() {
    let config = config(&[BUFFER, ("buffer.bytes", "8192"), ("device.ram_bytes", "10000")]);
    let seen = seen::<Toy<0>>(&config, ());
    assert_eq!(seen.map_budget(), Some(10_000 - 8192));
    let structures = ram_use::<Toy<0>>(&config, &seen);
    let sizes = structures.iter().map(|one| (one.structure, one.bytes)).collect::<Vec<_>>();
    assert_eq!(sizes, [("page_table", 4 * 64), ("sent", 0), ("write_buffer", 8192)]);
}

#[test]
fn pages_are_held_once() {
    assert_eq!([said::<0>(&[BUFFER]), said::<BUFFERS>(&[]), said::<IN_HOST>(&[])], [""; 3]);
    let twice = said::<BUFFERS>(&[BUFFER]);
    assert!(
        twice.contains("the same pages twice: buffer.name = lru (--buffer) must be none"),
        "{twice}"
    );
    let late = said::<IN_HOST>(&[BUFFER]);
    assert!(
        late.contains("cannot put them off: buffer.name = lru (--buffer) must be none"),
        "{late}"
    );
}

#[test]
fn units_gather_where_pages_are_not_at_fixed_offsets() {
    let units = [("device.mapping_unit", "1024")];
    let page = [("device.mapping_unit", "2048")];
    assert_eq!([said::<0>(&units), said::<OFFSETS>(&page)], [""; 2]);
    assert!(said::<OFFSETS>(&units).starts_with("toy puts pages at fixed offsets of data blocks"));
}

#[test]
fn who_does_not_divide_data_refuses_what_divides_it() {
    let cells = ("device.bits_per_cell", "2");
    let refused: [&[(&str, &str)]; 5] = [
        &[cells, ("slc.static_blocks", "1")],
        &[("gc.placement", "sep_gc")],
        &[("gc.trigger", "garbage_share")],
        &[("alloc.unit", "line")],
        &[("refresh.reads", "100")],
    ];
    assert_eq!(said::<0>(&[]), "");
    for pairs in refused {
        assert_eq!(said::<DIVIDES>(pairs), "");
        assert!(!said::<0>(pairs).is_empty(), "{pairs:?}");
    }
}

#[test]
fn writes_that_a_scheme_leaves_out_are_not_heard_of_by_policies_that_go_by_them() {
    let placed = |name| said::<{ CONTENT | DIVIDES }>(&[("gc.placement", name)]);
    assert_eq!(["none", "sep_gc", "hint"].map(placed), [""; 3]);
    assert!(placed("sfs").starts_with("gc.placement = sfs goes by when pages are written, and"));
    assert_eq!(said::<DIVIDES>(&[("gc.placement", "sfs")]), "");
}

#[test]
fn pages_leave_the_memory_of_a_scheme_without_a_hint() {
    let hints = [("gc.placement", "hint")];
    assert_eq!(said::<DIVIDES>(&hints), "");
    assert_eq!(said::<{ DIVIDES | BUFFERS }>(&[("gc.placement", "sep_gc")]), "");
    let words = said::<{ DIVIDES | BUFFERS }>(&hints);
    assert!(
        words.starts_with("gc.placement = hint and toy, which keeps the host's data"),
        "{words}"
    );
}

/// An event-driven clock, and what else.
fn said_later<const TRAITS: u32>(pairs: &[(&str, &str)]) -> String {
    let event = [("timing.profile", "parallel"), ("timing.clock", "event")];
    assert_eq!(said::<TRAITS>(&[&event[..1], pairs].concat()), "", "without that clock");
    said::<TRAITS>(&[&event, pairs].concat())
}

#[test]
fn a_clock_that_knows_no_moment_goes_with_nobody_who_needs_one() {
    assert_eq!(said_later::<DIVIDES>(&[]), "");
    let fine: [&[(&str, &str)]; 4] = [
        &[BUFFER],
        &[("buffer.idle_flush", "true")],
        &[("timing.copyback", "true")],
        &[("timing.multi_plane_program", "true"), ("device.planes", "2")],
    ];
    for pairs in fine {
        assert_eq!(said_later::<DIVIDES>(pairs), "", "{pairs:?}");
    }
    let refused: [(&[(&str, &str)], &str); 7] = [
        (&[("gc.mode", "both")], "gc.mode = both works in gaps between requests"),
        (&[BUFFER, ("buffer.idle_flush", "true")], "buffer.idle_flush = true works in gaps"),
        (&[("rain.stripe", "2"), ("device.dies", "2")], "rain.stripe = 2 works in gaps"),
        (
            &[("refresh.reads", "100")],
            "refresh (refresh.reads, refresh.days) moves data by its age",
        ),
        (
            &[("host.scheduler", "read_first")],
            "host.scheduler = read_first chooses by what is idle",
        ),
        (&[("host.streams", "2")], "host.streams = 2 take turns by the moments of completions"),
        (
            &[("timing.copyback", "true"), ("timing.multi_plane_program", "true")],
            "timing.copyback is one command of a plane there",
        ),
    ];
    for (pairs, why) in refused {
        let words = said_later::<DIVIDES>(pairs);
        assert!(
            words.starts_with("timing.clock = event knows no moment before"),
            "{pairs:?}: {words}"
        );
        assert!(words.contains(why), "{words}");
    }
}

#[test]
fn a_clock_that_knows_no_moment_goes_with_no_scheme_that_needs_one() {
    assert!(said_later::<GAPS>(&[]).contains("toy as it is set works in gaps between requests"));
    assert!(said_later::<IN_HOST>(&[]).contains("toy has the host copy pages over a link"));
    assert!(said_later::<IN_PCM>(&[]).contains("toy keeps tables in phase-change memory"));
    assert!(said_later::<HOST_MEMORY>(&[]).contains("toy asks the host's memory"));
}
