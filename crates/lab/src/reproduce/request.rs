//! What is to be reproduced.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

use crate::bundled::is_path;
use crate::error::{Error, Result};
use crate::reproduce::bundle::{EXPERIMENTS, find};
use crate::reproduce::definition::Definition;

/// What is to be reproduced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Experiments by name ([`EXPERIMENTS`]), paths to files of one's own, or `all`.
    pub names: Vec<String>,
    /// Minutes instead of hours: the experiments that have a quick form, with shortened runs.
    pub quick: bool,
    /// Folder with real traces: used in the place of their stand-ins, and magnitudes are judged.
    pub trace_dir: Option<PathBuf>,
    /// What is chosen where a paper leaves something open.
    pub reading: Under,
    /// So many worlds of each paper, for how far its statements depend on what it leaves open.
    pub worlds: Option<NonZero<u32>>,
}

/// What is chosen where a paper leaves something open (`--reading`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Under {
    /// The best reading of every paper, and beside it the literal one for its verdicts.
    #[default]
    Both,
    /// The best reading of every paper.
    Best,
    /// The text to the letter.
    Literal,
    /// The best, but for the candidates in a file: a table per paper, `choice = "candidate"`.
    File(PathBuf),
}

impl FromStr for Under {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "best" => Ok(Under::Best),
            "literal" => Ok(Under::Literal),
            file if is_path(file) => Ok(Under::File(file.into())),
            _ => Err(Error::usage(format!(
                "--reading '{text}' is not legal; legal: literal, best, or a path to a .toml file"
            ))),
        }
    }
}

/// The experiments that were asked for, each once.
pub fn select(names: &[String], quick: bool) -> Result<Vec<Definition>> {
    let mut chosen: Vec<Definition> = Vec::new();
    for name in names {
        if name == "all" {
            for bundled in EXPERIMENTS {
                let experiment = find(bundled.name)?;
                if !quick || experiment.quick.is_some() {
                    chosen.push(experiment);
                }
            }
            continue;
        }
        let experiment = find(name)?;
        if quick && experiment.quick.is_none() {
            return Err(Error::usage(format!(
                "{name} has no quick form (`ftlab list experiments --table`)"
            )));
        }
        chosen.push(experiment);
    }
    for (index, one) in chosen.iter().enumerate() {
        if chosen[..index].iter().any(|other| other.name == one.name) {
            return Err(Error::usage(format!("experiment '{}' is named twice", one.name)));
        }
    }
    match chosen.is_empty() {
        true => Err(Error::usage("there is no such experiment (`ftlab list experiments`)")),
        false => Ok(chosen),
    }
}
