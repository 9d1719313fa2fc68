//! What must be known of a workload before it runs: how far it reaches, how many requests it has,
//! which pages it touches. Each is a pass over all of it, which Ctrl-C ends.

use ftlab_engine::config::UnwrittenRead;
use ftlab_trace::{AddressMode, UnitSpans, Workload};

use crate::failure::{Failure, Outcome};
use crate::footprint::Footprint;
use crate::plan::Layout;
use crate::precondition::{Mode, Modes};
use crate::progress::Bar;
use crate::selection::Chosen;
use crate::workloads::WorkloadChoice;

/// What a first pass over the workload found.
#[derive(Default)]
pub struct FirstPass {
    /// How far each unit reaches.
    pub spans: Option<UnitSpans>,
    /// Requests of every kind.
    pub requests: Option<u64>,
    /// With those that were not asked for; none where reading ended before the trace did.
    pub requests_read: Option<u64>,
}

impl FirstPass {
    /// Capacity that the workload needs under `mode`.
    pub fn needed_bytes(
        &mut self,
        choice: &WorkloadChoice,
        mode: AddressMode,
        extent_bytes: u64,
    ) -> Outcome<u64> {
        let (strict, dense) = self.survey(&choice.open(0)?, extent_bytes)?;
        let needed = match mode {
            AddressMode::Strict => strict,
            AddressMode::Dense => dense,
            AddressMode::Modulo => {
                return Err(Failure::usage(
                    "--capacity auto with --address modulo: folding needs a stated capacity; \
                     legal: --capacity BYTES, or --address strict or dense",
                ));
            }
        };
        match needed {
            0 => Err(Failure::usage("--capacity auto: the workload touches no address")),
            bytes => Ok(bytes),
        }
    }

    /// Goes through all records; returns what strict and dense addressing need, in bytes.
    pub fn survey(&mut self, workload: &Workload, extent_bytes: u64) -> Outcome<(u64, u64)> {
        let bar = Bar::unseen();
        let survey = workload.survey_while(extent_bytes, || bar.advance())?;
        self.requests = Some(survey.requests);
        self.requests_read = survey.requests_read;
        let needed = (survey.strict_bytes(), survey.dense_bytes());
        self.spans = Some(survey.spans);
        Ok(needed)
    }

    /// How many requests there are where the workload has more, of which these are the first: those
    /// of `--head` if it came to that, or what is there of a public trace that is cut.
    pub fn kept(&self, choice: &WorkloadChoice, requests_known: Option<u64>) -> Option<u64> {
        let ended = self.requests_read;
        let reached =
            |head: &u64| ended.is_none() && requests_known.is_some_and(|all| all >= *head);
        let is_cut = choice.whole.as_ref().zip(ended).is_some_and(|(whole, all)| whole.is_cut(all));
        choice.options.head.filter(reached).or(self.requests.filter(|_| is_cut))
    }
}

/// Must be known before the run: which pages it touches, or reads before it writes them.
pub fn needs_footprint(chosen: &[Chosen], modes: &Modes) -> bool {
    chosen.iter().any(|one| {
        modes.of(&one.name) == Mode::Touch || one.config.io.unwritten_read == UnwrittenRead::Preload
    })
}

/// Which pages of the device the workload touches.
pub fn footprint(workload: &Workload, layout: &Layout) -> Outcome<Footprint> {
    let bar = Bar::unseen();
    let logical_pages = layout.capacity_bytes / layout.page_bytes;
    let mut footprint = Footprint::new(logical_pages, layout.page_bytes);
    for request in workload.requests(layout.map()?)? {
        footprint.note(&request?);
        bar.advance()?;
    }
    Ok(footprint)
}
