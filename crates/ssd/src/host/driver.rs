//! The driver: takes requests as they arrive and hands them to the device one by one, in the order
//! that arbitration and scheduling say.
//!
//! Time moves from decision to decision. A decision falls when a slot of the device is free and
//! something waits; it knows what has arrived by then and nothing else. A request is therefore kept
//! until the next one arrives later, or until [`Driver::finish`]. One stream under `fcfs` needs
//! none of this and bypasses the queue.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::arbitration::Arbiter;
use super::longest::LongestQueue;
use super::queue::Queue;
use super::{SchedulerKind, Schedulers, View};
use crate::device::{Device, DeviceError, Served};
use crate::settings::SsdSettings;
use ftlab_flash::meter::Piece;
use ftlab_flash::request::{Completion, Request};
use ftlab_flash::units::Nanos;

/// The driver of one device.
#[derive(Clone, Debug)]
pub struct Driver {
    /// Requests go straight to the device: nothing can change their order.
    direct: bool,
    streams: u32,
    queue: Queue,
    arbiter: Arbiter,
    /// One per stream.
    schedulers: Vec<Schedulers>,
    /// When the last decision fell.
    now: Nanos,
    /// When the last request joined the queue.
    entered: Nanos,
    /// Of the requests that the device has not taken, in order, whoever goes first.
    arrivals: VecDeque<Nanos>,
    /// What the device was told of so far.
    served: Served,
    closed: Option<ClosedLoop>,
}

/// A host that keeps the same number of requests in flight.
#[derive(Clone, Debug)]
struct ClosedLoop {
    depth: usize,
    /// Completions of requests that the device has taken.
    completions: BinaryHeap<Reverse<Nanos>>,
}

impl Driver {
    /// A driver at time 0 with nothing waiting. `in_flight` is how many requests a closed loop
    /// keeps in driver and device together; none when requests arrive by themselves.
    ///
    /// # Panics
    /// When a closed loop keeps no request in flight.
    pub fn new(config: &SsdSettings, in_flight: Option<u32>) -> Self {
        assert!(in_flight != Some(0), "a closed loop keeps at least one request in flight");
        let host = &config.host;
        let in_order = host.scheduler == SchedulerKind::Fcfs && host.streams == 1;
        let direct = in_order && in_flight.is_none_or(|depth| depth == config.queue_depth());
        let closed_loop = |depth: u32| ClosedLoop {
            depth: depth as usize,
            completions: BinaryHeap::with_capacity(if direct { 0 } else { depth as usize }),
        };
        let closed = in_flight.map(|_| 0);
        let queue = Queue::new(host.streams, if direct { 0 } else { host.driver_queue_depth });
        let arrivals = VecDeque::with_capacity(if direct { 0 } else { queue.room() + 1 });
        Driver {
            direct,
            streams: host.streams,
            queue,
            arbiter: Arbiter::new(host),
            schedulers: (0..host.streams).map(|_| host.new_scheduler()).collect(),
            now: 0,
            entered: 0,
            arrivals,
            served: Served { closed, longest: LongestQueue::new(), completed: 0 },
            closed: in_flight.map(closed_loop),
        }
    }

    /// Whether requests go straight to the device, which can take many at once then
    /// ([`Driver::submit_all`]).
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Takes requests of which nobody wants to hear one by one; in a closed loop they arrive when
    /// the device can take them. When the last one of all that were taken so was done; they are
    /// counted by [`Driver::complete_all`] at the latest.
    ///
    /// # Errors
    /// Of the first request that cannot be served; those before it are.
    ///
    /// # Panics
    /// When requests do not go straight to the device.
    pub fn submit_all(
        &mut self,
        device: &mut dyn Device,
        requests: &mut [Request],
    ) -> Result<Nanos, DeviceError> {
        assert!(self.direct, "requests that may wait go to the device one by one");
        device.submit_all(requests, &mut self.served)?;
        Ok(self.served.completed)
    }

    /// Lets all be completed and counted that [`Driver::submit_all`] sent; when the last one was
    /// done.
    pub fn complete_all(&mut self, device: &mut dyn Device) -> Nanos {
        device.complete_all(&mut self.served);
        self.served.completed
    }

