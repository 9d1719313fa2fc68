//! What the numbers of a claim are, in words, and which reading its runs stand on.

use serde::Serialize;

/// What a claim measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measures {
    /// Every measured number by itself.
    pub numbers: Vec<Measured>,
    /// When the claim holds, where words for that are short.
    pub rule: Option<String>,
    /// The numbers of runs that it is made of.
    pub parts: Vec<PartOf>,
    /// Such numbers that are not listed.
    pub left_out: usize,
    /// Name and text of what the experiment's file computes.
    pub expressions: Vec<(String, String)>,
}

/// One number.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measured {
    /// As it is shown.
    pub value: String,
    /// What it is.
    pub words: String,
}

/// A number of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PartOf {
    /// What was measured.
    pub metric: String,
    /// Label of the workload, and of the variant.
    pub workload: String,
    /// Label of the scheme; empty for an inspection.
    pub scheme: String,
    /// Name of the run; empty for a setting.
    pub run: String,
    /// As it is shown, in `unit`.
    pub value: String,
    /// Empty where it is a plain number.
    pub unit: &'static str,
}

/// What was chosen where the paper leaves something open.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Chosen {
    /// What is open.
    pub question: String,
    /// Where the paper speaks of it.
    pub text: String,
    /// What the runs stand on unless the experiment states it.
    pub about: String,
    /// Name of the choice.
    pub choice: String,
    /// Name of the candidate.
    pub candidate: String,
    /// Why this one, in a word.
    pub ground: String,
}
