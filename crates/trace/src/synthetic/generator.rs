//! The requests of an inline spec, one after the other.

use ftlab_engine::request::Op;

use super::distribution::{Distribution, Sampler};
use super::permutation::Permutation;
use super::random::{Purpose, Stream};
use super::spec::{Arrivals, Mode, SyntheticSpec};
use crate::record::Record;

/// Iterator over the records of a spec.
pub struct Generator {
    spec: SyntheticSpec,
    issued: u64,
    clock_ns: u64,
    /// fio keeps one position per direction; 0 = reads, 1 = everything else.
    sequential: [u64; 2],
    previous_end: Option<u64>,
    step_bytes: u64,
    sampler: Sampler,
    scatter: Option<Permutation>,
    addresses: Stream,
    operations: Stream,
    sizes: Stream,
    arrivals: Stream,
}

impl Generator {
    pub(crate) fn new(spec: SyntheticSpec) -> Self {
        let step_bytes = spec.smallest_block();
        let blocks = spec.span_bytes / step_bytes;
        let scattered = spec.scatter && spec.distribution != Distribution::Uniform;
        Self {
            issued: 0,
            clock_ns: 0,
            sequential: [0; 2],
            previous_end: None,
            step_bytes,
            sampler: Sampler::new(spec.distribution, blocks),
            scatter: scattered.then(|| Permutation::new(blocks, spec.seed)),
            addresses: Stream::new(spec.seed, Purpose::Address),
            operations: Stream::new(spec.seed, Purpose::Operation),
            sizes: Stream::new(spec.seed, Purpose::Size),
            arrivals: Stream::new(spec.seed, Purpose::Arrival),
            spec,
        }
    }

    /// Requests issued so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }

    fn operation(&mut self) -> Op {
        match self.spec.mode {
            Mode::Read | Mode::RandomRead => Op::Read,
            Mode::Write | Mode::RandomWrite => Op::Write,
            Mode::Trim | Mode::RandomTrim => Op::Trim,
            Mode::Mixed | Mode::RandomMixed => {
                let read = self.operations.below(1_000_000) < self.spec.read_millionths;
                if read { Op::Read } else { Op::Write }
            }
        }
    }

    fn size(&mut self) -> u64 {
        if let [(bytes, _)] = self.spec.block_sizes[..] {
            return bytes;
        }
        let mut draw = self.sizes.below(1_000_000);
        for &(bytes, share) in &self.spec.block_sizes {
            if draw < share {
                return bytes;
            }
            draw -= share;
        }
        self.spec.block_sizes.last().map_or(self.step_bytes, |&(bytes, _)| bytes)
    }

    /// Offset within the span; the request never reaches beyond it.
    fn position(&mut self, op: Op, size: u64) -> u64 {
        let span = self.spec.span_bytes;
        if !self.spec.mode.is_random() {
            let cursor = &mut self.sequential[usize::from(op != Op::Read)];
            if *cursor + size > span {
                *cursor = 0;
            }
            let offset = *cursor;
            *cursor += size;
            return offset;
        }
        let follow = self.spec.sequential_millionths > 0
            && self.addresses.below(1_000_000) < self.spec.sequential_millionths;
        if let Some(end) = self.previous_end
            && follow
            && end + size <= span
        {
            return end;
        }
        let rank = self.sampler.rank(&mut self.addresses);
        let block = self.scatter.as_ref().map_or(rank, |scatter| scatter.apply(rank));
        let last = (span - size) / self.step_bytes * self.step_bytes;
        (block * self.step_bytes).min(last)
    }

    fn arrival(&mut self) -> u64 {
        const NANOS_PER_MILLI_RATE: u128 = 1_000_000_000_000;
        match self.spec.arrivals {
            Arrivals::ClosedLoop { .. } => 0,
            Arrivals::Fixed { milli_iops } => {
                (u128::from(self.issued) * NANOS_PER_MILLI_RATE / u128::from(milli_iops)) as u64
            }
            Arrivals::Poisson { milli_iops } => {
                let now = self.clock_ns;
                let mean = NANOS_PER_MILLI_RATE as f64 / milli_iops as f64;
                let gap = -libm::log1p(-self.arrivals.unit()) * mean;
                self.clock_ns = now.saturating_add(libm::round(gap) as u64);
                now
            }
        }
    }
}

impl Iterator for Generator {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.issued == self.spec.count {
            return None;
        }
        let op = self.operation();
        let size_bytes = self.size();
        let position = self.position(op, size_bytes);
        let time_ns = self.arrival();
        self.previous_end = Some(position + size_bytes);
        self.issued += 1;
        let offset_bytes = self.spec.offset_bytes + position;
        Some(Record { time_ns, op, offset_bytes, size_bytes, unit: 0 })
    }
}
