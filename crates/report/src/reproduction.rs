//! Papers reproduced: claims with what was published and what was measured, and the pictures of
//! their experiments. Made by `ftlab reproduce`; shown as pages, as Markdown and as text.

mod index;
mod markdown;
mod measures;
mod page;
mod pages;
mod rows;
mod statements;
mod worlds;

pub use markdown::{claims_markdown, claims_text, paper_markdown};
pub use measures::{Chosen, Measured, Measures, PartOf};
pub use pages::pages;
pub use statements::{Outcome, PaperTally, Tally};
pub use worlds::{Both, InWorlds, PaperWorlds, Statement, World};

use serde::Serialize;
use serde_json::Value;

/// Name and version of the format.
pub const SCHEMA: &str = "ftlab-reproduction/1";

/// Everything that a reproduction found.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Version of ftlab.
    pub version: String,
    /// Whether runs were shortened.
    pub quick: bool,
    /// Whether real traces were offered in the place of stand-ins.
    pub trace_dir: bool,
    /// Every claim, in the order of the experiments.
    pub claims: Vec<Claim>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// What became of printed statements in worlds, where those were asked for.
    pub worlds: Vec<PaperWorlds>,
}

/// The outcome of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Measured as published.
    Holds,
    /// Measured otherwise.
    Fails,
    /// No verdict can be given; the explanation says why.
    NotJudged,
}

impl Verdict {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::NotJudged => "not judged",
        }
    }
}

/// One claim with its outcome (INTERFACE.md, `claims.json`).
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// `EXPERIMENT.NAME`.
    pub name: String,
    /// Short name of the paper, or `ftlab` where the question is ours.
    pub paper: String,
    /// Authors and year of the paper.
    #[serde(skip)]
    pub paper_title: String,
    /// Whether it judges a statement that the paper prints; else it is ours.
    pub printed: bool,
    /// The claim that shows that the paper contradicts this statement itself.
    pub contradicted_by: Option<String>,
    /// Paper, and table, figure or section.
    pub source: String,
    /// `identity`, `relation` or `magnitude`.
    pub kind: &'static str,
    /// A number, or words where the paper has no number.
    pub published: Value,
    /// A number, a list, or null where nothing could be measured.
    pub measured: Value,
    /// Measured by published, where both are numbers and the second is not zero.
    pub ratio: Option<f64>,
    /// The outcome.
    pub verdict: Verdict,
    /// The outcome under two readings of what the paper leaves open.
    pub verdicts: Both<Verdict>,
    /// Whether the numbers are as near as asked, judged or not; none where runs were shortened.
    pub near: Both<bool>,
    /// In how many worlds it holds, where worlds were asked for.
    pub worlds: Option<InWorlds>,
    /// Whether a fitted choice of the reading was set to meet it: that it is met is no finding.
    pub target: bool,
    /// Why it came out so, as far as that is known; why it was not judged.
    pub explanation: String,
    /// Name of the experiment.
    pub experiment: String,
    /// What is claimed, in a sentence.
    pub text: String,
    /// Unit of both numbers.
    pub unit: Option<String>,
    /// How near is near enough, in words; none where it must be exact.
    pub tolerance: Option<String>,
    /// Whether it belongs to the table at the top.
    pub headline: bool,
    /// Claims whose measured values support the explanation.
    pub supported_by: Vec<String>,
    /// What its numbers are.
    #[serde(skip)]
    pub measures: Measures,
}

/// One table or figure of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct Experiment {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The paper.
    pub paper: String,
    /// Table, figure or section.
    pub item: String,
    /// What was measured there, and what was run here.
    pub about: String,
    /// What the paper does not say, and what was used in its place.
    pub unknown: Vec<String>,
    /// What was chosen once for the whole paper.
    pub readings: Vec<Chosen>,
    /// Runs, with the command line that repeats each.
    pub runs: Vec<Run>,
    /// Pictures.
    pub figures: Vec<Figure>,
}

