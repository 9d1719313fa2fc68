//! An experiment's file: what is run, what was published, what is claimed and what is drawn.
//!
//! Strict TOML: an unknown key is an error that names file, line and what is legal.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::devices::{Bundled, bundled};
use crate::failure::{Failure, Outcome};

/// Every bundled experiment: one file in `config/experiments`, one name here.
pub const EXPERIMENTS: &[Bundled] = bundled!(
    "experiments": "dftl2014-fig1", "dftl2014-fig2", "dftl2014-fig12", "dftl2014-fig13",
    "dftl2014-fig14", "dftl2014-fig15", "dftl2014-fig16", "dftl2014-table2", "dftl2014-table4",
    "dftl2014-table5", "dftl2014-table6", "dftl2014-gc-threshold", "dftl2014-microscopic",
    "dftl2014-ram", "dftl2014-search", "dftl2014-spread", "dftl2014-sram", "dftl2014-starts",
    "dftl2014-starts-footprint", "dftl2014-starts-prefix", "dftl2014-starts-sizes",
    "asplos09-smallblock", "adapt2012-fig6", "adapt2012-fig7", "adapt2012-fig8", "adapt2012-fig9",
    "adapt2012-fig10", "adapt2012-fig11", "adapt2012-fig12", "adapt2012-fig13", "adapt2012-fig14",
    "adapt2012-fig15", "adapt2012-fig16", "adapt2012-fig17", "adapt2012-fig18",
    "adapt2012-table1", "adapt2012-table2", "adapt2012-table3", "adapt2012-ablation-history",
    "adapt2012-ablation-spare", "adapt2012-ablation-start", "adapt2012-ablation-threshold",
    "adapt2012-ablation-waftl", "adapt2012-ram", "treeftl2013-fig4", "treeftl2013-fig5",
    "treeftl2013-fig6", "treeftl2013-table1", "treeftl2013-table2", "treeftl2013-fill",
    "treeftl2013-ram128", "treeftl2013-search", "treeftl2013-settings", "treeftl2013-starts",
    "hat2010-fig9", "hat2010-fig10", "hat2010-fig11", "hat2010-fig11-distances", "hat2010-fig12",
    "hat2010-fig13", "hat2010-fig14", "hat2010-table1", "hat2010-table3", "hat2010-table5",
    "hat2010-aged", "hat2010-energy", "hat2010-queue", "contradictions-adapt",
    "contradictions-cache", "contradictions-collection", "contradictions-hat",
    "contradictions-order", "contradictions-prints", "contradictions-timing",
    "contradictions-traces", "contradictions-tree", "ftlab-overload", "ftlab-overload-full"
);

/// Options of a run by name, without dashes.
pub type Options = BTreeMap<String, OptionValue>;

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
    /// Requests of a run in the quick set; none where the experiment is not part of it.
    pub quick: Option<u64>,
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

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// A flag that is given or not.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// An option that is given several times.
    List(Vec<String>),
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
    /// Options of all of them.
    #[serde(default)]
    pub options: Options,
    /// A third side of the product.
    #[serde(default)]
    pub variants: Vec<Variant>,
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

/// The experiment of that name, or of that file.
pub fn find(name: &str) -> Outcome<Definition> {
    if crate::devices::is_path(name) {
        let text = std::fs::read_to_string(name)
            .map_err(|error| Failure::usage(format!("{name}: cannot be read ({error})")))?;
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
        return parse(name, &stem, &text);
    }
    match EXPERIMENTS.iter().find(|known| known.name == name) {
        Some(known) => known.experiment(),
        None => {
            let names: Vec<&str> = EXPERIMENTS.iter().map(|known| known.name).collect();
            let unknown = Failure::unknown("experiment", name, &names);
            Err(Failure::usage(format!("{unknown}, or a path to a .toml file")))
        }
    }
}

impl Bundled {
    /// The experiment of this file.
    pub fn experiment(&self) -> Outcome<Definition> {
        parse(&format!("config/experiments/{}.toml", self.name), self.name, self.text)
    }
}

fn parse(file: &str, name: &str, text: &str) -> Outcome<Definition> {
    let refused = |line: usize, message: &str| {
        Failure::usage(format!("{file}:{line}: {}", message.trim().replace('\n', "; ")))
    };
    let mut definition: Definition = toml_edit::de::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        refused(text[..at].matches('\n').count() + 1, error.message())
    })?;
    name.clone_into(&mut definition.name);
    definition.sha256 = sha256(text.as_bytes());
    definition.check().map_err(|message| Failure::usage(format!("{file}: {message}")))?;
    Ok(definition)
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Definition {
    /// What the types cannot say.
    fn check(&self) -> Result<(), String> {
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
