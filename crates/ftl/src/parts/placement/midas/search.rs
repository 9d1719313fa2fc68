//! Which configuration of groups is best (the paper's search by groups): greedily, a group at a
//! time with every size tried, then in sweeps over all sizes.

use super::model::{Hot, Model, Prediction, Sizes};

/// What bounds the search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most groups between the hot one and the last.
    pub groups: usize,
    /// Most segments of the hot group.
    pub hot_sizes: u32,
    /// Write amplification that a further hot segment must save at first.
    pub hot_gain: f64,
    /// Sweeps.
    pub sweeps: u32,
}

/// A configuration.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The hot group.
    pub hot: Hot,
    /// Sizes of the groups behind it.
    pub sizes: Sizes,
    /// What it would do.
    pub prediction: Prediction,
}

impl Found {
    fn of(model: &Model<'_>, hot: Hot, sizes: Sizes) -> Option<Self> {
        model.predict(&hot, &sizes).map(|prediction| Found { hot, sizes, prediction })
    }

    fn waf(&self) -> f64 {
        self.prediction.waf
    }
}

/// The better of two, the first among equals.
fn better(held: Option<Found>, other: Option<Found>) -> Option<Found> {
    match (held, other) {
        (Some(held), Some(other)) if other.waf() < held.waf() => Some(other),
        (None, other) => other,
        (held, _) => held,
    }
}

/// The best configuration that has a group between the hot one and the last; the hot group is as it
/// was measured, or of any size.
pub fn best(model: &Model<'_>, measured: Option<Hot>, bounds: &Bounds) -> Option<Found> {
    let mut step = match measured {
        Some(hot) => Found::of(model, hot, Sizes::default())?,
        None => first_hot(model, bounds)?,
    };
    let mut held = None;
    for group in 0..bounds.groups {
        let Some(next) = with_group(model, &step, group) else { break };
        held = better(held, Some(next));
        step = next;
    }
    let mut held = held?;
    for _ in 0..bounds.sweeps {
        held = sweep(model, held, measured.is_none(), bounds);
    }
    Some(held)
}

/// The hot group while it stands alone before the last: larger as long as that pays.
fn first_hot(model: &Model<'_>, bounds: &Bounds) -> Option<Found> {
    let mut held: Option<Found> = None;
    let mut tried = 0;
    while let Some(hot) = hot_beyond(model, tried, bounds) {
        tried = hot.size;
        let Some(next) = Found::of(model, hot, Sizes::default()) else { break };
        if held.is_some_and(|held| next.waf() >= held.waf() - bounds.hot_gain) {
            break;
        }
        held = Some(next);
    }
    held
}

/// The next larger hot group.
fn hot_beyond(model: &Model<'_>, tried: u32, bounds: &Bounds) -> Option<Hot> {
    (tried < bounds.hot_sizes).then(|| model.hot(tried + 1)).flatten()
}

/// The same with the best size of one group, or of one more.
fn with_group(model: &Model<'_>, base: &Found, group: usize) -> Option<Found> {
    let room = model.segments.saturating_sub(base.hot.size + model.margin);
    let others = base.sizes.with(group, 0).sum();
    (1..room.saturating_sub(others)).fold(None, |held, size| {
        better(held, Found::of(model, base.hot, base.sizes.with(group, size)))
    })
}

/// Every size of the hot group, then of each group in turn, the last one taking what is left; a
/// group more is tried as well.
fn sweep(model: &Model<'_>, mut held: Found, sizes_hot: bool, bounds: &Bounds) -> Found {
    let mut tried = 0;
    while sizes_hot && let Some(hot) = hot_beyond(model, tried, bounds) {
        tried = hot.size;
        held = better(Some(held), Found::of(model, hot, held.sizes)).expect("one is held");
    }
    for group in 0..bounds.groups {
        if group > held.sizes.get().len() {
            break;
        }
        let other = with_group(model, &held, group);
        held = better(Some(held), other).expect("one is held");
    }
    held
}

#[cfg(test)]
mod tests {
    use super::super::intervals::Sums;
    use super::super::settings::HotData;
    use super::*;

    /// Updates that thin out: of interval i, 400000 / (i + 1).
    fn sums() -> Vec<Sums> {
        let mut sum = Sums::default();
        let mut all = vec![sum];
        for interval in 0..4000 {
            let count = 400_000 / (interval + 1);
            sum.count += count;
            sum.counts += sum.count;
            sum.times += count * interval;
            all.push(sum);
        }
        all
    }

