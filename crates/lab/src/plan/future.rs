//! What becomes of every page that the workload writes, found in a pass over it, for a placement
//! policy that is an oracle (`gc.placement = fk`).

use ftlab_engine::config::PlacementKind;
use ftlab_engine::future::{Future, Known};
use ftlab_engine::request::{Op, Request};
use ftlab_engine::units::SECTOR_BYTES;
use ftlab_trace::Workload;

use crate::error::{Error, Result};
use crate::observer::{Counts, Observer, Steps};
use crate::options::precondition::{Mode, Modes};
use crate::plan::footprint;
use crate::plan::layout::Layout;
use crate::plan::repeat::Repeat;
use crate::selection::Chosen;
use crate::workload::choice::WorkloadChoice;

/// Whether a scheme asks an oracle.
pub fn is_asked(chosen: &Chosen) -> bool {
    chosen.config.gc.placement == PlacementKind::Fk
}

/// Refuses an oracle where the device is not given exactly the requests of the workload, once and
/// in their order: what it knows would be of another run.
pub fn refuse(
    chosen: &[Chosen],
    choice: &WorkloadChoice,
    modes: &Modes,
    repeat: Repeat,
) -> Result<()> {
    for one in chosen.iter().filter(|one| is_asked(one)) {
        let host = &one.config.host;
        let taken = matches!(modes.of(&one.name), Mode::Prefix(_) | Mode::Warmup(_));
        let reason = if choice.is_standard_input() {
            "--workload - (standard input) can be read only once"
        } else if repeat.goes_on(1) {
            "the workload is repeated"
        } else if taken {
            "--precondition takes requests before the run"
        } else if one.row.buffers_data || one.config.buffer.name.name() != "none" {
            "a buffer changes what is written, and when"
        } else if !one.config.io.trim {
            "the device ignores trims (io.trim = false)"
        } else if host.streams > 1 || host.scheduler.name() != "fcfs" {
            "the host changes the order of requests (host.streams, host.scheduler)"
        } else {
            continue;
        };
        return Err(Error::usage(format!(
            "gc.placement = fk of {} knows the writes of the workload in their order, but {reason}; \
             legal: another policy, or a run without that",
            one.name
        )));
    }
    Ok(())
}

/// Goes through the workload if an oracle asks, and tells it.
pub fn know(
    chosen: &mut [Chosen],
    (workload, layout): (&Workload, &Layout),
    observer: &dyn Observer,
) -> Result<()> {
    // The map's units may be smaller than pages, and are what is written and dies.
    let mut units: Vec<u64> = chosen.iter().filter(|one| is_asked(one)).map(unit_bytes).collect();
    units.sort_unstable();
    units.dedup();
    for unit in units {
        let known = pass((workload, layout), unit, observer)?;
        for one in chosen.iter_mut().filter(|one| is_asked(one) && unit_bytes(one) == unit) {
            one.config.future = Some(known.clone());
        }
    }
    Ok(())
}

fn unit_bytes(one: &Chosen) -> u64 {
    one.config.device.unit_bytes()
}

/// Goes through the workload, by units of so many bytes.
fn pass(
    (workload, layout): (&Workload, &Layout),
    unit: u64,
    observer: &dyn Observer,
) -> Result<Known> {
    let steps = Steps::of(observer, Counts::FirstPass, "finding when pages are overwritten", None);
    let mut pass = Future::pass((layout.capacity_bytes / unit) as u32);
    for request in workload.requests(layout.map()?)? {
        let request = request?;
        let seen = match request.op {
            Op::Write => {
                footprint::pages(&request, unit).try_for_each(|page| pass.written(page as u32))
            }
            Op::Trim => whole_pages(&request, unit).try_for_each(|page| pass.trimmed(page as u32)),
            Op::Read | Op::Flush => Ok(()),
        };
        seen.map_err(|too_long| Error::usage(format!("{too_long}; legal: --head N")))?;
        steps.advance()?;
    }
    Ok(pass.done())
}

/// Tells oracles what is known: at first nothing, so that settings can be judged.
pub fn tell(chosen: &mut [Chosen], known: &Known) {
    for one in chosen.iter_mut().filter(|one| is_asked(one)) {
        one.config.future = Some(known.clone());
    }
}

/// Pages of which a request covers every sector: a trim of a part leaves the page.
fn whole_pages(request: &Request, page_bytes: u64) -> std::ops::Range<u64> {
    let sectors = page_bytes / SECTOR_BYTES;
    let end = request.first_sector + u64::from(request.sectors);
    request.first_sector.div_ceil(sectors)..end / sectors
}
