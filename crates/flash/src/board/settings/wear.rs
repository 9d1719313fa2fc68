//! The group `wear`: how evenly blocks wear, and whether they die.

use crate::{choices, settings};

choices! {
    /// How wear is levelled.
    pub enum WearPolicy {
        /// Not at all.
        None = "none",
        /// The free block with fewest erases comes first.
        Implicit = "implicit",
        /// Host writes take the least worn free block, moved data the most worn one.
        Dynamic = "dynamic",
        /// As implicit, and data that is not rewritten is moved off the least worn blocks.
        Static = "static",
    }
}

settings! {
    /// How evenly blocks wear, and whether they die.
    pub struct WearSettings in "wear" {
        /// How wear is levelled.
        policy: WearPolicy = WearPolicy::Implicit, legal("", |_| true),
            source("DFTL 2014, Table 3: implicit/explicit; ours");
        /// Erases that blocks of a plane may be apart before static levelling moves cold data.
        spread: u32 = 100, legal("2..=4000000000", |v| (2..=4_000_000_000).contains(v)),
            source("ftlab");
        /// Whether a block is retired by the erase that completes its device.endurance_cycles;
        /// otherwise none dies of age. `--until worn-out` sets it.
        blocks_die: bool = false, legal("", |_| true), source("ftlab");
    }
}
