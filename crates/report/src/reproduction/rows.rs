//! Claims as rows of a table, and what links lead from one page to another.

use serde::Serialize;

use super::markdown::{outcome, support_words};
use super::{Claim, Measures, Reproduction, shown};
use crate::format::NOT_APPLICABLE;

/// A claim as a template shows it.
#[derive(Serialize)]
pub struct Row<'a> {
    #[serde(flatten)]
    claim: &'a Claim,
    measures: &'a Measures,
    href: String,
    /// Table, figure or section, without the paper.
    place: &'a str,
    published_text: String,
    measured_text: String,
    ratio_text: String,
    words: &'static str,
    literal_words: &'static str,
    contradiction: Option<Link<'a>>,
    support: Vec<Link<'a>>,
}

/// A claim that another one speaks of; without an address where no page has it.
#[derive(Serialize)]
struct Link<'a> {
    name: &'a str,
    href: Option<String>,
    text: String,
}

/// Where a page stands.
#[derive(Clone, Copy)]
pub enum From<'a> {
    /// The index.
    Index,
    /// The page of an experiment.
    Experiment(&'a str),
    /// A page in a folder of its own.
    Folder,
}

impl From<'_> {
    /// Where another experiment's page is.
    pub fn to(self, experiment: &str) -> String {
        match self {
            From::Index => format!("{experiment}/report.html"),
            From::Experiment(own) if own == experiment => String::new(),
            From::Experiment(_) | From::Folder => format!("../{experiment}/report.html"),
        }
    }
}

/// The address of a claim, by its name.
pub fn address(of: &Reproduction, name: &str, from: From<'_>) -> Option<String> {
    let claim = of.claims.iter().find(|claim| claim.name == name)?;
    Some(format!("{}#{name}", from.to(&claim.experiment)))
}

/// Claims as rows of a page.
pub fn rows<'a>(
    of: &'a Reproduction,
    claims: impl Iterator<Item = &'a Claim>,
    from: From<'_>,
) -> Vec<Row<'a>> {
    let link = |name: &'a str, text: String| Link { name, href: address(of, name, from), text };
    let row = |claim: &'a Claim| Row {
        measures: &claim.measures,
        href: format!("{}#{}", from.to(&claim.experiment), claim.name),
        place: claim
            .source
            .strip_prefix(&claim.paper_title)
            .map_or(claim.source.as_str(), |rest| rest.trim_start_matches(", ")),
        support: claim.supported_by.iter().map(|one| link(one, support_words(one, of))).collect(),
        published_text: shown(&claim.published, claim.unit.as_deref()),
        measured_text: shown(&claim.measured, claim.unit.as_deref()),
        ratio_text: claim.ratio.map_or_else(|| NOT_APPLICABLE.to_owned(), |r| format!("{r:.3}")),
        words: outcome(Some(claim.verdict), claim.near.best),
        contradiction: claim.contradicted_by.as_ref().map(|one| link(one, one.clone())),
        literal_words: outcome(claim.verdicts.literal, claim.near.literal),
        claim,
    };
    claims.map(row).collect()
}

/// What readings the verdicts are of.
#[derive(Serialize)]
pub struct Sides {
    both: bool,
    best: bool,
    literally: bool,
}

impl Sides {
    pub fn of(of: &Reproduction) -> Self {
        Sides {
            both: of.claims.iter().any(|claim| claim.verdicts.both()),
            best: of.claims.iter().any(|claim| claim.verdicts.best.is_some()),
            literally: of.claims.iter().any(|claim| claim.verdicts.only_literal()),
        }
    }
}
