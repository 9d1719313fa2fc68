//! What the gate cannot see, as schemes and parts name it: the meter counts it.

use super::Board;
use crate::meter::{ClassGroup, Event, Level};

impl Board {
    /// Names something that the gate cannot see.
    #[inline]
    pub fn event(&mut self, event: Event, count: u64) {
        self.meter.event(event, count);
    }

    /// Tells where one of the scheme's areas or thresholds stands from now on; a new device knows
    /// none of them.
    #[inline]
    pub fn level(&mut self, level: Level, value: u64) {
        self.meter.level(level, value);
    }

    /// A page-mapped victim was reclaimed after `copied` pages were moved.
    #[inline]
    pub fn victim(&mut self, copied: u32) {
        let pages = self.geometry().pages_per_block;
        self.meter.victim(copied, pages);
    }

    /// The host's next page goes to a class of data.
    pub fn class_written(&mut self, class: u8) {
        self.meter.class_written(class);
    }

    /// So many pages are moved to a class of data.
    pub fn class_moved(&mut self, class: u8, pages: u32) {
        self.meter.class_moved(class, pages);
    }

    /// What the group of a class stands at now; none where it is no group.
    pub fn class_group(&mut self, class: u8, group: Option<ClassGroup>) {
        self.meter.class_group(class, group);
    }

    /// A block, or line, of a class was emptied: pages that were moved out of it, and pages that it
    /// has; after so many pages of the host since it was opened.
    pub fn class_victim(&mut self, class: u8, moved: (u32, u32), lifespan: Option<u64>) {
        self.meter.class_victim(class, moved, lifespan);
    }

    /// A log block was merged by turning it into a data block.
    pub fn merge_switch(&mut self) {
        self.meter.merge_switch();
    }

    /// A log block was completed with pages of its data block.
    pub fn merge_partial(&mut self) {
        self.meter.merge_partial();
    }

    /// A log block was merged with `data_blocks` data blocks, each rebuilt.
    pub fn merge_full(&mut self, data_blocks: u32) {
        self.meter.merge_full(data_blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::for_tests::board;
    use crate::meter::ClassCounts;

    #[test]
    fn what_the_gate_cannot_see_is_counted_where_it_is_named() {
        let mut board = board(&[]);
        board.event(Event::LostPages, 3);
        board.level(Level::RandomLogBlocks, 0);
        board.merge_switch();
        board.merge_partial();
        board.merge_partial();
        board.merge_full(5);
        let meter = board.meter();
        assert_eq!(meter.events(Event::LostPages), 3);
        assert_eq!(meter.level_now(Level::RandomLogBlocks), Some(0));
        assert_eq!(meter.level_now(Level::SequentialLogBlocks), None, "nobody said");
        let merges = meter.merges();
        assert_eq!((merges.switch, merges.partial, merges.full), (1, 2, 1));
        assert_eq!(merges.full_data_blocks, 5);
    }

    #[test]
    fn classes_are_counted_as_schemes_tell_of_them() {
        let mut board = board(&[]);
        board.class_written(1);
        board.class_moved(1, 3);
        board.class_victim(1, (2, 64), Some(40));
        let group = ClassGroup { segments: 3, ..ClassGroup::default() };
        board.class_group(1, Some(group));
        let expected = ClassCounts {
            host_pages: 1,
            moved_pages: 3,
            victims: 1,
            victim_pages: 64,
            copied_pages: 2,
            timed_victims: 1,
            lifespans: 40,
            group: Some(group),
        };
        assert_eq!(board.meter().classes()[1], expected);
    }
}
