//! The simulated drive, small: a scale model of the device, so that a probe takes a fraction of a
//! second. State, not time, is what a large one costs.
//!
//! What takes part in the timing of requests is as large as in the device: channels, dies, planes,
//! pages, mapping units, the host's queue. Blocks are fewer and have fewer pages; the erase is
//! shorter by as much as its block, so that a page programmed pays the same for it, and blocks to
//! spare beyond those that the scheme keeps for itself are the same share of the data, so that
//! collection copies as much. Tails that a single long erase makes are therefore not those of the
//! device.

use ftlab_engine::config::{Bytes, Config, Optional};
use ftlab_report::calibration::Topology;

use crate::selection::Chosen;

/// Pages of a block at least, where the device has as many.
const PAGES_LEAST: u32 = 12;
/// Mapping units of a block at least, where the device has as many.
const UNITS_LEAST: u32 = 32;
/// Blocks of data of each plane at least, where the device has as many.
const BLOCKS_LEAST: u64 = 24;
/// Exported bytes at least, where the device has as many.
const BYTES_LEAST: u64 = 32 << 20;
/// What rounding may make of a whole number.
const ROUNDED: f64 = 1e-6;

/// The device in another topology, of the same capacity.
pub fn in_topology(config: &Config, topology: Topology) -> Config {
    let mut other = config.clone();
    let device = &mut other.device;
    let blocks = device.physical_blocks();
    let Topology { channels, dies, planes } = topology;
    (device.channels, device.dies, device.planes) = (channels, dies, planes);
    let per_plane = (blocks as f64 / device.plane_count() as f64).round() as u64;
    device.blocks_per_plane = u32::try_from(per_plane.max(2)).unwrap_or(u32::MAX);
    other
}

