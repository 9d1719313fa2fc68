//! Nonlinear least squares in few evaluations.
//!
//! Levenberg (1944) and Marquardt (1963), with slopes by differences at the start and Broyden's
//! (1965) rank-one updates behind it, because an evaluation is a set of simulations. Steps are
//! those of the linear model within the bounds, by an active set: what would go beyond its end is
//! held there, the others go to where they are best then, and it comes back when its slope turns.
//!
//! They are our own: evaluations are simulations, so that slopes are updated, not taken anew, and
//! crates for it bring matrices and take slopes at every step.

use crate::error::Result;

/// A step that changes every parameter by less ends the search.
const STEP_LEAST: f64 = 4e-4;
/// A step that takes no more off the squares than this share, or this much of one expected error's
/// square, ends the search, too, where slopes are fresh.
const GAIN_LEAST: (f64, f64) = (1e-4, 1e-4);
/// Longest step of a parameter.
const STEP_MOST: f64 = 0.7;
/// How far a parameter is moved for its slope.
pub const DIFFERENCE: f64 = 0.04;
/// Damping at the start, and after how much of it no step is looked for.
const DAMPING: (f64, f64) = (1e-3, 1e6);
/// A little gain says that there is no more only where no more than this damped the step.
const DAMPED_LITTLE: f64 = 0.1;
/// Of the slope of the linear model this much, of what it was before the step, is rounding.
const ROUNDING: f64 = 1e-9;

/// What is to be made small: residuals of parameters, each in units of its expected error.
pub trait Problem {
    /// The residuals at each of these places. Whatever is drawn by lot follows from `draw`; a
    /// search keeps to draw 0.
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
    /// Which parameters are held on an end, beyond which the squares would be less; empty where
    /// none is.
    pub held: Vec<bool>,
    /// Whether no step within the bounds was left that improves it; not where the steps ran out.
    pub converged: bool,
}

impl Fit {
    /// Whether a parameter is held on an end.
    pub fn is_held(&self, place: usize) -> bool {
        self.held.get(place).is_some_and(|held| *held)
    }

    /// Slopes of those that are held on no end alone.
    pub fn free_slopes(&self) -> Vec<Vec<f64>> {
        let free = |row: &Vec<f64>| {
            let own = row.iter().enumerate().filter(|(place, _)| !self.is_held(*place));
            own.map(|(_, slope)| *slope).collect()
        };
        self.slopes.iter().map(free).collect()
    }

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
    let (mut at, mut residuals, mut slopes) = with_slopes(problem, start, bounds)?;
    let mut fresh = true;
    let mut damping = DAMPING.0;
    let mut converged = false;
    // Whether a step that damping alone made short was tried without, since one was taken.
    let mut eased = false;
    for _ in 0..steps {
        let room = room(&at, bounds);
        let step = step(&slopes, &residuals, damping, &room);
        let next: Vec<f64> =
            (0..at.len()).map(|i| (at[i] + step[i]).clamp(bounds[i].0, bounds[i].1)).collect();
        let moved: Vec<f64> = (0..at.len()).map(|i| next[i] - at[i]).collect();
        let longest = moved.iter().fold(0.0_f64, |most, by| most.max(by.abs()));
        if longest < STEP_LEAST {
            if fresh && (eased || damping <= DAMPED_LITTLE) {
                converged = true;
                break;
            }
            if fresh {
                (damping, eased) = (DAMPING.0, true);
                continue;
            }
            (at, residuals, slopes) = with_slopes(problem, &at, bounds)?;
            fresh = true;
            continue;
        }
        let there = problem.residuals(std::slice::from_ref(&next), 0)?.remove(0);
        update(&mut slopes, &residuals, &there, &moved);
        let (before, after) = (squares(&residuals), squares(&there));
        if after < before {
            let little = before - after < GAIN_LEAST.0 * before + GAIN_LEAST.1;
            if little && fresh && damping <= DAMPED_LITTLE {
                converged = true;
                break;
            }
            (at, residuals, fresh, eased) = (next, there, false, false);
            damping /= 8.0;
        } else if fresh {
            damping *= 8.0;
        } else {
            (at, residuals, slopes) = with_slopes(problem, &at, bounds)?;
            fresh = true;
        }
        if damping > DAMPING.1 {
            converged = true;
            break;
        }
    }
    let gradient = gradient(&slopes, &residuals);
    let room = room(&at, bounds);
    let held = (0..at.len()).map(|i| points_out(gradient[i], 0.0, room[i])).collect();
    Ok(Fit { at, residuals, slopes, held, converged })
}

/// A place, its residuals, its slopes.
type Known = (Vec<f64>, Vec<f64>, Vec<Vec<f64>>);

