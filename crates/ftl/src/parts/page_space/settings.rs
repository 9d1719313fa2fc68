//! The group `gc`: garbage collection of page-mapped blocks.

use ftlab_flash::settings::{Amount, SettingError};
use ftlab_flash::{choices, settings};

use crate::parts::placement::PlacementKind;
use crate::parts::victim::VictimKind;

/// The threshold of free blocks as written in the settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// The scheme's own.
    Auto,
    /// Blocks per plane.
    Blocks(u32),
    /// A share of `gc.threshold_base`.
    Share(f64),
}

impl Threshold {
    /// Reads `auto`, `4` or `20%`.
    pub fn parse(text: &str) -> Option<Threshold> {
        if text == "auto" {
            return Some(Threshold::Auto);
        }
        if let Some(percent) = text.strip_suffix('%') {
            let share = percent.trim().parse::<f64>().ok()? / 100.0;
            return (share > 0.0 && share < 1.0).then_some(Threshold::Share(share));
        }
        text.parse().ok().filter(|&blocks| blocks > 0).map(Threshold::Blocks)
    }
}

choices! {
    /// What says that garbage is collected, in the foreground.
    pub enum GcTrigger {
        /// Too few free blocks (gc.threshold).
        FreeBlocks = "free_blocks",
        /// More superseded pages than gc.garbage_share of all that are written, or too few free
        /// blocks.
        GarbageShare = "garbage_share",
    }
}

choices! {
    /// When garbage is collected.
    pub enum GcMode {
        /// Only when a write finds too few free blocks.
        Foreground = "foreground",
        /// In gaps between requests; in the foreground only when the last free block is near.
        Idle = "idle",
        /// In gaps, and in the foreground at the threshold.
        Both = "both",
    }
}

choices! {
    /// What a threshold in percent is a share of.
    pub enum ThresholdBase {
        /// The blocks of the plane.
        Plane = "plane",
        /// The blocks beyond the logical capacity.
        Spare = "spare",
    }
}

choices! {
    /// Whether the threshold moves.
    pub enum ThresholdMode {
        /// As set.
        Fixed = "fixed",
        /// Up while victims are cheap, down while they are dear.
        Adaptive = "adaptive",
    }
}

choices! {
    /// What collects at a time.
    pub enum GcUnit {
        /// The plane that is short of blocks.
        Plane = "plane",
        /// With it the planes of its die that are within a block of collecting, from the same
        /// moment: multi-plane commands can serve them together.
        Die = "die",
    }
}

