//! The search for a device: topologies by enumeration, the times of each by least squares.
//!
//! Three stages, because simulations are dear and topologies many: a queueing model fits the times
//! of every topology without a simulation; those that come nearest are fitted roughly by brief
//! simulations; the best of these by whole ones, and with them all that brief ones do not tell from
//! the best.

use ftlab_report::calibration::{Figures, Stage, Topology, Tried};

use crate::calibrate::identified::{AsGood, best_of};
use crate::calibrate::jobs::Measured;
use crate::calibrate::observations::{misfit, ratios};
use crate::calibrate::parameters::Parameter;
use crate::calibrate::probe::{Curve, Pattern, Probe};
use crate::calibrate::problems::{ByEstimate, Target};
use crate::calibrate::squares::{self, Fit};
use crate::calibrate::times::{Time, how_it_ended, times};
use crate::calibrate::valleys::valleys;
use crate::calibrate::yardstick::Yardstick;
use crate::error::Result;

/// Topologies that are fitted by brief simulations, beside the base's own.
const SCREENED: usize = 8;
/// Steps of such a fit.
const SCREENED_STEPS: usize = 10;
/// Topologies that are fitted by whole ones, beside those that brief ones do not tell from the
/// best.
const FITTED: usize = 3;
/// One whose brief squares exceed the best by this factor is not among them.
const FITTED_WITHIN: f64 = 3.0;
/// The base's own topology is kept where its misfit exceeds the best one's by no more than this
/// factor and, as simulations differ by their draws, this much.
const KEPT_WITHIN: (f64, f64) = (1.05, 0.002);
/// Steps of a queueing model's fit and of a whole one.
const STEPS: usize = 24;
/// A curve that lies further off than this factor is not fitted beside others: times that bend to
/// what the base lacks would be those of no drive. So does one that comes within it only with a
/// time of cells on the end of where it is looked for, beyond which there are no such cells, while
/// it asks for more: it lies off by [`ASKS_BEYOND`] there, at least, and by this factor where that
/// time is as the fit began.
pub const FITTED_UP_TO: f64 = 2.0;
/// See [`FITTED_UP_TO`].
const ASKS_BEYOND: f64 = 1.3;

/// What is looked for, and by what.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// What is to come out.
    pub target: Target<'a>,
    /// Topologies to choose from, at least one.
    pub topologies: &'a [Topology],
    /// The base's own.
    pub base: Topology,
}

/// What was found.
pub struct Found {
    /// The topology.
    pub topology: Topology,
    /// Everything that was tried, the topology first, then by misfit.
    pub tried: Vec<Tried>,
    /// The times.
    pub times: Vec<Time>,
    /// Of each measured probe the figures of the device that was found.
    pub simulated: Vec<Figures>,
    /// Whether it was fitted; its curve was too far off where it was not.
    pub fitted: Vec<bool>,
    /// What a reader must know of how the fit ended.
    pub notes: Vec<String>,
}

/// A topology on its way.
#[derive(Clone)]
struct Candidate {
    topology: Topology,
    stage: Stage,
    misfit: f64,
    fit: Fit,
}

impl<'a> Search<'a> {
    /// Searches. Curves that lie too far off at the best of what was screened are left out, the
    /// farthest first, as long as another remains; what whole simulations say of them counts, and
    /// topologies are compared anew where that is not the same.
    ///
    /// # Errors
    /// A device that does not bear a probe, and [`crate::Error::Cancelled`].
    pub fn run(&self) -> Result<Found> {
        let (parameters, all) = (self.parameters(), self.target.measured);
        let (mut near, mut candidates) = self.near(&parameters)?;
        let mut is_first = true;
        loop {
            let search = self.of(&near);
            let fitted = search.fit(&mut candidates, &parameters)?;
            let (chosen, alike) = search.choose(&candidates[..fitted], &parameters);
            let best = &candidates[chosen];
            // What whole simulations have judged is not judged the other way again.
            let mut left = match is_first {
                true => search.settle(best, &parameters, all)?,
                false => search.without_far(best, &parameters)?,
            };
            if self.of(&left).target.curves() == search.target.curves() {
                let (topology, fit) = (best.topology, best.fit.clone());
                let found = valleys(search.target, topology, &parameters, fit, STEPS)?;
                // A deeper valley may lie farther from a curve than that in which it was judged,
                // and one as deep on an end.
                let end = Candidate { fit: found.fits[0].fit.clone(), ..best.clone() };
                let (_, bounds) = search.target.start(&parameters);
                let held = found.holding_ends(&bounds);
                let ended: Vec<usize> =
                    (0..parameters.len()).filter(|place| held.is_at_end(*place)).collect();
                let Some(curve) = search.too_far(&end, &parameters, &ended)? else {
                    let tried = tried(&candidates, chosen, &alike);
                    return self.told(&near, tried, topology, &parameters, &found);
                };
                left.retain(|one| one.probe.curve() != curve);
            }
            (near, is_first) = (left, false);
            candidates = self.of(&near).screened(&parameters)?;
        }
    }

