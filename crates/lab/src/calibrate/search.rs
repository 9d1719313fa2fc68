//! The search for a device: topologies by enumeration, the times of each by least squares.
//!
//! Three stages, because simulations are dear and topologies many: a queueing model fits the times
//! of every topology without a simulation; those that come nearest are fitted roughly by brief
//! simulations; the best of these by whole ones.

use ftlab_report::calibration::{Figures, Stage, Topology, Tried};

use crate::calibrate::coarse;
use crate::calibrate::identified::{AsGood, best_of, told, unexplained};
use crate::calibrate::jobs::Measured;
use crate::calibrate::observations::{misfit, ratios, residuals};
use crate::calibrate::parameters::Parameter;
use crate::calibrate::probe::{Curve, Pattern, Probe};
use crate::calibrate::scale::in_topology;
use crate::calibrate::simulate::{Effort, Point, Simulator};
use crate::calibrate::squares::{self, Fit, Problem};
use crate::error::Result;

/// Topologies that are fitted by brief simulations, beside the base's own.
const SCREENED: usize = 8;
/// Steps of such a fit.
const SCREENED_STEPS: usize = 10;
/// Topologies that are fitted by whole ones, at most.
const FITTED: usize = 3;
/// One whose brief squares exceed the best by this factor is not fitted further.
const FITTED_WITHIN: f64 = 3.0;
/// Steps of a queueing model's fit and of a whole one.
const STEPS: usize = 24;
/// Chi-square of two degrees of freedom at 95 %: by so much must squares exceed the best, in units of
/// what is left unexplained, that a topology is told from it.
const TOLD_APART: f64 = 5.99;
/// A curve that lies further off than this factor is not fitted beside others: times that bend to what
/// the base lacks would be those of no drive.
pub const FITTED_UP_TO: f64 = 2.0;

/// What is looked for, and by what.
pub struct Search<'a> {
    /// Simulates devices.
    pub simulator: &'a Simulator<'a>,
    /// What is to come out.
    pub measured: &'a [Measured],
    /// Topologies to choose from, at least one.
    pub topologies: &'a [Topology],
    /// The base's own.
    pub base: Topology,
    /// How long probes are simulated.
    pub effort: Effort,
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
}

/// A time that was looked for.
#[derive(Clone, Debug)]
pub struct Time {
    /// Which.
    pub parameter: Parameter,
    /// Its value in the best fit; the base's where no probe depends on it.
    pub value: f64,
    /// Its interval, or why there is none.
    pub interval: std::result::Result<[f64; 2], String>,
}

/// Fitting one topology by simulations.
struct BySimulation<'a> {
    search: &'a Search<'a>,
    topology: Topology,
    parameters: &'a [Parameter],
    /// Others that are held.
    held: Vec<(Parameter, f64)>,
    effort: Effort,
    /// Which of the measured.
    places: Vec<usize>,
}

impl Problem for BySimulation<'_> {
    fn residuals(&self, places: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let points: Vec<Point> = places.iter().map(|place| self.point(place)).collect();
        let all = self.search.simulator.figures(&points)?;
        let of = |figures: Vec<Figures>| {
            let pairs = self.places.iter().zip(&figures);
            pairs
                .flat_map(|(place, own)| residuals(&self.search.measured[*place].figures, own))
                .collect()
        };
        Ok(all.into_iter().map(of).collect())
    }
}

impl BySimulation<'_> {
    fn point(&self, place: &[f64]) -> Point {
        let probes = self.places.iter().map(|place| self.search.measured[*place].probe);
        let own = self.parameters.iter().copied().zip(place.iter().map(|log| log.exp()));
        Point {
            topology: self.topology,
            times: own.chain(self.held.iter().copied()).collect(),
            probes: probes.collect(),
            effort: self.effort,
        }
    }
}

/// Fitting one topology by the queueing model: means and rates alone.
struct ByEstimate<'a> {
    search: &'a Search<'a>,
    topology: Topology,
    parameters: &'a [Parameter],
}

