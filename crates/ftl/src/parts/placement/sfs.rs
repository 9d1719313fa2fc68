//! # Idea
//! Hotness is writes over age, of a page and of a block; blocks fall into groups by hotness, and a
//! page goes to the group whose mean is nearest to its own.
//!
//! # Source
//! SFS: Min, Kim, Cho, Lee, Eom, FAST 2012, as in the simulator of SepBIT (FAST 2022).
//!
//! # Rule
//! There are as many centres as classes, from hot to cold, 0 at first. At each collection: closed
//! blocks have a hotness, the writes of their valid pages over the sum of these pages' ages; three
//! rounds of K-means from the centres that there are, a group without a block having centre 0; with
//! no more blocks than classes the centres are their hotness in turn. A page that the host rewrites
//! has its former writes over the age of what is overwritten, a moved page its writes over its age;
//! it goes to the class of the nearest centre, among equals to the coldest. A first write: class 0.
//! What a power cut has left without a history is as cold as can be.
//!
//! # Deviations
//! Time is host pages written; the simulator has the clock of the wall. A closed block without a
//! valid page has no hotness (0 / 0 there) and is left out. Hotness has 32 binary places. The paper
//! also chooses victims by hotness: here `gc.victim = cost_hotness` does, for which a block of
//! which no page is known, one of the map or from before a power cut, is as hot as all data
//! together. After a power cut blocks count from what is written to them from then on. Times have
//! 32 bits: of a block with pages from both sides of the 2^32nd write either all count as from
//! before it, or the ages of the older ones as too small. At each collection every block is
//! compared with every centre three times: no time is charged.
//!
//! # Memory
//! 8 bytes a logical page, its writes and the time of the last one; 24 bytes a block, sums over its
//! valid pages, and once over all. Which block a page is in is what the map says: no memory is
//! charged for it.

use super::settings::PlacementSettings;
use super::{Classes, HostWrite, MovedPage, PlacementContext, PlacementPolicy, Victim};
use crate::parts::victim::{Census, Heat};
use ftlab_flash::board::nand::state::OobRead;
use ftlab_flash::request::CLASSES_MAX;
use ftlab_flash::units::{BlockId, Lpn, Ppn, zeroed};

/// Binary places of a hotness.
const PLACES: u32 = 32;
const ROUNDS: u32 = 3;

/// What a page was written.
#[derive(Clone, Copy, Debug, zerocopy::FromZeros)]
struct Page {
    writes: u32,
    /// Clock of its last write, 32 bits of it.
    time: u32,
    /// Its block plus one; 0: not written, or not known.
    block: u32,
}

/// Sums over the valid pages of a block.
#[derive(Clone, Copy, Debug, Default, zerocopy::FromZeros)]
struct Segment {
    writes: u64,
    times: u64,
    valid: u32,
    is_closed: bool,
}

impl Segment {
    /// Ages of the valid pages together, at least 1.
    fn ages(&self, now: u64) -> u64 {
        let (now, valid) = (u64::from(now as u32), u64::from(self.valid));
        // Times that lie ahead are those of before the clock came round.
        let sum = now * valid;
        let ahead = if self.times > sum { valid << u32::BITS } else { 0 };
        (sum + ahead - self.times).max(1)
    }
}

/// Pages, blocks and centres.
#[derive(Clone, Debug)]
pub struct Sfs {
    pages: Vec<Page>,
    segments: Vec<Segment>,
    /// Of all blocks together.
    whole: Segment,
    /// From hot to cold.
    centres: Vec<u64>,
    /// Whether a power cut took what was known of pages.
    lost: bool,
}

impl PlacementPolicy for Sfs {
    fn classes(_: &PlacementSettings) -> Classes {
        Classes::Set(6)
    }

    fn ram_bytes(context: &PlacementContext<'_>) -> u64 {
        8 * u64::from(context.logical_pages) + 24 * (u64::from(context.blocks) + 1)
    }

    fn hears_of_pages() -> bool {
        true
    }

    fn new(context: &PlacementContext<'_>) -> Self {
        Sfs {
            pages: zeroed(context.logical_pages as usize),
            segments: zeroed(context.blocks as usize),
            whole: Segment::default(),
            centres: vec![0; usize::from(context.classes)],
            lost: false,
        }
    }

    fn host(&mut self, write: &HostWrite) -> u8 {
        self.leave(write.lpn);
        let page = &mut self.pages[write.lpn.index()];
        let Page { writes, time, .. } = *page;
        page.writes = writes.saturating_add(1);
        page.time = write.now as u32;
        match writes {
            0 if !write.is_update => 0,
            // Written before a power cut: no writes are known, its hotness is 0.
            _ => self.nearest(hotness(writes, write.now, time)),
        }
    }

