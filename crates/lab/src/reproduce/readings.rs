//! What a paper leaves open, and what was chosen: a file of readings names every such choice with
//! its candidates, what the text says of it, the candidate under which its words are taken to the
//! letter, and the one that is thought best for the whole paper.
//!
//! What is chosen lies below everything that an experiment states. Experiments say what is
//! compared, readings what nobody printed; a verdict is of a reading, and worlds (readings x seeds,
//! `worlds.rs`) say how far it depends on it. Fitted choices are judged by all printed statements
//! of the paper at once.
//!
//! Strict TOML, in `config/readings/PAPER.toml`: an unknown key is an error with file and line.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use crate::bundled::{Bundled, bundled, is_path};
use crate::error::{Error, Result};
use crate::reproduce::bundle::{line_of, sha256};
use crate::reproduce::options::Options;

/// Every bundled file of readings.
pub const READINGS: &[Bundled] =
    bundled!("readings": "dftl2014", "adapt2012", "treeftl2013", "hat2010");

/// The choices of one paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Readings {
    /// Name of the file without its ending.
    #[serde(skip)]
    pub name: String,
    /// SHA-256 of the file.
    #[serde(skip)]
    pub sha256: String,
    /// What the choices have in common, and how the best ones were found.
    pub about: String,
    /// Numbers of the paper that the fitted choices had to meet together.
    pub judged_by: String,
    /// The choices; a later one wins where two say something of the same option.
    pub choices: Vec<Choice>,
}

/// Where a chosen candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ground {
    /// The paper states it.
    Stated,
    /// Its text implies it.
    Text,
    /// A search over the candidates, judged by all numbers of the paper.
    Fitted,
    /// Neither: it is ours.
    Ours,
}

impl Ground {
    /// As files and reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Ground::Stated => "stated",
            Ground::Text => "text",
            Ground::Fitted => "fitted",
            Ground::Ours => "ours",
        }
    }
}

/// One choice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Unique in its file.
    pub name: String,
    /// What the paper does not say.
    pub question: String,
    /// Where the best candidate comes from.
    pub kind: Ground,
    /// Where the text speaks of it, and what it says there.
    pub text: String,
    /// Why the best candidate is the best.
    pub why: String,
    /// The candidate that takes the text to the letter; where it is silent, what a reader who knows
    /// nothing else would take.
    pub literal: String,
    /// The candidate that is thought best for the whole paper.
    pub best: String,
    /// Candidates that worlds are made of; all where it is absent.
    pub worlds: Option<Vec<String>>,
    /// Claims, `EXPERIMENT.NAME` or with `*` at the end, whose numbers the best candidate was set
    /// to meet: that they are met is no finding.
    #[serde(default)]
    pub fitted_to: Vec<String>,
    /// The candidates.
    pub candidates: Vec<Candidate>,
}

/// One candidate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// Unique in its choice.
    pub name: String,
    /// What it means, in words that can stand behind "holds only with ...".
    pub about: String,
    /// What it changes; nothing where it is what runs do anyway.
    #[serde(default)]
    pub apply: Vec<Apply>,
}

/// What a candidate changes in the runs that it speaks of; later ones win.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apply {
    /// Schemes, without presets; all where it is absent.
    pub schemes: Option<Vec<String>>,
    /// Names of workloads in the experiments; all where it is absent.
    pub workloads: Option<Vec<String>>,
    /// What takes the place of these workloads.
    pub workload: Option<String>,
    /// Options of these runs, below everything that an experiment states itself.
    #[serde(default)]
    pub options: Options,
}

impl Apply {
    fn speaks_of(&self, scheme: Option<&str>, workload: &str) -> bool {
        let base = scheme.map(|name| name.split(':').next().unwrap_or(name));
        let named = |names: &Option<Vec<String>>, name: Option<&str>| match names {
            None => true,
            Some(names) => name.is_some_and(|name| names.iter().any(|known| known == name)),
        };
        named(&self.schemes, base) && named(&self.workloads, Some(workload))
    }
}

