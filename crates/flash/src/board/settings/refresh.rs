//! The group `refresh`: when data is written anew before its cells lose it, and what reads of such
//! cells cost.

use crate::settings;
use crate::settings::{Duration, SettingError};

settings! {
    /// Data that was read often, or is old, is moved before its cells lose it.
    pub struct RefreshSettings in "refresh" {
        /// Reads of a block since its erase at which its data is moved in the next idle gap; at
        /// twice as many it is moved at once. 0: reads disturb nothing.
        reads: u32 = 0, legal("0..=1000000000", |v| *v <= 1_000_000_000),
            source("docs/papers/refresh.md");
        /// Share of that limit that a block has lost when it has reached device.endurance_cycles,
        /// in proportion to its wear.
        wear_slope: f64 = 0.0, legal("0 to 0.9, for example 0.5 or 50%",
            |v| (0.0..=0.9).contains(v)),
            source("docs/papers/refresh.md");
        /// Days since the first program of a block after which its data is moved in the next idle
        /// gap; after twice as many it is moved at once. 0: data does not age.
        days: f64 = 0.0, legal("0, or 0.000001 to 36500",
            |v| *v == 0.0 || (0.000_001..=36_500.0).contains(v)),
            source("docs/papers/refresh.md");
        /// Time after which a patrol looks at the age of the next block.
        patrol: Duration = Duration(1_000_000_000),
            legal("1us or more", |v| v.0 >= 1_000), source("docs/papers/refresh.md: ours");
        /// Days that the device is off: between preparation and measuring, and in every power
        /// cycle.
        off_days: f64 = 0.0, legal("0 to 36500", |v| (0.0..=36_500.0).contains(v)),
            source("docs/papers/refresh.md: ours");
        /// Share of page reads that need retries in a block that is new, freshly written and not
        /// read yet. Wear, age and reads multiply it; 0: they cost no retries.
        p0: f64 = 0.0, legal("0 to 0.5", |v| (0.0..=0.5).contains(v)),
            source("docs/papers/refresh.md: ours");
        /// Whether anything is moved; otherwise reads of what should be cost retries (refresh.p0),
        /// and nothing else follows.
        moves: bool = true, legal("", |_| true), source("docs/papers/refresh.md: ours");
    }
}

impl RefreshSettings {
    /// Whether reads or age count.
    pub fn is_on(&self) -> bool {
        self.reads > 0 || self.days > 0.0
    }

    /// Whether data is moved because of them.
    pub fn moves_data(&self) -> bool {
        self.is_on() && self.moves
    }

    /// What says how needs something that says that.
    pub(super) fn check(&self) -> Result<(), SettingError> {
        let usual = RefreshSettings::default();
        let needs = |what: String, key: &str, why: &str| {
            Err(SettingError::Conflict(format!("{what} needs {key}: {why}")))
        };
        if self.wear_slope > 0.0 && self.reads == 0 {
            let what = format!("refresh.wear_slope = {}", self.wear_slope);
            return needs(what, "refresh.reads", "it is a share of that limit");
        }
        if self.off_days > 0.0 && self.days == 0.0 {
            let what = format!("refresh.off_days = {}", self.off_days);
            return needs(what, "refresh.days", "otherwise data does not age");
        }
        if self.patrol != usual.patrol && (self.days == 0.0 || !self.moves) {
            let why = "a patrol looks for data that is too old, to move it";
            return needs("refresh.patrol".to_owned(), "refresh.days and refresh.moves", why);
        }
        if self.p0 > 0.0 && !self.is_on() {
            let what = format!("refresh.p0 = {}", self.p0);
            let why = "without them no read is worse than another (nand.read_retry_rate)";
            return needs(what, "refresh.reads or refresh.days", why);
        }
        if !self.moves && self.p0 == 0.0 {
            let why = "if nothing is moved and no read needs retries, nothing follows from reads and \
                       age";
            return needs("refresh.moves = false".to_owned(), "refresh.p0", why);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> RefreshSettings {
        RefreshSettings::default()
    }

    /// Data is old after a day.
    fn aging() -> RefreshSettings {
        RefreshSettings { days: 1.0, ..usual() }
    }

    /// Data is moved for a read.
    fn read() -> RefreshSettings {
        RefreshSettings { reads: 1, ..usual() }
    }

    fn said(refresh: RefreshSettings) -> String {
        refresh.check().map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn reads_or_age_count_and_move_data_unless_nothing_is_moved() {
        let is = |refresh: RefreshSettings| (refresh.is_on(), refresh.moves_data());
        assert_eq!(is(usual()), (false, false));
        assert_eq!([is(aging()), is(read())], [(true, true); 2]);
        assert_eq!(is(RefreshSettings { moves: false, ..read() }), (true, false));
    }

    #[test]
    fn what_goes_by_reads_or_age_needs_them() {
        assert_eq!([usual(), aging(), read()].map(said), [""; 3]);
        let worn = |settings| RefreshSettings { wear_slope: 0.5, ..settings };
        assert_eq!(said(worn(read())), "");
        let limit = "refresh.wear_slope = 0.5 needs refresh.reads: it is a share of that limit";
        assert_eq!([said(worn(usual())), said(worn(aging()))], [limit; 2]);
        let off = |settings| RefreshSettings { off_days: 2.0, ..settings };
        assert_eq!(said(off(aging())), "");
        let age = "refresh.off_days = 2 needs refresh.days: otherwise data does not age";
        assert_eq!([said(off(usual())), said(off(read()))], [age; 2]);
    }

    #[test]
    fn a_patrol_looks_for_old_data_to_move_it() {
        let patrol = |settings| RefreshSettings { patrol: Duration(5_000), p0: 0.25, ..settings };
        assert_eq!(said(patrol(aging())), "");
        let needs = "refresh.patrol needs refresh.days and refresh.moves: a patrol looks for data";
        assert!(said(patrol(read())).starts_with(needs));
        assert!(said(patrol(RefreshSettings { moves: false, ..aging() })).starts_with(needs));
    }

    #[test]
    fn retries_tell_reads_and_age_apart_where_those_count() {
        let retried = |settings| RefreshSettings { p0: 0.25, ..settings };
        assert_eq!([said(retried(read())), said(retried(aging()))], [""; 2]);
        let needs = "refresh.p0 = 0.25 needs refresh.reads or refresh.days: without them no read";
        assert!(said(retried(usual())).starts_with(needs));
    }

    #[test]
    fn where_nothing_is_moved_reads_need_retries() {
        let still = |settings| RefreshSettings { moves: false, ..settings };
        assert_eq!(said(still(RefreshSettings { p0: 0.25, ..read() })), "");
        assert!(
            said(still(read())).starts_with("refresh.moves = false needs refresh.p0: if nothing")
        );
    }
}
