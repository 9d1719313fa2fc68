//! The group `midas`: the numbers of `gc.placement = midas`.

use ftlab_flash::request::CLASSES_MAX;
use ftlab_flash::settings::SettingError;
use ftlab_flash::{choices, settings};

/// Most groups between the hot one and the last.
pub const GROUPS_MAX: usize = CLASSES_MAX - 2;

choices! {
    /// Which data the model takes for that of a hot group whose size it chooses.
    pub enum HotData {
        /// None: all that is hot dies there.
        None = "none",
        /// Of what is written there, what is no older than the group.
        Written = "written",
        /// Of all that is written, what is no older than the group.
        All = "all",
    }
}

settings! {
    /// How MiDAS finds hot pages, and how its model finds groups.
    pub struct MidasSettings in "midas" {
        /// Length of an epoch, after which groups are chosen, in logical capacities written.
        epoch: u32 = 4, legal("1..=1000", |v| (1..=1000).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Units of a segment that intervals between updates are counted in; with 1, segments.
        interval_units: u32 = 4, legal("1..=64", |v| (1..=64).contains(v)),
            source("MiDAS simulator: 4; its prototype: 1");
        /// Of so many pages one is watched for its intervals.
        sampling: u32 = 100, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Units of an epoch in which every page is watched, for the shortest interval; 0: that is
        /// sampled as well.
        first_units: u32 = 10, legal("0..=1000", |v| *v <= 1000),
            source("MiDAS (FAST 2024), its code");
        /// Logical capacities that are written before pages are told hot or not.
        hot_wait: u32 = 1, legal("0..=1000", |v| *v <= 1000),
            source("docs/papers/midas2024.md#hot-pages");
        /// Logical capacities that are written before the first epoch.
        model_wait: u32 = 2, legal("0..=1000", |v| *v <= 1000),
            source("MiDAS simulator");
        /// Count at which a page is hot.
        hot_count: u32 = 3, legal("1..=3", |v| (1..=3).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Windows of the hot group that its size, traffic and valid share are averaged over.
        hot_windows: u32 = 10, legal("1..=64", |v| (1..=64).contains(v)),
            source("MiDAS simulator");
        /// Most segments that the model gives the hot group.
        hot_sizes: u32 = 29, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Write amplification that one more segment must save for the hot group to have it, as
        /// long as there is no other group.
        hot_gain: f64 = 0.05, legal("0..=1, for example 0.05", |v| (0.0..=1.0).contains(v)),
            source("MiDAS simulator");
        /// Data that the model takes for that of a hot group whose size it chooses: no other group
        /// needs room for it.
        hot_data: HotData = HotData::None, legal("", |_| true),
            source("docs/papers/midas2024.md#the-model");
        /// Valid share of collected hot segments above which the hot group stays as it was
        /// measured.
        fixed_valid: f64 = 0.2, legal("0..=1, for example 0.2 or 20%", |v| (0.0..=1.0).contains(v)),
            source("MiDAS prototype; its simulator: 0.1");
        /// Share of the host's writes to the hot group below which it stays so too.
        fixed_traffic: f64 = 0.15,
            legal("0..=1, for example 0.15 or 15%", |v| (0.0..=1.0).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Valid share of collected hot segments above which the model says nothing.
        bad_valid: f64 = 0.18, legal("0..=1, for example 0.18 or 18%", |v| (0.0..=1.0).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// The same where the hot group has one segment.
        bad_valid_alone: f64 = 0.3, legal("0..=1, for example 0.3 or 30%",
            |v| (0.0..=1.0).contains(v)), source("MiDAS (FAST 2024), its code");
        /// Intervals of the last group that are hot there: up to this part of their mean.
        last_hot: f64 = 0.7, legal("0..=1, for example 0.7", |v| (0.0..=1.0).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Share of the device that full blocks of the last group without an invalid page hold,
        /// from which on the model leaves them out: nobody writes what they hold.
        cold_least: f64 = 0.2, legal("0..=1, for example 0.2 or 20%", |v| (0.0..=1.0).contains(v)),
            source("MiDAS simulator");
        /// Share of the last group's blocks that have no invalid page by chance.
        cold_by_chance: f64 = 0.05,
            legal("0..=1, for example 0.05 or 5%", |v| (0.0..=1.0).contains(v)),
            source("MiDAS simulator");
        /// Most groups between the hot one and the last that the model may have; 0: no model.
        groups: u32 = 8, legal("0..=14", |v| *v as usize <= GROUPS_MAX),
            source("MiDAS (FAST 2024), its code");
        /// Segments that the last group keeps at least, and that groups may be younger than an
        /// epoch; of small devices a tenth of either.
        margin: u32 = 50, legal("0..=1000000", |v| *v <= 1_000_000),
            source("MiDAS simulator");
        /// Times that the sizes of all groups are tried anew.
        sweeps: u32 = 4, legal("0..=100", |v| *v <= 100), source("MiDAS (FAST 2024), its code");
        /// Part of an epoch after which valid shares are held against the model's.
        check_from: f64 = 0.3333, legal("0..=1, for example 0.3333", |v| (0.0..=1.0).contains(v)),
            source("MiDAS prototype");
        /// Part of an epoch after which a group that is off is given up.
        check_until: f64 = 0.5, legal("0..=1, for example 0.5", |v| (0.0..=1.0).contains(v)),
            source("MiDAS prototype");
        /// How far a valid share may be off.
        tolerance: f64 = 0.1, legal("0..=1, for example 0.1", |v| (0.0..=1.0).contains(v)),
            source("MiDAS (FAST 2024), its code");
        /// Victims of one group in a row, the host waiting, above which it is given up.
        victims_in_a_row: u32 = 100, legal("1..=1000000", |v| (1..=1_000_000).contains(v)),
            source("MiDAS prototype");
        /// Classes of the last group where there is no model, or where it failed: a chain as mida
        /// has.
        chain: u32 = 5, legal("1..=16", |v| (1..=CLASSES_MAX as u32).contains(v)),
            source("MiDAS prototype; its simulator: 4");
    }
}

impl MidasSettings {
    /// Legality of the settings together.
    ///
    /// # Errors
    /// Says which settings exclude each other.
    pub fn check(&self) -> Result<(), SettingError> {
        if self.check_from <= self.check_until {
            return Ok(());
        }
        Err(SettingError::Conflict(format!(
            "midas.check_from = {} is later than midas.check_until = {}; legal: at most as late",
            self.check_from, self.check_until
        )))
    }
}

/// A share in parts per million, for the state of the engine, which has no fractions.
pub(super) fn ppm(share: f64) -> u64 {
    (share * 1e6).round() as u64
}
