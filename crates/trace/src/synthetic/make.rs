//! What makes requests one after the other: an inline spec, a blend or a twin.

use crate::record::Record;

/// Requests, as many as were asked for.
pub(crate) trait Make {
    /// Requests made so far.
    fn issued(&self) -> u64;

    /// Requests not made yet.
    fn left(&self) -> u64;

    /// The next request; there must be one.
    fn make(&mut self) -> Record;
}

impl Make for Box<dyn Make + Send> {
    fn issued(&self) -> u64 {
        (**self).issued()
    }

    fn left(&self) -> u64 {
        (**self).left()
    }

    fn make(&mut self) -> Record {
        (**self).make()
    }
}
