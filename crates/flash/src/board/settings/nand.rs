//! The group `nand`: laws and faults of the flash.

use std::collections::BTreeSet;

use crate::settings::Optional;
use crate::{choices, settings};

choices! {
    /// In what order pages of a block may be programmed.
    pub enum ProgramOrder {
        /// Any free page, as the papers' simulators allow.
        Off = "off",
        /// Upwards; gaps may be left.
        AscendingGapsOk = "ascending_gaps_ok",
        /// Upwards without a gap, as large-block parts demand.
        Strict = "strict",
    }
}

settings! {
    /// Laws and faults of the flash.
    pub struct NandSettings in "nand" {
        /// In what order pages of a block may be programmed.
        enforce_order: ProgramOrder = ProgramOrder::Off, legal("", |_| true),
            source("DFTL 2014, 2; docs/papers/others.md#flash-rules");
        /// Share of programs that fail and make their block read-only.
        program_failure_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Share of erases that fail and retire their block.
        erase_failure_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Share of blocks that are bad from the start: that many, spread evenly over the planes.
        factory_bad_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Further blocks that are bad from the start, by number.
        factory_bad_blocks: String = "none".to_string(),
            legal("none, or block numbers with commas between them",
                |v| NandSettings::named_bad_blocks(v).is_some()),
            source("ftlab");
        /// Share of page reads that no retry brings back. Host data is lost until it is written
        /// anew; map pages have a stronger code and are read with the last retry.
        read_error_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Share of page reads that need retries: 1 to nand.read_retries, each number as likely.
        read_retry_rate: f64 = 0.0,
            legal("0 to 0.5", |v| (0.0..=0.5).contains(v)), source("ftlab");
        /// Retries before a read is given up; each costs and counts as a page read.
        read_retries: u32 = 4, legal("1..=64", |v| (1..=64).contains(v)), source("ftlab");
        /// The die that fails as a whole, channel by channel from 0 on (alloc.unit = line); auto:
        /// none does.
        failing_die: Optional<u32> = Optional(None), legal("", |_| true),
            source("docs/papers/lines.md");
        /// Page programs since measuring began after which it fails.
        die_fails_after: u64 = 0, legal("0..=10^18", |v| *v <= 1_000_000_000_000_000_000),
            source("docs/papers/lines.md");
    }
}

impl NandSettings {
    /// The blocks that `nand.factory_bad_blocks` names; `None` if it does not read as a list.
    pub fn named_bad_blocks(text: &str) -> Option<BTreeSet<u32>> {
        if text == "none" {
            return Some(BTreeSet::new());
        }
        text.split(',').map(|number| number.trim().parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_blocks_are_a_list_of_numbers_or_none() {
        let named = |text| NandSettings::named_bad_blocks(text).map(Vec::from_iter);
        assert_eq!(named("none"), Some(vec![]));
        assert_eq!(named("7, 3,7"), Some(vec![3, 7]));
        assert_eq!([named(""), named("3,"), named("3,none"), named("-1")], [const { None }; 4]);
    }
}
