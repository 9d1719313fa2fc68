//! How far a parameter is known, from fits that are as good as each other.

use crate::calibrate::squares::{self, Fit, Problem};
use crate::error::Result;

/// An interval that reaches further than this factor to either side tells nothing.
pub const IDENTIFIED_WITHIN: f64 = 2.0;

/// The parameter whose interval reaches furthest, where that is too far; and the factor that it
/// reaches to either side.
pub fn furthest(valleys: &[Fit]) -> Option<(usize, f64)> {
    let reach = |place: usize| {
        let [low, high] = interval(valleys, place);
        (high / low).sqrt()
    };
    let all = (0..valleys[0].at.len()).map(|place| (place, reach(place)));
    let told = |reach: f64| if reach.is_nan() { f64::INFINITY } else { reach };
    let worst = all.max_by(|a, b| told(a.1).total_cmp(&told(b.1)));
    worst.map(|(place, reach)| (place, told(reach))).filter(|(_, reach)| *reach > IDENTIFIED_WITHIN)
}

/// Why a parameter whose interval reaches so far is not identified.
pub fn why(factor: f64) -> String {
    match factor {
        factor if factor < 10.0 => {
            format!("its interval reaches a factor of {factor:.1} to either side")
        }
        factor if factor < 1e6 => {
            format!("its interval reaches a factor of {factor:.0} to either side")
        }
        _ => "no figure that is fitted depends on it, or none on it alone".to_owned(),
    }
}

/// Squares for each degree of freedom, in units of what was expected, which is the least.
pub fn unexplained(fit: &Fit) -> f64 {
    let freedom = fit.residuals.len().saturating_sub(fit.at.len()).max(1) as f64;
    (fit.squares() / freedom).max(1.0)
}

/// From the lowest to the highest value of a parameter in the intervals of fits that are as good.
pub fn interval(valleys: &[Fit], place: usize) -> [f64; 2] {
    let ends = valleys.iter().map(|fit| {
        let width = squares::half_widths(fit)[place];
        [fit.at[place] - width, fit.at[place] + width]
    });
    let widest = |[low, high]: [f64; 2], [other, above]: [f64; 2]| [low.min(other), high.max(above)];
    ends.fold([f64::INFINITY, f64::NEG_INFINITY], widest).map(f64::exp)
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

    fn fit(at: f64, slope: f64) -> Fit {
        Fit { at: vec![at], residuals: vec![0.0; 12], slopes: vec![vec![slope]; 12] }
    }

    #[test]
    fn fits_that_are_as_good_widen_an_interval_to_hold_them_all() {
        let one = [fit(0.0, 50.0)];
        let [low, high] = interval(&one, 0);
        assert!(low > 0.98 && high < 1.02 && furthest(&one).is_none(), "{low} {high}");
        let two = [fit(0.0, 50.0), fit(2.0, 50.0)];
        let [low, high] = interval(&two, 0);
        assert!(low > 0.98 && low < 1.0 && high > 7.3, "{low} {high}");
        let (place, factor) = furthest(&two).unwrap();
        assert!(place == 0 && why(factor).contains("a factor of 2.7 to either side"), "{factor}");
        let (_, factor) = furthest(&[fit(0.0, 0.0)]).unwrap();
        assert!(why(factor).starts_with("no figure that is fitted depends on it"));
    }
}
