//! How far what least squares find can be trusted.
//!
//! Confidence intervals are of the linear model at the optimum. The figures of one probe are no
//! independent observations: of a closed loop mean times rate is the depth, percentiles move
//! together, and what the model lacks shifts a whole probe. Errors are therefore reckoned by probe,
//! in two ways of which the wider counts: a covariance that holds whatever figures of a probe have
//! in common (clustered, with each probe's residuals freed of its own pull: CR3, the jackknife of
//! Bell and McCaffrey 2002), and one of an error that all figures of a probe share and of one of
//! each figure, whose sizes come from all probes together, each by how much is expected of it, and
//! are no less than what is expected. Student's quantile has, of each parameter, degrees of freedom
//! by what its variance consists of (Satterthwaite 1946): probes of which next to nothing is expected
//! do not make surer what others decide. Limit: the sizes of errors are those of all probes together,
//! so that a parameter that two or three worse ones decide is known less well than its interval says.
//!
//! Slopes are taken anew for this: to both sides, under several draws of what is drawn by lot,
//! since a simulation answers a small step with as large an accident. Slopes of a probe that are no
//! larger than their accidents count as none; a parameter that is left with none, or with none that
//! the others have not, has no interval. Linear theory knows of no end of where a parameter is
//! looked for: one that lies on its end, as far as the fit can tell, is held there, and has no
//! interval; those of the others are reckoned on that condition. One whose interval reaches over an
//! end has none either, and is held by nothing.

use crate::calibrate::squares::{self, Fit, Problem, dot, inverse, products};
use crate::calibrate::yardstick::{Kin, Yardstick, by_probe, freedom};
use crate::error::Result;

/// How far a parameter is moved to either side for its slope.
const DIFFERENCE: f64 = 0.15;
/// Draws over which slopes are averaged.
const DRAWS: u64 = 2;
/// By so much must the squares of slopes exceed what their accidents bring about: what F of eight
/// and eight degrees of freedom exceeds once in a hundred and fifty times.
const BEYOND_ACCIDENTS: f64 = 7.0;
/// What a probe that decides a parameter alone keeps of its residuals.
const KEPT: f64 = 0.05;

/// A fit with slopes that intervals may stand on.
#[derive(Clone, Debug)]
pub struct Sharp {
    /// The fit, with slopes of its own place.
    pub fit: Fit,
    /// Of each parameter what accidents add to the squares of its slopes, on average.
    noise: Vec<f64>,
    kin: Vec<Kin>,
}

impl Sharp {
    /// A fit with slopes taken anew.
    ///
    /// # Errors
    /// As of [`Problem::residuals`].
    pub fn of(problem: &dyn Problem, kin: &[Kin], fit: Fit) -> Result<Self> {
        let count = fit.at.len();
        let moved = |place: usize| {
            let mut at = fit.at.clone();
            at[place / 2] += if place.is_multiple_of(2) { DIFFERENCE } else { -DIFFERENCE };
            at
        };
        let places: Vec<Vec<f64>> = (0..2 * count).map(moved).collect();
        let draws =
            (0..DRAWS).map(|draw| problem.residuals(&places, draw)).collect::<Result<Vec<_>>>()?;
        let mut slopes = vec![vec![0.0; count]; fit.residuals.len()];
        let mut accidents = slopes.clone();
        for row in 0..slopes.len() {
            for place in 0..count {
                let one = |all: &Vec<Vec<f64>>| {
                    (all[2 * place][row] - all[2 * place + 1][row]) / (2.0 * DIFFERENCE)
                };
                let each: Vec<f64> = draws.iter().map(one).collect();
                let mean = each.iter().sum::<f64>() / DRAWS as f64;
                let apart: f64 = each.iter().map(|one| (one - mean).powi(2)).sum();
                slopes[row][place] = mean;
                accidents[row][place] = apart / (DRAWS * (DRAWS - 1)) as f64;
            }
        }
        let noise = without_accidents(&mut slopes, &accidents, kin);
        Ok(Sharp { fit: Fit { slopes, ..fit }, noise, kin: kin.to_vec() })
    }