    /// The probes of curves that brief simulations do not miss by too much, and what was screened
    /// by these.
    fn near(&self, parameters: &[Parameter]) -> Result<(Vec<Measured>, Vec<Candidate>)> {
        let mut near = self.target.measured.to_vec();
        loop {
            let search = self.of(&near);
            let candidates = search.screened(parameters)?;
            let Some(curve) = search.brief().too_far(&candidates[0], parameters, &[])? else {
                return Ok((near, candidates));
            };
            near.retain(|one| one.probe.curve() != curve);
        }
    }

    /// The same of other probes.
    fn of<'b>(&'b self, measured: &'b [Measured]) -> Search<'b> {
        Search { target: Target { measured, ..self.target }, ..*self }
    }

    /// The same by brief simulations.
    fn brief(&self) -> Self {
        let effort = self.target.effort.brief();
        Search { target: Target { effort, ..self.target }, ..*self }
    }

    /// The curve that a candidate misses by most, where that is too far and it is not the only one;
    /// times at these places came to an end in a fit that is as good.
    fn too_far(
        &self,
        best: &Candidate,
        parameters: &[Parameter],
        ended: &[usize],
    ) -> Result<Option<Curve>> {
        let curves = self.curves(best, parameters, ended)?;
        let worst = curves.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let worst = worst.filter(|(_, off)| curves.len() > 1 && *off > FITTED_UP_TO.ln());
        Ok(worst.map(|(curve, _)| *curve))
    }

    /// By how much a candidate misses each curve; one that asks for more than the end of a time of
    /// cells by how much it is missed without that.
    fn curves(
        &self,
        best: &Candidate,
        parameters: &[Parameter],
        beside: &[usize],
    ) -> Result<Vec<(Curve, f64)>> {
        let here = self.off(best.topology, parameters, &best.fit.at)?;
        let (start, bounds) = self.target.start(parameters);
        let is_at_end = |place: &usize| {
            let (at, (low, high)) = (best.fit.at[*place], bounds[*place]);
            let is_near = f64::min(at - low, high - at) < squares::DIFFERENCE;
            parameters[*place].is_of_cells() && (is_near || beside.contains(place))
        };
        let ended: Vec<usize> = (0..parameters.len()).filter(is_at_end).collect();
        if ended.is_empty() || here.iter().all(|(_, off)| *off <= ASKS_BEYOND.ln()) {
            return Ok(here);
        }
        let mut inside = best.fit.at.clone();
        ended.into_iter().for_each(|place| inside[place] = start[place]);
        let there = self.off(best.topology, parameters, &inside)?;
        let judged = |((curve, here), (_, there)): ((Curve, f64), (Curve, f64))| {
            (curve, if here > ASKS_BEYOND.ln() { f64::max(here, there) } else { here })
        };
        Ok(here.into_iter().zip(there).map(judged).collect())
    }

    /// By how much a device misses each curve.
    fn off(
        &self,
        topology: Topology,
        parameters: &[Parameter],
        at: &[f64],
    ) -> Result<Vec<(Curve, f64)>> {
        let Target { simulator, measured, .. } = self.target;
        let problem = self.target.by_simulation(topology, parameters);
        let figures = simulator.figures(&[problem.point(at)])?.remove(0);
        let off = |curve: Curve| {
            let own = measured.iter().zip(&figures);
            let own = own.filter(|(one, _)| one.probe.curve() == curve);
            misfit(
                own.flat_map(|(one, figures)| ratios(&one.fitted(), figures)).map(|(log, _)| log),
            )
        };
        Ok(self.target.curves().into_iter().map(|curve| (curve, off(curve))).collect())
    }

