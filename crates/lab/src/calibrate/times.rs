//! The times of a device, out of the fits of its topology that are as good as each other.

use std::result::Result as StdResult;

use ftlab_engine::config::Config;
use ftlab_report::calibration::{Together, Topology};

use crate::calibrate::identified::{AsGood, told};
use crate::calibrate::intervals::Yardstick;
use crate::calibrate::jobs::Measured;
use crate::calibrate::parameters::Parameter;
use crate::calibrate::problems::{BySimulation, Target};
use crate::error::Result;

/// Halvings of a distance, as a logarithm, on the way to where figures begin to depend on a time.
const HALVINGS: usize = 6;
/// A logarithm that is no further than this from a bound lies on it.
const ON_BOUND: f64 = 1e-6;

/// A time that was looked for.
#[derive(Clone, Debug)]
pub struct Time {
    /// Which.
    pub parameter: Parameter,
    /// Its value in the fitted device.
    pub value: f64,
    /// Its interval, or why there is none.
    pub interval: StdResult<[f64; 2], String>,
    /// Where it has none, and the fit does not bear the base's value: at least or at most so much.
    pub bound: Option<Bound>,
    /// Where it has none, and its sum with another has one.
    pub together: Option<Together>,
}

/// From where on figures do not depend on a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// It is at least so much.
    AtLeast(f64),
    /// It is at most so much.
    AtMost(f64),
}

/// All times, by fits that are as good, of which the first is the best. `all` are the probes that were
/// measured, of which the target has those that are fitted. What is not known stays as it was fitted,
/// so that the others fit; what no figure depends on becomes the base's where the fit bears that.
///
/// # Errors
/// As of [`crate::calibrate::simulate::Simulator::figures`].
pub fn times(
    target: Target<'_>,
    writes: bool,
    topology: Topology,
    parameters: &[Parameter],
    valleys: &AsGood,
) -> Result<Vec<Time>> {
    let config = target.simulator.config();
    let best = &valleys.fits[0].fit;
    let problem = target.by_simulation(topology, parameters);
    let values = parameters.iter().copied().zip(best.at.iter().map(|log| log.exp()));
    let yardstick = Yardstick::of(best, &problem.kin());
    let mut settling = Settling { problem: &problem, values: values.collect(), yardstick };
    let mut all = Vec::new();
    for parameter in Parameter::ALL {
        let base = parameter.base(config);
        let Some(place) = parameters.iter().position(|known| *known == parameter) else {
            let interval = Err("no probe writes".to_owned());
            all.push(Time { parameter, value: base, interval, bound: None, together: None });
            continue;
        };
        let reads_alone = target.measured.iter().all(|one| !one.probe.pattern.writes());
        let interval = match (valleys.is_silent(place), reads_alone && writes) {
            (true, true) if !parameter.concerns(false) => {
                Err("all curves of writes lie too far off to be fitted".to_owned())
            }
            (true, _) => Err("no figure that is fitted depends on it".to_owned()),
            (false, _) => told(valleys.interval(place)),
        };
        let bound = match valleys.is_silent(place) {
            true => settling.settle(parameter, base)?,
            false => None,
        };
        let bound = bound.or_else(|| {
            let is_open = interval.is_err() && !valleys.is_silent(place);
            is_open.then(|| fastest(target.measured, parameter, base)).flatten()
        });
        let value = settling.value(parameter).unwrap_or(base);
        all.push(Time { parameter, value, interval, bound, together: None });
    }
    tell_sums(&mut all, config, parameters, valleys);
    Ok(all)
}

/// What the fastest probe shows of the host where the base's value is too slow for it: all its bytes came
/// over the link, and all its commands through the controller, one after the other.
fn fastest(measured: &[Measured], parameter: Parameter, base: f64) -> Option<Bound> {
    let most = |of: fn(&Measured) -> f64| measured.iter().map(of).fold(0.0, f64::max);
    match parameter {
        Parameter::Link => {
            let flow = most(|one| one.figures.iops * one.probe.bytes as f64);
            (base > 0.0 && base < flow).then_some(Bound::AtLeast(flow))
        }
        Parameter::Overhead => {
            let each = 1e9 / most(|one| one.figures.iops);
            (base > each).then_some(Bound::AtMost(each))
        }
        _ => None,
    }
}

