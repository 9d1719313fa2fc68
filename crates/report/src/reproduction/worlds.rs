//! What became of statements under two readings, and in worlds.

use serde::Serialize;

/// Something under the text to the letter and under the best reading; none where it was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Both<T> {
    /// Under the text to the letter.
    pub literal: Option<T>,
    /// Under the best reading of the whole paper.
    pub best: Option<T>,
}

impl<T> Both<T> {
    /// Whether both were made.
    pub(super) fn both(&self) -> bool {
        self.literal.is_some() && self.best.is_some()
    }

    /// Whether the text to the letter is all that was made.
    pub(super) fn only_literal(&self) -> bool {
        self.literal.is_some() && self.best.is_none()
    }
}

/// In how many worlds a printed statement holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InWorlds {
    /// Worlds in which it holds.
    pub hold: usize,
    /// Worlds in which it could be judged.
    pub of: usize,
    /// The choice that decides it, in words.
    pub decided_by: String,
}

/// One world: a candidate for everything that a paper leaves open, and a seed.
#[derive(Clone, Debug, Serialize)]
pub struct World {
    /// From 1.
    pub number: usize,
    /// Choice and candidate.
    pub choices: Vec<(String, String)>,
    /// Which stand-in of the same statistics, from 1.
    pub seed: u64,
}

/// What became of the printed statements of a paper in its worlds.
#[derive(Clone, Debug, Serialize)]
pub struct PaperWorlds {
    /// Short name of the paper.
    pub paper: String,
    /// The worlds: columns of the picture.
    pub worlds: Vec<World>,
    /// The statements: its rows.
    pub statements: Vec<Statement>,
}

/// One row of the picture.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// Name of the claim.
    pub claim: String,
    /// What is claimed.
    pub text: String,
    /// Whether it holds, world by world; none where it cannot be judged.
    pub outcomes: Vec<Option<bool>>,
    /// The choice that decides it, in words.
    pub decided_by: String,
}
