//! Nonlinear least squares in few evaluations.
//!
//! Levenberg (1944) and Marquardt (1963), with slopes by differences at the start and Broyden's
//! (1965) rank-one updates behind it, because an evaluation is a set of simulations.

use crate::error::Result;

/// A step that changes every parameter by less ends the search.
const STEP_LEAST: f64 = 4e-4;
/// A step that takes no more off the squares than this share, or this much of one expected error's
/// square, ends the search, too, where slopes are fresh.
const GAIN_LEAST: (f64, f64) = (1e-4, 1e-4);
/// Longest step of a parameter.
const STEP_MOST: f64 = 0.7;
/// How far a parameter is moved for its slope.
const DIFFERENCE: f64 = 0.04;
/// Damping at the start, and after how much of it no step is looked for.
const DAMPING: (f64, f64) = (1e-3, 1e6);

/// What is to be made small: residuals of parameters, each in units of its expected error.
pub trait Problem {
    /// The residuals at each of these places. Whatever is drawn by lot follows from `draw`; a search
    /// keeps to draw 0.
    ///
    /// # Errors
    /// Whatever the simulation says.
    fn residuals(&self, places: &[Vec<f64>], draw: u64) -> Result<Vec<Vec<f64>>>;
}

/// A place that no step improves.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The parameters.
    pub at: Vec<f64>,
    /// Their residuals.
    pub residuals: Vec<f64>,
    /// Slopes: of each residual by each parameter, as updates have brought them along.
    pub slopes: Vec<Vec<f64>>,
    /// Whether no step was left that improves it; not where the steps ran out.
    pub converged: bool,
}

impl Fit {
    /// Sum of the squares.
    pub fn squares(&self) -> f64 {
        squares(&self.residuals)
    }
}

fn squares(residuals: &[f64]) -> f64 {
    residuals.iter().map(|residual| residual * residual).sum()
}

/// Looks for the least squares from a start, within bounds, in so many steps at most.
///
/// # Errors
/// As of [`Problem::residuals`].
pub fn fit(
    problem: &dyn Problem,
    start: &[f64],
    bounds: &[(f64, f64)],
    steps: usize,
) -> Result<Fit> {
    let (mut at, mut residuals, mut slopes) = with_slopes(problem, start)?;
    let mut fresh = true;
    let mut damping = DAMPING.0;
    let mut converged = false;
    for _ in 0..steps {
        let step = step(&slopes, &residuals, damping);
        let next: Vec<f64> =
            (0..at.len()).map(|i| (at[i] + step[i]).clamp(bounds[i].0, bounds[i].1)).collect();
        let moved: Vec<f64> = (0..at.len()).map(|i| next[i] - at[i]).collect();
        let longest = moved.iter().fold(0.0_f64, |most, by| most.max(by.abs()));
        if longest < STEP_LEAST {
            if fresh {
                converged = true;
                break;
            }
            (at, residuals, slopes) = with_slopes(problem, &at)?;
            fresh = true;
            continue;
        }
        let there = problem.residuals(std::slice::from_ref(&next), 0)?.remove(0);
        update(&mut slopes, &residuals, &there, &moved);
        let (before, after) = (squares(&residuals), squares(&there));
        if after < before {
            let little = before - after < GAIN_LEAST.0 * before + GAIN_LEAST.1;
            if little && fresh {
                converged = true;
                break;
            }
            (at, residuals, fresh) = (next, there, false);
            damping /= 8.0;
        } else if fresh {
            damping *= 8.0;
        } else {
            (at, residuals, slopes) = with_slopes(problem, &at)?;
            fresh = true;
        }
        if damping > DAMPING.1 {
            converged = true;
            break;
        }
    }
    Ok(Fit { at, residuals, slopes, converged })
}

/// A place, its residuals, its slopes.
type Known = (Vec<f64>, Vec<f64>, Vec<Vec<f64>>);

/// Residuals and slopes at a place, by one evaluation more than there are parameters.
fn with_slopes(problem: &dyn Problem, at: &[f64]) -> Result<Known> {
    let moved = (0..at.len()).map(|parameter| {
        let mut place = at.to_vec();
        place[parameter] += DIFFERENCE;
        place
    });
    let places: Vec<Vec<f64>> = std::iter::once(at.to_vec()).chain(moved).collect();
    let mut all = problem.residuals(&places, 0)?;
    let own = all.remove(0);
    let row = |place: usize| {
        all.iter().map(|other: &Vec<f64>| (other[place] - own[place]) / DIFFERENCE).collect()
    };
    let slopes = (0..own.len()).map(row).collect();
    Ok((at.to_vec(), own, slopes))
}

