//! What papers print, apart from what is ours: each printed statement counted once, under the text
//! to the letter, under the best reading, and in how many worlds.

use std::collections::BTreeMap;

use serde::Serialize;

use super::worlds::{Both, InWorlds, PaperWorlds};
use super::{Claim, KINDS, Reproduction, Verdict};

/// The outcome of a claim under one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the numbers are as near as the claim asks, whether or not there is a verdict.
    pub near: Option<bool>,
}

/// How many printed statements of a kind came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Statements that the paper prints.
    pub printed: usize,
    /// Those that the paper contradicts itself.
    pub contradicted: usize,
    /// Those that a fitted choice of the best reading was set to meet: they are in no count that
    /// follows.
    pub targets: usize,
    /// Those that hold under the text to the letter.
    pub literal: Option<usize>,
    /// Those that hold under the best reading.
    pub best: Option<usize>,
    /// Those that hold in some world, or under one of the two readings.
    pub some: Option<usize>,
    /// Those that were judged somewhere and hold nowhere.
    pub none: Option<usize>,
}

/// The printed statements of one paper.
#[derive(Clone, Debug, Serialize)]
pub struct PaperTally {
    /// Short name.
    pub paper: String,
    /// Authors and year.
    pub title: String,
    /// By kind, those that it prints.
    pub kinds: Vec<(&'static str, Tally)>,
    /// Worlds that were made.
    pub worlds: usize,
}

impl Claim {
    fn was_judged(&self) -> bool {
        let in_worlds = self.worlds.as_ref().is_some_and(|worlds| worlds.of > 0);
        in_worlds || self.near.literal.is_some() || self.near.best.is_some()
    }

    fn in_some_world(&self) -> bool {
        let sides = [self.near.literal, self.near.best];
        self.worlds.as_ref().is_some_and(|worlds| worlds.hold > 0) || sides.contains(&Some(true))
    }
}

impl Reproduction {
    /// Puts the outcomes under two readings to the claims.
    pub fn set_verdicts(
        &mut self,
        best: Option<&BTreeMap<String, Outcome>>,
        literal: Option<&BTreeMap<String, Outcome>>,
    ) {
        for claim in &mut self.claims {
            let of = |all: Option<&BTreeMap<String, Outcome>>| all?.get(&claim.name).copied();
            let (best, literal) = (of(best), of(literal));
            let verdict = |one: Outcome| one.verdict;
            claim.verdicts = Both { literal: literal.map(verdict), best: best.map(verdict) };
            let near = |one: Option<Outcome>| one.and_then(|one| one.near);
            claim.near = Both { literal: near(literal), best: near(best) };
        }
    }

    /// Puts what was found in worlds to the claims.
    pub fn set_worlds(&mut self, papers: Vec<PaperWorlds>) {
        for statement in papers.iter().flat_map(|paper| &paper.statements) {
            if let Some(claim) = self.claims.iter_mut().find(|one| one.name == statement.claim) {
                let judged = statement.outcomes.iter().flatten();
                claim.worlds = Some(InWorlds {
                    hold: judged.clone().filter(|holds| **holds).count(),
                    of: judged.count(),
                    decided_by: statement.decided_by.clone(),
                });
            }
        }
        self.worlds = papers;
    }

    /// The printed statements, paper by paper.
    #[must_use]
    pub fn papers(&self) -> Vec<PaperTally> {
        let mut papers: Vec<PaperTally> = Vec::new();
        for claim in self.claims.iter().filter(|claim| claim.printed) {
            if !papers.iter().any(|known| known.paper == claim.paper) {
                let of = |kind: &str| self.tally_printed(&claim.paper, kind);
                papers.push(PaperTally {
                    paper: claim.paper.clone(),
                    title: claim.paper_title.clone(),
                    kinds: KINDS
                        .map(|kind| (kind, of(kind)))
                        .into_iter()
                        .filter(|(_, tally)| tally.printed > 0)
                        .collect(),
                    worlds: self
                        .worlds
                        .iter()
                        .find(|known| known.paper == claim.paper)
                        .map_or(0, |known| known.worlds.len()),
                });
            }
        }
        papers
    }

    fn tally_printed(&self, paper: &str, kind: &str) -> Tally {
        let printed: Vec<&Claim> = self
            .claims
            .iter()
            .filter(|claim| claim.printed && claim.paper == paper && claim.kind == kind)
            .collect();
        let (targets, own): (Vec<&Claim>, Vec<&Claim>) =
            printed.iter().partition(|claim| claim.target);
        let count = |side: fn(&Both<bool>) -> Option<bool>| {
            let any = own.iter().any(|claim| side(&claim.near).is_some());
            any.then(|| own.iter().filter(|claim| side(&claim.near) == Some(true)).count())
        };
        let worlds = own.iter().any(|claim| claim.worlds.is_some());
        let some = own.iter().filter(|claim| claim.in_some_world()).count();
        let judged = own.iter().filter(|claim| claim.was_judged()).count();
        Tally {
            printed: printed.len(),
            contradicted: printed.iter().filter(|claim| claim.contradicted_by.is_some()).count(),
            targets: targets.len(),
            literal: count(|near| near.literal),
            best: count(|near| near.best),
            some: worlds.then_some(some),
            none: worlds.then_some(judged - some),
        }
    }
}