/// Of pairs of which one, or neither, has an interval what is known of both together.
fn tell_sums(all: &mut [Time], config: &Config, parameters: &[Parameter], valleys: &AsGood) {
    for (pair, parts) in Parameter::pairs(config) {
        let place = |one: Parameter| parameters.iter().position(|known| *known == one);
        let [Some(one), Some(other)] = pair.map(place) else { continue };
        if valleys.is_silent(one) || valleys.is_silent(other) {
            continue;
        }
        let share = 1.0 / f64::from(parts);
        let Ok(interval) = told(valleys.interval_of_sum([one, other], share)) else { continue };
        let [first, second] = pair.map(|one| all.iter().find(|time| time.parameter == one));
        let (Some(first), Some(second)) = (first, second) else { continue };
        let divided = if parts == 1 { String::new() } else { format!(" / {parts}") };
        let together = Together {
            of: format!("{} + {}{divided}", pair[0].key(), pair[1].key()),
            value: first.value + share * second.value,
            interval,
        };
        for time in all.iter_mut().filter(|time| pair.contains(&time.parameter)) {
            if time.interval.is_err() {
                time.together = Some(together.clone());
            }
        }
    }
}

/// Times on their way from the fit to the device that is written.
struct Settling<'a> {
    problem: &'a BySimulation<'a>,
    /// Those that are not the base's.
    values: Vec<(Parameter, f64)>,
    /// What is no worse than the fit.
    yardstick: Yardstick,
}

impl Settling<'_> {
    fn value(&self, parameter: Parameter) -> Option<f64> {
        self.values.iter().find(|(known, _)| *known == parameter).map(|(_, value)| *value)
    }

    /// Gives a time that no figure depends on its base's value, where the fit bears that; else says
    /// between that and the fitted one from where on nothing depends on it.
    fn settle(&mut self, parameter: Parameter, base: f64) -> Result<Option<Bound>> {
        let mut others = self.values.clone();
        others.retain(|(known, _)| *known != parameter);
        if self.bears(others.clone())? {
            self.values = others;
            return Ok(None);
        }
        let (Some(fitted), true) = (self.value(parameter), base > 0.0) else { return Ok(None) };
        let (mut bears, mut not) = (fitted.ln(), base.ln());
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(bears, not);
            let mut times = others.clone();
            times.push((parameter, middle.exp()));
            *(if self.bears(times)? { &mut bears } else { &mut not }) = middle;
        }
        let edge = bears.exp();
        Ok(Some(if fitted > base { Bound::AtLeast(edge) } else { Bound::AtMost(edge) }))
    }

    fn bears(&self, times: Vec<(Parameter, f64)>) -> Result<bool> {
        let figures = self.problem.target.simulator.figures(&[self.problem.point_with(times)])?;
        Ok(self.yardstick.bears(&self.problem.off(&figures[0])))
    }
}

