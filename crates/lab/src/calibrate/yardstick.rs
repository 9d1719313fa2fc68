//! How large errors are, by what a fit leaves, and which other fits are no worse for them.

use crate::calibrate::squares::{Fit, dot, inverse, products};

/// A direction that errors leave open by more than this, a factor of two, takes no degree of
/// freedom, and an interval that is wider tells nothing of where a parameter is.
pub const OPEN: f64 = std::f64::consts::LN_2;

/// What a residual has in common with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kin {
    /// The probe that it is of, counted from 0 without gaps, in order.
    pub probe: usize,
    /// What it becomes when all times of that probe are longer by a factor of e.
    pub pull: f64,
}

/// Places of the residuals of each probe.
pub fn by_probe(kin: &[Kin]) -> Vec<Vec<usize>> {
    let count = kin.last().map_or(0, |kin| kin.probe + 1);
    let mut probes = vec![Vec::new(); count];
    kin.iter().enumerate().for_each(|(row, kin)| probes[kin.probe].push(row));
    probes
}

/// The inverse of the products of slopes; directions that errors leave open count for nothing.
fn decided(slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut normal = products(slopes);
    normal.iter_mut().enumerate().for_each(|(i, row)| row[i] += OPEN.powi(-2));
    inverse(normal)
}

/// Probes beyond the directions of parameters that they decide; may be below 0.
pub fn freedom(slopes: &[Vec<f64>], kin: &[Kin]) -> f64 {
    let (normal, inverse) = (products(slopes), decided(slopes));
    let decided: f64 = (0..normal.len()).map(|i| dot(&inverse[i], &normal[i])).sum();
    by_probe(kin).len() as f64 - decided
}

/// What a fit leaves of errors that the figures of a probe share: of those of each probe so much of
/// those of every other.
fn left_of_shared(slopes: &[Vec<f64>], kin: &[Kin]) -> Vec<Vec<f64>> {
    let inverse = decided(slopes);
    let along = |rows: &Vec<usize>| -> (Vec<f64>, f64) {
        let sum = |i: usize| rows.iter().map(|row| kin[*row].pull * slopes[*row][i]).sum();
        let pulls = rows.iter().map(|row| kin[*row].pull.powi(2)).sum();
        ((0..inverse.len()).map(sum).collect(), pulls)
    };
    let probes: Vec<(Vec<f64>, f64)> = by_probe(kin).iter().map(along).collect();
    let row = |(place, (own, pulls)): (usize, &(Vec<f64>, f64))| {
        let through: Vec<f64> = inverse.iter().map(|row| dot(row, own)).collect();
        let one = |(other, (their, _)): (usize, &(Vec<f64>, f64))| {
            f64::from(u8::from(place == other)) - dot(&through, their) / pulls
        };
        probes.iter().enumerate().map(one).collect()
    };
    probes.iter().enumerate().map(row).collect()
}

/// What fits are compared by: the squares of the error that the figures of a probe share and of
/// what is left, each in units of its size at the best fit.
#[derive(Clone, Debug)]
pub struct Yardstick {
    /// Variance of the shared error.
    pub common: f64,
    /// Its degrees of freedom.
    pub common_freedom: f64,
    /// Variance of what is left of a residual.
    pub left: f64,
    /// Its degrees of freedom.
    pub left_freedom: f64,
    /// Probes beyond what they decide.
    pub freedom: f64,
    kin: Vec<Kin>,
    /// What is no worse than the best.
    most: f64,
}

impl Yardstick {
    /// By the best fit: another is told from it at 95 %, as F of two degrees of freedom and of
    /// those that are left.
    pub fn of(best: &Fit, kin: &[Kin]) -> Self {
        let mut own = Self::with(&best.residuals, kin, &best.free_slopes());
        let freedom = own.common_freedom.min(own.freedom).max(1.0);
        own.most = own.length(&best.residuals) + freedom * (0.05_f64.powf(-2.0 / freedom) - 1.0);
        own
    }

