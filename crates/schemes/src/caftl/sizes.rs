//! How much of everything: blocks, pages of the journal, memory; and what does not go together.

use super::settings::Config;
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::memory::{Memory, RamUse};
use ftlab_flash::settings::SettingError;
use ftlab_ftl::parts::page_mapped::{self, GC_LOW};
use ftlab_ftl::parts::page_space::Threshold;
use ftlab_ftl::parts::placement::PlacementKind;
use ftlab_ftl::parts::sharing_journal::{Shape, TOGETHER};
use ftlab_ftl::parts::values::Values;
use ftlab_ftl::parts::virtual_pages;

/// Bytes of a fingerprint: SHA-1, CRC-32, page, the logical page that it was written for,
/// neighbours in the order of use.
const FINGERPRINT_BYTES: u64 = 20 + 4 + 4 + 4 + 8;
/// Bytes that find the fingerprint of a page that moves or dies.
const PAGE_INDEX_BYTES: u64 = 8;
/// Bytes whose hashing takes the times that the settings say.
pub(super) const HASHED_BYTES: u64 = 4096;
/// Least threshold: a data target, a target for the journal, a target for copies of its pages.
const FLOOR: u32 = 3;

pub(super) fn threshold(config: &Config) -> u32 {
    Threshold::resolve(config, GC_LOW, FLOOR)
}

pub(super) fn fingerprints(config: &Config) -> u32 {
    (config.own.store_bytes.0 / FINGERPRINT_BYTES).min(1 << 28) as u32
}

pub(super) fn shape(config: &Config) -> Shape {
    let geometry = Geometry::new(&config.device);
    let numbers = config.own.shared_pages.min(geometry.logical_pages);
    Shape::new(&geometry, numbers, config.own.flush)
}

/// Pages of the journal that are alive at once, with the one that is being written.
pub(super) fn records(config: &Config) -> u64 {
    u64::from(shape(config).pages()) + 1
}

pub(super) fn check(config: &Config) -> Result<(), SettingError> {
    Threshold::check(config, FLOOR)?;
    if config.gc.placement == PlacementKind::Hint {
        return Err(SettingError::Conflict(
            "gc.placement = hint and caftl exclude each other: a page that several share has no \
             hint of its own; legal: none, sep_gc"
                .to_owned(),
        ));
    }
    if shape(config).changes() < TOGETHER {
        return Err(SettingError::Conflict(format!(
            "device.page_size: half a page of {} bytes holds fewer than the {TOGETHER} changes that \
             caftl makes together; legal: at least 128 bytes",
            config.device.unit_bytes()
        )));
    }
    Ok(())
}

pub(super) fn minimum_blocks(config: &Config) -> u64 {
    let device = &config.device;
    // One more than there may be, before they are counted anew; all in one plane, as all pages of
    // the journal may be, because collection writes those to the plane of its victim.
    let beside = u64::from(config.own.unreclaimed) + 1 + records(config);
    let beside = beside.div_ceil(u64::from(device.units_per_block()));
    let data = config.blocks_for(device.logical_pages());
    let reserve = config.blocks_beside_data(threshold(config));
    device.plane_count() * (data + beside + 1 + reserve)
}

pub(super) fn ram_use(config: &Config) -> Vec<RamUse> {
    let entry = |structure, bytes| RamUse { structure, bytes, memory: Memory::Dram };
    let physical = u64::from(Geometry::new(&config.device).pages());
    let shape = shape(config);
    let numbers = u64::from(shape.numbers);
    let fingerprints = fingerprints(config);
    let own = [
        entry("primary_map", page_mapped::table_bytes(config)),
        entry("secondary_map", virtual_pages::NUMBER_BYTES * numbers),
        entry("number_index", virtual_pages::INDEX_BYTES * numbers),
        entry("fingerprints", FINGERPRINT_BYTES * u64::from(fingerprints)),
        entry(
            "fingerprint_index",
            Values::index_bytes(fingerprints) + PAGE_INDEX_BYTES * u64::from(fingerprints),
        ),
        entry("unhashed_bitmap", physical.div_ceil(8)),
        entry("journal", shape.ram_bytes()),
    ];
    let mut structures = page_mapped::ram_use(config, &own);
    // Trims are in the journal.
    structures.retain(|one| one.structure != "trim_records");
    structures
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_flash::settings::Groups as _;

    /// A page of the journal is written while its predecessor is alive.
    #[test]
    fn the_journal_has_a_page_more() {
        let config = Config::default();
        assert_eq!(records(&config), u64::from(shape(&config).pages()) + 1);
    }

    /// Pages that may stay unreclaimed, and one more, share blocks with those of the journal, in
    /// every plane: one that is too many for so many blocks takes another.
    #[test]
    fn what_is_beside_the_data_takes_whole_blocks() {
        let blocks = |unreclaimed: u64| {
            let mut config = Config::default();
            config.set("device.channels", "2").expect("legal");
            config.set("caftl.unreclaimed", &unreclaimed.to_string()).expect("legal");
            (minimum_blocks(&config), records(&config))
        };
        let (_, records) = blocks(100);
        let full = (1 + records + 100).next_multiple_of(64) - 1 - records;
        assert_eq!(blocks(full + 1).0 - blocks(full).0, 2, "{full} beside {records}");
        assert_eq!(blocks(full + 64).0, blocks(full + 1).0);
    }
}
