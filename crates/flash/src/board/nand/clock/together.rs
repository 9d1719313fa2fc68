//! Pages that are loaded together and programmed by one command (`companions.rs`), as the clock
//! books them.

use super::Clock;
use super::operations::transferred;
use crate::board::when::When;
use crate::meter::Cause;
use crate::units::PlaneId;

impl Clock {
    /// Whether announcements are of use.
    #[inline]
    pub fn takes_announcements(&self) -> bool {
        !self.companions.is_empty() && self.transfer > 0
    }

    /// Whether companions must be at the same place of their blocks.
    pub fn joins_same_offsets_only(&self) -> bool {
        self.rules.same_offset()
    }

    /// The next page that is programmed for `cause` on this plane's die is followed by `companions`
    /// pages on other planes of the die: all are loaded before one command
    /// programs them. A promise that is not kept costs time only.
    pub fn announce(&mut self, plane: PlaneId, companions: u32, cause: Cause) {
        if self.takes_announcements() {
            self.companions[self.sites[plane.index()].die as usize].announce(companions, cause);
        }
    }

    /// A page to its register, and the channel booked for the companions that were announced.
    #[cold]
    pub(super) fn load_with_companions(
        &mut self,
        plane: PlaneId,
        cause: Cause,
        after: When,
    ) -> When {
        let die = self.sites[plane.index()].die as usize;
        let followers = self.companions[die].take(cause);
        if followers == 0 {
            return match self.companions[die].transfer(cause, after.time()) {
                Some(start) => {
                    self.busy.bus_wait += start - after.time();
                    transferred(after, cause, start + self.transfer)
                }
                None => self.over_channel((plane, self.transfer), cause, after),
            };
        }
        let loaded = self.over_channel((plane, self.transfer), cause, after);
        let mut last = loaded.time();
        for follower in 1..=followers as u64 {
            // The controller hands pages over one after the other.
            let from = after.time() + follower * self.controller_page;
            let start = self.book_channel((plane, self.transfer), cause, from);
            self.companions[die].book(start);
            last = last.max(start + self.transfer);
        }
        transferred(loaded, cause, last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::suspend_tests::clock;

    const PROGRAMS: [(&str, &str); 2] =
        [("device.planes", "2"), ("timing.multi_plane_program", "true")];

    #[test]
    fn announcements_are_of_use_where_programs_join_and_transfers_take_time() {
        assert!(clock(&PROGRAMS).0.takes_announcements());
        assert!(!clock(&PROGRAMS[..1]).0.takes_announcements(), "programs do not join");
        let at_once = [&PROGRAMS[..], &[("timing.page_transfer", "0us")]].concat();
        assert!(!clock(&at_once).0.takes_announcements(), "every page is there at once");
    }

    #[test]
    fn companions_are_at_the_same_place_where_the_part_wants_it() {
        for (value, expected) in [("true", true), ("false", false)] {
            let pairs = [&PROGRAMS[..], &[("timing.multi_plane_same_offset", value)]].concat();
            assert_eq!(clock(&pairs).0.joins_same_offsets_only(), expected);
        }
    }
}
