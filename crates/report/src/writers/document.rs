//! What writers write.

use crate::result::RunResult;

/// What is to be written.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Heading.
    pub title: &'a str,
    /// The runs, in the order in which they are to be shown.
    pub runs: &'a [RunResult],
    /// A comparison is an array in JSON even when it holds one run; a run is an object.
    pub comparison: bool,
}
