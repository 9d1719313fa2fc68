//! What must be known of a workload before it runs: how far it reaches, how many requests it has,
//! which pages it touches. Each is a pass over all of it, which an observer may end.

use std::sync::LazyLock;

use ftlab_engine::config::{Config, Described, Group, Groups, Shown, UnwrittenRead};
use ftlab_engine::parts::block_mapped::LogBase;
use ftlab_trace::{AddressMode, Description, Farthest, Largest, UnitSpans, Workload};

use crate::error::{Error, Result};
use crate::observer::{Counts, Observer, Steps};
use crate::options::precondition::{Mode, Modes};
use crate::plan::footprint::Footprint;
use crate::plan::layout::Layout;
use crate::selection::Chosen;
use crate::workload::choice::WorkloadChoice;

/// What a first pass over the workload found.
pub struct FirstPass<'a> {
    observer: &'a dyn Observer,
    /// Requests before those of the workload itself.
    lead: u64,
    /// How far each unit reaches.
    pub spans: Option<UnitSpans>,
    /// Requests of every kind.
    pub requests: Option<u64>,
    /// With those that were not asked for; none where reading ended before the trace did.
    pub requests_read: Option<u64>,
    /// The largest request.
    pub largest: Option<Largest>,
    /// The request that reaches farthest in its unit.
    pub farthest: Option<Farthest>,
}

impl<'a> FirstPass<'a> {
    /// None was made yet; so many requests will come before those of the workload itself.
    pub fn new(observer: &'a dyn Observer, lead: u64) -> Self {
        FirstPass {
            observer,
            lead,
            spans: None,
            requests: None,
            requests_read: None,
            largest: None,
            farthest: None,
        }
    }

    /// Capacity that the workload needs under `mode`.
    pub fn needed_bytes(
        &mut self,
        choice: &WorkloadChoice,
        mode: AddressMode,
        extent_bytes: u64,
    ) -> Result<u64> {
        let workload = choice.open(0)?;
        let needed = match mode {
            AddressMode::Strict => self.survey(&workload, None)?.0,
            AddressMode::Dense => {
                let (_, dense) = self.survey(&workload, Some(extent_bytes))?;
                dense.expect("the extent was told")
            }
            AddressMode::Modulo => {
                return Err(Error::usage(
                    "--capacity auto with --address modulo: folding needs a stated capacity; \
                     legal: --capacity BYTES, or --address strict or dense",
                ));
            }
        };
        match needed {
            0 => Err(Error::usage("--capacity auto: the workload touches no address")),
            bytes => Ok(bytes),
        }
    }

    /// Goes through all records; returns what strict addressing needs, and what dense needs if its
    /// extent is told, in bytes.
    pub fn survey(
        &mut self,
        workload: &Workload,
        extent_bytes: Option<u64>,
    ) -> Result<(u64, Option<u64>)> {
        let steps = steps(self.observer, "laying out addresses");
        let survey = workload.survey_while(extent_bytes, || steps.advance())?;
        self.requests = Some(survey.requests - self.lead);
        self.requests_read = survey.requests_read.map(|read| read.saturating_sub(self.lead));
        self.largest = survey.largest.clone();
        self.farthest = survey.farthest.clone();
        let needed = (survey.strict_bytes(), survey.dense_bytes());
        self.spans = Some(survey.spans);
        Ok(needed)
    }

    /// Why a device of the size that `--capacity auto` asks for cannot be had: which request of a
    /// trace asks for so much, before the `error` itself.
    pub fn too_far(&self, error: Error, mode: AddressMode) -> Error {
        let far = self.farthest.as_ref().filter(|_| mode == AddressMode::Strict);
        let Some(Farthest { end_bytes, file, line }) = far else { return error };
        let error = error.to_string();
        let why = error.split("; legal: ").next().unwrap_or_default();
        Error::usage(format!(
            "{file}:{line}: the request ends at byte {end_bytes}, for which --capacity auto takes a \
             device that cannot be had: {why}; legal: --address dense, --address modulo with \
             --capacity BYTES, or a trace without such addresses"
        ))
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

/// Whether the log of a scheme is a share of what the workload touches, and that is not stated.
pub fn log_of_footprint(one: &Chosen) -> bool {
    let share = LogBase::ActiveRegion.name();
    let asks = |described: &Described| {
        described.key.ends_with(".log_base")
            && matches!(&described.value, Shown::Text(base) if base == share)
    };
    let groups = one.config.groups().into_iter().filter(|group| WITH_LOG.contains(&group.name()));
    one.config.device.active_region.0.is_none()
        && groups.flat_map(|group| group.describe()).any(|described| asks(&described))
}

/// Groups that say what the size of a log is a share of, whatever their values are: to describe
/// all settings for that takes longer than a short run.
static WITH_LOG: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let says = |group: &&dyn Group| {
        group.describe().iter().any(|described| described.key.ends_with(".log_base"))
    };
    Config::default().groups().into_iter().filter(says).map(|group| group.name()).collect()
});

/// Must be known before the run: which pages it touches, or reads before it writes them.
pub fn needs_footprint(chosen: &[Chosen], modes: &Modes) -> bool {
    chosen.iter().any(|one| {
        modes.of(&one.name) == Mode::Touch || one.config.io.unwritten_read == UnwrittenRead::Preload
    })
}

/// Which pages of the device the workload touches.
pub fn footprint(
    workload: &Workload,
    layout: &Layout,
    observer: &dyn Observer,
) -> Result<Footprint> {
    let steps = steps(observer, "finding the pages that are touched");
    let logical_pages = layout.capacity_bytes / layout.page_bytes;
    let mut footprint = Footprint::new(logical_pages, layout.page_bytes);
    for request in workload.requests(layout.map()?)? {
        footprint.note(&request?);
        steps.advance()?;
    }
    Ok(footprint)
}

/// Bytes of the pages that the workload touches by itself, on a device that is sized.
pub fn active_region(
    sized: &Chosen,
    (choice, mode): (&WorkloadChoice, AddressMode),
    first_pass: &mut FirstPass<'_>,
) -> Result<u64> {
    let device = &sized.config.device;
    let page_bytes = device.unit_bytes();
    let capacity_bytes = device.logical_pages() * page_bytes;
    let workload = choice.open_own(capacity_bytes)?;
    if workload.needs_survey() && first_pass.spans.is_none() {
        first_pass.survey(&workload, None)?;
    }
    let layout = Layout {
        mode,
        capacity_bytes,
        extent_bytes: page_bytes * u64::from(device.units_per_block()),
        page_bytes,
        spans: first_pass.spans.clone(),
    };
    let touched = footprint(&workload, &layout, first_pass.observer)?.touched.len();
    Ok((touched * page_bytes).max(page_bytes))
}

/// Name, kind and digest of a workload. The digest of a trace is a pass over its files.
pub fn description(workload: &Workload, observer: &dyn Observer) -> Result<Description> {
    let label = format!("digest of {}", workload.name());
    // What is generated is described without a pass.
    let mut steps = None;
    workload.describe_while(|bytes| {
        let begin = || Steps::of(observer, Counts::Bytes, &label, None);
        steps.get_or_insert_with(begin).advance_by(bytes)
    })
}

fn steps<'a>(observer: &'a dyn Observer, label: &str) -> Steps<'a> {
    Steps::of(observer, Counts::FirstPass, label, None)
}
