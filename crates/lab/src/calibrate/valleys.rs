//! What is as good as the best fit of a topology: least squares end in the valley in which they
//! begin, and intervals must hold the others.

use ftlab_report::calibration::Topology;

use crate::calibrate::identified::AsGood;
use crate::calibrate::intervals::Sharp;
use crate::calibrate::parameters::Parameter;
use crate::calibrate::problems::Target;
use crate::calibrate::squares::{self, Fit};
use crate::calibrate::yardstick::{Kin, Yardstick};
use crate::error::Result;

/// Steps of those that follow what is held.
const FOLLOWING_STEPS: usize = 10;
/// Steps beyond the first of what is as good and had not converged: intervals stand on an optimum.
const LAST_STEPS: usize = 96;

/// What is as good as what was found, the best first. Whether the device, a command's time or the
/// link bounds the highest rate makes valleys of their own, and noise decides which of them is
/// deepest: what the host takes is held there in turn, until the others have followed, and then let
/// go. From the valley where it bounds nothing, the command's time is held at next to nothing once
/// more: a valley may be flat as far as there. Fits whose steps ran out are gone on with; one that
/// is still no optimum then is a place alone, but for the best.
///
/// # Errors
/// As of [`squares::fit`].
pub fn valleys(
    target: Target<'_>,
    topology: Topology,
    parameters: &[Parameter],
    found: Fit,
    steps: usize,
) -> Result<AsGood> {
    let hosts = hosts(target);
    let (_, bounds) = target.start(parameters);
    let problem = target.by_simulation(topology, parameters);
    let following =
        |from: &Fit, held: &[_]| following(target, topology, parameters, &from.at, held);
    let (mut all, mut beside) = (vec![found.clone()], Vec::new());
    for held in [vec![hosts.quick, hosts.wide], vec![hosts.slow], vec![hosts.narrow]] {
        let (at, residuals) = following(&found, &held)?;
        all.push(squares::fit(&problem, &at, &bounds, steps)?);
        beside.push((at, residuals));
    }
    beside.push(following(&all[1], &[hosts.quick])?);
    let kin = problem.kin();
    keep_as_good(&mut all, &kin);
    for one in all.iter_mut().filter(|one| !one.converged) {
        *one = squares::fit(&problem, &one.at, &bounds, LAST_STEPS)?;
    }
    let yardstick = keep_as_good(&mut all, &kin);
    let beside = beside.into_iter().filter(|(_, residuals)| yardstick.bears(residuals));
    let best = all.remove(0);
    let (optima, others): (Vec<Fit>, Vec<Fit>) = all.into_iter().partition(|one| one.converged);
    let sharp = |fit| Sharp::of(&problem, &kin, fit);
    let fits = std::iter::once(best).chain(optima).map(sharp).collect::<Result<_>>()?;
    let others = others.into_iter().map(|one| one.at);
    Ok(AsGood { fits, places: beside.map(|(at, _)| at).chain(others).collect() })
}

/// Keeps what is as good as the best, which comes first then, and says by what.
fn keep_as_good(all: &mut Vec<Fit>, kin: &[Kin]) -> Yardstick {
    all.sort_by(|a, b| a.squares().total_cmp(&b.squares()));
    let yardstick = Yardstick::of(&all[0], kin);
    all.retain(|one| yardstick.bears(&one.residuals));
    yardstick
}

/// Where the other parameters go when some are held, and the residuals there.
fn following(
    target: Target<'_>,
    topology: Topology,
    parameters: &[Parameter],
    from: &[f64],
    held: &[(Parameter, f64)],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let value = |one: &Parameter| held.iter().find(|(held, _)| held == one);
    let places: Vec<usize> =
        (0..parameters.len()).filter(|place| value(&parameters[*place]).is_none()).collect();
    let others: Vec<Parameter> = places.iter().map(|place| parameters[*place]).collect();
    let start: Vec<f64> = places.iter().map(|place| from[*place]).collect();
    let (_, bounds) = target.start(&others);
    let mut problem = target.by_simulation(topology, &others);
    problem.held = held.to_vec();
    let followed = squares::fit(&problem, &start, &bounds, FOLLOWING_STEPS)?;
    let mut at = from.to_vec();
    for (place, one) in parameters.iter().enumerate() {
        let own = others.iter().position(|other| other == one).map(|own| followed.at[own]);
        at[place] = own.or(value(one).map(|(_, value)| value.ln())).unwrap_or(at[place]);
    }
    Ok((at, followed.residuals))
}