    /// What brief simulations said of curves, judged anew by whole ones: those that are too far off
    /// are left out, the farthest first, and those that are not are fitted with the others.
    fn settle(
        &self,
        best: &Candidate,
        parameters: &[Parameter],
        all: &[Measured],
    ) -> Result<Vec<Measured>> {
        let whole = self.of(all);
        let mut near = self.target.curves();
        let of = |near: &[Curve]| -> Vec<Measured> {
            all.iter().filter(|one| near.contains(&one.probe.curve())).cloned().collect()
        };
        let mut dropped: Vec<Curve> = Vec::new();
        let mut candidate = best.clone();
        loop {
            let curves = whole.curves(&candidate, parameters, &[])?;
            let is_far = |off: f64| off > FITTED_UP_TO.ln();
            let own = curves.iter().filter(|(curve, _)| near.contains(curve));
            let farthest = own.max_by(|a, b| a.1.total_cmp(&b.1)).copied();
            let beside = curves.iter().find(|(curve, off)| {
                !near.contains(curve) && !dropped.contains(curve) && !is_far(*off)
            });
            match (farthest, beside) {
                (Some((curve, off)), _) if is_far(off) && near.len() > 1 => {
                    near.retain(|one| *one != curve);
                    dropped.push(curve);
                }
                (_, Some((curve, _))) => near.push(*curve),
                _ => return Ok(of(&near)),
            }
            candidate.fit = self.of(&of(&near)).again(&candidate, parameters)?;
        }
    }

    /// The probes but for those of the curve that a candidate misses by too much.
    fn without_far(&self, best: &Candidate, parameters: &[Parameter]) -> Result<Vec<Measured>> {
        let mut near = self.target.measured.to_vec();
        if let Some(curve) = self.too_far(best, parameters, &[])? {
            near.retain(|one| one.probe.curve() != curve);
        }
        Ok(near)
    }

    /// A candidate's fit by whole simulations of these probes.
    fn again(&self, candidate: &Candidate, parameters: &[Parameter]) -> Result<Fit> {
        let (_, bounds) = self.target.start(parameters);
        let problem = self.target.by_simulation(candidate.topology, parameters);
        squares::fit(&problem, &candidate.fit.at, &bounds, STEPS)
    }

    /// What was found by these probes, told of all.
    fn told(
        &self,
        near: &[Measured],
        tried: Vec<Tried>,
        topology: Topology,
        parameters: &[Parameter],
        found: &AsGood,
    ) -> Result<Found> {
        let Target { simulator, measured, .. } = self.target;
        let target = self.of(near).target;
        let writes = measured.iter().any(|one| one.probe.pattern.writes());
        let times = times(target, writes, topology, parameters, found)?;
        let notes: Vec<String> = how_it_ended(found).into_iter().collect();
        let config = simulator.config();
        let other = times.iter().filter(|one| one.value != one.parameter.base(config));
        let other = other.map(|one| (one.parameter, one.value)).collect();
        let point = self.target.by_simulation(topology, parameters).point_with(other);
        let simulated = simulator.figures(&[point])?.remove(0);
        let curves = target.curves();
        let fitted = measured.iter().map(|one| curves.contains(&one.probe.curve())).collect();
        Ok(Found { topology, tried, times, simulated, fitted, notes })
    }

    /// The parameters that some probe concerns.
    fn parameters(&self) -> Vec<Parameter> {
        let writes = self.target.measured.iter().any(|one| one.probe.pattern.writes());
        Parameter::ALL.into_iter().filter(|parameter| parameter.concerns(writes)).collect()
    }

    /// All topologies, those that were fitted by brief simulations first, the best at the front.
    fn screened(&self, parameters: &[Parameter]) -> Result<Vec<Candidate>> {
        let mut candidates = self.estimated(parameters)?;
        self.screen(&mut candidates, parameters)?;
        Ok(candidates)
    }

