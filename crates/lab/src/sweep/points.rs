//! The runs of a sweep: every combination of values, once.

use std::collections::BTreeSet;

use ftlab_engine::rng::{Purpose, Rng};
use ftlab_engine::schemes::{self, Family};

use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::options::schemes::Schemes;
use crate::sweep::axis::Axis;
use crate::sweep::definition::Definition;

/// Combinations of a sweep, taken apart by shards or samples or not.
pub const POINTS_MAX: usize = 1_000_000;

/// One combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// A value for each name of each axis, in their order; none where an axis is not for its
    /// scheme.
    pub values: Vec<Option<String>>,
    /// The run, where its options are legal; else why not.
    pub run: Result<Experiment>,
}

impl Definition {
    /// What heads the values of points.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.axes.iter().flat_map(|axis| &axis.names).map(|name| name.text.clone()).collect()
    }

    /// All combinations, the first axis slowest.
    ///
    /// # Errors
    /// More than [`POINTS_MAX`].
    pub fn points(&self) -> Result<Vec<Point>> {
        let combinations = self.axes.iter().try_fold(1_usize, |product, axis| {
            product.checked_mul(axis.values.len()).filter(|&product| product <= POINTS_MAX)
        });
        if combinations.is_none() {
            return Err(Error::usage(format!(
                "the axes have more than {POINTS_MAX} combinations; legal: fewer values, or sweeps \
                 apart"
            )));
        }
        let (mut points, mut seen) = (Vec::new(), BTreeSet::new());
        let mut at = vec![0; self.axes.len()];
        loop {
            let point = self.point(&at);
            // An axis that is not for a scheme gives it the same point for each of its values.
            if seen.insert(point.values.clone()) {
                points.push(point);
            }
            let Some(next) =
                (0..at.len()).rev().find(|&axis| at[axis] + 1 < self.axes[axis].values.len())
            else {
                return Ok(points);
            };
            at[next] += 1;
            at[next + 1..].fill(0);
        }
    }

    fn point(&self, at: &[usize]) -> Point {
        let scheme = self.scheme(at);
        let own = |(axis, &at): (&Axis, &usize)| -> Vec<Option<String>> {
            let applies = axis.only.as_ref().is_none_or(|only| is_among(only, &scheme));
            axis.values[at].iter().map(|value| applies.then(|| value.clone())).collect()
        };
        let values: Vec<Option<String>> = self.axes.iter().zip(at).flat_map(own).collect();
        Point { run: self.experiment(&values), values }
    }

    /// The scheme of a combination.
    fn scheme(&self, at: &[usize]) -> String {
        let of = |(axis, &at): (&Axis, &usize)| {
            let name = axis.names.iter().position(|name| name.is_scheme())?;
            Some(axis.values[at][name].clone())
        };
        self.axes.iter().zip(at).find_map(of).unwrap_or_default()
    }

    fn experiment(&self, values: &[Option<String>]) -> Result<Experiment> {
        let mut own = self.base.clone();
        let names = self.axes.iter().flat_map(|axis| &axis.names);
        let mut given: Vec<_> = names.zip(values).collect();
        // Seeds of workloads are shifted in the workload that the point has.
        given.sort_by_key(|(name, _)| name.is_seed());
        for (name, value) in given {
            if let Some(value) = value {
                name.apply(value, &mut own)?;
            }
        }
        Ok(own)
    }
}

/// Whether a scheme is among those named; a preset is among those of its scheme.
fn is_among(only: &Schemes, scheme: &str) -> bool {
    let Ok((row, _)) = schemes::find(scheme) else { return false };
    only.names().any(|name| match name.strip_prefix("family:") {
        Some(family) => {
            Family::ALL.iter().any(|(own, known)| *known == family && row.paper.family == *own)
        }
        None => name == "all" || name == scheme || name == row.paper.name,
    })
}