    fn model(sums: &[Sums]) -> Model<'_> {
        Model {
            sums,
            units_per_segment: 4.0,
            segment_pages: 64.0,
            segments: 280,
            margin: 20,
            living: 15_000.0,
            cold: 0.0,
            last_hot: 0.7,
            hot_data: HotData::None,
        }
    }

    fn bounds(groups: usize) -> Bounds {
        Bounds { groups, hot_sizes: 29, hot_gain: 0.05, sweeps: 4 }
    }

    /// One group: the best of all hot groups and all sizes, when both are tried until nothing
    /// changes.
    #[test]
    fn sweeps_find_what_all_configurations_of_one_group_hold() {
        let sums = sums();
        let model = model(&sums);
        let found = best(&model, None, &bounds(1)).expect("a configuration");
        let mut all = None;
        for hot in (1..=29).filter_map(|size| model.hot(size)) {
            for size in 1..280 {
                all = better(all, Found::of(&model, hot, Sizes::default().with(0, size)));
            }
        }
        let all = all.expect("a configuration");
        assert_eq!((found.hot.size, found.sizes), (all.hot.size, all.sizes));
    }

    /// Of two groups every pair of sizes is tried: the search is not far from the best.
    #[test]
    fn two_groups_are_within_a_hundredth_of_all_pairs() {
        let sums = sums();
        let model = model(&sums);
        let hot = model.hot_as_measured(1, 0.3, 0.1);
        let found = best(&model, Some(hot), &bounds(2)).expect("a configuration");
        let mut all = None;
        for (first, second) in
            (1..280).flat_map(|first| (1..280).map(move |second| (first, second)))
        {
            let sizes = Sizes::default().with(0, first).with(1, second);
            all = better(all, Found::of(&model, hot, sizes));
        }
        let all = all.expect("a configuration").waf();
        assert!(found.sizes.get().len() == 2, "{found:?}");
        assert!(found.waf() >= all && found.waf() < all * 1.01, "{} against {all}", found.waf());
    }

    /// More groups are never predicted to be worse.
    #[test]
    fn a_group_more_does_no_harm() {
        let sums = sums();
        let model = model(&sums);
        let waf: Vec<f64> = (1..=5)
            .map(|groups| best(&model, None, &bounds(groups)).expect("a configuration").waf())
            .collect();
        assert!(waf.windows(2).all(|pair| pair[1] <= pair[0]), "{waf:?}");
        assert!(waf[1] < waf[0], "{waf:?}");
        assert!(best(&model, None, &bounds(0)).is_none(), "no group, no configuration");
    }

    #[test]
    fn among_equals_the_first_is_held() {
        let sums = sums();
        let model = model(&sums);
        let hot = model.hot(1).expect("some are hot");
        let first = Found::of(&model, hot, Sizes::default().with(0, 20)).expect("possible");
        let mut other = first;
        other.hot.size = 9;
        let held = better(Some(first), Some(other)).expect("one is held");
        assert_eq!(held.hot.size, hot.size);
    }

    /// A hot group alone grows while a size more saves what it must: sizes and what they write, in
    /// order, up to the first that does not.
    #[test]
    fn the_hot_group_grows_as_long_as_that_pays() {
        let sums = sums();
        let model = model(&sums);
        let mut alone: Vec<(u32, f64)> = Vec::new();
        while let Some(hot) = model.hot(alone.last().map_or(1, |last| last.0 + 1)) {
            let Some(found) = Found::of(&model, hot, Sizes::default()) else { break };
            alone.push((hot.size, found.waf()));
        }
        let mut sizes = Vec::new();
        for hot_gain in [0.0, 0.01, 0.05, 0.5] {
            let pays = alone.windows(2).take_while(|pair| pair[0].1 - pair[1].1 > hot_gain).count();
            let bounds = Bounds { hot_gain, hot_sizes: 1000, ..bounds(1) };
            let found = first_hot(&model, &bounds).expect("a hot group");
            assert_eq!(found.hot.size, alone[pays].0, "{hot_gain}: {alone:?}");
            sizes.push(found.hot.size);
        }
        assert!(sizes.is_sorted_by(|less, more| less > more), "{sizes:?}");
    }

    #[test]
    fn the_hot_group_has_no_more_segments_than_it_may() {
        let sums = sums();
        let model = model(&sums);
        let beyond = |tried| hot_beyond(&model, tried, &bounds(1)).map(|hot| hot.size);
        assert_eq!(
            [0, 4, 28].map(beyond),
            [1, 5, 29].map(|size| { model.hot(size).map(|hot| hot.size) })
        );
        assert_eq!((beyond(29), beyond(30)), (None, None));
    }

    /// All sizes are tried that leave the last group more than the margin, and a group more.
    #[test]
    fn a_sweep_tries_every_size_and_one_group_more() {
        let sums = sums();
        let model = Model { segments: 400, margin: 40, ..model(&sums) };
        let hot = model.hot(9).expect("some are hot");
        let base = Found::of(&model, hot, Sizes::default()).expect("possible");
        let of = |size| Found::of(&model, hot, Sizes::default().with(0, size));
        let all = (1..400).fold(None, |held, size| better(held, of(size))).expect("possible");
        let found = with_group(&model, &base, 0).expect("possible");
        assert_eq!(found.sizes, all.sizes);
        let two = sweep(&model, found, false, &bounds(2));
        assert_eq!(two.sizes.get().len(), 2);
        assert!(two.waf() < found.waf());
    }
}
