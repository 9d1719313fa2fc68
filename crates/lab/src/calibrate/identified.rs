//! How far a parameter is known, from fits that are as good as each other.

use crate::calibrate::intervals::Sharp;
use crate::calibrate::squares::{self, Fit, Problem};
use crate::error::Result;

/// An interval that reaches further from its value than this factor tells nothing.
pub const IDENTIFIED_WITHIN: f64 = 2.0;

/// The interval of a value that tells something, or why it tells nothing: by the end that is
/// farther from the value.
pub fn told(value: f64, [low, high]: [f64; 2]) -> std::result::Result<[f64; 2], String> {
    match f64::max(high / value, value / low) {
        factor if factor <= IDENTIFIED_WITHIN => Ok([low, high]),
        factor if factor < 10.0 => {
            Err(format!("its interval reaches a factor of {factor:.1} from its value"))
        }
        factor if factor < 1e6 => {
            Err(format!("its interval reaches a factor of {factor:.0} from its value"))
        }
        factor if factor.is_finite() => {
            Err("its interval reaches a factor of more than a million from its value".to_owned())
        }
        _ => Err("no figure is seen to depend on it alone, or there are too few probes".to_owned()),
    }
}

/// What is as good.
#[derive(Clone, Debug)]
pub struct AsGood {
    /// Fits, the best first; all but that have converged.
    pub fits: Vec<Sharp>,
    /// Places that are no end of a fit, and no worse for that.
    pub places: Vec<Vec<f64>>,
}

impl AsGood {
    /// Whether the best is an optimum, about which intervals may stand; not where its steps ran
    /// out.
    pub fn is_optimum(&self) -> bool {
        self.fits[0].fit.converged
    }

    /// The same with all parameters held that lie on an end of where they are looked for, each in
    /// the fits where it does.
    pub fn holding_ends(&self, bounds: &[(f64, f64)]) -> Self {
        let fits = self.fits.iter().map(|one| one.clone().holding_ends(bounds));
        AsGood { fits: fits.collect(), places: self.places.clone() }
    }

    /// Whether a parameter is held on an end of where it is looked for, in one of the fits that
    /// depend on it: linear theory knows of no end.
    pub fn is_at_end(&self, place: usize) -> bool {
        self.fits.iter().any(|one| one.fit.is_held(place) && !one.silent()[place])
    }

    /// On which end the best fit has a parameter.
    pub fn end(&self, place: usize, bounds: (f64, f64)) -> Option<End> {
        let best = &self.fits[0];
        let is_there = best.fit.is_held(place) && !best.silent()[place];
        is_there.then(|| nearer(best.fit.at[place], bounds))
    }

    /// The best fit's value of a parameter and a share of another together.
    pub fn sum(&self, [one, other]: [usize; 2], share: f64) -> f64 {
        let at = &self.fits[0].fit.at;
        at[one].exp() + share * at[other].exp()
    }

    /// Whether none of the fits depends on a parameter.
    pub fn is_silent(&self, place: usize) -> bool {
        self.fits.iter().all(|one| one.silent()[place])
    }

    /// From the lowest to the highest value of a parameter in the intervals of the fits and at the
    /// places.
    pub fn interval(&self, place: usize) -> [f64; 2] {
        let fits = self.fits.iter().map(|one| {
            let (at, width) = (one.fit.at[place], one.half_widths()[place]);
            [at - width, at + width]
        });
        let places = self.places.iter().map(|at| [at[place]; 2]);
        let ends = fits.chain(places);
        let low = ends.clone().fold(f64::INFINITY, |low, end| low.min(end[0]));
        let high = ends.fold(f64::NEG_INFINITY, |high, end| high.max(end[1]));
        [low.exp(), high.exp()]
    }
}

impl AsGood {
    /// As [`AsGood::interval`], of one parameter and a share of another together.
    pub fn interval_of_sum(&self, [one, other]: [usize; 2], share: f64) -> [f64; 2] {
        let moved = |at: &Vec<f64>| {
            let mut at = at.clone();
            at[one] = (at[one].exp() + share * at[other].exp()).ln();
            at
        };
        let fits = self.fits.iter().map(|fit| fit.with_sum([one, other], share)).collect();
        AsGood { fits, places: self.places.iter().map(moved).collect() }.interval(one)
    }
}

/// An end of where a time is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The least.
    Low,
    /// The most.
    High,
}

/// The end that is nearer.
fn nearer(at: f64, (low, high): (f64, f64)) -> End {
    if at - low < high - at { End::Low } else { End::High }
}