/// One run of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Its name in the experiment.
    pub id: String,
    /// What repeats it.
    pub command: String,
    /// Why there is no result, if there is none.
    pub lacking: Option<String>,
    /// Mean response in nanoseconds.
    pub response_ns_mean: Option<f64>,
    /// 99th percentile of the response in nanoseconds.
    pub response_ns_p99: Option<u64>,
    /// Service time in nanoseconds.
    pub service_ns: Option<u64>,
    /// Pages programmed per page written.
    pub waf: Option<f64>,
    /// Erased blocks.
    pub erases: Option<u64>,
    /// Energy in microjoules.
    pub energy_uj: Option<f64>,
    /// Requests measured.
    pub requests: Option<u64>,
    /// What its workload stands for, where it is a stand-in.
    pub stand_in: Option<String>,
    /// Full sentences that belong beside the numbers.
    pub warnings: Vec<String>,
}

/// One picture, as numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Unique within all pages.
    pub id: String,
    /// Heading.
    pub title: String,
    /// `bars`, `lines`, `stacked`, `cdf` or `table`.
    pub form: &'static str,
    /// Places on the axis: numbers or names.
    pub groups: Vec<Value>,
    /// Names of the series.
    pub series: Vec<String>,
    /// Names of the parts of stacked columns.
    pub parts: Vec<String>,
    /// By group and series: a number or null; by part as well where there are parts; points
    /// `[nanoseconds, share]` where it is a curve.
    pub values: Vec<Vec<Value>>,
    /// Printed values by group and series.
    pub published: Vec<Vec<Option<f64>>>,
    /// Title of the first axis.
    pub x: String,
    /// Title of the second axis.
    pub y: String,
    /// Logarithmic.
    pub log_x: bool,
    /// Logarithmic.
    pub log_y: bool,
    /// A sentence below.
    pub note: Option<String>,
}

/// The kinds of claim, which are never mixed.
pub const KINDS: [&str; 3] = ["identity", "relation", "magnitude"];
const VERDICTS: [Verdict; 3] = [Verdict::Holds, Verdict::Fails, Verdict::NotJudged];

impl Reproduction {
    /// Claims of a kind by outcome: held, failed, not judged.
    #[must_use]
    pub fn tally(&self, kind: &str) -> [usize; 3] {
        let of = |verdict| {
            let same = |claim: &&Claim| claim.kind == kind && claim.verdict == verdict;
            self.claims.iter().filter(same).count()
        };
        VERDICTS.map(of)
    }

    /// The outcomes in a sentence, kind by kind.
    #[must_use]
    pub fn outcomes(&self) -> String {
        let of = |kind: &str| {
            let [holds, fails, unjudged] = self.tally(kind);
            let name = match kind {
                "identity" => "identities",
                "relation" => "relations",
                _ => "magnitudes",
            };
            format!("{name}: {holds} hold, {fails} fail, {unjudged} not judged")
        };
        KINDS.map(of).join("; ")
    }
}

/// A published or measured value as people read it.
#[must_use]
pub fn shown(value: &Value, unit: Option<&str>) -> String {
    let with_unit = |text: String| match unit {
        Some(unit) => format!("{text} {unit}"),
        None => text,
    };
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => with_unit(number_text(number.as_f64().unwrap_or(f64::NAN))),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| shown(item, None)).collect();
            with_unit(items.join(", "))
        }
        Value::Object(members) => {
            let pair = |(key, value): (&String, &Value)| format!("{key} {}", shown(value, unit));
            members.iter().map(pair).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Four significant digits; whole numbers as they are, in groups of three.
fn number_text(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", crate::format::count(value.abs() as u64));
    }
    let magnitude = value.abs().log10().floor();
    if (-4.0..9.0).contains(&magnitude) {
        let decimals = (3.0 - magnitude).max(0.0) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{value:.3e}")
}

#[cfg(test)]
mod tests;