/// What a reader must know of how the fit ended.
pub fn how_it_ended(target: Target<'_>, parameters: &[Parameter], valleys: &AsGood) -> Vec<String> {
    let best = &valleys.fits[0].fit;
    let (_, bounds) = target.start(parameters);
    let mut all = Vec::new();
    if !best.converged {
        all.push(
            "The fit was still getting better when its steps ran out: times and intervals are not \
             those of the best fit."
                .to_owned(),
        );
    }
    let all_of_them = parameters.iter().zip(&best.at).zip(bounds).enumerate();
    for (place, ((parameter, at), (low, high))) in all_of_them {
        // What no figure depends on may have wandered there.
        if valleys.is_silent(place) {
            continue;
        }
        if (at - low).abs().min((at - high).abs()) < ON_BOUND {
            all.push(format!(
                "{} came to the end of where it is looked for, {} times the base's or what \
                 stands for it: the fit may ask for more, and its interval knows of one side alone.",
                parameter.key(),
                if *at > low { format!("{}", parameter.range()) } else {
                    format!("1/{}", parameter.range())
                }
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use ftlab_report::calibration::Figures;

    use super::*;
    use crate::calibrate::jobs::Tails;
    use crate::calibrate::probe::{Pattern, Probe};
    use crate::calibrate::problems::Target;
    use crate::calibrate::simulate::{Effort, Point, Simulator};
    use crate::calibrate::squares;
    use crate::experiment::Experiment;
    use crate::observer::{Counts, Observer as _, Silent, Work};

    fn probe(bytes: u64, depth: u32) -> Probe {
        Probe { pattern: Pattern::RandRead, bytes, depth }
    }

    fn measured(probe: Probe, figures: Figures) -> Measured {
        Measured { probe, job: String::new(), figures, tails: Tails::Fitted }
    }

    /// A base whose link is a bottleneck, and a drive without one: a fitted value on which nothing depends
    /// is not set back to the base's, on which everything would. An erase, on which no read depends
    /// either, is.
    #[test]
    fn what_nothing_depends_on_becomes_the_bases_only_where_the_fit_bears_that() {
        let topology = Topology { channels: 8, dies: 4, planes: 2 };
        let mut config = crate::devices::find("tlc_nvme").unwrap().config;
        config.set("host.link_bandwidth", "200MB").unwrap();
        let base = Experiment {
            device: "tlc_nvme".to_owned(),
            set: ["host.link_bandwidth=200MB"].into_iter().collect(),
            ..Experiment::default()
        };
        let work = Work { label: "", length: None, counts: Counts::Requests };
        let simulator = Simulator::new(base, config, None, 1, Silent.begins(&work)).unwrap();
        let effort = Effort { requests: 64, units: 4096, rounds: 1 };
        let probes = vec![probe(4096, 1), probe(131_072, 1), probe(131_072, 16)];
        let times = vec![(Parameter::Link, 3e9)];
        let point = Point { topology, times, probes: probes.clone(), effort, draw: 0 };
        let figures = simulator.figures(&[point]).unwrap().remove(0);
        let all: Vec<Measured> =
            probes.into_iter().zip(figures).map(|(probe, own)| measured(probe, own)).collect();
        let target = Target { simulator: &simulator, measured: &all, effort };
        let parameters = [Parameter::Link];
        let problem = target.by_simulation(topology, &parameters);
        let best = squares::fit(&problem, &[3e9_f64.ln()], &[(0.0, 50.0)], 0).unwrap();
        assert!(best.squares() < 1e-9, "{best:?}");
        let yardstick = Yardstick::of(&best, &problem.kin());
        let values = vec![(Parameter::Link, 3e9), (Parameter::Erase, 5e6)];
        let mut settling = Settling { problem: &problem, values, yardstick };
        let Some(Bound::AtLeast(least)) = settling.settle(Parameter::Link, 200e6).unwrap() else {
            panic!("{:?}", settling.values)
        };
        assert!((300e6..3e9).contains(&least), "{least}");
        assert_eq!(settling.value(Parameter::Link), Some(3e9));
        assert_eq!(settling.settle(Parameter::Erase, 3e6).unwrap(), None);
        assert_eq!(settling.value(Parameter::Erase), None);
    }

    #[test]
    fn the_fastest_probe_bounds_a_base_that_is_too_slow_for_it() {
        let figures = |iops| Figures { iops, ..Figures::default() };
        let all =
            [measured(probe(4096, 16), figures(1e5)), measured(probe(65_536, 16), figures(1e4))];
        let of = |parameter, base| fastest(&all, parameter, base);
        assert_eq!(of(Parameter::Link, 200e6), Some(Bound::AtLeast(655.36e6)));
        assert_eq!(of(Parameter::Link, 1e9), None);
        assert_eq!(of(Parameter::Link, 0.0), None, "no limit");
        assert_eq!(of(Parameter::Overhead, 20_000.0), Some(Bound::AtMost(10_000.0)));
        assert_eq!(of(Parameter::Overhead, 3_000.0), None);
        assert_eq!(of(Parameter::Read, 1.0), None);
    }
}
