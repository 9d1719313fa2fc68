//! Where the boundary between the areas shall be, and which logical block crosses it next.
//!
//! Cost model (`docs/papers/others.md#janus`): with the T most written logical blocks page-mapped,
//! of W writes w(T) go there, each with u / (2 (1 - u)) copies, where u = T / (T + S) is how full
//! the page-mapped area is and S its spare blocks: T / 2S copies. The other W - w(T) writes cost c
//! copies each, as measured. The T of least cost, w(T) T / 2S + (W - w(T)) c, is the target. All in
//! integers.

use super::settings::{DefuseRule, JanusSettings, Target};
use ftlab_flash::board::nand::geometry::Geometry;
use ftlab_flash::units::zeroed;
use ftlab_ftl::parts::data_blocks::Lbn;
use ftlab_ftl::parts::marks::Marks;
use std::collections::VecDeque;

/// Writes and copies that the cost model goes by, and its result.
#[derive(Clone)]
pub struct Boundary {
    target: Target,
    rule: DefuseRule,
    eval_every: u64,
    block_cost: Option<u32>,
    /// Page-mapped logical blocks that there shall be (T).
    most: u32,
    /// Spare blocks of the device (S).
    spare: u64,
    pages_per_block: u32,
    /// Page writes since the last evaluation.
    since: u64,
    /// Writes of each logical block, halved at each evaluation.
    writes: Vec<u32>,
    /// Those that are not 0.
    written: Vec<u32>,
    /// Pages of each logical block that were written one after the other from its first on.
    runs: Vec<u32>,
    /// Logical blocks rewritten like that to their end, the oldest first, each once.
    sequential: VecDeque<Lbn>,
    is_listed: Vec<u8>,
    /// Fewest writes of a logical block among the T most written; as many as can be until known.
    keeps: u32,
    /// Where the search for cold ones goes on.
    hand: u32,
    /// Page-mapped logical blocks, how many they are, and those of them with fewer writes than
    /// `keeps`.
    there: Marks,
    page_mapped: u32,
    cold: Marks,
    /// Writes into the block-mapped area, and copies for its sake; halved at each evaluation.
    block_writes: u64,
    block_copies: u64,
}

impl Boundary {
    /// Nothing written yet.
    pub fn new(geometry: &Geometry, settings: &JanusSettings, spare: u64) -> Self {
        let logical = geometry.logical_blocks();
        let most = match settings.target {
            Target::AllPage => logical,
            Target::AllBlock => 0,
            Target::Fixed => {
                (u64::from(logical) * u64::from(settings.fixed_pct)).div_ceil(100) as u32
            }
            // As large as the spare blocks, until something was measured.
            Target::CostModel => (spare as u32).min(logical),
        };
        Boundary {
            target: settings.target,
            rule: settings.defuse_rule,
            eval_every: settings.eval_every,
            block_cost: settings.block_cost.0,
            most,
            spare: spare.max(1),
            pages_per_block: geometry.pages_per_block,
            since: 0,
            writes: zeroed(logical as usize),
            written: Vec::with_capacity(logical as usize),
            runs: zeroed(logical as usize),
            sequential: VecDeque::with_capacity(logical as usize),
            is_listed: zeroed(logical as usize),
            keeps: u32::MAX,
            hand: 0,
            there: Marks::new(logical),
            page_mapped: 0,
            cold: Marks::new(logical),
            block_writes: 0,
            block_copies: 0,
        }
    }

    /// Page-mapped logical blocks that there shall be.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// Page-mapped logical blocks that there are.
    #[inline]
    pub fn page_mapped(&self) -> u32 {
        self.page_mapped
    }

    /// Whether a logical block is page-mapped.
    #[inline]
    pub fn is_page_mapped(&self, lbn: Lbn) -> bool {
        self.there.holds(lbn.0)
    }

    /// A logical block is page-mapped from now on.
    #[inline]
    pub fn enter(&mut self, lbn: Lbn) {
        if !self.there.holds(lbn.0) {
            self.page_mapped += 1;
            self.there.insert(lbn.0);
            if self.writes[lbn.index()] < self.keeps {
                self.cold.insert(lbn.0);
            }
        }
    }