    /// The same with the sum of two parameters in the place of one, of which the other counts for a
    /// share, and in that of the other the ratio of both: a sum may be known where neither part is.
    pub fn with_sum(&self, [one, other]: [usize; 2], share: f64) -> Self {
        let (mut sharp, silent) = (self.clone(), self.silent());
        let at = &mut sharp.fit.at;
        let (first, second) = (at[one].exp(), share * at[other].exp());
        let sum = first + second;
        (at[one], at[other]) = (sum.ln(), (second / first).ln());
        let [own, rest] = [first / sum, second / sum];
        // What each change of sum and ratio does to the parts; one on which nothing depends stays.
        let [[a, b], [c, d]] = match (silent[one], silent[other]) {
            (false, true) => [[1.0 / own, 0.0], [0.0, 0.0]],
            (true, false) => [[0.0, 1.0 / rest], [0.0, 0.0]],
            _ => [[1.0, 1.0], [-rest, own]],
        };
        for row in &mut sharp.fit.slopes {
            let [x, y] = [row[one], row[other]];
            (row[one], row[other]) = (a * x + b * y, c * x + d * y);
        }
        let [x, y] = [sharp.noise[one], sharp.noise[other]];
        sharp.noise[one] = a * a * x + b * b * y;
        sharp.noise[other] = c * c * x + d * d * y;
        sharp
    }

    /// Which parameters no residual depends on, as far as slopes exceed accidents.
    pub fn silent(&self) -> Vec<bool> {
        let normal = products(&self.fit.slopes);
        let is_silent = |i: usize| normal[i][i] < (BEYOND_ACCIDENTS * self.noise[i]).max(1e-6);
        (0..normal.len()).map(is_silent).collect()
    }

    /// The same with all parameters held that lie on an end, as far as the fit can tell: within the
    /// difference by which it took slopes. One that lies further inside stays free, however wide its
    /// interval: to hold it would say of the others that it is known.
    pub fn holding_ends(mut self, bounds: &[(f64, f64)]) -> Self {
        let silent = self.silent();
        let is_near = |i: usize| {
            let (at, (low, high)) = (self.fit.at[i], bounds[i]);
            !silent[i] && f64::min(at - low, high - at) < squares::DIFFERENCE
        };
        self.fit.held = (0..self.fit.at.len()).map(|i| self.fit.is_held(i) || is_near(i)).collect();
        self
    }

    /// Half of the width of each parameter's 95 % confidence interval; infinite where it has no
    /// influence, or none that the others have not, where it is held on an end, or where there are
    /// not more probes than what they decide.
    pub fn half_widths(&self) -> Vec<f64> {
        let (count, silent) = (self.fit.at.len(), self.silent());
        let kept: Vec<usize> =
            (0..count).filter(|i| !silent[*i] && !self.fit.is_held(*i)).collect();
        let of = |row: &Vec<f64>| kept.iter().map(|i| row[*i]).collect();
        let slopes: Vec<Vec<f64>> = self.fit.slopes.iter().map(of).collect();
        let mut normal = products(&slopes);
        normal.iter_mut().enumerate().for_each(|(i, row)| row[i] *= 1.0 + 1e-12);
        let mut widths = vec![f64::INFINITY; count];
        // What a parameter decides is counted as a little less than one.
        if kept.is_empty() || freedom(&slopes, &self.kin).round() < 1.0 {
            return widths;
        }
        let inverse = inverse(normal);
        let errors = self.errors(&slopes, &inverse);
        for (own, i) in kept.iter().enumerate() {
            // What of its slopes the others do not have, and what accidents make of that.
            let alone = 1.0 / inverse[own][own];
            let share = |(other, j): (usize, &usize)| {
                (inverse[own][other] * alone).powi(2) * self.noise[*j]
            };
            let accidents: f64 = kept.iter().enumerate().map(share).sum();
            if alone > BEYOND_ACCIDENTS * accidents {
                let (error, freedom) = errors[own];
                widths[*i] = student(freedom) * error.max(inverse[own][own]).sqrt();
            }
        }
        widths
    }

