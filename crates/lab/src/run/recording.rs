//! Single requests of a run, for everybody who wants to know about them: rows, probe and tail.

use ftlab_engine::request::{Completion, Request};
use ftlab_engine::ssd::Device;
use ftlab_report::probe::{ProbeRecorder, ProbeWindow};
use ftlab_report::records::Recorder;
use ftlab_report::result::{Probe, Tail};
use ftlab_report::tail::TailRecorder;

use crate::error::Result;
use crate::plan::plan::Plan;
use crate::run::beside::Files;
use crate::run::requests_file::RequestsFile;
use crate::run::trace_file::{FIRST_REQUESTS, TraceFile};

/// What is asked for of one run.
#[derive(Default)]
pub struct Recording<'a> {
    /// Where a row per request goes.
    pub requests: Option<&'a mut RequestsFile>,
    /// Which requests are looked at closely.
    pub probe: Option<ProbeWindow>,
    /// Whether the slowest requests are looked into.
    pub tail: bool,
    /// Where what the device did for the probed requests goes, too.
    pub trace: Option<&'a mut TraceFile>,
}

impl<'a> Recording<'a> {
    /// What a plan asks for; its files are those of one run.
    pub fn of(plan: &Plan, files: &'a mut Files) -> Self {
        let Files { requests, trace } = files;
        let (probe, tail) = (plan.probe, plan.tail);
        Recording { requests: requests.as_mut(), probe, tail, trace: trace.as_mut() }
    }
}

/// Watch one run for everybody who wants to know about single requests.
pub struct Recorders<'a> {
    rows: Option<(Recorder, &'a mut RequestsFile)>,
    probe: Option<ProbeRecorder>,
    tail: Option<TailRecorder>,
    trace: Option<&'a mut TraceFile>,
    /// Whether the result shows what the probe saw.
    probed: bool,
}

/// What was seen of single requests.
pub struct Recorded {
    /// Requests under the microscope, where they were asked for.
    pub probe: Option<Probe>,
    /// The slowest requests, where they were asked for.
    pub tail: Option<Tail>,
    /// A sentence for the result, where something found no room.
    pub warning: Option<String>,
}

impl<'a> Recorders<'a> {
    /// Before the first measured request.
    pub fn new(recording: Recording<'a>, device: &mut dyn Device) -> Self {
        let window = recording.probe.or(recording.trace.as_ref().map(|_| FIRST_REQUESTS));
        Recorders {
            rows: recording.requests.map(|file| (Recorder::new(device), file)),
            probe: window.map(ProbeRecorder::new),
            tail: recording.tail.then(|| TailRecorder::new(device)),
            trace: recording.trace,
            probed: recording.probe.is_some(),
        }
    }

    /// Whether nobody wants to know.
    pub fn are_off(&self) -> bool {
        self.rows.is_none() && self.probe.is_none() && self.tail.is_none()
    }

    /// A request arrives, in order of arrival.
    #[inline]
    pub fn arrives(&mut self, device: &mut dyn Device, request: &Request) {
        if let Some(probe) = &mut self.probe {
            probe.arrives(device, request);
        }
        if let Some(tail) = &mut self.tail {
            tail.arrives(request);
        }
    }

    /// A request was served.
    #[inline]
    pub fn served(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        completion: &Completion,
    ) -> Result<()> {
        if let Some((recorder, file)) = &mut self.rows {
            file.take(&recorder.row(device, request, completion))?;
        }
        if let Some(probe) = &mut self.probe {
            probe.served(device, request, completion);
        }
        if let Some(tail) = &mut self.tail {
            tail.served(device, request, completion);
        }
        Ok(())
    }

    /// What was seen, after the last request; `title` says what ran.
    pub fn finish(self, device: &mut dyn Device, title: &str) -> Result<Recorded> {
        let probe = self.probe.map(|probe| probe.finish(device));
        let warning = match (self.trace, &probe) {
            (Some(file), Some(probe)) => file.take(probe, title)?,
            _ => None,
        };
        let tail = self.tail.map(|tail| tail.finish(device));
        Ok(Recorded { probe: probe.filter(|_| self.probed), tail, warning })
    }
}
