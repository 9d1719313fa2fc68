//! What is fitted of a probe: its figures as logarithms, each with the error that is expected of
//! it.
//!
//! Errors that are expected, as shares: of means and rates 2 % (what addresses drawn by another
//! seed change, and what fio's own repetitions differ by; in a closed loop they are one
//! observation, told twice, so that each counts half), of percentiles 2 % at the median to 5 % at
//! the 99th (a bin of fio is 1.6 % wide, and few requests decide a tail), and more where times jump
//! from one percentile to the next, since one request in a hundred more or less decides on which
//! side of the jump it lies. Percentiles beyond are shown, not fitted: what makes them (retries,
//! patrols, the host) is nothing that a time explains. A residual beyond [`LINEAR`] counts
//! linearly, so that what the model lacks altogether does not decide the times of the rest (Huber
//! 1964).

use ftlab_report::calibration::Figures;

/// Expected errors of mean and rate, of which each counts half.
const WHOLE: f64 = 0.02 * std::f64::consts::SQRT_2;
/// Of the percentiles that are fitted, in the order of the table.
const PERCENTILES: [f64; 4] = [0.02, 0.03, 0.03, 0.05];
/// Standard deviation of what lies anywhere on a length of one.
const UNIFORM: f64 = 0.288_675;
/// Logarithm of a ratio from which on it counts linearly.
const LINEAR: f64 = 0.4;

/// Place of the rate among the figures.
const RATE: usize = 1;

/// What is fitted of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Its figures; percentiles that are not fitted are unknown.
    pub figures: Figures,
    /// The least error that is expected of each.
    pub error_least: f64,
}

/// A figure that was measured and simulated: the logarithm of simulated over measured, and the
/// expected error.
pub fn ratios(measured: &Fitted, simulated: &Figures) -> Vec<(f64, f64)> {
    let Fitted { figures: measured, error_least } = measured;
    let ratio = |measured: f64, simulated: f64| (simulated.max(1e-9) / measured).ln();
    let mut all = vec![
        (ratio(measured.mean_ns, simulated.mean_ns), WHOLE),
        (ratio(measured.iops, simulated.iops), WHOLE),
    ];
    let pairs = measured.percentile_ns.iter().zip(&simulated.percentile_ns);
    all.extend(pairs.zip(PERCENTILES).enumerate().filter_map(|(place, ((own, other), error))| {
        let error = error.max(steepness(measured, place));
        Some((ratio((*own)?, other.unwrap_or(1.0)), error))
    }));
    all.into_iter().map(|(ratio, error)| (ratio, error.max(*error_least))).collect()
}

/// The error of a percentile where the times about it jump: what a jump that lies anywhere between
/// its neighbours makes of it.
fn steepness(measured: &Figures, place: usize) -> f64 {
    let known = |place: usize| measured.percentile_ns.get(place).copied().flatten();
    let own = known(place).unwrap_or(1.0);
    let below = place.checked_sub(1).and_then(known).unwrap_or(own);
    let above = known(place + 1).unwrap_or(own);
    (above / below).ln() * UNIFORM
}

/// Residuals in units of their expected errors.
pub fn residuals(measured: &Fitted, simulated: &Figures) -> Vec<f64> {
    let one = |(ratio, error): (f64, f64)| tamed(ratio) / error;
    ratios(measured, simulated).into_iter().map(one).collect()
}

/// Of each residual what it becomes when all measured times are longer by a factor of e, and the
/// rate is less by as much.
pub fn pulls(measured: &Fitted) -> Vec<f64> {
    let errors = ratios(measured, &measured.figures).into_iter().enumerate();
    errors.map(|(place, (_, error))| if place == RATE { 1.0 } else { -1.0 } / error).collect()
}

/// Huber's loss as a residual: half its square is the loss.
fn tamed(ratio: f64) -> f64 {
    match ratio.abs() {
        size if size <= LINEAR => ratio,
        size => ratio.signum() * (LINEAR * (2.0 * size - LINEAR)).sqrt(),
    }
}

/// Root mean square of the logarithms of some ratios.
pub fn misfit(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum) = (0.0, 0.0);
    for ratio in ratios {
        count += 1.0;
        sum += ratio * ratio;
    }
    if count > 0.0 { f64::sqrt(sum / count) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_residuals_and_what_was_not_measured_none() {
        let percentile_ns = [Some(100.0), None, None, Some(200.0), Some(200.0), None];
        let figures = Figures { mean_ns: 100.0, iops: 10.0, percentile_ns };
        let measured = Fitted { figures, error_least: 0.0 };
        let percentile_ns = [Some(110.0), Some(1.0), Some(1.0), Some(200.0), Some(1.0), Some(1.0)];
        let simulated = Figures { mean_ns: 100.0, iops: 1000.0, percentile_ns };
        let all = residuals(&measured, &simulated);
        assert_eq!(all.len(), 4, "mean, rate, two percentiles: {all:?}");
        assert_eq!((all[0], all[3]), (0.0, 0.0));
        assert!((all[2] - 1.1_f64.ln() / 0.02).abs() < 1e-9);
        let expected = [-1.0 / WHOLE, 1.0 / WHOLE, -50.0, -20.0];
        let pulls = pulls(&measured);
        assert!(pulls.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{pulls:?}");
        let far = 100.0_f64.ln();
        assert!(all[1] > 0.0 && all[1] < far / 0.02 / 2.0, "{all:?}");
        let percentile_ns = [Some(1.0), Some(1.0), Some(1.0), Some(8.0), Some(8.0), None];
        let figures = Figures { percentile_ns, ..measured.figures };
        let mut steep = Fitted { figures, error_least: 0.0 };
        let errors = |of: &Fitted| -> Vec<f64> {
            ratios(of, &of.figures).into_iter().map(|(_, error)| error).collect()
        };
        let jump = 8.0_f64.ln() * UNIFORM;
        assert_eq!(
            errors(&steep)[2..],
            [0.02, 0.03, jump, jump],
            "p95 lies below the jump, p99 above"
        );
        steep.error_least = 0.1;
        assert_eq!(errors(&steep)[..3], [0.1; 3]);
    }

    #[test]
    fn a_loss_grows_smoothly_into_its_linear_part() {
        assert!((tamed(LINEAR + 1e-9) - LINEAR).abs() < 1e-6);
        assert_eq!(tamed(-0.1), -0.1);
        assert!(tamed(-2.0) < -LINEAR && tamed(-2.0) > -2.0);
    }
}
