//! Settings that each scheme refuses because they do not go together, and what it says of them.

use crate::common::{chosen, tiny};
use ftlab_engine::schemes;

/// Scheme, settings, and words of its answer.
type Refused = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const REFUSED: &[Refused] = &[
    ("ca_ssd", &[("gc.threshold", "1")], "2 blocks or more"),
    ("caftl", &[("gc.threshold", "1")], "gc.threshold"),
    ("janus", &[("gc.threshold", "1")], "gc.threshold"),
    ("hat", &[("gc.threshold", "1")], "gc.threshold"),
    ("dftl", &[("gc.threshold", "1")], "gc.threshold"),
    (
        "dftl",
        &[("dftl.gtd_sync_every", "64"), ("dftl.consistency", "replay")],
        "dftl.consistency = gtd",
    ),
    ("dftl", &[("dftl.cmt_policy", "own")], "dftl.cmt_policy"),
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