impl ByEstimate<'_> {
    fn ratios(&self, place: &[f64]) -> Vec<f64> {
        let base = self.search.simulator.config();
        let config = in_topology(base, self.topology);
        let value = |parameter: Parameter| {
            let known = self.parameters.iter().zip(place).find(|(known, _)| **known == parameter);
            known.map_or_else(|| parameter.base(base), |(_, log)| log.exp())
        };
        let measured = self.search.measured.iter();
        let both = |one: &Measured| {
            let (mean, rate) = coarse::estimate(&config, value, one.probe);
            [(mean / one.figures.mean_ns).ln(), (rate / one.figures.iops).ln()]
        };
        measured.flat_map(both).collect()
    }
}

impl Problem for ByEstimate<'_> {
    fn residuals(&self, places: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        Ok(places.iter().map(|place| self.ratios(place)).collect())
    }
}

/// A topology on its way.
#[derive(Clone)]
struct Candidate {
    topology: Topology,
    stage: Stage,
    misfit: f64,
    fit: Fit,
}

impl Search<'_> {
    /// Searches. Curves that lie too far off at the best of what was screened are left out, the
    /// farthest first, as long as another remains.
    ///
    /// # Errors
    /// A device that does not bear a probe, and [`crate::Error::Cancelled`].
    pub fn run(&self) -> Result<Found> {
        let parameters = self.parameters();
        let mut near = self.measured.to_vec();
        loop {
            let search = Search { measured: &near, ..*self };
            let mut candidates = search.estimated(&parameters)?;
            search.screen(&mut candidates, &parameters)?;
            let Some(curve) = search.farthest(&candidates[0], &parameters)? else {
                return search.finish(candidates, parameters, self.measured);
            };
            near.retain(|one| one.probe.curve() != curve);
        }
    }

    /// The curve that a candidate misses by most, where that is too far and it is not the only one.
    fn farthest(&self, best: &Candidate, parameters: &[Parameter]) -> Result<Option<Curve>> {
        let brief = Search { effort: self.effort.brief(), ..*self };
        let curves = brief.curves(best, parameters)?;
        let worst = curves.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let worst = worst.filter(|(_, off)| curves.len() > 1 && *off > FITTED_UP_TO.ln());
        Ok(worst.map(|(curve, _)| *curve))
    }

    /// By how much a candidate misses each curve.
    fn curves(&self, best: &Candidate, parameters: &[Parameter]) -> Result<Vec<(Curve, f64)>> {
        let problem = self.by_simulation(best.topology, parameters, self.effort, |_| true);
        let figures = self.simulator.figures(&[problem.point(&best.fit.at)])?.remove(0);
        let mut curves: Vec<Curve> = self.measured.iter().map(|one| one.probe.curve()).collect();
        curves.sort_unstable();
        curves.dedup();
        let off = |curve: Curve| {
            let own = self.measured.iter().zip(&figures);
            let own = own.filter(|(one, _)| one.probe.curve() == curve);
            misfit(own.flat_map(|(one, figures)| ratios(&one.figures, figures)).map(|(log, _)| log))
        };
        Ok(curves.into_iter().map(|curve| (curve, off(curve))).collect())
    }

    /// What brief simulations said of curves, judged anew by whole ones: those that are too far off are
    /// left out, the farthest first, and those that are not are fitted with the others.
    fn settle(
        &self,
        best: &Candidate,
        parameters: &[Parameter],
        all: &[Measured],
    ) -> Result<(Vec<Measured>, Fit)> {
        let whole = Search { measured: all, ..*self };
        let mut near: Vec<Curve> = self.measured.iter().map(|one| one.probe.curve()).collect();
        near.sort_unstable();
        near.dedup();
        let of = |near: &[Curve]| -> Vec<Measured> {
            all.iter().filter(|one| near.contains(&one.probe.curve())).cloned().collect()
        };
        let mut dropped: Vec<Curve> = Vec::new();
        let mut candidate = best.clone();
        loop {
            let curves = whole.curves(&candidate, parameters)?;
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
                _ => return Ok((of(&near), candidate.fit)),
            }
            let measured = of(&near);
            let search = Search { measured: &measured, ..*self };
            let (_, bounds) = search.start(parameters);
            let problem = search.by_simulation(best.topology, parameters, self.effort, |_| true);
            candidate.fit = squares::fit(&problem, &candidate.fit.at, &bounds, STEPS)?;
        }
    }

    /// The whole fit of what was screened.
    fn finish(
        &self,
        mut candidates: Vec<Candidate>,
        parameters: Vec<Parameter>,
        all: &[Measured],
    ) -> Result<Found> {
        let fitted = self.fit(&mut candidates, &parameters)?;
        let (chosen, alike) = self.choose(&candidates[..fitted]);
        let tried = tried(&candidates, chosen, &alike);
        let best = candidates.swap_remove(chosen);
        let topology = best.topology;
        let (near, fit) = self.settle(&best, &parameters, all)?;
        let near = Search { measured: &near, ..*self };
        let valleys = near.valleys(topology, &parameters, fit)?;
        let fit = valleys.fits[0].clone();
        let times = self.times(&parameters, &valleys);
        let whole = Search { measured: all, ..*self };
        let problem = whole.by_simulation(topology, &parameters, self.effort, |_| true);
        let simulated = self.simulator.figures(&[problem.point(&fit.at)])?.remove(0);
        let near: Vec<Curve> = near.measured.iter().map(|one| one.probe.curve()).collect();
        let is_near = |one: &Measured| near.contains(&one.probe.curve());
        let fitted = all.iter().map(is_near).collect();
        Ok(Found { topology, tried, times, simulated, fitted })
    }

    /// The parameters that some probe concerns.
    fn parameters(&self) -> Vec<Parameter> {
        let writes = self.measured.iter().any(|one| one.probe.pattern.writes());
        Parameter::ALL.into_iter().filter(|parameter| parameter.concerns(writes)).collect()
    }

    /// All times, by fits that are as good, of which the first is the best. Whatever else is not known
    /// stays free, so that no interval stands on a value that nobody measured.
    fn times(&self, parameters: &[Parameter], valleys: &AsGood) -> Vec<Time> {
        let config = self.simulator.config();
        let one = |parameter: Parameter| {
            let base = parameter.base(config);
            let Some(place) = parameters.iter().position(|known| *known == parameter) else {
                let interval = Err("no probe writes".to_owned());
                return Time { parameter, value: base, interval };
            };
            let interval = valleys.interval(place);
            let value =
                if interval[1].is_finite() { valleys.fits[0].at[place].exp() } else { base };
            Time { parameter, value, interval: told(interval) }
        };
        Parameter::ALL.into_iter().map(one).collect()
    }

    fn start(&self, parameters: &[Parameter]) -> (Vec<f64>, Vec<(f64, f64)>) {
        let config = self.simulator.config();
        let start: Vec<f64> = parameters.iter().map(|one| one.start(config).ln()).collect();
        let reach = parameters.iter().map(|one| one.range().ln());
        let bounds = start.iter().zip(reach).map(|(log, by)| (log - by, log + by)).collect();
        (start, bounds)
    }

    fn by_simulation<'a>(
        &'a self,
        topology: Topology,
        parameters: &'a [Parameter],
        effort: Effort,
        keep: impl Fn(Probe) -> bool,
    ) -> BySimulation<'a> {
        let places = (0..self.measured.len()).filter(|place| keep(self.measured[*place].probe));
        let places = places.collect();
        BySimulation { search: self, topology, parameters, held: Vec::new(), effort, places }
    }

    /// All topologies by the queueing model, the nearest first.
    fn estimated(&self, parameters: &[Parameter]) -> Result<Vec<Candidate>> {
        let (start, bounds) = self.start(parameters);
        let one = |&topology: &Topology| {
            let problem = ByEstimate { search: self, topology, parameters };
            let fit = squares::fit(&problem, &start, &bounds, STEPS)?;
            let misfit = misfit(fit.residuals.iter().copied());
            Ok(Candidate { topology, stage: Stage::Estimated, misfit, fit })
        };
        let mut all = self.topologies.iter().map(one).collect::<Result<Vec<_>>>()?;
        all.sort_by(|a, b| {
            (a.misfit, a.topology).partial_cmp(&(b.misfit, b.topology)).expect("finite")
        });
        Ok(all)
    }

    /// Fits the nearest, and the base's own, by brief simulations; they come first then.
    fn screen(&self, candidates: &mut [Candidate], parameters: &[Parameter]) -> Result<()> {
        let (start, bounds) = self.start(parameters);
        let few = self.few();
        let mut screened = 0;
        for place in 0..candidates.len() {
            let topology = candidates[place].topology;
            if place >= SCREENED && topology != self.base {
                continue;
            }
            let effort = self.effort.brief();
            let problem = self.by_simulation(topology, parameters, effort, |probe| few(probe));
            // There are several valleys: what one station bounds another may bound, too.
            let starts = [&candidates[place].fit.at, &start];
            let fit = best_of(&problem, starts, &bounds, SCREENED_STEPS)?;
            let misfit = self.misfit(&problem, &fit)?;
            candidates[place] = Candidate { topology, stage: Stage::Screened, misfit, fit };
            candidates[screened..=place].rotate_right(1);
            screened += 1;
        }
        candidates[..screened].sort_by(|a, b| a.fit.squares().total_cmp(&b.fit.squares()));
        Ok(())
    }

    /// Which probes a brief fit looks at: of random writes, which are dear, the least and the greatest
    /// depth of each size; all others.
    fn few(&self) -> impl Fn(Probe) -> bool + '_ {
        |probe| {
            let like = self.measured.iter().map(|one| one.probe);
            let like = like.filter(|one| one.curve() == probe.curve());
            let depths: Vec<u32> = like.map(|one| one.depth).collect();
            let ends = [depths.iter().min(), depths.iter().max()];
            probe.pattern != Pattern::RandWrite || ends.contains(&Some(&probe.depth))
        }
    }

    fn misfit(&self, problem: &BySimulation<'_>, fit: &Fit) -> Result<f64> {
        let figures = self.simulator.figures(&[problem.point(&fit.at)])?.remove(0);
        Ok(self.misfit_of(&problem.places, &figures))
    }

    fn misfit_of(&self, places: &[usize], figures: &[Figures]) -> f64 {
        let pairs = places.iter().zip(figures);
        let all = pairs.flat_map(|(place, own)| ratios(&self.measured[*place].figures, own));
        misfit(all.map(|(ratio, _)| ratio))
    }

    /// Fits the best by whole simulations, and says how many these are; they come first then, the
    /// best of them at the front.
    fn fit(&self, candidates: &mut [Candidate], parameters: &[Parameter]) -> Result<usize> {
        let (_, bounds) = self.start(parameters);
        let best = candidates[0].fit.squares();
        let near = |one: &&Candidate| {
            let squares = one.fit.squares();
            one.stage == Stage::Screened && squares <= (FITTED_WITHIN * best).max(best + 50.0)
        };
        let count = candidates.iter().take_while(near).count().clamp(1, FITTED);
        for candidate in &mut candidates[..count] {
            let topology = candidate.topology;
            let problem = self.by_simulation(topology, parameters, self.effort, |_| true);
            let fit = squares::fit(&problem, &candidate.fit.at, &bounds, STEPS)?;
            let misfit = self.misfit(&problem, &fit)?;
            *candidate = Candidate { topology, stage: Stage::Fitted, misfit, fit };
        }
        candidates[..count].sort_by(|a, b| a.fit.squares().total_cmp(&b.fit.squares()));
        Ok(count)
    }

    /// What is as good as what was found, the best first. Whether the device, a command's time or the link
    /// bounds the highest rate makes valleys of their own, and noise decides which of them is deepest:
    /// what the host takes is held there in turn, until the others have followed, and then let go.
    /// From the valley where it bounds nothing, the command's time is held at next to nothing once more:
    /// a valley may be flat as far as there.
    fn valleys(&self, topology: Topology, parameters: &[Parameter], fit: Fit) -> Result<AsGood> {
        let (quick, slow, wide, narrow) = self.hosts();
        let (_, bounds) = self.start(parameters);
        let problem = self.by_simulation(topology, parameters, self.effort, |_| true);
        let following = |from: &Fit, held: &[(Parameter, f64)]| {
            self.following(topology, parameters, &from.at, held)
        };
        let found = fit.clone();
        let (mut all, mut beside) = (vec![fit], Vec::new());
        for held in [vec![quick, wide], vec![slow], vec![narrow]] {
            let (at, squares) = following(&found, &held)?;
            all.push(squares::fit(&problem, &at, &bounds, STEPS)?);
            beside.push((at, squares));
        }
        beside.push(following(&all[1], &[quick])?);
        all.sort_by(|a, b| a.squares().total_cmp(&b.squares()));
        let most = all[0].squares() + TOLD_APART * unexplained(&all[0]);
        all.retain(|one| one.squares() <= most);
        let beside = beside.into_iter().filter(|(_, squares)| *squares <= most);
        let sharpened = |fit| squares::sharpened(&problem, fit);
        let all = all.into_iter().map(sharpened).collect::<Result<_>>()?;
        Ok(AsGood { fits: all, places: beside.map(|(at, _)| at).collect() })
    }

    /// Where the other parameters go when some are held, and the squares there.
    fn following(
        &self,
        topology: Topology,
        parameters: &[Parameter],
        from: &[f64],
        held: &[(Parameter, f64)],
    ) -> Result<(Vec<f64>, f64)> {
        let value = |one: &Parameter| held.iter().find(|(held, _)| held == one);
        let places: Vec<usize> =
            (0..parameters.len()).filter(|place| value(&parameters[*place]).is_none()).collect();
        let others: Vec<Parameter> = places.iter().map(|place| parameters[*place]).collect();
        let start: Vec<f64> = places.iter().map(|place| from[*place]).collect();
        let (_, bounds) = self.start(&others);
        let mut problem = self.by_simulation(topology, &others, self.effort, |_| true);
        problem.held = held.to_vec();
        let followed = squares::fit(&problem, &start, &bounds, SCREENED_STEPS)?;
        let mut at = from.to_vec();
        for (place, one) in parameters.iter().enumerate() {
            let own = others.iter().position(|other| other == one).map(|own| followed.at[own]);
            at[place] = own.or(value(one).map(|(_, value)| value.ln())).unwrap_or(at[place]);
        }
        Ok((at, followed.squares()))
    }

    /// What to hold of the host: a command that takes next to nothing, and one that bounds the highest
    /// rate that was measured; a link that bounds nothing, and one that does.
    fn hosts(&self) -> ((Parameter, f64), (Parameter, f64), (Parameter, f64), (Parameter, f64)) {
        let start = |parameter: Parameter| parameter.start(self.simulator.config());
        let rates = self.measured.iter().map(|one| one.figures.iops);
        let flows = self.measured.iter().map(|one| one.figures.iops * one.probe.bytes as f64);
        let [rate, flow] = [rates.fold(1.0, f64::max), flows.fold(1.0, f64::max)];
        (
            (Parameter::Overhead, start(Parameter::Overhead).min(0.1 * 1e9 / rate).max(10.0)),
            (Parameter::Overhead, 0.95 * 1e9 / rate),
            (Parameter::Link, start(Parameter::Link).max(3.0 * flow)),
            (Parameter::Link, 1.05 * flow),
        )
    }

    /// The place of the best of those that were fitted, or of the base's own where it is as good; and
    /// those that are as good.
    fn choose(&self, fitted: &[Candidate]) -> (usize, Vec<Topology>) {
        let best = &fitted[0].fit;
        let unexplained = unexplained(best);
        let is_alike =
            |one: &Candidate| one.fit.squares() - best.squares() <= TOLD_APART * unexplained;
        let alike = fitted.iter().filter(|one| is_alike(one)).map(|one| one.topology).collect();
        let own = fitted.iter().position(|one| one.topology == self.base && is_alike(one));
        (own.unwrap_or(0), alike)
    }
}

/// What was tried, the chosen one first.
fn tried(candidates: &[Candidate], chosen: usize, alike: &[Topology]) -> Vec<Tried> {
    let one = |candidate: &Candidate| {
        let Candidate { topology, stage, misfit, .. } = *candidate;
        Tried { topology, stage, misfit, alike: alike.contains(&topology) }
    };
    let mut all: Vec<Tried> = candidates.iter().map(one).collect();
    let first = all.remove(chosen);
    all.sort_by(|a, b| (a.stage, a.misfit).partial_cmp(&(b.stage, b.misfit)).expect("finite"));
    all.insert(0, first);
    all
}
