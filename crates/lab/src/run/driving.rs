//! The workload through the device: once, several times, or until the device is worn out.

use ftlab_engine::board::nand::fault::Fault;
use ftlab_engine::host::Driver;
use ftlab_engine::meter::Piece;
use ftlab_engine::request::{Completion, Op, Request};
use ftlab_engine::ssd::{Device, DeviceError};
use ftlab_engine::units::{Nanos, SECTOR_BYTES};
use ftlab_report::phases::PhaseRecorder;
use ftlab_report::result::{Phase, WornOut};
use ftlab_trace::{InPieces, Records, Workload};

use crate::error::{Error, Result};
use crate::observer::Steps;
use crate::plan::footprint::{GrowingPages, pages};
use crate::plan::plan::Plan;
use crate::plan::repeat::Repeat;
use crate::run::recording::{Recorded, Recorders, Recording};
use crate::run::stream::RequestStream;

/// What driving the workload through the device showed.
pub struct Driven {
    /// Records of the workload that were served; of every pass, where there were several.
    pub records: u64,
    /// Pages read or written.
    pub footprint_pages: u64,
    /// When the last request was done.
    pub last_completion: Nanos,
    /// From the first arrival to the last, all passes together; 0 in a closed loop.
    pub arriving: Nanos,
    /// Most requests that waited for the device at once.
    pub longest_queue: u64,
    /// Passes over the workload, the one in which the device was worn out not counted.
    pub passes: u64,
    /// How the device ended, where it was driven to its end.
    pub worn_out: Option<WornOut>,
    /// Where the pages that were read or written end, in bytes.
    pub reach_bytes: u64,
    /// What was seen of single requests.
    pub recorded: Recorded,
    /// Response by part, where the workload is a combination.
    pub phases: Vec<Phase>,
}

/// Drives the device with what is left of `stream`, and with `--loop` or `--until worn-out` then
/// with the whole workload as often as asked for, or until no block can be spared any more.
pub fn drive(
    (plan, scheme): (&Plan, &str),
    device: &mut dyn Device,
    (workload, stream): (&Workload, &mut RequestStream),
    steps: &Steps<'_>,
    recording: Recording<'_>,
) -> Result<Driven> {
    let mut drive = Drive {
        plan,
        recorders: Recorders::new(recording, device),
        touched: GrowingPages::new(plan.layout.capacity_bytes / plan.layout.page_bytes),
        steps,
        last_completion: 0,
        arriving: 0,
        measured: 0,
        bytes_written: 0,
        worn_out: (plan.repeat != Repeat::Once).then(WornOut::default),
        dead_before: device.board().nand().retired_since(),
        parts: workload.parts().map(|(_, names)| Parts::new(names, device)),
        split: Split::default(),
    };
    let in_flight = plan.timing.in_flight(device.config());
    let mut driver = Driver::new(device.config(), in_flight);
    let records_before = stream.records_taken();
    let mut ended = drive.pass(device, &mut driver, stream)?;
    let mut records = stream.records_taken() - records_before;
    if drive.measured == 0 && !ended {
        return Err(Error::usage(format!(
            "nothing is left to measure: --precondition takes all {records_before} requests of \
             the workload"
        )));
    }
    let mut passes = u64::from(!ended);
    while !ended && plan.repeat.goes_on(passes) {
        drive.refuse_to_loop_in_vain()?;
        let mut again = RequestStream::new(workload.requests(plan.layout.map()?)?);
        // What came before the first pass is no part of the next.
        let lead = plan.workload.lead;
        while let Some(before) = again.next_of_first(lead) {
            before?;
        }
        ended = drive.pass(device, &mut driver, &mut again)?;
        records += again.records_taken() - lead;
        passes += u64::from(!ended);
    }
    let title = format!("{} on {}", scheme, device.config().device.name);
    let recorded = drive.recorders.finish(device, &title)?;
    let touched = drive.touched.finish();
    Ok(Driven {
        records,
        footprint_pages: touched.len(),
        last_completion: drive.last_completion,
        arriving: drive.arriving,
        longest_queue: driver.longest_queue(),
        passes,
        worn_out: drive.worn_out.filter(|_| ended),
        reach_bytes: touched.end() * plan.layout.page_bytes,
        recorded,
        phases: drive.parts.map(|parts| parts.recorder.finish()).unwrap_or_default(),
    })
}

