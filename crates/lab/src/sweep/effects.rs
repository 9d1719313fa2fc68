//! Which axis explains most of a metric: the variance over the points of a sweep, taken apart into
//! main effects of single axes, what pairs of axes add, and what is left.
//!
//! On a complete grid the parts are those of an analysis of variance and add up to at most 1. Where
//! points are missing (failed, conditional, sampled) axes are no longer independent, parts overlap,
//! and the sweep says so.

use std::collections::BTreeMap;

/// Metrics that are looked at, by their place in a result, with words for each.
pub const METRICS: [(&str, &str); 6] = [
    ("latency_ns.all.system.mean", "response mean"),
    ("latency_ns.all.system.percentile.99.000000", "response p99"),
    ("waf", "write amplification"),
    ("flash.total_erases", "erases"),
    ("energy_uj.total", "energy"),
    ("ram_bytes.sram", "SRAM"),
];

/// A metric at the points that have it.
pub struct Sample<'a> {
    /// The value of each axis.
    pub at: &'a [Option<String>],
    /// The metric.
    pub value: f64,
}

/// How much of a metric's variance is explained.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// Of logarithms, where the metric spans more than a decade.
    pub logarithmic: bool,
    /// Whether every combination of the values that occur is there equally often.
    pub complete: bool,
    /// Share that each axis explains alone, the largest first: its place and the share.
    pub alone: Vec<(usize, f64)>,
    /// Share that two axes explain together beyond what each does alone, the largest first.
    pub pairs: Vec<(usize, usize, f64)>,
}

/// Takes the variance apart; nothing where the metric does not vary.
pub fn effects(samples: &[Sample<'_>], axes: usize) -> Option<Effects> {
    let (least, most) =
        samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| {
            (least.min(one.value), most.max(one.value))
        });
    let logarithmic = least > 0.0 && most / least > 10.0;
    let values: Vec<f64> =
        samples.iter().map(|one| if logarithmic { one.value.ln() } else { one.value }).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let total: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    // What is left of equal numbers by rounding is no variance.
    if samples.len() < 2 || total <= values.len() as f64 * (mean.abs() * 1e-12).powi(2) {
        return None;
    }
    let explained = |key: &dyn Fn(&Sample<'_>) -> Vec<Option<String>>| -> f64 {
        let mut cells: BTreeMap<Vec<Option<String>>, (f64, f64)> = BTreeMap::new();
        for (sample, value) in samples.iter().zip(&values) {
            let cell = cells.entry(key(sample)).or_default();
            *cell = (cell.0 + value, cell.1 + 1.0);
        }
        let part = |(sum, number): &(f64, f64)| number * (sum / number - mean).powi(2);
        cells.values().map(part).sum::<f64>() / total
    };
    let single: Vec<f64> =
        (0..axes).map(|axis| explained(&|sample| vec![sample.at[axis].clone()])).collect();
    let mut alone: Vec<(usize, f64)> = single.iter().copied().enumerate().collect();
    alone.sort_by(|(_, one), (_, two)| two.total_cmp(one));
    let mut pairs = Vec::new();
    for one in 0..axes {
        for two in one + 1..axes {
            let both = explained(&|sample| vec![sample.at[one].clone(), sample.at[two].clone()]);
            pairs.push((one, two, (both - single[one] - single[two]).max(0.0)));
        }
    }
    pairs.sort_by(|(_, _, one), (_, _, two)| two.total_cmp(one));
    Some(Effects { logarithmic, complete: is_complete(samples, axes), alone, pairs })
}

/// Whether the values of all axes occur with each other equally often.
fn is_complete(samples: &[Sample<'_>], axes: usize) -> bool {
    let mut often: BTreeMap<&[Option<String>], usize> = BTreeMap::new();
    for sample in samples {
        *often.entry(sample.at).or_default() += 1;
    }
    let values = |axis: usize| {
        let of: std::collections::BTreeSet<&Option<String>> =
            samples.iter().map(|sample| &sample.at[axis]).collect();
        of.len()
    };
    let combinations = (0..axes).try_fold(1_usize, |all, axis| all.checked_mul(values(axis)));
    combinations == Some(often.len())
        && often.values().all(|number| Some(number) == often.values().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of a grid of two axes with three and two values, by a law.
    fn grid(law: impl Fn(f64, f64) -> f64) -> Vec<(Vec<Option<String>>, f64)> {
        let mut all = Vec::new();
        for one in 0..3 {
            for two in 0..2 {
                let at = vec![Some(one.to_string()), Some(two.to_string())];
                all.push((at, law(f64::from(one), f64::from(two))));
            }
        }
        all
    }

    fn of(points: &[(Vec<Option<String>>, f64)]) -> Option<Effects> {
        let samples: Vec<Sample<'_>> =
            points.iter().map(|(at, value)| Sample { at, value: *value }).collect();
        effects(&samples, 2)
    }

    fn near(one: f64, two: f64) -> bool {
        (one - two).abs() < 1e-9
    }

    /// Of x + y over 0, 1, 2 and 0, 1 the sums of squares are 4 and 1.5; of x * y they are 1, 1.5
    /// and 1 of both together (by hand).
    #[test]
    fn shares_are_those_of_an_analysis_of_variance() {
        let sum = of(&grid(|x, y| 10.0 + x + y)).unwrap();
        assert!(!sum.logarithmic && sum.complete);
        assert!(sum.alone[0].0 == 0 && near(sum.alone[0].1, 4.0 / 5.5));
        assert!(sum.alone[1].0 == 1 && near(sum.alone[1].1, 1.5 / 5.5));
        assert!(near(sum.pairs[0].2, 0.0), "nothing is left for both");
        let product = of(&grid(|x, y| x * y)).unwrap();
        assert!(product.alone[0].0 == 1 && near(product.alone[0].1, 1.5 / 3.5));
        assert!(near(product.alone[1].1, 1.0 / 3.5) && near(product.pairs[0].2, 1.0 / 3.5));
    }

    #[test]
    fn what_spans_decades_is_judged_by_its_logarithm() {
        let law = of(&grid(|x, y| 10_f64.powf(x) * 2_f64.powf(y))).unwrap();
        assert!(law.logarithmic && near(law.pairs[0].2, 0.0), "a product is a sum of logarithms");
    }

    #[test]
    fn metrics_are_found_in_results() {
        let flat = ftlab_report::flatten::flatten(&ftlab_report::RunResult::default());
        assert!(METRICS.iter().all(|(path, _)| flat.contains_key(*path)));
    }

    #[test]
    fn a_hole_is_told_and_a_constant_has_no_effects() {
        let mut points = grid(|x, y| 10.0 + x + y);
        points.pop();
        assert!(!of(&points).unwrap().complete);
        assert_eq!(of(&grid(|_, _| 7.1)), None);
    }
}
