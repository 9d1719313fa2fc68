//! What the model is told of the device when an epoch ends, and the configuration that comes of it.

use super::hot::HotMeans;
use super::model::{Hot, Model};
use super::search::{self, Bounds, Found};
use super::settings::ppm;
use super::{Block, Midas};

/// Of a device that wrote nothing hot.
const UNKNOWN: HotMeans = HotMeans { traffic: 10_000, valid: 50_000, blocks: 0 };

impl Midas {
    /// The best configuration; none where the hot group says that it is no hot group.
    pub(super) fn configuration(&mut self, living: u64) -> Option<Found> {
        let means = self.filter.means().unwrap_or(UNKNOWN);
        let size = self.hot_size(&means);
        if !self.is_hot_group(&means) {
            return None;
        }
        let (is_fixed, bounds) = (self.is_hot_fixed(&means), self.bounds());
        let model = self.model(living);
        let share = |millionths: u64| millionths as f64 / 1e6;
        let measured: Option<Hot> =
            is_fixed.then(|| model.hot_as_measured(size, share(means.traffic), share(means.valid)));
        search::best(&model, measured, &bounds)
    }

    /// Segments of the hot group: as many as its closed blocks fill, rounded, and the open one.
    fn hot_size(&self, means: &HotMeans) -> u32 {
        let segments = means.blocks / u64::from(self.segment_blocks) + ppm(0.5);
        (segments / ppm(1.0)) as u32 + 1
    }

    /// Whether so little of the hot group's victims is valid that it is one.
    fn is_hot_group(&self, means: &HotMeans) -> bool {
        let settings = &self.settings;
        let is_alone = self.hot_size(means) == 1;
        means.valid <= ppm(if is_alone { settings.bad_valid_alone } else { settings.bad_valid })
    }

    /// Whether the hot group stays as it was measured: much of it is valid, or little is written
    /// to it.
    fn is_hot_fixed(&self, means: &HotMeans) -> bool {
        let settings = &self.settings;
        means.valid > ppm(settings.fixed_valid) || means.traffic < ppm(settings.fixed_traffic)
    }

    /// What bounds the search.
    fn bounds(&self) -> Bounds {
        let settings = &self.settings;
        Bounds {
            groups: self.most_groups(),
            hot_sizes: settings.hot_sizes,
            hot_gain: settings.hot_gain,
            sweeps: settings.sweeps,
        }
    }

    /// What the model knows of an epoch that is over, with so many pages written.
    fn model(&mut self, living: u64) -> Model<'_> {
        let cold = self.cold();
        let settings = &self.settings;
        let sums = self.intervals.finish();
        let units_per_segment = f64::from(settings.interval_units);
        let epoch = ((sums.len() - 1) as f64 / units_per_segment) as u32;
        Model {
            sums,
            units_per_segment,
            segment_pages: f64::from(self.segment_pages),
            segments: self.segments,
            margin: settings.margin.min(self.segments.min(epoch) / 10),
            living: living as f64,
            cold,
            last_hot: settings.last_hot,
            hot_data: settings.hot_data,
        }
    }

    /// Pages in full blocks of the last group that lost none: nobody writes them. None where these
    /// are few.
    pub(super) fn cold(&self) -> f64 {
        let full = u64::from(self.segment_pages / self.segment_blocks);
        let of_last =
            |block: &&Block| block.closed > 0 && block.class > u32::from(self.groups.queued());
        let of_last = || self.blocks.iter().filter(of_last);
        let lost_none = of_last().filter(|block| block.valid >= full).count() as u64;
        let by_chance = ppm(self.settings.cold_by_chance) * of_last().count() as u64;
        let cold = (lost_none * 1_000_000).saturating_sub(by_chance) * full / 1_000_000;
        let device = u64::from(self.segments) * u64::from(self.segment_pages);
        match cold * 1_000_000 < ppm(self.settings.cold_least) * device {
            true => 0.0,
            false => cold as f64,
        }
    }
}

#[cfg(test)]
mod tests;