    /// All topologies by the queueing model, the nearest first.
    fn estimated(&self, parameters: &[Parameter]) -> Result<Vec<Candidate>> {
        let (start, bounds) = self.target.start(parameters);
        let one = |&topology: &Topology| {
            let problem = ByEstimate { target: self.target, topology, parameters };
            let fit = squares::fit(&problem, &start, &bounds, STEPS)?;
            let misfit = misfit(fit.residuals.iter().copied());
            Ok(Candidate { topology, stage: Stage::NotCompared, misfit, fit })
        };
        let mut all = self.topologies.iter().map(one).collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| {
            (a.misfit, a.topology).partial_cmp(&(b.misfit, b.topology)).expect("finite")
        });
        Ok(all)
    }

    /// Fits the nearest, and the base's own, by brief simulations; they come first then.
    fn screen(&self, candidates: &mut [Candidate], parameters: &[Parameter]) -> Result<()> {
        let target = self.brief().target;
        let (start, bounds) = target.start(parameters);
        let few = self.few();
        let mut screened = 0;
        for place in 0..candidates.len() {
            let topology = candidates[place].topology;
            if place >= SCREENED && topology != self.base {
                continue;
            }
            let problem = target.by_simulation(topology, parameters).keeping(&few);
            // There are several valleys: what one station bounds another may bound, too.
            let starts = [&candidates[place].fit.at, &start];
            let fit = best_of(&problem, starts, &bounds, SCREENED_STEPS)?;
            let misfit = problem.misfit(&fit);
            candidates[place] = Candidate { topology, stage: Stage::Screened, misfit, fit };
            candidates[screened..=place].rotate_right(1);
            screened += 1;
        }
        candidates[..screened].sort_by(|a, b| a.fit.squares().total_cmp(&b.fit.squares()));
        Ok(())
    }

    /// Which probes a brief fit looks at: of random writes, which are dear, the least and the
    /// greatest depth of each size; all others.
    fn few(&self) -> impl Fn(Probe) -> bool + 'a {
        let measured = self.target.measured;
        move |probe| {
            let like = measured.iter().map(|one| one.probe);
            let like = like.filter(|one| one.curve() == probe.curve());
            let depths: Vec<u32> = like.map(|one| one.depth).collect();
            let ends = [depths.iter().min(), depths.iter().max()];
            probe.pattern != Pattern::RandWrite || ends.contains(&Some(&probe.depth))
        }
    }

    /// Fits the best by whole simulations, and says how many these are; they come first then, the
    /// best of them at the front.
    fn fit(&self, candidates: &mut [Candidate], parameters: &[Parameter]) -> Result<usize> {
        let (_, bounds) = self.target.start(parameters);
        let first = &candidates[0];
        let best = first.fit.squares();
        let brief = self.brief().target.by_simulation(first.topology, parameters);
        let yardstick = Yardstick::of(&first.fit, &brief.keeping(self.few()).kin());
        let near = |(place, one): &(usize, &Candidate)| {
            let squares = one.fit.squares();
            let near = *place < FITTED && squares <= (FITTED_WITHIN * best).max(best + 50.0);
            one.stage == Stage::Screened && (near || yardstick.bears(&one.fit.residuals))
        };
        let near: Vec<Topology> =
            candidates.iter().enumerate().filter(near).map(|(_, one)| one.topology).collect();
        let count = near.len().max(1);
        // One that is not near may stand before another that is.
        candidates.sort_by_key(|one| !near.contains(&one.topology));
        for candidate in &mut candidates[..count] {
            let topology = candidate.topology;
            let problem = self.target.by_simulation(topology, parameters);
            let mut fit = squares::fit(&problem, &candidate.fit.at, &bounds, STEPS)?;
            if !fit.converged {
                fit = squares::fit(&problem, &fit.at, &bounds, STEPS)?;
            }
            let misfit = problem.misfit(&fit);
            *candidate = Candidate { topology, stage: Stage::Fitted, misfit, fit };
        }
        candidates[..count].sort_by(|a, b| a.fit.squares().total_cmp(&b.fit.squares()));
        Ok(count)
    }

    /// The place of the one that is chosen of those that were fitted, the best first; and those
    /// that the probes do not tell from the best.
    fn choose(&self, fitted: &[Candidate], parameters: &[Parameter]) -> (usize, Vec<Topology>) {
        let best = &fitted[0];
        let kin = self.target.by_simulation(best.topology, parameters).kin();
        let yardstick = Yardstick::of(&best.fit, &kin);
        let is_alike = |one: &Candidate| yardstick.bears(&one.fit.residuals);
        let alike: Vec<Topology> =
            fitted.iter().filter(|one| is_alike(one)).map(|one| one.topology).collect();
        let misfits: Vec<f64> = fitted.iter().map(|one| one.misfit).collect();
        let own = fitted.iter().position(|one| one.topology == self.base && is_alike(one));
        (chosen(&misfits, own), alike)
    }
}

