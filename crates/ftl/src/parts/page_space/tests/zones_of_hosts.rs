//! Which zones are active, and which are written on after a power cut; whose erases whose are.

use super::*;
use ftlab_flash::meter::{BlockRole, Level};

/// Zones of eight pages, which the host chooses itself or leaves to the drive.
fn rig(raw: bool) -> Rig {
    let mut config = settings();
    let pairs = [("alloc.unit", "line"), ("gc.separate_frontiers", "false")];
    pairs.iter().for_each(|(key, value)| config.set(key, value).expect("legal"));
    config.device.blocks_per_plane = 10;
    config.zones = Some(ZoneRules {
        channels: 1,
        rows: 4,
        max_open: 8,
        copy_in_device: false,
        raw,
        finish_after_cut: false,
    });
    Rig::of(config, 2)
}

#[test]
fn a_zone_is_active_until_its_last_page_is_written() {
    let mut rig = rig(true);
    let active = [0; 8].map(|_| {
        let _ = rig.write((FIRST, Stream::Data), 0);
        rig.board.meter().level_now(Level::ActiveZones)
    });
    assert_eq!(active, [1, 1, 1, 1, 1, 1, 1, 0].map(Some));
}

/// Where the drive knows what the host writes them for, one goes on and the others are finished.
#[test]
fn any_class_writes_on_a_zone_that_is_found_where_the_host_names_zones() {
    for (raw, open) in [(true, 3), (false, 1)] {
        let mut rig = rig(raw);
        for class in 0..3 {
            let _ = rig.write((FIRST, Stream::of_class(class)), u32::from(class));
        }
        rig.recover(2);
        let zones = Stream::classes().filter_map(|stream| rig.space.open_zone(stream));
        assert_eq!(zones.count(), open, "raw: {raw}");
    }
}

#[test]
fn only_blocks_of_the_map_are_erased_as_such() {
    let roles = [Stream::Data, Stream::Map, Stream::Worn, Stream::Slc].map(Stream::role);
    assert_eq!(roles, [BlockRole::Data, BlockRole::Map, BlockRole::Data, BlockRole::Data]);
}
