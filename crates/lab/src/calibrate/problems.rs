//! What is made small: measured probes against a topology, simulated or estimated.

use ftlab_report::calibration::{Figures, Topology};

use crate::calibrate::coarse;
use crate::calibrate::jobs::Measured;
use crate::calibrate::observations::{pulls, residuals};
use crate::calibrate::parameters::Parameter;
use crate::calibrate::probe::{Curve, Probe};
use crate::calibrate::scale::in_topology;
use crate::calibrate::simulate::{Effort, Point, Simulator};
use crate::calibrate::squares::{Fit, Problem};
use crate::calibrate::yardstick::Kin;
use crate::error::Result;

/// What is to come out, and by what.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Simulates devices.
    pub simulator: &'a Simulator<'a>,
    /// What is to come out.
    pub measured: &'a [Measured],
    /// How long probes are simulated.
    pub effort: Effort,
}

impl<'a> Target<'a> {
    /// Where a fit begins, and how far it may go, as logarithms.
    pub fn start(self, parameters: &[Parameter]) -> (Vec<f64>, Vec<(f64, f64)>) {
        let config = self.simulator.config();
        let start: Vec<f64> = parameters.iter().map(|one| one.start(config).ln()).collect();
        let reach = parameters.iter().map(|one| one.range().ln());
        let bounds = start.iter().zip(reach).map(|(log, by)| (log - by, log + by)).collect();
        (start, bounds)
    }

    /// Fitting a topology by simulations of all probes.
    pub fn by_simulation(
        self,
        topology: Topology,
        parameters: &'a [Parameter],
    ) -> BySimulation<'a> {
        let (target, places) = (self, (0..self.measured.len()).collect());
        BySimulation { target, topology, parameters, held: Vec::new(), places }
    }

    /// The curves that were measured, in their order.
    pub fn curves(self) -> Vec<Curve> {
        let mut curves: Vec<Curve> = self.measured.iter().map(|one| one.probe.curve()).collect();
        curves.sort_unstable();
        curves.dedup();
        curves
    }
}

/// Fitting one topology by simulations.
pub struct BySimulation<'a> {
    /// What is to come out.
    pub target: Target<'a>,
    /// The topology.
    pub topology: Topology,
    /// What is looked for.
    pub parameters: &'a [Parameter],
    /// Others that are held.
    pub held: Vec<(Parameter, f64)>,
    /// Which of the measured.
    pub places: Vec<usize>,
}

impl Problem for BySimulation<'_> {
    fn residuals(&self, places: &[Vec<f64>], draw: u64) -> Result<Vec<Vec<f64>>> {
        let points: Vec<Point> =
            places.iter().map(|place| Point { draw, ..self.point(place) }).collect();
        let all = self.target.simulator.figures(&points)?;
        Ok(all.into_iter().map(|figures| self.off(&figures)).collect())
    }
}

impl BySimulation<'_> {
    /// The probes that are kept only.
    pub fn keeping(mut self, keep: impl Fn(Probe) -> bool) -> Self {
        self.places.retain(|place| keep(self.target.measured[*place].probe));
        self
    }

    /// A device with these times, as logarithms.
    pub fn point(&self, place: &[f64]) -> Point {
        let own = self.parameters.iter().copied().zip(place.iter().map(|log| log.exp()));
        self.point_with(own.collect())
    }

    /// The same with other times.
    pub fn point_with(&self, mut times: Vec<(Parameter, f64)>) -> Point {
        times.extend(self.held.iter().copied());
        let probes = self.places.iter().map(|place| self.target.measured[*place].probe);
        let (topology, effort) = (self.topology, self.target.effort);
        Point { topology, times, probes: probes.collect(), effort, draw: 0 }
    }

    /// Residuals of these figures.
    pub fn off(&self, figures: &[Figures]) -> Vec<f64> {
        let pairs = self.places.iter().zip(figures);
        let one = |(place, own): (&usize, _)| residuals(&self.measured(*place).fitted(), own);
        pairs.flat_map(one).collect()
    }

    /// What residuals have in common.
    pub fn kin(&self) -> Vec<Kin> {
        let one = |(probe, place): (usize, &usize)| {
            let pulls = pulls(&self.measured(*place).fitted()).into_iter();
            pulls.map(move |pull| Kin { probe, pull }).collect::<Vec<_>>()
        };
        self.places.iter().enumerate().flat_map(one).collect()
    }

    /// How far a fit lies off: the root mean square of its logarithms, each weighed by how much is
    /// expected of it, so that of the same probes the least squares are the least misfit.
    pub fn misfit(&self, fit: &Fit) -> f64 {
        let weights: f64 = self.kin().iter().map(|kin| kin.pull.powi(2)).sum();
        (fit.squares() / weights).sqrt()
    }

    fn measured(&self, place: usize) -> &Measured {
        &self.target.measured[place]
    }
}

/// Fitting one topology by the queueing model: means and rates alone.
pub struct ByEstimate<'a> {
    /// What is to come out.
    pub target: Target<'a>,
    /// The topology.
    pub topology: Topology,
    /// What is looked for.
    pub parameters: &'a [Parameter],
}

impl ByEstimate<'_> {
    fn ratios(&self, place: &[f64]) -> Vec<f64> {
        let base = self.target.simulator.config();
        let config = in_topology(base, self.topology);
        let value = |parameter: Parameter| {
            let known = self.parameters.iter().zip(place).find(|(known, _)| **known == parameter);
            known.map_or_else(|| parameter.base(base), |(_, log)| log.exp())
        };
        let measured = self.target.measured.iter();
        let both = |one: &Measured| {
            let (mean, rate) = coarse::estimate(&config, value, one.probe);
            [(mean / one.figures.mean_ns).ln(), (rate / one.figures.iops).ln()]
        };
        measured.flat_map(both).collect()
    }
}

impl Problem for ByEstimate<'_> {
    fn residuals(&self, places: &[Vec<f64>], _: u64) -> Result<Vec<Vec<f64>>> {
        Ok(places.iter().map(|place| self.ratios(place)).collect())
    }
}