/// Why a pass ended before its workload did.
enum Stop {
    Device(DeviceError),
    Failed(Error),
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Self {
        Stop::Device(error)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

struct Drive<'a> {
    plan: &'a Plan,
    recorders: Recorders<'a>,
    touched: GrowingPages,
    steps: &'a Steps<'a>,
    last_completion: Nanos,
    arriving: Nanos,
    /// Requests that the workload had.
    measured: u64,
    /// By requests that completed.
    bytes_written: u64,
    worn_out: Option<WornOut>,
    /// Blocks that died while the device was prepared.
    dead_before: u32,
    /// Where the workload is a combination.
    parts: Option<Parts>,
    split: Split,
}

/// Numbers the requests of the workload that reach the device in pieces.
#[derive(Default)]
struct Split {
    requests: u64,
    /// Pieces of the last of them that are still to come.
    left: usize,
}

impl Split {
    /// The next piece, of a request that has so many.
    fn next(&mut self, pieces: usize) -> Piece {
        if self.left == 0 {
            self.requests += 1;
            self.left = pieces;
        }
        self.left -= 1;
        Piece { of: self.requests, pieces: pieces as u32 }
    }
}

/// Tells the parts of a combined workload apart, whatever the order of completion: on its way
/// through driver and device a request's unit says which part it is of, too.
struct Parts {
    recorder: PhaseRecorder,
    /// A multiple of the number of streams, which deal out requests by the remainder.
    stride: u32,
}

impl Parts {
    /// Units that a part may have.
    const UNITS: u32 = 1 << 24;

    fn new(names: Vec<String>, device: &mut dyn Device) -> Self {
        let stride = Self::UNITS.next_multiple_of(device.config().host.streams.max(1));
        device.units_have_stride(stride);
        Parts { recorder: PhaseRecorder::new(names), stride }
    }

    fn mark(&self, request: &mut Request, part: usize) -> Result<()> {
        if request.unit >= Self::UNITS {
            return Err(Error::usage(format!(
                "unit {} in a combined workload; legal: units below {}",
                request.unit,
                Self::UNITS
            )));
        }
        request.unit += part as u32 * self.stride;
        Ok(())
    }