    /// The square of each parameter's standard error, the greater of the two ways, and its degrees
    /// of freedom.
    fn errors(&self, slopes: &[Vec<f64>], inverse: &[Vec<f64>]) -> Vec<(f64, f64)> {
        let residuals = &self.fit.residuals;
        let count = inverse.len();
        let yardstick = Yardstick::with(residuals, &self.kin, slopes);
        let decides =
            |row: usize| -> Vec<f64> { inverse.iter().map(|own| dot(own, &slopes[row])).collect() };
        let mut clustered = vec![0.0; count];
        let mut pooled = vec![Pooled::default(); count];
        for rows in by_probe(&self.kin) {
            let decided: Vec<Vec<f64>> = rows.iter().map(|row| decides(*row)).collect();
            let freed = freed(&rows, slopes, &decided, residuals);
            let pulls: f64 = rows.iter().map(|row| self.kin[*row].pull.powi(2)).sum();
            for i in 0..count {
                let sum = |by: &dyn Fn(usize) -> f64| -> f64 {
                    (0..rows.len()).map(|row| decided[row][i] * by(row)).sum()
                };
                clustered[i] += sum(&|row| freed[row]).powi(2);
                let shared = sum(&|row| self.kin[rows[row]].pull).powi(2);
                match yardstick.common > 1.0 / pulls {
                    true => pooled[i].found += yardstick.common * shared,
                    false => pooled[i].expected += shared / pulls,
                }
                let left: f64 = decided.iter().map(|own| own[i].powi(2)).sum();
                match yardstick.left > 1.0 {
                    true => pooled[i].left += yardstick.left * left,
                    false => pooled[i].expected += left,
                }
            }
        }
        let both = clustered.into_iter().zip(pooled);
        both.map(|(one, other)| (one.max(other.whole()), other.freedom(&yardstick))).collect()
    }
}

/// What the square of a standard error consists of.
#[derive(Clone, Default)]
struct Pooled {
    /// Of errors that probes share, as large as all together show.
    found: f64,
    /// Of errors of each figure, alike.
    left: f64,
    /// Of either where they are no larger than expected.
    expected: f64,
}

impl Pooled {
    fn whole(&self) -> f64 {
        self.found + self.expected + self.left
    }

    /// Satterthwaite's degrees of freedom, from one to those of all probes: what is expected is
    /// taken for known as far as these go.
    fn freedom(&self, of: &Yardstick) -> f64 {
        let one = |part: f64, freedom: f64| part.powi(2) / freedom;
        let parts = one(self.found, of.common_freedom) + one(self.left, of.left_freedom);
        (self.whole().powi(2) / parts).clamp(1.0, of.freedom.max(1.0))
    }
}

/// Residuals of a probe as they would be had it no pull of its own.
fn freed(rows: &[usize], slopes: &[Vec<f64>], decided: &[Vec<f64>], residuals: &[f64]) -> Vec<f64> {
    let own = |i: usize| {
        let one = |j: usize| f64::from(u8::from(i == j)) * (1.0 + KEPT);
        (0..rows.len()).map(|j| one(j) - dot(&slopes[rows[i]], &decided[j])).collect()
    };
    let inverse = inverse((0..rows.len()).map(own).collect());
    let residuals: Vec<f64> = rows.iter().map(|row| residuals[*row]).collect();
    inverse.iter().map(|row| dot(row, &residuals)).collect()
}

