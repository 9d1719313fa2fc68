//! A host's log on zones: wide and narrow ones, of all or part of their blocks, with one class of
//! data and with several, collected by the host or copied in the drive.

use super::{PAGE, UNIT, Variant, durable};

const CHANNELS: (&str, &str) = ("device.channels", "4");
const DIES: (&str, &str) = ("device.dies", "2");
const ONE: (&str, &str) = ("zns.width", "1");
const TWO: (&str, &str) = ("zns.width", "2");
const FINISH: (&str, &str) = ("zns.after_cut", "finish");
const INSIDE: (&str, &str) = ("zns.copy_in_device", "true");
const ROOM: (&str, &str) = ("device.over_provisioning", "1.5x");
const GAPS: (&str, &str) = ("gc.mode", "both");
const PIECES: (&str, &str) = ("gc.idle_pages", "1");

/// With these settings beside the defaults.
pub const VARIANTS: &[Variant] = &[
    durable("zns", &[]),
    durable("zns", &[FINISH]),
    durable("zns", &[FINISH, ("zns.reserve", "2")]),
    durable("zns", &[CHANNELS, TWO, ("zns.reserve", "2"), ("gc.separate_frontiers", "true")]),
    durable("zns", &[CHANNELS, FINISH, INSIDE, ("io.partial_write", "rmw")]),
    durable("zns", &[CHANNELS, ONE, ROOM, ("gc.placement", "sep_gc"), ("zns.max_open", "1")]),
    durable("zns", &[CHANNELS, TWO, FINISH, GAPS, PIECES]),
    durable("zns", &[CHANNELS, DIES, TWO, ("gc.victim", "fifo"), ("nand.enforce_order", "strict")]),
    durable("zns", &[DIES, ROOM, ("gc.placement", "sepbit"), FINISH, ("zns.max_open", "3")]),
    durable("zns", &[CHANNELS, ROOM, ("zns.zone_capacity", "75%"), FINISH]),
    durable("zns", &[CHANNELS, TWO, PAGE, UNIT, ("zns.zone_capacity", "50%")]),
    durable("zns", &[DIES, ("gc.victim", "cost_benefit_age"), ("gc.separate_frontiers", "true")]),
    durable("zns", &[CHANNELS, ("wear.policy", "dynamic"), ("gc.victim", "lru"), GAPS]),
    durable("zns", advanced!(("alloc.order", "plane_die_channel"), FINISH, INSIDE)),
];
