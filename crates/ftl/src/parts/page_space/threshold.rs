//! Free blocks below which collection starts, from the setting to a number.

use super::PageSpace;
use crate::answers::Room;
use crate::parts::page_space::settings::{GcMode, Threshold, ThresholdBase};
use crate::settings::SharedSettings;
use ftlab_flash::settings::SettingError;
use ftlab_flash::units::PlaneId;

impl Threshold {
    /// Free blocks per plane below which collection starts, never below `floor`, the least that
    /// keeps the scheme from running dry.
    pub fn resolve(config: &SharedSettings, own: u32, floor: u32) -> u32 {
        let device = &config.device;
        let parsed = Threshold::parse(&config.gc.threshold).expect("checked when it was set");
        let blocks = match parsed {
            Threshold::Auto => own,
            Threshold::Blocks(blocks) => blocks,
            Threshold::Share(share) => {
                let per_plane = u64::from(config.units());
                let base = match config.gc.threshold_base {
                    ThresholdBase::Plane => per_plane,
                    ThresholdBase::Spare => {
                        per_plane.saturating_sub(config.blocks_for(device.logical_pages()))
                    }
                };
                (share * base as f64).ceil() as u32
            }
        };
        blocks.max(floor) + Self::failure_reserve(config)
    }

    /// A failed program costs the rest of its block, in the middle of a collection too.
    pub(super) fn failure_reserve(config: &SharedSettings) -> u32 {
        let fails = config.nand.program_failure_rate > 0.0 || config.nand.failing_die.0.is_some();
        u32::from(fails) * FAILURE_RESERVE
    }

    /// Refuses a number of blocks that would let the scheme run dry.
    pub fn check(config: &SharedSettings, floor: u32) -> Result<(), SettingError> {
        match Threshold::parse(&config.gc.threshold) {
            Some(Threshold::Blocks(blocks)) if blocks < floor => Err(SettingError::BadValue {
                key: "gc.threshold".to_string(),
                value: config.gc.threshold.clone(),
                legal: format!("{floor} blocks or more for this scheme on this device"),
            }),
            _ => Ok(()),
        }
    }
}

/// Further blocks held free where programs can fail, or lines where a die can in the middle of a
/// collection.
const FAILURE_RESERVE: u32 = 2;

impl PageSpace {
    /// Free blocks of the plane that has fewest, and the count below which a write collects there.
    pub fn room(&self) -> Room {
        let of =
            |plane: PlaneId| (self.planes[plane.index()].free.len(), self.collection_limit(plane));
        let planes = (0..self.planes.len() as u32).map(PlaneId);
        let (free_blocks, threshold) = planes.map(of).min().expect("a device has a plane");
        Room { free_blocks, threshold }
    }

    /// Free blocks of a plane below which a host write collects.
    pub(super) fn collection_limit(&self, plane: PlaneId) -> u32 {
        let threshold = self.planes[plane.index()].threshold;
        match self.mode {
            GcMode::Idle => threshold.min(self.emergency),
            GcMode::Foreground | GcMode::Both => threshold,
        }
    }
}
