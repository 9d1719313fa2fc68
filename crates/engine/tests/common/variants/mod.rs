//! Settings under which every scheme is tested, beside its defaults: a file per family of schemes.

/// `midas` with epochs of a capacity from the first page on and few classes, so that groups come
/// and go on a tiny device.
macro_rules! midas {
    ($($more:expr),*) => {
        &[
            ("gc.placement", "midas"),
            ("placement.classes", "5"),
            ("midas.hot_wait", "0"),
            ("midas.model_wait", "0"),
            ("midas.epoch", "1"),
            ("midas.sampling", "1"),
            ("midas.margin", "0"),
            $($more),*
        ]
    };
}

/// Two dies of two planes, and every advanced command that they can have together.
macro_rules! advanced {
    ($($more:expr),*) => {
        &[
            ("device.dies", "2"),
            ("device.planes", "2"),
            ("alloc.order", "plane_die_channel"),
            ("timing.profile", "parallel"),
            ("timing.page_transfer", "40us"),
            ("timing.read_pages", "100us,140us"),
            ("timing.program_pages", "300us,700us"),
            ("timing.copyback", "true"),
            ("timing.multi_plane_read", "true"),
            ("timing.multi_plane_program", "true"),
            ("timing.multi_plane_erase", "true"),
            ("timing.suspend", "program_erase"),
            ("timing.read_priority", "true"),
            ("timing.oob_write", "3us"),
            $($more),*
        ]
    };
}

mod block;
mod cached_map;
mod learned;
pub mod lines;
mod mixed_map;
mod models;
mod own_logs;
mod page;
mod placement;
mod ram_managing;
mod refresh;
mod shared_logs;
mod slc;
mod split_ram;
mod zones;

/// A scheme of the table with settings that change what it does.
pub struct Variant {
    /// `name` or `name:preset`.
    pub scheme: &'static str,
    /// Settings beside those of the tiny device.
    pub pairs: &'static [(&'static str, &'static str)],
    /// Whether completed writes outlive a power cut.
    pub durable: bool,
}

const fn durable(scheme: &'static str, pairs: &'static [(&'static str, &'static str)]) -> Variant {
    Variant { scheme, pairs, durable: true }
}

/// Four mapping units to a flash page.
const PAGE: (&str, &str) = ("device.page_bytes", "2048");
const UNIT: (&str, &str) = ("device.mapping_unit", "512");
const PAGES: (&str, &str) = ("device.pages_per_block", "2");

/// The files of this folder.
const FAMILIES: [&[Variant]; 16] = [
    page::VARIANTS,
    placement::VARIANTS,
    slc::VARIANTS,
    lines::VARIANTS,
    lines::WITH_PARITY,
    block::VARIANTS,
    own_logs::VARIANTS,
    shared_logs::VARIANTS,
    mixed_map::VARIANTS,
    cached_map::VARIANTS,
    models::VARIANTS,
    learned::VARIANTS,
    ram_managing::VARIANTS,
    split_ram::VARIANTS,
    refresh::VARIANTS,
    zones::VARIANTS,
];

/// Every variant. Schemes without one are tested with their defaults.
pub fn all() -> impl Iterator<Item = &'static Variant> {
    FAMILIES.into_iter().flatten()
}