    fn moved(&mut self, page: &MovedPage) -> u8 {
        let Page { writes, time, .. } = self.pages[page.lpn.index()];
        self.nearest(hotness(writes, page.now, time))
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.leave(lpn);
        self.pages[lpn.index()].writes = 0;
    }

    fn placed(&mut self, lpn: Lpn, block: BlockId) {
        self.leave(lpn);
        let page = &mut self.pages[lpn.index()];
        page.block = block.0 + 1;
        for segment in [&mut self.segments[block.index()], &mut self.whole] {
            segment.writes += u64::from(page.writes);
            segment.times += u64::from(page.time);
            segment.valid += 1;
        }
        self.segments[block.index()].is_closed = false;
    }

    fn closed(&mut self, block: BlockId) {
        self.segments[block.index()].is_closed = true;
    }

    fn recovers(&mut self) {
        self.lost = true;
    }

    fn heat(&self, block: BlockId, now: u64) -> Option<Heat> {
        let segment = match &self.segments[block.index()] {
            Segment { valid: 0, .. } => &self.whole,
            known => known,
        };
        match segment.valid {
            0 => Some(Heat::UNKNOWN),
            _ => Some(Heat { writes: segment.writes, ages: segment.ages(now) }),
        }
    }

    fn check(&self, census: &Census<'_>, living: u64) -> Result<(), String> {
        let mut known = 0;
        for (block, segment) in (0..).map(BlockId).zip(&self.segments) {
            let (mut valid, mut writes, mut times) = (0, 0, 0);
            let mut seen = Vec::new();
            let is_valid = |&page: &Ppn| census.nand().state().is_valid(page);
            let pages = (segment.valid > 0).then(|| census.pages_in(block).filter(is_valid));
            for page in pages.into_iter().flatten() {
                let OobRead::Written(oob) = census.nand().state().oob(page) else { continue };
                if !oob.kind.is_host_data() {
                    continue;
                }
                // Of versions that their owner has not declared dead the newest counts: the others
                // are elsewhere for us, or in the same block.
                let of = &self.pages[oob.logical as usize];
                let is_here = of.block == block.0 + 1;
                if is_here && !seen.contains(&oob.logical) {
                    seen.push(oob.logical);
                    valid += 1;
                    writes += u64::from(of.writes);
                    times += u64::from(of.time);
                }
            }
            if (valid, writes, times) != (segment.valid, segment.writes, segment.times) {
                return Err(format!(
                    "sfs counts {} valid pages, {} writes and times of {} in block {}, where \
                     {valid}, {writes} and {times} are",
                    segment.valid, segment.writes, segment.times, block.0
                ));
            }
            known += u64::from(valid);
        }
        match known == living || self.lost {
            true => Ok(()),
            false => Err(format!("sfs knows the blocks of {known} pages, {living} are written")),
        }
    }

    fn collected(&mut self, victim: &Victim) {
        let count = self.closed_segments(victim.now).count();
        if count == 0 {
            return;
        }
        let mut centres = std::mem::take(&mut self.centres);
        if count <= centres.len() {
            for (centre, hotness) in
                centres.iter_mut().zip(self.closed_segments(victim.now).cycle())
            {
                *centre = hotness;
            }
        } else {
            for _ in 0..ROUNDS {
                self.group(&mut centres, victim.now);
            }
        }
        centres.sort_unstable_by_key(|&centre| std::cmp::Reverse(centre));
        self.centres = centres;
    }
}

/// Writes over age. The clock runs on while a page waits to be written: no age is 0.
fn hotness(writes: u32, now: u64, time: u32) -> u64 {
    let age = (now as u32).wrapping_sub(time).max(1);
    (u64::from(writes) << PLACES) / u64::from(age)
}

impl Sfs {
    /// A page's version is in no block any more.
    fn leave(&mut self, lpn: Lpn) {
        let page = &mut self.pages[lpn.index()];
        let Some(block) = std::mem::take(&mut page.block).checked_sub(1) else { return };
        for segment in [&mut self.segments[block as usize], &mut self.whole] {
            segment.writes -= u64::from(page.writes);
            segment.times -= u64::from(page.time);
            segment.valid -= 1;
        }
    }