/// What a step has shown of the slopes along it.
fn update(slopes: &mut [Vec<f64>], before: &[f64], after: &[f64], moved: &[f64]) {
    let length = squares(moved);
    if length == 0.0 {
        return;
    }
    for (place, row) in slopes.iter_mut().enumerate() {
        let expected: f64 = row.iter().zip(moved).map(|(slope, by)| slope * by).sum();
        let error = (after[place] - before[place] - expected) / length;
        row.iter_mut().zip(moved).for_each(|(slope, by)| *slope += error * by);
    }
}

/// The step of the linear model, damped; no parameter moves further than [`STEP_MOST`].
fn step(slopes: &[Vec<f64>], residuals: &[f64], damping: f64) -> Vec<f64> {
    let mut normal = products(slopes);
    let count = normal.len();
    let gradient: Vec<f64> = (0..count)
        .map(|i| slopes.iter().zip(residuals).map(|(row, residual)| row[i] * residual).sum())
        .collect();
    let most = (0..count).fold(0.0_f64, |most, i| most.max(normal[i][i]));
    for (i, row) in normal.iter_mut().enumerate() {
        // What has next to no slope does not wander.
        row[i] += damping * row[i] + 1e-9 * most + f64::MIN_POSITIVE;
    }
    let inverse = inverse(normal);
    let step = (0..count).map(|i| -dot(&inverse[i], &gradient));
    let step: Vec<f64> = step.collect();
    let longest = step.iter().fold(0.0_f64, |most, by| most.max(by.abs()));
    let shrink = if longest > STEP_MOST { STEP_MOST / longest } else { 1.0 };
    step.into_iter().map(|by| by * shrink).collect()
}

/// Sum of the products.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Sums of products of columns.
pub fn products(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let count = rows.first().map_or(0, Vec::len);
    let sum = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum();
    (0..count).map(|i| (0..count).map(|j| sum(i, j)).collect()).collect()
}

/// The inverse of a matrix that is symmetric and positive, by Gauss and Jordan's elimination with
/// pivots; what has no inverse gets one that is very large.
pub fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = matrix.len();
    let unit = |i: usize| (0..count).map(move |j| f64::from(u8::from(i == j))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..count).map(unit).collect();
    for column in 0..count {
        let pivot = (column..count)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))
            .unwrap_or(column);
        matrix.swap(column, pivot);
        inverse.swap(column, pivot);
        let divisor = match matrix[column][column] {
            value if value.abs() > 1e-300 => value,
            _ => 1e-300,
        };
        matrix[column].iter_mut().chain(&mut inverse[column]).for_each(|value| *value /= divisor);
        let (own, own_inverse) = (matrix[column].clone(), inverse[column].clone());
        for row in (0..count).filter(|&row| row != column) {
            let factor = matrix[row][column];
            for j in 0..count {
                matrix[row][j] -= factor * own[j];
                inverse[row][j] -= factor * own_inverse[j];
            }
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decays with two rates: residuals against what parameters of 1 and 2 give.
    struct Decays;

    impl Problem for Decays {
        fn residuals(&self, places: &[Vec<f64>], _: u64) -> Result<Vec<Vec<f64>>> {
            let value = |at: &[f64], x: f64| (-at[0] * x).exp() + (at[1] * 0.3 * x).sin();
            let of = |at: &Vec<f64>| {
                let xs = (1..=12).map(|x| f64::from(x) / 4.0);
                xs.map(|x| 50.0 * (value(at, x) - value(&[1.0, 2.0], x))).collect()
            };
            Ok(places.iter().map(of).collect())
        }
    }

    #[test]
    fn a_curved_problem_is_solved_and_steps_that_run_out_are_told() {
        let bounds = [(-9.0, 9.0), (-9.0, 9.0)];
        let found = fit(&Decays, &[0.5, 1.4], &bounds, 16).unwrap();
        assert!((found.at[0] - 1.0).abs() < 2e-3 && (found.at[1] - 2.0).abs() < 2e-3, "{found:?}");
        assert!(found.converged);
        assert!(!fit(&Decays, &[0.5, 1.4], &bounds, 2).unwrap().converged);
    }

    #[test]
    fn an_inverse_undoes_its_matrix() {
        let matrix = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, 0.2], vec![0.5, 0.2, 2.0]];
        let inverse = inverse(matrix.clone());
        for (i, row) in matrix.iter().enumerate() {
            for j in 0..3 {
                let column: Vec<f64> = inverse.iter().map(|row| row[j]).collect();
                assert!((dot(row, &column) - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
