//! An experiment's file: what is run, what was published, what is claimed and what is drawn.
//!
//! Strict TOML: an unknown key is an error that names file, line and what is legal.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::reproduce::options::Options;

/// One experiment.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Name of the file without its ending.
    #[serde(skip)]
    pub name: String,
    /// SHA-256 of the file.
    #[serde(skip)]
    pub sha256: String,
    /// What the table or figure shows.
    pub title: String,
    /// Short name of the source.
    pub paper: Paper,
    /// Table, figure or section.
    pub item: String,
    /// What was measured there, and what is run here.
    pub about: String,
    /// What the source does not say, and what is used in its place.
    #[serde(default)]
    pub unknown: Vec<String>,
    /// The file of readings that its runs stand on: what the paper leaves open is chosen there.
    pub reading: Option<String>,
    /// Requests of a run in the quick set; none where the experiment is not part of it.
    pub quick: Option<u64>,
    /// Requests of a run in a world (`--worlds`); none: the whole run.
    pub worlds: Option<u64>,
    /// Options of every run.
    #[serde(default)]
    pub options: Options,
    /// Schemes under other names.
    #[serde(default)]
    pub schemes: BTreeMap<String, SchemeLabel>,
    /// Workloads under other names.
    #[serde(default)]
    pub workloads: BTreeMap<String, WorkloadLabel>,
    /// What is run.
    #[serde(default)]
    pub runs: Vec<RunBlock>,
    /// What is looked into without a device.
    #[serde(default)]
    pub inspections: Vec<InspectionBlock>,
    /// Printed numbers, which expressions see as `published`.
    #[serde(default)]
    pub published: Value,
    /// What is claimed.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// What is drawn.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

/// Where an experiment comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paper {
    /// Gupta, Kim, Urgaonkar 2014.
    Dftl2014,
    /// The slides of its first version, 2009.
    Asplos09,
    /// Wang, Wong 2012.
    Adapt2012,
    /// Wang, Wong 2013.
    Treeftl2013,
    /// Hu et al. 2010.
    Hat2010,
    /// Questions of our own about the others.
    Ftlab,
}

impl Paper {
    /// As files name it.
    pub fn name(self) -> &'static str {
        match self {
            Paper::Dftl2014 => "dftl2014",
            Paper::Asplos09 => "asplos09",
            Paper::Adapt2012 => "adapt2012",
            Paper::Treeftl2013 => "treeftl2013",
            Paper::Hat2010 => "hat2010",
            Paper::Ftlab => "ftlab",
        }
    }

    /// As results name it.
    pub fn title(self) -> &'static str {
        match self {
            Paper::Dftl2014 => "DFTL (Gupta, Kim, Urgaonkar 2014)",
            Paper::Asplos09 => "DFTL, slides of ASPLOS 2009",
            Paper::Adapt2012 => "ADAPT (Wang, Wong 2012)",
            Paper::Treeftl2013 => "TreeFTL (Wang, Wong 2013)",
            Paper::Hat2010 => "HAT (Hu et al. 2010)",
            Paper::Ftlab => "ftlab",
        }
    }
}

/// What stands behind the name of a scheme.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeLabel {
    /// `--scheme`.
    pub scheme: String,
    /// Options beside it.
    #[serde(default)]
    pub options: Options,
}

/// What stands behind the name of a workload: one of the two.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadLabel {
    /// `--workload`.
    pub workload: Option<String>,
    /// A file in the folder of `--trace-dir`.
    pub file: Option<String>,
    /// Whether that file is the paper's trace, whole, so that magnitudes are judged on it.
    #[serde(default)]
    pub whole: bool,
    /// Options beside it.
    #[serde(default)]
    pub options: Options,
}