    /// Hotness of every closed block that holds valid pages.
    fn closed_segments(&self, now: u64) -> impl Iterator<Item = u64> + Clone + '_ {
        let closed = self.segments.iter().filter(|segment| segment.is_closed && segment.valid > 0);
        closed.map(move |segment| {
            let ages = u128::from(segment.ages(now));
            ((u128::from(segment.writes) << PLACES) / ages).min(u128::from(u64::MAX)) as u64
        })
    }

    /// One round of K-means.
    fn group(&self, centres: &mut [u64], now: u64) {
        let mut groups = [(0u128, 0u128); CLASSES_MAX];
        for hotness in self.closed_segments(now) {
            let nearest = (0..centres.len()).min_by_key(|&place| centres[place].abs_diff(hotness));
            let group = &mut groups[nearest.expect("there is a class")];
            *group = (group.0 + u128::from(hotness), group.1 + 1);
        }
        for (centre, (sum, count)) in centres.iter_mut().zip(groups) {
            *centre = sum.checked_div(count).unwrap_or(0) as u64;
        }
    }

    /// The class whose centre is nearest, among equals the coldest.
    fn nearest(&self, hotness: u64) -> u8 {
        let distance = |&place: &usize| self.centres[place].abs_diff(hotness);
        (0..self.centres.len()).rev().min_by_key(distance).expect("there is a class") as u8
    }
}

#[cfg(test)]
mod tests {
    use super::super::Placement;
    use super::super::tests::{Bench, victim};
    use super::PLACES;
    use ftlab_flash::units::{BlockId, Lpn};

    fn centres(bench: &Bench) -> Vec<f64> {
        let Placement::Sfs(sfs) = &bench.policy else { unreachable!("made as such") };
        sfs.centres.iter().map(|&centre| centre as f64 / f64::from(2).powi(PLACES as i32)).collect()
    }

    /// Two classes. Block 0 holds page 1, written at 0, 1, 2, 3 (four writes), block 1 pages 2 and
    /// 3, written once, at 4 and 5. At 10: 4 writes over an age of 7, and 2 over 6 + 5.
    #[test]
    fn a_page_goes_to_the_blocks_that_are_as_hot_as_it() {
        let mut sfs = Bench::new("sfs", 64, &[("placement.classes", "2")]);
        assert_eq!([(); 4].map(|()| sfs.write(1)), [0, 1, 1, 1], "all centres are 0: the coldest");
        assert_eq!((sfs.write(2), sfs.write(3)), (0, 0), "first writes");
        for (page, block) in [(1, 0), (2, 1), (3, 1)] {
            sfs.policy.placed(Lpn(page), BlockId(block));
        }
        sfs.policy.collected(&victim(0, 0, 10));
        assert_eq!(centres(&sfs), [0.0, 0.0], "no block is closed");
        (0..2).for_each(|block| sfs.policy.closed(BlockId(block)));
        sfs.policy.collected(&victim(0, 0, 10));
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
        let found = centres(&sfs);
        assert!(near(found[0], 4.0 / 7.0) && near(found[1], 2.0 / 11.0), "{found:?}");
        // At 10: page 1 has 4 writes over 7, page 2 one over 6, page 3 one over 5; the middle is
        // 0.38.
        sfs.pass(4);
        assert_eq!((sfs.moved(1, 0), sfs.moved(2, 1), sfs.moved(3, 1)), (0, 1, 1));
        assert_eq!(sfs.write(2), 1, "one write, over 6");
        assert_eq!(sfs.write(2), 0, "two writes, over 1");
        sfs.trim(2);
        assert_eq!(sfs.write(2), 0, "a first write");
    }

    /// Three blocks and two classes: of hotness 1, 1/2 and 1/10 the first two are one group. A page
    /// that is overwritten leaves its block; one without valid pages has no hotness.
    #[test]
    fn with_more_blocks_than_classes_their_means_are_the_centres() {
        let mut sfs = Bench::new("sfs", 64, &[("placement.classes", "2")]);
        for (page, block) in [(3, 2), (9, 3), (2, 1), (1, 0)] {
            // Page 3 is written at 0, page 2 at 8, page 1 at 9.
            if page == 9 {
                sfs.pass(6);
            }
            let _ = sfs.write(page);
            sfs.policy.placed(Lpn(page), BlockId(block));
            sfs.policy.closed(BlockId(block));
        }
        sfs.trim(9);
        sfs.policy.collected(&victim(0, 0, 10));
        let found = centres(&sfs);
        assert!((found[0] - 0.75).abs() < 1e-6 && (found[1] - 0.1).abs() < 1e-6, "{found:?}");
    }

