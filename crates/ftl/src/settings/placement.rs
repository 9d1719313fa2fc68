//! Which settings of placement exclude each other.

use super::SharedSettings;
use crate::parts::page_space::settings::GcTrigger;
use crate::parts::placement::{Classes, PlacementKind};
use crate::parts::victim::VictimKind;
use ftlab_flash::settings::SettingError;

impl SharedSettings {
    pub(super) fn check_placement(&self) -> Result<(), SettingError> {
        let kind = self.gc.placement;
        if kind != PlacementKind::None && self.gc.separate_frontiers {
            return Err(SettingError::Conflict(format!(
                "gc.placement = {} and gc.separate_frontiers = true exclude each other: the second \
                 is what sep_gc does; legal: one of the two",
                kind.name()
            )));
        }
        if self.gc.victim == VictimKind::CostHotness && kind != PlacementKind::Sfs {
            return Err(SettingError::Conflict(format!(
                "gc.victim = cost_hotness needs gc.placement = sfs, not {}: hotness is what that \
                 policy knows; legal: both, or another gc.victim",
                kind.name()
            )));
        }
        if self.gc.victim == VictimKind::CostBenefitHost && kind == PlacementKind::None {
            return Err(SettingError::Conflict(
                "gc.victim = cost_benefit_host needs a gc.placement: its policy has the clock of the \
                 host's pages; legal: any but none, or another gc.victim"
                    .to_owned(),
            ));
        }
        if kind == PlacementKind::Fk && self.future.is_none() {
            return Err(SettingError::Conflict(
                "gc.placement = fk needs the future of the workload, found in a pass before the run; \
                 legal: ftlab run, compare and sweep, or SharedSettings::future"
                    .to_owned(),
            ));
        }
        if kind.queues_blocks() && self.gc.trigger == GcTrigger::GarbageShare {
            return Err(SettingError::Conflict(format!(
                "gc.trigger = garbage_share and gc.placement = {} exclude each other: the first \
                 collects what holds enough garbage, the second what its groups have too much of; \
                 legal: gc.trigger = free_blocks, or another gc.placement",
                kind.name()
            )));
        }
        self.midas.check()?;
        match (kind.classes(&self.placement), self.placement.classes.0) {
            (Classes::Fixed(by_nature), Some(set)) if set != u32::from(by_nature) => {
                Err(SettingError::Conflict(format!(
                    "placement.classes = {set} and gc.placement = {} exclude each other, which has \
                     {by_nature}; legal: placement.classes = auto, or a policy that can have more",
                    kind.name()
                )))
            }
            _ => Ok(()),
        }
    }
}