/// A cross product of runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunBlock {
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Names of schemes.
    pub schemes: Vec<String>,
    /// Whether they are part of the quick set, as they are where nothing is said. What prepares a
    /// device is not shortened: where it takes most of the time, runs are not quick.
    #[serde(default = "yes")]
    pub quick: bool,
    /// Options of all of them.
    #[serde(default)]
    pub options: Options,
    /// A third side of the product.
    #[serde(default)]
    pub variants: Vec<Variant>,
}

fn yes() -> bool {
    true
}

/// One variant.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// The middle part of the run's name.
    pub name: String,
    /// Its options.
    #[serde(default)]
    pub options: Options,
}

/// Workloads to look into.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InspectionBlock {
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Options of `ftlab trace inspect`.
    #[serde(default)]
    pub options: Options,
}

/// What kind of claim it is; kinds are never mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimKind {
    /// Must hold exactly, or within the rounding of the print.
    Identity,
    /// A sign, an order, a crossing.
    Relation,
    /// A printed number against ours.
    Magnitude,
}

/// A number, or an expression for one; of relations also words.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Stated {
    /// A number as printed.
    Number(f64),
    /// An expression or words.
    Text(String),
}

/// How far measured and published may be apart.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// As a share of the published value.
    pub relative: Option<f64>,
    /// In its unit.
    pub absolute: Option<f64>,
}

impl Tolerance {
    /// Whether `measured` is near enough.
    pub fn allows(&self, published: f64, measured: f64) -> bool {
        let relative = self.relative.unwrap_or(0.0) * published.abs();
        let allowed = relative.max(self.absolute.unwrap_or(0.0));
        (measured - published).abs() <= allowed
    }

    /// For people; none where it is exact.
    pub fn words(&self) -> Option<String> {
        match (self.relative, self.absolute) {
            (Some(share), _) => Some(format!("±{} %", 100.0 * share)),
            (None, Some(by)) => Some(format!("±{by}")),
            (None, None) => None,
        }
    }
}

/// One claim.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Unique in its file.
    pub name: String,
    /// A sentence.
    pub text: String,
    /// Section, table, figure.
    pub source: String,
    /// Its kind.
    pub kind: ClaimKind,
    /// Judges, on runs, a statement that the paper prints; each statement is judged by one claim.
    #[serde(default)]
    pub printed: bool,
    /// `EXPERIMENT.CLAIM` that shows that the paper contradicts this statement itself.
    pub contradicted_by: Option<String>,
    /// Belongs to the table at the top.
    #[serde(default)]
    pub headline: bool,
    /// Of both numbers.
    pub unit: Option<String>,
    /// What was printed.
    pub published: Option<Stated>,
    /// What is measured.
    pub measured: Option<String>,
    /// When a relation holds.
    pub holds: Option<String>,
    /// How near is near enough.
    #[serde(default)]
    pub tolerance: Tolerance,
    /// Why a stand-in justifies a verdict on a magnitude.
    pub judged: Option<String>,
    /// Always shown.
    pub note: Option<String>,
    /// Shown when it does not hold.
    pub if_fails: Option<String>,
    /// Claims whose values support that.
    #[serde(default)]
    pub supported_by: Vec<String>,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Columns side by side.
    Bars,
    /// Lines over values.
    Lines,
    /// Columns of parts.
    Stacked,
    /// Cumulative curves of the response time, one picture per group.
    Cdf,
    /// Numbers only.
    Table,
}

impl Form {
    /// As the page knows it.
    pub fn name(self) -> &'static str {
        match self {
            Form::Bars => "bars",
            Form::Lines => "lines",
            Form::Stacked => "stacked",
            Form::Cdf => "cdf",
            Form::Table => "table",
        }
    }
}

/// Text or number.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// A number.
    Number(f64),
    /// A name.
    Name(String),
}

impl Place {
    /// As part of a key and on axes.
    pub fn text(&self) -> String {
        match self {
            Place::Number(number) => number.to_string(),
            Place::Name(name) => name.clone(),
        }
    }
}