    /// Takes a request; arrivals must not go backwards. `served` is told of every request that the
    /// device has taken, in the order in which it took them, and may stop the run.
    #[inline]
    pub fn submit<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take(device, request, None, served)
    }

    /// The same of a piece of a request that the host sent as one, for which it counts.
    pub fn submit_piece<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        piece: Piece,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<(), E> {
        self.take(device, request, Some(piece), served)
    }

    /// As [`Driver::submit_all`], of a piece of a request that the host sent as one.
    ///
    /// # Errors
    /// As there.
    pub fn submit_alone(
        &mut self,
        device: &mut dyn Device,
        request: &mut Request,
        piece: Piece,
    ) -> Result<Nanos, DeviceError> {
        device.board_mut().meter_mut().piece(piece);
        self.submit_all(device, std::slice::from_mut(request))
    }

    #[inline]
    fn take<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        piece: Option<Piece>,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.direct {
            let completion = submit_at(device, request, request.arrival, piece)?;
            self.served.longest.passes(completion.arrival, completion.admitted);
            return served(device, request, &completion);
        }
        self.enqueue(device, request, piece, served)
    }

    /// Serves everything that still waits.
    pub fn finish<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(at) = self.next_decision(device) {
            self.dispatch(device, at, served)?;
        }
        Ok(())
    }

    /// When the next request of a closed loop arrives: as soon as fewer than its number are in
    /// flight.
    ///
    /// # Panics
    /// When the driver is none of a closed loop.
    pub fn next_arrival<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<Nanos, E> {
        let now = self.served.closed.expect("the driver of a closed loop");
        if self.direct {
            let next = now.max(device.next_slot());
            self.served.closed = Some(next);
            return Ok(next);
        }
        let depth = self.closed.as_ref().map_or(0, |closed| closed.depth);
        if self.in_flight() < depth {
            return Ok(now);
        }
        // Nobody arrives any more until something completes. Where the device is still at work for
        // somebody else, decisions can fall before that.
        while let Some(at) = self.next_decision(device) {
            if at > now && self.first_completion().is_some_and(|first| first <= at) {
                break;
            }
            self.dispatch(device, at, served)?;
        }
        let first = self.first_completion().expect("all that was in flight went to the device");
        let closed = self.closed.as_mut().expect("the driver of a closed loop");
        let next = now.max(first);
        while closed.completions.peek().is_some_and(|&Reverse(done)| done <= next) {
            closed.completions.pop();
        }
        self.served.closed = Some(next);
        Ok(next)
    }

    /// The most requests that had arrived and were not admitted at once: exact below 4,096, from
    /// there on too high by one in two thousand at most.
    pub fn longest_queue(&self) -> u64 {
        self.served.longest.longest()
    }

    /// Of the requests of a closed loop that the device has taken.
    fn first_completion(&self) -> Option<Nanos> {
        let closed = self.closed.as_ref()?;
        closed.completions.peek().map(|&Reverse(done)| done)
    }

    fn in_flight(&self) -> usize {
        self.queue.len() + self.closed.as_ref().map_or(0, |closed| closed.completions.len())
    }

    fn enqueue<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        request: &Request,
        piece: Option<Piece>,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(at) = self.next_decision(device).filter(|&at| at < request.arrival) {
            self.dispatch(device, at, served)?;
        }
        self.entered = self.entered.max(request.arrival);
        self.arrivals.push_back(request.arrival);
        let stream = request.unit % self.streams;
        // The host waits for a full queue, with all that would arrive behind.
        while self.queue.is_full(stream) {
            let at = self.next_decision(device).expect("a full queue has something to send");
            self.dispatch(device, at, served)?;
            self.entered = self.entered.max(at);
        }
        self.queue.push(*request, stream, self.entered, piece);
        Ok(())
    }

    /// When the next request goes to the device; none when nothing waits.
    fn next_decision(&self, device: &dyn Device) -> Option<Nanos> {
        self.queue.oldest().map(|entered| entered.max(device.next_slot()).max(self.now))
    }

    fn dispatch<E: From<DeviceError>>(
        &mut self,
        device: &mut dyn Device,
        at: Nanos,
        served: &mut impl FnMut(&mut dyn Device, &Request, &Completion) -> Result<(), E>,
    ) -> Result<(), E> {
        self.now = at;
        let arrived = self.queue.arrived(at);
        let stream = self.arbiter.choose(arrived);
        let ready_from = |request: &Request| device.ready_from(request);
        let view = View { arrived, stream, now: at, ready_from: &ready_from };
        let index = self.schedulers[stream as usize].choose(&view);
        let (request, piece) = self.queue.take(index);
        let completion = submit_at(device, &request, at, piece)?;
        let arrival = self.arrivals.pop_front().expect("what is admitted has arrived");
        self.served.longest.passes(arrival, completion.admitted);
        if let Some(closed) = &mut self.closed {
            closed.completions.push(Reverse(completion.completed));
        }
        served(device, &request, &completion)
    }
}

#[inline]
fn submit_at(
    device: &mut dyn Device,
    request: &Request,
    at: Nanos,
    piece: Option<Piece>,
) -> Result<Completion, DeviceError> {
    if let Some(piece) = piece {
        device.board_mut().meter_mut().piece(piece);
    }
    device.submit_at(request, at)
}