/// Takes slopes of a probe for none that are no larger than their accidents, which are as large as
/// those of most parameters, at least. What accidents are left adds to the squares of each
/// parameter.
fn without_accidents(slopes: &mut [Vec<f64>], accidents: &[Vec<f64>], kin: &[Kin]) -> Vec<f64> {
    let count = slopes.first().map_or(0, Vec::len);
    let mut noise = vec![0.0; count];
    for rows in by_probe(kin) {
        let sum = |place: usize| rows.iter().map(|row| accidents[*row][place]).sum();
        let own: Vec<f64> = (0..count).map(sum).collect();
        let mut sorted = own.clone();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted.get(count / 2).copied().unwrap_or(0.0);
        for place in 0..count {
            let noisy = own[place].max(usual);
            let squares: f64 = rows.iter().map(|row| slopes[*row][place].powi(2)).sum();
            match squares > BEYOND_ACCIDENTS * noisy {
                true => noise[place] += noisy,
                false => rows.iter().for_each(|row| slopes[*row][place] = 0.0),
            }
        }
    }
    noise
}

/// The value that Student's distribution of so many degrees of freedom, one at least, exceeds to
/// either side with a probability of 5 %; of a number that is not whole between those of its
/// neighbours.
fn student(freedom: f64) -> f64 {
    let (below, beyond) = (of_whole(freedom.floor()), of_whole(freedom.floor() + 1.0));
    below + (beyond - below) * freedom.fract()
}

