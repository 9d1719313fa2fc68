//! The times of a device, out of the fits of its topology that are as good as each other.

use std::result::Result as StdResult;

use ftlab_engine::config::Config;
use ftlab_report::calibration::{Together, Topology};

use crate::calibrate::identified::{AsGood, End, told};
use crate::calibrate::jobs::Measured;
use crate::calibrate::parameters::Parameter;
use crate::calibrate::problems::{BySimulation, Target};
use crate::calibrate::yardstick::Yardstick;
use crate::error::Result;

/// Halvings of a distance, as a logarithm, on the way to where figures begin to depend on a time.
const HALVINGS: usize = 6;
/// Why nothing has an interval where the fit did not end.
const RAN_OUT: &str = "the fit was still getting better when its steps ran out";

/// A time that was looked for.
#[derive(Clone, Debug)]
pub struct Time {
    /// Which.
    pub parameter: Parameter,
    /// Its value in the fitted device.
    pub value: f64,
    /// Its interval, or why there is none.
    pub interval: StdResult<[f64; 2], String>,
    /// Those that came to the end of where they are looked for: the interval holds on condition
    /// that they are there.
    pub given: Vec<Parameter>,
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

/// All times, by fits that are as good, of which the first is the best. `all` are the probes that
/// were measured, of which the target has those that are fitted. What is not known stays as it was
/// fitted, so that the others fit; what no figure depends on becomes the base's where the fit bears
/// that. Nothing has an interval where the best fit is no optimum, nor what lies on an end of where
/// it is looked for; the others' hold on condition that it is there.
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
    let (_, bounds) = target.start(parameters);
    let valleys = &valleys.holding_ends(&bounds);
    let best = &valleys.fits[0].fit;
    let problem = target.by_simulation(topology, parameters);
    let values = parameters.iter().copied().zip(best.at.iter().map(|log| log.exp()));
    let yardstick = Yardstick::of(best, &problem.kin());
    let mut settling = Settling { problem: &problem, values: values.collect(), yardstick };
    let at_end = |place: usize| valleys.is_at_end(place);
    let ended: Vec<Parameter> =
        (0..parameters.len()).filter(|place| at_end(*place)).map(|at| parameters[at]).collect();
    let mut all = Vec::new();
    for parameter in Parameter::ALL {
        let base = parameter.base(config);
        let Some(place) = parameters.iter().position(|known| *known == parameter) else {
            let (interval, given) = (Err("no probe writes".to_owned()), Vec::new());
            all.push(Time { parameter, value: base, interval, given, bound: None, together: None });
            continue;
        };
        let reads_alone = target.measured.iter().all(|one| !one.probe.pattern.writes());
        let interval = match (valleys.is_silent(place), reads_alone && writes) {
            (true, true) if !parameter.concerns(false) => {
                Err("all curves of writes lie too far off to be fitted".to_owned())
            }
            (true, _) => Err("no figure that is fitted is seen to depend on it".to_owned()),
            _ if !valleys.is_optimum() => Err(RAN_OUT.to_owned()),
            _ if at_end(place) => {
                Err(came_to_the_end(parameter, base, valleys.end(place, bounds[place])))
            }
            _ => told(best.at[place].exp(), valleys.interval(place))
                .and_then(|interval| within(interval, bounds[place])),
        };
        let bound = match (valleys.is_silent(place), valleys.end(place, bounds[place])) {
            (true, _) => settling.settle(parameter, base)?,
            (false, Some(end)) => settling.beyond(parameter, parameter.start(config), end)?,
            (false, None) => None,
        };
        // What is no optimum is no measure of what is as good.
        let bound = bound.filter(|_| valleys.is_optimum());
        let bound = bound.or_else(|| {
            let is_open = interval.is_err() && !valleys.is_silent(place);
            is_open.then(|| fastest(target.measured, parameter, base)).flatten()
        });
        let value = settling.value(parameter).unwrap_or(base);
        let given = if interval.is_ok() { ended.clone() } else { Vec::new() };
        all.push(Time { parameter, value, interval, given, bound, together: None });
    }
    if valleys.is_optimum() {
        tell_sums(&mut all, config, parameters, valleys, &ended);
    }
    Ok(all)
}

/// An interval, if it reaches over no end of where the time is looked for.
fn within([low, high]: [f64; 2], (least, most): (f64, f64)) -> StdResult<[f64; 2], String> {
    match low < least.exp() || high > most.exp() {
        true => Err("its interval reaches beyond where it is looked for".to_owned()),
        false => Ok([low, high]),
    }
}

/// Why what lies on an end of where it is looked for has no interval; of a parameter of which the
/// best fit lies on none, another fit, as good, does.
fn came_to_the_end(parameter: Parameter, base: f64, end: Option<End>) -> String {
    let (range, whose) = (
        parameter.range(),
        if base > 0.0 { "the base's" } else { "what the fit begins with, as the base has none" },
    );
    match end {
        Some(End::Low) => format!(
            "it came to the low end of where it is looked for, 1/{range} of {whose}: the fit may ask \
             for less"
        ),
        Some(End::High) => format!(
            "it came to the high end of where it is looked for, {range} times {whose}: the fit may ask \
             for more"
        ),
        None => format!(
            "in a fit that is as good it came to an end of where it is looked for, a factor of {range} \
             from {whose}"
        ),
    }
}