    fn unmark(&self, request: &mut Request) -> usize {
        let part = request.unit / self.stride;
        request.unit %= self.stride;
        part as usize
    }
}

/// The most that the passes together may last: 292 years, half of what a clock of 64 bits can tell.
const LAST_ARRIVAL: Nanos = Nanos::MAX / 2;

/// When a request arrives in a pass that begins at `begins`.
fn later(begins: Nanos, arrival: Nanos, option: &str) -> Result<Nanos> {
    let sum = begins.checked_add(arrival);
    sum.filter(|&sum| begins == 0 || sum <= LAST_ARRIVAL).ok_or_else(|| {
        Error::usage(format!(
            "{option}: the passes together last longer than 292 years of simulated time; legal: \
             fewer passes, or --timing asap"
        ))
    })
}

impl Drive<'_> {
    /// Serves every request of the stream; true when the device is worn out before its end.
    fn pass(
        &mut self,
        device: &mut dyn Device,
        driver: &mut Driver,
        stream: &mut RequestStream,
    ) -> Result<bool> {
        match self.serve(device, driver, stream) {
            Ok(()) => {
                if let Some(worn_out) = &mut self.worn_out {
                    worn_out.loops += 1;
                }
                Ok(false)
            }
            Err(Stop::Device(DeviceError::Fault(Fault::WornOut { .. })))
                if self.worn_out.is_some() =>
            {
                self.note_deaths(device);
                Ok(true)
            }
            Err(Stop::Device(error)) => Err(error.into()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    /// The first request arrives when the pass before was over.
    fn serve(
        &mut self,
        device: &mut dyn Device,
        driver: &mut Driver,
        stream: &mut RequestStream,
    ) -> Result<(), Stop> {
        if driver.is_direct() && self.hears_of_none() {
            return self.serve_chunks(device, driver, stream);
        }
        let clock = device.board().nand().clock();
        assert!(!clock.is_event_driven(), "an event-driven clock says late how a request went");
        let (begins, timing, before) = (self.last_completion, self.plan.timing, self.arriving);
        let mut origin = None;
        while let Some(request) = stream.next_request() {
            let request = request?;
            // After a prefix the clock starts with the first measured request.
            let time = request.arrival - *origin.get_or_insert(request.arrival);
            let arrival = match timing.arrival(time) {
                Some(arrival) => {
                    let arrival = later(begins, arrival, self.plan.repeat.option())?;
                    self.arriving = before + (arrival - begins);
                    arrival
                }
                None => driver.next_arrival(device, &mut |device, request, done| {
                    self.served(device, request, done).map_err(Stop::Failed)
                })?,
            };
            let mut request = Request { arrival, ..request };
            self.recorders.arrives(device, &request);
            if let Some(parts) = &self.parts {
                parts.mark(&mut request, stream.part())?;
            }
            let pieces = stream.pieces().map(|pieces| self.split.next(pieces));
            let mut served = |device: &mut dyn Device, request: &Request, done: &Completion| {
                self.served(device, request, done).map_err(Stop::Failed)
            };
            match pieces {
                None => driver.submit(device, &request, &mut served)?,
                Some(piece) => driver.submit_piece(device, &request, piece, &mut served)?,
            }
            self.measured += 1;
            if matches!(request.op, Op::Read | Op::Write) {
                for page in pages(&request, self.plan.layout.page_bytes) {
                    self.touched.insert(page);
                }
            }
        }
        driver.finish(device, &mut |device, request, done| {
            self.served(device, request, done).map_err(Stop::Failed)
        })
    }

    /// Whether nobody wants to know when which request was served.
    fn hears_of_none(&self) -> bool {
        self.recorders.are_off() && self.parts.is_none() && self.worn_out.is_none()
    }

    /// The same as [`Drive::serve`], many requests at a time.
    fn serve_chunks(
        &mut self,
        device: &mut dyn Device,
        driver: &mut Driver,
        stream: &mut RequestStream,
    ) -> Result<(), Stop> {
        let (begins, timing, before) = (self.last_completion, self.plan.timing, self.arriving);
        let closed = timing.arrival(0).is_none();
        let mut origin = None;
        let mut chunk = Vec::with_capacity(Records::CHUNK);
        while let Some(next) = stream.next_chunk(&mut chunk) {
            next?;
            // In a closed loop they arrive when the device can take them.
            let timed = if closed { &mut [] } else { &mut chunk[..] };
            for request in timed {
                let time = request.arrival - *origin.get_or_insert(request.arrival);
                let arrival = timing.arrival(time).unwrap_or_default();
                request.arrival = later(begins, arrival, self.plan.repeat.option())?;
            }
            if let Some(last) = chunk.last().filter(|_| !closed) {
                self.arriving = before + (last.arrival - begins);
            }
            let InPieces { last, pieces } = stream.in_pieces();
            let whole = chunk.len() - last;
            let (whole, in_pieces) = chunk.split_at_mut(whole);
            let mut completed = driver.submit_all(device, whole)?;
            for request in in_pieces {
                let piece = self.split.next(pieces);
                completed = driver.submit_alone(device, request, piece)?;
            }
            self.last_completion = self.last_completion.max(completed);
            self.measured += chunk.len() as u64;
            self.touched.insert_all(&chunk, self.plan.layout.page_bytes);
            let written = chunk.iter().filter(|request| request.op == Op::Write);
            let sectors: u64 = written.map(|request| u64::from(request.sectors)).sum();
            self.bytes_written += sectors * SECTOR_BYTES;
            self.steps.advance_by(chunk.len() as u64)?;
        }
        self.last_completion = self.last_completion.max(driver.complete_all(device));
        Ok(())
    }

    #[inline]
    fn served(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        completion: &Completion,
    ) -> Result<()> {
        self.last_completion = self.last_completion.max(completion.completed);
        let mut request = *request;
        if let Some(parts) = &mut self.parts {
            let part = parts.unmark(&mut request);
            if let Some(whole) = device.board().meter().whole(completion) {
                parts.recorder.served(part, request.op, &whole);
            }
        }
        self.recorders.served(device, &request, completion)?;
        self.note_deaths(device);
        if request.op == Op::Write {
            self.bytes_written += u64::from(request.sectors) * SECTOR_BYTES;
        }
        self.steps.advance()
    }

    /// What a block's death is told by: blocks retired since measuring began. The first is dated by
    /// what was written before the request in which it died.
    fn note_deaths(&mut self, device: &dyn Device) {
        let Some(worn_out) = &mut self.worn_out else { return };
        worn_out.bytes_to_end = self.bytes_written;
        worn_out.dead_blocks = u64::from(device.board().nand().retired_since() - self.dead_before);
        if worn_out.dead_blocks > 0 && worn_out.bytes_to_first_death.is_none() {
            worn_out.bytes_to_first_death = Some(self.bytes_written);
        }
    }

    /// A workload without writes wears nothing out, however often it is repeated.
    fn refuse_to_loop_in_vain(&self) -> Result<()> {
        match self.bytes_written {
            0 if self.plan.repeat == Repeat::UntilWornOut => Err(Error::usage(
                "--until worn-out: the workload writes nothing, so it never wears the device out",
            )),
            _ => Ok(()),
        }
    }
}