/// The same of a whole number: of few from a table, of many by Cornish and Fisher's expansion about
/// the normal quantile.
fn of_whole(freedom: f64) -> f64 {
    const FEW: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    const Z: f64 = 1.959_964;
    if let Some(known) = FEW.get(freedom as usize - 1) {
        return *known;
    }
    let [z3, z5, z7] = [Z.powi(3), Z.powi(5), Z.powi(7)];
    Z + (z3 + Z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::yardstick::OPEN;

    fn each(count: usize) -> Vec<Kin> {
        (0..count).map(|probe| Kin { probe, pull: 1.0 }).collect()
    }

    fn sharp(slopes: Vec<Vec<f64>>, residuals: Vec<f64>, kin: Vec<Kin>) -> Sharp {
        let count = slopes[0].len();
        let fit =
            Fit { at: vec![0.0; count], residuals, slopes, held: Vec::new(), converged: true };
        Sharp { fit, noise: vec![0.0; count], kin }
    }

    /// A mean of four residuals 20, -20, 20, -20, each a probe: the error of one is
    /// sqrt(4 * 400 / 3), that of the mean half of it.
    #[test]
    fn the_interval_of_a_mean_is_that_by_hand() {
        let one = sharp(vec![vec![1.0]; 4], vec![20.0, -20.0, 20.0, -20.0], each(4));
        let freed = 20.0 / (1.05 - 0.25) * 2.0 / 4.0;
        let pooled = ((1600.0 / 3.0 + 1.0) / 4.0_f64).sqrt();
        // What the parameter decides is counted as a little less than one.
        let width = one.half_widths()[0] / 3.182;
        assert!((width / f64::max(freed, pooled) - 1.0).abs() < 0.1, "{width} {freed} {pooled}");
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, value) in [(1.0, 12.706), (4.0, 2.776), (5.0, 2.571), (30.0, 2.042)] {
            assert!((student(freedom) - value).abs() < 0.01, "{freedom}");
        }
    }

    /// Six figures of a probe that err together are one observation: the interval is as wide as of
    /// one figure a probe, where independent ones would make it less than half.
    #[test]
    fn figures_that_err_together_count_once() {
        let errors = [3.0, -2.0, 4.0, -5.0, 1.0, -1.0, 2.0, -2.0];
        let single = sharp(vec![vec![50.0]; 8], errors.to_vec(), each(8));
        let together = |pull: fn(usize) -> f64| {
            let rows = (0..48).map(|row| Kin { probe: row / 6, pull: pull(row % 6) });
            let kin: Vec<Kin> = rows.collect();
            let residuals = kin.iter().map(|kin| errors[kin.probe] * kin.pull).collect();
            let slopes = kin.iter().map(|kin| vec![50.0 * kin.pull]).collect();
            sharp(slopes, residuals, kin).half_widths()[0]
        };
        let one = single.half_widths()[0];
        for width in [together(|_| 1.0), together(|figure| if figure == 1 { -1.0 } else { 1.0 })] {
            assert!((width / one - 1.0).abs() < 0.15, "{width} {one}");
        }
    }

    /// Parts of 3 and 1, of whose sum alone six probes have a slope: neither is known, and their
    /// sum as well as if it were the parameter.
    #[test]
    fn a_sum_is_known_where_its_parts_are_not() {
        let errors = vec![2.0, -2.0, 2.0, -2.0, 2.0, -2.0];
        let mut both = sharp(vec![vec![75.0, 25.0]; 6], errors.clone(), each(6));
        both.fit.at = vec![3.0_f64.ln(), 0.5_f64.ln()];
        let widths = both.half_widths();
        assert!(widths.iter().all(|width| *width > 10.0), "{widths:?}");
        let sum = both.with_sum([0, 1], 2.0);
        assert!((sum.fit.at[0] - 4.0_f64.ln()).abs() < 1e-12, "{:?}", sum.fit.at);
        let alone = sharp(vec![vec![100.0]; 6], errors.clone(), each(6)).half_widths()[0];
        assert!(
            (sum.half_widths()[0] / alone - 1.0).abs() < 0.05,
            "{} {alone}",
            sum.half_widths()[0]
        );
        // The same where nothing depends on the other part: the sum moves by its first part.
        let mut one = sharp(vec![vec![75.0, 0.0]; 6], errors, each(6));
        one.fit.at = both.fit.at;
        let sum = one.with_sum([0, 1], 2.0).half_widths()[0];
        assert!((sum / alone - 1.0).abs() < 0.05, "{sum} {alone}");
    }

    #[test]
    fn what_has_no_influence_and_what_is_not_told_apart_have_no_interval() {
        let slopes = vec![vec![1.0, 1.0, 0.0]; 6];
        let one = sharp(slopes, vec![0.1; 6], each(6));
        let widths = one.half_widths();
        assert!(widths[0] > 10.0 && widths[1] > 10.0, "{widths:?}");
        assert_eq!((widths[2], one.silent()), (f64::INFINITY, vec![false, false, true]));
        let few = sharp(vec![vec![50.0]], vec![0.0], each(1));
        assert_eq!(few.half_widths(), [f64::INFINITY], "as many probes as parameters");
    }

    /// Residuals by the first of six parameters alone, and by accidents that every place and draw
    /// has its own of, of one expected error.
    struct Accidents(u64);

    impl Problem for Accidents {
        fn residuals(&self, places: &[Vec<f64>], draw: u64) -> Result<Vec<Vec<f64>>> {
            let lot = |at: &[f64], row: u64| {
                let mut all = (self.0 << 40) ^ (draw << 20) ^ row;
                at.iter().for_each(|at| all = mixed(all ^ at.to_bits()));
                2.0 * 1.732 * ((mixed(all) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
            };
            let of = |at: &Vec<f64>| (0..48).map(|row| 50.0 * at[0] + lot(at, row)).collect();
            Ok(places.iter().map(of).collect())
        }
    }

    /// SplitMix64.
    fn mixed(number: u64) -> u64 {
        let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// By slopes of one draw to one side, every one of these parameters had an interval of a few
    /// percent.
    #[test]
    fn accidents_are_no_influence() {
        let kin: Vec<Kin> = (0..48).map(|row| Kin { probe: row / 6, pull: 50.0 }).collect();
        let mut told = 0;
        for seed in 0..40 {
            let at = vec![0.0, 0.3, -0.2, 0.1, 0.5, 0.7];
            let problem = Accidents(seed);
            let residuals = problem.residuals(std::slice::from_ref(&at), 0).unwrap().remove(0);
            let fit = Fit { at, residuals, slopes: Vec::new(), held: Vec::new(), converged: true };
            let widths = Sharp::of(&problem, &kin, fit).unwrap().half_widths();
            assert!(widths[0] < 0.2, "{widths:?}");
            told += widths[1..].iter().filter(|width| **width < OPEN).count();
        }
        assert!(told <= 200 / 20, "{told} of 200 that have no influence");
    }
}