/// The better of fits from two places; the second is not gone to where both are the same.
pub fn best_of(
    problem: &dyn Problem,
    [one, other]: [&Vec<f64>; 2],
    bounds: &[(f64, f64)],
    steps: usize,
) -> Result<Fit> {
    let first = squares::fit(problem, one, bounds, steps)?;
    if one == other {
        return Ok(first);
    }
    let second = squares::fit(problem, other, bounds, steps)?;
    Ok(if second.squares() < first.squares() { second } else { first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::yardstick::Kin;

    /// A residual for each of twelve probes, of that slope everywhere.
    struct Straight(f64);

    impl Problem for Straight {
        fn residuals(&self, places: &[Vec<f64>], _: u64) -> Result<Vec<Vec<f64>>> {
            Ok(places.iter().map(|at| vec![self.0 * at[0]; 12]).collect())
        }
    }

    fn of(ats: &[f64], slope: f64, places: &[f64]) -> std::result::Result<[f64; 2], String> {
        let kin: Vec<Kin> = (0..12).map(|probe| Kin { probe, pull: 50.0 }).collect();
        let fit = |at: &f64| {
            let (at, slopes) = (vec![*at], Vec::new());
            let fit =
                Fit { at, residuals: vec![0.0; 12], slopes, held: Vec::new(), converged: true };
            Sharp::of(&Straight(slope), &kin, fit).unwrap()
        };
        let places = places.iter().map(|at| vec![*at]).collect();
        let all = AsGood { fits: ats.iter().map(fit).collect(), places };
        assert_eq!(all.is_silent(0), slope == 0.0);
        // Any of the fits, of those that depend on it.
        let last = ats[ats.len() - 1];
        assert_eq!(all.holding_ends(&[(last, last + 9.0)]).is_at_end(0), slope != 0.0);
        assert!(!all.holding_ends(&[(-9.0, 9.0)]).is_at_end(0));
        told(ats[0].exp(), all.interval(0))
    }

    #[test]
    fn what_is_as_good_widens_an_interval_to_hold_it_all() {
        let [low, high] = of(&[0.0], 50.0, &[]).unwrap();
        assert!(low > 0.98 && low < 1.0 && high > 1.0 && high < 1.02, "{low} {high}");
        let [low, high] = of(&[0.0, 0.6], 50.0, &[-0.2]).unwrap();
        assert!(
            (low - (-0.2_f64).exp()).abs() < 1e-9 && high > 1.82 && high < 1.87,
            "{low} {high}"
        );
        let why = of(&[0.0, 2.0], 50.0, &[]).unwrap_err();
        assert!(why.starts_with("its interval reaches a factor of 7."), "{why}");
        let why = of(&[0.0], 0.0, &[]).unwrap_err();
        assert!(why.starts_with("no figure is seen to depend on it alone"), "{why}");
    }

    /// From 0.9 to 2.5 is a factor of 1.7 to either side of the middle, which is not where the
    /// value is.
    #[test]
    fn an_interval_tells_something_by_how_far_it_reaches_from_the_value() {
        assert_eq!(told(1.5, [0.9, 2.5]), Ok([0.9, 2.5]));
        let beyond = "its interval reaches a factor of 2.5 from its value".to_owned();
        assert_eq!(told(1.0, [0.9, 2.5]), Err(beyond.clone()));
        assert_eq!(told(1.0, [0.4, 1.1]), Err(beyond));
        let wide = told(1.0, [1e-7, 1e7]).unwrap_err();
        assert!(wide.ends_with("a factor of more than a million from its value"), "{wide}");
        let open = told(1.0, [0.0, f64::INFINITY]).unwrap_err();
        assert!(open.contains("is seen to depend on it alone"), "{open}");
    }

    /// A time that stopped a thousandth before its end was inside, and its interval reached over
    /// the end.
    #[test]
    fn a_parameter_lies_on_an_end_as_far_as_the_fit_can_tell() {
        let kin: Vec<Kin> = (0..12).map(|probe| Kin { probe, pull: 2.0 }).collect();
        let at = |at: f64, slope: f64| {
            let (at, slopes, held) = (vec![at], Vec::new(), Vec::new());
            let fit = Fit { at, residuals: vec![0.0; 12], slopes, held, converged: true };
            let fits = vec![Sharp::of(&Straight(slope), &kin, fit).unwrap()];
            AsGood { fits, places: Vec::new() }.holding_ends(&[(1.0, 3.0)]).end(0, (1.0, 3.0))
        };
        assert_eq!((at(1.001, 50.0), at(2.999, 50.0)), (Some(End::Low), Some(End::High)));
        assert_eq!(at(1.05, 50.0), None);
        // Half of the width of its interval is about 2.2 / sqrt(12) / slope of an expected error
        // each, or what two percent of the pull shared make of it: it reaches over the end.
        assert_eq!(at(1.1, 4.0), None, "it is known no better for that");
        assert_eq!(at(1.0, 0.0), None, "nothing depends on it");
    }
}