settings! {
    /// Garbage collection of page-mapped blocks.
    pub struct GcSettings in "gc" {
        /// How a victim block is chosen.
        victim: VictimKind = VictimKind::Greedy, legal("", |_| true),
            source("docs/papers/others.md#victim-policies");
        /// Free blocks per plane below which collection starts, a number of blocks or a share
        /// such as 20%; auto: the scheme's own (ideal_page.gc_low, dftl.gc_threshold_blocks).
        threshold: String = "auto".to_string(),
            legal("auto, a number of blocks, or a percentage above 0% and below 100%",
                |v| Threshold::parse(v).is_some()),
            source("DFTL 2014, 3.3");
        /// What says that garbage is collected: as drives do, or as log-structured stores do.
        trigger: GcTrigger = GcTrigger::FreeBlocks, legal("", |_| true),
            source("SepBIT (FAST 2022)");
        /// Share of superseded pages in a plane above which every host write collects one victim,
        /// of which at least as large a share is superseded (garbage_share).
        garbage_share: f64 = 0.15, legal("from 0.000001 and below 1, for example 0.15 or 15%",
            |v| *v >= 0.000_001 && *v < 1.0),
            source("SepBIT (FAST 2022), its simulator");
        /// What a percentage is a share of.
        threshold_base: ThresholdBase = ThresholdBase::Plane, legal("", |_| true),
            source("HAT 2010, 4");
        /// Fixed, or adaptive between the threshold and gc.threshold_max.
        threshold_mode: ThresholdMode = ThresholdMode::Fixed, legal("", |_| true),
            source("DFTL 2014, 3.3: adjustable, rule ours");
        /// Highest threshold in blocks per plane that the adaptive rule may reach.
        threshold_max: u32 = 16, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("ftlab");
        /// In the foreground, in idle gaps, or both.
        mode: GcMode = GcMode::Foreground, legal("", |_| true),
            source("docs/papers/others.md#time");
        /// In idle gaps, collect while fewer than this many times the threshold are free.
        idle_factor: u32 = 2, legal("1..=1000", |v| (1..=1000).contains(v)), source("ftlab");
        /// Share of a victim that must be garbage for a gap to collect it: idle time is free, erase
        /// cycles are not. FEMU passes over what has less than 12.5% of a line.
        least_invalid: f64 = 0.5, legal("0..=1, for example 0.125 or 12.5%",
            |v| (0.0..=1.0).contains(v)),
            source("FEMU: 1/8; the default is ours");
        /// Pages that an idle step of collection moves before a request may come between; 0: a
        /// whole victim, 1: preemption between page copies.
        idle_pages: u32 = 0, legal("0..=65536", |v| *v <= 65536), source("ftlab");
        /// Whether a plane collects alone, or all planes of its die that are about to.
        unit: GcUnit = GcUnit::Plane, legal("", |_| true), source("HAT 2010, 4: per plane");
        /// Which write frontier takes a page of data.
        placement: PlacementKind = PlacementKind::None, legal("", |_| true),
            source("docs/papers/placement.md");
        /// Whether collected pages go to a write frontier of their own.
        separate_frontiers: bool = false, legal("", |_| true),
            source("docs/papers/others.md#ideal-page: FlashSim shares");
        /// Whether the next page of a block is passed over where a copy could not stay in its plane
        /// there (timing.copyback_same_parity): of a victim's garbage, half is given up at most.
        skip_for_parity: bool = false, legal("", |_| true), source("DLOOP (IPDPS 2013)");
        /// Candidates that d_choices draws, or their share of all.
        choices: Amount = Amount::Count(10),
            legal("1..=10000, or up to 100%", |v| within(*v, 10_000)), source("Van Houdt 2013");
        /// Oldest blocks that windowed_greedy looks at, or their share of all candidates.
        window: Amount = Amount::Count(64),
            legal("1..=16777216, or up to 100%", |v| within(*v, 1 << 24)), source("Hu et al. 2009");
    }
}

/// Whether a count is legal; shares are.
fn within(amount: Amount, most: u32) -> bool {
    matches!(amount, Amount::Percent(_)) || (1..=most as usize).contains(&amount.of(0))
}

/// Blocks per plane that a scheme needs beside its data: reserve, open blocks, one spare.
pub fn reserve(threshold: u32, streams: u32) -> u32 {
    threshold + streams + 1
}

impl GcSettings {
    /// Whether idle gaps are used, for a setting that has work done in them: `what` is it, key and
    /// value.
    ///
    /// # Errors
    /// Says what it needs.
    pub fn check_gaps(&self, what: &str) -> Result<(), SettingError> {
        if self.mode != GcMode::Foreground {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "{what} needs gc.mode = idle or both: otherwise nothing is done in idle gaps"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SharedSettings;
    use ftlab_flash::settings::Groups as _;

    #[test]
    fn a_threshold_is_a_number_of_blocks_or_a_share_of_some_and_not_all() {
        let share = |share| Some(Threshold::Share(share));
        for (text, expected) in [
            ("auto", Some(Threshold::Auto)),
            ("1", Some(Threshold::Blocks(1))),
            ("0", None),
            ("25%", share(0.25)),
            ("12.5 %", share(0.125)),
            ("0%", None),
            ("100%", None),
            ("150%", None),
            ("-5%", None),
            ("many", None),
        ] {
            assert_eq!(Threshold::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn a_policy_looks_at_one_candidate_at_least_and_not_at_more_than_it_has_room_for() {
        for (key, value, is_legal) in [
            ("gc.choices", "1", true),
            ("gc.choices", "0", false),
            ("gc.choices", "10000", true),
            ("gc.choices", "10001", false),
            ("gc.window", "16777216", true),
            ("gc.window", "16777217", false),
            ("gc.window", "50%", true),
        ] {
            let set = SharedSettings::default().set(key, value);
            assert_eq!(set.is_ok(), is_legal, "{key} = {value}");
        }
    }
}