impl Readings {
    /// The readings of that name, or of that file.
    ///
    /// # Errors
    /// Unknown names, with the nearest; files that cannot be read or are not strict.
    pub fn find(name: &str) -> Result<Arc<Self>> {
        if is_path(name) {
            let text = std::fs::read_to_string(name)
                .map_err(|error| Error::usage(format!("{name}: cannot be read ({error})")))?;
            let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
            return Self::parse(name, &stem, &text).map(Arc::new);
        }
        match READINGS.iter().find(|known| known.name == name) {
            Some(Bundled { name, text }) => {
                Self::parse(&format!("config/readings/{name}.toml"), name, text).map(Arc::new)
            }
            None => {
                let names: Vec<&str> = READINGS.iter().map(|known| known.name).collect();
                Err(Error::unknown("readings", name, &names))
            }
        }
    }

    fn parse(file: &str, name: &str, text: &str) -> Result<Self> {
        let mut readings: Readings = toml_edit::de::from_str(text).map_err(|error| {
            let line = line_of(text, error.span());
            let message = error.message().trim().replace('\n', "; ");
            Error::usage(format!("{file}:{line}: {message}"))
        })?;
        name.clone_into(&mut readings.name);
        readings.sha256 = sha256(text.as_bytes());
        readings.check().map_err(|message| Error::usage(format!("{file}: {message}")))?;
        Ok(readings)
    }