/// What to hold of the host.
struct Hosts {
    /// A command that takes next to nothing.
    quick: (Parameter, f64),
    /// One that bounds the highest rate that was measured.
    slow: (Parameter, f64),
    /// A link that bounds nothing.
    wide: (Parameter, f64),
    /// One that does.
    narrow: (Parameter, f64),
}

fn hosts(target: Target<'_>) -> Hosts {
    let start = |parameter: Parameter| parameter.start(target.simulator.config());
    let rates = target.measured.iter().map(|one| one.figures.iops);
    let flows = target.measured.iter().map(|one| one.figures.iops * one.probe.bytes as f64);
    let [rate, flow] = [rates.fold(1.0, f64::max), flows.fold(1.0, f64::max)];
    let quick = start(Parameter::Overhead).min(0.1 * 1e9 / rate).max(10.0);
    Hosts {
        quick: (Parameter::Overhead, quick),
        slow: (Parameter::Overhead, 0.95 * 1e9 / rate),
        wide: (Parameter::Link, start(Parameter::Link).max(3.0 * flow)),
        narrow: (Parameter::Link, 1.05 * flow),
    }
}

#[cfg(test)]
mod tests {
    use ftlab_report::calibration::Tails;

    use super::*;
    use crate::calibrate::jobs::Measured;
    use crate::calibrate::probe::{Pattern, Probe};
    use crate::calibrate::simulate::{Effort, Point, Simulator};
    use crate::experiment::Experiment;
    use crate::observer::{Counts, Observer as _, Silent, Work};

    /// A single step to each valley is no optimum, and intervals stood on it.
    #[test]
    fn a_fit_whose_steps_ran_out_is_gone_on_with() {
        let topology = Topology { channels: 8, dies: 4, planes: 2 };
        let config = crate::devices::find("tlc_nvme").unwrap().config;
        let base = Experiment { device: "tlc_nvme".to_owned(), ..Experiment::default() };
        let work = Work { label: "", length: None, counts: Counts::Requests };
        let simulator = Simulator::new(base, config, None, 1, Silent.begins(&work)).unwrap();
        let effort = Effort { requests: 64, units: 4096, rounds: 1 };
        let sizes = [(4096, 1), (65_536, 1), (131_072, 1), (4096, 16), (131_072, 16)];
        let probes = sizes.map(|(bytes, depth)| Probe { pattern: Pattern::RandRead, bytes, depth });
        let parameters = [Parameter::Read, Parameter::Overhead, Parameter::Link];
        let drive = [120_000.0, 9_000.0, 1e9];
        let times = parameters.into_iter().zip(drive).collect();
        let point = Point { topology, times, probes: probes.to_vec(), effort, draw: 0 };
        let figures = simulator.figures(&[point]).unwrap().remove(0);
        let measured = |(probe, figures)| {
            let (job, tails) = (String::new(), Tails::Fitted);
            Measured { probe, job, figures, tails }
        };
        let all: Vec<Measured> = probes.into_iter().zip(figures).map(measured).collect();
        let target = Target { simulator: &simulator, measured: &all, effort };
        let problem = target.by_simulation(topology, &parameters);
        let (start, bounds) = target.start(&parameters);
        let found = squares::fit(&problem, &start, &bounds, 1).unwrap();
        assert!(!found.converged);
        let found = valleys(target, topology, &parameters, found, 1).unwrap();
        assert!(found.is_optimum() && found.fits.iter().all(|one| one.fit.converged));
        let read = found.fits[0].fit.at[0].exp();
        assert!((read / drive[0] - 1.0).abs() < 0.05, "{read}");
    }
}
