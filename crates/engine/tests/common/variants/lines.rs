//! Lines over all planes, with and without parity, under every sort of map, policy and trigger.

use super::{PAGE, UNIT, Variant, durable};

const LINES: (&str, &str) = ("alloc.unit", "line");
/// Static, whatever the geometry asks for.
const ORDER: (&str, &str) = ("alloc.order", "channel_die_plane");
const CHANNELS: (&str, &str) = ("device.channels", "2");
const DIES: (&str, &str) = ("device.dies", "2");
const FOUR: (&str, &str) = ("rain.stripe", "4");
const TWO: (&str, &str) = ("rain.stripe", "2");
const ROOM: (&str, &str) = ("device.over_provisioning", "1.5x");
const GAPS: (&str, &str) = ("gc.mode", "both");
const PIECES: (&str, &str) = ("gc.idle_pages", "1");
const SMALL: (&str, &str) = ("dftl.cmt_entries", "8");
const STRICT: (&str, &str) = ("nand.enforce_order", "strict");
const PARTIAL: (&str, &str) = ("rain.flush", "partial");
const PAD: (&str, &str) = ("rain.flush", "pad");
const FIXED: (&str, &str) = ("rain.rotate", "false");
const PARALLEL: (&str, &str) = ("timing.profile", "parallel");

const fn victim(name: &'static str) -> (&'static str, &'static str) {
    ("gc.victim", name)
}

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("ideal_page", &[LINES, ORDER]),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, DIES, STRICT]),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, victim("cost_benefit_age"), GAPS]),
    durable("ideal_page", &[LINES, ORDER, DIES, victim("fifo"), GAPS, PIECES]),
    durable("ideal_page", &[LINES, ORDER, DIES, victim("lru"), ("wear.policy", "dynamic")]),
    durable("ideal_page", &[LINES, ORDER, DIES, victim("d_choices"), ("wear.policy", "none")]),
    durable(
        "ideal_page",
        &[LINES, ORDER, DIES, victim("random"), ("alloc.policy", "lifo"), ("wear.policy", "none")],
    ),
    durable(
        "ideal_page",
        &[LINES, ORDER, CHANNELS, victim("windowed_greedy"), ("gc.separate_frontiers", "true")],
    ),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, ("gc.trigger", "garbage_share"), ROOM]),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, ("gc.placement", "sepbit"), ROOM]),
    durable("ideal_page", midas!(LINES, ORDER, CHANNELS, ROOM)),
    durable("ideal_page", midas!(LINES, ORDER, CHANNELS, DIES, FOUR, ROOM)),
    durable(
        "ideal_page",
        &[LINES, ORDER, DIES, ("gc.placement", "sfs"), ("gc.victim", "cost_hotness"), ROOM],
    ),
    durable(
        "ideal_page",
        &[LINES, ORDER, CHANNELS, DIES, PAGE, UNIT, ("device.pages_per_block", "2")],
    ),
    durable("hat", &[LINES, ORDER, CHANNELS, ("hat.qmt_entries", "8")]),
    durable("dftl", &[LINES, ORDER, CHANNELS, DIES, SMALL]),
    durable(
        "dftl",
        &[LINES, ORDER, CHANNELS, SMALL, ("dftl.checkpoint_interval", "64"), GAPS, PIECES],
    ),
    durable("tpftl", &[LINES, ORDER, DIES]),
    durable("jtl", &[LINES, ORDER, CHANNELS]),
];

/// With parity.
pub const WITH_PARITY: &[Variant] = &[
    durable("ideal_page", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM]),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, DIES, TWO, ROOM, STRICT, FIXED]),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, STRICT, PARTIAL, GAPS]),
    durable("ideal_page", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, STRICT, PAD, PARALLEL]),
    durable(
        "ideal_page",
        &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, PAGE, UNIT, ("device.pages_per_block", "2")],
    ),
    durable(
        "ideal_page",
        &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, ("gc.placement", "sepbit"), PARTIAL],
    ),
    durable(
        "ideal_page",
        &[
            LINES,
            ORDER,
            CHANNELS,
            DIES,
            FOUR,
            ROOM,
            ("gc.trigger", "garbage_share"),
            victim("cost_benefit"),
        ],
    ),
    durable("hat", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, ("hat.qmt_entries", "8")]),
    durable("ca_ssd", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, PARTIAL]),
    durable(
        "caftl",
        &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, PARTIAL, ("caftl.unreclaimed", "1")],
    ),
    durable(
        "caftl",
        &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, PAD, GAPS, ("caftl.unreclaimed", "1")],
    ),
    durable("dftl", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, SMALL]),
    durable(
        "dftl",
        &[
            LINES,
            ORDER,
            CHANNELS,
            DIES,
            FOUR,
            ROOM,
            SMALL,
            PARTIAL,
            ("dftl.checkpoint_interval", "64"),
            GAPS,
            PIECES,
        ],
    ),
    durable("cdftl", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM]),
    durable("tpftl", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM, PAD]),
    durable("sftl", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM]),
    durable("hmb", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM]),
    durable("aps", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM]),
    durable("jtl", &[LINES, ORDER, CHANNELS, DIES, FOUR, ROOM]),
];