/// The place of the base's own topology, where it is not told from the best, which comes first, and
/// lies no further off; else that of the best. Few probes tell nothing apart, and that is no reason
/// to write down a device that misses them.
fn chosen(misfits: &[f64], own: Option<usize>) -> usize {
    own.filter(|own| misfits[*own] <= misfits[0] * KEPT_WITHIN.0 + KEPT_WITHIN.1).unwrap_or(0)
}

/// What was tried, the chosen one first. Nothing that was still getting better is said to be worse.
fn tried(candidates: &[Candidate], chosen: usize, alike: &[Topology]) -> Vec<Tried> {
    let one = |(place, candidate): (usize, &Candidate)| {
        let Candidate { topology, misfit, .. } = *candidate;
        let alike = alike.contains(&topology);
        let is_open = !candidate.fit.converged && candidate.stage != Stage::NotCompared;
        let ran_out = is_open && !alike && place != chosen;
        let stage = if ran_out { Stage::RanOut } else { candidate.stage };
        Tried { topology, stage, misfit, alike }
    };
    let mut all: Vec<Tried> = candidates.iter().enumerate().map(one).collect();
    let first = all.remove(chosen);
    all.sort_by(|a, b| (a.stage, a.misfit).partial_cmp(&(b.stage, b.misfit)).expect("finite"));
    all.insert(0, first);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six figures of a published drive: nothing was told apart, and the base's own, at a misfit of
    /// 42 %, was chosen before one of 24 %.
    #[test]
    fn the_bases_own_topology_is_kept_only_where_it_fits_as_well_as_the_best() {
        assert_eq!(chosen(&[0.24, 0.30, 0.42], Some(2)), 0);
        assert_eq!(chosen(&[0.24, 0.30, 0.251], Some(2)), 2);
        assert_eq!(chosen(&[0.0004, 0.0011], Some(1)), 1);
        assert_eq!(chosen(&[0.24, 0.2401], None), 0);
    }

    #[test]
    fn what_was_still_getting_better_is_not_said_to_be_worse() {
        let one = |channels: u32, stage, misfit, converged| {
            let topology = Topology { channels, dies: 1, planes: 1 };
            let (at, residuals, slopes, held) = (vec![], vec![], vec![], vec![]);
            Candidate {
                topology,
                stage,
                misfit,
                fit: Fit { at, residuals, slopes, held, converged },
            }
        };
        let all = [
            one(1, Stage::Fitted, 0.1, false),
            one(2, Stage::Fitted, 0.2, false),
            one(3, Stage::Fitted, 0.3, false),
            one(4, Stage::Fitted, 0.4, true),
            one(5, Stage::Screened, 0.2, false),
            one(6, Stage::Screened, 0.3, true),
            one(7, Stage::NotCompared, 0.1, false),
        ];
        let alike = [all[0].topology, all[1].topology];
        let told = tried(&all, 0, &alike);
        let stages: Vec<(u32, Stage)> =
            told.iter().map(|one| (one.topology.channels, one.stage)).collect();
        let expected = [
            (1, Stage::Fitted),
            (2, Stage::Fitted),
            (4, Stage::Fitted),
            (6, Stage::Screened),
            (5, Stage::RanOut),
            (3, Stage::RanOut),
            (7, Stage::NotCompared),
        ];
        assert_eq!(stages, expected);
    }
}