    /// What the types cannot say.
    fn check(&self) -> Result<(), String> {
        let mut names: Vec<&str> = Vec::new();
        for choice in &self.choices {
            if names.contains(&choice.name.as_str()) {
                return Err(format!("choice '{}' is there twice", choice.name));
            }
            names.push(&choice.name);
            choice.check().map_err(|message| format!("choice '{}': {message}", choice.name))?;
        }
        // The later one would win, and the earlier one would seem to have been chosen.
        let replaced = |choice: &Choice| -> BTreeSet<String> {
            let applies = choice.candidates.iter().flat_map(|candidate| &candidate.apply);
            let own = applies.filter(|apply| apply.workload.is_some());
            own.flat_map(|apply| apply.workloads.iter().flatten().cloned()).collect()
        };
        for (place, one) in self.choices.iter().enumerate() {
            for other in &self.choices[..place] {
                if let Some(workload) = replaced(one).intersection(&replaced(other)).next() {
                    return Err(format!(
                        "choices '{}' and '{}' both replace workload '{workload}'; legal: one choice",
                        other.name, one.name
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Choice {
    fn check(&self) -> Result<(), String> {
        let mut names: Vec<&str> = Vec::new();
        for candidate in &self.candidates {
            if names.contains(&candidate.name.as_str()) {
                return Err(format!("candidate '{}' is there twice", candidate.name));
            }
            names.push(&candidate.name);
            let empty = |apply: &&Apply| apply.options.is_empty() && apply.workload.is_none();
            if candidate.apply.iter().any(|apply| empty(&apply)) {
                return Err(format!("candidate '{}' applies nothing", candidate.name));
            }
            let unnamed = |apply: &Apply| apply.workload.is_some() && apply.workloads.is_none();
            if candidate.apply.iter().any(unnamed) {
                return Err(format!(
                    "candidate '{}': 'workload' needs 'workloads', whose place it takes",
                    candidate.name
                ));
            }
        }
        let known = |name: &String| ftlab_engine::schemes::find(name).is_ok();
        let schemes = self.candidates.iter().flat_map(|candidate| &candidate.apply);
        for name in schemes.flat_map(|apply| apply.schemes.iter().flatten()) {
            if !known(name) || name.contains(':') {
                return Err(format!("there is no scheme '{name}' (names stand without presets)"));
            }
        }
        if let Some(worlds) = &self.worlds {
            let own: BTreeSet<&String> = worlds.iter().collect();
            if own.is_empty() || own.len() < worlds.len() {
                return Err("'worlds' needs one candidate at least, and each once".to_owned());
            }
        }
        if !self.fitted_to.is_empty() && self.kind != Ground::Fitted {
            return Err("'fitted_to' belongs to what is fitted".to_owned());
        }
        for name in [&self.literal, &self.best].into_iter().chain(self.worlds.iter().flatten()) {
            self.candidate(name)?;
        }
        match self.kind {
            Ground::Stated if self.literal != self.best => {
                Err("what is stated is the best too".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn candidate(&self, name: &str) -> Result<usize, String> {
        let found = self.candidates.iter().position(|candidate| candidate.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> =
                self.candidates.iter().map(|candidate| candidate.name.as_str()).collect();
            Error::unknown("candidate", name, &names).to_string()
        })
    }

    /// The candidates that worlds are made of.
    pub fn plausible(&self) -> Vec<usize> {
        match &self.worlds {
            None => (0..self.candidates.len()).collect(),
            Some(names) => names.iter().filter_map(|name| self.candidate(name).ok()).collect(),
        }
    }
}

/// One candidate for every choice of a paper, and a seed for its stand-ins.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The choices.
    pub of: Arc<Readings>,
    /// The candidate of each.
    pub chosen: Vec<usize>,
    /// Added to the seed of every generated workload.
    pub seed_shift: u64,
}

impl Reading {
    fn by(of: &Arc<Readings>, name: impl Fn(&Choice) -> &str) -> Self {
        // Names were checked when the file was read.
        let index = |choice: &Choice| choice.candidate(name(choice)).unwrap_or_default();
        let chosen = of.choices.iter().map(index).collect();
        Reading { of: Arc::clone(of), chosen, seed_shift: 0 }
    }

    /// The text to the letter.
    pub fn literal(of: &Arc<Readings>) -> Self {
        Self::by(of, |choice| &choice.literal)
    }

    /// The best for the whole paper.
    pub fn best(of: &Arc<Readings>) -> Self {
        Self::by(of, |choice| &choice.best)
    }

    /// With another candidate for a choice.
    pub fn with(mut self, choice: &str, candidate: &str) -> Result<Self, String> {
        let names = || self.of.choices.iter().map(|one| one.name.as_str()).collect::<Vec<_>>();
        let Some(place) = self.of.choices.iter().position(|one| one.name == choice) else {
            return Err(Error::unknown("choice", choice, &names()).to_string());
        };
        self.chosen[place] = self.of.choices[place].candidate(candidate)?;
        Ok(self)
    }

    /// Choices and candidates.
    pub fn pairs(&self) -> impl Iterator<Item = (&Choice, &Candidate)> {
        self.of.choices.iter().zip(&self.chosen).map(|(one, &at)| (one, &one.candidates[at]))
    }

    /// Whether a claim is a number that the chosen candidates were set to meet.
    pub fn was_fitted_to(&self, claim: &str) -> bool {
        let is_best = |(choice, candidate): &(&Choice, &Candidate)| candidate.name == choice.best;
        let mut targets = self.pairs().filter(is_best).flat_map(|(choice, _)| &choice.fitted_to);
        targets.any(|target| match target.strip_suffix('*') {
            Some(head) => claim.starts_with(head),
            None => claim == target,
        })
    }

    fn applies<'a>(
        &'a self,
        scheme: Option<&'a str>,
        workload: &'a str,
    ) -> impl Iterator<Item = &'a Apply> {
        let all = self.pairs().flat_map(|(_, candidate)| &candidate.apply);
        all.filter(move |apply| apply.speaks_of(scheme, workload))
    }

    /// Options of a run, each below the next.
    pub fn options<'a>(
        &'a self,
        scheme: Option<&'a str>,
        workload: &'a str,
    ) -> impl Iterator<Item = &'a Options> {
        self.applies(scheme, workload).map(|apply| &apply.options)
    }

    /// What takes the place of a workload.
    pub fn workload<'a>(&'a self, scheme: Option<&'a str>, workload: &'a str) -> Option<&'a str> {
        self.applies(scheme, workload).filter_map(|apply| apply.workload.as_deref()).last()
    }
}
