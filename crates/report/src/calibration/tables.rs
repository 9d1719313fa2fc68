//! The tables of a calibration, as rows of text: of the page and of the terminal.

use super::{Calibration, Parameter, Probe, Stage, Tried};
use crate::format::Quantity;

/// Topologies with a row each.
const TOPOLOGIES_SHOWN: usize = 12;

/// Headings of [`parameters`].
pub const PARAMETERS: [&str; 4] = ["Setting", "Base", "Fitted", "95 % interval"];
/// Headings of [`topologies`].
pub const TOPOLOGIES: [&str; 4] = ["Channels x dies x planes", "Off by", "Looked at", "Verdict"];
/// Headings of [`probes`].
pub const PROBES: [&str; 8] = [
    "Probe",
    "Mean, measured",
    "Simulated",
    "Rate, measured",
    "Simulated",
    "p99, measured",
    "Simulated",
    "Off by",
];

impl Calibration {
    /// A row per parameter.
    #[must_use]
    pub fn parameter_rows(&self) -> Vec<Vec<String>> {
        self.parameters.iter().map(parameter).collect()
    }

    /// A row per topology, the chosen one first, as many as a reader looks at.
    #[must_use]
    pub fn topology_rows(&self) -> Vec<Vec<String>> {
        let shown = self.topologies.iter().take(TOPOLOGIES_SHOWN);
        shown.map(|tried| topology(tried, tried.topology == self.topology)).collect()
    }

    /// What was left out of these rows.
    #[must_use]
    pub fn topologies_beyond(&self) -> usize {
        self.topologies.len().saturating_sub(TOPOLOGIES_SHOWN)
    }

    /// A row per probe.
    #[must_use]
    pub fn probe_rows(&self) -> Vec<Vec<String>> {
        self.probes.iter().map(probe).collect()
    }

    /// What the topology is worth, in a sentence.
    #[must_use]
    pub fn topology_verdict(&self) -> String {
        let alike: Vec<String> = self.alike();
        match (self.topologies.len(), alike.len()) {
            (1, _) => "Topology: stated, no other was tried.".to_owned(),
            (_, 0 | 1) => format!("Topology: {}", self.looked_at()),
            (tried, count) => format!(
                "Topology: not identifiable from these probes, which do not tell {count} of {tried} \
                 apart, whatever their misfits: {}. {}",
                alike.join(", "),
                self.unfitted()
            )
            .trim_end()
            .to_owned(),
        }
    }

    /// Topologies that the probes do not tell apart.
    #[must_use]
    pub fn alike(&self) -> Vec<String> {
        let alike = self.topologies.iter().filter(|tried| tried.alike);
        alike.map(|tried| tried.topology.to_string()).collect()
    }

    /// What the chosen topology is the best of.
    fn looked_at(&self) -> String {
        let fitted = self.fitted_to_the_end();
        let compared = self.topologies.len() - self.not_compared();
        let best = match (fitted, self.not_compared()) {
            (0 | 1, 0) => {
                "the nearest; no other came near enough to be fitted to the end.".to_owned()
            }
            (0 | 1, _) => format!(
                "the nearest of {compared} that were compared; no other of these came near enough \
                 to be fitted to the end."
            ),
            (_, 0) => {
                format!("the best of {fitted} that were fitted to the end; the others fit worse.")
            }
            _ => format!(
                "the best of {fitted} that were fitted to the end; the others of these fit worse."
            ),
        };
        format!("{best} {}", self.unfitted()).trim_end().to_owned()
    }

    /// What was not compared to the end.
    fn unfitted(&self) -> String {
        let farther = match self.count(Stage::Screened) {
            0 => None,
            count => Some(format!(
                "Farther off, and not fitted to the end: {count} by brief simulations."
            )),
        };
        let sentences: Vec<String> = self.uncompared().into_iter().chain(farther).collect();
        sentences.join(" ")
    }

