//! How many log blocks each group may have: K for all, or by what merging the group's log blocks
//! cost of late.
//!
//! A decision falls after every window of merges of a group. U: log pages that they reclaimed. R:
//! data blocks that they rebuilt (none by a switch, one by a partial merge). Few pages to a rebuilt
//! block mean that a log block mixes many logical blocks: with one more log block, more updates of
//! each gather before it is rebuilt. A block's worth of pages or more mean that fewer would do, and
//! what the group gives up is there for others.

use super::settings::NkSettings;
use ftlab_flash::board::Board;
use ftlab_flash::meter::{Event, Level};
use ftlab_flash::units::zeroed;
use ftlab_ftl::parts::owned_logs::Owner;

/// What a merge of one log block gave and cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reclaimed {
    /// Log pages that were used.
    pub pages: u32,
    /// Data blocks that were rebuilt or completed.
    pub data_blocks: u32,
}

/// What a group has seen since its last decision.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
struct Seen {
    /// K now less the K of the beginning.
    change: i32,
    merges: u32,
    pages: u32,
    data_blocks: u32,
}

/// K of every group.
#[derive(Clone, Debug)]
pub struct Associativity {
    first: u32,
    least: u32,
    most: u32,
    window: u32,
    grow_below_pct: u64,
    shrink_from_pct: u64,
    pages_per_block: u64,
    /// One entry per group; none where K does not change.
    groups: Vec<Seen>,
    /// K less the K of the beginning, summed over the groups.
    change: i64,
    count: u32,
}

impl Associativity {
    /// K of `count` groups under `settings`, of `log_blocks` in all.
    pub fn new(board: &mut Board, settings: &NkSettings, count: u32, log_blocks: u32) -> Self {
        let (least, most) = match settings.dynamic {
            true => range(settings, log_blocks),
            false => (settings.K, settings.K),
        };
        let known = Associativity {
            first: settings.K.clamp(least, most),
            least,
            most,
            window: settings.window,
            grow_below_pct: u64::from(settings.grow_below_pct),
            shrink_from_pct: u64::from(settings.shrink_from_pct),
            pages_per_block: u64::from(board.geometry().pages_per_block),
            groups: zeroed(if settings.dynamic { count as usize } else { 0 }),
            change: 0,
            count,
        };
        known.tell(board);
        known
    }

    /// RAM: K and three sums per group, where K changes.
    pub fn ram_bytes(settings: &NkSettings, groups: u64) -> u64 {
        if settings.dynamic { groups * 16 } else { 0 }
    }

    /// Log blocks that a group may have.
    #[inline]
    pub fn of(&self, group: Owner) -> u32 {
        let change = self.groups.get(group.0 as usize).map_or(0, |seen| seen.change);
        self.first.saturating_add_signed(change)
    }

    /// A log block of a group was merged, or erased because nothing in it was valid.
    pub fn merged(&mut self, board: &mut Board, group: Owner, reclaimed: Reclaimed) {
        let now = self.of(group);
        let Some(seen) = self.groups.get_mut(group.0 as usize) else { return };
        seen.merges += 1;
        seen.pages += reclaimed.pages;
        seen.data_blocks += reclaimed.data_blocks;
        if seen.merges < self.window {
            return;
        }
        let gained = 100 * u64::from(seen.pages);
        let paid = u64::from(seen.data_blocks) * self.pages_per_block;
        let step = if gained < self.grow_below_pct * paid && now < self.most {
            1
        } else if gained >= self.shrink_from_pct * paid && now > self.least {
            -1
        } else {
            0
        };
        *seen = Seen { change: seen.change + step, ..Seen::default() };
        if step != 0 {
            self.change += i64::from(step);
            board.event(Event::Conversions, 1);
            self.tell(board);
        }
    }

    fn tell(&self, board: &mut Board) {
        let groups = u64::from(self.count);
        let sum = (u64::from(self.first) * groups).saturating_add_signed(self.change);
        board.level(Level::GroupLogsPermille, sum * 1000 / groups);
    }
}

/// Least and most K of a group where it changes.
pub fn range(settings: &NkSettings, log_blocks: u32) -> (u32, u32) {
    (settings.k_min, settings.k_max.0.unwrap_or(log_blocks.max(settings.k_min)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nk::settings::Config;
    use ftlab_flash::settings::Groups as _;
    use ftlab_flash::settings::Optional;

    /// Blocks of 4 pages, two groups, a decision after every second merge.
    fn dynamic(k: u32, most: u32) -> (Board, Associativity) {
        let mut config = Config::default();
        config.set("device.pages_per_block", "4").expect("legal");
        let mut board = Board::new(&config, 1, 64);
        let k_max = Optional(Some(most));
        let settings =
            NkSettings { dynamic: true, K: k, k_max, window: 2, ..NkSettings::default() };
        let known = Associativity::new(&mut board, &settings, 2, 9);
        (board, known)
    }

    /// K of group 1 after each of several merges (pages, data blocks).
    fn after(k: u32, most: u32, merges: &[(u32, u32)]) -> Vec<u32> {
        let (mut board, mut known) = dynamic(k, most);
        let step = |&(pages, data_blocks): &(u32, u32)| {
            known.merged(&mut board, Owner(1), Reclaimed { pages, data_blocks });
            assert_eq!(known.of(Owner(0)), k, "the other group is not concerned");
            known.of(Owner(1))
        };
        merges.iter().map(step).collect()
    }

    #[test]
    fn groups_whose_merges_rebuild_much_for_few_log_pages_grow() {
        assert_eq!(after(1, 3, &[(4, 3), (4, 3)]), [1, 2], "8 pages for 6 blocks of 4: a third");
        assert_eq!(after(1, 3, &[(4, 2), (4, 2)]), [1, 1], "half is not below half");
        assert_eq!(after(3, 3, &[(1, 4), (1, 4)]), [3, 3], "never more than k_max");
    }

    #[test]
    fn groups_whose_merges_rebuild_little_shrink() {
        assert_eq!(after(2, 3, &[(4, 1), (4, 1)]), [2, 1], "a block's worth for each");
        assert_eq!(after(2, 3, &[(4, 0), (4, 0)]), [2, 1], "switches rebuild nothing");
        assert_eq!(after(2, 3, &[(4, 1), (3, 1)]), [2, 2], "seven eighths are not enough");
        assert_eq!(after(1, 3, &[(4, 0), (4, 0)]), [1, 1], "never fewer than k_min");
    }

    #[test]
    fn the_level_is_the_mean_over_the_groups_and_changes_are_counted() {
        let (mut board, mut known) = dynamic(1, 3);
        assert_eq!(board.meter().level_now(Level::GroupLogsPermille), Some(1000));
        for _ in 0..2 {
            known.merged(&mut board, Owner(1), Reclaimed { pages: 1, data_blocks: 4 });
        }
        assert_eq!(board.meter().level_now(Level::GroupLogsPermille), Some(1500));
        assert_eq!(board.meter().events(Event::Conversions), 1);
    }
}
