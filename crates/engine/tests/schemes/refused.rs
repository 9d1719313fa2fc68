//! Settings that each scheme refuses because they do not go together, and what it says of them.

use crate::common::{chosen, tiny};
use ftlab_engine::schemes;

/// Scheme, settings, and words of its answer.
type Refused = (&'static str, &'static [(&'static str, &'static str)], &'static str);

/// A clock that knows no moment beforehand, so that it cannot say how long a gap is.
const EVENT: [(&str, &str); 2] = [("timing.profile", "parallel"), ("timing.clock", "event")];

/// DFTL's map in so much memory. It takes 300 bytes: 32 entries and 5 that wait, 8 bytes each, and
/// a directory of one translation page.
macro_rules! dftl_in {
    ($bytes:literal) => {
        &[
            ("device.ram_bytes", $bytes),
            ("dftl.entry_bytes", "8"),
            ("dftl.cmt_entries", "32"),
            ("dftl.writeback", "after_completion"),
            ("dftl.writeback_entries", "5"),
            ("dftl.gtd_in_budget", "true"),
        ]
    };
}

const REFUSED: &[Refused] = &[
    ("ca_ssd", &[("gc.threshold", "1")], "2 blocks or more"),
    ("caftl", &[("gc.threshold", "1")], "gc.threshold"),
    ("caftl", &EVENT, "works in gaps between requests"),
    ("janus", &[("gc.threshold", "1")], "gc.threshold"),
    ("hat", &[("gc.threshold", "1")], "gc.threshold"),
    ("dftl", &[("gc.threshold", "1")], "gc.threshold"),
    (
        "dftl",
        &[("dftl.gtd_sync_every", "64"), ("dftl.consistency", "replay")],
        "dftl.consistency = gtd",
    ),
    ("dftl", &[("dftl.cmt_policy", "own")], "dftl.cmt_policy"),
    ("dftl", dftl_in!("299"), "takes 300 bytes, device.ram_bytes allows 299 for maps"),
    ("hmb", &[("gc.threshold", "1")], "gc.threshold"),
    ("hmb", &[("hmb.chunk_entries", "7")], "does not divide a translation page"),
    ("hmb", &[("hmb.bytes", "1")], "holds no chunk"),
    ("lazyftl", &[("gc.threshold", "1")], "gc.threshold"),
    ("learnedftl", &[("wear.policy", "static")], "wear.policy"),
    ("learnedftl", &[("gc.separate_frontiers", "true")], "gc.separate_frontiers"),
    ("fast", &[("fast.log_base", "active_region")], "device.active_region"),
    ("faster", &[("faster.log_blocks", "4"), ("faster.free_reserve", "8")], "leaves no random one"),
    ("last", &[("last.log_base", "active_region")], "device.active_region"),
    ("last", &[("last.adapt", "true"), ("last.hot_reserve", "as_used")], "legal: one of them"),
    ("waftl", &[("waftl.migrate", "background")], "waftl.migrate = background"),
    ("lazyftl", &[("lazyftl.convert", "background")], "lazyftl.convert = background"),
];

/// What lies just within a limit.
const TAKEN: &[(&str, &[(&str, &str)])] = &[
    ("dftl", dftl_in!("300")),
    ("dftl", dftl_in!("301")),
    ("caftl", &[EVENT[0], EVENT[1], ("caftl.out_of_line", "false")]),
];

#[test]
fn what_lies_within_the_limits_is_taken() {
    for &(scheme, pairs) in TAKEN.iter().filter(|(scheme, _)| chosen(scheme)) {
        let (row, _) = schemes::find(scheme).expect("it is there");
        (row.check)(&tiny(scheme, 24, pairs))
            .unwrap_or_else(|why| panic!("{scheme} {pairs:?}: {why}"));
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let mut wrong = Vec::new();
    for &(scheme, pairs, words) in REFUSED.iter().filter(|(scheme, ..)| chosen(scheme)) {
        let (row, _) = schemes::find(scheme).expect("it is there");
        assert!((row.check)(&tiny(scheme, 24, &[])).is_ok(), "{scheme} refuses its defaults");
        match (row.check)(&tiny(scheme, 24, pairs)) {
            Ok(()) => wrong.push(format!("{scheme} {pairs:?}: taken")),
            Err(error) if error.to_string().contains(words) => {}
            Err(error) => wrong.push(format!("{scheme} {pairs:?}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Schemes that need a moment at once, whatever their settings, and why; all others take a clock
/// that knows none beforehand.
const NEED_MOMENTS: &[(&str, &str)] = &[
    ("caftl", "works in gaps"),
    ("hat", "phase-change memory"),
    ("hmb", "the host's memory"),
    ("zns", "the host copy pages over a link"),
];

#[test]
fn who_needs_moments_at_once_refuses_the_event_driven_clock_and_nobody_else() {
    for row in schemes::TABLE.iter().filter(|row| chosen(row.paper.name)) {
        let name = row.paper.name;
        let why = (row.check)(&tiny(name, 24, &EVENT)).err().map(|error| error.to_string());
        let known = NEED_MOMENTS.iter().find(|(scheme, _)| *scheme == name);
        match (&why, known) {
            (None, None) => {}
            (Some(why), Some((_, words))) if why.contains(words) => {}
            _ => panic!("{name}: {why:?}, not {known:?}"),
        }
    }
}