    /// Whether these residuals are no worse than those of the best, as far as anybody can tell.
    pub fn bears(&self, residuals: &[f64]) -> bool {
        self.length(residuals) <= self.most
    }

    /// By residuals and slopes. Squares of shared errors count by the square of how much is
    /// expected of their probes, so that those of which little is expected say little of the
    /// others, and that little is taken off again which the fit has made smaller.
    pub fn with(residuals: &[f64], kin: &[Kin], slopes: &[Vec<f64>]) -> Self {
        let parts = parts(residuals, kin);
        let weights: Vec<f64> = parts.iter().map(|part| part.pulls.powi(2)).collect();
        let kept = left_of_shared(slopes, kin);
        let weighed = |i: usize, j: usize| -> f64 {
            weights.iter().zip(&kept).map(|(weight, row)| weight * row[i] * row[j]).sum()
        };
        let count = parts.len();
        let trace: f64 = (0..count).map(|i| weighed(i, i)).sum();
        let both = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
        let norm: f64 = both.map(|(i, j)| weighed(i, j).powi(2)).sum();
        let shared = parts.iter().zip(&weights).map(|(part, weight)| weight * part.shared.powi(2));
        let left = parts.iter().map(|part| part.left).sum::<f64>();
        let left_freedom = (residuals.len() - count).max(1) as f64;
        Yardstick {
            common: shared.sum::<f64>() / trace.max(f64::MIN_POSITIVE),
            common_freedom: trace.powi(2) / norm.max(f64::MIN_POSITIVE),
            left: (left / left_freedom).max(1.0),
            left_freedom,
            freedom: freedom(slopes, kin),
            kin: kin.to_vec(),
            most: f64::INFINITY,
        }
    }

    fn length(&self, residuals: &[f64]) -> f64 {
        let one = |part: Part| {
            part.shared.powi(2) / self.common.max(1.0 / part.pulls) + part.left / self.left
        };
        parts(residuals, &self.kin).into_iter().map(one).sum()
    }
}

/// Residuals of a probe.
struct Part {
    /// The error that its figures share.
    shared: f64,
    /// Squares of what is left.
    left: f64,
    /// Squares of the pulls.
    pulls: f64,
}

fn parts(residuals: &[f64], kin: &[Kin]) -> Vec<Part> {
    let one = |rows: Vec<usize>| {
        let pulls: f64 = rows.iter().map(|row| kin[*row].pull.powi(2)).sum();
        let sum: f64 = rows.iter().map(|row| kin[*row].pull * residuals[*row]).sum();
        let shared = sum / pulls;
        let rest = rows.iter().map(|row| residuals[*row] - shared * kin[*row].pull);
        Part { shared, left: rest.map(|rest| rest * rest).sum(), pulls }
    };
    by_probe(kin).into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another value of a time is told from the best by many probes where few do not, and by
    /// figures that err together only as by one.
    #[test]
    fn few_probes_and_figures_that_err_together_tell_less_apart() {
        let bears = |probes: usize, figures: usize, off: f64| {
            let rows = (0..probes * figures).map(|row| Kin { probe: row / figures, pull: 1.0 });
            let kin: Vec<Kin> = rows.collect();
            let sign = |kin: &Kin| if kin.probe.is_multiple_of(2) { 4.0 } else { -4.0 };
            let residuals: Vec<f64> = kin.iter().map(sign).collect();
            let slopes = vec![vec![50.0]; residuals.len()];
            let there = residuals.iter().map(|own| own + off).collect::<Vec<_>>();
            let fit = Fit { at: vec![0.0], residuals, slopes, held: Vec::new(), converged: true };
            Yardstick::of(&fit, &kin).bears(&there)
        };
        assert!(bears(100, 1, 0.9) && !bears(100, 1, 1.1), "2.45 of 0.4 would be one deviation");
        assert!(bears(100, 6, 0.9) && !bears(100, 6, 1.1), "six times as many figures, one probe");
        assert!(bears(4, 1, 7.0) && !bears(4, 1, 20.0));
    }
}
