//! What the queues of page space are for: groups of a policy that has some.

use super::Placing;
use crate::parts::placement::Regrouped;
use crate::parts::placement::midas::Groups;
use ftlab_flash::board::Board;
use ftlab_flash::meter::Level;
use ftlab_flash::units::BlockId;

impl Placing {
    pub(in crate::parts::page_space) fn groups(&self) -> Option<&Groups> {
        self.policy.groups()
    }

    pub(in crate::parts::page_space) fn regrouped(&mut self) -> Option<Regrouped> {
        self.policy.regrouped()
    }

    pub(in crate::parts::page_space) fn reclassed(&mut self, block: BlockId, class: u8) {
        self.policy.reclassed(block, class);
    }

    pub(in crate::parts::page_space) fn handed_on(
        &mut self,
        block: BlockId,
        class: u8,
        pages: u32,
    ) {
        self.policy.handed_on(block, class, pages);
    }

    /// What the policy says of its groups, as levels and by class.
    pub(in crate::parts::page_space) fn tell_groups(&self, board: &mut Board) {
        let Some(groups) = self.policy.groups() else { return };
        board.level(Level::PlacementGroups, u64::from(groups.count()));
        let says = self.policy.model_says();
        let levels = [
            (Level::ExpectedWafPermille, says.held.map(|(expected, _)| expected)),
            (Level::EpochWafPermille, says.held.map(|(_, found)| found)),
            (Level::BestWafPermille, says.best),
        ];
        for (level, value) in levels {
            if let Some(value) = value {
                board.level(level, value);
            }
        }
        for class in 0..self.classes {
            board.class_group(class, self.policy.class_group(class));
        }
    }
}