/// What the fastest probe shows of the host where the base's value is too slow for it: all its
/// bytes came over the link, and all its commands through the controller, one after the other.
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

/// Of pairs of which one, or neither, has an interval what is known of both together; of those that
/// came to no end of where they are looked for, on condition that those are there that did.
fn tell_sums(
    all: &mut [Time],
    config: &Config,
    parameters: &[Parameter],
    valleys: &AsGood,
    ended: &[Parameter],
) {
    for (pair, parts) in Parameter::pairs(config) {
        if pair.iter().any(|one| ended.contains(one)) {
            continue;
        }
        let place = |one: Parameter| parameters.iter().position(|known| *known == one);
        let [Some(one), Some(other)] = pair.map(place) else { continue };
        if valleys.is_silent(one) || valleys.is_silent(other) {
            continue;
        }
        let share = 1.0 / f64::from(parts);
        let (sum, interval) =
            (valleys.sum([one, other], share), valleys.interval_of_sum([one, other], share));
        let Ok(interval) = told(sum, interval) else { continue };
        let [first, second] = pair.map(|one| all.iter().find(|time| time.parameter == one));
        let (Some(first), Some(second)) = (first, second) else { continue };
        let divided = if parts == 1 { String::new() } else { format!(" / {parts}") };
        let together = Together {
            of: format!("{} + {}{divided}", pair[0].key(), pair[1].key()),
            value: first.value + share * second.value,
            interval,
            given: ended.iter().map(|one| one.key().to_owned()).collect(),
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
        let (edge, _) = self.edge(parameter, fitted, base)?;
        Ok(Some(if fitted > base { Bound::AtLeast(edge) } else { Bound::AtMost(edge) }))
    }

    /// What a time is at most, or at least, that lies on an end of where it is looked for: as far
    /// from there towards where it was looked for first as the fit may bear; nothing where it bears
    /// all of that.
    fn beyond(&self, parameter: Parameter, start: f64, end: End) -> Result<Option<Bound>> {
        let Some(fitted) = self.value(parameter) else { return Ok(None) };
        if self.bears(self.with(parameter, start))? {
            return Ok(None);
        }
        let (_, not) = self.edge(parameter, fitted, start)?;
        Ok(Some(match end {
            End::Low => Bound::AtMost(not),
            End::High => Bound::AtLeast(not),
        }))
    }

    /// Between a value of a time that the fit bears and one that it does not: the last that it
    /// bears, and the first that it does not.
    fn edge(&self, parameter: Parameter, bears: f64, not: f64) -> Result<(f64, f64)> {
        let (mut bears, mut not) = (bears.ln(), not.ln());
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(bears, not);
            let is_borne = self.bears(self.with(parameter, middle.exp()))?;
            *(if is_borne { &mut bears } else { &mut not }) = middle;
        }
        Ok((bears.exp(), not.exp()))
    }

    /// All times, of which one has another value.
    fn with(&self, parameter: Parameter, value: f64) -> Vec<(Parameter, f64)> {
        let mut times = self.values.clone();
        times.retain(|(known, _)| *known != parameter);
        times.push((parameter, value));
        times
    }

    fn bears(&self, times: Vec<(Parameter, f64)>) -> Result<bool> {
        let figures = self.problem.target.simulator.figures(&[self.problem.point_with(times)])?;
        Ok(self.yardstick.bears(&self.problem.off(&figures[0])))
    }
}

