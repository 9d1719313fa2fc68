//! The choice of a program that uses ftlab as a library: of every block that is emptied, whether
//! its pages lie apart from what the host writes (class 1), or with it (class 0).

use super::settings::PlacementSettings;
use super::{Classes, Goes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};
use crate::own::{Asked, Collected, OwnPlacement};

/// Whom to ask.
#[derive(Clone, Debug)]
pub struct Own {
    policy: Asked<dyn OwnPlacement>,
}

impl PlacementPolicy for Own {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Fixed(2)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let maker = context.own.expect("`gc.placement = own` was checked to come with a policy");
        Own { policy: maker.made() }
    }

    fn host(&mut self, _: &HostWrite) -> u8 {
        0
    }

    fn victim(&mut self, victim: &Victim) -> Goes {
        let Victim { block, pages_per_block, valid, erases, age, .. } = *victim;
        let collected = Collected { block, pages_per_block, valid, erases, age };
        Goes::Whole(u8::from(self.policy.ask().apart(collected)))
    }

    fn moved(&mut self, _: &MovedPage) -> u8 {
        unreachable!("victims are placed whole")
    }
}