/// A scale model.
#[derive(Clone, Debug)]
pub struct Scaled {
    /// What makes it of the device, but for its times.
    pub set: Vec<(&'static str, String)>,
    /// Its erase over that of the device.
    pub erase: f64,
}

/// The scale model of a device under its scheme: the least that the scheme can be of. Where there
/// is little to spare a small one is none, since data are kept in whole rows of planes.
pub fn scaled(chosen: &Chosen) -> Scaled {
    let mut rows = BLOCKS_LEAST;
    loop {
        let (scaled, is_enough) = of_rows(chosen, rows);
        if is_enough {
            return scaled;
        }
        rows *= 2;
    }
}

/// The scale model with so many blocks of data in each plane, at least, and whether the scheme can
/// be of it, or it has as much data as the device.
fn of_rows(chosen: &Chosen, rows: u64) -> (Scaled, bool) {
    let (row, full) = (chosen.row, &chosen.config);
    let device = &full.device;
    let planes = device.plane_count();
    let pages = pages_per_block(full);
    let logical = (device.logical_pages() / u64::from(device.units_per_block())).max(1);
    let kept = |config: &Config, data: u64| {
        (row.minimum_blocks)(config).saturating_sub(data.next_multiple_of(planes))
    };
    // Beyond what the scheme keeps for itself.
    let spare = device.physical_blocks() as f64 - kept(full, logical) as f64 - logical as f64;
    let spare = spare.max(0.0) / logical as f64;

    let mut small = full.clone();
    small.device.pages_per_block = pages;
    let block_bytes = small.device.page_bytes.0 * u64::from(pages);
    let least = rows.max(BYTES_LEAST.div_ceil(block_bytes * planes));
    let all = (device.logical_pages() * device.unit_bytes()) / block_bytes;
    let data = (least * planes).min(all).max(1);
    small.device.logical_bytes = Optional(Some(Bytes(data * block_bytes)));
    let cached = full.slc.static_blocks;
    if cached > 0 {
        let share = f64::from(cached) * data as f64 / logical as f64;
        small.slc.static_blocks = (share.round() as u32).max(1);
    }
    let wanted = |small: &Config| {
        let blocks = kept(small, data) as f64 + (1.0 + spare) * data as f64;
        ((blocks / planes as f64 - ROUNDED).ceil() as u64).max(2)
    };
    // What a scheme needs may grow with the device that it is given.
    for _ in 0..4 {
        small.device.blocks_per_plane = u32::try_from(wanted(&small)).unwrap_or(u32::MAX);
    }
    // Blocks come in whole rows of planes, of which few have many to spare by chance: data take
    // what leaves the share as it is.
    let room = small.device.physical_blocks().saturating_sub(kept(&small, data));
    let data = ((room as f64 / (1.0 + spare) + ROUNDED) as u64).max(data);
    small.device.logical_bytes = Optional(Some(Bytes(data * block_bytes)));
    let is_enough =
        least * planes >= all || (row.minimum_blocks)(&small) <= small.device.physical_blocks();
    let device = &small.device;
    let mut set = vec![
        ("device.channels", device.channels.to_string()),
        ("device.dies", device.dies.to_string()),
        ("device.planes", device.planes.to_string()),
        ("device.blocks_per_plane", device.blocks_per_plane.to_string()),
        ("device.pages_per_block", pages.to_string()),
        ("device.logical_bytes", (data * block_bytes).to_string()),
    ];
    if cached > 0 {
        set.push(("slc.static_blocks", small.slc.static_blocks.to_string()));
    }
    let erase = f64::from(pages) / f64::from(full.device.pages_per_block);
    (Scaled { set, erase }, is_enough)
}

/// Pages of its blocks: few, yet as many of every type as the device has.
pub fn pages_per_block(full: &Config) -> u32 {
    let types = |list: usize| (list as u32).max(1);
    let (read, program) = (full.timing.read_pages.0.len(), full.timing.program_pages.0.len());
    let step = common_multiple(types(read), types(program));
    let step = common_multiple(step, full.device.bits_per_cell.max(1));
    let least = PAGES_LEAST.max(UNITS_LEAST.div_ceil(full.device.units_per_page()));
    least.next_multiple_of(step).min(full.device.pages_per_block)
}

fn common_multiple(a: u32, b: u32) -> u32 {
    let mut divisor = a;
    let mut rest = b;
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices;
    use crate::selection;

    fn chosen(device: &str) -> Chosen {
        let config = devices::find(device).unwrap().config;
        selection::choose(&"ideal_page".into(), &config, &[]).unwrap().remove(0)
    }

    /// Of a large device the blocks become fewer and smaller, and nothing else; what collection has
    /// to spare and what a page pays for its erase stay.
    #[test]
    fn a_scale_model_keeps_the_ways_the_spare_share_and_the_price_of_an_erase() {
        let full = chosen("tlc_nvme");
        let Scaled { set, erase } = scaled(&full);
        let mut small = full.clone();
        for (key, text) in &set {
            small.config.set(key, text).unwrap();
        }
        small.config.check().unwrap();
        let beyond = |one: &Chosen| {
            let (device, least) = (&one.config.device, (one.row.minimum_blocks)(&one.config));
            let data = device.logical_pages() / u64::from(device.units_per_block());
            let kept = least - data.next_multiple_of(device.plane_count());
            (device.physical_blocks() - kept - data) as f64 / data as f64
        };
        let device = &small.config.device;
        assert_eq!((device.plane_count(), device.pages_per_block), (64, 12));
        assert!(device.logical_pages() < 100_000, "{}", device.logical_pages());
        assert!((erase - 12.0 / 768.0).abs() < 1e-12);
        let (before, after) = (beyond(&full), beyond(&small));
        assert!((after / before - 1.0).abs() < 0.02, "{before} {after}");
        assert!((small.row.open)(&small.config, 1).is_ok());
    }

    #[test]
    fn a_device_in_another_topology_has_the_same_capacity() {
        let full = chosen("tlc_nvme").config;
        let other = in_topology(&full, Topology { channels: 4, dies: 2, planes: 1 });
        assert_eq!(other.device.physical_blocks(), full.device.physical_blocks());
        assert_eq!(other.device.plane_count(), 8);
    }

    #[test]
    fn blocks_have_as_many_pages_of_every_type() {
        assert_eq!(pages_per_block(&chosen("qlc_nvme").config) % 4, 0);
        assert_eq!(common_multiple(4, 6), 12);
        assert_eq!(pages_per_block(&chosen("slc_small").config), 32);
    }
}
