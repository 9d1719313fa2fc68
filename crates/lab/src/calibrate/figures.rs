//! Figures of a job, out of what fio told of its entries.

use std::collections::BTreeMap;

use ftlab_report::calibration::{Figures, PERCENTILES};

use crate::calibrate::fio::{Latency, Side};

/// A percentile is used where so many requests were slower.
const SLOWER_LEAST: f64 = 10.0;

/// Figures of the entries of one job together, and whether percentiles lack the time before
/// submission, whose mean they were given; else what is wrong with which field.
pub fn figures(sides: &[&Side]) -> Result<(Figures, bool), String> {
    let requests: f64 = sides.iter().map(|side| side.total_ios as f64).sum();
    let mut figures = Figures::default();
    let mut shift = 0.0;
    for side in sides {
        let share = side.total_ios as f64 / requests;
        figures.iops += above_zero(side.iops, ".iops")?;
        let whole = side.lat_ns.as_ref().and_then(|lat| lat.mean);
        let behind = side.clat_ns.as_ref().and_then(|clat| clat.mean);
        let before = side.slat_ns.as_ref().and_then(|slat| slat.mean).unwrap_or(0.0);
        let mean = whole.or(behind.map(|mean| mean + before));
        figures.mean_ns += share * above_zero(mean, ".lat_ns.mean")?;
        shift += share * before;
    }
    let all = |of: fn(&Side) -> &Option<Latency>| -> Option<Vec<&Latency>> {
        sides.iter().map(|side| of(side).as_ref()).collect()
    };
    let whole = all(|side| &side.lat_ns).map(|lat| percentiles(&lat, requests));
    let whole = whole.filter(|found| found.iter().any(Option::is_some));
    let behind = || all(|side| &side.clat_ns).map(|clat| percentiles(&clat, requests));
    let shifted = whole.is_none();
    let found = whole.or_else(behind).unwrap_or_default();
    let shift = if shifted { shift } else { 0.0 };
    figures.percentile_ns = found.map(|one| one.map(|time| time + shift));
    Ok((figures, shifted && found.iter().any(Option::is_some)))
}

fn above_zero(figure: Option<f64>, field: &str) -> Result<f64, String> {
    match figure {
        None => Err(format!("{field} is missing; legal: a number above 0")),
        Some(figure) if figure > 0.0 => Ok(figure),
        Some(figure) => Err(format!("{field} is {figure}; legal: above 0")),
    }
}

/// Percentiles of one or more lists together: of bins where all have them; of one list without
/// bins its own.
fn percentiles(lists: &[&Latency], requests: f64) -> [Option<f64>; 6] {
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    let binned = lists.iter().all(|list| !list.bins.is_empty());
    for (middle, count) in lists.iter().flat_map(|list| &list.bins) {
        if let Ok(middle) = middle.parse() {
            *bins.entry(middle).or_default() += count;
        }
    }
    PERCENTILES.map(|(key, share)| {
        let counted = (1.0 - share) * requests >= SLOWER_LEAST;
        let found = match (binned, lists) {
            (true, _) => of_bins(&bins, share),
            (false, [one]) => one.percentile.get(key).copied(),
            (false, _) => None,
        };
        found.filter(|time| counted && *time > 0.0)
    })
}

/// The middle of the first bin up to which that share of the requests lies.
fn of_bins(bins: &BTreeMap<u64, u64>, share: f64) -> Option<f64> {
    let all: u64 = bins.values().sum();
    let mut so_far = 0;
    bins.iter().find_map(|(&middle, &count)| {
        so_far += count;
        (so_far as f64 >= share * all as f64).then_some(middle as f64)
    })
}