    /// A logical block is page-mapped no more, if it was.
    pub fn leave(&mut self, lbn: Lbn) {
        if self.there.holds(lbn.0) {
            self.page_mapped -= 1;
            self.there.remove(lbn.0);
            self.cold.remove(lbn.0);
        }
    }

    /// A page of a logical block is written. Whether the boundary was judged anew.
    #[inline]
    pub fn count(&mut self, lbn: Lbn, offset: u32, by_block: bool) -> bool {
        self.block_writes += u64::from(by_block);
        if self.writes[lbn.index()] == 0 {
            self.written.push(lbn.0);
        }
        self.writes[lbn.index()] = self.writes[lbn.index()].saturating_add(1);
        if self.writes[lbn.index()] == self.keeps {
            self.cold.remove(lbn.0);
        }
        let run = &mut self.runs[lbn.index()];
        *run = match offset {
            0 => 1,
            offset if offset == *run => offset + 1,
            _ => 0,
        };
        if *run == self.pages_per_block && self.is_listed[lbn.index()] == 0 {
            self.is_listed[lbn.index()] = 1;
            self.sequential.push_back(lbn);
        }
        self.since += 1;
        let is_ranked = matches!(self.target, Target::CostModel | Target::Fixed);
        if !is_ranked || self.since < self.eval_every {
            return false;
        }
        self.evaluate();
        true
    }

    /// Copies for the sake of the block-mapped area.
    pub fn copied(&mut self, pages: u64) {
        self.block_copies += pages;
    }

    /// Copies per write into the block-mapped area, as a fraction. As long as nothing was written
    /// there, a write costs a whole block.
    fn block_cost(&self) -> (u128, u128) {
        match self.block_cost {
            Some(thousandths) => (u128::from(thousandths), 1000),
            None if self.block_writes == 0 => (u128::from(self.pages_per_block), 1),
            None => (u128::from(self.block_copies), u128::from(self.block_writes)),
        }
    }

    /// The target of least cost, the smallest among equals; counts are halved afterwards.
    fn evaluate(&mut self) {
        self.since = 0;
        let writes = &self.writes;
        let count = |lbn: u32| writes[lbn as usize];
        self.written.sort_unstable_by_key(|&lbn| (std::cmp::Reverse(count(lbn)), lbn));
        let all: u128 = self.written.iter().map(|&lbn| u128::from(count(lbn))).sum();
        let (copies, of) = self.block_cost();
        let two_spare = 2 * u128::from(self.spare);
        // Times 2 S and the denominator of c.
        let cost =
            |most: u128, covered: u128| covered * most * of + two_spare * (all - covered) * copies;
        let mut best = (cost(0, 0), 0);
        let mut covered = 0;
        for (index, &lbn) in self.written.iter().enumerate() {
            covered += u128::from(count(lbn));
            best = best.min((cost(index as u128 + 1, covered), index + 1));
        }
        if self.target == Target::CostModel {
            self.most = best.1 as u32;
        }
        let last = (self.most as usize).min(self.written.len()).checked_sub(1);
        let last = last.map(|last| count(self.written[last]));
        self.keeps = last.map_or(u32::MAX, |writes| (writes / 2).max(1));
        for &lbn in &self.written {
            self.writes[lbn as usize] /= 2;
        }
        let writes = &self.writes;
        self.written.retain(|&lbn| writes[lbn as usize] > 0);
        self.cold.copy(&self.there);
        let keeps = self.keeps;
        for &lbn in self.written.iter().filter(|&&lbn| writes[lbn as usize] >= keeps) {
            self.cold.remove(lbn);
        }
        self.block_writes /= 2;
        self.block_copies /= 2;
    }