    /// Four blocks of one page, 20, 4, 3 and 1 old, and two classes. The first centre takes all,
    /// 49/120, and then in each round one less: those of 4, 3 and 1, 19/36, and those of 3 and 1,
    /// 2/3. A fourth round would leave it the youngest, 1.
    #[test]
    fn centres_move_in_three_rounds() {
        let mut sfs = Bench::new("sfs", 64, &[("placement.classes", "2")]);
        for (page, pass) in [(0, 15), (1, 0), (2, 1), (3, 0)] {
            let _ = sfs.write(page);
            sfs.policy.placed(Lpn(page), BlockId(page));
            sfs.policy.closed(BlockId(page));
            sfs.pass(pass);
        }
        sfs.policy.collected(&victim(0, 0, 20));
        let found = centres(&sfs);
        let expected = [2.0 / 3.0, (0.25 + 0.05) / 2.0];
        let near = |pair: (&f64, &f64)| (pair.0 - pair.1).abs() < 1e-6;
        assert!(found.iter().zip(&expected).all(near), "{found:?}");
    }

    /// A page that was written before the 2^32nd write and looked at behind it is eight old, not as
    /// young as can be.
    #[test]
    fn a_clock_that_comes_round_does_not_make_blocks_hot() {
        let mut sfs = Bench::new("sfs", 64, &[("placement.classes", "2")]);
        sfs.pass((1 << 32) - 2);
        let _ = sfs.write(1);
        sfs.policy.placed(Lpn(1), BlockId(0));
        sfs.policy.closed(BlockId(0));
        sfs.policy.collected(&victim(0, 0, (1 << 32) + 6));
        let found = centres(&sfs);
        assert!((found[0] - 1.0 / 8.0).abs() < 1e-6, "{found:?}");
    }

    /// A page that is there and of which no write is known was written before a power cut: it is as
    /// cold as can be, a first write is not.
    #[test]
    fn what_a_power_cut_left_without_a_history_is_cold() {
        let mut sfs = Bench::new("sfs", 64, &[]);
        sfs.forget_all();
        assert_eq!(sfs.write(1), 0, "a first write");
        assert_eq!(sfs.rewrite_forgotten(2), 5, "an update without a history");
        assert_eq!(sfs.moved(3, 1), 5);
    }

    /// Page 1 is written at 0 and 1, page 2 at 2, both to block 0; page 3 at 3 to block 1. A page
    /// that was just written is 1 old. What left a block is not counted there any more, and a block
    /// without a valid page is as hot as all data together.
    #[test]
    fn heat_is_of_the_valid_pages_of_a_block_or_of_all_data() {
        use crate::parts::victim::Heat;
        let mut sfs = Bench::new("sfs", 64, &[]);
        let heat = |sfs: &Bench, block, now| {
            let heat = sfs.policy.heat(BlockId(block), now).expect("sfs knows of hotness");
            (heat.writes, heat.ages)
        };
        let unknown = (Heat::UNKNOWN.writes, Heat::UNKNOWN.ages);
        assert_eq!(heat(&sfs, 0, 0), unknown, "nothing is written");
        for (page, block) in [(1, 0), (1, 0), (2, 0), (3, 1)] {
            let _ = sfs.write(page);
            sfs.policy.placed(Lpn(page), BlockId(block));
        }
        assert_eq!((heat(&sfs, 0, 10), heat(&sfs, 1, 10)), ((3, 9 + 8), (1, 7)));
        assert_eq!(heat(&sfs, 1, 3), (1, 1), "just written");
        assert_eq!(heat(&sfs, 9, 10), (4, 9 + 8 + 7), "all data");
        sfs.trim(1);
        assert_eq!((heat(&sfs, 0, 10), heat(&sfs, 9, 10)), ((1, 8), (2, 8 + 7)));
    }

    /// Of what is written blocks are known to `sfs`, but after a power cut.
    #[test]
    fn pages_are_missing_behind_a_power_cut_alone() {
        use crate::parts::victim::Census;
        let config = crate::settings::SharedSettings::default();
        let board = ftlab_flash::board::Board::new(&config, 1, 0);
        let census = Census::new(board.nand(), None);
        let mut sfs = Bench::new("sfs", 64, &[]);
        assert_eq!(sfs.policy.check(&census, 0), Ok(()));
        let error = sfs.policy.check(&census, 5).expect_err("five pages are in no block");
        assert!(error.contains("5 are written"), "{error}");
        sfs.forget_all();
        assert_eq!(sfs.policy.check(&census, 5), Ok(()));
    }
}