/// One picture.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its heading.
    pub title: String,
    /// How it is drawn.
    pub form: Form,
    /// Places on the axis.
    pub groups: Vec<Place>,
    /// One colour each.
    pub series: Vec<String>,
    /// Of stacked columns.
    #[serde(default)]
    pub parts: Vec<String>,
    /// Expression of a value, or of the run's name.
    pub value: String,
    /// Title of the first axis.
    #[serde(default)]
    pub x: String,
    /// Title of the second.
    pub y: String,
    /// Logarithmic.
    #[serde(default)]
    pub log_x: bool,
    /// Logarithmic.
    #[serde(default)]
    pub log_y: bool,
    /// Printed values by `GROUP.SERIES`.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// A sentence below.
    pub note: Option<String>,
}

impl Definition {
    /// What the types cannot say.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.quick.is_none() && self.runs.iter().any(|block| !block.quick) {
            let why = "an experiment without 'quick' is not part of the quick set";
            return Err(format!("runs: 'quick = false' has no effect: {why}"));
        }
        for (label, workload) in &self.workloads {
            if workload.workload.is_some() == workload.file.is_some() {
                return Err(format!(
                    "workloads.{label}: one of 'workload' and 'file' is needed, and one only"
                ));
            }
        }
        let mut names: Vec<&str> = Vec::new();
        for claim in &self.claims {
            if names.contains(&claim.name.as_str()) {
                return Err(format!("claim '{}' is there twice", claim.name));
            }
            names.push(&claim.name);
            claim.check().map_err(|message| format!("claim '{}': {message}", claim.name))?;
        }
        for figure in &self.figures {
            let idle = match figure.form {
                Form::Cdf if !figure.published.is_empty() => Some("published"),
                Form::Cdf | Form::Stacked | Form::Table if figure.log_y => Some("log_y"),
                Form::Bars | Form::Cdf | Form::Stacked | Form::Table if figure.log_x => {
                    Some("log_x")
                }
                _ => None,
            };
            if let Some(idle) = idle {
                return Err(format!("figure '{}': '{idle}' has no effect there", figure.title));
            }
            if (figure.form == Form::Stacked) == figure.parts.is_empty() {
                return Err(format!(
                    "figure '{}': 'parts' belong to stacked columns",
                    figure.title
                ));
            }
            let keys = figure.places();
            if let Some(stray) = figure.published.keys().find(|key| !keys.contains(key)) {
                return Err(format!(
                    "figure '{}': published '{stray}' is no GROUP.SERIES of it",
                    figure.title
                ));
            }
        }
        Ok(())
    }
}

impl Figure {
    /// `GROUP.SERIES` of every place.
    fn places(&self) -> Vec<String> {
        let of = |group: &Place| {
            let group = group.text();
            self.series.iter().map(move |series| format!("{group}.{series}")).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(of).collect()
    }
}

impl Claim {
    fn check(&self) -> Result<(), &'static str> {
        let numbers = self.measured.is_some() && self.published.is_some();
        match self.kind {
            _ if self.contradicted_by.is_some() && !self.printed => {
                Err("'contradicted_by' belongs to printed statements")
            }
            ClaimKind::Relation if self.holds.is_none() => Err("a relation needs 'holds'"),
            ClaimKind::Identity | ClaimKind::Magnitude if !numbers => {
                Err("'published' and 'measured' are needed")
            }
            ClaimKind::Identity | ClaimKind::Magnitude if self.holds.is_some() => {
                Err("'holds' belongs to relations")
            }
            ClaimKind::Identity | ClaimKind::Relation if self.judged.is_some() => {
                Err("'judged' belongs to magnitudes")
            }
            ClaimKind::Magnitude if self.judged.as_deref().is_some_and(str::is_empty) => {
                Err("'judged' must say why")
            }
            ClaimKind::Magnitude if self.tolerance.words().is_none() => {
                Err("a magnitude needs a tolerance")
            }
            _ => Ok(()),
        }
    }
}