    /// The page-mapped logical block to be defused next, any `but` one, and how many logical blocks
    /// the controller looks at: it walks from where it stood to the first cold one.
    pub fn next(&mut self, but: Lbn) -> (Option<Lbn>, u32) {
        let mut steps = 0;
        if self.rule != DefuseRule::Coldest {
            while let Some(lbn) = self.sequential.pop_front() {
                steps += 1;
                self.is_listed[lbn.index()] = 0;
                // One that was written in another order since has left the rule.
                let complete = self.runs[lbn.index()] == self.pages_per_block;
                if complete && lbn != but && self.there.holds(lbn.0) {
                    return (Some(lbn), steps);
                }
            }
        }
        if self.rule != DefuseRule::Sequential {
            let logical = self.writes.len() as u32;
            let Some(cold) = self.cold.in_turn(self.hand, but.0) else {
                // Once around, in vain.
                return (self.there.in_turn(self.hand, but.0).map(Lbn), steps + logical);
            };
            steps += 1 + (cold + logical - self.hand) % logical;
            self.hand = (cold + 1) % logical;
            return (Some(Lbn(cold)), steps);
        }
        (None, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::janus::settings::Config;
    use ftlab_flash::board::Board;
    use ftlab_flash::rng::{Purpose, Rng};
    use ftlab_flash::settings::Groups as _;

    fn boundary(pairs: &[(&str, &str)], spare: u64) -> Boundary {
        let mut config = Config::default();
        for (key, value) in [("device.blocks_per_plane", "200"), ("device.pages_per_block", "4")] {
            config.set(key, value).expect("legal");
        }
        for (key, value) in pairs {
            config.set(key, value).expect("legal");
        }
        let board = Board::new(&config, 1, 0);
        Boundary::new(board.geometry(), &config.own, spare)
    }

    /// Ten logical blocks take eight writes each and eighty take one each. With S = 10 and c = 2:
    /// the hot ten cost 80 * 10 / 20 = 40 copies and the others 160, together 200. One more
    /// page-mapped would cost 81 * 11 / 20 + 158 = 202.55, one fewer 72 * 9 / 20 + 176 = 208.4.
    #[test]
    fn the_target_is_where_the_cost_model_is_least() {
        let pairs = [("janus.eval_every", "160"), ("janus.block_cost", "2000")];
        let mut boundary = boundary(&pairs, 10);
        let mut judged = false;
        for round in 0..8 {
            for lbn in 0..10 {
                judged |= boundary.count(Lbn(lbn), 3, false);
                judged |= boundary.count(Lbn(20 + 10 * round + lbn), 3, false);
            }
        }
        assert!(judged);
        assert_eq!(boundary.most(), 10);
        assert_eq!(boundary.keeps, 4, "half of eight: the others, of no writes now, can go");
        (5..100).for_each(|lbn| boundary.enter(Lbn(lbn)));
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(10)), 11));
    }

    /// Writes that cost nothing in the block-mapped area need no page-mapped one.
    #[test]
    fn a_block_area_without_copies_takes_everything() {
        let mut boundary = boundary(&[("janus.eval_every", "40")], 10);
        for offset in 0..40u32 {
            boundary.count(Lbn(offset / 4), offset % 4, true);
        }
        assert_eq!(boundary.most(), 0);
        (0..20).for_each(|lbn| boundary.enter(Lbn(lbn)));
        assert_eq!(boundary.next(Lbn(3)).0, Some(Lbn(0)), "the first that was written in order");
    }

    /// Nine logical blocks: one takes ten writes, two take four each, six one each. With S = 3 and
    /// c = 2 the costs of 0 to 4 page-mapped ones are 48, 28 + 10 / 6, 20 + 28 / 6, 12 + 54 / 6 and
    /// 10 + 76 / 6, of which that of three is the least: 21.
    #[test]
    fn the_target_is_the_number_of_logical_blocks_and_what_is_counted_is_halved() {
        let pairs = [("janus.eval_every", "24"), ("janus.block_cost", "2000")];
        let mut boundary = boundary(&pairs, 3);
        assert_eq!(boundary.most(), 3, "as many as spare blocks at first");
        boundary.most = 99;
        for (lbn, writes) in [(1, 10), (2, 4), (3, 4), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1)] {
            (0..writes).for_each(|_| assert!(!boundary.count(Lbn(lbn), 3, lbn == 1)));
        }
        boundary.copied(7);
        assert!(boundary.count(Lbn(9), 3, false), "the 24th write");
        assert_eq!(boundary.most(), 3);
        assert_eq!((boundary.block_writes, boundary.block_copies), (5, 3));
        assert_eq!([1, 2, 3, 4].map(|lbn| boundary.writes[lbn]), [5, 2, 2, 0]);
    }

    /// The same workload with 300 thousandths of a copy a write. With S = 3 the costs are 7.2 at 0,
    /// 4.2 + 10 / 6 at 1 and 3 + 28 / 6 at 2, so that one has a place; with S = 10 they are
    /// 4.2 + 10 / 20 at 1, 3 + 28 / 20 at 2 and 1.8 + 54 / 20 at 3: two have.
    #[test]
    fn the_more_blocks_are_spare_the_more_are_page_mapped() {
        for (spare, most) in [(3, 1), (10, 2)] {
            let pairs = [("janus.eval_every", "24"), ("janus.block_cost", "300")];
            let mut boundary = boundary(&pairs, spare);
            for (lbn, writes) in [(1, 10), (2, 4), (3, 4), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1)] {
                (0..writes).for_each(|_| assert!(!boundary.count(Lbn(lbn), 3, false)));
            }
            assert!(boundary.count(Lbn(9), 3, false));
            assert_eq!(boundary.most(), most, "{spare} spare blocks");
        }
    }

    /// A whole block as long as nothing was written into the block-mapped area; then what was
    /// measured.
    #[test]
    fn a_write_into_the_block_mapped_area_costs_what_was_measured() {
        let mut boundary = boundary(&[], 10);
        assert_eq!(boundary.block_cost(), (4, 1));
        boundary.copied(3);
        assert_eq!(boundary.block_cost(), (4, 1));
        boundary.count(Lbn(1), 0, true);
        boundary.count(Lbn(1), 1, true);
        boundary.count(Lbn(1), 2, false);
        assert_eq!(boundary.block_cost(), (3, 2));
        let given = self::boundary(&[("janus.block_cost", "2500")], 10);
        assert_eq!(given.block_cost(), (2500, 1000));
    }

    #[test]
    fn a_logical_block_is_page_mapped_from_when_it_enters_until_it_leaves() {
        let mut boundary = boundary(&[], 10);
        assert!(!boundary.is_page_mapped(Lbn(3)));
        boundary.enter(Lbn(3));
        boundary.enter(Lbn(3));
        assert!(boundary.is_page_mapped(Lbn(3)) && !boundary.is_page_mapped(Lbn(2)));
        assert_eq!(boundary.page_mapped(), 1);
        boundary.leave(Lbn(3));
        boundary.leave(Lbn(3));
        assert!(!boundary.is_page_mapped(Lbn(3)));
        assert_eq!(boundary.page_mapped(), 0);
    }

    /// Who is defused under `janus.defuse_rule = sequential`, if these pages are written, given as
    /// logical block and page, and logical blocks 1 to 9 are page-mapped.
    fn sequential(writes: &[(u32, u32)], but: u32) -> (Option<Lbn>, u32) {
        let mut boundary = boundary(&[("janus.defuse_rule", "sequential")], 10);
        (1..10).for_each(|lbn| boundary.enter(Lbn(lbn)));
        for &(lbn, page) in writes {
            boundary.count(Lbn(lbn), page, false);
        }
        boundary.next(Lbn(but))
    }

    /// From its first page to its last, one after the other; others may be written in between.
    #[test]
    fn only_what_was_rewritten_in_order_is_defused_by_the_sequential_rule() {
        let whole = |lbn: u32| (0..4).map(move |page| (lbn, page));
        assert_eq!(sequential(&[], 0), (None, 0));
        assert_eq!(sequential(&Vec::from_iter(whole(5)), 0), (Some(Lbn(5)), 1));
        assert_eq!(sequential(&[(5, 0), (5, 1), (6, 0), (5, 2), (5, 3)], 0), (Some(Lbn(5)), 1));
        // It begins anew with each first page.
        let anew = [(5, 0), (5, 1), (5, 0), (5, 1), (5, 2), (5, 3)];
        assert_eq!(sequential(&anew, 0), (Some(Lbn(5)), 1));
        for broken in [
            [(5, 0), (5, 1), (5, 2), (5, 2)],
            [(5, 0), (5, 2), (5, 3), (5, 1)],
            [(5, 1), (5, 2), (5, 3), (5, 0)],
            [(5, 0), (5, 1), (5, 3), (5, 2)],
        ] {
            assert_eq!(sequential(&broken, 0), (None, 0), "{broken:?}");
        }
        // The one written longest ago, but not the one in use; who is looked at counts.
        let two = Vec::from_iter(whole(5).chain(whole(6)));
        assert_eq!(sequential(&two, 0), (Some(Lbn(5)), 1));
        assert_eq!(sequential(&two, 5), (Some(Lbn(6)), 2));
        // One that is written otherwise since, and one that is not page-mapped, are passed over.
        let since = Vec::from_iter(whole(5).chain([(5, 2)]).chain(whole(6)));
        assert_eq!(sequential(&since, 0), (Some(Lbn(6)), 2));
        let unmapped = Vec::from_iter(whole(15).chain(whole(6)));
        assert_eq!(sequential(&unmapped, 0), (Some(Lbn(6)), 2));
        assert_eq!(sequential(&Vec::from_iter(whole(15)), 0), (None, 1));
    }

    /// Twice in order and it is listed once; once it was looked at it can be listed again.
    #[test]
    fn what_was_rewritten_in_order_twice_is_listed_once() {
        let mut boundary = boundary(&[("janus.defuse_rule", "sequential")], 10);
        boundary.enter(Lbn(5));
        let whole = |boundary: &mut Boundary| {
            (0..4).for_each(|page| _ = boundary.count(Lbn(5), page, false));
        };
        whole(&mut boundary);
        whole(&mut boundary);
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(5)), 1));
        assert_eq!(boundary.next(Lbn(0)), (None, 0));
        whole(&mut boundary);
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(5)), 1));
    }

    /// From where it stood the search goes on behind what it found, also if that stayed, and once
    /// around.
    #[test]
    fn the_search_for_cold_ones_goes_on_behind_the_last_one() {
        let mut boundary = boundary(&[("janus.defuse_rule", "coldest")], 10);
        let logical = boundary.writes.len() as u32;
        [10, 20].into_iter().for_each(|lbn| boundary.enter(Lbn(lbn)));
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(10)), 11));
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(20)), 10));
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(10)), logical - 10));
        boundary.enter(Lbn(logical - 1));
        assert_eq!(boundary.next(Lbn(20)), (Some(Lbn(logical - 1)), logical - 11));
        assert_eq!(boundary.next(Lbn(0)), (Some(Lbn(10)), 11), "from the first one on again");
    }

    /// What is found is what a walk past every logical block finds, in as many steps.
    #[test]
    fn the_coldest_are_found_as_by_a_walk() {
        let pairs = [
            ("janus.target", "fixed"),
            ("janus.fixed_pct", "10"),
            ("janus.eval_every", "50"),
            ("janus.defuse_rule", "coldest"),
        ];
        let mut boundary = boundary(&pairs, 10);
        let logical = boundary.writes.len() as u32;
        let mut rng = Rng::new(5, Purpose::Workload);
        let (mut cold, mut hot) = (0, 0);
        for turn in 0..20_000 {
            // Now and then all that is page-mapped is hot.
            let few = if turn / 1000 % 2 == 0 { logical } else { 12 };
            let lbn = Lbn(rng.below(few));
            boundary.count(lbn, rng.below(4), false);
            match rng.below(6) {
                0..2 => boundary.enter(lbn),
                2 => boundary.leave(Lbn(rng.below(logical))),
                3 => {
                    let (there, but) = (boundary.there.clone(), Lbn(rng.below(few)));
                    let turn = (0..logical).map(|step| (boundary.hand + step) % logical);
                    let mut turn = turn.zip(1..).filter(|(lbn, _)| there.holds(*lbn));
                    let first = turn.clone().find(|(lbn, _)| *lbn != but.0);
                    let is_cold = |lbn: u32| boundary.writes[lbn as usize] < boundary.keeps;
                    let found = turn.find(|(lbn, _)| *lbn != but.0 && is_cold(*lbn));
                    let expected = found.or(first.map(|(lbn, _)| (lbn, logical)));
                    cold += u32::from(found.is_some());
                    hot += u32::from(found.is_none() && first.is_some());
                    let (next, steps) = boundary.next(but);
                    let expected = expected.map_or((None, logical), |(l, s)| (Some(Lbn(l)), s));
                    assert_eq!((next, steps), expected);
                    if let Some(next) = next {
                        boundary.leave(next);
                    }
                }
                _ => {}
            }
            let there = (0..logical).filter(|&lbn| boundary.there.holds(lbn)).count() as u32;
            assert_eq!(boundary.page_mapped(), there);
        }
        assert!(cold > 500 && hot > 20, "{cold} cold ones, {hot} others");
    }
}
