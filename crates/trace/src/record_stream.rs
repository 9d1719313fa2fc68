//! Records one after another, and what can be said of them while they come: the face that one
//! trace, a generated workload and a combination of any of them share.

use crate::error::Result;
use crate::record::{Place, Record};
use crate::summary::Summary;

/// Records in order of time. Nothing follows an error.
pub(crate) trait RecordStream: Iterator<Item = Result<Record>> {
    /// Where the record yielded last was read.
    fn place(&self) -> Place;

    /// Which part of a combination the record yielded last is from; 0 for anything else.
    fn part(&self) -> usize {
        0
    }

    /// Names of the files; [`Place::part`] is an index into them.
    fn names(&self) -> &[String];

    /// What was read, dropped and sorted so far.
    fn summary(&self) -> &Summary;
}
