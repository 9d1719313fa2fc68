//! # Idea
//! Levels from hot to cold: a page that is rewritten sooner than its level would expect climbs, one
//! that is moved sinks.
//!
//! # Source
//! Multi-log: Stoica and Ailamaki, VLDB 2013, as in the simulator of SepBIT (FAST 2022), whose
//! rules these are; the paper also chooses victims by level.
//!
//! # Rule
//! A first write: level 0, the hottest. A page rewritten after u host pages goes one level hotter
//! with probability (E - u) / E, where E = living pages of its level * mean valid share of the
//! level's victims / 2; otherwise it keeps its level. Moved page: one level colder; a level that
//! has not been written is begun only while the coldest one holds a segment or more.
//!
//! # Deviations
//! The simulator has its two levels exchanged in this rule, draws without a seed and divides by
//! zero until a level had a victim: here the share is 1 until then, and draws are a stream of their
//! own. Victims are chosen by `gc.victim`, over all levels.
//!
//! # Memory
//! A byte a logical page for its level, and the table of times.

use super::settings::PlacementSettings;
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Times, Victim};
use ftlab_flash::rng::{Purpose, Rng};
use ftlab_flash::units::{Lpn, zeroed};

/// What is known of a level.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// Pages whose newest version was put there.
    living: u64,
    /// Pages of its victims, and those of them that were valid.
    collected: u64,
    valid: u64,
}

/// The level of every page.
#[derive(Clone, Debug)]
pub struct Multilog {
    levels: Vec<Level>,
    /// Levels that have been written.
    begun: usize,
    segment: u64,
    /// Level of each page plus one; 0: not written.
    level_of: Vec<u8>,
    rng: Rng,
}

impl PlacementPolicy for Multilog {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn times(_: &PlacementSettings) -> Times {
        Times::WhenWritten
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        u64::from(context.logical_pages)
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        Multilog {
            levels: vec![Level::default(); context.classes as usize],
            begun: 1,
            segment: u64::from(context.segment_pages),
            level_of: zeroed(context.logical_pages as usize),
            rng: Rng::new(context.seed, Purpose::Placement),
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        let level = match (self.leave(write.lpn), write.age) {
            (Some(level), Some(age)) if level > 0 && self.climbs(level, age) => level - 1,
            (Some(level), _) => level,
            (None, _) => 0,
        };
        self.enter(write.lpn, level)
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        let known = self.level_of[page.lpn.index()].checked_sub(1);
        let level = (known.unwrap_or(page.from) as usize).min(self.begun - 1);
        let colder = level + 1;
        let may_begin = colder < self.levels.len() && self.levels[level].living >= self.segment;
        let _ = self.leave(page.lpn);
        if colder == self.begun && may_begin {
            self.begun += 1;
        }
        self.enter(page.lpn, colder.min(self.begun - 1))
    }

    fn trimmed(&mut self, lpn: Lpn) {
        let _ = self.leave(lpn);
    }

    fn collected(&mut self, victim: &Victim) {
        let level = &mut self.levels[victim.class as usize];
        level.collected += u64::from(victim.pages_per_block);
        level.valid += u64::from(victim.valid);
    }
}

impl Multilog {
    /// A page's version dies: the level that it had.
    fn leave(&mut self, lpn: Lpn) -> Option<usize> {
        let level = std::mem::take(&mut self.level_of[lpn.index()]).checked_sub(1)? as usize;
        self.levels[level].living -= 1;
        Some(level)
    }

    fn enter(&mut self, lpn: Lpn, level: usize) -> u8 {
        self.level_of[lpn.index()] = level as u8 + 1;
        self.levels[level].living += 1;
        level as u8
    }

    /// Whether a page of a level that is rewritten at an age climbs, by chance: E - u in E.
    fn climbs(&mut self, level: usize, age: u64) -> bool {
        let Level { living, collected, valid } = self.levels[level];
        // The page itself has just left its level.
        let living = living + 1;
        let expected = match collected {
            0 => living / 2,
            _ => (u128::from(living) * u128::from(valid) / u128::from(2 * collected)) as u64,
        };
        let expected = expected.min(u64::from(u32::MAX)) as u32;
        expected > 0 && u64::from(self.rng.below(expected)) >= age
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, victim};

