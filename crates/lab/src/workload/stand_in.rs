//! What a result says about a stand-in: its source, and in which respects it is not what was fitted
//! to it.

use std::cmp::Ordering;

use ftlab_report::format::count;
use ftlab_trace::Synthetic;

/// What a result must say about a stand-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandIn {
    /// Its name.
    pub name: String,
    /// What it was fitted to.
    pub source: String,
    /// Settings were changed, so that published statistics need not hold any more.
    pub changed: bool,
    /// Requests that it has as it is bundled; none where that depends on the device.
    pub requests: Option<u64>,
    /// Requests that are made of it; none as above.
    pub made: Option<u64>,
}

impl StandIn {
    /// Its source, and in which respects it is not what was fitted to it.
    pub fn says(&self, head: Option<u64>) -> String {
        let mut said = self.source.clone();
        if self.changed {
            said += "; with settings changed, so that it need not fit";
        }
        let made = self.made.map(|made| made.min(head.unwrap_or(u64::MAX)));
        if let (Some(made), Some(whole)) = (made, self.requests) {
            let (few, all) = (count(made), count(whole));
            match made.cmp(&whole) {
                Ordering::Less => said += &format!("; shortened: {few} of {all} requests"),
                Ordering::Equal => {}
                Ordering::Greater => {
                    said += &format!("; prolonged: {few} requests instead of {all}");
                }
            }
        }
        said
    }
}

/// Requests that a spec makes; none where that depends on the device.
pub fn requests_of(spec: &str) -> Option<u64> {
    Synthetic::parse(spec, 0).ok().map(|spec| spec.count())
}
