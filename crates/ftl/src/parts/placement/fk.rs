//! # Idea
//! Who knows when a page will be overwritten puts together what dies together: no policy can know
//! more.
//!
//! # Source
//! "Future knowledge" (FK) of SepBIT (FAST 2022).
//!
//! # Rule
//! Of what the page has left to live, host pages, count the whole segments: that is the class, at
//! most the last. Host writes and moved pages alike.
//!
//! # Deviations
//! An oracle: it needs a first pass over the workload ([`Future`]). While the device is prepared a
//! page lives until its first write in the workload, as if that began at once. A segment is what
//! the open blocks of a class hold, one in every plane.
//!
//! # Memory
//! 8 bytes a logical page for the time of death; what the future says is in no device.

use std::sync::Arc;

use super::settings::PlacementSettings;
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy};
use crate::future::{Future, NEVER};
use ftlab_flash::units::Lpn;

/// Times of death.
#[derive(Clone, Debug)]
pub struct Fk {
    last: u8,
    segment: u64,
    future: Arc<Future>,
    /// Host pages written when the workload began; none: it has not.
    begun: Option<u64>,
    /// After a power cut nobody knows how much of the workload was written: all pages live longest.
    lost: bool,
    /// When each page dies, in host pages of the workload; [`NEVER`].
    death: Vec<u32>,
}

impl PlacementPolicy for Fk {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        8 * u64::from(context.logical_pages)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        let future = context.future.expect("`gc.placement = fk` was checked to come with a future");
        Fk {
            last: context.classes - 1,
            segment: u64::from(context.segment_pages),
            future: Arc::clone(&future.0),
            begun: None,
            lost: false,
            death: future.0.first().to_vec(),
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        if self.lost {
            return self.last;
        }
        if let Some(begun) = self.begun {
            let now = write.now - begun;
            // Of all that the pass saw; whoever writes on is on his own.
            debug_assert!(
                !write.is_update
                    || now >= self.future.writes()
                    || u64::from(self.death[write.lpn.index()]) == now,
                "page {} is overwritten by write {now}, and was to die with {}",
                write.lpn.0,
                self.death[write.lpn.index()]
            );
            self.death[write.lpn.index()] = self.future.death_of_write(write.now - begun);
            return self.class(write.lpn, write.now - begun + 1);
        }
        self.class(write.lpn, 0)
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        self.class(page.lpn, self.begun.map_or(0, |begun| page.now - begun))
    }

    fn trimmed(&mut self, lpn: Lpn) {
        // A trim of the preparation leaves what the page's next version will live to see.
        if self.begun.is_some() {
            self.death[lpn.index()] = NEVER;
        }
    }

    fn recovers(&mut self) {
        self.lost = true;
    }

    fn measuring_begins(&mut self, now: u64) {
        // Whatever was written or lost before: all of the workload is still to come.
        self.begun = Some(now);
        self.lost = false;
        self.death.copy_from_slice(self.future.first());
    }
}

impl Fk {
    /// By whole segments that a page has left at a time of the workload.
    fn class(&self, lpn: Lpn, now: u64) -> u8 {
        let left = match self.death[lpn.index()] {
            _ if self.lost => return self.last,
            NEVER => return self.last,
            death => u64::from(death).saturating_sub(now),
        };
        (left / self.segment).min(u64::from(self.last)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;

    /// Segments of eight pages. Page 0 is written at 0, 3, 20 and never again; page 1 at 1 and 60.
    #[test]
    fn a_page_is_classed_by_the_segments_that_it_has_left() {
        let mut writes = vec![0, 1, 2, 0];
        writes.extend(10..26);
        writes.push(0);
        writes.extend(26..60);
        writes.extend([3, 4, 5, 6, 7, 1]);
        let mut fk = Bench::with_future(64, &writes);
        let classes: Vec<u8> = writes.iter().map(|&page| fk.write(page)).collect();
        // Two pages left to live; then 59, of which seven are whole segments; never; 16 left.
        assert_eq!(classes[..4], [0, 5, 5, 2]);
        assert_eq!(classes[20], 5, "page 0 is not written again");
        let mut fk = Bench::with_future(64, &writes);
        let moved: Vec<(u32, u8)> =
            writes[..30].iter().map(|&page| (page, fk.write(page))).collect();
        assert_eq!(moved[1], (1, 5));
        // At 30, page 1 dies at 60: 30 left, three segments.
        assert_eq!(fk.moved(1, 5), 3);
        fk.policy.recovers();
        assert_eq!((fk.moved(1, 3), fk.write(0)), (5, 5), "nobody knows where the workload stands");
    }

    /// What is trimmed before the workload begins and prepared again lives to its first write.
    #[test]
    fn a_trim_of_the_preparation_says_nothing_of_the_next_version() {
        let mut fk = Bench::preparing_for(64, &[9, 9, 9, 9, 9, 9, 9, 9, 5]);
        assert_eq!(fk.write(5), 1, "eight pages to live");
        fk.trim(5);
        assert_eq!(fk.write(5), 1);
    }

    /// Ten pages are written before the workload begins. Page 0 is its writes 0 and 8: of eight
    /// pages the host writes seven until it dies, no whole segment. Page 1 is written at 1 and 18.
    #[test]
    fn the_workload_begins_when_the_preparation_is_over() {
        let mut writes = vec![0, 1];
        writes.extend(10..16);
        writes.push(0);
        writes.extend(20..29);
        writes.push(1);
        writes.extend(30..60);
        let mut fk = Bench::preparing_for(64, &writes);
        fk.pass(10);
        fk.policy.measuring_begins(10);
        let classes: Vec<u8> = writes[..9].iter().map(|&page| fk.write(page)).collect();
        assert_eq!((classes[0], classes[1], classes[8]), (0, 2, 5));
        assert_eq!(fk.moved(1, 2), 1, "at 9 of the workload nine pages are left");
        fk.pass(2);
        assert_eq!(fk.moved(1, 2), 0, "seven");
    }
}
