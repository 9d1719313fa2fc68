//! A picture of the counts at one moment, to tell what happened between two of them.
//!
//! Fixed arrays, copied on request: whoever does not ask for differences pays nothing.

use super::{BlockRole, Cause, Event, Meter};

/// Counts at one moment, or between two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Page reads by cause, in the order of [`Cause::ALL`].
    pub reads: [u64; Cause::COUNT],
    /// Page programs by cause, in the order of [`Cause::ALL`].
    pub programs: [u64; Cause::COUNT],
    /// Block erases by role, in the order of [`BlockRole::ALL`].
    pub erases: [u64; BlockRole::COUNT],
    /// Block erases by cause, in the order of [`Cause::ALL`].
    pub erases_by_cause: [u64; Cause::COUNT],
    /// Look-ups of the cached map that were not answered from the cache.
    pub map_misses: u64,
    /// Full merges.
    pub full_merges: u64,
    /// Data blocks that they rebuilt.
    pub full_data_blocks: u64,
}

impl Counts {
    /// What was counted after `before`.
    ///
    /// # Panics
    /// When counts were reset in between, which makes the question meaningless.
    #[must_use]
    pub fn since(&self, before: &Counts) -> Counts {
        fn less<const N: usize>(now: &[u64; N], before: &[u64; N]) -> [u64; N] {
            std::array::from_fn(|index| {
                assert!(now[index] >= before[index], "counts only grow between two pictures");
                now[index] - before[index]
            })
        }
        let [map_misses, full_merges, full_data_blocks] = less(&self.others(), &before.others());
        Counts {
            reads: less(&self.reads, &before.reads),
            programs: less(&self.programs, &before.programs),
            erases: less(&self.erases, &before.erases),
            erases_by_cause: less(&self.erases_by_cause, &before.erases_by_cause),
            map_misses,
            full_merges,
            full_data_blocks,
        }
    }

    fn others(&self) -> [u64; 3] {
        [self.map_misses, self.full_merges, self.full_data_blocks]
    }

    /// Page reads of all causes.
    #[must_use]
    pub fn total_reads(&self) -> u64 {
        self.reads.iter().sum()
    }

    /// Page programs of all causes.
    #[must_use]
    pub fn total_programs(&self) -> u64 {
        self.programs.iter().sum()
    }

    /// Block erases of all roles.
    #[must_use]
    pub fn total_erases(&self) -> u64 {
        self.erases.iter().sum()
    }
}

impl Meter {
    /// The counts as they are now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            reads: self.reads,
            programs: self.programs,
            erases: self.erases,
            erases_by_cause: self.erases_by_cause,
            map_misses: self.events(Event::MapLookups) - self.events(Event::MapHits),
            full_merges: self.merges.full,
            full_data_blocks: self.merges.full_data_blocks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_what_was_counted_in_between() {
        let mut before = Counts { map_misses: 3, full_merges: 1, ..Counts::default() };
        before.reads[Cause::Gc as usize] = 7;
        let mut now = before;
        now.reads[Cause::Gc as usize] += 5;
        now.erases[BlockRole::Log as usize] += 2;
        now.map_misses += 4;
        let between = now.since(&before);
        assert_eq!(between.reads[Cause::Gc as usize], 5);
        assert_eq!((between.total_reads(), between.total_programs()), (5, 0));
        assert_eq!((between.total_erases(), between.map_misses, between.full_merges), (2, 4, 0));
    }

    #[test]
    fn a_picture_shows_what_the_meter_has_counted() {
        let mut meter = Meter::new(4);
        [Cause::Host, Cause::Gc, Cause::Gc].into_iter().for_each(|cause| meter.program(cause));
        meter.read(Cause::Gc);
        meter.erase(BlockRole::Log, Cause::Merge);
        meter.event(Event::MapLookups, 7);
        meter.event(Event::MapHits, 2);
        meter.merge_full(3);
        let counts = meter.counts();
        assert_eq!(
            (counts.total_programs(), counts.total_reads(), counts.total_erases()),
            (3, 1, 1)
        );
        assert_eq!(counts.programs[Cause::Gc as usize], 2);
        assert_eq!((counts.map_misses, counts.full_merges, counts.full_data_blocks), (5, 1, 3));
    }
}
