//! Single requests of a run, for everybody who wants to know about them: rows and probe.

use ftlab_engine::request::{Completion, Request};
use ftlab_engine::ssd::Device;
use ftlab_report::probe::{ProbeRecorder, ProbeWindow};
use ftlab_report::records::Recorder;
use ftlab_report::result::Probe;

use crate::error::Result;
use crate::run::requests_file::RequestsFile;

/// What is asked for of one run.
#[derive(Default)]
pub struct Recording<'a> {
    /// Where a row per request goes.
    pub requests: Option<&'a mut RequestsFile>,
    /// Which requests are looked at closely.
    pub probe: Option<ProbeWindow>,
}

/// Watch one run for everybody who wants to know about single requests.
pub struct Recorders<'a> {
    rows: Option<(Recorder, &'a mut RequestsFile)>,
    probe: Option<ProbeRecorder>,
}

impl<'a> Recorders<'a> {
    /// Before the first measured request.
    pub fn new(recording: Recording<'a>, device: &dyn Device) -> Self {
        Recorders {
            rows: recording.requests.map(|file| (Recorder::new(device), file)),
            probe: recording.probe.map(ProbeRecorder::new),
        }
    }

    /// Whether nobody wants to know.
    pub fn are_off(&self) -> bool {
        self.rows.is_none() && self.probe.is_none()
    }

    /// A request arrives, in order of arrival.
    #[inline]
    pub fn arrives(&mut self, device: &mut dyn Device, request: &Request) {
        if let Some(probe) = &mut self.probe {
            probe.arrives(device, request);
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
        Ok(())
    }

    /// What the probe saw, after the last request.
    pub fn finish(self, device: &mut dyn Device) -> Option<Probe> {
        self.probe.map(|probe| probe.finish(device))
    }
}