    /// Segments of eight pages. Moved pages of a level that holds eight begin the next; rewritten
    /// at once they climb nearly always, after longer than expected never.
    #[test]
    fn pages_sink_when_moved_and_climb_when_rewritten_soon() {
        let mut log = Bench::new("multilog", 512, &[("placement.classes", "3")]);
        (0..7).for_each(|page| assert_eq!(log.write(page), 0));
        // Seven are no segment.
        assert_eq!(log.moved(0, 0), 0);
        (7..200).for_each(|page| assert_eq!(log.write(page), 0));
        (0..100).for_each(|page| assert_eq!(log.moved(page, 0), 1));
        // A hundred pages at level 1, no victim: E = 50. Rewritten at once, u = 1: 49 of 50 climb.
        let mut climbed = 0;
        for page in 0..40 {
            log.pass(0);
            let first = log.write(page);
            if first == 1 {
                climbed += u32::from(log.write(page) == 0);
            }
        }
        assert!(climbed > 30, "{climbed} of 40 climb");
        // A hundred later than expected: none.
        log.pass(1000);
        (60..90).for_each(|page| assert_eq!(log.write(page), 1));
    }

    /// Victims of which a tenth is valid make E a tenth of that: 3 of 60 pages, so that u = 10
    /// never climbs; without them E is up to 30, and many do.
    #[test]
    fn victims_that_were_nearly_empty_lower_the_bar() {
        for (victims, climbing) in [(0, 5..=29), (10, 0..=0)] {
            let mut log = Bench::new("multilog", 512, &[("placement.classes", "2")]);
            (0..128).for_each(|page| assert_eq!(log.write(page), 0));
            (0..60).for_each(|page| assert_eq!(log.moved(page, 0), 1));
            for _ in 0..victims {
                log.policy.collected(&super::Victim {
                    valid: 1,
                    pages_per_block: 10,
                    ..victim(1, 0, 9)
                });
            }
            let mut climbed = 0;
            for page in 0..30 {
                // Twice, the second time ten pages later.
                assert_eq!(log.write(page), 1, "written more than {} ago", 60);
                log.pass(9);
                climbed += u32::from(log.write(page) == 0);
            }
            assert!(climbing.contains(&climbed), "{victims} victims: {climbed} of 30 climb");
        }
    }

    fn inner(bench: &mut Bench) -> &mut super::Multilog {
        let super::super::Placement::Multilog(log) = &mut bench.policy else {
            unreachable!("made")
        };
        log
    }

    /// A version that dies leaves its level; nothing is hotter than level 0, and a first write goes
    /// there, also behind a trim.
    #[test]
    fn a_level_counts_the_pages_whose_newest_version_is_there() {
        let mut log = Bench::new("multilog", 512, &[]);
        (0..200).for_each(|page| assert_eq!(log.write(page), 0));
        (0..20).for_each(|_| assert_eq!(log.write(7), 0, "as soon as can be"));
        (0..9).for_each(|page| assert_eq!(log.moved(page, 0), 1));
        let living = |log: &mut Bench| [0, 1].map(|level| inner(log).levels[level].living);
        assert_eq!(living(&mut log), [191, 9]);
        log.trim(8);
        assert_eq!(living(&mut log), [191, 8]);
        assert_eq!(log.write(8), 0);
        assert_eq!(living(&mut log), [192, 8]);
    }

    /// Found after a power cut in a class that nobody has begun again: of the coldest that is.
    #[test]
    fn a_page_of_unknown_level_sinks_from_the_coldest_that_was_begun() {
        let mut log = Bench::new("multilog", 512, &[]);
        (0..8).for_each(|page| assert_eq!(log.write(page), 0));
        assert_eq!(log.moved(100, 5), 1, "level 0 has a segment, and level 1 begins");
    }

    /// 59 pages of a level and the one that is rewritten: E is 30 without a victim; with 10 of 20
    /// pages valid it is 60 / 2 / 2 = 15. A page climbs now and then while it is younger than E,
    /// and never when it is as old.
    #[test]
    fn a_page_climbs_while_it_is_younger_than_half_of_what_lives_in_its_level() {
        let mut log = Bench::new("multilog", 512, &[]);
        for (victims, expected) in [(0, 30), (2, 15)] {
            for _ in 0..victims {
                let victim = super::Victim { valid: 5, pages_per_block: 10, ..victim(1, 0, 9) };
                log.policy.collected(&victim);
            }
            let log = inner(&mut log);
            log.levels[1].living = 59;
            let mut climbs = |age| (0..1000).filter(|_| log.climbs(1, age)).count();
            assert!(climbs(expected - 1) > 0, "E - 1, of {expected}");
            assert_eq!(climbs(expected), 0, "E, of {expected}");
        }
    }
}
