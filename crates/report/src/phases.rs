//! Response by part of a combined workload: one set of times per part, whoever completes when.

use ftlab_engine::meter::LatencyStatistics;
use ftlab_engine::request::{Completion, Op};

use crate::derive::summary;
use crate::result::{ByDirection, Phase};

/// Takes the times of the requests of every part.
pub struct PhaseRecorder {
    names: Vec<String>,
    parts: Vec<Times>,
}

#[derive(Clone, Default)]
struct Times {
    requests: u64,
    read: LatencyStatistics,
    write: LatencyStatistics,
}

impl PhaseRecorder {
    /// One part per name.
    pub fn new(names: Vec<String>) -> Self {
        let parts = vec![Times::default(); names.len()];
        PhaseRecorder { names, parts }
    }

    /// A request of the part with that index completed.
    ///
    /// # Panics
    /// When there is no such part.
    #[inline]
    pub fn served(&mut self, part: usize, op: Op, completion: &Completion) {
        let times = &mut self.parts[part];
        times.requests += 1;
        match op {
            Op::Read => times.read.record(completion.system()),
            Op::Write => times.write.record(completion.system()),
            Op::Trim | Op::Flush => {}
        }
    }

    /// What each part got, in their order.
    pub fn finish(self) -> Vec<Phase> {
        let phase = |(name, times): (String, Times)| Phase {
            name,
            requests: times.requests,
            latency_ns: ByDirection {
                all: summary(&times.read.plus(&times.write)),
                read: summary(&times.read),
                write: summary(&times.write),
            },
        };
        self.names.into_iter().zip(self.parts).map(phase).collect()
    }
}
