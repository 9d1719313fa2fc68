//! How large lines are, and what goes with them.

use super::SharedSettings;
use crate::parts::alloc::AllocUnit;
use crate::parts::line_book::full_line;
use crate::parts::page_space::settings::GcUnit;
use ftlab_flash::board::nand::geometry::{Geometry, PlacementOrder};
use ftlab_flash::board::settings::WearPolicy;
use ftlab_flash::settings::SettingError;

impl SharedSettings {
    /// Blocks of every plane that so many pages take, spread evenly: of lines, what a line holds
    /// without its parity, and without the die that is to fail.
    pub fn blocks_for(&self, pages: u64) -> u64 {
        let device = &self.device;
        match self.alloc.unit {
            AllocUnit::Plane => {
                pages.div_ceil(device.plane_count()).div_ceil(u64::from(device.units_per_block()))
            }
            AllocUnit::Line => pages.div_ceil(self.pages_of_line().max(1)),
        }
    }

    /// Pages of data that a line of good blocks holds once the die has failed that is to.
    fn pages_of_line(&self) -> u64 {
        let full = self.full_line();
        let lost = match self.nand.failing_die.0 {
            Some(_) => self.device.planes * self.device.units_per_block(),
            None => 0,
        };
        u64::from(full.saturating_sub(lost))
    }

    /// Pages of data that a line of good blocks holds.
    pub fn full_line(&self) -> u32 {
        let geometry = Geometry::new(&self.device);
        match &self.zones {
            None => full_line(&geometry, self.rain.stripe),
            Some(zones) => zones.pages(&geometry),
        }
    }

    /// Blocks of every plane, or lines where those are what is allocated.
    pub fn units(&self) -> u32 {
        self.device.blocks_per_plane * self.line_sets()
    }

    /// Sets of planes that have lines of their own: one but for narrow zones.
    pub fn line_sets(&self) -> u32 {
        self.zones.as_ref().map_or(1, |zones| zones.sets(self.device.channels))
    }

    /// Lines have one order, one collection, one sort of blocks; parity and a die that fails need
    /// them.
    pub(super) fn check_lines(&self) -> Result<(), SettingError> {
        let conflict = |text: String| Err(SettingError::Conflict(text));
        if self.alloc.unit == AllocUnit::Plane {
            if self.rain.stripe > 0 {
                return conflict(format!(
                    "rain.stripe = {} needs alloc.unit = line: parity is over the dies of a line",
                    self.rain.stripe
                ));
            }
            if let Some(die) = self.nand.failing_die.0 {
                return conflict(format!(
                    "nand.failing_die = {die} needs alloc.unit = line: a plane that collects by \
                     itself has no other place for its pages"
                ));
            }
            return Ok(());
        }
        let and = |key: &str, value: &str, why: &str| {
            conflict(format!("alloc.unit = line and {key} = {value} exclude each other: {why}"))
        };
        if self.slc.is_on() {
            let blocks = self.slc.static_blocks.to_string();
            let share = self.slc.dynamic_share.to_string();
            let (key, value) = match self.slc.static_blocks {
                0 => ("slc.dynamic_share", share),
                _ => ("slc.static_blocks", blocks),
            };
            let why = "an SLC cache takes single blocks of a plane; legal: no cache, or alloc.unit = \
                       plane";
            return and(key, &value, why);
        }
        if self.gc.unit != GcUnit::Plane {
            let why = "a line is of all dies anyway; legal: gc.unit = plane";
            return and("gc.unit", self.gc.unit.name(), why);
        }
        if self.wear.policy == WearPolicy::Static {
            let why = "static levelling moves single blocks; legal: wear.policy = implicit, dynamic \
                       or none";
            return and("wear.policy", self.wear.policy.name(), why);
        }
        let order = self.alloc.order;
        if order == PlacementOrder::Dynamic {
            let why = "pages of a line follow one another in a fixed order; legal: a static order";
            return and("alloc.order", order.name(), why);
        }
        if self.rain.stripe > 0 && order != PlacementOrder::ChannelDiePlane {
            return conflict(format!(
                "rain.stripe = {} and alloc.order = {} exclude each other: a stripe is of dies in \
                 the order in which channels take turns first; legal: alloc.order = channel_die_plane",
                self.rain.stripe,
                order.name()
            ));
        }
        if self.rain.stripe > 0 && self.timing.copyback {
            return conflict(format!(
                "rain.stripe = {} and timing.copyback = true exclude each other: a page that stays in \
                 its plane is never in the controller, which needs it for the parity of its new \
                 stripe; legal: timing.copyback = false, or rain.stripe = 0",
                self.rain.stripe
            ));
        }
        if self.nand.failing_die.0.is_some() && self.pages_of_line() == 0 {
            return conflict(
                "nand.failing_die leaves no die that a page could be moved to; legal: a device of \
                 more dies than two of a stripe, or rain.stripe = 0"
                    .to_owned(),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
