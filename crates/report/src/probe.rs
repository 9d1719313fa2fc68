//! `--probe`: follows single requests through the device.
//!
//! The microscopic view is that of FlashSim's authors, who traced individual requests through
//! probes to see what collection does to the instantaneous response time (DFTL 2014, section 5.2).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ftlab_engine::board::nand::clock::timeline::{Span, Unit, Work};
use ftlab_engine::meter::Cause;
use ftlab_engine::request::{Completion, Request};
use ftlab_engine::ssd::Device;
use ftlab_engine::units::Nanos;

use crate::records::{Recorder, op_name};
use crate::result::{Probe, ProbeRequests, ProbeTimeline};

/// Most requests of a probe: more than this nobody sees on one page.
pub const PROBE_REQUESTS_MAX: u32 = 2000;

/// Most pieces of work that a probe keeps.
pub const PROBE_SPANS_MAX: usize = 30_000;

/// Which requests are probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeWindow {
    /// The first, counted from 0 in order of arrival among the measured requests.
    pub from: u64,
    /// How many, 1 to [`PROBE_REQUESTS_MAX`].
    pub count: u32,
}

/// Watches a run. Memory grows with the window, and with the requests that wait at one time.
#[derive(Debug)]
pub struct ProbeRecorder {
    window: ProbeWindow,
    arrived: u64,
    probed: Vec<Probed>,
    /// Every probed request before this one was served.
    first_open: usize,
    /// Completions later than the last arrival.
    to_come: BinaryHeap<Reverse<Nanos>>,
    /// Requests that were done when the last one arrived.
    done: u64,
    /// Counts since the first probed arrival.
    recorder: Option<Recorder>,
    spans: Vec<Span>,
    left_out: u64,
}

#[derive(Debug)]
struct Probed {
    request: Request,
    /// Requests done at its arrival and not at that of the probed request before.
    done: u64,
    served: Option<Served>,
}

#[derive(Debug)]
struct Served {
    completion: Completion,
    reads: u64,
    programs: u64,
    copies: u64,
    erases: u64,
}

impl ProbeRecorder {
    /// Before the first measured request.
    #[must_use]
    pub fn new(window: ProbeWindow) -> Self {
        ProbeRecorder {
            window,
            arrived: 0,
            probed: Vec::with_capacity(window.count as usize),
            first_open: 0,
            to_come: BinaryHeap::new(),
            done: 0,
            recorder: None,
            spans: Vec::new(),
            left_out: 0,
        }
    }

    /// A request arrives; in order of arrival, before it is handed to the device.
    pub fn arrives(&mut self, device: &mut dyn Device, request: &Request) {
        let end = self.window.from + u64::from(self.window.count);
        if self.arrived >= end {
            return;
        }
        let mut done = 0;
        while self.to_come.peek().is_some_and(|&Reverse(time)| time <= request.arrival) {
            self.to_come.pop();
            done += 1;
        }
        if self.arrived < self.window.from {
            self.done += done;
        } else {
            if self.probed.is_empty() {
                self.recorder = Some(Recorder::new(device));
                device.board_mut().nand_mut().timeline_mut().start(PROBE_SPANS_MAX);
            }
            self.probed.push(Probed { request: *request, done, served: None });
        }
        self.arrived += 1;
    }

    /// A request was served, probed or not.
    pub fn served(&mut self, device: &mut dyn Device, request: &Request, completion: &Completion) {
        if self.arrived > self.window.from && self.recorder.is_none() {
            return;
        }
        let own = self.open_request(request);
        self.count_done(own, request, completion.completed);
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let row = recorder.row(device, request, completion);
        if let Some(own) = own {
            let programs = row.counts.total_programs();
            self.probed[own].served = Some(Served {
                completion: *completion,
                reads: row.counts.total_reads(),
                programs,
                copies: programs - row.counts.programs[Cause::Host as usize],
                erases: row.counts.total_erases(),
            });
        }
        let open = &self.probed[self.first_open..];
        let closed = open.iter().take_while(|one| one.served.is_some()).count();
        self.first_open += closed;
        if self.first_open == self.window.count as usize {
            self.close(device);
        }
    }