    /// How many topologies were not compared, and why, in a sentence; none where all were.
    #[must_use]
    pub fn uncompared(&self) -> Option<String> {
        let count = |stage, words: &str| match self.count(stage) {
            0 => None,
            count => Some(format!("{count} {words}")),
        };
        let ran_out =
            count(Stage::RanOut, "whose fit was still getting better when its steps ran out");
        let estimated =
            count(Stage::NotCompared, "by a queueing model alone, without a simulation");
        let parts: Vec<String> = ran_out.into_iter().chain(estimated).collect();
        (!parts.is_empty()).then(|| {
            format!(
                "Not compared: {} (--channels, --dies and --planes choose others).",
                parts.join(", ")
            )
        })
    }

    /// How many topologies were not compared with the others.
    #[must_use]
    pub fn not_compared(&self) -> usize {
        self.count(Stage::NotCompared) + self.count(Stage::RanOut)
    }

    /// How many topologies were fitted by simulations of all probes.
    #[must_use]
    pub fn fitted_to_the_end(&self) -> usize {
        self.count(Stage::Fitted)
    }

    fn count(&self, stage: Stage) -> usize {
        self.topologies.iter().filter(|tried| tried.stage == stage).count()
    }
}

fn parameter(one: &Parameter) -> Vec<String> {
    let shown = |value: f64| one.quantity().format(value);
    let free = if one.unit == "ns" { "0" } else { "no limit" };
    let value = |value: f64| if value > 0.0 { shown(value) } else { free.to_owned() };
    let interval = one.range().or_else(|| one.limit());
    let interval = interval.unwrap_or_else(|| "not identifiable from these probes".to_owned());
    let (base, fitted) = (value(one.base), value(one.value));
    vec![format!("{} ({})", one.key, one.about), base, fitted, interval]
}

fn topology(tried: &Tried, chosen: bool) -> Vec<String> {
    let looked = match tried.stage {
        Stage::Fitted => "fitted",
        Stage::Screened => "fitted briefly",
        Stage::RanOut => "steps ran out",
        Stage::NotCompared => "estimated",
    };
    let verdict = match (chosen, tried.alike, tried.stage) {
        (true, ..) => "chosen",
        (false, true, _) => "not told from the chosen one",
        (false, false, Stage::Fitted) => "fits worse",
        (false, false, Stage::RanOut | Stage::NotCompared) => "not compared",
        (false, false, Stage::Screened) => "farther off, not fitted to the end",
    };
    vec![tried.topology.to_string(), off(tried.misfit), looked.to_owned(), verdict.to_owned()]
}

fn probe(one: &Probe) -> Vec<String> {
    const P99: usize = 3;
    let time = |value: f64| Quantity::Nanoseconds.format(value);
    let perhaps = |value: Option<f64>| value.map_or("-".to_owned(), time);
    let rate = |value: f64| Quantity::PerSecond.format(value);
    vec![
        one.name(),
        time(one.measured.mean_ns),
        time(one.simulated.mean_ns),
        rate(one.measured.iops),
        rate(one.simulated.iops),
        perhaps(one.measured.percentile_ns[P99]),
        perhaps(one.simulated.percentile_ns[P99]),
        off(one.misfit),
    ]
}