/// What a reader must know of how the fit ended.
pub fn how_it_ended(valleys: &AsGood) -> Option<String> {
    (!valleys.is_optimum()).then(|| {
        "The fit was still getting better when its steps ran out: its times are not those of the best \
         fit, and none has an interval."
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use ftlab_report::calibration::{Figures, Tails};

    use super::*;
    use crate::calibrate::intervals::Sharp;
    use crate::calibrate::probe::{Pattern, Probe};
    use crate::calibrate::problems::Target;
    use crate::calibrate::simulate::{Effort, Point, Simulator};
    use crate::calibrate::squares::{self, Fit, Problem as _};
    use crate::experiment::Experiment;
    use crate::observer::{Counts, Observer as _, Silent, Work};

    fn probe(bytes: u64, depth: u32) -> Probe {
        Probe { pattern: Pattern::RandRead, bytes, depth }
    }

    fn measured(probe: Probe, figures: Figures) -> Measured {
        Measured { probe, job: String::new(), figures, tails: Tails::Fitted }
    }

    /// A base whose link is a bottleneck, and a drive without one: a fitted value on which nothing
    /// depends is not set back to the base's, on which everything would. An erase, on which no read
    /// depends either, is.
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

    /// Reads of a drive whose link carries a little less than what a fit may come down to.
    const SLOW_LINK: f64 = 0.97e6;

    /// What is looked for, the drive's own times, and where a fit of it ended.
    type Ended<'a> = (&'a [Parameter], &'a [(Parameter, f64)], fn(&[(f64, f64)]) -> Vec<f64>);

    /// All times of such a fit, and what is said of how it ended.
    fn ended(
        (parameters, drive, at): Ended<'_>,
        probes: &[Probe],
        converged: bool,
    ) -> (Vec<Time>, Option<String>) {
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
        let (times_of, probes) = (drive.to_vec(), probes.to_vec());
        let point = Point { topology, times: times_of, probes: probes.clone(), effort, draw: 0 };
        let figures = simulator.figures(&[point]).unwrap().remove(0);
        let all: Vec<Measured> =
            probes.into_iter().zip(figures).map(|(probe, own)| measured(probe, own)).collect();
        let target = Target { simulator: &simulator, measured: &all, effort };
        let problem = target.by_simulation(topology, parameters);
        let (_, bounds) = target.start(parameters);
        let at = at(&bounds);
        let residuals = problem.residuals(std::slice::from_ref(&at), 0).unwrap().remove(0);
        let fit = Fit { at, residuals, slopes: Vec::new(), held: Vec::new(), converged };
        let fits = vec![Sharp::of(&problem, &problem.kin(), fit).unwrap()];
        let valleys = AsGood { fits, places: Vec::new() };
        let found = times(target, false, topology, parameters, &valleys).unwrap();
        (found, how_it_ended(&valleys))
    }

    /// A fit whose link lies on the low end.
    fn on_the_low_end(converged: bool) -> (Vec<Time>, Option<String>) {
        let probes = [probe(65_536, 1), probe(131_072, 1), probe(131_072, 4), probe(262_144, 1)];
        let drive = [(Parameter::Link, SLOW_LINK)];
        ended((&[Parameter::Link], &drive, |bounds| vec![bounds[0].0]), &probes, converged)
    }

    fn link(times: &[Time]) -> &Time {
        times.iter().find(|one| one.parameter == Parameter::Link).unwrap()
    }

    /// A time at the end of its range had an interval of 95 % on either side of the end.
    #[test]
    fn what_lies_on_an_end_of_its_range_is_at_most_so_much_and_has_no_interval() {
        let (all, said) = on_the_low_end(true);
        let Time { interval, bound, .. } = link(&all);
        let why = interval.as_ref().unwrap_err();
        assert!(
            why.starts_with("it came to the low end of where it is looked for, 1/200 of"),
            "{why}"
        );
        let Some(Bound::AtMost(most)) = bound else { panic!("{bound:?}") };
        assert!((1e6..20e6).contains(most), "{most}");
        assert_eq!(said, None);
    }

    /// Cells that take a little longer than ten times the base's, and a link as the base has it.
    #[test]
    fn the_interval_beside_a_time_on_an_end_is_conditional_on_that() {
        let config = crate::devices::find("tlc_nvme").unwrap().config;
        let base = Parameter::Read.base(&config);
        let drive = [(Parameter::Read, 10.3 * base), (Parameter::Link, 200e6)];
        let sizes = [4096, 16_384, 65_536, 131_072].map(|bytes| probe(bytes, 1));
        let probes = [&sizes[..], &[probe(131_072, 16), probe(262_144, 16)]].concat();
        let parameters = [Parameter::Read, Parameter::Link];
        let at = |bounds: &[(f64, f64)]| vec![bounds[0].1, 200e6_f64.ln()];
        let (all, _) = ended((&parameters, &drive, at), &probes, true);
        let read = all.iter().find(|one| one.parameter == Parameter::Read).unwrap();
        assert!(read.interval.is_err() && read.given.is_empty(), "{read:?}");
        let Some(Bound::AtLeast(least)) = read.bound else { panic!("{read:?}") };
        assert!((2.0 * base..10.0 * base).contains(&least), "{least}");
        assert!(link(&all).interval.is_ok(), "{:?}", link(&all));
        assert_eq!(link(&all).given, [Parameter::Read]);
    }

    /// What linear theory says about a place that is no optimum is nothing.
    #[test]
    fn where_the_steps_ran_out_nothing_has_an_interval_nor_a_bound() {
        let (all, said) = on_the_low_end(false);
        let Time { interval, bound, together, .. } = link(&all);
        assert_eq!(interval.as_ref().unwrap_err(), RAN_OUT);
        assert!(bound.is_none() && together.is_none(), "{all:?}");
        assert!(said.unwrap().ends_with("and none has an interval."));
    }

    #[test]
    fn no_interval_reaches_beyond_where_a_time_is_looked_for() {
        let looked_for = (1_f64.ln(), 8_f64.ln());
        assert_eq!(within([1.5, 7.5], looked_for), Ok([1.5, 7.5]));
        for beyond in [[0.9, 2.0], [6.0, 8.1]] {
            let why = within(beyond, looked_for).unwrap_err();
            assert!(why.contains("beyond where it is looked for"), "{why}");
        }
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
