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
    use super::super::Load;
    use super::super::suspend_tests::clock;
    use super::*;
    use crate::units::BlockId;

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

    /// Three pages for three planes of a die: each 10 us over the channel, after the controller.
    #[test]
    fn pages_are_loaded_as_the_controller_hands_them_over_and_programmed_together() {
        for (handed, end, waited) in [
            // They come at 4, 8 and 12 us, and cross from 4 to 34: waits of 0, 6 and 12 us.
            ("4us", 334_000, 18_000),
            // They come at 15, 30 and 45 us, and none of them waits.
            ("15us", 355_000, 0),
        ] {
            let own = [("device.planes", "4"), ("timing.controller_page", handed)];
            let (mut clock, geometry) = clock(&[&PROGRAMS[..], &own].concat());
            let start = clock.admit(0);
            clock.announce(PlaneId(0), 2, Cause::Host);
            let ends = [0, 1, 2].map(PlaneId).map(|plane| {
                let block = BlockId(geometry.blocks_of(plane).start);
                let page = (plane, block, geometry.page(block, 0));
                let ready = clock.host_page(start);
                let done = clock.program_page(page, Load::Channel, Cause::Host, ready);
                clock.completion(done)
            });
            assert_eq!(ends, [end; 3], "{handed}");
            assert_eq!(clock.service_time().bus_wait, waited, "{handed}");
        }
    }
}
