//! How large a table of recent events should be that predictions go by, found anew after every
//! interval from what became of them.
//!
//! What this is not: the table (`history_table`), or the record of what became of a prediction
//! (`prediction_record`).

use ftlab_flash::choices;

choices! {
    /// What counts as a hit of a prediction.
    pub enum HitRate {
        /// A decision that was proved right, of those that were proved either way.
        CorrectPredictions = "correct_predictions",
        /// A page found in the table, of those that were looked up.
        TableHits = "table_hits",
    }
}

choices! {
    /// How a table that sizes itself finds its size.
    pub enum SizingRule {
        /// It grows while wrong merges cost more than wrong copies, and shrinks while they cost
        /// less.
        Balance = "balance",
        /// It goes on as long as the hit rate does not fall, and turns round when it does.
        HillClimb = "hill_climb",
    }
}

/// Verdicts and questions of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Pages kept and rewritten.
    pub right_keeps: u64,
    /// Pages kept in vain.
    pub wrong_keeps: u64,
    /// Pages merged and left alone.
    pub right_merges: u64,
    /// Pages merged and rewritten soon.
    pub wrong_merges: u64,
    /// Questions to the table.
    pub queries: u64,
    /// Answered with yes.
    pub hits: u64,
}

impl Verdicts {
    /// Hits and what they are counted of.
    pub fn rate(&self, definition: HitRate) -> (u64, u64) {
        match definition {
            HitRate::TableHits => (self.hits, self.queries),
            HitRate::CorrectPredictions => {
                let right = self.right_keeps + self.right_merges;
                (right, right + self.wrong_keeps + self.wrong_merges)
            }
        }
    }
}

/// By what a table sizes itself.
#[derive(Clone, Debug)]
pub struct SizingRules {
    /// How it decides.
    pub rule: SizingRule,
    /// Fewest entries.
    pub least: u32,
    /// Most entries.
    pub most: u32,
    /// Step, percent of its size, at least one entry.
    pub step_pct: u32,
    /// Verdicts without which an interval decides nothing.
    pub verdicts: u64,
    /// What a wrong merge costs, in wrong copies.
    pub weight: u64,
}

/// A table that sizes itself, as far as that goes.
#[derive(Clone, Debug)]
pub struct SelfSizing {
    rules: SizingRules,
    growing: bool,
    /// Hit rate of the last interval that told one, thousandths.
    last_permille: Option<u64>,
}

impl SelfSizing {
    /// By these rules; it grows first.
    pub fn new(rules: SizingRules) -> Self {
        SelfSizing { rules, growing: true, last_permille: None }
    }

    /// Entries for the next interval, from those of this one. `rate` is the hit rate, thousandths,
    /// and how many verdicts or questions it is of.
    pub fn next(&mut self, size: u32, verdicts: &Verdicts, rate: (Option<u64>, u64)) -> u32 {
        let Verdicts { wrong_keeps, wrong_merges, .. } = *verdicts;
        match self.rules.rule {
            SizingRule::Balance => {
                if verdicts.rate(HitRate::CorrectPredictions).1 < self.rules.verdicts {
                    return size;
                }
                let premature = wrong_merges * self.rules.weight;
                match premature.cmp(&wrong_keeps) {
                    std::cmp::Ordering::Equal => return size,
                    order => self.growing = order.is_gt(),
                }
            }
            SizingRule::HillClimb => {
                let (Some(permille), true) = (rate.0, rate.1 >= self.rules.verdicts) else {
                    return size;
                };
                if self.last_permille.is_some_and(|last| permille < last) {
                    self.growing = !self.growing;
                }
                self.last_permille = Some(permille);
            }
        }
        let step = (u64::from(size) * u64::from(self.rules.step_pct) / 100).max(1) as u32;
        let next = if self.growing { size + step } else { size.saturating_sub(step) };
        next.clamp(self.rules.least, self.rules.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizing(rule: SizingRule) -> SelfSizing {
        let (least, most, step_pct, verdicts, weight) = (16, 300, 50, 10, 5);
        SelfSizing::new(SizingRules { rule, least, most, step_pct, verdicts, weight })
    }

    fn wrong(keeps: u64, merges: u64) -> Verdicts {
        Verdicts {
            wrong_keeps: keeps,
            wrong_merges: merges,
            right_merges: 10,
            ..Default::default()
        }
    }

    #[test]
    fn the_balance_grows_by_wrong_merges_and_shrinks_by_wrong_copies_within_bounds() {
        let mut sizing = sizing(SizingRule::Balance);
        let mut next = |size, verdicts| sizing.next(size, &verdicts, (None, 0));
        assert_eq!(next(100, wrong(4, 1)), 150, "one merge outweighs four copies");
        assert_eq!(next(100, wrong(6, 1)), 50);
        assert_eq!(next(100, wrong(5, 1)), 100, "balanced");
        assert_eq!(next(290, wrong(0, 1)), 300);
        assert_eq!(next(20, wrong(1, 0)), 16);
        assert_eq!(next(1, wrong(0, 1)), 16);
        let few = Verdicts { wrong_merges: 9, ..Default::default() };
        assert_eq!(next(100, few), 100, "nine verdicts decide nothing");
        let enough = Verdicts { wrong_merges: 10, ..Default::default() };
        assert_eq!(next(100, enough), 150, "ten do");
    }

    #[test]
    fn the_climber_turns_round_when_the_rate_falls() {
        let mut sizing = sizing(SizingRule::HillClimb);
        let mut next = |size, permille, of| sizing.next(size, &wrong(0, 0), (Some(permille), of));
        assert_eq!(next(100, 500, 10), 150);
        assert_eq!(next(150, 500, 10), 225, "no worse");
        assert_eq!(next(225, 499, 10), 113, "worse: back");
        assert_eq!(next(113, 600, 9), 113, "too few to tell");
        assert_eq!(next(113, 600, 10), 57);
        assert_eq!(next(57, 10, 10), 85);
    }
}
