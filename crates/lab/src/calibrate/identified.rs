//! How far a parameter is known, from fits that are as good as each other.

use crate::calibrate::intervals::Sharp;
use crate::calibrate::squares::{self, Fit, Problem};
use crate::error::Result;

/// An interval that reaches further than this factor to either side tells nothing.
pub const IDENTIFIED_WITHIN: f64 = 2.0;

/// An interval that tells something, or why it tells nothing.
pub fn told([low, high]: [f64; 2]) -> std::result::Result<[f64; 2], String> {
    match (high / low).sqrt() {
        factor if factor <= IDENTIFIED_WITHIN => Ok([low, high]),
        factor if factor < 10.0 => {
            Err(format!("its interval reaches a factor of {factor:.1} to either side"))
        }
        factor if factor < 1e6 => {
            Err(format!("its interval reaches a factor of {factor:.0} to either side"))
        }
        _ => Err("no figure depends on it alone, or there are too few probes".to_owned()),
    }
}

/// What is as good.
#[derive(Clone, Debug)]
pub struct AsGood {
    /// Fits, the best first.
    pub fits: Vec<Sharp>,
    /// Places that are no end of a fit, and no worse for that.
    pub places: Vec<Vec<f64>>,
}

impl AsGood {
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
    use crate::calibrate::intervals::Kin;

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
            let fit = Fit { at, residuals: vec![0.0; 12], slopes, converged: true };
            Sharp::of(&Straight(slope), &kin, fit).unwrap()
        };
        let places = places.iter().map(|at| vec![*at]).collect();
        let all = AsGood { fits: ats.iter().map(fit).collect(), places };
        assert_eq!(all.is_silent(0), slope == 0.0);
        told(all.interval(0))
    }

    #[test]
    fn what_is_as_good_widens_an_interval_to_hold_it_all() {
        let [low, high] = of(&[0.0], 50.0, &[]).unwrap();
        assert!(low > 0.98 && low < 1.0 && high > 1.0 && high < 1.02, "{low} {high}");
        let [low, high] = of(&[0.0, 1.0], 50.0, &[-0.2]).unwrap();
        assert!(
            (low - (-0.2_f64).exp()).abs() < 1e-9 && high > 2.71 && high < 2.78,
            "{low} {high}"
        );
        let why = of(&[0.0, 2.0], 50.0, &[]).unwrap_err();
        assert_eq!(why, "its interval reaches a factor of 2.8 to either side");
        let why = of(&[0.0], 0.0, &[]).unwrap_err();
        assert!(why.starts_with("no figure depends on it alone"), "{why}");
    }
}
