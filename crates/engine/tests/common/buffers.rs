//! Settings under which every buffer is tested.

/// Settings of a buffer, its name among them.
pub type Buffer = &'static [(&'static str, &'static str)];

/// Eight pages of 512 bytes.
const SMALL: (&str, &str) = ("buffer.bytes", "4096");
/// Sixteen of them.
const LARGE: (&str, &str) = ("buffer.bytes", "8192");
const LRU: (&str, &str) = ("buffer.name", "lru");
const CFLRU: (&str, &str) = ("buffer.name", "cflru");
const BPLRU: (&str, &str) = ("buffer.name", "bplru");
const L_BUFFER: (&str, &str) = ("buffer.name", "l_buffer");
const MAP_AWARE: (&str, &str) = ("buffer.name", "map_aware");
/// Stress is measured often enough to change.
const SOON: (&str, &str) = ("l_buffer.stress_window", "20");

/// The plainest buffer: every scheme is tested behind it.
pub const PLAIN: Buffer = &[LRU, SMALL];

/// Every buffer of the table, with settings that change what it does.
pub const BUFFERS: &[Buffer] = &[
    PLAIN,
    &[LRU, LARGE, ("buffer.idle_flush", "true")],
    &[LRU, SMALL, ("buffer.cache_reads", "true"), ("buffer.idle_flush", "true")],
    &[BPLRU, SMALL],
    &[BPLRU, LARGE, ("bplru.pad", "if_half"), ("bplru.compensation", "false")],
    &[BPLRU, LARGE, ("buffer.pad_unwritten", "false"), ("buffer.idle_flush", "true")],
    &[L_BUFFER, SMALL, SOON],
    &[L_BUFFER, LARGE, SOON, ("l_buffer.plug_if_missing_le", "2"), ("l_buffer.stress_high", "200")],
    &[CFLRU, SMALL, ("cflru.window", "0.5")],
    &[CFLRU, LARGE, ("buffer.idle_flush", "true")],
    &[CFLRU, SMALL, ("buffer.cache_reads", "false")],
    &[("buffer.name", "fab"), SMALL],
    &[MAP_AWARE, SMALL],
    &[MAP_AWARE, LARGE, ("map_aware.pages_max", "3")],
];

/// Schemes behind which every buffer is tested: by page, with a cached map, with log blocks of one
/// block each, and with shared ones.
pub const SCHEMES: [&str; 4] = ["ideal_page", "dftl", "bast", "fast"];