/// Residuals and slopes at a place, by one evaluation more than there are parameters; none of them
/// beyond the upper end.
fn with_slopes(problem: &dyn Problem, at: &[f64], bounds: &[(f64, f64)]) -> Result<Known> {
    let by = |parameter: usize| {
        let room = bounds[parameter].1 - at[parameter];
        if room < DIFFERENCE { -DIFFERENCE } else { DIFFERENCE }
    };
    let moved = (0..at.len()).map(|parameter| {
        let mut place = at.to_vec();
        place[parameter] += by(parameter);
        place
    });
    let places: Vec<Vec<f64>> = std::iter::once(at.to_vec()).chain(moved).collect();
    let mut all = problem.residuals(&places, 0)?;
    let own = all.remove(0);
    let row = |place: usize| {
        let slope =
            |(parameter, other): (usize, &Vec<f64>)| (other[place] - own[place]) / by(parameter);
        all.iter().enumerate().map(slope).collect()
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

/// How far each parameter may go to either side.
fn room(at: &[f64], bounds: &[(f64, f64)]) -> Vec<(f64, f64)> {
    at.iter().zip(bounds).map(|(at, (low, high))| (low - at, high - at)).collect()
}

/// Half of the slopes of the squares.
fn gradient(slopes: &[Vec<f64>], residuals: &[f64]) -> Vec<f64> {
    let count = slopes.first().map_or(0, Vec::len);
    let one =
        |i: usize| slopes.iter().zip(residuals).map(|(row, residual)| row[i] * residual).sum();
    (0..count).map(one).collect()
}

/// The step of the linear model within the bounds, damped; no parameter moves further than
/// [`STEP_MOST`].
fn step(slopes: &[Vec<f64>], residuals: &[f64], damping: f64, room: &[(f64, f64)]) -> Vec<f64> {
    let mut normal = products(slopes);
    let count = normal.len();
    let gradient = gradient(slopes, residuals);
    let most = (0..count).fold(0.0_f64, |most, i| most.max(normal[i][i]));
    for (i, row) in normal.iter_mut().enumerate() {
        // What has next to no slope does not wander.
        row[i] += damping * row[i] + 1e-9 * most + f64::MIN_POSITIVE;
    }
    let here = vec![0.0; count];
    let held: Vec<bool> = (0..count).map(|i| points_out(gradient[i], 0.0, room[i])).collect();
    let step = freely(&normal, &gradient, &here, &held);
    let longest = step.iter().fold(0.0_f64, |most, by| most.max(by.abs()));
    let shrink = if longest > STEP_MOST { STEP_MOST / longest } else { 1.0 };
    let step: Vec<f64> = step.into_iter().map(|by| by * shrink).collect();
    // An end that no step comes to yet decides nothing.
    match step.iter().zip(room).all(|(by, (low, high))| low <= by && by <= high) {
        true => step,
        false => within(&normal, &gradient, &nearby(room)),
    }
}

/// The part of the room that a step may use.
fn nearby(room: &[(f64, f64)]) -> Vec<(f64, f64)> {
    room.iter().map(|(low, high)| (low.max(-STEP_MOST), high.min(STEP_MOST))).collect()
}

/// Whether a parameter that went so far lies on an end, and its slope asks for more.
fn points_out(slope: f64, step: f64, (low, high): (f64, f64)) -> bool {
    (step <= low && slope > 0.0) || (step >= high && slope < 0.0)
}

/// The least of a square form within its bounds, by an active set: parameters are held where they
/// meet an end, and let go, the one that asks for most first, where the slope points away from it.
fn within(normal: &[Vec<f64>], gradient: &[f64], room: &[(f64, f64)]) -> Vec<f64> {
    let count = gradient.len();
    let mut step = vec![0.0; count];
    let mut held: Vec<bool> =
        (0..count).map(|i| points_out(gradient[i], step[i], room[i])).collect();
    // Each round holds one more or ends with less; the limit is against rounding alone.
    for _ in 0..8 * (count + 1) {
        let wanted = freely(normal, gradient, &step, &held);
        let share = |i: usize| match wanted[i] - step[i] {
            by if by < 0.0 && wanted[i] < room[i].0 => ((room[i].0 - step[i]) / by).max(0.0),
            by if by > 0.0 && wanted[i] > room[i].1 => ((room[i].1 - step[i]) / by).max(0.0),
            _ => 1.0,
        };
        let free = (0..count).filter(|i| !held[*i]);
        let first = free.map(|i| (share(i), i)).min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((share, first)) = first.filter(|(share, _)| *share < 1.0) else {
            step = wanted;
            let slope = |i: usize| gradient[i] + dot(&normal[i], &step);
            let asks = |i: &usize| {
                let real = slope(*i).abs() > ROUNDING * gradient[*i].abs();
                held[*i] && real && !points_out(slope(*i), step[*i], room[*i])
            };
            let gain = |i: &usize| slope(*i).powi(2) / normal[*i][*i];
            let most = (0..count).filter(asks).max_by(|a, b| gain(a).total_cmp(&gain(b)));
            let Some(most) = most else { break };
            held[most] = false;
            continue;
        };
        for i in (0..count).filter(|i| !held[*i]) {
            step[i] += share * (wanted[i] - step[i]);
        }
        step[first] = if wanted[first] < step[first] { room[first].0 } else { room[first].1 };
        held[first] = true;
    }
    step
}

/// Where the square form is least while some parameters stay where they are.
fn freely(normal: &[Vec<f64>], gradient: &[f64], step: &[f64], held: &[bool]) -> Vec<f64> {
    let (fixed, free): (Vec<usize>, Vec<usize>) = (0..step.len()).partition(|i| held[*i]);
    let own = |i: usize| free.iter().map(|j| normal[i][*j]).collect();
    let inverse = inverse(free.iter().map(|i| own(*i)).collect());
    let pull =
        |i: &usize| gradient[*i] + fixed.iter().map(|j| normal[*i][*j] * step[*j]).sum::<f64>();
    let pulls: Vec<f64> = free.iter().map(pull).collect();
    let mut wanted = step.to_vec();
    free.iter().zip(&inverse).for_each(|(i, row)| wanted[*i] = -dot(row, &pulls));
    wanted
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

    /// Residuals that are straight: slopes, and what they are at nought.
    struct Straight(Vec<Vec<f64>>, Vec<f64>);

    impl Problem for Straight {
        fn residuals(&self, places: &[Vec<f64>], _: u64) -> Result<Vec<Vec<f64>>> {
            let of = |at: &Vec<f64>| {
                self.0.iter().zip(&self.1).map(|(row, there)| dot(row, at) + there).collect()
            };
            Ok(places.iter().map(of).collect())
        }
    }

    /// The others stopped where the step of all together would have had them, had the first gone on
    /// beyond its end: at (-1, 0), squares 10000, of which the least within the bounds are 5000.
    #[test]
    fn beside_a_parameter_on_its_end_the_others_go_to_where_they_are_best() {
        let straight = Straight(vec![vec![50.0, 50.0], vec![0.0, 50.0]], vec![150.0, 0.0]);
        let found = fit(&straight, &[0.0, 0.0], &[(-1.0, 1.0), (-9.0, 9.0)], 24).unwrap();
        assert!(found.converged && (found.at[1] + 1.0).abs() < 1e-3, "{found:?}");
        assert_eq!((found.at[0], found.held.clone()), (-1.0, vec![true, false]));
        assert!((found.squares() - 5000.0).abs() < 1.0, "{}", found.squares());
        assert_eq!(found.free_slopes()[0].len(), 1);
    }

    /// Random numbers from -1 to 1.
    fn lots(mut state: u64) -> impl FnMut() -> f64 {
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            2.0 * (((state >> 11) as f64) / (1_u64 << 53) as f64) - 1.0
        }
    }

    /// The least squares within the bounds, by one parameter after the other until nothing moves.
    fn one_by_one(Straight(rows, there): &Straight, bounds: &[(f64, f64)]) -> f64 {
        let mut at = vec![0.0; bounds.len()];
        let residuals = |at: &[f64]| -> Vec<f64> {
            rows.iter().zip(there).map(|(row, there)| dot(row, at) + there).collect()
        };
        for _ in 0..20_000 {
            let before = at.clone();
            for i in 0..at.len() {
                let column: Vec<f64> = rows.iter().map(|row| row[i]).collect();
                let by = -dot(&column, &residuals(&at)) / squares(&column);
                at[i] = (at[i] + by).clamp(bounds[i].0, bounds[i].1);
            }
            if at.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-12) {
                break;
            }
        }
        squares(&residuals(&at))
    }

    /// Three parameters of much the same influence, of which the least squares lie beyond the ends
    /// of one or more as a rule; started in a corner, so that some must come back from an end.
    #[test]
    fn bounded_straight_problems_end_at_their_least_squares() {
        let mut ended = 0;
        for seed in 0..200 {
            let mut lot = lots(seed);
            let mut row = || {
                let like = 40.0 * lot();
                vec![like + 10.0 * lot(), like + 10.0 * lot(), like + 10.0 * lot()]
            };
            let rows: Vec<Vec<f64>> = (0..8).map(|_| row()).collect();
            let planted = [3.0 * lot(), 3.0 * lot(), 3.0 * lot()];
            let there = rows.iter().map(|row| 2.0 * lot() - dot(row, &planted)).collect();
            let straight = Straight(rows, there);
            let bounds = [(-1.0, 1.0), (-2.0, 1.5), (-1.5, 2.0)];
            let found = fit(&straight, &[1.0, -2.0, 2.0], &bounds, 64).unwrap();
            let least = one_by_one(&straight, &bounds);
            assert!(found.converged, "{seed}: {found:?}");
            assert!(found.squares() < 1.002 * least + 0.01, "{seed}: {} {least}", found.squares());
            ended += usize::from(found.held.contains(&true));
        }
        assert!((100..200).contains(&ended), "{ended}");
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