/// So many of the points, drawn without repetition, in their order.
#[must_use]
pub fn sample(points: Vec<Point>, number: usize, seed: u64) -> Vec<Point> {
    let mut rng = Rng::new(seed, Purpose::Workload);
    let (mut left, mut wanted) = (points.len() as u32, number.min(points.len()) as u32);
    let mut kept = Vec::with_capacity(wanted as usize);
    // Each point is taken with the chance that the rest has to be filled by it (Knuth's S).
    for point in points {
        if wanted > 0 && rng.below(left) < wanted {
            kept.push(point);
            wanted -= 1;
        }
        left -= 1;
    }
    kept
}

/// One of several parts of a sweep that are run apart, `I/N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    of: usize,
}

impl std::str::FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once('/').and_then(|(index, of)| {
            let (index, of): (usize, usize) = (index.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&index).then_some(Shard { index, of })
        });
        parsed.ok_or_else(|| {
            Error::usage(format!("--shard '{text}' is not legal; legal: I/N with 1 <= I <= N"))
        })
    }
}

impl Shard {
    /// Whether the point at this place is of this part.
    #[must_use]
    pub fn has(self, place: usize) -> bool {
        place % self.of == self.index - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(grid: &str) -> Vec<Point> {
        Definition::new(Experiment::default(), grid).unwrap().points().unwrap()
    }

    fn told(points: &[Point]) -> Vec<String> {
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        points
            .iter()
            .map(|point| point.values.iter().map(value).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn every_combination_is_there_once_and_the_first_axis_goes_slowest() {
        let all = points("scheme=dftl,fast op=7%,14% cache[dftl]=64KiB,1MiB");
        assert_eq!(
            told(&all),
            [
                "dftl 7% 64KiB",
                "dftl 7% 1MiB",
                "dftl 14% 64KiB",
                "dftl 14% 1MiB",
                "fast 7% -",
                "fast 14% -"
            ]
        );
        let first = all[0].run.as_ref().unwrap();
        assert_eq!(first.schemes.to_string(), "dftl");
        assert!(all[4].run.as_ref().unwrap().ram.is_none());
    }

    #[test]
    fn conditions_know_families_and_presets() {
        let all = points("scheme=dftl:gtd,tpftl,fast cache[family:cached_map]=1KiB,2KiB");
        assert_eq!(all.len(), 5, "{:?}", told(&all));
        let all = points("scheme=dftl:gtd,tpftl cache[dftl]=1KiB,2KiB");
        assert_eq!(told(&all), ["dftl:gtd 1KiB", "dftl:gtd 2KiB", "tpftl -"]);
    }

    #[test]
    fn a_value_that_is_not_legal_is_the_point_s_own_matter() {
        let all = points("scheme=dftl head=0x,5");
        assert!(all[0].run.as_ref().unwrap_err().to_string().contains("--head 0x"));
        assert_eq!(all[1].run.as_ref().unwrap().head, Some(5));
    }

    #[test]
    fn shards_part_all_points_and_samples_keep_their_order() {
        let all = points("scheme=dftl seed=1..100");
        let shards: Vec<Shard> =
            ["1/3", "2/3", "3/3"].map(|text| text.parse().unwrap()).into_iter().collect();
        for place in 0..all.len() {
            assert_eq!(shards.iter().filter(|shard| shard.has(place)).count(), 1);
        }
        for text in ["0/3", "4/3", "1", "1/0", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
        let drawn = sample(all.clone(), 10, 1);
        assert_eq!(drawn.len(), 10);
        let place = |one: &Point| all.iter().position(|other| other.values == one.values).unwrap();
        assert!(drawn.windows(2).all(|pair| place(&pair[0]) < place(&pair[1])));
        assert_ne!(told(&drawn), told(&sample(all.clone(), 10, 2)), "another seed, others");
        assert_eq!(sample(all.clone(), 1000, 1).len(), 100);
    }

    #[test]
    fn too_many_combinations_are_refused() {
        let all = Definition::new(Experiment::default(), "scheme=dftl seed=1..2000 head=1..2000");
        assert!(all.unwrap().points().unwrap_err().to_string().contains("1000000"));
    }
}