/// A misfit as a share, to a tenth of a percent.
fn off(log: f64) -> String {
    format!("{:.1} %", 100.0 * (log.exp() - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Topology;

    fn verdict(tried: &[(Stage, bool)]) -> String {
        let one = |(place, &(stage, alike)): (usize, &(Stage, bool))| {
            let topology = Topology { channels: place as u32 + 1, dies: 1, planes: 1 };
            Tried { topology, stage, misfit: 0.1, alike }
        };
        let topologies: Vec<Tried> = tried.iter().enumerate().map(one).collect();
        Calibration {
            schema: crate::calibration::SCHEMA,
            version: String::new(),
            command: String::new(),
            files: Vec::new(),
            base: String::new(),
            set: Vec::new(),
            topology: topologies[0].topology,
            topologies,
            parameters: Vec::new(),
            probes: Vec::new(),
            left_out: Vec::new(),
            identified_within: 2.0,
            misfit: 0.1,
            words: Vec::new(),
            simulations: 0,
        }
        .topology_verdict()
    }

    /// Only what was fitted to the end is said to fit worse, or as well.
    #[test]
    fn a_topology_is_judged_beside_those_that_were_compared_with_it() {
        use Stage::{Fitted, NotCompared, RanOut, Screened};
        assert_eq!(verdict(&[(Fitted, true)]), "Topology: stated, no other was tried.");
        assert_eq!(
            verdict(&[(Fitted, true), (Fitted, false), (Screened, false), (NotCompared, false)]),
            "Topology: the best of 2 that were fitted to the end; the others of these fit worse. Not \
             compared: 1 by a queueing model alone, without a simulation (--channels, --dies and \
             --planes choose others). Farther off, and not fitted to the end: 1 by brief simulations."
        );
        assert_eq!(
            verdict(&[(Fitted, true), (Screened, false), (Screened, false)]),
            "Topology: the nearest; no other came near enough to be fitted to the end. Farther off, \
             and not fitted to the end: 2 by brief simulations."
        );
        assert_eq!(
            verdict(&[(Fitted, true), (Fitted, true), (Fitted, false), (RanOut, false)]),
            "Topology: not identifiable from these probes, which do not tell 2 of 4 apart, whatever \
             their misfits: 1 x 1 x 1, 2 x 1 x 1. Not compared: 1 whose fit was still getting better \
             when its steps ran out (--channels, --dies and --planes choose others)."
        );
        let near = "Not compared: 2 by a queueing model alone, without a simulation (--channels, \
                    --dies and --planes choose others).";
        assert_eq!(
            verdict(&[
                (Fitted, true),
                (Screened, false),
                (NotCompared, false),
                (NotCompared, false)
            ]),
            format!(
                "Topology: the nearest of 2 that were compared; no other of these came near enough \
                 to be fitted to the end. {near} Farther off, and not fitted to the end: 1 by brief \
                 simulations."
            )
        );
        let alike =
            verdict(&[(Fitted, true), (Fitted, true), (NotCompared, false), (NotCompared, false)]);
        assert!(alike.ends_with(near), "{alike}");
    }

    #[test]
    fn an_interval_says_on_what_condition_it_holds() {
        let mut one = Parameter {
            key: "timing.read".to_owned(),
            about: String::new(),
            unit: "ns",
            base: 1000.0,
            value: 2000.0,
            interval: Some([1000.0, 3000.0]),
            given: Vec::new(),
            doubt: String::new(),
            why: String::new(),
            at_least: None,
            at_most: None,
            together: None,
        };
        let free = one.range().unwrap();
        assert!(!free.contains("conditional"), "{free}");
        one.given.push("timing.program".to_owned());
        assert_eq!(one.range().unwrap(), format!("{free} (conditional on timing.program)"));
        assert_eq!(parameter(&one)[3], one.range().unwrap());
        one.doubt = "all probes are of one size".to_owned();
        assert_eq!(
            one.range().unwrap(),
            format!("of the model alone, {free} (conditional on timing.program): {}", one.doubt)
        );
        one.together = Some(super::super::Together {
            of: "timing.read + host.command_overhead".to_owned(),
            value: 2500.0,
            interval: [1000.0, 3000.0],
            given: one.given.clone(),
        });
        let sum = one.sum().unwrap();
        assert!(sum.ends_with(&format!("95 % {}", one.range().unwrap())), "{sum}");
        one.interval = None;
        assert_eq!(one.range(), None);
        assert_eq!(parameter(&one)[3], "not identifiable from these probes");
    }

    #[test]
    fn a_row_says_whether_a_topology_was_fitted_to_the_end() {
        let row = |stage, alike, chosen| {
            let of = Topology { channels: 8, dies: 4, planes: 2 };
            topology(&Tried { topology: of, stage, misfit: 0.1, alike }, chosen).remove(3)
        };
        assert_eq!(row(Stage::Fitted, true, true), "chosen");
        assert_eq!(row(Stage::Fitted, true, false), "not told from the chosen one");
        assert_eq!(row(Stage::Fitted, false, false), "fits worse");
        assert_eq!(row(Stage::Screened, false, false), "farther off, not fitted to the end");
        assert_eq!(row(Stage::NotCompared, false, false), "not compared");
        assert_eq!(row(Stage::RanOut, false, false), "not compared");
    }
}
