//! The group `host`.

use ftlab_flash::board::link::Link;
use ftlab_flash::request::{Request, STREAMS_MAX};
use ftlab_flash::settings::{Bytes, Duration, Optional, SettingError};
use ftlab_flash::{choices, settings};

use super::{Bounds, SchedulerKind, Schedulers};

choices! {
    /// How streams take turns.
    pub enum Arbitration {
        /// The stream whose request arrived first.
        Fifo = "fifo",
        /// One request each.
        RoundRobin = "round_robin",
        /// In proportion to `host.weights`.
        Weighted = "weighted",
    }
}

/// Weights as `4,1`; none for `auto`. `None` when the text is not legal.
pub(crate) fn parse_weights(text: &str) -> Option<Vec<u32>> {
    if text == "auto" {
        return Some(Vec::new());
    }
    let weight = |word: &str| word.trim().parse().ok().filter(|w| (1..=1000).contains(w));
    let weights: Vec<u32> = text.split(',').map(weight).collect::<Option<_>>()?;
    (weights.len() <= STREAMS_MAX).then_some(weights)
}

choices! {
    /// What requests say about where their data belongs.
    pub enum Hints {
        /// Nothing.
        None = "none",
        /// The number of their unit: ASU, volume or disk of a trace, part of a mix; units
        /// above 255 say 255.
        Unit = "unit",
        /// The stream that the trace's column `stream` or the generator's key `hint` says.
        Column = "column",
    }
}

impl Hints {
    /// What a request says, whose unit is the remainder by `stride` where that is known.
    #[inline]
    pub(crate) fn of(self, request: &Request, stride: Option<u32>) -> Option<u8> {
        match self {
            Hints::None => None,
            Hints::Unit => {
                let unit = stride.map_or(request.unit, |stride| request.unit % stride);
                Some(u8::try_from(unit).unwrap_or(u8::MAX))
            }
            Hints::Column => request.stream,
        }
    }
}

choices! {
    /// Whether both directions of a link work at once.
    pub enum Duplex {
        /// One transfer at a time, as SATA does.
        Half = "half",
        /// One in each direction, as PCIe and SAS do.
        Full = "full",
    }
}

settings! {
    /// The host's side of the device.
    pub struct HostSettings in "host" {
        /// Requests that the device holds at once; auto: 1 serial, 32 parallel.
        queue_depth: Optional<u32> = Optional(None),
            legal("auto, or 1..=65536", |v| v.0.is_none_or(|d| (1..=65536).contains(&d))),
            source("ARCHITECTURE 4");
        /// Which waiting request goes to the device next.
        scheduler: SchedulerKind = SchedulerKind::Fcfs, legal("", |_| true), source("ftlab");
        /// Requests of a stream that the driver's queue holds; when it is full, the host waits.
        driver_queue_depth: u32 = 128,
            legal("1..=65536", |v| (1..=65536).contains(v)), source("Linux, nr_requests");
        /// Reads in a row that read_first sends while something else waits.
        reads_before_write: u32 = 32, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("Linux mq-deadline, writes_starved 2 of fifo_batch 16");
        /// Requests in a row that out_of_order sends before the oldest one.
        passes_before_oldest: u32 = 64, legal("1..=65536", |v| (1..=65536).contains(v)),
            source("ftlab");
        /// Streams of the host, each with a queue of its own; a request belongs to stream
        /// (ASU, volume or disk of its trace record) modulo streams.
        streams: u32 = 1, legal("1..=16", |v| (1..=STREAMS_MAX as u32).contains(v)),
            source("NVMe Base Specification, submission queues");
        /// What requests say about where their data belongs (gc.placement = hint); what a buffer
        /// writes out says nothing.
        hints: Hints = Hints::None, legal("", |_| true),
            source("NVMe Base Specification, streams; TP 4146, data placement");
        /// How streams take turns.
        arbitration: Arbitration = Arbitration::Fifo, legal("", |_| true),
            source("NVMe Base Specification, command arbitration");
        /// Requests of each stream per turn under weighted, such as 4,1; auto: one each.
        weights: String = "auto".to_string(),
            legal("auto, or numbers from 1 to 1000 with commas, one for every stream",
                |v| parse_weights(v).is_some()),
            source("NVMe Base Specification, command arbitration");
        /// Whether both directions of the link to the host work at once.
        link_duplex: Duplex = Duplex::Half, legal("", |_| true), source("SATA; PCIe is full");
        /// Bytes per second over the link to the host, in each direction; 0: no limit.
        link_bandwidth: Bytes = Bytes(0),
            legal("0 (no limit), or 1KB to 1TB (a second)",
                |v| v.0 == 0 || (1000..=1_000_000_000_000).contains(&v.0)),
            source("datasheet");
        /// Time of a command on the link, before the device begins.
        command_overhead: Duration = Duration(0), legal("", |_| true), source("datasheet");
    }
}

impl HostSettings {
    /// The link to a device that holds up to `depth` requests at once, beside so many pages that
    /// the host itself sends.
    pub(crate) fn link(&self, (depth, copies): (usize, usize)) -> Link {
        let full_duplex = self.link_duplex == Duplex::Full;
        Link::new(full_duplex, self.link_bandwidth.0, self.command_overhead.0, (depth, copies))
    }

    /// The scheduler of one stream.
    pub(super) fn new_scheduler(&self) -> Schedulers {
        let HostSettings { reads_before_write, passes_before_oldest, .. } = *self;
        Schedulers::new(self.scheduler, &Bounds { reads_before_write, passes_before_oldest })
    }

    /// Legality of the settings together.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        let weights = parse_weights(&self.weights).unwrap_or_default().len();
        if weights > 0 && self.arbitration != Arbitration::Weighted {
            return Err(SettingError::Conflict(format!(
                "host.weights = {} has no meaning under host.arbitration = {}; set it to weighted",
                self.weights,
                self.arbitration.name()
            )));
        }
        if self.arbitration != Arbitration::Fifo && self.streams == 1 {
            return Err(SettingError::Conflict(format!(
                "host.arbitration = {} has no meaning with one stream; set host.streams",
                self.arbitration.name()
            )));
        }
        if weights > 0 && weights != self.streams as usize {
            return Err(SettingError::Conflict(format!(
                "host.weights = {} names {weights} streams, host.streams is {}",
                self.weights, self.streams
            )));
        }
        Ok(())
    }
}
