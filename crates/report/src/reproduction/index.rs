//! The first page of a reproduction: what holds, and a row for every experiment.

use serde::Serialize;

use super::rows::{From, Row, Sides, rows};
use super::statements::PaperTally;
use super::{Claim, Experiment, KINDS, Reproduction, VERDICTS};
use crate::writers::page::{self, Charts, Kind};

const PAGE: Kind = Kind {
    template: include_str!("../../assets/reproduction.html"),
    extends: None,
    charts: Charts::None,
    after: &[include_str!("../../assets/claims.js")],
};

/// Writes the index.
///
/// # Panics
/// Never: a reproduction has string keys only.
pub fn write(of: &Reproduction) -> Vec<u8> {
    let embedded = Embedded {
        schema: of.schema,
        version: &of.version,
        quick: of.quick,
        trace_dir: of.trace_dir,
        claims: of.claims.iter().map(brief).collect(),
    };
    let json = serde_json::to_vec(&embedded).expect("a reproduction has string keys only");
    let title = match of.quick {
        true => "The papers, reproduced (quick: shortened runs)",
        false => "The papers, reproduced",
    };
    let own = Own {
        version: &of.version,
        quick: of.quick,
        verdicts: VERDICTS.map(|verdict| (name(verdict), verdict.words())),
        kinds: KINDS.map(|kind| (kind, of.tally(kind))),
        tallies: of.papers(),
        sides: Sides::of(of),
        headlines: rows(of, of.claims.iter().filter(|claim| claim.headline), From::Index),
        papers: papers(of),
    };
    page::render(&PAGE, title, &json, &own)
}

const fn name(verdict: super::Verdict) -> &'static str {
    match verdict {
        super::Verdict::Holds => "holds",
        super::Verdict::Fails => "fails",
        super::Verdict::NotJudged => "not_judged",
    }
}

/// What the script searches.
#[derive(Serialize)]
struct Embedded<'a> {
    schema: &'static str,
    version: &'a str,
    quick: bool,
    trace_dir: bool,
    claims: Vec<Brief<'a>>,
}

#[derive(Serialize)]
struct Brief<'a> {
    name: &'a str,
    experiment: &'a str,
    kind: &'static str,
    verdict: super::Verdict,
    text: &'a str,
}

fn brief(claim: &Claim) -> Brief<'_> {
    let Claim { name, experiment, kind, verdict, text, .. } = claim;
    Brief { name, experiment, kind, verdict: *verdict, text }
}

#[derive(Serialize)]
struct Own<'a> {
    version: &'a str,
    quick: bool,
    verdicts: [(&'static str, &'static str); 3],
    kinds: [(&'static str, [usize; 3]); 3],
    tallies: Vec<PaperTally>,
    sides: Sides,
    headlines: Vec<Row<'a>>,
    papers: Vec<Paper<'a>>,
}

#[derive(Serialize)]
struct Paper<'a> {
    title: &'a str,
    id: String,
    /// Its page of worlds.
    worlds: Option<String>,
    count: Count,
    experiments: Vec<Line<'a>>,
}

/// Claims that hold, fail, and are not judged.
#[derive(Serialize)]
struct Count {
    of: [usize; 3],
    all: usize,
    words: String,
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    item: &'a str,
    title: &'a str,
    about: &'a str,
    href: String,
    kinds: Vec<Count>,
    count: Count,
    runs: usize,
    /// Printed statements that hold in every world that judged them, and all that were judged.
    worlds: Option<[usize; 2]>,
}

fn count<'a>(claims: impl Iterator<Item = &'a Claim> + Clone) -> Count {
    let of = VERDICTS.map(|one| claims.clone().filter(|claim| claim.verdict == one).count());
    let words = [["holds", "hold"], ["fails", "fail"], ["not judged", "not judged"]];
    let told = of.iter().zip(words).filter(|(number, _)| **number > 0);
    let told: Vec<String> = told
        .map(|(number, words)| format!("{number} {}", words[usize::from(*number != 1)]))
        .collect();
    Count { of, all: of.iter().sum(), words: told.join(", ") }
}

fn line<'a>(of: &'a Reproduction, one: &'a Experiment) -> Line<'a> {
    let own = of.claims.iter().filter(|claim| claim.experiment == one.name);
    let of_kind = |kind| count(own.clone().filter(move |claim| claim.kind == kind));
    let worlds: Vec<_> =
        own.clone().filter_map(|claim| claim.worlds.as_ref()).filter(|one| one.of > 0).collect();
    let always = worlds.iter().filter(|one| one.hold == one.of).count();
    Line {
        name: &one.name,
        item: &one.item,
        title: &one.title,
        about: first_sentence(&one.about),
        href: From::Index.to(&one.name),
        kinds: KINDS.map(of_kind).into(),
        count: count(own),
        runs: one.runs.len(),
        worlds: (!worlds.is_empty()).then_some([always, worlds.len()]),
    }
}

/// Up to the first point behind which a new sentence begins.
fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let begins = |after: &str| after.chars().next().is_some_and(char::is_uppercase);
    let end = text
        .match_indices(['.', ';', '?'])
        .find(|(at, _)| {
            let rest = &text[at + 1..];
            rest.starts_with([' ', '\n']) && begins(rest.trim_start())
        })
        .map_or(text.len(), |(at, _)| at + 1);
    &text[..end]
}

fn papers(of: &Reproduction) -> Vec<Paper<'_>> {
    let mut papers: Vec<Paper<'_>> = Vec::new();
    for one in &of.experiments {
        let line = line(of, one);
        if let Some(paper) = papers.iter_mut().find(|paper| paper.title == one.paper) {
            paper.experiments.push(line);
            continue;
        }
        let of_paper = |claim: &&Claim| claim.paper_title == one.paper;
        let worlds = of.worlds.iter().find(|worlds| {
            of.claims.iter().any(|claim| of_paper(&claim) && claim.paper == worlds.paper)
        });
        papers.push(Paper {
            title: &one.paper,
            id: format!("paper-{}", papers.len() + 1),
            worlds: worlds.map(|worlds| format!("worlds/{}.html", worlds.paper)),
            count: count(of.claims.iter().filter(of_paper)),
            experiments: vec![line],
        });
    }
    papers
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_where_another_begins() {
        assert_eq!(first_sentence("\nFig. 3 at 0.5 of it. The rest."), "Fig. 3 at 0.5 of it.");
        assert_eq!(first_sentence("All of it"), "All of it");
    }
}