    /// Which probed request this is. Requests that are equal in everything cannot be told apart,
    /// and need not be.
    fn open_request(&self, request: &Request) -> Option<usize> {
        let is_it = |one: &Probed| one.served.is_none() && one.request == *request;
        (self.first_open..self.probed.len()).find(|&index| is_it(&self.probed[index]))
    }

    /// Counts a request as done for the probed requests that arrived when it was, or later.
    fn count_done(&mut self, own: Option<usize>, request: &Request, time: Nanos) {
        let full = self.probed.len() == self.window.count as usize;
        if own.is_none() && full && request.arrival > self.probed[0].request.arrival {
            return; // It arrived after all of them.
        }
        let later = self.probed.partition_point(|one| one.request.arrival < time);
        // What takes no time at all is done at its own arrival, but was not before.
        let later = later.max(own.map_or(0, |own| own + 1));
        match self.probed.get_mut(later) {
            Some(one) => one.done += 1,
            None => self.to_come.push(Reverse(time)),
        }
    }

    fn close(&mut self, device: &mut dyn Device) {
        if self.recorder.take().is_some() {
            (self.spans, self.left_out) = device.board_mut().nand_mut().timeline_mut().take();
        }
    }

    /// What was seen, after the last request.
    #[must_use]
    pub fn finish(mut self, device: &mut dyn Device) -> Probe {
        self.close(device);
        let mut done = self.done;
        let mut requests = ProbeRequests::default();
        for (index, one) in (self.window.from..).zip(&self.probed) {
            done += one.done;
            let Some(served) = &one.served else { continue };
            requests.index.push(index);
            requests.arrival_ns.push(one.request.arrival);
            requests.op.push(op_name(one.request.op).to_owned());
            requests.first_sector.push(one.request.first_sector);
            requests.sectors.push(u64::from(one.request.sectors));
            requests.system_ns.push(served.completion.system());
            requests.device_ns.push(served.completion.device());
            requests.queue_depth.push(index.saturating_sub(done));
            requests.flash_reads.push(served.reads);
            requests.flash_programs.push(served.programs);
            requests.gc_page_copies.push(served.copies);
            requests.erases.push(served.erases);
        }
        Probe {
            from: self.window.from,
            count: u64::from(self.window.count),
            requests,
            timeline: timeline(self.spans, self.left_out, device.measured_from()),
        }
    }
}

fn timeline(mut spans: Vec<Span>, left_out: u64, epoch: Nanos) -> ProbeTimeline {
    spans.sort_by_key(|span| (span.start, span.unit));
    let mut timeline = ProbeTimeline { left_out, ..ProbeTimeline::default() };
    for span in spans {
        timeline.unit.push(unit_name(span.unit));
        timeline.start_ns.push(span.start.saturating_sub(epoch));
        timeline.end_ns.push(span.end.saturating_sub(epoch));
        timeline.work.push(work_name(span.work).to_owned());
        timeline.cause.push(span.cause.name().to_owned());
        timeline.planes.push(u64::from(span.planes));
    }
    timeline
}

fn unit_name(unit: Unit) -> String {
    match unit {
        Unit::Die(number) => format!("die {number}"),
        Unit::Plane(number) => format!("plane {number}"),
        Unit::Channel(number) => format!("channel {number}"),
        Unit::Controller => "controller".to_owned(),
        Unit::Ram => "ram".to_owned(),
        Unit::Pcm => "pcm".to_owned(),
    }
}

fn work_name(work: Work) -> &'static str {
    match work {
        Work::Read => "read",
        Work::Program => "program",
        Work::Erase => "erase",
        Work::Mark => "mark",
        Work::Suspend => "suspend",
        Work::Transfer => "transfer",
        Work::Control => "control",
        Work::Move => "move",
        Work::Write => "write",
    }
}
